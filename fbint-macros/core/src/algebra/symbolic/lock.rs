//! Whose turn it is: one session of a user computes at a time. Locks on files decide, which the system releases when their holder dies.
//! Waiting for one is therefore waiting for a process that lives.
//!
//! Without a licence key, Symbolica ends the process when it cannot lock a certain file in the user's folder for caches. So our lock lies
//! next to that file, and a session tries Symbolica's lock while it holds ours: it waits for other programs that use Symbolica, and a
//! folder that cannot be written to is an error. One gap remains: a program may take the lock between our trial and Symbolica's.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread;
use std::time::Duration;

use crate::syntax::diagnostics::REPORT;

/// Our lock.
const OURS: &str = "fbint.lock";
/// The lock that Symbolica takes when it starts to compute.
const SYMBOLICAS: &str = "symbolica-restricted-thread-0.lock";
/// The way to give a session such a file: on macOS the folder does not depend on the environment.
const REMEDY: &str = if cfg!(target_os = "macos") {
    "give this user the right to write there"
} else {
    "set XDG_CACHE_HOME to the absolute path of such a folder, in the environment or under `[env]` in `.cargo/config.toml`"
};
/// The time for which a session waits, or computes, before it reports that.
const SILENCE: Duration = Duration::from_secs(5);

/// Why the algebra gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionError {
    /// A lock or the thread could not be had.
    Unavailable(String),
    /// The algebra panicked.
    Panicked(String),
}

impl std::fmt::Display for SessionError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unavailable(reason) => write!(out, "the computer-algebra system cannot be started: {reason}"),
            Self::Panicked(reason) => {
                write!(out, "the computer-algebra system failed on this model: {reason}\nhelp: {REPORT}")
            }
        }
    }
}

/// Waits for the other sessions of this user, and for other programs. It is this process's turn until what this gives is dropped.
pub(super) fn turn() -> Result<File, SessionError> {
    let (folder, ours) = match folder(std::env::var_os("XDG_CACHE_HOME"), std::env::home_dir()) {
        Some(folder) => (folder, OURS.to_owned()),
        None => (std::env::temp_dir(), shared_name(user())),
    };
    let ours = locked(&folder, &ours, "the derivation of another model")?;
    locked(&folder, SYMBOLICAS, "another program of this user that computes with Symbolica")?;
    Ok(ours)
}

/// The folder of Symbolica's lock, where it is known.
fn folder(caches: Option<OsString>, home: Option<PathBuf>) -> Option<PathBuf> {
    let home = || home.filter(|home| home.is_absolute());
    let caches = if cfg!(target_os = "macos") {
        home()?.join("Library/Caches")
    } else if cfg!(unix) {
        caches.map(PathBuf::from).filter(|caches| caches.is_absolute()).or_else(|| Some(home()?.join(".cache")))?
    } else {
        return None;
    };
    Some(caches.join("symbolica").join("locks"))
}

/// The name of our lock in a shared folder. It has the user's number, because users cannot write to each other's files.
fn shared_name(user: Option<u32>) -> String {
    user.map_or_else(|| OURS.to_owned(), |user| format!("fbint-{user}.lock"))
}

/// The number of this user, where the system tells.
fn user() -> Option<u32> {
    #[cfg(unix)]
    return Some(std::os::unix::fs::MetadataExt::uid(&fs::metadata("/proc/self").ok()?));
    #[cfg(not(unix))]
    None
}

/// Takes the lock on a file in a folder, and makes both if they do not exist.
fn locked(folder: &Path, name: &str, holder: &str) -> Result<File, SessionError> {
    let path = folder.join(name);
    let take = || -> io::Result<File> {
        fs::create_dir_all(folder)?;
        let file = File::options().read(true).write(true).create(true).truncate(false).open(&path)?;
        file.lock()?;
        Ok(file)
    };
    patiently(&format!("waiting for {holder} (it holds the lock on {})", path.display()), take).map_err(|error| {
        SessionError::Unavailable(format!(
            "the lock file {}: {error}; it needs a file that it can write to\nhelp: {REMEDY}",
            path.display()
        ))
    })
}

/// The result of `work`. A long computation is reported on stderr; editors read only the stdout of macros.
pub(super) fn patiently<T>(text: &str, work: impl FnOnce() -> T) -> T {
    let (working, is_working) = mpsc::channel::<()>();
    thread::scope(|scope| {
        let watch = move || {
            if is_working.recv_timeout(SILENCE) == Err(RecvTimeoutError::Timeout) {
                eprintln!("fbint: {text}");
            }
        };
        // Where there is no thread to be had, nothing is said.
        let _ = thread::Builder::new().spawn_scoped(scope, watch);
        let result = work();
        drop(working);
        result
    })
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{folder, shared_name, user};

    #[test]
    fn users_without_a_home_have_files_of_their_own() {
        assert_eq!(shared_name(Some(1000)), "fbint-1000.lock");
        assert_eq!(shared_name(None), "fbint.lock");
        assert_eq!(user().is_some(), cfg!(target_os = "linux"));
    }

    #[test]
    #[cfg(all(unix, not(target_os = "macos")))]
    fn the_folder_follows_the_environment() {
        let folder = |caches: Option<&str>, home: Option<&str>| folder(caches.map(Into::into), home.map(Into::into));
        let locks = |caches: &str| Some(Path::new(caches).join("symbolica/locks"));
        assert_eq!(folder(Some("/caches"), Some("/home/me")), locks("/caches"));
        for relative in [None, Some(""), Some("caches")] {
            assert_eq!(folder(relative, Some("/home/me")), locks("/home/me/.cache"));
            assert_eq!(folder(relative, Some("")), None);
            assert_eq!(folder(relative, None), None);
        }
    }
}
