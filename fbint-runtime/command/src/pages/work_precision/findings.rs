//! The summary of a study, as a table and in words: where feedback wins and where it loses.

use super::Study;
use super::series::{Measured, Policy, Series};
use crate::figures::results::{ResultTable, short};

/// The errors for which the work is compared.
const GOALS: [f64; 3] = [1e-3, 1e-6, 1e-9];
/// The error in the table.
pub const GOAL: f64 = 1e-6;
/// Ratios closer to 1 than this do not count as a difference.
const SAME: f64 = 1.2;
/// A ratio of evaluations above this is a loss, whatever is gained by it.
const DEAR: f64 = 2.0;
/// Drift below this is rounding, and so are ratios between such drifts.
const ROUNDING: f64 = 1e-12;
/// The number of series that are named.
const NAMED: usize = 4;

const LOSES: &str = "These lose against the method without feedback (error or drift above 1.2 x, evaluations above 2 x, or more \
                     steps refused than fail without):";
const WINS: &str = "These win (error or drift below 1 / 1.2):";
const IS_EVEN: &str = "These change little:";

/// A series compared with its method without feedback: medians of ratios at equal steps or tolerances.
pub struct SeriesComparison<'a> {
    /// The series with an aid.
    pub series: &'a Series,
    plain: &'a Series,
    /// The ratio of errors.
    pub error: f64,
    /// The ratio of drifts.
    pub drift: f64,
    /// The ratio of evaluations.
    pub evaluations: f64,
    seconds: f64,
}

impl Study {
    /// A row for each series.
    pub(super) fn summary(&self) -> ResultTable {
        let columns = [
            "method".to_owned(),
            "refused".to_owned(),
            "failed".to_owned(),
            "error x".to_owned(),
            "drift x".to_owned(),
            "evaluations x".to_owned(),
            "time x".to_owned(),
            format!("evaluations to {GOAL:e}"),
            format!("ms to {GOAL:e}"),
        ];
        ResultTable {
            name: format!("work-precision-{}-summary", self.model),
            caption: format!(
                "{}, t = {}. x: times the method without feedback, as the median over equal steps or tolerances; \
                 to {GOAL:e}: to reach that error, interpolated. The reference is known to {:.1e}",
                self.model, self.until, self.uncertainty
            ),
            columns: columns.to_vec(),
            rows: self.series.iter().map(|series| self.row(series)).collect(),
        }
    }

    fn row(&self, series: &Series) -> (String, Vec<f64>) {
        let ratios = self.comparison(series).map_or([f64::NAN; 4], |comparison| {
            [comparison.error, comparison.drift, comparison.evaluations, comparison.seconds]
        });
        let evaluations = series.work_to_reach(GOAL, |measured| measured.evaluations).map(f64::round);
        let milliseconds = series.work_to_reach(GOAL, |measured| 1e3 * measured.seconds);
        let missing = [series.refused() as f64, series.failed() as f64];
        let work = [evaluations.unwrap_or(f64::NAN), milliseconds.unwrap_or(f64::NAN)];
        (series.to_string(), [&missing[..], &ratios, &work].concat())
    }

    /// The comparison with the plain method; `None` for a plain method, or if no step or tolerance is common to both.
    pub fn comparison<'a>(&'a self, series: &'a Series) -> Option<SeriesComparison<'a>> {
        let is_plain = |other: &&Series| other.scheme == series.scheme && other.policy == Policy::Plain;
        let plain = self.series.iter().find(is_plain).filter(|_| series.policy != Policy::Plain)?;
        // Differences below the reference's own error, or below rounding, do not count.
        let error = |measured: &Measured| measured.error.max(self.uncertainty);
        let drift = |measured: &Measured| measured.drift.max(ROUNDING);
        Some(SeriesComparison {
            series,
            plain,
            error: series.ratio(plain, error)?,
            drift: series.ratio(plain, drift)?,
            evaluations: series.ratio(plain, |measured| measured.evaluations)?,
            seconds: series.ratio(plain, |measured| measured.seconds).unwrap_or(f64::NAN),
        })
    }

    /// Where aids win and lose, in words, losses first.
    pub(super) fn findings(&self) -> Vec<String> {
        let comparisons: Vec<SeriesComparison<'_>> = self.series.iter().filter_map(|s| self.comparison(s)).collect();
        let (losing, others): (Vec<_>, Vec<_>) = comparisons.iter().partition(|comparison| comparison.loses());
        let (winning, even): (Vec<_>, Vec<_>) = others.into_iter().partition(|comparison| comparison.wins());
        let paragraph = |(head, cases): (&str, Vec<&SeriesComparison<'_>>)| {
            let lines: Vec<String> = cases.iter().map(|comparison| format!("\n  {}", comparison.words())).collect();
            (!cases.is_empty()).then(|| format!("{head}{}", lines.concat()))
        };
        let paragraphs = [(LOSES, losing), (WINS, winning), (IS_EVEN, even)].into_iter().filter_map(paragraph);
        paragraphs.collect()
    }

    /// Which series reach each error in the least time.
    pub(super) fn answers(&self) -> [String; 3] {
        GOALS.map(|goal| self.quickest(goal))
    }

    /// The series that reach an error in the least time, and the fastest geometric method.
    fn quickest(&self, goal: f64) -> String {
        if goal < self.uncertainty {
            return format!("An error of {goal:e} is below what the reference is known to.");
        }
        let time = |series: &Series| series.work_to_reach(goal, |measured| 1e3 * measured.seconds);
        let mut ranking: Vec<(f64, &Series)> = self.series.iter().filter_map(|s| Some((time(s)?, s))).collect();
        ranking.sort_by(|a, b| a.0.total_cmp(&b.0));
        let name = |&(time, series): &(f64, &Series)| format!("{series} ({} ms)", short(time));
        let first: Vec<String> = ranking.iter().take(NAMED).map(name).collect();
        let geometric = ranking.iter().position(|entry| entry.1.scheme.is_geometric());
        let geometric = match geometric {
            Some(place) if place >= NAMED => format!("; as number {}, {}", place + 1, name(&ranking[place])),
            None if self.series.iter().any(|series| series.scheme.is_geometric()) => {
                "; no geometric method gets there".to_owned()
            }
            _ => String::new(),
        };
        match first.as_slice() {
            [] => format!("No method reaches an error of {goal:e}."),
            _ => format!("Least time to an error of {goal:e}: {}{geometric}.", first.join(", ")),
        }
    }
}

impl SeriesComparison<'_> {
    fn loses(&self) -> bool {
        self.error > SAME || self.drift > SAME || self.missing() > 0 || self.evaluations > DEAR
    }

    fn wins(&self) -> bool {
        self.error < 1.0 / SAME || self.drift < 1.0 / SAME
    }

    /// The number of runs that did not reach their ends although they do without feedback.
    fn missing(&self) -> usize {
        (self.series.refused() + self.series.failed()).saturating_sub(self.plain.failed())
    }

    fn words(&self) -> String {
        let refused = match (self.series.refused(), self.series.points.len()) {
            (0, _) => String::new(),
            (refused, all) => format!(", refused as unstable at {refused} of {all} steps"),
        };
        format!(
            "{}: error {}, drift {}, evaluations {}, time {}{refused}",
            self.series,
            times(self.error),
            times(self.drift),
            times(self.evaluations),
            times(self.seconds)
        )
    }
}

/// Two or three digits.
fn times(ratio: f64) -> String {
    match ratio {
        _ if (0.1..10.0).contains(&ratio) => format!("{ratio:.2} x"),
        _ if (10.0..1000.0).contains(&ratio) => format!("{ratio:.0} x"),
        _ => format!("{ratio:.1e} x"),
    }
}
