//! A force along a symmetry, whose momentum it changes.

use fbint_runtime::{Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(r, angle),
    momenta(pr, pa),
    hamiltonian = pr.powi(2) / (2 * m) + pa.powi(2) / (2 * m * r.powi(2)) - k / r,
    force(pr = -c * rate(r), pa = -c * r.powi(2) * rate(angle)),
    invariant(angular_momentum = pa),
)]
struct Satellite {
    m: f64,
    k: f64,
    c: f64,
}

fn main() {
    let satellite = Satellite { m: 1.0, k: 1.0, c: 0.1 };
    let start = SatelliteState { r: 1.0, angle: 0.0, pr: 0.0, pa: 1.0, work: 0.0 };
    println!("{}", Simulation::new(&satellite, start).unwrap().run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap().drift());
}
