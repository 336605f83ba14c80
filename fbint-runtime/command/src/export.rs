//! `export`: a model of a file for the tools of others.

use std::error::Error;
use std::io::{Write, stdout};
use std::ops::ControlFlow;
use std::path::Path;

use fbint_export::{Export, File, Version};
use fbint_runtime::{Method, Settings};

use crate::arguments::ExportArguments;
use crate::catalogue::{Entry, Feedback, Plan};
use crate::file::declared;
use crate::job::in_terms_of_options;
use crate::output::{OutputFile, Replace, WholeDraft, publish, with_ending};
use crate::request::Request;
use crate::results::prepare;

/// A step that is not longer than any step that a run may take.
const STEP: f64 = 1e-6;

/// Exports the model of a file, and prints the paths and what the model lacks.
pub(crate) fn export(arguments: &ExportArguments) -> Result<(), Box<dyn Error>> {
    for line in written(arguments)? {
        writeln!(stdout(), "{line}")?;
    }
    Ok(())
}

/// Writes all exports that the arguments name, or none; returns the lines that the command prints.
fn written(arguments: &ExportArguments) -> Result<Vec<String>, Box<dyn Error>> {
    let replace = Replace::forced(arguments.force);
    let fmu = arguments.fmu.as_deref().map(|path| OutputFile::at(with_ending("--fmu", path, &["fmu"])?, replace));
    let fmu = fmu.transpose()?;
    let (model, entry) = declared(&arguments.model)?;
    let (parameters, start) = values(entry, arguments)?;
    let export = Export::new(&model, &parameters, &start);
    let (mut drafts, mut lines) = (Vec::new(), Vec::new());
    if let Some(folder) = &arguments.c {
        drafts.extend(draft(folder, &export.c(), replace, &mut lines)?);
    }
    if let Some(folder) = &arguments.casadi {
        drafts.extend(draft(folder, &export.casadi(), replace, &mut lines)?);
    }
    if let Some(output) = &fmu {
        let fmu = export.fmu(if arguments.fmi == "2" { Version::Two } else { Version::Three })?;
        drafts.push(output.draft(|file| file.write_all(&fmu.archive))?);
        lines.push(format!("written: {}", output.path().display()));
        lines.extend(fmu.without_binary.map(|why| format!("note: the FMU has sources alone, because {why}")));
    }
    publish(drafts)?;
    lines.extend(export.missing().into_iter().map(|what| format!("note: {what}")));
    Ok(lines)
}

/// The parameters, and the start of a run with them, which is on the constraints.
fn values(entry: Entry, arguments: &ExportArguments) -> Result<(Vec<f64>, Vec<f64>), Box<dyn Error>> {
    let lists = [("parameter", &arguments.parameters), ("start", &arguments.start), ("guess", &arguments.guess)];
    let options = lists.into_iter().flat_map(|(name, list)| list.iter().map(move |text| (name, Some(text.clone()))));
    let options = options.chain(arguments.repair.then_some(("repair", None)));
    let models = [entry];
    let job = Request::new(&models, &models[0].name, options)?.job;
    let model = job.model(&models)?;
    if let Some((name, _)) = model.parameters().iter().find(|(_, value)| value.is_nan()) {
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

/// Files in a folder that are not published yet; says what is written.
fn draft(
    folder: &Path,
    files: &[File],
    replace: Replace,
    lines: &mut Vec<String>,
) -> Result<Vec<WholeDraft>, Box<dyn Error>> {
    prepare(folder)?;
    let outputs = files.iter().map(|file| OutputFile::at(&folder.join(&file.name), replace));
    let outputs: Vec<OutputFile> = outputs.collect::<Result<_, _>>()?;
    lines.extend(outputs.iter().map(|output| format!("written: {}", output.path().display())));
    let drafts = outputs.iter().zip(files);
    drafts.map(|(output, file)| output.draft(|to| to.write_all(file.text.as_bytes()))).collect()
}
