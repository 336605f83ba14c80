//! Real numbers of 256 bits with a bound on their error, and expressions evaluated in them.
//!
//! Every operation adds its rounding error, and passes on the errors of what it is applied to, to first order. So a number that is
//! larger than its bound is not 0, however small it is compared with the terms that it is made of: no tolerance decides. Values
//! larger than the range of a double count as undefined, which also bounds the time that elementary functions take; smaller
//! ones are 0 within their bound.

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::hash::Hash;
use std::ops::{Add, Div, Mul, Neg, Sub};
use std::thread::LocalKey;

use astro_float_num::{BigFloat, Consts, NAN, RoundingMode, Sign, WORD_BIT_SIZE};
use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::derivative::known_value;
use super::number::{Number, Numeric};
use super::power;
use super::scaled::power_of_two;
use crate::expression::parts::Results;
use crate::expression::work::{PRECISE, PRECISE_FUNCTION, spend};
use crate::expression::{Expression, Function, Symbol};

/// Bits of the mantissa.
const PRECISION: usize = 256;
/// The unit of rounding: ties to even.
const ROUNDING: RoundingMode = RoundingMode::ToEven;
/// The relative error of an operation: a few bits more than the unit of rounding, for what the first order leaves out.
const UNIT: f64 = 5.5e-76;
/// The relative error of an operation of doubles.
const UNIT_OF_DOUBLES: f64 = 4.0 * f64::EPSILON;
/// Binary exponents beyond this in size are out of range.
const LARGEST_EXPONENT: i32 = 1000;
/// The part below the range.
const TINY: f64 = 1e-300;
/// Exponentials of what has more binary digits before the point than this are out of range.
const LARGEST_ARGUMENT: i32 = 10;

thread_local! {
    /// The relative error that an operation adds to the bound.
    static UNIT_OF_BOUNDS: Cell<f64> = const { Cell::new(UNIT) };
    /// Digits of pi and of logarithms, computed once.
    static CONSTANTS: RefCell<Consts> = RefCell::new(Consts::new().expect("there is memory for a few digits"));
    /// Values of functions, which every program of a model and its derivation take at the same points.
    static CALLS: RefCell<HashMap<Argument, BigFloat>> = RefCell::default();
    /// Quotients of integers.
    static QUOTIENTS: RefCell<HashMap<(BigInt, BigInt), Real>> = RefCell::default();
}

/// The most values that are kept of each kind.
const KEPT: usize = 1 << 16;

/// A function and its argument: sign, exponent and mantissa.
type Argument = (Function, bool, i32, Vec<u64>);

/// The value for a key, which is computed where it is not known.
fn known<K: Clone + Eq + Hash, V: Clone>(
    kept: &'static LocalKey<RefCell<HashMap<K, V>>>,
    key: &K,
    compute: impl FnOnce() -> V,
) -> V {
    if let Some(value) = kept.with_borrow(|kept| kept.get(key).cloned()) {
        return value;
    }
    let value = compute();
    kept.with_borrow_mut(|kept| {
        if kept.len() >= KEPT {
            kept.clear();
        }
        kept.insert(key.clone(), value.clone());
    });
    value
}

/// Lets the bounds of all that is computed here grow as if every operation rounded as doubles do.
pub(crate) fn bounded_like_doubles<T>(compute: impl FnOnce() -> T) -> T {
    struct Restored;
    impl Drop for Restored {
        fn drop(&mut self) {
            UNIT_OF_BOUNDS.set(UNIT);
        }
    }
    let _restored = Restored;
    UNIT_OF_BOUNDS.set(UNIT_OF_DOUBLES);
    compute()
}

/// A number of 256 bits.
#[derive(Clone, Debug)]
pub(crate) struct Real {
    value: BigFloat,
    /// A bound on the distance to the number that is meant.
    error: f64,
}

impl Real {
    pub(crate) fn zero() -> Self {
        Self::from(0.0)
    }

    /// The error of an operation whose arguments had errors that make this difference.
    fn rounded(value: BigFloat, inherited: f64) -> Self {
        spend(PRECISE);
        // Of what is larger than any double, no error has a bound.
        let size = size(&value);
        let rounding = if size < f64::MAX { UNIT_OF_BOUNDS.get() * size } else { f64::INFINITY };
        Self { value, error: inherited + rounding }
    }

    /// Values that are not numbers.
    pub(crate) fn undefined() -> Self {
        Self { value: NAN, error: f64::INFINITY }
    }

    pub(crate) fn abs(&self) -> Self {
        Self { value: self.value.abs(), error: self.error }
    }

    /// This number, meant to be within this distance.
    pub(crate) fn within(self, error: f64) -> Self {
        Self { error, ..self }
    }

    /// A bound on the distance to the number that is meant.
    pub(crate) fn error(&self) -> f64 {
        self.error
    }

    /// The nearest double, up to its last bits.
    pub(crate) fn to_f64(&self) -> f64 {
        nearest(&self.value)
    }

    /// The number itself, 0 where it may be 0; `None` if it is not finite.
    pub(crate) fn nearest_rational(&self) -> Option<BigRational> {
        if !self.is_nonzero() {
            return self.error.is_finite().then(BigRational::zero);
        }
        let (words, _, _, exponent, _) = self.value.as_raw_parts()?;
        let digits: Vec<u32> = words.iter().flat_map(|word| [*word as u32, (*word >> 32) as u32]).collect();
        let sign = if self.value.is_negative() { num_bigint::Sign::Minus } else { num_bigint::Sign::Plus };
        let fraction = BigRational::from_integer(BigInt::from_slice(sign, &digits));
        let places = i64::from(exponent) - i64::try_from(words.len() * WORD_BIT_SIZE).ok()?;
        Some(fraction * power_of_two(places))
    }

    /// Returns `true` if the number is a power of two or its opposite, by which products are exact: minus the sign of something cancels another sign.
    fn is_power_of_two(&self) -> bool {
        let Some((words, ..)) = self.value.as_raw_parts() else { return false };
        words.split_last().is_some_and(|(last, others)| *last == 1 << 63 && others.iter().all(|word| *word == 0))
    }

    /// Returns `true` if the number that is meant is certainly 0.
    pub(crate) fn is_zero(&self) -> bool {
        self.value.is_zero() && self.error == 0.0
    }

    /// Returns `true` if the number that is meant is certainly not 0.
    pub(crate) fn is_nonzero(&self) -> bool {
        self.to_f64().abs() > 4.0 * self.error
    }

    /// Returns `true` if nothing is left of the number but its error, as where it is below the range.
    pub(crate) fn is_lost(&self) -> bool {
        self.value.is_zero() && self.error > 0.0
    }

    /// The value of an expression, unless some part of it is undefined or out of range.
    pub(crate) fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Option<Self> {
        known_value(expression, value, &Results::default())
    }
}

/// The nearest double, up to its last bits.
fn nearest(value: &BigFloat) -> f64 {
    let size = match value.as_raw_parts() {
        Some((words, _, _, exponent, _)) => {
            // The mantissa is a fraction in [1/2, 1), its most significant word last.
            let fraction = words.last().map_or(0.0, |&word| word as f64 * 0.5_f64.powi(64));
            let exponent = exponent.clamp(-1070, 1100);
            let power_of_two = |exponent: i32| f64::from_bits(((1023 + exponent) as u64) << 52);
            fraction * power_of_two(exponent / 2) * power_of_two(exponent - exponent / 2)
        }
        None if value.is_inf() => f64::INFINITY,
        None => f64::NAN,
    };
    if value.is_negative() { -size } else { size }
}

/// The size of a number, for errors relative to it, and at most the largest double.
fn size(value: &BigFloat) -> f64 {
    nearest(value).abs().clamp(0.0, f64::MAX)
}

fn integer(number: &BigInt) -> Real {
    match float(number) {
        (value, true) => Real { value, error: 0.0 },
        (value, false) => Real::rounded(value, 0.0),
    }
}

/// The nearest number of 256 bits, and whether it is the integer itself.
fn float(number: &BigInt) -> (BigFloat, bool) {
    if let Some(small) = number.to_i64() {
        return (BigFloat::from_i64(small, PRECISION), true);
    }
    let left_out = number.bits().saturating_sub(PRECISION as u64);
    let leading = number.magnitude() >> left_out;
    let words = leading.to_u64_digits();
    let sign = if number.is_negative() { Sign::Neg } else { Sign::Pos };
    // The words are the digits after the point.
    let exponent = i32::try_from((words.len() * WORD_BIT_SIZE) as u64 + left_out).unwrap_or(i32::MAX);
    (BigFloat::from_words(&words, sign, exponent), left_out == 0)
}

/// A quotient, also of integers that are larger than any double.
fn quotient(numerator: &BigInt, denominator: &BigInt) -> Real {
    let [(above, is_exact), (below, is_exact_below)] = [numerator, denominator].map(float);
    let value = above.div(&below, PRECISION, ROUNDING);
    let inherited = if is_exact && is_exact_below { 0.0 } else { 4.0 * UNIT * size(&value) };
    Real::rounded(value, inherited)
}

/// The power with the size of the exponent.
fn integer_power(base: Real, exponent: &BigInt) -> Option<Real> {
    let times = exponent.abs().to_u64()?;
    Some(power(base, times, |a, b| a * b).unwrap_or_else(|| Real::from(1.0)))
}

fn root(base: &Real) -> Option<Real> {
    if base.is_zero() {
        return Some(Real::zero());
    }
    let is_positive = base.value.is_positive() && base.is_nonzero();
    let value = is_positive.then(|| square_root(&base.value))?;
    let inherited = base.error / size(&value);
    Some(Real::rounded(value, inherited))
}

/// The root of a positive number, by Newton's iteration for its reciprocal: three steps from a double make 256 bits of its digits. It takes a
/// tenth of the time of the root that is rounded to the last bit.
fn square_root(x: &BigFloat) -> BigFloat {
    let size = nearest(x);
    if !(1e-290..1e290).contains(&size) {
        return x.sqrt(PRECISION, ROUNDING);
    }
    let [one, half] = [1.0, 0.5].map(|number| BigFloat::from_f64(number, PRECISION));
    let product = |a: &BigFloat, b: &BigFloat| a.mul(b, PRECISION, ROUNDING);
    let step = |y: BigFloat, _| {
        let rest = one.sub(&product(x, &product(&y, &y)), PRECISION, ROUNDING);
        y.add(&product(&product(&half, &y), &rest), PRECISION, ROUNDING)
    };
    product(x, &(0..3).fold(BigFloat::from_f64(size.sqrt().recip(), PRECISION), step))
}

/// e^(exponent ln base) of a positive base; of others, the powers with exponents that are certainly whole numbers, as in doubles.
fn real_power(base: &Real, exponent: &Real) -> Option<Real> {
    if base.is_zero() && exponent.value.is_positive() && exponent.is_nonzero() {
        return Some(Real::zero());
    }
    if base.is_zero() || base.value.is_negative() {
        let whole = exponent.to_f64();
        let is_whole = exponent.error == 0.0 && whole.fract() == 0.0 && (exponent - &Real::from(whole)).value.is_zero();
        let whole = is_whole.then(|| BigRational::from_float(whole)).flatten()?;
        return base.power(&whole);
    }
    if !base.value.is_positive() {
        return None;
    }
    let logarithm = call(Function::Ln, std::slice::from_ref(base))?;
    call(Function::Exp, &[&logarithm * exponent])
}

fn call(function: Function, arguments: &[Real]) -> Option<Real> {
    spend(PRECISE_FUNCTION);
    let Real { value: x, error } = &arguments[0];
    let error = *error;
    let exponent = if x.is_zero() { 0 } else { x.exponent()? };
    let applied = |operation: fn(&BigFloat, usize, RoundingMode, &mut Consts) -> BigFloat| {
        let computed = || CONSTANTS.with_borrow_mut(|constants| operation(x, PRECISION, ROUNDING, constants));
        match x.as_raw_parts() {
            Some((words, ..)) => known(&CALLS, &(function, x.is_negative(), exponent, words.to_vec()), computed),
            None => computed(),
        }
    };
    let is_huge = exponent > LARGEST_ARGUMENT;
    let value = match function {
        Function::Abs => x.abs(),
        Function::Sign if arguments[0].is_zero() => return Some(Real::zero()),
        Function::Step if arguments[0].is_zero() => return Some(Real::from(0.5)),
        Function::Sign | Function::Step if !arguments[0].is_nonzero() => return None,
        Function::Step => return Some(Real::from(if x.is_negative() { 0.0 } else { 1.0 })),
        Function::Sign => return Some(Real::from(if x.is_negative() { -1.0 } else { 1.0 })),
        Function::Sin | Function::Cos | Function::Tan if exponent > 64 => return None,
        Function::Sin => applied(BigFloat::sin),
        Function::Cos => applied(BigFloat::cos),
        Function::Tan => applied(BigFloat::tan),
        Function::Asin => applied(BigFloat::asin),
        Function::Acos => applied(BigFloat::acos),
        Function::Atan => applied(BigFloat::atan),
        Function::Exp if is_huge && x.is_negative() => return Some(Real::zero().within(TINY)),
        Function::Tanh if is_huge => return Some(Real::from(if x.is_negative() { -1.0 } else { 1.0 }).within(TINY)),
        Function::Sinh | Function::Cosh | Function::Exp if is_huge => return None,
        Function::Sinh => applied(BigFloat::sinh),
        Function::Cosh => applied(BigFloat::cosh),
        Function::Tanh => applied(BigFloat::tanh),
        Function::Exp => applied(BigFloat::exp),
        Function::Ln if !arguments[0].is_nonzero() => return None,
        Function::Ln => applied(BigFloat::ln),
        Function::Atan2 => return angle(&arguments[0], &arguments[1]),
        Function::Powf => return real_power(&arguments[0], &arguments[1]),
    };
    if error == 0.0 {
        return Some(Real::rounded(value, 0.0));
    }
    let slope = steepness(function, &arguments[0], size(&value))?;
    // What changes much within the error is not known to first order.
    (slope * error < 1e-3 * (1.0 + size(&value))).then(|| Real::rounded(value, 2.0 * slope * error))
}

/// The size of the derivative of a function of one argument, where the value has this size; `None` where nothing bounds it.
fn steepness(function: Function, argument: &Real, value: f64) -> Option<f64> {
    let x = size(&argument.value);
    Some(match function {
        Function::Tan => 1.0 + value.powi(2),
        Function::Asin | Function::Acos => {
            let rest = 1.0 - (x + argument.error).powi(2);
            (rest > 0.0).then(|| rest.sqrt().recip())?
        }
        Function::Sinh | Function::Cosh => value + 1.0,
        Function::Exp => value,
        Function::Ln => x.recip(),
        _ => 1.0,
    })
}

/// atan2(y, x), unless the errors leave open on which side of its cut the point is.
fn angle(y: &Real, x: &Real) -> Option<Real> {
    let pi = Real::pi();
    let arctangent = |quotient: Real| call(Function::Atan, &[quotient]);
    if x.abs().to_f64() >= y.abs().to_f64() {
        let near = arctangent(y / x)?;
        match (x.value.is_negative(), y.value.is_negative()) {
            (false, _) => Some(near),
            (true, _) if !y.is_nonzero() && y.error > 0.0 => None,
            (true, false) => Some(&near + &pi),
            (true, true) => Some(&near - &pi),
        }
    } else {
        let quarter = &pi / &Real::from(if y.value.is_negative() { -2.0 } else { 2.0 });
        Some(&quarter - &arctangent(x / y)?)
    }
}

impl From<f64> for Real {
    fn from(value: f64) -> Self {
        Self { value: BigFloat::from_f64(value, PRECISION), error: 0.0 }
    }
}

/// Operators that do what a method does.
macro_rules! operators {
    ($($operator:ident $name:ident: $method:ident;)*) => {
        $(impl $operator for &Real {
            type Output = Real;
            fn $name(self, other: &Real) -> Real {
                self.$method(other)
            }
        })*
    };
}

operators! {
    Add add: plus;
    Sub sub: minus;
    Mul mul: times;
    Div div: over;
}

impl Neg for &Real {
    type Output = Real;
    fn neg(self) -> Real {
        Real { value: self.value.clone().neg(), error: self.error }
    }
}

impl From<Real> for f64 {
    fn from(value: Real) -> Self {
        value.to_f64()
    }
}

impl Number for Real {
    fn rational(number: &BigRational) -> Self {
        let (numerator, denominator) = (number.numer(), number.denom());
        if denominator.is_one() {
            return integer(numerator);
        }
        let compute = || quotient(numerator, denominator);
        if UNIT_OF_BOUNDS.get() > UNIT {
            return compute();
        }
        known(&QUOTIENTS, &(numerator.clone(), denominator.clone()), compute)
    }

    fn pi() -> Self {
        CONSTANTS.with_borrow_mut(|constants| Self::rounded(constants.pi(PRECISION, ROUNDING), 0.0))
    }

    fn is_zero(&self) -> bool {
        self.is_zero()
    }

    fn plus(&self, other: &Self) -> Self {
        Self::rounded(self.value.add(&other.value, PRECISION, ROUNDING), self.error + other.error)
    }

    fn times(&self, other: &Self) -> Self {
        let crossed = |a: &Self, b: &Self| {
            let largest = size(&a.value) + a.error;
            // What is too small for a double is not 0.
            if b.error == 0.0 || largest == 0.0 { 0.0 } else { (largest * b.error).max(f64::MIN_POSITIVE) }
        };
        let inherited = crossed(self, other) + crossed(other, self);
        let product = Self::rounded(self.value.mul(&other.value, PRECISION, ROUNDING), inherited);
        if self.is_power_of_two() || other.is_power_of_two() { product.within(inherited) } else { product }
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        let size = match exponent.denom().to_u32() {
            Some(1) => integer_power(self.clone(), exponent.numer())?,
            Some(2) => integer_power(root(self)?, exponent.numer())?,
            _ => real_power(self, &Self::rational(&exponent.abs()))?,
        };
        let size = size.in_range()?;
        if exponent.is_negative() { (&Self::from(1.0) / &size).in_range() } else { Some(size) }
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        call(function, arguments)?.in_range()
    }

    fn negated(&self) -> Self {
        -self
    }

    fn in_range(self) -> Option<Self> {
        if self.value.is_zero() {
            return Some(self);
        }
        match self.value.exponent()? {
            exponent if exponent > LARGEST_EXPONENT => None,
            exponent if exponent < -LARGEST_EXPONENT => Some(Self::zero().within(self.error + TINY)),
            _ => Some(self),
        }
    }
}

impl Numeric for Real {
    const NEGLIGIBLE: f64 = 1e-45;
    const SMALLEST_SHARE: f64 = 1e-30;

    fn exactly(value: f64) -> Self {
        if value.is_finite() { Self::from(value) } else { Self::undefined() }
    }

    fn to_f64(&self) -> f64 {
        self.to_f64()
    }

    fn over(&self, other: &Self) -> Self {
        if !other.is_nonzero() {
            return Self::undefined();
        }
        let value = self.value.div(&other.value, PRECISION, ROUNDING);
        let inherited = (self.error + size(&value) * other.error) / (size(&other.value) - other.error);
        Self::rounded(value, inherited)
    }

    fn known_to(self, relative: f64) -> Self {
        let error = self.error + relative * size(&self.value);
        self.within(error)
    }
}

#[cfg(test)]
mod tests {
    use super::super::linear::Balanced;
    use super::*;

    /// However many digits they have: products of the decimals of a long declaration have hundreds.
    #[test]
    fn rational_numbers_are_what_they_are_written_as() {
        let long = format!("1{}", "0123456789".repeat(40));
        for numerator in ["9223372036854775808", "-340282366920938463463374607431768211457", &long] {
            let n: BigInt = numerator.parse().unwrap();
            let quotient = Real::rational(&BigRational::new(&n + BigInt::from(1), n.clone()));
            let rest = &quotient - &Real::from(1.0);
            assert!(rest.error() < 1e-74, "{numerator}: {rest:?}");
            let is_near = (rest.to_f64() * n.to_f64().unwrap() - 1.0).abs() < 1e-12;
            assert!(if n.bits() < 200 { is_near } else { !rest.is_nonzero() }, "{numerator}: {rest:?}");
        }
    }

    /// The iteration comes within the error of an operation of the root that is rounded to the last bit.
    #[test]
    fn roots_have_all_their_digits() {
        for x in [2.0, 0.3, 4.0, 1e-289, 7e289, 1e-300, 1.0 - f64::EPSILON] {
            let root = root(&Real::from(x)).expect("a root");
            let rounded = Real { value: BigFloat::from_f64(x, PRECISION).sqrt(PRECISION, ROUNDING), error: 0.0 };
            assert!((&root - &rounded).to_f64().abs() <= 0.1 * UNIT * x.sqrt(), "{x:e}");
        }
    }

    /// The square of what is below the range is not known to be 0.
    #[test]
    fn what_is_below_the_range_stays_uncertain() {
        let tiny = Real::evaluate(&power_of(1e-3, 400), &|_| Real::zero()).unwrap();
        let square = &tiny * &tiny;
        assert!(tiny.is_lost() && square.is_lost() && !square.is_zero());
        assert!((&square * &Real::zero()).is_zero());
    }

    fn power_of(base: f64, exponent: i32) -> Expression {
        let base = Expression::Number(BigRational::from_float(base).unwrap());
        Expression::Power(std::sync::Arc::new(base), BigRational::from_integer(exponent.into()))
    }

    /// Every function at points of its domain agrees with the standard library's.
    #[test]
    fn values_agree_with_doubles() {
        let symbols = [0.6, -0.3];
        let v = |index: u32| Expression::from(Symbol(index));
        for function in Function::ALL {
            for [x, y] in [
                [0.6, -0.3],
                [0.25, 0.75],
                [-0.5, -0.25],
                [-0.25, 0.5],
                [1e-3, -0.9],
                [-1.5, 3.0],
                [-1.5, -2.0],
                [0.0, 2.5],
                [0.0, -1.0],
            ] {
                let arguments =
                    if matches!(function, Function::Atan2 | Function::Powf) { vec![v(0), v(1)] } else { vec![v(0)] };
                let call = Expression::call(function, arguments);
                let expected = call.evaluate(&|symbol| [x, y][symbol.0 as usize]);
                let obtained = Real::evaluate(&call, &|symbol| Real::from([x, y][symbol.0 as usize]));
                match obtained.map(|value| value.to_f64()).filter(|value| value.is_finite()) {
                    Some(value) => {
                        assert!((value - expected).abs() < 1e-14, "{function:?} {x} {y}: {value} {expected}")
                    }
                    None => assert!(!expected.is_finite(), "{function:?} {x} {y}: {expected}"),
                }
            }
        }
        let third = BigRational::new(BigInt::from(-5), BigInt::from(3));
        let power = (v(0) * v(0)).power(third).unwrap();
        let value = Real::evaluate(&power, &|symbol| Real::from(symbols[symbol.0 as usize])).unwrap().to_f64();
        assert!((value - 0.36_f64.powf(-5.0 / 3.0)).abs() < 1e-13);
    }

    #[test]
    fn what_vanishes_leaves_seventy_digits() {
        let v = Expression::from(Symbol(0));
        let square = |function| Expression::call(function, [v.clone()]) * Expression::call(function, [v.clone()]);
        let sum = square(Function::Sin) + square(Function::Cos) - Expression::one();
        let value = Real::evaluate(&sum, &|_| Real::from(0.7)).unwrap();
        assert!(value.to_f64().abs() < 1e-70, "{value:?}");
    }

    #[test]
    fn what_is_out_of_range_is_undefined() {
        let v = || Expression::from(Symbol(0));
        let huge = v().power(BigRational::from_integer(BigInt::from(1_000_000_000))).unwrap();
        assert!(Real::evaluate(&huge, &|_| Real::from(1.5)).is_none());
        let tower = Expression::call(Function::Exp, [Expression::call(Function::Exp, [v()])]);
        assert!(Real::evaluate(&tower, &|_| Real::from(20.0)).is_none());
        assert!(Real::evaluate(&v().power(-BigRational::one()).unwrap(), &|_| Real::zero()).is_none());
        assert!(Real::evaluate(&v().sqrt(), &|_| Real::from(-1.0)).is_none());
        assert!(Real::evaluate(&Expression::call(Function::Ln, [v()]), &|_| Real::from(-1.0)).is_none());
    }

    /// 1 + 1e-60 is not 1, and the sum of squares of sine and cosine is.
    #[test]
    fn bounds_tell_small_numbers_from_rounding() {
        let v = || Expression::from(Symbol(0));
        let call = |function| Expression::call(function, [v()]);
        let square = |function| call(function) * call(function);
        let one = || square(Function::Sin) + square(Function::Cos);
        let small = Expression::Number(BigRational::new(1.into(), BigInt::from(10).pow(60)));
        let at = |expression: Expression| Real::evaluate(&expression, &|_| Real::from(0.7)).unwrap();
        assert!(!at(one() - Expression::one()).is_nonzero());
        assert!(at(one() - Expression::one() + small * v()).is_nonzero());
        let inexact = Real::from(1.0).within(1e-50);
        let ratio = v().power(-BigRational::one()).unwrap();
        let value = Real::evaluate(&(ratio - Expression::one()), &|_| inexact.clone()).unwrap();
        assert!(!value.is_nonzero() && value.error() >= 1e-50, "{value:?}");
    }

    #[test]
    fn what_is_below_the_range_is_zero_within_its_bound() {
        let exponential = Expression::call(Function::Exp, [Expression::from(Symbol(0))]);
        let value = Real::evaluate(&exponential, &|_| Real::from(-5000.0)).unwrap();
        assert!(value.to_f64() == 0.0 && value.error() > 0.0 && !value.is_nonzero());
    }

    /// Columns that differ by 1e-20 are equal in doubles, and not in 256 bits.
    #[test]
    fn negligible_is_what_rounding_leaves() {
        fn dependent<N: Numeric>(small: N) -> Option<usize> {
            let one = || N::exactly(1.0);
            Balanced::of(vec![vec![one(), one()], vec![one(), one().minus(&small)]])?.dependent()
        }
        assert_eq!(
            (dependent(1e-20), dependent(Real::from(1e-20)), dependent(Real::from(1e-60))),
            (Some(1), None, Some(1))
        );
    }
}
