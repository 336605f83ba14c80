//! How far an ensemble is, and whether it goes on.
//!
//! A function that is told the progress may ask an ensemble to stop. Runs look for that every [`UNWATCHED`] steps, from within the lanes.
//! Members that are under way then end with an error; everything else is as in an ensemble that was not interrupted.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

/// How many steps are made between two looks at whether the runs go on, at most.
pub(super) const UNWATCHED: u64 = 256;

/// A function that is told the fraction that is done, and says whether to go on.
type BoxedProgressObserver<'a> = Box<dyn FnMut(f64) -> ControlFlow<()> + Send + 'a>;

/// The members that are done, and who is told.
pub(super) struct EnsembleProgress<'a> {
    observer: Mutex<BoxedProgressObserver<'a>>,
    members: usize,
    done: AtomicUsize,
    is_over: AtomicBool,
}

impl<'a> EnsembleProgress<'a> {
    /// Nothing is done yet of so many members.
    pub(super) fn new(members: usize, observer: impl FnMut(f64) -> ControlFlow<()> + Send + 'a) -> Self {
        let observer = Mutex::new(Box::new(observer) as BoxedProgressObserver<'a>);
        Self { observer, members, done: AtomicUsize::new(0), is_over: AtomicBool::new(false) }
    }

    /// Adds to the members that are done, and tells the observer.
    pub(super) fn advance(&self, members: usize) {
        // Only an observer that panicked poisons its lock, and then the run ends anyway.
        let Ok(mut observer) = self.observer.lock() else { return };
        self.done.fetch_add(members, Ordering::Relaxed);
        self.ask(&mut observer);
    }

    /// Whether the runs go on. No thread waits for another one that asks just now.
    pub(super) fn goes_on(&self) -> bool {
        if let Ok(mut observer) = self.observer.try_lock() {
            self.ask(&mut observer);
        }
        !self.is_over.load(Ordering::Relaxed)
    }

    /// Asks the observer, until it has said that the runs are over.
    fn ask(&self, observer: &mut BoxedProgressObserver<'_>) {
        let fraction = self.done.load(Ordering::Relaxed) as f64 / self.members as f64;
        if !self.is_over.load(Ordering::Relaxed) && observer(fraction).is_break() {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }
}
