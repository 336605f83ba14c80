//! Kapitza's pendulum: its pivot vibrates, and it stands upright. The pivot is a constraint that moves.

use fbint_runtime::feedback_system;
use nalgebra::{Vector2, vector};

/// A pendulum whose pivot vibrates vertically, in Cartesian coordinates.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    time(t),
    define(pivot = vector![0, amplitude * (frequency * t).cos()]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = (q - pivot).norm_squared() - l.powi(2)),
    output(tension = -2 * l * multiplier(length)),
    default(m = 1, l = 1, g = 9.81, amplitude = 0.1, frequency = 100),
    draw(guide(vector![0, -amplitude], vector![0, amplitude]), rod(pivot, q), pivot(pivot), point(q), trace(q)),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct KapitzaPendulum {
    /// The mass.
    pub m: f64,
    /// The length of the rod.
    pub l: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The amplitude of the vibration.
    pub amplitude: f64,
    /// The angular frequency of the vibration.
    pub frequency: f64,
}

impl KapitzaPendulum {
    /// The start near the upper equilibrium, at rest, where the pivot is highest: there, the fast part of the motion is at rest, too.
    pub fn start(&self) -> KapitzaPendulumState {
        let (sine, cosine) = 0.1_f64.sin_cos();
        let q = vector![self.l * sine, self.amplitude + self.l * cosine];
        KapitzaPendulumState { q, p: Vector2::zeros(), t: 0.0, work: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    /// The period of the slow oscillation about the upper equilibrium is 2 pi / sqrt((a w)^2 / (2 l^2) - g / l), to first order in
    /// a / l (Landau and Lifshitz, *Mechanics*, section 30).
    #[test]
    fn it_stands_upright() -> Result<(), Error> {
        let system = KapitzaPendulum { amplitude: 0.02, frequency: 500.0, ..Default::default() };
        let run = Simulation::new(&system, system.start())?.run(Method::Rk4 { h: 1e-4 }, 4.0)?;
        let angle = |sample: &fbint_runtime::Sample<KapitzaPendulum>| {
            let state = KapitzaPendulumState::from(sample.state);
            let pivot = system.amplitude * (system.frequency * sample.time).cos();
            state.q.x.atan2(state.q.y - pivot)
        };
        let angles: Vec<(f64, f64)> = run.trajectory().iter().map(|sample| (sample.time, angle(sample))).collect();
        assert!(angles.iter().all(|(_, angle)| angle.abs() < 0.12), "it falls");
        let rise = (system.amplitude * system.frequency).powi(2) / (2.0 * system.l.powi(2)) - system.g / system.l;
        let period = 2.0 * std::f64::consts::PI / rise.sqrt();
        // Half a period after the start it is on the other side, and after a whole one where it began.
        let near = |time: f64| {
            let around = angles.iter().filter(|(at, _)| (at - time).abs() < 0.05);
            let angles: Vec<f64> = around.map(|(_, angle)| *angle).collect();
            angles.iter().sum::<f64>() / angles.len() as f64
        };
        assert!((near(period / 2.0) + 0.1).abs() < 0.01 && (near(period) - 0.1).abs() < 0.01);
        Ok(())
    }
}
