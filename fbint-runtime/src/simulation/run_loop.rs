//! A run under way: the one loop over steps, whatever the method is, and what happens after each of them.

use std::ops::ControlFlow;

use super::course::Course;
use super::event_search::{EventSearch, Stop};
use super::record::{FlatSample, Record};
use super::run::{FlatOccurrence, FlatRun};
use super::sampled::LawSamples;
use super::sampling::{DueTimes, SampleTimes, Sampling};
use super::schedule::{Schedule, Span};
use super::snapshot::{Moment, Origin, Past, PastOccurrence, Snapshot};
use super::stepper::{Control, Memory, Stepper};
use super::switching::{AppendSwitches, Switching};
use crate::error::{Error, Failure};
use crate::field::Driver;
use crate::field::sides::Side;
use crate::hold::consistent_start::Parameters;
use crate::stages::step_size::LEAST_LOG_ERROR;
use crate::system::StateEntry;
use crate::system::dynamical_system::DynamicalSystem;

/// A function that watches a run, and may interrupt it.
pub type Watch<'w> = dyn FnMut(&Moment<'_>) -> ControlFlow<()> + 'w;

/// A run under way.
pub(super) struct RunLoop<'a> {
    system: &'a dyn DynamicalSystem,
    parameters: Parameters<'a>,
    record: Record<'a>,
    observer: Box<Watch<'a>>,
    search: EventSearch<'a>,
    origin: Origin,
    span: Span,
    samples: Option<SampleTimes>,
    /// The samples of the laws of inputs, if they are sampled.
    laws: Option<LawSamples>,
    /// Where to go on instead of at the start.
    from: Option<ResumePoint>,
    /// The state whose integrals are the targets, until a reset, if the run continues another one.
    reference: Option<Vec<f64>>,
}

/// The point at which a run continues, besides its record.
struct ResumePoint {
    time: f64,
    /// The number of whole steps of a fixed size.
    steps: u64,
    /// The number of steps from one sample to the next, under error control.
    stride: u64,
    memory: Memory,
}

/// The arguments of [`RunLoop::new`].
pub(super) struct RunInputs<'a> {
    pub(super) system: &'a dyn DynamicalSystem,
    pub(super) parameters: Parameters<'a>,
    pub(super) span: Span,
    /// The start as it was given.
    pub(super) given: Vec<f64>,
    /// The start of the run.
    pub(super) start: Vec<f64>,
    pub(super) targets: Vec<f64>,
    pub(super) is_projected: bool,
    pub(super) laws: Option<LawSamples>,
    pub(super) course: Course<'a>,
    pub(super) origin: Origin,
}

/// The end of a part of a run.
pub(super) enum Segment {
    /// It is the last.
    Ended(Ended),
    /// The run continues from a reset, with another field.
    Reset,
}

/// The cost of a run, and the steps that it has kept.
pub(super) struct Ended {
    pub(super) steps: u64,
    pub(super) evaluations: u64,
    /// The number of steps from one sample to the next, under error control.
    pub(super) stride: u64,
}

/// When steps end.
pub(super) enum Pace<'p> {
    /// As a schedule says. The field is held by a driver, if it has one, and a feedback must not decay faster than a method with this
    /// real stability interval can follow.
    Fixed { schedule: &'p Schedule, driver: Option<&'p dyn Driver>, interval: f64 },
    /// Where error control ends them.
    Controlled,
}

/// The progress of a segment of a run.
struct SegmentProgress {
    /// The number of whole steps of a fixed size.
    number: u64,
    /// The rest of a step of a fixed size that a reset has cut in two. It comes first, and no watcher is called before.
    rest: Option<f64>,
    sampling: Sampling,
}

/// Refuses a feedback whose rate of decay is too large for steps of size `h`.
pub(crate) fn check_stability(time: f64, h: f64, rate: f64, interval: f64) -> Result<(), Error> {
    if h * rate <= interval { Ok(()) } else { Err(Error::UnstableGains { time, h, rate, interval }) }
}

impl<'a> RunLoop<'a> {
    pub(super) fn new(inputs: RunInputs<'a>) -> Result<Self, Error> {
        let RunInputs { system, parameters, span, given, start, targets, is_projected, laws, course, origin } = inputs;
        let Course { samples, observer, events, from, .. } = course;
        let mut record = Record::new(system, parameters.extremes(), span.from, &start, &targets)?;
        if is_projected {
            record.moved_from(&given);
            record.name_singular_gradients();
        }
        let search = EventSearch::new(system.facts(), events, span.from);
        let mut run = Self {
            system,
            parameters,
            record,
            observer,
            search,
            origin,
            span,
            samples,
            laws,
            from: None,
            reference: None,
        };
        if let Some(snapshot) = from {
            run.restore(snapshot)?;
        }
        Ok(run)
    }

    /// Shows the run to another function than that of its course.
    pub(super) fn show_to(&mut self, watch: Option<&'a mut Watch<'_>>) {
        if let Some(watch) = watch {
            self.observer = Box::new(watch);
        }
    }

    /// Takes a sample of the laws of inputs if it is due, and hands the state whose laws hold to the field.
    pub(super) fn hold_laws(&mut self, hold: &mut dyn FnMut(Option<&[f64]>)) {
        if let Some(laws) = &mut self.laws {
            laws.take(self.record.last.time, &self.record.last.state);
            hold(laws.held());
        }
    }

    /// Chooses the sides of the field's switches on which the run continues, and returns them.
    pub(super) fn choose_sides(&mut self, field: &mut dyn Switching) -> Vec<Side> {
        let FlatSample { time, state, .. } = &self.record.last;
        self.search.choose_sides(*time, state, field);
        self.search.sides().to_vec()
    }

    fn restore(&mut self, snapshot: Snapshot) -> Result<(), Error> {
        if snapshot.events.is_some() != self.search.is_needed() {
            return Err(Error::ForeignSnapshot { reason: "only one of both has events" });
        }
        snapshot.check(self.system, &self.origin)?;
        snapshot.events.iter().try_for_each(|past| self.search.restore(past))?;
        self.record.restore(&snapshot, self.search.last_reset())?;
        if let Some(laws) = &mut self.laws {
            laws.restore(snapshot.time, &snapshot.laws);
        }
        let Snapshot { time, steps, stride, memory, reference, .. } = snapshot;
        self.reference = reference;
        self.from = Some(ResumePoint { time, steps, stride, memory });
        Ok(())
    }

    /// Where the run, or what is left of it after the last reset, began, if that is not the start as it was given.
    pub(super) fn new_start(&self) -> Option<&[f64]> {
        let moved = self
            .record
            .has_moved_start()
            .then(|| self.record.trajectory.iter().next())
            .flatten()
            .map(|start| start.state);
        self.reference.as_deref().or_else(|| self.search.last_reset()).or(moved)
    }

    /// Where the integrals are to be kept.
    pub(super) fn targets(&self) -> &[f64] {
        self.record.targets()
    }

    /// The run, which has ended.
    pub(super) fn end(self, Ended { steps, evaluations, stride }: Ended) -> Result<FlatRun, Error> {
        let FlatSample { time, state, .. } = self.record.last.clone();
        let (trajectory, findings) = self.record.end()?;
        let named = |past: &PastOccurrence| {
            let PastOccurrence { event, time, state, reset } = past.clone();
            FlatOccurrence { event, name: self.search.name(event).to_owned(), time, state, reset }
        };
        let (events, ended_by) = (self.search.own_occurrences().iter().map(named).collect(), self.search.end);
        Ok(FlatRun {
            time,
            state,
            trajectory,
            steps,
            evaluations,
            stride,
            findings,
            events,
            ended_by,
            dense_output: Vec::new(),
            projection: None,
        })
    }

    /// Makes the steps to the end of the run, or to a reset.
    pub(super) fn follow(
        &mut self,
        stepper: &mut dyn Stepper,
        pace: &Pace<'_>,
        append: AppendSwitches<'_>,
    ) -> Result<Segment, Error> {
        let mut progress = self.begin(stepper, pace)?;
        self.begin_search(append)?;
        loop {
            if self.is_over(stepper, pace, &progress) {
                return Ok(Segment::ended(stepper, &progress));
            }
            let (until, h) = self.next_step(stepper, pace, &mut progress)?;
            stepper.step(until, h).map_err(|reason| self.record.halted(reason))?;
            // The end of a step that is cut is in no record: beyond an event or a switch, integrals may have other values, or none.
            if self.search.is_needed()
                && let Some(stop) = self.look(stepper, append)?
            {
                return self.stop_in_step(&stop, stepper, pace, progress);
            }
            let landed = stepper.landed();
            // By reference: a copy in wider pieces would wait for what was just written entry by entry.
            if let Some(landed) = &landed {
                self.record.landed(landed, stepper)?;
            }
            let is_projected = landed.is_some();
            // Before the step is recorded: the last good state is where it begins.
            let mut due = Vec::new();
            if let Sampling::Times(times) = &mut progress.sampling {
                let end = stepper.end().0;
                let is_cut = pace.schedule().is_none_or(|schedule| schedule.time(progress.number) != end);
                let reach = pace.schedule().filter(|_| !is_cut).map_or(end, |schedule| schedule.reach(progress.number));
                due = self.states_due(reach, None, stepper, pace, times)?;
            }
            stepper.keep(None)?;
            let (time, state) = stepper.end();
            self.record.add(time, state, is_projected)?;
            if self.laws.as_ref().is_some_and(|laws| laws.is_due(time)) {
                self.sample_at_stop(time, due, stepper, pace, &mut progress)?;
                return Ok(self.go_on_from(time, stepper, pace, &progress));
            }
            if self.sample(due, stepper, pace, &mut progress)? {
                pace.audit(stepper)?;
            }
        }
    }

    /// Begins to look for events where the run continues.
    fn begin_search(&mut self, append: AppendSwitches<'_>) -> Result<(), Error> {
        let Self { search, record, .. } = self;
        let (time, mut state) = (record.last.time, record.last.state.clone());
        append(&mut state);
        search.begin(time, &state).map_err(|cause| record.failed(time, cause))
    }

    /// Brings a stepper to the point at which the run continues.
    fn begin(&mut self, stepper: &mut dyn Stepper, pace: &Pace<'_>) -> Result<SegmentProgress, Error> {
        let (mut number, mut rest, mut stride) = (0, None, 1);
        if let Some(ResumePoint { time, steps, stride: kept, memory }) = &self.from {
            (number, stride) = (*steps, *kept);
            self.check_position(*time, number, stride, memory, pace)?;
            stepper.resume(self.record.last.time, &self.record.last.state, memory);
        }
        let (time, samples) = (self.record.last.time, self.record.trajectory.len() as u64);
        let times = self.samples.as_ref();
        let sampling = match pace.schedule() {
            Some(schedule) => {
                rest = (time != schedule.time(number)).then(|| schedule.time(number + 1) - time);
                Sampling::scheduled(self.span, times, samples)?
            }
            None => Sampling::new(self.span, times, stride, samples)?,
        };
        pace.audit(stepper)?;
        Ok(SegmentProgress { number, rest, sampling })
    }

    /// Refuses to go on where no step of this run ends.
    fn check_position(
        &self,
        time: f64,
        steps: u64,
        stride: u64,
        memory: &Memory,
        pace: &Pace<'_>,
    ) -> Result<(), Error> {
        let is_in_run = (self.span.from..=self.span.until).contains(&time);
        let reason = match pace.schedule() {
            Some(schedule) if steps > schedule.steps || !schedule.ends_at(steps, time) => {
                "its step or its end is another one"
            }
            None if memory.control.is_none() => "its method takes steps of one size",
            None if !is_in_run || stride == 0 => "its time is not in this run",
            _ => return Ok(()),
        };
        Err(Error::ForeignSnapshot { reason })
    }

    /// Returns `true` if the run has reached its end, or its watcher interrupts it.
    fn is_over(&mut self, stepper: &dyn Stepper, pace: &Pace<'_>, progress: &SegmentProgress) -> bool {
        let SegmentProgress { number, rest, sampling } = progress;
        let is_watched = pace.schedule().is_none_or(|schedule| rest.is_none() && schedule.is_watched(*number));
        let is_interrupted = is_watched && self.is_interrupted(stepper, *number, sampling.stride());
        is_interrupted
            || pace.schedule().map_or(self.record.last.time >= self.span.until, |schedule| *number == schedule.steps)
    }

    /// Shows the moment to the watcher.
    fn is_interrupted(&mut self, stepper: &dyn Stepper, number: u64, stride: u64) -> bool {
        let Self { record, observer, search, origin, span, laws, reference, .. } = self;
        let snapshot = || Snapshot {
            laws: laws.as_ref().map_or(Vec::new(), LawSamples::states),
            events: search.is_needed().then(|| Past { changes: record.changes(), ..search.past() }),
            reference: reference.clone(),
            ..record.snapshot(origin.clone(), number, stride, stepper.memory())
        };
        observer(&Moment { time: record.last.time, span: *span, snapshot: &snapshot }).is_break()
    }

    /// To which time the next step goes, and its size.
    fn next_step(
        &self,
        stepper: &mut dyn Stepper,
        pace: &Pace<'_>,
        progress: &mut SegmentProgress,
    ) -> Result<(f64, f64), Error> {
        pace.hold(progress.number, stepper)?;
        let (until, h) = pace.step(self.span, progress.number);
        progress.number += 1;
        let h = progress.rest.take().unwrap_or(h);
        match &self.laws {
            Some(laws) if laws.is_due_before(until) => Ok((laws.next, laws.next - self.record.last.time)),
            _ => Ok((until, h)),
        }
    }

    /// Looks for events in the last step.
    fn look(&mut self, stepper: &mut dyn Stepper, append: AppendSwitches<'_>) -> Result<Option<Stop>, Error> {
        let Self { search, record, .. } = self;
        search.look(record.last.time, stepper, append).map_err(|cause| record.failed(stepper.end().0, cause))
    }

    /// The states at the times of a list until `reach` in the last step, which may end at a stop. Between the ends of steps of a fixed
    /// size a state is the end of a shorter step, so that it is as exact as they are, and the steps are the same whatever is sampled.
    fn states_due(
        &mut self,
        reach: f64,
        stop: Option<&Stop>,
        stepper: &mut dyn Stepper,
        pace: &Pace<'_>,
        times: &mut DueTimes,
    ) -> Result<Vec<(f64, Vec<f64>)>, Error> {
        let mut due = Vec::new();
        while let Some(time) = times.next_until(reach) {
            let mut state = stop.map_or(stepper.end().1, |stop| &stop.state).to_vec();
            if !pace.schedule().is_some_and(|schedule| schedule.ends_step_at(time)) {
                stepper.within(time, &mut state).map_err(|reason| self.record.halted(reason))?;
            }
            due.push((time, state));
        }
        Ok(due)
    }

    /// Takes the samples in a step that was recorded; returns whether a schedule samples its end.
    fn sample(
        &mut self,
        due: Vec<(f64, Vec<f64>)>,
        stepper: &dyn Stepper,
        pace: &Pace<'_>,
        progress: &mut SegmentProgress,
    ) -> Result<bool, Error> {
        due.iter().try_for_each(|(time, state)| self.record.sample_at(*time, state))?;
        let is_scheduled = pace.schedule().is_some_and(|schedule| schedule.is_sampled(progress.number));
        match &mut progress.sampling {
            Sampling::Steps { stride, keeps_all } => self.record.sample_step(stepper.steps(), stride, *keeps_all)?,
            Sampling::Scheduled if is_scheduled => self.record.sample()?,
            Sampling::Scheduled | Sampling::Times(_) => {}
        }
        Ok(is_scheduled)
    }

    /// Ends or resets a run within a step.
    #[cold]
    fn stop_in_step(
        &mut self,
        stop: &Stop,
        stepper: &mut dyn Stepper,
        pace: &Pace<'_>,
        mut progress: SegmentProgress,
    ) -> Result<Segment, Error> {
        let due = match &mut progress.sampling {
            Sampling::Times(times) => self.states_due(stop.time, Some(stop), stepper, pace, times)?,
            Sampling::Steps { .. } | Sampling::Scheduled => Vec::new(),
        };
        stepper.keep(Some((stop.time, &stop.state)))?;
        self.record.add(stop.time, &stop.state, false)?;
        self.sample_at_stop(stop.time, due, stepper, pace, &mut progress)?;
        let reset = self.search.take(stop, self.system, &self.parameters);
        let reset = reset.map_err(|cause| self.record.failed(stop.time, cause))?;
        if let Some(state) = reset {
            self.record.start_at(stop.time, &state);
            self.reference = None;
        }
        if self.search.end.is_some() {
            return Ok(Segment::ended(stepper, &progress));
        }
        Ok(self.go_on_from(stop.time, stepper, pace, &progress))
    }

    /// Takes the samples in a step that ends at a time at which the run stops to go on; it may have been cut short there.
    fn sample_at_stop(
        &mut self,
        time: f64,
        due: Vec<(f64, Vec<f64>)>,
        stepper: &dyn Stepper,
        pace: &Pace<'_>,
        progress: &mut SegmentProgress,
    ) -> Result<(), Error> {
        if pace.schedule().is_none_or(|schedule| time == schedule.time(progress.number)) {
            self.sample(due, stepper, pace, progress)?;
        } else {
            due.iter().try_for_each(|(time, state)| self.record.sample_at(*time, state))?;
            progress.number -= 1;
        }
        Ok(())
    }

    /// The end of a segment from which the run continues with another field.
    fn go_on_from(&mut self, time: f64, stepper: &dyn Stepper, pace: &Pace<'_>, progress: &SegmentProgress) -> Segment {
        let Memory { steps, evaluations, control, .. } = stepper.memory();
        // The next step may be as long as after any other, or it is rejected.
        let control = control.map(|control| Control { last_log_error: LEAST_LOG_ERROR, ..control });
        self.from = Some(ResumePoint {
            time: pace.schedule().map_or(time, |schedule| schedule.time(progress.number)),
            steps: progress.number,
            stride: progress.sampling.stride(),
            memory: Memory { steps, evaluations, control, ..Memory::default() },
        });
        Segment::Reset
    }
}

impl Segment {
    fn ended(stepper: &dyn Stepper, progress: &SegmentProgress) -> Self {
        let (steps, evaluations, stride) = (stepper.steps(), stepper.evaluations(), progress.sampling.stride());
        Self::Ended(Ended { steps, evaluations, stride })
    }
}

/// Makes all steps of a run and nothing else, until `is_over` says after a step that the run does not go on.
pub(super) fn follow_alone(
    entries: &'static [StateEntry],
    parameters: &Parameters<'_>,
    stepper: &mut dyn Stepper,
    pace: &Pace<'_>,
    span: Span,
    mut is_over: impl FnMut(&mut dyn Stepper) -> bool,
) -> Result<(), Error> {
    let mut number = 0;
    while pace.schedule().map_or(stepper.end().0 < span.until, |schedule| number < schedule.steps) {
        pace.hold(number, stepper)?;
        let (until, h) = pace.step(span, number);
        stepper.step(until, h).map_err(|reason| {
            let (time, state) = stepper.end();
            Failure::of_step(reason, time, state.to_vec(), entries, parameters.extremes())
        })?;
        number += 1;
        if is_over(stepper) {
            break;
        }
    }
    Ok(())
}

impl<'p> Pace<'p> {
    pub(super) fn new(schedule: Option<&'p Schedule>, driver: Option<&'p dyn Driver>, interval: f64) -> Self {
        schedule.map_or(Self::Controlled, |schedule| Self::Fixed { schedule, driver, interval })
    }

    fn schedule(&self) -> Option<&'p Schedule> {
        match self {
            Self::Fixed { schedule, .. } => Some(schedule),
            Self::Controlled => None,
        }
    }

    /// Refuses a feedback that steps of a fixed size cannot follow.
    fn audit(&self, stepper: &dyn Stepper) -> Result<(), Error> {
        match self {
            Self::Fixed { schedule, interval, .. } => {
                check_stability(stepper.end().0, schedule.h, stepper.decay_rate(), *interval)
            }
            Self::Controlled => Ok(()),
        }
    }

    /// Holds the inputs of the step after a number of whole steps.
    pub(super) fn hold(&self, number: u64, stepper: &mut dyn Stepper) -> Result<(), Error> {
        if let Self::Fixed { schedule, driver, .. } = self
            && schedule.hold(*driver, number)?
        {
            stepper.begin_anew();
        }
        Ok(())
    }

    /// To which time the step after a number of whole steps goes, and its size, unless only a part of it is left.
    pub(super) fn step(&self, span: Span, number: u64) -> (f64, f64) {
        self.schedule()
            .map_or((span.until, 0.0), |schedule| (schedule.time(number + 1), schedule.step_size(number + 1)))
    }
}
