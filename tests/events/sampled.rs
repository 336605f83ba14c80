//! Laws that are sampled and delayed, against the recursions of what a digital controller does; families of inputs and of definitions.

use fbint_runtime::{Ensemble, FeedbackSystem, Method, Simulation, feedback_system};
use nalgebra::vector;

use super::systems::FINE;

/// A mass with a digital brake.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = p.powi(2) / 2,
    input(brake = -k * p, every = period),
    force(p = brake),
    output(effort = brake),
    derivatives,
)]
struct Braked {
    k: f64,
    period: f64,
}

/// The same with a delay of two samples.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = p.powi(2) / 2,
    input(brake = -k * p, every = 1 / 8, delay = 2),
    force(p = brake),
)]
struct Delayed {
    k: f64,
}

const METHODS: [Method; 5] = [
    FINE,
    Method::Rk4 { h: 1.0 / 32.0 },
    Method::Rk4 { h: 0.03 },
    Method::DormandPrince { rtol: 1e-10, atol: None },
    Method::Rodas5P { rtol: 1e-10, atol: None },
];

/// x and p after whole samples, of which each has its force from p a number of samples before.
fn digital(k: f64, period: f64, delay: usize, samples: usize) -> [f64; 2] {
    let (mut momenta, mut x) = (vec![1.0], 0.0);
    for sample in 0..samples {
        let force = sample.checked_sub(delay).map_or(0.0, |then| -k * momenta[then]);
        let p = momenta[sample];
        x += p * period + force * period * period / 2.0;
        momenta.push(p + force * period);
    }
    [x, momenta[samples]]
}

#[test]
fn a_sampled_law_holds_until_the_next_sample() {
    let system = Braked { k: 3.0, period: 0.125 };
    let start = BrakedState { p: 1.0, ..Default::default() };
    let [x, p] = digital(3.0, 0.125, 0, 12);
    for method in METHODS {
        let run = Simulation::new(&system, start).unwrap().run(method, 1.5).unwrap();
        assert!(
            (run.state().x - x).abs() < 1e-13 && (run.state().p - p).abs() < 1e-13,
            "{method:?}: {:?}",
            run.state()
        );
        // The force takes out what the mass had.
        assert!((run.state().work - (p * p - 1.0) / 2.0).abs() < 1e-12, "{method:?}: {:?}", run.state());
    }
    assert_eq!(system.facts().law_delay, Some(0));
    let message =
        Simulation::new(&Braked { period: 0.0, ..system }, start).unwrap().run(FINE, 1.0).unwrap_err().to_string();
    assert!(message.contains("`every`"), "{message}");
}

#[test]
fn a_delayed_law_is_that_of_an_earlier_sample() {
    let system = Delayed { k: 3.0 };
    let start = DelayedState { p: 1.0, ..Default::default() };
    let [x, p] = digital(3.0, 0.125, 2, 12);
    let methods = METHODS.into_iter().filter(|method| !matches!(method, Method::Rodas5P { .. }));
    for method in methods {
        let run = Simulation::new(&system, start).unwrap().run(method, 1.5).unwrap();
        assert!(
            (run.state().x - x).abs() < 1e-13 && (run.state().p - p).abs() < 1e-13,
            "{method:?}: {:?}",
            run.state()
        );
        let starts = [0.5, 1.0].map(|p| DelayedState { p, ..start });
        let ends = Ensemble::new(&system, starts).run(method, 1.5).unwrap();
        assert_eq!(DelayedState::from(ends.ends()[1].as_ref().unwrap().state), run.state());
        // A resumed run has the samples of before.
        let mut snapshots = Vec::new();
        let watched = |moment: &fbint_runtime::Moment<'_>| {
            snapshots.push(moment.snapshot());
            std::ops::ControlFlow::Continue(())
        };
        let whole = Simulation::new(&system, start).unwrap().watched(watched).run(method, 1.5).unwrap();
        for snapshot in snapshots {
            let resumed = Simulation::new(&system, start).unwrap().from_snapshot(snapshot).run(method, 1.5).unwrap();
            assert_eq!(resumed.state(), whole.state(), "{method:?}");
        }
        // A run that continues another one has them, too, also if that has ended between two of them.
        let (mut snapshot, mut end): (Option<fbint_runtime::Snapshot>, _) = (None, start);
        for until in [0.25, 0.3, 0.9, 1.5] {
            let from = snapshot.take().map(|snapshot| snapshot.onward(true));
            let leg = Simulation::new(&system, end).unwrap();
            let leg = from.into_iter().fold(leg, Simulation::from_snapshot).watched(|moment| {
                snapshot = (moment.time() == until).then(|| moment.snapshot()).or(snapshot.take());
                std::ops::ControlFlow::Continue(())
            });
            end = leg.run(method, until).unwrap().state();
        }
        assert!((end.x - x).abs() < 1e-13 && (end.p - p).abs() < 1e-13, "{method:?}: {end:?}");
    }
}

/// Given instead, the input is what is given, and not sampled.
#[test]
fn an_input_that_is_given_is_not_sampled() {
    let start = BrakedState { p: 1.0, ..Default::default() };
    let law = |_: f64, state: &BrakedState| BrakedInput { brake: -state.p };
    let system = Braked { k: 3.0, period: 0.5 };
    let run = Simulation::new(&system, start).unwrap().input(law).run(FINE, 1.0).unwrap();
    assert!((run.state().p - (-1_f64).exp()).abs() < 1e-12, "{:?}", run.state());
}

/// Three masses, each of which a motor draws to its own place; and a chain of definitions.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    define(place[i in 0..3] = q[i] - i, doubled[i in 1..3] = 2 * place[i], point[i in 0..2] = vector![q[i], place[i + 1]]),
    hamiltonian = p.norm_squared() / 2,
    input(pull[i in 0..3] = -place[i] - 2 * rate(q)[i]),
    force(p = pull),
    output(all = place, second = doubled[2], distance = (point[0] - point[1]).norm()),
)]
struct Drawn3;

#[test]
fn definitions_and_inputs_are_families() {
    let start = Drawn3State { q: vector![1.0, 1.0, 1.0], ..Default::default() };
    let run = Simulation::new(&Drawn3, start).unwrap().run(FINE, 2.0).unwrap();
    // (1 + t) e^-t
    let decay = 3.0 * (-2_f64).exp();
    for (i, from) in [1.0, 0.0, -1.0].into_iter().enumerate() {
        let exact = from * decay + i as f64;
        assert!((run.state().q[i] - exact).abs() < 1e-12, "{i}: {:?}", run.state());
    }
    use fbint_runtime::{FeedbackSystem, PreparedSystem};
    let x = Drawn3State { q: vector![1.0, 3.0, 6.0], ..Default::default() }.into();
    assert_eq!(Drawn3.prepare().outputs(&x), [1.0, 2.0, 4.0, 8.0, (4.0_f64 + 4.0).sqrt()]);
}
