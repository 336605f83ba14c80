//! Feedback integrators for mechanical systems.
#![cfg_attr(not(feature = "std"), no_std)]

mod scalar;
mod system;

pub use nalgebra;
pub use scalar::Scalar;
pub use system::{FeedbackLaw, FeedbackSystem, IntegralKind, Operations};
