//! Second-class constraints: partners of holonomic constraints and the matrix C (CPV22 section 2.1).

use super::phase_space::{Observable, PhaseSpace};
use crate::derivation::Constraints;
use crate::expression::Expression;
use crate::symbolic::{Expr, NotReal};

/// The constraints f = (g.., g'.., phase constraints..).
pub(super) struct ConstraintSet {
    members: Vec<Observable>,
    holonomic: usize,
}

impl ConstraintSet {
    /// Derives the partner g' = {g, H} of each holonomic constraint.
    pub(super) fn new(
        space: &PhaseSpace,
        hamiltonian: &Observable,
        holonomic: Vec<Observable>,
        phase: Vec<Observable>,
    ) -> Self {
        let rates: Vec<_> = holonomic.iter().map(|g| space.observable(space.bracket(g, hamiltonian))).collect();
        let count = holonomic.len();
        Self { members: holonomic.into_iter().chain(rates).chain(phase).collect(), holonomic: count }
    }

    pub(super) fn into_members(self) -> Vec<Observable> {
        self.members
    }

    /// The blocks A and B where all constraints are holonomic, else the whole of C.
    pub(super) fn brackets(&self, space: &PhaseSpace, hamiltonian: &Observable) -> Result<Constraints, NotReal> {
        let (positions, rates) = self.members.split_at(self.holonomic);
        if rates.len() > positions.len() {
            let c = antisymmetric(&self.members, |f, g| space.bracket(f, g))?;
            let holonomic = self.holonomic;
            return Ok(Constraints::Phase {
                holonomic,
                c,
                energy_brackets: with_energy(space, hamiltonian, &self.members)?,
            });
        }
        let k = positions.len();
        let mut a = vec![vec![Expression::zero(); k]; k];
        for i in 0..k {
            for j in i..k {
                a[i][j] = space.bracket(&positions[i], &rates[j]).write()?;
                a[j][i] = a[i][j].clone();
            }
        }
        let b = antisymmetric(rates, |f, g| space.bracket(f, g))?;
        Ok(Constraints::Holonomic { a, b, energy_brackets: with_energy(space, hamiltonian, rates)? })
    }
}

fn with_energy(
    space: &PhaseSpace,
    hamiltonian: &Observable,
    members: &[Observable],
) -> Result<Vec<Expression>, NotReal> {
    members.iter().map(|member| space.bracket(hamiltonian, member).write()).collect()
}

fn antisymmetric(
    members: &[Observable],
    bracket: impl Fn(&Observable, &Observable) -> Expr,
) -> Result<Vec<Vec<Expression>>, NotReal> {
    let mut matrix = vec![vec![Expression::zero(); members.len()]; members.len()];
    for i in 0..members.len() {
        for j in i + 1..members.len() {
            let entry = bracket(&members[i], &members[j]);
            matrix[i][j] = entry.write()?;
            matrix[j][i] = (-&entry).write()?;
        }
    }
    Ok(matrix)
}
