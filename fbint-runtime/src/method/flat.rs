//! Explicit Runge-Kutta methods on slices of any length: what [`FixedStep`] and [`Integrator`](super::integrator::Integrator) do, in lists,
//! with the same arithmetic in blocks.

use crate::error::failure::StepFailure;
use crate::field::flat::FlatField;
use crate::hold::projection::flat::FlatProjector;
use crate::method::integrator::{Measure, StepStart};
use crate::method::settings::{FixedStep, with_tableau};
use crate::numbers::blocks::{Block, Blocks, LENGTH};
use crate::numbers::linear::{filled, not_finite};
use crate::stages::dense_output::DenseOutput;
use crate::stages::step_size::{LEAST_LOG_ERROR, REST, StepLimits};
use crate::stages::tableau::{EULER, ErrorEstimate, HEUN, MIDPOINT, Pair, RK4, Tableau, advanced, combined, extended};
use crate::stages::tolerance::{FlatScale, Tolerance, flat_largest, flat_nudged, mean_square, norm};
use crate::system::{StateEntry, SystemFacts};

/// The most stages of a method with a fixed step.
const MOST_FIXED: usize = 4;

/// Memory for the steps of a method with a fixed step.
pub(crate) struct FixedMemory {
    /// The stages of each block.
    stages: Vec<[Block; MOST_FIXED]>,
    point: Blocks,
    rates: Blocks,
}

impl FixedMemory {
    pub(crate) fn new(length: usize) -> Self {
        let point = Blocks::zeros(length);
        Self { stages: vec![[filled(0.0); MOST_FIXED]; point.blocks().len()], rates: point.clone(), point }
    }
}

/// The first of the stages of a block.
fn first<const S: usize>(stages: &[Block; MOST_FIXED]) -> &[Block; S] {
    const { assert!(S <= MOST_FIXED) };
    stages.first_chunk().unwrap_or(const { &[[0.0; LENGTH]; S] })
}

impl FixedStep {
    /// One step of size `h` along a field with f(x) = `first`.
    pub(crate) fn flat_step(
        self,
        field: &FlatField<'_>,
        x: &mut Blocks,
        h: f64,
        first: &Blocks,
        memory: &mut FixedMemory,
    ) {
        with_tableau!(self, |tableau| flat_stages(tableau, field, x, h, first, memory));
    }

    /// The estimate of the error of a block of the last step of size `h`, with f where it ended; if forces may have switched within it, or not.
    pub(crate) fn flat_error(
        self,
        memory: &FixedMemory,
        end: &Blocks,
        h: f64,
        block: usize,
        (facts, switches): (&SystemFacts, bool),
    ) -> Block {
        with_tableau!(self, |tableau| {
            let estimate = if switches { tableau.error_of_switching() } else { tableau.error_of(facts) };
            estimate.of(first(&memory.stages[block]), &end.blocks()[block], h)
        })
    }
}

fn flat_stages<const S: usize>(
    tableau: &Tableau<S>,
    field: &FlatField<'_>,
    x: &mut Blocks,
    h: f64,
    derivative: &Blocks,
    memory: &mut FixedMemory,
) {
    let FixedMemory { stages, point, rates } = memory;
    stages.iter_mut().zip(derivative.blocks()).for_each(|(stages, rates)| stages[0] = *rates);
    for i in 1..S {
        for ((point, x), stages) in point.blocks_mut().iter_mut().zip(x.blocks()).zip(&*stages) {
            *point = tableau.point(i, x, h, first(stages));
        }
        field.value(point.all(), rates.all_mut());
        stages.iter_mut().zip(rates.blocks()).for_each(|(stages, rates)| stages[i] = *rates);
    }
    for (x, stages) in x.blocks_mut().iter_mut().zip(&*stages) {
        *x = tableau.end_of(x, h, first(stages));
    }
}

/// An integration under error control by an explicit method with `STAGES` stages.
pub(crate) struct FlatIntegrator<'f, const STAGES: usize> {
    field: &'f FlatField<'f>,
    facts: &'static SystemFacts,
    pair: &'static Pair,
    /// The weights of errors where the next step begins, and where the last attempt ended.
    scale: FlatScale,
    reached: FlatScale,
    max_steps: u64,
    limits: StepLimits,
    pub(crate) time: f64,
    pub(crate) state: Blocks,
    previous_time: f64,
    previous_state: Blocks,
    /// The stages of each block. Stage `last` is f(state) where `knows_derivative`.
    stages: Vec<[Block; STAGES]>,
    knows_derivative: bool,
    /// When a step has to end at the latest, because inputs of the field jump.
    jump: f64,
    /// The error of the last step, as the method estimates it.
    error: Blocks,
    /// The size of the next step, unless none was made yet.
    pub(crate) size: Option<f64>,
    pub(crate) last_log_error: f64,
    pub(crate) steps: u64,
    pub(crate) rejected: u64,
    pub(crate) evaluations: u64,
    /// Memory for a state, its rates, and what goes with it.
    next: Blocks,
    rates: Blocks,
    weights: Blocks,
}

/// The settings of a [`FlatIntegrator`].
#[derive(Clone, Copy)]
pub(crate) struct FlatControl<'c> {
    pub(crate) time: f64,
    pub(crate) scales: Option<&'c [f64]>,
    pub(crate) limits: StepLimits,
    pub(crate) max_steps: u64,
}

/// Whether an entry continues the variable of the one before.
fn continues(facts: &'static SystemFacts) -> impl Fn(usize) -> bool {
    |entry| StateEntry::continues(facts.state, entry)
}

impl<'f, const STAGES: usize> FlatIntegrator<'f, STAGES> {
    pub(crate) fn new(
        field: &'f FlatField<'f>,
        pair: &'static Pair,
        start: &[f64],
        tolerance: &Tolerance,
        control: &FlatControl<'_>,
    ) -> Result<Self, crate::Error> {
        let (facts, state) = (field.facts(), Blocks::of(start));
        let scale = FlatScale::new(tolerance, &state, control.scales, continues(facts))?;
        let zeros = Blocks::zeros(start.len());
        Ok(Self {
            field,
            facts,
            pair,
            reached: scale.clone(),
            scale,
            max_steps: control.max_steps,
            limits: control.limits,
            time: control.time,
            previous_time: control.time,
            previous_state: state.clone(),
            stages: vec![[filled(0.0); STAGES]; state.blocks().len()],
            state,
            knows_derivative: false,
            jump: f64::INFINITY,
            error: zeros.clone(),
            size: None,
            last_log_error: LEAST_LOG_ERROR,
            steps: 0,
            rejected: 0,
            evaluations: 0,
            next: zeros.clone(),
            rates: zeros.clone(),
            weights: zeros,
        })
    }

    /// Makes one step towards a later time, and projects where it ends.
    pub(crate) fn step(&mut self, until: f64, projector: Option<&mut FlatProjector<'_>>) -> Result<(), StepFailure> {
        if until - self.time == 0.0 {
            return Ok(());
        }
        let mut projector = projector;
        if self.is_at_jump() {
            projector.iter_mut().for_each(|projector| projector.begin_anew());
        }
        let until = self.before_jump(until);
        let remaining = until - self.time;
        let mut first = 0;
        if self.knows_derivative || self.size.is_none() {
            self.find_derivative();
            first = 1;
        }
        let mut proposed = match self.size {
            Some(size) => size,
            None => {
                let size = self.first_size(remaining);
                size.min(self.limits.at_rest.unwrap_or(f64::INFINITY)).min(self.limits.most)
            }
        };
        self.knows_derivative = false;
        let mut shrinking = None;
        loop {
            self.check(proposed, shrinking)?;
            // A slight overshoot is harmless; a slight undershoot would cost one more tiny step.
            let is_shortened = 1.01 * proposed >= remaining && remaining <= self.limits.most;
            let size = if is_shortened { remaining } else { proposed };
            let error = self.attempt(size, first);
            let is_finite = not_finite(self.next.own()).is_none();
            if error <= 1.0 && is_finite {
                if let Some(projector) = projector {
                    let (begin, error) = (&self.state, &self.error);
                    projector.land(begin, &|block| error.blocks()[block], size, &mut self.next);
                }
                let time = if is_shortened { until } else { self.time + size };
                let grown = size * self.pair.control.growth(error, &mut self.last_log_error);
                let grown = match shrinking {
                    Some(_) => grown.min(size),
                    None if is_shortened => grown.max(proposed),
                    None => grown,
                };
                let at_rest = self.limits.at_rest.filter(|_| self.rests());
                self.size = Some(grown.min(at_rest.unwrap_or(f64::INFINITY)).min(self.limits.most));
                self.accept(time);
                return Ok(());
            }
            let first_stage = self.stages.iter().flat_map(|stages| stages[0]);
            if let Some(entry) = not_finite(self.state.own()).or(first_stage.into_iter().position(|x| !x.is_finite())) {
                return Err(self.failed(StepFailure::NotFinite { entry }));
            }
            let error = if is_finite { error } else { f64::INFINITY };
            self.rejected += 1;
            if shrinking.is_some() {
                self.look_closer(size);
            }
            shrinking = Some(self.rejection(error));
            proposed = size * self.pair.control.shrinkage(error);
            first = 1;
        }
    }

    /// Where a step towards `until` ends at the latest.
    fn before_jump(&mut self, until: f64) -> f64 {
        let Some(driver) = self.field.driver() else { return until };
        self.knows_derivative &= !self.is_at_jump();
        self.jump = driver.hold(self.time);
        until.min(self.jump)
    }

    /// Whether inputs of the field jump where the next step begins.
    pub(crate) fn is_at_jump(&self) -> bool {
        self.time >= self.jump
    }

    /// Puts f at the state into the first stage.
    fn find_derivative(&mut self) {
        if self.knows_derivative {
            let last = self.pair.last;
            self.stages.iter_mut().for_each(|stages| stages[0] = stages[last]);
        } else {
            self.evaluate_at_state(0);
        }
    }

    /// Puts f at the state into a stage.
    fn evaluate_at_state(&mut self, stage: usize) {
        self.field.value(self.state.all(), self.rates.all_mut());
        self.evaluations += 1;
        self.stages.iter_mut().zip(self.rates.blocks()).for_each(|(stages, rates)| stages[stage] = *rates);
    }

    fn first_size(&mut self, remaining: f64) -> f64 {
        let Self { field, state, facts, evaluations, .. } = self;
        let rates = self.stages.iter().flat_map(|stages| stages[0]);
        let rates = Blocks::of(&rates.take(state.len()).collect::<Vec<f64>>());
        let mut change = |step: f64| {
            let point = Blocks::from_fn(state.len(), |i| state[i] + step * rates[i]);
            let mut there = Blocks::zeros(state.len());
            field.value(point.all(), there.all_mut());
            *evaluations += 1;
            Blocks::from_fn(state.len(), |i| there[i] - rates[i])
        };
        let order = self.pair.control.order;
        let step_start = StepStart { time: self.time, x: state.own(), rates: rates.own(), order };
        let entries = (state.len(), facts.clock);
        match self.scale.by_size() {
            Some((rtol, [sizes, _])) => {
                let of_rates = flat_largest(&rates, continues(facts));
                let measure = Measure::Sizes { rtol, sizes: sizes.own(), of_rates: of_rates.own() };
                step_start.first_size(&measure, entries, remaining, &mut change)
            }
            None => {
                self.scale.weigh(state, state, 0.0, &mut self.weights);
                step_start.first_size(&Measure::Weights(self.weights.own()), entries, remaining, &mut change)
            }
        }
    }

    /// Refuses another attempt after too many or when it would be too short, which has a reason when others were rejected.
    fn check(&mut self, size: f64, shrinking: Option<StepFailure>) -> Result<(), StepFailure> {
        if self.steps + self.rejected >= self.max_steps {
            return Err(self.failed(StepFailure::TooManySteps { limit: self.max_steps }));
        }
        if 0.1 * size <= self.time.abs() * f64::EPSILON || size < f64::MIN_POSITIVE {
            return Err(self.failed(shrinking.unwrap_or(StepFailure::Underflow)));
        }
        Ok(())
    }

    /// Puts the state after a step of size h into its place, and returns the error of that step. The stages before the `first` are known.
    fn attempt(&mut self, h: f64, first: usize) -> f64 {
        if first == 0 {
            self.evaluate_at_state(0);
        }
        let last = self.pair.last;
        // An embedded method evaluates the field after the step, too.
        let end = if matches!(self.pair.error, ErrorEstimate::Embedded(_)) { last + 1 } else { last };
        for i in 1..=last {
            let row = &self.pair.a[i];
            for ((next, x), stages) in self.next.blocks_mut().iter_mut().zip(self.state.blocks()).zip(&self.stages) {
                *next = extended(x, h, &stages[..i - 1], &stages[i - 1], row);
            }
            if i < end {
                self.field.value(self.next.all(), self.rates.all_mut());
                self.stages.iter_mut().zip(self.rates.blocks()).for_each(|(stages, rates)| stages[i] = *rates);
            }
        }
        self.evaluations += (end - 1) as u64;
        self.find_weights(h);
        self.find_error(h)
    }

    /// Puts the weights of the errors of a step of size h into their place.
    fn find_weights(&mut self, h: f64) {
        self.reached.reach(&self.scale, &self.next, &mut self.weights, continues(self.facts));
        self.reached.weigh(&self.state, &self.next, h, &mut self.weights);
    }

    /// Puts the error of a step of size `h` into its place, and returns its norm in units of the tolerance.
    fn find_error(&mut self, h: f64) -> f64 {
        let Self { error, stages, pair, weights, rates: third, .. } = self;
        let dimension = error.len();
        let differ = |error: &mut Blocks, count: usize, difference: &[f64]| {
            for (error, stages) in error.blocks_mut().iter_mut().zip(&*stages) {
                *error = advanced(&filled(0.0), h, &stages[..count], difference);
            }
        };
        match &pair.error {
            ErrorEstimate::Embedded(difference) => {
                differ(error, STAGES, difference);
                norm(error.all(), weights.all(), dimension)
            }
            ErrorEstimate::Combined { fifth, third: of_third } => {
                differ(error, pair.last, fifth);
                differ(third, pair.last, of_third);
                let square = |v: &Blocks| mean_square(v.all(), weights.all(), dimension);
                combined(square(error), square(third))
            }
            ErrorEstimate::LastStage => f64::INFINITY,
        }
    }

    /// See the method of this name of [`Integrator`](super::integrator::Integrator).
    #[cold]
    fn look_closer(&mut self, h: f64) {
        if self.scale.by_size().is_none() {
            return;
        }
        let clock = self.facts.clock;
        let at_state = self.stages.iter().flat_map(|stages| stages[0]).take(self.state.len());
        let at_state = Blocks::of(&at_state.collect::<Vec<f64>>());
        let near = flat_nudged(&self.state, clock, self.steps + self.rejected);
        self.field.value(near.all(), self.rates.all_mut());
        self.evaluations += 1;
        let (places, at_rest) = ([&self.state, &at_state, &self.next], self.limits.at_rest);
        self.scale.look_closer(&self.rates, places, h, continues(self.facts), (clock, at_rest));
    }

    /// Why an attempt failed, which becomes the reason of a failure if all shorter ones fail, too.
    #[cold]
    fn rejection(&self, error: f64) -> StepFailure {
        let of_stage = |stage: usize| {
            let mut entries = self.stages.iter().flat_map(|stages| stages[stage]);
            entries.position(|entry| !entry.is_finite())
        };
        match (0..self.pair.last).find_map(of_stage).or(not_finite(self.next.own())) {
            Some(entry) if !error.is_finite() => StepFailure::NotFinite { entry },
            _ => StepFailure::Underflow,
        }
    }

    /// Whether the step that is made moves nothing but the time.
    #[cold]
    fn rests(&mut self) -> bool {
        let mut change = Blocks::from_fn(self.state.len(), |i| self.next[i] - self.state[i]);
        self.facts.clock.into_iter().for_each(|clock| change.own_mut()[clock] = 0.0);
        self.reached.weigh(&self.state, &self.next, 0.0, &mut self.weights);
        norm(change.all(), self.weights.all(), self.state.len()) <= REST
    }

    fn accept(&mut self, time: f64) {
        self.previous_time = self.time;
        self.previous_state.copy(&self.state);
        self.time = time;
        self.state.copy(&self.next);
        self.facts.clock.into_iter().for_each(|clock| self.state.own_mut()[clock] = time);
        std::mem::swap(&mut self.scale, &mut self.reached);
        self.knows_derivative = matches!(self.pair.error, ErrorEstimate::Embedded(_));
        self.steps += 1;
    }

    fn failed(&mut self, reason: StepFailure) -> StepFailure {
        self.previous_time = self.time;
        self.previous_state.copy(&self.state);
        reason
    }

    /// The last step as a polynomial in time for each entry.
    pub(crate) fn dense_output(&mut self) -> Vec<DenseOutput<[f64; 1]>> {
        let (time, h, last) = (self.previous_time, self.time - self.previous_time, self.pair.last);
        if h != 0.0 {
            if !self.knows_derivative {
                self.evaluate_at_state(last);
                self.knows_derivative = true;
            }
            for i in last + 1..STAGES {
                let blocks = self.next.blocks_mut().iter_mut().zip(self.previous_state.blocks());
                for ((next, start), stages) in blocks.zip(&self.stages) {
                    *next = advanced(start, h, &stages[..i], &self.pair.a[i]);
                }
                self.field.value(self.next.all(), self.rates.all_mut());
                self.evaluations += 1;
                self.stages.iter_mut().zip(self.rates.blocks()).for_each(|(stages, rates)| stages[i] = *rates);
            }
        }
        let polynomial = |i: usize| {
            let (block, place) = (i / LENGTH, i % LENGTH);
            let stages = self.stages[block].map(|stage| [stage[place]]);
            let (start, end) = ([self.previous_state[i]], [self.state[i]]);
            if h == 0.0 {
                DenseOutput::constant(time, start)
            } else {
                DenseOutput::new(self.pair, time, h, start, &end, &stages)
            }
        };
        (0..self.state.len()).map(polynomial).collect()
    }

    /// f at the state, if the next step begins with it.
    pub(crate) fn derivative(&self) -> Option<Vec<f64>> {
        let is_known = self.knows_derivative && !self.is_at_jump();
        let last = self.stages.iter().flat_map(|stages| stages[self.pair.last]);
        is_known.then(|| last.take(self.state.len()).collect())
    }

    /// The sizes and roundings from which absolute tolerances follow, where none are given.
    pub(crate) fn sizes(&self) -> Option<[Vec<f64>; 2]> {
        self.scale.by_size().map(|(_, sizes)| sizes.map(|of| of.own().to_vec()))
    }

    /// The tolerance of an entry of the state.
    pub(crate) fn tolerance(&self, entry: usize) -> f64 {
        self.scale.tolerance(&self.state, entry)
    }

    /// Resumes at a time and a state, with f there and sizes where they are known.
    pub(crate) fn resume(&mut self, time: f64, state: &[f64], derivative: Option<&[f64]>, sizes: Option<[&[f64]; 2]>) {
        (self.time, self.previous_time) = (time, time);
        (self.state, self.previous_state) = (Blocks::of(state), Blocks::of(state));
        self.knows_derivative = derivative.is_some();
        let rates = derivative.map_or_else(|| Blocks::zeros(state.len()), Blocks::of);
        let last = self.pair.last;
        self.stages.iter_mut().zip(rates.blocks()).for_each(|(stages, rates)| stages[last] = *rates);
        self.jump = f64::INFINITY;
        sizes.into_iter().for_each(|sizes| self.scale.set_sizes(sizes));
    }
}
