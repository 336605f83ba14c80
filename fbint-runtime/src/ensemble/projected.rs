//! Projections of members in lanes that each choose their steps.

use super::members::Numbers;
use super::proportion::{leave_rounding, out_of_proportion};
use crate::hold::projection::{Landing, MOST, Projection, Projector, mean_with, with_spikes};
use crate::numbers::lanes::{Lanes, Mask};
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::system::{FeedbackSystem, Integrals, Vector};

/// The projection of the members that have lanes, if there is one.
pub(super) struct LaneProjection<S: FeedbackSystem, const V: usize> {
    projection: Option<Projection>,
    projector: Option<Projector<S, Lanes<V>>>,
    /// The running means of the squared errors.
    mean: Vector<S, Lanes<V>>,
}

impl<S: FeedbackSystem, const V: usize> LaneProjection<S, V> {
    pub(super) fn new(projection: Option<Projection>) -> Self {
        Self { projection, projector: None, mean: filled(Scalar::from_f64(0.0)) }
    }

    /// Forgets the errors of the member that had this lane.
    pub(super) fn begin(&mut self, lane: usize) {
        self.mean.as_mut().iter_mut().for_each(|mean| mean.set(lane, 0.0));
    }

    pub(super) fn gather(&mut self, numbers: &Numbers<S, V>) {
        self.projector = self.projection.map(|projection| numbers.projector(projection));
    }

    /// Projects the ends of steps with these errors, and remembers the errors of those that have arrived; returns the lanes in which
    /// projections are out of proportion, and the squares of what projections may leave of the violations.
    pub(super) fn project(
        &mut self,
        arrived: Mask<V>,
        size: Lanes<V>,
        error: &Vector<S, Lanes<V>>,
        state: &mut Vector<S, Lanes<V>>,
    ) -> (Mask<V>, Option<Integrals<S, Lanes<V>>>) {
        let Some(projector) = &self.projector else { return (Mask::none(), None) };
        let (end, noise) = (*state, projector.noise(size));
        let squares = projector.squares(error, &end, size);
        let variances = with_spikes(&self.mean, &squares);
        let projected = projector.move_back(&variances, &noise, state);
        let mut landing = Landing { end, variances, projected, left: projected.violation };
        let may_be_left = leave_rounding(&noise, &mut landing, state);
        let mean = mean_with(&self.mean, &squares);
        arrived.replace_each(&mut self.mean, &mean);
        (out_of_proportion::<S, V>(&landing, MOST), Some(may_be_left))
    }
}
