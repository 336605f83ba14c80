//! `fbint list`.

use std::error::Error;
use std::io::{Write, stdout};

use models::catalogue::{Entry, MODELS};

/// Prints every model with what can be set and what is watched.
pub(crate) fn list() -> Result<(), Box<dyn Error>> {
    let mut out = stdout().lock();
    for entry in MODELS {
        write!(out, "{}", description(entry))?;
    }
    writeln!(
        out,
        "\nq: [3] has the entries q[0] to q[2], and r: [3, 2] has r[(row, column)], as r[(2, 1)].\n\
         Run a model with `fbint run MODEL`, see its equations with `fbint show MODEL`."
    )?;
    Ok(())
}

fn description(entry: &Entry) -> String {
    let model = (entry.load)();
    let parameters: Vec<String> = model.parameters().iter().map(|(name, value)| format!("{name} = {value}")).collect();
    format!(
        "{}\n    {}\n    parameters  {}\n    state       {}\n    integrals   {}\n",
        entry.name,
        entry.summary,
        parameters.join(", "),
        shapes(model.state_names()).join(", "),
        shapes(model.integral_names()).join(", "),
    )
}

/// Names of entries, with one name and shape for each run of entries that begin alike.
fn shapes(names: &[&str]) -> Vec<String> {
    let base = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
    names.chunk_by(|a, b| base(a) == base(b)).map(|entries| shape(&base(entries[0]), entries)).collect()
}

/// A scalar, vector or matrix as a declaration writes it; a family has the range of its index.
fn shape(base: &str, entries: &[&str]) -> String {
    let indices: Option<Vec<Vec<usize>>> = entries.iter().map(|entry| index(&entry[base.len()..])).collect();
    let Some((indices, [first, .., last] | [first @ last])) = indices.as_deref().map(|all| (all, all)) else {
        return entries.join(", ");
    };
    match (first.as_slice(), last.as_slice()) {
        ([], _) => base.to_owned(),
        (&[0], &[last]) => format!("{base}: [{}]", last + 1),
        (&[first], &[last]) => format!("{base}[{first}..{}]", last + 1),
        (_, &[row, column]) if indices.len() < (row + 1) * (column + 1) => {
            format!("{base}: [{}, {}] ({} entries)", row + 1, column + 1, indices.len())
        }
        (_, &[row, column]) => format!("{base}: [{}, {}]", row + 1, column + 1),
        _ => entries.join(", "),
    }
}

/// The index of an entry from what follows its name: `[2]` or `[(0, 1)]`, and nothing for a scalar.
fn index(text: &str) -> Option<Vec<usize>> {
    if text.is_empty() {
        return Some(Vec::new());
    }
    let inner = text.strip_prefix('[')?.strip_suffix(']')?;
    let inner = inner.strip_prefix('(').and_then(|pair| pair.strip_suffix(')')).unwrap_or(inner);
    inner.split(", ").map(|number| number.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_are_listed_by_their_shapes() {
        let names = ["q[(0, 0)]", "q[(1, 0)]", "q[(0, 1)]", "q[(1, 1)]", "s", "v[0]", "v[1]", "link[1]", "link[2]"];
        assert_eq!(shapes(&names), ["q: [2, 2]", "s", "v: [2]", "link[1..3]"]);
        assert_eq!(shapes(&["r[(0, 0)]", "r[(1, 0)]", "r[(1, 1)]"]), ["r: [2, 2] (3 entries)"]);
        assert_eq!(shapes(&["w[strange]"]), ["w[strange]"]);
        assert_eq!(shapes(&["one[2]"]), ["one[2..3]"]);
    }
}
