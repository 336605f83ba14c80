//! The trait that `#[feedback_system]` implements for every model.
//!
//! A system has a flat state x in R^N and M integrals F(x): constraints, energy, invariants. What each entry of the state and
//! each integral is stands in [`SystemFacts`]. The functions are those of CPV22 eq. (4) and (6). N and M are lengths of arrays and
//! not part of the name of any other type.

use core::fmt;

use crate::entries::{Entries, Entry};
use crate::facts::SystemFacts;
use crate::hamel::{HamelFunctions, HamelSteps};
use crate::scalar::Scalar;

/// A flat state of the system `S`: an array with an entry for each of [`SystemFacts::state`].
pub type Vector<S, T = f64> = <S as FeedbackSystem>::Vector<T>;

/// An array with an entry for each of [`SystemFacts::integrals`] of the system `S`.
pub type Integrals<S, T = f64> = <S as FeedbackSystem>::Integrals<T>;

/// A mechanical system whose equations were derived at compile time.
///
/// Implemented by `#[feedback_system]`, not by hand.
pub trait FeedbackSystem: Sized + 'static {
    /// An array with an entry for each of [`SystemFacts::state`]. It may be longer, so that one type serves systems of several sizes: the
    /// entries beyond are 0 in every vector that a function is given or returns. They are never shown, and change nothing.
    type Vector<T: Entry>: Entries<T>;
    /// An array with an entry for each of [`SystemFacts::integrals`], which may be longer like [`Vector`](Self::Vector).
    type Integrals<T: Entry>: Entries<T>;
    /// An array with an entry for each of [`SystemFacts::output_names`], which may be longer like [`Vector`](Self::Vector).
    type Outputs<T: Entry>: Entries<T>;
    /// The state with its declared names and shapes, e.g. `SphericalPendulumState { q, p }`.
    type State: Clone + fmt::Debug + From<Self::Vector<f64>> + Into<Self::Vector<f64>>;
    /// The system with its parameters fixed, as numbers of type `T`, e.g. `SphericalPendulumPrepared<T>`.
    type Prepared<T: Scalar>: PreparedSystem<T, System = Self>;

    /// The facts that all systems of this type have in common, if they do: [`GeneratedSystem::FACTS`]. What they exclude is not compiled.
    #[doc(hidden)]
    const KNOWN_FACTS: Option<&'static SystemFacts> = None;

    /// The facts about the system that hold for all parameters.
    fn facts(&self) -> &'static SystemFacts;
    /// The steps of the discrete Hamel integrator, if the system is a [`HamelSystem`](crate::HamelSystem).
    fn hamel_steps(&self) -> Option<HamelSteps<Self>> {
        None
    }

    /// The parameter whose name is [`parameter_names`](SystemFacts::parameter_names)`[index]`, or `None` past the end.
    fn parameter(&self, index: usize) -> Option<f64>;
    /// The parameter whose name is [`parameter_names`](SystemFacts::parameter_names)`[index]`, to be changed, or `None` past the end.
    fn parameter_mut(&mut self, index: usize) -> Option<&mut f64>;

    /// The state in which a run starts, by the key `start` of the declaration, for these parameters; `None` without that key.
    ///
    /// ```
    /// # use fbint_runtime::{FeedbackSystem, feedback_system};
    /// /// A mass on a spring.
    /// #[feedback_system(
    ///     coordinates(q),
    ///     momenta(p),
    ///     hamiltonian = (p.powi(2) / m + k * q.powi(2)) / 2,
    ///     default(m = 1, k = 4),
    ///     start(q = 1 / k.sqrt(), p = 0),
    /// )]
    /// pub struct Oscillator { pub m: f64, pub k: f64 }
    ///
    /// assert_eq!(Oscillator::default().declared_start(), Some(OscillatorState { q: 0.5, p: 0.0 }));
    /// ```
    fn declared_start(&self) -> Option<Self::State> {
        None
    }

    /// The system with everything computed that depends on its parameters alone, for use step after step.
    fn prepare(&self) -> Self::Prepared<f64>;
    /// One system in numbers of another type, or several in the lanes of one: lane `i` has the numbers of `member(i)`.
    fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a Self::Prepared<f64>) -> Self::Prepared<T>;
}

/// A system that was compiled with the program, so that all systems of its type have the same facts.
///
/// Implemented by `#[feedback_system]`, not by hand.
pub trait GeneratedSystem: FeedbackSystem {
    /// The facts about the system that are known at compile time.
    const FACTS: SystemFacts;
    /// The functions for the discrete Hamel integrator, if the system has one.
    #[doc(hidden)]
    const HAMEL_FUNCTIONS: Option<HamelFunctions<Self>> = None;

    /// The prepared system with these numbers: those that depend on parameters alone, then the inputs.
    #[doc(hidden)]
    fn of_numbers<T: Scalar>(number: impl Fn(usize) -> T) -> Self::Prepared<T>;
    /// One of the numbers of a prepared system, or `None` past the end.
    #[doc(hidden)]
    fn number<T: Scalar>(system: &Self::Prepared<T>, index: usize) -> Option<T>;
}

/// A system whose parameters are fixed: the generated functions, each straight-line code that allocates nothing.
pub trait PreparedSystem<T: Scalar>: Entry {
    /// The system that was prepared.
    type System: FeedbackSystem<Prepared<T> = Self>;

    /// The facts about the system that hold for all parameters.
    fn facts(&self) -> &'static SystemFacts;
    /// The Dirac-extended vector field X(x) = J (grad H - Df^T c), CPV22 eq. (4).
    fn vector_field(&self, x: &Vector<Self::System, T>) -> Vector<Self::System, T>;
    /// The integrals F(x).
    fn integrals(&self, x: &Vector<Self::System, T>) -> Integrals<Self::System, T>;
    /// The Jacobian DF(x), row by row: row i is the gradient of integral i.
    fn integrals_jacobian(&self, x: &Vector<Self::System, T>) -> Integrals<Self::System, Vector<Self::System, T>>;
    /// c of CPV22 eq. (4) in the order of the integrals, 0 for every integral that is not a constraint. The reaction force of a
    /// holonomic constraint g is its entry times dg/dq.
    fn multipliers(&self, x: &Vector<Self::System, T>) -> Integrals<Self::System, T>;
    /// The declared outputs.
    fn outputs(&self, x: &Vector<Self::System, T>) -> <Self::System as FeedbackSystem>::Outputs<T>;
    /// Which constraints are proportional to their normalised form, see [`normalisation`](Self::normalisation): their target is
    /// 0, and nothing is subtracted.
    fn zero_targets(&self) -> Integrals<Self::System, bool>;
    /// `[factor, scale, offset]` for each integral. The generated feedback computes a normalised form f of F with fewer
    /// operations, F = scale (f + offset), and divides each gradient by a constant, dF = factor row. A law has these numbers
    /// in its gains and targets: see [`FeedbackLaw::weigh_normalised`].
    fn normalisation(&self) -> Integrals<Self::System, [T; 3]>;
    /// The gradient of the feedback potential, grad V = DF^T K (F - F_target).
    fn potential_gradient<L: FeedbackLaw<Self::System, T>>(
        &self,
        x: &Vector<Self::System, T>,
        law: &L,
    ) -> Vector<Self::System, T>;
    /// The field to integrate, X(x) - DF^T K (F - F_target), CPV22 eq. (6) with L = 1.
    fn feedback_field<L: FeedbackLaw<Self::System, T>>(
        &self,
        x: &Vector<Self::System, T>,
        law: &L,
    ) -> Vector<Self::System, T>;
    /// S DF^T (DF S DF^T + e D + R)^-1 y, the damped Gauss-Newton step back from F = F_target + y (HLW06 IV.4), where the law's
    /// [`weigh`](FeedbackLaw::weigh) gives y from F. S = diag(`variances`), R = diag(`noise`), which must be positive, D is the
    /// diagonal of DF S DF^T, and e = 1e-10.
    fn projection<L: FeedbackLaw<Self::System, T>>(
        &self,
        x: &Vector<Self::System, T>,
        variances: &Vector<Self::System, T>,
        noise: &Integrals<Self::System, T>,
        law: &L,
    ) -> Vector<Self::System, T>;
    /// |dF_i|^2 of each integral, the diagonal of DF DF^T, without derivatives by the time.
    fn squared_gradients(&self, x: &Vector<Self::System, T>) -> Integrals<Self::System, T>;
    /// What the constraints add to the field: in the rates of the momenta, the forces that hold them, and in the rate of the work what
    /// moving constraints do. 0 where no constraint has a reaction; a velocity that is put to zero is not part of the state, and what
    /// holds it adds nothing.
    fn reaction_field(&self, x: &Vector<Self::System, T>) -> Vector<Self::System, T>;
    /// Calls `add(row, column, value)` for each entry of the Jacobian of X that does not vanish identically, or of the field with
    /// feedback, for constant gains and targets, where they are given. Columns count the entries of the state, then the inputs. False,
    /// without a call, if the Jacobian is not generated.
    fn jacobian(
        &self,
        _x: &Vector<Self::System, T>,
        _feedback: Option<[&Integrals<Self::System, T>; 2]>,
        _add: &mut dyn FnMut(usize, usize, T),
    ) -> bool {
        false
    }
}

/// A system with inputs: numbers, such as the torque of a motor, that are given from outside at every evaluation.
///
/// Implemented by `#[feedback_system]` where a declaration has `input(..)`, not by hand. A prepared system has its inputs, which are 0
/// until others are given, so that each of its functions is evaluated with them. Forces and outputs depend on them; no integral does.
///
/// ```
/// use fbint_runtime::{DrivenSystem, FeedbackSystem, PreparedSystem, feedback_system};
///
/// /// A mass on rails with a motor.
/// #[feedback_system(
///     coordinates(x),
///     momenta(p),
///     hamiltonian = p.powi(2) / (2 * m),
///     input(thrust),
///     force(p = thrust),
/// )]
/// pub struct Trolley { pub m: f64 }
///
/// let start = TrolleyState { x: 0.0, p: 1.0, time: 0.0, work: 0.0 };
/// let trolley = Trolley::with_input(Trolley { m: 2.0 }.prepare(), TrolleyInput { thrust: 3.0 }.into());
/// let rates = TrolleyState::from(trolley.vector_field(&start.into()));
/// // The power is force times velocity.
/// assert_eq!(rates, TrolleyState { x: 0.5, p: 3.0, time: 1.0, work: 1.5 });
/// ```
pub trait DrivenSystem: FeedbackSystem {
    /// An array with an entry for each of [`SystemFacts::input_names`], which may be longer like [`Vector`](FeedbackSystem::Vector).
    type Inputs<T: Entry>: Entries<T>;
    /// The inputs with their declared names and shapes, e.g. `TrolleyInput { thrust }`.
    type Input: Clone + fmt::Debug + From<Self::Inputs<f64>> + Into<Self::Inputs<f64>>;

    /// The prepared system with these inputs.
    fn with_input<T: Scalar>(system: Self::Prepared<T>, input: Self::Inputs<T>) -> Self::Prepared<T>;
}

/// The data of the feedback: F_target and K of CPV22 eq. (6), as the generated code calls them.
pub trait FeedbackLaw<S: FeedbackSystem, T: Scalar> {
    /// y = K (F - F_target), from the integrals F.
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T>;
    /// The products of y and the gradients' factors, from the normalised forms of the integrals: see
    /// [`PreparedSystem::normalisation`]. A law that is used step after step computes its constants in advance.
    #[inline]
    fn weigh_normalised(&self, forms: Integrals<S, T>, system: &S::Prepared<T>) -> Integrals<S, T> {
        let normalisation = system.normalisation();
        let y = self.weigh(Entries::from_fn(|i| {
            let [_, scale, offset] = normalisation[i];
            scale * (forms[i] + offset)
        }));
        Entries::from_fn(|i| normalisation[i][0] * y[i])
    }
}

/// An entry of the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
    /// The work that was done on a driven system. What is kept is the energy minus this.
    Work,
}

/// An integral of a system.
#[derive(Clone, Copy, Debug, PartialEq)]
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
    /// A holonomic constraint g(q) = 0 that others imply: it has no reaction and no rate of its own. Its target is 0.
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
    /// Whether the integral vanishes on the constraint set.
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

/// Where the field without feedback conserves an integral I, that is, where dI.X = 0. What is not proved does not compile, unless
/// its declaration says `assume`; what is refuted does not compile at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub enum Evidence {
    /// It is true of every system of this form: constraints and energy of a canonical system, the energy of a Poisson system.
    Construction,
    /// It was proved by exact algebra: a polynomial identity was shown by division, or at eight random points or more, each modulo a
    /// prime of 62 bits of its own. If the identity were false, the points would show it but for a probability below 1e-40, or below
    /// 1e-8 where roots depend on one another, as that of a square does on what is squared.
    Algebra,
    /// A file in `derivations/` says that it was proved by division of polynomials, which is not repeated when the file is read. A search
    /// found no state that refutes it.
    Kept,
}

/// The dependence of a Hamiltonian on the momenta, which decides which splitting methods apply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
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
pub struct Operations {
    /// Additions, subtractions and negations.
    pub additions: u32,
    /// Multiplications.
    pub multiplications: u32,
    /// Fused multiply-adds, each of which is also worth one addition and one multiplication.
    pub fused: u32,
    /// Divisions and reciprocals.
    pub divisions: u32,
    /// Square roots and elementary functions.
    pub functions: u32,
}

impl Operations {
    pub(crate) const NONE: Self = Self { additions: 0, multiplications: 0, fused: 0, divisions: 0, functions: 0 };

    /// Whether a function with so many operations is evaluated in lanes: a longer one takes long to compile in them, and one that is not
    /// optimised fills the stack of a thread.
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
