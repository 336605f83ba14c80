//! The compiler behind `#[feedback_system]`, as an ordinary library: tests and tools call what the macro calls.

pub mod compile;
pub mod derivation;
pub mod diagnostics;
pub mod elaborate;
pub mod expression;
pub mod syntax;
