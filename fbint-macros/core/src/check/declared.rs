//! What is declared, in numbers at one point.

use std::collections::BTreeMap;

use super::frame::Frame;
use super::motion::ExpectedMotion;
use crate::derivation::table::Table;
use crate::derivation::{Dynamics, IntegralId, Kind, Problem, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{Differentiated, add, differentiate, dot, entry};
use crate::numbers::dual::Dual;
use crate::numbers::number::Number;
use crate::numbers::points::Point;
use crate::numbers::precise::Real;

/// Derivatives by, or rates of, the entries of the state that do not vanish identically.
pub(super) type Covector = BTreeMap<Symbol, Real>;

/// What is declared, at one point, where the velocities vanish that constraints put to zero.
pub(super) struct DeclaredAtPoint<'a> {
    pub(super) problem: &'a Problem,
    point: Point<'a>,
    /// L and the frame of a Lagrangian system.
    pub(super) frame: Option<Frame<'a>>,
    /// The energy, or the balance of energy and work.
    pub(super) energy: Option<Differentiated<Real>>,
    /// y, the flow without constraints, but for the work; of a Lagrangian system that of its coordinates and the time.
    pub(super) flow: Covector,
    /// Q, by the momenta or the velocities along which it acts.
    pub(super) forces: Covector,
    /// F and DF, rates among them.
    pub(super) integrals: Table<IntegralId, Differentiated<Real>>,
    /// J, row by row, where it is declared.
    pub(super) matrix: Table<Symbol, Vec<Real>>,
    /// X of a canonical system.
    pub(super) motion: Option<ExpectedMotion>,
}

impl<'a> DeclaredAtPoint<'a> {
    /// Nothing where some of it is undefined.
    pub(super) fn at(problem: &'a Problem, point: Point<'a>) -> Option<Self> {
        let (flow, forces, integrals, matrix) = Default::default();
        let (frame, energy, motion) = (None, None, None);
        let mut declared = Self { problem, point, frame, energy, flow, forces, integrals, matrix, motion };
        for (symbol, force) in &problem.forces {
            let force = declared.evaluate(force)?;
            add(&mut declared.forces, *symbol, force);
        }
        if let Dynamics::Poisson { matrix, .. } = &problem.dynamics {
            let row = |row: &Vec<Expression>| row.iter().map(|entry| declared.evaluate(entry)).collect();
            declared.matrix = matrix.iter().map(row).collect::<Option<_>>()?;
        }
        if let Dynamics::Lagrangian(lagrangian) = &problem.dynamics {
            let frame = Frame::at(&declared, lagrangian)?;
            declared.energy = Some(frame.energy(&declared));
            declared.frame = Some(frame);
        } else if let Some(energy) = problem.energy_function() {
            declared.energy = Some(declared.differentiate(&energy)?);
        }
        declared.flow = declared.free_flow();
        declared.integrals = problem.integrals.ids().map(|id| declared.integral(id)).collect::<Option<_>>()?;
        if matches!(problem.dynamics, Dynamics::Canonical { .. }) {
            declared.motion = Some(declared.motion()?);
        }
        Some(declared)
    }

    /// J dH + Q, or q' = U xi
    fn free_flow(&self) -> Covector {
        let mut flow = match &self.frame {
            Some(frame) => frame.kinematics.iter().map(|(x, rate)| (*x, rate.value.clone())).collect(),
            None => {
                let free = self.energy.as_ref().map(|energy| self.moved(&energy.gradient));
                let mut flow = free.unwrap_or_default();
                add_multiple(&mut flow, &Real::from(1.0), &self.forces);
                flow
            }
        };
        flow.extend(self.problem.symbols.only(Role::Time).map(|time| (time, Real::from(1.0))));
        flow
    }

    fn integral(&self, id: IntegralId) -> Option<Differentiated<Real>> {
        let declared = &self.problem.integrals[id];
        let mut integral = match (&declared.value, declared.kind) {
            (Some(value), _) => self.differentiate(value)?,
            (None, Kind::Rate { of }) => self.rate(self.problem.integrals[of].value.as_ref()?)?,
            (None, _) => self.energy.clone()?,
        };
        integral.gradient.retain(|symbol, _| self.problem.symbols.is_state(*symbol));
        Some(integral)
    }

    /// Dg.y and its gradient, of a g that depends on coordinates and the time.
    fn rate(&self, constraint: &Expression) -> Option<Differentiated<Real>> {
        let slope = self.differentiate(constraint)?.gradient;
        let mut gradient = self.second_derivative(constraint, &self.flow)?;
        match (&self.frame, self.problem.dynamics.hamiltonian()) {
            (Some(frame), _) => {
                let rates = slope.iter().filter_map(|(x, entry)| Some((entry, &frame.kinematics.get(x)?.gradient)));
                rates.for_each(|(entry, rate)| add_multiple(&mut gradient, entry, rate));
            }
            (None, hamiltonian) => {
                let turned = self.second_derivative(hamiltonian?, &self.moved(&slope))?;
                add_multiple(&mut gradient, &Real::from(-1.0), &turned);
            }
        }
        Some(Differentiated { value: dot(&slope, &self.flow), gradient })
    }

    /// J v
    pub(super) fn moved(&self, v: &Covector) -> Covector {
        let symbols = &self.problem.symbols;
        let mut moved = Covector::new();
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

    /// The partial derivative by the time, from a gradient.
    pub(super) fn by_time(&self, gradient: &Covector) -> Real {
        self.problem.symbols.only(Role::Time).map_or_else(Real::zero, |time| entry(gradient, time))
    }

    pub(super) fn value(&self, symbol: Symbol) -> f64 {
        let vanishes = matches!(self.problem.symbols[symbol].role, Role::Vanishing { .. });
        if vanishes { 0.0 } else { self.point.symbol(symbol) }
    }

    pub(super) fn evaluate(&self, expression: &Expression) -> Option<Real> {
        Real::evaluate(expression, &|symbol| Real::from(self.value(symbol)))
    }

    /// By the entries of the state and by all velocities.
    pub(super) fn differentiate(&self, expression: &Expression) -> Option<Differentiated<Real>> {
        differentiate(expression, &|symbol| Real::from(self.value(symbol)), &|symbol| self.is_variable(symbol))
    }

    fn is_variable(&self, symbol: Symbol) -> bool {
        let role = self.problem.symbols[symbol].role;
        role.is_state() || role.is_velocity()
    }

    /// (D^2 f) v. Terms of f that do not depend on what v moves are left out.
    pub(super) fn second_derivative(&self, f: &Expression, v: &Covector) -> Option<Covector> {
        let along = |symbol| v.get(&symbol).map(|entry| ((), entry.clone())).into_iter().collect();
        let value = |symbol| Dual { value: Real::from(self.value(symbol)), gradient: along(symbol) };
        let mut derivative = Covector::new();
        for term in f.terms().iter().filter(|term| term.symbols().iter().any(|symbol| v.contains_key(symbol))) {
            for (symbol, slope) in differentiate(term, &value, &|symbol| self.is_variable(symbol))?.gradient {
                slope.gradient.into_values().for_each(|entry| add(&mut derivative, symbol, entry));
            }
        }
        Some(derivative)
    }
}

pub(super) fn add_multiple(gradient: &mut Covector, factor: &Real, other: &Covector) {
    other.iter().for_each(|(symbol, entry)| add(gradient, *symbol, factor.times(entry)));
}
