//! A knife edge on an inclined plane (Blo15, section 1.6): a skate that glides downhill along x and turns at a constant rate.
//!
//! From rest with x = y = phi = 0, and turning at the rate omega, it does not go down for ever: with a = g sin(alpha),
//! x = a sin^2(omega t) / (2 omega^2), y = a (omega t - sin(2 omega t) / 2) / (2 omega^2).

use fbint_runtime::feedback_system;

/// A knife edge on an inclined plane.
#[feedback_system(
    coordinates(x, y, phi),
    velocities(vx, vy, omega),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + j * omega.powi(2) / 2 + m * g * slope.sin() * x,
    velocity_constraint(edge = phi.sin() * vx - phi.cos() * vy),
    invariant(turning = omega),
    output(side_force = multiplier(edge)),
    default(m = 1, j = 1, g = 1, slope = 0.5),
    define(
        // The plane as seen from above, with what is downhill below.
        contact = vector![y, -x],
        half = 0.1 * (j / m).sqrt() * vector![phi.sin(), -phi.cos()],
    ),
    draw(rod(contact - half, contact + half), trace(contact), point(contact + half)),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct KnifeEdge {
    /// The mass.
    pub m: f64,
    /// The moment of inertia about the point of contact.
    pub j: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The angle of the plane to the horizontal.
    pub slope: f64,
}

impl KnifeEdge {
    /// The start at rest, turning.
    pub fn start(&self) -> KnifeEdgeState {
        KnifeEdgeState { x: 0.0, y: 0.0, phi: 0.0, vx: 0.0, vy: 0.0, omega: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    #[test]
    fn follows_a_cycloid() -> Result<(), Error> {
        let edge = KnifeEdge { m: 1.5, j: 0.4, g: 9.81, slope: 0.3 };
        let omega = 2.0;
        let time = 7.0;
        let start = KnifeEdgeState { omega, ..edge.start() };
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let end = Simulation::new(&edge, start)?.run(method, time)?.state();
        let radius = edge.g * edge.slope.sin() / (2.0 * omega * omega);
        let angle: f64 = omega * time;
        let (x, y) = (radius * angle.sin().powi(2), radius * (angle - (2.0 * angle).sin() / 2.0));
        assert!((end.x - x).abs() < 1e-9 && (end.y - y).abs() < 1e-9, "{end:?}");
        Ok(())
    }
}
