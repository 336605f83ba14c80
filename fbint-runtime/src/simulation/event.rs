//! Events: functions of time and state whose zeros a run finds, records, and may end or be reset at.
//!
//! Each step is searched for changes of sign. One that is bracketed is located by ITP (Oliveira and Takahashi, 2020): a secant that is drawn
//! towards the middle of the interval, never slower than bisection by more than one evaluation. A run without events does not come here.

use core::fmt;

use crate::numbers::entries::Entries;
use crate::numbers::linear::from_slice;
use crate::system::CrossingDirection;

/// An event: a function of the time and of the state `X`, with a zero that a simulation looks for.
///
/// The function's value is finite at all times of the run and changes its sign where the event occurs, such as the distance to a wall. By
/// default every change of sign is recorded, and the run continues. [`rising`](Self::rising) and [`falling`](Self::falling) choose one
/// direction, [`terminal`](Self::terminal) ends the run, [`reset`](Self::reset) replaces the state. See
/// [`Simulation::event`](crate::Simulation::event).
pub struct Event<'a, X> {
    pub(crate) name: String,
    pub(crate) value: EventFunction<'a, X>,
    direction: CrossingDirection,
    pub(crate) is_terminal: bool,
    /// The number of the occurrence that ends the run.
    pub(crate) count: u64,
    pub(crate) condition: Option<Condition<'a, X>>,
    pub(crate) reset: Option<Reset<'a, X>>,
    /// `true` if the field switches there, which ends a step and is not recorded.
    pub(crate) is_switch: bool,
}

/// The function that passes 0.
type EventFunction<'a, X> = Box<dyn Fn(f64, &X) -> f64 + Send + 'a>;

/// The function that replaces the state.
type Reset<'a, X> = Box<dyn Fn(f64, &X) -> X + Send + 'a>;

/// The function that says whether an event counts.
type Condition<'a, X> = Box<dyn Fn(f64, &X) -> bool + Send + 'a>;

impl<'a, X> Event<'a, X> {
    /// An event at the zeros of a function of the time and the state, in both directions. Errors and
    /// [`Occurrence`](crate::Occurrence) have its name.
    pub fn new(name: impl Into<String>, value: impl Fn(f64, &X) -> f64 + Send + 'a) -> Self {
        let (name, value) = (name.into(), Box::new(value));
        Self {
            name,
            value,
            direction: CrossingDirection::Any,
            is_terminal: false,
            count: 1,
            condition: None,
            reset: None,
            is_switch: false,
        }
    }

    /// This event where its function passes from negative to positive alone.
    pub fn rising(self) -> Self {
        Self { direction: CrossingDirection::Rising, ..self }
    }

    /// This event where its function passes from positive to negative alone.
    pub fn falling(self) -> Self {
        Self { direction: CrossingDirection::Falling, ..self }
    }

    /// This event as the end of the run.
    pub fn terminal(self) -> Self {
        Self { is_terminal: true, ..self }
    }

    /// This event as the end of the run at its occurrence of this number, 1 being the first.
    pub fn count(self, number: u64) -> Self {
        Self { is_terminal: true, count: number, ..self }
    }

    /// This event where a function of the time and the state is true alone.
    pub fn when(self, condition: impl Fn(f64, &X) -> bool + Send + 'a) -> Self {
        Self { condition: Some(Box::new(condition)), ..self }
    }

    /// This event where its function passes 0 in one direction.
    pub(crate) fn directed(self, direction: CrossingDirection) -> Self {
        Self { direction, ..self }
    }

    /// This event with a function of the time and the state that gives the state after it, which is moved to one nearby that satisfies
    /// the constraints, as by [`ConsistentStart`](crate::ConsistentStart). The time itself stays, also where it is part of the state.
    ///
    /// The run continues as one that starts there: the energy and the invariants have new targets, and no derivative of
    /// before is used any more. A reset has to lead away from the event, or on across it: where its function rests at 0 afterwards, or
    /// where the event occurs again within 4e-9 of the time since the run began, or after a shorter flight than the last in which its
    /// function stays within 10,000 roundings of its terms, the run ends with
    /// [`Cause::Accumulation`](crate::Cause::Accumulation). A sample at the time of the reset has the state before it. Where the event is
    /// terminal, too, the run ends with the state after it.
    pub fn reset(self, reset: impl Fn(f64, &X) -> X + Send + 'a) -> Self {
        Self { reset: Some(Box::new(reset)), ..self }
    }

    /// This event on flat states, which have the first entries of a `V`.
    #[doc(hidden)]
    pub fn flat<V: Entries<f64>>(self, dimension: usize) -> Event<'a, Vec<f64>>
    where
        X: From<V> + Into<V> + 'a,
    {
        let Self { name, value, direction, is_terminal, count, condition, reset, is_switch } = self;
        let shaped = move |state: &Vec<f64>| X::from(from_slice::<V>(&state[..dimension]));
        let reset = reset.map(|reset| -> Reset<'a, Vec<f64>> {
            Box::new(move |time, state| reset(time, &shaped(state)).into().as_ref()[..dimension].to_vec())
        });
        let condition = condition.map(|condition| -> Condition<'a, Vec<f64>> {
            Box::new(move |time, state| condition(time, &shaped(state)))
        });
        let value = Box::new(move |time, state: &Vec<f64>| value(time, &shaped(state)));
        Event { name, value, direction, is_terminal, count, condition, reset, is_switch }
    }

    /// Returns `true` if it occurs where its function goes from one value to another, which are not both 0.
    pub(crate) fn occurs(&self, from: f64, to: f64) -> bool {
        let is_rising = from < 0.0 && to >= 0.0;
        let is_falling = from > 0.0 && to <= 0.0;
        match self.direction {
            CrossingDirection::Any => is_rising || is_falling,
            CrossingDirection::Rising => is_rising,
            CrossingDirection::Falling => is_falling,
        }
    }

    /// Returns `true` if the run does not simply go on after its occurrence of this number.
    pub(crate) fn stops(&self, number: u64) -> bool {
        self.ends(number) || self.reset.is_some() || self.is_switch
    }

    /// Returns `true` if its occurrence of this number ends the run.
    pub(crate) fn ends(&self, number: u64) -> bool {
        self.is_terminal && number >= self.count
    }

    /// Returns `true` if the run does not simply go on after its next occurrence, whatever happened before.
    pub(crate) fn always_stops(&self) -> bool {
        self.stops(1) && self.condition.is_none()
    }
}

impl<'a> Event<'a, Vec<f64>> {
    /// Where a number that follows the entries of a state passes from positive to negative, as the field switches there.
    pub(crate) fn switch(name: &str, place: usize) -> Self {
        Self { is_switch: true, ..Self::new(name, move |_, state: &Vec<f64>| state[place]).falling() }
    }
}

// By hand, because functions cannot be printed.
impl<X> fmt::Debug for Event<'_, X> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { name, direction, is_terminal, .. } = self;
        let mut shown = out.debug_struct("Event");
        shown
            .field("name", name)
            .field("direction", direction)
            .field("is_terminal", is_terminal)
            .finish_non_exhaustive()
    }
}

/// A function in an interval at whose ends it has different signs, or which ends at a zero.
#[derive(Clone, Copy, Debug)]
pub(crate) struct BracketingInterval {
    pub(crate) from: f64,
    pub(crate) until: f64,
    /// The function where the interval begins, which is not 0.
    pub(crate) first: f64,
    /// The function where it ends.
    pub(crate) last: f64,
}

/// The length of an interval that no bisection can improve: four spacings of the doubles at its ends.
pub(crate) fn resolution(from: f64, until: f64) -> f64 {
    4.0 * f64::EPSILON * from.abs().max(until.abs())
}

/// The end of the last interval around a zero of `function`, or a zero itself, by ITP with kappa_1 = 0.2 / length, kappa_2 = 2 and
/// n_0 = 1.
pub(crate) fn locate<E>(
    interval: BracketingInterval,
    mut function: impl FnMut(f64) -> Result<f64, E>,
) -> Result<f64, E> {
    let BracketingInterval { from: mut a, until: mut b, first: mut at_a, last: mut at_b } = interval;
    let tolerance = resolution(a, b);
    // How far the next point may be from the middle: so far that bisection with one evaluation more is not beaten.
    let mut reach = tolerance.max(f64::MIN_POSITIVE);
    while reach < b - a {
        reach *= 2.0;
    }
    let slope = 0.2 / (b - a);
    while b - a > tolerance && at_b != 0.0 {
        let half = 0.5 * (b - a);
        let middle = a + half;
        let secant = a + (b - a) * (at_a / (at_a - at_b));
        let towards = (middle - secant).signum();
        let truncated = slope * (b - a) * (b - a);
        let drawn = if truncated < (middle - secant).abs() { secant + towards * truncated } else { middle };
        let room = (reach - half).max(0.0);
        let next = if (drawn - middle).abs() <= room { drawn } else { middle - towards * room };
        // Where doubles end, or the secant is not a number.
        let next = if a < next && next < b { next } else { middle };
        if !(a < next && next < b) {
            break;
        }
        let value = function(next)?;
        if (value < 0.0) == (at_a < 0.0) && value != 0.0 {
            (a, at_a) = (next, value);
        } else {
            (b, at_b) = (next, value);
        }
        reach *= 0.5;
    }
    Ok(b)
}

#[cfg(test)]
mod tests {
    use std::convert::Infallible;

    use super::{BracketingInterval, locate};

    /// The zero of a function between two times, and how many evaluations it took.
    fn root(function: impl Fn(f64) -> f64, from: f64, until: f64) -> (f64, u32) {
        let mut evaluations = 0;
        let interval = BracketingInterval { from, until, first: function(from), last: function(until) };
        let root = locate(interval, |t| {
            evaluations += 1;
            Ok::<_, Infallible>(function(t))
        });
        (root.unwrap(), evaluations)
    }

    #[test]
    fn roots_are_found_to_the_spacing_of_doubles() {
        type Function = fn(f64) -> f64;
        let smooth: [(Function, f64, f64, f64); 5] = [
            (f64::cos, 1.0, 2.0, std::f64::consts::FRAC_PI_2),
            (|t| t.exp() - 2.0, -1.0, 3.0, std::f64::consts::LN_2),
            (|t| 1.0 - t * t, 0.0, 40.0, 1.0),
            (|t| (t - 1e-3) * 1e-300, 0.0, 1.0, 1e-3),
            (|t| t - 1e6 - 0.5, 1e6, 1e6 + 1.0, 1e6 + 0.5),
        ];
        for (function, from, until, exact) in smooth {
            let (found, evaluations) = root(function, from, until);
            assert!((found - exact).abs() <= 1e-15 * until.abs(), "{found:?} instead of {exact:?}");
            assert!(evaluations < 20, "{evaluations}");
        }
    }

    #[test]
    fn no_function_takes_more_than_bisection() {
        let (found, evaluations) = root(|t| (t - 0.3).powi(21), 0.0, 1.0);
        assert!((found - 0.3).abs() < 1e-12 && evaluations < 55, "{found:?} after {evaluations}");
        let (found, evaluations) = root(|t| if t < 0.7 { -1e-9 } else { 1e9 }, 0.0, 1.0);
        assert!((found - 0.7).abs() < 1e-15 && found >= 0.7 && evaluations < 55, "{found:?} after {evaluations}");
    }

    #[test]
    fn a_zero_at_the_end_is_the_end() {
        assert_eq!(root(|t| t - 1.0, 0.0, 1.0), (1.0, 0));
    }
}
