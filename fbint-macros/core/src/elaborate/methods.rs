//! The methods of the expression language.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use syn::{Expr, ExprMethodCall, Ident};

use super::scope::{Poison, Reported, Scope};
use super::value::{ShapedExpression, SizedExpression, plural};
use crate::expression::{Expression, Function, to_f64};
use crate::syntax::{Shape, nearest, plain};

/// The largest exponent, or product of the exponents of nested powers. A polynomial of a higher degree is a slip of the pen.
const MAX_EXPONENT: f64 = 1_024.0;
/// The largest matrix whose determinant is written out.
const MAX_DETERMINANT: usize = 6;

/// A method, by the arguments that it takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BuiltinMethod {
    /// A function of a scalar.
    Elementary(Elementary),
    /// A property of a vector or a matrix, without arguments.
    Reduction(Reduction),
    /// A value and an integer that is known while compiling.
    Indexed(Indexed),
    /// Two scalars.
    OfScalars(OfScalars),
    /// Two vectors or matrices of one shape.
    Pairwise(Pairwise),
    /// The end of a series over a range.
    Series(Fold),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Elementary {
    Root,
    Reciprocal,
    Function(Function),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Reduction {
    Norm,
    NormSquared,
    Transpose,
    Trace,
    Determinant,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Indexed {
    Power,
    Column,
    Row,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum OfScalars {
    RealPower,
    Angle,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pairwise {
    Dot,
    Cross,
    Multiply,
    Divide,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fold {
    Sum,
    Product,
}

impl BuiltinMethod {
    /// The number of arguments.
    pub(super) fn arguments(self) -> usize {
        match self {
            Self::Elementary(_) | Self::Reduction(_) | Self::Series(_) => 0,
            Self::Indexed(_) | Self::OfScalars(_) | Self::Pairwise(_) => 1,
        }
    }

    /// The method of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        METHODS.iter().find(|(method, _)| *method == name).map(|(_, method)| *method)
    }
}

/// The methods, in the order in which messages list them.
const METHODS: [(&str, BuiltinMethod); 30] = [
    ("powi", BuiltinMethod::Indexed(Indexed::Power)),
    ("powf", BuiltinMethod::OfScalars(OfScalars::RealPower)),
    ("sqrt", BuiltinMethod::Elementary(Elementary::Root)),
    ("sin", BuiltinMethod::Elementary(Elementary::Function(Function::Sin))),
    ("cos", BuiltinMethod::Elementary(Elementary::Function(Function::Cos))),
    ("tan", BuiltinMethod::Elementary(Elementary::Function(Function::Tan))),
    ("asin", BuiltinMethod::Elementary(Elementary::Function(Function::Asin))),
    ("acos", BuiltinMethod::Elementary(Elementary::Function(Function::Acos))),
    ("atan", BuiltinMethod::Elementary(Elementary::Function(Function::Atan))),
    ("atan2", BuiltinMethod::OfScalars(OfScalars::Angle)),
    ("sinh", BuiltinMethod::Elementary(Elementary::Function(Function::Sinh))),
    ("cosh", BuiltinMethod::Elementary(Elementary::Function(Function::Cosh))),
    ("tanh", BuiltinMethod::Elementary(Elementary::Function(Function::Tanh))),
    ("exp", BuiltinMethod::Elementary(Elementary::Function(Function::Exp))),
    ("ln", BuiltinMethod::Elementary(Elementary::Function(Function::Ln))),
    ("abs", BuiltinMethod::Elementary(Elementary::Function(Function::Abs))),
    ("recip", BuiltinMethod::Elementary(Elementary::Reciprocal)),
    ("dot", BuiltinMethod::Pairwise(Pairwise::Dot)),
    ("cross", BuiltinMethod::Pairwise(Pairwise::Cross)),
    ("norm", BuiltinMethod::Reduction(Reduction::Norm)),
    ("norm_squared", BuiltinMethod::Reduction(Reduction::NormSquared)),
    ("transpose", BuiltinMethod::Reduction(Reduction::Transpose)),
    ("trace", BuiltinMethod::Reduction(Reduction::Trace)),
    ("determinant", BuiltinMethod::Reduction(Reduction::Determinant)),
    ("column", BuiltinMethod::Indexed(Indexed::Column)),
    ("row", BuiltinMethod::Indexed(Indexed::Row)),
    ("component_mul", BuiltinMethod::Pairwise(Pairwise::Multiply)),
    ("component_div", BuiltinMethod::Pairwise(Pairwise::Divide)),
    ("sum", BuiltinMethod::Series(Fold::Sum)),
    ("product", BuiltinMethod::Series(Fold::Product)),
];

/// The advice for inverses.
const INVERSE: &str = "inverses are not written out: make the inverse of a constant matrix a parameter, \
    and write the inverse of a small one as its adjugate over its `determinant()`";

/// Methods that Rust has and this language does not, and what to write instead.
const FOREIGN: [(&str, &str); 16] = [
    ("pow", "a power is written `x.powi(2)` or `x.powf(1.5)`"),
    ("log", "the natural logarithm is `ln`"),
    ("log10", "the natural logarithm is `ln`; divide by `10.ln()`"),
    ("log2", "the natural logarithm is `ln`; divide by `2.ln()`"),
    ("exp2", "write `(x * 2.ln()).exp()`"),
    ("cbrt", "write `x.powf(1.0 / 3.0)`"),
    ("hypot", "write `(x * x + y * y).sqrt()`"),
    ("mul_add", "write `a * b + c`"),
    ("max", "write `(a + b + (a - b).abs()) / 2`, which has no derivative where a = b"),
    ("min", "write `(a + b - (a - b).abs()) / 2`, which has no derivative where a = b"),
    ("clamp", "write `(a + b + (a - b).abs()) / 2` for the larger of two numbers, and likewise for the smaller one"),
    (
        "signum",
        "write `x / (x * x + eps).sqrt()` or `(x / eps).tanh()` with a small `eps`, which have a derivative where x = 0",
    ),
    ("floor", "it has no useful derivative"),
    ("normalize", "write `v / v.norm()`"),
    ("try_inverse", INVERSE),
    ("inverse", INVERSE),
];

impl Scope<'_> {
    /// `receiver.method(arguments)`.
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Reported<ShapedExpression> {
        let method = self.method_called(call)?;
        if let BuiltinMethod::Series(series) = method {
            return self.series(call, series);
        }
        let receiver = self.evaluate(&call.receiver);
        match method {
            BuiltinMethod::Series(series) => self.series(call, series),
            BuiltinMethod::Elementary(function) => {
                let receiver = receiver?;
                let argument = self.scalar(&receiver, &call.method)?;
                self.elementary(function, argument, &call.receiver)
            }
            BuiltinMethod::Reduction(reduction) => self.reduction(reduction, &call.method, receiver?),
            BuiltinMethod::Indexed(method) => {
                let integer = self.integer(&call.args[0]);
                self.indexed(method, &call.method, receiver?, (&call.args[0], integer?))
            }
            BuiltinMethod::OfScalars(method) => {
                let argument = self.evaluate(&call.args[0]);
                self.of_scalars(method, &call.method, &receiver?, (&call.args[0], &argument?))
            }
            BuiltinMethod::Pairwise(method) => {
                let argument = self.evaluate(&call.args[0]);
                self.pairwise(method, &call.method, (receiver?, argument?), &call.args[0])
            }
        }
    }

    /// The method that is called. Reports calls that no method allows.
    fn method_called(&mut self, call: &ExprMethodCall) -> Reported<BuiltinMethod> {
        let name = plain(&call.method);
        let method = BuiltinMethod::named(&name);
        if let Some(series @ BuiltinMethod::Series(_)) = method {
            return Ok(series);
        }
        if let Some(turbofish) = &call.turbofish {
            return self.fail(turbofish, "types have no meaning here: drop `::<..>`");
        }
        if name == "map" {
            return self.fail(&call.method, "`map` belongs into a sum: `(a..b).map(|i| ..).sum()`");
        }
        let Some(method) = method else {
            let _ = self.evaluate(&call.receiver);
            return self.unknown_method(&call.method);
        };
        if call.args.len() != method.arguments() {
            let _ = self.evaluate(&call.receiver);
            let message = format!("`{name}` takes {}, not {}", arguments(method.arguments()), call.args.len());
            return self.fail(&call.method, message);
        }
        Ok(method)
    }

    fn unknown_method<T>(&self, method: &Ident) -> Reported<T> {
        let name = plain(method);
        let message = match FOREIGN.iter().find(|(foreign, _)| *foreign == name) {
            Some((_, advice)) => format!("there is no method `{name}` here: {advice}"),
            None => match nearest(&name, METHODS.iter().map(|(method, _)| *method)) {
                Some(near) => format!("unknown method `{name}`; did you mean `{near}`?"),
                None => {
                    format!("unknown method `{name}`; the methods are {}", METHODS.map(|(method, _)| method).join(", "))
                }
            },
        };
        self.fail(method, message)
    }

    fn reduction(
        &mut self,
        reduction: Reduction,
        method: &Ident,
        value: ShapedExpression,
    ) -> Reported<ShapedExpression> {
        match reduction {
            Reduction::Transpose => Ok(if value.shape() == Shape::Scalar { value } else { value.transpose() }),
            Reduction::Norm => Ok(root(self.norm_squared(method, value)?).into()),
            Reduction::NormSquared => Ok(self.norm_squared(method, value)?.into()),
            Reduction::Trace => {
                self.square(method, &value)?;
                Ok(value.trace().into())
            }
            Reduction::Determinant => {
                if self.square(method, &value)? > MAX_DETERMINANT {
                    let message = format!(
                        "a determinant is written out up to {MAX_DETERMINANT} x {MAX_DETERMINANT}, and this is {}",
                        value.shape()
                    );
                    return self.fail(method, message);
                }
                Ok(value.determinant().or_else(|message| self.fail(method, message))?.into())
            }
        }
    }

    fn norm_squared(&mut self, method: &Ident, value: ShapedExpression) -> Reported<SizedExpression> {
        if value.shape() == Shape::Scalar {
            let name = plain(method);
            let message = format!("`{name}` takes a vector or a matrix, and this is a scalar: use `abs` or `powi(2)`");
            return self.fail(method, message);
        }
        Ok(value.norm_squared())
    }

    /// The number of rows of a square matrix.
    fn square(&mut self, method: &Ident, value: &ShapedExpression) -> Reported<usize> {
        let (rows, columns) = value.shape().extent();
        if value.shape() == Shape::Scalar || rows != columns {
            let message = format!("`{}` takes a square matrix, and this is {}", plain(method), value.shape());
            return self.fail(method, message);
        }
        Ok(rows)
    }

    /// Elementary functions of one scalar. Numbers outside the domain are refused.
    fn elementary(
        &mut self,
        function: Elementary,
        argument: SizedExpression,
        written: &Expr,
    ) -> Reported<ShapedExpression> {
        let number = argument.expression.as_number();
        let complaint = match (function, number) {
            (Elementary::Root, Some(number)) if number.is_negative() => {
                Some("the square root of a negative number is not real")
            }
            (Elementary::Function(Function::Ln), Some(number)) if !number.is_positive() => {
                Some("only positive numbers have a logarithm")
            }
            (Elementary::Function(Function::Asin | Function::Acos), Some(number))
                if number.abs() > BigRational::one() =>
            {
                Some("sine and cosine lie between -1 and 1: there is no such angle")
            }
            (Elementary::Reciprocal, Some(number)) if number.is_zero() => Some("0 has no reciprocal"),
            _ => None,
        };
        if let Some(complaint) = complaint {
            let complaint = format!("{complaint}{}", self.circumstances());
            return self.fail(written, complaint);
        }
        Ok(match (function, number) {
            (Elementary::Root, _) => root(argument).into(),
            (Elementary::Reciprocal, _) => argument.reciprocal().ok_or(Poison)?.into(),
            (Elementary::Function(Function::Abs), Some(number)) => SizedExpression::number(number.abs()).into(),
            (Elementary::Function(function), _) => SizedExpression::call(function, vec![argument]).into(),
        })
    }

    fn indexed(
        &mut self,
        indexed: Indexed,
        method: &Ident,
        value: ShapedExpression,
        (written, integer): (&Expr, i64),
    ) -> Reported<ShapedExpression> {
        let shape = value.shape();
        let (rows, columns) = shape.extent();
        let matrix = |scope: &mut Self| match shape {
            Shape::Scalar => scope.fail(method, format!("`{method}` takes a matrix, and this is a scalar")),
            _ => Ok(()),
        };
        match indexed {
            Indexed::Power => {
                let base = self.scalar(&value, method)?;
                self.power(base, BigRational::from_integer(BigInt::from(integer)), written)
            }
            Indexed::Column => {
                matrix(self)?;
                let extent = format!("{shape} has {columns} column{}", plural(columns));
                let column = self.within((written, integer), columns, extent)?;
                Ok(ShapedExpression::from_fn(rows, 1, |row, _| value.entry(row, column).clone()))
            }
            Indexed::Row => {
                matrix(self)?;
                let extent = format!("{shape} has {rows} row{}", plural(rows));
                let row = self.within((written, integer), rows, extent)?;
                Ok(ShapedExpression::from_fn(1, columns, |_, column| value.entry(row, column).clone()))
            }
        }
    }

    fn power(&mut self, base: SizedExpression, exponent: BigRational, written: &Expr) -> Reported<ShapedExpression> {
        if to_f64(&exponent).abs() > MAX_EXPONENT {
            let text = format!("an exponent lies between -{MAX_EXPONENT} and {MAX_EXPONENT}");
            return self.fail(written, text);
        }
        let nested = nested_exponent(&base.expression) * to_f64(&exponent).abs();
        if nested > MAX_EXPONENT {
            let text =
                format!("powers of powers multiply: here up to {nested:.0}, and at most {MAX_EXPONENT} is possible");
            return self.fail(written, text);
        }
        if let Some(number) = base.expression.as_number() {
            // Exact powers of numbers are taken at once: they must not outgrow the memory.
            let bits = number.numer().bits().max(number.denom().bits());
            let size = exponent.to_integer().abs() * BigInt::from(bits);
            if exponent.is_integer() && size > BigInt::from(8_192) {
                return self.fail(written, "this power is out of reach of double precision");
            }
            if number.is_negative() && !exponent.is_integer() {
                return self.fail(written, "a negative number has no real power with this exponent");
            }
        }
        match base.power(exponent) {
            Some(power) => Ok(power.into()),
            None => self.fail(written, "division by zero: zero has no negative power"),
        }
    }

    fn of_scalars(
        &mut self,
        of_scalars: OfScalars,
        method: &Ident,
        left: &ShapedExpression,
        (written, right): (&Expr, &ShapedExpression),
    ) -> Reported<ShapedExpression> {
        let one = self.scalar(left, method)?;
        let other = self.scalar_argument(right, &plain(method), written)?;
        match of_scalars {
            OfScalars::RealPower => match other.expression.as_number() {
                Some(number) => self.power(one, number.clone(), written),
                None => Ok(SizedExpression::call(Function::Powf, vec![one, other]).into()),
            },
            OfScalars::Angle if one.is_zero() && other.is_zero() => self.fail(method, "the origin has no angle"),
            OfScalars::Angle => Ok(SizedExpression::call(Function::Atan2, vec![one, other]).into()),
        }
    }

    fn pairwise(
        &mut self,
        pairwise: Pairwise,
        method: &Ident,
        (left, right): (ShapedExpression, ShapedExpression),
        written: &Expr,
    ) -> Reported<ShapedExpression> {
        let (one, other) = (left.shape(), right.shape());
        let three = matches!(one, Shape::Vector(3) | Shape::Matrix { rows: 1, columns: 3 });
        if pairwise == Pairwise::Cross && !(three && one == other) {
            let message = format!("`cross` takes two vectors of 3, and these are {one} and {other}");
            return self.fail(method, message);
        }
        if one != other || one == Shape::Scalar {
            let name = plain(method);
            let message =
                format!("`{name}` takes two vectors or matrices of one shape, and these are {one} and {other}");
            return self.fail(method, message);
        }
        self.fits(left.nodes().saturating_add(right.nodes()), method)?;
        match pairwise {
            Pairwise::Cross => Ok(left.cross(&right)),
            Pairwise::Dot => Ok(left.dot(right).into()),
            Pairwise::Multiply => Ok(left.zip(right, |a, b| SizedExpression::product(vec![a, b]))),
            Pairwise::Divide => self.component_div(left, right, written),
        }
    }

    fn component_div(
        &mut self,
        left: ShapedExpression,
        right: ShapedExpression,
        written: &Expr,
    ) -> Reported<ShapedExpression> {
        if let Some(place) = right.entries().iter().position(SizedExpression::is_zero) {
            return self.fail(written, format!("division by zero: entry {place} of the divisor is 0"));
        }
        Ok(left.zip(right, |a, b| match b.reciprocal() {
            Some(reciprocal) => SizedExpression::product(vec![a, reciprocal]),
            None => a,
        }))
    }

    fn scalar(&mut self, value: &ShapedExpression, method: &Ident) -> Reported<SizedExpression> {
        match value.as_scalar() {
            Some(scalar) => Ok(scalar.clone()),
            None => self.fail(method, format!("`{method}` takes a scalar, and this is {}", value.shape())),
        }
    }

    fn scalar_argument(&mut self, value: &ShapedExpression, method: &str, written: &Expr) -> Reported<SizedExpression> {
        match value.as_scalar() {
            Some(scalar) => Ok(scalar.clone()),
            None => {
                self.fail(written, format!("the argument of `{method}` is a scalar, and this is {}", value.shape()))
            }
        }
    }
}

/// The square root. Panics for a negative number, which callers refuse.
fn root(scalar: SizedExpression) -> SizedExpression {
    let half = BigRational::new(BigInt::one(), BigInt::from(2));
    scalar.power(half).expect("a positive exponent never divides")
}

pub(super) fn arguments(count: usize) -> String {
    match count {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

/// The largest product of the exponents of nested powers.
fn nested_exponent(expression: &Expression) -> f64 {
    let of_children = expression.children().map(nested_exponent).fold(1.0, f64::max);
    match expression {
        Expression::Power(_, exponent) => of_children * to_f64(exponent).abs().max(1.0),
        _ => of_children,
    }
}
