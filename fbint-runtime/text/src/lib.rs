#![doc = include_str!("../README.md")]

#[cfg(panic = "abort")]
compile_error!(
    "fbint-text needs `panic = \"unwind\"`: reading a text stops by unwinding where the text takes too much work, and under \
     `panic = \"abort\"` such a text would end the process; remove `panic = \"abort\"` from the profile in Cargo.toml"
);

mod code;
mod evaluate;
mod facts;
mod functions;
mod mistakes;
mod model;
mod read;
mod series;

pub use fbint_macros_core::text::{LONGEST, Mistake, Model, OpenValues, Position, Watch};
pub use mistakes::Mistakes;
pub use model::TextModel;
pub use read::{check_values, entries, models, models_of_package, models_watched};
