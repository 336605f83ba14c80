//! Four mistakes give four messages, and using the whole surface of the model gives none.

use fbint_runtime::{
    ConsistentStart, Feedback, FeedbackSystem, Field, Gains, GeneratedSystem, Method, PlainField, PreparedSystem,
    Simulation, feedback_system,
};
use nalgebra::vector;

#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l^2),
    invariants(angular_momentum = q[0] * p[1] - q[1] * p[0]),
)]
pub struct Pendulum {
    m: f64,
    g: f64,
    l: f64,
    drag: f64,
}

impl Pendulum {
    fn start(&self) -> PendulumState {
        PendulumState { q: vector![0.0, -self.l], p: vector![self.m, 0.0] }
    }
}

fn main() {
    let mut pendulum = Pendulum { m: 1.0, g: 1.0, l: 1.0, drag: 0.0 };
    *pendulum.parameter_mut(0).unwrap() = 2.0 * pendulum.parameter(1).unwrap();
    let start = ConsistentStart::new(&pendulum).hold(&["q[0]"]).unwrap().solve(pendulum.start()).unwrap();

    let simulation = Simulation::new(&pendulum, start).unwrap();
    let run = simulation.gains(Gains::uniform(50.0)).run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap();
    let PendulumState { q, p } = run.state();
    println!("{q} {p} {} {:?}", run.drift(), run.drift().get("length"));

    let mut x: [f64; 4] = start.into();
    let feedback = Feedback::new(&pendulum, &x, Gains::diagonal([1.0, 2.0, 3.0, 4.0])).unwrap();
    feedback.euler_step(&mut x, 1e-3);
    feedback.rk4_step(&mut x, 1e-3);
    let prepared = pendulum.prepare();
    println!("{:?} {:?}", PlainField::new(&pendulum).value(&x), (feedback.value(&x), prepared.vector_field(&x)));
    println!("{:?} {:?}", prepared.integrals(&x), prepared.integrals_jacobian(&x));
    println!("{} {:?}", PendulumState::from(x) == start, start.clone());
    println!("{} {:?}", Pendulum::FACTS.equations, Pendulum::FACTS.state);
    println!("{:?}", Pendulum::gather::<f32>(&|_| &prepared));
}
