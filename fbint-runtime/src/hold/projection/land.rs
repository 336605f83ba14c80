//! A projector with the end of its last step: of states in vectors of a fixed length, or in lists.

use super::{Landing, Omission, Projector};
use crate::numbers::entries::Numbers;
use crate::numbers::linear::{filled, from_slice};
use crate::stages::dense_output::DenseOutput;
use crate::system::{FeedbackSystem, SystemFacts, Vector};

/// A projector that knows the end of the last step; its states and their polynomials.
pub(crate) trait Land {
    /// A state.
    type State: Numbers;
    /// A step as a polynomial in time.
    type Polynomial: Clone;

    /// The state with these entries.
    fn state(entries: &[f64]) -> Self::State;
    /// The entries of a state.
    fn entries<'x>(facts: &'static SystemFacts, x: &'x Self::State) -> &'x [f64];
    /// Sets the time in a state that has it.
    fn set_clock(facts: &'static SystemFacts, x: &mut Self::State, time: f64);
    /// The cubic polynomial with these states and rates at both ends of a step.
    fn cubic(time: f64, h: f64, ends: [&Self::State; 2], rates: [&Self::State; 2]) -> Self::Polynomial;
    /// The state on a polynomial at a time.
    fn at(polynomial: &Self::Polynomial, time: f64) -> Self::State;

    /// The polynomial with these entries.
    fn of_entries(entries: Vec<DenseOutput<[f64; 1]>>) -> Self::Polynomial;

    /// Projects the end of a step with this error.
    fn land(&mut self, begin: &Self::State, error: &Self::State, h: f64, x: &mut Self::State);
    /// Projects the end of a step whose error no estimate knows: every entry counts alike.
    fn land_alike(&mut self, begin: &Self::State, h: f64, x: &mut Self::State) {
        self.land(begin, &begin.like(|_| 1.0), h, x);
    }
    /// Projects a state within the last step, if that is in proportion and brings the integrals closer, and remembers nothing of that.
    fn project_within(&self, x: &mut Self::State);
    /// Forgets the steps so far, where the field jumps.
    fn begin_anew(&mut self);
    /// The end of the last step.
    fn landed(&self) -> Landed<'_>;
    /// All that the projections after the next steps depend on.
    fn memory(&self) -> LandingMemory;
    /// Continues with this mean of squares, this derivative, and these targets with R.
    fn resume(&mut self, mean: Option<&[f64]>, derivative: Option<&[f64]>, held: Option<&[Vec<f64>; 2]>);
    /// Returns `true` if the next step begins with a derivative that is known.
    fn knows_derivative(&self) -> bool;
}

/// Where a step ended, and how that end was projected: see [`Landing`].
#[derive(Clone, Copy)]
pub(crate) struct Landed<'s> {
    pub(crate) end: &'s [f64],
    pub(crate) variances: &'s [f64],
    pub(crate) violation: &'s [f64],
    pub(crate) correction: &'s [f64],
    pub(crate) left_out: Option<Omission>,
    /// Where the integrals are held from there.
    pub(crate) targets: &'s [f64],
    /// F - F_target after the projection.
    pub(crate) left: &'s [f64],
}

/// All that the projections after the next steps depend on.
pub(crate) struct LandingMemory {
    /// The mean of the squares of the steps' errors.
    pub(crate) mean: Vec<f64>,
    /// f where the last step ended, before its end was projected.
    pub(crate) derivative: Option<Vec<f64>>,
    /// Where the integrals are held, and R.
    pub(crate) held: [Vec<f64>; 2],
}

/// A projector of states in the vectors of a system.
pub(crate) struct Lander<S: FeedbackSystem> {
    pub(crate) projector: Projector<S>,
    pub(crate) landing: Landing<S>,
}

impl<S: FeedbackSystem> Lander<S> {
    pub(crate) fn new(projector: Projector<S>) -> Self {
        Self { projector, landing: Landing::nothing() }
    }
}

impl<S: FeedbackSystem> Land for Lander<S> {
    type State = Vector<S>;
    type Polynomial = DenseOutput<Vector<S>>;

    fn state(entries: &[f64]) -> Vector<S> {
        from_slice(entries)
    }

    #[inline(always)]
    fn entries<'x>(facts: &'static SystemFacts, x: &'x Vector<S>) -> &'x [f64] {
        facts.known::<S>().of_state::<S, _>(x)
    }

    #[inline(always)]
    fn set_clock(facts: &'static SystemFacts, x: &mut Vector<S>, time: f64) {
        facts.known::<S>().set_clock(x, time);
    }

    fn cubic(time: f64, h: f64, [start, end]: [&Vector<S>; 2], rates: [&Vector<S>; 2]) -> Self::Polynomial {
        DenseOutput::cubic(time, h, [*start, *end], &rates.map(|rates| *rates))
    }

    fn at(polynomial: &Self::Polynomial, time: f64) -> Vector<S> {
        polynomial.at(time)
    }

    fn of_entries(entries: Vec<DenseOutput<[f64; 1]>>) -> Self::Polynomial {
        DenseOutput::of_entries(&entries)
    }

    fn land(&mut self, begin: &Vector<S>, error: &Vector<S>, h: f64, x: &mut Vector<S>) {
        self.projector.land(begin, error, h, x, &mut self.landing);
    }

    fn project_within(&self, x: &mut Vector<S>) {
        self.projector.project_within(x);
    }

    fn begin_anew(&mut self) {
        self.projector.begin_anew();
    }

    fn landed(&self) -> Landed<'_> {
        let ([targets, _], facts) = (self.projector.onto(), self.projector.facts());
        let Landing { end, variances, projected, left } = &self.landing;
        Landed {
            end: facts.of_state::<S, _>(end),
            variances: facts.of_state::<S, _>(variances),
            violation: facts.of_integrals::<S, _>(&projected.violation),
            correction: facts.of_state::<S, _>(&projected.correction),
            left_out: projected.left_out,
            targets: facts.of_integrals::<S, _>(targets),
            left: facts.of_integrals::<S, _>(left),
        }
    }

    fn memory(&self) -> LandingMemory {
        let ((mean, derivative), facts) = (self.projector.memory(), self.projector.facts());
        let own = |vector| facts.of_state::<S, _>(vector).to_vec();
        LandingMemory {
            mean: own(mean),
            derivative: derivative.map(own),
            held: self.projector.onto().map(|of| facts.of_integrals::<S, _>(of).to_vec()),
        }
    }

    fn resume(&mut self, mean: Option<&[f64]>, derivative: Option<&[f64]>, held: Option<&[Vec<f64>; 2]>) {
        self.projector.remember(mean.map_or(filled(0.0), from_slice), derivative.map(from_slice));
        if let Some([targets, noise]) = held {
            self.projector.hold([from_slice(targets), from_slice(noise)]);
        }
    }

    #[inline(always)]
    fn knows_derivative(&self) -> bool {
        self.projector.memory().1.is_some()
    }
}
