//! A system behind the interface of the catalogue.

use fbint_runtime::{
    ConsistentStart, Diagonal, Ensemble, EnsembleGains, Entries, Error, Event, FeedbackSystem, Field, Gains,
    LargestProjection, OneStep, PreparedSystem, Projection, Rattle, Simulation, Snapshot, StateRole, StormerVerlet,
    Vector,
};

use super::{
    AnyModel, Crossing, EnsembleRun, Feedback, GeometricMethod, Member, Model, Plan, Quantity, Run, Sample, Statistics,
    Steps, Summary, Visit, Watch,
};
use crate::animation::Drawing;
use crate::scheme::Scheme;

/// The most operations of a feedback field whose ensembles run in lanes: beyond, compiling them takes minutes.
const MOST_IN_LANES: u32 = 1200;

/// A system with its parameters.
#[derive(Default)]
pub(super) struct Loaded<S>(S);

/// A simulation of the system `S` whose gains are known only at run time.
type AnySimulation<'a, S> = Simulation<'a, S, Box<dyn Field<Vector = Vector<S>>>>;

impl<S: Model> Loaded<S> {
    /// The simulation with these gains, called through a pointer once an evaluation: that costs a nanosecond or two and saves
    /// compiling every method for every kind of gains.
    fn simulation(&self, start: &[f64], feedback: &Feedback) -> Result<AnySimulation<'_, S>, Error> {
        let simulation = Simulation::new(&self.0, vector::<Vector<S>>(start))?;
        Ok(match feedback {
            Feedback::None => simulation.boxed(),
            Feedback::Uniform(k) => simulation.gains(uniform(*k)).boxed(),
            Feedback::Diagonal(gains) => simulation.gains(Gains::diagonal(vector(gains))).boxed(),
            Feedback::Relaxation(tau) => simulation.gains(Gains::relaxation(*tau)).boxed(),
            Feedback::DiagonalScaled(rate) => simulation.gains(Gains::diagonal_scaled(*rate)).boxed(),
            Feedback::BaeChang(h) => simulation.gains(Gains::bae_chang(*h)).boxed(),
        })
    }

    /// The end of a run where a quantity passes a number.
    fn event(&self, crossing: &Crossing) -> Event<'static, S::State> {
        let Crossing { name, quantity, is_below, number } = crossing.clone();
        let system = self.0.prepare();
        let event = Event::new(name, move |_, state: &S::State| {
            let state: Vector<S> = state.clone().into();
            let value = match quantity {
                Quantity::Entry(index) => state.as_ref().get(index).copied(),
                Quantity::Output(index) => system.outputs(&state).as_ref().get(index).copied(),
            };
            value.unwrap_or(f64::NAN) - number
        });
        if is_below { event.falling().terminal() } else { event.rising().terminal() }
    }

    /// Every geometric integrator that applies: Störmer-Verlet, or RATTLE where there are constraints, and the model's own.
    fn geometric(&self) -> Vec<GeometricMethod<S>> {
        let mut all: Vec<GeometricMethod<S>> = Vec::new();
        if let Ok(method) = StormerVerlet::new(&self.0) {
            all.push((Scheme::StormerVerlet, Box::new(method)));
        } else if let Ok(method) = Rattle::new(&self.0) {
            all.push((Scheme::Rattle, Box::new(method)));
        }
        all.extend(self.0.geometric_methods());
        all
    }

    fn geometric_by_name(&self, scheme: Scheme) -> Result<Box<dyn OneStep<Vector<S>>>, Error> {
        let found = self.geometric().into_iter().find(|(name, _)| *name == scheme);
        let refusal =
            || Error::NotApplicable { method: scheme.name(), system: S::NAME, reason: "the model does not have it" };
        found.map(|(_, method)| method).ok_or_else(refusal)
    }
}

impl<S: Model> AnyModel for Loaded<S> {
    fn state_names(&self) -> Vec<&'static str> {
        S::STATE.iter().map(|entry| entry.name).collect()
    }

    fn state_roles(&self) -> Vec<StateRole> {
        S::STATE.iter().map(|entry| entry.role).collect()
    }

    fn integral_names(&self) -> Vec<&'static str> {
        S::INTEGRALS.iter().map(|integral| integral.name).collect()
    }

    fn output_names(&self) -> &'static [&'static str] {
        S::OUTPUT_NAMES
    }

    fn parameters(&self) -> Vec<(&'static str, f64)> {
        let values = (0..).map_while(|index| self.0.parameter(index));
        S::PARAMETER_NAMES.iter().copied().zip(values).collect()
    }

    fn set_parameter(&mut self, index: usize, value: f64) {
        if let Some(parameter) = self.0.parameter_mut(index) {
            *parameter = value;
        }
    }

    fn default_projection(&self) -> Option<Projection> {
        Projection::by_default::<S>()
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        Model::start(&self.0).map(flat::<S>)
    }

    fn repair(&self, guess: &[f64], held: &[&'static str]) -> Result<Vec<f64>, Error> {
        ConsistentStart::new(&self.0).hold(held)?.solve(vector::<Vector<S>>(guess)).map(flat::<S>)
    }

    fn run(&self, start: &[f64], plan: &Plan, from: Option<Snapshot>, watch: &mut Watch<'_>) -> Result<Run, Error> {
        let simulation = self.simulation(start, &plan.feedback)?.watched(watch);
        let simulation = match from {
            Some(snapshot) => simulation.from_snapshot(snapshot),
            None => simulation,
        };
        let simulation = if plan.is_audited { simulation } else { simulation.unaudited() };
        let simulation = match &plan.until_event {
            Some(crossing) => simulation.event(self.event(crossing)),
            None => simulation,
        };
        simulation.run_with(&plan.settings).map(|run| erased(&run))
    }

    fn samples(&self, trajectory: &[(f64, Vec<f64>)]) -> Vec<Sample> {
        let at_start = trajectory.first().map_or(Vec::new(), |(_, start)| self.integrals(start));
        let targets = S::INTEGRALS.iter().zip(at_start);
        let targets: Vec<f64> =
            targets.map(|(integral, value)| if integral.kind.is_constraint() { 0.0 } else { value }).collect();
        let sample = |(time, state): &(f64, Vec<f64>)| Sample {
            time: *time,
            state: state.clone(),
            change: self.integrals(state).iter().zip(&targets).map(|(value, target)| value - target).collect(),
        };
        trajectory.iter().map(sample).collect()
    }

    fn run_bare(&self, start: &[f64], plan: &Plan) -> Result<Vec<f64>, Error> {
        self.simulation(start, &plan.feedback)?.final_state(&plan.settings).map(flat::<S>)
    }

    fn geometric_methods(&self) -> Vec<Scheme> {
        self.geometric().into_iter().map(|(scheme, _)| scheme).collect()
    }

    fn run_by(&self, scheme: Scheme, start: &[f64], h: f64, until: f64) -> Result<Run, Error> {
        let method = self.geometric_by_name(scheme)?;
        let simulation = Simulation::new(&self.0, vector::<Vector<S>>(start))?;
        Ok(erased(&simulation.run_geometric(&*method, h, until)?))
    }

    fn run_steps(&self, start: &[f64], steps: &Steps<'_>, watch: &mut Watch<'_>) -> Result<Run, Error> {
        let simulation = Simulation::new(&self.0, vector::<Vector<S>>(start))?.record_every(steps.every).watched(watch);
        let method: &dyn OneStep<Vector<S>> = steps;
        Ok(erased(&simulation.run_geometric(method, steps.h, steps.until)?))
    }

    fn run_bare_by(&self, scheme: Scheme, start: &[f64], h: f64, until: f64) -> Result<Vec<f64>, Error> {
        let method = self.geometric_by_name(scheme)?;
        let mut x = vector::<Vector<S>>(start);
        for _ in 0..(until / h).round() as u64 {
            method.step(&mut x, h);
        }
        Ok(x.as_ref().to_vec())
    }

    fn run_ensemble(
        &self,
        members: &[Member],
        plan: &Plan,
        progress: &mut (dyn FnMut(f64) + Send),
        visit: Option<&mut Visit<'_>>,
    ) -> Result<EnsembleRun, Error> {
        let system = |member: &Member| {
            let mut system = S::default();
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
        let ensemble = match visit {
            Some(visit) => ensemble.visited(|member, samples: &[fbint_runtime::Sample<S>]| {
                visit(member, &samples.iter().map(Sample::from).collect::<Vec<_>>());
            }),
            None => ensemble,
        };
        let gains = |member: &Member| match (member.gain, &plan.feedback) {
            (Some(gain), _) => Some(uniform(gain)),
            (None, Feedback::Uniform(gain)) => Some(uniform(*gain)),
            (None, Feedback::Diagonal(gains)) => Some(Gains::diagonal(vector(gains))),
            _ => None,
        };
        match (&plan.feedback, members.iter().map(gains).collect()) {
            (_, Some(gains)) => finish_ensemble(ensemble.gains_of_each::<Diagonal<S>>(gains), plan),
            (Feedback::Relaxation(tau), _) => finish_ensemble(ensemble.gains(Gains::relaxation(*tau)), plan),
            _ => finish_ensemble(ensemble.without_feedback(), plan),
        }
    }

    fn integrals(&self, state: &[f64]) -> Vec<f64> {
        self.0.prepare().integrals(&vector(state)).as_ref().to_vec()
    }

    fn outputs(&self, state: &[f64]) -> Vec<f64> {
        self.0.prepare().outputs(&vector(state)).as_ref().to_vec()
    }

    fn roundings(&self, state: &[f64]) -> Vec<f64> {
        let (system, x) = (self.0.prepare(), vector::<Vector<S>>(state));
        let (integrals, jacobian) = (system.integrals(&x), system.integrals_jacobian(&x));
        let size = |(row, value): (&Vector<S>, &f64)| {
            row.as_ref().iter().zip(state).map(|(slope, entry)| (slope * entry).abs()).sum::<f64>() + value.abs()
        };
        jacobian.as_ref().iter().zip(integrals.as_ref()).map(|pair| f64::EPSILON * size(pair)).collect()
    }

    fn rates(&self, state: &[f64]) -> Vec<f64> {
        self.0.prepare().vector_field(&vector(state)).as_ref().to_vec()
    }

    fn drawing(&self, state: &[f64]) -> Drawing {
        self.0.drawing(&vector::<Vector<S>>(state).into())
    }

    fn summary(&self) -> &'static str {
        S::SUMMARY
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

impl<V: Entries<f64>> OneStep<V> for Steps<'_> {
    fn step(&self, x: &mut V, h: f64) {
        (self.step)(x.as_mut(), h);
    }

    fn evaluations_per_step(&self) -> u64 {
        self.evaluations
    }
}

/// One gain for every integral, of the type of different ones: what is compiled for them serves both.
fn uniform<S: FeedbackSystem>(k: f64) -> Gains<Diagonal<S>> {
    Gains::diagonal(Entries::from_fn(|_| k))
}

fn erased<S: FeedbackSystem>(run: &fbint_runtime::Run<S>) -> Run {
    Run {
        drift: run.drift().integrals().collect(),
        report: run.drift().to_string(),
        trajectory: run.trajectory().iter().map(Sample::from).collect(),
        time: run.time(),
        ended_by: run.ended_by().map(|end| end.name.clone()),
        state: flat::<S>(run.state()),
        start_move: run.start_move().copied(),
        dependence: run.dependence().copied().map(|mut found| {
            found.time = few_digits(found.time);
            found
        }),
        largest_projection: run
            .largest_projection()
            .map(|largest| LargestProjection { time: few_digits(largest.time), ..*largest }),
        steps: run.steps(),
        evaluations: run.evaluations(),
    }
}

fn finish_ensemble<S, G>(ensemble: Ensemble<'_, S, G>, plan: &Plan) -> Result<EnsembleRun, Error>
where
    S: Model,
    G: EnsembleGains<S>,
{
    let ensemble = ensemble.boxed();
    // Code for lanes that would never be called is not even made.
    let run = if const { !S::RUNS_IN_LANES || S::FEEDBACK_FIELD_OPERATIONS.total() > MOST_IN_LANES } {
        ensemble.run_one_by_one(&plan.settings)?
    } else {
        ensemble.run_with(&plan.settings)?
    };
    let statistics = |at: &fbint_runtime::Statistics<S>| Statistics {
        time: few_digits(at.time),
        members: at.members,
        quantities: summaries(&at.state).chain(summaries(&at.change)).collect(),
    };
    Ok(EnsembleRun {
        statistics: run.statistics().iter().map(statistics).collect(),
        ends: run.ends().iter().map(|end| end.as_ref().map(Sample::from).map_err(Error::clone)).collect(),
    })
}

fn summaries<V: Entries<f64>>(of: &fbint_runtime::Summary<V>) -> impl Iterator<Item = Summary> + '_ {
    (0..V::LEN).map(|i| Summary { mean: of.mean[i], variance: of.variance[i], min: of.min[i], max: of.max[i] })
}

impl<S: FeedbackSystem> From<&fbint_runtime::Sample<S>> for Sample {
    fn from(sample: &fbint_runtime::Sample<S>) -> Self {
        Self {
            time: few_digits(sample.time),
            state: sample.state.as_ref().to_vec(),
            change: sample.change.as_ref().to_vec(),
        }
    }
}

/// A time without the rounding of a multiple: 0.3 for 3 times 0.1, which is 0.30000000000000004. A time of many digits stays as it is.
fn few_digits(time: f64) -> f64 {
    let few = format!("{time:.12e}").parse().unwrap_or(time);
    if (few - time).abs() <= 2.0 * f64::EPSILON * time.abs() { few } else { time }
}

/// The vector with these entries; those that are missing are not numbers.
fn vector<V: Entries<f64>>(entries: &[f64]) -> V {
    V::from_fn(|i| entries.get(i).copied().unwrap_or(f64::NAN))
}

fn flat<S: FeedbackSystem>(state: S::State) -> Vec<f64> {
    let state: Vector<S> = state.into();
    state.as_ref().to_vec()
}
