//! Several numbers side by side, so that one core integrates many members of an ensemble at once.
//!
//! [`Lanes`] are vectors of the crate `wide`, a few of them in an array: vectors because a compiler that is left to find them in loops over
//! arrays does so only now and then, several because one step is a long chain of operations that wait for one another, and a second chain
//! fills the waiting. The best number of lanes depends on the registers of the target; [`Ensemble`](crate::Ensemble) takes what was fastest
//! when measured.
//!
//! No lane knows of its neighbours, and every lane is bit for bit what `f64` gives: + - * / and square roots are rounded correctly by the
//! vector instructions, products are fused where `f64` fuses them, and every other function calls `f64`'s, lane by lane, so that a system
//! with sines gains little. A value that is not finite stays in its lane.

use core::ops::{Add, Div, Mul, Neg, Sub};

#[cfg(feature = "ensemble")]
use crate::numbers::entries::Entries;
use crate::numbers::larger::Larger;
#[cfg(feature = "ensemble")]
use crate::numbers::linear::{Pivot, factorise, solve_factorised};
use crate::numbers::scalar::Scalar;

/// One register where registers are that wide, else two or four.
#[cfg(target_feature = "avx512f")]
type Vector = wide::f64x8;
#[cfg(not(target_feature = "avx512f"))]
type Vector = wide::f64x4;

const VECTOR: usize = if cfg!(target_feature = "avx512f") { 8 } else { 4 };

/// `for v in 0..V` with up to three rounds written out: generated code has thousands of operations, and LLVM would take most of its time to
/// keep track of the blocks of as many loops. Closures would make it look at more memory, too.
macro_rules! for_each_vector {
    ($v:ident => $body:expr) => {
        if const { V > 0 } {
            let $v = 0;
            $body;
        }
        if const { V > 1 } {
            let $v = 1;
            $body;
        }
        if const { V > 2 } {
            let $v = 2;
            $body;
        }
        if const { V > 3 } {
            let mut $v = 3;
            while $v < V {
                $body;
                $v += 1;
            }
        }
    };
}

/// `V` vectors of 8 numbers each, or of 4 unless the target has AVX-512.
///
/// ```
/// use fbint_runtime::{Lanes, Scalar};
///
/// let squares = Lanes::<2>::from_lanes(&|lane| (lane * lane) as f64);
/// assert_eq!((squares.sqrt() + Lanes::from_f64(1.0)).lane(3), 4.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes<const V: usize>([Vector; V]);

impl<const V: usize> Lanes<V> {
    /// The number of lanes.
    pub const COUNT: usize = V * VECTOR;
    const ZERO: Self = Self([Vector::ZERO; V]);

    /// The number in one lane.
    ///
    /// # Panics
    ///
    /// If the lane does not exist.
    #[inline]
    pub fn lane(&self, lane: usize) -> f64 {
        self.0[lane / VECTOR].as_array()[lane % VECTOR]
    }

    /// The numbers of a slice, one in each lane.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn load(numbers: &[f64]) -> Self {
        let mut lanes = Self::ZERO;
        for (vector, numbers) in lanes.0.iter_mut().zip(numbers.as_chunks().0) {
            *vector = Vector::from(*numbers);
        }
        lanes
    }

    /// Puts the number of each lane into a slice.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn store(&self, numbers: &mut [f64]) {
        for (vector, numbers) in self.0.iter().zip(numbers.as_chunks_mut().0) {
            *numbers = *vector.as_array();
        }
    }

    /// Puts a number into one lane.
    #[cfg(feature = "ensemble")]
    #[inline(always)]
    pub(crate) fn set(&mut self, lane: usize, number: f64) {
        self.0[lane / VECTOR].as_mut_array()[lane % VECTOR] = number;
    }

    /// The lanes whose number is at most as large as in `other`, which NaN never is.
    #[cfg(feature = "ensemble")]
    #[inline(always)]
    pub(crate) fn is_at_most(self, other: Self) -> Mask<V> {
        Mask(self.zip(other, |a, b| a.simd_le(b)))
    }

    /// The lanes whose number is larger than in `other`. A comparison with NaN is false.
    #[cfg(feature = "ensemble")]
    #[inline(always)]
    fn is_above(self, other: Self) -> Mask<V> {
        Mask(self.zip(other, |a, b| a.simd_gt(b)))
    }

    /// The lanes that hold a finite number.
    #[cfg(feature = "ensemble")]
    #[inline(always)]
    pub(crate) fn is_finite(self) -> Mask<V> {
        self.abs().is_at_most(Self::from_f64(f64::MAX))
    }

    /// `self` where it is less than `other`, else `other`, in each lane: what `f64::min` gives where neither is a NaN.
    #[cfg(feature = "ensemble")]
    #[inline(always)]
    pub(crate) fn min(self, other: Self) -> Self {
        self.zip(other, |a, b| a.simd_lt(b).select(a, b))
    }

    #[inline(always)]
    fn map(mut self, function: impl Fn(Vector) -> Vector) -> Self {
        for_each_vector!(v => self.0[v] = function(self.0[v]));
        self
    }

    #[inline(always)]
    fn zip(mut self, other: Self, function: impl Fn(Vector, Vector) -> Vector) -> Self {
        for_each_vector!(v => self.0[v] = function(self.0[v], other.0[v]));
        self
    }
}

impl<const V: usize> Default for Lanes<V> {
    /// 0 in each.
    fn default() -> Self {
        Self::from_f64(0.0)
    }
}

impl<const V: usize> Larger for Lanes<V> {
    #[inline(always)]
    fn larger(self, other: Self) -> Self {
        self.zip(other, |a, b| a.simd_gt(b).select(a, b))
    }

    #[inline(always)]
    fn if_larger(mut self, limit: Self, other: Self) -> Self {
        for_each_vector!(v => self.0[v] = self.0[v].simd_gt(limit.0[v]).select(self.0[v], other.0[v]));
        self
    }

    #[inline(always)]
    fn if_positive(self, then: impl FnOnce() -> Self) -> Self {
        self.zip(then(), |a, then| a.simd_gt(Vector::splat(0.0)).select(then, a))
    }
}

/// Some of the lanes of [`Lanes`].
#[cfg(feature = "ensemble")]
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mask<const V: usize>(Lanes<V>);

#[cfg(feature = "ensemble")]
impl<const V: usize> Default for Mask<V> {
    fn default() -> Self {
        Self::none()
    }
}

#[cfg(feature = "ensemble")]
impl<const V: usize> Mask<V> {
    /// Returns `true` if this lane is among them.
    pub(crate) fn has(self, lane: usize) -> bool {
        self.0.lane(lane).to_bits() != 0
    }

    /// These lanes, with this one or without it.
    pub(crate) fn with(mut self, lane: usize, is_chosen: bool) -> Self {
        self.0.set(lane, f64::from_bits(if is_chosen { u64::MAX } else { 0 }));
        self
    }

    /// Every lane.
    #[inline(always)]
    pub(crate) fn all() -> Self {
        let zero = Lanes::from_f64(0.0);
        zero.is_at_most(zero)
    }

    /// No lane.
    #[inline(always)]
    pub(crate) fn none() -> Self {
        Self(Lanes::from_f64(0.0))
    }

    /// The lanes that are in both.
    #[inline(always)]
    pub(crate) fn and(self, other: Self) -> Self {
        Self(self.0.zip(other.0, |a, b| a & b))
    }

    /// The lanes that are in one of both.
    #[inline(always)]
    pub(crate) fn or(self, other: Self) -> Self {
        Self(self.0.zip(other.0, |a, b| a | b))
    }

    /// The lanes that are in this one and not in the other.
    #[inline(always)]
    pub(crate) fn and_not(self, other: Self) -> Self {
        Self(self.0.zip(other.0, |a, b| a & !b))
    }

    /// The lanes of `these` where they are in the mask, and the lanes of `others` elsewhere.
    #[inline(always)]
    pub(crate) fn select(self, these: Lanes<V>, mut others: Lanes<V>) -> Lanes<V> {
        for_each_vector!(v => others.0[v] = self.0.0[v].select(these.0[v], others.0[v]));
        others
    }

    /// Replaces the lanes in the mask by another vector's lanes.
    #[inline(always)]
    pub(crate) fn replace_each<E: Entries<Lanes<V>>>(self, lanes: &mut E, by: &E) {
        for i in 0..E::LEN {
            lanes[i] = self.select(by[i], lanes[i]);
        }
    }

    /// Returns `true` if there is any.
    #[inline(always)]
    pub(crate) fn any(self) -> bool {
        let mut any = false;
        let mut v = 0;
        while v < V {
            any |= self.0.0[v].any();
            v += 1;
        }
        any
    }

    /// The lanes, by their indices.
    pub(crate) fn lanes(self) -> impl Iterator<Item = usize> {
        let (mut lanes, mut v) = (0, 0);
        while v < V {
            lanes |= u64::from(self.0.0[v].to_bitmask()) << (v * VECTOR);
            v += 1;
        }
        bits(lanes)
    }
}

/// The bits of a number that are set: what is written on it is compiled once for any number of lanes.
#[cfg(feature = "ensemble")]
fn bits(mut of: u64) -> impl Iterator<Item = usize> {
    core::iter::from_fn(move || {
        let least = of & of.wrapping_neg();
        of ^= least;
        least.checked_ilog2().map(|bit| bit as usize)
    })
}

/// Which row has the pivot differs from lane to lane: rows are numbers, and are exchanged in the lanes that have them.
#[cfg(feature = "ensemble")]
impl<const V: usize> Pivot for Lanes<V> {
    type Row = Self;
    type Truth = Mask<V>;

    #[inline(always)]
    fn is_singular(self) -> Mask<V> {
        let size = self.abs();
        let is_regular = size.is_at_most(Self::from_f64(f64::MAX)).and_not(size.is_at_most(Self::from_f64(0.0)));
        Mask::all().and_not(is_regular)
    }

    #[inline(always)]
    fn either(a: Mask<V>, b: Mask<V>) -> Mask<V> {
        a.or(b)
    }

    #[inline]
    fn largest(first: usize, last: usize, column: impl Fn(usize) -> Self) -> Self {
        let (mut best, mut size) = (Self::from_f64(first as f64), column(first).abs());
        for i in first + 1..last {
            let other = column(i).abs();
            let is_larger = other.is_above(size);
            (best, size) = (is_larger.select(Self::from_f64(i as f64), best), is_larger.select(other, size));
        }
        best
    }

    #[inline]
    fn exchange(rows: &mut [Self], width: usize, first: usize, other: Self) {
        let (above, below) = rows.split_at_mut((first + 1) * width);
        let row = &mut above[first * width..];
        for (i, candidate) in below.chunks_exact_mut(width).enumerate() {
            let place = Self::from_f64((first + 1 + i) as f64);
            let meant = place.is_at_most(other).and(other.is_at_most(place));
            if meant.any() {
                for (a, b) in row.iter_mut().zip(candidate) {
                    (*a, *b) = (meant.select(*b, *a), meant.select(*a, *b));
                }
            }
        }
    }

    #[inline]
    fn swap(entries: &mut [Self], first: usize, other: Self) {
        Self::exchange(entries, 1, first, other);
    }

    #[inline]
    fn eliminate(row: &mut [Self], pivot: &[Self]) {
        let size = row[0].abs();
        let meant = Mask::all().and_not(size.is_at_most(Self::from_f64(0.0)));
        if meant.any() {
            let factor = row[0] / pivot[0];
            row[0] = meant.select(factor, row[0]);
            for (entry, of_pivot) in row[1..].iter_mut().zip(&pivot[1..]) {
                *entry = meant.select(*entry - factor * *of_pivot, *entry);
            }
        }
    }

    fn factorise(matrix: &mut [Self], pivots: &mut [Self]) -> Mask<V> {
        factorise(matrix, pivots)
    }

    fn solve_factorised(factors: &[Self], pivots: &[Self], b: &mut [Self]) {
        solve_factorised(factors, pivots, b);
    }
}

macro_rules! operators {
    ($($name:ident::$function:ident)*) => {
        $(impl<const V: usize> $name for Lanes<V> {
            type Output = Self;

            #[inline(always)]
            fn $function(self, other: Self) -> Self {
                self.zip(other, $name::$function)
            }
        })*
    };
}

operators!(Add::add Sub::sub Mul::mul Div::div);

impl<const V: usize> Neg for Lanes<V> {
    type Output = Self;

    #[inline(always)]
    fn neg(self) -> Self {
        self.map(Neg::neg)
    }
}

/// The functions of `f64`, of one and of two numbers, in each lane.
macro_rules! functions {
    ($($name:ident)*; $($of_two:ident)*) => {
        $(fn $name(self) -> Self { Self::from_lanes(&|lane| Scalar::$name(self.lane(lane))) })*
        $(fn $of_two(self, other: Self) -> Self { Self::from_lanes(&|lane| Scalar::$of_two(self.lane(lane), other.lane(lane))) })*
    };
}

impl<const V: usize> Scalar for Lanes<V> {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        let mut lanes = Self::ZERO;
        for_each_vector!(v => lanes.0[v] = Vector::splat(value));
        lanes
    }

    /// A bare loop within a vector: this gathers every parameter of every system.
    #[inline(always)]
    fn from_lanes(number: &dyn Fn(usize) -> f64) -> Self {
        let mut lanes = Self::ZERO;
        for_each_vector!(v => {
            let mut numbers = [0.0; VECTOR];
            let mut i = 0;
            while i < VECTOR {
                numbers[i] = number(v * VECTOR + i);
                i += 1;
            }
            lanes.0[v] = Vector::from(numbers);
        });
        lanes
    }

    #[inline(always)]
    fn recip(self) -> Self {
        Self::from_f64(1.0) / self
    }

    #[inline(always)]
    fn mul_add(mut self, factor: Self, summand: Self) -> Self {
        for_each_vector!(v => self.0[v] = {
            let (a, b, c) = (self.0[v], factor.0[v], summand.0[v]);
            if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { a * b + c }
        });
        self
    }

    #[inline(always)]
    fn sqrt(self) -> Self {
        self.map(|vector| vector.sqrt())
    }

    #[inline(always)]
    fn abs(self) -> Self {
        self.map(|vector| vector.abs())
    }

    fn sign(self) -> Self {
        Self::from_lanes(&|lane| Scalar::sign(self.lane(lane)))
    }

    fn powi(self, exponent: i32) -> Self {
        Self::from_lanes(&|lane| Scalar::powi(self.lane(lane), exponent))
    }

    functions!(sin cos tan asin acos atan sinh cosh tanh exp ln; powf atan2);
}
