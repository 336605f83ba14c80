//! What is declared, in numbers at one point.

use std::collections::BTreeMap;

use crate::derivation::{Dynamics, IntegralId, Kind, Problem, Role};
use crate::expression::{Expression, Symbol};
use crate::implicit::Motion;
use crate::numbers::derivative::{At, Differentiated, add, dot};
use crate::numbers::dual::Dual;
use crate::numbers::number::Number;
use crate::numbers::points::Point;
use crate::numbers::precise::Real;
use crate::table::Table;

/// Derivatives by the entries of the state that do not vanish identically.
pub(super) type Gradient = BTreeMap<Symbol, Real>;

/// What is declared, at one point.
pub(super) struct Declared<'a> {
    pub(super) problem: &'a Problem,
    /// The field, where it is implicit.
    pub(super) motion: Option<&'a Motion>,
    pub(super) hamiltonian: Option<Differentiated<Real>>,
    /// J grad H, without the rates of the time and the work.
    pub(super) flow: Option<Gradient>,
    /// F and DF, rates among them.
    pub(super) integrals: Table<IntegralId, Differentiated<Real>>,
    /// J, row by row, where it is declared.
    pub(super) matrix: Table<Symbol, Vec<Real>>,
}

impl<'a> Declared<'a> {
    /// Nothing where some of it is undefined.
    pub(super) fn at(problem: &'a Problem, motion: Option<&'a Motion>, point: &Point<'_>) -> Option<Self> {
        let at = at(problem, point);
        let hamiltonian = match problem.energy_function() {
            Some(hamiltonian) => Some(at.differentiate(&hamiltonian)?),
            None => None,
        };
        let matrix = match &problem.dynamics {
            Dynamics::Poisson { matrix, .. } => {
                let row = |row: &Vec<Expression>| row.iter().map(|entry| at.evaluate(entry)).collect();
                matrix.iter().map(row).collect::<Option<_>>()?
            }
            Dynamics::Canonical { .. } | Dynamics::Lagrangian(_) | Dynamics::Given { .. } => Table::new(),
        };
        let mut declared = Self { problem, motion, hamiltonian, flow: None, integrals: Table::new(), matrix };
        declared.flow = declared.hamiltonian.as_ref().map(|hamiltonian| declared.moved(&hamiltonian.gradient));
        declared.integrals = problem.integrals.ids().map(|id| declared.integral(id, point)).collect::<Option<_>>()?;
        Some(declared)
    }

    fn integral(&self, id: IntegralId, point: &Point<'_>) -> Option<Differentiated<Real>> {
        let declared = &self.problem.integrals[id];
        let derived = self.motion.and_then(|motion| motion.derived.get(&id));
        match (declared.value.as_ref().or(derived), declared.kind) {
            (Some(value), _) => at(self.problem, point).differentiate(value),
            (None, Kind::Rate { of }) => self.rate(self.problem.integrals[of].value.as_ref()?, point),
            (None, _) => self.hamiltonian.clone(),
        }
    }

    /// {g, H} and its gradient.
    fn rate(&self, constraint: &Expression, point: &Point<'_>) -> Option<Differentiated<Real>> {
        let flow = self.flow.as_ref()?;
        let constraint_here = at(self.problem, point).differentiate(constraint)?;
        let here = |symbol| point.symbol(symbol);
        let push = self.moved(&constraint_here.gradient);
        let mut gradient = self.second_derivative(constraint, flow, here)?;
        for (symbol, entry) in self.second_derivative(self.problem.dynamics.hamiltonian()?, &push, here)? {
            add(&mut gradient, symbol, entry.negated());
        }
        Some(Differentiated { value: dot(&constraint_here.gradient, flow), gradient })
    }

    /// J v
    pub(super) fn moved(&self, v: &Gradient) -> Gradient {
        let symbols = &self.problem.symbols;
        let mut moved = Gradient::new();
        for x in symbols.states() {
            match (&self.problem.dynamics, symbols[x].role) {
                (Dynamics::Canonical { .. }, Role::Coordinate { momentum }) => {
                    v.get(&momentum).map(|entry| moved.insert(x, entry.clone()));
                }
                (Dynamics::Canonical { .. }, Role::Momentum { coordinate }) => {
                    v.get(&coordinate).map(|entry| moved.insert(x, entry.negated()));
                }
                (Dynamics::Poisson { .. }, Role::State) => {
                    let terms = symbols.states().zip(&self.matrix[x]);
                    for (entry, slope) in terms.filter_map(|(y, entry)| Some((entry, v.get(&y)?))) {
                        add(&mut moved, x, entry.times(slope));
                    }
                }
                _ => {}
            }
        }
        moved
    }

    /// (D^2 f) v, where the symbols have these values. Terms of f that do not depend on what v moves are left out.
    pub(super) fn second_derivative(
        &self,
        f: &Expression,
        v: &Gradient,
        values: impl Fn(Symbol) -> f64,
    ) -> Option<Gradient> {
        let along = |symbol| v.get(&symbol).map(|entry| ((), entry.clone())).into_iter().collect();
        let value = |symbol| Dual { value: Real::from(values(symbol)), gradient: along(symbol) };
        let at = At { value, is_variable: |symbol| self.problem.symbols.is_state(symbol) };
        let terms = if let Expression::Sum(terms) = f { terms } else { std::slice::from_ref(f) };
        let mut derivative = Gradient::new();
        for term in terms.iter().filter(|term| term.symbols().iter().any(|symbol| v.contains_key(symbol))) {
            for (symbol, slope) in at.differentiate(term)?.gradient {
                slope.gradient.into_values().for_each(|entry| add(&mut derivative, symbol, entry));
            }
        }
        Some(derivative)
    }
}

pub(super) fn at<'p>(
    problem: &'p Problem,
    point: &'p Point<'p>,
) -> At<impl Fn(Symbol) -> Real + 'p, impl Fn(Symbol) -> bool + 'p> {
    At { value: |symbol| Real::from(point.symbol(symbol)), is_variable: |symbol| problem.symbols.is_state(symbol) }
}
