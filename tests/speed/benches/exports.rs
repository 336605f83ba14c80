//! The exported C of a field beside the emitted Rust: time of an evaluation, in turns in one run, and size of the compiled library for a
//! linker that drops what nobody calls. Both are compiled for the machine at hand:
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=native" cargo bench -p fbint-speed --bench exports --target x86_64-unknown-linux-gnu
//! ```
#![allow(missing_docs)]

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::hint::black_box;
use std::path::Path;
use std::process::Command;
use std::time::Instant;

use fbint_export::Export;
use fbint_macros_core::text::models_of_package;
use fbint_runtime::{Entries, GeneratedSystem, PreparedSystem, Vector};
use models::{
    CartPendulum, CartPole, DrivenFourBar, DrivenPendulum, EulerTop, FourBar, FreeRigidBody, HamelPendulum,
    KapitzaPendulum, Kepler, PlanarPendulum, RollerRacer, RollingDisk, RotatingHoop, SphericalPendulum,
};
use syn::spanned::Spanned;

/// The number of turns, and of parts of each. The fastest part counts: so short that nothing else on the machine interrupts it.
const TURNS: usize = 10;
const PARTS: usize = 100;
const EVALUATIONS: usize = 2_000;

/// Evaluates the field of a state that the last evaluation has moved by a trifle.
const PROGRAM: &str = r#"
#include <stdio.h>
#include <time.h>
#include "NAME.h"

static double now(void)
{
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

int main(void)
{
    static NAME_system system;
    static NAME_parameters parameters;
    double x[STATES + 1], rates[STATES + 1], least = 1e9;
    int part, count, i;
    NAME_default_parameters(&parameters);
    NAME_prepare(&parameters, &system);
    for (i = 0; i < STATES; ++i) {
        x[i] = 0.3 + 0.1 * i;
    }
    for (part = 0; part < PARTS; ++part) {
        const double begun = now();
        double time;
        for (count = 0; count < EVALUATIONS; ++count) {
            NAME_vector_field(&system, x, rates);
            x[0] = 0.3 + 1e-9 * rates[0];
        }
        time = now() - begun;
        least = time < least ? time : least;
    }
    printf("%.17g\n", least);
    return x[0] == 0;
}
"#;

fn main() -> Result<(), Box<dyn Error>> {
    println!("{:<20} {:>12} {:>12} {:>7} {:>14}", "ns per evaluation", "Rust", "C", "ratio", "C, bytes");
    let mut ratios = [
        compare::<SphericalPendulum>("spherical_pendulum.rs")?,
        compare::<PlanarPendulum>("planar_pendulum.rs")?,
        compare::<FourBar>("four_bar.rs")?,
        compare::<Kepler>("kepler.rs")?,
        compare::<CartPole>("cart_pole.rs")?,
        compare::<CartPendulum>("cart_pendulum.rs")?,
        compare::<DrivenPendulum>("driven_pendulum.rs")?,
        compare::<DrivenFourBar>("driven_four_bar.rs")?,
        compare::<EulerTop>("euler_top.rs")?,
        compare::<FreeRigidBody>("free_rigid_body.rs")?,
        compare::<HamelPendulum>("hamel_pendulum.rs")?,
        compare::<KapitzaPendulum>("kapitza_pendulum.rs")?,
        compare::<RollingDisk>("nonholonomic/rolling_disk.rs")?,
        compare::<RollerRacer>("nonholonomic/roller_racer.rs")?,
        compare::<RotatingHoop>("rotating_hoop.rs")?,
    ];
    ratios.sort_by(f64::total_cmp);
    println!("{:<20} {:>33.2}", "median", ratios[ratios.len() / 2]);
    Ok(())
}

/// The time of C / that of Rust.
fn compare<S: GeneratedSystem + Default>(file: &str) -> Result<f64, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let bytes = compile::<S>(file, folder.path())?;
    let prepared = S::default().prepare();
    let (mut rust, mut c) = (f64::INFINITY, f64::INFINITY);
    for _ in 0..TURNS {
        let mut x: Vector<S> = Entries::from_fn(|entry| 0.3 + 0.1 * entry as f64);
        for _ in 0..PARTS {
            let begun = Instant::now();
            for _ in 0..EVALUATIONS {
                let rates = black_box(prepared.vector_field(black_box(&x)));
                x.as_mut()[0] = 0.3 + 1e-9 * rates.as_ref()[0];
            }
            rust = rust.min(begun.elapsed().as_secs_f64());
        }
        let printed = String::from_utf8(Command::new(folder.path().join("turn")).output()?.stdout)?;
        c = c.min(printed.trim().parse()?);
    }
    let [nanoseconds_of_rust, nanoseconds_of_c] = [rust, c].map(|seconds| seconds * 1e9 / EVALUATIONS as f64);
    let name = S::FACTS.name;
    println!("{name:<20} {nanoseconds_of_rust:>12.1} {nanoseconds_of_c:>12.1} {:>7.2} {bytes:>14}", c / rust);
    Ok(c / rust)
}

/// Compiles the program of a turn, and returns the size of the code that `-Os` makes of the whole library.
fn compile<S: GeneratedSystem + Default>(file: &str, folder: &Path) -> Result<usize, Box<dyn Error>> {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../models");
    let text = declaration(&fs::read_to_string(package.join("src").join(file))?, S::FACTS.name)?;
    let models = models_of_package(&text, &package).map_err(|mistakes| format!("{mistakes:?}"))?;
    let model = models.first().ok_or("no model")?;
    let system = S::default();
    let parameters: Vec<f64> =
        (0..S::FACTS.parameter_names.len()).filter_map(|place| system.parameter(place)).collect();
    let start = vec![0.0; S::FACTS.state.len()];
    let export = Export::new(model, &parameters, &start);
    for file in export.c() {
        fs::write(folder.join(file.name), file.text)?;
    }
    let name = export.prefix();
    let mut program = PROGRAM.replace("NAME", name);
    for (constant, value) in [("STATES", start.len()), ("EVALUATIONS", EVALUATIONS), ("PARTS", PARTS)] {
        program = program.replace(constant, &value.to_string());
    }
    fs::write(folder.join("turn.c"), program)?;
    let library = format!("{name}.c");
    let machine: &[&str] = if cfg!(target_feature = "fma") { &["-march=native"] } else { &[] };
    let cc = |arguments: &[&str]| -> Result<(), Box<dyn Error>> {
        let mut cc = Command::new("cc");
        cc.args(["-std=gnu99", "-ffp-contract=off"]).args(machine).args(arguments).current_dir(folder);
        let output = cc.output()?;
        if output.status.success() { Ok(()) } else { Err(String::from_utf8_lossy(&output.stderr).into()) }
    };
    cc(&["-O3", "-o", "turn", "turn.c", &library, "-lm"])?;
    cc(&["-Os", "-c", "-o", "library.o", &library])?;
    let sizes = Command::new("size").arg(folder.join("library.o")).output()?;
    let sizes = String::from_utf8(sizes.stdout)?;
    let text = sizes.lines().nth(1).and_then(|line| line.split_whitespace().next()).ok_or("no size")?;
    Ok(text.parse()?)
}

/// The attribute and the struct of a model, cut out of its file.
fn declaration(file: &str, name: &str) -> Result<String, Box<dyn Error>> {
    let mut found = String::new();
    for item in syn::parse_file(file)?.items {
        if let syn::Item::Struct(item) = item
            && item.ident == name
        {
            write!(found, "{}", &file[item.span().byte_range()])?;
        }
    }
    Ok(found)
}
