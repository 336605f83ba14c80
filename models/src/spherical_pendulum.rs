//! The spherical pendulum: a point mass on a sphere under gravity, two degrees of freedom in R^3 x R^3.
//!
//! Gravity points along -q[2]. Energy and vertical momentum are conserved, which makes the motion integrable: the height
//! q[2] oscillates between two roots of the cubic 2 m g (E/(m g) - z)(l^2 - z^2) = J^2 / m, here with period 3.52849923...
//! The rod pulls with |p|^2/(m l) - m g q[2]/l.
//!
//! The pendulum is declared twice. [`SphericalPendulum`] names its constraint and leaves the rest to the derivation;
//! [`SphericalPendulumCpv22`] gives the two functions f1, f2 that CPV22 works with, so that its published figures can be
//! compared number by number. f2 is the derived partner of `length` times m / 2: the Dirac-extended fields are equal, and
//! only the weight of that term in V differs.

use fbint_runtime::feedback_system;
use nalgebra::vector;

/// A point mass on a sphere of radius `l` under gravity.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2)),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
    output(tension = -2 * l * multiplier(length)),
    default(m = 1, g = 1, l = 1),
    draw(
        circle(vector![0, 0, 0], l, vector![1, 0, 0]), circle(vector![0, 0, 0], l, vector![0, 1, 0]), circle(vector![0, 0, 0], l, vector![0, 0, 1]),
        rod(vector![0, 0, 0], q), pivot(vector![0, 0, 0]), point(q), trace(q),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct SphericalPendulum {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

impl SphericalPendulum {
    /// The start of CPV22: at the height of the pivot, moving sideways and up.
    pub fn start(&self) -> SphericalPendulumState {
        SphericalPendulumState { q: vector![0.0, self.l, 0.0], p: vector![1.0, 0.0, 1.0] }
    }
}

/// A spherical pendulum with the constraint functions |q|^2 - l^2 and q . p of CPV22.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    phase_constraint(f1 = q.norm_squared() - l.powi(2), f2 = q.dot(&p)),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
    default(m = 1, g = 1, l = 1),
    draw(
        circle(vector![0, 0, 0], l, vector![1, 0, 0]), circle(vector![0, 0, 0], l, vector![0, 1, 0]), circle(vector![0, 0, 0], l, vector![0, 0, 1]),
        rod(vector![0, 0, 0], q), pivot(vector![0, 0, 0]), point(q), trace(q),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct SphericalPendulumCpv22 {
    /// The mass.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The length.
    pub l: f64,
}

impl SphericalPendulumCpv22 {
    /// The start of CPV22: at the height of the pivot, moving sideways and up.
    pub fn start(&self) -> SphericalPendulumCpv22State {
        SphericalPendulumCpv22State { q: vector![0.0, self.l, 0.0], p: vector![1.0, 0.0, 1.0] }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, FeedbackSystem, Gains, Method, PreparedSystem, Simulation};

    use super::*;

    /// The time from one upward passage of the pivot's height to the next, by elliptic integrals.
    const PERIOD_OF_HEIGHT: f64 = 3.528_499_232_484_115;
    /// The roots between which the height oscillates.
    const HEIGHTS: [f64; 2] = [-0.854_637_679_718_414_6, 0.403_031_717_626_846_8];

    #[test]
    fn height_comes_back_after_its_period() -> Result<(), Error> {
        let pendulum = SphericalPendulum::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(1.0))
            .run(Method::Rk4 { h: 1e-3 }, PERIOD_OF_HEIGHT)?;
        assert!(run.state().q[2].abs() < 1e-10, "q[2] = {}", run.state().q[2]);
        assert!((run.state().p[2] - 1.0).abs() < 1e-10, "p[2] = {}", run.state().p[2]);
        for integral in run.drift().integrals() {
            assert!(integral.max < 1e-10, "{integral:?}");
        }
        Ok(())
    }

    #[test]
    fn height_stays_between_its_turning_points() -> Result<(), Error> {
        let pendulum = SphericalPendulum::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(1.0))
            .record_every(1e-3)
            .run(Method::Rk4 { h: 1e-3 }, 2.0 * PERIOD_OF_HEIGHT)?;
        let heights = || run.trajectory().iter().map(|sample| sample.state[2]);
        let (lowest, highest) = (heights().fold(f64::MAX, f64::min), heights().fold(f64::MIN, f64::max));
        assert!((lowest - HEIGHTS[0]).abs() < 1e-6 && (highest - HEIGHTS[1]).abs() < 1e-6, "{lowest} .. {highest}");
        Ok(())
    }

    #[test]
    fn euler_with_feedback_drifts_as_published() -> Result<(), Error> {
        let pendulum = SphericalPendulumCpv22::default();
        let run = Simulation::new(&pendulum, pendulum.start())?
            .gains(Gains::uniform(50.0))
            .run(Method::Euler { h: 1e-3 }, 100.0)?;
        let published = [4.56e-5, 1.79e-5, 4.89e-5, 1.49e-5];
        for (integral, published) in run.drift().integrals().zip(published) {
            assert!((integral.max / published - 1.0).abs() < 0.01, "{integral:?}, published {published:e}");
        }
        Ok(())
    }

    #[test]
    fn the_rod_carries_weight_and_centrifugal_force() {
        let (m, g, l) = (1.3, 9.81, 0.7);
        let pendulum = SphericalPendulum { m, g, l };
        for step in 0..100 {
            let (sin, cos) = f64::from(step).sin_cos();
            let (polar, momentum) = (0.03 * f64::from(step), 0.1 * f64::from(step) - 4.0);
            let q = l * vector![polar.sin() * cos, polar.sin() * sin, polar.cos()];
            let p = momentum * vector![polar.cos() * cos, polar.cos() * sin, -polar.sin()] + vector![-sin, cos, 0.0];
            let [tension] = pendulum.prepare().outputs(&SphericalPendulumState { q, p }.into());
            let expected = p.norm_squared() / (m * l) - m * g * q[2] / l;
            assert!((tension - expected).abs() < 1e-12 * expected.abs().max(m * g), "{tension}, not {expected}");
        }
    }

    #[test]
    fn both_declarations_have_one_field() {
        let (named, given) = (SphericalPendulum::default(), SphericalPendulumCpv22::default());
        // Off the constraint set, where two extensions of the same motion could still differ.
        let x = [0.3, -0.8, 0.4, 0.9, 0.2, -0.5];
        for (named, given) in named.prepare().vector_field(&x).iter().zip(given.prepare().vector_field(&x)) {
            assert!((named - given).abs() < 1e-14, "{named}, {given}");
        }
    }
}
