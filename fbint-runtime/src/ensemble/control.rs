//! Members under error control, side by side: every lane has a time, a step and a member of its own.
//!
//! A round makes one attempt in every lane, with the numbers that the [`Integrator`](crate::Integrator) of that member alone has. Where
//! it is rejected, the lane stays where it was, with a shorter step for the next round; where a member ends, the next one takes
//! its lane. No lane waits for another, so that each takes the very steps of its simulation. A member for which a simulation would
//! stop, or would have to look more closely, loses its lane: it runs alone.
//!
//! What stages add up to and the estimate of the error are the functions of the [`Integrator`](crate::Integrator), on other numbers.

use super::assigned_member::{Numbers, in_lane, is_finite};
use super::assignment::{LaneAssignment, Leave};
use super::gains::LaneFields;
use super::progress::UNWATCHED;
use super::proportion::out_of_proportion;
use crate::dense_output::Interpolant;
use crate::entries::Entries;
use crate::integrator::{Beginning, MAX_STEPS};
use crate::lanes::{Lanes, Mask};
use crate::linear::filled;
use crate::projection::{Landing, MOST, Projection, Projector, mean_with, with_spikes};
use crate::rodas5p::{self, StepMatrix};
use crate::scalar::Scalar;
use crate::step_size::LEAST_LOG_ERROR;
use crate::system::{FeedbackSystem, PreparedSystem, Vector};
use crate::tableau::{ErrorEstimate, MOST_STAGES, Pair, advanced, extended};
use crate::tolerance::{Larger, Tolerance};

/// What holds for all members.
pub(super) struct Route<'a> {
    pub(super) pair: &'static Pair,
    /// When samples are taken, the start and the end among them.
    pub(super) times: &'a [f64],
    pub(super) tolerance: Tolerance,
    pub(super) projection: Option<Projection>,
}

/// Integrates all members of an assignment.
pub(super) fn integrate<S: FeedbackSystem, const V: usize>(
    assignment: &mut LaneAssignment<'_, '_, S, V>,
    fields: &mut dyn LaneFields<S, V>,
    route: &Route<'_>,
) {
    let &[from, .., until] = route.times else { return };
    let mut control_loop = ErrorControlLoop::<S, V> {
        route,
        fields,
        until: Scalar::from_f64(until),
        time: Scalar::from_f64(from),
        state: filled(Scalar::from_f64(0.0)),
        stages: [filled(Scalar::from_f64(0.0)); MOST_STAGES],
        knows_derivative: true,
        end: filled(Scalar::from_f64(0.0)),
        knows_end: false,
        matrix: StepMatrix::default(),
        error: filled(Scalar::from_f64(0.0)),
        size: Scalar::from_f64(0.0),
        last_log_error: Scalar::from_f64(LEAST_LOG_ERROR),
        attempts: Scalar::from_f64(0.0),
        is_under_way: Mask::none(),
        is_shrinking: Mask::none(),
        mean: filled(Scalar::from_f64(0.0)),
        next_sample: Scalar::from_f64(f64::INFINITY),
        unwatched: 0,
    };
    let mut vacant = Mask::all();
    loop {
        for lane in vacant.lanes() {
            control_loop.assign(assignment, lane);
        }
        if !control_loop.is_under_way.any() {
            return;
        }
        let numbers = assignment.gather(control_loop.fields);
        vacant = control_loop.until_someone_leaves(assignment, &numbers);
    }
}

/// Where every lane is on its way.
struct ErrorControlLoop<'a, S: FeedbackSystem, const V: usize> {
    route: &'a Route<'a>,
    fields: &'a mut dyn LaneFields<S, V>,
    until: Lanes<V>,
    time: Lanes<V>,
    state: Vector<S, Lanes<V>>,
    /// The first one is f(state), if that is known.
    stages: [Vector<S, Lanes<V>>; MOST_STAGES],
    knows_derivative: bool,
    /// Where the last attempt ended.
    end: Vector<S, Lanes<V>>,
    /// Whether the last stage is f there.
    knows_end: bool,
    /// Of a Rosenbrock method, as large as a state from the first step on.
    matrix: StepMatrix<Lanes<V>>,
    /// The estimate of its error.
    error: Vector<S, Lanes<V>>,
    /// The size of the next step.
    size: Lanes<V>,
    last_log_error: Lanes<V>,
    /// The number of steps, accepted and rejected.
    attempts: Lanes<V>,
    /// The lanes that have a member.
    is_under_way: Mask<V>,
    /// The lanes in which the last attempt was rejected.
    is_shrinking: Mask<V>,
    /// The running means of the squared errors.
    mean: Vector<S, Lanes<V>>,
    /// When the next sample is taken, between the start and the end.
    next_sample: Lanes<V>,
    /// The number of rounds since it was asked whether the runs go on.
    unwatched: u64,
}

impl<S: FeedbackSystem, const V: usize> ErrorControlLoop<'_, S, V> {
    /// Gives a lane to the next member.
    fn assign(&mut self, assignment: &mut LaneAssignment<'_, '_, S, V>, lane: usize) {
        let Route { pair, times, tolerance, .. } = self.route;
        let (from, until) = (times[0], self.until.lane(0));
        let is_taken = assignment.assign(lane, self.fields, &mut |field, start| {
            let (x, rates) = (*start, field.value(start));
            let weights = tolerance.weights(&filled(tolerance.absolute(1.0)), start, start);
            let beginning = Beginning { x, rates, weights, dimension: field.dimension() };
            let size = beginning.first_size(pair.control.order, 1.0, until - from, |x| field.value(x));
            for i in 0..Vector::<S>::LEN {
                self.state[i].set(lane, start[i]);
                self.stages[0][i].set(lane, rates[i]);
                self.mean[i].set(lane, 0.0);
            }
            self.size.set(lane, size);
            Ok(())
        });
        self.is_under_way = self.is_under_way.with(lane, is_taken);
        if !is_taken {
            return;
        }
        self.time.set(lane, from);
        self.last_log_error.set(lane, LEAST_LOG_ERROR);
        self.attempts.set(lane, 0.0);
        self.is_shrinking = self.is_shrinking.with(lane, false);
        self.next_sample.set(lane, self.sample_time(1));
    }

    /// When the sample of that number is taken, unless it is the end.
    fn sample_time(&self, number: usize) -> f64 {
        if number + 1 < self.route.times.len() { self.route.times[number] } else { f64::INFINITY }
    }

    /// Makes rounds until lanes are vacant, which are returned. When the runs are over there are none, and nobody is under way.
    fn until_someone_leaves(
        &mut self,
        assignment: &mut LaneAssignment<'_, '_, S, V>,
        numbers: &Numbers<S, V>,
    ) -> Mask<V> {
        let projector = self.route.projection.map(|projection| numbers.projector(projection));
        loop {
            self.unwatched += 1;
            if self.unwatched >= UNWATCHED {
                self.unwatched = 0;
                if !assignment.goes_on() {
                    for lane in self.is_under_way.lanes() {
                        assignment.leave(lane, Leave::Interrupted);
                    }
                    self.is_under_way = Mask::none();
                    return Mask::none();
                }
            }
            let leaving = self.round(assignment, numbers, projector.as_ref());
            if leaving.any() {
                return leaving;
            }
        }
    }

    /// Attempts a step in every lane; returns the lanes whose members leave.
    fn round(
        &mut self,
        assignment: &mut LaneAssignment<'_, '_, S, V>,
        numbers: &Numbers<S, V>,
        projector: Option<&Projector<S, Lanes<V>>>,
    ) -> Mask<V> {
        let stuck = self.is_under_way.and(self.is_stuck());
        let remaining = self.until - self.time;
        let is_shortened = remaining.is_at_most(Lanes::from_f64(1.01) * self.size);
        let size = is_shortened.select(remaining, self.size);
        let error = self.attempt(size, numbers.system.facts().state.len());

        // Without a finite end, the error is as large as can be.
        let finite = is_finite(&self.end);
        let accepted = self.is_under_way.and_not(stuck).and(error.is_at_most(Lanes::from_f64(1.0))).and(finite);
        let in_proportion = projector.map_or(Mask::all(), |projector| self.project(projector, accepted));
        let error = finite.select(error, Lanes::from_f64(f64::INFINITY));
        self.resize(size, is_shortened, accepted, error);

        let end_time = is_shortened.select(self.until, self.time + size);
        if let Some(index) = numbers.system.facts().clock {
            self.end[index] = end_time;
        }
        let change = numbers.change(&self.end);
        let good = accepted.and(in_proportion).and(numbers.is_good(&self.end, &change));
        let due = good.and(self.next_sample.is_at_most(end_time));
        if due.any() {
            self.sample_between(assignment, numbers, due, end_time);
        }
        let (ended, lost) = (good.and(is_shortened), stuck.or(accepted.and_not(good)));
        for lane in ended.lanes() {
            let (state, change) = (in_lane(&self.end, lane), in_lane(&change, lane));
            assignment.sample(lane, end_time.lane(lane), &state, &change);
            assignment.leave(lane, Leave::Ended);
        }
        for lane in lost.lanes() {
            assignment.leave(lane, Leave::Lost);
        }
        self.advance(accepted, end_time);
        ended.or(lost)
    }

    /// The lanes in which no step is short enough, or too many were made.
    fn is_stuck(&self) -> Mask<V> {
        let shortest = self.time.abs() * Lanes::from_f64(f64::EPSILON);
        let too_short = (Lanes::from_f64(0.1) * self.size).is_at_most(shortest);
        let too_many = Lanes::from_f64(MAX_STEPS as f64).is_at_most(self.attempts);
        let normal = Lanes::from_f64(f64::MIN_POSITIVE).is_at_most(self.size);
        too_short.or(too_many).or(Mask::all().and_not(normal))
    }

    /// Attempts a step of this size in every lane; returns its error in units of the tolerance.
    #[inline(never)]
    fn attempt(&mut self, size: Lanes<V>, dimension: usize) -> Lanes<V> {
        if !self.knows_derivative {
            self.fields.value(&self.state, &mut self.stages[0]);
        }
        let is_singular = if self.route.pair.is_implicit() {
            self.implicit_stages(size, dimension)
        } else {
            self.explicit_stages(size)
        };
        let atol = filled(Lanes::from_f64(self.route.tolerance.absolute(1.0)));
        let weights = self.route.tolerance.weights(&atol, &self.state, &self.end);
        let error;
        (self.error, error) = self.route.pair.error(&self.stages, size, &weights, dimension);
        is_singular.select(Lanes::from_f64(f64::INFINITY), error)
    }

    /// Evaluates the stages after the first, and where steps end; there is no lane in which this fails.
    fn explicit_stages(&mut self, size: Lanes<V>) -> Mask<V> {
        let Pair { a, last, error, .. } = self.route.pair;
        // An embedded method evaluates the field after the step, too.
        self.knows_end = matches!(error, ErrorEstimate::Embedded(_));
        for i in 1..last + 1 {
            self.end = extended(&self.state, size, &self.stages[..i - 1], &self.stages[i - 1], &a[i]);
            if i < *last || self.knows_end {
                self.fields.value(&self.end, &mut self.stages[i]);
            }
        }
        Mask::none()
    }

    /// Solves for the stages, and where steps end; returns the lanes in which the matrix is singular.
    fn implicit_stages(&mut self, size: Lanes<V>, dimension: usize) -> Mask<V> {
        let Some(stages) = self.stages.first_chunk_mut() else { return Mask::all() };
        if self.matrix.size() != dimension {
            self.matrix = StepMatrix::new(dimension);
        }
        self.matrix.linearise(|add| self.fields.jacobian(&self.state, add));
        self.matrix.factorise(size);
        self.end = rodas5p::stages(&self.matrix, &self.state, size, stages, |x| {
            let mut value = *x;
            self.fields.value(x, &mut value);
            value
        });
        self.matrix.is_singular()
    }

    /// Projects the ends of steps, and remembers the errors of those that are accepted; returns the lanes in which that is in proportion.
    fn project(&mut self, projector: &Projector<S, Lanes<V>>, accepted: Mask<V>) -> Mask<V> {
        let end = self.end;
        let squares = projector.squares(&self.error, &end);
        let variances = with_spikes(&self.mean, &squares);
        let projected = projector.move_back(&variances, &mut self.end);
        let mean = mean_with(&self.mean, &squares);
        accepted.replace_each(&mut self.mean, &mean);
        Mask::all().and_not(out_of_proportion::<S, V>(&Landing { end, variances, projected }, MOST))
    }

    /// Chooses the size of the next step.
    fn resize(&mut self, size: Lanes<V>, is_shortened: Mask<V>, accepted: Mask<V>, error: Lanes<V>) {
        let changed = size * self.route.pair.control.change(accepted, error, &mut self.last_log_error);
        let grown = is_shortened.select(changed.larger(self.size), changed);
        let grown = self.is_shrinking.select(changed.min(size), grown);
        self.size = accepted.select(grown, changed);
        self.attempts = self.attempts + Lanes::from_f64(1.0);
        self.is_shrinking = self.is_under_way.and_not(accepted);
    }

    /// Goes to where steps end that were accepted.
    fn advance(&mut self, accepted: Mask<V>, end_time: Lanes<V>) {
        self.time = accepted.select(end_time, self.time);
        accepted.replace_each(&mut self.state, &self.end);
        self.knows_derivative = self.knows_end;
        if self.knows_end {
            let end = self.stages[self.route.pair.last];
            accepted.replace_each(&mut self.stages[0], &end);
        }
    }

    /// Samples the dense output of the step to this time in the lanes in which samples are due.
    #[inline(never)]
    fn sample_between(
        &mut self,
        assignment: &mut LaneAssignment<'_, '_, S, V>,
        numbers: &Numbers<S, V>,
        mut due: Mask<V>,
        end_time: Lanes<V>,
    ) {
        let (pair, last, h) = (self.route.pair, self.route.pair.last, end_time - self.time);
        if !pair.is_implicit() && !self.knows_end {
            self.fields.value(&self.end, &mut self.stages[last]);
            self.knows_end = true;
        }
        for i in last + 1..pair.stages {
            let point = advanced(&self.state, h, &self.stages[..i], &pair.a[i]);
            self.fields.value(&point, &mut self.stages[i]);
        }
        let interpolant = Interpolant::new(pair, h, self.state, &self.end, &self.stages);
        while due.any() {
            let state = interpolant.at((self.next_sample - self.time) / h);
            let change = numbers.change(&state);
            for lane in due.lanes() {
                let time = self.next_sample.lane(lane);
                let (state, change) = (in_lane(&state, lane), in_lane(&change, lane));
                let samples = assignment.sample(lane, time, &state, &change);
                self.next_sample.set(lane, self.sample_time(samples));
            }
            due = due.and(self.next_sample.is_at_most(end_time));
        }
    }
}
