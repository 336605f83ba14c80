//! Runge-Kutta methods on slices of any length: what [`FixedStep`] and [`Integrator`](super::integrator::Integrator) do, in lists, with
//! the same arithmetic in blocks.

use std::mem;

use crate::error::failure::StepFailure;
use crate::field::Driver;
use crate::field::flat::FlatField;
use crate::hold::projection::Land;
use crate::hold::projection::flat::FlatProjector;
use crate::method::advance::Advance;
use crate::method::error_control::{Attempts, Controlled, Measure, Progress, StepStart};
use crate::method::geometric::OneStep;
use crate::method::settings::{FixedStep, with_tableau};
use crate::numbers::blocks::{Block, Blocks, LENGTH};
use crate::numbers::linear::{filled, not_finite};
use crate::stages::dense_output::DenseOutput;
use crate::stages::rodas5p::{self, StepMatrix};
use crate::stages::step_size::REST;
use crate::stages::tableau::{EULER, ErrorEstimate, HEUN, MIDPOINT, Pair, RK4, Tableau, advanced, combined, extended};
use crate::stages::tolerance::{FlatScale, Tolerance, largest_of_variables, mean_square, norm, nudged};
use crate::system::{StateEntry, SystemFacts};

/// The most stages of a method with a fixed step.
const MOST_FIXED: usize = 4;

/// Steps of an explicit method along a field.
pub(crate) struct FlatExplicit<'f> {
    method: FixedStep,
    field: &'f FlatField<'f>,
    /// f where the step began.
    first: Blocks,
    memory: StageMemory,
}

/// Memory for the stages of each block, a state and its rates.
struct StageMemory {
    stages: Vec<[Block; MOST_FIXED]>,
    point: Blocks,
    rates: Blocks,
}

impl<'f> FlatExplicit<'f> {
    pub(crate) fn new(method: FixedStep, field: &'f FlatField<'f>) -> Self {
        let zeros = Blocks::zeros(field.facts().state.len());
        let stages = vec![[filled(0.0); MOST_FIXED]; zeros.blocks().len()];
        let memory = StageMemory { stages, point: zeros.clone(), rates: zeros.clone() };
        Self { method, field, first: zeros, memory }
    }

    /// One step of size `h`, given f where it begins.
    fn advance(&mut self, x: &mut Blocks, h: f64) {
        let Self { method, field, first, memory } = self;
        with_tableau!(method, |tableau| flat_stages(tableau, field, x, h, first, memory));
    }
}

impl Advance<FlatProjector<'_>> for FlatExplicit<'_> {
    fn keeps_derivative(&self) -> bool {
        true
    }

    fn step(&mut self, x: &mut Blocks, h: f64) -> Result<(), StepFailure> {
        self.field.value(x.all(), self.first.all_mut());
        self.advance(x, h);
        Ok(())
    }

    fn projected_step(
        &mut self,
        projector: &mut FlatProjector<'_>,
        x: &mut Blocks,
        h: f64,
        time: f64,
    ) -> Result<(), StepFailure> {
        let begin = x.clone();
        match &projector.derivative {
            Some(derivative) => self.first.copy(derivative),
            None => self.field.value(x.all(), self.first.all_mut()),
        }
        self.advance(x, h);
        let Self { method, field, memory, .. } = self;
        let facts = field.facts();
        FlatProjector::set_clock(facts, x, time);
        let error = |end: &Blocks, block: usize, switches: bool| {
            with_tableau!(method, |tableau| {
                let estimate = if switches { tableau.error_of_switching() } else { tableau.error_of(facts) };
                estimate.of(first(&memory.stages[block]), &end.blocks()[block], h)
            })
        };
        projector.land_fixed(&begin, x, h, &mut |x, rates| field.value(x, rates), &error);
        Ok(())
    }

    fn rates(&self, x: &Blocks) -> Blocks {
        self.field.rates(x)
    }

    fn evaluations(&self) -> u64 {
        self.method.evaluations()
    }

    fn decay_rate(&self, x: &Blocks) -> f64 {
        self.field.decay_rate(x.own())
    }
}

/// Steps of a geometric integrator, or of a map that is given.
pub(crate) struct FlatGeometric<'f> {
    pub(crate) map: Box<dyn OneStep<[f64]> + 'f>,
    pub(crate) field: &'f FlatField<'f>,
}

impl Advance<FlatProjector<'_>> for FlatGeometric<'_> {
    fn step(&mut self, x: &mut Blocks, h: f64) -> Result<(), StepFailure> {
        self.map.step(x.own_mut(), h);
        Ok(())
    }

    fn rates(&self, x: &Blocks) -> Blocks {
        self.field.rates(x)
    }

    fn evaluations(&self) -> u64 {
        self.map.evaluations_per_step()
    }
}

/// The first of the stages of a block.
fn first<const S: usize>(stages: &[Block; MOST_FIXED]) -> &[Block; S] {
    const { assert!(S <= MOST_FIXED) };
    stages.first_chunk().unwrap_or(const { &[[0.0; LENGTH]; S] })
}

fn flat_stages<const S: usize>(
    tableau: &Tableau<S>,
    field: &FlatField<'_>,
    x: &mut Blocks,
    h: f64,
    derivative: &Blocks,
    memory: &mut StageMemory,
) {
    let StageMemory { stages, point, rates } = memory;
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

/// An integration under error control by a method with `STAGES` stages.
pub(crate) struct FlatIntegrator<'f, const STAGES: usize> {
    field: &'f FlatField<'f>,
    facts: &'static SystemFacts,
    pair: &'static Pair,
    /// The weights of errors where the next step begins, and where the last attempt ended.
    scale: FlatScale,
    reached: FlatScale,
    progress: Progress,
    state: Blocks,
    previous_state: Blocks,
    /// The stages of each block.
    stages: Vec<[Block; STAGES]>,
    /// The error of the last step, as the method estimates it.
    error: Blocks,
    /// The matrix of the steps of an implicit method.
    matrix: StepMatrix,
    /// Memory for a state, its rates, and what goes with it.
    next: Blocks,
    rates: Blocks,
    weights: Blocks,
}

/// Returns `true` if an entry continues the variable of the one before.
pub(super) fn continues(facts: &'static SystemFacts) -> impl Fn(usize) -> bool {
    |entry| StateEntry::continues(facts.state, entry)
}

impl<'f, const STAGES: usize> FlatIntegrator<'f, STAGES> {
    pub(crate) fn new(
        field: &'f FlatField<'f>,
        pair: &'static Pair,
        start: &[f64],
        tolerance: &Tolerance,
        progress: Progress,
    ) -> Self {
        let (facts, state) = (field.facts(), Blocks::of(start));
        let scale = FlatScale::new(tolerance, &state, continues(facts));
        let zeros = Blocks::zeros(start.len());
        Self {
            field,
            facts,
            pair,
            reached: scale.clone(),
            scale,
            progress,
            previous_state: state.clone(),
            stages: vec![[filled(0.0); STAGES]; state.blocks().len()],
            state,
            error: zeros.clone(),
            matrix: StepMatrix::new(if pair.is_implicit() { start.len() } else { 0 }),
            next: zeros.clone(),
            rates: zeros.clone(),
            weights: zeros,
        }
    }

    /// Puts f at the state into a stage.
    fn evaluate_at_state(&mut self, stage: usize) {
        self.field.value(self.state.all(), self.rates.all_mut());
        self.progress.evaluations += 1;
        self.stages.iter_mut().zip(self.rates.blocks()).for_each(|(stages, rates)| stages[stage] = *rates);
    }

    /// An [`attempt`](Attempts::attempt) by a Rosenbrock method: see [`rodas5p`].
    fn attempt_implicit(&mut self, h: f64) -> (Blocks, f64) {
        self.matrix.factorise(h);
        if self.matrix.is_singular() {
            return (self.state.clone(), f64::INFINITY);
        }
        let Self { field, pair, state, stages, matrix, rates, progress, .. } = self;
        let mut end = state.clone();
        for i in 1..=pair.last {
            if i > 1 {
                for ((end, x), stages) in end.blocks_mut().iter_mut().zip(state.blocks()).zip(&*stages) {
                    *end = advanced(x, 1.0, &stages[..i], &pair.a[i]);
                }
                field.value(end.all(), rates.all_mut());
                progress.evaluations += 1;
                for (rates, stages) in rates.blocks_mut().iter_mut().zip(&*stages) {
                    *rates = advanced(rates, h.recip(), &stages[..i], &rodas5p::C[i]);
                }
            } else {
                rates.blocks_mut().iter_mut().zip(&*stages).for_each(|(rates, stages)| *rates = stages[0]);
            }
            matrix.solve(rates.own_mut());
            stages.iter_mut().zip(rates.blocks()).for_each(|(stages, rates)| stages[i] = *rates);
        }
        let next = Blocks::from_fn(state.len(), |entry| end[entry] + rates[entry]);
        self.find_weights(&next, h);
        let error = self.find_error(h);
        (next, error)
    }

    /// Puts the weights of the errors of a step of size h to a state into their place.
    fn find_weights(&mut self, next: &Blocks, h: f64) {
        self.reached.reach(&self.scale, next, &mut self.weights, continues(self.facts));
        self.reached.weigh(&self.state, next, h, &mut self.weights);
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
            ErrorEstimate::LastStage => {
                error.blocks_mut().iter_mut().zip(&*stages).for_each(|(error, stages)| *error = stages[pair.last]);
                norm(error.all(), weights.all(), dimension)
            }
        }
    }
}

impl<const STAGES: usize> Attempts for FlatIntegrator<'_, STAGES> {
    type State = Blocks;
    const IS_IMPLICIT: bool = STAGES == rodas5p::STAGES;

    fn pair(&self) -> &'static Pair {
        self.pair
    }

    fn driver(&self) -> Option<&dyn Driver> {
        self.field.driver()
    }

    fn progress(&self) -> &Progress {
        &self.progress
    }

    fn progress_mut(&mut self) -> &mut Progress {
        &mut self.progress
    }

    fn begin_and_error(&self) -> [&Blocks; 2] {
        [&self.state, &self.error]
    }

    fn find_derivative(&mut self) {
        if self.progress.knows_derivative {
            let last = self.pair.last;
            self.stages.iter_mut().for_each(|stages| stages[0] = stages[last]);
        } else {
            self.evaluate_at_state(0);
        }
    }

    fn first_size(&mut self, direction: f64, remaining: f64) -> f64 {
        let Self { field, state, facts, progress, .. } = self;
        let (time, evaluations) = (progress.time, &mut progress.evaluations);
        let rates = self.stages.iter().flat_map(|stages| stages[0]);
        let rates = Blocks::of(&rates.take(state.len()).collect::<Vec<f64>>());
        let mut change = |step: f64| {
            let point = Blocks::from_fn(state.len(), |i| state[i] + direction * step * rates[i]);
            let mut there = Blocks::zeros(state.len());
            field.value(point.all(), there.all_mut());
            *evaluations += 1;
            Blocks::from_fn(state.len(), |i| there[i] - rates[i])
        };
        let order = self.pair.control.order;
        let step_start = StepStart { time, x: state.own(), rates: rates.own(), order };
        let entries = (state.len(), facts.clock);
        match self.scale.by_size() {
            Some((rtol, [sizes, _])) => {
                let of_rates = largest_of_variables(&rates, continues(facts));
                let measure = Measure::Sizes { rtol, sizes: sizes.own(), of_rates: of_rates.own() };
                step_start.first_size(&measure, entries, remaining, &mut change)
            }
            None => {
                self.scale.weigh(state, state, 0.0, &mut self.weights);
                step_start.first_size(&Measure::Weights(self.weights.own()), entries, remaining, &mut change)
            }
        }
    }

    fn linearise(&mut self) -> Result<(), StepFailure> {
        let is_defined = Attempts::not_finite(self).is_none();
        let Self { matrix, field, state, .. } = self;
        matrix.linearise(|add| field.jacobian(state, add));
        match matrix.not_finite() {
            // Else the attempts say what is not finite.
            Some(entry) if is_defined => Err(StepFailure::Jacobian { entry }),
            _ => Ok(()),
        }
    }

    fn attempt(&mut self, h: f64, first: usize) -> (Blocks, f64) {
        if const { Self::IS_IMPLICIT } {
            return self.attempt_implicit(h);
        }
        if first == 0 {
            self.evaluate_at_state(0);
        }
        let mut next = match mem::take(&mut self.next) {
            next if next.len() == self.state.len() => next,
            _ => self.state.clone(),
        };
        let last = self.pair.last;
        // An embedded method evaluates the field after the step, too.
        let end = if matches!(self.pair.error, ErrorEstimate::Embedded(_)) { last + 1 } else { last };
        for i in 1..=last {
            let row = &self.pair.a[i];
            for ((next, x), stages) in next.blocks_mut().iter_mut().zip(self.state.blocks()).zip(&self.stages) {
                *next = extended(x, h, &stages[..i - 1], &stages[i - 1], row);
            }
            if i < end {
                self.field.value(next.all(), self.rates.all_mut());
                self.stages.iter_mut().zip(self.rates.blocks()).for_each(|(stages, rates)| stages[i] = *rates);
            }
        }
        self.progress.evaluations += (end - 1) as u64;
        self.find_weights(&next, h);
        let error = self.find_error(h);
        (next, error)
    }

    fn not_finite_at(next: &Blocks) -> Option<usize> {
        not_finite(next)
    }

    fn not_finite(&self) -> Option<usize> {
        let mut rates = self.stages.iter().flat_map(|stages| stages[0]);
        not_finite(&self.state).or(rates.position(|rate| !rate.is_finite()))
    }

    #[cold]
    fn look_closer(&mut self, next: &Blocks, h: f64) {
        if self.scale.by_size().is_none() {
            return;
        }
        let clock = self.facts.clock;
        let at_state = self.stages.iter().flat_map(|stages| stages[0]).take(self.state.len());
        let at_state = Blocks::of(&at_state.collect::<Vec<f64>>());
        let near = nudged(&self.state, clock, self.progress.steps + self.progress.rejected);
        self.field.value(near.all(), self.rates.all_mut());
        self.progress.evaluations += 1;
        let (places, at_rest) = ([&self.state, &at_state, next], self.progress.limits.at_rest);
        self.scale.look_closer(&self.rates, places, h, continues(self.facts), (clock, at_rest));
    }

    #[cold]
    fn rejection(&self, next: &Blocks, error: f64) -> StepFailure {
        if self.matrix.is_singular() {
            return StepFailure::Singular;
        }
        let of_stage = |stage: usize| {
            let mut entries = self.stages.iter().flat_map(|stages| stages[stage]);
            entries.position(|entry| !entry.is_finite())
        };
        match (0..self.pair.last).find_map(of_stage).or(not_finite(next)) {
            Some(entry) if !error.is_finite() => StepFailure::NotFinite { entry },
            _ => StepFailure::Underflow,
        }
    }

    #[cold]
    fn rests_until(&mut self, next: &Blocks) -> bool {
        let mut change = Blocks::from_fn(self.state.len(), |i| next[i] - self.state[i]);
        self.facts.clock.into_iter().for_each(|clock| change.own_mut()[clock] = 0.0);
        self.reached.weigh(&self.state, next, 0.0, &mut self.weights);
        norm(change.all(), self.weights.all(), self.state.len()) <= REST
    }

    fn accept(&mut self, next: Blocks) {
        let state = mem::replace(&mut self.state, next);
        self.next = mem::replace(&mut self.previous_state, state);
        FlatProjector::set_clock(self.facts, &mut self.state, self.progress.time);
        mem::swap(&mut self.scale, &mut self.reached);
    }
}

impl<'s, const STAGES: usize> Controlled<FlatProjector<'s>> for FlatIntegrator<'_, STAGES> {
    fn step_and_land(&mut self, until: f64, lander: Option<&mut FlatProjector<'s>>) -> Result<(), StepFailure> {
        let step = match lander {
            Some(projector) => {
                if self.progress.is_at_jump() {
                    projector.begin_anew();
                }
                self.step_and(until, &mut |begin, error, h, end| projector.land(begin, error, h, end))
            }
            None => self.step_and(until, &mut |_, _, _, _| ()),
        };
        if step.is_err() {
            self.progress.previous_time = self.progress.time;
            self.previous_state.copy(&self.state);
        }
        step
    }

    fn polynomial(&mut self) -> Vec<DenseOutput<[f64; 1]>> {
        let Progress { time: end, previous_time: time, .. } = self.progress;
        let (h, last) = (end - time, self.pair.last);
        if h != 0.0 {
            if !Self::IS_IMPLICIT && !self.progress.knows_derivative {
                self.evaluate_at_state(last);
                self.progress.knows_derivative = true;
            }
            for i in last + 1..STAGES {
                let blocks = self.next.blocks_mut().iter_mut().zip(self.previous_state.blocks());
                for ((next, start), stages) in blocks.zip(&self.stages) {
                    *next = advanced(start, h, &stages[..i], &self.pair.a[i]);
                }
                self.field.value(self.next.all(), self.rates.all_mut());
                self.progress.evaluations += 1;
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

    fn tolerance(&self, entry: usize) -> f64 {
        self.scale.tolerance(&self.state, entry)
    }

    fn last_rates(&self) -> Blocks {
        let last = self.stages.iter().flat_map(|stages| stages[self.pair.last]);
        Blocks::of(&last.take(self.state.len()).collect::<Vec<f64>>())
    }

    fn sizes(&self) -> Option<[Blocks; 2]> {
        self.scale.by_size().map(|(_, sizes)| sizes.map(Blocks::clone))
    }

    fn take(&mut self, state: Blocks, last_rates: Option<Blocks>, sizes: Option<[Blocks; 2]>) {
        let rates = last_rates.unwrap_or_else(|| Blocks::zeros(state.len()));
        let last = self.pair.last;
        self.stages.iter_mut().zip(rates.blocks()).for_each(|(stages, rates)| stages[last] = *rates);
        (self.previous_state, self.state) = (state.clone(), state);
        sizes.into_iter().for_each(|sizes| self.scale.set_sizes(sizes));
    }
}
