//! Geometric integrators, for comparison with feedback: maps that keep some of the structure by construction.
//!
//! [`Rattle`] keeps every holonomic constraint and is symplectic on the constraint manifold (HLW06 VII.1.4);
//! [`StormerVerlet`] is RATTLE without constraints (HLW06 I.1.4); [`Composition`] raises a symmetric method of order 2 to
//! order 4 (HLW06 II.4.2). All are general: of the model they know the generated Jacobian DF and what its rows and columns are. Steps
//! allocate nothing.

mod canonical;

use derive_where::derive_where;

use self::canonical::{Canonical, Constraints, Mechanics, conjugates};
use crate::error::Error;
#[cfg(feature = "std")]
use crate::method::settings::Method;
#[cfg(feature = "std")]
use crate::numbers::blocks::Blocks;
use crate::numbers::entries::Numbers;
use crate::system::SystemFacts;
#[cfg(feature = "std")]
use crate::system::dynamical_system::FlatSystem;
use crate::system::{FeedbackSystem, KineticEnergy, StateEntry, StateRole, Vector};

/// A map x -> Phi_h(x) that approximates the flow of a system whose state is of the type `V`.
pub trait OneStep<V: ?Sized>: Sync {
    /// Replaces `x` by Phi_h(x).
    fn step(&self, x: &mut V, h: f64);
    /// The evaluations of the field in a step, or as much of the system.
    fn evaluations_per_step(&self) -> u64;
}

impl<V: ?Sized, O: OneStep<V> + ?Sized> OneStep<V> for &O {
    fn step(&self, x: &mut V, h: f64) {
        (**self).step(x, h);
    }

    fn evaluations_per_step(&self) -> u64 {
        (**self).evaluations_per_step()
    }
}

/// The maps, with what they ask of a system.
#[derive(Clone, Copy)]
pub(crate) enum Map {
    Rattle,
    StormerVerlet,
}

/// Why a Hamiltonian alone does not determine the motion, if an entry of the state shows that.
const fn no_hamiltonian_motion(state: &[StateEntry]) -> Option<&'static str> {
    let mut entry = 0;
    while entry < state.len() {
        match state[entry].role {
            StateRole::Velocity => return Some("its state has velocities in place of momenta"),
            StateRole::Variable => return Some("its state has no momenta"),
            StateRole::Time | StateRole::Work => {
                return Some("forces, inputs or the time act on it, and the method knows a potential alone");
            }
            StateRole::Coordinate { .. } | StateRole::Momentum { .. } | StateRole::Position => {}
        }
        entry += 1;
    }
    None
}

impl Map {
    /// The property of a system that a map cannot deal with, if there is one.
    const fn obstacle(self, facts: &SystemFacts) -> Option<&'static str> {
        let Constraints { has_phase, has_any, .. } = Constraints::of(facts.integrals);
        if matches!(facts.kinetic_energy, KineticEnergy::General)
            && let Some(obstacle) = no_hamiltonian_motion(facts.state)
        {
            return Some(obstacle);
        }
        match (self, facts.kinetic_energy) {
            (Self::Rattle, KineticEnergy::General | KineticEnergy::Separable) => {
                Some("its Hamiltonian is not p^T M^-1 p / 2 + U(q) with a constant mass matrix M")
            }
            (Self::Rattle, KineticEnergy::Quadratic) if has_phase => {
                Some("it has phase constraints, and only holonomic ones can be kept")
            }
            (Self::StormerVerlet, KineticEnergy::General) => Some("its Hamiltonian is not T(p) + U(q)"),
            (Self::StormerVerlet, _) if has_any => Some("it has constraints: take RATTLE"),
            _ => None,
        }
    }

    /// Returns `true` if the type of a system is enough to tell that there is an obstacle.
    #[cfg(feature = "std")]
    const fn is_known_to_fail<S: FeedbackSystem>(self) -> bool {
        matches!(S::KNOWN_FACTS, Some(facts) if self.obstacle(facts).is_some())
    }

    /// # Errors
    ///
    /// If there is an obstacle.
    fn check(self, facts: &SystemFacts) -> Result<(), Error> {
        if self.obstacle(facts).is_some() { Err(self.refusal(facts)) } else { Ok(()) }
    }

    fn refusal(self, facts: &SystemFacts) -> Error {
        let method = match self {
            Self::Rattle => "RATTLE",
            Self::StormerVerlet => "Stormer-Verlet",
        };
        Error::NotApplicable { method, system: facts.name, reason: self.obstacle(facts).unwrap_or_default() }
    }
}

#[cfg(feature = "std")]
impl Method {
    /// The Stormer-Verlet method or RATTLE with steps of size `h`, if one of them applies to a system.
    #[doc(hidden)]
    pub fn map_of(facts: &SystemFacts, h: f64) -> Option<Self> {
        let maps = [(Map::StormerVerlet, Self::StormerVerlet { h }), (Map::Rattle, Self::Rattle { h })];
        maps.into_iter().find_map(|(map, method)| map.obstacle(facts).is_none().then_some(method))
    }
}

/// The number of RATTLE's Newton iterations for the position: each gains some six digits at sensible steps.
const NEWTON_ITERATIONS: usize = 5;

/// RATTLE (Andersen 1983) for a system `S` with holonomic constraints and H = p^T M^-1 p / 2 + U(q) with a constant mass matrix M.
#[derive_where(Clone, Debug)]
pub struct Rattle<S: FeedbackSystem> {
    mechanics: Mechanics<S>,
}

impl<S: FeedbackSystem> Rattle<S> {
    /// RATTLE for `system`.
    ///
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if the system is not canonical, its kinetic energy is not quadratic with a constant mass matrix,
    /// or it has phase constraints.
    pub fn new(system: &S) -> Result<Self, Error> {
        Ok(Self { mechanics: Mechanics::of(system, Map::Rattle)? })
    }

    /// Whether it is known of the type that it is not applicable.
    #[cfg(feature = "std")]
    pub(crate) const IS_EXCLUDED: bool = Map::Rattle.is_known_to_fail::<S>();

    /// Why it is not applicable.
    #[cfg(feature = "std")]
    pub(crate) fn refusal(facts: &SystemFacts) -> Error {
        Map::Rattle.refusal(facts)
    }
}

impl<S: FeedbackSystem> OneStep<Vector<S>> for Rattle<S> {
    fn step(&self, x: &mut Vector<S>, h: f64) {
        rattle(&self.mechanics, x, h);
    }

    /// Both ends' gradients of the potential; the second is the next step's first.
    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// The Stormer-Verlet method, kick, drift, kick, for a system `S` with H = T(p) + U(q) and without constraints.
#[derive_where(Clone, Debug)]
pub struct StormerVerlet<S: FeedbackSystem> {
    mechanics: Mechanics<S>,
}

impl<S: FeedbackSystem> StormerVerlet<S> {
    /// The method for `system`.
    ///
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if the system is not canonical, its Hamiltonian is not separable, or it has constraints.
    pub fn new(system: &S) -> Result<Self, Error> {
        Ok(Self { mechanics: Mechanics::of(system, Map::StormerVerlet)? })
    }

    /// Whether it is known of the type that it is not applicable.
    #[cfg(feature = "std")]
    pub(crate) const IS_EXCLUDED: bool = Map::StormerVerlet.is_known_to_fail::<S>();

    /// Why it is not applicable.
    #[cfg(feature = "std")]
    pub(crate) fn refusal(facts: &SystemFacts) -> Error {
        Map::StormerVerlet.refusal(facts)
    }
}

impl<S: FeedbackSystem> OneStep<Vector<S>> for StormerVerlet<S> {
    fn step(&self, x: &mut Vector<S>, h: f64) {
        stormer_verlet(&self.mechanics, x, h);
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// The triple jump of a symmetric method of order 2, which is of order 4: steps of gamma h, (1 - 2 gamma) h, gamma h with
/// gamma = 1 / (2 - 2^(1/3)), the middle one backwards.
#[derive(Clone, Copy, Debug)]
pub struct Composition<O>(pub O);

impl<O: OneStep<V>, V> OneStep<V> for Composition<O> {
    fn step(&self, x: &mut V, h: f64) {
        const GAMMA: f64 = 1.351_207_191_959_657_7;
        self.0.step(x, GAMMA * h);
        self.0.step(x, (1.0 - 2.0 * GAMMA) * h);
        self.0.step(x, GAMMA * h);
    }

    fn evaluations_per_step(&self) -> u64 {
        3 * self.0.evaluations_per_step()
    }
}

/// A step of RATTLE. With w_i = M^-1 dg_i/dq, which is dg'_i/dp:
///
///   p_1/2 = p - h/2 (U_q(q) + G(q)^T lambda),  q_1 = q + h M^-1 p_1/2,  g(q_1) = 0
///   p_1   = p_1/2 - h/2 (U_q(q_1) + G(q_1)^T mu),  G(q_1) M^-1 p_1 = 0
fn rattle<C: Canonical>(system: &C, x: &mut C::State, h: f64) {
    let start = x.clone();
    let before = system.gradients(x);
    system.kick(x, &before, 0.5 * h);
    let kicked = x.clone();
    let at_kicked = system.gradients(x);
    let velocity = system.energy(&at_kicked);
    let gram = system.gram(&before);
    let per_step = h.recip();
    let mut lambda = system.no_values();
    // Position and momentum are made from the same sums, so that rounding does not separate them.
    let mut advance = |lambda: &C::Values| {
        let (forces, rates) = (system.pull(&before, 0, lambda), system.pull(&before, 1, lambda));
        for [q, p] in conjugates(system.facts()) {
            set(x, p, entry(&kicked, p) - entry(&forces, q));
            set(x, q, entry(&start, q) + h * (entry(velocity, p) - entry(&rates, p)));
        }
        system.integrals(x)
    };
    for _ in 0..NEWTON_ITERATIONS {
        // A simplified Newton step: the matrix is that of the step's beginning.
        let integrals = advance(&lambda);
        let step = gram.solve(&system.holonomic(|[constraint, _]| per_step * entry(&integrals, constraint)));
        lambda = lambda.like(|i| entry(&lambda, i) + entry(&step, i));
    }
    advance(&lambda);
    let after = system.gradients(x);
    system.kick(x, &after, 0.5 * h);
    let integrals = system.integrals(x);
    let mu = system.gram(&after).solve(&system.holonomic(|[_, rate]| entry(&integrals, rate)));
    let forces = system.pull(&after, 0, &mu);
    for [q, p] in conjugates(system.facts()) {
        set(x, p, entry(x, p) - entry(&forces, q));
    }
}

/// A step of the Stormer-Verlet method.
fn stormer_verlet<C: Canonical>(system: &C, x: &mut C::State, h: f64) {
    system.kick(x, &system.gradients(x), 0.5 * h);
    system.drift(x, &system.gradients(x), h);
    system.kick(x, &system.gradients(x), 0.5 * h);
}

/// The map of a system on slices.
#[cfg(feature = "std")]
pub(crate) struct FlatMap<'s> {
    system: &'s dyn FlatSystem,
    map: Map,
}

#[cfg(feature = "std")]
impl<'s> FlatMap<'s> {
    /// # Errors
    ///
    /// [`Error::NotApplicable`], as for [`Rattle`] and [`StormerVerlet`].
    pub(crate) fn new(system: &'s dyn FlatSystem, map: Map) -> Result<Self, Error> {
        map.check(system.facts())?;
        Ok(Self { system, map })
    }
}

#[cfg(feature = "std")]
impl OneStep<[f64]> for FlatMap<'_> {
    fn step(&self, x: &mut [f64], h: f64) {
        let mut state = Blocks::of(x);
        match self.map {
            Map::Rattle => rattle(self, &mut state, h),
            Map::StormerVerlet => stormer_verlet(self, &mut state, h),
        }
        x.copy_from_slice(state.own());
    }

    fn evaluations_per_step(&self) -> u64 {
        1
    }
}

/// An entry, whose index the compiler need not know to be in range.
#[inline(always)]
fn entry(v: &(impl AsRef<[f64]> + ?Sized), index: usize) -> f64 {
    v.as_ref().get(index).copied().unwrap_or_default()
}

/// Writes an entry, whose index the compiler need not know to be in range.
#[inline(always)]
fn set(v: &mut impl AsMut<[f64]>, index: usize, value: f64) {
    if let Some(entry) = v.as_mut().get_mut(index) {
        *entry = value;
    }
}
