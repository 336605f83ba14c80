//! How long the search for further integrals takes, unoptimised, as it is in the builds of users.
//!
//! `cargo bench -p fbint-tests --profile dev --bench search` prints, for each shipped model, each system of the tests and some larger
//! systems, the entries of the state, the degree, the number of unknowns, the points at which the field was evaluated, what was found, and
//! seconds, best of three. A name after `--` selects one system.
#![allow(missing_docs)]

use std::time::Instant;

use fbint_macros_core::derivation::Further;
use fbint_macros_core::proofs;
use fbint_tests::compiler::Declaration;

fn main() {
    let chosen = std::env::args().skip(1).find(|argument| !argument.starts_with('-'));
    let is_chosen = |declaration: &Declaration| chosen.as_ref().is_none_or(|name| *name == declaration.name);
    let unasked = [Declaration::shipped(), Declaration::others(), medium(), large()].concat();
    println!("| system | entries | degree | unknowns | points | found | s |\n|---|---|---|---|---|---|---|");
    for declaration in unasked.iter().filter(|declaration| is_chosen(declaration)) {
        print(declaration, None);
    }
    for declaration in medium().iter().filter(|declaration| is_chosen(declaration)) {
        print(declaration, Some(4));
    }
}

fn print(declaration: &Declaration, degree: Option<usize>) {
    let derivation = declaration.compile().derivation;
    let search = || {
        let start = Instant::now();
        let further = proofs::further(&derivation, degree);
        (start.elapsed().as_secs_f64(), further)
    };
    let (first, Further { found, searched, .. }) = search();
    let repeated = if first < 1.0 { 2 } else { 0 };
    let seconds = (0..repeated).map(|_| search().0).fold(first, f64::min);
    let (name, entries, found) = (&declaration.name, derivation.dimension(), found.len());
    match searched {
        Some(searched) => println!(
            "| {name} | {entries} | {} | {} | {} | {found} | {seconds:.3} |",
            searched.degree, searched.unknowns, searched.points
        ),
        None => println!("| {name} | {entries} | | | | | {seconds:.3} |"),
    }
}

fn one(name: &str, attribute: &str) -> Declaration {
    Declaration::one(&format!("#[feedback_system({attribute})] pub struct {name} {{ pub m: f64, pub k: f64 }}"))
}

/// Particles on a line with springs that harden.
fn lattice(particles: usize) -> Declaration {
    let springs: Vec<String> = (1..particles).map(|i| format!("k * (q[{i}] - q[{}]).powi(4) / 4", i - 1)).collect();
    one(
        &format!("Lattice{particles}"),
        &format!(
            "coordinates(q: [{particles}]), momenta(p: [{particles}]),
            hamiltonian = p.norm_squared() / (2 * m) + q.norm_squared() / 2 + {}",
            springs.join(" + ")
        ),
    )
}

/// Bodies that attract each other.
fn bodies(count: usize, dimension: usize) -> Declaration {
    let list = |letter: &str| -> String {
        (0..count).map(|i| format!("{letter}{i}: [{dimension}]")).collect::<Vec<_>>().join(", ")
    };
    let kinetic: Vec<String> = (0..count).map(|i| format!("p{i}.norm_squared() / (2 * m)")).collect();
    let pairs = (0..count).flat_map(|i| (0..i).map(move |j| format!(" - k / (q{i} - q{j}).norm()")));
    one(
        &format!("Bodies{count}In{dimension}"),
        &format!(
            "coordinates({}), momenta({}), hamiltonian = {}{}",
            list("q"),
            list("p"),
            kinetic.join(" + "),
            pairs.collect::<String>()
        ),
    )
}

/// An isotropic oscillator.
fn isotropic(dimension: usize) -> Declaration {
    one(
        &format!("Isotropic{dimension}"),
        &format!(
            "coordinates(q: [{dimension}]), momenta(p: [{dimension}]),
            hamiltonian = p.norm_squared() / (2 * m) + k * q.norm_squared() / 2"
        ),
    )
}

/// Systems of 8 and 12 entries.
fn medium() -> Vec<Declaration> {
    vec![lattice(4), bodies(2, 2), isotropic(4), lattice(6), bodies(3, 2), bodies(2, 3)]
}

/// Systems of 16 to 24 entries.
fn large() -> Vec<Declaration> {
    vec![lattice(8), lattice(12), bodies(4, 2), bodies(4, 3), isotropic(12)]
}
