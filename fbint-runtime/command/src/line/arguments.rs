//! The command line, and the help that teaches it.

pub(crate) mod values;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::{Path, PathBuf};

use clap::{Args, Subcommand};
use serde::{Deserialize, Serialize};

use crate::line::condition::Condition;
use fbint_catalogue::Law;
#[cfg(feature = "text")]
use values::text_of_assignment;
pub(crate) use values::{Assignment, Distribution, GainsArgument, SectionFile, Variation};
use values::{
    assignment, condition, finite, gains, input, interval, members, positive, seconds, section, seed, steps, threads,
    variation,
};

/// The task of the command; [`execute`](Self::execute) does it.
///
/// A program with more commands flattens this enum into another:
///
/// ```
/// use fbint_command::Command;
/// use fbint_command::clap::Subcommand;
///
/// #[derive(Subcommand)]
/// enum Mine {
///     #[command(flatten)]
///     Shared(Command),
///     /// Compare the models with measurements.
///     Compare,
/// }
/// ```
#[derive(Subcommand, Debug)]
pub enum Command {
    /// List the models, their parameters and integrals.
    List(ListArguments),
    /// Integrate a model and report the drift of every integral.
    Run(Box<RunArguments>),
    /// Integrate many members of a model at once, with parameters, starts or gains that vary.
    Ensemble(Box<EnsembleArguments>),
    /// Resume a run or an ensemble from its checkpoint.
    Resume(ResumeArguments),
    /// Print the derivation of a model.
    Show(ShowArguments),
    /// Measure error and drift of every method and policy of gains against the work they take.
    WorkPrecision(WorkPrecisionArguments),
    /// Write a page with the equations of a model, its parameters, its start, and a run with its figure and the drift of its integrals.
    Report(Box<ReportArguments>),
    /// Write an animation of every model, with pictures of all of them.
    Gallery(GalleryArguments),
    /// Write a model in C, as an FMU, or as functions of CasADi.
    #[cfg(feature = "text")]
    Export(ExportArguments),
}

/// The method by default.
const METHOD: &str = "rk4";
/// The time at the end by default.
const UNTIL: f64 = 10.0;

const RUN_EXAMPLES: &str = "\
Examples:
  {program} run {model} --until 100
  {program} run {model} --method euler --step 1e-3 --gains none
  {program} run {model} --step 0.05 --gains relaxation:1
  {program} run {model} --method dop853 --rtol 1e-10 --until 30 --out run.csv --plot run.svg
  {program} run {model} --plot phase.svg --of 't,{entry}' --of drift
  {program} run {model} --out run.parquet  (a build with the feature `parquet`)
  {program} run {model} -p {parameter}=2 --out run.csv
  {program} run {model} --start {entry}=0.3 --repair
  {program} run {model} --guess {entry}=0.3 --plot run.svg
  {program} run {model} --until 20 --out run.csv --checkpoint run.checkpoint
  {program} run {model} --method dop853 --until-event '{entry}<0'
  {program} run {model} --until-event '{entry}^2 > 2' --until 50
  {program} run pendulum.rs --until 1000 --section top=top.csv --section top=top.svg
  {program} run {model} --until 20 --animate run.html
  {program} run pendulum.rs --until 20 --plot pendulum.svg  (a model in a file)

Model:
  Give a name that `{program} list` shows; the record of a run, which repeats it; or a file that holds the attribute `feedback_system`
  and its struct, as in a crate, with `default` and `start` (a build with the feature `text`). fbint derives its equations when it reads
  the file, and passes over the other items of a crate's source file. FILE.rs:MODEL selects one of several models, by the name
  of its struct, or by the one that `{program} list FILE.rs` shows.

Methods:
  euler, midpoint, heun and rk4 take steps of one size, --step. dormand-prince, dop853 and rodas5p choose their steps so that the error
  of each step stays below --atol plus --rtol times the state; without --atol it is --rtol times the size of each variable so far. rodas5p is for what is stiff: springs, dampers or gains that are fast
  against the motion, in models with the key `derivatives` and in all models from files. taylor is for errors near rounding, in models with the key `taylor` and
  in all models from files: it takes --rtol alone, which decides the order, 20 at 1e-15 and 12 at 1e-9. gauss4, gauss8, gauss16,
  rattle, stormer-verlet and discrete-hamel take
  steps of one size and keep the structure of the motion: in long runs the energy does not drift, at steps that are not too long.
  A method that chooses its steps knows the field at a few points of each and nothing of what happens between them. Where a force
  depends on the time, its steps are at most a 250th of the run while nothing moves, so that it does not pass by a pulse on what
  rests; --max-step bounds every step instead. After a second, a run that will take more than five minutes says how long.

Gains:
  Without --gains the state is projected after each step onto the level set of all integrals, in the metric of the error that
  the method estimates for its own steps, which needs no number. --gains replaces the projection by feedback, and methods that keep the
  structure of the motion project nothing; --project adds the projection to either:
  none              the derived field alone
  K                 one gain for every integral; K1,K2,.. are gains for each, in the order that `{program} list` shows
  relaxation:TAU    every violation decays as exp(-t / TAU); a few steps are a good TAU
  bae-chang         the strongest gains that an Euler step of this size allows, by the rule of Bae and Chang
  Constant gains make the field stiff. The command refuses a step that is too large for them, and names the largest step that works.

Start:
  --start changes entries of the start that a model declares: 'q[0]=1' one, q=1,2 a whole vector. A model that declares none needs all
  of them. A start that violates a constraint is refused with the name and the value
  of the constraint. --repair moves it to a consistent start nearby, with the entries that --start sets. Entries that --guess sets
  say where the search begins, and are moved as all others are.

Inputs:
  `{program} list` names the inputs of a model. --input thrust='-2*x' gives one by a law, an expression in the names of the model, and
  --input thrust=table.csv by the columns t and thrust of a table: each number holds until the time of the next. With
  'thrust=linear(table.csv)' the input is linear between them. Rows may stand there, too: 'thrust=held(0: 2, 1.5: 0)'. An input that
  neither the model nor --input gives is 0, which a note says.

Event:
  --until-event 'NAME < NUMBER' or 'NAME > NUMBER' ends the run where the condition becomes true, at --until at the latest. Either side
  may be an expression of the state, the time, the parameters and the outputs, as in 'x^2 + p > 3' or 'q.norm() < 2 * l'. The quotes
  keep the shell from taking < and > for itself. The run follows the quantity within each step: it also finds a condition that becomes
  true and false again before the step ends, and locates its time. The command refuses a condition that is true at the start, or that
  becomes true where a motion begins at rest. You can continue a run from the event that ended it, under the same condition: a quantity
  that passes the number exactly at the start does not count.
  --section NAME=FILE writes where the event or the section NAME of the declaration occurred: as CSV or Parquet a row for each time, with
  the state before any reset and the outputs, as SVG or PNG a dot for each, every coordinate against its momentum or its rate.

Files:
  The ending decides the format: .csv or .parquet for --out, .svg or .png for --plot, .html for --animate, any of the first four for
  --section. Parquet takes a build with the feature `parquet`; a PNG takes one with the feature `png`, and has text in a font of this
  computer. Every file appears whole or not at all. Every run leaves a record of its settings, its code and its result:
  four-bar.run.json next to four-bar.csv, named after --out, or else --plot, --animate, --section or --checkpoint, so that runs with files of their own keep their
  records; MODEL.run.json in the current folder for a run without files. `{program} run four-bar.run.json` repeats the run.
  A file replaces one that fbint has written, and any other only with --force. The source of a model is never replaced.
  Columns of --out are t, the entries of the state, d(NAME) for the change of each integral, and the outputs. Tables and figures use
  the names t, drift, member and error themselves: an entry of the state called t that is not the time has the column state.t, and an
  output called t has output.t, also in --of and --until-event. Parquet has the record in its metadata,
  under the key `fbint`, without the wall time, so that equal runs have equal files.
  A run that fails, because it blows up or cannot make a further step, has exit code 2. Its record says so, and --out has the
  trajectory up to there.

Figure:
  --plot draws on a sheet of A4: each vector, matrix and scalar of the state over time; the paths of the points and traces that the
  model draws; each scalar coordinate against its momentum or its rate; and |change| of all integrals in one panel, where those at
  rounding have one line in common and are named below. Steps that a method chooses are drawn through its dense output, unless --every
  is given or there are more than 2000 of them; changes of integrals are drawn at the ends of steps alone.
  --of chooses the panels: 'NAME' draws a column over time, 'NAME,NAME' the second one against the first, and drift the change of every
  integral. The quotes keep the shell from taking brackets for itself.

Animation:
  The page needs a browser and nothing else, not even a network. It shows at most 2000 samples of the run, evenly chosen, and where
  they are far apart, positions between them that are interpolated by the derived field. Changes of integrals are shown at samples alone;
  those that are rounding share one grey line.

Interruption:
  Ctrl-C ends a run between two steps with exit code 130. The run writes its record, and no table or figure. With --checkpoint it also
  keeps its state and its samples, then and every --checkpoint-every seconds, in case something kills it. `{program} resume FILE`
  resumes the run; its files are bit-identical to the files of an uninterrupted run. A process that is killed while it writes a file
  leaves the old one, and perhaps a hidden one called .fbint-*, which you can delete.";

#[derive(Args, Clone, Debug)]
#[command(after_help = RUN_EXAMPLES)]
pub struct RunArguments {
    #[command(flatten)]
    pub(crate) options: RunOptions,
    /// Write the trajectory, the change of every integral and the outputs as CSV or Parquet.
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    pub(crate) out: Option<PathBuf>,
    /// Draw the state over time, paths, phase portraits and the change of every integral on a page, as SVG or PNG.
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw a quantity over time, a quantity against another one, or the change of every integral, instead of everything; may be
    /// repeated.
    #[arg(long, value_name = "NAME|NAME,NAME|drift", requires = "plot")]
    pub(crate) of: Vec<String>,
    /// Write a page on which the mechanism moves, with what happened to its integrals, as HTML for any browser.
    #[arg(long, value_name = "FILE.html")]
    pub(crate) animate: Option<PathBuf>,
    /// Write where an event or a section of the model occurred, as a table, or as a picture of the points in phase planes; may be repeated.
    #[arg(long = "section", value_name = "NAME=FILE.csv|FILE.parquet|FILE.svg|FILE.png", value_parser = section)]
    pub(crate) sections: Vec<SectionFile>,
    /// Keep checkpoints in this file, from which `resume` resumes the run if it is interrupted.
    #[arg(long, value_name = "FILE")]
    pub(crate) checkpoint: Option<PathBuf>,
    /// The wall time between two checkpoints in seconds; default: 10.
    #[arg(long, value_name = "SECONDS", allow_hyphen_values = true, requires = "checkpoint", value_parser = seconds)]
    pub(crate) checkpoint_every: Option<f64>,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    pub(crate) force: bool,
}

/// The description of a run, besides its files.
#[derive(Args, Clone, Debug)]
pub(crate) struct RunOptions {
    #[command(flatten)]
    pub(crate) integration: Integration,
    /// End the run where an entry of the state, an output, or an expression in the names of the model falls below another one or rises
    /// above it.
    #[arg(long, value_name = "NAME<NUMBER|EXPRESSION>EXPRESSION", value_parser = condition)]
    pub(crate) until_event: Option<Condition>,
    /// The time between two samples of the trajectory, or 0 for a sample at every step; default: about 1000 samples, or up to 2000 of a
    /// method that chooses its steps: each of them, or where there are more every second, fourth and so on.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = interval)]
    pub(crate) every: Option<f64>,
}

impl RunOptions {
    /// The options of a run of a model for which nothing else is given.
    pub(crate) fn of(model: &str) -> Self {
        let integration = Integration {
            model: model.to_owned(),
            folder: None,
            method: METHOD.to_owned(),
            step: None,
            rtol: None,
            atol: None,
            max_step: None,
            max_steps: None,
            project: false,
            until: UNTIL,
            gains: None,
            parameters: Vec::new(),
            inputs: Vec::new(),
            functions: BTreeMap::new(),
            start: Vec::new(),
            guess: Vec::new(),
            repair: false,
        };
        Self { integration, until_event: None, every: None }
    }

    /// Whether nothing but the model is given.
    pub(crate) fn are_bare(&self) -> Result<bool, Box<dyn Error>> {
        let bare = Self::of(&self.integration.model).integration;
        let is_bare = serde_json::to_value(&self.integration)? == serde_json::to_value(bare)?;
        Ok(is_bare && self.until_event.is_none() && self.every.is_none())
    }
}

/// The model, its start, and the method of a run or an ensemble.
#[derive(Args, Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Integration {
    /// The model, as `list` names it, or FILE.rs.
    pub(crate) model: String,
    /// The folder from which the path of its file starts, if that is not the current one.
    #[arg(skip)]
    pub(crate) folder: Option<PathBuf>,
    /// The integrator.
    #[arg(long, default_value = METHOD, ignore_case = true, value_parser = values::methods())]
    pub(crate) method: String,
    /// The step size h of a method with a fixed step; default: 1e-3.
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = positive)]
    pub(crate) step: Option<f64>,
    /// The relative tolerance of a method that chooses its steps; default: 1e-9.
    #[arg(long, value_name = "TOLERANCE", allow_hyphen_values = true, value_parser = positive)]
    pub(crate) rtol: Option<f64>,
    /// The absolute tolerance of a method that chooses its steps; default: --rtol times the largest entry so far of each scalar, vector or matrix.
    #[arg(long, value_name = "TOLERANCE", allow_hyphen_values = true, value_parser = positive)]
    pub(crate) atol: Option<f64>,
    /// The longest step of a method that chooses its steps; default: a 250th of the run while nothing moves, if the state has the
    /// time, else any.
    #[arg(long, value_name = "H", allow_hyphen_values = true, value_parser = positive)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_step: Option<f64>,
    /// Refuse a run of more steps than these, or end it there with an error if the method chooses its steps; default: ten million
    /// for such a method, else 1e15.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = steps)]
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) max_steps: Option<u64>,
    /// Project the state after each step onto all constraints and invariants, also with --gains.
    #[arg(long)]
    pub(crate) project: bool,
    /// The time at the end; a run starts at the time of its start, which is 0 by default: `--start t=-8`.
    #[arg(long, value_name = "T", default_value_t = UNTIL, allow_hyphen_values = true, value_parser = finite)]
    pub(crate) until: f64,
    /// The gains of the feedback, instead of a projection after each step.
    #[arg(long, value_name = "GAINS", value_parser = gains, allow_hyphen_values = true)]
    pub(crate) gains: Option<GainsArgument>,
    /// Set a parameter, or all entries of a vector or a matrix, row by row; may be repeated.
    #[arg(short, long = "parameter", value_name = "NAME=VALUE|NAME=VALUE,..", value_parser = assignment)]
    pub(crate) parameters: Vec<Assignment>,
    /// Give an input by a law, an expression of the state, the time and the parameters such as thrust='2*sin(3*t)', or by the columns t and
    /// NAME of a table, whose numbers are held from their times on, or are linear between them as linear(FILE.csv); may be repeated.
    #[arg(long = "input", value_name = "NAME=LAW|NAME=FILE.csv", value_parser = input)]
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) inputs: Vec<(String, String)>,
    /// Inputs that functions of the program give, by their names.
    #[arg(skip)]
    #[serde(skip)]
    pub(crate) functions: BTreeMap<String, Law>,
    /// Set an entry of the start, or all entries of a vector or a matrix, row by row; may be repeated.
    #[arg(long, value_name = "NAME=VALUE|NAME=VALUE,..", value_parser = assignment)]
    pub(crate) start: Vec<Assignment>,
    /// Set an entry of the start, or several, that --repair may move; may be repeated, and implies --repair.
    #[arg(long, value_name = "NAME=VALUE|NAME=VALUE,..", value_parser = assignment)]
    pub(crate) guess: Vec<Assignment>,
    /// Move the start to a nearby state that satisfies the constraints, and keep the entries that --start sets.
    #[arg(long)]
    pub(crate) repair: bool,
}

const ENSEMBLE_EXAMPLES: &str = "\
Examples:
  {program} ensemble {model} --members 10000 --vary {entry}=normal:0,0.01 --vary {parameter}=uniform:0.9,1.1
  {program} ensemble {model} --members 1000 --vary {parameter}=uniform:0.9,1.1 --until 5 --out statistics.csv
  {program} ensemble {model} --members 101 --vary {entry}=linspace:-0.1,0.1 --ends ends.csv --samples samples.csv
  {program} ensemble {model} --members 1000 --vary {parameter}=normal:1,0.01 --plot ends.svg --of '{entry}' --of 'drawn({parameter}),{entry}'
  {program} ensemble {model} --members 50 --vary gains=linspace:0.1,5 --method euler --ends ends.csv
  {program} ensemble {model} --members 100000 --vary {parameter}=normal:1,0.01 --ends ends.csv --checkpoint ends.checkpoint
  mpirun -n 4 {program} ensemble {model} --members 100000 --vary {parameter}=normal:1,0.01 --ends ends.csv
  {program} ensemble {model} --members 100000 --vary {parameter}=normal:1,0.01 --ends ends.parquet/  (with the feature `parquet`)

Variation:
  --vary NAME=DISTRIBUTION draws a number for each member; NAME is a parameter, an entry of the start, or `gains` for one
  gain of all integrals. normal:MEAN,DEVIATION and uniform:FROM,TO are random, linspace:FROM,TO goes evenly from the first
  member to the last. The draws of member 7 follow from --seed, and do not depend on the number of members. A start with entries that
  vary moves to a consistent one nearby, which keeps the entries drawn; --repair and --guess do so for every start.

Files:
  The ending decides the format: .csv or .parquet for tables, .svg or .png for --plot; Parquet and PNG take builds with the
  features `parquet` and `png`. Rows are written while the ensemble runs, in memory that does not grow with the number of members;
  the files appear when all of them are whole, with the same bytes for any number of threads. Columns of --ends are member, drawn(NAME)
  for what varied, the entries of the state, d(NAME) for the change of each integral, and error; --samples has t instead of what
  varied, and no member that failed. --of chooses the panels of --plot: 'NAME' draws a histogram of a column of --ends over the
  members, 'NAME,NAME' the second column against the first, a dot for each member or for each of 4000.
  A path that ends in a slash, as in --ends ends/ or --samples samples/, is a folder of Parquet files, part-0000000.parquet and so
  on, one for each 2048 members. pyarrow, polars, Dask and Spark read it as one table; Spark reads parts in any order: sort by
  member. The folder must be new or empty. A part appears as soon as its members are done, so that no process has to write the rows of
  all members; the record appears when all parts are there.
  An ensemble leaves a record of its settings and of the statistics at its end: ends.ensemble.json next to
  ends.csv, or MODEL.ensemble.json in the current folder.

Interruption:
  Ctrl-C ends an ensemble between two steps with exit code 130. Its files have the members that finished or failed by then, in their
  order; the statistics cover these, and the record has their number. If no member finished, there is only the record. A second Ctrl-C
  ends the ensemble at once.
  With --checkpoint, the ensemble keeps members on disk in blocks of 2048, each whole or not at all, and removes the folder when its
  files are written. If anything ends it earlier, Ctrl-C included, `{program} resume FOLDER` integrates the missing blocks, and writes
  files with the bytes of an uninterrupted ensemble. Until then there are only the record and finished parts.

Many machines:
  A build with the feature `mpi` shares an ensemble among the processes that `mpirun` or `srun` begins, on one file system. Each takes
  the next block as soon as it has integrated one, with as many threads as it may use cores. The files have the same bytes for any
  number of processes. There is always a checkpoint: ends.checkpoint next to ends.csv, unless --checkpoint names another folder. If
  one process is lost, the launcher ends the others, and `mpirun .. {program} resume ends.checkpoint` integrates the rest.

Members that fail:
  A member that has no consistent start, or blows up, is reported with its number and left out of the statistics.";

#[derive(Args, Clone, Debug, Serialize, Deserialize)]
#[command(after_help = ENSEMBLE_EXAMPLES)]
pub struct EnsembleArguments {
    #[command(flatten)]
    pub(crate) integration: Integration,
    /// The number of members.
    #[arg(long, value_name = "COUNT", default_value_t = 1000, allow_hyphen_values = true, value_parser = members)]
    pub(crate) members: u32,
    /// Vary a parameter, an entry of the start, or the gains; may be repeated.
    #[arg(long, value_name = "NAME=DISTRIBUTION", value_parser = variation)]
    pub(crate) vary: Vec<Variation>,
    /// The seed of the random numbers.
    #[arg(long, value_name = "NUMBER", default_value_t = 1, allow_hyphen_values = true, value_parser = seed)]
    pub(crate) seed: u64,
    /// The number of threads; default: the number of cores. Under MPI, of every process.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = threads)]
    #[serde(skip)]
    pub(crate) threads: Option<u16>,
    /// Keep the blocks of members that are done in this folder, from which `resume` resumes the ensemble if it is interrupted.
    #[arg(long, value_name = "FOLDER")]
    #[serde(skip)]
    pub(crate) checkpoint: Option<PathBuf>,
    /// Write mean, variance, minimum and maximum of the state and of the change of every integral, a row for each time.
    #[arg(long, value_name = "FILE.csv|FILE.parquet")]
    pub(crate) out: Option<PathBuf>,
    /// Write what varied, the state at the end and the change of every integral, a row for each member.
    #[arg(long, value_name = "FILE.csv|FILE.parquet|FOLDER/")]
    pub(crate) ends: Option<PathBuf>,
    /// Write the state and the change of every integral, a row for each sample of each member that does not fail.
    #[arg(long, value_name = "FILE.csv|FILE.parquet|FOLDER/")]
    pub(crate) samples: Option<PathBuf>,
    /// Draw how entries of the state are spread over the members at the end, as SVG or PNG.
    #[arg(long, value_name = "FILE.svg|FILE.png")]
    pub(crate) plot: Option<PathBuf>,
    /// Draw a histogram of a column of --ends, or dots for a column against another one, instead of the entries; may be repeated.
    #[arg(long, value_name = "NAME|NAME,NAME", requires = "plot")]
    pub(crate) of: Vec<String>,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    pub(crate) force: bool,
    /// The time between two samples; default: a hundredth of the run.
    #[arg(long, value_name = "TIME", allow_hyphen_values = true, value_parser = positive)]
    pub(crate) every: Option<f64>,
}

impl EnsembleArguments {
    /// The files that are wanted: of statistics, ends and samples, and the figure.
    pub(crate) fn files(&self) -> [Option<&Path>; 4] {
        [&self.out, &self.ends, &self.samples, &self.plot].map(Option::as_deref)
    }
}

const RESUME_EXAMPLES: &str = "\
Examples:
  {program} resume run.checkpoint
  {program} resume run.checkpoint --until 200  (a longer run)
  mpirun {program} resume ends.checkpoint  (an ensemble; a build with the feature `mpi`)

The checkpoint has the model, the parameters, the method and the files. With another --until the files have all of the longer run.
Only the program that wrote a checkpoint can resume it: results of another version, or of another derivation of the model, could
differ in their last bits.";

#[derive(Args, Debug)]
#[command(after_help = RESUME_EXAMPLES)]
pub struct ResumeArguments {
    /// The checkpoint, as `run --checkpoint` or `ensemble --checkpoint` has written it.
    pub(crate) checkpoint: PathBuf,
    /// Another time at the end of a run than the one that it began with.
    #[arg(long, value_name = "T", allow_hyphen_values = true, value_parser = finite)]
    pub(crate) until: Option<f64>,
    /// The number of threads of an ensemble; default: the number of cores.
    #[arg(long, value_name = "COUNT", allow_hyphen_values = true, value_parser = threads)]
    pub(crate) threads: Option<u16>,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Args, Debug)]
pub struct ListArguments {
    /// A model, or a file with models, instead of all models of the program.
    #[arg(value_name = "NAME|FILE.rs")]
    pub(crate) model: Option<String>,
}

#[derive(Args, Debug)]
pub struct ShowArguments {
    /// The model, as `list` names it, or FILE.rs.
    pub(crate) model: String,
    #[command(flatten)]
    pub(crate) form: DerivationFormat,
}

/// The form in which a derivation is shown; default: plain equations.
#[derive(Args, Debug)]
#[group(multiple = false)]
pub(crate) struct DerivationFormat {
    /// The equations as plain text (the default).
    #[arg(long)]
    pub(crate) equations: bool,
    /// The conserved quantities, declared or not.
    #[arg(long)]
    pub(crate) conserved: bool,
    /// The derivation as LaTeX.
    #[arg(long)]
    pub(crate) latex: bool,
    /// The generated Rust.
    #[arg(long)]
    pub(crate) rust: bool,
    /// At most two pages: names, numbers of operations, equations, and the code of the field.
    #[arg(long)]
    pub(crate) summary: bool,
}

const WORK_PRECISION_EXAMPLES: &str = "\
Examples:
  {program} work-precision
  {program} work-precision {model} --until 100 --out out
  {program} work-precision {model} --until 50 --png

Every explicit Runge-Kutta method runs over a ladder of steps or tolerances, once for each policy of gains: none, one projection
after each step (the default of a run), relaxation, and k = 1 and k = 50 for every integral; so does rodas5p, for a model with the
key `derivatives`, with gains that are constant; gauss4, gauss8, gauss16 and every geometric method that applies to the model run
without gains. The error is the error of the state at the end, against DOP853 at 1e-14. Times are minima over repetitions of the
steps alone. A fixed step is refused where the gains make it unstable.";

#[derive(Args, Debug)]
#[command(after_help = WORK_PRECISION_EXAMPLES)]
pub struct WorkPrecisionArguments {
    /// The model, as `list` names it, or FILE.rs; default: the first of the list.
    pub(crate) model: Option<String>,
    /// The time at the end; a run starts at the time of its start, which is 0 by default.
    #[arg(long, value_name = "T", default_value_t = 20.0, allow_hyphen_values = true, value_parser = positive)]
    pub(crate) until: f64,
    /// The folder for figures and tables, which is created if necessary.
    #[arg(long, value_name = "DIR", default_value = "out")]
    pub(crate) out: PathBuf,
    /// Write every figure as PNG, too, with text in a font of this computer. This takes a build with the feature `png`.
    #[arg(long)]
    pub(crate) png: bool,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    pub(crate) force: bool,
}

const GALLERY_EXAMPLES: &str = "\
Examples:
  {program} gallery
  {program} gallery {model} --until 50 --out animations --no-stills

The command writes an animation of each model, MODEL.html, as `{program} run MODEL --method dop853 --until 20 --animate` does, and
index.html, a page with a picture of each. With Chromium it also writes each picture as MODEL.svg, and all pictures side by side as
gallery.svg.";

#[derive(Args, Debug)]
#[command(after_help = GALLERY_EXAMPLES)]
pub struct GalleryArguments {
    /// The models, as `list` names them, or FILE.rs, in the order of their pictures; default: all.
    #[arg(value_name = "MODEL")]
    pub(crate) models: Vec<String>,
    /// The time at the end; a run starts at the time of its start, which is 0 by default.
    #[arg(long, value_name = "T", default_value_t = 20.0, allow_hyphen_values = true, value_parser = positive)]
    pub(crate) until: f64,
    /// The folder, which is created if necessary.
    #[arg(long, value_name = "DIR", default_value = "gallery")]
    pub(crate) out: PathBuf,
    /// Write no pictures as SVG, which takes Chromium.
    #[arg(long)]
    pub(crate) no_stills: bool,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    pub(crate) force: bool,
}

const REPORT_EXAMPLES: &str = "\
Examples:
  {program} report {model}
  {program} report {model} -p {parameter}=2 --method dop853 --until 30 --out {model}.html

The page opens in any browser, without a network. Equations are MathML, or plain text if they are long. `{program} run --plot` draws the
same figure, and the help of `{program} run` explains the options.";

#[derive(Args, Debug)]
#[command(after_help = REPORT_EXAMPLES)]
pub struct ReportArguments {
    #[command(flatten)]
    pub(crate) options: RunOptions,
    /// The page.
    #[arg(long, value_name = "FILE.html", default_value = "report.html")]
    pub(crate) out: PathBuf,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    pub(crate) force: bool,
}

#[cfg(feature = "text")]
const EXPORT_EXAMPLES: &str = "\
Examples:
  {program} export pendulum.rs --c pendulum
  {program} export pendulum.rs --fmu pendulum-2.fmu --fmi 2 -p m=2
  {program} export pendulum.rs --c pendulum --fmu pendulum.fmu --start q=0,1
  {program} export pendulum.rs --casadi pendulum
  {program} export {model} --c {model}

Model:
  A model of this program by its name, or a file that holds the attribute `feedback_system` and its struct; one of several models in
  it is FILE.rs:MODEL. The file may be the source of a crate, whose kept derivations are used.

Results:
  --c writes a library of functions in C99, which is also C++17: NAME.h and NAME.c, a main program that repeats a run, and a
  CMakeLists.txt. --fmu writes a Functional Mock-up Unit for model exchange and co-simulation, with its sources and, where the C
  compiler cc is installed, a library for this platform. --casadi writes a C file with functions for casadi.external and acados.
  The command prints what the model lacks, such as derivatives.";

#[cfg(feature = "text")]
#[derive(Args, Debug)]
#[command(after_help = EXPORT_EXAMPLES)]
#[command(group(clap::ArgGroup::new("results").required(true).multiple(true)))]
pub struct ExportArguments {
    /// The model: a name, FILE.rs, or FILE.rs:MODEL.
    pub(crate) model: String,
    /// The folder for C99, which is created if necessary.
    #[arg(long, value_name = "DIR", group = "results")]
    pub(crate) c: Option<PathBuf>,
    /// The Functional Mock-up Unit.
    #[arg(long, value_name = "FILE.fmu", group = "results")]
    pub(crate) fmu: Option<PathBuf>,
    /// The folder for functions of CasADi and acados in C, which is created if necessary.
    #[arg(long, value_name = "DIR", group = "results")]
    pub(crate) casadi: Option<PathBuf>,
    /// The version of the Functional Mock-up Interface.
    #[arg(long, default_value = "3", value_parser = ["2", "3"])]
    pub(crate) fmi: String,
    /// Set a parameter, or all entries of a vector or a matrix, row by row; may be repeated.
    #[arg(short, long = "parameter", value_name = "NAME=VALUE|NAME=VALUE,..", value_parser = text_of_assignment)]
    pub(crate) parameters: Vec<String>,
    /// Set an entry of the start, or all entries of a vector or a matrix, row by row; may be repeated.
    #[arg(long, value_name = "NAME=VALUE|NAME=VALUE,..", value_parser = text_of_assignment)]
    pub(crate) start: Vec<String>,
    /// Set an entry of the start, or several, that --repair may move; may be repeated, and implies --repair.
    #[arg(long, value_name = "NAME=VALUE|NAME=VALUE,..", value_parser = text_of_assignment)]
    pub(crate) guess: Vec<String>,
    /// Move the start to a nearby state that satisfies the constraints, and keep the entries that --start sets.
    #[arg(long)]
    pub(crate) repair: bool,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    pub(crate) force: bool,
}
