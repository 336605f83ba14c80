//! A pendulum with friction and a motor whose torque oscillates: what drives it and what it loses are integrated along.

use std::f64::consts::PI;

use fbint_runtime::feedback_system;

/// A pendulum with friction and a motor at its pivot, whose torque oscillates.
#[feedback_system(
    coordinates(angle),
    momenta(p),
    time(t),
    define(energy = p.powi(2) / (2 * m * l.powi(2)) - m * g * l * angle.cos()),
    hamiltonian = energy,
    force(p = torque * (frequency * t).cos() - damping * rate(angle)),
    output(energy),
    derivatives,
    // The motion is chaotic: with m = l = g = 1 the torque is 1.15 m g l at two thirds of the frequency of small oscillations.
    default(m = 1, l = 1, g = 1, damping = 0.5, torque = 1.15, frequency = 2 / 3),
    draw(
        rod(vector![0, 0], vector![l * angle.sin(), -l * angle.cos()]), pivot(vector![0, 0]), point(vector![l * angle.sin(), -l * angle.cos()]), trace(vector![l * angle.sin(), -l * angle.cos()]),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct DrivenPendulum {
    /// The mass.
    pub m: f64,
    /// The length of the rod.
    pub l: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The torque of friction per angular velocity.
    pub damping: f64,
    /// The amplitude of the motor's torque.
    pub torque: f64,
    /// The angular frequency of the motor's torque.
    pub frequency: f64,
}

impl DrivenPendulum {
    /// The start at a right angle, at rest.
    pub fn start(&self) -> DrivenPendulumState {
        DrivenPendulumState { angle: PI / 2.0, p: 0.0, t: 0.0, work: 0.0 }
    }

    /// The period of small oscillations without friction.
    pub fn period(&self) -> f64 {
        2.0 * PI * (self.l / self.g).sqrt()
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    /// Without a motor, friction takes what energy there is.
    #[test]
    fn friction_takes_the_energy() -> Result<(), Error> {
        let system = DrivenPendulum { torque: 0.0, ..Default::default() };
        let method = Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) };
        let end = Simulation::new(&system, system.start())?.run(method, 100.0)?.state();
        let DrivenPendulum { m, l, g, .. } = system;
        assert!(end.angle.abs() < 1e-9 && (end.work + m * g * l).abs() < 1e-9, "{end:?}");
        Ok(())
    }

    /// Over a thousand periods: with error control alone, and with the projection of the default.
    #[test]
    fn the_balance_holds_over_a_thousand_periods() -> Result<(), Error> {
        let method = Method::Dop853 { rtol: 1e-10, atol: Some(1e-12) };
        let until = 1000.0 * DrivenPendulum::default().period();
        let damped = DrivenPendulum { torque: 0.0, damping: 1e-2, ..Default::default() };
        for (system, of_plain) in [(damped, 1e-9), (DrivenPendulum::default(), 1e-7)] {
            let plain = Simulation::new(&system, system.start())?.without_feedback().run(method, until)?;
            let projected = Simulation::new(&system, system.start())?.run(method, until)?;
            let [plain, projected] = [plain, projected].map(|run| run.drift().get("energy_balance").map(|it| it.max));
            assert!(plain < Some(of_plain) && projected < Some(1e-13), "{plain:?} {projected:?}");
        }
        Ok(())
    }
}
