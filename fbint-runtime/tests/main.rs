//! All tests of the runtime: one program, so that the models they share are compiled once.

mod common;
mod consistent_start;
mod definitions;
#[cfg(feature = "std")]
mod diagnostics;
#[cfg(feature = "differential-equations")]
mod differential_equations;
#[cfg(feature = "ensemble")]
mod ensemble;
mod feedback;
#[cfg(feature = "std")]
mod gauss;
#[cfg(feature = "lanes")]
mod lanes;
mod lost;
mod models;
mod nearly_dependent;
#[cfg(feature = "std")]
mod padded;
mod policies;
#[cfg(feature = "std")]
mod problems;
#[cfg(feature = "std")]
mod projection;
#[cfg(feature = "std")]
mod resumption;
#[cfg(feature = "std")]
mod rodas5p;
mod runge_kutta;
mod sampling;
#[cfg(feature = "std")]
mod settings;
#[cfg(feature = "ensemble")]
mod side_by_side;
#[cfg(feature = "std")]
mod simulation;
mod single_precision;
mod vectors;
