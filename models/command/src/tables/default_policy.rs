//! Default runs, compared with runs without projection and feedback.

use std::error::Error;

use catalogue::comparison::{Group, Motion, RecordedRun};
use catalogue::load;
use fbint_runtime::Method;

use super::grid::{Grid, bold_if, change, count};

/// An error this many times the error of the plain run is a loss.
const LOSS: f64 = 1.2;

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
        let motion = Motion { system: &*model, start: model.start()?, until: 100.0, interval: 1.0 };
        let runs = motion.runs(method).map(Result::ok);
        let errors = errors(&motion, &runs, 1e-13)?;
        let drifts = runs.each_ref().map(|run| run.as_ref().map_or_else(fails, |run| change(run.largest_drift())));
        grid.row(name, [step(method)].into_iter().chain(errors).chain(drifts));
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
        let motion = Motion { system: &*model, start: model.start()?, until, interval: until };
        let [plain, projected] = motion.runs(Method::Dop853 { rtol: tolerance, atol: Some(tolerance) });
        let runs = [plain?, projected?];
        let evaluations = runs.each_ref().map(|run| count(run.evaluations));
        let drifts = runs.each_ref().map(|run| change(run.largest_drift()));
        let errors = errors(&motion, &runs.map(Some), 1e-14)?;
        let setting = [format!("{tolerance:e}, t = {until}")];
        grid.row(name, setting.into_iter().chain(evaluations).chain(errors).chain(drifts));
    }
    Ok(grid)
}

/// The errors of a plain and a projected run, against DOP853 at a tolerance; the second in bold where it is notably larger.
fn errors(motion: &Motion<'_>, runs: &[Option<RecordedRun>; 2], tolerance: f64) -> Result<[String; 2], Box<dyn Error>> {
    let (state, truth) = (Group::whole(motion.system), motion.truth(tolerance, tolerance)?);
    let [plain, projected] = runs.each_ref().map(|run| Some(state.distance(&run.as_ref()?.states, &truth)));
    let is_loss = plain.zip(projected).is_some_and(|(plain, projected)| projected > LOSS * plain);
    Ok([plain.map_or_else(fails, change), bold_if(is_loss, projected.map_or_else(fails, change))])
}

fn fails() -> String {
    "fails".to_owned()
}

fn step(method: Method) -> String {
    method.step().map_or(String::new(), |h| format!("{h:e}"))
}
