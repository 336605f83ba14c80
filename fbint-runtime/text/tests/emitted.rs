//! Models from text against the structs of the shipped models: functions and whole runs, bit by bit. Both are made from the derivations
//! that the package keeps.

use fbint_catalogue::padded::{Padded, Visitor};
use fbint_catalogue::{FlatModel, Model};
use fbint_runtime::{
    Ensemble, Error, FeedbackSystem, Gains, GaussStages, GeneratedSystem, Method, Run, Sample, Simulation, SystemFacts,
};
use fbint_text::models_of_package;

use crate::functions::{Point, bits, jacobians, results};
use crate::is_thorough;
use crate::random::Random;
use crate::shipped::{self, as_struct, every_model, visit};

macro_rules! tests {
    ($($name:ident $model:ty,)*) => {
        $(#[test] fn $name() { compare::<$model>() })*
    };
}

every_model!(tests);

/// The most entries of the state of a struct whose members are integrated side by side here, and all of whose functions are compared unless
/// the test is thorough.
const MOST_IN_LANES: usize = 48;

/// Compares a struct with its text, which the same kept derivation makes the same code.
fn compare<S: GeneratedSystem + Model + Default>() {
    let text = shipped::named(S::FACTS.name).text;
    let model = models_of_package(&text, &shipped::package()).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
    assert_eq!(
        [FlatModel::source(&model), FlatModel::equations(&model), FlatModel::latex(&model)],
        [S::FACTS.source, S::FACTS.equations, S::FACTS.derivation]
    );
    visit(Box::new(model), Twin { system: S::default() });
}

/// The struct that the same text declares.
struct Twin<S> {
    system: S,
}

impl<S: GeneratedSystem + Model> Visitor for Twin<S> {
    type Output = ();

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) {
        let system = self.system;
        let (model, start) = as_struct(&system, model);
        // A text differentiates where a struct needs a key, and the model has what is printed.
        let SystemFacts { has_jacobian, source, equations, derivation, .. } = S::FACTS;
        let facts = SystemFacts { has_jacobian, source, equations, derivation, ..*model.facts() };
        assert_eq!(format!("{facts:?}"), format!("{:?}", S::FACTS));
        let own = Model::start(&system).expect("a start").into();
        if is_thorough() || S::FACTS.state.len() <= MOST_IN_LANES {
            compare_functions(&system, &model, has_jacobian);
            assert_eq!(runs(&model, start, has_jacobian), runs(&system, own, has_jacobian));
        } else {
            assert_eq!(without_feedback(&model, start, 0.1), without_feedback(&system, own, 0.1));
        }
    }
}

fn compare_functions<S: FeedbackSystem, R: FeedbackSystem>(system: &S, model: &R, has_jacobian: bool) {
    let (prepared, read) = (system.prepare(), model.prepare());
    let mut random = Random::new(2);
    for _ in 0..20 {
        let point = Point::random(&mut random);
        let found = results::<R>(&read, &point);
        for (name, expected) in results::<S>(&prepared, &point) {
            assert_eq!(bits(&found[name]), bits(&expected), "{name} of {}", system.facts().name);
        }
        if !has_jacobian {
            continue;
        }
        let key = |entries: Vec<(usize, usize, f64)>| -> Vec<_> {
            entries.into_iter().map(|(row, column, entry)| (row, column, entry.to_bits())).collect()
        };
        assert_eq!(jacobians::<R>(&read, &point).map(key), jacobians::<S>(&prepared, &point).map(key));
    }
}

/// Where runs end, in bits, or why they do not: with every method, with gains, and side by side.
fn runs<S: FeedbackSystem + Sync>(
    system: &S,
    start: S::Vector<f64>,
    has_jacobian: bool,
) -> Vec<Result<Vec<u64>, String>> {
    let (h, until, rtol, atol) = (0.01, 0.3, 1e-9, 1e-9);
    let methods = [
        Method::Euler { h },
        Method::Midpoint { h },
        Method::Heun { h },
        Method::Rk4 { h },
        Method::DormandPrince { rtol, atol: Some(atol) },
        Method::Dop853 { rtol, atol: Some(atol) },
        Method::Gauss { stages: GaussStages::Two, h },
        Method::Gauss { stages: GaussStages::Four, h },
        Method::Gauss { stages: GaussStages::Eight, h },
        Method::DiscreteHamel { h },
        Method::StormerVerlet { h },
        Method::Rattle { h },
    ];
    let simulation = || Simulation::new(system, start).map_err(|error| error.to_string());
    let rodas5p = has_jacobian.then_some(Method::Rodas5P { rtol, atol: Some(atol) });
    let mut ends: Vec<_> =
        methods.into_iter().chain(rodas5p).map(|method| alone(system, start, method, until)).collect();
    ends.push(simulation().and_then(|run| ended(system, run.gains(Gains::uniform(2.0)).run(Method::Rk4 { h }, until))));
    ends.push(without_feedback(system, start, until));
    // Functions of the largest structs that are not optimised fill the stack of a thread in lanes.
    if system.facts().state.len() <= MOST_IN_LANES {
        ends.extend(
            [Method::Rk4 { h }, Method::Dop853 { rtol, atol: Some(atol) }]
                .map(|method| side_by_side(system, start, method))
                .concat(),
        );
    }
    ends
}

/// Where a run ends that has nothing but a method.
fn alone<S: FeedbackSystem>(system: &S, start: S::Vector<f64>, method: Method, until: f64) -> Result<Vec<u64>, String> {
    let simulation = Simulation::new(system, start).map_err(|error| error.to_string())?;
    ended(system, simulation.run(method, until))
}

/// Where a run by Heun's method ends that has neither gains nor a projection.
fn without_feedback<S: FeedbackSystem>(system: &S, start: S::Vector<f64>, until: f64) -> Result<Vec<u64>, String> {
    let simulation = Simulation::new(system, start).map_err(|error| error.to_string())?;
    ended(system, simulation.without_feedback().run(Method::Heun { h: 0.01 }, until))
}

fn ended<S: FeedbackSystem>(system: &S, run: Result<Run<S>, Error>) -> Result<Vec<u64>, String> {
    let run = run.map_err(|error| error.to_string())?;
    Ok(end(system, &run.state().into()))
}

/// Where five equal members of an ensemble end.
fn side_by_side<S: FeedbackSystem + Sync>(
    system: &S,
    start: S::Vector<f64>,
    method: Method,
) -> Vec<Result<Vec<u64>, String>> {
    let member = |end_of: &Result<Sample<S>, Error>| match end_of {
        Ok(sample) => Ok(end(system, &sample.state)),
        Err(error) => Err(error.to_string()),
    };
    match Ensemble::new(system, [start; 5]).run(method, 0.3) {
        Ok(run) => run.ends().iter().map(member).collect(),
        Err(error) => vec![Err(error.to_string())],
    }
}

/// The bits of a state, beyond which there are zeros.
fn end<S: FeedbackSystem>(system: &S, state: &S::Vector<f64>) -> Vec<u64> {
    let (own, beyond) = state.as_ref().split_at(system.facts().state.len());
    assert!(beyond.iter().all(|entry| *entry == 0.0), "{beyond:?}");
    bits(own)
}
