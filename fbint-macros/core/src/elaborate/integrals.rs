//! The order of the integrals, which is decided here and nowhere else: holonomic constraints and invariant sets, the rates of
//! holonomic constraints, phase constraints, velocity constraints, the energy, invariants.

use proc_macro2::Span;

use super::lagrangian::find_sets;
use super::quantities::{Purpose, Quantity, ScalarQuantity, flatten, scalars};
use super::scope::{Reported, Scope};
use crate::derivation::table::Table;
use crate::derivation::{Declared, Dynamics, EntryOf, IntegralId, Kind};
use crate::syntax::{Declaration, NamedExpression, REDUNDANT};

/// All integrals in their order, with the places where they are declared.
#[derive(Default)]
pub(super) struct IntegralList {
    pub(super) integrals: Table<IntegralId, Declared>,
    pub(super) spans: Table<IntegralId, Span>,
}

/// The constraints and the invariants, but for the velocity constraints that put a velocity to zero: it is not an unknown then.
pub(super) fn conserved<'d>(scope: &mut Scope<'d>, dynamics: &Reported<Dynamics>) -> Vec<Quantity<'d>> {
    let declaration = scope.declaration;
    let purpose = if declaration.has_reactions() { Purpose::Holonomic } else { Purpose::InvariantSet };
    let of = |named: &NamedExpression| if named.is_marked(REDUNDANT) { Purpose::Redundant } else { purpose };
    let constraints = declaration.constraints.iter();
    let mut all: Vec<Quantity> = constraints.flat_map(|named| flatten(scope, [named], of(named))).collect();
    if let Ok(Dynamics::Lagrangian(lagrangian)) = dynamics {
        find_sets(scope, lagrangian, &mut all);
    }
    all.extend(flatten(scope, &declaration.phase_constraints, Purpose::PhaseConstraint));
    all.extend(flatten(scope, declaration.reactive_constraints(), Purpose::VelocityConstraint));
    all.extend(flatten(scope, &declaration.invariants, Purpose::Invariant));
    all
}

impl IntegralList {
    /// The integrals that are not mistaken.
    pub(super) fn of(declaration: &Declaration, quantities: &[Quantity]) -> Self {
        let is_constraint =
            |purpose| matches!(purpose, Purpose::Holonomic | Purpose::Redundant | Purpose::InvariantSet);
        let mut all = Self::default();
        let mut holonomic = Vec::new();
        for constraint in quantities.iter().filter(|quantity| is_constraint(quantity.purpose)) {
            for scalar in constraint.scalars() {
                let is_redundant = constraint.purpose == Purpose::Redundant;
                let of = all.declare(scalar, if is_redundant { Kind::Redundant } else { Kind::InvariantSet });
                holonomic.extend((constraint.purpose == Purpose::Holonomic).then_some((of, scalar)));
            }
        }
        for (of, scalar) in holonomic {
            let rate = all.list(&scalar.rate_name, scalar.rate_entry(), Kind::Rate { of }, scalar.weight, scalar.span);
            all.integrals[of].kind = Kind::Holonomic { rate };
        }
        let of = |purpose| scalars(quantities, purpose);
        of(Purpose::PhaseConstraint).for_each(|scalar| _ = all.declare(scalar, Kind::Phase));
        of(Purpose::VelocityConstraint).for_each(|scalar| _ = all.declare(scalar, Kind::Velocity));
        if declaration.dynamics.is_empty() {
            let energy = declaration.energy_name();
            all.list(energy, EntryOf::scalar(energy), Kind::Energy, 1, Span::call_site());
        }
        of(Purpose::Invariant).for_each(|scalar| _ = all.declare(scalar, Kind::Invariant));
        all
    }

    fn declare(&mut self, quantity: &ScalarQuantity, kind: Kind) -> IntegralId {
        let id = self.list(&quantity.name, quantity.entry.clone(), kind, quantity.weight, quantity.span);
        let declared = &mut self.integrals[id];
        (declared.value, declared.assumed) = (Some(quantity.value.clone()), quantity.assumed);
        id
    }

    fn list(&mut self, name: &str, entry: EntryOf, kind: Kind, weight: u32, span: Span) -> IntegralId {
        self.spans.push(span);
        let (name, latex) = (name.to_owned(), latex(name));
        self.integrals.push(Declared { name, latex, entry, kind, weight, assumed: false, value: None, gradient: () })
    }
}

/// The name of an integral or an output in a formula.
pub(super) fn latex(name: &str) -> String {
    format!("\\mathrm{{{}}}", name.replace('_', "\\_"))
}
