//! Lanes change nothing: members that run side by side end as they do one by one, whatever becomes of them.
//!
//! One by one, every member is a simulation. What both give is compared as text, in which all numbers differ that do, samples and
//! errors with all that they carry.

use std::collections::BTreeSet;

use super::common::amount;
use super::models::{KEPLER, Kepler, SPHERICAL_PENDULUM, SphericalPendulum};
use fbint_runtime::{
    Cause, ConsistentStart, Ensemble, EnsembleGains, EnsembleRun, Entries, Error, Gains, GeneratedSystem, Method,
    Projection, Settings, StateRole, StepFailure, Vector, feedback_system,
};
use rayon::ThreadPoolBuilder;

/// A pendulum whose pivot swings up and down, so that the time is an entry of its state.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    time(t),
    hamiltonian = p.norm_squared() / 2 + q[1],
    constraint(length = q[0].powi(2) + (q[1] - a * (2 * t).sin()).powi(2) - 1),
)]
struct Swing {
    a: f64,
}

/// A mass whose force is not defined where q is negative.
#[feedback_system(coordinates(q), momenta(p), hamiltonian = p.powi(2) / 2 + q.powf(3 / 2))]
struct Edge;

const CONTROLLED: [Method; 4] = [
    Method::DormandPrince { rtol: 1e-3, atol: None },
    Method::DormandPrince { rtol: 1e-8, atol: Some(1e-10) },
    Method::Dop853 { rtol: 1e-3, atol: None },
    Method::Dop853 { rtol: 1e-8, atol: Some(1e-10) },
];
const FIXED: [Method; 4] =
    [Method::Euler { h: 0.01 }, Method::Midpoint { h: 0.011 }, Method::Heun { h: 0.012 }, Method::Rk4 { h: 0.013 }];

/// No multiple of any number of lanes, and some for every lane.
fn members() -> usize {
    amount(53, 101)
}

/// Where a member is among all of them, from 0 to 1.
fn share(member: usize) -> f64 {
    member as f64 / members() as f64
}

/// A start that differs from member to member, but not in its time.
fn near<S: GeneratedSystem>(system: &S, centre: Vector<S>, member: usize) -> Vector<S> {
    let mut guess = Vector::<S>::from_fn(|i| centre[i] + 0.05 * ((7 * member + 3 * i + 1) as f64).sin());
    for (i, _) in S::FACTS.state.iter().enumerate().filter(|(_, entry)| entry.role == StateRole::Time) {
        guess[i] = centre[i];
    }
    ConsistentStart::new(system).solve(guess).unwrap().into()
}

/// Methods without projection, with the usual one, and with two iterations, which hardly anybody chooses; and with samples closer than
/// steps, farther, or at the end alone. Unless the test is thorough, each method has two of these four, and the next one the other two.
fn policies(methods: &[Method], until: f64) -> Vec<(Method, Option<Projection>, f64)> {
    let twice = Projection::iterations(2.try_into().unwrap());
    let once = Some(Projection::default());
    let policies = [(None, 0.01 * until), (once, 0.3 * until), (Some(twice), 0.3 * until), (once, until)];
    let (every, mut chosen) = (amount(2, 1), Vec::new());
    for (index, &method) in methods.iter().enumerate() {
        let own = policies.into_iter().skip(index % every).step_by(every);
        chosen.extend(own.map(|(projection, interval)| (method, projection, interval)));
    }
    chosen
}

/// The run side by side, on one thread, if it is the same on three and one by one.
fn run_everywhere<S: GeneratedSystem + Sync, G: EnsembleGains<S>>(
    ensemble: impl Fn() -> Ensemble<'static, S, G> + Sync,
    settings: &Settings,
) -> EnsembleRun<S> {
    let run = |threads: usize| {
        let pool = ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| ensemble().keep_trajectories().run_with(settings).unwrap())
    };
    let run_on_one = run(1);
    let text = format!("{run_on_one:?}");
    assert!(format!("{:?}", run(3)) == text, "on three threads, {settings:?}");
    let one_by_one = ensemble().keep_trajectories().run_one_by_one(settings).unwrap();
    for (member, (end, alone)) in run_on_one.ends().iter().zip(one_by_one.ends()).enumerate() {
        assert_eq!(format!("{end:?}"), format!("{alone:?}"), "member {member}, {settings:?}");
    }
    assert!(format!("{one_by_one:?}") == text, "one by one, {settings:?}");
    run_on_one
}

/// Systems and starts that live as long as the test.
fn leaked<S: GeneratedSystem>(system_of: impl Fn(usize) -> S, centre: Vector<S>) -> (&'static [S], Vec<Vector<S>>) {
    let systems: &'static [S] = Vec::leak((0..members()).map(system_of).collect());
    let starts = systems.iter().enumerate().map(|(member, system)| near(system, centre, member));
    (systems, starts.collect())
}

/// Slow and fast pendulums, which need a few steps or many.
#[test]
fn members_under_error_control_take_steps_of_their_own() {
    let (systems, starts) =
        leaked(|member| SphericalPendulum { g: 0.02 * 2_000_f64.powf(share(member)) }, SphericalPendulum::start());
    for (method, projection, every) in policies(&CONTROLLED, 2.0) {
        let settings = Settings { every: Some(every), projection, ..Settings::new(method, 2.0) };
        let run = run_everywhere(|| Ensemble::over_systems(systems, starts.iter().copied()), &settings);
        assert_eq!(run.failures().count(), 0);
    }
}

#[test]
fn members_with_feedback_take_steps_of_their_own() {
    let (systems, starts) =
        leaked(|member| SphericalPendulum { g: 0.5 + 10.0 * share(member) }, SphericalPendulum::start());
    for method in CONTROLLED {
        let settings = Settings::new(method, 1.0);
        let ensemble = || Ensemble::over_systems(systems, starts.iter().copied());
        run_everywhere(|| ensemble().gains(Gains::uniform(0.5)), &settings);
    }
}

#[test]
fn members_whose_state_has_the_time_start_when_they_are_told() {
    let (from, until) = (0.25, 1.0);
    let (systems, starts) = leaked(|member| Swing { a: 0.2 * share(member) }, [0.8, -0.6, 0.1, 0.2, 0.25, 0.0]);
    for (method, projection, every) in policies(&[CONTROLLED, FIXED].concat(), until - from) {
        let settings = Settings { from, projection, every: Some(every), ..Settings::new(method, until) };
        let run = run_everywhere(|| Ensemble::over_systems(systems, starts.iter().copied()), &settings);
        assert_eq!(run.failures().count(), 0);
    }
}

/// What ended a run before its end, in a word.
fn cause(error: &Error) -> &'static str {
    match error {
        Error::Start { .. } => "start",
        Error::OffConstraint { .. } => "off the constraint",
        Error::Failed(failure) => match failure.cause {
            Cause::Step { reason: StepFailure::Underflow, .. } => "tolerance out of reach",
            Cause::Step { reason: StepFailure::NotFinite { .. }, .. } => "field not finite",
            Cause::Growth { .. } => "growth",
            Cause::Rate { .. } | Cause::Entry { .. } | Cause::Integral { .. } => "not finite",
            _ => "another one",
        },
        _ => "another error",
    }
}

/// Orbits, and among them falls into the centre, near collisions, and starts that are refused or overflow.
fn orbits() -> Vec<[f64; 6]> {
    let orbit = |member: usize| match member % 10 {
        3 => [0.3 + share(member), 0.0, 0.0, 0.0, 0.0, 0.0],
        5 => Kepler::start(0.9 + 0.09 * share(member)),
        7 => [1.0, 0.0, 0.0, 1e150, 1.0, 0.0],
        8 => [1.0, 0.0, 0.0, 0.0, f64::NAN, 0.0],
        9 => [1e-3, 0.0, 0.0, 1e3, 1.0, 0.0],
        _ => Kepler::start(0.8 * share(member)),
    };
    (0..members()).map(orbit).collect()
}

#[test]
fn members_that_fail_do_so_as_they_do_alone() {
    let mut causes = BTreeSet::new();
    let orbits = orbits();
    // Where samples are rare, a member may fail and look at the next one as if nothing had happened.
    for (method, projection, every) in policies(&[CONTROLLED, FIXED].concat(), 1.5) {
        let settings = Settings { every: Some(every), projection, ..Settings::new(method, 1.5) };
        let run = run_everywhere(|| Ensemble::new(&KEPLER, orbits.iter().copied()), &settings);
        assert!(run.ends().iter().any(Result::is_ok), "{settings:?}");
        causes.extend(run.failures().map(|(_, error)| cause(error)));
        let starts = (0..members()).map(|member| [1.0, -2.0 * share(member)]);
        let run = run_everywhere(|| Ensemble::new(&Edge, starts.clone()), &settings);
        causes.extend(run.failures().map(|(_, error)| cause(error)));
    }
    for expected in ["field not finite", "growth", "not finite", "start", "tolerance out of reach"] {
        assert!(causes.contains(expected), "{expected} is missing among {causes:?}");
    }
}

/// There are blocks in which nobody can.
#[test]
fn members_that_cannot_start_leave_their_lanes_to_others() {
    let refused = [2.0, 0.0, 0.0, 0.0, 0.0, 0.0];
    for startable in [0, 1, 40] {
        let start = |member: usize| {
            if member % 100 < startable {
                near(&SPHERICAL_PENDULUM, SphericalPendulum::start(), member)
            } else {
                refused
            }
        };
        for method in [CONTROLLED[3], FIXED[3]] {
            let settings = Settings { projection: Some(Projection::default()), ..Settings::new(method, 0.5) };
            let ensemble = || Ensemble::new(&SPHERICAL_PENDULUM, (0..300).map(start));
            assert_eq!(run_everywhere(ensemble, &settings).failures().count(), 300 - 3 * startable);
        }
    }
}
