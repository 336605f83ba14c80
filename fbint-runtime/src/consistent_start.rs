//! Starts that satisfy every constraint: the check of a given one, and the search for one near a guess.
//!
//! A constraint g counts as satisfied where |g| <= 1e-8 s with s = sum_j |dg/dx_j| |x_j|, the size of the terms that must
//! cancel in g: a start typed with eight digits passes, and one that is off by a few lengths does not, whatever its units.
//! An entry that should be 0 may be off by what rounding makes of the largest entry.
//!
//! Where constraints are nearly dependent, as c = x + y and d = x + y + 1e-6 z, each may be that small though z is far from 0. So
//! the way to the constraint set is looked at, too: the shortest dx that solves the linearised constraints, each entry in units of its
//! size. A part in ten thousand is too far.
//!
//! The search is Gauss-Newton with Levenberg's damping. Each step is the shortest that solves the linearised constraints,
//! dx = -D^T (D D^T + mu I)^-1 g, where D holds the gradients with the columns of held entries struck out; mu shrinks while
//! steps succeed, so that the end is quadratic, and keeps steps bounded where D loses rank. It is computed from orthonormal rows of
//! D, because D D^T has the square of its condition number. A step succeeds if it leaves smaller violations or a shorter way, by the
//! gradients where it began: where constraints are nearly dependent, one of the two says little. Where a violated constraint has no
//! gradient at all in the free entries, as |q|^2 - 1 has none in q_2 at q_2 = 0, these are nudged first.

use crate::dependence::Dependence;
use crate::entries::Entries;
use crate::error::Error;
use crate::extremes::Extremes;
use crate::linear::{Orthonormal, add, dot, filled, inner, is_finite, largest, sum};
use crate::scalar::Scalar;
use crate::system::{
    FeedbackSystem, Integral, IntegralKind, Integrals, PreparedSystem, StateEntry, StateRole, Vector, clock,
};

const TOLERANCE: f64 = 1e-8;
/// The size that every entry has at least, relative to the largest: with the tolerance, 1e-11 of it counts as rounding.
const SMALLEST_ENTRY: f64 = 1e-3;
/// Below this pivot ratio multipliers have no more than four digits, and a start is as good as singular.
const SINGULAR: f64 = 1e-12;
/// How far from the constraint set a start may be, in units of the sizes of its entries: farther than any start of eight digits is, of
/// which an entry that should be 0 may be off by 1e-8 of the largest.
const FARTHEST: f64 = 1e-4;
/// Gradients that differ by less than this part of their size tell nothing of that way: rounding of constraints would be taken for one.
const INDISTINCT: f64 = 3e-11;
/// The part of a gradient that is across the others, below which more than half of a violation across is left by a projection, which
/// adds 1e-10 of the diagonal to DF S DF^T.
const ACROSS: f64 = 1e-5;
/// What is across the others by this much is rounding: the constraint is implied by the others, and does no harm.
const IMPLIED: f64 = 1e-14;
const MAX_ITERATIONS: u32 = 200;
/// Violations below this part of the terms that cancel are rounding, and a state with no others stays where it is.
const ROUNDED: f64 = 16.0 * f64::EPSILON;
/// The most Newton steps onto the constraint set: from a start of six digits two are enough.
const MOST_STEPS: u32 = 20;
/// The least mu. Gradients of length 1 that differ by 1e-9 are told apart, and those that differ by rounding are not.
const LEAST_DAMPING: f64 = 1e-20;
/// How far an entry is nudged out of a state in which a gradient vanishes, relative to its size.
const NUDGE: f64 = 0.1;

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
pub struct ConsistentStart<'a, S: FeedbackSystem> {
    system: &'a S,
    held: Vector<S, bool>,
}

impl<'a, S: FeedbackSystem> ConsistentStart<'a, S> {
    /// A search in which every entry of the state but the time may change.
    pub fn new(system: &'a S) -> Self {
        Self { system, held: Entries::from_fn(|i| clock::<S>() == Some(i)) }
    }

    /// Keeps entries at their guess: `a[0]` is one entry, `a` all of a vector or matrix.
    ///
    /// # Errors
    ///
    /// If a name is not that of an entry of the state.
    pub fn hold(mut self, names: &[&'static str]) -> Result<Self, Error> {
        for &name in names {
            let mut found = false;
            for (held, entry) in self.held.as_mut().iter_mut().zip(S::STATE) {
                if entry.name.strip_prefix(name).is_some_and(|index| index.is_empty() || index.starts_with('[')) {
                    *held = true;
                    found = true;
                }
            }
            if !found {
                return Err(Error::UnknownEntry { name, known: S::STATE });
            }
        }
        Ok(self)
    }

    /// A state near `guess` that satisfies every constraint to rounding, or at least well enough to start from.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the guess is not finite, or if the search ends elsewhere than on the constraint set.
    pub fn solve(&self, guess: impl Into<Vector<S>>) -> Result<S::State, Error> {
        let mut x = guess.into();
        check_finite(self.system, &x)?;
        let system = self.system.prepare();
        let mut g = scaled_constraints::<S>(&system, &x);
        if let Some(stuck) = (0..S::INTEGRALS.len()).find(|&i| g[i].abs() > f64::EPSILON && !self.moves(&system, &x, i))
        {
            x = self.nudged(&system, &x, stuck);
            g = scaled_constraints::<S>(&system, &x);
        }
        // Sizes of terms change from state to state, and the terms of a rate vanish at rest: distances are compared.
        let mut distances = square_of_distances::<S>(&system, &x);
        let mut damping = 1e-3;
        let mut iterations = 0;
        while iterations < MAX_ITERATIONS && largest(&g) > f64::EPSILON && damping < 1e6 {
            iterations += 1;
            let jacobian = system.integrals_jacobian(&x);
            let trial = sum(&x, -1.0, &self.step(&jacobian, &system.integrals(&x), damping));
            let distances_of_trial = square_of_distances::<S>(&system, &trial);
            // What is left of the way, by the gradients here: where constraints are nearly dependent, their distances say little.
            let way = |at: &Vector<S>| {
                let step = self.step(&jacobian, &system.integrals(at), LEAST_DAMPING);
                dot(&step, &step)
            };
            let is_nearer = distances_of_trial < distances || way(&trial) < way(&x);
            if is_nearer && distances_of_trial.is_finite() {
                (x, distances) = (trial, distances_of_trial);
                g = scaled_constraints::<S>(&system, &x);
                damping = (damping * 0.1).max(LEAST_DAMPING);
            } else {
                damping *= 10.0;
            }
        }
        match check_start(self.system, &x) {
            Ok(_) => Ok(x.into()),
            Err(Error::OffConstraint { .. }) => {
                let size = |i: &usize| g[*i].abs();
                let worst = (0..S::INTEGRALS.len()).max_by(|i, j| size(i).total_cmp(&size(j))).unwrap_or(0);
                let (name, value) = (S::INTEGRALS[worst].name, system.integrals(&x)[worst]);
                Err(Error::NoConsistentStart { name, value, iterations })
            }
            Err(other) => Err(other),
        }
    }

    /// Whether integral `i` has a gradient in the free entries.
    fn moves(&self, system: &S::Prepared<f64>, x: &Vector<S>, i: usize) -> bool {
        let gradient = system.integrals_jacobian(x)[i];
        (0..S::STATE.len()).any(|j| !self.held[j] && gradient[j] != 0.0)
    }

    /// The state with every free entry moved a little that gives integral `i` a gradient, each by another distance.
    fn nudged(&self, system: &S::Prepared<f64>, x: &Vector<S>, i: usize) -> Vector<S> {
        let mut nudged = *x;
        for j in (0..S::STATE.len()).filter(|&j| !self.held[j]) {
            let mut alone = *x;
            alone[j] += NUDGE * (1.0 + x[j].abs()) * (1.0 - 0.1 * (j % 5) as f64);
            if self.moves(system, &alone, i) {
                nudged[j] = alone[j];
            }
        }
        nudged
    }

    /// The damped step that these gradients and values of the integrals ask for, with each row of D scaled to length 1 so that the
    /// damping has no unit.
    fn step(&self, jacobian: &Integrals<S, Vector<S>>, integrals: &Integrals<S>, damping: f64) -> Vector<S> {
        let mut residual = *integrals;
        let d = Integrals::<S, Vector<S>>::from_fn(|i| {
            if !S::INTEGRALS[i].kind.is_constraint() {
                residual[i] = 0.0;
                return filled(0.0);
            }
            let row = Vector::<S>::from_fn(|j| if self.held[j] { 0.0 } else { jacobian[i][j] });
            let length = Scalar::sqrt(dot(&row, &row));
            if length == 0.0 {
                return row;
            }
            residual[i] /= length;
            Entries::from_fn(|j| row[j] / length)
        });
        let rows = Orthonormal::<_, Integrals<S, Integrals<S>>>::new(d, Scalar::sqrt(damping));
        let (step, _): (Vector<S>, _) = rows.shortest(&residual);
        if step.as_ref().iter().all(|entry| entry.is_finite()) { step } else { filled(0.0) }
    }
}

/// The constraints in units of their scales, 0 for other integrals.
fn scaled_constraints<S: FeedbackSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Integrals<S> {
    let (integrals, scales) = (system.integrals(x), own_scales::<S>(system, x));
    Entries::from_fn(|i| if S::INTEGRALS[i].kind.is_constraint() { integrals[i] / scales[i] } else { 0.0 })
}

/// The sum of (g / |dg|)^2 over the constraints g: to first order, the squares of their distances.
fn square_of_distances<S: FeedbackSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> f64 {
    let (integrals, jacobian) = (system.integrals(x), system.integrals_jacobian(x));
    let constraints = (0..S::INTEGRALS.len()).filter(|&i| S::INTEGRALS[i].kind.is_constraint() && integrals[i] != 0.0);
    constraints.map(|i| integrals[i] * integrals[i] / dot(&jacobian[i], &jacobian[i])).sum()
}

/// Refuses a start that cannot be used; returns the targets that it sets.
pub(crate) fn check_start<S: FeedbackSystem>(system: &S, start: &Vector<S>) -> Result<Integrals<S>, Error> {
    check_finite(system, start)?;
    let extremes = Extremes::of(system);
    let system = system.prepare();
    let integrals = system.integrals(start);
    for (&value, integral) in integrals.as_ref().iter().zip(S::INTEGRALS) {
        if !value.is_finite() {
            return Err(Error::Integral { name: integral.name, value, extremes });
        }
    }
    let scales = own_scales::<S>(&system, start);
    for (i, integral) in S::INTEGRALS.iter().enumerate() {
        let (value, tolerance) = (integrals[i], TOLERANCE * scales[i]);
        if integral.kind.is_constraint() && value.abs() > tolerance {
            return Err(Error::OffConstraint { name: integral.name, value, tolerance });
        }
    }
    if let Some(dependence) = Dependence::find::<S>(&system, 0.0, start, SINGULAR) {
        return Err(Error::DependentConstraints { dependence });
    }
    check_distance::<S>(&system, start)?;
    let field = system.vector_field(start);
    if let Some((&value, entry)) = field.as_ref().iter().zip(S::STATE).find(|(rate, _)| !rate.is_finite()) {
        return Err(Error::Rate { name: entry.name, value, extremes });
    }
    Ok(targets::<S, f64>(&system, start))
}

/// Constraints that are satisfied together, and the entries of the state that are moved for them.
#[derive(Clone, Copy)]
enum Part {
    /// Holonomic constraints, by the positions.
    Positions,
    /// Their rates and velocity constraints, by momenta and velocities.
    Rates,
    /// All other constraints, by every entry but the time and the work.
    Others,
}

impl Part {
    fn has(self, kind: IntegralKind) -> bool {
        match kind {
            IntegralKind::HolonomicConstraint { .. } => matches!(self, Self::Positions),
            IntegralKind::ConstraintRate { .. } | IntegralKind::VelocityConstraint => matches!(self, Self::Rates),
            IntegralKind::Constraint => matches!(self, Self::Others),
            IntegralKind::Energy | IntegralKind::Invariant => false,
        }
    }

    fn moves(self, role: StateRole) -> bool {
        match role {
            StateRole::Coordinate { .. } | StateRole::Position => matches!(self, Self::Positions | Self::Others),
            StateRole::Momentum { .. } | StateRole::Velocity => matches!(self, Self::Rates | Self::Others),
            StateRole::Variable => matches!(self, Self::Others),
            StateRole::Time | StateRole::Work => false,
        }
    }

    /// The violations of these constraints in units of their scales, 0 for other integrals.
    fn violations<S: FeedbackSystem>(self, system: &S::Prepared<f64>, x: &Vector<S>) -> Integrals<S> {
        let violations = scaled_constraints::<S>(system, x);
        Entries::from_fn(|i| if self.has(S::INTEGRALS[i].kind) { violations[i] } else { 0.0 })
    }

    fn largest_violation<S: FeedbackSystem>(self, system: &S::Prepared<f64>, x: &Vector<S>) -> f64 {
        largest(&self.violations::<S>(system, x))
    }

    /// The state after Newton steps, each the shortest in units of the sizes of variables, for as long as they lead nearer.
    fn satisfy<S: FeedbackSystem>(self, system: &S::Prepared<f64>, mut x: Vector<S>) -> Vector<S> {
        let mut left = self.largest_violation::<S>(system, &x);
        for _ in 0..MOST_STEPS {
            if left <= ROUNDED {
                break;
            }
            let next = self.step::<S>(system, &x);
            let left_of_next = self.largest_violation::<S>(system, &next);
            if !(left_of_next < left && is_finite(&next)) {
                break;
            }
            (x, left) = (next, left_of_next);
        }
        x
    }

    fn step<S: FeedbackSystem>(self, system: &S::Prepared<f64>, x: &Vector<S>) -> Vector<S> {
        let sizes = sizes_of_variables::<S>(x);
        let rows = scaled_rows::<S>(system, x, &sizes);
        let entry = |i: usize, j: usize| {
            if self.has(S::INTEGRALS[i].kind) && self.moves(S::STATE[j].role) { rows[i][j] } else { 0.0 }
        };
        let rows = Integrals::<S, Vector<S>>::from_fn(|i| Entries::from_fn(|j| entry(i, j)));
        let rows = Orthonormal::<_, Integrals<S, Integrals<S>>>::new(rows, INDISTINCT);
        let (way, _): (Vector<S>, _) = rows.shortest(&self.violations::<S>(system, x));
        Entries::from_fn(|j| x[j] - way[j] * sizes[j])
    }
}

/// The state on the constraint set that is nearest to `x` in units of the sizes of its variables, to first order: positions first, then
/// rates, with nothing held. `x` itself where every violation is rounding, `None` where the set is not reached.
pub(crate) fn onto_constraints<S: FeedbackSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Option<Vector<S>> {
    let parts = [Part::Positions, Part::Rates, Part::Others];
    let state = parts.iter().fold(*x, |x, part| part.satisfy::<S>(system, x));
    parts.iter().all(|part| part.largest_violation::<S>(system, &state) <= TOLERANCE).then_some(state)
}

/// An accepted start of a run that projects states, on the constraint set, and the targets that it sets there.
#[cfg(feature = "std")]
pub(crate) fn projected_start<S: FeedbackSystem>(
    system: &S,
    start: &Vector<S>,
) -> Result<(Vector<S>, Integrals<S>), Error> {
    check_distinct(system, start, true)?;
    let system = system.prepare();
    let start = onto_constraints::<S>(&system, start).unwrap_or(*start);
    Ok((start, targets::<S, f64>(&system, &start)))
}

/// By how much an accepted start was moved onto the constraints: the entry of the state that was moved furthest relative to the size of
/// its variable.
#[cfg(feature = "std")]
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StartMove {
    /// The name of the entry.
    pub entry: &'static str,
    /// By how much it was moved.
    pub distance: f64,
    /// That distance in units of the largest entry of the variable, or of a thousandth of the largest entry of the state.
    pub relative: f64,
}

/// As a run reports it.
#[cfg(feature = "std")]
impl core::fmt::Display for StartMove {
    fn fmt(&self, out: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        let Self { entry, distance, relative } = self;
        write!(out, "the start was moved onto the constraints: `{entry}` by {distance:.1e}, {relative:.1e} of its size")
    }
}

#[cfg(feature = "std")]
impl StartMove {
    /// The move from `start` to `state`, if there was one.
    pub(crate) fn between(entries: &[StateEntry], start: &[f64], state: &[f64]) -> Option<Self> {
        let moved = entries.iter().enumerate().filter(|(j, _)| state[*j] != start[*j]).map(|(j, entry)| {
            let distance = (state[j] - start[j]).abs();
            Self { entry: entry.name, distance, relative: distance / size_or_least(entries, start, j) }
        });
        moved.reduce(|furthest, other| if other.relative > furthest.relative { other } else { furthest })
    }
}

/// What the integrals of a run from `start` have to keep: 0 for constraints, their values there for all others.
pub(crate) fn targets<S: FeedbackSystem, T: Scalar>(system: &S::Prepared<T>, start: &Vector<S, T>) -> Integrals<S, T> {
    let integrals = system.integrals(start);
    Entries::from_fn(|i| if S::INTEGRALS[i].kind.is_constraint() { T::from_f64(0.0) } else { integrals[i] })
}

/// Refuses a start from which the way to the constraint set is long, although no constraint is violated by much. The constraint that has
/// the largest share in the square of the way is named.
fn check_distance<S: FeedbackSystem>(system: &S::Prepared<f64>, start: &Vector<S>) -> Result<(), Error> {
    let violation = scaled_constraints::<S>(system, start);
    let (way, multipliers) = way_back::<S>(system, start);
    let distance = Scalar::sqrt(dot::<Vector<S>, f64>(&way, &way));
    if distance <= FARTHEST || !distance.is_finite() {
        return Ok(());
    }
    let share = |i: &usize| multipliers[*i] * violation[*i];
    let worst = (0..S::INTEGRALS.len()).max_by(|i, j| share(i).total_cmp(&share(j))).unwrap_or(0);
    let value = system.integrals(start)[worst];
    Err(Error::OffConstraint { name: S::INTEGRALS[worst].name, value, tolerance: value.abs() * FARTHEST / distance })
}

/// The way to the constraint set, each entry in units of its size, and the multipliers of the scaled constraints that make it up.
fn way_back<S: FeedbackSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> (Vector<S>, Integrals<S>) {
    let rows = scaled_rows::<S>(system, x, &sizes::<S>(x));
    let rows = Orthonormal::<_, Integrals<S, Integrals<S>>>::new(rows, INDISTINCT);
    rows.shortest(&scaled_constraints::<S>(system, x))
}

/// Refuses a start at which constraints of a field that is given are nearly dependent, for what takes the inverse of the damped
/// DF S DF^T: with S = 1, or with any S that follows from errors, where they have to be so both in the numbers of the entries and in
/// units of their sizes.
///
/// What the others imply is not refused, nor what they imply on the constraint set alone, such as det R = 1 where R^T R = 1:
/// gradients are compared there.
pub(crate) fn check_distinct<S: FeedbackSystem>(system: &S, start: &Vector<S>, is_any: bool) -> Result<(), Error> {
    let is_given = |role| matches!(role, StateRole::Variable | StateRole::Time | StateRole::Work);
    if !S::STATE.iter().all(|entry| is_given(entry.role)) {
        return Ok(());
    }
    let system = system.prepare();
    let ((way, _), sizes) = (way_back::<S>(&system, start), sizes::<S>(start));
    let on_the_set = Vector::<S>::from_fn(|j| start[j] - way[j] * sizes[j]);
    let scaled = scaled_rows::<S>(&system, &on_the_set, &self::sizes::<S>(&on_the_set));
    let rows = Integrals::<S, Vector<S>>::from_fn(|i| Entries::from_fn(|j| scaled[i][j] / sizes[j]));
    let dependence = |rows: Integrals<S, Vector<S>>| {
        let (mut rows, mut shares): (_, Integrals<S>) = (rows, filled(0.0));
        let mut lower: Integrals<S, Integrals<S>> = Entries::from_fn(|_| filled(0.0));
        let (rows, lower) = (Vector::<S>::flat_mut(rows.as_mut()), Integrals::<S>::flat_mut(lower.as_mut()));
        nearest_dependence(S::INTEGRALS, S::STATE.len(), rows, lower, shares.as_mut())
    };
    match dependence(rows) {
        Some(found) if !is_any || dependence(scaled).is_some() => {
            Err(Error::IndistinctConstraints { dependence: found })
        }
        _ => Ok(()),
    }
}

/// The first row that is nearly, but not by rounding alone, a combination of rows before it. There is a row of `width` entries for each
/// integral, and room for L and for the shares in the combination, both 0.
///
/// Row i, of length 1, is the sum of L_ij times row j as it is left. Rows that are implied are left as 0.
fn nearest_dependence(
    integrals: &[Integral],
    width: usize,
    rows: &mut [f64],
    lower: &mut [f64],
    shares: &mut [f64],
) -> Option<Dependence> {
    let count = integrals.len();
    let mut least: f64 = 1.0;
    for i in 0..count {
        let (before, rest) = rows.split_at_mut(i * width);
        let row = &mut rest[..width];
        let length = Scalar::sqrt(inner(row, row));
        if !(length > 0.0 && length.is_finite()) {
            row.fill(0.0);
            continue;
        }
        row.iter_mut().for_each(|entry| *entry /= length);
        // What rounding leaves along the others after the first time is gone after the second.
        for j in (0..i).chain(0..i) {
            let other = &before[j * width..(j + 1) * width];
            let share = inner(row, other);
            add(row, -share, other);
            lower[i * count + j] += share;
        }
        let across = Scalar::sqrt(inner(row, row));
        if across * least <= IMPLIED {
            row.fill(0.0);
            continue;
        }
        if across < ACROSS {
            shares[i] = 1.0;
            for j in (0..i).rev().filter(|&j| lower[j * count + j] > 0.0) {
                let known: f64 = (j + 1..=i).map(|k| shares[k] * lower[k * count + j]).sum();
                shares[j] = -known / lower[j * count + j];
            }
            let shares = shares.iter().copied().enumerate().take(i + 1);
            return Some(Dependence::among(integrals, 0.0, across, shares));
        }
        row.iter_mut().for_each(|entry| *entry /= across);
        (lower[i * count + i], least) = (across, least.min(across));
    }
    None
}

/// The gradients of the constraints in units of their scales, by entries of the state in units of these sizes; 0 for other integrals.
fn scaled_rows<S: FeedbackSystem>(
    system: &S::Prepared<f64>,
    x: &Vector<S>,
    sizes: &Vector<S>,
) -> Integrals<S, Vector<S>> {
    let (jacobian, scales) = (system.integrals_jacobian(x), own_scales::<S>(system, x));
    Entries::from_fn(|i| {
        let is_constraint = S::INTEGRALS[i].kind.is_constraint();
        Entries::from_fn(|j| if is_constraint { jacobian[i][j] * (sizes[j] / scales[i]) } else { 0.0 })
    })
}

/// The size of each entry of a state, of which entries near 0 have a small part of the largest.
fn sizes<S: FeedbackSystem>(x: &Vector<S>) -> Vector<S> {
    let least = SMALLEST_ENTRY * largest(x);
    Entries::from_fn(|j| x[j].abs().max(least))
}

/// The size of the variable that each entry of a state belongs to: its entries have one unit, and those near 0 err by as much as others.
fn sizes_of_variables<S: FeedbackSystem>(x: &Vector<S>) -> Vector<S> {
    Entries::from_fn(|j| size_or_least(S::STATE, x.as_ref(), j))
}

/// The size of the variable that an entry of a state belongs to.
fn size_or_least(state: &[StateEntry], x: &[f64], j: usize) -> f64 {
    size_of_variable(state, x, j).max(SMALLEST_ENTRY * largest(x))
}

/// The largest entry of the variable that an entry of the state belongs to.
pub(crate) fn size_of_variable(state: &[StateEntry], x: &[f64], i: usize) -> f64 {
    let variable = |i: usize| state.get(i).and_then(|entry| entry.name.split('[').next());
    let own = variable(i);
    let entries = x.iter().enumerate().filter(|(j, _)| variable(*j) == own);
    entries.fold(0.0, |largest: f64, (_, entry)| largest.max(entry.abs()))
}

/// The size of the terms that make up each integral near x, at least the size of the integral itself; 1 where there are none.
fn own_scales<S: FeedbackSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Integrals<S> {
    let (integrals, sums) = (system.integrals(x), scales::<S>(system, x));
    Entries::from_fn(|i| {
        let scale = sums[i].max(integrals[i].abs());
        if scale > 0.0 && scale.is_finite() { scale } else { 1.0 }
    })
}

/// sum_j |dF_i/dx_j| |x_j| of each integral, or 1 where that is not finite, with the sizes of entries for |x_j|.
pub(crate) fn scales<S: FeedbackSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Integrals<S> {
    let jacobian = system.integrals_jacobian(x);
    let sizes = sizes::<S>(x);
    Entries::from_fn(|i| {
        let terms = jacobian[i].as_ref().iter().zip(sizes.as_ref());
        let sum: f64 = terms.map(|(derivative, size)| derivative.abs() * size).sum();
        if sum.is_finite() { sum } else { 1.0 }
    })
}

fn check_finite<S: FeedbackSystem>(system: &S, x: &Vector<S>) -> Result<(), Error> {
    for (index, &name) in S::PARAMETER_NAMES.iter().enumerate() {
        if let Some(value) = system.parameter(index).filter(|value| !value.is_finite()) {
            return Err(Error::Parameter { name, value });
        }
    }
    for (&value, entry) in x.as_ref().iter().zip(S::STATE) {
        if !value.is_finite() {
            return Err(Error::Start { name: entry.name, value });
        }
    }
    Ok(())
}
