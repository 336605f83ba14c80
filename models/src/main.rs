//! The comparison of CPV22: its spherical pendulum, integrated with four methods.
//!
//! The words about the result are chosen by its numbers. This program is not a part of `fbint`, so that it is built without the code with
//! which that command runs every model in every way.

mod figure;

use std::error::Error;
use std::fmt::Write as _;
use std::fs;
use std::io::{Write, stdout};
use std::path::{Path, absolute};

use fbint_runtime::{FeedbackSystem, Gains, GeneratedSystem, IntegralDrift, Method, Run, Simulation, Vector};
use figure::Curve;
use models::SphericalPendulumCpv22 as Pendulum;

const FIGURE: &str = "spherical-pendulum.svg";
const TITLE: &str = "Spherical pendulum of CPV22";
const STEP: f64 = 1e-3;
const UNTIL: f64 = 100.0;
const GAIN: f64 = 50.0;
/// The time between samples for the figure; the table takes every step into account.
const EVERY: f64 = 10.0 * STEP;

/// A method, with feedback or without, and its curve.
struct Contender {
    name: &'static str,
    method: Method,
    has_feedback: bool,
    colour: &'static str,
}

const EULER: Contender =
    Contender { name: "Euler", method: Method::Euler { h: STEP }, has_feedback: false, colour: "#0072B2" };
const RK4: Contender =
    Contender { name: "RK4", method: Method::Rk4 { h: STEP }, has_feedback: false, colour: "#009E73" };
const CONTENDERS: [Contender; 4] = [
    Contender { name: "Euler + feedback", has_feedback: true, ..EULER },
    EULER,
    Contender { name: "RK4 + feedback", has_feedback: true, ..RK4 },
    RK4,
];

/// Integrates the spherical pendulum of CPV22 with four methods, and compares how well each keeps constraints and invariants: prints the
/// table and what it shows, and draws the figure.
///
/// The models, and all that can be done with them, are in the command `fbint`: `cargo run --release -p fbint -- help`.
fn main() -> Result<(), Box<dyn Error>> {
    let (pendulum, path) = (Pendulum::default(), Path::new(FIGURE));
    if fs::read_to_string(path).is_ok_and(|there| !there.contains(TITLE)) {
        return Err(format!("{FIGURE} is another file: move it, or run this in another folder").into());
    }
    let runs = CONTENDERS.iter().map(|contender| run(&pendulum, contender)).collect::<Result<Vec<_>, _>>()?;
    let curves: Vec<Curve> = CONTENDERS.iter().zip(&runs).map(|(contender, run)| curve(contender, run)).collect();
    let integrals: Vec<&str> = Pendulum::FACTS.integrals.iter().map(|integral| integral.name).collect();
    let svg = figure::drawn(&format!("{TITLE}, h = 10⁻³, k = {GAIN}"), &integrals, &curves);
    // Whole or not at all.
    let draft = path.with_extension("svg.part");
    fs::write(&draft, svg)?;
    fs::rename(&draft, path)?;

    let drifts: Vec<Vec<IntegralDrift>> = runs.iter().map(|run| run.drift().integrals().collect()).collect();
    let mut out = stdout().lock();
    writeln!(out, "{}", headline(&pendulum))?;
    writeln!(out, "{}", table(&drifts))?;
    writeln!(out, "{}", verdict("Euler", &drifts[0], &drifts[1]))?;
    writeln!(out, "{}", verdict("RK4", &drifts[2], &drifts[3]))?;
    writeln!(out, "\nfigure: {}", absolute(path)?.display())?;
    let model = "spherical-pendulum-cpv22";
    writeln!(out, "next: cargo run --release -p fbint -- list (or show {model} --equations, or run --help)")?;
    Ok(())
}

fn run(pendulum: &Pendulum, contender: &Contender) -> Result<Run<Pendulum>, fbint_runtime::Error> {
    let simulation = Simulation::new(pendulum, pendulum.start())?;
    // Called through a pointer, so that the methods are compiled once, and not for each kind of field.
    let simulation = match contender.has_feedback {
        true => simulation.gains(Gains::uniform(GAIN)).boxed(),
        false => simulation.without_feedback().boxed(),
    };
    simulation.record_every(EVERY).run(contender.method, UNTIL)
}

fn curve(&Contender { name, has_feedback, colour, .. }: &Contender, run: &Run<Pendulum>) -> Curve {
    let changes = run.trajectory().iter().map(|sample| (sample.time, sample.change.map(f64::abs).to_vec()));
    Curve { name, colour, is_dashed: !has_feedback, changes: changes.collect() }
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
    for Contender { name, .. } in &CONTENDERS {
        let _ = write!(table, "  {name:>16}");
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
