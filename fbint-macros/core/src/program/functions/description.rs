//! The description of a generated function: its name, arguments and results, its construction, and the values that it should return.

use crate::numbers::dual::Dual;
use crate::numbers::points::Unknown;
use crate::numbers::precise::Real;
use crate::program::build::fields::FunctionParts;
use crate::program::code::Program;
use crate::program::derivatives::Derivative;
use crate::program::oracle::Oracle;

/// A generated function of the state.
#[derive(Debug)]
pub struct GeneratedFunction {
    /// The name in Rust.
    pub name: &'static str,
    /// Its arguments after the state.
    pub arguments: &'static [Argument],
    /// Its result.
    pub returns: Returns,
    /// The trait that has it.
    pub owner: Trait,
    pub(crate) build: fn(&FunctionParts<'_>) -> Program,
    pub(crate) expected: Expected,
}

/// The expected result of a function.
#[derive(Debug)]
pub(crate) enum Expected {
    /// Numbers: in doubles, and in 256 bits, where rounding must not count.
    Values { in_doubles: fn(&Oracle<'_, f64>) -> Vec<f64>, precisely: fn(&Oracle<'_, Real>) -> Vec<Real> },
    /// A derivative of these numbers.
    Derivative {
        derivative: Derivative,
        in_doubles: fn(&Oracle<'_, f64>) -> Vec<f64>,
        precisely: fn(&Oracle<'_, Dual<Unknown>>) -> Vec<Dual<Unknown>>,
    },
}

/// The arguments of a function after the state.
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

/// The items that a list has a number for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Rows {
    /// Each entry of the state.
    States,
    /// Each integral.
    Integrals,
    /// Each declared output.
    Outputs,
    /// Each velocity that is part of the state.
    Velocities,
    /// Each entry of the inputs.
    Inputs,
    /// Each switch.
    Switches,
}

/// In which form a function hands the integrals to the law.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// F
    Declared,
    /// f, where F = scale (f + offset); it takes back `factor` times y. See [`Programs::normalisation`](crate::program::Programs).
    Normalised,
}

/// The result of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// A number for each of these.
    List(Rows),
    /// For each of the first, a number for each of the second.
    Matrix(Rows, Rows),
    /// A value and a derivative for each of these.
    Tangent(Rows),
    /// A derivative by each unknown.
    Gradient,
    /// A derivative by each unknown, by S and by F_target.
    ProjectionGradient,
    /// The derivatives of each of these by each unknown; emitted are those that do not vanish identically.
    Derivatives(Rows),
}

/// The traits of the runtime that have generated functions of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trait {
    /// All systems, prepared.
    Prepared,
    /// Lagrangian systems.
    Lagrangian,
    /// Lagrangian systems without reactions.
    Hamel,
    /// Systems whose inputs have laws.
    Controlled,
    /// Systems whose field switches.
    Switching,
    /// Systems whose derivatives are generated.
    Differentiable,
}

/// Functions of one trait, in the order of the generated code, and each as a static: its name, what it takes and returns, how it is
/// built, and what it should return.
macro_rules! functions {
    (
        $(#[$about:meta])* $list:ident: $number:literal of $owner:expr;
        $($(#[$doc:meta])* $function:ident: $name:ident($($argument:expr),*) -> $returns:expr, $build:expr, $expected:expr;)*
    ) => {
        $(#[$about])*
        pub static $list: [&GeneratedFunction; $number] = [$(&$function),*];
        $($(#[$doc])*
        pub static $function: GeneratedFunction = GeneratedFunction {
            name: stringify!($name),
            arguments: &[$($argument),*],
            returns: $returns,
            owner: $owner,
            build: $build,
            expected: $expected,
        };)*
    };
}
pub(super) use functions;
