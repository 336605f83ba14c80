//! Derivatives of functions with respect to all unknowns: the state, the parameters and the inputs.
//!
//! What depends on parameters alone, c(p), is computed once. So is dc/dp, whose entries depend on parameters alone, too: a direction p'
//! of the parameters gives c' = dc/dp p', an adjoint a of c gives dc/dp^T a, and nothing that leads to c is differentiated where
//! the state is known.

use super::adjoint::adjoints;
use super::directional::Along;
use super::fields::{self, Parts};
use super::functions::{Argument, Expected, Function, Returns, Rows};
use super::optimise::eliminate_dead_values;
use super::slopes::Slopes;
use super::tangent::{Tangent, tangents};
use super::{Builder, Input, Instruction, Program, Value};
use crate::derivation::Symbols;
use crate::expression::Symbol;
use crate::precise::Real;
use crate::table::Id;

/// Which derivative of a function f a function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Derivative {
    /// f and Df v, for a direction v.
    Tangent,
    /// Df^T w, for weights w.
    Adjoint,
    /// Df, row by row.
    Jacobian,
}

/// The derivatives that are generated where they are declared, in the order of the generated code.
pub static DERIVATIVES: [&Function; 12] = [
    &VECTOR_FIELD_TANGENT,
    &VECTOR_FIELD_ADJOINT,
    &VECTOR_FIELD_DERIVATIVES,
    &FEEDBACK_FIELD_TANGENT,
    &FEEDBACK_FIELD_ADJOINT,
    &FEEDBACK_FIELD_DERIVATIVES,
    &INTEGRALS_TANGENT,
    &INTEGRALS_ADJOINT,
    &INTEGRALS_DERIVATIVES,
    &OUTPUTS_TANGENT,
    &OUTPUTS_ADJOINT,
    &OUTPUTS_DERIVATIVES,
];

/// The three derivatives of a function.
macro_rules! derivatives {
    ($name:literal, $rows:expr, [$($argument:expr),*], $build:expr, $of:expr, [$tangent:ident, $adjoint:ident, $jacobian:ident]) => {
        #[doc = concat!("`", $name, "`, and its derivative along a direction.")]
        pub static $tangent: Function = Function {
            name: concat!($name, "_tangent"),
            arguments: &[$($argument,)* Argument::Direction],
            returns: Returns::Tangent($rows),
            is_field: false,
            build: $build,
            expected: Expected::Derivative(Derivative::Tangent, $of),
        };
        #[doc = concat!("The transposed Jacobian of `", $name, "`, times weights.")]
        pub static $adjoint: Function = Function {
            name: concat!($name, "_adjoint"),
            arguments: &[$($argument,)* Argument::Weights($rows)],
            returns: Returns::Gradient,
            is_field: false,
            build: $build,
            expected: Expected::Derivative(Derivative::Adjoint, $of),
        };
        #[doc = concat!("The entries of the Jacobian of `", $name, "` that do not vanish identically.")]
        pub static $jacobian: Function = Function {
            name: concat!($name, "_derivatives"),
            arguments: &[$($argument,)*],
            returns: Returns::Derivatives($rows),
            is_field: false,
            build: $build,
            expected: Expected::Derivative(Derivative::Jacobian, $of),
        };
    };
}

derivatives!(
    "vector_field",
    Rows::States,
    [],
    fields::vector_field,
    |oracle| oracle.vector_field(),
    [VECTOR_FIELD_TANGENT, VECTOR_FIELD_ADJOINT, VECTOR_FIELD_DERIVATIVES]
);
derivatives!(
    "feedback_field",
    Rows::States,
    [Argument::Gains, Argument::Targets],
    feedback_field,
    |oracle| oracle.feedback_field(),
    [FEEDBACK_FIELD_TANGENT, FEEDBACK_FIELD_ADJOINT, FEEDBACK_FIELD_DERIVATIVES]
);
derivatives!(
    "integrals",
    Rows::Integrals,
    [],
    fields::integrals,
    |oracle| oracle.integrals.rows().cloned().collect(),
    [INTEGRALS_TANGENT, INTEGRALS_ADJOINT, INTEGRALS_DERIVATIVES]
);
derivatives!(
    "outputs",
    Rows::Outputs,
    [],
    fields::outputs,
    |oracle| oracle.outputs(),
    [OUTPUTS_TANGENT, OUTPUTS_ADJOINT, OUTPUTS_DERIVATIVES]
);

/// X - grad V where y_i = k_i (F_i - t_i) with given numbers k_i and t_i: the law asks and answers in normalised forms, F = scale (f +
/// offset) and `factor` times y.
fn feedback_field(parts: &Parts<'_>) -> Program {
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

impl Derivative {
    /// The program of the derivative, from that of the function, in which no law takes part.
    pub(super) fn of(self, mut program: Program, symbols: &Symbols) -> Program {
        eliminate_dead_values(&mut program);
        let mut differentiated = Differentiated::new(&program);
        let mut outputs = match self {
            Self::Tangent => differentiated.along_direction(),
            Self::Adjoint => differentiated.gradient(symbols),
            Self::Jacobian => differentiated.jacobian(symbols),
        };
        if self == Self::Tangent {
            outputs.splice(0..0, differentiated.results.iter().copied());
        }
        differentiated.builder.finish(outputs)
    }

    /// What the derivative should return, from the results of the function with their derivatives.
    pub(super) fn expected(
        self,
        results: &[Slopes],
        symbols: &Symbols,
        direction: impl Fn(Symbol) -> Real,
        weight: impl Fn(usize) -> Real,
    ) -> Vec<Real> {
        let sum = |terms: &mut dyn Iterator<Item = Real>| terms.fold(Real::zero(), |sum, term| &sum + &term);
        match self {
            Self::Tangent => {
                let along =
                    |row: &Slopes| sum(&mut row.gradient.iter().map(|(symbol, slope)| slope * &direction(*symbol)));
                results.iter().map(|row| row.value.clone()).chain(results.iter().map(along)).collect()
            }
            Self::Adjoint => {
                let by = |symbol: Symbol| {
                    let terms = results.iter().enumerate();
                    sum(&mut terms.filter_map(|(i, row)| Some(row.gradient.get(&symbol)? * &weight(i))))
                };
                symbols.unknowns().map(by).collect()
            }
            Self::Jacobian => {
                let row = |row: &Slopes| -> Vec<Real> {
                    let by = |symbol| row.gradient.get(&symbol).cloned().unwrap_or_else(Real::zero);
                    symbols.unknowns().map(by).collect()
                };
                results.iter().flat_map(row).collect()
            }
        }
    }
}

/// A program to which derivatives are added.
struct Differentiated {
    builder: Builder,
    results: Vec<Value>,
    /// Which values depend on parameters and numbers alone.
    parametric: Vec<bool>,
    /// Which values depend on some unknown.
    varies: Vec<bool>,
    /// The derivatives by parameters of the values that depend on parameters alone.
    by_parameters: Vec<Tangent<Symbol>>,
}

impl Differentiated {
    fn new(program: &Program) -> Self {
        let mut builder = Builder::default();
        let results = copy(&mut builder, program, |_, _, _| None);
        let instructions = builder.len();
        let (mut parametric, mut varies): (Vec<bool>, Vec<bool>) = (Vec::new(), Vec::new());
        for instruction in (0..instructions).map(|index| builder.instruction(Value::at(index))) {
            let input =
                |is_meant: fn(&Input) -> bool| matches!(&instruction, Instruction::Input(input) if is_meant(input));
            let is_leaf = matches!(instruction, Instruction::Input(_) | Instruction::Constant(_));
            let is_parametric = match is_leaf {
                true => !input(|input| !matches!(input, Input::Parameter(_))),
                false => instruction.operands().all(|operand| parametric[operand.index()]),
            };
            let is_unknown = input(|input| matches!(input, Input::State(_) | Input::Parameter(_) | Input::Driving(_)));
            varies.push(is_unknown || instruction.operands().any(|operand| varies[operand.index()]));
            parametric.push(is_parametric);
        }
        let by_parameters = tangents(&mut builder, instructions, |builder, value| match builder.instruction(value) {
            Instruction::Input(Input::Parameter(symbol)) => Some(Tangent::from([(symbol, builder.constant(1.0))])),
            _ => (!parametric[value.index()]).then(Tangent::new),
        });
        Self { builder, results, parametric, varies, by_parameters }
    }

    /// The derivative of each result along the direction.
    fn along_direction(&mut self) -> Vec<Value> {
        let Self { builder, results, parametric, by_parameters, .. } = self;
        let seed = |builder: &mut Builder, value: Value| match builder.instruction(value) {
            Instruction::Input(Input::State(symbol) | Input::Driving(symbol)) => {
                Some(Some(builder.input(Input::Direction(symbol))))
            }
            // c' = dc/dp p'
            _ if parametric[value.index()] => {
                let terms = by_parameters[value.index()].iter();
                Some(terms.fold(None, |sum: Option<Value>, (parameter, slope)| {
                    let direction = builder.input(Input::Direction(*parameter));
                    let term = builder.mul(*slope, direction);
                    Some(sum.map_or(term, |sum| builder.add(sum, term)))
                }))
            }
            _ => None,
        };
        let mut along = Along::new(builder, results, parametric.len(), seed);
        results.iter().map(|result| along.of(*result)).collect()
    }

    /// The derivatives of the weighted sum of the results by all unknowns.
    fn gradient(&mut self, symbols: &Symbols) -> Vec<Value> {
        let Self { builder, results, parametric, varies, by_parameters } = self;
        let weights = (0..results.len()).map(|row| builder.input(Input::Weight(row))).collect::<Vec<_>>();
        let weighted: Vec<(Value, Value)> = results.iter().copied().zip(weights).collect();
        let adjoints = adjoints(builder, &weighted, varies, |value| parametric[value.index()]);
        let mut gradient: Tangent<Symbol> = Tangent::new();
        for value in (0..varies.len()).map(Value::at) {
            let Some(adjoint) = adjoints.of(value) else { continue };
            if let Instruction::Input(Input::State(symbol) | Input::Driving(symbol)) = builder.instruction(value) {
                gradient.insert(symbol, adjoint);
            }
            // dc/dp^T a
            for (parameter, slope) in &by_parameters[value.index()] {
                let term = builder.mul(*slope, adjoint);
                let sum = gradient.get(parameter).map_or(term, |sum| builder.add(*sum, term));
                gradient.insert(*parameter, sum);
            }
        }
        let zero = builder.constant(0.0);
        symbols.unknowns().map(|symbol| gradient.get(&symbol).copied().unwrap_or(zero)).collect()
    }

    /// The derivatives of each result by all unknowns, result by result; the number 0 where they vanish identically.
    fn jacobian(&mut self, symbols: &Symbols) -> Vec<Value> {
        let Self { builder, results, parametric, by_parameters, .. } = self;
        let tangents = tangents(builder, parametric.len(), |builder, value| match builder.instruction(value) {
            Instruction::Input(Input::State(symbol) | Input::Driving(symbol)) => {
                Some(Tangent::from([(symbol, builder.constant(1.0))]))
            }
            _ => parametric[value.index()].then(|| by_parameters[value.index()].clone()),
        });
        let zero = builder.constant(0.0);
        let entry = |result: &Value, symbol| tangents[result.index()].get(&symbol).copied().unwrap_or(zero);
        let row = |result| symbols.unknowns().map(move |symbol| entry(result, symbol));
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
