//! The command `fbint` when it is interrupted or killed, and when it resumes: files are whole or absent, never without their record, and
//! bit-identical to the files of an uninterrupted run. Signals come between any two steps. An interrupted ensemble keeps the members
//! that are done.
#![cfg(unix)]

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Output, Stdio};
use std::thread::{sleep, yield_now};
use std::time::Duration;

use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use tempfile::{TempDir, tempdir};

#[cfg(feature = "parquet")]
use super::common::files_in;
use super::common::{blocks_in, fbint, is_thorough, json_in, names_in, refused};

type Outcome = Result<(), Box<dyn Error>>;

/// How often is looked whether something has happened. Nothing but load depends on it.
const INTERVAL: Duration = Duration::from_millis(2);
/// A run that would last for days, with files.
const ENDLESS: [&str; 8] = ["run", "four-bar", "--until", "1e7", "--out", "a.csv", "--plot", "a.svg"];

#[test]
fn ctrl_c_keeps_the_state_that_was_reached() -> Outcome {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempdir()?;
        let precious = "<svg><!-- written by fbint --></svg>";
        fs::write(folder.path().join("a.svg"), precious)?;
        let arguments = [&ENDLESS[..], &["--checkpoint", "c", "--checkpoint-every", "0"]].concat();
        let mut child = begin(&folder, &arguments)?;
        wait_until(&mut child, || time_of(&folder, "c") > 0.5)?;
        send(signal, &child)?;
        let output = child.wait_with_output()?;
        let record = json_in(&folder, "a.run.json")?;
        let time = record["time"].as_f64().ok_or("no time")?;
        let line = format!("interrupted at t = {time:?} of 10000000.0; `fbint resume c` resumes from there\n");
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(code), line.into()));
        assert!(output.stdout.is_empty());
        assert_eq!(names_in(&folder)?, ["a.run.json", "a.svg", "c"]);
        assert_eq!(fs::read_to_string(folder.path().join("a.svg"))?, precious);
        assert_eq!(record["status"], json!("interrupted"));
        let snapshot = &body(&folder, "c")?["snapshot"];
        assert_eq!(snapshot["time"].as_f64(), Some(time));
        let state: Vec<f64> = serde_json::from_value(snapshot["state"].clone())?;
        let names = ["a[0]", "a[1]", "b[0]", "b[1]", "pa[0]", "pa[1]", "pb[0]", "pb[1]"];
        assert_eq!(names.map(|name| record["state"][name].as_f64().unwrap_or(f64::NAN)), state[..]);
    }
    Ok(())
}

/// Only Linux shows when a process that has written nothing yet has come to where it handles signals.
#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_without_a_checkpoint_leaves_the_record_alone() -> Outcome {
    let folder = tempdir()?;
    let mut child = begin(&folder, &ENDLESS)?;
    let id = child.id();
    wait_until(&mut child, || catches_signals(id))?;
    send("INT", &child)?;
    let output = child.wait_with_output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(130), "{complaint}");
    assert_eq!(complaint.lines().count(), 1, "{complaint}");
    let names = names_in(&folder)?;
    assert!(names.is_empty() || names == ["a.run.json"], "{names:?}");
    Ok(())
}

/// Dense constraints, whose derivation outlasts any patience.
#[test]
fn a_long_derivation_says_where_it_is_and_ends_at_ctrl_c() -> Outcome {
    let folder = tempdir()?;
    let term =
        |number: usize, entry: usize| format!("({number} * q[{entry}]).sin() * q[{}].cos()", (entry + number) % 24);
    let constraint =
        |number| format!("c{number} = {}", (0..24).map(|entry| term(number, entry)).collect::<Vec<_>>().join(" + "));
    let constraints = (1..=20).map(constraint).collect::<Vec<_>>().join(", ");
    let text = format!(
        "#[feedback_system(coordinates(q: [24]), momenta(p: [24]), hamiltonian = p.norm_squared() / 2, constraint({constraints}))]
        struct Dense;"
    );
    fs::write(folder.path().join("dense.rs"), text)?;
    let mut child = begin(&folder, &["show", "dense.rs"])?;
    let mut lines = BufReader::new(child.stderr.take().ok_or("no stderr")?);
    let mut line = String::new();
    lines.read_line(&mut line)?;
    assert!(line.starts_with("dense.rs: still ") && line.ends_with(" after 1 s; Ctrl-C interrupts\n"), "{line}");
    send("INT", &child)?;
    assert_eq!(child.wait()?.code(), Some(130));
    Ok(())
}

/// Rows of a CSV file, each as one text, after the header.
fn rows(folder: &TempDir, name: &str) -> Result<Vec<String>, Box<dyn Error>> {
    Ok(fs::read_to_string(folder.path().join(name))?.lines().skip(1).map(str::to_owned).collect())
}

/// Tables, statistics and figure are of the members that were done, whose rows are those of an ensemble that was not interrupted.
#[test]
fn ctrl_c_keeps_the_members_that_are_done() -> Outcome {
    let folder = tempdir()?;
    let kepler =
        "ensemble kepler --vary mu=normal:1,0.01 --until 0.1 --step 0.01 --every 0.05 --ends e.csv --samples s.csv";
    let kepler: Vec<&str> = kepler.split_whitespace().collect();
    let endless = ["--members", "10000000", "--out", "a.csv", "--plot", "a.svg"];
    let mut child = begin(&folder, &[&kepler[..], &endless].concat())?;
    // A draft with rows is one of members that are done.
    let is_begun = |name: &String| {
        name.starts_with('.') && fs::metadata(folder.path().join(name)).is_ok_and(|file| file.len() > 0)
    };
    wait_until(&mut child, || names_in(&folder).is_ok_and(|names| names.iter().any(is_begun)))?;
    send("INT", &child)?;
    let output = child.wait_with_output()?;
    let record = json_in(&folder, "a.ensemble.json")?;
    let done = record["done"].as_u64().ok_or("no number")?;
    let line = format!(
        "interrupted with {done} of 10000000 members done, which the files have; with --checkpoint FOLDER such an ensemble can be \
         resumed\n"
    );
    // A slow machine says before how long the run takes.
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.code() == Some(130) && complaint.ends_with(&line), "{complaint}");
    assert_eq!(names_in(&folder)?, ["a.csv", "a.ensemble.json", "a.svg", "e.csv", "s.csv"]);
    assert_eq!((&record["status"], &record["failed"]), (&json!("interrupted"), &json!(0)));
    assert!(fs::read_to_string(folder.path().join("a.svg"))?.contains(&format!("{done} of 10000000 members")));

    let (ends, samples, statistics) = (rows(&folder, "e.csv")?, rows(&folder, "s.csv")?, rows(&folder, "a.csv")?);
    let member =
        |row: &String| row.split(',').next().and_then(|number| number.parse::<usize>().ok()).ok_or("no number");
    let members: Vec<usize> = ends.iter().map(member).collect::<Result<_, _>>()?;
    assert!(members.len() as u64 == done && members.is_sorted());
    assert!(statistics.len() == 3 && statistics.iter().all(|row| row.split(',').nth(1) == Some(&done.to_string())));
    let whole = tempdir()?;
    let count = (members[members.len() - 1] + 1).to_string();
    assert!(fbint(&whole, &[&kepler[..], &["--members", &count]].concat())?.status.success());
    let (all_ends, all_samples) = (rows(&whole, "e.csv")?, rows(&whole, "s.csv")?);
    assert!(members.iter().map(|&member| &all_ends[member]).eq(&ends));
    assert!(members.iter().flat_map(|&member| &all_samples[3 * member..3 * member + 3]).eq(&samples));
    let numbers = ends.iter().map(|row| row.split(',').nth(2).map_or(Ok(f64::NAN), str::parse));
    let mean = numbers.sum::<Result<f64, _>>()? / done as f64;
    let end = record["end"].as_object().ok_or("no statistics")?.values();
    assert!(end.into_iter().any(|of| of["mean"].as_f64().is_some_and(|of| (of - mean).abs() < 1e-9)), "{mean}");
    Ok(())
}

/// Rows of members would be on their way into files when the signal comes.
#[test]
fn ctrl_c_before_a_member_is_done_leaves_the_record_alone() -> Outcome {
    for (signal, code) in [("INT", 130), ("TERM", 143)] {
        let folder = tempdir()?;
        fs::write(folder.path().join("e.csv"), "member,precious,error")?;
        let run = ["ensemble", "four-bar", "--until", "1e5", "--ends", "e.csv", "--samples", "s.csv"];
        let mut child = begin(&folder, &run)?;
        let drafts = || names_in(&folder).map_or(0, |names| names.iter().filter(|name| name.starts_with('.')).count());
        wait_until(&mut child, || drafts() == 2)?;
        send(signal, &child)?;
        let output = child.wait_with_output()?;
        let complaint =
            "interrupted with 0 of 1000 members done; with --checkpoint FOLDER such an ensemble can be resumed\n";
        assert_eq!((output.status.code(), String::from_utf8_lossy(&output.stderr)), (Some(code), complaint.into()));
        assert_eq!(names_in(&folder)?, ["e.csv", "e.ensemble.json"]);
        assert_eq!(fs::read_to_string(folder.path().join("e.csv"))?, "member,precious,error");
        let record = json_in(&folder, "e.ensemble.json")?;
        let of_record = [&record["status"], &record["members"], &record["done"]];
        assert_eq!(of_record, [&json!("interrupted"), &json!(1000), &json!(0)]);
    }
    Ok(())
}

/// The signal comes after the first change in the folder, after the second, and so on, and so between any two steps that a command
/// takes there.
#[test]
fn rows_are_never_without_their_record() -> Outcome {
    let files = ["a.csv", "a.svg", "s.csv"];
    let ensemble = "ensemble kepler --members 40 --until 0.1 --step 0.01 --every 0.05 --vary mu=normal:1,0.01 \
                    --ends a.csv --samples s.csv --plot a.svg";
    let cases = [
        ("run kepler --until 0.1 --out a.csv --plot a.svg", "a.run.json", &files[..2]),
        ("run kepler --until 0.1 --out a.csv --plot a.svg --checkpoint c", "a.run.json", &files[..2]),
        (ensemble, "a.ensemble.json", &files),
        (&format!("{ensemble} --checkpoint c"), "a.ensemble.json", &files),
    ];
    for (command, record, files) in cases {
        let arguments: Vec<&str> = command.split_whitespace().collect();
        for count in 1.. {
            let folder = tempdir()?;
            let mut child = begin(&folder, &arguments)?;
            let came = changed(&mut child, &folder, count)?;
            if came {
                send("INT", &child)?;
            }
            let output = child.wait_with_output()?;
            let complaint = String::from_utf8_lossy(&output.stderr);
            let names = names_below(&folder);
            let has = |name: &str| names.iter().any(|other| other == name);
            let told = format!("{command}, {count}: {names:?} {complaint}");

            assert!([Some(0), Some(130)].contains(&output.status.code()), "{told}");
            assert!(!names.iter().any(|name| name.starts_with('.') || name.starts_with("c/.")), "{told}");
            assert!(!folder.path().join("c").is_dir() || has("c/ensemble"), "{told}");
            let is_complete = output.status.success() || files.iter().any(|name| has(name));
            assert!(!is_complete || (files.iter().all(|name| has(name)) && has(record)), "{told}");
            if has(record) {
                let record = json_in(&folder, record)?;
                let done = record["done"].as_u64().filter(|&done| done > 0);
                let status = if is_complete && done.is_none() { "complete" } else { "interrupted" };
                assert_eq!(record["status"], json!(status), "{told}");
                // An ensemble that was interrupted has the members that were done.
                assert!(done.is_none() || complaint.contains("members done, which the files have"), "{told}");
                for (name, count) in done.iter().flat_map(|&done| [("a.csv", done), ("s.csv", 3 * done)]) {
                    assert_eq!(rows(&folder, name)?.len() as u64, count, "{told}");
                }
            }
            if !came {
                break;
            }
        }
    }
    Ok(())
}

#[test]
fn ctrl_c_ends_a_reproduction_between_files() -> Outcome {
    let interrupted = || -> Result<(TempDir, Output), Box<dyn Error>> {
        let folder = tempdir()?;
        let child = begin(&folder, &["reproduce", "cjp16-kepler", "--out", "out"])?;
        let output = signalled(child, "INT", || folder.path().join("out").exists())?;
        Ok((folder, output))
    };
    let (mut folder, mut output) = interrupted()?;
    // It may have come to its end before the signal came.
    while output.status.success() {
        (folder, output) = interrupted()?;
    }
    assert_eq!(output.status.code(), Some(130));
    assert_eq!(String::from_utf8_lossy(&output.stderr), "interrupted\n");
    let temporary = |name: &String| name.starts_with('.');
    assert!(!names_in(folder.path().join("out"))?.iter().any(temporary));
    Ok(())
}

#[test]
fn a_killed_run_resumes_to_the_same_bits() -> Outcome {
    let cases: [&[&str]; 7] = [
        &["four-bar", "--until", "5", "--of", "a[0],pa[0]", "--of", "drift"],
        &["spherical-pendulum", "--method", "euler", "--gains", "50", "--until", "5.0003", "--every", "0.1"],
        &["planar-pendulum", "--method", "midpoint", "--until", "5", "--every", "0.05", "--project"],
        &["kepler", "--method", "heun", "--gains", "none", "--until", "5", "--every", "0.1"],
        &["four-bar", "--method", "dop853", "--until", "3"],
        &["free-rigid-body", "--method", "dop853", "--rtol", "1e-11", "--until", "10", "--every", "0.31"],
        &["chain-4", "--method", "dormand-prince", "--until", "4", "--every", "0.05", "--project"],
    ];
    for (case, arguments) in cases.iter().enumerate() {
        let (whole, killed) = (tempdir()?, tempdir()?);
        let files = ["--out", "a.csv", "--plot", "a.svg", "--checkpoint", "c", "--checkpoint-every"];
        let run = |every| [&["run"], *arguments, &files, &[every]].concat();
        assert!(fbint(&whole, &run("1e6"))?.status.success(), "{arguments:?}");

        let end = json_in(&whole, "a.run.json")?["until"].as_f64().ok_or("no end")?;
        // A run that ends before it is killed is started again, so that each is killed once at least.
        let mut child = begin(&killed, &run("0"))?;
        while !killed_beyond(&mut child, &killed, 0.0)? {
            fs::remove_file(killed.path().join("c"))?;
            child = begin(&killed, &run("0"))?;
        }
        for fraction in [0.1 + 0.03 * case as f64, 0.6] {
            child = begin(&killed, &["resume", "c"])?;
            killed_beyond(&mut child, &killed, fraction * end)?;
        }
        child = begin(&killed, &["resume", "c"])?;
        let output = child.wait_with_output()?;
        assert!(output.status.success(), "{arguments:?}: {}", String::from_utf8_lossy(&output.stderr));

        for name in ["a.csv", "a.svg"] {
            assert_eq!(
                fs::read(whole.path().join(name))?,
                fs::read(killed.path().join(name))?,
                "{arguments:?}: {name}"
            );
        }
        let (whole, killed) = (json_in(&whole, "a.run.json")?, json_in(&killed, "a.run.json")?);
        for key in ["status", "time", "state", "steps", "evaluations", "drift", "start", "parameters"] {
            assert_eq!(whole[key], killed[key], "{arguments:?}: {key}");
        }
    }
    Ok(())
}

#[test]
fn a_killed_run_has_no_half_files() -> Outcome {
    let folder = tempdir()?;
    let mut child = begin(&folder, &[&ENDLESS[..], &["--checkpoint", "c", "--checkpoint-every", "0"]].concat())?;
    for _ in 0..10 {
        let before = time_of(&folder, "c");
        wait_until(&mut child, || time_of(&folder, "c") > before)?;
        child.kill()?;
        child.wait()?;
        // The checkpoint is whole whenever the run is killed.
        assert!(body(&folder, "c")?["snapshot"]["time"].as_f64().is_some_and(|time| time > before));
        assert!(!folder.path().join("a.csv").exists() && !folder.path().join("a.run.json").exists());
        child = begin(&folder, &["resume", "c"])?;
    }
    child.kill()?;
    child.wait()?;
    Ok(())
}

#[test]
fn a_checkpoint_of_a_complete_run_writes_its_files_again() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", "four-bar", "--method", "dop853", "--until", "3", "--out", "a.csv", "--checkpoint", "c"];
    assert!(fbint(&folder, &run)?.status.success());
    let table = fs::read(folder.path().join("a.csv"))?;
    fs::remove_file(folder.path().join("a.csv"))?;
    // From anywhere: the checkpoint knows where its files are.
    let elsewhere = tempdir()?;
    let path = folder.path().join("c");
    let output = fbint(&elsewhere, &["resume", path.to_str().ok_or("a path that is not text")?])?;
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(fs::read(folder.path().join("a.csv"))?, table);
    assert!(names_in(&elsewhere)?.is_empty());
    Ok(())
}

/// In steps of a fixed size, one of which ends where the shorter run did, the longer run makes the same steps as without an end between.
#[test]
fn a_run_resumes_beyond_its_end() -> Outcome {
    let (folder, whole) = (tempdir()?, tempdir()?);
    let run =
        |until| ["run", "four-bar", "--step", "0.0078125", "--until", until, "--out", "a.csv", "--checkpoint", "c"];
    assert!(fbint(&folder, &run("1"))?.status.success());
    let words = ["--until 1.0 is not after t = 1.0, which the run has reached: give a later time"];
    refused(&fbint(&folder, &["resume", "c", "--until", "1"])?, &words);
    let output = fbint(&folder, &["resume", "c", "--until", "2.5"])?;
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.starts_with("resumed at t = 1.0, until t = 2.5 instead of 1.0\n"), "{said}");
    assert!(fbint(&whole, &run("2.5"))?.status.success());
    let [longer, whole] = [&folder, &whole].map(|folder| json_in(folder, "a.run.json"));
    let (longer, whole) = (longer?, whole?);
    for key in ["status", "time", "until", "state", "steps", "evaluations", "drift"] {
        assert_eq!(longer[key], whole[key], "{key}");
    }
    // A checkpoint of what is resumed knows the end that it was given.
    assert_eq!(body(&folder, "c")?["job"]["until"], json!(2.5));
    Ok(())
}

/// The last step of the shorter run ends where the run does, which is not the double that the others lead to.
#[test]
fn a_run_resumes_beyond_an_end_that_its_steps_meet_but_for_rounding() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", "planar-pendulum", "--step", "0.0137", "--until", "13.7", "--checkpoint", "c"];
    assert!(fbint(&folder, &run)?.status.success());
    assert!(fbint(&folder, &["resume", "c", "--until", "30"])?.status.success());
    let end = json_in(&folder, "c.run.json")?["state"]["q[0]"].as_f64().ok_or("no state")?;
    let run = ["run", "planar-pendulum", "--step", "0.0137", "--until", "30"];
    assert!(fbint(&folder, &run)?.status.success());
    let whole = json_in(&folder, "planar-pendulum.run.json")?["state"]["q[0]"].as_f64().ok_or("no state")?;
    assert!((end - whole).abs() < 1e-9, "{end} {whole}");
    Ok(())
}

#[test]
fn a_file_that_is_not_a_checkpoint_of_this_program_is_refused_in_one_line() -> Outcome {
    let folder = tempdir()?;
    assert!(
        fbint(&folder, &["run", "four-bar", "--until", "1", "--out", "a.csv", "--checkpoint", "c"])?.status.success()
    );
    let good = fs::read_to_string(folder.path().join("c"))?;
    let (head, whole_body) = good.split_once('\n').ok_or("no second line")?;
    let whole_body = whole_body.trim_end();
    let changed = |from: &str, to: &str| {
        assert!(whole_body.contains(from), "no {from}");
        signed(&whole_body.replacen(from, to, 1))
    };
    let digest = json_in(&folder, "a.run.json")?["code_sha256"].as_str().ok_or("no hash")?.to_owned();
    let other_digest = digest.chars().rev().collect::<String>();
    let cases: Vec<(Vec<u8>, &[&str])> = vec![
        (vec![], &["bad is not a checkpoint", "--checkpoint"]),
        (b"t,q[0]\n0.0,1.0\n".to_vec(), &["bad is not a checkpoint"]),
        (vec![0xff, 0xfe, 0x00], &["bad is not a checkpoint"]),
        (head.as_bytes()[..20].to_vec(), &["bad is not a checkpoint"]),
        (head.as_bytes().to_vec(), &["bad is damaged", "checksum"]),
        (good.as_bytes()[..good.len() / 2].to_vec(), &["bad is damaged"]),
        (good.replacen("\"steps\":1000", "\"steps\":1001", 1).into_bytes(), &["bad is damaged"]),
        (good.replacen("\"fbint_checkpoint\":1", "\"fbint_checkpoint\":7", 1).into_bytes(), &["format 7", "format 1"]),
        (changed("\"fbint\":\"0.1.0\"", "\"fbint\":\"0.0.9\""), &["written by fbint 0.0.9", "this is 0.1.0"]),
        (changed(&digest, &other_digest), &["generated code of `four-bar`", "run again"]),
        (changed("\"model\":\"four-bar\"", "\"model\":\"five-bar\""), &["unknown model `five-bar`"]),
        (changed("\"steps\":1000", "\"steps\":999"), &["cannot resume", "its step or its end"]),
        (changed("\"until\":1.0", "\"until\":0.5"), &["cannot resume", "its step or its end"]),
        (changed("\"until\":1.0", "\"until\":\"soon\""), &["bad is not understood", "soon"]),
        (changed("\"checkpoint_every\":10.0", "\"checkpoint_every\":-1.0"), &["checkpoint_every is -1.0", "0 or more"]),
        (changed("\"wall_seconds\":", "\"wall_seconds\":-1"), &["wall_seconds is -1", "0 or more"]),
        (changed("\"every\":null", "\"every\":-1.0"), &["interval", "-1.0"]),
    ];
    fs::remove_file(folder.path().join("a.csv"))?;
    for (bytes, words) in cases {
        fs::write(folder.path().join("bad"), &bytes)?;
        refused(&fbint(&folder, &["resume", "bad"])?, words);
        assert_eq!(fs::read(folder.path().join("bad"))?, bytes);
        assert_eq!(names_in(&folder)?, ["a.run.json", "bad", "c"], "{words:?}");
    }
    refused(&fbint(&folder, &["resume", "nothing"])?, &["cannot read nothing", "no such file"]);
    refused(
        &fbint(&folder, &["resume", "."])?,
        &[". is not the checkpoint of an ensemble", "fbint ensemble --checkpoint"],
    );
    refused(&fbint(&folder, &["resume", "c", "--threads", "2"])?, &["--threads is for ensembles"]);
    Ok(())
}

/// No run can have counted so far, and the counters would overflow.
#[test]
fn a_checkpoint_with_counters_that_no_run_has_is_refused() -> Outcome {
    let folder = tempdir()?;
    let run = ["run", "four-bar", "--method", "dop853", "--until", "1", "--checkpoint", "c"];
    assert!(fbint(&folder, &run)?.status.success());
    let good = body(&folder, "c")?;
    let mut cases = Vec::new();
    for number in [u64::MAX, u64::MAX - 1, 1 << 63, (1 << 53) + 1] {
        let counters = ["/steps", "/stride", "/memory/steps", "/memory/evaluations", "/memory/control/rejected"];
        cases.extend(counters.map(|counter| (counter, json!(number))));
    }
    cases.extend([-1.0, 0.0].map(|size| ("/memory/control/size", json!(size))));
    for (place, value) in cases {
        let mut bad = good.clone();
        *bad["snapshot"].pointer_mut(place).ok_or("no such place")? = value;
        fs::write(folder.path().join("bad"), signed(&bad.to_string()))?;
        refused(&fbint(&folder, &["resume", "bad"])?, &["cannot resume"]);
    }
    Ok(())
}

/// Several blocks of members, with files of every kind.
const BLOCKS: [&str; 17] = [
    "ensemble",
    "spherical-pendulum",
    "--members",
    "9000",
    "--vary",
    "q[0]=linspace:0,1.1",
    "--until",
    "0.04",
    "--step",
    "0.01",
    "--every",
    "0.02",
    "--ends",
    "e.csv",
    "--samples",
    "s.csv",
    "--plot",
];

/// The files of an ensemble, once it has left nothing else.
fn files(folder: &TempDir) -> Result<[Vec<u8>; 3], Box<dyn Error>> {
    assert_eq!(names_in(folder)?, ["a.svg", "e.csv", "e.ensemble.json", "s.csv"]);
    assert_eq!(json_in(folder, "e.ensemble.json")?["status"], json!("complete"));
    let read = |name| fs::read(folder.path().join(name));
    Ok([read("a.svg")?, read("e.csv")?, read("s.csv")?])
}

/// The number of blocks on disk.
fn blocks(folder: &TempDir) -> usize {
    blocks_in(folder.path().join("c"))
}

/// An ensemble that a signal ends when so many blocks are on disk, and what it said. One that comes to its end before is begun again.
fn interrupted(ensemble: &[&str], count: usize, signal: &str) -> Result<(TempDir, Output), Box<dyn Error>> {
    loop {
        let folder = tempdir()?;
        let output = signalled(begin(&folder, ensemble)?, signal, || blocks(&folder) >= count)?;
        if blocks(&folder) >= count {
            return Ok((folder, output));
        }
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(json_in(&folder, "e.ensemble.json")?["status"], json!("complete"), "{complaint}");
    }
}

/// By SIGKILL, which leaves drafts in the folder, and by Ctrl-C and a closed terminal, which say what to do. Under `nohup` the program
/// does not hear that a terminal was closed.
#[test]
fn an_interrupted_ensemble_resumes_to_the_same_bytes() -> Outcome {
    let whole = tempdir()?;
    assert!(fbint(&whole, &[&BLOCKS[..], &["a.svg"]].concat())?.status.success());
    let expected = files(&whole)?;
    let kept = [&BLOCKS[..], &["a.svg", "--checkpoint", "c", "--threads", "1"]].concat();
    let mut interruptions = vec![(1, "KILL"), (2, "INT"), (3, "KILL")];
    if is_thorough() {
        interruptions.extend([(1, "INT"), (2, "KILL"), (3, "INT")]);
    }
    #[cfg(target_os = "linux")]
    if signals(std::process::id(), "SigIgn:").is_some_and(|ignored| ignored & 1 == 0) {
        interruptions.push((1, "HUP"));
    }
    for (count, signal) in interruptions {
        let (folder, output) = interrupted(&kept, count, signal)?;
        if signal != "KILL" {
            let code = if signal == "INT" { 130 } else { 129 };
            let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
            let words =
                ["interrupted with ", " of 5 blocks done; `fbint resume c` integrates the blocks that are not done"];
            assert!(words.iter().all(|words| complaint.contains(words)), "{complaint}");
            assert_eq!((output.status.code(), complaint.lines().count()), (Some(code), 1));
            assert_eq!(names_in(&folder)?, ["c", "e.ensemble.json"]);
        }
        // From anywhere, with any number of threads.
        let (elsewhere, path) = (tempdir()?, folder.path().join("c"));
        let resume = ["resume", path.to_str().ok_or("a path that is not text")?, "--threads", "2"];
        let output = fbint(&elsewhere, &resume)?;
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(files(&folder)? == expected && names_in(&elsewhere)?.is_empty());
    }
    Ok(())
}

/// Parts that are whole are not integrated again, and those that are gone or damaged are.
#[cfg(feature = "parquet")]
#[test]
fn an_interrupted_folder_of_parts_resumes_to_the_same_bytes() -> Outcome {
    let parts = |folder: &TempDir| -> Result<_, Box<dyn Error>> {
        assert_eq!(json_in(folder, "e.ensemble.json")?["status"], json!("complete"));
        Ok([files_in(folder.path().join("e"))?, files_in(folder.path().join("s"))?])
    };
    let in_folders = |argument: &'static str| match argument {
        "e.csv" => "e/",
        "s.csv" => "s/",
        other => other,
    };
    let ensemble = BLOCKS.map(in_folders);
    let whole = tempdir()?;
    assert!(fbint(&whole, &[&ensemble[..], &["a.svg"]].concat())?.status.success());
    let expected = parts(&whole)?;
    // With a figure, for which the ends of members are on disk, and without.
    let (drawn, bare) = ([&ensemble[..], &["a.svg"]].concat(), &ensemble[..BLOCKS.len() - 1]);
    for (run, count, signal) in [(&drawn[..], 1, "KILL"), (bare, 2, "INT"), (bare, 3, "KILL")] {
        let (folder, _) = interrupted(&[run, &["--checkpoint", "c", "--threads", "1"]].concat(), count, signal)?;
        match count {
            2 => fs::remove_file(folder.path().join("e/part-0000001.parquet"))?,
            3 => fs::write(folder.path().join("s/part-0000001.parquet"), "damaged")?,
            _ => {}
        }
        let written = || ["e", "s"].map(|name| fs::metadata(folder.path().join(name).join("part-0000000.parquet")));
        let before = written().map(|part| part.and_then(|part| part.modified()).ok());
        let output = fbint(&folder, &["resume", "c", "--threads", "2"])?;
        let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.success(), "{complaint}");
        assert_eq!(complaint.contains("block 1 is damaged on disk, and integrated again"), count > 1, "{complaint}");
        assert!(before[0].is_some() && written().map(|part| part.and_then(|part| part.modified()).ok()) == before);
        assert!(parts(&folder)? == expected, "{count} {signal}");
        assert!(count > 1 || fs::read(folder.path().join("a.svg"))? == fs::read(whole.path().join("a.svg"))?);
    }
    Ok(())
}

/// Whatever is under way, a folder has parts with members that are done, or is not there.
#[cfg(feature = "parquet")]
#[test]
fn ctrl_c_leaves_whole_parts() -> Outcome {
    let kepler = "ensemble kepler --vary mu=normal:1,0.01 --until 0.1 --step 0.01 --ends e/ --members";
    let kepler: Vec<&str> = kepler.split_whitespace().collect();
    let folder = tempdir()?;
    let mut child = begin(&folder, &[&kepler[..], &["10000000"]].concat())?;
    wait_until(&mut child, || folder.path().join("e/part-0000002.parquet").exists())?;
    send("INT", &child)?;
    let output = child.wait_with_output()?;
    assert_eq!(output.status.code(), Some(130), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(names_in(&folder)?, ["e", "e.ensemble.json"]);
    let record = json_in(&folder, "e.ensemble.json")?;
    let (done, parts) = (record["done"].as_u64().ok_or("no number")?, files_in(folder.path().join("e"))?);
    assert_eq!((&record["status"], parts.len() as u64), (&json!("interrupted"), done.div_ceil(2048)));
    assert!(parts.keys().enumerate().all(|(block, name)| *name == format!("part-{block:07}.parquet")));

    let endless = ["ensemble", "four-bar", "--until", "1e5", "--ends", "e/"];
    let folder = tempdir()?;
    let mut child = begin(&folder, &endless)?;
    wait_until(&mut child, || folder.path().join("e").exists())?;
    send("INT", &child)?;
    assert_eq!(child.wait_with_output()?.status.code(), Some(130));
    assert_eq!(names_in(&folder)?, ["e.ensemble.json"]);
    Ok(())
}

/// A block whose file is damaged is integrated again; an ensemble whose head is damaged is refused.
#[test]
fn damaged_blocks_are_integrated_again() -> Outcome {
    let whole = tempdir()?;
    assert!(fbint(&whole, &[&BLOCKS[..], &["a.svg"]].concat())?.status.success());
    let (folder, _) = interrupted(&[&BLOCKS[..], &["a.svg", "--checkpoint", "c"]].concat(), 3, "KILL")?;
    let file = |name: &str| folder.path().join("c").join(name);

    let head = fs::read_to_string(file("ensemble"))?;
    for (bad, words) in [
        (head.replacen("\"seed\":1", "\"seed\":2", 1), ["c is damaged", "checksum"]),
        (head[..20].to_owned(), ["c is not a checkpoint", "--checkpoint"]),
    ] {
        fs::write(file("ensemble"), bad)?;
        refused(&fbint(&folder, &["resume", "c"])?, &words);
    }
    fs::write(file("ensemble"), head)?;

    let mut bytes = fs::read(file("block-0"))?;
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    fs::write(file("block-0"), bytes)?;
    fs::write(file("block-1"), [])?;
    let block = fs::read(file("block-2"))?;
    fs::write(file("block-2"), &block[..block.len() - 1])?;
    let output = fbint(&folder, &["resume", "c"])?;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{complaint}");
    let damaged = [0, 1, 2].map(|block| format!("block {block} is damaged on disk, and integrated again\n"));
    assert_eq!(complaint, damaged.concat());
    assert!(files(&folder)? == files(&whole)?);
    Ok(())
}

/// Nothing is lost by a command that is given again, and two processes do not lead one ensemble.
#[test]
fn the_checkpoint_of_an_ensemble_is_not_written_over() -> Outcome {
    let folder = tempdir()?;
    let run = ["ensemble", "four-bar", "--until", "1e5", "--ends", "e.csv", "--checkpoint", "c"];
    let mut child = begin(&folder, &run)?;
    wait_until(&mut child, || names_in(&folder).is_ok_and(|names| names == ["c"]))?;
    wait_until(&mut child, || folder.path().join("c/ensemble").exists())?;
    refused(&fbint(&folder, &run)?, &["c has blocks", "did not come to its end", "`fbint resume c`"]);
    wait_until(&mut child, || names_in(folder.path().join("c")).is_ok_and(|names| names.len() > 2))?;
    refused(&fbint(&folder, &["resume", "c"])?, &["c is in use by another process"]);
    child.kill()?;
    child.wait()?;
    refused(&fbint(&folder, &run)?, &["did not come to its end"]);

    let cases: [(&[&str], &str); 3] = [
        (&["--checkpoint", "e.csv"], "--ends and --checkpoint both name"),
        (&["--checkpoint", "nowhere/c"], "no such folder"),
        (&["--checkpoint", "d"], "d is there already, and not the checkpoint of an ensemble"),
    ];
    fs::create_dir(folder.path().join("d"))?;
    fs::write(folder.path().join("d/precious"), "")?;
    for (options, words) in cases {
        refused(
            &fbint(&folder, &[&["ensemble", "four-bar", "--until", "1", "--ends", "e.csv"], options].concat())?,
            &[words],
        );
    }
    // What another attempt would not help is not kept.
    let hopeless = ["ensemble", "four-bar", "--until", "1", "--step", "5", "--gains", "50", "--checkpoint", "f"];
    let output = fbint(&folder, &hopeless)?;
    refused(&output, &["all 1000 members failed"]);
    assert!(!String::from_utf8_lossy(&output.stderr).contains("resume"));
    assert_eq!(names_in(&folder)?, ["c", "d", "four-bar.ensemble.json"]);
    Ok(())
}

/// A checkpoint with this body and the right checksum.
fn signed(body: &str) -> Vec<u8> {
    let digits: String = Sha256::digest(body.as_bytes()).iter().map(|byte| format!("{byte:02x}")).collect();
    format!("{}\n{body}\n", json!({"fbint_checkpoint": 1, "sha256": digits})).into_bytes()
}

fn begin(folder: &TempDir, arguments: &[&str]) -> std::io::Result<Child> {
    let mut command = Command::new(env!("CARGO_BIN_EXE_fbint"));
    command.current_dir(folder.path()).args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn send(signal: &str, child: &Child) -> Outcome {
    let status = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status()?;
    if status.success() { Ok(()) } else { Err("kill failed".into()) }
}

/// What a process says that gets a signal when something is so, unless it has ended by then.
fn signalled(mut child: Child, signal: &str, is_so: impl FnMut() -> bool) -> Result<Output, Box<dyn Error>> {
    if wait_until(&mut child, is_so).is_ok() {
        send(signal, &child)?;
    }
    Ok(child.wait_with_output()?)
}

/// Whether so many changes of the names in a folder are seen before a process ends.
fn changed(child: &mut Child, folder: &TempDir, count: usize) -> Result<bool, Box<dyn Error>> {
    let (mut before, mut seen) = (Vec::new(), 0);
    while child.try_wait()?.is_none() {
        let names = names_below(folder);
        if names != before {
            (before, seen) = (names, seen + 1);
        }
        if seen == count {
            return Ok(true);
        }
        yield_now();
    }
    Ok(false)
}

/// The names in a folder, with those in its folder `c` in the place of `c`, unless it is empty.
fn names_below(folder: &TempDir) -> Vec<String> {
    let mut names = names_in(folder).unwrap_or_default();
    if let Ok(blocks) = names_in(folder.path().join("c")) {
        names.retain(|name| name != "c" || blocks.is_empty());
        names.extend(blocks.iter().map(|block| format!("c/{block}")));
    }
    names
}

/// Waits for something that a process does, for as long as it runs.
fn wait_until(child: &mut Child, mut is_so: impl FnMut() -> bool) -> Outcome {
    while !is_so() {
        if let Some(status) = child.try_wait()? {
            return Err(format!("it ended too soon: {status}").into());
        }
        sleep(INTERVAL);
    }
    Ok(())
}

/// Kills a run when its checkpoint is beyond a time; whether that came before its end.
fn killed_beyond(child: &mut Child, folder: &TempDir, time: f64) -> Result<bool, Box<dyn Error>> {
    let came = wait_until(child, || time_of(folder, "c") > time).is_ok();
    child.kill()?;
    let status = child.wait()?;
    Ok(came && status.code().is_none())
}

/// Whether a process has come to where it handles signals.
#[cfg(target_os = "linux")]
fn catches_signals(id: u32) -> bool {
    signals(id, "SigCgt:").is_some_and(|caught| caught & 0b10 != 0)
}

/// The signals of a process that a line of its status has, from the lowest bit on.
#[cfg(target_os = "linux")]
fn signals(id: u32, line: &str) -> Option<u64> {
    let status = fs::read_to_string(format!("/proc/{id}/status")).ok()?;
    let mask = status.lines().find_map(|other| other.strip_prefix(line))?;
    u64::from_str_radix(mask.trim(), 16).ok()
}

/// The time that a checkpoint was taken at, -1 if there is none.
fn time_of(folder: &TempDir, name: &str) -> f64 {
    body(folder, name).ok().and_then(|body| body["snapshot"]["time"].as_f64()).unwrap_or(-1.0)
}

/// A checkpoint's second line.
fn body(folder: &TempDir, name: &str) -> Result<Value, Box<dyn Error>> {
    let text = fs::read_to_string(folder.path().join(name))?;
    Ok(serde_json::from_str(text.split_once('\n').ok_or("one line")?.1)?)
}
