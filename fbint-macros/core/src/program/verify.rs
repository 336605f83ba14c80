//! Programs held against the mathematics that they came from.

use super::functions::{Form, Function};
use super::interpret::{TRIALS, inputs, interpret, rounding, spread, weigh};
use super::oracle::{Oracle, consistent_violation};
use super::scaling::balanced;
use super::{Fault, Input, Program, Programs};
use crate::derivation::Derivation;
use crate::points::{IntegralSizes, Point, Sizes, sample_points};

/// Difference relative to the expected entry up to which rounding explains a disagreement without a look at where it comes from.
const TOLERANCE: f64 = 1e-12;
/// Rounding of this size, relative to the largest entry, leaves a function verified.
const VERIFIED: f64 = 1e-7;
/// Results below this have lost digits as numbers that are not normal.
const LEAST: f64 = 1e-290;
/// What is smaller than this, relative to the largest entry, may have been rounded to nothing on the way.
const NOTHING: f64 = 1e-60;
/// Points at which every term matters.
const BALANCED: usize = 6;

/// Evaluates every program and the derivation's expressions at points in general position, some with numbers of size one, some
/// with numbers at which every term matters; `Err` names the first function with an entry that differs by more than rounding,
/// which is a bug of the compiler. `Ok` names the functions that are defined at none of these points, and so were not compared.
pub fn verify(derivation: &Derivation, programs: &Programs) -> Result<Vec<&'static str>, Fault> {
    let mut unverified: Vec<&'static str> = programs.functions().map(|(function, _)| function.name).collect();
    let sizes: Vec<Sizes> =
        balanced(derivation, BALANCED).into_iter().map(|sizes| with_integrals(derivation, sizes)).collect();
    let scaled = sizes.iter().zip(101..).map(|(sizes, seed)| Point::sized(seed, sizes));
    let points = sample_points().map(|point| (point, true)).chain(scaled.map(|point| (point, false)));
    for (point, is_usual) in points {
        let input = inputs(&point, &programs.prepare);
        let normalisation = interpret(&programs.normalisation, &input, &|_| Vec::new());
        let oracle = Oracle::at(derivation, &point, None);
        for (function, program) in programs.functions() {
            let law = |integrals: &[f64]| match function.law() {
                Some(Form::Normalised) => normalised_law(&normalisation, integrals, |f| weigh(&point, f)),
                Some(Form::Declared) | None => consistent_violation(derivation, &point, integrals),
            };
            let expected = (function.expected)(&oracle);
            let test = Test { derivation, function, program, point: &point, is_usual, expected };
            if test.expected.iter().all(|value| value.is_finite()) && test.agrees(&input, &law)? {
                unverified.retain(|other| *other != function.name);
            }
        }
    }
    Ok(unverified)
}

/// The sizes with gains, targets and variances at which each integral matters, too.
fn with_integrals(derivation: &Derivation, mut sizes: Sizes) -> Sizes {
    let found = {
        let point = Point::sized(101, &sizes);
        let oracle = Oracle::at(derivation, &point, None);
        let field = oracle.vector_field();
        let or_one = |value: f64| if value.is_normal() { value.abs() } else { 1.0 };
        derivation
            .integrals
            .ids()
            .map(|id| {
                let (target, gradient) = (or_one(oracle.integrals[id]), &oracle.gradients[id]);
                let ratios = field.iter().zip(gradient.rows()).map(|(rate, slope)| (rate / slope).abs().ln());
                let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
                let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
                let variance = |(state, slope): (_, &f64)| (point.size(state) * slope).powi(2);
                let noise = or_one(gradient.iter().map(variance).sum());
                IntegralSizes { target, gain: or_one(mean.exp() / target), noise }
            })
            .collect()
    };
    sizes.integrals = found;
    sizes
}

/// One function at one point.
struct Test<'a> {
    derivation: &'a Derivation,
    function: &'static Function,
    program: &'a Program,
    point: &'a Point<'a>,
    /// Whether numbers are of size one: at others, results may leave the range of a double on the way.
    is_usual: bool,
    expected: Vec<f64>,
}

impl Test<'_> {
    /// Whether results agree; `Ok(false)` where rounding leaves too little of them to say so.
    fn agrees(&self, input: &impl Fn(Input) -> f64, law: &impl Fn(&[f64]) -> Vec<f64>) -> Result<bool, Fault> {
        let fault = Err(Fault { function: self.function.name, pass: None });
        let obtained = interpret(self.program, input, law);
        if obtained.len() != self.expected.len() {
            return fault;
        }
        if !self.is_usual && obtained.iter().any(|value| !value.is_finite()) {
            return Ok(false);
        }
        let scale = self.expected.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
        let least = LEAST.max(NOTHING * scale);
        let near = |(x, y): (&f64, &f64)| (x - y).abs() <= least.max(TOLERANCE * y.abs());
        if obtained.iter().zip(&self.expected).all(near) {
            return Ok(true);
        }
        let with_errors =
            |error: &dyn Fn() -> f64| (self.function.expected)(&Oracle::at(self.derivation, self.point, Some(error)));
        let of_program = rounding(self.program, input, law, self.point);
        let of_expected = spread(self.point, &self.expected, TRIALS, with_errors);
        let tolerances: Vec<f64> = of_program.iter().zip(&of_expected).map(|(a, b)| a + b).collect();
        let far = |((x, y), tolerance): ((&f64, &f64), &f64)| {
            !near((x, y)) && ((x - y).is_nan() || (x - y).abs() > *tolerance)
        };
        if obtained.iter().zip(&self.expected).zip(&tolerances).any(far) {
            return fault;
        }
        let little = |((x, y), tolerance): ((&f64, &f64), &f64)| near((x, y)) || *tolerance <= VERIFIED * scale;
        Ok(obtained.iter().zip(&self.expected).zip(&tolerances).all(little))
    }
}

/// `factor` y of F = `scale` (f + `offset`).
fn normalised_law(normalisation: &[f64], forms: &[f64], law: impl Fn(&[f64]) -> Vec<f64>) -> Vec<f64> {
    let rows = normalisation.chunks(3);
    let integrals: Vec<f64> = rows.clone().zip(forms).map(|(row, form)| row[1] * (form + row[2])).collect();
    rows.zip(law(&integrals)).map(|(row, y)| row[0] * y).collect()
}
