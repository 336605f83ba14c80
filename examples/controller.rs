//! A controller that balances a pole on a cart.
//!
//! fbint differentiates the declared model, so the linear system near the upright pole needs no algebra by hand. Ackermann's formula places the
//! poles of the closed loop, and the nonlinear model runs under the controller until the pole is at rest.
//!
//! `cargo run -p fbint-examples --bin controller`

use fbint_runtime::{Event, FeedbackSystem, Linearisation, Method, Simulation, feedback_system};
use nalgebra::{DMatrix, DVector};

/// A pole that stands on a cart, with a motor whose thrust is an input.
#[feedback_system(
    coordinates(x, angle),
    velocities(v, omega),
    input(thrust),
    define(tip = vector![v + l * omega * angle.cos(), -l * omega * angle.sin()]),
    lagrangian = cart * v.powi(2) / 2 + m * tip.norm_squared() / 2 - m * g * l * angle.cos(),
    force(v = thrust),
    derivatives,
)]
struct CartPole {
    cart: f64,
    m: f64,
    l: f64,
    g: f64,
}

/// The row K for which A - B K has the eigenvalue `rate`, as many times as there are states (Ackermann 1972).
fn gains(a: &DMatrix<f64>, b: &DVector<f64>, rate: f64) -> Option<DVector<f64>> {
    let n = a.nrows();
    let reached: Vec<DVector<f64>> = std::iter::successors(Some(b.clone()), |power| Some(a * power)).take(n).collect();
    let last = DMatrix::from_columns(&reached).try_inverse()?.row(n - 1).transpose();
    let polynomial = (a - DMatrix::identity(n, n) * rate).pow(n as u32);
    Some(polynomial.transpose() * last)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let cart_pole = CartPole { cart: 1.0, m: 0.1, l: 0.5, g: 9.81 };
    let at = |angle| CartPoleState { x: 0.0, angle, v: 0.0, omega: 0.0, time: 0.0, work: 0.0 };
    let upright = Linearisation::new::<CartPole>(&cart_pole.prepare(), &at(0.0).into());
    // The state also has the time and the work, which the controller does not move.
    let (a, b) = (upright.a.view((0, 0), (4, 4)).into_owned(), upright.b.view((0, 0), (4, 1)).column(0).into_owned());
    let k = gains(&a, &b, -3.0).ok_or("the thrust does not reach every state")?;

    let controller = |_: f64, s: &CartPoleState| CartPoleInput {
        thrust: -(k[0] * s.x + k[1] * s.angle + k[2] * s.v + k[3] * s.omega),
    };
    let is_moving = |s: &CartPoleState| s.x.abs() + s.angle.abs() + s.v.abs() + s.omega.abs() - 1e-3;
    let at_rest = Event::new("at rest", move |_, s: &CartPoleState| is_moving(s)).falling().terminal();
    let run =
        Simulation::new(&cart_pole, at(0.3))?.input(controller).event(at_rest).run(Method::Rk4 { h: 1e-3 }, 60.0)?;
    println!("from 0.3 rad the pole is at rest after {:.2} s", run.time());
    Ok(())
}
