//! Names and times in messages.

use core::fmt;

use crate::system::StateEntry;

/// A name as it was given, which may be one of nothing. A long one is cut, so that it takes no allocator to keep it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct GivenName {
    bytes: [u8; Self::LONGEST],
    length: usize,
    is_cut: bool,
}

impl GivenName {
    /// The number of bytes that are kept.
    const LONGEST: usize = 48;

    pub(crate) fn new(name: &str) -> Self {
        let kept = name.char_indices().map(|(at, letter)| at + letter.len_utf8());
        let length = kept.take_while(|end| *end <= Self::LONGEST).last().unwrap_or(0);
        let mut bytes = [0; Self::LONGEST];
        bytes.iter_mut().zip(name.bytes()).take(length).for_each(|(place, byte)| *place = byte);
        Self { bytes, length, is_cut: length < name.len() }
    }

    /// The name, or its beginning.
    pub fn as_str(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| core::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl fmt::Display for GivenName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{}{}", self.as_str(), if self.is_cut { ".." } else { "" })
    }
}

impl fmt::Debug for GivenName {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(out, "{:?}", self.as_str())
    }
}

/// A mistake in the times of a table.
#[cfg(feature = "std")]
pub(super) struct HeldTimes<'a>(pub(super) &'a usize, pub(super) &'a f64, pub(super) &'a Option<f64>);

#[cfg(feature = "std")]
impl fmt::Display for HeldTimes<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self(index, time, before) = self;
        match before {
            Some(before) => write!(
                out,
                "the table of inputs has the time {time:?} at index {index} after {before:?}: times must be finite and increase, and \
                 the end of the table comes after all of them"
            ),
            None => {
                write!(out, "the table of inputs is empty: give at least one input with the time from which it holds")
            }
        }
    }
}

/// The times at which inputs are known, and the ends of a run that goes beyond them.
#[cfg(feature = "std")]
pub(super) struct InputRange<'a>(pub(super) [&'a f64; 2], pub(super) [&'a f64; 2]);

#[cfg(feature = "std")]
impl fmt::Display for InputRange<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self([first, last], [from, until]) = self;
        if from < first {
            write!(
                out,
                "the inputs begin at t = {first:?}, and the run at t = {from:?}: give their values from t = {from:?} on"
            )
        } else {
            let remedy = format_args!("give their values until then, or end the run with them");
            write!(out, "the inputs end at t = {last:?}, and the run at t = {until:?}: {remedy}")
        }
    }
}

/// Names in a row: `a`, `b`, `c`.
pub(super) struct Listed<'a>(pub(super) &'a [StateEntry]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, entry) in self.0.iter().enumerate() {
            write!(out, "{}`{}`", if index == 0 { "" } else { ", " }, entry.name)?;
        }
        Ok(())
    }
}
