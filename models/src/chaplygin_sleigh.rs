//! The Chaplygin sleigh: a rigid body on a plane with a blade, along which it glides without slipping sideways.
//!
//! The coordinates belong to the blade's point of contact; the centre of mass is a distance a before it. In the frame of the blade the slip
//! is set to zero, and two velocities remain. Motions with the centre of mass in front of the blade are stable, those with the centre
//! behind turn round: omega' = -m a v omega / (J + m a^2), v' = a omega^2. Balanced, with a = 0, the sleigh skates in circles. These are
//! examples of D. Zenkov, *Hamel's formalism and variational integrators* (2014), and of D. E. Chang and M. Perlmutter, *Feedback
//! integrators for nonholonomic mechanical systems*, J. Nonlinear Sci. 29 (2019) 1165.

use fbint_runtime::feedback_system;

/// The Chaplygin sleigh in the frame of its blade.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(omega, v, slip),
    kinematics(
        x = v * theta.cos() - slip * theta.sin(),
        y = v * theta.sin() + slip * theta.cos(),
        theta = omega,
    ),
    lagrangian = m * (v.powi(2) + (slip + a * omega).powi(2)) / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = slip),
    output(side_force = multiplier(blade)),
    default(m = 2, j = 0.7, a = 0.3),
    define(
        // The blade is at the contact, the centre of mass before it.
        contact = vector![x, y],
        ahead = vector![theta.cos(), theta.sin()],
        aside = vector![-theta.sin(), theta.cos()],
        size = (j / m).sqrt(),
        centre_of_mass = contact + a * ahead,
    ),
    draw(
        face(
            centre_of_mass + 1.2 * size * ahead, centre_of_mass + size * (0.3 * ahead + 0.7 * aside),
            centre_of_mass + size * (0.6 * aside - ahead), centre_of_mass - size * (ahead + 0.6 * aside),
            centre_of_mass + size * (0.3 * ahead - 0.7 * aside),
        ),
        rod(contact - 0.4 * size * ahead, contact + 0.4 * size * ahead), point(centre_of_mass), trace(contact),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct ChaplyginSleigh {
    /// The mass.
    pub m: f64,
    /// The moment of inertia about the centre of mass.
    pub j: f64,
    /// The distance of the centre of mass before the blade.
    pub a: f64,
}

impl ChaplyginSleigh {
    /// The start backwards, with a turn.
    pub fn start(&self) -> ChaplyginSleighState {
        ChaplyginSleighState { x: 0.0, y: 0.0, theta: 0.0, omega: 1.0, v: -1.0 }
    }
}

/// The Chaplygin sleigh in the rates of its coordinates, held by the reaction of its blade.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(vx, vy, omega),
    define(centre = vector![vx - a * omega * theta.sin(), vy + a * omega * theta.cos()]),
    lagrangian = m * centre.norm_squared() / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = theta.cos() * vy - theta.sin() * vx),
    output(side_force = multiplier(blade)),
    define(
        // The blade is at the contact, the centre of mass before it.
        contact = vector![x, y],
        ahead = vector![theta.cos(), theta.sin()],
        aside = vector![-theta.sin(), theta.cos()],
        size = (j / m).sqrt(),
        centre_of_mass = contact + a * ahead,
    ),
    draw(
        face(
            centre_of_mass + 1.2 * size * ahead, centre_of_mass + size * (0.3 * ahead + 0.7 * aside),
            centre_of_mass + size * (0.6 * aside - ahead), centre_of_mass - size * (ahead + 0.6 * aside),
            centre_of_mass + size * (0.3 * ahead - 0.7 * aside),
        ),
        rod(contact - 0.4 * size * ahead, contact + 0.4 * size * ahead), point(centre_of_mass), trace(contact),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct HeldSleigh {
    /// The mass.
    pub m: f64,
    /// The moment of inertia about the centre of mass.
    pub j: f64,
    /// The distance of the centre of mass before the blade.
    pub a: f64,
}

impl Default for HeldSleigh {
    fn default() -> Self {
        let ChaplyginSleigh { m, j, a } = ChaplyginSleigh::default();
        Self { m, j, a }
    }
}

impl HeldSleigh {
    /// The start of [`ChaplyginSleigh`].
    pub fn start(&self) -> HeldSleighState {
        HeldSleighState { x: 0.0, y: 0.0, theta: 0.0, vx: -1.0, vy: 0.0, omega: 1.0 }
    }
}

/// The balanced sleigh in the frame of its blade: it skates in circles.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(omega, v, slip),
    kinematics(
        x = v * theta.cos() - slip * theta.sin(),
        y = v * theta.sin() + slip * theta.cos(),
        theta = omega,
    ),
    lagrangian = m * (v.powi(2) + slip.powi(2)) / 2 + j * omega.powi(2) / 2,
    velocity_constraint(blade = slip),
    invariant(
        turning = omega,
        speed = v,
        centre_x = omega * x - v * theta.sin(),
        centre_y = omega * y + v * theta.cos(),
    ),
    output(side_force = multiplier(blade)),
    default(m = 1, j = 1),
    define(
        // The blade is at the contact, the centre of mass before it.
        contact = vector![x, y],
        ahead = vector![theta.cos(), theta.sin()],
        aside = vector![-theta.sin(), theta.cos()],
        size = (j / m).sqrt() / 2,
        centre_of_mass = contact + 0 * ahead,
    ),
    draw(
        face(
            centre_of_mass + 1.2 * size * ahead, centre_of_mass + size * (0.3 * ahead + 0.7 * aside),
            centre_of_mass + size * (0.6 * aside - ahead), centre_of_mass - size * (ahead + 0.6 * aside),
            centre_of_mass + size * (0.3 * ahead - 0.7 * aside),
        ),
        rod(contact - 0.4 * size * ahead, contact + 0.4 * size * ahead), point(centre_of_mass), trace(contact),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct BalancedSleigh {
    /// The mass.
    pub m: f64,
    /// The moment of inertia about the centre of mass.
    pub j: f64,
}

impl BalancedSleigh {
    /// The start on a circle of radius 1.
    pub fn start(&self) -> BalancedSleighState {
        BalancedSleighState { x: 0.0, y: 0.0, theta: 0.0, omega: 1.0, v: 1.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    const METHOD: Method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };

    #[test]
    fn turns_round_and_goes_straight_ahead() -> Result<(), Error> {
        let sleigh = ChaplyginSleigh::default();
        let run = Simulation::new(&sleigh, sleigh.start())?.run(METHOD, 60.0)?;
        // All of the energy is in the speed at last.
        let inertia = sleigh.j + sleigh.m * sleigh.a.powi(2);
        let speed = (1.0 + inertia / sleigh.m).sqrt();
        let end = run.state();
        assert!(end.omega.abs() < 1e-6 && (end.v - speed).abs() < 1e-9, "{end:?}");
        Ok(())
    }

    #[test]
    fn moves_alike_with_and_without_a_reaction() -> Result<(), Error> {
        let (free, held) = (ChaplyginSleigh::default(), HeldSleigh::default());
        let free = Simulation::new(&free, free.start())?.run(METHOD, 10.0)?.state();
        let held = Simulation::new(&held, held.start())?.run(METHOD, 10.0)?.state();
        let distance = (free.x - held.x).hypot(free.y - held.y) + (free.theta - held.theta).abs();
        assert!(distance < 1e-9, "{distance:e}");
        Ok(())
    }

    #[test]
    fn skates_in_circles_if_balanced() -> Result<(), Error> {
        let sleigh = BalancedSleigh::default();
        let time = 5.0;
        let end = Simulation::new(&sleigh, sleigh.start())?.run(METHOD, time)?.state();
        assert!((end.x - time.sin()).abs() < 1e-10 && (end.y - 1.0 + time.cos()).abs() < 1e-10, "{end:?}");
        Ok(())
    }
}
