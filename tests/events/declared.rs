//! Events and laws of inputs that are part of a declaration, against closed forms and against the same in Rust.

use fbint_runtime::{
    CrossingDirection, DrivenSystem, Ensemble, Event, FeedbackSystem, Method, PreparedSystem, Settings, Simulation,
    StateEntry, SystemFacts, feedback_system,
};
use nalgebra::vector;

use super::systems::{FINE, METHODS};

/// A ball that bounces in the plane, and flies through three gates.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
    event(floor = q[1] - r, falling, reset(p = vector![p[0], -e * p[1]])),
    event(third_top = p[1], falling, count = 3),
    section(gate[i in 1..4] = q[0] - i / 2, rising, when = q[1] > r && p[1] < 0),
    draw(rod(vector![0, 0], vector![1, 0]), circle(q, r), trace(q), pivot(vector![0, 0])),
)]
struct Bouncing {
    m: f64,
    g: f64,
    e: f64,
    r: f64,
}

/// The same without a word of events.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / (2 * m) + m * g * q[1],
)]
struct Flying {
    m: f64,
    g: f64,
}

const BOUNCING: Bouncing = Bouncing { m: 2.0, g: 10.0, e: 0.5, r: 0.125 };

fn dropped() -> BouncingState {
    BouncingState { q: vector![0.0, 1.0 + BOUNCING.r], p: vector![2.0, 0.0] }
}

/// When the ball is at the floor: after a fall of height 1, and flights of which each takes e times as long as the one before.
fn bounce(number: i32) -> f64 {
    let fall = (2.0 / BOUNCING.g).sqrt();
    fall * (1.0 + (1..=number).map(|flight| 2.0 * BOUNCING.e.powi(flight)).sum::<f64>())
}

#[test]
fn a_declared_event_resets_the_state_and_ends_the_run_at_its_count() {
    for method in METHODS.into_iter().skip(1) {
        let run = Simulation::new(&BOUNCING, dropped()).unwrap().run(method, 10.0).unwrap();
        let at = |name: &str| -> Vec<f64> {
            run.events().iter().filter(|event| event.name == name).map(|event| event.time).collect()
        };
        let floors = at("floor");
        assert_eq!(floors.len(), 3, "{method:?}");
        for (number, time) in (0..).zip(floors) {
            assert!((time - bounce(number)).abs() < 1e-10, "{method:?}: {time}");
        }
        // The first top is the start, which no event is: it leaves it.
        let end = run.ended_by().expect("the third top");
        let exact = bounce(2) + (bounce(3) - bounce(2)) / 2.0;
        assert!(end.name == "third_top" && (run.time() - exact).abs() < 1e-10, "{method:?}: {}", run.time());
        assert_eq!(at("third_top").len(), 3);
        let after = run.events()[0].reset.as_ref().unwrap();
        assert!((after.p[1] - BOUNCING.m * BOUNCING.e * (2.0 * BOUNCING.g).sqrt()).abs() < 1e-9);
        assert_eq!(after.p[0], 2.0);
    }
}

/// Gate 1 is passed while the ball falls, and counts; gate 2 while it rises, and does not.
#[test]
fn a_section_counts_where_its_condition_holds() {
    let ball = Bouncing { e: 1.0, ..BOUNCING };
    let start = BouncingState { p: vector![2.0 * 1.25, 0.0], ..dropped() };
    let run = Simulation::new(&ball, start).unwrap().run(FINE, 1.3).unwrap();
    let gates: Vec<(&str, f64)> = run
        .events()
        .iter()
        .filter(|event| event.name.starts_with("gate"))
        .map(|event| (event.name.as_str(), event.time))
        .collect();
    let exact = [("gate[1]", 0.4), ("gate[3]", 1.2)];
    assert_eq!(gates.len(), 2, "{gates:?}");
    for ((name, time), (expected, at)) in gates.into_iter().zip(exact) {
        assert!(name == expected && (time - at).abs() < 1e-11, "{name} at {time}");
    }
}

/// A declared event is the event that a closure of the same function is, bit by bit.
#[test]
fn declared_events_are_those_of_closures() {
    let flying = Flying { m: BOUNCING.m, g: BOUNCING.g };
    for method in METHODS.into_iter().skip(1) {
        let declared = Simulation::new(&BOUNCING, dropped()).unwrap().run(method, 1.5).unwrap();
        let start = FlyingState { q: dropped().q, p: dropped().p };
        let floor = Event::new("floor", |_, state: &FlyingState| state.q[1] - BOUNCING.r)
            .falling()
            .reset(|_, state| FlyingState { p: vector![state.p[0], -BOUNCING.e * state.p[1]], ..*state });
        let top = Event::new("third_top", |_, state: &FlyingState| state.p[1]).falling().count(3);
        let simulation = Simulation::new(&flying, start).unwrap().event(floor).event(top);
        let simulation = (1..4).fold(simulation, |simulation, gate| {
            let section =
                Event::new(format!("gate[{gate}]"), move |_, state: &FlyingState| state.q[0] - f64::from(gate) / 2.0);
            simulation.event(section.rising().when(|_, state| state.q[1] > BOUNCING.r && state.p[1] < 0.0))
        });
        let given = simulation.run(method, 1.5).unwrap();
        assert_eq!((declared.time(), declared.steps()), (given.time(), given.steps()), "{method:?}");
        assert_eq!((declared.state().q, declared.state().p), (given.state().q, given.state().p));
        let names = |events: &mut dyn Iterator<Item = (&str, f64)>| -> Vec<(String, f64)> {
            events.map(|(name, time)| (name.to_owned(), time)).collect()
        };
        assert_eq!(
            names(&mut declared.events().iter().map(|event| (event.name.as_str(), event.time))),
            names(&mut given.events().iter().map(|event| (event.name.as_str(), event.time)))
        );
    }
}

#[test]
fn members_of_ensembles_bounce_as_single_runs_do() {
    let starts: Vec<BouncingState> =
        (0..5).map(|i| BouncingState { p: vector![2.0, f64::from(i)], ..dropped() }).collect();
    for method in [Method::Rk4 { h: 1e-2 }, FINE] {
        let run = Ensemble::new(&BOUNCING, starts.iter().copied()).run(method, 0.9).unwrap();
        for (start, end) in starts.iter().zip(run.ends()) {
            let alone = Simulation::new(&BOUNCING, *start).unwrap().run(method, 0.9).unwrap();
            assert!(!alone.events().is_empty());
            assert_eq!(BouncingState::from(end.as_ref().unwrap().state), alone.state());
            let end = Simulation::new(&BOUNCING, *start).unwrap().final_state(&Settings::new(method, 0.9)).unwrap();
            assert_eq!(end, alone.state());
        }
    }
}

#[test]
fn facts_name_events_and_shapes() {
    let SystemFacts { events, shapes, .. } = *BOUNCING.facts();
    let names: Vec<&str> = events.iter().map(|event| event.name).collect();
    assert_eq!(names, ["floor", "third_top", "gate[1]", "gate[2]", "gate[3]"]);
    assert_eq!((events[0].direction, events[1].count), (CrossingDirection::Falling, Some(3)));
    assert!(events[2].is_section && !events[0].is_section && events[1].is_terminal);
    assert_eq!(shapes.len(), 4);
    let mut values = vec![0.0; BOUNCING.facts().drawing_values()];
    BOUNCING.drawing_at(&dropped().into(), &mut values);
    let [centre, radius] = [shapes[1].arguments[0], shapes[1].arguments[1]];
    assert_eq!(values[centre[0]..centre[0] + 2], [0.0, 1.125]);
    assert_eq!((values[radius[0]], radius[1]), (0.125, 1));
}

/// A mass on rails: x'' = -(k x + d x') / m where its motor follows its law.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = p.powi(2) / (2 * m),
    input(thrust = -k * x - d * rate(x), wind),
    force(p = thrust + wind),
    output(effort = thrust),
    derivatives,
)]
struct Trolley {
    m: f64,
    k: f64,
    d: f64,
}

const TROLLEY: Trolley = Trolley { m: 2.0, k: 4.0, d: 6.0 };
const PULLED: TrolleyState = TrolleyState { x: 1.0, p: 0.0, time: 0.0, work: 0.0 };

#[test]
fn what_a_start_leaves_out_is_zero() {
    assert_eq!(TrolleyState { x: 1.0, ..Default::default() }, PULLED);
    assert_eq!(TrolleyInput::default(), TrolleyInput { thrust: 0.0, wind: 0.0 });
}

/// With m = 2, k = 4 and d = 6 the roots are -1 and -2.
fn settling(t: f64) -> [f64; 2] {
    let (slow, fast) = ((-t).exp(), (-2.0 * t).exp());
    [2.0 * slow - fast, 2.0 * (2.0 * fast - 2.0 * slow)]
}

#[test]
fn a_run_takes_the_laws_of_inputs() {
    let methods = [FINE, Method::Rk4 { h: 1e-3 }, Method::Rodas5P { rtol: 1e-10, atol: None }];
    for method in methods {
        let run = Simulation::new(&TROLLEY, PULLED).unwrap().run(method, 3.0).unwrap();
        let [x, p] = settling(3.0);
        let state = run.state();
        assert!((state.x - x).abs() < 1e-9 && (state.p - p).abs() < 1e-9, "{method:?}: {state:?}");
        // The motor takes out what the spring of its law had.
        let energy = state.p.powi(2) / 4.0;
        assert!((state.work - energy).abs() < 1e-9, "{method:?}: {state:?}");
    }
    assert_eq!(TROLLEY.facts().open_inputs, ["wind"]);
}

/// A law is what a closure of the same function is; another closure replaces it.
#[test]
fn laws_are_those_of_closures_and_closures_replace_them() {
    let law = |_: f64, state: &TrolleyState| TrolleyInput { thrust: -4.0 * state.x - 3.0 * state.p, wind: 0.0 };
    let method = Method::Rk4 { h: 1e-2 };
    let simulation = || Simulation::new(&TROLLEY, PULLED).unwrap();
    let (declared, given) =
        (simulation().run(method, 2.0).unwrap().state(), simulation().input(law).run(method, 2.0).unwrap().state());
    assert!((declared.x - given.x).abs() < 1e-15 && (declared.p - given.p).abs() < 1e-15);
    let idle = |_: f64, _: &TrolleyState| TrolleyInput { thrust: 0.0, wind: 1.0 };
    let blown = simulation().input(idle).run(method, 2.0).unwrap().state();
    assert!((blown.x - 2.0).abs() < 1e-13 && (blown.p - 2.0).abs() < 1e-13, "{blown:?}");
}

#[test]
fn laws_hold_in_lanes_and_with_feedback() {
    let starts: Vec<TrolleyState> = (0..9).map(|i| TrolleyState { p: f64::from(i), ..PULLED }).collect();
    for method in [Method::Rk4 { h: 1e-2 }, Method::Dop853 { rtol: 1e-9, atol: None }] {
        let run = Ensemble::new(&TROLLEY, starts.iter().copied()).run(method, 1.0).unwrap();
        for (start, end) in starts.iter().zip(run.ends()) {
            let alone = Simulation::new(&TROLLEY, *start).unwrap().run(method, 1.0).unwrap();
            assert_eq!(TrolleyState::from(end.as_ref().unwrap().state), alone.state(), "{method:?}");
        }
    }
    let gains = fbint_runtime::Gains::uniform(1.0);
    let run = Simulation::new(&TROLLEY, PULLED).unwrap().gains(gains).run(Method::Rk4 { h: 1e-3 }, 3.0).unwrap();
    assert!((run.state().x - settling(3.0)[0]).abs() < 1e-9);
}

/// The Jacobian of the closed loop, by central differences of its rates.
#[test]
fn the_jacobian_has_the_laws_in_it() {
    use fbint_runtime::{Field, PlainField};
    let field = PlainField::new(&TROLLEY);
    let x = [0.3, -0.7, 0.1, 0.2];
    let mut jacobian = [[0.0; 4]; 4];
    assert!(field.jacobian(&x, &mut |row, column, value| jacobian[row][column] += value));
    let is_time = |index: usize| StateEntry::clock(TROLLEY.facts().state) == Some(index);
    for column in (0..4).filter(|column| !is_time(*column)) {
        let at = |change: f64| {
            let mut moved = x;
            moved[column] += change;
            field.value(&moved)
        };
        let (above, below) = (at(1e-5), at(-1e-5));
        for row in 0..4 {
            let slope = (above[row] - below[row]) / 2e-5;
            assert!((jacobian[row][column] - slope).abs() < 1e-7, "{row}, {column}: {jacobian:?}");
        }
    }
    // p' = -k x - d p / m, exactly.
    assert_eq!([jacobian[1][0], jacobian[1][1]], [-4.0, -3.0]);
    let prepared = Trolley::with_input(TROLLEY.prepare(), [5.0, 1.0]);
    assert_eq!(prepared.under_law(&x).outputs(&x), [-4.0 * 0.3 + 3.0 * 0.7]);
    let mut laws = [0.0; 2];
    prepared.under_law(&x).inputs_into(&mut laws);
    assert_eq!(laws[1], 1.0, "an input without a law is as it was given");
}

/// A mass on a spring whose motor is switched off where its force would exceed a limit, by its law or by what is given.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    input(thrust = 2 * x),
    force(p = thrust),
    event(limit = thrust - most, rising, terminal),
    section(reversed = thrust, falling, when = thrust < x + 1),
)]
struct Cut {
    most: f64,
}

#[test]
fn events_may_depend_on_inputs() {
    // x'' = x, and its thrust is 2 cosh t.
    let start = CutState { x: 1.0, ..Default::default() };
    for method in [FINE, Method::Rk4 { h: 1e-3 }] {
        let run = Simulation::new(&Cut { most: 4.0 }, start).unwrap().run(method, 3.0).unwrap();
        assert!((run.time() - 2_f64.acosh()).abs() < 1e-9, "{method:?}: {}", run.time());
        // A thrust of 5 sin t that is given passes 4 earlier.
        let given = |time: f64, _: &CutState| CutInput { thrust: 5.0 * time.sin() };
        let run = Simulation::new(&Cut { most: 4.0 }, start).unwrap().input(given).run(method, 3.0).unwrap();
        assert!((run.time() - 0.8_f64.asin()).abs() < 1e-9, "{method:?}: {}", run.time());
    }
}
