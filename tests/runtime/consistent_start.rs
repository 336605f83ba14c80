//! The check of a start, and the search for one near a guess.

use super::common::{PENDULUM, Pendulum, State, start};
use fbint_runtime::{ConsistentStart, Error, Feedback, FeedbackSystem, Gains, PreparedSystem, feedback_system};

fn check(start: State) -> Result<(), Error> {
    Feedback::new(&PENDULUM, &start.into(), Gains::uniform(1.0)).map(drop)
}

#[test]
fn a_start_off_the_constraint_set_is_refused_by_name() {
    let off = State { q: [0.0, 1.5, 0.0], ..start() };
    let Err(Error::OffConstraint { name: "length", value: 1.25, tolerance }) = check(off) else {
        panic!("{:?}", check(off));
    };
    assert!((tolerance - 4.5e-8).abs() < 1e-20, "{tolerance}");
    assert_eq!(
        check(off).unwrap_err().to_string(),
        "the start violates the constraint `length`: its value there is 1.25, but must be 0 (tolerance 4.5e-8); correct the \
         start, or let `ConsistentStart` find one near it",
    );
    let off = State { p: [1.0, 1e-6, 1.0], ..start() };
    assert!(matches!(check(off), Err(Error::OffConstraint { name: "tangency", .. })));
}

#[test]
fn a_start_of_eight_digits_passes_whatever_its_size() {
    assert_eq!(check(State { q: [0.0, 1.0 + 1e-8, 0.0], ..start() }), Ok(()));
    let earth = Pendulum { l: 6.371e6, ..PENDULUM };
    let x = [6.371e6 + 0.03, 0.0, 0.0, 0.0, 1.0, 0.0];
    assert!(Feedback::new(&earth, &x, Gains::uniform(1.0)).is_ok());
    let x = [6.371e6 + 3.0, 0.0, 0.0, 0.0, 1.0, 0.0];
    assert!(Feedback::new(&earth, &x, Gains::uniform(1.0)).is_err());
}

/// 4.8e-8 is rounding of single precision, and a part in a million is not.
#[test]
fn a_start_in_single_precision_passes() {
    let rounded = |number: f64| f64::from(number as f32);
    for turn in 0..200 {
        let (sine, cosine) = (0.1 + 0.03 * f64::from(turn)).sin_cos();
        let state = |length: f64| State {
            q: [length * cosine, length * sine, 0.0].map(rounded),
            p: [-0.3 * sine, 0.3 * cosine, 0.7].map(rounded),
        };
        assert_eq!(check(state(1.0)), Ok(()), "turn {turn}");
        assert!(check(state(1.0 + 1e-6)).is_err(), "turn {turn}");
    }
}

#[test]
fn names_may_be_made_while_the_program_runs() {
    let names: Vec<String> = ["q[0]", "p"].map(str::to_owned).to_vec();
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    assert!(ConsistentStart::new(&PENDULUM).hold(&names).is_ok());
    let long = "ü".repeat(40);
    let error = ConsistentStart::new(&PENDULUM).hold(&[&long]).map(drop).unwrap_err().to_string();
    assert!(error.starts_with(&format!("`{}..` is not an entry", "ü".repeat(24))), "{error}");
}

/// Lengths from an atom's to a galaxy's: what is off by a part in ten million is refused, and by a part in a billion is not.
#[test]
fn tolerances_are_relative_to_the_constraint() {
    for l in [1e-12, 1e-5, 1e-3, 1.0, 1e3, 1e20] {
        let pendulum = Pendulum { l, ..PENDULUM };
        let check = |length: f64, p: [f64; 3]| {
            Feedback::new(&pendulum, &[length, 0.0, 0.0, p[0], p[1], p[2]], Gains::uniform(1.0)).map(drop)
        };
        for factor in [1.0, 1.0 + 1e-9] {
            assert_eq!(check(factor * l, [0.0, 1e-3 * l, 0.0]), Ok(()), "{l}");
            let swinging = (l * PENDULUM.g).sqrt();
            assert_eq!(check(factor * l, [1e-15 * swinging, 0.0, 0.0]), Ok(()), "rounding is not a momentum: {l}");
        }
        for factor in [4.0, 1.0 + 1e-7, 0.0, -1e-3] {
            assert!(matches!(check(factor * l, [0.0; 3]), Err(Error::OffConstraint { name: "length", .. })), "{l}");
        }
        assert!(matches!(check(l, [1e-3 * l, 0.0, l]), Err(Error::OffConstraint { name: "tangency", .. })), "{l}");
        for guess in [[3.0 * l, l, 0.0, l, 0.0, 0.0], [1e4 * l, -l, l, 0.0, l, l]] {
            let found = ConsistentStart::new(&pendulum).solve(guess).unwrap();
            let size: f64 = found.q.iter().map(|q| q * q).sum::<f64>().sqrt();
            assert!((size / l - 1.0).abs() < 1e-12, "{l}: {found:?}");
        }
    }
}

#[test]
fn a_guess_is_moved_onto_the_constraint_set() {
    let guess = State { q: [0.4, 1.7, -0.6], p: [1.0, 0.5, 1.0] };
    let found = ConsistentStart::new(&PENDULUM).solve(guess).unwrap();
    let violations = PENDULUM.prepare().integrals(&found.into());
    assert!(violations[0].abs() < 1e-15 && violations[1].abs() < 1e-15, "{violations:?}");
    assert_eq!(check(found), Ok(()));
}

#[test]
fn a_consistent_guess_stays_where_it_is() {
    assert_eq!(ConsistentStart::new(&PENDULUM).solve(start()), Ok(start()));
}

#[test]
fn held_entries_keep_their_values() {
    let guess = State { q: [0.6, 0.7, 0.1], p: [1.0, 0.5, 1.0] };
    let found = ConsistentStart::new(&PENDULUM).hold(&["q[0]", "q[2]", "p"]).unwrap().solve(guess);
    // With p held, the tangency q.p requires q[1] = -1.4, which is not on the sphere.
    assert!(matches!(found, Err(Error::NoConsistentStart { .. })), "{found:?}");
    let found = ConsistentStart::new(&PENDULUM).hold(&["q[0]", "q[2]", "p[0]", "p[2]"]).unwrap().solve(guess).unwrap();
    assert_eq!((found.q[0], found.q[2], found.p[0], found.p[2]), (0.6, 0.1, 1.0, 1.0));
    assert!((found.q[1] - 0.63_f64.sqrt()).abs() < 1e-15);
    assert!((found.p[1] + 0.7 / 0.63_f64.sqrt()).abs() < 1e-14);
}

#[test]
fn a_search_that_cannot_succeed_says_what_remains() {
    let far = State { q: [0.0, 2.0, 0.0], p: [1.0, 0.0, 1.0] };
    let error = ConsistentStart::new(&PENDULUM).hold(&["q"]).unwrap().solve(far).unwrap_err();
    assert!(matches!(error, Error::NoConsistentStart { name: "length", value: 3.0, .. }), "{error:?}");
    assert!(error.to_string().contains("the constraint `length` is still 3.0 after"), "{error}");
}

/// At q = 0 the gradient of |q|^2 - 1 vanishes, and at q_2 = 0 its only free entry: a nudge shows where to go.
#[test]
fn a_guess_without_a_gradient_is_nudged() {
    let found = ConsistentStart::new(&PENDULUM).solve([0.0; 6]).unwrap();
    assert_eq!((check(found), found.p), (Ok(()), [0.0; 3]));
    let guess = State { q: [0.6, 0.0, 0.0], p: [0.0; 3] };
    let found = ConsistentStart::new(&PENDULUM).hold(&["q[0]", "q[1]"]).unwrap().solve(guess).unwrap();
    assert!((found.q[2] - 0.8).abs() < 1e-12 && found.q[..2] == [0.6, 0.0], "{found:?}");
}

#[test]
fn unknown_entries_and_guesses_that_are_not_numbers_are_refused() {
    let error = ConsistentStart::new(&PENDULUM).hold(&["q[0]", "angle"]).map(drop).unwrap_err();
    assert_eq!(
        error.to_string(),
        "`angle` is not an entry of the state: the entries are `q[0]`, `q[1]`, `q[2]`, `p[0]`, `p[1]`, `p[2]`",
    );
    let guess = State { q: [f64::NAN, 0.0, 0.0], ..start() };
    let error = ConsistentStart::new(&PENDULUM).solve(guess).unwrap_err();
    assert!(matches!(error, Error::Start { name: "q[0]", .. }));
}

/// Six constraints, the last of which is nearly the fourth where `e` is small, and says the same whatever `e` is.
#[feedback_system(
    coordinates(q: [4]),
    momenta(p: [4]),
    hamiltonian = (p.norm_squared() + 2 * q.norm_squared() + q[0] * q[3]) / 2,
    define(fourth = p[0] + q[1] / 5 + p[3] / 7),
    phase_constraint(
        a = q[0] + q[1] / 4 - p[2] / 3,
        b = q[1] + p[2] / 3,
        c = q[2] + p[0] / 5 + q[3] / 2,
        d = fourth,
        f = p[1] + q[3] / 6,
        g = fourth + e * (p[2] + q[0] / 3),
    ),
)]
struct Close {
    e: f64,
}

/// C is inverted by way of its square there, so that half of the digits that its condition leaves are lost.
#[test]
fn constraints_too_close_for_normal_equations_are_refused_at_the_start() {
    let field = |e: f64, x: &[f64; 8]| Close { e }.prepare().vector_field(x);
    let check = |e: f64| Feedback::new(&Close { e }, &[0.0; 8], Gains::uniform(1.0)).map(drop);
    let x = [0.3, -0.2, 0.5, 0.1, -0.4, 0.7, 0.2, -0.6];
    let error = |e: f64| {
        let pairs = field(e, &x).into_iter().zip(field(1.0, &x));
        pairs.map(|(obtained, expected)| (obtained - expected).abs()).fold(0.0, f64::max)
    };
    assert!(error(2e-9) > 0.1, "{}", error(2e-9));
    let Err(Error::DependentConstraints { dependence }) = check(2e-9) else { panic!("{:?}", check(2e-9)) };
    assert!((1e-9..1e-8).contains(&dependence.pivot_ratio), "{dependence}");
    for e in [1.0, 1e-3, 1e-5, 1e-6] {
        assert_eq!(check(e), Ok(()));
        assert!(error(e) < 1e-4, "{e}: {}", error(e));
    }
}
