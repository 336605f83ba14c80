//! What only types of this crate's choice implement.

#[cfg(feature = "ensemble")]
use std::vec::Vec;

use crate::gains::Gains;
use crate::policy::{BaeChang, Diagonal, DiagonalScaled, Relaxation, Uniform};
use crate::system::FeedbackSystem;

/// A bound of a public trait that no other crate can implement, because none can name this one.
pub trait Sealed {}

// Vectors.
impl<T, const N: usize> Sealed for [T; N] {}

// Policies.
impl Sealed for Uniform {}
impl<S: FeedbackSystem> Sealed for Diagonal<S> {}
impl Sealed for Relaxation {}
impl Sealed for DiagonalScaled {}
impl Sealed for BaeChang {}

// What feedback an ensemble has.
impl Sealed for () {}
impl<K> Sealed for Gains<K> {}
#[cfg(feature = "ensemble")]
impl<K> Sealed for Vec<Gains<K>> {}
