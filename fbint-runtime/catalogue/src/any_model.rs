//! A model with its parameters, whatever runs it.

use std::ops::ControlFlow;

use fbint_runtime::{
    DynamicalSystem, Error, GaussStages, Method, Projection, Snapshot, StateEntry, StateRole, SystemFacts,
};

use crate::drawing::Drawing;
use crate::flat_model::FlatModel;
use crate::inputs::Inputs;
use crate::plan::{Crossing, Member, Plan, Steps};
use crate::results::{EnsembleRun, Run, Sample};
use crate::scheme::Scheme;

/// A run that each call continues. The arguments are the time to reach, and whether inputs have changed since the last call; the result is a
/// snapshot there, or nothing where an event occurs. After an event or an error, the run cannot continue.
pub type Continuation = Box<dyn FnMut(f64, bool) -> Result<Option<Snapshot>, Error>>;

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
    /// Returns `true` if the model has something that gives its inputs: see [`Model::input`](crate::Model::input).
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
    /// A run as one that continues from a snapshot at each call, if it has steps of one size of an explicit method, no gains, and nothing but
    /// declared events at which it would have to stop. It has no samples, no observer and no record.
    fn continuation(&self, _from: Snapshot, _plan: &Plan) -> Result<Option<Continuation>, Error> {
        Ok(None)
    }
    /// The methods other than explicit Runge-Kutta that apply to the system: implicit and geometric ones.
    fn further_methods(&self) -> Vec<Scheme> {
        let (facts, model) = (self.facts(), self.flat());
        let has_series = !facts.has_laws() && model.functions().series().is_ok();
        let gauss = [GaussStages::Two, GaussStages::Four, GaussStages::Eight];
        let implicit =
            facts.has_jacobian.then_some(Scheme::RODAS5P).into_iter().chain(has_series.then_some(Scheme::TAYLOR));
        let general =
            gauss.map(|stages| Method::Gauss { stages, h: 1.0 }).into_iter().chain(Method::map_of(facts, 1.0));
        let own = model.geometric_methods().into_iter().map(|(scheme, _)| scheme);
        implicit.chain(general.map(Scheme::of)).chain(own).collect()
    }
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

impl Crossing {
    /// The quantity of a model at a time in a state.
    pub fn value(&self, model: &dyn AnyModel, time: f64, state: &[f64]) -> f64 {
        self.quantity.value(time, state, &|state| model.outputs(state))
    }
}
