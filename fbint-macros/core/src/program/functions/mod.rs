//! The generated functions.

mod derived;
mod description;
mod table;

pub use derived::*;
pub(crate) use description::Expected;
pub use description::{Argument, Form, GeneratedFunction, Returns, Rows, Trait};
pub(crate) use table::functions_of;
pub use table::*;
