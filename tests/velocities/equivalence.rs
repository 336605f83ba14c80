//! One motion, declared in several ways: trajectories agree with one another and with those that were computed with 60 digits.

use fbint_runtime::{
    Entries, FeedbackSystem, GeneratedSystem, Integrator, PlainField, PreparedSystem, Tolerance, Vector,
    feedback_system,
};
use fbint_tests::{Random, relative_error};
use models::{FreeRigidBody, SphericalPendulum};
use nalgebra::{Vector3, vector};
use serde_json::Value;

use super::systems::*;

/// The spherical pendulum in Cartesian velocities.
#[feedback_system(
    coordinates(q: [3]),
    velocities(v: [3]),
    lagrangian = m * v.norm_squared() / 2 - m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2)),
    invariant(vertical_momentum = q[0] * momentum(v)[1] - q[1] * momentum(v)[0]),
    output(tension = -2 * l * multiplier(length)),
)]
pub struct LagrangianPendulum {
    pub m: f64,
    pub g: f64,
    pub l: f64,
}

/// The pendulum on a cart, on its phase space.
#[feedback_system(
    coordinates(s, theta),
    momenta(p, q),
    define(inertia = m * l.powi(2) * (cart + m * theta.sin().powi(2))),
    hamiltonian = (m * l.powi(2) * p.powi(2) - 2 * m * l * theta.cos() * p * q + (cart + m) * q.powi(2)) / (2 * inertia)
        - m * g * l * theta.cos(),
    invariant(horizontal_momentum = p),
)]
pub struct CanonicalCart {
    pub cart: f64,
    pub m: f64,
    pub l: f64,
    pub g: f64,
}

/// The states at some times.
fn follow<S: GeneratedSystem>(system: &S, start: &[f64], times: &[f64]) -> Vec<Vec<f64>> {
    let field = PlainField::new(system);
    let tolerance = Tolerance::new(1e-14, 1e-15).expect("tolerances");
    let mut integrator = Integrator::dop853(&field, Entries::from_fn(|i| start[i]), tolerance);
    let state = |&time: &f64| {
        integrator.advance_to(time).expect("a regular motion");
        integrator.state().as_ref().to_vec()
    };
    times.iter().map(state).collect()
}

fn agree(name: &str, states: &[Vec<f64>], others: &[Vec<f64>], tolerance: f64) {
    for (state, other) in states.iter().zip(others) {
        let error = relative_error(state, other);
        assert!(error < tolerance, "{name}: off by {error:e}: {state:?}, {other:?}");
    }
}

/// Compares with the reference at t = 1, 5 and 20.
fn compare<S: GeneratedSystem>(name: &str, system: &S, tolerance: f64) {
    let all: Value = serde_json::from_str(include_str!("trajectories.json")).expect("the trajectories are JSON");
    let numbers = |value: &Value| -> Vec<f64> {
        value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
    };
    let reference = &all[name];
    let states = ["1", "5", "20"].map(|time| numbers(&reference["states"][time]));
    agree(name, &follow(system, &numbers(&reference["start"]), &[1.0, 5.0, 20.0]), &states, tolerance);
}

#[test]
fn references() {
    compare("hamel_pendulum", &HamelPendulum { m: 1.0, g: 1.0, l: 1.0 }, 1e-11);
    compare("hamel_pendulum_unit_frame", &UnitFramePendulum { m: 1.5, g: 2.0, l: 0.8 }, 1e-11);
    compare("degenerate_pendulum", &DegeneratePendulum { m: 1.0, g: 1.0, r: 1.0 }, 1e-11);
    compare("chaplygin_sleigh", &ChaplyginSleigh { m: 2.0, j: 0.7, a: 0.3 }, 1e-11);
    compare("balanced_sleigh", &BalancedSleigh { m: 1.0, j: 1.0 }, 1e-11);
    compare("rolling_disk", &DiskWithoutSlip { m: 2.0, i: 0.25, j: 0.125, radius: 0.5 }, 1e-11);
    compare("rotating_body", &RotatingBody { inertia: vector![3.0, 2.0, 1.5] }, 1e-11);
    compare("cart_pendulum", &CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 }, 1e-11);
}

#[test]
fn the_sleigh_in_three_ways() {
    let (m, j, a) = (2.0, 0.7, 0.3);
    let times = [1.0, 5.0, 20.0];
    let (omega, v) = (1.0, -1.0);
    let adapted = follow(&ChaplyginSleigh { m, j, a }, &[0.1, -0.2, 0.3, omega, v], &times);
    let rates = |state: &[f64]| {
        let (sin, cos) = state[2].sin_cos();
        vec![state[0], state[1], state[2], state[4] * cos, state[4] * sin, state[3]]
    };
    let momenta = |rates: &[f64]| {
        let (sin, cos) = rates[2].sin_cos();
        let (px, py) = (m * (rates[3] - a * rates[5] * sin), m * (rates[4] + a * rates[5] * cos));
        vec![rates[0], rates[1], rates[2], px, py, j * rates[5] - a * (sin * px - cos * py)]
    };
    let by_rates: Vec<Vec<f64>> = adapted.iter().map(|state| rates(state)).collect();
    let by_momenta: Vec<Vec<f64>> = by_rates.iter().map(|state| momenta(state)).collect();
    let start = rates(&[0.1, -0.2, 0.3, omega, v]);
    agree("rates", &follow(&SleighByRates { m, j, a }, &start, &times), &by_rates, 1e-11);
    agree("momenta", &follow(&SleighByMomenta { m, j, a }, &momenta(&start), &times), &by_momenta, 1e-11);
}

#[test]
fn the_disk_in_three_ways() {
    let (m, i, j, radius) = (2.0, 0.25, 0.125, 0.5);
    let times = [1.0, 5.0, 20.0];
    let start = [0.1, -0.2, 0.3, 0.4, 2.0, 0.5];
    let adapted = follow(&DiskWithoutSlip { m, i, j, radius }, &start, &times);
    let rates = |state: &[f64]| {
        let (sin, cos) = state[3].sin_cos();
        let speed = radius * state[4];
        vec![state[0], state[1], state[2], state[3], speed * cos, speed * sin, state[4], state[5]]
    };
    let momenta = |rates: &[f64]| {
        let masses = [m, m, i, j];
        (0..8).map(|k| if k < 4 { rates[k] } else { masses[k - 4] * rates[k] }).collect::<Vec<f64>>()
    };
    let by_rates: Vec<Vec<f64>> = adapted.iter().map(|state| rates(state)).collect();
    let by_momenta: Vec<Vec<f64>> = by_rates.iter().map(|state| momenta(state)).collect();
    agree("rates", &follow(&RollingDisk { m, i, j, radius }, &rates(&start), &times), &by_rates, 1e-11);
    agree("momenta", &follow(&DiskByMomenta { m, i, j, radius }, &momenta(&rates(&start)), &times), &by_momenta, 1e-11);
}

/// Two systems in one state: field, integrals and gradients agree, where those of the second are scaled.
fn same<S: GeneratedSystem, R: GeneratedSystem>(one: &S, other: &R, x: &[f64], to_other: impl Fn(usize) -> f64) {
    assert_eq!(S::FACTS.state.len(), R::FACTS.state.len());
    let (prepared, other) = (one.prepare(), other.prepare());
    let x: Vector<S> = Entries::from_fn(|i| x[i]);
    let y: Vector<R> = Entries::from_fn(|i| to_other(i) * x[i]);
    let field: Vec<f64> = (0..S::FACTS.state.len()).map(|i| to_other(i) * prepared.vector_field(&x)[i]).collect();
    let error = relative_error(&field, other.vector_field(&y).as_ref());
    assert!(error < 1e-12, "{}: the field is off by {error:e} at {x:?}", S::FACTS.name);
    for (i, integral) in S::FACTS.integrals.iter().enumerate() {
        let Some(k) = R::FACTS.integrals.iter().position(|other| other.name == integral.name) else { continue };
        let (value, expected) = (prepared.integrals(&x)[i], other.integrals(&y)[k]);
        assert!((value - expected).abs() < 1e-12 * expected.abs().max(1.0), "{}: {}", S::FACTS.name, integral.name);
    }
    let error = relative_error(prepared.outputs(&x).as_ref(), other.outputs(&y).as_ref());
    assert!(error < 1e-11, "{}: the outputs are off by {error:e} at {x:?}", S::FACTS.name);
}

#[test]
fn a_body_is_a_body_everywhere() {
    let inertia: Vector3<f64> = vector![3.0, 2.0, 1.5];
    let mut random = Random::new(2);
    for _ in 0..1_000 {
        let x: Vec<f64> = (0..12).map(|_| random.between(-1.5, 1.5)).collect();
        same(&RotatingBody { inertia }, &FreeRigidBody { inertia }, &x, |_| 1.0);
    }
}

/// Off the constraint set, too: both have Dirac's form.
#[test]
fn a_pendulum_is_a_pendulum_everywhere() {
    let (m, g, l) = (1.3, 0.9, 0.8);
    let mut random = Random::new(3);
    for _ in 0..1_000 {
        let x: Vec<f64> = (0..6).map(|_| random.between(0.3, 1.5)).collect();
        let to_momentum = |i| if i < 3 { 1.0 } else { m };
        same(&LagrangianPendulum { m, g, l }, &SphericalPendulum { m, g, l }, &x, to_momentum);
    }
}

#[test]
fn a_cart_is_a_cart() {
    let (cart, m, l, g) = (2.0, 0.5, 0.8, 9.81);
    let (one, other) = (CartPendulum { cart, m, l, g }, CanonicalCart { cart, m, l, g });
    let momenta = |state: &[f64]| {
        let cos = state[1].cos();
        let p = (cart + m) * state[2] + m * l * cos * state[3];
        vec![state[0], state[1], p, m * l * (cos * state[2] + l * state[3])]
    };
    let (start, times) = ([0.1, 2.0, 0.3, 0.0], [1.0, 5.0, 20.0]);
    let by_momenta: Vec<Vec<f64>> = follow(&one, &start, &times).iter().map(|state| momenta(state)).collect();
    agree("cart", &follow(&other, &momenta(&start), &times), &by_momenta, 1e-11);
    let (one, other) = (one.prepare(), other.prepare());
    let values = [one.integrals(&start), other.integrals(&Entries::from_fn(|i| momenta(&start)[i]))];
    assert!(relative_error(&values[0], &values[1]) < 1e-14, "{values:?}");
}
