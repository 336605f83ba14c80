//! An ensemble: a satellite breaks up, and its fragments spread along the orbit.
//!
//! A fragment that leaves faster rises to a larger orbit and falls behind. Members run side by side in vectors and on all cores, with
//! results that depend on neither. To first order a change dv of the speed turns the fragment by -6 pi dv in each revolution.
//!
//! `cargo run -p fbint-examples --bin ensemble`

use std::f64::consts::PI;

use fbint_runtime::{Ensemble, Method, feedback_system};

/// A body that a planet attracts, in polar coordinates; the speed on the circle of radius 1 is 1.
#[feedback_system(
    coordinates(r, angle),
    momenta(p, l),
    hamiltonian = (p.powi(2) + l.powi(2) / r.powi(2)) / 2 - 1 / r,
    invariant(angular_momentum = l),
)]
struct Orbit;

const FRAGMENTS: usize = 500;
const FASTEST: f64 = 0.01;
const REVOLUTIONS: f64 = 10.0;

fn main() -> Result<(), fbint_runtime::Error> {
    let changes = (0..FRAGMENTS).map(|i| FASTEST * (2.0 * i as f64 / (FRAGMENTS - 1) as f64 - 1.0));
    let starts = changes.map(|dv| OrbitState { r: 1.0, angle: 0.0, p: 0.0, l: 1.0 + dv });
    let method = Method::Dop853 { rtol: 1e-10, atol: None };
    let run = Ensemble::new(&Orbit, starts).run(method, 2.0 * PI * REVOLUTIONS)?;
    let end = run.statistics().last().expect("the end of a run is sampled");
    assert_eq!(end.members, FRAGMENTS as u64);

    // The variance of numbers that are spread evenly over -a..a is a^2 / 3.
    let (found, linear) = (end.state.variance[1].sqrt(), 6.0 * PI * REVOLUTIONS * FASTEST / 3.0_f64.sqrt());
    println!("after {REVOLUTIONS} revolutions the fragments scatter by {found:.3} rad, {linear:.3} rad to first order");
    Ok(())
}
