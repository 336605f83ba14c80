//! Resets: the motion goes on from a new state, with new targets.

use std::f64::consts::PI;

use fbint_runtime::{
    Event, FeedbackSystem, Gains, Held, Method, PreparedSystem, Projection, Settings, Simulation, feedback_system,
};

use super::location::times;
use super::systems::*;

const BALL: Ball = Ball { m: 2.0, g: 9.81 };
const DROPPED: BallState = BallState { height: 1.0, p: 0.0 };
const ENERGY: f64 = 2.0 * 9.81;

/// The bounce on the floor that leaves this part of the momentum.
pub fn bounce(restitution: f64) -> Event<'static, BallState> {
    Event::new("floor", |_, state: &BallState| state.height)
        .falling()
        .reset(move |_, state| BallState { p: -restitution * state.p, ..*state })
}

fn energy(state: &BallState) -> f64 {
    BALL.prepare().integrals(&(*state).into())[0]
}

/// The time of bounce `number`, from 1 on, of a ball that is dropped from height 1.
fn bounce_time(restitution: f64, number: i32) -> f64 {
    let flights: f64 = (1..number).map(|flight| 2.0 * restitution.powi(flight)).sum();
    (2.0 / BALL.g).sqrt() * (1.0 + flights)
}

/// A mass on a spring, and a wall that takes a part of its velocity.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    event(wall = x + 1 / 2, falling, reset(p = -e * p))
)]
struct Walled {
    e: f64,
}

/// Position and momentum at a time after the mass is let go at x = 1: arcs of circles, from wall to wall.
fn between_walls(e: f64, time: f64) -> [f64; 2] {
    let (mut x, mut p, mut left): (f64, f64, f64) = (1.0, 0.0, time);
    loop {
        let (size, phase) = (x.hypot(p), (-p).atan2(x));
        let until_wall = (-0.5 / size).acos() - phase;
        if until_wall > left {
            return [size * (phase + left).cos(), -size * (phase + left).sin()];
        }
        left -= until_wall;
        (x, p) = (-0.5, e * size * (phase + until_wall).sin());
    }
}

#[test]
fn methods_keep_their_orders_through_resets() {
    let system = Walled { e: 0.9 };
    let error = |method: Method, until: f64| {
        let run = Simulation::new(&system, WalledState { x: 1.0, p: 0.0 }).unwrap().run(method, until).unwrap();
        let [x, p] = between_walls(system.e, until);
        assert_eq!(run.events().len(), if until < 6.0 { 1 } else { 2 });
        (run.state().x - x).abs().max((run.state().p - p).abs())
    };
    for until in [3.0, 10.0] {
        let slope_of =
            |method: fn(f64) -> Method, h: f64| (error(method(h), until) / error(method(h / 4.0), until)).log2() / 2.0;
        for (method, h, order) in [
            ((|h| Method::Rk4 { h }) as fn(f64) -> Method, 0.1, 4.0),
            (|h| Method::Heun { h }, 0.01, 2.0),
            (|h| Method::Midpoint { h }, 0.01, 2.0),
        ] {
            let slope = slope_of(method, h);
            assert!((slope - order).abs() < 0.1, "{:?} until {until}: {slope}", method(h));
        }
        assert!(error(FINE, until) < 5e-13, "{:e}", error(FINE, until));
    }
}

/// Free fall is exact by the methods of order 2 and above.
#[test]
fn a_ball_has_the_right_energy_after_fifty_bounces() {
    for restitution in [0.9, 1.0] {
        for method in METHODS.into_iter().skip(1) {
            for projection in [None, Some(Projection::default())] {
                let until = bounce_time(restitution, 50) + 0.4 * (2.0 / BALL.g).sqrt() * restitution.powi(50);
                let simulation = Simulation::new(&BALL, DROPPED).unwrap().without_feedback();
                let simulation = projection.into_iter().fold(simulation, Simulation::projected);
                let run = simulation.event(bounce(restitution)).run(method, until).unwrap();
                assert_eq!(run.events().len(), 50, "{method:?}");
                for (number, occurrence) in (1..).zip(run.events()) {
                    let late = occurrence.time - bounce_time(restitution, number);
                    assert!(late.abs() < 1e-10, "{method:?}: bounce {number} is late by {late:e}");
                    let exact = ENERGY * restitution.powi(2 * number);
                    let after = energy(occurrence.reset.as_ref().unwrap());
                    // From the ends of free falls, each of which rounds.
                    let tolerance = if projection.is_some() { 1e-11 } else { 3e-11 };
                    assert!((after / exact - 1.0).abs() < tolerance, "{method:?} {number}: {:e}", after / exact - 1.0);
                }
                let drift = run.drift().get("energy").unwrap();
                assert!((drift.target / (ENERGY * restitution.powi(100)) - 1.0).abs() < 3e-11, "{drift:?}");
            }
        }
    }
}

/// Feedback draws the energy to its value after the last bounce, not to that at the start.
#[test]
fn feedback_has_new_targets_after_a_reset() {
    for method in [Method::Rk4 { h: 1e-3 }, FINE] {
        let simulation = || Simulation::new(&BALL, DROPPED).unwrap();
        let until = bounce_time(0.9, 10) + 0.1;
        let run = simulation().gains(Gains::uniform(0.02)).event(bounce(0.9)).run(method, until).unwrap();
        assert_eq!(run.events().len(), 10);
        assert!((energy(&run.state()) / (ENERGY * 0.9_f64.powi(20)) - 1.0).abs() < 1e-9, "{}", energy(&run.state()));
        let boxed = simulation().gains(Gains::uniform(0.02)).boxed().event(bounce(0.9)).run(method, until).unwrap();
        assert_eq!(boxed.state(), run.state());
    }
}

/// An elastic wall at the lowest point halves the period.
#[test]
fn a_pendulum_that_hits_a_wall_swings_on_one_side() {
    let start = PendulumState { angle: 1.0, p: 0.0 };
    let quarter = {
        let below = Event::new("below", |_, state: &PendulumState| state.angle).terminal();
        Simulation::new(&Pendulum, start).unwrap().event(below).run(FINE, 10.0).unwrap().time()
    };
    let wall = || {
        Event::new("wall", |_, state: &PendulumState| state.angle)
            .falling()
            .reset(|_, state| PendulumState { p: -state.p, ..*state })
    };
    for method in [Method::Rk4 { h: 1e-3 }, FINE] {
        let run = Simulation::new(&Pendulum, start).unwrap().event(wall()).run(method, 10.0 * quarter).unwrap();
        let exact: Vec<f64> = (0..5).map(|hit| f64::from(2 * hit + 1) * quarter).collect();
        assert_eq!(run.events().len(), 5);
        assert!(
            times(&run).iter().zip(&exact).all(|(found, exact)| (found - exact).abs() < 1e-10),
            "{:?}",
            times(&run)
        );
        assert!((run.state().angle - 1.0).abs() < 1e-9, "{:?}", run.state());
        assert!(run.trajectory().iter().all(|sample| sample.state[0] > -1e-9));
        assert!(run.drift().get("energy").unwrap().max < 1e-12);
    }
}

/// A reset that violates the constraints is moved onto them.
#[test]
fn a_reset_is_moved_onto_the_constraints() {
    let start = CartesianPendulumState { q: [1.0, 0.0].into(), p: [0.0, 0.0].into() };
    for method in [Method::Rk4 { h: 1e-3 }, FINE] {
        // The momentum is turned round in one direction alone, and the position is off by a little.
        let wall = Event::new("wall", |_, state: &CartesianPendulumState| state.q[0] - 0.5)
            .falling()
            .reset(|_, state| CartesianPendulumState { q: 1.001 * state.q, p: [-state.p[0], state.p[1]].into() });
        let run = Simulation::new(&CartesianPendulum, start).unwrap().event(wall).run(method, 2.0).unwrap();
        let (before, after) = (&run.events()[0].state, run.events()[0].reset.as_ref().unwrap());
        assert!((before.q[0] - 0.5).abs() < 1e-12);
        assert!((after.q.norm() - 1.0).abs() < 1e-15 && after.q.dot(&after.p).abs() < 1e-15, "{after:?}");
        assert!((after.q - before.q).norm() < 0.6 && (after.p - before.p).norm() > 0.1, "{after:?}");
        for name in ["length", "length_rate"] {
            let drift = run.drift().get(name).unwrap();
            assert!(drift.target == 0.0 && drift.max < 1e-12, "{drift:?}");
        }
        let energy = CartesianPendulum.prepare().integrals(&(*after).into())[2];
        let drift = run.drift().get("energy").unwrap();
        assert!((drift.target - energy).abs() < 1e-15 && drift.max < 1e-12, "{drift:?}");
    }
}

/// After a reset there is one shorter step, and the grid is the same as before.
#[test]
fn steps_of_a_fixed_size_go_on_to_the_same_grid() {
    let h = 0.03;
    let run = Simulation::new(&BALL, DROPPED).unwrap().event(bounce(0.9)).record_every(h).run(Method::Rk4 { h }, 2.0);
    let run = run.unwrap();
    let grid: Vec<f64> = (0..=66).map(|step| f64::from(step) * h).chain([2.0]).collect();
    assert_eq!(run.trajectory().iter().map(|sample| sample.time).collect::<Vec<_>>(), grid);
    assert_eq!(run.steps(), 67 + run.events().len() as u64);
    assert!(run.events().len() == 3 && run.trajectory().iter().all(|sample| sample.state[0] > 0.0));
    // Samples between the ends of steps are on the flight that they belong to.
    let wanted = [0.2, 0.45, 0.452, 0.46, 1.0, 1.27, 1.9];
    let run = Simulation::new(&BALL, DROPPED).unwrap().event(bounce(0.9)).record_at(wanted).run(Method::Rk4 { h }, 2.0);
    for sample in &run.unwrap().trajectory()[1..8] {
        let bounces = (1..4).map(|number| bounce_time(0.9, number)).filter(|time| *time < sample.time);
        let (flight, from) = (0..)
            .zip(bounces.chain([f64::NAN]))
            .fold((0, f64::NAN), |last, (number, time)| if time.is_nan() { last } else { (number + 1, time) });
        let speed = (2.0 * BALL.g).sqrt() * 0.9_f64.powi(flight);
        let t = sample.time - from;
        let exact = if flight == 0 { 1.0 - 0.5 * BALL.g * sample.time.powi(2) } else { t * (speed - 0.5 * BALL.g * t) };
        assert!((sample.state[0] - exact).abs() < 1e-12, "{sample:?} instead of {exact:?}");
    }
}

/// A kick does not turn the motion round: the event is passed, and occurs when it is met the next time.
#[test]
fn kicks_go_on_in_the_same_direction() {
    let start = OscillatorState { q: 1.0, p: 0.0 };
    for method in [Method::Rk4 { h: 1e-3 }, FINE] {
        for kick in [1.5, 0.5] {
            let push = Event::new("push", |_, state: &OscillatorState| state.q)
                .reset(move |_, state| OscillatorState { p: kick * state.p, ..*state });
            let run = Simulation::new(&Oscillator, start).unwrap().event(push).run(method, 8.0).unwrap();
            let exact = [0.5 * PI, 1.5 * PI, 2.5 * PI];
            assert_eq!(run.events().len(), 3);
            for (occurrence, exact) in run.events().iter().zip(exact) {
                assert!((occurrence.time - exact).abs() < 1e-10, "{occurrence:?}");
            }
            let energy = run.drift().get("energy").unwrap();
            assert!((energy.target - 0.5 * f64::powi(kick, 6)).abs() < 1e-10, "{energy:?}");
        }
    }
}

/// What is terminal and has a reset ends with the state after it.
#[test]
fn a_terminal_event_may_have_a_reset() {
    let stop = bounce(0.5).terminal();
    let run = Simulation::new(&BALL, DROPPED).unwrap().event(stop).run(FINE, 5.0).unwrap();
    let end = run.ended_by().unwrap();
    assert_eq!((end.name.as_str(), end.time), ("floor", run.time()));
    assert!((run.time() - bounce_time(0.5, 1)).abs() < 1e-12);
    assert_eq!(Some(run.state().p), end.reset.as_ref().map(|state| state.p));
    assert!(run.state().p > 0.0 && run.state().p == -0.5 * end.state.p);
    // The end of a run that is not recorded is the same.
    let settings = Settings { projection: Some(Projection::default()), ..Settings::new(FINE, 5.0) };
    let bare = Simulation::new(&BALL, DROPPED).unwrap().event(bounce(0.5).terminal()).final_state(&settings).unwrap();
    assert_eq!(bare, run.state());
}

/// Tables of inputs, the time and the work go on across resets.
#[test]
fn driven_systems_are_reset() {
    let system = DampedPendulum { c: 0.2 };
    let start = DampedPendulumState { angle: 1.0, p: 0.0, t: 0.0, work: 0.0 };
    let table = || {
        let samples = [(0.0, DampedPendulumInput { torque: 0.1 }), (2.5, DampedPendulumInput { torque: -0.2 })];
        Held::new(samples.to_vec(), 6.0).unwrap()
    };
    let run = |method| {
        let wall = Event::new("wall", |_, state: &DampedPendulumState| state.angle - 0.1)
            .falling()
            .reset(|_, state| DampedPendulumState { p: -0.8 * state.p, t: -1.0, ..*state });
        Simulation::new(&system, start).unwrap().event(wall).input(table()).run(method, 6.0).unwrap()
    };
    let (fine, coarse) = (run(FINE), run(Method::Rk4 { h: 1.0 / 1024.0 }));
    assert!(fine.events().len() > 1, "{}", fine.events().len());
    assert_eq!(fine.events().len(), coarse.events().len());
    for run in [&fine, &coarse] {
        assert!(run.events().iter().all(|occurrence| occurrence.reset.as_ref().unwrap().t == occurrence.time));
        assert!(run.state().t == 6.0 && run.drift().integrals().all(|integral| integral.max < 1e-11));
    }
    assert!((fine.state().angle - coarse.state().angle).abs() < 1e-9);
    assert!((fine.state().work - coarse.state().work).abs() < 1e-9);
}
