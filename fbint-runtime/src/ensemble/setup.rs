//! The runs of an ensemble, and the way in which they are made.

use core::sync::atomic::AtomicBool;

use crate::error::{Error, positive};
use crate::hold::projection::Hold;
use crate::method::gauss::Coefficients;

use super::progress::EnsembleProgress;
use super::samples::{FlatEnsembleRun, Shared, ShowSamples, Track, Tracks};
use crate::method::settings::{FixedStep, Settings, Stepping};
use crate::simulation::{GivenLimits, SampleTimes, Sampling, Schedule, Simulation, Span};
use crate::stages::rodas5p::RODAS5P;
use crate::stages::step_size::StepLimits;
use crate::stages::tableau::Pair;
use crate::stages::tolerance::Tolerance;
use crate::system::SystemFacts;
use crate::system::{FeedbackSystem, Vector};

/// The number of intervals that are sampled by default.
const DEFAULT_INTERVALS: f64 = 100.0;

/// All of an ensemble but the gains.
pub(super) struct EnsembleSetup<'a, S: FeedbackSystem> {
    pub(super) systems: Systems<'a, S>,
    pub(super) starts: Vec<Vector<S>>,
    /// The error of starts that memory does not hold.
    pub(super) are_held: Result<(), Error>,
    pub(super) interval: Option<f64>,
    pub(super) hold: Hold,
    pub(super) keeps_trajectories: bool,
    pub(super) show: Option<ShowSamples<'a>>,
    pub(super) progress: EnsembleProgress<'a>,
}

pub(super) enum Systems<'a, S> {
    One(&'a S),
    Each(&'a [S]),
}

impl<S: FeedbackSystem + Sync> EnsembleSetup<'_, S> {
    /// Makes the runs by `tracks`, which says what becomes of the members of a block of at most `block_size`.
    pub(super) fn sum_up(
        &self,
        settings: &ResolvedSettings,
        block_size: usize,
        tracks: &Tracks<'_>,
    ) -> Result<FlatEnsembleRun, Error> {
        let facts = self.facts();
        let shared = Shared {
            members: self.starts.len(),
            progress: &self.progress,
            show: self.show.as_ref(),
            keeps_trajectories: self.keeps_trajectories,
            times: &settings.times,
            entries: facts.state.len(),
            integrals: facts.integrals.len(),
        };
        shared.sum_up(block_size, tracks)
    }

    /// The samples of members that run one by one.
    pub(super) fn one_by_one(&self, members: &[usize], run: &RunAlone<'_, S>) -> Vec<Track> {
        let mut tracks = Vec::with_capacity(members.len());
        for &member in members {
            tracks.push(self.track(member, run));
            self.progress.advance(1);
        }
        tracks
    }

    /// The samples of a member that `run` runs, unless it is interrupted.
    pub(super) fn track(&self, member: usize, run: &RunAlone<'_, S>) -> Track {
        let is_interrupted = AtomicBool::new(false);
        let simulation = Simulation::new(self.system(member), self.starts[member])?.held(self.hold);
        let simulation = simulation.watched(self.progress.watch(&is_interrupted));
        let samples = run(member, simulation)?;
        if is_interrupted.into_inner() { Err(Error::Interrupted) } else { Ok(samples) }
    }
}

impl<S: FeedbackSystem> EnsembleSetup<'_, S> {
    pub(super) fn system(&self, member: usize) -> &S {
        match self.systems {
            Systems::One(system) => system,
            Systems::Each(systems) => &systems[member],
        }
    }

    /// The time at which members start: with 0, that in the first start, which the others must have, too.
    pub(super) fn time_at_start(&self, from: f64) -> f64 {
        match self.starts.first() {
            Some(start) if from == 0.0 => self.facts().time_in(start),
            _ => from,
        }
    }

    /// The facts that all systems share.
    pub(super) fn facts(&self) -> &'static SystemFacts {
        match self.systems {
            Systems::One(system) | Systems::Each([system, ..]) => system.facts(),
            Systems::Each([]) => const { &SystemFacts::EMPTY }.known::<S>(),
        }
    }
}

/// A function that runs a member by its simulation; returns its samples.
pub(super) type RunAlone<'a, S> = dyn Fn(usize, Simulation<'_, S>) -> Track + 'a;
/// The settings, which hold for all members, with what follows from them.
pub(super) struct ResolvedSettings {
    pub(super) given: Settings,
    /// The times of the samples.
    pub(super) times: Vec<f64>,
    pub(super) stepping: EnsembleStepping,
    pub(super) limits: (StepLimits, GivenLimits),
}

/// The way in which steps are taken.
pub(super) enum EnsembleStepping {
    /// All members at once, with steps that end at the same times.
    Fixed { method: FixedStep, schedule: Schedule },
    /// All members at once, by collocation with steps that end at the same times.
    Gauss { coefficients: Coefficients, schedule: Schedule },
    /// Every member chooses its steps; by an implicit pair in lanes only if Jacobians are known.
    Controlled { pair: &'static Pair, tolerance: Tolerance },
    /// By Taylor's method, side by side if the field is small.
    Series { tolerance: f64 },
    /// By a method that has no lanes.
    OneByOne,
}

impl ResolvedSettings {
    pub(super) fn new(settings: Settings, facts: &SystemFacts) -> Result<Self, Error> {
        let span = Span::new(settings.from, settings.until)?;
        let given = GivenLimits { max_step: settings.max_step, max_steps: settings.max_steps };
        let limits = (given.of_run(span, facts)?, given);
        let every = Some(settings.every.unwrap_or(span.length() / DEFAULT_INTERVALS));
        every.map(|every| positive("the interval between samples", every)).transpose()?;
        let schedule = |h| {
            let schedule = Schedule::new(h, span, every)?;
            given.check(settings.method, &schedule, facts)?;
            Ok::<_, Error>(schedule)
        };
        let between_steps = || {
            let sampling = Sampling::new(span, every.map(SampleTimes::Every).as_ref(), 1, 1)?;
            sampling.times(span)
        };
        let (stepping, times) = match settings.method.stepping() {
            Stepping::Fixed { method, h } => {
                let schedule = schedule(h)?;
                let times = schedule.sample_times()?;
                (EnsembleStepping::Fixed { method, schedule }, times)
            }
            Stepping::Gauss { stages, h } => {
                let (coefficients, schedule) = (Coefficients::of_stages(stages), schedule(h)?);
                let times = schedule.sample_times()?;
                match settings.projection {
                    None => (EnsembleStepping::Gauss { coefficients, schedule }, times),
                    Some(_) => (EnsembleStepping::OneByOne, times),
                }
            }
            Stepping::Geometric { h, .. } => (EnsembleStepping::OneByOne, schedule(h)?.sample_times()?),
            Stepping::Taylor { tolerance } => (EnsembleStepping::Series { tolerance }, between_steps()?),
            Stepping::Rodas5P { tolerances: (rtol, atol) } => {
                let tolerance = Tolerance::new(rtol, atol)?;
                (EnsembleStepping::Controlled { pair: &RODAS5P, tolerance }, between_steps()?)
            }
            Stepping::Controlled { method, tolerances: (rtol, atol) } => {
                let tolerance = Tolerance::new(rtol, atol)?;
                (EnsembleStepping::Controlled { pair: method.pair(), tolerance }, between_steps()?)
            }
        };
        // Lanes look for no events.
        let is_stopped = !facts.events.is_empty() || facts.has_switches() || facts.law_delay.is_some();
        let stepping = if !is_stopped { stepping } else { EnsembleStepping::OneByOne };
        Ok(Self { given: Settings { every, ..settings }, times, stepping, limits })
    }
}
