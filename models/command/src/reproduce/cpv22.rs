//! CPV22's spherical pendulum: its table, and its figures of the trajectory and of the integrals.
//!
//! m = g = l = 1, from q = (0, 1, 0), p = (1, 0, 1), for 100 units of time with the step 1e-3, by seven methods. The truth is
//! DOP853 at 1e-13 on the field without feedback.

use std::error::Error;

use fbint_command::catalogue::Feedback;
use fbint_command::figure::{self, Axis, Chart, Line};
use fbint_command::results::{Picture, ResultTable};
use fbint_command::scheme::Scheme;
use fbint_runtime::{Method, Rattle};
use models::splitting::{LieTrotter, Sphere, Strang};
use models::{LIE_TROTTER, STRANG};
use models::{SphericalPendulum, SphericalPendulumCpv22};

use super::result::{Reproduction, Verdict};
use super::trial::{self, Setting, Trial, at_least, at_most, rounds_to, within_one_percent};

const STEP: f64 = 1e-3;
const UNTIL: f64 = 100.0;
const GAIN: f64 = 50.0;
/// One of this many samples is drawn in a trajectory, which is smooth.
const THINNING: usize = 5;
/// The time between samples for the figures; maxima take every step into account.
const EVERY: f64 = 10.0 * STEP;
const TOLERANCE: f64 = 1e-13;
/// q(100), computed independently with 60 digits, by which the truth is judged.
const EXACT: [f64; 3] = [-0.608_680_106_539_913_1, 0.739_730_960_062_503_2, 0.286_891_328_951_516_64];
/// The largest error that the truth may have.
const TRUTH_BOUND: f64 = 1e-9;
/// Maximum change of a quantity that only rounding moves. Each of 1e5 steps rounds entries of size 1 to 2 by up to 2.2e-16; with
/// random signs that adds up to about 7e-14, and ten times as much never happens.
const ROUNDING_BOUND: f64 = 1e-12;
/// Change of f2 by RK4 without rounding: a sixteenth of the change with twice the step, 4.25e-11. Two digits were published, and rounding
/// moves the second.
const F2_OF_RK4: f64 = 2.6e-12;
/// Error of q(100) by RK4 without rounding: a sixteenth of the error with twice the step, 1.55e-10.
const ERROR_OF_RK4: f64 = 1e-11;
/// Maximum error of q at the end by rounding: neighbouring motions part in proportion to time, at about one unit of angle for
/// each unit of the integrals.
const ROUNDING_OF_Q: f64 = UNTIL * ROUNDING_BOUND;
/// The integrals, as the paper and as the model name them.
const INTEGRALS: [(&str, &str); 4] = [("f1", "f1"), ("f2", "f2"), ("H", "energy"), ("J", "vertical_momentum")];

/// The seven methods in the order of the table, and the truth.
struct Trials {
    contenders: Vec<Trial>,
    truth: Trial,
}

/// Knowledge of a maximum or of an error.
#[derive(Clone, Copy)]
enum Known {
    /// This value, as it was printed, with two digits.
    Printed(f64),
    /// The value is at most this; rounding contributes to it.
    Below(f64),
    /// Only rounding moves it.
    Rounding,
    /// This value, to 1 %.
    Near(f64),
    /// This range, to 1 %.
    Between(f64, f64),
}

use Known::{Below, Between, Near, Printed, Rounding};

/// Published or independently measured: for each method the maxima in the order of [`INTEGRALS`], then the error of q at the end.
/// The numbers of Strang for the energy and for q depend on which flow comes first.
const EXPECTED: [([Known; 4], Known); 7] = [
    ([Near(4.56e-5), Near(1.79e-5), Near(4.89e-5), Near(1.49e-5)], Near(2.27e-4)),
    ([Near(0.268), Printed(1.0e-3), Near(0.398), Near(0.285)], Printed(1.5)),
    ([Rounding, Rounding, Near(7.0e-7), Rounding], Near(3.75e-5)),
    ([Rounding, Rounding, Near(1.09e-3), Rounding], Printed(1.4e-2)),
    ([Rounding, Rounding, Between(2e-7, 3e-7), Rounding], Between(1.73e-6, 1.85e-6)),
    ([Near(4.7e-9), Near(1.8e-9), Near(9.4e-9), Near(1.1e-8)], Printed(1.5e-9)),
    ([Rounding, Below(F2_OF_RK4 + ROUNDING_BOUND), Rounding, Rounding], Below(ERROR_OF_RK4 + ROUNDING_OF_Q)),
];

/// The table: the largest change of each integral, and the error at the end.
pub(super) fn table() -> Result<Reproduction, Box<dyn Error>> {
    let trials = trials()?;
    Ok(Reproduction {
        name: "cpv22-table",
        title: "the table of CPV22: the spherical pendulum, h = 1e-3, t <= 100, feedback gain k = 50",
        words: words(&trials),
        figures: Vec::new(),
        tables: vec![maxima("cpv22-table", &trials)],
        verdicts: verdicts(&trials),
    })
}

/// Figures 1 to 5: the trajectory seen from above, and |f1|, |f2|, |dH|, |dJ| over time.
pub(super) fn figures() -> Result<Reproduction, Box<dyn Error>> {
    let trials = trials()?;
    let mut figures = vec![trajectories(&trials)];
    figures.extend((0..INTEGRALS.len()).map(|integral| drift(&trials, integral)));
    Ok(Reproduction {
        name: "cpv22-figures",
        title: "figures 1 to 5 of CPV22: the spherical pendulum, h = 1e-3, t <= 100, feedback gain k = 50",
        words: words(&trials),
        figures,
        tables: vec![maxima("cpv22-figures", &trials)],
        verdicts: drawn(&trials),
    })
}

fn trials() -> Result<Trials, Box<dyn Error>> {
    let pendulum = SphericalPendulumCpv22::default();
    let setting = Setting::of("spherical-pendulum-cpv22", UNTIL, EVERY)?;
    let (euler, rk4) = (Method::Euler { h: STEP }, Method::Rk4 { h: STEP });
    // RATTLE takes the constraint itself, of which the paper's f1 and f2 are consequences.
    let rattle = Rattle::new(&SphericalPendulum::default())?;
    let sphere = Sphere { m: pendulum.m, g: pendulum.g };
    let contenders = vec![
        setting.with_feedback(euler, Feedback::Uniform(GAIN))?,
        setting.plain(euler)?,
        setting.by(Scheme::RATTLE, &rattle, STEP)?,
        setting.by(LIE_TROTTER, &LieTrotter(sphere), STEP)?,
        setting.by(STRANG, &Strang(sphere), STEP)?,
        setting.with_feedback(rk4, Feedback::Uniform(GAIN))?,
        setting.plain(rk4)?,
    ];
    let truth = setting.plain(Method::Dop853 { rtol: TOLERANCE, atol: Some(TOLERANCE) })?;
    Ok(Trials { contenders, truth })
}

fn maxima(name: &str, trials: &Trials) -> ResultTable {
    trial::table(
        name,
        "Largest |change| of each integral over all steps, and the distance of q(100) from the exact one",
        &trials.contenders,
        &[
            ("f1", &|trial| trial.max("f1")),
            ("f2", &|trial| trial.max("f2")),
            ("H", &|trial| trial.max("energy")),
            ("J", &|trial| trial.max("vertical_momentum")),
            ("error of q(100)", &error),
        ],
    )
}

fn verdicts(trials: &Trials) -> Vec<Verdict> {
    let mut verdicts = Vec::new();
    for (trial, (maxima, known_error)) in trials.contenders.iter().zip(EXPECTED) {
        for ((symbol, name), known) in INTEGRALS.into_iter().zip(maxima) {
            verdicts.extend(known.verdicts(&format!("{}: {symbol}", trial.contender), trial.max(name)));
        }
        verdicts.extend(known_error.verdicts(&format!("{}: error of q(100)", trial.contender), error(trial)));
    }
    verdicts.push(at_most("DOP853 at 1e-13: error of q(100)", TRUTH_BOUND, error(&trials.truth)));
    verdicts
}

/// The distance of q at the end from the exact one.
fn error(trial: &Trial) -> f64 {
    trial::distance(&trial.end()[..EXACT.len()], &EXACT)
}

/// The maxima of Euler with feedback over the samples that the figures draw.
fn drawn(trials: &Trials) -> Vec<Verdict> {
    let (trial, (maxima, _)) = (&trials.contenders[0], EXPECTED[0]);
    let verdicts = INTEGRALS.iter().zip(maxima).enumerate().map(|(integral, ((symbol, _), known))| {
        let what = format!("figure {}, {}: largest {symbol}", integral + 2, trial.contender);
        known.verdicts(&what, trial.largest(|sample| sample.change[integral].abs()))
    });
    verdicts.flatten().collect()
}

impl Known {
    fn verdicts(self, what: &str, obtained: f64) -> Vec<Verdict> {
        match self {
            Rounding => vec![at_most(what, ROUNDING_BOUND, obtained)],
            Below(bound) => vec![at_most(what, bound, obtained)],
            Printed(expected) => vec![rounds_to(2, what, expected, obtained)],
            Near(expected) => vec![within_one_percent(what, expected, obtained)],
            Between(low, high) => vec![at_least(what, 0.99 * low, obtained), at_most(what, 1.01 * high, obtained)],
        }
    }
}

/// Where feedback wins and loses, in words that follow from the numbers.
fn words(trials: &Trials) -> Vec<String> {
    let [with_feedback, euler, rattle, _, strang, rk4_with_feedback, rk4] = &trials.contenders[..] else {
        return Vec::new();
    };
    let worst = |trial: &Trial| trial.drift.iter().map(|integral| integral.max).fold(0.0, f64::max);
    let compare = |name: &str, with: &Trial, without: &Trial| {
        let digits = (worst(without) / worst(with)).log10();
        let effect =
            if digits > 0.0 { format!("gains {digits:.1} digits") } else { format!("costs {:.1} digits", -digits) };
        let (with, without) = (worst(with), worst(without));
        format!(
            "{name}: feedback {effect}: the integral kept worst moves by {with:.1e} with it and {without:.1e} without."
        )
    };
    let rivals = [rattle, strang].map(|rival| {
        let (rival_worst, own) = (worst(rival), worst(with_feedback));
        let outcome = if rival_worst < own { "better" } else { "worse" };
        let name = rival.contender;
        format!("{name} keeps them {outcome} than Euler with feedback: {rival_worst:.1e} against {own:.1e}.")
    });
    let mut words = vec![compare("Euler", with_feedback, euler), compare("RK4", rk4_with_feedback, rk4)];
    words.extend(rivals);
    words
}

/// Each method's trajectory from above: the pendulum must stay within the circle.
fn trajectories(trials: &Trials) -> Picture {
    let circle = || (0..=180).map(|step| f64::from(2 * step).to_radians().sin_cos()).collect::<Vec<_>>();
    let charts = [&trials.truth].into_iter().chain(&trials.contenders).map(|trial| {
        let samples = trial.trajectory.iter().step_by(THINNING);
        let points = samples.map(|sample| (sample.state[0], sample.state[1])).collect();
        let lines = vec![Line::guide(None, circle()), Line::path(trial.contender, points)];
        let axis = |label| Axis::linear(label, (-1.2, 1.2));
        let mut chart = Chart::new(&trial.contender.to_string(), axis("q[0] / l"), axis("q[1] / l"), lines);
        chart.is_map = true;
        chart
    });
    Picture {
        name: "cpv22-figure-1".to_owned(),
        caption: "The trajectory from above over t <= 100, the sphere's equator in grey. DOP853 at 1e-13 is the truth."
            .to_owned(),
        svg: figure::draw("Spherical pendulum from above, h = 1e-3, k = 50", 4, &charts.collect::<Vec<_>>()),
    }
}

/// One integral over time, by every method.
fn drift(trials: &Trials, integral: usize) -> Picture {
    let what = [
        "|f1|, the constraint |q|² - l²",
        "|f2|, the constraint q · p",
        "|H - H(0)|, the energy",
        "|J - J(0)|, the vertical momentum",
    ][integral];
    let curves: Vec<_> = trials.contenders.iter().map(Trial::curve).collect();
    Picture {
        name: format!("cpv22-figure-{}", integral + 2),
        caption: format!("{what}, over time: the largest value in each of some 400 windows of time."),
        svg: figure::over_time(
            "Spherical pendulum, h = 1e-3, k = 50",
            1,
            "time t / √(l/g)",
            what,
            vec![("", figure::drift_of(integral, &curves))],
        ),
    }
}
