//! What the word `assume` takes the responsibility for, what is refuted all the same, and what needs it.

use fbint_macros_core::derivation::{Claim, Conservation, Evidence};
use fbint_macros_core::elaborate::elaborate;
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::syntax::parse;
use fbint_macros_core::{algebra, prepared};

use super::expansion::{expand, tokens};

/// The messages of an expansion.
fn messages(attribute: &str, item: &str) -> Vec<String> {
    expand(attribute, item).0
}

/// Each of these is false, and nearly true: the rate is large only far away, in a narrow region, for one sign, or is small.
#[test]
fn what_is_false_is_refuted_although_it_is_assumed() {
    let free = |potential: &str| {
        format!(
            "coordinates(x, y), momenta(px, py), hamiltonian = (px.powi(2) + py.powi(2)) / (2 * m) + {potential} + y,
             invariant(assume momentum = px)"
        )
    };
    let sphere = |potential: &str| {
        format!(
            "coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / (2 * m) + q[2] + {potential},
             constraint(length = q.norm_squared() - 1), invariant(assume spin = q[0] * p[1] - q[1] * p[0])"
        )
    };
    let inside = "(1 - ((x - 3).powi(2) + (y - 4).powi(2) + (z - 5).powi(2)).sqrt())";
    let ball = |kinds: &str, rest: &str| {
        format!(
            "coordinates(x, y, z), momenta(px, py, pz), hamiltonian = (px.powi(2) + py.powi(2) + pz.powi(2)) / (2 * m){kinds},
             invariant(assume momentum = px){rest}"
        )
    };
    let bodies = "coordinates(q: [3], r: [3]), momenta(p: [3], s: [3]), define(gap = (q - r).norm() - 0.001),
        hamiltonian = (p.norm_squared() + s.norm_squared()) / (2 * m) + (gap.abs() - gap).powi(2), invariant(assume momentum = p[0])";
    let shear = |rate: &str| {
        format!(
            "state(x, y), dynamics(x = {rate}, y = m * (x.sin() * y.cos() + y.sin() * x.cos() - (x + y).sin())),
            invariant(assume keep = x + y)"
        )
    };
    let cases = [
        free("(-50 * (x + 5)).exp()"),
        free("(-50 * (x - 700)).exp()"),
        free("(-((x - 3) / 0.001).powi(2)).exp()"),
        free("(-((x - 40000) / 0.000001).powi(2)).exp()"),
        free("1e-60 * x"),
        free("1e-100 * x.sin()"),
        free("((x - 9).abs() + x - 9)"),
        free("((x - 1000000).abs() + x - 1000000).powi(2)"),
        free("(1 + (1000 * (x - 8)).tanh())"),
        free("1 / (1 + 1e12 * (x - 17).powi(2))"),
        free("(m.abs() - m) * x"),
        ball(&format!(" + ({inside} + {inside}.abs()).powi(2)"), ""),
        ball(
            &format!(" + ({inside}.abs() + {inside}).powi(3)"),
            ", constraint(sphere = x.powi(2) + y.powi(2) + z.powi(2) - 50)",
        ),
        ball("", &format!(", force(px = {inside} + {inside}.abs())")),
        ball("", &format!(", force(px = -px * ({inside} + {inside}.powi(2).sqrt()))")),
        bodies.to_owned(),
        free("((x.powi(2)).sqrt() + x).powi(4)"),
        sphere("1e-50 * q[0]"),
        sphere("(-((q[0] - 0.3) / 0.0001).powi(2)).exp()"),
        sphere("(-500 * (q[1] + 0.99)).exp()"),
        sphere("(m.abs() - m) * q[0]"),
        shear("1e-60 * x + m * ((x + y).sin() - x.sin() * y.cos() - y.sin() * x.cos())"),
        shear("(m * x.exp()).ln() - m.abs().ln() - x + 1e-60"),
    ];
    for attribute in cases {
        let found = messages(&attribute, "struct S { m: f64 }");
        assert!(found.len() == 1 && found[0].contains("is not conserved"), "{attribute}: {found:?}");
    }
}

/// A logarithm of a product: where all of it is defined, x' is 0, and algebra does not know that.
const DISGUISED: &str = "state(x, y), dynamics(x = (x * y).ln() - x.ln() - y.ln(), y = x)";

#[test]
fn what_is_neither_proved_nor_refuted_needs_the_word() {
    let refused = messages(&format!("{DISGUISED}, invariant(keep = x)"), "struct S {}");
    assert_eq!(refused.len(), 1);
    let start = "cannot prove that `keep` is conserved: d/dt = ln(x*y) - ln(x) - ln(y) is not shown to be 0, and it vanishes in all ";
    let end = "`assume keep = ..` to accept it unproved";
    assert!(refused[0].starts_with(start) && refused[0].ends_with(end), "{refused:?}");
    let family =
        format!("{DISGUISED}, invariant(keep[i in 1..3] = vector![i * x, x.powi(i + 1)], wrong = y, other = x)");
    let refused = messages(&family, "struct S {}");
    assert_eq!(refused.len(), 3, "{refused:?}");
    assert!(refused[0].contains("; nor is `keep[1][1]`, `keep[2][0]`, `keep[2][1]` conserved\nhelp: "), "{refused:?}");
    assert!(refused[1].starts_with("`wrong` is not conserved: d/dt = x, which is "), "{refused:?}");
    let nowhere = "state(x, y), dynamics(x = y, y = -x), invariant(i = x.sqrt() + (-x).sqrt())";
    let refused = messages(nowhere, "struct S {}");
    assert!(refused[0].contains("the search found no state in which that is defined"), "{refused:?}");
    let arccosine = "coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, invariant(a = (2 * x).acos())";
    let refused = messages(arccosine, "struct S {}");
    assert!(refused.len() == 1 && refused[0].starts_with("`a` is not conserved: d/dt = "), "{refused:?}");
}

#[test]
fn what_is_assumed_is_shown_as_assumed() {
    let attribute = format!("{DISGUISED}, invariant(assume keep = x, assume twice[i in 1..3] = x.powi(i + 1))");
    let expansion = fbint_macros_core::feedback_system(tokens(&attribute), tokens("struct S {}")).to_string();
    assert_eq!(messages(&attribute, "struct S {}"), [""; 0]);
    assert_eq!(expansion.matches("Conservation :: Assumed").count(), 3);
    assert!(expansion.contains("- assumed, not proved: `keep`, `twice[1]`, `twice[2]`"), "{expansion}");
    assert!(expansion.contains("d/dt (keep, twice[1], twice[2]) = 0, assumed, not proved"), "{expansion}");
    let set = format!("{DISGUISED}, constraint(assume line = x - 1)");
    assert_eq!(messages(&set, "struct S {}"), [""; 0]);
    let proved = "coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, invariant(assume same = p)";
    let expansion = fbint_macros_core::feedback_system(tokens(proved), tokens("struct S {}")).to_string();
    assert!(expansion.contains("everywhere, proved by algebra: `same`"), "{expansion}");
    assert!(expansion.contains("`same` is proved: `assume` is not needed"), "{expansion}");
    let named = "coordinates(assume), momenta(p), hamiltonian = p.powi(2) / 2 + k * assume, invariant(k = p.powi(2) / 2 + k * assume)";
    assert_eq!(messages(named, "struct S { k: f64 }").len(), 1, "`k` means two things");
    let named = "coordinates(assume), momenta(p), hamiltonian = p.powi(2) / 2 + k * assume, invariant(i = p.powi(2) + 2 * k * assume)";
    assert_eq!(messages(named, "struct S { k: f64 }"), [""; 0]);
    let named = "coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, invariant(assume = p, assume more[i in 0..2] = p * (i + 1))";
    assert_eq!(messages(named, "struct S {}"), [""; 0]);
}

#[test]
fn only_what_has_to_be_proved_can_be_assumed() {
    let all = "coordinates(q: [2], s), momenta(p: [2], ps), define(assume h = p.norm_squared() / 2), hamiltonian = h + ps.powi(2) / 2,
        constraint(assume length = q.norm_squared() - 1), phase_constraint(assume plane = s, still = ps), output(assume twice = 2 * h)";
    let found = messages(all, "struct S {}");
    assert_eq!(
        found,
        [
            "`h` is not an integral, and only the conservation of integrals can be assumed\nhelp: remove `assume`",
            "`length` is kept by construction, which leaves nothing to be assumed\nhelp: remove `assume`",
            "`plane` is kept by construction, which leaves nothing to be assumed\nhelp: remove `assume`",
            "`twice` is not an integral, and only the conservation of integrals can be assumed\nhelp: remove `assume`",
        ]
    );
}

/// The brackets of what is assumed are not listed as if it did not commute.
#[test]
fn what_is_assumed_is_not_said_not_to_commute() {
    let attribute = "coordinates(x, y), momenta(px, py),
        hamiltonian = (px.powi(2) + py.powi(2)) / 2 + x * ((x * y).ln() - x.ln() - y.ln()).sin(),
        invariant(assume momentum = px, assume shifted = px.powi(2) + 3)";
    let expansion = fbint_macros_core::feedback_system(tokens(attribute), tokens("struct S {}")).to_string();
    assert!(expansion.contains("- assumed, not proved: `momentum`, `shifted`"), "{expansion}");
    assert!(!expansion.contains("{energy, ") && expansion.contains("the one pair commutes"), "{expansion}");
}

/// A proof that a file claims, and that points modulo primes do not repeat.
#[test]
fn claims_of_files_are_searched_for_states_that_refute_them() {
    let inside = "(1 - ((x - 3).powi(2) + (y - 4).powi(2)).sqrt())";
    let forged = format!(
        "coordinates(x, y), momenta(px, py), hamiltonian = (px.powi(2) + py.powi(2)) / 2 + ({inside} + {inside}.abs()).powi(2),
         invariant(momentum = px)"
    );
    let claimed = |attribute: &str, grade: Conservation| {
        let errors = Errors::new();
        let mut declaration = parse(tokens(attribute), tokens("struct S {}"), &errors).expect("a declaration");
        let model = elaborate(&mut declaration, &errors).expect("a model");
        errors.flush().expect("no mistakes");
        let mut prepared = algebra::prepare(&model.problem).expect("a derivation");
        let last = prepared.claims.ids().last().expect("an integral");
        assert!(matches!(prepared.claims[last], Claim::Open { .. }), "{attribute}");
        prepared.claims[last] = Claim::Proved(grade);
        prepared::verify_kept(&model.problem, prepared).map(|kept| kept.claims[last].clone())
    };
    let everywhere = Conservation::Everywhere;
    let refused = claimed(&forged, everywhere(Evidence::Algebra)).expect_err("a contradiction").to_string();
    assert_eq!(refused, "what it says of the conservation of `momentum` is not so");
    let kept = claimed(&format!("{DISGUISED}, invariant(keep = x)"), everywhere(Evidence::Algebra));
    assert_eq!(kept, Ok(Claim::Proved(everywhere(Evidence::Kept))));
}

/// An energy that is 0 in all states but those in a ball far away.
#[test]
fn what_changes_far_away_is_not_said_to_be_the_same_in_every_state() {
    let inside = "(1 - ((x - 3).powi(2) + (y - 4).powi(2) + (p - 5).powi(2) + (q - 6).powi(2)).sqrt())";
    let far = format!("coordinates(x, y), momenta(p, q), hamiltonian = {inside} + {inside}.abs()");
    let expansion = expand(&far, "struct S {}").1;
    assert!(!expansion.contains("is the same in every state"), "{expansion}");
    assert!(expansion.contains("the gradient of `energy` vanishes in all states that were tried"), "{expansion}");
    let still =
        "coordinates(x), momenta(p), hamiltonian = (x + p).sin().powi(2) + (x + p).cos().powi(2), invariant(i = x)";
    let expansion = expand(still, "struct S {}").1;
    assert!(expansion.contains("`energy` is the same in every state"), "{expansion}");
}
