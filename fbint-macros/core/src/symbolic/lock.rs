//! The lock that lets one session compute at a time: on a file that every process of the machine shares.

use std::fs::{File, OpenOptions, TryLockError};
use std::path::{Path, PathBuf};
use std::sync::mpsc;
use std::time::Duration;

/// How long a session waits for another process's session before it gives up, unless the environment says otherwise.
const PATIENCE: Duration = Duration::from_secs(60);
/// The environment variable that gives the number of seconds instead.
const PATIENCE_VARIABLE: &str = "FBINT_PATIENCE";
/// Why the algebra gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionError {
    /// Another process held the lock for longer than a session waits.
    Busy(Duration),
    /// The lock file or the thread could not be had.
    Unavailable(String),
    /// The algebra panicked.
    Panicked(String),
}

impl std::fmt::Display for SessionError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Busy(waited) => write!(
                out,
                "another process has kept the computer-algebra system busy for {} s (lock file {}); wait for it or end it, and build again",
                waited.as_secs(),
                lock_path().display(),
            ),
            Self::Unavailable(reason) => write!(out, "the computer-algebra system cannot be started: {reason}"),
            Self::Panicked(reason) => write!(
                out,
                "the computer-algebra system failed on this model: {reason}; this is a bug of fbint, please report it"
            ),
        }
    }
}

/// One path for the whole machine: a per-user or per-build folder would let two processes compute at once.
fn lock_path() -> PathBuf {
    let folder = if cfg!(unix) { PathBuf::from("/tmp") } else { std::env::temp_dir() };
    folder.join("fbint-algebra.lock")
}

fn patience(seconds: Option<String>) -> Duration {
    seconds.and_then(|seconds| seconds.parse().ok()).map_or(PATIENCE, Duration::from_secs)
}

/// Waits for the other sessions of this machine.
pub(super) fn take() -> Result<File, SessionError> {
    lock(&lock_path(), patience(std::env::var(PATIENCE_VARIABLE).ok()), || {})
}

/// Takes the lock on a file; calls `busy` if that takes waiting.
fn lock(path: &Path, patience: Duration, busy: impl FnOnce()) -> Result<File, SessionError> {
    let unavailable =
        |error: std::io::Error| SessionError::Unavailable(format!("lock file {}: {error}", path.display()));
    let file = open_lock_file(path).map_err(unavailable)?;
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::Error(error)) => return Err(unavailable(error)),
        Err(TryLockError::WouldBlock) => busy(),
    }
    // A thread that blocks takes its turn; one that polls may never be served. If it comes too late, the file that it sends
    // in vain is closed, which releases the lock.
    let (sender, receiver) = mpsc::channel();
    std::thread::spawn(move || sender.send(file.lock().map(|()| file)));
    match receiver.recv_timeout(patience) {
        Ok(result) => result.map_err(unavailable),
        Err(_) => Err(SessionError::Busy(patience)),
    }
}

/// Opened for reading where it exists: it may belong to another user, and a lock needs no more.
fn open_lock_file(path: &Path) -> std::io::Result<File> {
    File::open(path).or_else(|_| {
        let file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(path)?;
        // Whatever the umask, other users must be able to open it; where that is forbidden, they get an error.
        #[cfg(unix)]
        let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
        Ok(file)
    })
}

#[cfg(test)]
mod tests {
    use std::io::{BufRead, BufReader, stdin};
    use std::path::{Path, PathBuf};
    use std::process::{Command, Stdio};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::{PATIENCE, SessionError, lock, patience};

    /// The name of the file that `hold_a_lock` takes the lock on.
    const FILE: &str = "FBINT_LOCK_OF_TEST";
    const HELD: &str = "the lock is held";
    /// However slow the machine is.
    const FOREVER: Duration = Duration::MAX;

    /// A lock file of this test's own, so that nobody else holds it.
    fn lock_file(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("fbint-{name}-{}.lock", std::process::id()))
    }

    #[test]
    fn patience_ends_and_leaves_nothing_locked() {
        let path = lock_file("patience");
        let held = lock(&path, Duration::ZERO, || {}).expect("nobody else knows the file");
        let soon = Duration::from_millis(10);
        assert_eq!(lock(&path, soon, || {}).map(drop), Err(SessionError::Busy(soon)));
        drop(held);
        // Also the thread that went on waiting gives it back when it is served, too late.
        lock(&path, FOREVER, || {}).expect("nobody holds the lock any more");
        std::fs::remove_file(path).expect("a file that nobody needs any more");
    }

    #[test]
    fn patience_is_what_the_environment_says() {
        assert_eq!(patience(None), PATIENCE);
        assert_eq!(patience(Some("soon".to_owned())), PATIENCE);
        assert_eq!(patience(Some("3600".to_owned())), Duration::from_secs(3600));
    }

    #[test]
    fn a_killed_process_holds_up_nobody() {
        let path = lock_file("kill");
        let mut holder = Command::new(std::env::current_exe().expect("a test"))
            .args(["--exact", "symbolic::lock::tests::hold_a_lock", "--ignored", "--nocapture"])
            .env(FILE, &path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("another process");
        let lines = BufReader::new(holder.stdout.take().expect("a pipe")).lines();
        let is_held = |line: std::io::Result<String>| line.expect("text").contains(HELD);
        assert!(lines.into_iter().any(is_held), "the other process never held the lock");
        let (busy, is_busy) = mpsc::channel();
        let waiting =
            thread::spawn(move || lock(&path, FOREVER, || busy.send(()).expect("a test that listens")).map(drop));
        is_busy.recv().expect("two processes had the lock at once");
        holder.kill().expect("a process that waits");
        holder.wait().expect("a process that was killed");
        assert_eq!(waiting.join().expect("a thread"), Ok(()));
    }

    /// Run by another test, in a process that is killed, or ends with that test.
    #[test]
    #[ignore = "holds a lock until its input ends"]
    fn hold_a_lock() {
        let path = std::env::var_os(FILE).expect("the name of a file");
        let _held = lock(Path::new(&path), Duration::ZERO, || {}).expect("nobody else knows the file");
        println!("{HELD}");
        stdin().lines().for_each(drop);
    }
}
