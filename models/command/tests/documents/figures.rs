//! Figures, versions and settings in documents are computed, or compared where two documents have them.

use std::collections::BTreeSet;
use std::error::Error;
use std::fs;

use tempfile::tempdir;

use super::super::common::{blocks, fbint};
use super::{Outcome, Words, anchor, commands, read, root};

/// The table of README.md is what `fbint tables` computes; a wrong figure is named with its table and its row, and corrected.
#[test]
fn the_table_of_the_readme_is_computed_and_a_wrong_figure_is_named() -> Outcome {
    let folder = tempdir()?;
    for document in ["README.md", "BENCHMARKS.md"] {
        fs::copy(root().join(document), folder.path().join(document))?;
    }
    let path = folder.path().join("README.md");
    let committed = fs::read_to_string(&path)?;
    let (before, row) = committed.split_once("| RK4, h = 1e-3 | ").ok_or("README.md has no row for RK4")?;
    let digit = row.chars().next().ok_or("the row is empty")?;
    let wrong = if digit == '9' { '1' } else { '9' };
    fs::write(&path, format!("{before}| RK4, h = 1e-3 | {wrong}{}", &row[1..]))?;

    let check = fbint(folder.path(), &["tables", "drift", "--check"])?;
    let printed = String::from_utf8_lossy(&check.stdout);
    assert_eq!(check.status.code(), Some(1), "{printed}{}", String::from_utf8_lossy(&check.stderr));
    assert!(printed.starts_with("README.md, table `drift`, row `RK4, h = 1e-3`:"), "{printed}");
    assert_eq!(printed.matches("row `").count(), 1, "{printed}");

    assert!(fbint(folder.path(), &["tables", "drift"])?.status.success());
    assert!(!fs::read_to_string(&path)?.contains(&format!("| RK4, h = 1e-3 | {wrong}")));
    let check = fbint(root(), &["tables", "drift", "--check"])?;
    assert!(check.status.success(), "{}", String::from_utf8_lossy(&check.stdout));
    Ok(())
}

/// The orbit that README.md and BENCHMARKS.md begin with: ten revolutions later the truth is the start again.
#[test]
fn the_first_figure_of_the_readme_is_computed() -> Outcome {
    let (folder, benchmarks) = (tempdir()?, read("BENCHMARKS.md")?);
    let command = commands(&benchmarks, "fbint").into_iter().find(|command| command.contains("run kepler --method"));
    let command = command.ok_or("BENCHMARKS.md has no orbit")?.split_off_words(1);
    let arguments: Vec<&str> = command.split_whitespace().chain(["--out", "orbit.csv"]).collect();
    let output = fbint(folder.path(), &arguments)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!(String::from_utf8_lossy(&output.stdout).contains(" 2107 evaluations"));

    let table = fs::read_to_string(folder.path().join("orbit.csv"))?;
    let state = |row: &str| -> Vec<f64> { row.split(',').skip(1).take(6).filter_map(|it| it.parse().ok()).collect() };
    let rows: Vec<Vec<f64>> = table.lines().map(state).filter(|row| row.len() == 6).collect();
    let (first, last) = (rows.first().ok_or("no rows")?, rows.last().ok_or("no rows")?);
    let error = first.iter().zip(last).map(|(start, end)| (end - start).abs()).fold(0.0, f64::max);
    for document in [&read("README.md")?, &benchmarks] {
        assert!(document.contains(&format!("{error:.1e}")) && document.contains("2,107"), "the error is {error:.1e}");
    }
    Ok(())
}

/// Work and precision take a minute without optimisation: `.ci/run` compares them with its release build.
#[test]
fn the_tables_of_the_benchmarks_are_computed() -> Outcome {
    let output = fbint(root(), &["tables", "fixed-steps", "error-control", "published-feedback", "--check"])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    Ok(())
}

#[test]
fn tables_without_a_place_and_places_without_a_table_are_refused() -> Outcome {
    let folder = tempdir()?;
    let refusal = |names: &[&str]| -> Result<String, Box<dyn Error>> {
        let output = fbint(folder.path(), &[&["tables", "--check"], names].concat())?;
        assert_eq!(output.status.code(), Some(2));
        Ok(String::from_utf8_lossy(&output.stderr).into_owned())
    };
    assert!(refusal(&[])?.contains("README.md: no such file"));
    fs::write(folder.path().join("BENCHMARKS.md"), "")?;
    fs::write(folder.path().join("README.md"), "<!-- fbint tables: drift -->\n")?;
    assert!(refusal(&["drift"])?.contains("table `drift` has no line `<!-- end -->`"));
    assert!(
        refusal(&["fixed-steps"])?.contains("table `fixed-steps` has no line `<!-- fbint tables: fixed-steps -->`")
    );
    assert!(refusal(&["drfit"])?.contains("unknown table `drfit`, did you mean `drift`?"));
    fs::write(folder.path().join("README.md"), "<!-- fbint tables: drifts -->\n<!-- end -->\n")?;
    assert!(refusal(&[])?.contains("unknown table `drifts`"));
    Ok(())
}

/// Figures that two documents have, each measured once: the first `cargo check`, and the number of the shipped models.
#[test]
fn documents_agree_on_figures() -> Outcome {
    let (readme, benchmarks, changelog) = (read("README.md")?, read("BENCHMARKS.md")?, read("CHANGELOG.md")?);
    let tutorial = read("book/src/tutorial/crate.md")?;
    for (row, documents) in [
        (
            "`cargo check` of README's pendulum in its own crate",
            &[("README.md", &readme), ("the tutorial", &tutorial)][..],
        ),
        ("with the feature `derive`", &[("the tutorial", &tutorial)]),
    ] {
        let cell = benchmarks.lines().find_map(|line| line.strip_prefix(&format!("| {row} | "))?.split(' ').next());
        let seconds = cell.ok_or_else(|| format!("BENCHMARKS.md has no {row}"))?;
        for (name, document) in documents {
            let words = format!("`cargo check` takes {seconds} s");
            assert!(document.contains(&words), "{name} has not the {seconds} s of BENCHMARKS.md");
        }
    }
    let (models, testing) = (catalogue::all().len(), read("TESTING.md")?);
    assert!(changelog.contains(&format!("\n- {models} models;")), "CHANGELOG.md has another number than {models}");
    for words in [format!("all {models} models"), format!("of {models} models"), format!("| {models} of {models} |")] {
        assert!(testing.contains(&words), "TESTING.md does not say `{words}`");
    }
    Ok(())
}

/// The first table of BENCHMARKS.md repeats figures of the sections to which it links, rounded; those of the orbit, which no other section
/// has, are README.md's.
#[test]
fn the_first_table_of_the_benchmarks_repeats_its_sections() -> Outcome {
    let (readme, benchmarks) = (read("README.md")?, read("BENCHMARKS.md")?);
    let first = benchmarks.split("\n## ").next().unwrap_or_default();
    let mut count = 0;
    for row in first.lines().filter(|line| line.starts_with("| [")) {
        let (name, figures) = row.split_once(" | ").ok_or("a row has two cells")?;
        let target = name.split_once("(#").and_then(|(_, rest)| rest.split_once(')')).ok_or("a row has a link")?.0;
        let below = match name.contains("an orbit") {
            true => readme.split("\n## ").next().unwrap_or_default().to_owned(),
            false => section_below(&benchmarks, target).ok_or_else(|| format!("no section {target}"))?,
        };
        let known = numbers(&below);
        for number in numbers(figures) {
            let is_repeated = known.iter().any(|known| rounded(known, &number) == rounded(&number, &number));
            assert!(is_repeated, "{name}: {number} is not in its section");
            count += 1;
        }
    }
    assert!(count > 20, "{count} figures");
    Ok(())
}

/// Versions and settings that several documents name.
#[test]
fn documents_agree_on_versions_and_profiles() -> Outcome {
    let (python, thorough) = (read("fbint-runtime/python/wheel/pyproject.toml")?, read(".ci/thorough")?);
    let oldest = python.split("requires-python = \">=").nth(1).and_then(|rest| rest.split('"').next());
    let oldest = format!("Python {}", oldest.ok_or("the wheel names no version of Python")?);
    for document in ["README.md", "book/src/tutorial/python.md", "fbint-runtime/python/README.md"] {
        assert!(read(document)?.contains(&oldest), "{document} does not name {oldest}");
    }
    let book = thorough.split("mdbook --version ").nth(1).and_then(|rest| rest.split(' ').next());
    let book = format!("mdBook {},", book.ok_or(".ci/thorough names no version of mdBook")?);
    assert!(read("CONTRIBUTING.md")?.contains(&book), "CONTRIBUTING.md does not name {book}");

    let rivals = ["heyoka", "pydiffsol", "scipy"].map(|name| format!(" {name}=="));
    let files = ["fbint-runtime/benches/implicit.py", "fbint-runtime/benches/taylor.py"];
    let example = "fbint-runtime/python/wheel/examples/beside_heyoka.py";
    for rival in rivals {
        let mut versions = BTreeSet::new();
        for file in files.iter().chain(&["BENCHMARKS.md", example]) {
            let text = read(file)?;
            let named = text.split(&rival).skip(1).filter_map(|rest| rest.split_whitespace().next());
            versions.extend(named.map(str::to_owned));
        }
        assert_eq!(versions.len(), 1, "{rival}{versions:?}");
    }

    let profile = |document| -> Result<String, Box<dyn Error>> {
        let text = read(document)?;
        let block = blocks(&text).into_iter().find(|block| block.text.contains("[profile.dev.package]"));
        let block = block.ok_or_else(|| format!("{document} has no profile"))?;
        Ok(block.text.split("[profile.dev]").nth(1).unwrap_or_default().to_owned())
    };
    assert_eq!(profile("fbint-runtime/command/README.md")?, profile("fbint-runtime/python/README.md")?);
    Ok(())
}

/// The text of a document from the heading with this anchor to the next one that is not below it.
fn section_below(text: &str, target: &str) -> Option<String> {
    let level =
        |line: &str| line.find(|letter| letter != '#').filter(|level| *level > 0 && line[*level..].starts_with(' '));
    let mut lines =
        text.lines().skip_while(|line| level(line).is_none_or(|level| anchor(&line[level + 1..]) != target));
    let first = level(lines.next()?)?;
    Some(lines.take_while(|line| level(line).is_none_or(|level| level > first)).collect::<Vec<_>>().join("\n"))
}

/// The decimal numbers in a text, without commas.
fn numbers(text: &str) -> Vec<String> {
    let belongs = |letter: char| letter.is_ascii_alphanumeric() || ".,-".contains(letter);
    let words =
        text.split(|letter| !belongs(letter)).map(|word| word.trim_end_matches(['.', ',', '-']).replace(',', ""));
    words
        .filter(|word| word.starts_with(|letter: char| letter.is_ascii_digit()) && word.parse::<f64>().is_ok())
        .collect()
}

/// A number with as many digits as another one has.
fn rounded(number: &str, like: &str) -> String {
    let mantissa = like.split('e').next().unwrap_or_default().replace('.', "");
    let digits = mantissa.trim_start_matches('0').len().max(1);
    number.parse::<f64>().map_or(String::new(), |number| format!("{number:.*e}", digits - 1))
}
