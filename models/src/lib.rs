//! Mechanical systems integrated by fbint, one file each: the declaration, default parameters, a start, and what must stay
//! true. [`catalogue`] has them by name.

pub mod catalogue;
mod four_bar;
mod planar_pendulum;
mod spherical_pendulum;
pub mod splitting;

pub use four_bar::{FourBar, FourBarState};
pub use planar_pendulum::{PlanarPendulum, PlanarPendulumState};
pub use spherical_pendulum::{
    SphericalPendulum, SphericalPendulumCpv22, SphericalPendulumCpv22State, SphericalPendulumState,
};
