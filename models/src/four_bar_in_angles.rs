//! The four-bar linkage as textbooks state it: three relative angles, and point masses at the two moving joints alone.
//!
//! The crank's angle is measured from the line of the fixed pivots, the coupler's from the crank and the rocker's from the coupler. The
//! rods keep their lengths in any state, and two constraints close the loop. Nothing that moves with the rocker's angle has a mass: the loop
//! determines it.

use fbint_runtime::{Error, feedback_system};

use crate::{FourBar, FourBarState};

/// The four-bar linkage in three relative angles, two of them determined by the loop.
#[feedback_system(
    coordinates(q: [3]),
    velocities(w: [3]),
    define(
        a = la * vector![q[0].cos(), q[0].sin()],
        b = a + lb * vector![(q[0] + q[1]).cos(), (q[0] + q[1]).sin()],
        end = b + lc * vector![(q[0] + q[1] + q[2]).cos(), (q[0] + q[1] + q[2]).sin()],
    ),
    lagrangian = m * (rate(a).norm_squared() + rate(b).norm_squared()) / 2 - m * g * (a[1] + b[1]),
    constraint(closed = end - vector![ln, 0]),
    output(a, b, pull = multiplier(closed)),
    default(la = 0.8, lb = 2, lc = 1, ln = 2, m = 1, g = 9.81),
    draw(
        guide(vector![0, 0], vector![ln, 0]), rod(vector![0, 0], a, b, end),
        pivot(vector![0, 0]), pivot(vector![ln, 0]), point(a), point(b), trace((a + b) / 2),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct FourBarInAngles {
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

impl FourBarInAngles {
    /// The start of [`FourBar`], at rest with the crank at 10 degrees.
    ///
    /// # Errors
    ///
    /// If the rods cannot be assembled at that angle.
    pub fn start(&self) -> Result<FourBarInAnglesState, Error> {
        let &Self { la, lb, lc, ln, m, g } = self;
        let FourBarState { a, b, .. } = FourBar { la, lb, lc, ln, m, g }.start()?;
        let (coupler, rocker) = (b - a, nalgebra::vector![ln, 0.0] - b);
        let [crank, coupler, rocker] = [a, coupler, rocker].map(|rod| rod.y.atan2(rod.x));
        let q = nalgebra::vector![crank, coupler - crank, rocker - coupler];
        Ok(FourBarInAnglesState { q, w: nalgebra::Vector3::zeros() })
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{FeedbackSystem, Method, PreparedSystem, Simulation, Vector};

    use super::*;

    const METHOD: Method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };

    /// The pins of both formulations are in the same places, and the rocker pulls its pin by the same force.
    #[test]
    fn moves_as_the_cartesian_linkage() -> Result<(), Error> {
        let (in_angles, cartesian) = (FourBarInAngles::default(), FourBar::default());
        for until in [0.7, 2.5] {
            let end = Simulation::new(&in_angles, in_angles.start()?)?.run(METHOD, until)?.state();
            let outputs = in_angles.prepare().outputs(&end.into());
            let end = Simulation::new(&cartesian, cartesian.start()?)?.run(METHOD, until)?.state();
            let multipliers = cartesian.prepare().multipliers(&Vector::<FourBar>::from(end));
            let pull = 2.0 * multipliers[2] * (end.b - nalgebra::vector![cartesian.ln, 0.0]);
            let expected = [end.a, end.b, pull].map(|entries| [entries.x, entries.y]).concat();
            let close = |(found, expected): (&f64, &f64)| (found - expected).abs() < 1e-8;
            assert!(outputs.iter().zip(&expected).all(close), "{outputs:?} are not {expected:?} at {until}");
        }
        Ok(())
    }

    /// The loop stays closed for as long as the energy stays.
    #[test]
    fn loop_and_energy_stay() -> Result<(), Error> {
        let linkage = FourBarInAngles::default();
        let run = Simulation::new(&linkage, linkage.start()?)?.run(METHOD, 30.0)?;
        assert!(run.drift().integrals().all(|integral| integral.max < 1e-12), "{}", run.drift());
        Ok(())
    }

    #[test]
    fn rods_that_cannot_meet_are_refused() {
        let linkage = FourBarInAngles { lb: 0.1, ..FourBarInAngles::default() };
        assert!(matches!(linkage.start(), Err(Error::NoConsistentStart { .. })));
    }
}
