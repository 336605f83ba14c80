//! What can be proved about a [`Derivation`](crate::derivation::Derivation) with numbers, and what a search among states suggests.

mod conservation;
mod degree;
mod elementary;
mod feasibility;
mod identities;
pub mod involution;
mod kinetic_energy;
mod linear_form;
mod modular;
mod point;
mod rank;
mod rates;
mod regularity;
mod rotation;
mod search;
mod states;
mod trials;
mod velocity;

pub(crate) use conservation::changed_by_field;
#[cfg(feature = "derive")]
pub(crate) use conservation::grades;
pub use conservation::{Violation, believed, prove};
pub use feasibility::doubts;
pub(crate) use identities::vanishes_identically;
pub(crate) use kinetic_energy::kinetic_energy;
pub use rank::rank;
pub(crate) use regularity::{Dependence, dependence};
pub use search::{Found, Witness};
pub use states::Values;
pub(crate) use states::{State, consistent, general};
#[cfg(feature = "derive")]
pub(crate) use {
    degree::{Degree, degree_in},
    regularity::is_singular,
};
