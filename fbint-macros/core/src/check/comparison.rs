//! The derivation against the declaration, at one point.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeSet;

use super::CheckOutcome;
use super::declared::{Covector, DeclaredAtPoint};
use super::frame::closes_on_constraints;
use crate::derivation::{
    ConstraintMatrix, Derivation, Dynamics, IntegralId, LinearSystem, Role, SparseRow, Structure, Unknowns,
};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{AtPoint, Evaluation, dot, entry};
use crate::numbers::number::Number;
use crate::numbers::points::Point;
use crate::numbers::precise::Real;
use crate::proofs::{State, Velocity};

/// A derivation and its problem at one point.
pub(super) struct PointComparison<'a> {
    declared: DeclaredAtPoint<'a>,
    derivation: &'a Derivation,
    point: Point<'a>,
    values: AtPoint<'a, Real>,
    /// X, where it is defined.
    velocity: OnceCell<Option<Velocity>>,
    /// Whether something that was derived is undefined here.
    is_undefined: Cell<bool>,
}

/// Names what disagrees.
type Agreement = Result<(), String>;

impl<'a> PointComparison<'a> {
    pub(super) fn new(declared: DeclaredAtPoint<'a>, derivation: &'a Derivation, point: Point<'a>) -> Self {
        let values: AtPoint<'a, Real> = Evaluation::new(Box::new(move |symbol| Real::from(point.symbol(symbol))));
        let (velocity, is_undefined) = Default::default();
        Self { declared, derivation, point, values, velocity, is_undefined }
    }

    /// The outcome, and X for more comparisons.
    pub(super) fn all(self) -> (CheckOutcome, Option<Velocity>) {
        let outcome = match self.compare() {
            Err(quantity) => CheckOutcome::Disagreement(quantity),
            Ok(()) if self.is_undefined.get() => CheckOutcome::Undefined,
            Ok(()) => CheckOutcome::Agreement,
        };
        (outcome, self.velocity.into_inner().flatten())
    }

    fn compare(&self) -> Agreement {
        // The others rely on the form of the systems.
        self.systems()?;
        self.integrals()?;
        self.structure()?;
        self.constraints()?;
        self.motion()?;
        self.frame()?;
        self.outputs()
    }

    /// X, where it is defined.
    fn velocity(&self) -> Option<&Velocity> {
        let state = || self.derivation.symbols.unknowns().map(|symbol| self.point.symbol(symbol)).collect();
        let velocity = || Velocity::new(self.derivation, State::new(&state()));
        self.velocity.get_or_init(velocity).as_ref()
    }

    /// F and DF.
    fn integrals(&self) -> Agreement {
        for (id, integral) in self.derivation.integrals.iter() {
            let declared = &self.declared.integrals[id];
            self.equals(self.in_state(&integral.value), &declared.value, || integral.name.clone())?;
            self.row(&integral.gradient, &declared.gradient, |_| format!("the gradient of {}", integral.name))?;
        }
        Ok(())
    }

    /// J
    fn structure(&self) -> Agreement {
        let Derivation { symbols, structure, .. } = self.derivation;
        for (x, expected) in self.declared.matrix.iter().filter(|_| structure.exists()) {
            self.row(&structure.row(symbols, x), expected, |_| "the Poisson matrix".to_owned())?;
        }
        let agrees = match (&self.declared.problem.dynamics, structure) {
            (Dynamics::Canonical { .. }, Structure::Canonical) => self.declared.problem.reactions.is_empty(),
            (Dynamics::Canonical { .. }, Structure::None) => !self.declared.problem.reactions.is_empty(),
            (Dynamics::Poisson { .. }, Structure::Matrix(_)) => true,
            (Dynamics::Lagrangian(_) | Dynamics::Given { .. }, Structure::None) => true,
            _ => false,
        };
        if agrees { Ok(()) } else { Err("the bracket".to_owned()) }
    }

    /// C and b: -df.y, which is {H, f} of what is not driven.
    fn constraints(&self) -> Agreement {
        let Some(ConstraintMatrix { members, c, with_energy }) = self.derivation.constraint_matrix() else {
            return Ok(());
        };
        let flows: Vec<Covector> =
            members.iter().map(|id| self.declared.moved(&self.declared.integrals[*id].gradient)).collect();
        let name = |id: IntegralId| &self.derivation.integrals[id].name;
        for (row, f) in c.iter().zip(&members) {
            let gradient = &self.declared.integrals[*f].gradient;
            for ((entry, g), flow) in row.iter().zip(&members).zip(&flows) {
                let bracket = || format!("the bracket {{{}, {}}}", name(*f), name(*g));
                self.holds(entry, &dot(gradient, flow), bracket)?;
            }
        }
        for (entry, f) in with_energy.iter().zip(&members) {
            let drift = dot(&self.declared.integrals[*f].gradient, &self.declared.flow);
            self.holds(entry, &drift.negated(), || format!("the bracket {{H, {}}}", name(*f)))?;
        }
        Ok(())
    }

    /// Checks what programs rely on: no two linear systems have an unknown in common, and each is symmetric except for the multipliers of
    /// phase constraints.
    fn systems(&self) -> Agreement {
        let Derivation { symbols, field, .. } = self.derivation;
        let mut known: BTreeSet<Symbol> = symbols.unknowns().collect();
        for system @ LinearSystem { unknowns, matrix, right_side } in &field.systems {
            let is_symmetric = self.derivation.unknowns_of(system) != Unknowns::OfBrackets;
            let name = || {
                let unknowns = unknowns.iter().map(|unknown| symbols[*unknown].name.clone());
                format!("the linear system for {}", unknowns.collect::<Vec<_>>().join(", "))
            };
            let n = unknowns.len();
            let is_square = matrix.len() == n && right_side.len() == n && matrix.iter().all(|row| row.len() == n);
            if !is_square || !unknowns.iter().all(|unknown| known.insert(*unknown)) {
                return Err(name());
            }
            let pairs = (0..n).flat_map(|i| (0..i).map(move |j| (&matrix[i][j], &matrix[j][i])));
            for (entry, mirrored) in pairs.filter(|(entry, mirrored)| is_symmetric && entry != mirrored) {
                self.holds(entry, &self.evaluate(mirrored).unwrap_or_else(Real::undefined), name)?;
            }
        }
        Ok(())
    }

    /// X and the multipliers.
    fn motion(&self) -> Agreement {
        let symbols = &self.derivation.symbols;
        let Some(velocity) = self.velocity() else {
            let is_defined = |expression: &Expression| self.evaluate(expression).is_some();
            if !self.declared.has_dependent_constraints() && self.derivation.field.expressions().all(is_defined) {
                return Err("the field".to_owned());
            }
            self.is_undefined.set(true);
            return Ok(());
        };
        let Some(expected) = &self.declared.motion else { return self.balance(velocity) };
        for state in symbols.states() {
            let name = || format!("the rate of {}", symbols[state].name);
            self.equals(Some(velocity.component(state).clone()), &entry(&expected.rates, state), name)?;
        }
        for (symbol, expected) in &expected.multipliers {
            let name = || format!("the multiplier {}", symbols[*symbol].name);
            let derived = velocity.solved.get(symbol).ok_or_else(name)?;
            self.equals(Some(derived.clone()), expected, name)?;
        }
        Ok(())
    }

    /// d'Alembert's residual of a Lagrangian system, and the rates of its constraints, which the multipliers keep.
    fn balance(&self, velocity: &Velocity) -> Agreement {
        let Some(frame) = &self.declared.frame else { return Ok(()) };
        let symbols = &self.derivation.symbols;
        let rates: Covector = symbols.states().map(|state| (state, velocity.component(state).clone())).collect();
        let residual =
            frame.residual(&self.declared, &rates, &velocity.solved).ok_or_else(|| "the field".to_owned())?;
        for (along, residual) in residual {
            match symbols[along].role {
                Role::Vanishing { reaction } => {
                    let name = || format!("the multiplier {}", symbols[reaction].name);
                    let derived = velocity.solved.get(&reaction).ok_or_else(name)?;
                    self.equals(Some(derived.clone()), &residual, name)?;
                }
                _ => self.equals(Some(residual), &Real::zero(), || format!("the rate of {}", symbols[along].name))?,
            }
        }
        for (id, constraint) in self.declared.problem.integrals.constraints() {
            if constraint.kind.is_held() {
                let rate = dot(&self.declared.integrals[id].gradient, &rates);
                let name = || format!("the rate of {} along the field", self.derivation.integrals[id].name);
                self.equals(Some(rate), &Real::zero(), name)?;
            }
        }
        Ok(())
    }

    /// The derived frame of a Lagrangian system.
    fn frame(&self) -> Agreement {
        let (Some(derived), Some(frame)) = (&self.derivation.hamel, &self.declared.frame) else {
            let agree = self.derivation.hamel.is_none() == self.declared.frame.is_none();
            return if agree { Ok(()) } else { Err("the frame".to_owned()) };
        };
        let name = |symbol: Symbol| &self.derivation.symbols[symbol].name;
        let bracket = |(i, j)| format!("the bracket of the directions of {} and {}", name(i), name(j));
        if let Some(misfit) = frame.misfit(&self.declared)
            && !closes_on_constraints(self.declared.problem)
        {
            return Err(bracket(misfit));
        }
        self.holds(&derived.lagrangian, &frame.lagrangian.value, || "the Lagrangian".to_owned())?;
        self.list(&derived.momenta, &frame.all_momenta(&self.declared), |j| format!("the momentum of {}", name(j)))?;
        self.list(&derived.forces, &frame.free_forces(&self.declared), |j| format!("the force of {}", name(j)))?;
        if !derived.brackets.iter().map(|bracket| &bracket.of).eq(frame.brackets.keys()) {
            return Err("the brackets of the frame".to_owned());
        }
        let mut brackets = derived.brackets.iter().zip(frame.brackets.values());
        brackets.try_for_each(|(derived, expected)| self.list(&derived.coefficients, expected, |_| bracket(derived.of)))
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

    /// The value of an expression without multipliers, which the field is made of.
    fn in_state(&self, expression: &Expression) -> Option<Real> {
        self.velocity().map_or_else(|| self.evaluate(expression), |velocity| velocity.value(expression))
    }

    fn evaluate(&self, expression: &Expression) -> Option<Real> {
        self.values.value(expression)
    }

    fn holds(&self, derived: &Expression, expected: &Real, name: impl Fn() -> String) -> Agreement {
        self.equals(self.evaluate(derived), expected, name)
    }

    /// The entries of a row without multipliers. Those that are not listed are 0.
    fn row(&self, derived: &SparseRow, expected: &Covector, name: impl Fn(Symbol) -> String) -> Agreement {
        let (symbols, zero) = (derived.keys().chain(expected.keys()).collect::<BTreeSet<_>>(), Expression::zero());
        symbols.into_iter().try_for_each(|symbol| {
            let derived = self.in_state(derived.get(symbol).unwrap_or(&zero));
            self.equals(derived, &entry(expected, *symbol), || name(*symbol))
        })
    }

    /// The entries of a list that has them all.
    fn list(&self, derived: &SparseRow, expected: &Covector, name: impl Fn(Symbol) -> String) -> Agreement {
        if !derived.keys().eq(expected.keys()) {
            return Err("the frame".to_owned());
        }
        let mut entries = derived.iter().zip(expected.values());
        entries.try_for_each(|((symbol, entry), expected)| self.holds(entry, expected, || name(*symbol)))
    }

    fn equals(&self, derived: Option<Real>, expected: &Real, name: impl Fn() -> String) -> Agreement {
        match derived {
            Some(derived) if (&derived - expected).is_nonzero() => Err(name()),
            Some(_) => Ok(()),
            None => {
                self.is_undefined.set(true);
                Ok(())
            }
        }
    }
}
