//! Runs, samples and occurrences for files of any format: states are lists of numbers in the order of
//! [`SystemFacts::state`](crate::SystemFacts::state).

use serde::ser::SerializeStruct;
use serde::{Serialize, Serializer};

use super::drift::Drift;
use super::run::{Occurrence, Run};
use super::samples::Sample;
use crate::system::{FeedbackSystem, Vector};

impl Serialize for Drift {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        serializer.collect_seq(self.integrals())
    }
}

impl<S: FeedbackSystem> Serialize for Sample<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut fields = serializer.serialize_struct("Sample", 3)?;
        fields.serialize_field("time", &self.time)?;
        fields.serialize_field("state", self.state.as_ref())?;
        fields.serialize_field("change", self.change.as_ref())?;
        fields.end()
    }
}

impl<S: FeedbackSystem> Serialize for Occurrence<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let Self { event, name, time, state, reset } = self;
        let [state, reset] =
            [Some(state), reset.as_ref()].map(|state| state.map(|state| Into::<Vector<S>>::into(state.clone())));
        let mut fields = serializer.serialize_struct("Occurrence", 5)?;
        fields.serialize_field("event", event)?;
        fields.serialize_field("name", name)?;
        fields.serialize_field("time", time)?;
        fields.serialize_field("state", &state.as_ref().map(AsRef::as_ref))?;
        fields.serialize_field("reset", &reset.as_ref().map(AsRef::as_ref))?;
        fields.end()
    }
}

/// Everything but the polynomials of a dense run.
impl<S: FeedbackSystem> Serialize for Run<S> {
    fn serialize<Z: Serializer>(&self, serializer: Z) -> Result<Z::Ok, Z::Error> {
        let mut fields = serializer.serialize_struct("Run", 9)?;
        fields.serialize_field("time", &self.time)?;
        fields.serialize_field("state", self.state.as_ref())?;
        fields.serialize_field("trajectory", &self.trajectory)?;
        fields.serialize_field("steps", &self.steps)?;
        fields.serialize_field("evaluations", &self.evaluations)?;
        fields.serialize_field("projection", &self.projection)?;
        fields.serialize_field("drift", self.drift())?;
        fields.serialize_field("events", &self.events)?;
        fields.serialize_field("ended_by", &self.end)?;
        fields.end()
    }
}
