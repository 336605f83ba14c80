//! Runs that are interrupted and resumed: bit by bit what they would have been.

use std::ops::ControlFlow;
use std::sync::{Arc, Mutex};

use super::common::{PENDULUM, start};
use super::models::{
    FOUR_BAR, FourBar, KEPLER, Kepler, PARALLELOGRAM, Parallelogram, SPHERICAL_PENDULUM, SphericalPendulum,
};
use super::vectors::bits;
use fbint_runtime::{
    Composition, Error, FeedbackSystem, Field, Gains, GaussStages, Method, OneStep, Projection, Run, Sample,
    Simulation, Snapshot, StormerVerlet, Vector,
};

const METHODS: [Method; 7] = [
    Method::Euler { h: 1e-3 },
    Method::Midpoint { h: 1e-3 },
    Method::Heun { h: 1e-3 },
    Method::Rk4 { h: 1e-3 },
    Method::DormandPrince { rtol: 1e-8, atol: None },
    Method::Dop853 { rtol: 1e-8, atol: Some(1e-8) },
    Method::Gauss { stages: GaussStages::Four, h: 4e-3 },
];

/// Everything that a run gives, as bits.
fn everything<S: FeedbackSystem>(run: &Run<S>) -> Vec<u64> {
    let drift = run.drift().integrals().flat_map(|integral| [integral.max, integral.last, integral.slope]);
    let row = |sample: &Sample<S>| [&[sample.time], sample.state.as_ref(), sample.change.as_ref()].concat();
    let numbers = run.trajectory().iter().flat_map(row).chain(drift);
    let numbers = numbers.chain([run.time()]).chain(end(run).as_ref().to_vec());
    let dependence = run.dependence().map(|dependence| [dependence.time, dependence.pivot_ratio]);
    let numbers = numbers.chain(dependence.into_iter().flatten());
    let projection = run.largest_projection().map(|largest| [largest.time, largest.distance, largest.per_error]);
    let numbers: Vec<f64> = numbers.chain(projection.into_iter().flatten()).collect();
    [bits(&numbers), vec![run.steps(), run.evaluations()]].concat()
}

/// The state at the end, flat.
fn end<S: FeedbackSystem>(run: &Run<S>) -> Vector<S> {
    run.state().into()
}

/// Asserts that `make`'s simulation, interrupted several times in a row wherever it is watched, gives what it gives in one go, and
/// is left in the same condition.
pub(crate) fn assert_resumes<'a, S, F>(
    make: impl Fn() -> Simulation<'a, S, F>,
    run: impl Fn(Simulation<'a, S, F>) -> Result<Run<S>, Error>,
) where
    S: FeedbackSystem,
    F: 'a,
{
    let last = Arc::new(Mutex::new(None));
    let keeper = last.clone();
    let whole = make().watched(move |moment| {
        if moment.fraction() == 1.0 {
            *keeper.lock().unwrap() = Some(moment.snapshot());
        }
        ControlFlow::Continue(())
    });
    let whole = (everything(&run(whole).unwrap()), last.lock().unwrap().take());
    let mut snapshot: Option<Snapshot> = None;
    let mut pieces = 0;
    loop {
        let (kept, last) = (Arc::new(Mutex::new(None)), last.clone());
        let (keeper, ender, mut looks) = (kept.clone(), last.clone(), 0);
        let piece = make().watched(move |moment| {
            looks += 1;
            // The pieces are of several lengths, one of them empty.
            if looks <= 1 + 7 * pieces {
                if moment.fraction() == 1.0 {
                    *ender.lock().unwrap() = Some(moment.snapshot());
                }
                return ControlFlow::Continue(());
            }
            *keeper.lock().unwrap() = Some(moment.snapshot());
            ControlFlow::Break(())
        });
        let piece = match snapshot.take() {
            Some(snapshot) => piece.from_snapshot(snapshot),
            None => piece,
        };
        let piece = run(piece).unwrap();
        match kept.lock().unwrap().take() {
            None => {
                assert!(pieces > 2, "{pieces} pieces");
                assert_eq!((everything(&piece), last.lock().unwrap().take()), whole);
                return;
            }
            Some(taken) => {
                assert_eq!((taken.time(), taken.state()), (piece.time(), end(&piece).as_ref()));
                snapshot = Some(taken);
            }
        }
        pieces += 1;
    }
}

/// The methods on a system, sampled by default and at times, projected and not.
fn assert_methods_resume<S, F>(make: impl Fn() -> Simulation<'static, S, F>, until: f64)
where
    S: FeedbackSystem,
    F: Field<Vector = Vector<S>> + 'static,
{
    for method in METHODS {
        let run = |simulation: Simulation<'static, S, F>| simulation.run(method, until);
        assert_resumes(&make, run);
        assert_resumes(|| make().projected(Projection::default()), run);
        assert_resumes(|| make().record_every(0.017), run);
        assert_resumes(|| make().record_every(0.017).projected(Projection::default()), run);
        let times = || (1..150).map(|number| 0.0193 * f64::from(number)).collect::<Vec<_>>();
        assert_resumes(|| make().record_at(times()).projected(Projection::default()), run);
    }
}

#[test]
fn every_method_resumes_without_feedback() {
    assert_methods_resume(|| Simulation::new(&FOUR_BAR, FourBar::start()).unwrap(), 3.0005);
}

#[test]
fn every_method_resumes_with_feedback() {
    let make = || {
        let simulation = Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap();
        simulation.gains(Gains::uniform(2.0))
    };
    assert_methods_resume(make, 5.0);
}

#[test]
fn a_run_that_thins_out_its_samples_resumes() {
    let method = Method::DormandPrince { rtol: 1e-9, atol: Some(1e-9) };
    let make = || Simulation::new(&PENDULUM, start()).unwrap();
    assert_resumes(make, |simulation| simulation.run(method, 150.0));
}

#[test]
fn a_run_past_a_singular_point_resumes_and_remembers_it() {
    let make = || Simulation::new(&PARALLELOGRAM, Parallelogram::at_rest(1.0)).unwrap();
    let run = |simulation: Simulation<'static, Parallelogram>| simulation.run(METHODS[3], 3.0);
    assert!(run(make()).unwrap().dependence().is_some_and(|dependence| dependence.time < 2.5));
    assert_resumes(make, run);
}

#[test]
fn geometric_methods_resume() {
    let rattle = Method::Rattle { h: 1e-3 };
    assert_resumes(|| Simulation::new(&FOUR_BAR, FourBar::start()).unwrap(), |simulation| simulation.run(rattle, 3.0));
    let composition = Composition(StormerVerlet::new(&KEPLER).unwrap());
    for method in [Method::StormerVerlet { h: 1e-3 }, Method::OneStep { h: 1e-3 }] {
        assert_resumes(
            || Simulation::new(&KEPLER, Kepler::start(0.3)).unwrap(),
            |simulation| simulation.one_step(&composition).run(method, 3.0),
        );
    }
}

#[test]
fn methods_of_geometric_integrators_make_their_steps() {
    let composition = Composition(StormerVerlet::new(&KEPLER).unwrap());
    let simulation = || Simulation::new(&KEPLER, Kepler::start(0.3)).unwrap();
    let by = |map: &dyn OneStep<[f64; 6]>| {
        let mut x = Kepler::start(0.3);
        (0..64).for_each(|_| map.step(&mut x, 1.0 / 64.0));
        x
    };
    let state = |method| <[f64; 6]>::from(simulation().one_step(&composition).run(method, 1.0).unwrap().state());
    assert_eq!(state(Method::StormerVerlet { h: 1.0 / 64.0 }), by(&composition.0));
    assert_eq!(state(Method::OneStep { h: 1.0 / 64.0 }), by(&composition));
    let refusal = |method| simulation().run(method, 1.0).unwrap_err().to_string();
    assert!(
        refusal(Method::OneStep { h: 0.1 }).contains("Simulation::one_step"),
        "{}",
        refusal(Method::OneStep { h: 0.1 })
    );
    let four_bar = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap();
    let error = four_bar.run(Method::StormerVerlet { h: 0.1 }, 1.0).unwrap_err();
    assert!(matches!(error, Error::NotApplicable { .. }), "{error}");
}

#[test]
fn a_run_by_a_geometric_method_can_be_watched() {
    let mut reports = vec![];
    let simulation = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().watched(|moment| {
        reports.push(moment.fraction());
        ControlFlow::Continue(())
    });
    simulation.run(Method::Rattle { h: 1e-3 }, 1.0).unwrap();
    assert!(reports.len() == 201 && reports.is_sorted() && reports[200] == 1.0, "{reports:?}");
}

#[test]
fn a_run_that_is_interrupted_keeps_what_it_has() {
    let simulation = || Simulation::new(&FOUR_BAR, FourBar::start()).unwrap();
    let stop = |moment: &fbint_runtime::Moment<'_>| {
        if moment.time() < 1.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let run = simulation().watched(stop).run(METHODS[3], 4.0).unwrap();
    assert_eq!((run.time(), run.steps()), (1.0, 1000));
    let whole = simulation().run(METHODS[3], 1.0).unwrap();
    assert_eq!(end(&run), end(&whole));
    assert_eq!(run.drift(), whole.drift());
    assert_eq!(run.trajectory().last().map(|sample| sample.time), Some(1.0));
}

#[test]
fn a_snapshot_of_another_run_is_refused() {
    let four_bar = || Simulation::new(&FOUR_BAR, FourBar::start()).unwrap();
    let snapshot = |method| {
        let mut snapshot = None;
        let taken = |moment: &fbint_runtime::Moment<'_>| {
            snapshot = Some(moment.snapshot());
            if moment.time() < 0.5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        four_bar().watched(taken).run(method, 1.0).unwrap();
        snapshot.unwrap()
    };
    let (fixed, controlled) = (|| snapshot(METHODS[3]), || snapshot(METHODS[5]));
    let refusal = |run: Result<_, Error>| match run.map(drop) {
        Err(Error::ResumedOtherwise { what, then, now }) => format!("{what}: {then}, {now}"),
        Err(Error::ForeignSnapshot { reason }) => reason.to_owned(),
        other => panic!("{other:?}"),
    };
    let resumed = |snapshot, method, until| refusal(four_bar().from_snapshot(snapshot).run(method, until));
    assert_eq!(
        resumed(controlled(), METHODS[3], 1.0),
        "the method: Dop853 { rtol: 1e-8, atol: Some(1e-8) }, Rk4 { h: 0.001 }"
    );
    assert_eq!(resumed(fixed(), METHODS[2], 1.0), "the method: Rk4 { h: 0.001 }, Heun { h: 0.001 }");
    assert_eq!(resumed(fixed(), Method::Rk4 { h: 2e-3 }, 1.0), "the method: Rk4 { h: 0.001 }, Rk4 { h: 0.002 }");
    let with_gains = four_bar().gains(Gains::uniform(2.0)).projected(Projection::default());
    let rate = refusal(with_gains.from_snapshot(fixed()).run(METHODS[3], 1.0));
    assert!(rate.starts_with("the largest rate of decay of the feedback at the start: 0.0, "), "{rate}");
    let plain = four_bar().without_feedback().from_snapshot(fixed()).run(METHODS[3], 1.0);
    assert_eq!(refusal(plain), "the projection: after each step, none");
    let on_the_moon = FourBar { g: 1.62 };
    let on_the_moon = Simulation::new(&on_the_moon, FourBar::start()).unwrap().from_snapshot(fixed());
    assert_eq!(refusal(on_the_moon.run(METHODS[3], 1.0)), "the parameter `g`: 9.81, 1.62");
    // A later end is not another run.
    let later = four_bar().from_snapshot(fixed()).run(METHODS[3], 2.0).unwrap();
    assert_eq!(end(&later), end(&four_bar().run(METHODS[3], 2.0).unwrap()));
    assert_eq!(resumed(fixed(), METHODS[3], 0.25), "its step or its end is another one");
    assert_eq!(resumed(controlled(), METHODS[5], 0.25), "its time is not in this run");
    let mut moved = FourBar::start();
    moved[7] += 1e-12;
    let elsewhere = Simulation::new(&FOUR_BAR, moved).unwrap();
    assert_eq!(refusal(elsewhere.from_snapshot(fixed()).run(METHODS[3], 1.0)), "its start is another one");
    let pendulum = Simulation::new(&PENDULUM, start()).unwrap();
    let error = pendulum.from_snapshot(fixed()).run(METHODS[3], 1.0).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run cannot resume from this snapshot: its state has another number of entries; build the simulation as it was \
         when the snapshot was taken"
    );
}
