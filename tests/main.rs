//! All tests that need no process of their own, a module for each kind in TESTING.md: one program, so that what they share is compiled
//! and linked once.

mod derivatives;
mod determinism;
mod driven;
mod events;
mod faults;
mod identities;
mod integration;
mod metamorphic;
mod prepared;
mod programs;
mod records;
mod rivals;
mod robots;
mod scalars;
mod velocities;
mod wording;
