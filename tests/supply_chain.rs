//! What ends up in a user's program: the runtime and what it depends on, under licences that ask for no more than attribution,
//! and nothing of the computer-algebra system, which the macro alone uses while it compiles.
//!
//! What the whole workspace is built with is the business of `deny.toml`.

use std::error::Error;
use std::path::Path;
use std::process::Command;

const PERMISSIVE: [&str; 7] =
    ["Apache-2.0", "Apache-2.0 WITH LLVM-exception", "BSD-2-Clause", "BSD-3-Clause", "MIT", "Unicode-3.0", "Zlib"];
const ALGEBRA: [&str; 3] = ["graphica", "numerica", "symbolica"];
const RUNTIME: &[&str] = &["-p", "fbint-runtime", "--all-features"];
const BUILD_TIME: [&str; 5] = ["fbint-macros", "fbint-macros-core", "graphica", "numerica", "symbolica"];

#[test]
fn a_program_holds_nothing_but_permissively_licensed_code() -> Result<(), Box<dyn Error>> {
    let linked = tree(RUNTIME, "normal,no-proc-macro")?;
    assert!(linked.iter().any(|(name, _)| name == "nalgebra"), "{linked:?}");
    for (name, licence) in &linked {
        assert!(!BUILD_TIME.contains(&name.as_str()), "{name} is linked into programs");
        assert!(is_permissive(licence), "{name} is linked under {licence:?}");
    }
    Ok(())
}

/// Models from text have the compiler in them, and no algebra, which is not even built.
#[test]
fn the_python_module_of_models_from_text_holds_no_algebra() -> Result<(), Box<dyn Error>> {
    let built = tree(&["-p", "fbint-wheel"], "normal,build")?;
    for expected in ["cranelift-codegen", "fbint-macros-core", "fbint-text", "pyo3"] {
        assert!(built.iter().any(|(name, _)| name == expected), "{expected} is missing among {built:?}");
    }
    for (name, licence) in &built {
        assert!(!ALGEBRA.contains(&name.as_str()), "{name} is built");
        assert!(is_permissive(licence), "{name} is built under {licence:?}");
    }
    Ok(())
}

/// What compares four methods and draws one figure is small.
#[test]
fn the_first_command_of_the_readme_builds_neither_command_nor_catalogue() -> Result<(), Box<dyn Error>> {
    let built = tree(&[], "normal,build")?;
    for expected in ["fbint-shipped-models", "fbint-runtime", "kuva"] {
        assert!(built.iter().any(|(name, _)| name == expected), "{expected} is missing among {built:?}");
    }
    assert!(!built.iter().any(|(name, _)| ["fbint-catalogue", "fbint-command"].contains(&name.as_str())), "{built:?}");
    Ok(())
}

fn is_permissive(licence: &str) -> bool {
    licence.split(" AND ").all(|part| {
        let mut choices = part.trim_matches(['(', ')']).split(" OR ").flat_map(|choice| choice.split('/'));
        choices.any(|choice| PERMISSIVE.contains(&choice.trim()))
    })
}

/// The question finds them in the tree of the build, which shows that it is the right question.
#[test]
fn the_macro_is_built_with_symbolica() -> Result<(), Box<dyn Error>> {
    let built = tree(RUNTIME, "normal")?;
    for expected in BUILD_TIME {
        assert!(built.iter().any(|(name, _)| name == expected), "{expected} is missing among {built:?}");
    }
    Ok(())
}

/// The names and licences of all that a package depends on.
fn tree(package: &[&str], edges: &str) -> Result<Vec<(String, String)>, Box<dyn Error>> {
    let output = Command::new(env!("CARGO"))
        .args(["tree", "--locked"])
        .args(package)
        .args(["--edges", edges, "--prefix", "none", "--no-dedupe", "--format", "{p}|{l}"])
        .current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the tests lie in a workspace")?)
        .output()?;
    if !output.status.success() {
        return Err(String::from_utf8_lossy(&output.stderr).into());
    }
    let mut packages = Vec::new();
    for line in String::from_utf8(output.stdout)?.lines() {
        let (package, licence) = line.split_once('|').ok_or("a package, a bar and a licence")?;
        let name = package.split_whitespace().next().ok_or("a package has a name")?;
        packages.push((name.to_owned(), licence.to_owned()));
    }
    packages.sort();
    packages.dedup();
    Ok(packages)
}
