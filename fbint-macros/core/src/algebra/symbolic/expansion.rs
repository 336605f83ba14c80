//! Expansion, within bounds on the number of terms.

use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::Signed;

use super::{Atom, AtomCore, AtomView, kept_symbol, write};
use crate::numbers::points::{Point, sample_points};

/// Terms of a sum beyond which it is not expanded.
const MOST_TERMS: usize = 20_000;
/// Terms of a power of a sum beyond which the power is not multiplied out within a larger expression.
const MOST_TERMS_OF_POWER: usize = 100;

/// The expression multiplied out, but for denominators, roots and high powers of sums; `None` if it may have too many terms.
///
/// Term by term: the symbols that others have slow each of them down.
pub(super) fn expanded(atom: &Atom) -> Option<Atom> {
    let kept = keep_powers(atom.as_view());
    if expanded_terms(kept.as_view()) > MOST_TERMS {
        return None;
    }
    let expand = |term: AtomView<'_>| give_back_powers(term.expand().as_view());
    Some(match kept.as_view() {
        AtomView::Add(sum) => Atom::add_many(sum.iter().map(expand)),
        other => expand(other),
    })
}

/// The expression as one quotient without common factors; `None` if it may have too many terms.
pub(super) fn in_lowest_terms(atom: &Atom) -> Option<Atom> {
    (terms_over_one_denominator(atom.as_view()) <= MOST_TERMS).then(|| atom.together().cancel())
}

/// Whether what [`expanded`] leaves as it is cancels when it is multiplied out and brought over one denominator. This is slow:
/// what a number shows not to vanish is not tried, nor is what would have too many terms.
pub(super) fn cancels(expanded: &Atom) -> bool {
    has_power_of_sum(expanded.as_view())
        && vanishes_at_points(expanded)
        && terms_over_one_denominator(expanded.as_view()) <= MOST_TERMS
        && expanded.together().cancel().expand().is_zero()
}

/// Up to rounding, which grows with the terms.
fn vanishes_at_points(expanded: &Atom) -> bool {
    let Ok(expression) = write(expanded.as_view()) else { return false };
    let vanishes = |point: Point<'_>| {
        let value = point.evaluate(&expression);
        let terms: f64 = expression.children().map(|term| point.evaluate(term).abs()).sum();
        !value.is_finite() || value.abs() < f64::max(1e-6, 1e-13 * terms)
    };
    sample_points().all(vanishes)
}

/// A bound on the terms of the n-th power of a sum of t terms: n + t - 1 over n.
pub fn terms_of_power(terms: usize, exponent: usize) -> usize {
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

/// A bound on the terms that expansion makes. Arguments of functions are not expanded.
fn expanded_terms(view: AtomView<'_>) -> usize {
    match view {
        AtomView::Num(_) | AtomView::Var(_) => 1,
        AtomView::Add(sum) => sum.iter().map(expanded_terms).fold(0, usize::saturating_add),
        AtomView::Mul(product) => product.iter().map(expanded_terms).fold(1, usize::saturating_mul),
        AtomView::Pow(power) => terms_of_power(expanded_terms(power.get_base()), times(power.get_exp())),
        AtomView::Fun(_) => 1,
    }
}

/// How often a base is multiplied, or divided by. Powers of a root are expanded where they are whole: a root counts as what it
/// is taken of.
fn times(exponent: AtomView<'_>) -> usize {
    let times = number(exponent).and_then(|exponent| usize::try_from(exponent.abs().ceil().to_integer()).ok());
    times.unwrap_or(1)
}

/// Hides from expansion what is divided by, what a root is taken of, and the bases of powers that would have many terms: none of
/// the thousands of terms of a power of the distance of two bodies would cancel in their force.
fn keep_powers(view: AtomView<'_>) -> Atom {
    match view {
        AtomView::Pow(power) => {
            let base = keep_powers(power.get_base());
            let is_kept = matches!(base.as_view(), AtomView::Add(_)) && !is_low_power(&base, power.get_exp());
            let base = if is_kept { kept_symbol().call_args([base]) } else { base };
            base.pow(power.get_exp().to_owned())
        }
        other => with_parts(other, keep_powers),
    }
}

/// A sum or a product with other parts; anything else as it is.
fn with_parts(view: AtomView<'_>, to: fn(AtomView<'_>) -> Atom) -> Atom {
    match view {
        AtomView::Add(sum) => Atom::add_many(sum.iter().map(to)),
        AtomView::Mul(product) => Atom::mul_many(product.iter().map(to)),
        other => other.to_owned(),
    }
}

/// Whether a sum to this power is multiplied out: a square is, and so is what makes few terms.
fn is_low_power(sum: &Atom, exponent: AtomView<'_>) -> bool {
    let is_multiplied = number(exponent).is_some_and(|exponent| exponent.is_integer() && exponent.is_positive());
    let times = times(exponent);
    is_multiplied && (times == 2 || terms_of_power(expanded_terms(sum.as_view()), times) <= MOST_TERMS_OF_POWER)
}

/// Undoes [`keep_powers`].
fn give_back_powers(view: AtomView<'_>) -> Atom {
    match view {
        AtomView::Pow(power) => give_back_powers(power.get_base()).pow(power.get_exp().to_owned()),
        AtomView::Fun(function) if function.get_symbol() == kept_symbol() => {
            Atom::add_many(function.iter().map(give_back_powers))
        }
        other => with_parts(other, give_back_powers),
    }
}

/// A bound on the terms of the numerator when everything is brought over one denominator.
fn terms_over_one_denominator(view: AtomView<'_>) -> usize {
    let mut divisors = BTreeMap::new();
    collect_divisors(view, &mut divisors);
    let terms = divisors.iter().map(|(divisor, times)| terms_of_power(expanded_terms(divisor.as_view()), *times));
    terms.fold(expanded_terms(view), usize::saturating_mul)
}

/// The sums that are divided by, and how often at most.
fn collect_divisors(view: AtomView<'_>, found: &mut BTreeMap<Atom, usize>) {
    match view {
        AtomView::Num(_) | AtomView::Var(_) => {}
        AtomView::Add(sum) => sum.iter().for_each(|term| collect_divisors(term, found)),
        AtomView::Mul(product) => product.iter().for_each(|factor| collect_divisors(factor, found)),
        AtomView::Pow(power) => {
            collect_divisors(power.get_base(), found);
            let is_divisor = number(power.get_exp()).is_some_and(|exponent| exponent.is_negative());
            if is_divisor && matches!(power.get_base(), AtomView::Add(_)) {
                let most = found.entry(power.get_base().to_owned()).or_default();
                *most = times(power.get_exp()).max(*most);
            }
        }
        AtomView::Fun(function) => function.iter().for_each(|argument| collect_divisors(argument, found)),
    }
}

/// Whether a sum is divided by, or raised to a power: expansion alone may not bring such terms together.
fn has_power_of_sum(view: AtomView<'_>) -> bool {
    match view {
        AtomView::Num(_) | AtomView::Var(_) => false,
        AtomView::Add(sum) => sum.iter().any(has_power_of_sum),
        AtomView::Mul(product) => product.iter().any(has_power_of_sum),
        AtomView::Pow(power) => matches!(power.get_base(), AtomView::Add(_)) || has_power_of_sum(power.get_base()),
        AtomView::Fun(function) => function.iter().any(has_power_of_sum),
    }
}

fn number(exponent: AtomView<'_>) -> Option<BigRational> {
    write(exponent).ok()?.as_number().cloned()
}

#[cfg(test)]
mod tests {
    use super::{Atom, AtomView, expanded, kept_symbol};
    use crate::algebra::symbolic::{Expr, session};
    use crate::expression::{Expression, Symbol};
    use crate::numbers::derivative::gradient;

    fn terms(atom: &Atom) -> usize {
        match atom.as_view() {
            AtomView::Add(sum) => sum.get_nargs(),
            _ => 1,
        }
    }

    fn power(base: &Expression, exponent: (i64, i64)) -> Expression {
        let exponent = num_rational::BigRational::new(exponent.0.into(), exponent.1.into());
        base.clone().power(exponent).expect("a base that is not a number")
    }

    /// The derivative of the potential of one body and `bodies` others in `dimensions`, (r^2)^exponent for each pair.
    fn force(bodies: u32, dimensions: u32, exponent: (i64, i64)) -> Expr {
        let entry = |body: u32, axis: u32| Expression::from(Symbol(body * dimensions + axis));
        let square = |body| {
            let squares = (0..dimensions).map(|axis| power(&(entry(0, axis) - entry(body, axis)), (2, 1)));
            Expression::sum(squares)
        };
        let potential = Expression::sum((1..=bodies).map(|body| power(&square(body), exponent)));
        Expr::read(&gradient(&potential, |symbol| symbol == Symbol(0)).expect("bodies apart")[&Symbol(0)])
    }

    #[test]
    fn a_force_between_bodies_has_few_terms_for_each_pair_whatever_the_exponent() {
        for exponent in [(-12, 1), (-6, 1), (-3, 1), (-1, 1), (-1, 2), (-7, 2), (1, 2), (7, 2), (6, 1), (12, 1)] {
            for (bodies, dimensions) in [(3, 2), (9, 2), (12, 2), (40, 2), (3, 3), (9, 3), (40, 3)] {
                let work = || expanded(&force(bodies, dimensions, exponent).0).as_ref().map(terms);
                let terms = session(work).expect("a session").expect("few terms");
                assert!(terms <= 2 * bodies as usize, "{exponent:?}, {bodies} bodies: {terms} terms");
            }
        }
    }

    /// The rate of the momentum of bodies along the first axis.
    fn sum_of_forces(bodies: u32, dimensions: u32, potential: impl Fn(Expression) -> Expression) -> Expr {
        let place = |body: u32, axis: u32| Expression::from(Symbol(body * dimensions + axis));
        let between = |(i, j): (u32, u32)| {
            let squares = (0..dimensions).map(|axis| power(&(place(i, axis) - place(j, axis)), (2, 1)));
            potential(Expression::sum(squares))
        };
        let pairs = (0..bodies).flat_map(|i| (0..i).map(move |j| (i, j)));
        let energy = Expression::sum(pairs.map(between));
        let along = |symbol: Symbol| symbol.0.is_multiple_of(dimensions);
        Expr::read(&Expression::sum(gradient(&energy, along).expect("bodies apart").into_values()))
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
        for sum in session(|| sums().map(|sum| expanded(&sum.0).map(|sum| sum.is_zero()))).expect("a session") {
            assert_eq!(sum, Some(true));
        }
    }

    #[test]
    fn what_is_kept_from_expansion_is_given_back() {
        for exponent in [(-6, 1), (-1, 2), (12, 1)] {
            let work = || expanded(&force(3, 3, exponent).0).map(|atom| atom.to_string());
            let text = session(work).expect("a session").expect("few terms");
            let kept = session(|| kept_symbol().to_string()).expect("a session");
            assert!(!text.contains(&kept), "{text}");
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
            assert!(session(|| Expr::read(&expression).simplest().0.is_zero()).expect("a session"), "{expression:?}");
        }
    }
}
