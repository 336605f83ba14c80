//! Derivatives of functions with respect to all unknowns: the state, the parameters and the inputs.
//!
//! Values c(p) that depend on parameters alone are computed once. So is dc/dp, whose entries depend on parameters alone, too: a direction
//! p' of the parameters gives c' = dc/dp p', once for a direction, an adjoint a of c gives dc/dp^T a, and nothing that leads to c is
//! differentiated where the state is known.
//!
//! A tangent is made from the program after its passes, whose instructions stay unchanged, and gets the instructions of the derivative in
//! addition: it returns the value of the function bit by bit. Adjoints and Jacobians are made from the program before its passes.
//!
//! The expected derivatives do not come from these rules, but from the oracle on [`Slopes`].

use std::collections::BTreeMap;

use super::adjoint::adjoints;
use super::directional::Along;
use super::tangent::{Tangent, jacobian, tangents};
use crate::derivation::IntegralId;
use crate::numbers::derivative::{add, dot, entry};
use crate::numbers::dual::Dual;
use crate::numbers::points::Unknown;
use crate::numbers::precise::Real;
use crate::program::code::{Builder, Input, Instruction, Program, Value};

/// Which derivative of a function f a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// f and Df v, for a direction v.
    Tangent,
    /// f and Df v, for a direction v of the state alone.
    StateTangent,
    /// Df^T w, for weights w.
    Adjoint,
    /// Df, row by row.
    Jacobian,
}

impl Derivative {
    /// Returns `true` if the derivative is one along a direction.
    pub(crate) fn is_tangent(self) -> bool {
        matches!(self, Self::Tangent | Self::StateTangent)
    }

    /// The program of the derivative by these unknowns, from the program of its function, in which no law takes part: of a tangent after
    /// all passes, of others before them.
    pub fn of(self, mut program: Program, unknowns: &[Unknown]) -> Program {
        program.eliminate_dead_values();
        let mut builder = Builder::default();
        let results = copy(&mut builder, &program, |_, _, integral| integral);
        let outputs = match self {
            Self::Tangent | Self::StateTangent => self.along_a_direction(&mut builder, results, unknowns),
            Self::Adjoint | Self::Jacobian => self.by_each(&mut builder, results, unknowns),
        };
        builder.finish(outputs)
    }

    fn along_a_direction(self, builder: &mut Builder, mut results: Vec<Value>, unknowns: &[Unknown]) -> Vec<Value> {
        let mut along = Along::new(builder, &results, |builder, input| {
            let change = match input {
                Input::Prepared(index) if self == Self::Tangent => Input::Change(index),
                _ => Input::Direction(input.unknown().filter(|unknown| unknowns.contains(unknown))?),
            };
            Some(builder.input(change))
        });
        let changes: Vec<Value> = results.iter().map(|result| along.of(*result)).collect();
        results.extend(changes);
        results
    }

    fn by_each(self, builder: &mut Builder, results: Vec<Value>, unknowns: &[Unknown]) -> Vec<Value> {
        let is_unknown = |unknown: Unknown| unknowns.contains(&unknown);
        let program = builder.program(results);
        let unprepared = program.depending(|input| !matches!(input, Input::Parameter(_)));
        let is_parametric = |value: Value| !unprepared[value.index()];
        // Before everything else, so that what depends on parameters alone has one order in all derivatives.
        let inner = tangents(builder, unprepared.len(), is_unknown, is_parametric);
        if self == Self::Jacobian {
            return jacobian(builder, &program.outputs, unknowns);
        }
        let varies = program.depending(|input| input.unknown().is_some_and(is_unknown));
        let weights = (0..program.outputs.len()).map(|row| builder.input(Input::Weight(row))).collect::<Vec<_>>();
        let weighted: Vec<(Value, Value)> = program.outputs.into_iter().zip(weights).collect();
        let adjoints = adjoints(builder, &weighted, &varies, is_parametric);
        let zero = builder.constant(0.0);
        let mut gradient = Tangent::new();
        // dc/dp^T a
        for (adjoint, slopes) in adjoints.into_iter().zip(&inner).filter(|(adjoint, _)| *adjoint != zero) {
            for (unknown, slope) in slopes {
                let term = builder.mul(*slope, adjoint);
                let sum = gradient.entry(*unknown).or_insert(zero);
                *sum = builder.add(*sum, term);
            }
        }
        unknowns.iter().map(|unknown| gradient.get(unknown).copied().unwrap_or(zero)).collect()
    }

    /// The expected derivative by these unknowns, from the results of the function with their derivatives.
    pub(crate) fn expected(
        self,
        results: &[Dual<Unknown>],
        unknowns: &[Unknown],
        direction: impl Fn(Unknown) -> Real,
        weight: impl Fn(usize) -> Real,
    ) -> Vec<Real> {
        if !results.iter().all(|row| row.value.to_f64().is_finite()) {
            return vec![Real::undefined()];
        }
        match self {
            Self::Tangent | Self::StateTangent => {
                let direction = unknowns.iter().map(|unknown| (*unknown, direction(*unknown))).collect();
                let values = results.iter().map(|row| row.value.clone());
                values.chain(results.iter().map(|row| dot(&row.gradient, &direction))).collect()
            }
            Self::Adjoint => {
                let mut gradient = BTreeMap::new();
                for (row, result) in results.iter().enumerate() {
                    result.gradient.iter().for_each(|(by, slope)| add(&mut gradient, *by, slope * &weight(row)));
                }
                unknowns.iter().map(|by| entry(&gradient, *by)).collect()
            }
            Self::Jacobian => {
                results.iter().flat_map(|row| unknowns.iter().map(|by| entry(&row.gradient, *by))).collect()
            }
        }
    }
}

/// The entries of a Jacobian that do not vanish identically: row, column, and the place among the outputs of its program.
pub fn pattern(program: &Program, columns: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let zero = Instruction::constant(0.0);
    let outputs = program.outputs.iter().enumerate();
    let written = outputs.filter(move |(_, value)| program.instructions[value.index()] != zero);
    written.map(move |(place, _)| (place / columns.max(1), place % columns.max(1), place))
}

/// Appends a program and returns its results, where `law` gives the answer to each integral that is handed over.
pub(crate) fn copy(
    builder: &mut Builder,
    program: &Program,
    law: impl Fn(&mut Builder, IntegralId, Value) -> Value,
) -> Vec<Value> {
    let mut copied: Vec<Value> = Vec::with_capacity(program.instructions.len());
    for instruction in &program.instructions {
        let value = match instruction {
            Instruction::Weigh(_) => builder.constant(0.0),
            Instruction::Weighed(y, id) => match program.handed_over(*y, *id) {
                Some(integral) => law(builder, *id, copied[integral.index()]),
                None => builder.constant(0.0),
            },
            other => builder.push(other.clone().map(|operand| copied[operand.index()]).ordered()),
        };
        copied.push(value);
    }
    program.outputs.iter().map(|value| copied[value.index()]).collect()
}
