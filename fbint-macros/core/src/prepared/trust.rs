//! Checks of everything that a file says.

use crate::check::{CheckOutcome, check};
use crate::derivation::{Prepared, Problem};
use crate::proofs::{self, involution};

/// Checks everything that a file says. Only proofs that cannot be repeated without algebra are taken from the file as they are.
pub fn verify_kept(problem: &Problem, prepared: Prepared) -> Result<Prepared, String> {
    let Prepared { derivation, claims, involution } = prepared;
    match check(problem, &derivation) {
        CheckOutcome::Agreement => {}
        CheckOutcome::Disagreement(quantity) => return Err(format!("{quantity} disagrees with the declaration")),
        CheckOutcome::Undefined => return Err("no state was found in which all of it is defined".to_owned()),
    }
    let claims = proofs::recheck_claims(&derivation, &claims).map_err(|integral| {
        format!("what it says of the conservation of `{}` is not so", derivation.integrals[integral].name)
    })?;
    if involution::is_contradicted(&derivation, &claims, &involution) {
        return Err("what it says of the brackets of integrals is not so".to_owned());
    }
    Ok(Prepared { derivation, claims, involution })
}
