//! Ctrl-C, SIGTERM and SIGHUP, which a closed terminal sends: files stay whole, nothing temporary stays behind, and a run that is watched
//! ends in good order. A SIGHUP that is ignored when the program starts, as under `nohup`, stays ignored; that is known on Linux alone, so
//! that SIGHUP ends the process at once elsewhere. On Windows nothing listens: files stay whole, but Ctrl-C ends the process at once, and
//! its temporary files stay behind.
//!
//! A separate thread waits for signals. While a run or an ensemble is watched, it only notes the first signal, which the run looks up
//! between steps; otherwise, and at the second one, the process removes the files that are not whole yet and exits. An ensemble whose
//! blocks are on disk leaves its record then. The exit code is 128 plus the number of the signal, as for a process that the signal killed:
//! 130 for Ctrl-C.

use std::error::Error;
use std::fs;
use std::io::{self, IsTerminal};
use std::mem::{forget, replace};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::words::complaint::complain;

/// The number of the signal that came; 0 if none came.
static SIGNAL: AtomicU8 = AtomicU8::new(0);
static RESPONSE: Mutex<SignalResponse> = Mutex::new(SignalResponse::End);
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());

/// The response to the first signal. A second one always ends the process.
enum SignalResponse {
    /// The process ends.
    End,
    /// The process does this and ends.
    EndAfter(Act),
    /// The signal is noted.
    Note,
}

/// The act before a signal ends the process; it returns the message.
type Act = Box<dyn FnOnce() -> String + Send>;

/// While a value of this type exists, the first signal does not end the process.
pub(crate) struct SignalGuard(());

impl SignalGuard {
    pub(crate) fn begin() -> Self {
        *response() = SignalResponse::Note;
        Self(())
    }

    /// The exit code to end with after a signal.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match SIGNAL.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(exit_code(signal)),
        }
    }

    /// Whether to go on.
    pub(crate) fn answer(&self) -> ControlFlow<()> {
        if self.exit_code().is_some() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        *response() = SignalResponse::End;
    }
}

/// From now on a signal does not end the process, which is about to end.
pub(crate) fn end_undisturbed() {
    forget(SignalGuard::begin());
}

/// While a value of this type exists, a signal that ends the process does something first.
pub(crate) struct LastAct(());

impl LastAct {
    pub(crate) fn prepare(act: impl FnOnce() -> String + Send + 'static) -> Self {
        *response() = SignalResponse::EndAfter(Box::new(act));
        Self(())
    }

    /// Prepares the act for what `begin` begins. A signal comes before both or after both.
    pub(crate) fn prepare_with<T, A: FnOnce() -> String + Send + 'static>(
        begin: impl FnOnce() -> Result<T, Box<dyn Error>>,
        act: impl FnOnce(&T) -> A,
    ) -> Result<(T, Self), Box<dyn Error>> {
        let mut response = response();
        let begun = begin()?;
        *response = SignalResponse::EndAfter(Box::new(act(&begun)));
        Ok((begun, Self(())))
    }

    /// From now on the first signal is noted instead.
    pub(crate) fn into_guard(self) -> SignalGuard {
        forget(self);
        SignalGuard::begin()
    }
}

impl Drop for LastAct {
    fn drop(&mut self) {
        *response() = SignalResponse::End;
    }
}

fn response() -> MutexGuard<'static, SignalResponse> {
    RESPONSE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files that are not whole yet, to be removed when a signal ends the process. While this guard exists, none does.
pub(crate) fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts waiting for signals.
#[cfg(unix)]
pub(crate) fn listen() -> io::Result<()> {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    if !is_hangup_ignored() {
        signals.handle().add_signal(SIGHUP)?;
    }
    std::thread::spawn(move || {
        for signal in signals.forever() {
            receive(u8::try_from(signal).unwrap_or(u8::MAX));
        }
    });
    Ok(())
}

/// Returns `true` if SIGHUP, the first signal of the mask, is ignored, or nothing tells that it is not.
#[cfg(unix)]
fn is_hangup_ignored() -> bool {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let mask = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    mask.and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok()).is_none_or(|mask| mask & 1 == 1)
}

/// Elsewhere Ctrl-C ends the process at once.
#[cfg(not(unix))]
pub(crate) fn listen() -> io::Result<()> {
    Ok(())
}

#[cfg_attr(not(unix), expect(dead_code, reason = "nothing listens there"))]
fn receive(signal: u8) {
    let is_first = SIGNAL.swap(signal, Ordering::SeqCst) == 0;
    // Held until the exit, so that nothing of what would follow the act is done any more.
    let mut response = response();
    let message = match replace(&mut *response, SignalResponse::End) {
        SignalResponse::Note if is_first => {
            *response = SignalResponse::Note;
            return;
        }
        SignalResponse::EndAfter(act) => act(),
        SignalResponse::End | SignalResponse::Note => "interrupted".to_owned(),
    };
    let drafts = drafts();
    for draft in drafts.iter() {
        let _ = fs::remove_file(draft);
    }
    // There may be a progress bar in the line.
    let newline = if io::stderr().is_terminal() { "\n" } else { "" };
    complain(&format!("{newline}{message}"));
    std::process::exit(exit_code(signal).into());
}

fn exit_code(signal: u8) -> u8 {
    signal.saturating_add(128)
}
