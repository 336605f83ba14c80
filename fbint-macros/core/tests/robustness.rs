//! Input that no user writes on purpose: everything ends in messages, and on a test's small stack.

use fbint_macros_core::text::models;
use proptest::prelude::*;

use super::common;

const ITEM: &str = "struct S { m: f64 }";

fn declare(expression: &str) -> String {
    format!("coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / m + q[0] + {expression}")
}

/// The only message about a declaration.
#[track_caller]
fn only_message(attribute: &str) -> String {
    let (_, model, messages) = common::read(attribute, ITEM);
    assert!(model.is_none());
    let texts: Vec<String> = messages.into_iter().map(|(message, _)| message).collect();
    assert_eq!(texts.len(), 1, "{texts:?}");
    texts.into_iter().next().unwrap_or_default()
}

fn nested(open: &str, inner: &str, close: &str, depth: usize) -> String {
    format!("{}{inner}{}", open.repeat(depth), close.repeat(depth))
}

#[test]
fn deep_nesting_is_a_message() {
    for (open, close) in
        [("(", ")"), ("(q[0] + ", ")"), ("m.powf(", ")"), ("vector![", "][0]"), ("{", "}"), ("q[", "]")]
    {
        let message = only_message(&declare(&nested(open, "m", close, 2_000)));
        assert!(message.starts_with("parentheses are nested more than 64 deep"), "{open}: {message}");
    }
    let message = only_message(&format!("coordinates(q: {}), momenta(p)", nested("[", "3", "]", 2_000)));
    assert!(message.starts_with("parentheses are nested"), "{message}");
}

#[test]
fn deep_types_are_a_message() {
    let item = |open: &str, close: &str, depth| format!("struct S {{ m: {} }}", nested(open, "f64", close, depth));
    for (open, close) in [
        ("[", "]"),
        ("(", ")"),
        ("[f64; {", "}]"),
        ("A<", ">"),
        ("&", ""),
        ("*const ", ""),
        ("fn(", ")"),
        ("impl A<", ">"),
        ("dyn Fn(", ")"),
        ("<A as B<", ">>::C"),
        ("m!(", ")"),
    ] {
        for depth in [8, 15, 16, 30, 31, 32, 33, 64, 2_000] {
            let (_, model, messages) = common::read(&declare("m"), &item(open, close, depth));
            assert_eq!(usize::from(model.is_none()), messages.len(), "{open} {depth}: {messages:?}");
        }
        let (_, _, messages) = common::read(&declare("m"), &item(open, close, 2_000));
        let (message, _) = &messages[0];
        let expected = ["parentheses are nested more than 32 deep here", "more than 32 operators and keywords"];
        assert!(expected.iter().any(|expected| message.starts_with(expected)), "{open}: {message}");
    }
}

#[test]
fn rows_of_prefixes_are_a_message() {
    for prefix in ["-", "&", "!", "|i| ", "return ", "m = ", "m as A<", "if m {} else "] {
        let message = only_message(&declare(&format!("{}m", prefix.repeat(20_000))));
        assert!(message.starts_with("more than 64 operators"), "{prefix}: {message}");
    }
    let signs = |count| common::read(&declare(&format!("({}m)", "-".repeat(count))), ITEM).1;
    assert!(signs(64).is_some() && signs(65).is_none());
}

#[test]
fn long_chains_are_a_message() {
    for link in [" + m", " * m", ".sin()", ".x", "[0]", "()", " - m * m"] {
        let message = only_message(&declare(&format!("m{}", link.repeat(20_000))));
        let expected = message.starts_with("this expression chains more than 2000") || message.ends_with("tokens");
        assert!(expected, "{link}: {message}");
    }
}

#[test]
fn what_the_limits_admit_fits_the_stack() {
    let (_, model, messages) = common::read(&declare(&nested("(", "m", ")", 60)), ITEM);
    assert!(model.is_some(), "{messages:?}");
    // At the very limits of everything at once.
    let deep = nested("-(m + ", &format!("{}m{}", "-".repeat(4), ".sin()".repeat(900)), ")", 58);
    assert!(only_message(&declare(&deep)).starts_with("this is nested too deeply"));
    let message = only_message(&declare(&format!("m{}", ".sin()".repeat(990))));
    assert!(message.starts_with("this is nested too deeply"), "{message}");
    for prefix in ["-", "return ", "|i| ", "m = ", "if m {} else "] {
        let deep = nested("(", &format!("{}m", prefix.repeat(62)), ")", 60);
        let (_, model, _) = common::read(&declare(&deep), ITEM);
        assert_eq!(model.is_some(), prefix == "-", "{prefix}");
    }
}

#[test]
fn definitions_in_a_long_row_fit_the_stack() {
    let chain = |count: usize, backwards: bool| {
        let mut links: Vec<String> = (1..count).map(|i| format!("d{i} = (d{} * q[0]).sin()", i - 1)).collect();
        links.push("d0 = q[1]".to_owned());
        if !backwards {
            links.reverse();
            links[1..].reverse();
        }
        format!("{}, define({})", declare(&format!("d{}", count - 1)), links.join(", "))
    };
    let (_, model, messages) = common::read(&chain(100, false), ITEM);
    assert!(model.is_some(), "{messages:?}");
    let message = only_message(&chain(5_000, false));
    assert!(message.starts_with("this is nested more than 250 deep"), "{message}");
    let mut backwards: Vec<String> = (1..5_000).rev().map(|i| format!("d{i} = d{} * q[0]", i - 1)).collect();
    backwards.push("d0 = q[1]".to_owned());
    let message = only_message(&format!("{}, define({})", declare("d4999"), backwards.join(", ")));
    assert!(message.starts_with("this is nested too deeply"), "{message}");
}

#[test]
fn signs_of_operands_side_by_side_do_not_add_up() {
    let (_, model, messages) = common::read(&declare(&format!("m{}", " * -m - -q[0]".repeat(100))), ITEM);
    assert!(model.is_some(), "{messages:?}");
}

/// Of every two levels one is a sum, so that each kind of level has to count.
#[test]
fn every_kind_of_level_counts() {
    for level in ["D * q[0]", "m / D", "D.sqrt()", "D.exp()", "D.powf(m)"] {
        let chain = |count: usize| {
            let link = |i: usize| format!("d{i} = {} + q[1]", level.replace('D', &format!("d{}", i - 1)));
            let links: Vec<String> = (1..=count).map(link).collect();
            format!("{}, define(d0 = q[2] + m, {})", declare(&format!("d{count}")), links.join(", "))
        };
        let (_, model, messages) = common::read(&chain(80), ITEM);
        assert!(model.is_some(), "{level}: {messages:?}");
        let message = only_message(&chain(140));
        assert!(message.starts_with("this is nested more than 250 deep"), "{level}: {message}");
    }
}

#[test]
fn expressions_that_double_are_a_message() {
    let doubling = |link: &str, count: usize| {
        let links = (1..count).map(|i| format!("d{i} = {}", link.replace('D', &format!("d{}", i - 1))));
        let links: Vec<String> = links.collect();
        format!("{}, define(d0 = q[0] + m, {})", declare(&format!("d{}", count - 1)), links.join(", "))
    };
    for (link, length) in
        [("D + D", "parts, more than 1000000"), ("D * D", "16384 factors"), ("D * D + m", "16384 factors")]
    {
        let message = only_message(&doubling(link, 200));
        assert!(message.contains(length) && message.ends_with("the model is too large"), "{link}: {message}");
    }
    for link in ["D.sin() + D.cos()", "D.sin() - D.cos()", "D.powf(D)", "(0..2).map(|i| (D + i).sin()).sum()"] {
        let (_, model, messages) = common::read(&doubling(link, 40), ITEM);
        assert!(model.is_some(), "{link}: parts that are shared count once: {messages:?}");
        let (_, model, messages) = common::read(&doubling(link, 300), ITEM);
        assert!(
            model.is_none() && messages[0].0.starts_with("this is nested more than 250 deep"),
            "{link}: {messages:?}"
        );
    }
    let links: Vec<String> = (1..200).map(|i| format!("d{i} = d{0} * d{0}", i - 1)).collect();
    let doubling = format!("{}, define(d0 = q[0] * 1e300, {})", declare("d199"), links.join(", "));
    assert!(only_message(&doubling).contains("out of reach"));
    let matrices = "matrix![q[0], m; m, q[1]]";
    let links: Vec<String> = (1..200).map(|i| format!("d{i} = d{0} * d{0}", i - 1)).collect();
    let doubling = format!("{}, define(d0 = {matrices}, {})", declare("d199.trace()"), links.join(", "));
    assert!(only_message(&doubling).contains("products of 16384 factors"));
}

/// d is 2^n d0 - (2^n - 1) q[1], and a sum of 2^(n + 1) terms when the sums within it are resolved.
#[test]
fn sums_that_double_are_derived() {
    const LINKS: i32 = 40;
    let links = (1..=LINKS).map(|i| format!("d{i} = d{0} - (q[1] - d{0})", i - 1));
    let defined = format!("define(d0 = q[0] + 2, {})", links.collect::<Vec<_>>().join(", "));
    let d = format!("d{LINKS}");
    let canonical = "coordinates(q: [2]), momenta(p: [2])";
    let lagrangian = "coordinates(q: [2]), velocities(v: [2])";
    let slope = 2_i64.pow(LINKS as u32);
    for (keys, expected) in [
        (format!("{canonical}, {defined}, hamiltonian = p.norm_squared() / 2 + {d}"), format!("d p[0]/dt = -{slope}")),
        (
            format!("{canonical}, {defined}, hamiltonian = p.norm_squared() / 2, constraint(c = {d})"),
            format!("{{c, H}} = {slope}*p[0]"),
        ),
        (format!("{lagrangian}, {defined}, lagrangian = v.norm_squared() / 2 + {d}"), format!("a[v[0]] = {slope}")),
        (format!("state(q: [2]), {defined}, dynamics(q = vector![{d}, q[0]])"), format!("{slope}*q[0]")),
    ] {
        let mut models = models(&format!("#[feedback_system({keys})] struct S;")).expect("a model");
        let equations = models.remove(0).equations();
        assert!(equations.contains(&expected), "{keys}: {equations}");
    }
}

#[test]
fn nested_series_are_a_message() {
    for series in [
        "(0..10000).map(|i| (0..10000).map(|j| i * j).sum()).sum()",
        "(0..10000).map(|i| zeros(100, 100)).sum()[(0, 0)]",
        "(0..10000).map(|i| (0..0).map(|j| (0..10000).map(|k| k).sum()).sum()).sum()",
        "(zeros(10000, 1) * zeros(1, 10000))[(0, 0)]",
        "(m + q[0]).powi(1000).powi(1000).powi(1000).powi(1000)",
        "m / (1e300).powi(-1024)",
    ] {
        only_message(&declare(series));
    }
    let family = "constraint(a[i in 0..10000] = zeros(10000, 1) + q[0] * identity(100).column(0))";
    only_message(&format!("{}, {family}", declare("m")));
}

#[test]
fn numbers_out_of_reach_are_a_message() {
    for number in ["1e999999999", "1e-999999999", "1e99999999999999999999", &"9".repeat(5_000)] {
        let message = only_message(&declare(number));
        assert_eq!(message, "this number is out of reach of double precision");
    }
}

#[test]
fn a_nameless_variable_next_to_a_shapeless_one_is_a_message() {
    let attribute = "coordinates(a: [2], b: [2]), momenta(pa, [2], pb: q), hamiltonian = m * a.norm_squared()";
    let (_, model, messages) = common::read(attribute, ITEM);
    assert!(model.is_none() && messages.len() > 1, "{messages:?}");
}

/// Whatever made the compiler panic, the struct stays as it is.
#[test]
fn a_panic_of_the_compiler_is_one_message() {
    let tokens = |text: &str| text.parse::<proc_macro2::TokenStream>().expect("tokens");
    for (item, kept) in [(ITEM, "struct S"), ("fn s() {}", "fn s")] {
        let panics = |_, _| panic!("index out of bounds");
        let expansion = fbint_macros_core::compile::caught(tokens(&declare("m")), tokens(item), panics).to_string();
        assert!(
            expansion.contains(r"internal error in fbint: index out of bounds\nhelp: this is a bug of fbint "),
            "{expansion}"
        );
        assert!(expansion.contains(kept), "{expansion}");
        assert_eq!(expansion.matches("compile_error").count(), 1, "{expansion}");
    }
}

/// Words of the language and fragments that the grammar is made of.
fn soup() -> impl Strategy<Value = String> {
    let words = [
        "coordinates",
        "momenta",
        "state",
        "poisson",
        "dynamics",
        "output",
        "hamiltonian",
        "define",
        "constraint",
        "phase_constraint",
        "invariant",
        "crate",
        "q",
        "p",
        "m",
        "a",
        "i",
        "in",
        "=",
        "==",
        ",",
        ";",
        ":",
        "[3]",
        "[2, 2]",
        "(q: [3])",
        "(p: [3])",
        "0..3",
        "..",
        "1",
        "0",
        "0.5",
        "-",
        "+",
        "*",
        "/",
        "^",
        "&",
        ".",
        ".sin()",
        ".norm()",
        ".dot(&p)",
        ".powi(2)",
        "[0]",
        "[(0, 1)]",
        "vector![q, 1]",
        "matrix![1, 2; 3]",
        "identity(3)",
        "hat(q)",
        "multiplier(c)",
        "multiplier",
        "(q = p)",
        "(0..3).map(|i| q[i]).sum()",
        "|i|",
        "energy",
        "PI",
        "if",
        "as",
        "self",
        "_",
        "'a",
        "#",
        "!",
        "?",
        "{ }",
        "()",
        "\"text\"",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..40).prop_map(|words| words.join(" "))
}

fn item_soup() -> impl Strategy<Value = String> {
    let words = [
        "struct",
        "S",
        "{",
        "}",
        "m",
        ":",
        "f64",
        ",",
        "Vector3<f64>",
        "[f64; 2]",
        "<",
        ">",
        "enum",
        "pub",
        "(",
        ")",
        ";",
        "SMatrix<f64, 2, 2>",
        "SVector<f64, N>",
        "where",
        "'a",
        "#[cfg(x)]",
        "Matrix2x9<f64>",
        "Vector<f64>",
        "fn",
    ];
    prop::collection::vec(prop::sample::select(words.to_vec()), 0..20).prop_map(|words| words.join(" "))
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, cases: 1_500, ..ProptestConfig::default() })]

    #[test]
    fn any_attribute_ends_in_a_model_or_in_messages(attribute in soup(), expression in soup(), q in 0..5_usize) {
        let attribute = match q {
            0 => attribute,
            1 => declare(&expression),
            2 => format!("state(q: [3], p: [3]), dynamics(q = p, p = {expression}), {attribute}"),
            3 => format!("state(q: [3]), poisson = hat(q), hamiltonian = q[0], output(c = {expression}), {attribute}"),
            _ => format!("{}, constraint(c = {expression}), {attribute}", declare("m")),
        };
        if attribute.parse::<proc_macro2::TokenStream>().is_ok() {
            let (_, model, messages) = common::read(&attribute, ITEM);
            prop_assert_eq!(model.is_none(), !messages.is_empty(), "{}", attribute);
        }
    }

    #[test]
    fn any_item_ends_in_a_model_or_in_messages(item in item_soup()) {
        if item.parse::<proc_macro2::TokenStream>().is_ok() {
            let (_, model, messages) = common::read(&declare("m"), &item);
            prop_assert_eq!(model.is_none(), !messages.is_empty(), "{}", item);
        }
    }
}
