//! A derivation as programs: expressions are lowered, linear systems unrolled, and functions put together of both.

mod collect;
mod constants;
mod factor;
pub(crate) mod fields;
pub(crate) mod hamel;
pub(crate) mod lagrangian;
mod limits;
mod lower;
mod monomial;
mod multipliers;
mod normalise;
pub(crate) mod projection;
mod rows;
pub(crate) mod switches;
mod systems;
