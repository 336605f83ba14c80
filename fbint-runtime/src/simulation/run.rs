//! The result of a run.

use derive_where::derive_where;

use super::samples::{FlatSamples, Sample};
use crate::error::Error;
use crate::error::dependence::Dependence;
use crate::hold::consistent_start::StartMove;
use crate::hold::projection::Projection;
use crate::numbers::linear::from_slice;
use crate::simulation::drift::{Drift, LeftOut};
use crate::stages::dense_output::DenseOutput;
use crate::system::{FeedbackSystem, Vector};

/// The result of a run of the system `S`.
#[derive_where(Clone, Debug)]
pub struct Run<S: FeedbackSystem> {
    pub(super) time: f64,
    pub(super) state: Vector<S>,
    pub(super) trajectory: Vec<Sample<S>>,
    pub(super) steps: u64,
    pub(super) evaluations: u64,
    pub(super) findings: RunFindings,
    pub(super) events: Vec<Occurrence<S>>,
    /// The steps of a dense run.
    pub(super) dense_output: Vec<DenseOutput<Vector<S>>>,
    /// The occurrence that ended the run.
    pub(super) end: Option<usize>,
    pub(super) projection: Option<Projection>,
}

/// The result of a run without the type of its system: what is written on it is compiled once, and not again for every model.
#[derive(Clone, Debug)]
pub struct FlatRun<T = FlatSamples> {
    /// The time at the end.
    pub time: f64,
    /// The state at the end.
    pub state: Vec<f64>,
    /// The samples.
    pub trajectory: T,
    /// The number of steps.
    pub steps: u64,
    /// The number of evaluations of the field.
    pub evaluations: u64,
    /// The number of steps from one sample to the next, where a method with error control is sampled at its steps.
    pub stride: u64,
    /// The findings on the way.
    pub findings: RunFindings,
    /// Every occurrence of every event, in the order of time.
    pub events: Vec<FlatOccurrence>,
    /// The occurrence that ended the run, if one did.
    pub ended_by: Option<usize>,
    /// The steps of a dense run, of each its entries one after the other.
    pub dense_output: Vec<DenseOutput<[f64; 1]>>,
    /// The projection after each step, if there was one.
    pub projection: Option<Projection>,
}

impl<T> FlatRun<T> {
    /// The name of the event that ended the run, if one did.
    pub fn end(&self) -> Option<&str> {
        Some(&self.events.get(self.ended_by?)?.name)
    }

    /// The run with its samples in another form.
    ///
    /// # Errors
    ///
    /// The errors of `change`.
    pub fn with_samples<U>(self, change: impl FnOnce(T) -> Result<U, Error>) -> Result<FlatRun<U>, Error> {
        Ok(FlatRun {
            time: self.time,
            state: self.state,
            trajectory: change(self.trajectory)?,
            steps: self.steps,
            evaluations: self.evaluations,
            stride: self.stride,
            findings: self.findings,
            events: self.events,
            ended_by: self.ended_by,
            dense_output: self.dense_output,
            projection: self.projection,
        })
    }
}

/// An occurrence of an event without the type of its system.
#[derive(Clone, Debug)]
pub struct FlatOccurrence {
    /// The index of the event, in the order in which the simulation was given them.
    pub event: usize,
    /// The name of the event.
    pub name: String,
    /// The time.
    pub time: f64,
    /// The state, before any reset.
    pub state: Vec<f64>,
    /// The state after the reset, if the event has one.
    pub reset: Option<Vec<f64>>,
}

/// An occurrence of an [`Event`](crate::Event) in a run of the system `S`.
#[derive_where(Clone, Debug)]
#[non_exhaustive]
pub struct Occurrence<S: FeedbackSystem> {
    /// The index of the event, in the order in which the simulation was given them.
    pub event: usize,
    /// The name of the event.
    pub name: String,
    /// The time.
    pub time: f64,
    /// The state at that time, before any reset.
    pub state: S::State,
    /// The state after the reset, if the event has one.
    pub reset: Option<S::State>,
}

/// The projection of a run that was largest in units of the error of its step.
///
/// Where it is of the order of 1 or below, projections have corrected errors of the method and nothing else.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct LargestProjection {
    /// The time after the step.
    pub time: f64,
    /// The entry of the state that was moved furthest in these units.
    pub entry: &'static str,
    /// By how much it was moved.
    pub distance: f64,
    /// That distance in units of the error that the method estimates for this entry, as a running mean over about ten steps.
    pub per_error: f64,
    /// That distance in units of the tolerance, rtol |x| + atol, of a method with error control.
    pub per_tolerance: Option<f64>,
}

/// The record of a run at its end.
#[derive(Clone, Debug)]
pub struct RunFindings {
    /// The drift of every integral.
    pub drift: Drift,
    /// Where constraints were nearest to dependence.
    pub dependence: Option<Dependence>,
    /// The largest change of an integral in one step.
    pub jump: Option<IntegralJump>,
    /// The largest projection.
    pub largest_projection: Option<LargestProjection>,
}

/// A change of an integral in one step by more than a tenth of its size at the start.
///
/// The integral jumps there, as an angle does by 2 pi, or the step passes a singularity of the field, such as a collision, that it does
/// not resolve. Steps of a fixed size end somewhere beyond, and error control stops before.
#[derive(Clone, Copy, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize))]
pub struct IntegralJump {
    /// The time after the step.
    pub time: f64,
    /// The name of the integral.
    pub integral: &'static str,
    /// By how much it changed, before the projection or over the whole step, whichever is more.
    pub change: f64,
}

impl<S: FeedbackSystem> Occurrence<S> {
    pub(super) fn shaped(FlatOccurrence { event, name, time, state, reset }: FlatOccurrence) -> Self {
        let shaped = |state: &Vec<f64>| from_slice::<Vector<S>>(state).into();
        Self { event, name, time, state: shaped(&state), reset: reset.as_ref().map(shaped) }
    }
}

impl<S: FeedbackSystem> Run<S> {
    pub(super) fn shaped(run: FlatRun, dense_output: Vec<DenseOutput<Vector<S>>>) -> Result<Self, Error> {
        let FlatRun {
            time, state, trajectory, steps, evaluations, findings, events, ended_by: end, projection, ..
        } = run;
        let (state, trajectory) = (from_slice(&state), trajectory.try_shaped()?);
        let events = events.into_iter().map(Occurrence::shaped).collect();
        Ok(Self { time, state, trajectory, steps, evaluations, findings, events, dense_output, end, projection })
    }

    /// The time at the end, exactly the one that was asked for unless the run was interrupted or an event ended it.
    pub fn time(&self) -> f64 {
        self.time
    }

    /// The state at the end.
    pub fn state(&self) -> S::State {
        self.state.into()
    }

    /// The drift of every integral, recorded at every step. A reset sets new targets, from which changes count from then on.
    pub fn drift(&self) -> &Drift {
        &self.findings.drift
    }

    /// The samples, from the start to the end.
    pub fn trajectory(&self) -> &[Sample<S>] {
        &self.trajectory
    }

    /// The state at a time of a [dense](crate::Simulation::dense) run, at a reset the one after it. `None` at a time that is not in the
    /// run, and at every time of a run that is not dense.
    pub fn at(&self, time: f64) -> Option<S::State> {
        let number = self.dense_output.partition_point(|step| step.time() <= time).checked_sub(1)?;
        (time <= self.time).then(|| self.dense_output[number].at(time).into())
    }

    /// The steps of a [dense](crate::Simulation::dense) run as polynomials in time; none of any other. Each begins where the one before it
    /// ends, also where a reset or an end cuts that short.
    pub fn dense_output(&self) -> &[DenseOutput<Vector<S>>] {
        &self.dense_output
    }

    /// The projection after each step, if there was one: the default, unless feedback, settings or
    /// [`without_feedback`](crate::Simulation::without_feedback) switched it off, or the system or the method has none by default.
    pub fn projection(&self) -> Option<Projection> {
        self.projection
    }

    /// Where the run passed so near to a state in which constraints are dependent that integrals jumped, the nearest such
    /// state; or one in which the mass matrix is singular, as at gimbal lock. The field is singular there: what a method with a fixed step
    /// makes of it is not to be trusted, nor a projection under error control, because errors of velocities that nearly cancel are no
    /// measure of how far each may be moved.
    pub fn dependence(&self) -> Option<&Dependence> {
        self.findings.dependence.as_ref()
    }

    /// The largest change of an integral in one step, if it is out of the ordinary: what follows is not to be trusted.
    pub fn integral_jump(&self) -> Option<&IntegralJump> {
        self.findings.jump.as_ref()
    }

    /// The projection that was largest in units of the error of its step, if states were projected.
    pub fn largest_projection(&self) -> Option<&LargestProjection> {
        self.findings.largest_projection.as_ref()
    }

    /// By how much the start was moved onto the constraints before the first step, if it was: a start that is accepted may be
    /// off by a few units of its eighth digit, and a run that projects states begins on the constraint set. Energy and invariants have
    /// their targets from there.
    pub fn start_move(&self) -> Option<&StartMove> {
        self.findings.drift.start_move()
    }

    /// The projections that were left out, by the name of the integral that is the reason, in the order of the integrals. Where the list is
    /// empty, projections have corrected errors of the method after every step.
    ///
    /// A projection by more than a thousand times the error of its step is left out: at contacts and where forces switch, at
    /// collisions, and wherever an integral has no gradient. So is one that brings an integral no closer to its target, damped or not. The step stands as a plain step does, its end is moved onto the constraints
    /// alone, and energy and invariants are held at the level that they have there.
    pub fn left_out(&self) -> Vec<(&'static str, LeftOut)> {
        self.findings.drift.integrals().filter_map(|integral| Some((integral.name, integral.left_out?))).collect()
    }

    /// Every occurrence of every event, in the order of time and, at one time, in the order of the events.
    pub fn events(&self) -> &[Occurrence<S>] {
        &self.events
    }

    /// The occurrence of a terminal event that ended the run, if one did.
    pub fn ended_by(&self) -> Option<&Occurrence<S>> {
        self.events.get(self.end?)
    }

    /// The number of steps.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// The number of evaluations of the field.
    pub fn evaluations(&self) -> u64 {
        self.evaluations
    }
}
