//! Linear systems and rates, and the parts of a frame, in shorter forms.

use super::simplify::Simplify;
use super::written::Written;
use crate::derivation::{Dynamics, Field, FrameBracket, Hamel, LinearSystem, Problem};
use crate::expression::{Expression, Symbol};

/// `None` where something in it is not a finite real expression.
pub(super) fn field(motion: &Field, written: &Written, simplify: &dyn Simplify) -> Option<Field> {
    let simplest = |expression: &Expression| simplest(expression, written, simplify);
    let system = |system: &LinearSystem| {
        let row = |row: &Vec<Expression>| row.iter().map(simplest).collect();
        Some(LinearSystem {
            unknowns: system.unknowns.clone(),
            matrix: system.matrix.iter().map(row).collect::<Option<_>>()?,
            right_side: system.right_side.iter().map(simplest).collect::<Option<_>>()?,
        })
    };
    Some(Field {
        systems: motion.systems.iter().map(system).collect::<Option<_>>()?,
        rates: motion.rates.rows().map(simplest).collect::<Option<_>>()?,
    })
}

/// `None` where something in it is not a finite real expression.
pub(super) fn hamel(hamel: &Hamel, written: &Written, simplify: &dyn Simplify) -> Option<Hamel> {
    let all = |list: &[(Symbol, Expression)]| {
        let all = list.iter().map(|(symbol, value)| Some((*symbol, simplest(value, written, simplify)?)));
        all.collect::<Option<Vec<_>>>()
    };
    let bracket =
        |bracket: &FrameBracket| Some(FrameBracket { of: bracket.of, coefficients: all(&bracket.coefficients)? });
    Some(Hamel {
        lagrangian: hamel.lagrangian.clone(),
        momenta: all(&hamel.momenta)?,
        forces: all(&hamel.forces)?,
        brackets: hamel.brackets.iter().map(bracket).collect::<Option<_>>()?,
    })
}

/// The problem with the brackets of its frame in their lowest terms. Cramer's rule divides by determinants that cancel, and what is not
/// cancelled here is expanded with every momentum. `None` where one is not a finite real expression.
pub(super) fn in_lowest_terms(problem: &Problem, simplify: &dyn Simplify) -> Option<Problem> {
    let mut problem = problem.clone();
    if let Dynamics::Lagrangian(lagrangian) = &mut problem.dynamics {
        for (_, coefficient) in lagrangian.brackets.iter_mut().flat_map(|bracket| &mut bracket.coefficients) {
            *coefficient = simplify.cancelled(coefficient)?;
        }
    }
    Some(problem)
}

/// As it is written, unless the simplified form takes fewer operations.
fn simplest(expression: &Expression, written: &Written, simplify: &dyn Simplify) -> Option<Expression> {
    Some(written.form(expression, &simplify.simplified(expression)?))
}
