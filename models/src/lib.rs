//! Mechanical systems integrated by fbint, one file each: the declaration, default parameters, a start, and what must stay
//! true. [`catalogue`] has them by name.

pub mod catalogue;
mod handwritten;

pub use handwritten::{
    FourBar, FourBarState, PlanarPendulum, PlanarPendulumState, SphericalPendulum, SphericalPendulumCpv22,
    SphericalPendulumCpv22State, SphericalPendulumState,
};
