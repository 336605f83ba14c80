//! The balance of energy and work of driven systems over a long time: what error control leaves of it, and what projection and
//! feedback do to that.
//!
//! Not a figure of a paper. The right result is known for the damped pendulum: within a thousand periods it comes to rest, and the balance,
//! a difference of numbers of size one, can be kept to a few roundings. Samples are ends of steps: between them there is dense output,
//! which is not projected.

use std::error::Error;

use fbint_command::catalogue::Feedback;
use fbint_command::figure::{self, Line, envelope};
use fbint_command::results::{Picture, ResultTable};
use fbint_runtime::Method;
use models::DrivenPendulum;

use super::result::{Reproduction, Verdict};
use super::trial::{Setting, Trial, at_most};

const METHOD: Method = Method::Dop853 { rtol: 1e-10, atol: Some(1e-12) };
/// Periods of small oscillations.
const PERIODS: f64 = 1000.0;
const GAIN: f64 = 0.1;
const BALANCE: &str = "energy_balance";
/// The largest change of the damped pendulum's balance, without a projection and with one.
const OF_PLAIN: f64 = 1e-9;
const OF_PROJECTION: f64 = 1e-13;

/// A system, and what it is called here.
struct NamedSystem {
    name: &'static str,
    model: &'static str,
    /// Parameters that are not the model's own.
    parameters: &'static [(&'static str, f64)],
}

/// The systems.
fn systems() -> [NamedSystem; 3] {
    let driven = NamedSystem { name: "driven pendulum", model: "driven-pendulum", parameters: &[] };
    let damped = NamedSystem { name: "damped pendulum", parameters: &[("torque", 0.0), ("damping", 0.01)], ..driven };
    let hoop = NamedSystem { name: "bead on a turning hoop", model: "rotating-hoop", parameters: &[] };
    [damped, driven, hoop]
}

/// All systems, plain, with feedback and with projection.
pub(super) fn energy_balance() -> Result<Reproduction, Box<dyn Error>> {
    let systems = systems();
    let trials = systems.iter().map(trials).collect::<Result<Vec<_>, _>>()?;
    let all = || systems.iter().zip(&trials);
    let [plain, _, projected] = &trials[0];
    Ok(Reproduction {
        name: "energy-balance",
        title: "energy minus work of driven systems over 1,000 periods of a pendulum, DOP853 at rtol 1e-10, atol 1e-12",
        words: all().map(|(system, trials)| words(system, trials)).collect(),
        figures: vec![picture(all().collect())],
        tables: vec![table(all().collect())],
        verdicts: vec![
            at_most("the damped pendulum without projection", OF_PLAIN, plain.max(BALANCE)),
            at_most("the damped pendulum with projection", OF_PROJECTION, projected.max(BALANCE)),
        ]
        .into_iter()
        .chain(all().skip(1).map(|(system, [plain, _, projected])| verdict(system, plain, projected)))
        .collect(),
    })
}

fn trials(system: &NamedSystem) -> Result<[Trial; 3], Box<dyn Error>> {
    let mut setting = Setting::of(system.model, PERIODS * DrivenPendulum::default().period(), None)?;
    for (name, value) in system.parameters {
        let index = setting.model.parameters().iter().position(|(other, _)| other == name);
        setting.model.set_parameter(index.ok_or(format!("there is no parameter `{name}`"))?, *value);
    }
    let plain = setting.plain(METHOD)?;
    let feedback = setting.with_feedback(METHOD, Feedback::Uniform(GAIN))?;
    Ok([plain, feedback, setting.with_projection(METHOD)?])
}

/// A projection holds the balance better than error control alone does, by four digits at least.
fn verdict(system: &NamedSystem, plain: &Trial, projected: &Trial) -> Verdict {
    at_most(
        format!("the {} with projection, against a ten-thousandth of without", system.name),
        1e-4 * plain.max(BALANCE),
        projected.max(BALANCE),
    )
}

fn words(system: &NamedSystem, [plain, feedback, projected]: &[Trial; 3]) -> String {
    let [plain, with_feedback, with_projection] = [plain, feedback, projected].map(|trial| trial.max(BALANCE));
    let effect = if with_feedback < plain { "helps" } else { "does harm" };
    format!(
        "The balance of the {} changes by {plain:.1e}, with projection by {with_projection:.1e}; feedback {effect}: \
         {with_feedback:.1e}.",
        system.name
    )
}

fn table(all: Vec<(&NamedSystem, &[Trial; 3])>) -> ResultTable {
    let row = |(system, trials): (&NamedSystem, &[Trial; 3])| {
        let numbers = trials.iter().flat_map(|trial| [trial.max(BALANCE), trial.evaluations as f64]);
        (system.name.to_owned(), numbers.collect())
    };
    let columns = ["plain", "evaluations", "with feedback", "evaluations", "with projection", "evaluations"];
    ResultTable {
        name: "energy-balance".to_owned(),
        caption: format!("The largest change of energy minus work over all steps, k = {GAIN}"),
        columns: ["system"].into_iter().chain(columns).map(str::to_owned).collect(),
        rows: all.into_iter().map(row).collect(),
    }
}

fn picture(all: Vec<(&NamedSystem, &[Trial; 3])>) -> Picture {
    let line = |trial: &Trial| {
        let place = trial.drift.iter().position(|integral| integral.name == BALANCE).unwrap_or(0);
        let points: Vec<(f64, f64)> =
            trial.trajectory.iter().map(|sample| (sample.time, sample.change[place].abs())).collect();
        Line::of(trial.contender, envelope(&points))
    };
    let panels = all.into_iter().map(|(system, trials)| (system.name, trials.iter().map(line).collect())).collect();
    Picture {
        name: "energy-balance".to_owned(),
        caption: "How far energy minus work is from its value at the start, in at most 400 windows of samples."
            .to_owned(),
        svg: figure::over_time("Balance of energy and work", 3, "time t", "|change|", panels),
    }
}
