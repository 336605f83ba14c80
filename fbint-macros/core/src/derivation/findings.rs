//! The findings about a derivation.

use super::{IntegralId, Quantity, SparseRow};
use crate::derivation::table::Table;
use crate::expression::{Expression, Symbol};

/// Where the field without feedback keeps an integral, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conservation {
    /// dI.X = 0 in every state.
    Everywhere(Evidence),
    /// dI.X = 0 in every state that satisfies the constraints.
    OnConstraints(Evidence),
    /// Neither was proved: the declaration assumes it, and a search found no state that refutes it.
    Assumed,
}

/// The answer of algebra to the claim that an integral is conserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Claim {
    /// It is proved.
    Proved(Conservation),
    /// It is neither proved nor refuted.
    Open {
        /// dI.X where the constraints hold. It may contain multipliers.
        rate: Expression,
    },
}

/// The evidence for a statement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is true of every system of this form.
    Construction,
    /// Exact algebra proved it.
    Algebra,
    /// Algebra proved it, by a kept derivation: points modulo primes do not repeat the proof, and no state was found that refutes it.
    Kept,
}

/// Findings about a [`Derivation`](super::Derivation) for people to read: the generated code repeats them, and does not depend on them.
#[derive(Clone, Debug)]
pub struct Findings {
    /// For each integral.
    pub conservation: Table<IntegralId, Conservation>,
    /// Further conserved quantities.
    pub further: Further,
    /// {I_a, I_b} among the energy and the invariants.
    pub involution: Involution,
    /// Which integrals are functions of the others.
    pub rank: Rank,
    /// The dependence of H on the momenta.
    pub kinetic_energy: KineticEnergy,
    /// Constraints whose declaration takes a root of something that depends on the state.
    pub roots: Vec<IntegralId>,
    /// The velocity constraints, if there are any.
    pub velocity_constraints: Option<VelocityConstraints>,
    /// Likely mistakes that are not proved.
    pub doubts: Vec<Doubt>,
}

/// The dependence of H on the momenta, which decides which splitting methods apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KineticEnergy {
    /// In any way, or there are no momenta.
    General,
    /// H = T(p) + U(q).
    Separable,
    /// H = T(p) + U(q) with T quadratic.
    Quadratic,
}

/// Undeclared conserved quantities that a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Further {
    /// Functions of the state, independent of what is declared and of one another, shortest first.
    pub found: Vec<FurtherIntegral>,
    /// The number of further such functions, whose coefficients are not polynomials of low degree in the parameters, or which are not
    /// proved.
    pub others: usize,
    /// Where it was looked, or why it was not.
    pub searched: Result<Searched, &'static str>,
}

/// A function that is conserved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FurtherIntegral {
    /// The function.
    pub value: Expression,
    /// The entries of its gradient that do not vanish, in the order of the state.
    pub gradient: SparseRow,
    /// Where it is conserved.
    pub grade: Conservation,
}

/// The polynomials among which was searched.
#[derive(Clone, Debug, PartialEq)]
pub struct Searched {
    /// Their degree, at most.
    pub degree: usize,
    /// The variables of the polynomials, in addition to the state.
    pub atoms: Vec<Expression>,
    /// `true` if only what is conserved in all states was looked for, although there are constraints, because no points modulo primes satisfy
    /// them.
    pub is_everywhere: bool,
    /// The number of their coefficients.
    pub unknowns: usize,
    /// At how many points the field was evaluated to exclude them.
    pub points: usize,
}

impl Searched {
    /// The probability that something is overlooked, at most.
    pub const ERROR: f64 = 1e-8;
}

/// All velocity constraints of a system, held by reactions or set to zero.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VelocityConstraints {
    /// Their names.
    pub names: Vec<String>,
    /// `true` if they are integrable (Frobenius): rates of functions of the coordinates, or combinations of such.
    pub are_holonomic: bool,
}

/// A suspicion from a search among states. Nothing was found where something should be, which proves nothing: a domain may be small and far
/// away. So a doubt is an error only if algebra proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A declared quantity is defined in no state that was tried.
    Undefined {
        /// The quantity.
        quantity: Quantity,
        /// The part of it that is undefined.
        part: Expression,
    },
    /// No state was found that satisfies all of these constraints.
    Unsatisfied(Vec<IntegralId>),
    /// The gradient of a constraint vanishes in every state that was found to satisfy it.
    NoGradient(IntegralId),
    /// The mass matrix of a Lagrangian system is unsound in every state that was tried.
    Inertia {
        /// `true` if it has both signs, and is not singular.
        is_indefinite: bool,
    },
    /// C, or what stands in its place, is singular in every state that was tried.
    Singular {
        /// Constraints that are responsible.
        members: Vec<IntegralId>,
        /// `true` if states in general position were tried, or states that satisfy the constraints.
        everywhere: bool,
    },
    /// An entry of the start lies beyond a full turn, and nothing but the sine, cosine and tangent of it, or of its sums, occurs.
    BeyondATurn(Symbol),
    /// Generated functions that were compared with the derivation at no point, because something in them is undefined there.
    Unverified(Vec<&'static str>),
}

/// Brackets of integrals that are not constraints: Dirac brackets where there are constraints.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Involution {
    /// The number of pairs that are known to commute or not to; 0 where the system has no bracket, or too many integrals.
    pub pairs: usize,
    /// The pairs that do not commute, with their bracket where it was brought into closed form.
    pub others: Vec<(IntegralId, IntegralId, Option<Bracket>)>,
}

/// The bracket of two integrals that do not commute.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Bracket {
    /// An integral, times a small number.
    Multiple(i64, IntegralId),
    /// Any other function.
    Function(Expression),
}

/// The rank of DF.
#[derive(Clone, Debug, Default)]
pub struct Rank {
    /// The rank in general position; `None` where it was not determined.
    pub rank: Option<usize>,
    /// Sets of integrals, each bound by an equation.
    pub sets: Vec<BoundSet>,
}

/// Integrals whose gradients are dependent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundSet {
    /// The integrals. The gradient of the last is a combination of the others'.
    pub members: Vec<IntegralId>,
    /// `true` if that is proved, and not only so in the states that were tried.
    pub is_proved: bool,
}
