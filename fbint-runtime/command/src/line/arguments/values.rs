//! The values of options: numbers in their ranges, gains, assignments and distributions.
//!
//! A parser returns the reason alone: clap adds the option and the value as it was given.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use fbint_runtime::Method;
use serde::{Deserialize, Serialize};

use crate::line::condition::Condition;

/// Squares of larger gains overflow in products.
const GREATEST_GAIN: f64 = 1e150;
const MOST_MEMBERS: u32 = 10_000_000;
const MOST_THREADS: u16 = 1024;

/// The value of `--gains`. Whether there is a number for each integral is known only with the model.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) enum GainsArgument {
    None,
    Uniform(f64),
    Each(Vec<f64>),
    Relaxation(f64),
    BaeChang,
}

/// `NAME=VALUE`, or the values of a vector or a matrix, row by row: `NAME=VALUE,VALUE`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Assignment {
    pub(crate) name: String,
    pub(crate) values: Vec<f64>,
}

/// `NAME=DISTRIBUTION`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Variation {
    pub(crate) name: String,
    pub(crate) distribution: Distribution,
}

/// The distribution of a number over the members.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Distribution {
    Normal {
        mean: f64,
        deviation: f64,
    },
    Uniform {
        from: f64,
        to: f64,
    },
    /// Evenly from the first member to the last.
    Linspace {
        from: f64,
        to: f64,
    },
}

/// SciPy's name of Dormand and Prince's method of order 5(4).
const SCIPY: [&str; 2] = ["rk45", "dormand-prince"];

/// The names of the methods.
pub(crate) fn methods() -> impl TypedValueParser<Value = String> {
    let value = |method: Method| {
        let value = PossibleValue::new(method.key()).help(method.summary());
        if method.key() == SCIPY[1] { value.alias(SCIPY[0]) } else { value }
    };
    let parser: PossibleValuesParser = Method::all(f64::NAN, (f64::NAN, None)).map(value).into();
    parser.try_map(|text| method(&text))
}

/// The name of a method, which may be in capitals, or SciPy's.
pub(crate) fn method(text: &str) -> Result<String, String> {
    let name = text.to_lowercase();
    let name = if name == SCIPY[0] { SCIPY[1].to_owned() } else { name };
    let is_known = Method::all(f64::NAN, (f64::NAN, None)).map(Method::key).contains(&&*name);
    if is_known { Ok(name) } else { Err("there is no such method".to_owned()) }
}

pub(crate) fn gains(text: &str) -> Result<GainsArgument, String> {
    match text {
        "none" => Ok(GainsArgument::None),
        "bae-chang" => Ok(GainsArgument::BaeChang),
        _ if text.starts_with("relaxation:") => positive(&text["relaxation:".len()..]).map(GainsArgument::Relaxation),
        _ if text.contains(',') => text.split(',').map(gain).collect::<Result<_, _>>().map(GainsArgument::Each),
        _ if text.trim().parse::<f64>().is_err() => {
            Err(format!("`{text}` is not a number, and not `none`, `relaxation:TAU` or `bae-chang`"))
        }
        _ => gain(text).map(GainsArgument::Uniform),
    }
}

fn gain(text: &str) -> Result<f64, String> {
    match positive(text)? {
        gain if gain <= GREATEST_GAIN => Ok(gain),
        _ => Err(format!("`{text}` is too large: a gain is at most {GREATEST_GAIN:e}")),
    }
}

pub(crate) fn condition(text: &str) -> Result<Condition, String> {
    Condition::try_from(text.to_owned())
}

pub(crate) fn assignment(text: &str) -> Result<Assignment, String> {
    let (name, values) = text.split_once('=').ok_or("expected NAME=VALUE, as in `m=2`")?;
    let values = values.split(',').map(number).collect::<Result<_, _>>()?;
    Ok(Assignment { name: name.trim().to_owned(), values })
}

/// The text of an assignment, for a request, which reads it again.
#[cfg(feature = "text")]
pub(crate) fn text_of_assignment(text: &str) -> Result<String, String> {
    assignment(text).map(|_| text.to_owned())
}

/// `NAME=FILE`.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct SectionFile {
    pub(crate) name: String,
    pub(crate) file: std::path::PathBuf,
}

/// A section, and the file for it.
pub(crate) fn section(text: &str) -> Result<SectionFile, String> {
    match text.split_once('=') {
        Some((name, file)) if !name.trim().is_empty() && !file.trim().is_empty() => {
            Ok(SectionFile { name: name.trim().to_owned(), file: file.trim().into() })
        }
        _ => Err("expected NAME=FILE, as in top=top.csv or top=top.svg".to_owned()),
    }
}

/// An input, and the law or the table that gives it.
pub(crate) fn input(text: &str) -> Result<(String, String), String> {
    let expected = "expected NAME=LAW or NAME=FILE.csv, as in thrust='2*sin(3*t)'";
    let (name, source) = text.split_once('=').ok_or(expected)?;
    let (name, source) = (name.trim(), source.trim());
    if name.is_empty() || source.is_empty() {
        Err(expected.to_owned())
    } else {
        Ok((name.to_owned(), source.to_owned()))
    }
}

pub(crate) fn variation(text: &str) -> Result<Variation, String> {
    let expected = "expected NAME=normal:MEAN,DEVIATION, NAME=uniform:FROM,TO or NAME=linspace:FROM,TO";
    let (name, distribution) = text.split_once('=').ok_or(expected)?;
    let (kind, numbers) = distribution.split_once(':').ok_or(expected)?;
    let (first, second) = numbers.split_once(',').ok_or(expected)?;
    let [first, second] = [number(first)?, number(second)?];
    if !first.is_finite() || !second.is_finite() {
        return Err(format!("the numbers of {kind} must be finite"));
    }
    let distribution = match kind.trim() {
        "normal" if second < 0.0 => {
            return Err(format!("the standard deviation is {second:?}: it must not be negative"));
        }
        "normal" => Distribution::Normal { mean: first, deviation: second },
        "uniform" => Distribution::Uniform { from: first, to: second },
        "linspace" => Distribution::Linspace { from: first, to: second },
        other => return Err(format!("unknown distribution `{other}`, known: normal, uniform, linspace")),
    };
    Ok(Variation { name: name.trim().to_owned(), distribution })
}

/// The time between two samples, or 0.
pub(crate) fn interval(text: &str) -> Result<f64, String> {
    if number(text)? == 0.0 { Ok(0.0) } else { positive(text) }
}

pub(crate) fn steps(text: &str) -> Result<u64, String> {
    let steps = text.trim().parse().ok().filter(|steps| *steps > 0);
    steps.ok_or_else(|| "it must be a whole number from 1 on".to_owned())
}

/// A number that is positive and finite.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    let is_positive = number > 0.0 && number.is_finite();
    if is_positive { Ok(number) } else { Err(format!("`{text}` is not positive and finite")) }
}

pub(crate) fn finite(text: &str) -> Result<f64, String> {
    let number = number(text)?;
    if number.is_finite() { Ok(number) } else { Err(format!("`{text}` is not finite")) }
}

pub(crate) fn members(text: &str) -> Result<u32, String> {
    let members = text.trim().parse().ok().filter(|members| (1..=MOST_MEMBERS).contains(members));
    members.ok_or_else(|| format!("it must be a whole number from 1 to {MOST_MEMBERS}"))
}

pub(crate) fn threads(text: &str) -> Result<u16, String> {
    let threads = text.trim().parse().ok().filter(|threads| (1..=MOST_THREADS).contains(threads));
    threads.ok_or_else(|| format!("it must be a whole number from 1 to {MOST_THREADS}"))
}

pub(crate) fn seed(text: &str) -> Result<u64, String> {
    text.trim().parse().map_err(|_| format!("it must be a whole number from 0 to {}", u64::MAX))
}

pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = number(text)?;
    if seconds >= 0.0 && seconds.is_finite() { Ok(seconds) } else { Err("it must be 0 or more, and finite".to_owned()) }
}

fn number(text: &str) -> Result<f64, String> {
    text.trim().parse().map_err(|_| format!("`{text}` is not a number"))
}
