//! Runs that lose what they must keep fail, and runs whose terms grow do not.

use super::models::{SPHERICAL_PENDULUM, SphericalPendulum};
use fbint_runtime::{Cause, Error, Gains, Method, Simulation, feedback_system};

/// A mass on a circle of radius `l`.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
)]
pub(crate) struct Heavy {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// A mass on a parabola, whose constraint has no terms at the origin.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2,
    constraint(parabola = q[1] - q[0].powi(2)),
)]
pub(crate) struct Parabola;

fn fixed(h: f64) -> [Method; 4] {
    [Method::Euler { h }, Method::Midpoint { h }, Method::Heun { h }, Method::Rk4 { h }]
}

/// With a step of many radians the state is nowhere near the sphere: no run of it succeeds, one long step or several.
#[test]
fn steps_too_long_to_stay_on_a_constraint_fail() {
    for method in [20.0, 10.0, 5.0, 4.0, 3.0].into_iter().flat_map(fixed) {
        let simulation = || Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap();
        let failed = |run: Result<_, Error>| matches!(run, Err(Error::Failed(_)));
        assert!(failed(simulation().without_feedback().run(method, 20.0)), "{method:?}, plain");
        assert!(failed(simulation().gains(Gains::uniform(5.0)).unaudited().run(method, 20.0)), "{method:?}, feedback");
    }
}

/// At rest the rate of a constraint has no terms, and in the origin of the potential the energy has none: both grow.
#[test]
fn terms_that_grow_from_nothing_are_not_a_failure() {
    for m in [1e-6, 1.0, 1e6, 1e12] {
        let heavy = Heavy { m, g: 9.81, l: 100.0 };
        let start = || Simulation::new(&heavy, [100.0, 0.0, 0.0, 0.0]).unwrap();
        start().run(Method::Rk4 { h: 0.1 }, 60.0).unwrap();
        start().without_feedback().run(Method::Rk4 { h: 0.1 }, 60.0).unwrap();
    }
    let far = Simulation::new(&Parabola, [0.0, 0.0, 1.0, 0.0]).unwrap().without_feedback();
    far.run(Method::Rk4 { h: 0.5 }, 1e4).unwrap();
}

#[test]
fn the_failure_names_the_integral_that_is_lost() {
    let simulation = Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap();
    let Err(Error::Failed(failure)) = simulation.without_feedback().run(Method::Euler { h: 3.0 }, 20.0) else {
        panic!("no failure")
    };
    let Cause::Growth { integral, .. } = failure.cause else { panic!("{failure}") };
    assert!(["length", "length_rate"].contains(&integral), "{failure}");
    assert_eq!(failure.trajectory[0].0, 0.0);
}

#[test]
fn parameters_that_may_be_the_reason_are_named() {
    let refusal = |m: f64, g: f64| {
        let error = Simulation::new(&Heavy { m, g, l: 1.0 }, [1.0, 0.0, 0.0, 0.0]).unwrap_err();
        let parameters: Vec<_> = match &error {
            Error::Integral { extremes, .. } | Error::Rate { extremes, .. } => extremes.parameters().collect(),
            other => panic!("{other}"),
        };
        (parameters, error.to_string())
    };
    for m in [0.0, -0.0, 1e-320, 1e300] {
        let (parameters, message) = refusal(m, 9.81);
        assert_eq!(parameters, [("m", m)], "{message}");
        assert!(message.contains(&format!("at the start, perhaps because of `m` = {m:?}")), "{message}");
    }
    let (parameters, message) = refusal(0.0, 0.0);
    assert_eq!(parameters, [("m", 0.0), ("g", 0.0)]);
    assert!(message.contains("perhaps because of `m` = 0.0, `g` = 0.0:"), "{message}");
}
