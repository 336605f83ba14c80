//! What was derived, held against what was declared, at one point.

use std::cell::Cell;
use std::collections::BTreeSet;

use super::CheckOutcome;
use super::declared::{Covector, DeclaredAtPoint};
use super::frame::FramePart;
use crate::derivation::{
    ConstraintMatrix, Derivation, Dynamics, FrameBracket, IntegralId, Kind, LinearSystem, Role, Structure, Unknowns,
};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{dot, entry};
use crate::numbers::number::Number;
use crate::numbers::points::Point;
use crate::numbers::precise::Real;
use crate::proofs::{State, Velocity};

/// A derivation and its problem at one point.
pub(super) struct PointComparison<'a> {
    declared: DeclaredAtPoint<'a>,
    derivation: &'a Derivation,
    point: Point<'a>,
    /// Whether something that was derived is undefined here.
    is_undefined: Cell<bool>,
}

/// Names what disagrees.
type Agreement = Result<(), String>;

impl<'a> PointComparison<'a> {
    pub(super) fn new(declared: DeclaredAtPoint<'a>, derivation: &'a Derivation, point: Point<'a>) -> Self {
        Self { declared, derivation, point, is_undefined: Cell::new(false) }
    }

    pub(super) fn all(&self) -> CheckOutcome {
        match self.compare() {
            Err(quantity) => CheckOutcome::Disagreement(quantity),
            Ok(()) if self.is_undefined.get() => CheckOutcome::Undefined,
            Ok(()) => CheckOutcome::Agreement,
        }
    }

    fn compare(&self) -> Agreement {
        self.integrals()?;
        self.structure()?;
        self.systems()?;
        self.constraints()?;
        self.unsolved_field()?;
        self.motion()?;
        self.frame()?;
        self.outputs()
    }

    /// F and DF.
    fn integrals(&self) -> Agreement {
        for (id, integral) in self.derivation.integrals.iter() {
            let declared = &self.declared.integrals[id];
            self.holds(&integral.value, &declared.value, || integral.name.clone())?;
            let gradient = || format!("the gradient of {}", integral.name);
            let states: BTreeSet<&Symbol> = integral.gradient.keys().chain(declared.gradient.keys()).collect();
            for &state in states {
                self.holds(&entry(&integral.gradient, state), &entry(&declared.gradient, state), gradient)?;
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
                self.holds(&entry(&derived, y), expected, || "the Poisson matrix".to_owned())?;
            }
        }
        let agrees = match &self.declared.problem.dynamics {
            Dynamics::Canonical { .. } if self.declared.problem.reactions.is_empty() => {
                matches!(self.derivation.structure, Structure::Canonical)
            }
            Dynamics::Poisson { .. } => matches!(self.derivation.structure, Structure::Matrix(_)),
            Dynamics::Canonical { .. } | Dynamics::Lagrangian(_) | Dynamics::Given { .. } => {
                matches!(self.derivation.structure, Structure::None)
            }
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

    /// Whether linear systems have unknowns of their own, and are symmetric, as programs take those to be that are not for the multipliers
    /// of phase constraints.
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

    /// X and the multipliers of a canonical or a Lagrangian system.
    fn motion(&self) -> Agreement {
        if self.declared.motion.is_none() && self.declared.frame.is_none() {
            return Ok(());
        }
        let symbols = &self.derivation.symbols;
        let state = State::new(&symbols.unknowns().map(|symbol| self.point.symbol(symbol)).collect());
        let Some(velocity) = Velocity::new(self.derivation, state) else {
            let is_defined = |expression: &Expression| self.evaluate(expression).is_some();
            if self.derivation.field.expressions().all(is_defined) {
                return Err("the field".to_owned());
            }
            self.is_undefined.set(true);
            return Ok(());
        };
        let Some(expected) = &self.declared.motion else { return self.balance(&velocity) };
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
            if constraint.kind != Kind::InvariantSet {
                let rate = dot(&self.declared.integrals[id].gradient, &rates);
                let name = || format!("the rate of {} along the field", self.derivation.integrals[id].name);
                self.equals(Some(rate), &Real::zero(), name)?;
            }
        }
        Ok(())
    }

    /// What stands for the frame of a Lagrangian system.
    fn frame(&self) -> Agreement {
        let (Some(derived), Some(frame)) = (&self.derivation.hamel, &self.declared.frame) else {
            let agree = self.derivation.hamel.is_none() == self.declared.frame.is_none();
            return if agree { Ok(()) } else { Err("the frame".to_owned()) };
        };
        let of = |symbol: Symbol| &self.derivation.symbols[symbol].name;
        let name = |part: FramePart| match part {
            FramePart::Lagrangian => "the Lagrangian".to_owned(),
            FramePart::Momentum(j) => format!("the momentum of {}", of(j)),
            FramePart::Force(j) => format!("the force of {}", of(j)),
            FramePart::Bracket(i, j, _) => format!("the bracket of the directions of {} and {}", of(i), of(j)),
        };
        if let Some(bracket) = frame.misfit(&self.declared) {
            return Err(name(bracket));
        }
        let coefficients = derived.brackets.iter().flat_map(|FrameBracket { of: (i, j), coefficients }| {
            coefficients.iter().map(|(a, entry)| (FramePart::Bracket(*i, *j, *a), entry))
        });
        let mut derived = [(FramePart::Lagrangian, &derived.lagrangian)]
            .into_iter()
            .chain(derived.momenta.iter().map(|(j, entry)| (FramePart::Momentum(*j), entry)))
            .chain(derived.forces.iter().map(|(j, entry)| (FramePart::Force(*j), entry)))
            .chain(coefficients);
        for (part, expected) in frame.parts(&self.declared) {
            let value = derived.next().filter(|(derived, _)| *derived == part).ok_or_else(|| name(part))?.1;
            self.holds(value, &expected, || name(part))?;
        }
        derived.next().map_or(Ok(()), |(part, _)| Err(name(part)))
    }

    /// x' of any other system, as it is given or J grad H.
    fn unsolved_field(&self) -> Agreement {
        if self.declared.motion.is_some() || self.declared.frame.is_some() {
            return Ok(());
        }
        let rates = &self.derivation.field.rates;
        let states = || self.derivation.symbols.states();
        let expected: Vec<Option<Real>> = match (&self.declared.problem.dynamics, &self.declared.energy) {
            (Dynamics::Given { rates }, _) => rates.iter().map(|rate| self.evaluate(rate)).collect(),
            (_, Some(energy)) => {
                let rate = |state: Symbol| match self.derivation.symbols[state].role {
                    Role::Work => Some(self.declared.by_time(&energy.gradient)),
                    _ => Some(entry(&self.declared.flow, state)),
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

    fn evaluate(&self, expression: &Expression) -> Option<Real> {
        Real::evaluate(expression, &|symbol| Real::from(self.point.symbol(symbol)))
    }

    fn holds(&self, derived: &Expression, expected: &Real, name: impl Fn() -> String) -> Agreement {
        self.equals(self.evaluate(derived), expected, name)
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
