//! CPV22's figure 6: the planar pendulum over one period, its error against the step size and against the cost.
//!
//! Released at rest from the height of the pivot, the pendulum is back where it started after one period, so that the error of
//! (q, p) is the distance from the start and needs no reference solution. It is measured in (q, p): in q alone RATTLE would show
//! order 4, because p = 0 at the end hides an error of the phase. The cost is 4 per evaluation of the field with feedback and
//! 1 per evaluation of the field without, or of RATTLE's gradient.

use std::error::Error;

use fbint_command::catalogue::Feedback;
use fbint_command::figure::{self, Axis, Chart, Line};
use fbint_command::results::{Picture, ResultTable};
use fbint_command::scheme::{Aid, Contender, Scheme};
use fbint_runtime::Method;

use super::result::{Reproduction, Rule, Verdict};
use super::trial::{Setting, Trial, distance};

/// 4 K(1/2).
const PERIOD: f64 = 7.416_298_709_205_487_5;
const COST_WITH_FEEDBACK: f64 = 4.0;
/// The numbers of steps are powers of the square root of 2, from 16 on.
const REFINEMENTS: u32 = 24;
const FIRST: f64 = 16.0;
/// Tolerances are powers of a tenth and halves between, from 1e-4 on.
const TOLERANCES: u32 = 19;
/// An order is what the error tends to as the step does to 0: it is measured over the last three octaves before rounding shows.
const ORDER_ABOVE: f64 = 1e-12;
const ORDER_OVER: usize = 6;
/// Orders must come out with this accuracy.
const ORDER_ACCURACY: f64 = 0.1;
/// Costs read off a curve must come out within this fraction.
const COST_ACCURACY: f64 = 0.1;

/// One run: its step or tolerance, its cost and its error.
#[derive(Clone, Copy)]
struct CostAndError {
    setting: f64,
    cost: f64,
    error: f64,
}

/// One method with all its runs, from the coarsest to the finest.
struct MethodRuns {
    contender: Contender,
    points: Vec<CostAndError>,
}

/// Both halves of the figure.
pub(super) fn figure() -> Result<Reproduction, Box<dyn Error>> {
    let (stepped, controlled) = (stepped()?, controlled()?);
    let costly: Vec<&MethodRuns> = stepped.iter().chain(&controlled).collect();
    let mut verdicts = orders(&stepped);
    verdicts.extend(costs(&costly));
    Ok(Reproduction {
        name: "cpv22-figure-6",
        title: "figure 6 of CPV22: the planar pendulum over one period, error against step size and cost, k = 1",
        words: words(&costly),
        figures: vec![left(&stepped), right(&costly)],
        tables: vec![
            steps_table(&stepped),
            points_table("cpv22-figure-6-right", "DOP853: cost and error of (q, p) against the tolerance", &controlled),
        ],
        verdicts,
    })
}

/// The methods with a fixed step.
fn stepped() -> Result<Vec<MethodRuns>, Box<dyn Error>> {
    let setting = setting()?;
    let steps = || (0..REFINEMENTS).map(|n| PERIOD / (FIRST * 2_f64.powf(0.5 * f64::from(n))).round());
    let series = |run: &dyn Fn(&Setting, f64) -> Result<Trial, fbint_runtime::Error>| {
        let mut trials = Vec::new();
        for h in steps() {
            match run(&setting, h) {
                Ok(trial) => trials.push((h, trial)),
                // The step is too long for the method: the curve begins at a shorter one.
                Err(fbint_runtime::Error::Failed(_)) => {}
                Err(error) => return Err(error),
            }
        }
        Ok(MethodRuns::of(trials))
    };
    Ok([
        series(&|setting, h| setting.with_feedback(Method::Euler { h }, gains()))?,
        series(&|setting, h| setting.plain(Method::Euler { h }))?,
        series(&|setting, h| setting.with_feedback(Method::Rk4 { h }, gains()))?,
        series(&|setting, h| setting.plain(Method::Rk4 { h }))?,
        series(&|setting, h| setting.plain(Method::Rattle { h }))?,
    ]
    .into_iter()
    .flatten()
    .collect())
}

/// DOP853, with feedback and without.
fn controlled() -> Result<Vec<MethodRuns>, Box<dyn Error>> {
    let tolerances = || (0..TOLERANCES).map(|n| 10_f64.powf(-4.0 - 0.5 * f64::from(n)));
    let method = |tolerance| Method::Dop853 { rtol: tolerance, atol: Some(tolerance) };
    let setting = setting()?;
    let with = tolerances().map(|tolerance| Ok((tolerance, setting.with_feedback(method(tolerance), gains())?)));
    let without = tolerances().map(|tolerance| Ok((tolerance, setting.plain(method(tolerance))?)));
    let with: Result<Vec<_>, fbint_runtime::Error> = with.collect();
    let without: Result<Vec<_>, fbint_runtime::Error> = without.collect();
    Ok([MethodRuns::of(with?), MethodRuns::of(without?)].into_iter().flatten().collect())
}

/// CPV22's k = 1 on |q|^2 - 1, q . p and H. The rate that is derived from the first is 2 q . p.
fn gains() -> Feedback {
    Feedback::Diagonal(vec![1.0, 0.25, 1.0])
}

/// A period of the pendulum.
fn setting() -> Result<Setting, Box<dyn Error>> {
    Setting::of("planar-pendulum", PERIOD, PERIOD)
}

impl MethodRuns {
    /// All runs of one method; `None` if there is none.
    fn of(trials: Vec<(f64, Trial)>) -> Option<Self> {
        let contender = trials.first()?.1.contender;
        let points = trials.iter().map(|(setting, trial)| CostAndError {
            setting: *setting,
            cost: cost_of_evaluation(contender) * trial.evaluations as f64,
            error: distance(trial.end(), &trial.trajectory[0].state),
        });
        Some(Self { contender, points: points.collect() })
    }

    /// The order over the last [`ORDER_OVER`] refinements whose errors stay above [`ORDER_ABOVE`].
    fn order(&self) -> f64 {
        let measurable: Vec<&CostAndError> = self.points.iter().take_while(|point| point.error > ORDER_ABOVE).collect();
        match measurable.last_chunk::<{ ORDER_OVER + 1 }>() {
            Some([coarse, .., fine]) => (coarse.error / fine.error).ln() / (coarse.setting / fine.setting).ln(),
            None => f64::NAN,
        }
    }

    /// The cost at which the error first falls to `error`, on the straight lines between points in the logarithms of both.
    fn cost_to_reach(&self, error: f64) -> f64 {
        let crossing = self.points.windows(2).find(|pair| pair[0].error > error && pair[1].error <= error);
        crossing.map_or(f64::NAN, |pair| {
            let [a, b] = [pair[0], pair[1]];
            let fraction = (a.error / error).ln() / (a.error / b.error).ln();
            a.cost * (b.cost / a.cost).powf(fraction)
        })
    }

    fn is(&self, contender: Contender) -> bool {
        self.contender == contender
    }
}

const fn cost_of_evaluation(contender: Contender) -> f64 {
    match contender.aid {
        Aid::Feedback => COST_WITH_FEEDBACK,
        Aid::Nothing | Aid::Projection => 1.0,
    }
}

fn orders(series: &[MethodRuns]) -> Vec<Verdict> {
    let verdict = |series: &MethodRuns| {
        let expected = match series.contender.scheme {
            Scheme::EULER => 1.0,
            Scheme::RATTLE => 2.0,
            _ => 4.0,
        };
        let what = format!("{}: order", series.contender);
        Verdict { what, expected, obtained: series.order(), rule: Rule::Within(ORDER_ACCURACY / expected) }
    };
    series.iter().map(verdict).collect()
}

/// Independently measured: the cost to reach an error.
const COSTS: [(Contender, f64, f64); 5] = [
    (Contender::with_feedback(Scheme::RK4), 1e-8, 9142.0),
    (Contender::with_feedback(Scheme::DOP853), 1e-8, 1548.0),
    (Contender::plain(Scheme::RK4), 1e-8, 2030.0),
    (Contender::plain(Scheme::DOP853), 1e-8, 429.0),
    (Contender::plain(Scheme::RATTLE), 1e-6, 7632.0),
];

fn costs(series: &[&MethodRuns]) -> Vec<Verdict> {
    let verdict = |&(contender, error, expected): &(Contender, f64, f64)| {
        let obtained = cost(series, contender, error);
        Verdict {
            what: format!("{contender}: cost to reach {error:e}, interpolated"),
            expected,
            obtained,
            rule: Rule::Within(COST_ACCURACY),
        }
    };
    COSTS.iter().map(verdict).collect()
}

fn cost(series: &[&MethodRuns], contender: Contender, error: f64) -> f64 {
    series.iter().find(|series| series.is(contender)).map_or(f64::NAN, |series| series.cost_to_reach(error))
}

/// The cost of feedback for accurate methods, in words that follow from the numbers.
fn words(series: &[&MethodRuns]) -> Vec<String> {
    let compare = |scheme: Scheme| {
        let with = cost(series, Contender::with_feedback(scheme), 1e-8);
        let without = cost(series, Contender::plain(scheme), 1e-8);
        let outcome = if with > without { "loses" } else { "wins" };
        format!(
            "{scheme}: over one period feedback {outcome}: an error of 1e-8 costs {with:.0} with it and {without:.0} without."
        )
    };
    vec![compare(Scheme::RK4), compare(Scheme::DOP853)]
}

fn left(series: &[MethodRuns]) -> Picture {
    let error_against = |quantity: fn(&CostAndError) -> f64| lines(series.iter(), quantity);
    let mut lines = error_against(|point| point.setting);
    // The factors move the slopes away from the curves of their order.
    for (order, factor, name) in [(1, 30.0, Some("~ h, h², h⁴")), (2, 5.0, None), (4, 0.02, None)] {
        let slope = |h: f64| (h, factor * h.powi(order));
        lines.push(Line::guide(name, vec![slope(0.1), slope(0.001)]));
    }
    picture("cpv22-figure-6-left", "step size h", "Error of (q, p) after one period against the step size.", lines)
}

fn right(series: &[&MethodRuns]) -> Picture {
    let lines = lines(series.iter().copied(), |point| point.cost);
    let caption = "Error of (q, p) after one period against the cost: 4 per evaluation with feedback, 1 per other.";
    picture("cpv22-figure-6-right", "cost in evaluations, with feedback 4 each", caption, lines)
}

fn lines<'a>(series: impl Iterator<Item = &'a MethodRuns>, quantity: fn(&CostAndError) -> f64) -> Vec<Line> {
    let points = |series: &MethodRuns| series.points.iter().map(|point| (quantity(point), point.error)).collect();
    series.map(|series| Line::of(series.contender, points(series))).collect()
}

fn picture(name: &str, against: &str, caption: &str, lines: Vec<Line>) -> Picture {
    let x = Axis::decades(against, lines.iter().flat_map(Line::arguments));
    let y = Axis::decades("error of (q, p)", lines.iter().flat_map(Line::values));
    let chart = Chart::new("", x, y, lines);
    Picture {
        name: name.to_owned(),
        caption: caption.to_owned(),
        svg: figure::draw("Planar pendulum after one period, k = 1", 1, &[chart]),
    }
}

/// A row for each step size, a column for the error of each method.
fn steps_table(series: &[MethodRuns]) -> ResultTable {
    let all = || series.iter().flat_map(|series| &series.points).map(|point| point.setting);
    let mut steps: Vec<f64> = all().collect();
    steps.sort_by(|a, b| b.total_cmp(a));
    steps.dedup();
    let error = |series: &MethodRuns, h: f64| {
        series.points.iter().find(|point| point.setting == h).map_or(f64::NAN, |point| point.error)
    };
    let row = |h: &f64| series.iter().map(|series| error(series, *h)).collect();
    ResultTable {
        name: "cpv22-figure-6-left".to_owned(),
        caption: "Error of (q, p) after one period against the step size".to_owned(),
        columns: ["h".to_owned()].into_iter().chain(series.iter().map(|series| series.contender.to_string())).collect(),
        rows: steps.iter().map(|h| (format!("{h:.4e}"), row(h))).collect(),
    }
}

/// A row for each tolerance, the cost and the error of each method.
fn points_table(name: &str, caption: &str, series: &[MethodRuns]) -> ResultTable {
    let heads = series
        .iter()
        .flat_map(|series| [format!("{}: cost", series.contender), format!("{}: error", series.contender)]);
    let count = series.iter().map(|series| series.points.len()).min().unwrap_or(0);
    let row = |index: usize| {
        let numbers = series.iter().flat_map(|series| [series.points[index].cost, series.points[index].error]);
        (format!("{:.1e}", series[0].points[index].setting), numbers.collect())
    };
    ResultTable {
        name: name.to_owned(),
        caption: caption.to_owned(),
        columns: ["tolerance".to_owned()].into_iter().chain(heads).collect(),
        rows: (0..count).map(row).collect(),
    }
}
