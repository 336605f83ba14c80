//! Runs with events that are interrupted and resumed: bit by bit what they would have been.

use core::ops::ControlFlow;

use fbint_runtime::{
    Event, FeedbackSystem, Gains, GaussStages, Method, Moment, Projection, Run, Simulation, Snapshot, Vector,
};

use super::resets::bounce;
use super::systems::*;

const BALL: Ball = Ball { m: 1.0, g: 10.0 };
const DROPPED: BallState = BallState { height: 1.0, p: 0.0 };

/// Everything that a run gives.
fn everything<S: FeedbackSystem>(run: &Run<S>) -> String {
    let events: Vec<_> =
        run.events().iter().map(|event| (event.event, event.time, &event.state, &event.reset)).collect();
    let drift: Vec<_> = run.drift().integrals().collect();
    let end: Vector<S> = run.state().into();
    let counts = (run.steps(), run.evaluations(), run.largest_projection(), run.ended_by().map(|end| end.time));
    format!("{:?} {drift:?} {end:?} {events:?} {counts:?} {:?}", run.time(), run.trajectory())
}

/// Asserts that a run that is interrupted at any of its looks goes on as if it had not been.
fn assert_resumes(
    run: impl Fn(Option<Snapshot>, &mut (dyn FnMut(&Moment<'_>) -> ControlFlow<()> + Send)) -> Run<Ball>,
) {
    let mut looks = 0;
    let whole = everything(&run(None, &mut |_| {
        looks += 1;
        ControlFlow::Continue(())
    }));
    for stop in (0..looks).step_by(1 + looks / 40) {
        let (mut look, mut snapshot) = (0, None);
        run(None, &mut |moment| {
            look += 1;
            if look <= stop {
                return ControlFlow::Continue(());
            }
            snapshot = Some(moment.snapshot());
            ControlFlow::Break(())
        });
        let text = serde_json::to_string(&snapshot.unwrap()).unwrap();
        let resumed = run(Some(serde_json::from_str(&text).unwrap()), &mut |_| ControlFlow::Continue(()));
        assert!(everything(&resumed) == whole, "from look {stop}");
    }
}

#[test]
fn runs_with_events_resume() {
    let methods = [Method::Rk4 { h: 1.0 / 128.0 }, Method::DormandPrince { rtol: 1e-9, atol: Some(1e-9) }, FINE];
    for method in methods {
        for times in [None, Some(vec![0.1, 0.7, 0.75, 2.0, 2.9])] {
            for kind in 0..3 {
                assert_resumes(|snapshot, watch| {
                    let simulation = Simulation::new(&BALL, DROPPED).unwrap().event(bounce(0.8)).event(top());
                    let simulation = snapshot.into_iter().fold(simulation, Simulation::from_snapshot);
                    let simulation = times.clone().into_iter().fold(simulation, Simulation::record_at).watched(watch);
                    match kind {
                        0 => simulation.without_feedback().run(method, 3.0).unwrap(),
                        1 => simulation.projected(Projection::default()).run(method, 3.0).unwrap(),
                        _ => simulation.gains(Gains::uniform(0.1)).run(method, 3.0).unwrap(),
                    }
                });
            }
        }
    }
}

/// A run in legs, each of which continues the one before as a run of its own.
#[test]
fn legs_are_one_run() {
    let methods = [Method::Rk4 { h: 1.0 / 128.0 }, Method::Gauss { stages: GaussStages::Two, h: 1.0 / 128.0 }, FINE];
    for method in methods {
        let simulation = |start| Simulation::new(&BALL, start).unwrap().event(bounce(0.8)).event(top());
        let whole = simulation(DROPPED).run(method, 3.0).unwrap();
        let (mut snapshot, mut start, mut occurrences): (Option<Snapshot>, _, _) = (None, DROPPED, Vec::new());
        for until in [0.125, 0.25, 0.5, 0.75, 1.5, 2.0, 2.5, 3.0] {
            let from = snapshot.take().map(|snapshot| snapshot.onward(false));
            let leg = simulation(start).from_time(from.as_ref().map_or(0.0, Snapshot::time)).watched(|moment| {
                snapshot = (moment.time() == until).then(|| moment.snapshot()).or(snapshot.take());
                ControlFlow::Continue(())
            });
            let leg = from.into_iter().fold(leg, Simulation::from_snapshot).run(method, until).unwrap();
            start = leg.state();
            occurrences.extend(leg.events().iter().map(|event| (event.event, event.time)));
        }
        let expected: Vec<_> = whole.events().iter().map(|event| (event.event, event.time)).collect();
        assert!(expected.len() > 8, "{}", expected.len());
        if method == FINE {
            // Steps end elsewhere.
            assert_eq!(occurrences.len(), expected.len());
            let pairs = occurrences.iter().zip(&expected);
            pairs.for_each(|(one, other)| assert!(one.0 == other.0 && (one.1 - other.1).abs() < 1e-11));
            assert!((start.height - whole.state().height).abs() < 1e-11);
        } else {
            assert_eq!((occurrences, start), (expected, whole.state()), "{method:?}");
        }
    }
}

/// The highest point of a flight.
fn top() -> Event<'static, BallState> {
    Event::new("top", |_, state: &BallState| state.p).falling()
}

fn snapshot_of(simulation: Simulation<'_, Ball>) -> Snapshot {
    let mut snapshot = None;
    let watch = |moment: &Moment<'_>| {
        snapshot = Some(moment.snapshot());
        if moment.time() < 1.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    simulation.watched(watch).run(FINE, 3.0).unwrap();
    snapshot.unwrap()
}

#[test]
fn snapshots_of_other_events_are_refused() {
    let simulation = || Simulation::new(&BALL, DROPPED).unwrap();
    let plain = snapshot_of(simulation());
    let one = snapshot_of(simulation().event(bounce(0.8)));
    let refusal = |simulation: Simulation<'_, Ball>, from: &Snapshot| {
        simulation.from_snapshot(from.clone()).run(FINE, 3.0).unwrap_err().to_string()
    };
    assert!(refusal(simulation(), &one).contains("only one of both has events"));
    assert!(refusal(simulation().event(top()), &plain).contains("only one of both has events"));
    assert!(refusal(simulation().event(bounce(0.8)).event(top()), &one).contains("another number of events"));
}

/// A file is not trusted: what a run that continues another one has in addition is looked at, too.
#[test]
fn snapshots_of_no_run_are_refused() {
    let simulation = || Simulation::new(&BALL, DROPPED).unwrap().event(bounce(0.8));
    let refusal = |change: &dyn Fn(&mut serde_json::Value)| {
        let mut text = serde_json::to_value(snapshot_of(simulation())).unwrap();
        change(&mut text);
        let snapshot: Snapshot = serde_json::from_value(text).unwrap();
        simulation().from_snapshot(snapshot).run(FINE, 3.0).unwrap_err().to_string()
    };
    assert!(refusal(&|text| text["reference"] = [1.0].into()).contains("another number of entries"));
    assert!(refusal(&|text| text["events"]["unlisted"] = [u64::MAX].into()).contains("counted more"));
    assert!(refusal(&|text| text["events"]["unlisted"] = [1, 2].into()).contains("another number of events"));
}

/// The text of a snapshot without events is what it was before there were any.
#[test]
fn snapshots_without_events_do_not_mention_them() {
    let snapshot = serde_json::to_value(snapshot_of(Simulation::new(&BALL, DROPPED).unwrap())).unwrap();
    assert!(snapshot.get("events").is_none() && snapshot.get("trajectory").is_some());
}
