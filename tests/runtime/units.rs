//! Systems of units: by default a run takes the same steps in each of them.

use fbint_runtime::{
    Ensemble, Error, FeedbackSystem, Field, GaussStages, Integrator, Method, Run, Settings, Simulation, Snapshot,
    Tolerance, Vector, feedback_system,
};
use std::ops::ControlFlow;

use super::common::amount;

/// A rigid molecule in a field, from the end of a bond to the other.
#[feedback_system(
    coordinates(a: [2], b: [2]),
    momenta(p: [2], r: [2]),
    hamiltonian = (p.norm_squared() + r.norm_squared()) / (2 * m) - f * (a[0] - b[0]),
    constraint(bond = (a - b).norm_squared() - l.powi(2)),
)]
struct Molecule {
    m: f64,
    l: f64,
    f: f64,
}

/// A planet that a sun attracts.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) - mu * m / q.norm(),
)]
struct Planet {
    m: f64,
    mu: f64,
}

/// A cart with a pendulum: lengths beside angles, and entries that begin at 0.
#[feedback_system(
    coordinates(x, angle),
    momenta(p, spin),
    hamiltonian = (p.powi(2) / (2 * m) + spin.powi(2) / (2 * m * l.powi(2))) - m * g * l * angle.cos() + m * g * x * angle.sin() / 2,
)]
struct Cart {
    m: f64,
    l: f64,
    g: f64,
}

/// A rotation beside a number that is made of rounding, in units of 1 / k, and hovers about 0.
#[feedback_system(
    state(x, y, z),
    dynamics(
        x = y * (1 + k * z),
        y = -x * (1 + k * z),
        z = ((x + y).sin() - x.sin() * y.cos() - x.cos() * y.sin()) / k - z,
    ),
)]
struct Hovering {
    k: f64,
}

/// A mass at rest but for the rounding of forces that cancel, and one on a spring.
#[feedback_system(
    coordinates(x, y),
    velocities(v, w),
    lagrangian = (v.powi(2) + w.powi(2) - y.powi(2)) / 2 - k * ((x + y).cos() - x.cos() * y.cos() + x.sin() * y.sin()),
)]
struct Balanced {
    k: f64,
}

/// A sleigh on a slope: its skate does not slip sideways.
#[feedback_system(
    coordinates(x, y, angle),
    velocities(turn, v, slip),
    kinematics(
        x = v * angle.cos() - slip * angle.sin(),
        y = v * angle.sin() + slip * angle.cos(),
        angle = turn,
    ),
    lagrangian = m * (v.powi(2) + (slip + a * turn).powi(2) + (b * turn).powi(2)) / 2 - m * g * x,
    velocity_constraint(blade = slip),
)]
struct Sleigh {
    m: f64,
    a: f64,
    b: f64,
    g: f64,
}

/// The units of length, mass and time, in those of a declaration.
#[derive(Clone, Copy, Debug)]
struct Units {
    length: f64,
    mass: f64,
    time: f64,
}

impl Units {
    /// A number with these powers of the units, in the new ones.
    fn of(self, number: f64, [length, mass, time]: [i32; 3]) -> f64 {
        number / (self.length.powi(length) * self.mass.powi(mass) * self.time.powi(time))
    }
}

const LENGTH: [i32; 3] = [1, 0, 0];
const MASS: [i32; 3] = [0, 1, 0];
const NUMBER: [i32; 3] = [0, 0, 0];
const VELOCITY: [i32; 3] = [1, 0, -1];
const MOMENTUM: [i32; 3] = [1, 1, -1];
const SPIN: [i32; 3] = [2, 1, -1];

/// Astronomical and atomic units, and each unit by itself.
fn all_units() -> Vec<Units> {
    let one = Units { length: 1.0, mass: 1.0, time: 1.0 };
    let mut all = vec![
        Units { length: 1.495978707e11, mass: 1.98847e30, time: 3.15576e7 },
        Units { length: 5.29177210903e-11, mass: 9.1093837015e-31, time: 2.4188843265857e-17 },
    ];
    for unit in amount(vec![1e-20, 1e20], vec![1e-20, 1e-13, 1e-5, 0.3, 7.0, 1e6, 1e14, 1e20]) {
        all.extend([Units { length: unit, ..one }, Units { mass: unit, ..one }, Units { time: unit, ..one }]);
    }
    all
}

const METHODS: [Method; 2] =
    [Method::DormandPrince { rtol: 1e-9, atol: None }, Method::Dop853 { rtol: 1e-9, atol: None }];

/// These, and collocation with steps of this size.
fn of_canonical(h: f64) -> Vec<Method> {
    let stages = [GaussStages::Two, GaussStages::Four, GaussStages::Eight];
    METHODS.into_iter().chain(stages.map(|stages| Method::Gauss { stages, h })).collect()
}

/// The largest difference of two states in units of the variables' sizes; `sizes` has that of each entry.
fn difference(a: &[f64], b: &[f64], sizes: &[f64]) -> f64 {
    let entries = a.iter().zip(b).zip(sizes);
    entries.fold(0.0, |largest, ((a, b), size)| f64::max(largest, (a - b).abs() / size))
}

/// Runs a system in all units by methods with steps of a size; `make` makes it and its start in units, of which the powers are those of the
/// entries.
fn same_in_all_units<S: FeedbackSystem>(
    make: impl Fn(Units) -> (S, Vec<f64>),
    powers: &[[i32; 3]],
    sizes: &[f64],
    (until, methods): (f64, fn(f64) -> Vec<Method>),
) {
    let end = |units: Units, method: Method| -> (Vec<f64>, u64) {
        let (system, start) = make(units);
        let start = Vector::<S>::clone(&fbint_runtime::Entries::from_fn(|i| start[i]));
        let run: Run<S> = Simulation::new(&system, start).unwrap().run(method, until / units.time).unwrap();
        let state: Vector<S> = run.state().into();
        let back = Units { length: 1.0 / units.length, mass: 1.0 / units.mass, time: 1.0 / units.time };
        (state.into_iter().zip(powers).map(|(entry, powers)| back.of(entry, *powers)).collect(), run.steps())
    };
    let methods_in = |units: Units| methods(until / 128.0 / units.time);
    let one = Units { length: 1.0, mass: 1.0, time: 1.0 };
    for (number, method) in methods_in(one).into_iter().enumerate() {
        let (expected, steps) = end(one, method);
        for units in all_units() {
            let (found, own) = end(units, methods_in(units)[number]);
            let error = difference(&found, &expected, sizes);
            assert!(error < 1e-10, "{method:?}, {units:?}: {error:e} after {own} and {steps} steps");
        }
    }
}

#[test]
fn a_molecule_is_the_same_in_all_units() {
    // Numbers of the size of 1; the right value of the next test is in SI units.
    let make = |units: Units| {
        let (m, l) = (units.of(2.0, MASS), units.of(1.5, LENGTH));
        let molecule = Molecule { m, l, f: units.of(0.7, [1, 1, -2]) };
        (molecule, vec![0.0, l / 2.0, 0.0, -l / 2.0, 0.0, 0.0, 0.0, 0.0])
    };
    let powers = [[LENGTH; 4], [MOMENTUM; 4]].concat();
    same_in_all_units(make, &powers, &[1.0; 8], (3.0, of_canonical));
}

#[test]
fn a_planet_is_the_same_in_all_units() {
    let make = |units: Units| {
        let planet = Planet { m: units.of(0.3, MASS), mu: units.of(1.0, [3, 0, -2]) };
        let start = [(0.6, LENGTH), (0.0, LENGTH), (0.0, MOMENTUM), (0.45, MOMENTUM)];
        (planet, start.map(|(number, powers)| units.of(number, powers)).to_vec())
    };
    same_in_all_units(make, &[LENGTH, LENGTH, MOMENTUM, MOMENTUM], &[1.0, 1.0, 0.3, 0.3], (8.0, of_canonical));
}

#[test]
fn lengths_beside_angles_are_the_same_in_all_units() {
    let make = |units: Units| {
        let (m, l, g) = (units.of(1.1, MASS), units.of(0.8, LENGTH), units.of(9.81, [1, 0, -2]));
        (Cart { m, l, g }, vec![units.of(0.2, LENGTH), 0.9, 0.0, 0.0])
    };
    same_in_all_units(make, &[LENGTH, NUMBER, MOMENTUM, SPIN], &[1.0, 1.0, 3.0, 3.0], (1.5, of_canonical));
}

/// Iterations converge although a variable is made of rounding, however large or small that is.
#[test]
fn what_hovers_about_zero_lets_iterations_converge() {
    let (until, start) = (42.0_f64, [0.5, 0.1, 0.0]);
    let (sin, cos) = until.sin_cos();
    let exact = [0.5 * cos + 0.1 * sin, 0.1 * cos - 0.5 * sin];
    for k in [1e-20, 1e-6, 1.0, 1e6, 1e20] {
        for h in [0.35, 0.3, 0.2] {
            let (system, method) = (Hovering { k }, Method::Gauss { stages: GaussStages::Eight, h });
            let end: [f64; 3] = Simulation::new(&system, start).unwrap().run(method, until).unwrap().state().into();
            assert!(
                difference(&end[..2], &exact, &[1.0; 2]) < 1e-11 && (k * end[2]).abs() < 1e-12,
                "{k:e}, {h}: {end:?}"
            );
            let lanes = Ensemble::new(&system, [start; 3]).run(method, until).unwrap();
            lanes
                .ends()
                .iter()
                .for_each(|member| assert_eq!(member.as_ref().unwrap().state, end, "{k:e}, {h}: in lanes"));
        }
    }
    for (k, h) in [(1e9, 0.1), (1e9, 0.01), (1e10, 0.01)] {
        let start = [0.3, 0.8, 0.0, 0.0];
        let run = Simulation::new(&Balanced { k }, start).unwrap().run(Method::DiscreteHamel { h }, 1.0).unwrap();
        // The midpoint rule has this frequency; the forces are rounded by 1e-16 k.
        let frequency = 2.0 * (h / 2.0).atan() / h;
        let (end, noise): ([f64; 4], f64) = (run.state().into(), 1e-15 * k);
        assert!((end[1] - 0.8 * frequency.cos()).abs() < noise, "{k:e}, {h}: {end:?}");
        assert!((end[0] - 0.3).abs() < noise, "{k:e}, {h}: {end:?}");
    }
}

#[test]
fn a_sleigh_is_the_same_in_all_units() {
    let make = |units: Units| {
        let (m, g) = (units.of(1.3, MASS), units.of(2.0, [1, 0, -2]));
        let sleigh = Sleigh { m, a: units.of(0.4, LENGTH), b: units.of(0.5, LENGTH), g };
        let (turn, v) = (units.of(1.5, [0, 0, -1]), units.of(0.7, VELOCITY));
        (sleigh, vec![units.of(0.2, LENGTH), 0.0, 0.3, turn, v])
    };
    let powers = [LENGTH, LENGTH, NUMBER, [0, 0, -1], VELOCITY];
    same_in_all_units(make, &powers, &[1.0; 5], (3.0, |h| vec![Method::DiscreteHamel { h }]));
}

/// A start off its constraints is refused, and one that rounding takes off them is not.
#[test]
fn starts_are_judged_alike_in_all_units() {
    for units in all_units() {
        let (m, l) = (units.of(2.0, MASS), units.of(1.5, LENGTH));
        let molecule = Molecule { m, l, f: units.of(0.7, [1, 1, -2]) };
        let starting = |half: f64, along: f64| {
            let p = units.of(along, MOMENTUM);
            Simulation::new(&molecule, [0.0, half * l, 0.0, -half * l, 0.0, p, 0.0, 0.0]).map(|_| ())
        };
        for (half, along) in [(0.5, 0.0), (0.5, 6e-17), (0.5 + 1e-10, 0.0), (0.5, 1e-11)] {
            assert_eq!(starting(half, along), Ok(()), "{units:?}: {half}, {along:e}");
        }
        for (half, along) in [(0.505, 0.0), (0.5, 1.0), (0.5, 1e-3), (0.5 + 1e-5, 0.0)] {
            let refused = starting(half, along);
            assert!(matches!(refused, Err(Error::OffConstraint { .. })), "{units:?}: {half}, {along:e}: {refused:?}");
        }
    }
}

/// Nitrogen in SI units, whose entries are all far below 1e-9. The right values are those of SciPy.
#[test]
fn a_molecule_in_si_units_keeps_its_bond() {
    let (m, l, f) = (2.3258671e-26, 1.0977e-10, 1e-12);
    let start = [0.0, l / 2.0, 0.0, -l / 2.0, 0.0, 0.0, 0.0, 0.0];
    let molecule = Molecule { m, l, f };
    let simulation = || Simulation::new(&molecule, start).unwrap();
    for method in METHODS {
        let end: [f64; 8] = simulation().run(method, 1e-11).unwrap().state().into();
        let error = difference(&end[..2], &[4.60158124e-11, 2.99150169e-11], &[l; 2]);
        assert!(error < 1e-7, "{method:?}: {error:e}");
        let settings = Settings::new(method, 1e-11);
        let lanes = Ensemble::new(&molecule, [start; 3]).run_with(&settings).unwrap();
        let alone: [f64; 8] = simulation().run_with(&settings).unwrap().state().into();
        for member in 0..3 {
            let end: [f64; 8] = lanes.ends()[member].as_ref().unwrap().state;
            assert_eq!(end, alone, "{method:?}: in lanes");
        }
    }
}

/// z is a difference of terms that cancel, so that its rate is made of rounding and its size is nothing.
#[feedback_system(
    state(x, y, z),
    dynamics(x = y, y = -k * x, z = ((x + y) * (x - y) - (x.powi(2) - y.powi(2))) / k),
)]
struct Cancelling {
    k: f64,
}

/// An upright pendulum at pi, which no double is: its motion begins with the rounding of the angle.
#[feedback_system(
    coordinates(angle),
    momenta(p),
    hamiltonian = p.powi(2) / (2 * m) - m * g * angle.cos(),
)]
struct Upright {
    m: f64,
    g: f64,
}

#[test]
fn variables_that_are_made_of_rounding_shorten_no_step() {
    for method in METHODS {
        let run = Simulation::new(&Cancelling { k: 3.0 }, [0.7, 0.1, 0.0]).unwrap().run(method, 20.0).unwrap();
        let plain = Simulation::new(&Cancelling { k: 3.0 }, [0.7, 0.1, 1.0]).unwrap().run(method, 20.0).unwrap();
        assert!(run.steps() < 2 * plain.steps(), "{method:?}: {} and {} steps", run.steps(), plain.steps());
        for start in [[std::f64::consts::PI, 0.0], [0.0, 0.0]] {
            let run = Simulation::new(&Upright { m: 2.0, g: 9.81 }, start).unwrap().run(method, 5.0).unwrap();
            assert!(run.steps() < 500, "{method:?} from {start:?}: {} steps", run.steps());
        }
    }
}

#[test]
fn a_run_resumes_with_its_sizes() {
    let planet = Planet { m: 0.3e-20, mu: 1.0 };
    // The size of q shrinks on the way.
    let start = [1.4, 0.0, 0.0, 0.15e-20];
    let simulation = || Simulation::new(&planet, start).unwrap();
    for method in METHODS {
        let mut snapshot: Option<Snapshot> = None;
        let half = simulation().watched(|moment| {
            snapshot = Some(moment.snapshot());
            if moment.fraction() > 0.5 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        });
        half.run(method, 3.0).unwrap();
        let resumed = simulation().from_snapshot(snapshot.unwrap()).run(method, 3.0).unwrap();
        assert_eq!(resumed.state(), simulation().run(method, 3.0).unwrap().state(), "{method:?}");
    }
}

/// A field without names, in a unit of time that is far from the motion's.
struct Oscillator(f64);

impl Field for Oscillator {
    type Vector = [f64; 2];

    fn value(&self, x: &[f64; 2]) -> [f64; 2] {
        [self.0 * x[1], -self.0 * x[0]]
    }
}

#[test]
fn a_field_without_names_has_no_unit_either() {
    let end = |frequency: f64, size: f64| {
        let field = Oscillator(frequency);
        let mut steps = Integrator::dop853(&field, [size, 0.0], Tolerance::new(1e-9, None).unwrap());
        steps.advance_to(5.0 / frequency).unwrap();
        (steps.state().map(|entry| entry / size), steps.steps())
    };
    let (expected, steps) = end(1.0, 1.0);
    for frequency in [1e-100, 1e-20, 1e20, 1e100] {
        for size in [1e-100, 1.0, 1e100] {
            let (found, own) = end(frequency, size);
            assert!(
                own == steps && difference(&found, &expected, &[1.0; 2]) < 1e-12,
                "{frequency:e}, {size:e}: {own}, {steps}"
            );
        }
    }
}
