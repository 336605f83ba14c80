//! The models for the command: starts, and the integrators that are made for them.
//!
//! The command for all of them is the package `fbint`.

use fbint_command::Model;
use fbint_command::catalogue::{Declaration, GeometricMethod};
use fbint_command::scheme::Scheme;
use fbint_runtime::Error;

use crate::declarations;
use crate::splitting::{self, RigidBody, Sphere};
use crate::{
    BalancedSleigh, BalancedSleighState, CartPendulum, CartPendulumState, CartPole, CartPoleState, Chain4, Chain4State,
    Chain8, Chain8State, Chain16, Chain16State, Chain32, Chain32State, ChaplyginSleigh, ChaplyginSleighState,
    DegeneratePendulum, DegeneratePendulumState, DrivenFourBar, DrivenFourBarState, DrivenPendulum,
    DrivenPendulumState, EulerTop, EulerTopState, FourBar, FourBarInAngles, FourBarInAnglesState, FourBarState,
    FreeRigidBody, FreeRigidBodyState, HamelPendulum, HamelPendulumState, HeisenbergSystem, HeisenbergSystemState,
    HeldSleigh, HeldSleighState, KapitzaPendulum, KapitzaPendulumState, Kepler, KeplerState, KnifeEdge, KnifeEdgeState,
    NonholonomicOscillator, NonholonomicOscillatorState, PerturbedKepler, PerturbedKeplerState, PlanarPendulum,
    PlanarPendulumState, RollerRacer, RollerRacerState, RollingDisk, RollingDiskState, RotatingHoop, RotatingHoopState,
    SphericalPendulum, SphericalPendulumCpv22, SphericalPendulumCpv22State, SphericalPendulumState, SuslovProblem,
    SuslovProblemState,
};

/// The splitting on a sphere of order 1.
pub const LIE_TROTTER: Scheme = Scheme::own("Lie-Trotter", "#56B4E9");
/// The splitting on a sphere of order 2.
pub const STRANG: Scheme = Scheme::own("Strang", "#000000");
/// The splitting of the free rigid body into turns about its axes.
pub const TURNS: Scheme = Scheme::own("splitting", "#000000");

impl Model for SphericalPendulum {
    fn start(&self) -> Result<SphericalPendulumState, Error> {
        Ok(Self::start(self))
    }

    fn declaration() -> Option<Declaration> {
        declarations::of::<Self>()
    }

    fn geometric_methods(&self) -> Vec<GeometricMethod<Self>> {
        on_sphere(Sphere { m: self.m, g: self.g })
    }
}

impl Model for SphericalPendulumCpv22 {
    fn start(&self) -> Result<SphericalPendulumCpv22State, Error> {
        Ok(Self::start(self))
    }

    fn declaration() -> Option<Declaration> {
        declarations::of::<Self>()
    }

    fn name() -> String {
        "spherical-pendulum-cpv22".to_owned()
    }

    fn geometric_methods(&self) -> Vec<GeometricMethod<Self>> {
        on_sphere(Sphere { m: self.m, g: self.g })
    }
}

impl Model for FourBar {
    fn start(&self) -> Result<FourBarState, Error> {
        Self::start(self)
    }

    fn declaration() -> Option<Declaration> {
        declarations::of::<Self>()
    }
}

impl Model for FourBarInAngles {
    fn start(&self) -> Result<FourBarInAnglesState, Error> {
        Self::start(self)
    }

    fn declaration() -> Option<Declaration> {
        declarations::of::<Self>()
    }
}

impl Model for FreeRigidBody {
    fn start(&self) -> Result<FreeRigidBodyState, Error> {
        Ok(Self::start(self))
    }

    fn declaration() -> Option<Declaration> {
        declarations::of::<Self>()
    }

    fn geometric_methods(&self) -> Vec<GeometricMethod<Self>> {
        vec![(TURNS, Box::new(RigidBody { inertia: self.inertia }))]
    }
}

impl Model for DrivenFourBar {
    fn start(&self) -> Result<DrivenFourBarState, Error> {
        Self::start(self)
    }

    fn declaration() -> Option<Declaration> {
        declarations::of::<Self>()
    }
}

/// Models that need only a start.
macro_rules! starts {
    ($($model:ty => $state:ty;)*) => {
        $(impl Model for $model {
            fn start(&self) -> Result<$state, Error> {
                Ok(Self::start(self))
            }

            fn declaration() -> Option<Declaration> {
                declarations::of::<Self>()
            }
        })*
    };
}

starts! {
    PlanarPendulum => PlanarPendulumState;
    Chain4 => Chain4State;
    Chain8 => Chain8State;
    Chain16 => Chain16State;
    Chain32 => Chain32State;
    EulerTop => EulerTopState;
    Kepler => KeplerState;
    PerturbedKepler => PerturbedKeplerState;
    CartPendulum => CartPendulumState;
    HamelPendulum => HamelPendulumState;
    DegeneratePendulum => DegeneratePendulumState;
    ChaplyginSleigh => ChaplyginSleighState;
    BalancedSleigh => BalancedSleighState;
    HeldSleigh => HeldSleighState;
    KnifeEdge => KnifeEdgeState;
    RollingDisk => RollingDiskState;
    RollerRacer => RollerRacerState;
    SuslovProblem => SuslovProblemState;
    HeisenbergSystem => HeisenbergSystemState;
    NonholonomicOscillator => NonholonomicOscillatorState;
    DrivenPendulum => DrivenPendulumState;
    CartPole => CartPoleState;
    KapitzaPendulum => KapitzaPendulumState;
    RotatingHoop => RotatingHoopState;
}

/// For either spherical pendulum.
fn on_sphere(sphere: Sphere) -> Vec<GeometricMethod<SphericalPendulum>> {
    vec![(LIE_TROTTER, Box::new(splitting::LieTrotter(sphere))), (STRANG, Box::new(splitting::Strang(sphere)))]
}
