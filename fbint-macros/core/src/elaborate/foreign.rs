//! Names, functions and methods that other languages have, and what to write here instead.

use syn::{Expr, ExprLit, Lit};

use super::methods::{METHODS, SERIES};
use crate::syntax::habits::SWITCH;
use crate::syntax::peel;
use crate::syntax::written::written_or;

/// Methods by other names.
const ALIASES: [(&[&str], &str); 18] = [
    (&["fabs", "absolute", "modulus"], "abs"),
    (&["arcsin"], "asin"),
    (&["arccos"], "acos"),
    (&["arctan"], "atan"),
    (&["arctan2"], "atan2"),
    (&["log", "loge"], "ln"),
    (&["length", "mag", "magnitude", "norm2"], "norm"),
    (&["norm_sq", "normsq", "squared_norm", "length_squared", "mag2", "magnitude_squared"], "norm_squared"),
    (&["det"], "determinant"),
    (&["tr"], "trace"),
    (&["transposed"], "transpose"),
    (&["inner", "vdot", "dot_product"], "dot"),
    (&["cross_product"], "cross"),
    (&["inverse", "reciprocal"], "recip"),
    (&["fmax", "maximum"], "max"),
    (&["fmin", "minimum"], "min"),
    (&["clip"], "clamp"),
    (&["sign", "sgn"], "signum"),
];

/// Functions and operators of other languages that need a rewrite rather than another name.
const FOREIGN: [(&[&str], &str); 29] = [
    (&["pow", "power"], "a power is written `x.powi(2)` or `x.powf(1.5)`"),
    (
        &["square", "squared", "sqr", "sq"],
        "a square is written `x.powi(2)`, that of a vector's length `v.norm_squared()`",
    ),
    (&["log10"], "the natural logarithm is `ln`\nhelp: divide by `10.ln()`"),
    (&["log2"], "the natural logarithm is `ln`\nhelp: divide by `2.ln()`"),
    (&["exp2"], "write `(x * 2.ln()).exp()`"),
    (&["cbrt"], "write `x.powf(1.0 / 3.0)`"),
    (&["hypot"], "write `(x * x + y * y).sqrt()`"),
    (&["cot"], "write `1 / x.tan()`"),
    (&["sec"], "write `1 / x.cos()`"),
    (&["csc"], "write `1 / x.sin()`"),
    (&["asinh", "arcsinh", "arsinh"], "write `(x + (x * x + 1).sqrt()).ln()`"),
    (&["acosh", "arccosh", "arcosh"], "write `(x + (x * x - 1).sqrt()).ln()`"),
    (&["atanh", "arctanh", "artanh"], "write `((1 + x) / (1 - x)).ln() / 2`"),
    (&["mul_add"], "write `a * b + c`"),
    (&["heaviside", "step", "where", "select", "piecewise"], SWITCH),
    (
        &["floor", "ceil", "round", "trunc", "mod", "fmod", "rem_euclid"],
        "it has no useful derivative\nhelp: compute it outside, and give it to the model by an `input`",
    ),
    (&["normalize", "normalized", "unit"], "write `v / v.norm()`"),
    (&["try_inverse", "inverse", "inv"], INVERSE),
    (
        &["to_radians", "radians", "deg2rad", "deg", "rad", "degrees"],
        "angles are in radians\nhelp: write `90 * PI / 180` for 90 degrees",
    ),
    (&["to_degrees", "rad2deg"], "write `x * 180 / PI`"),
    (
        &["diff", "der", "derivative", "d", "ddt", "dot_", "grad", "jacobian"],
        "the derivative along the motion is `rate(f)`, and the one by a variable `gradient(f, x)`",
    ),
    (
        &["array", "vec", "col", "asarray", "list", "new"],
        "a vector is written `vector![..]`, a matrix `matrix![..; ..]`",
    ),
    (&["last", "first", "end", "front", "back"], "an entry is taken by its index, counted from 0\nhelp: write `q[0]`"),
    (&["len", "size", "shape"], "sizes are those of the declaration\nhelp: write the number"),
    (&["rational", "fraction", "frac"], "a quotient of numbers is exact\nhelp: write `1 / 2`"),
    (&["sin_cos", "sincos"], "write `x.sin()` and `x.cos()`"),
    (
        &["interp", "interp1", "interpolate", "lookup", "spline"],
        "a table belongs to a run\nhelp: declare an `input`, and give it the table",
    ),
    (
        &["rand", "randn", "random", "noise"],
        "equal states have equal rates\nhelp: give random numbers to an `input`, or vary a parameter in an ensemble",
    ),
    (&["sum", "prod", "range"], "a sum is written `(0..3).map(|i| ..).sum()`"),
];

/// The number of arguments of a method, as they are written in a message.
pub(super) fn parentheses(method: &str) -> &'static str {
    let takes_none = METHODS.iter().any(|(other, count, _)| *other == method && *count == 0);
    if takes_none { "()" } else { "(..)" }
}

/// The advice for inverses.
const INVERSE: &str = "inverses are not written out\nhelp: make the inverse of a constant matrix a parameter, \
    and write the inverse of a small one as its adjugate over its `determinant()`";

/// Constants of Rust's `consts`.
const CONSTANTS: [(&str, &str); 9] = [
    ("TAU", "2 * PI"),
    ("FRAC_PI_2", "PI / 2"),
    ("FRAC_PI_3", "PI / 3"),
    ("FRAC_PI_4", "PI / 4"),
    ("FRAC_PI_6", "PI / 6"),
    ("FRAC_PI_8", "PI / 8"),
    ("E", "1.exp()"),
    ("SQRT_2", "2.sqrt()"),
    ("LN_2", "2.ln()"),
];

/// The advice for a method or a function that does not exist.
pub(super) fn advice(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    FOREIGN.iter().find(|(names, _)| names.contains(&&name[..])).map(|(_, advice)| *advice)
}

/// The method with this name, or the one that has another name elsewhere.
pub(super) fn method(name: &str) -> Option<&'static str> {
    let name = name.to_lowercase();
    let own = METHODS.iter().map(|(method, ..)| *method).find(|method| *method == name);
    own.or_else(|| ALIASES.iter().find(|(names, _)| names.contains(&&name[..])).map(|(_, method)| *method))
}

/// The expression for a constant of a library, as in `np.pi` and SymPy's `S.Half`.
pub(super) fn member(name: &str) -> Option<&'static str> {
    match &name.to_lowercase()[..] {
        "pi" => Some("PI"),
        "half" => Some("1 / 2"),
        "one" => Some("1"),
        "zero" => Some("0"),
        _ => None,
    }
}

/// The expression for a constant of Rust's `consts`.
pub(super) fn constant(name: &str) -> Option<&'static str> {
    CONSTANTS.iter().find(|(constant, _)| *constant == name).map(|(_, expression)| *expression)
}

/// The equivalent of another language's function, called with these arguments.
pub(super) fn call(name: &str, arguments: &[&Expr]) -> Option<String> {
    let lower = name.to_lowercase();
    match (&lower[..], arguments) {
        ("pow" | "power", [base, exponent]) => {
            let is_integer = matches!(peel(exponent), Expr::Lit(ExprLit { lit: Lit::Int(_), .. }));
            let method = if is_integer { "powi" } else { "powf" };
            return Some(format!("a power is written `{}.{method}({})`", receiver(base), short(exponent)));
        }
        ("square" | "sqr" | "sq", [base]) => {
            return Some(format!("a square is written `{}.powi(2)`", receiver(base)));
        }
        ("sind" | "cosd" | "tand", [angle]) => {
            return Some(format!(
                "angles are in radians\nhelp: write `({} * PI / 180).{}()`",
                receiver(angle),
                &lower[..3]
            ));
        }
        // SymPy's `S(1) / 2`, and conversions.
        ("s" | "integer" | "sympify" | "nsimplify" | "float" | "double" | "real" | "f64", [number]) => {
            let number = match peel(number) {
                Expr::Lit(ExprLit { lit: Lit::Str(text), .. }) => text.value(),
                other => short(other),
            };
            return Some(format!("numbers are exact as they are written\nhelp: write `{number}`"));
        }
        ("der" | "ddt" | "d" | "diff" | "derivative" | "dot", [of]) => {
            return Some(format!("write `rate({})`", short(of)));
        }
        ("diff" | "d" | "derivative" | "grad", [of, by]) => {
            let (of, by) = (short(of), short(by));
            let is_time = by == "t" || by == "time";
            return Some(if is_time { format!("write `rate({of})`") } else { format!("write `gradient({of}, {by})`") });
        }
        ("eye", [size]) => return Some(format!("write `identity({})`", short(size))),
        _ => {}
    }
    as_method(&lower, arguments).map(|(_, advice)| advice).or_else(|| advice(&lower).map(str::to_owned))
}

/// The method for a function, and how it is called: `x.sin()` for `sin(x)`.
pub(super) fn as_method(name: &str, arguments: &[&Expr]) -> Option<(&'static str, String)> {
    let method = method(name).filter(|method| !SERIES.contains(method))?;
    let (.., count, _) = METHODS.iter().find(|(other, ..)| *other == method)?;
    let (first, others) = arguments.split_first()?;
    let takes_reference = matches!(method, "dot" | "cross" | "component_mul" | "component_div");
    let reference = if takes_reference { "&" } else { "" };
    let others: Vec<String> = others.iter().map(|other| format!("{reference}{}", short(other))).collect();
    let call = || format!("write `{}.{method}({})`", receiver(first), others.join(", "));
    // `max(a, b, c)`
    if matches!(method, "max" | "min") && others.len() > 1 {
        let calls: String = others.iter().map(|other| format!(".{method}({other})")).collect();
        return Some((method, format!("write `{}{calls}`", receiver(first))));
    }
    (others.len() == *count).then(|| (method, call()))
}

/// An expression as an argument.
fn short(expression: &Expr) -> String {
    let expression = if let Expr::Reference(inner) = expression { &inner.expr } else { expression };
    written_or(expression, "y")
}

/// An expression before the point of a method.
pub(super) fn receiver(expression: &Expr) -> String {
    let expression = if let Expr::Reference(inner) = expression { &inner.expr } else { expression };
    let text = written_or(expression, "x");
    let is_whole = matches!(
        expression,
        Expr::Path(_)
            | Expr::Lit(_)
            | Expr::Paren(_)
            | Expr::Call(_)
            | Expr::MethodCall(_)
            | Expr::Index(_)
            | Expr::Field(_)
            | Expr::Macro(_)
    );
    if is_whole || text == "x" { text } else { format!("({text})") }
}
