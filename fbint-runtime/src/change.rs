//! Derivatives of fields and of runs.

#[cfg(feature = "std")]
pub(crate) mod linearisation;
pub(crate) mod sensitivity;
