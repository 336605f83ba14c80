//! Euler's free rigid body on R^{3x3} x R^3: attitude and angular velocity, without coordinates of SO(3).
//!
//! r turns body coordinates into spatial ones; omega and inertia, the principal moments, are in body coordinates. The field
//! is given: r' = r hat(omega), I omega' = (I omega) x omega. The six entries of r^T r - 1 are constraints here, but
//! invariants of the field only on SO(3): off it r^T r turns with the body. V nevertheless keeps its value, because the
//! entries carry the weights 1 and 2 of the Frobenius norm. Energy and spatial momentum r (I omega) stay everywhere.
//!
//! omega is periodic: from omega = (1, 1, 1) with the moments 3, 2, 1 it comes back after 4 K(1/2) sqrt(3/4) =
//! 6.42270308..., while r comes back turned about the spatial momentum. [`EulerTop`](crate::EulerTop) is the same body
//! without its attitude.

use fbint_runtime::feedback_system;
use nalgebra::{Matrix3, Vector3, vector};

/// Attitude and angular velocity of a rigid body without forces.
#[feedback_system(
    state(r: [3, 3], omega: [3]),
    define(
        momentum = inertia.component_mul(&omega),
        // The moment about an axis is a mass times the sum of the squares of the other two sides; the longest side is 1.4.
        moments = inertia,
        all = moments[0] + moments[1] + moments[2],
        squares = vector![
            (all / 2 - moments[0]).max(0.02 * all), (all / 2 - moments[1]).max(0.02 * all), (all / 2 - moments[2]).max(0.02 * all)
        ],
        largest = squares[0].max(squares[1]).max(squares[2]),
        sides = 1.4 * vector![(squares[0] / largest).sqrt(), (squares[1] / largest).sqrt(), (squares[2] / largest).sqrt()],
    ),
    dynamics(r = r * hat(omega), omega = momentum.cross(&omega).component_div(&inertia)),
    constraint(orthonormality = r.transpose() * r - identity(3)),
    invariant(energy = omega.dot(&momentum) / 2, spatial_momentum = r * momentum),
    default(inertia = vector![3, 2, 1]),
    draw(
        body(vector![0, 0, 0], r, sides), frame(vector![0, 0, 0], r, 1.2), arrow(vector![0, 0, 0], r * omega), trace(r * omega),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct FreeRigidBody {
    /// The principal moments of inertia.
    pub inertia: Vector3<f64>,
}

impl FreeRigidBody {
    /// Body axes along the spatial axes, turning about all three.
    pub fn start(&self) -> FreeRigidBodyState {
        FreeRigidBodyState { r: Matrix3::identity(), omega: vector![1.0, 1.0, 1.0] }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Field, Gains, Method, PreparedSystem, Simulation};
    use nalgebra::{SMatrix, SVector};

    use super::*;

    /// The period of omega from (1, 1, 1) with the default moments.
    const PERIOD: f64 = 6.422_703_084_225_693;

    #[test]
    fn comes_back_turned_about_its_momentum_after_its_period() -> Result<(), Error> {
        let body = FreeRigidBody::default();
        let start = body.start();
        let run = Simulation::new(&body, start)?.gains(Gains::uniform(1.0)).run(Method::Rk4 { h: 1e-3 }, PERIOD)?;
        let end = run.state();
        assert!((end.omega - start.omega).norm() < 1e-10, "omega = {}", end.omega);
        let momentum = start.r * body.inertia.component_mul(&start.omega);
        assert!((end.r * momentum - momentum).norm() < 1e-10, "r turned {momentum}");
        assert!((end.r - start.r).norm() > 0.1, "r came back, too: {}", end.r);
        for integral in run.drift().integrals() {
            assert!(integral.max < 1e-10, "{integral:?}");
        }
        Ok(())
    }

    #[test]
    fn off_the_rotations_only_the_weighted_sum_stays() -> Result<(), Error> {
        let body = FreeRigidBody::default();
        let feedback = fbint_runtime::Feedback::new(&body, &body.start().into(), Gains::uniform(1.0))?;
        let x = [0.9, 0.2, -0.3, 0.1, 1.2, 0.4, -0.2, 0.3, 0.8, 1.1, -0.7, 0.6];
        let field = SVector::from(body.prepare().vector_field(&x));
        let jacobian = body.prepare().integrals_jacobian(&x);
        let changes = SMatrix::<f64, 10, 12>::from_fn(|i, j| jacobian[i][j]) * field;
        assert!(changes.rows(0, 6).amax() > 0.1, "{changes}");
        assert!(changes.rows(6, 4).amax() < 1e-14, "{changes}");
        let gradient = field - SVector::from(feedback.value(&x));
        assert!(gradient.norm() > 0.1 && gradient.dot(&field).abs() < 1e-14);
        Ok(())
    }
}
