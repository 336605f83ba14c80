//! A run from a start to an end, which reports what it did to the integrals.
//!
//! With a fixed step, step n ends at t = n h, computed and not accumulated; with error control steps end where the controller
//! says. The last step is shortened to end exactly where asked. After every step the state is corrected if that was asked
//! for, and the integrals are evaluated, recorded and compared with a generous bound: a run that leaves it, or whose state is
//! no longer finite, has blown up and is an error, not a result. A run can be watched, broken off, and gone on with from a
//! [`Snapshot`] as if nothing had happened.

mod course;
mod schedule;
mod snapshot;

use core::fmt;
use core::ops::ControlFlow;

use nalgebra::{ArrayStorage, SVector};

pub(crate) use self::course::Audit;
#[cfg(feature = "ensemble")]
pub(crate) use self::course::bounds;
use self::course::{Course, Steps, Watch};
#[cfg(feature = "ensemble")]
pub(crate) use self::schedule::Sampling;
pub(crate) use self::schedule::Schedule;
pub use self::snapshot::{Moment, Snapshot};
use crate::consistent_start::check_start;
use crate::integrator::MAX_STEPS;
use crate::tableau::{EULER, HEUN, MIDPOINT, RK4};
use crate::{
    Correction, Dependence, Drift, Error, Feedback, FeedbackSystem, Field, GainMatrix, GainPolicy, Gains, Integrator,
    OneStep, PlainField, PreparedSystem, Projected, Projector, Scalar, Tolerance,
};

/// Where the real stability interval of the classical Runge-Kutta method of order 4 ends (HW IV.2); those of the methods of
/// order 1 and 2 end at 2.
const RK4_INTERVAL: f64 = 2.785;

/// A run to be made: a system, a start, a method and an end, with feedback or without.
pub struct Simulation<'a, S, F, const N: usize, const M: usize> {
    system: &'a S,
    start: SVector<f64, N>,
    targets: SVector<f64, M>,
    field: Result<F, Error>,
    method: Option<Method>,
    until: Option<f64>,
    interval: Option<f64>,
    /// Unless one is asked for: none with gains or without feedback, else one after each step.
    correction: Option<Correction>,
    max_steps: u64,
    is_audited: bool,
    watch: Watch<'a>,
    from: Option<Snapshot>,
}

/// An explicit Runge-Kutta method, with a fixed step `h` or with error control.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
#[cfg_attr(feature = "serde", serde(rename_all = "kebab-case"))]
pub enum Method {
    /// The explicit Euler method, of order 1.
    Euler {
        /// The step.
        h: f64,
    },
    /// The explicit midpoint rule, of order 2.
    Midpoint {
        /// The step.
        h: f64,
    },
    /// The explicit trapezoidal rule, of order 2, known as Heun's method.
    Heun {
        /// The step.
        h: f64,
    },
    /// The classical Runge-Kutta method, of order 4.
    Rk4 {
        /// The step.
        h: f64,
    },
    /// Dormand and Prince's method of order 5(4) with error control; see [`Integrator`].
    DormandPrince {
        /// The relative tolerance of a step.
        rtol: f64,
        /// The absolute tolerance of a step.
        atol: f64,
    },
    /// Dormand and Prince's method of order 8(5, 3) with error control; see [`Integrator`].
    Dop853 {
        /// The relative tolerance of a step.
        rtol: f64,
        /// The absolute tolerance of a step.
        atol: f64,
    },
}

impl Method {
    /// One step of a method with a fixed step, see [`Projector::step`]; a method with error control makes no step.
    #[inline]
    pub fn projected_step<P: PreparedSystem<N, M>, T: Scalar, const N: usize, const M: usize>(
        &self,
        projector: &mut Projector<P, T, N, M>,
        field: impl Fn(&SVector<T, N>) -> SVector<T, N>,
        x: &mut SVector<T, N>,
        h: T,
    ) -> Projected<T, N, M> {
        match self {
            Self::Euler { .. } => projector.step(&EULER, field, x, h),
            Self::Midpoint { .. } => projector.step(&MIDPOINT, field, x, h),
            Self::Heun { .. } => projector.step(&HEUN, field, x, h),
            Self::Rk4 { .. } => projector.step(&RK4, field, x, h),
            Self::DormandPrince { .. } | Self::Dop853 { .. } => {
                let zero = T::from_f64(0.0);
                let violation = SVector::from_array_storage(ArrayStorage([[zero; M]]));
                Projected { violation, correction: SVector::from_array_storage(ArrayStorage([[zero; N]])) }
            }
        }
    }

    /// Where its real stability interval ends; with error control, which shortens a step that is too long, nowhere.
    pub(crate) fn stability_interval(&self) -> f64 {
        match self {
            Self::Euler { .. } | Self::Midpoint { .. } | Self::Heun { .. } => 2.0,
            Self::Rk4 { .. } => RK4_INTERVAL,
            Self::DormandPrince { .. } | Self::Dop853 { .. } => f64::INFINITY,
        }
    }
}

impl<'a, S, const N: usize, const M: usize> Simulation<'a, S, PlainField<S::Prepared, M>, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// A simulation of `system` from `start`, which is its state type or a flat vector.
    ///
    /// By default it integrates X and projects the state onto the level set of all integrals once after each step, which holds
    /// every integral to rounding and has no number to choose: see [`Projector`]. A state with more than twelve entries for each
    /// integral is not projected, because one number cannot tell which of many entries erred; [`corrected`](Self::corrected)
    /// projects it nevertheless. [`gains`](Self::gains) and [`without_feedback`](Self::without_feedback) replace the default.
    ///
    /// A projection costs less than an RK4 step of a small system, and next to nothing with error control.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the start is not finite, if the start is off the constraint set, where the tolerance is
    /// that of [`Feedback::new`], or if constraints are dependent on one another there.
    pub fn new(system: &'a S, start: impl Into<SVector<f64, N>>) -> Result<Self, Error> {
        let start = start.into();
        let targets = check_start(system, &start)?;
        Ok(Self {
            system,
            start,
            targets,
            field: Ok(PlainField::new(system)),
            method: None,
            until: None,
            interval: None,
            correction: None,
            max_steps: MAX_STEPS,
            is_audited: true,
            watch: Box::new(|_| ControlFlow::Continue(())),
            from: None,
        })
    }
}

impl<'a, S, F, const N: usize, const M: usize> Simulation<'a, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// Integrates the feedback field with these gains, and does not correct the state besides unless asked to. Gains that will
    /// not do are reported by [`run`](Self::run).
    pub fn gains<K: GainPolicy<M>, L: GainMatrix<N>>(
        self,
        gains: Gains<K, L>,
    ) -> Simulation<'a, S, Feedback<S, K, L, N, M>, N, M> {
        let field = Feedback::new(self.system, &self.start, gains);
        self.with_field(field)
    }

    /// Integrates the Dirac-extended field X, and does not correct the state unless asked to.
    pub fn without_feedback(self) -> Simulation<'a, S, PlainField<S::Prepared, M>, N, M> {
        let field = Ok(PlainField::new(self.system));
        self.with_field(field)
    }

    /// Corrects the state after each step onto all integrals, whatever the method, with feedback or without.
    pub fn corrected(mut self, correction: Correction) -> Self {
        self.correction = Some(correction);
        self
    }

    /// The method and its step or tolerances. There is no default, because no step suits every system.
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// The time at which the run ends; it starts at 0. There is no default.
    pub fn until(mut self, time: f64) -> Self {
        self.until = Some(time);
        self
    }

    /// The time between two samples of the trajectory.
    ///
    /// With a fixed step it is rounded to whole steps, and such that there are about 1000 samples unless given. With error
    /// control samples between steps are dense output, which is not corrected and costs DOP853 three evaluations in each step
    /// that has one; unless an interval is given, samples are steps, all of them up to 2000 or, beyond, every second, fourth and
    /// so on. The start and the end are always sampled. The drift is recorded at every step, whatever this is.
    pub fn record_every(mut self, interval: f64) -> Self {
        self.interval = Some(interval);
        self
    }

    /// The limit to the number of steps, accepted and rejected, of a method with error control; ten million unless given.
    pub fn max_steps(mut self, limit: u64) -> Self {
        self.max_steps = limit;
        self
    }

    /// Makes the run even where the gains are too large for the step, to see what comes of it.
    pub fn unaudited(mut self) -> Self {
        self.is_audited = false;
        self
    }

    /// Shows the run to `watch`: at the start, after every step with error control or at least every 256 steps of a fixed size,
    /// and at the end. If it breaks, the run ends there, at the last state that was reached.
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
    /// let simulation = || -> Result<_, fbint_runtime::Error> {
    ///     Ok(Simulation::new(&pendulum, start)?.method(Method::Rk4 { h: 1e-3 }).until(10.0))
    /// };
    /// let mut snapshot = None;
    /// let half = simulation()?.watched(|moment| {
    ///     snapshot = Some(moment.snapshot());
    ///     if moment.time() < 5.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    /// });
    /// assert_eq!(half.run()?.time(), 5.0);
    ///
    /// // The rest, bit by bit as if it had not been broken off.
    /// let rest = simulation()?.from_snapshot(snapshot.unwrap()).run()?;
    /// assert_eq!(rest.state(), simulation()?.run()?.state());
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    pub fn watched(mut self, watch: impl FnMut(&Moment<'_>) -> ControlFlow<()> + 'a) -> Self {
        self.watch = Box::new(watch);
        self
    }

    /// Goes on from a snapshot that was taken from a run of this very simulation: the same system, start, gains, method and
    /// end. What comes out is what the run would have given, bit by bit.
    pub fn from_snapshot(mut self, snapshot: Snapshot) -> Self {
        self.from = Some(snapshot);
        self
    }

    /// With another field, and no correction unless one was asked for.
    fn with_field<G>(self, field: Result<G, Error>) -> Simulation<'a, S, G, N, M> {
        let correction = self.correction.or(Some(Correction::times(0)));
        Simulation { correction, ..self.map_field(|_| field) }
    }

    fn map_field<G>(self, map: impl FnOnce(Result<F, Error>) -> Result<G, Error>) -> Simulation<'a, S, G, N, M> {
        Simulation {
            system: self.system,
            start: self.start,
            targets: self.targets,
            field: map(self.field),
            method: self.method,
            until: self.until,
            interval: self.interval,
            correction: self.correction,
            max_steps: self.max_steps,
            is_audited: self.is_audited,
            watch: self.watch,
            from: self.from,
        }
    }
}

impl<'a, S, F, const N: usize, const M: usize> Simulation<'a, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
    F: Field<N>,
{
    /// The same simulation with the kind of its field taken out of the type: a program that offers many kinds of gains compiles
    /// the methods once, not once for each.
    pub fn boxed(self) -> Simulation<'a, S, Box<dyn Field<N>>, N, M>
    where
        F: 'static,
    {
        self.map_field(|field| field.map(|field| Box::new(field) as Box<dyn Field<N>>))
    }

    /// Makes the run.
    ///
    /// # Errors
    ///
    /// If the gains, the method, the end or the interval will not do; if no further step can be made, see
    /// [`Integrator::step`]; if the snapshot to go on from is of another run; or if the solution blows up: its state is no
    /// longer finite, or an integral is further from its target than 10^6 (1 + |target| + sum_j |dF/dx_j| |x_j|) of the start.
    /// With a fixed step the feedback is audited at the start and at every sample: where h times its largest rate of decay is
    /// beyond the method's real stability interval, the run is refused or ends, and the error says which step or gain would do.
    pub fn run(self) -> Result<Run<S::State, N, M>, Error> {
        let field = self.field?;
        let method = self.method.ok_or(Error::NotSet { what: "method", call: "method(Method::Rk4 { h: 1e-3 })" })?;
        let until = self.until.ok_or(Error::NotSet { what: "end", call: "until(100.0)" })?;
        let (start, interval) = (self.start, self.interval);
        let correction = self.correction.unwrap_or(Correction::by_default::<N, M>());
        let course = Course::new(self.system, start, self.targets, correction, self.watch, self.from)?;
        let decay_rate = |x: &SVector<f64, N>| field.decay_rate(x);
        let audit = Audit {
            interval: if self.is_audited { method.stability_interval() } else { f64::INFINITY },
            decay_rate: &decay_rate,
        };
        let schedule = |h| Schedule::new(h, until, interval);
        let projected = |projector: &mut _, x: &mut _, h| method.projected_step(projector, |x| field.value(x), x, h);
        let steps = |alone| Steps { alone, projected: &projected };
        match method {
            Method::Euler { h } => {
                course.with_fixed_steps(schedule(h)?, 1, audit, steps(&|x, h| field.euler_step(x, h)))
            }
            Method::Midpoint { h } => {
                let step = |x: &mut _, h| MIDPOINT.step(|x| field.value(x), x, h);
                course.with_fixed_steps(schedule(h)?, 2, audit, steps(&step))
            }
            Method::Heun { h } => {
                let step = |x: &mut _, h| HEUN.step(|x| field.value(x), x, h);
                course.with_fixed_steps(schedule(h)?, 2, audit, steps(&step))
            }
            Method::Rk4 { h } => course.with_fixed_steps(schedule(h)?, 4, audit, steps(&|x, h| field.rk4_step(x, h))),
            Method::DormandPrince { rtol, atol } => {
                let integrator = Integrator::dormand_prince(&field, start, Tolerance::new(rtol, atol)?);
                course.with_error_control(integrator.with_max_steps(self.max_steps), until, interval)
            }
            Method::Dop853 { rtol, atol } => {
                let integrator = Integrator::dop853(&field, start, Tolerance::new(rtol, atol)?);
                course.with_error_control(integrator.with_max_steps(self.max_steps), until, interval)
            }
        }
    }
}

impl<S, F, const N: usize, const M: usize> Simulation<'_, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// Makes the run by a geometric integrator with step `h` instead of an explicit Runge-Kutta method. It integrates the
    /// system itself: gains have no part in it, and the state is not corrected unless that was asked for.
    ///
    /// # Errors
    ///
    /// If the step, the end or the interval will not do, if the snapshot to go on from is of another run, or if the solution
    /// blows up, as in [`run`](Self::run).
    pub fn run_by(self, method: &impl OneStep<N>, h: f64) -> Result<Run<S::State, N, M>, Error> {
        let until = self.until.ok_or(Error::NotSet { what: "end", call: "until(100.0)" })?;
        let schedule = Schedule::new(h, until, self.interval)?;
        let correction = self.correction.unwrap_or(Correction::times(0));
        let course = Course::new(self.system, self.start, self.targets, correction, self.watch, self.from)?;
        let audit = Audit { interval: f64::INFINITY, decay_rate: &|_| 0.0 };
        let steps = Steps {
            alone: &|x, h| method.step(x, h),
            // It estimates no error: every entry counts alike.
            projected: &|projector, x, h| {
                method.step(x, h);
                projector.project(&SVector::repeat(1.0), x)
            },
        };
        course.with_fixed_steps(schedule, method.evaluations_per_step(), audit, steps)
    }
}

// By hand, because a derived one would ask that the system implement it too.
impl<S, F, const N: usize, const M: usize> fmt::Debug for Simulation<'_, S, F, N, M>
where
    S: FeedbackSystem<N, M>,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Simulation")
            .field("system", &S::NAME)
            .field("start", &self.start)
            .field("method", &self.method)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// What a run gave. `X` is the state type of the system.
#[derive(Clone, Debug)]
pub struct Run<X, const N: usize, const M: usize> {
    time: f64,
    state: X,
    drift: Drift<M>,
    trajectory: Vec<Sample<N, M>>,
    steps: u64,
    evaluations: u64,
    dependence: Option<Dependence>,
    largest_projection: Option<LargestProjection>,
}

/// The projection of a run that was largest in units of the error of its step.
///
/// Where it is of the order of 1 or below, projections have corrected errors of the method and nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LargestProjection {
    /// The time after the step.
    pub time: f64,
    /// The entry of the state that was moved furthest in these units.
    pub entry: &'static str,
    /// By how much it was moved.
    pub distance: f64,
    /// That distance in units of the error that the method estimates for this entry, as a running mean over about ten steps.
    pub per_error: f64,
    /// That distance in units of the tolerance, rtol |x| + atol, of a method with error control.
    pub per_tolerance: Option<f64>,
}

/// A state on the way.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sample<const N: usize, const M: usize> {
    /// The time.
    pub time: f64,
    /// The state, flat.
    pub state: SVector<f64, N>,
    /// F - F_target there.
    pub change: SVector<f64, M>,
}

impl<X: Clone, const N: usize, const M: usize> Run<X, N, M> {
    /// The time at the end, exactly the one that was asked for unless the run was broken off.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The state at the end.
    pub fn state(&self) -> X {
        self.state.clone()
    }

    /// What the run did to every integral, recorded at every step.
    pub fn drift(&self) -> &Drift<M> {
        &self.drift
    }

    /// The samples, from the start to the end.
    pub fn trajectory(&self) -> &[Sample<N, M>] {
        &self.trajectory
    }

    /// Where the run passed so near to a state in which constraints are dependent that integrals jumped, the nearest such
    /// state. The field is singular there: what a method with a fixed step makes of it is not to be trusted.
    pub fn dependence(&self) -> Option<&Dependence> {
        self.dependence.as_ref()
    }

    /// The projection that was largest in units of the error of its step, if states were projected.
    pub fn largest_projection(&self) -> Option<&LargestProjection> {
        self.largest_projection.as_ref()
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The number of evaluations of the field.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}
