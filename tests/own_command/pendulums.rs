//! What the README of `fbint-command` has as `src/main.rs`.

include!(concat!(env!("OUT_DIR"), "/main.rs"));
