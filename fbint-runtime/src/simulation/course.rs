//! The part of a simulation that does not depend on its system.

use std::fmt;
use std::ops::ControlFlow;

use super::event::Event;
use super::sampling::SampleTimes;
use super::snapshot::{Moment, Snapshot};
use crate::error::Error;

/// A function that watches a run, and may interrupt it.
type BoxedObserver<'a> = Box<dyn FnMut(&Moment<'_>) -> ControlFlow<()> + Send + 'a>;

/// The samples, the events and the watcher of a run, and where it resumes.
pub struct Course<'a> {
    /// When it is sampled, unless at the default times.
    pub(super) samples: Option<SampleTimes>,
    pub(super) is_audited: bool,
    pub(super) is_dense: bool,
    pub(super) observer: BoxedObserver<'a>,
    pub(super) events: Vec<Event<'a, Vec<f64>>>,
    pub(super) from: Option<Snapshot>,
}

impl<'a> Course<'a> {
    /// A course from the start, with these events.
    pub(super) fn new(events: Vec<Event<'a, Vec<f64>>>) -> Self {
        let observer = Box::new(|_: &Moment<'_>| ControlFlow::Continue(()));
        Self { samples: None, is_audited: true, is_dense: false, observer, events, from: None }
    }

    /// With samples at these times.
    pub fn record_at(self, times: Vec<f64>) -> Self {
        Self { samples: Some(SampleTimes::At(times)), ..self }
    }

    /// Also where gains are too large for the step.
    pub fn unaudited(self) -> Self {
        Self { is_audited: false, ..self }
    }

    /// With every step as a polynomial in time.
    pub fn dense(self) -> Self {
        Self { is_dense: true, ..self }
    }

    /// With a further event.
    pub fn event(mut self, event: Event<'a, Vec<f64>>) -> Self {
        self.events.push(event);
        self
    }

    /// Resumed from a snapshot.
    pub fn from_snapshot(self, snapshot: Snapshot) -> Self {
        Self { from: Some(snapshot), ..self }
    }
}

impl Course<'_> {
    /// Returns `true` if the run continues another one, whose targets it keeps.
    pub(super) fn is_onward(&self) -> bool {
        self.from.as_ref().is_some_and(Snapshot::is_onward)
    }

    /// Takes the interval between samples that settings have.
    pub(super) fn sample_every(&mut self, every: Option<f64>) {
        self.samples = every.map(SampleTimes::every).or(self.samples.take());
    }

    /// The interval between samples, which stands for every step if it is 0, if there is one.
    pub(super) fn interval(&self) -> Result<Option<f64>, Error> {
        self.samples.as_ref().map_or(Ok(None), SampleTimes::interval)
    }
}

// By hand, because the observer cannot be printed.
impl fmt::Debug for Course<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Course")
            .field("is_audited", &self.is_audited)
            .field("is_dense", &self.is_dense)
            .finish_non_exhaustive()
    }
}
