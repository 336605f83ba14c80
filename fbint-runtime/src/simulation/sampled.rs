//! Laws of inputs that are sampled: each holds from its sample to the next one, as a digital controller does it.
//!
//! Samples are taken at the multiples of their period, and where a run starts. Every step ends where one is due. Delayed laws have the
//! state of an earlier sample; before the first of them arrives, the inputs are 0.

use std::collections::VecDeque;

use crate::error::{Error, positive};
use crate::system::SystemFacts;

/// Two times are one if they differ by less than this part of the period.
const ROUNDING: f64 = 1e-9;

/// The samples of a run.
#[derive(Debug)]
pub(super) struct LawSamples {
    period: f64,
    delay: usize,
    /// The last states, of which the first one holds if there are enough.
    states: VecDeque<Vec<f64>>,
    /// When the next sample is due.
    pub(super) next: f64,
}

impl LawSamples {
    /// The samples of a run that begins at a time, if its system samples its laws with this period, and inputs follow them.
    pub(super) fn of(facts: &SystemFacts, are_followed: bool, period: f64, from: f64) -> Result<Option<Self>, Error> {
        let Some(delay) = facts.law_delay.filter(|_| are_followed) else { return Ok(None) };
        let period = positive("the time `every` between two samples", period)?;
        Ok(Some(Self { period, delay, states: VecDeque::new(), next: from }))
    }

    /// Returns `true` if a sample is due at a time.
    pub(super) fn is_due(&self, time: f64) -> bool {
        time >= self.next - ROUNDING * self.period
    }

    /// Returns `true` if a sample is due before a time.
    pub(super) fn is_due_before(&self, time: f64) -> bool {
        self.next < time - ROUNDING * self.period
    }

    /// Takes a sample, if it is due.
    pub(super) fn take(&mut self, time: f64, state: &[f64]) {
        if self.is_due(time) {
            self.states.push_back(state.to_vec());
            if self.states.len() > self.delay + 1 {
                self.states.pop_front();
            }
            self.next_after(time);
        }
    }

    fn next_after(&mut self, time: f64) {
        self.next = ((time / self.period + ROUNDING).floor() + 1.0) * self.period;
    }

    /// The state whose laws hold.
    pub(super) fn held(&self) -> Option<&[f64]> {
        self.states.front().filter(|_| self.states.len() > self.delay).map(Vec::as_slice)
    }

    /// The states from which a run continues.
    pub(super) fn states(&self) -> Vec<Vec<f64>> {
        self.states.iter().cloned().collect()
    }

    /// Continues at a time, with these states.
    pub(super) fn restore(&mut self, time: f64, states: &[Vec<f64>]) {
        self.states = states.iter().cloned().collect();
        self.next_after(time);
    }
}
