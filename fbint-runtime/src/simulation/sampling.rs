//! At which times a run is sampled.

use std::vec::Vec;

use super::schedule::{EVERY_STEP, MOST_SAMPLES, ROUNDING, Span};
#[cfg(feature = "ensemble")]
use crate::error::memory::Storage;
use crate::error::{Error, positive};

/// The times at which a simulation is sampled, besides the start and the end.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum SampleTimes {
    /// The multiples of an interval after the start.
    Every(f64),
    /// The ends of all steps.
    EveryStep,
    /// A list of times.
    At(Vec<f64>),
}

impl SampleTimes {
    /// The setting [`Settings::every`](crate::Settings::every).
    pub(crate) fn every(interval: f64) -> Self {
        if interval == EVERY_STEP { Self::EveryStep } else { Self::Every(interval) }
    }

    /// The interval between samples, which stands for every step if it is 0, if there is one.
    pub(super) fn interval(&self) -> Result<Option<f64>, Error> {
        match self {
            Self::Every(interval) => positive("the interval between samples", *interval).map(Some),
            Self::EveryStep => Ok(Some(EVERY_STEP)),
            Self::At(_) => Ok(None),
        }
    }
}

/// The times at which a run has to be sampled, in their order, and how far it is with them.
pub(crate) struct DueTimes {
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

impl DueTimes {
    /// The sampling that resumes after a number of samples, the start among them.
    fn new(times: Times, samples: u64) -> Self {
        Self { times, next: samples }
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
        let ratio = span.length() / interval;
        if ratio > MOST_SAMPLES as f64 {
            return Err(Error::TooManySamples { interval, until: span.until });
        }
        // What is a rounding before the end is the end.
        let last = (ratio - ROUNDING - 2.0 * f64::EPSILON * ratio).floor() as u64;
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
    /// Every `stride`-th step under error control, which doubles where there are too many unless all are kept.
    Steps { stride: u64, keeps_all: bool },
    /// The ends of the steps of a fixed size that the schedule samples.
    Scheduled,
    /// The states at given times.
    Times(DueTimes),
}

impl Sampling {
    /// The sampling that resumes steps of a fixed size after `samples`, the start among them. A schedule sees to an interval itself.
    pub(super) fn scheduled(span: Span, times: Option<&SampleTimes>, samples: u64) -> Result<Self, Error> {
        match times {
            Some(SampleTimes::At(times)) => Ok(Self::Times(DueTimes::new(Times::listed(span, times)?, samples))),
            _ => Ok(Self::Scheduled),
        }
    }

    /// The sampling that resumes steps under error control after `samples`, the start among them, that were taken every `stride` steps or
    /// at times.
    pub(crate) fn new(span: Span, times: Option<&SampleTimes>, stride: u64, samples: u64) -> Result<Self, Error> {
        match times {
            None => Ok(Self::Steps { stride, keeps_all: false }),
            Some(SampleTimes::EveryStep) => Ok(Self::Steps { stride: 1, keeps_all: true }),
            Some(SampleTimes::Every(interval)) => {
                Ok(Self::Times(DueTimes::new(Times::multiples(span, *interval)?, samples)))
            }
            Some(SampleTimes::At(times)) => Ok(Self::Times(DueTimes::new(Times::listed(span, times)?, samples))),
        }
    }

    /// When samples are taken, the start and the end among them, unless that depends on the steps.
    #[cfg(feature = "ensemble")]
    pub(crate) fn times(&self, span: Span) -> Result<Vec<f64>, Error> {
        let listed = match self {
            Self::Steps { .. } | Self::Scheduled => None,
            Self::Times(due) => Some((1..).map_while(|number| due.times.get(number))),
        };
        let between = listed.into_iter().flatten();
        Storage::SAMPLES.collect([span.from].into_iter().chain(between).chain([span.until]))
    }

    pub(super) fn stride(&self) -> u64 {
        match self {
            Self::Steps { stride, .. } => *stride,
            Self::Scheduled | Self::Times(_) => 1,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Span, Times};

    /// The last multiple is a sample unless it is the end but for rounding.
    #[test]
    fn the_last_multiple_of_a_long_run_is_sampled() {
        let last = |until: f64, interval: f64| {
            let times = Times::multiples(Span { from: 0.0, until }, interval).unwrap();
            (1..).take_while(|number| times.get(*number).is_some()).last().unwrap_or(0)
        };
        assert_eq!(last(1.0, 0.1), 9);
        assert_eq!(last(1.05, 0.1), 10);
        assert_eq!(last(0.3, 0.1), 2);
        assert_eq!(last(100_000.005, 1.0), 100_000);
        let times = Times::multiples(Span { from: 0.0, until: 10_000_000.005 }, 1.0).unwrap();
        assert_eq!(times.get(10_000_000), Some(1e7));
    }
}
