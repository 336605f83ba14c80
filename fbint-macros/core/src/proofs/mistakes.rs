//! Which doubts are mistakes, because numbers prove it: the signs that a constraint can have, or exact arithmetic for the rank of C.

use super::regularity::is_singular;
use crate::derivation::{Derivation, Doubt};
use crate::expression::Expression;
use crate::numbers::signs::{Signs, is_never_zero};

/// Whether numbers prove that a doubt is a mistake.
pub fn is_mistake(derivation: &Derivation, doubt: &Doubt) -> bool {
    match doubt {
        // A function that is never negative can be zero only where its gradient is, and there C is singular.
        Doubt::OneSign { member, .. } => {
            let value = &derivation.integrals[*member].value;
            is_never_zero(value) || derivation.has_reaction(*member) && has_one_sign(value)
        }
        Doubt::NoGradient(member) => has_one_sign(&derivation.integrals[*member].value),
        Doubt::Singular { members, everywhere: true } => is_singular(derivation, members),
        Doubt::Singular { everywhere: false, .. }
        | Doubt::Unsatisfied(_)
        | Doubt::Undefined { .. }
        | Doubt::Inertia { .. }
        | Doubt::Unverified(_) => false,
    }
}

fn has_one_sign(expression: &Expression) -> bool {
    let signs = Signs::of(expression);
    !(signs.negative && signs.positive)
}
