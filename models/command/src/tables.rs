//! `fbint tables`: the tables of README.md and BENCHMARKS.md that are results of computations, computed again.
//!
//! A table stands in its document between the lines `<!-- fbint tables: NAME -->` and `<!-- end -->`, and nowhere else. Times
//! are measured, not computed: they stand outside of such lines. A new table takes one line in [`RECIPES`].
//!
//! A check accepts figures that differ by one unit of their last digit, and counts that differ by a thousandth, because another
//! processor may round differently.

mod default_policy;
mod drift;
mod grid;
mod work;

use std::error::Error;
use std::fs;
use std::io::{Write, stdout};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use fbint_command::catalogue::{AnyModel, Feedback, Plan, Run};
use fbint_command::clap::{self, Args};
use fbint_command::nearest;
use fbint_command::output::{OutputFile, Replace, reason};
use fbint_command::progress::Progress;
use fbint_command::scheme::{Aid, Contender, Scheme};
use fbint_runtime::{Method, Projection, Settings};

use grid::Grid;

/// The tables, in the order of the documents.
const RECIPES: [Recipe; 6] = [
    Recipe { name: "drift", document: "README.md", make: drift::of_methods },
    Recipe { name: "fixed-steps", document: "BENCHMARKS.md", make: default_policy::fixed_steps },
    Recipe { name: "error-control", document: "BENCHMARKS.md", make: default_policy::error_control },
    Recipe { name: "published-feedback", document: "BENCHMARKS.md", make: drift::as_published },
    Recipe { name: "work-precision", document: "BENCHMARKS.md", make: work::medians },
    Recipe { name: "work-to-1e-6", document: "BENCHMARKS.md", make: work::to_goal },
];

/// The exit code if a document differs from what is computed.
const OUTDATED: u8 = 1;
/// The gain of feedback.
const GAIN: f64 = 50.0;
const BEGIN: &str = "<!-- fbint tables: ";
const END: &str = "<!-- end -->";

/// A table, the document that it stands in, and how it is computed.
struct Recipe {
    name: &'static str,
    document: &'static str,
    make: fn() -> Result<Grid, Box<dyn Error>>,
}

const TABLES_EXAMPLES: &str = "\
Examples:
  fbint tables --check
  fbint tables drift --folder fbint

A table stands between `<!-- fbint tables: NAME -->` and `<!-- end -->`. Times are measured and not computed: they stand outside
of such lines. The exit code of --check is 1 if any row differs.";

#[derive(Args, Debug)]
#[command(after_help = TABLES_EXAMPLES)]
pub(crate) struct Tables {
    /// The tables to compute; default: all of them.
    #[arg(value_name = "NAME")]
    names: Vec<String>,
    /// Compare the documents with what is computed instead of writing them, and name each row that differs.
    #[arg(long)]
    check: bool,
    /// The folder of the documents.
    #[arg(long, value_name = "DIR", default_value = ".")]
    folder: PathBuf,
}

/// Computes the tables, and writes them into their documents or compares them with what is there.
pub(crate) fn tables(arguments: &Tables) -> Result<ExitCode, Box<dyn Error>> {
    let chosen = chosen(&arguments.names)?;
    let mut documents = Document::all(&arguments.folder)?;
    for recipe in &chosen {
        find(&mut documents, recipe)?.block(recipe.name)?;
    }
    let mut out = stdout().lock();
    let mut is_outdated = false;
    for recipe in chosen {
        let document = find(&mut documents, recipe)?;
        let computed = (recipe.make)()?.to_string();
        let block = document.block(recipe.name)?;
        for difference in differences(&document.text[block.clone()], &computed) {
            is_outdated = true;
            writeln!(out, "{}, table `{}`, {difference}", recipe.document, recipe.name)?;
        }
        document.text.replace_range(block, &computed);
    }
    if arguments.check {
        return Ok(if is_outdated { ExitCode::from(OUTDATED) } else { ExitCode::SUCCESS });
    }
    for Document { path, text, .. } in documents.iter().filter(|document| document.text != document.read) {
        OutputFile::at(path, Replace::Any)?.write(|file| file.write_all(text.as_bytes()))?;
        writeln!(out, "written: {}", path.display())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Integrates a model from its own start, with feedback of the gain [`GAIN`], with projection, or with neither.
fn integrate(
    model: &dyn AnyModel,
    method: Method,
    aid: Aid,
    until: f64,
    every: Option<f64>,
) -> Result<Run, fbint_runtime::Error> {
    let feedback = if aid == Aid::Feedback { Feedback::Uniform(GAIN) } else { Feedback::None };
    let projection = (aid == Aid::Projection).then(Projection::default);
    let plan = Plan::new(Settings { every, projection, ..Settings::new(method, until) }, feedback);
    let mut progress = Progress::new(&Contender { scheme: Scheme::of(method), aid }.to_string());
    model.run(&model.start()?, &plan, None, &mut progress.observer())
}

fn chosen(names: &[String]) -> Result<Vec<&'static Recipe>, Box<dyn Error>> {
    if names.is_empty() {
        return Ok(RECIPES.iter().collect());
    }
    let known = RECIPES.each_ref().map(|recipe| recipe.name);
    names.iter().map(|name| Ok(&RECIPES[nearest::find("table", name, &known)?])).collect()
}

fn find<'a>(documents: &'a mut [Document], recipe: &Recipe) -> Result<&'a mut Document, Box<dyn Error>> {
    let found = documents.iter_mut().find(|document| document.path.ends_with(recipe.document));
    found.ok_or_else(|| format!("no table stands in {}", recipe.document).into())
}

/// A document as it was read, and with its tables replaced.
struct Document {
    path: PathBuf,
    text: String,
    read: String,
}

impl Document {
    /// Every document that has a table. A table that nothing computes is refused.
    fn all(folder: &Path) -> Result<Vec<Self>, Box<dyn Error>> {
        let mut names = RECIPES.each_ref().map(|recipe| recipe.document).to_vec();
        names.dedup();
        names.into_iter().map(|name| Self::read(folder.join(name))).collect()
    }

    fn read(path: PathBuf) -> Result<Self, Box<dyn Error>> {
        let text = fs::read_to_string(&path)
            .map_err(|error| format!("cannot read {}: {}", path.display(), reason(&error, "no such file")))?;
        let known = RECIPES.each_ref().map(|recipe| recipe.name);
        for name in text.lines().filter_map(|line| line.strip_prefix(BEGIN)) {
            nearest::find("table", name.trim_end_matches(" -->"), &known)?;
        }
        Ok(Self { path, read: text.clone(), text })
    }

    /// The position of a table, without the lines around it.
    fn block(&self, name: &str) -> Result<Range<usize>, Box<dyn Error>> {
        let begin = format!("{BEGIN}{name} -->\n");
        let missing = |line: &str| format!("{}: table `{name}` has no line `{}`", self.path.display(), line.trim());
        let start = self.text.find(&begin).ok_or_else(|| missing(&begin))? + begin.len();
        let length = self.text[start..].find(END).ok_or_else(|| missing(END))?;
        Ok(start..start + length)
    }
}

/// The rows in which two tables differ by more than the rounding of another processor, in words.
fn differences(written: &str, computed: &str) -> Vec<String> {
    let rows = written.lines().count().max(computed.lines().count());
    let row = |table: &'_ str, index: usize| table.lines().nth(index).unwrap_or_default().to_owned();
    let pairs = (0..rows).map(|index| (row(written, index), row(computed, index)));
    let different = pairs.filter(|(written, computed)| !grid::agree(written, computed));
    different
        .map(|(written, computed)| {
            let name = grid::name_of_row(if computed.is_empty() { &written } else { &computed });
            format!("row `{name}`:\n  written:  {written}\n  computed: {computed}")
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_names_its_row() {
        let (written, computed) = ("| | a |\n|---|---|\n| Euler | 1 |\n", "| | a |\n|---|---|\n| Euler | 2 |\n");
        assert_eq!(differences(computed, computed), Vec::<String>::new());
        let found = differences(written, computed);
        assert_eq!(found, ["row `Euler`:\n  written:  | Euler | 1 |\n  computed: | Euler | 2 |"]);
        let missing = differences("| | a |\n|---|---|\n", computed);
        assert_eq!(missing.len(), 1);
        assert!(missing[0].starts_with("row `Euler`"), "{missing:?}");
    }
}
