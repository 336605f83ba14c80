//! States at which claims are tested: in general position, and on the constraint set.
//!
//! A state comes with values of the parameters: one number for every symbol of the model. States are the same in every
//! run. Those on the constraint set are found from those in general position by damped Gauss-Newton steps over the state
//! alone, in doubles, and are then made precise to seventy digits by a few steps in 256 bits.

use std::collections::BTreeMap;

use num_traits::Signed;

use crate::derivation::table::Table;
use crate::derivation::{Derivation, Integral, SparseRow, Symbols};
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol, to_f64};
use crate::numbers::derivative::{Evaluation, dot, known_value};
use crate::numbers::linear::Balanced;
use crate::numbers::number::Numeric;
use crate::numbers::points::search_points;
use crate::numbers::precise::Real;

/// A value for every entry of the state and of the parameters.
pub type Values = Table<Symbol, f64>;

/// Precise [`Values`].
#[derive(Clone, Debug)]
pub(crate) struct State {
    values: Table<Symbol, Real>,
    /// The values of expressions.
    known: Results<Option<Real>>,
}

/// Entries of F below this are zero, in doubles, relative to the terms that they are made of, or to their first value if
/// that is below 1.
const CONVERGED: f64 = 1e-11;
/// A search that moves away from its start by more than this factor has found no zero: it is on its way to infinity.
const FARTHEST: f64 = 1e6;
/// The distance to the constraint set, relative to the one that the last step gives.
const SLACK: f64 = 100.0;
/// States in which it is looked for that something does not vanish.
const STATES: usize = 100;
/// Starts that are tried for states in which functions vanish.
pub(super) const TRIED: usize = 40;
/// Gauss-Newton steps from one start.
const STEPS: usize = 60;
/// Steps that make a state precise, and their damping, by which gradients may depend on one another.
const REFINEMENTS: usize = 60;
const PRECISE_DAMPING: f64 = 1e-40;

impl State {
    pub(crate) fn new(values: &Values) -> Self {
        Self { values: values.map(|value| Real::from(*value)), known: Results::default() }
    }

    /// The value of an expression, where it is defined.
    pub(crate) fn evaluate(&self, expression: &Expression) -> Option<Real> {
        known_value(expression, &|symbol| self.values[symbol].clone(), &self.known)
    }

    /// The value of a symbol, if it is an unknown.
    pub(super) fn get(&self, symbol: Symbol) -> Option<&Real> {
        self.values.get(symbol)
    }

    /// Adds a number to an entry. The result is another exact state.
    pub(super) fn shift(&mut self, symbol: Symbol, by: &Real) {
        self.values[symbol] = (&self.values[symbol] + by).within(0.0);
        self.known = Results::default();
    }

    /// States as far from this one as these weights of rows of DF are meant, too: where the constraints hold exactly.
    fn widen(&mut self, rows: &[SparseRow<Real>], weights: &[Vec<Real>]) {
        let mut errors = self.values.map(|_| 0.0);
        for (row, weight) in weights.iter().flat_map(|weights| rows.iter().zip(weights)) {
            row.iter().for_each(|(symbol, entry)| errors[*symbol] += SLACK * (weight * entry).size());
        }
        for (value, error) in self.values.rows_mut().zip(errors.rows()) {
            *value = value.clone().within(*error);
        }
        self.known = Results::default();
    }

    /// The nearest doubles.
    pub(super) fn doubles(&self) -> Values {
        self.values.map(Real::to_f64)
    }
}

/// States in general position, most of them of size one, some with negative entries.
pub(crate) fn general(symbols: &Symbols) -> impl Iterator<Item = Values> {
    search_points(symbols).map(|point| symbols.unknowns().map(|symbol| point.symbol(symbol)).collect())
}

/// Returns `true` if an expression is certainly not 0 in some state in general position. That none is found proves nothing.
pub(crate) fn is_nonzero_somewhere(symbols: &Symbols, expression: &Expression) -> bool {
    let mut states = general(symbols).take(STATES).map(|values| State::new(&values));
    states.any(|state| state.evaluate(expression).is_some_and(|value| value.is_nonzero()))
}

/// The value of an expression in doubles.
pub(super) fn evaluate(expression: &Expression, state: &Values) -> f64 {
    expression.evaluate(&|symbol| state[symbol])
}

/// The state on the constraint set that is near `start`, if the search for one converges: the state itself where there are no constraints.
pub(super) fn consistent(derivation: &Derivation, start: Values) -> Option<State> {
    common_zero(&constraints(derivation), start)
}

/// The state in which these functions vanish that is near `start`, if the search for one converges.
pub(crate) fn common_zero(equations: &[VanishingFunction<'_>], start: Values) -> Option<State> {
    refine(equations, &solve(equations, start)?)
}

/// The states in which these functions vanish that a number of starts in general position lead to.
pub(crate) fn common_zeros(symbols: &Symbols, equations: &[VanishingFunction<'_>]) -> impl Iterator<Item = State> {
    general(symbols).take(TRIED).filter_map(|start| common_zero(equations, start))
}

/// A function that is to vanish, with the entries of its gradient that do not.
#[derive(Clone, Copy)]
pub(crate) struct VanishingFunction<'a> {
    pub(crate) value: &'a Expression,
    pub(crate) gradient: &'a SparseRow,
}

impl<'a> From<&'a Integral> for VanishingFunction<'a> {
    fn from(Integral { value, gradient, .. }: &'a Integral) -> Self {
        Self { value, gradient }
    }
}

/// All constraints.
pub(super) fn constraints(derivation: &Derivation) -> Vec<VanishingFunction<'_>> {
    derivation.integrals.constraints().map(|(_, constraint)| constraint.into()).collect()
}

/// The state near `start` in which these functions vanish, if the search for one converges: Gauss-Newton steps for F = 0, damped as much as
/// they must be to lower |F|, where each function whose first value is small is divided by it.
pub(super) fn solve(equations: &[VanishingFunction<'_>], mut x: Values) -> Option<Values> {
    let mut damping = 1e-9;
    let first = values(equations, &x);
    let sizes: Vec<f64> =
        first.iter().map(|value| if value.is_normal() { value.abs().min(1.0) } else { 1.0 }).collect();
    let scaled =
        |values: Vec<f64>| -> Vec<f64> { values.iter().zip(&sizes).map(|(value, size)| value / size).collect() };
    let mut residual = scaled(first.clone());
    let farthest = FARTHEST * norm(x.rows());
    for _ in 0..STEPS {
        let before = norm(&residual);
        if !before.is_finite() || norm(x.rows()) > farthest {
            return None;
        }
        let is_zero = |(index, entry): (usize, &f64)| {
            let terms = magnitude(equations[index].value, &x);
            entry.abs() * sizes[index] <= CONVERGED * terms.max(first[index].abs().min(1.0))
        };
        if residual.iter().enumerate().all(is_zero) {
            return Some(x);
        }
        let mut rows = rows(equations, &x);
        for (row, size) in rows.iter_mut().zip(&sizes) {
            row.iter_mut().for_each(|(_, slope)| *slope /= size);
        }
        loop {
            let next = stepped(&x, &rows, damping, &residual)?;
            let next_residual = scaled(values(equations, &next));
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
fn magnitude(expression: &Expression, state: &Values) -> f64 {
    fn of<F: Fn(Symbol) -> f64>(part: &Expression, values: &Evaluation<f64, F>, known: &Results<f64>) -> f64 {
        known.of(part, || match part {
            Expression::Sum(terms) => terms.iter().map(|term| of(term, values, known)).sum(),
            Expression::Product(factors) => factors.iter().map(|factor| of(factor, values, known)).product(),
            Expression::Power(base, exponent) if exponent.is_positive() => {
                of(base, values, known).powf(to_f64(exponent))
            }
            other => values.number(other).abs(),
        })
    }
    of(expression, &Evaluation::new(|symbol| state[symbol]), &Results::default())
}

/// The state in which these functions vanish that Gauss-Newton steps in precise numbers lead to from one close by. To a multiple zero they
/// do not lead, as they come closer to it by a constant factor only.
pub(super) fn refine(equations: &[VanishingFunction<'_>], near: &Values) -> Option<State> {
    let mut state = State::new(near);
    for _ in 0..REFINEMENTS {
        let residual = equations.iter().map(|equation| state.evaluate(equation.value));
        let residual: Vec<Real> = residual.collect::<Option<_>>()?;
        let slope = |(symbol, entry): (&Symbol, &Expression)| Some((*symbol, state.evaluate(entry)?));
        let rows = equations.iter().map(|equation| equation.gradient.iter().map(slope).collect());
        let rows: Vec<SparseRow<Real>> = rows.collect::<Option<_>>()?;
        let factors = normal_equations(&rows, PRECISE_DAMPING, 0.0)?;
        if !residual.iter().any(Real::is_nonzero) {
            // Errors have any signs, and what is nearly dependent tells their differences from their sums.
            let alone = |place: usize| {
                let mut errors = vec![Real::zero(); residual.len()];
                errors[place] = Real::from(residual[place].error());
                factors.solve(&errors)
            };
            state.widen(&rows, &(0..residual.len()).map(alone).collect::<Vec<_>>());
            return Some(state);
        }
        for (row, weight) in rows.iter().zip(factors.solve(&residual)) {
            row.iter().for_each(|(symbol, entry)| state.shift(*symbol, &-&(&weight * entry)));
        }
    }
    None
}

fn values(equations: &[VanishingFunction<'_>], x: &Values) -> Vec<f64> {
    equations.iter().map(|equation| evaluate(equation.value, x)).collect()
}

fn rows(equations: &[VanishingFunction<'_>], x: &Values) -> Vec<SparseRow<f64>> {
    let values: Evaluation<f64, _> = Evaluation::new(|symbol| x[symbol]);
    let row = |gradient: &SparseRow| gradient.iter().map(|(symbol, entry)| (*symbol, values.number(entry))).collect();
    equations.iter().map(|equation| row(equation.gradient)).collect()
}

/// x - DF^T (DF DF^T + damping D)^-1 F with D the diagonal.
fn stepped(x: &Values, rows: &[SparseRow<f64>], damping: f64, residual: &[f64]) -> Option<Values> {
    let weights = normal_equations(rows, damping, 1e-6)?.solve(residual);
    let mut step = x.map(|_| 0.0);
    for (row, weight) in rows.iter().zip(weights) {
        row.iter().for_each(|(symbol, entry)| step[*symbol] += weight * entry);
    }
    let is_finite = step.rows().all(|entry| entry.is_finite());
    is_finite.then(|| x.rows().zip(step.rows()).map(|(x, step)| x - step).collect())
}

/// DF DF^T + damping (D + least) with D the diagonal.
fn normal_equations<N: Numeric>(rows: &[SparseRow<N>], damping: f64, least: f64) -> Option<Balanced<N>> {
    if !rows.is_empty() && rows.iter().all(BTreeMap::is_empty) {
        return None;
    }
    let mut matrix: Vec<Vec<N>> = rows.iter().map(|row| rows.iter().map(|other| dot(row, other)).collect()).collect();
    for (place, row) in matrix.iter_mut().enumerate() {
        row[place] = row[place].plus(&row[place].plus(&N::exactly(least)).times(&N::exactly(damping)));
    }
    Balanced::of(matrix)?.factored()
}

fn norm<'a>(values: impl IntoIterator<Item = &'a f64>) -> f64 {
    values.into_iter().map(|value| value * value).sum::<f64>().sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// x d - (y - d) with x = 2 and y = 3 takes m to 3 m + 3. Written out, the last has 2^60 terms.
    #[test]
    fn magnitudes_of_what_doubles_add_up() {
        let [x, y] = [0, 1].map(|symbol| Expression::from(Symbol(symbol)));
        let last = (0..60).fold(x.clone(), |d, _| x.clone() * d.clone() - (y.clone() - d));
        let state: Values = [2.0, 3.0].into_iter().collect();
        let expected = 3.5 * 3_f64.powi(60) - 1.5;
        assert!((magnitude(&last, &state) / expected - 1.0).abs() < 1e-14);
    }
}
