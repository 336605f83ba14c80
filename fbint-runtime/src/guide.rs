//! Common tasks, one page each. Every program is compiled and run.
//!
//! - [`methods`]: which method to take, projection and feedback.
//! - [`recipes`]: a rigid body in space, bodies that attract one another, stiff models, impacts, a controller at 1 kHz.
//! - [`driven_systems`]: forces, the time, and inputs.
//! - [`events`]: impacts, sections, and ends that are not known in advance.
//! - [`reaction_forces`]: what constraints do to the bodies.
//! - [`inverse_dynamics`]: mass matrices, and the forces that a motion takes.
//! - [`linearisation`]: derivatives of fields and of runs.
//! - [`trajectories`]: where and when states are recorded.
//! - [`snapshots`]: tests that show how a change of a declaration changes what is derived and generated.

#[doc = include_str!("../guide/methods.md")]
pub mod methods {}

#[doc = include_str!("../guide/recipes.md")]
pub mod recipes {}

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

#[doc = include_str!("../guide/snapshots.md")]
pub mod snapshots {}
