//! Many runs of one system at once: over starts, over parameters, over gains.
//!
//! Members are integrated in blocks, side by side in the lanes of one [`Lanes`], and blocks in parallel by rayon, in whose current thread
//! pool this happens. With error control lanes differ in time and step, and a member takes the lane of one that has ended. In any block, a
//! member's end and trajectory equal its own [`Simulation`](crate::Simulation)'s bit for bit; statistics go through the members in the
//! order of their indices. So no result depends on the number of threads or of lanes.
//!
//! A member that cannot start, or blows up, is reported by its index with its error, and takes no part in the statistics; its
//! neighbours in the block do not notice. Lanes only look whether something is wrong, after every step: then that member runs
//! alone, and its simulation says when and why.
//!
//! A prepared system is generic over its numbers: prepared for [`Lanes`], it has the parameters of another member in every lane
//! ([`gather`](crate::FeedbackSystem::gather)), and its functions are the same. The field of each member is made and checked like the field
//! of a simulation; then the fields of a block are gathered: constants, targets and gains side by side, whether they vary or not.
//!
//! Generated code is long, so it is compiled as rarely as possible: once for a system and a kind of gains, and not once for every
//! method, because steps are called through a pointer, which costs little next to some hundred nanoseconds for a step. After
//! [`Ensemble::boxed`], steps with error control are compiled once for all kinds of gains. Lanes with steps of a fixed size keep the
//! type of their field, where a pointer to it would take up to 45 % more time.

mod alike;
mod assigned_member;
mod assignment;
mod collocation;
mod controlled;
mod fixed;
pub(crate) mod flat;
mod gains;
mod lane_loop;
mod members;
mod progress;
mod projected;
mod proportion;
mod run;
mod samples;
mod series;
mod setup;
mod side_by_side;
mod statistics;

use core::fmt;
use core::ops::ControlFlow;
use std::sync::Mutex;

use crate::error::Error;
use crate::error::memory::Storage;
use crate::field::gains::Gains;
use crate::field::policy::GainPolicy;
use crate::hold::projection::{Hold, Projection};

use crate::method::settings::{Method, Settings};
use crate::numbers::entries::Entries;
use crate::numbers::lanes::Lanes;
use crate::simulation::samples::FlatSamples;
use crate::simulation::{FlatRun, Run, Sample, Simulation};
use crate::system::{FeedbackSystem, Vector};
use assignment::SideBySide;
use gains::Boxed;
pub use gains::EnsembleGains;
use progress::EnsembleProgress;
pub use run::EnsembleRun;
#[doc(hidden)]
pub use samples::FlatEnsembleRun;
use samples::Track;
use setup::{EnsembleSetup, ResolvedSettings, Systems};
pub use statistics::{Statistics, Summary};

/// The most entries of a state for which lanes of [`WIDE`] vectors are fastest, by the bench `ensembles`.
const SMALL: usize = 6;
/// The number of vectors that make the fastest [`Lanes`] of a small system: 24 lanes with AVX-512, 12 with AVX, 4 with SSE2.
const WIDE: usize = if cfg!(target_feature = "avx") { 3 } else { 1 };
/// The most entries of a state for which lanes of [`MEDIUM`] vectors are fastest.
const MIDDLING: usize = 8;
const MEDIUM: usize = if cfg!(target_feature = "avx") { 2 } else { 1 };
/// The number of vectors that make the fastest [`Lanes`] of a system that has no room in registers anyway.
const NARROW: usize = 1;
/// The lanes for members of a system with seven or eight entries.
#[doc(hidden)]
pub type MediumLanes = Lanes<MEDIUM>;
/// The lanes for members of a system with more than eight entries.
#[doc(hidden)]
pub type NarrowLanes = Lanes<NARROW>;

/// Builder for many runs of a system `S`: with one set of parameters, or with as many as there are starts.
///
/// ```
/// use fbint_runtime::{Ensemble, Method, feedback_system};
///
/// /// A point mass on a circle under gravity.
/// #[feedback_system(
///     coordinates(q: [2]),
///     momenta(p: [2]),
///     hamiltonian = p.norm_squared() / 2 + g * q.y,
///     constraint(length = q.norm_squared() - 1),
/// )]
/// pub struct Pendulum { pub g: f64 }
///
/// // A thousand pendulums that start at rest, at angles between 0 and 1.
/// let starts = (0..1000).map(|i| {
///     let (x, y) = (i as f64 / 1000.0).sin_cos();
///     [x, -y, 0.0, 0.0]
/// });
/// let run = Ensemble::new(&Pendulum { g: 9.81 }, starts).run(Method::Rk4 { h: 1e-2 }, 1.0)?;
/// let end = run.statistics().last().unwrap();
/// assert_eq!((end.time, end.members), (1.0, 1000));
/// assert!(end.state.max[0] < 1.0 && end.change.max[0] < 1e-12);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
pub struct Ensemble<'a, S: FeedbackSystem, G = ()> {
    setup: EnsembleSetup<'a, S>,
    gains: G,
}

impl<'a, S: FeedbackSystem> Ensemble<'a, S> {
    /// A run of `system` from each of `starts`, which are of its state type or flat vectors. There may be no start at all.
    ///
    /// By default it integrates X and projects the states once after each step, as a [`Simulation`] does.
    pub fn new<X: Into<Vector<S>>>(system: &'a S, starts: impl IntoIterator<Item = X>) -> Self {
        Self::with_systems(Systems::One(system), starts)
    }

    /// A run of each of `systems`, which differ in their parameters, from the start at the same place.
    pub fn over_systems<X: Into<Vector<S>>>(systems: &'a [S], starts: impl IntoIterator<Item = X>) -> Self {
        Self::with_systems(Systems::Each(systems), starts)
    }

    fn with_systems<X: Into<Vector<S>>>(systems: Systems<'a, S>, given: impl IntoIterator<Item = X>) -> Self {
        let mut starts = Vec::new();
        let are_held = given.into_iter().try_for_each(|start| Storage::MEMBERS.push(&mut starts, start.into()));
        let setup = EnsembleSetup {
            progress: EnsembleProgress::new(starts.len(), |_| ControlFlow::Continue(())),
            systems,
            starts,
            are_held,
            interval: None,
            hold: Hold::ByDefault,
            keeps_trajectories: false,
            show: None,
        };
        Self { setup, gains: () }
    }
}

impl<'a, S: FeedbackSystem, G> Ensemble<'a, S, G> {
    /// Integrates the Dirac-extended field X, without a projection unless one was chosen.
    pub fn without_feedback(self) -> Ensemble<'a, S> {
        self.with_gains(())
    }

    /// Integrates the feedback field, with one set of gains for all members, without a projection unless one was chosen.
    pub fn gains<K: GainPolicy<S>>(self, gains: Gains<K>) -> Ensemble<'a, S, Gains<K>> {
        self.with_gains(gains)
    }

    /// Integrates the feedback field, with gains for each member, without a projection unless one was chosen.
    pub fn gains_of_each<K: GainPolicy<S>>(self, gains: Vec<Gains<K>>) -> Ensemble<'a, S, Vec<Gains<K>>> {
        self.with_gains(gains)
    }

    /// Projects every state onto all integrals after each step, with feedback or without.
    pub fn projected(mut self, projection: Projection) -> Self {
        self.setup.hold = self.setup.hold.unless(Some(projection));
        self
    }

    /// The time between two samples, for statistics and trajectories. The default is a hundredth of the run. With a fixed step it
    /// is rounded to whole steps. The start and the end are always sampled.
    pub fn record_every(mut self, interval: f64) -> Self {
        self.setup.interval = Some(interval);
        self
    }

    /// Keeps the samples of every member: its state and the changes of its integrals at every time that is sampled.
    pub fn keep_trajectories(mut self) -> Self {
        self.setup.keeps_trajectories = true;
        self
    }

    /// Shows `visit` the index and the samples of every member that does not fail, in the order of the members, as soon as they are
    /// known. Unlike [kept](Self::keep_trajectories) trajectories, samples that were visited take no memory any more.
    pub fn visited(self, mut visit: impl FnMut(usize, &[Sample<S>]) + Send + 'a) -> Self {
        self.visited_flat(move |member, samples| {
            visit(member, &samples.try_shaped()?);
            Ok(())
        })
    }

    /// [`visited`](Self::visited) with samples that are compiled once for all systems. An error of the visitor ends the runs.
    #[doc(hidden)]
    pub fn visited_flat(mut self, visit: impl FnMut(usize, &FlatSamples) -> Result<(), Error> + Send + 'a) -> Self {
        self.setup.show = Some(Mutex::new(Box::new(visit)));
        self
    }

    /// Tells `watch` the fraction of the members that are done, from the threads that make the runs: whenever a member or a block
    /// of them is done, and at least every few thousand steps. If it breaks, the members that are not done end there, with
    /// [`Error::Interrupted`], and what is known of the others is returned.
    pub fn watched(mut self, watch: impl FnMut(f64) -> ControlFlow<()> + Send + 'a) -> Self {
        self.setup.progress = EnsembleProgress::new(self.setup.starts.len(), watch);
        self
    }

    fn with_gains<H>(self, gains: H) -> Ensemble<'a, S, H> {
        let hold = Hold::Chosen(self.setup.hold.if_chosen());
        Ensemble { setup: EnsembleSetup { hold, ..self.setup }, gains }
    }
}

impl<S: FeedbackSystem + Sync> Ensemble<'_, S> {
    /// Runs every member by `run`, which is given its index, its simulation and the settings: with events and inputs, which there are
    /// no lanes for, or with gains. Members run one by one, in parallel. A member that a terminal event ends early takes part in the
    /// statistics until then.
    ///
    /// ```
    /// # use fbint_runtime::{Ensemble, Event, Method, Settings, feedback_system};
    /// # /// A ball in free fall.
    /// # #[feedback_system(coordinates(height), momenta(p), hamiltonian = p.powi(2) / 2 + 10 * height)]
    /// # pub struct Ball;
    /// let starts = [0.2, 0.8, 1.8].map(|height| BallState { height, p: 0.0 });
    /// let settings = Settings::new(Method::Rk4 { h: 1e-3 }, 0.5);
    /// let run = Ensemble::new(&Ball, starts).run_each(&settings, |_, simulation, settings| {
    ///     let floor = Event::new("floor", |_, ball: &BallState| ball.height).falling().terminal();
    ///     simulation.event(floor).run_with(settings)
    /// })?;
    /// let ends: Vec<f64> = run.ends().iter().flatten().map(|end| end.time).collect();
    /// assert!((ends[0] - 0.2).abs() < 1e-12 && (ends[1] - 0.4).abs() < 1e-12 && ends[2] == 0.5);
    /// assert_eq!(run.statistics().last().map(|end| end.members), Some(1));
    /// # Ok::<(), fbint_runtime::Error>(())
    /// ```
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn run_each(
        self,
        settings: &Settings,
        run: impl Fn(usize, Simulation<'_, S>, &Settings) -> Result<Run<S>, Error> + Sync,
    ) -> Result<EnsembleRun<S>, Error> {
        let samples = |member: usize, simulation: Simulation<'_, S>, settings: &Settings| {
            let facts = simulation.facts();
            let (run, mut samples) = (run(member, simulation, settings)?, FlatSamples::of(facts, 0)?);
            let mut rows = run.trajectory().iter();
            rows.try_for_each(|at| samples.push_of::<S>(facts, at.time, &at.state, &at.change))?;
            Ok(samples)
        };
        self.each(settings, &samples).and_then(EnsembleRun::shaped)
    }

    /// [`run_each`](Self::run_each) with results that are compiled once for all systems.
    #[doc(hidden)]
    pub fn run_each_flat(
        self,
        settings: &Settings,
        run: impl Fn(usize, Simulation<'_, S>, &Settings) -> Result<FlatRun, Error> + Sync,
    ) -> Result<FlatEnsembleRun, Error> {
        self.each(settings, &|member, simulation, settings| Ok(run(member, simulation, settings)?.trajectory))
    }

    fn each(self, settings: &Settings, run: &RunEach<'_, S>) -> Result<FlatEnsembleRun, Error> {
        let chosen = settings.projection;
        let settings = self.resolve(settings)?;
        // What is left to the simulations, a member may yet choose.
        let given = Settings { projection: chosen, ..settings.given };
        let tracks =
            |members: &[usize]| self.setup.one_by_one(members, &|member, simulation| run(member, simulation, &given));
        self.setup.sum_up(&settings, Lanes::<NARROW>::COUNT, &tracks)
    }
}

impl<'a, S: FeedbackSystem + Sync, G: EnsembleGains<S>> Ensemble<'a, S, G> {
    /// These runs, with the kind of gains erased from the type of members that run alone: a program with many kinds of gains
    /// compiles the methods with error control once, not once for each. See [`Simulation::boxed`].
    pub fn boxed(self) -> Ensemble<'a, S, impl EnsembleGains<S>> {
        Ensemble { setup: self.setup, gains: Boxed(self.gains) }
    }

    /// Runs every member with a method from t = 0 until a time: side by side in lanes, but one by one with geometric integrators, and with
    /// Gauss's collocation if states are projected. A method with error control chooses steps for each member separately.
    ///
    /// # Errors
    ///
    /// If there are not as many systems or gains as starts, or if the method, the end, the interval or gains that hold for all are out of
    /// range. A failure of one member is its [end](EnsembleRun::ends): the error of its simulation, except that a simulation audits gains
    /// at every sample, and an ensemble only at the start.
    pub fn run(self, method: Method, until: f64) -> Result<EnsembleRun<S>, Error> {
        let settings = Settings { every: self.setup.interval, ..Settings::new(method, until) };
        self.run_with(&settings)
    }

    /// Runs every member with these settings instead of the builder's.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn run_with(self, settings: &Settings) -> Result<EnsembleRun<S>, Error> {
        self.run_flat(settings).and_then(EnsembleRun::shaped)
    }

    /// This run with a result that is compiled once for all systems.
    #[doc(hidden)]
    pub fn run_flat(self, settings: &Settings) -> Result<FlatEnsembleRun, Error> {
        if const { <Vector<S> as Entries<f64>>::LEN <= SMALL } {
            self.run_in_lanes::<WIDE>(settings)
        } else if const { <Vector<S> as Entries<f64>>::LEN <= MIDDLING } {
            self.run_in_lanes::<MEDIUM>(settings)
        } else {
            self.run_in_lanes::<NARROW>(settings)
        }
    }

    /// Does what [`run_with`](Self::run_with) does, with the same result, but members run one by one: in parallel, but not in
    /// lanes. Code in lanes for a system with thousands of operations takes minutes to compile; this needs none.
    ///
    /// # Errors
    ///
    /// The errors of [`run`](Self::run).
    pub fn run_one_by_one(self, settings: &Settings) -> Result<EnsembleRun<S>, Error> {
        self.run_one_by_one_flat(settings).and_then(EnsembleRun::shaped)
    }

    /// This run with a result that is compiled once for all systems.
    #[doc(hidden)]
    pub fn run_one_by_one_flat(self, settings: &Settings) -> Result<FlatEnsembleRun, Error> {
        let settings = self.resolve(settings)?;
        let run = |member: usize, simulation: Simulation<'_, S>| self.run_alone(&settings, member, simulation);
        let tracks = |members: &[usize]| self.setup.one_by_one(members, &run);
        self.setup.sum_up(&settings, Lanes::<NARROW>::COUNT, &tracks)
    }

    fn run_in_lanes<const V: usize>(self, settings: &Settings) -> Result<FlatEnsembleRun, Error> {
        let settings = self.resolve(settings)?;
        let alone = |member: usize| self.simulate(&settings, member);
        SideBySide::<S, V> { setup: &self.setup, settings: &settings, gains: &self.gains, alone: &alone }.run()
    }

    fn resolve(&self, settings: &Settings) -> Result<ResolvedSettings, Error> {
        self.setup.are_held.clone()?;
        self.check_counts()?;
        self.gains.check(self.setup.facts().integrals)?;
        let hold = self.setup.hold.unless(settings.projection);
        let projection = settings.method.projection(self.setup.facts(), hold);
        let settings = Settings { from: self.setup.time_at_start(settings.from), projection, ..*settings };
        ResolvedSettings::new(settings, self.setup.facts())
    }

    fn check_counts(&self) -> Result<(), Error> {
        let starts = self.setup.starts.len();
        if let Systems::Each(systems) = self.setup.systems {
            check_count("systems", systems.len(), starts)?;
        }
        self.gains.count().map_or(Ok(()), |gains| check_count("gains", gains, starts))
    }

    /// Runs one member alone.
    fn simulate(&self, settings: &ResolvedSettings, member: usize) -> Track {
        self.setup.track(member, &|member, simulation| self.run_alone(settings, member, simulation))
    }

    fn run_alone(&self, settings: &ResolvedSettings, member: usize, simulation: Simulation<'_, S>) -> Track {
        Ok(self.gains.simulation(simulation, member).run_flat(&settings.given, None)?.trajectory)
    }
}

/// A run with the settings.
type RunEach<'a, S> = dyn Fn(usize, Simulation<'_, S>, &Settings) -> Track + Sync + 'a;

/// Refuses another number of what each member has than there are starts.
fn check_count(what: &'static str, given: usize, starts: usize) -> Result<(), Error> {
    if given == starts { Ok(()) } else { Err(Error::MemberCount { what, given, starts }) }
}

// By hand, because the functions that are told of the runs cannot be printed.
impl<S: FeedbackSystem, G> fmt::Debug for Ensemble<'_, S, G> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ensemble")
            .field("system", &self.setup.facts().name)
            .field("members", &self.setup.starts.len())
            .finish_non_exhaustive()
    }
}
