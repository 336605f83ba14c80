//! Words on the screen: messages, help, names of quantities, mathematics in figures, progress.

pub(crate) mod complaint;
pub(crate) mod help;
pub mod names;
pub mod nearest;
pub mod progress;
pub mod typography;
