//! Derivatives of whole runs: variational equations, and the discrete adjoint.
//!
//! A step of an explicit Runge-Kutta method is a function of the state and the parameters, and this module computes the derivative of that
//! function, which does not approximate the derivative of the exact flow: [`step`] has its equations, the ones of a projection among them.

#[cfg(feature = "std")]
mod rosenbrock;
#[cfg(feature = "std")]
mod series;
mod step;

use derive_where::derive_where;

use crate::field::feedback::Feedback;
use crate::field::policy::{ConstantGain, GainPolicy};
use crate::hold::projection::{Projection, Projector};
use crate::stages::tableau::Tableau;
use crate::system::derivatives::{DifferentiableSystem, Direction, Gradient};
use crate::system::{Integrals, PreparedSystem, Vector};
#[cfg(feature = "std")]
pub use series::SeriesRun;
use step::{Adjoint, Change, Law, Passage, StepContext};

/// More checkpoints than this are not used: with them a run of 814,385 steps is repeated four times.
const MOST_CHECKPOINTS: usize = 64;

/// Derivatives of runs by their start, parameters and inputs: of the field X, or with
/// [`Feedback::sensitivity`](crate::Feedback::sensitivity) of a field with feedback whose gains are constant; where
/// [`projected`](Self::projected), of runs whose states are projected after each step.
///
/// Steps have a fixed size, parameters are constant, and inputs follow their declared laws or are constant: a law is differentiated by the
/// state and the parameters. Declared events neither end nor change the run. Steps pass the switches of a field as they are: where the field
/// jumps at one, the derivative lacks what the time of the jump contributes by its change. A derivative is exact for the numbers that the
/// method computes, up to rounding; where a run leaves the range of its field, it is not a number.
///
/// Everything that a [projection](Projector) depends on takes part: the targets of energies and invariants, which are their values at the
/// start, S, the estimates of errors by which entries of the state are moved, and the derivative with which a step begins. R alone, the
/// variance of rounding in the integrals, is held. It is to S as the square of rounding is to the square of the error of a step, and its
/// change adds as little: nothing measurable where a step errs by 1e-10 of the state, and up to 1e-4 of the derivative where it errs by a
/// few roundings. There the estimates of errors are rounding, too, which has no derivative, and so has S. Where integrals are dependent in
/// the metric of S, as in steady motions, the damping of the projection decides, and derivatives have about six digits. A start is not
/// moved onto the constraints, and no projection is [left out](crate::Run::left_out): for a run that leaves one out, these are derivatives
/// of another run.
///
/// ```
/// use fbint_runtime::{Direction, FeedbackSystem, Projection, Sensitivity, feedback_system, tableau::RK4};
///
/// /// A harmonic oscillator.
/// #[feedback_system(
///     coordinates(q),
///     momenta(p),
///     hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2,
///     derivatives,
/// )]
/// pub struct Oscillator { pub k: f64 }
///
/// let oscillator = Sensitivity::<Oscillator>::new(Oscillator { k: 1.0 }.prepare());
///
/// // How the end of a run to t = 1 changes with the momentum at its start: by (sin 1, cos 1).
/// let mut run = oscillator.along([1.0, 0.0], [Direction::of_state([0.0, 1.0])]);
/// for _ in 0..100 {
///     run.step(&RK4, 0.01);
/// }
/// let (end, [change]) = (*run.state(), run.derivatives());
/// assert!((change[0] - 1.0_f64.sin()).abs() < 1e-9);
///
/// // How q(1)^2 / 2 changes with everything, in memory for four states.
/// let (same, gradient) = oscillator.gradient(&RK4, [1.0, 0.0], 0.01, 100, 4, |x| [x[0], 0.0]);
/// assert_eq!(same, end);
/// assert!((gradient.along(&Direction::of_state([0.0, 1.0])) - end[0] * change[0]).abs() < 1e-14);
/// // q = cos(sqrt(k) t), so that dq/dk = -sin(1) / 2 at t = 1.
/// assert!((gradient.parameters[0] + 1.0_f64.cos() * 1.0_f64.sin() / 2.0).abs() < 1e-9);
///
/// // The same of the steps of a simulation, which hold the energy.
/// let held = oscillator.projected(Projection::default());
/// let (_, gradient) = held.gradient(&RK4, [1.0, 0.0], 0.01, 100, 4, |x| [x[0], 0.0]);
/// assert!((gradient.parameters[0] + 1.0_f64.cos() * 1.0_f64.sin() / 2.0).abs() < 1e-8);
/// ```
///
/// Laws that are sampled do not compile: between two samples the inputs depend on the state at the last one.
///
/// ```compile_fail,E0080
/// use fbint_runtime::{FeedbackSystem, Sensitivity, feedback_system};
///
/// /// A mass with a controller.
/// #[feedback_system(
///     coordinates(q),
///     velocities(v),
///     lagrangian = m * v.powi(2) / 2,
///     input(thrust = -q - v, every = 0.1),
///     force(v = thrust),
///     derivatives,
/// )]
/// pub struct Mass { pub m: f64 }
///
/// let mass = Sensitivity::<Mass>::new(Mass { m: 1.0 }.prepare());
/// ```
#[derive_where(Clone, Debug)]
pub struct Sensitivity<S: DifferentiableSystem> {
    system: S::Prepared<f64>,
    law: Option<Law<S>>,
    projection: Option<Projection>,
}

impl<S: DifferentiableSystem> Sensitivity<S> {
    /// Derivatives of runs with the field X of a system with its parameters, and with its inputs if it has any.
    pub fn new(system: S::Prepared<f64>) -> Self {
        const { Self::FOLLOWS_LAWS }
        Self { system, law: None, projection: None }
    }

    /// Fails to compile for laws that are sampled.
    const FOLLOWS_LAWS: () = assert!(
        S::FACTS.law_delay.is_none(),
        "the laws of this system's inputs are sampled, and derivatives of a run are of laws that are followed: leave out `every`"
    );

    /// Derivatives of runs with feedback.
    pub(crate) fn with_feedback(system: S::Prepared<f64>, gains: Integrals<S>, targets: Integrals<S>) -> Self {
        const { Self::FOLLOWS_LAWS }
        Self { system, law: Some(Law { gains, targets }), projection: None }
    }

    /// Derivatives of runs whose states are projected after each step, as a [`Simulation`](crate::Simulation) does by default with one
    /// iteration: a [`Projector`] onto the integrals at the start of the run makes the steps.
    pub fn projected(self, projection: Projection) -> Self {
        Self { projection: Some(projection), ..self }
    }

    /// A run from `start`, with the derivatives of its state along directions, which are solutions of the variational equations of its
    /// steps.
    pub fn along<const K: usize>(&self, start: Vector<S>, directions: [Direction<S>; K]) -> TangentRun<S, K> {
        let context = self.context(&start);
        let changes = directions.map(|direction| context.change(&start, &direction));
        TangentRun { context, passage: Passage::start(start), changes }
    }

    /// The end of a run of `steps` steps of size `h` from `start`, and the derivatives of a function E of the end by the start, the
    /// parameters and the inputs, where `slope` gives dE/dx at the end.
    ///
    /// The run is passed backwards. As many states of it as `checkpoints` says, 64 at most, are kept at a time, and others are computed
    /// again from these: with c checkpoints each step at most r + 1 times, where r is the least number with (c + r)! / (c! r!) >=
    /// `steps`. The result does not depend on their number. Allocates nothing.
    pub fn gradient<const N: usize>(
        &self,
        method: &Tableau<N>,
        start: Vector<S>,
        h: f64,
        steps: usize,
        checkpoints: usize,
        slope: impl FnOnce(&Vector<S>) -> Vector<S>,
    ) -> (Vector<S>, Gradient<S>) {
        let context = self.context(&start);
        let first = Passage::start(start);
        let mut end = first;
        context.advance_by(method, &mut end, h, steps);
        let mut adjoint = Adjoint::new(slope(&end.x));
        context.reverse(method, &first, h, steps, checkpoints.min(MOST_CHECKPOINTS), &mut adjoint);
        (end.x, context.gradient(&start, adjoint))
    }

    fn context(&self, start: &Vector<S>) -> StepContext<S> {
        let projector = self.projection.map(|projection| {
            let targets = crate::hold::consistent_start::targets::<S, f64>(&self.system, start);
            Projector::starting_at(self.system.clone(), start, targets, projection)
        });
        let from = self.system.facts().time_in(start);
        StepContext { system: self.system.clone(), law: self.law, projector, from }
    }
}

/// A run with derivatives of its state along `K` directions; see [`Sensitivity::along`].
#[derive_where(Clone, Debug)]
pub struct TangentRun<S: DifferentiableSystem, const K: usize> {
    context: StepContext<S>,
    passage: Passage<S>,
    changes: [Change<S>; K],
}

impl<S: DifferentiableSystem, const K: usize> TangentRun<S, K> {
    /// One step of size `h` of the state and of its derivatives. Steps of a run that has the time in its state have one size. Allocates
    /// nothing.
    pub fn step<const N: usize>(&mut self, method: &Tableau<N>, h: f64) {
        let taken = self.context.step(method, &mut self.passage, h);
        for change in &mut self.changes {
            self.context.push_forward(method, &taken, change);
        }
    }

    /// The state.
    pub fn state(&self) -> &Vector<S> {
        &self.passage.x
    }

    /// The derivative of the state along each of the directions.
    pub fn derivatives(&self) -> [Vector<S>; K] {
        self.changes.map(|change| *change.of_state())
    }
}

impl<S: DifferentiableSystem> StepContext<S> {
    fn advance_by<const N: usize>(&self, method: &Tableau<N>, passage: &mut Passage<S>, h: f64, steps: usize) {
        for _ in 0..steps {
            self.step(method, passage, h);
        }
    }

    /// The time after a number of steps, computed as in a simulation and not added up.
    fn time_after(&self, steps: u64, h: f64) -> f64 {
        self.from + steps as f64 * h
    }

    /// Passes `steps` steps from `start` backwards.
    fn reverse<const N: usize>(
        &self,
        method: &Tableau<N>,
        start: &Passage<S>,
        h: f64,
        steps: usize,
        checkpoints: usize,
        adjoint: &mut Adjoint<S>,
    ) {
        let mut remaining = steps;
        while remaining > 0 {
            let kept = remaining - 1;
            let forward = if checkpoints == 0 { kept } else { kept.min(first_part(remaining, checkpoints)) };
            let mut passage = *start;
            self.advance_by(method, &mut passage, h, forward);
            if remaining - forward == 1 {
                let taken = self.step(method, &mut passage, h);
                self.pull_back(method, &taken, adjoint);
            } else {
                self.reverse(method, &passage, h, remaining - forward, checkpoints - 1, adjoint);
            }
            remaining = forward;
        }
    }
}

/// The number of first steps to pass after the others, so that fewest are repeated (Griewank and Walther, *Evaluating Derivatives*, 12.3):
/// what is left fits one checkpoint less.
fn first_part(steps: usize, checkpoints: usize) -> usize {
    let mut repetitions = 1;
    while binomial(checkpoints + repetitions, checkpoints) < steps {
        repetitions += 1;
    }
    steps.saturating_sub(binomial(checkpoints + repetitions - 1, checkpoints - 1)).max(1)
}

/// n! / (k! (n - k)!), or the largest number.
fn binomial(n: usize, k: usize) -> usize {
    let product = (1..=k.min(n - k)).try_fold(1_usize, |product, i| Some(product.checked_mul(n + 1 - i)? / i));
    product.unwrap_or(usize::MAX)
}

impl<S, K> Feedback<S, K>
where
    S: DifferentiableSystem,
    K: GainPolicy<S, Weighted<f64> = ConstantGain<S, f64>>,
{
    /// Derivatives of runs with this field, for gains that do not depend on the state. F_target of the feedback is held: it does not
    /// follow a start that changes. Where states are [projected](Sensitivity::projected), too, the targets of the projection do.
    pub fn sensitivity(&self) -> Sensitivity<S> {
        Sensitivity::with_feedback(self.system().clone(), *self.constant_gains(), *self.targets())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::entries::Entries;
    use crate::stages::tableau::RK4;
    use crate::{DrivenSystem, FeedbackSystem, Method, Simulation, feedback_system};

    /// A trolley whose thrust follows the state, the time and the parameters; nothing gives the wind.
    #[feedback_system(
        coordinates(x),
        momenta(p),
        time(t),
        input(thrust = -k * x.sin() - d * rate(x) + (k * t).cos(), wind),
        hamiltonian = p.powi(2) / (2 * m) + x.powi(4) / 4,
        force(p = thrust + wind * x),
        derivatives,
        crate = crate,
    )]
    #[derive(Clone)]
    struct Trolley {
        m: f64,
        k: f64,
        d: f64,
    }

    const H: f64 = 0.05;
    const STEPS: usize = 40;

    /// Checks the derivatives of the runs that `sensitivity` has against differences of runs, and both ways against one another.
    fn assert_derivatives(sensitivity: impl Fn(&Trolley, f64) -> Sensitivity<Trolley>, changes_wind: bool) {
        let trolley = Trolley { m: 1.3, k: 0.7, d: 0.2 };
        let start: Vector<Trolley> = TrolleyState { x: 0.4, p: -0.3, t: 0.5, work: 0.0 }.into();
        let mut direction = Direction::<Trolley>::of_state(TrolleyState { x: 0.3, p: 0.2, t: 0.0, work: 0.0 }.into());
        direction.parameters = [0.5, -0.4, 0.7];
        direction.inputs = [0.0, if changes_wind { 0.6 } else { 0.0 }];
        let moved = |size: f64| {
            let Trolley { m, k, d } = trolley;
            let [dm, dk, dd]: [f64; 3] = direction.parameters.map(|change: f64| size * change);
            let run = sensitivity(&Trolley { m: m + dm, k: k + dk, d: d + dd }, 0.1 + size * direction.inputs[1]);
            (run, Entries::from_fn(|i| start[i] + size * direction.state[i]))
        };
        let end = |size: f64| {
            let (run, start) = moved(size);
            let mut run = run.along(start, []);
            (0..STEPS).for_each(|_| run.step(&RK4, H));
            *run.state()
        };
        let close = |found: &Vector<Trolley>, [below, above]: [Vector<Trolley>; 2], size: f64| {
            for i in 0..found.len() {
                let difference = (above[i] - below[i]) / (2.0 * size);
                assert!(
                    (found[i] - difference).abs() < 1e-8 * (1.0 + difference.abs()),
                    "{i}: {} {difference}",
                    found[i]
                );
            }
        };
        let (run, _) = moved(0.0);
        let mut along = run.along(start, [direction]);
        (0..STEPS).for_each(|_| along.step(&RK4, H));
        let [change] = along.derivatives();
        close(&change, [-1e-5, 1e-5].map(end), 1e-5);
        let weights: Vector<Trolley> = [0.3, -1.1, 0.0, 0.6];
        let (same, gradient) = run.gradient(&RK4, start, H, STEPS, 5, |_| weights);
        assert_eq!(same, *along.state());
        let by_change: f64 = weights.iter().zip(change).map(|(weight, change)| weight * change).sum();
        assert!((gradient.along(&direction) - by_change).abs() < 1e-12, "{} {by_change}", gradient.along(&direction));
        let step = |size: f64| {
            let (run, start) = moved(size);
            run.rodas5p_step(&start, 0.3, &[]).unwrap().0
        };
        if run.projection.is_none() {
            let (_, [change]) = run.rodas5p_step(&start, 0.3, &[direction]).unwrap();
            close(&change, [-1e-5, 1e-5].map(step), 1e-5);
        }
    }

    /// With their laws, inputs change with the state, the time and the parameters.
    #[test]
    fn laws_of_inputs_are_differentiated() {
        let under_wind = |trolley: &Trolley, wind| Trolley::with_input(trolley.prepare(), [0.0, wind]);
        let plain = |trolley: &Trolley, wind| Sensitivity::new(under_wind(trolley, wind));
        assert_derivatives(plain, true);
        assert_derivatives(|trolley, wind| plain(trolley, wind).projected(Projection::default()), true);
        let feedback = |trolley: &Trolley, _| {
            // The targets are held.
            let targets = Entries::from_fn(|_| 0.2);
            Sensitivity::with_feedback(trolley.prepare(), Entries::from_fn(|_| 0.3), targets)
        };
        assert_derivatives(feedback, false);
        let trolley = Trolley { m: 1.3, k: 0.7, d: 0.2 };
        let start = TrolleyState { x: 0.4, p: -0.3, t: 0.5, work: 0.0 };
        let run = Simulation::new(&trolley, start).unwrap().without_feedback();
        let run = run.run(Method::Rk4 { h: H }, 0.5 + STEPS as f64 * H).unwrap();
        let mut along = plain(&trolley, 0.0).along(start.into(), []);
        (0..STEPS).for_each(|_| along.step(&RK4, H));
        assert_eq!(run.state(), TrolleyState::from(*along.state()));
    }

    /// The number of steps that are made when a run is passed backwards.
    fn evaluations(steps: usize, checkpoints: usize) -> usize {
        let mut total = 0;
        let mut remaining = steps;
        while remaining > 0 {
            let forward =
                if checkpoints == 0 { remaining - 1 } else { (remaining - 1).min(first_part(remaining, checkpoints)) };
            let rest = remaining - forward;
            total += forward + if rest == 1 { 1 } else { evaluations(rest, checkpoints - 1) };
            remaining = forward;
        }
        total
    }

    #[test]
    fn no_step_is_made_more_often_than_promised() {
        for (steps, checkpoints) in [(1, 1), (7, 1), (1000, 1), (1000, 3), (1000, 10), (47_905, 64), (3, 8)] {
            let mut repetitions = 1;
            while binomial(checkpoints + repetitions, checkpoints) < steps {
                repetitions += 1;
            }
            let total = evaluations(steps, checkpoints);
            assert!(total <= (repetitions + 1) * steps, "{steps} {checkpoints} {total}");
        }
        assert_eq!(evaluations(4, 0), 10);
    }
}
