//! Numbers, vectors of a fixed length, several numbers side by side, and small linear algebra.

#[cfg(feature = "std")]
pub(crate) mod blocks;
pub(crate) mod dual;
pub(crate) mod entries;
pub(crate) mod four;
#[cfg(feature = "lanes")]
pub(crate) mod lanes;
pub(crate) mod larger;
pub(crate) mod linear;
pub(crate) mod scalar;
pub(crate) mod sealed;
