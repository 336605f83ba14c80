//! One source gives equal bytes in fresh processes that differ in home, language, folders and in what they have
//! compiled before.
//!
//! The test starts its own executable again, with a filter that leaves one ignored test: [`emit_for_another_process`].

use std::env;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use fbint_runtime::GeneratedSystem;
use fbint_tests::amount;
use fbint_tests::compiler::Declaration;
use fbint_tests::systems::{FourBar, PlanarPendulum, SphericalPendulum, SphericalPendulumCpv22};

const MODELS: [&str; 3] = [
    include_str!("../models/src/spherical_pendulum.rs"),
    include_str!("../models/src/planar_pendulum.rs"),
    include_str!("../models/src/four_bar.rs"),
];
const SYSTEMS: &str = include_str!("systems.rs");
const OUTPUT: &str = "FBINT_TESTS_OUTPUT";
const COMPILED_BEFORE: &str = "FBINT_TESTS_COMPILED_BEFORE";

#[test]
fn fresh_processes_emit_identical_bytes() {
    let folder = env::temp_dir().join(format!("fbint-determinism-{}", std::process::id()));
    let texts: Vec<String> = (0..amount(3, 10)).map(|number| emit_in_fresh_process(&folder, number)).collect();
    fs::remove_dir_all(&folder).unwrap();
    for (number, text) in texts.iter().enumerate() {
        assert!(*text == texts[0], "process {number} emits something else");
    }
    // And it is what the macro emitted while this test was compiled.
    for part in [
        SphericalPendulum::FACTS.source,
        SphericalPendulumCpv22::FACTS.source,
        PlanarPendulum::FACTS.source,
        FourBar::FACTS.source,
        FourBar::FACTS.equations,
        FourBar::FACTS.derivation,
    ] {
        assert!(texts[0].contains(part));
    }
}

fn emit_in_fresh_process(folder: &Path, number: usize) -> String {
    let language = ["C", "en_US.UTF-8", "de_DE.UTF-8", "tr_TR.UTF-8", "ja_JP.UTF-8"][number % 5];
    let [home, temporary, current] = ["home", "temporary", "current"].map(|name| {
        let path = folder.join(number.to_string()).join(name);
        fs::create_dir_all(&path).unwrap();
        path
    });
    let output = folder.join(number.to_string()).join("output");
    let mut command = Command::new(env::current_exe().unwrap());
    command.args(["--exact", "determinism::emit_for_another_process", "--ignored", "--test-threads=1"]);
    command.env("HOME", home).env("TMPDIR", temporary).env("LANG", language).env("LC_ALL", language);
    command.env(OUTPUT, &output).env(COMPILED_BEFORE, number.to_string()).current_dir(current);
    let result = command.output().unwrap();
    assert!(result.status.success(), "{}", String::from_utf8_lossy(&result.stdout));
    fs::read_to_string(output).unwrap()
}

/// Compiles as many other systems as the number of its process, then the models, forwards or backwards.
#[test]
#[ignore = "run by the other test, in a process of its own"]
fn emit_for_another_process() {
    let output = PathBuf::from(env::var_os(OUTPUT).unwrap());
    let number: usize = env::var(COMPILED_BEFORE).unwrap().parse().unwrap();
    for system in Declaration::all(SYSTEMS).iter().take(number) {
        system.expand();
    }
    let models: Vec<Declaration> = MODELS.into_iter().flat_map(Declaration::all).collect();
    let mut texts: Vec<(usize, String)> = Vec::new();
    for step in 0..models.len() {
        let index = if number.is_multiple_of(2) { step } else { models.len() - 1 - step };
        let parts = ["source", "equations", "derivation"].map(|name| models[index].text(name));
        texts.push((index, format!("{}\n{}\n{}", parts.join("\n"), models[index].expand(), models[index].kept())));
    }
    texts.sort_unstable();
    let texts: Vec<String> = texts.into_iter().map(|(_, text)| text).collect();
    fs::write(output, texts.join("\n")).unwrap();
}
