//! Bricard's loop, whose last constraint the others imply only where they hold: marked, it changes no motion, whichever it is.

use fbint_runtime::Method;
use nalgebra::{DMatrix, DVector, Vector3, vector};

use crate::rates::run;

/// Six hinges at right angles to their neighbours, joined by five rods and the ground, by points and axes.
const BRICARD: &str = "#[feedback_system(
    coordinates(q: [3, 4], u: [3, 4]), momenta(p: [3, 4], s: [3, 4]),
    define(a = vector![1, 0, 0], first = vector![0, 0, 1], last = vector![0, 1, 0]),
    hamiltonian = p.norm_squared() / (2 * m) + s.norm_squared() / (2 * j) + (0..4).map(|i| m * g * q[(1, i)]).sum(),
    constraint(
        unit[i in 0..4] = u.column(i).norm_squared() - 1,
        length_0 = (q.column(0) - a).norm_squared() - 1, begin_0 = (q.column(0) - a).dot(&first),
        end_0 = (q.column(0) - a).dot(&u.column(0)), twist_0 = first.dot(&u.column(0)),
        length[i in 0..3] = (q.column(i + 1) - q.column(i)).norm_squared() - 1,
        begin[i in 0..3] = (q.column(i + 1) - q.column(i)).dot(&u.column(i)),
        end[i in 0..3] = (q.column(i + 1) - q.column(i)).dot(&u.column(i + 1)),
        twist[i in 0..3] = u.column(i).dot(&u.column(i + 1)),
        length_4 = q.column(3).norm_squared() - 1, begin_4 = q.column(3).dot(&u.column(3)),
        end_4 = q.column(3).dot(&last), twist_4 = u.column(3).dot(&last),
    ),
    default(m = 1, j = 0.1, g = 9.81),
)]
struct Bricard { m: f64, j: f64, g: f64 }";

/// Points and axes along the edges of a cube.
const BEGINNING: [f64; 24] = [
    1.0, -1.0, 0.0, 1.0, -1.0, 1.0, 0.0, -1.0, 1.0, 0.0, 0.0, 1.0, //
    1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 1.0, 0.0, 0.0,
];
const MASSES: [f64; 2] = [1.0, 0.1];

/// All 24 constraints, which are quadratic.
fn constraints(z: &DVector<f64>) -> DVector<f64> {
    let place = |index: usize| Vector3::new(z[3 * index], z[3 * index + 1], z[3 * index + 2]);
    let points = [vector![1.0, 0.0, 0.0], place(0), place(1), place(2), place(3), Vector3::zeros()];
    let axes = [vector![0.0, 0.0, 1.0], place(4), place(5), place(6), place(7), vector![0.0, 1.0, 0.0]];
    let mut all: Vec<f64> = axes[1..5].iter().map(|axis| axis.norm_squared() - 1.0).collect();
    for (points, axes) in points.windows(2).zip(axes.windows(2)) {
        let rod = points[1] - points[0];
        all.extend([rod.norm_squared() - 1.0, rod.dot(&axes[0]), rod.dot(&axes[1]), axes[0].dot(&axes[1])]);
    }
    DVector::from_vec(all)
}

/// The accelerations by multipliers of least norm: quadratic functions have exact differences.
fn accelerations(z: &DVector<f64>, rates: &DVector<f64>) -> DVector<f64> {
    let unit = |entry: usize| DVector::from_fn(24, |row, _| if row == entry { 1.0 } else { 0.0 });
    let slope = |along: DVector<f64>| (constraints(&(z + &along)) - constraints(&(z - &along))) / 2.0;
    let jacobian = DMatrix::from_columns(&(0..24).map(|entry| slope(unit(entry))).collect::<Vec<_>>());
    let bend = constraints(&(z + rates)) + constraints(&(z - rates)) - 2.0 * constraints(z);
    let inverse_mass = DMatrix::from_diagonal(&DVector::from_fn(24, |entry, _| 1.0 / MASSES[entry / 12]));
    let fall = DVector::from_fn(24, |entry, _| if entry < 12 && entry % 3 == 1 { -9.81 } else { 0.0 });
    let matrix = &jacobian * &inverse_mass * jacobian.transpose();
    let multipliers = matrix.svd(true, true).solve(&-(bend + &jacobian * &fall), 1e-9).expect("both factors");
    fall + inverse_mass * jacobian.transpose() * multipliers
}

/// The state at this time by RK4 with 24 constraints of rank 23.
fn by_least_norm(until: f64, steps: usize) -> DVector<f64> {
    let h = until / steps as f64;
    let (mut z, mut rates) = (DVector::from_row_slice(&BEGINNING), DVector::zeros(24));
    for _ in 0..steps {
        let slope = |z: DVector<f64>, rates: DVector<f64>| (rates.clone(), accelerations(&z, &rates));
        let k1 = slope(z.clone(), rates.clone());
        let k2 = slope(&z + h / 2.0 * &k1.0, &rates + h / 2.0 * &k1.1);
        let k3 = slope(&z + h / 2.0 * &k2.0, &rates + h / 2.0 * &k2.1);
        let k4 = slope(&z + h * &k3.0, &rates + h * &k3.1);
        z += h / 6.0 * (k1.0 + 2.0 * k2.0 + 2.0 * k3.0 + k4.0);
        rates += h / 6.0 * (k1.1 + 2.0 * k2.1 + 2.0 * k3.1 + k4.1);
    }
    z
}

#[test]
fn any_redundant_constraint_of_bricards_loop_can_be_marked() {
    let expected = by_least_norm(0.4, 80);
    let fallen = (&expected - DVector::from_row_slice(&BEGINNING)).norm();
    assert!(fallen > 0.3, "{fallen}");
    let mut start = BEGINNING.to_vec();
    start.resize(48, 0.0);
    for mark in ["twist_4", "length_4"] {
        let text = BRICARD.replace(&format!("{mark} ="), &format!("redundant {mark} ="));
        let end = run(&text, &start, Method::Rk4 { h: 5e-3 }, 0.4);
        let error = expected.iter().zip(&end).map(|(own, other)| (own - other).abs()).fold(0.0, f64::max);
        assert!(error < 1e-7, "{mark}: {error:e}");
    }
}
