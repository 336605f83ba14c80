//! The gains of an ensemble: none, the same for all members, or for each its own.

use nalgebra::SVector;

use super::block::LanesField;
use crate::feedback::Gathered;
use crate::{
    Diagonal, Error, Feedback, FeedbackSystem, Field, GainMatrix, GainPolicy, Gains, Identity, Lanes, PlainField,
    PreparedSystem, Simulation,
};

/// What feedback the members of an ensemble have.
pub trait EnsembleGains<const N: usize, const M: usize>: Sync {
    /// The field of one member.
    type Alone<S: FeedbackSystem<N, M>>: Field<N> + Send + Sync;
    /// The field of a block.
    type Block<S: FeedbackSystem<N, M>, const V: usize>: LanesField<V, N>;

    /// For how many members there are gains, unless for any number.
    fn count(&self) -> Option<usize>;
    /// Refuses gains that will do for no member.
    fn check<S: FeedbackSystem<N, M>>(&self) -> Result<(), Error>;
    /// The field of one member, or why its gains will not do.
    fn alone<S: FeedbackSystem<N, M>>(
        &self,
        system: &S,
        start: &SVector<f64, N>,
        member: usize,
    ) -> Result<Self::Alone<S>, Error>;
    /// The fields that `lane` gives, side by side.
    fn block<'a, S: FeedbackSystem<N, M> + 'a, const V: usize>(
        lane: impl Fn(usize) -> &'a Self::Alone<S>,
    ) -> Self::Block<S, V>
    where
        Self: 'a;
    /// The simulation of one member.
    fn simulation<'a, S: FeedbackSystem<N, M>>(
        &self,
        simulation: Simulation<'a, S, PlainField<S::Prepared, M>, N, M>,
        member: usize,
    ) -> Simulation<'a, S, Self::Alone<S>, N, M>;
}

/// The derived field alone.
#[derive(Clone, Copy, Debug)]
pub struct NoFeedback;

/// The same gains for all members.
#[derive(Clone, Copy, Debug)]
pub struct Alike<K, L>(pub(super) Gains<K, L>);

/// K = diag(k) of its own for each member.
#[derive(Clone, Debug)]
pub struct Each<const M: usize>(pub(super) Vec<[f64; M]>);

impl<const N: usize, const M: usize> EnsembleGains<N, M> for NoFeedback {
    type Alone<S: FeedbackSystem<N, M>> = PlainField<S::Prepared, M>;
    type Block<S: FeedbackSystem<N, M>, const V: usize> = Plain<S::Gathered<Lanes<V>>, M>;

    fn count(&self) -> Option<usize> {
        None
    }

    fn check<S: FeedbackSystem<N, M>>(&self) -> Result<(), Error> {
        Ok(())
    }

    fn alone<S: FeedbackSystem<N, M>>(
        &self,
        system: &S,
        _: &SVector<f64, N>,
        _: usize,
    ) -> Result<PlainField<S::Prepared, M>, Error> {
        Ok(PlainField::new(system))
    }

    fn block<'a, S: FeedbackSystem<N, M> + 'a, const V: usize>(
        lane: impl Fn(usize) -> &'a PlainField<S::Prepared, M>,
    ) -> Self::Block<S, V>
    where
        Self: 'a,
    {
        Plain(S::gather(|index| lane(index).prepared()))
    }

    fn simulation<'a, S: FeedbackSystem<N, M>>(
        &self,
        simulation: Simulation<'a, S, PlainField<S::Prepared, M>, N, M>,
        _: usize,
    ) -> Simulation<'a, S, PlainField<S::Prepared, M>, N, M> {
        simulation.without_feedback()
    }
}

impl<K: GainPolicy<M>, L: GainMatrix<N>, const N: usize, const M: usize> EnsembleGains<N, M> for Alike<K, L> {
    type Alone<S: FeedbackSystem<N, M>> = Feedback<S, K, L, N, M>;
    type Block<S: FeedbackSystem<N, M>, const V: usize> = Gathered<S, K, L, Lanes<V>, N, M>;

    fn count(&self) -> Option<usize> {
        None
    }

    fn check<S: FeedbackSystem<N, M>>(&self) -> Result<(), Error> {
        self.0.integrals.check(&S::INTEGRAL_NAMES)?;
        self.0.metric.check("L", &S::STATE_NAMES)
    }

    fn alone<S: FeedbackSystem<N, M>>(
        &self,
        system: &S,
        start: &SVector<f64, N>,
        _: usize,
    ) -> Result<Self::Alone<S>, Error> {
        Feedback::new(system, start, self.0)
    }

    fn block<'a, S: FeedbackSystem<N, M> + 'a, const V: usize>(
        lane: impl Fn(usize) -> &'a Self::Alone<S>,
    ) -> Self::Block<S, V>
    where
        Self: 'a,
    {
        Gathered::new(lane)
    }

    fn simulation<'a, S: FeedbackSystem<N, M>>(
        &self,
        simulation: Simulation<'a, S, PlainField<S::Prepared, M>, N, M>,
        _: usize,
    ) -> Simulation<'a, S, Self::Alone<S>, N, M> {
        simulation.gains(self.0)
    }
}

impl<const N: usize, const M: usize> EnsembleGains<N, M> for Each<M> {
    type Alone<S: FeedbackSystem<N, M>> = Feedback<S, Diagonal<M>, Identity, N, M>;
    type Block<S: FeedbackSystem<N, M>, const V: usize> = Gathered<S, Diagonal<M>, Identity, Lanes<V>, N, M>;

    fn count(&self) -> Option<usize> {
        Some(self.0.len())
    }

    fn check<S: FeedbackSystem<N, M>>(&self) -> Result<(), Error> {
        Ok(())
    }

    fn alone<S: FeedbackSystem<N, M>>(
        &self,
        system: &S,
        start: &SVector<f64, N>,
        member: usize,
    ) -> Result<Self::Alone<S>, Error> {
        Feedback::new(system, start, Gains::diagonal(self.0[member]))
    }

    fn block<'a, S: FeedbackSystem<N, M> + 'a, const V: usize>(
        lane: impl Fn(usize) -> &'a Self::Alone<S>,
    ) -> Self::Block<S, V>
    where
        Self: 'a,
    {
        Gathered::new(lane)
    }

    fn simulation<'a, S: FeedbackSystem<N, M>>(
        &self,
        simulation: Simulation<'a, S, PlainField<S::Prepared, M>, N, M>,
        member: usize,
    ) -> Simulation<'a, S, Self::Alone<S>, N, M> {
        simulation.gains(Gains::diagonal(self.0[member]))
    }
}

/// X of a block.
pub struct Plain<P, const M: usize>(P);

impl<P: PreparedSystem<N, M>, const V: usize, const N: usize, const M: usize> LanesField<V, N> for Plain<P, M> {
    #[inline]
    fn value(&self, x: &SVector<Lanes<V>, N>) -> SVector<Lanes<V>, N> {
        self.0.vector_field(x)
    }
}

impl<S, K, L, const V: usize, const N: usize, const M: usize> LanesField<V, N> for Gathered<S, K, L, Lanes<V>, N, M>
where
    S: FeedbackSystem<N, M>,
    K: GainPolicy<M>,
    L: GainMatrix<N>,
{
    #[inline]
    fn value(&self, x: &SVector<Lanes<V>, N>) -> SVector<Lanes<V>, N> {
        self.field(x)
    }

    #[inline]
    fn euler_step(&self, x: &mut SVector<Lanes<V>, N>, h: Lanes<V>) {
        Self::euler_step(self, x, h);
    }

    #[inline]
    fn rk4_step(&self, x: &mut SVector<Lanes<V>, N>, h: Lanes<V>) {
        Self::rk4_step(self, x, h);
    }
}
