#![doc = include_str!("../README.md")]

mod compiled;
mod controller;
mod drawing;
mod evaluation;
mod flat;
mod flat_model;
mod flat_system;
mod functions;
mod inputs;
mod loaded;
mod long;
mod model;
pub mod names;
pub mod padded;
mod printable;
pub mod scheme;

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::sync::Arc;
use std::{error, fmt};

use fbint_runtime::{
    Course, DenseOutput, Dependence, DynamicalSystem, Error, Event, GeneratedSystem, IntegralDrift, IntegralJump,
    LargestProjection, Method, Projection, Settings, Snapshot, StartMove, StateEntry, StateRole, SystemFacts,
};
use serde::{Deserialize, Serialize};

pub use self::compiled::{generated_functions, prepared_numbers};
pub use self::controller::Controller;
pub use self::drawing::{Camera, Drawing, DrawnShape, Position, circle, circle_about};
pub use self::evaluation::{Evaluation, ExplicitMethod, RunDirection, Unknown, slopes_by_differences};
pub use self::flat_model::{FlatGeometricMethod, FlatModel, FlatSignal};
pub use self::functions::{FlatFunctions, FlatSeries, Functions, Given, ListFunction, MatrixFunction, Source};
pub use self::inputs::Inputs;
use self::loaded::Loaded;
use self::long::Long;
pub use self::model::{GeometricMethod, Model, lower_case};
use self::padded::{Padded, Visitor, fits};
pub use self::printable::printable;
use self::scheme::Scheme;

/// A model with its name.
#[derive(Clone)]
pub struct Entry {
    /// The name on the command line.
    pub name: String,
    /// The name of the type.
    pub type_name: &'static str,
    /// The summary of the model: the first paragraph of its documentation.
    pub summary: &'static str,
    /// Makes the model with its default parameters.
    pub load: Make<dyn AnyModel>,
    /// The text that declares it, if a compiled model tells.
    pub declaration: Option<Declaration>,
}

/// The text that declares a model that was compiled.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Rust with the attribute and the struct, which no macro writes.
    pub text: Cow<'static, str>,
    /// The folder of the package that the model was compiled in. If it is still there and keeps derivations, exports follow from them.
    pub package: &'static str,
}

impl Entry {
    /// The entry of a model that was compiled with the program.
    pub fn of<S: Model + GeneratedSystem + Default>() -> Self {
        // What is not called is not even compiled.
        if const { fits(&S::FACTS) } {
            let entry = Self::flat(Arc::new(|| Box::new(S::default())));
            return Self { name: S::name(), declaration: S::declaration(), ..entry };
        }
        let make: fn() -> S = S::default;
        let entry = Self::loaded(&S::FACTS, Arc::new(move || Box::new(Loaded::new(make))));
        Self { name: S::name(), declaration: S::declaration(), ..entry }
    }

    /// The entry of the model that a function makes, with its default parameters; its name is the declared struct's in lower case.
    pub fn flat(make: Make<dyn FlatModel>) -> Self {
        let facts = make().facts();
        if !fits(facts) {
            return Self::on_slices(make);
        }
        Self::loaded(facts, Arc::new(move || padded::visit(make(), Load(&make))))
    }

    /// The entry of the model that a function makes, which runs on slices although vectors of a fixed length may be long enough: for tests
    /// and measurements that compare both.
    #[doc(hidden)]
    pub fn on_slices(make: Make<dyn FlatModel>) -> Self {
        Self::loaded(make().facts(), Arc::new(move || Box::new(Long::new(Arc::clone(&make)))))
    }

    fn loaded(facts: &'static SystemFacts, load: Make<dyn AnyModel>) -> Self {
        let SystemFacts { name, summary, .. } = *facts;
        Self { name: lower_case(name), type_name: name, summary, load, declaration: None }
    }
}

/// Makes a model with its default parameters.
pub type Make<M> = Arc<dyn Fn() -> Box<M> + Send + Sync>;

/// Loads a model that is made so.
struct Load<'a>(&'a Make<dyn FlatModel>);

impl Visitor for Load<'_> {
    type Output = Box<dyn AnyModel>;

    fn visit<const N: usize, const M: usize>(self, _: Padded<N, M>) -> Box<dyn AnyModel> {
        let make = Arc::clone(self.0);
        Box::new(Loaded::new(move || Padded::<N, M>::new(make())))
    }
}

// By hand, because functions cannot be printed.
impl fmt::Debug for Entry {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Entry").field("name", &self.name).finish_non_exhaustive()
    }
}

/// Refuses models of one name.
///
/// # Errors
///
/// If there are two: one line with the name, and what to do.
pub fn check_names(models: &[Entry]) -> Result<(), Box<dyn error::Error>> {
    for (index, Entry { name, .. }) in models.iter().enumerate() {
        if models[..index].iter().any(|other| other.name == *name) {
            return Err(format!("two models are called `{name}`: give one of them another `Model::name`").into());
        }
    }
    Ok(())
}

/// A run that each call continues. The arguments are the time to reach, whether inputs have changed since the last call, and where to put the
/// state. After an error the run cannot continue.
pub type Continuation = Box<dyn FnMut(f64, bool, &mut [f64]) -> Result<(), Error>>;

/// A system with its parameters and its start, its dimensions known only at run time.
pub trait AnyModel: Send {
    /// The system: its state, integrals, parameters and outputs.
    fn facts(&self) -> &'static SystemFacts;
    /// The parameter at an index of its [names](SystemFacts::parameter_names), if there is one.
    fn parameter(&self, index: usize) -> Option<f64>;
    /// Sets the parameter at an index of its [names](SystemFacts::parameter_names); there must be one.
    fn set_parameter(&mut self, index: usize, value: f64);
    /// Replaces some of the model's own inputs.
    fn set_inputs(&mut self, inputs: Inputs);
    /// The inputs that replace the model's own.
    fn inputs(&self) -> Option<&Inputs>;
    /// Whether the model has something that gives its inputs: see [`Model::input`].
    fn gives_inputs(&self) -> bool;
    /// The system with its parameters, and with the inputs that it has in a state.
    fn system_at(&self, state: &[f64]) -> Box<dyn DynamicalSystem>;
    /// The model's own start, for these parameters.
    fn start(&self) -> Result<Vec<f64>, Error>;
    /// A state near `guess` that satisfies the constraints and keeps the entries named in `held`.
    fn repair(&self, guess: &[f64], held: &[&str]) -> Result<Vec<f64>, Error>;
    /// Integrates from `start`, or resumes from a snapshot of such a run; `observer` sees it from time to time and may interrupt it.
    fn run(
        &self,
        start: &[f64],
        plan: &Plan,
        from: Option<Snapshot>,
        observer: &mut Observer<'_>,
    ) -> Result<Run, Error>;
    /// The state at the end of [`run`](Self::run), computed without samples and drift. A fixed step must divide the end.
    fn run_bare(&self, start: &[f64], plan: &Plan) -> Result<Vec<f64>, Error>;
    /// The run as one that continues at each call, if it has steps of one size of an explicit method, no gains, and nothing at which it
    /// would have to stop. It has no samples, no observer and no record.
    fn continuation(&self, _start: &[f64], _plan: &Plan) -> Result<Option<Continuation>, Error> {
        Ok(None)
    }
    /// The methods other than explicit Runge-Kutta that apply to the system: implicit and geometric ones.
    fn further_methods(&self) -> Vec<Scheme>;
    /// Integrates with steps that are given.
    fn run_steps(&self, start: &[f64], steps: &Steps<'_>, observer: &mut Observer<'_>) -> Result<Run, Error>;
    /// Integrates many members at once, with gains that are numbers or relax; `progress` is called with the fraction done and may
    /// interrupt them, and `visit` with each member that does not fail.
    fn run_ensemble(
        &self,
        members: &[Member],
        plan: &Plan,
        progress: &mut (dyn FnMut(f64) -> ControlFlow<()> + Send),
        visit: Option<&mut Visit<'_>>,
    ) -> Result<EnsembleRun, Error>;
    /// The rows of the Jacobian of the derived field in a state, without feedback, with the inputs of that state held.
    fn rates_jacobian(&self, state: &[f64]) -> Vec<Vec<f64>>;
    /// The drawing of a state in animations.
    fn drawing(&self, state: &[f64]) -> Drawing;
    /// The model with its parameters, by its functions.
    fn flat(&self) -> &dyn FlatModel;
}

// Compiled once, and not again for every model.
impl dyn AnyModel + '_ {
    /// The role of each entry of the state.
    pub fn state(&self) -> &'static [StateEntry] {
        self.facts().state
    }

    /// A name for each entry of the state.
    pub fn state_names(&self) -> Vec<&'static str> {
        self.state().iter().map(|entry| entry.name).collect()
    }

    /// The role of each entry of the state.
    pub fn state_roles(&self) -> Vec<StateRole> {
        self.state().iter().map(|entry| entry.role).collect()
    }

    /// A name for each integral.
    pub fn integral_names(&self) -> Vec<&'static str> {
        self.facts().integrals.iter().map(|integral| integral.name).collect()
    }

    /// The parameters with their values.
    pub fn parameters(&self) -> Vec<(&'static str, f64)> {
        let values = (0..).map_while(|index| self.parameter(index));
        self.facts().parameter_names.iter().copied().zip(values).collect()
    }

    /// The names of the inputs that nothing gives, which are 0.
    pub fn open_inputs(&self) -> Vec<&'static str> {
        let is_given = |name: &&'static str| self.inputs().is_some_and(|inputs| inputs.give(name));
        let open = if self.gives_inputs() { &[] } else { self.facts().open_inputs };
        open.iter().copied().filter(|name| !is_given(name)).collect()
    }

    /// The projection of a run for which neither gains nor a projection are chosen.
    pub fn default_projection(&self) -> Option<Projection> {
        Projection::by_default(self.facts())
    }

    /// The integrals in a state.
    pub fn integrals(&self, state: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.facts().integrals.len()];
        self.system_at(state).integrals_at(state, &mut values);
        values
    }

    /// The declared outputs in a state with its inputs.
    pub fn outputs(&self, state: &[f64]) -> Vec<f64> {
        let mut values = vec![0.0; self.facts().output_names.len()];
        if !values.is_empty() {
            self.system_at(state).outputs_at(state, &mut values);
        }
        values
    }

    /// The derived field in a state with its inputs, without feedback.
    pub fn rates(&self, state: &[f64]) -> Vec<f64> {
        let mut rates = vec![0.0; state.len()];
        self.system_at(state).vector_field_at(state, &mut rates);
        rates
    }

    /// The rows of the Jacobian of the integrals in a state.
    pub fn integrals_jacobian(&self, state: &[f64]) -> Vec<Vec<f64>> {
        let mut rows = vec![0.0; self.facts().integrals.len() * state.len()];
        self.system_at(state).jacobian_at(state, &mut rows);
        rows.chunks_exact(state.len()).map(<[f64]>::to_vec).collect()
    }

    /// The samples of a run that failed, from its times and states: the first is the start, which sets the targets of integrals.
    pub fn samples(&self, trajectory: &[(f64, Vec<f64>)]) -> Vec<Sample> {
        let at_start = trajectory.first().map_or_else(Vec::new, |(_, start)| self.integrals(start));
        let targets = self.facts().integrals.iter().zip(at_start);
        let targets: Vec<f64> =
            targets.map(|(integral, value)| if integral.kind.is_constraint() { 0.0 } else { value }).collect();
        let sample = |(time, state): &(f64, Vec<f64>)| Sample {
            time: *time,
            state: state.clone(),
            change: self.integrals(state).iter().zip(&targets).map(|(value, target)| value - target).collect(),
        };
        trajectory.iter().map(sample).collect()
    }

    /// The change of each integral by rounding of a state alone.
    pub fn roundings(&self, state: &[f64]) -> Vec<f64> {
        let size = |(row, value): (Vec<f64>, f64)| {
            row.iter().zip(state).map(|(slope, entry)| (slope * entry).abs()).sum::<f64>() + value.abs()
        };
        let rows = self.integrals_jacobian(state).into_iter().zip(self.integrals(state));
        rows.map(|pair| f64::EPSILON * size(pair)).collect()
    }
}

/// A function that watches a run; see [`Simulation::watched`](fbint_runtime::Simulation::watched).
pub type Observer<'a> = fbint_runtime::Watch<'a>;

/// A function that is shown the index and the samples of a member; see [`Ensemble::visited`](fbint_runtime::Ensemble::visited).
pub type Visit<'a> = dyn FnMut(usize, &[Sample]) + Send + 'a;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct Plan {
    /// The method, the end, the samples and the projection.
    pub settings: Settings,
    /// The gains of the feedback, if any.
    pub feedback: Feedback,
    /// Whether gains that are too large for the step are refused.
    pub is_audited: bool,
    /// Where the run ends before its end.
    pub until_event: Option<Crossing>,
    /// The times of the samples, besides the start and the end, if the settings have no interval.
    pub times: Option<Vec<f64>>,
    /// Whether the steps are kept as polynomials in time.
    pub is_dense: bool,
    /// Which of the model's own maps makes the steps of [`Method::OneStep`].
    pub map: Option<Scheme>,
}

/// The gains of members in lanes.
enum LaneGains<'p> {
    None,
    Relaxation(f64),
    Constant(Vec<ConstantGains<'p>>),
}

/// Gains of a member of an ensemble that do not follow from the state.
enum ConstantGains<'p> {
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
    /// Whether it has to fall below the number, or else to rise above it.
    pub is_below: bool,
    /// The number.
    pub number: f64,
}

/// A quantity that follows from the time and the state.
#[derive(Clone, Debug)]
pub enum Quantity {
    /// The entry of the state at this index of [`SystemFacts::state`].
    Entry(usize),
    /// The output at this index of [`SystemFacts::output_names`].
    Output(usize),
    /// An expression.
    Expression(Law),
}

/// A function of the time and the entries of the state.
type OfState = dyn Fn(f64, &[f64]) -> f64 + Send + Sync;

/// An expression of the time and the entries of the state, followed by the outputs if it names any.
#[derive(Clone)]
pub struct Law {
    function: Arc<OfState>,
    has_outputs: bool,
    is_constant: bool,
}

impl Law {
    /// The expression that a function of the time and the entries of the state evaluates.
    pub fn new(function: impl Fn(f64, &[f64]) -> f64 + Send + Sync + 'static) -> Self {
        Self { function: Arc::new(function), has_outputs: false, is_constant: false }
    }

    /// This expression as one whose function takes the outputs behind the entries of the state.
    #[must_use]
    pub fn of_outputs(self) -> Self {
        Self { has_outputs: true, ..self }
    }

    /// This expression as one of neither the time nor the state.
    #[must_use]
    pub fn of_nothing(self) -> Self {
        Self { is_constant: true, ..self }
    }

    /// Whether it is the same at every time in every state.
    pub fn is_constant(&self) -> bool {
        self.is_constant
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
    fn value(&self, time: f64, state: &[f64], outputs: &dyn Fn(&[f64]) -> Vec<f64>) -> f64 {
        match self {
            Self::Entry(index) => state.get(*index).copied().unwrap_or(f64::NAN),
            Self::Output(index) => outputs(state).get(*index).copied().unwrap_or(f64::NAN),
            Self::Expression(law) if law.has_outputs => law.value(time, &[state, &*outputs(state)].concat()),
            Self::Expression(law) => law.value(time, state),
        }
    }
}

impl Crossing {
    /// The quantity of a model at a time in a state.
    pub fn value(&self, model: &dyn AnyModel, time: f64, state: &[f64]) -> f64 {
        self.quantity.value(time, state, &|state| model.outputs(state))
    }

    /// The end of a run where the quantity passes the number; `outputs` gives the outputs in a state.
    fn event<'a>(&self, outputs: impl Fn(&[f64]) -> Vec<f64> + Send + 'a) -> Event<'a, Vec<f64>> {
        let (quantity, number) = (self.quantity.clone(), self.number);
        let event =
            Event::new(&*self.name, move |time, state: &Vec<f64>| quantity.value(time, state, &outputs) - number);
        if self.is_below { event.falling().terminal() } else { event.rising().terminal() }
    }

    /// Whether a value of the quantity is beyond the number.
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
    fn shape<'a>(&self, course: Course<'a>, from: Option<Snapshot>, until: Option<Event<'a, Vec<f64>>>) -> Course<'a> {
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
    fn lane_gains(&self, members: &[Member]) -> Option<LaneGains<'_>> {
        if members.iter().all(|member| member.gain.is_none()) {
            match self.feedback {
                Feedback::None => return Some(LaneGains::None),
                Feedback::Relaxation(tau) => return Some(LaneGains::Relaxation(tau)),
                Feedback::DiagonalScaled(_) | Feedback::BaeChang(_) => return None,
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
    fn settings(&self) -> Settings {
        let settings = Settings::new(Method::OneStep { h: self.h }, self.until);
        Settings { every: Some(self.every), ..settings }
    }
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

/// The result of a run.
#[derive(Clone, Debug)]
pub struct Run {
    /// The drift of each integral.
    pub drift: Vec<IntegralDrift>,
    /// The drift as a table.
    pub report: String,
    /// Samples of the trajectory, including start and end.
    pub trajectory: Vec<Sample>,
    /// The steps as polynomials in time, one for each entry of the state, if they were kept.
    pub dense_output: Vec<Vec<DenseOutput<[f64; 1]>>>,
    /// The time at the end, earlier than planned if the run was ended by its observer or by an event.
    pub time: f64,
    /// The name of the event that ended the run, if one did.
    pub ended_by: Option<String>,
    /// Every occurrence of every event, in the order of time.
    pub events: Vec<Occurrence>,
    /// The state at the end.
    pub state: Vec<f64>,
    /// By how much the start was moved onto the constraints, if it was.
    pub start_move: Option<StartMove>,
    /// The place where constraints were nearly dependent, if there was one.
    pub dependence: Option<Dependence>,
    /// The largest change of an integral in one step, if it is out of the ordinary.
    pub integral_jump: Option<IntegralJump>,
    /// The projection that was largest in units of the error of its step, if states were projected.
    pub largest_projection: Option<LargestProjection>,
    /// The number of steps.
    pub steps: u64,
    /// The number of evaluations of the field.
    pub evaluations: u64,
    /// The number of steps from one sample to the next, where a method with error control is sampled at its steps.
    pub stride: u64,
}

/// An occurrence of an event.
#[derive(Clone, Debug)]
pub struct Occurrence {
    /// The name of the event.
    pub name: String,
    /// The time.
    pub time: f64,
    /// The state, before any reset.
    pub state: Vec<f64>,
    /// The state after the reset, if the event has one.
    pub reset: Option<Vec<f64>>,
}

/// A state at one time.
#[derive(Clone, Debug, Serialize, Deserialize)]
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
    /// Each member at the end, or why it did not get there.
    pub ends: Vec<Result<Sample, Error>>,
}

/// Statistics over the members at one time.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Statistics {
    /// The time.
    pub time: f64,
    /// The number of members that did not fail, and whose runs have not ended before.
    pub members: u64,
    /// Statistics of each entry of the state, then of F - F_target of each integral.
    pub quantities: Vec<Summary>,
}

/// Statistics of one quantity.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
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
