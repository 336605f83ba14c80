//! Exports of the shipped models, compiled by this machine's C compiler, beside Rust.

mod advance;
mod arm;
mod c;
mod fmu;
#[allow(dead_code, unused_imports, unused_macros, reason = "other tests have uses for all of it")]
#[path = "../../text/tests/shipped.rs"]
mod shipped;
mod source;

/// Whether `FBINT_THOROUGH` is set, as `.ci/thorough` sets it.
fn is_thorough() -> bool {
    std::env::var_os("FBINT_THOROUGH").is_some()
}
