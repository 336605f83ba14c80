//! The vertical rolling disk (Blo15, section 1.4): it rolls without slipping, and turns about its vertical diameter.
//!
//! Both rates are constant, so that the point of contact moves along a circle of radius R roll / turn.

use fbint_runtime::feedback_system;

/// A disk that stays upright and rolls without slipping.
#[feedback_system(
    coordinates(x, y, psi, phi),
    velocities(vx, vy, roll, turn),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 + i * roll.powi(2) / 2 + j * turn.powi(2) / 2,
    velocity_constraint(
        slip_x = vx - radius * phi.cos() * roll,
        slip_y = vy - radius * phi.sin() * roll,
    ),
    invariant(
        roll_momentum = i * roll + radius * m * (vx * phi.cos() + vy * phi.sin()),
        turn_momentum = j * turn,
    ),
    output(grip = (multiplier(slip_x).powi(2) + multiplier(slip_y).powi(2)).sqrt()),
    default(m = 2, i = 0.25, j = 0.125, radius = 0.5),
    define(
        contact = vector![x, y, 0],
        centre = vector![x, y, radius],
        // The end of a spoke.
        rim = centre + radius * vector![psi.sin() * phi.cos(), psi.sin() * phi.sin(), psi.cos()],
    ),
    draw(
        disk(centre, radius, vector![phi.sin(), -phi.cos(), 0]), rod(centre, rim), point(rim), trace(contact), trace(rim),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct RollingDisk {
    /// The mass.
    pub m: f64,
    /// The moment of inertia about the axle.
    pub i: f64,
    /// The moment of inertia about a diameter.
    pub j: f64,
    /// The radius.
    pub radius: f64,
}

impl RollingDisk {
    /// The start on a circle of radius 2.
    pub fn start(&self) -> RollingDiskState {
        let roll = 2.0;
        RollingDiskState { x: 0.0, y: 0.0, psi: 0.0, phi: 0.0, vx: self.radius * roll, vy: 0.0, roll, turn: 0.5 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Method, PreparedSystem, Simulation};

    use super::*;

    #[test]
    fn rolls_along_a_circle() -> Result<(), Error> {
        let disk = RollingDisk::default();
        let time = 10.0;
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let end = Simulation::new(&disk, disk.start())?.run(method, time)?.state();
        let (circle, angle): (f64, f64) = (2.0, 0.5 * time);
        let (x, y) = (circle * angle.sin(), circle * (1.0 - angle.cos()));
        assert!((end.x - x).abs() < 1e-9 && (end.y - y).abs() < 1e-9, "{end:?}");
        // The centripetal force m v^2 / r.
        let [grip] = disk.prepare().outputs(&end.into());
        assert!((grip - disk.m / circle).abs() < 1e-9, "{grip}");
        Ok(())
    }
}
