//! The keys of the attribute.

/// The keys, in the order in which messages list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Coordinates,
    Momenta,
    State,
    Poisson,
    Dynamics,
    Hamiltonian,
    Define,
    Constraint,
    PhaseConstraint,
    Invariant,
    Output,
    Crate,
}

impl Key {
    pub(super) const ALL: [Self; 12] = [
        Self::Coordinates,
        Self::Momenta,
        Self::State,
        Self::Poisson,
        Self::Dynamics,
        Self::Hamiltonian,
        Self::Define,
        Self::Constraint,
        Self::PhaseConstraint,
        Self::Invariant,
        Self::Output,
        Self::Crate,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates",
            Self::Momenta => "momenta",
            Self::State => "state",
            Self::Poisson => "poisson",
            Self::Dynamics => "dynamics",
            Self::Hamiltonian => "hamiltonian",
            Self::Define => "define",
            Self::Constraint => "constraint",
            Self::PhaseConstraint => "phase_constraint",
            Self::Invariant => "invariant",
            Self::Output => "output",
            Self::Crate => "crate",
        }
    }

    /// How the key is written.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates(q: [3])",
            Self::Momenta => "momenta(p: [3])",
            Self::State => "state(x: [3])",
            Self::Poisson => "poisson = hat(x)",
            Self::Dynamics => "dynamics(x = expression)",
            Self::Hamiltonian => "hamiltonian = p.norm_squared() / (2 * m)",
            Self::Define => "define(name = expression)",
            Self::Constraint => "constraint(name = expression)",
            Self::PhaseConstraint => "phase_constraint(name = expression)",
            Self::Invariant => "invariant(name = expression)",
            Self::Output => "output(name = expression)",
            Self::Crate => "crate = path::to::fbint_runtime",
        }
    }

    /// The key with this name.
    pub(super) fn spelled(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// Whether the key names several things, so that it may be given repeatedly.
    pub(super) fn repeats(self) -> bool {
        matches!(
            self,
            Self::Dynamics | Self::Define | Self::Constraint | Self::PhaseConstraint | Self::Invariant | Self::Output
        )
    }

    /// What to do about a key that is given twice.
    pub(super) fn repetition(self) -> String {
        match self {
            Self::Coordinates | Self::Momenta | Self::State => {
                format!("`{0}` is given twice: list all of them in one `{0}(..)`", self.name())
            }
            _ => format!("`{}` is given twice: keep one of the two", self.name()),
        }
    }
}
