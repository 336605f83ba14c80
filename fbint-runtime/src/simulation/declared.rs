//! The events that are declared with a system.

use std::ops::Deref;
use std::sync::{Arc, Mutex, PoisonError};

use super::event::Event;
use crate::numbers::linear::from_slice;
use crate::system::{DeclaredEvent, FeedbackSystem, SystemFacts};

/// Puts the values of all events in a state into a list.
pub(super) type Evaluate<'a> = Box<dyn Fn(&[f64], &mut [f64]) + Send + 'a>;

/// The functions of all events. A run looks at one event after the other in each state, so that the last state is remembered.
struct Values<'a> {
    evaluate: Evaluate<'a>,
    state: Vec<f64>,
    values: Vec<f64>,
}

/// The functions, which the events share.
type Shared<'a> = Arc<Mutex<Values<'a>>>;

/// The part of the values in a state that `read` finds.
fn at<T>(shared: &Shared<'_>, state: &[f64], read: impl FnOnce(&[f64]) -> T) -> T {
    let mut shared = shared.lock().unwrap_or_else(PoisonError::into_inner);
    let Values { evaluate, state: known, values } = &mut *shared;
    if !known.iter().map(|entry| entry.to_bits()).eq(state.iter().map(|entry| entry.to_bits())) {
        // Nothing is known if the evaluation panics.
        known.clear();
        evaluate(state, values);
        known.extend_from_slice(state);
    }
    read(values)
}

/// The events that are declared with a system, on flat states.
pub(super) fn declared_events<'a, S: FeedbackSystem>(
    system: impl Deref<Target = S> + Send + 'a,
) -> Vec<Event<'a, Vec<f64>>> {
    let facts = system.facts();
    if facts.events.is_empty() {
        return Vec::new();
    }
    let (entries, switches) = (facts.state.len(), facts.switches.len());
    events_of(
        facts,
        Box::new(move |state, values| {
            // The inputs follow the entries of the state and the functions of the switches.
            let (own, appended) = state.split_at(entries);
            let inputs = appended.get(switches..).unwrap_or_default();
            system.events_at(&from_slice(own), inputs, values);
        }),
    )
}

/// See [`declared_events`]; compiled once for all systems.
pub(super) fn events_of<'a>(facts: &'static SystemFacts, evaluate: Evaluate<'a>) -> Vec<Event<'a, Vec<f64>>> {
    let values = Values { evaluate, state: Vec::new(), values: vec![0.0; facts.event_values()] };
    let values = Arc::new(Mutex::new(values));
    facts.events.iter().map(|event| event_of(event, facts.state.len(), &values)).collect()
}

fn event_of<'a>(declared: &'static DeclaredEvent, entries: usize, values: &Shared<'a>) -> Event<'a, Vec<f64>> {
    let DeclaredEvent { name, direction, is_terminal, count, value, conditions: [first, end], reset, .. } = *declared;
    let own = Arc::clone(values);
    let mut event =
        Event::new(name, move |_, state: &Vec<f64>| at(&own, state, |values| values[value])).directed(direction);
    if is_terminal {
        event = event.count(count.unwrap_or(1));
    }
    if first < end {
        let own = Arc::clone(values);
        let holds = move |values: &[f64]| values[first..end].iter().all(|condition| *condition > 0.0);
        event = event.when(move |_, state| at(&own, state, holds));
    }
    match reset {
        Some(first) => {
            let own = Arc::clone(values);
            event.reset(move |_, state| at(&own, state, |values| values[first..first + entries].to_vec()))
        }
        None => event,
    }
}
