//! The four-bar linkage with a motor on its crank: the same rods and pins, with the forces in them as outputs.

use fbint_runtime::{Error, feedback_system};

use crate::{FourBar, FourBarState};

/// The four-bar linkage with a motor of constant torque on its crank, friction in the motor, and the forces in its rods.
#[feedback_system(
    coordinates(a: [2], b: [2]),
    momenta(pa: [2], pb: [2]),
    define(
        across = vector![-a[1], a[0]] / la.powi(2),
        crank_speed = across.dot(&rate(a)),
        motor = torque - friction * crank_speed,
    ),
    hamiltonian = (pa.norm_squared() + pb.norm_squared()) / (2 * m) + m * g * (a[1] + b[1]),
    constraint(
        crank = a.norm_squared() - la.powi(2),
        coupler = (b - a).norm_squared() - lb.powi(2),
        rocker = (b - vector![ln, 0]).norm_squared() - lc.powi(2),
    ),
    force(pa = motor * across),
    output(
        crank_speed,
        motor,
        crank_tension = -2 * la * multiplier(crank),
        coupler_tension = -2 * lb * multiplier(coupler),
        rocker_tension = -2 * lc * multiplier(rocker),
    ),
    draw(
        guide(vector![0, 0], vector![ln, 0]), rod(vector![0, 0], a, b, vector![ln, 0]),
        pivot(vector![0, 0]), pivot(vector![ln, 0]), point(a), point(b), trace((a + b) / 2),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct DrivenFourBar {
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
    /// The torque of the motor at rest.
    pub torque: f64,
    /// The torque that the motor loses per angular velocity.
    pub friction: f64,
}

impl Default for DrivenFourBar {
    /// The rods of [`FourBar`], and a motor that can turn the crank all the way round.
    fn default() -> Self {
        let FourBar { la, lb, lc, ln, m, g } = FourBar::default();
        Self { la, lb, lc, ln, m, g, torque: 40.0, friction: 2.0 }
    }
}

impl DrivenFourBar {
    /// The start at rest with the crank at 10 degrees.
    ///
    /// # Errors
    ///
    /// If the rods cannot be assembled at that angle.
    pub fn start(&self) -> Result<DrivenFourBarState, Error> {
        let &Self { la, lb, lc, ln, m, g, .. } = self;
        let FourBarState { a, b, pa, pb } = FourBar { la, lb, lc, ln, m, g }.start()?;
        Ok(DrivenFourBarState { a, b, pa, pb, work: 0.0 })
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{FeedbackSystem, Method, PreparedSystem, Projection, Simulation, Vector};

    use super::*;

    const METHOD: Method = Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) };

    /// Without a motor it is the linkage that swings.
    #[test]
    fn without_a_motor_it_is_the_linkage() -> Result<(), Error> {
        let (driven, free) = (DrivenFourBar { torque: 0.0, friction: 0.0, ..Default::default() }, FourBar::default());
        let onto_balance = Projection::default().onto_balance();
        let driven = Simulation::new(&driven, driven.start()?)?.projected(onto_balance).run(METHOD, 2.0)?.state();
        let free = Simulation::new(&free, free.start()?)?.run(METHOD, 2.0)?.state();
        assert!((driven.a - free.a).norm() < 1e-8 && (driven.pb - free.pb).norm() < 1e-7, "{driven:?} {free:?}");
        assert!(driven.work.abs() < 1e-12);
        Ok(())
    }

    /// The tensions are those that hold the pins on their paths: Newton's second law at both, with accelerations from the momenta.
    #[test]
    fn pins_obey_newton() -> Result<(), Error> {
        let system = DrivenFourBar::default();
        let run = Simulation::new(&system, system.start()?)?.run(METHOD, 5.0)?;
        let prepared = system.prepare();
        for sample in run.trajectory() {
            let (state, rates) = (
                DrivenFourBarState::from(sample.state),
                DrivenFourBarState::from(prepared.vector_field(&sample.state)),
            );
            let outputs: Vec<f64> = prepared.outputs(&sample.state).to_vec();
            let [_, motor, crank, coupler, rocker] = outputs[..] else { panic!("five outputs") };
            let DrivenFourBar { la, lb, lc, ln, m, g, .. } = system;
            let (weight, pivot) = (nalgebra::vector![0.0, -m * g], nalgebra::vector![ln, 0.0]);
            let across = nalgebra::vector![-state.a.y, state.a.x] / la.powi(2);
            let along = (state.b - state.a) / lb;
            let on_a = weight + motor * across - crank * state.a / la + coupler * along;
            let on_b = weight - coupler * along - rocker * (state.b - pivot) / lc;
            let error = (on_a - rates.pa).norm().max((on_b - rates.pb).norm());
            assert!(error < 1e-9 * (1.0 + crank.abs() + coupler.abs() + rocker.abs()), "{error:e} at {}", sample.time);
        }
        Ok(())
    }

    /// The crank turns all the way round, and the work of the motor is the energy that the linkage gains.
    #[test]
    fn motor_turns_the_crank() -> Result<(), Error> {
        let system = DrivenFourBar::default();
        let run = Simulation::new(&system, system.start()?)?.run(METHOD, 5.0)?;
        let angles = run.trajectory().iter().map(|sample| sample.state[1].atan2(sample.state[0]));
        let angles: Vec<f64> = angles.collect();
        let turns = angles.windows(2).filter(|pair| pair[0] > 2.0 && pair[1] < -2.0).count();
        assert!(turns >= 3, "{turns} turns");
        assert!(run.drift().integrals().all(|integral| integral.max < 1e-10), "{}", run.drift());
        let energy = |x: &Vector<DrivenFourBar>| {
            let DrivenFourBarState { a, b, pa, pb, .. } = (*x).into();
            (pa.norm_squared() + pb.norm_squared()) / (2.0 * system.m) + system.m * system.g * (a.y + b.y)
        };
        let end = run.state();
        let gained = energy(&end.into()) - energy(&system.start()?.into());
        assert!((gained - end.work).abs() < 1e-10 * gained.abs(), "{gained} {}", end.work);
        Ok(())
    }
}
