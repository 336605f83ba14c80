//! The gains K of the feedback x' = X - DF^T K (F - F_target), CPV22 eq. (6) with L = 1.
//!
//! K, M x M, weighs the integrals against one another. It must be positive definite, or the feedback potential
//! V = 1/2 dF^T K dF does not decrease; constructors take anything, and [`Feedback::new`](crate::Feedback::new) checks. The kind
//! of gains is a type, so that each compiles to its own code.
//!
//! An integral that stands for w identical entries of a declared matrix has weight w: K becomes W^1/2 K W^1/2, which keeps
//! V the Frobenius norm of the declaration. That product is formed once and costs nothing in a step.
//!
//! With another L than 1, a symmetric positive definite N x N matrix, the field is X - L grad V. It is a [`Field`](crate::Field) of
//! a few lines:
//!
//! ```
//! use fbint_runtime::{Feedback, FeedbackSystem, Field, Gains, PlainField, PreparedSystem, Uniform, feedback_system};
//!
//! /// A point mass on a spring.
//! #[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2) / 2)]
//! pub struct Oscillator { pub k: f64 }
//!
//! /// X - L grad V with L = diag(`metric`).
//! struct Preconditioned { feedback: Feedback<Oscillator, Uniform>, plain: PlainField<Oscillator>, metric: [f64; 2] }
//!
//! impl Field for Preconditioned {
//!     type Vector = [f64; 2];
//!
//!     fn value(&self, x: &[f64; 2]) -> [f64; 2] {
//!         let (field, plain) = (self.feedback.value(x), self.plain.value(x));
//!         std::array::from_fn(|i| plain[i] - self.metric[i] * (plain[i] - field[i]))
//!     }
//! }
//!
//! let (oscillator, start) = (Oscillator { k: 1.0 }, [1.0, 0.0]);
//! let feedback = Feedback::new(&oscillator, &start, Gains::uniform(1.0))?;
//! let field = Preconditioned { feedback, plain: PlainField::new(&oscillator), metric: [2.0, 1.0] };
//! assert_eq!(field.value(&start), [0.0, -1.0]);
//! assert!(field.value(&[1.1, 0.0])[0] < 0.0);
//! # Ok::<(), fbint_runtime::Error>(())
//! ```

use crate::field::policy::{BaeChang, Diagonal, Relaxation, Uniform};
use crate::system::{FeedbackSystem, Integrals};

/// The gains of a feedback: how K follows from the state.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gains<K>(pub(crate) K);

impl Gains<Uniform> {
    /// K = k I: one gain for all integrals.
    pub const fn uniform(k: f64) -> Self {
        Self(Uniform(k))
    }
}

impl<S: FeedbackSystem> Gains<Diagonal<S>> {
    /// K = diag(k): a gain for each integral, in the order of [`SystemFacts::integrals`](crate::SystemFacts::integrals).
    pub const fn diagonal(k: Integrals<S>) -> Self {
        Self(Diagonal(k))
    }
}

impl Gains<Relaxation> {
    /// K = (DF DF^T + e D)^-1 / tau: every violation decays as exp(-t / tau), whatever the integrals and their units, and nothing
    /// in the field is faster than that. `tau` is a time; a few steps of the method are as fast as pays. Constraints of a field that is
    /// given are refused where they are too nearly dependent for that.
    pub const fn relaxation(tau: f64) -> Self {
        Self(Relaxation { tau })
    }
}

impl Gains<BaeChang> {
    /// K = I / (h lambda) with lambda the largest eigenvalue of DF DF^T, for the explicit Euler method with step `h`: the rule of
    /// Bae and Chang (2025), by which the feedback is as strong as that step allows wherever the state is.
    pub const fn bae_chang(h: f64) -> Self {
        Self(BaeChang { h })
    }
}
