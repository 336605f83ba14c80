//! `fbint run`: one model by one method; and `fbint resume`, which goes on with such a run.

use std::error::Error;
use std::io::{self, Write, stdout};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fbint_runtime::Error::{BlowUp, Halted};
use fbint_runtime::{Method, Moment, Snapshot};
use models::catalogue::{self, Feedback, Model};

use super::arguments::{self, Assignment, GainsArgument, MethodName};
use super::checkpoint::{Checkpoint, Files};
use super::figure::{self, Curve};
use super::interruption::Watch;
use super::job::{Job, code_sha256, named};
use super::output::Output;
use super::progress::Progress;
use super::record::{self, Ending};
use super::scheme::Contender;
use super::{load, nearest, table};

/// The step size unless given.
const STEP: f64 = 1e-3;
/// The relative tolerance unless given.
const RTOL: f64 = 1e-9;
/// More samples than this hardly fit into memory.
const MAX_SAMPLES: f64 = 1e7;
/// Seconds between checkpoints unless given.
const CHECKPOINT_EVERY: f64 = 10.0;

/// Integrates a model, reports its drift and writes the files asked for.
pub(crate) fn run(arguments: &arguments::Run) -> Result<ExitCode, Box<dyn Error>> {
    let job = job(arguments)?;
    let absolute = |path: &Option<PathBuf>| path.as_deref().map(std::path::absolute).transpose();
    let files = Files { out: absolute(&arguments.out)?, plot: absolute(&arguments.plot)? };
    let outputs =
        Outputs::open(&job, arguments.out.as_deref(), arguments.plot.as_deref(), arguments.checkpoint.as_deref())?;
    let every = arguments.checkpoint_every.unwrap_or(CHECKPOINT_EVERY);
    Task { code_sha256: code_sha256(&*job.model()?), job, files, every, wall_before: 0.0 }.execute(&outputs, None)
}

/// Goes on from a checkpoint, to which it goes on writing.
pub(crate) fn resume(arguments: &arguments::Resume) -> Result<ExitCode, Box<dyn Error>> {
    let path = &arguments.checkpoint;
    let Checkpoint { job, files, checkpoint_every: every, wall_seconds: wall_before, snapshot, .. } =
        Checkpoint::read(path)?;
    let outputs = Outputs::open(&job, files.out.as_deref(), files.plot.as_deref(), Some(path))?;
    Task { code_sha256: code_sha256(&*job.model()?), job, files, every, wall_before }.execute(&outputs, Some(snapshot))
}

/// A run to be made or to be gone on with.
struct Task {
    code_sha256: String,
    job: Job,
    files: Files,
    /// Seconds between two checkpoints.
    every: f64,
    /// Seconds that the run took before this process went on with it.
    wall_before: f64,
}

impl Task {
    fn execute(&self, outputs: &Outputs, from: Option<Snapshot>) -> Result<ExitCode, Box<dyn Error>> {
        let model = self.job.model()?;
        let start = self.job.start(&*model)?;
        let (begun, interruption) = (Instant::now(), Watch::begin());
        let mut progress = Progress::new(&self.job.model);
        let mut keeper = Keeper { task: self, output: outputs.checkpoint.as_ref(), begun, last: None, failure: None };
        let outcome = model.run(&start, &self.job.plan(), from, &mut |moment| {
            progress.report(moment.fraction());
            keeper.look(moment, interruption.exit_code().is_some())
        });
        drop(progress);
        let outcome = match (keeper.failure, outcome) {
            (Some(failure), _) => Err(failure),
            (None, Ok(run)) => Ok(run),
            (None, Err(error @ (BlowUp(_) | Halted(_)))) => Err(error.into()),
            // What was refused before the first step was no run.
            (None, Err(error)) => return Err(in_terms_of_options(error)),
        };

        let record = |ending: &Ending<'_>| {
            let wall_seconds = self.wall_seconds(begun);
            record::write(&outputs.record, &self.job, &*model, &self.code_sha256, wall_seconds, ending)
        };
        match (outcome, interruption.exit_code()) {
            (Ok(run), Some(code)) if run.time < self.job.until => {
                record(&Ending::Interrupted(&run))?;
                eprintln!("{}", self.interrupted(run.time, outputs));
                Ok(ExitCode::from(code))
            }
            (Ok(run), _) => {
                let title = title(&self.job);
                let was_there = outputs.record.exists();
                self.write(&*model, &title, &run, outputs)?;
                record(&Ending::Complete(&run))?;
                report(&title, &run, outputs, was_there, &mut stdout().lock())?;
                Ok(ExitCode::SUCCESS)
            }
            (Err(error), _) => {
                record(&Ending::Failed(&*error))?;
                Err(error)
            }
        }
    }

    fn write(
        &self,
        model: &dyn Model,
        title: &str,
        run: &catalogue::Run,
        outputs: &Outputs,
    ) -> Result<(), Box<dyn Error>> {
        if let Some(out) = &outputs.out {
            out.write(|file| table::write(model, &run.trajectory, file))?;
        }
        if let Some(plot) = &outputs.plot {
            let curve = Curve { contender: contender(&self.job), trajectory: &run.trajectory };
            let svg = figure::drift(title, model.integral_names(), &[curve]);
            plot.write(|file| file.write_all(svg.as_bytes()))?;
        }
        Ok(())
    }

    fn wall_seconds(&self, begun: Instant) -> f64 {
        self.wall_before + begun.elapsed().as_secs_f64()
    }

    fn interrupted(&self, time: f64, outputs: &Outputs) -> String {
        let reached = format!("interrupted at t = {time:?} of {:?}", self.job.until);
        match &outputs.checkpoint {
            Some(file) => format!("{reached}; `fbint resume {}` goes on from there", file.path().display()),
            None => format!("{reached}; with --checkpoint FILE such a run can be gone on with"),
        }
    }
}

/// Watches a run and keeps checkpoints of it.
struct Keeper<'a> {
    task: &'a Task,
    output: Option<&'a Output>,
    begun: Instant,
    /// When the last checkpoint was written.
    last: Option<Instant>,
    failure: Option<Box<dyn Error>>,
}

impl Keeper<'_> {
    /// Writes a checkpoint at the start, when one is due, at the end, and before the run is broken off.
    fn look(&mut self, moment: &Moment<'_>, is_interrupted: bool) -> ControlFlow<()> {
        if self.is_due() || is_interrupted || moment.fraction() >= 1.0 {
            self.failure = self.keep(moment).err();
        }
        if is_interrupted || self.failure.is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }

    fn is_due(&self) -> bool {
        self.last.is_none_or(|last| last.elapsed() >= Duration::from_secs_f64(self.task.every.min(1e9)))
    }

    fn keep(&mut self, moment: &Moment<'_>) -> Result<(), Box<dyn Error>> {
        let (Some(output), Task { code_sha256, job, files, every, .. }) = (self.output, self.task) else {
            return Ok(());
        };
        let wall_seconds = self.task.wall_seconds(self.begun);
        Checkpoint::new(code_sha256, job, files, *every, wall_seconds, moment.snapshot()).write(output)?;
        self.last = Some(Instant::now());
        Ok(())
    }
}

/// The files of a run.
struct Outputs {
    out: Option<Output>,
    plot: Option<Output>,
    checkpoint: Option<Output>,
    record: Output,
}

impl Outputs {
    /// All known to be writable, and no two the same, before the run starts.
    fn open(
        job: &Job,
        out: Option<&Path>,
        plot: Option<&Path>,
        checkpoint: Option<&Path>,
    ) -> Result<Self, Box<dyn Error>> {
        let record = record::path(&job.model, [out, plot, checkpoint].into_iter().flatten());
        let open = |path: Option<&Path>| path.map(Output::at).transpose();
        let outputs =
            Self { out: open(out)?, plot: open(plot)?, checkpoint: open(checkpoint)?, record: Output::at(&record)? };
        let named = outputs.named();
        for (index, (name, file)) in named.iter().enumerate() {
            if let Some((other, _)) = named[..index].iter().find(|(_, other)| other.is_same_file(file)) {
                return Err(format!("{other} and {name} both name {}", file.path().display()).into());
            }
        }
        Ok(outputs)
    }

    fn named(&self) -> Vec<(&'static str, &Output)> {
        let given = [("--out", &self.out), ("--plot", &self.plot), ("--checkpoint", &self.checkpoint)];
        let given = given.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?)));
        given.chain([("the record of the run", &self.record)]).collect()
    }
}

fn report(
    title: &str,
    run: &catalogue::Run,
    outputs: &Outputs,
    was_there: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    writeln!(out, "{title}\n\n{}\n", run.report)?;
    writeln!(out, "{} steps, {} evaluations of the field", run.steps, run.evaluations)?;
    if let Some(dependence) = &run.dependence {
        writeln!(
            out,
            "doubtful: at t = {:?} {dependence}: the field is singular where they are, and what a step makes of it is not to be \
             trusted; compare with a run of smaller --step or --rtol",
            dependence.time(),
        )?;
    }
    for (what, file) in [("trajectory", &outputs.out), ("figure", &outputs.plot)] {
        if let Some(file) = file {
            writeln!(out, "{what}: {}", file.path().display())?;
        }
    }
    let replaced = if was_there { " (replaced)" } else { "" };
    writeln!(out, "record: {}{replaced}", outputs.record.path().display())
}

/// What the command line asks for, with everything resolved.
fn job(arguments: &arguments::Run) -> Result<Job, Box<dyn Error>> {
    let mut model = load(&arguments.model)?;
    set_parameters(&mut *model, &arguments.parameters)?;
    let start = start(&*model, arguments)?;
    let method = method(arguments)?;
    if let Some(every) = arguments.every
        && arguments.until / every.max(step(method).unwrap_or(0.0)) > MAX_SAMPLES
    {
        return Err(format!("--every {every:?} makes more than {MAX_SAMPLES:e} samples: take a longer interval").into());
    }
    Ok(Job {
        model: arguments.model.clone(),
        parameters: model.parameters().into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        start: named(model.state_names(), &start),
        method,
        gains: feedback(&*model, &arguments.gains)?,
        corrections: arguments.correct.into(),
        until: arguments.until,
        every: arguments.every,
    })
}

fn set_parameters(model: &mut dyn Model, assignments: &[Assignment]) -> Result<(), Box<dyn Error>> {
    for Assignment { name, value } in assignments {
        let names: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
        let index = nearest::find("parameter", name, &names)?;
        model.set_parameter(index, *value);
    }
    Ok(())
}

/// The model's own start with the entries that were set, repaired around them if asked.
fn start(model: &dyn Model, arguments: &arguments::Run) -> Result<Vec<f64>, Box<dyn Error>> {
    let mut start = model.start()?;
    let mut held = Vec::new();
    for Assignment { name, value } in &arguments.start {
        let entry = nearest::find("entry of the state", name, model.state_names())?;
        start[entry] = *value;
        held.push(model.state_names()[entry]);
    }
    if arguments.repair { model.repair(&start, &held).map_err(in_terms_of_options) } else { Ok(start) }
}

/// The method with its step or its tolerances, whichever it takes; the other is refused.
fn method(arguments: &arguments::Run) -> Result<Method, Box<dyn Error>> {
    let h = arguments.step.unwrap_or(STEP);
    let rtol = arguments.rtol.unwrap_or(RTOL);
    let atol = arguments.atol.unwrap_or(rtol);
    let method = match arguments.method {
        MethodName::Euler => Method::Euler { h },
        MethodName::Midpoint => Method::Midpoint { h },
        MethodName::Heun => Method::Heun { h },
        MethodName::Rk4 => Method::Rk4 { h },
        MethodName::DormandPrince => Method::DormandPrince { rtol, atol },
        MethodName::Dop853 => Method::Dop853 { rtol, atol },
    };
    let name = method_name(method);
    let tolerance = arguments.rtol.map(|_| "--rtol").or(arguments.atol.map(|_| "--atol"));
    match (step(method), tolerance) {
        (None, _) if arguments.step.is_some() => {
            Err(format!("{name} chooses its steps: give --rtol and --atol instead of --step").into())
        }
        (Some(_), Some(given)) => {
            Err(format!("{name} takes steps of one size: give --step instead of {given}, or --method dop853").into())
        }
        _ => Ok(method),
    }
}

/// The size of the steps, of a method that does not choose it.
fn step(method: Method) -> Option<f64> {
    match method {
        Method::Euler { h } | Method::Midpoint { h } | Method::Heun { h } | Method::Rk4 { h } => Some(h),
        Method::DormandPrince { .. } | Method::Dop853 { .. } => None,
    }
}

fn feedback(model: &dyn Model, argument: &GainsArgument) -> Result<Feedback, Box<dyn Error>> {
    let names = model.integral_names();
    match argument {
        GainsArgument::None => Ok(Feedback::None),
        GainsArgument::Uniform(k) => Ok(Feedback::Uniform(*k)),
        GainsArgument::Each(gains) if gains.len() == names.len() => Ok(Feedback::Diagonal(gains.clone())),
        GainsArgument::Each(gains) => {
            let (given, wanted, order) = (gains.len(), names.len(), names.join(", "));
            Err(format!("--gains has {given} values but there are {wanted} integrals: {order}").into())
        }
    }
}

/// The runtime's remedy for a bad start, as an option of this command.
fn in_terms_of_options(error: fbint_runtime::Error) -> Box<dyn Error> {
    match error {
        fbint_runtime::Error::OffConstraint { name, value, tolerance } => format!(
            "the start violates the constraint `{name}`: its value there is {value:?} where 0 is asked, give or take \
             {tolerance:.1e}; correct it by --start, or pass --repair"
        )
        .into(),
        fbint_runtime::Error::NoConsistentStart { name, value, iterations } => format!(
            "--repair found no consistent start: the constraint `{name}` is still {value:?} after {iterations} iterations; \
             set entries nearer to the constraints by --start, or fewer of them, because those set are kept"
        )
        .into(),
        other => other.into(),
    }
}

fn contender(job: &Job) -> Contender {
    let scheme = job.method.into();
    match job.gains {
        Feedback::None => Contender::plain(scheme),
        Feedback::Uniform(_) | Feedback::Diagonal(_) => Contender::with_feedback(scheme),
    }
}

fn title(job: &Job) -> String {
    let accuracy = match job.method {
        Method::Euler { h } | Method::Midpoint { h } | Method::Heun { h } | Method::Rk4 { h } => format!("h = {h}"),
        Method::DormandPrince { rtol, atol } | Method::Dop853 { rtol, atol } => {
            format!("rtol = {rtol:?}, atol = {atol:?}")
        }
    };
    format!("{}: {}, {accuracy}, t = 0 .. {}", job.model, method_label(job), job.until)
}

fn method_label(job: &Job) -> String {
    let method = method_name(job.method);
    let feedback = match &job.gains {
        Feedback::None => format!("{method} without feedback"),
        Feedback::Uniform(k) => format!("{method} with feedback, k = {k}"),
        Feedback::Diagonal(_) => format!("{method} with feedback"),
    };
    if job.corrections > 0 { feedback + ", corrected" } else { feedback }
}

fn method_name(method: Method) -> &'static str {
    match method {
        Method::Euler { .. } => "Euler",
        Method::Midpoint { .. } => "the midpoint rule",
        Method::Heun { .. } => "Heun",
        Method::Rk4 { .. } => "RK4",
        Method::DormandPrince { .. } => "Dormand-Prince",
        Method::Dop853 { .. } => "DOP853",
    }
}
