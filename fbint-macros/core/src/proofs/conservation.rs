//! Proofs that what is declared to be conserved is conserved: dI.X = 0 for every integral I.
//!
//! There are three grades. (a) dI.X vanishes identically, (b) it vanishes where the constraints hold, (c) it does neither,
//! which is a mistake of the declaration. For X = J (grad H - Df^T c) with C^T c = b,
//!
//! dI.X = {I, H} - sum_j c_j {I, f_j}
//!
//! The constraints f have grade (a) by construction, because C^T c = b, and so has H, because c^T C c = 0. Of an invariant,
//! all the brackets may vanish; otherwise c is eliminated by Cramer's rule where there are few constraints,
//! dI.X det C = det [[C^T, b], [{I, f}, {I, H}]], and the right-hand side is shown to vanish, or to vanish modulo the
//! constraints. Where that leads nowhere, dI.X is evaluated to seventy digits in states of general position and in states
//! that satisfy the constraints. These states also show what is false, and one of them is a witness.

use super::samples::Samples;
use super::states::Values;
use super::vanishing::vanishes;
use crate::derivation::{Conservation, Constraints, Derivation, Evidence, Field, IntegralId};
use crate::expression::{Expression, Symbol};
use crate::mechanics::{Observable, PhaseSpace};
use crate::symbolic::Expr;
use crate::table::Table;

/// The size of the largest determinant that is written out.
pub(super) const LARGEST_DETERMINANT: usize = 5;

/// What is claimed of an integral, and what algebra says to it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The grade, if algebra decided.
    proved: Option<Conservation>,
    /// dI.X where the constraints hold. It may contain multipliers.
    rate: Expression,
}

impl Claim {
    /// The grade, if algebra decided.
    pub fn proved(&self) -> Option<Conservation> {
        self.proved
    }
}

/// An integral that is not conserved.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The integral.
    pub integral: IntegralId,
    /// dI.X where the constraints hold, as in [`Claim`].
    pub rate: Expression,
    /// A value for every entry of the state and of the parameters.
    pub state: Values,
    /// The value of dI.X in this state.
    pub value: f64,
}

/// What algebra says to every integral. Runs within a session.
pub fn claims(derivation: &Derivation) -> Table<IntegralId, Claim> {
    let open = derivation.integrals.ids().any(|integral| !is_kept_by_construction(derivation, integral));
    let brackets = match &derivation.field {
        Field::Dirac(constraints) if open => Some(Brackets::new(derivation, constraints)),
        Field::Dirac(_) | Field::Given(_) => None,
    };
    let claim = |integral| match (&derivation.field, &brackets) {
        (Field::Dirac(_), Some(brackets)) if !is_kept_by_construction(derivation, integral) => brackets.claim(integral),
        (Field::Given(rates), _) if !is_kept_by_construction(derivation, integral) => {
            claim_of_given(derivation, rates, integral)
        }
        _ => {
            let proved = Some(Conservation::Everywhere(Evidence::Construction));
            Claim { proved, rate: Expression::zero() }
        }
    };
    derivation.integrals.ids().map(claim).collect()
}

/// The grade of every integral; those that are not conserved, if there are any.
pub fn prove(
    derivation: &Derivation,
    claims: &Table<IntegralId, Claim>,
) -> Result<Table<IntegralId, Conservation>, Vec<Violation>> {
    let mut samples = Samples::new(derivation);
    let mut grades = Vec::new();
    let mut violations = Vec::new();
    for (integral, claim) in claims.iter() {
        match claim.proved.map_or_else(|| samples.grade(integral), Ok) {
            Ok(grade) => grades.push(grade),
            Err((state, value)) => violations.push(Violation { integral, rate: claim.rate.clone(), state, value }),
        }
    }
    if violations.is_empty() { Ok(grades.into_iter().collect()) } else { Err(violations) }
}

fn is_kept_by_construction(derivation: &Derivation, integral: IntegralId) -> bool {
    derivation.integrals[integral].kind.is_conserved_by_construction()
}

/// The functions that vanish on the constraint set.
fn constraints(derivation: &Derivation) -> Vec<&Expression> {
    derivation.integrals.constraints().map(|(_, constraint)| &constraint.value).collect()
}

/// dI.X = sum_i dI/dx_i x'_i
fn claim_of_given(derivation: &Derivation, rates: &Table<Symbol, Expression>, integral: IntegralId) -> Claim {
    let mut rate = Expr::zero();
    for (symbol, slope) in &derivation.integrals[integral].gradient {
        rate = &rate + &(&Expr::read(slope) * &Expr::read(&rates[*symbol]));
    }
    let rate = written(&rate.simplest());
    Claim { proved: decide(&rate, &rate, &constraints(derivation)), rate }
}

/// What is not real anywhere stands as a number that is not 0: nothing is proved of it, and no state will be found for it.
fn written(rate: &Expr) -> Expression {
    rate.write().unwrap_or(Expression::one())
}

fn decide(everywhere: &Expression, on_constraints: &Expression, constraints: &[&Expression]) -> Option<Conservation> {
    if vanishes(everywhere, &[]) {
        Some(Conservation::Everywhere(Evidence::Algebra))
    } else if !constraints.is_empty() && vanishes(on_constraints, constraints) {
        Some(Conservation::OnConstraints(Evidence::Algebra))
    } else {
        None
    }
}

/// The brackets of a Dirac field.
struct Brackets<'a> {
    derivation: &'a Derivation,
    constraints: &'a Constraints,
    observables: Table<IntegralId, Observable>,
}

impl<'a> Brackets<'a> {
    fn new(derivation: &'a Derivation, constraints: &'a Constraints) -> Self {
        Self { derivation, constraints, observables: derivation.integrals.map(Observable::read) }
    }

    /// {f, g}
    fn bracket(&self, f: IntegralId, g: IntegralId) -> Expression {
        let space = PhaseSpace::new(&self.derivation.symbols, &self.derivation.structure);
        written(&space.bracket(&self.observables[f], &self.observables[g]))
    }

    fn claim(&self, integral: IntegralId) -> Claim {
        let with_energy = self.derivation.integrals.energy();
        let with_energy = with_energy.map_or_else(Expression::zero, |energy| self.bracket(integral, energy));
        let row: Vec<Expression> =
            self.constraints.members().into_iter().map(|other| self.bracket(integral, other)).collect();
        let rate = self.rate(integral, &with_energy);
        let proved = if with_energy.is_zero() && row.iter().all(Expression::is_zero) {
            Some(Conservation::Everywhere(Evidence::Algebra))
        } else {
            self.decide(&with_energy, &row)
        };
        Claim { proved, rate }
    }

    /// dI.X where the constraints hold: there, the multipliers of the rates of holonomic constraints vanish.
    fn rate(&self, integral: IntegralId, with_energy: &Expression) -> Expression {
        let acting = match self.constraints {
            Constraints::Holonomic { pairs, .. } => pairs.iter().map(|(constraint, _)| *constraint).collect(),
            Constraints::General { members, .. } => members.clone(),
        };
        let reactions = acting.into_iter().filter_map(|constraint| {
            let multiplier = Expression::from(self.derivation.symbols.multiplier(constraint)?);
            Some(multiplier * self.bracket(constraint, integral))
        });
        Expression::sum([with_energy.clone()].into_iter().chain(reactions))
    }

    fn decide(&self, with_energy: &Expression, row: &[Expression]) -> Option<Conservation> {
        let everywhere = (row.len() < LARGEST_DETERMINANT).then(|| {
            let right_side = self.constraints.right_side(&self.derivation.integrals);
            let rows = transposed(self.constraints.matrix()).into_iter().zip(right_side);
            bordered(rows, row, with_energy)
        });
        let on_constraints = match self.constraints {
            Constraints::Holonomic { a, energy_brackets, .. } if a.len() < LARGEST_DETERMINANT => {
                let rows = a.iter().cloned().zip(energy_brackets.iter().cloned());
                Some(bordered(rows, &row[..a.len()], with_energy))
            }
            _ => everywhere.clone(),
        };
        let never = Expression::one();
        decide(
            &everywhere.unwrap_or_else(|| never.clone()),
            &on_constraints.unwrap_or(never),
            &constraints(self.derivation),
        )
    }
}

fn transposed(matrix: Vec<Vec<Expression>>) -> Vec<Vec<Expression>> {
    (0..matrix.len()).map(|j| matrix.iter().map(|row| row[j].clone()).collect()).collect()
}

/// det [[M, b], [r, h]], from the rows of M and b.
fn bordered(
    rows: impl Iterator<Item = (Vec<Expression>, Expression)>,
    last: &[Expression],
    corner: &Expression,
) -> Expression {
    let with = |mut row: Vec<Expression>, entry: Expression| {
        row.push(entry);
        row
    };
    let mut matrix: Vec<Vec<Expression>> = rows.map(|(row, entry)| with(row, entry)).collect();
    matrix.push(with(last.to_vec(), corner.clone()));
    let columns: Vec<usize> = (0..matrix.len()).collect();
    determinant(&matrix, &columns)
}

/// By minors of the first row.
pub(super) fn determinant(rows: &[Vec<Expression>], columns: &[usize]) -> Expression {
    let Some((first, rest)) = rows.split_first() else { return Expression::one() };
    let minor = |(position, &column): (usize, &usize)| {
        if first[column].is_zero() {
            return Expression::zero();
        }
        let others: Vec<usize> = columns.iter().copied().filter(|&other| other != column).collect();
        let sign = Expression::integer(if position % 2 == 0 { 1 } else { -1 });
        Expression::product([sign, first[column].clone(), determinant(rest, &others)])
    };
    Expression::sum(columns.iter().enumerate().map(minor).collect::<Vec<_>>())
}
