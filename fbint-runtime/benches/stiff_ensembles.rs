//! What lanes gain for ensembles by Rodas5P: for each problem the time of a member one by one and in lanes, and their ratio, on one thread.
//!
//! `cargo bench -p fbint-runtime --bench stiff_ensembles --no-default-features --features std,ensemble`, for the machine at hand with
//! `RUSTFLAGS="-C target-cpu=native"` and its `--target`.

#[path = "problems/stiff.rs"]
#[expect(dead_code, reason = "starts and ends that tests need")]
mod stiff;

use std::time::Instant;

use fbint_runtime::{Ensemble, EnsembleGains, EnsembleRun, Error, FeedbackSystem, Gains, Lanes, Method, Settings};
use stiff::{Hires, Pendulum, Robertson, SpringPendulum, VanDerPol};

const MEMBERS: u32 = 512;
/// Each is timed so often, in turns; the least time counts.
const TURNS: usize = 7;

fn main() -> Result<(), Error> {
    println!("{} lanes to a vector", Lanes::<1>::COUNT);
    let spring = SpringPendulum { k: 1e6, g: 9.81 };
    let springs = || Ensemble::new(&spring, spread(|s| [s, 0.0, 0.0, 0.0]));
    measure("pendulum on a spring of 1e6", springs, 0.1)?;
    let held = || Ensemble::new(&Pendulum, spread(|s| [0.0, 1.0, 0.0, s, 0.0, s])).gains(Gains::uniform(1e4));
    measure("pendulum with feedback of 1e4", held, 2.0)?;
    let reactions = || Ensemble::new(&Robertson, spread(|s| Robertson::START.map(|entry| entry * s)));
    measure("Robertson's reactions", reactions, 1e5)?;
    let plants = || Ensemble::new(&Hires, spread(|s| Hires::START.map(|entry| entry * s)));
    measure("HIRES", plants, Hires::UNTIL)?;
    let van_der_pol = VanDerPol { mu: 1e3 };
    let oscillators = || Ensemble::new(&van_der_pol, spread(|s| VanDerPol::START.map(|entry| entry * s)));
    measure("van der Pol's oscillator, mu = 1e3", oscillators, VanDerPol::UNTIL)
}

/// Starts that are apart.
fn spread<V>(start: impl Fn(f64) -> V) -> impl Iterator<Item = V> {
    (0..MEMBERS).map(move |member| start(1.0 + 0.1 * f64::from(member) / f64::from(MEMBERS)))
}

/// What the members come to, and the time that it takes.
fn timed<S: FeedbackSystem>(run: impl FnOnce() -> Result<EnsembleRun<S>, Error>) -> Result<(String, f64), Error> {
    let begun = Instant::now();
    let run = run()?;
    let time = begun.elapsed().as_secs_f64();
    Ok((format!("{:?}", run.ends()), time))
}

fn measure<'a, S: FeedbackSystem + Sync + 'a, G: EnsembleGains<S>>(
    problem: &str,
    ensemble: impl Fn() -> Ensemble<'a, S, G>,
    until: f64,
) -> Result<(), Error> {
    let settings =
        Settings { every: Some(until), ..Settings::new(Method::Rodas5P { rtol: 1e-6, atol: Some(1e-9) }, until) };
    let (mut alone, mut lanes) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        let (ends, time) = timed(|| ensemble().run_one_by_one(&settings))?;
        let (ends_in_lanes, time_in_lanes) = timed(|| ensemble().run_with(&settings))?;
        assert!(ends == ends_in_lanes, "{problem}: bits differ");
        (alone, lanes) = (alone.min(time), lanes.min(time_in_lanes));
    }
    let [alone, lanes] = [alone, lanes].map(|time| 1e6 * time / f64::from(MEMBERS));
    println!("{problem}: {alone:.1} and {lanes:.1} microseconds, {:.2}", alone / lanes);
    Ok(())
}
