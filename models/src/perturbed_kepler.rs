//! The perturbed Kepler problem: a unit mass in the potential U = -mu/r - eps/(2 r^3), as about an oblate sun or, to first
//! order, in general relativity.
//!
//! Energy and angular momentum stay; the Laplace-Runge-Lenz vector does not, and the perihelion advances: with the default
//! parameters by 6.92 degrees a turn, every 5.61294993... Since the mass is 1, the momentum is the velocity v. With eps = 0 this
//! is the Kepler problem as a Hamiltonian system with H = T(v) + U(x).

use fbint_runtime::feedback_system;
use nalgebra::vector;

/// A planet about a fixed sun with an additional attraction that makes its perihelion advance.
#[feedback_system(
    coordinates(x: [3]),
    momenta(v: [3]),
    hamiltonian = v.norm_squared() / 2 - mu / x.norm() - eps / (2 * x.norm().powi(3)),
    invariant(angular_momentum = x.cross(&v)),
    default(mu = 1, eps = 0.005),
    draw(guide(vector![0, 0, 0], x), pivot(vector![0, 0, 0]), point(x), trace(x)),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct PerturbedKepler {
    /// The strength of the attraction.
    pub mu: f64,
    /// The strength of the perturbation.
    pub eps: f64,
}

impl PerturbedKepler {
    /// The start in the perihelion of what would be, without perturbation, an ellipse with semi-major axis 1 and eccentricity 0.6.
    pub fn start(&self) -> PerturbedKeplerState {
        PerturbedKeplerState { x: vector![0.4, 0.0, 0.0], v: vector![0.0, 2.0 * self.mu.sqrt(), 0.0] }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Gains, Method, PreparedSystem, Simulation};

    use super::*;
    use crate::Kepler;

    /// The time from one perihelion to the next with the default parameters, by quadrature.
    const PERIOD: f64 = 5.612_949_934_780_881;
    /// The angle from one perihelion to the next.
    const ANGLE: f64 = 6.404_131_526_176_024;

    #[test]
    fn the_perihelion_advances() -> Result<(), Error> {
        let kepler = PerturbedKepler::default();
        let run = Simulation::new(&kepler, kepler.start())?
            .gains(Gains::uniform(1.0))
            .run(Method::Rk4 { h: 1e-3 }, PERIOD)?;
        let (sin, cos) = ANGLE.sin_cos();
        let (x, v) = (vector![0.4 * cos, 0.4 * sin, 0.0], vector![-2.0 * sin, 2.0 * cos, 0.0]);
        assert!((run.state().x - x).norm() < 1e-8, "x = {}", run.state().x);
        assert!((run.state().v - v).norm() < 1e-8, "v = {}", run.state().v);
        for integral in run.drift().integrals() {
            assert!(integral.max < 1e-8, "{integral:?}");
        }
        Ok(())
    }

    #[test]
    fn without_perturbation_it_is_the_kepler_problem() {
        let x = [0.3, -0.8, 0.4, 0.9, 0.2, -0.5];
        let perturbed = PerturbedKepler { mu: 1.3, eps: 0.0 }.prepare().vector_field(&x);
        for (perturbed, plain) in perturbed.iter().zip(Kepler { mu: 1.3 }.prepare().vector_field(&x)) {
            assert!((perturbed - plain).abs() < 1e-15, "{perturbed}, {plain}");
        }
    }
}
