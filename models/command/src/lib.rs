//! The models by name, as the command `fbint` runs them.
//!
//! What is generic in the runtime and in the command is compiled here for every model, which takes most of the time that it takes to
//! build `fbint`. A new model takes one line in [`all`], and its start in `models`.

use std::error::Error;

use fbint_command::catalogue::{self, AnyModel, Entry};
use models::{
    BalancedSleigh, CartPendulum, Chain4, Chain8, Chain16, Chain32, ChaplyginSleigh, DegeneratePendulum, EulerTop,
    FourBar, FreeRigidBody, HamelPendulum, HeisenbergSystem, HeldSleigh, Kepler, KnifeEdge, NonholonomicOscillator,
    PerturbedKepler, PlanarPendulum, RollerRacer, RollingDisk, SphericalPendulum, SphericalPendulumCpv22,
    SuslovProblem,
};

/// Every model, in the order in which they are listed.
///
/// A function and not a constant, so that what it takes is compiled here and not in every program that names it.
pub fn all() -> [Entry; 24] {
    fbint_command::models![
        SphericalPendulum,
        SphericalPendulumCpv22,
        PlanarPendulum,
        FourBar,
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
    ]
}

/// The model of that name, with its default parameters.
///
/// # Errors
///
/// If there is no such model: one line with the nearest name and the list of all names.
pub fn load(name: &str) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
    catalogue::load(&all(), name)
}
