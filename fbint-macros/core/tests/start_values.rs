//! Parameters by default and starts of runs: what they expand to, and their mistakes.

use super::common::read;
use super::expansion::expand;

const PENDULUM: &str =
    "coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m[0]) + m[0] * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)), define(r = l / 2)";
const ITEM: &str = "struct S { m: [f64; 1], g: f64, l: f64 }";

#[test]
fn both_are_expressions() {
    let beginning =
        "default(m = vector![1], g = 9.81, l = 1 / 2), start(p = vector![0, q[0]], q = vector![r * (PI / 3).cos(), l])";
    let (_, model, messages) = read(&format!("{PENDULUM}, {beginning}"), ITEM);
    let beginning = model.unwrap_or_else(|| panic!("{messages:?}")).start_values;
    let numbers = |entries: Option<Vec<fbint_macros_core::expression::Expression>>| -> Vec<f64> {
        // l, the last of the parameters, is 3.
        entries.expect("it is declared").iter().map(|entry| entry.evaluate(&|_| 3.0)).collect()
    };
    assert_eq!(numbers(beginning.defaults), [1.0, 9.81, 0.5]);
    let start = numbers(beginning.start);
    assert!((start[0] - 0.75).abs() < 1e-15 && start[1..] == [3.0, 0.0, start[0]], "{start:?}");
}

/// The time and the work begin at 0. A parameter that only the start has is used.
#[test]
fn driven_systems_start_at_rest() {
    let driven = "coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2, input(u), force(p = u), start(q = a, p = 0)";
    let (messages, expansion) = expand(driven, "struct S { a: f64 }");
    assert!(messages.is_empty(), "{messages:?}");
    let start = expansion.split("fn declared_start").nth(1).expect("it has a start");
    assert!(start.contains("= [__a , 0.0 , 0.0 , 0.0]"), "{start:.300}");
    assert!(!expansion.contains("Default for S {"));
}

/// One message for each mistake, where it stands.
#[test]
fn mistakes_are_reported_where_they_stand() {
    let rows: [(&str, &str, &str); 14] = [
        ("default(m = vector![1], g = 9.81)", "`default` is missing `l`\nhelp: add `l = ..` to it", "l"),
        (
            "default(m = vector![1], g = 9, l = 1, k = 1)",
            "`k` is not a parameter\nhelp: add the field `k: f64`, or remove it here",
            "k",
        ),
        (
            "default(m = vector![1], g = 9, length = 1)",
            "`length` is not a parameter; `default` is for `m`, `g`, `l`",
            "length",
        ),
        (
            "default(m = vector![1], g = 9, l = 1, l = 2)",
            "`l` is given twice in `default`\nhelp: keep one of the two",
            "l",
        ),
        (
            "default(m = 1, g = 9, l = 1)",
            "the default of `m` is a scalar, and `m` is a vector of 1: they must have the same shape",
            "1",
        ),
        ("default(m = vector![1], g = 9, l = 2 * g)", "a default is a number, and `l` contains `g`", "2 * g"),
        (
            "default(m = vector![1], g = 9, l = 1000.exp())",
            "this number is out of reach of double precision",
            "1000.exp()",
        ),
        ("default(m[i in 0..1] = 1, g = 9, l = 1)", "`default` gives all of `m` at once\nhelp: write `m = ..`", "["),
        ("start(q = vector![l, 0])", "`start` is missing `p`\nhelp: add `p = ..` to it", "p"),
        (
            "start(q = vector![l, 0], p = vector![0, 0], r = 1)",
            "`r` is not a variable with a start; `start` is for `q`, `p`",
            "r",
        ),
        (
            "start(q = vector![l, 0], p = zeros(3, 1))",
            "the start of `p` is a vector of 3, and `p` is a vector of 2: they must have the same shape",
            "zeros(3, 1)",
        ),
        (
            "start(q = vector![l, 0], p = p + q)",
            "the start of `p` follows from itself\nhelp: give it by parameters, numbers and other entries",
            "p",
        ),
        ("start()", "`start` is empty\nhelp: name something, as in `start(q = vector![l, 0], p = vector![0, 0])`", ")"),
        ("starts(q = vector![l, 0], p = vector![0, 0])", "unknown key `starts`\nhelp: did you mean `start`?", "starts"),
    ];
    let mut failures = Vec::new();
    for (beginning, message, place) in rows {
        let (_, model, messages) = read(&format!("{PENDULUM}, output(length_of_half = r), {beginning}"), ITEM);
        if model.is_some() || messages != [(message.to_owned(), place.to_owned())] {
            failures.push(format!("{beginning}: {messages:#?}"));
        }
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Nor of a field with a mistaken type that it is not a parameter.
#[test]
fn a_mistaken_type_is_reported_once() {
    let attribute = "state(x), dynamics(x = -k * x), default(k = 1)";
    let (_, model, messages) = read(attribute, "struct Decay { k: f32 }");
    assert!(model.is_none());
    let [(message, culprit)] = &messages[..] else { panic!("{messages:#?}") };
    assert!(message.starts_with("`k` cannot be a parameter") && message.contains("help: write `f64`"), "{message}");
    assert_eq!(culprit, "f32");
}

const CIRCLE: &str = "coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 + q[1], constraint(length = q.norm_squared() - l.powi(2))";

/// At the value that mends it: of a rate, that of the momenta.
#[test]
fn a_start_off_a_constraint_in_numbers_does_not_compile() {
    let item = "struct S { l: f64 }";
    for (beginning, culprit) in [
        ("default(l = 1), start(q = vector![0.6, -0.9], p = vector![0, 0])", Some("`length`: its value there is 1.7")),
        ("default(l = 2), start(p = vector![0, 0], q = vector![l + 0.1, 0])", Some("`length`")),
        ("default(l = 1), start(q = vector![0.6, -0.8], p = vector![0.1, 0.2])", Some("`length_rate`")),
        ("default(l = 1), start(q = vector![0.6, -0.8], p = vector![0.8, 0.6])", None),
        ("default(l = 3), start(q = vector![l * 0.6, -l * 0.8], p = vector![0, 0])", None),
        // Another l may fit.
        ("start(q = vector![0.6, -0.9], p = vector![0, 0])", None),
    ] {
        let (messages, _) = expand(&format!("{CIRCLE}, {beginning}"), item);
        let text = format!("{messages:?}");
        match culprit {
            Some(culprit) => {
                assert!(text.contains("the start violates the constraint") && text.contains(culprit), "{text}")
            }
            None => assert!(messages.is_empty(), "{beginning}: {text}"),
        }
    }
}

#[test]
fn a_start_may_give_the_time() {
    let cubic = "state(y), time(t), dynamics(y = 3 * t.powi(2) - y)";
    for (start, expected) in
        [("start(y = -120, t = -8)", "= [- 120.0 , - 8.0]"), ("start(t = -8, y = 1)", "= [1.0 , - 8.0]")]
    {
        let (messages, expansion) = expand(&format!("{cubic}, {start}"), "struct S;");
        assert!(messages.is_empty(), "{messages:?}");
        let start = expansion.split("fn declared_start").nth(1).expect("it has a start");
        assert!(start.contains(expected), "{start:.300}");
    }
}
