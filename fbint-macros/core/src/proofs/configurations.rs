//! The configurations that constraints allow: a few of them, and proofs that a function of coordinates vanishes in all of them.

use std::cell::OnceCell;

use super::identities::holds_on;
use super::rates::sets_around;
use super::rotation::Rotation;
use super::set::{Constraint, Set};
use super::states::{Values, VanishingFunction, common_zeros, evaluate};
use crate::derivation::{SparseRow, Symbols};
use crate::expression::{Expression, Symbol};

/// The number of states to find.
const STATES: usize = 4;

/// A constraint of coordinates.
#[derive(Clone)]
pub(crate) struct ConfigurationConstraint<'a> {
    pub(crate) value: &'a Expression,
    /// The entries of its gradient that do not vanish.
    pub(crate) gradient: SparseRow,
    /// `true` if a reaction holds it.
    pub(crate) has_reaction: bool,
}

/// Where all constraints of coordinates hold.
pub(crate) struct Configurations<'a> {
    symbols: &'a Symbols,
    constraints: Vec<ConfigurationConstraint<'a>>,
    set: Set<'a>,
    states: OnceCell<Vec<Values>>,
}

impl<'a> Configurations<'a> {
    pub(crate) fn of(symbols: &'a Symbols, constraints: Vec<ConfigurationConstraint<'a>>) -> Self {
        let of_set = |ConfigurationConstraint { value, has_reaction, .. }: &ConfigurationConstraint<'a>| Constraint {
            value,
            is_velocity: false,
            has_reaction: *has_reaction,
        };
        let mut others = constraints.iter().map(of_set).collect();
        let rotations = Rotation::take(&mut others);
        let variables = symbols.states().collect();
        let set = Set { constraints: others, rotations, variables, ..Set::default() };
        Self { symbols, constraints, set, states: OnceCell::new() }
    }

    /// Returns `true` if any configuration is allowed.
    pub(crate) fn is_everything(&self) -> bool {
        self.constraints.is_empty()
    }

    /// The configurations in which no matrix reflects, and the first entries of the matrices that may; `None` if there are no such.
    pub(crate) fn right_handed(&self) -> Option<(Self, Vec<Symbol>)> {
        let reflecting = self.set.rotations.iter().filter(|rotation| rotation.may_reflect());
        let reflecting: Vec<Symbol> = reflecting.filter_map(|rotation| rotation.symbols().min()).collect();
        let mut set = self.set.clone();
        for rotation in set.rotations.iter_mut().filter(|rotation| rotation.may_reflect()) {
            *rotation = rotation.right_handed();
        }
        let (symbols, constraints) = (self.symbols, self.constraints.clone());
        (!reflecting.is_empty()).then_some((Self { symbols, constraints, set, states: OnceCell::new() }, reflecting))
    }

    /// A few of them, where the search for them converges.
    pub(crate) fn states(&self) -> &[Values] {
        self.states.get_or_init(|| {
            let functions = self.constraints.iter();
            let functions: Vec<VanishingFunction<'_>> =
                functions.map(|it| VanishingFunction { value: it.value, gradient: &it.gradient }).collect();
            let is_allowed = |values: &Values| {
                self.set.rotations.iter().all(|rotation| rotation.admits(&|entry| evaluate(entry, values)))
            };
            common_zeros(self.symbols, &functions)
                .map(|state| state.doubles())
                .filter(is_allowed)
                .take(STATES)
                .collect()
        })
    }

    /// Returns `true` if an expression is proved to vanish in all of them.
    pub(crate) fn vanishes(&self, expression: &Expression) -> bool {
        expression.is_zero()
            || sets_around(self.set.clone())
                .iter()
                .any(|set| holds_on(&[expression], set, 1.0, |point| Some(point.evaluate(expression)? == 0)))
    }
}
