//! Tests that run cargo, and what it has built.

mod proc_macro_server;
mod profiles;
mod supply_chain;
