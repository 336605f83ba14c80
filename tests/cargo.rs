//! Tests that run cargo, and what it has built.

mod packages;
mod proc_macro_server;
mod profiles;
mod public_items;
mod supply_chain;
