//! The program of `main.c`, which calls `advance`, beside runs in Rust: events, sampled laws, and switches of the field.

use std::fs;
use std::ops::ControlFlow;
use std::process::Command;

use fbint_catalogue::{Feedback, Plan};
use fbint_export::{Export, Version};
use fbint_runtime::{Method, Projection, Settings};
use tempfile::tempdir;

use crate::c::{STRICT, compiler, is_same, loaded, run, target};

/// A ball on a floor, pulled by a law, until its fifth impact.
pub(crate) const BALL: &str = "
#[feedback_system(
    coordinates(q), momenta(p), hamiltonian = p.powi(2) / (2 * m) + m * g * q,
    input(u = -k * q), force(p = u), output(height = q), default(m = 1, g = 9.81, k = 0.5), start(q = 1, p = 0),
    event(floor = q, falling, when = p < 0, reset(p = -0.9 * p), count = 5),
    section(top = p), section(low = u + 0.2),
)]
struct Ball { m: f64, g: f64, k: f64 }";

/// The output of the program of `main.c` for a model: times with states, and events with their times.
fn printed(text: &str, parameters: &[f64], start: &[f64], arguments: [&str; 2]) -> (Vec<Vec<f64>>, Vec<(String, f64)>) {
    let models = fbint_macros_core::text::models(text).expect("a model");
    let export = Export::new(&models[0], parameters, start);
    let folder = tempdir().expect("a folder");
    for file in export.c() {
        fs::write(folder.path().join(&file.name), file.text).expect("a file");
    }
    let mut compile = Command::new(compiler().expect("a compiler"));
    compile.args(STRICT).args(target()).args(["-g", "-fsanitize=address,undefined"]).current_dir(folder.path());
    run(compile.args(["-o", "main", "main.c", &format!("{}.c", export.prefix()), "-lm"]));
    let output = Command::new(folder.path().join("main")).args(arguments).output().expect("a program");
    let text = |bytes: &[u8]| String::from_utf8(bytes.to_vec()).expect("a text");
    let rows = text(&output.stdout)
        .lines()
        .map(|line| line.split(',').map(|cell| cell.parse().expect("a number")).collect())
        .collect();
    let events = text(&output.stderr)
        .lines()
        .map(|line| line.split_once(" at ").unwrap_or_else(|| panic!("{line}")))
        .map(|(name, time)| (name.to_owned(), time.parse().expect("a time")))
        .collect();
    (rows, events)
}

/// The same run in Rust.
fn run_of(text: &str, start: &[f64], settings: Settings) -> fbint_catalogue::Run {
    let model = fbint_text::models(text).expect("a model").remove(0);
    let plan = Plan { is_audited: false, ..Plan::new(Settings { every: Some(0.0), ..settings }, Feedback::None) };
    loaded(&model).run(start, &plan, None, &mut |_| ControlFlow::Continue(())).expect("a run")
}

/// The program of `main.c` repeats a run with a law and events: its states have the bits of Rust up to the first impact, its events are at
/// the times at which Rust finds them.
#[test]
fn events_are_those_of_rust() {
    if compiler().is_none() {
        return;
    }
    let start = [1.0, 0.0, 0.0, 0.0];
    let (rows, events) = printed(BALL, &[1.0, 9.81, 0.5], &start, ["0.001", "5000"]);
    let run = run_of(BALL, &start, Settings::new(Method::Rk4 { h: 1e-3 }, 5.0));
    assert_eq!(events.len(), run.events.len());
    for ((name, time), expected) in events.iter().zip(&run.events) {
        assert_eq!(*name, expected.name);
        assert!((time - expected.time).abs() < 1e-12, "{name} at {time}, and in Rust at {}", expected.time);
    }
    let first = events[0].1;
    for (row, sample) in rows.iter().zip(&run.trajectory).take_while(|(row, _)| row[0] < first) {
        assert!(row[1..].iter().zip(&sample.state).all(|(one, other)| is_same(*one, *other)), "{row:?} {sample:?}");
    }
    let end = rows.last().expect("a row");
    assert!(end[1..].iter().zip(&run.state).all(|(one, other)| (one - other).abs() < 1e-11), "{end:?} {:?}", run.state);
    assert!((end[0] - run.time).abs() < 1e-12 && rows.len() < 4000);
}

/// A reset that moves its own event function away from 0, and a section where another event resets: rounding decides whether it is passed.
const KICKED: &str = "
#[feedback_system(
    coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + g * q, default(g = 9.81), start(q = 1, p = 0),
    event(kick = p, reset(p = 0.5)), event(floor = q, falling, reset(p = -0.8 * p)), section(up = q, rising),
)]
struct Kicked { g: f64 }";

#[test]
fn resets_may_end_elsewhere_and_at_sections() {
    if compiler().is_none() {
        return;
    }
    let (rows, events) = printed(KICKED, &[9.81], &[1.0, 0.0], ["0.001", "2000"]);
    let run = run_of(KICKED, &[1.0, 0.0], Settings::new(Method::Rk4 { h: 1e-3 }, 2.0));
    let expected: Vec<_> = run.events.iter().filter(|event| event.name != "up").collect();
    let found: Vec<_> = events.iter().filter(|(name, _)| name != "up").collect();
    assert_eq!(found.len(), expected.len(), "{found:?}");
    assert!(found.iter().filter(|(name, _)| name == "kick").count() > 5);
    for ((name, time), expected) in found.iter().zip(expected) {
        assert!(
            *name == expected.name && (time - expected.time).abs() < 1e-12,
            "{name} at {time}, not {}",
            expected.time
        );
    }
    let end = rows.last().expect("a row");
    assert!(end[1..].iter().zip(&run.state).all(|(one, other)| (one - other).abs() < 1e-11), "{end:?} {:?}", run.state);
}

/// A field of one entry: no integrals, inputs, outputs or derivatives.
const DECAY: &str = "
#[feedback_system(state(x), dynamics(x = -r * x), default(r = 2), start(x = 1))]
struct Decay { r: f64 }";

/// What a model lacks is named, in the header too; what it has is exported and right.
#[test]
fn a_model_exports_what_it_has() {
    let models = fbint_macros_core::text::models(DECAY).expect("a model");
    let export = Export::new(&models[0], &[2.0], &[1.0]);
    let missing = export.missing();
    for word in ["no integrals", "no inputs", "no outputs", "no derivatives"] {
        assert!(missing.iter().any(|line| line.contains(word)), "{missing:?}");
    }
    let header = &export.c()[0].text;
    assert!(missing.iter().all(|line| header.contains(line)), "{header}");
    assert_eq!(export.casadi().len(), 3);
    if compiler().is_none() {
        return;
    }
    assert_eq!(export.fmu(Version::Three).expect("an FMU").without_binary, None);
    let (rows, events) = printed(DECAY, &[2.0], &[1.0], ["0.001", "1000"]);
    assert!(events.is_empty() && rows.len() == 1001);
    for row in rows {
        assert!((row[1] - (-2.0 * row[0]).exp()).abs() < 1e-12, "{row:?}");
    }
}

/// A pendulum on a rod that a digital controller pushes, which sees it late.
pub(crate) const SAMPLED: &str = "
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), time(t), hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)), force(p = vector![u, v]),
    input(u = 5 * (3 * t).sin() - k * p[0], v, every = period, delay = LATE),
    default(m = 1.5, g = 9.81, l = 1, k = 0.5, period = 0.0125), start(q = vector![l, 0], p = vector![0, 0]),
)]
struct Sampled { m: f64, g: f64, l: f64, k: f64, period: f64 }";

/// Steps end where samples are due, which is within steps and at their ends.
#[test]
fn sampled_laws_are_those_of_rust() {
    if compiler().is_none() {
        return;
    }
    let start = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for (late, step) in [("0", 1e-3), ("1", 1e-3), ("3", 0.02)] {
        let text = SAMPLED.replace("LATE", late);
        let (rows, _) = printed(&text, &[1.5, 9.81, 1.0, 0.5, 0.0125], &start, [&step.to_string(), "1000"]);
        let settings = Settings::new(Method::Rk4 { h: step }, 1000.0 * step);
        let run = run_of(&text, &start, Settings { projection: Some(Projection::default()), ..settings });
        assert_eq!(rows.len(), run.trajectory.len());
        for (row, sample) in rows.iter().zip(&run.trajectory) {
            assert!(row[1..].iter().zip(&sample.state).all(|(one, other)| is_same(*one, *other)), "{row:?} {sample:?}");
        }
    }
}

/// A mass on a spring with friction, and a motor whose force changes its sign at x = 0 and which pushes for a second.
pub(crate) const RUBBED: &str = "
#[feedback_system(
    coordinates(x), momenta(p), time(t), hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    force(p = -mu * p.signum() - c * if x > 0 { 1 } else { -1 } + if t > 20 && !(t > 21) { push } else { 0 }),
    default(mu = 0.3, c = 0.2, push = 1.5), start(x = 3, p = 0),
)]
struct Rubbed { mu: f64, c: f64, push: f64 }";

/// A ball on a floor that gives way as a spring does, which counts how often it comes up.
const TRAMPOLINE: &str = "
#[feedback_system(
    coordinates(height), momenta(p), hamiltonian = p.powi(2) / 2 + g * height, force(p = k * (-height).max(0)),
    default(g = 10, k = 250), start(height = 0.2, p = 0), section(up = height, rising),
)]
struct Trampoline { g: f64, k: f64 }";

/// Two switches along which the state slides, one after the other and both at once, and leaves.
const DRAWN: &str = "
#[feedback_system(
    state(x, y, z), dynamics(x = -x.signum() + z / 2, y = -2 * y.signum() - z / 4, z = r), default(r = 0.25),
    start(x = 0.5, y = 1, z = 0),
)]
struct Drawn { r: f64 }";

/// A motor with limits, by its law, on a rail with friction in a slot that is not straight.
pub(crate) const LIMITED: &str = "
#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / (2 * m) + g * q[1],
    constraint(rail = q[1] - q[0].sin() / 4), input(thrust = (-4 * q[0] - 4 * rate(q)[0]).clamp(-4, 4)),
    force(p = vector![thrust, 0] - mu * p * (p[0] + q[0] * p[1]).signum()), default(m = 1, g = 1, mu = 0.1),
    start(q = vector![-2, -2.sin() / 4], p = vector![0, 0]),
)]
struct Limited { m: f64, g: f64, mu: f64 }";

/// Steps end where the field switches, on the sides that a run holds, and what slides, sticks: as in Rust, whose roots are rounded in
/// another way.
#[test]
fn switches_are_those_of_rust() {
    if compiler().is_none() {
        return;
    }
    let limited = [-2.0, -2.0_f64.sin() / 4.0, 0.0, 0.0, 0.0, 0.0];
    let cases: [(&str, &[f64], &[f64], f64); 4] = [
        (RUBBED, &[0.3, 0.2, 1.5], &[3.0, 0.0, 0.0, 0.0], 25.0),
        (TRAMPOLINE, &[10.0, 250.0], &[0.2, 0.0, 0.0], 3.0),
        (DRAWN, &[0.25], &[0.5, 1.0, 0.0], 10.0),
        (LIMITED, &[1.0, 1.0, 0.1], &limited, 5.0),
    ];
    for (text, parameters, start, until) in cases {
        for h in [1e-3, 0.01] {
            let steps = (until / h).round();
            let (rows, _) = printed(text, parameters, start, [&h.to_string(), &steps.to_string()]);
            let settings = Settings::new(Method::Rk4 { h }, h * steps);
            let projection = (text != DRAWN).then(Projection::default);
            let run = run_of(text, start, Settings { projection, ..settings });
            assert_eq!(rows.len(), run.trajectory.len(), "{text}");
            let mut furthest: f64 = 0.0;
            for (row, sample) in rows.iter().zip(&run.trajectory) {
                let distances = row[1..].iter().zip(&sample.state).map(|(one, other)| (one - other).abs());
                furthest = distances.fold(furthest, f64::max);
            }
            assert!(furthest < 1e-10, "{text}: {furthest:e} with h = {h}");
        }
    }
}
