//! What a step of Gauss's collocation takes of models with functions of several kinds, by the number of stages: one line for each, with the
//! operations of the field, those of them that are functions, and nanoseconds.
//!
//! It decides what `PlainField::in_lanes` in `field.rs` evaluates in lanes: build it with that always, and never, and run both in turns.
//!
//! `cargo bench -p fbint-runtime --bench stages --no-default-features --features std,lanes`, for the machine at hand with
//! `RUSTFLAGS="-C target-cpu=native"` and its `--target`.

#[path = "problems/henon_heiles.rs"]
mod henon_heiles;
#[path = "problems/outer_planets.rs"]
mod outer_planets;

use std::hint::black_box;
use std::time::Instant;

use fbint_runtime::{
    ConsistentStart, Error, GaussStages, GeneratedSystem, Method, Settings, Simulation, Vector, feedback_system,
};

use henon_heiles::HenonHeiles;
use outer_planets::OUTER_PLANETS;

/// A planet: a root and divisions.
#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm())]
struct Kepler;

/// One sine.
#[feedback_system(coordinates(angle), momenta(momentum), hamiltonian = momentum.powi(2) / 2 - angle.cos())]
struct Pendulum;

/// A pendulum on a pendulum, in angles.
#[feedback_system(
    coordinates(a, b),
    momenta(pa, pb),
    hamiltonian = (pa.powi(2) + 2 * pb.powi(2) - 2 * pa * pb * (a - b).cos()) / (2 * (1 + (a - b).sin().powi(2)))
        - 2 * a.cos() - b.cos(),
)]
struct DoublePendulum;

/// Crank, coupler and rocker by their angles: six sines and cosines.
#[feedback_system(
    coordinates(a, b, c),
    velocities(u, v, w),
    lagrangian = (u.powi(2) + 4 * v.powi(2) + w.powi(2) + 2 * u * v * (a - b).cos()) / 2 - 9.81 * (a.sin() + c.sin()),
    constraint(
        along = 0.8 * a.cos() + 2 * b.cos() - c.cos() - 2,
        across = 0.8 * a.sin() + 2 * b.sin() - c.sin(),
    ),
)]
struct FourBar;

/// Eight masses on a line between exponential springs (Toda).
#[feedback_system(
    coordinates(q: [8]),
    momenta(p: [8]),
    hamiltonian = p.norm_squared() / 2 + (0..7).map(|i| (q[i] - q[i + 1]).exp()).sum(),
)]
struct Toda;

/// Predators and prey (Lotka and Volterra), by the logarithms of how many they are.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = q.exp() - q + p.exp() - 2 * p)]
struct LotkaVolterra;

fn main() -> Result<(), Error> {
    let start = outer_planets::state(outer_planets::ephemeris);
    measure("outer planets", &OUTER_PLANETS, start, 200.0)?;
    measure("Hénon-Heiles", &HenonHeiles, HenonHeiles::start(1.0 / 12.0, 0.1, 0.0), 0.4)?;
    measure("Kepler", &Kepler, [0.9, 0.0, 0.0, (1.1_f64 / 0.9).sqrt()], 0.2)?;
    measure("pendulum", &Pendulum, [1.0, 0.0], 0.4)?;
    measure("double pendulum", &DoublePendulum, [1.0, 0.5, 0.0, 0.0], 0.1)?;
    let linkage = ConsistentStart::new(&FourBar).hold(&["a"])?.solve([0.2, 0.3, 0.8, 0.0, 0.0, 0.0])?;
    measure("four-bar in angles", &FourBar, linkage.into(), 0.05)?;
    let toda = std::array::from_fn(|i| if i < 8 { 0.3 * (i as f64).sin() } else { 0.2 * (i as f64).cos() });
    measure("Toda, 8 masses", &Toda, toda, 0.2)?;
    measure("Lotka-Volterra", &LotkaVolterra, [0.5, 0.2], 0.2)
}

/// The least time of several runs of 200 steps.
fn measure<S: GeneratedSystem>(name: &str, system: &S, start: Vector<S>, h: f64) -> Result<(), Error> {
    const STEPS: f64 = 200.0;
    let operations = S::FACTS.vector_field_operations;
    for (count, stages) in [(2, GaussStages::Two), (4, GaussStages::Four), (8, GaussStages::Eight)] {
        let settings = Settings::new(Method::Gauss { stages, h }, STEPS * h);
        let mut least = f64::INFINITY;
        for _ in 0..200 {
            let simulation = Simulation::new(system, start)?;
            let turn = Instant::now();
            black_box(simulation.final_state(black_box(&settings))?);
            least = least.min(turn.elapsed().as_secs_f64());
        }
        let (total, functions) = (operations.total(), operations.functions);
        println!("{name}\t{count}\t{total}\t{functions}\t{:.0}", 1e9 * least / STEPS);
    }
    Ok(())
}
