//! The programs of one model, from its derivation.

use std::ops::{Index, IndexMut};

use super::functions::{GeneratedFunction, VECTOR_FIELD, functions_of};
use super::optimise::Optimiser;
use crate::derivation::Derivation;
use crate::expression::Expression;
use crate::program::build::fields::{self, FunctionParts};
use crate::program::build::switches::{Switch, switches};
use crate::program::code::{Instruction, Program};

/// The programs of the generated functions.
#[derive(Clone, Debug)]
pub struct Programs {
    /// Values that depend on the parameters alone and that the others read.
    pub prepare: Program,
    /// For each integral three numbers, by which functions that take the law in the normalised form have it: they hand it f with
    /// F = scale (f + offset), and take back `factor` times y. Row by row: factor, scale, offset.
    pub normalisation: Program,
    /// The changes of those results of the program that prepares which tangents read, from a direction of the parameters.
    pub prepare_direction: Program,
    /// The field under the laws of inputs, where these have any, for Taylor series.
    closed_loop: Option<Program>,
    /// Where the field switches.
    pub switches: Vec<Switch>,
    /// The functions that events are of, where Taylor series follow them.
    pub events: Program,
    /// In the order of the generated code.
    functions: Vec<(&'static GeneratedFunction, Program)>,
}

impl Programs {
    fn place(&self, function: &GeneratedFunction) -> usize {
        let place = self.functions.iter().position(|(other, _)| other.name == function.name);
        place.expect("a function of this system")
    }

    /// The program of each function.
    pub fn functions(&self) -> impl Iterator<Item = (&'static GeneratedFunction, &Program)> {
        self.functions.iter().map(|(function, program)| (*function, program))
    }

    /// The field that Taylor series are of: X, under the laws of inputs.
    pub fn field_of_series(&self) -> &Program {
        self.closed_loop.as_ref().unwrap_or_else(|| &self[&VECTOR_FIELD])
    }

    /// For each normalised integral, `true` if it is a constraint without a summand made of parameters.
    pub fn zero_targets(&self, derivation: &Derivation) -> Vec<bool> {
        let normalisation = &self.normalisation;
        let offsets = normalisation.outputs.chunks(3).map(|row| &normalisation.instructions[row[2].index()]);
        let pairs = derivation.integrals.rows().zip(offsets);
        pairs.map(|(integral, offset)| integral.kind.is_constraint() && *offset == Instruction::constant(0.0)).collect()
    }
}

impl Index<&GeneratedFunction> for Programs {
    type Output = Program;
    fn index(&self, function: &GeneratedFunction) -> &Program {
        &self.functions[self.place(function)].1
    }
}

impl IndexMut<&GeneratedFunction> for Programs {
    fn index_mut(&mut self, function: &GeneratedFunction) -> &mut Program {
        let place = self.place(function);
        &mut self.functions[place].1
    }
}

/// Assembles and optimises every program, with or without derivatives.
pub fn assemble(derivation: &Derivation, with_derivatives: bool) -> Programs {
    assemble_with_events(derivation, with_derivatives, &[])
}

/// The same with the functions that events are of.
pub fn assemble_with_events(derivation: &Derivation, with_derivatives: bool, events: &[Expression]) -> Programs {
    let switches = switches(derivation);
    let parts = FunctionParts::new(derivation, &switches);
    let mut optimiser = Optimiser::default();
    let mut functions: Vec<(&'static GeneratedFunction, Program)> = Vec::new();
    for function in functions_of(derivation, !switches.is_empty(), with_derivatives) {
        let mut program = (function.build)(&parts);
        if let Some(derivative) = function.derivative() {
            if derivative.is_tangent() {
                optimiser.optimise(&mut program);
            }
            program = derivative.of(program, &function.unknowns(derivation));
        }
        optimiser.optimise(&mut program);
        functions.push((function, program));
    }
    let closed_loop = (!derivation.laws.is_empty()).then(|| {
        let mut program = fields::closed_loop(&parts);
        optimiser.optimise(&mut program);
        program
    });
    let mut normalisation = fields::normalisation(&parts);
    optimiser.optimise(&mut normalisation);
    let mut events = fields::of_expressions(events, &derivation.symbols);
    optimiser.optimise(&mut events);
    let prepare_direction = optimiser.prepare_direction(functions.iter_mut().map(|(_, program)| program).collect());
    Programs {
        prepare: optimiser.prepare(),
        normalisation,
        prepare_direction,
        events,
        functions,
        closed_loop,
        switches,
    }
}
