//! What many bodies conserve: joints between rotation matrices, and forces along distances of which hardly any point modulo a prime has all.

use fbint_macros_core::derivation::{Claim, Conservation, Evidence, Prepared, Problem};
use fbint_macros_core::elaborate::elaborate;
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::{algebra, mechanics, syntax};

use super::expansion::tokens;

fn problem(attribute: &str, item: &str) -> Problem {
    let errors = Errors::new();
    let mut declaration = syntax::parse(tokens(attribute), tokens(item), &errors).expect("a declaration");
    let model = elaborate(&mut declaration, &errors);
    errors.flush().expect("no mistakes");
    model.expect("no mistakes").problem
}

/// The names of the integrals that are not proved to be conserved.
fn open(prepared: &Prepared) -> Vec<&str> {
    let integrals = &prepared.derivation.integrals;
    let is_open = |claim: &Claim| matches!(claim, Claim::Open { .. });
    let open = prepared.claims.iter().filter(|(_, claim)| is_open(claim));
    open.map(|(id, _)| integrals[id].name.as_str()).collect()
}

fn with_numbers(attribute: &str, item: &str) -> Prepared {
    mechanics::prepare(&problem(attribute, item)).expect("a derivation")
}

fn with_algebra(attribute: &str, item: &str) -> Prepared {
    algebra::prepare(&problem(attribute, item)).expect("a derivation")
}

/// A hinge that leaves the two bodies one axis in common.
fn hinge(name: &str, one: &str, other: &str) -> String {
    let entry = |axis: &str| format!("({one} * vector![{axis}]).dot(&({other} * vector![0, 0, 1]))");
    format!("{name}_x = {}, {name}_y = {}", entry("1, 0, 0"), entry("0, 1, 0"))
}

/// Bodies in a row, each with its centre and its rotation matrix, on hinges and ball joints by turns.
fn chain(bodies: usize, kinematics: &str) -> String {
    let list = |entry: &dyn Fn(usize) -> String| (0..bodies).map(entry).collect::<Vec<_>>().join(", ");
    let coordinates = list(&|k| format!("x{k}: [3], r{k}: [3, 3]"));
    let velocities = list(&|k| format!("v{k}: [3], o{k}: [3]"));
    let rates = list(&|k| {
        format!("x{k} = v{k}, r{k} = {}", kinematics.replace('r', &format!("r{k}")).replace('o', &format!("o{k}")))
    });
    let energy = (0..bodies)
        .map(|k| format!("m * v{k}.norm_squared() / 2 + o{k}.dot(&j.component_mul(&o{k})) / 2 - m * g * x{k}[2]"));
    let turns = list(&|k| format!("turn{k} = r{k}.transpose() * r{k} - identity(3)"));
    let joint = |k: usize| {
        let next = k + 1;
        let ball = format!("ball{k} = x{k} + r{k} * vector![1, 0, 0] - x{next} + r{next} * vector![1, 0, 0]");
        if k.is_multiple_of(2) {
            format!("{ball}, {}", hinge(&format!("hinge{k}"), &format!("r{k}"), &format!("r{next}")))
        } else {
            ball
        }
    };
    let joints = (0..bodies - 1).map(joint).collect::<Vec<_>>().join(", ");
    let energy = energy.collect::<Vec<_>>().join(" + ");
    format!(
        "coordinates({coordinates}), velocities({velocities}), kinematics({rates}), lagrangian = {energy}, constraint({turns}, {joints})"
    )
}

const CHAIN: &str = "struct Chain { m: f64, g: f64, j: Vector3<f64> }";

#[test]
fn rotation_matrices_of_bodies_on_joints_stay_orthonormal() {
    let hinged = format!(
        "coordinates(r: [3, 3], s: [3, 3]), velocities(o: [3], w: [3]), kinematics(r = r * hat(o), s = s * hat(w)),
        lagrangian = o.dot(&j.component_mul(&o)) / 2 + w.dot(&j.component_mul(&w)) / 2,
        constraint(turn_r = r.transpose() * r - identity(3), turn_s = s.transpose() * s - identity(3), {})",
        hinge("hinge", "r", "s")
    );
    assert_eq!(open(&with_numbers(&hinged, "struct Hinge { j: Vector3<f64> }")), [""; 0]);
    assert_eq!(open(&with_algebra(&hinged, "struct Hinge { j: Vector3<f64> }")), [""; 0]);
    for kinematics in ["r * hat(o)", "hat(o) * r"] {
        assert_eq!(open(&with_numbers(&chain(2, kinematics), CHAIN)), [""; 0], "{kinematics}");
    }
    // More matrices than parts of the set could be counted for.
    assert_eq!(open(&with_numbers(&chain(5, "r * hat(o)"), CHAIN)), [""; 0]);
    // The rate of the hinge is held, and the angle about it is free.
    let angles = "invariant(across = 3 * (r * vector![1, 0, 0]).dot(&(s * vector![0, 0, 1])),
        about = (r * vector![1, 0, 0]).dot(&(s * vector![1, 0, 0])))";
    assert_eq!(open(&with_numbers(&format!("{hinged}, {angles}"), "struct Hinge { j: Vector3<f64> }")), ["about"]);
}

/// Bodies that attract one another, and their momenta, those in motion, and the angular ones.
fn bodies(count: usize, potential: &str) -> String {
    format!(
        "coordinates(q: [3, {count}]), momenta(p: [3, {count}]),
        hamiltonian = (0..{count}).map(|i| p.column(i).norm_squared() / (2 * m)).sum()
            + (0..{count}).map(|i| (0..i).map(|j| {potential}).sum()).sum(),
        invariant(momentum = (0..{count}).map(|i| p.column(i)).sum(),
            angular = (0..{count}).map(|i| q.column(i).cross(&p.column(i))).sum())"
    )
}

#[test]
fn momenta_of_many_bodies_are_proved_whatever_the_distances_are() {
    let item = |potential: &str| {
        if potential.contains(" l") {
            "struct Bodies { m: f64, g: f64, l: f64 }"
        } else {
            "struct Bodies { m: f64, g: f64 }"
        }
    };
    let gravity = "-g / (q.column(i) - q.column(j)).norm()";
    let springs = "g * ((q.column(i) - q.column(j)).norm() - l).powi(2)";
    let softened = "-g / ((q.column(i) - q.column(j)).norm_squared() + l.powi(2)).sqrt()";
    for (count, potential) in [(6, springs), (7, softened), (20, gravity)] {
        let prepared = with_numbers(&bodies(count, potential), item(potential));
        assert_eq!(open(&prepared), [""; 0], "{count}, {potential}");
        let proved = Claim::Proved(Conservation::Everywhere(Evidence::Algebra));
        assert!(prepared.claims.rows().skip(1).all(|claim| *claim == proved));
    }
    // A force that does not depend on distances alone, and a body that pushes without being pushed.
    let oblique = format!("{gravity} + g * (q[(0, i)] - q[(0, j)]).powi(4) / (q.column(i) - q.column(j)).norm()");
    let prepared = with_numbers(&bodies(6, &oblique), item(&oblique));
    assert_eq!(open(&prepared), ["angular[1]", "angular[2]"]);
    let fixed = format!("{gravity} - g / (q.column(i) + l * q.column(j)).norm()");
    assert_eq!(open(&with_numbers(&bodies(6, &fixed), item(&fixed))), ["momentum[0]", "momentum[1]", "momentum[2]"]);
}
