//! The roller racer (Blo15, section 1.10): two bodies joined by a hinge, each on an axle whose wheels do not slip sideways.
//!
//! (x, y) is the middle of the axle of the seat, which points along theta; the steering arm is turned by phi against it. As in the
//! textbook, the mass of the arm is left out, but not its inertia. Without a torque at the hinge the energy is conserved.

use fbint_runtime::feedback_system;

/// A roller racer without a rider.
#[feedback_system(
    coordinates(x, y, theta, phi),
    velocities(vx, vy, turn, steer),
    define(
        heading = theta + phi,
        seat_at = vector![x, y],
        hinge = seat_at + d1 * vector![theta.cos(), theta.sin()],
        arm_at = hinge + d2 * vector![heading.cos(), heading.sin()],
        seat_axle = 0.35 * d1 * vector![-theta.sin(), theta.cos()],
        arm_axle = 0.35 * d1 * vector![-heading.sin(), heading.cos()],
        seat_wheel = 0.15 * d1 * vector![theta.cos(), theta.sin()],
        arm_wheel = 0.15 * d1 * vector![heading.cos(), heading.sin()],
    ),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + i1 * turn.powi(2) / 2 + i2 * (turn + steer).powi(2) / 2,
    velocity_constraint(
        seat = theta.cos() * vy - theta.sin() * vx,
        arm = heading.cos() * vy - heading.sin() * vx + d1 * phi.cos() * turn + d2 * (turn + steer),
    ),
    output(seat_force = multiplier(seat), arm_force = multiplier(arm)),
    default(m = 1, i1 = 1, i2 = 0.5, d1 = 1, d2 = 0.5),
    draw(
        rod(seat_at, hinge, arm_at), guide(seat_at - seat_axle, seat_at + seat_axle),
        rod(seat_at - seat_axle - seat_wheel, seat_at - seat_axle + seat_wheel),
        rod(seat_at + seat_axle - seat_wheel, seat_at + seat_axle + seat_wheel),
        guide(arm_at - arm_axle, arm_at + arm_axle),
        rod(arm_at - arm_axle - arm_wheel, arm_at - arm_axle + arm_wheel),
        rod(arm_at + arm_axle - arm_wheel, arm_at + arm_axle + arm_wheel),
        point(hinge), trace(seat_at), trace(arm_at),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct RollerRacer {
    /// The mass of the seat.
    pub m: f64,
    /// The moment of inertia of the seat.
    pub i1: f64,
    /// The moment of inertia of the arm.
    pub i2: f64,
    /// The distance from the axle of the seat to the hinge.
    pub d1: f64,
    /// The distance from the hinge to the axle of the arm.
    pub d2: f64,
}

impl RollerRacer {
    /// A start with a steering arm that is turned, and follows the seat.
    pub fn start(&self) -> RollerRacerState {
        let (phi, turn, steer): (f64, f64, f64) = (0.8, 0.3, 0.1);
        // The seat points along x, and the constraint of the arm gives its speed.
        let vx = (self.d1 * phi.cos() * turn + self.d2 * (turn + steer)) / phi.sin();
        RollerRacerState { x: 0.0, y: 0.0, theta: 0.0, phi, vx, vy: 0.0, turn, steer }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    #[test]
    fn both_axles_roll() -> Result<(), Error> {
        let racer = RollerRacer::default();
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let run = Simulation::new(&racer, racer.start())?.without_feedback().run(method, 2.0)?;
        for name in ["seat", "arm", "energy"] {
            let drift = run.drift().get(name).map(|integral| integral.max);
            assert!(drift.is_some_and(|drift| drift < 1e-9), "{name}: {drift:?}");
        }
        Ok(())
    }
}
