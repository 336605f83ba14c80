//! The order of the integrals, which is decided here and nowhere else: holonomic constraints and invariant sets, the rates of
//! holonomic constraints, phase constraints, velocity constraints, the energy, invariants.

use proc_macro2::Span;

use super::quantities::Quantity;
use crate::derivation::{Declared, IntegralId, Kind};
use crate::table::{Id, Table};

/// Declared quantities that the motion keeps, sorted by meaning.
pub(super) struct Kept<'a> {
    /// Each with `true` if it is holonomic, so that it has a rate, and `false` if it is an invariant set.
    pub(super) constraints: Vec<(&'a Quantity, bool)>,
    pub(super) phase: Vec<&'a Quantity>,
    pub(super) velocity: Vec<&'a Quantity>,
    /// The name of the energy, if there is one.
    pub(super) energy: Option<&'static str>,
    pub(super) invariants: Vec<&'a Quantity>,
}

/// All integrals in their order, with the places where they are declared.
#[derive(Default)]
pub(super) struct Listed {
    pub(super) integrals: Table<IntegralId, Declared>,
    pub(super) spans: Table<IntegralId, Span>,
}

impl Kept<'_> {
    pub(super) fn listed(&self) -> Listed {
        let mut all = Listed::default();
        let mut rates = self.constraints.len()..;
        let mut holonomic = Vec::new();
        for (quantity, is_holonomic) in &self.constraints {
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
        self.phase.iter().for_each(|quantity| _ = all.declare(quantity, Kind::Phase));
        self.velocity.iter().for_each(|quantity| _ = all.declare(quantity, Kind::Velocity));
        if let Some(name) = self.energy {
            all.list(name, Kind::Energy, 1, Span::call_site());
        }
        self.invariants.iter().for_each(|quantity| _ = all.declare(quantity, Kind::Invariant));
        all
    }
}

impl Listed {
    fn declare(&mut self, quantity: &Quantity, kind: Kind) -> IntegralId {
        let id = self.list(&quantity.name, kind, quantity.weight, quantity.span);
        let declared = &mut self.integrals[id];
        (declared.value, declared.assumed) = (Some(quantity.value.clone()), quantity.assumed);
        id
    }

    fn list(&mut self, name: &str, kind: Kind, weight: u32, span: Span) -> IntegralId {
        self.spans.push(span);
        let (name, latex) = (name.to_owned(), latex(name));
        self.integrals.push(Declared { name, latex, kind, weight, assumed: false, value: None })
    }
}

/// The name of an integral or an output in a formula.
pub(super) fn latex(name: &str) -> String {
    format!("\\mathrm{{{}}}", name.replace('_', "\\_"))
}
