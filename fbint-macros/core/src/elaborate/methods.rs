//! The methods of the expression language.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::One;
use syn::{Expr, ExprMethodCall, Ident};

use super::evaluate::Fold;
use super::foreign;
use super::scope::{Poison, Reported, Scope};
use super::switch;
use super::value::ShapedExpression;
use crate::expression::parts::Results;
use crate::expression::{Expression, Function, to_f64};
use crate::syntax::diagnostics::advised;
use crate::syntax::{Shape, nearest, plain};

/// The largest exponent, or product of the exponents of nested powers. A polynomial of a higher degree is a slip of the pen.
const MAX_EXPONENT: f64 = 1_024.0;
/// The largest matrix whose determinant is written out.
const MAX_DETERMINANT: usize = 6;

/// The value of a call.
pub(super) type Value = Reported<ShapedExpression>;

/// A method or a function of the expression language: its name, the number of its arguments, and what evaluates a call.
pub(super) type Builtin<Call> = (&'static str, usize, fn(&mut Scope, &Call) -> Value);

/// The methods, in the order in which messages list them.
pub(super) const METHODS: [Builtin<ExprMethodCall>; 34] = [
    ("powi", 1, |scope, call| scope.integer_power(call)),
    ("powf", 1, |scope, call| scope.real_power(call)),
    ("sqrt", 0, |scope, call| Ok(scope.scalar(call)?.sqrt().into())),
    ("sin", 0, |scope, call| scope.elementary(call, Function::Sin)),
    ("cos", 0, |scope, call| scope.elementary(call, Function::Cos)),
    ("tan", 0, |scope, call| scope.elementary(call, Function::Tan)),
    ("asin", 0, |scope, call| scope.elementary(call, Function::Asin)),
    ("acos", 0, |scope, call| scope.elementary(call, Function::Acos)),
    ("atan", 0, |scope, call| scope.elementary(call, Function::Atan)),
    ("atan2", 1, |scope, call| scope.angle(call)),
    ("sinh", 0, |scope, call| scope.elementary(call, Function::Sinh)),
    ("cosh", 0, |scope, call| scope.elementary(call, Function::Cosh)),
    ("tanh", 0, |scope, call| scope.elementary(call, Function::Tanh)),
    ("exp", 0, |scope, call| scope.elementary(call, Function::Exp)),
    ("ln", 0, |scope, call| scope.elementary(call, Function::Ln)),
    ("abs", 0, |scope, call| scope.elementary(call, Function::Abs)),
    ("signum", 0, |scope, call| scope.elementary(call, Function::Sign)),
    ("max", 1, |scope, call| scope.scalars(call).map(|(a, b)| switch::larger(a, b).into())),
    ("min", 1, |scope, call| scope.scalars(call).map(|(a, b)| switch::smaller(a, b).into())),
    ("clamp", 2, |scope, call| scope.clamp(call)),
    ("recip", 0, |scope, call| scope.reciprocal(call)),
    ("dot", 1, |scope, call| scope.dot(call)),
    ("cross", 1, |scope, call| scope.cross(call)),
    ("norm", 0, |scope, call| Ok(scope.norm_squared(call)?.map(Expression::sqrt))),
    ("norm_squared", 0, |scope, call| scope.norm_squared(call)),
    ("transpose", 0, |scope, call| Ok(scope.evaluate(&call.receiver)?.transpose())),
    ("trace", 0, |scope, call| Ok(scope.square(call)?.trace().into())),
    ("determinant", 0, |scope, call| scope.determinant(call)),
    ("column", 1, |scope, call| scope.column(call)),
    ("row", 1, |scope, call| scope.row(call)),
    ("component_mul", 1, |scope, call| scope.component_mul(call)),
    ("component_div", 1, |scope, call| scope.component_div(call)),
    ("sum", 0, |scope, call| scope.series(call, Fold::Sum)),
    ("product", 0, |scope, call| scope.series(call, Fold::Product)),
];
/// The methods that end a series over a range, which is read as a whole.
pub(super) const SERIES: [&str; 2] = ["sum", "product"];

impl Scope<'_> {
    /// `receiver.method(arguments)`.
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Value {
        let name = plain(&call.method);
        let found = METHODS.iter().find(|(method, ..)| *method == name);
        if let Some((.., series)) = found.filter(|(method, ..)| SERIES.contains(method)) {
            return series(self, call);
        }
        if let Some(turbofish) = &call.turbofish {
            return self.fail(turbofish, "types have no meaning here\nhelp: drop `::<..>`");
        }
        if name == "map" {
            return self.fail(&call.method, "`map` belongs into a sum: `(a..b).map(|i| ..).sum()`");
        }
        if let Some(advice) = self.of_module(call) {
            return self.fail(&call.receiver, advice);
        }
        let Some((_, count, method)) = found else {
            let _ = self.evaluate(&call.receiver);
            if let ("log", Some(base)) = (&name[..], call.args.first()) {
                let [x, base] = [&call.receiver, base].map(foreign::receiver);
                let message = "there is no method `log` here: the natural logarithm is `ln`";
                return self.fail(&call.method, format!("{message}\nhelp: write `{x}.ln() / {base}.ln()`"));
            }
            return self.unknown_method(&call.method);
        };
        if call.args.len() != *count {
            // It may be a library whose name a mistake hides.
            self.evaluate(&call.receiver)?;
            let remedy = match (&name[..], call.args.first()) {
                ("atan", _) => ": the angle of a pair is `y.atan2(x)`".to_owned(),
                ("sin" | "cos" | "tan" | "exp" | "ln" | "sqrt" | "abs", Some(argument))
                    if !matches!(argument, Expr::Lit(_)) =>
                {
                    foreign::as_method(&name, &[argument])
                        .map_or_else(String::new, |(_, remedy)| format!("\nhelp: {remedy}"))
                }
                _ => String::new(),
            };
            let message = format!("`{name}` takes {}, not {}{remedy}", arguments(*count), call.args.len());
            return self.fail(&call.method, message);
        }
        method(self, call)
    }

    /// The advice for a function of a library, as `np.cos(x)`: nothing here has the name of the library.
    fn of_module(&self, call: &ExprMethodCall) -> Option<String> {
        let module = self.unknown_root(&call.receiver)?;
        let remedy = foreign::call(&plain(&call.method), &call.args.iter().collect::<Vec<_>>())?;
        Some(advised(format_args!("there is no `{module}` here"), remedy))
    }

    fn unknown_method<T>(&self, method: &Ident) -> Reported<T> {
        let name = plain(method);
        let near = nearest(&name, METHODS.map(|(method, ..)| method));
        let same = near.filter(|near| near.replace('_', "") == name.replace('_', "").to_lowercase());
        let message = match (foreign::advice(&name).filter(|_| same.is_none()), foreign::method(&name).or(near)) {
            _ if ["x", "y", "z"].contains(&&name[..]) => {
                format!("`{name}` is an entry and no method\nhelp: drop the parentheses")
            }
            (Some(advice), _) => advised(format_args!("there is no method `{name}` here"), advice),
            (None, Some(near)) => format!("unknown method `{name}`\nhelp: did you mean `{near}`?"),
            (None, None) => {
                let methods = METHODS.map(|(method, ..)| method).join(", ");
                format!("unknown method `{name}`; the methods are {methods}")
            }
        };
        self.fail(method, message)
    }

    fn norm_squared(&mut self, call: &ExprMethodCall) -> Value {
        let value = self.evaluate(&call.receiver)?;
        if value.shape() == Shape::Scalar {
            let name = plain(&call.method);
            let message =
                format!("`{name}` takes a vector or a matrix, and this is a scalar\nhelp: use `abs` or `powi(2)`");
            return self.fail(&call.method, message);
        }
        Ok(value.norm_squared().into())
    }

    fn determinant(&mut self, call: &ExprMethodCall) -> Value {
        let value = self.square(call)?;
        if value.shape().extent().0 > MAX_DETERMINANT {
            let message = format!("a determinant is written out up to {MAX_DETERMINANT} x {MAX_DETERMINANT}");
            return self.fail(&call.method, format!("{message}, and this is {}", value.shape()));
        }
        Ok(value.determinant().into())
    }

    /// The receiver, which is a square matrix.
    fn square(&mut self, call: &ExprMethodCall) -> Value {
        let is_square = |shape: Shape| shape != Shape::Scalar && shape.extent().0 == shape.extent().1;
        self.receiver(call, "a square matrix", is_square)
    }

    fn reciprocal(&mut self, call: &ExprMethodCall) -> Value {
        let scalar = self.scalar(call)?;
        Ok(self.raised(scalar, -BigRational::one(), &call.receiver)?.into())
    }

    /// Elementary functions of one scalar.
    fn elementary(&mut self, call: &ExprMethodCall, function: Function) -> Value {
        Ok(Expression::call(function, [self.scalar(call)?]).into())
    }

    /// Between the first argument and the second one.
    fn clamp(&mut self, call: &ExprMethodCall) -> Value {
        let ((value, least), most) = (self.scalars(call)?, self.evaluate(&call.args[1])?);
        let most = self.only(&call.args[1], &most, "the bounds of `clamp` are scalars", "")?;
        Ok(switch::smaller(switch::larger(value, least), most).into())
    }

    fn column(&mut self, call: &ExprMethodCall) -> Value {
        let (value, index) = self.indexed(call)?;
        let (rows, columns) = value.shape().extent();
        let column = self.within((&call.args[0], index), columns, value.shape(), ["column", "columns"])?;
        Ok(ShapedExpression::from_fn(rows, 1, |row, _| value.entry(row, column).clone()))
    }

    fn row(&mut self, call: &ExprMethodCall) -> Value {
        let (value, index) = self.indexed(call)?;
        let (rows, columns) = value.shape().extent();
        let row = self.within((&call.args[0], index), rows, value.shape(), ["row", "rows"])?;
        Ok(ShapedExpression::from_fn(1, columns, |_, column| value.entry(row, column).clone()))
    }

    /// The receiver, which is a vector or a matrix, and the argument, an integer.
    fn indexed(&mut self, call: &ExprMethodCall) -> Reported<(ShapedExpression, i64)> {
        let value = self.receiver(call, "a matrix", |shape| shape != Shape::Scalar);
        let index = self.integer(&call.args[0]);
        Ok((value?, index?))
    }

    fn integer_power(&mut self, call: &ExprMethodCall) -> Value {
        let (base, exponent) = (self.scalar(call), self.evaluate(&call.args[0]));
        let (base, exponent) = (base?, exponent?);
        if !exponent.as_number().is_some_and(BigRational::is_integer) && exponent.as_scalar().is_some() {
            return self.fail(&call.args[0], "`powi` takes an integer: any other exponent is one of `powf`");
        }
        let exponent = self.integer(&call.args[0])?;
        self.power(base, BigRational::from_integer(BigInt::from(exponent)), &call.args[0])
    }

    fn real_power(&mut self, call: &ExprMethodCall) -> Value {
        let (base, exponent) = self.scalars(call)?;
        match exponent.as_number() {
            Some(number) => self.power(base, number.clone(), &call.args[0]),
            None => Ok(Expression::call(Function::Powf, [base, exponent]).into()),
        }
    }

    fn angle(&mut self, call: &ExprMethodCall) -> Value {
        let (y, x) = self.scalars(call)?;
        if y.is_zero() && x.is_zero() {
            return self.fail(&call.method, "the origin has no angle");
        }
        Ok(Expression::call(Function::Atan2, [y, x]).into())
    }

    fn power(&self, base: Expression, exponent: BigRational, written: &Expr) -> Value {
        let nested = nested_exponent(&base, &Results::default()) * to_f64(&exponent).abs();
        if nested > MAX_EXPONENT {
            let message = format!("an exponent is {MAX_EXPONENT} at most, and powers of powers multiply");
            return self.fail(written, format!("{message}: here it is up to {nested:.0}"));
        }
        Ok(self.raised(base, exponent, written)?.into())
    }

    fn cross(&mut self, call: &ExprMethodCall) -> Value {
        let (left, right) = self.operands(call)?;
        let (one, other) = (left.shape(), right.shape());
        if one != other || !matches!(one, Shape::Vector(3) | Shape::Matrix { rows: 1, columns: 3 }) {
            let message = format!("`cross` takes two vectors of 3, and these are {one} and {other}");
            return self.fail(&call.method, message);
        }
        Ok(left.cross(&right))
    }

    fn dot(&mut self, call: &ExprMethodCall) -> Value {
        let (left, right) = self.pair(call)?;
        Ok(left.dot(right).into())
    }

    fn component_mul(&mut self, call: &ExprMethodCall) -> Value {
        let (left, right) = self.pair(call)?;
        Ok(left.zip(right, |left, right| left * right))
    }

    fn component_div(&mut self, call: &ExprMethodCall) -> Value {
        let (left, right) = self.pair(call)?;
        if let Some(place) = right.entries().iter().position(Expression::is_zero) {
            return self.fail(&call.args[0], format!("division by zero: entry {place} of the divisor is 0"));
        }
        Ok(left.zip(right, |left, right| left.divide(right).expect("no entry of the divisor is 0")))
    }

    /// The receiver and the argument, vectors or matrices of one shape.
    fn pair(&mut self, call: &ExprMethodCall) -> Reported<(ShapedExpression, ShapedExpression)> {
        let (left, right) = self.operands(call)?;
        let (one, other) = (left.shape(), right.shape());
        if one != other || one == Shape::Scalar {
            let name = plain(&call.method);
            let message =
                format!("`{name}` takes two vectors or matrices of one shape, and these are {one} and {other}");
            return self.fail(&call.method, message);
        }
        Ok((left, right))
    }

    /// The receiver and the argument, which are scalars.
    fn scalars(&mut self, call: &ExprMethodCall) -> Reported<(Expression, Expression)> {
        let (receiver, argument) = (self.scalar(call), self.evaluate(&call.args[0]));
        let (receiver, argument) = (receiver?, argument?);
        let expected = format!("the argument of `{}` is a scalar", plain(&call.method));
        Ok((receiver, self.only(&call.args[0], &argument, expected, "")?))
    }

    /// The receiver and the argument.
    fn operands(&mut self, call: &ExprMethodCall) -> Reported<(ShapedExpression, ShapedExpression)> {
        let (left, right) = (self.evaluate(&call.receiver), self.evaluate(&call.args[0]));
        Ok((left?, right?))
    }

    /// The receiver, which is a scalar.
    fn scalar(&mut self, call: &ExprMethodCall) -> Reported<Expression> {
        let value = self.receiver(call, "a scalar", |shape| shape == Shape::Scalar)?;
        value.as_scalar().cloned().ok_or(Poison)
    }

    /// The receiver, if it has a shape that the method takes.
    fn receiver(&mut self, call: &ExprMethodCall, taken: &str, is_taken: impl Fn(Shape) -> bool) -> Value {
        let value = self.evaluate(&call.receiver)?;
        if !is_taken(value.shape()) {
            let name = plain(&call.method);
            let remedy = match (&name[..], value.shape()) {
                ("powi", Shape::Vector(_)) => "; the square of its length is `norm_squared()`",
                ("abs", Shape::Vector(_)) => "; its length is `norm()`",
                _ => "",
            };
            return self.fail(&call.method, format!("`{name}` takes {taken}, and this is {}{remedy}", value.shape()));
        }
        Ok(value)
    }
}

pub(super) fn arguments(count: usize) -> String {
    match count {
        0 => "no argument".to_owned(),
        1 => "one argument".to_owned(),
        _ => format!("{count} arguments"),
    }
}

/// The largest product of the exponents of nested powers.
fn nested_exponent(expression: &Expression, known: &Results<f64>) -> f64 {
    known.of(expression, || {
        let of_parts = expression.children().map(|part| nested_exponent(part, known)).fold(1.0, f64::max);
        match expression {
            Expression::Power(_, exponent) => of_parts * to_f64(exponent).abs().max(1.0),
            _ => of_parts,
        }
    })
}
