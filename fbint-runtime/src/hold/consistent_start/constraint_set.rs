//! States on the constraint set: what counts as satisfied, and the shortest way there. All of it is compiled once.
//!
//! A constraint g counts as satisfied where |g| <= 1e-8 s with s = sum_j |dg/dx_j| |x_j|, the size of the terms that must
//! cancel in g: a start typed with eight digits passes, and one that is off by a few lengths does not, whatever its units. A state
//! that was rounded to single precision may be off by a few of its roundings.
//! An entry that should be 0 may be off by what rounding makes of the largest entry.
//!
//! Where constraints are nearly dependent, as c = x + y and d = x + y + 1e-6 z, each may be that small though z is far from 0. So the way
//! to the constraint set counts, too: the shortest dx that solves the linearised constraints, each entry in units of its size. A part in
//! ten thousand is too far.

use crate::error::Error;
use crate::error::dependence::Dependence;
use crate::error::extremes::Extremes;
use crate::numbers::entries::Entries;
use crate::numbers::linear::{add, inner, largest, not_finite, orthonormalise, shortest};
use crate::numbers::scalar::Scalar;
use crate::system::dynamical_system::{DynamicalSystem, Scratch};
use crate::system::{
    FeedbackSystem, Integral, IntegralKind, Integrals, PreparedSystem, StateEntry, StateRole, SystemFacts, Vector,
};

const TOLERANCE: f64 = 1e-8;
/// The tolerance for a state in single precision.
const SINGLE_TOLERANCE: f64 = 2.0 * f32::EPSILON as f64;
/// The size that every entry has at least, relative to the largest of its kind: with the tolerance, 1e-11 of it counts as rounding.
const SMALLEST_ENTRY: f64 = 1e-3;
/// Below this pivot ratio multipliers have no more than four digits, and a start is as good as singular.
const SINGULAR: f64 = 1e-12;
/// The distance from the constraint set that a start may have, in units of the sizes of its entries: more than any start of eight digits
/// has, where an entry that should be 0 may be off by 1e-8 of the largest.
const FARTHEST: f64 = 1e-4;
/// Gradients that differ by less than this part of their size tell nothing of that way: rounding of constraints would be taken for one.
const INDISTINCT: f64 = 3e-11;
/// The part of a gradient that is across the others, below which more than half of a violation across is left by a projection, which
/// adds 1e-10 of the diagonal to DF S DF^T.
const ACROSS: f64 = 1e-5;
/// A part across the others of this size is rounding: the others imply the constraint, and it does no harm.
const IMPLIED: f64 = 1e-14;
/// The part of the gradient of a redundant constraint that may be across the others': a start of eight digits is off the set on which it
/// has none.
const NOT_IMPLIED: f64 = 1e-5;
/// Violations below this part of the terms that cancel are rounding, and a state with no others stays where it is.
const ROUNDED: f64 = 16.0 * f64::EPSILON;
/// The most Newton steps onto the constraint set: from a start of six digits two are enough.
const MOST_STEPS: u32 = 20;

/// For the matrix D, whose rows are replaced: puts y = (D D^T + damping^2)^-1 b into `y`, where b is at first, and x = D^T y, which but
/// for the damping is the shortest x with D x = b, into `x`.
pub(super) fn go_shortest(d: &mut [f64], damping: f64, x: &mut [f64], y: &mut [f64], mut scratch: Scratch<'_>) {
    let (beside, lower) = (scratch.square(), scratch.square());
    beside.iter_mut().step_by(y.len() + 1).for_each(|entry| *entry = damping);
    orthonormalise(d, beside, lower, y.len());
    x.fill(0.0);
    shortest(d, lower, x, y);
}

/// The parameters of a system, by their indices.
#[derive(Clone, Copy)]
pub(crate) struct Parameters<'a> {
    pub(crate) names: &'static [&'static str],
    pub(crate) value: &'a dyn Fn(usize) -> Option<f64>,
}

impl Parameters<'_> {
    /// Those whose squares are not ordinary numbers.
    pub(crate) fn extremes(&self) -> Extremes {
        let values = (0..).map_while(self.value);
        Extremes::among(self.names.iter().copied().zip(values))
    }
}

/// Puts the constraints in units of their scales into `violations`, 0 for other integrals.
pub(super) fn scaled_constraints(
    system: &dyn DynamicalSystem,
    x: &[f64],
    violations: &mut [f64],
    mut scratch: Scratch<'_>,
) {
    let scales = scratch.values();
    own_scales(system, x, scales, scratch);
    system.integrals_at(x, violations);
    for ((violation, integral), scale) in violations.iter_mut().zip(system.facts().integrals).zip(scales) {
        *violation = if integral.kind.is_constraint() { *violation / *scale } else { 0.0 };
    }
}

/// The sum of (g / |dg|)^2 over the constraints g: to first order, the squares of their distances.
pub(super) fn square_of_distances(system: &dyn DynamicalSystem, x: &[f64], mut scratch: Scratch<'_>) -> f64 {
    let (values, jacobian) = (scratch.values(), scratch.rows());
    system.integrals_at(x, values);
    system.jacobian_at(x, jacobian);
    let rows = values.iter().zip(jacobian.chunks_exact(x.len())).zip(system.facts().integrals);
    let constraints = rows.filter(|((value, _), integral)| integral.kind.is_constraint() && **value != 0.0);
    constraints.map(|((value, row), _)| value * value / inner(row, row)).sum()
}

/// Refuses a start that cannot be used; returns the targets that it sets.
pub(crate) fn check_start<S: FeedbackSystem>(system: &S, start: &Vector<S>) -> Result<Integrals<S>, Error> {
    let parameter = |index: usize| system.parameter(index);
    let parameters = Parameters { names: system.facts().parameter_names, value: &parameter };
    let (facts, system, mut checked) = (system.facts(), system.prepare(), Ok(()));
    system.with_scratch(&mut |scratch| checked = check(&system, &parameters, facts.of_state::<S, _>(start), scratch));
    checked.map(|()| targets::<S, f64>(&system, start))
}

/// The check on slices, without the targets.
pub(super) fn check(
    system: &dyn DynamicalSystem,
    parameters: &Parameters<'_>,
    start: &[f64],
    mut scratch: Scratch<'_>,
) -> Result<(), Error> {
    check_finite(parameters, system.facts().state, start)?;
    let (integrals, scales, field) = (scratch.values(), scratch.values(), scratch.state());
    system.integrals_at(start, integrals);
    for (&value, integral) in integrals.iter().zip(system.facts().integrals) {
        if !value.is_finite() {
            return Err(Error::Integral { name: integral.name, value, extremes: parameters.extremes() });
        }
    }
    own_scales(system, start, scales, scratch.rest());
    let tolerance = if is_single(start) { SINGLE_TOLERANCE } else { TOLERANCE };
    for ((&value, scale), integral) in integrals.iter().zip(scales).zip(system.facts().integrals) {
        let tolerance = tolerance * *scale;
        if integral.kind.is_constraint() && value.abs() > tolerance {
            return Err(Error::OffConstraint { name: integral.name, value, tolerance });
        }
    }
    if let Some(dependence) = Dependence::find(system, 0.0, start, SINGULAR, scratch.rest()) {
        return Err(Error::DependentConstraints { dependence });
    }
    for i in redundant_constraints(system) {
        let Dependence { pivot_ratio: across, .. } = implied(system, start, i, scratch.rest());
        if across > NOT_IMPLIED {
            return Err(Error::NotRedundant { name: system.facts().integrals[i].name, across });
        }
    }
    check_distance(system, start, scratch.rest())?;
    system.vector_field_at(start, field);
    if let Some((&value, entry)) = field.iter().zip(system.facts().state).find(|(rate, _)| !rate.is_finite()) {
        #[cfg(feature = "std")]
        if let Some(error) = without_inertia(system, parameters, start) {
            return Err(error);
        }
        return Err(Error::Rate { name: entry.name, value, extremes: parameters.extremes() });
    }
    Ok(())
}

/// The error if velocities of a constrained system have no inertia because a parameter is 0.
#[cfg(feature = "std")]
fn without_inertia(system: &dyn DynamicalSystem, parameters: &Parameters<'_>, start: &[f64]) -> Option<Error> {
    if !system.facts().integrals.iter().any(|integral| integral.kind.is_constraint()) {
        return None;
    }
    let (parameter, _) = parameters.extremes().parameters().find(|(_, value)| *value == 0.0)?;
    let dependence = Dependence::of_velocities(system, 0.0, start, SINGULAR)?;
    Some(Error::NoInertia { dependence, parameter })
}

/// Returns `true` if a state was rounded to single precision: all entries are such numbers, and one of them has more than half of their digits, so
/// that it is not just a round number.
fn is_single(x: &[f64]) -> bool {
    let is_long = |entry: &f64| (*entry as f32).to_bits() & 0xfff != 0;
    x.iter().all(|entry| f64::from(*entry as f32) == *entry) && x.iter().any(is_long)
}

/// Constraints that are satisfied together, and the entries of the state that are moved for them.
#[derive(Clone, Copy)]
enum ConstraintClass {
    /// Holonomic constraints, by the positions.
    Positions,
    /// Their rates and velocity constraints, by momenta and velocities.
    Rates,
    /// All other constraints, by every entry but the time and the work.
    Others,
}

impl ConstraintClass {
    fn has(self, kind: IntegralKind) -> bool {
        match kind {
            IntegralKind::HolonomicConstraint { .. } | IntegralKind::RedundantConstraint => {
                matches!(self, Self::Positions)
            }
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

    /// Puts the violations of these constraints in units of their scales into `violations`, 0 for other integrals.
    fn violations(self, system: &dyn DynamicalSystem, x: &[f64], violations: &mut [f64], scratch: Scratch<'_>) {
        scaled_constraints(system, x, violations, scratch);
        let others =
            violations.iter_mut().zip(system.facts().integrals).filter(|(_, integral)| !self.has(integral.kind));
        others.for_each(|(violation, _)| *violation = 0.0);
    }

    fn largest_violation(self, system: &dyn DynamicalSystem, x: &[f64], mut scratch: Scratch<'_>) -> f64 {
        let violations = scratch.values();
        self.violations(system, x, violations, scratch);
        largest(violations)
    }

    /// Makes Newton steps, each the shortest in units of the sizes of variables, for as long as they lead nearer.
    fn satisfy(self, system: &dyn DynamicalSystem, x: &mut [f64], mut scratch: Scratch<'_>) {
        let next = scratch.state();
        let mut left = self.largest_violation(system, x, scratch.rest());
        for _ in 0..MOST_STEPS {
            if left <= ROUNDED {
                break;
            }
            next.copy_from_slice(x);
            self.step(system, next, scratch.rest());
            let left_of_next = self.largest_violation(system, next, scratch.rest());
            if !(left_of_next < left && not_finite(next).is_none()) {
                break;
            }
            x.copy_from_slice(next);
            left = left_of_next;
        }
    }

    fn step(self, system: &dyn DynamicalSystem, x: &mut [f64], mut scratch: Scratch<'_>) {
        let (sizes, way, violations, rows) = (scratch.state(), scratch.state(), scratch.values(), scratch.rows());
        sizes_of_variables(system, x, sizes, rows);
        scale_rows(system, x, sizes, rows, scratch.rest());
        for (row, integral) in rows.chunks_exact_mut(x.len()).zip(system.facts().integrals) {
            let others = row.iter_mut().zip(system.facts().state);
            let others = others.filter(|(_, entry)| !(self.has(integral.kind) && self.moves(entry.role)));
            others.for_each(|(entry, _)| *entry = 0.0);
        }
        self.violations(system, x, violations, scratch.rest());
        go_shortest(rows, INDISTINCT, way, violations, scratch);
        x.iter_mut().zip(way.iter().zip(sizes)).for_each(|(x, (way, size))| *x -= *way * *size);
    }
}

/// Moves `x` to the state on the constraint set that is nearest in units of the sizes of its variables, to first order: positions first,
/// then rates, with nothing held. It stays where every violation is rounding. Returns whether the set is reached.
pub(crate) fn go_onto_constraints(system: &dyn DynamicalSystem, x: &mut [f64]) -> bool {
    let classes = [ConstraintClass::Positions, ConstraintClass::Rates, ConstraintClass::Others];
    let mut is_reached = false;
    system.with_scratch(&mut |mut scratch| {
        classes.iter().for_each(|class| class.satisfy(system, x, scratch.rest()));
        is_reached = classes.iter().all(|class| class.largest_violation(system, x, scratch.rest()) <= TOLERANCE);
    });
    is_reached
}

/// Moves an accepted start of a run that projects states onto the constraint set, if that is reached.
#[cfg(feature = "std")]
pub(crate) fn project_start(system: &dyn DynamicalSystem, start: &mut [f64]) -> Result<(), Error> {
    check_distinct_at(system, start, true)?;
    let given = start.to_vec();
    if !go_onto_constraints(system, start) {
        start.copy_from_slice(&given);
    }
    Ok(())
}

/// [`project_start`], and the targets that a run sets there.
#[cfg(feature = "std")]
pub(crate) fn projected_start<S: FeedbackSystem>(
    system: &S,
    start: &Vector<S>,
) -> Result<(Vector<S>, Integrals<S>), Error> {
    let (facts, system, mut start) = (system.facts(), system.prepare(), *start);
    project_start(&system, facts.of_state_mut::<S, _>(&mut start))?;
    Ok((start, targets::<S, f64>(&system, &start)))
}

/// [`check_start`] on slices, without the targets.
#[cfg(feature = "std")]
pub(crate) fn check_flat_start(
    system: &dyn DynamicalSystem,
    parameters: &Parameters<'_>,
    start: &[f64],
) -> Result<(), Error> {
    let mut checked = Ok(());
    system.with_scratch(&mut |scratch| checked = check(system, parameters, start, scratch));
    checked
}

/// [`check_distinct`] of constraints that gains invert.
#[cfg(feature = "std")]
pub(crate) fn check_flat_distinct(system: &dyn DynamicalSystem, start: &[f64]) -> Result<(), Error> {
    check_distinct_at(system, start, false)
}

/// Puts the [`targets`] of a run into a list.
pub(crate) fn put_targets(system: &dyn DynamicalSystem, start: &[f64], targets: &mut [f64]) {
    system.integrals_at(start, targets);
    let constraints = targets.iter_mut().zip(system.facts().integrals);
    constraints.filter(|(_, integral)| integral.kind.is_constraint()).for_each(|(target, _)| *target = 0.0);
}

/// [`targets`] on slices.
#[cfg(feature = "std")]
pub(crate) fn flat_targets(system: &dyn DynamicalSystem, start: &[f64]) -> Vec<f64> {
    let mut targets = vec![0.0; system.facts().integrals.len()];
    put_targets(system, start, &mut targets);
    targets
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
    /// That distance in units of the largest entry of the variable, or of the size that its entries have at least.
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
    pub(crate) fn between(system: &dyn DynamicalSystem, start: &[f64], state: &[f64]) -> Option<Self> {
        let mut found = None;
        system.with_scratch(&mut |mut scratch| {
            let (sizes, rows) = (scratch.state(), scratch.rows());
            sizes_of_variables(system, start, sizes, rows);
            let entries = system.facts().state.iter().enumerate();
            let moved = entries.filter(|(j, _)| state[*j] != start[*j]).map(|(j, entry)| {
                let distance = (state[j] - start[j]).abs();
                Self { entry: entry.name, distance, relative: distance / sizes[j] }
            });
            found = moved.reduce(|furthest, other| if other.relative > furthest.relative { other } else { furthest });
        });
        found
    }
}

/// The targets of a run from `start`: 0 for constraints, the values at `start` for all other integrals.
pub(crate) fn targets<S: FeedbackSystem, T: Scalar>(system: &S::Prepared<T>, start: &Vector<S, T>) -> Integrals<S, T> {
    let integrals = system.integrals(start);
    let facts = PreparedSystem::facts(system);
    Entries::from_fn(|i| match facts.integrals.get(i) {
        Some(integral) if !integral.kind.is_constraint() => integrals[i],
        _ => T::from_f64(0.0),
    })
}

/// Refuses a start from which the way to the constraint set is long, although no constraint is violated by much. The constraint that has
/// the largest share in the square of the way is named.
fn check_distance(system: &dyn DynamicalSystem, start: &[f64], mut scratch: Scratch<'_>) -> Result<(), Error> {
    let (violations, multipliers, way) = (scratch.values(), scratch.values(), scratch.state());
    way_back(system, start, way, multipliers, scratch.rest());
    let distance = Scalar::sqrt(inner(way, way));
    if distance <= FARTHEST || !distance.is_finite() {
        return Ok(());
    }
    scaled_constraints(system, start, violations, scratch.rest());
    let share = |i: &usize| multipliers[*i] * violations[*i];
    let worst = (0..multipliers.len()).max_by(|i, j| share(i).total_cmp(&share(j))).unwrap_or(0);
    let values = scratch.values();
    system.integrals_at(start, values);
    let (name, value) = (system.facts().integrals[worst].name, values[worst]);
    Err(Error::OffConstraint { name, value, tolerance: value.abs() * FARTHEST / distance })
}

/// Puts the way to the constraint set, each entry in units of its size, into `way`, and the multipliers of the scaled constraints that
/// make it up.
fn way_back(
    system: &dyn DynamicalSystem,
    x: &[f64],
    way: &mut [f64],
    multipliers: &mut [f64],
    mut scratch: Scratch<'_>,
) {
    let (rows, sizes) = (scratch.rows(), scratch.state());
    sizes_of(system, x, sizes, rows);
    scale_rows(system, x, sizes, rows, scratch.rest());
    scaled_constraints(system, x, multipliers, scratch.rest());
    go_shortest(rows, INDISTINCT, way, multipliers, scratch);
}

/// Refuses a start at which constraints of a field that is given are nearly dependent, for what takes the inverse of the damped
/// DF S DF^T: with S = 1, or with any S that follows from errors, where they have to be so both in the numbers of the entries and in
/// units of their sizes.
///
/// A constraint that the others imply is not refused, also if they imply it on the constraint set alone, such as det R = 1 where R^T R = 1:
/// gradients are compared there.
pub(crate) fn check_distinct<S: FeedbackSystem>(
    system: &S::Prepared<f64>,
    start: &Vector<S>,
    is_any: bool,
) -> Result<(), Error> {
    check_distinct_at(system, PreparedSystem::facts(system).of_state::<S, _>(start), is_any)
}

/// The check on slices.
fn check_distinct_at(system: &dyn DynamicalSystem, start: &[f64], is_any: bool) -> Result<(), Error> {
    let is_given = |role| matches!(role, StateRole::Variable | StateRole::Time | StateRole::Work);
    if !system.facts().state.iter().all(|entry| is_given(entry.role)) {
        return Ok(());
    }
    let mut found = None;
    system.with_scratch(&mut |scratch| found = indistinct_constraints(system, start, is_any, scratch));
    found.map_or(Ok(()), |dependence| Err(Error::IndistinctConstraints { dependence }))
}

/// Constraints that are nearly dependent at a start.
fn indistinct_constraints(
    system: &dyn DynamicalSystem,
    start: &[f64],
    is_any: bool,
    mut scratch: Scratch<'_>,
) -> Option<Dependence> {
    let (sizes, on_the_set, way) = (scratch.state(), scratch.state(), scratch.state());
    way_back(system, start, way, scratch.values(), scratch.rest());
    let (scaled, rows) = (scratch.rows(), scratch.rows());
    sizes_of(system, start, sizes, rows);
    for (j, entry) in on_the_set.iter_mut().enumerate() {
        *entry = start[j] - way[j] * sizes[j];
    }
    let sizes_there = way;
    sizes_of(system, on_the_set, sizes_there, scaled);
    scale_rows(system, on_the_set, sizes_there, scaled, scratch.rest());
    for (row, scaled) in rows.chunks_exact_mut(start.len()).zip(scaled.chunks_exact(start.len())) {
        row.iter_mut().zip(scaled.iter().zip(&*sizes)).for_each(|(entry, (scaled, size))| *entry = scaled / size);
    }
    let mut dependence = |rows: &mut [f64]| {
        let mut scratch = scratch.rest();
        let (lower, shares) = (scratch.square(), scratch.values());
        nearest_dependence(system.facts().integrals, start.len(), rows, lower, shares)
    };
    let found = dependence(rows)?;
    (!is_any || dependence(scaled).is_some()).then_some(found)
}

/// The first row that is nearly, but not by rounding alone, a combination of rows before it. There is a row of `width` entries for each
/// integral, and room for L and for the shares in the combination, both 0.
///
/// Row i, of length 1, is the sum of L_ij times the remainder of row j. Implied rows leave 0.
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
        let across = across(row, before, &mut lower[i * count..]);
        if across * least <= IMPLIED {
            row.fill(0.0);
            continue;
        }
        if across < ACROSS {
            combination(lower, i, shares);
            let shares = shares.iter().copied().enumerate().take(i + 1);
            return Some(Dependence::among(integrals, 0.0, across, shares));
        }
        row.iter_mut().for_each(|entry| *entry /= across);
        (lower[i * count + i], least) = (across, least.min(across));
    }
    None
}

/// Scales a row to length 1 and takes out of it what is along the rows before, which are orthonormal or 0; puts their shares into `shares`, and
/// returns the length of what is left: 0 where the row has none.
fn across(row: &mut [f64], before: &[f64], shares: &mut [f64]) -> f64 {
    let length = Scalar::sqrt(inner(row, row));
    if !(length > 0.0 && length.is_finite()) {
        row.fill(0.0);
        return 0.0;
    }
    row.iter_mut().for_each(|entry| *entry /= length);
    // What rounding leaves along the others after the first time is gone after the second.
    for _ in 0..2 {
        for (other, total) in before.chunks_exact(row.len()).zip(&mut *shares) {
            let share = inner(row, other);
            add(row, -share, other);
            *total += share;
        }
    }
    Scalar::sqrt(inner(row, row))
}

/// Puts the shares of rows in the combination that takes row `i` to its remainder into `shares`, with 1 for the row itself.
fn combination(lower: &[f64], i: usize, shares: &mut [f64]) {
    let count = shares.len();
    shares[i] = 1.0;
    for j in (0..i).rev().filter(|&j| lower[j * count + j] > 0.0) {
        let known: f64 = (j + 1..=i).map(|k| shares[k] * lower[k * count + j]).sum();
        shares[j] = -known / lower[j * count + j];
    }
}

/// The constraints that are declared to be redundant.
fn redundant_constraints(system: &dyn DynamicalSystem) -> impl Iterator<Item = usize> + use<> {
    let integrals = system.facts().integrals.iter().enumerate();
    integrals.filter(|(_, integral)| integral.kind == IntegralKind::RedundantConstraint).map(|(i, _)| i)
}

/// For each redundant constraint, those that imply it in a state, and itself: their reactions are not determined.
#[cfg(feature = "std")]
pub(crate) fn undetermined_reactions(system: &dyn DynamicalSystem, x: &[f64]) -> Vec<Dependence> {
    let mut found = Vec::new();
    if redundant_constraints(system).next().is_none() {
        return found;
    }
    system.with_scratch(&mut |mut scratch| {
        found.extend(redundant_constraints(system).map(|i| implied(system, x, i, scratch.rest())));
    });
    found
}

/// The combination of the gradients of the other constraints that is nearest to the gradient of a redundant one, which is named first. The
/// pivot ratio is the part of its gradient that is left.
fn implied(system: &dyn DynamicalSystem, x: &[f64], redundant: usize, mut scratch: Scratch<'_>) -> Dependence {
    let (rows, sizes, lower, shares) = (scratch.rows(), scratch.state(), scratch.square(), scratch.values());
    sizes_of(system, x, sizes, rows);
    // An entry that happens to be 0 has the size of its vector.
    let mut rest = &mut *sizes;
    for alike in system.facts().state.chunk_by(|a, b| a.variable == b.variable) {
        let (own, after) = core::mem::take(&mut rest).split_at_mut(alike.len());
        let largest = own.iter().copied().fold(0.0, f64::max);
        own.fill(largest);
        rest = after;
    }
    // At the origin there are no sizes.
    sizes.iter_mut().filter(|size| **size == 0.0).for_each(|size| *size = 1.0);
    scale_rows(system, x, sizes, rows, scratch);
    let (integrals, width, last) = (system.facts().integrals, x.len(), shares.len() - 1);
    redundant_constraints(system).filter(|i| *i != redundant).for_each(|i| rows[i * width..][..width].fill(0.0));
    // The redundant one changes places with the last.
    (0..width).for_each(|j| rows.swap(redundant * width + j, last * width + j));
    let mut left = 0.0;
    for i in 0..=last {
        let (before, row) = rows.split_at_mut(i * width);
        let row = &mut row[..width];
        left = across(row, before, &mut lower[i * shares.len()..]);
        if left <= INDISTINCT {
            row.fill(0.0);
        } else if i < last {
            row.iter_mut().for_each(|entry| *entry /= left);
            lower[i * shares.len() + i] = left;
        }
    }
    combination(lower, last, shares);
    let integral = |place: usize| match place {
        place if place == last => redundant,
        place if place == redundant => last,
        place => place,
    };
    // Velocities keep the invariant sets of a Lagrangian system, which have no reactions.
    let is_lagrangian = system.facts().state.iter().any(|entry| entry.role == StateRole::Velocity);
    let is_held = |i: &usize| !(is_lagrangian && integrals[*i].kind == IntegralKind::Constraint);
    // What is implied is named whatever its share.
    shares[last] = shares.iter().fold(0.0, |largest: f64, share| largest.max(share.abs()));
    let places = [last].into_iter().chain(0..last).map(|place| (integral(place), shares[place]));
    Dependence::among(integrals, 0.0, left, places.filter(|(i, _)| is_held(i)))
}

/// Puts the gradients of the constraints, which `rows` has among those of all integrals, in units of their scales, by entries of the state
/// in units of these sizes; 0 for other integrals.
fn scale_rows(system: &dyn DynamicalSystem, x: &[f64], sizes: &[f64], rows: &mut [f64], mut scratch: Scratch<'_>) {
    let scales = scratch.values();
    own_scales_by(system, x, rows, scales, scratch);
    let rows = rows.chunks_exact_mut(x.len()).zip(system.facts().integrals);
    for ((row, integral), scale) in rows.zip(scales) {
        let is_constraint = integral.kind.is_constraint();
        let entries = row.iter_mut().zip(sizes);
        entries.for_each(|(entry, size)| *entry = if is_constraint { *entry * (size / *scale) } else { 0.0 });
    }
}

/// Puts the size of each entry of a state into `sizes`, and the gradients of all integrals into `rows`.
fn sizes_of(system: &dyn DynamicalSystem, x: &[f64], sizes: &mut [f64], rows: &mut [f64]) {
    system.jacobian_at(x, rows);
    sizes_by(system.facts(), x, rows, sizes);
}

/// The sizes, given the gradients. Entries near 0 get a small part of the largest size of their kind: positions and momenta have different
/// units.
fn sizes_by(facts: &SystemFacts, x: &[f64], rows: &[f64], sizes: &mut [f64]) {
    let largest = LargestAlike::in_state(facts.state, x);
    let of_rates = possible_rates(facts, x, rows, &largest);
    for ((size, value), entry) in sizes.iter_mut().zip(x).zip(facts.state) {
        let possible = if ConstraintClass::Rates.moves(entry.role) { of_rates } else { 1.0 };
        *size = value.abs().max(possible * SMALLEST_ENTRY * largest.of(entry.role));
    }
}

/// The largest entries of a state among those that may have the same unit.
#[derive(Clone, Copy, Default)]
struct LargestAlike {
    positions: f64,
    rates: f64,
    variables: f64,
    time: f64,
    work: f64,
}

impl LargestAlike {
    fn in_state(state: &[StateEntry], x: &[f64]) -> Self {
        let mut found = Self::default();
        for (value, entry) in x.iter().zip(state) {
            let largest = found.place(entry.role);
            *largest = largest.max(value.abs());
        }
        found
    }

    fn place(&mut self, role: StateRole) -> &mut f64 {
        match role {
            StateRole::Coordinate { .. } | StateRole::Position => &mut self.positions,
            StateRole::Momentum { .. } | StateRole::Velocity => &mut self.rates,
            StateRole::Variable => &mut self.variables,
            StateRole::Time => &mut self.time,
            StateRole::Work => &mut self.work,
        }
    }

    /// The largest entry that may have the unit of this role, or the largest of all where those are 0.
    fn of(mut self, role: StateRole) -> f64 {
        let alike = *self.place(role);
        let Self { positions, rates, variables, time, work } = self;
        if alike > 0.0 { alike } else { largest(&[positions, rates, variables, time, work]) }
    }
}

/// How many times as large momenta and velocities would be if all terms of the energy were kinetic: where a system is at rest but for
/// rounding, that rounding is not their size.
fn possible_rates(facts: &SystemFacts, x: &[f64], rows: &[f64], largest: &LargestAlike) -> f64 {
    let energy = facts.integrals.iter().position(|integral| integral.kind == IntegralKind::Energy);
    let Some(gradient) = energy.and_then(|energy| rows.chunks_exact(x.len()).nth(energy)) else { return 1.0 };
    let (mut kinetic, mut others) = (0.0, 0.0);
    let first = facts.state.iter().find(|entry| ConstraintClass::Positions.moves(entry.role));
    let largest_position = first.map_or(0.0, |entry| largest.of(entry.role));
    for ((slope, value), entry) in gradient.iter().zip(x).zip(facts.state) {
        if ConstraintClass::Rates.moves(entry.role) {
            kinetic += (slope * value).abs();
        } else if ConstraintClass::Positions.moves(entry.role) {
            others += slope.abs() * largest_position;
        }
    }
    let ratio = Scalar::sqrt((kinetic + others) / kinetic);
    if ratio.is_finite() { ratio } else { 1.0 }
}

/// Puts the size of the variable of each entry, or the least that its entries have, into `sizes`, and the gradients of all integrals into
/// `rows`.
fn sizes_of_variables(system: &dyn DynamicalSystem, x: &[f64], sizes: &mut [f64], rows: &mut [f64]) {
    sizes_of(system, x, sizes, rows);
    let state = system.facts().state;
    sizes.iter_mut().enumerate().for_each(|(j, size)| *size = size.max(size_of_variable(state, x, j)));
}

/// The largest entry of the variable that an entry of the state belongs to.
pub(crate) fn size_of_variable(state: &[StateEntry], x: &[f64], i: usize) -> f64 {
    let own = state.get(i).map(|entry| entry.variable);
    let entries = x.iter().zip(state).filter(|(_, entry)| Some(entry.variable) == own);
    entries.fold(0.0, |largest: f64, (value, _)| largest.max(value.abs()))
}

/// Puts the size of the terms that make up each integral near x, at least the size of the integral itself, into `scales`; 1 where there
/// are none.
fn own_scales(system: &dyn DynamicalSystem, x: &[f64], scales: &mut [f64], mut scratch: Scratch<'_>) {
    let jacobian = scratch.rows();
    system.jacobian_at(x, jacobian);
    own_scales_by(system, x, jacobian, scales, scratch);
}

/// [`own_scales`], given the gradients of all integrals.
fn own_scales_by(system: &dyn DynamicalSystem, x: &[f64], rows: &[f64], scales: &mut [f64], mut scratch: Scratch<'_>) {
    let values = scratch.values();
    system.integrals_at(x, values);
    scales_by(system.facts(), x, rows, scales, scratch);
    for (scale, value) in scales.iter_mut().zip(values) {
        let own = scale.max(value.abs());
        *scale = if own > 0.0 && own.is_finite() { own } else { 1.0 };
    }
}

/// Puts sum_j |dF_i/dx_j| |x_j| of each integral, or 1 where that is not finite, with the sizes of entries for |x_j|, into `scales`.
#[cfg(feature = "std")]
pub(crate) fn scales(system: &dyn DynamicalSystem, x: &[f64], scales: &mut [f64], mut scratch: Scratch<'_>) {
    let jacobian = scratch.rows();
    system.jacobian_at(x, jacobian);
    scales_by(system.facts(), x, jacobian, scales, scratch);
}

/// [`scales`], given the gradients of all integrals.
fn scales_by(facts: &SystemFacts, x: &[f64], rows: &[f64], scales: &mut [f64], mut scratch: Scratch<'_>) {
    let sizes = scratch.state();
    sizes_by(facts, x, rows, sizes);
    for (scale, row) in scales.iter_mut().zip(rows.chunks_exact(x.len())) {
        let sum: f64 = row.iter().zip(&*sizes).map(|(derivative, size)| derivative.abs() * size).sum();
        *scale = if sum.is_finite() { sum } else { 1.0 };
    }
}

pub(super) fn check_finite(parameters: &Parameters<'_>, state: &[StateEntry], x: &[f64]) -> Result<(), Error> {
    for (index, &name) in parameters.names.iter().enumerate() {
        if let Some(value) = (parameters.value)(index).filter(|value| !value.is_finite()) {
            return Err(Error::Parameter { name, value });
        }
    }
    for (&value, entry) in x.iter().zip(state) {
        if !value.is_finite() {
            return Err(Error::Start { name: entry.name, value });
        }
    }
    Ok(())
}
