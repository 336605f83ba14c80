//! What a run does by default, compared with the same run without projection and feedback.

use std::error::Error;

use catalogue::load;
use fbint_command::catalogue::Run;
use fbint_command::scheme::Aid;
use fbint_runtime::Method;

use super::drift::largest;
use super::grid::{Grid, bold_if, change, count};
use super::integrate;

/// An error this many times the error of the plain run is a loss.
const LOSS: f64 = 1.2;
const UNTIL: f64 = 100.0;
const AIDS: [Aid; 2] = [Aid::Nothing, Aid::Projection];

/// Runs with a fixed step: what the row says of the model and the method, the model, the method.
const FIXED_STEPS: [(&str, &str, Method); 7] = [
    ("spherical pendulum, Euler", "spherical-pendulum", Method::Euler { h: 1e-3 }),
    ("spherical pendulum, RK4", "spherical-pendulum", Method::Rk4 { h: 1e-2 }),
    ("planar pendulum, RK4", "planar-pendulum", Method::Rk4 { h: 1e-2 }),
    ("four-bar, Euler", "four-bar", Method::Euler { h: 1e-2 }),
    ("four-bar, RK4", "four-bar", Method::Rk4 { h: 1e-2 }),
    ("Kepler, RK4", "kepler", Method::Rk4 { h: 1e-2 }),
    ("free rigid body, RK4", "free-rigid-body", Method::Rk4 { h: 1e-2 }),
];

/// Runs by DOP853: what the row says of the model, the model, the tolerance and the end.
const ERROR_CONTROL: [(&str, &str, f64, f64); 3] = [
    ("spherical pendulum", "spherical-pendulum", 1e-12, 100.0),
    ("four-bar", "four-bar", 1e-12, 30.0),
    ("spherical pendulum", "spherical-pendulum", 1e-6, 2000.0),
];

/// Error at t = 1, 2, .. 100 and drift with fixed steps.
pub(super) fn fixed_steps() -> Result<Grid, Box<dyn Error>> {
    let mut grid = Grid::new(["", "h", "plain: error", "projected: error", "plain: drift", "projected: drift"]);
    for (name, model, method) in FIXED_STEPS {
        let model = load(model)?;
        let truth = integrate(&*model, dop853(1e-13), Aid::Nothing, UNTIL, Some(1.0))?;
        let [plain, projected] = AIDS.map(|aid| integrate(&*model, method, aid, UNTIL, Some(1.0)).ok());
        let errors = [&plain, &projected].map(|run| run.as_ref().map(|run| largest_distance(run, &truth)));
        let drifts = [&plain, &projected].map(|run| run.as_ref().map_or_else(fails, |run| change(largest(run))));
        let [h, drift, projected_drift] = [step(method), drifts[0].clone(), drifts[1].clone()];
        grid.row(name, [h].into_iter().chain(cells(errors)).chain([drift, projected_drift]));
    }
    Ok(grid)
}

/// Error of the state at the end, drift and evaluations with error control.
pub(super) fn error_control() -> Result<Grid, Box<dyn Error>> {
    let mut grid = Grid::new([
        "DOP853",
        "tolerance, end",
        "plain: evaluations",
        "projected: evaluations",
        "plain: error",
        "projected: error",
        "plain: drift",
        "projected: drift",
    ]);
    for (name, model, tolerance, until) in ERROR_CONTROL {
        let model = load(model)?;
        let truth = integrate(&*model, dop853(1e-14), Aid::Nothing, until, None)?;
        let plain = integrate(&*model, dop853(tolerance), Aid::Nothing, until, None)?;
        let projected = integrate(&*model, dop853(tolerance), Aid::Projection, until, None)?;
        let runs = [&plain, &projected];
        let errors = runs.map(|run| Some(distance(&run.state, &truth.state)));
        let setting = [format!("{tolerance:e}, t = {until}")];
        let evaluations = runs.map(|run| count(run.evaluations));
        let drifts = runs.map(|run| change(largest(run)));
        grid.row(name, setting.into_iter().chain(evaluations).chain(cells(errors)).chain(drifts));
    }
    Ok(grid)
}

/// The errors of a plain and a projected run; the second in bold where it is notably larger.
fn cells([plain, projected]: [Option<f64>; 2]) -> [String; 2] {
    let is_loss = plain.zip(projected).is_some_and(|(plain, projected)| projected > LOSS * plain);
    [plain.map_or_else(fails, change), bold_if(is_loss, projected.map_or_else(fails, change))]
}

fn fails() -> String {
    "fails".to_owned()
}

fn step(method: Method) -> String {
    match method {
        Method::Euler { h } | Method::Midpoint { h } | Method::Heun { h } | Method::Rk4 { h } => format!("{h:e}"),
        Method::DiscreteHamel { h } => format!("{h:e}"),
        Method::DormandPrince { .. } | Method::Dop853 { .. } => String::new(),
    }
}

fn dop853(tolerance: f64) -> Method {
    Method::Dop853 { rtol: tolerance, atol: tolerance }
}

/// The largest distance between two trajectories with samples at the same times.
fn largest_distance(run: &Run, truth: &Run) -> f64 {
    let pairs = run.trajectory.iter().zip(&truth.trajectory);
    pairs.map(|(sample, truth)| distance(&sample.state, &truth.state)).fold(0.0, f64::max)
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}
