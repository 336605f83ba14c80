//! A run in progress: watched for signals, kept in checkpoints, and written to its files at the end.

use std::error::Error;
use std::io::{self, Write, stdout};
use std::ops::ControlFlow;
use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use fbint_runtime::Error::Failed;
use fbint_runtime::{LargestProjection, Method, Moment, Snapshot};

use crate::animation::Animation;
use crate::bitmap::Painter;
use crate::catalogue::{self, AnyModel, Entry, Feedback, Sample};
use crate::checkpoint::{Checkpoint, Files};
use crate::complaint::complain;
use crate::figure::Curve;
use crate::help::program;
use crate::interruption::Watch;
use crate::job::{Job, code_sha256, in_terms_of_options, method_name};
use crate::motion;
use crate::output::{Output, distinct, has_ending, with_ending};
use crate::progress::Progress;
use crate::record::{self, Ending};
use crate::scheme::Contender;
use crate::table;

/// A run to begin or to resume.
pub(crate) struct Task {
    model: Box<dyn AnyModel>,
    code_sha256: String,
    job: Job,
    files: Files,
    /// Seconds between two checkpoints.
    every: f64,
    /// Seconds that the run took before this process resumed it.
    wall_before: f64,
}

impl Task {
    /// The run of a job of one of `models`, which has taken `wall_before` seconds already.
    pub(crate) fn new(
        models: &[Entry],
        job: Job,
        files: Files,
        every: f64,
        wall_before: f64,
    ) -> Result<Self, Box<dyn Error>> {
        let model = job.model(models)?;
        Ok(Self { code_sha256: code_sha256(&*model), model, job, files, every, wall_before })
    }

    /// Carries out the run, watched for signals, and writes its files and its record.
    pub(crate) fn execute(&self, outputs: &Outputs, from: Option<Snapshot>) -> Result<ExitCode, Box<dyn Error>> {
        let model = &*self.model;
        let (start, plan) = (self.job.start(model)?, self.job.plan(model)?);
        let (begun, interruption) = (Instant::now(), Watch::begin());
        let mut progress = Progress::new(&self.job.model);
        let mut keeper = Keeper { task: self, output: outputs.checkpoint.as_ref(), begun, last: None, failure: None };
        let outcome = model.run(&start, &plan, from, &mut |moment| {
            progress.report(moment.fraction());
            keeper.look(moment, interruption.exit_code().is_some())
        });
        drop(progress);
        let outcome = match (keeper.failure, outcome) {
            (Some(failure), _) => Err((failure, Vec::new())),
            (None, Ok(run)) => Ok(run),
            (None, Err(error)) => match &error {
                Failed(failure) => {
                    let samples = model.samples(&failure.trajectory);
                    Err((self.failed(model, &samples, error, outputs), samples))
                }
                // A job that was refused before the first step leaves no record.
                _ => return Err(in_terms_of_options(error)),
            },
        };

        let record = |ending: &Ending<'_>| {
            let wall_seconds = self.wall_seconds(begun);
            record::write(&outputs.record, &self.job, model, &self.code_sha256, wall_seconds, ending)
        };
        let is_complete = |run: &catalogue::Run| run.time == self.job.settings.until || run.ended_by.is_some();
        let outcome = outcome.and_then(|run| {
            if is_complete(&run) {
                self.write(model, &run, outputs).map_err(|error| (error, Vec::new()))?;
            }
            Ok(run)
        });
        let was_there = outputs.record.exists();
        match (outcome, interruption.exit_code()) {
            (Ok(run), Some(code)) if !is_complete(&run) => {
                record(&Ending::Interrupted(&run))?;
                complain(&self.interrupted(run.time, outputs));
                Ok(ExitCode::from(code))
            }
            (Ok(run), _) => {
                record(&Ending::Complete(&run))?;
                self.report(&run, outputs, was_there, &mut stdout().lock())?;
                Ok(ExitCode::SUCCESS)
            }
            (Err((error, samples)), _) => {
                record(&Ending::Failed(&*error, samples.last()))?;
                Err(error)
            }
        }
    }

    fn write(&self, model: &dyn AnyModel, run: &catalogue::Run, outputs: &Outputs) -> Result<(), Box<dyn Error>> {
        if let Some(out) = &outputs.out {
            out.write(|file| table::write(model, &run.trajectory, file))?;
        }
        if let Some(plot) = &outputs.plot {
            let curve = Curve { contender: contender(&self.job), trajectory: &run.trajectory };
            let svg = motion::draw(&title(&self.job), model, &curve);
            match &outputs.painter {
                Some(painter) => {
                    let png = painter.png(&svg)?;
                    plot.write(|file| file.write_all(&png))?;
                }
                None => plot.write(|file| file.write_all(svg.as_bytes()))?,
            }
        }
        if let Some(animate) = &outputs.animate {
            let (name, method) = (&*self.job.model, &*manner(&self.job));
            let page = Animation { name, method, model, samples: &run.trajectory }.page()?;
            animate.write(|file| file.write_all(page.as_bytes()))?;
        }
        Ok(())
    }

    /// Writes the trajectory until a failure; returns the failure, and where the trajectory is.
    fn failed(
        &self,
        model: &dyn AnyModel,
        samples: &[Sample],
        error: fbint_runtime::Error,
        outputs: &Outputs,
    ) -> Box<dyn Error> {
        let Some(out) = &outputs.out else { return error.into() };
        match out.write(|file| table::write(model, samples, file)) {
            Ok(()) => format!("{error}; the trajectory until then is in {}", out.path().display()).into(),
            Err(unwritten) => format!("{error}; {unwritten}").into(),
        }
    }

    fn report(&self, run: &catalogue::Run, outputs: &Outputs, was_there: bool, out: &mut dyn Write) -> io::Result<()> {
        writeln!(out, "{}\n\n{}\n", title(&self.job), run.report)?;
        match (&run.ended_by, &self.job.until_event) {
            (Some(event), _) => {
                let state = self.model.state_names().into_iter().zip(&run.state);
                let state: Vec<String> = state.map(|(name, value)| format!("{name} = {value:?}")).collect();
                writeln!(out, "{event} at t = {:?}, where {}", run.time, state.join(", "))?;
            }
            (None, Some(event)) => writeln!(out, "{event} did not become true until t = {:?}", run.time)?,
            (None, None) => {}
        }
        report(run, outputs, was_there, out)
    }

    fn wall_seconds(&self, begun: Instant) -> f64 {
        self.wall_before + begun.elapsed().as_secs_f64()
    }

    fn interrupted(&self, time: f64, outputs: &Outputs) -> String {
        let reached = format!("interrupted at t = {time:?} of {:?}", self.job.settings.until);
        match &outputs.checkpoint {
            Some(file) => format!("{reached}; `{} resume {}` resumes from there", program(), file.path().display()),
            None => format!("{reached}; with --checkpoint FILE such a run can be resumed"),
        }
    }
}

/// Watches a run and keeps checkpoints of it.
struct Keeper<'a> {
    task: &'a Task,
    output: Option<&'a Output>,
    begun: Instant,
    /// The time at which the last checkpoint was written.
    last: Option<Instant>,
    failure: Option<Box<dyn Error>>,
}

impl Keeper<'_> {
    /// Writes a checkpoint at the start, when one is due, at the end, and before the run is interrupted.
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
pub(crate) struct Outputs {
    out: Option<Output>,
    plot: Option<Output>,
    /// The renderer of the figure if it is a PNG.
    painter: Option<Painter>,
    animate: Option<Output>,
    checkpoint: Option<Output>,
    record: Output,
}

impl Outputs {
    /// Checks before the run starts that all files can be written, that their endings are known, and that no two are one.
    pub(crate) fn open(job: &Job, files: &Files, checkpoint: Option<&Path>) -> Result<Self, Box<dyn Error>> {
        let [out, plot, animate] = [&files.out, &files.plot, &files.animate].map(Option::as_deref);
        let record = record::path(&job.model, "run", [out, plot, animate, checkpoint].into_iter().flatten());
        let out = out.map(|path| with_ending("--out", path, &["csv"])).transpose()?;
        let plot = plot.map(|path| with_ending("--plot", path, &["svg", "png"])).transpose()?;
        let animate = animate.map(|path| with_ending("--animate", path, &["html"])).transpose()?;
        let open = |path: Option<&Path>| path.map(Output::at).transpose();
        let outputs = Self {
            out: open(out)?,
            plot: open(plot)?,
            painter: plot.filter(|path| has_ending(path, "png")).map(|_| Painter::new()).transpose()?,
            animate: open(animate)?,
            checkpoint: open(checkpoint)?,
            record: Output::at(&record)?,
        };
        distinct(&outputs.named())?;
        Ok(outputs)
    }

    fn named(&self) -> Vec<(&'static str, &Output)> {
        let given = [
            ("--out", &self.out),
            ("--plot", &self.plot),
            ("--animate", &self.animate),
            ("--checkpoint", &self.checkpoint),
        ];
        let given = given.into_iter().filter_map(|(name, file)| Some((name, file.as_ref()?)));
        given.chain([("the record of the run", &self.record)]).collect()
    }
}

fn report(run: &catalogue::Run, outputs: &Outputs, was_there: bool, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{} steps, {} evaluations of the field", run.steps, run.evaluations)?;
    if let Some(LargestProjection { time, entry, distance, per_error, per_tolerance }) = run.largest_projection {
        write!(
            out,
            "largest projection: `{entry}` by {distance:.1e} at t = {time:?}, {per_error:.1e} times the error of the step"
        )?;
        match per_tolerance {
            Some(ratio) => writeln!(out, " and {ratio:.1e} times the tolerance")?,
            None => writeln!(out)?,
        }
    }
    if let Some(dependence) = &run.dependence {
        writeln!(
            out,
            "doubtful: at t = {:?} {dependence}: the field is singular where they are, and steps across such a point are not to be \
             trusted; compare with a run with a smaller --step or --rtol",
            dependence.time,
        )?;
    }
    for (what, file) in [("trajectory", &outputs.out), ("figure", &outputs.plot), ("animation", &outputs.animate)] {
        if let Some(file) = file {
            writeln!(out, "{what}: {}", file.path().display())?;
        }
    }
    let replaced = if was_there { " (replaced)" } else { "" };
    writeln!(out, "record: {}{replaced}", outputs.record.path().display())
}

fn contender(job: &Job) -> Contender {
    let scheme = job.settings.method.into();
    match job.gains {
        Feedback::None if job.settings.projection.is_some() => Contender::with_projection(scheme),
        Feedback::None => Contender::plain(scheme),
        _ => Contender::with_feedback(scheme),
    }
}

fn title(job: &Job) -> String {
    format!("{}: {}", job.model, manner(job))
}

/// The method, what aids it, its accuracy and the time.
fn manner(job: &Job) -> String {
    let accuracy = match job.settings.method {
        Method::Euler { h } | Method::Midpoint { h } | Method::Heun { h } | Method::Rk4 { h } => format!("h = {h}"),
        Method::DiscreteHamel { h } => format!("h = {h}"),
        Method::DormandPrince { rtol, atol } | Method::Dop853 { rtol, atol } => {
            format!("rtol = {rtol:?}, atol = {atol:?}")
        }
    };
    format!("{}, {accuracy}, t = 0 .. {}", method_label(job), job.settings.until)
}

fn method_label(job: &Job) -> String {
    let method = method_name(job.settings.method);
    let feedback = match &job.gains {
        Feedback::None if job.settings.projection.is_some() => return format!("{method}, projected after each step"),
        Feedback::None => format!("{method} without feedback"),
        Feedback::Uniform(k) => format!("{method} with feedback, k = {k}"),
        Feedback::Diagonal(_) => format!("{method} with feedback"),
        Feedback::Relaxation(tau) => format!("{method} with feedback, relaxation time {tau}"),
        Feedback::DiagonalScaled(rate) => format!("{method} with feedback, scaled to the rate {rate}"),
        Feedback::BaeChang(_) => format!("{method} with feedback, gains of Bae and Chang"),
    };
    if job.settings.projection.is_some() { feedback + ", projected" } else { feedback }
}
