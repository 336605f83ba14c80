//! The length and the friction of a pendulum from angles that were measured with errors, by least squares with the derivatives of the run.
//!
//! Not a figure of a paper. The measurements are a solution by DOP853 with normal errors, so the right result is known: values as near to
//! the truth as their standard errors say. That is found out with many series of errors.
//!
//! The steps of the fit are RK4's with the projection that a simulation has, and so are their derivatives: a least-squares method that
//! takes differences of runs instead takes a run for each unknown, and half of the digits.

use std::error::Error;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::SeedableRng;
use fbint_command::figure::{self, Axis, Chart, Line};
use fbint_command::results::{Picture, ResultTable};
use fbint_command::scheme::Stroke;
use fbint_runtime::tableau::RK4;
use fbint_runtime::{
    Direction, FeedbackSystem, GeneratedSystem, Method, Projection, Sensitivity, Simulation, TangentRun,
};
use models::{DrivenPendulum, DrivenPendulumState};
use rand_distr::{Distribution as _, StandardNormal};
use rmpfit::{MPError, MPFitter, MPPar, MPResult, MPSide, MPStatus};

use super::result::{Reproduction, Rule, Verdict};
use super::trial::at_most;

/// The time between two measurements.
const INTERVAL: f64 = 0.2;
const MEASUREMENTS: usize = 50;
const STEPS_PER_INTERVAL: usize = 10;
/// The standard deviation of the errors of measurement.
const NOISE: f64 = 0.03;
/// The number of series of errors; the first is drawn.
const SERIES: u64 = 100;

/// The unknowns of the fit: parameters of the system, and entries of its start.
const UNKNOWNS: [&str; 4] = ["length", "friction", "angle at the start", "momentum at the start"];
const TRUTH: [f64; 4] = [0.8, 0.05, 1.2, 0.0];
/// Where the fit begins.
const GUESS: [f64; 4] = [0.9, 0.0, 1.0, 0.0];
/// The number of unknowns that are parameters.
const PARAMETERS: [&str; 2] = ["l", "damping"];

/// One fit for every series.
pub(super) fn pendulum_fit() -> Result<Reproduction, Box<dyn Error>> {
    let exact = exact_angles()?;
    let fits = (0..SERIES).map(|seed| Fit::new(measured(&exact, seed))).collect::<Result<Vec<_>, _>>()?;
    let first = &fits[0];
    let freedom = (MEASUREMENTS - UNKNOWNS.len()) as f64;
    let mean = |quantity: &dyn Fn(&Fit) -> f64| fits.iter().map(quantity).sum::<f64>() / SERIES as f64;
    let near = |place: usize| {
        let what = format!("the {}: distance from the truth in standard errors", UNKNOWNS[place]);
        at_most(what, 3.0, first.distance(place).abs())
    };
    let spread = |place: usize| Verdict {
        what: format!("the {}: its deviation in standard errors, of {SERIES} series", UNKNOWNS[place]),
        expected: 1.0,
        obtained: mean(&|fit| fit.distance(place).powi(2)).sqrt(),
        rule: Rule::Within(0.25),
    };
    Ok(Reproduction {
        name: "pendulum-fit",
        title: "length and friction of a pendulum from 50 angles with errors of 0.03, by RK4 with h = 0.02 and projections",
        words: vec![words(first)],
        figures: vec![picture(first, &exact)?],
        tables: vec![table(first)],
        verdicts: vec![
            near(0),
            near(1),
            spread(0),
            spread(1),
            Verdict {
                what: format!("the sum of squares per degree of freedom, mean of {SERIES} series"),
                expected: 1.0,
                obtained: mean(&|fit| fit.status.best_norm / freedom),
                rule: Rule::Within(0.1),
            },
        ],
    })
}

/// A pendulum with these unknowns, without a motor.
fn pendulum([l, damping, angle, p]: [f64; 4]) -> (DrivenPendulum, DrivenPendulumState) {
    let system = DrivenPendulum { l, damping, torque: 0.0, g: 9.81, ..DrivenPendulum::default() };
    (system, DrivenPendulumState { angle, p, t: 0.0, work: 0.0 })
}

/// The angles of the true pendulum, by another method than the fit's.
fn exact_angles() -> Result<Vec<f64>, Box<dyn Error>> {
    let (system, start) = pendulum(TRUTH);
    let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
    let simulation = Simulation::new(&system, start)?.record_every(INTERVAL);
    let run = simulation.run(method, INTERVAL * MEASUREMENTS as f64)?;
    Ok(run.trajectory().iter().skip(1).map(|sample| sample.state[0]).collect())
}

/// These points with errors.
fn measured(exact: &[f64], seed: u64) -> Vec<f64> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut error = || -> f64 { StandardNormal.sample(&mut random) };
    exact.iter().map(|angle| angle + NOISE * error()).collect()
}

/// The unknowns that fit measurements best.
struct Fit {
    measured: Vec<f64>,
    unknowns: [f64; 4],
    status: MPStatus,
}

impl Fit {
    fn new(measured: Vec<f64>) -> Result<Self, Box<dyn Error>> {
        let mut unknowns = GUESS;
        let status = Residuals { measured: &measured }.mpfit(&mut unknowns).map_err(|error| error.to_string())?;
        Ok(Self { measured, unknowns, status })
    }

    /// The distance of an unknown from the truth, in standard errors.
    fn distance(&self, place: usize) -> f64 {
        (self.unknowns[place] - TRUTH[place]) / self.status.xerror[place]
    }
}

/// The residuals to minimise: the difference of each measurement to a run, in units of its error.
struct Residuals<'a> {
    measured: &'a [f64],
}

impl MPFitter for Residuals<'_> {
    fn eval(&mut self, unknowns: &[f64], residuals: &mut [f64]) -> MPResult<()> {
        let mut run = run(unknowns, [])?;
        for (residual, measured) in residuals.iter_mut().zip(self.measured) {
            advance(&mut run);
            *residual = (measured - run.state()[0]) / NOISE;
        }
        Ok(())
    }

    fn number_of_points(&self) -> usize {
        self.measured.len()
    }

    fn parameters(&self) -> &[MPPar] {
        const BY_US: MPPar = MPPar { side: MPSide::User, ..MPPar::new() };
        &[BY_US, BY_US, BY_US, BY_US]
    }

    fn jacobian(&mut self, unknowns: &[f64], residuals: &mut [f64], columns: &mut [Option<Vec<f64>>]) -> MPResult<()> {
        let mut run = run(unknowns, directions().ok_or(MPError::Input)?)?;
        for (row, measured) in self.measured.iter().enumerate() {
            advance(&mut run);
            residuals[row] = (measured - run.state()[0]) / NOISE;
            for (column, derivative) in columns.iter_mut().flatten().zip(run.derivatives()) {
                column[row] = -derivative[0] / NOISE;
            }
        }
        Ok(())
    }
}

/// A run with these unknowns that has not begun.
fn run<const K: usize>(
    unknowns: &[f64],
    directions: [Direction<DrivenPendulum>; K],
) -> MPResult<TangentRun<DrivenPendulum, K>> {
    let (system, start) = pendulum(unknowns.try_into().map_err(|_| MPError::Input)?);
    let run = Sensitivity::<DrivenPendulum>::new(system.prepare()).projected(Projection::default());
    Ok(run.along(start.into(), directions))
}

/// To the next measurement.
fn advance<const K: usize>(run: &mut TangentRun<DrivenPendulum, K>) {
    for _ in 0..STEPS_PER_INTERVAL {
        run.step(&RK4, INTERVAL / STEPS_PER_INTERVAL as f64);
    }
}

/// A direction for each of the unknowns.
fn directions() -> Option<[Direction<DrivenPendulum>; 4]> {
    let mut directions: [Direction<DrivenPendulum>; 4] = [Direction::zero(); 4];
    for (direction, name) in directions.iter_mut().zip(PARAMETERS) {
        let place = DrivenPendulum::FACTS.parameter_names.iter().position(|other| *other == name)?;
        direction.parameters[place] = 1.0;
    }
    directions[2].state[0] = 1.0;
    directions[3].state[1] = 1.0;
    Some(directions)
}

fn words(fit: &Fit) -> String {
    format!(
        "A length of {:.4} with a standard error of {:.4}, and a friction of {:.4} with one of {:.4}, in {} iterations.",
        fit.unknowns[0], fit.status.xerror[0], fit.unknowns[1], fit.status.xerror[1], fit.status.n_iter
    )
}

fn table(fit: &Fit) -> ResultTable {
    let row = |(place, name): (usize, &&str)| {
        let numbers = [GUESS[place], fit.unknowns[place], fit.status.xerror[place], TRUTH[place]];
        ((*name).to_owned(), numbers.to_vec())
    };
    ResultTable {
        name: "pendulum-fit".to_owned(),
        caption: "What was fitted to the first series of measurements".to_owned(),
        columns: ["unknown", "guess", "fit", "standard error", "truth"].map(str::to_owned).to_vec(),
        rows: UNKNOWNS.iter().enumerate().map(row).collect(),
    }
}

/// The angle at the end of each step of a run with these unknowns.
fn angles_of(unknowns: [f64; 4]) -> MPResult<Vec<(f64, f64)>> {
    let mut run = run(&unknowns, [])?;
    let h = INTERVAL / STEPS_PER_INTERVAL as f64;
    let mut points = vec![(0.0, run.state()[0])];
    for number in 1..=MEASUREMENTS * STEPS_PER_INTERVAL {
        run.step(&RK4, h);
        points.push((number as f64 * h, run.state()[0]));
    }
    Ok(points)
}

fn picture(fit: &Fit, exact: &[f64]) -> Result<Picture, Box<dyn Error>> {
    const MEASURED: &str = "#000000";
    let until = INTERVAL * (MEASUREMENTS + 1) as f64;
    let times = || (1..=MEASUREMENTS).map(|number| number as f64 * INTERVAL);
    let dots = |values: &[f64]| times().zip(values).map(|(time, value)| Line::dot(MEASURED, (time, *value))).collect();
    let line = |name: &str, colour, stroke, unknowns| -> Result<Line, Box<dyn Error>> {
        let points = angles_of(unknowns).map_err(|error| error.to_string())?;
        Ok(Line::named(name, colour, stroke, points))
    };
    let mut angles: Vec<Line> = dots(&fit.measured);
    angles[0] = Line::named("measured", MEASURED, Stroke::Solid, vec![(INTERVAL, fit.measured[0])]);
    angles.push(line("guess", "#E69F00", Stroke::Dashed, GUESS)?);
    angles.push(line("fit", "#0072B2", Stroke::Solid, fit.unknowns)?);
    let mut residuals: Vec<Line> = dots(&fit.status.resid);
    // The fitted angle is the measured one less its residual.
    let errors = exact.iter().zip(&fit.measured).zip(&fit.status.resid);
    let errors = errors.map(|((exact, measured), residual)| (exact - measured) / NOISE + residual);
    residuals.push(Line::guide(Some("truth"), times().zip(errors).collect()));
    let chart = |title, what, lines: Vec<Line>| {
        let values = lines.iter().flat_map(|line| line.values().collect::<Vec<_>>());
        Chart::new(title, Axis::linear("time t", (0.0, until)), Axis::around(what, values), lines)
    };
    let charts = [
        chart("Angle", "radians", angles),
        chart("Measured and true angle, minus the fitted one", "standard deviations", residuals),
    ];
    Ok(Picture {
        name: "pendulum-fit".to_owned(),
        caption: "Left: measured angles (dots), and runs with what was guessed and with what was fitted. Right: what the \
                  measured angles (dots) and the true ones are above the fitted ones, in standard deviations of the errors."
            .to_owned(),
        svg: figure::draw("A pendulum fitted to 50 measurements of its angle", 2, &charts),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fit_finds_the_truth() -> Result<(), Box<dyn Error>> {
        let fit = Fit::new(measured(&exact_angles()?, 0))?;
        for (place, name) in UNKNOWNS.iter().enumerate() {
            assert!(fit.distance(place).abs() < 3.0, "{name}: {:?} {:?}", fit.unknowns, fit.status.xerror);
        }
        Ok(())
    }

    /// Without errors of measurement, what is left is the error of RK4.
    #[test]
    fn exact_measurements_are_fitted_exactly() -> Result<(), Box<dyn Error>> {
        let fit = Fit::new(exact_angles()?)?;
        for (fitted, truth) in fit.unknowns.iter().zip(TRUTH) {
            assert!((fitted - truth).abs() < 1e-6, "{:?}", fit.unknowns);
        }
        Ok(())
    }

    #[test]
    fn derivatives_are_those_of_the_residuals() -> Result<(), Box<dyn Error>> {
        let measured = exact_angles()?;
        let mut problem = Residuals { measured: &measured };
        let mut residuals_at = |unknowns: [f64; 4]| -> Result<Vec<f64>, Box<dyn Error>> {
            let mut residuals = vec![0.0; MEASUREMENTS];
            problem.eval(&unknowns, &mut residuals).map_err(|error| error.to_string())?;
            Ok(residuals)
        };
        let mut differences = Vec::new();
        for place in 0..UNKNOWNS.len() {
            let mut moved = |step: f64| {
                let mut unknowns = GUESS;
                unknowns[place] += step;
                residuals_at(unknowns)
            };
            let (above, below) = (moved(1e-5)?, moved(-1e-5)?);
            differences.push(above.iter().zip(&below).map(|(a, b)| (a - b) / 2e-5).collect::<Vec<f64>>());
        }
        let (mut residuals, mut columns) = (vec![0.0; MEASUREMENTS], vec![Some(vec![0.0; MEASUREMENTS]); 4]);
        problem.jacobian(&GUESS, &mut residuals, &mut columns).map_err(|error| error.to_string())?;
        for (column, differences) in columns.iter().flatten().zip(&differences) {
            for (derivative, difference) in column.iter().zip(differences) {
                assert!((derivative - difference).abs() < 1e-4, "{derivative} {difference}");
            }
        }
        Ok(())
    }
}
