//! Facts about a system that hold for all parameters: names, roles, and the findings of the compiler.

use core::fmt;
use core::ops::Range;

use crate::numbers::entries::Entries;
use crate::numbers::scalar::Scalar;

/// The facts about a system that hold for all parameters.
///
/// ```
/// use fbint_runtime::{FeedbackSystem, GeneratedSystem, feedback_system};
///
/// /// A mass on a spring.
/// #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2)]
/// pub struct Oscillator { pub m: f64, pub k: f64 }
///
/// assert_eq!(Oscillator::FACTS.parameter_names, ["m", "k"]);
/// assert_eq!(Oscillator { m: 1.0, k: 4.0 }.facts().summary, "A mass on a spring.");
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct SystemFacts {
    /// The name of the declared struct.
    pub name: &'static str,
    /// The first paragraph of the documentation of the declared struct, in one line.
    pub summary: &'static str,
    /// The entries of the state: coordinates, then momenta, each in declaration order, matrices column by column.
    pub state: &'static [StateEntry],
    /// The declared scalars, vectors and matrices of the state.
    pub variables: &'static [Declared],
    /// The index of the time in the state, if it is there: [`StateEntry::clock`].
    pub clock: Option<usize>,
    /// The integrals.
    pub integrals: &'static [Integral],
    /// The declared integrals, and the rates of constraints.
    pub declared_integrals: &'static [Declared],
    /// Linear functions of the state that the field conserves and that are not declared, as `invariant` takes them.
    pub undeclared: &'static [&'static str],
    /// Suspicions about the declaration that the compiler could not decide, in words.
    pub doubts: &'static [&'static str],
    /// A name for each parameter: `m`, `inertia[0]`.
    pub parameter_names: &'static [&'static str],
    /// The declared parameters.
    pub parameters: &'static [Declared],
    /// A name for each entry of the outputs.
    pub output_names: &'static [&'static str],
    /// The declared outputs.
    pub outputs: &'static [Declared],
    /// A name for each input: `thrust`, `u[0]`.
    pub input_names: &'static [&'static str],
    /// The declared inputs.
    pub inputs: &'static [Declared],
    /// The names of the inputs that no law gives: they are 0 where nothing else gives them.
    pub open_inputs: &'static [&'static str],
    /// The declared events and sections, in the order of the declaration.
    pub events: &'static [DeclaredEvent],
    /// The functions at whose zeros the field switches, as by `max`, `abs` or `if`. Steps of a run end there.
    pub switches: &'static [&'static str],
    /// The number of samples by which the laws of inputs are delayed, where they are sampled.
    pub law_delay: Option<usize>,
    /// The shapes of the declared drawing.
    pub shapes: &'static [DeclaredShape],
    /// The number of a prepared system's values that depend on parameters alone.
    pub prepared_numbers: usize,
    /// The dependence of the Hamiltonian on the momenta.
    pub kinetic_energy: KineticEnergy,
    /// `true` if there are steps of the discrete Hamel integrator, see [`HamelSystem`](crate::HamelSystem).
    pub has_hamel_steps: bool,
    /// `true` if [`PreparedSystem::jacobian`](crate::PreparedSystem::jacobian) is generated: the declaration has the key `derivatives`.
    pub has_jacobian: bool,
    /// Operations of [`PreparedSystem::vector_field`](crate::PreparedSystem::vector_field).
    pub vector_field_operations: Operations,
    /// Operations of [`PreparedSystem::feedback_field`](crate::PreparedSystem::feedback_field), without the operations of the
    /// [`FeedbackLaw`](crate::FeedbackLaw).
    pub feedback_field_operations: Operations,
    /// The generated Rust, pretty-printed: the functions that compute. A comment in its first lines says what it leaves out. Values are
    /// named after what they compute, so that a small change of the declaration changes few lines.
    pub source: &'static str,
    /// The derivation as LaTeX: H, f, brackets, C, X, V and its gradient.
    pub derivation: &'static str,
    /// The derivation as plain text, one equation a line.
    pub equations: &'static str,
}

impl SystemFacts {
    /// The facts of a system that has nothing.
    #[doc(hidden)]
    pub const EMPTY: Self = Self {
        name: "",
        summary: "",
        state: &[],
        variables: &[],
        clock: None,
        integrals: &[],
        declared_integrals: &[],
        undeclared: &[],
        doubts: &[],
        parameter_names: &[],
        parameters: &[],
        output_names: &[],
        outputs: &[],
        input_names: &[],
        inputs: &[],
        open_inputs: &[],
        events: &[],
        switches: &[],
        law_delay: None,
        shapes: &[],
        prepared_numbers: 0,
        kinetic_energy: KineticEnergy::General,
        has_hamel_steps: false,
        has_jacobian: false,
        vector_field_operations: Operations::NONE,
        feedback_field_operations: Operations::NONE,
        source: "",
        derivation: "",
        equations: "",
    };

    /// Returns `true` if some inputs have laws.
    #[inline(always)]
    pub const fn has_laws(&self) -> bool {
        self.open_inputs.len() < self.input_names.len()
    }

    /// The number of coordinates, if these are the first entries of the state, and their rates are linear in the momenta, which come next,
    /// and depend on nothing else: of a Hamiltonian with a constant mass matrix, without constraints or the time. Else 0.
    pub(crate) fn linear_coordinates(&self) -> usize {
        let is_constrained = self.integrals.iter().any(|integral| integral.kind.is_constraint());
        if self.kinetic_energy != KineticEnergy::Quadratic || is_constrained || self.clock.is_some() {
            return 0;
        }
        self.state.iter().take_while(|entry| matches!(entry.role, StateRole::Coordinate { .. })).count()
    }

    /// The number of inputs, and of sides on which switches are held.
    #[doc(hidden)]
    pub const fn given_numbers(&self) -> usize {
        self.input_names.len() + self.switches.len()
    }

    /// Returns `true` if the field switches.
    #[inline(always)]
    pub const fn has_switches(&self) -> bool {
        !self.switches.is_empty()
    }

    /// Puts the time into a state that has it: computed, and not added up.
    #[inline(always)]
    pub(crate) fn set_clock<V: Entries<T>, T: Scalar>(&self, x: &mut V, time: f64) {
        if let Some(index) = self.clock {
            x[index] = T::from_f64(time);
        }
    }

    /// The time in a state that has it, else 0.
    #[inline(always)]
    pub(crate) fn time_in<V: Entries<f64>>(&self, x: &V) -> f64 {
        match self.clock {
            Some(index) => x[index],
            None => 0.0,
        }
    }
}

impl StateEntry {
    /// The index of the time in a state that has it there.
    pub const fn clock(state: &[Self]) -> Option<usize> {
        let mut index = 0;
        while index < state.len() {
            if matches!(state[index].role, StateRole::Time) {
                return Some(index);
            }
            index += 1;
        }
        None
    }

    /// Returns `true` if an entry of a state belongs to the same variable as the one before it.
    #[inline]
    pub(crate) fn continues(state: &[Self], entry: usize) -> bool {
        let pair = state.get(entry.wrapping_sub(1)).zip(state.get(entry));
        pair.is_some_and(|(before, own)| own.variable == before.variable)
    }
}

/// A declared scalar, vector, matrix or family in a list of entries: `q`, whose entries are `q[0]` and `q[1]`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Declared {
    /// The declared name.
    pub name: &'static str,
    /// The place of its first entry in the list.
    pub first: usize,
    /// The index of each entry: empty for a scalar, one number for a component of a vector or a member of a family, a row and a column for an
    /// entry of a matrix. Matrices are listed column by column.
    pub indices: &'static [&'static [i64]],
}

impl Declared {
    /// The places of its entries in the list.
    pub const fn entries(&self) -> Range<usize> {
        self.first..self.first + self.indices.len()
    }
}

/// An entry of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct StateEntry {
    /// The name: `angle`, `q[0]`, `q[(0, 1)]`.
    pub name: &'static str,
    /// The index of its declared scalar, vector or matrix in [`SystemFacts::variables`].
    pub variable: usize,
    /// The role of the entry.
    pub role: StateRole,
}

/// The role of an entry of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum StateRole {
    /// A coordinate of a canonical system.
    Coordinate {
        /// The index of the momentum that is conjugate to it.
        momentum: usize,
    },
    /// A momentum of a canonical system.
    Momentum {
        /// The index of the coordinate that it is conjugate to.
        coordinate: usize,
    },
    /// A coordinate of a Lagrangian system.
    Position,
    /// A velocity of a Lagrangian system.
    Velocity,
    /// An entry of a state of any other system.
    Variable,
    /// The time, whose rate is 1. No projection and no feedback moves it.
    Time,
    /// The work that was done on a driven system. Runs keep the energy minus this.
    Work,
}

/// An event that is declared with a system, by `event(..)` or `section(..)`. Places count the values that
/// [`FeedbackSystem::events_at`](crate::FeedbackSystem::events_at) gives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeclaredEvent {
    /// The name: `floor`, `wall[2]`.
    pub name: &'static str,
    /// The direction in which the function has to pass 0.
    pub direction: CrossingDirection,
    /// `true` if the event ends the run.
    pub is_terminal: bool,
    /// The number of the occurrence that ends the run, where it is not the first.
    pub count: Option<u64>,
    /// `true` if it is a section, which is recorded and changes nothing.
    pub is_section: bool,
    /// The place of the function that passes 0.
    pub value: usize,
    /// The places of the functions that are positive where the event counts: the first, and the one after the last.
    pub conditions: [usize; 2],
    /// The place of the first entry of the state after the event, where it changes the state.
    pub reset: Option<usize>,
}

/// The direction in which the function of an event has to pass 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum CrossingDirection {
    /// Either.
    Any,
    /// From negative to positive.
    Rising,
    /// From positive to negative.
    Falling,
}

/// A shape of a declared drawing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct DeclaredShape {
    /// The sort of the shape.
    pub kind: ShapeKind,
    /// Its points and lengths: the place of the first entry among the values that
    /// [`FeedbackSystem::drawing_at`](crate::FeedbackSystem::drawing_at) gives, and the number of entries.
    pub arguments: &'static [[usize; 2]],
}

/// The sort of a shape of a declared drawing. Points have two or three entries.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum ShapeKind {
    /// A line through points.
    Rod,
    /// A fixed point.
    Pivot,
    /// A moving point.
    Point,
    /// A point that leaves a trace.
    Trace,
    /// A line from one point to another that is drawn as a coil.
    Spring,
    /// An arrow from one point to another.
    Arrow,
    /// A thin line through points.
    Guide,
    /// A flat face with these corners, filled.
    Face,
    /// A thin circle about a point, with a radius, and in space with an axis.
    Circle,
    /// A circle like a rod.
    Hoop,
    /// A circle, filled.
    Disk,
    /// A box with a centre, a rotation and sides: in the plane an angle and two sides, in space a matrix, column by column, and three.
    Body,
    /// The axes of a frame, with its origin, its rotation and the length of the arrows.
    Frame,
    /// The middle of the picture in an animation, where the key `film` gives it.
    Centre,
    /// The distance from the middle of an animation's picture to its sides.
    Range,
    /// The direction from which an animation is seen.
    View,
}

/// An integral of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Integral {
    /// The name: `length`, `length_rate`, `link[3]`, `energy`.
    pub name: &'static str,
    /// The kind of the integral, which decides its target.
    pub kind: IntegralKind,
    /// The multiplicity of the integral in the declaration: 2 for an off-diagonal entry of a symmetric matrix, else 1.
    pub weight: f64,
    /// Where the field without feedback conserves the integral, and how that was decided while the model was compiled.
    pub conservation: Conservation,
}

/// The kind of an integral, which decides its target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum IntegralKind {
    /// A holonomic constraint g(q) = 0. Its target is 0.
    HolonomicConstraint {
        /// The index of its rate dg/dt = {g, H}.
        rate: usize,
    },
    /// The rate dg/dt = {g, H} of a holonomic constraint g. Its target is 0.
    ConstraintRate {
        /// The index of the constraint g.
        constraint: usize,
    },
    /// A holonomic constraint g(q) = 0 that others imply: it has neither a reaction nor a rate. Its target is 0.
    RedundantConstraint,
    /// A constraint that is taken as it was declared: a phase constraint f(q, p) = 0 of a canonical system, an invariant set
    /// g(x) = 0 of any other field. Its target is 0.
    Constraint,
    /// A velocity constraint A(q) q' = 0 that a reaction holds. Its target is 0.
    VelocityConstraint,
    /// The Hamiltonian, or the energy xi . dL/dxi - L of a Lagrangian system; of a driven system minus the work that was done on it.
    /// Its target is its value at the start.
    Energy,
    /// A declared first integral. Its target is its value at the start.
    Invariant,
}

impl IntegralKind {
    /// Returns `true` if the integral vanishes on the constraint set.
    pub const fn is_constraint(self) -> bool {
        matches!(
            self,
            Self::HolonomicConstraint { .. }
                | Self::ConstraintRate { .. }
                | Self::RedundantConstraint
                | Self::Constraint
                | Self::VelocityConstraint
        )
    }
}

/// Where the field without feedback conserves an integral I, that is, where dI.X = 0. A claim that is not proved does not compile, unless
/// its declaration says `assume`; a refuted claim never compiles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Conservation {
    /// In every state.
    Everywhere(Evidence),
    /// In every state that satisfies the constraints; not in every other, as far as is known.
    OnConstraints(Evidence),
    /// This is not known: the declaration says `assume`, algebra does not decide, and a search found no state that refutes it.
    Assumed,
}

/// The evidence for a statement about a model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum Evidence {
    /// It is true of every system of this form: constraints and energy of a canonical system, the energy of a Poisson system.
    Construction,
    /// It was proved by exact algebra: a polynomial identity was shown by division, or at eight random points or more, each modulo another
    /// prime of 62 bits. If the identity were false, the points would show it but for a probability below 1e-40, or below 1e-8 where roots
    /// depend on one another, as the root of a square depends on its base.
    Algebra,
    /// Division of polynomials proved it when a file in `derivations/` was written; reading the file does not repeat that. A search found no
    /// state that refutes it.
    Kept,
}

/// The dependence of a Hamiltonian on the momenta, which decides which splitting methods apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub enum KineticEnergy {
    /// H depends on the momenta in any other way, or the system is not canonical.
    General,
    /// H = T(p) + U(q).
    Separable,
    /// H = T(p) + U(q) with T quadratic: a constant mass matrix.
    Quadratic,
}

/// The number of operations of a generated function, counted in the emitted code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct Operations {
    /// Additions, subtractions and negations.
    pub additions: u32,
    /// Multiplications.
    pub multiplications: u32,
    /// Fused multiply-adds; each is worth one addition and one multiplication.
    pub fused: u32,
    /// Divisions and reciprocals.
    pub divisions: u32,
    /// Square roots and elementary functions.
    pub functions: u32,
}

impl Operations {
    pub(crate) const NONE: Self = Self { additions: 0, multiplications: 0, fused: 0, divisions: 0, functions: 0 };

    /// Returns `true` if a function with this number of operations is evaluated in lanes: a longer one takes long to compile in them, and one that is
    /// not optimised fills the stack of a thread.
    #[doc(hidden)]
    pub const fn fit_lanes(&self) -> bool {
        self.total() <= if cfg!(debug_assertions) { 1200 } else { 4000 }
    }

    /// The number of floating-point operations, a fused multiply-add counted as two.
    pub const fn total(&self) -> u32 {
        self.additions + self.multiplications + 2 * self.fused + self.divisions + self.functions
    }
}

impl fmt::Display for Operations {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            out,
            "{} (additions {}, multiplications {}, fused {}, divisions {}, functions {})",
            self.total(),
            self.additions,
            self.multiplications,
            self.fused,
            self.divisions,
            self.functions,
        )
    }
}
