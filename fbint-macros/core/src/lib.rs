//! The compiler behind `#[feedback_system]`, as an ordinary library: tests and tools call what the macro calls.

#[cfg(feature = "derive")]
pub mod algebra;
pub mod check;
pub mod compile;
pub mod derivation;
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
pub mod numbers;
pub mod prepared;
pub mod program;
pub mod proofs;
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
