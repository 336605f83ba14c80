//! Steps of Taylor's method side by side: members in lanes, each with its own step.
//!
//! Coefficients are computed in lanes. The size of a step takes a few operations more, and is each member's own. What a member computes are
//! the bits of its simulation, because generated code adds up the same products in the same order.

use std::vec::Vec;

use super::gains::{AloneField, LaneFields};
use super::lane_loop::{LaneStepper, LaneSteps};
use super::members::{Numbers, in_lane, is_finite};
use super::projected::LaneProjection;
use crate::error::Error;
use crate::hold::projection::Projection;
use crate::numbers::entries::Entries;
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::simulation::{GivenLimits, Span, without_series};
use crate::stages::series_step::{self, StepRule, carry_on, is_too_short, slope};
use crate::stages::step_size::StepLimits;
use crate::system::{FeedbackSystem, PreparedSystem, SystemFacts, Vector};

/// Steps of members by Taylor's method, and how far every lane is.
pub(super) struct SeriesLaneSteps<S: FeedbackSystem, const V: usize> {
    facts: &'static SystemFacts,
    tolerance: f64,
    span: Span,
    limits: StepLimits,
    max_steps: u64,
    projection: LaneProjection<S, V>,
    /// The rule and the number of steps of each lane.
    rules: Vec<(StepRule<Vector<S>>, u64)>,
    /// The coefficients of the last step, of the order 0 first.
    coefficients: Vec<Vector<S, Lanes<V>>>,
    memory: Vec<Lanes<V>>,
    is_polynomial: bool,
    time: Lanes<V>,
    state: Vector<S, Lanes<V>>,
    carry: Vector<S, Lanes<V>>,
    end_time: Lanes<V>,
    end: Vector<S, Lanes<V>>,
    end_carry: Vector<S, Lanes<V>>,
}

impl<S: FeedbackSystem, const V: usize> SeriesLaneSteps<S, V> {
    pub(super) fn new(
        facts: &'static SystemFacts,
        tolerance: f64,
        projection: Option<Projection>,
        span: Span,
        (limits, given): (StepLimits, GivenLimits),
    ) -> Self {
        let zero: Lanes<V> = Scalar::from_f64(0.0);
        Self {
            facts,
            tolerance,
            span,
            limits,
            max_steps: given.max_steps(),
            projection: LaneProjection::new(projection),
            rules: Vec::new(),
            coefficients: Vec::new(),
            memory: Vec::new(),
            is_polynomial: true,
            time: zero,
            state: filled(zero),
            carry: filled(zero),
            end_time: zero,
            end: filled(zero),
            end_carry: filled(zero),
        }
    }

    /// The change of the states in steps of these sizes.
    fn change(&self, h: Lanes<V>) -> Vector<S, Lanes<V>> {
        let mut change: Vector<S, Lanes<V>> = filled(Scalar::from_f64(0.0));
        series_step::change(Entries::flat(&self.coefficients), Vector::<S>::LEN, h, change.as_mut());
        change
    }

    /// Chooses the sizes of the next steps; returns the lanes in which they are the last, and those in which no step is possible.
    fn choose(&mut self, under_way: Mask<V>) -> (Mask<V>, Mask<V>) {
        let (mut last, mut stuck) = (Mask::none(), Mask::none());
        for lane in under_way.lanes() {
            let (rule, steps) = &mut self.rules[lane];
            let time = self.time.lane(lane);
            let row = |order: usize| -> Vector<S> { in_lane(&self.coefficients[order], lane) };
            let (size, is_last) = rule.size(row, self.span.until - time);
            let is_stuck = *steps >= self.max_steps || !is_last && is_too_short(size, time);
            *steps += 1;
            self.end_time.set(lane, if is_last { self.span.until } else { (time + size).min(self.span.until) });
            (last, stuck) = (last.with(lane, is_last), stuck.with(lane, is_stuck));
        }
        (last, stuck)
    }
}

impl<S: FeedbackSystem, const V: usize> SeriesLaneSteps<S, V> {
    /// The lanes in which a step leaves the field: see the steps of a simulation.
    fn apart(&self, arrived: Mask<V>, h: Lanes<V>, numbers: &Numbers<S, V>) -> Mask<V> {
        let (order, begin) = (self.coefficients.len() - 1, &self.coefficients[0]);
        let last = |lane: usize| in_lane::<Vector<S>, _, V>(&self.coefficients[order], lane);
        let places = arrived.lanes().map(|lane| self.rules[lane].0.places(last(lane).as_ref(), h.lane(lane))).max();
        let (places, mut apart) = (places.unwrap_or_default(), Mask::none());
        for place in 1..=places {
            let part = h * Scalar::from_f64(f64::from(place) / f64::from(places));
            let change = self.change(part);
            let mut state: Vector<S, Lanes<V>> = Entries::from_fn(|i| begin[i] + change[i]);
            if let Some(clock) = self.facts.clock {
                state[clock] = self.time + part;
            }
            let rates = numbers.system.vector_field(&state);
            let slopes = Entries::from_fn(|i| slope(order, |n| self.coefficients[n][i], part));
            for lane in arrived.lanes() {
                let [state, rates, slopes] = [&state, &rates, &slopes].map(|of| in_lane::<Vector<S>, _, V>(of, lane));
                if !self.rules[lane].0.keeps_to_the_field([&state, &rates, &slopes], h.lane(lane)) {
                    apart = apart.with(lane, true);
                }
            }
        }
        apart
    }
}

impl<S: FeedbackSystem, const V: usize> LaneStepper<S, V> for SeriesLaneSteps<S, V> {
    fn begin(&mut self, lane: usize, field: AloneField<'_, S>, start: &Vector<S>) -> Result<(), Error> {
        let series = field.series().map_err(|reason| without_series(self.facts, reason))?;
        self.is_polynomial = series.shape.is_polynomial;
        let mut rule = StepRule::new(self.facts, self.tolerance, filled(0.0), None, self.limits)?;
        rule.remember(start.as_ref());
        let order = rule.order;
        while self.rules.len() <= lane {
            self.rules.push((rule.clone(), 0));
        }
        self.rules[lane] = (rule, 0);
        self.coefficients.resize(order + 1, filled(Scalar::from_f64(0.0)));
        self.memory.resize(order * S::LANE_COLUMNS, Scalar::from_f64(0.0));
        for i in 0..Vector::<S>::LEN {
            self.state[i].set(lane, start[i]);
            self.carry[i].set(lane, 0.0);
        }
        self.projection.begin(lane);
        self.time.set(lane, self.span.from);
        Ok(())
    }

    fn gather(&mut self, numbers: &Numbers<S, V>, _: &dyn LaneFields<S, V>) {
        self.projection.gather(numbers);
    }

    fn advance(&mut self, under_way: Mask<V>, numbers: &Numbers<S, V>, _: &dyn LaneFields<S, V>) -> LaneSteps<S, V> {
        self.coefficients[0] = self.state;
        S::taylor_in_lanes(&numbers.system, &mut self.coefficients, &mut self.memory);
        let (last, stuck) = self.choose(under_way);
        let h = self.end_time - self.time;
        (self.end, self.end_carry) = (self.change(h), self.carry);
        carry_on(self.state.as_ref(), self.end.as_mut(), self.end_carry.as_mut(), self.facts.clock);
        let arrived = under_way.and_not(stuck);
        let lost = stuck.or(arrived.and_not(is_finite(&self.end)));
        let order = self.coefficients.len() - 1;
        let power = Scalar::powi(h, order as i32);
        let error = Entries::from_fn(|i| self.coefficients[order][i] * power);
        let (out_of_proportion, may_be_left) = self.projection.project(arrived, h, &error, &mut self.end);
        if let Some(clock) = self.facts.clock {
            self.end[clock] = self.end_time;
        }
        let lost = lost.or(arrived.and(out_of_proportion));
        // A simulation ends such a step sooner.
        let lost = if self.is_polynomial { lost } else { lost.or(self.apart(arrived, h, numbers)) };
        LaneSteps { number: 1, times: self.end_time, arrived, lost, may_be_left, ended: last }
    }

    fn end(&self) -> &Vector<S, Lanes<V>> {
        &self.end
    }

    fn within(&mut self, times: Lanes<V>, _: &dyn LaneFields<S, V>) -> Vector<S, Lanes<V>> {
        let change = self.change(times - self.time);
        Entries::from_fn(|i| self.coefficients[0][i] + change[i])
    }

    fn accept(&mut self, arrived: Mask<V>) {
        self.time = arrived.select(self.end_time, self.time);
        arrived.replace_each(&mut self.state, &self.end);
        arrived.replace_each(&mut self.carry, &self.end_carry);
        for lane in arrived.lanes() {
            let state: Vector<S> = in_lane(&self.state, lane);
            self.rules[lane].0.remember(state.as_ref());
        }
    }
}
