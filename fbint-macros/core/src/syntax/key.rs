//! The keys of the attribute: how each is written, and where its value is stored.

use proc_macro2::Span;
use syn::{Expr, Ident};

use super::{Named, Variable};

/// The keys, in the order in which messages list them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Key {
    Coordinates,
    Momenta,
    Velocities,
    Kinematics,
    State,
    Poisson,
    Dynamics,
    Hamiltonian,
    Lagrangian,
    Time,
    Input,
    Force,
    Define,
    Constraint,
    PhaseConstraint,
    VelocityConstraint,
    Invariant,
    Output,
    Derivatives,
    Crate,
}

/// Keys that do not exist but are often expected, and what to write instead.
const FOREIGN: [(&str, &str); 9] = [
    ("forces", FORCE),
    ("damping", FORCE),
    ("friction", FORCE),
    ("inputs", INPUT),
    ("control", INPUT),
    ("parameters", "parameters are the fields of the struct"),
    ("kinetic", ENERGIES),
    ("potential", ENERGIES),
    ("jacobian", "write `derivatives`"),
];
const FORCE: &str = "write `force(p = ..)` along a momentum, or `force(v = ..)` along a velocity";
const ENERGIES: &str =
    "kinetic and potential energy are declared together: `hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2]`";
const INPUT: &str = "write `input(u)`";

/// The advice for a key that does not exist but is often expected.
pub(super) fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(key, _)| *key == name).map(|(_, advice)| *advice)
}

impl Key {
    pub(super) const ALL: [Self; 20] = [
        Self::Coordinates,
        Self::Momenta,
        Self::Velocities,
        Self::Kinematics,
        Self::State,
        Self::Poisson,
        Self::Dynamics,
        Self::Hamiltonian,
        Self::Lagrangian,
        Self::Time,
        Self::Input,
        Self::Force,
        Self::Define,
        Self::Constraint,
        Self::PhaseConstraint,
        Self::VelocityConstraint,
        Self::Invariant,
        Self::Output,
        Self::Derivatives,
        Self::Crate,
    ];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates",
            Self::Momenta => "momenta",
            Self::Velocities => "velocities",
            Self::Kinematics => "kinematics",
            Self::State => "state",
            Self::Poisson => "poisson",
            Self::Dynamics => "dynamics",
            Self::Hamiltonian => "hamiltonian",
            Self::Lagrangian => "lagrangian",
            Self::Time => "time",
            Self::Input => "input",
            Self::Force => "force",
            Self::Define => "define",
            Self::Constraint => "constraint",
            Self::PhaseConstraint => "phase_constraint",
            Self::VelocityConstraint => "velocity_constraint",
            Self::Invariant => "invariant",
            Self::Output => "output",
            Self::Derivatives => "derivatives",
            Self::Crate => "crate",
        }
    }

    /// How the key is written.
    pub(super) fn usage(self) -> &'static str {
        match self {
            Self::Coordinates => "coordinates(q: [3])",
            Self::Momenta => "momenta(p: [3])",
            Self::Velocities => "velocities(v: [3])",
            Self::Kinematics => "kinematics(q = expression)",
            Self::State => "state(x: [3])",
            Self::Poisson => "poisson = hat(x)",
            Self::Dynamics => "dynamics(x = expression)",
            Self::Hamiltonian => "hamiltonian = p.norm_squared() / (2 * m)",
            Self::Lagrangian => "lagrangian = m * v.norm_squared() / 2",
            Self::Time => "time(t)",
            Self::Input => "input(u: [2])",
            Self::Force => "force(p = expression)",
            Self::Define => "define(name = expression)",
            Self::Constraint => "constraint(name = expression)",
            Self::PhaseConstraint => "phase_constraint(name = expression)",
            Self::VelocityConstraint => "velocity_constraint(name = expression)",
            Self::Invariant => "invariant(name = expression)",
            Self::Output => "output(name = expression)",
            Self::Derivatives => "derivatives",
            Self::Crate => "crate = path::to::fbint_runtime",
        }
    }

    /// The key with this name.
    pub(super) fn spelled(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|key| key.name() == name)
    }

    /// The syntax after the key, and the field of [`Attribute`] that stores it.
    pub(super) fn slot(self) -> Slot {
        match self {
            Self::Coordinates => Slot::Variables(|attribute| &mut attribute.coordinates),
            Self::Momenta => Slot::Variables(|attribute| &mut attribute.momenta),
            Self::Velocities => Slot::Variables(|attribute| &mut attribute.velocities),
            Self::Kinematics => Slot::Named(|attribute| &mut attribute.kinematics),
            Self::State => Slot::Variables(|attribute| &mut attribute.states),
            Self::Poisson => Slot::Expression(|attribute| &mut attribute.poisson),
            Self::Dynamics => Slot::Named(|attribute| &mut attribute.dynamics),
            Self::Hamiltonian => Slot::Expression(|attribute| &mut attribute.hamiltonian),
            Self::Lagrangian => Slot::Expression(|attribute| &mut attribute.lagrangian),
            Self::Time => Slot::Variables(|attribute| &mut attribute.time),
            Self::Input => Slot::Variables(|attribute| &mut attribute.inputs),
            Self::Force => Slot::Named(|attribute| &mut attribute.forces),
            Self::Define => Slot::Named(|attribute| &mut attribute.defines),
            Self::Constraint => Slot::Named(|attribute| &mut attribute.constraints),
            Self::PhaseConstraint => Slot::Named(|attribute| &mut attribute.phase_constraints),
            Self::VelocityConstraint => Slot::Named(|attribute| &mut attribute.velocity_constraints),
            Self::Invariant => Slot::Named(|attribute| &mut attribute.invariants),
            Self::Output => Slot::Named(|attribute| &mut attribute.outputs),
            Self::Derivatives => Slot::Flag(|attribute| &mut attribute.derivatives),
            Self::Crate => Slot::Path(|attribute| &mut attribute.runtime),
        }
    }

    /// Returns `true` if the key names several things, so that it may be given repeatedly.
    pub(super) fn repeats(self) -> bool {
        matches!(self.slot(), Slot::Named(_))
    }

    /// Returns `true` if the names that the key declares have values in expressions.
    pub(super) fn gives_values(self) -> bool {
        matches!(
            self,
            Self::Coordinates
                | Self::Momenta
                | Self::Velocities
                | Self::State
                | Self::Time
                | Self::Input
                | Self::Define
        )
    }

    /// Returns `true` if an entry of the key may be the name of a definition alone.
    pub(super) fn takes_definitions(self) -> bool {
        matches!(
            self,
            Self::Constraint | Self::PhaseConstraint | Self::VelocityConstraint | Self::Invariant | Self::Output
        )
    }

    /// The advice for a key that is given twice.
    pub(super) fn repetition(self) -> String {
        match self.slot() {
            Slot::Variables(_) if self != Self::Time => {
                format!("`{0}` is given twice: list all of them in one `{0}(..)`", self.name())
            }
            Slot::Path(_) | Slot::Expression(_) | Slot::Variables(_) | Slot::Named(_) | Slot::Flag(_) => {
                format!("`{}` is given twice: keep one of the two", self.name())
            }
        }
    }
}

/// The syntax after a key, and the field of [`Attribute`] that stores it.
#[derive(Clone, Copy)]
pub(super) enum Slot {
    /// `key = path`
    Path(fn(&mut Attribute) -> &mut syn::Path),
    /// `key = expression`
    Expression(fn(&mut Attribute) -> &mut Option<Expr>),
    /// `key(x, q: [3])`
    Variables(fn(&mut Attribute) -> &mut Variables),
    /// `key(name = expression)`
    Named(fn(&mut Attribute) -> &mut Vec<Named>),
    /// `key`, alone.
    Flag(fn(&mut Attribute) -> &mut bool),
}

/// The variables of one key.
pub(super) struct Variables {
    pub(super) variables: Vec<Variable>,
    /// Those whose shape could not be read, with their places in the list.
    pub(super) shapeless: Vec<(usize, Ident)>,
    /// Set if all of them could be read, so that coordinates and momenta can be compared.
    pub(super) understood: bool,
}

/// The contents of the attribute.
pub(super) struct Attribute {
    pub(super) runtime: syn::Path,
    pub(super) coordinates: Variables,
    pub(super) momenta: Variables,
    pub(super) velocities: Variables,
    pub(super) kinematics: Vec<Named>,
    pub(super) states: Variables,
    pub(super) poisson: Option<Expr>,
    pub(super) dynamics: Vec<Named>,
    pub(super) hamiltonian: Option<Expr>,
    pub(super) lagrangian: Option<Expr>,
    pub(super) time: Variables,
    pub(super) inputs: Variables,
    pub(super) forces: Vec<Named>,
    pub(super) defines: Vec<Named>,
    pub(super) constraints: Vec<Named>,
    pub(super) phase_constraints: Vec<Named>,
    pub(super) velocity_constraints: Vec<Named>,
    pub(super) invariants: Vec<Named>,
    pub(super) outputs: Vec<Named>,
    pub(super) derivatives: bool,
    pub(super) broken: Vec<Ident>,
    pub(super) hidden_names: bool,
    pub(super) hidden_uses: bool,
    /// The keys that occur, well-formed or not, and where.
    pub(super) seen: Vec<(Key, Span)>,
    /// Set if a key could not be read: then no other key can be called missing.
    pub(super) uncertain: bool,
}

impl Attribute {
    /// Where the key occurs first.
    pub(super) fn place(&self, key: Key) -> Option<Span> {
        self.seen.iter().find(|(seen, _)| *seen == key).map(|(_, span)| *span)
    }

    /// Gives a variable whose shape cannot be read the shape of its conjugate, so that the state has all of its fields.
    pub(super) fn adopt_shapes(&mut self) {
        adopt(&mut self.coordinates, &self.momenta);
        adopt(&mut self.momenta, &self.coordinates);
    }
}

fn adopt(variables: &mut Variables, conjugates: &Variables) {
    let Variables { variables, shapeless, .. } = variables;
    if conjugates.understood && conjugates.variables.len() == variables.len() + shapeless.len() {
        for (place, name) in shapeless.drain(..) {
            variables.insert(place, Variable { name, shape: conjugates.variables[place].shape });
        }
    }
}

impl Default for Attribute {
    fn default() -> Self {
        Self {
            runtime: syn::parse_quote!(::fbint_runtime),
            coordinates: Variables::default(),
            momenta: Variables::default(),
            velocities: Variables::default(),
            kinematics: Vec::new(),
            states: Variables::default(),
            poisson: None,
            dynamics: Vec::new(),
            hamiltonian: None,
            lagrangian: None,
            time: Variables::default(),
            inputs: Variables::default(),
            forces: Vec::new(),
            defines: Vec::new(),
            constraints: Vec::new(),
            phase_constraints: Vec::new(),
            velocity_constraints: Vec::new(),
            invariants: Vec::new(),
            outputs: Vec::new(),
            derivatives: false,
            broken: Vec::new(),
            hidden_names: false,
            hidden_uses: false,
            seen: Vec::new(),
            uncertain: false,
        }
    }
}

impl Default for Variables {
    fn default() -> Self {
        Self { variables: Vec::new(), shapeless: Vec::new(), understood: true }
    }
}
