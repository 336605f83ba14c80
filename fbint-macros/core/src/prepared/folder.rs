//! The folder `derivations/` of a package.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::file::owner;
use super::key::key;
use crate::derivation::Problem;

/// The folder's name.
const FOLDER: &str = "derivations";
/// The ending of a file's name.
const ENDING: &str = ".txt";
/// The digits of the key that are in a file's name.
const DIGITS: usize = 16;
/// Files that this process has begun to write, so that each has a name of its own until it is complete.
static WRITTEN: AtomicUsize = AtomicUsize::new(0);
/// The environment variable with the [`Order`].
pub(crate) const VARIABLE: &str = "FBINT_DERIVATIONS";

/// What to do with the files of a folder.
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
pub struct Surroundings {
    /// The package's folder, if it is known.
    pub package: Option<PathBuf>,
    /// The package's name.
    pub name: String,
    /// The file that declares the model, if it is known.
    pub source: Option<PathBuf>,
    /// What to do with the package's files.
    pub order: Result<Order, Trouble>,
    /// Whether algebra may shorten and prove what no file has.
    pub algebra: bool,
    /// The sizes of the largest models.
    pub limits: SizeLimits,
}

/// The sizes of the largest models that are compiled.
#[derive(Clone, Copy, Debug)]
pub struct SizeLimits {
    /// The most entries of the state, of the inputs or of the outputs, and half of those of the parameters.
    pub entries: usize,
    /// The most integrals.
    pub integrals: usize,
}

impl SizeLimits {
    const ANY: Self = Self { entries: usize::MAX, integrals: usize::MAX };
}

/// Why a file cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Trouble {
    /// It is missing, outdated or damaged, or belongs to no model. Writing the derivations again mends that.
    Stale(String),
    /// It cannot be read or written.
    Access(String),
}

impl Surroundings {
    /// Nothing is kept.
    pub fn nowhere() -> Self {
        Self {
            package: None,
            name: String::new(),
            source: None,
            order: Ok(Order::Use),
            algebra: true,
            limits: SizeLimits::ANY,
        }
    }

    /// Nothing is kept, and everything is derived without algebra, of models up to a size.
    pub fn of_text(limits: SizeLimits) -> Self {
        Self { algebra: false, limits, ..Self::nowhere() }
    }

    /// Whether there is algebra that may be used.
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
            _ => Err(Trouble::Access(format!("the environment variable {VARIABLE} is neither `write` nor `check`"))),
        };
        let package = variable("CARGO_MANIFEST_DIR").map(PathBuf::from);
        Self { package, name: variable("CARGO_PKG_NAME").unwrap_or_default(), source, order, ..Self::nowhere() }
    }

    /// The package's folder of derivations as far as it concerns a model, if the package is known.
    pub fn folder(&self, problem: &Problem) -> Option<Folder> {
        let package = self.package.as_ref()?;
        let source = self.source.as_ref().and_then(|source| within(package, source));
        let ending = format!("-{}{ENDING}", &key(problem)[..DIGITS]);
        let path = format!("{FOLDER}/{}{ending}", problem.name);
        Some(Folder { package: package.clone(), source, model: problem.name.clone(), path, ending })
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
    /// The path of its file, within the package.
    path: String,
    /// The ending of the paths of files with its mathematics.
    ending: String,
}

impl Folder {
    /// The file that declares the model, within the package.
    pub fn source(&self) -> Option<&str> {
        self.source.as_deref()
    }

    /// Returns `true` if the folder exists.
    pub fn exists(&self) -> bool {
        self.package.join(FOLDER).exists()
    }

    /// The path within the package and the text of the file for the model, or of one for a model of another name and the same mathematics.
    ///
    /// # Errors
    ///
    /// [`Trouble::Stale`] where there is none, and [`Trouble::Access`] where it cannot be read.
    pub fn find(&self) -> Result<(String, String), Trouble> {
        let paths = self.paths();
        let own = paths.iter().find(|path| **path == self.path);
        let Some(path) = own.or_else(|| paths.iter().find(|path| path.ends_with(&self.ending))) else {
            return Err(Trouble::Stale(format!("`{FOLDER}/` has no derivation of `{}` as it is declared", self.model)));
        };
        let text = self.text(path).map_err(|error| Trouble::Access(format!("`{path}` cannot be read: {error}")))?;
        Ok((path.clone(), text))
    }

    /// Writes the model's file, and returns its path within the package. The file has all of the text, or is not there.
    pub fn keep(&self, text: &str) -> Result<String, Trouble> {
        let number = WRITTEN.fetch_add(1, Ordering::Relaxed);
        let unfinished = self.package.join(format!("{}.{}.{number}", self.path, std::process::id()));
        let write = || {
            fs::create_dir_all(self.package.join(FOLDER))?;
            fs::write(&unfinished, text)?;
            fs::rename(&unfinished, self.package.join(&self.path))
        };
        write().map(|()| self.path.clone()).map_err(|error| {
            let _ = fs::remove_file(&unfinished);
            Trouble::Access(format!("`{}` cannot be written: {error}", self.path))
        })
    }

    /// The paths within the package of files that belong to no model, as far as this one's sources tell.
    pub fn orphans(&self) -> Vec<String> {
        self.paths().into_iter().filter(|path| *path != self.path && self.is_orphan(path)).collect()
    }

    /// The paths within the package of all files in their order; none where there is no folder that can be read.
    fn paths(&self) -> Vec<String> {
        let entries = fs::read_dir(self.package.join(FOLDER)).into_iter().flatten().flatten();
        let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
        let paths = names.filter(|name| name.ends_with(ENDING)).map(|name| format!("{FOLDER}/{name}"));
        let mut paths: Vec<String> = paths.collect();
        paths.sort();
        paths
    }

    /// Whether the file that declares a file's model is gone, or does not name it any more, or it is of this model as it was.
    fn is_orphan(&self, path: &str) -> bool {
        // Another process may have removed it since: a library and its tests are compiled at once.
        let Ok(text) = self.text(path) else { return false };
        let Some((model, Some(source))) = owner(&text) else { return false };
        let declaration = fs::read_to_string(self.package.join(source)).unwrap_or_default();
        let is_former = model == self.model && Some(source) == self.source();
        !words(&declaration).any(|word| word == model) || is_former && is_declared_once(&declaration, model)
    }

    /// Removes a file of this path within the package.
    pub fn remove(&self, path: &str) -> Result<(), Trouble> {
        match fs::remove_file(self.package.join(path)) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => {
                Err(Trouble::Access(format!("`{path}` cannot be removed: {error}")))
            }
            _ => Ok(()),
        }
    }

    /// The text of a file of this path within the package, as version control may have checked it out.
    fn text(&self, path: &str) -> io::Result<String> {
        Ok(fs::read_to_string(self.package.join(path))?.replace("\r\n", "\n"))
    }
}

/// Returns `true` if a file of Rust declares one struct of this name, as far as its words tell: macros may declare more.
fn is_declared_once(text: &str, name: &str) -> bool {
    let words: Vec<&str> = words(text).collect();
    let declarations = words.windows(2).filter(|pair| *pair == ["struct", name]);
    declarations.count() == 1 && !words.contains(&"macro_rules")
}

fn words(text: &str) -> impl Iterator<Item = &str> {
    let words = text.split(|character: char| !(character.is_alphanumeric() || character == '_'));
    words.filter(|word| !word.is_empty())
}
