//! What well-formed declarations mean: the values of their expressions against the same formulas written in Rust.

use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::derivation::{Declared, Dynamics, Kind};
use fbint_macros_core::elaborate::{Elaborated, EntryIndex};
use fbint_macros_core::expression::Expression;
use fbint_macros_core::syntax::Shape;

use super::common;

/// Coordinates `x y z` and `q: [3]`, `r: [2, 3]` with momenta of the same shapes; parameters of every kind.
const PARAMETERS: &str = "struct Everything {
    m: f64, v: Vector3<f64>, w: nalgebra::SVector<f64, 4>, a: [f64; 2], s: Matrix2<f64>,
    t: Matrix2x3<f64>, u: na::SMatrix<f64, 3, 2>,
}";

fn model(attribute: &str, item: &str) -> Elaborated {
    let (_, model, messages) = common::read(attribute, item);
    assert_eq!(messages, []);
    model.expect("there are no mistakes")
}

fn hamiltonian(model: &Elaborated) -> &Expression {
    model.problem.dynamics.hamiltonian().expect("the field is not given")
}

/// The declared constraints: holonomic ones or invariant sets.
fn constraints(model: &Elaborated) -> Vec<&Declared> {
    let is_one = |kind| matches!(kind, Kind::Holonomic { .. } | Kind::InvariantSet);
    model.problem.integrals.rows().filter(|integral| is_one(integral.kind)).collect()
}

fn of_kind(model: &Elaborated, kind: Kind) -> Vec<&Declared> {
    model.problem.integrals.rows().filter(|integral| integral.kind == kind).collect()
}

fn function(declared: &Declared) -> &Expression {
    declared.value.as_ref().expect("it is declared")
}

/// The numbers of entries of the state, and of the state and the parameters.
fn sizes(model: &Elaborated) -> (usize, usize) {
    (model.problem.symbols.dimension(), model.problem.symbols.unknowns().count())
}

/// The unknowns' values in the tests: all different, none zero.
fn at(index: usize) -> f64 {
    0.3 + 0.17 * index as f64
}

fn value(expression: &Expression) -> f64 {
    expression.evaluate(&|symbol| at(symbol.0 as usize))
}

/// The value of a scalar expression over `x, q: [3], r: [2, 3]` and the parameters above; everything else is used
/// elsewhere, so that nothing is unused.
fn evaluate(expression: &str) -> f64 {
    let attribute = format!(
        "coordinates(x, q: [3], r: [2, 3]), momenta(px, pq: [3], pr: [2, 3]),
         hamiltonian = {expression},
         invariant(rest = x + q[0] + r[0, 0] + m + v.x + w.x + a[0] + s[(0, 0)] + t[(0, 0)] + u[(0, 0)])"
    )
    .replace("r[0, 0]", "r[(0, 0)]");
    value(hamiltonian(&model(&attribute, PARAMETERS)))
}

/// Every name as an `f64` or array in the layout of the model.
struct Names {
    x: f64,
    q: [f64; 3],
    r: [[f64; 3]; 2],
    m: f64,
    v: [f64; 3],
    w: [f64; 4],
    a: [f64; 2],
    s: [[f64; 2]; 2],
}

fn names() -> Names {
    let parameter = |index: usize| at(20 + index);
    Names {
        x: at(0),
        q: [at(1), at(2), at(3)],
        r: [[at(4), at(6), at(8)], [at(5), at(7), at(9)]],
        m: parameter(0),
        v: [parameter(1), parameter(2), parameter(3)],
        w: [parameter(4), parameter(5), parameter(6), parameter(7)],
        a: [parameter(8), parameter(9)],
        s: [[parameter(10), parameter(12)], [parameter(11), parameter(13)]],
    }
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

#[track_caller]
fn check(expression: &str, expected: f64) {
    let value = evaluate(expression);
    assert!((value - expected).abs() <= 1e-13 * expected.abs().max(1.0), "{expression}: {value} is not {expected}");
}

#[test]
fn numbers_are_exact() {
    let exact = |text: &str| model(&format!("coordinates(x), momenta(p), hamiltonian = p + x + {text}"), "struct S {}");
    let constant = |model: &Elaborated| match hamiltonian(model) {
        Expression::Sum(terms) => terms.last().and_then(Expression::as_number).map(ToString::to_string),
        _ => None,
    };
    for (text, expected) in [
        ("1 / 2", "1/2"),
        ("0.1", "1/10"),
        ("1e-3", "1/1000"),
        ("1_000.5", "2001/2"),
        ("2f64", "2"),
        ("2.0_f64", "2"),
        ("0x10", "16"),
        ("0.1 + 0.2", "3/10"),
        ("2.powi(-3)", "1/8"),
        ("2.recip()", "1/2"),
        ("(-3).abs()", "3"),
        ("(1 / 3).powi(2) * 9", "1"),
        ("(1..=4).map(|i| i / 10).sum()", "1"),
        ("(1..=4).map(|i| i).product()", "24"),
        ("matrix![1, 2; 3, 4].determinant()", "-2"),
        ("6.62607015e-34 * 1e42", "662607015"),
    ] {
        assert_eq!(constant(&exact(text)).as_deref(), Some(expected), "{text}");
    }
}

#[test]
fn scalar_functions() {
    let Names { x, m, .. } = names();
    check("x.powi(3) + x.powi(-2) + x.powi(0)", x.powi(3) + x.powi(-2) + 1.0);
    check("x.powf(1.5) * m.powf(-0.5) + x.powf(m)", x.powf(1.5) * m.powf(-0.5) + x.powf(m));
    check("x.sqrt() + x.recip() + (-x).abs()", x.sqrt() + 1.0 / x + x);
    check("x.sin() + x.cos() * x.tan()", x.sin() + x.cos() * x.tan());
    check("x.asin() + x.acos() - x.atan() + x.atan2(m)", x.asin() + x.acos() - x.atan() + x.atan2(m));
    check("x.sinh() - x.cosh() / x.tanh()", x.sinh() - x.cosh() / x.tanh());
    check("x.exp() * x.ln()", x.exp() * x.ln());
    check("x - m - 2 * x / m / 4 * 3", x - m - 2.0 * x / m / 4.0 * 3.0);
    check("-(x - (m - x)) * PI + std::f64::consts::PI", (-(x - (m - x)) + 1.0) * std::f64::consts::PI);
    check("&x * (&m) + { x }", x * m + x);
}

#[test]
fn vectors_and_matrices() {
    let Names { x, q, r, v, w, a, s, .. } = names();
    check("q.dot(&v) + q.norm() + w.norm_squared()", dot(&q, &v) + dot(&q, &q).sqrt() + dot(&w, &w));
    check("q.cross(&v)[1]", q[2] * v[0] - q[0] * v[2]);
    check("(hat(q) * v - q.cross(&v)).norm_squared()", 0.0);
    check("(2 * q - v / x)[2] + (q * x).x", 2.0 * q[2] - v[2] / x + q[0] * x);
    check("q.component_mul(&v).y + q.component_div(&v).z", q[1] * v[1] + q[2] / v[2]);
    check("(r * q)[1]", dot(&r[1], &q));
    check("(r * r.transpose())[(0, 1)]", dot(&r[0], &r[1]));
    check("(q * q.transpose()).trace()", dot(&q, &q));
    check("(q.transpose() * v)[0]", dot(&q, &v));
    check("r.column(1).dot(&a) + r.row(0).dot(&v.transpose())", r[0][1] * a[0] + r[1][1] * a[1] + dot(&r[0], &v));
    check("s.trace() + s.determinant()", s[0][0] + s[1][1] + s[0][0] * s[1][1] - s[0][1] * s[1][0]);
    check("(s - identity(2) + zeros(2, 2))[(1, 1)]", s[1][1] - 1.0);
    check("(t * u)[(0, 0)] - t.row(0).transpose().dot(&u.column(0))", 0.0);
    check("matrix![x, 2; 3, 4][(1, 0)] + matrix![x, 2; 3, 4;][(0, 1)]", 5.0);
    check("vector![x, 2, w.w,].dot(&q)", x * q[0] + 2.0 * q[1] + w[3] * q[2]);
    check("r.norm_squared()", dot(&r[0], &r[0]) + dot(&r[1], &r[1]));
}

#[test]
fn determinants_follow_leibniz() {
    let (x, m) = (names().x, names().m);
    // A Vandermonde matrix, whose determinant is the product of the differences.
    let nodes = [x, m, 2.0, 3.0, -1.0, 0.5];
    let rows: Vec<String> = ["x", "m", "2", "3", "-1", "0.5"]
        .iter()
        .map(|node| (0..6).map(|power| format!("({node}).powi({power})")).collect::<Vec<_>>().join(", "))
        .collect();
    let mut expected = 1.0;
    for i in 0..6 {
        for j in 0..i {
            expected *= nodes[i] - nodes[j];
        }
    }
    check(&format!("matrix![{}].determinant()", rows.join("; ")), expected);
}

#[test]
fn series_over_ranges() {
    let Names { x, q, v, r, .. } = names();
    check("(0..3).map(|i| q[i] * i).sum()", q[1] + 2.0 * q[2]);
    check("(0..=2).map(|i| q[i]).product()", q[0] * q[1] * q[2]);
    check("(0..2).map(|i| (i + 1) * r.row(i)).sum().dot(&v.transpose())", dot(&r[0], &v) + 2.0 * dot(&r[1], &v));
    let double: f64 = (0..3).flat_map(|i| (0..i).map(move |j| (i, j))).map(|(i, j)| q[i] * v[j]).sum();
    check("(0..3).map(|i| (0..i).map(|j| q[i] * v[j]).sum()).sum()", double);
    check("(q + (0..0).map(|i| v * q[i]).sum()).x", q[0]);
    check("(0..0).map(|i| q[i]).product() * x", x);
    check("(0..2).map(|i| (0..2).map(|i| q[i]).sum()).sum::<f64>()", 2.0 * (q[0] + q[1]));
}

#[test]
fn chains_of_operators_may_be_long() {
    let x = names().x;
    check(&vec!["x"; 1_500].join(" + "), 1_500.0 * x);
    check(&vec!["x"; 300].join(" * "), x.powi(300));
}

#[test]
fn definitions_come_in_any_order() {
    let model = model(
        "coordinates(q: [2]), momenta(p: [2]), hamiltonian = e.dot(&e) + c,
         define(e = 2 * d, d = vector![p[0], q[1] * c]), define(c = q[0])",
        "struct S {}",
    );
    let [q0, q1, p0] = [at(0), at(1), at(2)];
    let expected = 4.0 * (p0 * p0 + (q1 * q0).powi(2)) + q0;
    assert!((value(hamiltonian(&model)) - expected).abs() < 1e-14);
}

#[test]
fn symbols_are_laid_out_like_the_state() {
    let model = model(
        "coordinates(q: [2, 2], theta1), momenta(p: [2, 2], pa), hamiltonian = p.norm() + q.norm() + pa + theta1,
         invariant(sum = m1 + l[1] + omega_0 + r#type + kappa[(1, 0)] + pa)",
        "struct S { m1: f64, l: [f64; 2], omega_0: f64, r#type: f64, kappa: Matrix2<f64> }",
    );
    assert_eq!(model.problem.symbols.dimension(), 10);
    let names: Vec<&str> = model.problem.symbols.rows().map(|symbol| &symbol.name[..]).collect();
    let state = "q[(0, 0)] q[(1, 0)] q[(0, 1)] q[(1, 1)] theta1 p[(0, 0)] p[(1, 0)] p[(0, 1)] p[(1, 1)] pa";
    let parameters = "m1 l[0] l[1] omega_0 type kappa[(0, 0)] kappa[(1, 0)] kappa[(0, 1)] kappa[(1, 1)]";
    assert_eq!(names.join(" "), format!("{state} {parameters}"));
    let latex: Vec<&str> = model.problem.symbols.rows().map(|symbol| &symbol.latex[..]).collect();
    assert_eq!(latex[1], "q_{1,0}");
    assert_eq!(latex[4], "\\theta_{1}");
    assert_eq!(latex[9], "\\mathit{pa}");
    assert_eq!(latex[11], "l_{0}");
    assert_eq!(latex[13], "\\omega_{0}");
    assert_eq!(latex[14], "\\mathit{type}");
    assert_eq!(latex[16], "\\kappa_{1,0}");
    let angles = "coordinates(theta, phi_1), momenta(p_theta, p_phi1), hamiltonian = p_theta.powi(2) * m_cart + p_phi1 + theta + phi_1";
    let angles = self::model(angles, "struct S { m_cart: f64 }");
    let latex: Vec<&str> = angles.problem.symbols.rows().map(|symbol| &symbol.latex[..]).collect();
    assert_eq!(latex, ["\\theta", "\\phi_{1}", "p_{\\theta}", "p_{\\phi,1}", "m_{\\mathrm{cart}}"]);
    assert_eq!(model.places[Id::at(16)].entry, EntryIndex::RowColumn(1, 0));
    assert_eq!(model.places[Id::at(14)].variable, "r#type");
}

#[test]
fn quantities_have_names_rates_and_weights() {
    let model = model(
        "coordinates(q: [2, 4]), momenta(p: [2, 4]), hamiltonian = p.norm_squared() + q.norm_squared(),
         constraint(anchor = q.column(0), link[i in 1..3] = (q.column(i) - q.column(i - 1)).norm_squared() - 1),
         phase_constraint(a[i in 0..=1] = p.column(i)),
         invariant(gram = q.transpose() * q, spin[i in 2..3] = vector![p[(0, i)], q[(1, i)]])",
        "struct S {}",
    );
    let names = |quantities: &[&Declared]| {
        quantities.iter().map(|quantity| quantity.name.clone()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(names(&constraints(&model)), "anchor[0] anchor[1] link[1] link[2]");
    let rate = |place: usize| match constraints(&model)[place].kind {
        Kind::Holonomic { rate } => &model.problem.integrals[rate].name[..],
        other => panic!("{other:?}"),
    };
    assert_eq!([rate(1), rate(3)], ["anchor_rate[1]", "link_rate[2]"]);
    assert_eq!(names(&of_kind(&model, Kind::Phase)), "a[0][0] a[0][1] a[1][0] a[1][1]");
    let gram = "gram[(0, 0)] gram[(1, 0)] gram[(2, 0)] gram[(3, 0)] gram[(1, 1)] gram[(2, 1)] gram[(3, 1)] gram[(2, 2)] gram[(3, 2)] gram[(3, 3)]";
    assert_eq!(names(&of_kind(&model, Kind::Invariant)), format!("{gram} spin[2][0] spin[2][1]"));
    let weights: Vec<u32> = of_kind(&model, Kind::Invariant).iter().map(|quantity| quantity.weight).collect();
    assert_eq!(weights, [1, 2, 2, 2, 1, 2, 2, 1, 2, 1, 1, 1]);
    let expected = (at(4) - at(2)).powi(2) + (at(5) - at(3)).powi(2) - 1.0;
    assert!((value(function(constraints(&model)[3])) - expected).abs() < 1e-14);
}

#[test]
fn the_declarations_of_the_manual_are_understood() {
    let pendulum = model(
        "coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2],
         constraint(length = q.norm_squared() - l.powi(2)),
         invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),",
        "pub struct SphericalPendulum { pub m: f64, pub g: f64, pub l: f64 }",
    );
    assert_eq!(sizes(&pendulum), (6, 9));
    let bar = model(
        "coordinates(a: [2], b: [2]), momenta(pa: [2], pb: [2]),
         hamiltonian = (pa.norm_squared() + pb.norm_squared()) / (2 * m) + m * g * (a[1] + b[1]),
         constraint(
             crank = a.norm_squared() - la.powi(2),
             coupler = (b - a).norm_squared() - lb.powi(2),
             rocker = (b - vector![ln, 0]).norm_squared() - lc.powi(2),
         ), crate = my::runtime",
        "pub struct FourBar { pub la: f64, pub lb: f64, pub lc: f64, pub ln: f64, pub m: f64, pub g: f64 }",
    );
    assert_eq!(constraints(&bar).len(), 3);
    let chain = model(
        "coordinates(q: [3, 8]), momenta(p: [3, 8]),
         hamiltonian = (0..8).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
         constraint(
             anchor = q.column(0).norm_squared() - l.powi(2),
             link[i in 1..8] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
         ),
         output(anchor_tension = -2 * l * multiplier(anchor))",
        "pub struct Chain8 { pub m: f64, pub g: f64, pub l: f64 }",
    );
    assert_eq!((constraints(&chain).len(), sizes(&chain).0), (8, 48));
    let [tension] = &chain.problem.outputs[..] else { panic!("there is one output") };
    assert_eq!(tension.name, "anchor_tension");
    // The parameters are m, g, l; the first multiplier follows them.
    assert_eq!(value(&tension.value), -2.0 * at(50) * at(51));
}

const BODY: &str = "state(r: [3, 3], omega: [3]),
    define(momentum = inertia.component_mul(&omega)),
    dynamics(r = r * hat(omega), omega = momentum.cross(&omega).component_div(&inertia)),
    constraint(orthonormality = r.transpose() * r - identity(3)),
    invariant(energy = omega.dot(&momentum) / 2, spatial_momentum = r * momentum)";

#[test]
fn a_field_may_be_given() {
    let body = model(BODY, "pub struct FreeRigidBody { pub inertia: Vector3<f64> }");
    assert_eq!(sizes(&body), (12, 15));
    assert_eq!(body.problem.symbols[Id::at(3)].name, "r[(0, 1)]");
    assert_eq!(body.problem.symbols[Id::at(9)].name, "omega[0]");
    let Dynamics::Given { rates } = &body.problem.dynamics else { panic!("{:?}", body.problem.dynamics) };
    let r = |row: usize, column: usize| at(3 * column + row);
    let (omega, inertia) = ([at(9), at(10), at(11)], [at(12), at(13), at(14)]);
    let mut expected = Vec::new();
    for column in 0..3 {
        let (next, last) = ((column + 1) % 3, (column + 2) % 3);
        expected.extend((0..3).map(|row| r(row, next) * omega[last] - r(row, last) * omega[next]));
    }
    let euler = |i: usize, j: usize, k: usize| (inertia[j] - inertia[k]) * omega[j] * omega[k] / inertia[i];
    expected.extend([euler(0, 1, 2), euler(1, 2, 0), euler(2, 0, 1)]);
    assert_eq!(rates.len(), 12);
    for (entry, (rate, expected)) in rates.iter().zip(expected).enumerate() {
        assert!((value(rate) - expected).abs() < 1e-13, "{entry}: {} is not {expected}", value(rate));
    }
}

#[test]
fn invariant_sets_have_frobenius_weights_and_no_partner() {
    let body = model(BODY, "pub struct FreeRigidBody { pub inertia: Vector3<f64> }");
    let kept = constraints(&body);
    let places: Vec<(&str, u32)> = kept.iter().map(|quantity| (&quantity.name[14..], quantity.weight)).collect();
    let expected =
        [("[(0, 0)]", 1), ("[(1, 0)]", 2), ("[(2, 0)]", 2), ("[(1, 1)]", 1), ("[(2, 1)]", 2), ("[(2, 2)]", 1)];
    assert_eq!(places, expected);
    let column = |j: usize| [at(3 * j), at(3 * j + 1), at(3 * j + 2)];
    assert!((value(function(constraints(&body)[3])) - (dot(&column(1), &column(1)) - 1.0)).abs() < 1e-14);
    assert!((value(function(constraints(&body)[4])) - dot(&column(2), &column(1))).abs() < 1e-14);
    let invariants = of_kind(&body, Kind::Invariant);
    let names: Vec<&str> = invariants.iter().map(|quantity| &quantity.name[..]).collect();
    assert_eq!(names, ["energy", "spatial_momentum[0]", "spatial_momentum[1]", "spatial_momentum[2]"]);

    // Any number of them, of any shape, on any variable; `_rate` is a name like others.
    let free = model(
        "state(x, v: [2]), dynamics(x = v[0], v = 0 * v), constraint(a = x, b = v, a_rate = v[0] - v[1]),
         constraint(c[i in 0..2] = v * v[i])",
        "struct S {}",
    );
    let free = constraints(&free);
    let names: Vec<&str> = free.iter().map(|quantity| &quantity.name[..]).collect();
    assert_eq!(names, ["a", "b[0]", "b[1]", "a_rate", "c[0][0]", "c[0][1]", "c[1][0]", "c[1][1]"]);
    assert!(free.iter().all(|quantity| quantity.weight == 1));
}

#[test]
fn rates_follow_the_order_of_the_state() {
    let model = model(
        "state(x, r#type: [2, 1], m: [2, 2]), dynamics(m = matrix![1, 2; 3, 4]), dynamics(r#type = vector![x, 5], x = 6)",
        "struct S {}",
    );
    let Dynamics::Given { rates } = &model.problem.dynamics else { panic!("{:?}", model.problem.dynamics) };
    let values: Vec<f64> = rates.iter().map(value).collect();
    assert_eq!(values, [6.0, at(0), 5.0, 1.0, 3.0, 2.0, 4.0]);
}

#[test]
fn a_bracket_may_be_given() {
    let attribute = "state(pi: [3]), poisson = hat(pi), hamiltonian = pi.dot(&pi.component_div(&inertia)) / 2,
        invariant(casimir = pi.norm_squared())";
    let item = "pub struct EulerTop { pub inertia: Vector3<f64> }";
    let top = model(attribute, item);
    let Dynamics::Poisson { matrix, hamiltonian } = &top.problem.dynamics else { panic!("{:?}", top.problem.dynamics) };
    let values: Vec<Vec<f64>> = matrix.iter().map(|row| row.iter().map(value).collect()).collect();
    assert_eq!(values, [[0.0, -at(2), at(1)], [at(2), 0.0, -at(0)], [-at(1), at(0), 0.0]]);
    let expected: f64 = (0..3).map(|i| at(i).powi(2) / at(3 + i) / 2.0).sum();
    assert!((value(hamiltonian) - expected).abs() < 1e-14);
    assert_eq!((sizes(&top), of_kind(&top, Kind::Invariant).len()), ((3, 6), 1));

    let (declaration, _, _) = common::read(attribute, item);
    let declaration = declaration.expect("there are no mistakes");
    let names: Vec<String> = declaration.state_variables().map(|variable| variable.name.to_string()).collect();
    assert_eq!(names, ["pi"]);
}

#[test]
fn each_constraint_has_a_multiplier() {
    let model = model(
        "coordinates(x, y, q: [2, 2], s: [3]), momenta(px, py, p: [2, 2], ps: [3]),
         hamiltonian = px * py + x + y + p.norm_squared() + m * ps.norm_squared() + s[0],
         constraint(rod = x, gram = q.transpose() * q, link[i in 1..3] = s[i], wall = vector![y, s[0]]),
         phase_constraint(pair = vector![px, py]),
         output(
             wall_force = 2 * multiplier(wall)[1],
             stress = multiplier(gram),
             links[j in 1..3] = vector![multiplier(link[3 - j]), q[(0, 1)]],
             total = (1..3).map(|i| multiplier(link[i])).sum() + multiplier((pair)).dot(&multiplier(wall)),
             constant = m,
         )",
        "struct S { m: f64 }",
    );
    assert_eq!(sizes(&model).1, 19);
    let constraints = constraints(&model);
    let weights: Vec<(&str, u32)> = constraints.iter().map(|quantity| (&quantity.name[..], quantity.weight)).collect();
    let entries = [("rod", 1), ("gram[(0, 0)]", 1), ("gram[(1, 0)]", 2), ("gram[(1, 1)]", 1)];
    assert_eq!(weights[..4], entries);
    assert_eq!(weights[4..], [("link[1]", 1), ("link[2]", 1), ("wall[0]", 1), ("wall[1]", 1)]);
    let multiplier = |constraint: &str| {
        let name = format!("c[{constraint}]");
        at(model.problem.symbols.rows().position(|symbol| symbol.name == name).expect(constraint))
    };
    let total = multiplier("link[1]")
        + multiplier("link[2]")
        + multiplier("pair[0]") * multiplier("wall[0]")
        + multiplier("pair[1]") * multiplier("wall[1]");
    let expected = [
        ("wall_force", 2.0 * multiplier("wall[1]")),
        ("stress[(0, 0)]", multiplier("gram[(0, 0)]")),
        ("stress[(1, 0)]", multiplier("gram[(1, 0)]") / 2.0),
        ("stress[(0, 1)]", multiplier("gram[(1, 0)]") / 2.0),
        ("stress[(1, 1)]", multiplier("gram[(1, 1)]")),
        ("links[1][0]", multiplier("link[2]")),
        ("links[1][1]", at(4)),
        ("links[2][0]", multiplier("link[1]")),
        ("links[2][1]", at(4)),
        ("total", total),
        ("constant", at(18)),
    ];
    assert_eq!(model.problem.outputs.len(), expected.len());
    for (output, (name, expected)) in model.problem.outputs.iter().zip(expected) {
        assert_eq!(output.name, name);
        assert!((value(&output.value) - expected).abs() < 1e-13, "{name}");
    }
}

#[test]
fn an_output_is_a_use() {
    let model = model(
        "state(x), dynamics(x = 1), define(d = m * x), output(a = d, b[i in 0..2] = x.powi(i)), output(c = x)",
        "struct S { m: f64 }",
    );
    let names: Vec<&str> = model.problem.outputs.iter().map(|output| &output.name[..]).collect();
    assert_eq!(names, ["a", "b[0]", "b[1]", "c"]);
}

#[test]
fn parameters_of_every_kind_have_shapes() {
    let attribute =
        "coordinates(x), momenta(p), hamiltonian = p * x * m * v.x * w.x * a[0] * s[(0, 0)] * t[(0, 0)] * u[(0, 0)]";
    let (declaration, model, messages) = common::read(attribute, PARAMETERS);
    assert_eq!(messages, []);
    assert!(model.is_some());
    let declaration = declaration.expect("there are no mistakes");
    let shapes: Vec<Shape> = declaration.parameters.iter().map(|parameter| parameter.shape).collect();
    let matrix = |rows, columns| Shape::Matrix { rows, columns };
    let vectors = [Shape::Scalar, Shape::Vector(3), Shape::Vector(4), Shape::Vector(2)];
    assert_eq!(shapes[..4], vectors);
    assert_eq!(shapes[4..], [matrix(2, 2), matrix(2, 3), matrix(3, 2)]);
    assert!(matches!(&declaration.item.data, syn::Data::Struct(data) if data.fields.len() == 7));
}
