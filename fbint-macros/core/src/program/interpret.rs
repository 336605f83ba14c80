//! Programs evaluated without compiling them, at points in general position.

use std::cell::Cell;
use std::collections::BTreeMap;

use super::{Input, Instruction, Program, Sign, Value};
use crate::derivation::IntegralId;
use crate::derivation::table::Id;
use crate::numbers::number::Numeric;
use crate::numbers::points::{Draw, Point};
use crate::work::{EVALUATION, spend_each};

/// Relative errors that are put into every operation to learn what rounding does, how often that is tried, and by how much more
/// rounding may have changed a result.
const ERROR: f64 = 1e-15;
pub(super) const TRIALS: usize = 4;
const MOST_ROUNDING: f64 = 100.0;

/// The results of `program`, where `weigh` is the feedback law.
pub(super) fn interpret<N: Numeric>(
    program: &Program,
    input: &impl Fn(Input) -> N,
    weigh: &impl Fn(&[N]) -> Vec<N>,
) -> Vec<N> {
    interpret_rounded(program, input, weigh, &|value| value)
}

/// The results of `program`, where `round` changes the value of every instruction.
fn interpret_rounded<N: Numeric>(
    program: &Program,
    input: &impl Fn(Input) -> N,
    weigh: &impl Fn(&[N]) -> Vec<N>,
    round: &impl Fn(N) -> N,
) -> Vec<N> {
    spend_each(program.instructions.len(), EVALUATION);
    let mut values = vec![N::undefined(); program.instructions.len()];
    // What the law returned, which is not one number.
    let mut weighed: BTreeMap<Value, Vec<N>> = BTreeMap::new();
    for (index, instruction) in program.instructions.iter().enumerate() {
        match instruction {
            Instruction::Weigh(integrals) => {
                let integrals: Vec<N> = integrals.iter().map(|value| values[value.index()].clone()).collect();
                weighed.insert(Value(index as u32), weigh(&integrals));
            }
            Instruction::Weighed(law, integral) => {
                let y = weighed.get(law).and_then(|y| y.get(integral.place()));
                values[index] = y.cloned().unwrap_or(N::undefined());
            }
            Instruction::Input(symbol) => values[index] = input(*symbol),
            other => values[index] = round(apply(other, &|value| &values[value.index()])),
        }
    }
    program.outputs.iter().map(|value| values[value.index()].clone()).collect()
}

/// How far rounding may have taken each result of a program at a point from the exact one.
pub(super) fn rounding_at(point: &Point, preparation: &Program, program: &Program) -> Vec<f64> {
    rounding(program, &inputs(point, preparation), &|integrals| weigh(point, integrals), point)
}

/// How far rounding may have taken each result of a program from the exact one. Systems that are nearly singular
/// multiply it by their condition, which is not a fault of the program.
pub(super) fn rounding(
    program: &Program,
    input: &impl Fn(Input) -> f64,
    weigh: &impl Fn(&[f64]) -> Vec<f64>,
    point: &Point,
) -> Vec<f64> {
    let results = interpret(program, input, weigh);
    spread(point, &results, TRIALS, |error| interpret_rounded(program, input, weigh, &|value| value * (1.0 + error())))
}

/// How far rounding may have taken each result, from how they change when relative errors are put into what they are made of.
pub(super) fn spread(
    point: &Point,
    results: &[f64],
    trials: usize,
    with_errors: impl Fn(&dyn Fn() -> f64) -> Vec<f64>,
) -> Vec<f64> {
    let mut most = vec![0.0; results.len()];
    for trial in 1..=trials {
        let drawn = Cell::new(0);
        let error = || ERROR * point.draw(Draw::Error(trial, drawn.replace(drawn.get() + 1)));
        for ((most, x), y) in most.iter_mut().zip(results).zip(with_errors(&error)) {
            let change = MOST_ROUNDING * (x - y).abs();
            *most = if change.is_finite() { change.max(*most) } else { *most };
        }
    }
    most
}

fn apply<'v, N: Numeric + 'v>(instruction: &Instruction, of: &impl Fn(Value) -> &'v N) -> N {
    match *instruction {
        Instruction::Constant(bits) => N::exactly(f64::from_bits(bits)),
        Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => N::undefined(),
        Instruction::Add(a, b) => of(a).plus(of(b)),
        Instruction::Sub(a, b) => of(a).minus(of(b)),
        Instruction::Mul(a, b) => of(a).times(of(b)),
        Instruction::Div(a, b) => of(a).over(of(b)),
        Instruction::Neg(a) => of(a).negated(),
        Instruction::Recip(a) => N::exactly(1.0).over(of(a)),
        Instruction::Sqrt(a) => of(a).root(),
        Instruction::MulAdd([product, sum], a, b, c) => {
            let term = of(a).times(of(b));
            let term = if product == Sign::Minus { term.negated() } else { term };
            if sum == Sign::Minus { term.minus(of(c)) } else { term.plus(of(c)) }
        }
        Instruction::Unary(function, a) => N::call(function, &[of(a).clone()]).unwrap_or_else(N::undefined),
        Instruction::Binary(function, a, b) => {
            N::call(function, &[of(a).clone(), of(b).clone()]).unwrap_or_else(N::undefined)
        }
    }
}

/// The results of a program at a point in general position, the law being any; `None` where one is not finite.
pub(super) fn results_at(point: &Point, preparation: &Program, program: &Program) -> Option<Vec<f64>> {
    let results = interpret(program, &inputs(point, preparation), &|integrals: &[f64]| weigh(point, integrals));
    results.iter().all(|result| result.is_finite()).then_some(results)
}

/// What programs read at a point.
pub(super) fn inputs<N: Numeric>(point: &Point, preparation: &Program) -> impl Fn(Input) -> N {
    let drawn = |input: Input| match input {
        Input::State(symbol) | Input::Parameter(symbol) | Input::Driving(symbol) => Some(Draw::Value(symbol)),
        Input::Variance(column) => Some(Draw::Variance(column)),
        Input::Noise(row) => Some(Draw::Noise(row)),
        Input::Direction(unknown) => Some(Draw::Direction(unknown)),
        // Any: what these are is known once there are all programs.
        Input::Change(index) => Some(Draw::Change(index)),
        Input::Weight(row) | Input::Acceleration(row) => Some(Draw::Weight(row)),
        Input::Gain(integral) => Some(Draw::Gain(integral)),
        Input::Target(integral) => Some(Draw::Target(integral)),
        Input::Prepared(_) => None,
    };
    let number = move |input| N::exactly(drawn(input).map_or(f64::NAN, |draw| point.draw(draw)));
    let prepared = interpret(preparation, &number, &|_| Vec::new());
    move |input: Input| match input {
        Input::Prepared(index) => prepared[index].clone(),
        other => number(other),
    }
}

/// A feedback law in general position: y_i = k_i (F_i - t_i).
pub(super) fn weigh<N: Numeric>(point: &Point, integrals: &[N]) -> Vec<N> {
    let law = |(i, integral): (usize, &N)| {
        let id = IntegralId::at(i);
        N::exactly(point.draw(Draw::Gain(id))).times(&integral.minus(&N::exactly(point.draw(Draw::Target(id)))))
    };
    integrals.iter().enumerate().map(law).collect()
}
