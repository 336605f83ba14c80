//! The declaration in numbers, at one point.

use std::collections::BTreeMap;
use std::rc::Rc;

use super::frame::Frame;
use super::motion::ExpectedMotion;
use crate::derivation::table::Table;
use crate::derivation::{Dynamics, IntegralId, Kind, Problem, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{AtPoint, Differentiated, Evaluation, add, dot, entry, gradient_at, varying};
use crate::numbers::dual::Dual;
use crate::numbers::number::Number;
use crate::numbers::precise::Real;

/// Derivatives by, or rates of, the entries of the state that do not vanish identically.
pub(super) type Covector = BTreeMap<Symbol, Real>;

/// The declaration at one point, where the velocities vanish that constraints set to zero.
pub(super) struct DeclaredAtPoint<'a> {
    pub(super) problem: &'a Problem,
    /// The value of each symbol.
    at: Rc<dyn Fn(Symbol) -> Real + 'a>,
    values: AtPoint<'a, Real>,
    /// With derivatives by the entries of the state and by all velocities.
    slopes: AtPoint<'a, Differentiated<Real>>,
    /// L and the frame of a Lagrangian system.
    pub(super) frame: Option<Frame<'a>>,
    /// The energy, or the balance of energy and work.
    pub(super) energy: Option<Differentiated<Real>>,
    /// y, the flow without constraints, but for the work; in a Lagrangian system only the flow of its coordinates and the time.
    pub(super) flow: Covector,
    /// Q, by the momenta or the velocities along which it acts.
    pub(super) forces: Covector,
    /// F and DF, rates among them.
    pub(super) integrals: Table<IntegralId, Differentiated<Real>>,
    /// J, row by row, where there is one.
    pub(super) matrix: Table<Symbol, Covector>,
    /// X and the multipliers, of any but a Lagrangian system.
    pub(super) motion: Option<ExpectedMotion>,
}

impl<'a> DeclaredAtPoint<'a> {
    /// Nothing where some of it is undefined.
    pub(super) fn at(problem: &'a Problem, value: impl Fn(Symbol) -> Real + 'a) -> Option<Self> {
        let at: Rc<dyn Fn(Symbol) -> Real + 'a> = Rc::new(move |symbol| match problem.symbols[symbol].role {
            Role::Vanishing { .. } => Real::zero(),
            _ => value(symbol),
        });
        let (flow, forces, integrals, matrix) = Default::default();
        let (frame, energy, motion) = (None, None, None);
        let (of_values, of_slopes) = (at.clone(), at.clone());
        let values: AtPoint<'a, Real> = Evaluation::new(Box::new(move |symbol| of_values(symbol)));
        let slopes: AtPoint<'a, _> =
            Evaluation::new(Box::new(move |symbol| varying(symbol, of_slopes(symbol), is_variable(problem, symbol))));
        let mut declared = Self { problem, at, values, slopes, frame, energy, flow, forces, integrals, matrix, motion };
        for (symbol, force) in &problem.forces {
            let force = declared.evaluate(force)?;
            add(&mut declared.forces, *symbol, force);
        }
        declared.matrix = declared.structure()?;
        if let Dynamics::Lagrangian(lagrangian) = &problem.dynamics {
            let frame = Frame::at(&declared, lagrangian)?;
            declared.energy = Some(frame.energy(&declared));
            declared.frame = Some(frame);
        } else if let Some(energy) = problem.energy_function() {
            declared.energy = Some(declared.differentiate(&energy)?);
        }
        declared.flow = declared.free_flow()?;
        declared.integrals = problem.integrals.ids().map(|id| declared.integral(id)).collect::<Option<_>>()?;
        if declared.frame.is_none() {
            declared.motion = Some(declared.motion()?);
        }
        Some(declared)
    }

    /// J
    fn structure(&self) -> Option<Table<Symbol, Covector>> {
        let symbols = &self.problem.symbols;
        if let Dynamics::Poisson { matrix, .. } = &self.problem.dynamics {
            let entry = |(y, entry)| Some((y, self.evaluate(entry)?));
            return matrix.iter().map(|row| symbols.states().zip(row).map(entry).collect()).collect();
        }
        Some(symbols.over_states(|x| match symbols[x].role {
            Role::Coordinate { momentum } => Covector::from([(momentum, Real::from(1.0))]),
            Role::Momentum { coordinate } => Covector::from([(coordinate, Real::from(-1.0))]),
            _ => Covector::new(),
        }))
    }

    /// J dH + Q, or q' = U xi, or the given field.
    fn free_flow(&self) -> Option<Covector> {
        let symbols = &self.problem.symbols;
        let mut flow = match (&self.problem.dynamics, &self.frame) {
            (Dynamics::Given { rates }, _) => {
                symbols.states().zip(rates).map(|(x, rate)| Some((x, self.evaluate(rate)?))).collect::<Option<_>>()?
            }
            (_, Some(frame)) => frame.kinematics.iter().map(|(x, rate)| (*x, rate.value.clone())).collect(),
            (_, None) => {
                let mut flow = self.moved(&self.energy.as_ref()?.gradient);
                add_multiple(&mut flow, &Real::from(1.0), &self.forces);
                flow
            }
        };
        flow.extend(symbols.only(Role::Time).map(|time| (time, Real::from(1.0))));
        Some(flow)
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
        let moving = self.matrix.iter().filter(|(_, row)| row.keys().any(|y| v.contains_key(y)));
        moving.map(|(x, row)| (x, dot(row, v))).collect()
    }

    /// The partial derivative by the time, from a gradient.
    pub(super) fn by_time(&self, gradient: &Covector) -> Real {
        self.problem.symbols.only(Role::Time).map_or_else(Real::zero, |time| entry(gradient, time))
    }

    pub(super) fn value(&self, symbol: Symbol) -> Real {
        (self.at)(symbol)
    }

    pub(super) fn evaluate(&self, expression: &Expression) -> Option<Real> {
        self.values.value(expression)
    }

    /// By the entries of the state and by all velocities.
    pub(super) fn differentiate(&self, expression: &Expression) -> Option<Differentiated<Real>> {
        let is_variable = |symbol| is_variable(self.problem, symbol);
        match gradient_at(expression, &self.values, is_variable) {
            Some(gradient) => Some(Differentiated { value: self.evaluate(expression)?, gradient }),
            // A norm has derivatives where it is 0.
            None => self.slopes.value(expression),
        }
    }

    /// (D^2 f) v. Terms of f that do not depend on what v moves are left out.
    pub(super) fn second_derivative(&self, f: &Expression, v: &Covector) -> Option<Covector> {
        let along = |symbol| v.get(&symbol).map(|entry| ((), entry.clone())).into_iter().collect();
        let moving = |symbol| Dual { value: self.value(symbol), gradient: along(symbol) };
        let is_moved = |term: &&Expression| term.symbols().iter().any(|symbol| v.contains_key(symbol));
        let f = Expression::sum(f.terms().iter().filter(is_moved).cloned());
        let is_variable = |symbol| is_variable(self.problem, symbol);
        let slopes = gradient_at(&f, &Evaluation::new(moving), is_variable).or_else(|| {
            let slopes: Evaluation<Differentiated<Dual<()>>, _> =
                Evaluation::new(|symbol| varying(symbol, moving(symbol), is_variable(symbol)));
            Some(slopes.value(&f)?.gradient)
        });
        let mut derivative = Covector::new();
        for (symbol, slope) in slopes? {
            slope.gradient.into_values().for_each(|entry| add(&mut derivative, symbol, entry));
        }
        Some(derivative)
    }
}

fn is_variable(problem: &Problem, symbol: Symbol) -> bool {
    let role = problem.symbols[symbol].role;
    role.is_state() || role.is_velocity()
}

pub(super) fn add_multiple(gradient: &mut Covector, factor: &Real, other: &Covector) {
    other.iter().for_each(|(symbol, entry)| add(gradient, *symbol, factor.times(entry)));
}
