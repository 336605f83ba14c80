//! Pages of several runs, or of one with all that belongs to it.

pub(crate) mod gallery;
pub(crate) mod page;
pub mod work_precision;
