#![doc = include_str!("../README.md")]

mod any;
mod code;
mod entries;
mod facts;
mod functions;
mod mistakes;
mod model;
mod prepared;

pub use any::{AnyModel, Visitor, models, models_of_package};
pub use entries::entries;
pub use fbint_macros_core::text::{LONGEST, MOST_ENTRIES, MOST_INTEGRALS, Mistake, Position};
pub use mistakes::Mistakes;
pub use model::TextModel;
pub use prepared::TextPrepared;
