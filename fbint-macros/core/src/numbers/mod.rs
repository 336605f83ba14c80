//! What expressions are evaluated in: doubles, numbers of 256 bits, with derivatives or without, ranges, residues modulo primes; where they
//! are evaluated; and linear systems in all of them.

pub(crate) mod bounds;
pub(crate) mod derivative;
pub(crate) mod determinant;
mod double;
pub(crate) mod dual;
pub(crate) mod field;
pub(crate) mod linear;
pub(crate) mod number;
pub mod points;
pub(crate) mod precise;
pub(crate) mod random;
pub(crate) mod ring;
pub(crate) mod scaled;
