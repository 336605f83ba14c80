//! Events: where they are found, what resets do, and what is refused.
//!
//! Closed forms give the places: phases of an oscillator, bounces of a ball, quarters of a pendulum's period by the arithmetic-geometric
//! mean. Events without an effect and resumed runs leave every bit as it was.

#![allow(unreachable_pub)]

mod declared;
mod inside;
mod location;
mod refusals;
mod resets;
mod resumption;
mod sampled;
mod switches;
mod systems;
mod threads;
