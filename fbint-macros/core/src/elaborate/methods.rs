//! The methods of the expression language.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed, Zero};
use syn::{Expr, ExprMethodCall, Ident};

use super::scope::{Outcome, Poison, Scope};
use super::value::{Scalar, Value, fits, plural};
use crate::diagnostics::nearest;
use crate::expression::{Expression, Function, to_f64};
use crate::syntax::{Shape, plain};

/// The largest exponent, of powers inside one another their product: polynomials of a higher degree are a slip of the pen.
const MAX_EXPONENT: f64 = 1_024.0;
/// The largest matrix whose determinant is written out.
const MAX_DETERMINANT: usize = 6;

/// The methods and how many arguments they take.
pub(super) const METHODS: [(&str, usize); 30] = [
    ("powi", 1),
    ("powf", 1),
    ("sqrt", 0),
    ("sin", 0),
    ("cos", 0),
    ("tan", 0),
    ("asin", 0),
    ("acos", 0),
    ("atan", 0),
    ("atan2", 1),
    ("sinh", 0),
    ("cosh", 0),
    ("tanh", 0),
    ("exp", 0),
    ("ln", 0),
    ("abs", 0),
    ("recip", 0),
    ("dot", 1),
    ("cross", 1),
    ("norm", 0),
    ("norm_squared", 0),
    ("transpose", 0),
    ("trace", 0),
    ("determinant", 0),
    ("column", 1),
    ("row", 1),
    ("component_mul", 1),
    ("component_div", 1),
    ("sum", 0),
    ("product", 0),
];

/// Methods that Rust knows and this language does not, and what to write.
const FOREIGN: [(&str, &str); 15] = [
    ("pow", "a power is written `x.powi(2)` or `x.powf(1.5)`"),
    ("log", "the natural logarithm is `ln`"),
    ("log10", "the natural logarithm is `ln`; divide by `10.ln()`"),
    ("log2", "the natural logarithm is `ln`; divide by `2.ln()`"),
    ("exp2", "write `(x * 2.ln()).exp()`"),
    ("cbrt", "write `x.powf(1.0 / 3.0)`"),
    ("hypot", "write `(x * x + y * y).sqrt()`"),
    ("mul_add", "write `a * b + c`"),
    ("max", "it has no derivative where its arguments meet; write the branch that you mean"),
    ("min", "it has no derivative where its arguments meet; write the branch that you mean"),
    ("signum", "it has no derivative at zero; write the sign that you mean"),
    ("floor", "it has no useful derivative"),
    ("normalize", "write `v / v.norm()`"),
    ("try_inverse", "inverses are not written out: state the equation that the inverse solves"),
    ("inverse", "inverses are not written out: state the equation that the inverse solves"),
];

impl Scope<'_> {
    /// `receiver.method(arguments)`.
    pub(super) fn method(&mut self, call: &ExprMethodCall) -> Outcome<Value> {
        let name = plain(&call.method);
        if matches!(&name[..], "sum" | "product") {
            return self.series(call);
        }
        if let Some(turbofish) = &call.turbofish {
            return Err(self.fail(turbofish, "types have no meaning here: drop `::<..>`"));
        }
        if name == "map" {
            return Err(self.fail(&call.method, "`map` belongs into a sum: `(a..b).map(|i| ..).sum()`"));
        }
        let Some((_, count)) = METHODS.iter().find(|(method, _)| *method == name) else {
            let _ = self.evaluate(&call.receiver);
            return Err(self.unknown_method(&call.method));
        };
        if call.args.len() != *count {
            let _ = self.evaluate(&call.receiver);
            let message = format!("`{name}` takes {}, not {}", arguments(*count), call.args.len());
            return Err(self.fail(&call.method, message));
        }
        let receiver = self.evaluate(&call.receiver);
        match call.args.first() {
            None => self.unary(call, receiver?),
            Some(argument) if matches!(&name[..], "powi" | "column" | "row") => {
                let integer = self.integer(argument);
                self.with_integer(call, receiver?, (argument, integer?))
            }
            Some(argument) => {
                let value = self.evaluate(argument);
                self.binary_method(call, receiver?, value?, argument)
            }
        }
    }

    fn unknown_method(&mut self, method: &Ident) -> Poison {
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

    /// Methods without arguments.
    fn unary(&mut self, call: &ExprMethodCall, value: Value) -> Outcome<Value> {
        let name = plain(&call.method);
        match &name[..] {
            "transpose" => Ok(if value.shape() == Shape::Scalar { value } else { value.transpose() }),
            "norm" | "norm_squared" => {
                if value.shape() == Shape::Scalar {
                    let message =
                        format!("`{name}` takes a vector or a matrix, and this is a scalar: use `abs` or `powi(2)`");
                    return Err(self.fail(&call.method, message));
                }
                let squared = value.norm_squared();
                Ok(if name == "norm" { root(squared).into() } else { squared.into() })
            }
            "trace" | "determinant" => {
                let (rows, columns) = value.shape().extent();
                if value.shape() == Shape::Scalar || rows != columns {
                    let message = format!("`{name}` takes a square matrix, and this is {}", value.shape());
                    return Err(self.fail(&call.method, message));
                }
                if name == "trace" {
                    return Ok(value.trace().into());
                }
                if rows > MAX_DETERMINANT {
                    let message = format!(
                        "a determinant is written out up to {MAX_DETERMINANT} x {MAX_DETERMINANT}, and this is {}",
                        value.shape()
                    );
                    return Err(self.fail(&call.method, message));
                }
                Ok(value.determinant().map_err(|message| self.fail(&call.method, message))?.into())
            }
            _ => {
                let scalar = self.scalar(&value, &call.method)?;
                self.elementary(&name, scalar, &call.receiver)
            }
        }
    }

    /// Elementary functions of one scalar. Numbers outside the domain are refused.
    fn elementary(&mut self, name: &str, argument: Scalar, written: &Expr) -> Outcome<Value> {
        let number = argument.expression.as_number();
        let complaint = match (name, number) {
            ("sqrt", Some(number)) if number.is_negative() => Some("the square root of a negative number is not real"),
            ("ln", Some(number)) if !number.is_positive() => Some("only positive numbers have a logarithm"),
            ("asin" | "acos", Some(number)) if number.abs() > BigRational::one() => {
                Some("sine and cosine lie between -1 and 1: there is no such angle")
            }
            ("recip", Some(number)) if number.is_zero() => Some("0 has no reciprocal"),
            _ => None,
        };
        if let Some(complaint) = complaint {
            let complaint = format!("{complaint}{}", self.circumstances());
            return Err(self.fail(written, complaint));
        }
        let function = match name {
            "sqrt" => return Ok(root(argument).into()),
            "recip" => return Ok(argument.reciprocal().ok_or(Poison)?.into()),
            "abs" if number.is_some() => {
                let number = number.expect("it was just found").abs();
                return Ok(Scalar::number(number).into());
            }
            _ => Function::ALL.into_iter().find(|function| function.name() == name).ok_or(Poison)?,
        };
        Ok(Scalar::call(function, vec![argument]).into())
    }

    /// `powi`, `column` and `row`.
    fn with_integer(
        &mut self,
        call: &ExprMethodCall,
        value: Value,
        (written, integer): (&Expr, i64),
    ) -> Outcome<Value> {
        let shape = value.shape();
        let (rows, columns) = shape.extent();
        match &plain(&call.method)[..] {
            "powi" => {
                let base = self.scalar(&value, &call.method)?;
                self.power(base, BigRational::from_integer(BigInt::from(integer)), written)
            }
            _ if shape == Shape::Scalar => {
                Err(self.fail(&call.method, format!("`{}` takes a matrix, and this is a scalar", call.method)))
            }
            "column" => {
                let column = self.within(
                    (written, integer),
                    columns,
                    format_args!("{shape} has {columns} column{}", plural(columns)),
                )?;
                Ok(Value::from_fn(rows, 1, |row, _| value.entry(row, column).clone()))
            }
            _ => {
                let row =
                    self.within((written, integer), rows, format_args!("{shape} has {rows} row{}", plural(rows)))?;
                Ok(Value::from_fn(1, columns, |_, column| value.entry(row, column).clone()))
            }
        }
    }

    fn power(&mut self, base: Scalar, exponent: BigRational, written: &Expr) -> Outcome<Value> {
        if to_f64(&exponent).abs() > MAX_EXPONENT {
            let text = format!("an exponent lies between -{MAX_EXPONENT} and {MAX_EXPONENT}");
            return Err(self.fail(written, text));
        }
        let nested = nested_exponent(&base.expression) * to_f64(&exponent).abs();
        if nested > MAX_EXPONENT {
            let text =
                format!("powers of powers multiply: here up to {nested:.0}, and at most {MAX_EXPONENT} is possible");
            return Err(self.fail(written, text));
        }
        if let Some(number) = base.expression.as_number() {
            // Exact powers of numbers are taken at once: they must not outgrow the memory.
            let bits = number.numer().bits().max(number.denom().bits());
            let size = exponent.to_integer().abs() * BigInt::from(bits);
            if exponent.is_integer() && size > BigInt::from(8_192) {
                return Err(self.fail(written, "this power is out of reach of double precision"));
            }
            if number.is_negative() && !exponent.is_integer() {
                return Err(self.fail(written, "a negative number has no real power with this exponent"));
            }
        }
        match base.power(exponent) {
            Some(power) => Ok(power.into()),
            None => Err(self.fail(written, "division by zero: zero has no negative power")),
        }
    }

    /// Methods with one argument that is a value.
    fn binary_method(&mut self, call: &ExprMethodCall, left: Value, right: Value, written: &Expr) -> Outcome<Value> {
        let name = plain(&call.method);
        match &name[..] {
            "powf" => {
                let base = self.scalar(&left, &call.method)?;
                let exponent = self.scalar_argument(&right, &name, written)?;
                match exponent.expression.as_number() {
                    Some(number) => self.power(base, number.clone(), written),
                    None => Ok(Scalar::call(Function::Powf, vec![base, exponent]).into()),
                }
            }
            "atan2" => {
                let ordinate = self.scalar(&left, &call.method)?;
                let abscissa = self.scalar_argument(&right, &name, written)?;
                if ordinate.is_zero() && abscissa.is_zero() {
                    return Err(self.fail(&call.method, "the origin has no angle"));
                }
                Ok(Scalar::call(Function::Atan2, vec![ordinate, abscissa]).into())
            }
            _ => {
                let (one, other) = (left.shape(), right.shape());
                let three = matches!(one, Shape::Vector(3) | Shape::Matrix { rows: 1, columns: 3 });
                if name == "cross" && !(three && one == other) {
                    let message = format!("`cross` takes two vectors of 3, and these are {one} and {other}");
                    return Err(self.fail(&call.method, message));
                }
                if one != other || one == Shape::Scalar {
                    let message =
                        format!("`{name}` takes two vectors or matrices of one shape, and these are {one} and {other}");
                    return Err(self.fail(&call.method, message));
                }
                fits(left.nodes().saturating_add(right.nodes())).map_err(|message| self.fail(&call.method, message))?;
                match &name[..] {
                    "cross" => Ok(left.cross(&right)),
                    "dot" => Ok(left.dot(right).into()),
                    "component_mul" => Ok(left.zip(right, |a, b| Scalar::product(vec![a, b]))),
                    _ => self.component_div(left, right, written),
                }
            }
        }
    }

    fn component_div(&mut self, left: Value, right: Value, written: &Expr) -> Outcome<Value> {
        if let Some(place) = right.entries().iter().position(Scalar::is_zero) {
            return Err(self.fail(written, format!("division by zero: entry {place} of the divisor is 0")));
        }
        Ok(left.zip(right, |a, b| match b.reciprocal() {
            Some(reciprocal) => Scalar::product(vec![a, reciprocal]),
            None => a,
        }))
    }

    fn scalar(&mut self, value: &Value, method: &Ident) -> Outcome<Scalar> {
        match value.as_scalar() {
            Some(scalar) => Ok(scalar.clone()),
            None => Err(self.fail(method, format!("`{method}` takes a scalar, and this is {}", value.shape()))),
        }
    }

    fn scalar_argument(&mut self, value: &Value, method: &str, written: &Expr) -> Outcome<Scalar> {
        match value.as_scalar() {
            Some(scalar) => Ok(scalar.clone()),
            None => {
                Err(self
                    .fail(written, format!("the argument of `{method}` is a scalar, and this is {}", value.shape())))
            }
        }
    }
}

/// The square root; the caller has seen to it that it is no negative number's.
fn root(scalar: Scalar) -> Scalar {
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

/// The largest product of exponents of powers inside one another.
fn nested_exponent(expression: &Expression) -> f64 {
    let of_children = expression.children().map(nested_exponent).fold(1.0, f64::max);
    match expression {
        Expression::Power(_, exponent) => of_children * to_f64(exponent).abs().max(1.0),
        _ => of_children,
    }
}
