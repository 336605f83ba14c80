//! The generated functions: what each is called, takes and returns, how it is built, and what it should return.
//!
//! Assembly, the passes, verification, emission and the surface of mistaken models go through [`FUNCTIONS`], [`LAGRANGIAN_FUNCTIONS`],
//! [`HAMEL_FUNCTIONS`], [`CONTROLLED_FUNCTIONS`], [`SWITCHING_FUNCTIONS`] [`DERIVATIVES`] and [`LAW_DERIVATIVES`], so that a new function is a new row. The
//! tests fail until every path in `tests/functions.rs` gives it, too.

use super::derived::{DERIVATIVES, LAW_DERIVATIVES};
use super::description::{Argument, Expected, Form, GeneratedFunction, Returns, Rows, Trait, functions};
use crate::derivation::Derivation;
use crate::numbers::points::Unknown;
use crate::program::build::switches::switches;
use crate::program::build::{fields, hamel, lagrangian, projection};
use crate::program::derivatives::Derivative;

/// The expected result of a function, from an oracle of either kind of numbers.
macro_rules! expected {
    ($from:expr) => {
        Expected::Values { in_doubles: $from, precisely: $from }
    };
}

functions! {
    /// Every function of the state that is generated for all systems.
    FUNCTIONS: 8 of Trait::Prepared;

    /// X
    VECTOR_FIELD: vector_field() -> Returns::List(Rows::States),
        fields::vector_field, expected!(|oracle| oracle.vector_field());

    /// F
    INTEGRALS: integrals() -> Returns::List(Rows::Integrals),
        fields::integrals, expected!(|oracle| oracle.integrals().rows().cloned().collect());

    /// DF
    JACOBIAN: integrals_jacobian() -> Returns::Matrix(Rows::Integrals, Rows::States),
        fields::jacobian, expected!(|oracle| oracle.gradients().rows().flat_map(|row| row.rows().cloned()).collect());

    /// c, and 0 for each integral that has none.
    MULTIPLIERS: multipliers() -> Returns::List(Rows::Integrals),
        fields::multipliers, expected!(|oracle| oracle.multipliers.rows().cloned().collect());

    /// The declared outputs.
    OUTPUTS: outputs() -> Returns::List(Rows::Outputs),
        fields::outputs, expected!(|oracle| oracle.outputs());

    /// grad V
    POTENTIAL_GRADIENT: potential_gradient(Argument::Law(Form::Normalised)) -> Returns::List(Rows::States),
        fields::potential_gradient, expected!(|oracle| oracle.potential_gradient());

    /// X - grad V
    FEEDBACK_FIELD: feedback_field(Argument::Law(Form::Normalised)) -> Returns::List(Rows::States),
        fields::feedback_field, expected!(|oracle| oracle.feedback_field());

    /// S DF^T (DF S DF^T + e D + R)^-1 y, where the law gives y from F, and S and R are diagonal matrices.
    PROJECTION: projection(Argument::Variances, Argument::Noise, Argument::Law(Form::Declared)) -> Returns::List(Rows::States),
        projection::projection, expected!(|oracle| oracle.projection());
}

functions! {
    /// The functions that are generated for Lagrangian systems in addition.
    LAGRANGIAN_FUNCTIONS: 2 of Trait::Lagrangian;

    /// M
    MASS_MATRIX: mass_matrix() -> Returns::Matrix(Rows::Velocities, Rows::Velocities),
        lagrangian::mass_matrix, expected!(|oracle| oracle.mass_matrix());

    /// tau = M a - b for accelerations a, where M xi' = b without reactions.
    INVERSE_DYNAMICS: inverse_dynamics(Argument::Accelerations) -> Returns::List(Rows::Velocities),
        lagrangian::inverse_dynamics, expected!(|oracle| oracle.inverse_dynamics());
}

functions! {
    /// The functions that are generated for Lagrangian systems without reactions in addition.
    HAMEL_FUNCTIONS: 4 of Trait::Hamel;

    /// (q, p) with p = dL/dxi
    MOMENTUM_STATE: momentum_state() -> Returns::List(Rows::States),
        |parts| parts.lowering().program(&hamel::momentum_state(parts.derivation)),
        expected!(|oracle| oracle.values(&hamel::momentum_state(oracle.derivation)));

    /// (q', p')
    MOMENTUM_RATES: momentum_rates() -> Returns::List(Rows::States),
        |parts| parts.lowering().program(&hamel::momentum_rates(parts.derivation)),
        expected!(|oracle| oracle.values(&hamel::momentum_rates(oracle.derivation)));

    /// The derivatives of (q, p) by (q, xi).
    MOMENTUM_STATE_JACOBIAN: momentum_state_jacobian() -> Returns::Matrix(Rows::States, Rows::States),
        |parts| hamel::jacobian_of(parts, &hamel::momentum_state(parts.derivation)),
        expected!(|oracle| oracle.derivatives(&hamel::momentum_state(oracle.derivation)));

    /// The derivatives of (q', p') by (q, xi).
    MOMENTUM_RATES_JACOBIAN: momentum_rates_jacobian() -> Returns::Matrix(Rows::States, Rows::States),
        |parts| hamel::jacobian_of(parts, &hamel::momentum_rates(parts.derivation)),
        expected!(|oracle| oracle.derivatives(&hamel::momentum_rates(oracle.derivation)));
}

functions! {
    /// The functions that are generated in addition for systems whose inputs have laws.
    CONTROLLED_FUNCTIONS: 2 of Trait::Controlled;

    /// u
    LAW: law() -> Returns::List(Rows::Inputs),
        fields::laws,
        expected!(|oracle| oracle.values(&oracle.derivation.laws));

    /// The derivatives of u by the entries of the state.
    LAW_JACOBIAN: law_jacobian() -> Returns::Matrix(Rows::Inputs, Rows::States),
        |parts| hamel::jacobian_of(parts, &parts.derivation.laws),
        expected!(|oracle| oracle.derivatives(&oracle.derivation.laws));
}

functions! {
    /// The functions that are generated in addition for systems whose field switches.
    SWITCHING_FUNCTIONS: 1 of Trait::Switching;

    /// The functions at whose zeros the field switches.
    SWITCHES: switches() -> Returns::List(Rows::Switches),
        |parts| parts.lowering().program(parts.switches.iter().map(|switch| &switch.argument)),
        expected!(|oracle| oracle.values(switches(oracle.derivation).iter().map(|switch| &switch.argument)));
}

/// The functions that are generated for a system, with their derivatives or without.
pub(crate) fn functions_of(
    derivation: &Derivation,
    switches: bool,
    with_derivatives: bool,
) -> impl Iterator<Item = &'static GeneratedFunction> {
    let of_lagrangian: &[&GeneratedFunction] = if derivation.hamel.is_some() { &LAGRANGIAN_FUNCTIONS } else { &[] };
    let of_hamel: &[&GeneratedFunction] = if hamel::is_discretised(derivation) { &HAMEL_FUNCTIONS } else { &[] };
    let of_laws: &[&GeneratedFunction] = if derivation.laws.is_empty() { &[] } else { &CONTROLLED_FUNCTIONS };
    let of_switches: &[&GeneratedFunction] = if switches { &SWITCHING_FUNCTIONS } else { &[] };
    let derivatives: &[&GeneratedFunction] = if with_derivatives { &DERIVATIVES } else { &[] };
    let has_law_derivatives = with_derivatives && !derivation.laws.is_empty();
    let of_derived: &[&GeneratedFunction] = if has_law_derivatives { &LAW_DERIVATIVES } else { &[] };
    let derived = of_switches.iter().chain(derivatives).chain(of_derived);
    FUNCTIONS.iter().chain(of_lagrangian).chain(of_hamel).chain(of_laws).chain(derived).copied()
}

impl Trait {
    /// Its functions that every system with it has, in the order of the generated code, and those that some have.
    pub fn functions(self) -> [&'static [&'static GeneratedFunction]; 2] {
        match self {
            Self::Prepared => [&FUNCTIONS, &[]],
            Self::Lagrangian => [&LAGRANGIAN_FUNCTIONS, &[]],
            Self::Hamel => [&HAMEL_FUNCTIONS, &[]],
            Self::Controlled => [&CONTROLLED_FUNCTIONS, &[]],
            Self::Switching => [&SWITCHING_FUNCTIONS, &[]],
            Self::Differentiable => [&DERIVATIVES, &LAW_DERIVATIVES],
        }
    }
}

impl GeneratedFunction {
    /// Returns `true` if methods evaluate it in every stage, so that a call would cost more than it looks.
    pub fn is_field(&self) -> bool {
        [&VECTOR_FIELD, &FEEDBACK_FIELD, &PROJECTION].iter().any(|field| field.name == self.name)
    }

    /// In which form the function hands the integrals to the law, if it takes the law.
    pub fn law(&self) -> Option<Form> {
        self.arguments.iter().find_map(|argument| match argument {
            Argument::Law(form) => Some(*form),
            _ => None,
        })
    }

    /// The variables of differentiation, where it is a derivative.
    pub(crate) fn unknowns(&self, derivation: &Derivation) -> Vec<Unknown> {
        if self.derivative() == Some(Derivative::StateTangent) {
            return derivation.symbols.states().map(Unknown::Symbol).collect();
        }
        let mut unknowns: Vec<Unknown> = derivation.symbols.unknowns().map(Unknown::Symbol).collect();
        let moves_targets = self.arguments.contains(&Argument::TargetsDirection);
        if moves_targets || self.returns == Returns::ProjectionGradient {
            unknowns.extend(derivation.symbols.states().map(Unknown::Variance));
            unknowns.extend(derivation.integrals.ids().map(Unknown::Target));
        }
        unknowns
    }

    /// Which derivative of another function it is, if it is one.
    pub fn derivative(&self) -> Option<Derivative> {
        match self.expected {
            Expected::Derivative { derivative, .. } => Some(derivative),
            Expected::Values { .. } => None,
        }
    }
}
