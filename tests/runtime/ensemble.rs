//! Every member of an ensemble is its own simulation, bit for bit, and nothing depends on the number of threads.

use std::array;
use std::ops::ControlFlow;

use super::common::amount;
use super::models::{
    Angle, FourBar, KEPLER, Kepler, PLANAR_PENDULUM, PlanarPendulum, SPHERICAL_PENDULUM, SphericalPendulum,
};
use super::vectors::bits;
use fbint_runtime::{
    ConsistentStart, Diagonal, Ensemble, EnsembleRun, Entries, Error, FeedbackSystem, Gains, GaussStages,
    GeneratedSystem, Integrals, Lanes, Method, Projection, Run, Settings, Simulation, Vector, feedback_system,
};

/// Four unit masses on a chain of links of length `l`.
#[feedback_system(
    coordinates(q: [3, 4]),
    momenta(p: [3, 4]),
    hamiltonian = (0..4).map(|i| p.column(i).norm_squared() / 2 + g * q[(2, i)]).sum(),
    constraint(
        anchor = q.column(0).norm_squared() - l.powi(2),
        link[i in 1..4] = (q.column(i) - q.column(i - 1)).norm_squared() - l.powi(2),
    ),
)]
struct Chain {
    g: f64,
    l: f64,
}

/// A sleigh whose blade a reaction holds.
#[feedback_system(
    coordinates(x, y, theta),
    velocities(vx, vy, omega),
    define(centre = vector![vx - a * omega * theta.sin(), vy + a * omega * theta.cos()]),
    lagrangian = centre.norm_squared() / 2 + omega.powi(2) / 3,
    velocity_constraint(blade = -theta.sin() * rate(x) + theta.cos() * rate(y)),
)]
struct Sleigh {
    a: f64,
}

/// A rigid body without inertia about its third axis.
#[feedback_system(
    coordinates(gamma: [3]),
    velocities(xi: [2], spin),
    kinematics(gamma = gamma.cross(&vector![xi[0], xi[1], spin])),
    lagrangian = xi.norm_squared() / 2 - g * gamma[2],
    velocity_constraint(no_spin = spin),
    constraint(length = gamma.norm_squared() - 1),
)]
struct Degenerate {
    g: f64,
}

const METHODS: [Method; 7] = [
    Method::Euler { h: 0.003 },
    Method::Midpoint { h: 0.004 },
    Method::Heun { h: 0.005 },
    Method::Rk4 { h: 0.006 },
    Method::DormandPrince { rtol: 1e-6, atol: Some(1e-6) },
    Method::Dop853 { rtol: 1e-6, atol: None },
    Method::Gauss { stages: GaussStages::Two, h: 0.02 },
];
/// No whole number of steps, so that the last is shorter.
const UNTIL: f64 = 0.1003;
const INTERVAL: f64 = 0.02;
/// Two full blocks at least and a part of one, whatever the target.
const MEMBERS: usize = 53;

/// A start that differs from member to member, on the constraint set.
fn start<S: FeedbackSystem>(system: &S, centre: Vector<S>, member: usize) -> Vector<S> {
    let guess = Vector::<S>::from_fn(|i| centre[i] + 0.02 * ((7 * member + 3 * i + 1) as f64).sin());
    ConsistentStart::new(system).solve(guess).unwrap().into()
}

/// Every member against its simulation, by every method, without feedback, with it, and with projections. Each method has one in `every` of
/// the ten combinations of gains and projections, another one than the method before it.
fn assert_some_members_are_simulations<S: FeedbackSystem + Sync>(
    every: usize,
    system_of: impl Fn(usize) -> S,
    centre: Vector<S>,
) {
    let systems: Vec<S> = (0..MEMBERS).map(&system_of).collect();
    let starts: Vec<_> = systems.iter().enumerate().map(|(member, system)| start(system, centre, member)).collect();
    let diagonal = |gain: &dyn Fn(usize) -> f64| Gains::<Diagonal<S>>::diagonal(Integrals::<S>::from_fn(gain));
    let gains: Vec<_> = (0..MEMBERS).map(|member| diagonal(&|_| 0.1 + 0.01 * member as f64)).collect();
    let mut combinations = 0..;
    let mut is_due = || combinations.next().is_some_and(|number: usize| number.is_multiple_of(every));
    for method in METHODS {
        for projection in [None, Some(Projection::default())] {
            // Gains, or none, take the place of the default projection.
            let ensemble = || {
                let ensemble = Ensemble::over_systems(&systems, starts.clone());
                let ensemble = ensemble.record_every(INTERVAL).keep_trajectories();
                if let Some(projection) = projection { ensemble.projected(projection) } else { ensemble }
            };
            let simulation = |member: usize| {
                let simulation = Simulation::new(&systems[member], starts[member]).unwrap().record_every(INTERVAL);
                if let Some(projection) = projection { simulation.projected(projection) } else { simulation }
            };
            if is_due() {
                assert_same(&ensemble().without_feedback().run(method, UNTIL).unwrap(), |member| {
                    simulation(member).without_feedback().run(method, UNTIL)
                });
            }
            if is_due() {
                let uniform = Gains::uniform(0.3);
                assert_same(&ensemble().gains(uniform).run(method, UNTIL).unwrap(), |member| {
                    simulation(member).gains(uniform).run(method, UNTIL)
                });
            }
            if is_due() {
                let uneven = diagonal(&|i| 0.3 + 0.1 * i as f64);
                assert_same(&ensemble().gains(uneven).run(method, UNTIL).unwrap(), |member| {
                    simulation(member).gains(uneven).run(method, UNTIL)
                });
            }
            if is_due() {
                let relaxation = Gains::relaxation(0.1);
                assert_same(&ensemble().gains(relaxation).run(method, UNTIL).unwrap(), |member| {
                    simulation(member).gains(relaxation).run(method, UNTIL)
                });
            }
            if is_due() {
                assert_same(&ensemble().gains_of_each(gains.clone()).run(method, UNTIL).unwrap(), |member| {
                    simulation(member).gains(gains[member]).run(method, UNTIL)
                });
            }
        }
    }
}

/// A third of the combinations for each system, or where the test is thorough all.
fn assert_members_are_simulations<S: FeedbackSystem + Sync>(system_of: impl Fn(usize) -> S, centre: Vector<S>) {
    assert_some_members_are_simulations(amount(3, 1), system_of, centre);
}

fn assert_same<S: FeedbackSystem>(run: &EnsembleRun<S>, simulate: impl Fn(usize) -> Result<Run<S>, Error>) {
    for member in 0..MEMBERS {
        let alone = simulate(member).unwrap();
        let end = run.ends()[member].as_ref().unwrap();
        let alone_at_end: Vector<S> = alone.state().into();
        assert_eq!(bits(end.state.as_ref()), bits(alone_at_end.as_ref()), "member {member}");
        let trajectory = run.trajectory(member).unwrap();
        assert_eq!(trajectory.len(), alone.trajectory().len());
        for (sample, expected) in trajectory.iter().zip(alone.trajectory()) {
            let at = format!("member {member} at {}", sample.time);
            assert_eq!(sample.time, expected.time);
            assert_eq!(bits(sample.state.as_ref()), bits(expected.state.as_ref()), "{at}");
            assert_eq!(bits(sample.change.as_ref()), bits(expected.change.as_ref()), "{at}");
        }
        let times: Vec<f64> = run.statistics().iter().map(|at| at.time).collect();
        assert_eq!(times, alone.trajectory().iter().map(|sample| sample.time).collect::<Vec<_>>());
    }
}

#[test]
fn members_of_planar_pendulums_are_simulations() {
    let system_of = |member: usize| PlanarPendulum { g: 1.0 + 0.1 * member as f64 };
    // All of the combinations.
    assert_some_members_are_simulations(1, system_of, PlanarPendulum::start());
}

#[test]
fn members_of_spherical_pendulums_are_simulations() {
    assert_members_are_simulations(
        |member| SphericalPendulum { g: 1.0 + 0.1 * member as f64 },
        SphericalPendulum::start(),
    );
}

#[test]
fn members_of_four_bars_are_simulations() {
    assert_members_are_simulations(|member| FourBar { g: 1.0 + 0.1 * member as f64 }, FourBar::start());
}

#[test]
fn members_of_kepler_orbits_are_simulations() {
    assert_members_are_simulations(|member| Kepler { mu: 1.0 + 0.01 * member as f64 }, Kepler::start(0.3));
}

#[test]
fn members_of_chains_are_simulations() {
    let hanging = array::from_fn(|i| match i {
        0..12 if i % 3 == 2 => -(0.9 * (i / 3 + 1) as f64),
        0..12 if i % 3 == 0 => 0.4 * (i / 3 + 1) as f64,
        _ => 0.0,
    });
    assert_members_are_simulations(|member| Chain { g: 1.0, l: 0.9 + 0.01 * member as f64 }, hanging);
}

#[test]
fn members_of_lagrangian_systems_are_simulations() {
    assert_members_are_simulations(|member| Sleigh { a: 0.1 + 0.01 * member as f64 }, [0.0, 0.0, 0.3, 0.9, 0.3, 1.0]);
    assert_members_are_simulations(|member| Degenerate { g: 1.0 + 0.1 * member as f64 }, [0.0, -1.0, 0.0, 1.0, 1.0]);
}

/// Every lane takes the sines and cosines of `f64`, so that even these members are bit for bit their simulations.
#[test]
fn members_with_elementary_functions_are_simulations() {
    assert_members_are_simulations(|member| Angle { g: 1.0 + 0.1 * member as f64 }, [1.0, 0.0]);
}

/// Both project the states by default, and the other policies of gains need no test for every model.
#[test]
fn defaults_and_policies_are_those_of_simulations() {
    let starts = spherical_starts(MEMBERS);
    let method = Method::Heun { h: 0.01 };
    let ensemble = || {
        let ensemble = Ensemble::new(&SPHERICAL_PENDULUM, starts.clone());
        ensemble.record_every(INTERVAL).keep_trajectories()
    };
    let simulation = |member: usize| {
        let simulation = Simulation::new(&SPHERICAL_PENDULUM, starts[member]).unwrap();
        simulation.record_every(INTERVAL)
    };
    let by_default = ensemble().run(method, UNTIL).unwrap();
    assert_same(&by_default, |member| simulation(member).run(method, UNTIL));
    let projection = Projection::by_default(&SphericalPendulum::FACTS);
    let settings = Settings { every: Some(INTERVAL), projection, ..Settings::new(method, UNTIL) };
    assert_eq!(everything(&ensemble().run_one_by_one(&settings).unwrap()), everything(&by_default));
    for boxed in [ensemble().boxed().run_with(&settings), ensemble().boxed().run_one_by_one(&settings)] {
        assert_eq!(everything(&boxed.unwrap()), everything(&by_default));
    }
    let bae_chang = Gains::bae_chang(0.01);
    assert_same(&ensemble().gains(bae_chang).run(method, UNTIL).unwrap(), |member| {
        simulation(member).gains(bae_chang).run(method, UNTIL)
    });
}

fn spherical_starts(members: usize) -> Vec<[f64; 6]> {
    (0..members).map(|member| start(&SPHERICAL_PENDULUM, SphericalPendulum::start(), member)).collect()
}

/// Everything that a run gives, as text that tells all numbers apart.
fn everything<S: FeedbackSystem>(run: &EnsembleRun<S>) -> String {
    format!("{run:?}")
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let starts = spherical_starts(1000);
    let run = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| {
            let ensemble = Ensemble::new(&SPHERICAL_PENDULUM, starts.clone()).gains(Gains::uniform(1.0));
            everything(&ensemble.keep_trajectories().run(Method::Rk4 { h: 0.01 }, amount(0.2, 1.0)).unwrap())
        })
    };
    let alone = run(1);
    for threads in [2, 3, 7] {
        assert!(run(threads) == alone, "{threads} threads");
    }
}

#[test]
fn statistics_are_those_of_the_trajectories() {
    let members = 137;
    let run = Ensemble::new(&SPHERICAL_PENDULUM, spherical_starts(members))
        .gains(Gains::uniform(1.0))
        .record_every(0.25)
        .keep_trajectories()
        .run(Method::Rk4 { h: 0.01 }, 1.0)
        .unwrap();
    assert_eq!(run.statistics().iter().map(|at| at.time).collect::<Vec<_>>(), [0.0, 0.25, 0.5, 0.75, 1.0]);
    let mut largest = 0.0_f64;
    for (index, at) in run.statistics().iter().enumerate() {
        assert_eq!(at.members, members as u64);
        for entry in 0..6 {
            let values = || (0..members).map(|member| run.trajectory(member).unwrap()[index].state[entry]);
            let mean = values().sum::<f64>() / members as f64;
            let variance = values().map(|value| (value - mean).powi(2)).sum::<f64>() / (members - 1) as f64;
            assert!((at.state.mean[entry] - mean).abs() < 1e-14);
            assert!((at.state.variance[entry] - variance).abs() < 1e-14);
            assert_eq!(at.state.min[entry], values().fold(f64::INFINITY, f64::min));
            assert_eq!(at.state.max[entry], values().fold(f64::NEG_INFINITY, f64::max));
        }
        let changes = (0..members).map(|member| run.trajectory(member).unwrap()[index].change[2].abs());
        largest = largest.max(changes.fold(0.0, f64::max));
    }
    assert!(largest > 0.0);
    assert_eq!(run.largest_changes()[2], largest);
}

/// A visitor sees what would be kept, in the order of the members, and no member that fails.
#[test]
fn visited_samples_are_those_that_are_kept() {
    let mut starts = spherical_starts(137);
    starts[41][0] += 0.5;
    let ensemble = || Ensemble::new(&SPHERICAL_PENDULUM, starts.clone()).without_feedback().record_every(0.25);
    let kept = ensemble().keep_trajectories().run(Method::Rk4 { h: 0.01 }, 1.0).unwrap();
    let mut visited = Vec::new();
    let visit = |member: usize, samples: &[_]| visited.push((member, samples.to_vec()));
    let run = ensemble().visited(visit).run(Method::Rk4 { h: 0.01 }, 1.0).unwrap();
    assert!(run.trajectory(0).is_none());
    assert!(visited.iter().map(|(member, _)| *member).eq((0..137).filter(|&member| member != 41)));
    for (member, samples) in &visited {
        assert_eq!(kept.trajectory(*member), Some(samples.as_slice()), "member {member}");
    }
}

#[test]
fn members_that_fail_are_reported_and_do_not_disturb_the_others() {
    let mut starts = spherical_starts(40);
    let ensemble = |starts: &[[f64; 6]]| {
        Ensemble::new(&SPHERICAL_PENDULUM, starts.to_vec())
            .gains(Gains::uniform(50.0))
            .keep_trajectories()
            .run(Method::Euler { h: 1e-3 }, 0.5)
            .unwrap()
    };
    let undisturbed = ensemble(&starts);
    // Off the constraint, not a number, and so fast that the feedback on the energy is too stiff for the step.
    starts[3][0] += 0.5;
    starts[17][4] = f64::NAN;
    starts[5] = [0.0, 1.0, 0.0, 300.0, 0.0, 1.0];
    let run = ensemble(&starts);
    let failed: Vec<usize> = run.failures().map(|(member, _)| member).collect();
    assert_eq!(failed, [3, 5, 17]);
    assert!(matches!(run.ends()[3], Err(Error::OffConstraint { name: "length", .. })));
    assert!(matches!(run.ends()[17], Err(Error::Start { name: "p[1]", .. })));
    let alone = Simulation::new(&SPHERICAL_PENDULUM, starts[5]).unwrap().gains(Gains::uniform(50.0));
    let alone = alone.run(Method::Euler { h: 1e-3 }, 0.5).unwrap_err();
    assert!(matches!(alone, Error::UnstableGains { .. }));
    assert_eq!(run.ends()[5].as_ref().unwrap_err(), &alone);
    for member in (0..40).filter(|member| !failed.contains(member)) {
        assert_eq!(run.trajectory(member), undisturbed.trajectory(member), "member {member}");
    }
    assert!(failed.iter().all(|&member| run.trajectory(member).is_none()));
    assert!(run.statistics().iter().all(|at| at.members == 37 && at.state.mean.iter().all(|mean| mean.is_finite())));
}

#[test]
fn members_that_blow_up_do_so_as_they_do_alone() {
    let mut starts = spherical_starts(40);
    let ensemble = |starts: &[[f64; 6]]| {
        let ensemble = Ensemble::new(&SPHERICAL_PENDULUM, starts.to_vec()).without_feedback();
        ensemble.keep_trajectories().run(Method::Heun { h: 0.01 }, 0.5).unwrap()
    };
    let undisturbed = ensemble(&starts);
    // The energy overflows in the first step, or integrals leave their bounds later.
    starts[20] = [0.0, 1.0, 0.0, 1e150, 0.0, 1.0];
    starts[33] = [0.0, 1.0, 0.0, 1e3, 0.0, 1.0];
    let run = ensemble(&starts);
    assert_eq!(run.failures().map(|(member, _)| member).collect::<Vec<_>>(), [20, 33]);
    for (member, error) in run.failures() {
        let alone = Simulation::new(&SPHERICAL_PENDULUM, starts[member]).unwrap().without_feedback();
        let alone = alone.run(Method::Heun { h: 0.01 }, 0.5).unwrap_err();
        assert!(matches!(alone, Error::Failed(_)));
        assert_eq!(error, &alone);
    }
    for member in (0..40).filter(|member| ![20, 33].contains(member)) {
        assert_eq!(run.trajectory(member), undisturbed.trajectory(member), "member {member}");
    }
}

#[test]
fn a_block_in_which_everyone_fails_is_no_matter() {
    let mut starts = spherical_starts(3 * Lanes::<4>::COUNT);
    starts.iter_mut().take(2 * Lanes::<4>::COUNT).for_each(|start| *start = start.map(|entry| 2.0 * entry));
    let run = Ensemble::new(&SPHERICAL_PENDULUM, starts).run(Method::Rk4 { h: 0.01 }, 0.1).unwrap();
    assert_eq!(run.failures().count(), 2 * Lanes::<4>::COUNT);
    assert_eq!(run.statistics()[0].members as usize, Lanes::<4>::COUNT);
}

#[test]
fn an_ensemble_may_be_empty_or_of_one() {
    for method in METHODS {
        let run = |starts: Vec<[f64; 6]>| Ensemble::new(&SPHERICAL_PENDULUM, starts).run(method, UNTIL).unwrap();
        let nobody = run(Vec::new());
        let one = run(vec![SphericalPendulum::start()]);
        assert!(nobody.ends().is_empty() && one.ends().len() == 1);
        assert_eq!(nobody.statistics().len(), one.statistics().len());
        let (nobody, one) = (nobody.statistics().last().unwrap(), one.statistics().last().unwrap());
        assert_eq!((nobody.time, nobody.members, one.time, one.members), (UNTIL, 0, UNTIL, 1));
        assert!(nobody.state.mean.iter().chain(&nobody.change.max).all(|entry| entry.is_nan()));
        assert_eq!((one.state.mean, one.state.min), (one.state.max, one.state.max));
        assert!(one.state.variance.iter().all(|entry| entry.is_nan()));
    }
}

#[test]
fn progress_ends_at_one_and_never_falls() {
    let mut reports = Vec::new();
    Ensemble::new(&PLANAR_PENDULUM, vec![PlanarPendulum::start(); 1000])
        .watched(|fraction| {
            reports.push(fraction);
            ControlFlow::Continue(())
        })
        .run(Method::Euler { h: 0.01 }, 0.1)
        .unwrap();
    assert!(reports.is_sorted() && reports.len() > 10, "{reports:?}");
    assert_eq!(reports.last(), Some(&1.0));
}

/// Side by side and alone, with projections and without, ensembles that would last for years end soon, within their members.
#[test]
fn an_ensemble_that_is_interrupted_ends_within_its_members() {
    let one_by_one = [Method::Rk4 { h: 1e-3 }, Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) }];
    let in_lanes = METHODS.into_iter().flat_map(|method| [(method, false, false), (method, true, false)]);
    for (method, is_projected, is_alone) in in_lanes.chain(one_by_one.map(|method| (method, true, true))) {
        let mut looks = 0;
        let ensemble = Ensemble::new(&KEPLER, vec![Kepler::start(0.3); 3]).watched(|fraction| {
            assert_eq!(fraction, 0.0);
            looks += 1;
            if looks < 5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        });
        let projection = is_projected.then(Projection::default);
        let settings = Settings { every: Some(1e8), projection, ..Settings::new(method, 1e10) };
        let run = if is_alone { ensemble.run_one_by_one(&settings) } else { ensemble.run_with(&settings) }.unwrap();
        assert_eq!((run.ends(), looks), (&[const { Err(Error::Interrupted) }; 3][..], 5), "{settings:?}");
        assert!(run.statistics().iter().all(|at| at.members == 0));
    }
}

/// Gains become too large for the step on the way, where constraint gradients grow with the momenta.
#[test]
fn an_ensemble_refuses_the_gains_that_a_run_refuses() {
    let (pendulum, start) = (PlanarPendulum { g: 9.81 }, PlanarPendulum::start());
    let settings = Settings { every: Some(0.05), ..Settings::new(Method::Rk4 { h: 0.01 }, 1.0) };
    let gains: Vec<_> = (1..30).map(|k| Gains::uniform(f64::from(k))).collect();
    let members = Ensemble::new(&pendulum, vec![start; gains.len()]).gains_of_each(gains.clone()).run_with(&settings);
    let mut refused_on_the_way = 0;
    for (end, gains) in members.unwrap().ends().iter().zip(gains) {
        let alone = Simulation::new(&pendulum, start).unwrap().gains(gains).run_with(&settings);
        match (alone, end) {
            (Ok(alone), Ok(end)) => assert_eq!(<[f64; 4]>::from(alone.state()), end.state),
            (Err(Error::UnstableGains { time, h, rate, interval }), Err(end)) => {
                refused_on_the_way += u32::from(time > 0.0);
                assert_eq!(*end, Error::UnstableGains { time, h, rate, interval });
            }
            (alone, end) => panic!("{alone:?}, {end:?}"),
        }
    }
    assert!(refused_on_the_way > 0, "{refused_on_the_way}");
}

/// What is known of an ensemble that is interrupted is what is known of the members that were done.
#[test]
fn members_that_were_done_are_kept() {
    let starts: Vec<_> = (0..600).map(|i| Kepler::start(1e-3 * f64::from(i))).collect();
    for method in METHODS {
        let until = amount(0.2, 1.0);
        let ensemble = || Ensemble::new(&KEPLER, starts.clone()).record_every(until / 2.0).keep_trajectories();
        let whole = ensemble().run(method, until).unwrap();
        let mut shown = Vec::new();
        let run = ensemble()
            .visited(|member, _| shown.push(member))
            .watched(|fraction| if fraction < 0.3 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) })
            .run(method, until)
            .unwrap();
        let mut done = Vec::new();
        for (member, end) in run.ends().iter().enumerate() {
            match end {
                Err(error) => assert_eq!(*error, Error::Interrupted),
                Ok(end) => {
                    assert_eq!(bits(&end.state), bits(&whole.ends()[member].as_ref().unwrap().state));
                    done.push(member);
                }
            }
            assert_eq!(run.trajectory(member).is_some(), end.is_ok());
        }
        assert!((180..600).contains(&done.len()) && shown == done, "{method:?}: {}", done.len());
        let alone = Ensemble::new(&KEPLER, done.iter().map(|&member| starts[member])).record_every(until / 2.0);
        assert_eq!(run.statistics(), alone.run(method, until).unwrap().statistics());
    }
}

#[test]
fn an_ensemble_shows_what_it_is_of() {
    let ensemble = Ensemble::new(&KEPLER, vec![Kepler::start(0.3); 3]);
    let text = format!("{ensemble:?}");
    for part in ["Ensemble", "Kepler", "members: 3"] {
        assert!(text.contains(part), "{part} is missing in: {text}");
    }
}

#[test]
fn bad_input_is_refused() {
    let ensemble = || Ensemble::new(&KEPLER, vec![Kepler::start(0.3); 3]);
    let (method, until) = (Method::Rk4 { h: 0.01 }, 1.0);
    let refusal = |run: Result<EnsembleRun<Kepler>, Error>| run.unwrap_err().to_string();
    assert_eq!(
        refusal(ensemble().gains_of_each(vec![Gains::diagonal([1.0; 7]); 2]).run(method, until)),
        "there are 2 gains for 3 starts: give one for each start, or one for all"
    );
    assert_eq!(
        refusal(Ensemble::over_systems(&[KEPLER; 2], vec![Kepler::start(0.3); 3]).run(method, until)),
        "there are 2 systems for 3 starts: give one for each start, or one for all"
    );
    assert!(refusal(ensemble().gains(Gains::uniform(-1.0)).run(method, until)).contains("the uniform gain is -1.0"));
    assert!(refusal(ensemble().run(method, -1.0)).contains("the end of the simulation is -1.0"));
    assert!(refusal(ensemble().record_every(0.0).run(method, until)).contains("the interval between samples is 0.0"));
    assert!(refusal(ensemble().run(Method::Rk4 { h: f64::NAN }, until)).contains("the step h is NaN"));
    let intolerant = Method::Dop853 { rtol: -1.0, atol: Some(1e-6) };
    assert!(refusal(ensemble().run(intolerant, until)).contains("the relative tolerance rtol is -1.0"));
    // Gains of one member are its own affair.
    let gains = [1.0, -1.0, 1.0].map(|gain| Gains::diagonal([gain; 7]));
    let run = ensemble().gains_of_each(gains.to_vec()).run(method, until).unwrap();
    assert_eq!(run.failures().map(|(member, _)| member).collect::<Vec<_>>(), [1]);
}
