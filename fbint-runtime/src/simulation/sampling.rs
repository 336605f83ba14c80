//! At which times a run is sampled.

use std::vec::Vec;

use super::schedule::{ROUNDING, Span};
use crate::error::{Error, positive};

/// The times at which a simulation is sampled, besides the start and the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SampleTimes {
    /// The multiples of an interval after the start.
    Every(f64),
    /// A list of times.
    At(Vec<f64>),
}

impl SampleTimes {
    /// The interval between samples, if there is one.
    pub(super) fn interval(&self) -> Option<f64> {
        match self {
            Self::Every(interval) => Some(*interval),
            Self::At(_) => None,
        }
    }
}

/// The times at which a run has to be sampled, in their order, and how far it is with them.
pub(crate) struct Agenda {
    times: Times,
    /// The number of the next one, from 1 on: the start is number 0.
    next: u64,
}

enum Times {
    /// The multiples of an interval after `from`, up to number `last`.
    Multiples { from: f64, interval: f64, last: u64 },
    /// Times after the start that increase.
    Listed(Vec<f64>),
}

impl Agenda {
    /// How to resume after a number of samples, the start among them.
    fn new(span: Span, times: &SampleTimes, samples: u64) -> Result<Self, Error> {
        let times = match times {
            SampleTimes::Every(interval) => Times::multiples(span, *interval)?,
            SampleTimes::At(times) => Times::listed(span, times)?,
        };
        Ok(Self { times, next: samples })
    }

    /// The next time, unless it is after `until`. It counts as sampled.
    pub(super) fn next_until(&mut self, until: f64) -> Option<f64> {
        let time = self.times.get(self.next).filter(|time| *time <= until)?;
        self.next += 1;
        Some(time)
    }
}

impl Times {
    fn multiples(span: Span, interval: f64) -> Result<Self, Error> {
        let interval = positive("the interval between samples", interval)?;
        if span.length() / interval > 1e8 {
            return Err(Error::TooManySamples { interval, until: span.until });
        }
        let last = ((span.length() / interval) * (1.0 - ROUNDING)).floor() as u64;
        Ok(Self::Multiples { from: span.from, interval, last })
    }

    /// Refuses times that are not in the run or do not increase. The start is sampled anyway.
    fn listed(span: Span, times: &[f64]) -> Result<Self, Error> {
        let mut before = None;
        for (index, &time) in times.iter().enumerate() {
            let reason = match before {
                _ if !time.is_finite() => "it must be finite",
                Some(before) if time <= before => "it must be later than the one before it",
                _ if time < span.from => "it must not be before the start of the run",
                _ if time > span.until => "it must not be after the end of the run",
                _ => {
                    before = Some(time);
                    continue;
                }
            };
            return Err(Error::SampleTime { index, time, reason });
        }
        Ok(Self::Listed(times.iter().copied().filter(|time| *time > span.from).collect()))
    }

    /// The time of a number, from 1 on.
    fn get(&self, number: u64) -> Option<f64> {
        match self {
            Self::Multiples { from, interval, last } => (number <= *last).then(|| from + number as f64 * interval),
            Self::Listed(times) => times.get(usize::try_from(number.checked_sub(1)?).ok()?).copied(),
        }
    }
}

/// Which states of a run are sampled, besides the start and the end.
pub(crate) enum Sampling {
    /// Every `stride`-th step under error control.
    Steps { stride: u64 },
    /// The ends of the steps of a fixed size that the schedule samples.
    Scheduled,
    /// The states at given times.
    Times(Agenda),
}

impl Sampling {
    /// How to resume sampling steps of a fixed size after `samples`, the start among them. A schedule sees to an interval itself.
    pub(super) fn scheduled(span: Span, times: Option<&SampleTimes>, samples: u64) -> Result<Self, Error> {
        match times {
            Some(times @ SampleTimes::At(_)) => Agenda::new(span, times, samples).map(Self::Times),
            _ => Ok(Self::Scheduled),
        }
    }

    /// How to resume sampling steps under error control after `samples`, the start among them, that were taken every `stride` steps or
    /// at times.
    pub(crate) fn new(span: Span, times: Option<&SampleTimes>, stride: u64, samples: u64) -> Result<Self, Error> {
        match times {
            None => Ok(Self::Steps { stride }),
            Some(times) => Agenda::new(span, times, samples).map(Self::Times),
        }
    }

    /// When samples are taken, the start and the end among them, unless that depends on the steps.
    #[cfg(feature = "ensemble")]
    pub(crate) fn times(&self, span: Span) -> Vec<f64> {
        let listed = match self {
            Self::Steps { .. } | Self::Scheduled => None,
            Self::Times(agenda) => Some((1..).map_while(|number| agenda.times.get(number))),
        };
        let between = listed.into_iter().flatten();
        [span.from].into_iter().chain(between).chain([span.until]).collect()
    }

    pub(super) fn stride(&self) -> u64 {
        match self {
            Self::Steps { stride } => *stride,
            Self::Scheduled | Self::Times(_) => 1,
        }
    }
}
