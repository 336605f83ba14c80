//! How ensembles that several processes share scale: measured as far as this machine has cores, and modelled beyond.
//!
//! `cargo bench -p fbint --features mpi,parquet --bench cluster`

use std::error::Error;
use std::fs;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::thread::{available_parallelism, sleep};
use std::time::{Duration, Instant};

use tempfile::{TempDir, tempdir};

/// The number of members in a block.
const BLOCK: u32 = 2048;
/// The number of blocks of the ensemble that is measured.
const BLOCKS: u32 = 24;
/// Times are minima over so many repetitions.
const REPETITIONS: u32 = 3;
/// The step of the four-bar linkage, which projects after each.
const STEP: f64 = 1e-2;
/// The end of a run.
const UNTIL: f64 = 10.0;
/// The end of one that takes a tenth of the time and has as many samples.
const SOON: f64 = 1.0;
/// A table of ends that the first process writes.
const FILE: &str = "ends.csv";
/// One of parts, each of which is written by whoever has integrated its block.
const FOLDER: &str = "ends/";

fn main() -> Result<(), Box<dyn Error>> {
    let members = BLOCK * BLOCKS;
    println!(
        "four-bar, RK4, projected, {:.0} steps, {members} members in {BLOCKS} blocks, a thread a process\n",
        UNTIL / STEP
    );
    let alone = fastest(&mut || ensemble(None, members, UNTIL, FILE, &[]))?;
    let kept = fastest(&mut || ensemble(None, members, UNTIL, FILE, &["--checkpoint", "c"]))?;
    let parts = fastest(&mut || ensemble(None, members, UNTIL, FOLDER, &["--checkpoint", "c"]))?;
    println!("| processes | s | times as fast |\n|---|---|---|");
    println!("| 1, without a checkpoint | {alone:.2} | 1 |\n| 1, blocks on disk | {kept:.2} | {:.2} |", alone / kept);
    println!("| 1, blocks on disk, a folder | {parts:.2} | {:.2} |", alone / parts);
    for (ends, what) in [(FILE, ""), (FOLDER, ", a folder")] {
        for count in 1..=available_parallelism()?.get() {
            let together = fastest(&mut || ensemble(Some(count), members, UNTIL, ends, &[]))?;
            println!("| {count} by mpirun{what} | {together:.2} | {:.2} |", alone / together);
        }
    }

    let begin = fastest(&mut || ensemble(Some(1), 1, STEP, FILE, &[]))?;
    let (block, part) = (alone / f64::from(BLOCKS), parts / f64::from(BLOCKS));
    let (add, add_summary) = (seconds_to_add(FILE)?, seconds_to_add(FOLDER)?);
    let of_member = f64::from(bytes_of(FILE, "c/block-0")?) / f64::from(BLOCK);
    let of_part = f64::from(bytes_of(FOLDER, "ends/part-0000000.parquet")?) / f64::from(BLOCK);
    let of_summary = bytes_of(FOLDER, "c/block-0")?;
    println!("\nto begin and end by mpirun: {begin:.2} s; a block: {block:.3} s to integrate, {add:.4} s to add;");
    println!("with a folder: {part:.3} s to integrate and write, {add_summary:.5} s to add;");
    println!("a member: {of_member:.0} bytes on disk; with a folder: {of_part:.0}, and a block {of_summary};");
    println!("a block: 2 messages of 6 and at most 24 bytes; a process: 2 more to end\n");
    println!(
        "| members | processes | a file, s | of the ideal | a folder, s | of the ideal |\n|---|---|---|---|---|---|"
    );
    for members in [1_000_000, 10_000_000_u32] {
        for processes in [4, 16, 64, 256, 1000_u32] {
            let blocks = f64::from(members.div_ceil(BLOCK));
            let ideal = blocks * block / f64::from(processes);
            // The last process to end has as many blocks as any. The first one adds all of them while it and others integrate.
            let seconds = |own: f64, add: f64| {
                let share = (blocks / f64::from(processes)).ceil() * own;
                begin + share.max(blocks * add) + add
            };
            let columns = [seconds(block + add, add), seconds(part, add_summary)]
                .map(|seconds| format!("{seconds:.1} | {:.0} %", 100.0 * ideal / seconds));
            println!("| {members} | {processes} | {} |", columns.join(" | "));
        }
    }
    Ok(())
}

/// The time that an ensemble takes, with a table of ends, by one process or by as many as `mpirun` begins.
fn ensemble(
    processes: Option<usize>,
    members: u32,
    until: f64,
    ends: &str,
    options: &[&str],
) -> Result<f64, Box<dyn Error>> {
    let folder = tempdir()?;
    let begun = Instant::now();
    let status = command(&folder, processes, members, until, ends, options).status()?;
    if !status.success() {
        return Err(format!("an ensemble failed: {status}").into());
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn command(
    folder: &TempDir,
    processes: Option<usize>,
    members: u32,
    until: f64,
    ends: &str,
    options: &[&str],
) -> Command {
    let fbint = env!("CARGO_BIN_EXE_fbint");
    let mut command = Command::new(if processes.is_some() { "mpirun" } else { fbint });
    if let Some(count) = processes {
        command.args(["-n", &count.to_string(), fbint]);
    }
    let [step, until, members] = [STEP.to_string(), until.to_string(), members.to_string()];
    let what = ["ensemble", "four-bar", "--vary", "g=normal:9.81,0.1", "--ends", ends, "--threads", "1"];
    command.args(what).args(["--step", &step, "--until", &until, "--members", &members]).args(options);
    let allowed = ["OMPI_ALLOW_RUN_AS_ROOT", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM"];
    command.envs(allowed.map(|name| (name, "1"))).current_dir(folder).stdout(Stdio::null());
    command
}

fn fastest(run: &mut dyn FnMut() -> Result<f64, Box<dyn Error>>) -> Result<f64, Box<dyn Error>> {
    let mut least = f64::INFINITY;
    for _ in 0..REPETITIONS {
        least = least.min(run()?);
    }
    Ok(least)
}

/// The time that the leader takes for a block that is on disk: it is read, and added to the results. What is resumed here has all
/// blocks, because a folder was where its record had to go.
fn seconds_to_add(ends: &str) -> Result<f64, Box<dyn Error>> {
    let folder = tempdir()?;
    let (record, count) = (folder.path().join("ends.ensemble.json"), 10 * BLOCKS);
    let kept = ["--checkpoint", "c"];
    let mut child = command(&folder, None, count * BLOCK, SOON, ends, &kept).stderr(Stdio::null()).spawn()?;
    wait_for(&folder.path().join("c/block-0"), &mut child)?;
    fs::create_dir(&record)?;
    child.wait()?;
    fs::remove_dir(&record)?;
    let begun = Instant::now();
    let mut resume = Command::new(env!("CARGO_BIN_EXE_fbint"));
    let status = resume.args(["resume", "c", "--threads", "1"]).current_dir(&folder).stdout(Stdio::null()).status()?;
    let seconds = begun.elapsed().as_secs_f64() - fastest(&mut || ensemble(None, 1, STEP, ends, &[]))?;
    if status.success() { Ok(seconds / f64::from(count)) } else { Err("not resumed".into()) }
}

/// The size of a file of a block, from an ensemble that is ended when it has one.
fn bytes_of(ends: &str, file: &str) -> Result<u32, Box<dyn Error>> {
    let folder = tempdir()?;
    let mut child = command(&folder, None, 2 * BLOCK, UNTIL, ends, &["--checkpoint", "c"]).spawn()?;
    let file = folder.path().join(file);
    wait_for(&file, &mut child)?;
    let bytes = fs::metadata(file)?.len();
    child.kill()?;
    child.wait()?;
    Ok(u32::try_from(bytes)?)
}

/// Waits until a process has written a file.
fn wait_for(file: &Path, process: &mut Child) -> Result<(), Box<dyn Error>> {
    while !file.exists() {
        if process.try_wait()?.is_some() {
            return Err(format!("it ended before there was {}", file.display()).into());
        }
        sleep(Duration::from_millis(1));
    }
    Ok(())
}
