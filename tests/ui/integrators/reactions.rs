use fbint_runtime::{DiscreteHamel, feedback_system};

#[feedback_system(
    coordinates(x, y),
    velocities(vx, vy),
    lagrangian = m * (vx.powi(2) + vy.powi(2)) / 2 - m * g * y,
    constraint(length = x.powi(2) + y.powi(2) - 1),
)]
pub struct Pendulum {
    m: f64,
    g: f64,
}

fn main() {
    let start = PendulumState { x: 1.0, y: 0.0, vx: 0.0, vy: 0.0 };
    let _ = DiscreteHamel::new(&Pendulum { m: 1.0, g: 9.81 }, start);
}
