//! Everything that takes computer algebra: shorter forms, proofs that numbers do not give, and the decision which doubts are mistakes.
//!
//! While a session lasts, other builds wait. So what takes many numbers is done between sessions: the grades that points modulo primes
//! prove are found after the first session, and the states that raise doubts are searched for before the doubts are judged.

mod expansion;
mod mistakes;
mod simplify;
pub mod symbolic;
mod vanishing;

pub use self::simplify::Algebra;
pub use crate::algebra::symbolic::SessionError;
use crate::algebra::symbolic::session;
use crate::derivation::{Derivation, Doubt, Prepared, Problem};
use crate::mechanics::{self, Underived};
use crate::proofs::{self, grades};

/// Why nothing was derived.
#[derive(Debug)]
pub enum Obstacle {
    /// The algebra cannot be used now.
    Session(SessionError),
    /// The declaration has no derivation.
    Underived(Underived),
}

/// The derivation of a problem, in short forms, and what algebra proves of it.
pub fn prepare(problem: &Problem) -> Result<Prepared, Obstacle> {
    let derived = session(|| mechanics::derive(problem, &Algebra)).map_err(Obstacle::Session)?;
    let derivation = derived.map_err(Obstacle::Underived)?;
    let grades = grades(&derivation);
    session(|| mechanics::concluded(derivation, &grades, &Algebra)).map_err(Obstacle::Session)
}

/// The doubts that are proved to be mistakes, and the others.
pub fn judge(derivation: &Derivation, doubts: Vec<Doubt>) -> Result<(Vec<Doubt>, Vec<Doubt>), SessionError> {
    if doubts.is_empty() {
        return Ok((Vec::new(), Vec::new()));
    }
    let is_mistake = |doubt: &Doubt| proofs::is_mistake(derivation, doubt) || mistakes::is_mistake(derivation, doubt);
    session(|| doubts.into_iter().partition(is_mistake))
}
