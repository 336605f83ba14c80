//! The nonholonomic oscillator: a particle in a harmonic potential of x and y with z' = y x' (R. McLachlan and M. Perlmutter, *Integrators
//! for nonholonomic mechanical systems*, J. Nonlinear Sci. 16 (2006) 283).
//!
//! y oscillates alone, and so the energy of x and z is conserved, too.

use fbint_runtime::feedback_system;

/// A particle in a harmonic potential that rises with x in proportion to y.
#[feedback_system(
    coordinates(x, y, z),
    velocities(vx, vy, vz),
    lagrangian = (vx.powi(2) + vy.powi(2) + vz.powi(2)) / 2 - k * (x.powi(2) + y.powi(2)) / 2,
    velocity_constraint(contact = vz - y * vx),
    invariant(energy_of_y = (vy.powi(2) + k * y.powi(2)) / 2),
    default(k = 1),
    draw(
        guide(vector![x, y, 0], vector![x, y, z]), pivot(vector![0, 0, 0]), point(vector![x, y, z]), trace(vector![x, y, z]),
        trace(vector![x, y, 0]), spring(vector![0, 0, 0], vector![x, y, 0]),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct NonholonomicOscillator {
    /// The stiffness of the potential, for a unit mass.
    pub k: f64,
}

impl NonholonomicOscillator {
    /// The start at rest.
    pub fn start(&self) -> NonholonomicOscillatorState {
        NonholonomicOscillatorState { x: 1.0, y: 1.0, z: 0.0, vx: 0.0, vy: 0.0, vz: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    #[test]
    fn y_oscillates_by_itself() -> Result<(), Error> {
        let oscillator = NonholonomicOscillator { k: 2.0 };
        let time: f64 = 9.0;
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let end = Simulation::new(&oscillator, oscillator.start())?.run(method, time)?.state();
        assert!((end.y - (2.0_f64.sqrt() * time).cos()).abs() < 1e-9, "{end:?}");
        Ok(())
    }
}
