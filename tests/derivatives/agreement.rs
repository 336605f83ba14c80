//! Generated derivatives against dual numbers, differences, and one another, at random states with random parameters.

use fbint_runtime::{
    DifferentiableSystem, Direction, DrivenSystem, Entries, Entry, FeedbackLaw, FeedbackSystem, Gradient, Integrals,
    PreparedSystem, Scalar, Vector,
};
use fbint_tests::Random;
use nalgebra::{Matrix3, Vector3};
use num_dual::Dual64;

use super::systems::*;

/// How many states a system is tested at.
const STATES: usize = 1000;
/// States at which a derivative is larger than this are passed over: the linear systems there are nearly singular.
const LARGEST: f64 = 1e2;

/// A law with a constant diagonal K.
struct Diagonal<S: FeedbackSystem> {
    gains: Integrals<S>,
    targets: Integrals<S>,
}

impl<S: FeedbackSystem, T: Scalar> FeedbackLaw<S, T> for Diagonal<S> {
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        Entries::from_fn(|i| T::from_f64(self.gains[i]) * (integrals[i] - T::from_f64(self.targets[i])))
    }
}

/// A function of a system, and its derivatives.
struct Function<S: DifferentiableSystem, R> {
    name: &'static str,
    value: fn(&S::Prepared<Dual64>, &Vector<S, Dual64>, &Diagonal<S>) -> R,
    tangent: fn(&S::Prepared<f64>, &Vector<S>, &Diagonal<S>, &Direction<S>) -> [Vec<f64>; 2],
    /// The derivative along a direction of the state alone, where there is a function for it.
    by_state: fn(&S::Prepared<f64>, &Vector<S>, &Diagonal<S>, &Vector<S>) -> Option<Vec<f64>>,
    adjoint: fn(&S::Prepared<f64>, &Vector<S>, &Diagonal<S>, &[f64]) -> Gradient<S>,
    derivatives: fn(&S::Prepared<f64>, &Vector<S>, &Diagonal<S>) -> Vec<f64>,
    pattern: &'static [(usize, usize)],
}

fn vec<T: Entry>(entries: impl AsRef<[T]>) -> Vec<T> {
    entries.as_ref().to_vec()
}

fn functions<S: DifferentiableSystem>() -> [Function<S, Vec<Dual64>>; 4] {
    [
        Function {
            name: "vector_field",
            value: |system, x, _| vec(system.vector_field(x)),
            tangent: |system, x, _, v| {
                let (value, tangent) = S::vector_field_tangent(system, x, &v.prepare(system));
                assert_eq!(value, system.vector_field(x));
                [vec(value), vec(tangent)]
            },
            by_state: |system, x, _, v| Some(vec(S::vector_field_state_tangent(system, x, v).1)),
            adjoint: |system, x, _, w| S::vector_field_adjoint(system, x, &Entries::from_fn(|i| w[i])),
            derivatives: |system, x, _| vec(S::vector_field_derivatives(system, x)),
            pattern: S::VECTOR_FIELD_PATTERN,
        },
        Function {
            name: "feedback_field",
            value: |system, x, law| vec(system.feedback_field(x, law)),
            tangent: |system, x, law, v| {
                let v = v.prepare(system);
                let (value, tangent) = S::feedback_field_tangent(system, x, &law.gains, &law.targets, &v);
                [vec(value), vec(tangent)]
            },
            by_state: |system, x, law, v| {
                Some(vec(S::feedback_field_state_tangent(system, x, &law.gains, &law.targets, v).1))
            },
            adjoint: |system, x, law, w| {
                S::feedback_field_adjoint(system, x, &law.gains, &law.targets, &Entries::from_fn(|i| w[i]))
            },
            derivatives: |system, x, law| vec(S::feedback_field_derivatives(system, x, &law.gains, &law.targets)),
            pattern: S::FEEDBACK_FIELD_PATTERN,
        },
        Function {
            name: "integrals",
            value: |system, x, _| vec(system.integrals(x)),
            tangent: |system, x, _, v| {
                let (value, tangent) = S::integrals_tangent(system, x, &v.prepare(system));
                assert_eq!(value, system.integrals(x));
                [vec(value), vec(tangent)]
            },
            by_state: |_, _, _, _| None,
            adjoint: |system, x, _, w| S::integrals_adjoint(system, x, &Entries::from_fn(|i| w[i])),
            derivatives: |system, x, _| vec(S::integrals_derivatives(system, x)),
            pattern: S::INTEGRALS_PATTERN,
        },
        Function {
            name: "outputs",
            value: |system, x, _| vec(system.outputs(x)),
            tangent: |system, x, _, v| {
                let (value, tangent) = S::outputs_tangent(system, x, &v.prepare(system));
                assert_eq!(value, system.outputs(x));
                [vec(value), vec(tangent)]
            },
            by_state: |_, _, _, _| None,
            adjoint: |system, x, _, w| S::outputs_adjoint(system, x, &Entries::from_fn(|i| w[i])),
            derivatives: |system, x, _| vec(S::outputs_derivatives(system, x)),
            pattern: S::OUTPUTS_PATTERN,
        },
    ]
}

/// How a system takes inputs, in doubles and in dual numbers.
struct Inputs<S: DifferentiableSystem> {
    given: fn(S::Prepared<f64>, &[f64]) -> S::Prepared<f64>,
    dual: fn(S::Prepared<Dual64>, &[Dual64]) -> S::Prepared<Dual64>,
}

impl<S: DifferentiableSystem> Inputs<S> {
    fn none() -> Self {
        Self { given: |system, _| system, dual: |system, _| system }
    }
}

impl<S: DifferentiableSystem + DrivenSystem> Inputs<S> {
    fn of_driven() -> Self {
        Self {
            given: |system, input| S::with_input(system, Entries::from_fn(|i| input[i])),
            dual: |system, input| S::with_input(system, Entries::from_fn(|i| input[i])),
        }
    }
}

/// The largest errors that were found.
#[derive(Debug, Default)]
struct Errors {
    value: f64,
    tangent: f64,
    adjoint: f64,
    derivatives: f64,
    parameters: f64,
}

fn largest(entries: &[f64]) -> f64 {
    entries.iter().fold(0.0, |largest: f64, entry| if entry.is_nan() { f64::NAN } else { largest.max(entry.abs()) })
}

/// The largest difference relative to the largest entry, or to 1.
fn error(obtained: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(obtained.len(), expected.len());
    let differences: Vec<f64> = obtained.iter().zip(expected).map(|(x, y)| x - y).collect();
    largest(&differences) / largest(expected).max(1.0)
}

fn agrees<S: DifferentiableSystem + Clone>(system: S, inputs: Inputs<S>, range: [f64; 2]) {
    let mut random = Random::new(1);
    let mut worst = Errors::default();
    let mut found = 0;
    for attempt in 0.. {
        assert!(attempt < 20 * STATES, "{}: {found} states", S::NAME);
        if at_random_state(&system, &inputs, range, &mut random, &mut worst) {
            found += 1;
        }
        if found == STATES {
            break;
        }
    }
    println!("{:<24} {worst:?}", S::NAME);
    assert!(worst.value < 1e-12 && worst.tangent < 1e-12 && worst.derivatives < 1e-12, "{}: {worst:?}", S::NAME);
    assert!(worst.adjoint < 1e-13 && worst.parameters < 1e-9, "{}: {worst:?}", S::NAME);
}

/// A random state of a system with random parameters and inputs, and a direction.
struct Place<'a, S: DifferentiableSystem> {
    system: S,
    inputs: &'a Inputs<S>,
    input: S::ByInputs<f64>,
    prepared: S::Prepared<f64>,
    x: Vector<S>,
    law: Diagonal<S>,
    direction: Direction<S>,
}

/// Whether derivatives are of moderate size at a random state; if they are, their errors are found.
fn at_random_state<S: DifferentiableSystem + Clone>(
    system: &S,
    inputs: &Inputs<S>,
    range: [f64; 2],
    random: &mut Random,
    worst: &mut Errors,
) -> bool {
    let place = Place::random(system.clone(), inputs, range, random);
    let functions = functions::<S>();
    if !functions.iter().all(|f| largest(&(f.derivatives)(&place.prepared, &place.x, &place.law)) < LARGEST) {
        return false;
    }
    for f in &functions {
        place.compare_with_dual_numbers(f, worst);
        place.compare_with_one_another(f, random, worst);
        place.compare_with_differences(f, worst);
    }
    true
}

impl<'a, S: DifferentiableSystem + Clone> Place<'a, S> {
    fn random(mut system: S, inputs: &'a Inputs<S>, [low, high]: [f64; 2], random: &mut Random) -> Self {
        for index in 0..S::PARAMETER_NAMES.len() {
            *system.parameter_mut(index).expect("a parameter") += random.between(-0.3, 0.3);
        }
        let x = Entries::from_fn(|_| random.between(low, high));
        let input: S::ByInputs<f64> = Entries::from_fn(|_| random.between(-1.0, 1.0));
        let law = Diagonal {
            gains: Entries::from_fn(|_| random.between(0.5, 2.0)),
            targets: Entries::from_fn(|_| random.between(-1.0, 1.0)),
        };
        let direction = Direction {
            state: Entries::from_fn(|_| random.between(-1.0, 1.0)),
            parameters: Entries::from_fn(|_| random.between(-1.0, 1.0)),
            inputs: Entries::from_fn(|_| random.between(-1.0, 1.0)),
        };
        let prepared = (inputs.given)(system.prepare(), input.as_ref());
        Self { system, inputs, input, prepared, x, law, direction }
    }

    /// The values of a function and its derivatives along the states and inputs of a direction, by dual numbers.
    fn dual(&self, f: &Function<S, Vec<Dual64>>, direction: &Direction<S>) -> [Vec<f64>; 2] {
        let moved: Vec<Dual64> =
            (0..self.input.as_ref().len()).map(|i| Dual64::new(self.input[i], direction.inputs[i])).collect();
        let system = (self.inputs.dual)(S::gather::<Dual64>(|_| &self.prepared), &moved);
        let x = Entries::from_fn(|i| Dual64::new(self.x[i], direction.state[i]));
        let values = (f.value)(&system, &x, &self.law);
        [values.iter().map(|value| value.re).collect(), values.iter().map(|value| value.eps).collect()]
    }

    fn tangent(&self, f: &Function<S, Vec<Dual64>>, direction: &Direction<S>) -> [Vec<f64>; 2] {
        (f.tangent)(&self.prepared, &self.x, &self.law, direction)
    }

    /// The sparse Jacobian.
    fn entries(&self, f: &Function<S, Vec<Dual64>>) -> Vec<f64> {
        let entries = (f.derivatives)(&self.prepared, &self.x, &self.law);
        assert_eq!(entries.len(), f.pattern.len(), "{}", f.name);
        entries
    }

    /// Along states and inputs. What is not in the pattern of the Jacobian vanishes.
    fn compare_with_dual_numbers(&self, f: &Function<S, Vec<Dual64>>, worst: &mut Errors) {
        let direction = Direction { parameters: Entries::from_fn(|_| 0.0), ..self.direction };
        let [value, slope] = self.dual(f, &direction);
        let [obtained, tangent] = self.tangent(f, &direction);
        worst.value = worst.value.max(error(&obtained, &value));
        worst.tangent = worst.tangent.max(error(&tangent, &slope));
        if let Some(tangent) = (f.by_state)(&self.prepared, &self.x, &self.law, &self.direction.state) {
            let [_, slope] = self.dual(f, &Direction::of_state(self.direction.state));
            worst.tangent = worst.tangent.max(error(&tangent, &slope));
        }

        let (first, entries) = (S::STATE.len() + S::PARAMETER_NAMES.len(), self.entries(f));
        for column in (0..S::STATE.len()).chain(first..first + self.input.as_ref().len()) {
            let mut unit = Direction::<S>::zero();
            match column.checked_sub(first) {
                Some(place) => unit.inputs[place] = 1.0,
                None => unit.state[column] = 1.0,
            }
            let mut dense = vec![0.0; value.len()];
            let of_column = f.pattern.iter().zip(&entries).filter(|((_, other), _)| *other == column);
            of_column.for_each(|((row, _), entry)| dense[*row] = *entry);
            worst.derivatives = worst.derivatives.max(error(&dense, &self.dual(f, &unit)[1]));
        }
    }

    /// Along all unknowns: the Jacobian, the tangent and the adjoint say the same.
    fn compare_with_one_another(&self, f: &Function<S, Vec<Dual64>>, random: &mut Random, worst: &mut Errors) {
        let (direction, entries) = (&self.direction, self.entries(f));
        let [_, tangent] = self.tangent(f, direction);
        let flat: Vec<f64> =
            [direction.state.as_ref(), direction.parameters.as_ref(), direction.inputs.as_ref()].concat();
        let weights: Vec<f64> = tangent.iter().map(|_| random.between(-1.0, 1.0)).collect();
        let (mut product, mut size) = (vec![0.0; tangent.len()], 0.0);
        for ((row, column), entry) in f.pattern.iter().zip(&entries) {
            product[*row] += entry * flat[*column];
            size += (weights[*row] * entry * flat[*column]).abs();
        }
        worst.derivatives = worst.derivatives.max(error(&product, &tangent));
        let gradient = (f.adjoint)(&self.prepared, &self.x, &self.law, &weights);
        let by_tangent: f64 = weights.iter().zip(&tangent).map(|(w, t)| w * t).sum();
        worst.adjoint = worst.adjoint.max((by_tangent - gradient.along(direction)).abs() / size.max(1.0));
    }

    /// Along parameters, by differences of order 6.
    fn compare_with_differences(&self, f: &Function<S, Vec<Dual64>>, worst: &mut Errors) {
        let moved = |step: f64| {
            let mut moved = self.system.clone();
            for index in 0..S::PARAMETER_NAMES.len() {
                *moved.parameter_mut(index).expect("a parameter") += step * self.direction.parameters[index];
            }
            let prepared = (self.inputs.given)(moved.prepare(), self.input.as_ref());
            let [value, _] = (f.tangent)(&prepared, &self.x, &self.law, &Direction::zero());
            value
        };
        let difference = |step: f64| -> Vec<f64> {
            let (above, below) = (moved(step), moved(-step));
            above.iter().zip(&below).map(|(a, b)| (a - b) / (2.0 * step)).collect()
        };
        let [one, two, three] = [5e-4, 1e-3, 1.5e-3].map(difference);
        let expected: Vec<f64> = (0..one.len()).map(|i| 1.5 * one[i] - 0.6 * two[i] + 0.1 * three[i]).collect();
        let direction = Direction { parameters: self.direction.parameters, ..Direction::zero() };
        let [_, obtained] = self.tangent(f, &direction);
        worst.parameters = worst.parameters.max(error(&obtained, &expected));
    }
}

macro_rules! systems {
    ($($test:ident: $system:ident { $($field:ident: $value:expr),* }, $inputs:ident, $range:expr;)*) => {$(
        #[test]
        fn $test() {
            agrees($system { $($field: $value),* }, Inputs::$inputs(), $range);
        }
    )*};
}

systems! {
    spherical_pendulum: SphericalPendulum { m: 1.0, g: 1.0, l: 1.0 }, none, [-1.5, 1.5];
    spherical_pendulum_cpv22: SphericalPendulumCpv22 { m: 1.0, g: 1.0, l: 1.0 }, none, [-1.5, 1.5];
    planar_pendulum: PlanarPendulum { m: 1.0, g: 1.0, l: 1.0 }, none, [-1.5, 1.5];
    four_bar: FourBar { la: 1.0, lb: 1.0, lc: 1.0, ln: 1.0, m: 1.0, g: 1.0 }, none, [-1.5, 1.5];
    free_rigid_body: FreeRigidBody { inertia: Vector3::repeat(1.0) }, none, [-1.5, 1.5];
    euler_top: EulerTop { inertia: Vector3::repeat(1.0) }, none, [-1.5, 1.5];
    kepler: Kepler { mu: 1.0 }, none, [-1.5, 1.5];
    perturbed_kepler: PerturbedKepler { mu: 1.0, eps: 1.0 }, none, [-1.5, 1.5];
    cart_pendulum: CartPendulum { cart: 1.0, m: 1.0, l: 1.0, g: 1.0 }, none, [-1.5, 1.5];
    chaplygin_sleigh: ChaplyginSleigh { m: 1.0, j: 1.0, a: 1.0 }, none, [-1.5, 1.5];
    held_sleigh: HeldSleigh { m: 1.0, j: 1.0, a: 1.0 }, none, [-1.5, 1.5];
    balanced_sleigh: BalancedSleigh { m: 1.0, j: 1.0 }, none, [-1.5, 1.5];
    degenerate_pendulum: DegeneratePendulum { m: 1.0, g: 1.0, r: 1.0 }, none, [-1.5, 1.5];
    hamel_pendulum: HamelPendulum { m: 1.0, g: 1.0, l: 1.0 }, none, [-1.5, 1.5];
    heisenberg_system: HeisenbergSystem { m: 1.0 }, none, [-1.5, 1.5];
    knife_edge: KnifeEdge { m: 1.0, j: 1.0, g: 1.0, slope: 1.0 }, none, [-1.5, 1.5];
    nonholonomic_oscillator: NonholonomicOscillator { k: 1.0 }, none, [-1.5, 1.5];
    roller_racer: RollerRacer { m: 1.0, i1: 1.0, i2: 1.0, d1: 1.0, d2: 1.0 }, none, [-1.5, 1.5];
    rolling_disk: RollingDisk { m: 1.0, i: 1.0, j: 1.0, radius: 1.0 }, none, [-1.5, 1.5];
    suslov_problem: SuslovProblem { inertia: Matrix3::identity(), axis: Vector3::repeat(1.0) }, none, [-1.5, 1.5];
    chain4: Chain4 { m: 1.0, g: 1.0, l: 1.0 }, none, [-1.5, 1.5];
    cart_pole: CartPole { cart: 1.0, m: 1.0, l: 1.0, g: 1.0, c: 1.0 }, of_driven, [-1.5, 1.5];
    moving_pivot: MovingPivot { m: 1.0, l: 1.0, g: 1.0, c: 1.0, a: 1.0, omega: 1.0 }, of_driven, [-1.5, 1.5];
    elementary_functions: Functions { a: 1.0 }, none, [0.3, 1.2];
}
