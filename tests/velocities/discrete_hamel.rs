//! The discrete Hamel integrator: what it keeps exactly, its order and symmetry, and its errors.

use fbint_runtime::{
    DiscreteHamel, Entries, Error, GeneratedSystem, HamelSystem, Method, PreparedSystem, Projection, Settings,
    Simulation, Snapshot, StepFailure, Vector,
};
use nalgebra::vector;

use super::systems::*;

const BALANCED: BalancedSleigh = BalancedSleigh { m: 1.0, j: 1.0 };

fn skating() -> BalancedSleighState {
    BalancedSleighState { x: 0.0, y: 0.0, theta: 0.0, omega: 1.0, v: 1.0 }
}

fn spinning() -> DegeneratePendulumState {
    DegeneratePendulumState { gamma: vector![0.0, -1.0, 0.0], xi: vector![1.0, 1.0] }
}

/// The largest change of each integral over some steps.
fn drift<S: HamelSystem + GeneratedSystem>(system: &S, start: impl Into<Vector<S>>, h: f64, steps: usize) -> Vec<f64> {
    let mut integrator = DiscreteHamel::new(system, start).expect("a finite start");
    let prepared = system.prepare();
    let first = prepared.integrals(integrator.state());
    let mut largest = vec![0.0_f64; S::FACTS.integrals.len()];
    for _ in 0..steps {
        integrator.step(h).expect("the step is short");
        let now = prepared.integrals(integrator.state());
        largest.iter_mut().enumerate().for_each(|(i, most)| *most = most.max((now[i] - first[i]).abs()));
    }
    largest
}

/// Energy, vertical momentum and length are quadratic in (q, p).
#[test]
fn degenerate_pendulum_keeps_everything() {
    let pendulum = DegeneratePendulum { m: 1.0, g: 1.0, r: 1.0 };
    for (h, bound) in [(0.1, 3e-15), (0.05, 2e-14), (0.01, 2e-14), (0.2, 2e-14)] {
        let drift = drift(&pendulum, spinning(), h, 10_000);
        println!("h = {h}: {drift:?}");
        assert!(drift.iter().all(|change| *change <= bound), "h = {h}: {drift:?}");
    }
}

/// Speed and rate do not change by a bit, and all nodes lie on the circle of radius h / (2 sin(h / 2)).
#[test]
fn balanced_sleigh_skates_in_a_circle() {
    let h: f64 = 0.1;
    let radius = h / (2.0 * (h / 2.0).sin());
    let mut sleigh = DiscreteHamel::new(&BALANCED, skating()).expect("a finite start");
    let mut nodes = vec![[0.0, 0.0]];
    for _ in 0..10_000 {
        sleigh.step(h).expect("the step is short");
        let state = BalancedSleighState::from(*sleigh.state());
        assert_eq!((state.omega, state.v), (1.0, 1.0));
        nodes.push([state.x, state.y]);
    }
    // The first chord has the heading of its middle, h / 2, so that the centre is straight to the left of the start.
    let distance = |[x, y]: &[f64; 2]| (x.hypot(y - radius) - radius).abs();
    let farthest = nodes.iter().map(distance).fold(0.0, f64::max);
    println!("distance from the circle {farthest:e}, iterations {}", sleigh.iterations());
    assert!(farthest < 1e-11, "{farthest:e}");
}

/// Close to the relative equilibrium (omega, v) = (0, v), a step multiplies omega by (1 - kappa h/2) / (1 + kappa h/2).
#[test]
fn relative_equilibria_keep_their_stability() {
    let (m, j, a) = (2.0, 0.7, 0.3);
    let sleigh = ChaplyginSleigh { m, j, a };
    for v in [-1.3, 0.8] {
        for h in [0.01, 0.1, 0.5, 1.0, 2.0] {
            let omega = 1e-7;
            let start = ChaplyginSleighState { x: 0.0, y: 0.0, theta: 0.3, omega, v };
            let mut integrator = DiscreteHamel::new(&sleigh, start).expect("a finite start");
            integrator.step(h).expect("the step is short");
            let end = ChaplyginSleighState::from(*integrator.state());
            let kappa = m * a * v / (j + m * a * a);
            let expected = (1.0 - kappa * h / 2.0) / (1.0 + kappa * h / 2.0);
            assert!((end.omega / omega - expected).abs() < 1e-6 * expected.abs(), "v = {v}, h = {h}");
            assert_eq!(expected.abs() < 1.0, v > 0.0);
        }
    }
}

/// The error of the configuration at a time falls with the square of the step.
fn order<S: HamelSystem + GeneratedSystem>(system: &S, start: Vector<S>) {
    let end = 1.0;
    let exact = Simulation::new(system, start).expect("a consistent start");
    let exact = exact.run(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) }, end).expect("a smooth motion");
    let exact: Vector<S> = exact.state().clone().into();
    let error = |steps: u32| {
        let h = end / f64::from(steps);
        let mut integrator = DiscreteHamel::new(system, start).expect("a finite start");
        (0..steps).for_each(|_| integrator.step(h).expect("the step is short"));
        let square = |(a, b): (&f64, &f64)| (a - b).powi(2);
        integrator.state().as_ref().iter().zip(exact.as_ref()).map(square).sum::<f64>().sqrt()
    };
    let order = (error(20) / error(40)).log2();
    assert!((order - 2.0).abs() < 0.05, "{}: {order}", S::FACTS.name);
}

#[test]
fn order_is_two() {
    let sleigh = ChaplyginSleigh { m: 2.0, j: 0.7, a: 0.3 };
    order(&sleigh, ChaplyginSleighState { x: 0.0, y: 0.0, theta: 0.2, omega: 1.0, v: -1.0 }.into());
    order(&DegeneratePendulum { m: 1.0, g: 1.0, r: 1.0 }, spinning().into());
    order(&HamelPendulum { m: 1.0, g: 1.0, l: 1.0 }, HamelPendulumState { x: 1.0, y: 0.0, turn: 0.0 }.into());
    let cart = CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 };
    order(&cart, CartPendulumState { s: 0.1, theta: 2.0, v: 0.3, omega: 0.0 }.into());
}

/// A step back leads to where it began.
#[test]
fn steps_are_symmetric() {
    let sleigh = ChaplyginSleigh { m: 2.0, j: 0.7, a: 0.3 };
    let start = ChaplyginSleighState { x: 0.1, y: -0.4, theta: 0.2, omega: 1.0, v: -1.0 };
    let mut integrator = DiscreteHamel::new(&sleigh, start).expect("a finite start");
    for h in [0.1, 0.2, -0.2, -0.1] {
        integrator.step(h).expect("the step is short");
    }
    let start: Vector<ChaplyginSleigh> = start.into();
    let close = |(a, b): (&f64, &f64)| (a - b).abs() < 1e-14;
    assert!(integrator.state().as_ref().iter().zip(start.as_ref()).all(close), "{:?}", integrator.state());
}

/// The frame is a part of the method: the energy of the planar pendulum is exact in the unit frame, and bounded in the other.
#[test]
fn frames_are_part_of_the_method() {
    let stretching = HamelPendulum { m: 1.0, g: 1.0, l: 1.0 };
    let turning = UnitFramePendulum { m: 1.0, g: 1.0, l: 1.0 };
    let [length, energy] = drift(&stretching, HamelPendulumState { x: 1.0, y: 0.0, turn: 0.0 }, 0.1, 10_000)[..] else {
        panic!("two integrals")
    };
    assert!(length < 1e-13 && (1e-3..1e-2).contains(&energy), "{length:e}, {energy:e}");
    let [length, energy] = drift(&turning, UnitFramePendulumState { x: 1.0, y: 0.0, turn: 0.0 }, 0.1, 10_000)[..]
    else {
        panic!("two integrals")
    };
    assert!(length < 1e-13 && energy < 1e-13, "{length:e}, {energy:e}");
}

/// A run is the same as steps alone, and as a run that was interrupted.
#[test]
fn runs_resume_exactly() {
    let sleigh = ChaplyginSleigh { m: 2.0, j: 0.7, a: 0.3 };
    let start = ChaplyginSleighState { x: 0.0, y: 0.0, theta: 0.2, omega: 1.0, v: -1.0 };
    let method = Method::DiscreteHamel { h: 0.05 };
    let whole = Simulation::new(&sleigh, start).expect("a start").run(method, 50.0).expect("a run");
    let mut integrator = DiscreteHamel::new(&sleigh, start).expect("a finite start");
    (0..1000).for_each(|_| integrator.step(0.05).expect("the step is short"));
    let end: Vector<ChaplyginSleigh> = whole.state().into();
    assert_eq!(end, *integrator.state());
    let mut snapshot = None;
    let watched = Simulation::new(&sleigh, start).expect("a start").watched(|moment| {
        if moment.time() > 10.0 && snapshot.is_none() {
            snapshot = Some(moment.snapshot());
        }
        core::ops::ControlFlow::Continue(())
    });
    watched.run(method, 50.0).expect("a run");
    let snapshot = snapshot.expect("the run was watched");
    assert!(snapshot.time() < 50.0);
    let resumed = Simulation::new(&sleigh, start).expect("a start").from_snapshot(snapshot).run(method, 50.0);
    assert_eq!(resumed.expect("a run").state(), whole.state());
}

/// What is carried belongs to the state before its projection, so that each step begins anew; so does the first of a resumed run.
#[test]
fn projected_runs_resume_exactly() {
    let sleigh = ChaplyginSleigh { m: 2.0, j: 0.7, a: 0.3 };
    let start = ChaplyginSleighState { x: 0.0, y: 0.0, theta: 0.2, omega: 1.0, v: -1.0 };
    let run = |snapshots: &mut Vec<Snapshot>, from: Option<Snapshot>| {
        let simulation = Simulation::new(&sleigh, start).expect("a start").projected(Projection::default());
        let simulation = simulation.watched(|moment| {
            snapshots.push(moment.snapshot());
            core::ops::ControlFlow::Continue(())
        });
        let simulation = match from {
            Some(snapshot) => simulation.from_snapshot(snapshot),
            None => simulation,
        };
        simulation.run(Method::DiscreteHamel { h: 0.05 }, 50.0).expect("a run").state()
    };
    let mut snapshots = Vec::new();
    let whole = run(&mut snapshots, None);
    assert!(snapshots.len() > 10);
    for snapshot in snapshots.iter().step_by(snapshots.len() / 10) {
        assert_eq!(run(&mut Vec::new(), Some(snapshot.clone())), whole, "from t = {}", snapshot.time());
    }
}

/// Systems with reactions are refused by name where the method is chosen at run time; a step that is too long is an error.
#[test]
fn what_cannot_be_done_is_said() {
    let refused = |error: Error, words: &[&str]| {
        let text = error.to_string();
        assert!(words.iter().all(|word| text.contains(word)), "{text}");
    };
    let by_rates = SleighByRates { m: 2.0, j: 0.7, a: 0.3 };
    let start = SleighByRatesState { x: 0.0, y: 0.0, theta: 0.0, vx: 1.0, vy: 0.0, omega: 1.0 };
    let simulation = Simulation::new(&by_rates, start).expect("a start");
    let error = simulation.run(Method::DiscreteHamel { h: 0.1 }, 1.0).expect_err("reactions");
    refused(error, &["SleighByRates", "velocity constraints", "velocity_constraint(name = velocity)"]);
    let constrained = ConstrainedPendulum { m: 1.0, g: 1.0, l: 1.0 };
    let start = ConstrainedPendulumState { x: 1.0, y: 0.0, vx: 0.0, vy: 0.0 };
    let simulation = Simulation::new(&constrained, start).expect("a start");
    let error = simulation.final_state(&Settings::new(Method::DiscreteHamel { h: 0.1 }, 1.0)).expect_err("reactions");
    refused(error, &["ConstrainedPendulum", "constraints that reactions hold"]);

    let pendulum = HamelPendulum { m: 1.0, g: 1.0, l: 1.0 };
    let start = HamelPendulumState { x: 1.0, y: 0.0, turn: 3.0 };
    let attempt = |h: f64| DiscreteHamel::new(&pendulum, start).expect("a finite start").step(h).map(|()| h);
    let too_long = (0..).map(|power| 2_f64.powi(power)).find(|h| attempt(*h).is_err()).expect("no step is that long");
    let error = attempt(too_long).expect_err("a step that is too long");
    assert!(matches!(error.reason, StepFailure::NotConverged { residual } if residual > 0.0), "{error}");
    let simulation = Simulation::new(&pendulum, start).expect("a start");
    let settings = Method::DiscreteHamel { h: too_long };
    let error = simulation.run(settings, 10.0 * too_long).expect_err("a step that is too long");
    refused(error, &["t = 0.0", "Newton's method does not converge", "shorter"]);
}

/// The momenta and their rates are what their names say, and their Jacobians are their derivatives.
#[test]
fn jacobians_are_derivatives() {
    fn compare<S: HamelSystem + GeneratedSystem>(system: &S, x: Vector<S>) {
        let system = system.prepare();
        let step = 1e-6;
        for j in 0..S::FACTS.state.len() {
            let moved = |by: f64| -> Vector<S> { Entries::from_fn(|i| x[i] + if i == j { by } else { 0.0 }) };
            let [ahead, behind] = [moved(step), moved(-step)];
            let of_momenta = (
                S::momentum_state_jacobian(&system, &x),
                S::momentum_state(&system, &ahead),
                S::momentum_state(&system, &behind),
            );
            let of_rates = (
                S::momentum_rates_jacobian(&system, &x),
                S::momentum_rates(&system, &ahead),
                S::momentum_rates(&system, &behind),
            );
            for (jacobian, ahead, behind) in [of_momenta, of_rates] {
                for i in 0..S::FACTS.state.len() {
                    let slope = (ahead[i] - behind[i]) / (2.0 * step);
                    assert!((slope - jacobian[i][j]).abs() < 1e-7, "{}: {i}, {j}", S::FACTS.name);
                }
            }
        }
    }
    compare(&ChaplyginSleigh { m: 2.0, j: 0.7, a: 0.3 }, [0.1, 0.2, 0.3, 0.4, -0.5]);
    compare(&CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 }, [0.1, 2.0, 0.3, 0.7]);
    compare(&UnitFramePendulum { m: 1.5, g: 2.0, l: 0.8 }, [0.6, -0.5, 0.7]);
}
