//! The kinds of a model's integrals.

use super::{Conservation, EntryOf, Evidence, SparseRow};
use crate::derivation::table::{Id, Table};
use crate::expression::Expression;

/// The place of an integral in F.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct IntegralId(u32);

impl Id for IntegralId {
    fn at(place: usize) -> Self {
        Self(place as u32)
    }

    fn place(self) -> usize {
        self.0 as usize
    }
}

/// The kind of an integral.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A holonomic constraint g(q) = 0 of a canonical or a Lagrangian system.
    Holonomic {
        /// dg/dt
        rate: IntegralId,
    },
    /// The rate dg/dt = {g, H} = 0 of a holonomic constraint g.
    Rate {
        /// g
        of: IntegralId,
    },
    /// A constraint f(q, p) = 0 of a canonical system, taken as it stands.
    Phase,
    /// A velocity constraint A(q) q' + b = 0 that a reaction holds.
    Velocity,
    /// A holonomic constraint g(q) = 0 that others imply, and that has no reaction.
    Redundant,
    /// An invariant set g(x) = 0 that nothing has to hold: the field keeps it.
    InvariantSet,
    /// H, or the energy xi . dL/dxi - L of a Lagrangian system; of a driven system minus the work that was done on it.
    Energy,
    /// A declared first integral.
    Invariant,
}

impl Kind {
    /// Returns `true` if the integral vanishes on the constraint set.
    pub fn is_constraint(self) -> bool {
        match self {
            Self::Redundant | Self::InvariantSet => true,
            Self::Energy | Self::Invariant => false,
            _ => self.is_held(),
        }
    }

    /// Returns `true` if a reaction holds it, or what it is the rate of.
    pub fn is_held(self) -> bool {
        matches!(self, Self::Holonomic { .. } | Self::Rate { .. } | Self::Phase | Self::Velocity)
    }
}

/// An integral: a function of the state that the flow keeps. Before anything is derived, it is [`Declared`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Integral<V = Expression, G = SparseRow> {
    /// The name in plain text: `length`, `length_rate`, `energy`, `momentum[0]`.
    pub name: String,
    /// The name in a formula.
    pub latex: String,
    /// The declared integral, and the place in it.
    pub entry: EntryOf,
    /// Its value now.
    pub kind: Kind,
    /// The number of equal entries of a declared matrix for which it stands.
    pub weight: u32,
    /// `true` if the declaration takes the responsibility for its conservation, which states may refute.
    pub assumed: bool,
    /// The function.
    pub value: V,
    /// The entries of its gradient that do not vanish, in the order of the state.
    pub gradient: G,
}

/// An integral that has no gradient yet. A rate, which is derived, and the energy, which is H, have no function either.
pub type Declared = Integral<Option<Expression>, ()>;

impl Declared {
    /// The integral with its function and its gradient.
    pub fn derived(&self, value: Expression, gradient: SparseRow) -> Integral {
        let Self { name, latex, entry, kind, weight, assumed, .. } = self.clone();
        Integral { name, latex, entry, kind, weight, assumed, value, gradient }
    }
}

/// F: all integrals in the order in which generated code has them.
pub type Integrals = Table<IntegralId, Integral>;

impl<V, G> Table<IntegralId, Integral<V, G>> {
    /// The integrals that vanish on the constraint set.
    pub fn constraints(&self) -> impl Iterator<Item = (IntegralId, &Integral<V, G>)> {
        self.iter().filter(|(_, integral)| integral.kind.is_constraint())
    }

    /// The constraints that users declare: all but rates.
    pub fn declared_constraints(&self) -> impl Iterator<Item = (IntegralId, &Integral<V, G>)> {
        self.constraints().filter(|(_, integral)| !matches!(integral.kind, Kind::Rate { .. }))
    }

    /// Each holonomic constraint and its rate.
    pub fn holonomic_pairs(&self) -> Vec<(IntegralId, IntegralId)> {
        let pair = |(id, integral): (IntegralId, &Integral<V, G>)| match integral.kind {
            Kind::Holonomic { rate } => Some((id, rate)),
            _ => None,
        };
        self.iter().filter_map(pair).collect()
    }

    /// The energy, or the balance of energy and work; `None` where the field is given.
    pub fn energy(&self) -> Option<IntegralId> {
        self.iter().find(|(_, integral)| integral.kind == Kind::Energy).map(|(id, _)| id)
    }

    /// Where the field conserves an integral by its construction, whatever the declaration says. The reactions of velocity
    /// constraints f do work where these do not hold: dH.X = lambda . f.
    pub fn conserved_by_construction(&self, id: IntegralId) -> Option<Conservation> {
        let has_velocity_constraints = || self.rows().any(|integral| integral.kind == Kind::Velocity);
        match self[id].kind {
            Kind::Energy if has_velocity_constraints() => Some(Conservation::OnConstraints(Evidence::Construction)),
            Kind::Holonomic { .. } | Kind::Rate { .. } | Kind::Phase | Kind::Velocity | Kind::Energy => {
                Some(Conservation::Everywhere(Evidence::Construction))
            }
            Kind::Redundant | Kind::InvariantSet | Kind::Invariant => None,
        }
    }

    /// The integral that was declared: of a rate, the constraint that it is the rate of.
    pub fn declared(&self, id: IntegralId) -> IntegralId {
        match self[id].kind {
            Kind::Rate { of } => of,
            _ => id,
        }
    }
}
