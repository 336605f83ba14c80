//! Derivations that are kept as text: what is read back is what was written, and nothing else is believed.
#![allow(missing_docs)]
mod crates;
mod folder;
mod mutations;

use fbint_macros_core::prepared::{Surroundings, contradiction, read, write};
use fbint_tests::compiler::Declaration;

#[test]
fn what_is_written_is_read_back_and_believed() {
    for declaration in [Declaration::shipped(), Declaration::others()].concat() {
        let (problem, text) = (declaration.elaborate().problem, declaration.kept());
        let prepared = read(&text, &problem).unwrap_or_else(|damage| panic!("{}: {damage}\n{text}", declaration.name));
        assert_eq!(contradiction(&problem, &prepared), None, "{}", declaration.name);
        assert_eq!(write(&problem, None, &prepared, &declaration.text("EQUATIONS")), text, "{}", declaration.name);
    }
}

#[test]
fn the_longest_chain_takes_little_room() {
    let text = Declaration::of_system("Chain32").kept();
    assert!(text.len() < 1 << 20, "{} bytes", text.len());
}

/// What the models' package keeps is what algebra gives today, and the code made from it is the same, but for whose word a proof is.
#[test]
fn shipped_derivations_are_current_and_give_the_same_code() {
    let package = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../models");
    for declaration in Declaration::shipped() {
        let surroundings = Surroundings { package: Some(package.clone()), ..Surroundings::nowhere() };
        let (derived, kept) = (declaration.expand().to_string(), declaration.expand_in(&surroundings).to_string());
        assert!(!kept.contains("compile_error"), "{}: {kept}", declaration.name);
        let kept = kept.replace("Evidence :: Kept", "Evidence :: Algebra").replace(", says the kept derivation", "");
        let rest = kept.strip_prefix(&derived).unwrap_or_else(|| panic!("{}: another code", declaration.name));
        assert!(rest.contains("include_bytes"), "{} was derived", declaration.name);
    }
}
