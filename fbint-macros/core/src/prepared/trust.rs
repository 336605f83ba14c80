//! Whether what a file holds is true.

use super::Damage;
use crate::check::{Verdict, check};
use crate::derivation::{Prepared, Problem};
use crate::proofs::{self, involution};

/// The first statement that does not hold of the problem, in words.
pub fn contradiction(problem: &Problem, prepared: &Prepared) -> Option<Damage> {
    let Prepared { derivation, claims, involution } = prepared;
    match check(problem, derivation) {
        Verdict::Agreement => {}
        Verdict::Disagreement(quantity) => return Some(Damage(format!("{quantity} disagrees with the declaration"))),
        Verdict::Undefined => return Some(Damage::from("no state was found in which all of it is defined")),
    }
    if let Some(integral) = proofs::unfounded(derivation, claims) {
        let name = &derivation.integrals[integral].name;
        return Some(Damage(format!("what it says of the conservation of `{name}` is not so")));
    }
    let is_contradicted = involution::is_contradicted(derivation, claims, involution);
    is_contradicted.then(|| Damage::from("what it says of the brackets of integrals is not so"))
}
