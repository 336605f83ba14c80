//! Models in files, which are read and derived while the program runs.

#[cfg(feature = "text")]
use std::collections::VecDeque;
use std::error::Error;
#[cfg(feature = "text")]
use std::fmt;
#[cfg(feature = "text")]
use std::fs::{self, File};
#[cfg(feature = "text")]
use std::io::{self, Read};
#[cfg(feature = "text")]
use std::mem::replace;
#[cfg(feature = "text")]
use std::ops::ControlFlow;
use std::path::Path;
#[cfg(feature = "text")]
use std::path::PathBuf;
#[cfg(feature = "text")]
use std::sync::{Arc, Mutex, PoisonError};

#[cfg(feature = "text")]
use fbint_export::declarations_in;
#[cfg(feature = "text")]
use fbint_text::{Mistakes, OpenValues, TextModel};

#[cfg(feature = "text")]
use crate::files::output::reason;
use crate::files::output::{has_ending, is_record};
use crate::line::arguments::{Integration, Variation};
use crate::models::catalogue::find;
#[cfg(feature = "text")]
use crate::words::complaint::complain;
use fbint_catalogue::{AnyModel, Entry};
#[cfg(feature = "text")]
use fbint_catalogue::{Declaration, lower_case};

/// The ending of the names of files with models.
const ENDING: &str = ".rs";

/// The name of a model in a file on the command line: `FILE.rs`, or `FILE.rs:MODEL` where the file has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFile<'n> {
    path: &'n str,
    model: Option<&'n str>,
}

impl<'n> InFile<'n> {
    /// The file that a name means, if it is not the name of a model of the program.
    pub(crate) fn named(name: &'n str) -> Option<Self> {
        if name.ends_with(ENDING) {
            return Some(Self { path: name, model: None });
        }
        let colon = name.rfind(':')?;
        let (path, model) = (&name[..colon], &name[colon + 1..]);
        path.ends_with(ENDING).then_some(Self { path, model: Some(model) })
    }

    /// The model, with its default parameters.
    pub(crate) fn load(self) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
        self.load_from(Path::new(""))
    }

    /// The same, where the path of the file starts from a folder.
    pub(crate) fn load_from(self, folder: &Path) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
        let entries = read(&folder.join(self.path))?;
        let index = self.place(&entries)?;
        Ok((entries[index].load)())
    }

    /// The place of the model in the file.
    fn place(self, entries: &[Entry]) -> Result<usize, Box<dyn Error>> {
        match (self.model, entries) {
            (Some(model), entries) => find(entries, model),
            (None, [_]) => Ok(0),
            (None, _) => {
                let path = self.path;
                let named = entries.iter().map(|entry| format!("{path}:{}", entry.name)).collect::<Vec<_>>();
                let named = named.join(" or ");
                Err(format!("{path} has several models: name one of them, {named}").into())
            }
        }
    }

    /// The model that is named, or else all models of the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is mistaken: then all mistakes, each with its place in the file.
    pub(crate) fn entries(self) -> Result<Vec<Entry>, Box<dyn Error>> {
        let mut entries = read(Path::new(self.path))?;
        match self.model {
            Some(_) => Ok(vec![entries.swap_remove(self.place(&entries)?)]),
            None => Ok(entries),
        }
    }
}

/// The path of a record, if a name on the command line is one.
pub(crate) fn record_named(name: &str) -> Option<&Path> {
    let path = Path::new(name);
    (has_ending(path, "json") && is_record(path)).then_some(path)
}

/// The file that a model is in, or its name.
pub(crate) fn model_file(name: &str) -> &str {
    InFile::named(name).map_or(name, |file| file.path)
}

/// The model in a text that a name means, unless it means the only one.
pub(crate) fn model_in(name: &str) -> Option<&str> {
    InFile::named(name).map_or(Some(name), |file| file.model)
}

/// The model that a name means: its derivation with its programs, which follow from the derivations of the crate if it keeps any, and the
/// model as runs take it. Other items of a source file are passed over.
#[cfg(feature = "text")]
pub(crate) fn declared(models: &[Entry], name: &str) -> Result<(Arc<fbint_text::Model>, Entry), Box<dyn Error>> {
    let Some(file) = InFile::named(name) else {
        let entry = models[find(models, name)?].clone();
        return Ok((programs_of(&entry, None)?, entry));
    };
    let path = Path::new(file.path);
    let source = text_of(path)?;
    note_left_out(file.path, &source);
    let text = declarations_in(&source);
    let models = models_of(&text, file.path, package_of(path).as_deref(), &mut complained)?;
    let mut entries: Vec<Entry> = models.iter().map(TextModel::entry).collect();
    let place = file.place(&entries)?;
    Ok((models[place].declared().clone(), entries.swap_remove(place)))
}

/// The derivation and the programs of a model by the text that declares it, which a compiled model may tell.
#[cfg(feature = "text")]
pub(crate) fn programs_of(entry: &Entry, text: Option<&str>) -> Result<Arc<fbint_text::Model>, Box<dyn Error>> {
    let Entry { name, type_name, declaration, .. } = entry;
    let (text, package) = match (text, declaration) {
        (Some(text), _) => (text, None),
        (None, Some(Declaration { text, package })) => (&**text, Some(Path::new(*package))),
        (None, None) => {
            return Err(format!(
                "`{name}` was compiled without the text that declares it, which exports are made from: name its source, FILE.rs, or \
                 give its `Model` the function `declaration`"
            )
            .into());
        }
    };
    let package = package.filter(|package| keeps_derivations(package));
    let models = models_of(&fbint_export::declarations_in(text), name, package, &mut complained)?;
    let own = models.iter().map(TextModel::declared).find(|model| model.name == *type_name);
    own.cloned()
        .ok_or_else(|| format!("the declaration of `{name}` has no struct `{type_name}`, or a macro writes it").into())
}

/// The folder of the crate that a file is in, if it keeps derivations.
#[cfg(feature = "text")]
fn package_of(path: &Path) -> Option<PathBuf> {
    let path = fs::canonicalize(path).ok()?;
    let package = path.ancestors().skip(1).find(|folder| folder.join("Cargo.toml").is_file())?;
    keeps_derivations(package).then(|| package.to_owned())
}

#[cfg(feature = "text")]
fn keeps_derivations(package: &Path) -> bool {
    package.join("derivations").is_dir()
}

/// Refuses a model in a file, before anything is derived, whose parameters have no values, or that has no start, unless options give them.
#[cfg(feature = "text")]
pub(crate) fn check_values(arguments: &Integration, vary: &[Variation]) -> Result<(), Box<dyn Error>> {
    let Some(InFile { path, model }) = InFile::named(&arguments.model) else { return Ok(()) };
    let path = arguments.folder.as_deref().map_or(PathBuf::from(path), |folder| folder.join(path));
    let Ok(text) = text_of(&path) else { return Ok(()) };
    let is_given = |name: &str| {
        let given = arguments.parameters.iter().map(|given| &given.name).chain(vary.iter().map(|varied| &varied.name));
        let begins =
            |given: &str| given.strip_prefix(name).is_some_and(|rest| rest.is_empty() || rest.starts_with('['));
        given.into_iter().any(|given| begins(given))
    };
    let parameter = |name: &str| {
        let message = || format!("nothing gives `{name}` a value: add `default({name} = ..)`, or pass `-p {name}=..`");
        (!is_given(name)).then(message)
    };
    let has_start = !arguments.start.is_empty() || !arguments.guess.is_empty();
    let start = "nothing says where a run starts: add `start(..)`, or set every entry with --start";
    let is_meant = |name: &str| model.is_none_or(|model| model == name || model == lower_case(name));
    let open = OpenValues { is_meant: &is_meant, parameter: &parameter, start: (!has_start).then_some(start) };
    let mistaken = |mistakes| MistakenText { mistakes, name: path.display().to_string() };
    Ok(fbint_text::check_values(&declarations_in(&text), &open).map_err(mistaken)?)
}

#[cfg(not(feature = "text"))]
pub(crate) fn check_values(_: &Integration, _: &[Variation]) -> Result<(), Box<dyn Error>> {
    Ok(())
}

/// The text of the file that a name means, if it means one. The path of the file starts from a folder.
#[cfg(feature = "text")]
pub(crate) fn text_named(folder: Option<&Path>, name: &str) -> Result<Option<String>, Box<dyn Error>> {
    let Some(InFile { path, .. }) = InFile::named(name) else { return Ok(None) };
    let text = text_of(&folder.map_or(PathBuf::from(path), |folder| folder.join(path)))?;
    note_left_out(path, &text);
    Ok(Some(text))
}

/// Says on stderr which code of models is passed over.
#[cfg(feature = "text")]
fn note_left_out(path: &str, text: &str) {
    for line in left_out(text) {
        complain(&format!("note: {path}: {line}"));
    }
}

/// The code of models in a text that is passed over, a line for each model.
#[cfg(feature = "text")]
pub fn left_out(text: &str) -> Vec<String> {
    let line = |(model, functions): (String, Vec<String>)| {
        format!(
            "`impl Model for {model}` is passed over with its functions {}: a text has its declaration alone, whose keys `start`, `event`, \
             `input` and `draw` say such things",
            functions.join(", ")
        )
    };
    fbint_export::left_out(text).into_iter().map(line).collect()
}

#[cfg(not(feature = "text"))]
pub(crate) fn text_named(_: Option<&Path>, _: &str) -> Result<Option<String>, Box<dyn Error>> {
    Ok(None)
}

/// The model of a text that a name means, with its default parameters: the name of a model, of a file with one, or of one in a file.
pub(crate) fn load_text(text: &str, name: &str) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
    let entries = entries_of(text, model_file(name))?;
    let index = match InFile::named(name) {
        Some(file) => file.place(&entries)?,
        None => find(&entries, name)?,
    };
    Ok((entries[index].load)())
}

/// The models of a text. The models of the last two texts stay in use, a text and its version with given laws, so that neither is derived
/// again.
#[cfg(feature = "text")]
fn entries_of(text: &str, name: &str) -> Result<Vec<Entry>, Box<dyn Error>> {
    static LAST: Mutex<VecDeque<(String, Vec<Entry>)>> = Mutex::new(VecDeque::new());
    let entries = of_text(text, name, &mut complained)?;
    let mut last = LAST.lock().unwrap_or_else(PoisonError::into_inner);
    last.retain(|(other, _)| other != text);
    last.push_front((text.to_owned(), entries.clone()));
    last.truncate(2);
    Ok(entries)
}

/// Says on stderr where a derivation is, after each second in which it begins another task.
#[cfg(feature = "text")]
fn complained(line: Option<String>) -> ControlFlow<()> {
    line.iter().for_each(|line| complain(line));
    ControlFlow::Continue(())
}

#[cfg(not(feature = "text"))]
fn entries_of(_: &str, name: &str) -> Result<Vec<Entry>, Box<dyn Error>> {
    read(Path::new(name))
}

/// A name for files about a model. A model in a file has its own name, or the file's without folder and ending.
pub(crate) fn stem(name: &str) -> &str {
    let Some(InFile { path, model }) = InFile::named(name) else { return name };
    model.or_else(|| Path::new(path).file_stem()?.to_str()).unwrap_or(path)
}

#[cfg(feature = "text")]
fn read(path: &Path) -> Result<Vec<Entry>, Box<dyn Error>> {
    entries_of(&text_of(path)?, &path.display().to_string())
}

#[cfg(feature = "text")]
fn text_of(path: &Path) -> Result<String, Box<dyn Error>> {
    let name = path.display();
    let unreadable = |error: io::Error| format!("cannot read {name}: {}", reason(&error, "no such file"));
    // No more is read than what a text may have, whatever the file is.
    let (mut bytes, most) = (Vec::new(), fbint_text::LONGEST as u64 + 1);
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(unreadable)?;
    Ok(String::from_utf8(bytes).map_err(|_| format!("{name} is not a text: it is not in UTF-8"))?)
}

/// Hears once a second of a derivation, by a line where it has begun another task, and answers whether to go on.
#[cfg(feature = "text")]
pub type Say<'s> = dyn FnMut(Option<String>) -> ControlFlow<()> + 's;

/// All models of a text, which mistakes call `name`. Items that declare no model are passed over, as in a source file of a crate.
///
/// # Errors
///
/// If the text is mistaken: all mistakes, each with its place, as the Rust compiler shows them.
#[cfg(feature = "text")]
pub fn of_text(text: &str, name: &str, say: &mut Say<'_>) -> Result<Vec<Entry>, Box<dyn Error>> {
    Ok(models_of(&declarations_in(text), name, None, say)?.iter().map(TextModel::entry).collect())
}

/// The models of declarations, which mistakes call `name`, by the derivations of a package if it keeps any.
#[cfg(feature = "text")]
fn models_of(
    text: &str,
    name: &str,
    package: Option<&Path>,
    say: &mut Say<'_>,
) -> Result<Vec<TextModel>, Box<dyn Error>> {
    let (mut seconds, mut said) = (0, "");
    let mut watch = |task: &'static str| {
        seconds += 1;
        let is_other = task != replace(&mut said, task);
        say(is_other.then(|| format!("{name}: still {task} after {seconds} s; Ctrl-C interrupts")))
    };
    let models = fbint_text::models_watched(text, package, &mut watch);
    models.map_err(|mistakes| MistakenText { mistakes, name: name.to_owned() }.into())
}

/// The mistake in a text that has a name.
#[cfg(feature = "text")]
#[derive(Debug)]
struct MistakenText {
    mistakes: Mistakes,
    name: String,
}

#[cfg(feature = "text")]
impl fmt::Display for MistakenText {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(&self.mistakes.rendered(&self.name, false))
    }
}

#[cfg(feature = "text")]
impl Error for MistakenText {}

/// The mistakes in a text, if that is the error, in lines that are meant to be printed as they are.
pub(crate) fn mistakes(error: &(dyn Error + 'static), in_colours: bool) -> Option<String> {
    #[cfg(feature = "text")]
    if let Some(MistakenText { mistakes, name }) = error.downcast_ref() {
        return Some(mistakes.rendered(name, in_colours));
    }
    let _ = (error, in_colours);
    None
}

#[cfg(not(feature = "text"))]
fn read(path: &Path) -> Result<Vec<Entry>, Box<dyn Error>> {
    Err(format!(
        "{} is a file, and this program runs the models that it was built with: build it with the feature `text` of fbint-command to \
         read models from files",
        path.display()
    )
    .into())
}

#[cfg(all(test, feature = "text"))]
mod tests {
    use super::*;

    #[test]
    fn a_text_that_is_read_again_is_not_derived_again() -> Result<(), Box<dyn Error>> {
        let text =
            "#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2)] struct Again;";
        drop(load_text(text, "again.rs")?);
        let models = models_of(text, "again.rs", None, &mut |_| ControlFlow::Continue(()))?;
        let declared = Arc::downgrade(models[0].declared());
        drop(models);
        assert!(declared.upgrade().is_some());
        Ok(())
    }
}
