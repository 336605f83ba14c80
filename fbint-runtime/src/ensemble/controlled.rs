//! Steps under error control side by side: lanes differ in time and step.
//!
//! An attempt is made in every lane, with the numbers that the [`Integrator`](crate::Integrator) of that member alone has. Where
//! it is rejected, the lane stays where it was, with a shorter step for the next attempt. No lane waits for another, so that each takes the
//! very steps of its simulation.
//!
//! The functions of the [`Integrator`](crate::Integrator), on other numbers, add up stages and estimate the error.

use super::gains::{AloneField, LaneFields};
use super::lane_loop::{LaneStepper, LaneSteps};
use super::members::{Numbers, is_finite};
use super::projected::LaneProjection;
use crate::error::Error;
use crate::hold::projection::Projection;
use crate::method::error_control::StepStart;
use crate::numbers::entries::Entries;
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::larger::Larger;
use crate::numbers::linear::{difference, filled};
use crate::numbers::scalar::Scalar;
use crate::simulation::{GivenLimits, Span};
use crate::stages::dense_output::Interpolant;
use crate::stages::rodas5p::{self, StepMatrix};
use crate::stages::step_size::{LEAST_LOG_ERROR, REST, StepLimits};
use crate::stages::tableau::{ErrorEstimate, MOST_STAGES, Pair, advanced, extended};
use crate::stages::tolerance::{ErrorScale, Sizes, Tolerance, norm, nudged};
use crate::system::SystemFacts;
use crate::system::{FeedbackSystem, PreparedSystem, StateEntry, Vector};

/// Steps of members that each choose their size, and how far every lane is.
pub(super) struct ControlledLaneSteps<S: FeedbackSystem, const V: usize> {
    pair: &'static Pair,
    tolerance: Tolerance,
    /// The weights of errors where the next steps begin.
    scale: ErrorScale<Vector<S, Lanes<V>>>,
    /// The scale of the error where the last attempt ended.
    reached: ErrorScale<Vector<S, Lanes<V>>>,
    projection: LaneProjection<S, V>,
    span: Span,
    limits: StepLimits,
    max_steps: f64,
    time: Lanes<V>,
    state: Vector<S, Lanes<V>>,
    /// The first one is f(state), if that is known.
    stages: [Vector<S, Lanes<V>>; MOST_STAGES],
    knows_derivative: bool,
    /// Where the last attempt ended.
    end_time: Lanes<V>,
    end: Vector<S, Lanes<V>>,
    /// `true` if the last stage is f there.
    knows_end: bool,
    /// Dense output of the last attempt, once it is needed.
    interpolant: Option<Interpolant<Vector<S, Lanes<V>>>>,
    /// The matrix of a Rosenbrock method, as large as a state from the first step on.
    matrix: StepMatrix<Lanes<V>>,
    /// The estimate of its error.
    error: Vector<S, Lanes<V>>,
    /// The size of the next step.
    size: Lanes<V>,
    last_log_error: Lanes<V>,
    /// The number of steps, accepted and rejected.
    attempts: Lanes<V>,
    /// The lanes in which the last attempt was rejected.
    is_shrinking: Mask<V>,
}

impl<S: FeedbackSystem, const V: usize> ControlledLaneSteps<S, V> {
    pub(super) fn new(
        pair: &'static Pair,
        tolerance: Tolerance,
        projection: Option<Projection>,
        span: Span,
        (limits, given): (StepLimits, GivenLimits),
    ) -> Self {
        let zero = Scalar::from_f64(0.0);
        let scale = ErrorScale::new(&tolerance, &filled(zero), |_| false);
        Self {
            pair,
            tolerance,
            scale,
            reached: scale,
            projection: LaneProjection::new(projection),
            span,
            limits,
            max_steps: given.max_steps() as f64,
            time: zero,
            state: filled(zero),
            stages: [filled(zero); MOST_STAGES],
            knows_derivative: true,
            end_time: zero,
            end: filled(zero),
            knows_end: false,
            interpolant: None,
            matrix: StepMatrix::default(),
            error: filled(zero),
            size: zero,
            last_log_error: zero,
            attempts: zero,
            is_shrinking: Mask::none(),
        }
    }
}

impl<S: FeedbackSystem, const V: usize> LaneStepper<S, V> for ControlledLaneSteps<S, V> {
    fn begin(&mut self, lane: usize, field: AloneField<'_, S>, start: &Vector<S>) -> Result<(), Error> {
        let (x, rates) = (*start, field.value(start));
        let scale = ErrorScale::new(&self.tolerance, start, |entry| field.continues_variable(entry));
        let step_start = StepStart { time: self.span.from, x: &x, rates: &rates, order: self.pair.control.order };
        let size = step_start.first_size_on(field, &scale, 1.0, self.span.length(), |x| field.value(x));
        self.scale.begin(lane, &scale);
        for i in 0..Vector::<S>::LEN {
            self.state[i].set(lane, start[i]);
            self.stages[0][i].set(lane, rates[i]);
        }
        self.projection.begin(lane);
        self.size.set(lane, size.min(self.limits.at_rest.unwrap_or(f64::INFINITY)).min(self.limits.most));
        self.time.set(lane, self.span.from);
        self.last_log_error.set(lane, LEAST_LOG_ERROR);
        self.attempts.set(lane, 0.0);
        self.is_shrinking = self.is_shrinking.with(lane, false);
        Ok(())
    }

    fn gather(&mut self, numbers: &Numbers<S, V>, _: &dyn LaneFields<S, V>) {
        self.projection.gather(numbers);
    }

    /// Attempts a step in every lane.
    fn advance(
        &mut self,
        under_way: Mask<V>,
        numbers: &Numbers<S, V>,
        fields: &dyn LaneFields<S, V>,
    ) -> LaneSteps<S, V> {
        let (until, facts) = (Lanes::from_f64(self.span.until), numbers.system.facts());
        let stuck = under_way.and(self.is_stuck());
        let remaining = until - self.time;
        let is_near = remaining.is_at_most(Lanes::from_f64(1.01) * self.size);
        let is_shortened = is_near.and(remaining.is_at_most(Lanes::from_f64(self.limits.most)));
        let size = is_shortened.select(remaining, self.size);
        let error = self.attempt(size, facts.state, fields);

        // Without a finite end, the error is as large as can be.
        let finite = is_finite(&self.end);
        let arrived = under_way.and_not(stuck).and(error.is_at_most(Lanes::from_f64(1.0))).and(finite);
        // Projections move the ends of rejected attempts as well.
        let attempted = self.end;
        let (out_of_proportion, may_be_left) = self.projection.project(arrived, size, &self.error, &mut self.end);
        let error = finite.select(error, Lanes::from_f64(f64::INFINITY));
        self.resize(size, is_shortened, arrived, error, facts);
        let rejected = under_way.and_not(arrived);
        self.look_closer(rejected.and(self.is_shrinking), (size, &attempted), facts, fields);
        self.is_shrinking = rejected;

        self.end_time = is_shortened.select(until, self.time + size);
        if let Some(index) = facts.clock {
            self.end[index] = self.end_time;
        }
        let lost = stuck.or(arrived.and(out_of_proportion));
        LaneSteps { number: 1, times: self.end_time, arrived, lost, may_be_left, ended: is_shortened }
    }

    fn end(&self) -> &Vector<S, Lanes<V>> {
        &self.end
    }

    fn within(&mut self, times: Lanes<V>, fields: &dyn LaneFields<S, V>) -> Vector<S, Lanes<V>> {
        let interpolant = match self.interpolant {
            Some(interpolant) => interpolant,
            None => self.interpolate(fields),
        };
        self.interpolant.insert(interpolant).at((times - self.time) / (self.end_time - self.time))
    }

    fn accept(&mut self, arrived: Mask<V>) {
        self.time = arrived.select(self.end_time, self.time);
        arrived.replace_each(&mut self.state, &self.end);
        self.scale.reach(arrived, &self.reached);
        self.knows_derivative = self.knows_end;
        if self.knows_end {
            let end = self.stages[self.pair.last];
            arrived.replace_each(&mut self.stages[0], &end);
        }
    }
}

impl<S: FeedbackSystem, const V: usize> ControlledLaneSteps<S, V> {
    /// The lanes in which no step is short enough, or too many were made.
    fn is_stuck(&self) -> Mask<V> {
        let shortest = self.time.abs() * Lanes::from_f64(f64::EPSILON);
        let too_short = (Lanes::from_f64(0.1) * self.size).is_at_most(shortest);
        let too_many = Lanes::from_f64(self.max_steps).is_at_most(self.attempts);
        let normal = Lanes::from_f64(f64::MIN_POSITIVE).is_at_most(self.size);
        too_short.or(too_many).or(Mask::all().and_not(normal))
    }

    /// Attempts a step of this size in every lane; returns its error in units of the tolerance.
    #[inline(never)]
    fn attempt(&mut self, size: Lanes<V>, state: &[StateEntry], fields: &dyn LaneFields<S, V>) -> Lanes<V> {
        let dimension = state.len();
        self.interpolant = None;
        if !self.knows_derivative {
            fields.value(&self.state, &mut self.stages[0]);
        }
        let is_singular = if self.pair.is_implicit() {
            self.implicit_stages(size, dimension, fields)
        } else {
            self.explicit_stages(size, fields)
        };
        self.reached = self.scale.reaching(&self.end, |entry| StateEntry::continues(state, entry));
        let weights = self.reached.weights(&self.state, &self.end, size);
        let error;
        (self.error, error) = self.pair.error(&self.stages, size, &weights, dimension);
        is_singular.select(Lanes::from_f64(f64::INFINITY), error)
    }

    /// Does in these lanes what [`Integrator`](crate::Integrator) does after an attempt of this size to this end that was rejected again.
    fn look_closer(
        &mut self,
        lanes: Mask<V>,
        (size, end): (Lanes<V>, &Vector<S, Lanes<V>>),
        facts: &SystemFacts,
        fields: &dyn LaneFields<S, V>,
    ) {
        let Some(all) = self.scale.sizes_mut().filter(|_| lanes.any()) else { return };
        let mut near = self.state;
        for lane in lanes.lanes() {
            let (state, attempts) = (Vector::<S>::from_fn(|i| self.state[i].lane(lane)), self.attempts.lane(lane));
            let nudged = nudged(&state, facts.clock, attempts as u64);
            (0..Vector::<S>::LEN).for_each(|i| near[i].set(lane, nudged[i]));
        }
        let mut rates = near;
        fields.value(&near, &mut rates);
        for lane in lanes.lanes() {
            let of = |all: &Vector<S, Lanes<V>>| Vector::<S>::from_fn(|i| all[i].lane(lane));
            let mut sizes = Sizes { largest: of(&all.largest), roundings: of(&all.roundings) };
            let [state, at_state, next] = [&self.state, &self.stages[0], end].map(of);
            let continues = |entry| StateEntry::continues(facts.state, entry);
            let unmoved = (facts.clock, self.limits.at_rest);
            sizes.look_closer(&of(&rates), [&state, &at_state, &next], size.lane(lane), continues, unmoved);
            for i in 0..Vector::<S>::LEN {
                all.largest[i].set(lane, sizes.largest[i]);
                all.roundings[i].set(lane, sizes.roundings[i]);
            }
        }
    }

    /// Evaluates the stages after the first, and at the ends of steps; it fails in no lane.
    fn explicit_stages(&mut self, size: Lanes<V>, fields: &dyn LaneFields<S, V>) -> Mask<V> {
        let Pair { a, last, error, .. } = self.pair;
        // An embedded method evaluates the field after the step, too.
        self.knows_end = matches!(error, ErrorEstimate::Embedded(_));
        for i in 1..last + 1 {
            self.end = extended(&self.state, size, &self.stages[..i - 1], &self.stages[i - 1], &a[i]);
            if i < *last || self.knows_end {
                fields.value(&self.end, &mut self.stages[i]);
            }
        }
        Mask::none()
    }

    /// Solves for the stages, and where steps end; returns the lanes in which the matrix is singular.
    fn implicit_stages(&mut self, size: Lanes<V>, dimension: usize, fields: &dyn LaneFields<S, V>) -> Mask<V> {
        let Some(stages) = self.stages.first_chunk_mut() else { return Mask::all() };
        if self.matrix.size() != dimension {
            self.matrix = StepMatrix::new(dimension);
        }
        self.matrix.linearise(|add| fields.jacobian(&self.state, add));
        self.matrix.factorise(size);
        self.end = rodas5p::stages(&self.matrix, &self.state, size, stages, |x| {
            let mut value = *x;
            fields.value(x, &mut value);
            value
        });
        self.matrix.is_singular()
    }

    /// The lanes whose last step moves nothing but the time.
    #[cold]
    fn rests(&self, facts: &SystemFacts) -> Mask<V> {
        let mut change = difference(&self.end, &self.state);
        facts.set_clock(&mut change, 0.0);
        let weights = self.reached.weights(&self.state, &self.end, Scalar::from_f64(0.0));
        norm(change.as_ref(), weights.as_ref(), facts.state.len()).is_at_most(Lanes::from_f64(REST))
    }

    /// Chooses the size of the next step.
    fn resize(
        &mut self,
        size: Lanes<V>,
        is_shortened: Mask<V>,
        arrived: Mask<V>,
        error: Lanes<V>,
        facts: &SystemFacts,
    ) {
        let changed = size * self.pair.control.change(arrived, error, &mut self.last_log_error);
        let grown = is_shortened.select(changed.larger(self.size), changed);
        let grown = self.is_shrinking.select(changed.min(size), grown);
        let grown = match self.limits.at_rest {
            Some(limit) => self.rests(facts).select(grown.min(Lanes::from_f64(limit)), grown),
            None => grown,
        };
        let grown = grown.min(Lanes::from_f64(self.limits.most));
        self.size = arrived.select(grown, changed);
        self.attempts = self.attempts + Lanes::from_f64(1.0);
    }

    /// The dense output of the last attempt.
    #[inline(never)]
    fn interpolate(&mut self, fields: &dyn LaneFields<S, V>) -> Interpolant<Vector<S, Lanes<V>>> {
        let (pair, last, h) = (self.pair, self.pair.last, self.end_time - self.time);
        if !pair.is_implicit() && !self.knows_end {
            fields.value(&self.end, &mut self.stages[last]);
            self.knows_end = true;
        }
        for i in last + 1..pair.stages {
            let point = advanced(&self.state, h, &self.stages[..i], &pair.a[i]);
            fields.value(&point, &mut self.stages[i]);
        }
        Interpolant::new(pair, h, self.state, &self.end, &self.stages)
    }
}
