//! The methods of the expression language.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed};
use syn::{Expr, ExprMethodCall, Ident};

use super::scope::{Reported, Scope};
use super::value::{ShapedExpression, SizedExpression};
use crate::expression::{Expression, Function, to_f64};
use crate::syntax::{Shape, nearest, plain};

/// The largest exponent, or product of the exponents of nested powers. A polynomial of a higher degree is a slip of the pen.
const MAX_EXPONENT: f64 = 1_024.0;
/// The largest matrix whose determinant is written out.
const MAX_DETERMINANT: usize = 6;

/// The value of a call.
pub(super) type Value = Reported<ShapedExpression>;

/// A method, by the arguments that it takes.
#[derive(Clone, Copy)]
pub(super) enum BuiltinMethod {
    /// A function of a scalar.
    Elementary(Function),
    /// Anything else that takes no argument.
    Unary(fn(&mut Scope, &ExprMethodCall, ShapedExpression) -> Value),
    /// A value and an integer that is known while compiling.
    Indexed(fn(&mut Scope, &ExprMethodCall, ShapedExpression, i64) -> Value),
    /// Two values.
    Binary(fn(&mut Scope, &ExprMethodCall, ShapedExpression, ShapedExpression) -> Value),
    /// The end of a series over a range.
    Series(Fold),
}

#[derive(Clone, Copy)]
pub(super) enum Fold {
    Sum,
    Product,
}

impl BuiltinMethod {
    /// The number of arguments.
    pub(super) fn arguments(self) -> usize {
        match self {
            Self::Elementary(_) | Self::Unary(_) | Self::Series(_) => 0,
            Self::Indexed(_) | Self::Binary(_) => 1,
        }
    }

    /// The method of this name.
    pub(super) fn named(name: &str) -> Option<Self> {
        METHODS.iter().find(|(method, _)| *method == name).map(|(_, method)| *method)
    }
}

/// The methods, in the order in which messages list them.
const METHODS: [(&str, BuiltinMethod); 30] = [
    ("powi", BuiltinMethod::Indexed(|scope, call, value, integer| scope.integer_power(call, value, integer))),
    ("powf", BuiltinMethod::Binary(|scope, call, left, right| scope.real_power(call, left, right))),
    ("sqrt", BuiltinMethod::Unary(|scope, call, value| scope.square_root(call, value))),
    ("sin", BuiltinMethod::Elementary(Function::Sin)),
    ("cos", BuiltinMethod::Elementary(Function::Cos)),
    ("tan", BuiltinMethod::Elementary(Function::Tan)),
    ("asin", BuiltinMethod::Elementary(Function::Asin)),
    ("acos", BuiltinMethod::Elementary(Function::Acos)),
    ("atan", BuiltinMethod::Elementary(Function::Atan)),
    ("atan2", BuiltinMethod::Binary(|scope, call, left, right| scope.angle(call, left, right))),
    ("sinh", BuiltinMethod::Elementary(Function::Sinh)),
    ("cosh", BuiltinMethod::Elementary(Function::Cosh)),
    ("tanh", BuiltinMethod::Elementary(Function::Tanh)),
    ("exp", BuiltinMethod::Elementary(Function::Exp)),
    ("ln", BuiltinMethod::Elementary(Function::Ln)),
    ("abs", BuiltinMethod::Elementary(Function::Abs)),
    ("recip", BuiltinMethod::Unary(|scope, call, value| scope.reciprocal(call, value))),
    ("dot", BuiltinMethod::Binary(|scope, call, left, right| scope.dot(call, left, right))),
    ("cross", BuiltinMethod::Binary(|scope, call, left, right| scope.cross(call, left, right))),
    ("norm", BuiltinMethod::Unary(|scope, call, value| scope.norm(call, value))),
    ("norm_squared", BuiltinMethod::Unary(|scope, call, value| scope.norm_squared(call, value))),
    ("transpose", BuiltinMethod::Unary(|scope, call, value| scope.transpose(call, value))),
    ("trace", BuiltinMethod::Unary(|scope, call, value| scope.trace(call, value))),
    ("determinant", BuiltinMethod::Unary(|scope, call, value| scope.determinant(call, value))),
    ("column", BuiltinMethod::Indexed(|scope, call, value, integer| scope.column(call, value, integer))),
    ("row", BuiltinMethod::Indexed(|scope, call, value, integer| scope.row(call, value, integer))),
    ("component_mul", BuiltinMethod::Binary(|scope, call, left, right| scope.component_mul(call, left, right))),
    ("component_div", BuiltinMethod::Binary(|scope, call, left, right| scope.component_div(call, left, right))),
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
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Value {
        match self.method_called(call)? {
            BuiltinMethod::Series(series) => self.series(call, series),
            BuiltinMethod::Elementary(function) => {
                let value = self.evaluate(&call.receiver)?;
                self.elementary(function, call, &value)
            }
            BuiltinMethod::Unary(method) => {
                let value = self.evaluate(&call.receiver)?;
                method(self, call, value)
            }
            BuiltinMethod::Indexed(method) => {
                let (value, integer) = (self.evaluate(&call.receiver), self.integer(&call.args[0]));
                method(self, call, value?, integer?)
            }
            BuiltinMethod::Binary(method) => {
                let (left, right) = (self.evaluate(&call.receiver), self.evaluate(&call.args[0]));
                method(self, call, left?, right?)
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

    fn transpose(&mut self, _: &ExprMethodCall, value: ShapedExpression) -> Value {
        Ok(if value.shape() == Shape::Scalar { value } else { value.transpose() })
    }

    fn norm(&mut self, call: &ExprMethodCall, value: ShapedExpression) -> Value {
        Ok(self.norm_squared(call, value)?.map(root))
    }

    fn norm_squared(&mut self, call: &ExprMethodCall, value: ShapedExpression) -> Value {
        if value.shape() == Shape::Scalar {
            let name = plain(&call.method);
            let message = format!("`{name}` takes a vector or a matrix, and this is a scalar: use `abs` or `powi(2)`");
            return self.fail(&call.method, message);
        }
        Ok(value.norm_squared().into())
    }

    fn trace(&mut self, call: &ExprMethodCall, value: ShapedExpression) -> Value {
        self.square(&call.method, &value)?;
        Ok(value.trace().into())
    }

    fn determinant(&mut self, call: &ExprMethodCall, value: ShapedExpression) -> Value {
        if self.square(&call.method, &value)? > MAX_DETERMINANT {
            let message = format!("a determinant is written out up to {MAX_DETERMINANT} x {MAX_DETERMINANT}");
            return self.fail(&call.method, format!("{message}, and this is {}", value.shape()));
        }
        Ok(value.determinant().or_else(|message| self.fail(&call.method, message))?.into())
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

    fn square_root(&mut self, call: &ExprMethodCall, value: ShapedExpression) -> Value {
        let argument = self.scalar(&value, &call.method)?;
        if argument.expression.as_number().is_some_and(BigRational::is_negative) {
            return self.out_of_domain(call, "the square root of a negative number is not real");
        }
        Ok(root(argument).into())
    }

    fn reciprocal(&mut self, call: &ExprMethodCall, value: ShapedExpression) -> Value {
        match self.scalar(&value, &call.method)?.reciprocal() {
            Some(reciprocal) => Ok(reciprocal.into()),
            None => self.out_of_domain(call, "0 has no reciprocal"),
        }
    }

    /// Elementary functions of one scalar. Numbers outside the domain are refused.
    fn elementary(&mut self, function: Function, call: &ExprMethodCall, value: &ShapedExpression) -> Value {
        let argument = self.scalar(value, &call.method)?;
        let complaint = match (function, argument.expression.as_number()) {
            (Function::Ln, Some(number)) if !number.is_positive() => "only positive numbers have a logarithm",
            (Function::Asin | Function::Acos, Some(number)) if number.abs() > BigRational::one() => {
                "sine and cosine lie between -1 and 1: there is no such angle"
            }
            (Function::Abs, Some(number)) => return Ok(SizedExpression::number(number.abs()).into()),
            _ => return Ok(SizedExpression::call(function, vec![argument]).into()),
        };
        self.out_of_domain(call, complaint)
    }

    fn out_of_domain<T>(&self, call: &ExprMethodCall, complaint: &str) -> Reported<T> {
        self.fail(&call.receiver, format!("{complaint}{}", self.circumstances()))
    }

    fn column(&mut self, call: &ExprMethodCall, value: ShapedExpression, index: i64) -> Value {
        let (rows, columns) = self.extent_of_matrix(&call.method, &value)?;
        let column = self.within((&call.args[0], index), columns, value.shape(), ["column", "columns"])?;
        Ok(ShapedExpression::from_fn(rows, 1, |row, _| value.entry(row, column).clone()))
    }

    fn row(&mut self, call: &ExprMethodCall, value: ShapedExpression, index: i64) -> Value {
        let (rows, columns) = self.extent_of_matrix(&call.method, &value)?;
        let row = self.within((&call.args[0], index), rows, value.shape(), ["row", "rows"])?;
        Ok(ShapedExpression::from_fn(1, columns, |_, column| value.entry(row, column).clone()))
    }

    fn extent_of_matrix(&mut self, method: &Ident, value: &ShapedExpression) -> Reported<(usize, usize)> {
        match value.shape() {
            Shape::Scalar => self.fail(method, format!("`{method}` takes a matrix, and this is a scalar")),
            shape => Ok(shape.extent()),
        }
    }

    fn integer_power(&mut self, call: &ExprMethodCall, base: ShapedExpression, exponent: i64) -> Value {
        let base = self.scalar(&base, &call.method)?;
        self.power(base, BigRational::from_integer(BigInt::from(exponent)), &call.args[0])
    }

    fn real_power(&mut self, call: &ExprMethodCall, base: ShapedExpression, exponent: ShapedExpression) -> Value {
        let (base, exponent) = self.scalars(call, &base, &exponent)?;
        match exponent.expression.as_number() {
            Some(number) => self.power(base, number.clone(), &call.args[0]),
            None => Ok(SizedExpression::call(Function::Powf, vec![base, exponent]).into()),
        }
    }

    fn angle(&mut self, call: &ExprMethodCall, y: ShapedExpression, x: ShapedExpression) -> Value {
        let (y, x) = self.scalars(call, &y, &x)?;
        if y.is_zero() && x.is_zero() {
            return self.fail(&call.method, "the origin has no angle");
        }
        Ok(SizedExpression::call(Function::Atan2, vec![y, x]).into())
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

    fn cross(&mut self, call: &ExprMethodCall, left: ShapedExpression, right: ShapedExpression) -> Value {
        let (one, other) = (left.shape(), right.shape());
        if one != other || !matches!(one, Shape::Vector(3) | Shape::Matrix { rows: 1, columns: 3 }) {
            let message = format!("`cross` takes two vectors of 3, and these are {one} and {other}");
            return self.fail(&call.method, message);
        }
        self.pair(&call.method, &left, &right)?;
        Ok(left.cross(&right))
    }

    fn dot(&mut self, call: &ExprMethodCall, left: ShapedExpression, right: ShapedExpression) -> Value {
        self.pair(&call.method, &left, &right)?;
        Ok(left.dot(right).into())
    }

    fn component_mul(&mut self, call: &ExprMethodCall, left: ShapedExpression, right: ShapedExpression) -> Value {
        self.pair(&call.method, &left, &right)?;
        Ok(left.zip(right, |a, b| SizedExpression::product(vec![a, b])))
    }

    fn component_div(&mut self, call: &ExprMethodCall, left: ShapedExpression, right: ShapedExpression) -> Value {
        self.pair(&call.method, &left, &right)?;
        if let Some(place) = right.entries().iter().position(SizedExpression::is_zero) {
            return self.fail(&call.args[0], format!("division by zero: entry {place} of the divisor is 0"));
        }
        Ok(left.zip(right, |a, b| match b.reciprocal() {
            Some(reciprocal) => SizedExpression::product(vec![a, reciprocal]),
            None => a,
        }))
    }

    /// Refuses two values that are not vectors or matrices of one shape.
    fn pair(&mut self, method: &Ident, left: &ShapedExpression, right: &ShapedExpression) -> Reported<()> {
        let (one, other) = (left.shape(), right.shape());
        if one != other || one == Shape::Scalar {
            let name = plain(method);
            let message =
                format!("`{name}` takes two vectors or matrices of one shape, and these are {one} and {other}");
            return self.fail(method, message);
        }
        self.fits(left.nodes().saturating_add(right.nodes()), method)
    }

    /// The receiver and the argument, which are scalars.
    fn scalars(
        &mut self,
        call: &ExprMethodCall,
        receiver: &ShapedExpression,
        argument: &ShapedExpression,
    ) -> Reported<(SizedExpression, SizedExpression)> {
        let receiver = self.scalar(receiver, &call.method)?;
        let Some(scalar) = argument.as_scalar() else {
            let name = plain(&call.method);
            let message = format!("the argument of `{name}` is a scalar, and this is {}", argument.shape());
            return self.fail(&call.args[0], message);
        };
        Ok((receiver, scalar.clone()))
    }

    fn scalar(&mut self, value: &ShapedExpression, method: &Ident) -> Reported<SizedExpression> {
        match value.as_scalar() {
            Some(scalar) => Ok(scalar.clone()),
            None => self.fail(method, format!("`{method}` takes a scalar, and this is {}", value.shape())),
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
