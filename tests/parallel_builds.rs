//! Many macros at once: Symbolica without a licence key aborts when two threads of one user compute at the same time, so
//! the macros take turns, across processes, and wait no longer than for one that is alive.
//!
//! Several times, eight crates are compiled at once, while a process that holds the algebra is killed before their eyes. They
//! are checked, not built: the macro runs in both cases, and what comes after it does not matter here.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader, Read, stdin};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use fbint_macros_core::algebra::symbolic::session;
use fbint_tests::amount;
use fbint_tests::workspaces::{Member, WITH_ALGEBRA, target_folder, write_workspace};

type Outcome = Result<(), Box<dyn Error>>;

const CRATES: usize = 8;

/// The crates use both editions in turn.
#[test]
fn eight_crates_with_two_models_each_compile_at_once() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parallel_builds");
    write_crates(&folder)?;
    for round in 0..=amount(4, 20) {
        for number in 0..CRATES {
            fs::write(package(&folder, number).join("src/lib.rs"), source(number, round))?;
        }
        // The first time what the crates depend on is compiled, for which nobody should have to wait with the lock in hand.
        let holder = (round > 0).then(Holder::start).transpose()?;
        compile(&folder, holder).map_err(|error| format!("round {round}: {error}"))?;
    }
    Ok(())
}

/// Compiles every crate and kills `holder` when all are under way.
fn compile(folder: &Path, mut holder: Option<Holder>) -> Outcome {
    let mut cargo = Command::new(env!("CARGO"))
        .args(["check", "-j8", "--offline", "--workspace"])
        .current_dir(folder)
        .env("CARGO_TARGET_DIR", target_folder(env!("CARGO_TARGET_TMPDIR")))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let (mut messages, mut under_way) = (String::new(), 0);
    for line in BufReader::new(cargo.stderr.take().ok_or("cargo writes into a pipe")?).lines() {
        let line = line?;
        under_way += usize::from(line.trim_start().starts_with("Checking mechanism-"));
        messages += &(line + "\n");
        if under_way == CRATES
            && let Some(holder) = holder.take()
        {
            holder.kill()?;
        }
    }
    let mut output = String::new();
    cargo.stdout.take().ok_or("cargo writes into a pipe")?.read_to_string(&mut output)?;
    assert!(cargo.wait()?.success(), "{messages}");
    assert_eq!(under_way, CRATES, "{messages}");
    assert_eq!(output, "", "nobody asked for this");
    assert!(!messages.contains("warning"), "{messages}");
    Ok(())
}

/// The crates, without sources.
fn write_crates(folder: &Path) -> Outcome {
    let names: Vec<String> = (0..CRATES).map(name).collect();
    let members = names.iter().enumerate().map(|(number, name)| Member {
        name,
        edition: if number % 2 == 0 { "2021" } else { "2024" },
        runtime: WITH_ALGEBRA,
        dependencies: "",
    });
    Ok(write_workspace(folder, &members.collect::<Vec<_>>())?)
}

fn name(number: usize) -> String {
    format!("mechanism-{number}")
}

fn package(folder: &Path, number: usize) -> PathBuf {
    folder.join(name(number))
}

/// Two models that no other crate and no other round has.
fn source(number: usize, round: usize) -> String {
    let models = ["First", "Second"].iter().enumerate().map(|(index, name)| {
        let stiffness = 1 + index + 2 * (number + CRATES * round);
        format!(
            "/// A bead on a sphere, held by a spring.\n\
             #[fbint_runtime::feedback_system(\n    \
                 coordinates(q: [3]),\n    \
                 momenta(p: [3]),\n    \
                 hamiltonian = p.norm_squared() / (2 * m) + {stiffness} * q[0].powi(4) / 4,\n    \
                 constraint(length = q.norm_squared() - l.powi(2)),\n\
             )]\n\
             pub struct {name} {{\n    pub m: f64,\n    pub l: f64,\n}}\n"
        )
    });
    models.collect()
}

/// A process in the middle of a session that does not end.
struct Holder(Child);

impl Holder {
    /// Returns when the process has the lock.
    fn start() -> Result<Self, Box<dyn Error>> {
        let mut process = Command::new(std::env::current_exe()?)
            .args(["--exact", "hold_the_algebra", "--ignored", "--nocapture"])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let mut lines = BufReader::new(process.stdout.take().ok_or("the child writes into a pipe")?).lines();
        lines
            .find(|line| line.as_ref().map_or(true, |line| line.contains(HELD)))
            .ok_or("the child never held the algebra")??;
        Ok(Self(process))
    }

    /// At once, with no chance to clean up.
    fn kill(mut self) -> Outcome {
        assert!(self.0.try_wait()?.is_none(), "it ended before it was killed");
        drop(self);
        Ok(())
    }
}

/// Also when a test fails, because others wait for the lock.
impl Drop for Holder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

const HELD: &str = "the algebra is held";

/// Run by another test, in a process that is killed, or ends with that test.
#[test]
#[ignore = "holds the algebra until its input ends"]
fn hold_the_algebra() -> Outcome {
    session(|| {
        println!("{HELD}");
        stdin().lines().for_each(drop);
    })
    .map_err(|error| error.to_string().into())
}
