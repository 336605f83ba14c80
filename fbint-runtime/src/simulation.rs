//! A run from a start to an end, which reports what it did to the integrals.
//!
//! With a fixed step, step n ends at t = n h, computed and not accumulated; with error control steps end where the controller
//! says. The last step is shortened to end exactly where asked. After every step the state is projected if that was chosen,
//! and the integrals are evaluated, recorded and compared with a bound: a run beyond it, or with a state that is not finite, has
//! blown up and is an error, not a result. A run can be watched, interrupted, and resumed from a
//! [`Snapshot`] as if it had never stopped.
//!
//! By default a simulation integrates X and projects once after each step. Compared with relaxation ([`Relaxation`](crate::Relaxation)) at
//! every step size, projection keeps integrals to rounding and trajectories at least as good. A relaxation time of a few steps costs RK4
//! its order, because the stages are further from the level set of the integrals than the steps are. With DOP853 projection costs no
//! evaluation. BENCHMARKS.md of the repository has the measurements.

#[cfg(feature = "std")]
mod declared;
pub(crate) mod drift;
#[cfg(feature = "std")]
pub(crate) mod event;

mod continuation;
mod course;
mod event_search;
mod flat;
mod parts;
mod polynomial;
mod record;
mod run;
mod run_loop;
mod sampled;
pub(crate) mod samples;
mod sampling;
mod schedule;
#[cfg(feature = "serde")]
mod serialise;
mod sign_changes;
mod snapshot;
mod stepper;
mod steppers;
mod switching;
mod taylor_steps;

use core::fmt;
use core::ops::ControlFlow;

#[doc(hidden)]
pub use self::continuation::Continuation;
#[doc(hidden)]
pub use self::course::Course;
use self::declared::declared_events;
#[doc(hidden)]
pub use self::flat::{FlatSimulation, consistent_flat_start};
use self::parts::VectorParts;
#[cfg(feature = "ensemble")]
pub(crate) use self::record::bound;
#[doc(hidden)]
pub use self::run::{FlatOccurrence, FlatRun};
pub use self::run::{IntegralJump, LargestProjection, Occurrence, Run};
#[doc(hidden)]
pub use self::run_loop::Watch;
#[cfg(feature = "ensemble")]
pub(crate) use self::run_loop::check_stability;
use self::run_loop::{Pace, RunInputs, RunLoop, follow_alone};
use self::sampled::LawSamples;
pub use self::samples::{FlatSamples, Sample, SampleRow};
pub(crate) use self::sampling::SampleTimes;
#[cfg(feature = "ensemble")]
pub(crate) use self::sampling::Sampling;
pub(crate) use self::schedule::{GivenLimits, Schedule, Span, check_driving};
use self::snapshot::Origin;
pub use self::snapshot::{Moment, Snapshot};
use self::stepper::StepEnds;
use self::steppers::StepControl;
#[cfg(feature = "ensemble")]
pub(crate) use self::taylor_steps::without_series;
use crate::error::Error;
use crate::field::driver::{Driven, Signal};
use crate::field::feedback::Feedback;
use crate::field::gains::Gains;
use crate::field::policy::GainPolicy;
use crate::field::{Driver, Field, PlainField, TakesInput};
use crate::hold::consistent_start::{Parameters, check_start, projected_start};
use crate::hold::projection::{Hold, Lander, Projection, Projector};
use crate::method::geometric::OneStep;
use crate::method::settings::{Method, Settings};
use crate::numbers::linear::from_slice;
use crate::simulation::event::Event;
use crate::stages::dense_output::DenseOutput;
use crate::system::SystemFacts;
use crate::system::dynamical_system::DynamicalSystem;
use crate::system::{DrivenSystem, FeedbackSystem, Integrals, Vector};

/// Builder for one integration run of the system `S` along a field `F`.
pub struct Simulation<'a, S: FeedbackSystem, F = PlainField<S>> {
    setup: Setup<'a, S>,
    field: Result<F, Error>,
}

/// All of a simulation but the field.
struct Setup<'a, S: FeedbackSystem> {
    system: &'a S,
    time: f64,
    start: Vector<S>,
    targets: Integrals<S>,
    hold: Hold,
    scales: Option<Vector<S>>,
    max_step: Option<f64>,
    max_steps: Option<u64>,
    map: Option<&'a dyn OneStep<Vector<S>>>,
    course: Course<'a>,
}

impl<'a, S: FeedbackSystem> Simulation<'a, S> {
    /// A simulation of `system` from `start`, which is its state type or a flat vector.
    ///
    /// By default it integrates X and projects the state onto the level set of all integrals once after each step, which holds
    /// every integral to rounding and has no number to choose: see [`Projector`](crate::Projector). A state with more than twelve
    /// entries for each integral is not projected, because one number cannot tell which of many entries erred;
    /// [`projected`](Self::projected) projects it nevertheless. [`gains`](Self::gains) and
    /// [`without_feedback`](Self::without_feedback) replace the default.
    ///
    /// A projection costs less than an RK4 step of a small system, and next to nothing with error control.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the start is not finite, if the start is off the constraint set, with the tolerance of
    /// [`Feedback::new`], or if constraints are dependent on one another there.
    pub fn new(system: &'a S, start: impl Into<Vector<S>>) -> Result<Self, Error> {
        let start = start.into();
        let targets = check_start(system, &start)?;
        let setup = Setup {
            system,
            time: system.facts().time_in(&start),
            start,
            targets,
            hold: Hold::ByDefault,
            scales: None,
            max_step: None,
            max_steps: None,
            map: None,
            course: Course::new(declared_events(system)),
        };
        Ok(Self { setup, field: Ok(PlainField::new(system)) })
    }

    /// Integrates the feedback field with these gains, without a projection unless one was chosen. Gains come before
    /// [`input`](Self::input); those that are not positive are reported by [`run`](Self::run).
    pub fn gains<K: GainPolicy<S>>(self, gains: Gains<K>) -> Simulation<'a, S, Feedback<S, K>> {
        let setup = self.without_feedback().setup;
        let field = Feedback::new(setup.system, &setup.start, gains);
        Simulation { setup, field }
    }

    /// Integrates the Dirac-extended field X, without a projection unless one was chosen.
    pub fn without_feedback(mut self) -> Self {
        self.setup.hold = Hold::Chosen(self.setup.hold.if_chosen());
        self
    }
}

impl<'a, S: FeedbackSystem, F> Simulation<'a, S, F> {
    /// The facts about the system.
    pub(crate) fn facts(&self) -> &'static SystemFacts {
        self.setup.system.facts()
    }

    /// Projects the state onto all integrals after each step, whatever the method, with feedback or without.
    pub fn projected(mut self, projection: Projection) -> Self {
        self.setup.hold = self.setup.hold.unless(Some(projection));
        self
    }

    /// Begins in another state than the start, by whose integrals targets and gains are set: where a run that continues another one begins,
    /// which has drifted from there.
    #[doc(hidden)]
    pub fn from_state(mut self, state: Vector<S>) -> Self {
        (self.setup.time, self.setup.start) = (self.facts().time_in(&state), state);
        self
    }

    /// The time at the start. The default is 0, or the time in the start's state where it is part of the state; then it has to be this
    /// time.
    pub fn from_time(mut self, time: f64) -> Self {
        self.setup.time = time;
        self
    }

    /// The time between two samples of the trajectory.
    ///
    /// With a fixed step it is rounded to whole steps; the default gives about 1000 samples. With error control samples between
    /// steps are dense output, which is not projected and costs DOP853 three evaluations in each step that has one; by default
    /// samples are steps, all of them up to 2000 or, beyond, every second, fourth and so on. The start and the end are always sampled.
    /// The drift is recorded at every step, whatever this is. [`record_steps`](Self::record_steps) samples every step.
    pub fn record_every(mut self, interval: f64) -> Self {
        self.setup.course.samples = Some(SampleTimes::Every(interval));
        self
    }

    /// A sample at the end of every step, by any method and however many there are.
    pub fn record_steps(mut self) -> Self {
        self.setup.course.samples = Some(SampleTimes::EveryStep);
        self
    }

    /// The times of the samples, which must increase and lie in the run, instead of an interval.
    ///
    /// With a fixed step a sample between the ends of two steps is the end of a shorter step by the same method, which is not
    /// projected; with error control it is dense output. The steps themselves are the same whatever the times are. The start and the
    /// end are sampled in addition.
    ///
    /// ```
    /// # use fbint_runtime::{Method, Simulation, feedback_system};
    /// # /// A mass on a spring.
    /// # #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
    /// # pub struct Oscillator;
    /// let start = OscillatorState { q: 1.0, p: 0.0 };
    /// let simulation = Simulation::new(&Oscillator, start)?.record_at([0.5, 3.14]);
    /// let run = simulation.run(Method::Rk4 { h: 0.1 }, 10.0)?;
    /// let times: Vec<f64> = run.trajectory().iter().map(|sample| sample.time).collect();
    /// assert_eq!(times, [0.0, 0.5, 3.14, 10.0]);
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn record_at(mut self, times: impl Into<Vec<f64>>) -> Self {
        self.setup.course.samples = Some(SampleTimes::At(times.into()));
        self
    }

    /// Keeps every step as a polynomial in time, so that [`Run::at`] has the state at any time of the run.
    ///
    /// With error control it is the method's dense output, which is of order 4 for Dormand and Prince 5(4) and Rodas5P and 7 for DOP853; a
    /// step of a fixed size is the cubic polynomial that has its states and their rates at both ends. The steps are the same as without.
    /// This takes three more evaluations a step with DOP853 and two with a fixed step, and memory for eight states. States within a step
    /// are not projected. A resumed run has the steps since then.
    ///
    /// ```
    /// # use fbint_runtime::{Method, Simulation, feedback_system};
    /// # /// A mass on a spring.
    /// # #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
    /// # pub struct Oscillator;
    /// let start = OscillatorState { q: 1.0, p: 0.0 };
    /// let run = Simulation::new(&Oscillator, start)?.dense().run(Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) }, 10.0)?;
    /// assert!((run.at(3.14).unwrap().q - 3.14_f64.cos()).abs() < 1e-10);
    /// assert!(run.at(10.5).is_none());
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn dense(mut self) -> Self {
        self.setup.course.is_dense = true;
        self
    }

    /// The typical size of each entry of the state, such as 30 for positions and 1e-6 for momenta: with error control the absolute
    /// tolerance of an entry is atol times its scale, or rtol times that where no absolute tolerance is given. Without scales, an absolute
    /// tolerance that is given holds for every entry, and another one follows from the sizes of variables: see
    /// [`Tolerance`](crate::Tolerance).
    pub fn scales(mut self, scales: impl Into<Vector<S>>) -> Self {
        self.setup.scales = Some(scales.into());
        self
    }

    /// The longest step of a method with error control, which is positive and finite. A method with a fixed step refuses it.
    ///
    /// Error control knows what the field is at the stages of a step, and nothing of what happens between them. A pulse of a force that
    /// is shorter than the steps before it may be passed by. Where the state has the time, a step is therefore at most a 250th of the run
    /// by default while nothing moves by more than a thousandth of the tolerance. This size bounds every step instead. Steps end where [held](crate::Held) inputs jump, whatever their size.
    ///
    /// ```
    /// # use fbint_runtime::{Method, Simulation, feedback_system};
    /// /// A mass on a spring that gets the impulse 1 at t = 500.
    /// #[feedback_system(
    ///     coordinates(x), momenta(p), time(t),
    ///     hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    ///     force(p = (-((t - 500) / s).powi(2)).exp() / (s * PI.sqrt())),
    /// )]
    /// pub struct Pulse { pub s: f64 }
    ///
    /// let pulse = Pulse { s: 0.005 };
    /// let start = PulseState { x: 0.0, p: 0.0, t: 0.0, work: 0.0 };
    /// let run = Simulation::new(&pulse, start)?.max_step(0.05).run(Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) }, 505.0)?;
    /// assert!((run.state().x - 5_f64.sin()).abs() < 1e-4);
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn max_step(mut self, size: f64) -> Self {
        self.setup.max_step = Some(size);
        self
    }

    /// The limit to the number of steps. With error control accepted and rejected steps count, the default is ten million, and a run that
    /// reaches the limit fails there; with a fixed step, which has no limit by default, a run that would take more steps is refused.
    pub fn max_steps(mut self, limit: u64) -> Self {
        self.setup.max_steps = Some(limit);
        self
    }

    /// The map that makes the steps of [`Method::OneStep`], such as a splitting or a [`Composition`](crate::Composition).
    ///
    /// ```
    /// # use fbint_runtime::{Composition, Method, Simulation, StormerVerlet, feedback_system};
    /// # /// A mass on a spring.
    /// # #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
    /// # pub struct Oscillator;
    /// let start = OscillatorState { q: 1.0, p: 0.0 };
    /// let of_order_4 = Composition(StormerVerlet::new(&Oscillator)?);
    /// let run = Simulation::new(&Oscillator, start)?.one_step(&of_order_4).run(Method::OneStep { h: 0.01 }, 10.0)?;
    /// assert!((run.state().q - 10_f64.cos()).abs() < 1e-7);
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn one_step(mut self, map: &'a dyn OneStep<Vector<S>>) -> Self {
        self.setup.map = Some(map);
        self
    }

    /// Makes the run even where the gains are too large for the step, to show the consequences.
    pub fn unaudited(mut self) -> Self {
        self.setup.course.is_audited = false;
        self
    }

    /// Looks for an event in every step, besides those that are declared with the system; may be called for several. [`Run::events`] has every occurrence with its time and state.
    ///
    /// An event occurs where its function changes its sign, in the direction of the event. Where it is exactly 0 at the end of a step, it
    /// occurs there. Where it is 0 at the start, or where the event has just ended a run or been reset, its side is the one to which it
    /// leaves: leaving is not an occurrence, coming back is. A reset itself makes no other event occur, however far it moves the state.
    ///
    /// Each step is searched for all sign changes, pairs of them too. The function is sampled at nine places along the step's dense
    /// output, or with a fixed step along a polynomial through what is known of it. Where the polynomial through these samples leaves open
    /// how often the sign changes, the step is searched piece by piece. A smooth function that oscillates up to a few hundred times
    /// within one step loses no sign change. One that is rough everywhere, such as the rounding of a quantity that is conserved, is
    /// compared at the ends of the step alone.
    ///
    /// Times are located to four spacings of doubles, far below 1e-12 of the larger of 1 and |t|, if the function is as exact; their
    /// distance from the solution's depends on the method. With error control, states within a step are its dense output; with a fixed step
    /// they are the ends of shorter steps by the same method. Both are projected where the run projects. The step has to be possible beyond
    /// the event, too, and all event functions have to be defined there.
    ///
    /// The search takes up to two evaluations of the field in a step of a fixed size, and three in a step of DOP853.
    ///
    /// Events that do not stop the run leave its steps unchanged, bit by bit. After a [reset](Event::reset) a method with a fixed step
    /// takes one shorter step to the end of the one it was in. Events that occur at once reset the state in the order in which they were
    /// given.
    ///
    /// ```
    /// # use fbint_runtime::{Event, Method, Simulation, feedback_system};
    /// # /// A mass on a spring.
    /// # #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
    /// # pub struct Oscillator;
    /// let start = OscillatorState { q: 1.0, p: 0.0 };
    /// let zero = Event::new("zero", |_, state: &OscillatorState| state.q);
    /// let fast = Event::new("fast", |_, state: &OscillatorState| state.p - 0.5).rising().terminal();
    /// let simulation = Simulation::new(&Oscillator, start)?.event(zero).event(fast);
    /// let run = simulation.run(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }, 10.0)?;
    ///
    /// // q = cos(t) and p = -sin(t).
    /// let pi = std::f64::consts::PI;
    /// for (occurrence, exact) in run.events().iter().zip([pi / 2.0, 7.0 * pi / 6.0]) {
    ///     assert!((occurrence.time - exact).abs() < 1e-11);
    /// }
    /// assert_eq!(run.ended_by().map(|end| end.name.as_str()), Some("fast"));
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn event(self, event: Event<'a, S::State>) -> Self {
        let dimension = self.facts().state.len();
        self.event_on_entries(event.flat::<Vector<S>>(dimension))
    }

    /// With another course.
    #[doc(hidden)]
    pub fn course(mut self, change: impl FnOnce(Course<'a>) -> Course<'a>) -> Self {
        self.setup.course = change(self.setup.course);
        self
    }

    /// Looks for an [`event`](Self::event) on the entries of the state.
    #[doc(hidden)]
    pub fn event_on_entries(mut self, event: Event<'a, Vec<f64>>) -> Self {
        self.setup.course.events.push(event);
        self
    }

    /// Shows the run to `watch`: at the start, after every step with error control or at least every 256 steps of a fixed size,
    /// and at the end, unless an event ends it. If it breaks, the run ends there, at the last state that was reached.
    ///
    /// ```
    /// use core::ops::ControlFlow;
    /// # use fbint_runtime::{Method, Simulation, feedback_system};
    /// # use nalgebra::vector;
    /// # /// A point mass on a circle.
    /// # #[feedback_system(
    /// #     coordinates(q: [2]),
    /// #     momenta(p: [2]),
    /// #     hamiltonian = p.norm_squared() / 2 + g * q.y,
    /// #     constraint(length = q.norm_squared() - 1),
    /// # )]
    /// # pub struct Pendulum { pub g: f64 }
    /// # let start = PendulumState { q: vector![1.0, 0.0], p: vector![0.0, 0.0] };
    /// # let pendulum = Pendulum { g: 1.0 };
    /// let method = Method::Rk4 { h: 1e-3 };
    /// let mut snapshot = None;
    /// let half = Simulation::new(&pendulum, start)?.watched(|moment| {
    ///     snapshot = Some(moment.snapshot());
    ///     if moment.time() < 5.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// });
    /// assert_eq!(half.run(method, 10.0)?.time(), 5.0);
    ///
    /// // The resumed run is bit-identical to one that was not interrupted.
    /// let resumed = Simulation::new(&pendulum, start)?.from_snapshot(snapshot.unwrap()).run(method, 10.0)?;
    /// assert_eq!(resumed.state(), Simulation::new(&pendulum, start)?.run(method, 10.0)?.state());
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn watched(mut self, watch: impl FnMut(&Moment<'_>) -> ControlFlow<()> + Send + 'a) -> Self {
        self.setup.course.observer = Box::new(watch);
        self
    }

    /// Resumes from a snapshot of a run of this simulation: of the same system, parameters, start, gains, projection, events and method.
    /// The result is bit-identical to the result of the uninterrupted run. A later end is not another run, as long as all steps of a fixed
    /// size before the snapshot were of that size; nor are inputs, which are not compared.
    pub fn from_snapshot(mut self, snapshot: Snapshot) -> Self {
        self.setup.course.from = Some(snapshot);
        self
    }

    /// With what settings that choose no projection leave to the simulation.
    #[cfg(feature = "ensemble")]
    pub(crate) fn held(mut self, hold: Hold) -> Self {
        self.setup.hold = hold;
        self
    }
}

impl<'a, S: FeedbackSystem, F: Field<Vector = Vector<S>>> Simulation<'a, S, F> {
    /// This run, with the kind of its field erased from the type: a program with many kinds of gains compiles the methods once, not once
    /// for each.
    pub fn boxed(self) -> Simulation<'a, S, Box<dyn Field<Vector = Vector<S>>>>
    where
        F: 'static,
    {
        let field: Result<Box<dyn Field<Vector = Vector<S>>>, Error> = match self.field {
            Ok(field) => Ok(Box::new(field)),
            Err(error) => Err(error),
        };
        Simulation { setup: self.setup, field }
    }

    /// As [`boxed`](Self::boxed), for a simulation that is given inputs afterwards.
    #[doc(hidden)]
    pub fn boxed_for_inputs(self) -> Simulation<'a, S, Box<dyn TakesInput<S, Vector = Vector<S>>>>
    where
        S: DrivenSystem,
        F: TakesInput<S> + 'static,
    {
        let field: Result<Box<dyn TakesInput<S, Vector = Vector<S>>>, Error> = match self.field {
            Ok(field) => Ok(Box::new(field)),
            Err(error) => Err(error),
        };
        Simulation { setup: self.setup, field }
    }

    /// Gives the inputs by a function of time and state, or by a [`Held`](crate::Held) table. Without this, they are 0. Gains are chosen
    /// before.
    ///
    /// ```
    /// # use fbint_runtime::{Held, Method, Simulation, feedback_system};
    /// # /// A mass on rails with a motor.
    /// # #[feedback_system(
    /// #     coordinates(x),
    /// #     momenta(p),
    /// #     hamiltonian = p.powi(2) / (2 * m),
    /// #     input(thrust),
    /// #     force(p = thrust),
    /// # )]
    /// # pub struct Trolley { pub m: f64 }
    /// let trolley = Trolley { m: 2.0 };
    /// let start = TrolleyState { x: 1.0, p: 0.0, time: 0.0, work: 0.0 };
    /// let method = Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) };
    ///
    /// // A controller that pulls the trolley to x = 0, and its own losses.
    /// let controller = |_: f64, state: &TrolleyState| TrolleyInput { thrust: -2.0 * state.x - 3.0 * state.p };
    /// let run = Simulation::new(&trolley, start)?.input(controller).run(method, 40.0)?;
    /// assert!(run.state().x.abs() < 1e-4);
    ///
    /// // Half a second of thrust in one direction, and half a second in the other.
    /// let table = Held::new([(0.0, TrolleyInput { thrust: 1.0 }), (0.5, TrolleyInput { thrust: -1.0 })], 1.0)?;
    /// let run = Simulation::new(&trolley, start)?.input(table).run(method, 1.0)?;
    /// assert!((run.state().x - 1.125).abs() < 1e-12 && run.state().p.abs() < 1e-12);
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn input<I: Signal<S>>(self, signal: I) -> Simulation<'a, S, Driven<S, F, I>>
    where
        S: DrivenSystem,
        F: TakesInput<S>,
    {
        Simulation { setup: self.setup, field: self.field.map(|field| Driven::new(field, signal)) }
    }

    /// Runs the simulation with a method until a time, which must be later than the time at the start.
    ///
    /// # Errors
    ///
    /// If the gains, the method, the end, the interval or the times of samples are out of range; if the system does not have the
    /// structure that the method needs ([`Error::NotApplicable`]); if states are projected, and constraints of a field that is given are
    /// too nearly dependent at the start for that; if no further step can be made, see
    /// [`Integrator::step`](crate::Integrator::step); if inputs are not known during all of the run, jump within a step of a fixed size, or are not finite; if the
    /// snapshot to resume from is of another run; or if the solution blows up: its state is not
    /// finite, or an integral is too far from its target.
    ///
    /// The size of an integral in a state is 1 + |target| + sum_j |dF/dx_j| |x_j|. A constraint may change by ten times its size
    /// at the start, an energy or an invariant by a million times; where states are projected after each step, any integral by its
    /// size: a projection that leaves more does not hold it. Changes below a tenth of the sizes before and after the step,
    /// or a hundredth where states are projected, are always allowed.
    ///
    /// With a fixed step the feedback is audited at the start and at every sample: where h times its largest rate of decay is
    /// beyond the method's real stability interval, the run is refused or ends, and the error says which step or gain would do.
    pub fn run(self, method: Method, until: f64) -> Result<Run<S>, Error> {
        let (run, steps) = self.integrate(method, until, None)?;
        Run::shaped(run, steps)
    }

    /// Like [`run_with`](Self::run_with), with a result that is compiled once for all systems. It may be shown to another function.
    #[doc(hidden)]
    pub fn run_flat(mut self, settings: &Settings, watch: Option<&mut Watch<'_>>) -> Result<FlatRun, Error> {
        self.setup.apply(settings);
        let entries = self.facts().state.len();
        let (mut run, steps) = self.integrate(settings.method, settings.until, watch)?;
        for step in &steps {
            for entry in 0..entries {
                run.dense_output.push(step.entry(entry));
            }
        }
        Ok(run)
    }

    /// Makes a run.
    fn integrate(self, method: Method, until: f64, watch: Option<&mut Watch<'_>>) -> Result<RunWithSteps<S>, Error> {
        let Self { setup, field } = self;
        let (field, of, start) = (field?, setup.system, setup.start);
        let span = Span::new(setup.time, until)?;
        check_driving(of.facts(), field.driver(), start.as_ref(), span)?;
        let Course { is_audited, is_dense, .. } = setup.course;
        let (samples, control) = (setup.course.interval(), setup.control(span)?);
        let projection = method.projection(of.facts(), setup.hold);
        let (system, parameter) = (of.prepare(), |index: usize| of.parameter(index));
        let parameters = Parameters { names: of.facts().parameter_names, value: &parameter };
        let origin = Origin::of(&parameters, method, projection.is_some(), field.decay_rate(&start));
        // A signal replaces laws, or leaves some to their samples.
        let has_samples = field.driver().is_none_or(Driver::has_sampled_laws);
        let mut run = setup.run_loop(&system, parameters, span, projection, origin, has_samples)?;
        run.show_to(watch);
        let stepping = method.stepping();
        let schedule = Schedule::of_method(method, span, samples?, control.given, of.facts())?;
        let interval = if is_audited { stepping.stability_interval() } else { f64::INFINITY };
        let kept = is_dense.then(Vec::new);
        let mut parts =
            VectorParts { system: of, field, start, stepping, control, schedule, interval, projection, kept };
        let run = run.complete(&mut parts, projection)?;
        Ok((run, parts.kept.unwrap_or_default()))
    }

    /// Runs the simulation with these settings instead of the builder's; without an interval between samples, with the builder's, and from
    /// [`from`](Settings::from) = 0 at the builder's time.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn run_with(mut self, settings: &Settings) -> Result<Run<S>, Error> {
        self.setup.apply(settings);
        self.run(settings.method, settings.until)
    }

    /// The state at the end of the steps of [`run_with`](Self::run_with), and nothing else: no drift is recorded, no sample taken, no gain
    /// audited, no watcher called, and a blow-up is not noticed. The result is bit-identical to the end of the run. With events it is that
    /// run.
    ///
    /// # Errors
    ///
    /// If the gains, the method or the end are out of range, or if no further step can be made.
    pub fn final_state(mut self, settings: &Settings) -> Result<S::State, Error> {
        if !self.setup.course.events.is_empty() || self.facts().has_switches() || self.facts().law_delay.is_some() {
            return self.run_flat(settings, None).map(|run| from_slice::<Vector<S>>(&run.state).into());
        }
        self.setup.apply(settings);
        let Self { setup, field } = self;
        let mut field = field?;
        let span = Span::new(setup.time, settings.until)?;
        check_driving(setup.system.facts(), field.driver(), setup.start.as_ref(), span)?;
        let control = setup.control(span)?;
        let projection = settings.method.projection(setup.system.facts(), setup.hold);
        let (start, targets) = setup.start_of_run(projection)?;
        if projection.is_some() {
            field.start_at(&start);
        }
        let lander = projection.map(|of| Lander::new(Projector::new(setup.system, &start, targets, of)));
        let (stepping, mut kept) = (settings.method.stepping(), None);
        let parameter = |index: usize| setup.system.parameter(index);
        let facts = setup.system.facts();
        let parameters = Parameters { names: facts.parameter_names, value: &parameter };
        let schedule = Schedule::of_method(settings.method, span, None, control.given, facts)?;
        let pace = Pace::new(schedule.as_ref(), field.driver(), f64::INFINITY);
        let ends = StepEnds { facts, lander, kept: &mut kept };
        let mut stepper = stepping.stepper(setup.system, &field, start, &control, ends)?;
        follow_alone(facts.state, &parameters, &mut *stepper, &pace, span, |_| false)?;
        Ok(from_slice::<Vector<S>>(stepper.end().1).into())
    }
}

/// A run, and the steps of a dense one.
type RunWithSteps<S> = (FlatRun, Vec<DenseOutput<Vector<S>>>);

impl<'a, S: FeedbackSystem> Setup<'a, S> {
    /// Takes these settings instead of the builder's.
    fn apply(&mut self, settings: &Settings) {
        let Settings { method: _, from, until: _, every, projection, max_step, max_steps } = *settings;
        self.hold = self.hold.unless(projection);
        if from != 0.0 {
            self.time = from;
        }
        self.course.sample_every(every);
        (self.max_step, self.max_steps) = (max_step.or(self.max_step), max_steps.or(self.max_steps));
    }

    fn control(&self, span: Span) -> Result<StepControl<'a, Vector<S>>, Error> {
        let given = GivenLimits { max_step: self.max_step, max_steps: self.max_steps };
        let limits = given.of_run(span, self.system.facts())?;
        Ok(StepControl { time: self.time, scales: self.scales, given, limits, map: self.map })
    }

    /// The start of a run and its targets, on the constraints if states are projected.
    fn start_of_run(&self, projection: Option<Projection>) -> Result<(Vector<S>, Integrals<S>), Error> {
        match projection {
            Some(_) if !self.course.is_onward() => projected_start(self.system, &self.start),
            _ => Ok((self.start, self.targets)),
        }
    }

    /// A run that is about to begin.
    fn run_loop<'r>(
        self,
        system: &'r dyn DynamicalSystem,
        parameters: Parameters<'r>,
        span: Span,
        projection: Option<Projection>,
        origin: Origin,
        has_samples: bool,
    ) -> Result<RunLoop<'r>, Error>
    where
        'a: 'r,
    {
        let (facts, (start, targets)) = (self.system.facts(), self.start_of_run(projection)?);
        RunLoop::new(RunInputs {
            system,
            parameters,
            span,
            given: facts.of_state::<S, _>(&self.start).to_vec(),
            start: facts.of_state::<S, _>(&start).to_vec(),
            targets: facts.of_integrals::<S, _>(&targets).to_vec(),
            is_projected: projection.is_some(),
            laws: LawSamples::of(facts, has_samples, self.system.law_period(), self.time)?,
            course: self.course,
            origin,
        })
    }
}

// By hand, because neither the field nor the observer can be printed.
impl<S: FeedbackSystem, F> fmt::Debug for Simulation<'_, S, F> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Simulation")
            .field("system", &self.facts().name)
            .field("start", &self.facts().of_state::<S, _>(&self.setup.start))
            .finish_non_exhaustive()
    }
}
