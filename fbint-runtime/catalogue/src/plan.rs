//! The settings of runs and of the members of ensembles.

use std::fmt;
use std::sync::Arc;

use fbint_runtime::{Course, Event, Method, Settings, Snapshot};
use serde::{Deserialize, Serialize};

use crate::scheme::Scheme;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method, the end, the samples and the projection.
    pub settings: Settings,
    /// The gains of the feedback, if any.
    pub feedback: Feedback,
    /// `true` if gains that are too large for the step are refused.
    pub is_audited: bool,
    /// Where the run ends before its end.
    pub until_event: Option<Crossing>,
    /// The times of the samples, besides the start and the end, if the settings have no interval.
    pub times: Option<Vec<f64>>,
    /// `true` if the steps are kept as polynomials in time.
    pub is_dense: bool,
    /// Which of the model's own maps makes the steps of [`Method::OneStep`].
    pub map: Option<Scheme>,
}

/// The gains of members in lanes.
pub(crate) enum LaneGains<'p> {
    None,
    Relaxation(f64),
    Constant(Vec<ConstantGains<'p>>),
}

/// Gains of a member of an ensemble that do not follow from the state.
pub(crate) enum ConstantGains<'p> {
    Uniform(f64),
    Each(&'p [f64]),
}

/// Where a quantity passes a number.
#[derive(Clone, Debug)]
pub struct Crossing {
    /// The name, in errors and results.
    pub name: String,
    /// The expressions that pass it.
    pub quantity: Quantity,
    /// `true` if it has to fall below the number, or else to rise above it.
    pub is_below: bool,
    /// The number.
    pub number: f64,
}

/// A quantity that follows from the time and the state.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// The entry of the state at this index of [`SystemFacts::state`](fbint_runtime::SystemFacts::state).
    Entry(usize),
    /// The output at this index of [`SystemFacts::output_names`](fbint_runtime::SystemFacts::output_names).
    Output(usize),
    /// An expression.
    Expression(Law),
}

/// A function of the time and the entries of the state.
type OfState = dyn Fn(f64, &[f64]) -> f64 + Send + Sync;

/// Puts coefficients of t, t^2 and so on from a time on into a list, and returns whether there are any.
type SeriesOfTime = dyn Fn(f64, &mut [f64]) -> bool + Send + Sync;

/// An expression of the time and the entries of the state, followed by the outputs if it names any.
#[derive(Clone)]
pub struct Law {
    function: Arc<OfState>,
    has_outputs: bool,
    series: Option<Arc<SeriesOfTime>>,
}

impl Law {
    /// The expression that a function of the time and the entries of the state evaluates.
    pub fn new(function: impl Fn(f64, &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        Self { function: Arc::new(function), has_outputs: false, series: None }
    }

    /// This expression as one whose function takes the outputs behind the entries of the state.
    #[must_use]
    pub fn of_outputs(self) -> Self {
        Self { has_outputs: true, ..self }
    }

    /// This expression as one of the time alone, whose Taylor series a function gives.
    #[must_use]
    pub fn with_series(self, series: impl Fn(f64, &mut [f64]) -> bool + Send + Sync + 'static) -> Self {
        Self { series: Some(Arc::new(series)), ..self }
    }

    /// Puts the coefficients of its Taylor series from a time on into a list: of t, t^2 and so on. Returns whether it has a series.
    pub fn series(&self, time: f64, later: &mut [f64]) -> bool {
        self.series.as_ref().is_some_and(|series| series(time, later))
    }

    /// Its value.
    pub fn value(&self, time: f64, state: &[f64]) -> f64 {
        (self.function)(time, state)
    }
}

// By hand, because functions cannot be printed.
impl fmt::Debug for Law {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Law").field("has_outputs", &self.has_outputs).finish_non_exhaustive()
    }
}

impl Quantity {
    /// The quantity at a time in a state, whose outputs `outputs` gives.
    pub(crate) fn value(&self, time: f64, state: &[f64], outputs: &dyn Fn(&[f64]) -> Vec<f64>) -> f64 {
        match self {
            Self::Entry(index) => state.get(*index).copied().unwrap_or(f64::NAN),
            Self::Output(index) => outputs(state).get(*index).copied().unwrap_or(f64::NAN),
            Self::Expression(law) if law.has_outputs => law.value(time, &[state, &*outputs(state)].concat()),
            Self::Expression(law) => law.value(time, state),
        }
    }
}

impl Crossing {
    /// The end of a run where the quantity passes the number; `outputs` gives the outputs in a state.
    pub(crate) fn event<'a>(&self, outputs: impl Fn(&[f64]) -> Vec<f64> + Send + 'a) -> Event<'a, Vec<f64>> {
        let (quantity, number) = (self.quantity.clone(), self.number);
        let event =
            Event::new(&*self.name, move |time, state: &Vec<f64>| quantity.value(time, state, &outputs) - number);
        if self.is_below { event.falling().terminal() } else { event.rising().terminal() }
    }

    /// Returns `true` if a value of the quantity is beyond the number.
    pub fn is_true(&self, value: f64) -> bool {
        if self.is_below { value < self.number } else { value > self.number }
    }
}

impl Plan {
    /// A run with these settings and gains, which are refused if they are too large for the step.
    pub const fn new(settings: Settings, feedback: Feedback) -> Self {
        Self { settings, feedback, is_audited: true, until_event: None, times: None, is_dense: false, map: None }
    }

    /// The course of a run with this plan, until an event.
    pub(crate) fn shape<'a>(
        &self,
        course: Course<'a>,
        from: Option<Snapshot>,
        until: Option<Event<'a, Vec<f64>>>,
    ) -> Course<'a> {
        let mut course = from.into_iter().fold(course, Course::from_snapshot);
        if !self.is_audited {
            course = course.unaudited();
        }
        if let Some(times) = &self.times {
            course = course.record_at(times.clone());
        }
        if self.is_dense {
            course = course.dense();
        }
        until.into_iter().fold(course, Course::event)
    }

    /// The gains of members in lanes; `None` if members have several kinds, or one that lanes do not have.
    pub(crate) fn lane_gains(&self, members: &[Member]) -> Option<LaneGains<'_>> {
        if members.iter().all(|member| member.gain.is_none()) {
            match self.feedback {
                Feedback::None => return Some(LaneGains::None),
                Feedback::Relaxation(tau) => return Some(LaneGains::Relaxation(tau)),
                Feedback::BaeChang(_) => return None,
                Feedback::Uniform(_) | Feedback::Diagonal(_) => {}
            }
        }
        let gains = |member: &Member| match (member.gain, &self.feedback) {
            (Some(gain), _) => Some(ConstantGains::Uniform(gain)),
            (None, Feedback::Uniform(gain)) => Some(ConstantGains::Uniform(*gain)),
            (None, Feedback::Diagonal(gains)) => Some(ConstantGains::Each(gains)),
            _ => None,
        };
        members.iter().map(gains).collect::<Option<_>>().map(LaneGains::Constant)
    }
}

/// Steps of one size, by a method that the catalogue does not have.
pub struct Steps<'a> {
    /// Replaces a state by the state after a step of the size that is given.
    pub step: &'a (dyn Fn(&mut [f64], f64) + Sync),
    /// The evaluations of the field in a step, or as much of the system.
    pub evaluations: u64,
    /// The size of a step.
    pub h: f64,
    /// The time at the end.
    pub until: f64,
    /// The time between two samples.
    pub every: f64,
}

impl Steps<'_> {
    /// The settings of a run with these steps.
    pub(crate) fn settings(&self) -> Settings {
        let settings = Settings::new(Method::OneStep { h: self.h }, self.until);
        Settings { every: Some(self.every), ..settings }
    }
}

/// The gains of a run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// The derived field alone.
    None,
    /// One gain for every integral.
    Uniform(f64),
    /// A gain for each integral, in the order of the integrals.
    Diagonal(Vec<f64>),
    /// [`Gains::relaxation`](fbint_runtime::Gains::relaxation) with this time.
    Relaxation(f64),
    /// [`Gains::bae_chang`](fbint_runtime::Gains::bae_chang) for this step.
    BaeChang(f64),
}

/// A member of an ensemble.
#[derive(Clone, Debug)]
pub struct Member {
    /// A value for each parameter.
    pub parameters: Vec<f64>,
    /// The start.
    pub start: Vec<f64>,
    /// The gain of every integral, instead of the gains of the [`Plan`].
    pub gain: Option<f64>,
}
