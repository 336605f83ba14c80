//! Symbolica's own lock. Without a licence key, Symbolica ends the process when it cannot take the lock of the user, on a file in
//! the user's folder for caches. It is tried beforehand, so that another program that uses Symbolica is waited for, and a folder
//! that cannot be written to is an error.
//!
//! This also keeps two sessions apart whose common lock file was deleted while the first computed. What remains is a program that
//! takes the lock between the look at it and Symbolica's own.

use std::ffi::OsString;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use super::lock::{SILENCE, SessionError, locked, regular_file, say};

const FILE: &str = "symbolica-restricted-thread-0.lock";

/// Waits for other programs of this user that compute with Symbolica.
pub(super) fn wait() -> Result<(), SessionError> {
    let home = std::env::home_dir();
    match folder(std::env::var_os("XDG_CACHE_HOME"), home) {
        Some(folder) => wait_in(&folder, SILENCE, say),
        None => Ok(()),
    }
}

/// The folder of the lock, where it is known.
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

fn wait_in(folder: &Path, silence: Duration, say: impl FnMut(&str)) -> Result<(), SessionError> {
    let path = folder.join(FILE);
    let remedy = "it needs a file that it can write to: set XDG_CACHE_HOME to the absolute path of such a folder, in the \
                  environment or under `[env]` in `.cargo/config.toml`";
    let unavailable = |error: io::Error| SessionError::of_file("its own lock file", &path, &error, remedy);
    let file = open(folder, &path).map_err(unavailable)?;
    let awaited = || {
        let path = path.display();
        format!("waiting for another program of this user that computes with Symbolica (it holds the lock on {path})")
    };
    locked(file, silence, say, awaited).map(drop).map_err(unavailable)
}

/// Folder and file are readable by nobody else, as Symbolica makes them.
fn open(folder: &Path, path: &Path) -> io::Result<File> {
    let (mut folders, mut options) = (DirBuilder::new(), OpenOptions::new());
    #[cfg(unix)]
    {
        use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
        folders.mode(0o700);
        options.mode(0o600);
    }
    folders.recursive(true).create(folder)?;
    if path.symlink_metadata().is_ok() {
        regular_file(path)?;
    }
    options.read(true).write(true).create(true).truncate(false).open(path)
}

#[cfg(test)]
mod tests {
    use std::fs::{self, File};
    use std::path::{Path, PathBuf};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::{FILE, SessionError, folder, wait_in};

    const AT_ONCE: Duration = Duration::from_millis(1);

    /// A folder of this test's own.
    fn caches(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("fbint-{name}-{}", std::process::id()))
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

    #[test]
    fn another_program_is_waited_for() {
        let folder = caches("busy");
        wait_in(&folder, AT_ONCE, |_| {}).expect("nobody else knows the folder");
        let held = File::options().write(true).open(folder.join(FILE)).expect("a file");
        held.lock().expect("nobody else knows the file");
        let (say, said) = mpsc::channel();
        let waiting = {
            let folder = folder.clone();
            thread::spawn(move || wait_in(&folder, AT_ONCE, |text| say.send(text.to_owned()).expect("a test")))
        };
        let text = said.recv().expect("it did not wait");
        assert!(text.contains("Symbolica") && text.contains(FILE), "{text}");
        drop(held);
        assert_eq!(waiting.join().expect("a thread"), Ok(()));
        fs::remove_dir_all(folder).expect("a folder of this test");
    }

    #[test]
    fn a_folder_that_cannot_be_is_an_error_that_says_what_to_set() {
        let caches = caches("unwritable");
        fs::write(&caches, "").expect("a file");
        match wait_in(&caches.join("symbolica"), AT_ONCE, |_| {}) {
            Err(SessionError::Unavailable(text)) => {
                assert!(text.contains("XDG_CACHE_HOME") && text.contains(FILE), "{text}");
            }
            other => panic!("{other:?}"),
        }
        fs::remove_file(caches).expect("a file of this test");
    }
}
