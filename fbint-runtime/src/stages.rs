//! Methods as coefficients: stages, dense output, and the size of steps from their errors.

pub(crate) mod dense_output;
#[cfg(feature = "std")]
pub(crate) mod rodas5p;
#[cfg(feature = "std")]
pub(crate) mod series_step;
pub(crate) mod step_size;
pub mod tableau;
pub(crate) mod tolerance;
