//! The condition of `--until-event`: an entry of the state, or an output, compared with a number.

use std::error::Error;
use std::fmt;

use serde::{Deserialize, Serialize};

use crate::catalogue::{AnyModel, Crossing, Quantity};
use crate::names::{outputs, quantities_of_state};
use crate::nearest;

/// `NAME < NUMBER` or `NAME > NUMBER`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct Condition {
    name: String,
    is_below: bool,
    number: f64,
}

impl Condition {
    /// The condition in terms of a model.
    ///
    /// # Errors
    ///
    /// If the model has no such entry and no such output.
    pub(crate) fn of(&self, model: &dyn AnyModel) -> Result<Crossing, Box<dyn Error>> {
        let (entries, outputs) = (quantities_of_state(model), outputs(model));
        let names: Vec<&str> = entries.iter().chain(&outputs).map(String::as_str).collect();
        let index = nearest::find("entry of the state or output", &self.name, &names)?;
        let quantity = match index.checked_sub(entries.len()) {
            None => Quantity::Entry(index),
            Some(output) => Quantity::Output(output),
        };
        Ok(Crossing { name: self.to_string(), quantity, is_below: self.is_below, number: self.number })
    }
}

/// The form on the command line and in records.
impl fmt::Display for Condition {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{} {} {:?}", self.name, if self.is_below { '<' } else { '>' }, self.number)
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
        let expected =
            || format!("`{text}` is not a condition: expected NAME < NUMBER or NAME > NUMBER, as in 'q[1] < 0'");
        let sign = text.find(['<', '>']).ok_or_else(expected)?;
        let (name, number) = (text[..sign].trim(), text[sign + 1..].trim());
        if name.is_empty() || number.is_empty() || number.starts_with(['=', '<', '>']) {
            return Err(expected());
        }
        match number.parse::<f64>() {
            Ok(number) if number.is_finite() => {
                Ok(Self { name: name.to_owned(), is_below: text[sign..].starts_with('<'), number })
            }
            Ok(_) => Err(format!("`{number}` is not finite: a run cannot come there")),
            Err(_) => Err(format!("`{number}` is not a number: expected NAME < NUMBER or NAME > NUMBER")),
        }
    }
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
        ] {
            let condition = Condition::try_from(text.to_owned()).unwrap();
            assert_eq!(condition.to_string(), written);
            assert_eq!(Condition::try_from(written.to_owned()).unwrap(), condition);
        }
        for text in ["", "q", "q <", "< 1", "q <= 1", "q = 1", "q << 1", "q < x", "q < 1 < 2", "q < inf", "q < nan"] {
            assert!(Condition::try_from(text.to_owned()).is_err(), "{text}");
        }
    }
}
