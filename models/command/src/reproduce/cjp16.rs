//! CJP16's examples by Euler's method with h = 1e-3 up to t = 200: the free rigid body, and Kepler's problem without and with
//! perturbation.
//!
//! Euler with feedback is compared with plain Euler, Euler with a projection onto all integrals after each step, and a symmetric
//! splitting: turns about the body axes for the rigid body, Störmer-Verlet for a planet.

use std::error::Error;

use fbint_command::catalogue::{Feedback, Sample};
use fbint_command::figure::{self, Axis, Chart, Line, envelope};
use fbint_command::results::{Picture, ResultTable};
use fbint_command::scheme::Scheme;
use fbint_runtime::{Method, StormerVerlet};
use models::TURNS;
use models::splitting::RigidBody;
use models::{FreeRigidBody, Kepler, PerturbedKepler};
use nalgebra::{Vector3, vector};

use super::result::Reproduction;
use super::trial::{self, NamedQuantity, Setting, Trial, at_most, distance, rounds_to};

const STEP: f64 = 1e-3;
const UNTIL: f64 = 200.0;
const GAIN: f64 = 50.0;
/// The gain for the perturbed Kepler problem, where a gain of 50 on the energy is too stiff for the step.
const MILD_GAIN: f64 = 10.0;
const EULER: Method = Method::Euler { h: STEP };
/// The time between samples, for figures and for quantities that are not integrals of the model.
const EVERY: f64 = 10.0 * STEP;
/// Time in units of the semi-major axis a = 1 and mu = 1 of the unperturbed orbit.
const PLANET_TIME: &str = "time t / √(a³/μ)";
const SUN: &str = "#E69F00";
/// One of this many samples is drawn in an orbit, which is smooth.
const THINNING: usize = 5;
const TOLERANCE: f64 = 1e-13;
/// Maximum change of a quantity that only rounding moves: 2e5 steps that each round entries of size 1 by up to 1.1e-16, with a random sign,
/// add up to about 5e-14, and twenty times as much never happens.
const ROUNDING: f64 = 1e-12;

/// The attitude must stay a rotation.
pub(super) fn rigid_body() -> Result<Reproduction, Box<dyn Error>> {
    let body = FreeRigidBody::default();
    let setting = Setting::of("free-rigid-body", UNTIL, EVERY)?;
    let splitting = RigidBody { inertia: body.inertia };
    let trials = [
        setting.with_feedback(EULER, Feedback::Uniform(GAIN))?,
        setting.plain(EULER)?,
        setting.with_projection(EULER)?,
        setting.by(TURNS, &splitting, STEP)?,
    ];
    let [feedback, plain, ..] = &trials;
    let quantities: [(&str, SampleFunction); 3] = [
        ("|RᵀR - 1|", &orthonormality),
        ("|dH|", &|sample| sample.change[6].abs()),
        ("|dπ|", &|sample| norm(&sample.change[7..10])),
    ];
    Ok(Reproduction {
        name: "cjp16-rigid-body",
        title: "the free rigid body of CJP16: inertia 3, 2, 1, omega = (1, 1, 1), h = 1e-3, t <= 200, k = 50",
        words: words("The attitude", "|RᵀR - 1|", &trials, &orthonormality),
        figures: vec![picture(
            "cjp16-rigid-body",
            ["Free rigid body, h = 1e-3, k = 50", "time t · ω₁(0)"],
            "RᵀR - 1 in the Frobenius norm, energy H, spatial momentum π",
            &trials,
            &quantities,
        )],
        tables: vec![table("cjp16-rigid-body", &trials, &quantities)],
        verdicts: vec![
            rounds_to(2, "Euler + feedback: |RᵀR - 1|", 9.1e-5, feedback.largest(orthonormality)),
            rounds_to(3, "Euler: |RᵀR - 1|", 1.15, plain.largest(orthonormality)),
        ],
    })
}

/// The orbit must stay the ellipse that it is.
pub(super) fn kepler() -> Result<Reproduction, Box<dyn Error>> {
    let kepler = Kepler::default();
    let setting = Setting::of("kepler", UNTIL, EVERY)?;
    // Störmer-Verlet needs a Hamiltonian, which the perturbed problem has. Both problems have equal states.
    let hamiltonian = PerturbedKepler { mu: kepler.mu, eps: 0.0 };
    let trials = [
        setting.with_feedback(EULER, Feedback::Uniform(GAIN))?,
        setting.plain(EULER)?,
        setting.with_projection(EULER)?,
        setting.by(Scheme::STORMER_VERLET, &StormerVerlet::new(&hamiltonian)?, STEP)?,
    ];
    let energy =
        |sample: &Sample| (kepler_energy(&kepler, &sample.state) - kepler_energy(&kepler, &setting.start)).abs();
    let quantities: [(&str, SampleFunction); 3] = [
        ("|dH|", &energy),
        ("|dL|", &|sample| norm(&sample.change[0..3])),
        ("|dA|", &|sample| norm(&sample.change[3..6])),
    ];
    let [feedback, plain, _, verlet] = &trials;
    Ok(Reproduction {
        name: "cjp16-kepler",
        title: "Kepler's problem of CJP16: eccentricity 0.6, h = 1e-3, t <= 200, k = 50 on L and A",
        words: words("The energy", "|dH|", &trials, &energy),
        figures: vec![
            orbits("cjp16-kepler-orbits", "Kepler's problem, h = 1e-3, k = 50", &trials),
            picture(
                "cjp16-kepler",
                ["Kepler's problem, h = 1e-3, k = 50", PLANET_TIME],
                "energy H, angular momentum L, Laplace-Runge-Lenz vector A",
                &trials,
                &quantities,
            ),
        ],
        tables: vec![table("cjp16-kepler", &trials, &quantities)],
        verdicts: vec![
            rounds_to(2, "Euler + feedback: |dH|", 4.6e-4, feedback.largest(energy)),
            rounds_to(2, "Euler: |dH|", 0.27, plain.largest(energy)),
            rounds_to(2, "Störmer-Verlet: |dH|", 3.7e-6, verlet.largest(energy)),
        ],
    })
}

/// The perihelion must advance as it should.
pub(super) fn perturbed_kepler() -> Result<Reproduction, Box<dyn Error>> {
    let kepler = PerturbedKepler::default();
    let setting = Setting::of("perturbed-kepler", UNTIL, EVERY)?;
    let trials = [
        setting.with_feedback(EULER, Feedback::Uniform(MILD_GAIN))?,
        setting.plain(EULER)?,
        setting.with_projection(EULER)?,
        setting.plain(Method::StormerVerlet { h: STEP })?,
    ];
    let energy: SampleFunction = &|sample| sample.change[0].abs();
    let momentum: SampleFunction = &|sample| norm(&sample.change[1..4]);
    let quantities: [(&str, SampleFunction); 2] = [("|dH|", energy), ("|dL|", momentum)];
    let [feedback, plain, _, verlet] = &trials;
    let strong = setting.with_feedback(EULER, Feedback::Uniform(GAIN))?.largest(energy);
    let mut words = words("The energy", "|dH|", &trials, energy);
    words.push(format!(
        "With k = {GAIN} instead of {MILD_GAIN} the energy moves by {strong:.1e}: in the perihelion h k |grad H|^2 is {:.2}, and \
         Euler's method is stable up to 2.",
        STEP * GAIN * perihelion_stiffness(&kepler)
    ));
    let title = "Perturbed Kepler problem, h = 1e-3, k = 10";
    Ok(Reproduction {
        name: "cjp16-perturbed-kepler",
        title: "the perturbed Kepler problem of CJP16: eps = 0.005, h = 1e-3, t <= 200, k = 10 on H and L",
        words,
        figures: vec![
            orbits("cjp16-perturbed-kepler-orbits", title, &trials),
            picture(
                "cjp16-perturbed-kepler",
                [title, PLANET_TIME],
                "energy H, angular momentum L",
                &trials,
                &quantities,
            ),
        ],
        tables: vec![table("cjp16-perturbed-kepler", &trials, &quantities)],
        verdicts: vec![
            at_most("DOP853 at 1e-13: distance from the advanced perihelion", 1e-9, error_at_perihelion()?),
            at_most("Euler + feedback: |dH|, against plain Euler's", plain.largest(energy), feedback.largest(energy)),
            at_most("Störmer-Verlet: |dL|", ROUNDING, verlet.largest(momentum)),
        ],
    })
}

/// |grad H|^2 at the start.
fn perihelion_stiffness(kepler: &PerturbedKepler) -> f64 {
    let start = kepler.start();
    let r = start.x.norm();
    let attraction = kepler.mu / (r * r) + 1.5 * kepler.eps / r.powi(4);
    attraction * attraction + start.v.norm_squared()
}

type SampleFunction<'a> = &'a dyn Fn(&Sample) -> f64;

/// The Frobenius norm of RᵀR - 1, whose entries below the diagonal the model keeps once.
fn orthonormality(sample: &Sample) -> f64 {
    let integrals = <FreeRigidBody as fbint_runtime::GeneratedSystem>::FACTS.integrals;
    let constraints = sample.change.iter().zip(integrals).filter(|(_, integral)| integral.kind.is_constraint());
    constraints.map(|(entry, integral)| integral.weight * entry * entry).sum::<f64>().sqrt()
}

fn norm(changes: &[f64]) -> f64 {
    changes.iter().map(|change| change * change).sum::<f64>().sqrt()
}

fn kepler_energy(kepler: &Kepler, state: &[f64]) -> f64 {
    let part = |from: usize| Vector3::from_column_slice(&state[from..from + 3]);
    0.5 * part(3).norm_squared() - kepler.mu / part(0).norm()
}

/// The distance of (x, v) from where a turn ends, by quadrature: the next perihelion, which has advanced by 6.92 degrees.
fn error_at_perihelion() -> Result<f64, Box<dyn Error>> {
    const PERIOD: f64 = 5.612_949_934_780_881;
    const ANGLE: f64 = 6.404_131_526_176_024;
    let setting = Setting::of("perturbed-kepler", PERIOD, PERIOD)?;
    let end = setting.plain(Method::Dop853 { rtol: TOLERANCE, atol: Some(TOLERANCE) })?;
    let (sin, cos) = ANGLE.sin_cos();
    let perihelion = vector![0.4 * cos, 0.4 * sin, 0.0, -2.0 * sin, 2.0 * cos, 0.0];
    Ok(distance(end.end(), perihelion.as_slice()))
}

/// Where feedback wins and loses, in words that follow from the numbers.
fn words(subject: &str, symbol: &str, trials: &[Trial; 4], quantity: SampleFunction) -> Vec<String> {
    let [feedback, plain, projection, splitting] = trials.each_ref().map(|trial| trial.largest(quantity));
    let gain = (plain / feedback).log10();
    let effect = if gain > 0.0 { format!("gains {gain:.1} digits") } else { format!("costs {:.1} digits", -gain) };
    let rival = |trial: &Trial, value: f64| {
        let outcome = if value < feedback { "better" } else { "worse" };
        format!("{}: {value:.1e}, which is {outcome} than Euler with feedback.", trial.contender)
    };
    vec![
        format!("{subject}: feedback {effect}: {symbol} reaches {feedback:.1e} with it and {plain:.1e} without."),
        rival(&trials[2], projection),
        rival(&trials[3], splitting),
    ]
}

fn table(name: &str, trials: &[Trial], quantities: &[(&str, SampleFunction)]) -> ResultTable {
    let largest: Vec<_> =
        quantities.iter().map(|&(symbol, quantity)| (symbol, move |trial: &Trial| trial.largest(quantity))).collect();
    let columns: Vec<NamedQuantity<'_>> =
        largest.iter().map(|(symbol, largest)| (*symbol, largest as &dyn Fn(&Trial) -> f64)).collect();
    trial::table(name, "Largest values over all samples, one every 10 steps", trials, &columns)
}

/// Each quantity over time, by every method.
fn picture(
    name: &str,
    [title, time]: [&str; 2],
    symbols: &str,
    trials: &[Trial],
    quantities: &[(&str, SampleFunction)],
) -> Picture {
    let line = |trial: &Trial, quantity: SampleFunction| {
        let points: Vec<_> = trial.trajectory.iter().map(|sample| (sample.time, quantity(sample))).collect();
        Line::of(trial.contender, envelope(&points))
    };
    let panels = quantities
        .iter()
        .map(|&(symbol, quantity)| (symbol, trials.iter().map(|trial| line(trial, quantity)).collect()))
        .collect();
    Picture {
        name: name.to_owned(),
        caption: format!("Changes over time, the largest value in each of some 400 windows of time: {symbols}."),
        svg: figure::over_time(title, 2, time, "|change|", panels),
    }
}

/// Each method's orbit from above.
fn orbits(name: &str, title: &str, trials: &[Trial]) -> Picture {
    let reach =
        trials.iter().map(|trial| trial.largest(|sample| sample.state[0].hypot(sample.state[1]))).fold(0.0, f64::max);
    let charts = trials.iter().map(|trial| {
        let samples = trial.trajectory.iter().step_by(THINNING);
        let points = samples.map(|sample| (sample.state[0], sample.state[1])).collect();
        let axis = |label| Axis::linear(label, (-1.05 * reach, 1.05 * reach));
        let line = Line::path(trial.contender, points);
        let mut chart = Chart::new(
            &trial.contender.to_string(),
            axis("x[0]"),
            axis("x[1]"),
            vec![line, Line::dot(SUN, (0.0, 0.0))],
        );
        chart.is_map = true;
        chart
    });
    Picture {
        name: name.to_owned(),
        caption: "The orbit over t <= 200 around the sun, the orange dot.".to_owned(),
        svg: figure::draw(title, 2, &charts.collect::<Vec<_>>()),
    }
}
