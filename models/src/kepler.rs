//! The Kepler problem: a unit mass attracted by a fixed centre, in position x and velocity v.
//!
//! The field is given as CJP16 gives it, and so are its integrals: angular momentum L = x x v and the Laplace-Runge-Lenz vector
//! A = v x L - mu x/|x|, which points to the perihelion and is as long as mu times the eccentricity. They determine the
//! orbit and with it the energy. They are not independent: L . A = 0, so that DF has rank 5 of 6 everywhere.
//!
//! Every bound orbit is an ellipse, run through in 2 pi sqrt(a^3/mu). For a Hamiltonian declaration take
//! [`PerturbedKepler`](crate::PerturbedKepler) with eps = 0.

use fbint_runtime::feedback_system;
use nalgebra::vector;

/// A planet about a fixed sun, with the Laplace-Runge-Lenz vector.
#[feedback_system(
    state(x: [3], v: [3]),
    define(l = x.cross(&v)),
    dynamics(x = v, v = -mu * x / x.norm().powi(3)),
    invariant(angular_momentum = l, laplace_runge_lenz = v.cross(&l) - mu * x / x.norm()),
    default(mu = 1),
    draw(guide(vector![0, 0, 0], x), pivot(vector![0, 0, 0]), point(x), trace(x)),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct Kepler {
    /// The strength of the attraction.
    pub mu: f64,
}

impl Kepler {
    /// The start in the perihelion of an ellipse with semi-major axis 1 and eccentricity 0.6.
    pub fn start(&self) -> KeplerState {
        KeplerState { x: vector![0.4, 0.0, 0.0], v: vector![0.0, 2.0 * self.mu.sqrt(), 0.0] }
    }
}

#[cfg(test)]
mod tests {
    use std::f64::consts::PI;

    use fbint_runtime::{Error, Gains, Method, Run, Simulation};

    use super::*;

    #[test]
    fn comes_back_after_its_period() -> Result<(), Error> {
        let kepler = Kepler { mu: 2.0 };
        let (start, end) = (kepler.start(), run(&kepler, 2.0 * PI / kepler.mu.sqrt())?.state());
        assert!((end.x - start.x).norm() < 1e-8, "x = {}", end.x);
        assert!((end.v - start.v).norm() < 1e-8, "v = {}", end.v);
        Ok(())
    }

    #[test]
    fn is_farthest_after_half_its_period() -> Result<(), Error> {
        let end = run(&Kepler::default(), PI)?.state();
        assert!((end.x - vector![-1.6, 0.0, 0.0]).norm() < 1e-8, "x = {}", end.x);
        assert!((end.v - vector![0.0, -0.5, 0.0]).norm() < 1e-8, "v = {}", end.v);
        Ok(())
    }

    #[test]
    fn the_orbit_keeps_its_plane_its_axis_and_its_shape() -> Result<(), Error> {
        for integral in run(&Kepler::default(), 2.0 * PI)?.drift().integrals() {
            assert!(integral.max < 1e-9, "{integral:?}");
        }
        Ok(())
    }

    fn run(kepler: &Kepler, until: f64) -> Result<Run<Kepler>, Error> {
        Simulation::new(kepler, kepler.start())?.gains(Gains::uniform(1.0)).run(Method::Rk4 { h: 1e-3 }, until)
    }
}
