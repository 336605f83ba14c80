//! How long the compiler takes for each shipped model and each system of the tests, unoptimised, in a process that has
//! compiled nothing before.
//!
//! `cargo bench -p fbint-tests --profile dev --bench derivation` prints it: the whole of `#[feedback_system]`, from tokens to
//! tokens. The process starts itself again for each model. The derivation is then read from the text that is kept of it, and checked.
//! The operations of the field are printed, too.
#![allow(missing_docs)]

use std::time::Instant;

use fbint_macros_core::prepared::{read, verify_kept};
use fbint_macros_core::program::VECTOR_FIELD;
use fbint_tests::compiler::{Declaration, counted, open_chain};

fn main() {
    let open_chains = [2, 4, 8].map(|links| Declaration::one(&open_chain(links))).to_vec();
    let declarations = [Declaration::shipped(), Declaration::others(), open_chains].concat();
    match std::env::var("FBINT_TESTS_DERIVE") {
        Ok(name) => {
            let declaration = declarations.iter().find(|declaration| declaration.name == name);
            let declaration = declaration.unwrap_or_else(|| panic!("no model `{name}`"));
            println!("{name:24} {}", seconds(declaration));
        }
        Err(_) => {
            for declaration in declarations {
                let program = std::env::current_exe().expect("the path of this program");
                let status = std::process::Command::new(program).env("FBINT_TESTS_DERIVE", &declaration.name).status();
                assert!(status.expect("this program runs").success(), "{}", declaration.name);
            }
        }
    }
}

fn seconds(declaration: &Declaration) -> String {
    let start = Instant::now();
    declaration.expand();
    let cold = start.elapsed().as_secs_f64();
    let start = Instant::now();
    declaration.expand();
    let warm = start.elapsed().as_secs_f64();
    let file = declaration.kept();
    let problem = declaration.elaborate().problem;
    let operations = counted(&declaration.compile().programs[&VECTOR_FIELD].operations());
    let start = Instant::now();
    let prepared = read(&file, &problem).expect("a derivation");
    let read = start.elapsed().as_secs_f64();
    let start = Instant::now();
    assert_eq!(verify_kept(&problem, prepared).err(), None);
    let checked = start.elapsed().as_secs_f64();
    let size = file.len() as f64 / 1e3;
    format!(
        "{cold:6.3} s cold, {warm:6.3} s a second time; {size:5.1} kB read in {read:.4} s, checked in {checked:.4} s; \
         field {operations}"
    )
}
