//! Feedback integrators for mechanical systems: the runtime that drives what `#[feedback_system]` generates.
//!
//! A declared system becomes a [`FeedbackSystem`]: straight-line code for the vector field X, the integrals F (constraints, energy,
//! invariants) and the field with feedback, x' = X(x) - DF^T K (F - F_target), whose solutions are drawn back to the level set that they
//! started on (CPV22 eq. 6). This crate supplies the rest: [`Gains`] are K, [`Feedback`] is the field with feedback, ready to be
//! integrated, [`Simulation`] integrates it and reports the [`Drift`] of every integral, and [`ConsistentStart`] moves a guess onto the
//! constraints. [`Projector`] makes steps that are projected onto the level set, which is what a simulation does by default, and
//! [`Projection`] says how. An [`Event`] is found within a step, and may end or reset a run. [`tableau`] makes steps of a fixed size, and
//! [`Integrator`] steps with error control; both work on any [`Field`].
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
//! | `derive` | computer algebra shortens some fields and proves claims that numbers leave open. Building with it runs Symbolica, which is free for non-commercial use only, for every crate in the build: Cargo unifies features |
//! | `libm` | elementary functions without `std` |
//! | `ensemble` | `Ensemble`: many members at once, in the lanes of vectors and on all cores |
//! | `lanes` | `Lanes`: several numbers side by side, without `std` |
//! | `serde` | a [`Snapshot`], a [`Method`] and [`Settings`] can be written to files and read; states, inputs, a [`Run`], its samples and the [`SystemFacts`] can be written |
//! | `differential-equations` | every [`Feedback`] and [`PlainField`] is an `ODE` of the crate of that name, with implicit and other methods |
#![cfg_attr(not(feature = "std"), no_std)]
#![cfg_attr(docsrs, feature(doc_cfg))]

#[cfg(not(any(feature = "std", feature = "libm")))]
compile_error!(
    "without the feature `std`, elementary functions come from the feature `libm`\nhelp: add `features = [\"libm\"]`"
);

mod change;
#[cfg(feature = "ensemble")]
mod ensemble;
mod error;
mod field;
#[cfg(all(any(doc, doctest), feature = "std"))]
pub mod guide;
mod hold;
mod method;
mod numbers;
#[cfg(feature = "std")]
mod simulation;
mod stages;
mod system;

#[cfg(feature = "std")]
pub use change::linearisation::Linearisation;
#[cfg(feature = "std")]
pub use change::sensitivity::SeriesRun;
pub use change::sensitivity::{Sensitivity, TangentRun};
#[cfg(feature = "ensemble")]
#[doc(hidden)]
pub use ensemble::flat::{RunMember, ShowMember, run_flat_ensemble};
#[cfg(feature = "ensemble")]
pub use ensemble::{Ensemble, EnsembleGains, EnsembleRun, Statistics, Summary};
#[cfg(feature = "ensemble")]
#[doc(hidden)]
pub use ensemble::{FlatEnsembleRun, MediumLanes, NarrowLanes};
pub use error::Error;
pub use error::dependence::Dependence;
pub use error::extremes::Extremes;
pub use error::failure::UndefinedInput;
pub use error::failure::{StepError, StepFailure};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use error::memory::Storage;
pub use error::names::GivenName;
#[cfg(feature = "std")]
pub use error::{Cause, Failure};
pub use fbint_macros::feedback_system;
#[doc(hidden)]
pub use field::driver::holds_at;
pub use field::driver::{Driven, Signal};
#[cfg(feature = "std")]
pub use field::driver::{Held, Linear};
pub use field::feedback::Feedback;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use field::flat::{FlatGains, FlatSignal};
pub use field::gains::Gains;
pub use field::policy::{BaeChang, Diagonal, GainPolicy, Relaxation, Uniform};
#[doc(hidden)]
pub use field::sides::Side;
pub use field::{Driver, TakesInput};
pub use field::{Field, PlainField};
pub use hold::consistent_start::ConsistentStart;
#[cfg(feature = "std")]
pub use hold::consistent_start::StartMove;
pub use hold::projection::{LeftOutReason, Omission, Projected, Projection, Projector};
pub use method::geometric::{Composition, OneStep, Rattle, StormerVerlet};
pub use method::hamel::DiscreteHamel;
pub use method::integrator::Integrator;
#[cfg(feature = "std")]
pub use method::settings::{GaussStages, Method, Settings};
pub use nalgebra;
#[doc(hidden)]
pub use numbers::dual::Dual;
pub use numbers::entries::{Entries, Entry};
#[doc(hidden)]
pub use numbers::four::FourLanes;
#[cfg(feature = "lanes")]
pub use numbers::lanes::Lanes;
pub use numbers::scalar::Scalar;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use serde;
#[cfg(feature = "std")]
pub use simulation::drift::{Drift, IntegralDrift, LeftOut};
#[cfg(feature = "std")]
pub use simulation::event::Event;
#[cfg(feature = "std")]
#[doc(hidden)]
pub use simulation::{
    Continuation, Course, FlatOccurrence, FlatRun, FlatSamples, FlatSimulation, SampleRow, Watch, consistent_flat_start,
};
#[cfg(feature = "std")]
pub use simulation::{IntegralJump, LargestProjection, Moment, Occurrence, Run, Sample, Simulation, Snapshot};
pub use stages::dense_output::DenseOutput;
pub use stages::tableau;
pub use stages::tolerance::Tolerance;
pub use system::HamelSystem;
pub use system::SystemFacts;
#[doc(hidden)]
pub use system::derivatives::jacobian;
pub use system::derivatives::{DifferentiableSystem, Direction, Gradient, PreparedDirection, ProjectionGradient};
#[doc(hidden)]
pub use system::dynamical_system::{DynamicalSystem, Scratch};
#[cfg(feature = "std")]
#[doc(hidden)]
pub use system::dynamical_system::{FlatSystem, with_allocated};
pub use system::lagrangian::LagrangianSystem;
#[cfg(feature = "serde")]
#[doc(hidden)]
pub use system::record::serialize_record;
pub use system::short_form::ShortForm;
#[doc(hidden)]
pub use system::taylor::{PastOrders, SeriesShape};
pub use system::taylor::{TaylorSystem, TaylorTangents};
pub use system::{
    Conservation, ControlledSystem, CrossingDirection, Declared, DeclaredEvent, DeclaredShape, DrivenSystem, Evidence,
    FeedbackLaw, FeedbackSystem, GeneratedSystem, Integral, IntegralKind, Integrals, KineticEnergy, Operations,
    PreparedSystem, ShapeKind, StateEntry, StateRole, SwitchingSystem, Vector,
};
#[doc(hidden)]
pub use system::{HamelFunctions, LagrangianFunctions, NOT_GENERATED, TaylorFunctions};

/// The traits whose methods everyday code calls: `use fbint_runtime::prelude::*;`.
pub mod prelude {
    pub use crate::{DifferentiableSystem, DrivenSystem, FeedbackSystem, Field, GeneratedSystem, PreparedSystem};
}

/// Every Rust block of the README, compiled and run as a separate crate.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../../README.md")]
struct Readme;

/// The blocks of this package's own README.
#[cfg(all(doctest, feature = "std"))]
#[doc = include_str!("../README.md")]
struct OwnReadme;

/// The blocks of the book's pages.
#[cfg(all(doctest, feature = "std"))]
mod book {
    #[doc = include_str!("../../book/src/tutorial/text.md")]
    struct Text;

    #[doc = include_str!("../../book/src/tutorial/crate.md")]
    struct Crate;

    #[doc = include_str!("../../book/src/how-to/control.md")]
    struct Control;

    #[doc = include_str!("../../book/src/how-to/celestial.md")]
    struct Celestial;

    #[doc = include_str!("../../book/src/how-to/teaching.md")]
    struct Teaching;

    #[doc = include_str!("../../book/src/how-to/embedded.md")]
    struct Embedded;
}
