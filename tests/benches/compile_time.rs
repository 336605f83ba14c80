//! What a model costs to compile: the derivation and expansion in debug, the size of what is emitted, and rustc's time
//! for that in release; the machine instructions of the field with feedback; and both of the code that is derived without algebra.
//!
//! `cargo bench -p fbint-tests --profile dev --bench compile_time` prints a table of the shipped models and of chains of 4 to 32
//! links. Derivation and expansion are timed in a process that has compiled nothing before, so this one starts itself again; what
//! rustc compiles is a crate of the emitted code alone, with the field, a step of RK4 with feedback, the projection and the
//! integrals each instantiated once. Times are of the processor, on Linux, and minima over repetitions, for the machine may be
//! busy. Of rustc, which works in parallel, they are more than passes by the clock.
#![allow(missing_docs)]

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;
use std::{env, fs};

use fbint_macros_core::mechanics;
use fbint_macros_core::prepared::{self, BuildEnvironment, Order};
use fbint_tests::compiler::Declaration;
use proc_macro2::TokenStream;

/// The function whose machine instructions are counted.
const COUNTED: &str = "feedback_field";
/// Names the model to expand in this process.
const EXPAND: &str = "FBINT_TESTS_EXPAND";
const EXPANSIONS: usize = 5;
const COMPILATIONS: usize = 3;

fn main() {
    match env::var(EXPAND) {
        Ok(name) => drop(Declaration::of_system(&name).expand()),
        Err(_) => tabulate(&Declaration::shipped()),
    }
}

fn tabulate(declarations: &[Declaration]) {
    let folder = env::temp_dir().join(format!("fbint-compile-time-{}", std::process::id()));
    fs::create_dir_all(&folder).expect("a folder for the crates");
    let runtime = runtime();
    println!(
        "| model | states | integrals | derivation and expansion, s | emitted, kB | rustc, s | | instructions of the field | |"
    );
    println!("|---|---|---|---|---|---|---|---|---|");
    for declaration in declarations {
        let expansion = least(EXPANSIONS, || cold_expansion(&declaration.name));
        let compiled = declaration.compile();
        let (states, integrals) = (compiled.derivation.dimension(), compiled.derivation.integrals.len());
        let both = [declaration.expand(), without_algebra(declaration, &folder)].map(|expansion| {
            let file = folder.join("model.rs");
            fs::write(&file, scratch(declaration, &expansion)).expect("the crate is written");
            let compilation = least(COMPILATIONS, || compile(&file, &folder, &runtime, &[]));
            (compilation, instructions(&file, &folder, &runtime))
        });
        let (name, kilobytes) = (&declaration.name, declaration.text("source").len() as f64 / 1e3);
        let [(compilation, count), (other_compilation, other_count)] = both;
        println!(
            "| {name} | {states} | {integrals} | {expansion:.2} | {kilobytes:.1} | {compilation:.2} | {other_compilation:.2} \
             | {count} | {other_count} |"
        );
    }
    fs::remove_dir_all(&folder).expect("the crates are removed");
}

/// What the macro expands to where a package keeps the derivation that is made without algebra.
fn without_algebra(declaration: &Declaration, folder: &Path) -> TokenStream {
    let problem = declaration.elaborate().problem;
    let derivation = mechanics::prepare(&problem).expect("a derivation");
    let kept = folder.join("derivations");
    fs::create_dir_all(&kept).expect("a folder for derivations");
    let file = kept.join(format!("{}-{}.txt", problem.name, &prepared::key(&problem)[..16]));
    fs::write(file, prepared::write(&problem, None, &derivation, "")).expect("the derivation is written");
    let environment = BuildEnvironment {
        package: Some(folder.to_owned()),
        name: "models".to_owned(),
        source: None,
        order: Ok(Order::Use),
        ..BuildEnvironment::nowhere()
    };
    let expansion = declaration.expand_in(&environment);
    assert!(expansion.to_string().contains("include_bytes"), "{}: the derivation is not used", problem.name);
    expansion
}

/// The machine instructions of the field with feedback for x86-64-v3. It has no branches, so that each is executed once; a call of a
/// function such as a sine counts as one.
fn instructions(file: &Path, folder: &Path, runtime: &Path) -> usize {
    compile(file, folder, runtime, &["-C", "target-cpu=x86-64-v3", "--emit", "asm"]);
    let assembly = fs::read_to_string(folder.join("model.s")).expect("assembly");
    let of_wrapper = |line: &&str| line.starts_with("_ZN") && line.contains(COUNTED) && line.ends_with("E:");
    let label = assembly.lines().find(of_wrapper).unwrap_or_else(|| panic!("no function {COUNTED}"));
    instructions_of(&assembly, label)
}

/// The instructions of a function, and of a long field that it calls.
fn instructions_of(assembly: &str, label: &str) -> usize {
    let lines = assembly.lines().skip_while(|line| *line != label).skip(1);
    let lines = lines.take_while(|line| !line.starts_with(".Lfunc_end"));
    let is_instruction = |line: &&str| line.starts_with('\t') && !line.starts_with("\t.");
    let own = |line: &str| line.split_whitespace().find_map(|word| word.starts_with("_ZN").then(|| format!("{word}:")));
    let called = |line: &str| own(line).filter(|name| assembly.lines().any(|line| line == name));
    lines.filter(is_instruction).map(|line| 1 + called(line).map_or(0, |name| instructions_of(assembly, &name))).sum()
}

fn least(repetitions: usize, measure: impl Fn() -> f64) -> f64 {
    (0..repetitions).map(|_| measure()).fold(f64::INFINITY, f64::min)
}

/// Seconds for the first expansion in a process.
fn cold_expansion(name: &str) -> f64 {
    seconds(Command::new(env::current_exe().expect("the path of this program")).env(EXPAND, name))
}

/// Seconds that a command takes: of the processor, where Linux tells them, else by the clock on the wall.
fn seconds(command: &mut Command) -> f64 {
    let (begun, before) = (Instant::now(), children());
    let output = command.output().expect("the command runs");
    let by_the_clock = begun.elapsed().as_secs_f64();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    before.zip(children()).map_or(by_the_clock, |(before, after)| after - before)
}

/// Seconds of the processor that processes which this one started, and waited for, have taken altogether.
fn children() -> Option<f64> {
    const TICKS_PER_SECOND: f64 = 100.0;
    let status = fs::read_to_string("/proc/self/stat").ok()?;
    // What follows the name, which may have spaces in it, begins with the third field; these are the 16th and 17th.
    let fields: Vec<&str> = status.rsplit_once(')')?.1.split_whitespace().collect();
    let ticks: f64 = fields.get(13..15)?.iter().map(|field| field.parse::<f64>().ok()).sum::<Option<f64>>()?;
    Some(ticks / TICKS_PER_SECOND)
}

/// A crate with the struct, what the macro makes of it, and its functions instantiated.
fn scratch(declaration: &Declaration, expansion: &TokenStream) -> String {
    let (name, item) = (&declaration.name, &declaration.item);
    // The expansion has the struct in it, as the attribute's does.
    let item =
        if expansion.to_string().contains(&format!("struct {name} ")) { String::new() } else { item.to_string() };
    format!(
        "{item}\n{expansion}
        // What the declarations name.
        #[allow(unused_imports)]
        use fbint_runtime::nalgebra::{{Matrix3, Vector3}};
        use fbint_runtime::{{Error, Feedback, FeedbackSystem, Gains, PreparedSystem, Projection, Projector, Vector}};
        type State = Vector<{name}>;
        type Integrals = fbint_runtime::Integrals<{name}>;
        pub fn field(system: &{name}, x: &State) -> State {{ system.prepare().vector_field(x) }}
        pub fn integrals(system: &{name}, x: &State) -> Integrals {{ system.prepare().integrals(x) }}
        pub fn project(system: &{name}, targets: &Integrals, error: &State, x: &mut State) {{
            Projector::new(system, x, *targets, Projection::default()).project(error, x);
        }}
        #[inline(never)]
        pub fn {COUNTED}(field: &Feedback<{name}, fbint_runtime::Diagonal<{name}>>, x: &State, rate: &mut State) {{
            *rate = fbint_runtime::Field::value(field, x);
        }}
        pub fn rk4(system: &{name}, start: &State, x: &mut State, h: f64) -> Result<(), Error> {{
            Feedback::new(system, start, Gains::uniform(1.0))?.rk4_step(x, h);
            Ok(())
        }}"
    )
}

/// Seconds for the crate, as cargo's release profile compiles a library.
fn compile(file: &Path, folder: &Path, runtime: &Path, options: &[&str]) -> f64 {
    let rustc = env::var_os("RUSTC").unwrap_or_else(|| "rustc".into());
    let dependencies = runtime.with_file_name("deps");
    seconds(
        Command::new(rustc)
            .args(["--edition", "2024", "--crate-type", "lib", "-C", "opt-level=3", "-C", "embed-bitcode=no"])
            .args(["--emit", "dep-info,metadata,link"])
            // The expansion includes the file of its derivation.
            .env("CARGO_MANIFEST_DIR", folder)
            .arg("--extern")
            .arg(format!("fbint_runtime={}", runtime.display()))
            .arg("-L")
            .arg(format!("dependency={}", dependencies.display()))
            .arg("--out-dir")
            .arg(folder)
            .args(options)
            .arg(file),
    )
}

/// The runtime as a library, compiled in release.
fn runtime() -> PathBuf {
    let cargo = env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["build", "--locked", "--release", "-p", "fbint-runtime", "--features", "std", "--message-format=json"])
        .current_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
        .output()
        .expect("cargo runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let messages = String::from_utf8(output.stdout).expect("messages");
    // A path in JSON, of which none of the platforms that this bench runs on needs an escape.
    let mut paths = messages.split('"').filter(|text| text.ends_with("libfbint_runtime.rlib"));
    PathBuf::from(paths.next_back().expect("the runtime's library"))
}
