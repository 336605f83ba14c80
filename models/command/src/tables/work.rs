//! The effect of projection and feedback at equal steps or tolerances, from the study of `fbint work-precision`.

use std::error::Error;

use catalogue::load;
use fbint_command::scheme::Scheme;
use fbint_command::work_precision::{GOAL, Policy, Series, SeriesComparison, Study};

use super::grid::{Grid, bold_if, count, ratio};

const MODEL: &str = "spherical-pendulum";
const UNTIL: f64 = 100.0;
/// Ratios above this are a loss.
const LOSS: f64 = 1.2;

/// The methods and policies with separate rows.
const ROWS: [(Scheme, Policy, &str); 10] = [
    (Scheme::EULER, Policy::Projected, "Euler, projected (the default)"),
    (Scheme::RK4, Policy::Projected, "RK4, projected (the default)"),
    (Scheme::RK4, Policy::Relaxation, "RK4, relaxation over ten steps"),
    (Scheme::RK4, Policy::Uniform(1), "RK4, k = 1"),
    (Scheme::RK4, Policy::Uniform(50), "RK4, k = 50"),
    (Scheme::DORMAND_PRINCE, Policy::Projected, "Dormand-Prince 5(4), projected (the default)"),
    (Scheme::DOP853, Policy::Projected, "DOP853, projected (the default)"),
    (Scheme::DOP853, Policy::Relaxation, "DOP853, relaxation in unit time"),
    (Scheme::DOP853, Policy::Uniform(1), "DOP853, k = 1"),
    (Scheme::DOP853, Policy::Uniform(50), "DOP853, k = 50"),
];

/// Medians over the ladder of steps or tolerances, as multiples of the same method without feedback.
pub(super) fn medians() -> Result<Grid, Box<dyn Error>> {
    let model = load(MODEL)?;
    let study = Study::without_times(&*model, MODEL, UNTIL, |series| {
        let row = |&(scheme, policy, _): &(Scheme, Policy, &str)| {
            series.scheme == scheme && [policy, Policy::Plain].contains(&series.policy)
        };
        ROWS.iter().any(row)
    })?;
    let mut grid = Grid::new(["", "error", "drift", "evaluations"]);
    for (scheme, policy, name) in ROWS {
        let own = |series: &&Series| series.scheme == scheme && series.policy == policy;
        let comparison = study.series.iter().find(own).and_then(|series| study.comparison(series));
        let comparison = comparison.ok_or_else(|| format!("{name}: no step is common to it and the plain method"))?;
        let SeriesComparison { series, error, drift, evaluations, .. } = comparison;
        let refused = match (series.refused(), series.points.len()) {
            (0, _) => String::new(),
            (refused, all) => format!(" (refused at {refused} of {all} steps, where it is unstable)"),
        };
        let cells = [error, drift, evaluations].map(|value| bold_if(value > LOSS, ratio(value)));
        grid.row(format!("{name}{refused}"), cells);
    }
    Ok(grid)
}

/// Evaluations of the field until the error at the end is 1e-6, for plain, projected and geometric methods of order 2 and above.
pub(super) fn to_goal() -> Result<Grid, Box<dyn Error>> {
    let model = load(MODEL)?;
    let study = Study::without_times(&*model, MODEL, UNTIL, |series| match series.scheme {
        Scheme::EULER | Scheme::MIDPOINT | Scheme::HEUN => false,
        scheme => scheme.is_geometric() || [Policy::Plain, Policy::Projected].contains(&series.policy),
    })?;
    let mut grid = Grid::new(["", "evaluations"]);
    for series in &study.series {
        let evaluations = series.work_to_reach(GOAL, |measured| measured.evaluations);
        let most = series.done().map(|measured| measured.evaluations).fold(0.0, f64::max);
        grid.row(
            series.to_string(),
            [match evaluations {
                Some(evaluations) => count(two_digits(evaluations)),
                None => format!("not reached in {}", count(two_digits(most))),
            }],
        );
    }
    Ok(grid)
}

fn two_digits(number: f64) -> u64 {
    let unit = 10_f64.powf(number.log10().floor() - 1.0);
    ((number / unit).round() * unit).round() as u64
}
