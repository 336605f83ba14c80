//! The derivative of one step.
//!
//! With X_i = x + h sum_{j<i} a_ij k_j, k_i = X(X_i) and e = x + h sum_i b_i k_i, a direction v moves by
//!
//! ```text
//! V_i = v + h sum_{j<i} a_ij k'_j,   k'_i = DX(X_i) V_i,   e' = v + h sum_i b_i k'_i,
//! ```
//!
//! and a gradient w by e becomes one by x, from the last stage to the first,
//!
//! ```text
//! l_i = h b_i w + h sum_{j>i} a_ji m_j,   m_i = DX(X_i)^T l_i,   w + sum_i m_i.
//! ```
//!
//! A step that is projected begins with k_1 = f instead, and ends with
//!
//! ```text
//! x+ = e - P(e, S),   f+ = X(e),   r = h (sum_i d_i k_i + d f+),
//! s = r^2 + (u e)^2,   S = m,   m+ = 0.9 m + 0.1 s,   but S = m+ = s   where s > 10,000 m,
//! ```
//!
//! where f and m are what the step before has left, and u is the unit of rounding. The first step begins with k_1 = X(x) and m = 0.
//! All of it is differentiated: what the run carries from step to step is (x, m, f), and so are its changes and its gradients.

use derive_where::derive_where;

use crate::field::laws::under_law;
use crate::hold::projection::{LAST, Projector, SPIKE};
use crate::numbers::entries::Entries;
use crate::numbers::linear::{difference, filled, sum};
use crate::stages::tableau::Tableau;
use crate::system::derivatives::{DifferentiableSystem, Direction, Gradient, PreparedDirection, ProjectionGradient};
use crate::system::{FeedbackLaw, FeedbackSystem, Integrals, PreparedSystem, Vector};

/// y = K (F - F_target) with a constant diagonal K.
#[derive_where(Clone, Copy, Debug)]
pub(super) struct Law<S: FeedbackSystem> {
    pub(super) gains: Integrals<S>,
    pub(super) targets: Integrals<S>,
}

impl<S: FeedbackSystem> FeedbackLaw<S, f64> for Law<S> {
    fn weigh(&self, integrals: Integrals<S>) -> Integrals<S> {
        Entries::from_fn(|i| self.gains[i] * (integrals[i] - self.targets[i]))
    }
}

/// The data that all steps of a run share.
#[derive_where(Clone, Debug)]
pub(super) struct StepContext<S: DifferentiableSystem> {
    pub(super) system: S::Prepared<f64>,
    pub(super) law: Option<Law<S>>,
    /// At the start.
    pub(super) projector: Option<Projector<S>>,
    /// The time at the start, or 0 where the state does not have it.
    pub(super) from: f64,
}

/// The field of a system, with feedback by a law if there is one.
pub(super) fn value<S: DifferentiableSystem>(
    system: &S::Prepared<f64>,
    law: Option<&Law<S>>,
    x: &Vector<S>,
) -> Vector<S> {
    let mut under = None;
    let system = under_law::<S, f64>(system, x, &mut under);
    match law {
        None => system.vector_field(x),
        Some(law) => system.feedback_field(x, law),
    }
}

/// A run at the end of a step.
#[derive_where(Clone, Copy, Debug)]
pub(super) struct Passage<S: FeedbackSystem> {
    pub(super) x: Vector<S>,
    /// The number of steps so far.
    steps: u64,
    /// The memory of a projector: m, and f.
    memory: (Vector<S>, Option<Vector<S>>),
}

impl<S: FeedbackSystem> Passage<S> {
    pub(super) fn start(x: Vector<S>) -> Self {
        Self { x, steps: 0, memory: (filled(0.0), None) }
    }
}

/// A step that was made.
pub(super) struct Taken<S: FeedbackSystem, const N: usize> {
    h: f64,
    /// Where the stages are evaluated.
    points: [Vector<S>; N],
    projection: Option<TakenProjection<S>>,
}

struct TakenProjection<S: FeedbackSystem> {
    /// `true` if it is the first of its run.
    is_first: bool,
    /// Where the step ended before its end was projected: e.
    end: Vector<S>,
    /// The estimate of its error: r.
    error: Vector<S>,
    /// Its square plus the square of rounding: s.
    squares: Vector<S>,
    /// Their mean before the step: m.
    mean: Vector<S>,
    /// The diagonal of S in the projection.
    variances: Vector<S>,
}

impl<S: FeedbackSystem> TakenProjection<S> {
    /// Returns `true` if the estimate of entry i takes the place of its mean.
    fn has_spike(&self, i: usize) -> bool {
        self.squares[i] > SPIKE * self.mean[i]
    }
}

/// The derivative of a run along a direction.
#[derive_where(Clone, Copy, Debug)]
pub(super) struct Change<S: DifferentiableSystem> {
    direction: PreparedDirection<S>,
    /// `true` if the parameters and the inputs do not change.
    is_of_state: bool,
    /// The change of m.
    mean: Vector<S>,
    /// The change of f.
    derivative: Vector<S>,
    targets: Integrals<S>,
}

impl<S: DifferentiableSystem> Change<S> {
    pub(super) fn of_state(&self) -> &Vector<S> {
        &self.direction.state
    }
}

/// The derivatives of a function of the end of a run by what the run is at the end of a step, and by what all steps have in common.
pub(super) struct Adjoint<S: DifferentiableSystem> {
    x: Vector<S>,
    mean: Vector<S>,
    derivative: Vector<S>,
    targets: Integrals<S>,
    parameters: S::ByParameters<f64>,
    inputs: S::ByInputs<f64>,
}

impl<S: DifferentiableSystem> Adjoint<S> {
    /// At the end of a run.
    pub(super) fn new(x: Vector<S>) -> Self {
        Self {
            x,
            mean: filled(0.0),
            derivative: filled(0.0),
            targets: filled(0.0),
            parameters: filled(0.0),
            inputs: filled(0.0),
        }
    }

    /// Adds what parameters and inputs have in a gradient, each times a factor.
    fn add_constants(&mut self, factor: f64, gradient: &Gradient<S>) {
        self.parameters = sum(&self.parameters, factor, &gradient.parameters);
        self.inputs = sum(&self.inputs, factor, &gradient.inputs);
    }
}

impl<S: DifferentiableSystem> StepContext<S> {
    /// Makes a step.
    pub(super) fn step<const N: usize>(&self, method: &Tableau<N>, passage: &mut Passage<S>, h: f64) -> Taken<S, N> {
        let (start, field) = (passage.x, |x: &Vector<S>| value::<S>(&self.system, self.law.as_ref(), x));
        let facts = self.system.facts();
        let points = |k: &[Vector<S>; N]| core::array::from_fn(|i| method.point(i, &start, h, k));
        passage.steps += 1;
        let time = self.time_after(passage.steps, h);
        let taken = match self.projector.clone() {
            None => {
                let k = method.stages(field, &mut passage.x, h, field(&start));
                Taken { h, points: points(&k), projection: None }
            }
            Some(mut projector) => {
                let (mean, derivative) = passage.memory;
                projector.remember(mean, derivative);
                let step = projector.advance(method, field, &mut passage.x, h, time);
                let landing = &step.landing;
                let error = method.error_of(facts).of(&step.stages, &step.derivative, h);
                let projection = TakenProjection {
                    is_first: derivative.is_none(),
                    end: landing.end,
                    error,
                    squares: projector.squares(&error, &landing.end, h),
                    mean,
                    variances: landing.variances,
                };
                let (mean, derivative) = projector.memory();
                passage.memory = (*mean, derivative.copied());
                Taken { h, points: points(&step.stages), projection: Some(projection) }
            }
        };
        facts.set_clock(&mut passage.x, time);
        taken
    }

    fn tangent(&self, x: &Vector<S>, change: &Change<S>, state: Vector<S>) -> Vector<S> {
        let has_laws = self.system.facts().has_laws();
        let mut under = None;
        let system = under_law::<S, f64>(&self.system, x, &mut under);
        let mut everything = PreparedDirection { state, ..change.direction };
        if has_laws {
            everything.inputs = S::law_tangent(&self.system, x, &everything).1;
        }
        let (_, tangent) = match (&self.law, change.is_of_state && !has_laws) {
            (None, true) => S::vector_field_state_tangent(system, x, &state),
            (None, false) => S::vector_field_tangent(system, x, &everything),
            (Some(law), true) => S::feedback_field_state_tangent(system, x, &law.gains, &law.targets, &state),
            (Some(law), false) => S::feedback_field_tangent(system, x, &law.gains, &law.targets, &everything),
        };
        tangent
    }

    fn adjoint(&self, x: &Vector<S>, weights: &Vector<S>) -> Gradient<S> {
        let mut under = None;
        let system = under_law::<S, f64>(&self.system, x, &mut under);
        let gradient = match &self.law {
            None => S::vector_field_adjoint(system, x, weights),
            Some(law) => S::feedback_field_adjoint(system, x, &law.gains, &law.targets, weights),
        };
        if !system.facts().has_laws() {
            return gradient;
        }
        let by_law = S::law_adjoint(&self.system, x, &gradient.inputs);
        Gradient {
            state: sum(&gradient.state, 1.0, &by_law.state),
            parameters: sum(&gradient.parameters, 1.0, &by_law.parameters),
            inputs: by_law.inputs,
        }
    }

    /// The change of a run from `start` along a direction.
    pub(super) fn change(&self, start: &Vector<S>, direction: &Direction<S>) -> Change<S> {
        let system = &self.system;
        let mut others = direction.parameters.as_ref().iter().chain(direction.inputs.as_ref());
        let is_of_state = others.all(|change| *change == 0.0);
        let direction = direction.prepare(system);
        let targets = match &self.projector {
            Some(_) => of_targets::<S>(system, &S::integrals_tangent(system, start, &direction).1),
            None => filled(0.0),
        };
        Change { direction, is_of_state, mean: filled(0.0), derivative: filled(0.0), targets }
    }

    /// Takes a change of what the run was before a step to one of what it is after it.
    pub(super) fn push_forward<const N: usize>(
        &self,
        method: &Tableau<N>,
        taken: &Taken<S, N>,
        change: &mut Change<S>,
    ) {
        let (h, v) = (taken.h, change.direction.state);
        let begins_with_derivative = taken.projection.as_ref().is_some_and(|projection| !projection.is_first);
        let mut k: [Vector<S>; N] = [change.derivative; N];
        for (i, point) in taken.points.iter().enumerate().skip(usize::from(begins_with_derivative)) {
            k[i] = self.tangent(point, change, method.point(i, &v, h, &k));
        }
        change.direction.state = method.end_of(&v, h, &k);
        if let (Some(step), Some(projector)) = (&taken.projection, &self.projector) {
            change.derivative = self.tangent(&step.end, change, change.direction.state);
            let error = method.error_of(self.system.facts()).of(&k, &change.derivative, h);
            let (mean, end) = (change.mean, change.direction.state);
            let slopes = projector.slopes_of_squares(&step.error, &step.end);
            let square: Vector<S> = Entries::from_fn(|i| slopes[i][0] * error[i] + slopes[i][1] * end[i]);
            let next = sum(&mean, LAST, &difference(&square, &mean));
            change.mean = Entries::from_fn(|i| if step.has_spike(i) { square[i] } else { next[i] });
            let variances = Entries::from_fn(|i| if step.has_spike(i) { square[i] } else { mean[i] });
            let ([targets, _], system) = (projector.onto(), &self.system);
            let (mut x, noise) = (step.end, projector.noise(h));
            for _ in 0..projector.iterations() {
                let (moved, change_of_move) = S::projection_tangent(
                    system,
                    &x,
                    &step.variances,
                    &noise,
                    targets,
                    &change.direction,
                    &variances,
                    &change.targets,
                );
                x = difference(&x, &moved);
                change.direction.state = difference(&change.direction.state, &change_of_move);
            }
        }
    }

    /// Takes derivatives by what the run is after a step to those by what it was before it.
    pub(super) fn pull_back<const N: usize>(&self, method: &Tableau<N>, taken: &Taken<S, N>, adjoint: &mut Adjoint<S>) {
        let (h, estimate) = (taken.h, method.error_of(self.system.facts()));
        // What the estimate of the error adds to the gradients by f+ and by the stages: h d and h d_i times this.
        let mut by_error: Vector<S> = filled(0.0);
        let mut begins_with_derivative = false;
        if let Some(step) = &taken.projection {
            begins_with_derivative = !step.is_first;
            let by_variances = self.pull_back_projection(step, h, adjoint);
            let by_next = adjoint.mean;
            let spiked = |i: usize| by_variances[i] + by_next[i];
            let by_square: Vector<S> =
                Entries::from_fn(|i| if step.has_spike(i) { spiked(i) } else { LAST * by_next[i] });
            adjoint.mean = Entries::from_fn(|i| if step.has_spike(i) { 0.0 } else { spiked(i) - LAST * by_next[i] });
            if let Some(projector) = &self.projector {
                let slopes = projector.slopes_of_squares(&step.error, &step.end);
                by_error = Entries::from_fn(|i| slopes[i][0] * by_square[i]);
                adjoint.x = Entries::from_fn(|i| adjoint.x[i] + slopes[i][1] * by_square[i]);
            }
            let by_derivative = sum(&adjoint.derivative, h * estimate.end, &by_error);
            let by_end = self.adjoint(&step.end, &by_derivative);
            adjoint.add_constants(1.0, &by_end);
            adjoint.x = sum(&adjoint.x, 1.0, &by_end.state);
        }
        let mut m: [Vector<S>; N] = [filled(0.0); N];
        for i in (0..N).rev() {
            let weights = method.transposed(&adjoint.x, h, i, &m);
            let weights = sum(&weights, h * estimate.stages[i], &by_error);
            if i == 0 && begins_with_derivative {
                adjoint.derivative = weights;
            } else {
                let by_point = self.adjoint(&taken.points[i], &weights);
                adjoint.add_constants(1.0, &by_point);
                m[i] = by_point.state;
            }
        }
        adjoint.x = m.iter().rev().fold(adjoint.x, |total, part| sum(&total, 1.0, part));
    }

    /// Pulls an adjoint back through the projection at the end of a step; returns the derivatives by the diagonal of S.
    fn pull_back_projection(&self, step: &TakenProjection<S>, h: f64, adjoint: &mut Adjoint<S>) -> Vector<S> {
        let mut by_variances: Vector<S> = filled(0.0);
        let Some(projector) = &self.projector else { return by_variances };
        let ([targets, _], noise, system) = (projector.onto(), projector.noise(h), &self.system);
        for iterations in (0..projector.iterations()).rev() {
            let mut x = step.end;
            for _ in 0..iterations {
                x = difference(&x, &projector.correction(&step.variances, &noise, &x).correction);
            }
            let ProjectionGradient { unknowns, variances, targets } =
                S::projection_adjoint(system, &x, &step.variances, &noise, targets, &adjoint.x);
            adjoint.x = difference(&adjoint.x, &unknowns.state);
            adjoint.targets = difference(&adjoint.targets, &targets);
            adjoint.add_constants(-1.0, &unknowns);
            by_variances = difference(&by_variances, &variances);
        }
        by_variances
    }

    /// The derivatives by the start, the parameters and the inputs.
    pub(super) fn gradient(&self, start: &Vector<S>, adjoint: Adjoint<S>) -> Gradient<S> {
        let Adjoint { x, parameters, inputs, targets, .. } = adjoint;
        let gradient = Gradient { state: x, parameters, inputs };
        if self.projector.is_none() {
            return gradient;
        }
        let system = &self.system;
        let by_targets = S::integrals_adjoint(system, start, &of_targets::<S>(system, &targets));
        Gradient {
            state: sum(&gradient.state, 1.0, &by_targets.state),
            parameters: sum(&gradient.parameters, 1.0, &by_targets.parameters),
            inputs: sum(&gradient.inputs, 1.0, &by_targets.inputs),
        }
    }
}

/// The derivatives of the targets that follow the start; the targets of constraints are 0.
fn of_targets<S: FeedbackSystem>(system: &S::Prepared<f64>, values: &Integrals<S>) -> Integrals<S> {
    let integrals = system.facts().integrals;
    Entries::from_fn(|i| if integrals[i].kind.is_constraint() { 0.0 } else { values[i] })
}
