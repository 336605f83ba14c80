//! Generated functions and steps allocate nothing, under a counting allocator: each function of each model of the catalogue
//! once, many Euler and RK4 steps of some, and ensembles from step to step.
#![allow(missing_docs)]
// An allocator cannot be written without.
#![allow(unsafe_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use fbint_runtime::tableau::RK4;
use fbint_runtime::{
    Direction, Ensemble, Feedback, FeedbackSystem, Gains, GeneratedSystem, Method, Projection, Sensitivity, Settings,
    Vector,
};
use fbint_tests::amount;
use fbint_tests::systems::{FourBar, PlanarPendulum, SphericalPendulum, SphericalPendulumCpv22};
use models::{ChaplyginSleigh, DegeneratePendulum, DrivenPendulum, HeldSleigh};

/// Here they need not be more than what they are.
macro_rules! functions {
    ($($function:item)*) => { $($function)* };
}

#[path = "no_panic/functions.rs"]
mod functions;

struct Counting;

thread_local! {
    /// Of this thread alone: the test harness allocates on its own.
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

// SAFETY: every call goes to the system's allocator as it came; the counter is a plain cell that allocates nothing.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: the caller's promises are those that the system's allocator asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: as above.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count();
        // SAFETY: as above.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count() {
    // A thread that is ending has no counter any more.
    let _ = ALLOCATIONS.try_with(|allocations| allocations.set(allocations.get() + 1));
}

fn allocations_of(work: impl FnOnce()) -> u64 {
    let before = ALLOCATIONS.get();
    work();
    ALLOCATIONS.get() - before
}

#[test]
fn the_counter_counts() {
    assert_eq!(allocations_of(|| drop(std::hint::black_box(Box::new(1.0)))), 1);
    assert_eq!(allocations_of(|| drop(std::hint::black_box(vec![[0.0; 100]; 3]))), 1);
}

#[test]
fn no_function_of_any_model_allocates() {
    let mut names = [""; functions::MODELS];
    assert_eq!(allocations_of(|| names = functions::of_models().unwrap()), 0);
    assert_eq!(names.len() + functions::LEFT_OUT, catalogue::all().len(), "a model is missing among {names:?}");
}

#[test]
fn spherical_pendulum() {
    let pendulum = SphericalPendulum::default();
    steps_allocate_nothing(&pendulum, pendulum.start());
}

#[test]
fn spherical_pendulum_cpv22() {
    let pendulum = SphericalPendulumCpv22::default();
    steps_allocate_nothing(&pendulum, pendulum.start());
}

#[test]
fn planar_pendulum() {
    let pendulum = PlanarPendulum::default();
    steps_allocate_nothing(&pendulum, pendulum.start());
}

#[test]
fn four_bar() {
    let linkage = FourBar::default();
    steps_allocate_nothing(&linkage, linkage.start().unwrap());
}

/// Forwards and backwards, whatever is kept.
#[test]
fn derivatives_of_runs() {
    let pendulum = DrivenPendulum::default();
    let start = pendulum.start().into();
    let plain = Sensitivity::<DrivenPendulum>::new(pendulum.prepare());
    for run in [plain.clone(), plain.projected(Projection::default())] {
        let mut ends = [[0.0; 4]; 2];
        let work = || {
            let mut along = run.along(start, [Direction::of_state([1.0, 0.0, 0.0, 0.0]), Direction::zero()]);
            (0..1000).for_each(|_| along.step(&RK4, 1e-3));
            ends[0] = *along.state();
            ends[1] = run.gradient(&RK4, start, 1e-3, 1000, 10, |x| *x).0;
        };
        assert_eq!(allocations_of(work), 0);
        assert_eq!(ends[0], ends[1]);
    }
}

#[test]
fn lagrangian_systems() {
    let (sleigh, held, pendulum) = (ChaplyginSleigh::default(), HeldSleigh::default(), DegeneratePendulum::default());
    steps_allocate_nothing(&sleigh, sleigh.start());
    steps_allocate_nothing(&held, held.start());
    steps_allocate_nothing(&pendulum, pendulum.start());
}

/// What an ensemble allocates is for its members and samples, however many steps they take.
#[test]
fn steps_of_ensembles() {
    let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let linkage = FourBar::default();
    let starts: Vec<Vector<FourBar>> = vec![linkage.start().unwrap().into(); 50];
    let (rtol, atol) = (1e-6, 1e-6);
    for method in [
        Method::Rk4 { h: 1e-3 },
        Method::DormandPrince { rtol, atol: Some(atol) },
        Method::Dop853 { rtol, atol: Some(atol) },
    ] {
        for projection in [None, Some(Projection::default())] {
            let allocations_until = |until: f64| {
                let settings = Settings { every: Some(until), projection, ..Settings::new(method, until) };
                let mut failures = 0;
                let run = || {
                    let ensemble = Ensemble::new(&linkage, starts.iter().copied());
                    failures = ensemble.run_with(&settings).unwrap().failures().count();
                };
                let allocations = pool.install(|| allocations_of(run));
                assert_eq!(failures, 0);
                allocations
            };
            // What the pool itself needs, it allocates at first.
            allocations_until(0.1);
            assert_eq!(allocations_until(0.1), allocations_until(2.0), "{method:?}, {projection:?}");
        }
    }
}

fn steps_allocate_nothing<S: GeneratedSystem>(system: &S, start: impl Into<Vector<S>>) {
    let (mut x, steps) = (start.into(), amount(10_000, 1_000_000));
    let feedback = Feedback::new(system, &x, Gains::uniform(1.0)).unwrap();
    let allocations = allocations_of(|| {
        for _ in 0..steps {
            feedback.euler_step(&mut x, 1e-5);
        }
        for _ in 0..steps {
            feedback.rk4_step(&mut x, 1e-5);
        }
    });
    assert_eq!(allocations, 0, "{}", S::FACTS.name);
    let is_small = |violation: &f64| violation.abs() < 1e-3;
    assert!(feedback.violations(&x).as_ref().iter().all(is_small), "{}: ended at {x:?}", S::FACTS.name);
}
