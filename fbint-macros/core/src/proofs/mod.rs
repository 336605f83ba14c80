//! What can be proved about a [`Derivation`](crate::derivation::Derivation), and what a search among states suggests.
//!
//! What takes algebra runs within a session: [`not_poisson`], [`claims`], [`involution`], [`is_mistake`]. The rest works with
//! numbers.

mod conservation;
mod elimination;
mod feasibility;
mod involution;
mod linear;
mod modular;
mod poisson;
mod rank;
mod regularity;
mod samples;
mod states;
mod vanishing;

pub use conservation::{Claim, Violation, claims, prove};
pub use feasibility::{doubts, is_mistake, is_never_zero};
pub use involution::involution;
pub use poisson::{NotPoisson, not_poisson};
pub use rank::rank;
pub use states::Values;
