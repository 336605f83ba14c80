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

use std::mem;

use super::polynomial::first_change;
use super::stepper::{Control, Ends, Memory, Stepper};
use crate::error::Error;
use crate::error::failure::StepFailure;
use crate::field::Driver;
use crate::hold::projection::Landed;
use crate::numbers::four::FourLanes;
use crate::numbers::linear::not_finite;
use crate::stages::dense_output::DenseOutput;
use crate::stages::series_step::{SeriesRows, StepRule, carry_on, is_too_short, slope};
use crate::stages::step_size::StepLimits;
use crate::system::SystemFacts;
use crate::system::taylor::Series;

/// The number of polynomials of degree 7 that take the place of a series in a step that is kept.
const PIECES: usize = 24;
/// The halvings that lead to the spacing of doubles in a step.
const HALVINGS: u32 = 52;

/// Taylor's method along a field. It knows states as slices, so that it is compiled once with this crate.
pub(crate) struct TaylorSteps<'f, 'k> {
    facts: &'static SystemFacts,
    series: Series<'f>,
    rates: Box<Rates<'f>>,
    driver: Option<&'f dyn Driver>,
    /// When a step has to end at the latest, because inputs jump.
    jump: f64,
    rule: StepRule<Vec<f64>>,
    max_steps: u64,
    /// The coefficients of the last step, which began at a time.
    coefficients: SeriesRows,
    from: f64,
    memory: Vec<FourLanes>,
    /// The side of zero on which the argument of each switch is.
    sides: Vec<f64>,
    time: f64,
    state: Vec<f64>,
    /// The part of the state that rounding has taken.
    carry: Vec<f64>,
    /// The state of the next step.
    next: Vec<f64>,
    /// Memory for a state on the way there, the rates and the slopes.
    probe: [Vec<f64>; 3],
    steps: u64,
    ends: Box<dyn Ends + 'k>,
}

/// Puts the rates of a field in a state into a list.
pub(super) type Rates<'f> = dyn Fn(&[f64], &mut [f64]) + 'f;

/// The facts about a system, the series of its field, and what drives that.
pub(super) type OfField<'f> = (&'static SystemFacts, Series<'f>, Option<&'f dyn Driver>);

impl<'f, 'k> TaylorSteps<'f, 'k> {
    /// # Errors
    ///
    /// If the tolerance is not positive or not finite.
    pub(crate) fn new(
        ((facts, series, driver), rates): (OfField<'f>, Box<Rates<'f>>),
        start: &[f64],
        (tolerance, scales): (f64, Option<&[f64]>),
        (time, limits, max_steps): (f64, StepLimits, u64),
        ends: Box<dyn Ends + 'k>,
    ) -> Result<Self, Error> {
        let zeros = vec![0.0; start.len()];
        let mut rule = StepRule::new(facts, tolerance, zeros.clone(), scales, limits)?;
        rule.remember(start);
        let (order, shape) = (rule.order, series.shape);
        Ok(Self {
            facts,
            // What is watched has the coefficient of the last order, too.
            memory: vec![FourLanes::ZERO; shape.columns * (order + usize::from(shape.watched > 0))],
            sides: vec![1.0; shape.switches],
            coefficients: SeriesRows::zeros(order, series.stride),
            series,
            rates,
            driver,
            jump: f64::INFINITY,
            rule,
            max_steps,
            from: time,
            time,
            state: start.to_vec(),
            next: zeros.clone(),
            probe: [(); 3].map(|()| zeros.clone()),
            carry: zeros,
            steps: 0,
            ends,
        })
    }

    /// Computes the coefficients at the state, on the sides on which it is. A side may depend on others.
    fn expand(&mut self) {
        for _ in 0..=self.sides.len() {
            let coefficients = self.coefficients.from(&self.state);
            (self.series.expand)(&self.sides, coefficients, &mut self.memory);
            if self.sides.is_empty() {
                return;
            }
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

    /// Puts the state at a time within the last step into `x`.
    fn put_at(&self, time: f64, x: &mut [f64]) {
        self.put_after(time - self.from, x);
    }

    /// Puts the state after a part of the step with these coefficients into `x`.
    fn put_after(&self, part: f64, x: &mut [f64]) {
        self.coefficients.change(part, x);
        x.iter_mut().zip(self.coefficients.row(0)).for_each(|(change, begin)| *change += begin);
    }

    fn set_clock(&self, x: &mut [f64], time: f64) {
        self.facts.clock.into_iter().for_each(|clock| x[clock] = time);
    }

    /// The part of a step in which the field has the rates of the series, and a little more if that is not all of it.
    fn with_the_field(&mut self, size: f64) -> f64 {
        let places = self.rule.places(self.coefficients.row(self.rule.order), size);
        let mut ends = (1..=places).map(|place| size * f64::from(place) / f64::from(places));
        let Some(mut apart) = ends.find(|end| !self.keeps_to_the_field(*end, size)) else { return size };
        let mut together = 0.0;
        for _ in 0..HALVINGS {
            let middle = 0.5 * (together + apart);
            if self.keeps_to_the_field(middle, size) { together = middle } else { apart = middle }
        }
        apart
    }

    /// Returns `true` if the field has the slopes of the polynomial after a part of a step of this size.
    fn keeps_to_the_field(&mut self, part: f64, size: f64) -> bool {
        let [mut end, mut rates, mut slopes] = mem::take(&mut self.probe);
        self.put_after(part, &mut end);
        self.set_clock(&mut end, self.time + part);
        (self.rates)(&end, &mut rates);
        let slope = |i: usize| slope(self.rule.order, |n| self.coefficients.row(n)[i], part);
        slopes.iter_mut().enumerate().for_each(|(i, own)| *own = slope(i));
        let keeps = self.rule.keeps_to_the_field([&end, &rates, &slopes], size);
        self.probe = [end, rates, slopes];
        keeps
    }

    /// Where the step from here ends, and how long it is.
    fn end_of_step(&mut self, until: f64) -> Result<(f64, f64), StepFailure> {
        let remaining = until - self.time;
        let (mut size, is_last) = self.rule.size(|order| self.coefficients.row(order), remaining);
        let natural = size;
        size *= self.turn(size).unwrap_or(1.0);
        if !self.series.shape.is_polynomial {
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

impl Stepper for TaylorSteps<'_, '_> {
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
        let next = &mut self.next;
        self.coefficients.change(h, next);
        carry_on(&self.state, next, &mut self.carry, self.facts.clock);
        if let Some(entry) = not_finite(next) {
            return Err(StepFailure::NotFinite { entry });
        }
        self.ends.land(&self.state, &self.coefficients, h, next);
        if let Some(clock) = self.facts.clock {
            next[clock] = end;
        }
        mem::swap(&mut self.state, next);
        (self.from, self.time) = (self.time, end);
        self.steps += 1;
        self.rule.remember(&self.state);
        Ok(())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.time, &self.state)
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
        self.put_at(time, x);
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        self.put_at(time, x);
        self.set_clock(x, time);
    }

    fn event_series(&self, event: usize) -> Option<Vec<f64>> {
        let function = self.series.shape.switches + event;
        (function < self.series.shape.watched).then(|| self.watched(function, self.time - self.from))
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, _stop: Option<(f64, &[f64])>) -> Result<(), Error> {
        if !self.ends.keeps_steps() {
            return Ok(());
        }
        let (rows, from) = (&self.coefficients, self.from);
        let (length, orders) = ((self.time - from) / PIECES as f64, 0..=rows.order());
        let mut pieces = (0..PIECES).map(|number| number as f64 * length).map(|after| {
            let of_entry = |i: usize| orders.clone().map(move |n| rows.row(n)[i]);
            (0..self.state.len()).map(|i| DenseOutput::of_series(of_entry(i), from, after, length)).collect()
        });
        self.ends.keep(&mut pieces)
    }

    /// A step ends where inputs jump, and the next one knows nothing of it.
    fn begin_anew(&mut self) {
        self.ends.begin_anew();
    }

    fn decay_rate(&self) -> f64 {
        0.0
    }

    fn memory(&self) -> Memory {
        let sizes = Some([self.rule.sizes().to_vec(), self.carry.clone()]);
        let control = Some(Control { size: None, last_log_error: 0.0, rejected: 0, sizes });
        Memory { steps: self.steps, evaluations: self.steps, control, ..self.ends.memory() }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        (self.time, self.from) = (time, time);
        self.state.copy_from_slice(state);
        self.steps = memory.steps;
        if let Some(Control { sizes: Some([sizes, carry]), .. }) = &memory.control {
            self.rule.take_sizes(sizes);
            self.carry.copy_from_slice(carry);
        }
        self.ends.resume(memory, None);
    }
}
