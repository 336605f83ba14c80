//! The set on which an identity has to hold, and the variables for which its constraints are solved one after the other.

use super::degree::{coefficients, degree_in};
use super::identities::holds_at_points;
use super::point::{Signs, most_signs, roots};
use super::rotation::Rotation;
use crate::derivation::{Derivation, Integral, Kind, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::signs::is_never_zero;

/// Where an identity has to hold: everywhere, or where constraints do.
#[derive(Clone, Default)]
pub(super) struct Set<'a> {
    pub(super) constraints: Vec<Constraint<'a>>,
    /// Matrices that further constraints keep orthonormal.
    pub(super) rotations: Vec<Rotation>,
    /// The unknowns for which the constraints can be solved.
    pub(super) variables: Vec<Symbol>,
    /// Those among them on which A does not depend.
    pub(super) velocities: Vec<Symbol>,
}

impl Set<'_> {
    /// The symbols that constraints contain.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let of_constraints = self.constraints.iter().flat_map(|constraint| constraint.value.symbols());
        of_constraints.chain(self.rotations.iter().flat_map(Rotation::symbols))
    }

    pub(super) fn is_everywhere(&self) -> bool {
        self.constraints.is_empty() && self.rotations.is_empty()
    }

    /// Returns `true` if the set is part of one without signs that no constraint tells apart: of all values of roots, and of all multiples of
    /// rotations. Steps know nothing of such a set, so that what they divide by may vanish on this one and not there.
    pub(super) fn may_be_without_signs(&self) -> bool {
        let values = || self.constraints.iter().map(|constraint| constraint.value);
        let has_roots = || most_signs(values()) > 0 || !roots(values()).is_empty();
        self.constraints.is_empty() || self.rotations.is_empty() && !has_roots()
    }

    /// The matrices alone, without any other constraint: a larger set.
    pub(super) fn of_rotations(&self) -> Self {
        Self { rotations: self.rotations.clone(), ..Self::default() }
    }

    /// The constraints that can be satisfied one after the other: a larger set, unless all can.
    pub(super) fn satisfiable(&self) -> Self {
        let mut set = Self { constraints: Vec::new(), ..self.clone() };
        let mut settled = self.settled_by_rotations();
        for constraint in &self.constraints {
            set.constraints.push(*constraint);
            if set.step(set.constraints.len() - 1, &mut settled).is_none() {
                set.constraints.pop();
            }
        }
        set
    }

    fn settled_by_rotations(&self) -> Vec<Symbol> {
        self.rotations.iter().flat_map(Rotation::symbols).collect()
    }

    /// The way in which all constraints are satisfied: each binds another variable, in which it is linear or quadratic with a leading
    /// coefficient that does not depend on any variable, and does not vanish for any parameters that count. So no part of the set is left
    /// out. `None` where that is not possible.
    ///
    /// A velocity constraint may be divided by what a velocity is multiplied with, a function of the coordinates: close to any state on the
    /// set there are others in which that does not vanish, unless it vanishes on a part of the set where the other constraints hold. There
    /// the velocity may be anything, as if there were no such constraint. Any constraint may be divided by another variable, if that leaves
    /// no part of the set out: see [`is_divisor`](Self::is_divisor).
    pub(super) fn steps(&self) -> Option<Vec<Step>> {
        let mut settled = self.settled_by_rotations();
        (0..self.constraints.len()).map(|place| self.step(place, &mut settled)).collect()
    }

    /// The way in which the constraint at this place is satisfied after earlier ones have settled some symbols.
    fn step(&self, place: usize, settled: &mut Vec<Symbol>) -> Option<Step> {
        let constraint = &self.constraints[place];
        let value = constraint.value;
        let variables = if constraint.is_velocity { &self.velocities } else { &self.variables };
        let symbols = value.symbols();
        let is_open = |symbol: &Symbol| variables.contains(symbol) && !settled.contains(symbol);
        let open: Vec<Symbol> = symbols.iter().copied().filter(is_open).collect();
        let degree = |symbol: &Symbol| degree_in(value, *symbol).filter(|degree| (1..=2).contains(degree));
        let candidates = open.iter().filter_map(|symbol| Some((degree(symbol)?, *symbol)));
        let mut candidates: Vec<(usize, Symbol)> = candidates.collect();
        candidates.sort_unstable();
        let step = |(degree, symbol): &(usize, Symbol)| {
            Some(Step { symbol: *symbol, coefficients: coefficients(value, *symbol, *degree)?, open: open.clone() })
        };
        let is_free = |leading: &Expression| !leading.symbols().iter().any(|symbol| variables.contains(symbol));
        let is_allowed = |step: &Step| {
            step.coefficients.last().is_some_and(|leading| is_free(leading) && constraint.allows(leading))
        };
        let is_divided = |step: &Step| match &step.coefficients[..] {
            [_, leading] => self.is_divisor(leading, place),
            _ => false,
        };
        let chosen = candidates.iter().filter_map(step).find(is_allowed);
        let step = chosen.or_else(|| candidates.iter().filter_map(step).find(is_divided))?;
        settled.extend(symbols);
        Some(step)
    }

    /// Returns `true` if no part of an invariant set is left out where a constraint is divided by this variable y, or a multiple of it: all parts
    /// have at most as many dimensions less than the space as there are constraints, and where y = 0, those before take one less each, and
    /// this one does not vanish on any part of what is left.
    fn is_divisor(&self, y: &Expression, place: usize) -> bool {
        let ([Expression::Symbol(y)] | [Expression::Number(_), Expression::Symbol(y)]) = y.factors() else {
            return false;
        };
        if !self.rotations.is_empty() || self.constraints.iter().any(|constraint| constraint.has_reaction) {
            return false;
        }
        let at_zero = |symbol| if symbol == *y { Expression::zero() } else { Expression::from(symbol) };
        let at_zero = |constraint: &Constraint<'_>| constraint.value.substituted(&at_zero);
        let before: Vec<Expression> = self.constraints[..place].iter().map(at_zero).collect();
        let value = at_zero(&self.constraints[place]);
        let held = |value| Constraint { value, is_velocity: false, has_reaction: false };
        let set =
            Set { constraints: before.iter().map(held).collect(), variables: self.variables.clone(), ..Set::default() };
        holds_at_points(&[&value], &set, 1.0, Signs::Related, &|point| Some(point.evaluate(&value)? != 0))
    }
}

/// A function that vanishes on a set.
#[derive(Clone, Copy)]
pub(super) struct Constraint<'a> {
    pub(super) value: &'a Expression,
    /// `true` if its derivatives by the velocities, or the momenta, have full rank together with all such constraints' derivatives in every
    /// state.
    pub(super) is_velocity: bool,
    /// `true` if a reaction holds it, so that the field is defined only where its gradient is independent of the others'.
    pub(super) has_reaction: bool,
}

impl<'a> Constraint<'a> {
    /// The constraints of a derivation. In a canonical system in which half of all constraints do not contain momenta,
    /// C = [[0, B], [-B^T, D]], where B consists of derivatives of the others by the momenta. In any other system without phase constraints,
    /// rates are linear in the velocities.
    pub(super) fn all(derivation: &'a Derivation) -> Vec<Self> {
        let is_momentum = |symbol: &Symbol| matches!(derivation.symbols[*symbol].role, Role::Momentum { .. });
        let has_momenta = |integral: &Integral| integral.value.symbols().iter().any(is_momentum);
        // What others imply makes no smaller set.
        let all = derivation.integrals.constraints().map(|(_, constraint)| constraint);
        let all: Vec<&Integral> = all.filter(|constraint| constraint.kind != Kind::Redundant).collect();
        let is_half = 2 * all.iter().filter(|constraint| has_momenta(constraint)).count() == all.len();
        let has_phase_constraints = all.iter().any(|constraint| constraint.kind == Kind::Phase);
        let is_velocity = |integral: &Integral| match integral.kind {
            Kind::Velocity => true,
            Kind::Rate { .. } => is_half || !has_phase_constraints,
            Kind::Phase => is_half && has_momenta(integral),
            _ => false,
        };
        let of = |integral: &'a Integral| Self {
            value: &integral.value,
            is_velocity: is_velocity(integral),
            has_reaction: integral.kind.is_held(),
        };
        all.into_iter().map(of).collect()
    }

    /// Returns `true` if a variable may be solved for where this is what it is multiplied with. A set that nothing holds may leave the variable open
    /// for parameters for which this is 0, as a (x - z) = 0 does for a = 0. Where the gradients are independent, there are states on the
    /// set for parameters nearby, for which it is not 0.
    fn allows(&self, leading: &Expression) -> bool {
        self.has_reaction || is_never_zero(leading)
    }
}

/// The way in which a constraint is satisfied: it binds a symbol, in which it is a polynomial.
pub(super) struct Step {
    pub(super) symbol: Symbol,
    /// The coefficients of its powers, from the power 0 on.
    pub(super) coefficients: Vec<Expression>,
    /// The variables that no constraint before contains.
    pub(super) open: Vec<Symbol>,
}
