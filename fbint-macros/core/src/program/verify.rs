//! Programs held against the mathematics that they came from.
//!
//! The interpreter of programs and the [`Oracle`], which evaluates the derivation without lowering and sharing, are generic over their
//! numbers. Both begin with doubles. Where these differ by more than rounding seems to explain, both are evaluated in 256 bits, and a
//! difference there is a fault. A formula is right or wrong however many digits of its results doubles have, and nearly dependent rates,
//! whose Gram matrix has a condition number of 1e10 in spite of its damping, leave few. In 256 bits the program's constants alone are
//! rounded; how much that changes is found by changing them.

use std::cell::RefCell;
use std::collections::BTreeMap;

use super::derivatives::Derivative;
use super::functions::{Expected, Form, GeneratedFunction, PROJECTION};
use super::interpret::{TRIALS, inputs, interpret, rounding, spread, weigh};
use super::oracle::{Oracle, consistent_targets, consistent_violation};
use super::scaling::balanced;
use super::{Fault, Input, Instruction, Program, Programs};
use crate::derivation::Derivation;
use crate::derivation::table::Id;
use crate::numbers::dual::Dual;
use crate::numbers::number::Numeric;
use crate::numbers::points::{Draw, IntegralSizes, Point, Sizes, Unknown, sample_points};
use crate::numbers::precise::Real;

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
/// Points of each of the two kinds at which derivatives are compared, which takes long in 256 bits; at more where they are not
/// defined there.
const OF_DERIVATIVES: usize = 2;

/// Evaluates every program and the derivation's expressions at points in general position, some with numbers of size one, some
/// with numbers at which every term matters; `Err` names the first function with an entry that differs by more than rounding,
/// which is a bug of the compiler. `Ok` names the functions that are defined at none of these points, and so were not compared.
pub fn verify(derivation: &Derivation, programs: &Programs) -> Result<Vec<&'static str>, Fault> {
    let mut unverified: Vec<&'static str> = programs.functions().map(|(function, _)| function.name).collect();
    let sizes: Vec<Sizes> =
        balanced(derivation, BALANCED).into_iter().map(|sizes| with_integrals(derivation, sizes)).collect();
    let scaled = sizes.iter().zip(101..).map(|(sizes, seed)| Point::sized(seed, sizes));
    let points = sample_points().map(|point| (point, true)).chain(scaled.map(|point| (point, false)));
    let mut remaining = Remaining { usual: OF_DERIVATIVES, balanced: OF_DERIVATIVES };
    for (point, is_usual) in points {
        let place = ModelAtPoint { derivation, programs, point: &point, is_usual };
        let of_functions = place.inputs(&programs.prepare, &programs.prepare_direction, false);
        let has_projections = programs.functions().any(|(function, _)| function.moves_targets());
        let of_projections = place.inputs(&programs.prepare, &programs.prepare_direction, has_projections);
        let input = |input| of_functions(input);
        let normalisation = interpret(&programs.normalisation, &input, &|_| Vec::new());
        let oracle = Oracle::at(derivation, &point, None);
        let slopes = remaining.take(&place, &unverified).then(|| Oracle::at(derivation, &point, None));
        for (function, program) in programs.functions() {
            let law = |integrals: &[f64]| place.law(function, &normalisation, integrals);
            let wanted = match (&function.expected, &slopes) {
                (Expected::Values { in_doubles, .. }, _) => Wanted::Values(in_doubles(&oracle)),
                (Expected::Derivative(derivative, of), Some(slopes)) => {
                    Wanted::Derivatives(place.derivatives(function, *derivative, &of(slopes)))
                }
                (Expected::Derivative(..), None) => continue,
            };
            let test = Test { place, function, program, expected: wanted.in_doubles(), wanted };
            let input = |input| if function.moves_targets() { of_projections(input) } else { of_functions(input) };
            if test.expected.iter().all(|value| value.is_finite()) && test.agrees(&input, &law)? {
                unverified.retain(|other| *other != function.name);
            }
        }
    }
    Ok(unverified)
}

/// At how many points derivatives are still to be compared.
struct Remaining {
    usual: usize,
    balanced: usize,
}

impl Remaining {
    /// Whether derivatives are compared at the next point: where some are not verified, at any.
    fn take(&mut self, place: &ModelAtPoint<'_>, unverified: &[&'static str]) -> bool {
        let derivatives = || place.programs.functions().filter(|(function, _)| function.derivative().is_some());
        let remaining = if place.is_usual { &mut self.usual } else { &mut self.balanced };
        let is_wanted = *remaining > 0 || derivatives().any(|(function, _)| unverified.contains(&function.name));
        *remaining = remaining.saturating_sub(1);
        is_wanted && derivatives().next().is_some()
    }
}

/// The sizes with gains, targets and variances at which each integral matters, too.
fn with_integrals(derivation: &Derivation, mut sizes: Sizes) -> Sizes {
    let found = {
        let point = Point::sized(101, &sizes);
        let oracle: Oracle<'_, f64> = Oracle::at(derivation, &point, None);
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

/// A model at one point.
#[derive(Clone, Copy)]
struct ModelAtPoint<'a> {
    derivation: &'a Derivation,
    programs: &'a Programs,
    point: &'a Point<'a>,
    /// Whether numbers are of size one: at others, results may leave the range of a double on the way.
    is_usual: bool,
}

impl ModelAtPoint<'_> {
    /// The derivative of results, along the direction or with the weights of the point.
    fn derivatives(
        &self,
        function: &GeneratedFunction,
        derivative: Derivative,
        results: &[Dual<Unknown>],
    ) -> Vec<Real> {
        let direction = |unknown| Real::from(self.point.draw(Draw::Direction(unknown)));
        let weight = |row| Real::from(self.point.draw(Draw::Weight(row)));
        let unknowns = function.unknowns(self.derivation);
        derivative.expected(results, &unknowns, direction, weight)
    }

    /// What programs read, where these prepare: in a projection, targets by which the violation is consistent.
    fn inputs<N: Numeric>(&self, prepare: &Program, direction: &Program, moves_targets: bool) -> impl Fn(Input) -> N {
        let input = inputs(self.point, prepare);
        let changes = interpret(direction, &input, &|_: &[N]| Vec::new());
        let targets = if moves_targets { consistent_targets(self.derivation, self.point) } else { Vec::new() };
        move |wanted| match wanted {
            Input::Change(index) => changes[index].clone(),
            Input::Target(integral) => targets.get(integral.place()).map_or_else(|| input(wanted), |t| N::exactly(*t)),
            _ => input(wanted),
        }
    }

    /// The law that a function is given.
    fn law<N: Numeric>(&self, function: &GeneratedFunction, normalisation: &[N], integrals: &[N]) -> Vec<N> {
        match function.law() {
            Some(Form::Normalised) => normalised_law(normalisation, integrals, |f| weigh(self.point, f)),
            Some(Form::Declared) | None => consistent_violation(self.derivation, self.point, integrals),
        }
    }
}

/// One function at one point.
struct Test<'a> {
    place: ModelAtPoint<'a>,
    function: &'static GeneratedFunction,
    program: &'a Program,
    wanted: Wanted,
    /// The same in doubles.
    expected: Vec<f64>,
}

/// What a function should return.
enum Wanted {
    /// Numbers that were computed in doubles.
    Values(Vec<f64>),
    /// Derivatives that were computed in 256 bits, so that they are not rounded.
    Derivatives(Vec<Real>),
}

impl Wanted {
    fn in_doubles(&self) -> Vec<f64> {
        match self {
            Self::Values(values) => values.clone(),
            Self::Derivatives(derivatives) => derivatives.iter().map(Real::to_f64).collect(),
        }
    }
}

/// What a comparison in 256 bits says.
enum Precisely {
    /// As [`Test::compare`] does.
    Compared(Option<bool>),
    /// Not everything is finite.
    Undefined,
}

impl Test<'_> {
    /// Whether results agree; `Ok(false)` where rounding leaves too little of them to say so.
    fn agrees(&self, input: &impl Fn(Input) -> f64, law: &impl Fn(&[f64]) -> Vec<f64>) -> Result<bool, Fault> {
        let Self { place, function, program, expected, .. } = self;
        let ModelAtPoint { derivation, point, is_usual, .. } = place;
        let fault = Fault { function: function.name, pass: None };
        let obtained = interpret(program, input, law);
        if obtained.len() != expected.len() {
            return Err(fault);
        }
        if !is_usual && obtained.iter().any(|value| !value.is_finite()) {
            return Ok(false);
        }
        let differences: Vec<f64> = obtained.iter().zip(expected).map(|(x, y)| (x - y).abs()).collect();
        if self.compare(&differences, &vec![0.0; expected.len()]) == Some(true) {
            return Ok(true);
        }
        let of_program = rounding(program, input, law, point);
        let of_expected = match &function.expected {
            Expected::Values { in_doubles, .. } => {
                spread(point, expected, TRIALS, |error| in_doubles(&Oracle::at(derivation, point, Some(error))))
            }
            Expected::Derivative(..) => vec![0.0; expected.len()],
        };
        let tolerances: Vec<f64> = of_program.iter().zip(&of_expected).map(|(a, b)| a + b).collect();
        let in_doubles = self.compare(&differences, &tolerances);
        if in_doubles == Some(true) {
            return Ok(true);
        }
        // What rounding hides may be wrong. A projection is damped, so that 256 bits decide; in what divides by a determinant that nearly
        // vanishes, the rounding of constants would be taken for a fault.
        if in_doubles == Some(false) && function.name != PROJECTION.name {
            return Ok(false);
        }
        match self.compare_precisely() {
            Precisely::Compared(agree) => agree.ok_or(fault),
            Precisely::Undefined => in_doubles.ok_or(fault),
        }
    }

    /// Whether differences within these tolerances are small enough to say that results agree; `None` where one is larger.
    fn compare(&self, differences: &[f64], tolerances: &[f64]) -> Option<bool> {
        let scale = self.expected.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
        let least = LEAST.max(NOTHING * scale);
        let mut agree = true;
        for ((difference, tolerance), expected) in differences.iter().zip(tolerances).zip(&self.expected) {
            if *difference <= least.max(TOLERANCE * expected.abs()) {
                continue;
            }
            if difference.is_nan() || difference > tolerance {
                return None;
            }
            agree &= *tolerance <= VERIFIED * scale;
        }
        Some(agree)
    }

    /// The same where all is computed in 256 bits, so that nothing but the program's constants is rounded: where systems are
    /// nearly singular, less may be left of doubles than estimates of their rounding say.
    fn compare_precisely(&self) -> Precisely {
        let Self { place: ModelAtPoint { derivation, point, .. }, function, wanted, .. } = self;
        let expected = match (&function.expected, wanted) {
            (Expected::Values { precisely, .. }, _) => precisely(&Oracle::at(derivation, point, None)),
            (Expected::Derivative(..), Wanted::Derivatives(derivatives)) => derivatives.clone(),
            (Expected::Derivative(..), Wanted::Values(_)) => return Precisely::Undefined,
        };
        let obtained = self.results_precisely(|constant| constant);
        let differences: Vec<Real> = obtained.iter().zip(&expected).map(|(x, y)| x - y).collect();
        if differences.iter().any(|difference| !(difference.to_f64() + difference.error()).is_finite()) {
            return Precisely::Undefined;
        }
        let doubles = |results: &[Real]| -> Vec<f64> { results.iter().map(Real::to_f64).collect() };
        let of_constants = spread(point, &doubles(&obtained), TRIALS, |error| {
            // A number has the same error wherever it stands.
            let errors = RefCell::new(BTreeMap::new());
            let rounded = |constant: f64| match is_short(constant) {
                true => constant,
                false => constant * (1.0 + *errors.borrow_mut().entry(constant.to_bits()).or_insert_with(error)),
            };
            doubles(&self.results_precisely(rounded))
        });
        let tolerances: Vec<f64> =
            differences.iter().zip(of_constants).map(|(difference, spread)| difference.error() + spread).collect();
        let sizes: Vec<f64> = differences.iter().map(|difference| difference.to_f64().abs()).collect();
        Precisely::Compared(self.compare(&sizes, &tolerances))
    }

    /// The results in 256 bits where every constant is replaced.
    fn results_precisely(&self, constant: impl Fn(f64) -> f64) -> Vec<Real> {
        let replaced = |program: &Program| with_constants(program, &constant);
        let ModelAtPoint { programs, .. } = self.place;
        let prepare = replaced(&programs.prepare);
        let direction = replaced(&programs.prepare_direction);
        let input = self.place.inputs(&prepare, &direction, self.function.moves_targets());
        let normalisation = interpret(&replaced(&programs.normalisation), &input, &|_| Vec::new());
        let law = |integrals: &[Real]| self.place.law(self.function, &normalisation, integrals);
        interpret(&replaced(self.program), &input, &law)
    }
}

/// Whether a number is one that was written down as it is, such as 2 or 0.25: the double of another, such as 0.1, has more digits.
fn is_short(constant: f64) -> bool {
    f64::from(constant as f32) == constant
}

/// The program with other constants.
fn with_constants(program: &Program, constant: impl Fn(f64) -> f64) -> Program {
    let replaced = |instruction: &Instruction| match instruction {
        Instruction::Constant(bits) => Instruction::constant(constant(f64::from_bits(*bits))),
        other => other.clone(),
    };
    Program { instructions: program.instructions.iter().map(replaced).collect(), outputs: program.outputs.clone() }
}

/// `factor` y of F = `scale` (f + `offset`).
fn normalised_law<N: Numeric>(normalisation: &[N], forms: &[N], law: impl Fn(&[N]) -> Vec<N>) -> Vec<N> {
    let rows = normalisation.chunks(3);
    let integrals: Vec<N> = rows.clone().zip(forms).map(|(row, form)| row[1].times(&form.plus(&row[2]))).collect();
    rows.zip(law(&integrals)).map(|(row, y)| row[0].times(&y)).collect()
}
