//! Runs of the command that begin and fail: exit code 2, the message, the record, and the trajectory until then.

use std::error::Error;
use std::fs;

use serde_json::json;
use tempfile::tempdir;

use super::common::{fbint, json_in, names_in, refused};

type Outcome = Result<(), Box<dyn Error>>;

#[test]
fn a_run_that_fails_writes_its_trajectory_until_then_and_a_record() -> Outcome {
    let cases: [&[&str]; 4] = [
        // Plain steps that are too long, projected ones, and error control before a collision without projections and with them.
        &["spherical-pendulum-cpv22", "--gains", "none", "--method", "euler", "--step", "0.5", "--until", "100"],
        &["spherical-pendulum", "--step", "1.4", "--until", "50"],
        &["kepler", "--method", "dop853", "--start", "v[1]=0", "--gains", "none", "--until", "5"],
        &["kepler", "--method", "dop853", "--start", "v[1]=0", "--until", "5"],
    ];
    for arguments in cases {
        let folder = tempdir()?;
        fs::write(folder.path().join("a.csv"), "t,d(of an earlier run)")?;
        let output = fbint(folder.path(), &[&["run"], arguments, &["--out", "a.csv", "--plot", "a.svg"]].concat())?;
        refused(&output, &["the trajectory until then is in a.csv", "t = "]);
        assert_eq!(names_in(&folder)?, ["a.csv", "a.run.json"], "{arguments:?}");

        let mut table = csv::Reader::from_path(folder.path().join("a.csv"))?;
        let header = table.headers()?.clone();
        let rows = table.deserialize().collect::<Result<Vec<Vec<f64>>, _>>()?;
        let (first, last) = (&rows[0], &rows[rows.len() - 1]);
        assert!(first[0] == 0.0 && rows.len() > 1 && rows.windows(2).all(|rows| rows[0][0] < rows[1][0]));
        assert!(rows.iter().flatten().all(|number| number.is_finite()), "{arguments:?}");
        // Every change of an integral begins at 0, but for rounding.
        assert!(header.iter().zip(first).all(|(name, value)| !name.starts_with("d(") || value.abs() < 1e-12));

        let record = json_in(&folder, "a.run.json")?;
        assert_eq!((&record["status"], &record["drift"]), (&json!("failed"), &json!(null)));
        let complaint = format!("error: {}\n", record["message"].as_str().ok_or("no message")?);
        assert_eq!(complaint, String::from_utf8_lossy(&output.stderr));
        assert_eq!(record["time"].as_f64(), Some(last[0]), "{arguments:?}");
        for (name, value) in header.iter().zip(last).skip(1).take(6) {
            assert_eq!(record["state"][name].as_f64(), Some(*value), "{arguments:?}: {name}");
        }
    }
    Ok(())
}

/// Steps that are far too long lose the constraints, with projections as without.
#[test]
fn a_run_that_loses_its_constraints_fails_or_is_doubtful() -> Outcome {
    let folder = tempdir()?;
    for (model, steps) in [
        ("spherical-pendulum", ["20", "5", "2"]),
        ("planar-pendulum", ["20", "5", "3"]),
        ("chain-4", ["5", "2", "1"]),
        ("free-rigid-body", ["20", "5", "4"]),
    ] {
        for (step, method) in steps.into_iter().flat_map(|step| ["euler", "heun", "rk4"].map(|method| (step, method))) {
            let run = ["run", model, "--method", method, "--step", step, "--until", "10"];
            let output = fbint(folder.path(), &run)?;
            // A damped projection may hold the integrals in spite of such a step, which is not silent.
            if output.status.success() {
                let report = String::from_utf8_lossy(&output.stdout);
                assert!(report.contains("\ndoubtful: "), "{model}, {method}, {step}: {report}");
            } else {
                refused(&output, &[" at t = "]);
            }
        }
    }
    Ok(())
}

#[test]
fn parameters_that_may_be_the_reason_are_named() -> Outcome {
    for (model, parameter) in [
        ("four-bar", "m"),
        ("planar-pendulum", "m"),
        ("spherical-pendulum-cpv22", "m"),
        ("euler-top", "inertia[0]"),
        ("free-rigid-body", "inertia[2]"),
    ] {
        for value in ["0", "-0", "1e-320"] {
            let folder = tempdir()?;
            let output = fbint(folder.path(), &["run", model, "-p", &format!("{parameter}={value}")])?;
            refused(&output, &[&format!("`{parameter}` = {:?}", value.parse::<f64>()?)]);
            assert!(names_in(&folder)?.is_empty());
        }
    }
    Ok(())
}

/// A guess says where the repair begins, and nothing more: the direction stays, the length follows.
#[test]
fn a_guess_is_repaired_and_not_held() -> Outcome {
    let folder = tempdir()?;
    let guesses = ["--guess", "q[0]=3", "--guess", "q[1]=-4"];
    let run = [&["run", "planar-pendulum", "--until", "0.1", "--out", "a.csv"], &guesses[..]].concat();
    assert!(fbint(folder.path(), &run)?.status.success());
    let start = &json_in(&folder, "a.run.json")?["start"];
    for (name, expected) in [("q[0]", 0.6), ("q[1]", -0.8)] {
        assert!(start[name].as_f64().is_some_and(|value| (value - expected).abs() < 1e-9), "{start}");
    }
    refused(&fbint(folder.path(), &[&run[..], &["--start", "q[0]=0.5"]].concat())?, &["--start", "--guess", "`q[0]`"]);
    let held = ["run", "planar-pendulum", "--start", "q[0]=3", "--guess", "q[1]=0"];
    refused(&fbint(folder.path(), &held)?, &["no consistent start", "--guess"]);

    let ensemble = ["ensemble", "four-bar", "--members", "3", "--until", "0.1", "--guess", "b[1]=0.5"];
    assert!(fbint(folder.path(), &[&ensemble[..], &["--vary", "a[1]=uniform:0.1,0.2"]].concat())?.status.success());
    assert_eq!(json_in(&folder, "four-bar.ensemble.json")?["guessed_entries"], json!({"b[1]": 0.5}));
    let both = [&ensemble[..], &["--vary", "b[1]=uniform:0.1,0.2"]].concat();
    refused(&fbint(folder.path(), &both)?, &["--vary", "`b[1]`", "--guess"]);
    Ok(())
}
