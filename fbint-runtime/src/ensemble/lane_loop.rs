//! The loop over steps of members side by side, whatever the method is.
//!
//! A member has a lane until it ends, and then the next one takes it. A member for which a simulation would stop, or would have to look
//! more closely, loses its lane: it runs alone.

use super::assignment::{LaneAssignment, Leave};
use super::gains::{AloneField, LaneFields};
use super::members::{Numbers, in_lane};
use super::progress::UNWATCHED;
use crate::error::Error;
use crate::numbers::entries::Entries;
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::scalar::Scalar;
use crate::system::{FeedbackSystem, Integrals, Vector};

/// A stepper for members in lanes.
pub(super) trait LaneStepper<S: FeedbackSystem, const V: usize> {
    /// Begins at the start of a member that takes a lane, or says why the member cannot start.
    fn begin(&mut self, lane: usize, field: AloneField<'_, S>, start: &Vector<S>) -> Result<(), Error>;
    /// Takes the numbers and the fields of the members that have lanes now.
    fn gather(&mut self, numbers: &Numbers<S, V>, fields: &dyn LaneFields<S, V>);
    /// Makes steps in the lanes that are under way, up to the next sample at most.
    fn advance(
        &mut self,
        under_way: Mask<V>,
        numbers: &Numbers<S, V>,
        fields: &dyn LaneFields<S, V>,
    ) -> LaneSteps<S, V>;
    /// Where those steps ended.
    fn end(&self) -> &Vector<S, Lanes<V>>;
    /// The states at times within the last of those steps.
    fn within(&mut self, times: Lanes<V>, fields: &dyn LaneFields<S, V>) -> Vector<S, Lanes<V>>;
    /// Continues from the ends of steps in the lanes that have arrived there.
    fn accept(&mut self, arrived: Mask<V>);
}

/// The outcomes of steps in lanes.
pub(super) struct LaneSteps<S: FeedbackSystem, const V: usize> {
    /// The number of steps, those that were rejected among them.
    pub(super) number: u64,
    /// The times at which they ended.
    pub(super) times: Lanes<V>,
    /// The lanes whose steps were not rejected.
    pub(super) arrived: Mask<V>,
    /// The lanes in which a simulation would have looked more closely, or stopped.
    pub(super) lost: Mask<V>,
    /// The squares of what projections may leave of the violations, if ends are projected.
    pub(super) may_be_left: Option<Integrals<S, Lanes<V>>>,
    /// The lanes that have reached the end of the run.
    pub(super) ended: Mask<V>,
}

impl<S: FeedbackSystem, const V: usize> LaneSteps<S, V> {
    /// The lanes in which projections, if there are any, have brought every integral closer to its target.
    #[inline(always)]
    fn are_closer(&self, change: &Integrals<S, Lanes<V>>) -> Mask<V> {
        let Some(most) = &self.may_be_left else { return Mask::all() };
        let is_closer = |i: usize| (change[i] * change[i]).is_at_most(most[i]);
        (0..Integrals::<S, Lanes<V>>::LEN).fold(Mask::all(), |all, i| all.and(is_closer(i)))
    }
}

/// Integrates all members of an assignment, who are sampled at `times`, the start and the end among them.
pub(super) fn integrate<S: FeedbackSystem, const V: usize>(
    assignment: &mut LaneAssignment<'_, '_, S, V>,
    fields: &mut dyn LaneFields<S, V>,
    stepper: &mut dyn LaneStepper<S, V>,
    times: &[f64],
) {
    let next_sample = Scalar::from_f64(f64::INFINITY);
    let mut lane_loop =
        LaneLoop { assignment, fields, stepper, times, under_way: Mask::none(), next_sample, unwatched: 0 };
    let mut vacant = Mask::all();
    while let Some(numbers) = lane_loop.fill(vacant) {
        vacant = lane_loop.until_someone_leaves(&numbers);
    }
}

struct LaneLoop<'a, 'c, 'm, S: FeedbackSystem, const V: usize> {
    assignment: &'a mut LaneAssignment<'c, 'm, S, V>,
    fields: &'a mut dyn LaneFields<S, V>,
    stepper: &'a mut dyn LaneStepper<S, V>,
    times: &'a [f64],
    /// The lanes that have a member.
    under_way: Mask<V>,
    /// When the next sample is taken, between the start and the end.
    next_sample: Lanes<V>,
    /// The number of steps since it was asked whether the runs go on.
    unwatched: u64,
}

impl<S: FeedbackSystem, const V: usize> LaneLoop<'_, '_, '_, S, V> {
    /// Gives vacant lanes to the next members; returns the numbers of those that have lanes then, if there are any.
    fn fill(&mut self, vacant: Mask<V>) -> Option<Numbers<S, V>> {
        for lane in vacant.lanes() {
            let stepper = &mut *self.stepper;
            let mut begin = |field: AloneField<'_, S>, start: &Vector<S>| stepper.begin(lane, field, start);
            let is_taken = self.assignment.assign(lane, self.fields, &mut begin);
            self.under_way = self.under_way.with(lane, is_taken);
            self.next_sample.set(lane, self.sample_time(1));
        }
        self.under_way.any().then(|| {
            let numbers = self.assignment.gather(self.fields);
            self.stepper.gather(&numbers, self.fields);
            numbers
        })
    }

    /// When the sample of that number is taken, unless it is the end.
    fn sample_time(&self, number: usize) -> f64 {
        if number + 1 < self.times.len() { self.times[number] } else { f64::INFINITY }
    }

    /// Makes steps until members leave lanes for others, which are returned. When the runs are over, all leave, and none is for others.
    fn until_someone_leaves(&mut self, numbers: &Numbers<S, V>) -> Mask<V> {
        loop {
            if self.unwatched >= UNWATCHED {
                self.unwatched = 0;
                if !self.assignment.goes_on() {
                    self.leave(self.under_way, Leave::Interrupted);
                    return Mask::none();
                }
            }
            let steps = self.stepper.advance(self.under_way, numbers, self.fields);
            self.unwatched += steps.number;
            let leaving = self.finish(&steps, numbers);
            self.stepper.accept(steps.arrived);
            if leaving.any() {
                return leaving;
            }
        }
    }

    /// Samples steps; returns the lanes whose members leave.
    fn finish(&mut self, steps: &LaneSteps<S, V>, numbers: &Numbers<S, V>) -> Mask<V> {
        let end = self.stepper.end();
        let change = numbers.change(end);
        let arrived = self.under_way.and(steps.arrived);
        let good = arrived.and_not(steps.lost).and(numbers.is_good(end, &change)).and(steps.are_closer(&change));
        let due = good.and(self.next_sample.is_at_most(steps.times));
        if due.any() {
            self.sample_within(due, steps.times, numbers);
        }
        let (ended, lost) = (good.and(steps.ended), self.under_way.and(steps.lost).or(arrived.and_not(good)));
        for lane in ended.lanes() {
            let (state, change) = (in_lane(self.stepper.end(), lane), in_lane(&change, lane));
            self.assignment.sample(lane, steps.times.lane(lane), &state, &change);
        }
        self.leave(ended, Leave::Ended);
        self.leave(lost, Leave::Lost);
        ended.or(lost)
    }

    /// Takes the samples that are due in these lanes in steps to these times.
    #[inline(never)]
    fn sample_within(&mut self, mut due: Mask<V>, until: Lanes<V>, numbers: &Numbers<S, V>) {
        while due.any() {
            let state = self.stepper.within(self.next_sample, self.fields);
            let change = numbers.change(&state);
            for lane in due.lanes() {
                let (state, change) = (in_lane(&state, lane), in_lane(&change, lane));
                let samples = self.assignment.sample(lane, self.next_sample.lane(lane), &state, &change);
                self.next_sample.set(lane, self.sample_time(samples));
            }
            due = due.and(self.next_sample.is_at_most(until));
        }
    }

    fn leave(&mut self, lanes: Mask<V>, why: Leave) {
        lanes.lanes().for_each(|lane| self.assignment.leave(lane, why));
        self.under_way = self.under_way.and_not(lanes);
    }
}
