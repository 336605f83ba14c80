//! Events: where they are found, what resets do, and what is refused.

#![allow(unreachable_pub)]

mod inside;
mod location;
mod refusals;
mod resets;
mod resumption;
mod systems;
