//! Simulations with their events move to other threads; runs are written by serde.

use std::thread;

use fbint_runtime::{Event, FeedbackSystem, Method, Simulation};
use serde_json::json;

use super::resets::bounce;
use super::systems::*;

const BALL: Ball = Ball { m: 1.0, g: 10.0 };
const DROPPED: BallState = BallState { height: 1.0, p: 0.0 };

#[test]
fn a_simulation_runs_on_another_thread() {
    let method = Method::Rk4 { h: 1.0 / 128.0 };
    let simulation = || Simulation::new(&BALL, DROPPED).unwrap().event(bounce(0.5));
    let [here, there] = [simulation(), simulation()];
    let there = thread::scope(|scope| scope.spawn(move || there.run(method, 1.0)).join().unwrap().unwrap());
    let here = here.run(method, 1.0).unwrap();
    assert_eq!(here.state(), there.state());
    assert!(!here.events().is_empty());
    assert_eq!(here.events().len(), there.events().len());
}

#[test]
fn runs_are_written_with_their_samples_drifts_and_events() {
    let top = Event::new("top", |_, state: &BallState| state.p).falling();
    let start = BallState { height: 0.0, p: 5.0 };
    let run =
        Simulation::new(&BALL, start).unwrap().event(top).record_at([0.25]).run(Method::Rk4 { h: 0.25 }, 1.0).unwrap();
    let written = serde_json::to_value(&run).unwrap();
    assert_eq!(written["time"], 1.0);
    assert_eq!(written["steps"], 4);
    let [first, second] = [0, 1].map(|sample| written["trajectory"][sample].clone());
    assert_eq!(first, json!({ "time": 0.0, "state": [0.0, 5.0], "change": [0.0] }));
    // h = v t - g t^2 / 2 is exact by RK4.
    assert_eq!(second["state"], json!([0.9375, 2.5]));
    assert_eq!(written["drift"][0]["name"], "energy");
    assert_eq!(written["drift"][0]["target"], 12.5);
    assert_eq!(written["events"][0]["name"], "top");
    assert_eq!(written["events"][0]["reset"], json!(null));
    let facts = serde_json::to_value(BALL.facts()).unwrap();
    assert_eq!(facts["state"][0]["name"], "height");
    assert_eq!(facts["parameter_names"], json!(["m", "g"]));
}
