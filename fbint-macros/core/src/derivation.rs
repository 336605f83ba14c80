//! The mathematics of one model as plain data: what `mechanics` derives, `program` lowers and `notation` prints.
//!
//! Symbols 0..N are the state x, parameters follow, then multipliers. A canonical state is x = (q, p) with N = 2n,
//! J = [[0, I], [-I, 0]] and bracket {f, g} = f_q . g_p - f_p . g_q. Its integrals are F = (g_1.., g'_1.., phase
//! constraints.., H, invariants..), and X = J (grad H - Df^T c) where c solves C^T c = b with C_ij = {f_i, f_j},
//! b_i = {H, f_i} over the constraints f alone (CPV22 eq. 4). Any other state has F = (invariant sets.., H if there is one,
//! invariants..) and a field that is given, or is J(x) grad H.

use crate::expression::Expression;

/// What is declared.
#[derive(Clone, Debug)]
pub struct Problem {
    /// N
    pub dimension: usize,
    /// How the state moves where there are no constraints.
    pub dynamics: Dynamics,
    /// Canonical: holonomic constraints g(q) = 0. Otherwise: invariant sets g(x) = 0 of the field.
    pub constraints: Vec<Expression>,
    /// Canonical: constraints f(q, p) = 0 taken as they stand.
    pub phase: Vec<Expression>,
    /// First integrals besides the energy.
    pub invariants: Vec<Expression>,
    /// Extra quantities, which may contain multipliers.
    pub outputs: Vec<Expression>,
    /// The multiplier of the i-th of `constraints` and `phase` is the symbol of this index plus i.
    pub first_multiplier: u32,
}

/// How a state moves.
#[derive(Clone, Debug)]
pub enum Dynamics {
    /// By Hamilton's equations.
    Canonical {
        /// H
        hamiltonian: Expression,
    },
    /// x' = J(x) grad H.
    Poisson {
        /// J, row by row.
        matrix: Vec<Vec<Expression>>,
        /// H
        hamiltonian: Expression,
    },
    /// x' as it is given.
    Given {
        /// x', entry by entry.
        rates: Vec<Expression>,
    },
}

/// What follows from a [`Problem`].
#[derive(Clone, Debug)]
pub struct Derivation {
    /// N
    pub dimension: usize,
    /// F, in the order of the module's head.
    pub integrals: Vec<Expression>,
    /// DF: the non-zero entries (index of the state, derivative) of each integral's gradient, indices increasing.
    pub gradients: Vec<Vec<(usize, Expression)>>,
    /// X
    pub field: Field,
    /// J, where the field is J(x) grad H of a state that is not canonical.
    pub poisson: Option<Vec<Vec<Expression>>>,
    /// The index of H in `integrals`.
    pub energy: Option<usize>,
    /// How many of the integrals, the first ones, vanish on the constraint set.
    pub constraint_count: usize,
    /// How H depends on the momenta.
    pub kinetic_energy: KineticEnergy,
    /// As declared.
    pub outputs: Vec<Expression>,
    /// As declared.
    pub first_multiplier: u32,
}

/// The vector field.
#[derive(Clone, Debug)]
pub enum Field {
    /// J (grad H - Df^T c), with the brackets among the constraints and with H.
    Dirac(Constraints),
    /// x', entry by entry.
    Given(Vec<Expression>),
}

/// How H depends on the momenta, which decides what splitting methods can do with it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum KineticEnergy {
    /// In any way, or there are no momenta.
    General,
    /// H = T(p) + U(q).
    Separable,
    /// H = T(p) + U(q) with T quadratic.
    Quadratic,
}

/// The linear system for the covector coefficients c.
#[derive(Clone, Debug)]
pub enum Constraints {
    /// k holonomic constraints and their k rates: C = [[0, A], [-A, B]], so that A c2 = g', A c1 = {H, g'} + B c2.
    Holonomic {
        /// A_ij = {g_i, g'_j}, symmetric k x k.
        a: Vec<Vec<Expression>>,
        /// B_ij = {g'_i, g'_j}, antisymmetric k x k.
        b: Vec<Vec<Expression>>,
        /// {H, g'_i}
        energy_brackets: Vec<Expression>,
    },
    /// Any even set of constraints, the first `2 holonomic` of which are holonomic ones and their rates.
    Phase {
        /// How many holonomic constraints there are.
        holonomic: usize,
        /// C_ij = {f_i, f_j}, antisymmetric.
        c: Vec<Vec<Expression>>,
        /// {H, f_i}
        energy_brackets: Vec<Expression>,
    },
}

impl Constraints {
    /// k, the number of holonomic constraints.
    pub fn holonomic(&self) -> usize {
        match self {
            Self::Holonomic { a, .. } => a.len(),
            Self::Phase { holonomic, .. } => *holonomic,
        }
    }

    /// The number of constraints f, rates included: the length of c.
    pub fn len(&self) -> usize {
        match self {
            Self::Holonomic { a, .. } => 2 * a.len(),
            Self::Phase { c, .. } => c.len(),
        }
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Derivation {
    /// The linear system for c, unless the field is given.
    pub fn constraints(&self) -> Option<&Constraints> {
        match &self.field {
            Field::Dirac(constraints) => Some(constraints),
            Field::Given(_) => None,
        }
    }

    /// The entry of DF in row `integral` and column `state`, unless it vanishes.
    pub fn entry(&self, integral: usize, state: usize) -> Option<&Expression> {
        let gradient = &self.gradients[integral];
        gradient.iter().find(|(column, _)| *column == state).map(|(_, entry)| entry)
    }

    /// The entry of c that is the multiplier of the i-th declared constraint: those of rates have none.
    pub fn multiplier(&self, declared: usize) -> usize {
        let holonomic = self.constraints().map_or(0, Constraints::holonomic);
        if declared < holonomic { declared } else { declared + holonomic }
    }

    /// The full matrix C at a point, row by row, from the blocks.
    pub fn constraint_matrix(&self, value: &impl Fn(&Expression) -> f64) -> Vec<Vec<f64>> {
        let values = |matrix: &[Vec<Expression>]| -> Vec<Vec<f64>> {
            matrix.iter().map(|row| row.iter().map(value).collect()).collect()
        };
        match &self.field {
            Field::Given(_) => Vec::new(),
            Field::Dirac(Constraints::Phase { c, .. }) => values(c),
            Field::Dirac(Constraints::Holonomic { a, b, .. }) => {
                let (a, b, k) = (values(a), values(b), a.len());
                let mut c = vec![vec![0.0; 2 * k]; 2 * k];
                for i in 0..k {
                    for j in 0..k {
                        c[i][k + j] = a[i][j];
                        c[k + i][j] = -a[i][j];
                        c[k + i][k + j] = b[i][j];
                    }
                }
                c
            }
        }
    }

    /// b_i = {H, f_i} for every constraint, in the order of `integrals`; {H, g_i} is -g'_i.
    pub fn energy_brackets(&self, value: &impl Fn(&Expression) -> f64) -> Vec<f64> {
        match &self.field {
            Field::Given(_) => Vec::new(),
            Field::Dirac(Constraints::Phase { energy_brackets, .. }) => energy_brackets.iter().map(value).collect(),
            Field::Dirac(Constraints::Holonomic { energy_brackets, .. }) => {
                let k = energy_brackets.len();
                let of_positions = self.integrals[k..2 * k].iter().map(|rate| -value(rate));
                of_positions.chain(energy_brackets.iter().map(value)).collect()
            }
        }
    }
}

/// Where the field without feedback keeps an integral, and how that is known.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conservation {
    /// dI.X = 0 in every state.
    Everywhere(Evidence),
    /// dI.X = 0 in every state that satisfies the constraints.
    OnConstraints(Evidence),
    /// No state was found in which this could be tested.
    Undecided,
}

/// How a statement is known to be true.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Evidence {
    /// It is true of every system of this form.
    Construction,
    /// Exact algebra proved it.
    Algebra,
    /// It is true to more than forty digits in so many states.
    Samples(u32),
}

/// What was found out about a [`Derivation`], for people to read: nothing of it enters the generated code.
#[derive(Clone, Debug)]
pub struct Findings {
    /// For each integral.
    pub conservation: Vec<Conservation>,
    /// {I_a, I_b} among the energy and the invariants.
    pub involution: Involution,
    /// Which integrals are functions of the others.
    pub dependence: Dependence,
    /// Constraints whose declaration takes a root of something that depends on the state.
    pub roots: Vec<usize>,
    /// What looks like a mistake and was not proved to be one.
    pub doubts: Vec<Doubt>,
}

/// What a search among states suggests. Nothing was found where something should be, which proves nothing: a domain may be
/// small and far away. So a doubt is an error only if algebra proves it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Doubt {
    /// A declared quantity is defined in no state that was tried.
    Undefined {
        /// The quantity, as a message calls it.
        what: String,
        /// Why it is undefined, in the states that were tried.
        reason: &'static str,
        /// The part of it that is undefined.
        part: Expression,
    },
    /// A constraint has one sign in every state that was tried.
    OneSign {
        /// The constraint's index in the integrals.
        member: usize,
        /// Whether that sign is positive.
        positive: bool,
    },
    /// No state was found that satisfies all of these constraints.
    Unsatisfied(Vec<usize>),
    /// The gradient of a constraint vanishes in every state that was found to satisfy it.
    NoGradient(usize),
    /// C is singular in every state that was tried.
    Singular {
        /// Constraints that are responsible, by their index in the integrals.
        members: Vec<usize>,
        /// Whether states in general position were tried, or states that satisfy the constraints.
        everywhere: bool,
    },
    /// Generated functions that were compared with the derivation at no point, because something in them is undefined there.
    Unverified(Vec<&'static str>),
}

/// Brackets of integrals that are no constraints: Dirac brackets where there are constraints.
#[derive(Clone, Debug, Default)]
pub struct Involution {
    /// How many pairs there are; 0 where the system has no bracket, or more integrals than were looked at.
    pub pairs: usize,
    /// The pairs that do not commute, with their bracket where it was brought into closed form.
    pub others: Vec<(usize, usize, Option<Expression>)>,
}

/// The rank of DF.
#[derive(Clone, Debug, Default)]
pub struct Dependence {
    /// The rank in general position; `None` where it was not determined.
    pub rank: Option<usize>,
    /// Sets of integrals, each of which is bound by an equation.
    pub sets: Vec<Vec<usize>>,
}
