//! The compiler behind `#[feedback_system]`, as an ordinary library: tests and tools call what the macro calls.

pub mod derivation;
pub mod diagnostics;
pub mod expression;
pub mod mechanics;
pub mod program;
pub mod sample;
pub mod symbolic;
