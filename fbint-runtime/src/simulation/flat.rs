//! A run of a system on slices, whatever its length is.

use super::declared::{Evaluate, events_of};
use super::parts::Parts;
use super::run_loop::{Pace, RunInputs, RunLoop, Segment};
use super::sampled::LawSamples;
use super::snapshot::Origin;
use super::stepper::{ControlledSteps, FixedSteps, StepEnds, Stepper};
use super::switching::{Switching, append};
use super::taylor_steps::{Rates, TaylorSteps, without_series};
use super::{Course, FlatRun, GivenLimits, Schedule, Span, Watch, check_driving};
use crate::error::Error;
use crate::error::memory::Storage;
use crate::field::Driver;
use crate::field::flat::{FlatField, FlatGains, FlatSignal};
use crate::field::sides::Side;
use crate::hold::consistent_start::{Parameters, check_flat_start, find_start, flat_targets, project_start};
use crate::hold::projection::flat::FlatProjector;
use crate::hold::projection::{Hold, Land, Projection};
use crate::method::error_control::Progress;
use crate::method::flat::{FlatExplicit, FlatGeometric, FlatIntegrator};
use crate::method::gauss::{Coefficients, GaussMethod};
use crate::method::geometric::{FlatMap, Map, OneStep};
use crate::method::hamel::{HamelMethod, InLists};
use crate::method::settings::{ErrorControl, GeometricMap, Method, Settings, Stepping};
use crate::numbers::blocks::Blocks;
use crate::stages::rodas5p::{self, RODAS5P};
use crate::stages::tableau::{DOP853_PAIR, DORMAND_PRINCE_PAIR};
use crate::stages::tolerance::Tolerance;
use crate::system::dynamical_system::FlatSystem;

/// Builder for one run of a system on slices of any length: a [`Simulation`](crate::Simulation) without a projection unless one is
/// chosen.
pub struct FlatSimulation<'a> {
    system: &'a dyn FlatSystem,
    parameters: &'a [f64],
    start: Vec<f64>,
    gains: FlatGains,
    signal: Option<&'a dyn FlatSignal>,
    map: Option<&'a dyn OneStep<[f64]>>,
    course: Course<'a>,
}

impl<'a> FlatSimulation<'a> {
    /// A simulation of a system with these parameters from `start`.
    ///
    /// # Errors
    ///
    /// See [`Simulation::new`](crate::Simulation::new).
    pub fn new(system: &'a dyn FlatSystem, parameters: &'a [f64], start: &[f64]) -> Result<Self, Error> {
        let mut start = start.to_vec();
        start.resize(system.facts().state.len(), f64::NAN);
        check_flat_start(system, &of_values(system, &|index| parameters.get(index).copied()), &start)?;
        let course = Course::new(Vec::new());
        Ok(Self { system, parameters, start, gains: FlatGains::None, signal: None, map: None, course })
    }

    /// From another state than the start: see [`Simulation::from_state`](crate::Simulation::from_state).
    pub fn from_state(mut self, state: &[f64]) -> Self {
        self.start.copy_from_slice(state);
        self
    }

    /// With these gains.
    pub fn gains(self, gains: FlatGains) -> Self {
        Self { gains, ..self }
    }

    /// With inputs that a signal gives.
    pub fn input(self, signal: &'a dyn FlatSignal) -> Self {
        Self { signal: Some(signal), ..self }
    }

    /// With the map that makes the steps of [`Method::OneStep`].
    pub fn one_step(self, map: &'a dyn OneStep<[f64]>) -> Self {
        Self { map: Some(map), ..self }
    }

    /// With another course.
    pub fn course(self, change: impl FnOnce(Course<'a>) -> Course<'a>) -> Self {
        Self { course: change(self.course), ..self }
    }

    /// With the events that are declared, whose functions are put into a list, given the state and the inputs.
    pub fn declared_events(mut self, values: impl Fn(&[f64], &[f64]) -> Vec<f64> + Send + 'a) -> Self {
        let facts = self.system.facts();
        let evaluate: Evaluate<'a> = Box::new(move |state: &[f64], list: &mut [f64]| {
            // The inputs follow the entries of the state and the functions of the switches.
            let (own, appended) = state.split_at(facts.state.len());
            list.copy_from_slice(&values(own, appended.get(facts.switches.len()..).unwrap_or_default()));
        });
        self.course.events.extend(events_of(facts, evaluate));
        self
    }

    /// Makes the run.
    ///
    /// # Errors
    ///
    /// See [`Simulation::run`](crate::Simulation::run).
    pub fn run(mut self, settings: &Settings, watch: Option<&mut Watch<'_>>) -> Result<FlatRun, Error> {
        let Settings { method, from, until, every, projection, max_step, max_steps } = *settings;
        let (system, facts) = (self.system, self.system.facts());
        let field = FlatField::new(system, &self.gains, self.signal, &self.start)?;
        let time = facts.clock.map_or(0.0, |clock| self.start[clock]);
        let span = Span::new(if from == 0.0 { time } else { from }, until)?;
        check_driving(facts, field.driver(), &self.start, span)?;
        let projection = method.projection(facts, Hold::Chosen(None).unless(projection));
        self.course.sample_every(every);
        let given = GivenLimits { max_step, max_steps };
        let limits = given.of_run(span, facts)?;
        let progress = Progress { limits, max_steps: given.max_steps(), ..Progress::at(span.from) };
        let mut start = self.start.clone();
        if projection.is_some() && !self.course.is_onward() {
            project_start(system, &mut start)?;
        }
        let value = |index: usize| self.parameters.get(index).copied();
        let parameters = of_values(system, &value);
        let origin = Origin::of(&parameters, method, projection.is_some(), field.decay_rate(&self.start));
        let Course { is_audited, is_dense, .. } = self.course;
        let interval = self.course.interval();
        let has_samples = field.driver().is_none_or(Driver::has_sampled_laws);
        let mut run = RunLoop::new(RunInputs {
            system,
            parameters,
            span,
            given: self.start.clone(),
            targets: flat_targets(system, &start),
            start,
            is_projected: projection.is_some(),
            laws: LawSamples::of(facts, has_samples, system.law_period(), span.from)?,
            course: self.course,
            origin,
        })?;
        run.show_to(watch);
        let stepping = method.stepping();
        let schedule = Schedule::of_method(method, span, interval?, given, facts)?;
        let interval = if is_audited { stepping.stability_interval() } else { f64::INFINITY };
        let (start, map, kept) = (self.start, self.map, is_dense.then(Vec::new));
        let mut parts =
            SliceParts { system, field, start, method, stepping, progress, map, schedule, interval, projection, kept };
        let run = run.complete(&mut parts, projection)?;
        let dense_output = Storage::STEPS.collect(parts.kept.into_iter().flatten().flatten())?;
        Ok(FlatRun { dense_output, ..run })
    }
}

/// The parts of a run on slices.
struct SliceParts<'a> {
    system: &'a dyn FlatSystem,
    field: FlatField<'a>,
    start: Vec<f64>,
    method: Method,
    stepping: Stepping,
    progress: Progress,
    map: Option<&'a dyn OneStep<[f64]>>,
    schedule: Option<Schedule>,
    interval: f64,
    projection: Option<Projection>,
    kept: Option<Vec<<FlatProjector<'a> as Land>::Polynomial>>,
}

impl Switching for SliceParts<'_> {
    fn count(&self) -> usize {
        self.field.facts().switches.len()
    }

    fn hold(&mut self, time: f64, sides: &[Side]) {
        self.field.hold_sides(sides);
        if let Some(driver) = self.field.driver() {
            driver.hold(time);
        }
    }

    fn rates(&self, state: &[f64]) -> Vec<f64> {
        self.field.rates(&Blocks::of(state)).own().to_vec()
    }

    fn switches(&self, state: &[f64]) -> (Vec<f64>, Vec<f64>) {
        self.field.switches(state)
    }

    fn switch_rate(&self, state: &[f64], place: usize) -> f64 {
        self.field.switch_rate(state, place)
    }
}

impl Parts for SliceParts<'_> {
    fn start_at(&mut self, start: &[f64]) {
        self.field.start_at(start);
    }

    fn hold_laws(&mut self, state: Option<&[f64]>) {
        self.field.hold_laws(state);
    }

    fn follow(&mut self, run: &mut RunLoop<'_>, start: Option<&[f64]>, sides: &[Side]) -> Result<Segment, Error> {
        let Self { system, field, stepping, method, progress, map, schedule, interval, projection, kept, .. } = self;
        *stepping = stepping.on_sides(sides);
        let (field, start, facts) = (&*field, start.unwrap_or(&self.start), system.facts());
        let lander = projection.map(|of| FlatProjector::new(*system, start, run.targets(), of));
        let ends = StepEnds { facts, lander, kept };
        let mut stepper = stepping.flat_stepper((*system, field), *method, start, *progress, *map, ends)?;
        let pace = Pace::new(schedule.as_ref(), field.driver(), *interval);
        run.follow(&mut *stepper, &pace, &|state| append(facts, sides, |state| field.switches(state), state))
    }

    fn driver(&self) -> Option<&dyn Driver> {
        self.field.driver()
    }
}

impl std::fmt::Debug for FlatSimulation<'_> {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("FlatSimulation").field("system", &self.system.facts().name).finish_non_exhaustive()
    }
}

/// The parameters of a system, by their values.
fn of_values<'p>(system: &dyn FlatSystem, value: &'p dyn Fn(usize) -> Option<f64>) -> Parameters<'p> {
    Parameters { names: system.facts().parameter_names, value }
}

/// A state near `guess` that satisfies every constraint and keeps the entries that are held; see
/// [`ConsistentStart`](crate::ConsistentStart).
///
/// # Errors
///
/// See [`ConsistentStart::solve`](crate::ConsistentStart::solve).
pub fn consistent_flat_start(
    system: &dyn FlatSystem,
    parameters: &[f64],
    guess: &[f64],
    held: &[&str],
) -> Result<Vec<f64>, Error> {
    let facts = system.facts();
    let mut x = guess.to_vec();
    x.resize(facts.state.len(), f64::NAN);
    let mut is_held: Vec<bool> = (0..x.len()).map(|i| facts.clock == Some(i)).collect();
    held.iter().try_for_each(|name| crate::hold::consistent_start::hold(&mut is_held, facts, name))?;
    find_start(system, &of_values(system, &|index| parameters.get(index).copied()), &is_held, &mut x)?;
    Ok(x)
}

impl Stepping {
    /// The stepper on slices.
    fn flat_stepper<'s, 'k>(
        self,
        (system, field): (&'s dyn FlatSystem, &'s FlatField<'s>),
        of: Method,
        start: &[f64],
        progress: Progress,
        map: Option<&'s dyn OneStep<[f64]>>,
        ends: StepEnds<'k, FlatProjector<'s>>,
    ) -> Result<Box<dyn Stepper + 'k>, Error>
    where
        's: 'k,
    {
        let (facts, time, state) = (field.facts(), progress.time, Blocks::of(start));
        Ok(match self {
            Self::Fixed { method, .. } => {
                Box::new(FixedSteps::new(FlatExplicit::new(method, field), time, state, ends))
            }
            Self::Geometric { map: of_method, .. } => {
                let map: Box<dyn OneStep<[f64]>> = match of_method {
                    GeometricMap::Rattle => Box::new(FlatMap::new(system, Map::Rattle)?),
                    GeometricMap::StormerVerlet => Box::new(FlatMap::new(system, Map::StormerVerlet)?),
                    GeometricMap::Given => Box::new(map.ok_or(Error::NotApplicable {
                        method: "the given map",
                        system: facts.name,
                        reason: "no map was given: give one, or choose another method",
                    })?),
                    GeometricMap::DiscreteHamel => {
                        let steps = HamelMethod::new(InLists::of(system)?, &state);
                        return Ok(Box::new(FixedSteps::new(steps, time, state, ends)));
                    }
                };
                Box::new(FixedSteps::new(FlatGeometric { map, field }, time, state, ends))
            }
            Self::Taylor { tolerance } => {
                let series = field.series().map_err(|reason| without_series(facts, reason))?;
                let limits = (time, progress.limits, progress.max_steps);
                let of_field = (facts, series, field.driver());
                let rates = |x: &[f64], rates: &mut [f64]| rates.copy_from_slice(field.rates(&Blocks::of(x)).own());
                let (of_field, ends) = ((of_field, Box::new(rates) as Box<Rates<'_>>), Box::new(ends));
                Box::new(TaylorSteps::new(of_field, start, (tolerance, None), limits, ends)?)
            }
            Self::Controlled { method, tolerances: (rtol, atol) } => {
                let tolerance = Tolerance::new(rtol, atol)?;
                match method {
                    ErrorControl::DormandPrince => {
                        let steps = FlatIntegrator::<7>::new(field, &DORMAND_PRINCE_PAIR, start, &tolerance, progress);
                        Box::new(ControlledSteps::new(steps, ends))
                    }
                    ErrorControl::Dop853 => {
                        let steps = FlatIntegrator::<16>::new(field, &DOP853_PAIR, start, &tolerance, progress);
                        Box::new(ControlledSteps::new(steps, ends))
                    }
                }
            }
            Self::Gauss { stages, h } => {
                let steps = GaussMethod::on_slices(field, Coefficients::of_stages(stages), h, start);
                Box::new(FixedSteps::new(steps, time, state, ends))
            }
            Self::Rodas5P { tolerances: (rtol, atol) } => {
                if !field.jacobian(&state, &mut |_, _, _| ()) {
                    let reason = "its Jacobian is not known: choose constant gains or a projection instead of gains that follow from the state";
                    return Err(Error::NotApplicable { method: of.name(), system: facts.name, reason });
                }
                let tolerance = Tolerance::new(rtol, atol)?;
                let steps = FlatIntegrator::<{ rodas5p::STAGES }>::new(field, &RODAS5P, start, &tolerance, progress);
                Box::new(ControlledSteps::new(steps, ends))
            }
        })
    }
}
