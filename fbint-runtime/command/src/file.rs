//! Models in files, which are read and derived while the program runs.

use std::error::Error;
#[cfg(feature = "text")]
use std::fmt;
#[cfg(feature = "text")]
use std::fs::File;
#[cfg(feature = "text")]
use std::io::{self, Read};
use std::path::Path;

#[cfg(feature = "text")]
use fbint_text::Mistakes;

use crate::catalogue::{AnyModel, Entry};
use crate::nearest;
#[cfg(feature = "text")]
use crate::output::reason;

/// How the names of files with models end.
const ENDING: &str = ".rs";

/// What a model in a file is called on the command line: `FILE.rs`, or `FILE.rs:MODEL` where the file has several.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct InFile<'n> {
    path: &'n str,
    model: Option<&'n str>,
}

impl<'n> InFile<'n> {
    /// The file that a name means, if it is not the name of a model of the program.
    pub(crate) fn named(name: &'n str) -> Option<Self> {
        if name.ends_with(ENDING) {
            return Some(Self::at(name));
        }
        let colon = name.rfind(':')?;
        let (path, model) = (&name[..colon], &name[colon + 1..]);
        path.ends_with(ENDING).then_some(Self { path, model: Some(model) })
    }

    /// All of what is in a file.
    pub(crate) fn at(path: &'n str) -> Self {
        Self { path, model: None }
    }

    /// The model, with its default parameters.
    pub(crate) fn load(self) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
        self.load_from(Path::new(""))
    }

    /// The same, where the path of the file starts from a folder.
    pub(crate) fn load_from(self, folder: &Path) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
        let entries = read(&folder.join(self.path))?;
        let names: Vec<&str> = entries.iter().map(|entry| &*entry.name).collect();
        let index = match (self.model, &names[..]) {
            (Some(model), names) => nearest::find("model", model, names)?,
            (None, [_]) => 0,
            (None, _) => {
                let path = self.path;
                let named = names.iter().map(|name| format!("{path}:{name}")).collect::<Vec<_>>().join(" or ");
                return Err(format!("{path} has several models: name one of them, {named}").into());
            }
        };
        Ok((entries[index].load)())
    }

    /// All models of the file.
    ///
    /// # Errors
    ///
    /// If the file cannot be read, or is mistaken: then all mistakes, each with its place in the file.
    pub(crate) fn entries(self) -> Result<Vec<Entry>, Box<dyn Error>> {
        read(Path::new(self.path))
    }
}

/// A name for files about a model: of a model in a file its own, or that of the file without its folder and its ending.
pub(crate) fn stem(name: &str) -> &str {
    let Some(InFile { path, model }) = InFile::named(name) else { return name };
    model.or_else(|| Path::new(path).file_stem()?.to_str()).unwrap_or(path)
}

#[cfg(feature = "text")]
fn read(path: &Path) -> Result<Vec<Entry>, Box<dyn Error>> {
    let name = path.display();
    let unreadable = |error: io::Error| format!("cannot read {name}: {}", reason(&error, "no such file"));
    // No more is read than what a text may have, whatever the file is.
    let (mut bytes, most) = (Vec::new(), fbint_text::LONGEST as u64 + 1);
    File::open(path).and_then(|file| file.take(most).read_to_end(&mut bytes)).map_err(unreadable)?;
    let text = String::from_utf8(bytes).map_err(|_| format!("{name} is not a text: it is not in UTF-8"))?;
    of_text(&text, &name.to_string())
}

/// All models of a text, which mistakes call `name`.
///
/// # Errors
///
/// If the text is mistaken: all mistakes, each with its place, as the Rust compiler shows them.
#[cfg(feature = "text")]
pub fn of_text(text: &str, name: &str) -> Result<Vec<Entry>, Box<dyn Error>> {
    fbint_text::entries(text).map_err(|mistakes| MistakenText { mistakes, name: name.to_owned() }.into())
}

/// What is wrong with a text that has a name.
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
