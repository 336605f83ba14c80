//! Fields that switch, sampled laws and families in texts, against structs of the same declarations and closed forms.

use std::ops::ControlFlow;

use fbint_catalogue::padded::{Padded, Visitor};
use fbint_catalogue::{AnyModel, Entry, Feedback, FlatModel, Plan};
use fbint_runtime::{FeedbackSystem, GaussStages, Method, Settings, Simulation, feedback_system};
use fbint_text::{entries, models};

/// Declares a struct, and the text of it.
macro_rules! both {
    ($name:ident, $text:ident, $($declaration:tt)*) => {
        #[feedback_system($($declaration)*, derivatives)]
        struct $name;
        const $text: &str =
            concat!("#[feedback_system(", stringify!($($declaration)*), ", derivatives)] struct ", stringify!($name), ";");
    };
}

both!(
    Rubbed,
    RUBBED,
    coordinates(x),
    momenta(p),
    time(t),
    hamiltonian = (p.powi(2) + x.powi(2)) / 2,
    force(p = -p.signum() + 2 * (t - 1).max(0).min(2) + if x > 1 { x - 1 } else { x.abs() / 8 }),
    start(x = 5.5, p = 0)
);
both!(
    Steered,
    STEERED,
    coordinates(x),
    momenta(p),
    hamiltonian = p.powi(2) / 2,
    input(thrust = (-4 * x - 4 * rate(x)).clamp(-1, 1), every = 1 / 16, delay = 1),
    force(p = thrust),
    event(braking = thrust, falling),
    start(x = -2, p = 0)
);
both!(
    Family,
    FAMILY,
    coordinates(q: [3]),
    momenta(p: [3]),
    define(place[i in 0..3] = q[i] - i),
    hamiltonian = p.norm_squared() / 2,
    input(pull[i in 0..3] = -place[i] - 2 * rate(q)[i]),
    force(p = pull),
    event(arrived[i in 0..3] = place[i] - 0.1, falling),
    start(q = vector![1, 2, 3], p = vector![0, 0, 0])
);

const METHODS: [Method; 5] = [
    Method::Rk4 { h: 1e-2 },
    Method::Dop853 { rtol: 1e-12, atol: None },
    Method::DormandPrince { rtol: 1e-9, atol: None },
    Method::Gauss { stages: GaussStages::Two, h: 1e-2 },
    Method::Rodas5P { rtol: 1e-9, atol: None },
];

/// The end of a run, the number of its steps, and the times of its events.
fn end<S: FeedbackSystem>(system: &S, start: S::Vector<f64>, method: Method) -> (Vec<f64>, u64, Vec<f64>) {
    let run = Simulation::new(system, start).unwrap().run(method, 3.0).unwrap();
    let state: S::Vector<f64> = run.state().into();
    let times = run.events().iter().map(|event| event.time).collect();
    (state.as_ref()[..system.facts().state.len()].to_vec(), run.steps(), times)
}

/// The end of a model from text.
struct Ends(Vec<f64>, Method);

impl Visitor for Ends {
    type Output = (Vec<f64>, u64, Vec<f64>);

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
        let start = std::array::from_fn(|entry| self.0.get(entry).copied().unwrap_or(0.0));
        end(&model, start, self.1)
    }
}

fn assert_same<S: FeedbackSystem>(system: &S, text: &str) {
    for method in METHODS {
        let model = models(text).unwrap_or_else(|mistakes| panic!("{mistakes}")).remove(0);
        let start = model.start().unwrap();
        let of_text = crate::shipped::visit(Box::new(model), Ends(start, method));
        let of_struct = end(system, system.declared_start().unwrap().into(), method);
        assert_eq!(of_text, of_struct, "{method:?}: {text}");
    }
}

#[test]
fn runs_are_those_of_structs() {
    assert_same(&Rubbed, RUBBED);
    assert_same(&Steered, STEERED);
    assert_same(&Family, FAMILY);
}

#[test]
fn facts_of_texts_name_switches_and_samples() {
    let model = models(STEERED).unwrap().remove(0);
    assert_eq!((model.facts().switches, model.facts().law_delay), (Steered.facts().switches, Some(1)));
    assert_eq!(model.law_period(), 1.0 / 16.0);
}

/// Ensembles of texts run member by member where steps end at switches.
#[test]
fn a_text_comes_to_rest_by_friction() {
    let text = "#[feedback_system(coordinates(x), momenta(p), hamiltonian = (p.powi(2) + x.powi(2)) / 2, force(p = -p.signum()),
        start(x = 5.5, p = 0))] struct Rubbed;";
    let entries: Vec<Entry> = entries(text, &mut |_| ControlFlow::Continue(())).unwrap();
    let model: Box<dyn AnyModel> = (entries[0].load)();
    for method in [METHODS[0], METHODS[1]] {
        let plan = Plan::new(Settings::new(method, 30.0), Feedback::None);
        let run = model.run(&model.start().unwrap(), &plan, None, &mut |_| ControlFlow::Continue(())).unwrap();
        assert!((run.state[0] - 0.5).abs() < 1e-9 && run.state[1].abs() < 1e-12, "{method:?}: {:?}", run.state);
    }
}
