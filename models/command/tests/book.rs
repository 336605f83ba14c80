//! The book in `book/`: its pages exist and are linked, its commands run and print what it shows, its figures are made by its commands, and
//! its reference is what the code says.
//!
//! The doctests of `fbint-runtime` compile and run its Rust, and the tests of the module `fbint` its Python. After a change of a key, a
//! method or the help, `FBINT_BOOK=write cargo test -p fbint --test main book` writes the reference anew.

use std::collections::BTreeSet;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::{env, fs};

use fbint_runtime::Method;
use tempfile::{TempDir, tempdir};

use super::common::{Block, blocks, fbint};

type Outcome = Result<(), Box<dyn Error>>;

/// A number below this is rounding, and depends on the processor.
const ROUNDING: f64 = 1e-11;

#[test]
fn every_page_is_in_the_summary_and_every_link_leads_somewhere() -> Outcome {
    let (pages, summary) = (pages()?, read("SUMMARY.md")?);
    let listed: BTreeSet<PathBuf> = links(&summary).map(PathBuf::from).collect();
    let found: BTreeSet<PathBuf> = pages.iter().filter(|page| !page.ends_with("SUMMARY.md")).cloned().collect();
    assert_eq!(listed, found);
    for page in &pages {
        let text = read(page)?;
        let folder = source().join(page.parent().ok_or("a page lies in a folder")?);
        let included = included_files(&text);
        for target in links(&text).chain(included) {
            let is_outside = ["https://", "crate::", "#"].iter().any(|start| target.starts_with(start));
            let file = target.split('#').next().unwrap_or_default();
            assert!(is_outside || folder.join(file).exists(), "{}: {target}", page.display());
        }
        for target in links(&text).filter(|target| !target.starts_with("https://")) {
            let Some((file, anchor)) = target.split_once('#') else { continue };
            let path = if file.is_empty() { source().join(page) } else { folder.join(file) };
            let is_there = anchors(&path)?.contains(anchor);
            assert!(is_there, "{}: no heading of {} is {anchor}", page.display(), path.display());
        }
    }
    Ok(())
}

/// The files of a page are written first, then its commands run in their order; a block of text that follows one is what it prints, in part.
#[test]
fn the_commands_of_the_book_print_what_it_shows() -> Outcome {
    let mut count = 0;
    for page in pages()? {
        let text = with_included_files(&page, &read(&page)?)?;
        let blocks = blocks(&text);
        let folder = folder_of(&blocks)?;
        let mut printed = String::new();
        for block in &blocks {
            match block.language {
                "sh" => printed.clear(),
                "text" => {
                    let shown =
                        block.text.lines().find(|line| !without_rounding(&printed).contains(&without_rounding(line)));
                    assert_eq!(shown, None, "{}: not in\n{printed}", page.display());
                }
                _ => {}
            }
            let commands = block.text.lines().filter(|_| block.language == "sh");
            for command in commands.filter_map(|line| line.strip_prefix("fbint ")) {
                printed += &run(&folder, &page, &text, command)?;
                count += 1;
            }
        }
        let figures = links(&text).filter_map(|link| link.strip_prefix("../figures/").map(str::to_owned));
        for figure in figures {
            let made = fs::read_to_string(folder.path().join(&figure));
            assert!(
                made.is_ok_and(|made| made.trim_end().ends_with("</svg>")),
                "{}: no command draws {figure}",
                page.display()
            );
        }
    }
    assert!(count > 20, "only {count} commands were found");
    Ok(())
}

#[test]
fn the_reference_is_what_the_code_says() -> Outcome {
    for (name, text) in
        [("keys", keys()?), ("expressions", expressions()?), ("methods", methods()?), ("command", command()?)]
    {
        let path = source().join(format!("reference/{name}.md"));
        if env::var_os("FBINT_BOOK").is_some_and(|value| value == "write") {
            fs::write(&path, &text)?;
        }
        assert!(
            fs::read_to_string(&path).unwrap_or_default() == text,
            "{} differs from the code: `FBINT_BOOK=write cargo test -p fbint --test main book` writes it",
            path.display()
        );
    }
    Ok(())
}

/// What a command of a page with this text prints, without working longer than a test should. It may fail with an error that the page shows.
fn run(folder: &TempDir, page: &Path, text: &str, command: &str) -> Result<String, Box<dyn Error>> {
    let unquoted = command.split('#').next().unwrap_or_default();
    let quoted = |(place, part): (usize, &str)| -> Vec<String> {
        if place % 2 == 1 { vec![part.to_owned()] } else { part.split_whitespace().map(str::to_owned).collect() }
    };
    let mut arguments: Vec<String> = unquoted.split('\'').enumerate().flat_map(quoted).collect();
    if arguments[0] == "gallery" {
        arguments.extend(["--until", "0.1", "--no-stills"].map(str::to_owned));
    }
    if let Some(place) = arguments.iter().position(|argument| argument == "--members") {
        arguments[place + 1] = "4".to_owned();
    }
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let output = fbint(folder, &arguments)?;
    let [told, complaint] = [output.stdout, output.stderr].map(String::from_utf8);
    let (told, complaint) = (told?, complaint?);
    let is_shown = complaint.lines().next().is_some_and(|error| text.contains(error));
    assert!(output.status.success() || is_shown, "{}: `{command}`: {complaint}", page.display());
    Ok(told + complaint.as_str())
}

/// A folder with the files of a page: blocks of Rust whose first line is a comment with a name.
fn folder_of(blocks: &[Block<'_>]) -> Result<TempDir, Box<dyn Error>> {
    let folder = tempdir()?;
    for block in blocks {
        let name = block.text.lines().next().and_then(|line| line.strip_prefix("// "));
        if let Some(name) = name.filter(|name| name.ends_with(".rs") && !name.contains(' ')) {
            let file = folder.path().join(name);
            fs::create_dir_all(file.parent().ok_or("a file lies in a folder")?)?;
            fs::write(file, &block.text)?;
        }
    }
    Ok(folder)
}

/// The text with every number that is rounding in the place of 0.
fn without_rounding(text: &str) -> String {
    let rounded = |word: &str| match word.trim_end_matches(',').parse::<f64>() {
        Ok(number) if number.abs() < ROUNDING => "0 ".to_owned(),
        _ => format!("{word} "),
    };
    text.lines().map(|line| line.split_whitespace().map(rounded).collect::<String>() + "\n").collect()
}

/// The table of the keys, from the documentation of the attribute, with every key that the compiler knows.
fn keys() -> Result<String, Box<dyn Error>> {
    let table = table_after("# Keys")?;
    // What else the documentation says of a key stands below its own table.
    let mut parts = table.split(" see [below](#");
    let mut table = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        table = table.trim_end_matches([',', ';']).to_owned() + part.split_once(')').ok_or("a link ends")?.1;
    }
    let rows = fs::read_to_string(root().join("fbint-macros/core/src/syntax/key.rs"))?;
    let rows = rows.split("\nkeys! {\n").nth(1).and_then(|rows| rows.split("\n}\n").next()).ok_or("no keys")?;
    let names: Vec<&str> = rows.lines().filter_map(|row| row.split(": \"").nth(1)?.split('"').next()).collect();
    assert!(names.len() > 15, "{names:?}");
    for name in names {
        let is_listed = [" ", "(", "`"].iter().any(|next| table.contains(&format!("`{name}{next}")));
        assert!(is_listed, "the documentation of the attribute does not list the key `{name}`");
    }
    Ok(format!(
        "# Keys\n\nThe keys of `#[feedback_system(..)]`. `key = value` declares one thing and `key(name = expression, ..)` named things, \
         which may repeat. The\ndocumentation of the attribute has examples.\n\n{table}"
    ))
}

/// The table of the methods of expressions.
fn expressions() -> Result<String, Box<dyn Error>> {
    let table = table_after("# Expressions")?.replace("| | |", "| kind | notation |");
    Ok(format!(
        "# Expressions\n\nRust's syntax read as mathematics: numbers are exact (`1 / 2` is one half, `0.1` one tenth), `&` means nothing, \
         indices count from 0,\nand matrices are stored column by column. `^` is refused: write `x.powi(2)`.\n\n{table}"
    ))
}

/// The table that follows a heading in the documentation of the attribute.
fn table_after(heading: &str) -> Result<String, Box<dyn Error>> {
    let source = fs::read_to_string(root().join("fbint-macros/src/lib.rs"))?;
    let text: Vec<&str> = source.lines().filter_map(|line| line.strip_prefix("///")).map(str::trim_start).collect();
    let below = text.into_iter().skip_while(|line| *line != heading);
    let table = below.skip_while(|line| !line.starts_with('|')).take_while(|line| line.starts_with('|'));
    Ok(table.map(|line| format!("{line}\n")).collect())
}

/// The methods that need nothing but a step or tolerances.
fn methods() -> Result<String, Box<dyn Error>> {
    let mut text = "# Methods\n\nA method with a fixed step takes `--step`, one with error control `--rtol` and `--atol`. Runs by the others are \
                    projected after each step\nunless you choose otherwise; geometric methods leave the states as they are. The guide's page on \
                    [methods](../guide/methods.md) says which to take.\n\n\
                    | `--method` | order | step | geometric | |\n|---|---|---|---|---|\n"
        .to_owned();
    for method in Method::all(1e-3, (1e-9, None)) {
        let step = if method.step().is_some() { "fixed" } else { "error control" };
        let geometric = if method.is_geometric() { "yes" } else { "" };
        text += &format!("| `{}` | {} | {step} | {geometric} | {} |\n", method.key(), method.order(), method.summary());
    }
    Ok(text)
}

/// The help of every subcommand.
fn command() -> Result<String, Box<dyn Error>> {
    let folder = tempdir()?;
    let help = |words: &[&str]| -> Result<String, Box<dyn Error>> {
        let output = fbint(&folder, &[words, &["--help"]].concat())?;
        let lines: Vec<String> =
            String::from_utf8(output.stdout)?.lines().map(|line| line.trim_end().to_owned()).collect();
        Ok(format!("```console\n{}\n```\n", lines.join("\n")))
    };
    let overview = help(&[])?;
    let names: Vec<&str> = overview
        .lines()
        .skip_while(|line| *line != "Commands:")
        .skip(1)
        .map_while(|line| line.strip_prefix("  "))
        .filter_map(|line| line.split_whitespace().next())
        .filter(|name| *name != "help")
        .collect();
    assert!(names.len() > 5, "{names:?}");
    let mut text =
        format!("# The command\n\nThe output of `fbint --help`, and of `--help` for every subcommand.\n\n{overview}");
    for name in &names {
        text += &format!("\n## {name}\n\n{}", help(&[name])?);
    }
    Ok(text)
}

/// The anchors that mdBook makes of the headings of a page.
fn anchors(path: &Path) -> Result<BTreeSet<String>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let prose: Vec<&str> = text.split("```").step_by(2).collect();
    let headings = prose.iter().flat_map(|prose| prose.lines()).filter(|line| line.starts_with('#'));
    let anchor = |heading: &str| -> String {
        let words = heading.trim_start_matches('#').trim().to_lowercase();
        words
            .chars()
            .filter(|c| c.is_alphanumeric() || " -_".contains(*c))
            .map(|c| if c == ' ' { '-' } else { c })
            .collect()
    };
    Ok(headings.map(anchor).collect())
}

/// The targets of links and pictures.
fn links(text: &str) -> impl Iterator<Item = String> + '_ {
    let prose = text.split("```").step_by(2);
    prose.flat_map(|text| text.split("](").skip(1)).filter_map(|rest| Some(rest.split(')').next()?.to_owned()))
}

/// The files that mdBook includes.
fn included_files(text: &str) -> impl Iterator<Item = String> + '_ {
    text.split("{{#include ").skip(1).filter_map(|rest| Some(rest.split(['}', ':']).next()?.to_owned()))
}

/// A page with the examples that it includes under their names, as far as they are models.
fn with_included_files(page: &Path, text: &str) -> Result<String, Box<dyn Error>> {
    let folder = source().join(page.parent().ok_or("a page lies in a folder")?);
    let mut text = text.to_owned();
    for file in included_files(&text.clone()) {
        let path = folder.join(&file);
        if path.extension().is_some_and(|extension| extension == "rs") {
            let name = Path::new(&file).file_name().unwrap_or_default().to_string_lossy().into_owned();
            text += &format!("\n```rust\n// {name}\n{}```\n", fs::read_to_string(path)?);
        }
    }
    Ok(text)
}

fn read(page: impl AsRef<Path>) -> Result<String, Box<dyn Error>> {
    let page = page.as_ref();
    fs::read_to_string(source().join(page)).map_err(|error| format!("{}: {error}", page.display()).into())
}

/// The pages below the source of the book.
fn pages() -> Result<Vec<PathBuf>, Box<dyn Error>> {
    let (source, mut pages, mut folders) = (source(), Vec::new(), vec![source()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path.strip_prefix(&source)?.to_owned());
            }
        }
    }
    pages.sort();
    Ok(pages)
}

fn source() -> PathBuf {
    root().join("book/src")
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
