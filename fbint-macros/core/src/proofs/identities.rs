//! Whether expressions vanish identically, decided at random points modulo primes of 61 bits.
//!
//! An identity of rational functions that fails, fails at a random point but for a probability of at most its degree over the
//! number of residues (Schwartz and Zippel). Its degree is bounded before it is tried, so that eight points, each modulo a prime
//! of its own, leave a probability below 1e-60.
//!
//! Functions become elements that satisfy the same relations and no others, so that what vanishes here vanishes for the functions:
//!
//! - a root of b is a generator s with s^d = b of a [`Ring`], in which an identity holds only if it holds for all roots;
//!   |x| is such a root of x^2;
//! - the exponential of a sum is the product of powers of units, one for each term t of exponents, up to a rational factor;
//!   hyperbolic functions and powers with symbolic exponents follow, and sine and cosine with points of the circle;
//! - any other function is a random element that depends on its arguments. The arguments are compared as elements: x + x and 2 x
//!   have one logarithm.
//!
//! Nothing is concluded of a logarithm of a product, since the signs of factors are unknown, nor of functions such as asin(sin(x)),
//! which are inverse in one order only. What divides by something that has no inverse, because it vanishes for some choice of roots,
//! is not decided.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::degree::{Degree, degree_in, leading};
use super::field::{Field, PRIMES};
use super::linear_form::{denominators, terms};
use super::ring::{Element, LARGEST_DIMENSION, Ring};
use crate::expression::{Expression, Function, Symbol};

/// Points that an identity has to hold at, of those in `PRIMES` at which it is defined.
const POINTS: usize = 8;
/// An identity of a higher degree is not tried: (2^32 / 2^60)^8 is below 1e-60.
const HIGHEST_DEGREE: u64 = 1 << 32;
/// The largest common denominator of rational numbers in exponents.
const LARGEST_DENOMINATOR: u64 = 1 << 20;

/// Whether an expression is proved to vanish wherever it is defined.
pub(super) fn vanishes_identically(expression: &Expression) -> bool {
    let nowhere: (&[&Expression], &[Symbol]) = (&[], &[]);
    expression.is_zero()
        || vanish_on(&[expression], nowhere, LARGEST_DIMENSION as u64, |point| point.evaluate(expression))
}

/// Whether `identity` is 0 at enough random points that satisfy `constraints`: a proof that it vanishes there. It is made of
/// `parts`, its degree at most `factor` times the degrees of all of them. `variables` can be solved for.
pub(super) fn vanish_on(
    parts: &[&Expression],
    (constraints, variables): (&[&Expression], &[Symbol]),
    factor: u64,
    identity: impl Fn(&mut Point) -> Option<Element>,
) -> bool {
    let all: Vec<&Expression> = parts.iter().chain(constraints).copied().collect();
    let degree = all.iter().map(|part| Degree::of(part).total()).fold(0, u64::saturating_add);
    let Some(scale) = common_denominator(&all) else { return false };
    if degree.saturating_mul(factor).saturating_mul(scale) > HIGHEST_DEGREE {
        return false;
    }
    let mut zeros = 0;
    for seed in 0..PRIMES.len() {
        let mut point = Point::new(seed, scale);
        let bound = point.satisfy(constraints, variables);
        match bound.and_then(|()| identity(&mut point)) {
            Some(element) if element.is_empty() => zeros += 1,
            Some(_) => return false,
            None => {}
        }
        // What is undefined at the first points is undefined everywhere, or nearly.
        if zeros >= POINTS || zeros == 0 && seed > 2 {
            break;
        }
    }
    zeros >= POINTS
}

/// The common denominator of the rational factors in exponents and angles.
fn common_denominator(parts: &[&Expression]) -> Option<u64> {
    let mut common = BigInt::one();
    for part in parts {
        denominators(part, &mut |denominator| common = common.lcm(denominator));
    }
    common.to_u64().filter(|common| *common <= LARGEST_DENOMINATOR)
}

/// An element for each unknown.
pub(super) struct Point {
    pub(super) ring: Ring,
    seed: u64,
    /// What exponents are multiplied with to become integers.
    scale: u64,
    symbols: HashMap<Symbol, Element>,
    functions: HashMap<Key, Element>,
}

/// What an element stands for, its arguments as elements.
#[derive(PartialEq, Eq, Hash)]
enum Key {
    Pi,
    Root(Element, u64),
    /// e^(t / scale)
    Exponential(Element),
    /// tan(t / (2 scale))
    HalfAngle(Element),
    /// b^(t / scale)
    Power(Element, Element),
    Function(Function, Vec<Element>),
}

impl Point {
    fn new(seed: usize, scale: u64) -> Self {
        let ring = Ring::new(Field(PRIMES[seed]));
        Self { ring, seed: (seed as u64 + 1) << 40, scale, symbols: HashMap::new(), functions: HashMap::new() }
    }

    fn random(&mut self) -> Element {
        self.seed += 1;
        self.ring.number(self.ring.field.random(self.seed))
    }

    fn symbol(&mut self, symbol: Symbol) -> Element {
        if let Some(element) = self.symbols.get(&symbol) {
            return element.clone();
        }
        let element = self.random();
        self.symbols.insert(symbol, element.clone());
        element
    }

    fn known(&mut self, key: Key) -> Element {
        if let Some(element) = self.functions.get(&key) {
            return element.clone();
        }
        let element = self.random();
        self.functions.insert(key, element.clone());
        element
    }

    /// Makes the point one that satisfies the constraints: each binds a variable of its own, in which it is polynomial with a
    /// leading coefficient that depends on no variable. So the ring is that of polynomials modulo the constraints, and no part of the
    /// set where they hold is left out. `None` where that is not possible.
    fn satisfy(&mut self, constraints: &[&Expression], variables: &[Symbol]) -> Option<()> {
        let is_variable = |symbol: &Symbol| variables.contains(symbol);
        let mut settled: Vec<Symbol> = Vec::new();
        for constraint in constraints {
            let symbols = constraint.symbols();
            let degree = |symbol: &Symbol| degree_in(constraint, *symbol).filter(|degree| (1..=4).contains(degree));
            let candidates = symbols.iter().filter(|symbol| is_variable(symbol) && !settled.contains(symbol));
            let candidates = candidates.filter_map(|symbol| Some((degree(symbol)?, *symbol)));
            let candidates = candidates
                .filter(|(degree, symbol)| !leading(constraint, *symbol, *degree).symbols().iter().any(is_variable));
            let (degree, symbol) = candidates.min()?;
            let relation = self.relation(constraint, symbol, degree)?;
            let element = self.ring.adjoin(relation)?;
            self.symbols.insert(symbol, element);
            settled.extend(symbols);
        }
        Some(())
    }

    /// The coefficients r of x^d = sum of r_j x^j, from the values of a polynomial of degree d at 0, 1, .., d.
    fn relation(&mut self, constraint: &Expression, symbol: Symbol, degree: usize) -> Option<Vec<Element>> {
        let mut columns: Vec<Element> = Vec::new();
        for place in 0..=degree as u64 {
            let at = self.ring.number(place);
            self.symbols.insert(symbol, at);
            columns.push(self.evaluate(constraint)?);
        }
        // Divided differences, then from Newton's form to powers.
        let field = self.ring.field;
        for order in 1..=degree {
            let reciprocal = self.ring.number(field.inverse(order as u64)?);
            for place in (order..=degree).rev() {
                let difference = self.ring.subtract(&columns[place], &columns[place - 1]);
                columns[place] = self.ring.multiply(&difference, &reciprocal);
            }
        }
        for node in (0..degree).rev() {
            for place in node..degree {
                let shifted = self.ring.multiply(&columns[place + 1], &self.ring.number(node as u64));
                columns[place] = self.ring.subtract(&columns[place], &shifted);
            }
        }
        let highest = columns.pop()?;
        let factor = self.ring.negative(&self.ring.inverse(&highest)?);
        Some(columns.iter().map(|column| self.ring.multiply(column, &factor)).collect())
    }

    /// `None` where it is not defined, or not understood.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Option<Element> {
        match expression {
            Expression::Number(number) => Some(self.ring.number(self.ring.field.residue(number)?)),
            Expression::Pi => Some(self.known(Key::Pi)),
            Expression::Symbol(symbol) => Some(self.symbol(*symbol)),
            Expression::Sum(terms) => {
                let mut sum = Element::new();
                for term in terms.iter() {
                    let term = self.evaluate(term)?;
                    sum = self.ring.add(&sum, &term);
                }
                Some(sum)
            }
            Expression::Product(factors) => {
                let mut product = self.ring.one();
                for factor in factors.iter() {
                    let factor = self.evaluate(factor)?;
                    product = self.ring.multiply(&product, &factor);
                }
                Some(product)
            }
            Expression::Power(base, exponent) => self.power(base, exponent),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    /// b^(n/d) = s^n with s^d = b, and of a positive number b = n / m the root of n m^(d - 1), over m.
    fn power(&mut self, base: &Expression, exponent: &BigRational) -> Option<Element> {
        let index = exponent.denom().to_u64()?;
        let root = match base {
            _ if index == 1 => self.evaluate(base)?,
            Expression::Product(factors) => match &factors[0] {
                // Of a product with a positive number, the root is the product of roots.
                Expression::Number(number) if number.is_positive() => {
                    let rest = Expression::product(factors[1..].iter().cloned());
                    let (number, rest) = (self.root_of_number(number, index)?, self.root(&rest, index)?);
                    self.ring.multiply(&number, &rest)
                }
                _ => self.root(base, index)?,
            },
            Expression::Number(number) if number.is_positive() => self.root_of_number(number, index)?,
            _ => self.root(base, index)?,
        };
        self.integer_power(&root, exponent.numer())
    }

    fn integer_power(&self, base: &[u64], exponent: &BigInt) -> Option<Element> {
        let power = self.ring.raise(base, exponent.abs().to_u64()?);
        if exponent.is_negative() { self.ring.inverse(&power) } else { Some(power) }
    }

    fn root(&mut self, base: &Expression, index: u64) -> Option<Element> {
        let value = self.evaluate(base)?;
        self.root_of(value, index)
    }

    fn root_of_number(&mut self, number: &BigRational, index: u64) -> Option<Element> {
        let power = u32::try_from(index).ok().filter(|index| *index <= 64)?;
        let radicand = number.numer() * number.denom().pow(power - 1);
        let whole = radicand.nth_root(power);
        let root = if whole.pow(power) == radicand {
            self.ring.number(self.ring.field.residue(&BigRational::from_integer(whole))?)
        } else {
            let value = self.ring.number(self.ring.field.residue(&BigRational::from_integer(radicand))?);
            self.root_of(value, index)?
        };
        let divisor = self.ring.number(self.ring.field.residue(&number.denom().clone().into())?);
        Some(self.ring.multiply(&root, &self.ring.inverse(&divisor)?))
    }

    fn root_of(&mut self, value: Element, index: u64) -> Option<Element> {
        if value.is_empty() {
            return Some(value);
        }
        let key = Key::Root(value.clone(), index);
        if let Some(element) = self.functions.get(&key) {
            return Some(element.clone());
        }
        let mut relation = vec![Element::new(); usize::try_from(index).ok().filter(|index| *index <= 64)?];
        relation[0] = value;
        let element = self.ring.adjoin(relation)?;
        self.functions.insert(key, element.clone());
        Some(element)
    }

    fn call(&mut self, function: Function, arguments: &[Expression]) -> Option<Element> {
        let argument = &arguments[0];
        match function {
            Function::Sin => Some(self.angle(argument)?.1),
            Function::Cos => Some(self.angle(argument)?.0),
            Function::Tan => {
                let (cosine, sine) = self.angle(argument)?;
                Some(self.ring.multiply(&sine, &self.ring.inverse(&cosine)?))
            }
            Function::Exp => self.exponential(argument),
            Function::Sinh | Function::Cosh | Function::Tanh => {
                let grown = self.exponential(argument)?;
                let decayed = self.ring.inverse(&grown)?;
                let sine = self.ring.subtract(&grown, &decayed);
                let cosine = self.ring.add(&grown, &decayed);
                let half = self.ring.inverse(&self.ring.number(2))?;
                Some(match function {
                    Function::Sinh => self.ring.multiply(&sine, &half),
                    Function::Cosh => self.ring.multiply(&cosine, &half),
                    _ => self.ring.multiply(&sine, &self.ring.inverse(&cosine)?),
                })
            }
            Function::Abs => {
                let value = self.evaluate(argument)?;
                let square = self.ring.multiply(&value, &value);
                self.root_of(square, 2)
            }
            // acos(x) = pi / 2 - asin(x)
            Function::Acos => {
                let half = self.ring.inverse(&self.ring.number(2))?;
                let pi = self.known(Key::Pi);
                let quarter = self.ring.multiply(&pi, &half);
                let arcsine = self.odd(Function::Asin, argument)?;
                Some(self.ring.subtract(&quarter, &arcsine))
            }
            Function::Asin | Function::Atan => self.odd(function, argument),
            Function::Ln => self.logarithm(argument),
            Function::Atan2 => {
                let arguments = [self.evaluate(argument)?, self.evaluate(&arguments[1])?];
                Some(self.known(Key::Function(Function::Atan2, arguments.into())))
            }
            Function::Powf => self.symbolic_power(argument, &arguments[1]),
        }
    }

    /// f(-x) = -f(x)
    fn odd(&mut self, function: Function, argument: &Expression) -> Option<Element> {
        let value = self.evaluate(argument)?;
        let negative = self.ring.negative(&value);
        if value.is_empty() {
            return Some(value);
        }
        if value < negative {
            return Some(self.known(Key::Function(function, vec![value])));
        }
        let opposite = self.known(Key::Function(function, vec![negative]));
        Some(self.ring.negative(&opposite))
    }

    /// The logarithm of an exponential is its argument; the logarithm of a root, a multiple of that of what it is a root of.
    fn logarithm(&mut self, argument: &Expression) -> Option<Element> {
        match argument {
            Expression::Call(Function::Exp, inner) => self.evaluate(&inner[0]),
            Expression::Power(base, exponent) if !exponent.is_integer() => {
                let factor = self.ring.number(self.ring.field.residue(exponent)?);
                let logarithm = self.logarithm(base)?;
                Some(self.ring.multiply(&logarithm, &factor))
            }
            _ => {
                let value = self.evaluate(argument)?;
                let is_one = value == self.ring.one();
                Some(if is_one { Element::new() } else { self.known(Key::Function(Function::Ln, vec![value])) })
            }
        }
    }

    /// A sum of rational multiples of terms, each with its element; terms that are equal as elements are one.
    fn linear(&mut self, argument: &Expression) -> Option<Vec<(BigRational, Expression, Element)>> {
        if self.evaluate(argument)?.is_empty() {
            return Some(Vec::new());
        }
        let mut sum: Vec<(BigRational, Expression, Element)> = Vec::new();
        for (factor, term) in terms(argument)? {
            let element = self.evaluate(&term)?;
            match sum.iter_mut().find(|(_, _, known)| *known == element) {
                Some((total, _, _)) => *total += factor,
                None => sum.push((factor, term, element)),
            }
        }
        sum.retain(|(factor, _, element)| !factor.is_zero() && !element.is_empty());
        Some(sum)
    }

    /// A rational factor as a power of a unit.
    fn scaled(&self, factor: &BigRational) -> Option<BigInt> {
        let scaled = factor * BigRational::from_integer(self.scale.into());
        scaled.is_integer().then(|| scaled.to_integer())
    }

    fn exponential(&mut self, argument: &Expression) -> Option<Element> {
        let mut product = self.ring.one();
        for (factor, term, element) in self.linear(argument)? {
            let power = match &term {
                Expression::Call(Function::Ln, inner) => self.power(&inner[0], &factor)?,
                _ => {
                    let unit = self.known(Key::Exponential(element));
                    self.integer_power(&unit, &self.scaled(&factor)?)?
                }
            };
            product = self.ring.multiply(&product, &power);
        }
        Some(product)
    }

    /// b^e, where the rational part of e makes a power as any other.
    fn symbolic_power(&mut self, base: &Expression, exponent: &Expression) -> Option<Element> {
        let value = self.evaluate(base)?;
        let mut product = self.ring.one();
        for (factor, term, element) in self.linear(exponent)? {
            let power = if term.as_number().is_some_and(One::is_one) {
                self.power(base, &factor)?
            } else {
                let unit = self.known(Key::Power(value.clone(), element));
                self.integer_power(&unit, &self.scaled(&factor)?)?
            };
            product = self.ring.multiply(&product, &power);
        }
        Some(product)
    }

    /// Cosine and sine.
    fn angle(&mut self, argument: &Expression) -> Option<(Element, Element)> {
        let mut turned = (self.ring.one(), Element::new());
        for (factor, term, element) in self.linear(argument)? {
            let part = match self.known_angle(&factor, &term)? {
                Some(part) => part,
                None => {
                    let power = self.scaled(&factor)?;
                    let unit = self.unit(element)?;
                    self.turned(unit, &power)?
                }
            };
            turned = self.composed(&turned, &part);
        }
        Some(turned)
    }

    /// Cosine and sine of quarter turns and of multiples of inverse functions.
    fn known_angle(&mut self, factor: &BigRational, term: &Expression) -> Option<Option<(Element, Element)>> {
        let quarters = factor * BigRational::from_integer(2.into());
        if *term == Expression::Pi && quarters.is_integer() {
            let quarter = (Element::new(), self.ring.one());
            return Some(Some(self.turned(quarter, &quarters.to_integer().mod_floor(&4.into()))?));
        }
        let Expression::Call(function, arguments) = term else { return Some(None) };
        if !factor.is_integer() {
            return Some(None);
        }
        let unit = match function {
            Function::Asin | Function::Acos => {
                let value = self.evaluate(&arguments[0])?;
                let square = self.ring.multiply(&value, &value);
                let other = self.root_of(self.ring.subtract(&self.ring.one(), &square), 2)?;
                if *function == Function::Asin { (other, value) } else { (value, other) }
            }
            Function::Atan | Function::Atan2 => {
                let y = self.evaluate(&arguments[0])?;
                let x = match arguments.get(1) {
                    Some(x) => self.evaluate(x)?,
                    None => self.ring.one(),
                };
                let square = self.ring.add(&self.ring.multiply(&x, &x), &self.ring.multiply(&y, &y));
                let length = self.root_of(square, 2)?;
                let reciprocal = self.ring.inverse(&length)?;
                (self.ring.multiply(&x, &reciprocal), self.ring.multiply(&y, &reciprocal))
            }
            _ => return Some(None),
        };
        Some(Some(self.turned(unit, factor.numer())?))
    }

    /// Cosine and sine of an angle t / scale, from the tangent u of its half: (1 - u^2, 2 u) / (1 + u^2).
    fn unit(&mut self, angle: Element) -> Option<(Element, Element)> {
        let half = self.known(Key::HalfAngle(angle));
        let square = self.ring.multiply(&half, &half);
        let reciprocal = self.ring.inverse(&self.ring.add(&self.ring.one(), &square))?;
        let cosine = self.ring.multiply(&self.ring.subtract(&self.ring.one(), &square), &reciprocal);
        Some((cosine, self.ring.multiply(&self.ring.add(&half, &half), &reciprocal)))
    }

    /// The multiple of an angle.
    fn turned(&self, (cosine, sine): (Element, Element), times: &BigInt) -> Option<(Element, Element)> {
        let mut square = (cosine, if times.is_negative() { self.ring.negative(&sine) } else { sine });
        let mut rest = times.abs().to_u64()?;
        let mut turned = (self.ring.one(), Element::new());
        while rest > 0 {
            if rest & 1 == 1 {
                turned = self.composed(&turned, &square);
            }
            square = self.composed(&square, &square);
            rest >>= 1;
        }
        Some(turned)
    }

    /// Cosine and sine of a sum of angles.
    fn composed(&self, a: &(Element, Element), b: &(Element, Element)) -> (Element, Element) {
        let ring = &self.ring;
        (
            ring.subtract(&ring.multiply(&a.0, &b.0), &ring.multiply(&a.1, &b.1)),
            ring.add(&ring.multiply(&a.0, &b.1), &ring.multiply(&a.1, &b.0)),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

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
            (powers(number(4) * x(), 1, 2) - number(2) * powers(x(), 1, 2), true),
            (call(Function::Abs, x() * y()) - call(Function::Abs, y() * x()), true),
        ];
        for (expression, expected) in cases {
            assert_eq!(vanishes_identically(&expression), expected, "{expression:?}");
        }
    }

    /// Coefficients and exponents that vanish modulo a prime: x^p is x there, and p x is 0.
    #[test]
    fn primes_are_not_taken_for_zero() {
        let x = || Expression::from(Symbol(0));
        let mersenne = (1_i64 << 61) - 1;
        assert!(!vanishes_identically(&(Expression::integer(mersenne) * x())));
        for prime in PRIMES {
            let prime = prime as i64;
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
            vanish_on(&[expression], (&[constraint], &states), 64, |point| point.evaluate(expression))
        };
        assert!(vanishes(&ratio(square(x()) - square(z()) + square(y()), x() * y()), &circle));
        assert!(!vanishes(&(x() * x() - square(z())), &circle));
        assert!(!vanishes(&ratio(x() - z(), z() - x()), &plane));
        assert!(vanishes(&ratio(x() - z(), z() + x()), &plane));
        assert!(vanishes(&Expression::call(Function::Sin, [x() - z()]), &plane));
        assert!(!vanishes(&(y() * (x() - z())), &(x() * y() - z() * y() + y() * y() * y())));
    }
}
