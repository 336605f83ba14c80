//! The keys of the attribute, a row of one table for each, and the declaration, which stores their values.

use proc_macro2::Span;
use syn::{DeriveInput, Expr, Ident};

use super::{EventDeclaration, Formalism, NamedExpression, ShapeDeclaration, Variable};

/// A row gives a key its name, the syntax after it with the field of [`Declaration`] for its value, how it is written, and the formalisms
/// in which it has a meaning. `names` says what the names are that it declares, and `elsewhere` what to write in other formalisms; without
/// that, the key decides on the formalism. Messages list the keys in this order, and names are taken in it.
macro_rules! keys {
    ($($(#[$doc:meta])* $key:ident: $name:literal, $syntax:ident($field:ident), $usage:literal, $formalisms:expr
        $(, names $meaning:literal)? $(, elsewhere $advice:literal)?;)*) => {
        /// A key of the attribute.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum AttributeKey { $($(#[$doc])* $key,)* }

        impl AttributeKey {
            pub(super) const ALL: &[Self] = &[$(Self::$key),*];

            pub(super) fn row(self) -> Specification {
                match self {
                    $(Self::$key => Specification {
                        name: $name,
                        syntax: Syntax::$syntax(Slot { get: |declaration| &declaration.$field, mutable: |declaration| &mut declaration.$field }),
                        usage: $usage,
                        formalisms: $formalisms,
                        meaning: [$($meaning)?].first().copied(),
                        elsewhere: [$($advice)?].first().copied(),
                    },)*
                }
            }
        }

        /// The declaration as written, sorted by meaning. Expressions are not parsed yet.
        #[derive(Debug)]
        pub struct Declaration {
            /// The struct, to be emitted untouched; after a mistake maybe another type.
            pub item: DeriveInput,
            /// The struct's fields.
            pub parameters: Vec<Variable>,
            /// The kind of the system: the variables of its state, and the source of its motion.
            pub formalism: Formalism,
            /// The work that was done on a driven system, an entry of its state.
            pub work: Option<Variable>,
            /// The laws of inputs, by their names.
            pub laws: Vec<NamedExpression>,
            /// The time between two samples of the laws, where they are sampled.
            pub every: Option<Expr>,
            /// The number of samples by which they are delayed.
            pub delay: Option<Expr>,
            $($(#[$doc])* pub $field: keys!(@type $syntax),)*
            /// Names whose declaration is mistaken: using them is not a second mistake.
            pub broken: Vec<Ident>,
            /// Set if a part that declares names could not be read: then no name can be called unknown.
            pub hidden_names: bool,
            /// Set if a part could not be read at all: then no name can be called unused, and no key missing.
            pub hidden_uses: bool,
            /// The keys that occur, well-formed or not, and where.
            pub(super) seen: Vec<(AttributeKey, Span)>,
        }

        impl Declaration {
            /// Without any key, of a type that stands in for the one that is declared.
            pub(super) fn empty() -> Self {
                Self {
                    item: syn::parse_quote!(struct Model;),
                    parameters: Vec::new(),
                    formalism: Formalism::Canonical,
                    work: None,
                    laws: Vec::new(),
                    every: None,
                    delay: None,
                    $($field: keys!(@absent $syntax),)*
                    broken: Vec::new(),
                    hidden_names: false,
                    hidden_uses: false,
                    seen: Vec::new(),
                }
            }
        }
    };
    (@type Path) => { syn::Path };
    (@type Expression) => { Option<Expr> };
    (@type Variables) => { Vec<Variable> };
    (@type Scalar) => { Option<Variable> };
    (@type Named) => { Vec<NamedExpression> };
    (@type Flag) => { bool };
    (@type Events) => { Vec<EventDeclaration> };
    (@type Shapes) => { Vec<ShapeDeclaration> };
    (@absent Path) => { syn::parse_quote!(::fbint_runtime) };
    (@absent $syntax:ident) => { Default::default() };
}

const ANY: &[Formalism] = &Formalism::ALL;
const CANONICAL: &[Formalism] = &[Formalism::Canonical];
const LAGRANGIAN: &[Formalism] = &[Formalism::Lagrangian];
const MECHANICAL: &[Formalism] = &[Formalism::Canonical, Formalism::Lagrangian];
const HAMILTONIAN: &[Formalism] = &[Formalism::Canonical, Formalism::Poisson];
const STATE: &[Formalism] = &[Formalism::Poisson, Formalism::Given];

keys! {
    /// Configuration coordinates of a canonical or a Lagrangian system.
    Coordinates: "coordinates", Variables(coordinates), "coordinates(q: [3])", MECHANICAL, names "a coordinate";
    /// The conjugate momenta of a canonical system, in the order of the coordinates.
    Momenta: "momenta", Variables(momenta), "momenta(p: [3])", CANONICAL, names "a momentum";
    /// The velocities of a Lagrangian system, including the ones set to zero.
    Velocities: "velocities", Variables(velocities), "velocities(v: [3])", LAGRANGIAN, names "a velocity";
    /// The rates of the coordinates in a Lagrangian system; none where the velocities are the rates.
    Kinematics: "kinematics", Named(kinematics), "kinematics(q = expression)", LAGRANGIAN;
    /// The state of any other system.
    State: "state", Variables(states), "state(x: [3])", STATE, names "a variable of the state";
    /// The Poisson matrix J, for x' = J grad H.
    Poisson: "poisson", Expression(poisson), "poisson = hat(x)", &[Formalism::Poisson];
    /// The rates of the state's variables, for a given field.
    Dynamics: "dynamics", Named(dynamics), "dynamics(x = expression)", &[Formalism::Given];
    /// The energy. `None` where something else gives the field, or after a mistake was reported.
    Hamiltonian: "hamiltonian", Expression(hamiltonian), "hamiltonian = p.norm_squared() / (2 * m)", HAMILTONIAN;
    /// The Lagrangian of a Lagrangian system. `None` after a mistake was reported.
    Lagrangian: "lagrangian", Expression(lagrangian), "lagrangian = m * v.norm_squared() / 2", LAGRANGIAN;
    /// The time, an entry of the state, if the system depends on it or has inputs.
    Time: "time", Scalar(time), "time(t)", ANY, names "the time";
    /// Variables whose values are given from outside at every evaluation.
    Input: "input", Variables(inputs), "input(u: [2], thrust = -k * x)", ANY, names "an input";
    /// Generalised forces along momenta or velocities, by their names.
    Force: "force", Named(forces), "force(p = expression)", MECHANICAL,
        elsewhere "a `force` acts along a momentum or a velocity, which a `state` does not have\nhelp: write it into `dynamics`";
    /// Named sub-expressions.
    Define: "define", Named(defines), "define(name = expression)", ANY, names "a definition";
    /// Holonomic constraints of a canonical or a Lagrangian system, otherwise invariant sets of the field.
    Constraint: "constraint", Named(constraints), "constraint(name = expression)", ANY, names "a constraint";
    /// Constraints on the phase space, taken as they stand.
    PhaseConstraint: "phase_constraint", Named(phase_constraints), "phase_constraint(name = expression)", CANONICAL,
        names "a phase constraint",
        elsewhere "`phase_constraint` belongs to a canonical system: a relation among velocities is a `velocity_constraint`, and one \
                   among coordinates, or any variables of a `state`, is a `constraint`";
    /// Constraints that are linear in the rates of the coordinates.
    VelocityConstraint: "velocity_constraint", Named(velocity_constraints), "velocity_constraint(name = expression)", MECHANICAL,
        names "a velocity constraint",
        elsewhere "a `state` has no velocities\nhelp: declare `coordinates` and `velocities`, or write its reactions into `dynamics`";
    /// First integrals.
    Invariant: "invariant", Named(invariants), "invariant(name = expression)", ANY, names "an invariant";
    /// Extra quantities, computed in addition to the field.
    Output: "output", Named(outputs), "output(name = expression)", ANY, names "an output";
    /// Functions whose zeros a run finds, and what happens there.
    Event: "event", Events(events), "event(floor = q[1], falling, reset(p = -p))", ANY, names "an event";
    /// Functions whose zeros a run records.
    Section: "section", Events(sections), "section(plane = q[0], rising)", ANY, names "a section";
    /// The drawing of a state.
    Draw: "draw", Shapes(shapes), "draw(rod(vector![0, 0], q), point(q))", ANY;
    /// The part of the drawing that an animation shows, and the direction of the view.
    Film: "film", Shapes(film), "film(centre = q, range = 2)", ANY;
    /// The values of all parameters by default.
    Default: "default", Named(defaults), "default(m = 1)", ANY;
    /// The state in which a run starts, by the parameters.
    Start: "start", Named(start), "start(q = vector![l, 0], p = vector![0, 0])", ANY;
    /// The degree up to which to search for further conserved quantities.
    Search: "search", Named(search), "search(degree = 4)", ANY;
    /// Set if derivatives of the generated functions are generated, too.
    Derivatives: "derivatives", Flag(derivatives), "derivatives", ANY;
    /// Set if the coefficients of Taylor series of solutions are generated, too.
    Taylor: "taylor", Flag(taylor), "taylor", ANY;
    /// The path of the runtime.
    Crate: "crate", Path(runtime), "crate = path::to::fbint_runtime", ANY;
}

/// The properties of a key.
pub(super) struct Specification {
    pub(super) name: &'static str,
    pub(super) syntax: Syntax,
    /// The notation of the key.
    pub(super) usage: &'static str,
    /// The formalisms in which it has a meaning.
    pub(super) formalisms: &'static [Formalism],
    /// The kind of names that it declares.
    pub(super) meaning: Option<&'static str>,
    /// The equivalent in other formalisms.
    pub(super) elsewhere: Option<&'static str>,
}

/// The syntax after a key, and where its value is stored.
pub(super) enum Syntax {
    /// `key = path`
    Path(Slot<syn::Path>),
    /// `key = expression`
    Expression(Slot<Option<Expr>>),
    /// `key(x, q: [3])`
    Variables(Slot<Vec<Variable>>),
    /// `key(x)`
    Scalar(Slot<Option<Variable>>),
    /// `key(name = expression)`
    Named(Slot<Vec<NamedExpression>>),
    /// `key`, alone.
    Flag(Slot<bool>),
    /// `key(name = expression, rising, reset(x = expression))`
    Events(Slot<Vec<EventDeclaration>>),
    /// `key(rod(a, b), point[i in 0..8](c))`
    Shapes(Slot<Vec<ShapeDeclaration>>),
}

/// A field of [`Declaration`].
pub(super) struct Slot<T> {
    pub(super) get: fn(&Declaration) -> &T,
    pub(super) mutable: fn(&mut Declaration) -> &mut T,
}

impl AttributeKey {
    pub(super) fn name(self) -> &'static str {
        self.row().name
    }

    /// The kind of names that the key declares, in words.
    pub fn meaning(self) -> Option<&'static str> {
        self.row().meaning
    }

    /// Returns `true` for the name of a key.
    pub(crate) fn is_key(name: &str) -> bool {
        Self::spelled(name).is_some()
    }

    /// The key with this name.
    pub(super) fn spelled(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|key| key.name() == name)
    }

    /// Returns `true` if the key decides on the formalism.
    pub(super) fn decides(self) -> bool {
        self.row().elsewhere.is_none() && self.row().formalisms.len() < Formalism::ALL.len()
    }

    /// Returns `true` if a system of this formalism lacks something without the key.
    pub(super) fn is_needed_by(self, formalism: Formalism) -> bool {
        self.decides() && self != Self::Kinematics && self.row().formalisms.contains(&formalism)
    }

    /// Returns `true` if the key names several things, so that it may be given repeatedly.
    pub(super) fn repeats(self) -> bool {
        matches!(self.row().syntax, Syntax::Named(_) | Syntax::Events(_) | Syntax::Shapes(_))
    }

    /// Returns `true` if the names that the key declares have values in expressions.
    pub(super) fn gives_values(self) -> bool {
        self == Self::Define || matches!(self.row().syntax, Syntax::Variables(_) | Syntax::Scalar(_))
    }

    /// Returns `true` if each entry of the key gives something of a whole variable, which has a name elsewhere.
    pub(super) fn gives_whole_variables(self) -> bool {
        matches!(self, Self::Dynamics | Self::Kinematics | Self::Force | Self::Default | Self::Start)
    }

    /// Returns `true` if an entry of the key may be the name of a definition alone.
    pub(super) fn takes_definitions(self) -> bool {
        self.meaning().is_some() && !self.gives_values()
    }
}

/// Keys that do not exist but are often expected, and what to write instead.
const FOREIGN: [(&[&str], &str); 21] = [
    (
        &["forces", "damping", "friction", "dissipation"],
        "write `force(p = ..)` along a momentum, or `force(v = ..)` along a velocity",
    ),
    (&["inputs", "control", "controls"], "write `input(u)`"),
    (
        &["param", "params", "parameter", "parameters", "constant", "constants"],
        "parameters are the fields of the struct",
    ),
    (
        &["kinetic", "kinetic_energy", "potential", "potential_energy", "energy", "T", "V", "U"],
        "kinetic and potential energy are declared together: `hamiltonian = p.norm_squared() / (2 * m) + m * g * q[2]`",
    ),
    (&["definition", "definitions", "def", "let"], "write `define(name = expression)`"),
    (&["H"], "write `hamiltonian = ..`"),
    (&["L"], "write `lagrangian = ..`"),
    (&["variables", "unknowns"], "write `coordinates(q)` with `momenta(p)` or `velocities(v)`, or `state(x)`"),
    (&["equations", "ode", "odes", "rhs", "rates", "flow", "field"], "write `dynamics(x = ..)` with `state(x)`"),
    (
        &["init", "initial", "initial_state", "initial_conditions", "initial_values", "x0", "y0", "q0"],
        "write `start(q = ..)`",
    ),
    (&["defaults", "values"], "write `default(m = 1)`"),
    (&["holonomic", "holonomic_constraint"], "write `constraint(name = expression)`"),
    (
        &["nonholonomic", "nonholonomic_constraint", "rolling", "no_slip"],
        "write `velocity_constraint(name = expression)`",
    ),
    (&["conserved", "first_integral", "integral"], "write `invariant(name = expression)`"),
    (&["jacobian"], "write `derivatives`"),
    (&["derive"], "write `#[derive(..)]` on the struct, next to this attribute"),
    (&["name"], "the name of a model is that of the struct"),
    (&["unit", "units"], "numbers have no units here\nhelp: measure all of them in units that fit together"),
    (&["events", "callback", "when", "guard"], "write `event(name = expression, falling, reset(p = ..))`"),
    (&["reset", "resets", "affect"], "an event changes the state: write `event(name = expression, reset(p = ..))`"),
    (
        &["method", "solver", "step", "dt", "h", "until", "tspan", "t_end", "tend", "tolerance", "rtol", "atol"],
        "a run has these settings, and a model has none of them\nhelp: give it to the run",
    ),
];

/// The advice for a key that does not exist but is often expected.
pub(super) fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(keys, _)| keys.contains(&name)).map(|(_, advice)| *advice)
}

impl Declaration {
    /// The variables that keys declare, in the order of the keys.
    pub(super) fn variables(&self) -> impl Iterator<Item = (AttributeKey, &Variable)> {
        AttributeKey::ALL.iter().flat_map(|&key| {
            let variables = match key.row().syntax {
                Syntax::Variables(slot) => (slot.get)(self),
                Syntax::Scalar(slot) => (slot.get)(self).as_slice(),
                _ => &[],
            };
            variables.iter().map(move |variable| (key, variable))
        })
    }

    /// The names that keys declare, in the order of the keys.
    pub fn named(&self) -> impl Iterator<Item = (AttributeKey, &NamedExpression)> {
        AttributeKey::ALL.iter().flat_map(|&key| {
            let (named, events): (&[NamedExpression], &[EventDeclaration]) = match key.row().syntax {
                Syntax::Named(slot) => ((slot.get)(self), &[]),
                Syntax::Events(slot) => (&[], (slot.get)(self)),
                _ => (&[], &[]),
            };
            let named = named.iter().chain(events.iter().map(|event| &event.named));
            named.map(move |named| (key, named))
        })
    }

    /// All expressions.
    pub fn expressions(&self) -> impl Iterator<Item = &Expr> {
        let alone = AttributeKey::ALL.iter().filter_map(|key| match key.row().syntax {
            Syntax::Expression(slot) => (slot.get)(self).as_ref(),
            _ => None,
        });
        let of_events = self.events.iter().chain(&self.sections).flat_map(EventDeclaration::expressions);
        let of_shapes = self.shapes.iter().chain(&self.film).flat_map(|shape| &shape.arguments);
        let of_laws = self.laws.iter().map(|law| &law.value).chain(&self.every);
        alone.chain(self.named().map(|(_, named)| &named.value)).chain(of_laws).chain(of_events).chain(of_shapes)
    }

    /// Forgets the value of a key. The names in it remain known, without a meaning.
    pub(super) fn set_aside(&mut self, key: AttributeKey) {
        let names: Vec<Ident> = match key.row().syntax {
            Syntax::Variables(slot) => (slot.mutable)(self).drain(..).map(|variable| variable.name).collect(),
            Syntax::Named(slot) => (slot.mutable)(self).drain(..).map(|named| named.name).collect(),
            Syntax::Events(slot) => (slot.mutable)(self).drain(..).map(|event| event.named.name).collect(),
            _ => Vec::new(),
        };
        self.hidden_uses |= key.repeats() && !names.is_empty();
        if key.meaning().is_some() {
            self.broken.extend(names);
        }
    }

    /// Where a key occurs first.
    pub(super) fn occurrence(&self, key: AttributeKey) -> Option<Span> {
        self.seen.iter().find(|(seen, _)| *seen == key).map(|(_, span)| *span)
    }

    /// Returns `true` if the key occurs.
    pub fn has(&self, key: AttributeKey) -> bool {
        self.occurrence(key).is_some()
    }

    /// Where a key occurs first; the model's name, if it does not occur.
    pub fn place(&self, key: AttributeKey) -> Span {
        self.occurrence(key).unwrap_or_else(|| self.item.ident.span())
    }
}
