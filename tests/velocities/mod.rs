//! Lagrangian systems, frames and velocity constraints.

#![allow(unreachable_pub)]

mod chains;
mod conservation;
mod discrete_hamel;
mod equivalence;
mod frames;
mod inverse_dynamics;
mod points;
mod residuals;
mod runs;
mod systems;
