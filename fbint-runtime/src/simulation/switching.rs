//! The sides of its switches that a run holds.
//!
//! At the start, after a reset and where a switch is met, the run has to know on which side it continues. Where the function of the switch is
//! not 0, that is its sign. Where it is 0, either side is tried: one that leads away from 0 on its own side is taken. If both sides lead
//! back and the field jumps, the motion slides between them. If neither decides, as at rest, no side is held, and the state decides.

use super::event::Event;
use crate::field::Field;
use crate::field::sides::Side;
use crate::numbers::linear::from_slice;
use crate::system::{FeedbackSystem, SystemFacts, Vector};

/// A jump of a rate below this part of it is rounding.
const JUMP: f64 = 1e-8;
/// A switch is met within this part of the time.
const ROUNDING: f64 = 1e-7;

/// A field on slices whose switches are held on sides.
pub(super) trait Switching {
    /// The number of switches.
    fn count(&self) -> usize;
    /// Holds the inputs from a time on, and the switches on these sides.
    fn hold(&mut self, time: f64, sides: &[Side]);
    /// The rates in a state.
    fn rates(&self, state: &[f64]) -> Vec<f64>;
    /// The functions of the switches, and the inputs, in a state.
    fn switches(&self, state: &[f64]) -> (Vec<f64>, Vec<f64>);
    /// The rate of the function of a switch in a state.
    fn switch_rate(&self, state: &[f64], place: usize) -> f64;
}

/// The functions of the switches of a field, and its inputs, in a state.
pub(super) fn switches<S: FeedbackSystem, F: Field<Vector = Vector<S>>>(
    facts: &SystemFacts,
    field: &F,
    state: &[f64],
) -> (Vec<f64>, Vec<f64>) {
    let (mut values, mut inputs) = (vec![0.0; facts.switches.len()], vec![0.0; facts.input_names.len()]);
    let x = from_slice(state);
    field.switches(&x, &mut values);
    field.inputs(&x, &mut inputs);
    (values, inputs)
}

/// Appends what events take besides the state.
pub(super) type AppendSwitches<'f> = &'f dyn Fn(&mut Vec<f64>);

/// Appends what events take besides the state: functions that are positive on the sides that are held, and the inputs.
pub(super) fn append(
    facts: &SystemFacts,
    sides: &[Side],
    switches: impl Fn(&[f64]) -> (Vec<f64>, Vec<f64>),
    state: &mut Vec<f64>,
) {
    if facts.has_switches() || !(facts.events.is_empty() || facts.input_names.is_empty()) {
        let (values, inputs) = switches(state);
        state.extend(sides.iter().zip(values).map(|(side, value)| side.held(value)));
        state.extend(inputs);
    }
}

/// The events at which a run changes the sides of its switches. Their functions follow the entries of the state.
pub(super) fn switch_events<'a>(facts: &'static SystemFacts) -> impl Iterator<Item = Event<'a, Vec<f64>>> {
    let first = facts.state.len();
    (first..).zip(facts.switches).map(|(place, name)| Event::switch(name, place))
}

/// The sides on which a run continues from a state: the sides before, if it has any, but for the switches that were met, and for those whose
/// functions have jumped to the other side.
pub(super) fn sides_from(
    field: &mut dyn Switching,
    (time, state): (f64, &[f64]),
    before: Option<&[Side]>,
    met: &[usize],
) -> Vec<Side> {
    let mut sides = before.map_or_else(|| vec![Side::Free; field.count()], <[Side]>::to_vec);
    field.hold(time, &sides);
    let (mut values, _) = field.switches(state);
    let mut open = met.to_vec();
    if before.is_none() {
        sides = values.iter().map(|value| of_sign(*value)).collect();
        open = (0..values.len()).filter(|place| values[*place] == 0.0).collect();
    }
    let mut is_decided = vec![false; sides.len()];
    loop {
        for place in open {
            let choice = Choice::at(field, (time, state), &mut sides, place);
            sides[place] = choice.side(sides[place], values[place], time);
            is_decided[place] = true;
        }
        field.hold(time, &sides);
        (values, _) = field.switches(state);
        open =
            (0..sides.len()).filter(|place| !is_decided[*place] && sides[*place].held(values[*place]) < 0.0).collect();
        if open.is_empty() {
            return sides;
        }
    }
}

/// The side of a number; of 0 none.
fn of_sign(value: f64) -> Side {
    match value {
        value if value > 0.0 => Side::Positive,
        value if value < 0.0 => Side::Negative,
        _ => Side::Free,
    }
}

/// The consequence of either side of a switch.
struct Choice {
    /// The rate of the function of the switch on the positive and on the negative side.
    rates: [f64; 2],
    /// `true` if the field jumps from one side to the other.
    jumps: bool,
}

impl Choice {
    fn at(field: &mut dyn Switching, (time, state): (f64, &[f64]), sides: &mut [Side], place: usize) -> Self {
        let own = sides[place];
        let mut on = |side: Side| {
            sides[place] = side;
            field.hold(time, sides);
            (field.switch_rate(state, place), field.rates(state))
        };
        let [(rise, above), (fall, below)] = [Side::Positive, Side::Negative].map(&mut on);
        sides[place] = own;
        let jumps = above.iter().zip(&below).any(|(a, b)| (a - b).abs() > JUMP * (a.abs() + b.abs()));
        Self { rates: [rise, fall], jumps }
    }

    /// The side on which to go on after one, where the function has this value, which may be rounding.
    fn side(&self, before: Side, value: f64, time: f64) -> Side {
        let [rise, fall] = self.rates;
        match before {
            // It leaves on the side that no longer leads back.
            Side::Sliding if rise.abs() < fall.abs() => Side::Positive,
            Side::Sliding => Side::Negative,
            // What is as large as this is no rounding of a place that was met.
            _ if value.abs() > ROUNDING * time.abs() * (rise.abs() + fall.abs()) => of_sign(value),
            _ if rise == 0.0 && fall == 0.0 => of_sign(value),
            _ if !self.jumps => of_sign(rise + fall),
            _ if rise > 0.0 && fall > 0.0 => Side::Positive,
            _ if rise < 0.0 && fall < 0.0 => Side::Negative,
            _ if rise <= 0.0 && fall >= 0.0 => Side::Sliding,
            // Both lead away: it crosses.
            Side::Positive => Side::Negative,
            _ => Side::Positive,
        }
    }
}
