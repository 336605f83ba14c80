//! Invariant sets of fields that are given, whose gradients are nearly parallel: starts that are far from the set although no
//! constraint is violated by much, and projections that could not tell the constraints apart.

use fbint_runtime::{
    ConsistentStart, Error, Feedback, FeedbackSystem, Field, Gains, Method, PreparedSystem, Projection, Relaxation,
    Run, Settings, Simulation, Vector, feedback_system,
};

/// A circle, and a height that vanishes on it.
#[feedback_system(
    state(x, y, z),
    dynamics(x = -y, y = x, z = x * z + (x.powi(2) + y.powi(2) - 1) * y),
    constraint(c = x.powi(2) + y.powi(2) - 1, d = x.powi(2) + y.powi(2) - 1 + e * z),
)]
struct Ring {
    e: f64,
}

/// A heavy top whose axis r is at right angles to its momentum l.
#[feedback_system(
    state(r: [3], l: [3]),
    poisson = stack![
        matrix![0, 0, 0; 0, 0, 0; 0, 0, 0], matrix![0, -r[2], r[1]; r[2], 0, -r[0]; -r[1], r[0], 0];
        matrix![0, -r[2], r[1]; r[2], 0, -r[0]; -r[1], r[0], 0], matrix![0, -l[2], l[1]; l[2], 0, -l[0]; -l[1], l[0], 0]
    ],
    hamiltonian = l[0].powi(2) / 2 + l[1].powi(2) / 4 + l[2].powi(2) / 6 + r[0] + 2 * r[2],
    constraint(a = r.norm_squared() - 1, b = r.norm_squared() - 1 + e * r.dot(&l)),
)]
struct Top {
    e: f64,
}

/// A rotation: its rows and its columns are of length 1 and at right angles, each of which implies the other.
#[feedback_system(
    state(a, b, c, d),
    dynamics(a = -c, b = -d, c = a, d = b),
    constraint(
        first = a.powi(2) + b.powi(2) - 1,
        second = c.powi(2) + d.powi(2) - 1,
        across = a * c + b * d,
        again = a.powi(2) + b.powi(2) + c.powi(2) + d.powi(2) - 2,
        left = a.powi(2) + c.powi(2) - 1,
        right = b.powi(2) + d.powi(2) - 1,
        skew = a * b + c * d,
        determinant = a * d - b * c - 1,
    ),
)]
struct Rotation;

/// From condition numbers of 1 to 5e8.
const SIZES: [f64; 8] = [1.0, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7, 2e-9];
const RK4: Method = Method::Rk4 { h: 0.2 };

fn relaxed<S: FeedbackSystem>(system: &S, start: Vector<S>) -> Result<Feedback<S, Relaxation>, Error> {
    Feedback::new(system, &start, Gains::relaxation(1.0))
}

/// d is as small as a start of eight digits leaves it, and z is not.
#[test]
fn starts_far_from_the_set_are_refused() {
    for e in SIZES {
        for z in [1.0, 0.1, 1e-2, 1e-3] {
            let error = Feedback::new(&Ring { e }, &[1.0, 0.0, z], Gains::uniform(1.0)).map(drop);
            assert!(matches!(error, Err(Error::OffConstraint { name: "d", .. })), "{e}, {z}: {error:?}");
        }
        let error = Feedback::new(&Top { e }, &[1.0, 0.0, 0.0, 1.0, 2.0, 3.0], Gains::uniform(1.0)).map(drop);
        assert!(matches!(error, Err(Error::OffConstraint { name: "b", .. })), "{e}: {error:?}");
        // Eight digits of a start on the set.
        let digits = [0.6 + 4e-9, 0.8 - 3e-9, 2e-9];
        assert_eq!(Feedback::new(&Ring { e }, &digits, Gains::uniform(1.0)).map(drop), Ok(()), "{e}");
        assert_eq!(Feedback::new(&Ring { e }, &[0.6, 0.8, 0.0], Gains::uniform(1.0)).map(drop), Ok(()), "{e}");
    }
}

#[test]
fn the_search_finds_the_set() {
    for e in SIZES {
        let found = ConsistentStart::new(&Ring { e }).solve([0.9, 0.2, 1.0]).unwrap();
        let length = found.x.hypot(found.y);
        assert!((length - 1.0).abs() < 1e-9 && found.z.abs() < 1e-7, "{e}: {found:?}");
        let found = ConsistentStart::new(&Top { e }).solve([0.9, 0.2, 0.1, 1.0, 2.0, 3.0]).unwrap();
        let (length, product) = (found.r.norm(), found.r.dot(&found.l));
        assert!((length - 1.0).abs() < 1e-9 && product.abs() < 1e-7, "{e}: {found:?}");
    }
}

fn run_of_ring(e: f64, projection: Option<Projection>) -> Result<Run<Ring>, Error> {
    let settings = Settings { projection, ..Settings::new(RK4, 10.0) };
    Simulation::new(&Ring { e }, [1.0, 0.0, 0.0]).unwrap().run_with(&settings)
}

/// What is projected holds the set; what could not is refused, with the constraints and what to do, and runs without a projection.
#[test]
fn projections_hold_the_set_or_are_refused() {
    let plain = run_of_ring(1.0, None).unwrap().state().z.abs();
    assert!(plain > 1e-5, "{plain}");
    for e in SIZES {
        let run = run_of_ring(e, Some(Projection::default()));
        if e > 5e-5 {
            let z = run.unwrap().state().z.abs();
            assert!(z < 1e-3 * plain, "{e}: {z}, without projection {plain}");
            continue;
        }
        let Err(Error::IndistinctConstraints { dependence }) = run else { panic!("{e}: {run:?}") };
        assert_eq!(dependence.constraints(), ["c", "d"]);
        assert!((dependence.pivot_ratio / e - 0.5).abs() < 1e-3, "{e}: {dependence}");
        assert_eq!(run_of_ring(e, None).unwrap().state().z.abs(), plain);
        let top = Top { e: e / 10.0 };
        let simulation = || Simulation::new(&top, [1.0, 0.0, 0.0, 0.0, 2.0, 3.0]).unwrap();
        let refused = [
            simulation().run(RK4, 1.0).map(drop),
            simulation()
                .final_state(&Settings { projection: Some(Projection::default()), ..Settings::new(RK4, 1.0) })
                .map(drop),
            simulation().gains(Gains::relaxation(1.0)).run(RK4, 1.0).map(drop),
        ];
        for refused in refused {
            assert!(matches!(refused, Err(Error::IndistinctConstraints { .. })), "{e}: {refused:?}");
        }
        assert!(simulation().without_feedback().run(RK4, 1.0).is_ok());
        assert!(simulation().gains(Gains::uniform(1.0)).run(RK4, 1.0).is_ok());
    }
    let message = run_of_ring(1e-6, Some(Projection::default())).unwrap_err().to_string();
    assert!(message.contains("`c` and `d`") && message.contains("declare what they differ by"), "{message}");
}

/// The feedback against the solution of the damped equations in closed form, in which nothing cancels.
#[test]
fn relaxations_are_right_or_refused() {
    let x = [1.0 + 1e-4, 0.1, 1e-3];
    for e in SIZES {
        let field = relaxed(&Ring { e }, [1.0, 0.0, 0.0]);
        if e < 5e-5 {
            assert!(matches!(field.map(drop), Err(Error::IndistinctConstraints { .. })), "{e}");
            continue;
        }
        let (field, plain) = (field.unwrap().value(&x), Ring { e }.prepare().vector_field(&x));
        let (violation, square) = (x[0] * x[0] + x[1] * x[1] - 1.0, 4.0 * (x[0] * x[0] + x[1] * x[1]));
        let (damped, last) = (square * (1.0 + 1e-10), e * e * (1.0 + 1e-10));
        // With s = |dc|^2, f = c and s', e^2' for 1 + 1e-10 times s and e^2:
        // s' u + s v = f, s u + (s' + e^2') v = f + e z.
        let rest = square * 1e-10;
        let determinant = rest * (damped + square) + damped * last;
        let u = (violation * (rest + last) - square * e * x[2]) / determinant;
        let v = (violation * rest + damped * e * x[2]) / determinant;
        let expected = [2.0 * x[0] * (u + v), 2.0 * x[1] * (u + v), e * v];
        for i in 0..3 {
            let (obtained, expected) = (plain[i] - field[i], expected[i]);
            assert!((obtained / expected - 1.0).abs() < 1e-4, "{e}, {i}: {obtained} for {expected}");
        }
    }
}

/// Constraints that others imply are harmless, everywhere or on the set alone, and at a start of eight digits, too.
#[test]
fn what_others_imply_is_not_refused() {
    let (sine, cosine) = 0.7_f64.sin_cos();
    let exact = [cosine, -sine, sine, cosine];
    let rounded = exact.map(|entry| (entry * 1e8).round() / 1e8);
    for start in [[1.0, 0.0, 0.0, 1.0], exact, rounded] {
        assert_eq!(relaxed(&Rotation, start).map(drop), Ok(()), "{start:?}");
        let settings = Settings { projection: Some(Projection::default()), ..Settings::new(RK4, 10.0) };
        let run = Simulation::new(&Rotation, start).unwrap().run_with(&settings).unwrap();
        let end = run.state();
        assert!((end.a * end.d - end.b * end.c - 1.0).abs() < 1e-9, "{end:?}");
    }
}

#[test]
fn members_of_ensembles_are_refused_likewise() {
    for (e, failures) in [(1.0, 0), (1e-6, 2)] {
        let ring = Ring { e };
        let starts = [[1.0, 0.0, 0.0], [0.6, 0.8, 0.0]];
        let settings = Settings { projection: Some(Projection::default()), ..Settings::new(RK4, 1.0) };
        let run = fbint_runtime::Ensemble::new(&ring, starts).run_with(&settings).unwrap();
        let refused = |(_, error): &(usize, &Error)| matches!(error, Error::IndistinctConstraints { .. });
        assert_eq!((run.failures().count(), run.failures().filter(refused).count()), (failures, failures), "{e}");
    }
}
