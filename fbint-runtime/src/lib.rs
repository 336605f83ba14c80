//! Feedback integrators for mechanical systems: the runtime that drives what `#[feedback_system]` generates.
//!
//! A declared system becomes a [`FeedbackSystem`]: straight-line code for the vector field X, the integrals F (constraints,
//! energy, invariants) and the field with feedback, x' = X(x) - DF^T K (F - F_target), whose solutions are drawn back to
//! the level set that they started on (CPV22 eq. 6). This crate supplies the rest: [`Gains`] are K, [`Feedback`] is
//! the field with feedback, ready to be integrated, [`Simulation`] integrates it and reports the [`Drift`] of every
//! integral, and [`ConsistentStart`] moves a guess onto the constraints. [`Projector`] makes steps that are projected onto the level
//! set, which is what a simulation does by default, and [`Projection`] says how. An [`Event`] is found within a step, and may end or reset
//! a run. Steps are those of [`tableau`], of a fixed size, or of
//! [`Integrator`], with error control; both work on any [`Field`].
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
//!     .run(Method::Rk4 { h: 1e-3 }, 10.0)?;
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
//! # Single precision
//!
//! The steps of [`Feedback`] are generic over the scalar, so that a state of `f32` is integrated in single precision. Rounding
//! then moves every integral a little at every step, which adds up; feedback draws it back, so that with it the drift has a
//! floor and does not grow with time. The largest change of any integral of CPV22's spherical pendulum and of the four-bar, by
//! RK4 with h = 1e-3, in units of the machine epsilon 1.2e-7:
//!
//! | | to t = 20 | to t = 80 |
//! |---|---|---|
//! | pendulum, no feedback | 123 | 143 |
//! | pendulum, k = 1 | 17 | 17 |
//! | pendulum, k = 50 | 4 | 4 |
//! | four-bar, no feedback | 292 | 1021 |
//! | four-bar, k = 1 | 35 | 47 |
//!
//! A shorter step makes more rounding to draw back in the same time: with h = 1e-2 the pendulum's floor with k = 1 is 6.
//! Euler's own drift with h = 1e-4 and k = 1 is 1700 epsilon, far above the floor: there single precision changes nothing. The
//! bounds are held by the test `single_precision`.
//!
//! # Features
//!
//! | feature | |
//! |---|---|
//! | `std` (default) | [`Simulation`], and messages with what they carry; without it the crate is `no_std` and needs no allocator |
//! | `derive` (default) | computer algebra shortens what is derived and proves more; without it models compile all the same, faster, and their fields are hardly longer |
//! | `libm` | elementary functions without `std` |
//! | `ensemble` | `Ensemble`: many members at once, in the lanes of vectors and on all cores |
//! | `lanes` | `Lanes`: several numbers side by side, without `std` |
//! | `serde` | a [`Snapshot`], a [`Method`] and [`Settings`] can be written to files |
//! | `differential-equations` | every [`Feedback`] and [`PlainField`] is an `ODE` of the crate of that name, with implicit and other methods |
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(feature = "std", feature = "libm")))]
compile_error!(
    "without the feature `std`, elementary functions are those of the feature `libm`: add `features = [\"libm\"]`"
);

mod consistent_start;
mod dense_output;
mod dependence;
mod derivatives;
#[cfg(feature = "differential-equations")]
mod differential_equations;
#[cfg(feature = "std")]
mod drift;
mod driver;
#[cfg(feature = "std")]
mod dual;
mod dynamical_system;
#[cfg(feature = "ensemble")]
mod ensemble;
mod entries;
mod error;
#[cfg(feature = "std")]
mod event;
mod extremes;
mod facts;
mod failure;
mod feedback;
mod field;
mod gains;
#[cfg(feature = "std")]
mod gauss;
mod geometric;
#[cfg(all(any(doc, doctest), feature = "std"))]
pub mod guide;
mod hamel;
mod integrator;
mod lagrangian;
#[cfg(feature = "lanes")]
mod lanes;
mod linear;
#[cfg(feature = "std")]
mod linearisation;
#[cfg(feature = "std")]
mod method;
mod policy;
mod projection;
#[cfg(feature = "std")]
mod rodas5p;
mod rounding;
mod scalar;
mod sealed;
mod sensitivity;
mod short_form;
#[cfg(feature = "std")]
mod simulation;
mod step_size;
mod system;
pub mod tableau;
mod tolerance;

pub use consistent_start::ConsistentStart;
#[cfg(feature = "std")]
pub use consistent_start::StartMove;
pub use dense_output::DenseOutput;
pub use dependence::Dependence;
#[doc(hidden)]
pub use derivatives::jacobian;
pub use derivatives::{DifferentiableSystem, Direction, Gradient, PreparedDirection, ProjectionGradient};
#[cfg(feature = "std")]
pub use drift::{Drift, IntegralDrift, LeftOut};
#[cfg(feature = "std")]
pub use driver::Held;
pub use driver::{Driven, Driver, Signal, TakesInput, UndefinedInput};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use dual::Dual;
#[doc(hidden)]
pub use dynamical_system::DynamicalSystem;
#[cfg(feature = "ensemble")]
pub use ensemble::{Ensemble, EnsembleGains, EnsembleRun, Statistics, Summary};
#[cfg(feature = "ensemble")]
#[doc(hidden)]
pub use ensemble::{FlatEnsembleRun, MediumLanes, NarrowLanes};
pub use entries::{Entries, Entry};
pub use error::{Error, GivenName};
#[cfg(feature = "std")]
pub use event::Event;
pub use extremes::Extremes;
pub use facts::SystemFacts;
#[cfg(feature = "std")]
pub use failure::{Cause, Failure};
pub use failure::{StepError, StepFailure};
pub use fbint_macros::feedback_system;
pub use feedback::Feedback;
pub use field::{Field, PlainField};
pub use gains::Gains;
pub use geometric::{Composition, OneStep, Rattle, StormerVerlet};
#[doc(hidden)]
pub use hamel::HamelFunctions;
pub use hamel::{DiscreteHamel, HamelSteps, HamelSystem};
pub use integrator::Integrator;
pub use lagrangian::LagrangianSystem;
#[cfg(feature = "lanes")]
pub use lanes::Lanes;
#[cfg(feature = "std")]
pub use linearisation::Linearisation;
#[cfg(feature = "std")]
pub use method::{GaussStages, Method, Settings};
pub use nalgebra;
pub use policy::{BaeChang, Diagonal, DiagonalScaled, GainPolicy, Relaxation, Uniform};
pub use projection::{LeftOutReason, Omission, Projected, Projection, Projector};
pub use scalar::Scalar;
pub use sensitivity::{Sensitivity, TangentRun};
pub use short_form::ShortForm;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use simulation::{FlatRun, FlatSamples, PastOccurrence, SampleRow};
#[cfg(feature = "std")]
pub use simulation::{
    IntegralJump, LargestProjection, Moment, Occurrence, Replaceable, Run, Sample, Simulation, Snapshot,
};
pub use system::{
    Conservation, DrivenSystem, Evidence, FeedbackLaw, FeedbackSystem, GeneratedSystem, Integral, IntegralKind,
    Integrals, KineticEnergy, Operations, PreparedSystem, StateEntry, StateRole, Vector,
};
pub use tolerance::Tolerance;

/// Every Rust block of the README, compiled and run as a crate of its own.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The same of this package's own README.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct OwnReadme;
