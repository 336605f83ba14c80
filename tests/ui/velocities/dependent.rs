//! Three velocity constraints that say two things.

use fbint_runtime::{Gains, GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    coordinates(x, y, psi, phi),
    velocities(vx, vy, roll, turn),
    lagrangian = m * (vx.powi(2) + vy.powi(2) + roll.powi(2) + turn.powi(2)) / 2 - x - y - psi,
    velocity_constraint(
        slip_x = vx - phi.cos() * roll,
        slip_y = vy - phi.sin() * roll,
        roll_back = vx * phi.cos() + vy * phi.sin() - roll,
    ),
)]
struct Disk {
    m: f64,
}

fn main() {
    let system = Disk { m: 1.0 };
    let start = DiskState { x: 0.0, y: 0.0, psi: 0.0, phi: 0.0, vx: 1.0, vy: 0.0, roll: 1.0, turn: 0.0 };
    let simulation = Simulation::new(&system, start).unwrap().gains(Gains::uniform(50.0));
    let run = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{:?} {} {}", run.state(), run.drift(), Disk::FACTS.equations);
}
