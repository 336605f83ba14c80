//! Taylor's method on models from text against structs, whose series are generated code. Computer algebra may have shortened those, so that
//! they differ by roundings.

use fbint_catalogue::FlatModel;
use fbint_catalogue::padded::{Padded, Visitor};
use fbint_runtime::{DrivenSystem, FeedbackSystem, Linear, Method, Projection, Settings, Simulation, feedback_system};
use fbint_text::models;

/// Declares a struct, and the text of it without the key `taylor`, which texts do not need.
macro_rules! both {
    ($name:ident, $text:ident, $($declaration:tt)*) => {
        #[feedback_system($($declaration)*, taylor)]
        struct $name;
        const $text: &str = concat!("#[feedback_system(", stringify!($($declaration)*), ")] struct ", stringify!($name), ";");
    };
}

both!(
    Star,
    STAR,
    coordinates(x, y),
    momenta(u, v),
    hamiltonian = (u.powi(2) + v.powi(2) + x.powi(2) + y.powi(2)) / 2 + x.powi(2) * y - y.powi(3) / 3,
    start(x = 0.1, y = 0.2, u = 0.3, v = 0.1)
);
both!(Bob, BOB, coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / 2 + q.z,
    constraint(length = q.norm_squared() - 1), start(q = vector![0, 1, 0], p = vector![1, 0, 1]));
both!(
    Functions,
    FUNCTIONS,
    state(x, y),
    dynamics(
        x = y.sin() * x.cos() - y.tan().tanh() + (x + 2).powf(1.7) / (1 + y.powi(2)) - x.exp() / 3,
        y = (x / 9).asin() - x.atan() + (2 + x).ln() * y.sinh() / y.cosh() + y.atan2(x + 2) - (2 + y).powf(x / 3)
    ),
    start(x = 0.1, y = 0.2)
);
both!(Line, LINE, state(x, y), dynamics(x = 1, y = 2 * x), start(x = 0, y = 0));

/// The end of a run, and the number of its steps.
fn end<S: FeedbackSystem>(system: &S, start: S::Vector<f64>, projection: Option<Projection>) -> (Vec<f64>, u64) {
    let method = Method::Taylor { tolerance: 1e-15 };
    let settings = Settings { projection, ..Settings::new(method, 0.5) };
    let run = Simulation::new(system, start).unwrap().run_with(&settings).unwrap();
    let state: S::Vector<f64> = run.state().into();
    (state.as_ref()[..system.facts().state.len()].to_vec(), run.steps())
}

/// The end of a model from text.
struct Ends(Vec<f64>, Option<Projection>);

impl Visitor for Ends {
    type Output = (Vec<f64>, u64);

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
        let start = std::array::from_fn(|entry| self.0.get(entry).copied().unwrap_or(0.0));
        end(&model, start, self.1)
    }
}

fn assert_same<S: FeedbackSystem>(system: &S, text: &str) {
    for projection in [None, Some(Projection::default())] {
        let model = models(text).unwrap().remove(0);
        let start = model.start().unwrap();
        let of_text = crate::shipped::visit(Box::new(model), Ends(start.clone(), projection));
        let of_struct = end(system, system.declared_start().unwrap().into(), projection);
        assert_eq!(of_text.1, of_struct.1, "{text}");
        let mut pairs = of_text.0.iter().zip(&of_struct.0);
        assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-13), "{text}: {of_text:?} {of_struct:?}");
    }
}

#[test]
fn runs_are_those_of_structs() {
    assert_same(&Star, STAR);
    assert_same(&Bob, BOB);
    assert_same(&Functions, FUNCTIONS);
    assert_same(&Line, LINE);
}

both!(
    Steered,
    STEERED,
    state(x, v),
    input(wind, lever),
    time(t),
    dynamics(x = v, v = -x + (wind - v).sin() + lever.max(0) / (2 + x.cos()) - lever.powi(2) * v / 9),
    event(level = x - lever),
    start(x = 0.5, v = 0)
);

/// The end under a linear table whose rows `input` makes, with the times of events, and the number of steps.
fn driven<S: DrivenSystem>(system: &S, start: S::Vector<f64>, input: impl Fn([f64; 2]) -> S::Input) -> (Vec<f64>, u64)
where
    S::Inputs<f64>: Into<S::Input>,
{
    let rows = [(0.0, [1.0, -1.0]), (1.5, [-2.0, 1.0]), (2.0, [0.5, 0.75])].map(|(time, row)| (time, input(row)));
    let table = Linear::new(rows, 4.0).unwrap();
    let run =
        Simulation::new(system, start).unwrap().input(table).run(Method::Taylor { tolerance: 1e-15 }, 3.0).unwrap();
    let state: S::Vector<f64> = run.state().into();
    let times = run.events().iter().map(|event| event.time);
    (state.as_ref()[..system.facts().state.len()].iter().copied().chain(times).collect(), run.steps())
}

#[test]
fn linear_inputs_are_those_of_structs() {
    struct OfText;
    impl Visitor for OfText {
        type Output = (Vec<f64>, u64);
        fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
            let padded = |own: &[f64]| std::array::from_fn(|entry| own.get(entry).copied().unwrap_or(0.0));
            driven(&model, padded(&[0.5]), |row| padded(&row))
        }
    }
    let of_text = crate::shipped::visit(Box::new(models(STEERED).unwrap().remove(0)), OfText);
    let of_struct =
        driven(&Steered, Steered.declared_start().unwrap().into(), |[wind, lever]| SteeredInput { wind, lever });
    assert!(of_text.0.len() > 3 && of_text.0.len() == of_struct.0.len(), "{of_text:?} {of_struct:?}");
    assert_eq!(of_text.1, of_struct.1);
    assert!(of_text.0.iter().zip(&of_struct.0).all(|(a, b)| (a - b).abs() < 1e-13), "{of_text:?} {of_struct:?}");
}

both!(
    Loose,
    LOOSE,
    state(x, v),
    dynamics(x = v, v = -x.max(0) - (v.abs() - 1 / 2).max(0) * v / 3),
    event(fast = v.powi(2) - 1),
    start(x = 1, v = 2)
);

/// Steps that end where something switches, and events by their series.
#[test]
fn switches_and_events_are_those_of_structs() {
    assert_same(&Loose, LOOSE);
    struct Events;
    impl Visitor for Events {
        type Output = Vec<f64>;
        fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Vec<f64> {
            times(&model, std::array::from_fn(|entry| [1.0, 2.0].get(entry).copied().unwrap_or(0.0)))
        }
    }
    fn times<S: FeedbackSystem>(system: &S, start: S::Vector<f64>) -> Vec<f64> {
        let run = Simulation::new(system, start).unwrap().run(Method::Taylor { tolerance: 1e-15 }, 5.0).unwrap();
        run.events().iter().map(|event| event.time).collect()
    }
    let of_text = crate::shipped::visit(Box::new(models(LOOSE).unwrap().remove(0)), Events);
    let of_struct = times(&Loose, Loose.declared_start().unwrap().into());
    assert!(of_text.len() >= 2 && of_text.len() == of_struct.len(), "{of_text:?} {of_struct:?}");
    assert!(of_text.iter().zip(&of_struct).all(|(a, b)| (a - b).abs() < 1e-12), "{of_text:?} {of_struct:?}");
}
