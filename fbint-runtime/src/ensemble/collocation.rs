//! Members that take steps of Gauss's collocation side by side.
//!
//! Each member iterates its stages by the code of a run that is alone, and ends when it is done. What they share is the evaluation of
//! their fields: of one stage, with a lane for each member.

use std::cell::RefCell;
use std::vec::Vec;

use super::assigned_member::in_lane;
use super::block::{self, FixedStepLoop};
use super::gains::LaneFields;
use crate::entries::Entries;
use crate::facts::SystemFacts;
use crate::gauss::{Coefficients, Collocation};
use crate::lanes::Lanes;
use crate::linear::{filled, from_slice};
use crate::scalar::Scalar;
use crate::system::{FeedbackSystem, Vector};

/// Integrates from `start` with steps of size `h`. A member whose stages do not converge goes on with what is not a number.
pub(super) fn integrate<S: FeedbackSystem, const V: usize>(
    step_loop: &mut FixedStepLoop<'_, '_, '_, S, V>,
    fields: &dyn LaneFields<S, V>,
    start: Vector<S, Lanes<V>>,
    coefficients: Coefficients,
    h: f64,
) {
    let facts = step_loop.facts();
    let member = |lane| {
        let state: Vector<S> = in_lane(&start, lane);
        let mut collocation = Collocation::new(coefficients, h, facts.of_state::<S, _>(&state));
        collocation.learn_velocities(fields.coordinates(), |x| rates_of_member(fields, lane, x));
        MemberCollocation { state, collocation, is_done: false }
    };
    let members = RefCell::new((0..Lanes::<V>::COUNT).map(member).collect::<Vec<_>>());
    block::follow(step_loop, start, &|x, h| step(facts, &mut members.borrow_mut(), fields, x, h.lane(0)));
}

struct MemberCollocation<S: FeedbackSystem> {
    state: Vector<S>,
    collocation: Collocation,
    /// Whether it has reached the end of the step.
    is_done: bool,
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

/// A step of all members.
fn step<S: FeedbackSystem, const V: usize>(
    facts: &SystemFacts,
    members: &mut [MemberCollocation<S>],
    fields: &dyn LaneFields<S, V>,
    x: &mut Vector<S, Lanes<V>>,
    h: f64,
) {
    for (lane, member) in members.iter_mut().enumerate() {
        member.state = in_lane(x, lane);
        member.collocation.begin(facts.of_state::<S, _>(&member.state), h);
        member.is_done = false;
    }
    while members.iter().any(|member| !member.is_done) {
        evaluate(members, fields);
        for MemberCollocation { state, collocation, is_done } in members.iter_mut().filter(|member| !member.is_done) {
            let end = collocation.proceed(facts.of_state_mut::<S, _>(state), h);
            *is_done = end.is_some();
            if let Some(Err(_)) = end {
                *state = filled(f64::NAN);
            }
        }
    }
    *x = Entries::from_fn(|entry| Lanes::from_lanes(&|lane| members[lane].state[entry]));
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
