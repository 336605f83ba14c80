//! Proofs that what is declared to be conserved is conserved: dI.X = 0 for every integral I.
//!
//! (a) dI.X vanishes identically, (b) it vanishes where the constraints hold, (c) it does neither, which is a mistake of the
//! declaration. For X = J (grad H - Df^T c) with C^T c = b,
//!
//! dI.X = {I, H} - sum_j c_j {I, f_j}
//!
//! The constraints f have grade (a) by construction, because C^T c = b, and so has H, because c^T C c = 0. For anything else
//! [`rates`](super::rates) evaluates dI.X at random points modulo primes, for (a) and, where the constraints can be solved for
//! variables, for (b). For (b) with other constraints, c is eliminated by Cramer's rule where there are few, and
//! [`vanishing`](super::vanishing) divides the numerator by the constraints.
//!
//! What algebra does not prove does not compile, unless the declaration assumes it. In both cases states are searched for that refute
//! it.

use super::rates::{vanishes_everywhere, vanishes_on_constraints};
use super::search::{Found, Search};
use super::vanishing::vanishes_where;
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
    /// dI.X where the constraints hold, if algebra did not decide. It may contain multipliers.
    rate: Expression,
}

impl Claim {
    /// The grade, if algebra decided.
    pub fn proved(&self) -> Option<Conservation> {
        self.proved
    }

    fn decided(grade: Conservation) -> Self {
        Self { proved: Some(grade), rate: Expression::zero() }
    }
}

/// An integral that is not shown to be conserved, and is not assumed to be.
#[derive(Clone, Debug)]
pub struct Violation {
    /// The integral.
    pub integral: IntegralId,
    /// dI.X where the constraints hold. It may contain multipliers.
    pub rate: Expression,
    /// What the search among states found.
    pub found: Found,
}

const BY_ALGEBRA: Conservation = Conservation::Everywhere(Evidence::Algebra);
const ON_CONSTRAINTS: Conservation = Conservation::OnConstraints(Evidence::Algebra);

/// What algebra says to every integral. Runs within a session.
pub fn claims(derivation: &Derivation) -> Table<IntegralId, Claim> {
    let is_decided = |integral| derivation.integrals[integral].kind.is_conserved_by_construction();
    let brackets = match &derivation.field {
        Field::Dirac(constraints) if !derivation.integrals.ids().all(is_decided) => {
            Some(Brackets::new(derivation, constraints))
        }
        Field::Dirac(_) | Field::Given(_) => None,
    };
    derivation.integrals.ids().map(|integral| claim(derivation, brackets.as_ref(), integral)).collect()
}

/// The grade of every integral; those that are not conserved, or not known to be, if there are any.
pub fn prove(
    derivation: &Derivation,
    claims: &Table<IntegralId, Claim>,
) -> Result<Table<IntegralId, Conservation>, Vec<Violation>> {
    let mut search = Search::new(derivation);
    let mut grades = Vec::new();
    let mut violations = Vec::new();
    for (integral, claim) in claims.iter() {
        if let Some(grade) = claim.proved {
            grades.push(grade);
            continue;
        }
        match search.refute(integral, &claim.rate) {
            Found::Nothing(_) if derivation.integrals[integral].assumed => grades.push(Conservation::Assumed),
            found => violations.push(Violation { integral, rate: claim.rate.clone(), found }),
        }
    }
    if violations.is_empty() { Ok(grades.into_iter().collect()) } else { Err(violations) }
}

fn claim(derivation: &Derivation, brackets: Option<&Brackets<'_>>, integral: IntegralId) -> Claim {
    if derivation.integrals[integral].kind.is_conserved_by_construction() {
        return Claim::decided(Conservation::Everywhere(Evidence::Construction));
    }
    if vanishes_everywhere(derivation, integral) {
        return Claim::decided(BY_ALGEBRA);
    }
    if vanishes_on_constraints(derivation, integral) {
        return Claim::decided(ON_CONSTRAINTS);
    }
    match (&derivation.field, brackets) {
        (Field::Given(rates), _) => claim_of_given(derivation, rates, integral),
        (Field::Dirac(_), Some(brackets)) => brackets.claim(integral),
        (Field::Dirac(_), None) => Claim::decided(Conservation::Everywhere(Evidence::Construction)),
    }
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
    let constraints = constraints(derivation);
    let is_proved = !constraints.is_empty() && vanishes_where(&rate, &constraints);
    Claim { proved: is_proved.then_some(ON_CONSTRAINTS), rate }
}

/// What is not real anywhere stands as a number that is not 0: nothing is proved of it, and no state will be found for it.
fn written(rate: &Expr) -> Expression {
    rate.write().unwrap_or(Expression::one())
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
        // There may be too many roots for points modulo primes, such as the distances of many bodies, where terms cancel by expansion.
        if with_energy.is_zero() && row.iter().all(Expression::is_zero) {
            return Claim::decided(BY_ALGEBRA);
        }
        let is_proved = self.vanishes_on_constraints(&with_energy, &row) == Some(true);
        Claim { proved: is_proved.then_some(ON_CONSTRAINTS), rate: self.rate(integral, with_energy) }
    }

    /// dI.X where the constraints hold: there, the multipliers of the rates of holonomic constraints vanish.
    fn rate(&self, integral: IntegralId, with_energy: Expression) -> Expression {
        let acting = match self.constraints {
            Constraints::Holonomic { pairs, .. } => pairs.iter().map(|(constraint, _)| *constraint).collect(),
            Constraints::General { members, .. } => members.clone(),
        };
        let reactions = acting.into_iter().filter_map(|constraint| {
            let multiplier = Expression::from(self.derivation.symbols.multiplier(constraint)?);
            Some(multiplier * self.bracket(constraint, integral))
        });
        Expression::sum([with_energy].into_iter().chain(reactions))
    }

    /// `None` where there are too many constraints, or C is singular everywhere.
    fn vanishes_on_constraints(&self, with_energy: &Expression, row: &[Expression]) -> Option<bool> {
        let all = constraints(self.derivation);
        let (rows, right_side, own) = match self.constraints {
            Constraints::Holonomic { a, energy_brackets, .. } => (a.clone(), energy_brackets.clone(), &row[..a.len()]),
            Constraints::General { c, .. } => {
                (transposed(c), self.constraints.right_side(&self.derivation.integrals), row)
            }
        };
        let is_zero = |expression: &Expression| expression.is_zero() || vanishes_where(expression, &all);
        if all.is_empty() || rows.len() >= LARGEST_DETERMINANT {
            return None;
        }
        let whole = determinant(&rows, &(0..rows.len()).collect::<Vec<_>>());
        // Where all brackets vanish nothing has to be eliminated, which makes high degrees.
        let vanishes = [with_energy].into_iter().chain(own).all(is_zero) || {
            let rate = bordered(rows.iter().cloned().zip(right_side), own, with_energy);
            is_zero(&rate.divide(whole.clone()).ok()?)
        };
        Some(vanishes && self.multipliers_of_rates(&rows, &whole)?.iter().all(is_zero))
    }

    /// The multipliers A^-1 g' of the rates of holonomic constraints, which have to vanish where A has an inverse, and where it
    /// does not, too: there, a common factor of A and g' may have been divided out.
    fn multipliers_of_rates(&self, a: &[Vec<Expression>], whole: &Expression) -> Option<Vec<Expression>> {
        let Constraints::Holonomic { pairs, .. } = self.constraints else { return Some(Vec::new()) };
        let replaced = |column: usize| {
            let rows = a.iter().zip(pairs).map(|(row, (_, rate))| {
                let mut row = row.clone();
                row[column] = self.derivation.integrals[*rate].value.clone();
                row
            });
            let columns: Vec<usize> = (0..a.len()).collect();
            determinant(&rows.collect::<Vec<_>>(), &columns).divide(whole.clone()).ok()
        };
        (0..a.len()).map(replaced).collect()
    }
}

fn transposed(matrix: &[Vec<Expression>]) -> Vec<Vec<Expression>> {
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
