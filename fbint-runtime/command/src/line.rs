//! The command line, and what its values mean for a model.

pub(crate) mod arguments;
pub(crate) mod condition;
pub(crate) mod inputs;
pub(crate) mod start;
