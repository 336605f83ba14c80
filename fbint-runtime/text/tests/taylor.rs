//! Taylor's method on models from text against structs, whose series are generated code. Computer algebra may have shortened those, so that
//! they differ by roundings.

use fbint_catalogue::FlatModel;
use fbint_catalogue::padded::{Padded, Visitor};
use fbint_runtime::{
    DrivenSystem, Error, FeedbackSystem, Linear, Method, Projection, Settings, Simulation, feedback_system,
};
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
both!(
    Spring,
    SPRING,
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + (q.norm() - 0.25).powi(2) / 2,
    start(q = vector![0.6, 0.8], p = vector![0, 0])
);
both!(Line, LINE, state(x, y), dynamics(x = 1, y = 2 * x), start(x = 0, y = 0));

/// The end of a run until a time, and the number of its steps.
fn end<S: FeedbackSystem>(system: &S, start: S::Vector<f64>, (projection, until): Plan) -> (Vec<f64>, u64) {
    let method = Method::Taylor { tolerance: 1e-15 };
    let settings = Settings { projection, ..Settings::new(method, until) };
    let run = Simulation::new(system, start).unwrap().run_with(&settings).unwrap();
    let state: S::Vector<f64> = run.state().into();
    (state.as_ref()[..system.facts().state.len()].to_vec(), run.steps())
}

/// The projection and the end of a run.
type Plan = (Option<Projection>, f64);

/// The end of a model from text.
struct Ends(Vec<f64>, Plan);

impl Visitor for Ends {
    type Output = (Vec<f64>, u64);

    fn visit<const N: usize, const M: usize>(self, model: Padded<N, M>) -> Self::Output {
        let start = std::array::from_fn(|entry| self.0.get(entry).copied().unwrap_or(0.0));
        end(&model, start, self.1)
    }
}

fn assert_same<S: FeedbackSystem>(system: &S, text: &str, until: f64) {
    for projection in [None, Some(Projection::default())] {
        let model = models(text).unwrap().remove(0);
        let start = model.start().unwrap();
        let of_text = crate::shipped::visit(Box::new(model), Ends(start.clone(), (projection, until)));
        let of_struct = end(system, system.declared_start().unwrap().into(), (projection, until));
        assert_eq!(of_text.1, of_struct.1, "{text}");
        let mut pairs = of_text.0.iter().zip(&of_struct.0);
        assert!(pairs.all(|(a, b)| (a - b).abs() < 1e-13), "{text}: {of_text:?} {of_struct:?}");
    }
}

#[test]
fn runs_are_those_of_structs() {
    assert_same(&Star, STAR, 0.5);
    assert_same(&Bob, BOB, 0.5);
    assert_same(&Functions, FUNCTIONS, 0.5);
    assert_same(&Line, LINE, 0.5);
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
    assert_same(&Loose, LOOSE, 0.5);
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

/// A mass on a spring of length 1/4 passes the point to which the spring is fixed, where its force turns around. Up to there its distance is
/// 1/4 + 3/4 cos t, and what follows is the same backwards, on the other side.
#[test]
fn lengths_that_vanish_end_a_step() {
    let until = 2.0 * (-1.0_f64 / 3.0).acos();
    let settings = Settings::new(Method::Taylor { tolerance: 1e-15 }, until);
    let run = Simulation::new(&Spring, SpringState { q: [0.6, 0.8].into(), p: [0.0; 2].into() })
        .unwrap()
        .run_with(&settings)
        .unwrap();
    assert!(
        (run.state().q + nalgebra::vector![0.6, 0.8]).norm() < 1e-12 && run.state().p.norm() < 1e-12,
        "{:?}",
        run.state()
    );
    let model = models(SPRING).unwrap().remove(0);
    let start = model.start().unwrap();
    let (end, _) = crate::shipped::visit(Box::new(model), Ends(start.clone(), (None, until)));
    assert!(end.iter().zip(start).take(2).all(|(end, start)| (end + start).abs() < 1e-12), "{end:?}");
}

#[feedback_system(
    coordinates(q: [2]),
    velocities(v: [2]),
    lagrangian = v.norm_squared() / 2,
    force(v = -v / v.norm()),
    taylor,
)]
struct Puck;

/// Friction brings a puck to rest at t = 1. Its direction is unknown there, so that no step is short enough: none passes that point.
#[test]
fn a_step_does_not_pass_a_direction_that_vanishes() {
    let start = PuckState { q: [0.0; 2].into(), v: [0.6, 0.8].into(), work: 0.0 };
    for projection in [None, Some(Projection::default())] {
        let settings = Settings { projection, ..Settings::new(Method::Taylor { tolerance: 1e-12 }, 2.0) };
        let error = Simulation::new(&Puck, start).unwrap().run_with(&settings).unwrap_err();
        let Error::Failed(failed) = error else { panic!("{error}") };
        assert!((failed.last_time - 1.0).abs() < 1e-9, "{}", failed.last_time);
    }
}
