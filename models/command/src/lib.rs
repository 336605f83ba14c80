//! The models by name, as the command `fbint` runs them.
//!
//! The generic parts of the runtime and of the command are compiled here for every model, which takes most of the time of building `fbint`.
//! So this is a separate package: `cargo run --release` builds the comparison of `models`, which calls
//! [`Simulation`](fbint_runtime::Simulation) for its one model. A new model takes one line in [`all`], and its start in `models`.

pub mod comparison;

use std::error::Error;

use fbint_command::catalogue::{self, AnyModel, Entry};
use models::{
    BalancedSleigh, CartPendulum, CartPole, Chain4, Chain8, Chain16, Chain32, ChaplyginSleigh, DegeneratePendulum,
    DrivenFourBar, DrivenPendulum, EulerTop, FourBar, FourBarInAngles, FreeRigidBody, HamelPendulum, HeisenbergSystem,
    HeldSleigh, KapitzaPendulum, Kepler, KnifeEdge, NonholonomicOscillator, PerturbedKepler, PlanarPendulum,
    RollerRacer, RollingDisk, RotatingHoop, SphericalPendulum, SphericalPendulumCpv22, SuslovProblem,
};

/// Every model, in the order in which they are listed.
///
/// A function and not a constant, so that what it takes is compiled here and not in every program that names it.
pub fn all() -> [Entry; 30] {
    fbint_command::models![
        SphericalPendulum,
        SphericalPendulumCpv22,
        PlanarPendulum,
        FourBar,
        FourBarInAngles,
        Chain4,
        Chain8,
        Chain16,
        Chain32,
        FreeRigidBody,
        EulerTop,
        Kepler,
        PerturbedKepler,
        CartPendulum,
        HamelPendulum,
        DegeneratePendulum,
        ChaplyginSleigh,
        BalancedSleigh,
        HeldSleigh,
        KnifeEdge,
        RollingDisk,
        RollerRacer,
        SuslovProblem,
        HeisenbergSystem,
        NonholonomicOscillator,
        DrivenPendulum,
        CartPole,
        DrivenFourBar,
        KapitzaPendulum,
        RotatingHoop,
    ]
}

/// The model of that name, with its default parameters.
///
/// # Errors
///
/// If the model does not exist: one line with the nearest name and the list of all names.
pub fn load(name: &str) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
    catalogue::load(&all(), name)
}
