//! Where events are found: on the solution of the method, to rounding.

use std::f64::consts::PI;

use fbint_runtime::{
    Event, FeedbackSystem, Gains, Method, Occurrence, PreparedSystem, Projection, Run, Simulation, Vector,
};

use super::systems::*;

pub fn times<S: FeedbackSystem>(run: &Run<S>) -> Vec<f64> {
    run.events().iter().map(|occurrence| occurrence.time).collect()
}

pub fn assert_near(found: &[f64], exact: &[f64], tolerance: f64) {
    assert_eq!(found.len(), exact.len(), "{found:?} instead of {exact:?}");
    for (found, exact) in found.iter().zip(exact) {
        assert!((found - exact).abs() <= tolerance, "{found:?} instead of {exact:?}");
    }
}

const START: OscillatorState = OscillatorState { q: 1.0, p: 0.0 };

/// cos t passes c at arccos c and its mirror images.
#[test]
fn an_oscillation_passes_its_phases() {
    let phase = |level: f64| level.acos();
    for level in [0.0, 0.3, -0.7, 0.999] {
        let event = || Event::new("level", move |_, state: &OscillatorState| state.q - level);
        let run = |event| Simulation::new(&Oscillator, START).unwrap().event(event).run(FINE, 12.0).unwrap();
        let falling = [phase(level), 2.0 * PI + phase(level)];
        let rising = [2.0 * PI - phase(level), 4.0 * PI - phase(level)];
        let within = |times: &[f64]| times.iter().copied().filter(|time| *time < 12.0).collect::<Vec<_>>();
        // A crossing that is nearly a touch is as uncertain as the state divided by the speed.
        let tolerance = 1e-12 / (1.0 - level * level).sqrt();
        assert_near(&times(&run(event().falling())), &within(&falling), tolerance);
        assert_near(&times(&run(event().rising())), &within(&rising), tolerance);
        let mut both = [within(&falling), within(&rising)].concat();
        both.sort_by(f64::total_cmp);
        assert_near(&times(&run(event())), &both, tolerance);
    }
}

/// Steady motion is exact by every method, and so is a function of time alone: what is left is the error of locating.
#[test]
fn every_method_locates_to_rounding() {
    let start = ParticleState { q: [0.0, 1.0].into(), p: [0.75, -0.5].into() };
    let run = |simulation: Simulation<'_, Particle>, method| {
        let wall = Event::new("wall", |_, state: &ParticleState| state.q[0] - 1.234_567_89);
        let floor = Event::new("floor", |_, state: &ParticleState| state.q[1].powi(3));
        let clock = Event::new("clock", |time: f64, _| time.exp() - 5.0);
        simulation.event(wall).event(floor).event(clock).run(method, 3.0).unwrap()
    };
    for method in METHODS {
        for projection in [None, Some(Projection::default())] {
            let simulation = Simulation::new(&Particle, start).unwrap().without_feedback();
            let run = run(projection.into_iter().fold(simulation, Simulation::projected), method);
            let named = |name: &str| run.events().iter().filter(|event| event.name == name).collect::<Vec<_>>();
            let of = |name: &str| named(name).iter().map(|event| event.time).collect::<Vec<_>>();
            assert_near(&of("wall"), &[1.234_567_89 / 0.75], 1e-12);
            assert_near(&of("floor"), &[2.0], 1e-12);
            assert_near(&of("clock"), &[5f64.ln()], 1e-14);
            for Occurrence { time, state, .. } in named("clock") {
                assert!((state.q[0] - 0.75 * time).abs() < 1e-12);
            }
        }
    }
}

#[test]
fn methods_with_structure_have_events_too() {
    let quarter = || Event::new("quarter", |_, state: &OscillatorState| state.q);
    let simulation = Simulation::new(&Oscillator, START).unwrap().event(quarter());
    let run = simulation.run(Method::StormerVerlet { h: 1e-3 }, 8.0).unwrap();
    assert_near(&times(&run), &[0.5 * PI, 1.5 * PI, 2.5 * PI], 1e-6);
    let start = DoublePendulumState { upper: 1e-6, lower: 2f64.sqrt() * 1e-6, v: 0.0, w: 0.0 };
    let below = Event::new("below", |_, state: &DoublePendulumState| state.upper);
    let simulation = Simulation::new(&DoublePendulum { g: 1.0 }, start)
        .unwrap()
        .event(below)
        .run(Method::DiscreteHamel { h: 1e-3 }, 6.0);
    // The slow mode of small oscillations has the frequency sqrt(2 - sqrt 2).
    let quarter = 0.5 * PI / (2.0 - 2f64.sqrt()).sqrt();
    assert_near(&times(&simulation.unwrap()), &[quarter], 1e-6);
}

/// The quarters of a period are K(sin(angle / 2)), by the mean of Gauss.
#[test]
fn a_pendulum_passes_its_lowest_point_every_half_period() {
    let amplitude = 2.0_f64;
    let (mut a, mut g) = (1.0, (0.5 * amplitude).cos());
    for _ in 0..8 {
        (a, g) = (0.5 * (a + g), (a * g).sqrt());
    }
    let quarter = 0.5 * PI / a;
    let start = PendulumState { angle: amplitude, p: 0.0 };
    let below = || Event::new("below", |_, state: &PendulumState| state.angle);
    let exact = [quarter, 3.0 * quarter, 5.0 * quarter];
    let simulation = || Simulation::new(&Pendulum, start).unwrap().event(below());
    assert_near(&times(&simulation().run(FINE, 6.0 * quarter).unwrap()), &exact, 1e-12);
    assert_near(&times(&simulation().run(Method::Rk4 { h: 1e-3 }, 6.0 * quarter).unwrap()), &exact, 1e-11);
    let feedback = simulation().gains(Gains::uniform(1.0)).run(FINE, 6.0 * quarter).unwrap();
    assert_near(&times(&feedback), &exact, 1e-11);
}

/// The section of a double pendulum at which the upper angle rises through 0.
#[test]
fn a_section_of_the_double_pendulum_lies_on_its_energy() {
    let system = DoublePendulum { g: 9.81 };
    let start = DoublePendulumState { upper: 0.6, lower: -0.4, v: 0.0, w: 0.0 };
    let energy = |state: &DoublePendulumState| system.prepare().integrals(&(*state).into())[0];
    let run = |method| {
        let section = Event::new("section", |_, state: &DoublePendulumState| state.upper).rising();
        Simulation::new(&system, start).unwrap().event(section).run(method, 20.0).unwrap()
    };
    let fine = run(FINE);
    assert!(fine.events().len() > 10, "{}", fine.events().len());
    for method in [FINE, Method::Rk4 { h: 1e-3 }, Method::DormandPrince { rtol: 1e-10, atol: Some(1e-10) }] {
        let run = run(method);
        assert_near(&times(&run), &times(&fine), 1e-6);
        for Occurrence { state, .. } in run.events() {
            assert!(state.upper.abs() < 1e-13 && state.v > 0.0, "{state:?}");
            let drift = (energy(state) - energy(&start)).abs();
            // A projection within a step leaves as little as one at its end.
            assert!(drift < 1e-11, "{method:?}: {drift:e}");
        }
    }
}

/// A step that an event cuts is made anew up to there, and its end is projected like the end of a whole step: what is left is the square of
/// the step's error.
#[test]
fn states_where_steps_are_cut_lie_on_the_level_set() {
    let start = CartesianPendulumState { q: nalgebra::vector![1.0, 0.0], p: nalgebra::vector![0.0, 0.0] };
    let off = |CartesianPendulumState { q, p }: CartesianPendulumState| {
        (q.norm_squared() - 1.0).abs().max(q.dot(&p).abs()).max((p.norm_squared() / 2.0 + q.y).abs())
    };
    for method in [
        Method::Rk4 { h: 0.1 },
        Method::DormandPrince { rtol: 1e-7, atol: None },
        Method::Dop853 { rtol: 1e-7, atol: None },
    ] {
        let simulation = || {
            let left = Event::new("left", |_, state: &CartesianPendulumState| state.q.x + 0.9);
            let end = Event::new("end", |time, _| time - 19.876_543_21).terminal();
            Simulation::new(&CartesianPendulum, start).unwrap().event(left).event(end)
        };
        let run = simulation().run(method, 30.0).unwrap();
        let plain = simulation().without_feedback().run(method, 30.0).unwrap();
        assert!(run.events().len() > 5 && run.ended_by().is_some_and(|end| end.name == "end"), "{:?}", run.events());
        let most = |run: &Run<_>| run.events().iter().map(|occurrence| off(occurrence.state)).fold(0.0, f64::max);
        assert!(most(&plain) > 1e-9, "{method:?}: {:e}", most(&plain));
        assert!(most(&run) < 1e-12 && off(run.state()) < 1e-12, "{method:?}: {:e}", most(&run));
    }
}

#[test]
fn events_that_are_met_at_once_have_one_time() {
    let start = ParticleState { q: [0.0, 0.0].into(), p: [0.7, 0.7].into() };
    for method in METHODS {
        let wall = |name, side: usize| {
            Event::new(name, move |_, state: &ParticleState| state.q[side] - 1.0).reset(move |_, state| {
                let mut p = state.p;
                p[side] = -p[side];
                ParticleState { p, ..*state }
            })
        };
        let simulation = Simulation::new(&Particle, start).unwrap().event(wall("right", 0)).event(wall("top", 1));
        let run = simulation.run(method, 2.0).unwrap();
        assert_near(&times(&run), &[1.0 / 0.7, 1.0 / 0.7], 1e-12);
        assert_eq!(run.events()[0].time, run.events()[1].time);
        assert_eq!((run.events()[0].event, run.events()[1].event), (0, 1));
        assert!((run.state().q - nalgebra::vector![0.6, 0.6]).norm() < 1e-11, "{:?}", run.state());
    }
}

/// An exact zero at the start: leaving is not an occurrence, coming back is.
#[test]
fn a_zero_at_the_start_is_reported_when_it_comes_back() {
    let start = OscillatorState { q: 0.0, p: 1.0 };
    let zero = || Event::new("zero", |_, state: &OscillatorState| state.q);
    let found =
        |event, method| times(&Simulation::new(&Oscillator, start).unwrap().event(event).run(method, 7.0).unwrap());
    for method in [Method::Rk4 { h: 1e-3 }, Method::Rk4 { h: 0.5 }, FINE] {
        let tolerance = if method == (Method::Rk4 { h: 0.5 }) { 1e-2 } else { 1e-10 };
        assert_near(&found(zero(), method), &[PI, 2.0 * PI], tolerance);
        assert_near(&found(zero().falling(), method), &[PI], tolerance);
        assert_near(&found(zero().rising(), method), &[2.0 * PI], tolerance);
    }
    // A function that stays at 0 does not occur.
    assert_near(&found(Event::new("nothing", |_, _: &OscillatorState| 0.0), FINE), &[], 0.0);
}

/// A thrown ball is down again before the first step is over: the start is on the ground.
#[test]
fn a_flight_from_the_ground_within_one_step_is_found() {
    let start = BallState { height: 0.0, p: 0.5 };
    let ground = Event::new("ground", |_, state: &BallState| state.height).terminal();
    let simulation = Simulation::new(&Ball { m: 1.0, g: 10.0 }, start).unwrap().event(ground);
    let run = simulation.run(Method::Rk4 { h: 1.0 }, 5.0).unwrap();
    assert_near(&times(&run), &[0.1], 1e-13);
    assert_eq!((run.time(), run.trajectory().len()), (run.events()[0].time, 2));
}

/// A zero exactly where a step ends is one occurrence, there.
#[test]
fn a_zero_at_the_end_of_a_step_is_reported_once() {
    for method in [Method::Rk4 { h: 0.125 }, Method::Euler { h: 0.25 }] {
        let start = ParticleState { q: [-1.0, 0.0].into(), p: [1.0, 0.0].into() };
        let pass = Event::new("pass", |_, state: &ParticleState| state.q[0]);
        let touch = Event::new("touch", |time: f64, _: &ParticleState| (time - 0.5).abs());
        let simulation = Simulation::new(&Particle, start).unwrap().without_feedback().event(pass).event(touch);
        let run = simulation.run(method, 2.0).unwrap();
        assert_eq!(times(&run), [0.5, 1.0]);
    }
}

/// Steps, samples and drift are those of a run without events, bit by bit.
#[test]
fn events_without_effect_leave_the_run_as_it_is() {
    let start = PendulumState { angle: 2.0, p: 0.0 };
    for method in METHODS {
        for projection in [None, Some(Projection::default())] {
            let simulation = || {
                let simulation = Simulation::new(&Pendulum, start).unwrap().without_feedback();
                projection.into_iter().fold(simulation, Simulation::projected).record_at([0.3, 1.7, 2.0])
            };
            let plain = simulation().run(method, 7.0).unwrap();
            let below = Event::new("below", |_, state: &PendulumState| state.angle);
            let run = simulation().event(below).run(method, 7.0).unwrap();
            assert_eq!(run.events().len(), 2);
            assert_eq!(run.trajectory(), plain.trajectory());
            assert_eq!((run.drift(), run.steps()), (plain.drift(), plain.steps()));
            assert_eq!(run.largest_projection(), plain.largest_projection());
        }
    }
}

/// Events survive every change of the field, in any order.
#[test]
fn the_order_of_building_does_not_matter() {
    let system = DampedPendulum { c: 0.1 };
    let start = DampedPendulumState { angle: 1.0, p: 0.0, t: 0.0, work: 0.0 };
    let event = || Event::new("below", |_, state: &DampedPendulumState| state.angle);
    let torque = |_: f64, _: &DampedPendulumState| DampedPendulumInput { torque: 0.01 };
    let simulation = || Simulation::new(&system, start).unwrap();
    let gains = || Gains::uniform(1.0);
    let counts = [
        simulation().event(event()).gains(gains()).input(torque).run(FINE, 6.0).unwrap().events().len(),
        simulation().gains(gains()).event(event()).boxed().run(FINE, 6.0).unwrap().events().len(),
        simulation().without_feedback().input(torque).event(event()).boxed().run(FINE, 6.0).unwrap().events().len(),
    ];
    assert_eq!(counts, [2, 2, 2]);
    let state: Vector<DampedPendulum> = simulation().event(event()).run(FINE, 6.0).unwrap().events()[0].state.into();
    assert_eq!(state[2], simulation().event(event()).run(FINE, 6.0).unwrap().events()[0].time);
}
