//! A field under the laws of its inputs.

use crate::numbers::scalar::Scalar;
use crate::system::{FeedbackSystem, PreparedSystem, Vector};

/// The distance at which a central difference errs about as much by its length as by rounding, the cube root of epsilon.
pub(crate) const DIFFERENCE: f64 = 6e-6;

/// Whether inputs follow their laws, or have the numbers of the prepared system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Laws {
    Followed,
    Held,
}

impl Laws {
    /// The system with its inputs in a state, which takes `place` where they follow laws.
    #[inline(always)]
    pub(crate) fn apply<'s, S: FeedbackSystem, T: Scalar>(
        self,
        system: &'s S::Prepared<T>,
        x: &Vector<S, T>,
        place: &'s mut Option<S::Prepared<T>>,
    ) -> &'s S::Prepared<T> {
        if self == Self::Followed { under_law::<S, T>(system, x, place) } else { system }
    }
}

/// The system under the laws of its inputs in a state, which takes `place` if there are any.
#[inline(always)]
pub(crate) fn under_law<'s, S: FeedbackSystem, T: Scalar>(
    system: &'s S::Prepared<T>,
    x: &Vector<S, T>,
    place: &'s mut Option<S::Prepared<T>>,
) -> &'s S::Prepared<T> {
    if system.facts().has_laws() { place.insert(system.under_law(x)) } else { system }
}

/// A function that adds to an entry of a Jacobian, by its row and its column.
type AddEntry<'a, T> = dyn FnMut(usize, usize, T) + 'a;

/// The Jacobian of the field of a prepared system, by the state and the inputs; false where it is not known.
type JacobianOf<'a, P, T> = dyn FnMut(&P, &mut AddEntry<'_, T>) -> bool + 'a;

/// The Jacobian of a field under the laws of its inputs, by the chain rule; `jacobian` differentiates the field of a prepared system by the
/// state and the inputs.
pub(crate) fn under_laws<S: FeedbackSystem, T: Scalar>(
    (system, laws): (&S::Prepared<T>, Laws),
    x: &Vector<S, T>,
    jacobian: &mut JacobianOf<'_, S::Prepared<T>, T>,
    add: &mut AddEntry<'_, T>,
) -> bool {
    let facts = system.facts();
    if !facts.has_laws() || laws == Laws::Held {
        return jacobian(system, add);
    }
    let (states, mut is_known) = (facts.state.len(), false);
    system.with_law_slopes(x, &mut |system, slope| {
        is_known = jacobian(system, &mut |row, column, value| match column.checked_sub(states) {
            None => add(row, column, value),
            Some(input) => (0..states).for_each(|entry| add(row, entry, value * slope(input, entry))),
        });
    });
    is_known
}
