//! Second-class constraints: partners of holonomic constraints and the matrix C (CPV22 section 2.1).

use super::phase_space::{Observable, PhaseSpace};
use crate::derivation::Constraints;
use crate::expression::Expression;
use crate::sample::sample_points;
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

    /// The blocks A and B where all constraints are holonomic and A is definite, else the whole of C.
    pub(super) fn brackets(&self, space: &PhaseSpace, hamiltonian: &Observable) -> Result<Constraints, NotReal> {
        let (positions, rates) = self.members.split_at(self.holonomic);
        if rates.len() == positions.len() {
            let k = positions.len();
            let mut a = vec![vec![Expression::zero(); k]; k];
            for i in 0..k {
                for j in i..k {
                    a[i][j] = space.bracket(&positions[i], &rates[j]).write()?;
                    a[j][i] = a[i][j].clone();
                }
            }
            if is_definite(&a) {
                let b = antisymmetric(rates, |f, g| space.bracket(f, g))?;
                return Ok(Constraints::Holonomic { a, b, energy_brackets: with_energy(space, hamiltonian, rates)? });
            }
        }
        let c = antisymmetric(&self.members, |f, g| space.bracket(f, g))?;
        let energy_brackets = with_energy(space, hamiltonian, &self.members)?;
        Ok(Constraints::Phase { holonomic: self.holonomic, c, energy_brackets })
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

/// Whether A has pivots of one sign, as it does where H_pp is definite: only then does L D L^T need no exchange of rows.
/// Where A is singular at every point the answer is yes, and `regularity` says what is wrong.
fn is_definite(a: &[Vec<Expression>]) -> bool {
    sample_points().all(|point| {
        let values = a.iter().map(|row| row.iter().map(|entry| point.evaluate(entry)).collect()).collect();
        has_pivots_of_one_sign(values)
    })
}

fn has_pivots_of_one_sign(mut a: Vec<Vec<f64>>) -> bool {
    let largest = a.iter().flatten().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    let negligible = |value: f64| value.is_nan() || value.abs() <= 1e-10 * largest;
    let mut sign = 0.0;
    for step in 0..a.len() {
        let pivot = a[step][step];
        if negligible(pivot) {
            if (step + 1..a.len()).all(|i| negligible(a[i][step])) {
                continue;
            }
            return false;
        }
        if sign * pivot < 0.0 {
            return false;
        }
        sign = pivot.signum();
        for i in step + 1..a.len() {
            let factor = a[i][step] / pivot;
            for j in step..a.len() {
                a[i][j] -= factor * a[step][j];
            }
        }
    }
    true
}
