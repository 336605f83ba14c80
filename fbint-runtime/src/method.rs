//! Methods of integration, one step at a time, and by name.

#[cfg(feature = "std")]
pub(crate) mod advance;
#[cfg(feature = "differential-equations")]
pub(crate) mod differential_equations;
pub(crate) mod error_control;
#[cfg(feature = "std")]
pub(crate) mod flat;
#[cfg(feature = "std")]
pub(crate) mod gauss;
pub(crate) mod geometric;
pub(crate) mod hamel;
pub(crate) mod integrator;
#[cfg(feature = "std")]
pub(crate) mod settings;
