//! The models by name, and one interface for all of them, whatever their dimensions.
//!
//! A new model takes one line in [`MODELS`].

mod loaded;

use std::ops::ControlFlow;

use fbint_runtime::{Dependence, Error, IntegralDrift, LargestProjection, Moment, Projection, Settings, Snapshot};
use serde::{Deserialize, Serialize};

use self::loaded::{Geometric, model, with_splittings};
use crate::splitting::{LieTrotter, RigidBody, Sphere, Strang};
use crate::{
    Chain4, Chain8, Chain16, Chain32, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum,
    SphericalPendulum, SphericalPendulumCpv22,
};

/// Every model, in the order in which they are listed.
pub static MODELS: &[Entry] = &[
    Entry::new("spherical-pendulum", "a point mass on a sphere under gravity", || {
        with_splittings(
            |pendulum: &SphericalPendulum| Ok(pendulum.start()),
            |pendulum| on_sphere(Sphere { m: pendulum.m, g: pendulum.g }),
        )
    }),
    Entry::new(
        "spherical-pendulum-cpv22",
        "a spherical pendulum with the constraint functions |q|^2 - l^2 and q . p of CPV22",
        || {
            with_splittings(
                |pendulum: &SphericalPendulumCpv22| Ok(pendulum.start()),
                |pendulum| on_sphere(Sphere { m: pendulum.m, g: pendulum.g }),
            )
        },
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
        with_splittings(
            |body: &FreeRigidBody| Ok(body.start()),
            |body| vec![(Rival::Turns, Box::new(RigidBody { inertia: body.inertia }))],
        )
    }),
    Entry::new("euler-top", "a free rigid body reduced to its momentum, a Lie-Poisson system", || {
        model(|top: &EulerTop| Ok(top.start()))
    }),
    Entry::new("kepler", "a planet about a fixed sun, with the Laplace-Runge-Lenz vector", || {
        model(|kepler: &Kepler| Ok(kepler.start()))
    }),
    Entry::new("perturbed-kepler", "a planet with an additional attraction that makes its perihelion advance", || {
        model(|kepler: &PerturbedKepler| Ok(kepler.start()))
    }),
];

/// A model with its name.
pub struct Entry {
    /// The name on the command line.
    pub name: &'static str,
    /// What the model is, in one line.
    pub summary: &'static str,
    /// Makes the model with its default parameters.
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
    fn state_names(&self) -> Vec<&'static str>;
    /// A name for each integral.
    fn integral_names(&self) -> Vec<&'static str>;
    /// A name for each declared output.
    fn output_names(&self) -> &'static [&'static str];
    /// The parameters with their values.
    fn parameters(&self) -> Vec<(&'static str, f64)>;
    /// Sets the parameter at `index` of [`parameters`](Self::parameters); there must be one.
    fn set_parameter(&mut self, index: usize, value: f64);
    /// The projection of a run for which neither gains nor a projection are chosen.
    fn default_projection(&self) -> Option<Projection>;
    /// The model's own start, for these parameters.
    fn start(&self) -> Result<Vec<f64>, Error>;
    /// A state near `guess` that satisfies the constraints and keeps the entries named in `held`.
    fn repair(&self, guess: &[f64], held: &[&'static str]) -> Result<Vec<f64>, Error>;
    /// Integrates from `start`, or resumes from a snapshot of such a run; `watch` sees it from time to time and may interrupt it.
    fn run(&self, start: &[f64], plan: &Plan, from: Option<Snapshot>, watch: &mut Watch<'_>) -> Result<Run, Error>;
    /// The samples of a run that failed, from its times and states: the first is the start, which sets the targets of integrals.
    fn samples(&self, trajectory: &[(f64, Vec<f64>)]) -> Vec<Sample>;
    /// The state at the end of [`run`](Self::run), computed without samples and drift. A fixed step must divide the end.
    fn run_bare(&self, start: &[f64], plan: &Plan) -> Result<Vec<f64>, Error>;
    /// The geometric integrators that apply to the system.
    fn rivals(&self) -> Vec<Rival>;
    /// Integrates with one of the [`rivals`](Self::rivals) in steps of size `h`.
    fn run_by(&self, rival: Rival, start: &[f64], h: f64, until: f64) -> Result<Run, Error>;
    /// The state at the end of [`run_by`](Self::run_by), computed without samples and drift.
    fn run_bare_by(&self, rival: Rival, start: &[f64], h: f64, until: f64) -> Result<Vec<f64>, Error>;
    /// Integrates many members at once, with gains that are numbers or relax; `progress` is called with the fraction done.
    fn run_ensemble(
        &self,
        members: &[Member],
        plan: &Plan,
        progress: &mut (dyn FnMut(f64) + Send),
    ) -> Result<EnsembleRun, Error>;
    /// The declared outputs in a state.
    fn outputs(&self, state: &[f64]) -> Vec<f64>;
    /// The derivation as plain text.
    fn equations(&self) -> &'static str;
    /// The derivation as LaTeX.
    fn derivation(&self) -> &'static str;
    /// The generated Rust.
    fn source(&self) -> &'static str;
}

/// A function that watches a run; see [`Simulation::watched`](fbint_runtime::Simulation::watched).
pub type Watch<'a> = dyn FnMut(&Moment<'_>) -> ControlFlow<()> + 'a;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method, the end, the samples and the projection.
    pub settings: Settings,
    /// The gains of the feedback, if any.
    pub feedback: Feedback,
}

/// The gains of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// [`Gains::diagonal_scaled`](fbint_runtime::Gains::diagonal_scaled) with this rate.
    DiagonalScaled(f64),
    /// [`Gains::bae_chang`](fbint_runtime::Gains::bae_chang) for this step.
    BaeChang(f64),
}

/// A geometric integrator, which keeps some of the structure by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// [`Rattle`](fbint_runtime::Rattle), for holonomic constraints.
    Rattle,
    /// [`StormerVerlet`](fbint_runtime::StormerVerlet), without constraints.
    StormerVerlet,
    /// [`LieTrotter`], on a sphere.
    LieTrotter,
    /// [`Strang`], on a sphere.
    Strang,
    /// [`RigidBody`], turns about the axes of a body.
    Turns,
}

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The drift of each integral.
    pub drift: Vec<IntegralDrift>,
    /// The drift as a table.
    pub report: String,
    /// Samples of the trajectory, including start and end.
    pub trajectory: Vec<Sample>,
    /// The time at the end, earlier than planned if the run was ended by its watch.
    pub time: f64,
    /// The state at the end.
    pub state: Vec<f64>,
    /// The place where constraints were nearly dependent, if there was one.
    pub dependence: Option<Dependence>,
    /// The projection that was largest in units of the error of its step, if states were projected.
    pub largest_projection: Option<LargestProjection>,
    /// The number of steps.
    pub steps: u64,
    /// The number of evaluations of the field.
    pub evaluations: u64,
}

/// A state at one time.
#[derive(Clone, Debug)]
pub struct Sample {
    /// The time.
    pub time: f64,
    /// The state.
    pub state: Vec<f64>,
    /// F - F_target.
    pub change: Vec<f64>,
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

/// The result of an ensemble.
#[derive(Clone, Debug)]
pub struct EnsembleRun {
    /// Statistics over all members at each time that was sampled.
    pub statistics: Vec<Statistics>,
    /// The largest |F - F_target| of any member at any of these times, of each integral.
    pub largest_changes: Vec<f64>,
    /// Each member at the end, or why it did not get there.
    pub ends: Vec<Result<Sample, Error>>,
}

/// Statistics over the members at one time.
#[derive(Clone, Debug)]
pub struct Statistics {
    /// The time.
    pub time: f64,
    /// The number of members that have not failed.
    pub members: u64,
    /// Statistics of each entry of the state, then of F - F_target of each integral.
    pub quantities: Vec<Summary>,
}

/// Statistics of one quantity.
#[derive(Clone, Copy, Debug)]
pub struct Summary {
    /// The mean.
    pub mean: f64,
    /// The variance of the sample, with n - 1 in its denominator.
    pub variance: f64,
    /// The least.
    pub min: f64,
    /// The largest.
    pub max: f64,
}

impl Rival {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Rattle => "RATTLE",
            Self::StormerVerlet => "Störmer-Verlet",
            Self::LieTrotter => "Lie-Trotter",
            Self::Strang => "Strang",
            Self::Turns => "splitting",
        }
    }
}

fn on_sphere(sphere: Sphere) -> Geometric<[f64; 6]> {
    vec![(Rival::LieTrotter, Box::new(LieTrotter(sphere))), (Rival::Strang, Box::new(Strang(sphere)))]
}
