#![doc = include_str!("../README.md")]

mod code;
mod facts;
mod functions;
mod mistakes;
mod model;
mod read;

pub use fbint_macros_core::text::{LONGEST, MOST_ENTRIES, MOST_INTEGRALS, Mistake, Position};
pub use mistakes::Mistakes;
pub use model::TextModel;
pub use read::{entries, models, models_of_package};
