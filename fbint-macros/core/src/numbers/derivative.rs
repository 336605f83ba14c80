//! Values and gradients of expressions, without algebra: in numbers along with the values, as expressions by the chain rule, not simplified.

use std::collections::BTreeMap;
use std::rc::Rc;

use num_rational::BigRational;
use num_traits::{One, Signed};

use super::number::{Number, Numeric};
use crate::expression::parts::{ByIdentity, Identities, Results};
use crate::expression::work::{EVALUATION, spend_each, spend_number};
use crate::expression::{Expression, Function, Symbol, is_minus_one};

/// A value, and its derivatives by the unknowns that it depends on, which are symbols mostly. It is a number itself.
#[derive(Clone, Debug)]
pub(crate) struct Differentiated<T, K = Symbol> {
    pub(crate) value: T,
    pub(crate) gradient: BTreeMap<K, T>,
}

/// A symbol with its value, as a variable or not.
pub(crate) fn varying<T: Number>(symbol: Symbol, value: T, is_variable: bool) -> Differentiated<T> {
    Differentiated { value, gradient: is_variable.then(|| (symbol, T::integer(1))).into_iter().collect() }
}

/// Values of expressions at one point, computed once for each distinct part.
pub(crate) struct Evaluation<T, F> {
    symbol: F,
    values: Results<Option<T>>,
}

/// An evaluation with the values of symbols from any source.
pub(crate) type AtPoint<'a, T> = Evaluation<T, Box<dyn Fn(Symbol) -> T + 'a>>;

impl<T: Number, F: Fn(Symbol) -> T> Evaluation<T, F> {
    /// At the point that has these values of symbols.
    pub(crate) fn new(symbol: F) -> Self {
        Self { symbol, values: Results::default() }
    }

    /// The value of an expression, where all of it is defined.
    pub(crate) fn value(&self, expression: &Expression) -> Option<T> {
        known_value(expression, &self.symbol, &self.values)
    }
}

/// The value of an expression, where all of it is defined, from values that are known.
pub(crate) fn known_value<T: Number>(
    expression: &Expression,
    symbol: &impl Fn(Symbol) -> T,
    known: &Results<Option<T>>,
) -> Option<T> {
    known.of(expression, || {
        spend_each(1 + expression.children().len(), EVALUATION);
        let value_of = |part| known_value(part, symbol, known);
        let mut parts = expression.children().map(value_of);
        let value = match expression {
            Expression::Number(number) => {
                spend_number(number);
                T::rational(number)
            }
            Expression::Pi => T::pi(),
            Expression::Symbol(of) => symbol(*of),
            // From 0 on: the first addition bounds what the digits of a term leave open.
            Expression::Sum(_) => parts.try_fold(T::integer(0), |sum, term| Some(sum.plus(&term?)))?,
            Expression::Product(factors) => {
                let is_negated = factors[0].as_number().is_some_and(is_minus_one);
                let mut factors = factors[usize::from(is_negated)..].iter().map(value_of);
                let first = factors.next()??;
                let first = if is_negated { first.negated() } else { first };
                factors.try_fold(first, |product, factor| Some(product.times(&factor?)))?
            }
            Expression::Power(_, exponent) => parts.next()??.power(exponent)?,
            Expression::Call(function, _) => T::call(*function, &parts.collect::<Option<Vec<_>>>()?)?,
        };
        value.in_range()
    })
}

impl<T: Numeric, F: Fn(Symbol) -> T> Evaluation<T, F> {
    /// The value of an expression, which is not a number where some of it is undefined.
    pub(crate) fn number(&self, expression: &Expression) -> T {
        self.value(expression).unwrap_or_else(T::undefined)
    }
}

/// The gradient of an expression at a point, in one reverse sweep for any number of variables. `None` where it is undefined, or a root is
/// taken of what is 0.
pub(crate) fn gradient_at<T: Number, F: Fn(Symbol) -> T>(
    expression: &Expression,
    values: &Evaluation<T, F>,
    is_variable: impl Fn(Symbol) -> bool,
) -> Option<BTreeMap<Symbol, T>> {
    let varies = Results::default();
    // The derivative by each part that is still to come, as far as it is known.
    let mut slopes: ByIdentity<T> = ByIdentity::from_iter([(expression.identity(), T::integer(1))]);
    let mut gradient = BTreeMap::new();
    for part in wholes_first(expression) {
        let Some(slope) = slopes.remove(&part.identity()) else { continue };
        if let Expression::Symbol(symbol) = part {
            gradient.extend(is_variable(*symbol).then_some((*symbol, slope)));
            continue;
        }
        let parts: Vec<T> = part.children().map(|inner| values.value(inner)).collect::<Option<_>>()?;
        for (place, inner) in part.children().enumerate().filter(|(_, inner)| contains(inner, &is_variable, &varies)) {
            let factor = match part {
                Expression::Product(_) => {
                    let others = parts.iter().enumerate().filter(|(other, _)| *other != place);
                    others.map(|(_, part)| part.clone()).reduce(|product, part| product.times(&part))
                }
                Expression::Power(_, exponent) => Some(slope_of_power(&parts[0], exponent)?),
                Expression::Call(function, _) => Some(self::slope(*function, &parts, place)?),
                Expression::Sum(_) | Expression::Number(_) | Expression::Pi | Expression::Symbol(_) => None,
            };
            let term = factor.map_or_else(|| slope.clone(), |factor| factor.times(&slope));
            let sum = slopes.remove(&inner.identity()).map_or_else(|| term.clone(), |sum| sum.plus(&term));
            slopes.insert(inner.identity(), sum);
        }
    }
    Some(gradient)
}

/// The derivatives of an expression by its variables that do not vanish identically, not simplified; `None` where one of them is undefined.
///
/// By the chain rule: what the derivative of a function of something long shares stays one factor.
pub(crate) fn gradient(
    expression: &Expression,
    is_variable: impl Fn(Symbol) -> bool,
) -> Option<BTreeMap<Symbol, Expression>> {
    gradient_of(expression, &is_variable, &Results::default()).map(Rc::unwrap_or_clone)
}

/// The derivatives of an expression by its variables.
type Slopes = Rc<BTreeMap<Symbol, Expression>>;

fn gradient_of(
    expression: &Expression,
    is_variable: &impl Fn(Symbol) -> bool,
    known: &Results<Option<Slopes>>,
) -> Option<Slopes> {
    if let Expression::Symbol(symbol) = expression {
        return Some(Rc::new(is_variable(*symbol).then(|| (*symbol, Expression::one())).into_iter().collect()));
    }
    known.of(expression, || {
        // By each variable, what the parts with this variable contribute, after a 0 where a part before has none: a number has the place of
        // the first one in a sum.
        let mut terms: BTreeMap<Symbol, (usize, Vec<Expression>)> = BTreeMap::new();
        for (place, part) in expression.children().enumerate() {
            for (symbol, slope) in &*gradient_of(part, is_variable, known)? {
                let (followed, of_parts) = terms.entry(*symbol).or_default();
                of_parts.extend((*followed == of_parts.len() && *followed < place).then(Expression::zero));
                of_parts.push(chained(expression, place, slope.clone())?);
                *followed += 1;
            }
        }
        let sums = terms.into_iter().map(|(symbol, (_, of_parts))| (symbol, Expression::sum(of_parts)));
        Some(Rc::new(sums.filter(|(_, slope)| !slope.is_zero()).collect()))
    })
}

/// The gradient by reverse mode, in one sweep from the whole to its parts: it visits each part once, for any number of variables, and the
/// derivatives share their common parts. For a short expression they come out longer than by [`gradient`].
pub(crate) fn gradient_in_reverse(
    expression: &Expression,
    is_variable: impl Fn(Symbol) -> bool,
) -> Option<BTreeMap<Symbol, Expression>> {
    let varies = Results::default();
    // The terms of the derivative by each part that is still to come.
    let mut terms: ByIdentity<Vec<Expression>> =
        ByIdentity::from_iter([(expression.identity(), vec![Expression::one()])]);
    let mut gradient = BTreeMap::new();
    for part in wholes_first(expression) {
        let Some(slope) = terms.remove(&part.identity()).map(Expression::sum) else { continue };
        if let Expression::Symbol(symbol) = part {
            gradient.insert(*symbol, slope);
            continue;
        }
        for (place, inner) in part.children().enumerate().filter(|(_, inner)| contains(inner, &is_variable, &varies)) {
            terms.entry(inner.identity()).or_default().push(chained(part, place, slope.clone())?);
        }
    }
    gradient.retain(|_, slope| !slope.is_zero());
    Some(gradient)
}

/// The distinct parts of an expression, each before those that it is made of.
fn wholes_first(expression: &Expression) -> Vec<&Expression> {
    let (mut open, mut seen, mut parts_first) = (vec![(expression, false)], Identities::default(), Vec::new());
    while let Some((part, is_open)) = open.pop() {
        if is_open {
            parts_first.push(part);
        } else if seen.insert(part.identity()) {
            open.push((part, true));
            open.extend(part.children().map(|inner| (inner, false)));
        }
    }
    parts_first.reverse();
    parts_first
}

/// Returns `true` if some of the variables occurs.
pub(crate) fn contains(expression: &Expression, is_variable: &impl Fn(Symbol) -> bool, known: &Results<bool>) -> bool {
    known.of(expression, || match expression {
        Expression::Symbol(symbol) => is_variable(*symbol),
        _ => expression.children().any(|part| contains(part, is_variable, known)),
    })
}

/// The derivative of an expression along a direction, which has these entries by symbols, in one sweep; `None` where it is undefined.
pub(crate) fn along(expression: &Expression, direction: impl Fn(Symbol) -> Expression) -> Option<Expression> {
    along_direction(expression, &direction, &Results::default())
}

/// The derivatives of several expressions, which share what the derivatives of their common parts are.
pub(crate) fn all_along(all: &[Expression], direction: impl Fn(Symbol) -> Expression) -> Option<Vec<Expression>> {
    let known = Results::default();
    all.iter().map(|expression| along_direction(expression, &direction, &known)).collect()
}

fn along_direction(
    expression: &Expression,
    direction: &impl Fn(Symbol) -> Expression,
    known: &Results<Option<Expression>>,
) -> Option<Expression> {
    if let Expression::Symbol(symbol) = expression {
        return Some(direction(*symbol));
    }
    known.of(expression, || {
        let term = |(place, part)| {
            let slope = along_direction(part, direction, known)?;
            if slope.is_zero() { Some(slope) } else { chained(expression, place, slope) }
        };
        Some(Expression::sum(expression.children().enumerate().map(term).collect::<Option<Vec<_>>>()?))
    })
}

/// The contribution of a part to the derivative of an expression, from the part's derivative.
fn chained(expression: &Expression, place: usize, slope: Expression) -> Option<Expression> {
    Some(match expression {
        Expression::Product(factors) => {
            let mut factors = factors.to_vec();
            factors[place] = slope;
            Expression::product(factors)
        }
        Expression::Power(base, exponent) => match without_sign(base, exponent, &slope) {
            Some(slope) => slope,
            None => slope_of_power(&**base, exponent)? * slope,
        },
        Expression::Call(function, arguments) => self::slope(*function, arguments, place)? * slope,
        Expression::Sum(_) | Expression::Number(_) | Expression::Pi | Expression::Symbol(_) => slope,
    })
}

/// d|x|^r = r |x|^(r - 2) x dx where r is at least 2, from d|x| = sign(x) dx.
fn without_sign(base: &Expression, exponent: &BigRational, slope: &Expression) -> Option<Expression> {
    let Expression::Call(Function::Abs, x) = base else { return None };
    let rest = exponent - BigRational::from_integer(2.into());
    let sign = Expression::Call(Function::Sign, x.clone());
    let place = slope.factors().iter().position(|factor| *factor == sign && !rest.is_negative())?;
    let mut factors = slope.factors().to_vec();
    factors[place] = x[0].clone();
    let power = base.clone().power(rest).ok()?;
    Some(Expression::product([Expression::Number(exponent.clone()), power].into_iter().chain(factors)))
}

/// Adds a term to an entry of a gradient.
pub(crate) fn add<K: Ord, T: Number>(gradient: &mut BTreeMap<K, T>, key: K, term: T) {
    gradient.entry(key).and_modify(|sum| *sum = sum.plus(&term)).or_insert(term);
}

/// An entry of a gradient.
pub(crate) fn entry<K: Ord, T: Number>(gradient: &BTreeMap<K, T>, key: K) -> T {
    gradient.get(&key).cloned().unwrap_or_else(|| T::integer(0))
}

/// The inner product of two gradients.
pub(crate) fn dot<K: Ord, T: Number>(one: &BTreeMap<K, T>, other: &BTreeMap<K, T>) -> T {
    let terms = one.iter().filter_map(|(key, entry)| Some(entry.times(other.get(key)?)));
    terms.fold(T::integer(0), |sum, term| sum.plus(&term))
}

/// d(b^r)/db = r b^(r - 1)
pub(super) fn slope_of_power<T: Number>(base: &T, exponent: &BigRational) -> Option<T> {
    let lower = exponent - BigRational::one();
    let power = if lower == BigRational::from_integer(0.into()) { T::integer(1) } else { base.power(&lower)? };
    Some(T::rational(exponent).times(&power))
}

/// The partial derivative of a function by the argument at `place`.
pub(super) fn slope<T: Number>(function: Function, arguments: &[T], place: usize) -> Option<T> {
    let x = &arguments[0];
    let call = |function| T::call(function, std::slice::from_ref(x));
    let one = || T::integer(1);
    let square = |x: &T| x.power(&BigRational::from_integer(2.into()));
    Some(match function {
        Function::Abs => call(Function::Sign)?,
        Function::Sign | Function::Step => T::integer(0),
        Function::Sin => call(Function::Cos)?,
        Function::Cos => call(Function::Sin)?.negated(),
        Function::Tan => one().plus(&square(&call(Function::Tan)?)?),
        Function::Asin => inverse_root(&one().plus(&square(x)?.negated()))?,
        Function::Acos => inverse_root(&one().plus(&square(x)?.negated()))?.negated(),
        Function::Atan => one().plus(&square(x)?).reciprocal()?,
        Function::Sinh => call(Function::Cosh)?,
        Function::Cosh => call(Function::Sinh)?,
        Function::Tanh => one().plus(&square(&call(Function::Tanh)?)?.negated()),
        Function::Exp => call(Function::Exp)?,
        Function::Ln => x.reciprocal()?,
        Function::Atan2 => {
            let (y, x) = (&arguments[0], &arguments[1]);
            let weight = square(x)?.plus(&square(y)?).reciprocal()?;
            if place == 0 { x.times(&weight) } else { y.times(&weight).negated() }
        }
        Function::Powf => {
            let power = T::call(Function::Powf, arguments)?;
            let factor = if place == 0 { arguments[1].times(&x.reciprocal()?) } else { call(Function::Ln)? };
            power.times(&factor)
        }
    })
}

/// x^(-1/2)
fn inverse_root<T: Number>(x: &T) -> Option<T> {
    x.power(&BigRational::new((-1).into(), 2.into()))
}

#[cfg(test)]
mod tests {
    use super::super::precise::Real;
    use super::*;

    /// Expressions with every function of two symbols, smooth near (0.6, 0.3).
    fn samples() -> Vec<Expression> {
        let [x, y] = [0, 1].map(|symbol| move || Expression::from(Symbol(symbol)));
        let power = |base: Expression, numerator: i64, denominator: i64| {
            base.power(BigRational::new(numerator.into(), denominator.into())).expect("the base is not 0")
        };
        let functions = Function::ALL.into_iter().map(|function| match function {
            Function::Atan2 | Function::Powf => Expression::call(function, [x() + y(), x() * y()]),
            _ => Expression::call(function, [x() * x() + y()]),
        });
        let powers = [
            power(x() * x() + y() * y(), 1, 2),
            power(x() * x() + y(), -3, 2) * Expression::Pi,
            power(x() + y(), 1, 3) * x() * y(),
            x() * power(y() + Expression::integer(2), -1, 1),
        ];
        functions.chain(powers).collect()
    }

    /// |x|^r x^2 and its like exist at 0 with their derivatives, and a root of what is 0 to first order alone does not.
    #[test]
    fn sizes_have_derivatives_at_zero() {
        let [x, y] = [0, 1].map(|symbol| move || Expression::from(Symbol(symbol)));
        let abs = |inner: Expression| Expression::call(Function::Abs, [inner]);
        let norm = || (x() * x() + y() * y()).sqrt();
        let power = |base: Expression, times: i64| base.power(BigRational::from_integer(times.into())).unwrap();
        let at_rest = |sample: &Expression| Evaluation::new(|symbol| varying(symbol, Real::zero(), true)).value(sample);
        for sample in [
            abs(x()),
            abs(x()) * x(),
            abs(x()) * y(),
            power(abs(x()), 3),
            power(abs(x()) + x(), 2),
            norm(),
            norm() * x(),
            power(norm(), 3),
        ] {
            let slopes = at_rest(&sample).expect("a derivative").gradient;
            assert!(slopes.values().all(|slope| slope.is_zero()), "{sample:?}: {slopes:?}");
        }
        for sample in [x().sqrt(), (x() + y() * y()).sqrt(), power(norm(), -1), x() * power(abs(x()), -1)] {
            assert!(at_rest(&sample).is_none(), "{sample:?}");
        }
        assert_eq!(power(x(), 2).sqrt(), abs(x()));
        let cube = gradient(&power(abs(x()), 3), |_| true).unwrap();
        assert_eq!(cube[&Symbol(0)], Expression::product([Expression::integer(3), abs(x()), x()]));
    }

    /// All ways of differentiation against central differences, in 256 bits: mechanics and its check share these rules.
    #[test]
    fn derivatives_are_limits_of_differences() {
        const STEP: f64 = 1e-20;
        let point = |symbol: Symbol| Real::from([0.6, 0.3][symbol.0 as usize]);
        for sample in samples() {
            let derived = gradient(&sample, |_| true).expect("the sample is smooth");
            let slopes = Evaluation::new(|symbol| varying(symbol, point(symbol), true));
            let in_numbers = slopes.value(&sample).expect("the sample is smooth").gradient;
            let in_reverse = gradient_in_reverse(&sample, |_| true).expect("the sample is smooth");
            for symbol in [Symbol(0), Symbol(1)] {
                let unit = |other| if other == symbol { Expression::one() } else { Expression::zero() };
                let directional = along(&sample, unit).expect("the sample is smooth");
                let shifted = |step: f64| {
                    let value = |other| if other == symbol { &point(other) + &Real::from(step) } else { point(other) };
                    Evaluation::new(value).number(&sample)
                };
                let swept = gradient_at(&sample, &Evaluation::new(point), |_| true).expect("the sample is smooth");
                let difference = &(&shifted(STEP) - &shifted(-STEP)) / &Real::from(2.0 * STEP);
                let written = [entry(&derived, symbol), entry(&in_reverse, symbol), directional];
                let written = written.map(|derivative| Evaluation::new(point).number(&derivative));
                for derivative in written.iter().chain([&entry(&in_numbers, symbol), &entry(&swept, symbol)]) {
                    let error = (derivative - &difference).to_f64().abs();
                    assert!(error < 1e-35, "{sample:?} by {symbol:?}: {error:e}");
                }
            }
        }
    }
}
