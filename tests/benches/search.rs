//! How long the search for further integrals takes, unoptimised, as it is in the builds of users.
//!
//! `cargo bench -p fbint-tests --profile dev --bench search` prints, for each shipped model, each system of the tests and some larger
//! systems, the entries of the state, the degree, the number of unknowns, the points at which the field was evaluated, how many integrals were
//! found, and CPU seconds, as Linux counts them, best of three. A name after `--` selects one system; what is over the limits of a search is
//! left out.
#![allow(missing_docs)]

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
        let start = cpu_seconds();
        let further = proofs::further(&derivation, degree);
        (cpu_seconds() - start, further)
    };
    let (first, Further { found, searched, .. }) = search();
    let repeated = if first < 1.0 { 2 } else { 0 };
    let seconds = (0..repeated).map(|_| search().0).fold(first, f64::min);
    let (name, entries, found) = (&declaration.name, derivation.dimension(), found.len());
    if let Ok(searched) = searched {
        println!(
            "| {name} | {entries} | {} | {} | {} | {found} | {seconds:.3} |",
            searched.degree, searched.unknowns, searched.points
        );
    }
}

/// What this thread has taken.
fn cpu_seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").expect("Linux counts what threads take");
    let nanoseconds = text.split(' ').next().and_then(|number| number.parse::<f64>().ok());
    nanoseconds.expect("a number of nanoseconds") / 1e9
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
