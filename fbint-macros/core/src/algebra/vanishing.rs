//! Whether an expression vanishes where others do, decided by division of polynomials.
//!
//! Functions become unknowns of their own, bound by polynomial relations: a root s of b by s^d = b, sine and cosine by
//! s^2 + c^2 = 1. What is left is brought over one denominator and into lowest terms, P / Q, and division of P by the relations and
//! the constraints decides: no remainder is a proof. A remainder proves nothing, because functions have more relations than
//! these; nor is anything tried whose expansion may have more than a fixed number of terms, so that time is bounded by
//! counts.
//!
//! Lowest terms matter, because what is divided by may vanish wherever the constraints hold: (x - z) / (z - x) is not 0 where
//! x = z. Generated code may have divided such factors out, and then it has a value there. That value is P / Q, and Q is not 0: it
//! divides whatever the code still divides by. So P = 0 is what has to be shown, and where a constraint is 0, its own P is. Among
//! functions, lowest terms are not unique (x / sqrt(x)^2). There, no power of Q may vanish modulo the constraints, either.
//!
//! A root is any of the roots: s^d = b says nothing of its sign, so that a proof holds for all signs.

use std::collections::BTreeSet;

use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use super::expansion::{quotient, terms, terms_of_power};
use crate::algebra::symbolic::Fraction;
use crate::expression::{Expression, Function, Symbol};
use crate::proofs::{Degree, degree_in, vanishes_identically};

/// Terms of an expansion beyond which it is not tried.
const MOST_TERMS: usize = 4000;
/// Exponents and degrees of denominators beyond which nothing is tried, and degrees of numerators.
const HIGHEST_DEGREE: usize = 40;
const HIGHEST_DEGREE_OF_NUMERATOR: usize = 12;
/// Symbolica's exponents have 16 bits.
const HIGHEST_DEGREE_OF_ALL: f64 = 65_535.0;
/// Terms of all polynomials together beyond which no Groebner basis is tried, and their number, and their degree.
const MOST_TERMS_OF_BASIS: usize = 24;
const MOST_MEMBERS_OF_BASIS: usize = 5;
const HIGHEST_DEGREE_OF_BASIS: usize = 4;

/// Whether `expression` was shown to vanish wherever all of `constraints` do and it is defined.
pub(super) fn vanishes_where(expression: &Expression, constraints: &[&Expression]) -> bool {
    is_shown_to_vanish(expression, constraints).unwrap_or(false)
}

/// `None` where something is too long.
fn is_shown_to_vanish(expression: &Expression, constraints: &[&Expression]) -> Option<bool> {
    let mut unknowns = FunctionUnknowns::above(constraints.iter().copied().chain([expression]));
    unknowns.zeros = constraints.iter().copied().cloned().collect();
    let [polynomial, divisor] = unknowns.quotient(expression)?;
    let constraints: Vec<Expression> =
        constraints.iter().map(|constraint| unknowns.numerator(constraint)).collect::<Option<_>>()?;
    let relations = unknowns.relations();
    let all = || constraints.iter().chain(&relations);
    let is_long = |polynomial: &Expression| terms(polynomial) > MOST_TERMS;
    if !unknowns.is_division_short(&polynomial, &constraints)
        || all().any(is_long)
        || is_long(&divisor)
        || degree(&divisor) > HIGHEST_DEGREE
    {
        return None;
    }
    let fraction = Fraction::new([&polynomial, &divisor], all(), &order(all().chain([&polynomial, &divisor])));
    let vanishes = fraction.vanishes_by_division() || is_basis_small(all()) && fraction.vanishes_by_basis();
    Some(vanishes && (relations.is_empty() || !fraction.divides_by_zero()))
}

/// What a function is where its argument vanishes.
fn value_at_zero(function: Function) -> Option<i64> {
    match function {
        Function::Cos | Function::Cosh | Function::Exp => Some(1),
        Function::Acos | Function::Ln | Function::Atan2 | Function::Powf => None,
        _ => Some(0),
    }
}

/// Whether one expression is the other, or its negative.
fn is_multiple(one: &Expression, other: &Expression) -> bool {
    [one.clone() - other.clone(), one.clone() + other.clone()].iter().any(vanishes_identically)
}

/// Whether it was shown that not all of `expressions` can vanish together, not even at complex values.
pub(super) fn contradict(expressions: &[Expression]) -> bool {
    let mut unknowns = FunctionUnknowns::above(expressions);
    let polynomials = expressions.iter().map(|expression| unknowns.numerator(expression));
    let Some(polynomials) = polynomials.collect::<Option<Vec<_>>>() else { return false };
    let relations = unknowns.relations();
    let all = || polynomials.iter().chain(&relations);
    let one = Expression::one();
    is_basis_small(all()) && Fraction::new([&one, &one], all(), &order(all())).vanishes_by_basis()
}

fn is_basis_small<'a>(members: impl Iterator<Item = &'a Expression> + Clone) -> bool {
    members.clone().count() <= MOST_MEMBERS_OF_BASIS
        && members.clone().map(terms).fold(0, usize::saturating_add) <= MOST_TERMS_OF_BASIS
        && members.clone().all(|member| degree(member) <= HIGHEST_DEGREE_OF_BASIS)
}

/// All symbols that occur: unknowns before what they stand for, so that division eliminates them first.
fn order<'a>(expressions: impl Iterator<Item = &'a Expression>) -> Vec<Symbol> {
    let symbols: BTreeSet<Symbol> = expressions.flat_map(Expression::symbols).collect();
    symbols.into_iter().rev().collect()
}

fn degree(polynomial: &Expression) -> usize {
    Degree::of(polynomial).total() as usize
}

/// Unknowns that stand for functions, and what binds them.
#[derive(Default)]
struct FunctionUnknowns {
    /// The first of them.
    first: u32,
    /// What vanishes: functions of it, or of its negative, are numbers.
    zeros: Vec<Expression>,
    /// What each unknown stands for.
    known: Vec<Expression>,
    /// What binds unknowns u: d and v with u^d = v.
    substitutions: Vec<(Symbol, usize, Expression)>,
}

impl FunctionUnknowns {
    /// Unknowns beyond every symbol of `expressions`.
    fn above<'a>(expressions: impl IntoIterator<Item = &'a Expression>) -> Self {
        let last = expressions.into_iter().filter_map(|expression| expression.symbols().last().copied()).max();
        Self { first: last.map_or(0, |symbol| symbol.0 + 1), ..Self::default() }
    }

    /// The polynomials that vanish because of what unknowns stand for.
    fn relations(&self) -> Vec<Expression> {
        let relation = |(unknown, power, value): &(Symbol, usize, Expression)| {
            positive_power(Expression::from(*unknown), *power as u64) - value.clone()
        };
        self.substitutions.iter().map(relation).collect()
    }

    /// Whether division makes few terms: every relation u^d = .. is used as often as the degree in u allows, and multiplies
    /// the terms each time.
    fn is_division_short(&self, polynomial: &Expression, constraints: &[Expression]) -> bool {
        let mut bound = terms(polynomial);
        let degree_of =
            |index: usize, of: &Expression| degree_in(of, Symbol(self.first + index as u32)).unwrap_or(usize::MAX);
        let mut degrees: Vec<usize> = (0..self.known.len()).map(|index| degree_of(index, polynomial)).collect();
        for (unknown, power, value) in self.substitutions.iter().rev() {
            let times = degrees[(unknown.0 - self.first) as usize] / power;
            bound = bound.saturating_mul(terms_of_power(terms(value), times));
            for (index, degree) in degrees.iter_mut().enumerate() {
                *degree = degree.saturating_add(times.saturating_mul(degree_of(index, value)));
            }
        }
        let degree = degree(polynomial);
        let of_constraints = constraints.iter().map(|constraint| terms_of_power(terms(constraint), degree / 2));
        bound = bound.saturating_mul(of_constraints.max().unwrap_or(1));
        bound <= MOST_TERMS && degree <= HIGHEST_DEGREE_OF_NUMERATOR
    }

    /// The expression as a quotient of polynomials, the first of which vanishes where it does.
    fn quotient(&mut self, expression: &Expression) -> Option<[Expression; 2]> {
        let replaced = self.replace(expression)?;
        if Degree::of(&replaced).total() > HIGHEST_DEGREE_OF_ALL { None } else { quotient(&replaced) }
    }

    /// A polynomial that vanishes where the expression does.
    fn numerator(&mut self, expression: &Expression) -> Option<Expression> {
        self.quotient(expression).map(|[numerator, _]| numerator)
    }

    /// The expression with unknowns for its functions and roots.
    fn replace(&mut self, expression: &Expression) -> Option<Expression> {
        Some(match expression {
            Expression::Number(_) | Expression::Symbol(_) => expression.clone(),
            Expression::Pi => self.opaque(expression),
            Expression::Sum(terms) => Expression::sum(self.replace_all(terms)?),
            Expression::Product(factors) => Expression::product(self.replace_all(factors)?),
            Expression::Power(base, exponent) => self.power(expression, base, exponent)?,
            Expression::Call(function, arguments) => self.call(expression, *function, &arguments[0])?,
        })
    }

    fn replace_all(&mut self, expressions: &[Expression]) -> Option<Vec<Expression>> {
        expressions.iter().map(|expression| self.replace(expression)).collect()
    }

    /// b^(n/d) = b^q s^r with s^d = b, n = q d + r and 0 <= r < d.
    fn power(&mut self, expression: &Expression, base: &Expression, exponent: &BigRational) -> Option<Expression> {
        let (whole, rest) = exponent.numer().div_mod_floor(exponent.denom());
        let index = exponent.denom().to_u32().filter(|index| *index as usize <= HIGHEST_DEGREE);
        let (Some(index), true) = (index, whole.abs() <= HIGHEST_DEGREE.into()) else {
            return Some(self.opaque(expression));
        };
        let base = self.replace(base)?;
        let power = base.clone().power(BigRational::from_integer(whole)).ok()?;
        if rest.is_zero() {
            return Some(power);
        }
        let root = self.root(base, index)?;
        Some(power * root.power(BigRational::from_integer(rest)).ok()?)
    }

    fn call(&mut self, expression: &Expression, function: Function, argument: &Expression) -> Option<Expression> {
        if let Some(value) = value_at_zero(function)
            && self.zeros.iter().any(|zero| is_multiple(argument, zero))
        {
            // Not the number itself: a product with 0 would hide what is divided by.
            return Some(self.bound(expression.clone(), 1, Expression::integer(value)));
        }
        let (sine, cosine) = match function {
            Function::Sin | Function::Cos | Function::Tan => self.pair([Function::Sin, Function::Cos], argument, 1),
            Function::Sinh | Function::Cosh | Function::Tanh => {
                self.pair([Function::Sinh, Function::Cosh], argument, -1)
            }
            Function::Abs => {
                let argument = self.replace(argument)?;
                return self.root(argument.clone() * argument, 2);
            }
            _ => return Some(self.opaque(expression)),
        };
        match function {
            Function::Sin | Function::Sinh => Some(sine),
            Function::Cos | Function::Cosh => Some(cosine),
            _ => sine.divide(cosine).ok(),
        }
    }

    /// s and c with c^2 = 1 - sign s^2.
    fn pair(&mut self, [odd, even]: [Function; 2], argument: &Expression, sign: i64) -> (Expression, Expression) {
        let sine = Expression::from(self.unknown(Expression::call(odd, [argument.clone()])).0);
        let square = Expression::integer(-sign) * positive_power(sine.clone(), 2) + Expression::one();
        let cosine = self.bound(Expression::call(even, [argument.clone()]), 2, square);
        (sine, cosine)
    }

    /// The d-th root of p / q is that of p q^(d - 1), divided by q.
    fn root(&mut self, base: Expression, index: u32) -> Option<Expression> {
        let [numerator, denominator] = quotient(&base)?;
        let value = numerator.clone() * positive_power(denominator.clone(), u64::from(index) - 1);
        // sqrt(x / y) is not sqrt(x y) / y where y is negative, so the two do not share an unknown.
        let root = numerator.divide(denominator.clone()).ok()?.power(BigRational::new(1.into(), index.into())).ok()?;
        self.bound(root * denominator.clone(), index as usize, value).divide(denominator).ok()
    }

    /// A function that nothing is known of.
    fn opaque(&mut self, expression: &Expression) -> Expression {
        Expression::from(self.unknown(expression.clone()).0)
    }

    /// u with u^d = value.
    fn bound(&mut self, key: Expression, power: usize, value: Expression) -> Expression {
        let (unknown, is_new) = self.unknown(key);
        if is_new {
            self.substitutions.push((unknown, power, value));
        }
        Expression::from(unknown)
    }

    /// The unknown that stands for this, and whether it is a new one.
    fn unknown(&mut self, key: Expression) -> (Symbol, bool) {
        let known = self.known.iter().position(|known| *known == key);
        let place = known.unwrap_or(self.known.len());
        if known.is_none() {
            self.known.push(key);
        }
        (Symbol(self.first + place as u32), known.is_none())
    }
}

fn positive_power(base: Expression, exponent: u64) -> Expression {
    base.power(BigRational::from_integer(exponent.into())).expect("a positive exponent never divides")
}

#[cfg(test)]
mod tests {
    use super::vanishes_where;
    use crate::algebra::symbolic::session;
    use crate::expression::{Expression, Function, Symbol};

    fn powers(base: Expression, numerator: i64, denominator: i64) -> Expression {
        base.power(num_rational::BigRational::new(numerator.into(), denominator.into())).expect("the base is not 0")
    }

    #[test]
    fn constraints_are_used_as_they_are() {
        let x = || Expression::from(Symbol(0));
        let y = || Expression::from(Symbol(1));
        let circle = powers(x(), 2, 1) + powers(y(), 2, 1) - Expression::integer(2);
        let root = powers(x(), 2, 1) + powers(y(), 2, 1);
        let cases = [
            (powers(root.clone(), 1, 2) * x() - x() * powers(root, -1, 2) * Expression::integer(2), true),
            (powers(x(), 4, 1) - powers(Expression::integer(2) - powers(y(), 2, 1), 2, 1), true),
            (x() - y(), false),
            (powers(x(), 2, 1) - Expression::one(), false),
        ];
        let decided = session(|| {
            cases.map(|(expression, expected)| (vanishes_where(&expression, &[&circle]), expected, expression))
        });
        for (decided, expected, expression) in decided.expect("a session") {
            assert_eq!(decided, expected, "{expression:?}");
        }
    }

    /// What is divided by vanishes as well: the quotient has a value, which is not 0, or it has none.
    #[test]
    fn what_vanishes_is_not_cleared() {
        let x = || Expression::from(Symbol(0));
        let y = || Expression::from(Symbol(1));
        let difference = || x() - y();
        let over = |dividend: Expression, divisor: Expression| dividend * powers(divisor, -1, 1);
        let root = || powers(difference(), 1, 2);
        let cases = [
            (over(difference(), y() - x()), false),
            (over(powers(x(), 2, 1) - powers(y(), 2, 1), difference()), false),
            (over(difference() * x(), powers(x(), 2, 1) - x() * y()), false),
            (over(powers(difference(), 2, 1), difference()), true),
            (over(difference(), powers(root(), 2, 1)), false),
            (over(difference(), x() + y()), true),
            (over(difference(), root()), false),
            (over(difference(), Expression::call(Function::Abs, [difference()])), false),
            (over(Expression::call(Function::Sin, [difference()]), difference()), false),
            (Expression::call(Function::Sin, [y() - x()]) * x(), true),
        ];
        let decided = session(|| {
            cases.map(|(expression, expected)| (vanishes_where(&expression, &[&difference()]), expected, expression))
        });
        for (decided, expected, expression) in decided.expect("a session") {
            assert_eq!(decided, expected, "{expression:?}");
        }
    }
}
