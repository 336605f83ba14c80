//! Fields that switch, against closed forms: steps end where they do, so that methods keep their orders; what slides, sticks.

use fbint_runtime::{
    DrivenSystem, Ensemble, FeedbackSystem, Gains, GaussStages, Held, Method, PreparedSystem, Settings, Simulation,
    feedback_system,
};

use super::systems::FINE;

/// A ball that falls onto a floor that gives way as a spring does.
#[feedback_system(
    coordinates(height),
    momenta(p),
    hamiltonian = p.powi(2) / 2 + g * height,
    force(p = k * (-height).max(0)),
    derivatives,
)]
struct Trampoline {
    g: f64,
    k: f64,
}

const TRAMPOLINE: Trampoline = Trampoline { g: 10.0, k: 250.0 };

/// The ball at rest, which falls from this height.
const FROM: f64 = 0.2;

/// The height and the momentum at a time after the ball is let go.
fn bounced(time: f64) -> [f64; 2] {
    let Trampoline { g, k } = TRAMPOLINE;
    let (fall, omega) = ((2.0 * FROM / g).sqrt(), k.sqrt());
    let speed = g * fall;
    // In contact it swings about -g / k, and leaves where it came with the other velocity.
    let (depth, phase) = (g / k, (speed / omega).atan2(g / k));
    let contact = 2.0 * (std::f64::consts::PI - phase) / omega;
    let time = time % (2.0 * fall + contact);
    if time < fall {
        return [FROM - g * time * time / 2.0, -g * time];
    }
    let since = time - fall;
    if since < contact {
        let (sin, cos) = (omega * since).sin_cos();
        return [-depth + depth * cos - speed / omega * sin, -depth * omega * sin - speed * cos];
    }
    let since = since - contact;
    [speed * since - g * since * since / 2.0, speed - g * since]
}

/// The error at the end of a run.
fn error(method: Method, until: f64) -> f64 {
    let start = TrampolineState { height: FROM, p: 0.0, work: 0.0 };
    let state = Simulation::new(&TRAMPOLINE, start).unwrap().run(method, until).unwrap().state();
    let [height, p] = bounced(until);
    (state.height - height).abs().max((state.p - p).abs())
}

#[test]
fn methods_keep_their_orders_through_contacts() {
    // Three contacts.
    let until = 1.9;
    let [coarse, fine] = [1.0 / 600.0, 1.0 / 2400.0].map(|h| error(Method::Rk4 { h }, until));
    let slope = (coarse / fine).log2() / 2.0;
    assert!((slope - 4.0).abs() < 0.35, "slope {slope}");
    assert!(error(FINE, until) < 5e-13);
    assert!(error(Method::DormandPrince { rtol: 1e-12, atol: None }, until) < 1e-8);
    assert!(error(Method::Rodas5P { rtol: 1e-11, atol: None }, until) < 1e-7);
    assert!(error(Method::Gauss { stages: GaussStages::Four, h: 1.0 / 300.0 }, until) < 1e-8);
}

/// A mass on a spring with friction, and a motor whose force changes its sign at x = 0.
#[feedback_system(
    coordinates(x),
    momenta(p),
    time(t),
    hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    force(p = -mu * p.signum() - c * if x > 0 { 1 } else { -1 } + if t > begin && !(t > begin + 1) { push } else { 0 }),
    derivatives,
)]
struct Rubbed {
    mu: f64,
    c: f64,
    begin: f64,
    push: f64,
}

const LEFT_ALONE: Rubbed = Rubbed { mu: 0.0, c: 0.0, begin: 1e9, push: 0.0 };

const METHODS: [Method; 5] = [
    FINE,
    Method::Rk4 { h: 2e-3 },
    Method::DormandPrince { rtol: 1e-13, atol: None },
    Method::Gauss { stages: GaussStages::Four, h: 2e-2 },
    Method::Rodas5P { rtol: 1e-11, atol: None },
];

/// The methods of sliding motions here.
fn of_sliding() -> impl Iterator<Item = Method> {
    METHODS.into_iter().filter(|method| !matches!(method, Method::Gauss { .. }))
}

fn rubbed(system: &Rubbed, x: f64, p: f64, method: Method, until: f64) -> RubbedState {
    let start = RubbedState { x, p, t: 0.0, work: 0.0 };
    Simulation::new(system, start).unwrap().run(method, until).unwrap().state()
}

/// About -c or c it is an oscillator, and a quarter of the motion takes until x = 0.
#[test]
fn a_force_that_jumps_keeps_the_period() {
    let (c, from) = (0.5_f64, 1.0_f64);
    let quarter = (c / (from + c)).acos();
    for method in METHODS {
        let state = rubbed(&Rubbed { c, ..LEFT_ALONE }, from, 0.0, method, 12.0 * quarter);
        assert!((state.x - from).abs() < 1e-9 && state.p.abs() < 1e-9, "{method:?}: {state:?}");
    }
}

/// Friction takes 2 mu from the amplitude in each half of a period, and holds the mass as soon as the spring is weaker.
#[test]
fn friction_lets_a_body_come_to_rest_and_stay() {
    let system = Rubbed { mu: 1.0, ..LEFT_ALONE };
    for method in of_sliding() {
        let swinging = rubbed(&system, 5.5, 0.0, method, 5.0);
        // It swings about 1 from the left to the right.
        let expected = -1.0 + (-3.5 + 1.0) * (5.0 - std::f64::consts::PI).cos();
        assert!((swinging.x - expected).abs() < 1e-9, "{method:?}: {swinging:?}");
        let at_rest = rubbed(&system, 5.5, 0.0, method, 30.0);
        assert!((at_rest.x - 0.5).abs() < 1e-9 && at_rest.p.abs() < 1e-12, "{method:?}: {at_rest:?}");
        // All of the energy went into friction.
        assert!((at_rest.work - (0.125 - 15.125)).abs() < 1e-8, "{method:?}: {at_rest:?}");
    }
}

/// A push that is weaker than friction moves nothing, and a stronger one breaks it loose, from t = 1 to t = 2.
#[test]
fn what_sticks_breaks_loose_when_it_is_pushed() {
    for method in of_sliding() {
        let weak = rubbed(&Rubbed { mu: 1.0, begin: 1.0, push: 0.9, ..LEFT_ALONE }, 0.0, 0.0, method, 3.0);
        assert!(weak.x == 0.0 && weak.p == 0.0, "{method:?}: {weak:?}");
        let strong = rubbed(&Rubbed { mu: 1.0, begin: 1.0, push: 1.5, ..LEFT_ALONE }, 0.0, 0.0, method, 2.0);
        let exact = 0.5 * (1.0 - 1_f64.cos());
        assert!((strong.x - exact).abs() < 1e-9, "{method:?}: {strong:?}");
    }
}

/// A field that draws x and y to 0 from both sides, in finite time.
#[feedback_system(state(x, y, z), dynamics(x = -x.signum() + z / 2, y = -2 * y.signum() - z / 4, z = 1 / 4))]
struct Drawn;

#[test]
fn two_switches_slide_at_once_and_leave_one_after_the_other() {
    // z = t / 4: x rests from t where 0.5 = t - t^2 / 16, until z / 2 = 1 at t = 8.
    let end = |method, until| {
        Simulation::new(&Drawn, DrawnState { x: 0.5, y: 1.0, z: 0.0 }).unwrap().run(method, until).unwrap()
    };
    for method in [FINE, Method::Rk4 { h: 1e-2 }] {
        let run = end(method, 6.0);
        assert!(run.state().x.abs() < 1e-12 && run.state().y.abs() < 1e-12, "{:?}", run.state());
        assert!(run.steps() < 2000);
        let state = end(method, 10.0).state();
        // After t = 8 it is x' = t / 8 - 1.
        assert!((state.x - 0.25).abs() < 1e-9 && state.y.abs() < 1e-12, "{method:?}: {state:?}");
    }
}

/// A motor with limits, by its law.
#[feedback_system(
    coordinates(x),
    momenta(p),
    hamiltonian = p.powi(2) / 2,
    input(thrust = (-4 * x - 4 * rate(x)).clamp(-1, 1), wind),
    force(p = thrust + wind.abs()),
    output(effort = thrust),
    derivatives,
)]
struct Limited;

/// From rest at x = -2 it is full thrust until 4 x + 4 x' = -1, at t^2 / 2 + t = 7 / 4, and then critically damped.
#[test]
fn laws_with_limits_are_located() {
    let start = LimitedState { x: -2.0, ..Default::default() };
    let switch = -1.0 + 4.5_f64.sqrt();
    let (x, v, since) = (-2.0 + switch * switch / 2.0, switch, 5.0 - switch);
    let exact = (x + (v + 2.0 * x) * since) * (-2.0 * since).exp();
    for method in METHODS {
        let run = Simulation::new(&Limited, start).unwrap().run(method, 5.0).unwrap();
        assert!((run.state().x - exact).abs() < 1e-9, "{method:?}: {:?} for {exact}", run.state());
    }
    let h = |h: f64| {
        (Simulation::new(&Limited, start).unwrap().run(Method::Rk4 { h }, 5.0).unwrap().state().x - exact).abs()
    };
    let slope = (h(0.1) / h(0.025)).log2() / 2.0;
    assert!((slope - 4.0).abs() < 0.4, "{slope}");
}

/// The absolute value of an input that a closure or a table gives.
#[test]
fn inputs_that_are_given_switch_too() {
    let start = LimitedState::default();
    let swinging = |time: f64, _: &LimitedState| LimitedInput { thrust: 0.0, wind: time.cos() };
    let half = std::f64::consts::FRAC_PI_2;
    for method in [FINE, Method::Rk4 { h: 1e-2 }] {
        let run = Simulation::new(&Limited, start).unwrap().input(swinging).run(method, 2.0 * half).unwrap();
        assert!((run.state().p - 2.0).abs() < 1e-9, "{method:?}: {:?}", run.state());
        let rows = [(0.0, -1.0), (1.0, 2.0)].map(|(time, wind)| (time, LimitedInput { thrust: 0.0, wind }));
        let run =
            Simulation::new(&Limited, start).unwrap().input(Held::new(rows, 2.0).unwrap()).run(method, 2.0).unwrap();
        assert!((run.state().p - 3.0).abs() < 1e-12, "{method:?}: {:?}", run.state());
    }
}

#[test]
fn members_of_ensembles_and_resumed_runs_are_the_same_bits() {
    let system = Rubbed { mu: 0.3, c: 0.2, begin: 1.0, push: 0.7 };
    let starts: Vec<RubbedState> =
        (0..5).map(|i| RubbedState { x: f64::from(i) / 3.0, ..Default::default() }).collect();
    for method in of_sliding() {
        let ends = Ensemble::new(&system, starts.iter().copied()).run(method, 4.0).unwrap();
        for (start, end) in starts.iter().zip(ends.ends()) {
            let alone = Simulation::new(&system, *start).unwrap().run(method, 4.0).unwrap().state();
            assert_eq!(RubbedState::from(end.as_ref().unwrap().state), alone, "{method:?}");
            let end = Simulation::new(&system, *start).unwrap().final_state(&Settings::new(method, 4.0)).unwrap();
            assert_eq!(end, alone);
        }
        let mut snapshots = Vec::new();
        let watched = |moment: &fbint_runtime::Moment<'_>| {
            snapshots.push(moment.snapshot());
            std::ops::ControlFlow::Continue(())
        };
        let whole = Simulation::new(&system, starts[4]).unwrap().watched(watched).run(method, 4.0).unwrap().state();
        for snapshot in snapshots.into_iter().step_by(7) {
            let resumed =
                Simulation::new(&system, starts[4]).unwrap().from_snapshot(snapshot).run(method, 4.0).unwrap();
            assert_eq!(resumed.state(), whole, "{method:?}");
        }
    }
}

#[test]
fn feedback_and_single_functions_switch() {
    let start = TrampolineState { height: FROM, ..Default::default() };
    let simulation = Simulation::new(&TRAMPOLINE, start).unwrap().gains(Gains::uniform(1.0));
    let state = simulation.run(Method::Rk4 { h: 1e-3 }, 1.0).unwrap().state();
    assert!((state.height - bounced(1.0)[0]).abs() < 1e-8, "{state:?}");
    // Nothing is held where no run is.
    let rates = |height: f64| TRAMPOLINE.prepare().vector_field(&[height, 0.0, 0.0])[1];
    assert_eq!([rates(0.1), rates(0.0), rates(-0.1)], [-10.0, -10.0, 15.0]);
    let held = TRAMPOLINE.prepare().on_side(0, f64::INFINITY);
    let other = TRAMPOLINE.prepare().on_side(0, f64::NEG_INFINITY);
    let rates = [held, other].map(|system| system.vector_field(&[0.1, 0.0, 0.0])[1]);
    assert!(rates == [-10.0, -35.0] || rates == [-35.0, -10.0], "{rates:?}");
    assert_eq!(TRAMPOLINE.facts().switches.len(), 1);
    assert!(LEFT_ALONE.facts().switches.contains(&"p"), "{:?}", LEFT_ALONE.facts().switches);
    let _ = Limited::with_input(Limited.prepare(), [0.0, 1.0]);
}
