//! Scalar expressions as plain data: what a declaration says, and what the algebra answers.
//!
//! An [`Expression`] is a graph over exact rational numbers and [`Symbol`]s: parts that occur in several places are stored, compared and
//! visited once. It holds no span and no handle of the computer-algebra system, so it may cross the border of `symbolic` in both directions
//! and be lowered to code afterwards.
//!
//! Every expression has an [`Identity`], a hash of its content. Equal expressions have equal identities, so that comparison takes one
//! look, and a pass keeps its `parts::Results` by identity: written out as a tree, the Lagrangian of an arm with seven joints has 300 times as many
//! nodes as distinct parts.
//!
//! Constructors fold constants exactly and drop neutral elements; `numbers::derivative` differentiates, and `mechanics::Simplify` makes
//! expressions shorter.
//!
//! Symbolica has another type of expressions, but these cannot leave its thread: the types of a procedural macro work on the macro's thread
//! only, and Symbolica runs on another one that ends before its lock is released (see `symbolic`). So `elaborate` turns `syn` expressions
//! into [`Expression`]s on the macro's thread and reports mistakes at their spans, a session reads them, derives, and writes
//! [`Expression`]s back, and everything after that happens without the lock.

pub(crate) mod circle;
pub(crate) mod parts;
pub(crate) mod work;

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};
use std::ops::{Add, Mul, Neg, Sub};
use std::sync::Arc;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

pub use self::parts::{Identity, Parts};
use crate::expression::parts::{Identities, Results};
use crate::expression::work::{LOOK, PART, spend, spend_number};

/// A scalar unknown of a model: an entry of the state or of a parameter. The index orders symbols everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Symbol(pub u32);

/// Each function with its method on numbers, and its value in double precision.
macro_rules! functions {
    ($($(#[$about:meta])* $function:ident: $name:literal, $evaluate:expr;)*) => {
        /// An elementary function with its own name in Rust. Square roots are powers with exponent 1/2.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Function {
            $($(#[$about])* $function,)*
        }

        impl Function {
            /// Every function, in the order of the enumeration.
            pub const ALL: [Self; [$($name),*].len()] = [$(Self::$function),*];

            /// The name of the method of the runtime's `Scalar`.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$function => $name,)*
                }
            }

            /// The value in double precision; `arguments` has as many entries as the function takes.
            pub fn evaluate(self, arguments: &[f64]) -> f64 {
                let evaluate: fn(&[f64]) -> f64 = match self {
                    $(Self::$function => $evaluate,)*
                };
                evaluate(arguments)
            }
        }
    };
}

functions! {
    /// |x|
    Abs: "abs", |x| x[0].abs();
    /// The sign: 1, -1, or 0 of 0. It is the derivative of |x|, with the mean of both sides at 0; declarations call it `signum`.
    Sign: "sign", |x| sign(x[0]);
    /// sine
    Sin: "sin", |x| x[0].sin();
    /// cosine
    Cos: "cos", |x| x[0].cos();
    /// tangent
    Tan: "tan", |x| x[0].tan();
    /// arcsine
    Asin: "asin", |x| x[0].asin();
    /// arccosine
    Acos: "acos", |x| x[0].acos();
    /// arctangent
    Atan: "atan", |x| x[0].atan();
    /// hyperbolic sine
    Sinh: "sinh", |x| x[0].sinh();
    /// hyperbolic cosine
    Cosh: "cosh", |x| x[0].cosh();
    /// hyperbolic tangent
    Tanh: "tanh", |x| x[0].tanh();
    /// exponential
    Exp: "exp", |x| x[0].exp();
    /// natural logarithm
    Ln: "ln", |x| x[0].ln();
    /// `atan2(y, x)`, the angle of the point (x, y)
    Atan2: "atan2", |x| x[0].atan2(x[1]);
    /// `powf(base, exponent)` with an exponent that is not a number
    Powf: "powf", |x| x[0].powf(x[1]);
    /// The step: 1 of a positive number, 0 of a negative one, 1/2 of 0. Functions that switch are made of it.
    Step: "step", |x| (sign(x[0]) + 1.0) * 0.5;
}

fn sign(x: f64) -> f64 {
    if x == 0.0 { 0.0 } else { x.signum() }
}

impl Function {
    /// The number of its arguments.
    pub fn arguments(self) -> usize {
        if matches!(self, Self::Atan2 | Self::Powf) { 2 } else { 1 }
    }
}

/// A real scalar expression. The order among expressions means nothing.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Expression {
    /// An exact number.
    Number(BigRational),
    /// The circle constant.
    Pi,
    /// An unknown.
    Symbol(Symbol),
    /// A sum of at least two terms.
    Sum(Parts),
    /// A product of at least two factors.
    Product(Parts),
    /// A power with a numeric exponent; 1/2 is the square root, -1 the reciprocal.
    Power(Arc<Expression>, BigRational),
    /// An elementary function of one or two arguments.
    Call(Function, Parts),
}

/// The exact value of an expression does not exist: a zero was divided by, or raised to a negative power.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct DivisionByZero;

impl Expression {
    /// The number 0.
    pub fn zero() -> Self {
        Self::Number(BigRational::zero())
    }

    /// The number 1.
    pub fn one() -> Self {
        Self::Number(BigRational::one())
    }

    /// An integer.
    pub fn integer(value: i64) -> Self {
        Self::Number(BigRational::from_integer(BigInt::from(value)))
    }

    /// The exact number, if the expression is one.
    pub fn as_number(&self) -> Option<&BigRational> {
        match self {
            Self::Number(number) => Some(number),
            _ => None,
        }
    }

    /// Returns `true` if the expression is the number 0. A sum that merely cancels is not.
    pub fn is_zero(&self) -> bool {
        self.as_number().is_some_and(Zero::is_zero)
    }

    /// The sum of `terms`: numbers added up, and flattened. A difference that is added to something stays one, because
    /// y + (x - z) has digits that (y + x) - z loses.
    pub fn sum(terms: impl IntoIterator<Item = Self>) -> Self {
        let mut constant = BigRational::zero();
        let mut place = None;
        let mut rest = Vec::new();
        for (index, sum) in terms.into_iter().enumerate() {
            let is_flat = index == 0 || !sum.terms().iter().any(Self::is_negated);
            for term in if is_flat { sum.terms() } else { std::slice::from_ref(&sum) } {
                spend(PART);
                match term {
                    Self::Number(number) => {
                        spend_number(number);
                        place.get_or_insert(rest.len());
                        constant = if constant.is_zero() { number.clone() } else { constant + number };
                    }
                    other => rest.push(other.clone()),
                }
            }
        }
        if let Some(place) = place.filter(|_| !constant.is_zero()) {
            rest.insert(place, Self::Number(constant));
        }
        match rest.len() {
            0 => Self::zero(),
            1 => rest.remove(0),
            _ => Self::Sum(rest.into()),
        }
    }

    /// Returns `true` if the expression is a negative number, or a product with one.
    fn is_negated(&self) -> bool {
        match self {
            Self::Number(number) => number.is_negative(),
            Self::Product(factors) => factors.first().is_some_and(Self::is_negated),
            _ => false,
        }
    }

    /// The product of `factors`: flattened, numbers multiplied out, 0 absorbing.
    pub fn product(factors: impl IntoIterator<Item = Self>) -> Self {
        let mut constant = BigRational::one();
        let mut rest = Vec::new();
        for product in factors {
            for factor in product.factors() {
                spend(PART);
                match factor {
                    Self::Number(number) => {
                        spend_number(number);
                        // Exact arithmetic takes time, and most products have one number, and perhaps a sign.
                        constant = if constant.is_one() {
                            number.clone()
                        } else if is_minus_one(&constant) {
                            -number
                        } else {
                            constant * number
                        };
                    }
                    other => rest.push(other.clone()),
                }
            }
        }
        if constant.is_zero() {
            return Self::zero();
        }
        if !constant.is_one() {
            rest.insert(0, Self::Number(constant));
        }
        match rest.len() {
            0 => Self::one(),
            1 => rest.remove(0),
            _ => Self::Product(rest.into()),
        }
    }

    /// `self / divisor`.
    pub fn divide(self, divisor: Self) -> Result<Self, DivisionByZero> {
        Ok(self * divisor.power(-BigRational::one())?)
    }

    /// `self` to the power `exponent`; numbers are raised exactly where the result is rational and small.
    pub fn power(self, exponent: BigRational) -> Result<Self, DivisionByZero> {
        spend(PART);
        if exponent.is_zero() {
            return Ok(Self::one());
        }
        if exponent.is_one() {
            return Ok(self);
        }
        if let Self::Number(base) = &self {
            if base.is_zero() {
                return if exponent.is_negative() { Err(DivisionByZero) } else { Ok(Self::zero()) };
            }
            if base.is_one() {
                return Ok(Self::one());
            }
            let integer = exponent.is_integer().then(|| exponent.to_integer().to_i32()).flatten();
            if let Some(power) = integer.filter(|power| power.abs() <= 1024) {
                let power = base.pow(power);
                spend_number(&power);
                return Ok(Self::Number(power));
            }
        }
        if !exponent.is_integer() && self.is_even_power() {
            return self.absolute_power(&exponent);
        }
        Ok(Self::Power(Arc::new(self), exponent))
    }

    /// Returns `true` for an even power of something, and for a product of such powers and positive numbers.
    fn is_even_power(&self) -> bool {
        match self {
            Self::Power(_, exponent) => exponent.is_integer() && exponent.numer().is_even(),
            Self::Product(factors) => factors
                .iter()
                .all(|factor| matches!(factor, Self::Number(number) if number.is_positive()) || factor.is_even_power()),
            _ => false,
        }
    }

    /// (x^2)^e is |x|^(2 e), whose slope is known where x is 0: a square root of x^2 would be taken for x on either side.
    fn absolute_power(&self, exponent: &BigRational) -> Result<Self, DivisionByZero> {
        match self {
            Self::Power(base, even) => base.abs().power(even * exponent),
            Self::Product(factors) => {
                let factors: Result<Vec<Self>, _> =
                    factors.iter().map(|factor| factor.absolute_power(exponent)).collect();
                Ok(Self::product(factors?))
            }
            other => other.clone().power(exponent.clone()),
        }
    }

    /// The square root.
    pub fn sqrt(self) -> Self {
        let half = BigRational::new(BigInt::one(), BigInt::from(2));
        self.power(half).expect("a positive exponent never divides")
    }

    /// `function` of `arguments`.
    pub fn call(function: Function, arguments: impl IntoIterator<Item = Self>) -> Self {
        spend(PART);
        let arguments: Parts = arguments.into_iter().collect();
        match (function, &*arguments) {
            (Function::Abs, [argument]) => argument.abs(),
            (Function::Sign, [Self::Number(number)]) => Self::Number(number.signum()),
            (Function::Step, [Self::Number(number)]) => {
                Self::Number((number.signum() + BigRational::one()) / BigRational::from_integer(BigInt::from(2)))
            }
            _ => Self::Call(function, arguments),
        }
    }

    /// The absolute value: |x^3| is |x|^3, whose derivative 3 |x| x exists at 0, too.
    fn abs(&self) -> Self {
        match self {
            Self::Number(number) => Self::Number(number.abs()),
            Self::Product(factors) => Self::product(factors.iter().map(Self::abs)),
            Self::Power(base, exponent) if exponent.is_integer() && exponent.numer().is_even() => {
                Self::Power(base.clone(), exponent.clone())
            }
            Self::Power(base, exponent) if exponent.is_integer() => Self::Power(Arc::new(base.abs()), exponent.clone()),
            Self::Call(Function::Abs, _) => self.clone(),
            other => Self::Call(Function::Abs, vec![other.clone()].into()),
        }
    }

    /// The expression with every symbol replaced.
    pub fn substituted(&self, replacement: &impl Fn(Symbol) -> Self) -> Self {
        self.transformed(&|part, transformed| match part {
            Self::Symbol(symbol) => replacement(*symbol),
            other => other.mapped(transformed),
        })
    }

    /// The expression after a pass. The pass is called once for each distinct part, with the part and a function that transforms the
    /// parts of that.
    pub fn transformed(&self, pass: &impl Fn(&Self, &dyn Fn(&Self) -> Self) -> Self) -> Self {
        self.transformed_once(&Results::default(), pass)
    }

    /// One pass over several expressions, with the results that are known of it.
    pub(crate) fn transformed_once(
        &self,
        known: &Results<Self>,
        pass: &impl Fn(&Self, &dyn Fn(&Self) -> Self) -> Self,
    ) -> Self {
        fn visit<P>(part: &Expression, pass: &P, results: &Results<Expression>) -> Expression
        where
            P: Fn(&Expression, &dyn Fn(&Expression) -> Expression) -> Expression,
        {
            results.of(part, || pass(part, &|part| visit(part, pass, results)))
        }
        visit(self, pass, known)
    }

    /// The expression with other direct sub-expressions.
    pub fn mapped(&self, to: &(impl Fn(&Self) -> Self + ?Sized)) -> Self {
        match self {
            Self::Number(_) | Self::Pi | Self::Symbol(_) => self.clone(),
            Self::Sum(terms) => Self::sum(terms.iter().map(to)),
            Self::Product(factors) => Self::product(factors.iter().map(to)),
            Self::Power(base, exponent) => {
                let base = to(base);
                let power = base.clone().power(exponent.clone());
                power.unwrap_or_else(|DivisionByZero| Self::Power(Arc::new(base), exponent.clone()))
            }
            Self::Call(function, arguments) => Self::call(*function, arguments.iter().map(to)),
        }
    }

    /// The number of [`nodes`](Self::nodes).
    pub fn size(&self) -> usize {
        self.nodes().count()
    }

    /// The length of all distinct parts together: 1, and the parts that each of them lists.
    pub fn extent(&self) -> usize {
        1 + self.nodes().map(|node| node.children().len()).sum::<usize>()
    }

    /// The number of levels.
    pub fn depth(&self) -> usize {
        1 + match self {
            Self::Number(_) | Self::Pi | Self::Symbol(_) => 0,
            Self::Sum(parts) | Self::Product(parts) | Self::Call(_, parts) => parts.depth(),
            Self::Power(base, _) => base.depth(),
        }
    }

    /// The number of operations of an evaluation that shares nothing, saturating.
    #[inline]
    pub fn operations(&self) -> usize {
        match self {
            Self::Number(_) | Self::Pi | Self::Symbol(_) => 0,
            Self::Sum(parts) | Self::Product(parts) => parts.operations().saturating_add(parts.len() - 1),
            Self::Power(base, _) => base.operations().saturating_add(1),
            Self::Call(_, arguments) => arguments.operations().saturating_add(1),
        }
    }

    /// The key that identifies the expression.
    pub fn identity(&self) -> Identity {
        match self {
            Self::Number(number) => Identity::of_number(number),
            Self::Pi => Identity::of(1_u8),
            Self::Symbol(symbol) => Identity::of_symbol(*symbol),
            Self::Sum(terms) => Identity::of_kind(3, terms),
            Self::Product(factors) => Identity::of_kind(4, factors),
            Self::Power(base, exponent) => Identity::of_power(base, exponent),
            Self::Call(function, arguments) => Identity::of_kind(16 + *function as u8, arguments),
        }
    }

    /// The symbols that occur, in their order.
    pub fn symbols(&self) -> BTreeSet<Symbol> {
        let symbol = |node: &Self| if let Self::Symbol(symbol) = node { Some(*symbol) } else { None };
        self.nodes().filter_map(symbol).collect()
    }

    /// The terms of a sum; of anything else, itself.
    pub fn terms(&self) -> &[Self] {
        if let Self::Sum(terms) = self { terms } else { std::slice::from_ref(self) }
    }

    /// The factors of a product; of anything else, itself.
    pub fn factors(&self) -> &[Self] {
        if let Self::Product(factors) = self { factors } else { std::slice::from_ref(self) }
    }

    /// The expression and all that it is made of, each before its parts. A part that takes several operations occurs once.
    pub fn nodes(&self) -> impl Iterator<Item = &Self> {
        let (mut open, mut seen, mut parts_first) = (vec![(self, false)], Identities::default(), Vec::new());
        while let Some((node, is_open)) = open.pop() {
            if is_open || node.operations() == 0 {
                parts_first.push(node);
            } else if node.operations() == 1 || seen.insert(node.identity()) {
                open.push((node, true));
                open.extend(node.children().map(|part| (part, false)));
            }
        }
        parts_first.into_iter().rev()
    }

    /// The direct sub-expressions, in order.
    pub fn children(&self) -> std::slice::Iter<'_, Self> {
        spend(LOOK);
        let children: &[Self] = match self {
            Self::Number(_) | Self::Pi | Self::Symbol(_) => &[],
            Self::Sum(children) | Self::Product(children) | Self::Call(_, children) => children,
            Self::Power(base, _) => std::slice::from_ref(base),
        };
        children.iter()
    }
}

impl Hash for Expression {
    fn hash<H: Hasher>(&self, hasher: &mut H) {
        self.identity().hash(hasher);
    }
}

/// Returns `true` if a number is -1, as most numbers in products are.
pub(crate) fn is_minus_one(number: &BigRational) -> bool {
    number.is_integer() && number.numer().to_i64() == Some(-1)
}

/// The nearest double; infinite where the number is out of range.
pub fn to_f64(number: &BigRational) -> f64 {
    // A quotient of doubles has one rounding, and needs no division of long numbers.
    let is_double = |part: &BigInt| part.bits() - part.trailing_zeros().unwrap_or(0) <= 53 && part.bits() < 1_000;
    let value = if is_double(number.numer()) && is_double(number.denom()) {
        number.numer().to_f64().zip(number.denom().to_f64()).map(|(above, below)| above / below)
    } else {
        number.to_f64()
    };
    value.unwrap_or(f64::NAN)
}

impl Add for Expression {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self::sum([self, other])
    }
}

impl Sub for Expression {
    type Output = Self;
    fn sub(self, other: Self) -> Self {
        Self::sum([self, -other])
    }
}

impl Mul for Expression {
    type Output = Self;
    fn mul(self, other: Self) -> Self {
        Self::product([self, other])
    }
}

impl Neg for Expression {
    type Output = Self;
    fn neg(self) -> Self {
        Self::product([Self::integer(-1), self])
    }
}

impl From<Symbol> for Expression {
    fn from(symbol: Symbol) -> Self {
        Self::Symbol(symbol)
    }
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;
    use num_rational::BigRational;

    use super::{Expression, Symbol, to_f64};

    /// A decimal as the standard library reads it.
    #[test]
    fn the_nearest_double_is_that_of_its_digits() {
        let mut digits = 1_234_567_890_123_456_789_u64;
        for exponent in (-330..310).step_by(7).chain([-16, -15, -3, 0, 3]) {
            for length in [1, 3, 15, 16, 17, 19] {
                digits = digits.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let number = digits % 10_u64.pow(length);
                let power = BigInt::from(10).pow(i32::unsigned_abs(exponent));
                let (above, below) = if exponent < 0 { (1.into(), power) } else { (power, 1.into()) };
                let exact = BigRational::new(BigInt::from(number) * above, below);
                assert_eq!(Ok(to_f64(&exact)), format!("{number}e{exponent}").parse(), "{number}e{exponent}");
            }
        }
    }

    #[test]
    fn what_is_flattened_keeps_its_value() {
        let (x, y) = (Expression::from(Symbol(0)), Expression::from(Symbol(1)));
        let number = Expression::integer;
        let value =
            |expression: &Expression| expression.evaluate(&|symbol| if symbol == Symbol(0) { 0.25 } else { 0.5 });
        let sum = (x.clone() + number(3)) + (y.clone() + number(5));
        assert_eq!((value(&sum), sum.children().count()), (8.75, 3));
        let cancelled = (x.clone() + number(3)) + (y.clone() - number(3));
        assert_eq!((value(&cancelled), cancelled.children().count()), (0.75, 3), "a difference stays one");
        let first = (x.clone() - y.clone()) + (y.clone() + number(3)) - number(3);
        assert_eq!((value(&first), first.children().count()), (0.25, 3));
        let product = (x.clone() * number(3)) * (number(-5) * y.clone());
        assert_eq!((value(&product), product.children().count()), (-1.875, 3));
        assert_eq!((x * number(0)) + (y * number(0)) - number(4), -number(4));
    }
}
