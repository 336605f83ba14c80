//! The models by name, and one interface over them all, whatever their dimensions.
//!
//! A new model takes one line in [`MODELS`].

use std::ops::ControlFlow;

use fbint_runtime::{
    ConsistentStart, Correction, Dependence, Error, FeedbackSystem, Field, Gains, IntegralDrift, Method, Moment, Pass,
    PreparedSystem, Simulation, Snapshot,
};
use nalgebra::SVector;
use serde::{Deserialize, Serialize};

use crate::{
    Chain4, Chain8, Chain16, Chain32, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum,
    SphericalPendulum, SphericalPendulumCpv22,
};

/// Every model, in the order in which they are listed.
pub const MODELS: &[Entry] = &[
    Entry::new("spherical-pendulum", "a point mass on a sphere under gravity", || {
        model(|pendulum: &SphericalPendulum| Ok(pendulum.start()))
    }),
    Entry::new(
        "spherical-pendulum-cpv22",
        "the same with the constraint functions |q|^2 - l^2 and q . p of CPV22",
        || model(|pendulum: &SphericalPendulumCpv22| Ok(pendulum.start())),
    ),
    Entry::new("planar-pendulum", "a point mass on a circle under gravity", || {
        model(|pendulum: &PlanarPendulum| Ok(pendulum.start()))
    }),
    Entry::new("four-bar", "crank, coupler and rocker with a mass at either pin", || model(FourBar::start)),
    Entry::new("chain-4", "four point masses on a chain", || model(|chain: &Chain4| Ok(chain.start()))),
    Entry::new("chain-8", "eight point masses on a chain", || model(|chain: &Chain8| Ok(chain.start()))),
    Entry::new("chain-16", "sixteen point masses on a chain", || model(|chain: &Chain16| Ok(chain.start()))),
    Entry::new("chain-32", "thirty-two point masses on a chain", || model(|chain: &Chain32| Ok(chain.start()))),
    Entry::new("free-rigid-body", "attitude and angular velocity of a rigid body without forces", || {
        model(|body: &FreeRigidBody| Ok(body.start()))
    }),
    Entry::new("euler-top", "the same body reduced to its momentum, a Lie-Poisson system", || {
        model(|top: &EulerTop| Ok(top.start()))
    }),
    Entry::new("kepler", "a planet about a fixed sun, with the Laplace-Runge-Lenz vector", || {
        model(|kepler: &Kepler| Ok(kepler.start()))
    }),
    Entry::new("perturbed-kepler", "the same with an attraction that makes the perihelion advance", || {
        model(|kepler: &PerturbedKepler| Ok(kepler.start()))
    }),
];

/// A model that can be had by name.
pub struct Entry {
    /// Its name on the command line.
    pub name: &'static str,
    /// What it is, in one line.
    pub summary: &'static str,
    /// Makes it, with its default parameters.
    pub load: fn() -> Box<dyn Model>,
}

impl Entry {
    const fn new(name: &'static str, summary: &'static str, load: fn() -> Box<dyn Model>) -> Self {
        Self { name, summary, load }
    }
}

/// A system with its parameters and its start, its dimensions known only at run time.
pub trait Model {
    /// A name for each entry of the state.
    fn state_names(&self) -> &'static [&'static str];
    /// A name for each integral.
    fn integral_names(&self) -> &'static [&'static str];
    /// A name for each declared output.
    fn output_names(&self) -> &'static [&'static str];
    /// The parameters with their values.
    fn parameters(&self) -> Vec<(&'static str, f64)>;
    /// Sets the parameter at `index` of [`parameters`](Self::parameters); there must be one.
    fn set_parameter(&mut self, index: usize, value: f64);
    /// The model's own start, for these parameters.
    fn start(&self) -> Result<Vec<f64>, Error>;
    /// A state near `guess` that satisfies the constraints and keeps the entries named in `held`.
    fn repair(&self, guess: &[f64], held: &[&'static str]) -> Result<Vec<f64>, Error>;
    /// Integrates from `start`, or goes on from a snapshot of such a run; `watch` sees it from time to time and may break it off.
    fn run(&self, start: &[f64], plan: &Plan, from: Option<Snapshot>, watch: &mut Watch<'_>) -> Result<Run, Error>;
    /// The declared outputs in a state.
    fn outputs(&self, state: &[f64]) -> Vec<f64>;
    /// The derivation as plain text.
    fn equations(&self) -> &'static str;
    /// The derivation as LaTeX.
    fn derivation(&self) -> &'static str;
    /// The generated Rust.
    fn source(&self) -> &'static str;
    /// What each pass of the compiler made of the feedback field.
    fn passes(&self) -> &'static [Pass];
}

/// Whoever watches a run; see [`Simulation::watched`].
pub type Watch<'a> = dyn FnMut(&Moment<'_>) -> ControlFlow<()> + 'a;

/// What to do in a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The integrator and its step or tolerances.
    pub method: Method,
    /// The correction onto all integrals after each step.
    pub correction: Correction,
    /// The time at the end.
    pub until: f64,
    /// The gains of the feedback, if any.
    pub feedback: Feedback,
    /// The time between two samples; unless given, such that there are about 1000, or with error control every step.
    pub every: Option<f64>,
}

/// Which gains to integrate with.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Feedback {
    /// The derived field alone.
    None,
    /// One gain for every integral.
    Uniform(f64),
    /// A gain for each integral; their number must be that of the integrals.
    Diagonal(Vec<f64>),
    /// [`Gains::relaxation`] with this time.
    Relaxation(f64),
    /// [`Gains::diagonal_scaled`] with this rate.
    DiagonalScaled(f64),
    /// [`Gains::bae_chang`] for this step.
    BaeChang(f64),
}

/// What a run gave.
#[derive(Clone, Debug)]
pub struct Run {
    /// What it did to each integral.
    pub drift: Vec<IntegralDrift>,
    /// The same as a table.
    pub report: String,
    /// States on the way, the start and the end among them.
    pub trajectory: Vec<Sample>,
    /// The time at the end, the one that was asked for unless the run was broken off.
    pub time: f64,
    /// The state at the end.
    pub state: Vec<f64>,
    /// Where constraints were nearly dependent, if they were.
    pub dependence: Option<Dependence>,
    /// The number of steps.
    pub steps: u64,
    /// The number of evaluations of the field.
    pub evaluations: u64,
}

/// A state on the way.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The time.
    pub time: f64,
    /// The state.
    pub state: Vec<f64>,
    /// F - F_target.
    pub change: Vec<f64>,
}

/// A system and how it starts.
struct Loaded<S: FeedbackSystem<N, M>, const N: usize, const M: usize> {
    system: S,
    start: fn(&S) -> Result<S::State, Error>,
}

/// The model of a system with its default parameters.
fn model<S, const N: usize, const M: usize>(start: fn(&S) -> Result<S::State, Error>) -> Box<dyn Model>
where
    S: FeedbackSystem<N, M> + Default + 'static,
{
    Box::new(Loaded { system: S::default(), start })
}

impl<S: FeedbackSystem<N, M> + 'static, const N: usize, const M: usize> Model for Loaded<S, N, M> {
    fn state_names(&self) -> &'static [&'static str] {
        const { &S::STATE_NAMES }
    }

    fn integral_names(&self) -> &'static [&'static str] {
        const { &S::INTEGRAL_NAMES }
    }

    fn output_names(&self) -> &'static [&'static str] {
        S::OUTPUT_NAMES
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        let values = (0..).map_while(|index| self.system.parameter(index));
        S::PARAMETER_NAMES.iter().copied().zip(values).collect()
    }

    fn set_parameter(&mut self, index: usize, value: f64) {
        if let Some(parameter) = self.system.parameter_mut(index) {
            *parameter = value;
        }
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        (self.start)(&self.system).map(flat)
    }

    fn repair(&self, guess: &[f64], held: &[&'static str]) -> Result<Vec<f64>, Error> {
        ConsistentStart::new(&self.system).hold(held)?.solve(SVector::from_column_slice(guess)).map(flat)
    }

    fn run(&self, start: &[f64], plan: &Plan, from: Option<Snapshot>, watch: &mut Watch<'_>) -> Result<Run, Error> {
        let simulation = Simulation::new(&self.system, SVector::<f64, N>::from_column_slice(start))?.watched(watch);
        let simulation = match from {
            Some(snapshot) => simulation.from_snapshot(snapshot),
            None => simulation,
        };
        let simulation = match &plan.feedback {
            Feedback::None => simulation.boxed(),
            Feedback::Uniform(k) => simulation.gains(Gains::uniform(*k)).boxed(),
            Feedback::Diagonal(gains) => {
                let gains = SVector::<f64, M>::from_column_slice(gains).into();
                simulation.gains(Gains::diagonal(gains)).boxed()
            }
            Feedback::Relaxation(tau) => simulation.gains(Gains::relaxation(*tau)).boxed(),
            Feedback::DiagonalScaled(rate) => simulation.gains(Gains::diagonal_scaled(*rate)).boxed(),
            Feedback::BaeChang(h) => simulation.gains(Gains::bae_chang(*h)).boxed(),
        };
        finish(simulation, plan)
    }

    fn outputs(&self, state: &[f64]) -> Vec<f64> {
        self.system.prepare().outputs(&SVector::<f64, N>::from_column_slice(state)).as_ref().to_vec()
    }

    fn equations(&self) -> &'static str {
        S::EQUATIONS
    }

    fn derivation(&self) -> &'static str {
        S::DERIVATION
    }

    fn source(&self) -> &'static str {
        S::SOURCE
    }

    fn passes(&self) -> &'static [Pass] {
        S::PASSES
    }
}

fn finish<S, F, const N: usize, const M: usize>(
    simulation: Simulation<'_, S, F, N, M>,
    plan: &Plan,
) -> Result<Run, Error>
where
    S: FeedbackSystem<N, M>,
    F: Field<N>,
{
    let simulation = simulation.method(plan.method).corrected(plan.correction).until(plan.until);
    let simulation = match plan.every {
        Some(interval) => simulation.record_every(interval),
        None => simulation,
    };
    let run = simulation.run()?;
    let sample = |sample: &fbint_runtime::Sample<N, M>| Sample {
        time: sample.time,
        state: sample.state.as_slice().to_vec(),
        change: sample.change.as_slice().to_vec(),
    };
    Ok(Run {
        drift: run.drift().integrals().to_vec(),
        report: run.drift().to_string(),
        trajectory: run.trajectory().iter().map(sample).collect(),
        time: run.time(),
        state: flat(run.state()),
        dependence: run.dependence().copied(),
        steps: run.steps(),
        evaluations: run.evaluations(),
    })
}

fn flat<X: Into<SVector<f64, N>>, const N: usize>(state: X) -> Vec<f64> {
    state.into().as_slice().to_vec()
}
