//! Models from text beside the structs of the same code: how long runs and ensembles take.
//!
//! `RAYON_NUM_THREADS=1 cargo bench -p fbint-text --bench beside_structs` prints, for each model, how long its text takes to be read and run
//! for a step, and how many times as long as with the struct a run takes by Euler's method, RK4 and DOP853, and an ensemble by RK4. The
//! first is the least time of several, the others are medians of the ratios of two that follow each other, so that a change of the machine's
//! speed affects both.
#![allow(missing_docs)]

#[path = "../tests/shipped.rs"]
mod shipped;

use std::time::Instant;

use fbint_catalogue::Model;
use fbint_catalogue::padded::{Padded, Visitor};
use fbint_runtime::{Ensemble, FeedbackSystem, GeneratedSystem, Method, Simulation};
use fbint_text::{models, models_of_package};

use shipped::{as_struct, every_model, visit};

/// How often each is timed.
const TURNS: usize = 21;
const STEP: f64 = 1e-4;
/// Where runs by steps of a fixed size end.
const UNTIL: f64 = 2.0;
/// Where runs by DOP853 end, which take hundreds of steps to there: what happens once in a run is a small part of their time.
const UNTIL_BY_DOP853: f64 = 20.0;
/// The members of an ensemble, and the steps of each.
const MEMBERS: usize = 480;
const STEPS: f64 = 50.0;

macro_rules! rows {
    ($($name:ident $model:ty,)*) => {
        vec![$(row::<$model>()),*]
    };
}

fn main() {
    println!("| model | first step, ms | Euler | RK4 | DOP853 | ensemble |\n|---|---|---|---|---|---|");
    let rows = every_model!(rows);
    let medians = [0, 1, 2, 3].map(|kind| median(rows.iter().map(|row| row[kind])));
    println!("| median | | {} |", medians.map(|ratio| format!("{ratio:.2}")).join(" | "));
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

fn row<S: GeneratedSystem + Model + Default + Sync>() -> [f64; 4] {
    let text = shipped::named(S::FACTS.name).text;
    // What was read before is not read again.
    let first_of = |turn: usize| models(&format!("{text}\n// {turn}")).expect("a model").remove(0);
    let firsts = (0..TURNS).map(|turn| seconds(|| visit(Box::new(first_of(turn)), Step::<S>(S::default()))));
    let first = firsts.fold(f64::MAX, f64::min);
    let same_code = models_of_package(&text, &shipped::package()).expect("a model").remove(0);
    let ratios = visit(Box::new(same_code), Ratios::<S>(S::default()));
    println!("| {} | {:.1} | {} |", S::FACTS.name, first * 1e3, ratios.map(|ratio| format!("{ratio:.2}")).join(" | "));
    ratios
}

fn seconds<T>(task: impl FnOnce() -> T) -> f64 {
    let began = Instant::now();
    task();
    began.elapsed().as_secs_f64()
}

/// A step from where the struct starts.
struct Step<S>(S);

impl<S: GeneratedSystem + Model> Visitor for Step<S> {
    type Output = ();

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) {
        let (model, start) = as_struct(&self.0, model);
        Simulation::new(&model, start).and_then(|run| run.run(Method::Rk4 { h: STEP }, STEP)).expect("a step");
    }
}

/// The times of a text in those of its struct.
struct Ratios<S>(S);

impl<S: GeneratedSystem + Model + Sync> Visitor for Ratios<S> {
    type Output = [f64; 4];

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> [f64; 4] {
        let system = self.0;
        let (model, start) = as_struct(&system, model);
        let own: S::Vector<f64> = Model::start(&system).expect("a start").into();
        let text = timed(&model, start);
        let own = timed(&system, own);
        [0, 1, 2, 3].map(|kind| median((0..TURNS).map(|_| text[kind]() / own[kind]())))
    }
}

/// Runs, and an ensemble, each of which gives how long it took.
fn timed<S: FeedbackSystem + Sync>(system: &S, start: S::Vector<f64>) -> [Box<dyn Fn() -> f64 + '_>; 4] {
    let run = move |method: Method, until: f64| -> Box<dyn Fn() -> f64 + '_> {
        Box::new(move || {
            let run = Simulation::new(system, start).expect("a start").without_feedback().record_every(until);
            seconds(|| run.run(method, until).map(|_| ()).expect("a run"))
        })
    };
    let ensemble = move || {
        let ensemble = Ensemble::new(system, [start; MEMBERS]).without_feedback();
        seconds(|| ensemble.run(Method::Rk4 { h: STEP }, STEPS * STEP).map(|_| ()).expect("an ensemble"))
    };
    let (rtol, atol) = (1e-11, 1e-11);
    [
        run(Method::Euler { h: STEP }, UNTIL),
        run(Method::Rk4 { h: STEP }, UNTIL),
        run(Method::Dop853 { rtol, atol: Some(atol) }, UNTIL_BY_DOP853),
        Box::new(ensemble),
    ]
}
