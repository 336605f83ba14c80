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
//! divides whatever the code still divides by. So P = 0 is what has to be shown. For the same reason the numerators of the
//! constraints need not be in lowest terms: they vanish where the constraint does, whatever was divided out. Among functions,
//! lowest terms are not unique (x / sqrt(x)^2). There, no power of Q may vanish modulo the constraints, either.
//!
//! A root is any of the roots: s^d = b says nothing of its sign, so that a proof holds for all signs.

use std::collections::{BTreeMap, BTreeSet};

use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::algebra::symbolic::{self, Fraction};
use crate::expression::{Expression, Function, Symbol};
use crate::proofs::{Degree, degree_in, vanishes_identically};

/// Terms of an expansion beyond which it is not tried.
const MOST_TERMS: usize = 4000;
/// Exponents and degrees of denominators beyond which nothing is tried, and degrees of numerators.
const HIGHEST_DEGREE: usize = 40;
const HIGHEST_DEGREE_OF_NUMERATOR: usize = 12;
/// Terms of all polynomials together beyond which no Groebner basis is tried, and their number, and their degree.
const MOST_TERMS_OF_BASIS: usize = 24;
const MOST_MEMBERS_OF_BASIS: usize = 5;
const HIGHEST_DEGREE_OF_BASIS: usize = 4;

/// Whether `expression` was shown to vanish wherever all of `constraints` do and it is defined.
pub(super) fn vanishes_where(expression: &Expression, constraints: &[&Expression]) -> bool {
    let mut unknowns = FunctionUnknowns::above(constraints.iter().copied().chain([expression]));
    unknowns.zeros = constraints.iter().copied().cloned().collect();
    let (polynomial, divisor) = unknowns.quotient(expression);
    let constraints: Vec<Expression> = constraints.iter().map(|constraint| unknowns.quotient(constraint).0).collect();
    let relations = unknowns.relations();
    let all = || constraints.iter().chain(&relations);
    let is_long = |polynomial: &Expression| terms(polynomial) > MOST_TERMS;
    if !unknowns.is_division_short(&polynomial, &constraints)
        || all().any(is_long)
        || is_long(&divisor)
        || degree(&divisor) > HIGHEST_DEGREE
    {
        return false;
    }
    let variables = order(all().chain([&polynomial, &divisor]));
    let Some(fraction) = Fraction::new([&polynomial, &divisor], all(), &variables) else { return false };
    (fraction.vanishes_by_division() || is_basis_small(all()) && fraction.vanishes_by_basis())
        && (relations.is_empty() || !fraction.divides_by_zero())
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
    let polynomials: Vec<Expression> = expressions.iter().map(|expression| unknowns.quotient(expression).0).collect();
    let relations = unknowns.relations();
    let all = || polynomials.iter().chain(&relations);
    let one = Expression::one();
    is_basis_small(all())
        && Fraction::new([&one, &one], all(), &order(all())).is_some_and(|one| one.vanishes_by_basis())
}

fn is_basis_small<'a>(members: impl Iterator<Item = &'a Expression> + Clone) -> bool {
    members.clone().count() <= MOST_MEMBERS_OF_BASIS
        && members.clone().map(terms).fold(0, usize::saturating_add) <= MOST_TERMS_OF_BASIS
        && members.clone().all(|member| degree(member) <= HIGHEST_DEGREE_OF_BASIS)
}

/// A bound on the number of terms after expansion.
pub(super) fn terms(polynomial: &Expression) -> usize {
    match polynomial {
        Expression::Sum(terms_of_sum) => terms_of_sum.iter().map(terms).fold(0, usize::saturating_add),
        Expression::Product(factors) => factors.iter().map(terms).fold(1, usize::saturating_mul),
        Expression::Power(base, exponent) => {
            symbolic::terms_of_power(terms(base), exponent.to_integer().abs().to_usize().unwrap_or(usize::MAX))
        }
        Expression::Number(_) | Expression::Pi | Expression::Symbol(_) | Expression::Call(..) => 1,
    }
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
    known: Vec<UnknownMeaning>,
    /// What binds unknowns u: d and v with u^d = v.
    substitutions: Vec<(Symbol, usize, Expression)>,
    /// Each unknown that stands for a reciprocal, with its polynomial divisor.
    reciprocals: Vec<(Symbol, Expression)>,
}

#[derive(PartialEq)]
enum UnknownMeaning {
    Itself(Expression),
    /// The radicand as a polynomial, the index, and what the root is divided by: sqrt(x / y) is not sqrt(x y) / y where y is
    /// negative, so the two do not share an unknown.
    Root(Expression, u32, Expression),
    Reciprocal(Expression),
    Function(Function, Expression),
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
            bound = bound.saturating_mul(symbolic::terms_of_power(terms(value), times));
            for (index, degree) in degrees.iter_mut().enumerate() {
                *degree = degree.saturating_add(times.saturating_mul(degree_of(index, value)));
            }
        }
        let degree = degree(polynomial);
        let of_constraints =
            constraints.iter().map(|constraint| symbolic::terms_of_power(terms(constraint), degree / 2));
        bound = bound.saturating_mul(of_constraints.max().unwrap_or(1));
        bound <= MOST_TERMS && degree <= HIGHEST_DEGREE_OF_NUMERATOR
    }

    /// The expression as a polynomial.
    fn replace(&mut self, expression: &Expression) -> Expression {
        match expression {
            Expression::Number(_) | Expression::Symbol(_) => expression.clone(),
            Expression::Pi => self.opaque(expression),
            Expression::Sum(terms) => Expression::sum(terms.iter().map(|term| self.replace(term))),
            Expression::Product(factors) => Expression::product(factors.iter().map(|factor| self.replace(factor))),
            Expression::Power(base, exponent) => self.power(expression, base, exponent),
            Expression::Call(function, arguments) => self.call(expression, *function, &arguments[0]),
        }
    }

    /// b^(n/d) = b^q s^r with s^d = b, n = q d + r and 0 <= r < d.
    fn power(&mut self, expression: &Expression, base: &Expression, exponent: &BigRational) -> Expression {
        let (whole, rest) = exponent.numer().div_mod_floor(exponent.denom());
        let (Some(whole), Some(rest), Some(index)) = (whole.to_i64(), rest.to_i64(), exponent.denom().to_u32()) else {
            return self.opaque(expression);
        };
        if whole.unsigned_abs() as usize > HIGHEST_DEGREE || index as usize > HIGHEST_DEGREE {
            return self.opaque(expression);
        }
        let base = self.replace(base);
        let mut factors = Vec::new();
        if whole != 0 {
            let powered = if whole > 0 { base.clone() } else { self.reciprocal(base.clone()) };
            factors.push(positive_power(powered, whole.unsigned_abs()));
        }
        if rest != 0 {
            let root = self.root(base, index);
            factors.push(positive_power(root, rest.unsigned_abs()));
        }
        Expression::product(factors)
    }

    fn call(&mut self, expression: &Expression, function: Function, argument: &Expression) -> Expression {
        if let Some(value) = value_at_zero(function)
            && self.zeros.iter().any(|zero| is_multiple(argument, zero))
        {
            // Not the number itself: a product with 0 would hide what is divided by.
            return self.bound(UnknownMeaning::Itself(expression.clone()), 1, Expression::integer(value));
        }
        let (sine, cosine) = match function {
            Function::Sin | Function::Cos | Function::Tan => self.pair([Function::Sin, Function::Cos], argument, 1),
            Function::Sinh | Function::Cosh | Function::Tanh => {
                self.pair([Function::Sinh, Function::Cosh], argument, -1)
            }
            Function::Abs => {
                let argument = self.replace(argument);
                return self.root(argument.clone() * argument, 2);
            }
            _ => return self.opaque(expression),
        };
        match function {
            Function::Sin | Function::Sinh => sine,
            Function::Cos | Function::Cosh => cosine,
            _ => sine * self.reciprocal(cosine),
        }
    }

    /// s and c with c^2 = 1 - sign s^2.
    fn pair(&mut self, [odd, even]: [Function; 2], argument: &Expression, sign: i64) -> (Expression, Expression) {
        let sine = Expression::from(self.unknown(UnknownMeaning::Function(odd, argument.clone())).0);
        let square = Expression::integer(-sign) * positive_power(sine.clone(), 2) + Expression::one();
        let cosine = self.bound(UnknownMeaning::Function(even, argument.clone()), 2, square);
        (sine, cosine)
    }

    /// The d-th root of p / q is that of p q^(d - 1), divided by q.
    fn root(&mut self, base: Expression, index: u32) -> Expression {
        let (numerator, denominator) = self.fraction(&base);
        let (divisor, reciprocal) = (self.divisors(&denominator), reciprocals(&denominator));
        let value = Expression::product([numerator, positive_power(divisor, u64::from(index) - 1)]);
        self.bound(UnknownMeaning::Root(value.clone(), index, reciprocal.clone()), index as usize, value) * reciprocal
    }

    /// 1 / d
    fn reciprocal(&mut self, divisor: Expression) -> Expression {
        let (numerator, denominator) = self.fraction(&divisor);
        let factors = match numerator {
            Expression::Product(factors) => factors.to_vec(),
            other => vec![other],
        };
        let inverses: Vec<Expression> = factors.into_iter().map(|factor| self.reciprocal_of_factor(factor)).collect();
        Expression::product(inverses.into_iter().chain([self.divisors(&denominator)]))
    }

    fn reciprocal_of_factor(&mut self, factor: Expression) -> Expression {
        match factor {
            Expression::Number(number) if !number.is_zero() => Expression::Number(number.recip()),
            Expression::Power(base, exponent) => {
                let inverse = self.reciprocal_of_factor((*base).clone());
                positive_power(inverse, exponent.to_integer().to_u64().unwrap_or(1))
            }
            factor => {
                let (inverse, is_new) = self.unknown(UnknownMeaning::Reciprocal(factor.clone()));
                if is_new {
                    self.reciprocals.push((inverse, factor));
                }
                Expression::from(inverse)
            }
        }
    }

    /// A function that nothing is known of.
    fn opaque(&mut self, expression: &Expression) -> Expression {
        Expression::from(self.unknown(UnknownMeaning::Itself(expression.clone())).0)
    }

    /// u with u^d = value.
    fn bound(&mut self, key: UnknownMeaning, power: usize, value: Expression) -> Expression {
        let (unknown, is_new) = self.unknown(key);
        if is_new {
            self.substitutions.push((unknown, power, value));
        }
        Expression::from(unknown)
    }

    /// The unknown that stands for this, and whether it is a new one.
    fn unknown(&mut self, key: UnknownMeaning) -> (Symbol, bool) {
        let known = self.known.iter().position(|known| *known == key);
        let place = known.unwrap_or(self.known.len());
        if known.is_none() {
            self.known.push(key);
        }
        (Symbol(self.first + place as u32), known.is_none())
    }

    /// The expression as a quotient of polynomials, the first of which vanishes where it does.
    fn quotient(&mut self, expression: &Expression) -> (Expression, Expression) {
        let polynomial = self.replace(expression);
        let (numerator, powers) = self.fraction(&polynomial);
        (numerator, self.divisors(&powers))
    }

    /// What contains reciprocals over one denominator: the numerator, and each reciprocal that it lacks with its power.
    fn fraction(&self, expression: &Expression) -> (Expression, Powers) {
        match expression {
            Expression::Symbol(symbol) if self.reciprocals.iter().any(|(inverse, _)| inverse == symbol) => {
                (Expression::one(), Powers::from([(*symbol, 1)]))
            }
            Expression::Number(_) | Expression::Pi | Expression::Symbol(_) | Expression::Call(..) => {
                (expression.clone(), Powers::new())
            }
            Expression::Sum(terms) => {
                let terms: Vec<(Expression, Powers)> = terms.iter().map(|term| self.fraction(term)).collect();
                let mut common = Powers::new();
                for (symbol, power) in terms.iter().flat_map(|(_, powers)| powers) {
                    let largest = common.entry(*symbol).or_insert(0);
                    *largest = (*largest).max(*power);
                }
                let missing = |powers: &Powers| -> Powers {
                    let rest = common.iter().map(|(symbol, power)| (*symbol, power - powers.get(symbol).unwrap_or(&0)));
                    rest.filter(|(_, power)| *power > 0).collect()
                };
                let terms = terms.into_iter().map(|(numerator, powers)| numerator * self.divisors(&missing(&powers)));
                (Expression::sum(terms), common)
            }
            Expression::Product(factors) => {
                let (mut numerators, mut all) = (Vec::new(), Powers::new());
                for (numerator, powers) in factors.iter().map(|factor| self.fraction(factor)) {
                    numerators.push(numerator);
                    powers.into_iter().for_each(|(symbol, power)| {
                        let sum = all.entry(symbol).or_insert(0);
                        *sum = sum.saturating_add(power);
                    });
                }
                (Expression::product(numerators), all)
            }
            Expression::Power(base, exponent) => {
                let exponent = exponent.to_integer().to_u64().unwrap_or(1);
                let (numerator, powers) = self.fraction(base);
                let powers =
                    powers.into_iter().map(|(symbol, power)| (symbol, power.saturating_mul(exponent))).collect();
                (positive_power(numerator, exponent), powers)
            }
        }
    }

    /// The product of divisors with these powers of their reciprocals.
    fn divisors(&self, powers: &Powers) -> Expression {
        let divisor =
            |(inverse, divisor): &(Symbol, Expression)| Some(positive_power(divisor.clone(), *powers.get(inverse)?));
        Expression::product(self.reciprocals.iter().filter_map(divisor))
    }
}

/// Powers of reciprocals.
type Powers = BTreeMap<Symbol, u64>;

fn reciprocals(powers: &Powers) -> Expression {
    Expression::product(powers.iter().map(|(symbol, power)| positive_power(Expression::from(*symbol), *power)))
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
