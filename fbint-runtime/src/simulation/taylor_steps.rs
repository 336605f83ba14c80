//! Steps of Taylor's method.
//!
//! A step of size h ends at x_0 + x_1 h + .. + x_P h^P; [`StepRule`] chooses it.
//!
//! Where the argument of a switch of the field vanishes, such as that of |x|, a step ends, a little beyond; the next one is on its other
//! side. The argument's own series says where that is.
//!
//! A solution may leave its series: where a root vanishes, such as |v| as friction brings a body to rest, its series continues as if it
//! changed its sign, and what is constant in doubles at first, such as tanh(100 v), has no series to speak of. So the field has to have the
//! rates of the polynomial where a step ends, and on the way there; if not, the step ends a little beyond where they part.
//!
//! The sum of a step is carried: what rounding takes from the state is kept, and added with the next step. Every step ends at a double, and is
//! as long as the difference of two of them.

use super::polynomial::first_change;
use super::stepper::{Control, Memory, StepEnds, Stepper};
use crate::error::Error;
use crate::error::failure::StepFailure;
use crate::error::memory::Storage;
use crate::field::Driver;
use crate::hold::projection::{Land, Landed};
use crate::numbers::entries::Numbers;
use crate::numbers::four::FourLanes;
use crate::numbers::linear::not_finite;
use crate::numbers::scalar::Scalar;
use crate::stages::series_step::{SeriesRows, StepRule, carried, is_too_short, slope};
use crate::stages::step_size::StepLimits;
use crate::system::SystemFacts;
use crate::system::taylor::Series;

/// The number of polynomials of degree 7 that take the place of a series in a step that is kept.
const PIECES: usize = 24;
/// The places at which a step is compared with the field, and those of a step whose series has no end in sight.
const PLACES: [u32; 2] = [2, 64];
/// The halvings that lead to the spacing of doubles in a step.
const HALVINGS: u32 = 52;

/// Taylor's method along a field.
pub(crate) struct TaylorSteps<'f, 'k, L: Land> {
    series: Series<'f>,
    rates: Rates<'f, L>,
    driver: Option<&'f dyn Driver>,
    /// When a step has to end at the latest, because inputs jump.
    jump: f64,
    rule: StepRule<L::State>,
    max_steps: u64,
    /// The coefficients of the last step, which began at a time.
    coefficients: SeriesRows,
    from: f64,
    memory: Vec<FourLanes>,
    /// The side of zero on which the argument of each switch is.
    sides: Vec<f64>,
    time: f64,
    state: L::State,
    /// The part of the state that rounding has taken.
    carry: L::State,
    steps: u64,
    ends: StepEnds<'k, L>,
}

/// A field.
type Rates<'f, L> = Box<dyn Fn(&<L as Land>::State) -> <L as Land>::State + 'f>;

impl<'f, 'k, L: Land> TaylorSteps<'f, 'k, L> {
    /// # Errors
    ///
    /// If the tolerance is not positive or not finite.
    pub(crate) fn new(
        (series, rates): (Series<'f>, Rates<'f, L>),
        driver: Option<&'f dyn Driver>,
        start: L::State,
        (tolerance, scales): (f64, Option<L::State>),
        (time, limits, max_steps): (f64, StepLimits, u64),
        ends: StepEnds<'k, L>,
    ) -> Result<Self, Error> {
        let zeros = start.like(|_| 0.0);
        let mut rule = StepRule::new(ends.facts, tolerance, zeros.clone(), scales, limits)?;
        rule.remember(&start);
        let order = rule.order;
        Ok(Self {
            // What is watched has the coefficient of the last order, too.
            memory: vec![FourLanes::ZERO; series.columns * (order + usize::from(series.watched > 0))],
            sides: vec![1.0; series.switches],
            coefficients: SeriesRows::zeros(order, series.stride),
            series,
            rates,
            driver,
            jump: f64::INFINITY,
            rule,
            max_steps,
            from: time,
            time,
            state: start,
            carry: zeros,
            steps: 0,
            ends,
        })
    }

    /// Computes the coefficients at the state, on the sides on which it is. A side may depend on others.
    fn expand(&mut self) {
        for _ in 0..=self.sides.len() {
            let coefficients = self.coefficients.from(self.state.as_ref());
            (self.series.expand)(&self.sides, coefficients, &mut self.memory);
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
    fn at(&self, time: f64) -> L::State {
        let change = L::change(self.ends.facts, &self.coefficients, time - self.from);
        let (begin, change) = (self.coefficients.row(0), change.as_ref());
        self.state.like(|i| begin[i] + change[i])
    }

    /// The part of a step in which the field has the rates of the series, and a little more if that is not all of it.
    fn with_the_field(&self, size: f64) -> f64 {
        let (last, [usual, many]) = (self.coefficients.row(self.rule.order), PLACES);
        let places = if last.iter().all(|coefficient| *coefficient == 0.0) { many } else { usual };
        let ends = (1..=places).map(|place| size * f64::from(place) / f64::from(places));
        let Some(mut apart) = ends.into_iter().find(|end| !self.keeps_to_the_field(*end, size)) else { return size };
        let mut together = 0.0;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (together + apart);
            if self.keeps_to_the_field(middle, size) { together = middle } else { apart = middle }
        }
        apart
    }

    /// Returns `true` if the rates at a part of a step of this size are those of its polynomial.
    fn keeps_to_the_field(&self, part: f64, size: f64) -> bool {
        let facts = self.ends.facts;
        let (begin, change) = (self.coefficients.row(0), L::change(facts, &self.coefficients, part));
        let mut end = self.state.like(|i| begin[i] + change.as_ref()[i]);
        L::set_clock(facts, &mut end, self.time + part);
        let slopes = end.like(|i| slope(self.rule.order, |n| self.coefficients.row(n)[i], part));
        self.rule.keeps_to_the_field([&end, &(self.rates)(&end), &slopes], size)
    }

    /// Where the step from here ends, and how long it is.
    fn end_of_step(&mut self, until: f64) -> Result<(f64, f64), StepFailure> {
        let remaining = until - self.time;
        let entries = self.state.as_ref().len();
        let (mut size, is_last) = self.rule.size(|order| &self.coefficients.row(order)[..entries], remaining);
        let natural = size;
        size *= self.turn(size).unwrap_or(1.0);
        if !self.series.is_polynomial {
            size = self.with_the_field(size);
        }
        if is_last && size == natural {
            return Ok((until, remaining));
        }
        let end = (self.time + size).min(until);
        if is_too_short(size, self.time) { Err(StepFailure::Underflow) } else { Ok((end, end - self.time)) }
    }
}

/// A system that the method cannot integrate.
pub(crate) fn without_series(facts: &SystemFacts, reason: &'static str) -> Error {
    Error::NotApplicable { method: "Taylor's method", system: facts.name, reason }
}

impl<L: Land> Stepper for TaylorSteps<'_, '_, L> {
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
        let change = L::change(self.ends.facts, &self.coefficients, h);
        let mut carry = self.carry.clone();
        let mut next = carried(&self.state, &change, &mut carry, self.ends.facts.clock);
        if let Some(entry) = not_finite(&next) {
            return Err(StepFailure::NotFinite { entry });
        }
        if let Some(lander) = &mut self.ends.lander {
            let (last, power) = (self.coefficients.row(self.rule.order), Scalar::powi(h, self.rule.order as i32));
            lander.land(&self.state, &self.state.like(|i| last[i] * power), h, &mut next);
        }
        L::set_clock(self.ends.facts, &mut next, end);
        (self.from, self.time, self.state, self.carry) = (self.time, end, next, carry);
        self.steps += 1;
        self.rule.remember(&self.state);
        Ok(())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.time, self.ends.entries(&self.state))
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
        Some(self.rule.tolerance * self.rule.sizes().as_ref()[entry])
    }

    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure> {
        x.copy_from_slice(self.ends.entries(&self.at(time)));
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        let mut state = self.at(time);
        L::set_clock(self.ends.facts, &mut state, time);
        x.copy_from_slice(self.ends.entries(&state));
    }

    fn event_series(&self, event: usize) -> Option<Vec<f64>> {
        let function = self.series.switches + event;
        (function < self.series.watched).then(|| self.watched(function, self.time - self.from))
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, _stop: Option<(f64, &[f64])>) -> Result<(), Error> {
        let (from, facts) = (self.from, self.ends.facts);
        let length = (self.time - from) / PIECES as f64;
        let piece = |number: usize| L::of_series(facts, &self.coefficients, from, number as f64 * length, length);
        let Some(kept) = self.ends.kept else { return Ok(()) };
        (0..PIECES).try_for_each(|number| Storage::STEPS.push(kept, piece(number)))
    }

    /// A step ends where inputs jump, and the next one knows nothing of it.
    fn begin_anew(&mut self) {
        self.ends.begin_anew();
    }

    fn decay_rate(&self) -> f64 {
        0.0
    }

    fn memory(&self) -> Memory {
        let own = |state| self.ends.entries(state).to_vec();
        let sizes = Some([own(self.rule.sizes()), own(&self.carry)]);
        let control = Some(Control { size: None, last_log_error: 0.0, rejected: 0, sizes });
        Memory { steps: self.steps, evaluations: self.steps, control, ..self.ends.memory() }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        (self.time, self.from, self.state) = (time, time, L::state(state));
        self.steps = memory.steps;
        if let Some(Control { sizes: Some([sizes, carry]), .. }) = &memory.control {
            self.rule.take_sizes(L::state(sizes));
            self.carry = L::state(carry);
        }
        self.ends.resume(memory, None);
    }
}
