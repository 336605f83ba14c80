//! `run`: one model by one method; and `resume`, which resumes such a run.

use std::env::current_dir;
use std::error::Error;
use std::io::{Write, stdout};
use std::mem::replace;
use std::path::Path;
use std::process::ExitCode;

use fbint_runtime::{Method, Projection, Settings, StateRole};

use crate::line::arguments::{Assignment, GainsArgument, Integration, ResumeArguments, RunArguments, RunOptions};
use crate::line::inputs;
use crate::line::start::{Given, assigned};
use crate::models::catalogue::load_from;
use crate::models::file;
use crate::runs::checkpoint::{Checkpoint, Files};
use crate::runs::job::{Job, in_terms_of_options, named};
use crate::runs::record;
use crate::runs::report::{open_inputs, switching_laws};
use crate::runs::task::{RunOutputs, Task};
use crate::words::complaint::complain;
use fbint_catalogue::{AnyModel, Crossing, Entry, Feedback, Plan};

/// The default step size.
const STEP: f64 = 1e-3;
/// The default relative tolerance.
const RTOL: f64 = 1e-9;
/// The part of a run after which it is looked where a quantity goes that begins at the number that it is compared with.
const SOON: f64 = 1e-6;
/// A quantity that passes a number within this part of the run passes it at the start, and so does one that is as near to it against the
/// size of the state.
const AT_START: f64 = 1e-11;
/// Maximum number of samples: more hardly fit into memory.
const MAX_SAMPLES: f64 = 1e7;
/// The default time between checkpoints in seconds.
const CHECKPOINT_EVERY: f64 = 10.0;

/// Integrates a model, reports its drift and writes its files.
pub(crate) fn run(models: &[Entry], arguments: &RunArguments) -> Result<ExitCode, Box<dyn Error>> {
    let record = file::record_named(&arguments.options.integration.model);
    let job = match record {
        Some(record) => repeated(models, record, &arguments.options)?,
        None => resolved(models, &arguments.options)?,
    };
    let RunArguments { out, plot, of, animate, sections, force, .. } = arguments.clone();
    let files = Files { out, plot, of, animate, sections, force };
    let outputs = RunOutputs::open(&job, &files, arguments.checkpoint.as_deref())?;
    let every = arguments.checkpoint_every.unwrap_or(CHECKPOINT_EVERY);
    let task = Task::new(models, job, files.absolute()?, every, 0.0)?;
    // Only now, because what is refused prints nothing.
    if let Some(record) = record {
        writeln!(stdout(), "repeats the run of {}\n", record.display())?;
    }
    note_inputs(task.model());
    task.execute(&outputs, None)
}

/// Says on stderr which inputs nothing gives, and which of those that are given switch.
pub(crate) fn note_inputs(model: &dyn AnyModel) {
    for note in open_inputs(model).into_iter().chain(switching_laws(model)) {
        complain(&format!("note: {note}"));
    }
}

/// The run that a record describes.
fn repeated(models: &[Entry], record: &Path, options: &RunOptions) -> Result<Job, Box<dyn Error>> {
    let name = record.display();
    if !options.are_bare()? {
        return Err(
            format!("{name} has all options of its run: leave out those besides files, or name the model").into()
        );
    }
    record::job(models, record)
}

/// The run that these options describe, with everything resolved.
pub(crate) fn resolved(models: &[Entry], options: &RunOptions) -> Result<Job, Box<dyn Error>> {
    let RunOptions { integration, until_event, every } = options;
    file::check_values(integration, &[])?;
    let job = Job { until_event: until_event.clone(), ..job(models, integration, *every)? };
    check_condition(models, &job)?;
    Ok(job)
}

/// Refuses a condition that is true at the start, or becomes true as soon as the run begins, unless the start is where it changes.
fn check_condition(models: &[Entry], job: &Job) -> Result<(), Box<dyn Error>> {
    let Some(condition) = &job.until_event else { return Ok(()) };
    let model = job.model(models)?;
    let (start, plan) = (job.start(&*model)?, job.plan(&*model)?);
    let crossing = &condition.of(&*model)?;
    if passes_at_start(crossing, job, &*model, &start) {
        return Ok(());
    }
    let Settings { method, from, until, .. } = job.settings;
    let value = crossing.value(&*model, from, &start);
    let begins = || {
        let until = (from + method.step().unwrap_or(SOON * (until - from))).min(until);
        let settings = Settings { until, ..job.settings };
        // What is wrong with the run is told by the run.
        let soon = model.run_bare(&start, &Plan { until_event: None, settings, ..plan.clone() });
        soon.is_ok_and(|state| crossing.is_true(crossing.value(&*model, until, &state)))
    };
    let verb = match value {
        _ if crossing.is_true(value) => "is true",
        _ if value == crossing.number && begins() => "becomes true",
        _ => return Ok(()),
    };
    let (name, compared) = (&crossing.name, condition.compared());
    Err(format!(
        "--until-event `{name}` {verb} at the start, where {compared} is {value:?}: give a condition that is false there, or another \
         start"
    )
    .into())
}

/// Returns `true` if a quantity passes the number that it is compared with at the start, as where the run continues one that the condition has ended:
/// it changes, and its distance from the number is at most its motion in an instant. A motion that begins at rest passes nothing.
pub(crate) fn passes_at_start(crossing: &Crossing, job: &Job, model: &dyn AnyModel, start: &[f64]) -> bool {
    let instant = AT_START * (job.settings.until - job.settings.from);
    let moved: Vec<f64> = start.iter().zip(model.rates(start)).map(|(entry, rate)| entry + SOON * rate).collect();
    let from = job.settings.from;
    let value = crossing.value(model, from, start);
    let rate = (crossing.value(model, from + SOON, &moved) - value) / SOON;
    let size = start.iter().fold(crossing.number.abs(), |largest, entry| largest.max(entry.abs()));
    rate != 0.0 && (value - crossing.number).abs() <= instant * rate.abs() + AT_START * size
}

/// Resumes from a checkpoint, and keeps writing to it.
pub(crate) fn resume(models: &[Entry], arguments: &ResumeArguments) -> Result<ExitCode, Box<dyn Error>> {
    let path = &arguments.checkpoint;
    if arguments.threads.is_some() {
        return Err(format!(
            "--threads is for ensembles, and {} is not the folder of one: leave it out",
            path.display()
        )
        .into());
    }
    let Checkpoint { mut job, mut files, checkpoint_every: every, wall_seconds: wall_before, snapshot, .. } =
        Checkpoint::read(models, path)?;
    files.force |= arguments.force;
    let mut resumed = String::new();
    if let Some(until) = arguments.until {
        let (reached, before) = (snapshot.time(), replace(&mut job.settings.until, until));
        if until <= reached {
            return Err(format!(
                "--until {until:?} is not after t = {reached:?}, which the run has reached: give a later time"
            )
            .into());
        }
        check_samples(&job.settings)?;
        resumed = format!("resumed at t = {reached:?}, until t = {until:?} instead of {before:?}\n\n");
    }
    let outputs = RunOutputs::open(&job, &files, Some(path))?;
    // Only now, because what is refused prints nothing.
    write!(stdout(), "{resumed}")?;
    Task::new(models, job, files, every, wall_before)?.execute(&outputs, Some(snapshot))
}

/// The job that the command line describes, with everything resolved.
pub(crate) fn job(models: &[Entry], arguments: &Integration, every: Option<f64>) -> Result<Job, Box<dyn Error>> {
    let text = file::text_named(arguments.folder.as_deref(), &arguments.model)?;
    let mut model = match &text {
        Some(text) => file::load_text(text, &arguments.model)?,
        None => load_from(arguments.folder.as_deref(), models, &arguments.model)?,
    };
    set_parameters(&mut *model, &arguments.parameters)?;
    let start = Given::of(&*model, arguments)?.start(&*model, &[]).map_err(in_terms_of_options)?;
    let method = method(arguments)?;
    let clock = model.state_roles().iter().position(|role| *role == StateRole::Time);
    let (from, until) = (clock.map_or(0.0, |index| start[index]), arguments.until);
    if until <= from {
        return Err(format!("--until {until:?} is not after the start at t = {from:?}: give a later time").into());
    }
    let settings = Settings {
        every,
        projection: projection(&*model, method, arguments),
        from,
        max_step: arguments.max_step,
        max_steps: arguments.max_steps,
        ..Settings::new(method, until)
    };
    check_samples(&settings)?;
    Ok(Job {
        model: arguments.model.clone(),
        text,
        folder: arguments.folder.clone().or_else(|| current_dir().ok()),
        parameters: model.parameters().into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        start: named(&model.state_names(), &start),
        inputs: arguments
            .inputs
            .iter()
            .cloned()
            .chain(arguments.functions.keys().map(|name| (name.clone(), inputs::FUNCTION.to_owned())))
            .collect(),
        functions: arguments.functions.clone(),
        settings,
        gains: feedback(&*model, method, arguments.gains.as_ref())?,
        until_event: None,
        t_eval: None,
    })
}

/// Refuses more samples than fit into memory. The number of steps is unknown where error control chooses them.
fn check_samples(settings: &Settings) -> Result<(), Box<dyn Error>> {
    let Settings { every: Some(every), from, until, method, .. } = *settings else { return Ok(()) };
    let interval = every.max(method.step().unwrap_or(0.0));
    if interval > 0.0 && (until - from) / interval > MAX_SAMPLES {
        return Err(format!("--every {every:?} makes more than {MAX_SAMPLES:e} samples: take a longer interval").into());
    }
    Ok(())
}

/// The projection that was asked for, else the default of the method where no gains are named.
fn projection(model: &dyn AnyModel, method: Method, arguments: &Integration) -> Option<Projection> {
    match &arguments.gains {
        _ if arguments.project => Some(Projection::default()),
        None if !method.is_geometric() => model.default_projection(),
        _ => None,
    }
}

fn set_parameters(model: &mut dyn AnyModel, assignments: &[Assignment]) -> Result<(), Box<dyn Error>> {
    let names: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
    for (index, value) in assigned("parameter", assignments, model.facts().parameters, &names)? {
        model.set_parameter(index, value);
    }
    Ok(())
}

/// The method with its step or its tolerances; options that the method does not take are refused.
fn method(arguments: &Integration) -> Result<Method, Box<dyn Error>> {
    let h = arguments.step.unwrap_or(STEP);
    let rtol = arguments.rtol.unwrap_or(RTOL);
    let method = Method::with_key(&arguments.method, h, (rtol, arguments.atol))
        .ok_or_else(|| format!("unknown method `{}`: see `run --help`", arguments.method))?;
    let name = method.name();
    let tolerance = arguments.rtol.map(|_| "--rtol").or(arguments.atol.map(|_| "--atol"));
    match (method.step(), tolerance) {
        (None, _) if arguments.step.is_some() => {
            Err(format!("{name} chooses its steps: give --rtol and --atol instead of --step").into())
        }
        (Some(_), given) if given.is_some() || arguments.max_step.is_some() => {
            let given = given.unwrap_or("--max-step");
            Err(format!("{name} takes steps of one size: give --step instead of {given}, or --method dop853").into())
        }
        _ if matches!(method, Method::Taylor { .. }) && arguments.atol.is_some() => {
            Err(format!("{name} takes --rtol alone, relative to the size of each variable: leave out --atol").into())
        }
        _ => Ok(method),
    }
}

fn feedback(
    model: &dyn AnyModel,
    method: Method,
    argument: Option<&GainsArgument>,
) -> Result<Feedback, Box<dyn Error>> {
    let names = model.integral_names();
    match argument.unwrap_or(&GainsArgument::None) {
        GainsArgument::None => Ok(Feedback::None),
        GainsArgument::Uniform(k) => Ok(Feedback::Uniform(*k)),
        GainsArgument::Relaxation(tau) => Ok(Feedback::Relaxation(*tau)),
        GainsArgument::BaeChang => match method.step() {
            Some(h) => Ok(Feedback::BaeChang(h)),
            None => {
                let name = method.name();
                Err(format!("--gains bae-chang needs a step, which {name} chooses itself: give --method euler").into())
            }
        },
        GainsArgument::Each(gains) if gains.len() == names.len() => Ok(Feedback::Diagonal(gains.clone())),
        GainsArgument::Each(gains) => {
            let (given, wanted, order) = (gains.len(), names.len(), names.join(", "));
            Err(format!("--gains has {given} values but there are {wanted} integrals: {order}").into())
        }
    }
}
