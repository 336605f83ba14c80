//! Whose turn it is: one session computes at a time, on the whole machine. A lock on a file that all processes share decides,
//! which the system releases when its holder dies. Waiting for it is therefore waiting for a process that lives.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

/// How long a session waits, or computes, before it says so.
pub(super) const SILENCE: Duration = Duration::from_secs(5);

/// Why the algebra gave no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SessionError {
    /// A lock or the thread could not be had.
    Unavailable(String),
    /// The algebra panicked.
    Panicked(String),
}

impl SessionError {
    pub(super) fn of_file(what: &str, path: &Path, error: &io::Error, remedy: &str) -> Self {
        Self::Unavailable(format!("{what} {}: {error}; {remedy}", path.display()))
    }
}

impl std::fmt::Display for SessionError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Unavailable(reason) => write!(out, "the computer-algebra system cannot be started: {reason}"),
            Self::Panicked(reason) => write!(
                out,
                "the computer-algebra system failed on this model: {reason}; this is a bug of fbint, please report it"
            ),
        }
    }
}

/// Tells whoever builds why it takes so long. Editors read what macros write to stdout, not this.
pub(super) fn say(text: &str) {
    eprintln!("fbint: {text}");
}

/// The crate that is being compiled, or else the program that runs.
pub(super) fn this_crate() -> String {
    let program = || Some(std::env::current_exe().ok()?.file_name()?.to_string_lossy().into_owned());
    std::env::var("CARGO_PKG_NAME").ok().or_else(program).unwrap_or_else(|| "unknown".to_owned())
}

/// This process's turn, until it is dropped.
pub(super) struct Turn {
    file: File,
}

impl Turn {
    /// Waits for the other sessions of this machine.
    pub(super) fn wait() -> Result<Self, SessionError> {
        Self::wait_at(&lock_path(), SILENCE, say)
    }

    fn wait_at(path: &Path, silence: Duration, mut say: impl FnMut(&str)) -> Result<Self, SessionError> {
        let remedy = "every user who compiles models needs to read this file; remove it and build again";
        let unavailable = |error: io::Error| SessionError::of_file("the lock file", path, &error, remedy);
        let awaited = || format!("waiting for the computer-algebra system, which {} uses", holder(path));
        loop {
            let file = open_lock_file(path).map_err(unavailable)?;
            let file = locked(file, silence, &mut say, awaited).map_err(unavailable)?;
            // A lock on a file that was deleted keeps out nobody who comes later.
            if is_at(&file, path) {
                return Ok(Self::of(file));
            }
        }
    }

    /// Leaves a note of who holds the lock, if the file belongs to this user.
    fn of(mut file: File) -> Self {
        let _ = file.set_len(0);
        let _ = write!(file, "{} {}", std::process::id(), this_crate());
        Self { file }
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        let _ = self.file.set_len(0);
    }
}

/// One path for the whole machine: a per-user or per-build folder would let two processes compute at once.
fn lock_path() -> PathBuf {
    let folder = if cfg!(unix) { PathBuf::from("/tmp") } else { std::env::temp_dir() };
    folder.join("fbint-algebra.lock")
}

/// Takes the lock on a file. Each time that `silence` has passed until it has it, says what is awaited, if that is something else than before.
pub(super) fn locked(
    file: File,
    silence: Duration,
    mut say: impl FnMut(&str),
    awaited: impl Fn() -> String,
) -> io::Result<File> {
    match file.try_lock() {
        Ok(()) => return Ok(file),
        Err(TryLockError::Error(error)) => return Err(error),
        Err(TryLockError::WouldBlock) => {}
    }
    // A thread that blocks takes its turn; one that polls may never be served.
    let (sender, receiver) = mpsc::channel();
    std::thread::Builder::new().spawn(move || sender.send(file.lock().map(|()| file)))?;
    let mut said = String::new();
    loop {
        match receiver.recv_timeout(silence) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {
                let text = awaited();
                if text != said {
                    say(&text);
                    said = text;
                }
            }
            Err(RecvTimeoutError::Disconnected) => return Err(io::Error::other("nobody waits for the lock")),
        }
    }
}

fn open_lock_file(path: &Path) -> io::Result<File> {
    loop {
        let (file, came_too_late) = match regular_file(path) {
            Ok(()) => (open(path), ErrorKind::NotFound),
            Err(error) if error.kind() == ErrorKind::NotFound => (create(path), ErrorKind::AlreadyExists),
            Err(error) => return Err(error),
        };
        match file {
            Err(error) if error.kind() == came_too_late => {}
            file => return file,
        }
    }
}

/// Opening a pipe would wait for somebody who writes into it, and a link may lead anywhere.
pub(super) fn regular_file(path: &Path) -> io::Result<()> {
    if path.symlink_metadata()?.is_file() { Ok(()) } else { Err(io::Error::other("not a regular file")) }
}

/// For reading only, if it belongs to another user: a lock needs no more.
fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path).or_else(|_| File::open(path))
}

fn create(path: &Path) -> io::Result<File> {
    let file = OpenOptions::new().read(true).write(true).create_new(true).open(path)?;
    // Whatever the umask, other users must be able to open it; where that is forbidden, they get an error.
    #[cfg(unix)]
    let _ = file.set_permissions(std::os::unix::fs::PermissionsExt::from_mode(0o644));
    Ok(file)
}

#[cfg(unix)]
fn is_at(file: &File, path: &Path) -> bool {
    use std::os::unix::fs::MetadataExt;
    let (Ok(held), Ok(found)) = (file.metadata(), path.symlink_metadata()) else { return false };
    (held.dev(), held.ino()) == (found.dev(), found.ino())
}

/// An open file cannot be replaced.
#[cfg(not(unix))]
fn is_at(_: &File, _: &Path) -> bool {
    true
}

/// Who holds the lock, by the note in the file. Notes of processes that died are out of date.
fn holder(path: &Path) -> String {
    let mut note = String::new();
    let read = regular_file(path).and_then(|()| File::open(path)?.take(256).read_to_string(&mut note));
    let written = read.ok().and_then(|_| note.split_once(' '));
    let known = written.and_then(|(process, name)| Some((process.parse::<u32>().ok()?, name)));
    match known.filter(|(process, _)| is_alive(*process)) {
        Some((process, name)) => {
            let name: String = name.chars().filter(|c| c.is_alphanumeric() || "-_.".contains(*c)).collect();
            format!("process {process} (`{name}`)")
        }
        None => format!("another process (it holds the lock on {})", path.display()),
    }
}

/// Yes, where the system does not tell.
fn is_alive(process: u32) -> bool {
    let processes = Path::new("/proc");
    !processes.join("self").exists() || processes.join(process.to_string()).exists()
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::io::{BufRead, BufReader, stdin};
    use std::path::{Path, PathBuf};
    use std::process::{Child, Command, Stdio};
    use std::sync::mpsc;
    use std::thread;
    use std::time::Duration;

    use super::{SessionError, Turn, holder, is_at, this_crate};

    /// The name of the file that `hold_a_lock` takes the lock on.
    const FILE: &str = "FBINT_LOCK_OF_TEST";
    const HELD: &str = "the lock is held";
    /// Whoever waits says so at once.
    const AT_ONCE: Duration = Duration::from_millis(1);

    /// A path of this test's own, so that nobody else locks it.
    fn path(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("fbint-{name}-{}.lock", std::process::id()))
    }

    fn take(path: &Path) -> Turn {
        Turn::wait_at(path, AT_ONCE, |_| {}).expect("nobody else knows the file")
    }

    /// Another process that has the lock on a file.
    fn hold(path: &Path) -> Child {
        let mut holder = Command::new(std::env::current_exe().expect("a test"))
            .args(["--exact", "algebra::symbolic::lock::tests::hold_a_lock", "--ignored", "--nocapture"])
            .env(FILE, path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("another process");
        let lines = BufReader::new(holder.stdout.take().expect("a pipe")).lines();
        let is_held = |line: std::io::Result<String>| line.expect("text").contains(HELD);
        assert!(lines.into_iter().any(is_held), "the other process never held the lock");
        holder
    }

    /// Run by other tests, in a process that is killed, or ends with the test.
    #[test]
    #[ignore = "holds a lock until its input ends"]
    fn hold_a_lock() {
        let path = std::env::var_os(FILE).expect("the name of a file");
        let _held = take(Path::new(&path));
        println!("{HELD}");
        stdin().lines().for_each(drop);
    }

    #[test]
    fn who_waits_is_told_for_whom_until_the_holder_is_killed() {
        let path = path("kill");
        let mut holder = hold(&path);
        let (say, said) = mpsc::channel();
        let waiting = {
            let path = path.clone();
            thread::spawn(move || {
                Turn::wait_at(&path, AT_ONCE, |text| say.send(text.to_owned()).expect("a test")).map(drop)
            })
        };
        let text = said.recv().expect("two processes had the lock at once");
        let named = format!("process {} (`{}`)", holder.id(), this_crate());
        assert!(text.contains(&named), "{text}");
        holder.kill().expect("a process that waits");
        holder.wait().expect("a process that was killed");
        assert_eq!(waiting.join().expect("a thread"), Ok(()));
        fs::remove_file(path).expect("a file that nobody needs any more");
    }

    #[test]
    fn only_processes_that_live_are_named() {
        let path = path("notes");
        for note in ["", "nobody", "4294967295 dead", "-1 x", "1", "\u{1b}[31m \u{1b}[0m"] {
            fs::write(&path, note).expect("a note");
            assert!(holder(&path).starts_with("another process"), "{note}: {}", holder(&path));
        }
        fs::write(&path, format!("{} a\u{1b}[31m\nb", std::process::id())).expect("a note");
        assert_eq!(holder(&path), format!("process {} (`a31mb`)", std::process::id()));
        drop(take(&path));
        assert_eq!(fs::read_to_string(&path).expect("a file"), "", "the holder is done");
        fs::remove_file(path).expect("a file that nobody needs any more");
    }

    #[test]
    #[cfg(unix)]
    fn a_lock_file_that_is_deleted_is_made_again() {
        let path = path("deleted");
        let held = take(&path);
        let (say, said) = mpsc::channel();
        let waiting = {
            let path = path.clone();
            thread::spawn(move || Turn::wait_at(&path, AT_ONCE, |text| say.send(text.to_owned()).expect("a test")))
        };
        said.recv().expect("two had the lock at once");
        fs::remove_file(&path).expect("the file");
        drop(held);
        let turn = waiting.join().expect("a thread").expect("a turn");
        assert!(is_at(&turn.file, &path), "others lock another file");
        fs::remove_file(path).expect("a file that nobody needs any more");
    }

    #[test]
    #[cfg(unix)]
    fn what_is_not_a_file_is_an_error_at_once() {
        let (folder, pipe, link, dangling) = (path("folder"), path("pipe"), path("link"), path("dangling"));
        fs::create_dir(&folder).expect("a folder");
        assert!(Command::new("mkfifo").arg(&pipe).status().expect("a command of every Unix").success());
        std::os::unix::fs::symlink(&folder, &link).expect("a link");
        std::os::unix::fs::symlink("/nowhere/at/all", &dangling).expect("a link");
        for path in [&folder, &pipe, &link, &dangling] {
            match Turn::wait_at(path, AT_ONCE, |_| {}).map(drop) {
                Err(SessionError::Unavailable(text)) => {
                    assert!(text.contains(&*path.to_string_lossy()) && text.contains("remove it"), "{text}");
                }
                other => panic!("{}: {other:?}", path.display()),
            }
        }
        for path in [pipe, link, dangling] {
            fs::remove_file(path).expect("a file of this test");
        }
        fs::remove_dir(folder).expect("a folder of this test");
    }

    #[test]
    fn a_folder_that_does_not_exist_is_an_error() {
        let path = path("missing").join("lock");
        assert!(matches!(Turn::wait_at(&path, AT_ONCE, |_| {}).map(drop), Err(SessionError::Unavailable(_))));
    }
}
