//! Straight-line programs as data: instructions, how they are put together, counted, named and evaluated.

mod builder;
mod cost;
mod instructions;
mod interpret;
mod names;
mod norm;

pub(crate) use builder::{Builder, LookUp};
pub use cost::OperationCount;
pub use instructions::{Fault, Input, Instruction, Program, Sign, Value};
pub(crate) use interpret::{inputs, interpret};
pub(crate) use names::{names, names_but_for_factors};
pub(crate) use norm::{divisor_of_root, is_square, raised, squared};
