//! A system behind the interface of the catalogue.

use std::ops::{ControlFlow, Deref};

use fbint_runtime::{
    ConsistentStart, Diagonal, DrivenSystem, Dual, DynamicalSystem, Ensemble, EnsembleGains, Entries, Error, Event,
    FeedbackSystem, Field, Gains, OneStep, PreparedSystem, Signal, Simulation, Snapshot, SystemFacts,
};

use crate::any_model::{AnyModel, Continuation, Observer, Visit};
use crate::drawing::Drawing;
use crate::flat_model::FlatModel;
use crate::inputs::Inputs;
use crate::padded::{Padded, PaddedPrepared, PaddedSignal};
use crate::plan::{ConstantGains, Crossing, Feedback, LaneGains, Member, Plan, Steps};
use crate::results::{EnsembleRun, Run, Sample, result};
use crate::vectors::{is_in_lanes, uniform, vector, with_zeros};

/// A system with its parameters.
pub(super) struct Loaded<const N: usize, const M: usize, F> {
    system: Padded<N, M>,
    /// Makes it with its default parameters.
    make: F,
    /// The sources of some of its inputs.
    inputs: Option<Inputs>,
}

impl<const N: usize, const M: usize, F: Fn() -> Padded<N, M>> Loaded<N, M, F> {
    pub(super) fn new(make: F) -> Self {
        Self { system: make(), make, inputs: None }
    }

    /// A copy of the system.
    fn own_system(&self) -> Padded<N, M> {
        let values = (0..).map_while(|index| self.system.parameter(index));
        self.with_parameters(values)
    }

    /// The system with these parameters.
    fn with_parameters(&self, values: impl Iterator<Item = f64>) -> Padded<N, M> {
        let mut system = (self.make)();
        for (index, value) in values.enumerate() {
            system.parameter_mut(index).into_iter().for_each(|parameter| *parameter = value);
        }
        system
    }

    /// The simulation with the events of the model.
    fn eventful(&self, start: &[f64]) -> Result<Simulation<'_, Padded<N, M>>, Error> {
        Ok(with_events(Simulation::new(&self.system, self.vector(start))?, &self.system))
    }

    /// The simulation with the events and inputs of the model, and these gains.
    fn simulation(&self, start: &[f64], feedback: &Feedback) -> Result<AnySimulation<'_, N, M>, Error> {
        Ok(driven(self.eventful(start)?, self.system.signal(self.inputs.as_ref()), feedback))
    }

    /// The system with the inputs that it has in a state.
    fn prepared(&self, x: &[f64; N]) -> PaddedPrepared<f64, N, M> {
        with_inputs(self.system.prepare(), self.system.signal(self.inputs.as_ref()).as_ref(), x)
    }

    /// The end of a run where a quantity passes a number.
    fn event(&self, crossing: &Crossing) -> Event<'static, Vec<f64>> {
        let (system, signal) = (self.system.prepare(), self.system.signal(self.inputs.as_ref()));
        let count = self.system.facts().output_names.len();
        crossing.event(move |state| {
            let x = with_zeros(state);
            with_inputs(system.clone(), signal.as_ref(), &x).outputs(&x)[..count].to_vec()
        })
    }

    /// The vector with the entries of a state; those that are missing are not numbers.
    fn vector(&self, state: &[f64]) -> [f64; N] {
        let mut x: [f64; N] = vector(state);
        x[self.system.facts().state.len()..].fill(0.0);
        x
    }

    /// The entries of a state.
    fn entries(&self, state: [f64; N]) -> Vec<f64> {
        state[..self.system.facts().state.len()].to_vec()
    }

    fn finish_ensemble<G: EnsembleGains<Padded<N, M>>>(
        &self,
        ensemble: Ensemble<'_, Padded<N, M>, G>,
        plan: &Plan,
    ) -> Result<EnsembleRun, Error> {
        let ensemble = ensemble.boxed();
        let run = if is_in_lanes(self.system.facts()) {
            ensemble.run_flat(&plan.settings)?
        } else {
            ensemble.run_one_by_one_flat(&plan.settings)?
        };
        EnsembleRun::of(run)
    }

    /// The model's own map that a plan names.
    fn map(&self, plan: &Plan) -> Option<OnEntries<Box<dyn OneStep<[f64]>>>> {
        let map = self.system.flat().geometric_method(plan.map?)?;
        Some(OnEntries { map, entries: self.system.facts().state.len() })
    }
}

impl<const N: usize, const M: usize, F: Fn() -> Padded<N, M> + Send> AnyModel for Loaded<N, M, F> {
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

    fn set_inputs(&mut self, inputs: Inputs) {
        self.inputs = Some(inputs);
    }

    fn inputs(&self) -> Option<&Inputs> {
        self.inputs.as_ref()
    }

    fn gives_inputs(&self) -> bool {
        self.system.flat().input().is_some()
    }

    fn system_at(&self, state: &[f64]) -> Box<dyn DynamicalSystem> {
        Box::new(self.prepared(&self.vector(state)))
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        self.system.flat().start()
    }

    fn repair(&self, guess: &[f64], held: &[&str]) -> Result<Vec<f64>, Error> {
        ConsistentStart::new(&self.system).hold(held)?.solve(self.vector(guess)).map(|start| self.entries(start))
    }

    fn run(
        &self,
        start: &[f64],
        plan: &Plan,
        from: Option<Snapshot>,
        observer: &mut Observer<'_>,
    ) -> Result<Run, Error> {
        let map = self.map(plan);
        let until = plan.until_event.as_ref().map(|crossing| self.event(crossing));
        let reference = from.as_ref().and_then(Snapshot::reference).unwrap_or(start);
        let simulation = self.simulation(reference, &plan.feedback)?.from_state(self.vector(start));
        let simulation = with_map(simulation, map.as_ref());
        let simulation = simulation.course(|course| plan.shape(course, from, until));
        result(simulation.run_flat(&plan.settings, Some(observer))?)
    }

    fn run_bare(&self, start: &[f64], plan: &Plan) -> Result<Vec<f64>, Error> {
        let map = self.map(plan);
        let simulation = with_map(self.simulation(start, &plan.feedback)?, map.as_ref());
        simulation.final_state(&plan.settings).map(|end| self.entries(end))
    }

    fn continuation(&self, from: Snapshot, plan: &Plan) -> Result<Option<Continuation>, Error> {
        if plan.until_event.is_some() || !matches!(plan.feedback, Feedback::None) {
            return Ok(None);
        }
        let reference = from.reference().unwrap_or(from.state());
        let simulation = self.simulation(reference, &plan.feedback)?.from_snapshot(from);
        let run = simulation.into_continuation(&plan.settings, || self.own_system())?;
        Ok(run.map(|mut run| -> Continuation { Box::new(move |until, has_jumped| run.advance(until, has_jumped)) }))
    }

    fn run_steps(&self, start: &[f64], steps: &Steps<'_>, observer: &mut Observer<'_>) -> Result<Run, Error> {
        // Boxed, so that nothing is compiled for the type of the field, which these steps do not call.
        let simulation = driven(self.eventful(start)?, None, &Feedback::None);
        let settings = steps.settings();
        let steps = OnEntries { map: steps, entries: start.len() };
        result(simulation.one_step(&steps).run_flat(&settings, Some(observer))?)
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
            systems.push(self.with_parameters(member.parameters.iter().copied()));
            starts.push(self.vector(&member.start));
        }
        let ensemble = match systems.is_empty() {
            // So that it is known of what the statistics are, though no member could start.
            true => Ensemble::new(&self.system, starts),
            false => Ensemble::over_systems(&systems, starts),
        };
        let ensemble = ensemble.watched(progress);
        let ensemble = match visit {
            Some(visit) => ensemble.visited_flat(|member, samples| {
                visit(member, &Sample::all(samples)?);
                Ok(())
            }),
            None => ensemble,
        };
        let (lanes, inputs) = (plan.lane_gains(members), self.inputs.as_ref());
        let lanes =
            lanes.filter(|_| inputs.is_none() && !systems.iter().any(|system| is_driven_or_eventful(system.flat())));
        match lanes {
            None => {
                let run = ensemble.run_each_flat(&plan.settings, |member, simulation, settings| {
                    let (system, gain) = (&systems[member], members[member].gain.map(Feedback::Uniform));
                    let simulation = with_events(simulation, system);
                    let feedback = gain.as_ref().unwrap_or(&plan.feedback);
                    driven(simulation, system.signal(inputs), feedback).run_flat(settings, None)
                });
                EnsembleRun::of(run?)
            }
            Some(LaneGains::None) => self.finish_ensemble(ensemble.without_feedback(), plan),
            Some(LaneGains::Relaxation(tau)) => self.finish_ensemble(ensemble.gains(Gains::relaxation(tau)), plan),
            Some(LaneGains::Constant(constant)) => {
                let gains = constant.into_iter().map(|constant| match constant {
                    ConstantGains::Uniform(gain) => uniform(gain),
                    ConstantGains::Each(each) => Gains::diagonal(vector(each)),
                });
                self.finish_ensemble(ensemble.gains_of_each::<Diagonal<Padded<N, M>>>(gains.collect()), plan)
            }
        }
    }

    fn rates_jacobian(&self, state: &[f64]) -> Vec<Vec<f64>> {
        let x = self.vector(state);
        let system = self.prepared(&x);
        let system = Padded::<N, M>::gather::<Dual>(&|_| &system);
        let mut jacobian = vec![vec![0.0; state.len()]; state.len()];
        for column in 0..state.len() {
            let x = Entries::from_fn(|entry| Dual { value: x[entry], slope: if entry == column { 1.0 } else { 0.0 } });
            let rates = system.vector_field(&x);
            jacobian.iter_mut().zip(rates).for_each(|(row, rate)| row[column] = rate.slope);
        }
        jacobian
    }

    fn drawing(&self, state: &[f64]) -> Drawing {
        self.system.flat().drawing(state)
    }

    fn flat(&self) -> &dyn FlatModel {
        self.system.flat()
    }
}

/// Returns `true` if members of ensembles of a model run one by one.
fn is_driven_or_eventful(model: &dyn FlatModel) -> bool {
    let facts = model.facts();
    model.input().is_some()
        || !model.events().is_empty()
        || !facts.events.is_empty()
        || facts.has_switches()
        || facts.law_delay.is_some()
}

/// Steps of the first entries of a vector, and their number.
struct OnEntries<M> {
    map: M,
    entries: usize,
}

impl<V: Entries<f64>, M: Deref<Target: OneStep<[f64]>> + Sync> OneStep<V> for OnEntries<M> {
    fn step(&self, x: &mut V, h: f64) {
        self.map.step(&mut x.as_mut()[..self.entries], h);
    }

    fn evaluations_per_step(&self) -> u64 {
        self.map.evaluations_per_step()
    }
}

impl OneStep<[f64]> for Steps<'_> {
    fn step(&self, x: &mut [f64], h: f64) {
        (self.step)(x, h);
    }

    fn evaluations_per_step(&self) -> u64 {
        self.evaluations
    }
}

/// The simulation with the events of its system.
fn with_events<'a, const N: usize, const M: usize>(
    simulation: Simulation<'a, Padded<N, M>>,
    system: &'a Padded<N, M>,
) -> Simulation<'a, Padded<N, M>> {
    system.flat().events().into_iter().fold(simulation, Simulation::event_on_entries)
}

/// The simulation with a map, if there is one.
fn with_map<'a, const N: usize, const M: usize>(
    simulation: AnySimulation<'a, N, M>,
    map: Option<&'a OnEntries<Box<dyn OneStep<[f64]>>>>,
) -> AnySimulation<'a, N, M> {
    match map {
        Some(map) => simulation.one_step(map),
        None => simulation,
    }
}

/// A simulation whose gains are known only at run time. Its field is called through a pointer once an evaluation: that costs a nanosecond or
/// two and saves compiling every method for every kind of gains.
type AnySimulation<'a, const N: usize, const M: usize> =
    Simulation<'a, Padded<N, M>, Box<dyn Field<Vector = [f64; N]>>>;

/// The simulation with these gains, which are of different types, and so are their fields until they are boxed.
macro_rules! with_gains {
    ($simulation:expr, $feedback:expr, $boxed:ident) => {
        match $feedback {
            Feedback::None => $simulation.without_feedback().$boxed(),
            Feedback::Uniform(k) => $simulation.gains(uniform(*k)).$boxed(),
            Feedback::Diagonal(gains) => $simulation.gains(Gains::diagonal(vector(gains))).$boxed(),
            Feedback::Relaxation(tau) => $simulation.gains(Gains::relaxation(*tau)).$boxed(),
            Feedback::BaeChang(h) => $simulation.gains(Gains::bae_chang(*h)).$boxed(),
        }
    };
}

/// The simulation with these gains and inputs.
fn driven<'a, const N: usize, const M: usize>(
    simulation: Simulation<'a, Padded<N, M>>,
    signal: Option<PaddedSignal>,
    feedback: &Feedback,
) -> AnySimulation<'a, N, M> {
    match signal {
        Some(signal) => with_gains!(simulation, feedback, boxed_for_inputs).input(signal).boxed(),
        None => with_gains!(simulation, feedback, boxed),
    }
}

/// The prepared system with the inputs that a signal, if there is one, gives in a state.
fn with_inputs<const N: usize, const M: usize>(
    system: PaddedPrepared<f64, N, M>,
    signal: Option<&PaddedSignal>,
    x: &[f64; N],
) -> PaddedPrepared<f64, N, M> {
    let facts = PreparedSystem::facts(&system);
    let Some(signal) = signal else {
        return if facts.has_laws() { system.under_law(x) } else { system };
    };
    let (signal, time): (&dyn Signal<Padded<N, M>>, f64) = (signal, facts.clock.map_or(0.0, |index| x[index]));
    // A table has to know the time before it is asked.
    signal.hold(time);
    Padded::with_input(system, signal.at(time, x))
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Held, feedback_system};

    use super::*;
    use crate::controller::Controller;
    use crate::model::Model;

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

    impl Model for Trolley {
        fn start(&self) -> Result<TrolleyState, Error> {
            Ok(TrolleyState::default())
        }

        fn input(&self) -> Option<Controller<Self>> {
            let rows = [(0.0, 1.0), (0.5, -1.0)].map(|(time, thrust)| (time, TrolleyInput { thrust }));
            Held::new(rows, 1.0).ok().map(Controller::new)
        }
    }

    #[test]
    fn outputs_have_the_inputs_of_a_table() {
        let trolley = Padded::<8, 8>::new(Box::new(Trolley));
        for (time, thrust) in [(0.6, -1.0), (0.4, 1.0), (0.5, -1.0)] {
            let x: [f64; 8] = with_zeros(&[0.0, 0.0, time]);
            let system = with_inputs(trolley.prepare(), trolley.signal(None).as_ref(), &x);
            assert_eq!(system.outputs(&x)[0], thrust);
        }
    }
}
