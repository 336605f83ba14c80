//! The derivatives that are generated where they are declared.

use super::description::{Argument, Expected, GeneratedFunction, Returns, Rows, Trait, functions};
use crate::derivation::table::Id;
use crate::program::build::fields::{self, FunctionParts};
use crate::program::build::projection;
use crate::program::code::{Builder, Input, Program};
use crate::program::derivatives::{Derivative, copy};

/// The expected derivative of numbers of any type.
macro_rules! derivative {
    ($derivative:ident, $of:expr) => {
        Expected::Derivative { derivative: Derivative::$derivative, in_doubles: $of, precisely: $of }
    };
}

functions! {
    /// The derivatives that are generated where they are declared.
    DERIVATIVES: 16 of Trait::Differentiable;

    /// `vector_field`, and its derivative along a direction.
    VECTOR_FIELD_TANGENT: vector_field_tangent(Argument::Direction) -> Returns::Tangent(Rows::States),
        fields::vector_field, derivative!(Tangent, |oracle| oracle.vector_field());

    /// `vector_field`, and its derivative along a direction of the state.
    VECTOR_FIELD_STATE_TANGENT: vector_field_state_tangent(Argument::StateDirection) -> Returns::Tangent(Rows::States),
        fields::vector_field, derivative!(StateTangent, |oracle| oracle.vector_field());

    /// The transposed Jacobian of `vector_field`, times weights.
    VECTOR_FIELD_ADJOINT: vector_field_adjoint(Argument::Weights(Rows::States)) -> Returns::Gradient,
        fields::vector_field, derivative!(Adjoint, |oracle| oracle.vector_field());

    /// The entries of the Jacobian of `vector_field` that do not vanish identically.
    VECTOR_FIELD_DERIVATIVES: vector_field_derivatives() -> Returns::Derivatives(Rows::States),
        fields::vector_field, derivative!(Jacobian, |oracle| oracle.vector_field());

    /// `feedback_field`, and its derivative along a direction.
    FEEDBACK_FIELD_TANGENT: feedback_field_tangent(Argument::Gains, Argument::Targets, Argument::Direction) -> Returns::Tangent(Rows::States),
        feedback_field, derivative!(Tangent, |oracle| oracle.feedback_field());

    /// `feedback_field`, and its derivative along a direction of the state.
    FEEDBACK_FIELD_STATE_TANGENT: feedback_field_state_tangent(Argument::Gains, Argument::Targets, Argument::StateDirection) -> Returns::Tangent(Rows::States),
        feedback_field, derivative!(StateTangent, |oracle| oracle.feedback_field());

    /// The transposed Jacobian of `feedback_field`, times weights.
    FEEDBACK_FIELD_ADJOINT: feedback_field_adjoint(Argument::Gains, Argument::Targets, Argument::Weights(Rows::States)) -> Returns::Gradient,
        feedback_field, derivative!(Adjoint, |oracle| oracle.feedback_field());

    /// The entries of the Jacobian of `feedback_field` that do not vanish identically.
    FEEDBACK_FIELD_DERIVATIVES: feedback_field_derivatives(Argument::Gains, Argument::Targets) -> Returns::Derivatives(Rows::States),
        feedback_field, derivative!(Jacobian, |oracle| oracle.feedback_field());

    /// `integrals`, and its derivative along a direction.
    INTEGRALS_TANGENT: integrals_tangent(Argument::Direction) -> Returns::Tangent(Rows::Integrals),
        fields::integrals, derivative!(Tangent, |oracle| oracle.integrals().rows().cloned().collect());

    /// The transposed Jacobian of `integrals`, times weights.
    INTEGRALS_ADJOINT: integrals_adjoint(Argument::Weights(Rows::Integrals)) -> Returns::Gradient,
        fields::integrals, derivative!(Adjoint, |oracle| oracle.integrals().rows().cloned().collect());

    /// The entries of the Jacobian of `integrals` that do not vanish identically.
    INTEGRALS_DERIVATIVES: integrals_derivatives() -> Returns::Derivatives(Rows::Integrals),
        fields::integrals, derivative!(Jacobian, |oracle| oracle.integrals().rows().cloned().collect());

    /// `outputs`, and its derivative along a direction.
    OUTPUTS_TANGENT: outputs_tangent(Argument::Direction) -> Returns::Tangent(Rows::Outputs),
        fields::outputs, derivative!(Tangent, |oracle| oracle.outputs());

    /// The transposed Jacobian of `outputs`, times weights.
    OUTPUTS_ADJOINT: outputs_adjoint(Argument::Weights(Rows::Outputs)) -> Returns::Gradient,
        fields::outputs, derivative!(Adjoint, |oracle| oracle.outputs());

    /// The entries of the Jacobian of `outputs` that do not vanish identically.
    OUTPUTS_DERIVATIVES: outputs_derivatives() -> Returns::Derivatives(Rows::Outputs),
        fields::outputs, derivative!(Jacobian, |oracle| oracle.outputs());

    /// `projection` of F - F_target, and its derivative along a direction in which S and F_target change, too. R is held.
    PROJECTION_TANGENT: projection_tangent(
        Argument::Variances,
        Argument::Noise,
        Argument::Targets,
        Argument::Direction,
        Argument::VariancesDirection,
        Argument::TargetsDirection
    ) -> Returns::Tangent(Rows::States),
        projection, derivative!(Tangent, |oracle| oracle.projection());

    /// The derivatives of w . `projection` by everything that it depends on but R.
    PROJECTION_ADJOINT: projection_adjoint(
        Argument::Variances,
        Argument::Noise,
        Argument::Targets,
        Argument::Weights(Rows::States)
    ) -> Returns::ProjectionGradient,
        projection, derivative!(Adjoint, |oracle| oracle.projection());
}

functions! {
    /// The derivatives that are generated besides where inputs have laws.
    LAW_DERIVATIVES: 2 of Trait::Differentiable;

    /// `law`, and its derivative along a direction.
    LAW_TANGENT: law_tangent(Argument::Direction) -> Returns::Tangent(Rows::Inputs),
        fields::laws, derivative!(Tangent, |oracle| oracle.values(&oracle.derivation.laws));

    /// The transposed Jacobian of `law`, times weights.
    LAW_ADJOINT: law_adjoint(Argument::Weights(Rows::Inputs)) -> Returns::Gradient,
        fields::laws, derivative!(Adjoint, |oracle| oracle.values(&oracle.derivation.laws));
}

/// S DF^T (DF S DF^T + e D + R)^-1 (F - F_target)
fn projection(parts: &FunctionParts<'_>) -> Program {
    let mut builder = Builder::default();
    let outputs = copy(&mut builder, &projection::projection(parts), |builder, id, integral| {
        let target = builder.input(Input::Target(id));
        builder.sub(integral, target)
    });
    builder.finish(outputs)
}

/// X - grad V where y_i = k_i (F_i - t_i) with given numbers k_i and t_i: the law asks and answers in normalised forms, F = scale (f +
/// offset) and `factor` times y.
fn feedback_field(parts: &FunctionParts<'_>) -> Program {
    let mut builder = Builder::default();
    let normalisation = copy(&mut builder, &fields::normalisation(parts), |_, _, form| form);
    let outputs = copy(&mut builder, &fields::feedback_field(parts), |builder, id, form| {
        let [factor, scale, offset] = [0, 1, 2].map(|column| normalisation[3 * id.place() + column]);
        let [gain, target] = [Input::Gain(id), Input::Target(id)].map(|input| builder.input(input));
        let form = builder.add(form, offset);
        let value = builder.mul(scale, form);
        let change = builder.sub(value, target);
        let weight = builder.mul(factor, gain);
        builder.mul(weight, change)
    });
    builder.finish(outputs)
}
