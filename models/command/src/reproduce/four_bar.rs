//! The four-bar linkage of the textbook for 30 s with error control: do the rods keep their lengths?
//!
//! The residual is ||d| - l| in metres, the worst of the three rods after any step, d being the vector between a rod's ends.
//! Published for comparison: the textbook's own ODE by `solve_ivp`, and SUNDIALS IDA on the linkage's equations of index 1.

use std::error::Error;

use fbint_command::figure::{self, Line, envelope};
use fbint_command::progress::Progress;
use fbint_command::results::{Picture, ResultTable};
use fbint_command::scheme::{Aid, Contender, Scheme};
use fbint_runtime::{
    Feedback, FeedbackSystem, Field, Gains, Integrals, Integrator, PlainField, PreparedSystem, Projection, Projector,
    Tolerance, Vector,
};
use models::FourBar;

use super::result::{Reproduction, Verdict};
use super::trial::at_most;

const UNTIL: f64 = 30.0;
const GAIN: f64 = 1.0;
/// rtol and atol.
const TOLERANCES: [(f64, f64); 2] = [(1e-3, 1e-6), (1e-10, 1e-10)];
const SCHEMES: [Scheme; 2] = [Scheme::DORMAND_PRINCE, Scheme::DOP853];
const AIDS: [Aid; 3] = [Aid::Nothing, Aid::Feedback, Aid::Projection];

/// The textbook's ODE by `solve_ivp`'s RK45 at rtol 1e-3, atol 1e-6, in metres.
const TEXTBOOK: f64 = 8.46e-2;
/// SUNDIALS IDA at these tolerances, in metres.
const IDA: [f64; 2] = [4.5e-3, 6.0e-10];
/// Maximum residual of DOP853 at 1e-10, in metres.
const BOUND: f64 = 5e-10;

/// The residuals of one run.
struct ResidualHistory {
    contender: Contender,
    evaluations: u64,
    /// The residual after each step.
    residuals: Vec<(f64, f64)>,
}

/// All methods at both tolerances.
pub(super) fn four_bar() -> Result<Reproduction, Box<dyn Error>> {
    let linkage = FourBar::default();
    let [loose, tight] = TOLERANCES.map(|tolerance| histories(&linkage, tolerance));
    let runs = [loose?, tight?];
    Ok(Reproduction {
        name: "four-bar",
        title: "the textbook's four-bar linkage for 30 s at rtol 1e-3, atol 1e-6 and at 1e-10, k = 1",
        words: words(&runs),
        figures: vec![picture(&runs)],
        tables: vec![table(&runs)],
        verdicts: verdicts(&runs),
    })
}

fn histories(linkage: &FourBar, (rtol, atol): (f64, f64)) -> Result<Vec<ResidualHistory>, Box<dyn Error>> {
    let start = Vector::<FourBar>::from(linkage.start()?);
    let tolerance = Tolerance::new(rtol, atol)?;
    let feedback = Feedback::new(linkage, &start, Gains::uniform(GAIN))?;
    // As pointers, so that the methods are compiled once for both.
    let plain: Box<dyn Field<Vector = Vector<FourBar>>> = Box::new(PlainField::new(linkage));
    let (targets, feedback) = (*feedback.targets(), Box::new(feedback) as Box<dyn Field<Vector = Vector<FourBar>>>);
    let mut histories = Vec::new();
    for scheme in SCHEMES {
        for aid in AIDS {
            let contender = Contender { scheme, aid };
            histories.push(match aid {
                Aid::Feedback => history(linkage, &feedback, &targets, tolerance, contender)?,
                Aid::Nothing | Aid::Projection => history(linkage, &plain, &targets, tolerance, contender)?,
            });
        }
    }
    Ok(histories)
}

fn history(
    linkage: &FourBar,
    field: &impl Field<Vector = Vector<FourBar>>,
    targets: &Integrals<FourBar>,
    tolerance: Tolerance,
    contender: Contender,
) -> Result<ResidualHistory, Box<dyn Error>> {
    let start = Vector::<FourBar>::from(linkage.start()?);
    match contender.scheme {
        Scheme::DORMAND_PRINCE => {
            follow(linkage, Integrator::dormand_prince(field, start, tolerance), targets, contender)
        }
        _ => follow(linkage, Integrator::dop853(field, start, tolerance), targets, contender),
    }
}

/// Steps to the end, corrects if that is the aid, and measures after every step.
fn follow<F: Field<Vector = Vector<FourBar>>, const STAGES: usize>(
    linkage: &FourBar,
    mut integrator: Integrator<'_, F, STAGES>,
    targets: &Integrals<FourBar>,
    contender: Contender,
) -> Result<ResidualHistory, Box<dyn Error>> {
    let prepared = linkage.prepare();
    let mut projector = Projector::new(linkage, integrator.state(), *targets, Projection::default());
    let mut progress = Progress::new(&format!("four-bar: {contender}"));
    let mut residuals = vec![(0.0, residual(linkage, &prepared.integrals(integrator.state())))];
    while integrator.time() < UNTIL {
        if contender.aid == Aid::Projection {
            integrator.projected_step(UNTIL, &mut projector)?;
        } else {
            integrator.step(UNTIL)?;
        }
        residuals.push((integrator.time(), residual(linkage, &prepared.integrals(integrator.state()))));
        progress.report(integrator.time() / UNTIL);
    }
    Ok(ResidualHistory { contender, evaluations: integrator.evaluations(), residuals })
}

/// The worst ||d| - l| of the three rods, from g = |d|^2 - l^2, in a form that does not cancel.
fn residual(linkage: &FourBar, integrals: &Integrals<FourBar>) -> f64 {
    let lengths = [linkage.la, linkage.lb, linkage.lc];
    let off = |(l, g): (f64, &f64)| (g / ((g + l * l).sqrt() + l)).abs();
    lengths.into_iter().zip(integrals.iter()).map(off).fold(0.0, f64::max)
}

impl ResidualHistory {
    fn worst(&self) -> f64 {
        self.residuals.iter().map(|point| point.1).fold(0.0, f64::max)
    }
}

fn find(histories: &[ResidualHistory], scheme: Scheme, aid: Aid) -> f64 {
    let wanted = Contender { scheme, aid };
    histories.iter().find(|history| history.contender == wanted).map_or(f64::NAN, ResidualHistory::worst)
}

fn verdicts([loose, tight]: &[Vec<ResidualHistory>; 2]) -> Vec<Verdict> {
    let [dormand_prince, dop853] = SCHEMES;
    vec![
        at_most(
            "Dormand-Prince 5(4) at 1e-3/1e-6: m, against the textbook's",
            TEXTBOOK,
            find(loose, dormand_prince, Aid::Nothing),
        ),
        at_most(
            "Dormand-Prince 5(4) + feedback at 1e-3/1e-6: m, against IDA",
            IDA[0],
            find(loose, dormand_prince, Aid::Feedback),
        ),
        at_most("DOP853 at 1e-10: m", BOUND, find(tight, dop853, Aid::Nothing)),
        at_most("DOP853 + feedback at 1e-10: m", BOUND, find(tight, dop853, Aid::Feedback)),
    ]
}

/// The effect of each aid, in words that follow from the numbers.
fn words(runs: &[Vec<ResidualHistory>; 2]) -> Vec<String> {
    let mut words = Vec::new();
    for (histories, (rtol, _)) in runs.iter().zip(TOLERANCES) {
        for scheme in SCHEMES {
            let [plain, feedback, projection] = AIDS.map(|aid| find(histories, scheme, aid));
            let effect = match plain / feedback {
                ratio if ratio > 1.0 => format!("{ratio:.1} times smaller"),
                ratio => format!("{:.1} times larger", 1.0 / ratio),
            };
            words.push(format!(
                "{scheme} at rtol {rtol:e}: the worst residual is {plain:.1e} m, with feedback {feedback:.1e} m, {effect}, \
                 with projection {projection:.1e} m."
            ));
        }
    }
    words
}

fn table(runs: &[Vec<ResidualHistory>; 2]) -> ResultTable {
    let [loose, tight] = runs;
    let row = |(loose, tight): (&ResidualHistory, &ResidualHistory)| {
        let numbers = [loose, tight].into_iter().flat_map(|history| [history.worst(), history.evaluations as f64]);
        (loose.contender.to_string(), numbers.collect())
    };
    let published = [
        ("solve_ivp, the textbook's ODE (published)".to_owned(), vec![TEXTBOOK, f64::NAN, f64::NAN, f64::NAN]),
        ("SUNDIALS IDA (measured elsewhere)".to_owned(), vec![IDA[0], f64::NAN, IDA[1], f64::NAN]),
    ];
    ResultTable {
        name: "four-bar".to_owned(),
        caption: "Worst ||d| - l| of the rods over 30 s in metres, and evaluations of the field".to_owned(),
        columns: ["method", "m at 1e-3/1e-6", "evaluations", "m at 1e-10", "evaluations at 1e-10"]
            .map(str::to_owned)
            .to_vec(),
        rows: loose.iter().zip(tight).map(row).chain(published).collect(),
    }
}

fn picture(runs: &[Vec<ResidualHistory>; 2]) -> Picture {
    let lines = |histories: &[ResidualHistory]| {
        histories.iter().map(|history| Line::of(history.contender, envelope(&history.residuals))).collect()
    };
    let panels = vec![("rtol = 1e-3, atol = 1e-6", lines(&runs[0])), ("rtol = atol = 1e-10", lines(&runs[1]))];
    Picture {
        name: "four-bar".to_owned(),
        caption: "The worst ||d| - l| of the three rods over time, in at most 400 windows of steps.".to_owned(),
        svg: figure::over_time("Four-bar linkage, k = 1", 2, "time t / s", "||d| - l| / m", panels),
    }
}
