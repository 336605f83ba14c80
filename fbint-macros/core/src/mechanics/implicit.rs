//! Implicit fields: linear systems and rates as they follow from the declaration, simplified.

use super::Unreal;
use super::written::Written;
use crate::derivation::{Hamel, Implicit, LinearSystem};
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
    Ok(Hamel {
        lagrangian: hamel.lagrangian.clone(),
        momenta: all(&hamel.momenta)?,
        forces: all(&hamel.forces)?,
        brackets: hamel.brackets.clone(),
    })
}

/// As it is written, unless the form that algebra gives it takes fewer operations.
fn simplest(expression: &Expression, written: &Written) -> Result<Expression, Unreal> {
    let derived = Expr::read(expression).simplest().write().map_err(|NotReal| Unreal::Lagrangian)?;
    Ok(written.form(expression, &derived))
}
