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

use super::phase_space::{Observable, PhaseSpace};
use super::regularity::constraint_matrix;
use super::samples::Samples;
use super::vanishing::vanishes;
use crate::derivation::{Conservation, Constraints, Derivation, Evidence, Field};
use crate::expression::{Expression, Symbol};
use crate::symbolic::Expr;

/// The size of the largest determinant that is written out.
pub(super) const LARGEST_DETERMINANT: usize = 5;

/// What is claimed of an integral, and what algebra says to it.
#[derive(Clone, Debug)]
pub struct Claim {
    /// The grade, if algebra decided.
    proved: Option<Conservation>,
    /// dI.X where the constraints hold. The multiplier of constraint j is the symbol beyond the model's with that index.
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
    /// Which one.
    pub integral: usize,
    /// dI.X where the constraints hold, as in [`Claim`].
    pub rate: Expression,
    /// A value for every symbol.
    pub state: Vec<f64>,
    /// The value of dI.X in this state.
    pub value: f64,
}

/// What algebra says to every integral. Runs within a session.
pub fn claims(derivation: &Derivation) -> Vec<Claim> {
    let open = (0..derivation.integrals.len()).any(|integral| !is_kept_by_construction(derivation, integral));
    let brackets = match &derivation.field {
        Field::Dirac(constraints) if open => Some(Brackets::new(derivation, constraints)),
        Field::Dirac(_) | Field::Given(_) => None,
    };
    let claim = |integral| match (&derivation.field, &brackets) {
        _ if is_kept_by_construction(derivation, integral) => {
            let proved = Some(Conservation::Everywhere(Evidence::Construction));
            Claim { proved, rate: Expression::zero() }
        }
        (Field::Dirac(_), Some(brackets)) => brackets.claim(integral),
        (Field::Given(rates), _) => claim_of_given(derivation, rates, integral),
        (Field::Dirac(_), None) => unreachable!("all of its integrals are kept by construction"),
    };
    (0..derivation.integrals.len()).map(claim).collect()
}

/// The grade of every integral; those that are not conserved, if there are any.
pub fn prove(derivation: &Derivation, claims: &[Claim]) -> Result<Vec<Conservation>, Vec<Violation>> {
    let mut samples = Samples::new(derivation);
    let mut grades = Vec::new();
    let mut violations = Vec::new();
    for (integral, claim) in claims.iter().enumerate() {
        match claim.proved.map_or_else(|| samples.grade(integral), Ok) {
            Ok(grade) => grades.push(grade),
            Err((state, value)) => violations.push(Violation { integral, rate: claim.rate.clone(), state, value }),
        }
    }
    if violations.is_empty() { Ok(grades) } else { Err(violations) }
}

fn is_kept_by_construction(derivation: &Derivation, integral: usize) -> bool {
    let is_constraint = integral < derivation.constraint_count && derivation.constraints().is_some();
    is_constraint || Some(integral) == derivation.energy
}

/// dI.X = sum_i dI/dx_i x'_i
fn claim_of_given(derivation: &Derivation, rates: &[Expression], integral: usize) -> Claim {
    let mut rate = Expr::zero();
    for (index, slope) in &derivation.gradients[integral] {
        rate = &rate + &(&Expr::read(slope) * &Expr::read(&rates[*index]));
    }
    let rate = rate.simplest();
    let rate = written(&rate);
    let constraints: Vec<&Expression> = derivation.integrals[..derivation.constraint_count].iter().collect();
    Claim { proved: decide(&rate, &rate, &constraints), rate }
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
    space: PhaseSpace,
    observables: Vec<Observable>,
}

impl<'a> Brackets<'a> {
    fn new(derivation: &'a Derivation, constraints: &'a Constraints) -> Self {
        let space = PhaseSpace::new(derivation.dimension);
        let integrals = derivation.integrals.iter().zip(&derivation.gradients);
        let observables = integrals.map(|(value, gradient)| Observable::read(value, gradient)).collect();
        Self { derivation, constraints, space, observables }
    }

    fn claim(&self, integral: usize) -> Claim {
        let bracket =
            |other: usize| written(&self.space.bracket(&self.observables[integral], &self.observables[other]));
        let with_energy = self.derivation.energy.map_or_else(Expression::zero, bracket);
        let row: Vec<Expression> = (0..self.constraints.len()).map(bracket).collect();
        let rate = self.rate(integral, &with_energy);
        let proved = if with_energy.is_zero() && row.iter().all(Expression::is_zero) {
            Some(Conservation::Everywhere(Evidence::Algebra))
        } else {
            self.decide(&with_energy, &row)
        };
        Claim { proved, rate }
    }

    /// dI.X where the constraints hold: there, the multipliers of the rates of holonomic constraints vanish.
    fn rate(&self, integral: usize, with_energy: &Expression) -> Expression {
        let vanishing = match self.constraints {
            Constraints::Holonomic { a, .. } => a.len()..2 * a.len(),
            Constraints::Phase { .. } => 0..0,
        };
        let constraints = (0..self.constraints.len()).filter(|j| !vanishing.contains(j));
        let reactions = constraints.map(|j| {
            let multiplier = Expression::from(Symbol(self.derivation.first_multiplier + j as u32));
            multiplier * written(&self.space.bracket(&self.observables[j], &self.observables[integral]))
        });
        Expression::sum([with_energy.clone()].into_iter().chain(reactions))
    }

    fn decide(&self, with_energy: &Expression, row: &[Expression]) -> Option<Conservation> {
        let n = self.constraints.len();
        let everywhere = (n < LARGEST_DETERMINANT).then(|| {
            let rows = transposed(constraint_matrix(self.constraints)).into_iter().zip(self.right_hand_side());
            bordered(rows, row, with_energy)
        });
        let on_constraints = match self.constraints {
            Constraints::Holonomic { a, energy_brackets, .. } if a.len() < LARGEST_DETERMINANT => {
                let rows = a.iter().cloned().zip(energy_brackets.iter().cloned());
                Some(bordered(rows, &row[..a.len()], with_energy))
            }
            _ => everywhere.clone(),
        };
        let constraints: Vec<&Expression> = self.derivation.integrals[..n].iter().collect();
        let never = Expression::one();
        decide(&everywhere.unwrap_or_else(|| never.clone()), &on_constraints.unwrap_or(never), &constraints)
    }

    /// b_i = {H, f_i}; that of a holonomic constraint is minus its rate.
    fn right_hand_side(&self) -> Vec<Expression> {
        match self.constraints {
            Constraints::Phase { energy_brackets, .. } => energy_brackets.clone(),
            Constraints::Holonomic { a, energy_brackets, .. } => {
                let rates = &self.derivation.integrals[a.len()..2 * a.len()];
                rates.iter().map(|rate| -rate.clone()).chain(energy_brackets.iter().cloned()).collect()
            }
        }
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
