//! Many runs of one system at once: over starts, over parameters, over gains.
//!
//! Members are integrated in blocks, side by side in the lanes of one [`Lanes`], and blocks in parallel by rayon, in whose
//! current thread pool this happens. A member's end and trajectory are bit for bit those of its own
//! [`Simulation`](crate::Simulation), whatever block it is in; statistics go through the members in the order of their
//! indices. So no result depends on the number of threads or of lanes.
//!
//! A member that cannot start, or blows up, is reported by its index with its error, and takes no part in the statistics; its
//! neighbours in the block do not notice.

mod block;
mod gains;
mod statistics;

use core::fmt;
use core::mem::size_of;
use std::sync::Mutex;

use nalgebra::SVector;
use rayon::prelude::*;

use crate::consistent_start::check_start;
use crate::correction::noise;
use crate::error::positive;
use crate::simulation::{Audit, Sampling, Schedule, bounds};
use crate::{
    Correction, Error, FeedbackSystem, Field, GainMatrix, GainPolicy, Gains, Lanes, Method, Projector, Sample,
    Simulation,
};
use block::Course;
pub use gains::{Alike, Each, EnsembleGains, NoFeedback};
use statistics::Moments;
pub use statistics::{Statistics, Summary};

/// Up to how many entries a state has room in registers, nearly, when its numbers are of [`WIDE`] vectors.
const SMALL: usize = 8;
/// How many vectors of numbers make the fastest [`Lanes`] of a small system, by the example `ensemble`: 24 lanes with AVX-512, 12
/// with AVX, 4 with SSE2.
const WIDE: usize = if cfg!(target_feature = "avx") { 3 } else { 1 };
/// The same where there is no room anyway.
const NARROW: usize = 1;

/// How many intervals are sampled unless told otherwise.
const DEFAULT_INTERVALS: f64 = 100.0;
/// How much of the samples is held until it is summed up, in bytes.
const MEMORY: usize = 1 << 26;
/// How many times progress is reported.
const PROGRESS_REPORTS: usize = 200;

/// Runs to be made: of one system or of as many as there are starts.
///
/// ```
/// use fbint_runtime::nalgebra::Vector4;
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
///     Vector4::new(x, -y, 0.0, 0.0)
/// });
/// let run = Ensemble::new(&Pendulum { g: 9.81 }, starts)
///     .method(Method::Rk4 { h: 1e-2 })
///     .until(1.0)
///     .run()?;
/// let end = run.statistics().last().unwrap();
/// assert_eq!((end.time, end.members), (1.0, 1000));
/// assert!(end.state.max[0] < 1.0 && end.change.max[0] < 1e-12);
/// # Ok::<(), fbint_runtime::Error>(())
/// ```
pub struct Ensemble<'a, S, G, const N: usize, const M: usize> {
    systems: Systems<'a, S>,
    starts: Vec<SVector<f64, N>>,
    gains: G,
    method: Option<Method>,
    until: Option<f64>,
    interval: Option<f64>,
    correction: Option<Correction>,
    keeps_trajectories: bool,
}

enum Systems<'a, S> {
    One(&'a S),
    Each(&'a [S]),
}

impl<'a, S, const N: usize, const M: usize> Ensemble<'a, S, NoFeedback, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// A run of `system` from each of `starts`, which are of its state type or flat vectors. There may be no start at all.
    ///
    /// Unless told otherwise by gains, [`without_feedback`](Self::without_feedback) or [`corrected`](Self::corrected), it
    /// integrates X and corrects the states once after each step, as a [`Simulation`] does.
    pub fn new<X: Into<SVector<f64, N>>>(system: &'a S, starts: impl IntoIterator<Item = X>) -> Self {
        Self::with_systems(Systems::One(system), starts)
    }

    /// A run of each of `systems`, which differ in their parameters, from the start at the same place.
    pub fn over_systems<X: Into<SVector<f64, N>>>(systems: &'a [S], starts: impl IntoIterator<Item = X>) -> Self {
        Self::with_systems(Systems::Each(systems), starts)
    }

    fn with_systems<X: Into<SVector<f64, N>>>(systems: Systems<'a, S>, starts: impl IntoIterator<Item = X>) -> Self {
        Self {
            systems,
            starts: starts.into_iter().map(Into::into).collect(),
            gains: NoFeedback,
            method: None,
            until: None,
            interval: None,
            correction: None,
            keeps_trajectories: false,
        }
    }
}

impl<'a, S, G, const N: usize, const M: usize> Ensemble<'a, S, G, N, M>
where
    S: FeedbackSystem<N, M>,
{
    /// Integrates the Dirac-extended field X, and does not correct the states unless asked to.
    pub fn without_feedback(self) -> Ensemble<'a, S, NoFeedback, N, M> {
        self.with_gains(NoFeedback)
    }

    /// Integrates the feedback field, with the same gains for all members.
    pub fn gains<K: GainPolicy<M>, L: GainMatrix<N>>(self, gains: Gains<K, L>) -> Ensemble<'a, S, Alike<K, L>, N, M> {
        self.with_gains(Alike(gains))
    }

    /// Integrates the feedback field, with K = diag(k) of its own for each member, k in the order of `INTEGRAL_NAMES`.
    pub fn gains_of_each(self, gains: Vec<[f64; M]>) -> Ensemble<'a, S, Each<M>, N, M> {
        self.with_gains(Each(gains))
    }

    /// Corrects every state after each step onto all integrals, with feedback or without.
    pub fn corrected(mut self, correction: Correction) -> Self {
        self.correction = Some(correction);
        self
    }

    /// The method and its step or tolerances. There is no default. One with error control chooses steps for each member alone,
    /// which lanes cannot do together: then members run in parallel, but one by one.
    pub fn method(mut self, method: Method) -> Self {
        self.method = Some(method);
        self
    }

    /// The time at which the runs end; they start at 0. There is no default.
    pub fn until(mut self, time: f64) -> Self {
        self.until = Some(time);
        self
    }

    /// The time between two samples, for statistics and trajectories; a hundredth of the run unless given. With a fixed step it
    /// is rounded to whole steps. The start and the end are always sampled.
    pub fn record_every(mut self, interval: f64) -> Self {
        self.interval = Some(interval);
        self
    }

    /// Keeps the samples of every member, which is N + M numbers for each.
    pub fn keep_trajectories(mut self) -> Self {
        self.keeps_trajectories = true;
        self
    }

    fn with_gains<H>(self, gains: H) -> Ensemble<'a, S, H, N, M> {
        let Self { systems, starts, method, until, interval, keeps_trajectories, .. } = self;
        let correction = self.correction.or(Some(Correction::times(0)));
        Ensemble { systems, starts, gains, method, until, interval, correction, keeps_trajectories }
    }
}

impl<S, G, const N: usize, const M: usize> Ensemble<'_, S, G, N, M>
where
    S: FeedbackSystem<N, M> + Sync,
    G: EnsembleGains<N, M>,
{
    /// Makes the runs.
    ///
    /// # Errors
    ///
    /// If there are not as many systems or gains as starts, or if the method, the end, the interval or gains that hold for all
    /// will not do. What goes wrong with one member is its [end](EnsembleRun::ends), an error: it is that of its simulation,
    /// which looks for trouble after every step, where an ensemble does so at the samples, and audits gains at all of them, where an
    /// ensemble does so at the start.
    pub fn run(self) -> Result<EnsembleRun<N, M>, Error> {
        self.run_with(|_| ())
    }

    /// Makes the runs and reports the fraction that is done from time to time, at most some 200 times in all, from the threads
    /// that make them.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn run_with(self, progress: impl FnMut(f64) + Send) -> Result<EnsembleRun<N, M>, Error> {
        if const { N <= SMALL } { self.run_in_lanes::<WIDE>(progress) } else { self.run_in_lanes::<NARROW>(progress) }
    }

    /// Does what [`run_with`](Self::run_with) does, with the same result, but members run one by one: in parallel, but not in
    /// lanes. Of a system with thousands of operations, code for lanes takes minutes to compile; this needs none.
    ///
    /// # Errors
    ///
    /// Those of [`run`](Self::run).
    pub fn run_one_by_one(self, progress: impl FnMut(f64) + Send) -> Result<EnsembleRun<N, M>, Error> {
        self.sum_up(Lanes::<NARROW>::COUNT, progress, |plan, members| self.simulate_each(plan, members))
    }

    fn run_in_lanes<const V: usize>(&self, progress: impl FnMut(f64) + Send) -> Result<EnsembleRun<N, M>, Error> {
        self.sum_up(Lanes::<V>::COUNT, progress, |plan, members| match &plan.schedule {
            Some(schedule) => self.integrate::<V>(plan, schedule, members),
            None => self.simulate_each(plan, members),
        })
    }

    /// Makes the runs by `tracks`, which says what becomes of the members of a block, so many at most.
    fn sum_up(
        &self,
        block_size: usize,
        progress: impl FnMut(f64) + Send,
        tracks: impl Fn(&Plan, &[usize]) -> Vec<Track<N, M>> + Sync,
    ) -> Result<EnsembleRun<N, M>, Error> {
        self.check_counts()?;
        self.gains.check::<S>()?;
        let plan = Plan::new(self)?;
        let members: Vec<usize> = (0..self.starts.len()).collect();
        let progress = Mutex::new(Progress { report: progress, done: 0, reports: 0, members: members.len() });
        let mut moments = vec![(Moments::<N>::default(), Moments::<M>::default()); plan.times.len()];
        let (mut ends, mut trajectories) = (Vec::new(), Vec::new());
        for members in members.chunks(plan.members_at_once::<N, M>(block_size)) {
            let blocks = members.par_chunks(block_size).flat_map_iter(|block| {
                let tracks = tracks(&plan, block);
                advance(&progress, block.len());
                tracks
            });
            let tracks: Vec<_> = blocks.collect();
            // Every time by itself, every member in turn.
            moments.par_iter_mut().enumerate().for_each(|(index, (state, change))| {
                for sample in tracks.iter().filter_map(|track| track.as_ref().ok()?.get(index)) {
                    state.add(&sample.state);
                    change.add(&sample.change);
                }
            });
            ends.extend(tracks.iter().map(|track| match track {
                Ok(samples) => Ok(samples[samples.len() - 1]),
                Err(error) => Err(error.clone()),
            }));
            if self.keeps_trajectories {
                trajectories.extend(tracks.into_iter().map(Result::unwrap_or_default));
            }
        }
        let statistics = plan.times.iter().zip(moments).map(|(&time, (state, change))| Statistics {
            time,
            members: state.count(),
            state: state.summary(),
            change: change.summary(),
        });
        Ok(EnsembleRun { statistics: statistics.collect(), ends, trajectories })
    }

    fn check_counts(&self) -> Result<(), Error> {
        let systems = match self.systems {
            Systems::One(_) => None,
            Systems::Each(systems) => Some(("systems", systems.len())),
        };
        let gains = self.gains.count().map(|count| ("gains", count));
        let starts = self.starts.len();
        match [systems, gains].into_iter().flatten().find(|&(_, given)| given != starts) {
            Some((what, given)) => Err(Error::MemberCount { what, given, starts }),
            None => Ok(()),
        }
    }

    /// Integrates the members of a block, side by side.
    fn integrate<const V: usize>(&self, plan: &Plan, schedule: &Schedule, members: &[usize]) -> Vec<Track<N, M>> {
        let seats: Vec<_> = members.iter().map(|&member| self.seat(plan, member)).collect();
        let taken: Vec<&Seat<S, G, N, M>> = seats.iter().flatten().collect();
        let mut tracks = self.integrate_lanes::<V>(plan, schedule, &taken).into_iter();
        let track = |seat: Result<Seat<S, G, N, M>, Error>| {
            let (seat, track) = (seat?, tracks.next().unwrap_or_default());
            let is_good = track.iter().all(|sample| sample.is_good(&seat.bounds));
            // The run of this member alone knows when and why.
            if is_good { Ok(track) } else { self.simulate(plan, seat.member) }
        };
        seats.into_iter().map(track).collect()
    }

    fn integrate_lanes<const V: usize>(
        &self,
        plan: &Plan,
        schedule: &Schedule,
        seats: &[&Seat<S, G, N, M>],
    ) -> Vec<Vec<Sample<N, M>>> {
        let Some(&last) = seats.last() else { return Vec::new() };
        // Lanes that are left over repeat the last member.
        let seat = |lane: usize| seats.get(lane).copied().unwrap_or(last);
        let system = S::gather::<Lanes<V>>(|lane| &seat(lane).system);
        let start = SVector::from_fn(|i, _| Lanes::from_fn(|lane| seat(lane).start[i]));
        let targets = SVector::from_fn(|i, _| Lanes::from_fn(|lane| seat(lane).targets[i]));
        let field = G::block::<S, V>(|lane| &seat(lane).field);
        let projector = (plan.correction != Correction::times(0)).then(|| {
            let noise = SVector::from_fn(|i, _| Lanes::from_fn(|lane| seat(lane).noise[i]));
            Projector::of(system, targets, noise, plan.correction)
        });
        let course = Course { system: &system, targets: &targets, projector, schedule };
        let mut tracks: Vec<_> = seats.iter().map(|_| Vec::with_capacity(plan.times.len())).collect();
        block::integrate(&course, &field, start, plan.method, &mut tracks);
        tracks
    }

    /// A member that can start.
    fn seat(&self, plan: &Plan, member: usize) -> Result<Seat<S, G, N, M>, Error> {
        let (system, start) = (self.system(member), self.starts[member]);
        let targets = check_start(system, &start)?;
        let field = self.gains.alone(system, &start, member)?;
        plan.audit(&field, &start)?;
        let (bounds, noise) = (bounds(system, &start, &targets), noise(system, &start, &targets));
        Ok(Seat { member, system: system.prepare(), field, start, targets, bounds, noise })
    }

    fn simulate_each(&self, plan: &Plan, members: &[usize]) -> Vec<Track<N, M>> {
        members.iter().map(|&member| self.simulate(plan, member)).collect()
    }

    /// Runs one member alone.
    fn simulate(&self, plan: &Plan, member: usize) -> Track<N, M> {
        let simulation = Simulation::new(self.system(member), self.starts[member])?;
        let run = self.gains.simulation(simulation, member).method(plan.method).corrected(plan.correction);
        Ok(run.until(plan.until).record_every(plan.interval).run()?.trajectory().to_vec())
    }

    fn system(&self, member: usize) -> &S {
        match self.systems {
            Systems::One(system) => system,
            Systems::Each(systems) => &systems[member],
        }
    }
}

/// The samples of a member, the start and the end among them, or why there are none.
type Track<const N: usize, const M: usize> = Result<Vec<Sample<N, M>>, Error>;

/// A member that takes a lane.
struct Seat<S: FeedbackSystem<N, M>, G: EnsembleGains<N, M>, const N: usize, const M: usize> {
    member: usize,
    system: S::Prepared,
    field: G::Alone<S>,
    start: SVector<f64, N>,
    targets: SVector<f64, M>,
    bounds: SVector<f64, M>,
    /// The variances of rounding in the integrals.
    noise: SVector<f64, M>,
}

/// What holds for all members.
struct Plan {
    method: Method,
    correction: Correction,
    until: f64,
    interval: f64,
    /// The times of the samples.
    times: Vec<f64>,
    /// When steps end, unless that is for each member to say.
    schedule: Option<Schedule>,
}

impl Plan {
    fn new<S, G, const N: usize, const M: usize>(ensemble: &Ensemble<'_, S, G, N, M>) -> Result<Self, Error> {
        let method =
            ensemble.method.ok_or(Error::NotSet { what: "method", call: "method(Method::Rk4 { h: 1e-3 })" })?;
        let until = ensemble.until.ok_or(Error::NotSet { what: "end", call: "until(100.0)" })?;
        let until = positive("the end of the simulation", until)?;
        let interval = ensemble.interval.unwrap_or(until / DEFAULT_INTERVALS);
        let (schedule, times) = match method {
            Method::Euler { h } | Method::Midpoint { h } | Method::Heun { h } | Method::Rk4 { h } => {
                let schedule = Schedule::new(h, until, Some(interval))?;
                let times = schedule.sample_times();
                (Some(schedule), times)
            }
            Method::DormandPrince { .. } | Method::Dop853 { .. } => {
                (None, Sampling::new(until, Some(interval), 1, 1)?.times(until))
            }
        };
        let correction = ensemble.correction.unwrap_or(Correction::by_default::<N, M>());
        Ok(Self { method, correction, until, interval, times, schedule })
    }

    /// Refuses gains that decay too fast for the step, at the start.
    fn audit<F: Field<N>, const N: usize>(&self, field: &F, start: &SVector<f64, N>) -> Result<(), Error> {
        let audit = Audit { interval: self.method.stability_interval(), decay_rate: &|x| field.decay_rate(x) };
        self.schedule.as_ref().map_or(Ok(()), |schedule| audit.check(schedule, 0.0, start))
    }

    /// So many that their samples fit into the memory set aside, but enough to keep all threads at work.
    fn members_at_once<const N: usize, const M: usize>(&self, block_size: usize) -> usize {
        let fitting = MEMORY / (self.times.len() * size_of::<Sample<N, M>>());
        let blocks = (fitting / block_size).max(4 * rayon::current_num_threads());
        blocks * block_size
    }
}

struct Progress<R> {
    report: R,
    done: usize,
    reports: usize,
    members: usize,
}

fn advance(progress: &Mutex<Progress<impl FnMut(f64)>>, members: usize) {
    // Only a report that panicked poisons the lock, and then the run ends anyway.
    let Ok(mut progress) = progress.lock() else { return };
    progress.done += members;
    let reports = progress.done * PROGRESS_REPORTS / progress.members;
    if reports > progress.reports {
        progress.reports = reports;
        let fraction = progress.done as f64 / progress.members as f64;
        (progress.report)(fraction);
    }
}

// By hand, because a derived one would ask that the system implement it too.
impl<S, G, const N: usize, const M: usize> fmt::Debug for Ensemble<'_, S, G, N, M>
where
    S: FeedbackSystem<N, M>,
{
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Ensemble")
            .field("system", &S::NAME)
            .field("members", &self.starts.len())
            .field("method", &self.method)
            .field("until", &self.until)
            .finish_non_exhaustive()
    }
}

/// What the runs of an ensemble gave.
#[derive(Clone, Debug)]
pub struct EnsembleRun<const N: usize, const M: usize> {
    statistics: Vec<Statistics<N, M>>,
    ends: Vec<Result<Sample<N, M>, Error>>,
    trajectories: Vec<Vec<Sample<N, M>>>,
}

impl<const N: usize, const M: usize> EnsembleRun<N, M> {
    /// The members together, at each time that was sampled, from the start to the end.
    pub fn statistics(&self) -> &[Statistics<N, M>] {
        &self.statistics
    }

    /// Each member at the end, or why it did not get there.
    pub fn ends(&self) -> &[Result<Sample<N, M>, Error>] {
        &self.ends
    }

    /// The members that failed, by their indices.
    pub fn failures(&self) -> impl Iterator<Item = (usize, &Error)> {
        self.ends.iter().enumerate().filter_map(|(member, end)| Some((member, end.as_ref().err()?)))
    }

    /// The samples of a member, if trajectories were [kept](Ensemble::keep_trajectories) and it did not fail.
    pub fn trajectory(&self, member: usize) -> Option<&[Sample<N, M>]> {
        self.trajectories.get(member).filter(|samples| !samples.is_empty()).map(Vec::as_slice)
    }

    /// The largest |F - F_target| of any member at any time that was sampled, of each integral; NaN where there is no member.
    pub fn largest_changes(&self) -> SVector<f64, M> {
        let largest =
            |sum: SVector<f64, M>, at: &Statistics<N, M>| sum.sup(&at.change.max.abs().sup(&at.change.min.abs()));
        match self.statistics.first() {
            Some(first) => self.statistics.iter().fold(first.change.max.abs(), largest),
            None => SVector::repeat(f64::NAN),
        }
    }
}
