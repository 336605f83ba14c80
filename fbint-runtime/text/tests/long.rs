//! Models that are longer than any vector of a fixed length, against what is known in closed form, and runs in steps of several kinds.

use std::f64::consts::PI;
use std::ops::ControlFlow;
use std::sync::Arc;

use fbint_catalogue::{AnyModel, Entry, Feedback, Member, Plan, Run};
use fbint_runtime::{Error, GaussStages, Method, Projection, Settings};

const DOP853: Method = Method::Dop853 { rtol: 1e-11, atol: Some(1e-11) };

/// The model of a text, which runs on slices however short it is.
fn loaded(text: &str) -> Box<dyn AnyModel> {
    let model = fbint_text::models(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
    (Entry::on_slices(Arc::new(move || Box::new(model.clone()))).load)()
}

/// A run from a start that is given or the model's own.
fn run(model: &dyn AnyModel, start: Option<&[f64]>, plan: &Plan) -> Run {
    let own = || model.start().expect("a start");
    let start = start.map_or_else(own, <[f64]>::to_vec);
    model
        .run(&start, plan, None, &mut |_| std::ops::ControlFlow::Continue(()))
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The largest change of the first integral.
fn max_of(run: &Run) -> f64 {
    run.findings.drift.integrals().next().expect("an integral").max
}

fn plan(method: Method, until: f64) -> Plan {
    Plan::new(Settings::new(method, until), Feedback::None)
}

/// Masses between walls, each on springs to its neighbours.
fn lattice(sites: usize, further: &str) -> Box<dyn AnyModel> {
    loaded(&lattice_text(sites, further))
}

fn lattice_text(sites: usize, further: &str) -> String {
    let last = sites - 1;
    format!(
        "#[feedback_system(
            coordinates(q: [{sites}]),
            momenta(p: [{sites}]),
            hamiltonian = p.norm_squared() / 2
                + (q[0].powi(2) + q[{last}].powi(2) + (0..{last}).map(|i| (q[i + 1] - q[i]).powi(2)).sum()) / 2,
            {further}
        )]
        struct Lattice;"
    )
}

/// The positions and momenta of the lattice at a time in a combination of two modes of vibration.
fn modes(sites: usize, time: f64) -> Vec<f64> {
    modes_with(sites, |frequency| [1.0, -frequency].map(|factor| (factor, frequency * time)))
}

/// Two modes of vibration: for a frequency, `factors` has the factor and the angle of the cosine that positions follow, and of the sine
/// that momenta follow.
fn modes_with(sites: usize, factors: impl Fn(f64) -> [(f64, f64); 2]) -> Vec<f64> {
    let mode = |k: usize, amplitude: f64| {
        let angle = k as f64 * PI / (sites + 1) as f64;
        let [(position, phase), (momentum, _)] = factors(2.0 * (angle / 2.0).sin());
        let shape = move |i: usize| amplitude * (angle * (i + 1) as f64).sin();
        move |i: usize| [position * shape(i) * phase.cos(), momentum * shape(i) * phase.sin()]
    };
    let [slow, fast] = [mode(3, 1.0), mode(sites / 2, 0.25)];
    let entry = |part: usize| (0..sites).map(move |i| slow(i)[part] + fast(i)[part]);
    entry(0).chain(entry(1)).collect()
}

fn distance(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max)
}

#[test]
fn a_lattice_vibrates_in_its_modes() {
    let sites = crate::amount(200, 1000);
    let start = modes(sites, 0.0);
    let entries = fbint_text::entries(&lattice_text(sites, ""), &mut |_| ControlFlow::Continue(()))
        .unwrap_or_else(|mistakes| panic!("{mistakes}"));
    let model = (entries[0].load)();
    let gauss = Method::Gauss { stages: GaussStages::Eight, h: 0.2 };
    let taylor = Method::Taylor { tolerance: 1e-15 };
    for (method, most) in [(Method::Rk4 { h: 0.01 }, 1e-8), (DOP853, 1e-9), (gauss, 1e-10), (taylor, 1e-12)] {
        let run = run(&*model, Some(&start), &plan(method, 10.0));
        assert!(distance(&run.state, &modes(sites, 10.0)) < most, "{}", method.name());
        assert!(max_of(&run).abs() < 1e-8, "{}", run.findings.drift);
    }
}

/// By the Stormer-Verlet method, a mode of the frequency w turns by 2 asin(w h / 2) a step, and the momentum is shorter by the cosine of
/// half of that.
#[test]
fn a_lattice_vibrates_in_the_modes_of_stormer_verlet() {
    let (sites, h, steps) = (crate::amount(100, 1000), 0.125, 80);
    let model = lattice(sites, "");
    let run = run(&*model, Some(&modes(sites, 0.0)), &plan(Method::StormerVerlet { h }, h * f64::from(steps)));
    let expected = modes_with(sites, |frequency| {
        let half = (frequency * h / 2.0).asin();
        [1.0, -frequency * half.cos()].map(|factor| (factor, 2.0 * half * f64::from(steps)))
    });
    assert!(distance(&run.state, &expected) < 1e-12, "{}", distance(&run.state, &expected));
}

/// By the discrete Hamel integrator, which is the midpoint rule here, a mode turns by 2 atan(w h / 2) a step and keeps its amplitude.
#[test]
fn a_lattice_vibrates_in_the_modes_of_the_midpoint_rule() {
    let (sites, h, steps) = (crate::amount(26, 60), 0.125, 40);
    let last = sites - 1;
    let model = loaded(&format!(
        "#[feedback_system(
            coordinates(q: [{sites}]), velocities(v: [{sites}]), kinematics(q = v),
            lagrangian = v.norm_squared() / 2
                - (q[0].powi(2) + q[{last}].powi(2) + (0..{last}).map(|i| (q[i + 1] - q[i]).powi(2)).sum()) / 2,
        )]
        struct Lattice;"
    ));
    let run = run(&*model, Some(&modes(sites, 0.0)), &plan(Method::DiscreteHamel { h }, h * f64::from(steps)));
    let expected = modes_with(sites, |frequency| {
        let angle = 2.0 * (frequency * h / 2.0).atan() * f64::from(steps);
        [1.0, -frequency].map(|factor| (factor, angle))
    });
    assert!(distance(&run.state, &expected) < 1e-12, "{}", distance(&run.state, &expected));
}

/// Beads that slide on circles without friction: by RATTLE each turns by asin(h v) a step, where v is its velocity.
#[test]
fn beads_turn_by_the_angles_of_rattle() {
    let (beads, h, steps) = (crate::amount(6, 60), 0.015625, 320);
    let model = loaded(&format!(
        "#[feedback_system(
            coordinates(q: [2, {beads}]), momenta(p: [2, {beads}]), hamiltonian = p.norm_squared() / 2,
            constraint(circle[i in 0..{beads}] = q.column(i).norm_squared() - 1),
        )]
        struct Beads;"
    ));
    let velocity = |i: usize| 1.0 + i as f64 / beads as f64;
    let state = |angle: &dyn Fn(usize) -> f64| -> Vec<f64> {
        let places = (0..beads).flat_map(|i| [angle(i).cos(), angle(i).sin()]);
        places.chain((0..beads).flat_map(|i| [-angle(i).sin(), angle(i).cos()].map(|p| velocity(i) * p))).collect()
    };
    let run = run(&*model, Some(&state(&|i| i as f64)), &plan(Method::Rattle { h }, h * f64::from(steps)));
    let expected = state(&|i| i as f64 + f64::from(steps) * (h * velocity(i)).asin());
    assert!(distance(&run.state, &expected) < 1e-12, "{}", distance(&run.state, &expected));
    assert!(run.findings.drift.integrals().all(|integral| integral.max.abs() < 1e-13), "{}", run.findings.drift);
}

/// A lattice in a thick liquid, where velocities adapt within 1e-3 and positions move within 1e3: 4e5 steps for an explicit method.
#[test]
fn long_states_may_be_stiff() {
    let (sites, drag, until) = (100, 1e3_f64, 1e3);
    let model = lattice(sites, "force(p = -1000 * p),");
    let at = |time: f64| -> Vec<f64> {
        let mode = |k: usize| {
            let angle = k as f64 * PI / (sites + 1) as f64;
            let square = (2.0 * (angle / 2.0).sin()).powi(2);
            let rate = -2.0 * square / (drag + (drag.powi(2) - 4.0 * square).sqrt());
            move |i: usize| [1.0, rate].map(|factor| factor * (angle * (i + 1) as f64).sin() * (rate * time).exp())
        };
        let [slow, fast] = [mode(3), mode(sites / 2)];
        (0..2).flat_map(|part| (0..sites).map(move |i| slow(i)[part] + fast(i)[part])).collect()
    };
    let run =
        run(&*model, Some(&[at(0.0), vec![0.0; 2]].concat()), &plan(Method::Rodas5P { rtol: 1e-7, atol: None }, until));
    assert!(distance(&run.state[..2 * sites], &at(until)) < 1e-6, "{}", distance(&run.state[..2 * sites], &at(until)));
    assert!(run.steps < 500, "{} steps", run.steps);
}

/// A projection keeps the energy, and steps between samples and dense output agree with the modes.
#[test]
fn a_long_run_is_projected_sampled_and_kept() {
    let (sites, model) = (20, lattice(20, ""));
    let settings = Settings { projection: Some(Projection::default()), every: Some(0.7), ..Settings::new(DOP853, 5.0) };
    let mut plan = Plan::new(settings, Feedback::None);
    plan.is_dense = true;
    let run = run(&*model, Some(&modes(sites, 0.0)), &plan);
    assert!(max_of(&run).abs() < 1e-12, "{}", run.findings.drift);
    assert_eq!(run.trajectory.len(), 9);
    for sample in &run.trajectory {
        assert!(distance(&sample.state, &modes(sites, sample.time)) < 1e-9, "{}", sample.time);
    }
    let step = run.dense_output.chunks_exact(run.state.len()).last().expect("a step");
    let time = 0.5 * (step[0].time() + 5.0);
    let between: Vec<f64> = step.iter().map(|entry| entry.at(time)[0]).collect();
    assert!(distance(&between, &modes(sites, time)) < 1e-8);
}

/// Bodies that attract one another, with softened forces.
fn bodies(count: usize) -> Box<dyn AnyModel> {
    loaded(&format!(
        "#[feedback_system(
            coordinates(q: [3, {count}]),
            momenta(p: [3, {count}]),
            hamiltonian = (0..{count}).map(|i| p.column(i).norm_squared() / 2).sum()
                - (1..{count}).map(|i| (0..i).map(|j|
                    1 / (100 * (0.01 + (q.column(i) - q.column(j)).norm_squared()).sqrt())).sum()).sum(),
            invariant(momentum[k in 0..3] = (0..{count}).map(|i| p[(k, i)]).sum()),
        )]
        struct Bodies;"
    ))
}

/// The rates of the bodies, typed by hand.
fn attractions(count: usize, x: &[f64]) -> Vec<f64> {
    let (q, p) = x.split_at(3 * count);
    let mut rates = [p, &vec![0.0; p.len()]].concat();
    for i in 0..count {
        for j in (0..count).filter(|j| *j != i) {
            let apart: [f64; 3] = std::array::from_fn(|k| q[3 * j + k] - q[3 * i + k]);
            let square = 0.01 + apart.iter().map(|x| x * x).sum::<f64>();
            (0..3).for_each(|k| rates[3 * (count + i) + k] += apart[k] / (100.0 * square * square.sqrt()));
        }
    }
    rates
}

#[test]
fn bodies_keep_energy_and_momentum() {
    let count = crate::amount(8, 50);
    let model = bodies(count);
    let mut random = 1_u64;
    let mut next = || {
        random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (random >> 11) as f64 / (1_u64 << 53) as f64 - 0.5
    };
    let start: Vec<f64> = (0..6 * count).map(|i| if i < 3 * count { 4.0 * next() } else { 0.3 * next() }).collect();
    assert!(distance(&model.rates(&start), &attractions(count, &start)) < 1e-12);
    let run_by = |method, projection| {
        let settings = Settings { projection, ..Settings::new(method, 1.0) };
        run(&*model, Some(&start), &Plan::new(settings, Feedback::None))
    };
    let [adaptive, fixed] = [run_by(DOP853, None), run_by(Method::Rk4 { h: 2e-3 }, None)];
    assert!(distance(&adaptive.state, &fixed.state) < 1e-8);
    for integral in adaptive.findings.drift.integrals() {
        assert!(integral.max.abs() < 1e-9, "{}", adaptive.findings.drift);
    }
    let projected = run_by(Method::Rk4 { h: 0.02 }, Some(Projection::default()));
    assert!(
        projected.findings.drift.integrals().all(|integral| integral.max.abs() < 1e-12),
        "{}",
        projected.findings.drift
    );
    assert!(distance(&projected.state, &adaptive.state) < 1e-4);
}

/// Constraints, feedback, events and a law.
#[test]
fn long_runs_have_constraints_feedback_events_and_inputs() {
    let further = "input(drag = (1 + q[0].powi(2)) / 10), force(p = -drag * p),
        event(middle = q[10], rising), output(strength = drag),";
    let driven = lattice(20, further);
    let mut start = modes(20, 0.0);
    start.extend([0.0, 0.0]);
    let run_driven = |method| run(&*driven, Some(&start), &plan(method, 10.0));
    let [adaptive, fixed] = [run_driven(DOP853), run_driven(Method::Rk4 { h: 0.01 })];
    assert!(distance(&adaptive.state, &fixed.state) < 1e-8);
    assert!(!adaptive.events.is_empty());
    for (one, other) in adaptive.events.iter().zip(&fixed.events) {
        assert!((one.time - other.time).abs() < 1e-8 && one.state[10].abs() < 1e-10);
    }
    assert!((driven.outputs(&start)[0] - 0.1 * (1.0 + start[0] * start[0])).abs() < 1e-12);

    let chain = loaded(
        "#[feedback_system(
            coordinates(q: [2, 10]), momenta(p: [2, 10]),
            hamiltonian = (0..10).map(|i| p.column(i).norm_squared() / 2 + q[(1, i)]).sum(),
            constraint(
                anchor = q.column(0).norm_squared() - 1,
                link[i in 1..10] = (q.column(i) - q.column(i - 1)).norm_squared() - 1,
            ),
        )]
        struct Chain;",
    );
    let start: Vec<f64> = (0..40).map(|i| if i < 20 && i % 2 == 0 { 1.0 + (i / 2) as f64 } else { 0.0 }).collect();
    let run_chain = |feedback, method| {
        let projection = matches!(feedback, Feedback::None).then(Projection::default);
        run(&*chain, Some(&start), &Plan::new(Settings { projection, ..Settings::new(method, 0.5) }, feedback))
    };
    let projected = run_chain(Feedback::None, Method::Rk4 { h: 0.01 });
    assert!(
        projected.findings.drift.integrals().all(|integral| integral.max.abs() < 1e-11),
        "{}",
        projected.findings.drift
    );
    let adaptive = run_chain(Feedback::None, DOP853);
    assert!(distance(&projected.state, &adaptive.state) < 1e-5);
    for feedback in [Feedback::Uniform(1.0), Feedback::Relaxation(0.1)] {
        let fed_back = run_chain(feedback, Method::Rk4 { h: 0.01 });
        assert!(distance(&fed_back.state, &adaptive.state) < 1e-4);
    }
}

/// A run that resumes from a snapshot ends with the same bits, by both kinds of steps.
#[test]
fn a_long_run_resumes() {
    let (model, start) = (lattice(20, ""), modes(20, 0.0));
    let gauss = Method::Gauss { stages: GaussStages::Four, h: 0.05 };
    let rodas5p = Method::Rodas5P { rtol: 1e-6, atol: None };
    let (verlet, taylor) = (Method::StormerVerlet { h: 0.05 }, Method::Taylor { tolerance: 1e-10 });
    for method in [Method::Rk4 { h: 0.01 }, DOP853, gauss, rodas5p, verlet, taylor] {
        let settings = Settings { projection: Some(Projection::default()), ..Settings::new(method, 4.0) };
        let plan = Plan::new(settings, Feedback::None);
        let mut kept = None;
        let whole = model.run(&start, &plan, None, &mut |moment| {
            if moment.time() > 1.0 && kept.is_none() {
                kept = Some(moment.snapshot());
            }
            std::ops::ControlFlow::Continue(())
        });
        let whole = whole.unwrap_or_else(|error| panic!("{error}"));
        let resumed = model.run(&start, &plan, kept, &mut |_| std::ops::ControlFlow::Continue(()));
        assert_eq!(resumed.unwrap_or_else(|error| panic!("{error}")).state, whole.state, "{}", method.name());
    }
}

/// Runs on slices give the bits of runs in vectors of a fixed length.
#[test]
fn slices_give_the_bits_of_vectors() {
    let pendulum = "#[feedback_system(
        coordinates(q: [2]), momenta(p: [2]), hamiltonian = p.norm_squared() / 2 + 9.81 * q[1],
        constraint(length = q.norm_squared() - 1), start(q = vector![1, 0], p = vector![0, 0.3]),
    )] struct Pendulum;";
    let trolley = "#[feedback_system(
        coordinates(x), momenta(p), hamiltonian = p.powi(2) / (2 * m), input(thrust = -2 * x - 3 * p), force(p = thrust),
        event(middle = x - 0.5, falling), default(m = 2), start(x = 1, p = 0, time = 0),
    )] struct Trolley { m: f64 }";
    let jumping = "#[feedback_system(
        coordinates(a), momenta(p), time(t), hamiltonian = p.powi(2) / 2 - a.cos(), force(p = (3 * t).sin() - p.powi(3)),
        event(bounce = a - 0.4, rising, reset(p = -p / 2)), start(a = 0.2, p = 0.1, t = 0),
    )] struct Jumping;";
    let adaptive = |rtol, atol| [Method::Dop853 { rtol, atol }, Method::DormandPrince { rtol, atol }];
    let fixed =
        [Method::Euler { h: 1e-3 }, Method::Midpoint { h: 0.01 }, Method::Heun { h: 0.013 }, Method::Rk4 { h: 0.02 }];
    let stiff = |rtol, atol| Method::Rodas5P { rtol, atol };
    let implicit =
        [Method::Gauss { stages: GaussStages::Two, h: 0.01 }, Method::Gauss { stages: GaussStages::Eight, h: 0.05 }];
    let methods = fixed.into_iter().chain(adaptive(1e-8, None)).chain(adaptive(1e-9, Some(1e-9)));
    let methods = methods.chain(implicit).chain([stiff(1e-7, None), stiff(1e-8, Some(1e-8))]);
    let of_series = [Method::Taylor { tolerance: 1e-15 }, Method::Taylor { tolerance: 1e-6 }];
    let maps = [Method::StormerVerlet { h: 0.02 }, Method::Rattle { h: 0.02 }];
    let further: Vec<Method> = of_series.into_iter().chain(maps).chain([Method::DiscreteHamel { h: 0.02 }]).collect();
    let methods: Vec<Method> = methods.chain(further.clone()).collect();
    let two = Projection::iterations(const { std::num::NonZeroU32::new(2).expect("not 0") });
    let top = "#[feedback_system(
        state(l: [3]), dynamics(l = vector![l[1] * l[2], -2 * l[0] * l[2], l[0] * l[1]]), invariant(size = l.norm_squared()),
        start(l = vector![1, 0.1, 0.5]),
    )] struct Top;";
    let braked = "#[feedback_system(
        coordinates(x), momenta(p), hamiltonian = p.powi(2) / 2, input(brake = -2 * p - x, every = 0.3, delay = 1), force(p = brake),
        event(turn = p, falling), output(effort = brake), start(x = 0, p = 1),
    )] struct Braked;";
    let rubbed = "#[feedback_system(
        coordinates(x), momenta(p), time(t), hamiltonian = (p.powi(2) + x.powi(2)) / 2,
        input(push = (2 * t.sin()).clamp(-1, 1)), force(p = push - 0.9 * p.signum()), start(x = 1, p = 0.5, t = 0),
    )] struct Rubbed;";
    let links = "#[feedback_system(
        coordinates(q: [2, 3]), momenta(p: [2, 3]),
        hamiltonian = p.column(0).norm_squared() / 4 + p.column(1).norm_squared() / 2 + p.column(2).norm_squared() / 6
            + 2 * q[(1, 0)] + q[(1, 1)] + 3 * q[(1, 2)],
        constraint(anchor = q.column(0).norm_squared() - 1, link[i in 1..3] = (q.column(i) - q.column(i - 1)).norm_squared() - 1),
        start(q = matrix![1, 2, 3; 0, 0, 0], p = matrix![0, 0, 0; 0.2, 0.1, -0.9]),
    )] struct Links;";
    let wells = "#[feedback_system(
        coordinates(q: [5]), momenta(p: [5]), hamiltonian = p.norm_squared() / 2 + p[0].powi(4) + (0..5).map(|i| q[i].cos()).sum()
            + (0..4).map(|i| (q[i + 1] - q[i]).powi(4)).sum(),
        event(middle = q[2], rising), start(q = vector![0.1, 0.2, -0.3, 0.4, 0.5], p = vector![1, 0.5, 0, -0.5, -1]),
    )] struct Wells;";
    let skate = "#[feedback_system(
        coordinates(x, y, theta), velocities(omega, v, slip),
        kinematics(x = v * theta.cos() - slip * theta.sin(), y = v * theta.sin() + slip * theta.cos(), theta = omega),
        lagrangian = (v.powi(2) + slip.powi(2) + omega.powi(2)) / 2 - y / 3, velocity_constraint(blade = slip),
        start(x = 0, y = 0, theta = 0.2, omega = 1, v = 0.5),
    )] struct Skate;";
    let texts = [pendulum, trolley, jumping, top, braked, rubbed].map(|text| (text, &methods));
    for (text, methods) in texts.into_iter().chain([links, wells, skate].map(|text| (text, &further))) {
        let model = fbint_text::models(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
        let [in_vectors, on_slices] = [Entry::flat, Entry::on_slices].map(|entry: fn(_) -> Entry| {
            let model = model.clone();
            (entry(Arc::new(move || Box::new(model.clone()))).load)()
        });
        assert_eq!(in_vectors.further_methods(), on_slices.further_methods());
        for &method in methods {
            for (projection, feedback) in [
                (Some(Projection::UNCHOSEN), Feedback::None),
                (None, Feedback::None),
                (Some(two.onto_balance()), Feedback::None),
                (None, Feedback::Uniform(0.7)),
                (Some(Projection::default()), Feedback::Relaxation(0.5)),
                (None, Feedback::BaeChang(0.01)),
            ] {
                // Maps take no feedback, and gains of Bae and Chang are for Euler's method.
                let is_meant = match (method, &feedback) {
                    (method, feedback) if method.is_geometric() && !matches!(method, Method::Gauss { .. }) => {
                        *feedback == Feedback::None
                    }
                    (method, Feedback::BaeChang(_)) => matches!(method, Method::Euler { .. } | Method::Rodas5P { .. }),
                    _ => true,
                };
                if !is_meant {
                    continue;
                }
                let mut plan = Plan::new(Settings { projection, ..Settings::new(method, 3.0) }, feedback);
                (plan.is_dense, plan.is_audited) = (true, false);
                let start = in_vectors.start().expect("a start");
                let [one, other] = [&in_vectors, &on_slices]
                    .map(|model| model.run(&start, &plan, None, &mut |_| ControlFlow::Continue(())));
                let place = format!("{} by {method:?}, {projection:?}, {:?}", model_name(&*on_slices), plan.feedback);
                let (one, other) = match (one, other) {
                    (Ok(one), Ok(other)) => (one, other),
                    (one, other) => {
                        // What follows the name of the field or of the model.
                        let reason = |run: Result<Run, Error>| -> String {
                            let message = run.expect_err("as the other").to_string();
                            message.split(": ").nth(1).unwrap_or_default().into()
                        };
                        assert_eq!(reason(one), reason(other), "{place}");
                        continue;
                    }
                };
                assert_eq!((one.steps, one.evaluations), (other.steps, other.evaluations), "{place}");
                let reports = [&one, &other].map(|run| run.findings.drift.to_string());
                assert_eq!((one.time, &one.state, &reports[0]), (other.time, &other.state, &reports[1]), "{place}");
                assert_eq!(format!("{:?}", one.dense_output), format!("{:?}", other.dense_output), "{place}");
                assert_eq!(format!("{:?}", one.events), format!("{:?}", other.events), "{place}");
                assert_eq!(format!("{:?}", one.trajectory), format!("{:?}", other.trajectory), "{place}");
            }
        }
    }
}

#[test]
fn members_of_a_long_ensemble_end_where_each_alone_does() {
    let (model, plan) = (lattice(20, ""), plan(Method::Rk4 { h: 0.01 }, 1.0));
    let member = |i: u8| Member { parameters: Vec::new(), start: modes(20, f64::from(i)), gain: None };
    let members: Vec<Member> = (0..3).map(member).collect();
    let ensemble = model.run_ensemble(&members, &plan, &mut |_| ControlFlow::Continue(()), None);
    for (member, end) in members.iter().zip(ensemble.unwrap_or_else(|error| panic!("{error}")).ends) {
        assert_eq!(end.expect("an end").state, run(&*model, Some(&member.start), &plan).state);
    }
}

/// Many bodies, each of which comes to rest by friction and stays, and each of which a digital brake slows.
#[test]
fn long_states_switch_and_have_sampled_laws() {
    let bodies = crate::amount(4, 100);
    let rubbed = loaded(&format!(
        "#[feedback_system(
            coordinates(x: [{bodies}]), momenta(p: [{bodies}]), hamiltonian = p.norm_squared() / 2,
            input(rub[i in 0..{bodies}] = -p[i].signum() / 2), force(p = rub),
        )]
        struct Rubbed;"
    ));
    let momentum = |i: usize| 0.2 + 0.01 * i as f64;
    let mut start: Vec<f64> = (0..bodies).map(|_| 0.0).chain((0..bodies).map(momentum)).collect();
    start.resize(rubbed.facts().state.len(), 0.0);
    for method in [Method::Rk4 { h: 0.01 }, DOP853] {
        let run = run(&*rubbed, Some(&start), &plan(method, 4.0));
        for i in 0..bodies {
            let [x, p] = [run.state[i], run.state[bodies + i]];
            assert!((x - momentum(i).powi(2)).abs() < 1e-11 && p.abs() < 1e-12, "{i}: {x}, {p}");
        }
    }
    let braked = loaded(&format!(
        "#[feedback_system(
            coordinates(x: [{bodies}]), momenta(p: [{bodies}]), hamiltonian = p.norm_squared() / 2,
            input(brake[i in 0..{bodies}] = -p[i], every = 1 / 4), force(p = brake),
        )]
        struct Braked;"
    ));
    for method in [Method::Rk4 { h: 0.01 }, DOP853] {
        let run = run(&*braked, Some(&start), &plan(method, 2.0));
        for i in 0..bodies {
            let exact = momentum(i) * 0.75_f64.powi(8);
            assert!((run.state[bodies + i] - exact).abs() < 1e-12, "{i}");
        }
    }
}

fn model_name(model: &dyn AnyModel) -> &'static str {
    model.facts().name
}
