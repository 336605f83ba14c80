//! Programs held against the mathematics that they came from.

use super::functions::{FUNCTIONS, Form, Function};
use super::interpret::{inputs, interpret, rounding, spread, weigh};
use super::oracle::{Oracle, consistent_violation};
use super::{Fault, Input, Program, Programs};
use crate::derivation::Derivation;
use crate::points::{Point, sample_points};

/// Relative difference up to which rounding explains a disagreement.
const TOLERANCE: f64 = 1e-9;

/// Evaluates every program and the derivation's expressions at points in general position; `Err` names the first function
/// whose results differ by more than rounding, which is a bug of the compiler. `Ok` names the functions that are defined at
/// none of these points, and so were not compared.
pub fn verify(derivation: &Derivation, programs: &Programs) -> Result<Vec<&'static str>, Fault> {
    let mut unverified: Vec<&'static str> = FUNCTIONS.iter().map(|function| function.name).collect();
    for point in sample_points() {
        let input = inputs(&point, &programs.prepare);
        let normalisation = interpret(&programs.normalisation, &input, &|_| Vec::new());
        let oracle = Oracle::at(derivation, &point, &|| 0.0);
        for (function, program) in programs.functions() {
            let law = |integrals: &[f64]| match function.law() {
                Some(Form::Normalised) => normalised_law(&normalisation, integrals, |f| weigh(&point, f)),
                Some(Form::Declared) | None => consistent_violation(derivation, &point, integrals),
            };
            let expected = (function.expected)(&oracle);
            if expected.iter().all(|value| value.abs() < 1e6) {
                let test = Test { derivation, function, program, point: &point, expected };
                if test.agrees(&input, &law)? {
                    unverified.retain(|other| *other != function.name);
                }
            }
        }
    }
    Ok(unverified)
}

/// One function at one point.
struct Test<'a> {
    derivation: &'a Derivation,
    function: &'static Function,
    program: &'a Program,
    point: &'a Point<'a>,
    expected: Vec<f64>,
}

impl Test<'_> {
    /// Whether results agree; `Ok(false)` where they differ and rounding may be the reason.
    fn agrees(&self, input: &impl Fn(Input) -> f64, law: &impl Fn(&[f64]) -> Vec<f64>) -> Result<bool, Fault> {
        let fault = Err(Fault { function: self.function.name, pass: None });
        let obtained = interpret(self.program, input, law);
        if obtained.len() != self.expected.len() {
            return fault;
        }
        let agree = |tolerance: f64| obtained.iter().zip(&self.expected).all(|(x, y)| (x - y).abs() <= tolerance);
        let scale = self.expected.iter().fold(1.0, |scale: f64, value| scale.max(value.abs()));
        if agree(TOLERANCE * scale) {
            return Ok(true);
        }
        let with_errors =
            |error: &dyn Fn() -> f64| (self.function.expected)(&Oracle::at(self.derivation, self.point, error));
        let of_expected = spread(self.point, &self.expected, with_errors);
        if agree(rounding(self.program, input, law, self.point) + of_expected) { Ok(false) } else { fault }
    }
}

/// `factor` y of F = `scale` (f + `offset`).
fn normalised_law(normalisation: &[f64], forms: &[f64], law: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let rows = normalisation.chunks(3);
    let integrals: Vec<f64> = rows.clone().zip(forms).map(|(row, form)| row[1] * (form + row[2])).collect();
    rows.zip(law(&integrals)).map(|(row, y)| row[0] * y).collect()
}
