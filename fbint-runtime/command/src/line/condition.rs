//! The condition of `--until-event`: a quantity of the motion, compared with a number or with another quantity.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::line::inputs::expression;
use crate::words::names::{declared_outputs, quantities_of_state};
use crate::words::nearest;
use fbint_catalogue::{AnyModel, Crossing, Quantity};

/// `EXPRESSION < EXPRESSION` or `EXPRESSION > EXPRESSION`; each side is often a name or a number.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Condition {
    left: String,
    is_below: bool,
    right: String,
}

impl Condition {
    /// The condition in terms of a model.
    ///
    /// # Errors
    ///
    /// If the model has no such entry and no such output, or an expression is mistaken.
    pub(crate) fn of(&self, model: &dyn AnyModel) -> Result<Crossing, Box<dyn Error>> {
        let (entries, outputs) = (quantities_of_state(model), declared_outputs(model));
        let names: Vec<&str> =
            entries.iter().chain(outputs.iter().flat_map(|output| &output.entries)).map(String::as_str).collect();
        let (number, is_name) = (self.right.parse::<f64>().ok(), !is_composed(&self.left));
        let (quantity, number) = match (names.iter().position(|name| *name == self.left), number) {
            (Some(index), Some(number)) => (quantity_at(index, entries.len()), number),
            (None, Some(number)) if is_name => {
                let index = nearest::find("entry of the state or output", &self.left, &names)?;
                (quantity_at(index, entries.len()), number)
            }
            _ => {
                let difference = match number {
                    Some(_) => self.left.clone(),
                    None => format!("({}) - ({})", self.left, self.right),
                };
                (
                    Quantity::Expression(
                        expression(model, &format!("--until-event `{self}`"), &difference, &outputs)?.law,
                    ),
                    number.unwrap_or(0.0),
                )
            }
        };
        Ok(Crossing { name: self.to_string(), quantity, is_below: self.is_below, number })
    }
}

impl Condition {
    /// The words for the number that [`Crossing::value`] computes.
    pub(crate) fn compared(&self) -> &'static str {
        if self.right.parse::<f64>().is_ok() { "its left side" } else { "the difference of its sides" }
    }
}

fn quantity_at(index: usize, entries: usize) -> Quantity {
    index.checked_sub(entries).map_or(Quantity::Entry(index), Quantity::Output)
}

/// Returns `true` if a text is more than a name: names have neither operators nor calls.
fn is_composed(text: &str) -> bool {
    text.contains(['+', '-', '*', '/', '^']) || text.ends_with(')')
}

/// The form on the command line and in records.
impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {}", self.left, if self.is_below { '<' } else { '>' }, self.right)
    }
}

impl From<Condition> for String {
    fn from(condition: Condition) -> Self {
        condition.to_string()
    }
}

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let signs: Vec<(usize, &str)> = text.match_indices(['<', '>']).collect();
        let [(place, sign)] = signs[..] else { return Err(expected(&text)) };
        let (left, right) = (text[..place].trim(), text[place + 1..].trim());
        if left.is_empty() || right.is_empty() || right.starts_with('=') {
            return Err(expected(&text));
        }
        let right = match right.parse::<f64>() {
            Ok(number) if !number.is_finite() => {
                return Err(format!("`{right}` is not finite: a run cannot come there"));
            }
            Ok(number) => format!("{number:?}"),
            Err(_) => right.to_owned(),
        };
        Ok(Self { left: left.to_owned(), is_below: sign == "<", right })
    }
}

fn expected(text: &str) -> String {
    format!(
        "`{text}` is not a condition: expected one comparison by < or >, NAME < NUMBER or of expressions, as in 'q[1] < 0' or \
         'x^2 + p > 3'"
    )
}

#[cfg(test)]
mod tests {
    use super::Condition;

    #[test]
    fn conditions_are_read_and_written() {
        for (text, written) in [
            ("q[1]<0", "q[1] < 0.0"),
            (" height >  -2.5e-3 ", "height > -0.0025"),
            ("R[(0, 1)] < 1", "R[(0, 1)] < 1.0"),
            ("x^2 + p>3", "x^2 + p > 3.0"),
            ("x < 2 * l", "x < 2 * l"),
        ] {
            let condition = Condition::try_from(text.to_owned()).unwrap();
            assert_eq!(condition.to_string(), written);
            assert_eq!(Condition::try_from(written.to_owned()).unwrap(), condition);
        }
        for text in ["", "q", "q <", "< 1", "q <= 1", "q = 1", "q << 1", "q < 1 < 2", "q < inf", "q < nan"] {
            assert!(Condition::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
