//! What takes algebra, in one session: the derivation, proofs that numbers do not give, and whether doubts are mistakes.

mod conservation;
mod involution;
mod mistakes;
mod poisson;
mod vanishing;

pub use self::conservation::claims;
pub use self::poisson::NotPoisson;
use crate::derivation::{Derivation, Doubt, Prepared, Problem};
use crate::mechanics::{self, Underived};
use crate::proofs::grades;
use crate::symbolic::{SessionError, session};

/// The size of the largest determinant that is written out.
const LARGEST_DETERMINANT: usize = 5;

/// Why nothing was derived.
#[derive(Debug)]
pub enum Obstacle {
    /// The algebra cannot be used now.
    Session(SessionError),
    /// What is declared has no derivation.
    Underived(Underived),
    /// `poisson` is not a Poisson matrix.
    NotPoisson(NotPoisson),
}

/// Everything that takes algebra to find out about a problem. What numbers prove is not looked at within a session, for whose end other
/// builds wait.
pub fn prepare(problem: &Problem) -> Result<Prepared, Obstacle> {
    let derivation = session(|| derived(problem)).map_err(Obstacle::Session)??;
    let grades = grades(&derivation);
    let found = || {
        let claims = conservation::claims_beside(&derivation, &grades);
        let involution = involution::involution(&derivation, &claims);
        (claims, involution)
    };
    let (claims, involution) = session(found).map_err(Obstacle::Session)?;
    Ok(Prepared { derivation, claims, involution })
}

fn derived(problem: &Problem) -> Result<Derivation, Obstacle> {
    let derivation = mechanics::derive(problem).map_err(Obstacle::Underived)?;
    match poisson::not_poisson(&derivation) {
        Some(reason) => Err(Obstacle::NotPoisson(reason)),
        None => Ok(derivation),
    }
}

/// The doubts that are proved to be mistakes, and the others.
pub fn judge(derivation: &Derivation, doubts: Vec<Doubt>) -> Result<(Vec<Doubt>, Vec<Doubt>), Obstacle> {
    if doubts.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    session(|| doubts.into_iter().partition(|doubt| mistakes::is_mistake(derivation, doubt))).map_err(Obstacle::Session)
}
