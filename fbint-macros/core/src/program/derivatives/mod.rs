//! Programs differentiated, by rules for each instruction.

mod adjoint;
mod derivative;
mod directional;
mod tangent;

pub(crate) use derivative::copy;
pub use derivative::{Derivative, pattern};
pub(crate) use tangent::{jacobian, tangents};
