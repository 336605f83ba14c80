//! Literals as exact numbers: `0.1` is one tenth.

use num_bigint::BigInt;
use num_rational::BigRational;
use syn::Lit;

use crate::syntax::habits::UNITS;

/// Suffixes of numbers in Rust and elsewhere.
const TYPES: [&str; 17] =
    ["f", "F", "d", "l", "L", "f16", "f32", "f128", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "usize"];

/// The length of a text in quotes that a message repeats.
const MOST_LETTERS: usize = 40;

/// The number that a literal stands for, or the reason why it is not a number.
pub(super) fn exact(literal: &Lit) -> Result<BigRational, String> {
    let (digits, suffix) = match literal {
        Lit::Int(integer) => (integer.base10_digits(), integer.suffix()),
        Lit::Float(float) => (float.base10_digits(), float.suffix()),
        Lit::Str(text) if decimal(text.value().trim()).is_some() => {
            return Err(format!("a number has no quotes\nhelp: write `{}`", text.value().trim()));
        }
        Lit::Str(text) => {
            let text = text.value();
            let is_short =
                (1..=MOST_LETTERS).contains(&text.len()) && text.chars().all(|c| c == ' ' || c.is_ascii_graphic());
            let remedy = if is_short { format!("\nhelp: write `{text}`") } else { String::new() };
            return Err(format!("only numbers are literals of an expression{remedy}"));
        }
        _ => return Err("only numbers are literals of an expression".to_owned()),
    };
    match suffix {
        "" | "f64" => decimal(digits).ok_or_else(|| "this number is out of reach of double precision".to_owned()),
        "deg" | "degree" | "degrees" => Err(format!("angles are in radians\nhelp: write `{digits} * PI / 180`")),
        "e" | "E" => Err("the digits of the exponent are missing".to_owned()),
        "i" | "j" => Err("every number is real here".to_owned()),
        suffix if UNITS.contains(&suffix) => Err(format!("numbers have no units\nhelp: drop `{suffix}`")),
        suffix if TYPES.contains(&suffix) || suffix.starts_with(['i', 'u']) && suffix.ends_with(char::is_numeric) => {
            Err(format!("numbers are exact and real here\nhelp: drop the suffix `{suffix}`"))
        }
        name => Err(format!("a product is written `{digits} * {name}`")),
    }
}

/// Reads `12.34e-5`. The exponent is bounded before the number is built, so that `1e999999999` costs nothing.
fn decimal(digits: &str) -> Option<BigRational> {
    let (mantissa, exponent) = digits.split_once(['e', 'E']).unwrap_or((digits, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let exponent = exponent.parse::<i64>().ok()?;
    if whole.len() + fraction.len() > 1_000 || exponent.abs() > 1_000 {
        return None;
    }
    let integer: BigInt = format!("{whole}{fraction}").parse().ok()?;
    let shift = exponent - fraction.len() as i64;
    let scale = BigInt::from(10).pow(shift.unsigned_abs() as u32);
    Some(if shift < 0 { BigRational::new(integer, scale) } else { BigRational::from_integer(integer * scale) })
}
