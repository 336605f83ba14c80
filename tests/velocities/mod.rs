//! Lagrangian systems, frames and velocity constraints.
//!
//! Fields and reactions are compared with values of 50 digits and trajectories with values of 60. Dual numbers on a Lagrangian typed
//! again in coordinates and rates check d'Alembert's equations at 1,000 states of each model. One motion is declared in several ways
//! and in random frames. Grades of integrals, starts, projections, lanes, files, the discrete Hamel integrator, mass matrices and
//! inverse dynamics have modules below.

#![allow(unreachable_pub)]

mod chains;
mod conservation;
mod discrete_hamel;
mod equivalence;
mod frames;
mod inverse_dynamics;
mod points;
mod redundant;
mod residuals;
mod runs;
mod singular;
mod systems;
