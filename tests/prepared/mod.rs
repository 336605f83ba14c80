//! Derivations that are kept as text: the compiler reads back what it wrote, and refuses everything else.
//!
//! Files of all models give the same code again. Changed files and forgeries with a new checksum are refused unless they say the same;
//! so are hostile graphs. Folders, links and permissions are tested, and crates outside this workspace that follow the messages.

mod crates;
mod folder;
mod mutations;

use fbint_macros_core::prepared::{BuildEnvironment, read, verify_kept, write};
use fbint_tests::compiler::Declaration;
use fbint_tests::is_thorough;
use fbint_tests::workspaces::home;

#[test]
fn what_is_written_is_read_back_and_believed() {
    let shipped = Declaration::shipped().into_iter().map(|declaration| (declaration.shipped_file(), declaration));
    let with_velocities = Declaration::all(include_str!("../velocities/systems.rs"));
    let others = Declaration::others().into_iter().chain(with_velocities);
    for (text, declaration) in shipped.chain(others.map(|declaration| (declaration.kept(), declaration))) {
        let problem = declaration.elaborate().problem;
        let prepared = read(&text, &problem).unwrap_or_else(|damage| panic!("{}: {damage}\n{text}", declaration.name));
        assert_eq!(verify_kept(&problem, prepared.clone()).err(), None, "{}", declaration.name);
        let head = |start: &'static str| text.lines().filter_map(move |line| line.strip_prefix(start));
        let equations: Vec<&str> = head("#").map(|line| line.strip_prefix(' ').unwrap_or(line)).collect();
        let written = write(&problem, head("source ").next(), &prepared, &equations.join("\n"));
        assert_eq!(written, text, "{}", declaration.name);
    }
}

#[test]
fn the_longest_chain_takes_little_room() {
    let text = Declaration::of_system("Chain32").shipped_file();
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
}

/// What the models' package keeps is what algebra gives today, and the code made from it is the same. Chains of eight links stand for
/// those of more.
#[test]
fn shipped_derivations_are_current_and_give_the_same_code() {
    let package = home().join("models");
    let is_long = |declaration: &Declaration| ["Chain16", "Chain32"].contains(&&declaration.name[..]);
    let shipped = Declaration::shipped().into_iter();
    for declaration in shipped.filter(|declaration| is_thorough() || !is_long(declaration)) {
        let environment = BuildEnvironment { package: Some(package.clone()), ..BuildEnvironment::nowhere() };
        let (derived, kept) = (declaration.expand().to_string(), declaration.expand_in(&environment).to_string());
        assert!(!kept.contains("compile_error"), "{}: {kept}", declaration.name);
        let kept = kept.replace("Evidence :: Kept", "Evidence :: Algebra").replace(", says the kept derivation", "");
        let rest = kept.strip_prefix(&derived).unwrap_or_else(|| panic!("{}: another code", declaration.name));
        assert!(rest.contains("include_bytes"), "{} was derived", declaration.name);
    }
}
