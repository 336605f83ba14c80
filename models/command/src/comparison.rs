//! Default runs compared with plain runs, and both with the truth.
//!
//! `fbint tables` prints tables of models from it, and the tests of the default print theirs of whatever they declare.

use std::ops::ControlFlow;

use fbint_command::catalogue::{AnyModel, Feedback, Plan};
use fbint_command::names::{columns, extent};
use fbint_runtime::{Declared, Error, IntegralDrift, Method, Settings};

/// The files that a run left behind.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// The times of the samples.
    pub times: Vec<f64>,
    /// The states at the samples.
    pub states: Vec<Vec<f64>>,
    /// The drift of each integral.
    pub drift: Vec<IntegralDrift>,
    /// The number of evaluations of the field.
    pub evaluations: u64,
}

impl RecordedRun {
    /// Integrates a system from `start`, without feedback.
    ///
    /// # Errors
    ///
    /// If the start is refused, or if the run fails.
    pub fn of(system: &dyn AnyModel, start: &[f64], settings: &Settings) -> Result<Self, Error> {
        let plan = Plan::new(*settings, Feedback::None);
        let run = system.run(start, &plan, None, &mut |_| ControlFlow::Continue(()))?;
        let drift = run.findings.drift.integrals().collect();
        let (times, states) = run.trajectory.into_iter().map(|sample| (sample.time, sample.state)).unzip();
        Ok(Self { times, states, drift, evaluations: run.evaluations })
    }

    /// The largest change of any integral at any step.
    pub fn largest_drift(&self) -> f64 {
        self.drift.iter().map(|integral| integral.max).fold(0.0, f64::max)
    }
}

/// A system on its way from a start, and the times at which it is sampled.
pub struct Motion<'a> {
    /// The system.
    pub system: &'a dyn AnyModel,
    /// The start, at t = 0.
    pub start: Vec<f64>,
    /// The time at the end.
    pub until: f64,
    /// The time between samples, which divides the end.
    pub interval: f64,
}

impl Motion<'_> {
    /// The run by a method without projection, and the run with the projection that is the default.
    pub fn runs(&self, method: Method) -> [Result<RecordedRun, Error>; 2] {
        [None, self.system.default_projection()].map(|projection| {
            let every = Some(self.interval);
            let settings = Settings { every, projection, ..Settings::new(method, self.until) };
            RecordedRun::of(self.system, &self.start, &settings)
        })
    }

    /// The states at the samples, the start among them: plain runs by DOP853 from each sample to the next.
    ///
    /// # Errors
    ///
    /// The errors of a run.
    pub fn truth(&self, rtol: f64, atol: f64) -> Result<Vec<Vec<f64>>, Error> {
        let mut states = vec![self.start.clone()];
        for sample in 0..self.samples() {
            let [from, until] = [sample, sample + 1].map(|sample| sample as f64 * self.interval);
            let settings = Settings { from, ..Settings::new(Method::Dop853 { rtol, atol: Some(atol) }, until) };
            states.extend(RecordedRun::of(self.system, &states[sample], &settings)?.states.pop());
        }
        Ok(states)
    }

    /// The number of samples after the start.
    fn samples(&self) -> usize {
        (self.until / self.interval).round() as usize
    }
}

/// Entries of the state that are measured together.
#[derive(Clone, Debug)]
pub struct Group {
    /// The name.
    pub name: String,
    entries: Vec<usize>,
    /// The size that errors are compared with, unless it is the largest norm on the way.
    size: Option<f64>,
}

impl Group {
    /// A group of entries with these indices.
    pub fn new(name: &str, entries: impl IntoIterator<Item = usize>) -> Self {
        Self { name: name.into(), entries: entries.into_iter().collect(), size: None }
    }

    /// All entries of the state.
    pub fn whole(system: &dyn AnyModel) -> Self {
        Self::new("state", 0..system.state_names().len())
    }

    /// A group for each variable and for each column of a matrix, which is a body.
    pub fn of_system(system: &dyn AnyModel) -> Vec<Self> {
        let of_variable = |variable: &Declared| {
            let (columns, is_matrix) = (columns(variable), extent(variable).len() > 1);
            let name =
                |column: usize| if is_matrix { format!("{}{column}", variable.name) } else { variable.name.to_owned() };
            columns
                .into_iter()
                .enumerate()
                .map(|(column, entries)| Self::new(&name(column), entries))
                .collect::<Vec<_>>()
        };
        system.facts().variables.iter().flat_map(of_variable).collect()
    }

    /// This group with errors compared with `size`.
    pub fn of_size(self, size: f64) -> Self {
        Self { size: Some(size), ..self }
    }

    /// The largest distance of two trajectories with samples at the same times; not a number if any of them is not.
    pub fn distance(&self, one: &[Vec<f64>], other: &[Vec<f64>]) -> f64 {
        let distances = one.iter().zip(other).map(|(one, other)| {
            self.entries.iter().map(|&entry| (one[entry] - other[entry]).powi(2)).sum::<f64>().sqrt()
        });
        distances
            .fold(0.0, |largest, distance| if distance > largest || distance.is_nan() { distance } else { largest })
    }

    /// The size to which errors are relative: the largest norm along a trajectory, unless another size is chosen.
    pub fn size(&self, trajectory: &[Vec<f64>]) -> f64 {
        let norm = |state: &Vec<f64>| self.entries.iter().map(|&entry| state[entry].powi(2)).sum::<f64>().sqrt();
        self.size.unwrap_or_else(|| trajectory.iter().map(norm).fold(0.0, f64::max))
    }
}
