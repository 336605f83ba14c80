//! The Euler top: the free rigid body reduced to its momentum in body coordinates, a Lie-Poisson system on R^3.
//!
//! The Poisson matrix is hat(pi), so that pi' = pi x dH/dpi. Its Casimir function |pi|^2 stays whatever H is, and with the
//! energy it makes every motion periodic. [`FreeRigidBody`](crate::FreeRigidBody) is the same body with its attitude;
//! momenta are inertia times angular velocity, and so is the period of 6.42270308... from pi = (3, 2, 1).

use fbint_runtime::feedback_system;
use nalgebra::Vector3;

/// A free rigid body reduced to its momentum, a Lie-Poisson system.
#[feedback_system(
    state(pi: [3]),
    poisson = hat(pi),
    hamiltonian = pi.dot(&pi.component_div(&inertia)) / 2,
    invariant(casimir = pi.norm_squared()),
    default(inertia = vector![3, 2, 1]),
    draw(
        // Seen from the body: its momentum on the sphere of all momenta of this length.
        circle(vector![0, 0, 0], pi.norm(), vector![1, 0, 0]), circle(vector![0, 0, 0], pi.norm(), vector![0, 1, 0]), circle(vector![0, 0, 0], pi.norm(), vector![0, 0, 1]),
        frame(vector![0, 0, 0], 0, 0.4 * pi.norm()), arrow(vector![0, 0, 0], pi), trace(pi),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct EulerTop {
    /// The principal moments of inertia.
    pub inertia: Vector3<f64>,
}

impl EulerTop {
    /// A start that turns about all three axes at one rate.
    pub fn start(&self) -> EulerTopState {
        EulerTopState { pi: self.inertia }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Gains, Method, PreparedSystem, Simulation};
    use nalgebra::vector;

    use super::*;
    use crate::{FreeRigidBody, FreeRigidBodyState};

    /// The period of the motion from pi = (3, 2, 1) with the default moments.
    const PERIOD: f64 = 6.422_703_084_225_693;

    #[test]
    fn comes_back_after_its_period() -> Result<(), Error> {
        let top = EulerTop::default();
        let run =
            Simulation::new(&top, top.start())?.gains(Gains::uniform(1.0)).run(Method::Rk4 { h: 1e-3 }, PERIOD)?;
        assert!((run.state().pi - top.start().pi).norm() < 1e-10, "pi = {}", run.state().pi);
        for integral in run.drift().integrals() {
            assert!(integral.max < 1e-9, "{integral:?}");
        }
        Ok(())
    }

    #[test]
    fn turns_as_the_free_rigid_body_does() {
        let inertia = vector![1.7, 0.6, 2.3];
        let omega = vector![0.4, -1.1, 0.8];
        let body = FreeRigidBody { inertia };
        let state = FreeRigidBodyState { omega, ..body.start() };
        let acceleration = FreeRigidBodyState::from(body.prepare().vector_field(&state.into())).omega;
        let momentum = EulerTopState { pi: inertia.component_mul(&omega) };
        let change = EulerTopState::from(EulerTop { inertia }.prepare().vector_field(&momentum.into())).pi;
        assert!((change - inertia.component_mul(&acceleration)).amax() < 1e-15, "{change}");
    }
}
