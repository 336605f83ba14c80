//! Starts that satisfy every constraint: the check of a given one, and the search for one near a guess.
//!
//! A constraint g counts as satisfied where |g| <= 1e-8 s with s = 1 + sum_j |dg/dx_j| |x_j|, the size of the terms that
//! must cancel in g: a start typed with eight digits passes, whatever its units.
//!
//! The search is Gauss-Newton with Levenberg's damping. Each step is the shortest that solves the linearised constraints,
//! dx = -D^T (D D^T + mu I)^-1 g, where D holds the gradients with the columns of held entries struck out; mu shrinks while
//! steps succeed, so that the end is quadratic, and keeps steps bounded where D loses rank.

use nalgebra::{Cholesky, SMatrix, SVector};

use crate::{Dependence, Error, FeedbackSystem, IntegralKind};

const TOLERANCE: f64 = 1e-8;
/// Below this pivot ratio multipliers have no more than four digits, and a start is as good as singular.
const SINGULAR: f64 = 1e-12;
const MAX_ITERATIONS: u32 = 200;

/// Searches a state on the constraint set, near a guess.
///
/// ```
/// use fbint_runtime::{ConsistentStart, feedback_system};
/// use nalgebra::vector;
///
/// /// A point mass on a circle.
/// #[feedback_system(
///     coordinates(q: [2]),
///     momenta(p: [2]),
///     hamiltonian = p.norm_squared() / 2 + q.y,
///     constraint(length = q.norm_squared() - l.powi(2)),
/// )]
/// pub struct Pendulum { pub l: f64 }
///
/// // The abscissa is given; the height and the momentum follow.
/// let guess = PendulumState { q: vector![0.6, -1.0], p: vector![0.1, 0.1] };
/// let start = ConsistentStart::new(&Pendulum { l: 1.0 }).hold(&["q[0]"])?.solve(guess)?;
/// assert_eq!(start.q.x, 0.6);
/// assert!((start.q.y + 0.8).abs() < 1e-12 && start.q.dot(&start.p).abs() < 1e-12);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
pub struct ConsistentStart<'a, S, const N: usize, const M: usize> {
    system: &'a S,
    held: [bool; N],
}

impl<'a, S: FeedbackSystem<N, M>, const N: usize, const M: usize> ConsistentStart<'a, S, N, M> {
    /// A search in which every entry of the state may change.
    pub fn new(system: &'a S) -> Self {
        Self { system, held: [false; N] }
    }

    /// Keeps entries at their guess: `a[0]` is one entry, `a` all of a vector or matrix.
    ///
    /// # Errors
    ///
    /// If a name is no entry of the state.
    pub fn hold(mut self, names: &[&'static str]) -> Result<Self, Error> {
        for &name in names {
            let mut found = false;
            for (held, entry) in self.held.iter_mut().zip(S::STATE_NAMES) {
                if entry.strip_prefix(name).is_some_and(|index| index.is_empty() || index.starts_with('[')) {
                    *held = true;
                    found = true;
                }
            }
            if !found {
                return Err(Error::UnknownEntry { name, known: const { &S::STATE_NAMES } });
            }
        }
        Ok(self)
    }

    /// A state near `guess` that satisfies every constraint to rounding, or at least well enough to start from.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the guess is not finite, or if the search ends elsewhere than on the constraint set.
    pub fn solve(&self, guess: impl Into<SVector<f64, N>>) -> Result<S::State, Error> {
        let mut x: SVector<f64, N> = guess.into();
        check_finite(self.system, &x)?;
        let scales = scales(self.system, &x);
        let mut g = self.scaled_constraints(&x, &scales);
        let mut damping = 1e-3;
        let mut iterations = 0;
        while iterations < MAX_ITERATIONS && g.amax() > f64::EPSILON && damping < 1e6 {
            iterations += 1;
            let trial = x + self.step(&x, &g, &scales, damping);
            let g_trial = self.scaled_constraints(&trial, &scales);
            if g_trial.norm_squared() < g.norm_squared() {
                (x, g) = (trial, g_trial);
                damping = (damping * 0.1).max(1e-15);
            } else {
                damping *= 10.0;
            }
        }
        match check_start(self.system, &x) {
            Ok(_) => Ok(x.into()),
            Err(Error::OffConstraint { .. }) => {
                let worst = g.iamax();
                let name = S::INTEGRAL_NAMES[worst];
                Err(Error::NoConsistentStart { name, value: g[worst] * scales[worst], iterations })
            }
            Err(other) => Err(other),
        }
    }

    /// The constraints in units of their scales, 0 for other integrals.
    fn scaled_constraints(&self, x: &SVector<f64, N>, scales: &SVector<f64, M>) -> SVector<f64, M> {
        let integrals = self.system.integrals(x);
        SVector::from_fn(|i, _| if is_constraint::<S, N, M>(i) { integrals[i] / scales[i] } else { 0.0 })
    }

    /// The damped step from x, with each row of D scaled to length 1 so that the damping has no unit.
    fn step(
        &self,
        x: &SVector<f64, N>,
        g: &SVector<f64, M>,
        scales: &SVector<f64, M>,
        damping: f64,
    ) -> SVector<f64, N> {
        let jacobian = self.system.integrals_jacobian(x);
        let mut d = SMatrix::<f64, M, N>::from_fn(|i, j| {
            if is_constraint::<S, N, M>(i) && !self.held[j] { jacobian[(i, j)] / scales[i] } else { 0.0 }
        });
        let mut residual = *g;
        for i in 0..M {
            let length = d.row(i).norm();
            if length > 0.0 {
                d.row_mut(i).unscale_mut(length);
                residual[i] /= length;
            }
        }
        let normal = d * d.transpose() + SMatrix::identity() * damping;
        match Cholesky::new(normal) {
            Some(factors) => -(d.transpose() * factors.solve(&residual)),
            None => SVector::zeros(),
        }
    }
}

/// Refuses a start that cannot be used, and gives the targets that it sets.
pub(crate) fn check_start<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S,
    start: &SVector<f64, N>,
) -> Result<SVector<f64, M>, Error> {
    check_finite(system, start)?;
    let integrals = system.integrals(start);
    for (&value, name) in integrals.iter().zip(S::INTEGRAL_NAMES) {
        if !value.is_finite() {
            return Err(Error::Integral { name, value });
        }
    }
    let scales = scales(system, start);
    for i in 0..M {
        let (value, tolerance) = (integrals[i], TOLERANCE * scales[i]);
        if is_constraint::<S, N, M>(i) && value.abs() > tolerance {
            return Err(Error::OffConstraint { name: S::INTEGRAL_NAMES[i], value, tolerance });
        }
    }
    if let Some(dependence) = Dependence::find::<S, N, M>(&system.prepare(), 0.0, start, SINGULAR) {
        return Err(Error::DependentConstraints { dependence });
    }
    let field = system.vector_field(start);
    if let Some((&value, name)) = field.iter().zip(S::STATE_NAMES).find(|(rate, _)| !rate.is_finite()) {
        return Err(Error::Rate { name, value });
    }
    Ok(SVector::from_fn(|i, _| if is_constraint::<S, N, M>(i) { 0.0 } else { integrals[i] }))
}

/// The size of the terms that make up each integral near x: 1 + sum_j |dF_i/dx_j| |x_j|, or 1 where that is not finite.
pub(crate) fn scales<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S,
    x: &SVector<f64, N>,
) -> SVector<f64, M> {
    let terms = system.integrals_jacobian(x).abs() * x.abs();
    terms.map(|sum| if sum.is_finite() { 1.0 + sum } else { 1.0 })
}

fn check_finite<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(
    system: &S,
    x: &SVector<f64, N>,
) -> Result<(), Error> {
    for (index, &name) in S::PARAMETER_NAMES.iter().enumerate() {
        if let Some(value) = system.parameter(index).filter(|value| !value.is_finite()) {
            return Err(Error::Parameter { name, value });
        }
    }
    for (&value, name) in x.iter().zip(S::STATE_NAMES) {
        if !value.is_finite() {
            return Err(Error::Start { name, value });
        }
    }
    Ok(())
}

fn is_constraint<S: FeedbackSystem<N, M>, const N: usize, const M: usize>(index: usize) -> bool {
    S::INTEGRAL_KINDS[index] == IntegralKind::Constraint
}
