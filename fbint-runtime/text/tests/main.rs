//! All tests of models from text: one program, so that it is linked once.

mod emitted;
mod functions;
mod hostile;
mod mistakes;
mod random;
mod shipped;

/// An amount that tests can do with, or the one that they were made for where `FBINT_THOROUGH` is set, as `.ci/thorough` sets it.
fn amount<T>(usual: T, thorough: T) -> T {
    if std::env::var_os("FBINT_THOROUGH").is_some() { thorough } else { usual }
}
