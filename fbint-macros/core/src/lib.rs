//! The compiler behind `#[feedback_system]`, as an ordinary library: tests and tools call what the macro calls.

#[cfg(feature = "derive")]
pub mod algebra;
mod bounds;
pub mod check;
pub mod compile;
pub mod derivation;
mod derivative;
pub mod diagnostics;
pub mod elaborate;
pub mod emit;
pub mod expression;
#[cfg(feature = "derive")]
pub mod factored;
mod implicit;
#[cfg(feature = "derive")]
pub mod mechanics;
pub mod notation;
mod numbers;
pub mod points;
mod precise;
pub mod prepared;
pub mod program;
pub mod proofs;
mod scaled;
#[cfg(feature = "derive")]
pub mod symbolic;
pub mod syntax;
pub mod table;

use proc_macro2::TokenStream;

use self::prepared::Surroundings;

/// What `#[feedback_system(attribute)] item` expands to where no derivations are kept.
pub fn feedback_system(attribute: TokenStream, item: TokenStream) -> TokenStream {
    compile::feedback_system(attribute, item, &Surroundings::nowhere())
}
