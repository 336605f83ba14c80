//! When steps of a fixed size end, and which of them are sampled.

#[cfg(feature = "ensemble")]
use crate::error::memory::Storage;
use crate::error::{Error, positive};
use crate::field::Driver;
use crate::method::error_control::MAX_STEPS;
use crate::method::settings::Method;
use crate::stages::step_size::StepLimits;
use crate::system::SystemFacts;

/// The interval between samples that stands for every step.
pub(super) const EVERY_STEP: f64 = 0.0;
/// More samples would fill the memory.
pub(super) const MOST_SAMPLES: u64 = 100_000_000;
/// Maximum number of intervals of the trajectory by default; twice as many with error control.
pub(super) const DEFAULT_INTERVALS: u64 = 1000;
/// The least number of times that a run is watched, if it has as many steps.
const LOOKS: u64 = 200;
/// The most steps between two checks.
const UNWATCHED: u64 = 256;
/// A remainder of this fraction of a step is rounding, not a step; so is the error that `until / h` may have.
pub(super) const ROUNDING: f64 = 1e-9;

/// The time from the start of a run to its end.
#[derive(Clone, Copy)]
pub(crate) struct Span {
    pub(crate) from: f64,
    pub(crate) until: f64,
}

impl Span {
    pub(crate) fn new(from: f64, until: f64) -> Result<Self, Error> {
        if from == 0.0 {
            positive("the end of the simulation", until)?;
        }
        if from.is_finite() && until.is_finite() && until > from {
            Ok(Self { from, until })
        } else {
            Err(Error::EndBeforeStart { from, until })
        }
    }

    pub(crate) fn length(self) -> f64 {
        self.until - self.from
    }
}

/// Refuses a run that begins at another time than its start has, or goes beyond the times at which its inputs are known.
pub(crate) fn check_driving(
    facts: &SystemFacts,
    driver: Option<&dyn Driver>,
    start: &[f64],
    span: Span,
) -> Result<(), Error> {
    let Span { from, until } = span;
    if let Some(index) = facts.clock.filter(|index| start[*index] != from) {
        return Err(Error::OtherTime { name: facts.state[index].name, time: start[index], from });
    }
    match driver.map(Driver::range) {
        Some([first, last]) if from < first || until > last => Err(Error::InputRange { first, last, from, until }),
        _ => Ok(()),
    }
}

/// The limits to steps that were given.
#[derive(Clone, Copy, Debug)]
pub(crate) struct GivenLimits {
    pub(crate) max_step: Option<f64>,
    pub(crate) max_steps: Option<u64>,
}

impl GivenLimits {
    /// The limits to the steps of a run under error control.
    pub(crate) fn of_run(self, span: Span, facts: &SystemFacts) -> Result<StepLimits, Error> {
        StepLimits::of_run(self.max_step, facts.clock.is_some(), span.length())
    }

    /// The most steps under error control.
    pub(crate) fn max_steps(self) -> u64 {
        self.max_steps.unwrap_or(MAX_STEPS)
    }

    /// Refuses limits to steps of a fixed size.
    pub(crate) fn check(self, method: Method, schedule: &Schedule, facts: &SystemFacts) -> Result<(), Error> {
        let Schedule { h, steps, .. } = *schedule;
        if self.max_step.is_some() {
            let reason = "a longest step was given, but its steps have one size: choose that size, or a method with error control";
            return Err(Error::NotApplicable { method: method.name(), system: facts.name, reason });
        }
        match self.max_steps {
            Some(limit) if steps > limit => Err(Error::StepLimit { steps, h, limit }),
            _ => Ok(()),
        }
    }
}

/// When steps of a fixed size end, and which are sampled and watched.
pub(crate) struct Schedule {
    pub(crate) h: f64,
    pub(crate) span: Span,
    pub(crate) steps: u64,
    /// The size of the last step where it is not h.
    last: Option<f64>,
    sampled: u64,
    watched: u64,
}

impl Schedule {
    pub(crate) fn new(h: f64, span: Span, interval: Option<f64>) -> Result<Self, Error> {
        let h = positive("the step h", h)?;
        let ratio = span.length() / h;
        if ratio > 1e15 {
            return Err(Error::TooManySteps { h, until: span.until });
        }
        let whole = ratio.round();
        let (steps, last) = if (ratio - whole).abs() <= ROUNDING + 2.0 * f64::EPSILON * ratio && whole > 0.0 {
            (whole as u64, None)
        } else {
            (ratio.ceil() as u64, Some(span.length() - ratio.floor() * h))
        };
        let sampled = match interval {
            Some(EVERY_STEP) => 1,
            Some(interval) => (positive("the interval between samples", interval)? / h).round() as u64,
            None => steps.div_ceil(DEFAULT_INTERVALS),
        };
        let sampled = sampled.max(1);
        if steps / sampled > MOST_SAMPLES {
            return Err(Error::TooManySamples { interval: sampled as f64 * h, until: span.until });
        }
        let watched = steps.div_ceil(LOOKS).min(UNWATCHED);
        Ok(Self { h, span, steps, last, sampled, watched })
    }

    /// The schedule of a method, unless error control ends its steps.
    pub(crate) fn of_method(
        method: Method,
        span: Span,
        interval: Option<f64>,
        limits: GivenLimits,
        facts: &SystemFacts,
    ) -> Result<Option<Self>, Error> {
        let Some(h) = method.step() else { return Ok(None) };
        let schedule = Self::new(h, span, interval)?;
        limits.check(method, &schedule, facts)?;
        Ok(Some(schedule))
    }

    /// The time after a number of steps.
    pub(crate) fn time(&self, step: u64) -> f64 {
        if step == self.steps { self.span.until } else { self.span.from + step as f64 * self.h }
    }

    pub(crate) fn step_size(&self, step: u64) -> f64 {
        if step == self.steps { self.last.unwrap_or(self.h) } else { self.h }
    }

    /// The time until which states belong to a step or to those before it.
    pub(super) fn reach(&self, step: u64) -> f64 {
        let time = self.time(step);
        time + self.rounding(time)
    }

    /// The distance of two times that are equal but for rounding.
    fn rounding(&self, time: f64) -> f64 {
        ROUNDING * self.h + 2.0 * f64::EPSILON * time.abs()
    }

    /// Returns `true` if a number of steps ends at a time, but for rounding: the last one of a run ends where the run does.
    pub(super) fn ends_at(&self, steps: u64, time: f64) -> bool {
        (self.time(steps) - time).abs() <= self.rounding(time)
    }

    /// Returns `true` if a step ends at a time of the run, but for rounding.
    pub(super) fn ends_step_at(&self, time: f64) -> bool {
        let step = ((time - self.span.from) / self.h).round() as u64;
        [step.min(self.steps), self.steps].iter().any(|&step| (time - self.time(step)).abs() <= self.rounding(time))
    }

    pub(crate) fn is_sampled(&self, step: u64) -> bool {
        step.is_multiple_of(self.sampled)
    }

    /// The number of steps after this one that have its size, up to the next sample; the last step is separate.
    #[cfg(feature = "ensemble")]
    pub(crate) fn alike_from(&self, step: u64) -> u64 {
        let next_sample = step - step % self.sampled + self.sampled;
        (next_sample.min(self.steps - 1) - step).max(1)
    }

    /// When samples are taken, the start and the end among them.
    #[cfg(feature = "ensemble")]
    pub(crate) fn sample_times(&self) -> Result<Vec<f64>, Error> {
        let before_end = (0..self.steps.div_ceil(self.sampled)).map(|number| number * self.sampled);
        Storage::SAMPLES.collect(before_end.chain([self.steps]).map(|step| self.time(step)))
    }

    /// Holds the inputs of the step after a number of steps. Whether they have jumped, so that what is known of the field holds no
    /// more.
    pub(super) fn hold(&self, driver: Option<&dyn Driver>, number: u64) -> Result<bool, Error> {
        let Some(driver) = driver else { return Ok(false) };
        let held = (number > 0).then(|| self.hold_at(driver, number - 1));
        let jump = self.hold_at(driver, number);
        if jump < self.span.until && !self.ends_step_at(jump) {
            return Err(Error::JumpWithinStep { time: jump, h: self.h });
        }
        Ok(held.is_some_and(|held| held != jump))
    }

    /// Holds the inputs after a number of steps; returns when they jump next. A jump where that step begins, but for rounding, is over.
    fn hold_at(&self, driver: &dyn Driver, number: u64) -> f64 {
        let jump = driver.hold(self.time(number));
        if jump <= self.reach(number) { driver.hold(jump) } else { jump }
    }

    pub(super) fn is_watched(&self, step: u64) -> bool {
        step.is_multiple_of(self.watched) || step == self.steps
    }
}
