//! A run as its parts from one reset to the next, whatever its system is.

use super::run::FlatRun;
use super::run_loop::{Pace, RunLoop, Segment};
use super::schedule::Schedule;
use super::stepper::StepEnds;
use super::steppers::StepControl;
use super::switching::{Switching, append, switches};
use crate::error::Error;
use crate::field::sides::Side;
use crate::field::{Driver, Field};
use crate::hold::projection::{Lander, Projection, Projector};
use crate::method::settings::Stepping;
use crate::numbers::linear::from_slice;
use crate::stages::dense_output::DenseOutput;
use crate::system::{FeedbackSystem, Vector};

/// A field, and the steps along it.
pub(super) trait Parts: Switching {
    /// Makes it the field of a solution that starts at this state.
    fn start_at(&mut self, start: &[f64]);
    /// Holds the laws of its inputs as they are in a state, or 0 without one, from now on.
    fn hold_laws(&mut self, state: Option<&[f64]>);
    /// Makes the steps of the next part of a run, which begins anew at `start`, if it has begun before, with switches on these sides.
    fn follow(&mut self, run: &mut RunLoop<'_>, start: Option<&[f64]>, sides: &[Side]) -> Result<Segment, Error>;
    /// The source of the field's inputs, if it takes any.
    fn driver(&self) -> Option<&dyn Driver>;
}

impl RunLoop<'_> {
    /// Makes the run.
    pub(super) fn complete(mut self, parts: &mut dyn Parts, projection: Option<Projection>) -> Result<FlatRun, Error> {
        loop {
            let start = self.new_start().map(<[f64]>::to_vec);
            start.iter().for_each(|start| parts.start_at(start));
            self.hold_laws(&mut |state| parts.hold_laws(state));
            let sides = if parts.count() > 0 { self.choose_sides(parts) } else { Vec::new() };
            match parts.follow(&mut self, start.as_deref(), &sides) {
                Ok(Segment::Ended(ended)) => return Ok(FlatRun { projection, ..self.end(ended)? }),
                Ok(Segment::Reset) => {}
                Err(error) => return Err(error.blaming(parts.driver().and_then(Driver::undefined))),
            }
        }
    }
}

/// The parts of a run in vectors of a fixed length.
pub(super) struct VectorParts<'a, S: FeedbackSystem, F> {
    pub(super) system: &'a S,
    pub(super) field: F,
    pub(super) start: Vector<S>,
    pub(super) stepping: Stepping,
    pub(super) control: StepControl<'a, Vector<S>>,
    pub(super) schedule: Option<Schedule>,
    /// The real stability interval of the method, where gains are audited.
    pub(super) interval: f64,
    pub(super) projection: Option<Projection>,
    /// The steps as polynomials in time, if they are kept.
    pub(super) kept: Option<Vec<DenseOutput<Vector<S>>>>,
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Switching for VectorParts<'_, S, F> {
    fn count(&self) -> usize {
        self.system.facts().switches.len()
    }

    fn hold(&mut self, time: f64, sides: &[Side]) {
        self.field.hold_sides(sides);
        if let Some(driver) = self.field.driver() {
            driver.hold(time);
        }
    }

    fn rates(&self, state: &[f64]) -> Vec<f64> {
        self.system.facts().of_state::<S, _>(&self.field.value(&from_slice(state))).to_vec()
    }

    fn switches(&self, state: &[f64]) -> (Vec<f64>, Vec<f64>) {
        switches::<S, F>(self.system.facts(), &self.field, state)
    }

    fn switch_rate(&self, state: &[f64], place: usize) -> f64 {
        self.field.switch_rate(&from_slice(state), place)
    }
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Parts for VectorParts<'_, S, F> {
    fn start_at(&mut self, start: &[f64]) {
        self.field.start_at(&from_slice(start));
    }

    fn hold_laws(&mut self, state: Option<&[f64]>) {
        self.field.hold_laws(state.map(from_slice).as_ref());
    }

    fn follow(&mut self, run: &mut RunLoop<'_>, start: Option<&[f64]>, sides: &[Side]) -> Result<Segment, Error> {
        let Self { system, field, stepping, control, schedule, interval, projection, kept, .. } = self;
        let (field, start, facts) = (&*field, start.map_or(self.start, from_slice), system.facts());
        let lander = projection.map(|of| Lander::new(Projector::new(*system, &start, from_slice(run.targets()), of)));
        let ends = StepEnds { facts, lander, kept };
        *stepping = stepping.on_sides(sides);
        let mut stepper = stepping.stepper(*system, field, start, control, ends)?;
        let pace = Pace::new(schedule.as_ref(), field.driver(), *interval);
        run.follow(&mut *stepper, &pace, &|state| {
            append(facts, sides, |state| switches::<S, F>(facts, field, state), state)
        })
    }

    fn driver(&self) -> Option<&dyn Driver> {
        self.field.driver()
    }
}
