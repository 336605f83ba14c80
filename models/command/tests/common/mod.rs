//! The command as the tests call it, and what they expect of it.

pub(crate) mod browser;

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

pub(crate) fn fbint(folder: impl AsRef<Path>, arguments: &[&str]) -> std::io::Result<Output> {
    Command::new(env!("CARGO_BIN_EXE_fbint")).current_dir(folder).args(arguments).output()
}

/// A fenced block of Markdown, and its language up to a comma.
pub(crate) struct Block<'a> {
    pub(crate) language: &'a str,
    pub(crate) text: String,
}

pub(crate) fn blocks(text: &str) -> Vec<Block<'_>> {
    let mut blocks = Vec::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            let language = language.split(',').next().unwrap_or_default();
            let text = lines.by_ref().take_while(|line| *line != "```").map(|line| format!("{line}\n")).collect();
            blocks.push(Block { language, text });
        }
    }
    blocks
}

/// Whether `.ci/thorough` runs, which leaves nothing out.
pub(crate) fn is_thorough() -> bool {
    std::env::var_os("FBINT_THOROUGH").is_some()
}

/// One line on stderr that has these words, nothing on stdout, exit code 2.
pub(crate) fn refused(output: &Output, words: &[&str]) {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(output.stdout.is_empty(), "printed {}", String::from_utf8_lossy(&output.stdout));
    assert!(complaint.starts_with("error: ") && complaint.lines().count() == 1, "{complaint}");
    for word in words {
        assert!(complaint.contains(word), "no {word} in {complaint}");
    }
}

/// The files and folders in a folder, sorted.
pub(crate) fn names_in(folder: impl AsRef<Path>) -> std::io::Result<Vec<String>> {
    let entries = fs::read_dir(folder)?.collect::<Result<Vec<_>, _>>()?;
    let mut names: Vec<String> = entries.iter().map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// The files in a folder, by their names.
#[cfg(feature = "parquet")]
pub(crate) fn files_in(folder: impl AsRef<Path>) -> std::io::Result<std::collections::BTreeMap<String, Vec<u8>>> {
    let read = |name: String| fs::read(folder.as_ref().join(&name)).map(|bytes| (name, bytes));
    names_in(&folder)?.into_iter().map(read).collect()
}

/// The number of blocks of members that are on disk, in the checkpoint of an ensemble.
pub(crate) fn blocks_in(checkpoint: impl AsRef<Path>) -> usize {
    let names = names_in(checkpoint).unwrap_or_default();
    names.iter().filter(|name| name.starts_with("block-")).count()
}

pub(crate) fn json_in(folder: impl AsRef<Path>, name: &str) -> Result<Value, Box<dyn Error>> {
    Ok(serde_json::from_str(&fs::read_to_string(folder.as_ref().join(name))?)?)
}
