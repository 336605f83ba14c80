//! A model whose state is too long for vectors of a fixed length: what runs on slices.

use std::ops::ControlFlow;

use fbint_runtime::{
    Course, DynamicalSystem, Error, Event, FlatGains, FlatSimulation, Settings, ShowMember, Snapshot, SystemFacts,
    Watch, consistent_flat_start, run_flat_ensemble,
};

use crate::any_model::{AnyModel, Observer, Visit};
use crate::drawing::Drawing;
use crate::flat_model::{FlatModel, FlatSignal, Make};
use crate::flat_system::FlatPrepared;
use crate::inputs::{Inputs, signal};
use crate::plan::{Crossing, Feedback, Member, Plan, Steps};
use crate::results::{EnsembleRun, Run, Sample, result};

/// A model on slices, with its parameters.
pub(super) struct Long {
    model: Box<dyn FlatModel>,
    make: Make<dyn FlatModel>,
    /// The sources of some of its inputs.
    inputs: Option<Inputs>,
}

impl Long {
    pub(super) fn new(make: Make<dyn FlatModel>) -> Self {
        Self { model: make(), make, inputs: None }
    }

    /// The model with its inputs in a state.
    fn prepared(&self, state: &[f64]) -> FlatPrepared {
        let signal = signal(&*self.model, self.inputs.as_ref());
        FlatPrepared::at(&*self.model, signal.as_deref(), state)
    }

    /// Another model with these parameters.
    fn with(&self, parameters: &[f64]) -> Box<dyn FlatModel> {
        let mut model = (self.make)();
        for (index, value) in parameters.iter().enumerate() {
            model.parameter_mut(index).into_iter().for_each(|parameter| *parameter = *value);
        }
        model
    }
}

fn parameters(model: &dyn FlatModel) -> Vec<f64> {
    (0..).map_while(|index| model.parameter(index)).collect()
}

impl Feedback {
    /// These gains on slices.
    fn flat(&self) -> FlatGains {
        match self {
            Self::None => FlatGains::None,
            Self::Uniform(gain) => FlatGains::Uniform(*gain),
            Self::Diagonal(gains) => FlatGains::Diagonal(gains.clone()),
            Self::Relaxation(tau) => FlatGains::Relaxation(*tau),
            Self::BaeChang(h) => FlatGains::BaeChang(*h),
        }
    }
}

/// A run of a model on slices: what it borrows.
struct Ingredients<'m> {
    model: &'m dyn FlatModel,
    system: FlatPrepared,
    parameters: Vec<f64>,
    signal: Option<Box<dyn FlatSignal>>,
}

impl<'m> Ingredients<'m> {
    fn of(model: &'m dyn FlatModel, inputs: Option<&Inputs>) -> Self {
        let (system, parameters) = (FlatPrepared::new(model), parameters(model));
        Self { model, system, parameters, signal: signal(model, inputs) }
    }

    /// The simulation with the events and inputs of the model, and these gains.
    fn simulation(&self, start: &[f64], feedback: &Feedback) -> Result<FlatSimulation<'_>, Error> {
        let facts = self.model.facts();
        let mut simulation = FlatSimulation::new(&self.system, &self.parameters, start)?.gains(feedback.flat());
        if !facts.events.is_empty() {
            simulation = simulation.declared_events(|state, inputs| self.model.events_at(state, inputs));
        }
        simulation = simulation.course(|course| self.model.events().into_iter().fold(course, Course::event));
        Ok(match &self.signal {
            Some(signal) => simulation.input(&**signal),
            None => simulation,
        })
    }
}

impl Long {
    fn ingredients(&self) -> Ingredients<'_> {
        Ingredients::of(&*self.model, self.inputs.as_ref())
    }

    /// The end of a run where a quantity passes a number.
    fn event<'a>(&'a self, crossing: &'a Crossing) -> Event<'a, Vec<f64>> {
        crossing.event(move |state| {
            let mut outputs = vec![0.0; self.facts().output_names.len()];
            let state = &state[..self.facts().state.len()];
            self.system_at(state).outputs_at(state, &mut outputs);
            outputs
        })
    }
}

impl AnyModel for Long {
    fn facts(&self) -> &'static SystemFacts {
        self.model.facts()
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        self.model.parameter(index)
    }

    fn set_parameter(&mut self, index: usize, value: f64) {
        self.model.parameter_mut(index).into_iter().for_each(|parameter| *parameter = value);
    }

    fn set_inputs(&mut self, inputs: Inputs) {
        self.inputs = Some(inputs);
    }

    fn inputs(&self) -> Option<&Inputs> {
        self.inputs.as_ref()
    }

    fn gives_inputs(&self) -> bool {
        self.model.input().is_some()
    }

    fn system_at(&self, state: &[f64]) -> Box<dyn DynamicalSystem> {
        Box::new(self.prepared(state))
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        self.model.start()
    }

    fn repair(&self, guess: &[f64], held: &[&str]) -> Result<Vec<f64>, Error> {
        consistent_flat_start(&FlatPrepared::new(&*self.model), &parameters(&*self.model), guess, held)
    }

    fn run(
        &self,
        start: &[f64],
        plan: &Plan,
        from: Option<Snapshot>,
        observer: &mut Observer<'_>,
    ) -> Result<Run, Error> {
        let map = plan.map.and_then(|scheme| self.model.geometric_method(scheme));
        let ingredients = self.ingredients();
        let until = plan.until_event.as_ref().map(|crossing| self.event(crossing));
        let reference = from.as_ref().and_then(Snapshot::reference).unwrap_or(start);
        let mut simulation = ingredients.simulation(reference, &plan.feedback)?;
        if reference != start {
            simulation = simulation.from_state(start);
        }
        if let Some(map) = &map {
            simulation = simulation.one_step(&**map);
        }
        let simulation = simulation.course(|course| plan.shape(course, from, until));
        result(simulation.run(&plan.settings, Some(observer))?)
    }

    fn run_bare(&self, start: &[f64], plan: &Plan) -> Result<Vec<f64>, Error> {
        let plan = Plan { is_audited: false, ..plan.clone() };
        self.run(start, &plan, None, &mut |_| ControlFlow::Continue(())).map(|run| run.state)
    }

    fn run_steps(&self, start: &[f64], steps: &Steps<'_>, observer: &mut Observer<'_>) -> Result<Run, Error> {
        let ingredients = self.ingredients();
        let simulation = ingredients.simulation(start, &Feedback::None)?.one_step(steps);
        result(simulation.run(&steps.settings(), Some(observer))?)
    }

    fn run_ensemble(
        &self,
        members: &[Member],
        plan: &Plan,
        progress: &mut (dyn FnMut(f64) -> ControlFlow<()> + Send),
        visit: Option<&mut Visit<'_>>,
    ) -> Result<EnsembleRun, Error> {
        let models: Vec<Box<dyn FlatModel>> = members.iter().map(|member| self.with(&member.parameters)).collect();
        let facts = self.facts();
        let start = members.first().map(|member| &member.start);
        let time = start.and_then(|start| Some(start[facts.clock?])).unwrap_or_default();
        let show = visit.map(|visit| -> Box<ShowMember<'_>> {
            Box::new(|member, samples| {
                visit(member, &Sample::all(samples)?);
                Ok(())
            })
        });
        let inputs = self.inputs.as_ref();
        let run = |member: usize, settings: &Settings, watch: &mut Watch<'_>| {
            let Member { start, gain, .. } = &members[member];
            let gain = gain.map(Feedback::Uniform);
            let ingredients = Ingredients::of(&*models[member], inputs);
            let simulation = ingredients.simulation(start, gain.as_ref().unwrap_or(&plan.feedback))?;
            simulation.run(settings, Some(watch))
        };
        let run = run_flat_ensemble(facts, (members.len(), time), &plan.settings, progress, show, &run)?;
        EnsembleRun::of(run)
    }

    fn rates_jacobian(&self, state: &[f64]) -> Vec<Vec<f64>> {
        self.prepared(state).rates_jacobian(state)
    }

    fn drawing(&self, state: &[f64]) -> Drawing {
        self.model.drawing(state)
    }

    fn flat(&self) -> &dyn FlatModel {
        &*self.model
    }
}
