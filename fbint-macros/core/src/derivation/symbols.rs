//! The roles of a model's symbols.

use super::{EntryOf, IntegralId};
use crate::derivation::table::{Id, Table};
use crate::expression::Symbol;

/// A symbol of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SymbolInfo {
    /// The name in plain text: `m`, `q[0]`, `q[(0, 1)]`, `c[length]`.
    pub name: String,
    /// The name in a formula: `m`, `q_{0}`, `q_{0,1}`, `\omega_{2}`.
    pub latex: String,
    /// The declared variable, parameter or input, and the place in it. A symbol that is not declared is a scalar of its own.
    pub entry: EntryOf,
    /// Its value now.
    pub role: Role,
}

/// The role of a symbol in the mechanics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// An entry of q in a canonical state (q, p).
    Coordinate {
        /// Its conjugate.
        momentum: Symbol,
    },
    /// An entry of p in a canonical state (q, p).
    Momentum {
        /// Its conjugate.
        coordinate: Symbol,
    },
    /// An entry of q in a state (q, xi) of a Lagrangian system.
    Position,
    /// An entry of xi in a state (q, xi) of a Lagrangian system.
    Velocity,
    /// An entry of a velocity that a constraint puts to zero: it is not part of the state, and only L depends on it.
    Vanishing {
        /// The symbol of what holds it at zero.
        reaction: Symbol,
    },
    /// The reaction along a velocity that a constraint sets to zero.
    Reaction {
        /// The velocity.
        of: Symbol,
    },
    /// An entry of a state of any other system.
    State,
    /// The time, an entry of the state of systems that depend on it.
    Time,
    /// The work that was done on a driven system, an entry of its state.
    Work,
    /// An entry of a parameter.
    Parameter,
    /// An entry of an input, whose value is given from outside at every evaluation.
    Input,
    /// The entry of c that belongs to a constraint.
    Multiplier(IntegralId),
    /// The notation for the rate of a coordinate, or of any entry of a `state`, in a declaration.
    Rate {
        /// The symbol whose rate this is.
        of: Symbol,
    },
    /// The notation for the momentum dL/dv of a velocity in a declaration.
    Conjugate {
        /// The velocity.
        of: Symbol,
    },
    /// The rate of a velocity without reactions.
    Acceleration {
        /// The velocity.
        of: Symbol,
    },
    /// The rate of a velocity per unit of a reaction.
    Response {
        /// The velocity.
        of: Symbol,
        /// The integral f = A xi that the reaction A^T lambda keeps.
        to: IntegralId,
    },
}

impl Role {
    /// Returns `true` if the symbol is an entry of the state.
    pub fn is_state(self) -> bool {
        matches!(
            self,
            Self::Coordinate { .. }
                | Self::Momentum { .. }
                | Self::Position
                | Self::Velocity
                | Self::State
                | Self::Time
                | Self::Work
        )
    }

    /// Returns `true` if the symbol is an entry of a velocity, be it part of the state or set to zero.
    pub fn is_velocity(self) -> bool {
        matches!(self, Self::Velocity | Self::Vanishing { .. })
    }
}

/// All symbols of a model: the entries of the state in the order of the flat state, of the parameters and of the inputs, and symbols that
/// are not unknowns: vanishing velocities, multipliers, auxiliary quantities.
pub type Symbols = Table<Symbol, SymbolInfo>;

impl Id for Symbol {
    fn at(place: usize) -> Self {
        Self(place as u32)
    }

    fn place(self) -> usize {
        self.0 as usize
    }
}

impl Symbols {
    /// The entries of the state in their order.
    pub fn states(&self) -> impl Iterator<Item = Symbol> {
        self.iter().filter(|(_, symbol)| symbol.role.is_state()).map(|(id, _)| id)
    }

    /// The table that has `entry` of each entry of the state.
    pub fn over_states<T>(&self, entry: impl FnMut(Symbol) -> T) -> Table<Symbol, T> {
        self.states().map(entry).collect()
    }

    /// The names of the declared scalars, vectors and matrices of the state in their order, each with its entries.
    pub fn variables(&self) -> Vec<(&str, Vec<Symbol>)> {
        let mut variables: Vec<(&str, Vec<Symbol>)> = Vec::new();
        for symbol in self.states() {
            let name = &*self[symbol].entry.name;
            match variables.last_mut().filter(|(last, _)| *last == name) {
                Some((_, entries)) => entries.push(symbol),
                None => variables.push((name, vec![symbol])),
            }
        }
        variables
    }

    /// N, the number of entries of the state.
    pub fn dimension(&self) -> usize {
        self.states().count()
    }

    /// The entries of the parameters in their order.
    pub fn parameters(&self) -> impl Iterator<Item = Symbol> {
        self.iter().filter(|(_, symbol)| symbol.role == Role::Parameter).map(|(id, _)| id)
    }

    /// The entries of the inputs in their order.
    pub fn inputs(&self) -> impl Iterator<Item = Symbol> {
        self.iter().filter(|(_, symbol)| symbol.role == Role::Input).map(|(id, _)| id)
    }

    /// The symbols that have any value: the entries of the state, of the parameters and of the inputs.
    pub fn unknowns(&self) -> impl Iterator<Item = Symbol> {
        self.states().chain(self.parameters()).chain(self.inputs())
    }

    /// The symbol of a constraint's multiplier.
    pub fn multiplier(&self, constraint: IntegralId) -> Option<Symbol> {
        self.only(Role::Multiplier(constraint))
    }

    /// The symbol with a role that only one symbol has.
    pub fn only(&self, role: Role) -> Option<Symbol> {
        self.iter().find(|(_, symbol)| symbol.role == role).map(|(id, _)| id)
    }

    /// Returns `true` if forces, inputs or the time change the energy, so that the state has the work that they do.
    pub fn is_driven(&self) -> bool {
        self.only(Role::Work).is_some()
    }

    /// The symbols with a role like this, in their order.
    pub fn with(&self, is_meant: impl Fn(Role) -> bool) -> Vec<Symbol> {
        self.iter().filter(|(_, symbol)| is_meant(symbol.role)).map(|(id, _)| id).collect()
    }

    /// The constraint whose multiplier a symbol is.
    pub fn constraint(&self, symbol: Symbol) -> Option<IntegralId> {
        match self.get(symbol)?.role {
            Role::Multiplier(constraint) => Some(constraint),
            _ => None,
        }
    }

    /// Returns `true` if a symbol is an entry of the state.
    pub fn is_state(&self, symbol: Symbol) -> bool {
        self.get(symbol).is_some_and(|symbol| symbol.role.is_state())
    }
}
