//! Texts that are made to do harm: each ends with a message.

use fbint_catalogue::FlatModel;
use fbint_text::{LONGEST, Mistakes, models};

use crate::random::Random;
use crate::shipped;
use crate::{amount, is_thorough};

/// The message of a text that is refused.
fn refused(text: &str) -> String {
    // A model that should not be there is too long to be printed.
    let mistakes: Mistakes = models(text).map(drop).expect_err("the text is refused");
    // Each can be shown, and none is a failure of the compiler.
    let shown = mistakes.to_string();
    assert!(!shown.contains("please report"), "{shown}");
    mistakes.list()[0].message.clone()
}

fn decay(rate: &str) -> String {
    format!("#[feedback_system(state(x), dynamics(x = {rate}))] struct Decay;")
}

#[test]
fn what_is_nested_deeply_is_refused() {
    let deep = 100_000;
    let nested = |open: &str, close: &str| decay(&format!("{}x{}", open.repeat(deep), close.repeat(deep)));
    assert!(refused(&nested("(", ")")).contains("100000 tokens"));
    let nested = |open: &str, close: &str| decay(&format!("{}x{}", open.repeat(1000), close.repeat(1000)));
    assert!(refused(&nested("(", ")")).contains("nested"));
    assert!(refused(&nested("-", "")).contains("apply to one another"));
    assert!(refused(&nested("[", "]")).contains("nested"));
    assert!(refused(&nested("{", "}")).contains("nested"));
    assert!(refused(&"(".repeat(deep)).contains("not closed"));
    assert!(refused(&")".repeat(deep)).contains("closes nothing"));
    assert!(!refused(&"#[a]".repeat(20_000)).is_empty());
    assert!(!refused(&"struct A { a: ".repeat(5_000)).is_empty());
    assert!(
        !refused(&format!(
            "#[feedback_system(state(x), dynamics(x = -x))] struct D {{ a: {}f64{} }}",
            "A<".repeat(9_000),
            ">".repeat(9_000)
        ))
        .is_empty()
    );
    assert!(!refused(&"/*".repeat(deep)).is_empty());
}

#[test]
fn what_is_long_is_refused() {
    assert!(refused(&" ".repeat(10_000_000)).contains(&format!("at most {LONGEST}")));
    assert!(refused(&decay(&"x + ".repeat(1_000_000))).contains(&format!("at most {LONGEST}")));
    assert!(refused(&decay(&format!("{}x", "x+".repeat(400_000)))).contains("tokens"));
    assert!(refused(&decay(&format!("{}x", "x + ".repeat(20_000)))).contains("chains"));
    assert!(!refused(&decay("(0..1000000).map(|i| x * i).sum()")).is_empty());
    assert!(!refused(&decay("x.powi(1000000000).exp().exp().powi(1000000000)")).is_empty());
    assert!(!refused(&decay("999999999999999999999999999999999999999999999 .powi(100000)")).is_empty());
    assert!(!refused(&decay("1e1000000")).is_empty());
}

#[test]
fn what_is_large_is_refused() {
    let text = |state: &str| format!("#[feedback_system(state(x: [{state}]), dynamics(x = -x))] struct Decay;");
    assert!(refused(&text("1000000")).contains("from 1 to 10000"));
    assert!(!refused(&text("99999999999999999999999")).is_empty());
}

/// A text that is short, and whose derivation would take minutes and gigabytes. Where the test is not thorough, one in the compiler does the
/// same with a twentieth of the work.
#[test]
fn what_takes_too_much_work_is_refused() {
    if !is_thorough() {
        return;
    }
    let constraint = |number: usize| {
        let term = |entry: usize| format!("({} * q[{entry}]).sin() * q[{}].cos()", entry + 2, (entry + number) % 48);
        format!("c{number} = {}", (0..48).map(term).collect::<Vec<_>>().join(" + "))
    };
    let constraints: Vec<String> = (1..=40).map(constraint).collect();
    let message = refused(&format!(
        "#[feedback_system(coordinates(q: [48]), momenta(p: [48]), hamiltonian = p.norm_squared() / 2, constraint({}))] struct Dense;",
        constraints.join(", ")
    ));
    assert!(message.contains("`Dense`") && message.contains("more work") && message.contains("crate"), "{message}");
}

/// Functions of functions, whose parts occur in many places: passes look at each part once. What is refused is refused for its work.
#[test]
fn functions_of_functions_are_looked_at_once() {
    for (function, times) in [("sin", 40), ("tanh", 40), ("exp", 6), ("atan", 30)] {
        assert!(models(&decay(&format!("-x{}", format!(".{function}()").repeat(times)))).is_ok(), "{function}");
    }
    let layers = 6;
    let unit = |layer: usize, place: usize| match layer {
        0 => format!("x[{place}]"),
        _ => format!("l{}[{place}]", layer - 1),
    };
    let of_unit = |layer: usize, place: usize| {
        let terms = [0, 1, 2].map(|from| format!("{} / 10 * {}", 1 + place + 2 * from + layer, unit(layer, from)));
        format!("({}).tanh()", terms.join(" + "))
    };
    let of_layer =
        |layer: usize| format!("l{layer} = vector![{}]", [0, 1, 2].map(|place| of_unit(layer, place)).join(", "));
    let network = format!(
        "#[feedback_system(state(x: [3]), define({}), dynamics(x = l{} - x))] struct Network;",
        (0..layers).map(of_layer).collect::<Vec<_>>().join(", "),
        layers - 1
    );
    assert!(models(&network).is_ok(), "{}", models(&network).unwrap_err());
}

#[test]
fn long_numbers_are_refused() {
    let digits = |count: usize| decay(&format!("-x / {}", "7".repeat(count)));
    assert!(models(&digits(300)).is_ok());
    assert!(refused(&digits(100_000)).contains("this number has 100000 characters"));
}

/// Shipped models with a few tokens or bytes changed: what is read has facts, and what is refused can be shown.
#[test]
fn changed_models_are_read_or_refused() {
    let models_of: Vec<String> =
        shipped::all().into_iter().map(|model| model.text).filter(|text| text.len() < 1500).collect();
    let mut random = Random::new(2026);
    let (mut read, mut refused) = (0, 0);
    let texts = amount(140, 400);
    for _ in 0..texts {
        let mut text = models_of[random.below(models_of.len())].clone();
        for _ in 0..=random.below(3) {
            text = changed(&text, &models_of, &mut random);
        }
        match models(&text) {
            Ok(models) => {
                assert!(models.iter().all(|model| !model.facts().state.is_empty()), "{text}");
                read += models.len();
            }
            Err(mistakes) => {
                let shown = mistakes.to_string();
                assert!(!shown.contains("please report"), "{shown}\n{text}");
                refused += 1;
            }
        }
    }
    assert!(read > texts / 20 && refused > texts / 4, "{read} read and {refused} refused");
}

/// A text with one change.
fn changed(text: &str, others: &[String], random: &mut Random) -> String {
    let mut characters: Vec<char> = text.chars().collect();
    let (first, count) = (random.below(characters.len()), 1 + random.below(12));
    let range = first..(first + count).min(characters.len());
    let other: Vec<char> = others[random.below(others.len())].chars().collect();
    let from = random.below(other.len());
    let piece = other[from..(from + count).min(other.len())].to_vec();
    match random.below(5) {
        0 => drop(characters.drain(range)),
        1 => drop(characters.splice(range, piece)),
        2 => drop(characters.splice(first..first, piece)),
        3 => {
            characters[first] =
                ['(', ')', '*', '0', '9', 'q', ',', '-', '[', '"', '\u{0}', '\u{2192}'][random.below(12)]
        }
        _ => {
            let own = characters[range.clone()].to_vec();
            drop(characters.splice(range.start..range.start, own));
        }
    }
    characters.into_iter().collect()
}
