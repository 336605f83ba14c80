//! Parameters that a number which is not finite may come from.

use core::fmt;

/// The number of named parameters.
const NAMED: usize = 3;

/// The parameters that are zero, or so large or so small that their squares are not ordinary numbers: the first three. Displays as
/// `, perhaps because of m = 0.0`, or as nothing where there are none.
///
/// A declaration does not say which parameter is divided by, so that a zero may be innocent.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Extremes {
    named: [Option<(&'static str, f64)>; NAMED],
    /// `true` if there are more.
    are_more: bool,
}

impl Extremes {
    /// Those among these parameters with their values.
    pub(crate) fn among(parameters: impl Iterator<Item = (&'static str, f64)>) -> Self {
        let mut extremes = parameters.filter(|(_, value)| !(value * value).is_normal());
        let named = core::array::from_fn(|_| extremes.next());
        Self { named, are_more: extremes.next().is_some() }
    }

    /// The parameters with their values.
    pub fn parameters(&self) -> impl Iterator<Item = (&'static str, f64)> + '_ {
        self.named.iter().copied().flatten()
    }
}

impl fmt::Display for Extremes {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, (name, value)) in self.parameters().enumerate() {
            write!(out, "{} `{name}` = {value:?}", if index == 0 { ", perhaps because of" } else { "," })?;
        }
        if self.are_more { write!(out, " and others") } else { Ok(()) }
    }
}
