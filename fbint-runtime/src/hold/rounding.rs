//! Rounding in a run: in its integrals and in the entries of its state. Projections do not count it as an error of the method.

use derive_where::derive_where;

use crate::hold::consistent_start::size_of_variable;
#[cfg(feature = "ensemble")]
use crate::numbers::entries::Entries;
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::system::dynamical_system::DynamicalSystem;
use crate::system::{FeedbackSystem, Integrals, PreparedSystem, Vector};

/// The square of how many roundings of the field count as the error of an entry.
const ROUNDING_OF_FIELD: f64 = 256.0;
/// At how many places around the start the rounding of the field is seen.
const SAMPLES: usize = 4;
const ROOT_OF_EPSILON: f64 = 1.0 / (1 << 26) as f64;

/// The least entry of R: it is positive, and so is the product of two of them.
pub(crate) const LEAST_NOISE: f64 = 1e-140;
/// A variance compared with which any other is 0, and whose square is finite.
pub(crate) const UNBOUNDED: f64 = 1e150;

/// The squares of what rounding does to a run.
#[derive_where(Clone, Copy, Debug)]
pub(crate) struct Rounding<S: FeedbackSystem, T: Scalar = f64> {
    /// To each integral, by the rounding of its terms and of the state; [`UNBOUNDED`] for one without a gradient, which has no say.
    pub(crate) integrals: Integrals<S, T>,
    /// To each integral, by the rounding of the field in a step of size 1.
    pub(crate) integrals_by_field: Integrals<S, T>,
    /// To each entry of the state, by the rounding of the field in a step of size 1: where terms of a force cancel, an entry is less exact
    /// than its size says.
    pub(crate) entries_by_field: Vector<S, T>,
}

#[cfg(feature = "ensemble")]
impl<S: FeedbackSystem, T: Scalar> Rounding<S, T> {
    /// The rounding of `member(i)` in lane `i`.
    pub(crate) fn gather<'a>(member: &dyn Fn(usize) -> &'a Rounding<S>) -> Self {
        Self {
            integrals: Entries::from_fn(|i| T::from_lanes(&|lane| member(lane).integrals[i])),
            integrals_by_field: Entries::from_fn(|i| T::from_lanes(&|lane| member(lane).integrals_by_field[i])),
            entries_by_field: Entries::from_fn(|i| T::from_lanes(&|lane| member(lane).entries_by_field[i])),
        }
    }
}

impl<S: FeedbackSystem> Rounding<S> {
    /// The rounding in a run from `start`, with these targets.
    pub(crate) fn at(system: &S::Prepared<f64>, start: &Vector<S>, targets: &Integrals<S>) -> Self {
        let facts = PreparedSystem::facts(system);
        let (mut integrals_by_field, mut entries_by_field) = (filled(0.0), filled(0.0));
        squares_of_field(
            system,
            facts.of_state::<S, _>(start),
            facts.of_state_mut::<S, _>(&mut entries_by_field),
            Integrals::<S>::as_mut(&mut integrals_by_field),
        );
        Self { integrals: Self::of_integrals(system, start, targets), integrals_by_field, entries_by_field }
    }

    /// The variance of rounding in each integral: what it changes by where every entry of the state is rounded, and its own.
    pub(crate) fn of_integrals(system: &S::Prepared<f64>, start: &Vector<S>, targets: &Integrals<S>) -> Integrals<S> {
        let mut noise = *targets;
        squares_of_rounding(system, PreparedSystem::facts(system).of_state::<S, _>(start), noise.as_mut());
        noise
    }
}

/// Replaces targets by the variances of rounding.
pub(crate) fn squares_of_rounding(system: &dyn DynamicalSystem, start: &[f64], values: &mut [f64]) {
    system.with_scratch(&mut |mut scratch| {
        let jacobian = scratch.rows();
        system.jacobian_at(start, jacobian);
        // Where a vector is longer than there are integrals, rows are missing.
        let rows = jacobian.chunks_exact(start.len()).chain(core::iter::repeat(&[][..]));
        for (value, row) in values.iter_mut().zip(rows) {
            let terms = row.iter().zip(start).map(|(derivative, entry)| derivative * entry);
            let squares = terms.fold(*value * *value, |sum, term| sum + term * term);
            let noise = f64::EPSILON * f64::EPSILON * squares;
            *value = match noise.is_finite() {
                true if noise > LEAST_NOISE => noise,
                true => LEAST_NOISE,
                // Where an integral has no gradient at the start, it has no say.
                false => UNBOUNDED,
            };
        }
    });
}

/// Puts the squares of what rounding of the field does in a step of size 1, to each entry of the state and to each integral.
///
/// It is seen where the field is evaluated at states that differ by roundings, and at states on both sides, where what is smooth cancels.
/// An entry where nothing is seen has the largest of its vector.
pub(crate) fn squares_of_field(
    system: &dyn DynamicalSystem,
    start: &[f64],
    entries: &mut [f64],
    integrals: &mut [f64],
) {
    system.with_scratch(&mut |mut scratch| {
        let (point, squares, rates) = (scratch.state(), scratch.state(), scratch.state());
        let (here, jacobian) = (scratch.state(), scratch.rows());
        system.vector_field_at(start, here);
        for sample in 0..SAMPLES {
            let mut rates_at = |distance: f64, rates: &mut [f64]| {
                for (j, (point, entry)) in point.iter_mut().zip(start).enumerate() {
                    *point = entry * distance.mul_add(direction(sample, j), 1.0);
                }
                system.vector_field_at(point, rates);
            };
            rates_at(2.0 * f64::EPSILON, rates);
            add_squares(squares, rates.iter().zip(&*here).map(|(rate, here)| rate - here));
            rates_at(ROOT_OF_EPSILON, rates);
            let sum = &mut *entries;
            sum.copy_from_slice(rates);
            rates_at(-ROOT_OF_EPSILON, rates);
            let pairs = sum.iter().zip(rates.iter().zip(&*here));
            add_squares(squares, pairs.map(|(one, (other, here))| one + other - 2.0 * here));
        }
        for (j, (entry, own)) in entries.iter_mut().zip(&*squares).enumerate() {
            // An entry that is 0 at the start hides its rounding.
            let own = if *own > 0.0 { *own } else { size_of_variable(system.facts().state, squares, j) };
            let mean = own / SAMPLES as f64;
            *entry = if mean.is_finite() { mean } else { 0.0 };
        }
        system.jacobian_at(start, jacobian);
        for (value, row) in integrals.iter_mut().zip(jacobian.chunks_exact(start.len())) {
            let terms = row.iter().zip(&*entries).map(|(derivative, square)| derivative * derivative * square);
            let sum: f64 = terms.sum();
            *value = if sum.is_finite() { sum } else { 0.0 };
        }
        entries.iter_mut().for_each(|entry| *entry *= ROUNDING_OF_FIELD);
    });
}

/// Adds the squares of differences that are numbers.
fn add_squares(squares: &mut [f64], differences: impl Iterator<Item = f64>) {
    for (square, difference) in squares.iter_mut().zip(differences) {
        *square += if difference.is_finite() { difference * difference } else { 0.0 };
    }
}

/// In which direction, and how far, entry `j` of a state is moved in a sample: by between a half and one and a half.
fn direction(sample: usize, j: usize) -> f64 {
    let bits = ((j * SAMPLES + sample + 1) as u32).wrapping_mul(0x9E37_79B9);
    let size = 0.5 + f64::from(bits >> 8 & 0xFF) / 256.0;
    if bits >> 31 == 0 { size } else { -size }
}
