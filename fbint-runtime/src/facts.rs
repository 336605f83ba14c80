//! Facts about a system that hold for all parameters: names, roles, and the findings of the compiler.

use crate::entries::{Entries, Entry};
use crate::scalar::Scalar;
use crate::system::{
    FeedbackSystem, GeneratedSystem, Integral, Integrals, KineticEnergy, Operations, StateEntry, StateRole, Vector,
};

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
#[derive(Clone, Copy, Debug)]
pub struct SystemFacts {
    /// The name of the declared struct.
    pub name: &'static str,
    /// The first paragraph of the documentation of the declared struct, in one line.
    pub summary: &'static str,
    /// The entries of the state: coordinates, then momenta, each in declaration order, matrices column by column.
    pub state: &'static [StateEntry],
    /// The name of each declared scalar, vector or matrix of the state: `q`, whose entries are `q[0]` and `q[1]`.
    pub variables: &'static [&'static str],
    /// The index of the time in the state, if it is there: [`StateEntry::clock`].
    pub clock: Option<usize>,
    /// The integrals.
    pub integrals: &'static [Integral],
    /// Linear functions of the state that the field conserves and that are not declared, as `invariant` takes them.
    pub undeclared: &'static [&'static str],
    /// A name for each parameter: `m`, `inertia[0]`.
    pub parameter_names: &'static [&'static str],
    /// A name for each declared output.
    pub output_names: &'static [&'static str],
    /// A name for each input: `thrust`, `u[0]`.
    pub input_names: &'static [&'static str],
    /// The number of a prepared system's values that depend on parameters alone.
    pub prepared_numbers: usize,
    /// The dependence of the Hamiltonian on the momenta.
    pub kinetic_energy: KineticEnergy,
    /// Whether there are steps of the discrete Hamel integrator, see [`HamelSystem`](crate::HamelSystem).
    pub has_hamel_steps: bool,
    /// Whether [`PreparedSystem::jacobian`](crate::PreparedSystem::jacobian) is generated: the declaration has the key `derivatives`.
    pub has_jacobian: bool,
    /// Operations of [`PreparedSystem::vector_field`](crate::PreparedSystem::vector_field).
    pub vector_field_operations: Operations,
    /// Operations of [`PreparedSystem::feedback_field`](crate::PreparedSystem::feedback_field), without those of the
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
        undeclared: &[],
        parameter_names: &[],
        output_names: &[],
        input_names: &[],
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

    /// Whether an entry of a state belongs to the same variable as the one before it.
    #[inline]
    pub(crate) fn continues(state: &[Self], entry: usize) -> bool {
        let pair = state.get(entry.wrapping_sub(1)).zip(state.get(entry));
        pair.is_some_and(|(before, own)| own.variable == before.variable)
    }
}
