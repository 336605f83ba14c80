//! What was derived, held against what was declared, at one point.

use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};

use super::Verdict;
use super::declared::{Declared, Gradient, at};
use crate::derivation::{
    Coefficient, Constraints, Derivation, Dynamics, Field, FrameBracket, Implicit, IntegralId, KineticEnergy, Role,
    Structure,
};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::dot;
use crate::numbers::points::Point;
use crate::numbers::precise::Real;

/// A derivation and its problem at one point.
pub(super) struct Comparison<'a> {
    declared: Declared<'a>,
    derivation: &'a Derivation,
    point: Point<'a>,
    /// Whether something that was derived is undefined here.
    is_undefined: Cell<bool>,
}

/// Names what disagrees.
type Agreement = Result<(), String>;

impl<'a> Comparison<'a> {
    pub(super) fn new(declared: Declared<'a>, derivation: &'a Derivation, point: Point<'a>) -> Self {
        Self { declared, derivation, point, is_undefined: Cell::new(false) }
    }

    pub(super) fn all(&self) -> Verdict {
        match self.compare() {
            Err(quantity) => Verdict::Disagreement(quantity),
            Ok(()) if self.is_undefined.get() => Verdict::Undefined,
            Ok(()) => Verdict::Agreement,
        }
    }

    fn compare(&self) -> Agreement {
        self.integrals()?;
        self.structure()?;
        match &self.derivation.field {
            Field::Dirac(constraints) => self.constraints(constraints)?,
            Field::Implicit(implicit) => self.implicit_field(implicit)?,
            Field::Given(_) => self.given_field()?,
        }
        self.outputs()?;
        self.kinetic_energy()
    }

    /// F and DF.
    fn integrals(&self) -> Agreement {
        for (id, integral) in self.derivation.integrals.iter() {
            let declared = &self.declared.integrals[id];
            self.holds(&integral.value, &declared.value, || integral.name.clone())?;
            let gradient = || format!("the gradient of {}", integral.name);
            let derived: BTreeMap<Symbol, &Expression> =
                integral.gradient.iter().map(|(state, entry)| (*state, entry)).collect();
            let (zero, nothing) = (Expression::zero(), Real::zero());
            let states: BTreeSet<Symbol> = derived.keys().chain(declared.gradient.keys()).copied().collect();
            for state in states {
                let entry = derived.get(&state).copied().unwrap_or(&zero);
                self.holds(entry, declared.gradient.get(&state).unwrap_or(&nothing), gradient)?;
            }
        }
        Ok(())
    }

    /// J
    fn structure(&self) -> Agreement {
        let symbols = &self.derivation.symbols;
        for (x, row) in symbols.states().zip(self.declared.matrix.rows()) {
            let derived = self.derivation.structure.row(symbols, x);
            for (y, expected) in symbols.states().zip(row) {
                let entry = derived.iter().find(|(column, _)| *column == y).map(|(_, entry)| *entry);
                let entry = match entry {
                    Some(Coefficient::Function(function)) => function.clone(),
                    Some(Coefficient::One) => Expression::one(),
                    Some(Coefficient::MinusOne) => -Expression::one(),
                    None => Expression::zero(),
                };
                self.holds(&entry, expected, || "the Poisson matrix".to_owned())?;
            }
        }
        let agrees = match &self.declared.problem.dynamics {
            Dynamics::Canonical { .. } if !self.declared.problem.is_implicit() => {
                matches!(self.derivation.structure, Structure::Canonical)
            }
            Dynamics::Poisson { .. } => matches!(self.derivation.structure, Structure::Matrix(_)),
            Dynamics::Canonical { .. } | Dynamics::Lagrangian(_) | Dynamics::Given { .. } => {
                matches!(self.derivation.structure, Structure::None)
            }
        };
        if agrees { Ok(()) } else { Err("the bracket".to_owned()) }
    }

    /// C and b.
    fn constraints(&self, constraints: &Constraints) -> Agreement {
        let members = constraints.members();
        let flows: Vec<Gradient> =
            members.iter().map(|id| self.declared.moved(&self.declared.integrals[*id].gradient)).collect();
        let name = |id: IntegralId| &self.derivation.integrals[id].name;
        for (row, f) in constraints.matrix().iter().zip(&members) {
            let gradient = &self.declared.integrals[*f].gradient;
            for ((entry, g), flow) in row.iter().zip(&members).zip(&flows) {
                let bracket = || format!("the bracket {{{}, {}}}", name(*f), name(*g));
                self.holds(entry, &dot(gradient, flow), bracket)?;
            }
        }
        let right_side = constraints.right_side(&self.derivation.integrals);
        for ((entry, f), flow) in right_side.iter().zip(&members).zip(&flows) {
            let hamiltonian = self.declared.hamiltonian.as_ref().ok_or("the Hamiltonian")?;
            self.holds(entry, &dot(flow, &hamiltonian.gradient), || format!("the bracket {{H, {}}}", name(*f)))?;
        }
        Ok(())
    }

    /// The linear systems and the rates that they lead to, and what stands for the frame.
    fn implicit_field(&self, implicit: &Implicit) -> Agreement {
        let motion = self.declared.motion.ok_or("the field")?;
        if implicit.systems.len() != motion.field.systems.len() {
            return Err("the number of linear systems".to_owned());
        }
        let symbols = &self.derivation.symbols;
        for (derived, declared) in implicit.systems.iter().zip(&motion.field.systems) {
            let name = || {
                let unknowns = derived.unknowns.iter().map(|unknown| symbols[*unknown].name.clone());
                format!("the linear system for {}", unknowns.collect::<Vec<_>>().join(", "))
            };
            let [sizes, expected] = [derived, declared].map(|system| (system.matrix.len(), system.right_side.len()));
            if derived.unknowns != declared.unknowns || sizes != expected {
                return Err(name());
            }
            for (row, expected) in derived.rows().zip(declared.rows()) {
                let (row, expected): (Vec<_>, Vec<_>) = (row.collect(), expected.collect());
                if row.len() != expected.len() {
                    return Err(name());
                }
                row.iter().zip(&expected).try_for_each(|(entry, expected)| self.agrees(entry, expected, name))?;
            }
        }
        for ((state, rate), expected) in implicit.rates.iter().zip(motion.field.rates.rows()) {
            self.agrees(rate, expected, || format!("the rate of {}", symbols[state].name))?;
        }
        let (Some(derived), Some(declared)) = (&self.derivation.hamel, &motion.hamel) else {
            let agree = self.derivation.hamel.is_none() == motion.hamel.is_none();
            return if agree { Ok(()) } else { Err("the frame".to_owned()) };
        };
        self.agrees(&derived.lagrangian, &declared.lagrangian, || "the Lagrangian".to_owned())?;
        let name = |what: &str, velocity: Symbol| format!("the {what} of {}", symbols[velocity].name);
        let momenta = derived.momenta.iter().zip(&declared.momenta).map(|pair| ("momentum", pair));
        let forces = derived.forces.iter().zip(&declared.forces).map(|pair| ("force", pair));
        for (what, ((velocity, value), (other, expected))) in momenta.chain(forces) {
            if velocity != other {
                return Err(name(what, *velocity));
            }
            self.agrees(value, expected, || name(what, *velocity))?;
        }
        let is_complete = derived.momenta.len() == declared.momenta.len()
            && derived.forces.len() == declared.forces.len()
            && derived.brackets.len() == declared.brackets.len();
        for (derived, declared) in derived.brackets.iter().zip(&declared.brackets) {
            self.bracket(derived, declared)?;
        }
        if is_complete { Ok(()) } else { Err("the frame".to_owned()) }
    }

    /// The bracket of two directions of the frame.
    fn bracket(&self, derived: &FrameBracket, declared: &FrameBracket) -> Agreement {
        let name = |velocity: Symbol| &self.derivation.symbols[velocity].name;
        let what = || format!("the bracket of the directions of {} and {}", name(declared.of.0), name(declared.of.1));
        let velocities = |bracket: &FrameBracket| bracket.coefficients.iter().map(|(a, _)| *a).collect::<Vec<_>>();
        if derived.of != declared.of || velocities(derived) != velocities(declared) {
            return Err(what());
        }
        let pairs = derived.coefficients.iter().zip(&declared.coefficients);
        pairs.into_iter().try_for_each(|((_, derived), (_, expected))| self.agrees(derived, expected, what))
    }

    /// Whether two expressions have one value.
    fn agrees(&self, derived: &Expression, expected: &Expression, name: impl Fn() -> String) -> Agreement {
        match self.evaluate(expected) {
            Some(expected) => self.holds(derived, &expected, name),
            None => Ok(()),
        }
    }

    /// x', as it is given or J grad H.
    fn given_field(&self) -> Agreement {
        let Field::Given(rates) = &self.derivation.field else { return Ok(()) };
        let states = || self.derivation.symbols.states();
        let expected: Vec<Option<Real>> = match (&self.declared.problem.dynamics, &self.declared.flow) {
            (Dynamics::Given { rates }, _) => rates.iter().map(|rate| self.evaluate(rate)).collect(),
            (_, Some(flow)) => {
                let time = self.derivation.symbols.only(Role::Time);
                let hamiltonian = self.declared.hamiltonian.as_ref();
                let by_time = || hamiltonian?.gradient.get(&time?).cloned();
                let rate = |state: Symbol| match self.derivation.symbols[state].role {
                    Role::Time => Some(Real::from(1.0)),
                    Role::Work => Some(by_time().unwrap_or_else(Real::zero)),
                    _ => Some(flow.get(&state).cloned().unwrap_or_else(Real::zero)),
                };
                states().map(rate).collect()
            }
            (_, None) => Vec::new(),
        };
        for ((state, rate), expected) in states().zip(rates.rows()).zip(expected) {
            let name = || format!("the rate of {}", self.derivation.symbols[state].name);
            if let Some(expected) = expected {
                self.holds(rate, &expected, name)?;
            }
        }
        Ok(())
    }

    fn outputs(&self) -> Agreement {
        let declared = &self.declared.problem.outputs;
        if declared.len() != self.derivation.outputs.len() {
            return Err("the number of outputs".to_owned());
        }
        for (output, declared) in self.derivation.outputs.iter().zip(declared) {
            if let Some(expected) = self.evaluate(&declared.value) {
                self.holds(&output.value, &expected, || output.name.clone())?;
            }
        }
        Ok(())
    }

    /// Where H = T(p) + U(q), (D^2 H) v of a v along momenta has no entries along coordinates; where T is quadratic, it does not
    /// depend on p.
    fn kinetic_energy(&self) -> Agreement {
        let Some(hamiltonian) = self.declared.problem.dynamics.hamiltonian() else { return Ok(()) };
        let symbols = &self.derivation.symbols;
        let is_momentum = |symbol: &Symbol| matches!(symbols[*symbol].role, Role::Momentum { .. });
        let value = |symbol| self.point.symbol(symbol);
        let direction: Gradient =
            symbols.states().filter(is_momentum).map(|symbol| (symbol, Real::from(value(symbol)))).collect();
        let along = |factor: f64| {
            let scaled = |symbol| if is_momentum(&symbol) { factor * value(symbol) } else { value(symbol) };
            self.declared.second_derivative(hamiltonian, &direction, scaled).unwrap_or_default()
        };
        let entry = |gradient: &Gradient, symbol| gradient.get(&symbol).cloned().unwrap_or_else(Real::zero);
        let here = along(1.0);
        let is_separable =
            symbols.states().filter(|symbol| !is_momentum(symbol)).all(|symbol| !entry(&here, symbol).is_nonzero());
        let is_quadratic = || {
            let there = along(2.0);
            symbols.states().all(|symbol| !(&entry(&here, symbol) - &entry(&there, symbol)).is_nonzero())
        };
        let agrees = match self.derivation.kinetic_energy {
            KineticEnergy::General => true,
            KineticEnergy::Separable => is_separable,
            KineticEnergy::Quadratic => is_separable && is_quadratic(),
        };
        if agrees { Ok(()) } else { Err("the kinetic energy".to_owned()) }
    }

    fn evaluate(&self, expression: &Expression) -> Option<Real> {
        at(self.declared.problem, &self.point).evaluate(expression)
    }

    fn holds(&self, derived: &Expression, expected: &Real, name: impl Fn() -> String) -> Agreement {
        match self.evaluate(derived) {
            Some(derived) if (&derived - expected).is_nonzero() => Err(name()),
            Some(_) => Ok(()),
            None => {
                self.is_undefined.set(true);
                Ok(())
            }
        }
    }
}
