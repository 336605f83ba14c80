//! The gains of an ensemble: none, one for all members, or one for each.

use std::boxed::Box;
use std::vec::Vec;

use super::alike::AlikeSteps;
use crate::error::Error;
use crate::field::feedback::Feedback;
use crate::field::gains::Gains;
use crate::field::policy::GainPolicy;
use crate::field::{Field, PlainField};
use crate::hold::projection::Projector;
use crate::method::settings::FixedStep;
use crate::numbers::lanes::Lanes;
use crate::numbers::scalar::Scalar;
use crate::numbers::sealed::Sealed;
use crate::simulation::Simulation;
use crate::system::{FeedbackSystem, Integral, Vector};

/// The feedback of an ensemble's members: `()` for none, [`Gains`] for all of them, or a vector with the gains of each.
pub trait EnsembleGains<S: FeedbackSystem>: Sync + Sealed {
    /// The field of one member.
    #[doc(hidden)]
    type Alone: Field<Vector = Vector<S>> + Send + Sync;
    /// The field of a block.
    #[doc(hidden)]
    type Block<const V: usize>: Field<Lanes<V>, Vector = Vector<S, Lanes<V>>>;
    /// The field of the simulation of one member.
    #[doc(hidden)]
    type Simulated: Field<Vector = Vector<S>> + 'static;

    /// Whether gains do not follow from the state. Where they do, the field takes long enough for a pointer before it.
    #[doc(hidden)]
    const IS_CONSTANT: bool;

    /// The number of members for which there are gains, or `None` if there are gains for any number.
    #[doc(hidden)]
    fn count(&self) -> Option<usize>;
    /// Refuses gains that will do for no member.
    #[doc(hidden)]
    fn check(&self, integrals: &[Integral]) -> Result<(), Error>;
    /// The field of one member, or why its gains will not do.
    #[doc(hidden)]
    fn alone(&self, system: &S, start: &Vector<S>, member: usize) -> Result<Self::Alone, Error>;
    /// The fields that `lane` gives, side by side.
    #[doc(hidden)]
    fn block<'a, const V: usize>(lane: &dyn Fn(usize) -> &'a Self::Alone) -> Self::Block<V>
    where
        Self: 'a;
    /// The simulation of one member.
    #[doc(hidden)]
    fn simulation<'a>(&self, simulation: Simulation<'a, S>, member: usize) -> Simulation<'a, S, Self::Simulated>;
}

/// Gains whose kind the simulation of one member does not know; see [`Ensemble::boxed`](super::Ensemble::boxed).
pub(super) struct Boxed<G>(pub(super) G);

impl Sealed for () {}
impl<K> Sealed for Gains<K> {}
impl<K> Sealed for Vec<Gains<K>> {}
impl<G> Sealed for Boxed<G> {}

/// The derived field alone.
impl<S: FeedbackSystem> EnsembleGains<S> for () {
    type Alone = PlainField<S>;
    type Block<const V: usize> = PlainField<S, Lanes<V>>;
    type Simulated = PlainField<S>;
    const IS_CONSTANT: bool = true;

    fn count(&self) -> Option<usize> {
        None
    }

    fn check(&self, _: &[Integral]) -> Result<(), Error> {
        Ok(())
    }

    fn alone(&self, system: &S, _: &Vector<S>, _: usize) -> Result<PlainField<S>, Error> {
        Ok(PlainField::new(system))
    }

    fn block<'a, const V: usize>(lane: &dyn Fn(usize) -> &'a PlainField<S>) -> PlainField<S, Lanes<V>>
    where
        Self: 'a,
    {
        PlainField::gather(lane)
    }

    fn simulation<'a>(&self, simulation: Simulation<'a, S>, _: usize) -> Simulation<'a, S> {
        simulation
    }
}

impl<S: FeedbackSystem, K: GainPolicy<S>> EnsembleGains<S> for Gains<K> {
    type Alone = Feedback<S, K>;
    type Block<const V: usize> = Feedback<S, K, Lanes<V>>;
    type Simulated = Feedback<S, K>;
    const IS_CONSTANT: bool = K::IS_CONSTANT;

    fn count(&self) -> Option<usize> {
        None
    }

    fn check(&self, integrals: &[Integral]) -> Result<(), Error> {
        self.0.check(integrals)
    }

    fn alone(&self, system: &S, start: &Vector<S>, _: usize) -> Result<Feedback<S, K>, Error> {
        Feedback::new(system, start, *self)
    }

    fn block<'a, const V: usize>(lane: &dyn Fn(usize) -> &'a Feedback<S, K>) -> Feedback<S, K, Lanes<V>>
    where
        Self: 'a,
    {
        Feedback::gather(lane)
    }

    fn simulation<'a>(&self, simulation: Simulation<'a, S>, _: usize) -> Simulation<'a, S, Feedback<S, K>> {
        simulation.gains(*self)
    }
}

impl<S: FeedbackSystem, K: GainPolicy<S>> EnsembleGains<S> for Vec<Gains<K>> {
    type Alone = Feedback<S, K>;
    type Block<const V: usize> = Feedback<S, K, Lanes<V>>;
    type Simulated = Feedback<S, K>;
    const IS_CONSTANT: bool = K::IS_CONSTANT;

    fn count(&self) -> Option<usize> {
        Some(self.len())
    }

    fn check(&self, _: &[Integral]) -> Result<(), Error> {
        Ok(())
    }

    fn alone(&self, system: &S, start: &Vector<S>, member: usize) -> Result<Feedback<S, K>, Error> {
        Feedback::new(system, start, self[member])
    }

    fn block<'a, const V: usize>(lane: &dyn Fn(usize) -> &'a Feedback<S, K>) -> Feedback<S, K, Lanes<V>>
    where
        Self: 'a,
    {
        Feedback::gather(lane)
    }

    fn simulation<'a>(&self, simulation: Simulation<'a, S>, member: usize) -> Simulation<'a, S, Feedback<S, K>> {
        simulation.gains(self[member])
    }
}

impl<S: FeedbackSystem, G: EnsembleGains<S>> EnsembleGains<S> for Boxed<G> {
    type Alone = G::Alone;
    type Block<const V: usize> = G::Block<V>;
    type Simulated = Box<dyn Field<Vector = Vector<S>>>;
    const IS_CONSTANT: bool = G::IS_CONSTANT;

    fn count(&self) -> Option<usize> {
        self.0.count()
    }

    fn check(&self, integrals: &[Integral]) -> Result<(), Error> {
        self.0.check(integrals)
    }

    fn alone(&self, system: &S, start: &Vector<S>, member: usize) -> Result<G::Alone, Error> {
        self.0.alone(system, start, member)
    }

    fn block<'a, const V: usize>(lane: &dyn Fn(usize) -> &'a G::Alone) -> G::Block<V>
    where
        G: 'a,
    {
        G::block(lane)
    }

    fn simulation<'a>(&self, simulation: Simulation<'a, S>, member: usize) -> Simulation<'a, S, Self::Simulated> {
        self.0.simulation(simulation, member).boxed()
    }
}

/// Gains of any kind.
pub(super) trait InLanes<S: FeedbackSystem, const V: usize> {
    /// The fields of members in lanes that no member has taken yet.
    fn fields(&self) -> Box<dyn LaneFields<S, V> + '_>;
    /// Returns `true` if gains do not follow from the state.
    fn are_constant(&self) -> bool;
}

impl<S: FeedbackSystem, G: EnsembleGains<S>, const V: usize> InLanes<S, V> for G {
    fn fields(&self) -> Box<dyn LaneFields<S, V> + '_> {
        let alone = Vec::with_capacity(Lanes::<V>::COUNT);
        Box::new(Fields { gains: self, alone, block: None })
    }

    fn are_constant(&self) -> bool {
        G::IS_CONSTANT
    }
}

/// The fields of the members that have a lane, without the kind of their gains: what is written on them is compiled once for all kinds.
pub(super) trait LaneFields<S: FeedbackSystem, const V: usize> {
    /// Makes the field of a member that takes a lane, or says why its gains will not do. Lanes are taken in order at first.
    fn assign(&mut self, lane: usize, system: &S, start: &Vector<S>, member: usize)
    -> Result<AloneField<'_, S>, Error>;
    /// Puts the fields side by side. Lanes that no member has taken yet repeat the first.
    fn gather(&mut self);
    /// Evaluates the fields that were put side by side.
    fn value(&self, x: &Vector<S, Lanes<V>>, value: &mut Vector<S, Lanes<V>>);
    /// Adds up the Jacobians of the fields that were put side by side; false if they are not known.
    fn jacobian(&self, x: &Vector<S, Lanes<V>>, add: &mut dyn FnMut(usize, usize, Lanes<V>)) -> bool;
    /// [`Field::decay_rate`] of them.
    fn decay_rate(&self, x: &Vector<S, Lanes<V>>) -> Lanes<V>;
    /// [`Field::coordinates`] of them.
    fn coordinates(&self) -> usize;
    /// Makes steps of one size along them, by a method with a fixed step.
    fn make_steps(
        &self,
        method: FixedStep,
        projector: Option<&mut Projector<S, Lanes<V>>>,
        steps: &mut AlikeSteps<'_, S, V>,
        x: &mut Vector<S, Lanes<V>>,
    );
}

/// The field of one member.
pub(super) type AloneField<'a, S> = &'a mut dyn Field<Vector = Vector<S>>;

/// The fields of members with one kind of gains.
struct Fields<'a, S: FeedbackSystem, G: EnsembleGains<S>, const V: usize> {
    gains: &'a G,
    /// The gains of the members that have a lane, or had it last.
    alone: Vec<G::Alone>,
    /// Side by side.
    block: Option<G::Block<V>>,
}

impl<S: FeedbackSystem, G: EnsembleGains<S>, const V: usize> LaneFields<S, V> for Fields<'_, S, G, V> {
    fn assign(
        &mut self,
        lane: usize,
        system: &S,
        start: &Vector<S>,
        member: usize,
    ) -> Result<AloneField<'_, S>, Error> {
        let field = self.gains.alone(system, start, member)?;
        if lane == self.alone.len() {
            self.alone.push(field);
        } else {
            self.alone[lane] = field;
        }
        Ok(&mut self.alone[lane])
    }

    fn gather(&mut self) {
        let alone = &self.alone;
        self.block = Some(G::block::<V>(&|lane| alone.get(lane).unwrap_or(&alone[0])));
    }

    fn value(&self, x: &Vector<S, Lanes<V>>, value: &mut Vector<S, Lanes<V>>) {
        if let Some(block) = &self.block {
            *value = block.value(x);
        }
    }

    fn jacobian(&self, x: &Vector<S, Lanes<V>>, add: &mut dyn FnMut(usize, usize, Lanes<V>)) -> bool {
        self.block.as_ref().is_some_and(|block| block.jacobian(x, add))
    }

    fn decay_rate(&self, x: &Vector<S, Lanes<V>>) -> Lanes<V> {
        self.block.as_ref().map_or(Scalar::from_f64(0.0), |block| block.decay_rate(x))
    }

    fn coordinates(&self) -> usize {
        self.block.as_ref().map_or(0, Field::coordinates)
    }

    fn make_steps(
        &self,
        method: FixedStep,
        projector: Option<&mut Projector<S, Lanes<V>>>,
        steps: &mut AlikeSteps<'_, S, V>,
        x: &mut Vector<S, Lanes<V>>,
    ) {
        let Some(field) = &self.block else { return };
        // What is not called is not even made: all gains that follow from the state share one compilation of the methods, and so do all
        // gains of a system of which nothing is known before it runs, as its functions are behind a pointer anyway.
        if const { G::IS_CONSTANT && S::KNOWN_FACTS.is_some() } {
            steps.make(method, projector, field, x);
        } else {
            let field: &dyn Field<Lanes<V>, Vector = Vector<S, Lanes<V>>> = field;
            steps.make(method, projector, field, x);
        }
    }
}
