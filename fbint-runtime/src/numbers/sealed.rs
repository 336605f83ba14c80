//! Traits that only this crate's types implement.

/// A bound of a public trait that no other crate can implement, because none can name this one.
pub trait Sealed {}
