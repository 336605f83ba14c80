//! Rigid bodies that turn in space.

use fbint_command::Drawing;
use nalgebra::{Matrix3, Vector3};

use super::pendulums::sphere;
use crate::{EulerTop, EulerTopState, FreeRigidBody, FreeRigidBodyState, SuslovProblem, SuslovProblemState};

/// The body, and its angular velocity, whose end leaves a trace.
pub(crate) fn free_rigid_body(model: &FreeRigidBody, at: &FreeRigidBodyState) -> Drawing {
    with_angular_velocity(body(&model.inertia, &at.r), at.r * at.omega)
}

/// The body with the axis about which it cannot turn, and its angular velocity.
pub(crate) fn suslov_problem(model: &SuslovProblem, at: &SuslovProblemState) -> Drawing {
    let axis = 1.2 * at.r * model.axis.normalize();
    with_angular_velocity(body(&model.inertia.diagonal(), &at.r).guide([-axis, axis]), at.r * at.omega)
}

/// Seen from the body: its momentum on the sphere of all momenta of this length.
pub(crate) fn euler_top(_: &EulerTop, at: &EulerTopState) -> Drawing {
    let length = at.pi.norm();
    let origin = Vector3::zeros();
    sphere(length).frame(origin, &Matrix3::identity(), 0.4 * length).arrow(origin, at.pi).trace(at.pi)
}

/// A box with the principal moments of a body, as far as there is one, and its axes. Its longest side is 1.4.
fn body(moments: &Vector3<f64>, r: &Matrix3<f64>) -> Drawing {
    // The moment about an axis is a mass times the sum of the squares of the other two sides.
    let squares = moments.map(|moment| (moments.sum() / 2.0 - moment).max(0.02 * moments.sum()));
    let sides = (squares / squares.max()).map(f64::sqrt) * 1.4;
    Drawing::new().cuboid([0.0, 0.0, 0.0], r, sides.into()).frame([0.0, 0.0, 0.0], r, 1.2)
}

/// An arrow from the fixed point, whose end leaves a trace.
fn with_angular_velocity(body: Drawing, omega: Vector3<f64>) -> Drawing {
    body.arrow([0.0, 0.0, 0.0], omega).trace(omega)
}
