//! A session where Symbolica would end the process: the folder of its lock cannot be written to, or another program has the lock.
#![cfg(all(unix, not(target_os = "macos")))]

use std::fs::{self, File};
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use fbint_macros_core::algebra::symbolic::{Expr, session};
use fbint_macros_core::expression::{Expression, Symbol};

const LOCK: &str = "symbolica/locks/symbolica-restricted-thread-0.lock";
const DERIVED: &str = "what was derived: ";

/// A folder of this test's own.
fn caches(name: &str) -> PathBuf {
    std::env::temp_dir().join(format!("fbint-environment-{name}-{}", std::process::id()))
}

/// The test below in a process with another environment.
fn derivation(home: &str, caches: Option<&Path>) -> Command {
    let mut command = Command::new(std::env::current_exe().expect("a test"));
    command
        .args(["--exact", "environment::derive", "--ignored", "--nocapture"])
        .env("HOME", home)
        .env_remove("XDG_CACHE_HOME");
    if let Some(caches) = caches {
        command.env("XDG_CACHE_HOME", caches);
    }
    command
}

fn output(mut command: Command) -> Output {
    command.output().expect("another process")
}

/// Run by other tests.
#[test]
#[ignore = "depends on what surrounds it"]
fn derive() {
    let square = Expression::from(Symbol(0)) * Expression::from(Symbol(0));
    match session(|| Expr::read(&square).expanded().write()) {
        Ok(simplest) => println!("{DERIVED}{simplest:?}"),
        Err(error) => println!("{error}"),
    }
}

#[test]
fn a_home_that_cannot_be_written_to_is_an_error_that_says_what_to_set() {
    for home in ["/proc", "/dev/null", "/dev/null/home"] {
        let output = output(derivation(home, None));
        let text = String::from_utf8_lossy(&output.stdout);
        assert!(output.status.success(), "{home}: {:?}\n{text}", output.status);
        assert!(text.contains(home) && text.contains("set XDG_CACHE_HOME"), "{text}");
        assert!(!text.contains(DERIVED), "{text}");
    }
}

#[test]
fn what_the_message_says_helps() {
    let caches = caches("remedy");
    let output = output(derivation("/proc", Some(&caches)));
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains(DERIVED), "{text}");
    assert!(caches.join(LOCK).exists(), "Symbolica's lock is elsewhere");
    fs::remove_dir_all(caches).expect("a folder of this test");
}

#[test]
fn another_program_that_computes_is_waited_for() {
    let caches = caches("busy");
    assert!(output(derivation("/proc", Some(&caches))).status.success());
    let held = File::open(caches.join(LOCK)).expect("Symbolica's lock");
    held.lock().expect("nobody else knows the file");
    let mut command = derivation("/proc", Some(&caches));
    let mut process = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("another process");
    let mut messages = BufReader::new(process.stderr.take().expect("a pipe")).lines();
    let waits = messages.any(|line| line.expect("text").contains("waiting for another program of this user"));
    assert!(waits, "it did not wait");
    drop(held);
    let output = process.wait_with_output().expect("another process");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success() && text.contains(DERIVED), "{text}");
    fs::remove_dir_all(caches).expect("a folder of this test");
}
