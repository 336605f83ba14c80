//! Lagrangian systems, frames and velocity constraints.

#![allow(missing_docs, unreachable_pub)]

mod chains;
mod discrete_hamel;
mod points;
mod systems;
