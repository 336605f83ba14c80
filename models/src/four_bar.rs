//! The four-bar linkage: crank, coupler and rocker between two fixed pivots, one degree of freedom in R^4 x R^4.
//!
//! The crank turns about the origin, the rocker about (ln, 0); point masses sit at the crank pin a and the rocker pin b.
//! Gravity points along -a[1] and -b[1]. A linkage has several assemblies for one crank angle, so a start is found near a
//! guess: the crank is given, and the runtime moves the rocker pin onto the constraints.
//!
//! Released at rest at 10 degrees, with the default parameters, the crank swings to -197.65 degrees and comes back after
//! 3.11675650... The three lengths, their rates and the energy must stay.

use fbint_runtime::{ConsistentStart, Error, feedback_system};
use nalgebra::{Vector2, vector};

/// Crank, coupler and rocker: two point masses, three rods, one degree of freedom.
#[feedback_system(
    coordinates(a: [2], b: [2]),
    momenta(pa: [2], pb: [2]),
    hamiltonian = (pa.norm_squared() + pb.norm_squared()) / (2 * m) + m * g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - la.powi(2),
        coupler = (b - a).norm_squared() - lb.powi(2),
        rocker = (b - vector![ln, 0]).norm_squared() - lc.powi(2),
    ),
    default(la = 0.8, lb = 2, lc = 1, ln = 2, m = 1, g = 9.81),
    draw(
        guide(vector![0, 0], vector![ln, 0]), rod(vector![0, 0], a, b, vector![ln, 0]),
        pivot(vector![0, 0]), pivot(vector![ln, 0]), point(a), point(b), trace((a + b) / 2),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct FourBar {
    /// The length of the crank.
    pub la: f64,
    /// The length of the coupler.
    pub lb: f64,
    /// The length of the rocker.
    pub lc: f64,
    /// The distance between the fixed pivots.
    pub ln: f64,
    /// The mass of each pin.
    pub m: f64,
    /// The acceleration of gravity.
    pub g: f64,
}

impl FourBar {
    /// The start at rest with the crank at 10 degrees.
    ///
    /// # Errors
    ///
    /// If the rods cannot be assembled at that angle.
    pub fn start(&self) -> Result<FourBarState, Error> {
        self.start_at(10_f64.to_radians())
    }

    /// The start at rest with the crank at an angle in radians, in the assembly in which the rocker leans outwards.
    ///
    /// # Errors
    ///
    /// If the rods cannot be assembled at that angle.
    pub fn start_at(&self, crank_angle: f64) -> Result<FourBarState, Error> {
        let (sin, cos) = crank_angle.sin_cos();
        let leaning = std::f64::consts::FRAC_1_SQRT_2 * self.lc;
        let guess = FourBarState {
            a: vector![self.la * cos, self.la * sin],
            b: vector![self.ln + leaning, leaning],
            pa: Vector2::zeros(),
            pb: Vector2::zeros(),
        };
        ConsistentStart::new(self).hold(&["a"])?.solve(guess)
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Gains, Method, Run, Simulation};

    use super::*;

    /// The period of the motion from rest at 10 degrees with the default parameters.
    const PERIOD: f64 = 3.116_756_503_016_486;
    /// The crank angle at which the motion from rest turns around.
    const TURNING_POINT: f64 = -3.449_652_414_960_088_6;

    #[test]
    fn the_start_closes_the_loop() -> Result<(), Error> {
        let start = FourBar::default().start()?;
        let expected = vector![2.704_737_832_557_281_3, 0.709_467_819_821_636_2];
        assert!((start.b - expected).norm() < 1e-14, "b = {}", start.b);
        assert_eq!((start.pa, start.pb), (Vector2::zeros(), Vector2::zeros()));
        Ok(())
    }

    #[test]
    fn rods_that_cannot_meet_are_refused() {
        let linkage = FourBar { lb: 0.1, ..FourBar::default() };
        assert!(matches!(linkage.start(), Err(Error::NoConsistentStart { .. })));
    }

    #[test]
    fn comes_back_after_its_period() -> Result<(), Error> {
        let linkage = FourBar::default();
        let (start, end) = (linkage.start()?, run(&linkage, PERIOD)?.state());
        let differences = [end.a - start.a, end.b - start.b, end.pa - start.pa, end.pb - start.pb];
        let distance = differences.iter().map(|difference| difference.norm_squared()).sum::<f64>().sqrt();
        assert!(distance < 1e-7, "off by {distance}");
        Ok(())
    }

    #[test]
    fn rests_at_the_other_turning_point_after_half_its_period() -> Result<(), Error> {
        let end = run(&FourBar::default(), PERIOD / 2.0)?.state();
        let expected = 0.8 * vector![TURNING_POINT.cos(), TURNING_POINT.sin()];
        assert!((end.a - expected).norm() < 1e-7, "a = {}", end.a);
        assert!(end.pa.norm().max(end.pb.norm()) < 1e-6, "pa = {}, pb = {}", end.pa, end.pb);
        Ok(())
    }

    #[test]
    fn lengths_and_energy_stay() -> Result<(), Error> {
        for integral in run(&FourBar::default(), PERIOD)?.drift().integrals() {
            assert!(integral.max < 1e-6, "{integral:?}");
        }
        Ok(())
    }

    fn run(linkage: &FourBar, until: f64) -> Result<Run<FourBar>, Error> {
        Simulation::new(linkage, linkage.start()?)?.gains(Gains::uniform(1.0)).run(Method::Rk4 { h: 1e-3 }, until)
    }
}
