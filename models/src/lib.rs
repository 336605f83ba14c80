//! Mechanical systems integrated by fbint, one file each: the declaration, default parameters, a start, and what must stay
//! true. The package `fbint` has them by name, with a command for all of them.

mod cart_pendulum;
mod cart_pole;
mod chain;
mod chaplygin_sleigh;
#[cfg(feature = "command")]
mod command;
#[cfg(feature = "command")]
mod declarations;
mod degenerate_pendulum;
mod driven_four_bar;
mod driven_pendulum;
mod euler_top;
mod four_bar;
mod four_bar_in_angles;
mod free_rigid_body;
mod hamel_pendulum;
mod kapitza_pendulum;
mod kepler;
mod nonholonomic;
mod perturbed_kepler;
mod planar_pendulum;
mod rotating_hoop;
mod spherical_pendulum;
pub mod splitting;

pub use cart_pendulum::{CartPendulum, CartPendulumState};
pub use cart_pole::{CartPole, CartPoleInput, CartPoleState};
pub use chain::{Chain4, Chain4State, Chain8, Chain8State, Chain16, Chain16State, Chain32, Chain32State};
pub use chaplygin_sleigh::{
    BalancedSleigh, BalancedSleighState, ChaplyginSleigh, ChaplyginSleighState, HeldSleigh, HeldSleighState,
};
#[cfg(feature = "command")]
pub use command::{LIE_TROTTER, STRANG, TURNS};
pub use degenerate_pendulum::{DegeneratePendulum, DegeneratePendulumState};
pub use driven_four_bar::{DrivenFourBar, DrivenFourBarState};
pub use driven_pendulum::{DrivenPendulum, DrivenPendulumState};
pub use euler_top::{EulerTop, EulerTopState};
pub use four_bar::{FourBar, FourBarState};
pub use four_bar_in_angles::{FourBarInAngles, FourBarInAnglesState};
pub use free_rigid_body::{FreeRigidBody, FreeRigidBodyState};
pub use hamel_pendulum::{HamelPendulum, HamelPendulumState};
pub use kapitza_pendulum::{KapitzaPendulum, KapitzaPendulumState};
pub use kepler::{Kepler, KeplerState};
pub use nonholonomic::{
    HeisenbergSystem, HeisenbergSystemState, KnifeEdge, KnifeEdgeState, NonholonomicOscillator,
    NonholonomicOscillatorState, RollerRacer, RollerRacerState, RollingDisk, RollingDiskState, SuslovProblem,
    SuslovProblemState,
};
pub use perturbed_kepler::{PerturbedKepler, PerturbedKeplerState};
pub use planar_pendulum::{PlanarPendulum, PlanarPendulumState};
pub use rotating_hoop::{RotatingHoop, RotatingHoopState};
pub use spherical_pendulum::{
    SphericalPendulum, SphericalPendulumCpv22, SphericalPendulumCpv22State, SphericalPendulumState,
};
