//! The progress of an ensemble, and its interruption.
//!
//! A function that receives the progress may stop an ensemble. Runs check for that every [`UNWATCHED`] steps, from within the lanes.
//! Members that are under way then end with an error; everything else is as in an ensemble that was not interrupted.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use crate::simulation::Moment;

/// The most steps between two checks for an interruption.
pub(super) const UNWATCHED: u64 = 256;
/// A member that runs alone asks whether the runs continue once in this many looks: with error control it looks after every step.
const LOOKS: u32 = 16;

/// A function that receives the finished fraction, and decides whether to continue.
type BoxedProgressObserver<'a> = Box<dyn FnMut(f64) -> ControlFlow<()> + Send + 'a>;

/// The finished members, and the function that receives the progress.
pub(super) struct EnsembleProgress<'a> {
    observer: Mutex<BoxedProgressObserver<'a>>,
    members: usize,
    done: AtomicUsize,
    is_over: AtomicBool,
}

impl<'a> EnsembleProgress<'a> {
    /// No member of this number is done yet.
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

    /// Returns `true` if the runs go on. No thread waits for another one that asks just now.
    pub(super) fn goes_on(&self) -> bool {
        if let Ok(mut observer) = self.observer.try_lock() {
            self.ask(&mut observer);
        }
        !self.is_over.load(Ordering::Relaxed)
    }

    /// A function that watches a member, and notes where it interrupts it.
    pub(super) fn watch<'w>(
        &'w self,
        is_interrupted: &'w AtomicBool,
    ) -> impl FnMut(&Moment<'_>) -> ControlFlow<()> + Send + 'w {
        let mut looks = 0_u32;
        move |_| {
            let interrupts = looks.is_multiple_of(LOOKS) && !self.goes_on();
            looks = looks.wrapping_add(1);
            is_interrupted.store(interrupts, Ordering::Relaxed);
            if interrupts { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        }
    }

    /// Asks the observer, until it has said that the runs are over.
    fn ask(&self, observer: &mut BoxedProgressObserver<'_>) {
        let fraction = self.done.load(Ordering::Relaxed) as f64 / self.members as f64;
        if !self.is_over.load(Ordering::Relaxed) && observer(fraction).is_break() {
            self.is_over.store(true, Ordering::Relaxed);
        }
    }
}
