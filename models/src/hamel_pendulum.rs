//! The planar pendulum in redundant coordinates: a frame that turns and stretches with the rod, in which stretching is set to zero.
//!
//! It needs no multiplier, and nothing lets the length drift: |(x, y)|^2 is a set that the motion keeps. It moves like
//! [`PlanarPendulum`](crate::PlanarPendulum). This is the first example of D. Zenkov, *Hamel's formalism and variational integrators*
//! (2014); the frame is polynomial, so that the discrete Hamel integrator keeps the length exactly and the energy within O(h^2).

use fbint_runtime::feedback_system;

/// A planar pendulum in a frame that turns and stretches with its rod.
#[feedback_system(
    coordinates(x, y),
    velocities(turn, stretch),
    kinematics(x = -y * turn + x * stretch, y = x * turn + y * stretch),
    lagrangian = m * (rate(x).powi(2) + rate(y).powi(2)) / 2 - m * g * y,
    velocity_constraint(rod = stretch),
    constraint(length = x.powi(2) + y.powi(2) - l.powi(2)),
    output(tension = -multiplier(rod) / l),
    default(m = 1, g = 1, l = 1),
    draw(rod(vector![0, 0], vector![x, y]), pivot(vector![0, 0]), point(vector![x, y]), trace(vector![x, y])),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct HamelPendulum {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length of the rod.
    pub l: f64,
}

impl HamelPendulum {
    /// The start at rest with the rod horizontal.
    pub fn start(&self) -> HamelPendulumState {
        HamelPendulumState { x: self.l, y: 0.0, turn: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Method, PreparedSystem, Simulation};

    use super::*;

    /// A quarter of the period of a pendulum from the horizontal, in units of sqrt(l / g): K(1/2).
    const QUARTER: f64 = 1.854_074_677_301_372;

    #[test]
    fn hangs_straight_after_a_quarter_of_its_period() -> Result<(), Error> {
        let pendulum = HamelPendulum { m: 2.0, g: 9.81, l: 0.5 };
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let time = QUARTER * (pendulum.l / pendulum.g).sqrt();
        let run = Simulation::new(&pendulum, pendulum.start())?.run(method, time)?;
        let end = run.state();
        assert!(end.x.abs() < 1e-9 && (end.y + pendulum.l).abs() < 1e-9, "{end:?}");
        // Weight and centripetal force: m g + 2 m g.
        let [tension] = pendulum.prepare().outputs(&end.into());
        assert!((tension - 3.0 * pendulum.m * pendulum.g).abs() < 1e-7, "{tension}");
        Ok(())
    }
}
