//! A bead on a hoop that turns about its vertical diameter: two constraints, and one of them moves.

use fbint_runtime::feedback_system;
use nalgebra::vector;

/// A bead on a circular hoop that turns about its vertical diameter.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    time(t),
    define(along = vector![(omega * t).cos(), (omega * t).sin(), 0], slip = rate(q) - omega * vector![-q[1], q[0], 0]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(sphere = q.norm_squared() - r.powi(2), plane = q[1] * along[0] - q[0] * along[1]),
    force(p = -damping * slip),
    output(side_force = multiplier(plane)),
    default(m = 1, r = 1, g = 9.81, omega = 5, damping = 0.2),
    draw(
        guide(vector![0, 0, -1.2 * r], vector![0, 0, 1.2 * r]), hoop(vector![0, 0, 0], r, vector![-(omega * t).sin(), (omega * t).cos(), 0]),
        point(q), trace(q),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct RotatingHoop {
    /// The mass of the bead.
    pub m: f64,
    /// The radius of the hoop.
    pub r: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The angular velocity of the hoop.
    pub omega: f64,
    /// The force of friction per velocity along the hoop.
    pub damping: f64,
}

impl RotatingHoop {
    /// The start near the lowest point, at rest on the hoop.
    pub fn start(&self) -> RotatingHoopState {
        let (sine, cosine) = 0.1_f64.sin_cos();
        let q = self.r * vector![sine, 0.0, -cosine];
        RotatingHoopState { q, p: self.m * self.omega * vector![0.0, q.x, 0.0], t: 0.0, work: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Method, PreparedSystem, Simulation};

    use super::*;

    /// Above omega^2 = g / r the lowest point is unstable, and the bead comes to rest at cos(angle) = g / (omega^2 r).
    #[test]
    fn bead_climbs_to_its_equilibrium() -> Result<(), Error> {
        let system = RotatingHoop::default();
        let method = Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) };
        let run = Simulation::new(&system, system.start())?.run(method, 150.0)?;
        let RotatingHoop { m, r, g, omega, .. } = system;
        let end = run.state();
        assert!((-end.q.z - g / omega.powi(2)).abs() < 1e-6, "{end:?}");
        assert!(run.drift().integrals().all(|integral| integral.max < 1e-10), "{}", run.drift());
        // There, nothing pushes it sideways but Coriolis' force, which vanishes.
        let [side] = system.prepare().outputs(&end.into());
        assert!(side.abs() < 1e-4 * m * r * omega.powi(2), "{side}");
        Ok(())
    }
}
