//! Runs that are broken off and gone on with: bit by bit what they would have been.

mod common;
mod models;

use std::cell::Cell;
use std::ops::ControlFlow;
use std::rc::Rc;

use common::{PENDULUM, start};
use fbint_runtime::nalgebra::SVector;
use fbint_runtime::{
    Composition, Correction, Error, FeedbackSystem, Field, Gains, Method, OneStep, Rattle, Run, Sample, Simulation,
    Snapshot, StormerVerlet,
};
use models::{FOUR_BAR, FourBar, KEPLER, Kepler, PARALLELOGRAM, Parallelogram, SPHERICAL_PENDULUM, SphericalPendulum};

const METHODS: [Method; 6] = [
    Method::Euler { h: 1e-3 },
    Method::Midpoint { h: 1e-3 },
    Method::Heun { h: 1e-3 },
    Method::Rk4 { h: 1e-3 },
    Method::DormandPrince { rtol: 1e-8, atol: 1e-8 },
    Method::Dop853 { rtol: 1e-8, atol: 1e-8 },
];

/// Everything that a run gives, as bits.
fn bits<X: Clone + Into<SVector<f64, N>>, const N: usize, const M: usize>(run: &Run<X, N, M>) -> Vec<u64> {
    let drift = run.drift().integrals().map(|integral| [integral.max, integral.last, integral.slope]);
    let row = |sample: &Sample<N, M>| [&[sample.time], sample.state.as_slice(), sample.change.as_slice()].concat();
    let numbers = run.trajectory().iter().flat_map(row).chain(drift.concat());
    let numbers = numbers.chain([run.time()]).chain(run.state().into().iter().copied().collect::<Vec<_>>());
    let dependence = run.dependence().map(|dependence| [dependence.time(), dependence.pivot_ratio()]);
    let numbers = numbers.chain(dependence.into_iter().flatten());
    let projection = run.largest_projection().map(|largest| [largest.time, largest.distance, largest.per_error]);
    let numbers = numbers.chain(projection.into_iter().flatten());
    numbers.map(f64::to_bits).chain([run.steps(), run.evaluations()]).collect()
}

/// That `make`'s simulation gives the same in one go as broken off wherever it is watched, several times in a row, and is left
/// in the same condition.
fn assert_resumes<'a, S, F, const N: usize, const M: usize>(
    make: impl Fn() -> Simulation<'a, S, F, N, M>,
    run: impl Fn(Simulation<'a, S, F, N, M>) -> Result<Run<S::State, N, M>, Error>,
) where
    S: FeedbackSystem<N, M> + 'a,
    F: 'a,
{
    let last = Rc::new(Cell::new(None));
    let keeper = last.clone();
    let whole = make().watched(move |moment| {
        if moment.fraction() == 1.0 {
            keeper.set(Some(moment.snapshot()));
        }
        ControlFlow::Continue(())
    });
    let whole = (bits(&run(whole).unwrap()), last.take());
    let mut snapshot: Option<Snapshot> = None;
    let mut pieces = 0;
    loop {
        let (kept, last) = (Rc::new(Cell::new(None)), last.clone());
        let (keeper, ender, mut looks) = (kept.clone(), last.clone(), 0);
        let piece = make().watched(move |moment| {
            looks += 1;
            // The pieces are of several lengths, one of them empty.
            if looks <= 1 + 7 * pieces {
                if moment.fraction() == 1.0 {
                    ender.set(Some(moment.snapshot()));
                }
                return ControlFlow::Continue(());
            }
            keeper.set(Some(moment.snapshot()));
            ControlFlow::Break(())
        });
        let piece = match snapshot.take() {
            Some(snapshot) => piece.from_snapshot(snapshot),
            None => piece,
        };
        let end = run(piece).unwrap();
        match kept.take() {
            None => {
                assert!(pieces > 2, "{pieces} pieces");
                assert_eq!((bits(&end), last.take()), whole);
                return;
            }
            Some(taken) => {
                assert_eq!((taken.time(), taken.state()), (end.time(), end.state().into().as_slice()));
                snapshot = Some(taken);
            }
        }
        pieces += 1;
    }
}

/// The methods on a system, sampled by default and at times, corrected and not.
fn assert_methods_resume<S, F, const N: usize, const M: usize>(make: impl Fn() -> Simulation<'static, S, F, N, M>)
where
    S: FeedbackSystem<N, M> + 'static,
    F: Field<N> + 'static,
{
    for method in METHODS {
        let make = || make().method(method);
        assert_resumes(make, Simulation::run);
        assert_resumes(|| make().corrected(Correction::once()), Simulation::run);
        assert_resumes(|| make().record_every(0.017), Simulation::run);
        assert_resumes(|| make().record_every(0.017).corrected(Correction::once()), Simulation::run);
    }
}

#[test]
fn every_method_goes_on_without_feedback() {
    assert_methods_resume(|| Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().until(3.0005));
}

#[test]
fn every_method_goes_on_with_feedback() {
    assert_methods_resume(|| {
        let simulation = Simulation::new(&SPHERICAL_PENDULUM, SphericalPendulum::start()).unwrap();
        simulation.gains(Gains::uniform(2.0)).until(5.0)
    });
}

#[test]
fn a_run_that_thins_out_its_samples_goes_on() {
    let method = Method::DormandPrince { rtol: 1e-9, atol: 1e-9 };
    assert_resumes(|| Simulation::new(&PENDULUM, start()).unwrap().method(method).until(150.0), Simulation::run);
}

#[test]
fn a_run_past_a_singular_point_goes_on_and_remembers_it() {
    let make = || Simulation::new(&PARALLELOGRAM, Parallelogram::at_rest(1.0)).unwrap().method(METHODS[3]).until(3.0);
    assert!(make().run().unwrap().dependence().is_some_and(|dependence| dependence.time() < 2.5));
    assert_resumes(make, Simulation::run);
}

#[test]
fn geometric_methods_go_on() {
    let rattle = Rattle::new(&FOUR_BAR).unwrap();
    assert_resumes(
        || Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().until(3.0),
        |simulation| simulation.run_by(&rattle, 1e-3),
    );
    let verlet = StormerVerlet::new(&KEPLER).unwrap();
    fn by<O: OneStep<6>>(method: &O) {
        assert_resumes(
            || Simulation::new(&KEPLER, Kepler::start(0.3)).unwrap().until(3.0),
            |simulation| simulation.run_by(method, 1e-3),
        );
    }
    by(&verlet);
    by(&Composition(verlet));
}

#[test]
fn a_run_by_a_geometric_method_can_be_watched() {
    let mut reports = vec![];
    let simulation = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().until(1.0).watched(|moment| {
        reports.push(moment.fraction());
        ControlFlow::Continue(())
    });
    simulation.run_by(&Rattle::new(&FOUR_BAR).unwrap(), 1e-3).unwrap();
    assert!(reports.len() == 201 && reports.is_sorted() && reports[200] == 1.0, "{reports:?}");
}

#[test]
fn a_run_that_is_broken_off_keeps_what_it_has() {
    let simulation = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().method(METHODS[3]).until(4.0);
    let stop = |moment: &fbint_runtime::Moment<'_>| {
        if moment.time() < 1.0 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
    };
    let run = simulation.watched(stop).run().unwrap();
    assert_eq!((run.time(), run.steps()), (1.0, 1000));
    let whole = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().method(METHODS[3]).until(1.0).run().unwrap();
    assert_eq!(SVector::from(run.state()), SVector::from(whole.state()));
    assert_eq!(run.drift(), whole.drift());
    assert_eq!(run.trajectory().last().map(|sample| sample.time), Some(1.0));
}

#[test]
fn a_snapshot_of_another_run_is_refused() {
    let snapshot = |method| {
        let mut snapshot = None;
        let simulation = Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().method(method).until(1.0);
        let taken = |moment: &fbint_runtime::Moment<'_>| {
            snapshot = Some(moment.snapshot());
            if moment.time() < 0.5 { ControlFlow::Continue(()) } else { ControlFlow::Break(()) }
        };
        simulation.watched(taken).run().unwrap();
        snapshot.unwrap()
    };
    let fixed = || snapshot(METHODS[3]);
    let on = |method, until| Simulation::new(&FOUR_BAR, FourBar::start()).unwrap().method(method).until(until);
    let refusal = |run: Result<_, Error>| match run.map(drop) {
        Err(Error::ForeignSnapshot { reason }) => reason,
        other => panic!("{other:?}"),
    };
    assert_eq!(refusal(on(METHODS[5], 1.0).from_snapshot(fixed()).run()), "its method takes steps of one size");
    assert_eq!(refusal(on(METHODS[3], 1.0).from_snapshot(snapshot(METHODS[5])).run()), "its method chooses its steps");
    assert_eq!(
        refusal(on(Method::Rk4 { h: 2e-3 }, 1.0).from_snapshot(fixed()).run()),
        "its step or its end is another one"
    );
    assert_eq!(refusal(on(METHODS[3], 0.25).from_snapshot(fixed()).run()), "its step or its end is another one");
    assert_eq!(refusal(on(METHODS[5], 0.25).from_snapshot(snapshot(METHODS[5])).run()), "its time is not in this run");
    let moved = FourBar::start() + SVector::<f64, 8>::from([0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1e-12]);
    let elsewhere = Simulation::new(&FOUR_BAR, moved).unwrap().method(METHODS[3]).until(1.0);
    assert_eq!(refusal(elsewhere.from_snapshot(fixed()).run()), "its start is another one");
    let pendulum = Simulation::new(&PENDULUM, start()).unwrap().method(METHODS[3]).until(1.0);
    let error = pendulum.from_snapshot(fixed()).run().unwrap_err();
    assert_eq!(
        error.to_string(),
        "the run cannot go on from this snapshot: its state has another number of entries; build the simulation as it was \
         when the snapshot was taken"
    );
}
