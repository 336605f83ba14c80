//! The four-bar linkage of the textbook for 30 s with error control: does the loop stay closed?
//!
//! In the coordinates of its pins, the residual is ||d| - l| in metres, the worst of the three rods after any step, d being the vector
//! between a rod's ends. In the textbook's own coordinates, three relative angles, rods have their lengths, and the residual is the
//! textbook's: the distance of the rocker's end from its pivot.
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
use models::{FourBar, FourBarInAngles};

use super::result::{Reproduction, Verdict};
use super::trial::{at_most, distance};

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
/// The largest distance between the pins of both formulations at the end, in metres.
const APART: f64 = 1e-8;

/// The linkage in some coordinates.
struct Formulation<'a, S: FeedbackSystem> {
    /// What is appended to the names of methods.
    suffix: &'static str,
    /// The aid whose residuals are compared with published ones: in angles, feedback makes the field stiff.
    judged: Aid,
    linkage: &'a S,
    start: Vector<S>,
    residual: &'a dyn Fn(&Integrals<S>) -> f64,
    pins: &'a dyn Fn(&Vector<S>) -> [f64; 4],
}

/// The residuals of one run.
struct ResidualHistory {
    contender: Contender,
    evaluations: u64,
    /// The residual after each step.
    residuals: Vec<(f64, f64)>,
    /// The places of both pins at the end.
    pins: [f64; 4],
}

/// The runs of one formulation at both tolerances.
struct Runs {
    suffix: &'static str,
    judged: Aid,
    loose: Vec<ResidualHistory>,
    tight: Vec<ResidualHistory>,
}

/// All methods at both tolerances, in both formulations.
pub(super) fn four_bar() -> Result<Reproduction, Box<dyn Error>> {
    let (cartesian, in_angles) = (FourBar::default(), FourBarInAngles::default());
    let runs = [
        runs(&Formulation {
            suffix: "",
            judged: Aid::Feedback,
            linkage: &cartesian,
            start: cartesian.start()?.into(),
            residual: &|integrals| rod_residual(&cartesian, integrals),
            pins: &|x| [x[0], x[1], x[2], x[3]],
        })?,
        runs(&Formulation {
            suffix: ", in angles",
            judged: Aid::Projection,
            linkage: &in_angles,
            start: in_angles.start()?.into(),
            residual: &|integrals| integrals[0].hypot(integrals[1]),
            pins: &|x| {
                let outputs = in_angles.prepare().outputs(x);
                [outputs[0], outputs[1], outputs[2], outputs[3]]
            },
        })?,
    ];
    Ok(Reproduction {
        name: "four-bar",
        title: "the textbook's four-bar linkage for 30 s at rtol 1e-3, atol 1e-6 and at 1e-10, k = 1",
        words: runs.iter().flat_map(words).collect(),
        figures: vec![picture(&runs)],
        tables: vec![table(&runs)],
        verdicts: verdicts(&runs),
    })
}

fn runs<S: FeedbackSystem>(formulation: &Formulation<'_, S>) -> Result<Runs, Box<dyn Error>> {
    let [loose, tight] = TOLERANCES.map(|tolerance| histories(formulation, tolerance));
    let &Formulation { suffix, judged, .. } = formulation;
    Ok(Runs { suffix, judged, loose: loose?, tight: tight? })
}

fn histories<S: FeedbackSystem>(
    formulation: &Formulation<'_, S>,
    (rtol, atol): (f64, f64),
) -> Result<Vec<ResidualHistory>, Box<dyn Error>> {
    let tolerance = Tolerance::new(rtol, atol)?;
    let feedback = Feedback::new(formulation.linkage, &formulation.start, Gains::uniform(GAIN))?;
    // As pointers, so that the methods are compiled once for both.
    let plain: Box<dyn Field<Vector = Vector<S>>> = Box::new(PlainField::new(formulation.linkage));
    let (targets, feedback) = (*feedback.targets(), Box::new(feedback) as Box<dyn Field<Vector = Vector<S>>>);
    let mut histories = Vec::new();
    for scheme in SCHEMES {
        for aid in AIDS {
            let contender = Contender { scheme, aid };
            histories.push(match aid {
                Aid::Feedback => history(formulation, &feedback, &targets, tolerance, contender)?,
                Aid::Nothing | Aid::Projection => history(formulation, &plain, &targets, tolerance, contender)?,
            });
        }
    }
    Ok(histories)
}

fn history<S: FeedbackSystem>(
    formulation: &Formulation<'_, S>,
    field: &impl Field<Vector = Vector<S>>,
    targets: &Integrals<S>,
    tolerance: Tolerance,
    contender: Contender,
) -> Result<ResidualHistory, Box<dyn Error>> {
    let start = formulation.start;
    match contender.scheme {
        Scheme::DORMAND_PRINCE => {
            follow(formulation, Integrator::dormand_prince(field, start, tolerance), targets, contender)
        }
        _ => follow(formulation, Integrator::dop853(field, start, tolerance), targets, contender),
    }
}

/// Steps to the end, corrects if that is the aid, and measures after every step.
fn follow<S: FeedbackSystem, F: Field<Vector = Vector<S>>, const STAGES: usize>(
    formulation: &Formulation<'_, S>,
    mut integrator: Integrator<'_, F, STAGES>,
    targets: &Integrals<S>,
    contender: Contender,
) -> Result<ResidualHistory, Box<dyn Error>> {
    let &Formulation { suffix, linkage, residual, pins, .. } = formulation;
    let prepared = linkage.prepare();
    let mut projector = Projector::new(linkage, integrator.state(), *targets, Projection::default());
    let mut progress = Progress::new(&format!("four-bar: {contender}{suffix}"));
    let mut residuals = vec![(0.0, residual(&prepared.integrals(integrator.state())))];
    while integrator.time() < UNTIL {
        if contender.aid == Aid::Projection {
            integrator.projected_step(UNTIL, &mut projector)?;
        } else {
            integrator.step(UNTIL)?;
        }
        residuals.push((integrator.time(), residual(&prepared.integrals(integrator.state()))));
        progress.report(integrator.time() / UNTIL);
    }
    let (evaluations, pins) = (integrator.evaluations(), pins(integrator.state()));
    Ok(ResidualHistory { contender, evaluations, residuals, pins })
}

/// The worst ||d| - l| of the three rods, from g = |d|^2 - l^2, in a form that does not cancel.
fn rod_residual(linkage: &FourBar, integrals: &Integrals<FourBar>) -> f64 {
    let lengths = [linkage.la, linkage.lb, linkage.lc];
    let off = |(l, g): (f64, &f64)| (g / ((g + l * l).sqrt() + l)).abs();
    lengths.into_iter().zip(integrals.iter()).map(off).fold(0.0, f64::max)
}

impl ResidualHistory {
    fn worst(&self) -> f64 {
        self.residuals.iter().map(|point| point.1).fold(0.0, f64::max)
    }
}

fn find(histories: &[ResidualHistory], scheme: Scheme, aid: Aid) -> Option<&ResidualHistory> {
    let wanted = Contender { scheme, aid };
    histories.iter().find(|history| history.contender == wanted)
}

fn worst(histories: &[ResidualHistory], scheme: Scheme, aid: Aid) -> f64 {
    find(histories, scheme, aid).map_or(f64::NAN, ResidualHistory::worst)
}

fn verdicts(both: &[Runs; 2]) -> Vec<Verdict> {
    let [_, dop853] = SCHEMES;
    let mut verdicts = Vec::new();
    for Runs { suffix, judged, loose, tight } in both {
        let mut judge = |histories: &[ResidualHistory], contender: Contender, at: &str, most: f64| {
            let found = worst(histories, contender.scheme, contender.aid);
            verdicts.push(at_most(format!("{contender}{suffix} at {at}"), most, found));
        };
        for (aid, of, most) in [(Aid::Nothing, "the textbook's", TEXTBOOK), (*judged, "IDA", IDA[0])] {
            let contender = Contender { scheme: Scheme::DORMAND_PRINCE, aid };
            judge(loose, contender, &format!("1e-3/1e-6: m, against {of}"), most);
        }
        for aid in [Aid::Nothing, *judged] {
            judge(tight, Contender { scheme: dop853, aid }, "1e-10: m", BOUND);
        }
    }
    let [cartesian, in_angles] = both.each_ref().map(|runs| find(&runs.tight, dop853, Aid::Projection));
    let apart = cartesian.zip(in_angles).map_or(f64::NAN, |(one, other)| distance(&one.pins, &other.pins));
    verdicts.push(at_most("DOP853 + projection at 1e-10: m between the pins of both formulations", APART, apart));
    verdicts
}

/// The effect of each aid, in words that follow from the numbers.
fn words(Runs { suffix, loose, tight, .. }: &Runs) -> Vec<String> {
    let mut words = Vec::new();
    for (histories, (rtol, _)) in [loose, tight].into_iter().zip(TOLERANCES) {
        for scheme in SCHEMES {
            let [plain, feedback, projection] = AIDS.map(|aid| worst(histories, scheme, aid));
            let effect = match plain / feedback {
                ratio if ratio > 1.0 => format!("{ratio:.1} times smaller"),
                ratio => format!("{:.1} times larger", 1.0 / ratio),
            };
            words.push(format!(
                "{scheme}{suffix} at rtol {rtol:e}: the worst residual is {plain:.1e} m, with feedback {feedback:.1e} m, \
                 {effect}, with projection {projection:.1e} m."
            ));
        }
    }
    words
}

fn table(both: &[Runs; 2]) -> ResultTable {
    let rows_of = |Runs { suffix, loose, tight, .. }: &Runs| {
        let row = |(loose, tight): (&ResidualHistory, &ResidualHistory)| {
            let numbers = [loose, tight].into_iter().flat_map(|history| [history.worst(), history.evaluations as f64]);
            (format!("{}{suffix}", loose.contender), numbers.collect())
        };
        loose.iter().zip(tight).map(row).collect::<Vec<_>>()
    };
    let published = [
        ("solve_ivp, the textbook's ODE (published)".to_owned(), vec![TEXTBOOK, f64::NAN, f64::NAN, f64::NAN]),
        ("SUNDIALS IDA (measured elsewhere)".to_owned(), vec![IDA[0], f64::NAN, IDA[1], f64::NAN]),
    ];
    ResultTable {
        name: "four-bar".to_owned(),
        caption: "Worst residual over 30 s in metres, and evaluations of the field".to_owned(),
        columns: ["method", "m at 1e-3/1e-6", "evaluations", "m at 1e-10", "evaluations at 1e-10"]
            .map(str::to_owned)
            .to_vec(),
        rows: both.iter().flat_map(rows_of).chain(published).collect(),
    }
}

fn picture([cartesian, in_angles]: &[Runs; 2]) -> Picture {
    let lines = |histories: &[ResidualHistory]| {
        histories.iter().map(|history| Line::of(history.contender, envelope(&history.residuals))).collect()
    };
    let panels = vec![
        ("pins, rtol = 1e-3, atol = 1e-6", lines(&cartesian.loose)),
        ("pins, rtol = atol = 1e-10", lines(&cartesian.tight)),
        ("angles, rtol = 1e-3, atol = 1e-6", lines(&in_angles.loose)),
        ("angles, rtol = atol = 1e-10", lines(&in_angles.tight)),
    ];
    Picture {
        name: "four-bar".to_owned(),
        caption: "The worst residual over time, in at most 400 windows of steps: of the rods' lengths in the coordinates of the pins, and of \
                  the loop in relative angles."
            .to_owned(),
        svg: figure::over_time("Four-bar linkage, k = 1", 2, "time t / s", "residual / m", panels),
    }
}
