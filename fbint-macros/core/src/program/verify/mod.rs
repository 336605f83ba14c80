//! Programs compared with the derivation.

mod comparison;
mod scaling;

pub use comparison::verify;
