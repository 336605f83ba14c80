//! Models by name and in files, and their descriptions.

pub mod catalogue;
pub mod equations;
pub(crate) mod file;
pub(crate) mod list;
pub(crate) mod show;
