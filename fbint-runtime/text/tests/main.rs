//! All tests of models from text: one program, so that it is linked once.

mod at_rest;
mod declared;
mod emitted;
mod functions;
mod fuzz;
mod held;
mod hostile;
mod long;
mod massless;
mod memory;
mod mistakes;
mod moving;
mod random;
mod rates;
mod redundant;
mod shipped;
mod switches;
mod taylor;

/// Whether `FBINT_THOROUGH` is set, as `.ci/thorough` sets it.
fn is_thorough() -> bool {
    std::env::var_os("FBINT_THOROUGH").is_some()
}

/// An amount that tests can do with, or the one that they were made for.
fn amount<T>(usual: T, thorough: T) -> T {
    if is_thorough() { thorough } else { usual }
}
