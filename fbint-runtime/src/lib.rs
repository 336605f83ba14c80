//! Feedback integrators for mechanical systems: the runtime that drives what `#[feedback_system]` generates.
//!
//! A declared system becomes a [`FeedbackSystem`]: straight-line code for the vector field X, the integrals F (constraints,
//! energy, invariants) and the field with feedback, x' = X(x) - L DF^T K (F - F_target), whose solutions are drawn back to
//! the level set that they started on (CPV22 eq. 6). This crate supplies the rest: [`Gains`] are K and L, [`Feedback`] is
//! the field with feedback, ready to be integrated, [`Simulation`] integrates it and reports the [`Drift`] of every
//! integral, and [`ConsistentStart`] moves a guess onto the constraints. [`Correction`] is the rival to feedback, a projection
//! after each step. Steps are those of [`tableau`], of a fixed size, or of [`Integrator`], with error control; both work on
//! any [`Field`].
//!
//! ```
//! # #[cfg(feature = "std")] {
//! use fbint_runtime::{Feedback, Gains, Method, Simulation, feedback_system};
//! use nalgebra::vector;
//!
//! /// A point mass on a circle of radius `l` under gravity.
//! #[feedback_system(
//!     coordinates(q: [2]),
//!     momenta(p: [2]),
//!     hamiltonian = p.norm_squared() / (2 * m) + m * g * q.y,
//!     constraint(length = q.norm_squared() - l.powi(2)),
//! )]
//! pub struct Pendulum { pub m: f64, pub g: f64, pub l: f64 }
//!
//! let pendulum = Pendulum { m: 1.0, g: 9.81, l: 1.0 };
//! let start = PendulumState { q: vector![1.0, 0.0], p: vector![0.0, 0.0] };
//!
//! let run = Simulation::new(&pendulum, start)?
//!     .gains(Gains::uniform(5.0))
//!     .method(Method::Rk4 { h: 1e-3 })
//!     .until(10.0)
//!     .run()?;
//! println!("{}", run.drift());
//!
//! // The innermost loop, where nothing is allocated and nothing panics.
//! let mut x = start.into();
//! let feedback = Feedback::new(&pendulum, &x, Gains::uniform(5.0))?;
//! for _ in 0..1000 {
//!     feedback.euler_step(&mut x, 1e-3);
//! }
//! # }
//! # Ok::<(), fbint_runtime::Error>(())
//! ```
//!
//! With the feature `differential-equations` every [`Feedback`] and [`PlainField`] is an `ODE` of the crate of that name, which
//! brings implicit and other methods. Without the feature `std`, which [`Simulation`] needs, the crate is `no_std` and asks for no allocator; the feature
//! `libm` then supplies the elementary functions.
#![cfg_attr(not(feature = "std"), no_std)]

mod consistent_start;
mod correction;
#[cfg(feature = "differential-equations")]
mod differential_equations;
mod drift;
mod error;
mod feedback;
mod field;
mod gains;
mod geometric;
mod integrator;
mod scalar;
#[cfg(feature = "std")]
mod simulation;
mod system;
pub mod tableau;

pub use consistent_start::ConsistentStart;
pub use correction::Correction;
pub use drift::{Drift, IntegralDrift};
pub use error::Error;
#[cfg(feature = "std")]
pub use error::{BlowUp, Halted};
pub use fbint_macros::feedback_system;
pub use feedback::Feedback;
pub use field::{Field, PlainField};
pub use gains::{Diagonal, Full, GainMatrix, Gains, Identity, Uniform};
pub use geometric::{Composition, OneStep, Rattle, StormerVerlet};
pub use integrator::{DenseOutput, Integrator, StepError, StepFailure, Tolerance};
pub use nalgebra;
pub use scalar::Scalar;
#[cfg(feature = "std")]
pub use simulation::{Method, Run, Sample, Simulation};
pub use system::{FeedbackLaw, FeedbackSystem, IntegralKind, KineticEnergy, Operations, Pass, PreparedSystem};
