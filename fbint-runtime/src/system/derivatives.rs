//! Derivatives of the generated functions with respect to the state, the parameters and the inputs.

use derive_where::derive_where;

use crate::numbers::entries::{Entries, Entry};
use crate::numbers::scalar::Scalar;
use crate::system::traits::{GeneratedSystem, Integrals, PreparedSystem, Vector};

/// A system whose derivatives are generated, too: of X, of the field with feedback, of F and of the declared outputs.
///
/// Implemented by `#[feedback_system]` where a declaration has the key `derivatives`, not by hand. Each function f gets
///
/// | | | |
/// |---|---|---|
/// | `f_tangent` | f and Df v, the derivative along a direction v | 2.2 to 3 times the operations of f |
/// | `f_state_tangent` | this along a direction of the state alone | 2.1 to 2.9 times |
/// | `f_adjoint` | `Df^T w`, the derivatives of w . f by all unknowns | 1.9 to 3.8 times |
/// | `f_derivatives` | the entries of Df that do not vanish identically; `F_PATTERN` says which these are | |
///
/// The first of two results of a tangent is the value of f, bit by bit where f takes no feedback law.
///
/// D takes derivatives by every entry of the state, of the parameters and of the inputs. They belong to the generated code, and the
/// compiler checks them like it: no difference quotient takes part. A function that is not differentiable in a state, as |x| in 0, has
/// derivatives there that are not numbers.
///
/// ```
/// use fbint_runtime::{DifferentiableSystem, Direction, FeedbackSystem, feedback_system};
///
/// /// A pendulum in its angle.
/// #[feedback_system(
///     coordinates(angle),
///     momenta(p),
///     hamiltonian = p.powi(2) / (2 * m * l.powi(2)) - m * g * l * angle.cos(),
///     derivatives,
/// )]
/// pub struct Pendulum { pub m: f64, pub g: f64, pub l: f64 }
///
/// let pendulum = Pendulum { m: 2.0, g: 9.81, l: 0.5 }.prepare();
/// let x = [0.3, 0.1];
///
/// // How the field changes with the angle and with the length.
/// let mut direction = Direction::<Pendulum>::zero();
/// direction.state[0] = 1.0;
/// direction.parameters[2] = 1.0;
/// let (field, change) = Pendulum::vector_field_tangent(&pendulum, &x, &direction.prepare(&pendulum));
/// assert!((field[1] + 2.0 * 9.81 * 0.5 * 0.3_f64.sin()).abs() < 1e-14);
/// assert!((change[1] + 2.0 * 9.81 * (0.5 * 0.3_f64.cos() + 0.3_f64.sin())).abs() < 1e-14);
///
/// // The same change of the second rate, from its derivatives by everything.
/// let gradient = Pendulum::vector_field_adjoint(&pendulum, &x, &[0.0, 1.0]);
/// assert!((gradient.along(&direction) - change[1]).abs() < 1e-14);
///
/// // d p' / d angle, by its row and its column.
/// let entries = Pendulum::vector_field_derivatives(&pendulum, &x);
/// let place = Pendulum::VECTOR_FIELD_PATTERN.iter().position(|entry| *entry == (1, 0)).unwrap();
/// assert!((entries[place] + 2.0 * 9.81 * 0.5 * 0.3_f64.cos()).abs() < 1e-14);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no generated derivatives",
    label = "its declaration lacks the key `derivatives`",
    note = "add `derivatives` to its `#[feedback_system(..)]`"
)]
pub trait DifferentiableSystem: GeneratedSystem {
    /// An array with an entry for each parameter, see [`parameter_names`](crate::SystemFacts::parameter_names).
    type ByParameters<T: Entry>: Entries<T>;
    /// An array with an entry for each input, see [`input_names`](crate::SystemFacts::input_names); none where the system has none.
    type ByInputs<T: Entry>: Entries<T>;

    /// An array with an entry for each number that depends on parameters alone and that derivatives along a direction read.
    type ByPrepared<T: Entry>: Entries<T>;
    /// The change of these numbers along a direction of the parameters; see [`Direction::prepare`].
    fn prepare_direction<T: Scalar>(
        system: &Self::Prepared<T>,
        direction: &Self::ByParameters<T>,
    ) -> Self::ByPrepared<T>;

    /// X and DX v.
    fn vector_field_tangent<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        direction: &PreparedDirection<Self, T>,
    ) -> (Vector<Self, T>, Vector<Self, T>);
    /// X and DX v for a direction v of the state alone, in fewer operations.
    fn vector_field_state_tangent<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        direction: &Vector<Self, T>,
    ) -> (Vector<Self, T>, Vector<Self, T>);
    /// DX^T w.
    fn vector_field_adjoint<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        weights: &Vector<Self, T>,
    ) -> Gradient<Self, T>;
    /// The type of [`vector_field_derivatives`](Self::vector_field_derivatives).
    type VectorFieldDerivatives<T: Entry>: Entries<T>;
    /// The row and the column of each entry of [`vector_field_derivatives`](Self::vector_field_derivatives), row by row. A row is an
    /// entry of the field; columns count the entries of the state, then the parameters, then the inputs.
    const VECTOR_FIELD_PATTERN: &'static [(usize, usize)];
    /// The entries of DX that do not vanish identically.
    fn vector_field_derivatives<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
    ) -> Self::VectorFieldDerivatives<T>;

    /// The field with feedback, X - DF^T K (F - F_target), and its derivative along a direction, for a constant diagonal K: `gains`
    /// has its entries with the integrals' weights multiplied in, `targets` is F_target. Both are held.
    fn feedback_field_tangent<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        gains: &Integrals<Self, T>,
        targets: &Integrals<Self, T>,
        direction: &PreparedDirection<Self, T>,
    ) -> (Vector<Self, T>, Vector<Self, T>);
    /// The tangent along a direction of the state alone, in fewer operations.
    fn feedback_field_state_tangent<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        gains: &Integrals<Self, T>,
        targets: &Integrals<Self, T>,
        direction: &Vector<Self, T>,
    ) -> (Vector<Self, T>, Vector<Self, T>);
    /// The transposed Jacobian of the field with feedback times `weights`, with gains and targets as in
    /// [`feedback_field_tangent`](Self::feedback_field_tangent).
    fn feedback_field_adjoint<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        gains: &Integrals<Self, T>,
        targets: &Integrals<Self, T>,
        weights: &Vector<Self, T>,
    ) -> Gradient<Self, T>;
    /// The type of [`feedback_field_derivatives`](Self::feedback_field_derivatives).
    type FeedbackFieldDerivatives<T: Entry>: Entries<T>;
    /// As [`VECTOR_FIELD_PATTERN`](Self::VECTOR_FIELD_PATTERN), for
    /// [`feedback_field_derivatives`](Self::feedback_field_derivatives).
    const FEEDBACK_FIELD_PATTERN: &'static [(usize, usize)];
    /// The entries of the Jacobian of the field with feedback that do not vanish identically, with gains and targets as in
    /// [`feedback_field_tangent`](Self::feedback_field_tangent).
    fn feedback_field_derivatives<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        gains: &Integrals<Self, T>,
        targets: &Integrals<Self, T>,
    ) -> Self::FeedbackFieldDerivatives<T>;

    /// F and DF v.
    fn integrals_tangent<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        direction: &PreparedDirection<Self, T>,
    ) -> (Integrals<Self, T>, Integrals<Self, T>);
    /// DF^T w.
    fn integrals_adjoint<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        weights: &Integrals<Self, T>,
    ) -> Gradient<Self, T>;
    /// The type of [`integrals_derivatives`](Self::integrals_derivatives).
    type IntegralsDerivatives<T: Entry>: Entries<T>;
    /// As [`VECTOR_FIELD_PATTERN`](Self::VECTOR_FIELD_PATTERN), for [`integrals_derivatives`](Self::integrals_derivatives): a row is
    /// an integral.
    const INTEGRALS_PATTERN: &'static [(usize, usize)];
    /// The entries of DF that do not vanish identically.
    fn integrals_derivatives<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
    ) -> Self::IntegralsDerivatives<T>;

    /// The declared outputs, and their derivatives along a direction.
    fn outputs_tangent<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        direction: &PreparedDirection<Self, T>,
    ) -> (Self::Outputs<T>, Self::Outputs<T>);
    /// The transposed Jacobian of the outputs times `weights`.
    fn outputs_adjoint<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        weights: &Self::Outputs<T>,
    ) -> Gradient<Self, T>;
    /// The type of [`outputs_derivatives`](Self::outputs_derivatives).
    type OutputsDerivatives<T: Entry>: Entries<T>;
    /// As [`VECTOR_FIELD_PATTERN`](Self::VECTOR_FIELD_PATTERN), for [`outputs_derivatives`](Self::outputs_derivatives): a row is an
    /// output.
    const OUTPUTS_PATTERN: &'static [(usize, usize)];
    /// The entries of the Jacobian of the outputs that do not vanish identically.
    fn outputs_derivatives<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Self::OutputsDerivatives<T>;

    /// The inputs by their laws, and their derivatives along a direction: those of the direction, where inputs have no laws.
    fn law_tangent<T: Scalar>(
        _system: &Self::Prepared<T>,
        _x: &Vector<Self, T>,
        direction: &PreparedDirection<Self, T>,
    ) -> (Self::ByInputs<T>, Self::ByInputs<T>) {
        (Entries::from_fn(|_| T::from_f64(0.0)), direction.inputs)
    }
    /// The transposed Jacobian of the inputs by their laws times `weights`.
    fn law_adjoint<T: Scalar>(
        _system: &Self::Prepared<T>,
        _x: &Vector<Self, T>,
        weights: &Self::ByInputs<T>,
    ) -> Gradient<Self, T> {
        let zero = T::from_f64(0.0);
        Gradient { state: Entries::from_fn(|_| zero), parameters: Entries::from_fn(|_| zero), inputs: *weights }
    }

    /// The vector that a projection subtracts from a state, d = S DF^T (DF S DF^T + R)^-1 (F - F_target), see
    /// [`Projector`](crate::Projector), and its derivative along a direction in which the diagonal of S (`variances`) and F_target change,
    /// too. R (`noise`) is held.
    #[expect(clippy::too_many_arguments, reason = "each is an argument of the projection, or its change")]
    fn projection_tangent<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        variances: &Vector<Self, T>,
        noise: &Integrals<Self, T>,
        targets: &Integrals<Self, T>,
        direction: &PreparedDirection<Self, T>,
        variances_direction: &Vector<Self, T>,
        targets_direction: &Integrals<Self, T>,
    ) -> (Vector<Self, T>, Vector<Self, T>);
    /// The derivatives of `weights` . d by the state, the parameters, the inputs, the diagonal of S and F_target, with d as in
    /// [`projection_tangent`](Self::projection_tangent).
    fn projection_adjoint<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        variances: &Vector<Self, T>,
        noise: &Integrals<Self, T>,
        targets: &Integrals<Self, T>,
        weights: &Vector<Self, T>,
    ) -> ProjectionGradient<Self, T>;
}

/// A change of the state, of the parameters and of the inputs: the direction along which a tangent is taken.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Direction<S: DifferentiableSystem, T: Scalar = f64> {
    /// The change of each entry of the state.
    pub state: Vector<S, T>,
    /// The change of each parameter.
    pub parameters: S::ByParameters<T>,
    /// The change of each input.
    pub inputs: S::ByInputs<T>,
}

/// A [`Direction`] with what its change of the parameters changes in a prepared system.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct PreparedDirection<S: DifferentiableSystem, T: Scalar = f64> {
    /// The change of each entry of the state.
    pub state: Vector<S, T>,
    /// The change of what depends on parameters alone.
    pub prepared: S::ByPrepared<T>,
    /// The change of each input.
    pub inputs: S::ByInputs<T>,
}

/// Derivatives of what a projection subtracts from a state.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct ProjectionGradient<S: DifferentiableSystem, T: Scalar = f64> {
    /// The derivatives by the state, the parameters and the inputs.
    pub unknowns: Gradient<S, T>,
    /// The derivative by each entry of the diagonal of S.
    pub variances: Vector<S, T>,
    /// The derivative by each entry of F_target.
    pub targets: Integrals<S, T>,
}

/// Derivatives by the entries of the state, by the parameters and by the inputs.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Gradient<S: DifferentiableSystem, T: Scalar = f64> {
    /// The derivative by each entry of the state.
    pub state: Vector<S, T>,
    /// The derivative by each parameter.
    pub parameters: S::ByParameters<T>,
    /// The derivative by each input.
    pub inputs: S::ByInputs<T>,
}

impl<S: DifferentiableSystem, T: Scalar> Direction<S, T> {
    /// No change.
    pub fn zero() -> Self {
        let zero = T::from_f64(0.0);
        Self {
            state: Entries::from_fn(|_| zero),
            parameters: Entries::from_fn(|_| zero),
            inputs: Entries::from_fn(|_| zero),
        }
    }

    /// A change of the state alone.
    pub fn of_state(state: Vector<S, T>) -> Self {
        Self { state, ..Self::zero() }
    }

    /// The direction as derivatives of this system take it. The effect of the parameters is computed here, once for all states.
    pub fn prepare(&self, system: &S::Prepared<T>) -> PreparedDirection<S, T> {
        PreparedDirection {
            state: self.state,
            prepared: S::prepare_direction(system, &self.parameters),
            inputs: self.inputs,
        }
    }
}

impl<S: DifferentiableSystem, T: Scalar> Gradient<S, T> {
    /// The derivative along a direction: the sum of the derivatives by all unknowns, each times the change of that unknown.
    pub fn along(&self, direction: &Direction<S, T>) -> T {
        let of_state = dot(&self.state, &direction.state);
        let of_parameters = dot(&self.parameters, &direction.parameters);
        of_state + (of_parameters + dot(&self.inputs, &direction.inputs))
    }
}

fn dot<V: Entries<T>, T: Scalar>(a: &V, b: &V) -> T {
    (0..V::LEN).fold(T::from_f64(0.0), |sum, i| a[i].mul_add(b[i], sum))
}

/// [`PreparedSystem::jacobian`] of a system whose derivatives are generated.
#[doc(hidden)]
pub fn jacobian<S: DifferentiableSystem, T: Scalar>(
    system: &S::Prepared<T>,
    x: &Vector<S, T>,
    feedback: Option<[&Integrals<S, T>; 2]>,
    add: &mut dyn FnMut(usize, usize, T),
) -> bool {
    let (states, parameters) = (system.facts().state.len(), system.facts().parameter_names.len());
    let mut add_all = |pattern: &[(usize, usize)], entries: &[T]| {
        for (&(row, column), &value) in pattern.iter().zip(entries) {
            match column.checked_sub(states) {
                None => add(row, column, value),
                Some(other) if other >= parameters => add(row, column - parameters, value),
                Some(_) => {}
            }
        }
    };
    match feedback {
        None => add_all(S::VECTOR_FIELD_PATTERN, S::vector_field_derivatives(system, x).as_ref()),
        Some([gains, targets]) => {
            add_all(S::FEEDBACK_FIELD_PATTERN, S::feedback_field_derivatives(system, x, gains, targets).as_ref());
        }
    }
    true
}
