//! The wording for constraints that are proved to be unfit: constant, singular, or satisfied in no state.

use std::collections::BTreeSet;

use super::Messages;
use crate::derivation::{Derivation, Doubt, IntegralId, Kind};
use crate::notation;
use crate::numbers::signs::Signs;
use crate::syntax::MARK_AS_REDUNDANT;
use crate::syntax::diagnostics::Errors;

impl Messages<'_> {
    /// Reports integrals that are constant or, if there are none, the first mistake among the constraints.
    pub(in crate::compile) fn constraints(&self, derivation: &Derivation, mistakes: &[Doubt]) -> syn::Result<()> {
        let errors = Errors::new();
        self.constants(derivation, &errors);
        if errors.is_empty()
            && let Some((constraint, text)) = self.unfit(derivation, mistakes)
        {
            errors.push(self.model.spans[constraint], text);
        }
        errors.flush()
    }

    /// Reports integrals that are constant because everything that could change cancels. Elaboration refuses those that name no unknown.
    fn constants(&self, derivation: &Derivation, errors: &Errors) {
        for (id, integral) in derivation.integrals.iter() {
            let is_declared = !matches!(integral.kind, Kind::Rate { .. } | Kind::Energy);
            if is_declared && integral.gradient.is_empty() {
                let text = format!("{} is constant: everything in it that could change cancels", self.name(id));
                errors.push(self.model.spans[id], text);
            }
        }
    }

    /// The first mistake, and the constraint at which it is shown.
    fn unfit(&self, derivation: &Derivation, mistakes: &[Doubt]) -> Option<(IntegralId, String)> {
        if let [.., Doubt::Unsatisfied(members)] = mistakes
            && let [member] = members[..]
            && let Some(text) = self.one_sign(derivation, member)
        {
            return Some((member, text));
        }
        match mistakes {
            [Doubt::Singular { members, everywhere: true }, Doubt::Unsatisfied(_)] => {
                let several = "contradict one another: no state satisfies all of them\nhelp: remove one";
                self.singular(derivation, members, true, several)
            }
            [Doubt::Singular { members, everywhere }, ..] => {
                let kind = |member: &IntegralId| derivation.integrals[derivation.integrals.declared(*member)].kind;
                let are_holonomic = members.iter().all(|member| matches!(kind(member), Kind::Holonomic { .. }));
                let mark = if are_holonomic { MARK_AS_REDUNDANT } else { "" };
                let several = format!("depend on one another\nhelp: remove one of them{mark}");
                self.singular(derivation, members, *everywhere, &several)
            }
            [Doubt::Unsatisfied(members), ..] => {
                let names = self.names(members.iter().copied());
                let reason = "no state satisfies all of them\nhelp: correct or remove one";
                Some((*members.last()?, format!("{names} contradict one another: {reason}")))
            }
            [Doubt::NoGradient(member), ..] => Some((*member, self.flat(derivation, *member))),
            _ => None,
        }
    }

    /// The consequence of a constraint's signs, if it does not have both.
    fn one_sign(&self, derivation: &Derivation, member: IntegralId) -> Option<String> {
        let (name, consequence) = (self.name(member), consequence(derivation));
        let never = |sign: &str| {
            format!(
                "{name} is never {sign}, so that its gradient vanishes wherever {name} does and {consequence}\nhelp: check its signs"
            )
        };
        let always = |sign: &str| {
            format!(
                "{name} is {sign} in every state, so it is never 0 and no motion satisfies it\nhelp: check its signs"
            )
        };
        match Signs::of(&derivation.integrals[member].value) {
            Signs { negative: false, zero: false, .. } => Some(always("positive")),
            Signs { positive: false, zero: false, .. } => Some(always("negative")),
            _ if !derivation.has_reaction(member) => None,
            Signs { negative: false, .. } => Some(never("negative")),
            Signs { positive: false, .. } => Some(never("positive")),
            _ => None,
        }
    }

    fn flat(&self, derivation: &Derivation, member: IntegralId) -> String {
        let (name, consequence) = (self.name(member), consequence(derivation));
        format!(
            "the gradient of {name} vanishes wherever {name} does, so that {consequence}\nhelp: drop the power, or whatever \
             makes {name} touch 0 without crossing it"
        )
    }

    fn singular(
        &self,
        derivation: &Derivation,
        members: &[IntegralId],
        everywhere: bool,
        several: &str,
    ) -> Option<(IntegralId, String)> {
        // A rate stands for the constraint that it is the rate of: users declare only that.
        let culprits: BTreeSet<IntegralId> =
            members.iter().map(|&member| derivation.integrals.declared(member)).collect();
        let &last = culprits.last()?;
        let names = self.names(culprits.iter().copied());
        let reason = match (culprits.len(), derivation.integrals[last].kind) {
            (1, Kind::Holonomic { .. }) => format!(
                "{names} commutes with its own rate, because the Hamiltonian is not quadratic in the momenta along its \
                 gradient\nhelp: give the constraint as a `phase_constraint` with its conjugate"
            ),
            (1, _) => format!(
                "{names} commutes with every other constraint\nhelp: remove it, or add the constraint that is conjugate to it"
            ),
            (_, Kind::Velocity) => format!("the Hamiltonian is not quadratic in the momenta along {names}"),
            _ => format!("{names} {several}"),
        };
        let matrix = notation::multiplier_matrix(derivation);
        let place = if everywhere { "everywhere" } else { "wherever the constraints hold" };
        Some((last, format!("{matrix} is singular {place}: {reason}")))
    }
}

/// The consequence where the gradient of a constraint vanishes.
fn consequence(derivation: &Derivation) -> &'static str {
    if derivation.constraints().is_some() { "C is singular there" } else { "its reaction is undetermined there" }
}
