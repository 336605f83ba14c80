//! How the command `fbint` refuses: one line that names what is wrong and what to do, exit code 2, and no file.

use std::error::Error;
use std::fs;
use std::process::Command;

use tempfile::tempdir;

const MODEL: &str = "spherical-pendulum-cpv22";

use super::common::{fbint, names_in, refused};

type Outcome = Result<(), Box<dyn Error>>;

#[test]
fn bad_input_is_one_line_exit_code_2_and_no_file() -> Outcome {
    let cases: [(&[&str], &[&str]); 40] = [
        (&["--step", "0"], &["--step", "'0'", "positive"]),
        (&["--step", "-1e-3"], &["--step", "'-1e-3'", "positive"]),
        (&["--step", "nan"], &["--step", "'nan'"]),
        (&["--dt", "0.1"], &["'--dt'", "'--step'"]),
        (&["--tol", "1e-6"], &["'--tol'", "'--rtol'"]),
        (&["--step", "fast"], &["--step", "'fast'"]),
        (&["--until", "-5"], &["--until", "-5", "is not after the start at t = 0"]),
        (&["--until", "inf"], &["--until", "'inf'", "finite"]),
        (&["--every", "1e-3", "--until", "1e9"], &["--every", "samples"]),
        (&["--gains", "0"], &["--gains", "'0'", "positive"]),
        (&["--gains", "-5"], &["--gains", "'-5'", "positive"]),
        (&["--gains", "1e308"], &["--gains", "`1e308` is too large", "1e150"]),
        (&["--gains", "1,1e308,1,1"], &["--gains", "`1e308` is too large"]),
        (&["--gains", "relaxation:-1"], &["--gains", "`-1` is not positive"]),
        (&["--gains", "1,1,-1,1"], &["--gains", "`-1` is not positive"]),
        (&["--gains", "1,2"], &["2 values", "4 integrals", "f1, f2, energy"]),
        (&["--gains", "strong"], &["--gains", "`strong` is not a number"]),
        (&["-p", "m=nan"], &["`m`", "NaN"]),
        (&["-p", "mass=2"], &["unknown parameter `mass`", "did you mean `m`", "m, g, l"]),
        (&["-p", "m"], &["'m'", "NAME=VALUE"]),
        (&["--start", "q[0]=inf"], &["`q[0]`", "inf"]),
        (&["--start", "q[3]=0"], &["unknown entry of the state `q[3]`", "did you mean", "p[2]"]),
        (&["--guess", "q[3]=0"], &["unknown entry of the state `q[3]`", "did you mean"]),
        (&["-p", "m=0"], &["at the start, perhaps because of `m` = 0.0"]),
        (&["--checkpoint-every", "-1", "--checkpoint", "c"], &["--checkpoint-every", "-1", "0 or more"]),
        (
            &["--method", "leapfrog"],
            &[
                "'leapfrog'",
                "euler, midpoint, heun, rk4, gauss4, gauss8, gauss16, discrete-hamel, stormer-verlet, rattle, dormand-prince, dop853, rodas5p, taylor",
            ],
        ),
        (&["--method", "stormer-verlet"], &["Stormer-Verlet", "SphericalPendulum", "RATTLE"]),
        (&["--method", "dop853", "--step", "0.1"], &["DOP853", "--rtol", "--step"]),
        (&["--method", "taylor", "--atol", "1e-9"], &["Taylor", "--atol", "--rtol alone"]),
        (&["--method", "taylor"], &["Taylor", "SphericalPendulum", "key `taylor`"]),
        (&["--method", "heun", "--rtol", "1e-6"], &["Heun", "--step", "instead of --rtol"]),
        (&["--atol", "1e-6"], &["RK4", "--step", "instead of --atol"]),
        (&["--method", "dop853", "--rtol", "-1"], &["--rtol", "'-1'", "positive"]),
        (&["--method", "dormand-prince", "--atol", "nan"], &["--atol", "'nan'"]),
        (&["--method", "dop853", "--every", "1e-9"], &["--every", "samples"]),
        (&["--every", "-1"], &["--every", "`-1` is not positive"]),
        (&["--max-step", "0.1"], &["RK4", "--step", "instead of --max-step"]),
        (&["--method", "dop853", "--max-step", "0"], &["--max-step", "`0` is not positive"]),
        (&["--max-steps", "0"], &["--max-steps", "whole number"]),
        (&["--max-steps", "100"], &["10000 steps of 0.001", "more than --max-steps 100", "--step", "--until"]),
    ];
    for (arguments, words) in cases {
        let folder = tempdir()?;
        let files = ["--out", "a.csv", "--plot", "a.svg"];
        let output = fbint(folder.path(), &[&["run", MODEL], arguments, &files].concat())?;
        refused(&output, words);
        assert!(names_in(&folder)?.is_empty(), "{arguments:?} left {:?}", names_in(&folder)?);
    }
    Ok(())
}

#[test]
fn unknown_models_and_commands_are_met_with_the_known_ones() -> Outcome {
    let folder = tempdir()?;
    let nearest = format!("did you mean `{MODEL}`?");
    refused(&fbint(folder.path(), &["run", "sperical-pendulm-cpv22"])?, &["`sperical-pendulm-cpv22`", &nearest]);
    refused(&fbint(folder.path(), &["show", "zzz"])?, &["unknown model `zzz`", "known: ", MODEL]);
    refused(&fbint(folder.path(), &["shwo"])?, &["'shwo'"]);
    refused(&fbint(folder.path(), &["run"])?, &["<MODEL>"]);
    refused(&fbint(folder.path(), &["show", MODEL, "--latex", "--rust"])?, &["--latex", "--rust"]);
    Ok(())
}

#[test]
fn a_path_that_cannot_be_written_is_refused_before_the_run() -> Outcome {
    let folder = tempdir()?;
    fs::create_dir(folder.path().join("taken.csv"))?;
    fs::write(folder.path().join("file"), "")?;
    // Refused at once, or this test would last for days.
    let endless = ["run", MODEL, "--until", "1e9"];
    for (files, words) in [
        (["--out", "nowhere/a.csv"], ["nowhere/a.csv", "no such folder"]),
        (["--plot", "nowhere/a.svg"], ["nowhere/a.svg", "no such folder"]),
        (["--out", "taken.csv"], ["taken.csv", "not a regular file"]),
        (["--out", "file/a.csv"], ["file/a.csv", "not a folder"]),
    ] {
        refused(&fbint(folder.path(), &[&endless[..], &files].concat())?, &words);
    }
    let both = ["--out", "a.csv", "--checkpoint", "taken.csv/../a.csv"];
    refused(&fbint(folder.path(), &[&endless[..], &both].concat())?, &["--out", "--checkpoint", "both"]);
    let both = ["--plot", "a.svg", "--checkpoint", "a.run.json"];
    refused(
        &fbint(folder.path(), &[&endless[..], &both].concat())?,
        &["--checkpoint", "the record of the run", "both"],
    );
    refused(&fbint(folder.path(), &[&endless[..], &["--checkpoint", "no/c"]].concat())?, &["no/c", "no such folder"]);
    refused(&fbint(folder.path(), &[&endless[..], &["--checkpoint-every", "5"]].concat())?, &["--checkpoint"]);
    assert_eq!(names_in(&folder)?, ["file", "taken.csv"]);
    Ok(())
}

/// The ending of a path decides what is written; an ending that nothing is written for is refused with those that exist.
/// A record, or the folder of blocks, has a longer name than the file that it is beside.
#[test]
fn a_name_that_is_too_long_is_refused_before_the_run() -> Outcome {
    let long = |ending: &str| format!("{}.{ending}", "x".repeat(254 - ending.len()));
    let (table, longer) = (long("csv"), format!("x{}", long("csv")));
    let ensemble = ["ensemble", MODEL, "--members", "2", "--until", "0.1"];
    for (command, option, file) in [
        (&["run", MODEL][..], "--out", &table),
        (&["run", MODEL], "--out", &longer),
        (&["run", MODEL], "--checkpoint", &long("c")),
        (&ensemble, "--ends", &table),
    ] {
        let folder = tempdir()?;
        let output = fbint(folder.path(), &[command, &[option, file.as_str()]].concat())?;
        refused(&output, &["cannot write xxx", "the name is too long"]);
        assert!(names_in(&folder)?.is_empty(), "{:?}", names_in(&folder)?);
    }
    Ok(())
}

#[test]
fn an_unknown_ending_is_refused_with_the_known_ones() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", MODEL, "--until", "0.1"];
    for (files, words) in [
        (["--plot", "a.pdf"], ["--plot a.pdf", ".svg or .png"]),
        (["--plot", "a"], ["--plot a:", ".svg or .png"]),
        (["--out", "a.json"], ["--out a.json", "must be .csv or .parquet"]),
    ] {
        refused(&fbint(folder.path(), &[&run[..], &files].concat())?, &words);
    }
    for option in ["--out", "--ends", "--samples"] {
        let ensemble = ["ensemble", MODEL, "--members", "2", "--until", "0.1", option, "a.json"];
        refused(&fbint(folder.path(), &ensemble)?, &[option, "a.json", "must be .csv or .parquet"]);
    }
    assert!(names_in(&folder)?.is_empty());
    assert!(fbint(folder.path(), &[&run[..], &["--out", "A.CSV"]].concat())?.status.success());
    Ok(())
}

/// The exit code says that the input was bad even if the message cannot be written.
#[cfg(target_os = "linux")]
#[test]
fn a_message_that_cannot_be_written_is_not_a_panic() -> Outcome {
    let folder = tempdir()?;
    for arguments in [&["shwo"][..], &["run", MODEL, "--step", "-1"], &["run", "nothing"]] {
        let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
        let mut command = Command::new(env!("CARGO_BIN_EXE_fbint"));
        let output = command.current_dir(folder.path()).args(arguments).stderr(full).output()?;
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
    }
    let full = fs::OpenOptions::new().write(true).open("/dev/full")?;
    let mut list = Command::new(env!("CARGO_BIN_EXE_fbint"));
    let output = list.current_dir(folder.path()).arg("list").stdout(full).output()?;
    refused(&output, &["cannot print", "no space left on the device"]);
    Ok(())
}
