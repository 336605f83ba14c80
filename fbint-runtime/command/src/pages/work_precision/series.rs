//! One method with one policy of gains, from the coarsest run to the finest.

use std::fmt;

use fbint_runtime::{Projection, Settings};

use fbint_catalogue::scheme::{Aid, Contender, Scheme};
use fbint_catalogue::{Feedback, Plan};

const EXPLICIT: [Scheme; 6] =
    [Scheme::EULER, Scheme::MIDPOINT, Scheme::HEUN, Scheme::RK4, Scheme::DORMAND_PRINCE, Scheme::DOP853];
/// The longest step; each other is the cube root of 10 shorter than the one before.
const LONGEST: f64 = 0.1;
const STEPS: i32 = 9;
/// The loosest tolerance; each other is a tenth of the one before.
const LOOSEST: f64 = 1e-3;
const TOLERANCES: i32 = 10;
/// Relaxation acts within this many steps of a fixed size.
const STEPS_TO_RELAX: f64 = 10.0;
/// It acts within this time where the method chooses its steps.
const TIME_TO_RELAX: f64 = 1.0;

/// One method with one policy.
pub struct Series {
    /// The method.
    pub scheme: Scheme,
    /// The policy.
    pub policy: Policy,
    /// The runs, from the coarsest to the finest.
    pub points: Vec<WorkPrecisionPoint>,
}

/// The policy by which integrals are kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Policy {
    /// The derived field alone.
    Plain,
    /// One projection after each step, which is the default of a run.
    Projected,
    /// Relaxation within ten steps, or in unit time where the method chooses its steps.
    Relaxation,
    /// k for every integral.
    Uniform(u8),
    /// The rule of Bae and Chang, for Euler's method.
    BaeChang,
}

/// One run.
pub struct WorkPrecisionPoint {
    /// The step or the tolerance.
    pub setting: f64,
    /// The result.
    pub outcome: Outcome,
}

/// The result of a run.
pub enum Outcome {
    /// The run has not been made, has blown up, or found no step that meets the tolerance.
    Failed,
    /// The gains are unstable at this step.
    Refused,
    /// The run reached its end.
    Done(Measured),
}

/// Measurements of a run that reached its end.
pub struct Measured {
    /// Evaluations of the field.
    pub evaluations: f64,
    /// Seconds of the steps alone.
    pub seconds: f64,
    /// The error of the state at the end.
    pub error: f64,
    /// The largest change of any integral at any step.
    pub drift: f64,
}

impl Series {
    /// The series of every explicit Runge-Kutta method and of `further` ones, with no run made yet.
    pub fn all(further: &[Scheme], until: f64) -> Vec<Self> {
        let of_scheme = |&scheme: &Scheme| {
            let policies = Policy::ALL.into_iter().filter(move |policy| policy.applies_to(scheme));
            policies.map(move |policy| Self::new(scheme, policy, until))
        };
        EXPLICIT.iter().chain(further).flat_map(of_scheme).collect()
    }

    fn new(scheme: Scheme, policy: Policy, until: f64) -> Self {
        // A whole number of steps, so that the last is as long as the others.
        let step = |n| until / (until / (LONGEST * 10_f64.powf(-f64::from(n) / 3.0))).round().max(1.0);
        let settings: Vec<f64> = if scheme.chooses_steps() {
            (0..TOLERANCES).map(|n| LOOSEST * 10_f64.powi(-n)).collect()
        } else {
            (0..STEPS).map(step).collect()
        };
        let points =
            settings.into_iter().map(|setting| WorkPrecisionPoint { setting, outcome: Outcome::Failed }).collect();
        Self { scheme, policy, points }
    }

    /// The measurements of runs that reached their ends.
    pub fn done(&self) -> impl Iterator<Item = &Measured> {
        self.points.iter().filter_map(WorkPrecisionPoint::done)
    }

    /// The contender, which has the colour and the stroke of the series.
    pub fn contender(&self) -> Contender {
        Contender { scheme: self.scheme, aid: self.policy.aid() }
    }

    /// The work at which the error first falls to `goal`, interpolated in the logarithms of both; the work of the coarsest run
    /// if its error is below `goal` already.
    pub fn work_to_reach(&self, goal: f64, work: impl Fn(&Measured) -> f64) -> Option<f64> {
        let points: Vec<&Measured> = self.done().collect();
        let first = points.iter().position(|point| point.error <= goal)?;
        let b = points[first];
        let Some(a) = first.checked_sub(1).map(|before| points[before]) else { return Some(work(b)) };
        let fraction = (a.error / goal).ln() / (a.error / b.error).ln();
        Some(work(a) * (work(b) / work(a)).powf(fraction))
    }

    /// The median of a ratio to the runs of another series with the same steps or tolerances.
    pub fn ratio(&self, other: &Self, quantity: impl Fn(&Measured) -> f64) -> Option<f64> {
        let pairs = self.points.iter().zip(&other.points).filter_map(|(own, other)| own.done().zip(other.done()));
        let mut ratios: Vec<f64> = pairs.map(|(own, other)| quantity(own) / quantity(other)).collect();
        ratios.retain(|ratio| ratio.is_finite());
        ratios.sort_by(f64::total_cmp);
        ratios.get(ratios.len() / 2).copied()
    }

    /// The number of runs that were refused.
    pub fn refused(&self) -> usize {
        self.points.iter().filter(|point| matches!(point.outcome, Outcome::Refused)).count()
    }

    /// The number of runs that failed.
    pub fn failed(&self) -> usize {
        self.points.iter().filter(|point| matches!(point.outcome, Outcome::Failed)).count()
    }

    /// A row for each run: step, tolerance, refused, failed, evaluations, seconds, error, drift.
    pub fn rows(&self) -> impl Iterator<Item = (String, Vec<f64>)> {
        self.points.iter().map(|point| {
            let setting =
                if self.scheme.chooses_steps() { [f64::NAN, point.setting] } else { [point.setting, f64::NAN] };
            let missing = match point.outcome {
                Outcome::Refused => [1.0, 0.0],
                Outcome::Failed => [0.0, 1.0],
                Outcome::Done(_) => [0.0, 0.0],
            };
            let numbers = point.done().map_or([f64::NAN; 4], |measured| {
                [measured.evaluations, measured.seconds, measured.error, measured.drift]
            });
            (self.to_string(), [&setting[..], &missing, &numbers].concat())
        })
    }
}

impl WorkPrecisionPoint {
    /// The measurements, if the run reached its end.
    pub fn done(&self) -> Option<&Measured> {
        if let Outcome::Done(measured) = &self.outcome { Some(measured) } else { None }
    }
}

impl Policy {
    const ALL: [Self; 6] =
        [Self::Plain, Self::Projected, Self::Relaxation, Self::Uniform(1), Self::Uniform(50), Self::BaeChang];

    /// Returns `true` if the policy applies to a scheme.
    fn applies_to(self, scheme: Scheme) -> bool {
        match self {
            Self::Plain => true,
            // They keep some of the structure by themselves.
            _ if scheme.is_geometric() => false,
            Self::BaeChang => scheme == Scheme::EULER,
            // Gains are code, which has no Taylor series.
            Self::Relaxation | Self::Uniform(_) if scheme == Scheme::TAYLOR => false,
            // Rodas5P takes gains that do not depend on the state.
            Self::Relaxation => scheme != Scheme::RODAS5P,
            Self::Projected | Self::Uniform(_) => true,
        }
    }

    /// The aid that it stands for.
    pub const fn aid(self) -> Aid {
        match self {
            Self::Plain => Aid::Nothing,
            Self::Projected => Aid::Projection,
            Self::Relaxation | Self::Uniform(_) | Self::BaeChang => Aid::Feedback,
        }
    }

    /// The plan of a run with a step or a tolerance.
    pub fn plan(self, scheme: Scheme, setting: f64, until: f64) -> Plan {
        let method = scheme.method(setting);
        let tau = if scheme.chooses_steps() { TIME_TO_RELAX } else { STEPS_TO_RELAX * setting };
        let feedback = match self {
            Self::Plain | Self::Projected => Feedback::None,
            Self::Relaxation => Feedback::Relaxation(tau),
            Self::Uniform(k) => Feedback::Uniform(f64::from(k)),
            Self::BaeChang => Feedback::BaeChang(setting),
        };
        let projection = (self == Self::Projected).then(Projection::default);
        let plan = Plan::new(Settings { projection, ..Settings::new(method, until) }, feedback);
        Plan { map: Some(scheme), ..plan }
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Plain => out.write_str("plain"),
            Self::Projected => out.write_str("projected"),
            Self::Relaxation => out.write_str("relaxation"),
            Self::Uniform(k) => write!(out, "k = {k}"),
            Self::BaeChang => out.write_str("Bae-Chang"),
        }
    }
}

impl fmt::Display for Series {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.scheme {
            scheme if scheme.is_geometric() => write!(out, "{scheme}"),
            scheme => write!(out, "{scheme}, {}", self.policy),
        }
    }
}
