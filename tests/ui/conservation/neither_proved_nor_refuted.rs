//! The logarithms cancel wherever all of them are defined, and algebra does not know that they do.

use fbint_runtime::{GeneratedSystem, Method, Simulation, feedback_system};

#[feedback_system(
    state(x, y),
    dynamics(x = (x * y).ln() - x.ln() - y.ln(), y = x),
    invariant(keep = x),
)]
struct Disguised {}

fn main() {
    let start = DisguisedState { x: 1.0, y: 1.0 };
    let run = Simulation::new(&Disguised {}, start).unwrap().run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    println!("{} {} {}", run.state().x, run.drift(), Disguised::FACTS.equations);
}
