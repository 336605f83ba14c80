//! Recognises the files that fbint has written. An output replaces another file only if the user says so.
//!
//! Figures and pages end with a [mark](marked), and so do PNGs, in a chunk of text. A Parquet file names its writer, checkpoints and
//! records begin as nothing else does. A table of CSV has no room for a mark: its header has the names of fbint, or its record lies next
//! to it.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom};
use std::path::Path;

use serde_json::Value;

use super::has_ending;

/// The files that an output may replace.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Replace {
    /// Files that fbint has written.
    Own,
    /// All files but the sources of models.
    Any,
}

/// The mark of figures and pages, before their last tag.
const MARK: &str = "<!-- written by fbint -->";
/// The first bytes of exported sources.
const SOURCES: [&[u8]; 2] = [b"/* written by fbint ", b"# written by fbint "];
/// The mark of a PNG: a chunk of text with its checksum.
pub(crate) const CHUNK: &[u8] = b"\0\0\0\x0etEXtSoftware\0fbint\xc4\x1f\xa4D";
/// The length of the chunk that ends a PNG.
pub(crate) const END_OF_PNG: usize = 12;
/// The most bytes of a file that are read at either end.
const LOOK: u64 = 1 << 16;
/// The longest record.
const LONGEST_RECORD: u64 = 1 << 26;

impl Replace {
    /// Any file if `--force` is given.
    pub fn forced(force: bool) -> Self {
        if force { Self::Any } else { Self::Own }
    }

    /// Why what is at a path stays there, if it does. A table with this header is fbint's, too.
    pub(super) fn refusal(self, target: &Path, header: Option<&str>) -> io::Result<Option<&'static str>> {
        if !target.exists() {
            return Ok(None);
        }
        if has_ending(target, "rs") {
            return Ok(Some("it is Rust source, which is never replaced; give another name"));
        }
        if self == Self::Any || is_own(target, header)? {
            return Ok(None);
        }
        Ok(Some("it exists and was not written by fbint; give another name, or replace it with --force"))
    }
}

/// The document, SVG or HTML, with the mark by which it is recognised.
pub fn marked(document: &str) -> String {
    let end = document.rfind("</").unwrap_or(document.len());
    let (before, tag) = document.split_at(end);
    let mark = if before.ends_with(MARK) { "" } else { MARK };
    format!("{before}{mark}{tag}")
}

/// Whether fbint wrote a file. An empty one is as good as none.
fn is_own(path: &Path, header: Option<&str>) -> io::Result<bool> {
    let mut file = File::open(path)?;
    let length = file.metadata()?.len();
    let mut head = Vec::new();
    file.by_ref().take(LOOK).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(length.saturating_sub(LOOK)))?;
    let mut tail = Vec::new();
    file.take(LOOK).read_to_end(&mut tail)?;
    Ok(match head.first() {
        None => true,
        Some(b'{') => head.starts_with(br#"{"fbint_checkpoint":"#) || is_record(path),
        Some(b'<') => contains(&tail, MARK.as_bytes()),
        Some(0x89) => tail.len() >= END_OF_PNG && tail[..tail.len() - END_OF_PNG].ends_with(CHUNK),
        Some(b'/' | b'#') => SOURCES.iter().any(|mark| head.starts_with(mark)),
        _ if head.starts_with(b"PK\x03\x04") => tail.ends_with(b"written by fbint"),
        _ if head.starts_with(b"PAR1") => contains(&tail, b"fbint "),
        _ => is_table(&head, header) || is_record_beside(path),
    })
}

fn contains(bytes: &[u8], part: &[u8]) -> bool {
    bytes.windows(part.len()).any(|window| window == part)
}

/// Returns `true` if a file is the record of a run or of an ensemble.
pub(crate) fn is_record(path: &Path) -> bool {
    let is_short = fs::metadata(path).is_ok_and(|file| file.len() <= LONGEST_RECORD);
    let record = fs::read(path).ok().filter(|_| is_short);
    record
        .and_then(|bytes| serde_json::from_slice::<Value>(&bytes).ok())
        .is_some_and(|record| record["versions"]["fbint"].is_string())
}

/// Returns `true` if a table of CSV has its record next to it.
fn is_record_beside(table: &Path) -> bool {
    let endings = ["run.json", "ensemble.json"].map(OsStr::new);
    has_ending(table, "csv") && endings.iter().any(|ending| is_record(&table.with_extension(ending)))
}

/// Returns `true` if this is the beginning of a table with the header that is given, or with one of runs or ensembles.
fn is_table(head: &[u8], header: Option<&str>) -> bool {
    let line = head.split(|&byte| byte == b'\n').next().unwrap_or_default();
    if header.is_some_and(|header| header.as_bytes() == line) {
        return true;
    }
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(line);
    let Some(Ok(names)) = reader.records().next() else { return false };
    let names: Vec<&str> = names.iter().collect();
    let is_of_fbint = |name: &&str| ["d(", "mean(", "drawn("].iter().any(|begin| name.starts_with(begin));
    match names[..] {
        ["member" | "occurrence", "t", ..] | ["member", .., "error"] => true,
        ["t" | "member", ..] => names.iter().any(is_of_fbint),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use tempfile::tempdir;

    use super::*;

    #[test]
    fn files_of_others_stay() -> io::Result<()> {
        let folder = tempdir()?;
        let path = |name: &str| folder.path().join(name);
        let record = r#"{"status": "complete", "versions": {"fbint": "0.1.0"}}"#;
        fs::write(path("recorded.run.json"), record)?;
        let svg = marked("<svg>\n</svg>\n");
        let png = [&b"\x89PNG"[..], CHUNK, &[0; END_OF_PNG]].concat();
        let cases: [(&str, &[u8], bool); 22] = [
            ("empty.txt", b"", true),
            ("a.checkpoint", b"{\"fbint_checkpoint\":1,", true),
            ("a.json", record.as_bytes(), true),
            ("a.svg", svg.as_bytes(), true),
            ("a.png", &png, true),
            ("a.parquet", b"PAR1 .. fbint 0.1.0 .. PAR1", true),
            ("run.csv", b"t,q,p,d(energy)\n0.0,1.0,0.0,0.0\n", true),
            ("ends.csv", b"member,q,error\n", true),
            ("statistics.csv", b"t,members,mean(q)\n", true),
            ("recorded.csv", b"t,x\n", true),
            ("model.c", b"/* written by fbint 0.1.0 */", true),
            ("model.fmu", b"PK\x03\x04 .. written by fbint", true),
            ("other.c", b"/* mine */", false),
            ("other.zip", b"PK\x03\x04", false),
            ("notes.txt", b"precious", false),
            ("other.json", b"{\"versions\": 1}", false),
            ("other.svg", b"<svg></svg>", false),
            ("other.png", b"\x89PNG", false),
            ("other.parquet", b"PAR1 .. pyarrow .. PAR1", false),
            ("measured.csv", b"t,x,y\n0,1,2\n", false),
            ("recorded.txt", b"t,x\n", false),
            ("model.rs", b"t,q,d(energy)\n", false),
        ];
        for (name, content, expected) in cases {
            fs::write(path(name), content)?;
            assert_eq!(Replace::Own.refusal(&path(name), None)?.is_none(), expected, "{name}");
            assert_eq!(Replace::Any.refusal(&path(name), None)?.is_none(), name != "model.rs", "{name}");
        }
        assert_eq!(Replace::Own.refusal(&path("measured.csv"), Some("t,x,y"))?, None);
        assert_eq!(Replace::Own.refusal(&path("none"), None)?, None);
        Ok(())
    }
}
