//! The examples of D. Zenkov, *Hamel's formalism and variational integrators* (2014), by the discrete Hamel integrator: the planar
//! pendulum in redundant coordinates, the spherical pendulum as a degenerate rigid body, and the balanced Chaplygin sleigh.
//!
//! The slides give neither steps nor starts; h = 0.1 over 10,000 steps shows what is exact, and h = 0.01 until t = 50 how large
//! errors are. The numbers that are expected were computed independently.

use std::error::Error;

use fbint_command::catalogue::Feedback;
use fbint_command::figure::{self, Axis, Chart, Line, drift_of};
use fbint_command::results::{Picture, ResultTable};
use fbint_command::scheme::Stroke;
use fbint_runtime::Method;

use super::result::{Reproduction, Rule, Verdict};
use super::trial::{self, NamedQuantity, Setting, Trial, at_least, at_most, distance, within_one_percent};

const LONG_STEP: f64 = 0.1;
const LONG: f64 = 1000.0;
const SHORT_STEP: f64 = 0.01;
const SHORT: f64 = 50.0;
/// The gain of the feedback, with which both steps are stable.
const GAIN: f64 = 1.0;
/// The limit on the motion of an exact quantity by rounding over 10,000 steps.
const ROUNDING: f64 = 1e-14;
const TIME: &str = "time t · √(g/l)";

/// The three systems.
pub(super) fn z14() -> Result<Reproduction, Box<dyn Error>> {
    let (pendulum, body) = (LongAndShortTrials::of("hamel-pendulum")?, LongAndShortTrials::of("degenerate-pendulum")?);
    let sleigh = Sleigh::new()?;
    Ok(Reproduction {
        name: "z14",
        title: "Hamel's formalism: pendulums without multipliers and the balanced sleigh, h = 0.1 over 10,000 steps",
        words: [pendulum.words("planar pendulum"), body.words("degenerate rigid body"), sleigh.words()].concat(),
        figures: vec![
            pendulum.picture(
                "z14-pendulum",
                "Planar pendulum in redundant coordinates, h = 0.1",
                &["length", "energy"],
            ),
            body.picture(
                "z14-degenerate",
                "Spherical pendulum as a degenerate rigid body, h = 0.1",
                &["length", "energy", "vertical_momentum"],
            ),
            sleigh.picture(),
        ],
        tables: vec![
            pendulum.table("z14-pendulum", &["length", "energy"]),
            body.table("z14-degenerate", &["length", "energy", "vertical_momentum"]),
            sleigh.table(),
        ],
        verdicts: [
            vec![
                at_most("planar pendulum, discrete Hamel: |d length|", ROUNDING, pendulum.hamel().max("length")),
                within_one_percent(
                    "planar pendulum, discrete Hamel: |dE|, O(h^2) in this frame",
                    2.5e-3,
                    pendulum.hamel().max("energy"),
                ),
            ],
            ["length", "energy", "vertical_momentum"]
                .map(|name| {
                    let what = format!("degenerate rigid body, discrete Hamel: |d {name}|");
                    at_most(what, ROUNDING, body.hamel().max(name))
                })
                .to_vec(),
            sleigh.verdicts(),
            vec![pendulum.digits("planar pendulum", 1.0), body.digits("degenerate rigid body", 1.0)],
        ]
        .concat(),
    })
}

/// One system by several methods: long with a long step, and short with a short one.
struct LongAndShortTrials {
    long: Vec<Trial>,
    /// The distances from the exact end, in the order of the methods.
    errors: Vec<f64>,
}

impl LongAndShortTrials {
    fn of(model: &'static str) -> Result<Self, Box<dyn Error>> {
        let long = by_all_methods(&Setting::of(model, LONG, LONG_STEP)?, LONG_STEP)?;
        let setting = Setting::of(model, SHORT, SHORT)?;
        let exact = setting.plain(Method::Dop853 { rtol: 1e-13, atol: Some(1e-13) })?;
        let short = by_all_methods(&setting, SHORT_STEP)?;
        let errors = short.iter().map(|trial| distance(trial.end(), exact.end())).collect();
        Ok(Self { long, errors })
    }

    fn hamel(&self) -> &Trial {
        &self.long[0]
    }

    fn table(&self, name: &str, integrals: &[&str]) -> ResultTable {
        let largest: Vec<_> =
            integrals.iter().map(|name| (format!("|d {name}|"), move |trial: &Trial| trial.max(name))).collect();
        let error = |trial: &Trial| {
            let place = self.long.iter().position(|other| other.contender == trial.contender);
            place.map_or(f64::NAN, |place| self.errors[place])
        };
        let columns: Vec<NamedQuantity<'_>> = largest
            .iter()
            .map(|(symbol, largest)| (symbol.as_str(), largest as &dyn Fn(&Trial) -> f64))
            .chain([("error at t = 50, h = 0.01", &error as &dyn Fn(&Trial) -> f64)])
            .collect();
        trial::table(
            name,
            "Largest changes over 10,000 steps of 0.1, and the error of a shorter run",
            &self.long,
            &columns,
        )
    }

    fn picture(&self, name: &str, title: &str, integrals: &[&str]) -> Picture {
        let curves: Vec<_> = self.long.iter().map(Trial::curve).collect();
        let place = |name: &str| self.long[0].drift.iter().position(|integral| integral.name == name).unwrap_or(0);
        let panels = integrals.iter().map(|name| (*name, drift_of(place(name), &curves))).collect();
        Picture {
            name: name.to_owned(),
            caption:
                "Changes of the integrals over 10,000 steps, the largest value in each of some 400 windows of time."
                    .to_owned(),
            svg: figure::over_time(title, 2, TIME, "|change|", panels),
        }
    }

    fn words(&self, system: &str) -> Vec<String> {
        let [hamel, rk4] = [self.errors[0], self.errors[1]];
        vec![format!(
            "The {system} at t = {SHORT}, h = {SHORT_STEP}: the classical Runge-Kutta method is off by {rk4:.1e}, the discrete Hamel \
             integrator, of order 2, by {hamel:.1e}, {:.0} digits more. It is for structure: what it keeps at any step.",
            (hamel / rk4).log10()
        )]
    }

    /// By how many digits RK4 is more accurate than the discrete Hamel integrator at one step.
    fn digits(&self, system: &str, slack: f64) -> Verdict {
        let gained = (self.errors[0] / self.errors[1]).log10();
        at_least(format!("{system}: digits by which RK4 is more accurate at one step"), 5.0 - slack, gained)
    }
}

fn by_all_methods(setting: &Setting, h: f64) -> Result<Vec<Trial>, Box<dyn Error>> {
    let rk4 = Method::Rk4 { h };
    Ok(vec![
        setting.plain(Method::DiscreteHamel { h })?,
        setting.plain(rk4)?,
        setting.with_projection(rk4)?,
        setting.with_feedback(rk4, Feedback::Uniform(GAIN))?,
    ])
}

/// The balanced sleigh with speed and rate 1, whose circle has the radius 1.
struct Sleigh {
    hamel: Trial,
    /// In the rates of the coordinates, with the reaction of the blade.
    held: Vec<Trial>,
    /// The nodes of the d'Alembert integrator.
    spiral: Vec<[f64; 2]>,
}

impl Sleigh {
    fn new() -> Result<Self, Box<dyn Error>> {
        let balanced = Setting::of("balanced-sleigh", LONG, LONG_STEP)?;
        let mut held = Setting::of("held-sleigh", LONG, LONG_STEP)?;
        let names: Vec<String> = held.model.parameters().iter().map(|(name, _)| (*name).to_owned()).collect();
        for (name, value) in [("m", 1.0), ("j", 1.0), ("a", 0.0)] {
            let index =
                names.iter().position(|other| other == name).ok_or("the sleigh has mass, inertia and a distance")?;
            held.model.set_parameter(index, value);
        }
        held.start = vec![0.0, 0.0, 0.0, 1.0, 0.0, 1.0];
        let rk4 = Method::Rk4 { h: LONG_STEP };
        Ok(Self {
            hamel: balanced.plain(Method::DiscreteHamel { h: LONG_STEP })?,
            held: vec![held.plain(rk4)?, held.with_projection(rk4)?, held.with_feedback(rk4, Feedback::Uniform(GAIN))?],
            spiral: spiral(LONG_STEP, (LONG / LONG_STEP) as usize),
        })
    }

    /// The radius of the circle on which the nodes of the discrete Hamel integrator lie: h / (2 sin(h / 2)).
    fn radius() -> f64 {
        LONG_STEP / (2.0 * (LONG_STEP / 2.0).sin())
    }

    /// The largest distance of a node from the circle about (0, radius).
    fn off_the_circle(&self) -> f64 {
        let radius = Self::radius();
        self.hamel.largest(|sample| (sample.state[0].hypot(sample.state[1] - radius) - radius).abs())
    }

    fn path(&self) -> f64 {
        self.spiral.windows(2).map(|pair| distance(&pair[0], &pair[1])).sum()
    }

    /// The speed over the rate, at the end.
    fn radius_at_the_end(trial: &Trial) -> f64 {
        let end = trial.end();
        end[3].hypot(end[4]) / end[5]
    }

    fn verdicts(&self) -> Vec<Verdict> {
        let exact =
            |what: &str, obtained: f64| at_most(format!("balanced sleigh, discrete Hamel: {what}"), 0.0, obtained);
        vec![
            exact("|d speed|", self.hamel.max("speed")),
            exact("|d rate|", self.hamel.max("turning")),
            at_most("balanced sleigh, discrete Hamel: distance of nodes from the circle", 1e-11, self.off_the_circle()),
            Verdict {
                what: "balanced sleigh, d'Alembert with the constraint at the left end: path until rest".to_owned(),
                expected: LONG_STEP / (1.0 - LONG_STEP.cos()),
                obtained: self.path(),
                rule: Rule::Within(1e-9),
            },
            within_one_percent(
                "balanced sleigh, RK4 with the reaction: radius at the end",
                0.612,
                Self::radius_at_the_end(&self.held[0]),
            ),
        ]
    }

    fn words(&self) -> Vec<String> {
        let [plain, projected, feedback] = [0, 1, 2].map(|place| Self::radius_at_the_end(&self.held[place]));
        vec![format!(
            "The balanced sleigh after 159 turns: the circle of the discrete Hamel integrator has the radius {:.6}. RK4 with the reaction of \
             the blade ends on one of {plain:.3}, with projection {projected:.6}, with feedback {feedback:.6}; the d'Alembert integrator with \
             the constraint at the left end comes to rest after a path of {:.3}.",
            Self::radius(),
            self.path()
        )]
    }

    fn table(&self) -> ResultTable {
        let row = |trial: &Trial, radius: f64| (trial.contender.to_string(), vec![radius, trial.max("energy")]);
        let mut rows = vec![row(&self.hamel, Self::radius())];
        rows.extend(self.held.iter().map(|trial| row(trial, Self::radius_at_the_end(trial))));
        rows.push(("d'Alembert, constraint at the left end".to_owned(), vec![0.0, f64::NAN]));
        ResultTable {
            name: "z14-sleigh".to_owned(),
            caption: "The balanced sleigh after 10,000 steps of 0.1: the radius of its circle, and the largest change of its energy".to_owned(),
            columns: ["method", "radius", "|dE|"].map(str::to_owned).to_vec(),
            rows,
        }
    }

    fn picture(&self) -> Picture {
        let path = |trial: &Trial| trial.trajectory.iter().map(|sample| (sample.state[0], sample.state[1])).collect();
        let map = |title: &str, line: Line| {
            let axis = |label, range| Axis::linear(label, range);
            let mut chart = Chart::new(title, axis("x", (-1.3, 1.3)), axis("y", (-0.3, 2.3)), vec![line]);
            chart.is_map = true;
            chart
        };
        let of = |trial: &Trial, title: &str| map(title, Line::path(trial.contender, path(trial)));
        let spiral = self.spiral.iter().map(|[x, y]| (*x, *y)).collect();
        let charts = [
            of(&self.hamel, "discrete Hamel"),
            map("d'Alembert, constraint at the left end", Line::named("d'Alembert", "#0072B2", Stroke::Thin, spiral)),
            of(&self.held[0], "RK4 with the reaction"),
            of(&self.held[1], "RK4 with the reaction, projected"),
        ];
        Picture {
            name: "z14-sleigh".to_owned(),
            caption: "The path of the balanced sleigh over 10,000 steps of 0.1, 159 turns, from the origin.".to_owned(),
            svg: figure::draw("Balanced sleigh, speed and rate 1, h = 0.1", 2, &charts),
        }
    }
}

/// The discrete Lagrange-d'Alembert integrator of Cortés and Martínez (2001) with the constraint at the left end: each chord is the
/// one before, projected onto the blade where it begins.
fn spiral(h: f64, steps: usize) -> Vec<[f64; 2]> {
    let (mut node, mut length, mut theta) = ([0.0, 0.0], h, 0.0_f64);
    let mut nodes = vec![node];
    for _ in 0..steps {
        node = [node[0] + length * theta.cos(), node[1] + length * theta.sin()];
        nodes.push(node);
        theta += h;
        length *= h.cos();
    }
    nodes
}

#[cfg(test)]
mod tests {
    use fbint_command::scheme::{Contender, Scheme};

    use super::*;

    #[test]
    fn the_spiral_ends_where_it_must() {
        let nodes = spiral(LONG_STEP, 10_000);
        let end = nodes[nodes.len() - 1];
        assert!(distance(&end, &[0.1, 0.996_66]) < 1e-5, "{end:?}");
        assert_eq!(Contender::plain(Scheme::of(Method::DiscreteHamel { h: 1.0 })).to_string(), "discrete Hamel");
    }
}
