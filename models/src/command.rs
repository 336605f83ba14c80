//! The models for the command: starts, drawings, and the integrators that are made for them.
//!
//! The command for all of them is the package `fbint`.

use fbint_command::catalogue::{Declaration, GeometricMethod};
use fbint_command::scheme::Scheme;
use fbint_command::{Drawing, Model};
use fbint_runtime::Error;

use crate::declarations;
use crate::drawings;
use crate::splitting::{self, RigidBody, Sphere};
use crate::{
    BalancedSleigh, BalancedSleighState, CartPendulum, CartPendulumState, CartPole, CartPoleState, Chain4, Chain4State,
    Chain8, Chain8State, Chain16, Chain16State, Chain32, Chain32State, ChaplyginSleigh, ChaplyginSleighState,
    DegeneratePendulum, DegeneratePendulumState, DrivenFourBar, DrivenFourBarState, DrivenPendulum,
    DrivenPendulumState, EulerTop, EulerTopState, FourBar, FourBarState, FreeRigidBody, FreeRigidBodyState,
    HamelPendulum, HamelPendulumState, HeisenbergSystem, HeisenbergSystemState, HeldSleigh, HeldSleighState,
    KapitzaPendulum, KapitzaPendulumState, Kepler, KeplerState, KnifeEdge, KnifeEdgeState, NonholonomicOscillator,
    NonholonomicOscillatorState, PerturbedKepler, PerturbedKeplerState, PlanarPendulum, PlanarPendulumState,
    RollerRacer, RollerRacerState, RollingDisk, RollingDiskState, RotatingHoop, RotatingHoopState, SphericalPendulum,
    SphericalPendulumCpv22, SphericalPendulumCpv22State, SphericalPendulumState, SuslovProblem, SuslovProblemState,
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

    fn drawing(&self, state: &SphericalPendulumState) -> Drawing {
        drawings::spherical_pendulum(self, state)
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

    fn drawing(&self, state: &SphericalPendulumCpv22State) -> Drawing {
        drawings::spherical_pendulum_cpv22(self, state)
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

    fn drawing(&self, state: &FourBarState) -> Drawing {
        drawings::four_bar(self, state)
    }
}

impl Model for FreeRigidBody {
    fn start(&self) -> Result<FreeRigidBodyState, Error> {
        Ok(Self::start(self))
    }

    fn declaration() -> Option<Declaration> {
        declarations::of::<Self>()
    }

    fn drawing(&self, state: &FreeRigidBodyState) -> Drawing {
        drawings::free_rigid_body(self, state)
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

    fn drawing(&self, state: &DrivenFourBarState) -> Drawing {
        drawings::driven_four_bar(self, state)
    }
}

/// Models that need only a start and a drawing.
macro_rules! starts {
    ($($model:ty => $state:ty, $drawing:ident;)*) => {
        $(impl Model for $model {
            fn start(&self) -> Result<$state, Error> {
                Ok(Self::start(self))
            }

            fn declaration() -> Option<Declaration> {
                declarations::of::<Self>()
            }

            fn drawing(&self, state: &$state) -> Drawing {
                drawings::$drawing(self, state)
            }
        })*
    };
}

starts! {
    PlanarPendulum => PlanarPendulumState, planar_pendulum;
    Chain4 => Chain4State, chain_4;
    Chain8 => Chain8State, chain_8;
    Chain16 => Chain16State, chain_16;
    Chain32 => Chain32State, chain_32;
    EulerTop => EulerTopState, euler_top;
    Kepler => KeplerState, kepler;
    PerturbedKepler => PerturbedKeplerState, perturbed_kepler;
    CartPendulum => CartPendulumState, cart_pendulum;
    HamelPendulum => HamelPendulumState, hamel_pendulum;
    DegeneratePendulum => DegeneratePendulumState, degenerate_pendulum;
    ChaplyginSleigh => ChaplyginSleighState, chaplygin_sleigh;
    BalancedSleigh => BalancedSleighState, balanced_sleigh;
    HeldSleigh => HeldSleighState, held_sleigh;
    KnifeEdge => KnifeEdgeState, knife_edge;
    RollingDisk => RollingDiskState, rolling_disk;
    RollerRacer => RollerRacerState, roller_racer;
    SuslovProblem => SuslovProblemState, suslov_problem;
    HeisenbergSystem => HeisenbergSystemState, heisenberg_system;
    NonholonomicOscillator => NonholonomicOscillatorState, nonholonomic_oscillator;
    DrivenPendulum => DrivenPendulumState, driven_pendulum;
    CartPole => CartPoleState, cart_pole;
    KapitzaPendulum => KapitzaPendulumState, kapitza_pendulum;
    RotatingHoop => RotatingHoopState, rotating_hoop;
}

/// For either spherical pendulum.
fn on_sphere(sphere: Sphere) -> Vec<GeometricMethod<SphericalPendulum>> {
    vec![(LIE_TROTTER, Box::new(splitting::LieTrotter(sphere))), (STRANG, Box::new(splitting::Strang(sphere)))]
}
