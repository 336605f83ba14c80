//! One system from one start by one method after the other.

use std::error;

use catalogue::load;
use fbint_command::catalogue::{AnyModel, Feedback, Plan, Run, Sample, Steps};
use fbint_command::figure::Curve;
use fbint_command::progress::Progress;
use fbint_command::results::ResultTable;
use fbint_command::scheme::{Contender, Scheme};
use fbint_runtime::{Error, IntegralDrift, Method, OneStep, Projection, Settings};

use super::result::{Rule, Verdict};

/// The settings that all trials share.
pub(super) struct Setting {
    /// The name of the model.
    pub(super) name: &'static str,
    pub(super) model: Box<dyn AnyModel>,
    pub(super) start: Vec<f64>,
    pub(super) until: f64,
    /// The time between two samples; the ends of steps are sampled where there is none.
    pub(super) every: Option<f64>,
}

/// The results of one method.
pub(super) struct Trial {
    pub(super) contender: Contender,
    /// Recorded at every step.
    pub(super) drift: Vec<IntegralDrift>,
    pub(super) trajectory: Vec<Sample>,
    pub(super) evaluations: u64,
}

impl Setting {
    /// A model of the catalogue from its own start.
    pub(super) fn of(
        name: &'static str,
        until: f64,
        every: impl Into<Option<f64>>,
    ) -> Result<Self, Box<dyn error::Error>> {
        let model = load(name)?;
        Ok(Self { name, start: model.start()?, model, until, every: every.into() })
    }

    /// A method left to itself.
    pub(super) fn plain(&self, method: Method) -> Result<Trial, Error> {
        self.run(Contender::plain(Scheme::of(method)), method, None, Feedback::None)
    }

    /// A Runge-Kutta method on the field with feedback.
    pub(super) fn with_feedback(&self, method: Method, gains: Feedback) -> Result<Trial, Error> {
        self.run(Contender::with_feedback(Scheme::of(method)), method, None, gains)
    }

    /// A Runge-Kutta method with one projection after each step.
    pub(super) fn with_projection(&self, method: Method) -> Result<Trial, Error> {
        self.run(Contender::with_projection(Scheme::of(method)), method, Some(Projection::default()), Feedback::None)
    }

    /// A geometric method that is made for this system, or of another one with the same states.
    pub(super) fn by<const N: usize>(
        &self,
        scheme: Scheme,
        method: &dyn OneStep<[f64; N]>,
        h: f64,
    ) -> Result<Trial, Error> {
        let contender = Contender::plain(scheme);
        let step = |x: &mut [f64], h: f64| method.step(x.try_into().expect("states have N entries"), h);
        let evaluations = method.evaluations_per_step();
        let steps = Steps { step: &step, evaluations, h, until: self.until, every: self.every.unwrap_or(h) };
        let mut progress = Progress::new(&format!("{}: {contender}", self.name));
        Ok(Trial::new(contender, self.model.run_steps(&self.start, &steps, &mut progress.observer())?))
    }

    fn run(
        &self,
        contender: Contender,
        method: Method,
        projection: Option<Projection>,
        feedback: Feedback,
    ) -> Result<Trial, Error> {
        let settings = Settings { every: self.every, projection, ..Settings::new(method, self.until) };
        let plan = Plan { is_audited: false, ..Plan::new(settings, feedback) };
        let mut progress = Progress::new(&format!("{}: {contender}", self.name));
        Ok(Trial::new(contender, self.model.run(&self.start, &plan, None, &mut progress.observer())?))
    }
}

impl Trial {
    fn new(contender: Contender, run: Run) -> Self {
        Self {
            contender,
            drift: run.findings.drift.integrals().collect(),
            trajectory: run.trajectory,
            evaluations: run.evaluations,
        }
    }

    /// The largest |change| of the integral of that name, over all steps; not a number if there is none.
    pub(super) fn max(&self, name: &str) -> f64 {
        self.drift.iter().find(|integral| integral.name == name).map_or(f64::NAN, |integral| integral.max)
    }

    /// The largest value of a quantity over all samples.
    pub(super) fn largest(&self, quantity: impl Fn(&Sample) -> f64) -> f64 {
        self.trajectory.iter().map(quantity).fold(0.0, f64::max)
    }

    /// The state at the end.
    pub(super) fn end(&self) -> &[f64] {
        self.trajectory.last().map_or(&[], |sample| &sample.state)
    }

    /// For a figure of drift.
    pub(super) fn curve(&self) -> Curve<'_> {
        Curve { contender: self.contender, trajectory: &self.trajectory }
    }
}

/// The Euclidean distance.
pub(super) fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// A quantity of a trial under its name.
pub(super) type NamedQuantity<'a> = (&'a str, &'a dyn Fn(&Trial) -> f64);

/// The table with a row for each trial and a column for each quantity.
pub(super) fn table(name: &str, caption: &str, trials: &[Trial], columns: &[NamedQuantity<'_>]) -> ResultTable {
    let row = |trial: &Trial| columns.iter().map(|(_, quantity)| quantity(trial)).collect();
    ResultTable {
        name: name.to_owned(),
        caption: caption.to_owned(),
        columns: ["method"].into_iter().chain(columns.iter().map(|column| column.0)).map(str::to_owned).collect(),
        rows: trials.iter().map(|trial| (trial.contender.to_string(), row(trial))).collect(),
    }
}

/// A number that must come out within 1 %.
pub(super) fn within_one_percent(what: impl Into<String>, expected: f64, obtained: f64) -> Verdict {
    Verdict { what: what.into(), expected, obtained, rule: Rule::Within(0.01) }
}

/// A number printed with these digits, to which the computed value must round.
pub(super) fn rounds_to(digits: i32, what: impl Into<String>, expected: f64, obtained: f64) -> Verdict {
    let unit = 10_f64.powi(expected.abs().log10().floor() as i32 + 1 - digits);
    Verdict { what: what.into(), expected, obtained, rule: Rule::Within(0.5 * unit / expected.abs()) }
}

/// A number that must not come out larger.
pub(super) fn at_most(what: impl Into<String>, expected: f64, obtained: f64) -> Verdict {
    Verdict { what: what.into(), expected, obtained, rule: Rule::AtMost }
}

/// A number that must not come out smaller.
pub(super) fn at_least(what: impl Into<String>, expected: f64, obtained: f64) -> Verdict {
    Verdict { what: what.into(), expected, obtained, rule: Rule::AtLeast }
}
