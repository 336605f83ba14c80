//! The generated functions: what each is called, takes and returns, how it is built, and what it should return.
//!
//! Assembly, the passes, verification, emission and the surface of mistaken models go through [`FUNCTIONS`], [`LAGRANGIAN_FUNCTIONS`],
//! [`HAMEL_FUNCTIONS`] and [`DERIVATIVES`], so that a new function is a new row. The tests fail until every path in `tests/functions.rs`
//! gives it, too.

use super::Program;
use super::derivatives::{DERIVATIVES, Derivative};
use super::fields::{self, Parts};
use super::oracle::Oracle;
use super::{hamel, lagrangian, projection};
use crate::derivation::Derivation;
use crate::numbers::dual::Dual;
use crate::numbers::points::Unknown;
use crate::numbers::precise::Real;

/// A generated function of the state.
#[derive(Debug)]
pub struct Function {
    /// The name in Rust.
    pub name: &'static str,
    /// What it takes after the state.
    pub arguments: &'static [Argument],
    /// What it returns.
    pub returns: Returns,
    /// Whether methods evaluate it in every stage, so that a call would cost more than it looks.
    pub is_field: bool,
    pub(super) build: fn(&Parts<'_>) -> Program,
    pub(super) expected: Expected,
}

/// What a function should return.
#[derive(Debug)]
pub(super) enum Expected {
    /// Numbers: in doubles, and where rounding must not count.
    Values { in_doubles: fn(&Oracle<'_, f64>) -> Vec<f64>, precisely: fn(&Oracle<'_, Real>) -> Vec<Real> },
    /// A derivative of these numbers.
    Derivative(Derivative, fn(&Oracle<'_, Dual<Unknown>>) -> Vec<Dual<Unknown>>),
}

/// What a function should return, from an oracle of either kind of numbers.
macro_rules! expected {
    ($from:expr) => {
        Expected::Values { in_doubles: $from, precisely: $from }
    };
}

/// What a function takes after the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Argument {
    /// S, a number for each entry of the state.
    Variances,
    /// R, a number for each integral.
    Noise,
    /// The feedback law, which gives y from F.
    Law(Form),
    /// K of a feedback law whose K is constant and diagonal, a number for each integral.
    Gains,
    /// F_target, a number for each integral.
    Targets,
    /// A change of each unknown, with the changes of what is prepared.
    Direction,
    /// A change of each entry of the state.
    StateDirection,
    /// A change of S, a number for each entry of the state.
    VariancesDirection,
    /// A change of F_target, a number for each integral.
    TargetsDirection,
    /// A number for each of these.
    Weights(Rows),
    /// A number for each velocity that is part of the state.
    Accelerations,
}

/// What a list has a number for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Each entry of the state.
    States,
    /// Each integral.
    Integrals,
    /// Each declared output.
    Outputs,
}

/// In which form a function hands the integrals to the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// F
    Declared,
    /// f, where F = scale (f + offset); it takes back `factor` times y. See [`Programs::normalisation`](super::Programs).
    Normalised,
}

/// What a function returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// A number for each entry of the state.
    States,
    /// A number for each integral.
    Integrals,
    /// A number for each entry of the state, for each integral.
    Jacobian,
    /// A number for each entry of the state, for each entry of the state.
    StateJacobian,
    /// A number for each declared output.
    Outputs,
    /// A number for each velocity that is part of the state.
    Velocities,
    /// A number for each velocity that is part of the state, for each of them.
    MassMatrix,
    /// A value and a derivative for each of these.
    Tangent(Rows),
    /// A derivative by each unknown.
    Gradient,
    /// A derivative by each unknown, by S and by F_target.
    ProjectionGradient,
    /// The derivatives of each of these by each unknown; emitted are those that do not vanish identically.
    Derivatives(Rows),
}

/// Every function of the state that is generated for all systems, in the order of the generated code.
pub static FUNCTIONS: [&Function; 10] = [
    &VECTOR_FIELD,
    &INTEGRALS,
    &JACOBIAN,
    &MULTIPLIERS,
    &OUTPUTS,
    &POTENTIAL_GRADIENT,
    &FEEDBACK_FIELD,
    &PROJECTION,
    &SQUARED_GRADIENTS,
    &REACTION_FIELD,
];

/// The functions that are generated for Lagrangian systems in addition.
pub static LAGRANGIAN_FUNCTIONS: [&Function; 2] = [&MASS_MATRIX, &INVERSE_DYNAMICS];

/// M
pub static MASS_MATRIX: Function = Function {
    name: "mass_matrix",
    arguments: &[],
    returns: Returns::MassMatrix,
    is_field: false,
    build: lagrangian::mass_matrix,
    expected: expected!(|oracle| oracle.mass_matrix()),
};

/// tau = M a - b for accelerations a, where M xi' = b without reactions.
pub static INVERSE_DYNAMICS: Function = Function {
    name: "inverse_dynamics",
    arguments: &[Argument::Accelerations],
    returns: Returns::Velocities,
    is_field: false,
    build: lagrangian::inverse_dynamics,
    expected: expected!(|oracle| oracle.inverse_dynamics()),
};

/// The functions that are generated for Lagrangian systems without reactions in addition.
pub static HAMEL_FUNCTIONS: [&Function; 4] =
    [&MOMENTUM_STATE, &MOMENTUM_RATES, &MOMENTUM_STATE_JACOBIAN, &MOMENTUM_RATES_JACOBIAN];

/// (q, p) with p = dL/dxi
pub static MOMENTUM_STATE: Function = Function {
    name: "momentum_state",
    arguments: &[],
    returns: Returns::States,
    is_field: false,
    build: hamel::momentum_state,
    expected: expected!(|oracle| oracle.values(&hamel::momentum_state_of(oracle.derivation))),
};

/// (q', p')
pub static MOMENTUM_RATES: Function = Function {
    name: "momentum_rates",
    arguments: &[],
    returns: Returns::States,
    is_field: false,
    build: hamel::momentum_rates,
    expected: expected!(|oracle| oracle.values(&hamel::momentum_rates_of(oracle.derivation))),
};

/// The derivatives of (q, p) by (q, xi).
pub static MOMENTUM_STATE_JACOBIAN: Function = Function {
    name: "momentum_state_jacobian",
    arguments: &[],
    returns: Returns::StateJacobian,
    is_field: false,
    build: hamel::momentum_state_jacobian,
    expected: expected!(|oracle| oracle.derivatives(&hamel::momentum_state_of(oracle.derivation))),
};

/// The derivatives of (q', p') by (q, xi).
pub static MOMENTUM_RATES_JACOBIAN: Function = Function {
    name: "momentum_rates_jacobian",
    arguments: &[],
    returns: Returns::StateJacobian,
    is_field: false,
    build: hamel::momentum_rates_jacobian,
    expected: expected!(|oracle| oracle.derivatives(&hamel::momentum_rates_of(oracle.derivation))),
};

/// The functions that are generated for a system, with their derivatives or without.
pub(super) fn functions_of(derivation: &Derivation, with_derivatives: bool) -> impl Iterator<Item = &'static Function> {
    let of_lagrangian: &[&Function] = if derivation.hamel.is_some() { &LAGRANGIAN_FUNCTIONS } else { &[] };
    let of_hamel: &[&Function] = if hamel::is_discretised(derivation) { &HAMEL_FUNCTIONS } else { &[] };
    let derivatives: &[&Function] = if with_derivatives { &DERIVATIVES } else { &[] };
    FUNCTIONS.iter().chain(of_lagrangian).chain(of_hamel).chain(derivatives).copied()
}

/// X
pub static VECTOR_FIELD: Function = Function {
    name: "vector_field",
    arguments: &[],
    returns: Returns::States,
    is_field: true,
    build: fields::vector_field,
    expected: expected!(|oracle| oracle.vector_field()),
};

/// F
pub static INTEGRALS: Function = Function {
    name: "integrals",
    arguments: &[],
    returns: Returns::Integrals,
    is_field: false,
    build: fields::integrals,
    expected: expected!(|oracle| oracle.integrals.rows().cloned().collect()),
};

/// DF
pub static JACOBIAN: Function = Function {
    name: "integrals_jacobian",
    arguments: &[],
    returns: Returns::Jacobian,
    is_field: false,
    build: fields::jacobian,
    expected: expected!(|oracle| oracle.gradients.rows().flat_map(|row| row.rows().cloned()).collect()),
};

/// c, and 0 for each integral that has none.
pub static MULTIPLIERS: Function = Function {
    name: "multipliers",
    arguments: &[],
    returns: Returns::Integrals,
    is_field: false,
    build: fields::multipliers,
    expected: expected!(|oracle| oracle.multipliers.rows().cloned().collect()),
};

/// The declared outputs.
pub static OUTPUTS: Function = Function {
    name: "outputs",
    arguments: &[],
    returns: Returns::Outputs,
    is_field: false,
    build: fields::outputs,
    expected: expected!(|oracle| oracle.outputs()),
};

/// grad V
pub static POTENTIAL_GRADIENT: Function = Function {
    name: "potential_gradient",
    arguments: &[Argument::Law(Form::Normalised)],
    returns: Returns::States,
    is_field: false,
    build: fields::potential_gradient,
    expected: expected!(|oracle| oracle.potential_gradient()),
};

/// X - grad V
pub static FEEDBACK_FIELD: Function = Function {
    name: "feedback_field",
    arguments: &[Argument::Law(Form::Normalised)],
    returns: Returns::States,
    is_field: true,
    build: fields::feedback_field,
    expected: expected!(|oracle| oracle.feedback_field()),
};

/// S DF^T (DF S DF^T + e D + R)^-1 y, where the law gives y from F, and S and R are diagonal matrices.
pub static PROJECTION: Function = Function {
    name: "projection",
    arguments: &[Argument::Variances, Argument::Noise, Argument::Law(Form::Declared)],
    returns: Returns::States,
    is_field: true,
    build: projection::projection,
    expected: expected!(|oracle| oracle.projection()),
};

/// |dF_i|^2, the diagonal of DF DF^T.
pub static SQUARED_GRADIENTS: Function = Function {
    name: "squared_gradients",
    arguments: &[],
    returns: Returns::Integrals,
    is_field: false,
    build: fields::squared_gradients,
    expected: expected!(|oracle| oracle.squared_gradients()),
};

/// What the constraints add to X, -J Df^T c in a Dirac field; 0 where there are no multipliers.
pub static REACTION_FIELD: Function = Function {
    name: "reaction_field",
    arguments: &[],
    returns: Returns::States,
    is_field: false,
    build: fields::reaction_field,
    expected: expected!(|oracle| oracle.reaction_field()),
};

/// The traits of the runtime that have generated functions of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// All systems, prepared.
    Prepared,
    /// Lagrangian systems.
    Lagrangian,
    /// Lagrangian systems without reactions.
    Hamel,
    /// Systems whose derivatives are generated.
    Differentiable,
}

impl Function {
    /// The trait that has the function.
    pub fn owner(&self) -> Trait {
        let is_in = |functions: &[&Self]| functions.iter().any(|function| function.name == self.name);
        match self.expected {
            Expected::Derivative(..) => Trait::Differentiable,
            Expected::Values { .. } if is_in(&LAGRANGIAN_FUNCTIONS) => Trait::Lagrangian,
            Expected::Values { .. } if is_in(&HAMEL_FUNCTIONS) => Trait::Hamel,
            Expected::Values { .. } => Trait::Prepared,
        }
    }

    /// In which form the function hands the integrals to the law, if it takes the law.
    pub fn law(&self) -> Option<Form> {
        self.arguments.iter().find_map(|argument| match argument {
            Argument::Law(form) => Some(*form),
            _ => None,
        })
    }

    /// What its derivatives are taken by, where it is a derivative.
    pub(super) fn unknowns(&self, derivation: &Derivation) -> Vec<Unknown> {
        let mut unknowns: Vec<Unknown> = derivation.symbols.unknowns().map(Unknown::Symbol).collect();
        if self.moves_targets() {
            unknowns.extend(derivation.symbols.states().map(Unknown::Variance));
            unknowns.extend(derivation.integrals.ids().map(Unknown::Target));
        }
        unknowns
    }

    /// Whether S and F_target are among them.
    pub(super) fn moves_targets(&self) -> bool {
        self.arguments.contains(&Argument::TargetsDirection) || self.returns == Returns::ProjectionGradient
    }

    /// Which derivative of another function it is, if it is one.
    pub fn derivative(&self) -> Option<Derivative> {
        match self.expected {
            Expected::Derivative(derivative, _) => Some(derivative),
            Expected::Values { .. } => None,
        }
    }
}
