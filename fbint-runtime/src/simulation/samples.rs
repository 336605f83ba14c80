//! Samples of a run without the type of its system.

use std::vec::Vec;

use super::run::Sample;
#[cfg(feature = "ensemble")]
use crate::facts::SystemFacts;
use crate::linear::filled;
use crate::system::FeedbackSystem;
#[cfg(feature = "ensemble")]
use crate::system::{Integrals, Vector};

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

impl FlatSamples {
    /// No sample yet of states with so many entries and integrals, and room for so many.
    pub(crate) fn with_capacity(entries: usize, integrals: usize, samples: usize) -> Self {
        let width = 1 + entries + integrals;
        Self { entries, width, numbers: Vec::with_capacity(width * samples) }
    }

    /// No sample yet of a system, and room for so many.
    #[cfg(feature = "ensemble")]
    pub(crate) fn of(facts: &SystemFacts, samples: usize) -> Self {
        Self::with_capacity(facts.state.len(), facts.integrals.len(), samples)
    }

    /// Adds a sample by vectors of a system.
    #[cfg(feature = "ensemble")]
    pub(crate) fn push_of<S: FeedbackSystem>(
        &mut self,
        facts: &SystemFacts,
        time: f64,
        state: &Vector<S>,
        change: &Integrals<S>,
    ) {
        self.push(time, facts.of_state::<S, _>(state), facts.of_integrals::<S, _>(change));
    }

    #[inline]
    pub(crate) fn push(&mut self, time: f64, state: &[f64], change: &[f64]) {
        self.numbers.reserve(self.width);
        self.numbers.push(time);
        self.numbers.extend_from_slice(state);
        self.numbers.extend_from_slice(change);
    }

    /// Whether there are more than so many samples.
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
    pub(crate) fn end(&self) -> Self {
        let last = self.numbers[self.numbers.len() - self.width..].to_vec();
        Self { numbers: last, ..*self }
    }

    /// The samples of the system `S`.
    pub(crate) fn shaped<S: FeedbackSystem>(&self) -> Vec<Sample<S>> {
        let mut samples: Vec<Sample<S>> =
            vec![Sample { time: 0.0, state: filled(0.0), change: filled(0.0) }; self.len()];
        for (sample, row) in samples.iter_mut().zip(self.iter()) {
            let (state, change): (&mut [f64], &mut [f64]) = (sample.state.as_mut(), sample.change.as_mut());
            sample.time = row.time;
            state[..row.state.len()].copy_from_slice(row.state);
            change[..row.change.len()].copy_from_slice(row.change);
        }
        samples
    }
}
