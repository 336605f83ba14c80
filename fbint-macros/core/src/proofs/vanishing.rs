//! Whether an expression vanishes, decided by exact algebra: everywhere, or where others vanish.
//!
//! Functions become unknowns of their own, bound by polynomial relations: a root s of b by s^d = b, sine and cosine by
//! s^2 + c^2 = 1. What is left is brought over one denominator, and division of the numerator by the relations (and by the
//! constraints) decides: no remainder is a proof. A remainder proves nothing, because functions have more relations than
//! these; nor is anything tried whose expansion may have more than a fixed number of terms, so that time is bounded by
//! counts.

use std::collections::{BTreeMap, BTreeSet};

use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use crate::expression::{Expression, Function, Symbol};
use crate::symbolic::{self, Expr};

/// Terms of an expansion beyond which it is not tried.
const MOST_TERMS: usize = 4000;
/// Degree of a polynomial beyond which it is not divided, and beyond which it is not divided by constraints.
const HIGHEST_DEGREE: usize = 40;
const HIGHEST_DEGREE_ON_CONSTRAINTS: usize = 12;
/// Terms of all polynomials together beyond which no Groebner basis is tried, and their number, and their degree.
const MOST_TERMS_OF_BASIS: usize = 24;
const MOST_MEMBERS_OF_BASIS: usize = 5;
const HIGHEST_DEGREE_OF_BASIS: usize = 4;

/// Whether `expression` was shown to vanish wherever all of `constraints` do; everywhere, if there are none.
pub(super) fn vanishes(expression: &Expression, constraints: &[&Expression]) -> bool {
    if expression.is_zero() {
        return true;
    }
    let mut unknowns = Unknowns::above(constraints.iter().copied().chain([expression]));
    let polynomial = unknowns.numerator(expression);
    let constraints: Vec<Expression> = constraints.iter().map(|constraint| unknowns.numerator(constraint)).collect();
    let all = || constraints.iter().chain(&unknowns.relations);
    if !unknowns.is_division_short(&polynomial, &constraints) || all().any(|relation| terms(relation) > MOST_TERMS) {
        return false;
    }
    let variables = order(all().chain([&polynomial]));
    let relations: Vec<Expr> = all().map(Expr::read).collect();
    let polynomial = Expr::read(&polynomial);
    symbolic::is_combination(&polynomial, &relations, &variables)
        || !constraints.is_empty()
            && is_basis_small(all())
            && symbolic::is_in_ideal(&polynomial, &relations, &variables)
}

/// Whether it was shown that not all of `expressions` can vanish together, not even at complex values.
pub(super) fn contradict(expressions: &[Expression]) -> bool {
    let mut unknowns = Unknowns::above(expressions);
    let polynomials: Vec<Expression> = expressions.iter().map(|expression| unknowns.numerator(expression)).collect();
    let all = || polynomials.iter().chain(&unknowns.relations);
    if !is_basis_small(all()) {
        return false;
    }
    let variables = order(all());
    symbolic::is_in_ideal(&Expr::read(&Expression::one()), &all().map(Expr::read).collect::<Vec<_>>(), &variables)
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
    weighted_degree(polynomial, &|_| true)
}

fn degree_in(polynomial: &Expression, symbol: Symbol) -> usize {
    weighted_degree(polynomial, &|other| other == symbol)
}

fn weighted_degree(polynomial: &Expression, counts: &impl Fn(Symbol) -> bool) -> usize {
    match polynomial {
        Expression::Symbol(symbol) => usize::from(counts(*symbol)),
        Expression::Number(_) | Expression::Pi | Expression::Call(..) => 0,
        Expression::Sum(terms) => terms.iter().map(|term| weighted_degree(term, counts)).max().unwrap_or(0),
        Expression::Product(factors) => {
            factors.iter().map(|factor| weighted_degree(factor, counts)).fold(0, usize::saturating_add)
        }
        Expression::Power(base, exponent) => {
            weighted_degree(base, counts).saturating_mul(exponent.to_integer().to_usize().unwrap_or(usize::MAX))
        }
    }
}

/// Unknowns that stand for functions, and what binds them.
struct Unknowns {
    first: u32,
    next: u32,
    /// What each unknown stands for that has been met.
    known: Vec<(Origin, Symbol)>,
    /// Polynomials that vanish.
    relations: Vec<Expression>,
    /// Those of the form u^d = v.
    substitutions: Vec<(Symbol, usize, Expression)>,
    /// Each unknown that stands for a reciprocal, with its polynomial divisor.
    reciprocals: Vec<(Symbol, Expression)>,
}

#[derive(PartialEq)]
enum Origin {
    Itself(Expression),
    /// The radicand as a polynomial, the index, and what the root is divided by: sqrt(x / y) is not sqrt(x y) / y where y is
    /// negative, so the two do not share an unknown.
    Root(Expression, u32, Expression),
    Reciprocal(Expression),
    Function(Function, Expression),
}

impl Unknowns {
    /// Unknowns beyond every symbol of `expressions`.
    fn above<'a>(expressions: impl IntoIterator<Item = &'a Expression>) -> Self {
        let last = expressions.into_iter().filter_map(|expression| expression.symbols().last().copied()).max();
        let first = last.map_or(0, |symbol| symbol.0 + 1);
        Self {
            first,
            next: first,
            known: Vec::new(),
            relations: Vec::new(),
            substitutions: Vec::new(),
            reciprocals: Vec::new(),
        }
    }

    /// Whether division makes few terms: every relation u^d = .. is used as often as the degree in u allows, and multiplies
    /// the terms each time.
    fn is_division_short(&self, polynomial: &Expression, constraints: &[Expression]) -> bool {
        let mut bound = terms(polynomial);
        let mut degrees: Vec<usize> =
            (self.first..self.next).map(|unknown| degree_in(polynomial, Symbol(unknown))).collect();
        for (unknown, power, value) in self.substitutions.iter().rev() {
            let times = degrees[(unknown.0 - self.first) as usize] / power;
            bound = bound.saturating_mul(symbolic::terms_of_power(terms(value), times));
            for (index, degree) in degrees.iter_mut().enumerate() {
                let more = times.saturating_mul(degree_in(value, Symbol(self.first + index as u32)));
                *degree = degree.saturating_add(more);
            }
        }
        let degree = degree(polynomial);
        let of_constraints =
            constraints.iter().map(|constraint| symbolic::terms_of_power(terms(constraint), degree / 2));
        bound = bound.saturating_mul(of_constraints.max().unwrap_or(1));
        let highest = if constraints.is_empty() { HIGHEST_DEGREE } else { HIGHEST_DEGREE_ON_CONSTRAINTS };
        bound <= MOST_TERMS && degree <= highest
    }

    /// The expression as a polynomial.
    fn replace(&mut self, expression: &Expression) -> Expression {
        match expression {
            Expression::Number(_) | Expression::Symbol(_) => expression.clone(),
            Expression::Pi => self.opaque(expression),
            Expression::Sum(terms) => Expression::sum(terms.iter().map(|term| self.replace(term)).collect::<Vec<_>>()),
            Expression::Product(factors) => {
                Expression::product(factors.iter().map(|factor| self.replace(factor)).collect::<Vec<_>>())
            }
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
        match function {
            Function::Sin | Function::Cos => {
                let (sine, cosine) = self.pair([Function::Sin, Function::Cos], argument, 1);
                if function == Function::Sin { sine } else { cosine }
            }
            Function::Sinh | Function::Cosh => {
                let (sine, cosine) = self.pair([Function::Sinh, Function::Cosh], argument, -1);
                if function == Function::Sinh { sine } else { cosine }
            }
            Function::Tan => {
                let (sine, cosine) = self.pair([Function::Sin, Function::Cos], argument, 1);
                sine * self.reciprocal(cosine)
            }
            Function::Tanh => {
                let (sine, cosine) = self.pair([Function::Sinh, Function::Cosh], argument, -1);
                sine * self.reciprocal(cosine)
            }
            Function::Abs => {
                let argument = self.replace(argument);
                self.root(argument.clone() * argument, 2)
            }
            _ => self.opaque(expression),
        }
    }

    /// s and c with c^2 = 1 - sign s^2.
    fn pair(&mut self, [odd, even]: [Function; 2], argument: &Expression, sign: i64) -> (Expression, Expression) {
        let sine = self.unknown(Origin::Function(odd, argument.clone()));
        let square = Expression::integer(-sign) * positive_power(sine.clone(), 2) + Expression::one();
        let cosine = self.bound(Origin::Function(even, argument.clone()), 2, square);
        (sine, cosine)
    }

    /// The d-th root of p / q is that of p q^(d - 1), divided by q.
    fn root(&mut self, base: Expression, index: u32) -> Expression {
        let (numerator, denominator) = self.fraction(&base);
        let (divisor, reciprocal) = (self.divisors(&denominator), reciprocals(&denominator));
        let value = Expression::product([numerator, positive_power(divisor, u64::from(index) - 1)]);
        self.bound(Origin::Root(value.clone(), index, reciprocal.clone()), index as usize, value) * reciprocal
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
                let before = self.next;
                let inverse = self.unknown(Origin::Reciprocal(factor.clone()));
                if self.next > before {
                    self.reciprocals.push((Symbol(before), factor));
                }
                inverse
            }
        }
    }

    /// A function that nothing is known of.
    fn opaque(&mut self, expression: &Expression) -> Expression {
        self.unknown(Origin::Itself(expression.clone()))
    }

    /// u with u^d = value.
    fn bound(&mut self, key: Origin, power: usize, value: Expression) -> Expression {
        let before = self.next;
        let unknown = self.unknown(key);
        if self.next > before {
            self.relations.push(positive_power(unknown.clone(), power as u64) - value.clone());
            self.substitutions.push((Symbol(before), power, value));
        }
        unknown
    }

    fn unknown(&mut self, key: Origin) -> Expression {
        if let Some((_, symbol)) = self.known.iter().find(|(known, _)| *known == key) {
            return Expression::from(*symbol);
        }
        let symbol = Symbol(self.next);
        self.next += 1;
        self.known.push((key, symbol));
        Expression::from(symbol)
    }

    /// The polynomial that vanishes where the expression does.
    fn numerator(&mut self, expression: &Expression) -> Expression {
        let polynomial = self.replace(expression);
        self.fraction(&polynomial).0
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
                (Expression::sum(terms.collect::<Vec<_>>()), common)
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
        Expression::product(self.reciprocals.iter().filter_map(divisor).collect::<Vec<_>>())
    }
}

/// Powers of reciprocals.
type Powers = BTreeMap<Symbol, u64>;

fn reciprocals(powers: &Powers) -> Expression {
    let powers = powers.iter().map(|(symbol, power)| positive_power(Expression::from(*symbol), *power));
    Expression::product(powers.collect::<Vec<_>>())
}

fn positive_power(base: Expression, exponent: u64) -> Expression {
    base.power(BigRational::from_integer(exponent.into())).expect("a positive exponent never divides")
}

#[cfg(test)]
mod tests {
    use super::vanishes;
    use crate::expression::{Expression, Function, Symbol};
    use crate::symbolic::session;

    fn powers(base: Expression, numerator: i64, denominator: i64) -> Expression {
        base.power(num_rational::BigRational::new(numerator.into(), denominator.into())).expect("the base is not 0")
    }

    fn ratio(dividend: Expression, divisor: Expression) -> Expression {
        dividend.divide(divisor).expect("the divisor is not 0")
    }

    #[test]
    fn functions_vanish_by_their_relations_and_not_otherwise() {
        let x = || Expression::from(Symbol(0));
        let y = || Expression::from(Symbol(1));
        let norm = |numerator| powers(powers(x(), 2, 1) + powers(y(), 2, 1), numerator, 2);
        let call = |function, argument| Expression::call(function, [argument]);
        let cases = [
            (norm(1) * norm(-3) - norm(-2), true),
            (norm(3) - norm(1) * (powers(x(), 2, 1) + powers(y(), 2, 1)), true),
            (norm(1) - Expression::one(), false),
            (norm(3) - norm(1), false),
            (powers(x(), 1, 3) * powers(x(), 2, 3) - x(), true),
            (powers(x(), 1, 3) - powers(x(), 2, 3), false),
            (powers(x(), -1, 2) - ratio(powers(x(), 1, 2), x()), true),
            (powers(x(), -1, 2) - powers(x(), 1, 2), false),
            (ratio(x(), y()) + ratio(y(), x()) - ratio(powers(x(), 2, 1) + powers(y(), 2, 1), x() * y()), true),
            (ratio(x(), y()) - ratio(y(), x()), false),
            (call(Function::Tan, x()) * call(Function::Cos, x()) - call(Function::Sin, x()), true),
            (call(Function::Tan, x()) - call(Function::Tan, y()), false),
            (
                powers(call(Function::Tanh, x()), 2, 1) + powers(call(Function::Cosh, x()), -2, 1) - Expression::one(),
                true,
            ),
            (powers(call(Function::Abs, x()), 2, 1) - powers(x(), 2, 1), true),
            (call(Function::Abs, x()) - x(), false),
            (call(Function::Exp, x()) - call(Function::Exp, y()), false),
        ];
        let decided =
            session(|| cases.map(|(expression, expected)| (vanishes(&expression, &[]), expected, expression)));
        for (decided, expected, expression) in decided.expect("a session") {
            assert_eq!(decided, expected, "{expression:?}");
        }
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
        let decided =
            session(|| cases.map(|(expression, expected)| (vanishes(&expression, &[&circle]), expected, expression)));
        for (decided, expected, expression) in decided.expect("a session") {
            assert_eq!(decided, expected, "{expression:?}");
        }
    }
}
