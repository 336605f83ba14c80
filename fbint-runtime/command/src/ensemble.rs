//! `ensemble`: many members of one model, whose parameters, starts or gains vary.

use std::collections::BTreeMap;
use std::error::Error;
use std::io::{self, Write, stdout};
use std::path::PathBuf;
use std::time::Instant;

use fbint_runtime::Projection;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rand_distr::{Distribution as _, StandardNormal, StandardUniform};
use rayon::ThreadPoolBuilder;

use crate::arguments::{self, Assignment, Distribution, Variation};
use crate::catalogue::{AnyModel, EnsembleRun, Entry, Feedback, Member, Summary};
use crate::complaint::complain;
use crate::interruption::LastAct;
use crate::job::{Job, code_sha256, method_name};
use crate::nearest;
use crate::output::{Output, distinct, with_ending};
use crate::progress::Progress;
use crate::record::{self, EnsembleEnding, EnsembleJob};
use crate::run::job;
use crate::start::Given;
use crate::table::{io_error, quantities};

/// The name under which the common gain of all integrals varies.
const GAINS: &str = "gains";
/// Maximum number of failed members that the report names.
const FAILURES: usize = 5;

/// Integrates the members, computes their statistics and writes the files.
pub(crate) fn ensemble(models: &[Entry], arguments: &arguments::Ensemble) -> Result<(), Box<dyn Error>> {
    let mut job = job(models, &arguments.integration, arguments.every)?;
    let model = job.model(models)?;
    let code_sha256 = code_sha256(&*model);
    let varied = varied(&*model, arguments)?;
    settle_gains(arguments, &mut job, &varied)?;
    let (outputs, begun) = (Outputs::open(arguments)?, Instant::now());
    if let Some(threads) = arguments.threads {
        ThreadPoolBuilder::new().num_threads(threads.into()).build_global()?;
    }
    let numbers: Vec<Vec<f64>> = (0..arguments.members).map(|member| draw(arguments, member)).collect();
    let members = members(arguments, &mut *job.model(models)?, &varied, &numbers)?;
    let interruption = record_interruption(arguments, &job, &code_sha256, &outputs.record, begun);
    let run = integrate(&*model, &job, members)?;
    drop(interruption);
    let record = |ending: &EnsembleEnding<'_>| {
        let (job, wall_seconds) = (described(arguments, &job), begun.elapsed().as_secs_f64());
        record::write_ensemble(&outputs.record, &job, &code_sha256, wall_seconds, ending)
    };
    if let (0, Some(Err(first))) = (run.statistics[0].members, run.ends.first()) {
        let message = format!("all {} members failed; the first: {first}", run.ends.len());
        record(&EnsembleEnding::Failed(&message))?;
        return Err(message.into());
    }
    if let Some(out) = &outputs.out {
        out.write(|file| write_statistics(&*model, &run, file))?;
    }
    if let Some(ends) = &outputs.ends {
        ends.write(|file| write_ends(&*model, &arguments.vary, &numbers, &run, file))?;
    }
    record(&EnsembleEnding::Complete(&*model, &run))?;
    report(arguments, &job, &*model, &run, &outputs, &mut stdout().lock())?;
    Ok(())
}

/// While the result exists, a signal that ends the process leaves a record.
fn record_interruption(
    arguments: &arguments::Ensemble,
    job: &Job,
    code_sha256: &str,
    output: &Output,
    begun: Instant,
) -> LastAct {
    let (arguments, job, output, code_sha256) =
        (arguments.clone(), job.clone(), output.clone(), code_sha256.to_owned());
    LastAct::prepare(move || {
        let (job, wall_seconds) = (described(&arguments, &job), begun.elapsed().as_secs_f64());
        let written = record::write_ensemble(&output, &job, &code_sha256, wall_seconds, &EnsembleEnding::Interrupted);
        if let Err(error) = written {
            complain(&format!("error: {error}"));
        }
    })
}

/// The settings of the ensemble, for its record.
fn described<'a>(arguments: &'a arguments::Ensemble, job: &'a Job) -> EnsembleJob<'a> {
    EnsembleJob {
        job,
        members: arguments.members,
        seed: arguments.seed,
        vary: arguments.vary.iter().map(|variation| (variation.name.as_str(), variation.distribution)).collect(),
        start_entries: by_name(&arguments.integration.start),
        guessed_entries: by_name(&arguments.integration.guess),
        repair: arguments.integration.repair,
    }
}

fn by_name(assignments: &[Assignment]) -> BTreeMap<&str, f64> {
    assignments.iter().map(|entry| (entry.name.as_str(), entry.value)).collect()
}

/// A quantity that varies, with its position.
enum Varied {
    Parameter(usize),
    Start(usize),
    Gain,
}

fn varied(model: &dyn AnyModel, arguments: &arguments::Ensemble) -> Result<Vec<Varied>, Box<dyn Error>> {
    let given = Given::of(model, &arguments.integration)?;
    let parameters: Vec<&str> = model.parameters().iter().map(|parameter| parameter.0).collect();
    let (p, n) = (parameters.len(), model.state_names().len());
    let names: Vec<&str> = parameters.iter().copied().chain(model.state_names()).chain([GAINS]).collect();
    let mut found = Vec::new();
    for Variation { name, .. } in &arguments.vary {
        let index = nearest::find("name in --vary", name, &names)?;
        if found.contains(&index) {
            return Err(format!("--vary names `{name}` twice: give one distribution to each name").into());
        }
        if (p..p + n).contains(&index) && given.names(index - p) {
            return Err(format!("--vary draws `{name}`, which --start or --guess gives: keep one of them").into());
        }
        found.push(index);
    }
    let kind = |index: usize| match index {
        _ if index < p => Varied::Parameter(index),
        _ if index < p + n => Varied::Start(index - p),
        _ => Varied::Gain,
    };
    Ok(found.into_iter().map(kind).collect())
}

/// Gains that vary replace common gains, and the projection unless `--project` is given.
fn settle_gains(arguments: &arguments::Ensemble, job: &mut Job, varied: &[Varied]) -> Result<(), Box<dyn Error>> {
    let given = arguments.integration.gains.is_some();
    match job.gains {
        Feedback::DiagonalScaled(_) | Feedback::BaeChang(_) => {
            Err("an ensemble takes --gains none, numbers, or relaxation:TAU: give one of these, or leave it out".into())
        }
        _ if !varied.iter().any(|varied| matches!(varied, Varied::Gain)) => Ok(()),
        _ if given => Err("--vary gains and --gains exclude one another: give one of them".into()),
        _ => {
            job.settings.projection = arguments.integration.project.then(Projection::default);
            Ok(())
        }
    }
}

/// The numbers drawn for one member, in the order of `--vary`. Each member has its own stream of random numbers.
fn draw(arguments: &arguments::Ensemble, member: u32) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(arguments.seed);
    random.set_stream(member.into());
    let number = |variation: &Variation| match variation.distribution {
        Distribution::Normal { mean, deviation } => {
            let normal: f64 = StandardNormal.sample(&mut random);
            mean + deviation * normal
        }
        Distribution::Uniform { from, to } => {
            let fraction: f64 = StandardUniform.sample(&mut random);
            from + (to - from) * fraction
        }
        Distribution::Linspace { from, to } => {
            from + (to - from) * f64::from(member) / f64::from((arguments.members - 1).max(1))
        }
    };
    arguments.vary.iter().map(number).collect()
}

/// The members; an error instead of a member that has no start.
fn members(
    arguments: &arguments::Ensemble,
    model: &mut dyn AnyModel,
    varied: &[Varied],
    numbers: &[Vec<f64>],
) -> Result<Vec<Result<Member, fbint_runtime::Error>>, Box<dyn Error>> {
    let given = Given::of(model, &arguments.integration)?;
    let mut member = |numbers: &Vec<f64>| {
        let set = || varied.iter().zip(numbers);
        let gain = set().find_map(|(varied, &number)| matches!(varied, Varied::Gain).then_some(number));
        for (varied, &number) in set() {
            if let Varied::Parameter(index) = varied {
                model.set_parameter(*index, number);
            }
        }
        let drawn = set().filter_map(|(varied, &number)| match varied {
            Varied::Start(entry) => Some((*entry, number)),
            _ => None,
        });
        // The model's own start depends on its parameters.
        let start = given.start(model, &drawn.collect::<Vec<_>>())?;
        let parameters = model.parameters().into_iter().map(|parameter| parameter.1).collect();
        Ok(Member { parameters, start, gain })
    };
    Ok(numbers.iter().map(&mut member).collect())
}

/// Integrates the members that have a start. A member without a start has its error in its place among the ends.
fn integrate(
    model: &dyn AnyModel,
    job: &Job,
    members: Vec<Result<Member, fbint_runtime::Error>>,
) -> Result<EnsembleRun, Box<dyn Error>> {
    let (mut startable, mut failures) = (Vec::new(), Vec::new());
    for member in members {
        match member {
            Ok(member) => {
                startable.push(member);
                failures.push(None);
            }
            Err(error) => failures.push(Some(error)),
        }
    }
    let mut progress = Progress::new(&job.model);
    let mut run = model.run_ensemble(&startable, &job.plan(model)?, &mut |fraction| progress.report(fraction))?;
    let mut ends = std::mem::take(&mut run.ends).into_iter();
    run.ends = failures
        .into_iter()
        .filter_map(|failure| failure.map_or_else(|| ends.next(), |error| Some(Err(error))))
        .collect();
    Ok(run)
}

/// The files of an ensemble.
struct Outputs {
    out: Option<Output>,
    ends: Option<Output>,
    record: Output,
}

impl Outputs {
    /// Checks before the run starts that all files can be written, that they are tables, and that no two are one.
    fn open(arguments: &arguments::Ensemble) -> Result<Self, Box<dyn Error>> {
        let open = |option: &str, path: &Option<PathBuf>| -> Result<Option<Output>, Box<dyn Error>> {
            path.as_deref().map(|path| Output::at(with_ending(option, path, &["csv"])?)).transpose()
        };
        let files = [&arguments.out, &arguments.ends].into_iter().filter_map(Option::as_deref);
        let record = record::path(&arguments.integration.model, "ensemble", files);
        let outputs = Self {
            out: open("--out", &arguments.out)?,
            ends: open("--ends", &arguments.ends)?,
            record: Output::at(&record)?,
        };
        let given = [("--out", outputs.out.as_ref()), ("--ends", outputs.ends.as_ref())];
        let named = given.into_iter().filter_map(|(option, file)| Some((option, file?)));
        distinct(&named.chain([("the record of the ensemble", &outputs.record)]).collect::<Vec<_>>())?;
        Ok(outputs)
    }
}

/// Writes a row for each time: the time, the number of members, and mean, variance, minimum and maximum of every quantity.
fn write_statistics(model: &dyn AnyModel, run: &EnsembleRun, file: &mut dyn Write) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(file);
    let of = |name: String| ["mean", "variance", "min", "max"].map(|what| format!("{what}({name})"));
    let header = ["t", "members"].map(str::to_owned).into_iter().chain(quantities(model).into_iter().flat_map(of));
    table.write_record(header).map_err(io_error)?;
    for at in &run.statistics {
        let numbers = at.quantities.iter().flat_map(|of| [of.mean, of.variance, of.min, of.max]);
        let front = [format!("{:?}", at.time), at.members.to_string()];
        let row = front.into_iter().chain(numbers.map(|number| format!("{number:?}")));
        table.write_record(row).map_err(io_error)?;
    }
    table.flush()
}

/// Writes a row for each member: its number, what varied, state and changes at the end, or the error of a member that failed.
fn write_ends(
    model: &dyn AnyModel,
    variations: &[Variation],
    numbers: &[Vec<f64>],
    run: &EnsembleRun,
    file: &mut dyn Write,
) -> io::Result<()> {
    let mut table = csv::Writer::from_writer(file);
    let quantities = quantities(model);
    let drawn = variations.iter().map(|variation| format!("drawn({})", variation.name));
    let header = ["member".to_owned()].into_iter().chain(drawn).chain(quantities.iter().cloned());
    table.write_record(header.chain(["error".to_owned()])).map_err(io_error)?;
    for (member, (numbers, end)) in numbers.iter().zip(&run.ends).enumerate() {
        let text = |number: &f64| format!("{number:?}");
        let mut row = vec![member.to_string()];
        row.extend(numbers.iter().map(text));
        match end {
            Ok(end) => row.extend(end.state.iter().chain(&end.change).map(text).chain([String::new()])),
            Err(error) => {
                row.extend(quantities.iter().map(|_| String::new()));
                row.push(error.to_string());
            }
        }
        table.write_record(row).map_err(io_error)?;
    }
    table.flush()
}

fn report(
    arguments: &arguments::Ensemble,
    job: &Job,
    model: &dyn AnyModel,
    run: &EnsembleRun,
    outputs: &Outputs,
    out: &mut dyn Write,
) -> io::Result<()> {
    let method = method_name(job.settings.method);
    writeln!(
        out,
        "{}: {} members, {method}, t = 0 .. {}, seed {}\n",
        job.model,
        run.ends.len(),
        job.settings.until,
        arguments.seed
    )?;
    let names = quantities(model);
    let width = names.iter().map(|name| name.chars().count()).fold("at the end".len(), usize::max);
    writeln!(
        out,
        "{:width$}  {:>12}  {:>12}  {:>12}  {:>12}",
        "at the end", "mean", "deviation", "minimum", "maximum"
    )?;
    let end = &run.statistics[run.statistics.len() - 1];
    for (name, Summary { mean, variance, min, max }) in names.iter().zip(&end.quantities) {
        writeln!(out, "{name:width$}  {mean:>12.4e}  {:>12.4e}  {min:>12.4e}  {max:>12.4e}", variance.sqrt())?;
    }
    writeln!(out, "\n{:width$}  {:>12}", "integral", "max |change|")?;
    for (name, change) in model.integral_names().iter().zip(&run.largest_changes) {
        writeln!(out, "{name:width$}  {change:>12.2e}")?;
    }
    writeln!(out, "\nthe largest changes are over the {} times that were sampled", run.statistics.len())?;
    let failed = run.ends.iter().enumerate().filter_map(|(member, end)| Some((member, end.as_ref().err()?)));
    let count = failed.clone().count();
    if count > 0 {
        writeln!(out, "{count} of {} members failed and are left out of the statistics:", run.ends.len())?;
    }
    for (member, error) in failed.take(FAILURES) {
        writeln!(out, "  member {member}: {error}")?;
    }
    if count > FAILURES {
        writeln!(out, "  and {} more", count - FAILURES)?;
    }
    for (what, file) in [("statistics", &outputs.out), ("ends", &outputs.ends)] {
        if let Some(file) = file {
            writeln!(out, "{what}: {}", file.path().display())?;
        }
    }
    writeln!(out, "record: {}", outputs.record.path().display())
}
