//! Which doubts are mistakes, because numbers prove it: the signs that a constraint can have, or exact arithmetic for the rank of C.

use super::regularity::is_singular;
use crate::derivation::{Derivation, Doubt, IntegralId};
use crate::expression::Expression;
use crate::numbers::signs::{Signs, is_never_zero};

/// Returns `true` if numbers prove that a doubt is a mistake.
pub fn is_mistake(derivation: &Derivation, doubt: &Doubt) -> bool {
    match doubt {
        Doubt::Unsatisfied(members) => matches!(members[..], [member] if is_unfit(derivation, member)),
        Doubt::NoGradient(member) => has_one_sign(&derivation.integrals[*member].value),
        Doubt::Singular { members, everywhere: true } => is_singular(derivation, members),
        Doubt::Singular { everywhere: false, .. }
        | Doubt::Undefined { .. }
        | Doubt::Inertia { .. }
        | Doubt::BeyondATurn(_)
        | Doubt::Unverified(_) => false,
    }
}

/// Returns `true` if a constraint is proved to be 0 nowhere, or only where its gradient is and C is singular: a function that is never negative.
fn is_unfit(derivation: &Derivation, member: IntegralId) -> bool {
    let value = &derivation.integrals[member].value;
    is_never_zero(value) || derivation.has_reaction(member) && has_one_sign(value)
}

fn has_one_sign(expression: &Expression) -> bool {
    let signs = Signs::of(expression);
    !(signs.negative && signs.positive)
}
