//! Ensembles of systems on slices: members run one by one, in parallel.

use std::ops::ControlFlow;
use std::sync::Mutex;
use std::sync::atomic::AtomicBool;

use super::progress::EnsembleProgress;
use super::samples::{FlatEnsembleRun, Shared, Track};
use super::setup::ResolvedSettings;
use crate::error::Error;
use crate::method::settings::Settings;
use crate::simulation::samples::FlatSamples;
use crate::simulation::{FlatRun, Watch};
use crate::system::SystemFacts;

/// A function that runs a member, given its index, the settings and what may interrupt it.
pub type RunMember<'r> = dyn Fn(usize, &Settings, &mut Watch<'_>) -> Result<FlatRun, Error> + Sync + 'r;

/// A function that is shown a member's index and samples. Its error ends the runs.
pub type ShowMember<'s> = dyn FnMut(usize, &FlatSamples) -> Result<(), Error> + Send + 's;

/// The runs of a number of members of a system, from a time unless settings give another one, as [`Ensemble`](crate::Ensemble) makes them.
///
/// # Errors
///
/// If the method, the end or the interval are out of range. A failure of one member is its end.
pub fn run_flat_ensemble<'a>(
    facts: &SystemFacts,
    (members, time): (usize, f64),
    settings: &Settings,
    progress: impl FnMut(f64) -> ControlFlow<()> + Send + 'a,
    show: Option<Box<ShowMember<'a>>>,
    run: &RunMember<'_>,
) -> Result<FlatEnsembleRun, Error> {
    let progress = EnsembleProgress::new(members, progress);
    let from = if settings.from == 0.0 { time } else { settings.from };
    let settings = ResolvedSettings::new(Settings { from, ..*settings }, facts)?;
    let show = show.map(Mutex::new);
    let shared = Shared {
        members,
        progress: &progress,
        show: show.as_ref(),
        keeps_trajectories: false,
        times: &settings.times,
        entries: facts.state.len(),
        integrals: facts.integrals.len(),
    };
    let track = |member: usize| -> Track {
        let is_interrupted = AtomicBool::new(false);
        let run = run(member, &settings.given, &mut progress.watch(&is_interrupted))?;
        progress.advance(1);
        if is_interrupted.into_inner() { Err(Error::Interrupted) } else { Ok(run.trajectory) }
    };
    shared.sum_up(1, &|members| members.iter().map(|member| track(*member)).collect())
}
