//! Steps of Taylor's method.
//!
//! A step of size h ends at x_0 + x_1 h + .. + x_P h^P; [`StepRule`] chooses it.
//!
//! Where the argument of a switch of the field vanishes, such as that of |x|, a step ends, a little beyond; the next one is on its other
//! side. The argument's own series says where that is.
//!
//! The sum of a step is carried: what rounding takes from the state is kept, and added with the next step. Every step ends at a double, and is
//! as long as the difference of two of them.

use super::polynomial::first_change;
use super::stepper::{Control, Memory, StepEnds, Stepper};
use crate::error::Error;
use crate::error::failure::StepFailure;
use crate::error::memory::Storage;
use crate::field::{Driver, Field};
use crate::hold::projection::{Landed, Lander};
use crate::numbers::entries::Entries;
use crate::numbers::four::FourLanes;
use crate::numbers::linear::{filled, from_slice, not_finite};
use crate::numbers::scalar::Scalar;
use crate::stages::dense_output::DenseOutput;
use crate::stages::series_step::{StepRule, carried, change, is_too_short};
use crate::stages::step_size::StepLimits;
use crate::system::taylor::Series;
use crate::system::{FeedbackSystem, SystemFacts, Vector};

/// Taylor's method along a field.
pub(crate) struct TaylorSteps<'f, 'k, S: FeedbackSystem> {
    series: Series<'f>,
    driver: Option<&'f dyn Driver>,
    /// When a step has to end at the latest, because inputs jump.
    jump: f64,
    rule: StepRule<Vector<S>>,
    max_steps: u64,
    /// The coefficients of the last step, which began at a time.
    coefficients: Vec<Vector<S>>,
    from: f64,
    memory: Vec<FourLanes>,
    /// The side of zero on which the argument of each switch is.
    sides: Vec<f64>,
    time: f64,
    state: Vector<S>,
    /// The part of the state that rounding has taken.
    carry: Vector<S>,
    steps: u64,
    ends: StepEnds<'k, Lander<S>>,
}

impl<'f, 'k, S: FeedbackSystem> TaylorSteps<'f, 'k, S> {
    /// # Errors
    ///
    /// If the tolerance is not positive or not finite, or if the field has no series.
    pub(crate) fn new<F: Field<Vector = Vector<S>>>(
        field: &'f F,
        start: Vector<S>,
        tolerance: f64,
        scales: Option<Vector<S>>,
        (time, limits, max_steps): (f64, StepLimits, u64),
        ends: StepEnds<'k, Lander<S>>,
    ) -> Result<Self, Error> {
        let mut rule = StepRule::new(ends.facts, tolerance, scales, limits)?;
        rule.remember(&start);
        let series = field.series().map_err(|reason| without_series(ends.facts, reason))?;
        let order = rule.order;
        Ok(Self {
            // What is watched has the coefficient of the last order, too.
            memory: vec![FourLanes::ZERO; series.columns * (order + usize::from(series.watched > 0))],
            sides: vec![1.0; series.switches],
            series,
            driver: field.driver(),
            jump: f64::INFINITY,
            rule,
            max_steps,
            coefficients: vec![filled(0.0); order + 1],
            from: time,
            time,
            state: start,
            carry: filled(0.0),
            steps: 0,
            ends,
        })
    }

    /// Computes the coefficients at the state, on the sides on which it is. A side may depend on others.
    fn expand(&mut self) {
        self.coefficients[0] = self.state;
        if self.sides.is_empty() {
            return (self.series.expand)(&[], Entries::flat_mut(&mut self.coefficients), &mut self.memory);
        }
        for _ in 0..=self.sides.len() {
            (self.series.expand)(&self.sides, Entries::flat_mut(&mut self.coefficients), &mut self.memory);
            let side = |switch: usize| {
                let first = self.series.watched_in(switch, &self.memory).find(|coefficient| *coefficient != 0.0);
                if first.is_some_and(|first| first < 0.0) { -1.0 } else { 1.0 }
            };
            let sides: Vec<f64> = (0..self.sides.len()).map(side).collect();
            if sides == self.sides {
                break;
            }
            self.sides = sides;
        }
    }

    /// A function that is watched as a polynomial of the part of a step of this size.
    fn watched(&self, function: usize, size: f64) -> Vec<f64> {
        let mut power = 1.0;
        let coefficients = self.series.watched_in(function, &self.memory).map(|coefficient| {
            let scaled = coefficient * power;
            power *= size;
            scaled
        });
        coefficients.collect()
    }

    /// The part of a step of this size after which the first switch turns, if one does.
    fn turn(&self, size: f64) -> Option<f64> {
        let turns = (0..self.sides.len()).filter_map(|switch| first_change(&self.watched(switch, size)));
        turns.reduce(f64::min)
    }

    /// The state at a time within the last step.
    fn at(&self, time: f64) -> Vector<S> {
        let change = change(self.rule.order, self.ends.facts.state.len(), |n| &self.coefficients[n], time - self.from);
        Entries::from_fn(|i| self.coefficients[0][i] + change[i])
    }

    /// Where the step from here ends, and how long it is.
    fn end_of_step(&mut self, until: f64) -> Result<(f64, f64), StepFailure> {
        let remaining = until - self.time;
        let (mut size, is_last) = self.rule.size(|order| &self.coefficients[order], remaining);
        match self.turn(size) {
            Some(part) => size *= part,
            None if is_last => return Ok((until, remaining)),
            None => {}
        }
        let end = (self.time + size).min(until);
        if is_too_short(size, self.time) { Err(StepFailure::Underflow) } else { Ok((end, end - self.time)) }
    }
}

/// A system that the method cannot integrate.
pub(crate) fn without_series(facts: &SystemFacts, reason: &'static str) -> Error {
    Error::NotApplicable { method: "Taylor's method", system: facts.name, reason }
}

impl<S: FeedbackSystem> Stepper for TaylorSteps<'_, '_, S> {
    fn step(&mut self, until: f64, _h: f64) -> Result<(), StepFailure> {
        if self.steps >= self.max_steps {
            return Err(StepFailure::TooManySteps { limit: self.max_steps });
        }
        if let Some(driver) = self.driver {
            if self.time == self.jump {
                self.ends.begin_anew();
            }
            self.jump = driver.hold(self.time);
        }
        let until = until.min(self.jump);
        self.expand();
        let (end, h) = self.end_of_step(until)?;
        let (begin, clock) = (self.state, self.ends.facts.clock);
        let change = change(self.rule.order, self.ends.facts.state.len(), |n| &self.coefficients[n], h);
        let mut carry = self.carry;
        let mut next = carried(&begin, &change, &mut carry, clock);
        if let Some(entry) = not_finite(&next) {
            return Err(StepFailure::NotFinite { entry });
        }
        if let (Some(Lander { projector, landing }), Some(last)) = (&mut self.ends.lander, self.coefficients.last()) {
            let power = Scalar::powi(h, self.rule.order as i32);
            let error = Entries::from_fn(|i| last[i] * power);
            projector.land(&begin, &error, h, &mut next, landing);
        }
        self.ends.facts.set_clock(&mut next, end);
        (self.from, self.time, self.state, self.carry) = (self.time, end, next, carry);
        self.steps += 1;
        self.rule.remember(&self.state);
        Ok(())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.time, self.ends.facts.of_state::<S, _>(&self.state))
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    /// Of all orders at once.
    fn evaluations(&self) -> u64 {
        self.steps
    }

    fn landed(&self) -> Option<Landed<'_>> {
        self.ends.landed()
    }

    fn tolerance(&self, entry: usize) -> Option<f64> {
        Some(self.rule.tolerance * self.rule.sizes()[entry])
    }

    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure> {
        x.copy_from_slice(self.ends.facts.of_state::<S, _>(&self.at(time)));
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        let (mut state, facts) = (self.at(time), self.ends.facts);
        facts.set_clock(&mut state, time);
        x.copy_from_slice(facts.of_state::<S, _>(&state));
    }

    fn event_series(&self, event: usize) -> Option<Vec<f64>> {
        let function = self.series.switches + event;
        (function < self.series.watched).then(|| self.watched(function, self.time - self.from))
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, _stop: Option<(f64, &[f64])>) -> Result<(), Error> {
        let (from, pieces) = (self.from, DenseOutput::<Vector<S>>::PIECES);
        let length = (self.time - from) / pieces as f64;
        let piece = |number: usize| DenseOutput::of_series(&self.coefficients, from, number as f64 * length, length);
        let Some(kept) = self.ends.kept else { return Ok(()) };
        (0..pieces).try_for_each(|number| Storage::STEPS.push(kept, piece(number)))
    }

    /// A step ends where inputs jump, and the next one knows nothing of it.
    fn begin_anew(&mut self) {
        self.ends.begin_anew();
    }

    fn decay_rate(&self) -> f64 {
        0.0
    }

    fn memory(&self) -> Memory {
        let facts = self.ends.facts;
        let own = |vector| facts.of_state::<S, _>(vector).to_vec();
        let sizes = Some([own(self.rule.sizes()), own(&self.carry)]);
        let control = Some(Control { size: None, last_log_error: 0.0, rejected: 0, sizes });
        Memory { steps: self.steps, evaluations: self.steps, control, ..self.ends.memory() }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        (self.time, self.from, self.state) = (time, time, from_slice(state));
        self.steps = memory.steps;
        if let Some(Control { sizes: Some([sizes, carry]), .. }) = &memory.control {
            self.rule.take_sizes(from_slice(sizes));
            self.carry = from_slice(carry);
        }
        self.ends.resume(memory, None);
    }
}
