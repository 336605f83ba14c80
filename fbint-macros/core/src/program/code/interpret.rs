//! Programs evaluated without compiling them, at points in general position.

use super::instructions::{Input, Instruction, Program, Sign, Value};
use crate::expression::work::{EVALUATION, spend_each};
use crate::numbers::number::Numeric;
use crate::numbers::points::{Draw, Point};

/// The results of a program, where these are the numbers that it reads and its constants. The feedback law is y_i = k_i (F_i - t_i), of
/// whatever the program hands over as F, with its gains and targets among what is read.
pub(crate) fn interpret<N: Numeric>(
    program: &Program,
    input: &impl Fn(Input) -> N,
    constant: &impl Fn(f64) -> N,
) -> Vec<N> {
    spend_each(program.instructions.len(), EVALUATION);
    let mut values: Vec<N> = Vec::with_capacity(program.instructions.len());
    for instruction in &program.instructions {
        let of = |value: Value| &values[value.index()];
        let value = match instruction {
            Instruction::Constant(bits) => constant(f64::from_bits(*bits)),
            Instruction::Input(wanted) => input(*wanted),
            Instruction::Weighed(y, id) => match program.handed_over(*y, *id) {
                Some(f) => input(Input::Gain(*id)).times(&of(f).minus(&input(Input::Target(*id)))),
                None => N::undefined(),
            },
            other => apply(other, &of),
        };
        values.push(value);
    }
    program.outputs.iter().map(|value| values[value.index()].clone()).collect()
}

fn apply<'v, N: Numeric + 'v>(instruction: &Instruction, of: &impl Fn(Value) -> &'v N) -> N {
    match *instruction {
        // What the law returns is not one number.
        Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {
            N::undefined()
        }
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

/// The inputs of programs at a point.
pub(crate) fn inputs<N: Numeric>(
    point: &Point,
    preparation: &Program,
    constant: &impl Fn(f64) -> N,
) -> impl Fn(Input) -> N {
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
        // What these are is known order by order.
        Input::Prepared(_) | Input::Order(_) | Input::Initial(_) | Input::Side(_) => None,
    };
    let number = move |input| match input {
        // No side is held.
        Input::Side(_) => N::exactly(0.0),
        input => N::exactly(drawn(input).map_or(f64::NAN, |draw| point.draw(draw))),
    };
    let prepared = interpret(preparation, &number, constant);
    move |input: Input| match input {
        Input::Prepared(index) => prepared[index].clone(),
        other => number(other),
    }
}
