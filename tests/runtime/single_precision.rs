//! Runs in single precision: rounding alone moves the integrals, and feedback puts a floor under that drift.
//!
//! Drift is the largest change of any integral, computed in double precision from the state, in units of f32's epsilon,
//! 1.2e-7. The bounds are about twice what was measured, which stands beside them and in the documentation of the crate. Sums,
//! products and fused multiply-adds of f32 are correctly rounded everywhere, so these figures do not vary.

use super::models::{FOUR_BAR, FourBar, SPHERICAL_PENDULUM, SphericalPendulum};
use super::vectors::largest;
use fbint_runtime::tableau::RK4;
use fbint_runtime::{Entries, Feedback, FeedbackSystem, Gains, PreparedSystem, Scalar, Uniform, Vector};

type Pendulum = Floor<'static, SphericalPendulum>;
type Linkage = Floor<'static, FourBar>;

const PENDULUM: fn(f64) -> Pendulum = |k| Floor::new(&SPHERICAL_PENDULUM, SphericalPendulum::start(), k);
const LINKAGE: fn(f64) -> Linkage = |k| Floor::new(&FOUR_BAR, FourBar::start(), k);

#[test]
fn feedback_holds_rk4_at_a_floor_that_does_not_rise_with_time() {
    let pendulum = |k| [20.0, 80.0].map(|until| PENDULUM(k).rk4::<f32>(1e-3, until));
    let linkage = |k| [20.0, 80.0].map(|until| LINKAGE(k).rk4::<f32>(1e-3, until));
    for (name, drifts, bound) in [
        // Measured: 17.5 and 17.5.
        ("pendulum, k = 1", pendulum(1.0), 35.0),
        // Measured: 3.9 and 3.9.
        ("pendulum, k = 50", pendulum(50.0), 8.0),
        // Measured: 34.7 and 46.6.
        ("four-bar, k = 1", linkage(1.0), 90.0),
    ] {
        assert!(drifts.iter().all(|&drift| drift < bound), "{name}: {drifts:.1?}");
    }
}

#[test]
fn without_feedback_rounding_adds_up() {
    let pendulum = [20.0, 80.0].map(|until| PENDULUM(1.0).plain_rk4::<f32>(1e-3, until));
    let linkage = [20.0, 80.0].map(|until| LINKAGE(1.0).plain_rk4::<f32>(1e-3, until));
    // Measured: 123 and 143, 292 and 1021. It adds up like a random walk, so that a longer run need not drift much further.
    for [short, long] in [pendulum, linkage] {
        assert!(short > 100.0 && long > 1.05 * short, "{short} {long}");
    }
    // In double precision there is nothing of the kind.
    assert!(PENDULUM(1.0).plain_rk4::<f64>(1e-3, 20.0) < 0.1);
}

#[test]
fn euler_s_own_drift_is_the_same_in_both_precisions() {
    for h in [1e-3, 1e-4] {
        let pendulum = [PENDULUM(1.0).euler::<f32>(h, 20.0), PENDULUM(1.0).euler::<f64>(h, 20.0)];
        let linkage = [LINKAGE(1.0).euler::<f32>(h, 20.0), LINKAGE(1.0).euler::<f64>(h, 20.0)];
        for [single, double] in [pendulum, linkage] {
            assert!(double > 1000.0 && (single - double).abs() < 100.0, "h = {h}: {single} {double}");
        }
    }
}

trait Precision: Scalar + Into<f64> + PartialEq + std::fmt::Debug {}

impl Precision for f32 {}
impl Precision for f64 {}

/// A system with its start and the field with feedback.
struct Floor<'a, S: FeedbackSystem> {
    system: &'a S,
    start: Vector<S>,
    feedback: Feedback<S, Uniform>,
}

impl<'a, S: FeedbackSystem> Floor<'a, S> {
    fn new(system: &'a S, start: Vector<S>, k: f64) -> Self {
        Self { system, start, feedback: Feedback::new(system, &start, Gains::uniform(k)).unwrap() }
    }

    fn euler<T: Precision>(&self, h: f64, until: f64) -> f64 {
        let feedback = self.feedback.cast::<T>();
        self.drift::<T>(h, until, |x, h| feedback.euler_step(x, h))
    }

    fn rk4<T: Precision>(&self, h: f64, until: f64) -> f64 {
        let feedback = self.feedback.cast::<T>();
        self.drift::<T>(h, until, |x, h| feedback.rk4_step(x, h))
    }

    fn plain_rk4<T: Precision>(&self, h: f64, until: f64) -> f64 {
        let prepared = self.system.prepare();
        let prepared = S::gather::<T>(&|_| &prepared);
        self.drift::<T>(h, until, |x, h| RK4.step(|x| prepared.vector_field(x), x, h))
    }

    /// The largest change of any integral over a run in the precision of `T`, in f32's epsilon.
    fn drift<T: Precision>(&self, h: f64, until: f64, step: impl Fn(&mut Vector<S, T>, T)) -> f64 {
        let mut x = Vector::<S, T>::from_fn(|i| T::from_f64(self.start[i]));
        let mut drift: f64 = 0.0;
        for _ in 0..(until / h).round() as u64 {
            step(&mut x, T::from_f64(h));
            let x = Vector::<S>::from_fn(|i| x[i].into());
            drift = drift.max(largest(self.feedback.violations(&x).as_ref()));
        }
        drift / f64::from(f32::EPSILON)
    }
}
