//! Derivatives of whole runs: variational equations, and the discrete adjoint.
//!
//! A step of an explicit Runge-Kutta method is a function of the state and the parameters, and what is computed here is the derivative
//! of that function, not an approximation of that of the exact flow. With X_i = x + h sum_{j<i} a_ij k_j, k_i = X(X_i) and
//! x+ = x + h sum_i b_i k_i, a direction v moves by
//!
//!   V_i = v + h sum_{j<i} a_ij k'_j,   k'_i = DX(X_i) V_i,   v+ = v + h sum_i b_i k'_i,
//!
//! and a gradient w+ by x+ becomes one by x, from the last stage to the first,
//!
//!   l_i = h b_i w+ + h sum_{j>i} a_ji m_j,   m_i = DX(X_i)^T l_i,   w = w+ + sum_i m_i.

use derive_where::derive_where;

use crate::derivatives::{DifferentiableSystem, Direction, Gradient};
use crate::entries::Entries;
use crate::linear::{filled, sum};
use crate::system::{FeedbackLaw, FeedbackSystem, Integrals, PreparedSystem, Vector};
use crate::tableau::Tableau;

/// More checkpoints than this are not used: with them a run of 814,385 steps is repeated four times.
const MOST_CHECKPOINTS: usize = 64;

/// Derivatives of runs by their start, parameters and inputs: of the field X, or with
/// [`Feedback::sensitivity`](crate::Feedback::sensitivity) of a field with feedback whose gains are constant. No projection takes
/// part.
///
/// Steps have a fixed size, parameters and inputs are constant. A derivative is exact for the numbers that the method computes, up to
/// rounding; where a run leaves the range of its field, it is not a number.
///
/// ```
/// use fbint_runtime::{Direction, FeedbackSystem, Sensitivity, feedback_system, tableau::RK4};
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
/// let mut x = [1.0, 0.0];
/// let mut directions = [Direction::<Oscillator>::of_state([0.0, 1.0])];
/// for _ in 0..100 {
///     oscillator.step(&RK4, &mut x, &mut directions, 0.01);
/// }
/// assert!((directions[0].state[0] - 1.0_f64.sin()).abs() < 1e-9);
///
/// // How q(1)^2 / 2 changes with everything, in memory for four states.
/// let (end, gradient) = oscillator.gradient(&RK4, [1.0, 0.0], 0.01, 100, 4, |x| [x[0], 0.0]);
/// assert_eq!(end, x);
/// assert!((gradient.along(&Direction::of_state([0.0, 1.0])) - x[0] * directions[0].state[0]).abs() < 1e-14);
/// // q = cos(sqrt(k) t), so that dq/dk = -sin(1) / 2 at t = 1.
/// assert!((gradient.parameters[0] + 1.0_f64.cos() * 1.0_f64.sin() / 2.0).abs() < 1e-9);
/// ```
#[derive_where(Clone, Copy, Debug)]
pub struct Sensitivity<S: DifferentiableSystem> {
    system: S::Prepared<f64>,
    law: Option<Law<S>>,
}

/// y = K (F - F_target) with a constant diagonal K.
#[derive_where(Clone, Copy, Debug)]
struct Law<S: FeedbackSystem> {
    gains: Integrals<S>,
    targets: Integrals<S>,
}

impl<S: FeedbackSystem> FeedbackLaw<S, f64> for Law<S> {
    fn weigh(&self, integrals: Integrals<S>) -> Integrals<S> {
        Entries::from_fn(|i| self.gains[i] * (integrals[i] - self.targets[i]))
    }
}

impl<S: DifferentiableSystem> Sensitivity<S> {
    /// Of runs with the field X of a system with its parameters, and with its inputs if it has any.
    pub fn new(system: S::Prepared<f64>) -> Self {
        Self { system, law: None }
    }

    /// Of runs with feedback.
    pub(crate) fn with_feedback(system: S::Prepared<f64>, gains: Integrals<S>, targets: Integrals<S>) -> Self {
        Self { system, law: Some(Law { gains, targets }) }
    }

    fn value(&self, x: &Vector<S>) -> Vector<S> {
        match &self.law {
            None => self.system.vector_field(x),
            Some(law) => self.system.feedback_field(x, law),
        }
    }

    fn tangent(&self, x: &Vector<S>, direction: &Direction<S>) -> Vector<S> {
        let (_, tangent) = match &self.law {
            None => S::vector_field_tangent(&self.system, x, direction),
            Some(Law { gains, targets }) => S::feedback_field_tangent(&self.system, x, gains, targets, direction),
        };
        tangent
    }

    fn adjoint(&self, x: &Vector<S>, weights: &Vector<S>) -> Gradient<S> {
        match &self.law {
            None => S::vector_field_adjoint(&self.system, x, weights),
            Some(Law { gains, targets }) => S::feedback_field_adjoint(&self.system, x, gains, targets, weights),
        }
    }

    /// One step of size `h` of the state, and of the derivative of the state along each direction: a direction's `state` is replaced,
    /// its `parameters` and `inputs` are constant. Allocates nothing.
    pub fn step<const N: usize>(
        &self,
        method: &Tableau<N>,
        x: &mut Vector<S>,
        directions: &mut [Direction<S>],
        h: f64,
    ) {
        let points = self.advance(method, x, h);
        for direction in directions {
            let mut moved = *direction;
            let mut k: [Vector<S>; N] = [filled(0.0); N];
            for i in 0..N {
                moved.state = method.point(i, &direction.state, h, &k);
                k[i] = self.tangent(&points[i], &moved);
            }
            direction.state = method.end_of(&direction.state, h, &k);
        }
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
        let mut end = start;
        self.advance_by(method, &mut end, h, steps);
        let mut gradient =
            Gradient { state: slope(&end), parameters: Entries::from_fn(|_| 0.0), inputs: Entries::from_fn(|_| 0.0) };
        self.reverse(method, &start, h, steps, checkpoints.min(MOST_CHECKPOINTS), &mut gradient);
        (end, gradient)
    }

    /// Passes `steps` steps from `start` backwards.
    fn reverse<const N: usize>(
        &self,
        method: &Tableau<N>,
        start: &Vector<S>,
        h: f64,
        steps: usize,
        checkpoints: usize,
        gradient: &mut Gradient<S>,
    ) {
        let mut remaining = steps;
        while remaining > 0 {
            let kept = remaining - 1;
            let forward = if checkpoints == 0 { kept } else { kept.min(first_part(remaining, checkpoints)) };
            let mut x = *start;
            self.advance_by(method, &mut x, h, forward);
            if remaining - forward == 1 {
                self.step_back(method, x, h, gradient);
            } else {
                self.reverse(method, &x, h, remaining - forward, checkpoints - 1, gradient);
            }
            remaining = forward;
        }
    }

    /// Takes a gradient by the end of the step from `x` to one by `x`.
    fn step_back<const N: usize>(&self, method: &Tableau<N>, mut x: Vector<S>, h: f64, gradient: &mut Gradient<S>) {
        let points = self.advance(method, &mut x, h);
        let mut m: [Vector<S>; N] = [filled(0.0); N];
        for i in (0..N).rev() {
            let weights = method.transposed(&gradient.state, h, i, &m);
            let by = self.adjoint(&points[i], &weights);
            m[i] = by.state;
            gradient.parameters = Entries::from_fn(|j| gradient.parameters[j] + by.parameters[j]);
            gradient.inputs = Entries::from_fn(|j| gradient.inputs[j] + by.inputs[j]);
        }
        gradient.state = m.iter().rev().fold(gradient.state, |total, part| sum(&total, 1.0, part));
    }

    fn advance_by<const N: usize>(&self, method: &Tableau<N>, x: &mut Vector<S>, h: f64, steps: usize) {
        for _ in 0..steps {
            method.step(|x| self.value(x), x, h);
        }
    }

    /// One step, and where its stages are evaluated.
    fn advance<const N: usize>(&self, method: &Tableau<N>, x: &mut Vector<S>, h: f64) -> [Vector<S>; N] {
        let start = *x;
        let k = method.stages(|x| self.value(x), x, h, self.value(&start));
        core::array::from_fn(|i| method.point(i, &start, h, &k))
    }
}

/// How many of the first steps are passed after the others, so that fewest are repeated (Griewank and Walther, *Evaluating
/// Derivatives*, 12.3): what is left fits one checkpoint less.
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

#[cfg(test)]
mod tests {
    use super::*;

    /// How often the steps of a run are made when it is passed backwards.
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
