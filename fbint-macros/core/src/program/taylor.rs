//! The Taylor series of solutions, from the program of a field (Jorba and Zou, *A software package for the numerical integration of ODEs
//! by means of high-order Taylor methods*, Experimental Mathematics 14, 2005).
//!
//! With v = v_0 + v_1 t + v_2 t^2 + .. along a solution, the coefficient of order n of a product is
//!
//! ```text
//! (a b)_n = a_n b_0 + a_0 b_n + M(a, b)        M(a, b) = sum_{j=1}^{n-1} a_j b_{n-j}
//! ```
//!
//! and every function that is not linear has such a rule, from a differential equation that it solves: exp(a)' = exp(a) a', and so on. All
//! sums M of an order are of coefficients before that order. So they come first, side by side, whatever depends on what, and then come a
//! few operations for each value: the program that finishes an order. The state's own coefficients are x_n = f_{n-1} / n.
//!
//! Sums of products that nothing else reads need one sum M, and finish once. Sums of values are added as the field adds them: what cancels
//! in their coefficients cancels there.
//!
//! |a| is a or -a, and which of them it is, its *side*, is given with the state: a step ends where a vanishes. So the series of a are
//! watched. Other functions of the state can be watched, too: what events are of.
//!
//! A solution may leave its series without notice: a root such as |v| vanishes, and its series continues with the other sign; tanh(v) is
//! constant in doubles, until v is small. So steps compare the rates at their ends with the field, unless those are polynomials.
//!
//! The inputs of a driven system have coefficients that are given, as of a table that is linear between its rows.

mod companions;
mod expansion;
mod layout;
mod powers;
mod rules;
#[cfg(test)]
mod tests;
mod verify;

use super::assemble::Programs;
use super::functions::VECTOR_FIELD_TANGENT;
use crate::derivation::table::Id;
use crate::numbers::points::Unknown;
use crate::program::code::{Fault, Input, Instruction, Program};
use expansion::Expansion;
pub use layout::{Group, LANES, Layout};
pub use verify::verify_series;

/// The programs that give the coefficients of Taylor series, order by order.
#[derive(Clone, Debug)]
pub struct TaylorSeries {
    /// From the state, and the sides of its switches as [`Input::Order`]: the field, what is watched, and then the values that finishing an
    /// order reads as [`Input::Initial`].
    pub begin: Program,
    /// From the coefficients of the state and of the inputs of an order n > 0: the coefficients of the field, of what is watched, and then of
    /// the sequences that the sums multiply. It reads n, 1 / n and then the sums of the order as [`Input::Order`].
    pub finish: Program,
    /// The sums of an order.
    pub sums: Vec<Convolution>,
    /// The entries of the state.
    pub state: Vec<Input>,
    /// The inputs that change along a solution.
    pub inputs: Vec<Input>,
    /// The number of functions whose signs have to stay during a step: the first of those that are watched.
    pub switches: usize,
    /// The number of functions that are watched.
    pub watched: usize,
    /// `true` if the rates are polynomials of what changes.
    pub is_polynomial: bool,
}

/// The series of a model.
#[derive(Clone, Debug)]
pub struct ModelSeries {
    /// Of solutions, and of what events are of.
    pub solutions: TaylorSeries,
    /// Of solutions together with a direction along which they change, if derivatives are declared. Where something switches, a direction
    /// may jump, and has none.
    pub tangents: Option<TaylorSeries>,
}

impl ModelSeries {
    /// The series of a model, compared with its field.
    ///
    /// # Errors
    ///
    /// A series that disagrees with its field, which is a bug of the compiler.
    pub fn of(programs: &Programs) -> Result<Self, Fault> {
        let (field, events, prepare) = (programs.field_of_series(), &programs.events, &programs.prepare);
        let solutions = TaylorSeries::of(field, events);
        verify_series(field, events, prepare, &solutions)?;
        let mut functions = programs.functions();
        let tangent = functions.find(|(function, _)| function.name == VECTOR_FIELD_TANGENT.name);
        let tangents = match tangent.filter(|_| solutions.switches == 0) {
            Some((_, tangent)) => {
                let series = TaylorSeries::of_tangent(tangent);
                verify_series(tangent, &Program::default(), prepare, &series)?;
                Some(series)
            }
            None => None,
        };
        Ok(Self { solutions, tangents })
    }
}

/// A sum of M(a, b), where a and b are sequences, by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution(pub Vec<[usize; 2]>);

impl TaylorSeries {
    /// The number of numbers of an order that come before its sums: n and 1 / n.
    pub const NUMBERS: usize = Input::NUMBERS_OF_AN_ORDER;

    /// The series of the solutions of a field, and of functions along them.
    pub fn of(field: &Program, functions: &Program) -> Self {
        let state = (0..field.outputs.len()).map(|entry| Input::State(Id::at(entry)));
        let mut inputs = Vec::new();
        for instruction in field.instructions.iter().chain(&functions.instructions) {
            match instruction {
                Instruction::Input(input @ Input::Driving(_)) if !inputs.contains(input) => inputs.push(*input),
                _ => {}
            }
        }
        Expansion::of(field, functions, state.collect(), inputs).series()
    }

    /// The series of the solutions of a field together with that of a direction: of what a tangent returns. Inputs are held.
    pub fn of_tangent(tangent: &Program) -> Self {
        let states = 0..tangent.outputs.len() / 2;
        let directions = states.clone().map(|entry| Input::Direction(Unknown::Symbol(Id::at(entry))));
        let state = states.map(|entry| Input::State(Id::at(entry))).chain(directions);
        Expansion::of(tangent, &Program::default(), state.collect(), Vec::new()).series()
    }

    /// The number of sequences that the sums are of.
    pub fn sequences(&self) -> usize {
        self.finish.outputs.len() - self.state.len() - self.watched
    }

    /// The place of an input among the entries of the state, if it is one.
    fn entry(&self, input: Input) -> Option<usize> {
        self.state.iter().position(|entry| *entry == input)
    }
}
