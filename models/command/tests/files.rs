//! Models in files, in place of those that the command was built with.

use std::error::Error;
use std::f64::consts::{FRAC_PI_2, SQRT_2};
use std::fs;

use tempfile::{TempDir, tempdir};

use super::common::{fbint, json_in, names_in, refused};

type Outcome = Result<(), Box<dyn Error>>;

pub(crate) const PENDULUM: &str = "\
/// A point mass on a circle under gravity.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    default(m = 1, g = 1, l = 1),
    start(q = vector![l, 0], p = vector![0, 0]),
)]
pub struct PlanarPendulum { pub m: f64, pub g: f64, pub l: f64 }
";

const OSCILLATOR: &str = "\
#[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + k * q.powi(2)) / 2, default(k = 4), start(q = 1, p = 0))]
struct Oscillator { k: f64 }
";

fn folder_with(files: &[(&str, &str)]) -> std::io::Result<TempDir> {
    let folder = tempdir()?;
    for (name, text) in files {
        fs::write(folder.path().join(name), text)?;
    }
    Ok(folder)
}

/// What a command prints that succeeds.
fn printed(folder: &TempDir, arguments: &[&str]) -> Result<String, Box<dyn Error>> {
    let output = fbint(folder, arguments)?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    Ok(String::from_utf8(output.stdout)?)
}

#[test]
fn a_file_runs_as_the_model_that_was_built_in() -> Outcome {
    let folder = folder_with(&[("pendulum.rs", PENDULUM)])?;
    let settings = ["--until", "7.416298709205487", "--method", "dop853", "--rtol", "1e-12", "--every", "0.5"];
    let files = ["--out", "run.csv", "--plot", "run.svg", "--animate", "run.html"];
    let file = printed(&folder, &[&["run", "pendulum.rs"], &settings[..], &files].concat())?;
    assert!(file.starts_with("pendulum.rs: DOP853"), "{file}");
    assert_eq!(names_in(&folder)?, ["pendulum.rs", "run.csv", "run.html", "run.run.json", "run.svg"]);

    printed(&folder, &[&["run", "planar-pendulum"], &settings[..], &["--out", "built.csv"]].concat())?;
    let [read, built] = ["run.run.json", "built.run.json"].map(|name| json_in(&folder, name));
    let (read, built) = (read?, built?);
    assert_eq!((&read["steps"], &read["start"]), (&built["steps"], &built["start"]));
    for entry in ["q[0]", "q[1]", "p[0]", "p[1]"] {
        let [read, built] = [&read, &built].map(|record| record["state"][entry].as_f64().unwrap_or(f64::NAN));
        // It comes back to the start; the derivation without algebra may round otherwise.
        assert!((read - built).abs() < 1e-10, "{entry}: {read:?} and {built:?}");
    }
    Ok(())
}

#[test]
fn every_command_takes_a_file() -> Outcome {
    let folder = folder_with(&[("pendulum.rs", PENDULUM)])?;
    let equations = printed(&folder, &["show", "pendulum.rs"])?;
    assert!(equations.contains("length = q[0]^2 + q[1]^2 - l^2"), "{equations}");
    assert!(printed(&folder, &["show", "pendulum.rs", "--latex"])?.contains("\\dot"), "LaTeX");
    assert!(printed(&folder, &["show", "pendulum.rs", "--rust"])?.contains("fn vector_field"), "Rust");
    let list = printed(&folder, &["list", "pendulum.rs"])?;
    assert!(list.starts_with("planar-pendulum\n") && list.contains("m = 1, g = 1, l = 1"), "{list}");

    let vary = ["--vary", "g=uniform:0.9,1.1", "--members", "20", "--until", "1", "--ends", "ends.csv"];
    printed(&folder, &[&["ensemble", "pendulum.rs"], &vary[..]].concat())?;
    printed(&folder, &["report", "pendulum.rs", "--until", "1"])?;
    printed(&folder, &["work-precision", "pendulum.rs", "--until", "0.1"])?;
    printed(&folder, &["gallery", "pendulum.rs", "--until", "1", "--no-stills"])?;
    printed(&folder, &["run", "pendulum.rs", "--until", "1"])?;
    let names = names_in(&folder)?;
    for name in ["ends.csv", "ends.ensemble.json", "pendulum.run.json", "report.html"] {
        assert!(names.iter().any(|other| other == name), "no {name} in {names:?}");
    }
    assert!(folder.path().join("gallery/pendulum.html").exists());
    Ok(())
}

#[test]
fn a_run_of_a_file_is_resumed_with_the_text_that_it_began_with() -> Outcome {
    let folder = folder_with(&[("pendulum.rs", PENDULUM)])?;
    let begun = ["run", "pendulum.rs", "--until", "2", "--every", "0.5", "--out", "resumed.csv", "--checkpoint", "c"];
    printed(&folder, &begun)?;
    printed(&folder, &["run", "pendulum.rs", "--until", "4", "--every", "0.5", "--out", "whole.csv"])?;
    fs::write(folder.path().join("pendulum.rs"), PENDULUM.replace("m * g * q[1]", "2 * m * g * q[1]"))?;
    printed(&folder, &["resume", "c", "--until", "4"])?;
    let [resumed, whole] = ["resumed.csv", "whole.csv"].map(|name| fs::read(folder.path().join(name)));
    assert!(resumed? == whole?);
    Ok(())
}

#[test]
fn a_run_of_a_file_is_resumed_from_another_folder() -> Outcome {
    let (folder, other) = (folder_with(&[("pendulum.rs", PENDULUM)])?, tempdir()?);
    let begun = ["--until", "1", "--every", "0.1", "--plot", "resumed.svg", "--checkpoint", "c"];
    printed(&folder, &[&["run", "pendulum.rs"], &begun[..]].concat())?;
    printed(&folder, &["run", "pendulum.rs", "--until", "2", "--every", "0.1", "--plot", "whole.svg"])?;
    let checkpoint = folder.path().join("c");
    let checkpoint = checkpoint.to_str().ok_or("a path in UTF-8")?;
    printed(&other, &["resume", checkpoint, "--until", "2"])?;
    let [resumed, whole] = ["resumed.svg", "whole.svg"].map(|name| fs::read(folder.path().join(name)));
    assert!(resumed? == whole?);
    assert!(names_in(&other)?.is_empty());
    Ok(())
}

#[test]
fn what_a_file_leaves_open_is_said() -> Outcome {
    let open =
        PENDULUM.replace("    default(m = 1, g = 1, l = 1),\n    start(q = vector![l, 0], p = vector![0, 0]),\n", "");
    let folder = folder_with(&[("pendulum.rs", &open)])?;
    let list = printed(&folder, &["list", "pendulum.rs"])?;
    assert!(list.contains("m (no default), g (no default), l (no default)"), "{list}");
    let run = ["run", "pendulum.rs", "-p", "m=1", "-p", "g=1", "-p", "l=1"];
    let complaint = |arguments: &[&str]| -> Result<String, Box<dyn Error>> {
        let output = fbint(&folder, arguments)?;
        assert_eq!(output.status.code(), Some(2));
        Ok(String::from_utf8(output.stderr)?)
    };
    // At their places, and before anything is derived.
    let unstarted = complaint(&run)?;
    assert!(unstarted.contains("nothing says where a run starts: add `start(..)`"), "{unstarted}");
    assert!(unstarted.contains("--> pendulum.rs:2:3"), "{unstarted}");
    let unknown = complaint(&["run", "pendulum.rs", "-p", "m=1", "-p", "l=1", "--start", "q=0,-1"])?;
    assert!(unknown.contains("nothing gives `g` a value: add `default(g = ..)`, or pass `-p g=..`"), "{unknown}");
    assert!(unknown.contains("--> pendulum.rs:8:45") && !unknown.contains("`m`"), "{unknown}");
    let partial = complaint(&[&run[..], &["--start", "q=0,-1", "--start", "p[1]=0"]].concat())?;
    assert!(partial.contains("nothing says where `p[0]` of PlanarPendulum start"), "{partial}");
    printed(&folder, &[&run[..], &["--until", "1", "--start", "q=0,-1", "--start", "p=1,0"]].concat())?;
    assert_eq!(json_in(&folder, "pendulum.run.json")?["start"]["q[1]"], -1.0);
    Ok(())
}

#[test]
fn vectors_are_set_as_wholes() -> Outcome {
    let folder = folder_with(&[("pendulum.rs", PENDULUM)])?;
    printed(&folder, &["run", "pendulum.rs", "--until", "0.1", "--start", "q=0,-1", "--start", "p=0.5,0"])?;
    let start = &json_in(&folder, "pendulum.run.json")?["start"];
    assert_eq!(["q[0]", "q[1]", "p[0]", "p[1]"].map(|name| start[name].as_f64()), [0.0, -1.0, 0.5, 0.0].map(Some));
    let cases = [
        ("q=1,2,3", "`q` takes 2 numbers, and is given 3"),
        ("q=1", "`q` takes 2 numbers, and is given 1"),
        ("q[0]=1,2", "`q[0]` takes one number, and is given 2"),
    ];
    for (given, message) in cases {
        refused(&fbint(&folder, &["run", "pendulum.rs", "--start", given])?, &[message]);
    }
    Ok(())
}

#[test]
fn inputs_that_nothing_gives_are_named() -> Outcome {
    let pushed = "#[feedback_system(coordinates(y), momenta(p), input(u: [2]), hamiltonian = p.powi(2) / 2, force(p = u[0] + u[1]), \
                  start(y = 1, p = 0))]\npub struct Pushed;";
    let folder = folder_with(&[("pushed.rs", pushed), ("pendulum.rs", PENDULUM)])?;
    let list = printed(&folder, &["list", "pushed.rs"])?;
    assert!(list.contains("    inputs      u: [2] (0: nothing gives them)\n"), "{list}");
    assert!(printed(&folder, &["show", "pushed.rs"])?.contains("u[0]"));
    let note = "note: inputs u: [2] are 0: nothing gives them\n";
    let commands: [(&[&str], &str); 3] = [
        (&["run", "pushed.rs", "--until", "1"], note),
        (&["ensemble", "pushed.rs", "--until", "1", "--members", "2"], note),
        (&["run", "pendulum.rs", "--until", "1"], ""),
    ];
    for (command, expected) in commands {
        let output = fbint(&folder, command)?;
        assert_eq!((output.status.code(), String::from_utf8(output.stderr)?.as_str()), (Some(0), expected));
    }
    for record in ["pushed.run.json", "pushed.ensemble.json"] {
        assert_eq!(json_in(&folder, record)?["inputs"], serde_json::json!({"u[0]": 0.0, "u[1]": 0.0}));
    }
    assert!(json_in(&folder, "pendulum.run.json")?.get("inputs").is_none());
    Ok(())
}

const CART: &str = "\
#[feedback_system(coordinates(x), momenta(p), hamiltonian = p.powi(2) / (2 * m), input(thrust, wind: [2] = vector![-k * x, 0]),
    force(p = thrust + wind[0] + wind[1]), output(effort = thrust), default(m = 2, k = 4), start(x = 1, p = 0))]
struct Cart { m: f64, k: f64 }
";

/// x'' = -(4 x + 3 p) / 2 with p = 2 x', of which the roots are -1 and -2; and a thrust of 2 for one second.
#[test]
fn inputs_are_given_by_laws_and_tables() -> Outcome {
    let folder =
        folder_with(&[("cart.rs", CART), ("pulse.csv", "t,thrust\n0,2\n1,0\n"), ("back.csv", "t,thrust\n1,0\n0,1\n")])?;
    let run = |name: &str, more: &[&str]| -> Result<serde_json::Value, Box<dyn Error>> {
        let out = format!("{name}.csv");
        printed(&folder, &[&["run", "cart.rs", "--until", "3", "--out", &out], more].concat())?;
        json_in(&folder, &format!("{name}.run.json"))
    };
    let state =
        |record: &serde_json::Value| ["x", "p"].map(|entry| record["state"][entry].as_f64().unwrap_or(f64::NAN));

    let controlled = run("controlled", &["--input", "thrust=-3 * p + 0 * sin(3*t)"])?;
    let (slow, fast) = ((-3.0_f64).exp(), (-6.0_f64).exp());
    let ([x, p], exact) = (state(&controlled), [2.0 * slow - fast, 4.0 * (fast - slow)]);
    assert!((x - exact[0]).abs() < 1e-11 && (p - exact[1]).abs() < 1e-11, "{x}, {p}, {exact:?}");
    // Outputs have the inputs of the run, and the record repeats it.
    let table = fs::read_to_string(folder.path().join("controlled.csv"))?;
    let (header, last) = (table.lines().next().unwrap_or_default(), table.lines().last().unwrap_or_default());
    let column = |name: &str| {
        header.split(',').position(|own| own == name).and_then(|at| last.split(',').nth(at)?.parse::<f64>().ok())
    };
    assert_eq!(
        column("effort").zip(column("p")).map(|(effort, p)| (effort + 3.0 * p).abs() < 1e-14),
        Some(true),
        "{table}"
    );
    fs::remove_file(folder.path().join("controlled.csv"))?;
    printed(&folder, &["run", "controlled.run.json", "--out", "again.csv"])?;
    assert_eq!(fs::read_to_string(folder.path().join("again.csv"))?, table);

    // A law of the declaration stays where another input is given.
    fs::write(
        folder.path().join("both.rs"),
        CART.replace("input(thrust,", "input(thrust = -3 * p, gust,")
            .replace("thrust + wind[0]", "thrust + gust + wind[0]"),
    )?;
    printed(&folder, &["run", "both.rs", "--until", "3", "--input", "gust=0", "--out", "both.csv"])?;
    let [x, p] = state(&json_in(&folder, "both.run.json")?);
    assert!((x - exact[0]).abs() < 1e-11 && (p - exact[1]).abs() < 1e-11, "{x}, {p}, {exact:?}");

    let pulse = ["--input", "thrust=pulse.csv", "--input", "wind[0]=0"];
    for method in [&["--method", "dop853"][..], &["--step", "0.01"]] {
        let [x, p] = state(&run("pushed", &[&pulse[..], method].concat())?);
        assert!((p - 2.0).abs() < 1e-11 && (x - 3.5).abs() < 1e-10, "{method:?}: {x}, {p}");
    }
    let ramp = ["--input", "thrust=linear(0: 0, 1: 3)", "--input", "wind[0]=0", "--method", "dop853"];
    let [_, p] = state(&run("ramp", &ramp)?);
    assert!((p - 7.5).abs() < 1e-11, "{p}");
    let refusals = [
        ("lift=1", "unknown input `lift`"),
        ("thrust=-k*y", "`y`"),
        ("thrust=vector![x, p]", "is not a number"),
        ("thrust=none.csv", "none.csv"),
        ("thrust=back.csv", "line 3: times must increase"),
        ("thrust=", "expected NAME=LAW"),
    ];
    for (input, expected) in refusals {
        let output = fbint(&folder, &["run", "cart.rs", "--input", input])?;
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() == Some(2) && message.contains(expected), "{input}: {message}");
    }
    let output = fbint(&folder, &["run", "pendulum.rs", "--input", "thrust=1"])?;
    assert!(!output.status.success());
    Ok(())
}

/// Numbers, tables and smooth expressions of the time have series. What follows from the state is a law of the declaration.
#[test]
fn taylor_series_take_inputs_that_are_given() -> Outcome {
    let free = CART.replace(" = vector![-k * x, 0]", "").replace(", k = 4", "").replace(", k: f64", "");
    let folder = folder_with(&[("cart.rs", &free)])?;
    let run = |thrust: &str| {
        let thrust = format!("thrust={thrust}");
        let given = ["--input", &thrust, "--input", "wind[0]=0", "--input", "wind[1]=1 - 1"];
        let options = ["run", "cart.rs", "--method", "taylor", "--until", "3", "--out", "cart.csv"];
        fbint(&folder, &[&options[..], &given].concat())
    };
    let cases = [
        ("2", [5.5, 6.0]),
        ("held(0: 2, 1: 0)", [3.5, 2.0]),
        ("m", [5.5, 6.0]),
        ("linear(0: 2, 1: 0)", [7.0 / 3.0, 1.0]),
        ("m * sin(t)", [4.0 - 3.0_f64.sin(), 2.0 - 2.0 * 3.0_f64.cos()]),
        ("t^3", [1.0 + 243.0 / 40.0, 81.0 / 4.0]),
        ("-x", [(3.0 * 0.5_f64.sqrt()).cos(), -SQRT_2 * (3.0 * 0.5_f64.sqrt()).sin()]),
        ("cos(t).max(0)", [1.0 + (4.0 - FRAC_PI_2) / 2.0, 1.0]),
    ];
    for (thrust, exact) in cases {
        let output = run(thrust)?;
        assert!(output.status.success(), "{thrust}: {}", String::from_utf8_lossy(&output.stderr));
        let record = json_in(&folder, "cart.run.json")?;
        let end = ["x", "p"].map(|entry| record["state"][entry].as_f64().unwrap_or(f64::NAN));
        assert!(end.iter().zip(exact).all(|(end, exact)| (end - exact).abs() < 1e-13), "{thrust}: {end:?}");
    }
    Ok(())
}

/// A cart with a motor, a brake whose law is declared, and wind in two directions.
const BRAKED: &str = "\
#[feedback_system(
    coordinates(x, y),
    velocities(v, w),
    lagrangian = m * (v.powi(2) + w.powi(2)) / 2,
    input(u = 0, brake = -c * v, wind: [2]),
    force(v = u + brake + wind[0], w = wind[1]),
    default(m = 2, c = 0),
    start(x = 1, y = 0, v = 1, w = 0),
)]
struct Braked {
    m: f64,
    c: f64,
}
";

/// The laws of a run are as good as those of a declaration: they end steps where they switch, stick, and have the run's parameters.
#[test]
fn given_laws_that_switch_end_steps() -> Outcome {
    let folder = folder_with(&[("braked.rs", BRAKED), ("table.csv", "t,brake\n0,0\n3,1\n")])?;
    // Friction stops the cart at t = 2; a thrust lasts from 1 to 3; a brake that knows no direction throws the cart back.
    let cases: [(&[&str], [f64; 2]); 6] = [
        (&["u=-signum(v)"], [2.0, 0.0]),
        (&["u=if t < 1 || t > 3 { 0 } else { 1 }", "wind[0]=0"], [7.0, 2.0]),
        (&["u=-m / 2 * v.signum()", "brake=0"], [2.0, 0.0]),
        (&["brake=if x < 2 { 0 } else { -2 }"], [1.0, -1.0]),
        (&["u=-signum(v)", "wind[1]=0"], [2.0, 0.0]),
        (&["u=m / 2 * signum(2 - t)", "brake=table.csv"], [7.25, 1.5]),
    ];
    for (inputs, exact) in cases {
        for method in [&["rk4", "--step", "0.3"][..], &["dop853", "--rtol", "1e-12"], &["taylor", "--rtol", "1e-14"]] {
            let mut options = vec!["run", "braked.rs", "--until", "4", "--out", "braked.csv", "--force", "--method"];
            options.extend(method);
            inputs.iter().for_each(|input| options.extend(["--input", input]));
            let output = fbint(&folder, &options)?;
            let complaint = String::from_utf8_lossy(&output.stderr);
            assert!(output.status.success() && !complaint.contains("switch"), "{options:?}: {complaint}");
            let record = json_in(&folder, "braked.run.json")?;
            let end = ["x", "v"].map(|entry| record["state"][entry].as_f64().unwrap_or(f64::NAN));
            assert!(end.iter().zip(exact).all(|(end, exact)| (end - exact).abs() < 1e-10), "{options:?}: {end:?}");
        }
    }
    Ok(())
}

/// A compiled model keeps its inputs as they are, and so does a text whose laws are sampled.
#[test]
fn given_laws_that_pass_their_switches_are_named() -> Outcome {
    let sampled = BRAKED.replace("wind: [2]", "wind: [2], every = 0.5");
    let folder = folder_with(&[("sampled.rs", &sampled)])?;
    for (model, law) in [("cart-pole", "thrust=-v.signum()"), ("sampled.rs", "u=-v.signum()")] {
        let output = fbint(&folder, &["run", model, "--until", "0.1", "--step", "0.1", "--input", law])?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert!(complaint.contains("steps pass the switches of the laws of `"), "{model}: {complaint}");
    }
    let taylor = fbint(&folder, &["run", "cart-pole", "--until", "1", "--method", "taylor", "--input", "thrust=-x"])?;
    refused(&taylor, &["Taylor", "tables or smooth expressions of the time", "input(u = ..)", "DOP853"]);
    Ok(())
}

#[test]
fn a_record_repeats_its_run() -> Outcome {
    let folder = folder_with(&[("pendulum.rs", PENDULUM)])?;
    let options = ["--method", "dop853", "--until", "3", "--rtol", "1e-6", "--start", "p=0,0.5"];
    let first = printed(&folder, &[&["run", "pendulum.rs", "--out", "a.csv"], &options[..]].concat())?;
    let again = printed(&folder, &["run", "a.run.json", "--out", "b.csv"])?;
    assert!(again.starts_with("repeats the run of a.run.json\n"), "{again}");
    let report = first.split("trajectory:").next().unwrap_or_default();
    assert!(again.contains(report), "{again}");
    let [a, b] = ["a.csv", "b.csv"].map(|name| fs::read(folder.path().join(name)));
    assert!(a? == b?);

    refused(&fbint(&folder, &["run", "a.run.json", "--until", "4"])?, &["a.run.json", "leave out"]);
    refused(&fbint(&folder, &["resume", "a.run.json"])?, &["a record and not a checkpoint", "run a.run.json"]);
    refused(&fbint(&folder, &["show", "a.run.json"])?, &["a record and not a model", "run a.run.json"]);
    printed(&folder, &["ensemble", "pendulum.rs", "--members", "2", "--until", "0.1"])?;
    refused(&fbint(&folder, &["run", "pendulum.ensemble.json"])?, &["the record of an ensemble"]);
    // The record has the text, and needs no file.
    assert_eq!(json_in(&folder, "a.run.json")?["text"], PENDULUM);
    fs::write(folder.path().join("pendulum.rs"), PENDULUM.replace("m * g * q[1]", "2 * m * g * q[1]"))?;
    printed(&folder, &["run", "a.run.json", "--out", "c.csv"])?;
    let [a, c] = ["a.csv", "c.csv"].map(|name| fs::read(folder.path().join(name)));
    assert!(a? == c?);
    let record = fs::read_to_string(folder.path().join("a.run.json"))?;
    fs::write(folder.path().join("other.run.json"), record.replace("m * g * q[1]", "2 * m * g * q[1]"))?;
    refused(&fbint(&folder, &["run", "other.run.json"])?, &["derives other code", "repeat it with that version"]);
    Ok(())
}

/// A cart that bounces between two walls, with a brake that is sampled, wind from a table and a law from the command line.
const BOUNCED: &str = "\
#[feedback_system(
    coordinates(x), momenta(p), time(t),
    hamiltonian = p.powi(2) / (2 * m),
    input(brake = -c * p, every = 0.03, delay = 1, wind, pull),
    force(p = brake + wind + pull - mu * p.signum()),
    output(effort = brake + wind),
    event(wall[i in 0..2] = x + 2 * i - 1, reset(p = -e * p)),
    section(middle = x, rising),
    draw(rod(vector![-1, 0], vector![1, 0]), point(vector![x, 0])),
    default(m = 1, c = 0.1, mu = 0.05, e = 0.9), start(x = 0.2, p = 3),
)]
struct Bounced { m: f64, c: f64, mu: f64, e: f64 }
";

#[test]
fn a_record_repeats_laws_events_and_tables() -> Outcome {
    let inputs = ["--input", "wind=wind.csv", "--input", "pull=0.3 * sin(2*t) - x"];
    for method in [&["--method", "dop853"][..], &["--step", "0.01"], &["--method", "gauss4", "--step", "0.02"]] {
        let folder = folder_with(&[("bounced.rs", BOUNCED), ("wind.csv", "t,wind\n0,1\n0.5,-1\n2,0.25\n")])?;
        let outputs = ["--until", "3", "--out", "a.csv", "--plot", "a.svg", "--section", "middle=a-middle.csv"];
        let first = printed(&folder, &[&["run", "bounced.rs"], &outputs[..], &inputs, method].concat())?;
        assert!(first.contains("wall[0]") && first.contains("wall[1]"), "{first}");
        // The record needs no text, and reads the table again.
        fs::remove_file(folder.path().join("bounced.rs"))?;
        let outputs = ["--out", "b.csv", "--plot", "b.svg", "--section", "middle=b-middle.csv"];
        printed(&folder, &[&["run", "a.run.json"], &outputs[..]].concat())?;
        for [one, other] in [["a.csv", "b.csv"], ["a-middle.csv", "b-middle.csv"], ["a.svg", "b.svg"]] {
            let [one, other] = [one, other].map(|name| fs::read(folder.path().join(name)));
            assert!(one? == other?, "{method:?}");
        }
        let [a, b] = [json_in(&folder, "a.run.json")?, json_in(&folder, "b.run.json")?];
        assert_eq!(a["events"], b["events"]);
        assert_eq!(a["code_sha256"], b["code_sha256"]);
        assert_eq!(a["state"], b["state"]);
    }
    Ok(())
}

/// What a terminal would obey is shown.
#[test]
fn control_characters_are_not_printed() -> Outcome {
    let (escape, bell) = ('\u{1b}', '\u{7}');
    let text = format!(
        "/// {escape}]0;owned{bell} the title \u{9b}2J of the terminal.\n#[doc = \"\\x1b[2J\"]\n\
         #[feedback_system(state(x), dynamics(x = 0 - x), start(x = 1))]\nstruct Escapes;"
    );
    let mistaken = text.replace("0 - x", "0 - y").replace("start", &format!("\"{escape}[2J\", start"));
    let folder = folder_with(&[("escapes.rs", &text), ("mistaken.rs", &mistaken)])?;
    let commands: [&[&str]; 5] = [
        &["list", "escapes.rs"],
        &["show", "escapes.rs"],
        &["run", "escapes.rs"],
        &["list", "mistaken.rs"],
        &["list", "\u{1b}.rs"],
    ];
    for command in commands {
        let output = fbint(&folder, command)?;
        let printed = String::from_utf8([output.stdout, output.stderr].concat())?;
        assert!(printed.chars().all(|letter| letter == '\n' || !letter.is_control()), "{command:?}: {printed:?}");
    }
    let list = printed(&folder, &["list", "escapes.rs"])?;
    assert!(list.contains("␛]0;owned␇ the title �2J of the terminal."), "{list}");
    Ok(())
}

#[test]
fn one_of_several_models_in_a_file_is_named() -> Outcome {
    let folder = folder_with(&[("both.rs", &format!("{PENDULUM}\n{OSCILLATOR}"))])?;
    let several = fbint(&folder, &["run", "both.rs"])?;
    refused(&several, &["several models", "both.rs:planar-pendulum or both.rs:oscillator"]);
    let unknown = fbint(&folder, &["run", "both.rs:osillator"])?;
    refused(&unknown, &["unknown model `osillator`", "did you mean `oscillator`"]);
    printed(&folder, &["run", "both.rs:oscillator", "--until", "1"])?;
    assert_eq!(names_in(&folder)?, ["both.rs", "oscillator.run.json"]);
    // The struct's own name means the same model, in a file and in the program.
    let [by_name, by_struct] = ["both.rs:planar-pendulum", "both.rs:PlanarPendulum"]
        .map(|model| printed(&folder, &["show", model, "--equations"]));
    assert_eq!(by_name?, by_struct?);
    printed(&folder, &["run", "both.rs:PlanarPendulum", "--until", "1"])?;
    printed(&folder, &["run", "PlanarPendulum.run.json", "--force"])?;
    assert!(printed(&folder, &["list", "FourBar"])?.starts_with("four-bar\n"));
    refused(&fbint(&folder, &["run", "none.rs"])?, &["cannot read none.rs", "no such file"]);
    Ok(())
}

/// As the Rust compiler says it: file, line, column, the line itself and a mark below the mistake; all of them.
#[test]
fn mistakes_in_a_file_are_shown_at_their_places() -> Outcome {
    let mistaken = PENDULUM.replace("l.powi(2)", "r.powi(2)").replace("m * g * q[1]", "m * g * q[2]");
    let folder = folder_with(&[("pendulum.rs", &mistaken)])?;
    let output = fbint(&folder, &["run", "pendulum.rs"])?;
    let complaint = String::from_utf8(output.stderr)?;
    assert_eq!(output.status.code(), Some(2), "{complaint}");
    assert!(output.stdout.is_empty() && names_in(&folder)? == ["pendulum.rs"]);
    for words in ["--> pendulum.rs:5:", "--> pendulum.rs:6:", "`r`", "q[2]", "^"] {
        assert!(complaint.contains(words), "no {words} in\n{complaint}");
    }
    Ok(())
}

/// Paths belong to the system, which does not ask for UTF-8. A model's own path has to be a text, because records name it.
#[cfg(target_os = "linux")]
#[test]
fn files_may_have_names_that_are_not_in_utf_8() -> Outcome {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::process::Command;

    let folder = folder_with(&[("pendulum.rs", PENDULUM)])?;
    let [table, figure, model] = [&b"run-\xff.csv"[..], b"run-\xff.svg", b"model-\xff.rs"].map(OsStr::from_bytes);
    let run = |model: &OsStr| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_fbint"));
        command.current_dir(&folder).arg("run").arg(model).args(["--until", "0.1", "--out"]);
        command.arg(table).arg("--plot").arg(figure).output()
    };
    let output = run(OsStr::new("pendulum.rs"))?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert!([table, figure].iter().all(|file| folder.path().join(file).exists()));

    fs::copy(folder.path().join("pendulum.rs"), folder.path().join(model))?;
    refused(&run(model)?, &["UTF-8"]);
    Ok(())
}

const SWING: &str = "\
use fbint_runtime::feedback_system;

#[feedback_system(
    coordinates(q: [2]), momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + g * q[1],
    constraint(length = q.norm_squared() - l.powi(2)),
    section(bottom = q[0], rising),
    output(height = q[1] + l),
    default(g = 9.81, l = 1), start(q = vector![l, 0], p = vector![0, 0]),
)]
pub struct Swing { pub g: f64, pub l: f64 }

impl fbint_command::Model for Swing {
    fn drawing(&self, _: &SwingState) -> Drawing { Drawing::new() }
}

fn main() { fbint_command::main![Swing]; }
";

/// Other items are passed over, and what a run lacks without them is said.
#[test]
fn a_source_file_of_a_crate_is_a_text() -> Outcome {
    let folder = tempdir()?;
    fs::create_dir(folder.path().join("src"))?;
    fs::write(folder.path().join("src/main.rs"), SWING)?;
    let output = fbint(&folder, &["run", "src/main.rs:swing", "--until", "1"])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let notes = String::from_utf8(output.stderr)?;
    assert!(notes.contains("`impl Model for Swing` is passed over with its functions drawing"), "{notes}");
    assert!(printed(&folder, &["list", "src/main.rs:swing"])?.starts_with("swing\n"));
    let plain = SWING.split("impl fbint_command").next().unwrap_or_default();
    fs::write(folder.path().join("plain.rs"), plain)?;
    let [text, source] = [("plain.rs", "a.csv"), ("src/main.rs", "b.csv")].map(|(model, table)| {
        printed(&folder, &["run", model, "--until", "1", "--out", table])?;
        Ok::<_, Box<dyn Error>>(fs::read(folder.path().join(table))?)
    });
    assert!(text? == source?);
    // A method that takes derivatives needs no key in a text.
    printed(&folder, &["run", "plain.rs", "--until", "1", "--method", "rodas5p"])?;
    Ok(())
}

#[test]
fn sections_are_tables_and_pictures() -> Outcome {
    let (declaration, _) = SWING.split_once("impl").ok_or("no other item")?;
    let folder = folder_with(&[("swing.rs", declaration)])?;
    let files = ["--section", "bottom=bottom.csv", "--section", "bottom=bottom.svg"];
    let run = ["run", "swing.rs", "--method", "dop853", "--rtol", "1e-12", "--until", "20"];
    let text = printed(&folder, &[&run[..], &files].concat())?;
    assert!(text.contains("section `bottom`: bottom.csv") && text.contains("record: bottom.run.json"), "{text}");
    let table = fs::read_to_string(folder.path().join("bottom.csv"))?;
    let mut lines = table.lines();
    assert_eq!(lines.next(), Some("occurrence,t,q[0],q[1],p[0],p[1],height"));
    let rows: Vec<Vec<f64>> = lines.map(|line| line.split(',').flat_map(str::parse).collect()).collect();
    // It is let go at the side, on the right: 3/4 of the period 4 K(1 / sqrt 2) / sqrt g, and then once a period.
    let period = 7.416_298_709_205_487 / 9.81_f64.sqrt();
    assert_eq!(rows.len(), 8);
    for (number, row) in rows.iter().enumerate() {
        let exact = (number as f64 + 0.75) * period;
        assert!(row[0] == (number + 1) as f64 && (row[1] - exact).abs() < 1e-9, "{row:?}");
        assert!(
            row[2].abs() < 1e-10 && (row[4] - (2.0_f64 * 9.81).sqrt()).abs() < 1e-9 && row[6].abs() < 1e-10,
            "{row:?}"
        );
    }
    let picture = fs::read_to_string(folder.path().join("bottom.svg"))?;
    assert!(picture.contains("section bottom: 8 points"), "{picture}");
    // They replace themselves.
    printed(&folder, &[&run[..], &files].concat())?;
    let refusals: [(&str, &[&str]); 4] = [
        ("botom=a.csv", &["unknown event or section `botom`", "did you mean `bottom`"]),
        ("bottom", &["expected NAME=FILE"]),
        ("bottom=a.txt", &["--section", ".csv"]),
        ("bottom=swing.rs", &["--section"]),
    ];
    for (section, words) in refusals {
        refused(&fbint(&folder, &["run", "swing.rs", "--section", section])?, words);
    }
    refused(
        &fbint(&folder, &["run", "kepler", "--section", "top=a.csv"])?,
        &["declares no events and no sections", "section(top = ..)"],
    );
    Ok(())
}

/// A family that begins at 1, a matrix of parameters and a column of a matrix of the state.
#[test]
fn conditions_know_the_shapes_of_what_is_declared() -> Outcome {
    let text = "#[feedback_system(state(x: [2, 2]), dynamics(x = turn * x), output(square[i in 1..3] = i * x[(0, 0)]),
        default(turn = matrix![0, 1; -1, 0]), start(x = matrix![1, 0; 0, 1]))]
        struct Turning { turn: SMatrix<f64, 2, 2> }";
    let folder = folder_with(&[("turning.rs", text)])?;
    for (condition, time) in [
        ("square[2] < 1", std::f64::consts::FRAC_PI_3),
        ("turn[(0, 1)] * x[(0, 0)] < 0.5", std::f64::consts::FRAC_PI_3),
        ("x.column(1).x > turn.determinant() / 2", std::f64::consts::FRAC_PI_6),
    ] {
        let run =
            ["run", "turning.rs", "--method", "dop853", "--rtol", "1e-12", "--until", "5", "--until-event", condition];
        printed(&folder, &run)?;
        let end = json_in(&folder, "turning.run.json")?["time"].as_f64().unwrap_or(f64::NAN);
        assert!((end - time).abs() < 1e-9, "{condition}: {end}");
    }
    let list = printed(&folder, &["list", "turning.rs"])?;
    assert!(list.contains("    state       x: [2, 2]\n"), "{list}");
    Ok(())
}

/// A parameter without which constraints alone determine a motion: the field was derived for another value.
#[test]
fn a_parameter_that_takes_the_inertia_is_named_as_it_was_given() -> Outcome {
    let text = "#[feedback_system(coordinates(x, y), velocities(v, w), lagrangian = (v.powi(2) + eps * w.powi(2)) / 2,
        constraint(link = y - 2 * x), default(eps = 1), start(x = 0, y = 0, v = 1, w = 2))]
        struct Link { eps: f64 }";
    let folder = folder_with(&[("link.rs", text)])?;
    let words = ["-p eps=0: at the start the mass matrix is singular along the velocity `w`"];
    refused(&fbint(&folder, &["run", "link.rs", "--until", "1", "-p", "eps=0"])?, &words);
    Ok(())
}

/// An angle that is meant in degrees.
#[test]
fn what_is_doubted_is_part_of_the_report() -> Outcome {
    let text =
        "#[feedback_system(coordinates(a), velocities(v), lagrangian = v.powi(2) / 2 + a.cos(), start(a = 90, v = 0))]
        struct Degrees;";
    let folder = folder_with(&[("degrees.rs", text)])?;
    let report = printed(&folder, &["run", "degrees.rs", "--until", "1"])?;
    assert!(report.contains("doubtful: the angle `a` starts beyond a full turn; angles are in radians"), "{report}");
    Ok(())
}

/// Either side is an expression of the state, the time, the parameters and the outputs.
#[test]
fn a_run_ends_where_expressions_compare() -> Outcome {
    let (declaration, _) = SWING.split_once("impl").ok_or("no other item")?;
    let folder = folder_with(&[("swing.rs", declaration)])?;
    let end = |condition: &str| -> Result<(f64, [f64; 4]), Box<dyn Error>> {
        let run = ["run", "swing.rs", "--method", "dop853", "--rtol", "1e-12", "--until", "5", "-p", "l=2"];
        printed(&folder, &[&run[..], &["--until-event", condition]].concat())?;
        let record = json_in(&folder, "swing.run.json")?;
        assert_eq!(record["status"], "complete");
        assert_eq!(record["ended_by"], record["until_event"], "{condition}");
        let number = |value: &serde_json::Value| value.as_f64().unwrap_or(f64::NAN);
        let state = ["q[0]", "q[1]", "p[0]", "p[1]"].map(|entry| number(&record["state"][entry]));
        Ok((number(&record["time"]), state))
    };
    let (_, q) = end("q[0]^2 + p[1] < -1.5")?;
    assert!((q[0].powi(2) + q[3] + 1.5).abs() < 1e-9, "{q:?}");
    let (_, q) = end("q[1] < -l * sin(1)")?;
    assert!((q[1] + 2.0 * 1.0_f64.sin()).abs() < 1e-9, "{q:?}");
    let (t, q) = end("t - 1 > q[0] / l")?;
    assert!((t - 1.0 - q[0] / 2.0).abs() < 1e-9, "{q:?}");
    // Conditions that switch.
    let (_, q) = end("abs(q[1]) > l / 2")?;
    assert!((q[1] + 1.0).abs() < 1e-9, "{q:?}");
    let (_, q) = end("q[0].max(q[1]) < 0")?;
    assert!(q[0].abs() < 1e-9 && q[1] < 0.0, "{q:?}");
    let (_, q) = end("height < l / 2")?;
    assert!((q[1] + 1.0).abs() < 1e-9, "{q:?}");
    let refusals: [(&str, &[&str]); 3] = [
        ("q[0] < 2 * k", &["--until-event `q[0] < 2 * k`", "unknown name `k`"]),
        ("q < 2 * l", &["--until-event `q < 2 * l`"]),
        ("height + l > 0", &["is true at the start, where its left side is 2.0"]),
    ];
    for (condition, words) in refusals {
        refused(&fbint(&folder, &["run", "swing.rs", "--until-event", condition])?, words);
    }
    Ok(())
}
