//! The steps of a run, whatever its method and its system are.
//!
//! A run calls a [`Stepper`] once for each step, through a pointer, and knows states as slices, so that everything around steps is
//! compiled once with this crate. Within a step the method and the system are known, and the field is inlined.

use crate::error::failure::StepFailure;
use crate::field::Field;
use crate::hold::projection::{Landing, Omission, Projector};
use crate::method::advance::Advance;
use crate::method::integrator::{Integrator, Resumption};
use crate::numbers::linear::{filled, from_slice};
use crate::stages::dense_output::DenseOutput;
use crate::stages::tolerance::Sizes;
use crate::system::SystemFacts;
use crate::system::{FeedbackSystem, Vector};

/// An integration under way, which makes one step at a time. States are flat.
pub(crate) trait Stepper {
    /// Makes a step to `until` and projects its end if states are projected: of size `h` with a fixed step; under error control towards
    /// `until`, and of any size.
    fn step(&mut self, until: f64, h: f64) -> Result<(), StepFailure>;
    /// The time that was reached, and the state there.
    fn end(&self) -> (f64, &[f64]);
    /// The number of steps; a step that a reset cuts in two counts as two.
    fn steps(&self) -> u64;
    /// The number of evaluations of the field.
    fn evaluations(&self) -> u64;
    /// The end of the last step, if it was projected.
    fn landed(&self) -> Option<Landed<'_>>;
    /// The tolerance of an entry of the state, under error control.
    fn tolerance(&self, entry: usize) -> Option<f64>;
    /// Puts the state at a time within the last step into `x`, before any projection: its dense output under error control, else the end
    /// of a shorter step by the same method.
    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure>;
    /// Puts what the state at a time within the last step is near to into `x`: its dense output, or else a polynomial through what is
    /// known of the step. The time in the state is set.
    fn sketch(&mut self, time: f64, x: &mut [f64]);
    /// The coefficients of a declared event's function along the last step, as a polynomial of the part of the step, if they are known.
    fn event_series(&self, _event: usize) -> Option<Vec<f64>> {
        None
    }
    /// Sets the time in a state within the last step, and projects it if states are projected.
    fn project_within(&self, time: f64, x: &mut [f64]);
    /// Keeps the last step as a polynomial in time, if steps are kept. One of a fixed size may be stopped earlier, at a time and a state.
    fn keep(&mut self, stop: Option<(f64, &[f64])>);
    /// Forgets the errors of earlier steps, because inputs have jumped.
    fn begin_anew(&mut self);
    /// The largest rate of decay of the feedback.
    fn decay_rate(&self) -> f64;
    /// All that the next steps depend on, besides time and state.
    fn memory(&self) -> Memory;
    /// Continues like a stepper with this memory at this time and state.
    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory);
}

/// All that the next steps depend on, besides time and state, and the number of those so far.
#[derive(Clone, Debug, Default, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Memory {
    /// The number of steps; a step that a reset cuts in two counts as two.
    pub(crate) steps: u64,
    /// The number of evaluations of the field.
    pub(crate) evaluations: u64,
    /// The field where the last step ended, if the next step begins with it: before the end was projected.
    pub(crate) derivative: Option<Vec<f64>>,
    /// The field where the last step of a fixed size ended, if events were looked for in it.
    #[cfg_attr(feature = "serde", serde(default))]
    pub(crate) end_rates: Option<Vec<f64>>,
    /// The mean of the squares of the steps' errors, if states are projected.
    pub(crate) mean: Option<Vec<f64>>,
    /// Where the integrals are held, and R, if states are projected.
    pub(crate) held: Option<[Vec<f64>; 2]>,
    /// Vectors that a method carries from step to step in addition to the state, each as long as the state.
    pub(crate) carried: Option<Vec<Vec<f64>>>,
    /// The control of the step size, for a method with error control.
    pub(crate) control: Option<Control>,
}

/// Where the control of the step size stands.
#[derive(Clone, Debug, PartialEq)]
#[cfg_attr(feature = "serde", derive(serde::Serialize, serde::Deserialize))]
pub(crate) struct Control {
    pub(crate) size: Option<f64>,
    pub(crate) last_log_error: f64,
    pub(crate) rejected: u64,
    /// The sizes of variables and the roundings of rates, where absolute tolerances follow from them.
    pub(crate) sizes: Option<[Vec<f64>; 2]>,
}

/// Where a step ended, and how that end was projected: see [`Landing`].
#[derive(Clone, Copy)]
pub(crate) struct Landed<'s> {
    pub(crate) end: &'s [f64],
    pub(crate) variances: &'s [f64],
    pub(crate) violation: &'s [f64],
    pub(crate) correction: &'s [f64],
    pub(crate) left_out: Option<Omission>,
    /// Where the integrals are held from there.
    pub(crate) targets: &'s [f64],
    /// F - F_target after the projection.
    pub(crate) left: &'s [f64],
}

/// Steps that were kept, as polynomials in time.
pub(crate) type KeptSteps<V> = Option<Vec<DenseOutput<V>>>;

/// The data that all steppers of a system share.
pub(crate) struct StepEnds<'k, S: FeedbackSystem> {
    /// The facts of the system.
    facts: &'static SystemFacts,
    /// If the state is projected after every step.
    pub(super) projector: Option<Projector<S>>,
    /// The end of the last step if it was projected.
    pub(super) landing: Landing<S>,
    pub(super) kept: &'k mut KeptSteps<Vector<S>>,
}

impl<'k, S: FeedbackSystem> StepEnds<'k, S> {
    pub(crate) fn new(system: &S, projector: Option<Projector<S>>, kept: &'k mut KeptSteps<Vector<S>>) -> Self {
        Self { facts: system.facts(), projector, landing: Landing::nothing(), kept }
    }

    #[inline(always)]
    pub(super) fn facts(&self) -> &'static SystemFacts {
        self.facts.known::<S>()
    }

    pub(super) fn landed(&self) -> Option<Landed<'_>> {
        let [targets, _] = self.projector.as_ref()?.onto();
        let Landing { end, variances, projected, left } = &self.landing;
        let facts = self.facts();
        Some(Landed {
            end: facts.of_state::<S, _>(end),
            variances: facts.of_state::<S, _>(variances),
            violation: facts.of_integrals::<S, _>(&projected.violation),
            correction: facts.of_state::<S, _>(&projected.correction),
            left_out: projected.left_out,
            targets: facts.of_integrals::<S, _>(targets),
            left: facts.of_integrals::<S, _>(left),
        })
    }

    pub(super) fn project_within(&self, time: f64, x: &mut [f64]) {
        let mut state: Vector<S> = from_slice(x);
        let facts = self.facts();
        facts.set_clock(&mut state, time);
        if let Some(projector) = &self.projector {
            projector.project_within(&mut state);
        }
        x.copy_from_slice(facts.of_state::<S, _>(&state));
    }

    pub(super) fn begin_anew(&mut self) {
        self.projector.iter_mut().for_each(Projector::begin_anew);
    }

    /// The memory that projections need.
    pub(super) fn memory(&self) -> Memory {
        let Some(projector) = &self.projector else { return Memory::default() };
        let ((mean, derivative), [targets, noise], facts) = (projector.memory(), projector.onto(), self.facts());
        Memory {
            mean: Some(facts.of_state::<S, _>(mean).to_vec()),
            derivative: derivative.map(|derivative| facts.of_state::<S, _>(derivative).to_vec()),
            held: Some([facts.of_integrals::<S, _>(targets).to_vec(), facts.of_integrals::<S, _>(noise).to_vec()]),
            ..Memory::default()
        }
    }

    /// Remembers the errors of earlier steps, and f at the end of the last one.
    pub(super) fn resume(&mut self, memory: &Memory, derivative: Option<Vector<S>>) {
        let Some(projector) = &mut self.projector else { return };
        projector.remember(memory.mean.as_deref().map_or(filled(0.0), from_slice), derivative);
        if let Some([targets, noise]) = &memory.held {
            projector.hold([from_slice(targets), from_slice(noise)]);
        }
    }
}

/// Steps of a fixed size.
pub(crate) struct FixedSteps<'k, S: FeedbackSystem, A> {
    method: A,
    from: f64,
    begin: Vector<S>,
    time: f64,
    state: Vector<S>,
    steps: u64,
    evaluations: u64,
    /// The last step as a cubic polynomial, and the field where it ended, if anybody needed them.
    cubic: Option<DenseOutput<Vector<S>>>,
    end_rates: Option<Vector<S>>,
    ends: StepEnds<'k, S>,
}

impl<'k, S: FeedbackSystem, A: Advance<S>> FixedSteps<'k, S, A> {
    pub(crate) fn new(method: A, time: f64, state: Vector<S>, ends: StepEnds<'k, S>) -> Self {
        let (cubic, end_rates) = (None, None);
        Self { method, from: time, begin: state, time, state, steps: 0, evaluations: 0, cubic, end_rates, ends }
    }

    /// The last step as a cubic polynomial. It takes one evaluation where the step before has had one, too.
    fn cubic(&mut self, begin_rates: Option<Vector<S>>) -> DenseOutput<Vector<S>> {
        let begin_rates = begin_rates.unwrap_or_else(|| {
            self.evaluations += 1;
            self.method.rates(&self.begin)
        });
        let end_rates = self.method.rates(&self.state);
        self.evaluations += 1;
        self.end_rates = Some(end_rates);
        DenseOutput::cubic(self.from, self.time - self.from, [self.begin, self.state], &[begin_rates, end_rates])
    }
}

impl<S: FeedbackSystem, A: Advance<S>> Stepper for FixedSteps<'_, S, A> {
    fn step(&mut self, until: f64, h: f64) -> Result<(), StepFailure> {
        let mut x = self.state;
        let StepEnds { projector, landing, .. } = &mut self.ends;
        match projector {
            Some(projector) => {
                let begins_anew = self.method.keeps_derivative() && projector.memory().1.is_none();
                self.method.projected_step((projector, landing), &mut x, h, until)?;
                self.evaluations += u64::from(begins_anew);
            }
            None => self.method.step(&mut x, h)?,
        }
        self.ends.facts().set_clock(&mut x, until);
        (self.from, self.begin) = (self.time, self.state);
        (self.time, self.state) = (until, x);
        self.steps += 1;
        self.evaluations += self.method.evaluations();
        self.cubic = None;
        Ok(())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.time, self.ends.facts().of_state::<S, _>(&self.state))
    }

    fn steps(&self) -> u64 {
        self.steps
    }

    fn evaluations(&self) -> u64 {
        self.evaluations
    }

    fn landed(&self) -> Option<Landed<'_>> {
        self.ends.landed()
    }

    fn tolerance(&self, _entry: usize) -> Option<f64> {
        None
    }

    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure> {
        let mut state = self.begin;
        self.method.step_alone(&mut state, time - self.from)?;
        self.evaluations += self.method.evaluations();
        x.copy_from_slice(self.ends.facts().of_state::<S, _>(&state));
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        let fraction = (time - self.from) / (self.time - self.from);
        let mut state = match (self.method.between(&self.begin, fraction), self.cubic) {
            (Some(state), _) => state,
            (None, Some(cubic)) => cubic.at(time),
            (None, None) => {
                let begin_rates = self.end_rates.take();
                let cubic = self.cubic(begin_rates);
                self.cubic.insert(cubic).at(time)
            }
        };
        let facts = self.ends.facts();
        facts.set_clock(&mut state, time);
        x.copy_from_slice(facts.of_state::<S, _>(&state));
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, stop: Option<(f64, &[f64])>) {
        if let Some(kept) = self.ends.kept {
            let (time, end) = stop.map_or((self.time, self.state), |(time, end)| (time, from_slice(end)));
            let ends = [self.begin, end];
            let rates = [self.method.rates(&ends[0]), self.method.rates(&ends[1])];
            kept.push(DenseOutput::cubic(self.from, time - self.from, ends, &rates));
            self.evaluations += 2;
        }
    }

    fn begin_anew(&mut self) {
        self.ends.begin_anew();
        self.method.begin_anew();
        self.end_rates = None;
    }

    fn decay_rate(&self) -> f64 {
        self.method.decay_rate(&self.state)
    }

    fn memory(&self) -> Memory {
        let (steps, evaluations) = (self.steps, self.evaluations);
        let end_rates = self.end_rates.map(|rates| self.ends.facts().of_state::<S, _>(&rates).to_vec());
        Memory { steps, evaluations, end_rates, carried: self.method.carried(), ..self.ends.memory() }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        (self.time, self.state) = (time, from_slice(state));
        (self.steps, self.evaluations) = (memory.steps, memory.evaluations);
        self.end_rates = memory.end_rates.as_deref().map(from_slice);
        self.method.carry(&self.state, memory.carried.as_deref());
        self.ends.resume(memory, memory.derivative.as_deref().map(from_slice));
    }
}

/// Steps under error control.
pub(crate) struct ControlledSteps<'f, 'k, S: FeedbackSystem, F: Field<Vector = Vector<S>>, const STAGES: usize> {
    integrator: Integrator<'f, F, STAGES>,
    /// The last step as a polynomial, if anybody needed it.
    dense_output: Option<DenseOutput<Vector<S>>>,
    ends: StepEnds<'k, S>,
}

impl<'f, 'k, S: FeedbackSystem, F: Field<Vector = Vector<S>>, const STAGES: usize>
    ControlledSteps<'f, 'k, S, F, STAGES>
{
    pub(crate) fn new(integrator: Integrator<'f, F, STAGES>, ends: StepEnds<'k, S>) -> Self {
        Self { integrator, dense_output: None, ends }
    }

    fn dense_output(&mut self) -> &DenseOutput<Vector<S>> {
        self.dense_output.get_or_insert_with(|| self.integrator.dense_output())
    }
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>, const STAGES: usize> Stepper
    for ControlledSteps<'_, '_, S, F, STAGES>
{
    fn step(&mut self, until: f64, _h: f64) -> Result<(), StepFailure> {
        self.dense_output = None;
        let StepEnds { projector, landing, .. } = &mut self.ends;
        let step = match projector {
            Some(projector) => self.integrator.landing_step(until, projector, landing),
            None => self.integrator.step(until),
        };
        step.map_err(|error| error.reason)
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.integrator.time(), self.ends.facts().of_state::<S, _>(self.integrator.state()))
    }

    fn steps(&self) -> u64 {
        self.integrator.steps()
    }

    fn evaluations(&self) -> u64 {
        self.integrator.evaluations()
    }

    fn landed(&self) -> Option<Landed<'_>> {
        self.ends.landed()
    }

    fn tolerance(&self, entry: usize) -> Option<f64> {
        Some(self.integrator.tolerance(entry))
    }

    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure> {
        let state = self.dense_output().at(time);
        x.copy_from_slice(self.ends.facts().of_state::<S, _>(&state));
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        let mut state = self.dense_output().at(time);
        let facts = self.ends.facts();
        facts.set_clock(&mut state, time);
        x.copy_from_slice(facts.of_state::<S, _>(&state));
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, _stop: Option<(f64, &[f64])>) {
        if self.ends.kept.is_some() {
            let step = *self.dense_output();
            self.ends.kept.iter_mut().for_each(|kept| kept.push(step));
        }
    }

    /// The integrator knows where inputs jump.
    fn begin_anew(&mut self) {}

    fn decay_rate(&self) -> f64 {
        0.0
    }

    fn memory(&self) -> Memory {
        let Resumption { derivative, size, last_log_error, steps, rejected, evaluations, sizes, .. } =
            self.integrator.resumption();
        let (memory, facts) = (self.ends.memory(), self.ends.facts());
        let own = |vector| facts.of_state::<S, _>(&vector).to_vec();
        let sizes = sizes.map(|Sizes { largest, roundings }| [own(largest), own(roundings)]);
        Memory {
            steps,
            evaluations,
            derivative: derivative.map(|derivative| self.ends.facts().of_state::<S, _>(&derivative).to_vec()),
            mean: memory.mean.filter(|_| !self.integrator.is_at_jump()),
            control: Some(Control { size, last_log_error, rejected, sizes }),
            ..memory
        }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        // A run refuses a memory without it.
        let Some(Control { size, last_log_error, rejected, sizes }) = &memory.control else { return };
        let Memory { steps, evaluations, .. } = *memory;
        let (state, derivative) = (from_slice(state), memory.derivative.as_deref().map(from_slice));
        let (size, last_log_error, rejected) = (*size, *last_log_error, *rejected);
        let sizes = sizes
            .as_ref()
            .map(|[largest, roundings]| Sizes { largest: from_slice(largest), roundings: from_slice(roundings) });
        self.integrator.resume(Resumption {
            time,
            state,
            derivative,
            size,
            last_log_error,
            steps,
            rejected,
            evaluations,
            sizes,
        });
        self.ends.resume(memory, None);
    }
}
