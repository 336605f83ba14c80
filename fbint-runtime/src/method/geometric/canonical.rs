//! Canonical systems as their maps see them.

#[cfg(feature = "std")]
use std::vec::Vec;

use derive_where::derive_where;

#[cfg(feature = "std")]
use super::FlatMap;
use super::{Map, entry, set};
use crate::error::Error;
#[cfg(feature = "std")]
use crate::numbers::blocks::Blocks;
use crate::numbers::entries::{Entries, Numbers};
use crate::numbers::linear::{Cholesky, filled};
use crate::system::{
    FeedbackSystem, Integral, IntegralKind, Integrals, PreparedSystem, StateRole, SystemFacts, Vector,
};

/// The facts about a system's constraints that a geometric integrator needs.
pub(super) struct Constraints {
    /// The number of holonomic constraints.
    holonomic: usize,
    /// `true` if there are phase constraints.
    pub(super) has_phase: bool,
    /// `true` if there are constraints of any kind.
    pub(super) has_any: bool,
}

impl Constraints {
    pub(super) const fn of(integrals: &[Integral]) -> Self {
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

/// The index of each holonomic constraint and of its rate, in the order of the multipliers.
#[inline(always)]
fn constraints(facts: &'static SystemFacts) -> impl Iterator<Item = [usize; 2]> + Clone {
    facts.integrals.iter().enumerate().filter_map(|(i, integral)| match integral.kind {
        IntegralKind::HolonomicConstraint { rate } => Some([i, rate]),
        _ => None,
    })
}

/// The index of each coordinate and of its momentum. They are read where they are declared, so that the compiler knows them.
#[inline(always)]
pub(super) fn conjugates(facts: &'static SystemFacts) -> impl Iterator<Item = [usize; 2]> + Clone {
    facts.state.iter().enumerate().filter_map(|(i, entry)| match entry.role {
        StateRole::Coordinate { momentum } => Some([i, momentum]),
        _ => None,
    })
}

/// A canonical system with what its maps compute in: vectors of a fixed length, or lists.
pub(super) trait Canonical {
    /// A number for each entry of the state.
    type State: Numbers;
    /// A number for each integral.
    type Values: Numbers;
    /// The gradients of all integrals.
    type Gradients;
    /// A row for each integral, with a number for each.
    type Square: AsRef<[Self::Values]> + AsMut<[Self::Values]>;

    /// The facts about the system.
    fn facts(&self) -> &'static SystemFacts;
    /// F(x).
    fn integrals(&self, x: &Self::State) -> Self::Values;
    /// DF(x).
    fn gradients(&self, x: &Self::State) -> Self::Gradients;
    /// The gradient of integral `i`.
    fn gradient<'g>(&self, gradients: &'g Self::Gradients, i: usize) -> &'g [f64];
    /// 0 for each integral.
    fn no_values(&self) -> Self::Values;
    /// 0 for each entry of the state.
    fn no_state(&self) -> Self::State;
    /// The factor of A_ij = dg_i/dq . dg'_j/dp = G M^-1 G^T.
    fn gram(&self, gradients: &Self::Gradients) -> Cholesky<Self::Square>;

    /// The gradient of the energy.
    #[inline(always)]
    fn energy<'g>(&self, gradients: &'g Self::Gradients) -> &'g [f64] {
        let energy = self.facts().integrals.iter().position(|integral| integral.kind == IntegralKind::Energy);
        self.gradient(gradients, energy.unwrap_or_default())
    }

    /// A number for each holonomic constraint and its rate, given their indices.
    #[inline(always)]
    fn holonomic(&self, number: impl Fn([usize; 2]) -> f64) -> Self::Values {
        let mut numbers = self.no_values();
        for (entry, pair) in numbers.as_mut().iter_mut().zip(constraints(self.facts())) {
            *entry = number(pair);
        }
        numbers
    }

    /// p -= h U_q.
    #[inline(always)]
    fn kick(&self, x: &mut Self::State, gradients: &Self::Gradients, h: f64) {
        let energy = self.energy(gradients);
        for [q, p] in conjugates(self.facts()) {
            set(x, p, entry(x, p) - h * entry(energy, q));
        }
    }

    /// q += h T_p.
    #[inline(always)]
    fn drift(&self, x: &mut Self::State, gradients: &Self::Gradients, h: f64) {
        let energy = self.energy(gradients);
        for [q, p] in conjugates(self.facts()) {
            set(x, q, entry(x, q) + h * entry(energy, p));
        }
    }

    /// dg_i/dq . dg'_j/dp, given the indices of g_i and of g'_j.
    #[inline(always)]
    fn inner(&self, gradients: &Self::Gradients, [constraint, rate]: [usize; 2]) -> f64 {
        let (constraint, rate) = (self.gradient(gradients, constraint), self.gradient(gradients, rate));
        conjugates(self.facts()).map(|[q, p]| entry(constraint, q) * entry(rate, p)).sum()
    }

    /// The sum over the holonomic constraints of a gradient times the multiplier; `which` is 0 for dg and 1 for dg'.
    #[inline(always)]
    fn pull(&self, gradients: &Self::Gradients, which: usize, multipliers: &Self::Values) -> Self::State {
        let mut sum = self.no_state();
        for (pair, &multiplier) in constraints(self.facts()).zip(multipliers.as_ref()) {
            let gradient = self.gradient(gradients, pair[which & 1]);
            let entries = sum.as_mut().iter_mut().zip(gradient);
            entries.for_each(|(sum, entry)| *sum += entry * multiplier);
        }
        sum
    }
}

/// A canonical system in vectors of a fixed length.
#[derive_where(Clone, Debug)]
pub(super) struct Mechanics<S: FeedbackSystem> {
    system: S::Prepared<f64>,
}

impl<S: FeedbackSystem> Mechanics<S> {
    /// The number of holonomic constraints, if it is known of the type.
    const HOLONOMIC: Option<usize> = match S::KNOWN_FACTS {
        Some(facts) => Some(Constraints::of(facts.integrals).holonomic),
        None => None,
    };

    /// A system that a map applies to.
    pub(super) fn of(system: &S, map: Map) -> Result<Self, Error> {
        map.check(system.facts())?;
        Ok(Self { system: system.prepare() })
    }
}

impl<S: FeedbackSystem> Canonical for Mechanics<S> {
    type State = Vector<S>;
    type Values = Integrals<S>;
    type Gradients = Integrals<S, Vector<S>>;
    type Square = Integrals<S, Integrals<S>>;

    #[inline(always)]
    fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }

    #[inline(always)]
    fn integrals(&self, x: &Vector<S>) -> Integrals<S> {
        self.system.integrals(x)
    }

    #[inline(always)]
    fn gradients(&self, x: &Vector<S>) -> Self::Gradients {
        self.system.integrals_jacobian(x)
    }

    #[inline(always)]
    fn gradient<'g>(&self, gradients: &'g Self::Gradients, i: usize) -> &'g [f64] {
        gradients.as_ref().get(i).map_or(&[], |gradient| gradient.as_ref())
    }

    #[inline(always)]
    fn no_values(&self) -> Integrals<S> {
        filled(0.0)
    }

    #[inline(always)]
    fn no_state(&self) -> Vector<S> {
        filled(0.0)
    }

    #[inline(always)]
    fn gram(&self, gradients: &Self::Gradients) -> Cholesky<Self::Square> {
        let mut pairs = Integrals::<S, [usize; 2]>::from_fn(|_| [0, 0]);
        for (slot, pair) in pairs.as_mut().iter_mut().zip(constraints(self.facts())) {
            *slot = pair;
        }
        let holonomic = Self::HOLONOMIC.unwrap_or_else(|| constraints(self.facts()).count());
        let rows = Entries::from_fn(|_| filled(0.0));
        Cholesky::new(rows, holonomic, |i, j| self.inner(gradients, [pairs[i][0], pairs[j][1]]))
    }
}

#[cfg(feature = "std")]
impl Canonical for FlatMap<'_> {
    type State = Blocks;
    type Values = Blocks;
    type Gradients = Vec<f64>;
    type Square = Vec<Blocks>;

    fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }

    fn integrals(&self, x: &Blocks) -> Blocks {
        let mut values = self.no_values();
        self.system.integrals_at(x.own(), values.own_mut());
        values
    }

    fn gradients(&self, x: &Blocks) -> Self::Gradients {
        let mut rows = vec![0.0; self.facts().integrals.len() * x.len()];
        self.system.jacobian_at(x.own(), &mut rows);
        rows
    }

    fn gradient<'g>(&self, gradients: &'g Self::Gradients, i: usize) -> &'g [f64] {
        gradients.chunks_exact(self.facts().state.len()).nth(i).unwrap_or_default()
    }

    fn no_values(&self) -> Blocks {
        Blocks::zeros(self.facts().integrals.len())
    }

    fn no_state(&self) -> Blocks {
        Blocks::zeros(self.facts().state.len())
    }

    fn gram(&self, gradients: &Self::Gradients) -> Cholesky<Self::Square> {
        let pairs: Vec<[usize; 2]> = constraints(self.facts()).collect();
        let rows = vec![Blocks::zeros(pairs.len()); pairs.len()];
        Cholesky::new(rows, pairs.len(), |i, j| self.inner(gradients, [pairs[i][0], pairs[j][1]]))
    }
}
