//! Driven systems: forces, explicit time and inputs, in systems of every kind and with constraints of every kind.
//!
//! Integrals are constant along fields in every state, fields equal Newton's equations typed by hand, and one system moves alike in all
//! of its declarations. Inputs reach every stage of every method; tables of inputs, resumption and mistakes are tested too.

#![allow(unreachable_pub)]

mod balance;
mod inputs;
mod motion;
mod systems;
