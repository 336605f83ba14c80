//! Programs rewritten.

mod passes;
mod schedule;

pub(crate) use passes::{Optimiser, fuse_multiply_add};
pub(crate) use schedule::schedule;
