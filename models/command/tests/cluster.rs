//! Ensembles that several processes share, as `mpirun` begins them, with the feature `mpi`.
//!
//! One to four processes write the bytes of one process. Any process may be killed at any time, twice, and the ensemble resumed. Every
//! error is printed once.
#![cfg(all(feature = "mpi", target_os = "linux"))]

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::thread::{sleep, spawn};
use std::time::Duration;

use chacha20::ChaCha8Rng;
use chacha20::rand_core::{Rng, SeedableRng};
use tempfile::{TempDir, tempdir};

#[cfg(feature = "parquet")]
use super::common::files_in;
use super::common::{blocks_in, fbint, is_thorough, json_in, names_in, refused};

type Outcome = Result<(), Box<dyn Error>>;

/// Eleven blocks of members, with tables of every kind, some of whose members fail.
const ENSEMBLE: [&str; 14] = [
    "ensemble",
    "spherical-pendulum",
    "--members",
    "21000",
    "--vary",
    "q[0]=linspace:0,1.1",
    "--vary",
    "m=normal:1,0.1",
    "--until",
    "0.2",
    "--step",
    "0.01",
    "--every",
    "0.1",
];
const FILES: [&str; 8] =
    ["--out", "statistics.csv", "--ends", "ends.csv", "--samples", "samples.csv", "--plot", "spread.svg"];
const NAMES: [&str; 5] = ["ends.csv", "samples.csv", "spread.svg", "statistics.csv", "statistics.ensemble.json"];
const FOLDER: &str = "statistics.checkpoint";
/// How long to wait between two looks at what a process does.
const INTERVAL: Duration = Duration::from_millis(1);
/// As many looks are longer than a launcher takes that ends at all.
const PATIENCE: u32 = 20_000;

/// `mpirun` with these ranks, which may be more than there are cores.
fn ranks(folder: &TempDir, count: usize, arguments: &[&str]) -> Command {
    let mut command = Command::new("mpirun");
    command.current_dir(folder).args(["-n", &count.to_string(), env!("CARGO_BIN_EXE_fbint")]).args(arguments);
    let allowed = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "OMPI_MCA_rmaps_base_oversubscribe"];
    command.envs(allowed.map(|name| (name, "1"))).stdin(Stdio::null());
    command
}

fn succeeded(output: &Output) -> String {
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{:?}: {complaint}", output.status);
    String::from_utf8_lossy(&output.stdout).into_owned()
}

/// What an ensemble has left, with its record but for the time that it took.
fn results(folder: &TempDir) -> Result<BTreeMap<String, Vec<u8>>, Box<dyn Error>> {
    let mut files = BTreeMap::new();
    for name in names_in(folder)? {
        files.insert(name.clone(), fs::read(folder.path().join(name))?);
    }
    let mut record = json_in(folder, "statistics.ensemble.json")?;
    record.as_object_mut().ok_or("not an object")?.remove("wall_seconds");
    files.insert("statistics.ensemble.json".to_owned(), record.to_string().into_bytes());
    Ok(files)
}

/// Of a program that knows nothing of MPI, too, if `FBINT_WITHOUT_MPI` says where one is.
#[test]
fn the_number_of_processes_changes_no_byte() -> Outcome {
    let alone = tempdir()?;
    let text = succeeded(&fbint(&alone, &[&ENSEMBLE[..], &FILES].concat())?);
    let expected = results(&alone)?;
    assert!(expected.keys().eq(NAMES) && text.contains("members failed"), "{text}");

    for count in 1..=4 {
        let folder = tempdir()?;
        let together = ranks(&folder, count, &[&ENSEMBLE[..], &FILES].concat()).output()?;
        assert_eq!(succeeded(&together), text, "{count} processes");
        assert!(results(&folder)? == expected, "{count} processes");
    }
    let Ok(other) = std::env::var("FBINT_WITHOUT_MPI") else { return Ok(()) };
    let folder = tempdir()?;
    let without = Command::new(other).current_dir(&folder).args(ENSEMBLE).args(FILES).output()?;
    assert_eq!(succeeded(&without), text);
    assert!(results(&folder)? == expected);
    Ok(())
}

/// Rows that come from disk are written as those that were just computed.
#[cfg(feature = "parquet")]
#[test]
fn tables_as_parquet_are_the_same() -> Outcome {
    let folder = tempdir()?;
    let run = |name| [&ENSEMBLE[..], &["--ends", name]].concat();
    succeeded(&fbint(&folder, &run("alone.parquet"))?);
    succeeded(&ranks(&folder, 3, &run("together.parquet")).output()?);
    let read = |name| fs::read(folder.path().join(name));
    assert!(read("alone.parquet")? == read("together.parquet")?);
    succeeded(&fbint(&folder, &run("alone/"))?);
    succeeded(&ranks(&folder, 3, &run("together/")).output()?);
    let parts = |name| files_in(folder.path().join(name));
    assert!(parts("alone")? == parts("together")? && parts("alone")?.len() == 11);
    Ok(())
}

/// Any rank is killed at any time, twice in each ensemble: the launcher and the other ranks say what happened and what to do, and the
/// files that come out at last are those of an ensemble that was not disturbed. Which and when is another choice in every run, because
/// what a kill meets is, too.
#[test]
fn an_ensemble_that_loses_a_process_resumes_to_the_same_bytes() -> Outcome {
    let whole = tempdir()?;
    succeeded(&fbint(&whole, &[&ENSEMBLE[..], &FILES].concat())?);
    let expected = results(&whole)?;
    let seed = u64::from(std::process::id());
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let least = if is_thorough() { 20 } else { 2 };
    let mut below = |limit: usize| random.next_u32() as usize % limit;
    let (mut kills, mut advised) = (0, 0);
    while kills < least {
        let folder = tempdir()?;
        let is_begun = || folder.path().join(FOLDER).join("ensemble").exists();
        for _ in 0..2 {
            let arguments = if is_begun() { vec!["resume", FOLDER] } else { [&ENSEMBLE[..], &FILES].concat() };
            let count = 2 + below(3);
            let child = ranks(&folder, count, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
            let (after, rank) = (blocks(&folder) + below(11), below(count));
            let Some(complaint) = killed(child, &folder, after, below(40), (rank, count))? else { break };
            kills += 1;
            advised += usize::from(complaint.contains(&format!("`fbint resume {FOLDER}` integrates the blocks that")));
            if !is_begun() {
                break;
            }
        }
        // Its files may have been whole when a process was killed, or it may not have begun.
        if is_begun() {
            let resume = ["resume", FOLDER];
            let output = match below(5) {
                0 => fbint(&folder, &resume)?,
                count => ranks(&folder, count, &resume).output()?,
            };
            succeeded(&output);
        } else if !folder.path().join(NAMES[0]).exists() {
            continue;
        }
        // A process that is killed while it removes the folder may leave it, and nothing in it.
        let _ = fs::remove_dir(folder.path().join(FOLDER));
        assert!(results(&folder)? == expected, "seed {seed}, after {kills} kills: {:?}", names_in(&folder)?);
    }
    // Ranks that are killed themselves when they have hardly begun, or are through, have nothing to say.
    assert!(!is_thorough() || advised >= 10, "seed {seed}: {advised} of {kills} kills were told with what to do");
    Ok(())
}

/// Kills a rank when so many blocks are on disk and some time has gone by, and returns what was said; nothing if everything was done before.
fn killed(
    mut mpirun: Child,
    folder: &TempDir,
    least: usize,
    pauses: usize,
    (rank, count): (usize, usize),
) -> Result<Option<String>, Box<dyn Error>> {
    let id = mpirun.id();
    let mut has_ended = || mpirun.try_wait().map(|status| status.is_some());
    while !has_ended()? && blocks(folder) < least {
        sleep(INTERVAL);
    }
    for _ in 0..pauses {
        sleep(INTERVAL);
    }
    let mut children = Vec::new();
    while !has_ended()? && children.len() < count {
        children = ranks_of(id)?;
    }
    if let Some(child) = children.get(rank) {
        kill(child)?;
    }
    let launcher = spawn(move || mpirun.wait_with_output());
    while children.iter().any(|child| is_running(child)) {
        sleep(INTERVAL);
    }
    // When its ranks have ended, a launcher of Open MPI 4.1 that was told of a kill sometimes waits for ever for a lock of its own
    // (`PMIx_server_finalize`): three of 380, beside eight busy processes. It has said everything by then.
    for _ in 0..PATIENCE {
        if launcher.is_finished() {
            break;
        }
        sleep(INTERVAL);
    }
    if !launcher.is_finished() {
        kill(&id.to_string())?;
    }
    let output = launcher.join().map_err(|_| "the launcher could not be waited for")??;
    let complaint = String::from_utf8_lossy(&output.stderr).into_owned();
    let is_told = complaint.contains("exited on signal 9") || complaint.contains("interrupted");
    assert!(output.status.success() || is_told, "{:?}: {complaint}", output.status);
    Ok((!output.status.success()).then_some(complaint))
}

fn kill(process: &str) -> Outcome {
    Command::new("kill").args(["-KILL", process]).stderr(Stdio::null()).status()?;
    Ok(())
}

/// Whether a process has not ended, be it that nobody has waited for it or not.
fn is_running(process: &str) -> bool {
    let status = fs::read_to_string(Path::new("/proc").join(process).join("stat")).unwrap_or_default();
    status.rsplit(") ").next().is_some_and(|state| !state.is_empty() && !state.starts_with('Z'))
}

/// The ranks that a launcher has begun, once they are the program: of one that is killed before, the launcher says that it could not start.
fn ranks_of(id: u32) -> Result<Vec<String>, Box<dyn Error>> {
    let children = fs::read_to_string(format!("/proc/{id}/task/{id}/children")).unwrap_or_default();
    let is_rank = |child: &&str| fs::read_to_string(format!("/proc/{child}/comm")).is_ok_and(|name| name == "fbint\n");
    Ok(children.split_whitespace().filter(is_rank).map(str::to_owned).collect())
}

/// The number of blocks that are on disk.
fn blocks(folder: &TempDir) -> usize {
    blocks_in(folder.path().join(FOLDER))
}

/// What every rank finds out for itself is told once.
#[test]
fn bad_input_is_told_once() -> Outcome {
    let folder = tempdir()?;
    let cases: [(&[&str], &str); 5] = [
        (&["ensemble", "kepler", "--members", "0"], "whole number from 1"),
        (&["ensemble", "keppler"], "did you mean `kepler`"),
        (&["ensemble", "kepler", "--vary", "mass=normal:1,0.1"], "unknown name in --vary `mass`"),
        (&["ensemble", "kepler", "--ends", "nowhere/ends.csv"], "no such folder"),
        (&["resume", "."], ". is not the checkpoint of an ensemble"),
    ];
    for (arguments, words) in cases {
        let output = ranks(&folder, 3, arguments).output()?;
        let complaint = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{complaint}");
        assert!(complaint.contains(words) && complaint.matches("error: ").count() == 1, "{complaint}");
    }
    assert!(names_in(&folder)?.is_empty());
    Ok(())
}

/// A block that cannot be written ends all ranks, and says why.
#[test]
fn a_process_that_fails_is_named() -> Outcome {
    let folder = tempdir()?;
    let endless = ENSEMBLE.map(|argument| if argument == "21000" { "10000000" } else { argument });
    let mut child = ranks(&folder, 3, &[&endless[..], &FILES].concat());
    let mut child = child.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    while blocks(&folder) == 0 && child.try_wait()?.is_none() {
        sleep(INTERVAL);
    }
    let renamed = fs::rename(folder.path().join(FOLDER), folder.path().join("away"));
    let output = child.wait_with_output()?;
    let complaint = String::from_utf8_lossy(&output.stderr);
    assert!(renamed.is_ok() && output.status.code() == Some(2), "{complaint}");
    assert!(complaint.matches("error: ").count() == 1 && complaint.contains(FOLDER), "{complaint}");
    Ok(())
}

/// One process leads an ensemble.
#[test]
fn a_checkpoint_in_use_is_left_alone() -> Outcome {
    let folder = tempdir()?;
    let endless = ["ensemble", "four-bar", "--until", "1e6", "--ends", "ends.csv"];
    let mut child = ranks(&folder, 2, &endless).stderr(Stdio::null()).spawn()?;
    let head = Path::new("ends.checkpoint").join("ensemble");
    while !folder.path().join(&head).exists() && child.try_wait()?.is_none() {
        sleep(INTERVAL);
    }
    refused(
        &fbint(&folder, &[&endless[..], &["--checkpoint", "ends.checkpoint"]].concat())?,
        &["did not come to its end"],
    );
    Command::new("kill").args(["-TERM", &child.id().to_string()]).status()?;
    assert!(!child.wait()?.success());
    Ok(())
}
