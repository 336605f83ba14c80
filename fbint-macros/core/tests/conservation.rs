//! What the compiler finds out about integrals: grades, brackets, ranks, and messages about those that are none.

use std::collections::BTreeMap;

use fbint_macros_core::algebra::symbolic::session;
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::derivation::{
    Claim, Conservation, Declared, Derivation, Dynamics, EntryOf, Evidence, Kind, Problem, Role, SymbolInfo,
};
use fbint_macros_core::elaborate::elaborate;
use fbint_macros_core::expression::{Expression, Symbol};
use fbint_macros_core::program::{FUNCTIONS, Fault, assemble, verify};
use fbint_macros_core::proofs::{self, Found, Violation, Witness};
use fbint_macros_core::syntax::diagnostics::Errors;
use fbint_macros_core::{algebra, mechanics, syntax};

use super::angles::{CONVENTIONS, Inverse, inverses};
use super::expansion::{expand, fact, tokens};

const EVERYWHERE: Conservation = Conservation::Everywhere(Evidence::Algebra);
const ON_CONSTRAINTS: Conservation = Conservation::OnConstraints(Evidence::Algebra);
const BY_CONSTRUCTION: Conservation = Conservation::Everywhere(Evidence::Construction);

const PENDULUM: &str = "coordinates(q: [3]), momenta(p: [3]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
    constraint(length = q.norm_squared() - l.powi(2))";
const PENDULUM_STRUCT: &str = "struct Pendulum { m: f64, g: f64, l: f64 }";

/// The derivation, and what was proved of each integral by name.
fn prove(attribute: &str, item: &str) -> (Derivation, Result<Vec<Conservation>, Vec<Violation>>) {
    let errors = Errors::new();
    let mut declaration = syntax::parse(tokens(attribute), tokens(item), &errors).expect("a declaration");
    let model = elaborate(&mut declaration, &errors);
    errors.flush().expect("no mistakes");
    let problem = model.expect("no mistakes").problem;
    let (derivation, claims) = session(|| {
        let derivation = mechanics::derive(&problem, &algebra::Algebra).expect("a derivation");
        let claims = mechanics::claims(&derivation, &proofs::grades(&derivation), &algebra::Algebra);
        (derivation, claims)
    })
    .expect("a session");
    let proved = proofs::prove(&derivation, &claims).map(|grades| grades.into_iter().collect());
    (derivation, proved)
}

fn grades(attribute: &str, item: &str) -> Vec<Conservation> {
    prove(attribute, item).1.unwrap_or_else(|violations| panic!("{violations:#?}"))
}

/// The state that refutes an integral.
fn witness(violation: &Violation) -> &Witness {
    match &violation.found {
        Found::Witness(witness) => witness,
        Found::Nothing(states) => panic!("nothing in {states} states: {violation:?}"),
    }
}

/// The messages of an expansion.
fn messages(attribute: &str, item: &str) -> Vec<String> {
    expand(attribute, item).0
}

fn equations(attribute: &str, item: &str) -> String {
    let expansion = fbint_macros_core::feedback_system(tokens(attribute), tokens(item));
    let file: syn::File = syn::parse2(expansion).expect("the expansion is Rust");
    fact(&file, "equations").unwrap_or_else(|| panic!("{:?}", messages(attribute, item)))
}

#[test]
fn constraints_and_energy_are_kept_by_construction() {
    assert_eq!(grades(PENDULUM, PENDULUM_STRUCT), [BY_CONSTRUCTION; 3]);
    let top = "state(x: [3]), poisson = hat(x), hamiltonian = x[0].powi(4) + a * x[1] * x[2].exp()";
    assert_eq!(grades(top, "struct Top { a: f64 }"), [BY_CONSTRUCTION]);
}

#[test]
fn brackets_that_vanish_are_a_proof() {
    let attribute = format!("{PENDULUM}, invariant(spin = q[0] * p[1] - q[1] * p[0])");
    assert_eq!(grades(&attribute, PENDULUM_STRUCT)[3], EVERYWHERE);
}

/// Neither H nor p^2 commutes with the constraint: c is eliminated.
#[test]
fn multipliers_are_eliminated() {
    let attribute = "coordinates(q: [2], s), momenta(p: [2], ps),
        hamiltonian = (p.norm_squared() + ps.powi(2)) / (2 * m) + s,
        constraint(length = q.norm_squared() - l.powi(2)),
        invariant(of_the_circle = p.norm_squared(), of_the_fall = ps.powi(2) + 2 * m * s)";
    assert_eq!(grades(attribute, "struct S { m: f64, l: f64 }")[3..], [EVERYWHERE; 2]);
    let phase = "coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m),
        phase_constraint(length = q.norm_squared() - l.powi(2), tangency = q.dot(&p)),
        invariant(speed = p.norm_squared() / m.powi(2))";
    assert_eq!(grades(phase, "struct S { m: f64, l: f64 }")[3], EVERYWHERE);
}

/// What is added is a multiple of the constraint.
#[test]
fn on_the_constraints_reduction_decides() {
    let attribute = format!(
        "{PENDULUM}, invariant(spin = q[0] * p[1] - q[1] * p[0] + p[2] * q[0] * (q.norm_squared() - l.powi(2)))"
    );
    assert_eq!(grades(&attribute, PENDULUM_STRUCT)[3], ON_CONSTRAINTS);
    let body = "state(r: [3, 3], w: [3]), dynamics(r = r * hat(w), w = a * w.cross(&vector![1, 2, 3])),
        constraint(orthonormality = r.transpose() * r - identity(3)), invariant(size = w.norm_squared())";
    let expected = [vec![ON_CONSTRAINTS; 6], vec![EVERYWHERE]].concat();
    assert_eq!(grades(body, "struct Body { a: f64 }"), expected);
}

/// Modulo x^2 - y alone nothing is seen; with y - z, as a Groebner basis, it is.
#[test]
fn on_the_constraints_a_basis_decides() {
    let attribute = "state(x, y, z, w), dynamics(x = 0, y = 0, z = 0, w = a * (x.powi(4) - z.powi(2))),
        constraint(parabola = x * y - z, twice = x.powi(2) - y, thrice = x.powi(2) - z), invariant(rest = w)";
    assert_eq!(grades(attribute, "struct S { a: f64 }")[3], ON_CONSTRAINTS);
}

/// Functions that are bound by polynomial relations: sine and cosine, roots, reciprocals, absolute values.
#[test]
fn relations_of_functions_are_used() {
    let angle = "coordinates(a), momenta(p), hamiltonian = p.powi(2) / (2 * m) - m * g * a.cos(),
        invariant(same = p.powi(2) * (a.sin().powi(2) + a.cos().powi(2)) - 2 * m.powi(2) * g * a.cos())";
    assert_eq!(grades(angle, "struct S { m: f64, g: f64 }")[1], EVERYWHERE);
    let kepler = "state(x: [3], v: [3]), define(l = x.cross(&v)), dynamics(x = v, v = -mu * x / x.norm().powi(3)),
        invariant(momentum = l, axis = v.cross(&l) - mu * x / x.norm(), energy = v.norm_squared() / 2 - mu / x.norm())";
    assert_eq!(grades(kepler, "struct S { mu: f64 }"), [EVERYWHERE; 7]);
    let central = "coordinates(x: [2]), momenta(p: [2]),
        hamiltonian = p.norm_squared() / 2 - k * x.norm().powf(a) + x.norm().ln() + (1 + x.norm_squared()).powf(1 / 3),
        invariant(momentum = x[0] * p[1] - x[1] * p[0])";
    assert_eq!(grades(central, "struct S { k: f64, a: f64 }")[1], EVERYWHERE);
    let hyperbolic = "state(x, y), dynamics(x = y.sinh() * y.cosh(), y = x * a),
        invariant(i = y.cosh().powi(2) + y.sinh().powi(2) - 2 * a * x.powi(2), j = y.sinh().powi(2) - a * x.abs().powi(2))";
    assert_eq!(grades(hyperbolic, "struct S { a: f64 }"), [EVERYWHERE; 2]);
    let pendulum = "coordinates(a, b), momenta(pa, pb), define(c = (a - b).cos()),
        hamiltonian = (pa.powi(2) - 2 * c * pa * pb + 2 * pb.powi(2)) / (2 * (2 - c.powi(2))) - 2 * a.cos() - b.cos(),
        invariant(again = (pa.powi(2) - 2 * c * pa * pb + 2 * pb.powi(2)) / (1 + (a - b).sin().powi(2)) - 4 * a.cos() - 2 * b.cos())";
    assert_eq!(grades(pendulum, "struct S {}"), [BY_CONSTRUCTION, EVERYWHERE]);
}

/// Multiples and sums of angles and exponents, rational and symbolic, and a multiple of the constraint in disguise.
#[test]
fn functions_of_sums_are_related() {
    let angle = "coordinates(a), momenta(p), hamiltonian = p.powi(2) / (2 * m) - m * g * (2 * a).cos(),
        invariant(same = p.powi(2) - 2 * m.powi(2) * g * (1 - 2 * a.sin().powi(2)))";
    assert_eq!(grades(angle, "struct S { m: f64, g: f64 }")[1], EVERYWHERE);
    let exponentials = "state(x, y), dynamics(x = (x + y).exp(), y = -x.exp() * y.exp()), invariant(sum = x + y)";
    assert_eq!(grades(exponentials, "struct S {}"), [EVERYWHERE]);
    let attribute = format!(
        "{PENDULUM}, invariant(spin = q[0] * p[1] - q[1] * p[0] + p[2] * (q.norm_squared() - l.powi(2)).sin())"
    );
    assert_eq!(grades(&attribute, PENDULUM_STRUCT)[3], ON_CONSTRAINTS);
}

/// Six rods: too many for determinants. The speed does not commute with the rods one by one.
#[test]
fn many_constraints_are_eliminated() {
    let attribute = "coordinates(q: [2, 6]), momenta(p: [2, 6]),
        hamiltonian = (0..6).map(|i| p.column(i).norm_squared() / (2 * m)).sum(),
        constraint(root = q.column(0).norm_squared() - l.powi(2),
            link[i in 1..6] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2)),
        invariant(speed = (0..6).map(|i| p.column(i).norm_squared()).sum(),
            spin = (0..6).map(|i| q[(0, i)] * p[(1, i)] - q[(1, i)] * p[(0, i)]).sum())";
    let grades = grades(attribute, "struct S { m: f64, l: f64 }");
    assert_eq!(grades[13..], [EVERYWHERE; 2]);
}

/// sqrt(x / y) is sqrt(x y) / y where y is positive, and minus that where both are negative.
#[test]
fn branches_of_roots_are_told_apart() {
    let attribute = "state(x, y), dynamics(x = -y, y = x), invariant(i = (x / y).sqrt() - (x * y).sqrt() / y)";
    let (_, proved) = prove(attribute, "struct S {}");
    assert!(proved.is_err(), "{proved:?}");
    let size = "state(x, y), dynamics(x = -y, y = x), invariant(i = (x.powi(2)).sqrt() - x)";
    let (_, proved) = prove(size, "struct S {}");
    assert!(proved.is_err(), "{proved:?}");
}

/// For some choice of signs alone each of these vanishes: where parameters or coordinates are positive, or on one part of the constraint
/// set. A root that is another one there is a root of its own elsewhere, where points are rare.
#[test]
fn what_holds_for_some_signs_alone_is_not_proved() {
    let sum = |term: &str, count: usize| {
        (1..=count).map(|i| term.replace("{i}", &i.to_string())).collect::<Vec<_>>().join(" + ")
    };
    let of_rate = |rate: String| format!("state(x, u), dynamics(x = 0, u = {rate}), invariant(i = u)");
    let of_parameters = |count: usize| {
        let sizes = (0..count).map(|i| format!("p{i}.abs()")).collect::<Vec<_>>().join(" + ");
        let signs = (0..count).map(|i| format!("(p{i}.abs() - p{i})")).collect::<Vec<_>>().join(" * ");
        let fields = (0..count).map(|i| format!("p{i}: f64")).collect::<Vec<_>>().join(", ");
        let attribute = format!(
            "state(x, y, u), dynamics(x = 2 * y, y = -(2 * x + {sizes}), u = {signs}),
            constraint(g = x * x + ({sizes}) * x + y * y - 1), invariant(i = u)"
        );
        (attribute, format!("struct S {{ {fields} }}"))
    };
    let of_state = [
        of_rate(format!("({}).sin()", sum("({i} * (x.abs() - x)).atan()", 5))),
        of_rate(format!("{} - 4 * x", sum("((x * x + {i} * (x.abs() - x)).ln() / 2).exp()", 4))),
        of_rate(format!("{} - 7 * x", sum("(x * x + {i} * ((x * x).sqrt() - x)).sqrt()", 7))),
        format!(
            "state(x, y, u), dynamics(x = 0, y = 0, u = {} - 8 * y.abs()),
            constraint(g = (x - 1) * (x - 2)), invariant(i = u)",
            sum("(y * y + {i} * (x - 1)).sqrt()", 8)
        ),
    ];
    let of_state = of_state.map(|attribute| (attribute, "struct S {}".to_owned()));
    for (attribute, item) in [2, 3, 4, 6].map(of_parameters).into_iter().chain(of_state) {
        let (messages, _) = expand(&attribute, &item);
        assert!(messages.iter().any(|message| message.contains("conserved")), "{attribute}: {messages:?}");
    }
}

/// h - g = w y - x y vanishes on the set, whose gradients are nearly parallel in some states, and what is larger than any double is not
/// known to a bound.
#[test]
fn rounding_refutes_nothing() {
    let parallel = "state(x, y, z, w, u), dynamics(x = 0, y = 0, z = 0, w = 0, u = ((x - w) * y).sin()),
        constraint(g = x * y - z.powi(3), h = w * y - z.powi(3)), invariant(i = u)";
    let large = "state(x, z, u), dynamics(x = x, z = 2 * z,
            u = (((2 * (z * z)) * (z * z)).sqrt() - 2.sqrt() * (z * z).abs()) * ((2 * x).powi(31) - (2 * x).powi(30))),
        invariant(i = u)";
    for attribute in [parallel, large] {
        let (messages, _) = expand(attribute, "struct S {}");
        let is_refuted = |message: &String| message.contains(", which is ");
        assert!(!messages.iter().any(is_refuted), "{attribute}: {messages:?}");
    }
}

/// I(x + h X) - I(x - h X) over 2 h, in doubles, is what the message says.
#[test]
fn witnesses_are_witnesses() {
    let attribute = "state(x: [3]), dynamics(x = vector![x[1] * x[2], a * x[0].sin(), -x[0] * b]),
        invariant(first = x.norm_squared(), second = x[0] * x[1] + (a * x[2]).exp(), third = x[0] / (2 + x[1].cos()))";
    let (derivation, proved) = prove(attribute, "struct S { a: f64, b: f64 }");
    let violations = proved.expect_err("none is conserved");
    assert_eq!(violations.iter().map(|violation| violation.integral.place()).collect::<Vec<_>>(), [0, 1, 2]);
    for violation in violations {
        let Witness { state, value: rate_found, .. } = witness(&violation);
        let x: Vec<f64> = state.rows().copied().collect();
        let rates = [x[1] * x[2], x[3] * x[0].sin(), -x[0] * x[4]];
        let shifted = |h: f64| {
            let value = |symbol: Symbol| {
                let index = symbol.0 as usize;
                x[index] + rates.get(index).map_or(0.0, |rate| h * rate)
            };
            derivation.integrals[violation.integral].value.evaluate(&value)
        };
        let expected = (shifted(1e-5) - shifted(-1e-5)) / 2e-5;
        assert!((rate_found - expected).abs() < 1e-7, "{violation:?}: {expected}");
        let rate = violation.rate.evaluate(&|symbol| x[symbol.0 as usize]);
        assert!((rate_found - rate).abs() < 1e-12, "{violation:?}: {rate}");
    }
}

/// The witness satisfies the constraints, and the multipliers of the rate are those of the constrained field.
#[test]
fn witnesses_satisfy_the_constraints() {
    let attribute = format!("{PENDULUM}, invariant(spin = q[0] * p[1] + q[1] * p[0])");
    let (derivation, proved) = prove(&attribute, PENDULUM_STRUCT);
    let violation = &proved.expect_err("the sign is wrong")[0];
    let Witness { state, value, .. } = witness(violation);
    let x: Vec<f64> = state.rows().copied().collect();
    let (q, p, m, g, l) = (&x[..3], &x[3..6], x[6], x[7], x[8]);
    let dot = |a: &[f64], b: &[f64]| -> f64 { a.iter().zip(b).map(|(a, b)| a * b).sum() };
    assert!((dot(q, q) - l * l).abs() < 1e-12 && dot(q, p).abs() < 1e-12, "{x:?}");
    // |q|^2 = l^2 twice differentiated: p' = -m g e_3 + 2 c q.
    let c = (m * g * q[2] - dot(p, p) / m) / (2.0 * l * l);
    let force = |i: usize| 2.0 * c * q[i] - if i == 2 { m * g } else { 0.0 };
    let expected = 2.0 * p[0] * p[1] / m + q[0] * force(1) + q[1] * force(0);
    assert!((value - expected).abs() < 1e-12, "{violation:?}: {expected}");
    let values: BTreeMap<u32, f64> = (0..9).map(|index| (index as u32, x[index])).chain([(9, c)]).collect();
    // In the rate, c belongs to {I, f}, which has the other sign.
    let rate = violation.rate.evaluate(&|symbol| values[&symbol.0]);
    assert!((rate - expected).abs() < 1e-12, "{rate} {expected}");
    assert_eq!(derivation.integrals.constraints().count(), 2);
}

#[test]
fn each_wrong_invariant_has_its_message() {
    let attribute =
        format!("{PENDULUM}, invariant(spin = q[0] * p[1] + q[1] * p[0], momentum = q.cross(&p), height = q[2])");
    let messages = messages(&attribute, PENDULUM_STRUCT);
    assert_eq!(messages.len(), 3, "{messages:#?}");
    assert!(messages[0].starts_with(
        "`spin` is not conserved: where the constraints hold, d/dt = 2*p[0]*p[1]/m + 4*c[length]*q[0]*q[1] (c: the multipliers of the constraints), which is "
    ));
    assert!(
        messages[1]
            .starts_with("`momentum[0]` is not conserved: where the constraints hold, d/dt = -q[1]*m*g, which is")
    );
    assert!(messages[1].contains("; nor is `momentum[1]` conserved\nhelp: correct its expression, or remove it"));
    assert!(messages[2].starts_with("`height` is not conserved: where the constraints hold, d/dt = p[2]/m, which is "));
}

#[test]
fn tables_are_printed() {
    let oscillator = "coordinates(q: [2]), momenta(p: [2]), hamiltonian = (p.norm_squared() + k * q.norm_squared()) / 2,
        invariant(spin = q[0] * p[1] - q[1] * p[0], first = p[0].powi(2) + k * q[0].powi(2), mixed = p[0] * p[1] + k * q[0] * q[1])";
    let text = equations(oscillator, "struct S { k: f64 }");
    for line in [
        "  {spin, first} = 2*mixed\n",
        "  {first, mixed} = 2*k*(q[0]*p[1] - q[1]*p[0])\n",
        "  the other 3 pairs commute\n",
        "  rank DF = 3 < 4\n",
        "  rank D(energy, spin, first, mixed) = 3 < 4\n",
        "  an equation binds `mixed` to `energy`, `spin`, `first`: near almost every state it is a function of them, so that \
         keeping them keeps it there; DF does not have full rank\n",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let chain = "coordinates(q: [2, 4]), momenta(p: [2, 4]), hamiltonian = p.norm_squared() / (2 * m),
        constraint(root = q.column(0).norm() - l, link[i in 1..4] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2))";
    let text = equations(chain, "struct S { m: f64, l: f64 }");
    let pattern = "  10 of 16 entries of A do not vanish\n  x x . .\n  x x x .\n  . x x x\n  . . x x\n";
    assert!(text.contains(pattern) && text.contains("  `root` takes a root: "), "{text}");
    let small = "coordinates(q: [2]), momenta(p: [2]), hamiltonian = (p.norm_squared() + k * q.norm_squared()) / 2,
        invariant(spin = 1e-12 * (q[0] * p[1] - q[1] * p[0]))";
    let text = equations(small, "struct S { k: f64 }");
    assert!(text.contains("  rank DF = 2\n") && !text.contains("is a function of"), "{text}");
    let sphere = "state(x: [3]), poisson = hat(x), hamiltonian = x.norm_squared() / (2 * m),
        invariant(a = x[0], b = x[1], c = 3 * x[2])";
    let text = equations(sphere, "struct S { m: f64 }");
    assert!(text.contains("  {a, b} = -x[2]\n  {a, c} = 3*x[1]\n  {b, c} = -3*x[0]\n"), "{text}");
}

/// L . A = 0 gives A_z only where L_z is not 0, and A^2 = k^2 + 2 H L^2 / m a second component up to its sign.
#[test]
fn integrals_bound_by_equations_are_functions_of_the_others_in_general_position() {
    let kepler = "coordinates(q: [3]), momenta(p: [3]), define(l = q.cross(&p)),
        hamiltonian = p.norm_squared() / (2 * m) - k / q.norm(),
        invariant(angular = l, runge_lenz = p.cross(&l) - m * k * q / q.norm())";
    let text = equations(kepler, "struct S { m: f64, k: f64 }");
    for line in [
        "  rank DF = 5 < 7\n",
        "  an equation binds `runge_lenz[1]` to `energy`, `angular[0]`, `angular[1]`, `angular[2]`, `runge_lenz[0]`: near almost \
         every state it is a function of them, so that keeping them keeps it there; DF does not have full rank\n",
    ] {
        assert!(text.contains(line), "{line} is not in\n{text}");
    }
    let notes = text.split("Notes\n").nth(1).unwrap_or_default();
    assert_eq!(notes.matches("near almost every state").count(), 2, "{text}");
}

/// What is the same in every state, or in every state but for rounding, has no rank to add.
#[test]
fn integrals_without_a_gradient_compile() {
    let free = |invariant: &str| {
        let attribute = format!(
            "coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, invariant(i = {invariant}, momentum = p)"
        );
        equations(&attribute, "struct S {}")
    };
    for invariant in ["(2 * p).sin() - 2 * p.sin() * p.cos()", "(2 * x).sin() - 2 * x.sin() * x.cos()"] {
        assert!(free(invariant).contains("  rank DF = 1 < 3\n  rank D(i) = 0 < 1\n"), "{}", free(invariant));
    }
    for invariant in ["(1000 * p).tanh()", "(p - 2).abs() + (p - 2)"] {
        assert!(free(invariant).contains("  rank DF = 1 < 3"), "{}", free(invariant));
    }
}

/// Numbers that were the primes modulo which identities were tested: now these follow from what is tested.
#[test]
fn no_declaration_contains_the_primes() {
    let primes =
        "1252066142632684399 * 1456514108370962441 * 1404095030073777707 * 2215354603288264279 * 2068604776339083401 *
        2160676757655349859 * 2031132802773467117 * 1311083655502885543 * 1410399430860759481 * 1172339280958893167 *
        1186516777447320199 * 1609449296892609859";
    let attribute = format!("coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, invariant(bad = {primes} * x)");
    let messages = messages(&attribute, "struct S {}");
    assert!(messages.len() == 1 && messages[0].starts_with("`bad` is not conserved: d/dt = "), "{messages:?}");
}

/// Bodies of 6e24, 70 and 1e-3 kg: the momenta, and the energies of motion, differ by dozens of orders of magnitude.
#[test]
fn ranks_are_those_of_the_integrals_whatever_the_masses() {
    let bodies = "coordinates(a: [3], b: [3], c: [3]), momenta(pa: [3], pb: [3], pc: [3]),
        hamiltonian = pa.norm_squared() / (2 * 6e24) + pb.norm_squared() / (2 * 70) + pc.norm_squared() / (2 * 1e-3)
            - 6.674e-11 * (6e24 * 70 / (a - b).norm() + 6e24 * 1e-3 / (a - c).norm() + 70 * 1e-3 / (b - c).norm()),
        invariant(momentum = pa + pb + pc, angular = a.cross(&pa) + b.cross(&pb) + c.cross(&pc))";
    let text = equations(bodies, "struct S;");
    assert!(text.contains("  rank DF = 7\n") && !text.contains("near almost every state"), "{text}");
    let parameters = bodies.replace("6e24", "m").replace("1e-3", "s").replace("70", "n").replace("6.674e-11", "g");
    let text = equations(&parameters, "struct S { m: f64, n: f64, s: f64, g: f64 }");
    assert!(text.contains("  rank DF = 7\n") && !text.contains("near almost every state"), "{text}");
    let twice = format!("{bodies}, invariant(twice = (pa + pb + pc)[0] * 1e-20)");
    let text = equations(&twice, "struct S;");
    assert!(text.contains("  rank DF = 7 < 8\n  rank D(momentum[0], twice) = 1 < 2\n"), "{text}");
}

/// Users name the multipliers of what they declare, not those of rates.
#[test]
fn multipliers_are_those_of_declared_constraints() {
    let mixed = "coordinates(q: [2], s), momenta(p: [2], ps), hamiltonian = (p.norm_squared() + ps.powi(2)) / (2 * m),
        constraint(length = q.norm_squared() - l.powi(2)), phase_constraint(plane = s, still = ps),
        output(forces = vector![multiplier(length), multiplier(plane), multiplier(still)])";
    let (derivation, _) = prove(mixed, "struct S { m: f64, l: f64 }");
    let constraints = derivation.outputs.iter().map(|output| match output.value {
        Expression::Symbol(symbol) => derivation.symbols.constraint(symbol).expect("a multiplier"),
        ref other => panic!("{other:?}"),
    });
    let names: Vec<&str> = constraints.map(|constraint| &derivation.integrals[constraint].name[..]).collect();
    assert_eq!(names, ["length", "plane", "still"]);
}

/// What the compiler checks before it emits anything: exchanged, missing and wrong results, function by function.
#[test]
fn programs_that_are_not_their_derivation_are_named() {
    let attribute =
        format!("{PENDULUM}, invariant(spin = q[0] * p[1] - q[1] * p[0]), output(fall = p[2] / m, h = q[2])");
    let (derivation, _) = prove(&attribute, PENDULUM_STRUCT);
    let good = assemble(&derivation, false);
    assert_eq!(verify(&derivation, &good), Ok(Vec::new()));
    for function in FUNCTIONS.into_iter().filter(|function| good[function].outputs.len() > 1) {
        let fault = || Err(Fault { function: function.name });
        let mut exchanged = good.clone();
        exchanged[function].outputs.swap(0, 1);
        let is_the_same = exchanged[function].outputs == good[function].outputs;
        assert_eq!(verify(&derivation, &exchanged), if is_the_same { Ok(Vec::new()) } else { fault() });
        let mut short = good.clone();
        short[function].outputs.pop();
        assert_eq!(verify(&derivation, &short), fault());
    }
}

/// Huge exponents, nested roots, many factors: each is decided, or left open, without being written out.
#[test]
fn hostile_declarations_are_bounded() {
    let nested = (0..20).fold("x".to_owned(), |inner, level| format!("({inner} + y * a + {level} + 2).sqrt()"));
    let product = (0..6).map(|i| format!("(x + {i} + y + a * {i}).powi(100)")).collect::<Vec<_>>().join(" * ");
    let tower = "x.exp().exp().exp().exp().exp()".to_owned();
    let root = "((x + y + a + 2 * x * y + a * x + a * y).sqrt() + 1).powi(60)".to_owned();
    for invariant in [nested, product, tower, root] {
        let attribute = format!("state(x, y), dynamics(x = y, y = -a * x), invariant(i = {invariant})");
        let (derivation, proved) = prove(&attribute, "struct S { a: f64 }");
        let violations = proved.expect_err("it is not conserved");
        assert_eq!(violations.len(), 1, "{invariant}");
        let slopes = derivation.integrals.rows().flat_map(|integral| &integral.gradient);
        let slopes = slopes.map(|(_, slope)| slope.size()).sum::<usize>();
        // Written out, each would have more terms than this.
        let nodes = derivation.integrals[Id::at(0)].value.size() + slopes + violations[0].rate.size();
        assert!(nodes < 10_000, "{invariant}: {nodes}");
    }
}

#[test]
fn every_quantity_without_a_derivative_is_named() {
    let attribute = format!(
        "{PENDULUM}, invariant(first = p[0] / (q[0] * p[1] - p[1] * q[0]), second = q[1] / (q[0] * q[2] - q[2] * q[0]))"
    );
    let expected = [("first", "q[0]*p[1] - p[1]*q[0]"), ("second", "q[0]*q[2] - q[2]*q[0]")].map(|(name, divisor)| {
        format!(
            "`{name}` is defined nowhere: it divides by 0 in every state, as in `1/({divisor})`\nhelp: check its signs"
        )
    });
    assert_eq!(messages(&attribute, PENDULUM_STRUCT), expected);
}

/// A problem that is not declared but made, as other front ends may.
#[test]
fn problems_are_plain_data() {
    let v = |index: u32| Expression::from(Symbol(index));
    let symbol = |name: &str| SymbolInfo {
        name: name.to_owned(),
        latex: name.to_owned(),
        entry: EntryOf::scalar(name),
        role: Role::State,
    };
    let invariant = |name: &str, value: Expression| Declared {
        name: name.to_owned(),
        latex: name.to_owned(),
        entry: EntryOf::scalar(name),
        kind: Kind::Invariant,
        weight: 1,
        assumed: false,
        value: Some(value),
        gradient: (),
    };
    let (sum, difference) = (v(0) * v(0) + v(1) * v(1), v(0) * v(0) - v(1) * v(1));
    let problem = Problem {
        name: "Oscillator".to_owned(),
        symbols: ["x", "y"].into_iter().map(symbol).collect(),
        dynamics: Dynamics::Given { rates: vec![v(1), -v(0)] },
        integrals: [invariant("sum", sum), invariant("difference", difference)].into_iter().collect(),
        reactions: Vec::new(),
        forces: Vec::new(),
        outputs: Vec::new(),
        laws: Vec::new(),
    };
    let (derivation, claims) = session(|| {
        let derivation = mechanics::derive(&problem, &algebra::Algebra).unwrap();
        let claims = mechanics::claims(&derivation, &proofs::grades(&derivation), &algebra::Algebra);
        (derivation, claims)
    })
    .unwrap();
    assert_eq!(claims[Id::at(0)], Claim::Proved(EVERYWHERE));
    let violations = proofs::prove(&derivation, &claims).unwrap_err();
    assert_eq!(violations.len(), 1);
    assert_eq!(violations[0].integral.place(), 1);
}

/// What is divided by vanishes wherever the constraint x = z holds. The quotient is not 0 there, or is not defined; generated code
/// may have a value for it all the same.
#[test]
fn what_vanishes_on_the_constraints_is_not_divided_out() {
    let rest = |rate: &str| {
        format!(
            "state(x, z, w), dynamics(x = z - x, z = x - z, w = {rate}), constraint(c = x - z), invariant(keep = w)"
        )
    };
    let unproved = [
        "(x - z) / (z - x)",
        "(x.powi(2) - z.powi(2)) / (x - z)",
        "(x - z) / ((x - z) * w)",
        "(x - z).powi(3) / (z - x).powi(3)",
        "(x - z) / (x - z).sqrt().powi(2)",
        "(x - z) / (x - z).powi(2).sqrt()",
        "(x - z) / (x - z).abs()",
        "(x - z).abs() / (x - z)",
        "(x - z).sin() / (x - z)",
        "((x - z).exp() - 1) / (x - z)",
        "((x - z).cosh() - 1) / (x - z).powi(2)",
        "(x.ln() - z.ln()) / (z.ln() - x.ln())",
        "(x.ln() - z.ln()) / (x - z)",
        "(x.sin() - z.sin()) / (x - z)",
        "(x - z) * (x - z).powf(a - 1) / (x - z).powf(a)",
        "(x - z).atan2(x - z)",
        "(x - z) / ((x - z).powi(2) + (x - z).powi(4)).sqrt()",
        "(x - z).powi(2) / (x * (x - z) - z * (x - z))",
    ];
    for rate in unproved {
        let item = if rate.contains('a') && rate.contains("powf") { "struct S { a: f64 }" } else { "struct S {}" };
        let (_, proved) = prove(&rest(rate), item);
        assert!(proved.is_err(), "{rate}: {proved:?}");
    }
    let proved = [
        "(x - z) / (z + x)",
        "(x - z).powi(2) / (x - z)",
        "(x - z) * w / (1 + x.powi(2)).sqrt()",
        "(x - z).powi(2).sqrt()",
        "(x - z).sin() * x.exp()",
        "x.sin() - z.sin()",
        "(x - z) / x.abs()",
        "x.ln() - z.ln()",
        "x.exp() * (-z).exp() - 1",
        "(x.powf(5 / 2) - z.powf(5 / 2)) / x.sqrt()",
    ];
    for rate in proved {
        assert_eq!(grades(&rest(rate), "struct S {}"), [ON_CONSTRAINTS; 2], "{rate}");
    }
}

/// Joachimsthal's integral of geodesics on an ellipsoid, in every kind of system.
#[test]
fn joachimsthal_is_proved_however_the_ellipsoid_is_declared() {
    let surface = "q[0].powi(2) / a + q[1].powi(2) / b.powi(2) + c * q[2].powi(2) - 1";
    let integral = "((q[0] / a).powi(2) + q[1].powi(2) / b.powi(4) + (c * q[2]).powi(2))
        * (p[0].powi(2) / a + p[1].powi(2) / b.powi(2) + c * p[2].powi(2))";
    let canonical = "coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / (2 * m)";
    let pair = format!("f = {surface}, g = q[0] * p[0] / a + q[1] * p[1] / b.powi(2) + c * q[2] * p[2]");
    for system in [
        format!("{canonical}, constraint(f = {surface})"),
        format!("{canonical}, constraint(f = {surface}), force(p = 0 * q)"),
        format!("{canonical}, phase_constraint({pair})"),
        format!(
            "coordinates(q: [3]), velocities(p: [3]), lagrangian = m * p.norm_squared() / 2, constraint(f = {surface})"
        ),
    ] {
        let attribute = format!("{system}, invariant(joachimsthal = {integral})");
        let grades = grades(&attribute, "struct S { m: f64, a: f64, b: f64, c: f64 }");
        assert_eq!(grades.last(), Some(&ON_CONSTRAINTS), "{system}");
    }
}

/// |K|^2 - (K . g)^2 of a body that does not turn about an axis g that is fixed in space.
#[test]
fn veselova_is_proved() {
    let attribute =
        "coordinates(g: [3]), velocities(w: [3]), kinematics(g = g.cross(&w)), define(k = i.component_mul(&w)),
        lagrangian = w.dot(&k) / 2, constraint(unit = g.norm_squared() - 1), velocity_constraint(still = g.dot(&w)),
        invariant(veselova = k.norm_squared() - k.dot(&g).powi(2))";
    let turning = attribute
        .replace("g: [3]", "r: [3, 3]")
        .replace("g = g.cross(&w)", "r = r * hat(w)")
        .replace("define(", "define(g = r.transpose() * vector![0, 0, 1], ")
        .replace("unit = g.norm_squared() - 1", "rotation = r.transpose() * r - identity(3)");
    for attribute in [attribute, &turning] {
        assert_eq!(grades(attribute, "struct S { i: Vector3<f64> }").last(), Some(&ON_CONSTRAINTS));
    }
    let changed = turning.replace("- k.dot(&g).powi(2)", "- 2 * k.dot(&g).powi(2)");
    assert!(prove(&changed, "struct S { i: Vector3<f64> }").1.is_err());
}

/// What holds for rotations and not for reflections is not proved: the constraints r^T r = 1 allow both.
#[test]
fn both_parts_of_the_orthonormal_matrices_count() {
    let model = |rate: &str| {
        let attribute = format!(
            "state(r: [3, 3], w: [3], x), dynamics(r = r * hat(w), w = 0 * w, x = {rate}),
            constraint(rotation = r.transpose() * r - identity(3)), invariant(keep = x)"
        );
        prove(&attribute, "struct S {}").1
    };
    let determinant = "r.column(0).dot(&r.column(1).cross(&r.column(2)))";
    assert!(model(&format!("{determinant}.powi(2) - 1")).is_ok());
    assert!(model(&format!("{determinant} - 1")).is_err());
    assert!(model(&format!("{determinant} + 1")).is_err());
    assert!(model("r.row(0).dot(&r.row(0)) - 1").is_ok());
}

/// Where sqrt(a) and sqrt(b) are defined, their product is sqrt(a b). Where sqrt(a b) and sqrt(a / b) are, both may be negative.
#[test]
fn roots_of_products_are_products_of_roots_that_are_defined() {
    let rotation = |forth: &str, back: &str| {
        let attribute = format!(
            "state(x, y), dynamics(x = {forth} * y, y = -{back} * x), invariant(square = x.powi(2) + y.powi(2))"
        );
        prove(&attribute, "struct S { a: f64, b: f64 }").1
    };
    for (forth, back) in [
        ("(a * b).sqrt()", "a.sqrt() * b.sqrt()"),
        ("(a / b).sqrt()", "a.sqrt() / b.sqrt()"),
        ("(a * b).powf(1.5)", "a.powf(1.5) * b.powf(1.5)"),
    ] {
        assert_eq!(rotation(forth, back).ok(), Some(vec![EVERYWHERE]), "{forth} {back}");
    }
    let violations = rotation("(a * b).sqrt()", "b * (a / b).sqrt()").expect_err("the sign of b is not known");
    assert!(matches!(violations[0].found, Found::Witness(_)), "{violations:?}");
}

/// a (x - z) = 0 is no condition on x and z where a is 0: nothing holds the set there, and its field goes on.
#[test]
fn sets_that_parameters_dissolve_prove_nothing() {
    let model = |constraint: &str| {
        let attribute = format!(
            "state(x, z, w), dynamics(x = z - x, z = x - z, w = x - z), constraint(c = {constraint}), invariant(keep = w)"
        );
        prove(&attribute, if constraint.contains('b') { "struct S { a: f64, b: f64 }" } else { "struct S { a: f64 }" })
            .1
    };
    for constraint in [
        "a * (x - z)",
        "(a - b) * (x - z)",
        "a * b * (x - z).powi(3)",
        // For b = -1 and a = 1 or 3; for a = 0; for b = 0 or a = b = -1.
        "(b.powf(a) + 1) * (x - z)",
        "((-b.powi(2) - 1).powf(a) + 2) * (x - z)",
        "(b.powf(a) + b.powf(2 * a)) * (x - z)",
        "((-1).powf(a) * b.exp() + 1) * (x - z)",
    ] {
        assert!(model(constraint).is_err(), "{constraint}");
    }
    for constraint in [
        "(x - z) / (a * b)",
        "(a.powi(2) + 1) * (x - z)",
        "x - z + 0 * a * b",
        "((b.powi(2)).powf(a) + 1) * (x - z)",
        "b.exp().powf(a) * (x - z)",
        "(b.powf(0.5) + 1 + 0 * a) * (x - z)",
    ] {
        assert!(model(constraint).is_ok(), "{constraint}: {:?}", model(constraint));
    }
    let held =
        "coordinates(x, z), momenta(p, q), hamiltonian = (p.powi(2) + q.powi(2)) / 2, constraint(c = a * (x - z)),
        invariant(keep = x * (p - q))";
    assert_eq!(grades(held, "struct S { a: f64 }")[3], ON_CONSTRAINTS);
}

/// A rigid body in angles with their momenta u, v, w, in any of the twelve conventions: E^-T (u, v, w) is the angular momentum. Its
/// components in space are conserved where the body is free. With a potential of the last two angles, the component along the
/// axis of the first turn still is, and neither of the others.
#[test]
fn angular_momenta_in_space_are_conserved_in_every_convention() {
    // With a repeated axis, and without; the others where `.ci/thorough` runs.
    let is_thorough = std::env::var_os("FBINT_THOROUGH").is_some();
    for convention in CONVENTIONS.into_iter().filter(|convention| is_thorough || ["zxz", "xyz"].contains(convention)) {
        let momenta = inverses(convention).map(|Inverse { rows, determinant }| {
            [0, 1, 2].map(|i| {
                let [first, second, third] = [0, 1, 2].map(|row| &rows[row][i]);
                format!("(u * {first} + v * {second} + w * {third}) / {determinant}")
            })
        });
        let [[k, l, n], space] = momenta;
        let kinetic = format!("(({k}).powi(2) / p + ({l}).powi(2) / q + ({n}).powi(2) / r) / 2");
        let model = |potential: &str, invariants: &[usize]| {
            let invariants: Vec<String> =
                invariants.iter().map(|&axis| format!("{} = {}", ["lx", "ly", "lz"][axis], space[axis])).collect();
            format!(
                "coordinates(a, b, c), momenta(u, v, w), hamiltonian = {kinetic} + {potential}, invariant({})",
                invariants.join(", ")
            )
        };
        let item = "struct Body { p: f64, q: f64, r: f64, g: f64 }";
        let everywhere = |count: usize| [vec![BY_CONSTRUCTION], vec![EVERYWHERE; count]].concat();
        let free = model("0 * (a + g)", &[0, 1, 2]);
        assert_eq!(grades(&free, item), everywhere(3), "{convention}");
        assert_eq!(messages(&free, item), Vec::<String>::new(), "{convention}");
        let heavy = "g * (b.sin() * c.cos() + b.cos() / 2)";
        let vertical = "xyz".find(&convention[..1]).unwrap();
        assert_eq!(grades(&model(heavy, &[vertical]), item), everywhere(1), "{convention}");
        for across in [1, 2].map(|further| (vertical + further) % 3) {
            let violations = prove(&model(heavy, &[across]), item).1.expect_err("it is not conserved");
            assert_eq!(violations.len(), 1, "{convention}");
            assert!(matches!(violations[0].found, Found::Witness(_)), "{convention}: {violations:?}");
        }
    }
}

/// The energy of a body that rolls on a plane is conserved by whatever name it is declared once more.
#[test]
fn the_energy_of_a_rattleback_is_proved_once_more() {
    let energy = "m * v.norm_squared() / 2 + w.dot(&(inertia * w)) / 2 - m * k * rho.dot(&g)";
    let attribute = format!(
        "coordinates(r: [3, 3], c: [3]), velocities(w: [3], v: [3]), kinematics(r = r * hat(w), c = r * v),
        define(g = r.transpose() * vector![0, 0, 1], rho = -g.component_mul(&axes) / g.dot(&g.component_mul(&axes)).sqrt()),
        lagrangian = m * v.norm_squared() / 2 + w.dot(&(inertia * w)) / 2 + m * k * rho.dot(&g),
        constraint(rotation = r.transpose() * r - identity(3)), velocity_constraint(rolling = v + w.cross(&rho)),
        invariant(again = {energy})"
    );
    let item = "struct S { m: f64, k: f64, axes: Vector3<f64>, inertia: Matrix3<f64> }";
    assert_eq!(grades(&attribute, item).last(), Some(&ON_CONSTRAINTS));
    let changed = attribute.replace("/ 2 - m * k", "/ 2 - 2 * m * k");
    assert!(matches!(prove(&changed, item).1.expect_err("not the energy")[0].found, Found::Witness(_)));
}
