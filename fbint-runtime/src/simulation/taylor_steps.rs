//! Steps of Taylor's method.
//!
//! A step of size h ends at x_0 + x_1 h + .. + x_P h^P. The last two coefficients say how far from the start the series converges: rho is
//! the smaller one of (s / |x_P|)^(1/P) and (s / |x_{P-1}|)^(1/(P-1)), where s is the size of a variable. A step of h = tolerance^(1/P) rho
//! has a last term of the tolerance times s. The order P follows from the tolerance so that h is about a sixth of rho, near the 1 / e^2 that
//! takes the least work (Jorba and Zou, Experimental Mathematics 14, 2005, where the factor e^(-0.7 / (P - 1)) for safety comes from). No
//! step is rejected.
//!
//! The sum of a step is carried: what rounding takes from the state is kept, and added with the next step. Every step ends at a double, and is
//! as long as the difference of two of them.

use super::stepper::{Control, Landed, Memory, StepEnds, Stepper};
use crate::error::failure::StepFailure;
use crate::error::{Error, positive};
use crate::field::{Driver, Field};
use crate::numbers::entries::Entries;
use crate::numbers::four::Four;
use crate::numbers::linear::{filled, from_slice, not_finite};
use crate::numbers::scalar::Scalar;
use crate::stages::dense_output::DenseOutput;
use crate::stages::step_size::{REST, StepLimits};
use crate::stages::tolerance::{FADING, largest_of_variables};
use crate::system::taylor::{Series, order_of};
use crate::system::{FeedbackSystem, StateEntry, SystemFacts, Vector};

/// The largest part of rho that a step takes, by its natural logarithm.
const LARGEST_SHARE: f64 = -1.0;

/// Taylor's method along a field.
pub(crate) struct TaylorSteps<'f, 'k, S: FeedbackSystem> {
    series: Series<'f>,
    driver: Option<&'f dyn Driver>,
    /// When a step has to end at the latest, because inputs jump.
    jump: f64,
    tolerance: f64,
    /// The part of rho that a step takes, by its natural logarithm.
    log_share: f64,
    limits: StepLimits,
    max_steps: u64,
    /// The coefficients of the last step, which began at a time.
    coefficients: Vec<Vector<S>>,
    from: f64,
    memory: Vec<Four>,
    time: f64,
    state: Vector<S>,
    /// The part of the state that rounding has taken.
    carry: Vector<S>,
    /// The size of the variable of each entry, in the last steps, unless it is given.
    sizes: Vector<S>,
    are_sizes_given: bool,
    steps: u64,
    ends: StepEnds<'k, S>,
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
        ends: StepEnds<'k, S>,
    ) -> Result<Self, Error> {
        let tolerance = positive("the tolerance", tolerance)?;
        for &scale in scales.iter().flat_map(|scales| &scales.as_ref()[..ends.facts().state.len()]) {
            positive("the scale of an entry", scale)?;
        }
        let series = field.series().map_err(|reason| without_series(ends.facts(), reason))?;
        let order = order_of(tolerance);
        let (of_tolerance, safety) = (Scalar::ln(tolerance) / order as f64, 0.7 / (order - 1) as f64);
        let mut steps = Self {
            memory: vec![Four::ZERO; series.columns * order],
            series,
            driver: field.driver(),
            jump: f64::INFINITY,
            tolerance,
            log_share: of_tolerance.min(LARGEST_SHARE) - safety,
            limits,
            max_steps,
            coefficients: vec![filled(0.0); order + 1],
            from: time,
            time,
            state: start,
            carry: filled(0.0),
            sizes: scales.unwrap_or(filled(0.0)),
            are_sizes_given: scales.is_some(),
            steps: 0,
            ends,
        };
        steps.remember_sizes();
        Ok(steps)
    }

    /// Lets sizes fade, down to the sizes of the state, unless they are given.
    fn remember_sizes(&mut self) {
        if self.are_sizes_given {
            return;
        }
        let sizes = largest::<S>(self.ends.facts().state, &self.state);
        self.sizes = Entries::from_fn(|i| sizes[i].max(FADING * self.sizes[i]));
    }

    fn expand(&mut self) {
        self.coefficients[0] = self.state;
        (self.series.expand)(Entries::flat_mut(&mut self.coefficients), &mut self.memory);
    }

    /// The size that the coefficients suggest for a step of at most `remaining`.
    fn proposed(&mut self, remaining: f64) -> f64 {
        let size = self.converging(remaining);
        // A variable that begins at 0 gets a size from how far the step takes it.
        let has_none = |(size, last): (&f64, &f64)| *size == 0.0 && *last != 0.0;
        let [.., before, last] = &*self.coefficients else { return size };
        let is_new = [before, last].iter().any(|row| self.sizes.as_ref().iter().zip(row.as_ref()).any(has_none));
        if !is_new {
            return size;
        }
        let (known, mut size) = (self.sizes, size);
        // Sizes matter by their roots of high order.
        for _ in 0..4 {
            let moved: Vector<S> = Entries::from_fn(|i| {
                (self.coefficients[1][i] * size).abs().max((self.coefficients[2][i] * size * size).abs())
            });
            let moved = largest::<S>(self.ends.facts().state, &moved);
            self.sizes = Entries::from_fn(|i| known[i].max(moved[i]));
            size = self.converging(remaining);
        }
        size
    }

    /// The share of the radius of convergence of all variables that have a size.
    fn converging(&self, remaining: f64) -> f64 {
        let [.., before, last] = &*self.coefficients else { return remaining };
        let largest = |row: &Vector<S>| {
            let ratios = row.as_ref().iter().zip(self.sizes.as_ref());
            ratios.fold(0.0, |largest: f64, (entry, &size)| {
                let ratio = entry.abs() / size;
                if size > 0.0 && ratio > largest { ratio } else { largest }
            })
        };
        let order = self.order() as f64;
        // Of a polynomial solution these vanish.
        let log_of = |row: &Vector<S>, order: f64| match largest(row) {
            ratio if ratio > 0.0 => Scalar::ln(ratio) / order,
            _ => f64::NEG_INFINITY,
        };
        let log_rate = log_of(last, order).max(log_of(before, order - 1.0));
        if log_rate == f64::NEG_INFINITY { remaining } else { Scalar::exp(self.log_share - log_rate) }
    }

    fn order(&self) -> usize {
        self.coefficients.len() - 1
    }

    /// The change of the state in a step of size h. Even and odd powers are added up side by side.
    fn change(&self, h: f64) -> Vector<S> {
        let square = h * h;
        let (mut even, mut odd): (Vector<S>, Vector<S>) = (filled(0.0), filled(0.0));
        let mut rows = &self.coefficients[1..];
        if rows.len() % 2 == 1
            && let [earlier @ .., last] = rows
        {
            (odd, rows) = (*last, earlier);
        }
        for pair in rows.rchunks_exact(2) {
            for i in 0..Vector::<S>::LEN {
                even[i] = Scalar::mul_add(even[i], square, pair[1][i]);
                odd[i] = Scalar::mul_add(odd[i], square, pair[0][i]);
            }
        }
        Entries::from_fn(|i| Scalar::mul_add(even[i], square, odd[i] * h))
    }

    /// The state at a time within the last step.
    fn at(&self, time: f64) -> Vector<S> {
        let change = self.change(time - self.from);
        Entries::from_fn(|i| self.coefficients[0][i] + change[i])
    }

    /// Where the step from here ends, and how long it is.
    fn end_of_step(&mut self, until: f64) -> Result<(f64, f64), StepFailure> {
        let remaining = until - self.time;
        let mut size = self.proposed(remaining).min(self.limits.most);
        if let Some(at_rest) = self.limits.at_rest.filter(|at_rest| size > *at_rest)
            && self.rests(at_rest)
        {
            size = at_rest;
        }
        if 1.01 * size >= remaining && remaining <= self.limits.most {
            return Ok((until, remaining));
        }
        let end = self.time + size;
        // A solution that is not a number suggests no size at all, and is told by its entries.
        if 0.1 * size <= self.time.abs() * f64::EPSILON || size < f64::MIN_POSITIVE {
            return Err(StepFailure::Underflow);
        }
        Ok((end, end - self.time))
    }

    /// Whether nothing but the time moves in a step of this size.
    fn rests(&self, size: f64) -> bool {
        let (clock, rates) = (self.ends.facts().clock, &self.coefficients[1]);
        let moves = |i: usize| Some(i) != clock && rates[i].abs() * size > REST * self.tolerance * self.sizes[i];
        !(0..Vector::<S>::LEN).any(moves)
    }
}

/// A system that the method cannot integrate.
pub(super) fn without_series(facts: &SystemFacts, reason: &'static str) -> Error {
    Error::NotApplicable { method: "Taylor's method", system: facts.name, reason }
}

/// The largest entry of the variable of each entry.
fn largest<S: FeedbackSystem>(entries: &[StateEntry], x: &Vector<S>) -> Vector<S> {
    largest_of_variables(x, |entry| StateEntry::continues(entries, entry))
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
        let (begin, change) = (self.state, self.change(h));
        let (mut next, mut carry) = (begin, self.carry);
        for i in 0..Vector::<S>::LEN {
            let added = change[i] + self.carry[i];
            next[i] = begin[i] + added;
            carry[i] = added - (next[i] - begin[i]);
        }
        if let Some(entry) = not_finite(&next) {
            return Err(StepFailure::NotFinite { entry });
        }
        if let Some(clock) = self.ends.facts().clock {
            carry[clock] = 0.0;
        }
        let order = self.order();
        let StepEnds { projector, landing, .. } = &mut self.ends;
        if let (Some(projector), Some(last)) = (projector, self.coefficients.last()) {
            let power = h.powi(order as i32);
            let error = Entries::from_fn(|i| last[i] * power);
            projector.land(&begin, &error, h, &mut next, landing);
        }
        self.ends.facts().set_clock(&mut next, end);
        (self.from, self.time, self.state, self.carry) = (self.time, end, next, carry);
        self.steps += 1;
        self.remember_sizes();
        Ok(())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.time, self.ends.facts().of_state::<S, _>(&self.state))
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    /// One series a step counts as one evaluation.
    fn evaluations(&self) -> u64 {
        self.steps
    }

    fn landed(&self) -> Option<Landed<'_>> {
        self.ends.landed()
    }

    fn tolerance(&self, entry: usize) -> Option<f64> {
        Some(self.tolerance * self.sizes[entry])
    }

    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure> {
        x.copy_from_slice(self.ends.facts().of_state::<S, _>(&self.at(time)));
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        let (mut state, facts) = (self.at(time), self.ends.facts());
        facts.set_clock(&mut state, time);
        x.copy_from_slice(facts.of_state::<S, _>(&state));
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, _stop: Option<(f64, &[f64])>) {
        let (from, pieces) = (self.from, DenseOutput::<Vector<S>>::PIECES);
        let length = (self.time - from) / pieces as f64;
        let piece = |number: usize| DenseOutput::of_series(&self.coefficients, from, number as f64 * length, length);
        if let Some(kept) = self.ends.kept {
            kept.extend((0..pieces).map(piece));
        }
    }

    /// A step ends where inputs jump, and the next one knows nothing of it.
    fn begin_anew(&mut self) {
        self.ends.begin_anew();
    }

    fn decay_rate(&self) -> f64 {
        0.0
    }

    fn memory(&self) -> Memory {
        let facts = self.ends.facts();
        let own = |vector| facts.of_state::<S, _>(vector).to_vec();
        let sizes = Some([own(&self.sizes), own(&self.carry)]);
        let control = Some(Control { size: None, last_log_error: 0.0, rejected: 0, sizes });
        Memory { steps: self.steps, evaluations: self.steps, control, ..self.ends.memory() }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        (self.time, self.from, self.state) = (time, time, from_slice(state));
        self.steps = memory.steps;
        if let Some(Control { sizes: Some([sizes, carry]), .. }) = &memory.control {
            (self.sizes, self.carry) = (from_slice(sizes), from_slice(carry));
        }
        self.ends.resume(memory, None);
    }
}
