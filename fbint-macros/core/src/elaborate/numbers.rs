//! Literals as exact numbers: `0.1` is one tenth.

use num_bigint::BigInt;
use num_rational::BigRational;
use syn::Lit;

/// The number that a literal stands for, or the reason why it is not a number.
pub(super) fn exact(literal: &Lit) -> Result<BigRational, String> {
    let (digits, suffix) = match literal {
        Lit::Int(integer) => (integer.base10_digits(), integer.suffix()),
        Lit::Float(float) => (float.base10_digits(), float.suffix()),
        _ => return Err("only numbers are literals of an expression".to_owned()),
    };
    if !matches!(suffix, "" | "f64") {
        return Err(format!("numbers are exact and real here: drop the suffix `{suffix}`"));
    }
    decimal(digits).ok_or_else(|| "this number is out of reach of double precision".to_owned())
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
