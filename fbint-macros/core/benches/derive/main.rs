//! The CPU seconds from a declaration to verified programs, without computer algebra, and the operations of the field.
//!
//! `cargo bench -p fbint-macros-core --profile wheel` measures all declarations; words behind `--` select those whose names contain one, and
//! paths of files add their declarations.
//! BENCHMARKS.md has the table. The arms and the quadruped are written by a converter from their public URDFs.

use std::fs;
use std::path::Path;
use std::str::FromStr;
use std::thread;
use std::time::Instant;

use fbint_macros_core::compile;
use fbint_macros_core::prepared::BuildEnvironment;
use fbint_macros_core::program::VECTOR_FIELD;
use fbint_macros_core::syntax;
use fbint_macros_core::syntax::diagnostics::Errors;
use proc_macro2::TokenStream;

/// Derivations recurse.
const STACK: usize = 1 << 30;

fn main() {
    let meant: Vec<String> = std::env::args().skip(1).filter(|word| !word.starts_with('-')).collect();
    let (files, words): (Vec<String>, Vec<String>) = meant.into_iter().partition(|word| word.ends_with(".rs"));
    let is_meant = |name: &str| words.iter().any(|word| name.contains(word)) || words.is_empty() && files.is_empty();
    let own = declarations().into_iter().filter(|(name, _)| is_meant(name));
    let own = own.map(|(name, declaration)| (name.to_owned(), declaration));
    let given = files.iter().map(|file| (file.clone(), fs::read_to_string(file).expect("a file")));
    for (name, declaration) in own.chain(given) {
        let derived = thread::Builder::new().stack_size(STACK).spawn(move || derive(&declaration));
        let (seconds, outcome) = derived.expect("a thread").join().expect("no panic");
        println!("| {name} | {seconds:.2} | {outcome} |");
    }
}

/// The seconds that it takes, and what comes of it.
fn derive(declaration: &str) -> (f64, String) {
    let start = Instant::now();
    let (attribute, item) = split(declaration);
    let errors = Errors::new();
    let mut declaration = syntax::parse(attribute, item, &errors).expect("a struct");
    let environment = BuildEnvironment { algebra: false, ..BuildEnvironment::nowhere() };
    let outcome = match compile::model(&mut declaration, errors, &environment) {
        Ok(model) => {
            let count = model.programs[&VECTOR_FIELD].operations();
            let operations =
                count.additions + count.multiplications + 2 * count.fused + count.divisions + count.functions;
            format!("{operations} operations")
        }
        Err(error) => format!("refused: {error}"),
    };
    (seconds_on_cpu().unwrap_or(start.elapsed().as_secs_f64()), outcome)
}

/// The time that this thread has had, where the system tells.
fn seconds_on_cpu() -> Option<f64> {
    let text = fs::read_to_string("/proc/thread-self/schedstat").ok()?;
    Some(text.split_whitespace().next()?.parse::<f64>().ok()? * 1e-9)
}

/// The attribute's arguments, and the struct.
fn split(declaration: &str) -> (TokenStream, TokenStream) {
    let (_, rest) = declaration.split_once("#[feedback_system(").expect("an attribute");
    let (attribute, item) = rest.rsplit_once(")]").expect("the end of an attribute");
    (TokenStream::from_str(attribute).expect("tokens"), TokenStream::from_str(item).expect("tokens"))
}

fn declarations() -> Vec<(&'static str, String)> {
    let robot = |name: &str| read(&format!("../../../../tests/robots/{name}.rs"));
    let own = |name: &str| read(&format!("{name}.rs"));
    vec![
        ("UR5", robot("ur5")),
        ("Panda", robot("panda")),
        ("Kinova", robot("kinova")),
        ("SO-100", robot("so100")),
        ("xArm7", robot("xarm7")),
        ("Baxter", robot("baxter")),
        ("Go1", robot("go1")),
        ("Solo12", robot("solo12")),
        ("20 bodies", bodies(20, "")),
        ("100 bodies", bodies(100, "")),
        ("10 bodies with momenta", bodies(10, &momenta(10))),
        ("lattice of 200", lattice(200)),
        ("lattice of 1000", lattice(1000)),
        ("chain of 32", chain(32)),
        ("chain of 100", chain(100)),
        ("snake of 8", snake(8)),
        ("8 rods", rods(8)),
        ("bicycle", own("bicycle")),
        ("bicycle with derivatives", own("bicycle_derivatives")),
    ]
}

fn read(file: &str) -> String {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("benches/derive").join(file);
    fs::read_to_string(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

/// Bodies that attract each other.
fn bodies(n: usize, invariants: &str) -> String {
    format!(
        "#[feedback_system(coordinates(q: [3, {n}]), momenta(p: [3, {n}]),
            hamiltonian = (0..{n}).map(|i| p.column(i).norm_squared() / (2 * m)).sum()
                - (0..{n}).map(|i| (0..i).map(|j| g / (q.column(i) - q.column(j)).norm()).sum()).sum(),
            {invariants}
        )] struct Bodies {{ m: f64, g: f64 }}"
    )
}

fn momenta(n: usize) -> String {
    format!(
        "invariant(momentum = (0..{n}).map(|i| p.column(i)).sum(),
            angular_momentum = (0..{n}).map(|i| q.column(i).cross(&p.column(i))).sum()),"
    )
}

/// Fermi, Pasta, Ulam and Tsingou's lattice with fixed ends.
fn lattice(n: usize) -> String {
    let spring = |difference: &str| format!("({difference}).powi(2) / 2 + a * ({difference}).powi(3) / 3");
    format!(
        "#[feedback_system(coordinates(q: [{n}]), momenta(p: [{n}]),
            hamiltonian = p.norm_squared() / 2 + {} + (1..{n}).map(|i| {}).sum() + {},
        )] struct Lattice {{ a: f64 }}",
        spring("q[0]"),
        spring("q[i] - q[i - 1]"),
        spring(&format!("-q[{}]", n - 1))
    )
}

/// Point masses on massless links, the first of them anchored.
fn chain(n: usize) -> String {
    format!(
        "#[feedback_system(coordinates(q: [3, {n}]), momenta(p: [3, {n}]),
            hamiltonian = (0..{n}).map(|i| p.column(i).norm_squared() / (2 * m) + m * g * q[(2, i)]).sum(),
            constraint(anchor = q.column(0).norm_squared() - l.powi(2),
                link[i in 1..{n}] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2)),
        )] struct Chain {{ m: f64, g: f64, l: f64 }}"
    )
}

/// Links with a blade each, on the plane.
fn snake(n: usize) -> String {
    let x = "(vx + a * ((0..i).map(|k| w[k] * th[k].sin() + w[k + 1] * th[k + 1].sin()).sum()))";
    let y = "(vy - a * ((0..i).map(|k| w[k] * th[k].cos() + w[k + 1] * th[k + 1].cos()).sum()))";
    let m = n - 1;
    format!(
        "#[feedback_system(coordinates(x, y, th: [{n}]), velocities(vx, vy, w: [{n}]),
            lagrangian = m * (vx.powi(2) + vy.powi(2) + (1..{n}).map(|i| {x}.powi(2) + {y}.powi(2)).sum()) / 2
                + j * w.norm_squared() / 2,
            velocity_constraint(first = -th[0].sin() * vx + th[0].cos() * vy,
                blade[i in 1..{n}] = -th[i].sin() * {x} + th[i].cos() * {y}),
        )] struct Snake{m} {{ m: f64, a: f64, j: f64 }}"
    )
}

/// Rods in space on ball joints, turned by quaternions.
fn rods(n: usize) -> String {
    let list = |of: &dyn Fn(usize) -> String| (0..n).map(of).collect::<Vec<_>>().join(", ");
    let frame = |i: usize| {
        let (end, height) =
            if i == 0 { (String::new(), String::new()) } else { (format!("e{0} + ", i - 1), format!("h{}", i - 1)) };
        let below = if i + 1 == n {
            String::new()
        } else {
            format!(", e{i} = {end}r{i} * w{i}.cross(&vector![0, 0, -l]), h{i} = {height} - r{i}[(2, 2)] * l")
        };
        format!(
            "r{i} = matrix![
                q{i}[0].powi(2) + q{i}[1].powi(2) - q{i}[2].powi(2) - q{i}[3].powi(2),
                2 * (q{i}[1] * q{i}[2] - q{i}[0] * q{i}[3]), 2 * (q{i}[1] * q{i}[3] + q{i}[0] * q{i}[2]);
                2 * (q{i}[1] * q{i}[2] + q{i}[0] * q{i}[3]),
                q{i}[0].powi(2) - q{i}[1].powi(2) + q{i}[2].powi(2) - q{i}[3].powi(2),
                2 * (q{i}[2] * q{i}[3] - q{i}[0] * q{i}[1]);
                2 * (q{i}[1] * q{i}[3] - q{i}[0] * q{i}[2]), 2 * (q{i}[2] * q{i}[3] + q{i}[0] * q{i}[1]),
                q{i}[0].powi(2) - q{i}[1].powi(2) - q{i}[2].powi(2) + q{i}[3].powi(2)],
            v{i} = {end}r{i} * w{i}.cross(&vector![0, 0, -l / 2]), z{i} = {height} - r{i}[(2, 2)] * l / 2{below}"
        )
    };
    let turned = |i: usize| {
        format!(
            "q{i} = vector![-q{i}[1] * w{i}[0] - q{i}[2] * w{i}[1] - q{i}[3] * w{i}[2],
                q{i}[0] * w{i}[0] + q{i}[2] * w{i}[2] - q{i}[3] * w{i}[1],
                q{i}[0] * w{i}[1] + q{i}[3] * w{i}[0] - q{i}[1] * w{i}[2],
                q{i}[0] * w{i}[2] + q{i}[1] * w{i}[1] - q{i}[2] * w{i}[0]] / 2"
        )
    };
    let energy =
        |i: usize| format!("m * v{i}.norm_squared() / 2 + w{i}.dot(&j.component_mul(&w{i})) / 2 - m * g * z{i}");
    format!(
        "#[feedback_system(coordinates({}), velocities({}), define({}), kinematics({}), lagrangian = {}, constraint({}),
        )] struct Rods {{ m: f64, l: f64, g: f64, j: Vector3<f64> }}",
        list(&|i| format!("q{i}: [4]")),
        list(&|i| format!("w{i}: [3]")),
        list(&frame),
        list(&turned),
        (0..n).map(energy).collect::<Vec<_>>().join(" + "),
        list(&|i| format!("unit{i} = q{i}.norm_squared() - 1"))
    )
}
