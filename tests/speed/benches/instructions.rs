//! Instructions for each evaluation of a feedback field, counted by valgrind's callgrind, compared with the record in
//! `instructions.txt` and with the handwritten kernel. Built for a target with fused multiply-adds:
//!
//! ```text
//! RUSTFLAGS="-C target-cpu=x86-64-v3" cargo bench -p fbint-speed --bench instructions --target x86_64-unknown-linux-gnu
//! ```
//!
//! More than 2 % above the record is a failure; `-- --record` writes a new record. A new release of rustc may move the
//! counts by itself. Without valgrind nothing is counted, and the bench says so and does not fail.
#![allow(missing_docs)]

use std::error::Error;
use std::hint::black_box;
use std::process::{Command, ExitCode, Stdio};

use fbint_runtime::{Entries, Field, Vector};
use fbint_speed::HandwrittenField;
use fbint_speed::rivals::{Contested, Generated, rivals};
use models::{CartPendulum, Chain4, Chain8, Chain16, FourBar, PlanarPendulum, SphericalPendulum};

type Outcome<T> = Result<T, Box<dyn Error>>;

const RECORD: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/instructions.txt");
const SYSTEMS: [&str; 7] =
    ["SphericalPendulum", "PlanarPendulum", "CartPendulum", "FourBar", "Chain4", "Chain8", "Chain16"];
/// By how much a count may exceed its record.
const SLACK: f64 = 1.02;
/// Evaluations in the shorter of two runs; the longer has twice as many, and what they differ by is counted.
const EVALUATIONS: u64 = 100;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let outcome = match &arguments[..] {
        [flag, system, function, count] if flag == "--evaluate" => evaluate(system, function, count),
        _ => compare_all(arguments.iter().any(|argument| argument == "--record")),
    };
    match outcome {
        Ok(code) => code,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}

fn compare_all(record: bool) -> Outcome<ExitCode> {
    if Command::new("valgrind").arg("--version").stdout(Stdio::null()).status().is_err() {
        println!("skipped: instructions are counted by valgrind, which is not installed");
        return Ok(ExitCode::SUCCESS);
    }
    let recorded = std::fs::read_to_string(RECORD)?;
    let comparable = cfg!(target_feature = "fma") && !cfg!(target_feature = "avx512f");
    let mut new_record = String::new();
    let mut worse = Vec::new();
    println!("{:<20} {:>10} {:>10} {:>10}", "instructions", "generated", "recorded", "by hand");
    for system in SYSTEMS {
        let (count, by_hand) = (instructions(system, GENERATED)?, instructions(system, BY_HAND)?);
        let known = recorded.lines().filter_map(|line| line.split_once(' ')).find(|(name, _)| *name == system);
        let known: u64 = known.map(|(_, count)| count.trim().parse()).transpose()?.unwrap_or(0);
        println!("{system:<20} {count:>10} {known:>10} {by_hand:>10}");
        new_record.push_str(&format!("{system} {count}\n"));
        if count as f64 > known as f64 * SLACK {
            worse.push(system);
        }
    }
    if !comparable {
        println!("not compared with the record, which is for x86-64-v3: see this file's head");
    } else if record {
        std::fs::write(RECORD, new_record)?;
    } else if !worse.is_empty() {
        eprintln!("more than 2 % above the record: {}; `-- --record` if that is meant", worse.join(", "));
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

/// Instructions for one evaluation, as callgrind sees them.
fn instructions(system: &str, function: &str) -> Outcome<u64> {
    let collected = |count: u64| -> Outcome<u64> {
        let output = Command::new("valgrind")
            .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
            .arg(format!("--toggle-collect=*{function}*"))
            .arg(std::env::current_exe()?)
            .args(["--evaluate", system, function, &count.to_string()])
            .output()?;
        let log = String::from_utf8_lossy(&output.stderr);
        let total = log.lines().find_map(|line| line.split_once("Collected : ")).map(|(_, total)| total.trim());
        match total {
            Some(total) if output.status.success() => Ok(total.parse()?),
            _ => Err(format!("{system} failed under valgrind:\n{log}").into()),
        }
    };
    Ok((collected(2 * EVALUATIONS)? - collected(EVALUATIONS)?) / EVALUATIONS)
}

fn evaluate(system: &str, function: &str, count: &str) -> Outcome<ExitCode> {
    let count = count.parse()?;
    match system {
        "SphericalPendulum" => evaluate_times::<SphericalPendulum>(function, count)?,
        "PlanarPendulum" => evaluate_times::<PlanarPendulum>(function, count)?,
        "CartPendulum" => evaluate_times::<CartPendulum>(function, count)?,
        "FourBar" => evaluate_times::<FourBar>(function, count)?,
        "Chain4" => evaluate_times::<Chain4>(function, count)?,
        "Chain8" => evaluate_times::<Chain8>(function, count)?,
        "Chain16" => evaluate_times::<Chain16>(function, count)?,
        _ => return Err(format!("unknown system `{system}`").into()),
    }
    Ok(ExitCode::SUCCESS)
}

fn evaluate_times<S: Contested>(function: &str, count: u64) -> Outcome<()> {
    let (generated, by_hand, start) = rivals::<S>()?;
    let mut rate = start;
    for _ in 0..count {
        if function == GENERATED {
            field_generated(black_box(&generated), black_box(&start), &mut rate);
        } else {
            field_by_hand(black_box(&by_hand), black_box(&start), &mut rate);
        }
        black_box(&rate);
    }
    Ok(())
}

const GENERATED: &str = "field_generated";
const BY_HAND: &str = "field_by_hand";

/// The state is in memory, and so will be the result.
#[inline(never)]
fn field_generated<S: Contested>(generated: &Generated<S>, x: &Vector<S>, rate: &mut Vector<S>) {
    *rate = generated.value(x);
}

#[inline(never)]
fn field_by_hand<K: HandwrittenField<V>, V: Entries<f64>>(by_hand: &K, x: &V, rate: &mut V) {
    *rate = by_hand.field(x);
}
