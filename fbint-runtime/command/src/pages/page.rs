//! `report`: a model and a run of it on one page, which needs no network.

use std::error::Error;
use std::io::{Write, stdout};
use std::ops::ControlFlow;

use crate::figures::animation::filled;
use crate::files::output::{OutputFile, Replace, marked, with_ending};
use crate::line::arguments::ReportArguments;
use crate::models::equations::{self, escaped};
use crate::runs::job::{Job, in_terms_of_options};
use crate::runs::pictures::Pictures;
use crate::runs::report::{open_inputs, report};
use crate::runs::run::resolved;
use crate::words::progress::Progress;
use fbint_catalogue::{AnyModel, Entry, Run};

const TEMPLATE: &str = include_str!("page.html");

/// Writes the page.
pub(crate) fn write(models: &[Entry], arguments: &ReportArguments) -> Result<(), Box<dyn Error>> {
    let output = OutputFile::at(with_ending("--out", &arguments.out, &["html"])?, Replace::forced(arguments.force))?;
    let job = resolved(models, &arguments.options)?;
    let model = job.model(models)?;
    let mut progress = Progress::new(&job.model);
    let run = model.run(&job.start(&*model)?, &job.plan(&*model)?, None, &mut progress.observer());
    drop(progress);
    let page = page(&job, &*model, &run.map_err(in_terms_of_options)?)?;
    output.write(|file| file.write_all(page.as_bytes()))?;
    writeln!(stdout(), "report: {}", arguments.out.display())?;
    Ok(())
}

fn page(job: &Job, model: &dyn AnyModel, run: &Run) -> Result<String, Box<dyn Error>> {
    let figure = Pictures::of(job, model, run).figure(&[], &mut |_| ControlFlow::Continue(()))?;
    let start = model.state_names().into_iter().zip(job.start(model)?);
    let inputs = open_inputs(model).map_or(String::new(), |note| note + "\n");
    let parts = [
        ("name", escaped(&job.model)),
        ("summary", escaped(&model.facts().summary.replace('`', ""))),
        ("equations-style", equations::STYLE.to_owned()),
        ("equations", equations::html(model)),
        ("parameters", rows(model.parameters())),
        ("start", rows(start)),
        ("run", escaped(&(report(job, model, run) + inputs.as_str()))),
        ("figure", figure),
    ];
    Ok(marked(&filled(TEMPLATE, parts.iter().map(|(name, part)| (*name, &**part)))))
}

/// Rows of a table: names with their values.
fn rows<'a>(values: impl IntoIterator<Item = (&'a str, f64)>) -> String {
    let row = |(name, value): (&str, f64)| format!("<tr><th>{}</th><td>{value:?}</td></tr>\n", escaped(name));
    values.into_iter().map(row).collect()
}
