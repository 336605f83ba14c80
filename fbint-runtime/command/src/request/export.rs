//! `export`: a model for the tools of others.

use std::error::Error;
use std::fs;
use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use fbint_export::Version;
use fbint_export::{Export, File};
use fbint_runtime::{Method, Settings};

use crate::figures::results::prepare;
use crate::files::output::{OutputFile, Replace, publish, with_ending};
use crate::line::arguments::ExportArguments;
use crate::models::file::{self, declared};
use crate::request::Request;
use crate::runs::job::in_terms_of_options;
use fbint_catalogue::{Entry, Feedback, Plan};

/// A step that is not longer than any step that a run may take.
const STEP: f64 = 1e-6;

/// The exports that are asked for.
#[derive(Clone, Debug)]
pub struct Exports {
    /// The folder for C99.
    pub c: Option<PathBuf>,
    /// The Functional Mock-up Unit, and its version.
    pub fmu: Option<(PathBuf, Version)>,
    /// The folder for functions of CasADi and acados.
    pub casadi: Option<PathBuf>,
    /// `true` if files that fbint has not written are replaced.
    pub force: bool,
}

/// Exports a model, and prints the paths and what the model lacks.
pub(crate) fn export(models: &[Entry], arguments: &ExportArguments) -> Result<(), Box<dyn Error>> {
    let version = if arguments.fmi == "2" { Version::Two } else { Version::Three };
    let exports = Exports {
        c: arguments.c.clone(),
        fmu: arguments.fmu.clone().map(|path| (path, version)),
        casadi: arguments.casadi.clone(),
        force: arguments.force,
    };
    // A path that is wrong is known before anything is derived.
    drop(exports.places()?);
    let lists = [("parameter", &arguments.parameters), ("start", &arguments.start), ("guess", &arguments.guess)];
    let options = lists.into_iter().flat_map(|(name, list)| list.iter().map(move |text| (name, Some(text.clone()))));
    let options = options.chain(arguments.repair.then_some(("repair", None)));
    let (model, entry) = declared(models, &arguments.model)?;
    for line in exports.write(&model, entry, options)? {
        writeln!(stdout(), "{line}")?;
    }
    Ok(())
}

/// The derivation and the programs of a model: of the text that declares it, or of one that was compiled, if it tells its declaration.
///
/// # Errors
///
/// If the text is mistaken, or not known.
pub fn programs_of(entry: &Entry, text: Option<&str>) -> Result<Arc<fbint_text::Model>, Box<dyn Error>> {
    file::programs_of(entry, text)
}

impl Exports {
    /// The folders, which are created if necessary, and the place of the FMU.
    fn places(&self) -> Result<(NewFolders, Option<OutputFile>), Box<dyn Error>> {
        let folders = [&self.c, &self.casadi].into_iter().flatten();
        let new = NewFolders(folders.clone().filter(|folder| !folder.exists()).cloned().collect());
        folders.into_iter().try_for_each(|folder| prepare(folder))?;
        let at = |path: &Path| OutputFile::at(with_ending("--fmu", path, &["fmu"])?, Replace::forced(self.force));
        let output = self.fmu.as_ref().map(|(path, _)| at(path)).transpose()?;
        Ok((new, output))
    }

    /// Writes all of these exports, or none, with the parameters and the start that options such as `parameter` give; returns lines that
    /// say what was written, and what the model lacks.
    ///
    /// # Errors
    ///
    /// If an option is wrong, a parameter or the start is not given, or a file cannot be written.
    pub fn write<'a>(
        &self,
        model: &fbint_text::Model,
        entry: Entry,
        options: impl IntoIterator<Item = (&'a str, Option<String>)>,
    ) -> Result<Vec<String>, Box<dyn Error>> {
        let (parameters, start) = values(entry, options)?;
        let export = Export::new(model, &parameters, &start);
        let (_new, output) = self.places()?;
        let (mut files, mut notes) = (Vec::new(), Vec::new());
        let c = self.c.iter().map(|folder| (folder, export.c()));
        for (folder, own) in c.chain(self.casadi.iter().map(|folder| (folder, export.casadi()))) {
            for File { name, text } in own {
                let output = OutputFile::at(&folder.join(name), Replace::forced(self.force))?;
                // In a folder for both, the files of CasADi have the functions of the others and more.
                files.retain(|(other, _): &(OutputFile, _)| other.target() != output.target());
                files.push((output, text.into_bytes()));
            }
        }
        if let (Some(output), Some((_, version))) = (output, &self.fmu) {
            let fmu = export.fmu(*version)?;
            files.push((output, fmu.archive));
            notes.extend(fmu.without_binary.map(|why| format!("note: the FMU has sources alone, because {why}")));
        }
        let drafts = files.iter().map(|(output, bytes)| output.draft(|file| file.write_all(bytes)));
        publish(drafts.collect::<Result<Vec<_>, _>>()?)?;
        notes.extend(export.missing().into_iter().map(|what| format!("note: {what}")));
        let written = files.iter().map(|(output, _)| format!("written: {}", output.path().display()));
        Ok(written.chain(notes).collect())
    }
}

/// Folders that did not exist. When dropped, those that are still empty go.
struct NewFolders(Vec<PathBuf>);

impl Drop for NewFolders {
    fn drop(&mut self) {
        self.0.iter().rev().for_each(|folder| drop(fs::remove_dir(folder)));
    }
}

/// The parameters, and the start of a run with them, which is on the constraints.
fn values<'a>(
    entry: Entry,
    options: impl IntoIterator<Item = (&'a str, Option<String>)>,
) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let models = [entry];
    let job = Request::new(&models, &models[0].name, options)?.job;
    let model = job.model(&models)?;
    let is_open = |(name, value): &&(_, f64)| value.is_nan() && !job.parameters.contains_key(*name);
    if let Some((name, _)) = model.parameters().iter().find(is_open) {
        return Err(
            format!("nothing gives `{name}` a value: add `default({name} = ..)`, or pass `-p {name}=..`").into()
        );
    }
    let settings = Settings { every: Some(0.0), ..job.settings };
    let settings = Settings { method: Method::Rk4 { h: STEP }, until: settings.from + STEP, ..settings };
    let plan = Plan::new(settings, Feedback::None);
    let run = model.run(&job.start(&*model)?, &plan, None, &mut |_| ControlFlow::Continue(()));
    let run = run.map_err(in_terms_of_options)?;
    let start = run.trajectory.first().map_or(run.state.clone(), |sample| sample.state.clone());
    Ok((model.parameters().into_iter().map(|(_, value)| value).collect(), start))
}
