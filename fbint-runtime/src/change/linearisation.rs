//! A system near a state, as matrices.

use nalgebra::DMatrix;

use crate::numbers::entries::Entries;
use crate::system::SystemFacts;
use crate::system::derivatives::DifferentiableSystem;
use crate::system::{PreparedSystem, Vector};

/// The linear system next to a system in a state x0 with inputs u0: with dx = x - x0, du = u - u0 and outputs y,
///
/// ```text
/// dx' = X(x0) + A dx + B du
/// dy  =         C dx + D du
/// ```
///
/// up to terms of second order.
#[derive(Clone, Debug, PartialEq)]
pub struct Linearisation {
    /// A = dX/dx, N x N.
    pub a: DMatrix<f64>,
    /// B = dX/du, with a column for each input.
    pub b: DMatrix<f64>,
    /// C = dy/dx, with a row for each declared output.
    pub c: DMatrix<f64>,
    /// D = dy/du.
    pub d: DMatrix<f64>,
}

impl Linearisation {
    /// The linear system next to `system` at `x`, with the inputs that the prepared system has.
    pub fn new<S: DifferentiableSystem>(system: &S::Prepared<f64>, x: &Vector<S>) -> Self {
        let (field, outputs) = (S::vector_field_derivatives(system, x), S::outputs_derivatives(system, x));
        let facts = system.facts();
        let [a, b] = matrices::<S>(facts, facts.state.len(), S::VECTOR_FIELD_PATTERN, field.as_ref());
        let [c, d] = matrices::<S>(facts, facts.output_names.len(), S::OUTPUTS_PATTERN, outputs.as_ref());
        Self { a, b, c, d }
    }
}

/// The derivatives by the state and by the inputs.
fn matrices<S: DifferentiableSystem>(
    facts: &SystemFacts,
    rows: usize,
    pattern: &[(usize, usize)],
    entries: &[f64],
) -> [DMatrix<f64>; 2] {
    let (states, parameters) = (facts.state.len(), facts.parameter_names.len());
    let mut by_state = DMatrix::zeros(rows, states);
    let mut by_input = DMatrix::zeros(rows, S::ByInputs::<f64>::LEN);
    for (&(row, column), &entry) in pattern.iter().zip(entries) {
        let place = if column < states { by_state.get_mut((row, column)) } else { None };
        let place = match column.checked_sub(states + parameters) {
            Some(input) => by_input.get_mut((row, input)),
            None => place,
        };
        if let Some(place) = place {
            *place = entry;
        }
    }
    [by_state, by_input]
}
