//! The documents at the root of the repository say what is true of it, as far as that can be checked: they are short, the commands of
//! README.md run, the commands of all documents name what exists, links lead somewhere, the rooms and the arrows of ARCHITECTURE.md
//! are those of the code, and the worked example of the compiler's documentation is what it generates. Figures are in `figures`.
//!
//! The Rust of README.md is compiled and run by the doctests of `fbint-runtime`.

use std::collections::{BTreeMap, BTreeSet};
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;
use tempfile::tempdir;

use super::common::{blocks, fbint};

mod figures;

type Outcome = Result<(), Box<dyn Error>>;

const DOCUMENTS: [&str; 6] =
    ["README.md", "ARCHITECTURE.md", "BENCHMARKS.md", "CONTRIBUTING.md", "LICENCES.md", "TESTING.md"];
const MOST_LINES: [(&str, usize); 4] =
    [("README.md", 120), ("ARCHITECTURE.md", 200), ("BENCHMARKS.md", 450), ("CONTRIBUTING.md", 70)];
const MOST_WORDS_OF_TESTING: usize = 2000;
/// The packages all of whose rooms ARCHITECTURE.md names.
const WITH_ROOMS: [&str; 5] = [
    "fbint-macros/core/",
    "fbint-runtime/",
    "fbint-runtime/catalogue/",
    "fbint-runtime/command/",
    "fbint-runtime/text/",
];

#[test]
fn documents_are_short() -> Outcome {
    for (document, most) in MOST_LINES {
        let lines = read(document)?.lines().count();
        assert!(lines <= most, "{document} has {lines} lines, more than {most}");
    }
    let words = read("TESTING.md")?.split_whitespace().count();
    assert!(words <= MOST_WORDS_OF_TESTING, "TESTING.md has {words} words, more than {MOST_WORDS_OF_TESTING}");
    Ok(())
}

#[test]
fn the_rooms_of_the_architecture_are_those_of_the_code() -> Outcome {
    let text = read("ARCHITECTURE.md")?;
    let tree = &blocks(section(&text, "Rooms")?)[0].text;
    let (mut package, mut named, mut faults) = ("", BTreeSet::new(), Vec::new());
    for line in tree.lines() {
        let (names, _) = line.trim_start().split_once("  ").ok_or_else(|| format!("no meaning: {line}"))?;
        if !line.starts_with(' ') {
            package = names;
            if !root().join(package).exists() {
                faults.push(format!("`{package}` does not exist"));
            }
            continue;
        }
        for name in names.split(", ") {
            let path = root().join(package).join("src").join(name);
            if !path.is_dir() && !path.with_extension("rs").exists() {
                faults.push(format!("`{package}src` has no room `{name}`"));
            }
            named.insert((package, name.to_owned()));
        }
    }
    for package in WITH_ROOMS {
        let missing = rooms(package)?.into_iter().filter(|room| !named.contains(&(package, room.clone())));
        faults.extend(missing.map(|room| format!("`{room}` of `{package}src` is not named")));
    }
    assert!(faults.is_empty(), "ARCHITECTURE.md, Rooms:\n{}", faults.join("\n"));
    Ok(())
}

/// Neither missing arrows nor stale ones, and none upwards, so that there is no circle.
#[test]
fn the_arrows_of_the_architecture_are_those_of_the_code() -> Outcome {
    let text = read("ARCHITECTURE.md")?;
    let block = blocks(section(&text, "Arrows")?).pop().ok_or("there are no arrows")?;
    let (mut packages, mut faults) = (Vec::<(&str, Vec<(&str, &str)>)>::new(), Vec::<String>::new());
    for line in block.text.lines() {
        match (line.trim_start().split_once(" -> "), packages.last_mut()) {
            (None, _) => packages.push((line, Vec::new())),
            (Some(arrows), Some((_, lines))) => lines.push(arrows),
            (Some(_), None) => faults.push(format!("an arrow of no package: {line}")),
        }
    }
    let (mut count, mut with_arrows) = (0, BTreeSet::new());
    for (package, lines) in packages {
        let found = arrows(package)?;
        with_arrows.insert(package);
        count += found.len();
        faults.extend(faults_of(&lines, &found).map(|fault| format!("{package}: {fault}")));
    }
    assert!(count > 150, "only {count} arrows were found");
    assert!(WITH_ROOMS.iter().all(|package| with_arrows.contains(package)), "only {with_arrows:?} have arrows");
    assert!(faults.is_empty(), "ARCHITECTURE.md, Arrows:\n{}", faults.join("\n"));
    Ok(())
}

/// What is wrong with lines of arrows, each a room and those that it may use, beside the arrows of the code.
fn faults_of(lines: &[(&str, &str)], found: &BTreeMap<(String, String), String>) -> impl Iterator<Item = String> {
    let stated: BTreeSet<(&str, &str)> =
        lines.iter().flat_map(|(from, to)| to.split(", ").map(|to| (*from, to))).collect();
    let mut faults = Vec::new();
    for ((from, to), file) in found {
        if !stated.contains(&(from, to)) {
            faults.push(format!("missing: {from} -> {to}, by {file}"));
        }
    }
    for (from, to) in stated {
        if !found.contains_key(&(from.to_owned(), to.to_owned())) {
            faults.push(format!("stale: {from} -> {to}, which no file needs any more"));
        }
        let line = |room| lines.iter().position(|(from, _)| *from == room);
        if line(to).is_some_and(|below| Some(below) <= line(from)) {
            faults.push(format!("upwards or in a circle: {from} -> {to}, whose line is not below"));
        }
    }
    faults.into_iter()
}

#[test]
fn arrows_are_read_from_code_alone() {
    let source = "//! [`a`](crate::a)\nuse crate::b::{B, c::C};\nuse crate::{\n    d::{self, e::E},\n    f,\n};\n\
                  use super::super::g::G;\nuse super::h::H;\nfn i() { crate::j::k(); } // crate::l\n\
                  #[cfg(test)]\nmod tests {\n    use crate::m::M;\n}\nuse crate::n::N;\n";
    assert_eq!(rooms_used(source, 2), ["b", "d", "f", "g", "j", "n"].map(str::to_owned).into());
    assert!(rooms_used(source, 1).contains("h"));
}

/// Ensures that the doctests compile and run all Rust, and take nothing else for Rust. Python is run by the tests of `models/python`.
#[test]
fn every_block_of_the_readme_names_its_language_and_rust_is_not_exempt() -> Outcome {
    let text = read("README.md")?;
    let blocks = blocks(&text);
    for block in &blocks {
        assert!(
            ["python", "rust", "sh", "toml"].contains(&block.language),
            "a block in `{}`:\n{}",
            block.language,
            block.text
        );
    }
    assert!(blocks.iter().any(|block| block.language == "rust" && block.text.contains("fn main()")));
    Ok(())
}

#[test]
fn the_readme_names_the_versions_of_the_workspace() -> Outcome {
    let (readme, manifest) = (read("README.md")?, read("Cargo.toml")?);
    let after = |text: &str, key: &str| -> Option<String> {
        let line = text.lines().find(|line| line.starts_with(key))?;
        line[key.len()..].split('"').nth(1).map(str::to_owned)
    };
    assert_eq!(after(&readme, "nalgebra = "), after(&manifest, "nalgebra = "));
    let rust = after(&manifest, "rust-version = ").ok_or("the workspace names no version of Rust")?;
    assert!(readme.contains(&format!("Rust {rust}")), "README.md does not name Rust {rust}");
    Ok(())
}

/// Commands that take long are shortened; two of them are only parsed.
#[test]
fn the_commands_of_the_readme_run() -> Outcome {
    let folder = tempdir()?;
    let text = read("README.md")?;
    let model =
        text.split("```rust\n").nth(1).and_then(|block| block.split("```").next()).ok_or("a model in a file")?;
    fs::write(folder.path().join("pendulum.rs"), model)?;
    let commands = commands(&text, "fbint");
    assert!(commands.len() >= 7, "{commands:?}");
    for command in commands {
        let mut arguments: Vec<&str> = command.split_whitespace().skip(1).collect();
        for [option, value] in [["--until", "0.1"], ["--members", "3"]] {
            if let Some(place) = arguments.iter().position(|argument| *argument == option) {
                arguments[place + 1] = value;
            }
        }
        match arguments[0] {
            "work-precision" | "reproduce" => arguments.push("--help"),
            "gallery" => arguments.extend(["--until", "0.1"]),
            _ => {}
        }
        let output = fbint(folder.path(), &arguments)?;
        assert!(output.status.success(), "`{command}`: {}", String::from_utf8_lossy(&output.stderr));
        assert!(!output.stdout.is_empty(), "`{command}` prints nothing");
    }
    Ok(())
}

/// A wrong command line is refused before `--help` is read; only the names of models are checked here.
#[test]
fn the_commands_of_all_documents_are_known() -> Outcome {
    let folder = tempdir()?;
    let entries = catalogue::all();
    let models: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
    for (document, text) in DOCUMENTS.map(|document| (document, read(document))) {
        let text = text?;
        let release = commands(&text, "cargo run --release -p fbint --");
        let release = release.into_iter().map(|line| line.split_off_words(6));
        for command in commands(&text, "fbint").into_iter().map(|line| line.split_off_words(1)).chain(release) {
            let command = command.replace("MODEL", "kepler");
            let arguments: Vec<&str> = command.split_whitespace().collect();
            let output = fbint(folder.path(), &[&arguments[..], &["--help"]].concat())?;
            assert!(output.status.success(), "{document}, `{command}`: {}", String::from_utf8_lossy(&output.stderr));
            if let ["run" | "ensemble" | "show" | "report" | "work-precision", model, ..] = arguments[..] {
                let is_known = model.starts_with('-') || model.ends_with(".rs") || models.contains(&model);
                assert!(is_known, "{document}: no model `{model}`");
            }
        }
    }
    Ok(())
}

/// Packages by `-p`, and targets by `--test`, `--bench` and `--example` in the package before them, with the module that is selected.
#[test]
fn cargo_knows_the_targets_of_all_documents() -> Outcome {
    let known = targets()?;
    let mut count = 0;
    for document in DOCUMENTS {
        for command in commands(&read(document)?, "cargo") {
            let words: Vec<&str> = command.split_whitespace().collect();
            let mut package = "";
            for (place, pair) in words.windows(2).enumerate().take_while(|(_, pair)| pair[0] != "--") {
                let target = match pair {
                    ["-p", name] => {
                        package = name;
                        [name, "package", name]
                    }
                    [kind @ ("--test" | "--bench" | "--example"), name] => [package, &kind[2..], name],
                    // A word that follows a program of tests with modules selects one of them.
                    ["main" | "cargo", name] if place > 0 && words[place - 1] == "--test" && !name.starts_with('-') => {
                        [package, "module", name.split("::").next().unwrap_or_default()]
                    }
                    _ => continue,
                };
                assert!(known.contains(&target.map(str::to_owned)), "{document}, `{command}`: {target:?} is unknown");
                count += 1;
            }
        }
    }
    assert!(count > 20, "only {count} targets were found");
    Ok(())
}

#[test]
fn links_lead_somewhere() -> Outcome {
    for document in DOCUMENTS {
        let text = read(document)?;
        for link in text.split("](").skip(1).filter_map(|rest| rest.split(')').next()) {
            if link.starts_with("https://") {
                continue;
            }
            let (file, heading) = link.split_once('#').unwrap_or((link, ""));
            let file = if file.is_empty() { document } else { file };
            assert!(root().join(file).exists(), "{document}: {link}");
            let target = read(file)?;
            let mut headings = target.lines().filter_map(|line| line.strip_prefix("## ")).map(anchor);
            assert!(heading.is_empty() || headings.any(|anchor| anchor == heading), "{document}: {link}");
        }
    }
    Ok(())
}

/// Where code of a package is for Unix alone, its file has code for other systems; CONTRIBUTING.md lists the difference.
#[test]
fn code_for_unix_has_another_side() -> Outcome {
    let mut count = 0;
    for package in ["fbint-macros/core", "fbint-runtime", "models"] {
        for file in rust_files(&root().join(package))? {
            let text = fs::read_to_string(&file)?;
            let is_for_unix = |line: &str| line == "#[cfg(unix)]";
            if file.iter().all(|part| part != "tests") && text.lines().any(is_for_unix) {
                assert!(text.lines().any(|line| line == "#[cfg(not(unix))]"), "{}", file.display());
                count += 1;
            }
        }
    }
    assert!(count > 1, "{count} files have code for Unix");
    Ok(())
}

/// The blocks of the example are the declaration, and parts of the recorded equations, program and Rust.
#[test]
fn the_example_of_the_compiler_is_what_it_makes() -> Outcome {
    let source = read("fbint-macros/core/src/lib.rs")?;
    let text = source.lines().map_while(|line| line.strip_prefix("//!"));
    let text: String = text.map(|line| line.strip_prefix(' ').unwrap_or(line).to_owned() + "\n").collect();
    let (_, section) = text.split_once("# An example").ok_or("there is no example")?;
    let snapshot = |what: &str| format!("tests/snapshots/snapshots__planar_pendulum_{what}.snap");
    let sources =
        ["models/src/planar_pendulum.rs".to_owned(), snapshot("equations"), snapshot("program"), snapshot("source")];
    let blocks = blocks(section);
    assert_eq!(blocks.len(), sources.len());
    for (block, source) in blocks.iter().zip(&sources).skip(1) {
        assert!(unindented(&read(source)?).contains(&unindented(&block.text)), "not in {source}:\n{}", block.text);
    }
    let declaration = unindented(&read(&sources[0])?);
    let attribute = unindented(blocks[0].text.split("pub struct").next().ok_or("there is no declaration")?);
    assert!(declaration.contains(&attribute), "not in {}:\n{attribute}", sources[0]);
    Ok(())
}

/// The names of the modules at the top of a package.
fn rooms(package: &str) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let mut rooms = BTreeSet::new();
    for entry in fs::read_dir(source(package).0)? {
        let path = entry?.path();
        if path.is_dir() || path.extension().is_some_and(|extension| extension == "rs") {
            rooms.insert(stem(&path));
        }
    }
    rooms.remove("lib");
    rooms.remove("mod");
    Ok(rooms)
}

/// Where the rooms of a package are, or of a folder of one, and the path of the module that contains them, in a crate `outside`.
fn source(package: &str) -> (PathBuf, String) {
    match package.split_once("/src/") {
        Some((_, inner)) => (root().join(package), format!("outside::{}", inner.replace('/', "::"))),
        None => (root().join(package).join("src"), "outside::".to_owned()),
    }
}

/// Which room of a package, or of a folder of one, uses which, with a file that does.
fn arrows(package: &str) -> Result<BTreeMap<(String, String), String>, Box<dyn Error>> {
    let (source, path_of_rooms) = source(package);
    let (rooms, mut arrows) = (rooms(package)?, BTreeMap::new());
    for path in rust_files(&source)? {
        let inner = path.strip_prefix(&source)?;
        let modules: Vec<String> =
            inner.iter().map(|part| stem(Path::new(part))).filter(|part| part != "mod").collect();
        let Some(from) = modules.first().filter(|from| rooms.contains(*from)) else { continue };
        let code = fs::read_to_string(&path)?.replace("crate::", "outside::").replace(&path_of_rooms, "crate::");
        let used = rooms_used(&code, modules.len()).into_iter();
        let used = used.filter(|room| room != from && rooms.contains(room));
        arrows.extend(used.map(|room| ((from.clone(), room), path.display().to_string())));
    }
    Ok(arrows)
}

/// The modules at the top of the crate that a module so many levels below its root names, outside of comments and unit tests.
fn rooms_used(source: &str, depth: usize) -> BTreeSet<String> {
    let mut is_test = false;
    let code: String = source
        .lines()
        .filter(|line| {
            let was_test = is_test;
            is_test = line.starts_with("#[cfg(test)]") || is_test && *line != "}";
            !is_test && !was_test
        })
        .map(|line| line.split("//").next().unwrap_or_default().to_owned() + "\n")
        .collect();
    let code = code.replace(&"super::".repeat(depth), "crate::");
    let rooms = code.split("crate::").skip(1).flat_map(first_names);
    rooms.filter(|room| !room.is_empty()).collect()
}

/// The first name of a path, or of each path in braces.
fn first_names(paths: &str) -> Vec<String> {
    let name = |path: &str| -> String {
        path.trim_start().chars().take_while(|letter| letter.is_alphanumeric() || *letter == '_').collect()
    };
    let Some(group) = paths.strip_prefix('{') else { return vec![name(paths)] };
    let (mut depth, mut outermost) = (1, String::new());
    for letter in group.chars() {
        depth += i32::from(letter == '{') - i32::from(letter == '}');
        match depth {
            0 => break,
            1 => outermost.push(letter),
            _ => {}
        }
    }
    outermost.split(',').map(name).collect()
}

fn rust_files(folder: &Path) -> Result<BTreeSet<PathBuf>, Box<dyn Error>> {
    let mut files = BTreeSet::new();
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            files.extend(rust_files(&path)?);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            files.insert(path);
        }
    }
    Ok(files)
}

fn stem(path: &Path) -> String {
    path.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

/// The text of a document below a heading.
fn section<'a>(text: &'a str, heading: &str) -> Result<&'a str, Box<dyn Error>> {
    let mut sections = text.split("\n## ");
    Ok(sections.find(|section| section.starts_with(heading)).ok_or_else(|| format!("no heading `{heading}`"))?)
}

/// Commands that begin with `program` in blocks of shell, without comments and variables, and in the text between backticks.
fn commands(text: &str, program: &str) -> Vec<String> {
    let shell = blocks(text).into_iter().filter(|block| block.language == "sh");
    let shell: Vec<String> =
        shell.flat_map(|block| block.text.lines().map(str::to_owned).collect::<Vec<_>>()).collect();
    let in_text =
        text.lines().filter(|line| !line.starts_with("```")).flat_map(|line| line.split('`').skip(1).step_by(2));
    let lines = shell.into_iter().chain(in_text.map(str::to_owned));
    let without_comment = lines.map(|line| line.split(" #").next().unwrap_or_default().to_owned());
    let commands = without_comment.map(|line| without_variables(&line).trim().to_owned());
    commands.filter(|command| command.strip_prefix(program).is_some_and(|rest| rest.starts_with(' '))).collect()
}

/// A line of shell from the command on, without `time` and the variables that are set for it.
fn without_variables(line: &str) -> &str {
    match line.trim_start().split_once(' ') {
        Some((word, rest)) if word == "time" || word.contains('=') => without_variables(rest),
        _ => line.trim_start(),
    }
}

trait Words {
    /// The text after the first `count` words.
    fn split_off_words(&self, count: usize) -> String;
}

impl Words for String {
    fn split_off_words(&self, count: usize) -> String {
        self.split_whitespace().skip(count).collect::<Vec<_>>().join(" ")
    }
}

/// Package, kind and name of every target of the workspace; a package counts as a target of itself, and so do the modules of tests.
fn targets() -> Result<BTreeSet<[String; 3]>, Box<dyn Error>> {
    let mut cargo = Command::new(env!("CARGO"));
    let output =
        cargo.args(["metadata", "--format-version=1", "--no-deps", "--offline"]).current_dir(root()).output()?;
    let metadata: Value = serde_json::from_slice(&output.stdout)?;
    let mut targets = BTreeSet::new();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    for package in metadata["packages"].as_array().ok_or("cargo names no packages")? {
        let name = text(&package["name"]);
        targets.insert([name.clone(), "package".to_owned(), name.clone()]);
        for target in package["targets"].as_array().into_iter().flatten() {
            targets.insert([name.clone(), text(&target["kind"][0]), text(&target["name"])]);
            if target["kind"][0] == "test" {
                let source = fs::read_to_string(text(&target["src_path"]))?;
                let modules = source.lines().filter_map(|line| line.strip_prefix("mod ")?.strip_suffix(';'));
                targets.extend(modules.map(|module| [name.clone(), "module".to_owned(), module.to_owned()]));
            }
        }
    }
    Ok(targets)
}

/// The anchor of a heading, as GitHub makes it.
fn anchor(heading: &str) -> String {
    let kept = heading.chars().filter(|letter| letter.is_alphanumeric() || " -_".contains(*letter));
    kept.map(|letter| if letter == ' ' { '-' } else { letter.to_ascii_lowercase() }).collect()
}

fn unindented(text: &str) -> String {
    text.lines().map(|line| line.trim().to_owned() + "\n").collect()
}

fn read(file: &str) -> Result<String, Box<dyn Error>> {
    fs::read_to_string(root().join(file)).map_err(|error| format!("{file}: {error}").into())
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
