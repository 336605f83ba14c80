//! Straight-line programs: what a generated function computes, before it has names.
//!
//! A [`Program`] is a list of instructions in static single assignment, each naming earlier ones. Equal instructions are
//! one (value numbering in `Builder`), so that field, integrals and gradient share what they have in common. The feedback law
//! is an instruction, too: [`Instruction::Weigh`] hands it the integrals F and takes back y = K (F - F_target).
//!
//! Nothing branches or pivots at run time, so that all lanes of a vector take the same path. Values that depend on parameters alone move
//! out of every program into one that `prepare` runs once.
//!
//! The time of a step depends on the number of operations, on their order, on where inputs are bound, and on inlining. The rules: values
//! are computed when they are first needed, one `let` for each instruction; inputs are bound where they are first read; divisions are early
//! and shared; signs and constants are fused into other operations; a field of up to 256 operations is inlined into every method, and a
//! function of more than 2048 is never inlined. Measured on the four-bar and on chains: a sixth to a third of their instructions store or
//! reload, and this order saves 2 to 5 % of the time against the order of derivation; a pivot waits 13 cycles for a division; DOP853 takes
//! 37 ns an evaluation with the four-bar's field inlined, and 56 ns with results that pass through memory.

mod assemble;
mod build;
mod code;
mod derivatives;
mod functions;
mod optimise;
mod oracle;
mod taylor;
mod verify;

pub use assemble::{Programs, assemble, assemble_with_events};
pub use build::fields::of_expressions;
pub use build::switches::{Switch, switches};
pub use code::{Fault, Input, Instruction, OperationCount, Program, Sign, Value};
pub(crate) use code::{names, names_but_for_factors};
pub use derivatives::{Derivative, pattern};
pub use functions::*;
pub use taylor::{Convolution, Group, LANES, Layout, ModelSeries, TaylorSeries, verify_series};
pub use verify::verify;

pub use crate::numbers::points::Unknown;
