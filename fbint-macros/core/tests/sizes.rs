//! Frames whose velocities depend on the attitude: what is derived in them is about as long as what reactions need.

use fbint_macros_core::elaborate::elaborate;
use fbint_macros_core::program::{VECTOR_FIELD, assemble};
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::{algebra, syntax};

use super::expansion::{expand, tokens};

/// Operations of the field.
fn operations(attribute: &str, item: &str) -> u32 {
    let errors = Errors::new();
    let mut declaration = syntax::parse(tokens(attribute), tokens(item), &errors).expect("a declaration");
    let model = elaborate(&mut declaration, &errors).expect("no mistakes");
    errors.flush().expect("no mistakes");
    let prepared = algebra::prepare(&model.problem).expect("a derivation");
    let count = assemble(&prepared.derivation, false)[&VECTOR_FIELD].operations();
    count.additions + count.multiplications + count.fused + count.divisions
}

/// Balls that roll on a plane: a homogeneous one, Chaplygin's with three moments of inertia, and Routh's, whose centre of mass is not its
/// centre.
#[test]
fn balls_in_the_frame_of_their_slip_take_at_most_twice_what_they_take_with_reactions() {
    let balls = [
        ("vector![0, 0, 0]", "i[0] * w.norm_squared()"),
        ("vector![0, 0, 0]", "w.dot(&i.component_mul(&w))"),
        ("vector![0, 0, b]", "i[0] * (w[0].powi(2) + w[1].powi(2)) + i[2] * w[2].powi(2)"),
    ];
    for (centre, inertia) in balls {
        let attitude = "constraint(orthonormality = r.transpose() * r - identity(3))";
        let contact = format!("define(contact = {centre} - a * r.row(2).transpose())");
        let slip = format!(
            "coordinates(r: [3, 3], c: [3]), velocities(w: [3], slip: [3]), {contact},
             kinematics(r = r * hat(w), c = r * (slip - w.cross(&contact))),
             lagrangian = (m * (slip - w.cross(&contact)).norm_squared() + {inertia}) / 2 - m * g * c[2],
             {attitude}, velocity_constraint(rolling = slip)"
        );
        let reactions = format!(
            "coordinates(r: [3, 3], c: [3]), velocities(w: [3], v: [3]), {contact}, kinematics(r = r * hat(w), c = v),
             lagrangian = (m * v.norm_squared() + {inertia}) / 2 - m * g * c[2],
             {attitude}, velocity_constraint(rolling = v + r * w.cross(&contact))"
        );
        let used = [("b", centre.contains('b')), ("i", true)].into_iter().filter(|(_, is_used)| *is_used);
        let fields: Vec<&str> = used.map(|(name, _)| if name == "i" { "i: Vector3<f64>" } else { "b: f64" }).collect();
        let item = format!("struct Ball {{ m: f64, g: f64, a: f64, {} }}", fields.join(", "));
        let [slip, reactions] = [slip, reactions].map(|attribute| operations(&attribute, &item));
        assert!(slip <= 2 * reactions, "{inertia}: {slip} {reactions}");
    }
}

/// Five directions, each of which moves six coordinates in its own way.
#[test]
fn a_frame_whose_brackets_are_too_long_is_refused() {
    let rate = |i: usize| {
        (0..5)
            .map(|j| format!("v[{j}] * (x[{i}] * {} + x[{}] + {j}).sin()", j + 1, (i + j) % 6))
            .collect::<Vec<_>>()
            .join(" + ")
    };
    let rates = (0..6).map(rate).collect::<Vec<_>>().join(", ");
    let attribute = format!(
        "coordinates(x: [6]), velocities(v: [5]), kinematics(x = vector![{rates}]), lagrangian = v.norm_squared() / 2"
    );
    let (messages, _) = expand(&attribute, "struct S {}");
    let expected = "the bracket of the directions of `v[0]` and `v[1]` is too long to be written out: ";
    assert!(messages.len() == 1 && messages[0].starts_with(expected), "{messages:?}");
}

/// Products of sums in all coordinates, whose rates have a bracket of more than a million operations.
#[test]
fn a_bracket_that_grows_too_long_is_named_before_it_is_derived() {
    let factor = |i: usize| {
        let terms: Vec<_> = (0..10).map(|j| format!("{} * q[{j}]", (i * 7 + j * 3) % 11 + 1)).collect();
        format!("({} + q[{}].sin())", terms.join(" + "), i % 10)
    };
    let product = |from: usize| (from..from + 10).map(factor).collect::<Vec<_>>().join(" * ");
    let attribute = format!(
        "coordinates(q: [10]), momenta(p: [10]), hamiltonian = p.norm_squared() / 2,
         constraint(surface = {} - 1, other = {} - 1)",
        product(0),
        product(9)
    );
    let (messages, _) = expand(&attribute, "struct S;");
    let [message] = &messages[..] else { panic!("{messages:?}") };
    let expected = "the bracket of `surface_rate` and `other_rate` grows to ";
    assert!(message.starts_with(expected) && message.contains("take more coordinates"), "{message}");
}
