//! Derivatives that the key `derivatives` generates.
//!
//! An interpreter runs the programs of every shipped or test system and compares tangents, adjoints and Jacobians with dual numbers,
//! along states, parameters, inputs, S and F_target. Emitted code equals its programs bit by bit, for a system with each kind of field.
//! Derivatives of runs, with and without projections, agree with differences of runs, and forward ones with backward ones.

#![allow(unreachable_pub)]

mod agreement;
mod cost;
mod emitted;
mod sensitivities;
mod systems;

use fbint_tests::compiler::Declaration;

/// The shipped models, where chains of four links stand for those of more, which take minutes in 256 bits.
fn shipped() -> impl Iterator<Item = Declaration> {
    let is_short = |declaration: &Declaration| !["Chain8", "Chain16", "Chain32"].contains(&&declaration.name[..]);
    Declaration::shipped().into_iter().filter(is_short)
}
