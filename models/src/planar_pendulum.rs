//! The planar pendulum in Cartesian coordinates: one degree of freedom in R^2 x R^2.
//!
//! Gravity points along -q[1]. The energy is the only invariant besides the constraint and its rate; released at rest from
//! the height of the pivot, the pendulum comes back after 4 K(1/2) sqrt(l/g) = 7.41629870920548767 sqrt(l/g), where K is the
//! complete elliptic integral of the first kind in terms of its parameter k^2. Every method's order can be read off that
//! return.

use fbint_runtime::feedback_system;
use nalgebra::vector;

/// A point mass on a circle of radius `l` under gravity.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    default(m = 1, g = 1, l = 1),
    draw(rod(vector![0, 0], q), pivot(vector![0, 0]), point(q), trace(q)),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct PlanarPendulum {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

impl PlanarPendulum {
    /// The start at rest at the height of the pivot.
    pub fn start(&self) -> PlanarPendulumState {
        PlanarPendulumState { q: vector![self.l, 0.0], p: vector![0.0, 0.0] }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Gains, Method, Simulation};

    use super::*;

    /// 4 K(1/2).
    const PERIOD: f64 = 7.416_298_709_205_487_5;

    #[test]
    fn comes_back_after_its_period() -> Result<(), Error> {
        let pendulum = PlanarPendulum::default();
        assert!(error_after_a_period(&pendulum, PERIOD, 2000)? < 1e-9);
        Ok(())
    }

    #[test]
    fn the_period_scales_with_length_and_gravity() -> Result<(), Error> {
        let pendulum = PlanarPendulum { m: 3.0, g: 9.81, l: 0.5 };
        assert!(error_after_a_period(&pendulum, PERIOD * (pendulum.l / pendulum.g).sqrt(), 1000)? < 1e-5);
        Ok(())
    }

    #[test]
    fn the_error_falls_with_the_fourth_power_of_the_step() -> Result<(), Error> {
        let pendulum = PlanarPendulum::default();
        let ratio = error_after_a_period(&pendulum, PERIOD, 100)? / error_after_a_period(&pendulum, PERIOD, 200)?;
        assert!((3.7..4.3).contains(&ratio.log2()), "order {}", ratio.log2());
        Ok(())
    }

    #[test]
    fn every_integral_stays() -> Result<(), Error> {
        let pendulum = PlanarPendulum::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(1.0))
            .run(Method::Rk4 { h: 1e-3 }, 10.0)?;
        for integral in run.drift().integrals() {
            assert!(integral.max < 1e-10, "{integral:?}");
        }
        Ok(())
    }

    /// The distance of (q, p) from the start after one period in `steps` steps of RK4 with k = 1.
    fn error_after_a_period(pendulum: &PlanarPendulum, period: f64, steps: u32) -> Result<f64, Error> {
        let run = Simulation::new(pendulum, pendulum.start())?
            .gains(Gains::uniform(1.0))
            .run(Method::Rk4 { h: period / f64::from(steps) }, period)?;
        let (start, end) = (pendulum.start(), run.state());
        Ok((end.q - start.q).norm().hypot((end.p - start.p).norm()))
    }
}
