//! Whether what a file holds is true.

use super::Damage;
use crate::check::{Verdict, check};
use crate::derivation::{Prepared, Problem};
use crate::proofs::{self, involution};

/// The first statement that does not hold of the problem, in words.
pub fn contradiction(problem: &Problem, prepared: &Prepared) -> Option<Damage> {
    believed(problem, prepared.clone()).err()
}

/// What a file holds, where all of it is true: proofs that cannot be repeated without algebra are the file's.
pub fn believed(problem: &Problem, prepared: Prepared) -> Result<Prepared, Damage> {
    let Prepared { derivation, claims, involution } = prepared;
    match check(problem, &derivation) {
        Verdict::Agreement => {}
        Verdict::Disagreement(quantity) => return Err(Damage(format!("{quantity} disagrees with the declaration"))),
        Verdict::Undefined => return Err(Damage::from("no state was found in which all of it is defined")),
    }
    let claims = proofs::believed(&derivation, &claims).map_err(|integral| {
        Damage(format!("what it says of the conservation of `{}` is not so", derivation.integrals[integral].name))
    })?;
    if involution::is_contradicted(&derivation, &claims, &involution) {
        return Err(Damage::from("what it says of the brackets of integrals is not so"));
    }
    Ok(Prepared { derivation, claims, involution })
}
