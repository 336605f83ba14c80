//! Random declarations, each changed in a way whose effect is known by theory.
//!
//! Both are compiled, and their programs interpreted at states in general position, where entries of the state, parameters and
//! gains get their values by name. The random numbers do not differ from run to run. A failure prints the smallest declaration
//! that shows it.

mod declaration;

use std::collections::BTreeMap;
use std::ops::RangeInclusive;

use fbint_macros_core::program::{self, Program};
use fbint_tests::compiler::{Compiled, Declaration, normalised, run};
use fbint_tests::{Random, amount, relative_error};
use proc_macro2::{Group, Ident, TokenStream, TokenTree};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use declaration::{Choices, Model};

/// Tests of values: both sides round differently, and C has a condition of a few hundred at most.
const TOLERANCE: f64 = 1e-9;
/// The tolerance for a projection, whose matrix has the condition 1e10 where integrals are dependent, as H and its square are.
const PROJECTION_TOLERANCE: f64 = 1e-3;
/// Points at which two systems are compared.
const SEEDS: std::ops::RangeInclusive<u64> = 1..=3;

fn choices() -> impl Strategy<Value = Vec<u16>> {
    prop::collection::vec(any::<u16>(), 0..60)
}

fn any_model() -> impl Strategy<Value = Model> {
    choices().prop_map(|choices| Model::any(&mut Choices(choices.iter())))
}

fn hamiltonian_model() -> impl Strategy<Value = Model> {
    choices().prop_map(|choices| Model::with_hamiltonian(&mut Choices(choices.iter())))
}

fn canonical_model(constraints: RangeInclusive<usize>) -> impl Strategy<Value = Model> {
    choices().prop_map(move |choices| Model::canonical(&mut Choices(choices.iter()), constraints.clone()))
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: amount(16, 64) as u32,
        failure_persistence: None,
        rng_seed: RngSeed::Fixed(0x0fb1),
        max_shrink_iters: 200,
        ..ProptestConfig::default()
    })]

    /// Names carry no meaning: the code is byte-identical when new names are replaced by the old ones, up to the names of values, which are
    /// hashes of what they are computed from.
    #[test]
    fn names_do_not_matter(model in any_model(), letters in prop::collection::btree_set("[a-z]{3}qz", 24)) {
        let declaration = model.declaration();
        let mut names = Vec::new();
        collect_names(&declaration.attribute, &mut names);
        let there: BTreeMap<String, String> = names.into_iter().zip(letters).collect();
        let back: BTreeMap<String, String> = there.iter().map(|(old, new)| (new.clone(), old.clone())).collect();
        let renamed = Declaration {
            attribute: rename(declaration.attribute.clone(), &there),
            item: rename(declaration.item.clone(), &there),
            ..declaration.clone()
        };
        let source = rename(renamed.text("source").parse().expect("Rust"), &back);
        let original: TokenStream = declaration.text("source").parse().expect("Rust");
        prop_assert_eq!(unbroken(&numbered(&source.to_string())), unbroken(&numbered(&original.to_string())));
    }

    /// X depends on the set of the constraints: in another order F, DF and the multipliers are permuted, and all else is equal.
    #[test]
    fn the_order_of_constraints_does_not_matter(model in canonical_model(2..=3), turn in 0..6_usize) {
        let mut other = model.clone();
        other.holonomic.reverse();
        let phase = other.phase.len().max(1);
        other.phase.rotate_left(turn % phase);
        other.invariants.reverse();
        other.outputs.reverse();
        same(&model, &other)?;
    }

    /// The gradient of s H is s times the gradient of H: so are X, the rates g' = {g, H} and the multipliers of g and of phase
    /// constraints. The multiplier of g' stays, because both H and g' have become s times what they were.
    #[test]
    fn a_multiple_of_h_has_that_multiple_of_x(model in hamiltonian_model(), up in 1..40_i32, down in 1..40_i32) {
        let other = Model { hamiltonian: format!("({up} / {down}) * H"), ..model.clone() };
        let s = f64::from(up) / f64::from(down);
        let canonical = model.poisson.is_none();
        let is_multiple = |entry: &str| entry.starts_with("energy") || canonical && entry.contains("_rate");
        compare(&model, &other, |function, entry, value| match (function, entry) {
            ("vector_field", _) => Some(s * value),
            ("integrals" | "integrals_jacobian", entry) => Some(if is_multiple(entry) { s * value } else { value }),
            ("multipliers", name) if name.contains("_rate") => Some(value),
            ("multipliers", _) => Some(s * value),
            ("outputs", "force") => Some(s * value),
            ("outputs", _) => Some(value),
            _ => None,
        })?;
    }

    /// The gradients of H + e and H are equal: only the energy differs, by e.
    #[test]
    fn a_constant_shifts_the_energy_alone(model in hamiltonian_model(), up in -40..40_i32, down in 1..40_i32) {
        let other = Model { hamiltonian: format!("H + ({up} / {down}) * PI"), ..model.clone() };
        let e = f64::from(up) / f64::from(down) * std::f64::consts::PI;
        compare(&model, &other, |function, entry, value| match (function, entry) {
            ("integrals", "energy") => Some(value + e),
            ("potential_gradient" | "feedback_field", _) => None,
            _ => Some(value),
        })?;
    }

    /// A constraint s f = 0 is f = 0: X does not change, and the multiplier is divided by s.
    #[test]
    fn a_multiple_of_a_constraint_has_the_same_x(model in canonical_model(1..=3), up in 1..40_i32, down in 1..40_i32) {
        let mut other = model.clone();
        let s = -f64::from(up) / f64::from(down);
        let mut scaled = Vec::new();
        for (name, value) in other.holonomic.iter_mut().chain(&mut other.phase) {
            *value = format!("-({up} / {down}) * ({value})");
            scaled.push(name.split('[').next().unwrap_or_default().to_owned());
        }
        let is_scaled = |entry: &str| scaled.iter().any(|name| entry.starts_with(name.as_str()));
        compare(&model, &other, |function, entry, value| match function {
            "vector_field" => Some(value),
            "integrals" | "integrals_jacobian" if is_scaled(entry) => Some(s * value),
            "multipliers" if is_scaled(entry) => Some(value / s),
            "integrals" | "integrals_jacobian" | "multipliers" => Some(value),
            "outputs" if entry == "force" => Some(value / s),
            "outputs" => Some(value),
            _ => None,
        })?;
    }

    /// A parameter is a number that is not known yet.
    #[test]
    fn a_parameter_can_be_its_value(model in any_model(), which in 0..4_usize, up in 32..96_u32) {
        let declaration = model.declaration();
        let open = declaration.compile();
        let symbols = &open.derivation.symbols;
        let parameters: Vec<&str> = symbols.parameters().map(|symbol| symbols[symbol].name.as_str()).collect();
        prop_assume!(parameters.len() > 1);
        let name = parameters[which % parameters.len()];
        let number: TokenStream = format!("({up} / 64)").parse().expect("a number");
        let known = Declaration {
            attribute: substitute(declaration.attribute.clone(), name, &number),
            item: without_field(&declaration, name),
            ..declaration.clone()
        };
        let (fixed, closed) = ((name, f64::from(up) / 64.0), known.compile());
        for seed in SEEDS {
            agree(&outcome(&open, seed, Some(fixed)), &outcome(&closed, seed, None), |_, _, value| Some(value))
                .map_err(|error| failure(&declaration, &known, &error))?;
        }
    }

    /// A definition is what it stands for, in parentheses: the programs are equal in every instruction.
    #[test]
    fn a_sum_can_be_split_into_definitions(model in hamiltonian_model(), first in 0..12_usize, second in 0..12_usize) {
        let (mut inline, mut other) = (model.clone(), model.clone());
        let (first, second) = (first % model.energy.len(), second % model.energy.len());
        let (first, second) = (first.min(second), first.max(second));
        let parts = [&model.energy[..first], &model.energy[first..second], &model.energy[second..]];
        let parts = parts.into_iter().filter(|part| !part.is_empty()).map(|part| part.join(" + "));
        inline.energy = parts.clone().map(|part| format!("({part})")).collect();
        other.energy = parts
            .enumerate()
            .map(|(index, part)| {
                other.defines.push((format!("part{index}"), part));
                format!("part{index}")
            })
            .collect();
        let (one, another) = (inline.declaration(), other.declaration());
        prop_assert_eq!(one.compile().listing(), another.compile().listing());
    }

    /// Coordinates and momenta are a state like any other, with J = [[0, I], [-I, 0]].
    #[test]
    fn a_canonical_system_is_a_poisson_system(model in canonical_model(0..=0)) {
        let mut other = model.clone();
        let compiled = model.declaration().compile();
        let dimension = compiled.derivation.dimension();
        let entry = |i: usize, j: usize| match (i + dimension / 2 == j, j + dimension / 2 == i) {
            (true, _) => "1",
            (_, true) => "-1",
            _ => "0",
        };
        let row = |i| (0..dimension).map(|j| entry(i, j)).collect::<Vec<_>>().join(", ");
        let matrix = (0..dimension).map(row).collect::<Vec<_>>().join("; ");
        other.state = model.state.replace("coordinates(", "state(").replace("), momenta(", ", ");
        other.poisson = Some(format!("poisson = matrix![{matrix}]"));
        same(&model, &other)?;
    }
}

/// Whether two models are one system under their names.
fn same(one: &Model, other: &Model) -> Result<(), TestCaseError> {
    compare(one, other, |_, _, value| Some(value))
}

/// Whether each entry of each function of `other` is what `expected` makes of the entry of `one`; entries without expectation are
/// not looked at.
fn compare(one: &Model, other: &Model, expected: impl Fn(&str, &str, f64) -> Option<f64>) -> Result<(), TestCaseError> {
    let (one, other) = (one.declaration(), other.declaration());
    let (first, second) = (one.compile(), other.compile());
    for seed in SEEDS {
        agree(&outcome(&first, seed, None), &outcome(&second, seed, None), &expected)
            .map_err(|error| failure(&one, &other, &error))?;
    }
    Ok(())
}

fn failure(one: &Declaration, other: &Declaration, error: &str) -> TestCaseError {
    TestCaseError::fail(format!("{error}\n{}\n{}", one.attribute, other.attribute))
}

/// What every function returns, by names.
type Outcome = BTreeMap<&'static str, BTreeMap<String, f64>>;

fn agree(one: &Outcome, other: &Outcome, expected: impl Fn(&str, &str, f64) -> Option<f64>) -> Result<(), String> {
    for (function, entries) in one {
        let others = &other[function];
        let names = |entries: &BTreeMap<String, f64>| entries.keys().cloned().collect::<Vec<_>>();
        if names(entries) != names(others) {
            return Err(format!("{function}: {:?} and {:?}", names(entries), names(others)));
        }
        let pairs = entries.iter().filter_map(|(name, &value)| Some((others[name], expected(function, name, value)?)));
        let (obtained, expected): (Vec<f64>, Vec<f64>) = pairs.unzip();
        let error = relative_error(&obtained, &expected);
        let tolerance = if *function == "projection" { PROJECTION_TOLERANCE } else { TOLERANCE };
        if error.is_nan() || error > tolerance {
            return Err(format!(
                "{function} is off by {error:e}: {obtained:?} for {expected:?} of {:?}",
                names(entries)
            ));
        }
    }
    Ok(())
}

/// Evaluates all programs; `fixed` is a parameter with its value.
fn outcome(compiled: &Compiled, seed: u64, fixed: Option<(&str, f64)>) -> Outcome {
    let derivation = &compiled.derivation;
    let symbols: Vec<&str> = derivation.symbols.rows().map(|symbol| symbol.name.as_str()).collect();
    let value = |index: usize| match fixed {
        Some((name, value)) if name == symbols[index] => value,
        _ => number(symbols[index], seed),
    };
    let states: Vec<&str> = derivation.symbols.states().map(|state| derivation.symbols[state].name.as_str()).collect();
    let integrals: Vec<String> = derivation.integrals.rows().map(|integral| integral.name.clone()).collect();
    let programs = &compiled.programs;
    let prepared = run(&programs.prepare, &[], value, |_| Vec::new());
    let law = |values: &[f64]| {
        let weighed = integrals.iter().zip(values);
        weighed.map(|(name, value)| number(name, seed + 100) * (value - number(name, seed + 200))).collect()
    };
    let law = normalised(programs, &prepared, law);
    let at = |program: &Program| run(program, &prepared, value, &law);
    let (here, jacobian) = (at(&programs[&program::INTEGRALS]), at(&programs[&program::JACOBIAN]));
    let violation = |values: &[f64]| -> Vec<f64> {
        let rows = jacobian.chunks(states.len()).zip(values.iter().zip(&here));
        let along =
            |row: &[f64]| row.iter().zip(&states).map(|(entry, name)| entry * number(name, seed + 300)).sum::<f64>();
        rows.map(|(row, (value, here))| along(row) + value - here).collect()
    };
    let projection = run(&programs[&program::PROJECTION], &prepared, value, violation);
    let names = |names: &[&str]| names.iter().map(|&name| name.to_owned()).collect::<Vec<String>>();
    let rows = integrals.iter().flat_map(|row| states.iter().map(move |column| format!("{row} by {column}")));
    let outputs = derivation.outputs.iter().map(|output| output.name.clone()).collect();
    let all = [
        ("vector_field", names(&states), at(&programs[&program::VECTOR_FIELD])),
        ("integrals", integrals.clone(), here.clone()),
        ("integrals_jacobian", rows.collect(), jacobian.clone()),
        ("multipliers", integrals.clone(), at(&programs[&program::MULTIPLIERS])),
        ("outputs", outputs, at(&programs[&program::OUTPUTS])),
        ("potential_gradient", names(&states), at(&programs[&program::POTENTIAL_GRADIENT])),
        ("feedback_field", names(&states), at(&programs[&program::FEEDBACK_FIELD])),
        ("projection", names(&states), projection),
    ];
    all.into_iter().map(|(function, names, values)| (function, names.into_iter().zip(values).collect())).collect()
}

/// A number in (0.5, 1.5) that depends on a name.
fn number(name: &str, seed: u64) -> f64 {
    let hash = name.bytes().fold(seed, |hash, byte| hash.wrapping_mul(0x0100_0000_01b3) ^ u64::from(byte));
    Random::new(hash).between(0.5, 1.5)
}

/// Without white space and the commas before it, which depend on the lengths of names.
fn unbroken(source: &str) -> String {
    let text: String = source.split_whitespace().collect();
    text.replace(",)", ")").replace(",]", "]").replace(",>", ">").replace(",}", "}")
}

/// The code with the names of values numbered in the order in which they occur: of prepared ones (`c_4ac`, `__c_4ac`), and within each
/// function of the others (`__t29j`).
fn numbered(source: &str) -> String {
    let (mut prepared, mut temporaries, mut text) = (BTreeMap::new(), BTreeMap::new(), String::new());
    for word in source.split_inclusive(|c: char| !c.is_ascii_alphanumeric() && c != '_') {
        let name = word.trim_end_matches(|c: char| !c.is_ascii_alphanumeric() && c != '_');
        if name == "fn" {
            temporaries.clear();
        }
        let hash = ["__t", "__c_", "c_"].into_iter().find_map(|start| Some((start, name.strip_prefix(start)?)));
        match hash.filter(|(_, hash)| hash.starts_with(|c: char| c.is_ascii_digit())) {
            Some((start, hash)) => {
                let numbers = if start == "__t" { &mut temporaries } else { &mut prepared };
                let next = numbers.len();
                let number = numbers.entry(hash.to_owned()).or_insert(next);
                text += &word.replace(hash, &format!("#{number}"));
            }
            None => text += word,
        }
    }
    text
}

/// The names of the state, of parameters, of definitions and of integrals in a declaration.
fn collect_names(attribute: &TokenStream, names: &mut Vec<String>) {
    const GIVEN: [&str; 24] = [
        "q", "p", "u", "v", "w", "pu", "pv", "pw", "x", "m", "g", "k", "l", "rod", "rod0", "rod1", "place", "motion",
        "momentum", "form", "turn", "casimir", "sphere", "i",
    ];
    for token in attribute.clone() {
        match token {
            TokenTree::Group(group) => collect_names(&group.stream(), names),
            TokenTree::Ident(ident) => {
                let text = ident.to_string();
                if GIVEN.contains(&text.as_str()) && !names.contains(&text) {
                    names.push(text);
                }
            }
            _ => {}
        }
    }
}

/// Every identifier by its new name, also where an index follows it: `a_0` is an entry of `a`.
fn rename(tokens: TokenStream, names: &BTreeMap<String, String>) -> TokenStream {
    let token = |token| match token {
        TokenTree::Group(group) => TokenTree::Group(Group::new(group.delimiter(), rename(group.stream(), names))),
        TokenTree::Ident(ident) => {
            let text = ident.to_string();
            // Variables of generated code are reserved names made of a name and an index.
            let (reserved, name) = text.strip_prefix("__").map_or(("", text.as_str()), |name| ("__", name));
            let (stem, index) = name.split_once('_').map_or((name, None), |(stem, index)| (stem, Some(index)));
            match (names.get(stem), index) {
                (Some(new), None) => TokenTree::Ident(Ident::new(&format!("{reserved}{new}"), ident.span())),
                (Some(new), Some(index)) => {
                    TokenTree::Ident(Ident::new(&format!("{reserved}{new}_{index}"), ident.span()))
                }
                (None, _) => TokenTree::Ident(ident),
            }
        }
        other => other,
    };
    tokens.into_iter().map(token).collect()
}

/// Every occurrence of a name replaced.
fn substitute(tokens: TokenStream, name: &str, number: &TokenStream) -> TokenStream {
    let token = |token| match token {
        TokenTree::Group(group) => {
            TokenTree::Group(Group::new(group.delimiter(), substitute(group.stream(), name, number))).into()
        }
        TokenTree::Ident(ident) if ident == name => number.clone(),
        other => TokenStream::from(other),
    };
    tokens.into_iter().map(token).collect()
}

/// The struct without one of its fields.
fn without_field(declaration: &Declaration, name: &str) -> TokenStream {
    let mut item: syn::ItemStruct = syn::parse2(declaration.item.clone()).expect("a struct");
    if let syn::Fields::Named(fields) = &mut item.fields {
        let kept = fields.named.iter().filter(|field| field.ident.as_ref().is_some_and(|ident| ident != name));
        fields.named = kept.cloned().collect();
    }
    quote::quote!(#item)
}
