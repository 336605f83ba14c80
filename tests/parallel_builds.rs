//! Many macros at once: Symbolica without a licence key aborts when two threads of one user compute at the same time, so
//! the macros take turns, across processes, and wait no longer than for one that is alive.

use std::error::Error;
use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use fbint_macros_core::symbolic::session;

type Outcome = Result<(), Box<dyn Error>>;

const CRATES: usize = 8;
const ROUNDS: usize = 5;

/// The crates use both editions in turn.
#[test]
fn eight_crates_with_two_models_each_build_at_once() -> Outcome {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parallel_builds");
    write_workspace(&folder)?;
    for round in 1..=ROUNDS {
        for number in 0..CRATES {
            fs::write(package(&folder, number).join("src/lib.rs"), source(number, round))?;
        }
        let output = Command::new(env!("CARGO"))
            .args(["build", "-j8", "--offline", "--workspace"])
            .current_dir(&folder)
            .env("CARGO_TARGET_DIR", target_folder())
            .output()?;
        let messages = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "round {round}: {messages}");
        assert_eq!(String::from_utf8_lossy(&output.stdout), "", "round {round}: nobody asked for this");
        for number in 0..CRATES {
            assert!(messages.contains(&format!("Compiling mechanism-{number} ")), "round {round}: {messages}");
        }
        assert!(!messages.contains("warning"), "round {round}: {messages}");
    }
    Ok(())
}

/// The target folder that this test was built in: what the crates depend on is there already.
fn target_folder() -> &'static Path {
    Path::new(env!("CARGO_TARGET_TMPDIR")).parent().expect("the folder for temporary files lies in the target folder")
}

/// With the versions of this workspace and, by way of its `.cargo/config.toml`, its profiles, so that Symbolica is not compiled again.
fn write_workspace(folder: &Path) -> Outcome {
    let home = Path::new(env!("CARGO_MANIFEST_DIR")).parent().ok_or("the tests lie in a workspace")?;
    fs::create_dir_all(folder)?;
    fs::copy(home.join("Cargo.lock"), folder.join("Cargo.lock"))?;
    fs::write(folder.join("Cargo.toml"), "[workspace]\nresolver = \"3\"\nmembers = [\"mechanism-*\"]\n")?;
    for number in 0..CRATES {
        let package = package(folder, number);
        fs::create_dir_all(package.join("src"))?;
        let edition = if number % 2 == 0 { "2021" } else { "2024" };
        let runtime = home.join("fbint-runtime");
        fs::write(
            package.join("Cargo.toml"),
            format!(
                "[package]\nname = \"mechanism-{number}\"\nedition = \"{edition}\"\n\n\
                 [dependencies]\nfbint-runtime.path = {runtime:?}\n"
            ),
        )?;
    }
    Ok(())
}

fn package(folder: &Path, number: usize) -> PathBuf {
    folder.join(format!("mechanism-{number}"))
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

#[test]
fn a_killed_process_holds_up_nobody() -> Outcome {
    let mut holder = Command::new(std::env::current_exe()?)
        .args(["--exact", "hold_the_algebra", "--ignored", "--nocapture"])
        .stdout(Stdio::piped())
        .spawn()?;
    let mut lines = BufReader::new(holder.stdout.take().ok_or("the child writes into a pipe")?).lines();
    lines
        .find(|line| line.as_ref().map_or(true, |line| line.contains(HELD)))
        .ok_or("the child never held the algebra")??;

    let waiting = std::thread::spawn(|| session(|| ()));
    std::thread::sleep(Duration::from_millis(200));
    assert!(!waiting.is_finished(), "two processes computed at once");
    holder.kill()?;
    holder.wait()?;
    waiting.join().map_err(|_| "the session panicked")?.map_err(|error| error.to_string().into())
}

const HELD: &str = "the algebra is held";

/// Run by another test, in a process that is killed.
#[test]
#[ignore = "sleeps for as long as it lives"]
fn hold_the_algebra() -> Outcome {
    session(|| {
        println!("{HELD}");
        std::thread::sleep(Duration::from_secs(3600));
    })
    .map_err(|error| error.to_string().into())
}
