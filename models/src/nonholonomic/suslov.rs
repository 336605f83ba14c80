//! Suslov's problem (Blo15, section 8.6): a rigid body with a fixed point whose angular velocity has no component along an axis of
//! the body.
//!
//! In general the body comes to rotate about the axis that its inertia and the constraint leave it, forwards or backwards.

use fbint_runtime::feedback_system;
use nalgebra::{Matrix3, Vector3, vector};

/// A rigid body that cannot turn about one of its axes.
#[feedback_system(
    coordinates(r: [3, 3]),
    velocities(omega: [3]),
    kinematics(r = r * hat(omega)),
    lagrangian = omega.dot(&(inertia * omega)) / 2,
    constraint(orthonormality = r.transpose() * r - identity(3)),
    velocity_constraint(twist = axis.dot(&omega)),
    output(torque = multiplier(twist)),
    default(inertia = matrix![3, 0, 0.4; 0, 2, 0.3; 0.4, 0.3, 1.5], axis = vector![0, 0, 1]),
    define(
        // The moment about an axis is a mass times the sum of the squares of the other two sides; the longest side is 1.4.
        moments = vector![inertia[(0, 0)], inertia[(1, 1)], inertia[(2, 2)]],
        all = moments[0] + moments[1] + moments[2],
        squares = vector![
            (all / 2 - moments[0]).max(0.02 * all), (all / 2 - moments[1]).max(0.02 * all), (all / 2 - moments[2]).max(0.02 * all)
        ],
        largest = squares[0].max(squares[1]).max(squares[2]),
        sides = 1.4 * vector![(squares[0] / largest).sqrt(), (squares[1] / largest).sqrt(), (squares[2] / largest).sqrt()],
        hinge = 1.2 * r * axis / axis.norm(),
    ),
    draw(
        body(vector![0, 0, 0], r, sides), frame(vector![0, 0, 0], r, 1.2), guide(-hinge, hinge), arrow(vector![0, 0, 0], r * omega), trace(r * omega),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct SuslovProblem {
    /// The symmetric tensor of inertia.
    pub inertia: Matrix3<f64>,
    /// The axis about which it cannot turn.
    pub axis: Vector3<f64>,
}

impl SuslovProblem {
    /// A start that turns about both other axes.
    pub fn start(&self) -> SuslovProblemState {
        SuslovProblemState { r: Matrix3::identity(), omega: vector![1.0, -1.0, 0.0] }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    /// I13 omega1 + I23 omega2 vanishes at last, and the energy does not change.
    #[test]
    fn comes_to_a_steady_rotation() -> Result<(), Error> {
        let body = SuslovProblem::default();
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let run = Simulation::new(&body, body.start())?.run(method, 200.0)?;
        let omega = run.state().omega;
        let off = body.inertia[(0, 2)] * omega.x + body.inertia[(1, 2)] * omega.y;
        assert!(off.abs() < 1e-6 && omega.norm() > 0.5, "{omega:?}");
        Ok(())
    }
}
