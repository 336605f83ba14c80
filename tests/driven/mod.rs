//! Driven systems: forces, explicit time and inputs, in systems of every kind and with constraints of every kind.

#![allow(unreachable_pub)]

mod balance;
mod inputs;
mod motion;
mod systems;
