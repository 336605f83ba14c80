//! Runs in three kinds of vectors: of a system's own length (a [`Simulation`]), of one of a few lengths, followed by zeros, and slices of
//! any length. `cargo bench -p fbint-speed --bench lengths` prints, for four systems, the time of a run without projections by RK4 and by
//! DOP853, at least, and the others in units of the second: medians of the ratios of runs that follow each other. The ends are the same
//! bits.

#![allow(missing_docs)]

#[path = "../../../fbint-runtime/benches/problems/outer_planets.rs"]
mod outer_planets;

use std::sync::Arc;
use std::time::Instant;

use fbint_command::Model;
use fbint_command::catalogue::{AnyModel, Entry, Feedback, FlatModel, Make, Plan};
use fbint_runtime::{Error, GeneratedSystem, Method, Settings, Simulation, Vector};
use models::{Chain8, FourBar, PlanarPendulum};
use outer_planets::{OUTER_PLANETS, OuterPlanets, OuterPlanetsState, ephemeris, state};

const TURNS: usize = 15;
/// The number of steps by RK4.
const STEPS: f64 = 4000.0;
const TOLERANCE: f64 = 1e-10;

impl Default for OuterPlanets {
    fn default() -> Self {
        OUTER_PLANETS
    }
}

impl Model for OuterPlanets {
    fn start(&self) -> Result<OuterPlanetsState, Error> {
        Ok(state(ephemeris).into())
    }
}

fn main() -> Result<(), Error> {
    println!(
        "| system | entries | RK4: padded, microseconds | typed | slices | DOP853: padded, microseconds | typed | slices |"
    );
    println!("|---|---|---|---|---|---|---|---|");
    row::<PlanarPendulum>(1e-3, 40.0)?;
    row::<FourBar>(1e-3, 40.0)?;
    row::<Chain8>(1e-3, 10.0)?;
    row::<OuterPlanets>(10.0, 100_000.0)
}

/// The row of a system: RK4 with steps of size `h`, and DOP853 until a time.
fn row<S: Model + GeneratedSystem + Default>(h: f64, until: f64) -> Result<(), Error> {
    let rk4 = times::<S>(Method::Rk4 { h }, STEPS * h)?;
    let dop853 = times::<S>(Method::Dop853 { rtol: TOLERANCE, atol: Some(TOLERANCE) }, until)?;
    println!("| {} | {} | {rk4} | {dop853} |", S::FACTS.name, S::FACTS.state.len());
    Ok(())
}

fn times<S: Model + GeneratedSystem + Default>(method: Method, until: f64) -> Result<String, Error> {
    let system = S::default();
    let start: Vector<S> = Model::start(&system)?.into();
    let flat_start = start.as_ref().to_vec();
    let make: Make<dyn FlatModel> = Arc::new(|| Box::new(S::default()));
    let (padded, slices) = ((Entry::flat(Arc::clone(&make)).load)(), (Entry::on_slices(make).load)());
    let settings = Settings { every: Some(until), ..Settings::new(method, until) };
    let plan = Plan::new(settings, Feedback::None);
    let of = |model: &dyn AnyModel| -> Result<(f64, Vec<f64>), Error> {
        timed(|| Ok(model.run(&flat_start, &plan, None, &mut |_| std::ops::ControlFlow::Continue(()))?.state))
    };
    let typed = || {
        let simulation = Simulation::new(&system, start)?.without_feedback().record_every(until);
        timed(|| Ok(Into::<Vector<S>>::into(simulation.run(method, until)?.state()).as_ref().to_vec()))
    };
    let (mut least, mut ratios) = (f64::INFINITY, [Vec::new(), Vec::new()]);
    for _ in 0..TURNS {
        let ((of_padded, end), (of_typed, typed_end), (of_slices, flat_end)) = (of(&*padded)?, typed()?, of(&*slices)?);
        assert!(end == typed_end && end == flat_end, "{}: {end:?} {typed_end:?} {flat_end:?}", S::FACTS.name);
        least = least.min(of_padded);
        ratios[0].push(of_typed / of_padded);
        ratios[1].push(of_slices / of_padded);
    }
    let [typed, slices] = ratios.map(median);
    Ok(format!("{:.0} | {typed:.2} | {slices:.2}", 1e6 * least))
}

fn timed<T>(run: impl FnOnce() -> Result<T, Error>) -> Result<(f64, T), Error> {
    let began = Instant::now();
    let end = run()?;
    Ok((began.elapsed().as_secs_f64(), end))
}

fn median(mut ratios: Vec<f64>) -> f64 {
    ratios.sort_by(f64::total_cmp);
    ratios[ratios.len() / 2]
}
