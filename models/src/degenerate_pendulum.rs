//! The spherical pendulum as a degenerate rigid body: without inertia about its rod, seen through the vertical gamma alone.
//!
//! gamma' = gamma x xi has rank 2 in three velocities, with the brackets of so(3). The spin about the rod, which has no inertia, is set to
//! zero. Energy, |gamma|^2 and the vertical momentum are quadratic in (gamma, p), so that the discrete Hamel integrator keeps all of them
//! exactly. This is the second example of D. Zenkov, *Hamel's formalism and variational integrators* (2014).

use fbint_runtime::feedback_system;
use nalgebra::vector;

/// A spherical pendulum as a rigid body without inertia about its rod.
#[feedback_system(
    coordinates(gamma: [3]),
    velocities(xi: [2], spin),
    kinematics(gamma = gamma.cross(&vector![xi[0], xi[1], spin])),
    lagrangian = m * r.powi(2) * xi.norm_squared() / 2 - m * g * r * gamma[2],
    velocity_constraint(no_spin = spin),
    constraint(length = gamma.norm_squared() - 1),
    invariant(vertical_momentum = m * r.powi(2) * (xi[0] * gamma[0] + xi[1] * gamma[1])),
    default(m = 1, g = 1, r = 1),
    draw(
        // Seen from the body: its rod stands still, and the direction of the vertical moves on a sphere.
        circle(vector![0, 0, 0], r, vector![1, 0, 0]), circle(vector![0, 0, 0], r, vector![0, 1, 0]), circle(vector![0, 0, 0], r, vector![0, 0, 1]),
        rod(vector![0, 0, 0], vector![0, 0, r]), pivot(vector![0, 0, 0]), point(vector![0, 0, r]), arrow(vector![0, 0, 0], r * gamma), trace(r * gamma),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct DegeneratePendulum {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length of the rod.
    pub r: f64,
}

impl DegeneratePendulum {
    /// The start with the rod horizontal, which turns about both of its axes.
    pub fn start(&self) -> DegeneratePendulumState {
        DegeneratePendulumState { gamma: vector![0.0, -1.0, 0.0], xi: vector![1.0, 1.0] }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;
    use crate::{SphericalPendulum, SphericalPendulumState};

    #[test]
    fn moves_as_the_spherical_pendulum_does() -> Result<(), Error> {
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let (body, point) = (DegeneratePendulum::default(), SphericalPendulum { m: 1.0, g: 1.0, l: 1.0 });
        // The height r gamma_3 has the rate of r (gamma x xi)_3, and the vertical momentum is that of the point.
        let SphericalPendulumState { q, p } = point.start();
        let start =
            DegeneratePendulumState { gamma: vector![0.0, -1.0, 0.0], xi: vector![p.z, -(q.x * p.y - q.y * p.x)] };
        let height = |time: f64| -> Result<[f64; 2], Error> {
            let of_body = Simulation::new(&body, start)?.run(method, time)?.state().gamma.z;
            let of_point = Simulation::new(&point, point.start())?.run(method, time)?.state().q.z;
            Ok([of_body, of_point])
        };
        for time in [1.0, 5.0, 20.0] {
            let [of_body, of_point] = height(time)?;
            assert!((of_body - of_point).abs() < 1e-8, "t = {time}: {of_body}, {of_point}");
        }
        Ok(())
    }
}
