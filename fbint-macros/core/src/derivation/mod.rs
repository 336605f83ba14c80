//! The mathematics of one model as plain data: what `mechanics` derives, `program` lowers and `notation` prints.
//!
//! The lists [`Symbols`] and [`Integrals`] say what each symbol and each integral is, and everything reads it from there. A canonical state
//! is x = (q, p) with J = [[0, I], [-I, 0]] and bracket {f, g} = f_q . g_p - f_p . g_q. Its field is X = J (grad H - Df^T c), where c
//! solves C^T c = b with C_ij = {f_i, f_j}, b_i = {H, f_i} over the constraints f (CPV22 eq. 4). A Lagrangian state is (q, xi) with q' =
//! U(q) xi, and its field follows from Hamel's equations. The field of any other state is given, or is J(x) grad H. Whatever it follows
//! from, a [`Field`] is linear systems, such as C^T c = b, and rates.
//!
//! # Symbols
//!
//! | symbol | meaning |
//! |---|---|
//! | x, N | the state and its dimension |
//! | H | the Hamiltonian, whose value is the integral `energy` |
//! | xi, U, u_i | velocities, q' = U(q) xi, and the columns of U: the directions in which they move the coordinates |
//! | c^a_ij | the brackets of the frame, \[u_i, u_j\] = c^a_ij u_a |
//! | M, W | the mass matrix dp/dxi, and what a unit of a reaction does to the velocities, M W = A^T |
//! | Q, t, u | the generalised forces, the time and the inputs of a driven system |
//! | g, g' | a holonomic constraint and its partner, the rate {g, H} |
//! | f | all constraints: holonomic ones, their rates, phase constraints, velocity constraints |
//! | F, M | the vector of all integrals and their number: the constraints, the energy, invariants. DF is its Jacobian |
//! | C, A | the antisymmetric matrix of brackets {f_i, f_j}, and its block {g_i, g'_j} |
//! | c | the multipliers, C^T c = {H, f} |
//! | X | the vector field to integrate, tangent to the level sets of F |
//!
//! A list has the order of the flat state, or of F, and the order means nothing else.

mod constraints;
mod drive;
mod entries;
mod field;
mod findings;
mod integrals;
mod structure;
mod symbols;
pub mod table;

pub use constraints::{ConstraintMatrix, Unknowns};
pub use drive::{Drive, Force};
pub use entries::{EntryOf, Group, groups};
pub use field::{Field, FrameBracket, Hamel, LinearSystem, Reaction};
pub use findings::{
    BoundSet, Bracket, Claim, Conservation, Doubt, Evidence, Findings, Further, FurtherIntegral, Involution,
    KineticEnergy, Rank, Searched, VelocityConstraints,
};
pub use integrals::{Declared, Integral, IntegralId, Integrals, Kind};
pub use structure::{SparseRow, Structure};
pub use symbols::{Role, SymbolInfo, Symbols};

use crate::derivation::table::Table;
use crate::expression::{Expression, Symbol};

/// The declared quantities.
#[derive(Clone, Debug)]
pub struct Problem {
    /// The name of the model.
    pub name: String,
    /// The entries of the state and of the parameters, and the multipliers of the constraints.
    pub symbols: Symbols,
    /// The motion of the state without constraints.
    pub dynamics: Dynamics,
    /// Everything that the flow keeps.
    pub integrals: Table<IntegralId, Declared>,
    /// The reactions of the velocity constraints, in the order of the integrals.
    pub reactions: Vec<Reaction>,
    /// Generalised forces, by the momenta or the velocities along which they act.
    pub forces: Vec<(Symbol, Expression)>,
    /// Extra quantities, which may contain multipliers.
    pub outputs: Vec<Output>,
    /// The law of each entry of the inputs, itself where it has none; empty where no input has a law.
    pub laws: Vec<Expression>,
}

impl Problem {
    /// Every function of the state that is declared.
    pub fn functions(&self) -> Vec<(Quantity, &Expression)> {
        let mut all: Vec<(Quantity, &Expression)> = match &self.dynamics {
            Dynamics::Canonical { hamiltonian } => vec![(Quantity::Hamiltonian, hamiltonian)],
            Dynamics::Lagrangian(Lagrangian { lagrangian, kinematics, .. }) => {
                let rates = kinematics.iter().map(|(coordinate, rate)| (Quantity::Rate(*coordinate), rate));
                [(Quantity::Lagrangian, lagrangian)].into_iter().chain(rates).collect()
            }
            Dynamics::Poisson { matrix, hamiltonian } => {
                let entries = matrix.iter().flatten().map(|entry| (Quantity::Poisson, entry));
                [(Quantity::Hamiltonian, hamiltonian)].into_iter().chain(entries).collect()
            }
            Dynamics::Given { rates } => {
                self.symbols.states().zip(rates).map(|(state, rate)| (Quantity::Rate(state), rate)).collect()
            }
        };
        let integrals = self.integrals.iter().filter_map(|(id, integral)| Some((id, integral.value.as_ref()?)));
        all.extend(integrals.map(|(id, value)| (Quantity::Integral(id), value)));
        all.extend(self.outputs.iter().enumerate().map(|(place, output)| (Quantity::Output(place), &output.value)));
        all.extend(self.symbols.inputs().zip(&self.laws).map(|(input, law)| (Quantity::Law(input), law)));
        all
    }

    /// The function of the energy, where H is declared: of a driven system minus the work.
    pub fn energy_function(&self) -> Option<Expression> {
        Some(self.balanced(self.dynamics.hamiltonian()?.clone()))
    }

    /// An energy, of a driven system minus the work.
    pub fn balanced(&self, energy: Expression) -> Expression {
        match self.symbols.only(Role::Work) {
            Some(work) => energy - Expression::from(work),
            None => energy,
        }
    }

    /// The derivation with these integrals and this field; the rest is as declared.
    pub fn derivation(&self, integrals: Integrals, field: Field) -> Derivation {
        Derivation {
            name: self.name.clone(),
            symbols: self.symbols.clone(),
            structure: Structure::of(self),
            drive: Drive::of(self),
            integrals,
            field,
            hamel: None,
            outputs: self.outputs.clone(),
            laws: self.laws.clone(),
        }
    }
}

/// The declared functions of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// H
    Hamiltonian,
    /// L
    Lagrangian,
    /// An entry of the Poisson matrix.
    Poisson,
    /// The rate of an entry of the state.
    Rate(Symbol),
    /// The force along a velocity or a momentum.
    Force(Symbol),
    /// A constraint or an invariant.
    Integral(IntegralId),
    /// An output, by its place.
    Output(usize),
    /// The law of an entry of the inputs.
    Law(Symbol),
}

/// A named function of the state and the multipliers.
#[derive(Clone, Debug)]
pub struct Output {
    /// The name in plain text: `tension`, `force[0]`, `rod[3]`.
    pub name: String,
    /// The declared output, and the place in it.
    pub entry: EntryOf,
    /// The name in a formula.
    pub latex: String,
    /// The function.
    pub value: Expression,
}

/// The motion of a state.
#[derive(Clone, Debug)]
pub enum Dynamics {
    /// By Hamilton's equations.
    Canonical {
        /// H
        hamiltonian: Expression,
    },
    /// By the equations of Euler, Lagrange and Hamel.
    Lagrangian(Lagrangian),
    /// x' = J(x) grad H.
    Poisson {
        /// J, row by row.
        matrix: Vec<Vec<Expression>>,
        /// H
        hamiltonian: Expression,
    },
    /// x', given by the declaration.
    Given {
        /// x', entry by entry.
        rates: Vec<Expression>,
    },
}

impl Dynamics {
    /// H, where it is declared.
    pub fn hamiltonian(&self) -> Option<&Expression> {
        match self {
            Self::Canonical { hamiltonian } | Self::Poisson { hamiltonian, .. } => Some(hamiltonian),
            Self::Lagrangian(_) | Self::Given { .. } => None,
        }
    }
}

/// A Lagrangian system as declared, with all of its velocities, including the ones that constraints set to zero.
#[derive(Clone, Debug)]
pub struct Lagrangian {
    /// L(q, xi)
    pub lagrangian: Expression,
    /// q' = U(q) xi, coordinate by coordinate.
    pub kinematics: Vec<(Symbol, Expression)>,
    /// The brackets of the frame that do not vanish. They follow from the kinematics.
    pub brackets: Vec<FrameBracket>,
    /// Set if constraints determine velocities without inertia. This follows from everything else.
    pub is_augmented: bool,
}

/// The derivation from a [`Problem`].
#[derive(Clone, Debug)]
pub struct Derivation {
    /// The name of the model.
    pub name: String,
    /// The entries of the state and of the parameters, and the multipliers of the constraints.
    pub symbols: Symbols,
    /// The bracket.
    pub structure: Structure,
    /// The causes of motion in addition to the energy.
    pub drive: Drive,
    /// F, with DF in the gradients.
    pub integrals: Integrals,
    /// X
    pub field: Field,
    /// The frame of a Lagrangian system.
    pub hamel: Option<Hamel>,
    /// As declared.
    pub outputs: Vec<Output>,
    /// As declared.
    pub laws: Vec<Expression>,
}

/// All that takes algebra to find out about a [`Problem`].
#[derive(Clone, Debug)]
pub struct Prepared {
    /// The derivation from the problem.
    pub derivation: Derivation,
    /// The answers of algebra to all claims of conservation.
    pub claims: Table<IntegralId, Claim>,
    /// Which integrals commute.
    pub involution: Involution,
}

impl Derivation {
    /// The entries of the inputs that no law gives.
    pub fn open_inputs(&self) -> impl Iterator<Item = Symbol> {
        let is_open =
            |place: usize, input: Symbol| self.laws.get(place).is_none_or(|law| *law == Expression::from(input));
        self.symbols.inputs().enumerate().filter(move |(place, input)| is_open(*place, *input)).map(|(_, input)| input)
    }

    /// All that equations are made of.
    pub fn expressions(&self) -> impl Iterator<Item = &Expression> {
        let Self { hamel, integrals, field, outputs, structure, .. } = self;
        let of_frame = hamel.iter().flat_map(|hamel| [&hamel.lagrangian].into_iter().chain(hamel.momenta.values()));
        let of_integrals =
            integrals.rows().flat_map(|integral| [&integral.value].into_iter().chain(integral.gradient.values()));
        let of_matrix = match structure {
            Structure::Matrix(rows) => Some(rows.rows().flat_map(|row| row.values())),
            _ => None,
        };
        let of_outputs = outputs.iter().map(|output| &output.value);
        let of_matrix = of_matrix.into_iter().flatten();
        of_frame.chain(of_integrals).chain(field.expressions()).chain(of_outputs).chain(of_matrix)
    }

    /// N, the number of entries of the state.
    pub fn dimension(&self) -> usize {
        self.symbols.dimension()
    }

    /// Returns `true` if brackets of the constraints determine all multipliers: velocity constraints have none.
    pub fn has_brackets(&self) -> bool {
        let has_reactions = || self.integrals.rows().any(|integral| integral.kind == Kind::Velocity);
        self.hamel.is_none() && !has_reactions()
    }

    /// Returns `true` if what holds a constraint acts along its gradient.
    pub fn has_reaction(&self, constraint: IntegralId) -> bool {
        let kind = self.integrals[constraint].kind;
        match self.structure {
            Structure::Canonical => kind.is_held(),
            _ => matches!(kind, Kind::Holonomic { .. }) && !self.field.systems.is_empty(),
        }
    }

    /// The matrix by which the multipliers of a canonical system are determined, row by row, and the constraints of its columns.
    pub fn multiplier_matrix(&self) -> (Vec<IntegralId>, Vec<Vec<Expression>>) {
        let system = self.system_of(Unknowns::OfBrackets).or_else(|| self.system_of(Unknowns::OfReactions));
        let system = system.filter(|_| self.hamel.is_none());
        system.map(|system| (self.solved_by(system), system.matrix.clone())).unwrap_or_default()
    }
}
