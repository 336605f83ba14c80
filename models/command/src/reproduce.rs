//! `fbint reproduce`: reproduces figures and tables of the papers, and compares the results with what is expected.
//!
//! Each reproduction is a function that yields a [`Reproduction`] and touches no file; this module writes and prints it. A new
//! one takes one line in [`REPRODUCTIONS`].

mod cjp16;
mod cp19;
mod cpv22;
mod cpv22_figure_6;
mod energy_balance;
mod four_bar;
mod pendulum_fit;
mod report;
mod result;
mod stroboscope;
mod trial;
mod z14;

use std::error::Error;
use std::io::{self, Write, stdout};
use std::path::PathBuf;
use std::process::ExitCode;

use fbint_command::clap::{self, Args};
use fbint_command::output::Replace;
use fbint_command::results::{prepare, print_aligned, short, write};
use fbint_command::{Painter, nearest};

use result::{Reproduction, Rule, Verdict};

/// The reproductions, in the order of `all`.
const REPRODUCTIONS: &[(&str, MakeReproduction)] = &[
    ("cpv22-table", cpv22::table),
    ("cpv22-figures", cpv22::figures),
    ("cpv22-figure-6", cpv22_figure_6::figure),
    ("cjp16-rigid-body", cjp16::rigid_body),
    ("cjp16-kepler", cjp16::kepler),
    ("cjp16-perturbed-kepler", cjp16::perturbed_kepler),
    ("four-bar", four_bar::four_bar),
    ("z14", z14::z14),
    ("cp19", cp19::cp19),
    ("energy-balance", energy_balance::energy_balance),
    ("pendulum-fit", pendulum_fit::pendulum_fit),
];

type MakeReproduction = fn() -> Result<Reproduction, Box<dyn Error>>;

const ALL: &str = "all";
/// The exit code if a verdict fails.
const NOT_REPRODUCED: u8 = 1;

const REPRODUCE_EXAMPLES: &str = "\
Examples:
  fbint reproduce cpv22-table
  fbint reproduce four-bar --out out

Every figure is written as SVG, every table as CSV. Each published or independently computed number is printed next to
the obtained one, with a verdict; the exit code is 1 if any number is NOT reproduced.";

#[derive(Args, Debug)]
#[command(after_help = REPRODUCE_EXAMPLES)]
pub(crate) struct Reproduce {
    /// A figure, a table or all. An unknown name is answered with the known ones.
    #[arg(default_value = "all")]
    name: String,
    /// The folder for figures and tables, which is created if necessary.
    #[arg(long, value_name = "DIR", default_value = "out")]
    out: PathBuf,
    /// Write every figure as PNG, too, with text in a font of this computer. This takes a build with the feature `png`.
    #[arg(long)]
    png: bool,
    /// Replace files that fbint has not written, too.
    #[arg(long)]
    force: bool,
}

/// Carries out one or all reproductions, writes their files and prints their verdicts.
pub(crate) fn reproduce(arguments: &Reproduce) -> Result<ExitCode, Box<dyn Error>> {
    let recipes = chosen(&arguments.name)?;
    let folder = &arguments.out;
    let painter = arguments.png.then(Painter::new).transpose()?;
    prepare(folder)?;
    let replace = Replace::forced(arguments.force);
    let mut reproductions = Vec::new();
    for (_, recipe) in recipes {
        let reproduction = recipe()?;
        let files = write(&reproduction.figures, &reproduction.tables, folder, painter.as_ref(), replace)?;
        print(&reproduction, &files, &mut stdout().lock())?;
        reproductions.push(reproduction);
    }
    if arguments.name == ALL {
        let report = report::write(&reproductions, folder, replace)?;
        writeln!(stdout().lock(), "report: {}", report.display())?;
    }
    summarise(&reproductions, &mut stdout().lock())?;
    let all_hold = reproductions.iter().flat_map(|reproduction| &reproduction.verdicts).all(Verdict::holds);
    Ok(if all_hold { ExitCode::SUCCESS } else { ExitCode::from(NOT_REPRODUCED) })
}

fn chosen(name: &str) -> Result<&'static [(&'static str, MakeReproduction)], Box<dyn Error>> {
    if name == ALL {
        return Ok(REPRODUCTIONS);
    }
    let names: Vec<&str> = REPRODUCTIONS.iter().map(|recipe| recipe.0).chain([ALL]).collect();
    let index = nearest::find("reproduction", name, &names)?;
    Ok(&REPRODUCTIONS[index..=index])
}

fn print(reproduction: &Reproduction, files: &[String], out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}: {}\n", reproduction.name, reproduction.title)?;
    for table in &reproduction.tables {
        table.print(out)?;
    }
    for words in &reproduction.words {
        writeln!(out, "{words}")?;
    }
    print_verdicts(&reproduction.verdicts, out)?;
    for file in files {
        writeln!(out, "written: {file}")?;
    }
    writeln!(out)
}

fn print_verdicts(verdicts: &[Verdict], out: &mut dyn Write) -> io::Result<()> {
    if verdicts.is_empty() {
        return Ok(());
    }
    writeln!(out)?;
    let head = ["", "expected", "obtained", "rule", "verdict"].map(str::to_owned).to_vec();
    let rows = verdicts.iter().map(|verdict| {
        let rule = match verdict.rule {
            Rule::Within(fraction) => format!("within {} %", rounded(100.0 * fraction)),
            Rule::AtMost => "at most".to_owned(),
            Rule::AtLeast => "at least".to_owned(),
        };
        let outcome = if verdict.holds() { "ok" } else { "NOT" };
        vec![verdict.what.clone(), short(verdict.expected), short(verdict.obtained), rule, outcome.to_owned()]
    });
    let rows: Vec<Vec<String>> = rows.collect();
    print_aligned([head].iter().chain(&rows), out)
}

/// Prints how many verdicts hold, and each verdict that does not.
fn summarise(reproductions: &[Reproduction], out: &mut dyn Write) -> io::Result<()> {
    let verdicts = || reproductions.iter().flat_map(|reproduction| &reproduction.verdicts);
    let failed = verdicts().filter(|verdict| !verdict.holds()).count();
    writeln!(out, "{} of {} verdicts ok", verdicts().count() - failed, verdicts().count())?;
    for reproduction in reproductions {
        for verdict in reproduction.verdicts.iter().filter(|verdict| !verdict.holds()) {
            let (expected, obtained) = (short(verdict.expected), short(verdict.obtained));
            writeln!(out, "NOT: {}, {}: expected {expected}, obtained {obtained}", reproduction.name, verdict.what)?;
        }
    }
    Ok(())
}

/// A number rounded to one decimal.
fn rounded(number: f64) -> f64 {
    (10.0 * number).round() / 10.0
}
