//! Members under error control, side by side: every lane has a time, a step and a member of its own.
//!
//! A round makes one attempt in every lane, with the numbers that the [`Integrator`](crate::Integrator) of that member alone has. Where
//! it is rejected, the lane stays where it was, with a shorter step for the next round; where a member ends, the next one takes
//! its lane. No lane waits for another, so that each takes the very steps of its simulation. A member for which a simulation would
//! stop, or would have to look more closely, loses its lane: it runs alone.

use super::proportion::out_of_proportion;
use super::seat::{Numbers, in_lane};
use crate::dense_output::Polynomial;
use crate::entries::Entries;
use crate::integrator::MAX_STEPS;
use crate::lanes::{Lanes, Mask};
use crate::linear::filled;
use crate::projection::{Projection, Projector, mean_with};
use crate::scalar::Scalar;
use crate::simulation::Sample;
use crate::step_size::LEAST_LOG_ERROR;
use crate::system::{FeedbackSystem, Vector, clock};
use crate::tableau::{ErrorEstimate, Pair, advanced, extended};
use crate::tolerance::{Larger, Tolerance};

/// The members that have a lane, and those that wait for one.
pub(super) trait Crew<S: FeedbackSystem, const V: usize> {
    /// f of the members that have a lane.
    fn field(&self, x: &Vector<S, Lanes<V>>) -> Vector<S, Lanes<V>>;
    /// Gives a lane to the next member that can start, if there is one.
    fn board(&mut self, lane: usize) -> Option<Beginning<S>>;
    /// The numbers of the members that have a lane, or had it last; at least one has had one.
    fn gather(&mut self) -> Numbers<S, V>;
    /// Adds a sample of the member in a lane; returns how many it has.
    fn sample(&mut self, lane: usize, sample: Sample<S>) -> usize;
    /// The member in a lane has ended there, or has to run alone.
    fn leave(&mut self, lane: usize, has_ended: bool);
}

/// How a member begins.
pub(super) struct Beginning<S: FeedbackSystem> {
    pub(super) start: Vector<S>,
    /// f there.
    pub(super) derivative: Vector<S>,
    /// The size of the first step.
    pub(super) size: f64,
}

/// What holds for all members.
pub(super) struct Route<'a> {
    /// When samples are taken, the start and the end among them.
    pub(super) times: &'a [f64],
    pub(super) tolerance: Tolerance,
    pub(super) projection: Option<Projection>,
}

/// Integrates all members of a crew by the method with so many stages.
pub(super) fn integrate<S: FeedbackSystem, C: Crew<S, V> + ?Sized, const V: usize, const STAGES: usize>(
    crew: &mut C,
    route: &Route<'_>,
) {
    let &[from, .., until] = route.times else { return };
    let mut course = Course::<S, V, STAGES> {
        route,
        until: Scalar::from_f64(until),
        time: Scalar::from_f64(from),
        state: filled(Scalar::from_f64(0.0)),
        stages: [filled(Scalar::from_f64(0.0)); STAGES],
        knows_derivative: true,
        size: Scalar::from_f64(0.0),
        last_log_error: Scalar::from_f64(LEAST_LOG_ERROR),
        attempts: Scalar::from_f64(0.0),
        is_under_way: Mask::none(),
        is_shrinking: Mask::none(),
        is_first: Mask::none(),
        variances: filled(Scalar::from_f64(0.0)),
        next_sample: Scalar::from_f64(f64::INFINITY),
    };
    let mut vacant = Mask::all();
    loop {
        vacant.lanes().for_each(|lane| course.board(crew, lane));
        if !course.is_under_way.any() {
            return;
        }
        let numbers = crew.gather();
        vacant = course.until_someone_leaves(crew, &numbers);
    }
}

/// Where every lane is on its way.
struct Course<'a, S: FeedbackSystem, const V: usize, const STAGES: usize> {
    route: &'a Route<'a>,
    until: Lanes<V>,
    time: Lanes<V>,
    state: Vector<S, Lanes<V>>,
    /// The first one is f(state) where it is known.
    stages: [Vector<S, Lanes<V>>; STAGES],
    knows_derivative: bool,
    /// The size of the next step.
    size: Lanes<V>,
    last_log_error: Lanes<V>,
    /// The number of steps, accepted and rejected.
    attempts: Lanes<V>,
    /// The lanes that have a member.
    is_under_way: Mask<V>,
    /// The lanes in which the last attempt was rejected.
    is_shrinking: Mask<V>,
    /// The lanes in which no step was accepted yet.
    is_first: Mask<V>,
    /// The running means of the squared errors.
    variances: Vector<S, Lanes<V>>,
    /// When the next sample is taken, between the start and the end.
    next_sample: Lanes<V>,
}

/// What became of an attempt.
struct Attempt<S: FeedbackSystem, const V: usize> {
    /// Where it ended, projected if states are.
    end: Vector<S, Lanes<V>>,
    accepted: Mask<V>,
    /// In units of the tolerance; infinite where the attempt is rejected for another reason.
    error: Lanes<V>,
    /// The running means after it.
    variances: Vector<S, Lanes<V>>,
}

impl<S: FeedbackSystem, const V: usize, const STAGES: usize> Course<'_, S, V, STAGES> {
    const PAIR: &'static Pair<STAGES> = &Pair::OF_STAGES;

    /// Gives a lane to the next member.
    fn board<C: Crew<S, V> + ?Sized>(&mut self, crew: &mut C, lane: usize) {
        let beginning = crew.board(lane);
        self.is_under_way = self.is_under_way.with(lane, beginning.is_some());
        let Some(Beginning { start, derivative, size }) = beginning else { return };
        for i in 0..Vector::<S>::LEN {
            self.state[i].set(lane, start[i]);
            self.stages[0][i].set(lane, derivative[i]);
        }
        self.time.set(lane, self.route.times[0]);
        self.size.set(lane, size);
        self.last_log_error.set(lane, LEAST_LOG_ERROR);
        self.attempts.set(lane, 0.0);
        self.is_shrinking = self.is_shrinking.with(lane, false);
        self.is_first = self.is_first.with(lane, true);
        self.next_sample.set(lane, self.sample_time(1));
    }

    /// When the sample of that number is taken, unless it is the end.
    fn sample_time(&self, number: usize) -> f64 {
        if number + 1 < self.route.times.len() { self.route.times[number] } else { f64::INFINITY }
    }

    /// Makes rounds until lanes are vacant, which are returned.
    fn until_someone_leaves<C: Crew<S, V> + ?Sized>(&mut self, crew: &mut C, numbers: &Numbers<S, V>) -> Mask<V> {
        let projector = self.route.projection.map(|projection| numbers.projector(projection));
        loop {
            // No step is short enough, or too many were made.
            let too_short =
                (Lanes::from_f64(0.1) * self.size).is_at_most(self.time.abs() * Lanes::from_f64(f64::EPSILON));
            let too_many = Lanes::from_f64(MAX_STEPS as f64).is_at_most(self.attempts);
            let normal = Lanes::from_f64(f64::MIN_POSITIVE).is_at_most(self.size);
            let stuck = self.is_under_way.and_not(normal.and_not(too_short.or(too_many)));

            let remaining = self.until - self.time;
            let is_shortened = remaining.is_at_most(Lanes::from_f64(1.01) * self.size);
            let size = is_shortened.select(remaining, self.size);
            let attempt = self.attempt(crew, projector.as_ref(), size, self.is_under_way.and_not(stuck));
            let begin = (self.time, self.state);
            self.take(&attempt, size, is_shortened);

            let accepted = attempt.accepted;
            let change = numbers.change(&self.state);
            let good = numbers.is_good(&self.state, &change);
            let lost = stuck.or(accepted.and_not(good));
            let due = accepted.and(good).and(self.next_sample.is_at_most(self.time));
            if due.any() {
                self.sample_between(crew, numbers, due, begin);
            }
            // The next step begins with the field where this one ended, if it was evaluated.
            if self.knows_derivative {
                self.stages[0] = accepted.select_each(&self.stages[Self::PAIR.last()], &self.stages[0]);
            }
            let ended = accepted.and(good).and(is_shortened);
            let leaving = lost.or(ended);
            if leaving.any() {
                for lane in ended.lanes() {
                    let time = self.time.lane(lane);
                    let (state, change) = (in_lane(&self.state, lane), in_lane(&change, lane));
                    crew.sample(lane, Sample { time, state, change });
                    crew.leave(lane, true);
                }
                lost.lanes().for_each(|lane| crew.leave(lane, false));
                return leaving;
            }
        }
    }

    /// Attempts a step in every lane, of which those that are `open` may accept it.
    #[inline(never)]
    fn attempt<C: Crew<S, V> + ?Sized>(
        &mut self,
        crew: &C,
        projector: Option<&Projector<S, Lanes<V>>>,
        size: Lanes<V>,
        open: Mask<V>,
    ) -> Attempt<S, V> {
        let (pair, last) = (Self::PAIR, Self::PAIR.last());
        if !self.knows_derivative {
            self.stages[0] = crew.field(&self.state);
        }
        let mut next = self.state;
        let is_embedded = matches!(pair.error, ErrorEstimate::Embedded(_));
        for i in 1..last + 1 {
            next = extended(&self.state, size, &self.stages[..i - 1], &self.stages[i - 1], &pair.a[i]);
            if i < last || is_embedded {
                self.stages[i] = crew.field(&next);
            }
        }
        let atol = filled(Lanes::from_f64(self.route.tolerance.absolute(1.0)));
        let weights = self.route.tolerance.weights(&atol, &self.state, &next);
        let (errors, error) = pair.error(&self.stages, size, &weights);
        let finite = next.into_iter().fold(Mask::all(), |finite, entry| finite.and(entry.is_finite()));
        let meets_tolerance = open.and(error.is_at_most(Lanes::from_f64(1.0))).and(finite);

        let (mut end, mut variances, mut refused) = (next, self.variances, Mask::none());
        if let Some(projector) = projector {
            let squares = Entries::from_fn(|i| errors[i] * errors[i]);
            variances = self.is_first.select_each(&squares, &mean_with(&self.variances, &squares));
            // Those of the steps before, but the first step has to know its own error.
            let known = self.is_first.select_each(&variances, &self.variances);
            let correction = projector.move_back(&known, &mut end).correction;
            refused = out_of_proportion::<S, V>(meets_tolerance, &correction, &variances, &end);
        }
        let error = finite.and_not(refused).select(error, Lanes::from_f64(f64::INFINITY));
        Attempt { end, accepted: meets_tolerance.and_not(refused), error, variances }
    }

    /// Takes the step where it was accepted, and sizes the next.
    fn take(&mut self, attempt: &Attempt<S, V>, size: Lanes<V>, is_shortened: Mask<V>) {
        let Attempt { end, accepted, error, variances } = *attempt;
        let changed = size * Self::PAIR.control.change(accepted, error, &mut self.last_log_error);
        let grown = is_shortened.select(changed.larger(self.size), changed);
        let grown = self.is_shrinking.select(changed.min(size), grown);
        self.size = accepted.select(grown, changed);

        let time = is_shortened.select(self.until, self.time + size);
        self.time = accepted.select(time, self.time);
        self.state = accepted.select_each(&end, &self.state);
        if let Some(index) = clock::<S>() {
            self.state[index] = self.time;
        }
        self.knows_derivative = matches!(Self::PAIR.error, ErrorEstimate::Embedded(_));
        self.variances = accepted.select_each(&variances, &self.variances);
        self.attempts = self.attempts + Lanes::from_f64(1.0);
        self.is_shrinking = self.is_under_way.and_not(accepted);
        self.is_first = self.is_first.and_not(accepted);
    }

    /// Samples the dense output of the last step in the lanes in which samples are due.
    #[inline(never)]
    fn sample_between<C: Crew<S, V> + ?Sized>(
        &mut self,
        crew: &mut C,
        numbers: &Numbers<S, V>,
        mut due: Mask<V>,
        (begin, start): (Lanes<V>, Vector<S, Lanes<V>>),
    ) {
        let (pair, last, h) = (Self::PAIR, Self::PAIR.last(), self.time - begin);
        if !self.knows_derivative {
            self.stages[last] = crew.field(&self.state);
            self.knows_derivative = true;
        }
        for i in last + 1..STAGES {
            self.stages[i] = crew.field(&advanced(&start, h, &self.stages[..i], &pair.a[i]));
        }
        let polynomial = Polynomial::new(pair, h, start, &self.state, &self.stages);
        while due.any() {
            let state = polynomial.at((self.next_sample - begin) / h);
            let change = numbers.change(&state);
            for lane in due.lanes() {
                let time = self.next_sample.lane(lane);
                let (state, change) = (in_lane(&state, lane), in_lane(&change, lane));
                let samples = crew.sample(lane, Sample { time, state, change });
                self.next_sample.set(lane, self.sample_time(samples));
            }
            due = due.and(self.next_sample.is_at_most(self.time));
        }
    }
}
