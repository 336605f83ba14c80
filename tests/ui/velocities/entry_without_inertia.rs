//! Two entries of a vector have no inertia, and a reaction holds one of them.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

#[feedback_system(
    coordinates(gamma: [3]),
    velocities(xi: [3]),
    kinematics(gamma = gamma.cross(&xi)),
    lagrangian = m * xi[0].powi(2) / 2 - m * g * gamma[2],
    velocity_constraint(no_spin = xi[2]),
    constraint(length = gamma.norm_squared() - 1),
)]
struct Body {
    m: f64,
    g: f64,
}

fn main() {
    let system = Body { m: 1.0, g: 1.0 };
    let start = BodyState { gamma: vector![0.0, 0.0, 1.0], xi: vector![1.0, 0.0, 0.0] };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Body::FACTS.equations);
}
