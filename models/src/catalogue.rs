//! The models by name, and one interface for all of them, whatever their dimensions.
//!
//! A new model takes one line in [`MODELS`].

use std::ops::ControlFlow;

use fbint_runtime::{
    ConsistentStart, Dependence, Diagonal, Ensemble, EnsembleGains, Entries, Error, FeedbackSystem, Field, Gains,
    IntegralDrift, LargestProjection, Moment, OneStep, PreparedSystem, Projection, Rattle, Settings, Simulation,
    Snapshot, StormerVerlet, Vector,
};
use serde::{Deserialize, Serialize};

use crate::splitting::{LieTrotter, RigidBody, Sphere, Strang};
use crate::{
    Chain4, Chain8, Chain16, Chain32, EulerTop, FourBar, FreeRigidBody, Kepler, PerturbedKepler, PlanarPendulum,
    SphericalPendulum, SphericalPendulumCpv22,
};

/// The most operations of a feedback field whose ensembles run in lanes: beyond, compiling them takes minutes.
const MOST_IN_LANES: u32 = 1200;

/// Every model, in the order in which they are listed.
pub const MODELS: &[Entry] = &[
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

/// A function that watches a run; see [`Simulation::watched`].
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
    /// [`Gains::relaxation`] with this time.
    Relaxation(f64),
    /// [`Gains::diagonal_scaled`] with this rate.
    DiagonalScaled(f64),
    /// [`Gains::bae_chang`] for this step.
    BaeChang(f64),
}

/// A geometric integrator, which keeps some of the structure by construction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rival {
    /// [`Rattle`], for holonomic constraints.
    Rattle,
    /// [`StormerVerlet`], without constraints.
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

/// A system, how it starts, and the splittings that are its own.
struct Loaded<S: FeedbackSystem> {
    system: S,
    start: fn(&S) -> Result<S::State, Error>,
    splittings: fn(&S) -> Geometric<Vector<S>>,
}

/// A simulation of the system `S` whose gains are known only at run time.
type AnySimulation<'a, S> = Simulation<'a, S, Box<dyn Field<Vector = Vector<S>>>>;

/// Geometric integrators of a system whose states are of the type `V`, by name.
type Geometric<V> = Vec<(Rival, Box<dyn OneStep<V>>)>;

/// The model of a system with its default parameters.
fn model<S>(start: fn(&S) -> Result<S::State, Error>) -> Box<dyn Model>
where
    S: FeedbackSystem + Clone + Default + Sync,
{
    with_splittings(start, |_| Vec::new())
}

/// The model of a system for which there are splittings, with its default parameters.
fn with_splittings<S>(
    start: fn(&S) -> Result<S::State, Error>,
    splittings: fn(&S) -> Geometric<Vector<S>>,
) -> Box<dyn Model>
where
    S: FeedbackSystem + Clone + Default + Sync,
{
    Box::new(Loaded { system: S::default(), start, splittings })
}

fn on_sphere(sphere: Sphere) -> Geometric<[f64; 6]> {
    vec![(Rival::LieTrotter, Box::new(LieTrotter(sphere))), (Rival::Strang, Box::new(Strang(sphere)))]
}

impl<S: FeedbackSystem> Loaded<S> {
    /// The simulation with these gains, called through a pointer once an evaluation: that costs a nanosecond or two and saves
    /// compiling every method for every kind of gains.
    fn simulation(&self, start: &[f64], feedback: &Feedback) -> Result<AnySimulation<'_, S>, Error> {
        let simulation = Simulation::new(&self.system, vector::<Vector<S>>(start))?;
        Ok(match feedback {
            Feedback::None => simulation.boxed(),
            Feedback::Uniform(k) => simulation.gains(Gains::uniform(*k)).boxed(),
            Feedback::Diagonal(gains) => simulation.gains(Gains::diagonal(vector(gains))).boxed(),
            Feedback::Relaxation(tau) => simulation.gains(Gains::relaxation(*tau)).boxed(),
            Feedback::DiagonalScaled(rate) => simulation.gains(Gains::diagonal_scaled(*rate)).boxed(),
            Feedback::BaeChang(h) => simulation.gains(Gains::bae_chang(*h)).boxed(),
        })
    }

    /// Every geometric integrator that applies: Störmer-Verlet, or RATTLE where there are constraints, and the splittings.
    fn geometric(&self) -> Geometric<Vector<S>> {
        let mut all = Geometric::new();
        if let Ok(method) = StormerVerlet::new(&self.system) {
            all.push((Rival::StormerVerlet, Box::new(method) as Box<dyn OneStep<_>>));
        } else if let Ok(method) = Rattle::new(&self.system) {
            all.push((Rival::Rattle, Box::new(method)));
        }
        all.extend((self.splittings)(&self.system));
        all
    }

    fn geometric_by_name(&self, rival: Rival) -> Result<Box<dyn OneStep<Vector<S>>>, Error> {
        let found = self.geometric().into_iter().find(|(name, _)| *name == rival);
        let refusal = || Error::NotApplicable {
            method: rival.name(),
            system: S::NAME,
            reason: "the catalogue does not have it for this model",
        };
        found.map(|(_, method)| method).ok_or_else(refusal)
    }
}

impl Rival {
    const fn name(self) -> &'static str {
        match self {
            Self::Rattle => "RATTLE",
            Self::StormerVerlet => "Störmer-Verlet",
            Self::LieTrotter => "Lie-Trotter",
            Self::Strang => "Strang",
            Self::Turns => "splitting",
        }
    }
}

impl<S: FeedbackSystem + Clone + Sync> Model for Loaded<S> {
    fn state_names(&self) -> Vec<&'static str> {
        S::STATE.iter().map(|entry| entry.name).collect()
    }

    fn integral_names(&self) -> Vec<&'static str> {
        S::INTEGRALS.iter().map(|integral| integral.name).collect()
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

    fn default_projection(&self) -> Option<Projection> {
        Projection::by_default::<S>()
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        (self.start)(&self.system).map(flat::<S>)
    }

    fn repair(&self, guess: &[f64], held: &[&'static str]) -> Result<Vec<f64>, Error> {
        ConsistentStart::new(&self.system).hold(held)?.solve(vector::<Vector<S>>(guess)).map(flat::<S>)
    }

    fn run(&self, start: &[f64], plan: &Plan, from: Option<Snapshot>, watch: &mut Watch<'_>) -> Result<Run, Error> {
        let simulation = self.simulation(start, &plan.feedback)?.watched(watch);
        let simulation = match from {
            Some(snapshot) => simulation.from_snapshot(snapshot),
            None => simulation,
        };
        simulation.run_with(&plan.settings).map(|run| erased(&run))
    }

    fn run_bare(&self, start: &[f64], plan: &Plan) -> Result<Vec<f64>, Error> {
        self.simulation(start, &plan.feedback)?.final_state(&plan.settings).map(flat::<S>)
    }

    fn rivals(&self) -> Vec<Rival> {
        self.geometric().into_iter().map(|(rival, _)| rival).collect()
    }

    fn run_by(&self, rival: Rival, start: &[f64], h: f64, until: f64) -> Result<Run, Error> {
        let method = self.geometric_by_name(rival)?;
        let simulation = Simulation::new(&self.system, vector::<Vector<S>>(start))?;
        Ok(erased(&simulation.run_geometric(&*method, h, until)?))
    }

    fn run_bare_by(&self, rival: Rival, start: &[f64], h: f64, until: f64) -> Result<Vec<f64>, Error> {
        let method = self.geometric_by_name(rival)?;
        let simulation = Simulation::new(&self.system, vector::<Vector<S>>(start))?;
        simulation.final_geometric_state(&*method, h, until).map(flat::<S>)
    }

    fn run_ensemble(
        &self,
        members: &[Member],
        plan: &Plan,
        progress: &mut (dyn FnMut(f64) + Send),
    ) -> Result<EnsembleRun, Error> {
        let system = |member: &Member| {
            let mut system = self.system.clone();
            for (index, &value) in member.parameters.iter().enumerate() {
                if let Some(parameter) = system.parameter_mut(index) {
                    *parameter = value;
                }
            }
            system
        };
        let systems: Vec<S> = members.iter().map(system).collect();
        let starts = members.iter().map(|member| vector::<Vector<S>>(&member.start));
        let ensemble = Ensemble::over_systems(&systems, starts).watched(progress);
        let gains = |member: &Member| match (member.gain, &plan.feedback) {
            (Some(gain), _) => Some(Gains::diagonal(Entries::from_fn(|_| gain))),
            (None, Feedback::Uniform(gain)) => Some(Gains::diagonal(Entries::from_fn(|_| *gain))),
            (None, Feedback::Diagonal(gains)) => Some(Gains::diagonal(vector(gains))),
            _ => None,
        };
        match (&plan.feedback, members.iter().map(gains).collect()) {
            (_, Some(gains)) => finish_ensemble(ensemble.gains_of_each::<Diagonal<S>>(gains), plan),
            (Feedback::Relaxation(tau), _) => finish_ensemble(ensemble.gains(Gains::relaxation(*tau)), plan),
            _ => finish_ensemble(ensemble.without_feedback(), plan),
        }
    }

    fn outputs(&self, state: &[f64]) -> Vec<f64> {
        self.system.prepare().outputs(&vector(state)).as_ref().to_vec()
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
}

fn erased<S: FeedbackSystem>(run: &fbint_runtime::Run<S>) -> Run {
    Run {
        drift: run.drift().integrals().collect(),
        report: run.drift().to_string(),
        trajectory: run.trajectory().iter().map(Sample::from).collect(),
        time: run.time(),
        state: flat::<S>(run.state()),
        dependence: run.dependence().copied(),
        largest_projection: run.largest_projection().copied(),
        steps: run.steps(),
        evaluations: run.evaluations(),
    }
}

fn finish_ensemble<S, G>(ensemble: Ensemble<'_, S, G>, plan: &Plan) -> Result<EnsembleRun, Error>
where
    S: FeedbackSystem + Sync,
    G: EnsembleGains<S>,
{
    // Code for lanes that would never be called is not even made.
    let run = if const { S::FEEDBACK_FIELD_OPERATIONS.total() > MOST_IN_LANES } {
        ensemble.run_one_by_one(&plan.settings)?
    } else {
        ensemble.run_with(&plan.settings)?
    };
    let statistics = |at: &fbint_runtime::Statistics<S>| Statistics {
        time: at.time,
        members: at.members,
        quantities: summaries(&at.state).chain(summaries(&at.change)).collect(),
    };
    Ok(EnsembleRun {
        statistics: run.statistics().iter().map(statistics).collect(),
        largest_changes: run.largest_changes().as_ref().to_vec(),
        ends: run.ends().iter().map(|end| end.as_ref().map(Sample::from).map_err(Error::clone)).collect(),
    })
}

fn summaries<V: Entries<f64>>(of: &fbint_runtime::Summary<V>) -> impl Iterator<Item = Summary> + '_ {
    (0..V::LEN).map(|i| Summary { mean: of.mean[i], variance: of.variance[i], min: of.min[i], max: of.max[i] })
}

impl<S: FeedbackSystem> From<&fbint_runtime::Sample<S>> for Sample {
    fn from(sample: &fbint_runtime::Sample<S>) -> Self {
        Self { time: sample.time, state: sample.state.as_ref().to_vec(), change: sample.change.as_ref().to_vec() }
    }
}

/// The vector with these entries; those that are missing are not numbers.
fn vector<V: Entries<f64>>(entries: &[f64]) -> V {
    V::from_fn(|i| entries.get(i).copied().unwrap_or(f64::NAN))
}

fn flat<S: FeedbackSystem>(state: S::State) -> Vec<f64> {
    let state: Vector<S> = state.into();
    state.as_ref().to_vec()
}
