//! What can be proved about a [`Derivation`](crate::derivation::Derivation), and what a search among states suggests.
//!
//! What takes algebra runs within a session: [`not_poisson`], [`claims`], [`involution`], [`is_mistake`]. The rest works with
//! numbers.

mod conservation;
mod degree;
mod elementary;
mod elimination;
mod feasibility;
mod field;
mod identities;
mod involution;
mod linear;
mod linear_form;
mod modular;
mod point;
mod poisson;
mod rank;
mod rates;
mod regularity;
mod ring;
mod search;
mod states;
mod trials;
mod vanishing;
mod velocity;

pub use conservation::{Claim, Violation, claims, prove};
pub use feasibility::{doubts, is_mistake, is_never_zero};
pub use involution::involution;
pub use poisson::{NotPoisson, not_poisson};
pub use rank::rank;
pub use search::{Found, Witness};
pub use states::Values;
