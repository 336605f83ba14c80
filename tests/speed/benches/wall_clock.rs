//! Time for each evaluation inside a loop of Euler steps: the generated field against the kernel written by hand, in turns in
//! one run. Build for the machine at hand; `--target` leaves the compiler's own dependencies as they are:
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=native" cargo bench -p fbint-speed --bench wall_clock --target x86_64-unknown-linux-gnu
//! ```
#![allow(missing_docs)]

use std::hint::black_box;
use std::time::Instant;

use fbint_runtime::Error;
use fbint_speed::Kernel;
use fbint_speed::rivals::{Contested, Generated, rivals};
use models::{Chain4, Chain8, Chain16, FourBar, PlanarPendulum, SphericalPendulum};
use nalgebra::SVector;

/// Of so many turns the fastest counts, because everything else on the machine only makes them slower.
const TURNS: usize = 200;
/// So short that the state stays near its start.
const STEP: f64 = 1e-5;

fn main() -> Result<(), Error> {
    println!("{:<20} {:>12} {:>12} {:>7}", "ns per evaluation", "generated", "by hand", "ratio");
    compare::<SphericalPendulum, 6, 4>()?;
    compare::<PlanarPendulum, 4, 3>()?;
    compare::<FourBar, 8, 7>()?;
    compare::<Chain4, 24, 9>()?;
    compare::<Chain8, 48, 17>()?;
    compare::<Chain16, 96, 33>()
}

fn compare<S: Contested<N, M>, const N: usize, const M: usize>() -> Result<(), Error> {
    let (generated, by_hand, start) = rivals::<S, N, M>()?;
    let steps = 200_000 / N;
    let (mut best, mut best_by_hand) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        best = best.min(seconds(|| run_generated(black_box(&generated), black_box(start), steps)));
        best_by_hand = best_by_hand.min(seconds(|| run_by_hand(black_box(&by_hand), black_box(start), steps)));
    }
    let nanoseconds = |seconds: f64| seconds / steps as f64 * 1e9;
    let (own, rival) = (nanoseconds(best), nanoseconds(best_by_hand));
    println!("{:<20} {own:>12.2} {rival:>12.2} {:>7.3}", S::NAME, own / rival);
    Ok(())
}

fn seconds<const N: usize>(run: impl FnOnce() -> SVector<f64, N>) -> f64 {
    let start = Instant::now();
    black_box(run());
    start.elapsed().as_secs_f64()
}

#[inline(never)]
fn run_generated<S: Contested<N, M>, const N: usize, const M: usize>(
    generated: &Generated<S, N, M>,
    mut x: SVector<f64, N>,
    steps: usize,
) -> SVector<f64, N> {
    for _ in 0..steps {
        generated.euler_step(&mut x, STEP);
    }
    x
}

#[inline(never)]
fn run_by_hand<K: Kernel<N>, const N: usize>(by_hand: &K, mut x: SVector<f64, N>, steps: usize) -> SVector<f64, N> {
    for _ in 0..steps {
        by_hand.euler_step(&mut x, STEP);
    }
    x
}
