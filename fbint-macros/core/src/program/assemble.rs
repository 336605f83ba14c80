//! The programs of one model, from its derivation.

use std::ops::{Index, IndexMut};

use super::fields::{self, Parts};
use super::functions::{FEEDBACK_FIELD, Function, functions_of};
use super::lower::Stage;
use super::optimise::{Optimiser, eliminate_dead_values};
use super::{Fault, Pass, Program};
use crate::derivation::Derivation;

/// The programs of the generated functions.
#[derive(Clone, Debug)]
pub struct Programs {
    /// What depends on the parameters alone and the others read.
    pub prepare: Program,
    /// For each integral three numbers, by which functions that take the law in the normalised form have it: they hand it f with
    /// F = scale (f + offset), and take back `factor` times y. Row by row: factor, scale, offset.
    pub normalisation: Program,
    /// The changes of those results of the program that prepares which tangents read, from a direction of the parameters.
    pub prepare_direction: Program,
    /// In the order of the generated code.
    functions: Vec<(&'static Function, Program)>,
}

impl Programs {
    fn place(&self, function: &Function) -> usize {
        let place = self.functions.iter().position(|(other, _)| other.name == function.name);
        place.expect("a function of this system")
    }

    /// The program of each function.
    pub fn functions(&self) -> impl Iterator<Item = (&'static Function, &Program)> {
        self.functions.iter().map(|(function, program)| (*function, program))
    }
}

impl Index<&Function> for Programs {
    type Output = Program;
    fn index(&self, function: &Function) -> &Program {
        &self.functions[self.place(function)].1
    }
}

impl IndexMut<&Function> for Programs {
    fn index_mut(&mut self, function: &Function) -> &mut Program {
        let place = self.place(function);
        &mut self.functions[place].1
    }
}

/// Assembles and optimises every program.
pub fn assemble(derivation: &Derivation) -> Result<Programs, Fault> {
    assembled(derivation, false, |_, _, _| {})
}

/// Assembles and optimises every program, those of derivatives among them.
pub fn assemble_with_derivatives(derivation: &Derivation) -> Result<Programs, Fault> {
    assembled(derivation, true, |_, _, _| {})
}

/// What each stage of lowering and each pass makes of the feedback field.
pub fn passes(derivation: &Derivation) -> Result<Vec<Pass>, Fault> {
    let stages = [
        ("lower", Stage::Plain),
        ("collect", Stage::Collect),
        ("normalise", Stage::Normalise),
        ("reuse sums", Stage::ReuseSums),
        ("share pairs", Stage::SharePairs),
    ];
    let lowered = |(name, stage)| {
        let mut program = (FEEDBACK_FIELD.build)(&Parts::new(derivation, stage));
        eliminate_dead_values(&mut program);
        Pass::of(name, &program)
    };
    let mut passes = stages.map(lowered).to_vec();
    assembled(derivation, false, |function, pass, program| {
        if function == FEEDBACK_FIELD.name {
            passes.push(Pass::of(pass, program));
        }
    })?;
    Ok(passes)
}

/// Assembles and optimises every program, which `observe` sees after each pass.
fn assembled(
    derivation: &Derivation,
    with_derivatives: bool,
    observe: impl FnMut(&'static str, &'static str, &Program),
) -> Result<Programs, Fault> {
    let parts = Parts::new(derivation, Stage::SharePairs);
    let mut optimiser = Optimiser::new(observe);
    let mut functions: Vec<(&'static Function, Program)> = Vec::new();
    for function in functions_of(derivation, with_derivatives) {
        let mut program = (function.build)(&parts);
        match function.derivative() {
            Some(derivative) if derivative.is_tangent() => {
                optimiser.optimise(function.name, &mut program)?;
                program = function.tangent_of(derivative, &program);
            }
            Some(derivative) => program = function.derivative_of(derivative, program, derivation),
            None => {}
        }
        optimiser.optimise(function.name, &mut program)?;
        functions.push((function, program));
    }
    let mut normalisation = fields::normalisation(&parts);
    optimiser.optimise("normalisation", &mut normalisation)?;
    let prepare_direction = optimiser.prepare_direction(functions.iter_mut().map(|(_, program)| program).collect());
    Ok(Programs { prepare: optimiser.prepare(), normalisation, prepare_direction, functions })
}
