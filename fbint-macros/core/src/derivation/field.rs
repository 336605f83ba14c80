//! The vector field: rates, which may contain the solutions of linear systems, such as accelerations and multipliers.

use super::{IntegralId, SparseRow};
use crate::derivation::table::Table;
use crate::expression::{Expression, Symbol};

/// The vector field X in steps: linear systems in their order, where each may contain the unknowns of earlier ones, and the rates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Field {
    /// In the order in which they are solved.
    pub systems: Vec<LinearSystem>,
    /// x', entry by entry, which may contain every unknown.
    pub rates: Table<Symbol, Expression>,
}

/// A linear system K z = b. The matrix is symmetric, and definite wherever the field is defined; the matrix of the brackets of phase
/// constraints, C^T, is antisymmetric.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LinearSystem {
    /// z
    pub unknowns: Vec<Symbol>,
    /// K, row by row.
    pub matrix: Vec<Vec<Expression>>,
    /// b
    pub right_side: Vec<Expression>,
}

impl LinearSystem {
    /// The entries of K and b.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        self.matrix.iter().flatten().chain(&self.right_side)
    }

    /// The rows of K, each with its entry of b at the end.
    pub fn rows(&self) -> impl Iterator<Item = impl Iterator<Item = &Expression>> {
        self.matrix.iter().zip(&self.right_side).map(|(row, right)| row.iter().chain([right]))
    }
}

impl Field {
    /// Every expression that the systems and the rates are made of.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let of_systems = self.systems.iter().flat_map(LinearSystem::expressions);
        of_systems.chain(self.rates.rows())
    }

    /// The same, to be changed.
    pub fn expressions_mut(&mut self) -> impl Iterator<Item = &mut Expression> {
        let systems = self.systems.iter_mut();
        let of_systems = systems.flat_map(|system| system.matrix.iter_mut().flatten().chain(&mut system.right_side));
        of_systems.chain(self.rates.rows_mut())
    }
}

/// A Lagrangian system in the frame of its velocities, after the vanishing ones were set to zero.
///
/// `q' = U(q) xi, [u_i, u_j] = c^a_ij u_a, p_a = dL/dxi^a, p_j' = c^a_ij p_a xi^i + u_j[L]`
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hamel {
    /// L
    pub lagrangian: Expression,
    /// p_a of every velocity.
    pub momenta: SparseRow,
    /// `c^a_ij p_a xi^i + u_j[L]` of every velocity that is part of the state.
    pub forces: SparseRow,
    /// The brackets that do not vanish.
    pub brackets: Vec<FrameBracket>,
    /// Set if the systems of the field have M + A^T S A instead of the mass matrix M.
    pub is_augmented: bool,
}

/// [u_i, u_j] of the directions of two velocities.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FrameBracket {
    /// i and j.
    pub of: (Symbol, Symbol),
    /// c^a_ij by the velocity a, where it does not vanish.
    pub coefficients: SparseRow,
}

/// A velocity constraint f = A(q) q' + b = 0, or A(q) xi + b = 0, that a reaction A^T lambda holds. Where the constraint holds, its power is
/// -lambda . b.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Reaction {
    /// f
    pub constraint: IntegralId,
    /// The entries of A that do not vanish: by coordinates in a canonical system, by velocities in a Lagrangian one.
    pub along: SparseRow,
    /// b, a function of the coordinates and the time: what moves the constraint.
    pub offset: Expression,
}
