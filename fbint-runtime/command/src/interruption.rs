//! Ctrl-C and SIGTERM: files stay whole, nothing temporary stays behind, and a run that is watched ends in good order.
//!
//! A thread of its own waits for signals. While a run is watched, the first signal is only noted, and the run asks for it
//! between steps; otherwise, and at the second one, the process removes the files that are not whole yet and exits. The exit code is
//! 128 plus the number of the signal, as for a process that the signal killed: 130 for Ctrl-C.

use std::fs;
use std::io::{self, IsTerminal};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::complaint::complain;

/// The number of the signal that came; 0 if none came.
static SIGNAL: AtomicU8 = AtomicU8::new(0);
static WATCHED: AtomicBool = AtomicBool::new(false);
static DRAFTS: Mutex<Vec<PathBuf>> = Mutex::new(Vec::new());
static LAST_ACT: Mutex<Option<Act>> = Mutex::new(None);

/// While a value of this type exists, the first signal does not end the process.
pub(crate) struct Watch(());

impl Watch {
    pub(crate) fn begin() -> Self {
        WATCHED.store(true, Ordering::SeqCst);
        Self(())
    }

    /// The exit code to end with after a signal.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match SIGNAL.load(Ordering::SeqCst) {
            0 => None,
            signal => Some(exit_code(signal)),
        }
    }
}

impl Drop for Watch {
    fn drop(&mut self) {
        WATCHED.store(false, Ordering::SeqCst);
    }
}

/// From now on a signal does not end the process, which is about to end.
pub(crate) fn end_undisturbed() {
    WATCHED.store(true, Ordering::SeqCst);
}

/// What to do before a signal ends the process, and what to say then.
type Act = Box<dyn FnOnce() -> String + Send>;

/// While a value of this type exists, a signal that ends the process does something first.
pub(crate) struct LastAct(());

impl LastAct {
    pub(crate) fn prepare(act: impl FnOnce() -> String + Send + 'static) -> Self {
        *last_act() = Some(Box::new(act));
        Self(())
    }
}

impl Drop for LastAct {
    fn drop(&mut self) {
        last_act().take();
    }
}

fn last_act() -> MutexGuard<'static, Option<Act>> {
    LAST_ACT.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The files that are not whole yet, to be removed when a signal ends the process. While this guard exists, none does.
pub(crate) fn drafts() -> MutexGuard<'static, Vec<PathBuf>> {
    DRAFTS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Starts waiting for signals.
#[cfg(unix)]
pub(crate) fn listen() -> io::Result<()> {
    use signal_hook::consts::{SIGINT, SIGTERM};
    let mut signals = signal_hook::iterator::Signals::new([SIGINT, SIGTERM])?;
    std::thread::spawn(move || {
        for signal in signals.forever() {
            receive(u8::try_from(signal).unwrap_or(u8::MAX));
        }
    });
    Ok(())
}

/// Elsewhere Ctrl-C ends the process at once.
#[cfg(not(unix))]
pub(crate) fn listen() -> io::Result<()> {
    Ok(())
}

fn receive(signal: u8) {
    let is_first = SIGNAL.swap(signal, Ordering::SeqCst) == 0;
    if !is_first || !WATCHED.load(Ordering::SeqCst) {
        // Held until the exit, so that nothing of what would follow the act is done any more.
        let mut act = last_act();
        let message = act.take().map_or_else(|| "interrupted".to_owned(), |act| act());
        let drafts = drafts();
        for draft in drafts.iter() {
            let _ = fs::remove_file(draft);
        }
        // There may be a progress bar in the line.
        let newline = if io::stderr().is_terminal() { "\n" } else { "" };
        complain(&format!("{newline}{message}"));
        std::process::exit(exit_code(signal).into());
    }
}

fn exit_code(signal: u8) -> u8 {
    signal.saturating_add(128)
}
