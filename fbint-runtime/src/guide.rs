//! What to do in common tasks, one page each. Every program is compiled and run.

#[doc = include_str!("../guide/driven_systems.md")]
pub mod driven_systems {}

#[doc = include_str!("../guide/events.md")]
pub mod events {}

#[doc = include_str!("../guide/reaction_forces.md")]
pub mod reaction_forces {}

#[doc = include_str!("../guide/inverse_dynamics.md")]
pub mod inverse_dynamics {}

#[doc = include_str!("../guide/linearisation.md")]
pub mod linearisation {}

#[doc = include_str!("../guide/trajectories.md")]
pub mod trajectories {}
