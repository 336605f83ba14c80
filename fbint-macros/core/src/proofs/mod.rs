//! Proofs about a [`Derivation`](crate::derivation::Derivation) by numbers, and suspicions from a search among states.
//!
//! A proof evaluates expressions at random points modulo primes (`identities`, `rates`, `modular`), where what does not vanish identically
//! vanishes with a probability below 1e-40, and below 1e-8 where roots depend on one another. Algebra decides the rest.
//!
//! A refutation is a state in which a rate is certainly not 0 (`search`): rates are evaluated in 256 bits with a bound on the error, which
//! distinguishes a rate of 1e-60 from rounding. That no such state was found proves nothing. A few hundred are tried, and a domain may be
//! small and far away: that nothing was found, that a part was defined nowhere or that C was singular in every state is a doubt.
//!
//! Whether something is tried depends on counts, such as terms, degrees and states, and never on time. So a declaration gives the same
//! bytes on every machine.

mod configurations;
mod conservation;
mod definedness;
mod degree;
mod elementary;
mod feasibility;
mod further;
mod identities;
pub mod involution;
mod kinetic_energy;
mod linear_form;
mod mistakes;
mod modular;
mod point;
mod rank;
mod rates;
mod regularity;
mod rotation;
mod search;
mod set;
mod soundness;
mod states;
mod trials;
mod velocity;

pub(crate) use configurations::{ConfigurationConstraint, Configurations};
pub(crate) use conservation::changed_by_field;
pub use conservation::{Violation, grades, prove, recheck_claims};
pub(crate) use definedness::{Undefined, constraints_that_are_roots, is_root, undefined_part};
#[cfg(feature = "derive")]
pub(crate) use degree::Degrees;
pub use feasibility::doubts;
pub use further::{MOST_MONOMIALS, further, monomials_up_to};
pub(crate) use identities::{Vanishing, vanishes_identically};
pub use kinetic_energy::kinetic_energy;
pub use mistakes::is_mistake;
pub use rank::rank;
pub(crate) use regularity::{DependentColumns, dependence, whole_kernel};
pub use search::{Found, Witness};
pub(crate) use soundness::{DifferentialForm, Unsound, are_integrable, unsound_mass, vanish_where};
pub use states::Values;
#[cfg(feature = "derive")]
pub(crate) use states::general;
pub(crate) use states::{State, VanishingFunction, common_zeros, is_nonzero_somewhere};
pub(crate) use velocity::{Velocity, solve};
