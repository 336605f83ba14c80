//! Structs that are generic in every way, and what uses them.

use fbint_runtime::{GeneratedSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

trait Mass {}

#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + q[1])]
struct Bound<T: Mass> {
    m: T,
}

#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + q[1])]
struct Where<T>
where
    T: Mass,
{
    m: T,
}

#[feedback_system(coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m[0]) + q[1])]
struct Sized<const N: usize> {
    m: [f64; N],
}

fn main() {
    let sized = Sized { m: [1.0] };
    let start = SizedState { q: vector![0.0, -1.0], p: vector![1.0, 0.0] };
    println!("{}", Simulation::new(&sized, start).unwrap().run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap().drift());
    let bound = Bound { m: 1.0 };
    let start = BoundState { q: vector![0.0, -1.0], p: vector![1.0, 0.0] };
    println!("{}", Simulation::new(&bound, start).unwrap().run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap().drift());
    println!("{}", Where::FACTS.equations);
}
