//! Unknown names: the nearest known one, and the list.

use std::error::Error;

/// The position of `name` in `known`.
///
/// # Errors
///
/// If the name is unknown: one line with the nearest known name and the list of all names.
pub fn find(what: &str, name: &str, known: &[&str]) -> Result<usize, Box<dyn Error>> {
    known.iter().position(|candidate| *candidate == name).ok_or_else(|| unknown(what, name, known).into())
}

fn unknown(what: &str, name: &str, known: &[&str]) -> String {
    let list = known.join(", ");
    if known.is_empty() {
        return format!("unknown {what} `{name}`: there is none");
    }
    match nearest(name, known) {
        Some(candidate) => format!("unknown {what} `{name}`, did you mean `{candidate}`? known: {list}"),
        None => format!("unknown {what} `{name}`, known: {list}"),
    }
}

/// The known name most like `name`, if any is like it at all.
fn nearest<'a>(name: &str, known: &[&'a str]) -> Option<&'a str> {
    let likeness = |candidate: &str| strsim::jaro_winkler(&name.to_lowercase(), &candidate.to_lowercase());
    let best = known.iter().copied().max_by(|a, b| likeness(a).total_cmp(&likeness(b)))?;
    (likeness(best) > 0.75).then_some(best)
}

#[cfg(test)]
mod tests {
    use super::*;

    const MODELS: [&str; 3] = ["spherical-pendulum", "planar-pendulum", "four-bar"];

    #[test]
    fn a_slip_of_the_finger_is_offered_its_neighbour() {
        assert_eq!(nearest("sperical-pendulm", &MODELS), Some("spherical-pendulum"));
        assert_eq!(nearest("fourbar", &MODELS), Some("four-bar"));
        assert_eq!(nearest("zzz", &MODELS), None);
    }
}
