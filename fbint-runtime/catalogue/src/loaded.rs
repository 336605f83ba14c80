//! A system behind the interface of the catalogue.

use std::ops::ControlFlow;

use fbint_runtime::{
    ConsistentStart, Diagonal, Dual, DynamicalSystem, Ensemble, EnsembleGains, Entries, Error, Event, FeedbackSystem,
    Gains, Method, OneStep, PreparedSystem, Rattle, Settings, Simulation, Snapshot, StormerVerlet, SystemFacts, Vector,
};

use super::controller::{AnySimulation, Controller, undriven};
use super::{
    AnyModel, ConstantGains, Crossing, Drawing, EnsembleRun, Feedback, Member, Model, Observer, Plan, Quantity, Run,
    Sample, Scheme, Steps, Visit,
};

/// The most entries of states that ensembles integrate side by side: beyond, compiling that takes minutes.
const MOST_IN_LANES: usize = 48;

/// Whether members of ensembles of a system run in lanes.
pub(super) const fn is_in_lanes(facts: &SystemFacts) -> bool {
    facts.state.len() <= MOST_IN_LANES && facts.feedback_field_operations.fit_lanes()
}

/// A system with its parameters.
pub(super) struct Loaded<S, M> {
    system: S,
    /// Makes it with its default parameters.
    make: M,
}

impl<S: Model, M: Fn() -> S> Loaded<S, M> {
    pub(super) fn new(make: M) -> Self {
        Self { system: make(), make }
    }

    /// The simulation with the events of the model.
    fn eventful(&self, start: &[f64]) -> Result<Simulation<'_, S>, Error> {
        Ok(with_events(Simulation::new(&self.system, self.vector(start))?, &self.system))
    }

    /// The simulation with the events and inputs of the model, and these gains.
    fn simulation(&self, start: &[f64], feedback: &Feedback) -> Result<AnySimulation<'_, S>, Error> {
        Ok(driven(self.eventful(start)?, &self.system, feedback))
    }

    /// The system with the inputs that it has in a state.
    fn prepared(&self, x: &Vector<S>) -> S::Prepared<f64> {
        with_inputs(self.system.prepare(), self.system.input().as_ref(), x)
    }

    /// The end of a run where a quantity passes a number.
    fn event(&self, crossing: &Crossing) -> Event<'static, S::State> {
        let Crossing { name, quantity, is_below, number } = crossing.clone();
        let (system, controller) = (self.system.prepare(), self.system.input());
        let event = Event::new(name, move |_, state: &S::State| {
            let state: Vector<S> = state.clone().into();
            let value = match quantity {
                Quantity::Entry(index) => state.as_ref().get(index).copied(),
                Quantity::Output(index) => {
                    with_inputs(system, controller.as_ref(), &state).outputs(&state).as_ref().get(index).copied()
                }
            };
            value.unwrap_or(f64::NAN) - number
        });
        if is_below { event.falling().terminal() } else { event.rising().terminal() }
    }

    /// The vector with the entries of a state; those that are missing are not numbers.
    fn vector(&self, state: &[f64]) -> Vector<S> {
        let mut x: Vector<S> = vector(state);
        x.as_mut()[self.system.facts().state.len()..].fill(0.0);
        x
    }

    /// The entries of a state.
    fn flat(&self, state: S::State) -> Vec<f64> {
        let state: Vector<S> = state.into();
        state.as_ref()[..self.system.facts().state.len()].to_vec()
    }

    fn finish_ensemble<G: EnsembleGains<S>>(
        &self,
        ensemble: Ensemble<'_, S, G>,
        plan: &Plan,
    ) -> Result<EnsembleRun, Error> {
        let ensemble = ensemble.boxed();
        // Code for lanes that would never be called is not even made.
        let run = if const { <Vector<S> as Entries<f64>>::LEN <= MOST_IN_LANES } && is_in_lanes(self.system.facts()) {
            ensemble.run_flat(&plan.settings)?
        } else {
            ensemble.run_one_by_one_flat(&plan.settings)?
        };
        Ok(run.into())
    }

    /// The model's own map that a plan names.
    fn map(&self, plan: &Plan) -> Option<Box<dyn OneStep<Vector<S>>>> {
        for (scheme, map) in self.system.geometric_methods() {
            if plan.map == Some(scheme) {
                return Some(map);
            }
        }
        None
    }
}

impl<S: Model, M: Fn() -> S> AnyModel for Loaded<S, M> {
    fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        self.system.parameter(index)
    }

    fn set_parameter(&mut self, index: usize, value: f64) {
        if let Some(parameter) = self.system.parameter_mut(index) {
            *parameter = value;
        }
    }

    fn system_at(&self, state: &[f64]) -> Box<dyn DynamicalSystem> {
        Box::new(self.prepared(&self.vector(state)))
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        Model::start(&self.system).map(|start| self.flat(start))
    }

    fn repair(&self, guess: &[f64], held: &[&'static str]) -> Result<Vec<f64>, Error> {
        ConsistentStart::new(&self.system).hold(held)?.solve(self.vector(guess)).map(|start| self.flat(start))
    }

    fn run(
        &self,
        start: &[f64],
        plan: &Plan,
        from: Option<Snapshot>,
        observer: &mut Observer<'_>,
    ) -> Result<Run, Error> {
        let map = self.map(plan);
        let simulation = with_map(self.simulation(start, &plan.feedback)?, map.as_deref()).watched(observer);
        let simulation = match from {
            Some(snapshot) => simulation.from_snapshot(snapshot),
            None => simulation,
        };
        let simulation = if plan.is_audited { simulation } else { simulation.unaudited() };
        let simulation = match &plan.times {
            Some(times) => simulation.record_at(times.as_slice()),
            None => simulation,
        };
        let simulation = if plan.is_dense { simulation.dense() } else { simulation };
        let simulation = match &plan.until_event {
            Some(crossing) => simulation.event(self.event(crossing)),
            None => simulation,
        };
        Ok(simulation.run_flat(&plan.settings)?.into())
    }

    fn run_bare(&self, start: &[f64], plan: &Plan) -> Result<Vec<f64>, Error> {
        let map = self.map(plan);
        let simulation = with_map(self.simulation(start, &plan.feedback)?, map.as_deref());
        simulation.final_state(&plan.settings).map(|end| self.flat(end))
    }

    fn further_methods(&self) -> Vec<Scheme> {
        let own = self.system.geometric_methods().into_iter().map(|(scheme, _)| scheme);
        let rodas5p = self.facts().has_jacobian.then_some(Scheme::RODAS5P);
        let gauss = [2, 4, 8].map(|stages| Scheme::of(Method::Gauss { stages, h: 1.0 }));
        let general = if StormerVerlet::new(&self.system).is_ok() {
            Some(Scheme::STORMER_VERLET)
        } else {
            Rattle::new(&self.system).is_ok().then_some(Scheme::RATTLE)
        };
        rodas5p.into_iter().chain(gauss).chain(general).chain(own).collect()
    }

    fn run_steps(&self, start: &[f64], steps: &Steps<'_>, observer: &mut Observer<'_>) -> Result<Run, Error> {
        // Boxed, so that nothing is compiled for the type of the field, which these steps do not call.
        let simulation = undriven(self.eventful(start)?, &Feedback::None).watched(observer);
        let settings = Settings::new(Method::OneStep { h: steps.h }, steps.until);
        let settings = Settings { every: Some(steps.every), ..settings };
        let steps = OwnSteps { steps, dimension: start.len() };
        Ok(simulation.one_step(&steps).run_flat(&settings)?.into())
    }

    fn run_ensemble(
        &self,
        members: &[Member],
        plan: &Plan,
        progress: &mut (dyn FnMut(f64) -> ControlFlow<()> + Send),
        visit: Option<&mut Visit<'_>>,
    ) -> Result<EnsembleRun, Error> {
        let (mut systems, mut starts) = (Vec::new(), Vec::new());
        for member in members {
            let mut system = (self.make)();
            for (index, value) in member.parameters.iter().enumerate() {
                system.parameter_mut(index).into_iter().for_each(|parameter| *parameter = *value);
            }
            systems.push(system);
            starts.push(self.vector(&member.start));
        }
        let ensemble = match systems.is_empty() {
            // So that it is known of what the statistics are, though no member could start.
            true => Ensemble::new(&self.system, starts),
            false => Ensemble::over_systems(&systems, starts),
        };
        let ensemble = ensemble.watched(progress);
        let ensemble = match visit {
            Some(visit) => ensemble.visited_flat(|member, samples| visit(member, &Sample::all(samples))),
            None => ensemble,
        };
        if systems.iter().any(|system| system.input().is_some() || !system.events().is_empty()) {
            let run = ensemble.run_each_flat(&plan.settings, |member, simulation, settings| {
                let (system, gain) = (&systems[member], members[member].gain.map(Feedback::Uniform));
                let simulation = with_events(simulation, system);
                driven(simulation, system, gain.as_ref().unwrap_or(&plan.feedback)).run_flat(settings)
            });
            return Ok(run?.into());
        }
        if let Some(constant) = plan.constant_gains(members) {
            let mut gains = Vec::new();
            for constant in constant {
                gains.push(match constant {
                    ConstantGains::Uniform(gain) => uniform(gain),
                    ConstantGains::Each(each) => Gains::diagonal(vector(each)),
                });
            }
            return self.finish_ensemble(ensemble.gains_of_each::<Diagonal<S>>(gains), plan);
        }
        match &plan.feedback {
            Feedback::Relaxation(tau) => self.finish_ensemble(ensemble.gains(Gains::relaxation(*tau)), plan),
            _ => self.finish_ensemble(ensemble.without_feedback(), plan),
        }
    }

    fn rates_jacobian(&self, state: &[f64]) -> Vec<Vec<f64>> {
        let x = self.vector(state);
        let system = self.prepared(&x);
        let system = S::gather::<Dual>(&|_| &system);
        let mut jacobian = vec![vec![0.0; state.len()]; state.len()];
        for column in 0..state.len() {
            let x = Entries::from_fn(|entry| Dual { value: x[entry], slope: if entry == column { 1.0 } else { 0.0 } });
            let rates = system.vector_field(&x);
            jacobian.iter_mut().zip(rates).for_each(|(row, rate)| row[column] = rate.slope);
        }
        jacobian
    }

    fn drawing(&self, state: &[f64]) -> Drawing {
        self.system.drawing(&self.vector(state).into())
    }
}

/// Steps of a state with so many entries.
struct OwnSteps<'a> {
    steps: &'a Steps<'a>,
    dimension: usize,
}

impl<V: Entries<f64>> OneStep<V> for OwnSteps<'_> {
    fn step(&self, x: &mut V, h: f64) {
        (self.steps.step)(&mut x.as_mut()[..self.dimension], h);
    }

    fn evaluations_per_step(&self) -> u64 {
        self.steps.evaluations
    }
}

/// The simulation with the events of its system.
fn with_events<'a, S: Model>(simulation: Simulation<'a, S>, system: &'a S) -> Simulation<'a, S> {
    let mut simulation = simulation;
    for event in system.events() {
        simulation = simulation.event(event);
    }
    simulation
}

/// The simulation with a map, if there is one.
fn with_map<'a, S: Model>(
    simulation: AnySimulation<'a, S>,
    map: Option<&'a dyn OneStep<Vector<S>>>,
) -> AnySimulation<'a, S> {
    match map {
        Some(map) => simulation.one_step(map),
        None => simulation,
    }
}

/// The simulation with these gains and the inputs of its system.
fn driven<'a, S: Model>(simulation: Simulation<'a, S>, system: &S, feedback: &Feedback) -> AnySimulation<'a, S> {
    match system.input() {
        Some(controller) => controller.simulation(simulation, feedback),
        None => undriven(simulation, feedback),
    }
}

/// The prepared system with the inputs that a controller, if there is one, gives in a state.
fn with_inputs<S: FeedbackSystem>(
    system: S::Prepared<f64>,
    controller: Option<&Controller<S>>,
    x: &Vector<S>,
) -> S::Prepared<f64> {
    controller.map_or(system, |controller| controller.prepared(system, x))
}

/// One gain for every integral, of the type of different ones: what is compiled for them serves both.
pub(super) fn uniform<S: FeedbackSystem>(k: f64) -> Gains<Diagonal<S>> {
    Gains::diagonal(Entries::from_fn(|_| k))
}

/// The vector with these entries; those that are missing are not numbers.
pub(super) fn vector<V: Entries<f64>>(entries: &[f64]) -> V {
    V::from_fn(|i| entries.get(i).copied().unwrap_or(f64::NAN))
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Held, feedback_system};

    use super::*;

    /// A mass on rails with a motor.
    #[feedback_system(
        coordinates(x),
        momenta(p),
        hamiltonian = p.powi(2) / 2,
        input(thrust),
        force(p = thrust),
        output(effort = thrust),
    )]
    struct Trolley;

    #[test]
    fn outputs_have_the_inputs_of_a_table() -> Result<(), Error> {
        let rows = [(0.0, 1.0), (0.5, -1.0)].map(|(time, thrust)| (time, TrolleyInput { thrust }));
        let controller = Controller::<Trolley>::new(Held::new(rows, 1.0)?);
        for (time, thrust) in [(0.6, -1.0), (0.4, 1.0), (0.5, -1.0)] {
            let x = TrolleyState { x: 0.0, p: 0.0, time, work: 0.0 }.into();
            let system = with_inputs(Trolley.prepare(), Some(&controller), &x);
            assert_eq!(system.outputs(&x), [thrust]);
        }
        Ok(())
    }
}
