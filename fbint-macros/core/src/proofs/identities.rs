//! Whether expressions vanish identically, decided at random points modulo random primes of 62 bits.
//!
//! An identity of rational functions that fails, fails at a random point but for a probability of at most its degree over the number of
//! residues (Schwartz and Zippel). Its degree is bounded, so that eight points, each modulo another prime, leave a probability below 1e-40.
//! Primes and points follow from a hash of what is tested, so that it cannot contain them.
//!
//! Functions become residues that satisfy the same relations and no others, so that what vanishes here vanishes for the functions:
//!
//! - a root of b is a residue s with s^d = b; |x| is such a root of x^2. Residues modulo these primes are like real numbers in that one of
//!   x and -x is a square, that every square is a fourth power, and that roots of odd indices are unique. One of two roots is taken at
//!   random, and where there is none, another point is drawn. Where a root was missing at a point that has all roots before it, its
//!   radicand is not a square among the numbers that these generate: its sign is free. If all signs are free, an identity that holds for
//!   some of them holds for all. Otherwise, as |x| = x does, it holds for some choices of signs alone. After the first signs, which are
//!   free, let there be k others at most, where those that are bound take any values: a root that equals another one for some of these may
//!   be independent for the rest. A choice of signs has a share of 1 / 2^k of the points at least, whether a sign is drawn or a root is
//!   missing (Lang and Weil), so that an identity that fails for it holds at 20 2^k points with a probability below 1e-8. First of all,
//!   though, roots are independent unknowns whose powers from d on are known: an identity that holds then holds whatever the roots are;
//! - the root of a product is the product of the roots of its factors where all of these occur alone: where they are defined, no factor is
//!   negative. sqrt(x y) and x sqrt(y / x) stay different, as they are for negative x and y;
//! - the exponential of a sum is the product of powers of units, one for each term t of exponents, up to a rational factor;
//!   hyperbolic functions and powers with symbolic exponents follow, and sine and cosine with points of the circle;
//! - any other function is a random residue that depends on its arguments. The arguments are compared as residues: x + x and 2 x
//!   have one logarithm.
//!
//! Nothing is concluded of a logarithm of a product, since the signs of factors are unknown, nor of functions such as asin(sin(x)), which
//! are inverse in one order only. An identity that divides by something that vanishes for some choice of roots has to hold for the others.

use std::cell::LazyCell;
use std::hash::{Hash as _, Hasher as _};

use num_bigint::BigInt;
use num_integer::Integer;
use num_traits::{One, ToPrimitive};
use siphasher::sip::SipHasher24;

use super::degree::Degrees;
use super::linear_form::factors;
use super::point::{ModularPoint, Signs, most_signs, roots};
use super::rotation;
use super::set::Set;
use crate::expression::Expression;
use crate::numbers::bounded::Bounded;
use crate::numbers::derivative::{AtPoint, Evaluation};
use crate::numbers::field::primes;
use crate::numbers::points::Point;

/// Points that an identity has to hold at, and for each choice of signs where these are bound by one another.
const POINTS: u64 = 8;
const POINTS_OF_SIGNS: u64 = 20;
/// The most signs that may be bound by others.
const MOST_BOUND: u32 = 6;
/// Points that are drawn modulo a prime until all roots exist: modulo one prime in 2^k, k roots of numbers do.
const DRAWS: u64 = 64;
/// Primes that may give no point, for one that does.
const UNDEFINED: u64 = 32;
/// No identity of a higher degree is proved: (2^32 / 2^60)^8 is below 1e-60, and below 1e-40 if one point in 2^10 has all roots.
const HIGHEST_DEGREE: f64 = 4_294_967_296.0;
/// The largest common denominator of rational numbers in exponents.
const LARGEST_DENOMINATOR: u64 = 1 << 20;

/// Returns `true` if an expression is proved to vanish wherever it is defined.
pub(crate) fn vanishes_identically(expression: &Expression) -> bool {
    expression.is_zero()
        || holds_on(&[expression], &Set::default(), 1.0, |point| Some(point.evaluate(expression)? == 0))
}

/// Whether expressions vanish identically, for many that share parts: most of those that do not are told at one point, whose values are
/// computed once.
pub(crate) struct Vanishing(AtPoint<'static, Bounded>);

impl Default for Vanishing {
    fn default() -> Self {
        let point = Point::general();
        Self(Evaluation::new(Box::new(move |symbol| Bounded::rounded(point.symbol(symbol)))))
    }
}

impl Vanishing {
    /// See [`vanishes_identically`].
    pub(crate) fn vanishes(&self, expression: &Expression) -> bool {
        let is_nonzero = || self.0.value(expression).is_some_and(Bounded::is_nonzero);
        expression.is_zero() || !is_nonzero() && vanishes_identically(expression)
    }
}

/// Returns `true` if an identity holds at enough random points of a set: a proof that it does everywhere there. The function that has to be 0 is made
/// of `parts`, and its degree is at most `factor` times the degrees of all of them.
///
/// An identity that holds for any roots, and for rotations times any number, needs no signs: an example is the forces between many bodies,
/// whose distances exist together at hardly any point.
pub(super) fn holds_on(
    parts: &[&Expression],
    set: &Set<'_>,
    factor: f64,
    identity: impl Fn(&mut ModularPoint) -> Option<bool>,
) -> bool {
    let has_signs = || !set.rotations.is_empty() || most_signs(parts.iter().copied()) > 0;
    set.may_be_without_signs() && has_signs() && holds_at_points(parts, set, factor, Signs::Free, &identity)
        || holds_at_points(parts, set, factor, Signs::Related, &identity)
}

/// Returns `true` if something is so at enough random points of a set. With [`Signs::Related`] it may also be that something is not 0 on any part of
/// the set.
pub(super) fn holds_at_points(
    parts: &[&Expression],
    set: &Set<'_>,
    factor: f64,
    signs: Signs,
    identity: &impl Fn(&mut ModularPoint) -> Option<bool>,
) -> bool {
    let constraints = set.constraints.iter().map(|constraint| constraint.value);
    let all: Vec<&Expression> = parts.iter().copied().chain(constraints).collect();
    let (degrees, of_rotations) = match signs {
        Signs::Free => (Degrees::with_free_roots(), rotation::DEGREE_OF_MULTIPLES),
        Signs::Related => (Degrees::default(), rotation::DEGREE),
    };
    let factor = if set.rotations.is_empty() { factor } else { factor * of_rotations };
    let degree = factor * all.iter().map(|part| degrees.of(part).total()).sum::<f64>();
    let (Some((seed, scale)), Some(steps)) = (seed_and_scale(&all), set.steps()) else { return false };
    let roots = roots(all.iter().copied());
    let of_steps = steps.iter().filter(|step| step.coefficients.len() == 3).count();
    // Hardly any identity has signs that are bound.
    let most_signs = LazyCell::new(|| match signs {
        Signs::Free => of_steps as u32,
        Signs::Related => {
            (set.rotations.iter().filter(|rotation| rotation.may_reflect()).count()
                + of_steps
                + most_signs(all.iter().copied())) as u32
        }
    });
    let (mut count, mut missing) = (0, 0);
    for (tried, field) in (1_u64..).zip(primes(seed)) {
        let random = |number: u64| {
            let mut point = ModularPoint::new(field, seed ^ field.prime ^ number << 32, scale, signs);
            let has_roots =
                point.follow(set, &steps, tried).is_some() && roots.iter().all(|root| point.evaluate(root).is_some());
            missing |= point.missing;
            has_roots.then_some(point)
        };
        let point = (0..DRAWS).find_map(random);
        if let Some((holds, point)) = point.and_then(|mut point| Some((identity(&mut point)?, point))) {
            if !holds || degree * scale as f64 * point.norm > HIGHEST_DEGREE {
                return false;
            }
            count += 1;
            let free = missing.trailing_ones();
            let bound = if point.signs <= free { 0 } else { point.signs.max(*most_signs) - free };
            let enough = match bound {
                0 => POINTS,
                1..=MOST_BOUND => POINTS_OF_SIGNS << bound,
                // Then nothing is proved, and signs that are free have been told from the others.
                _ => POINTS_OF_SIGNS,
            };
            if count >= enough {
                return bound <= MOST_BOUND;
            }
        } else if tried > UNDEFINED * (1 + count) {
            // What is undefined at the first points is undefined everywhere, or nearly.
            return false;
        }
    }
    false
}

/// The seed of the points for an identity in these expressions, and the factor of its exponents.
pub(super) fn seed_and_scale(parts: &[&Expression]) -> Option<(u64, u64)> {
    let mut hasher = SipHasher24::new();
    parts.hash(&mut hasher);
    Some((hasher.finish(), common_denominator(parts)?))
}

/// The common denominator of the rational factors in exponents and angles.
fn common_denominator(parts: &[&Expression]) -> Option<u64> {
    let factors = parts.iter().flat_map(|part| factors(part));
    let common = factors.fold(BigInt::one(), |common, factor| common.lcm(factor.denom()));
    common.to_u64().filter(|common| *common <= LARGEST_DENOMINATOR)
}

#[cfg(test)]
mod tests {
    use num_rational::BigRational;

    use super::super::set::Constraint;
    use super::*;
    use crate::expression::{Function, Symbol};

    fn powers(base: Expression, numerator: i64, denominator: i64) -> Expression {
        base.power(BigRational::new(numerator.into(), denominator.into())).expect("the base is not 0")
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
        for (expression, expected) in cases {
            assert_eq!(vanishes_identically(&expression), expected, "{expression:?}");
        }
    }

    #[test]
    fn functions_of_sums_are_related() {
        let x = || Expression::from(Symbol(0));
        let y = || Expression::from(Symbol(1));
        let number = Expression::integer;
        let call = |function, argument| Expression::call(function, [argument]);
        let exp = |argument| call(Function::Exp, argument);
        let (sin, cos) = (|argument| call(Function::Sin, argument), |argument| call(Function::Cos, argument));
        let hundredth = || ratio(x(), number(100));
        let powf = |base, exponent| Expression::call(Function::Powf, [base, exponent]);
        let square = |inner: Expression| powers(inner, 2, 1);
        let cases = [
            (exp(number(100) * x()) * exp(-number(99) * x()) - exp(x()), true),
            (exp(number(100) * x()) * exp(-number(98) * x()) - exp(x()), false),
            (powers(exp(hundredth()), 100, 1) - exp(x()), true),
            (exp(x() * (x() + y())) - exp(square(x())) * exp(y() * x()), true),
            (
                square(call(Function::Cosh, number(80) * x()))
                    - square(call(Function::Sinh, number(80) * x()))
                    - number(1),
                true,
            ),
            (call(Function::Cosh, number(2) * x()) - number(2) * square(call(Function::Cosh, x())) + number(1), true),
            (call(Function::Cosh, x()) - exp(x()), false),
            (sin(x() + y()) - sin(x()) * cos(y()) - cos(x()) * sin(y()), true),
            (sin(x() + y()) - sin(x()) * cos(y()) + cos(x()) * sin(y()), false),
            (cos(x() + ratio(Expression::Pi, number(2))) + sin(x()), true),
            (
                call(Function::Tan, number(2) * x()) * (number(1) - square(call(Function::Tan, x())))
                    - number(2) * call(Function::Tan, x()),
                true,
            ),
            (powf(x(), y() + number(1)) - x() * powf(x(), y()), true),
            (powf(x(), number(2) * y()) - square(powf(x(), y())), true),
            (powf(x(), y()) - powf(y(), x()), false),
            (sin(call(Function::Asin, x())) - x(), true),
            (square(cos(call(Function::Asin, x()))) + square(x()) - number(1), true),
            (call(Function::Asin, sin(x())) - x(), false),
            (call(Function::Acos, x()) + call(Function::Asin, x()) - ratio(Expression::Pi, number(2)), true),
            (cos(Expression::call(Function::Atan2, [y(), x()])) * powers(square(x()) + square(y()), 1, 2) - x(), true),
            (call(Function::Ln, exp(x())) - x(), true),
            (exp(call(Function::Ln, x())) - x(), true),
            (call(Function::Ln, x() * y()) - call(Function::Ln, x()) - call(Function::Ln, y()), false),
            (
                call(Function::Ln, square(x() + y()))
                    - call(Function::Ln, square(x()) + number(2) * x() * y() + square(y())),
                true,
            ),
            (powers(square(x()), 1, 2) - x(), false),
            (powers(x() * y(), 1, 2) - powers(x(), 1, 2) * powers(y(), 1, 2), true),
            (powers(ratio(x(), y()), 3, 2) * powers(y(), 3, 2) - x() * powers(x(), 1, 2), true),
            (powers(x() * y(), 1, 2) - x() * powers(ratio(y(), x()), 1, 2), false),
            (powers(x() * y(), 1, 2) * powers(x(), 1, 2) - x() * powers(y(), 1, 2), true),
            (powers(number(4) * x(), 1, 2) - number(2) * powers(x(), 1, 2), true),
            (call(Function::Abs, x() * y()) - call(Function::Abs, y() * x()), true),
        ];
        for (expression, expected) in cases {
            assert_eq!(vanishes_identically(&expression), expected, "{expression:?}");
        }
    }

    /// Coefficients and exponents that vanish modulo a prime: x^p is x there, and p x is 0. Take the primes of other expressions.
    #[test]
    fn primes_are_not_taken_for_zero() {
        let x = || Expression::from(Symbol(0));
        let mersenne = (1_i64 << 61) - 1;
        assert!(!vanishes_identically(&(Expression::integer(mersenne) * x())));
        let (seed, _) = seed_and_scale(&[&x()]).unwrap();
        for field in primes(seed).take(8) {
            let prime = field.prime as i64;
            assert!(!vanishes_identically(&(Expression::integer(prime) * x())), "{prime}");
            assert!(!vanishes_identically(&(powers(x(), prime, 1) - x())), "{prime}");
        }
    }

    /// x = z, and a circle: what divides by 0 there is not decided.
    #[test]
    fn constraints_are_solved_for_variables() {
        let [x, y, z] = [0, 1, 2].map(|index| move || Expression::from(Symbol(index)));
        let square = |inner: Expression| powers(inner, 2, 1);
        let circle = square(x()) + square(y()) - square(z());
        let plane = x() - z();
        let states = [Symbol(0), Symbol(1)];
        let vanishes = |expression: &Expression, constraint: &Expression| {
            let constraints = vec![Constraint { value: constraint, is_velocity: false, has_reaction: false }];
            let set = Set { constraints, variables: states.to_vec(), ..Set::default() };
            holds_on(&[expression], &set, 1.0, |point| Some(point.evaluate(expression)? == 0))
        };
        assert!(vanishes(&ratio(square(x()) - square(z()) + square(y()), x() * y()), &circle));
        assert!(!vanishes(&(x() * x() - square(z())), &circle));
        assert!(!vanishes(&ratio(x() - z(), z() - x()), &plane));
        assert!(vanishes(&ratio(x() - z(), z() + x()), &plane));
        assert!(vanishes(&Expression::call(Function::Sin, [x() - z()]), &plane));
        assert!(!vanishes(&(y() * (x() - z())), &(x() * y() - z() * y() + y() * y() * y())));
    }
}
