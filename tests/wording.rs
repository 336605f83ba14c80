//! The wording of documents and doc comments: phrases that make sentences hard to read are counted, and their counts only fall.
//!
//! A clause for a subject ("What takes long is .."), a noun that only points back ("those of") and idioms of our own ("is said", "by
//! itself") hide who does what. Most uses can be rewritten with a concrete subject. A count above its ceiling fails here and is shown
//! with its places; after rewriting, lower the ceiling. No ceiling is ever raised.

use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

/// A phrase in small letters, and its most occurrences in documents and in doc comments. One that begins with a full stop counts where
/// sentences, list items, cells and comments begin.
const CEILINGS: [(&str, usize, usize); 30] = [
    (". what ", 1, 12),
    (". how ", 0, 6),
    (". whether ", 0, 42),
    (". the same ", 0, 8),
    (". of ", 0, 9),
    (" of which", 0, 4),
    (" so many", 0, 2),
    (" those of", 1, 9),
    (" that of", 0, 6),
    (" as it is", 0, 2),
    (" is said", 0, 2),
    (" is told", 0, 2),
    (" is asked", 0, 2),
    (" looked at", 0, 2),
    (" what comes of", 0, 1),
    (" by itself", 0, 2),
    (" of its own", 0, 4),
    (" of their own", 0, 2),
    (" is to be", 0, 2),
    (" says nothing", 0, 1),
    (" goes on", 0, 2),
    (" put to zero", 0, 2),
    (" beside ", 0, 2),
    (" nobody", 0, 2),
    (" in the place of", 0, 2),
    (" is no ", 0, 6),
    (" is looked", 0, 3),
    (" says something", 0, 0),
    (" says that", 0, 1),
    (" waited for", 0, 0),
];

#[test]
fn phrases_that_hide_the_subject_only_become_fewer() -> Result<(), Box<dyn Error>> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("..");
    let (mut documents, mut sources) = (Vec::new(), Vec::new());
    collect(&root, &mut documents, &mut sources)?;
    assert!(documents.len() > 15 && sources.len() > 300, "{} and {} files", documents.len(), sources.len());
    let mut faults = Vec::new();
    for (kind, files, comments) in [("documents", documents, false), ("doc comments", sources, true)] {
        let texts = files.iter().map(|file| Ok((file, blocks(&fs::read_to_string(file)?, comments))));
        let texts = texts.collect::<Result<Vec<_>, std::io::Error>>()?;
        for (phrase, in_documents, in_comments) in CEILINGS {
            let most = if comments { in_comments } else { in_documents };
            let found = texts.iter().flat_map(|(file, blocks)| {
                blocks.iter().flat_map(move |(line, block)| {
                    block.match_indices(phrase).map(move |_| format!("{}:{line}", file.display()))
                })
            });
            let found: Vec<String> = found.collect();
            if found.len() > most {
                let places = found.join("\n");
                faults.push(format!("`{phrase}`: {} in {kind}, more than {most}:\n{places}", found.len()));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

/// What begins a remedy.
const REMEDIES: [&str; 21] = [
    "add", "check", "choose", "correct", "declare", "did", "divide", "drop", "give", "keep", "let", "make", "name",
    "pass", "put", "remove", "rename", "restrict", "take", "use", "write",
];

/// The compiler's messages say what is wrong, and the remedy follows on a line of its own.
#[test]
fn remedies_are_notes() -> Result<(), Box<dyn Error>> {
    let (mut faults, mut notes) = (Vec::new(), 0);
    for theme in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("ui"))? {
        for file in fs::read_dir(theme?.path()).into_iter().flatten() {
            let path = file?.path();
            if path.extension().is_none_or(|extension| extension != "stderr") {
                continue;
            }
            let text = fs::read_to_string(&path)?;
            let glued = |line: &str| {
                let mut parts = line.split("; ").flat_map(|part| part.split(": ")).skip(2);
                parts.any(|part| part.split(' ').next().is_some_and(|word| REMEDIES.contains(&word)))
            };
            faults.extend(text.lines().filter(|line| line.starts_with("error: ") && glued(line)).map(str::to_owned));
            notes += text.lines().filter(|line| line.starts_with("       help: ")).count();
        }
    }
    assert!(notes > 80, "{notes} messages have a remedy");
    assert!(faults.is_empty(), "{}", faults.join("\n"));
    Ok(())
}

#[test]
fn sentences_are_found_across_lines_and_code_is_passed_over() {
    let source = "/// Ends. What\n/// begins.\nfn a() {} // What\n//! ```\n//! What is code.\n//! ```\n";
    assert_eq!(blocks(source, true), [(1, ". ends. what begins. ".to_owned())]);
    assert_eq!(blocks("# What\n- a\n- b | Of\n", false).len(), 3);
}

/// The documents, and the Rust of packages that is not a test.
fn collect(folder: &Path, documents: &mut Vec<PathBuf>, sources: &mut Vec<PathBuf>) -> Result<(), Box<dyn Error>> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let ending = path.extension().unwrap_or_default();
        if path.is_dir() {
            if !name.starts_with('.') && !["target", "tests", "benches"].contains(&&*name) {
                collect(&path, documents, sources)?;
            }
        } else if ending == "md" {
            documents.push(path);
        } else if ending == "rs" && path.components().any(|part| part.as_os_str() == "src") {
            sources.push(path);
        }
    }
    Ok(())
}

/// The paragraphs, list items and rows of a document, or of the doc comments of a source: the first line and the text in one line of
/// small letters, with a full stop before it and each cell. Blocks of code are passed over.
fn blocks(text: &str, comments: bool) -> Vec<(usize, String)> {
    let (mut blocks, mut open, mut is_code) = (Vec::<(usize, String)>::new(), false, false);
    for (number, line) in text.lines().enumerate() {
        let line = line.trim_start();
        let comment = line.strip_prefix("///").or_else(|| line.strip_prefix("//!"));
        let Some(line) = (if comments { comment } else { Some(line) }).map(str::trim) else {
            (open, is_code) = (false, false);
            continue;
        };
        if line.starts_with("```") {
            (open, is_code) = (false, !is_code);
        } else if line.is_empty() || is_code {
            open = false;
        } else {
            if !open || ["- ", "#", "|"].iter().any(|start| line.starts_with(start)) {
                blocks.push((number + 1, ".".to_owned()));
                open = true;
            }
            let text = line.trim_start_matches(['-', '#', '|', ' ']).to_lowercase().replace(" | ", ". ");
            let block = &mut blocks.last_mut().expect("a block is open").1;
            *block += &format!(" {text}");
        }
    }
    blocks.into_iter().map(|(line, block)| (line, block + " ")).collect()
}
