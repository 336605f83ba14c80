//! What an ensemble takes on one thread for a member, against the same runs one after the other, in turns: everything that
//! [`Ensemble`] does, with samples at the start and the end, against [`Simulation::final_state`], which does nothing but step. Build for
//! the machine at hand; `--target` leaves the compiler's own dependencies as they are:
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=native" cargo bench -p fbint-speed --bench ensembles --target x86_64-unknown-linux-gnu
//! ```
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use fbint_runtime::{
    ConsistentStart, Ensemble, Entries, Error, Gains, Method, Projection, Settings, Simulation, Vector,
};
use fbint_speed::rivals::Contested;
use models::{Chain4, FourBar, PlanarPendulum, SphericalPendulum};
use rayon::ThreadPoolBuilder;

/// The number of turns. The fastest counts, because everything else on the machine only makes them slower; the median of the ratios,
/// where both of a turn are disturbed more or less alike, says how far to trust that.
const TURNS: usize = 25;
const MEMBERS: usize = 960;
/// How many of them run one after the other, so that both take about as long.
const ALONE: usize = 240;
const METHODS: [(&str, Method); 4] = [
    ("RK4", Method::Rk4 { h: 1e-2 }),
    ("DOP853, 1e-6", Method::Dop853 { rtol: 1e-6, atol: Some(1e-6) }),
    ("DOP853, 1e-10", Method::Dop853 { rtol: 1e-10, atol: Some(1e-10) }),
    ("Dormand-Prince, 1e-6", Method::DormandPrince { rtol: 1e-6, atol: Some(1e-6) }),
];

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let pool = ThreadPoolBuilder::new().num_threads(1).build()?;
    println!(
        "{:<20} {:<22} {:<10} {:>10} {:>10} {:>8} {:>8}",
        "us per member", "", "", "ensemble", "alone", "faster", "median"
    );
    pool.install(|| {
        compare::<SphericalPendulum>(20.0)?;
        compare::<FourBar>(10.0)?;
        compare::<PlanarPendulum>(20.0)?;
        compare::<Chain4>(2.0)
    })?;
    Ok(())
}

fn compare<S: Contested + Sync>(until: f64) -> Result<(), Error> {
    let system = S::default();
    let near = |member: usize| {
        let first = system.first_state();
        let guess = Vector::<S>::from_fn(|i| first[i] + 0.05 * ((7 * member + 3 * i + 1) as f64).sin());
        Ok(ConsistentStart::new(&system).solve(guess)?.into())
    };
    let starts: Vec<Vector<S>> = (0..MEMBERS).map(near).collect::<Result<_, Error>>()?;
    feedback(&system, &starts, until)?;
    for (name, method) in METHODS {
        for (policy, projection) in [("projected", Some(Projection::default())), ("plain", None)] {
            let settings = Settings { projection, every: Some(until), ..Settings::new(method, until) };
            let ensemble = || Ensemble::new(&system, starts.iter().copied()).run_with(black_box(&settings));
            let alone = || {
                let end = |start| Simulation::new(&system, start)?.final_state(black_box(&settings));
                starts.iter().step_by(MEMBERS / ALONE).map(|start| end(*start)).collect::<Result<Vec<_>, _>>()
            };
            assert_eq!(ensemble()?.failures().count(), 0);
            take_turns(&format!("{:<20} {name:<22} {policy:<10}", system.facts().name), ensemble, alone);
        }
    }
    Ok(())
}

/// The same with feedback instead of projections.
fn feedback<S: Contested + Sync>(system: &S, starts: &[Vector<S>], until: f64) -> Result<(), Error> {
    let settings = Settings { every: Some(until), ..Settings::new(Method::Rk4 { h: 1e-2 }, until) };
    let gains = Gains::uniform(1.0);
    let ensemble = || Ensemble::new(system, starts.iter().copied()).gains(gains).run_with(black_box(&settings));
    let alone = || {
        let end = |start| Simulation::new(system, start)?.gains(gains).final_state(black_box(&settings));
        starts.iter().step_by(MEMBERS / ALONE).map(|start| end(*start)).collect::<Result<Vec<_>, _>>()
    };
    assert_eq!(ensemble()?.failures().count(), 0);
    take_turns(&format!("{:<20} {:<22} {:<10}", system.facts().name, "RK4", "feedback"), ensemble, alone);
    Ok(())
}

fn take_turns<T, U>(what: &str, ensemble: impl Fn() -> T, alone: impl Fn() -> U) {
    let turn = |_| [microseconds(&ensemble) / MEMBERS as f64, microseconds(&alone) / ALONE as f64];
    let turns: Vec<[f64; 2]> = (0..TURNS).map(turn).collect();
    let [together, apart] = [0, 1].map(|which| turns.iter().map(|turn| turn[which]).fold(f64::INFINITY, f64::min));
    let mut ratios: Vec<f64> = turns.iter().map(|[together, apart]| apart / together).collect();
    ratios.sort_by(f64::total_cmp);
    println!("{what} {together:>10.2} {apart:>10.2} {:>8.2} {:>8.2}", apart / together, ratios[TURNS / 2]);
}

fn microseconds<T>(run: impl Fn() -> T) -> f64 {
    let start = Instant::now();
    black_box(run());
    start.elapsed().as_secs_f64() * 1e6
}
