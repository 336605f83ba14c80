//! Compares default runs with plain runs, and both with the truth.

use std::fmt::Write;

use fbint_runtime::{Entries, Error, FeedbackSystem, Integrator, Method, PlainField, Simulation, Tolerance, Vector};
use nalgebra::DVector;

/// Maximum ratio of an error to the error without feedback, and what rounding may add in units of the group's size.
const ALLOWED: f64 = 1.2;
const ROUNDING: f64 = 1e-12;
/// A group counts where the run without feedback is off by less than this, in units of its size.
const RESOLVED: f64 = 0.1;
/// What loses nonetheless, by case and method, and the ratio that no group of it exceeds; BENCHMARKS.md says why.
const LOSING: [(&str, &str, f64); 24] = [
    // Where plain steps follow the motion by a luck that any change disturbs: their errors of two orders in h cancel.
    ("figure of eight", "Heun", 1.5),
    ("double pendulum 1:1", "Heun", 9.0),
    ("double pendulum 1:1", "RK4", 9.0),
    ("double pendulum 1:1", "DOP853", 4.0),
    ("double pendulum 1:0.01", "midpoint", 3.5),
    ("double pendulum 1:0.01", "DOP853", 2.0),
    ("Cartesian double pendulum 1:1", "midpoint", 5.0),
    ("Cartesian double pendulum 1:1", "Heun", 3.0),
    ("Cartesian double pendulum 1:1", "RK4", 2.0),
    ("Cartesian double pendulum 1:1", "DP5(4)", 2.0),
    ("Cartesian double pendulum 1:1", "DOP853", 2.0),
    ("Cartesian double pendulum 1:0.01", "midpoint", 5.0),
    ("Cartesian double pendulum 1:0.01", "Heun", 1.5),
    ("Cartesian double pendulum 1:0.01", "RK4", 10.0),
    ("Cartesian double pendulum 1:0.01", "DP5(4)", 4.0),
    ("driven pendulum", "midpoint", 3.0),
    ("Henon-Heiles 1/12", "RK4", 1.4),
    // Where one body errs by very much less than others, and by less than its estimate says: Pluto, the sun, a moon that takes
    // on what the energy says of its planet.
    ("outer solar system, P, L", "RK4", 5.0),
    ("outer solar system, P, L", "DOP853", 3.0),
    ("sun, earth, moon", "midpoint", 9.0),
    ("sun, earth, moon", "Heun", 7.0),
    ("sun, earth, moon", "DP5(4)", 1.7),
    ("sun, earth, moon", "DOP853", 12.0),
    // Where linear invariants are not declared, which plain steps keep.
    ("rigid water", "Euler", 3.0),
];

const BENCHMARKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../BENCHMARKS.md");

/// A ratio as BENCHMARKS.md shows it, with one or two digits.
fn short(ratio: f64) -> String {
    match ratio {
        _ if ratio >= 0.995 => format!("{ratio:.1}"),
        _ if ratio >= 0.0995 => format!("{ratio:.2}"),
        _ if ratio >= 0.00995 => format!("{ratio:.3}"),
        _ => format!("{ratio:.0e}"),
    }
}

/// Whether the numbers of two rows agree within a fifth: another processor may round differently, and a ratio has few digits.
fn agree(written: &str, computed: &str) -> bool {
    let numbers = |row: &str| -> Vec<f64> {
        let numbers = row.rsplit(" | ").take(6).flat_map(|cell| cell.split(", ").collect::<Vec<_>>());
        numbers.map(|number| number.trim_matches(['*', '|', ' ', '\n']).parse().unwrap_or(f64::MAX)).collect()
    };
    let (written, computed) = (numbers(written), numbers(computed));
    let close = |(a, b): (&f64, &f64)| (a - b).abs() <= 0.2 * a.max(*b);
    written.len() == computed.len() && written.iter().zip(&computed).all(close)
}

fn allowed(case: &str, method: &str) -> f64 {
    let loser = LOSING.iter().find(|(name, by, _)| *name == case && *by == method);
    loser.map_or(ALLOWED, |(_, _, ratio)| *ratio)
}

/// The tolerance of the truth, and a larger one that shows how far it is to be trusted.
const TRUTH: [f64; 2] = [1e-13, 3e-13];

/// Entries of the state that are measured together.
pub(crate) struct Group {
    name: String,
    entries: Vec<usize>,
    /// What errors are compared with, unless it is the largest norm on the way.
    size: Option<f64>,
}

impl Group {
    pub(crate) fn new(name: &str, entries: Vec<usize>) -> Self {
        Self { name: name.into(), entries, size: None }
    }

    /// A group for each variable and for each column of a matrix, which is a body.
    pub(crate) fn of_system<S: FeedbackSystem>() -> Vec<Self> {
        let mut groups: Vec<Self> = Vec::new();
        for (entry, name) in S::STATE.iter().map(|entry| entry.name).enumerate() {
            let (variable, index) = name.split_once('[').unwrap_or((name, ""));
            let column = index.split_once(',').map_or("", |(_, column)| column.trim().trim_end_matches(")]"));
            let name = format!("{variable}{column}");
            match groups.iter_mut().find(|group| group.name == name) {
                Some(group) => group.entries.push(entry),
                None => groups.push(Self::new(&name, vec![entry])),
            }
        }
        groups
    }

    /// This group with errors compared with `size`.
    pub(crate) fn of_size(self, size: f64) -> Self {
        Self { size: Some(size), ..self }
    }

    pub(crate) fn is_named(&self, name: &str) -> bool {
        self.name == name
    }

    fn of(&self, state: &DVector<f64>) -> DVector<f64> {
        DVector::from_iterator(self.entries.len(), self.entries.iter().map(|&entry| state[entry]))
    }

    /// The largest distance of two trajectories.
    fn distance(&self, one: &[DVector<f64>], other: &[DVector<f64>]) -> f64 {
        assert_eq!(one.len(), other.len());
        let distances = one.iter().zip(other).map(|(one, other)| self.of(&(one - other)).norm());
        distances
            .fold(0.0, |largest, distance| if distance > largest || distance.is_nan() { distance } else { largest })
    }

    fn size(&self, truth: &[DVector<f64>]) -> f64 {
        self.size.unwrap_or_else(|| truth.iter().map(|state| self.of(state).norm()).fold(0.0, f64::max))
    }
}

/// Steps and tolerances of the methods. Every step divides the interval between samples.
pub(crate) struct Ladder {
    pub(crate) euler: [f64; 3],
    /// Of the midpoint rule and of Heun's method.
    pub(crate) second_order: [f64; 3],
    pub(crate) rk4: [f64; 3],
    pub(crate) tolerances: [f64; 3],
    /// The absolute tolerance in units of the relative one; 1 suits variables of order 1.
    pub(crate) smallest: f64,
}

impl Ladder {
    fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();
        methods.extend(self.euler.map(|h| Method::Euler { h }));
        methods.extend(self.second_order.map(|h| Method::Midpoint { h }));
        methods.extend(self.second_order.map(|h| Method::Heun { h }));
        methods.extend(self.rk4.map(|h| Method::Rk4 { h }));
        methods.extend(self.tolerances.map(|rtol| Method::DormandPrince { rtol, atol: rtol * self.smallest }));
        methods.extend(self.tolerances.map(|rtol| Method::Dop853 { rtol, atol: rtol * self.smallest }));
        methods
    }
}

/// A quantity that is conserved, but not declared.
pub(crate) struct Undeclared {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&DVector<f64>) -> DVector<f64>,
}

/// A motion to be integrated.
pub(crate) struct Case {
    pub(crate) name: &'static str,
    pub(crate) until: f64,
    /// The time between samples.
    pub(crate) interval: f64,
    pub(crate) groups: Vec<Group>,
    pub(crate) ladder: Ladder,
    pub(crate) undeclared: Vec<Undeclared>,
}

/// What a run left behind.
struct Course {
    states: Vec<DVector<f64>>,
    /// The largest change of each integral.
    drift: Vec<f64>,
    names: Vec<&'static str>,
}

/// A group of a case by one method with one step.
struct Comparison {
    method: &'static str,
    step: f64,
    group: String,
    plain: f64,
    default: f64,
    size: f64,
    /// What rounding and an uncertain truth leave undecided.
    floor: f64,
}

impl Comparison {
    fn counts(&self) -> bool {
        self.plain < RESOLVED * self.size
    }

    /// At most [`ALLOWED`] where nothing is lost.
    fn ratio(&self) -> f64 {
        self.default / (self.plain + self.floor / ALLOWED)
    }

    fn is_lost(&self, allowed: f64) -> bool {
        let is_no_worse = self.ratio() <= allowed;
        self.counts() && !is_no_worse
    }
}

impl Case {
    /// Compares, prints the figures, and asserts that nothing is lost.
    pub(crate) fn assert_no_worse<S: FeedbackSystem>(&self, model: &S, start: Vector<S>) -> Result<(), Error> {
        let [truth, coarser] = TRUTH.map(|rtol| self.truth(model, start, rtol));
        let mut out = String::new();
        let mut losses = Vec::new();
        let mut comparisons = Vec::new();
        for method in self.ladder.methods() {
            let (label, step) = label(&method);
            let plain = self.course(Simulation::new(model, start)?.without_feedback(), method);
            let default = self.course(Simulation::new(model, start)?, method);
            let Ok(plain) = plain else {
                let default = if default.is_ok() { "passes" } else { "fails" };
                _ = writeln!(out, "{} | {label} {step:e} | plain fails, default {default}", self.name);
                continue;
            };
            let default = match default {
                Ok(default) => default,
                Err(error) => {
                    losses.push(format!("{label} {step:e}: plain passes, default fails: {error}"));
                    continue;
                }
            };
            for group in &self.groups {
                let size = group.size(&truth);
                comparisons.push(Comparison {
                    method: label,
                    step,
                    group: group.name.clone(),
                    plain: group.distance(&plain.states, &truth),
                    default: group.distance(&default.states, &truth),
                    size,
                    floor: ROUNDING * size + group.distance(&coarser, &truth),
                });
            }
            for (name, plain, default) in self.drifts(&plain, &default) {
                _ = writeln!(out, "{} | {label} {step:e} | drift of {name} | {plain:.1e} | {default:.1e}", self.name);
            }
        }
        for it in &comparisons {
            let Comparison { method, step, group, plain, default, size, floor } = it;
            let ratio = if it.counts() { format!("{:.2e}", it.ratio()) } else { "unresolved".into() };
            _ = writeln!(
                out,
                "{} | {method} {step:e} | error of {group} | {plain:.1e} | {default:.1e} | size {size:.1e} | floor {floor:.1e} | {ratio}",
                self.name,
            );
            if it.is_lost(allowed(self.name, method)) {
                losses.push(format!(
                    "{method} {step:e}, {group}: {plain:.2e} without feedback, {default:.2e} as it comes"
                ));
            }
        }
        let row = self.summarise(&mut comparisons, &mut out);
        for (_, method, _) in LOSING.iter().filter(|(case, ..)| *case == self.name) {
            let loses = comparisons.iter().any(|it| it.method == *method && it.is_lost(ALLOWED));
            assert!(loses, "{} by {method} loses no longer: take it off the list", self.name);
        }
        print!("{out}{row}");
        assert!(losses.is_empty(), "{} loses {} times:\n{}", self.name, losses.len(), losses.join("\n"));
        let benchmarks = std::fs::read_to_string(BENCHMARKS).expect("BENCHMARKS.md is at the root of the repository");
        let section = benchmarks.split("### Cases that hurt").nth(1).expect("BENCHMARKS.md has the section");
        let begin = format!("| {} |", self.name);
        let written = section.lines().find(|line| line.starts_with(&begin)).unwrap_or_default();
        assert!(agree(written, &row), "BENCHMARKS.md, cases that hurt, has the row\n{written}\nand not\n{row}");
        Ok(())
    }

    /// Prints a line for each method with the median of the ratios and the worst ratio, and returns the row of BENCHMARKS.md.
    fn summarise(&self, comparisons: &mut [Comparison], out: &mut String) -> String {
        comparisons.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
        let mut row = format!("| {} |", self.name);
        for method in ["Euler", "midpoint", "Heun", "RK4", "DP5(4)", "DOP853"] {
            let of_method = |it: &&Comparison| it.method == method;
            let counted: Vec<_> = comparisons.iter().filter(of_method).filter(|it| it.counts()).collect();
            let all = comparisons.iter().filter(of_method).count();
            _ = match counted.last() {
                Some(worst) => writeln!(
                    out,
                    "summary | {} | {method} | {} of {all} | median {:.2e} | worst {:.2e} | {} {:e}",
                    self.name,
                    counted.len(),
                    counted[counted.len() / 2].ratio(),
                    worst.ratio(),
                    worst.group,
                    worst.step,
                ),
                None => writeln!(out, "summary | {} | {method} | 0 of {all}", self.name),
            };
            row += &match counted.last() {
                Some(worst) => {
                    let (median, bold) =
                        (counted[counted.len() / 2].ratio(), if worst.is_lost(ALLOWED) { "**" } else { "" });
                    format!(" {}, {bold}{}{bold} |", short(median), short(worst.ratio()))
                }
                None => " unresolved |".to_owned(),
            };
        }
        row + "\n"
    }

    /// The largest changes without feedback and as it comes: of the declared integrals the one that changes most as it comes,
    /// and those that are not declared.
    fn drifts(&self, plain: &Course, default: &Course) -> Vec<(&'static str, f64, f64)> {
        let declared = plain.names.iter().zip(&plain.drift).zip(&default.drift);
        let declared = declared.map(|((name, plain), default)| (*name, *plain, *default));
        let largest = declared.max_by(|one, other| one.2.total_cmp(&other.2));
        let undeclared = self.undeclared.iter().map(|it| {
            let change = |course: &Course| {
                let start = (it.of)(&course.states[0]);
                course.states.iter().map(|state| ((it.of)(state) - &start).norm()).fold(0.0, f64::max)
            };
            (it.name, change(plain), change(default))
        });
        largest.into_iter().chain(undeclared).collect()
    }

    fn course<S: FeedbackSystem>(&self, simulation: Simulation<'_, S>, method: Method) -> Result<Course, Error> {
        let run = simulation.record_every(self.interval).run(method, self.until)?;
        for (index, sample) in run.trajectory().iter().enumerate() {
            let (time, expected) = (sample.time, index as f64 * self.interval);
            assert!((time - expected).abs() <= 1e-9 * self.until, "{method:?}: a sample at {time}, not {expected}");
        }
        Ok(Course {
            states: run.trajectory().iter().map(|sample| flat(&sample.state)).collect(),
            drift: run.drift().integrals().map(|integral| integral.max).collect(),
            names: S::INTEGRALS.iter().map(|integral| integral.name).collect(),
        })
    }

    /// The states at the samples, the start among them.
    fn truth<S: FeedbackSystem>(&self, model: &S, start: Vector<S>, rtol: f64) -> Vec<DVector<f64>> {
        let field = PlainField::new(model);
        let tolerance = Tolerance::new(rtol, rtol * self.ladder.smallest).expect("both are positive");
        let mut integrator = Integrator::dop853(&field, start, tolerance);
        let samples = (self.until / self.interval).round() as u32;
        let states = (0..=samples).map(|sample| {
            integrator.advance_to(f64::from(sample) * self.interval).expect("the truth exists");
            flat(integrator.state())
        });
        states.collect()
    }
}

fn flat<V: Entries<f64>>(state: &V) -> DVector<f64> {
    DVector::from_column_slice(state.as_ref())
}

fn label(method: &Method) -> (&'static str, f64) {
    match *method {
        Method::Euler { h } => ("Euler", h),
        Method::Midpoint { h } => ("midpoint", h),
        Method::Heun { h } => ("Heun", h),
        Method::Rk4 { h } => ("RK4", h),
        Method::DiscreteHamel { h } => ("discrete Hamel", h),
        Method::DormandPrince { rtol, .. } => ("DP5(4)", rtol),
        Method::Dop853 { rtol, .. } => ("DOP853", rtol),
    }
}

/// A change of units: an entry of the state is multiplied by the unit to this power.
pub(crate) struct Units<S: FeedbackSystem> {
    pub(crate) name: &'static str,
    pub(crate) powers: Vector<S, i32>,
    pub(crate) until: f64,
    pub(crate) methods: Vec<Method>,
}

/// Trajectories in other units may differ by so much, in units of the largest norm of a group: rounding, amplified by the motion.
const SAME: f64 = 1e-10;

impl<S: FeedbackSystem> Units<S> {
    /// Asserts that the trajectory is the same in every unit, for a power of two and another.
    pub(crate) fn assert_do_not_matter(&self, model: impl Fn(f64) -> S, start: Vector<S>) -> Result<(), Error> {
        let groups = Group::of_system::<S>();
        let mut out = String::new();
        let mut losses = Vec::new();
        for method in &self.methods {
            let (label, step) = label(method);
            let usual = self.trajectories(&model(1.0), start, 1.0, *method)?;
            for unit in [f64::from(1 << 20), 1e6] {
                let other = match self.trajectories(&model(unit), start, unit, *method) {
                    Ok(other) => other,
                    Err(error) => {
                        losses.push(format!("{label} {step:e} with 1 / {unit}: {error}"));
                        continue;
                    }
                };
                for group in &groups {
                    let difference =
                        |which: usize| group.distance(&usual[which], &other[which]) / group.size(&usual[which]);
                    let line = format!(
                        "{} | {label} {step:e} | {} with 1 / {unit} | {:.1e} | {:.1e}",
                        self.name,
                        group.name,
                        difference(0),
                        difference(1),
                    );
                    _ = writeln!(out, "units | {line}");
                    let is_same = difference(1) <= SAME;
                    if !is_same {
                        losses.push(line);
                    }
                }
            }
        }
        print!("{out}");
        assert!(losses.is_empty(), "units matter:\n{}", losses.join("\n"));
        Ok(())
    }

    /// Without feedback and as it comes, in the usual units.
    fn trajectories(
        &self,
        model: &S,
        start: Vector<S>,
        unit: f64,
        method: Method,
    ) -> Result<[Vec<DVector<f64>>; 2], Error> {
        let scale = Vector::<S>::from_fn(|i| unit.powi(self.powers[i]));
        let start = Vector::<S>::from_fn(|i| start[i] * scale[i]);
        let simulation = || Ok::<_, Error>(Simulation::new(model, start)?.record_every(self.until / 20.0));
        let plain = simulation()?.without_feedback().run(method, self.until)?;
        let runs = [plain, simulation()?.run(method, self.until)?];
        let usual = |state: &Vector<S>| flat(state).component_div(&flat(&scale));
        Ok(runs.map(|run| run.trajectory().iter().map(|sample| usual(&sample.state)).collect()))
    }
}
