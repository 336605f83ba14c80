//! Fields, integrals, gradients of the feedback potential and reactions against values that were computed with 50 digits.

use fbint_runtime::{Entries, FeedbackLaw, GeneratedSystem, Integrals, PreparedSystem, Scalar, Vector};
use nalgebra::vector;
use serde_json::Value;

use super::systems::*;

/// The largest difference, relative to the largest entry.
const TOLERANCE: f64 = 1e-12;

/// y_i = i (F_i - F_target,i), counted from one, times the integral's weight.
struct Distinct(Vec<f64>);

impl<S: GeneratedSystem, T: Scalar> FeedbackLaw<S, T> for Distinct {
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        Entries::from_fn(|i| {
            let gain = (i + 1) as f64 * S::FACTS.integrals[i].weight;
            T::from_f64(gain) * (integrals[i] - T::from_f64(self.0[i]))
        })
    }
}

fn numbers(value: &Value) -> Vec<f64> {
    value.as_array().expect("a list").iter().map(|number| number.as_f64().expect("a number")).collect()
}

fn agree(name: &str, what: &str, computed: &[f64], expected: &[f64]) {
    assert_eq!(computed.len(), expected.len(), "{name}: {what}");
    let scale = expected.iter().fold(1e-3, |scale: f64, entry| scale.max(entry.abs()));
    for (a, b) in computed.iter().zip(expected) {
        assert!((a - b).abs() <= TOLERANCE * scale, "{name}: {what} {computed:?}, expected {expected:?}");
    }
}

fn compare<S: GeneratedSystem>(name: &str, system: &S) {
    let all: Value = serde_json::from_str(include_str!("points.json")).expect("the points are JSON");
    let reference = &all[name];
    let system = system.prepare();
    let law = Distinct(numbers(&reference["targets"]));
    let points = reference["points"].as_array().expect("a list");
    assert!(points.len() >= 8, "{name}");
    for point in points {
        let state = numbers(&point["state"]);
        assert_eq!(state.len(), S::FACTS.state.len(), "{name}");
        let x: Vector<S> = Entries::from_fn(|i| state[i]);
        agree(name, "field", system.vector_field(&x).as_ref(), &numbers(&point["field"]));
        agree(name, "integrals", system.integrals(&x).as_ref(), &numbers(&point["integrals"]));
        agree(name, "gradient", system.potential_gradient(&x, &law).as_ref(), &numbers(&point["gradient"]));
        if let Some(outputs) = point.get("outputs") {
            agree(name, "outputs", system.outputs(&x).as_ref(), &numbers(outputs));
        }
    }
}

#[test]
fn pendulums() {
    compare("hamel_pendulum/hamel", &HamelPendulum { m: 1.0, g: 1.0, l: 1.0 });
    compare("hamel_pendulum/velocity", &ConstrainedPendulum { m: 1.0, g: 1.0, l: 1.0 });
    compare("hamel_pendulum_unit_frame/hamel", &UnitFramePendulum { m: 1.5, g: 2.0, l: 0.8 });
    compare("degenerate_pendulum/hamel", &DegeneratePendulum { m: 1.0, g: 1.0, r: 1.0 });
    compare("cart_pendulum/hamel", &CartPendulum { cart: 2.0, m: 0.5, l: 0.8, g: 9.81 });
}

#[test]
fn sleighs() {
    let (m, j, a) = (2.0, 0.7, 0.3);
    compare("chaplygin_sleigh/hamel", &ChaplyginSleigh { m, j, a });
    compare("chaplygin_sleigh/velocity_multiplier", &SleighByRates { m, j, a });
    compare("chaplygin_sleigh/phase_multiplier", &SleighByMomenta { m, j, a });
    compare("balanced_sleigh/hamel", &BalancedSleigh { m: 1.0, j: 1.0 });
    compare("balanced_sleigh/velocity_multiplier", &BalancedSleighByRates { m: 1.0, j: 1.0 });
    compare("balanced_sleigh/phase_multiplier", &BalancedSleighByMomenta { m: 1.0, j: 1.0 });
}

#[test]
fn disks_and_bodies() {
    let (m, i, j, radius) = (2.0, 0.25, 0.125, 0.5);
    compare("rolling_disk/hamel", &DiskWithoutSlip { m, i, j, radius });
    compare("rolling_disk/velocity_multiplier", &DiskByRates { m, i, j, radius });
    compare("rolling_disk/phase_multiplier", &DiskByMomenta { m, i, j, radius });
    compare("rotating_body/hamel", &RotatingBody { inertia: vector![3.0, 2.0, 1.5] });
}
