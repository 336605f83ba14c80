//! What is wrong with an event is an error with its name and the last good state.

use fbint_runtime::{Cause, Error, Event, Failure, GaussStages, Method, Run, Simulation};

use super::resets::bounce;
use super::systems::*;

const BALL: Ball = Ball { m: 1.0, g: 10.0 };
const DROPPED: BallState = BallState { height: 1.0, p: 0.0 };

fn run(event: Event<'_, BallState>, method: Method) -> Result<Run<Ball>, Error> {
    Simulation::new(&BALL, DROPPED).unwrap().event(event).run(method, 10.0)
}

fn failure(result: Result<Run<Ball>, Error>) -> Failure {
    match result {
        Err(Error::Failed(failure)) => *failure,
        other => panic!("{other:?}"),
    }
}

#[test]
fn functions_that_are_not_defined_are_named() {
    for method in METHODS {
        let failed = failure(run(Event::new("root", |_, state: &BallState| (state.height - 2.0).sqrt()), method));
        assert_eq!((failed.last_time, &*failed.last_state), (0.0, &[1.0, 0.0][..]));
        let text = failed.to_string();
        assert!(
            text.starts_with(
                "the run stopped at t = 0.0, where height = 1.0, p = 0.0: the event `root` is NaN at t = 0.0"
            ),
            "{text}"
        );

        let failed = failure(run(Event::new("root", |_, state: &BallState| state.height.sqrt() + 1.0), method));
        let Cause::Event { event, value, time } = &failed.cause else { panic!("{failed}") };
        assert!(event == "root" && value.is_nan() && *time > 0.2_f64.sqrt() - 2e-3, "{failed}");
        assert!(failed.last_state[0] >= 0.0 && failed.last_time < *time, "{failed}");
        assert_eq!(failed.trajectory.last().unwrap().1, failed.last_state);
    }
    let failed = failure(run(Event::new("pole", |_, _: &BallState| f64::INFINITY), FINE));
    assert!(
        failed.to_string().contains("the event `pole` is inf at t = 0.0: event functions must be finite"),
        "{failed}"
    );
}

#[test]
fn resets_from_which_no_run_can_start_are_named() {
    for method in [Method::Rk4 { h: 1e-3 }, FINE] {
        let event = bounce(1.0).reset(|_, state| BallState { p: f64::NAN, ..*state });
        let failed = failure(run(event, method));
        let text = failed.to_string();
        assert!(text.contains("the reset of the event `floor` gives a state from which no run can start: "), "{text}");
        assert!(text.contains("`p` = NaN"), "{text}");
        // The last good state is where the event was met.
        assert!((failed.last_time - 0.2_f64.sqrt()).abs() < 1e-12 && failed.last_state[0].abs() < 1e-12, "{text}");

        let start = CartesianPendulumState { q: [1.0, 0.0].into(), p: [0.0, 0.0].into() };
        let wall = Event::new("wall", |_, state: &CartesianPendulumState| state.q[0])
            .reset(|_, state| CartesianPendulumState { q: 1e200 * state.q, ..*state });
        let error = Simulation::new(&CartesianPendulum, start).unwrap().event(wall).run(method, 5.0).unwrap_err();
        let Error::Failed(failed) = &error else { panic!("{error}") };
        let Cause::Reset { event, refusal } = &failed.cause else { panic!("{error}") };
        assert_eq!(event, "wall");
        assert!(matches!(**refusal, Error::Integral { name: "length", .. }), "{error}");
    }
}

/// Bounces whose times have a limit end there, in an error; so do bounces that leave nothing.
#[test]
fn bounces_that_accumulate_end_the_run() {
    for method in
        [Method::Rk4 { h: 1e-3 }, Method::Rk4 { h: 0.3 }, Method::DormandPrince { rtol: 1e-9, atol: Some(1e-9) }, FINE]
    {
        for restitution in [0.9, 0.5, 0.1, 1e-3, 1e-6, 0.0] {
            let failed = failure(run(bounce(restitution), method));
            let Cause::Accumulation { event, resets, time } = &failed.cause else { panic!("{failed}") };
            let limit = 0.2_f64.sqrt() * (1.0 + restitution) / (1.0 - restitution);
            assert!(
                event == "floor" && (time - limit).abs() < 1e-6 && *resets < 300,
                "{method:?} {restitution}: {failed}"
            );
            assert!(failed.last_state[0].abs() < 1e-6, "{failed}");
        }
    }
    let text = failure(run(bounce(0.0), FINE)).to_string();
    assert!(text.contains("the event `floor` accumulates at t = 0.447213595"), "{text}");
    assert!(text.contains("no longer lead away from it; make it terminal before"), "{text}");
}

/// The floor's function rounds by more than the last flights are high, and none of them is lost, so that the ball falls through no floor.
#[test]
fn bounces_below_rounding_accumulate_too() {
    for method in [Method::Rk4 { h: 1e-2 }, Method::Gauss { stages: GaussStages::Two, h: 0.05 }, FINE] {
        for restitution in [0.9, 0.7, 0.5, 0.3, 0.1, 0.03] {
            for side in [1.0, -1.0] {
                let value = move |_, state: &BallState| side * ((3.0 * state.height - 2.0).sin() - 0.4);
                let floor = Event::new("floor", value);
                let floor = if side > 0.0 { floor.falling() } else { floor.rising() };
                let floor = floor.reset(move |_, state| BallState { p: -restitution * state.p, ..*state });
                let failed = failure(run(floor, method));
                let Cause::Accumulation { time, .. } = &failed.cause else { panic!("{failed}") };
                let first = ((1.0 - (2.0 + 0.4_f64.asin()) / 3.0) / 5.0).sqrt();
                let limit = first * (1.0 + restitution) / (1.0 - restitution);
                assert!((time - limit).abs() < 1e-4, "{method:?} {restitution}: {failed}");
            }
        }
    }
}

/// Two walls that close in on a particle: each hit throws it at the other, ever sooner.
#[test]
fn hits_between_closing_walls_accumulate() {
    let start = ParticleState { q: [0.5, 0.0].into(), p: [1.0, 0.0].into() };
    for method in [Method::Rk4 { h: 1e-2 }, FINE] {
        let wall = |name, side: f64| {
            let gap = move |time: f64, state: &ParticleState| (1.0 - time) - side * (state.q[0] - 0.5);
            // The speed along the gap is turned round, as it is seen from the wall, which moves at the speed 1.
            Event::new(name, gap).falling().reset(move |_, state: &ParticleState| ParticleState {
                p: [-2.0 * side - state.p[0], 0.0].into(),
                ..*state
            })
        };
        let simulation = Simulation::new(&Particle, start).unwrap().event(wall("right", 1.0)).event(wall("left", -1.0));
        let error = simulation.run(method, 2.0).unwrap_err();
        let Error::Failed(failed) = &error else { panic!("{error}") };
        let Cause::Accumulation { time, .. } = failed.cause else { panic!("{error}") };
        // The time between two hits is about the square of the time that is left.
        assert!((time - 1.0).abs() < 1e-4, "{error}");
    }
}

/// A function that jumps has no rate: its resets are not taken for a rest.
#[test]
fn functions_may_jump() {
    for method in [Method::Rk4 { h: 1e-3 }, FINE] {
        let deep = Event::new("deep", |_, state: &BallState| if state.height < 0.5 { -1.0 } else { 1.0 })
            .falling()
            .reset(|_, state| BallState { p: 0.5 * state.p, ..*state });
        let run = Simulation::new(&BALL, DROPPED).unwrap().event(deep).run(method, 1.0).unwrap();
        assert_eq!(run.events().len(), 1);
        assert!((run.events()[0].time - 0.1_f64.sqrt()).abs() < 1e-12);
    }
}
