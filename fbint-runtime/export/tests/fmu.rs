//! FMUs by the functions of their library.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;
use std::process::Command;

use fbint_export::{Export, Version};
use fbint_macros_core::text::models;
use tempfile::tempdir;

use crate::advance::{BALL, LIMITED, RUBBED, SAMPLED};
use crate::c::{STRICT, compiler, run};

const PENDULUM: &str = "
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)), input(u, brake = -g * l * p[0]), force(p = vector![u + brake, 0]),
    output(tension = -2 * l * multiplier(length)), derivatives,
)]
struct Pendulum { m: f64, g: f64, l: f64 }";

/// The files of an archive whose files are stored as they are.
fn files_of(archive: &[u8]) -> Vec<(String, Vec<u8>)> {
    let number = |at: usize, length: usize| -> usize {
        archive[at..at + length].iter().rev().fold(0, |number, byte| number << 8 | usize::from(*byte))
    };
    let (mut files, mut at) = (Vec::new(), 0);
    while number(at, 4) == 0x0403_4b50 {
        let (length, name) = (number(at + 18, 4), number(at + 26, 2));
        let data = at + 30 + name;
        let name = String::from_utf8(archive[at + 30..data].to_vec()).expect("a name");
        assert_eq!(crc32fast::hash(&archive[data..data + length]) as usize, number(at + 14, 4), "{name}");
        files.push((name, archive[data..data + length].to_vec()));
        at = data + length;
    }
    files
}

/// The files of an FMU, and its token.
fn unpacked(fmu: &[u8], folder: &Path) -> String {
    let files = files_of(fmu);
    let description = String::from_utf8(files[0].1.clone()).expect("a text");
    for (name, bytes) in &files {
        if let Some(name) = name.strip_prefix("sources/") {
            fs::write(folder.join(name), bytes).expect("a file");
        }
    }
    let token = description.split("{").nth(1).and_then(|rest| rest.split('}').next()).expect("a token");
    format!("{{{token}}}")
}

#[test]
fn instances_keep_and_restore_their_states() {
    let Some(compiler) = compiler() else { return };
    let models = models(PENDULUM).expect("a model");
    let export = Export::new(&models[0], &[1.0, 9.81, 1.0], &[1.0, 0.0, 0.0, 0.0, 0.0]);
    for (version, number) in [(Version::Two, "-DFMI=2"), (Version::Three, "-DFMI=3")] {
        let fmu = export.fmu(version).expect("an FMU");
        assert_eq!(fmu.without_binary, None);
        assert_eq!(fmu.archive, export.fmu(version).expect("an FMU").archive, "equal models have equal FMUs");
        let folder = tempdir().expect("a folder");
        let token = unpacked(&fmu.archive, folder.path());
        let count = models[0].derivation.dimension();
        let list = (1..=count).fold(String::new(), |mut list, place| {
            let _ = write!(list, "{place}, ");
            list
        });
        let host = include_str!("host.c").replace("STATE_COUNT", &count.to_string()).replace("STATE_LIST", &list);
        // Behind the time, the states and their derivatives.
        let host = host.replace("LENGTH", &(1 + 2 * count + 2).to_string());
        let host = host.replace("INTEGRAL_COUNT", &models[0].derivation.integrals.len().to_string());
        fs::write(folder.path().join("host.c"), host.replace("TOKEN", &format!("\"{token}\""))).expect("a file");
        let mut compile = Command::new(compiler);
        compile.args(STRICT).args([number, "-g", "-fsanitize=address,undefined", "-o", "host"]);
        run(compile.args(["host.c", "fmu.c", "pendulum.c", "-lm"]).current_dir(folder.path()));
        run(&mut Command::new(folder.path().join("host")));
    }
}

/// Laws, events, samples and switches, alone and together.
#[test]
fn sources_have_no_warnings() {
    let Some(compiler) = compiler() else { return };
    for text in [BALL, RUBBED, LIMITED, &SAMPLED.replace("LATE", "1")] {
        let models = models(text).expect("a model");
        let export = Export::new(&models[0], &[1.0; 9], &[0.0; 9]);
        for version in [Version::Two, Version::Three] {
            let folder = tempdir().expect("a folder");
            unpacked(&export.fmu(version).expect("an FMU").archive, folder.path());
            let source = format!("{}.c", export.prefix());
            run(Command::new(compiler)
                .args(STRICT)
                .args(["-fsyntax-only", "fmu.c", &source])
                .current_dir(folder.path()));
        }
    }
}

/// Names that C, its headers, CMake or the templates have for something else; comments and numbers that C and XML write in other ways.
#[test]
fn names_and_texts_may_be_those_of_others() {
    let Some(compiler) = compiler() else { return };
    let parameters = "double NULL errno y0 j1 INFINITY I main FLT_MAX model_a hostile_a \u{3b8}";
    for name in ["Math", "Fmu", "Test", "State", "ModelCar", "Hostile", "F"] {
        let listed = |form: fn(&str) -> String| parameters.split(' ').map(form).collect::<String>();
        let text = format!(
            "/// A mass & a spring, <\"as is\">, /* in */ a comment /*/
            #[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + q.powi(2){} / 2, input(u), force(p = u),
            output(f = q), event(g = q))] struct {name} {{ {} }}",
            listed(|name| format!(" * {name}")),
            listed(|name| format!("{name}: f64, ")),
        );
        let models = models(&text).expect("a model");
        let export = Export::new(&models[0], &[f64::INFINITY; 12], &[1.0, 0.0, 0.0]);
        let folder = tempdir().expect("a folder");
        for file in [export.c(), export.casadi()].concat() {
            fs::write(folder.path().join(&file.name), file.text).expect("a file");
        }
        let files = ["", "_casadi"].map(|ending| format!("{}{ending}.c", export.prefix()));
        run(Command::new(compiler)
            .args(STRICT)
            .args(["-fsyntax-only", "main.c"])
            .args(&files)
            .current_dir(folder.path()));
        let cpp =
            ["-x", "c++", "-std=c++17", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-I.", "-fsyntax-only", &files[0]];
        run(Command::new(compiler).args(cpp).current_dir(folder.path()));
        for version in [Version::Two, Version::Three] {
            let fmu = export.fmu(version).expect("an FMU");
            assert_eq!(fmu.without_binary, None, "{name}");
            let description = String::from_utf8(files_of(&fmu.archive)[0].1.clone()).expect("a text");
            let about = "description=\"A mass &amp; a spring, &lt;&quot;as is&quot;&gt;, /* in */ a comment /*/\"";
            assert!(description.contains(about) && description.contains("start=\"INF\""), "{description}");
        }
    }
}
