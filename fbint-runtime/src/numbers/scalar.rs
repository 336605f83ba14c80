//! The one trait that generated code requires of its numbers.
//!
//! Emitted functions are generic over [`Scalar`], so that one derivation serves `f64`, `f32`, SIMD lanes and dual
//! numbers. The blanket implementation covers everything that is nalgebra's [`SimdRealField`] and `Copy`; a type of lanes
//! that is not can implement the trait itself.

use core::ops::{Add, Div, Mul, Neg, Sub};

#[cfg(any(feature = "std", feature = "libm"))]
use nalgebra::SimdRealField;

use crate::numbers::entries::Entry;

/// A real number, or several side by side, that generated code can compute with.
///
/// A type that is not a `SimdRealField` implements it like this:
///
/// ```
/// use std::ops::{Add, Div, Mul, Neg, Sub};
///
/// use fbint_runtime::Scalar;
///
/// /// Four numbers side by side.
/// #[derive(Clone, Copy, Debug, PartialEq)]
/// struct Lanes([f64; 4]);
///
/// impl Lanes {
///     fn zip(self, other: Self, f: impl Fn(f64, f64) -> f64) -> Self {
///         Self(std::array::from_fn(|i| f(self.0[i], other.0[i])))
///     }
/// }
/// impl Add for Lanes { type Output = Self; fn add(self, other: Self) -> Self { self.zip(other, |a, b| a + b) } }
/// impl Sub for Lanes { type Output = Self; fn sub(self, other: Self) -> Self { self.zip(other, |a, b| a - b) } }
/// impl Mul for Lanes { type Output = Self; fn mul(self, other: Self) -> Self { self.zip(other, |a, b| a * b) } }
/// impl Div for Lanes { type Output = Self; fn div(self, other: Self) -> Self { self.zip(other, |a, b| a / b) } }
/// impl Neg for Lanes { type Output = Self; fn neg(self) -> Self { Self(self.0.map(|a| -a)) } }
///
/// impl Scalar for Lanes {
///     fn from_f64(value: f64) -> Self { Self([value; 4]) }
///     fn recip(self) -> Self { Self(self.0.map(f64::recip)) }
///     fn mul_add(self, factor: Self, summand: Self) -> Self { self * factor + summand }
///     fn sqrt(self) -> Self { Self(self.0.map(f64::sqrt)) }
///     fn abs(self) -> Self { Self(self.0.map(f64::abs)) }
///     fn powi(self, exponent: i32) -> Self { Self(self.0.map(|a| a.powi(exponent))) }
///     fn powf(self, exponent: Self) -> Self { self.zip(exponent, f64::powf) }
///     fn sin(self) -> Self { Self(self.0.map(f64::sin)) }
///     fn cos(self) -> Self { Self(self.0.map(f64::cos)) }
///     fn tan(self) -> Self { Self(self.0.map(f64::tan)) }
///     fn asin(self) -> Self { Self(self.0.map(f64::asin)) }
///     fn acos(self) -> Self { Self(self.0.map(f64::acos)) }
///     fn atan(self) -> Self { Self(self.0.map(f64::atan)) }
///     fn atan2(self, x: Self) -> Self { self.zip(x, f64::atan2) }
///     fn sinh(self) -> Self { Self(self.0.map(f64::sinh)) }
///     fn cosh(self) -> Self { Self(self.0.map(f64::cosh)) }
///     fn tanh(self) -> Self { Self(self.0.map(f64::tanh)) }
///     fn exp(self) -> Self { Self(self.0.map(f64::exp)) }
///     fn ln(self) -> Self { Self(self.0.map(f64::ln)) }
/// }
/// assert_eq!(Scalar::sqrt(Lanes([0.0, 1.0, 4.0, 9.0])).0, [0.0, 1.0, 2.0, 3.0]);
/// ```
pub trait Scalar:
    Entry + Add<Output = Self> + Sub<Output = Self> + Mul<Output = Self> + Div<Output = Self> + Neg<Output = Self>
{
    /// The number nearest to `value`, in every lane.
    fn from_f64(value: f64) -> Self;
    /// The number that has `number(lane)` in each lane. A type that is not made for lanes of different constants has
    /// `number(0)` in all.
    #[inline(always)]
    fn from_lanes(number: &dyn Fn(usize) -> f64) -> Self {
        Self::from_f64(number(0))
    }
    /// `1 / self`.
    fn recip(self) -> Self;
    /// `self * factor + summand`: fused where the target has the instruction, two roundings elsewhere.
    ///
    /// Without the instruction a fused product is a library call that costs as much as ten additions.
    fn mul_add(self, factor: Self, summand: Self) -> Self;
    /// The non-negative square root.
    fn sqrt(self) -> Self;
    /// The absolute value.
    fn abs(self) -> Self;
    /// 1, -1, or 0 of 0: the derivative of the absolute value, as generated code takes it. The default divides by a number that is not 0
    /// in double precision.
    #[inline]
    fn sign(self) -> Self {
        self / (self.abs() + Self::from_f64(f64::MIN_POSITIVE))
    }
    /// 1 of a positive number, 0 of a negative one, 1/2 of 0: what switches in generated code is multiplied by it.
    #[inline]
    fn step(self) -> Self {
        (self.sign() + Self::from_f64(1.0)) * Self::from_f64(0.5)
    }
    /// `self` to an integer power.
    fn powi(self, exponent: i32) -> Self;
    /// `self` to a real power.
    fn powf(self, exponent: Self) -> Self;
    /// The sine of `self` radians.
    fn sin(self) -> Self;
    /// The cosine of `self` radians.
    fn cos(self) -> Self;
    /// The tangent of `self` radians.
    fn tan(self) -> Self;
    /// The arcsine, in radians.
    fn asin(self) -> Self;
    /// The arccosine, in radians.
    fn acos(self) -> Self;
    /// The arctangent, in radians.
    fn atan(self) -> Self;
    /// The angle of the point (`x`, `self`), in radians.
    fn atan2(self, x: Self) -> Self;
    /// The hyperbolic sine.
    fn sinh(self) -> Self;
    /// The hyperbolic cosine.
    fn cosh(self) -> Self;
    /// The hyperbolic tangent.
    fn tanh(self) -> Self;
    /// e to the power `self`.
    fn exp(self) -> Self;
    /// The natural logarithm.
    fn ln(self) -> Self;
}

/// Forwards each function of [`Scalar`] to nalgebra's lane-wise one.
#[cfg(any(feature = "std", feature = "libm"))]
macro_rules! forward {
    ($($name:ident($($argument:ident: $type:ty),*) => $target:ident;)*) => {
        $(#[inline] fn $name(self, $($argument: $type),*) -> Self { self.$target($($argument),*) })*
    };
}

#[cfg(any(feature = "std", feature = "libm"))]
impl<T: SimdRealField + Copy> Scalar for T {
    #[inline]
    fn from_f64(value: f64) -> Self {
        nalgebra::convert(value)
    }

    #[inline]
    fn mul_add(self, factor: Self, summand: Self) -> Self {
        if cfg!(target_feature = "fma") { self.simd_mul_add(factor, summand) } else { self * factor + summand }
    }

    #[inline]
    fn sign(self) -> Self {
        self.simd_signum().select(self.simd_ne(Self::zero()), Self::zero())
    }

    forward! {
        recip() => simd_recip;
        sqrt() => simd_sqrt;
        abs() => simd_abs;
        powi(exponent: i32) => simd_powi;
        powf(exponent: Self) => simd_powf;
        sin() => simd_sin;
        cos() => simd_cos;
        tan() => simd_tan;
        asin() => simd_asin;
        acos() => simd_acos;
        atan() => simd_atan;
        atan2(x: Self) => simd_atan2;
        sinh() => simd_sinh;
        cosh() => simd_cosh;
        tanh() => simd_tanh;
        exp() => simd_exp;
        ln() => simd_ln;
    }
}

/// Stand-ins, because the crate does not compile without elementary functions: with them rustc reports that once, and not hundreds of times
/// that no number is a [`Scalar`].
#[cfg(not(any(feature = "std", feature = "libm")))]
macro_rules! stand_in {
    ($number:ty: $($name:ident($($argument:ty),*))*) => {
        impl Scalar for $number {
            fn from_f64(value: f64) -> Self { value as Self }
            $(fn $name(self, $(_: $argument),*) -> Self { self })*
        }
    };
    ($($number:ty),*) => {$(
        stand_in! {
            $number: recip() mul_add(Self, Self) sqrt() abs() powi(i32) powf(Self) sin() cos() tan() asin() acos() atan() atan2(Self)
                sinh() cosh() tanh() exp() ln()
        }
    )*};
}

#[cfg(not(any(feature = "std", feature = "libm")))]
stand_in!(f32, f64);
