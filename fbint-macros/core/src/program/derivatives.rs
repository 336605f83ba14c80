//! Derivatives of functions with respect to all unknowns: the state, the parameters and the inputs.
//!
//! What depends on parameters alone, c(p), is computed once. So is dc/dp, whose entries depend on parameters alone, too: a direction p'
//! of the parameters gives c' = dc/dp p', once for a direction, an adjoint a of c gives dc/dp^T a, and nothing that leads to c is
//! differentiated where the state is known.
//!
//! A tangent is made from the program after its passes, whose instructions stay as they are, with those of the derivative added: it
//! returns the value of the function bit by bit. Adjoints and Jacobians are made from the program before its passes.
//!
//! What a derivative should be is not computed by these rules, but by the oracle on [`Slopes`].

use super::adjoint::adjoints;
use super::directional::Along;
use super::fields::{self, FunctionParts};
use super::functions::{Argument, Expected, GeneratedFunction, Returns, Rows, Trait, functions};
use super::optimise::eliminate_dead_values;
use super::projection;
use super::tangent::{Tangent, tangents};
use super::{Builder, Input, Instruction, Program, Value};
use crate::derivation::Derivation;
use crate::derivation::table::Id;
use crate::numbers::dual::Dual;
use crate::numbers::points::Unknown;
use crate::numbers::precise::Real;

/// Which derivative of a function f a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// f and Df v, for a direction v.
    Tangent,
    /// f and Df v, for a direction v of the state alone.
    StateTangent,
    /// Df^T w, for weights w.
    Adjoint,
    /// Df, row by row.
    Jacobian,
}

functions! {
    /// The derivatives that are generated where they are declared.
    DERIVATIVES: 16 of Trait::Differentiable;

    /// `vector_field`, and its derivative along a direction.
    VECTOR_FIELD_TANGENT: vector_field_tangent(Argument::Direction) -> Returns::Tangent(Rows::States),
        fields::vector_field, Expected::Derivative(Derivative::Tangent, |oracle| oracle.vector_field());

    /// `vector_field`, and its derivative along a direction of the state.
    VECTOR_FIELD_STATE_TANGENT: vector_field_state_tangent(Argument::StateDirection) -> Returns::Tangent(Rows::States),
        fields::vector_field, Expected::Derivative(Derivative::StateTangent, |oracle| oracle.vector_field());

    /// The transposed Jacobian of `vector_field`, times weights.
    VECTOR_FIELD_ADJOINT: vector_field_adjoint(Argument::Weights(Rows::States)) -> Returns::Gradient,
        fields::vector_field, Expected::Derivative(Derivative::Adjoint, |oracle| oracle.vector_field());

    /// The entries of the Jacobian of `vector_field` that do not vanish identically.
    VECTOR_FIELD_DERIVATIVES: vector_field_derivatives() -> Returns::Derivatives(Rows::States),
        fields::vector_field, Expected::Derivative(Derivative::Jacobian, |oracle| oracle.vector_field());

    /// `feedback_field`, and its derivative along a direction.
    FEEDBACK_FIELD_TANGENT: feedback_field_tangent(Argument::Gains, Argument::Targets, Argument::Direction) -> Returns::Tangent(Rows::States),
        feedback_field, Expected::Derivative(Derivative::Tangent, |oracle| oracle.feedback_field());

    /// `feedback_field`, and its derivative along a direction of the state.
    FEEDBACK_FIELD_STATE_TANGENT: feedback_field_state_tangent(Argument::Gains, Argument::Targets, Argument::StateDirection) -> Returns::Tangent(Rows::States),
        feedback_field, Expected::Derivative(Derivative::StateTangent, |oracle| oracle.feedback_field());

    /// The transposed Jacobian of `feedback_field`, times weights.
    FEEDBACK_FIELD_ADJOINT: feedback_field_adjoint(Argument::Gains, Argument::Targets, Argument::Weights(Rows::States)) -> Returns::Gradient,
        feedback_field, Expected::Derivative(Derivative::Adjoint, |oracle| oracle.feedback_field());

    /// The entries of the Jacobian of `feedback_field` that do not vanish identically.
    FEEDBACK_FIELD_DERIVATIVES: feedback_field_derivatives(Argument::Gains, Argument::Targets) -> Returns::Derivatives(Rows::States),
        feedback_field, Expected::Derivative(Derivative::Jacobian, |oracle| oracle.feedback_field());

    /// `integrals`, and its derivative along a direction.
    INTEGRALS_TANGENT: integrals_tangent(Argument::Direction) -> Returns::Tangent(Rows::Integrals),
        fields::integrals, Expected::Derivative(Derivative::Tangent, |oracle| oracle.integrals.rows().cloned().collect());

    /// The transposed Jacobian of `integrals`, times weights.
    INTEGRALS_ADJOINT: integrals_adjoint(Argument::Weights(Rows::Integrals)) -> Returns::Gradient,
        fields::integrals, Expected::Derivative(Derivative::Adjoint, |oracle| oracle.integrals.rows().cloned().collect());

    /// The entries of the Jacobian of `integrals` that do not vanish identically.
    INTEGRALS_DERIVATIVES: integrals_derivatives() -> Returns::Derivatives(Rows::Integrals),
        fields::integrals, Expected::Derivative(Derivative::Jacobian, |oracle| oracle.integrals.rows().cloned().collect());

    /// `outputs`, and its derivative along a direction.
    OUTPUTS_TANGENT: outputs_tangent(Argument::Direction) -> Returns::Tangent(Rows::Outputs),
        fields::outputs, Expected::Derivative(Derivative::Tangent, |oracle| oracle.outputs());

    /// The transposed Jacobian of `outputs`, times weights.
    OUTPUTS_ADJOINT: outputs_adjoint(Argument::Weights(Rows::Outputs)) -> Returns::Gradient,
        fields::outputs, Expected::Derivative(Derivative::Adjoint, |oracle| oracle.outputs());

    /// The entries of the Jacobian of `outputs` that do not vanish identically.
    OUTPUTS_DERIVATIVES: outputs_derivatives() -> Returns::Derivatives(Rows::Outputs),
        fields::outputs, Expected::Derivative(Derivative::Jacobian, |oracle| oracle.outputs());

    /// `projection` of F - F_target, and its derivative along a direction in which S and F_target change, too. R is held.
    PROJECTION_TANGENT: projection_tangent(
        Argument::Variances,
        Argument::Noise,
        Argument::Targets,
        Argument::Direction,
        Argument::VariancesDirection,
        Argument::TargetsDirection
    ) -> Returns::Tangent(Rows::States),
        projection, Expected::Derivative(Derivative::Tangent, |oracle| oracle.projection_onto_targets());

    /// The derivatives of w . `projection` by everything that it depends on but R.
    PROJECTION_ADJOINT: projection_adjoint(
        Argument::Variances,
        Argument::Noise,
        Argument::Targets,
        Argument::Weights(Rows::States)
    ) -> Returns::ProjectionGradient,
        projection, Expected::Derivative(Derivative::Adjoint, |oracle| oracle.projection_onto_targets());
}

/// S DF^T (DF S DF^T + e D + R)^-1 (F - F_target)
fn projection(parts: &FunctionParts<'_>) -> Program {
    let mut builder = Builder::default();
    let program = projection::projection(parts);
    let violation = |builder: &mut Builder, instruction: &Instruction, copied: &[Value]| {
        let Instruction::Weighed(law, integral) = instruction else { return None };
        let Instruction::Weigh(integrals) = &program.instructions[law.index()] else { return None };
        let target = builder.input(Input::Target(*integral));
        Some(builder.sub(copied[integrals[integral.place()].index()], target))
    };
    let outputs = copy(&mut builder, &program, violation);
    builder.finish(outputs)
}

/// X - grad V where y_i = k_i (F_i - t_i) with given numbers k_i and t_i: the law asks and answers in normalised forms, F = scale (f +
/// offset) and `factor` times y.
fn feedback_field(parts: &FunctionParts<'_>) -> Program {
    let mut builder = Builder::default();
    let normalisation = copy(&mut builder, &fields::normalisation(parts), |_, _, _| None);
    let program = fields::feedback_field(parts);
    let answer = |builder: &mut Builder, instruction: &Instruction, copied: &[Value]| {
        let Instruction::Weighed(law, integral) = instruction else { return None };
        let Instruction::Weigh(forms) = &program.instructions[law.index()] else { return None };
        let place = integral.place();
        let [factor, scale, offset] = [0, 1, 2].map(|column| normalisation[3 * place + column]);
        let [gain, target] = [Input::Gain(*integral), Input::Target(*integral)].map(|input| builder.input(input));
        let form = builder.add(copied[forms[place].index()], offset);
        let value = builder.mul(scale, form);
        let change = builder.sub(value, target);
        let weight = builder.mul(factor, gain);
        Some(builder.mul(weight, change))
    };
    let outputs = copy(&mut builder, &program, answer);
    builder.finish(outputs)
}

/// Appends a program, where `replace` may give the value of an instruction, and returns its results. What hands integrals to a law
/// is left out.
fn copy(
    builder: &mut Builder,
    program: &Program,
    replace: impl Fn(&mut Builder, &Instruction, &[Value]) -> Option<Value>,
) -> Vec<Value> {
    let mut copied: Vec<Value> = Vec::with_capacity(program.instructions.len());
    for instruction in &program.instructions {
        let value = match replace(builder, instruction, &copied) {
            Some(value) => value,
            None if matches!(instruction, Instruction::Weigh(_)) => builder.constant(0.0),
            None => builder.push(instruction.clone().map(|operand| copied[operand.index()]).ordered()),
        };
        copied.push(value);
    }
    program.outputs.iter().map(|value| copied[value.index()]).collect()
}

impl GeneratedFunction {
    /// The program of a derivative that goes backwards or by everything, from the program of its function, in which no law takes part.
    pub(super) fn derivative_of(
        &self,
        derivative: Derivative,
        mut program: Program,
        derivation: &Derivation,
    ) -> Program {
        eliminate_dead_values(&mut program);
        let mut differentiated = DifferentiatedProgram::new(&program, self.moves_targets());
        let unknowns = self.unknowns(derivation);
        let outputs = match derivative {
            Derivative::Adjoint => differentiated.gradient(&unknowns),
            _ => differentiated.jacobian(&unknowns),
        };
        differentiated.builder.finish(outputs)
    }

    /// The program of a tangent, from the program of its function after all passes.
    pub(super) fn tangent_of(&self, derivative: Derivative, program: &Program) -> Program {
        let mut builder = Builder::default();
        let mut outputs = copy(&mut builder, program, |_, _, _| None);
        let everything = derivative == Derivative::Tangent;
        let mut along = Along::new(&mut builder, &outputs, |builder, input| {
            let change = match input {
                Input::State(symbol) => Input::Direction(symbol),
                Input::Driving(symbol) if everything => Input::Direction(symbol),
                Input::Prepared(index) if everything => Input::Change(index),
                Input::Variance(state) => Input::VarianceDirection(state),
                Input::Target(integral) if self.moves_targets() => Input::TargetDirection(integral),
                _ => return None,
            };
            Some(builder.input(change))
        });
        let tangents: Vec<Value> = outputs.iter().map(|result| along.of(*result)).collect();
        outputs.extend(tangents);
        builder.finish(outputs)
    }
}

impl Derivative {
    /// Whether the derivative is one along a direction.
    pub(super) fn is_tangent(self) -> bool {
        matches!(self, Self::Tangent | Self::StateTangent)
    }

    /// What the derivative should return, from the results of the function with their derivatives.
    pub(super) fn expected(
        self,
        results: &[Dual<Unknown>],
        derivation: &Derivation,
        unknowns: &[Unknown],
        direction: impl Fn(Unknown) -> Real,
        weight: impl Fn(usize) -> Real,
    ) -> Vec<Real> {
        let sum = |terms: &mut dyn Iterator<Item = Real>| terms.fold(Real::zero(), |sum, term| &sum + &term);
        let is_state =
            |unknown: &Unknown| matches!(unknown, Unknown::Symbol(symbol) if derivation.symbols.is_state(*symbol));
        match self {
            Self::Tangent | Self::StateTangent => {
                let along = |row: &Dual<Unknown>| {
                    let slopes = row.gradient.iter();
                    let moved = slopes.filter(|(unknown, _)| self == Self::Tangent || is_state(unknown));
                    sum(&mut moved.map(|(unknown, slope)| slope * &direction(*unknown)))
                };
                results.iter().map(|row| row.value.clone()).chain(results.iter().map(along)).collect()
            }
            Self::Adjoint => {
                let by = |unknown: &Unknown| {
                    let terms = results.iter().enumerate();
                    sum(&mut terms.filter_map(|(i, row)| Some(row.gradient.get(unknown)? * &weight(i))))
                };
                unknowns.iter().map(by).collect()
            }
            Self::Jacobian => {
                let row = |row: &Dual<Unknown>| -> Vec<Real> {
                    let by = |unknown| row.gradient.get(unknown).cloned().unwrap_or_else(Real::zero);
                    unknowns.iter().map(by).collect()
                };
                results.iter().flat_map(row).collect()
            }
        }
    }
}

/// A program to which derivatives are added.
struct DifferentiatedProgram {
    builder: Builder,
    results: Vec<Value>,
    /// Which values depend on parameters and numbers alone.
    parametric: Vec<bool>,
    /// Which values depend on some unknown.
    varies: Vec<bool>,
    /// The derivatives by parameters of the values that depend on parameters alone.
    by_parameters: Vec<Tangent<Unknown>>,
    /// Whether derivatives are taken by F_target, too.
    moves_targets: bool,
}

/// What an input is as an unknown, unless it is a parameter, or held.
fn by_input(input: Input, moves_targets: bool) -> Option<Unknown> {
    match input {
        Input::State(symbol) | Input::Driving(symbol) => Some(Unknown::Symbol(symbol)),
        Input::Variance(state) => Some(Unknown::Variance(state)),
        Input::Target(integral) if moves_targets => Some(Unknown::Target(integral)),
        _ => None,
    }
}

impl DifferentiatedProgram {
    /// Of a program whose targets vary or are held.
    fn new(program: &Program, moves_targets: bool) -> Self {
        let mut builder = Builder::default();
        let results = copy(&mut builder, program, |_, _, _| None);
        let instructions = builder.len();
        let (mut parametric, mut varies): (Vec<bool>, Vec<bool>) = (Vec::new(), Vec::new());
        for instruction in (0..instructions).map(|index| builder.instruction(Value::at(index))) {
            let (is_parametric, is_unknown) = match &instruction {
                Instruction::Constant(_) => (true, false),
                Instruction::Input(input) => (
                    matches!(input, Input::Parameter(_)),
                    matches!(input, Input::Parameter(_)) || by_input(*input, moves_targets).is_some(),
                ),
                other => (other.operands().all(|operand| parametric[operand.index()]), false),
            };
            varies.push(is_unknown || instruction.operands().any(|operand| varies[operand.index()]));
            parametric.push(is_parametric);
        }
        let by_parameters = tangents(&mut builder, instructions, |builder, value| match builder.instruction(value) {
            Instruction::Input(Input::Parameter(symbol)) => {
                Some(Tangent::from([(Unknown::Symbol(symbol), builder.constant(1.0))]))
            }
            _ => (!parametric[value.index()]).then(Tangent::new),
        });
        Self { builder, results, parametric, varies, by_parameters, moves_targets }
    }

    /// The derivatives of the weighted sum of the results by all unknowns.
    fn gradient(&mut self, unknowns: &[Unknown]) -> Vec<Value> {
        let Self { builder, results, parametric, varies, by_parameters, moves_targets } = self;
        let weights = (0..results.len()).map(|row| builder.input(Input::Weight(row))).collect::<Vec<_>>();
        let weighted: Vec<(Value, Value)> = results.iter().copied().zip(weights).collect();
        let adjoints = adjoints(builder, &weighted, varies, |value| parametric[value.index()]);
        let mut gradient: Tangent<Unknown> = Tangent::new();
        for value in (0..varies.len()).map(Value::at) {
            let Some(adjoint) = adjoints.of(value) else { continue };
            if let Instruction::Input(input) = builder.instruction(value)
                && let Some(unknown) = by_input(input, *moves_targets)
            {
                gradient.insert(unknown, adjoint);
            }
            // dc/dp^T a
            for (parameter, slope) in &by_parameters[value.index()] {
                let term = builder.mul(*slope, adjoint);
                let sum = gradient.get(parameter).map_or(term, |sum| builder.add(*sum, term));
                gradient.insert(*parameter, sum);
            }
        }
        let zero = builder.constant(0.0);
        unknowns.iter().map(|unknown| gradient.get(unknown).copied().unwrap_or(zero)).collect()
    }

    /// The derivatives of each result by all unknowns, result by result; the number 0 where they vanish identically.
    fn jacobian(&mut self, unknowns: &[Unknown]) -> Vec<Value> {
        let Self { builder, results, parametric, by_parameters, moves_targets, .. } = self;
        let tangents = tangents(builder, parametric.len(), |builder, value| match builder.instruction(value) {
            Instruction::Input(input) if !parametric[value.index()] => {
                let unknown = by_input(input, *moves_targets);
                Some(unknown.map(|unknown| (unknown, builder.constant(1.0))).into_iter().collect())
            }
            _ => parametric[value.index()].then(|| by_parameters[value.index()].clone()),
        });
        let zero = builder.constant(0.0);
        let entry = |result: &Value, unknown| tangents[result.index()].get(unknown).copied().unwrap_or(zero);
        let row = |result| unknowns.iter().map(move |unknown| entry(result, unknown));
        results.iter().flat_map(row).collect()
    }
}

/// The entries of a Jacobian that do not vanish identically: row, column, and the place among the outputs of its program.
pub fn pattern(program: &Program, columns: usize) -> impl Iterator<Item = (usize, usize, usize)> {
    let zero = Instruction::constant(0.0);
    let outputs = program.outputs.iter().enumerate();
    let written = outputs.filter(move |(_, value)| program.instructions[value.index()] != zero);
    written.map(move |(place, _)| (place / columns.max(1), place % columns.max(1), place))
}
