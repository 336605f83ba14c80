//! Packages that are to be published: each can be packed, with its licences, its README and complete metadata, and needs nothing that is not
//! published. `.ci/run` builds each from what it packs.

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::Command;

use fbint_tests::workspaces::home;
use serde_json::Value;

const LICENCES: [&str; 2] = ["LICENSE-APACHE", "LICENSE-MIT"];

#[test]
fn every_package_is_packed_with_its_licences_and_metadata() -> Result<(), Box<dyn Error>> {
    let packages = published()?;
    let names: Vec<&str> = packages.iter().filter_map(|package| package["name"].as_str()).collect();
    assert!(names.len() > 8, "{names:?}");
    let selected: Vec<&str> = names.iter().flat_map(|name| ["-p", name]).collect();
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("packages");
    cargo(
        &[&["package", "--no-verify", "--target-dir", target.to_str().ok_or("a path in UTF-8")?], &selected[..]]
            .concat(),
    )?;
    for (package, name) in packages.iter().zip(&names) {
        for key in ["description", "license", "readme", "rust_version"] {
            assert!(package[key].as_str().is_some_and(|value| !value.is_empty()), "{name} has no `{key}`");
        }
        for key in ["keywords", "categories"] {
            let count = package[key].as_array().map_or(0, Vec::len);
            assert!((1..=5).contains(&count), "{name} has {count} {key}");
        }
        for dependency in package["dependencies"].as_array().into_iter().flatten().filter(|it| it["kind"] != "dev") {
            let needed = dependency["name"].as_str().ok_or("a dependency has a name")?;
            let is_published = dependency["path"].is_null() || names.contains(&needed);
            assert!(is_published && dependency["req"] != "*", "{name} needs {needed}, which no one can fetch");
        }
        let packed = cargo(&["package", "--list", "-p", name])?;
        let folder = Path::new(package["manifest_path"].as_str().ok_or("a manifest")?).parent().ok_or("a folder")?;
        for file in LICENCES {
            assert!(packed.lines().any(|line| line == file), "{name} is packed without {file}");
            assert!(fs::read(folder.join(file))? == fs::read(home().join(file))?, "{file} of {name} is another one");
        }
        assert!(packed.lines().any(|line| line == "README.md"), "{name} is packed without README.md");
    }
    Ok(())
}

/// The wheels of the Python modules have the licences: maturin takes those in the folder of a `pyproject.toml`.
#[test]
fn wheels_have_the_licences() -> Result<(), Box<dyn Error>> {
    for folder in ["fbint-runtime/python/wheel", "models/python"] {
        for file in LICENCES {
            assert!(
                fs::read(home().join(folder).join(file))? == fs::read(home().join(file))?,
                "{folder} has not {file}"
            );
        }
    }
    Ok(())
}

/// The tables of features name every feature of the runtime and of the command, and those by default, and none besides.
#[test]
fn the_tables_of_features_are_true() -> Result<(), Box<dyn Error>> {
    table_of_features("fbint-runtime", "fbint-runtime")?;
    table_of_features("fbint-command", "fbint-runtime/command")
}

fn table_of_features(name: &str, folder: &str) -> Result<(), Box<dyn Error>> {
    let packages = published()?;
    let package = packages.iter().find(|package| package["name"] == name).ok_or("there is no such package")?;
    let features = package["features"].as_object().ok_or("it has no features")?;
    let by_default: Vec<&str> =
        features["default"].as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let source = fs::read_to_string(home().join(folder).join("src/lib.rs"))?;
    let rows = source.lines().filter_map(|line| line.strip_prefix("//! | `")?.split(" | ").next());
    let mut listed: Vec<&str> = rows.filter(|row| row.ends_with('`') || row.ends_with("(default)")).collect();
    let mut expected: Vec<String> = features
        .keys()
        .filter(|name| *name != "default")
        .map(|name| format!("{name}`{}", if by_default.contains(&name.as_str()) { " (default)" } else { "" }))
        .collect();
    listed.sort_unstable();
    expected.sort_unstable();
    assert_eq!(listed, expected);
    Ok(())
}

/// The book says which items there are without the standard library.
#[test]
fn the_book_names_what_there_is_without_the_standard_library() -> Result<(), Box<dyn Error>> {
    let page = fs::read_to_string(home().join("book/src/how-to/embedded.md"))?;
    let source = fs::read_to_string(home().join("fbint-runtime/src/lib.rs"))?;
    let exports: Vec<&str> = source.split(';').collect();
    let rows = page.split("## Without `std`").nth(1).ok_or("no table")?.lines().filter(|line| line.starts_with("| `"));
    let mut count = 0;
    for (items, answer) in rows.filter_map(|row| row.trim_matches('|').split_once(" | ")) {
        for item in items.split('`').skip(1).step_by(2) {
            let names = |export: &&&str| {
                let words = |letter: char| !letter.is_alphanumeric() && letter != '_';
                export.contains("pub use ") && export.split(words).any(|word| word == item)
            };
            let export = exports.iter().find(names).ok_or_else(|| format!("{item} is not exported"))?;
            let needs_std = ["\"std\"", "\"ensemble\""].iter().any(|feature| export.contains(feature));
            assert_eq!(answer.starts_with("yes"), !needs_std, "{item}: {answer}");
            count += 1;
        }
    }
    assert!(count > 15, "{count} items");
    Ok(())
}

/// The packages of this workspace that may be published, as cargo describes them.
fn published() -> Result<Vec<Value>, Box<dyn Error>> {
    let metadata: Value = serde_json::from_str(&cargo(&["metadata", "--format-version", "1", "--no-deps"])?)?;
    let packages = metadata["packages"].as_array().ok_or("cargo names no packages")?.iter();
    Ok(packages.filter(|package| package["publish"].is_null()).cloned().collect())
}

/// What cargo prints in this workspace, of a tree in which something may not be committed.
fn cargo(arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let mut command = Command::new(env!("CARGO"));
    command.args(arguments).args(["--offline", "--quiet"]).current_dir(home());
    if arguments[0] == "package" {
        command.arg("--allow-dirty");
    }
    let output = command.output()?;
    assert!(output.status.success(), "cargo {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}
