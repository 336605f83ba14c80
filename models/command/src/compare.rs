//! `fbint` without arguments: the spherical pendulum of CPV22, integrated with four methods.
//!
//! The words about the result are chosen by its numbers.

use std::error::Error;
use std::fmt::Write as _;
use std::io::{Write, stdout};
use std::path::Path;
use std::process::ExitCode;

use catalogue::load;
use fbint_command::catalogue::{AnyModel, Feedback, Plan, Run};
use fbint_command::figure::{self, Curve};
use fbint_command::output::Output;
use fbint_command::progress::Progress;
use fbint_command::scheme::{Aid, Contender, Scheme};
use fbint_runtime::{IntegralDrift, Method, Settings};

const MODEL: &str = "spherical-pendulum-cpv22";
const FIGURE: &str = "spherical-pendulum.svg";
const STEP: f64 = 1e-3;
const UNTIL: f64 = 100.0;
const GAIN: f64 = 50.0;
/// The time between samples for the figure; the table takes every step into account.
const EVERY: f64 = 10.0 * STEP;

/// The four contenders with their methods.
pub(super) const CONTENDERS: [(Contender, Method); 4] = [
    (Contender::with_feedback(Scheme::Euler), Method::Euler { h: STEP }),
    (Contender::plain(Scheme::Euler), Method::Euler { h: STEP }),
    (Contender::with_feedback(Scheme::Rk4), Method::Rk4 { h: STEP }),
    (Contender::plain(Scheme::Rk4), Method::Rk4 { h: STEP }),
];

/// Runs all four, prints the table and what it shows, and draws the figure.
pub(crate) fn compare() -> Result<ExitCode, Box<dyn Error>> {
    let model = load(MODEL)?;
    let output = Output::at(Path::new(FIGURE))?;
    let start = model.start()?;
    let runs = runs()?;

    let svg = figure::drift(
        &format!("Spherical pendulum of CPV22, h = {STEP:e}, k = {GAIN}"),
        "time t / √(l/g)",
        &model.integral_names(),
        &curves(&runs),
    );
    output.write(|file| file.write_all(svg.as_bytes()))?;

    let mut out = stdout().lock();
    writeln!(out, "{}", headline(&*model, &start))?;
    writeln!(out, "{}", table(&runs))?;
    writeln!(out, "{}", verdict("Euler", &runs[0], &runs[1]))?;
    writeln!(out, "{}", verdict("RK4", &runs[2], &runs[3]))?;
    writeln!(out, "\nfigure: {}", std::path::absolute(output.path())?.display())?;
    writeln!(out, "next: fbint list, fbint show {MODEL} --equations, fbint run --help")?;
    Ok(ExitCode::SUCCESS)
}

/// The run of each of the [`CONTENDERS`].
pub(super) fn runs() -> Result<Vec<Run>, Box<dyn Error>> {
    let model = load(MODEL)?;
    let start = model.start()?;
    Ok(CONTENDERS.iter().map(|&contender| run(&*model, &start, contender)).collect::<Result<_, _>>()?)
}

fn run(
    model: &dyn AnyModel,
    start: &[f64],
    (contender, method): (Contender, Method),
) -> Result<Run, fbint_runtime::Error> {
    let feedback = if contender.aid == Aid::Feedback { Feedback::Uniform(GAIN) } else { Feedback::None };
    let settings = Settings { every: Some(EVERY), ..Settings::new(method, UNTIL) };
    let plan = Plan::new(settings, feedback);
    let mut progress = Progress::new(&contender.to_string());
    model.run(start, &plan, None, &mut progress.watch())
}

fn curves(runs: &[Run]) -> Vec<Curve<'_>> {
    let labelled = CONTENDERS.iter().zip(runs);
    labelled.map(|(&(contender, _), run)| Curve { contender, trajectory: &run.trajectory }).collect()
}

fn headline(model: &dyn AnyModel, start: &[f64]) -> String {
    let assign = |name: &str, value: f64| format!("{name} = {value}");
    let parameters: Vec<String> = model.parameters().iter().map(|&(name, value)| assign(name, value)).collect();
    let start: Vec<String> = model.state_names().iter().zip(start).map(|(name, &value)| assign(name, value)).collect();
    format!(
        "Spherical pendulum of CPV22: {}\nstart: {}\nstep h = {STEP}, end t = {UNTIL}, feedback gain k = {GAIN}\n\n\
         Largest change of each integral, over all steps:\n",
        parameters.join(", "),
        start.join(", ")
    )
}

/// A row for each integral, a column for each contender.
fn table(runs: &[Run]) -> String {
    let names = || runs[0].drift.iter().map(|integral| integral.name);
    let width = names().map(str::len).max().unwrap_or(0);
    let mut table = format!("{:width$}", "");
    for (contender, _) in &CONTENDERS {
        let _ = write!(table, "  {contender:>16}");
    }
    for (row, name) in names().enumerate() {
        let _ = write!(table, "\n{name:width$}");
        for run in runs {
            let _ = write!(table, "  {:>16.2e}", run.drift[row].max);
        }
    }
    table + "\n"
}

/// The effect of feedback on a method, in words, judged by the integral with the largest change.
fn verdict(method: &str, with: &Run, without: &Run) -> String {
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

fn worst(run: &Run) -> IntegralDrift {
    run.drift.iter().copied().fold(run.drift[0], |worst, next| if next.max > worst.max { next } else { worst })
}
