//! The model's side of the command: the trait `Model`.

use std::borrow::Cow;

use fbint_runtime::{Error, Event, FeedbackSystem, GeneratedSystem, OneStep, Vector};

use crate::controller::Controller;
use crate::drawing::Drawing;
use crate::scheme::Scheme;

/// The text that declares a model that was compiled.
#[derive(Clone, Debug)]
pub struct Declaration {
    /// Rust with the attribute and the struct, which no macro writes.
    pub text: Cow<'static, str>,
    /// The folder of the package that the model was compiled in. If it is still there and keeps derivations, exports follow from them.
    pub package: &'static str,
}

/// A system that the command can run.
///
/// Parameters begin at their [`Default`], which the key `default` of the attribute gives, and a run where the key `start` says; options of
/// the command change both. The command describes a model by the first paragraph of its documentation.
///
/// ```
/// use fbint_command::runtime::GeneratedSystem;
/// use fbint_command::{Model, feedback_system};
///
/// /// A mass on a spring.
/// #[feedback_system(
///     coordinates(q),
///     momenta(p),
///     hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2,
///     default(m = 1, k = 1),
///     start(q = 1, p = 0),
/// )]
/// pub struct Oscillator { pub m: f64, pub k: f64 }
///
/// impl Model for Oscillator {}
///
/// assert_eq!((Oscillator::name(), Oscillator::FACTS.summary), ("oscillator".to_owned(), "A mass on a spring."));
/// ```
#[diagnostic::on_unimplemented(
    message = "the command does not know where a run of `{Self}` starts",
    note = "write `default(..)` and `start(..)` into its attribute, and `impl fbint_command::Model for {Self} {{}}`"
)]
pub trait Model: FeedbackSystem + Sync {
    /// The start of a run with these parameters, unless options of the command set it; by default the start of the declaration's key
    /// `start`.
    ///
    /// # Errors
    ///
    /// If these parameters allow no start, such as rods that are too short, or if the declaration has no `start`.
    fn start(&self) -> Result<Self::State, Error> {
        self.declared_start().ok_or(Error::NoStart { model: self.facts().name })
    }

    /// The drawing of a state in animations; by default [its vectors as points](Drawing::of_coordinates).
    ///
    /// ```
    /// # use fbint_command::{Drawing, Error, Model, feedback_system};
    /// # /// A pendulum.
    /// # #[feedback_system(
    /// #     coordinates(angle),
    /// #     momenta(p),
    /// #     hamiltonian = p.powi(2) / (2 * m * l.powi(2)) - m * g * l * angle.cos(),
    /// # )]
    /// # pub struct Pendulum { pub m: f64, pub g: f64, pub l: f64 }
    /// # impl Default for Pendulum {
    /// #     fn default() -> Self { Self { m: 1.0, g: 9.81, l: 1.0 } }
    /// # }
    /// impl Model for Pendulum {
    /// #   fn start(&self) -> Result<PendulumState, Error> { Ok(PendulumState { angle: 1.0, p: 0.0 }) }
    ///     // ..
    ///     fn drawing(&self, state: &PendulumState) -> Drawing {
    ///         let (pivot, bob) = ([0.0, 0.0], [self.l * state.angle.sin(), -self.l * state.angle.cos()]);
    ///         Drawing::new().rod(pivot, bob).pivot(pivot).point(bob).trace(bob)
    ///     }
    /// }
    /// ```
    fn drawing(&self, state: &Self::State) -> Drawing {
        Drawing::of_coordinates(self, state)
    }

    /// The controller that gives the inputs of a driven system; without one they are 0. Members of ensembles run one by one then.
    ///
    /// ```
    /// # use fbint_command::{Controller, Error, Model, feedback_system};
    /// # /// A mass on rails with a motor.
    /// # #[feedback_system(
    /// #     coordinates(x),
    /// #     momenta(p),
    /// #     hamiltonian = p.powi(2) / (2 * m),
    /// #     input(thrust),
    /// #     force(p = thrust),
    /// # )]
    /// # pub struct Trolley { pub m: f64 }
    /// # impl Default for Trolley {
    /// #     fn default() -> Self { Self { m: 2.0 } }
    /// # }
    /// impl Model for Trolley {
    /// #   fn start(&self) -> Result<TrolleyState, Error> { Ok(TrolleyState { x: 1.0, p: 0.0, time: 0.0, work: 0.0 }) }
    ///     // ..
    ///     fn input(&self) -> Option<Controller<Self>> {
    ///         let m = self.m;
    ///         let controller = move |_: f64, state: &TrolleyState| TrolleyInput { thrust: -m * state.x - 2.0 * state.p };
    ///         Some(Controller::new(controller))
    ///     }
    /// }
    /// ```
    fn input(&self) -> Option<Controller<Self>> {
        None
    }

    /// The events of a run, as [`Simulation::event`](fbint_runtime::Simulation::event) takes them, such as impacts; by default none.
    /// Members of ensembles run one by one then.
    ///
    /// ```
    /// # use fbint_command::{Error, Event, Model, feedback_system};
    /// # /// A ball in free fall.
    /// # #[feedback_system(coordinates(height), momenta(p), hamiltonian = p.powi(2) / 2 + g * height)]
    /// # pub struct Ball { pub g: f64 }
    /// # impl Default for Ball {
    /// #     fn default() -> Self { Self { g: 9.81 } }
    /// # }
    /// impl Model for Ball {
    /// #   fn start(&self) -> Result<BallState, Error> { Ok(BallState { height: 1.0, p: 0.0 }) }
    ///     // ..
    ///     fn events(&self) -> Vec<Event<'_, BallState>> {
    ///         let floor = Event::new("floor", |_, ball: &BallState| ball.height).falling();
    ///         vec![floor.reset(|_, ball| BallState { p: -0.9 * ball.p, ..*ball })]
    ///     }
    /// }
    /// ```
    fn events(&self) -> Vec<Event<'_, Self::State>> {
        Vec::new()
    }

    /// The name on the command line; by default the name of the type in lower case, `double-pendulum` or `chain-4`.
    fn name() -> String
    where
        Self: GeneratedSystem,
    {
        lower_case(Self::FACTS.name)
    }

    /// The text that declares the model, from which it is exported by its name; by default it is not known.
    ///
    /// In a file of its own, a model has `Some(fbint_command::declaration!("pendulum.rs"))`, with the path of this file.
    fn declaration() -> Option<Declaration> {
        None
    }

    /// Geometric integrators that are made for this system, for `work-precision`, in addition to the methods of the runtime that apply.
    fn geometric_methods(&self) -> Vec<GeometricMethod<Self>> {
        Vec::new()
    }
}

/// A geometric integrator with its name.
pub type GeometricMethod<S> = (Scheme, Box<dyn OneStep<Vector<S>>>);

/// The name of a type with hyphens between its words and before numbers.
pub fn lower_case(name: &str) -> String {
    let mut lower = String::new();
    let mut before = None;
    for letter in name.chars() {
        let begins = letter.is_uppercase() || letter.is_ascii_digit();
        if begins && before.is_some_and(char::is_lowercase) {
            lower.push('-');
        }
        lower.extend(letter.to_lowercase());
        before = Some(letter);
    }
    lower
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_told_apart() {
        let cases = [("Pendulum", "pendulum"), ("FourBar", "four-bar"), ("Chain16", "chain-16"), ("CPV22", "cpv22")];
        for (name, expected) in cases {
            assert_eq!(lower_case(name), expected);
        }
    }
}
