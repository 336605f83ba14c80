//! Driven systems move as Newton's equations, typed by hand, say; and one system moves alike in all of its declarations.

use fbint_runtime::{
    DrivenSystem, Ensemble, Entries, FeedbackSystem, Method, PreparedSystem, Simulation, Vector, feedback_system,
};
use fbint_tests::{Random, relative_error};
use nalgebra::{Vector2, vector};

use super::balance::{pendulum, worst};
use super::systems::*;

const STATES: usize = 1_000;
const FINE: Method = Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) };

#[test]
fn pendulum_moves_as_newton_says() {
    let (system, mut random) = (pendulum(), Random::new(5));
    let Pendulum { m, l, g, c, torque, omega } = system;
    for _ in 0..STATES {
        let x: [f64; 4] = Entries::from_fn(|_| random.between(-3.0, 3.0));
        let [theta, p, t, _] = x;
        let rate = p / (m * l * l);
        let force = -c * rate + torque * (omega * t).cos();
        let expected = [rate, force - m * g * l * theta.sin(), 1.0, force * rate];
        let field = system.prepare().vector_field(&x);
        assert!(relative_error(&field, &expected) < 1e-14, "{field:?} {expected:?}");
    }
}

#[test]
fn cart_and_pole_move_as_newton_says() {
    let (system, mut random) = (CartPole { cart: 2.0, m: 0.5, l: 0.8, g: 9.81, c: 0.3 }, Random::new(6));
    let CartPole { cart, m, l, g, c } = system;
    for _ in 0..STATES {
        let x: [f64; 6] = Entries::from_fn(|_| random.between(-3.0, 3.0));
        let [_, theta, v, w, ..] = x;
        let thrust = random.between(-5.0, 5.0);
        let force = thrust - c * v;
        let (sine, cosine) = theta.sin_cos();
        let acceleration = (force + m * l * w * w * sine - m * g * sine * cosine) / (cart + m * sine * sine);
        let turn = (g * sine - acceleration * cosine) / l;
        let expected = [v, w, acceleration, turn, 1.0, force * v];
        let field = CartPole::with_input(system.prepare(), [thrust]).vector_field(&x);
        assert!(relative_error(&field, &expected) < 1e-12, "{field:?} {expected:?}");
    }
}

/// A moving pivot, as a constraint on positions with momenta, as one with velocities, and in the Lagrangian of the angle.
#[test]
fn a_pivot_moves_alike_in_three_declarations() {
    let (m, l, g, c, a, omega) = (1.3, 0.7, 9.81, 0.3, 0.2, 2.3);
    let (theta, w) = (2.0_f64, 0.4);
    let q = vector![l * theta.sin(), l * theta.cos()];
    let v: Vector2<f64> = vector![l * w * theta.cos(), a * omega - l * w * theta.sin()];
    let until = 5.0;
    let by_momenta = MovingPivot { m, l, g, c, a, omega };
    let start = MovingPivotState { q, p: m * v, t: 0.0, work: 0.0 };
    let by_momenta = Simulation::new(&by_momenta, start).unwrap().run(FINE, until).unwrap();
    let by_velocities = MovingPivotVelocities { m, l, g, c, a, omega };
    let start = MovingPivotVelocitiesState { q, v, t: 0.0, work: 0.0 };
    let by_velocities = Simulation::new(&by_velocities, start).unwrap().run(FINE, until).unwrap();
    let angle = Kapitza { m, l, g, c, a, omega };
    let start = KapitzaState { theta, w, t: 0.0, work: 0.0 };
    let angle = Simulation::new(&angle, start).unwrap().run(FINE, until).unwrap();

    let (one, other, angle) = (by_momenta.state(), by_velocities.state(), angle.state());
    assert_eq!((one.t, other.t, angle.t), (until, until, until));
    assert!((one.q - other.q).norm() < 1e-10 && (one.p / m - other.v).norm() < 1e-9, "{one:?} {other:?}");
    let height = a * (omega * until).sin();
    let end = vector![l * angle.theta.sin(), height + l * angle.theta.cos()];
    assert!((one.q - end).norm() < 1e-9, "{one:?} {end:?}");
    // Both did the work that the energies differ by.
    assert!((one.work - other.work).abs() < 1e-9, "{one:?} {other:?}");
    for run in [worst(&by_momenta), worst(&by_velocities)] {
        assert!(run < 1e-11, "{run:e}");
    }
}

/// The tension of a pendulum whose pivot moves, by Newton's second law along the rod.
#[test]
fn reactions_of_moving_constraints_are_those_of_newton() {
    let (m, l, g, c, a, omega) = (1.3, 0.7, 9.81, 0.3, 0.2, 2.3);
    let system = MovingPivot { m, l, g, c, a, omega };
    let mut random = Random::new(7);
    for _ in 0..STATES {
        let (theta, w, t) = (random.between(-3.0, 3.0), random.between(-2.0, 2.0), random.between(0.0, 3.0));
        let along: Vector2<f64> = vector![theta.sin(), theta.cos()];
        let q = vector![0.0, a * (omega * t).sin()] + l * along;
        let v = vector![l * w * theta.cos(), a * omega * (omega * t).cos() - l * w * theta.sin()];
        let x = Vector::<MovingPivot>::from(MovingPivotState { q, p: m * v, t, work: 0.0 });
        let [tension] = system.prepare().outputs(&x);
        // m q'' = -c v - m g + T along, and q'' . along = pivot'' . along - l w^2
        let pivot = -a * omega * omega * (omega * t).sin();
        let expected = m * (pivot * along.y - l * w * w) + c * v.dot(&along) + m * g * along.y;
        assert!((tension - expected).abs() < 1e-11 * expected.abs().max(10.0), "{tension} {expected}");
    }
}

/// Momenta and velocities, with a velocity constraint on a moving surface and a mass that depends on time.
#[test]
fn momenta_and_velocities_agree() {
    let (by_velocities, by_momenta) = (Particle { m: 1.7, g: 0.9 }, CanonicalParticle { m: 1.7, g: 0.9 });
    let mut random = Random::new(8);
    for _ in 0..STATES {
        let mut x: [f64; 8] = Entries::from_fn(|_| random.between(-1.5, 1.5));
        let t = x[6];
        // On the constraint set, where reactions are the same.
        x[2] = x[0] * x[1] / 3.0 + t.sin() / 5.0;
        x[4] = x[3] * t.sin() / (2.0 + t.cos());
        x[5] = (x[3] * x[1] + x[0] * x[4]) / 3.0 + t.cos() / 5.0;
        let mass = 1.7 + (t / 3.0).sin() / 2.0;
        let canonical: [f64; 8] = Entries::from_fn(|i| if (3..6).contains(&i) { mass * x[i] } else { x[i] });
        let input: [f64; 3] = Entries::from_fn(|_| random.between(-2.0, 2.0));
        let one = Particle::with_input(by_velocities.prepare(), input).vector_field(&x);
        let other = CanonicalParticle::with_input(by_momenta.prepare(), input).vector_field(&canonical);
        let change = (t / 3.0).cos() / 6.0;
        // p' = (m v)'
        let expected: [f64; 8] =
            Entries::from_fn(|i| if (3..6).contains(&i) { mass * one[i] + change * x[i] } else { one[i] });
        assert!(relative_error(&other, &expected) < 1e-11, "{other:?} {expected:?}");
    }
}

/// A force along a velocity that a constraint puts to zero adds to the reaction, and does nothing else.
#[test]
fn what_holds_a_velocity_takes_up_forces() {
    let system = Sleigh { m: 1.2, a: 0.4, j: 0.6 };
    let mut random = Random::new(9);
    for _ in 0..STATES {
        let x: [f64; 7] = Entries::from_fn(|_| random.between(-1.5, 1.5));
        let input: [f64; 2] = Entries::from_fn(|_| random.between(-2.0, 2.0));
        let [_, _, _, u, w, ..] = x;
        let Sleigh { m, a, j } = system;
        let prepared = Sleigh::with_input(system.prepare(), input);
        let field = prepared.vector_field(&x);
        // In the frame of the blade: m (u' - a w^2) = F_u and (j + m a^2) w' + m a u w = F_w.
        let turn = (input[1] - w / 2.0 - m * a * u * w) / (j + m * a * a);
        let expected = [input[0] / m + a * w * w, turn];
        assert!(relative_error(&field[3..5], &expected) < 1e-12, "{field:?} {expected:?}");
        // m (a w' + u w) = F_v + reaction
        let [side] = prepared.outputs(&x);
        let expected = m * (a * turn + u * w) + u * w / 3.0;
        assert!((side - expected).abs() < 1e-12 * expected.abs().max(1.0), "{side} {expected}");
        assert!((field[6] - input[0] * u - (input[1] - w / 2.0) * w).abs() < 1e-12);
    }
}

/// x' = J(x) grad H and W' = dH/dt, against both typed by hand.
#[test]
fn a_poisson_system_balances_its_energy() {
    let (system, mut random) = (Top { i1: 1.1, i2: 1.9 }, Random::new(10));
    for _ in 0..STATES {
        let x: [f64; 5] = Entries::from_fn(|_| random.between(-1.5, 1.5));
        let [l1, l2, l3, t, _] = x;
        let omega = [l1 / 1.1, l2 / 1.9, l3 * (2.0 + t.sin()) / 2.0];
        let expected = [
            l2 * omega[2] - l3 * omega[1],
            l3 * omega[0] - l1 * omega[2],
            l1 * omega[1] - l2 * omega[0],
            1.0,
            l3 * l3 * t.cos() / 4.0,
        ];
        let field = system.prepare().vector_field(&x);
        assert!(relative_error(&field, &expected) < 1e-14, "{field:?} {expected:?}");
    }
}

/// A cart whose motor sets in at t = 1: x(2) = 1/6 and p(2) = 1/2.
#[feedback_system(coordinates(x), momenta(p), time(t), hamiltonian = p.powi(2) / 2, force(p = (t - 1).max(0)))]
struct Ramp;

/// Until the motor sets in, everything but the time is 0 exactly, and no variable has a size.
#[test]
fn a_force_that_sets_in_moves_what_is_at_rest() {
    let start = RampState::default();
    for rtol in [1e-6, 1e-9, 1e-12] {
        for method in [Method::DormandPrince { rtol, atol: None }, Method::Dop853 { rtol, atol: None }] {
            let run = Simulation::new(&Ramp, start).unwrap().run(method, 2.0).unwrap();
            let state = run.state();
            let error = (6.0 * state.x - 1.0).abs().max((2.0 * state.p - 1.0).abs());
            assert!(error < 100.0 * rtol, "{method:?}: {error:e} in {} steps", run.steps());
            // Where the force sets in, the rounding of the time is all of it: a tolerance of 1e-12 asks for more than there is.
            assert!(run.steps() < if rtol < 1e-9 { 100_000 } else { 2000 }, "{method:?}: {} steps", run.steps());
            let ensemble = Ensemble::new(&Ramp, [start; 5]).run(method, 2.0).unwrap();
            for end in ensemble.ends() {
                assert_eq!(RampState::from(end.as_ref().unwrap().state), state, "{method:?}");
            }
        }
    }
}
