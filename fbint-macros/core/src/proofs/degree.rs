//! Degrees of expressions, as bounds and in one symbol.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::linear_form::{exponent, terms};
use crate::derivation::LinearSystem;
use crate::expression::parts::Results;
use crate::expression::{Expression, Function, Symbol};
use crate::numbers::derivative::gradient;

/// Bounds on degrees in the unknowns: f = N / M, where N and M have no poles but at infinity, of at most these orders there.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Degree {
    numerator: f64,
    denominator: f64,
}

impl Degree {
    pub(crate) fn total(self) -> f64 {
        self.numerator + self.denominator
    }

    fn polynomial(degree: f64) -> Self {
        Self { numerator: degree, denominator: 0.0 }
    }

    fn sum(self, other: Self) -> Self {
        let numerator = f64::max(self.numerator + other.denominator, other.numerator + self.denominator);
        Self { numerator, denominator: self.denominator + other.denominator }
    }

    pub(super) fn product(self, other: Self) -> Self {
        Self { numerator: self.numerator + other.numerator, denominator: self.denominator + other.denominator }
    }

    fn raised(self, power: f64) -> Self {
        Self { numerator: self.numerator * power, denominator: self.denominator * power }
    }

    /// s^d = N / M: (M s)^d = N M^(d - 1).
    fn root(self, index: f64) -> Self {
        let numerator = ((self.denominator * (index - 1.0) + self.numerator) / index).ceil();
        Self { numerator, ..self }
    }

    fn inverted(self) -> Self {
        Self { numerator: self.denominator, denominator: self.numerator }
    }

    /// The degree of numerators over one common denominator.
    pub(super) fn common(degrees: impl IntoIterator<Item = Self>) -> f64 {
        degrees.into_iter().fold(Self::polynomial(0.0), Self::sum).numerator
    }
}

/// The degrees of expressions. Symbols that are bound have the degree of what binds them; all other symbols, and functions, are unknowns.
#[derive(Default)]
pub(crate) struct Degrees {
    bound: BTreeMap<Symbol, Degree>,
    /// `true` if roots are unknowns, too.
    has_free_roots: bool,
    /// Degrees of parts, as long as nothing else is bound.
    known: Results<Degree>,
}

impl Degrees {
    /// Degrees where roots are unknowns.
    pub(super) fn with_free_roots() -> Self {
        Self { has_free_roots: true, ..Self::default() }
    }

    pub(crate) fn of(&self, expression: &Expression) -> Degree {
        self.known.of(expression, || self.of_parts(expression))
    }

    fn of_parts(&self, expression: &Expression) -> Degree {
        match expression {
            Expression::Number(_) => Degree::polynomial(0.0),
            Expression::Pi => Degree::polynomial(1.0),
            Expression::Symbol(symbol) => self.bound.get(symbol).copied().unwrap_or(Degree::polynomial(1.0)),
            Expression::Sum(terms) => terms.iter().map(|term| self.of(term)).fold(Degree::polynomial(0.0), Degree::sum),
            Expression::Product(factors) => {
                factors.iter().map(|factor| self.of(factor)).fold(Degree::polynomial(0.0), Degree::product)
            }
            Expression::Power(base, exponent) if self.has_free_roots && !exponent.is_integer() => {
                // Products of powers of the roots of all factors, below the index, and of powers of the factors.
                let index = size(exponent.denom());
                let of_values = self.of(base).total() * (size(exponent.numer()) + index + 1.0);
                let bound = base.factors().len() as f64 * index * index + of_values;
                Degree { numerator: bound, denominator: bound }
            }
            Expression::Power(base, exponent) => {
                let power = self.of(base).root(size(exponent.denom())).raised(size(exponent.numer()));
                if exponent.is_negative() { power.inverted() } else { power }
            }
            Expression::Call(function, arguments) => {
                let inner = 1.0 + arguments.iter().map(|argument| self.of(argument).total()).sum::<f64>();
                Degree { numerator: inner, denominator: inner }.raised(multiplicity(*function, arguments))
            }
        }
    }

    /// Binds what a linear system is solved for to the degree of determinants (Cramer), after rows are multiplied by the denominators of their
    /// entries. The determinant by which all are divided is left out: a polynomial in the solutions times a power of it has at most twice
    /// the degree that counts here.
    pub(super) fn solve(&mut self, system: &LinearSystem) {
        let determinant = system.rows().map(|row| Degree::common(row.map(|entry| self.of(entry)))).sum();
        self.known = Results::default();
        self.bound.extend(system.unknowns.iter().map(|unknown| (*unknown, Degree::polynomial(determinant))));
    }

    /// Binds x with a(0) + a(1) x + .. + a(e) x^e = 0, where a are without denominators: y = a(e) x satisfies
    /// y^e + a(e - 1) y^(e - 1) + .. + a(i) a(e)^(e - 1 - i) y^i + .. = 0, and has no poles but at infinity.
    pub(super) fn bind(&mut self, symbol: Symbol, coefficients: &[Expression]) {
        let degrees: Vec<Degree> = coefficients.iter().map(|coefficient| self.of(coefficient)).collect();
        let common: f64 = degrees.iter().map(|degree| degree.denominator).sum();
        let without = |degree: &Degree| degree.numerator + (common - degree.denominator);
        let Some((leading, others)) = degrees.split_last() else { return };
        let denominator = without(leading);
        let order = |(i, degree): (usize, &Degree)| {
            let rest = (others.len() - i) as f64;
            ((without(degree) + denominator * (rest - 1.0)) / rest).ceil()
        };
        let numerator = others.iter().enumerate().map(order).fold(0.0, f64::max);
        self.known = Results::default();
        self.bound.insert(symbol, Degree { numerator, denominator });
    }
}

/// The largest power of the unit of an exponential or an angle.
fn multiplicity(function: Function, arguments: &[Expression]) -> f64 {
    let Some(argument) = exponent(function, arguments) else { return 1.0 };
    let Some(terms) = terms(argument) else { return f64::INFINITY };
    // The common denominator comes on top, for all functions of an identity at once.
    4.0 * (1.0 + terms.iter().map(|(factor, _)| size(factor.numer())).sum::<f64>())
}

fn size(number: &BigInt) -> f64 {
    number.abs().to_f64().unwrap_or(f64::INFINITY)
}

/// The degree of a polynomial in one symbol; `None` of what is not polynomial in it.
pub(super) fn degree_in(expression: &Expression, symbol: Symbol) -> Option<usize> {
    fn degree(part: &Expression, symbol: Symbol, known: &Results<Option<usize>>) -> Option<usize> {
        let mut degrees = part.children().map(|part| degree(part, symbol, known));
        known.of(part, || match part {
            Expression::Symbol(other) => Some(usize::from(*other == symbol)),
            Expression::Number(_) | Expression::Pi => Some(0),
            Expression::Sum(_) => degrees.try_fold(0, |most: usize, degree| Some(most.max(degree?))),
            Expression::Product(_) => degrees.try_fold(0, |sum: usize, degree| sum.checked_add(degree?)),
            Expression::Power(_, exponent) => match degrees.next()?? {
                0 => Some(0),
                degree if exponent.is_integer() => exponent.to_integer().to_usize()?.checked_mul(degree),
                _ => None,
            },
            Expression::Call(..) => degrees.all(|degree| degree == Some(0)).then_some(0),
        })
    }
    degree(expression, symbol, &Results::default())
}

/// The coefficients of the powers of a symbol from 1 on: derivatives where it is 0, over factorials.
pub(super) fn coefficients(polynomial: &Expression, symbol: Symbol, degree: usize) -> Option<Vec<Expression>> {
    let at_zero = |other: Symbol| if other == symbol { Expression::zero() } else { Expression::from(other) };
    let mut coefficients = Vec::new();
    let mut derivative = polynomial.clone();
    let mut factorial = BigInt::from(1);
    for power in 1..=degree + 1 {
        let number = Expression::Number(BigRational::new(BigInt::from(1), factorial.clone()));
        coefficients.push(number * derivative.substituted(&at_zero));
        derivative = gradient(&derivative, |other| other == symbol)?.remove(&symbol).unwrap_or_else(Expression::zero);
        factorial *= power;
    }
    Some(coefficients)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A root, what is divided, a circle, and a linear system, by hand.
    #[test]
    fn degrees_are_those_of_polynomials() {
        let [x, y, z] = [0, 1, 2].map(Symbol);
        let of = |symbol: Symbol| Expression::from(symbol);
        let squares = || of(y) * of(y) + of(z) * of(z);
        let degree = |degrees: &Degrees, expression: &Expression| {
            let Degree { numerator, denominator } = degrees.of(expression);
            [numerator, denominator]
        };
        let mut degrees = Degrees::default();
        assert_eq!(degree(&degrees, &squares().sqrt()), [1.0, 0.0]);
        assert_eq!(degree(&degrees, &(of(y).divide(squares().sqrt()).unwrap() + of(z))), [2.0, 1.0]);
        assert_eq!(degree(&degrees, &of(y).divide(of(z)).unwrap().sqrt()), [1.0, 1.0]);
        // z x^2 + x + y^4 = 0: (z x)^2 + z x + y^4 z = 0
        degrees.bind(x, &[(of(y) * of(y)) * (of(y) * of(y)), Expression::one(), of(z)]);
        assert_eq!(degree(&degrees, &of(x)), [3.0, 1.0]);
        // (y z, y; y, 1 / y) x = (1, 1): rows of the degrees 2 and 2
        let matrix = vec![vec![of(y) * of(z), of(y)], vec![of(y), Expression::one().divide(of(y)).unwrap()]];
        let right_side = vec![Expression::one(), Expression::one()];
        degrees.solve(&LinearSystem { unknowns: vec![x], matrix, right_side });
        assert_eq!(degree(&degrees, &of(x)), [4.0, 0.0]);
    }
}
