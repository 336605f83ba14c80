//! The sides of switches on which a field is held, and fields that slide between two sides.
//!
//! Where a field switches by `max`, `abs` or `if`, it is smooth on either side of a zero of the function a that decides. A run holds the
//! side on which a step begins, and changes it where a passes 0. Where both sides lead back to a = 0, as friction by `signum` does to a
//! body at rest, the motion slides: its rate is the mean of both sides, f = f_- + w (f_+ - f_-), with the weight 0 <= w <= 1 for which
//! a stays 0 (A. F. Filippov, *Differential Equations with Discontinuous Righthand Sides*, 1988). It leaves where w leaves [0, 1]. With
//! several such functions, the weights solve a linear system, if the field is linear in each.

use core::any::Any;

use crate::field::laws::{DIFFERENCE, Laws};
use crate::numbers::dual::Dual;
use crate::numbers::entries::Entries;
use crate::numbers::linear::sum;
use crate::numbers::scalar::Scalar;
use crate::system::{FeedbackSystem, PreparedSystem, SystemFacts, Vector};

/// The side of a switch on which a field is held.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub enum Side {
    /// None: the state decides, with the mean of both sides at 0.
    #[default]
    Free,
    /// The side of positive numbers.
    Positive,
    /// The side of negative numbers.
    Negative,
    /// Between both.
    Sliding,
}

impl Side {
    /// The number that holds generated code on it.
    pub(crate) fn number(self) -> f64 {
        match self {
            Self::Positive => f64::INFINITY,
            Self::Negative => f64::NEG_INFINITY,
            Self::Free | Self::Sliding => 0.0,
        }
    }
}

#[cfg(feature = "std")]
impl Side {
    /// The function of a switch, or of how it slides, with the sign by which it is positive on this side.
    pub(crate) fn held(self, value: f64) -> f64 {
        match self {
            Self::Positive | Self::Sliding => value,
            Self::Negative => -value,
            // It was 0 and is to stay 0.
            Self::Free => -value.abs(),
        }
    }
}

/// The prepared system with its switches on these sides.
pub(crate) fn on_sides<S: FeedbackSystem>(system: &S::Prepared<f64>, sides: &[Side]) -> S::Prepared<f64> {
    (0..).zip(sides).fold(system.clone(), |system, (place, side)| system.on_side(place, side.number()))
}

/// The most switches along which a field slides at once.
const MOST: usize = 6;

/// The part of its largest term below which a rate is the rounding of a cancellation: a body at rest has none. Error control would compare
/// such a rate with the size that it makes itself, and would find no step short enough.
const CANCELLED: f64 = 64.0 * f64::EPSILON;

/// A rate whose largest term has this size, or 0 where it is rounding.
pub(crate) fn without_rounding(rate: f64, largest: f64) -> f64 {
    if rate.abs() < CANCELLED * largest { 0.0 } else { rate }
}

/// The switches along which a field slides.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Sliding {
    /// Their places.
    places: [u16; MOST],
    count: usize,
}

/// The rates of a system with its inputs in a state.
pub(crate) type Rates<'f, S> = dyn Fn(&<S as FeedbackSystem>::Prepared<f64>, &Vector<S>) -> Vector<S> + 'f;

/// The motion of a system whose field switches.
pub(crate) struct Motion<'f, S: FeedbackSystem> {
    pub(crate) system: &'f S::Prepared<f64>,
    pub(crate) laws: Laws,
    pub(crate) rates: &'f Rates<'f, S>,
}

impl<S: FeedbackSystem> Motion<'_, S> {
    /// The rates of the system on other sides.
    fn rates_of(&self, system: &S::Prepared<f64>, x: &Vector<S>) -> Vector<S> {
        (self.rates)(self.laws.apply::<S, f64>(system, x, &mut None), x)
    }

    /// The rate of the function of a switch of such a system, where the state has these rates.
    fn slope(&self, system: &S::Prepared<f64>, x: &Vector<S>, rates: &Vector<S>, place: usize) -> f64 {
        let x = Entries::from_fn(|entry| Dual { value: x[entry], slope: rates[entry] });
        self.laws.apply::<S, Dual>(&S::gather(&|_| system), &x, &mut None).switch_at(&x, place).slope
    }
}

impl Sliding {
    /// None.
    pub(crate) const NONE: Self = Self { places: [0; MOST], count: 0 };

    /// The switches that slide.
    pub(crate) fn along(sides: &[Side]) -> Self {
        let mut sliding = Self::NONE;
        for (place, _) in (0..).zip(sides).filter(|(_, side)| **side == Side::Sliding).take(MOST) {
            sliding.places[sliding.count] = place;
            sliding.count += 1;
        }
        sliding
    }

    /// These switches, if a system with these facts slides. Nothing is compiled where it never does.
    #[inline(always)]
    pub(crate) fn of(&self, facts: &SystemFacts) -> Option<&Self> {
        (facts.has_switches() && self.count > 0).then_some(self)
    }

    fn places(&self) -> impl Iterator<Item = usize> {
        self.places[..self.count].iter().map(|place| usize::from(*place))
    }

    /// The rates, and the weight of the positive side of each switch.
    fn slide<S: FeedbackSystem>(&self, motion: &Motion<'_, S>, x: &Vector<S>) -> (Vector<S>, [f64; MOST]) {
        let on = |system: &S::Prepared<f64>, place: usize, side: Side| system.on_side(place, side.number());
        let below = self.places().fold(motion.system.clone(), |system, place| on(&system, place, Side::Negative));
        let base = motion.rates_of(&below, x);
        let (mut matrix, mut weights, mut jumps) = ([0.0; MOST * MOST], [0.0; MOST], [base; MOST]);
        for (column, place) in self.places().enumerate() {
            jumps[column] = sum(&motion.rates_of(&on(&below, place, Side::Positive), x), -1.0, &base);
        }
        for (row, place) in self.places().enumerate() {
            weights[row] = -motion.slope(&below, x, &base, place);
            for (column, jump) in jumps[..self.count].iter().enumerate() {
                matrix[row * self.count + column] = motion.slope(&below, x, jump, place);
            }
        }
        let matrix = &mut matrix[..self.count * self.count];
        solve_weights(matrix, &mut weights[..self.count], &mut [0; MOST][..self.count]);
        let rates = (0..self.count).fold(base, |rates, column| sum(&rates, weights[column], &jumps[column]));
        let term = |column: usize, entry: usize| (weights[column] * jumps[column][entry]).abs();
        let largest = |entry| (0..self.count).map(|column| term(column, entry)).fold(base[entry].abs(), f64::max);
        (Entries::from_fn(|entry| without_rounding(rates[entry], largest(entry))), weights)
    }

    /// The rates.
    #[cold]
    pub(crate) fn value<S: FeedbackSystem>(&self, motion: &Motion<'_, S>, x: &Vector<S>) -> Vector<S> {
        self.slide(motion, x).0
    }

    /// Puts the functions at whose zeros the field switches, or stops to slide, into `values`.
    pub(crate) fn switches<S: FeedbackSystem>(&self, motion: &Motion<'_, S>, x: &Vector<S>, values: &mut [f64]) {
        motion.laws.apply::<S, f64>(motion.system, x, &mut None).switches_at(x, values);
        if self.count > 0 {
            let (_, weights) = self.slide(motion, x);
            self.places().zip(weights).for_each(|(place, weight)| values[place] = weight * (1.0 - weight));
        }
    }

    /// The rate of the function of a switch.
    pub(crate) fn switch_rate<S: FeedbackSystem>(&self, motion: &Motion<'_, S>, x: &Vector<S>, place: usize) -> f64 {
        let rates = if self.count > 0 { self.slide(motion, x).0 } else { motion.rates_of(motion.system, x) };
        motion.slope(motion.system, x, &rates, place)
    }
}

/// A coefficient below this part of the largest one is rounding.
const RANK: f64 = 1e-10;

/// Replaces the right side of the system of the weights by the weights, given room for the places of columns.
///
/// Functions may say the same, or one may have no rate at all where another is 0: then several weights do, and those that are left open
/// are 1/2. Where no weights do, the motion does not slide, and they are no numbers.
pub(crate) fn solve_weights(matrix: &mut [f64], weights: &mut [f64], places: &mut [usize]) {
    let count = weights.len();
    let largest = matrix.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    places.iter_mut().enumerate().for_each(|(place, column)| *column = place);
    let mut rank = 0;
    while rank < count {
        let size = |[row, column]: &[usize; 2]| matrix[row * count + column].abs();
        let entries = (rank..count).flat_map(|row| (rank..count).map(move |column| [row, column]));
        let Some([row, column]) = entries.max_by(|one, other| size(one).total_cmp(&size(other))) else { break };
        let pivot = size(&[row, column]);
        if pivot.is_nan() {
            return weights.fill(f64::NAN);
        }
        if pivot <= RANK * largest {
            break;
        }
        (0..count).for_each(|column| matrix.swap(rank * count + column, row * count + column));
        weights.swap(rank, row);
        (0..count).for_each(|row| matrix.swap(row * count + rank, row * count + column));
        places.swap(rank, column);
        for row in (0..count).filter(|row| *row != rank) {
            let factor = matrix[row * count + rank] / matrix[rank * count + rank];
            for column in rank..count {
                matrix[row * count + column] -= factor * matrix[rank * count + column];
            }
            weights[row] -= factor * weights[rank];
        }
        rank += 1;
    }
    let of_rest = if weights[rank..].iter().all(|rest| rest.abs() <= RANK * largest) { 0.5 } else { f64::NAN };
    for row in 0..rank {
        let open = matrix[row * count + rank..(row + 1) * count].iter().fold(0.0, |sum, entry| sum + entry);
        weights[row] = (weights[row] - of_rest * open) / matrix[row * count + row];
    }
    weights[rank..].fill(of_rest);
    for place in 0..count {
        while places[place] != place {
            let other = places[place];
            weights.swap(place, other);
            places.swap(place, other);
        }
    }
}

/// The value of a function of doubles at a vector, in numbers of any type. A field in other numbers does not slide.
pub(crate) fn by_doubles<V: Entries<T>, W: Entries<f64>, T: Scalar>(x: &V, value: impl FnOnce(&W) -> W) -> V {
    let rates = <dyn Any>::downcast_ref(x).map(value);
    V::from_fn(|entry| T::from_f64(rates.as_ref().map_or(f64::NAN, |rates| rates[entry])))
}

/// Calls `add` with each entry of the Jacobian of a field with this many entries, by central differences.
pub(crate) fn differences<V: Entries<T>, T: Scalar>(
    x: &V,
    entries: usize,
    value: &dyn Fn(&V) -> V,
    add: &mut dyn FnMut(usize, usize, T),
) -> bool {
    for column in 0..entries {
        let length = T::from_f64(DIFFERENCE) * (x[column].abs() + T::from_f64(1.0));
        let at = |change: T| {
            let mut x = *x;
            x[column] = x[column] + change;
            value(&x)
        };
        let (above, below) = (at(length), at(-length));
        (0..entries).for_each(|row| add(row, column, (above[row] - below[row]) / (length + length)));
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn weights_solve_their_system() {
        for (mut matrix, mut weights, expected) in [
            ([0.0, 2.0, 4.0, 1.0], [6.0, 11.0], [2.0, 3.0]),
            // The first function has no rate, and the second weight is open.
            ([1e-17, 0.0, -2.0, 0.0], [1e-17, -1.0], [0.5, 0.5]),
            // Both say the same.
            ([1.0, 2.0, 2.0, 4.0], [1.0, 2.0], [0.5, 0.25]),
            ([0.0; 4], [0.0; 2], [0.5; 2]),
        ] {
            solve_weights(&mut matrix, &mut weights, &mut [0; 2]);
            assert_eq!(weights, expected);
        }
        let mut weights = [1.0, 3.0];
        solve_weights(&mut [1.0, 2.0, 2.0, 4.0], &mut weights, &mut [0; 2]);
        assert!(weights.iter().all(|weight| weight.is_nan()), "{weights:?}");
    }
}
