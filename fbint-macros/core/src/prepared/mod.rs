//! The results of algebra, kept as text next to a crate's sources, so that users of the crate need no algebra.
//!
//! A crate's folder `derivations/` has a file for each of its models, named after the model and the [key](key()) of its mathematics. A
//! file has these lines:
//!
//! ```text
//! fbint derivation 3                     the format
//! key 0123456789abcdef0123456789abcdef   what it was derived from
//! model PlanarPendulum                   for whom
//! source src/planar_pendulum.rs          and where that is declared
//! # Energy of PlanarPendulum             equations and findings, for people: not read
//! t0 = (+ (* x0 x2) (* x1 x3))           a part that occurs more than once
//! integral 0 = ..                        F, DF by the entries of the state; what the sections of the derivation hold
//! gradient 0 by 1 = ..
//! system 0 of 1                          X: linear systems K z = b, each with its unknowns z, and rates
//! k 0 0 = ..
//! rate 0 = ..
//! claim 4 = everywhere                   what algebra says of conservation, where numbers alone do not prove it
//! pairs 3                                which integrals commute
//! end 0123456789abcdef0123456789abcdef   a checksum of all lines before
//! ```
//!
//! The names of symbols and integrals are not in it: they come from the declaration, and may change. Nothing in a file is trusted:
//! [`check`](crate::check) compares everything with derivatives of the declared expressions, and claims are proved again or
//! tested.
//!
//! After `algebra::prepare` or a file has given a [`Prepared`](crate::derivation::Prepared), everything else is the same and needs no
//! algebra: ranks, doubts, programs, their verification, code and notation. So a file has nothing that can be computed without algebra, and
//! the cargo feature `derive` matters in `lib.rs`, `proofs` and `compile` alone.
//!
//! The hash in a file's name keeps two crates, or two models of one name, from writing different contents to one file. A macro sees one
//! model at a time: a file belongs to no model if the source that it names does not contain the name of its model any more.

mod file;
mod folder;
mod key;
mod notation;
mod problem;
mod trust;

pub use self::file::{FORMAT, read, write};
pub(crate) use self::folder::VARIABLE;
pub use self::folder::{BuildEnvironment, FileError, Folder, Order};
pub use self::key::{checksum, key};
pub use self::trust::verify_kept;
