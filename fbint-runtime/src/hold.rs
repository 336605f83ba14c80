//! The constraint set and the level set of the integrals: starts on them, projections onto them, constraints that are nearly dependent.

pub(crate) mod consistent_start;
pub(crate) mod dependence_search;
pub(crate) mod projection;
pub(crate) mod rounding;
