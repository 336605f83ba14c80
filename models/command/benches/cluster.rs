//! How ensembles that several processes share scale: measured as far as this machine has cores, and modelled beyond.
//!
//! `cargo bench -p fbint --features mpi --bench cluster`

use std::error::Error;
use std::fs;
use std::process::{Command, Stdio};
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

fn main() -> Result<(), Box<dyn Error>> {
    let members = BLOCK * BLOCKS;
    println!(
        "four-bar, RK4, projected, {:.0} steps, {members} members in {BLOCKS} blocks, a thread a process\n",
        UNTIL / STEP
    );
    let alone = fastest(&mut || ensemble(None, members, UNTIL, &[]))?;
    let kept = fastest(&mut || ensemble(None, members, UNTIL, &["--checkpoint", "c"]))?;
    println!("| processes | s | times as fast |\n|---|---|---|");
    println!("| 1, without a checkpoint | {alone:.2} | 1 |\n| 1, blocks on disk | {kept:.2} | {:.2} |", alone / kept);
    for count in 1..=available_parallelism()?.get() {
        let together = fastest(&mut || ensemble(Some(count), members, UNTIL, &[]))?;
        println!("| {count} by mpirun | {together:.2} | {:.2} |", alone / together);
    }

    let begin = fastest(&mut || ensemble(Some(1), 1, STEP, &[]))?;
    let (block, bytes) = (alone / f64::from(BLOCKS), f64::from(bytes_of_block()?) / f64::from(BLOCK));
    let add = seconds_to_add()?;
    println!("\nto begin and end by mpirun: {begin:.2} s; a block: {block:.3} s to integrate, {add:.4} s to add;");
    println!(
        "a member: {bytes:.0} bytes on disk; a block: 2 messages of 6 and at most 24 bytes; a process: 2 more to end\n"
    );
    println!("| members | processes | s | of the ideal |\n|---|---|---|---|");
    for members in [1_000_000, 10_000_000_u32] {
        for processes in [4, 16, 64, 256, 1024_u32] {
            let blocks = f64::from(members.div_ceil(BLOCK));
            // The last process to end has as many blocks as any. The first one adds all of them while it and others integrate.
            let share = (blocks / f64::from(processes)).ceil() * (block + add);
            let seconds = begin + share.max(blocks * add) + add;
            let part = blocks * block / f64::from(processes) / seconds;
            println!("| {members} | {processes} | {seconds:.1} | {:.0} % |", 100.0 * part);
        }
    }
    Ok(())
}

/// The time that an ensemble takes, with a table of ends, by one process or by as many as `mpirun` begins.
fn ensemble(processes: Option<usize>, members: u32, until: f64, options: &[&str]) -> Result<f64, Box<dyn Error>> {
    let folder = tempdir()?;
    let begun = Instant::now();
    let status = command(&folder, processes, members, until, options).status()?;
    if !status.success() {
        return Err(format!("an ensemble failed: {status}").into());
    }
    Ok(begun.elapsed().as_secs_f64())
}

fn command(folder: &TempDir, processes: Option<usize>, members: u32, until: f64, options: &[&str]) -> Command {
    let fbint = env!("CARGO_BIN_EXE_fbint");
    let mut command = Command::new(if processes.is_some() { "mpirun" } else { fbint });
    if let Some(count) = processes {
        command.args(["-n", &count.to_string(), fbint]);
    }
    let [step, until, members] = [STEP.to_string(), until.to_string(), members.to_string()];
    let what = ["ensemble", "four-bar", "--vary", "g=normal:9.81,0.1", "--ends", "ends.csv", "--threads", "1"];
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
/// blocks, because a folder was where its table had to go.
fn seconds_to_add() -> Result<f64, Box<dyn Error>> {
    let folder = tempdir()?;
    let (ends, count) = (folder.path().join("ends.csv"), 10 * BLOCKS);
    let mut child =
        command(&folder, None, count * BLOCK, STEP, &["--checkpoint", "c"]).stderr(Stdio::null()).spawn()?;
    while !folder.path().join("c/block-0").exists() && child.try_wait()?.is_none() {
        sleep(Duration::from_millis(1));
    }
    fs::create_dir(&ends)?;
    child.wait()?;
    fs::remove_dir(&ends)?;
    let begun = Instant::now();
    let mut resume = Command::new(env!("CARGO_BIN_EXE_fbint"));
    let status = resume.args(["resume", "c", "--threads", "1"]).current_dir(&folder).stdout(Stdio::null()).status()?;
    let seconds = begun.elapsed().as_secs_f64() - fastest(&mut || ensemble(None, 1, STEP, &[]))?;
    if status.success() { Ok(seconds / f64::from(count)) } else { Err("not resumed".into()) }
}

/// The size of the file of a block, from an ensemble that is ended when it has one.
fn bytes_of_block() -> Result<u32, Box<dyn Error>> {
    let folder = tempdir()?;
    let mut child = command(&folder, None, 2 * BLOCK, UNTIL, &["--checkpoint", "c"]).spawn()?;
    let size = loop {
        if let Ok(file) = fs::metadata(folder.path().join("c/block-0")) {
            break u32::try_from(file.len())?;
        }
        if child.try_wait()?.is_some() {
            return Err("it ended before there was a block".into());
        }
        sleep(Duration::from_millis(1));
    };
    child.kill()?;
    child.wait()?;
    Ok(size)
}
