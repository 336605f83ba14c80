//! The folder `derivations/` of a package.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use proc_macro2::{TokenStream, TokenTree};

use super::file::owner;
use super::key::key;
use crate::derivation::Problem;

/// The folder's name.
const FOLDER: &str = "derivations";
/// The ending of a file's name.
const ENDING: &str = ".txt";
/// The digits of the key that are in a file's name.
const DIGITS: usize = 16;
/// The size of the largest file that is read.
const LARGEST: u64 = 16 << 20;
/// The number of files that this process has begun to write: each has a different name until it is complete.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);
/// The environment variable with the [`Order`].
pub(crate) const VARIABLE: &str = "FBINT_DERIVATIONS";

/// The action on the files of a folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Use what fits.
    Use,
    /// Write what is missing or outdated, and remove what no model has.
    Write,
    /// Refuse what `Write` would change.
    Check,
}

/// Where a model is compiled.
#[derive(Clone, Debug)]
pub struct BuildEnvironment {
    /// The package's folder, if it is known.
    pub package: Option<PathBuf>,
    /// The package's name.
    pub name: String,
    /// The file that declares the model, if it is known.
    pub source: Option<PathBuf>,
    /// The action on the package's files.
    pub order: Result<Order, FileError>,
    /// `true` if algebra may shorten and prove what no file has.
    pub algebra: bool,
    /// `true` if a text is compiled, which has what code has where a key asks for it.
    pub is_text: bool,
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum FileError {
    /// It is missing, outdated or damaged, or belongs to no model. Writing the derivations again mends that.
    Stale(String),
    /// It cannot be read or written.
    Access(String),
}

impl BuildEnvironment {
    /// Nothing is kept.
    pub fn nowhere() -> Self {
        Self { package: None, name: String::new(), source: None, order: Ok(Order::Use), algebra: true, is_text: false }
    }

    /// Nothing is kept, and everything is derived without algebra.
    pub fn of_text() -> Self {
        Self { algebra: false, is_text: true, ..Self::nowhere() }
    }

    /// Returns `true` if there is algebra that may be used.
    pub fn has_algebra(&self) -> bool {
        cfg!(feature = "derive") && self.algebra
    }

    /// As cargo describes them to a macro that is called in the file `source`. Only packages that cargo was told to build are written
    /// to or looked through, and only by a compiler: an editor's macro server uses what fits.
    pub fn of_build(source: Option<PathBuf>) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let is_own =
            variable("CARGO_PRIMARY_PACKAGE").is_some() && variable("RUST_ANALYZER_INTERNALS_DO_NOT_USE").is_none();
        let ordered = std::env::var_os(VARIABLE).filter(|_| is_own).unwrap_or_default();
        let order = match ordered.to_str() {
            Some("") => Ok(Order::Use),
            Some("write") => Ok(Order::Write),
            Some("check") => Ok(Order::Check),
            _ => Err(FileError::Access(format!("the environment variable {VARIABLE} is neither `write` nor `check`"))),
        };
        let package = variable("CARGO_MANIFEST_DIR").map(PathBuf::from);
        Self { package, name: variable("CARGO_PKG_NAME").unwrap_or_default(), source, order, ..Self::nowhere() }
    }

    /// The package's folder of derivations as far as it concerns a model, if the package is known.
    pub fn folder(&self, problem: &Problem) -> Option<Folder> {
        let package = self.package.as_ref()?;
        let source = self.source.as_ref().and_then(|source| within(package, source));
        let ending = format!("-{}{ENDING}", &key(problem)[..DIGITS]);
        Some(Folder { package: package.clone(), source, model: problem.name.clone(), ending })
    }

    /// The command that makes what is kept current, for a package that calls the runtime `runtime`.
    pub fn command(&self, runtime: &str) -> String {
        format!("{VARIABLE}=write cargo check --all-targets -p {} --features {runtime}/derive", self.name)
    }
}

/// A file's path within the package, with `/` between its parts.
fn within(package: &Path, file: &Path) -> Option<String> {
    let (package, file) = (package.canonicalize().ok()?, file.canonicalize().ok()?);
    let parts = file.strip_prefix(package).ok()?.components();
    let parts: Option<Vec<&str>> = parts.map(|part| part.as_os_str().to_str()).collect();
    Some(parts?.join("/"))
}

/// A package's folder of derivations as far as it concerns a model.
#[derive(Clone, Debug)]
pub struct Folder {
    package: PathBuf,
    /// The file that declares the model, within the package.
    source: Option<String>,
    /// The model's name.
    model: String,
    /// The ending of the names of files with the model's mathematics.
    ending: String,
}

impl Folder {
    /// The file that declares the model, within the package.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// The name of the model's own file.
    fn file_name(&self) -> String {
        format!("{}{}", self.model, self.ending)
    }

    /// Returns `true` if the folder exists.
    pub fn exists(&self) -> bool {
        fs::symlink_metadata(self.package.join(FOLDER)).is_ok()
    }

    /// The path within the package and the text of the file for the model, or of one for a model of another name and the same mathematics.
    ///
    /// # Errors
    ///
    /// [`FileError::Stale`] where there is none, and [`FileError::Access`] where it cannot be read.
    pub fn find(&self) -> Result<(String, String), FileError> {
        let names = self.names()?;
        let own = self.file_name();
        let found = names.iter().find(|name| **name == own);
        let found = found.or_else(|| names.iter().find(|name| name.ends_with(&self.ending)));
        if let Some(name) = found {
            return Ok((path(name), self.text(name).map_err(|error| unreadable(name, &error))?));
        }
        let model = &self.model;
        let of_this_name = |name: &&String| {
            let rest = name.strip_prefix(model).and_then(|rest| rest.strip_prefix('-'));
            rest.is_some_and(|rest| !rest.contains('-'))
        };
        Err(FileError::Stale(match names.iter().find(of_this_name).map(|name| path(name)) {
            Some(path) => format!("the derivation of `{model}` is outdated: `{path}` is of another declaration"),
            None => format!("`{FOLDER}/` has no derivation of `{model}`"),
        }))
    }

    /// Writes the model's file, and returns its path within the package. The file has all of the text, or is not there.
    pub fn keep(&self, text: &str) -> Result<String, FileError> {
        // Nothing is written through a link.
        self.names()?;
        let name = self.file_name();
        let folder = self.package.join(FOLDER);
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let unfinished = folder.join(format!(".{name}.{}.{number}", std::process::id()));
        let write = || {
            fs::create_dir_all(&folder)?;
            fs::write(&unfinished, text)?;
            fs::rename(&unfinished, folder.join(&name))
        };
        write().map(|()| path(&name)).map_err(|error| {
            let _ = fs::remove_file(&unfinished);
            FileError::Access(format!("`{}` cannot be written: {error}", path(&name)))
        })
    }

    /// Files that belong to no model, as far as this one's sources tell: the file that declares theirs is gone, or does not name
    /// them any more, or they are of this model as it was.
    pub fn orphans(&self) -> Result<Vec<String>, FileError> {
        let own = self.file_name();
        let mut orphans = Vec::new();
        for name in self.names()?.into_iter().filter(|name| *name != own) {
            // Another process may have removed it since: a library and its tests are compiled at once.
            let text = match self.text(&name) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => continue,
                text => text.map_err(|error| unreadable(&name, &error))?,
            };
            let Some((model, Some(source))) = owner(&text) else { continue };
            let declaration = self.declaration(source);
            let is_former = model == self.model && Some(source) == self.source();
            if !names_word(&declaration, model) || is_former && is_declared_once(&declaration, model) {
                orphans.push(path(&name));
            }
        }
        Ok(orphans)
    }

    /// The text of the file of this path within the package; nothing where there is none, which a link or a path out of it is not.
    fn declaration(&self, source: &str) -> String {
        let file = self.package.join(source);
        let is_own = within(&self.package, &file).is_some_and(|path| path == source) && file.is_file();
        if is_own { fs::read_to_string(file).unwrap_or_default() } else { String::new() }
    }

    /// Removes a file of this path within the package.
    pub fn remove(&self, path: &str) -> Result<(), FileError> {
        match fs::remove_file(self.package.join(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(FileError::Access(format!("`{path}` cannot be removed: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// The names of all files in their order; none without a folder.
    fn names(&self) -> Result<Vec<String>, FileError> {
        let folder = self.package.join(FOLDER);
        let unreadable = |error: io::Error| FileError::Access(format!("the folder `{FOLDER}` cannot be read: {error}"));
        match fs::symlink_metadata(&folder) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(unreadable(error)),
            Ok(found) if !found.is_dir() => {
                let what = if found.is_symlink() { "a symbolic link" } else { "a file" };
                return Err(FileError::Access(format!("`{FOLDER}` is {what}: it has to be a folder of the package")));
            }
            Ok(_) => {}
        }
        let mut names = Vec::new();
        for entry in fs::read_dir(&folder).map_err(unreadable)? {
            let name = entry.map_err(unreadable)?.file_name();
            names.extend(name.into_string().ok().filter(|name| name.ends_with(ENDING) && !name.starts_with('.')));
        }
        names.sort();
        Ok(names)
    }

    /// The text of a file of this name, which is neither a link nor larger than any derivation.
    fn text(&self, name: &str) -> io::Result<String> {
        let file = self.package.join(FOLDER).join(name);
        let found = fs::symlink_metadata(&file)?;
        if found.is_symlink() {
            return Err(io::Error::other("it is a symbolic link"));
        }
        if !found.is_file() {
            return Err(io::Error::other("it is not a file"));
        }
        if found.len() > LARGEST {
            return Err(io::Error::other(format!("it has more than {} MiB", LARGEST >> 20)));
        }
        // As version control may have checked it out.
        Ok(fs::read_to_string(&file)?.replace("\r\n", "\n"))
    }
}

fn unreadable(name: &str, error: &io::Error) -> FileError {
    FileError::Access(format!("`{}` cannot be read: {error}", path(name)))
}

fn path(name: &str) -> String {
    format!("{FOLDER}/{name}")
}

/// Returns `true` if a file of Rust declares one struct of this name, as far as can be told: macros may declare more.
fn is_declared_once(text: &str, name: &str) -> bool {
    let mut declarations = Vec::new();
    text.parse().is_ok_and(|tokens| {
        find_declarations(tokens, name, false, &mut declarations);
        declarations == [false]
    })
}

/// Finds the structs of this name, each with whether a macro takes it.
fn find_declarations(tokens: TokenStream, name: &str, in_macro: bool, found: &mut Vec<bool>) {
    let (mut is_after_struct, mut is_taken) = (false, false);
    for token in tokens {
        match &token {
            TokenTree::Ident(ident) if is_after_struct && ident == name => found.push(in_macro),
            TokenTree::Group(group) => find_declarations(group.stream(), name, in_macro || is_taken, found),
            _ => {}
        }
        is_after_struct = matches!(&token, TokenTree::Ident(ident) if ident == "struct");
        is_taken = match &token {
            TokenTree::Punct(punct) => punct.as_char() == '!',
            // The name in `macro_rules! name { .. }`.
            TokenTree::Ident(_) => is_taken,
            _ => false,
        };
    }
}

/// Returns `true` if a text contains a word.
fn names_word(text: &str, word: &str) -> bool {
    text.split(|character: char| !(character.is_alphanumeric() || character == '_')).any(|other| other == word)
}
