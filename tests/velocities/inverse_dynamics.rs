//! Mass matrices against dual numbers on Lagrangians typed again, and inverse dynamics against the generated fields.

use fbint_runtime::{
    DrivenSystem, Entries, GeneratedSystem, LagrangianSystem, PreparedSystem, StateRole, Vector, feedback_system,
};
use fbint_tests::Random;
use nalgebra::{DVector, vector};
use num_dual::{Dual, Dual64};

use super::residuals::{Mechanics, acting_rows, state, weights};
use super::systems::*;

const STATES: usize = 100;

/// A craft with a centre of mass ahead of its middle, in the frame of its body, with three thrusters and drag.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(ahead, aside, turn),
    kinematics(
        x = ahead * theta.cos() - aside * theta.sin(),
        y = ahead * theta.sin() + aside * theta.cos(),
        theta = turn,
    ),
    lagrangian = m * (ahead.powi(2) + (aside + a * turn).powi(2)) / 2 + j * turn.powi(2) / 2 - m * g * (y + a * theta.sin()),
    input(thrust: [3]),
    force(ahead = thrust[0] - drag * ahead, aside = thrust[1] - drag * aside * ahead, turn = thrust[2]),
)]
struct Craft {
    m: f64,
    j: f64,
    a: f64,
    g: f64,
    drag: f64,
}

/// A pendulum that is pushed, on a rod whose length changes, with a mass that depends on where it is.
#[feedback_system(
    coordinates(x, y),
    velocities(vx, vy),
    time(t),
    lagrangian = (m + x.powi(2)) * (vx.powi(2) + vy.powi(2)) / 2 - m * g * y,
    constraint(length = x.powi(2) + y.powi(2) - (1 + t.sin() / 4).powi(2)),
    input(push: [2]),
    force(vx = push[0], vy = push[1]),
)]
struct Crane {
    m: f64,
    g: f64,
}

/// What belongs to the velocities, of a list over the state.
fn of_velocities<S: LagrangianSystem + GeneratedSystem>(list: &Vector<S>) -> S::Velocities<f64> {
    let entries = S::FACTS.state.iter().zip(list.as_ref()).filter(|(entry, _)| entry.role == StateRole::Velocity);
    let entries: Vec<f64> = entries.map(|(_, value)| *value).collect();
    assert_eq!(entries.len(), S::Velocities::<f64>::LEN);
    Entries::from_fn(|i| entries[i])
}

/// The mass matrix is L_xixi, and the forces that give the accelerations of the field are the reactions.
fn agrees<S: Mechanics + LagrangianSystem>(system: &S) {
    let prepared = system.prepare();
    let mut random = Random::new(1);
    for _ in 0..STATES {
        let x = state(system, &mut random);
        let (q, velocities) = x.as_ref().split_at(S::COORDINATES);
        let mass = S::mass_matrix(&prepared, &x);
        for i in 0..velocities.len() {
            for j in 0..velocities.len() {
                let number = |value: f64, by: [bool; 2]| {
                    let [first, second] = by.map(|is_by| f64::from(u8::from(is_by)));
                    Dual::new(Dual64::new(value, first), Dual64::from(second))
                };
                let q: Vec<Dual<Dual64>> = q.iter().map(|&entry| number(entry, [false; 2])).collect();
                let velocities = velocities.iter().enumerate();
                let velocities: Vec<_> = velocities.map(|(k, &entry)| number(entry, [k == i, k == j])).collect();
                let expected = system.lagrangian(&q, &system.rates(&q, &velocities)).eps.eps;
                let error = (mass[i][j] - expected).abs();
                assert!(error < 1e-12 * expected.abs().max(1.0), "{}: {} for {expected}", S::FACTS.name, mass[i][j]);
            }
        }

        let accelerations = of_velocities::<S>(&prepared.vector_field(&x));
        let forces = S::inverse_dynamics(&prepared, &x, &accelerations);
        let (rows, forces) = (acting_rows(system, &x), DVector::from_column_slice(forces.as_ref()));
        let left = &forces - rows.transpose() * weights(&rows, &(&rows * &forces));
        assert!(left.amax() < 1e-10 * forces.amax().max(1.0), "{}: {left} of {forces} at {x:?}", S::FACTS.name);
    }
}

#[test]
fn of_every_frame() {
    agrees(&HamelPendulum { m: 1.3, g: 0.9, l: 0.8 });
    agrees(&UnitFramePendulum { m: 1.3, g: 0.9, l: 0.8 });
    agrees(&ConstrainedPendulum { m: 1.3, g: 0.9, l: 0.8 });
    agrees(&CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 });
    agrees(&ChaplyginSleigh { m: 2.0, j: 0.7, a: 0.3 });
    agrees(&SleighByRates { m: 2.0, j: 0.7, a: 0.3 });
    agrees(&DiskWithoutSlip { m: 2.0, i: 0.25, j: 0.125, radius: 0.5 });
    agrees(&RollingDisk { m: 2.0, i: 0.25, j: 0.125, radius: 0.5 });
    agrees(&RotatingBody { inertia: vector![3.0, 2.0, 1.5] });
}

/// The field with the forces of inverse dynamics has the accelerations that were asked for, and no constraint reacts.
fn moves_as_asked<S: LagrangianSystem + DrivenSystem + GeneratedSystem>(system: &S) {
    let prepared = system.prepare();
    let mut random = Random::new(1);
    for _ in 0..STATES {
        let x: Vector<S> = Entries::from_fn(|_| random.between(-1.5, 1.5));
        let inputs = Entries::from_fn(|_| random.between(-1.0, 1.0));
        // Accelerations that the system can have.
        let asked = of_velocities::<S>(&S::with_input(prepared.clone(), inputs).vector_field(&x));
        let forces = S::inverse_dynamics(&prepared, &x, &asked);
        let driven = S::with_input(prepared.clone(), Entries::from_fn(|i| forces[i]));
        let obtained = of_velocities::<S>(&driven.vector_field(&x));
        let scale = asked.as_ref().iter().chain(forces.as_ref()).fold(1.0, |scale: f64, entry| scale.max(entry.abs()));
        for (obtained, asked) in obtained.as_ref().iter().zip(asked.as_ref()) {
            assert!((obtained - asked).abs() < 1e-10 * scale, "{}: {obtained} for {asked} at {x:?}", S::FACTS.name);
        }
        let held = S::FACTS.integrals.iter().zip(driven.multipliers(&x).as_ref().to_vec());
        let held = held.filter(|(integral, _)| !integral.name.ends_with("_rate"));
        assert!(held.map(|(_, multiplier)| multiplier).all(|multiplier| multiplier.abs() < 1e-9 * scale));
    }
}

#[test]
fn forces_give_the_accelerations() {
    moves_as_asked(&Craft { m: 2.0, j: 0.7, a: 0.3, g: 9.81, drag: 0.4 });
    moves_as_asked(&Crane { m: 2.0, g: 9.81 });
}
