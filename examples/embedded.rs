//! The loop of a microcontroller on the desk: the same `no_std` library in single and in double precision.
//!
//! The library is in `embedded/src/lib.rs`. Feedback holds the integrals, so in single precision they stay at the rounding of the numbers
//! instead of moving away with every step.
//!
//! `cargo run -p fbint-examples --bin embedded`

use fbint_embedded::{Loop, SphericalPendulum, SphericalPendulumState};
use fbint_runtime::nalgebra::vector;
use fbint_runtime::{Error, Scalar};

const TICKS: u32 = 100_000;

/// The largest change of an integral in all ticks, and the height at the end.
fn ticks<T: Scalar + Into<f64>>() -> Result<[f64; 2], Error> {
    let pendulum = SphericalPendulum { m: 1.0, g: 1.0, l: 1.0 };
    let start = SphericalPendulumState { q: vector![0.0, 1.0, 0.0], p: vector![1.0, 0.0, 1.0] };
    let mut control = Loop::<T>::new(&pendulum, start, 1e-3)?;
    let mut worst = 0.0_f64;
    for _ in 0..TICKS {
        control.tick();
        worst = worst.max(control.violation());
    }
    Ok([worst, control.height()])
}

fn main() -> Result<(), Error> {
    let ([single, low], [double, height]) = (ticks::<f32>()?, ticks::<f64>()?);
    assert!((height - low).abs() < 1e-3, "{height} and {low}");
    let steps = single / f64::from(f32::EPSILON);
    println!(
        "after {TICKS} ticks of 1 ms no integral is off by more than {steps:.0} roundings in f32; in f64: {double:.1e}"
    );
    Ok(())
}
