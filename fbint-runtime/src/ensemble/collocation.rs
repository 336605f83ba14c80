//! Members that take steps of Gauss's collocation side by side.
//!
//! Each member iterates its stages by the code of a run that is alone, and ends when it is done. They share the evaluation of their fields:
//! of one stage, with a lane for each member.

use std::vec::Vec;

use super::gains::LaneFields;
use super::members::in_lane;
use crate::method::gauss::{Coefficients, Collocation};
use crate::numbers::entries::Entries;
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::linear::{filled, from_slice};
use crate::numbers::scalar::Scalar;
use crate::system::{FeedbackSystem, StateEntry, SystemFacts, Vector};

/// The collocations of all members.
pub(super) struct Collocations<S: FeedbackSystem>(Vec<MemberCollocation<S>>);

struct MemberCollocation<S: FeedbackSystem> {
    state: Vector<S>,
    collocation: Collocation,
    /// `true` if it has reached the end of the step.
    is_done: bool,
}

impl<S: FeedbackSystem> Collocations<S> {
    /// Steps of size `h` from these starts.
    pub(super) fn new<const V: usize>(
        coefficients: Coefficients,
        h: f64,
        facts: &SystemFacts,
        starts: &Vector<S, Lanes<V>>,
        fields: &dyn LaneFields<S, V>,
    ) -> Self {
        let member = |lane| {
            let state: Vector<S> = in_lane(starts, lane);
            let continues = |entry| StateEntry::continues(facts.state, entry);
            let own = facts.of_state::<S, _>(&state);
            let mut collocation = Collocation::new(coefficients, h, own, continues, facts.clock);
            collocation.learn_velocities(fields.coordinates(), |x| rates_of_member(fields, lane, x));
            MemberCollocation { state, collocation, is_done: false }
        };
        Self((0..Lanes::<V>::COUNT).map(member).collect())
    }

    /// A step of the members that are under way. A member whose stages do not converge continues with NaN.
    pub(super) fn step<const V: usize>(
        &mut self,
        under_way: Mask<V>,
        facts: &SystemFacts,
        fields: &dyn LaneFields<S, V>,
        x: &mut Vector<S, Lanes<V>>,
        h: f64,
    ) {
        let Self(members) = self;
        for (lane, member) in members.iter_mut().enumerate() {
            member.state = in_lane(x, lane);
            member.collocation.begin(facts.of_state::<S, _>(&member.state), h);
            member.is_done = !under_way.has(lane);
        }
        while members.iter().any(|member| !member.is_done) {
            evaluate(members, fields);
            for MemberCollocation { state, collocation, is_done } in members.iter_mut().filter(|member| !member.is_done)
            {
                let end = collocation.proceed(facts.of_state_mut::<S, _>(state), h);
                *is_done = end.is_some();
                if let Some(Err(_)) = end {
                    *state = filled(f64::NAN);
                }
            }
        }
        *x = Entries::from_fn(|entry| Lanes::from_lanes(&|lane| members[lane].state[entry]));
    }
}

/// The field of one member in one state.
fn rates_of_member<S: FeedbackSystem, const V: usize>(
    fields: &dyn LaneFields<S, V>,
    lane: usize,
    x: &[f64],
) -> Vec<f64> {
    let x: Vector<S> = from_slice(x);
    let at = Entries::from_fn(|entry| Lanes::from_f64(x[entry]));
    let mut rates: Vector<S, Lanes<V>> = filled(Lanes::from_f64(0.0));
    fields.value(&at, &mut rates);
    in_lane::<Vector<S>, _, V>(&rates, lane).as_ref().to_vec()
}

/// Evaluates the fields of all members in one stage after the other.
fn evaluate<S: FeedbackSystem, const V: usize>(members: &mut [MemberCollocation<S>], fields: &dyn LaneFields<S, V>) {
    let mut rates: Vector<S, Lanes<V>> = filled(Lanes::from_f64(0.0));
    let stages = members[0].collocation.count();
    for stage in 0..stages {
        let number = |lane: usize, entry: usize| {
            members[lane].collocation.stages.get(entry * stages + stage).copied().unwrap_or_default()
        };
        let at = Entries::from_fn(|entry| Lanes::from_lanes(&|lane| number(lane, entry)));
        fields.value(&at, &mut rates);
        for (lane, member) in members.iter_mut().enumerate() {
            let places = member.collocation.rates.iter_mut().skip(stage).step_by(stages);
            places.zip(rates).for_each(|(place, rate)| *place = rate.lane(lane));
        }
    }
}
