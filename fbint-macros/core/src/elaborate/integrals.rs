//! The order of the integrals, which is decided here and nowhere else: holonomic constraints and invariant sets, the rates of
//! holonomic constraints, phase constraints, velocity constraints, the energy, invariants.

use proc_macro2::Span;

use super::lagrangian::{refuse_assumptions, sets};
use super::quantities::{Flattened, Purpose, ScalarQuantity, flatten, sound};
use super::scope::{Reported, Scope};
use crate::derivation::table::{Id, Table};
use crate::derivation::{Declared, Dynamics, IntegralId, Kind};
use crate::syntax::Declaration;

/// Declared quantities that the motion keeps, sorted by meaning.
pub(super) struct Conserved {
    pub(super) constraints: Vec<Reported<Flattened>>,
    /// For each constraint, `true` if it is an invariant set, and `false` if it is holonomic, so that it has a rate.
    pub(super) is_set: Vec<bool>,
    pub(super) phase: Vec<Reported<Flattened>>,
    /// Without those that put a velocity to zero, which is not an unknown then.
    pub(super) velocity: Vec<Reported<Flattened>>,
    pub(super) invariants: Vec<Reported<Flattened>>,
}

/// All integrals in their order, with the places where they are declared.
#[derive(Default)]
pub(super) struct IntegralList {
    pub(super) integrals: Table<IntegralId, Declared>,
    pub(super) spans: Table<IntegralId, Span>,
}

impl Conserved {
    /// Evaluates constraints and invariants.
    pub(super) fn of(scope: &mut Scope, dynamics: &Reported<Dynamics>) -> Self {
        let (declaration, symbols) = (scope.declaration, scope.symbols);
        let purpose = if declaration.has_reactions() { Purpose::Holonomic } else { Purpose::InvariantSet };
        let constraints = flatten(scope, &declaration.constraints, purpose, symbols);
        let mut is_set = vec![!declaration.has_reactions(); constraints.len()];
        if let Ok(Dynamics::Lagrangian(lagrangian)) = dynamics {
            is_set = sets(scope, lagrangian, &constraints);
            refuse_assumptions(scope, &constraints, &is_set);
        }
        let phase = flatten(scope, &declaration.phase_constraints, Purpose::PhaseConstraint, symbols);
        let velocity = flatten(scope, declaration.reactive_constraints(), Purpose::VelocityConstraint, symbols);
        let invariants = flatten(scope, &declaration.invariants, Purpose::Invariant, symbols);
        Self { constraints, is_set, phase, velocity, invariants }
    }

    /// The integrals that are not mistaken.
    pub(super) fn listed(&self, declaration: &Declaration) -> IntegralList {
        let constraints: Vec<(&ScalarQuantity, bool)> = self
            .constraints
            .iter()
            .zip(&self.is_set)
            .flat_map(|(constraint, is_set)| {
                constraint.iter().flat_map(|flattened| &flattened.kept).map(move |quantity| (quantity, !is_set))
            })
            .collect();
        let mut all = IntegralList::default();
        let mut rates = constraints.len()..;
        let mut holonomic = Vec::new();
        for (quantity, is_holonomic) in constraints {
            let kind = match is_holonomic.then(|| rates.next()).flatten() {
                Some(rate) => Kind::Holonomic { rate: IntegralId::at(rate) },
                None => Kind::InvariantSet,
            };
            let constraint = all.declare(quantity, kind);
            holonomic.extend(is_holonomic.then_some((constraint, quantity)));
        }
        for (of, quantity) in holonomic {
            all.list(&quantity.rate_name, Kind::Rate { of }, quantity.weight, quantity.span);
        }
        sound(&self.phase).for_each(|quantity| _ = all.declare(quantity, Kind::Phase));
        sound(&self.velocity).for_each(|quantity| _ = all.declare(quantity, Kind::Velocity));
        if declaration.dynamics.is_empty() {
            all.list(declaration.energy_name(), Kind::Energy, 1, Span::call_site());
        }
        sound(&self.invariants).for_each(|quantity| _ = all.declare(quantity, Kind::Invariant));
        all
    }
}

impl IntegralList {
    fn declare(&mut self, quantity: &ScalarQuantity, kind: Kind) -> IntegralId {
        let id = self.list(&quantity.name, kind, quantity.weight, quantity.span);
        let declared = &mut self.integrals[id];
        (declared.value, declared.assumed) = (Some(quantity.value.clone()), quantity.assumed);
        id
    }

    fn list(&mut self, name: &str, kind: Kind, weight: u32, span: Span) -> IntegralId {
        self.spans.push(span);
        let (name, latex) = (name.to_owned(), latex(name));
        self.integrals.push(Declared { name, latex, kind, weight, assumed: false, value: None, gradient: () })
    }
}

/// The name of an integral or an output in a formula.
pub(super) fn latex(name: &str) -> String {
    format!("\\mathrm{{{}}}", name.replace('_', "\\_"))
}
