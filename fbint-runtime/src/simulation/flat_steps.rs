//! The steps of a run on slices of any length: see [`Stepper`].

use super::stepper::{Control, Landed, Memory, Stepper};
use crate::error::failure::StepFailure;
use crate::field::flat::FlatField;
use crate::hold::projection::flat::{FlatLanding, FlatProjector};
use crate::method::flat::{FixedMemory, FlatIntegrator};
use crate::method::geometric::OneStep;
use crate::method::settings::FixedStep;
use crate::numbers::blocks::{Blocks, LENGTH};
use crate::stages::dense_output::DenseOutput;

/// The steps of a dense run, of each its entries one after the other.
pub(super) type KeptEntries = Option<Vec<DenseOutput<[f64; 1]>>>;

/// The data that all steppers of a run on slices share.
pub(super) struct FlatEnds<'s, 'k> {
    pub(super) projector: Option<FlatProjector<'s>>,
    pub(super) kept: &'k mut KeptEntries,
}

impl FlatEnds<'_, '_> {
    fn landed(&self) -> Option<Landed<'_>> {
        let projector = self.projector.as_ref()?;
        let FlatLanding { end, variances, found, left } = &projector.landing;
        let [targets, _] = projector.onto();
        Some(Landed {
            end: end.own(),
            variances: variances.own(),
            violation: found.violation.own(),
            correction: found.correction.own(),
            left_out: found.left_out,
            targets: targets.own(),
            left: left.own(),
        })
    }

    fn project_within(&self, clock: Option<usize>, time: f64, x: &mut [f64]) {
        clock.into_iter().for_each(|clock| x[clock] = time);
        if let Some(projector) = &self.projector {
            let mut state = Blocks::of(x);
            projector.project_within(&mut state);
            x.copy_from_slice(state.own());
        }
    }

    fn begin_anew(&mut self) {
        self.projector.iter_mut().for_each(FlatProjector::begin_anew);
    }

    /// The memory that projections need.
    fn memory(&self) -> Memory {
        let Some(projector) = &self.projector else { return Memory::default() };
        let own = |of: &Blocks| of.own().to_vec();
        Memory {
            mean: Some(own(&projector.mean)),
            derivative: projector.derivative.as_ref().map(own),
            held: Some(projector.onto().map(own)),
            ..Memory::default()
        }
    }

    /// Remembers the errors of earlier steps, and f at the end of the last one.
    fn resume(&mut self, memory: &Memory, derivative: Option<&[f64]>) {
        let Some(projector) = &mut self.projector else { return };
        match &memory.mean {
            Some(mean) => projector.mean = Blocks::of(mean),
            None => projector.mean.own_mut().fill(0.0),
        }
        projector.derivative = derivative.map(Blocks::of);
        if let Some([targets, noise]) = &memory.held {
            projector.hold([targets, noise]);
        }
    }
}

/// The maker of steps of a fixed size.
pub(super) enum FlatMethod<'m> {
    Explicit(FixedStep),
    Given(&'m dyn OneStep<[f64]>),
}

/// Steps of a fixed size.
pub(super) struct FlatFixedSteps<'s, 'k> {
    pub(super) method: FlatMethod<'s>,
    field: &'s FlatField<'s>,
    memory: FixedMemory,
    from: f64,
    begin: Blocks,
    time: f64,
    state: Blocks,
    /// f at the state where a step begins.
    first: Blocks,
    steps: u64,
    evaluations: u64,
    /// The last step as a cubic polynomial, and the field where it ended, if anybody needed them.
    cubic: Option<Vec<DenseOutput<[f64; 1]>>>,
    end_rates: Option<Blocks>,
    ends: FlatEnds<'s, 'k>,
}

impl<'s, 'k> FlatFixedSteps<'s, 'k> {
    pub(super) fn new(
        method: FlatMethod<'s>,
        field: &'s FlatField<'s>,
        time: f64,
        start: &[f64],
        ends: FlatEnds<'s, 'k>,
    ) -> Self {
        let (memory, state) = (FixedMemory::new(start.len()), Blocks::of(start));
        let (begin, first) = (state.clone(), Blocks::zeros(start.len()));
        let (cubic, end_rates) = (None, None);
        Self {
            method,
            field,
            memory,
            from: time,
            begin,
            time,
            state,
            first,
            steps: 0,
            evaluations: 0,
            cubic,
            end_rates,
            ends,
        }
    }

    fn rates(&self, x: &Blocks) -> Blocks {
        let mut rates = Blocks::zeros(x.len());
        self.field.value(x.all(), rates.all_mut());
        rates
    }

    fn evaluations_per_step(&self) -> u64 {
        match &self.method {
            FlatMethod::Explicit(method) => method.evaluations(),
            FlatMethod::Given(map) => map.evaluations_per_step(),
        }
    }

    /// One step of size `h` from x, without a projection.
    fn advance(&mut self, x: &mut Blocks, h: f64) {
        match &self.method {
            FlatMethod::Explicit(method) => {
                self.field.value(x.all(), self.first.all_mut());
                method.flat_step(self.field, x, h, &self.first, &mut self.memory);
            }
            FlatMethod::Given(map) => map.step(x.own_mut(), h),
        }
    }

    /// One step of size `h` to a time, whose end is projected.
    fn projected_step(&mut self, x: &mut Blocks, h: f64, until: f64) {
        let clock = self.field.facts().clock;
        let Self { method, field, memory, first, begin, ends, evaluations, .. } = self;
        let Some(projector) = &mut ends.projector else { return };
        begin.copy(x);
        let method = match method {
            FlatMethod::Explicit(method) => *method,
            FlatMethod::Given(map) => {
                map.step(x.own_mut(), h);
                projector.land(begin, &|_| [1.0; LENGTH], h, x);
                return;
            }
        };
        match &projector.derivative {
            Some(derivative) => first.copy(derivative),
            None => {
                field.value(x.all(), first.all_mut());
                *evaluations += 1;
            }
        }
        method.flat_step(field, x, h, first, memory);
        clock.into_iter().for_each(|clock| x.own_mut()[clock] = until);
        let error = |end: &Blocks, block: usize, switches: bool| {
            method.flat_error(memory, end, h, block, (field.facts(), switches))
        };
        projector.land_fixed(begin, x, h, &mut |x, rates| field.value(x, rates), &error);
    }

    /// A step from `begin` to an end as a cubic polynomial for each entry.
    fn cubic_to(&self, time: f64, end: &Blocks, rates: [&Blocks; 2]) -> Vec<DenseOutput<[f64; 1]>> {
        let polynomial = |i: usize| {
            let ends = [[self.begin[i]], [end[i]]];
            DenseOutput::cubic(self.from, time - self.from, ends, &rates.map(|rates| [rates[i]]))
        };
        (0..end.len()).map(polynomial).collect()
    }

    /// The last step as a cubic polynomial. It takes one evaluation where the step before has had one, too.
    fn cubic(&mut self) -> Vec<DenseOutput<[f64; 1]>> {
        let begin_rates = self.end_rates.take().unwrap_or_else(|| {
            self.evaluations += 1;
            self.rates(&self.begin)
        });
        let end_rates = self.rates(&self.state);
        self.evaluations += 1;
        let cubic = self.cubic_to(self.time, &self.state, [&begin_rates, &end_rates]);
        self.end_rates = Some(end_rates);
        cubic
    }
}

/// Puts what polynomials are at a time into `x`.
fn put_at(polynomials: &[DenseOutput<[f64; 1]>], time: f64, x: &mut [f64]) {
    x.iter_mut().zip(polynomials).for_each(|(entry, polynomial)| [*entry] = polynomial.at(time));
}

impl Stepper for FlatFixedSteps<'_, '_> {
    fn step(&mut self, until: f64, h: f64) -> Result<(), StepFailure> {
        let mut x = self.state.clone();
        if self.ends.projector.is_some() {
            self.projected_step(&mut x, h, until);
        } else {
            self.advance(&mut x, h);
        }
        self.field.facts().clock.into_iter().for_each(|clock| x.own_mut()[clock] = until);
        (self.from, self.time) = (self.time, until);
        std::mem::swap(&mut self.begin, &mut self.state);
        self.state = x;
        self.steps += 1;
        self.evaluations += self.evaluations_per_step();
        self.cubic = None;
        Ok(())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.time, self.state.own())
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
        self.advance(&mut state, time - self.from);
        self.evaluations += self.evaluations_per_step();
        x.copy_from_slice(state.own());
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        let cubic = self.cubic.take().unwrap_or_else(|| self.cubic());
        put_at(&cubic, time, x);
        self.cubic = Some(cubic);
        self.field.facts().clock.into_iter().for_each(|clock| x[clock] = time);
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(self.field.facts().clock, time, x);
    }

    fn keep(&mut self, stop: Option<(f64, &[f64])>) {
        if self.ends.kept.is_none() {
            return;
        }
        let (time, end) = stop.map_or_else(|| (self.time, self.state.clone()), |(time, end)| (time, Blocks::of(end)));
        let rates = [self.rates(&self.begin), self.rates(&end)];
        let cubic = self.cubic_to(time, &end, [&rates[0], &rates[1]]);
        self.ends.kept.iter_mut().for_each(|kept| kept.extend(&cubic));
        self.evaluations += 2;
    }

    fn begin_anew(&mut self) {
        self.ends.begin_anew();
        self.end_rates = None;
    }

    fn decay_rate(&self) -> f64 {
        self.field.decay_rate(self.state.own())
    }

    fn memory(&self) -> Memory {
        let (steps, evaluations) = (self.steps, self.evaluations);
        let end_rates = self.end_rates.as_ref().map(|rates| rates.own().to_vec());
        Memory { steps, evaluations, end_rates, ..self.ends.memory() }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        (self.time, self.state) = (time, Blocks::of(state));
        (self.steps, self.evaluations) = (memory.steps, memory.evaluations);
        self.end_rates = memory.end_rates.as_deref().map(Blocks::of);
        self.ends.resume(memory, memory.derivative.as_deref());
    }
}

/// Steps under error control.
pub(super) struct FlatControlledSteps<'s, 'k, const STAGES: usize> {
    integrator: FlatIntegrator<'s, STAGES>,
    clock: Option<usize>,
    /// The last step as a polynomial, if anybody needed it.
    dense_output: Option<Vec<DenseOutput<[f64; 1]>>>,
    ends: FlatEnds<'s, 'k>,
}

impl<'s, 'k, const STAGES: usize> FlatControlledSteps<'s, 'k, STAGES> {
    pub(super) fn new(integrator: FlatIntegrator<'s, STAGES>, clock: Option<usize>, ends: FlatEnds<'s, 'k>) -> Self {
        Self { integrator, clock, dense_output: None, ends }
    }

    fn dense_output(&mut self) -> &[DenseOutput<[f64; 1]>] {
        self.dense_output.get_or_insert_with(|| self.integrator.dense_output())
    }
}

impl<const STAGES: usize> Stepper for FlatControlledSteps<'_, '_, STAGES> {
    fn step(&mut self, until: f64, _h: f64) -> Result<(), StepFailure> {
        self.dense_output = None;
        self.integrator.step(until, self.ends.projector.as_mut())
    }

    fn end(&self) -> (f64, &[f64]) {
        (self.integrator.time, self.integrator.state.own())
    }

    fn steps(&self) -> u64 {
        self.integrator.steps
    }

    fn evaluations(&self) -> u64 {
        self.integrator.evaluations
    }

    fn landed(&self) -> Option<Landed<'_>> {
        self.ends.landed()
    }

    fn tolerance(&self, entry: usize) -> Option<f64> {
        Some(self.integrator.tolerance(entry))
    }

    fn within(&mut self, time: f64, x: &mut [f64]) -> Result<(), StepFailure> {
        put_at(self.dense_output(), time, x);
        Ok(())
    }

    fn sketch(&mut self, time: f64, x: &mut [f64]) {
        put_at(self.dense_output(), time, x);
        self.clock.into_iter().for_each(|clock| x[clock] = time);
    }

    fn project_within(&self, time: f64, x: &mut [f64]) {
        self.ends.project_within(self.clock, time, x);
    }

    fn keep(&mut self, _stop: Option<(f64, &[f64])>) {
        if self.ends.kept.is_some() {
            let step = self.dense_output().to_vec();
            self.ends.kept.iter_mut().for_each(|kept| kept.extend(&step));
        }
    }

    /// The integrator knows where inputs jump.
    fn begin_anew(&mut self) {}

    fn decay_rate(&self) -> f64 {
        0.0
    }

    fn memory(&self) -> Memory {
        let FlatIntegrator { size, last_log_error, steps, rejected, evaluations, .. } = self.integrator;
        let memory = self.ends.memory();
        Memory {
            steps,
            evaluations,
            derivative: self.integrator.derivative(),
            mean: memory.mean.filter(|_| !self.integrator.is_at_jump()),
            control: Some(Control { size, last_log_error, rejected, sizes: self.integrator.sizes() }),
            ..memory
        }
    }

    fn resume(&mut self, time: f64, state: &[f64], memory: &Memory) {
        // A run refuses a memory without it.
        let Some(Control { size, last_log_error, rejected, sizes }) = &memory.control else { return };
        let sizes = sizes.as_ref().map(|sizes| sizes.each_ref().map(Vec::as_slice));
        let integrator = &mut self.integrator;
        integrator.resume(time, state, memory.derivative.as_deref(), sizes);
        (integrator.size, integrator.last_log_error, integrator.rejected) = (*size, *last_log_error, *rejected);
        (integrator.steps, integrator.evaluations) = (memory.steps, memory.evaluations);
        self.ends.resume(memory, None);
    }
}
