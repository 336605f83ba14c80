//! Files that are written whole or not at all: to a temporary neighbour, synced, then renamed. They replace fbint's own files alone.

mod own;

use std::error::Error;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

pub(crate) use self::own::is_record;
#[cfg(feature = "png")]
pub(crate) use self::own::{CHUNK, END_OF_PNG};
pub use self::own::{Replace, marked};
use crate::files::interruption::drafts;

/// The beginning of the names of unfinished files.
pub(crate) const PREFIX: &str = ".fbint-";

/// The place of a file, which was writable when the run started.
#[derive(Clone)]
pub struct OutputFile {
    given: PathBuf,
    target: PathBuf,
    /// The folder in which the file is until it is whole.
    drafts: PathBuf,
}

impl OutputFile {
    /// Checks that a file can be written at `path`, and may replace what is there; leaves nothing behind.
    ///
    /// # Errors
    ///
    /// If it cannot: one line that names the path and the reason.
    pub fn at(path: &Path, replace: Replace) -> Result<Self, Box<dyn Error>> {
        Self::of_file(path, replace, None)
    }

    /// The place of a table, which may also replace another one with this header.
    pub(crate) fn of_table(path: &Path, header: &str, replace: Replace) -> Result<Self, Box<dyn Error>> {
        Self::of_file(path, replace, Some(header))
    }

    /// The place of a folder, which may exist.
    pub(crate) fn of_folder(path: &Path) -> Result<Self, Box<dyn Error>> {
        Self::of(path, Path::is_dir, "not a folder")
    }

    /// The place of a file in this folder.
    pub(crate) fn within(&self, name: &str) -> Self {
        Self { given: self.given.join(name), target: self.target.join(name), drafts: self.target.clone() }
    }

    fn of_file(path: &Path, replace: Replace, header: Option<&str>) -> Result<Self, Box<dyn Error>> {
        let output = Self::of(path, Path::is_file, "not a regular file")?;
        match replace.refusal(&output.target, header).map_err(|error| output.refusal(&error))? {
            Some(reason) => Err(format!("cannot write {}: {reason}", path.display()).into()),
            None => Ok(output),
        }
    }

    /// The place of what is, if it exists, of the right kind.
    fn of(path: &Path, is_right: fn(&Path) -> bool, wrong: &str) -> Result<Self, Box<dyn Error>> {
        let target = resolve(path).map_err(|error| refusal(path, &error))?;
        if target.exists() && !is_right(&target) {
            return Err(format!("cannot write {}: {wrong}", path.display()).into());
        }
        let _undisturbed = drafts();
        let drafts = folder(&target).to_owned();
        temporary(&drafts).map_err(|error| refusal(path, &error))?;
        Ok(Self { given: path.to_owned(), target, drafts })
    }

    /// This output with its draft in a folder, where it stays until it is whole, and vanishes with the folder if the process is killed. The
    /// folder has to be on the same file system, because files cannot be renamed across.
    pub(crate) fn drafted_in(self, other: &Path) -> Self {
        let is_near = is_one_file_system(other, &self.drafts).unwrap_or(false);
        if is_near { Self { drafts: other.to_owned(), ..self } } else { self }
    }

    /// Begins to write the file.
    pub(crate) fn begin(&self) -> io::Result<Draft> {
        let mut drafts = drafts();
        let file = temporary(&self.drafts).or_else(|_| temporary(folder(&self.target)))?;
        drafts.push(file.path().to_owned());
        Ok(Draft { file: Some(BufWriter::new(file)), place: self.clone() })
    }

    /// Writes the file with `fill`, and does not publish it yet.
    pub(crate) fn draft(
        &self,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<WholeDraft, Box<dyn Error>> {
        let write = || {
            let mut draft = self.begin()?;
            fill(&mut draft)?;
            draft.finish()
        };
        write().map_err(|error| self.refusal(&error))
    }

    /// Writes the file with `fill`.
    ///
    /// # Errors
    ///
    /// If it cannot be written; what was there before stays.
    pub fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<(), Box<dyn Error>> {
        publish([self.draft(fill)?])
    }

    /// The error of a file that could not be written.
    pub(crate) fn refusal(&self, error: &io::Error) -> Box<dyn Error> {
        refusal(&self.given, error).into()
    }

    /// Returns `true` if both outputs are one file.
    fn is_same_file(&self, other: &Self) -> bool {
        self.target == other.target
    }

    /// Returns `true` if the file exists already.
    pub(crate) fn exists(&self) -> bool {
        self.target.exists()
    }

    /// The path that the file has when it is whole.
    pub(crate) fn target(&self) -> &Path {
        &self.target
    }

    /// The path as it was given.
    pub fn path(&self) -> &Path {
        &self.given
    }
}

/// A file that is not whole yet: it has a temporary name, and vanishes unless it is published, also when a signal ends the process.
pub(crate) struct Draft {
    /// The temporary file, until it is published or dropped.
    file: Option<BufWriter<NamedTempFile>>,
    place: OutputFile,
}

/// A file that is whole and on disk under its temporary name.
pub(crate) struct WholeDraft(Draft);

impl Draft {
    pub(crate) fn finish(mut self) -> io::Result<WholeDraft> {
        if let Some(file) = &mut self.file {
            file.flush()?;
            file.get_ref().as_file().sync_all()?;
        }
        Ok(WholeDraft(self))
    }

    /// Gives the file its name.
    fn rename(&mut self, drafts: &mut Vec<PathBuf>) -> io::Result<()> {
        let Some(file) = self.file.take() else { return Ok(()) };
        drafts.retain(|draft| draft != file.get_ref().path());
        file.into_parts().0.persist(&self.place.target)?;
        sync_folder(folder(&self.place.target))
    }
}

/// Gives files their names, in this order. A signal ends the process before the first or after the last.
///
/// # Errors
///
/// If a file cannot be renamed; those before it are renamed, and those after it vanish.
pub(crate) fn publish(files: impl IntoIterator<Item = WholeDraft>) -> Result<(), Box<dyn Error>> {
    let mut files: Vec<WholeDraft> = files.into_iter().collect();
    // Unlocked before `files` are dropped, which takes the lock again.
    let mut drafts = drafts();
    files
        .iter_mut()
        .try_for_each(|WholeDraft(draft)| draft.rename(&mut drafts).map_err(|error| draft.place.refusal(&error)))
}

impl WholeDraft {
    /// The length of the file in bytes.
    pub(crate) fn length(&self) -> io::Result<u64> {
        self.0.file.as_ref().map_or(Ok(0), |file| Ok(file.get_ref().as_file().metadata()?.len()))
    }
}

impl Drop for Draft {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            let mut drafts = drafts();
            drafts.retain(|draft| draft != file.get_ref().path());
            // What is in the buffer would be written first.
            drop(file.into_parts().0);
        }
    }
}

impl Write for Draft {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.as_mut().map_or(Ok(0), |file| file.write(bytes))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.as_mut().map_or(Ok(()), Write::flush)
    }
}

/// The canonical path of `path`. A symbolic link to a file remains: its target is replaced.
fn resolve(path: &Path) -> io::Result<PathBuf> {
    match fs::canonicalize(path) {
        Ok(existing) => return Ok(existing),
        // A draft has a name of its own, and would be found to have no place when it is whole.
        Err(error) if error.kind() == io::ErrorKind::InvalidFilename => return Err(error),
        Err(_) => {}
    }
    let name = path.file_name().ok_or(io::ErrorKind::InvalidFilename)?;
    Ok(fs::canonicalize(folder(path))?.join(name))
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

#[cfg(unix)]
fn is_one_file_system(one: &Path, other: &Path) -> io::Result<bool> {
    use std::os::unix::fs::MetadataExt;
    Ok(fs::metadata(one)?.dev() == fs::metadata(other)?.dev())
}

/// Elsewhere that is not known.
#[cfg(not(unix))]
fn is_one_file_system(_: &Path, _: &Path) -> io::Result<bool> {
    Ok(false)
}

/// Makes a file's new name durable, where that takes a separate call.
#[cfg(unix)]
fn sync_folder(folder: &Path) -> io::Result<()> {
    fs::File::open(folder)?.sync_all()
}

#[cfg(not(unix))]
fn sync_folder(_: &Path) -> io::Result<()> {
    Ok(())
}

/// An empty file in a folder that vanishes when dropped.
fn temporary(folder: &Path) -> io::Result<NamedTempFile> {
    let mut builder = Builder::new();
    builder.prefix(PREFIX);
    // Temporary files are private by default; this one becomes an ordinary file of the user.
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    builder.tempfile_in(folder)
}

/// Checks that files can be written into a folder; leaves nothing behind.
pub(crate) fn check_folder(folder: &Path) -> Result<(), Box<dyn Error>> {
    let _undisturbed = drafts();
    let refusal = |error| format!("cannot write into {}: {}", folder.display(), reason(&error, "no such folder"));
    Ok(temporary(folder).map(drop).map_err(refusal)?)
}

/// The path, if its ending is one of `known`; the ending decides what is written.
///
/// # Errors
///
/// If the path has another ending. The message names the option that gave the path.
pub(crate) fn with_ending<'a>(option: &str, path: &'a Path, known: &[&str]) -> Result<&'a Path, Box<dyn Error>> {
    if known.iter().any(|known| has_ending(path, known)) {
        return Ok(path);
    }
    let known: Vec<String> = known.iter().map(|known| format!(".{known}")).collect();
    Err(format!("{option} {}: the ending decides what is written, and must be {}", path.display(), known.join(" or "))
        .into())
}

/// Returns `true` if a path ends in `.ending`, in capitals or not.
pub(crate) fn has_ending(path: &Path, ending: &str) -> bool {
    path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case(ending))
}

/// Refuses options that name one file. Files are given with the options that name them.
pub(crate) fn distinct(files: &[(&str, &OutputFile)]) -> Result<(), Box<dyn Error>> {
    for (index, (name, file)) in files.iter().enumerate() {
        if let Some((other, _)) = files[..index].iter().find(|(_, other)| other.is_same_file(file)) {
            return Err(format!("{other} and {name} both name {}", file.path().display()).into());
        }
    }
    Ok(())
}

/// One line that names the path and the reason, without the temporary file's name.
fn refusal(path: &Path, error: &io::Error) -> String {
    format!("cannot write {}: {}", path.display(), reason(error, "no such folder"))
}

/// The reason of an error with a file in plain words; `missing` is the reason if something does not exist.
pub fn reason(error: &io::Error, missing: &str) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => missing.to_owned(),
        io::ErrorKind::NotADirectory => "its parent is not a folder".to_owned(),
        io::ErrorKind::PermissionDenied => "permission denied".to_owned(),
        io::ErrorKind::ReadOnlyFilesystem => "read-only file system".to_owned(),
        io::ErrorKind::InvalidFilename => {
            "the name is too long for its file system, or not the name of a file".to_owned()
        }
        io::ErrorKind::StorageFull => "no space left on the device".to_owned(),
        _ => error.to_string(),
    }
}
