//! What happens within a step, by every method: pairs of crossings, touches, and functions that oscillate.

use std::f64::consts::PI;

use fbint_runtime::{Event, GaussStages, Method, OneStep, Simulation, feedback_system};
use fbint_tests::{Random, is_thorough};

use super::location::{assert_near, times};
use super::systems::*;

/// Every method that integrates a canonical system without constraints, with steps that are as long as these runs.
fn long_steps(h: f64) -> Vec<Method> {
    let tolerances = (1e-9, Some(1e-9));
    let is_general = |method: &Method| !matches!(method, Method::DiscreteHamel { .. } | Method::Rattle { .. });
    let has_derivatives = |method: &Method| !matches!(method, Method::Rodas5P { .. } | Method::Taylor { .. });
    Method::all(h, tolerances).into_iter().filter(is_general).filter(has_derivatives).collect()
}

/// A ball that is thrown up at 10 m/s passes 4 m, and 2 mm below its greatest height, upwards and downwards.
#[test]
fn a_thrown_ball_passes_a_height_twice_in_one_step() {
    let (ball, start) = (Ball { m: 1.0, g: 9.8 }, BallState { height: 0.0, p: 10.0 });
    for height in [4.0_f64, 5.1] {
        let half = (100.0 - 2.0 * 9.8 * height).sqrt();
        let exact = [(10.0 - half) / 9.8, (10.0 + half) / 9.8];
        let level = || Event::new("level", move |_, state: &BallState| state.height - height);
        for method in long_steps(2.0) {
            // Their paths are not parabolas.
            if method.order() == 1 {
                continue;
            }
            let run = |event| Simulation::new(&ball, start).unwrap().event(event).run(method, 2.0).unwrap();
            assert_near(&times(&run(level())), &exact, 1e-12);
            assert_near(&times(&run(level().falling())), &exact[1..], 1e-12);
            let ended = run(level().rising().terminal());
            assert_near(&times(&ended), &exact[..1], 1e-12);
            assert_eq!(ended.time(), ended.events()[0].time, "{method:?}");
        }
    }
}

/// A height that is barely missed is not passed.
#[test]
fn a_height_that_is_not_reached_is_not_passed() {
    let (ball, start) = (Ball { m: 1.0, g: 9.8 }, BallState { height: 0.0, p: 10.0 });
    let top = 50.0 / 9.8;
    for method in long_steps(2.0) {
        if method.order() == 1 {
            continue;
        }
        let above = Event::new("above", move |_, state: &BallState| state.height - (top + 1e-9));
        let run = Simulation::new(&ball, start).unwrap().event(above).run(method, 2.0).unwrap();
        assert_near(&times(&run), &[], 0.0);
    }
}

/// A trolley of mass 1 with a motor.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = p.powi(2) / 2,
    input(thrust),
    force(p = thrust),
)]
struct Trolley;

/// The trolley's motion under the constant thrust 1.
struct UnderThrust;

impl OneStep<[f64; 4]> for UnderThrust {
    fn step(&self, [x, p, time, work]: &mut [f64; 4], h: f64) {
        let moved = h * *p + h * h / 2.0;
        (*x, *p, *time, *work) = (*x + moved, *p + h, *time + h, *work + moved);
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// Between the ends of its steps, a given map follows the rates that the inputs cause.
#[test]
fn events_in_a_step_of_a_given_map_know_the_inputs() {
    let start = TrolleyState { x: 0.0, p: 0.0, time: 0.0, work: 0.0 };
    let fast = Event::new("fast", |_, state: &TrolleyState| state.p - 0.3);
    let simulation =
        Simulation::new(&Trolley, start).unwrap().input(|_: f64, _: &TrolleyState| TrolleyInput { thrust: 1.0 });
    let run = simulation.one_step(&UnderThrust).event(fast).run(Method::OneStep { h: 1.0 }, 1.0).unwrap();
    assert_near(&times(&run), &[0.3], 1e-12);
}

/// A method of collocation passes phases of an oscillation that its step ends show nothing of.
#[test]
fn collocation_sees_a_whole_period_in_one_step() {
    let start = OscillatorState { q: 1.0, p: 0.0 };
    for level in [0.0, -0.9, -0.999] {
        let event = Event::new("level", move |_, state: &OscillatorState| state.q - level);
        let simulation = Simulation::new(&Oscillator, start).unwrap().event(event);
        let run = simulation.run(Method::Gauss { stages: GaussStages::Eight, h: 2.0 * PI }, 2.0 * PI).unwrap();
        let phase = f64::acos(level);
        assert_near(&times(&run), &[phase, 2.0 * PI - phase], 1e-4);
    }
}

/// A polynomial with random zeros, or a sine above a random level.
fn random_function(random: &mut Random) -> impl Fn(f64) -> f64 + use<> {
    let degree = 1 + random.index(8);
    let zeros: Vec<f64> = (0..degree).map(|_| random.between(-0.5, 1.5)).collect();
    let (frequency, phase) = (2.0 * PI * random.between(1.0, 7.0), random.between(-PI, PI));
    let (level, is_sine) = (random.between(-1.0, 1.0).cbrt(), random.index(2) == 0);
    move |x: f64| match is_sine {
        true => (frequency * x + phase).sin() - level,
        false => zeros.iter().map(|zero| x - zero).product(),
    }
}

/// No sign change between two samples of a thousandth of a step is missed, and none is found that is not there. The particle moves at
/// the speed 1, which is exact by every method.
#[test]
fn no_sign_change_in_a_step_is_missed() {
    let cases = if is_thorough() { 500 } else { 8 };
    let start = ParticleState { q: [0.0, 0.0].into(), p: [1.0, 0.0].into() };
    let mut random = Random::new(1);
    for method in [long_steps(1.0), long_steps(0.35)].concat() {
        for case in 0..cases {
            let function = random_function(&mut random);
            let event = Event::new("zero", |_, state: &ParticleState| function(state.q[0]));
            let run = Simulation::new(&Particle, start).unwrap().event(event).run(method, 1.0).unwrap();
            let found = times(&run);
            for sample in 0..1000 {
                let [from, until] = [sample, sample + 1].map(|sample| f64::from(sample) / 1000.0);
                if function(from) * function(until) < 0.0 {
                    let within = found.iter().filter(|time| (from..=until).contains(*time)).count();
                    assert!(within % 2 == 1, "{method:?}, case {case}: {within} between {from} and {until}");
                }
            }
            for time in found {
                let [before, after] = [-1e-9, 1e-9].map(|offset| function(time + offset));
                assert!(before * after <= 0.0, "{method:?}, case {case}: {time} is not a zero");
            }
        }
    }
}

/// The rounding of what is conserved is no event at a thousand places within each step.
#[test]
fn rounding_is_looked_at_where_steps_end() {
    let start = PendulumState { angle: 1.0, p: 0.0 };
    let energy = |state: &PendulumState| 0.5 * state.p.powi(2) - state.angle.cos();
    for method in [Method::Rk4 { h: 0.01 }, FINE] {
        let event = Event::new("energy", |_, state| energy(state) - energy(&start));
        let run = Simulation::new(&Pendulum, start).unwrap().event(event).run(method, 1.0).unwrap();
        let (events, steps) = (run.events().len() as u64, run.steps());
        assert!(events <= 40 * steps && run.evaluations() < 3000 * steps, "{events} in {steps}: {}", run.evaluations());
    }
}

/// A run that an event has ended goes on under that event: the zero that it leaves is no occurrence.
#[test]
fn a_run_goes_on_under_the_event_that_ended_it() {
    let mut start = OscillatorState { q: 1.0, p: 0.0 };
    for method in [Method::Rk4 { h: 0.01 }, FINE, Method::DormandPrince { rtol: 1e-10, atol: Some(1e-10) }] {
        for leg in 0..6 {
            let down = Event::new("down", |_, state: &OscillatorState| state.q - 0.3).falling().terminal();
            let run = Simulation::new(&Oscillator, start).unwrap().event(down).run(method, 20.0).unwrap();
            if leg > 0 {
                assert!((run.time() - 2.0 * PI).abs() < 1e-7, "{method:?}, leg {leg}: {}", run.time());
            }
            start = run.state();
        }
    }
}

/// Seconds since 1970 are a time like others.
#[test]
fn a_ball_bounces_each_second_late_in_time() {
    let (ball, start) = (Ball { m: 1.0, g: 8.0 }, BallState { height: 0.0, p: 4.0 });
    for method in [Method::Rk4 { h: 1.0 / 64.0 }, Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) }] {
        let simulation = Simulation::new(&ball, start).unwrap().from_time(1.7e9);
        let run = simulation.event(super::resets::bounce(1.0)).run(method, 1.7e9 + 10.5).unwrap();
        let exact: Vec<f64> = (1..=10).map(|second| 1.7e9 + f64::from(second)).collect();
        assert_near(&times(&run), &exact, 1e-5);
    }
}
