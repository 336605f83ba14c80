//! The energy over a million steps of Gauss's collocation: of motions without constraints, where rounding is all that changes it, and of
//! linkages, beside RATTLE and its composition of order 4. Prints tables, and writes figures and tables into the folder that is named behind
//! `--`, or into `target/long-runs`:
//!
//! ```text
//! cargo bench -p fbint-speed --bench long_runs
//! ```
//!
//! Brouwer's law says that what rounding does to the energy grows like the square root of time if no rounding is biased (HLW06 VIII.5); a
//! bias of a hundredth of a rounding in each step would be a hundred times as much in the end. One run is one random walk: shown is the
//! root mean square over several.

#![allow(missing_docs)]

#[path = "../../../fbint-runtime/benches/problems/outer_planets.rs"]
mod outer_planets;

use std::error::Error;
use std::io::stdout;
use std::path::PathBuf;

use fbint_command::figure::{self, Axis, Chart, Line, envelope};
use fbint_command::output::Replace;
use fbint_command::results::{self, Picture, ResultTable};
use fbint_command::scheme::{Contender, Scheme, Stroke};
use fbint_runtime::{
    Composition, GaussStages, GeneratedSystem, Method, Projection, Rattle, Run, Simulation, Vector, feedback_system,
};
use models::{Chain4, FourBar};
use outer_planets::{OUTER_PLANETS, ephemeris};

const STEPS: f64 = 1e6;
/// The number of steps from one sample to the next.
const STRIDE: f64 = 1e3;
/// What linkages are integrated with: their periods are about 1.
const LINKAGE_STEP: f64 = 0.01;

/// A planet that a sun attracts.
#[feedback_system(coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm())]
struct Kepler;

/// The ways of one system from several starts.
struct Walks {
    name: &'static str,
    h: f64,
    /// The root mean square of the error of the energy in units of rounding after so many steps.
    errors: Vec<(f64, f64)>,
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo bench` adds `--bench`.
    let mut arguments = std::env::args().skip(1).filter(|argument| argument != "--bench");
    let folder = PathBuf::from(
        arguments.next().unwrap_or_else(|| concat!(env!("CARGO_MANIFEST_DIR"), "/../../target/long-runs").to_owned()),
    );
    results::prepare(&folder)?;
    let walks = [kepler()?, planets()?];
    let linkages = [four_bar()?, chain()?];
    let tables = [table_of_walks(&walks), table_of_linkages(&linkages)];
    for table in &tables {
        table.print(&mut stdout().lock())?;
    }
    let figures = [picture_of_walks(&walks), picture_of_linkages(&linkages)];
    for file in results::write(&figures, &tables, &folder, None, Replace::Own)? {
        println!("written: {file}");
    }
    Ok(())
}

/// A planet on ellipses of sixteen eccentricities from 0.1 on, in 24 steps a period.
fn kepler() -> Result<Walks, Box<dyn Error>> {
    let start = |eccentricity: f64| {
        let speed = ((1.0 + eccentricity) / (1.0 - eccentricity)).sqrt();
        [1.0 - eccentricity, 0.0, 0.0, 0.0, 0.6 * speed, 0.8 * speed]
    };
    let starts: Vec<_> = (0..16).map(|number| start(0.1 + 0.01 * f64::from(number))).collect();
    walks("Kepler", &Kepler, &starts, std::f64::consts::TAU / 24.0)
}

/// Six starts, whose coordinates differ by parts in a thousand, in steps of 200 days. The centre of mass is at rest: coordinates that grow
/// with it are rounded more and more.
fn planets() -> Result<Walks, Box<dyn Error>> {
    let mass: f64 = OUTER_PLANETS.m.iter().sum();
    let mean = |which: usize, axis: usize| {
        (0..6).map(|body| OUTER_PLANETS.m[body] * ephemeris(body, which, axis)).sum::<f64>() / mass
    };
    let start = |scale: f64| {
        outer_planets::state(|body, which, axis| {
            let number = ephemeris(body, which, axis) - mean(which, axis);
            if which == 0 { scale * number } else { number }
        })
    };
    let starts: Vec<[f64; 36]> = (0..6).map(|number| start(1.0 + 1e-3 * f64::from(number))).collect();
    walks("outer planets", &OUTER_PLANETS, &starts, 200.0)
}

fn walks<S: GeneratedSystem>(
    name: &'static str,
    system: &S,
    starts: &[Vector<S>],
    h: f64,
) -> Result<Walks, Box<dyn Error>> {
    let energy = S::FACTS.integrals.iter().position(|integral| integral.name == "energy").ok_or("no energy")?;
    let mut squares: Vec<(f64, f64)> = Vec::new();
    for start in starts {
        let simulation = Simulation::new(system, *start)?.record_every(STRIDE * h);
        let run = simulation.run(Method::Gauss { stages: GaussStages::Eight, h }, STEPS * h)?;
        let rounding = f64::EPSILON * run.drift().get("energy").map_or(f64::NAN, |energy| energy.target.abs());
        squares.resize(run.trajectory().len(), (0.0, 0.0));
        for (square, sample) in squares.iter_mut().zip(run.trajectory()) {
            let error = sample.change.as_ref()[energy] / rounding;
            *square = (sample.time / h, square.1 + error.powi(2) / starts.len() as f64);
        }
    }
    Ok(Walks { name, h, errors: squares.iter().skip(1).map(|(step, square)| (*step, square.sqrt())).collect() })
}

impl Walks {
    /// The power of the number of steps with which errors grow, by least squares in logarithms over equal intervals of these.
    fn exponent(&self) -> f64 {
        let points: Vec<[f64; 2]> =
            (0..=60).filter_map(|place| self.near(10_f64.powf(3.0 + 0.05 * f64::from(place)))).collect();
        let count = points.len() as f64;
        let [x, y] = [0, 1].map(|i| points.iter().map(|point| point[i]).sum::<f64>() / count);
        let products = |i: usize| points.iter().map(|point| (point[0] - x) * (point[i] - [x, y][i])).sum::<f64>();
        products(1) / products(0)
    }

    /// The logarithms of the number of steps and of the error at the sample that is nearest.
    fn near(&self, steps: f64) -> Option<[f64; 2]> {
        let index = ((steps / STRIDE).round() as usize).checked_sub(1)?;
        self.errors.get(index).map(|(steps, error)| [steps.log10(), error.log10()])
    }

    fn end(&self) -> f64 {
        self.errors.last().map_or(f64::NAN, |(_, error)| *error)
    }
}

fn picture_of_walks(walks: &[Walks]) -> Picture {
    let charts = walks.iter().map(|walks| {
        let guide: Vec<_> = [1e3, STEPS].map(|steps: f64| (steps, (steps / STEPS).sqrt() * walks.end())).to_vec();
        let drift: Vec<_> = [1e3, STEPS].map(|steps: f64| (steps, steps / STEPS * walks.end())).to_vec();
        let lines = vec![
            Line::guide(Some("like t"), drift),
            Line::named("like sqrt(t)", "#000000", Stroke::Dashed, guide),
            Line::of(
                Contender::plain(Scheme::of(Method::Gauss { stages: GaussStages::Eight, h: 1.0 })),
                walks.errors.clone(),
            ),
        ];
        let x = Axis::decades("steps", lines.iter().flat_map(Line::arguments));
        let y = Axis::decades("|energy - its value at the start| / rounding", lines.iter().flat_map(Line::values));
        Chart::new(walks.name, x, y, lines)
    });
    Picture {
        name: "long-runs-rounding".to_owned(),
        caption:
            "The root mean square over several starts of the error of the energy, in units of the energy's rounding."
                .to_owned(),
        svg: figure::draw("Brouwer's law", 2, &charts.collect::<Vec<_>>()),
    }
}

fn table_of_walks(walks: &[Walks]) -> ResultTable {
    let row = |walks: &Walks| {
        let after = |steps: f64| walks.near(steps).map_or(f64::NAN, |[_, error]| 10_f64.powf(error));
        (walks.name.to_owned(), vec![walks.h, after(1e4), after(1e5), after(1e6), walks.exponent()])
    };
    ResultTable {
        name: "long-runs-rounding".to_owned(),
        caption: "The error of the energy in units of its rounding, root mean square over several starts".to_owned(),
        columns: ["system", "h", "1e4 steps", "1e5 steps", "1e6 steps", "power of time"].map(str::to_owned).to_vec(),
        rows: walks.iter().map(row).collect(),
    }
}

/// A linkage by one method.
struct Trial {
    contender: Contender,
    /// The error of the energy over time, in samples.
    errors: Vec<(f64, f64)>,
    /// The largest change of any constraint.
    constraints: f64,
    /// Evaluations of the field in a step.
    evaluations: f64,
}

type Linkage = (&'static str, Vec<Trial>);

fn four_bar() -> Result<Linkage, Box<dyn Error>> {
    let linkage = FourBar::default();
    Ok(("four-bar", trials(&linkage, linkage.start()?.into())?))
}

fn chain() -> Result<Linkage, Box<dyn Error>> {
    let chain = Chain4::default();
    Ok(("chain of 4 links", trials(&chain, chain.start().into())?))
}

fn trials<S: GeneratedSystem>(system: &S, start: Vector<S>) -> Result<Vec<Trial>, Box<dyn Error>> {
    let (h, composition) = (LINKAGE_STEP, Composition(Rattle::new(system)?));
    let composed = Contender::plain(Scheme::own("RATTLE, composed", "#0072B2"));
    let simulation = || {
        Ok::<_, fbint_runtime::Error>(Simulation::new(system, start)?.record_every(STRIDE * h).one_step(&composition))
    };
    let mut trials = Vec::new();
    for method in [
        Method::Rattle { h },
        Method::OneStep { h },
        Method::Gauss { stages: GaussStages::Two, h },
        Method::Gauss { stages: GaussStages::Four, h },
    ] {
        let run = simulation()?.run(method, STEPS * h)?;
        let contender = if method == (Method::OneStep { h }) { composed } else { Contender::plain(Scheme::of(method)) };
        trials.push(Trial::new(contender, &run));
    }
    let method = Method::Gauss { stages: GaussStages::Two, h };
    let run = simulation()?.projected(Projection::default()).run(method, STEPS * h)?;
    trials.push(Trial::new(Contender::with_projection(Scheme::of(method)), &run));
    Ok(trials)
}

impl Trial {
    fn new<S: GeneratedSystem>(contender: Contender, run: &Run<S>) -> Self {
        let energy = S::FACTS.integrals.iter().position(|integral| integral.name == "energy").unwrap_or(0);
        let error = |sample: &fbint_runtime::Sample<S>| (sample.time, sample.change.as_ref()[energy].abs());
        let constraints = run.drift().integrals().filter(|integral| integral.name != "energy");
        Self {
            contender,
            errors: run.trajectory().iter().map(error).collect(),
            constraints: constraints.map(|integral| integral.max).fold(0.0, f64::max),
            evaluations: run.evaluations() as f64 / STEPS,
        }
    }

    /// The largest error of the energy in the samples of the first tenth and of the last.
    fn tenths(&self) -> [f64; 2] {
        let (errors, tenth) = (&self.errors, self.errors.len() / 10);
        let largest = |points: &[(f64, f64)]| points.iter().map(|point| point.1).fold(0.0, f64::max);
        [largest(&errors[..tenth]), largest(&errors[errors.len() - tenth..])]
    }
}

fn picture_of_linkages(linkages: &[Linkage]) -> Picture {
    let line = |trial: &Trial| Line::of(trial.contender, envelope(&trial.errors));
    let panels = linkages.iter().map(|(name, trials)| (*name, trials.iter().map(line).collect())).collect();
    Picture {
        name: "long-runs-linkages".to_owned(),
        caption: "The largest error of the energy of samples in at most 400 windows.".to_owned(),
        svg: figure::over_time("Linkages, h = 0.01", 2, "time t", "|energy - its value at the start|", panels),
    }
}

fn table_of_linkages(linkages: &[Linkage]) -> ResultTable {
    let row = |name: &str, trial: &Trial| {
        let [first, last] = trial.tenths();
        let numbers = vec![first, last, trial.constraints, trial.evaluations];
        (format!("{name}, {}", trial.contender), numbers)
    };
    let columns = ["method", "first tenth", "last tenth", "constraints", "evaluations a step"];
    ResultTable {
        name: "long-runs-linkages".to_owned(),
        caption: "The largest error of the energy in the first and the last tenth of a million steps".to_owned(),
        columns: columns.map(str::to_owned).to_vec(),
        rows: linkages.iter().flat_map(|(name, trials)| trials.iter().map(|trial| row(name, trial))).collect(),
    }
}
