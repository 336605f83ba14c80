//! The largest change of integrals of the spherical pendulum, by methods with projection, with feedback and with neither.

use std::error::Error;

use catalogue::load;
use fbint_command::catalogue::Run;
use fbint_command::scheme::{Aid, Contender, Scheme};
use fbint_runtime::Method;

use super::grid::{Grid, change, change_with_digits, count};
use super::{GAIN, integrate};

const MODEL: &str = "spherical-pendulum";
const UNTIL: f64 = 100.0;
const METHODS: [(&str, Method); 3] = [
    ("Euler, h = 1e-3", Method::Euler { h: 1e-3 }),
    ("RK4, h = 1e-3", Method::Rk4 { h: 1e-3 }),
    ("DOP853, tolerance 1e-9", Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) }),
];

/// The largest change of any integral for each method: plain, projected, and with feedback.
pub(super) fn of_methods() -> Result<Grid, Box<dyn Error>> {
    let feedback = format!("feedback, k = {GAIN}");
    let mut grid = Grid::new(["", "plain", "default: projection", &feedback]);
    for (name, method) in METHODS {
        let cells = [Aid::Nothing, Aid::Projection, Aid::Feedback].map(|aid| cell(method, aid));
        grid.row(name, cells.into_iter().collect::<Result<Vec<_>, _>>()?);
    }
    Ok(grid)
}

fn cell(method: Method, aid: Aid) -> Result<String, Box<dyn Error>> {
    let run = integrate(&*load(MODEL)?, method, aid, UNTIL, Some(UNTIL))?;
    let change = change(largest(&run));
    Ok(match method.step() {
        None => format!("{change} ({} evaluations)", count(run.evaluations)),
        Some(_) => change,
    })
}

/// The largest change of any integral at any step.
pub(super) fn largest(run: &Run) -> f64 {
    run.findings.drift.integrals().map(|integral| integral.max).fold(0.0, f64::max)
}

/// Euler and RK4 with and without feedback, as `comparison` compares them: a row for each integral.
pub(super) fn as_published() -> Result<Grid, Box<dyn Error>> {
    let model = load("spherical-pendulum-cpv22")?;
    let methods = [Method::Euler { h: 1e-3 }, Method::Rk4 { h: 1e-3 }];
    let contenders = methods.map(|method| [Aid::Feedback, Aid::Nothing].map(|aid| (method, aid))).concat();
    let name = |&(method, aid): &(Method, Aid)| Contender { scheme: Scheme::of(method), aid }.to_string();
    let names: Vec<String> = contenders.iter().map(name).collect();
    let run = |&(method, aid): &(Method, Aid)| integrate(&*model, method, aid, UNTIL, None);
    let runs = contenders.iter().map(run).collect::<Result<Vec<_>, _>>()?;
    let mut grid = Grid::new(["", &names[0], &names[1], &names[2], &names[3]]);
    let symbols = ["f1 = \\|q\\|² - l²", "f2 = q · p", "energy", "vertical momentum"];
    for (integral, symbol) in symbols.into_iter().enumerate() {
        let max = |run: &Run| run.findings.drift.integrals().nth(integral).map_or(f64::NAN, |integral| integral.max);
        grid.row(symbol, runs.iter().map(|run| change_with_digits(max(run), 3)));
    }
    Ok(grid)
}
