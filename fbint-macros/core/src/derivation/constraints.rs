//! The matrix C of the brackets of all constraints, and the linear system C^T c = b for the multipliers c.

use super::{IntegralId, Integrals};
use crate::expression::Expression;

/// The brackets of the constraints of a canonical system among one another and with H.
///
/// Where the system is driven, -y(f) stands in the place of {H, f}, with the flow y of [`Drive`](super::Drive).
#[derive(Clone, Debug)]
pub enum Constraints {
    /// k holonomic constraints g and their rates g': C = [[0, A], [-A, B]], so that A c2 = g', A c1 = {H, g'} + B c2.
    Holonomic {
        /// Each constraint and its rate.
        pairs: Vec<(IntegralId, IntegralId)>,
        /// A_ij = {g_i, g'_j}, symmetric k x k.
        a: Vec<Vec<Expression>>,
        /// B_ij = {g'_i, g'_j}, antisymmetric k x k.
        b: Vec<Vec<Expression>>,
        /// {H, g'_i}
        energy_brackets: Vec<Expression>,
    },
    /// Any even number of constraints f.
    General {
        /// f
        members: Vec<IntegralId>,
        /// C_ij = {f_i, f_j}, antisymmetric.
        c: Vec<Vec<Expression>>,
        /// {H, f_i}
        energy_brackets: Vec<Expression>,
    },
}

/// An entry b_i of the right side: {H, f_i}, or -y(f_i) of a driven system.
#[derive(Clone, Copy, Debug)]
pub enum EnergyBracket<'a> {
    /// Minus the rate of f_i where that is an integral.
    MinusRate(IntegralId),
    /// Any other one.
    Function(&'a Expression),
}

impl Constraints {
    /// The constraints f in the order of the rows of C.
    pub fn members(&self) -> Vec<IntegralId> {
        match self {
            Self::Holonomic { pairs, .. } => {
                let constraints = pairs.iter().map(|(constraint, _)| *constraint);
                constraints.chain(pairs.iter().map(|(_, rate)| *rate)).collect()
            }
            Self::General { members, .. } => members.clone(),
        }
    }

    /// Whether there are no constraints.
    pub fn is_empty(&self) -> bool {
        match self {
            Self::Holonomic { pairs, .. } => pairs.is_empty(),
            Self::General { members, .. } => members.is_empty(),
        }
    }

    /// C, row by row.
    pub fn matrix(&self) -> Vec<Vec<Expression>> {
        match self {
            Self::General { c, .. } => c.clone(),
            Self::Holonomic { a, b, .. } => {
                let zeros = |row: &Vec<Expression>| vec![Expression::zero(); row.len()];
                let above = a.iter().map(|row| [zeros(row), row.clone()].concat());
                let minus = |row: &Vec<Expression>| row.iter().cloned().map(std::ops::Neg::neg).collect::<Vec<_>>();
                let below = a.iter().zip(b).map(|(a, b)| [minus(a), b.clone()].concat());
                above.chain(below).collect()
            }
        }
    }

    /// b_i in the order of the rows of C.
    pub fn energy_brackets(&self) -> Vec<EnergyBracket<'_>> {
        match self {
            Self::Holonomic { pairs, energy_brackets, .. } => {
                let of_constraints = pairs.iter().map(|(_, rate)| EnergyBracket::MinusRate(*rate));
                of_constraints.chain(energy_brackets.iter().map(EnergyBracket::Function)).collect()
            }
            Self::General { energy_brackets, .. } => energy_brackets.iter().map(EnergyBracket::Function).collect(),
        }
    }

    /// b, written out.
    pub fn right_side(&self, integrals: &Integrals) -> Vec<Expression> {
        let written = |bracket| match bracket {
            EnergyBracket::MinusRate(rate) => -integrals[rate].value.clone(),
            EnergyBracket::Function(function) => Expression::clone(function),
        };
        self.energy_brackets().into_iter().map(written).collect()
    }
}
