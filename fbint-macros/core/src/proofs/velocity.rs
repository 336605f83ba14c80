//! X in one state, in 256 bits.

use std::collections::BTreeMap;

use super::states::State;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, Field, Implicit, IntegralId, SparseRow, column_of};
use crate::expression::{Expression, Symbol};
use crate::numbers::linear::Balanced;
use crate::numbers::precise::Real;

/// A state and the field in it.
pub(crate) struct Velocity {
    pub(super) state: State,
    /// X, each component with the sum of its terms' sizes.
    field: Components,
    /// What is solved for on the way to X: multipliers, and the unknowns of linear systems.
    pub(crate) solved: Solved,
}

type Components = Table<Symbol, (Real, f64)>;
type Solved = BTreeMap<Symbol, Real>;

/// A row of DF in a state, where it is defined.
pub(super) fn row(derivation: &Derivation, state: &State, integral: IntegralId) -> Option<SparseRow<Real>> {
    let entries = derivation.integrals[integral].gradient.iter();
    entries.map(|(symbol, entry)| Some((*symbol, state.evaluate(entry)?))).collect()
}

impl Velocity {
    /// `None` where the field is not defined.
    pub(crate) fn new(derivation: &Derivation, state: State) -> Option<Self> {
        let (field, solved) = match &derivation.field {
            Field::Given(rates) => components(rates, &state, Solved::new())?,
            Field::Dirac(constraints) => dirac(derivation, &constraints.members(), &state)?,
            Field::Implicit(implicit) => solved(implicit, &state)?,
        };
        Some(Self { state, field, solved })
    }

    /// X along an entry of the state.
    pub(crate) fn component(&self, symbol: Symbol) -> &Real {
        &self.field[symbol].0
    }

    /// dI.X, and what it would be if none of its terms cancelled another.
    pub(super) fn rate(&self, gradient: &[(Symbol, Expression)]) -> Option<(Real, f64)> {
        let (mut value, mut size) = (Real::zero(), 0.0);
        for (symbol, entry) in gradient {
            let entry = self.state.evaluate(entry)?;
            let (component, terms) = &self.field[*symbol];
            value = &value + &(&entry * component);
            size += entry.to_f64().abs() * terms;
        }
        value.to_f64().is_finite().then_some((value, size))
    }
}

/// x', after the linear systems are solved.
fn solved(implicit: &Implicit, state: &State) -> Option<(Components, Solved)> {
    let mut known = Solved::new();
    for system in &implicit.systems {
        let row = |row: Vec<&Expression>| row.into_iter().map(|entry| state.evaluate_with(entry, &known)).collect();
        let rows: Vec<Vec<Real>> = system.rows().map(|entries| row(entries.collect())).collect::<Option<_>>()?;
        known.extend(system.unknowns.iter().copied().zip(solve(rows)?));
    }
    components(&implicit.rates, state, known)
}

/// x', where what it takes is known.
fn components(rates: &Table<Symbol, Expression>, state: &State, known: Solved) -> Option<(Components, Solved)> {
    let rate = |rate: &Expression| {
        let value = state.evaluate_with(rate, &known)?;
        let size = value.to_f64().abs();
        Some((value, size))
    };
    Some((rates.rows().map(rate).collect::<Option<_>>()?, known))
}

/// J (grad H - Df^T c)
fn dirac(derivation: &Derivation, members: &[IntegralId], state: &State) -> Option<(Components, Solved)> {
    let row = |integral: IntegralId| row(derivation, state, integral);
    let constraints: Vec<SparseRow<Real>> = members.iter().map(|&member| row(member)).collect::<Option<_>>()?;
    let energy = row(derivation.integrals.energy()?)?;
    let multipliers = multipliers(derivation, state, &constraints, &energy)?;
    let mut covector = derivation.symbols.over_states(|_| (Real::zero(), 0.0));
    let mut add = |symbol: Symbol, term: Real| {
        covector[symbol].1 += term.to_f64().abs();
        covector[symbol].0 = &covector[symbol].0 + &term;
    };
    energy.into_iter().for_each(|(symbol, entry)| add(symbol, entry));
    for (row, multiplier) in constraints.iter().zip(&multipliers) {
        row.iter().for_each(|(symbol, entry)| add(*symbol, -&(entry * multiplier)));
    }
    let component = |x: Symbol| {
        let terms = derivation.structure.bracket(&derivation.symbols, [(x, ())], |y| Some(&covector[y]));
        let (mut value, mut size) = (Real::zero(), 0.0);
        for ((), entry, (term, magnitude)) in terms {
            let entry = state.entry(entry)?;
            value = &value + &(&entry * term);
            size += entry.to_f64().abs() * magnitude;
        }
        Some((value, size))
    };
    let mut field: Table<Symbol, (Real, f64)> = derivation.symbols.states().map(component).collect::<Option<_>>()?;
    let drive = &derivation.drive;
    let by_time = drive.time.map(|time| covector[time].clone());
    let mut power = by_time.unwrap_or_else(|| (Real::zero(), 0.0));
    let add = |to: &mut (Real, f64), term: &Real, size: f64| *to = (&to.0 + term, to.1 + size);
    for force in &drive.forces {
        let value = state.evaluate(&force.value)?;
        let (velocity, size) = &field[force.coordinate];
        add(&mut power, &(&value * velocity), value.to_f64().abs() * size);
        add(&mut field[force.momentum], &value, value.to_f64().abs());
    }
    drive.time.into_iter().for_each(|time| field[time] = (Real::from(1.0), 1.0));
    drive.work.into_iter().for_each(|work| field[work] = power.clone());
    let solved = members.iter().zip(multipliers).filter_map(|(id, c)| Some((derivation.symbols.multiplier(*id)?, c)));
    Some((field, solved.collect()))
}

/// c with C^T c = b, from the brackets of gradients.
fn multipliers(
    derivation: &Derivation,
    state: &State,
    constraints: &[SparseRow<Real>],
    energy: &SparseRow<Real>,
) -> Option<Vec<Real>> {
    let n = constraints.len();
    let bracket = |f: &SparseRow<Real>, g: &SparseRow<Real>| bracket(derivation, state, f, g);
    let mut rows = vec![vec![Real::zero(); n + 1]; n];
    for i in 0..n {
        for j in i + 1..n {
            let entry = bracket(&constraints[i], &constraints[j])?;
            rows[i][j] = -&entry;
            rows[j][i] = entry;
        }
        let column = |symbol: Symbol| column_of(&constraints[i], symbol);
        let mut right_side = bracket(energy, &constraints[i])?;
        for (slope, force) in derivation.drive.terms(column) {
            let term = force.map_or_else(|| Some(slope.clone()), |force| Some(&state.evaluate(force)? * slope))?;
            right_side = &right_side - &term;
        }
        rows[i][n] = right_side;
    }
    solve(rows)
}

/// The solution of a square system from its rows, with the right side at their end.
pub(crate) fn solve(mut rows: Vec<Vec<Real>>) -> Option<Vec<Real>> {
    let right: Vec<Real> = rows.iter_mut().filter_map(Vec::pop).collect();
    Some(Balanced::of(rows)?.factored(0.0)?.solve(&right))
}

/// {f, g}, from the entries of the gradients that do not vanish.
pub(super) fn bracket(
    derivation: &Derivation,
    state: &State,
    f: &SparseRow<Real>,
    g: &SparseRow<Real>,
) -> Option<Real> {
    let slopes = f.iter().map(|(symbol, slope)| (*symbol, slope));
    let other = |symbol: Symbol| column_of(g, symbol);
    let terms = derivation.structure.bracket(&derivation.symbols, slopes, other);
    terms.into_iter().try_fold(Real::zero(), |sum, (f, entry, g)| Some(&sum + &(&state.entry(entry)? * &(f * g))))
}
