//! Steps of the discrete Hamel integrator in runs.

use super::{Advanced, Carried, Momenta, advance, minus, refusal};
use crate::error::Error;
use crate::error::failure::StepFailure;
use crate::hold::projection::Land;
use crate::method::advance::Advance;
use crate::numbers::blocks::Blocks;
use crate::numbers::linear::{Lu, solve_in_lists};
use crate::system::dynamical_system::FlatSystem;
use crate::system::{FeedbackSystem, HamelFunctions, PreparedSystem, SystemFacts, Vector};

/// Steps of the discrete Hamel integrator.
pub(crate) struct HamelMethod<M: Momenta> {
    system: M,
    carried: Carried<M::State>,
    /// The state that it belongs to.
    end: M::State,
}

impl<M: Momenta> HamelMethod<M> {
    pub(crate) fn new(system: M, x: &M::State) -> Self {
        let carried = Carried::at(&system, x);
        Self { system, carried, end: x.clone() }
    }

    fn own(&self, x: &M::State) -> Vec<f64> {
        x.as_ref()[..self.system.facts().state.len()].to_vec()
    }
}

impl<M: Momenta, L: Land<State = M::State>> Advance<L> for HamelMethod<M> {
    fn step(&mut self, x: &mut M::State, h: f64) -> Result<(), StepFailure> {
        // What is carried belongs to the end of the last step: a projection makes it another state.
        let anew = (x.as_ref() != self.end.as_ref()).then(|| Carried::at(&self.system, x));
        let own = anew.as_ref().unwrap_or(&self.carried);
        let Advanced { state, carried, .. } = advance(&self.system, x, own, h)?;
        (self.carried, self.end, *x) = (carried, state.clone(), state);
        Ok(())
    }

    fn step_alone(&mut self, x: &mut M::State, h: f64) -> Result<(), StepFailure> {
        *x = advance(&self.system, x, &Carried::at(&self.system, x), h)?.state;
        Ok(())
    }

    fn rates(&self, x: &M::State) -> M::State {
        self.system.rates(x)
    }

    fn evaluations(&self) -> u64 {
        1
    }

    fn carried(&self) -> Option<Vec<Vec<f64>>> {
        Some([&self.carried.node, &self.carried.excess, &self.end].map(|of| self.own(of)).to_vec())
    }

    fn carry(&mut self, x: &M::State, carried: Option<&[Vec<f64>]>) {
        (self.carried, self.end) = match carried {
            Some([node, excess, end]) => (Carried { node: L::state(node), excess: L::state(excess) }, L::state(end)),
            _ => (Carried::at(&self.system, x), x.clone()),
        };
    }
}

/// A system whose functions are found at run time, in vectors of a fixed length.
pub(crate) struct InVectors<S: FeedbackSystem> {
    system: S::Prepared<f64>,
    functions: HamelFunctions<S>,
}

impl<S: FeedbackSystem> InVectors<S> {
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if it has no such functions.
    pub(crate) fn of(system: &S) -> Result<Self, Error> {
        let functions = system.hamel_functions().ok_or_else(|| refusal(system.facts()))?;
        Ok(Self { system: system.prepare(), functions })
    }
}

impl<S: FeedbackSystem> Momenta for InVectors<S> {
    type State = Vector<S>;
    type Rows = Vector<S, Vector<S>>;

    fn facts(&self) -> &'static SystemFacts {
        PreparedSystem::facts(&self.system)
    }

    fn rates(&self, x: &Vector<S>) -> Vector<S> {
        self.system.vector_field(x)
    }

    fn momentum_state(&self, x: &Vector<S>) -> Vector<S> {
        (self.functions.momentum_state)(&self.system, x)
    }

    fn momentum_rates(&self, x: &Vector<S>) -> Vector<S> {
        (self.functions.momentum_rates)(&self.system, x)
    }

    fn matrix(&self, x: &Vector<S>, t: f64) -> Self::Rows {
        let HamelFunctions { momentum_state_jacobian, momentum_rates_jacobian, .. } = self.functions;
        minus::<S>(momentum_state_jacobian(&self.system, x), t, momentum_rates_jacobian(&self.system, x))
    }

    fn solve(&self, matrix: &Self::Rows, b: &Vector<S>) -> Vector<S> {
        Lu::new(*matrix).solve(b, Momenta::facts(self).state.len())
    }
}

/// A system in lists.
pub(crate) struct InLists<'s>(&'s dyn FlatSystem);

impl<'s> InLists<'s> {
    /// # Errors
    ///
    /// [`Error::NotApplicable`] if it has no such functions.
    pub(crate) fn of(system: &'s dyn FlatSystem) -> Result<Self, Error> {
        if system.facts().has_hamel_steps { Ok(Self(system)) } else { Err(refusal(system.facts())) }
    }

    fn list(&self, of_rates: bool, x: &Blocks) -> Blocks {
        let mut list = Blocks::zeros(x.len());
        self.0.momenta_at(of_rates, x.all(), list.all_mut());
        list
    }

    fn rows(&self, of_rates: bool, x: &Blocks) -> Vec<f64> {
        let mut rows = vec![0.0; x.len() * x.len()];
        self.0.momenta_jacobian_at(of_rates, x.all(), &mut rows);
        rows
    }
}

impl Momenta for InLists<'_> {
    type State = Blocks;
    type Rows = Vec<Blocks>;

    fn facts(&self) -> &'static SystemFacts {
        self.0.facts()
    }

    fn rates(&self, x: &Blocks) -> Blocks {
        let mut rates = Blocks::zeros(x.len());
        self.0.vector_field_at(x.own(), rates.own_mut());
        rates
    }

    fn momentum_state(&self, x: &Blocks) -> Blocks {
        self.list(false, x)
    }

    fn momentum_rates(&self, x: &Blocks) -> Blocks {
        self.list(true, x)
    }

    fn matrix(&self, x: &Blocks, t: f64) -> Vec<Blocks> {
        let (of_state, of_rates) = (self.rows(false, x), self.rows(true, x));
        let entry = |place: usize| of_state[place] - t * of_rates[place];
        (0..x.len()).map(|i| Blocks::from_fn(x.len(), |j| entry(i * x.len() + j))).collect()
    }

    fn solve(&self, matrix: &Vec<Blocks>, b: &Blocks) -> Blocks {
        solve_in_lists(matrix.clone(), b)
    }
}
