//! Several numbers side by side, so that one core integrates many members of an ensemble at once.
//!
//! [`Lanes`] are vectors of the crate `wide`, a few of them in an array: vectors because a compiler that is left to find
//! them in loops over arrays does so only now and then, several because one step is a long chain of operations each of which waits
//! for the last, and a second chain fills the waiting. How many lanes are best depends on the registers of the target;
//! [`Ensemble`](crate::Ensemble) takes what was fastest when measured.
//!
//! No lane knows of its neighbours, and every lane is bit for bit what `f64` gives: + - * / and square roots are rounded
//! correctly by the vector instructions, products are fused where those of `f64` are, and every other function is that of
//! `f64`, lane by lane. What is not finite stays in its lane.

use core::ops::{Add, Div, Mul, Neg, Sub};

use crate::scalar::Scalar;

/// One register where registers are that wide, else two or four.
#[cfg(target_feature = "avx512f")]
type Vector = wide::f64x8;
#[cfg(not(target_feature = "avx512f"))]
type Vector = wide::f64x4;

const VECTOR: usize = if cfg!(target_feature = "avx512f") { 8 } else { 4 };

/// `V` vectors of 8 numbers each, or of 4 unless the target has AVX-512.
///
/// ```
/// use fbint_runtime::{Lanes, Scalar};
///
/// let squares = Lanes::<2>::from_lanes(|lane| (lane * lane) as f64);
/// assert_eq!((squares.sqrt() + Lanes::from_f64(1.0)).lane(3), 4.0);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Lanes<const V: usize>([Vector; V]);

impl<const V: usize> Lanes<V> {
    /// How many lanes there are.
    pub const COUNT: usize = V * VECTOR;

    /// The number in one lane.
    ///
    /// # Panics
    ///
    /// If there is no such lane.
    #[inline]
    pub fn lane(&self, lane: usize) -> f64 {
        self.0[lane / VECTOR].as_array()[lane % VECTOR]
    }

    /// A bare loop, because generated code has thousands of operations and each is compiled.
    #[inline(always)]
    fn map(mut self, function: impl Fn(Vector) -> Vector) -> Self {
        let mut v = 0;
        while v < V {
            self.0[v] = function(self.0[v]);
            v += 1;
        }
        self
    }

    #[inline(always)]
    fn zip(mut self, other: Self, function: impl Fn(Vector, Vector) -> Vector) -> Self {
        let mut v = 0;
        while v < V {
            self.0[v] = function(self.0[v], other.0[v]);
            v += 1;
        }
        self
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
        $(fn $name(self) -> Self { Self::from_lanes(|lane| Scalar::$name(self.lane(lane))) })*
        $(fn $of_two(self, other: Self) -> Self { Self::from_lanes(|lane| Scalar::$of_two(self.lane(lane), other.lane(lane))) })*
    };
}

impl<const V: usize> Scalar for Lanes<V> {
    #[inline(always)]
    fn from_f64(value: f64) -> Self {
        Self([Vector::splat(value); V])
    }

    /// Bare loops here, too: it gathers every parameter of every system.
    #[inline(always)]
    fn from_lanes(number: impl Fn(usize) -> f64) -> Self {
        let mut lanes = [Vector::splat(0.0); V];
        let mut v = 0;
        while v < V {
            let mut numbers = [0.0; VECTOR];
            let mut i = 0;
            while i < VECTOR {
                numbers[i] = number(v * VECTOR + i);
                i += 1;
            }
            lanes[v] = Vector::from(numbers);
            v += 1;
        }
        Self(lanes)
    }

    #[inline(always)]
    fn recip(self) -> Self {
        Self::from_f64(1.0) / self
    }

    #[inline(always)]
    fn mul_add(mut self, factor: Self, summand: Self) -> Self {
        let mut v = 0;
        while v < V {
            let (a, b, c) = (self.0[v], factor.0[v], summand.0[v]);
            self.0[v] = if cfg!(target_feature = "fma") { a.mul_add(b, c) } else { a * b + c };
            v += 1;
        }
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

    fn powi(self, exponent: i32) -> Self {
        Self::from_lanes(|lane| Scalar::powi(self.lane(lane), exponent))
    }

    functions!(sin cos tan asin acos atan sinh cosh tanh exp ln; powf atan2);
}
