//! Programs held against the mathematics that they came from.
//!
//! The interpreter of programs and the [`Oracle`], which evaluates the derivation without lowering and sharing, are generic over their
//! numbers. Both begin with doubles. Where these differ by more than a few roundings, both are evaluated in 256 bits, and a difference
//! there is a fault. A formula is right or wrong however many digits of its results doubles have, and nearly dependent rates, whose Gram
//! matrix has a condition number of 1e10 in spite of its damping, leave few. In 256 bits the program's constants alone are rounded, among
//! them what follows from numbers alone while systems are solved. Where results differ, bounds say whether that explains it: bounds from
//! constants that are known to doubles, and then from operations that all round as doubles do.

use std::cell::OnceCell;
use std::rc::Rc;

use super::scaling::balanced;
use crate::derivation::Derivation;
use crate::derivation::table::{Id, Table};
use crate::expression::{Expression, Symbol};
use crate::numbers::dual::Dual;
use crate::numbers::number::Numeric;
use crate::numbers::points::{Draw, IntegralSizes, Point, Sizes, Unknown, sample_points};
use crate::numbers::precise::{Real, bounded_like_doubles};
use crate::program::assemble::Programs;
use crate::program::build::projection::DAMPING;
use crate::program::code::{Fault, Input, Program, inputs, interpret};
use crate::program::functions::{Expected, Form, GeneratedFunction};
use crate::program::oracle::{Oracle, Slopes};

/// Difference relative to the expected entry up to which rounding explains a disagreement without a look at where it comes from.
const TOLERANCE: f64 = 1e-12;
/// A bound of this size, relative to the largest entry, leaves a function verified.
const VERIFIED: f64 = 1e-7;
/// Results below this have lost digits as numbers that are not normal.
const LEAST: f64 = 1e-290;
/// Entries below this, relative to the largest one, may be rounding.
const NOTHING: f64 = 1e-60;
/// The error of constants of programs, in which several roundings may have added up, and of the numbers that they follow from.
const OF_CONSTANTS: f64 = 1e-14;
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
    let usual = sample_points().enumerate().map(|(turn, point)| (turn, point, true));
    for (turn, point, is_usual) in usual.chain(scaled.enumerate().map(|(turn, point)| (turn, point, false))) {
        let place = ModelAtPoint::new(derivation, programs, &point, is_usual);
        let input = place.inputs(&|constant| constant);
        for (function, program) in programs.functions() {
            let is_due =
                function.derivative().is_none() || turn < OF_DERIVATIVES || unverified.contains(&function.name);
            if is_due && place.agrees(function, program, &input)? {
                unverified.retain(|other| *other != function.name);
            }
        }
    }
    Ok(unverified)
}

/// The sizes with gains, targets and variances at which each integral matters, too.
fn with_integrals(derivation: &Derivation, sizes: Sizes) -> Sizes {
    let point = Point::sized(101, &sizes);
    let oracle: Oracle<'_, f64> = Oracle::at(derivation, &point, 0.0, &Slopes::new(derivation, &point));
    let field = oracle.vector_field();
    let or_one = |value: f64| if value.is_normal() { value.abs() } else { 1.0 };
    let of_integral = |(id, gradient): (_, &Table<Symbol, f64>)| {
        let target = or_one(oracle.integrals()[id]);
        let ratios = field.iter().zip(gradient.rows()).map(|(rate, slope)| (rate / slope).abs().ln());
        let ratios: Vec<f64> = ratios.filter(|ratio| ratio.is_finite()).collect();
        let mean = ratios.iter().sum::<f64>() / ratios.len().max(1) as f64;
        let variance = |(state, slope): (_, &f64)| (point.size(state) * slope).powi(2);
        let noise = or_one(gradient.iter().map(variance).sum());
        IntegralSizes { target, gain: or_one(mean.exp() / target), noise }
    };
    let integrals = oracle.gradients().iter().map(of_integral).collect();
    drop(oracle);
    Sizes { integrals, ..sizes }
}

/// A model at one point.
struct ModelAtPoint<'a> {
    programs: &'a Programs,
    point: &'a Point<'a>,
    /// `true` if numbers are of size one: at others, results may leave the range of a double on the way.
    is_usual: bool,
    oracle: Oracle<'a, f64>,
    exact: PreciseOracle<'a>,
    /// Where what constants follow from is known to doubles.
    rounded: PreciseOracle<'a>,
    /// `true` if some numbers are not rational, once that was looked for.
    has_irrational_numbers: OnceCell<bool>,
}

impl<'a> ModelAtPoint<'a> {
    fn new(derivation: &'a Derivation, programs: &'a Programs, point: &'a Point<'a>, is_usual: bool) -> Self {
        let slopes = Slopes::new(derivation, point);
        let oracle = Oracle::at(derivation, point, 0.0, &slopes);
        let precise = |precision| PreciseOracle::new(derivation, point, precision, &slopes);
        let (exact, rounded) = (precise(0.0), precise(OF_CONSTANTS));
        Self { programs, point, is_usual, oracle, exact, rounded, has_irrational_numbers: OnceCell::new() }
    }

    /// Whether results agree; `Ok(false)` where rounding or the range of numbers leaves too little of them to say so.
    fn agrees(
        &self,
        function: &GeneratedFunction,
        program: &Program,
        input: &impl Fn(Option<Form>, Input) -> f64,
    ) -> Result<bool, Fault> {
        let fault = Fault { function: function.name };
        let (Expected::Values { in_doubles, .. } | Expected::Derivative { in_doubles, .. }) = &function.expected;
        let mut expected = in_doubles(&self.oracle);
        // What is not defined in doubles, as where a gradient vanishes, needs no derivative.
        if is_finite(&expected) && function.derivative().is_some() {
            expected = self.exact.expected(function).iter().map(Real::to_f64).collect();
        }
        if !is_finite(&expected) {
            return Ok(false);
        }
        let obtained = interpret(program, &|wanted| input(function.law(), wanted), &|constant| constant);
        if obtained.len() != expected.len() {
            return Err(fault);
        }
        let is_obtained = is_finite(&obtained);
        if !self.is_usual && !is_obtained {
            return Ok(false);
        }
        let in_doubles: Vec<(f64, f64)> = obtained.iter().zip(&expected).map(|(x, y)| ((x - y).abs(), 0.0)).collect();
        if compare(&expected, &in_doubles) == Some(true) {
            return Ok(true);
        }
        // What rounding hides may be wrong.
        let exact = self.differences(function, program, &self.exact, Real::from);
        if let Some(agree) = compare(&expected, &exact) {
            return Ok(agree);
        }
        let is_defined = |differences: &[(f64, f64)]| differences.iter().all(|(size, _)| size.is_finite());
        let explained = |differences: &[(f64, f64)]| match compare(&expected, differences) {
            // Rounding leaves nothing, or a number is out of range.
            None if !is_defined(differences) && (is_obtained || is_defined(&exact)) => Some(false),
            agree => agree,
        };
        let like_doubles = || compare(&expected, &self.differences_like_doubles(function, program));
        explained(&self.differences(function, program, &self.rounded, |number| self.constant(number)))
            // These bounds are wide where a matrix is nearly singular, and hide what is wrong there: they have to leave the results.
            .or_else(|| like_doubles().filter(|leaves_results| *leaves_results))
            .ok_or(fault)
    }

    /// The distance of each result from the right one where all is computed in 256 bits, and the distance that rounding explains.
    fn differences(
        &self,
        function: &GeneratedFunction,
        program: &Program,
        oracle: &PreciseOracle,
        constant: impl Fn(f64) -> Real,
    ) -> Vec<(f64, f64)> {
        let input = self.inputs(&constant);
        let obtained = interpret(program, &|wanted| input(function.law(), wanted), &constant);
        let differences = obtained.iter().zip(oracle.expected(function)).map(|(x, y)| x - &y);
        differences.map(|difference| (difference.to_f64().abs(), difference.error())).collect()
    }

    /// The differences with bounds that grow as doubles round: numbers that look exact may be rounded, too, as where 1 + 1e-17 is 1.
    fn differences_like_doubles(&self, function: &GeneratedFunction, program: &Program) -> Vec<(f64, f64)> {
        let derivation = self.oracle.derivation;
        bounded_like_doubles(|| {
            let slopes = Slopes::new(derivation, self.point);
            let oracle = PreciseOracle::new(derivation, self.point, OF_CONSTANTS, &slopes);
            self.differences(function, program, &oracle, |number| self.constant(number))
        })
    }

    /// A constant of a program. Where all numbers are rational, one that is short is exact, and so is the one that a projection is damped by.
    fn constant(&self, number: f64) -> Real {
        let looks_exact = is_short(number) || number == 1.0 + DAMPING;
        let are_rational =
            || !*self.has_irrational_numbers.get_or_init(|| has_irrational_numbers(self.oracle.derivation));
        Real::from(number).known_to(if looks_exact && are_rational() { 0.0 } else { OF_CONSTANTS })
    }

    /// The inputs of programs that hand the integrals to a law in this form, if to any. With F = `scale` (f + `offset`) and `factor` times
    /// y = k (F - t), the law in the normalised form has the gain `factor` k `scale` and the target t / `scale` - `offset`. A projection
    /// takes its argument as a violation.
    fn inputs<N: Numeric>(&self, constant: &impl Fn(f64) -> N) -> impl Fn(Option<Form>, Input) -> N {
        let Programs { prepare, prepare_direction, normalisation, .. } = self.programs;
        let drawn = inputs(self.point, prepare, constant);
        let changes = interpret(prepare_direction, &drawn, constant);
        let normalisation = interpret(normalisation, &drawn, constant);
        move |form, wanted| match (wanted, form) {
            (Input::Change(index), _) => changes[index].clone(),
            (Input::Gain(_), Some(Form::Declared)) => N::exactly(1.0),
            (Input::Gain(id), Some(Form::Normalised)) => {
                let [factor, scale, _] = &normalisation[3 * id.place()..][..3] else { return N::undefined() };
                factor.times(&drawn(wanted)).times(scale)
            }
            (Input::Target(id), Some(Form::Normalised)) => {
                let [_, scale, offset] = &normalisation[3 * id.place()..][..3] else { return N::undefined() };
                N::exactly(self.oracle.targets[id]).over(scale).minus(offset)
            }
            (Input::Target(id), _) => N::exactly(self.oracle.targets[id]),
            _ => drawn(wanted),
        }
    }
}

/// Returns `true` if a derivation has numbers that are not rational, which may be behind constants that look exact, as in 1 + 1e-24 pi.
fn has_irrational_numbers(derivation: &Derivation) -> bool {
    let is_number = |part: &Expression| matches!(part, Expression::Number(_));
    derivation.expressions().flat_map(Expression::nodes).any(|part| match part {
        Expression::Pi => true,
        Expression::Power(..) | Expression::Call(..) => part.children().all(is_number),
        _ => false,
    })
}

/// Returns `true` if a number has the few digits of one that was written down, such as 2 or 0.25: the double of another, such as 0.1, has
/// more.
fn is_short(number: f64) -> bool {
    f64::from(number as f32) == number
}

fn is_finite(values: &[f64]) -> bool {
    values.iter().all(|value| value.is_finite())
}

/// Whether differences, each with what rounding explains of it, are small enough to say that results agree; `None` where one is larger.
fn compare(expected: &[f64], differences: &[(f64, f64)]) -> Option<bool> {
    let scale = expected.iter().fold(0.0, |scale: f64, value| scale.max(value.abs()));
    let least = LEAST.max(NOTHING * scale);
    let mut agree = true;
    for (&(difference, tolerance), expected) in differences.iter().zip(expected) {
        if difference <= least.max(TOLERANCE * expected.abs()) {
            continue;
        }
        if difference.is_nan() || difference > tolerance {
            return None;
        }
        agree &= tolerance <= VERIFIED * scale;
    }
    Some(agree)
}

/// The expected results of functions at a point, in 256 bits.
struct PreciseOracle<'a> {
    derivation: &'a Derivation,
    point: &'a Point<'a>,
    /// The error of constants, and of the numbers that they follow from.
    precision: f64,
    values: OnceCell<Oracle<'a, Real>>,
    /// With derivatives by all unknowns.
    differentiated: OnceCell<Oracle<'a, Dual<Unknown>>>,
    slopes: Rc<Slopes<'a>>,
}

impl<'a> PreciseOracle<'a> {
    fn new(derivation: &'a Derivation, point: &'a Point<'a>, precision: f64, slopes: &Rc<Slopes<'a>>) -> Self {
        let (values, differentiated) = (OnceCell::new(), OnceCell::new());
        Self { derivation, point, precision, values, differentiated, slopes: slopes.clone() }
    }

    fn expected(&self, function: &GeneratedFunction) -> Vec<Real> {
        let Self { derivation, point, precision, ref slopes, .. } = *self;
        match &function.expected {
            Expected::Values { precisely, .. } => {
                precisely(self.values.get_or_init(|| Oracle::at(derivation, point, precision, slopes)))
            }
            Expected::Derivative { derivative, precisely, .. } => {
                let at_point = || Oracle::at(derivation, point, precision, slopes);
                let results = precisely(self.differentiated.get_or_init(at_point));
                let direction = |unknown| Real::from(point.draw(Draw::Direction(unknown)));
                let weight = |row| Real::from(point.draw(Draw::Weight(row)));
                derivative.expected(&results, &function.unknowns(derivation), direction, weight)
            }
        }
    }
}
