//! The drawings of each model for animations.

mod bodies;
mod linkages;
mod pendulums;
mod points;
mod wheels;

pub(crate) use bodies::*;
pub(crate) use linkages::*;
pub(crate) use pendulums::*;
pub(crate) use points::*;
pub(crate) use wheels::*;
