//! Models with numbers far from one, whose terms differ by many orders of magnitude where all unknowns are of size one.

use fbint_macros_core::program::PROJECTION;
use fbint_tests::compiler::{Compiled, normalised, run};

use super::*;

/// States at which it is judged whether a fault changes anything.
const STATES: usize = 24;
/// What the judge takes for rounding.
const CHANGE: f64 = 1e-7;

fn every_harmful_fault_is_noticed(text: &str, sizes: &[f64]) {
    let good = Declaration::one(text).compile();
    assert_eq!(verify(&good.derivation, &good.programs), Ok(Vec::new()), "{text}");
    let n = good.derivation.dimension();
    let mut random = Random::new(5);
    let mut point = |_| -> Vec<f64> { sizes.iter().map(|size| size * random.between(0.5, 1.5)).collect() };
    let judged: Vec<(Vec<f64>, Vec<f64>)> =
        (0..STATES).map(&mut point).map(|values| (values.clone(), results(&good, &good.programs, &values))).collect();
    // How large each entry is where nothing in it cancels.
    let largest = |place: usize| judged.iter().map(|(_, results)| results[place].abs()).fold(0.0, f64::max);
    let scales: Vec<f64> = (0..judged[0].1.len()).map(largest).collect();
    let mut random = Random::new(3);
    let (mut harmful, faults) = (0, amount(10, 40));
    for broken in [None].into_iter().chain(FUNCTIONS.map(Some)) {
        for _ in 0..faults {
            let mut programs = good.programs.clone();
            let prepared = programs.prepare.outputs.len();
            let (name, program, range) = match broken {
                None => ("prepare", &mut programs.prepare, n..sizes.len()),
                Some(function) => (function.name, &mut programs[function], 0..n),
            };
            let Some(fault) = super::programs::break_program(program, prepared, range, &mut random) else { break };
            let changes = judged.iter().any(|(values, expected)| {
                let obtained = results(&good, &programs, values);
                let mut entries = obtained.iter().zip(expected).zip(&scales);
                entries.any(|((x, y), scale)| y.is_finite() && (x.is_nan() || (x - y).abs() > CHANGE * scale))
            });
            if changes {
                harmful += 1;
                assert!(verify(&good.derivation, &programs).is_err(), "{name}: {fault} in\n{text}");
            }
        }
    }
    eprintln!("{harmful} faults change a result, all noticed, in\n{text}");
    assert!(harmful * 2 > 5 * faults, "only {harmful} faults change a result");
}

/// All functions; the law is one at which the integrals' terms are of the size of the field's.
fn results(good: &Compiled, programs: &Programs, values: &[f64]) -> Vec<f64> {
    let n = good.derivation.dimension();
    let prepared = run(&programs.prepare, &[], |index| values[index], |_| Vec::new());
    let of_good = run(&good.programs.prepare, &[], |index| values[index], |_| Vec::new());
    let evaluate = |function| run(&good.programs[function], &of_good, |index| values[index], |_| Vec::new());
    let (field, jacobian) = (evaluate(&VECTOR_FIELD), evaluate(&JACOBIAN));
    let integrals = evaluate(&INTEGRALS);
    let gain = |row: usize| {
        let ratios = (0..n).map(|j| (field[j] / jacobian[row * n + j] / integrals[row]).abs());
        ratios.filter(|ratio| ratio.is_normal()).fold(f64::INFINITY, f64::min)
    };
    let gains: Vec<f64> = (0..integrals.len()).map(|row| if gain(row).is_finite() { gain(row) } else { 1.0 }).collect();
    let weigh = |f: &[f64]| f.iter().zip(&gains).map(|(f, gain)| f * gain).collect::<Vec<f64>>();
    let law = normalised(programs, &prepared, weigh);
    let functions = programs.functions().filter(|(function, _)| function.name != "projection");
    functions.flat_map(|(_, program)| run(program, &prepared, |index| values[index], &law)).collect()
}

#[test]
fn in_newtons_law_with_the_earth() {
    every_harmful_fault_is_noticed(
        "#[feedback_system(coordinates(q: [3]), momenta(p: [3]),
            hamiltonian = p.norm_squared() / (2 * m) - 6.674e-11 * 5.97e24 * m / q.norm(),
            invariant(l = q.cross(&p)))]
        struct S { m: f64 }",
        &[7e6, 7e6, 7e6, 5e5, 5e5, 5e5, 70.0],
    );
}

#[test]
fn in_masses_that_are_numbers() {
    every_harmful_fault_is_noticed(
        "#[feedback_system(coordinates(a, b), momenta(u, v),
            hamiltonian = u.powi(2) / (2 * 6e24) + v.powi(2) / (2 * 1e-3) - 6.674e-11 * 6e24 * 1e-3 / (a - b).abs(),
            invariant(total = u + v))]
        struct S {}",
        &[1e3, 6e6, 1.0, 1.0],
    );
}

#[test]
fn in_a_stiff_spring_with_a_weak_one() {
    every_harmful_fault_is_noticed(
        "#[feedback_system(coordinates(x, y), momenta(u, v),
            hamiltonian = (u.powi(2) + v.powi(2)) / (2 * m) + 1e7 * (x - 1).powi(2) + 1e-12 * y.powi(4) + 1e-5 * x * y,
            output(force = 1e7 * x + 1e-12 * y.powi(3)))]
        struct S { m: f64 }",
        &[1.0, 1e5, 1.0, 1.0, 1.0],
    );
}

#[test]
fn in_a_small_pendulum() {
    every_harmful_fault_is_noticed(
        "#[feedback_system(coordinates(q: [2]), momenta(p: [2]),
            hamiltonian = p.norm_squared() / (2 * 1e-12) + 1e-12 * 9.81 * q[1],
            constraint(length = q.norm_squared() - 1e-10))]
        struct S {}",
        &[1e-5, 1e-5, 1e-15, 1e-15],
    );
}

#[test]
fn in_atoms() {
    every_harmful_fault_is_noticed(
        "#[feedback_system(coordinates(x, y), momenta(u, v),
            hamiltonian = (u.powi(2) + v.powi(2)) / (2 * 6.6e-26)
                + 4 * 1.65e-21 * ((3.4e-10 / (x - y)).powi(12) - (3.4e-10 / (x - y)).powi(6)),
            invariant(total = u + v))]
        struct S {}",
        &[1e-9, 1e-10, 1e-23, 1e-23],
    );
}

/// The rates of c and d are dependent to 15 digits, so that rounding leaves few of a projection's: what is verified is the formula.
#[test]
fn in_projections_that_rounding_dominates() {
    let text = "#[feedback_system(coordinates(x, y, z), momenta(u, v, w),
            hamiltonian = (1e-9 * u.powi(2) + 1e9 * v.powi(2) + w.powi(2)) / (2 * m) + z,
            constraint(c = x + y, d = x + y + 1e-6 * z))]
        struct S { m: f64 }";
    let good = Declaration::one(text).compile();
    let unverified = verify(&good.derivation, &good.programs).expect("no function is wrong");
    assert!(!unverified.contains(&PROJECTION.name), "{unverified:?}");
    let mut random = Random::new(8);
    let values: Vec<f64> = (0..7).map(|_| random.between(0.5, 1.5)).collect();
    let projected = |programs: &Programs| {
        let prepared = run(&programs.prepare, &[], |index| values[index], |_| Vec::new());
        // A violation that some state has: DF (1, .., 1).
        let jacobian = run(&programs[&JACOBIAN], &prepared, |index| values[index], |_| Vec::new());
        let y: Vec<f64> = jacobian.chunks(6).map(|row| row.iter().sum()).collect();
        run(&programs[&PROJECTION], &prepared, |index| values[index], |_| y.clone())
    };
    let expected = projected(&good.programs);
    let scale = expected.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    let (mut harmful, faults) = (0, amount(75, 300));
    for _ in 0..faults {
        let mut programs = good.programs.clone();
        let prepared = programs.prepare.outputs.len();
        let Some(fault) = super::programs::break_program(&mut programs[&PROJECTION], prepared, 0..6, &mut random)
        else {
            break;
        };
        let differs = |(x, y): (&f64, &f64)| x.is_nan() || (x - y).abs() > 1e-4 * scale;
        if projected(&programs).iter().zip(&expected).any(differs) {
            harmful += 1;
            assert!(verify(&good.derivation, &programs).is_err(), "projection: {fault}");
        }
    }
    eprintln!("{harmful} faults in a projection that rounding dominates, all noticed");
    assert!(harmful * 4 > faults, "only {harmful} faults change the result");
}
