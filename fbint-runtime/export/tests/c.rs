//! C beside Rust, bit by bit: every function of the state, and runs by every method.

use std::fs;
use std::io::Write;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Arc;

use fbint_catalogue::{AnyModel, Entry, Feedback, FlatModel, Given, ListFunction, MatrixFunction, Plan, Source};
use fbint_export::Export;
use fbint_macros_core::text::{Model, models_of_package};
use fbint_runtime::{Method, Projection, Settings, SystemFacts};
use fbint_text::TextModel;
use tempfile::tempdir;

use crate::advance::{BALL, LIMITED, RUBBED, SAMPLED};
use crate::{is_thorough, shipped};

/// The models that every run of the tests compares; a thorough one compares all.
const REPRESENTATIVE: [&str; 6] =
    ["SphericalPendulum", "FourBar", "FreeRigidBody", "DrivenPendulum", "RollingDisk", "DrivenFourBar"];
pub(crate) const STRICT: [&str; 7] =
    ["-std=c99", "-Wall", "-Wextra", "-Wpedantic", "-Werror", "-ffp-contract=off", "-I."];

/// A model with what its export is compared with.
pub(crate) struct Case {
    pub(crate) text: shipped::Shipped,
    /// The model as it is exported.
    pub(crate) exported: Model,
    model: TextModel,
    pub(crate) parameters: Vec<f64>,
    pub(crate) start: Vec<f64>,
}

impl Case {
    /// A shipped model.
    pub(crate) fn of(text: shipped::Shipped) -> Self {
        Self::in_package(text, shipped::package())
    }

    /// A model of these tests, whose package keeps no derivations.
    fn own(name: &str, text: &str) -> Self {
        let text = shipped::Shipped { name: name.to_owned(), text: text.to_owned() };
        Self::in_package(text, PathBuf::from(env!("CARGO_MANIFEST_DIR")))
    }

    /// A model with the parameters that it declares, or 1, at a start on its constraints.
    fn in_package(text: shipped::Shipped, package: PathBuf) -> Self {
        let mut model = fbint_text::models_of_package(&text.text, &package).expect("a model").remove(0);
        let count = model.facts().parameter_names.len();
        let parameters: Vec<f64> =
            (0..count).map(|place| model.parameter(place).filter(|value| value.is_finite()).unwrap_or(1.0)).collect();
        for (place, value) in parameters.iter().enumerate() {
            *model.parameter_mut(place).expect("a parameter") = *value;
        }
        let (mut random, facts) = (Random(7), model.facts());
        let starts = (0..200).filter_map(|_| {
            let mut guess = random.numbers(facts.state.len(), [-1.0, 1.0]);
            facts.clock.iter().for_each(|&clock| guess[clock] = 0.0);
            loaded(&model).repair(&guess, &[]).ok()
        });
        let start = { starts }.next().unwrap_or_else(|| panic!("{} has no start", text.name));
        let exported = models_of_package(&text.text, &package).expect("a model").remove(0);
        Self { text, exported, model, parameters, start }
    }

    /// The same at a start of runs that project, which is on the constraints.
    pub(crate) fn at_a_start(self) -> Self {
        let mut steps = states(&self, Method::Rk4 { h: 1e-6 }, 1, Feedback::None, true).expect("a step");
        Self { start: steps.remove(0), ..self }
    }

    fn facts(&self) -> &'static SystemFacts {
        self.model.facts()
    }
}

/// The C compilers that are installed.
fn compilers() -> Vec<&'static str> {
    let found = ["gcc", "clang"].into_iter().filter(|name| Command::new(name).arg("--version").output().is_ok());
    found.collect()
}

/// The C compiler, if there is one.
pub(crate) fn compiler() -> Option<&'static str> {
    let found = compilers().first().copied();
    if found.is_none() {
        eprintln!("skipped: there is no C compiler");
    }
    found
}

pub(crate) fn run(command: &mut Command) {
    let output = command.output().expect("a program");
    assert!(output.status.success(), "{command:?}: {}", String::from_utf8_lossy(&output.stderr));
}

/// Flags with which products and sums are rounded as in this program.
pub(crate) fn target() -> &'static [&'static str] {
    if cfg!(all(target_arch = "x86_64", target_feature = "fma")) { &["-mfma"] } else { &[] }
}

/// What a C program of an exported model writes for these numbers.
fn written(case: &Case, compiler: &str, options: &[&str], numbers: &[f64]) -> Vec<f64> {
    let folder = tempdir().expect("a folder");
    let export = Export::new(&case.exported, &case.parameters, &case.start);
    for file in export.c() {
        fs::write(folder.path().join(&file.name), file.text).expect("a file");
    }
    let [prefix, capitals] = [export.prefix().to_owned(), export.prefix().to_uppercase()];
    let driver = include_str!("driver.c").replace("MODEL_HAS", "HAS").replace("NAME.h", &format!("{prefix}.h"));
    let driver = driver.replace("model_", &format!("{prefix}_")).replace("MODEL_", &format!("{capitals}_"));
    fs::write(folder.path().join("driver.c"), driver).expect("a file");
    let has = |what: bool| u8::from(what).to_string();
    let defined = [
        format!("-DHAS_PARAMETERS={}", has(!case.parameters.is_empty())),
        format!("-DHAS_DERIVATIVES={}", has(case.exported.derivatives)),
    ];
    let mut compile = Command::new(compiler);
    compile.args(STRICT).args(target()).args(options).args(defined).current_dir(folder.path());
    run(compile.args(["-o", "driver", "driver.c", &format!("{prefix}.c"), "-lm"]));
    evaluated(&folder.path().join("driver"), numbers)
}

fn evaluated(program: &Path, numbers: &[f64]) -> Vec<f64> {
    let mut child = Command::new(program).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().expect("a program");
    let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
    let mut input = child.stdin.take().expect("an input");
    input.write_all(&bytes).expect("numbers are written");
    drop(input);
    let output = child.wait_with_output().expect("a result");
    assert!(output.status.success(), "{:?}: {}", output.status, String::from_utf8_lossy(&output.stderr));
    let (numbers, []) = output.stdout.as_chunks::<8>() else { panic!("half a number") };
    numbers.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect()
}

/// A model behind the interface of runs.
pub(crate) fn loaded(model: &TextModel) -> Box<dyn AnyModel> {
    let model = model.clone();
    (Entry::flat(Arc::new(move || Box::new(model.clone()))).load)()
}

/// Numbers that are the same in every run.
struct Random(u64);

impl Random {
    fn numbers(&mut self, count: usize, [from, to]: [f64; 2]) -> Vec<f64> {
        let mut number = || {
            self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            from + (to - from) * ((self.0 >> 11) as f64 / (1_u64 << 53) as f64)
        };
        (0..count).map(|_| number()).collect()
    }
}

/// What functions are evaluated at.
struct Point {
    x: Vec<f64>,
    u: Vec<f64>,
    variances: Vec<f64>,
    noise: Vec<f64>,
    gains: Vec<f64>,
    targets: Vec<f64>,
    normalised: [Vec<f64>; 2],
}

impl Point {
    fn new(facts: &SystemFacts) -> Self {
        let mut random = Random(1);
        let mut numbers = |count: usize, range: [f64; 2]| random.numbers(count, range);
        let (n, m) = (facts.state.len(), facts.integrals.len());
        Self {
            x: numbers(n, [-1.0, 1.0]),
            u: numbers(facts.input_names.len(), [-1.0, 1.0]),
            variances: numbers(n, [0.5, 2.0]),
            noise: numbers(m, [1e-3, 2e-3]),
            gains: numbers(m, [0.5, 2.0]),
            targets: numbers(m, [-1.0, 1.0]),
            normalised: [numbers(m, [0.5, 2.0]), numbers(m, [-1.0, 1.0])],
        }
    }

    fn lists(&self) -> [&[f64]; 8] {
        let [gains, targets] = &self.normalised;
        [&self.x, &self.u, &self.variances, &self.noise, &self.gains, &self.targets, gains, targets]
    }
}

/// What the functions of a model from text give, in the order of the driver.
fn functions(case: &Case, point: &Point) -> Vec<f64> {
    let (facts, functions) = (case.facts(), case.model.functions());
    let (n, m) = (facts.state.len(), facts.integrals.len());
    let prepared = case.model.prepared();
    let given = Given::default().with(Source::State, &point.x).with(Source::Prepared, &prepared);
    let given = given.with(Source::Inputs, &point.u);
    let mut zero = vec![false; m];
    functions.zero_targets(&mut zero);
    let normalised = |y: &mut [f64]| {
        for (i, y) in y.iter_mut().enumerate().take(m) {
            let change = if zero[i] { *y } else { *y - point.normalised[1][i] };
            *y = point.normalised[0][i] * change;
        }
    };
    let declared = |y: &mut [f64]| y.iter_mut().zip(&point.targets).for_each(|(y, target)| *y -= target);
    let list = |function, given: &Given<'_, f64>, law: &dyn Fn(&mut [f64]), count: usize| {
        let mut list = vec![0.0; count.next_multiple_of(2) + 2];
        functions.list(function, given, law, &mut list);
        list.truncate(count);
        list
    };
    let none = &|_: &mut [f64]| {};
    let integrals = list(ListFunction::Integrals, &given, none, m);
    let projected = given.with(Source::First, &point.variances).with(Source::Second, &point.noise);
    let mut jacobian = vec![0.0; m * n];
    functions.matrix(MatrixFunction::IntegralsJacobian, &given, &mut jacobian, n);
    let mut all = [
        list(ListFunction::VectorField, &given, none, n),
        integrals.clone(),
        list(ListFunction::Multipliers, &given, none, m),
        list(ListFunction::Outputs, &given, none, facts.output_names.len()),
        list(ListFunction::PotentialGradient, &given, &normalised, n),
        list(ListFunction::FeedbackField, &given, &normalised, n),
        list(ListFunction::Projection, &projected, &declared, n),
        integrals.iter().zip(&point.targets).map(|(value, target)| value - target).collect(),
        jacobian,
    ]
    .concat();
    let gains = given.with(Source::First, &point.gains).with(Source::Second, &point.targets);
    let kinds: &[bool] = if case.exported.derivatives { &[false, true] } else { &[] };
    for &with_feedback in kinds {
        let mut entries = Vec::new();
        functions.jacobian(&gains, with_feedback, &mut |row, column, entry| entries.push((row, column, entry)));
        for (row, column, entry) in entries {
            let column = if column < n { column } else { column + case.parameters.len() };
            all.extend([row as f64, column as f64, entry]);
        }
    }
    all
}

/// The states of a run at its start and after every step.
///
/// `None` of a run that fails, as it may from a start that is nobody's choice.
fn states(case: &Case, method: Method, steps: usize, feedback: Feedback, projected: bool) -> Option<Vec<Vec<f64>>> {
    let until = method.step().expect("a step") * steps as f64;
    let projection = projected.then(Projection::default);
    let settings = Settings { every: Some(0.0), projection, ..Settings::new(method, until) };
    let plan = Plan { is_audited: false, ..Plan::new(settings, feedback) };
    let run = loaded(&case.model).run(&case.start, &plan, None, &mut |_| ControlFlow::Continue(()));
    Some(run.ok()?.trajectory.into_iter().map(|sample| sample.state).collect())
}

pub(crate) fn is_same(one: f64, other: f64) -> bool {
    one.to_bits() == other.to_bits() || (one.is_nan() && other.is_nan())
}

/// The runs of a model that its export repeats: by every method, plain, with gains and projected.
struct Runs {
    h: f64,
    steps: usize,
    /// What each is called, and its states, if it does not fail.
    all: Vec<(String, Option<Vec<Vec<f64>>>)>,
}

impl Runs {
    fn of(case: &Case, h: f64, steps: usize) -> Self {
        let (name, has_integrals) = (case.facts().name, !case.facts().integrals.is_empty());
        let kinds = [(Feedback::None, false), (Feedback::Uniform(0.5), false), (Feedback::None, true)];
        let mut all = Vec::new();
        for method in [Method::Euler { h }, Method::Heun { h }, Method::Rk4 { h }] {
            for (kind, (feedback, projected)) in kinds.iter().enumerate() {
                let run = states(case, method, steps, feedback.clone(), *projected && has_integrals);
                all.push((format!("{name}, {method:?}, {kind}"), run));
            }
        }
        Self { h, steps, all }
    }
}

/// Compares an export with its model.
fn compare(case: &Case, Runs { h, steps, all }: &Runs, compiler: &str, options: &[&str]) {
    let (facts, point) = (case.facts(), Point::new(case.facts()));
    let (n, m) = (facts.state.len(), facts.integrals.len());
    let gains = vec![0.5; m];
    let mut numbers = vec![*h, *steps as f64, facts.clock.map_or(0.0, |clock| case.start[clock])];
    numbers.extend([&case.parameters[..], &case.start, &gains].concat());
    numbers.extend(point.lists().concat());
    let found = written(case, compiler, options, &numbers);
    let expected = functions(case, &point);
    for (place, (one, other)) in found.iter().zip(&expected).enumerate() {
        assert!(is_same(*one, *other), "{}: number {place} is {one:?}, and in Rust {other:?}", facts.name);
    }
    let mut rest = &found[expected.len()..];
    for (name, run) in all {
        let (own_steps, later) = rest.split_at(steps * (1 + n));
        rest = later;
        let Some(run) = run else {
            println!("{name}: the run fails in Rust");
            continue;
        };
        for (step, (state, own)) in run.iter().skip(1).zip(own_steps.chunks(1 + n)).enumerate() {
            if own[0] != 0.0 {
                println!("{name}: the projection after step {} was left out", step + 1);
                break;
            }
            let differs = own[1..].iter().zip(state).any(|(one, other)| !is_same(*one, *other));
            assert!(!differs, "{name}: step {} ends at {own:?}, and in Rust at {state:?}", step + 1);
        }
    }
    assert!(rest.is_empty());
}

/// The systems that the tests of the compiler run on, if the test is thorough.
fn of_the_compiler() -> impl Iterator<Item = Case> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/systems.rs");
    let systems = if is_thorough() { shipped::in_file(&file) } else { Vec::new() };
    systems.into_iter().map(|system| Case::own(&system.name, &system.text))
}

/// The models that are compared: of a thorough run every shipped model, and the systems of the compiler.
fn compared() -> impl Iterator<Item = Case> {
    let chosen = |model: &shipped::Shipped| is_thorough() || REPRESENTATIVE.contains(&&*model.name);
    shipped::all().into_iter().filter(chosen).map(Case::of).chain(of_the_compiler())
}

/// C++ converts less than C does, and single precision shows where a number is in double precision by mistake.
#[test]
fn sources_are_cpp_and_single_precision() {
    let Some(compiler) = compiler() else { return };
    let warnings = ["-Wall", "-Wextra", "-Wpedantic", "-Werror", "-fsyntax-only", "-I."];
    let own = [("Steered", LAW), ("Ball", BALL), ("Rubbed", RUBBED), ("Limited", LIMITED)];
    let own = own.map(|(name, text)| Case::own(name, text)).into_iter();
    let own = own.chain([Case::own("Sampled", &SAMPLED.replace("LATE", "2"))]);
    for case in own.chain(compared()) {
        let folder = tempdir().expect("a folder");
        let export = Export::new(&case.exported, &case.parameters, &case.start);
        for file in [export.c(), export.casadi()].concat() {
            fs::write(folder.path().join(&file.name), file.text).expect("a file");
        }
        let [source, functions] = [".c", "_casadi.c"].map(|ending| format!("{}{ending}", export.prefix()));
        let [cpp, cpp_functions] = [&source, &functions].map(|file| ["-x", "c++", "-std=c++17", file]);
        let single = ["-std=c99", "-DFBINT_FLOAT", "-Wconversion", "-Wdouble-promotion", &source];
        // As the integers of acados.
        let functions = ["-std=c99", "-Dcasadi_int=int", &functions];
        for options in [&cpp[..], &cpp_functions, &single, &functions] {
            run(Command::new(compiler).args(warnings).args(options).current_dir(folder.path()));
        }
    }
}

/// A law that depends on the state and the time, in a constrained model: stages have the inputs of their own state and time.
const LAW: &str = "
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), time(t), hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)), input(u = -k * p[0] + (3 * t).sin(), v), force(p = vector![u, v]),
    default(m = 1.5, g = 9.81, l = 1, k = 0.5), start(q = vector![l, 0], p = vector![0, 0]), derivatives,
)]
struct Steered { m: f64, g: f64, l: f64, k: f64 }";

/// Compares the functions and the runs of a model in C with Rust's, which are made once for all compilers.
fn compare_in_every_bit(case: Case) {
    let Some(first) = compiler() else { return };
    let case = case.at_a_start();
    let runs = Runs::of(&case, 1e-3, 1000);
    compare(&case, &runs, first, &["-O1"]);
    if is_thorough() || case.text.name == "Steered" {
        for (compiler, options) in compilers().iter().flat_map(|name| [(name, "-O0"), (name, "-O3")]) {
            compare(&case, &runs, compiler, &[options]);
        }
        // clang comes without the library that this takes. Optimised, gcc compiles a chain of 8 links for a minute.
        compare(&case, &runs, first, &["-O0", "-g", "-fsanitize=address,undefined"]);
    }
}

macro_rules! tests {
    ($($name:ident ::models::$model:ident,)*) => {
        $(#[test] fn $name() {
            let name = stringify!($model);
            if is_thorough() || REPRESENTATIVE.contains(&name) {
                compare_in_every_bit(Case::of(shipped::named(name)));
            }
        })*
    };
}

shipped::every_model!(tests);

#[test]
fn a_model_with_a_law() {
    compare_in_every_bit(Case::own("Steered", LAW));
}

#[test]
fn systems_of_the_compiler() {
    of_the_compiler().for_each(compare_in_every_bit);
}
