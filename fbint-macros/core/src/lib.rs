//! The compiler behind `#[feedback_system]`, as an ordinary library: tests and tools call what the macro calls.

mod bounds;
pub mod check;
pub mod compile;
pub mod derivation;
pub mod diagnostics;
pub mod elaborate;
pub mod emit;
pub mod expression;
pub mod factored;
pub mod mechanics;
pub mod notation;
pub mod points;
mod precise;
pub mod program;
pub mod proofs;
mod scaled;
pub mod symbolic;
pub mod syntax;
pub mod table;

pub use compile::feedback_system;
