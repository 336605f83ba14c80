//! `--of`: what the panels of a figure show.

use std::error::Error;

use crate::words::names::DRIFT;
use crate::words::nearest;

/// The contents of a panel, by positions among the names of quantities.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Panel {
    /// One quantity: over time in a run, as a histogram in an ensemble.
    One(usize),
    /// One quantity to the right, another one upwards.
    Pair(usize, usize),
    /// The change of every integral, in one panel.
    Drift,
}

/// The panels that options ask for, each `NAME` or `NAME,NAME`; for a run, `drift` is one, too.
///
/// # Errors
///
/// If a quantity does not exist, or if there are more than two.
pub(crate) fn panels(options: &[String], names: &[String], is_run: bool) -> Result<Vec<Panel>, Box<dyn Error>> {
    let mut known: Vec<&str> = names.iter().map(String::as_str).collect();
    if is_run {
        known.push(DRIFT);
    }
    let quantity = |name: &str| nearest::find("quantity in --of", name, &known);
    let panel = |option: &String| -> Result<Panel, Box<dyn Error>> {
        match *parts(option) {
            [name] => Ok(match quantity(name)? {
                index if index == names.len() => Panel::Drift,
                index => Panel::One(index),
            }),
            [right, up] => match (quantity(right)?, quantity(up)?) {
                (right, up) if right.max(up) < names.len() => Ok(Panel::Pair(right, up)),
                _ => Err(format!("--of {option}: `{DRIFT}` stands alone, as in --of {DRIFT}").into()),
            },
            _ => Err(format!("--of {option}: a panel shows one quantity or two; repeat --of for more panels").into()),
        }
    };
    options.iter().map(panel).collect()
}

/// The parts between commas that are not in brackets, as they are in `q[(0, 1)]`.
fn parts(option: &str) -> Vec<&str> {
    let mut depth = 0;
    let is_between = |letter: char| {
        match letter {
            '[' | '(' => depth += 1,
            ']' | ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    };
    option.split(is_between).map(str::trim).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(option: &str) -> Result<Panel, String> {
        let names = ["t", "q[(0, 0)]", "q[(0, 1)]", "d(energy)"].map(str::to_owned);
        panels(&[option.to_owned()], &names, true).map(|panels| panels[0]).map_err(|error| error.to_string())
    }

    #[test]
    fn one_quantity_two_or_the_drift() {
        assert_eq!(of("t"), Ok(Panel::One(0)));
        assert_eq!(of(" q[(0, 0)] , q[(0, 1)] "), Ok(Panel::Pair(1, 2)));
        assert_eq!(of("t,d(energy)"), Ok(Panel::Pair(0, 3)));
        assert_eq!(of("drift"), Ok(Panel::Drift));
    }

    #[test]
    fn what_does_not_exist_is_met_with_what_does() {
        assert!(of("t,d(enrgy)").unwrap_err().contains("did you mean `d(energy)`? known: t, q[(0, 0)]"));
        assert!(of("").unwrap_err().contains("unknown quantity in --of ``"));
        assert!(of("t,t,t").unwrap_err().contains("repeat --of"));
        assert!(of("t,drift").unwrap_err().contains("`drift` stands alone"));
        assert!(panels(&["drift".to_owned()], &["q".to_owned()], false).is_err());
    }
}
