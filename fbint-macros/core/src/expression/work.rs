//! Limits on the work of a model, by counting: a declaration ends with the same message on every machine.
//!
//! Deriving, proving and writing programs take time and memory that a declaration does not show: expressions multiply while they are
//! differentiated, and searches evaluate them at hundreds of states. So what all of these are made of is counted where it is done, and
//! whoever is not trusted is given a [`Budget`]. The functions that do the work have no other way to fail, and unwind where it is spent.
//! Macros have none: whoever compiles a crate waits as long as they like.

use std::cell::{Cell, RefCell};
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::Sender;

use num_rational::BigRational;

/// A look at a part of an expression. The other costs are multiples of this one, which takes about 5 ns.
pub(crate) const LOOK: u64 = 1;
/// A part of an expression evaluated in doubles.
pub(crate) const EVALUATION: u64 = 4;
/// An operation on residues modulo a prime.
pub(crate) const RESIDUE: u64 = 8;
/// A part of a new expression, or an instruction of a program.
pub(crate) const PART: u64 = 40;
/// An operation on numbers of 256 bits.
pub(crate) const PRECISE: u64 = 40;
/// An elementary function of them.
pub(crate) const PRECISE_FUNCTION: u64 = 2_000;
/// A statement of Rust.
pub(crate) const STATEMENT: u64 = 2_000;

/// The work between two looks at whether anybody waits: milliseconds.
const TRANCHE: u64 = 1_000_000;

thread_local! {
    /// The part of this thread's budget that is left before it looks whether anybody waits.
    static LEFT: Cell<u64> = const { Cell::new(TRANCHE) };
    /// The rest of the budget, where there is one.
    static REST: Cell<Option<u64>> = const { Cell::new(None) };
    /// The task of this thread, which a message names where the budget is spent.
    static TASK: Cell<&'static str> = const { Cell::new("") };
    /// Where another thread hears of this thread's tasks.
    static LISTENER: RefCell<Option<Listener>> = const { RefCell::new(None) };
}

/// The payload thrown where a budget is spent.
struct Spent;

/// The payload thrown after the listener has left.
struct Abandoned;

/// Another thread, which waits for the result.
pub(crate) struct Listener {
    /// Where it hears of the tasks.
    pub(crate) tasks: Sender<&'static str>,
    /// Set when the listener wants no result any more.
    pub(crate) has_left: Arc<AtomicBool>,
}

/// An amount of work.
pub(crate) struct Budget(u64);

impl Budget {
    pub(crate) fn new(work: u64) -> Self {
        Self(work)
    }

    /// Returns the result of `task`, or, where it takes more work than is left, the part of it that was [begun](begin) last. Nothing of it
    /// counts for a budget around this one.
    pub(crate) fn grant<T>(&mut self, task: impl FnOnce() -> T) -> Result<T, &'static str> {
        let around = (LEFT.replace(0), REST.replace(Some(self.0)));
        let result = catch_unwind(AssertUnwindSafe(task));
        self.0 = LEFT.replace(around.0) + REST.replace(around.1).unwrap_or_default();
        match result {
            Ok(value) => Ok(value),
            Err(panic) if panic.is::<Spent>() => Err(TASK.get()),
            Err(panic) => resume_unwind(panic),
        }
    }
}

/// Takes the work of an exact operation on a number: the square of its length in words, which is nothing for those that people write.
#[inline]
pub(crate) fn spend_number(number: &BigRational) {
    let words = (number.numer().bits() + number.denom().bits()) / 64;
    spend(words.saturating_mul(words));
}

/// Names what this thread does from now on, as it stands behind "while".
pub(crate) fn begin(task: &'static str) {
    TASK.set(task);
    // Whoever does not listen any more misses nothing.
    LISTENER.with_borrow(|listener| listener.as_ref().map(|listener| listener.tasks.send(task)));
}

/// From now on, tells what this thread [begins](begin), until it ends. It unwinds soon after the listener has left.
pub(crate) fn tell(listener: Listener) {
    LISTENER.set(Some(listener));
}

/// Takes this work from the budget of the thread. Unwinds, without a message, where less is left.
#[inline]
pub(crate) fn spend(work: u64) {
    match LEFT.get().checked_sub(work) {
        Some(left) => LEFT.set(left),
        None => begin_tranche(work),
    }
}

/// Takes this work, for which the tranche does not last.
#[cold]
fn begin_tranche(work: u64) {
    let has_left = |listener: &Listener| listener.has_left.load(Ordering::Relaxed);
    if LISTENER.with_borrow(|listener| listener.as_ref().is_some_and(has_left)) {
        resume_unwind(Box::new(Abandoned));
    }
    let Some(rest) = REST.get() else { return LEFT.set(TRANCHE) };
    let left = LEFT.get().saturating_add(rest).checked_sub(work);
    let left = left.unwrap_or_else(|| resume_unwind(Box::new(Spent)));
    LEFT.set(left.min(TRANCHE));
    REST.set(Some(left - left.min(TRANCHE)));
}

/// The same, `count` times.
#[inline]
pub(crate) fn spend_each(count: usize, work: u64) {
    spend(work.saturating_mul(count as u64));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_granted_can_be_spent_once() {
        let mut budget = Budget::new(10);
        assert_eq!(budget.grant(|| spend_each(2, 3)), Ok(()));
        assert_eq!(budget.grant(|| spend(4)), Ok(()));
        let counted = || {
            begin("counting");
            spend(1);
        };
        assert_eq!(budget.grant(counted), Err("counting"));
        spend(u64::MAX);
    }

    #[test]
    fn a_budget_within_another_is_its_own() {
        let mut inner = Budget::new(5);
        let nested = || {
            spend(6);
            assert_eq!(inner.grant(|| spend(4)), Ok(()));
            assert!(inner.grant(|| spend(4)).is_err());
            spend(4);
        };
        assert_eq!(Budget::new(10).grant(nested), Ok(()));
        spend(u64::MAX - 6);
    }

    #[test]
    fn a_thread_ends_soon_after_its_listener_has_left() {
        let has_left = Arc::new(AtomicBool::new(false));
        let (tasks, _heard) = std::sync::mpsc::channel();
        let listener = Listener { tasks, has_left: has_left.clone() };
        let working = std::thread::spawn(move || {
            tell(listener);
            Budget::new(u64::MAX / 2).grant(|| spend_each(10, TRANCHE)).expect("the budget lasts");
            has_left.store(true, Ordering::Relaxed);
            let _ = Budget::new(u64::MAX / 2).grant(|| spend(TRANCHE + 1));
            unreachable!("the thread has unwound");
        });
        assert!(working.join().expect_err("it unwound").is::<Abandoned>());
    }
}
