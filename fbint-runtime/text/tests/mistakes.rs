//! Mistakes in texts, as they are shown.

use fbint_catalogue::padded::{MOST_ENTRIES, MOST_INTEGRALS};
use fbint_macros_core::text::LONGEST;
use fbint_text::models;

/// What is shown of a text in the file `model.rs`.
fn shown(text: &str) -> String {
    match models(text) {
        Err(mistakes) => mistakes.rendered("model.rs", false),
        Ok(models) => panic!("{} models and no mistake in:\n{text}", models.len()),
    }
}

/// A snapshot of what is shown of each text, below it.
macro_rules! shown {
    ($($name:ident: $text:literal;)*) => {
        $(#[test]
        fn $name() {
            let shown = format!("{}\n\n{}", $text, shown($text));
            insta::assert_snapshot!(stringify!($name), shown);
        })*
    };
}

shown! {
    an_unknown_name: "#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
)]
struct Particle { m: f64 }";

    a_quotient_by_nothing: "#[feedback_system(
    coordinates(q),
    momenta(p),
    hamiltonian = p.powi(2) / (2 * (m - m)) + m * q.powi(2),
)]
struct Particle { m: f64 }";

    several_models: "use nalgebra::vector;

/// The first.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + k * q.powi(2), invariant(angle = q))]
struct First { k: f64 }

#[fbint_runtime::feedback_system(coordinates(q), momenta(p), hamiltonian = p.pwoi(2) / 2)]
#[derive(Clone)]
pub struct Second;";

    what_belongs_in_a_crate: "#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)]
struct Oscillator;

impl Oscillator {
    fn start(&self) -> f64 { 1.0 }
}

struct Other;
pub(crate) fn main() { println!(\"hello\"); }
+ 1;
#[derive(Clone)]";

    nothing: "//! Nothing is declared.
use nalgebra::vector;
";

    an_open_bracket: "#[feedback_system(
    state(x),
    dynamics(x = (1 + x),
)]
struct Decay;";

    a_wrong_bracket: "#[feedback_system(state(x), dynamics(x = [1 + x)))] struct Decay;";

    no_token: "#[feedback_system(state(x), dynamics(x = \u{00a7}x))] struct Decay;";

    an_open_string: "/// A decay.
#[doc = \"no end] #[feedback_system(state(x), dynamics(x = -x))] struct Decay;";

    a_syntax_error: "#[feedback_system(state(x), dynamics(x = 1 + * x))]
struct Decay { rate: f64, other: String, }";

    an_enum: "#[feedback_system(state(x), dynamics(x = -x))]
enum Decay { Slow }";

    nothing_in_the_attribute: "#[feedback_system]
struct Decay;";

    a_condition: "#[cfg(test)]
#[feedback_system(state(x), dynamics(x = -x))]
struct Decay;
#[feedback_system(state(x), dynamics(x = -x))]
struct Decay;";

    a_wrong_start: "#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m),
    default(m = 0 / 0),
    start(q = vector![1, 2, 3], p = vector![0, q[0]]),
)]
struct Particle { m: f64 }";

    a_wrong_beginning: "#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + k * q[0],
    default(m = 1, m = 2, q = 0),
    start(q = vector![0, 0], q = vector![1, 0], time = 0, k = 1),
)]
struct Particle { m: f64, k: f64 }";

    a_default_of_another: "#[feedback_system(
    state(x),
    dynamics(x = -k * l * x),
    default(k = 1 + l, l = 1),
)]
struct Decay { k: f64, l: f64 }";

    an_incomplete_beginning: "#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + k * q[0],
    default(m = 1),
    start(q = vector![0, 0]),
)]
struct Particle { m: f64, k: f64 }";

    an_infinite_default: "#[feedback_system(state(x), dynamics(x = -k * x), default(k = 1000.exp()))]
struct Decay { k: f64 }";

    not_conserved: "#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + q[0],
    invariant(impulse = p[0]),
)]
struct Particle;";
}

#[test]
fn places_are_lines_and_columns_of_characters() {
    let mistakes =
        models("/// \u{e4}\u{f6}\u{fc}\n/* \u{e9} */ #[feedback_system(state(x), dynamics(x = y))] struct Wrong;")
            .unwrap_err();
    let [mistake] = mistakes.list() else { panic!("{mistakes}") };
    let place = |position: fbint_text::Position| (position.line, position.column);
    assert_eq!((place(mistake.start), place(mistake.end)), ((2, 50), (2, 51)));
    assert_eq!(mistake.range, 11 + 50..11 + 51);
}

#[test]
fn terminals_are_not_told_anything_by_a_text() {
    let text = "#[feedback_system(state(x), dynamics(x = \"\u{1b}[2J\u{7}\"))] struct Decay;";
    assert!(!shown(text).contains(['\u{1b}', '\u{7}']), "{:?}", shown(text));
    let text = "\u{1b} struct Decay;";
    assert!(!shown(text).contains('\u{1b}'), "{:?}", shown(text));
}

shown! {
    events_laws_and_drawings: "#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    input(push: [2] = k * q.norm(), pull),
    hamiltonian = p.norm_squared() / 2,
    force(p = push + pull * q),
    event(floor = q, faling),
    event(wall = q[0] - pull, reset(r = p, time = 0)),
    event(never = k),
    event(late = q[1], count = 0, when = q[0]),
    section(plane = q[0], terminal),
    draw(rod(q), dot(q), circle(q, q), point(p[0])),
)]
struct Ball { k: f64 }";
}

#[test]
fn the_readme_names_the_limits() {
    let readme = include_str!("../README.md").split_whitespace().collect::<Vec<_>>().join(" ");
    let limits = [
        format!("A text has at most {} MB", LONGEST / 1_000_000),
        format!(
            "side by side if a model has at most {MOST_ENTRIES} entries of the state and {MOST_INTEGRALS} integrals"
        ),
    ];
    for limit in limits {
        assert!(readme.contains(&limit), "{limit}");
    }
}
