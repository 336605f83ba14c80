//! Fields by brackets: partners of holonomic constraints, the matrix C (CPV22 section 2.1), and X = J (grad H - Df^T c) (eq. 4).

use super::phase_space::{Observable, PhaseSpace};
use crate::derivation::table::Table;
use crate::derivation::{Force, IntegralId, Integrals, Kind, LinearSystem, Problem, Reaction, Role, SparseRow};
use crate::expression::{Expression, Symbol};
use crate::numbers::linear::Balanced;
use crate::numbers::number::Numeric;
use crate::numbers::points::sample_points;

/// J v, with v = grad H - Df^T c, what drives the system, and A^T c along the momenta, which holds velocity constraints.
pub(super) struct Flow<'a> {
    pub(super) problem: &'a Problem,
    pub(super) space: &'a PhaseSpace<'a>,
    pub(super) integrals: &'a Integrals,
}

impl Flow<'_> {
    /// The systems for the multipliers: two with the matrix A where all constraints are holonomic and A is definite, or where reactions hold
    /// velocity constraints, else one with the whole of C; `None` where a bracket is not a finite real expression.
    ///
    /// A velocity constraint f = A q' + b has A instead of the gradient of g, and f instead of g'.
    pub(super) fn systems(&self, observables: &Table<IntegralId, Observable>) -> Option<Vec<LinearSystem>> {
        let Flow { problem, space, integrals } = self;
        let hamiltonian = &observables[problem.integrals.energy()?].gradient;
        let held = problem.integrals.constraints().filter(|(_, constraint)| constraint.kind.is_held());
        let members: Vec<IntegralId> = held.map(|(id, _)| id).collect();
        let pairs = problem.integrals.holonomic_pairs();
        let observed = |ids: &[IntegralId]| ids.iter().map(|id| &observables[*id].gradient).collect::<Vec<_>>();
        let multipliers =
            |ids: &[IntegralId]| ids.iter().map(|id| problem.symbols.multiplier(*id)).collect::<Option<_>>();
        let bracket = |f: &SparseRow, g: &SparseRow| space.bracket(f, g);
        let with_energy = |members: &[&SparseRow]| -> Option<Vec<Expression>> {
            members.iter().map(|member| space.negative_free_rate(member, hamiltonian)).collect()
        };
        let held: Vec<IntegralId> = problem.reactions.iter().map(|reaction| reaction.constraint).collect();
        if members.len() == 2 * pairs.len() + held.len() {
            let (mut constraints, rates): (Vec<_>, Vec<_>) = pairs.into_iter().unzip();
            let along = problem.reactions.iter().map(|reaction| &reaction.along);
            let acting: Vec<&SparseRow> = observed(&constraints).into_iter().chain(along).collect();
            let kept = observed(&[&rates[..], &held].concat());
            constraints.extend(&held);
            let matrix = symmetric(&acting, &kept, bracket)?;
            if !held.is_empty() || is_definite(&matrix) {
                let of_rates = LinearSystem {
                    unknowns: multipliers(&rates)?,
                    matrix: matrix[..rates.len()].iter().map(|row| row[..rates.len()].to_vec()).collect(),
                    right_side: rates.iter().map(|rate| integrals[*rate].value.clone()).collect(),
                };
                let b = antisymmetric(&observed(&rates), &kept[rates.len()..], bracket)?;
                let right_side = with_energy(&kept)?.into_iter().zip(&b).map(|(free, row)| {
                    let terms = row.iter().zip(&of_rates.unknowns).filter(|(entry, _)| !entry.is_zero());
                    let terms = terms.map(|(entry, unknown)| entry.clone() * Expression::from(*unknown));
                    Expression::sum([free].into_iter().chain(terms))
                });
                let right_side = right_side.collect();
                let of_constraints = LinearSystem { unknowns: multipliers(&constraints)?, matrix, right_side };
                let systems = [of_rates, of_constraints].into_iter();
                return Some(systems.filter(|system| !system.unknowns.is_empty()).collect());
            }
        }
        let observed = observed(&members);
        let c = antisymmetric(&observed, &[], bracket)?;
        let transposed = (0..c.len()).map(|j| c.iter().map(|row| row[j].clone()).collect()).collect();
        let right_side = with_energy(&observed)?;
        Some(vec![LinearSystem { unknowns: multipliers(&members)?, matrix: transposed, right_side }])
    }

    pub(super) fn rates(&self) -> Table<Symbol, Expression> {
        self.problem.symbols.over_states(|state| Expression::sum(self.component(state)))
    }

    /// The terms of a rate.
    fn component(&self, state: Symbol) -> Vec<Expression> {
        let PhaseSpace { symbols, structure, drive, .. } = self.space;
        match symbols[state].role {
            Role::Time => return vec![Expression::one()],
            Role::Work => {
                let power = |force: &Force| force.value.clone() * Expression::sum(self.component(force.coordinate));
                let by_time = drive.time.into_iter().flat_map(|time| self.slope(time, &Expression::one()));
                let moving = self.problem.reactions.iter().filter(|reaction| !reaction.offset.is_zero());
                let by_constraints = moving.filter_map(|Reaction { constraint, offset, .. }| {
                    Some(-(Expression::from(self.problem.symbols.multiplier(*constraint)?) * offset.clone()))
                });
                return drive.forces.iter().map(power).chain(by_time).chain(by_constraints).collect();
            }
            _ => {}
        }
        let row = structure.row(symbols, state).into_iter();
        let along = row.flat_map(|(column, entry)| self.slope(column, &entry));
        let acting = drive.forces.iter().filter(|force| force.momentum == state);
        along.chain(acting.map(|force| force.value.clone())).chain(self.reactions(state)).collect()
    }

    /// The reaction of velocity constraints along a momentum.
    fn reactions(&self, state: Symbol) -> impl Iterator<Item = Expression> {
        self.problem.reactions.iter().filter_map(move |Reaction { constraint, along, .. }| {
            let Role::Momentum { coordinate } = self.problem.symbols[state].role else { return None };
            let entry = along.get(&coordinate)?;
            Some(entry.clone() * Expression::from(self.problem.symbols.multiplier(*constraint)?))
        })
    }

    /// The terms of an entry of v times a factor.
    fn slope(&self, column: Symbol, factor: &Expression) -> Vec<Expression> {
        let entry = |id: IntegralId| self.integrals[id].gradient.get(&column).cloned();
        let of_energy = self.integrals.energy().and_then(entry).map(|slope| slope * factor.clone());
        let constraints = self.integrals.constraints().filter(|(_, constraint)| constraint.kind != Kind::Velocity);
        let of_constraints = constraints.filter_map(|(id, _)| {
            let slope = entry(id)?;
            let multiplier = Expression::from(self.problem.symbols.multiplier(id)?);
            Some(Expression::product([-factor.clone(), multiplier, slope]))
        });
        of_energy.into_iter().chain(of_constraints).collect()
    }
}

/// A_ij = {g_i, g'_j}, which is symmetric.
fn symmetric(
    positions: &[&SparseRow],
    rates: &[&SparseRow],
    bracket: impl Fn(&SparseRow, &SparseRow) -> Option<Expression>,
) -> Option<Vec<Vec<Expression>>> {
    let k = positions.len();
    let mut matrix = vec![vec![Expression::zero(); k]; k];
    for i in 0..k {
        for j in i..k {
            matrix[i][j] = bracket(positions[i], rates[j])?;
            matrix[j][i] = matrix[i][j].clone();
        }
    }
    Some(matrix)
}

/// The brackets of members, which are antisymmetric, and below them the brackets of others with the members.
fn antisymmetric(
    members: &[&SparseRow],
    others: &[&SparseRow],
    bracket: impl Fn(&SparseRow, &SparseRow) -> Option<Expression>,
) -> Option<Vec<Vec<Expression>>> {
    let mut matrix = vec![vec![Expression::zero(); members.len()]; members.len()];
    for i in 0..members.len() {
        for j in i + 1..members.len() {
            let entry = bracket(members[i], members[j])?;
            matrix[j][i] = -entry.clone();
            matrix[i][j] = entry;
        }
    }
    for other in others {
        matrix.push(members.iter().map(|member| bracket(other, member)).collect::<Option<_>>()?);
    }
    Some(matrix)
}

/// Returns `true` if A has pivots of one sign, as it does where H_pp is definite: only then does L D L^T need no exchange of rows.
/// Where A is singular at every point the answer is yes, and `regularity` says what is wrong.
fn is_definite(a: &[Vec<Expression>]) -> bool {
    sample_points().all(|point| {
        let values = a.iter().map(|row| row.iter().map(|entry| point.evaluate(entry)).collect()).collect();
        has_pivots_of_one_sign(values)
    })
}

fn has_pivots_of_one_sign(a: Vec<Vec<f64>>) -> bool {
    let n = a.len();
    let Some(mut matrix) = Balanced::of(a) else { return true };
    let mut sign = 0.0;
    (0..n).all(|step| {
        let pivot = *matrix.entry(step, step);
        if pivot.abs() <= f64::NEGLIGIBLE {
            return (step + 1..n).all(|row| matrix.entry(row, step).abs() <= f64::NEGLIGIBLE);
        }
        let is_other = sign * pivot < 0.0;
        sign = pivot;
        !is_other && matrix.eliminate(step, step)
    })
}
