//! The steps of a run, whatever its method and its system are.
//!
//! A run calls a [`Stepper`] once for each step, through a pointer, and knows states as slices, so that everything around steps is
//! compiled once with this crate. Within a step the method and the system are known, and the field is inlined.

use std::mem;

use crate::error::Error;
use crate::error::failure::StepFailure;
use crate::error::memory::Storage;
use crate::hold::projection::{Land, Landed, LandingMemory};
use crate::method::advance::Advance;
use crate::method::error_control::{Controlled, Progress};
use crate::numbers::entries::Numbers;
use crate::numbers::scalar::Scalar;
use crate::stages::dense_output::DenseOutput;
use crate::stages::series_step::SeriesRows;
use crate::system::SystemFacts;

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
    fn keep(&mut self, stop: Option<(f64, &[f64])>) -> Result<(), Error>;
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

impl From<LandingMemory> for Memory {
    fn from(LandingMemory { mean, derivative, held }: LandingMemory) -> Self {
        Self { mean: Some(mean), derivative, held: Some(held), ..Self::default() }
    }
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

/// The data that all steppers share.
pub(crate) struct StepEnds<'k, L: Land> {
    pub(super) facts: &'static SystemFacts,
    /// If the state is projected after every step.
    pub(super) lander: Option<L>,
    /// The steps as polynomials in time, if they are kept.
    pub(super) kept: &'k mut Option<Vec<L::Polynomial>>,
}

/// [`StepEnds`] of any states, on slices.
pub(super) trait Ends {
    /// Projects the end of a step of a series, whose last term is the error, if states are projected.
    fn land(&mut self, begin: &[f64], series: &SeriesRows, h: f64, x: &mut [f64]);
    /// The end of the last step, if it was projected.
    fn landed(&self) -> Option<Landed<'_>>;
    /// Sets the time in a state within the last step, and projects it if states are projected.
    fn project_within(&self, time: f64, x: &mut [f64]);
    /// Returns `true` if steps are kept.
    fn keeps_steps(&self) -> bool;
    /// Keeps steps as polynomials, entry by entry.
    fn keep(&mut self, steps: &mut dyn Iterator<Item = Vec<DenseOutput<[f64; 1]>>>) -> Result<(), Error>;
    fn begin_anew(&mut self);
    /// The memory that projections need.
    fn memory(&self) -> Memory;
    /// Remembers the errors of earlier steps, and f at the end of the last one if the next step begins with it.
    fn resume(&mut self, memory: &Memory, derivative: Option<&[f64]>);
}

impl<L: Land> Ends for StepEnds<'_, L> {
    fn land(&mut self, begin: &[f64], series: &SeriesRows, h: f64, x: &mut [f64]) {
        let Some(lander) = &mut self.lander else { return };
        let (begin, mut state) = (L::state(begin), L::state(x));
        let (last, power) = (series.row(series.order()), Scalar::powi(h, series.order() as i32));
        lander.land(&begin, &begin.like(|i| last[i] * power), h, &mut state);
        x.copy_from_slice(L::entries(self.facts, &state));
    }

    fn landed(&self) -> Option<Landed<'_>> {
        self.lander.as_ref().map(L::landed)
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        let mut state = L::state(x);
        L::set_clock(self.facts, &mut state, time);
        if let Some(lander) = &self.lander {
            lander.project_within(&mut state);
        }
        x.copy_from_slice(self.entries(&state));
    }

    fn keeps_steps(&self) -> bool {
        self.kept.is_some()
    }

    fn keep(&mut self, steps: &mut dyn Iterator<Item = Vec<DenseOutput<[f64; 1]>>>) -> Result<(), Error> {
        let Some(kept) = self.kept else { return Ok(()) };
        for step in steps {
            Storage::STEPS.push(kept, L::of_entries(step))?;
        }
        Ok(())
    }

    fn begin_anew(&mut self) {
        self.lander.iter_mut().for_each(L::begin_anew);
    }

    fn memory(&self) -> Memory {
        self.lander.as_ref().map(|lander| lander.memory().into()).unwrap_or_default()
    }

    fn resume(&mut self, memory: &Memory, derivative: Option<&[f64]>) {
        let lander = self.lander.iter_mut();
        lander.for_each(|lander| lander.resume(memory.mean.as_deref(), derivative, memory.held.as_ref()));
    }
}

impl<L: Land> StepEnds<'_, L> {
    #[inline(always)]
    fn entries<'x>(&self, x: &'x L::State) -> &'x [f64] {
        L::entries(self.facts, x)
    }

    /// Puts the state on a polynomial at a time into `x`.
    fn put_at(&self, polynomial: &L::Polynomial, time: f64, x: &mut [f64]) {
        x.copy_from_slice(self.entries(&L::at(polynomial, time)));
    }

    /// Sets the time in the entries of a state.
    fn set_clock(&self, x: &mut [f64], time: f64) {
        self.facts.clock.into_iter().for_each(|clock| x[clock] = time);
    }
}

/// Steps of a fixed size.
pub(crate) struct FixedSteps<'k, L: Land, A> {
    method: A,
    from: f64,
    begin: L::State,
    time: f64,
    state: L::State,
    steps: u64,
    evaluations: u64,
    /// The last step as a cubic polynomial, and the field where it ended, if anybody needed them.
    cubic: Option<L::Polynomial>,
    end_rates: Option<L::State>,
    ends: StepEnds<'k, L>,
}

impl<'k, L: Land, A: Advance<L>> FixedSteps<'k, L, A> {
    pub(crate) fn new(method: A, time: f64, state: L::State, ends: StepEnds<'k, L>) -> Self {
        let (cubic, end_rates, begin) = (None, None, state.clone());
        Self { method, from: time, begin, time, state, steps: 0, evaluations: 0, cubic, end_rates, ends }
    }

    /// The time and the state that were reached, and what projects states, with its memory of the steps.
    pub(super) fn into_end(self) -> (f64, L::State, Option<L>) {
        (self.time, self.state, self.ends.lander)
    }

    /// The last step as a cubic polynomial. It takes one evaluation where the step before has had one, too.
    fn cubic(&mut self) -> L::Polynomial {
        let begin_rates = self.end_rates.take().unwrap_or_else(|| {
            self.evaluations += 1;
            self.method.rates(&self.begin)
        });
        let end_rates = self.end_rates.insert(self.method.rates(&self.state));
        self.evaluations += 1;
        L::cubic(self.from, self.time - self.from, [&self.begin, &self.state], [&begin_rates, end_rates])
    }
}

impl<L: Land, A: Advance<L>> Stepper for FixedSteps<'_, L, A> {
    fn step(&mut self, until: f64, h: f64) -> Result<(), StepFailure> {
        let mut x = self.state.clone();
        match &mut self.ends.lander {
            Some(lander) => {
                let begins_anew = self.method.keeps_derivative() && !lander.knows_derivative();
                self.method.projected_step(lander, &mut x, h, until)?;
                self.evaluations += u64::from(begins_anew);
            }
            None => self.method.step(&mut x, h)?,
        }
        L::set_clock(self.ends.facts, &mut x, until);
        (self.from, self.time) = (self.time, until);
        self.begin = mem::replace(&mut self.state, x);
        self.steps += 1;
        self.evaluations += self.method.evaluations();
        self.cubic = None;
        Ok(())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.time, self.ends.entries(&self.state))
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
        let mut state = self.begin.clone();
        self.method.step_alone(&mut state, time - self.from)?;
        self.evaluations += self.method.evaluations();
        x.copy_from_slice(self.ends.entries(&state));
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        let fraction = (time - self.from) / (self.time - self.from);
        if let Some(state) = self.method.between(&self.begin, fraction) {
            x.copy_from_slice(self.ends.entries(&state));
        } else {
            let cubic = self.cubic.take().unwrap_or_else(|| self.cubic());
            self.ends.put_at(self.cubic.insert(cubic), time, x);
        }
        self.ends.set_clock(x, time);
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, stop: Option<(f64, &[f64])>) -> Result<(), Error> {
        let Some(kept) = self.ends.kept else { return Ok(()) };
        let (time, end) = stop.map_or_else(|| (self.time, self.state.clone()), |(time, end)| (time, L::state(end)));
        let rates = [self.method.rates(&self.begin), self.method.rates(&end)];
        self.evaluations += 2;
        Storage::STEPS.push(kept, L::cubic(self.from, time - self.from, [&self.begin, &end], rates.each_ref()))
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
        let end_rates = self.end_rates.as_ref().map(|rates| self.ends.entries(rates).to_vec());
        Memory { steps, evaluations, end_rates, carried: self.method.carried(), ..self.ends.memory() }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        (self.time, self.state) = (time, L::state(state));
        (self.steps, self.evaluations) = (memory.steps, memory.evaluations);
        self.end_rates = memory.end_rates.as_deref().map(L::state);
        self.method.carry(&self.state, memory.carried.as_deref());
        self.ends.resume(memory, memory.derivative.as_deref());
    }
}

/// Steps under error control.
pub(crate) struct ControlledSteps<'k, L: Land, I> {
    integrator: I,
    /// The last step as a polynomial, if anybody needed it.
    dense_output: Option<L::Polynomial>,
    ends: StepEnds<'k, L>,
}

impl<'k, L: Land, I: Controlled<L>> ControlledSteps<'k, L, I> {
    pub(crate) fn new(integrator: I, ends: StepEnds<'k, L>) -> Self {
        Self { integrator, dense_output: None, ends }
    }

    fn put_at(&mut self, time: f64, x: &mut [f64]) {
        let polynomial = self.dense_output.get_or_insert_with(|| self.integrator.polynomial());
        self.ends.put_at(polynomial, time, x);
    }
}

impl<L: Land, I: Controlled<L>> Stepper for ControlledSteps<'_, L, I> {
    fn step(&mut self, until: f64, _h: f64) -> Result<(), StepFailure> {
        self.dense_output = None;
        self.integrator.step_and_land(until, self.ends.lander.as_mut())
    }

    fn end(&self) -> (f64, &[f64]) {
        let [state, _] = self.integrator.begin_and_error();
        (self.integrator.progress().time, self.ends.entries(state))
    }

    fn steps(&self) -> u64 {
        self.integrator.progress().steps
    }

    fn evaluations(&self) -> u64 {
        self.integrator.progress().evaluations
    }

    fn landed(&self) -> Option<Landed<'_>> {
        self.ends.landed()
    }

    fn tolerance(&self, entry: usize) -> Option<f64> {
        Some(self.integrator.tolerance(entry))
    }

    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure> {
        self.put_at(time, x);
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        self.put_at(time, x);
        self.ends.set_clock(x, time);
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(time, x);
    }

    fn keep(&mut self, _stop: Option<(f64, &[f64])>) -> Result<(), Error> {
        let Some(kept) = self.ends.kept else { return Ok(()) };
        let step = self.dense_output.get_or_insert_with(|| self.integrator.polynomial());
        Storage::STEPS.push(kept, step.clone())
    }

    /// The integrator knows where inputs jump.
    fn begin_anew(&mut self) {}

    fn decay_rate(&self) -> f64 {
        0.0
    }

    fn memory(&self) -> Memory {
        let progress = self.integrator.progress();
        let Progress { size, last_log_error, steps, rejected, evaluations, .. } = *progress;
        let (memory, is_at_jump) = (self.ends.memory(), progress.is_at_jump());
        let own = |state: L::State| self.ends.entries(&state).to_vec();
        let sizes = self.integrator.sizes().map(|sizes| sizes.map(own));
        Memory {
            steps,
            evaluations,
            derivative: (progress.knows_derivative && !is_at_jump).then(|| own(self.integrator.last_rates())),
            mean: memory.mean.filter(|_| !is_at_jump),
            control: Some(Control { size, last_log_error, rejected, sizes }),
            ..memory
        }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        // A run refuses a memory without it.
        let Some(Control { size, last_log_error, rejected, sizes }) = &memory.control else { return };
        let derivative = memory.derivative.as_deref().map(L::state);
        let Progress { max_steps, limits, .. } = *self.integrator.progress();
        *self.integrator.progress_mut() = Progress {
            max_steps,
            limits,
            knows_derivative: derivative.is_some(),
            size: *size,
            last_log_error: *last_log_error,
            steps: memory.steps,
            rejected: *rejected,
            evaluations: memory.evaluations,
            ..Progress::at(time)
        };
        let sizes = sizes.as_ref().map(|sizes| sizes.each_ref().map(|of| L::state(of)));
        self.integrator.take(L::state(state), derivative, sizes);
        self.ends.resume(memory, None);
    }
}
