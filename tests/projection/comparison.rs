//! Compares default runs with plain runs, and both with the truth.

use std::fmt::Write;
use std::sync::Arc;

use catalogue::comparison::{Group, Motion, RecordedRun};
use fbint_catalogue::{
    AnyModel, Controller, Entry, FlatFunctions, FlatModel, FlatSignal, generated_functions, prepared_numbers,
};
use fbint_runtime::{DrivenSystem, Error, GeneratedSystem, Method, Signal, SystemFacts};
use fbint_tests::is_thorough;
use nalgebra::Vector3;

/// Maximum ratio of an error to the error without feedback, and what rounding may add in units of the group's size.
pub(crate) const ALLOWED: f64 = 1.2;
const ROUNDING: f64 = 1e-12;
/// What rounding adds to the largest change of an integral.
pub(crate) const ROUNDING_OF_DRIFT: f64 = 1e-13;
/// Where steps do not resolve an oscillation, a projection may leave more than it finds.
const DRIFTING: (&str, &str) = ("light cart", "RK4");
/// A group counts where the run without feedback is off by less than this, in units of its size.
const RESOLVED: f64 = 0.1;
/// What loses nonetheless, by case and method, and the ratio that no group of it exceeds; BENCHMARKS.md says why.
const LOSING: [(&str, &str, f64); 29] = [
    // Where plain steps follow the motion by a luck that any change disturbs: their errors of two orders in h cancel.
    ("figure of eight", "Heun", 1.5),
    ("double pendulum 1:1", "Heun", 9.0),
    ("double pendulum 1:1", "RK4", 9.0),
    ("double pendulum 1:0.01", "midpoint", 3.5),
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
    ("outer solar system, P, L", "Heun", 2.0),
    ("outer solar system, P, L", "RK4", 5.0),
    ("outer solar system, P, L", "DOP853", 3.0),
    ("sun, earth, moon", "midpoint", 9.0),
    ("sun, earth, moon", "Heun", 7.0),
    ("sun, earth, moon", "DP5(4)", 3.0),
    ("sun, earth, moon", "DOP853", 12.0),
    // Where linear invariants are not declared, which plain steps keep.
    ("rigid water", "Euler", 3.0),
    // Where a light mass takes most of the energy's error and hands it on to a heavy one.
    ("light cart", "Euler", 15.0),
    ("light cart", "midpoint", 17.0),
    ("light cart", "Heun", 17.0),
    ("light cart", "RK4", 600.0),
    ("light cart", "DP5(4)", 130.0),
    ("light cart", "DOP853", 100.0),
];

const BENCHMARKS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../BENCHMARKS.md");

/// A ratio as BENCHMARKS.md shows it, with one or two digits.
fn short(ratio: f64) -> String {
    match ratio {
        _ if ratio >= 0.995 => format!("{ratio:.1}"),
        _ if ratio >= 0.0995 => format!("{ratio:.2}"),
        _ if ratio >= 0.00995 => format!("{ratio:.3}"),
        _ => format!("{ratio:.0e}"),
    }
}

/// Whether the numbers of the last methods of two rows agree within a fifth: another processor may round differently, and a ratio has
/// few digits.
fn agree(written: &str, computed: &str, methods: usize) -> bool {
    let numbers = |row: &str| -> Vec<f64> {
        let numbers = row.rsplit(" | ").take(methods).flat_map(|cell| cell.split(", ").collect::<Vec<_>>());
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
const METHODS: [&str; 6] = ["Euler", "midpoint", "Heun", "RK4", "DP5(4)", "DOP853"];

/// A system without inputs. It is run as a model of the command is, so that nothing but its own functions is compiled for it.
pub(crate) fn alone<S: GeneratedSystem + Send + Sync + 'static>(model: S) -> Box<dyn AnyModel> {
    load(model, || None)
}

/// A system with the inputs that a signal gives, which is made for each run.
pub(crate) fn driven<S, I>(model: S, signal: impl Fn() -> I + Send + Sync + 'static) -> Box<dyn AnyModel>
where
    S: GeneratedSystem + DrivenSystem + Send + Sync + 'static,
    I: Signal<S> + Clone + Send + 'static,
{
    load(model, move || Some(Controller::<S>::new(signal()).flat()))
}

fn load<S: GeneratedSystem + Send + Sync + 'static>(
    model: S,
    input: impl Fn() -> Option<Box<dyn FlatSignal>> + Send + Sync + 'static,
) -> Box<dyn AnyModel> {
    let parts = (Arc::new(model), Arc::new(input));
    (Entry::flat(Arc::new(move || Box::new(Subject { model: Arc::clone(&parts.0), input: parts.1.clone() }))).load)()
}

/// A system whose parameters stay as they are, and that starts where the tests say.
struct Subject<S> {
    model: Arc<S>,
    input: Arc<dyn Fn() -> Option<Box<dyn FlatSignal>> + Send + Sync>,
}

impl<S: GeneratedSystem + Send + Sync> FlatModel for Subject<S> {
    fn facts(&self) -> &'static SystemFacts {
        SystemFacts::of::<S>()
    }

    fn parameter(&self, index: usize) -> Option<f64> {
        self.model.parameter(index)
    }

    fn parameter_mut(&mut self, _: usize) -> Option<&mut f64> {
        None
    }

    fn functions(&self) -> Arc<dyn FlatFunctions> {
        generated_functions::<S>()
    }

    fn prepared(&self) -> Vec<f64> {
        prepared_numbers(&*self.model)
    }

    fn start(&self) -> Result<Vec<f64>, Error> {
        Err(Error::NoStart { model: S::FACTS.name })
    }

    fn input(&self) -> Option<Box<dyn FlatSignal>> {
        (self.input)()
    }
}

/// Steps and tolerances of the methods. Every step divides the interval between samples.
#[derive(Clone, Copy)]
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
    pub(crate) fn methods(&self) -> Vec<Method> {
        let mut methods = Vec::new();
        methods.extend(self.euler.map(|h| Method::Euler { h }));
        methods.extend(self.second_order.map(|h| Method::Midpoint { h }));
        methods.extend(self.second_order.map(|h| Method::Heun { h }));
        methods.extend(self.rk4.map(|h| Method::Rk4 { h }));
        methods.extend(self.tolerances.map(|rtol| Method::DormandPrince { rtol, atol: Some(rtol * self.smallest) }));
        methods.extend(self.tolerances.map(|rtol| Method::Dop853 { rtol, atol: Some(rtol * self.smallest) }));
        methods
    }

    /// The same without the smallest of Euler's steps, which takes most of the time, unless the test is thorough.
    pub(crate) fn usual_methods(&self) -> Vec<Method> {
        let is_usual = |method: &Method| is_thorough() || *method != Method::Euler { h: self.euler[0] };
        self.methods().into_iter().filter(is_usual).collect()
    }
}

/// A quantity that is conserved, but not declared.
pub(crate) struct Undeclared {
    pub(crate) name: &'static str,
    pub(crate) of: fn(&[f64]) -> Vector3<f64>,
}

/// A motion to be integrated by all methods.
pub(crate) struct Case<'a> {
    pub(crate) name: &'static str,
    pub(crate) motion: Motion<'a>,
    pub(crate) groups: Vec<Group>,
    pub(crate) ladder: Ladder,
    pub(crate) undeclared: Vec<Undeclared>,
    /// The number of tolerances near each, from 0.9 to 1.1 times as large, that errors are medians over.
    pub(crate) tolerances: u32,
}

/// A group of a case by one method with one step.
pub(crate) struct Comparison {
    pub(crate) method: &'static str,
    pub(crate) step: f64,
    group: String,
    plain: f64,
    default: f64,
    size: f64,
    /// What rounding and an uncertain truth leave undecided.
    floor: f64,
}

impl Comparison {
    /// The largest errors of a run, each in units of the size of its group.
    pub(crate) fn of_run(run: &[Self]) -> Self {
        let largest = |of: fn(&Self) -> f64| run.iter().map(|it| of(it) / it.size).fold(0.0, f64::max);
        Self {
            method: run[0].method,
            step: run[0].step,
            group: "state".to_owned(),
            plain: largest(|it| it.plain),
            default: largest(|it| it.default),
            size: 1.0,
            floor: largest(|it| it.floor),
        }
    }

    pub(crate) fn counts(&self) -> bool {
        self.plain < RESOLVED * self.size
    }

    /// At most [`ALLOWED`] where nothing is lost.
    pub(crate) fn ratio(&self) -> f64 {
        self.default / (self.plain + self.floor / ALLOWED)
    }

    pub(crate) fn is_lost(&self, allowed: f64) -> bool {
        let is_no_worse = self.ratio() <= allowed;
        self.counts() && !is_no_worse
    }
}

/// What the runs of a case have shown.
#[derive(Default)]
pub(crate) struct Findings {
    pub(crate) comparisons: Vec<Comparison>,
    /// Default runs that fail where plain runs do not, in words.
    pub(crate) failures: Vec<String>,
    /// Default runs along which integrals change further, in words.
    drifts: Vec<String>,
    /// The figures, line by line.
    pub(crate) out: String,
}

impl<'a> Case<'a> {
    /// A case with every variable, or every body, by itself.
    pub(crate) fn new(
        name: &'static str,
        system: &'a dyn AnyModel,
        start: impl Into<Vec<f64>>,
        [until, interval]: [f64; 2],
        ladder: Ladder,
    ) -> Self {
        let motion = Motion { system, start: start.into(), until, interval };
        Self { name, motion, groups: Group::of_system(system), ladder, undeclared: Vec::new(), tolerances: 1 }
    }

    /// Compares, prints the figures, and asserts that nothing is lost.
    pub(crate) fn assert_no_worse(&self) -> Result<(), Error> {
        let Findings { mut comparisons, failures, drifts, mut out } = self.compare(&self.ladder.usual_methods())?;
        let mut losses = [failures, drifts].concat();
        for it in comparisons.iter().filter(|it| it.is_lost(allowed(self.name, it.method))) {
            let Comparison { method, step, group, plain, default, .. } = it;
            losses.push(format!("{method} {step:e}, {group}: {plain:.2e} without feedback, {default:.2e} as it comes"));
        }
        let row = self.summarise(&mut comparisons, &mut out);
        print!("{out}{row}");
        for (_, method, _) in LOSING.iter().filter(|(case, ..)| *case == self.name) {
            let loses = comparisons.iter().any(|it| it.method == *method && it.is_lost(ALLOWED));
            assert!(loses, "{} by {method} loses no longer: take it off the list", self.name);
        }
        assert!(losses.is_empty(), "{} loses {} times:\n{}", self.name, losses.len(), losses.join("\n"));
        assert_written("Cases that hurt", self.name, &row, comparable_methods());
        Ok(())
    }

    pub(crate) fn compare(&self, methods: &[Method]) -> Result<Findings, Error> {
        let [truth, coarser] = TRUTH.map(|rtol| self.motion.truth(rtol, rtol * self.ladder.smallest));
        let (truth, coarser) = (truth?, coarser?);
        let mut findings = Findings::default();
        for method in methods {
            let (label, step) = label(method);
            let mut pairs = Vec::new();
            for method in self.neighbours(*method) {
                match self.motion.runs(method) {
                    [Ok(plain), Ok(default)] => {
                        self.assert_sampled(&[&plain, &default]);
                        self.drifts(label, step, &plain, &default, &mut findings);
                        pairs.push([plain, default]);
                    }
                    [Ok(_), Err(error)] => {
                        findings.failures.push(format!("{label} {step:e}: plain passes, default fails: {error}"));
                    }
                    [Err(_), default] => {
                        let default = if default.is_ok() { "passes" } else { "fails" };
                        _ = writeln!(findings.out, "{} | {label} {step:e} | plain fails, default {default}", self.name);
                    }
                }
            }
            if pairs.is_empty() {
                continue;
            }
            let of_group = |group: &Group| {
                let size = group.size(&truth);
                let error = |which: usize| median(pairs.iter().map(|pair| group.distance(&pair[which].states, &truth)));
                Comparison {
                    method: label,
                    step,
                    group: group.name.clone(),
                    plain: error(0),
                    default: error(1),
                    size,
                    floor: ROUNDING * size + group.distance(&coarser, &truth),
                }
            };
            findings.comparisons.extend(self.groups.iter().map(of_group));
        }
        Ok(findings)
    }

    /// A method with error control with each of its tolerances, or a method with a fixed step.
    fn neighbours(&self, method: Method) -> Vec<Method> {
        let middle = f64::from(self.tolerances / 2);
        let near = (0..self.tolerances).map(|number| 1.0 + 0.1 * (f64::from(number) - middle) / middle.max(1.0));
        match method {
            Method::DormandPrince { rtol, atol: Some(atol) } => {
                near.map(|scale| Method::DormandPrince { rtol: scale * rtol, atol: Some(scale * atol) }).collect()
            }
            Method::Dop853 { rtol, atol: Some(atol) } => {
                near.map(|scale| Method::Dop853 { rtol: scale * rtol, atol: Some(scale * atol) }).collect()
            }
            fixed => vec![fixed],
        }
    }

    /// Both runs have the samples of the truth.
    fn assert_sampled(&self, runs: &[&RecordedRun]) {
        for (index, time) in runs.iter().flat_map(|run| run.times.iter().enumerate()) {
            let expected = index as f64 * self.motion.interval;
            assert!((time - expected).abs() <= 1e-9 * self.motion.until, "a sample at {time}, not {expected}");
        }
    }

    /// The largest changes without feedback and as it comes: of the declared integral that changes most,
    /// which changes no further as it comes, and of those that are not declared.
    fn drifts(&self, label: &str, step: f64, plain: &RecordedRun, default: &RecordedRun, findings: &mut Findings) {
        let (of_plain, of_default) = (plain.largest_drift(), default.largest_drift());
        let is_no_worse = of_default <= of_plain.max(ROUNDING_OF_DRIFT);
        if !is_no_worse && (self.name, label) != DRIFTING {
            let line = format!("drift {of_plain:.1e} without feedback, {of_default:.1e} as it comes");
            findings.drifts.push(format!("{label} {step:e}: {line}"));
        }
        let undeclared = self.undeclared.iter().map(|it| {
            let change = |run: &RecordedRun| {
                let start = (it.of)(&run.states[0]);
                run.states.iter().map(|state| ((it.of)(state) - start).norm()).fold(0.0, f64::max)
            };
            (it.name, change(plain), change(default))
        });
        for (name, plain, default) in [("declared integrals", of_plain, of_default)].into_iter().chain(undeclared) {
            _ = writeln!(
                findings.out,
                "{} | {label} {step:e} | drift of {name} | {plain:.1e} | {default:.1e}",
                self.name
            );
        }
    }

    /// Prints a line for each group and for each method with the median of the ratios and the worst ratio, and returns the row of
    /// BENCHMARKS.md.
    pub(crate) fn summarise(&self, comparisons: &mut [Comparison], out: &mut String) -> String {
        for it in comparisons.iter() {
            let Comparison { method, step, group, plain, default, size, floor } = it;
            let ratio = if it.counts() { format!("{:.2e}", it.ratio()) } else { "unresolved".into() };
            _ = writeln!(
                out,
                "{} | {method} {step:e} | error of {group} | {plain:.1e} | {default:.1e} | size {size:.1e} | floor {floor:.1e} | {ratio}",
                self.name,
            );
        }
        comparisons.sort_by(|one, other| one.ratio().total_cmp(&other.ratio()));
        let mut row = format!("| {} |", self.name);
        for method in METHODS {
            let counted: Vec<_> = comparisons.iter().filter(|it| it.method == method && it.counts()).collect();
            row += &match counted.last() {
                Some(worst) => {
                    let bold = if worst.is_lost(ALLOWED) { "**" } else { "" };
                    _ = writeln!(out, "worst | {} | {method} | {} {:e}", self.name, worst.group, worst.step);
                    format!(" {}, {bold}{}{bold} |", short(counted[counted.len() / 2].ratio()), short(worst.ratio()))
                }
                None => " unresolved |".to_owned(),
            };
        }
        row + "\n"
    }
}

/// How many of the last methods in rows of BENCHMARKS.md are compared: Euler's cells, the first, are those of all of its steps.
pub(crate) fn comparable_methods() -> usize {
    METHODS.len() - usize::from(!is_thorough())
}

/// Asserts that a section of BENCHMARKS.md has this row, as far as the last methods are concerned.
pub(crate) fn assert_written(section: &str, name: &str, row: &str, methods: usize) {
    let begin = format!("| {name} |");
    let rows = rows_of(section);
    let written = rows.iter().find(|row| row.starts_with(&begin)).map_or("", String::as_str);
    assert!(agree(written, row, methods), "BENCHMARKS.md, {section}, has the row\n{written}\nand not\n{row}");
}

/// The rows of the first table of a section of BENCHMARKS.md.
pub(crate) fn rows_of(section: &str) -> Vec<String> {
    let benchmarks = std::fs::read_to_string(BENCHMARKS).expect("BENCHMARKS.md is at the root of the repository");
    let text = benchmarks.split(&format!("\n### {section}\n")).nth(1).expect("BENCHMARKS.md has the section");
    let table = text.lines().skip_while(|line| !line.starts_with("|---")).skip(1);
    table.take_while(|line| line.starts_with('|')).map(str::to_owned).collect()
}

/// The middle one of an odd number of errors, or the larger one of the two in the middle.
fn median(errors: impl Iterator<Item = f64>) -> f64 {
    let mut errors: Vec<f64> = errors.collect();
    errors.sort_by(f64::total_cmp);
    errors[errors.len() / 2]
}

fn label(method: &Method) -> (&'static str, f64) {
    match *method {
        Method::Euler { h } => ("Euler", h),
        Method::Midpoint { h } => ("midpoint", h),
        Method::Heun { h } => ("Heun", h),
        Method::Rk4 { h } => ("RK4", h),
        Method::Gauss { h, .. } => ("Gauss", h),
        Method::StormerVerlet { h } | Method::Rattle { h } | Method::OneStep { h } => (method.label(), h),
        Method::DiscreteHamel { h } => ("discrete Hamel", h),
        Method::DormandPrince { rtol, .. } => ("DP5(4)", rtol),
        Method::Dop853 { rtol, .. } => ("DOP853", rtol),
        Method::Rodas5P { rtol, .. } => ("Rodas5P", rtol),
        Method::Taylor { tolerance } => ("Taylor", tolerance),
    }
}

/// A change of units: an entry of the state is multiplied by the unit to this power.
pub(crate) struct Units<'a> {
    pub(crate) name: &'static str,
    pub(crate) powers: &'a [i32],
    pub(crate) until: f64,
    pub(crate) methods: &'a [Method],
}

/// Trajectories in other units may differ by so much, in units of the largest norm of a group: rounding, amplified by the motion.
const SAME: f64 = 1e-10;

impl Units<'_> {
    /// Asserts that the trajectory is the same in every unit, for a power of two and another.
    pub(crate) fn assert_do_not_matter(
        &self,
        system: impl Fn(f64) -> Box<dyn AnyModel>,
        start: &[f64],
    ) -> Result<(), Error> {
        let groups = Group::of_system(&*system(1.0));
        let mut losses = Vec::new();
        for method in self.methods {
            let (label, step) = label(method);
            let usual = self.trajectories(&*system(1.0), start, 1.0, *method)?;
            for unit in [f64::from(1 << 20), 1e6] {
                let other = self.trajectories(&*system(unit), start, unit, *method)?;
                for group in &groups {
                    let difference =
                        |which: usize| group.distance(&usual[which], &other[which]) / group.size(&usual[which]);
                    let (plain, default) = (difference(0), difference(1));
                    let line =
                        format!("{label} {step:e} | {} with 1 / {unit} | {plain:.1e} | {default:.1e}", group.name);
                    println!("units | {} | {line}", self.name);
                    let is_same = default <= SAME;
                    if !is_same {
                        losses.push(line);
                    }
                }
            }
        }
        assert!(losses.is_empty(), "units matter:\n{}", losses.join("\n"));
        Ok(())
    }

    /// Without feedback and as it comes, in the usual units.
    fn trajectories(
        &self,
        system: &dyn AnyModel,
        start: &[f64],
        unit: f64,
        method: Method,
    ) -> Result<[Vec<Vec<f64>>; 2], Error> {
        let scaled = |state: &[f64], unit: f64| -> Vec<f64> {
            state.iter().zip(self.powers).map(|(entry, power)| entry * unit.powi(*power)).collect()
        };
        let motion = Motion { system, start: scaled(start, unit), until: self.until, interval: self.until / 20.0 };
        let [plain, default] = motion.runs(method);
        let usual = |run: RecordedRun| run.states.iter().map(|state| scaled(state, unit.recip())).collect();
        Ok([plain?, default?].map(usual))
    }
}
