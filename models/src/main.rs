//! The comparison of CPV22: its spherical pendulum, integrated with four methods.
//!
//! The words about the result are chosen by its numbers. This program is not a part of `fbint`, so that it is built without the code with
//! which that command runs every model in every way.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use fbint_command::Model;
use fbint_command::catalogue::Sample;
use fbint_command::clap::{self, Parser};
use fbint_command::figure::{self, Curve};
use fbint_command::output::{OutputFile, Replace};
use fbint_command::progress::Progress;
use fbint_command::scheme::{Aid, Contender, Scheme};
use fbint_runtime::{FeedbackSystem, Gains, GeneratedSystem, IntegralDrift, Method, Run, Simulation, Vector};
use models::SphericalPendulumCpv22 as Pendulum;

const FIGURE: &str = "spherical-pendulum.svg";
const STEP: f64 = 1e-3;
const UNTIL: f64 = 100.0;
const GAIN: f64 = 50.0;
/// The time between samples for the figure; the table takes every step into account.
const EVERY: f64 = 10.0 * STEP;

/// The four contenders with their methods.
const CONTENDERS: [(Contender, Method); 4] = [
    (Contender::with_feedback(Scheme::EULER), Method::Euler { h: STEP }),
    (Contender::plain(Scheme::EULER), Method::Euler { h: STEP }),
    (Contender::with_feedback(Scheme::RK4), Method::Rk4 { h: STEP }),
    (Contender::plain(Scheme::RK4), Method::Rk4 { h: STEP }),
];

/// Integrates the spherical pendulum of CPV22 with four methods, and compares how well each keeps constraints and invariants.
///
/// The models, and all that can be done with them, are in the command `fbint`: `cargo run --release -p fbint -- help`.
#[derive(Parser)]
#[command(name = "comparison", version)]
struct Arguments {}

fn main() -> ExitCode {
    fbint_command::run(&[], compare)
}

/// Runs all four, prints the table and what it shows, and draws the figure.
fn compare(_: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let pendulum = Pendulum::default();
    let output = OutputFile::at(Path::new(FIGURE), Replace::Own)?;
    let runs = CONTENDERS.map(|contender| run(&pendulum, contender));
    let runs = runs.into_iter().collect::<Result<Vec<_>, _>>()?;

    let samples: Vec<Vec<Sample>> =
        runs.iter().map(|run| run.trajectory().iter().map(Sample::from).collect()).collect();
    let curves = CONTENDERS.iter().zip(&samples);
    let curves: Vec<Curve<'_>> = curves.map(|(&(contender, _), trajectory)| Curve { contender, trajectory }).collect();
    let svg = figure::drift(
        &format!("Spherical pendulum of CPV22, h = {STEP:e}, k = {GAIN}"),
        "time t / √(l/g)",
        &Pendulum::FACTS.integrals.iter().map(|integral| integral.name).collect::<Vec<_>>(),
        &curves,
    );
    output.write(|file| file.write_all(svg.as_bytes()))?;

    let drifts: Vec<Vec<IntegralDrift>> = runs.iter().map(|run| run.drift().integrals().collect()).collect();
    let mut out = stdout().lock();
    writeln!(out, "{}", headline(&pendulum))?;
    writeln!(out, "{}", table(&drifts))?;
    writeln!(out, "{}", verdict("Euler", &drifts[0], &drifts[1]))?;
    writeln!(out, "{}", verdict("RK4", &drifts[2], &drifts[3]))?;
    writeln!(out, "\nfigure: {}", std::path::absolute(output.path())?.display())?;
    let model = Pendulum::name();
    writeln!(out, "next: cargo run --release -p fbint -- list (or show {model} --equations, or run --help)")?;
    Ok(ExitCode::SUCCESS)
}

fn run(pendulum: &Pendulum, (contender, method): (Contender, Method)) -> Result<Run<Pendulum>, fbint_runtime::Error> {
    let mut progress = Progress::new(&contender.to_string());
    let simulation = Simulation::new(pendulum, pendulum.start())?;
    // Called through a pointer, so that the methods are compiled once, and not for each kind of field.
    let simulation = match contender.aid {
        Aid::Feedback => simulation.gains(Gains::uniform(GAIN)).boxed(),
        _ => simulation.without_feedback().boxed(),
    };
    simulation.record_every(EVERY).watched(progress.observer()).run(method, UNTIL)
}

fn headline(pendulum: &Pendulum) -> String {
    let assign = |(name, value): (&str, f64)| format!("{name} = {value}");
    let parameters =
        Pendulum::FACTS.parameter_names.iter().copied().zip((0..).map_while(|index| pendulum.parameter(index)));
    let start = Pendulum::FACTS.state.iter().map(|entry| entry.name).zip(Vector::<Pendulum>::from(pendulum.start()));
    format!(
        "Spherical pendulum of CPV22: {}\nstart: {}\nstep h = {STEP}, end t = {UNTIL}, feedback gain k = {GAIN}\n\n\
         Largest change of each integral, over all steps:\n",
        parameters.map(assign).collect::<Vec<_>>().join(", "),
        start.map(assign).collect::<Vec<_>>().join(", ")
    )
}

/// A row for each integral, a column for each contender.
fn table(drifts: &[Vec<IntegralDrift>]) -> String {
    let names = || drifts[0].iter().map(|integral| integral.name);
    let width = names().map(str::len).max().unwrap_or(0);
    let mut table = format!("{:width$}", "");
    for (contender, _) in &CONTENDERS {
        let _ = write!(table, "  {contender:>16}");
    }
    for (row, name) in names().enumerate() {
        let _ = write!(table, "\n{name:width$}");
        for drift in drifts {
            let _ = write!(table, "  {:>16.2e}", drift[row].max);
        }
    }
    table + "\n"
}

/// The effect of feedback on a method, in words, judged by the integral with the largest change.
fn verdict(method: &str, with: &[IntegralDrift], without: &[IntegralDrift]) -> String {
    let (with, without) = (worst(with), worst(without));
    let digits = (without.max / with.max).log10();
    let effect = match digits {
        _ if digits.abs() < 0.5 => "changes little".to_owned(),
        _ if digits > 0.0 => format!("gains {digits:.1} digits"),
        _ => format!("costs {:.1} digits", -digits),
    };
    let mut verdict = format!(
        "{method}: feedback {effect}. The integral kept worst moves by {:.1e} with it ({}),\nby {:.1e} without ({}).",
        with.max, with.name, without.max, without.name
    );
    if digits < -0.5 {
        verdict += " Gains of this size make the field stiff, which this method resolves worse\nthan the motion \
                    itself: take smaller gains with it, or none.";
    }
    verdict
}

fn worst(drift: &[IntegralDrift]) -> IntegralDrift {
    drift.iter().copied().fold(drift[0], |worst, next| if next.max > worst.max { next } else { worst })
}
