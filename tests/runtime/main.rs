//! All tests of the runtime: one program, so that the models they share are compiled once.

mod common;
mod consistent_start;
mod definitions;
mod diagnostics;
mod differential_equations;
mod ensemble;
mod feedback;
mod gauss;
mod lanes;
mod limits;
mod lost;
mod memory;
mod models;
mod nearly_dependent;
mod padded;
mod policies;
mod projection;
mod resumption;
mod rodas5p;
mod runge_kutta;
mod sampling;
mod settings;
mod side_by_side;
mod simulation;
mod single_precision;
#[path = "../../fbint-runtime/benches/problems/stiff.rs"]
mod stiff;
mod taylor;
mod units;
mod vectors;
