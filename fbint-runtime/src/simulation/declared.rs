//! The events that are declared with a system.

use std::rc::Rc;

use super::event::Event;
use crate::numbers::linear::from_slice;
use crate::system::{DeclaredEvent, FeedbackSystem, SystemFacts};

/// Puts what events are made of in a state into a list.
type Values<'a> = Rc<dyn Fn(&[f64]) -> Vec<f64> + 'a>;

/// The events that are declared with a system, on flat states.
pub(super) fn declared_events<S: FeedbackSystem>(system: &S) -> Vec<Event<'_, Vec<f64>>> {
    let facts = system.facts();
    if facts.events.is_empty() {
        return Vec::new();
    }
    let count = facts.event_values();
    events_of(
        facts,
        &(Rc::new(move |state: &[f64]| {
            let mut values = vec![0.0; count];
            // The inputs follow the entries of the state and the functions of the switches.
            let (own, appended) = state.split_at(facts.state.len());
            let inputs = appended.get(facts.switches.len()..).unwrap_or_default();
            system.events_at(&from_slice(own), inputs, &mut values);
            values
        }) as Values<'_>),
    )
}

/// See [`declared_events`]; compiled once for all systems.
fn events_of<'a>(facts: &'static SystemFacts, values: &Values<'a>) -> Vec<Event<'a, Vec<f64>>> {
    facts.events.iter().map(|event| event_of(event, facts.state.len(), values)).collect()
}

fn event_of<'a>(declared: &'static DeclaredEvent, entries: usize, values: &Values<'a>) -> Event<'a, Vec<f64>> {
    let DeclaredEvent { name, direction, is_terminal, count, value, conditions: [first, end], reset, .. } = *declared;
    let at = |values: &Values<'a>| Rc::clone(values);
    let of = at(values);
    let mut event = Event::new(name, move |_, state: &Vec<f64>| of(state)[value]).directed(direction);
    if is_terminal {
        event = event.count(count.unwrap_or(1));
    }
    if first < end {
        let of = at(values);
        event = event.when(move |_, state| of(state)[first..end].iter().all(|condition| *condition > 0.0));
    }
    match reset {
        Some(first) => {
            let of = at(values);
            event.reset(move |_, state| of(state)[first..first + entries].to_vec())
        }
        None => event,
    }
}
