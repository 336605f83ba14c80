//! Derivatives of runs against differences of runs, and against one another.

use std::num::NonZeroU32;

use fbint_runtime::tableau::{DOP853, DORMAND_PRINCE, EULER, HEUN, MIDPOINT, RK4, Tableau};
use fbint_runtime::{
    DifferentiableSystem, Direction, DrivenSystem, Entries, Feedback, FeedbackSystem, Gains, GeneratedSystem,
    Linearisation, Method, Projection, Sensitivity, Simulation, Vector,
};
use fbint_tests::Random;
use nalgebra::{DVector, Vector3};

use super::systems::*;

const STEPS: usize = 200;
const H: f64 = 0.01;

/// How a system takes inputs.
type WithInputs<S> = fn(
    <S as FeedbackSystem>::Prepared<f64>,
    <S as DifferentiableSystem>::ByInputs<f64>,
) -> <S as FeedbackSystem>::Prepared<f64>;

/// A system with its inputs, and where it starts.
struct Start<S: DifferentiableSystem + GeneratedSystem> {
    system: S,
    inputs: S::ByInputs<f64>,
    with_inputs: WithInputs<S>,
    x: Vector<S>,
    projection: Option<Projection>,
    /// The number and the size of steps.
    steps: (usize, f64),
}

impl<S: DifferentiableSystem + GeneratedSystem + Clone> Start<S> {
    fn without_inputs(system: S, x: Vector<S>) -> Self {
        let with_inputs = |system, _| system;
        Self { system, inputs: Entries::from_fn(|_| 0.0), with_inputs, x, projection: None, steps: (STEPS, H) }
    }

    fn prepared(&self) -> S::Prepared<f64> {
        (self.with_inputs)(self.system.prepare(), self.inputs)
    }

    /// The start that is moved along a direction.
    fn moved(&self, direction: &Direction<S>, step: f64) -> Self {
        let mut system = self.system.clone();
        for index in 0..S::FACTS.parameter_names.len() {
            *system.parameter_mut(index).expect("a parameter") += step * direction.parameters[index];
        }
        Self {
            system,
            inputs: Entries::from_fn(|i| self.inputs[i] + step * direction.inputs[i]),
            x: Entries::from_fn(|i| self.x[i] + step * direction.state[i]),
            ..*self
        }
    }

    fn run(&self) -> Sensitivity<S> {
        let run = Sensitivity::<S>::new(self.prepared());
        match self.projection {
            Some(projection) => run.projected(projection),
            None => run,
        }
    }

    fn end<const N: usize>(&self, method: &Tableau<N>) -> DVector<f64> {
        let (steps, h) = self.steps;
        let mut run = self.run().along(self.x, []);
        (0..steps).for_each(|_| run.step(method, h));
        DVector::from_column_slice(run.state().as_ref())
    }

    /// The derivative of the end along a direction, by central differences that are extrapolated twice (Richardson).
    fn difference<const N: usize>(&self, method: &Tableau<N>, direction: &Direction<S>) -> DVector<f64> {
        let central = |step: f64| {
            let [above, below] = [step, -step].map(|step| self.moved(direction, step).end(method));
            (above - below) / (2.0 * step)
        };
        // A projection moves a start that is off the constraints a long way, and not in proportion.
        let largest = if self.projection.is_some() { 6e-5 } else { 4e-3 };
        let [coarse, medium, fine] = [largest, largest / 2.0, largest / 4.0].map(central);
        let once = [(&medium * 4.0 - coarse) / 3.0, (fine * 4.0 - &medium) / 3.0];
        (&once[1] * 16.0 - &once[0]) / 15.0
    }

    fn agrees_by<const N: usize>(&self, name: &str, method: &Tableau<N>) {
        let mut random = Random::new(7);
        let (run, (steps, h)) = (self.run(), self.steps);
        let mut draw = || random.between(-1.0, 1.0);
        let mut directions: [Direction<S>; 3] = std::array::from_fn(|_| Direction {
            state: Entries::from_fn(|_| draw()),
            parameters: Entries::from_fn(|_| draw()),
            inputs: Entries::from_fn(|_| draw()),
        });
        directions[0] = Direction::of_state(directions[0].state);
        let weights: Vector<S> = Entries::from_fn(|_| draw());
        let mut moved = run.along(self.x, directions);
        (0..steps).for_each(|_| moved.step(method, h));
        let (end, gradient) = run.gradient(method, self.x, h, steps, 5, |_| weights);
        assert_eq!(end, *moved.state());
        for checkpoints in [0, 1, 2, 20, 1000] {
            assert_eq!(run.gradient(method, self.x, h, steps, checkpoints, |_| weights), (end, gradient));
        }
        let (mut by_differences, mut by_adjoint) = (0.0_f64, 0.0_f64);
        for (direction, moved) in directions.iter().zip(moved.derivatives()) {
            let tangent = DVector::from_column_slice(moved.as_ref());
            let scale = tangent.amax().max(1.0);
            by_differences = by_differences.max((self.difference(method, direction) - &tangent).amax() / scale);
            let product = tangent.dot(&DVector::from_column_slice(weights.as_ref()));
            by_adjoint = by_adjoint.max((product - gradient.along(direction)).abs() / scale);
        }
        let projection = if self.projection.is_some() { "projected" } else { "" };
        println!("{:<18} {name:<15} {projection:<9} {by_differences:.1e} {by_adjoint:.1e}", S::FACTS.name);
        assert!(by_differences < 1e-9 && by_adjoint < 1e-11, "{} {name}: {by_differences} {by_adjoint}", S::FACTS.name);
    }

    fn agrees(&self) {
        self.agrees_by("euler", &EULER);
        self.agrees_by("midpoint", &MIDPOINT);
        self.agrees_by("heun", &HEUN);
        self.agrees_by("rk4", &RK4);
        self.agrees_by("dormand-prince", &DORMAND_PRINCE);
    }

    /// With and without projections, of one iteration and of two. Steps with projections are long enough for estimates of their errors
    /// that are not made of rounding, beside which R, which is held, is small; those of DOP853 have to be `long`.
    fn agrees_projected(self, long: f64) {
        self.agrees();
        self.agrees_by("dop853", &DOP853);
        let once = Self { projection: Some(Projection::default()), steps: (8, 0.25), ..self };
        once.agrees();
        let iterations = NonZeroU32::new(2).expect("not 0");
        let twice = Self { projection: Some(Projection::iterations(iterations)), ..once };
        twice.agrees_by("rk4", &RK4);
        Self { steps: (4, long), ..twice }.agrees_by("dop853", &DOP853);
    }
}

#[test]
fn a_pendulum() {
    let pendulum = PlanarPendulum { m: 1.2, g: 1.1, l: 0.9 };
    Start::without_inputs(pendulum, [0.9, 0.0, 0.0, 0.3]).agrees_projected(0.5);
}

#[test]
fn a_rigid_body() {
    let body = EulerTop { inertia: Vector3::new(1.0, 2.0, 3.0) };
    Start::without_inputs(body, [0.5, 1.0, -0.3]).agrees_projected(0.5);
}

#[test]
fn a_sleigh() {
    let sleigh = HeldSleigh { m: 1.0, j: 0.4, a: 0.3 };
    let theta = 0.4_f64;
    Start::without_inputs(sleigh, [0.1, 0.2, theta, 0.9 * theta.cos(), 0.9 * theta.sin(), 0.5]).agrees_projected(1.0);
}

#[test]
fn a_cart_with_a_motor() {
    let start = Start {
        system: CartPole { cart: 2.0, m: 0.7, l: 1.1, g: 1.3, c: 0.2 },
        inputs: [0.4],
        with_inputs: CartPole::with_input,
        x: [0.1, 0.5, -0.2, 0.3, 0.0, 0.0],
        projection: None,
        steps: (STEPS, H),
    };
    start.agrees_projected(0.5);
}

/// The projection of a simulation is differentiated, not another one.
#[test]
fn runs_end_where_simulations_do() {
    let pendulum = PlanarPendulum { m: 1.2, g: 1.1, l: 0.9 };
    let start = PlanarPendulumState { q: [0.9, 0.0].into(), p: [0.0, 0.3].into() };
    let end = Simulation::new(&pendulum, start).expect("on the circle");
    let end = end.run(Method::Rk4 { h: H }, STEPS as f64 * H).expect("a run").state();
    let run = Sensitivity::<PlanarPendulum>::new(pendulum.prepare()).projected(Projection::default());
    let (same, _) = run.gradient(&RK4, start.into(), H, STEPS, 3, |x| *x);
    assert_eq!(same, <[f64; 4]>::from(end));

    let cart = CartPole { cart: 2.0, m: 0.7, l: 1.1, g: 1.3, c: 0.2 };
    let start = CartPoleState { x: 0.1, theta: 0.5, v: -0.2, w: 0.3, time: 0.0, work: 0.0 };
    let end = Simulation::new(&cart, start).expect("a start").input(|_: f64, _: &_| CartPoleInput { thrust: 0.4 });
    let end = end.run(Method::Rk4 { h: H }, STEPS as f64 * H).expect("a run").state();
    let prepared = CartPole::with_input(cart.prepare(), [0.4]);
    let run = Sensitivity::<CartPole>::new(prepared).projected(Projection::default());
    let (same, _) = run.gradient(&RK4, start.into(), H, STEPS, 3, |x| *x);
    assert_eq!(same, <[f64; 6]>::from(end));
}

/// With feedback, whose steps are those of the field with feedback, and whose targets are held; alone, and with projections.
#[test]
fn a_pendulum_with_feedback() {
    let start = [0.9, 0.0, 0.1, 0.3];
    let pendulum = PlanarPendulum { m: 1.2, g: 1.1, l: 0.9 };
    let held = Feedback::new(&pendulum, &[0.9, 0.0, 0.0, 0.3], Gains::uniform(2.0)).expect("a start on the circle");
    let direction = Direction::<PlanarPendulum>::of_state([0.3, -0.2, 0.5, 0.1]);
    for run in [held.sensitivity(), held.sensitivity().projected(Projection::default())] {
        let end = |x: [f64; 4]| {
            let mut run = run.along(x, []);
            (0..STEPS).for_each(|_| run.step(&RK4, H));
            DVector::from_column_slice(run.state())
        };
        let moved = |step: f64| end(std::array::from_fn(|i| start[i] + step * direction.state[i]));
        let [coarse, fine] = [2e-4, 1e-4].map(|step| (moved(step) - moved(-step)) / (2.0 * step));
        let mut along = run.along(start, [direction]);
        (0..STEPS).for_each(|_| along.step(&RK4, H));
        let [derivative] = along.derivatives();
        let error = ((fine * 4.0 - coarse) / 3.0 - DVector::from_column_slice(&derivative)).amax();
        assert!(error < 1e-9, "{error}");

        let weights = [0.4, -0.7, 0.2, 1.0];
        let (_, gradient) = run.gradient(&RK4, start, H, STEPS, 5, |_| weights);
        let product: f64 = weights.iter().zip(&derivative).map(|(w, v)| w * v).sum();
        assert!((gradient.along(&direction) - product).abs() < 1e-12, "{} {product}", gradient.along(&direction));
    }
    let mut stepped = start;
    (0..STEPS).for_each(|_| held.rk4_step(&mut stepped, H));
    assert_eq!(held.sensitivity().gradient(&RK4, start, H, STEPS, 5, |x| *x).0, stepped);
}

#[test]
fn a_cart_with_a_pole_is_linear_near_a_state() {
    let cart = CartPole { cart: 2.0, m: 0.7, l: 1.1, g: 1.3, c: 0.2 };
    let prepared = CartPole::with_input(cart.prepare(), [0.4]);
    let upright = CartPoleState { x: 0.0, theta: 0.0, v: 0.0, w: 0.0, time: 0.0, work: 0.0 };
    let Linearisation { a, b, c, d } = Linearisation::new::<CartPole>(&prepared, &upright.into());
    assert_eq!((a.shape(), b.shape(), c.shape(), d.shape()), ((6, 6), (6, 1), (1, 6), (1, 1)));
    // (cart + m) v' + m l w' = thrust - c v and v' + l w' = g theta, at rest upright.
    let entries = [
        (a[(0, 2)], 1.0),
        (a[(2, 1)], -0.7 * 1.3 / 2.0),
        (a[(2, 2)], -0.2 / 2.0),
        (a[(3, 1)], (2.7 * 1.3) / (2.0 * 1.1)),
        (b[(2, 0)], 1.0 / 2.0),
        (b[(3, 0)], -1.0 / (2.0 * 1.1)),
        (c[(0, 2)], 0.4),
        (d[(0, 0)], 0.0),
    ];
    for (place, (obtained, expected)) in entries.into_iter().enumerate() {
        assert!((obtained - expected).abs() < 1e-14, "{place}: {obtained}, expected {expected}");
    }
}
