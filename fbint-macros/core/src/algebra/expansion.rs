//! Expansion, within bounds on the number of terms. Works within a session.

use std::collections::{BTreeMap, BTreeSet};

use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::symbolic::Expr;
use crate::expression::{Expression, Function, Symbol};
use crate::proofs::vanishes_identically;

/// Terms of a sum beyond which it is not expanded.
const MOST_TERMS: usize = 20_000;
/// Terms of a power of a sum beyond which the power is not multiplied out within a larger expression.
const MOST_TERMS_OF_POWER: usize = 100;

/// The expression multiplied out, but for denominators, roots and high powers of sums; `None` if it may have too many terms, or is not a
/// finite real expression.
pub(super) fn expanded(expression: &Expression) -> Option<Expression> {
    // None of the thousands of terms of a power of the distance of two bodies would cancel in their force.
    let kept: Vec<&Expression> =
        expression.nodes().filter_map(kept_base).collect::<BTreeSet<_>>().into_iter().collect();
    let first = expression.symbols().last().map_or(0, |last| last.0 + 1);
    let stand_in = |base: &Expression| Some(Symbol(first + kept.binary_search(&base).ok()? as u32));
    let open = with_stand_ins(expression, &stand_in);
    if terms(&open) > MOST_TERMS {
        return None;
    }
    let expanded = Expr::read(&open).expanded().write()?;
    let given_back = expanded.substituted(&|symbol| {
        let base = symbol.0.checked_sub(first).and_then(|place| kept.get(place as usize));
        base.map_or(Expression::from(symbol), |base| (*base).clone())
    });
    // What stood for a sum may cancel with terms of others.
    Expr::read(&given_back).write()
}

/// The sum that expansion leaves unchanged, if this is a power of one.
fn kept_base(power: &Expression) -> Option<&Expression> {
    let (base, is_low) = match power {
        Expression::Power(base, exponent) => (&**base, is_low_power(base, exponent)),
        Expression::Call(Function::Powf, arguments) => (&arguments[0], false),
        _ => return None,
    };
    (matches!(base, Expression::Sum(_)) && !is_low).then_some(base)
}

/// Returns `true` if a sum to this power is multiplied out: a square is, and so is what makes few terms.
fn is_low_power(sum: &Expression, exponent: &BigRational) -> bool {
    let is_multiplied = exponent.is_integer() && exponent.is_positive();
    is_multiplied && (times(exponent) == 2 || terms_of_power(terms(sum), times(exponent)) <= MOST_TERMS_OF_POWER)
}

/// The expression with symbols for the sums that expansion leaves as they are.
fn with_stand_ins(expression: &Expression, stand_in: &impl Fn(&Expression) -> Option<Symbol>) -> Expression {
    expression.transformed(&|part, with_stand_ins| match (kept_base(part), part) {
        (Some(_), _) => part.mapped(&|part: &Expression| stand_in(part).map_or_else(|| part.clone(), Expression::from)),
        // Arguments of functions are not expanded.
        (None, Expression::Call(..)) => part.clone(),
        (None, _) => part.mapped(with_stand_ins),
    })
}

/// The expression as one quotient in its lowest terms; `None` where that may be too long.
pub(super) fn in_lowest_terms(expression: &Expression) -> Option<Expression> {
    has_short_quotient(expression).then(|| Expr::read(expression).in_lowest_terms().write())?
}

/// The numerator of the expression in its lowest terms, a polynomial in symbols; `None` where that may be too long.
pub(super) fn numerator(expression: &Expression) -> Option<Expression> {
    let expression = Expr::read(expression);
    has_short_quotient(&expression.write()?).then(|| expression.numerator().write())?
}

/// Returns `true` if there are not too many terms when everything is brought over one denominator, and nothing that vanishes is divided by.
fn has_short_quotient(expression: &Expression) -> bool {
    let divisors = divisors(expression);
    let terms_of_divisors = divisors.iter().map(|(divisor, times)| terms_of_power(terms(divisor), *times));
    terms_of_divisors.fold(terms(expression), usize::saturating_mul) <= MOST_TERMS
        && !divisors.keys().any(|divisor| vanishes_identically(divisor))
}

/// The sums that are divided by, and how often at most.
fn divisors(expression: &Expression) -> BTreeMap<&Expression, usize> {
    let mut divisors = BTreeMap::new();
    for node in expression.nodes() {
        if let Expression::Power(base, exponent) = node
            && exponent.is_negative()
            && matches!(**base, Expression::Sum(_))
        {
            let most = divisors.entry(&**base).or_default();
            *most = times(exponent).max(*most);
        }
    }
    divisors
}

/// A bound on the terms that expansion makes, without what is divided by. Arguments of functions are not expanded.
pub(super) fn terms(expression: &Expression) -> usize {
    match expression {
        Expression::Sum(members) => members.iter().map(terms).fold(0, usize::saturating_add),
        Expression::Product(factors) => factors.iter().map(terms).fold(1, usize::saturating_mul),
        Expression::Power(base, exponent) if exponent.is_positive() => terms_of_power(terms(base), times(exponent)),
        _ => 1,
    }
}

/// A bound on the terms of the n-th power of a sum of t terms: n + t - 1 over n.
pub(super) fn terms_of_power(terms: usize, exponent: usize) -> usize {
    let mut bound = 1_usize;
    for index in 1..terms.min(exponent.saturating_add(1)) {
        let larger = terms.max(exponent.saturating_add(1));
        bound = bound.saturating_mul(larger.saturating_add(index - 1)) / index;
        if bound > 1 << 40 {
            return usize::MAX;
        }
    }
    bound
}

/// The number of multiplications or divisions by a base. Powers of a root are expanded where they are whole: a root counts as its radicand.
fn times(exponent: &BigRational) -> usize {
    exponent.abs().ceil().to_integer().to_usize().unwrap_or(usize::MAX)
}

#[cfg(test)]
mod tests {
    use super::expanded;
    use crate::algebra::Algebra;
    use crate::algebra::symbolic::session;
    use crate::expression::{Expression, Symbol};
    use crate::mechanics::Simplify;
    use crate::numbers::derivative::gradient;

    fn power(base: &Expression, exponent: (i64, i64)) -> Expression {
        let exponent = num_rational::BigRational::new(exponent.0.into(), exponent.1.into());
        base.clone().power(exponent).expect("a base that is not a number")
    }

    /// The derivative of the potential of one body and `bodies` others in `dimensions`, (r^2)^exponent for each pair.
    fn force(bodies: u32, dimensions: u32, exponent: (i64, i64)) -> Expression {
        let entry = |body: u32, axis: u32| Expression::from(Symbol(body * dimensions + axis));
        let square = |body| {
            let squares = (0..dimensions).map(|axis| power(&(entry(0, axis) - entry(body, axis)), (2, 1)));
            Expression::sum(squares)
        };
        let potential = Expression::sum((1..=bodies).map(|body| power(&square(body), exponent)));
        gradient(&potential, |symbol| symbol == Symbol(0)).expect("bodies apart")[&Symbol(0)].clone()
    }

    #[test]
    fn a_force_between_bodies_has_few_terms_for_each_pair_whatever_the_exponent() {
        for exponent in [(-12, 1), (-6, 1), (-3, 1), (-1, 1), (-1, 2), (-7, 2), (1, 2), (7, 2), (6, 1), (12, 1)] {
            for (bodies, dimensions) in [(3, 2), (9, 2), (12, 2), (40, 2), (3, 3), (9, 3), (40, 3)] {
                let work = || expanded(&force(bodies, dimensions, exponent)).map(|sum| sum.terms().len());
                let terms = session(work).expect("a session").expect("few terms");
                assert!(terms <= 2 * bodies as usize, "{exponent:?}, {bodies} bodies: {terms} terms");
            }
        }
    }

    /// The rate of the momentum of bodies along the first axis.
    fn sum_of_forces(bodies: u32, dimensions: u32, potential: impl Fn(Expression) -> Expression) -> Expression {
        let place = |body: u32, axis: u32| Expression::from(Symbol(body * dimensions + axis));
        let between = |(i, j): (u32, u32)| {
            let squares = (0..dimensions).map(|axis| power(&(place(i, axis) - place(j, axis)), (2, 1)));
            potential(Expression::sum(squares))
        };
        let pairs = (0..bodies).flat_map(|i| (0..i).map(move |j| (i, j)));
        let energy = Expression::sum(pairs.map(between));
        let along = |symbol: Symbol| symbol.0.is_multiple_of(dimensions);
        Expression::sum(gradient(&energy, along).expect("bodies apart").into_values())
    }

    #[test]
    fn forces_between_many_bodies_cancel_without_a_common_denominator() {
        let absolute = |square: Expression| {
            Expression::call(crate::expression::Function::Abs, [square])
                .power(num_rational::BigRational::from_integer((-1).into()))
                .expect("not a number")
        };
        let root = |square: Expression| power(&square, (-1, 2));
        let sums = || [sum_of_forces(60, 1, absolute), sum_of_forces(20, 3, root), sum_of_forces(20, 2, root)];
        for sum in session(|| sums().map(|sum| expanded(&sum).map(|sum| sum.is_zero()))).expect("a session") {
            assert_eq!(sum, Some(true));
        }
    }

    #[test]
    fn what_is_kept_from_expansion_is_given_back() {
        for exponent in [(-6, 1), (-1, 2), (12, 1)] {
            let force = force(3, 3, exponent);
            let expanded = session(|| expanded(&force)).expect("a session").expect("few terms");
            assert_eq!(expanded.symbols(), force.symbols());
        }
    }

    #[test]
    fn what_is_kept_from_expansion_still_cancels() {
        let [x, y] = [0, 1].map(|index| Expression::from(Symbol(index)));
        let sum = x.clone() + y.clone();
        let expanded_square =
            power(&x, (2, 1)) + Expression::product([Expression::integer(2), x.clone(), y.clone()]) + power(&y, (2, 1));
        let of_zero = [
            power(&sum, (-2, 1)) - power(&expanded_square, (-1, 1)),
            x.clone() * power(&sum, (-1, 1)) + y.clone() * power(&sum, (-1, 1)) - Expression::one(),
            x.clone() * power(&sum, (-7, 1)) + y.clone() * power(&sum, (-7, 1)) - power(&sum, (-6, 1)),
            x.clone() * (power(&power(&sum, (1, 2)), (2, 1)) - sum.clone()),
            power(&sum, (120, 1)) - power(&expanded_square, (60, 1)),
        ];
        for expression in of_zero {
            let simplified = session(|| Algebra.simplified(&expression)).expect("a session");
            assert_eq!(simplified, Some(Expression::zero()), "{expression:?}");
        }
    }
}
