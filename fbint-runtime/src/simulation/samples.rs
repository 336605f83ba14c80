//! Samples of a run without the type of its system.

use std::vec::Vec;

use derive_where::derive_where;

use crate::error::Error;
use crate::error::memory::Storage;
use crate::numbers::linear::from_slice;
#[cfg(feature = "ensemble")]
use crate::system::SystemFacts;
use crate::system::{FeedbackSystem, Integrals, Vector};

/// A state of the system `S` at one time of a run.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Sample<S: FeedbackSystem> {
    /// The time.
    pub time: f64,
    /// The state, flat.
    pub state: Vector<S>,
    /// F - F_target there.
    pub change: Integrals<S>,
}

/// Samples of a run, each a row: the time, the state and F - F_target.
#[derive(Clone, Debug)]
pub struct FlatSamples {
    entries: usize,
    width: usize,
    numbers: Vec<f64>,
}

/// A row of [`FlatSamples`].
#[derive(Clone, Copy, Debug)]
pub struct SampleRow<'a> {
    /// The time.
    pub time: f64,
    /// The state.
    pub state: &'a [f64],
    /// F - F_target.
    pub change: &'a [f64],
}

impl SampleRow<'_> {
    /// The sample of the system `S`.
    fn shaped<S: FeedbackSystem>(&self) -> Sample<S> {
        Sample { time: self.time, state: from_slice(self.state), change: from_slice(self.change) }
    }
}

impl FlatSamples {
    /// No sample yet of states with these numbers of entries and integrals.
    pub(crate) fn none(entries: usize, integrals: usize) -> Self {
        Self { entries, width: 1 + entries + integrals, numbers: Vec::new() }
    }

    /// No sample yet of a system, and room for a number of them.
    #[cfg(feature = "ensemble")]
    pub(crate) fn of(facts: &SystemFacts, samples: usize) -> Result<Self, Error> {
        let mut none = Self::none(facts.state.len(), facts.integrals.len());
        none.reserve(samples)?;
        Ok(none)
    }

    /// Makes room for this number of further samples.
    fn reserve(&mut self, samples: usize) -> Result<(), Error> {
        Storage::SAMPLES.reserve(&mut self.numbers, self.width.saturating_mul(samples))
    }

    /// Adds a sample by vectors of a system.
    #[cfg(feature = "ensemble")]
    pub(crate) fn push_of<S: FeedbackSystem>(
        &mut self,
        facts: &SystemFacts,
        time: f64,
        state: &Vector<S>,
        change: &Integrals<S>,
    ) -> Result<(), Error> {
        self.push(time, facts.of_state::<S, _>(state), facts.of_integrals::<S, _>(change))
    }

    /// Adds a sample, if there is memory for it.
    #[inline]
    pub(crate) fn push(&mut self, time: f64, state: &[f64], change: &[f64]) -> Result<(), Error> {
        self.reserve(1)?;
        self.numbers.push(time);
        self.numbers.extend_from_slice(state);
        self.numbers.extend_from_slice(change);
        Ok(())
    }

    /// Returns `true` if there are more than this number of samples.
    pub(super) fn are_more_than(&self, samples: usize) -> bool {
        self.numbers.len() > samples * self.width
    }

    /// The number of samples.
    pub(crate) fn len(&self) -> usize {
        self.numbers.len() / self.width
    }

    /// The samples, from the start to the end.
    pub fn iter(&self) -> impl DoubleEndedIterator<Item = SampleRow<'_>> {
        self.numbers.chunks_exact(self.width).map(|row| {
            let (state, change) = row[1..].split_at(self.entries);
            SampleRow { time: row[0], state, change }
        })
    }

    /// F - F_target of each sample.
    pub(super) fn changes_mut(&mut self) -> impl Iterator<Item = &mut [f64]> {
        self.numbers.chunks_exact_mut(self.width).map(|row| &mut row[1 + self.entries..])
    }

    /// Keeps the first sample, the third, and so on.
    pub(super) fn keep_every_other(&mut self) {
        for sample in 1..self.len().div_ceil(2) {
            let from = 2 * sample * self.width;
            self.numbers.copy_within(from..from + self.width, sample * self.width);
        }
        self.numbers.truncate(self.len().div_ceil(2) * self.width);
    }

    /// The last sample alone.
    #[cfg(feature = "ensemble")]
    pub(crate) fn end(&self) -> Result<Self, Error> {
        let last = &self.numbers[self.numbers.len() - self.width..];
        Ok(Self { numbers: Storage::SAMPLES.collect(last.iter().copied())?, ..*self })
    }

    /// The samples of the system `S`, or an error where memory cannot hold both copies.
    pub(crate) fn try_shaped<S: FeedbackSystem>(&self) -> Result<Vec<Sample<S>>, Error> {
        Storage::SAMPLES.collect(self.iter().map(|row| row.shaped()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn samples_that_memory_does_not_hold_are_an_error() {
        let mut samples = FlatSamples::none(4, 2);
        samples.push(0.0, &[1.0; 4], &[0.0; 2]).expect("memory for one");
        let error = samples.reserve(usize::MAX / 64).expect_err("more than an address can name");
        assert!(matches!(error, Error::Memory { .. }), "{error}");
        assert_eq!(samples.len(), 1);
    }
}
