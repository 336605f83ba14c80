//! The trait that `#[feedback_system]` implements for every model.
//!
//! A system has a flat state x in R^N and M integrals F(x): constraints, energy, invariants. [`SystemFacts`] describes each entry of the
//! state and each integral. The functions are defined in CPV22 eq. (4) and (6). N and M are lengths of arrays and not part of the name of
//! any other type.

use core::fmt;

use derive_where::derive_where;

use crate::numbers::entries::{Entries, Entry};
use crate::numbers::four::FourLanes;
use crate::numbers::scalar::Scalar;
use crate::system::facts::{DeclaredEvent, SystemFacts};
use crate::system::taylor::SeriesShape;

/// A flat state of the system `S`: an array with an entry for each of [`SystemFacts::state`].
pub type Vector<S, T = f64> = <S as FeedbackSystem>::Vector<T>;

/// An array with an entry for each of [`SystemFacts::integrals`] of the system `S`.
pub type Integrals<S, T = f64> = <S as FeedbackSystem>::Integrals<T>;

/// A mechanical system whose equations were derived at compile time.
///
/// Implemented by `#[feedback_system]`, not by hand.
pub trait FeedbackSystem: Sized + Send + Sync + 'static {
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

    /// The facts that all systems of this type have in common, if they do: [`GeneratedSystem::FACTS`]. Code that they exclude is not
    /// compiled.
    #[doc(hidden)]
    const KNOWN_FACTS: Option<&'static SystemFacts> = None;

    /// The facts about the system that hold for all parameters.
    fn facts(&self) -> &'static SystemFacts;
    /// The functions for the discrete Hamel integrator, if the system is a [`HamelSystem`](crate::HamelSystem).
    #[doc(hidden)]
    fn hamel_functions(&self) -> Option<HamelFunctions<Self>> {
        None
    }

    /// Whether some system of this type has [`taylor_functions`](Self::taylor_functions): what takes them is compiled for no other.
    #[doc(hidden)]
    const MAY_HAVE_SERIES: bool = false;
    /// The number of numbers of memory that each order of [`taylor_in_lanes`](Self::taylor_in_lanes) takes; 0 where members of an ensemble
    /// do not go side by side.
    #[doc(hidden)]
    const LANE_COLUMNS: usize = 0;
    /// [`TaylorSystem::taylor_coefficients`](crate::TaylorSystem::taylor_coefficients) in numbers of any type.
    #[doc(hidden)]
    fn taylor_in_lanes<T: Scalar>(
        _system: &Self::Prepared<T>,
        _coefficients: &mut [Self::Vector<T>],
        _memory: &mut [T],
    ) {
    }
    /// The functions for Taylor series, if the system is a [`TaylorSystem`](crate::TaylorSystem), or why there are none.
    #[doc(hidden)]
    fn taylor_functions(_system: &Self::Prepared<f64>) -> Result<TaylorFunctions<Self>, &'static str> {
        Err(NOT_GENERATED)
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

    /// The time between two samples of the laws of inputs, where they are [sampled](SystemFacts::law_delay).
    #[doc(hidden)]
    fn law_period(&self) -> f64 {
        f64::INFINITY
    }

    /// Puts the functions of the declared [events](SystemFacts::events) in a state with these inputs into `values`.
    #[doc(hidden)]
    fn events_at(&self, _x: &Self::Vector<f64>, _inputs: &[f64], _values: &mut [f64]) {}

    /// Puts the coordinates and lengths of the declared [drawing](SystemFacts::shapes) in a state into `values`.
    #[doc(hidden)]
    fn drawing_at(&self, _x: &Self::Vector<f64>, _values: &mut [f64]) {}

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

    /// The functions of a [`LagrangianSystem`](crate::LagrangianSystem), if it is one.
    #[doc(hidden)]
    const LAGRANGIAN_FUNCTIONS: Option<LagrangianFunctions<Self>> = None;

    /// The prepared system with these numbers: those that depend on parameters alone, then the inputs.
    #[doc(hidden)]
    fn of_numbers<T: Scalar>(number: impl Fn(usize) -> T) -> Self::Prepared<T>;
    /// One of the numbers of a prepared system, or `None` past the end.
    #[doc(hidden)]
    fn number<T: Scalar>(system: &Self::Prepared<T>, index: usize) -> Option<T>;
}

/// The derivative of an entry of the inputs, by its index, by an entry of the state.
type Slopes<'a, T> = &'a (dyn Fn(usize, usize) -> T + 'a);

/// A system whose parameters are fixed: the generated functions, each straight-line code that allocates nothing.
pub trait PreparedSystem<T: Scalar>: Clone + fmt::Debug + PartialEq + Send + Sync + 'static {
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
    /// The system with the inputs that their laws give in a state, where inputs have laws.
    #[doc(hidden)]
    #[inline(always)]
    fn under_law(&self, _x: &Vector<Self::System, T>) -> Self {
        self.clone()
    }

    /// Puts the inputs that the prepared system has into `values`, where inputs have laws.
    #[doc(hidden)]
    fn inputs_into(&self, _values: &mut [T]) {}

    /// Calls `work` with the system under its laws in a state and their derivatives there, of an entry of the inputs by one of the state.
    #[doc(hidden)]
    fn with_law_slopes(&self, _x: &Vector<Self::System, T>, work: &mut dyn FnMut(&Self, Slopes<'_, T>)) {
        work(self, &|_, _| T::from_f64(0.0));
    }

    /// Puts the functions at whose zeros the field [switches](SystemFacts::switches), with these inputs, into `values`.
    #[doc(hidden)]
    fn switches_at(&self, _x: &Vector<Self::System, T>, _values: &mut [T]) {}

    /// The function of the switch at a place.
    #[doc(hidden)]
    fn switch_at(&self, _x: &Vector<Self::System, T>, _place: usize) -> T {
        T::from_f64(0.0)
    }

    /// The system with a switch on one side, whatever the state is: plus or minus infinity, or 0 where the state decides.
    #[doc(hidden)]
    fn on_side(&self, _place: usize, _side: T) -> Self {
        self.clone()
    }

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

/// A driven system whose inputs have laws.
///
/// Implemented by `#[feedback_system]` where a declaration has `input(u = law)`, not by hand. A run takes the laws, unless
/// [`Simulation::input`](crate::Simulation::input) replaces them.
///
/// ```
/// # #[cfg(feature = "std")] {
/// use fbint_runtime::{Method, Simulation, feedback_system};
///
/// /// A mass on rails that a motor holds at x = 0.
/// #[feedback_system(
///     coordinates(x),
///     momenta(p),
///     hamiltonian = p.powi(2) / (2 * m),
///     input(thrust = -k * x - d * rate(x)),
///     force(p = thrust),
/// )]
/// pub struct Trolley { pub m: f64, pub k: f64, pub d: f64 }
///
/// let start = TrolleyState { x: 1.0, p: 0.0, time: 0.0, work: 0.0 };
/// let run = Simulation::new(&Trolley { m: 2.0, k: 2.0, d: 3.0 }, start)?.run(Method::Rk4 { h: 1e-2 }, 40.0)?;
/// assert!(run.state().x.abs() < 1e-4);
/// # }
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
pub trait ControlledSystem: DrivenSystem {
    /// The inputs in a state by their laws; those that have none as the prepared system has them.
    fn law<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Self::Inputs<T>;
    /// The derivatives of the inputs by the entries of the state, input by input.
    fn law_jacobian<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Self::Inputs<Vector<Self, T>>;
}

/// A system whose field switches, as by `max`, `abs` or `if`, at zeros of functions that steps of a run end at.
///
/// Implemented by `#[feedback_system]`, not by hand.
pub trait SwitchingSystem: FeedbackSystem {
    /// An array with an entry for each of [`SystemFacts::switches`].
    type Switches<T: Entry>: Entries<T>;

    /// The functions at whose zeros the field switches, in a state.
    fn switches<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Self::Switches<T>;
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

/// A system that the discrete Hamel integrator integrates: a Lagrangian system without reactions that is not driven.
///
/// Implemented by `#[feedback_system]`, not by hand.
#[diagnostic::on_unimplemented(
    message = "the discrete Hamel integrator does not integrate `{Self}`",
    note = "it integrates systems with `velocities` and a `lagrangian`, without forces, inputs, time or constraints that reactions \
            hold: choose a Runge-Kutta method, or put velocities to zero by `velocity_constraint(name = velocity)`"
)]
pub trait HamelSystem: FeedbackSystem {
    /// (q, p) in the state (q, xi), with p = dL/dxi.
    fn momentum_state<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Vector<Self, T>;
    /// (q', p'): U(q) xi, and `c^a_ij p_a xi^i + u_j[L]`.
    fn momentum_rates<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>) -> Vector<Self, T>;
    /// The derivatives of [`momentum_state`](Self::momentum_state) by the entries of the state, row by row.
    fn momentum_state_jacobian<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
    ) -> Vector<Self, Vector<Self, T>>;
    /// The derivatives of [`momentum_rates`](Self::momentum_rates) by the entries of the state, row by row.
    fn momentum_rates_jacobian<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
    ) -> Vector<Self, Vector<Self, T>>;
}

/// Puts what follows from a state and accelerations into a list.
type OfAccelerations<S> = fn(&<S as FeedbackSystem>::Prepared<f64>, &Vector<S>, &[f64], &mut [f64]);

/// The functions of a [`LagrangianSystem`](crate::LagrangianSystem) on slices, for programs that find out at run time whether a system has them.
#[doc(hidden)]
#[derive_where(Clone, Copy)]
pub struct LagrangianFunctions<S: FeedbackSystem> {
    /// [`LagrangianSystem::mass_matrix`](crate::LagrangianSystem::mass_matrix), row by row.
    pub mass_matrix: fn(&S::Prepared<f64>, &Vector<S>, &mut [f64]),
    /// [`LagrangianSystem::inverse_dynamics`](crate::LagrangianSystem::inverse_dynamics) for accelerations.
    pub inverse_dynamics: OfAccelerations<S>,
}

/// Why a system has no series.
pub const NOT_GENERATED: &str = "its Taylor series are not generated; declare it with the key `taylor`";

/// Expands the solution from the parameters of the field, into coefficients, with memory.
type ExpandPrepared<S> = fn(&<S as FeedbackSystem>::Prepared<f64>, &[f64], &mut [f64], &mut [FourLanes]);

/// [`TaylorSystem`](crate::TaylorSystem) as data, for runs, whose methods are chosen at run time.
#[doc(hidden)]
#[derive_where(Clone, Copy, Debug)]
pub struct TaylorFunctions<S: FeedbackSystem> {
    /// The lengths of its lists.
    pub shape: SeriesShape,
    /// [`TaylorSystem::taylor_coefficients`](crate::TaylorSystem::taylor_coefficients) with all coefficients in one list.
    pub expand: ExpandPrepared<S>,
}

/// The functions of a [`HamelSystem`], for programs that find out at run time whether a system has them.
#[derive_where(Clone, Copy)]
pub struct HamelFunctions<S: FeedbackSystem> {
    /// [`HamelSystem::momentum_state`].
    pub momentum_state: ListOfState<S>,
    /// [`HamelSystem::momentum_rates`].
    pub momentum_rates: ListOfState<S>,
    /// [`HamelSystem::momentum_state_jacobian`].
    pub momentum_state_jacobian: MatrixOfState<S>,
    /// [`HamelSystem::momentum_rates_jacobian`].
    pub momentum_rates_jacobian: MatrixOfState<S>,
}

/// A list with an entry for each of the state.
type ListOfState<S> = fn(&<S as FeedbackSystem>::Prepared<f64>, &Vector<S>) -> Vector<S>;

/// A matrix with a row and a column for each entry of the state.
type MatrixOfState<S> = fn(&<S as FeedbackSystem>::Prepared<f64>, &Vector<S>) -> Vector<S, Vector<S>>;

impl<S: HamelSystem> HamelFunctions<S> {
    /// The functions of this system.
    pub const OF_SYSTEM: Self = Self {
        momentum_state: S::momentum_state::<f64>,
        momentum_rates: S::momentum_rates::<f64>,
        momentum_state_jacobian: S::momentum_state_jacobian::<f64>,
        momentum_rates_jacobian: S::momentum_rates_jacobian::<f64>,
    };
}

impl SystemFacts {
    /// The number of values that the declared events use.
    #[doc(hidden)]
    pub fn event_values(&self) -> usize {
        let end = |event: &DeclaredEvent| event.reset.map_or(event.conditions[1], |reset| reset + self.state.len());
        self.events.iter().map(end).max().unwrap_or(0)
    }

    /// The number of values that the declared drawing uses.
    #[doc(hidden)]
    pub fn drawing_values(&self) -> usize {
        let arguments = self.shapes.iter().flat_map(|shape| shape.arguments);
        arguments.map(|[first, entries]| first + entries).max().unwrap_or(0)
    }

    /// The facts of all systems of the type `S`.
    pub const fn of<S: GeneratedSystem>() -> &'static Self {
        const { &S::FACTS }
    }

    /// The facts of the type `S` if they are known at compile time, else these facts of one of its systems.
    #[cfg_attr(
        not(feature = "std"),
        expect(dead_code, reason = "only steps of simulations are not told by their system")
    )]
    #[inline(always)]
    pub(crate) fn known<S: FeedbackSystem>(&'static self) -> &'static Self {
        match S::KNOWN_FACTS {
            Some(known) => known,
            None => self,
        }
    }

    /// The entries that the state has in a vector, which may be longer: see [`FeedbackSystem::Vector`]. Where facts are known of the type,
    /// it is not, and nothing is compiled for that.
    #[inline]
    pub(crate) fn of_state<'v, S: FeedbackSystem, T: Entry>(&self, x: &'v Vector<S, T>) -> &'v [T] {
        if const { S::KNOWN_FACTS.is_some() } { x.as_ref() } else { first(x.as_ref(), self.state.len()) }
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn of_state_mut<'v, S: FeedbackSystem, T: Entry>(&self, x: &'v mut Vector<S, T>) -> &'v mut [T] {
        if const { S::KNOWN_FACTS.is_some() } { x.as_mut() } else { first_mut(x.as_mut(), self.state.len()) }
    }

    /// The entries that integrals have in a vector, which may be longer: see [`FeedbackSystem::Integrals`].
    #[inline]
    pub(crate) fn of_integrals<'v, S: FeedbackSystem, T: Entry>(&self, values: &'v Integrals<S, T>) -> &'v [T] {
        if const { S::KNOWN_FACTS.is_some() } { values.as_ref() } else { first(values.as_ref(), self.integrals.len()) }
    }

    /// The same, to be changed.
    #[inline]
    pub(crate) fn of_integrals_mut<'v, S: FeedbackSystem, T: Entry>(
        &self,
        values: &'v mut Integrals<S, T>,
    ) -> &'v mut [T] {
        if const { S::KNOWN_FACTS.is_some() } {
            values.as_mut()
        } else {
            first_mut(values.as_mut(), self.integrals.len())
        }
    }
}

/// The first entries of a slice. Not inlined, which keeps compilation short.
#[inline(never)]
fn first<T>(entries: &[T], count: usize) -> &[T] {
    &entries[..count]
}

/// The same, to be changed.
#[inline(never)]
fn first_mut<T>(entries: &mut [T], count: usize) -> &mut [T] {
    &mut entries[..count]
}
