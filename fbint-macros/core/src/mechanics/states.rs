//! States at which claims are tested: in general position, and on the constraint set.
//!
//! A state comes with values of the parameters: one number for every symbol of the model. States are the same in every
//! run. Those on the constraint set are found from those in general position by damped Gauss-Newton steps over the state
//! alone, in doubles, and are then made precise to seventy digits: the factors of the last step in doubles, residuals in
//! 256 bits.

use num_traits::Signed;

use crate::derivation::Derivation;
use crate::expression::{Expression, Symbol, to_f64};
use crate::precise::Real;
use crate::sample::search_points;

use super::linear::Lu;

/// A value for every symbol, the state's first.
#[derive(Clone, Debug)]
pub(super) struct State {
    values: Vec<Real>,
}

/// Entries of F below this are zero, in doubles, relative to the terms that they are made of, or to their first value if
/// that is below 1.
const CONVERGED: f64 = 1e-11;
/// What moves away from its start by more than this factor has found no zero: it is on its way to infinity.
const FARTHEST: f64 = 1e6;
/// The same of precise ones.
const PRECISE: f64 = 1e-60;
/// Gauss-Newton steps from one start.
const STEPS: usize = 60;
/// Steps that make a state precise: each gains ten digits or so.
const REFINEMENTS: usize = 16;

impl State {
    pub(super) fn new(values: &[f64]) -> Self {
        Self { values: values.iter().copied().map(Real::from).collect() }
    }

    /// The value of an expression, where it is defined.
    pub(super) fn evaluate(&self, expression: &Expression) -> Option<Real> {
        Real::evaluate(expression, &|symbol| self.values[symbol.0 as usize].clone())
    }

    /// The values of the symbols.
    pub(super) fn doubles(&self) -> Vec<f64> {
        self.values.iter().map(Real::to_f64).collect()
    }
}

/// States in general position, most of them of size one, some with negative entries.
pub(super) fn general(derivation: &Derivation) -> impl Iterator<Item = Vec<f64>> {
    let (symbols, dimension) = (derivation.first_multiplier, derivation.dimension);
    search_points(dimension).map(move |point| (0..symbols).map(|index| point.symbol(Symbol(index))).collect())
}

/// The value of an expression in doubles.
pub(super) fn evaluate(expression: &Expression, state: &[f64]) -> f64 {
    expression.evaluate(&|symbol| state[symbol.0 as usize])
}

/// The state on the constraint set that is near `start`, if the search for one converges.
pub(super) fn consistent(derivation: &Derivation, start: Vec<f64>) -> Option<State> {
    let members: Vec<usize> = (0..derivation.constraint_count).collect();
    refine(derivation, &members, &descend(derivation, &members, start)?)
}

/// Gauss-Newton steps for F = 0 over some of the integrals, damped as much as they must be to lower |F|.
pub(super) fn descend(derivation: &Derivation, members: &[usize], mut x: Vec<f64>) -> Option<Vec<f64>> {
    let mut damping = 1e-9;
    let mut residual = values(derivation, members, &x);
    let (first, farthest) = (residual.clone(), FARTHEST * norm(&x));
    for _ in 0..STEPS {
        let before = norm(&residual);
        if !before.is_finite() || norm(&x) > farthest {
            return None;
        }
        let is_zero = |(index, entry): (usize, &f64)| {
            let terms = magnitude(&derivation.integrals[members[index]], &x);
            entry.abs() <= CONVERGED * terms.max(first[index].abs().min(1.0))
        };
        if residual.iter().enumerate().all(is_zero) {
            return Some(x);
        }
        let rows = rows(derivation, members, &x);
        loop {
            let step = step(&rows, damping, &residual)?;
            let next: Vec<f64> = x.iter().enumerate().map(|(i, x)| x - step.get(i).copied().unwrap_or(0.0)).collect();
            let next_residual = values(derivation, members, &next);
            if norm(&next_residual) < before {
                (x, residual) = (next, next_residual);
                damping = (damping / 10.0).max(1e-13);
                break;
            }
            damping *= 10.0;
            if damping > 1e6 {
                return None;
            }
        }
    }
    None
}

/// The value of an expression if none of its terms cancelled another.
pub(super) fn magnitude(expression: &Expression, state: &[f64]) -> f64 {
    match expression {
        Expression::Sum(terms) => terms.iter().map(|term| magnitude(term, state)).sum(),
        Expression::Product(factors) => factors.iter().map(|factor| magnitude(factor, state)).product(),
        Expression::Power(base, exponent) if exponent.is_positive() => magnitude(base, state).powf(to_f64(exponent)),
        other => evaluate(other, state).abs(),
    }
}

fn refine(derivation: &Derivation, members: &[usize], x: &[f64]) -> Option<State> {
    let rows = rows(derivation, members, x);
    let factors = normal_equations(&rows, 1e-13)?;
    let mut state = State::new(x);
    for _ in 0..REFINEMENTS {
        let residual: Option<Vec<f64>> =
            members.iter().map(|&row| Some(state.evaluate(&derivation.integrals[row])?.to_f64())).collect();
        let residual = residual?;
        if residual.iter().all(|entry| entry.abs() < PRECISE) {
            return Some(state);
        }
        for (row, weight) in rows.iter().zip(factors.solve(&residual)) {
            for &(index, entry) in row {
                state.values[index] = &state.values[index] - &Real::from(weight * entry);
            }
        }
    }
    None
}

fn values(derivation: &Derivation, members: &[usize], x: &[f64]) -> Vec<f64> {
    members.iter().map(|&row| evaluate(&derivation.integrals[row], x)).collect()
}

fn rows(derivation: &Derivation, members: &[usize], x: &[f64]) -> Vec<Vec<(usize, f64)>> {
    let row =
        |&row: &usize| derivation.gradients[row].iter().map(|(index, entry)| (*index, evaluate(entry, x))).collect();
    members.iter().map(row).collect()
}

/// DF^T (DF DF^T + damping D)^-1 F with D the diagonal.
fn step(rows: &[Vec<(usize, f64)>], damping: f64, residual: &[f64]) -> Option<Vec<f64>> {
    let weights = normal_equations(rows, damping)?.solve(residual);
    let length = rows.iter().flatten().map(|(index, _)| index + 1).max()?;
    let mut step = vec![0.0; length];
    for (row, weight) in rows.iter().zip(weights) {
        row.iter().for_each(|&(index, entry)| step[index] += weight * entry);
    }
    step.iter().all(|entry| entry.is_finite()).then_some(step)
}

fn normal_equations(rows: &[Vec<(usize, f64)>], damping: f64) -> Option<Lu> {
    let length = rows.iter().flatten().map(|(index, _)| index + 1).max()?;
    let product = |row: &Vec<(usize, f64)>| {
        let mut dense = vec![0.0; length];
        row.iter().for_each(|&(index, entry)| dense[index] = entry);
        rows.iter().map(|other| other.iter().map(|&(index, entry)| entry * dense[index]).sum()).collect()
    };
    let mut matrix: Vec<Vec<f64>> = rows.iter().map(product).collect();
    (0..matrix.len()).for_each(|i| matrix[i][i] += damping * (matrix[i][i] + 1e-6));
    Lu::factor(matrix)
}

fn norm(values: &[f64]) -> f64 {
    values.iter().map(|value| value * value).sum::<f64>().sqrt()
}
