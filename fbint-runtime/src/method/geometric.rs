//! Geometric integrators, for comparison with feedback: maps that keep some of the structure by construction.
//!
//! [`Rattle`] keeps every holonomic constraint and is symplectic on the constraint manifold (HLW06 VII.1.4);
//! [`StormerVerlet`] is RATTLE without constraints (HLW06 I.1.4); [`Composition`] raises a symmetric method of order 2 to
//! order 4 (HLW06 II.4.2). All are general: of the model they know the generated Jacobian DF and what its rows and columns are. Steps
//! allocate nothing.

use derive_where::derive_where;

use crate::error::Error;
use crate::numbers::entries::Entries;
use crate::numbers::linear::{Cholesky, filled};
use crate::system::SystemFacts;
use crate::system::{
    FeedbackSystem, Integral, IntegralKind, Integrals, KineticEnergy, PreparedSystem, StateRole, Vector,
};

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
enum Map {
    Rattle,
    StormerVerlet,
}

impl Map {
    /// The property of a system that a map cannot deal with, if there is one.
    const fn obstacle(self, facts: &SystemFacts) -> Option<&'static str> {
        let Constraints { has_phase, has_any, .. } = Constraints::of(facts.integrals);
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

    fn refusal(self, facts: &SystemFacts) -> Error {
        let method = match self {
            Self::Rattle => "RATTLE",
            Self::StormerVerlet => "Stormer-Verlet",
        };
        Error::NotApplicable { method, system: facts.name, reason: self.obstacle(facts).unwrap_or_default() }
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
    /// With w_i = M^-1 dg_i/dq, which is dg'_i/dp:
    ///
    ///   p_1/2 = p - h/2 (U_q(q) + G(q)^T lambda),  q_1 = q + h M^-1 p_1/2,  g(q_1) = 0
    ///   p_1   = p_1/2 - h/2 (U_q(q_1) + G(q_1)^T mu),  G(q_1) M^-1 p_1 = 0
    fn step(&self, x: &mut Vector<S>, h: f64) {
        let mechanics = &self.mechanics;
        let start = *x;
        let before = mechanics.system.integrals_jacobian(x);
        mechanics.kick(x, &before, 0.5 * h);
        let kicked = *x;
        let velocity = mechanics.energy(&mechanics.system.integrals_jacobian(x));
        let gram = mechanics.gram(&before);
        let per_step = h.recip();
        let mut lambda: Integrals<S> = filled(0.0);
        // Position and momentum are made from the same sums, so that rounding does not separate them.
        let mut advance = |lambda: &Integrals<S>| {
            let (forces, rates) = (mechanics.pull(&before, 0, lambda), mechanics.pull(&before, 1, lambda));
            for [q, p] in mechanics.conjugates() {
                set(x, p, entry(&kicked, p) - entry(&forces, q));
                set(x, q, entry(&start, q) + h * (entry(&velocity, p) - entry(&rates, p)));
            }
            mechanics.system.integrals(x)
        };
        for _ in 0..NEWTON_ITERATIONS {
            // A simplified Newton step: the matrix is that of the step's beginning.
            let integrals = advance(&lambda);
            let step = gram.solve(&mechanics.holonomic(|[constraint, _]| per_step * entry(&integrals, constraint)));
            lambda = Entries::from_fn(|i| lambda[i] + step[i]);
        }
        advance(&lambda);
        let after = mechanics.system.integrals_jacobian(x);
        mechanics.kick(x, &after, 0.5 * h);
        let integrals = mechanics.system.integrals(x);
        let mu = mechanics.gram(&after).solve(&mechanics.holonomic(|[_, rate]| entry(&integrals, rate)));
        let forces = mechanics.pull(&after, 0, &mu);
        for [q, p] in mechanics.conjugates() {
            set(x, p, entry(x, p) - entry(&forces, q));
        }
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
        let mechanics = &self.mechanics;
        mechanics.kick(x, &mechanics.system.integrals_jacobian(x), 0.5 * h);
        mechanics.drift(x, &mechanics.system.integrals_jacobian(x), h);
        mechanics.kick(x, &mechanics.system.integrals_jacobian(x), 0.5 * h);
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

/// The gradients of all integrals, row by row.
type Jacobian<S> = Integrals<S, Vector<S>>;

/// A canonical system.
#[derive_where(Clone, Debug)]
struct Mechanics<S: FeedbackSystem> {
    system: S::Prepared<f64>,
}

/// The facts about a system's constraints that a geometric integrator needs.
struct Constraints {
    /// The number of holonomic constraints.
    holonomic: usize,
    /// `true` if there are phase constraints.
    has_phase: bool,
    /// `true` if there are constraints of any kind.
    has_any: bool,
}

impl Constraints {
    const fn of(integrals: &[Integral]) -> Self {
        let (mut all, mut i) = (Self { holonomic: 0, has_phase: false, has_any: false }, 0);
        while i < integrals.len() {
            let kind = integrals[i].kind;
            all.holonomic += matches!(kind, IntegralKind::HolonomicConstraint { .. }) as usize;
            all.has_phase |= matches!(kind, IntegralKind::Constraint);
            all.has_any |= kind.is_constraint();
            i += 1;
        }
        all
    }
}

impl<S: FeedbackSystem> Mechanics<S> {
    /// The number of holonomic constraints, if it is known of the type.
    const HOLONOMIC: Option<usize> = match S::KNOWN_FACTS {
        Some(facts) => Some(Constraints::of(facts.integrals).holonomic),
        None => None,
    };

    /// A system that a map applies to.
    fn of(system: &S, map: Map) -> Result<Self, Error> {
        match map.obstacle(system.facts()) {
            None => Ok(Self { system: system.prepare() }),
            Some(_) => Err(map.refusal(system.facts())),
        }
    }

    /// The index of each holonomic constraint and of its rate, in the order of the multipliers.
    #[inline(always)]
    fn constraints(&self) -> impl Iterator<Item = [usize; 2]> + Clone + use<S> {
        self.system.facts().integrals.iter().enumerate().filter_map(|(i, integral)| match integral.kind {
            IntegralKind::HolonomicConstraint { rate } => Some([i, rate]),
            _ => None,
        })
    }

    /// The index of each coordinate and of its momentum. They are read where they are declared, so that the compiler knows them.
    #[inline(always)]
    fn conjugates(&self) -> impl Iterator<Item = [usize; 2]> + Clone + use<S> {
        self.system.facts().state.iter().enumerate().filter_map(|(i, entry)| match entry.role {
            StateRole::Coordinate { momentum } => Some([i, momentum]),
            _ => None,
        })
    }

    /// The gradient of the energy.
    #[inline(always)]
    fn energy(&self, jacobian: &Jacobian<S>) -> Vector<S> {
        let energy = self.system.facts().integrals.iter().position(|integral| integral.kind == IntegralKind::Energy);
        Self::gradient(jacobian, energy.unwrap_or_default())
    }

    /// A number for each holonomic constraint and its rate, given their indices.
    fn holonomic(&self, number: impl Fn([usize; 2]) -> f64) -> Integrals<S> {
        let mut numbers: Integrals<S> = filled(0.0);
        for (entry, pair) in numbers.as_mut().iter_mut().zip(self.constraints()) {
            *entry = number(pair);
        }
        numbers
    }

    /// The gradient of integral `i`.
    fn gradient(jacobian: &Jacobian<S>, i: usize) -> Vector<S> {
        jacobian.as_ref().get(i).copied().unwrap_or(filled(0.0))
    }

    /// p -= h U_q.
    fn kick(&self, x: &mut Vector<S>, jacobian: &Jacobian<S>, h: f64) {
        let energy = self.energy(jacobian);
        for [q, p] in self.conjugates() {
            set(x, p, entry(x, p) - h * entry(&energy, q));
        }
    }

    /// q += h T_p.
    fn drift(&self, x: &mut Vector<S>, jacobian: &Jacobian<S>, h: f64) {
        let energy = self.energy(jacobian);
        for [q, p] in self.conjugates() {
            set(x, q, entry(x, q) + h * entry(&energy, p));
        }
    }

    /// The factor of A_ij = dg_i/dq . dg'_j/dp = G M^-1 G^T.
    #[inline(always)]
    fn gram(&self, jacobian: &Jacobian<S>) -> Cholesky<Integrals<S, Integrals<S>>> {
        let mut pairs = Integrals::<S, [usize; 2]>::from_fn(|_| [0, 0]);
        for (slot, pair) in pairs.as_mut().iter_mut().zip(self.constraints()) {
            *slot = pair;
        }
        let holonomic = Self::HOLONOMIC.unwrap_or_else(|| self.constraints().count());
        Cholesky::new(holonomic, |i, j| {
            let (constraint, rate) = (Self::gradient(jacobian, pairs[i][0]), Self::gradient(jacobian, pairs[j][1]));
            self.conjugates().map(|[q, p]| entry(&constraint, q) * entry(&rate, p)).sum()
        })
    }

    /// The sum over the holonomic constraints of a gradient times the multiplier; `which` is 0 for dg and 1 for dg'.
    fn pull(&self, jacobian: &Jacobian<S>, which: usize, multipliers: &Integrals<S>) -> Vector<S> {
        let mut sum: Vector<S> = filled(0.0);
        for (pair, &multiplier) in self.constraints().zip(multipliers.as_ref()) {
            let gradient = Self::gradient(jacobian, pair[which & 1]);
            sum = Entries::from_fn(|i| sum[i] + gradient[i] * multiplier);
        }
        sum
    }
}

/// An entry, whose index the compiler need not know to be in range.
#[inline(always)]
fn entry<V: Entries<f64>>(v: &V, index: usize) -> f64 {
    v.as_ref().get(index).copied().unwrap_or_default()
}

/// Writes an entry, whose index the compiler need not know to be in range.
#[inline(always)]
fn set<V: Entries<f64>>(v: &mut V, index: usize, value: f64) {
    if let Some(entry) = v.as_mut().get_mut(index) {
        *entry = value;
    }
}
