//! Systems where |x| and norms are 0: fields and their Jacobians have the values that hand calculation gives.

use fbint_catalogue::padded::{Padded, Visitor};
use fbint_runtime::FeedbackSystem;
use fbint_text::models;

use crate::functions::{Point, jacobians, results};
use crate::random::Random;
use crate::shipped::visit;

/// The field at a state, and its Jacobian, entry by entry.
struct At(Vec<f64>);

impl Visitor for At {
    type Output = (Vec<f64>, Vec<(usize, usize, f64)>);

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
        let mut point = Point::random(&mut Random::new(1));
        point.x[..self.0.len()].copy_from_slice(&self.0);
        let prepared = model.prepare();
        let field = results::<Padded<N, M>>(&prepared, &point)["vector_field"].clone();
        let [jacobian, _] = jacobians::<Padded<N, M>>(&prepared, &point);
        (field, jacobian)
    }
}

pub(crate) fn at(declaration: &str, state: &[f64]) -> (Vec<f64>, Vec<(usize, usize, f64)>) {
    let text = format!("#[feedback_system({declaration}, derivatives)] struct S;");
    let model = models(&text).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
    visit(Box::new(model), At(state.to_vec()))
}

/// The entry of a Jacobian, 0 where it vanishes identically.
pub(crate) fn entry(jacobian: &[(usize, usize, f64)], place: (usize, usize)) -> f64 {
    jacobian.iter().find(|(row, column, _)| (*row, *column) == place).map_or(0.0, |(.., entry)| *entry)
}

#[track_caller]
fn assert_finite(jacobian: &[(usize, usize, f64)]) {
    assert!(jacobian.iter().all(|(.., entry)| entry.is_finite()), "{jacobian:?}");
}

#[test]
fn drag_has_the_derivative_zero_at_rest() {
    let of = |force: &str| {
        format!(
            "coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 + 9.81 * q[1], force(p = {force})"
        )
    };
    let drag = of("-0.1 * p.norm() * p");
    let (field, jacobian) = at(&drag, &[0.0, 1.0, 0.0, 0.0, 0.0]);
    assert_eq!(field, [0.0, 0.0, 0.0, -9.81, 0.0]);
    assert_finite(&jacobian);
    assert_eq!([(2, 2), (2, 3), (3, 3)].map(|place| entry(&jacobian, place)), [0.0; 3]);
    // d(|p| p_i)/dp_j = |p| if i = j, and p_i p_j / |p|.
    let (_, moving) = at(&drag, &[0.0, 1.0, 3.0, 4.0, 0.0]);
    for (place, expected) in [((2, 2), 5.0 + 9.0 / 5.0), ((2, 3), 12.0 / 5.0), ((3, 3), 5.0 + 16.0 / 5.0)] {
        assert!((entry(&moving, place) + 0.1 * expected).abs() < 1e-14, "{place:?}: {moving:?}");
    }
    let each = of("-0.1 * p[0].abs() * p");
    assert_finite(&at(&each, &[0.0; 5]).1);
}

#[test]
fn fields_of_sizes_exist_where_these_are_zero() {
    let of =
        |energy: &str| format!("coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 + {energy}");
    // Each with the momenta's rates at q = 0 and at q = (-3, 4).
    for (energy, moving) in [
        ("q[0].powi(2) * q[0].abs()", [27.0, 0.0]),
        ("(q[0].abs() + q[0]).powi(2)", [0.0, 0.0]),
        ("(q[0].abs() - q[0]).powi(2)", [24.0, 0.0]),
        ("q[0].abs().powi(3)", [27.0, 0.0]),
        ("q[0] * q.norm()", [-(5.0 + 9.0 / 5.0), 12.0 / 5.0]),
        ("q.norm() * q.norm_squared()", [45.0, -60.0]),
        ("q.norm().powi(3)", [45.0, -60.0]),
        // The mean of both sides.
        ("q[0].abs() + 0 * q[1]", [1.0, 0.0]),
    ] {
        let (field, _) = at(&of(energy), &[0.0; 4]);
        assert_eq!(field, [0.0; 4], "{energy}");
        let (field, _) = at(&of(energy), &[-3.0, 4.0, 0.0, 0.0]);
        for (found, expected) in field[2..].iter().zip(moving) {
            assert!((found - expected).abs() < 1e-12, "{energy}: {field:?}");
        }
    }
    // What has no limit has no value.
    for energy in ["q.norm()", "q.norm().sqrt()", "q[0].abs().sqrt()", "1 / q.norm()"] {
        let (field, _) = at(&of(energy), &[0.0; 4]);
        assert!(field.iter().any(|rate| !rate.is_finite()), "{energy}: {field:?}");
    }
}

/// A motor that is switched on at t = 1: at the switch, the rate of the work is that with half of the jump.
#[test]
fn the_rate_of_the_work_is_finite_at_a_switch() {
    let ramp = "coordinates(x), momenta(p), time(t), hamiltonian = p.powi(2) / 2 - x * ((t - 1).abs() + t - 1) / 2";
    let rate_of_work = |time: f64| at(ramp, &[3.0, 0.0, time, 0.0]).0[3];
    assert_eq!([0.5, 1.0, 1.5].map(rate_of_work), [0.0, -1.5, -3.0]);
}

/// Quotients stay what they are, and roots have their slopes.
#[test]
fn quotients_that_are_declared_are_not_continued() {
    for (rate, is_finite) in [
        ("-x / x.abs()", false),
        ("-x.abs() / x", false),
        ("x * x / x.abs()", false),
        ("-x * x.abs()", true),
        ("x / (x * x + 1e-6).sqrt()", true),
    ] {
        let (field, _) = at(&format!("state(x), dynamics(x = {rate})"), &[0.0]);
        assert_eq!(field[0].is_finite(), is_finite, "{rate}: {field:?}");
    }
    let (_, jacobian) = at("state(x), dynamics(x = x.sqrt())", &[0.0]);
    assert!(!entry(&jacobian, (0, 0)).is_finite());
}

#[test]
fn a_law_of_friction_that_starts_at_rest_is_named() {
    let text =
        "#[feedback_system(coordinates(q), velocities(v), lagrangian = v.powi(2) / 2, force(v = -mu * v / v.abs()),
        default(mu = 0.3), start(q = 0, v = 0))] struct Block { mu: f64 }";
    let mistakes = models(text).expect_err("0 / 0");
    let message = &mistakes.list()[0].message;
    assert!(message.contains("is not defined at the start") && message.contains("for the sign of x"), "{message}");
    assert!(models(&text.replace("v = 0)", "v = 1)")).is_ok());
    assert!(models(&text.replace("v / v.abs()", "v / (v * v + 1e-6).sqrt()")).is_ok());
}
