//! Doubles, and expressions evaluated in them.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::number::{Number, Numeric};
use super::precise::{nearest, unbounded};
use crate::expression::{Expression, Function, Symbol, to_f64};
use crate::work::{EVALUATION, spend};

impl Expression {
    /// The value in double precision, where `value` gives the value of each symbol.
    pub fn evaluate(&self, value: &impl Fn(Symbol) -> f64) -> f64 {
        spend(EVALUATION);
        let of = |part: &Self| part.evaluate(value);
        match self {
            Self::Number(number) => to_f64(number),
            Self::Pi => std::f64::consts::PI,
            Self::Symbol(symbol) => value(*symbol),
            Self::Sum(terms) => terms.iter().map(of).sum(),
            Self::Product(factors) => {
                let (mut product, mut in_range) = (1.0, true);
                for factor in factors.iter() {
                    product *= of(factor);
                    in_range &= product.is_normal();
                }
                // The value may be a double though some of its factors are none.
                if in_range { product } else { nearest(&unbounded(self, value)) }
            }
            Self::Power(base, exponent) => power_f64(of(base), exponent),
            Self::Call(function, arguments) => function.evaluate(&arguments.iter().map(of).collect::<Vec<f64>>()),
        }
    }
}

fn power_f64(base: f64, exponent: &BigRational) -> f64 {
    match exponent.is_integer().then(|| exponent.to_integer().to_i32()).flatten() {
        Some(integer) => base.powi(integer),
        None if *exponent.denom() == BigInt::from(2) => base.sqrt().powi(exponent.numer().to_i32().unwrap_or(i32::MAX)),
        None => base.powf(to_f64(exponent)),
    }
}

impl Number for f64 {
    fn rational(number: &BigRational) -> Self {
        to_f64(number)
    }

    fn pi() -> Self {
        std::f64::consts::PI
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn power(&self, exponent: &BigRational) -> Option<Self> {
        Some(power_f64(*self, exponent))
    }

    fn call(function: Function, arguments: &[Self]) -> Option<Self> {
        Some(function.evaluate(arguments))
    }

    fn negated(&self) -> Self {
        -self
    }

    fn reciprocal(&self) -> Option<Self> {
        Some(self.recip()).filter(|reciprocal| reciprocal.is_normal())
    }
}

impl Numeric for f64 {
    const NEGLIGIBLE: f64 = 1e-10;
    const SMALLEST_SHARE: f64 = 1e-6;

    fn exactly(value: f64) -> Self {
        value
    }

    fn to_f64(&self) -> f64 {
        *self
    }

    fn over(&self, other: &Self) -> Self {
        self / other
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        expression.evaluate(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn power(base: f64, numerator: i64, denominator: i64) -> Expression {
        let base = Expression::Number(BigRational::from_float(base).expect("a finite number"));
        Expression::Power(base.into(), BigRational::new(numerator.into(), denominator.into()))
    }

    /// Factors of any size have a product within the range of a double, or one that is too large for it.
    #[test]
    fn what_leaves_the_range_comes_back() {
        let cases = [
            (power(1e10, 120, 1) * power(2.0, -4000, 1), (1e10_f64.log2() * 120.0 - 4000.0).exp2()),
            (power(1e10, 120, 1) * power(1e-10, 110, 1) * Expression::integer(-3), -3e100),
            (power(1e-200, 3, 1) * power(1e-200, -5, 2), 1e-100),
            (power(2.0, 3000, 1) * power(2.0, -1977, 1), 2_f64.powi(1023)),
            (power(2.0, 3000, 1) * Expression::Pi, f64::INFINITY),
            (power(2.0, 3000, 1) * Expression::zero(), 0.0),
        ];
        for (product, expected) in cases {
            let value = product.evaluate(&|_| 0.0);
            let is_near = value == expected || (value - expected).abs() <= 1e-9 * expected.abs();
            assert!(is_near, "{product:?}: {value} {expected}");
        }
    }
}
