//! Implicit fields: linear systems and rates as they follow from the declaration, simplified.

use super::Unreal;
use super::circle::simplified;
use super::written::Written;
use crate::derivation::{Dynamics, FrameBracket, Hamel, Implicit, LinearSystem, Problem};
use crate::expression::{Expression, Symbol};
use crate::symbolic::{Expr, NotReal};

pub(super) fn field(motion: &Implicit, written: &Written) -> Result<Implicit, Unreal> {
    let simplest = |expression: &Expression| simplest(expression, written);
    let system = |system: &LinearSystem| {
        let row = |row: &Vec<Expression>| row.iter().map(simplest).collect();
        Ok(LinearSystem {
            unknowns: system.unknowns.clone(),
            matrix: system.matrix.iter().map(row).collect::<Result<_, _>>()?,
            right_side: system.right_side.iter().map(simplest).collect::<Result<_, _>>()?,
        })
    };
    Ok(Implicit {
        systems: motion.systems.iter().map(system).collect::<Result<_, _>>()?,
        rates: motion.rates.rows().map(simplest).collect::<Result<_, _>>()?,
    })
}

pub(super) fn hamel(hamel: &Hamel, written: &Written) -> Result<Hamel, Unreal> {
    let all = |list: &[(Symbol, Expression)]| {
        list.iter().map(|(symbol, value)| Ok((*symbol, simplest(value, written)?))).collect::<Result<Vec<_>, _>>()
    };
    let bracket =
        |bracket: &FrameBracket| Ok(FrameBracket { of: bracket.of, coefficients: all(&bracket.coefficients)? });
    Ok(Hamel {
        lagrangian: hamel.lagrangian.clone(),
        momenta: all(&hamel.momenta)?,
        forces: all(&hamel.forces)?,
        brackets: hamel.brackets.iter().map(bracket).collect::<Result<_, _>>()?,
    })
}

/// The problem with the brackets of its frame in their lowest terms. Cramer's rule divides by determinants that cancel, and what is not
/// cancelled here is expanded with every momentum.
pub(super) fn in_lowest_terms(problem: &Problem) -> Result<Problem, Unreal> {
    let mut problem = problem.clone();
    if let Dynamics::Lagrangian(lagrangian) = &mut problem.dynamics {
        let coefficients = lagrangian.brackets.iter_mut().flat_map(|bracket| &mut bracket.coefficients);
        for (_, coefficient) in coefficients {
            let cancelled = Expr::read(coefficient).cancelled().write().map_err(|NotReal| Unreal::Lagrangian)?;
            *coefficient = cancelled;
        }
    }
    Ok(problem)
}

/// As it is written, unless the form that algebra gives it takes fewer operations.
fn simplest(expression: &Expression, written: &Written) -> Result<Expression, Unreal> {
    let derived = Expr::read(&simplified(expression)).simplest().write().map_err(|NotReal| Unreal::Lagrangian)?;
    Ok(written.form(expression, &simplified(&derived)))
}
