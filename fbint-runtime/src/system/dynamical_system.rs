//! A system as data: its facts, its functions on slices, and memory for computing with them without an allocator.
//!
//! Code on it is compiled once with this crate, and not again for every model.

use core::mem;
#[cfg(feature = "std")]
use std::vec::Vec;

use crate::numbers::entries::Entries;
#[cfg(feature = "std")]
use crate::numbers::four::FourLanes;
use crate::numbers::linear::{filled, from_slice};
use crate::system::facts::SystemFacts;
#[cfg(feature = "std")]
use crate::system::taylor::SeriesShape;
use crate::system::traits::{FeedbackLaw, FeedbackSystem, Integrals, PreparedSystem, Vector};

/// A system whose parameters, and inputs if it has any, are fixed. States are flat, with an entry for each of [`SystemFacts::state`].
pub trait DynamicalSystem {
    /// The facts about the system.
    fn facts(&self) -> &'static SystemFacts;
    /// Puts F(x) into `values`.
    fn integrals_at(&self, x: &[f64], values: &mut [f64]);
    /// Puts X(x) into `rates`.
    fn vector_field_at(&self, x: &[f64], rates: &mut [f64]);
    /// Puts DF(x) into `rows`, row by row.
    fn jacobian_at(&self, x: &[f64], rows: &mut [f64]);
    /// Puts the declared outputs into `values`.
    fn outputs_at(&self, x: &[f64], values: &mut [f64]);
    /// Puts [`PreparedSystem::projection`] for these variances and this noise into `correction`, where the law gives y from the
    /// integrals.
    fn projection_at(&self, x: &[f64], of: [&[f64]; 2], law: &dyn Fn(&mut [f64]), correction: &mut [f64]);
    /// Calls `work` once, with memory.
    fn with_scratch(&self, work: &mut dyn FnMut(Scratch<'_>));
}

/// A law on slices.
struct FlatLaw<'l>(&'l dyn Fn(&mut [f64]));

impl<S: FeedbackSystem> FeedbackLaw<S, f64> for FlatLaw<'_> {
    fn weigh(&self, mut integrals: Integrals<S>) -> Integrals<S> {
        (self.0)(integrals.as_mut());
        integrals
    }
}

impl<P: PreparedSystem<f64>> DynamicalSystem for P {
    fn facts(&self) -> &'static SystemFacts {
        PreparedSystem::facts(self)
    }

    fn integrals_at(&self, x: &[f64], values: &mut [f64]) {
        let integrals = PreparedSystem::integrals(self, &from_slice(x));
        values.copy_from_slice(PreparedSystem::facts(self).of_integrals::<P::System, _>(&integrals));
    }

    fn vector_field_at(&self, x: &[f64], rates: &mut [f64]) {
        rates.copy_from_slice(PreparedSystem::facts(self).of_state::<P::System, _>(&self.vector_field(&from_slice(x))));
    }

    fn jacobian_at(&self, x: &[f64], rows: &mut [f64]) {
        let facts = PreparedSystem::facts(self);
        let jacobian = self.integrals_jacobian(&from_slice(x));
        for (row, gradient) in rows.chunks_exact_mut(facts.state.len()).zip(jacobian.as_ref()) {
            row.copy_from_slice(facts.of_state::<P::System, _>(gradient));
        }
    }

    fn outputs_at(&self, x: &[f64], values: &mut [f64]) {
        values.copy_from_slice(&self.outputs(&from_slice(x)).as_ref()[..values.len()]);
    }

    fn projection_at(
        &self,
        x: &[f64],
        [variances, noise]: [&[f64]; 2],
        law: &dyn Fn(&mut [f64]),
        correction: &mut [f64],
    ) {
        let (x, variances, noise) = (from_slice(x), from_slice(variances), from_slice(noise));
        let projection = self.projection(&x, &variances, &noise, &FlatLaw(law));
        correction.copy_from_slice(PreparedSystem::facts(self).of_state::<P::System, _>(&projection));
    }

    fn with_scratch(&self, work: &mut dyn FnMut(Scratch<'_>)) {
        let facts = PreparedSystem::facts(self);
        // A type for systems of several sizes has vectors for the largest, which would fill the stack of a thread.
        #[cfg(feature = "std")]
        if const { P::System::KNOWN_FACTS.is_none() } {
            return with_allocated(facts, work);
        }
        with_vectors::<P::System>(facts, work);
    }
}

/// A system on slices of any length, with what the steps of a run are made of.
///
/// States and lists may be followed by zeros, an even number of entries in all, which stay 0.
#[cfg(feature = "std")]
pub trait FlatSystem: DynamicalSystem + Sync {
    /// Puts X(x) with these inputs into `rates`.
    fn vector_field_with(&self, x: &[f64], inputs: &[f64], rates: &mut [f64]);
    /// Puts X(x) - DF^T y with these inputs into `rates`, where the law gives y from the normalised forms of the integrals, as
    /// [`FeedbackLaw::weigh_normalised`](crate::FeedbackLaw::weigh_normalised) does.
    fn feedback_field_with(&self, x: &[f64], inputs: &[f64], law: &dyn Fn(&mut [f64]), rates: &mut [f64]);
    /// Replaces the first of `inputs`, which sides of switches follow, by what their laws give in a state.
    fn laws_with(&self, x: &[f64], inputs: &mut [f64]);
    /// The time between two samples of the laws, where they are sampled.
    fn law_period(&self) -> f64;
    /// Puts the functions at whose zeros the field switches, with these inputs, into `values`.
    fn switches_with(&self, x: &[f64], inputs: &[f64], values: &mut [f64]);
    /// Puts the derivatives of these functions along `rates` into `slopes`, with inputs that follow their laws or stay as they are.
    fn switch_slopes_with(&self, x: &[f64], rates: &[f64], inputs: &[f64], follows_laws: bool, slopes: &mut [f64]);
    /// Adds the entries of the Jacobian of X with these inputs, by the state and then by the inputs, or that of X - DF^T K (F - t), given
    /// the diagonal of K and t. Returns `false` if it is not known.
    fn field_jacobian_with(
        &self,
        x: &[f64],
        inputs: &[f64],
        feedback: Option<[&[f64]; 2]>,
        add: &mut dyn FnMut(usize, usize, f64),
    ) -> bool;
    /// Puts the derivatives of the laws by the state into `slopes`, a row for each input.
    fn law_slopes_with(&self, x: &[f64], inputs: &[f64], slopes: &mut [f64]);
    /// The lists of the Taylor series of X's solutions, or why there are none.
    fn series(&self) -> Result<SeriesShape, &'static str>;
    /// [`TaylorSystem::taylor_coefficients`](crate::TaylorSystem::taylor_coefficients) with these inputs, and with a `stride` from each
    /// coefficient to the next, also where coefficients of inputs are given.
    fn expand_with(
        &self,
        inputs: &[f64],
        given: &[f64],
        coefficients: &mut [f64],
        stride: usize,
        memory: &mut [FourLanes],
    );
    /// Puts [`HamelSystem::momentum_state`](crate::HamelSystem::momentum_state) or the rates of that into a list.
    fn momenta_at(&self, of_rates: bool, x: &[f64], list: &mut [f64]);
    /// Puts their derivatives by the state into `rows`, row by row.
    fn momenta_jacobian_at(&self, of_rates: bool, x: &[f64], rows: &mut [f64]);
    /// [`PreparedSystem::zero_targets`](crate::PreparedSystem::zero_targets).
    fn zero_targets(&self) -> Vec<bool>;
    /// [`PreparedSystem::normalisation`](crate::PreparedSystem::normalisation).
    fn normalisation(&self) -> Vec<[f64; 3]>;
}

/// Calls `work` once, with memory in vectors of the system.
fn with_vectors<S: FeedbackSystem>(facts: &SystemFacts, work: &mut dyn FnMut(Scratch<'_>)) {
    let states: &mut [Vector<S>; STATES] = &mut [filled(0.0); STATES];
    let values: &mut [Integrals<S>; VALUES] = &mut [filled(0.0); VALUES];
    let rows: &mut [Integrals<S, Vector<S>>; ROWS] = &mut [Entries::from_fn(|_| filled(0.0)); ROWS];
    let squares: &mut [Integrals<S, Integrals<S>>; SQUARES] = &mut [Entries::from_fn(|_| filled(0.0)); SQUARES];
    let indices: &mut [Integrals<S, usize>; INDICES] = &mut [Entries::from_fn(|_| 0); INDICES];
    work(Scratch {
        rows: Vector::<S>::flat_mut(Entries::flat_mut(rows)),
        squares: Integrals::<S>::flat_mut(Entries::flat_mut(squares)),
        states: Entries::flat_mut(states),
        values: Entries::flat_mut(values),
        indices: Entries::flat_mut(indices),
        entries: facts.state.len(),
        integrals: facts.integrals.len(),
    });
}

/// Calls `work` once, with memory that is as large as a system needs.
#[cfg(feature = "std")]
pub fn with_allocated(facts: &SystemFacts, work: &mut dyn FnMut(Scratch<'_>)) {
    let [entries, integrals] = [facts.state.len(), facts.integrals.len()];
    work(Scratch {
        rows: &mut std::vec![0.0; ROWS * integrals * entries],
        squares: &mut std::vec![0.0; SQUARES * integrals * integrals],
        states: &mut std::vec![0.0; STATES * entries],
        values: &mut std::vec![0.0; VALUES * integrals],
        indices: &mut std::vec![0; INDICES * integrals],
        entries,
        integrals,
    });
}

/// The number of each that a [`Scratch`] has: as many as the functions on it take at once.
const STATES: usize = 5;
const VALUES: usize = 7;
const ROWS: usize = 3;
const SQUARES: usize = 2;
const INDICES: usize = 2;

/// Memory, which is handed out vector by vector, each filled with zeros.
pub struct Scratch<'m> {
    rows: &'m mut [f64],
    squares: &'m mut [f64],
    states: &'m mut [f64],
    values: &'m mut [f64],
    indices: &'m mut [usize],
    entries: usize,
    integrals: usize,
}

impl<'m> Scratch<'m> {
    /// The rest, for another function.
    pub(crate) fn rest(&mut self) -> Scratch<'_> {
        Scratch {
            rows: self.rows,
            squares: self.squares,
            states: self.states,
            values: self.values,
            indices: self.indices,
            ..*self
        }
    }

    /// A vector with a number for each entry of the state.
    pub(crate) fn state(&mut self) -> &'m mut [f64] {
        take(&mut self.states, self.entries)
    }

    /// A vector with a number for each integral.
    pub(crate) fn values(&mut self) -> &'m mut [f64] {
        take(&mut self.values, self.integrals)
    }

    /// A vector with an index for each integral.
    pub(crate) fn indices(&mut self) -> &'m mut [usize] {
        take(&mut self.indices, self.integrals)
    }

    /// A row for each integral, as long as the state.
    pub(crate) fn rows(&mut self) -> &'m mut [f64] {
        take(&mut self.rows, self.integrals * self.entries)
    }

    /// A row for each integral, with a number for each.
    pub(crate) fn square(&mut self) -> &'m mut [f64] {
        take(&mut self.squares, self.integrals * self.integrals)
    }
}

fn take<'m, T: Default + Copy>(left: &mut &'m mut [T], length: usize) -> &'m mut [T] {
    let (taken, rest) = mem::take(left).split_at_mut(length);
    *left = rest;
    taken.fill(T::default());
    taken
}
