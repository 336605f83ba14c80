//! Ensembles of systems on slices: members run one by one, in parallel.

use std::cell::Cell;
use std::ops::ControlFlow;
use std::sync::Mutex;

use super::progress::EnsembleProgress;
use super::samples::{FlatEnsembleRun, Shared, Track};
use super::setup::{LOOKS, ResolvedSettings};
use crate::error::Error;
use crate::method::settings::Settings;
use crate::simulation::samples::FlatSamples;
use crate::simulation::{FlatRun, Moment};
use crate::system::SystemFacts;

/// A function that may interrupt a member.
pub type Watch<'w> = dyn FnMut(&Moment<'_>) -> ControlFlow<()> + 'w;

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
        let (mut looks, is_interrupted) = (0_u32, Cell::new(false));
        let mut watch = |_: &Moment<'_>| {
            is_interrupted.set(looks.is_multiple_of(LOOKS) && !progress.goes_on());
            looks = looks.wrapping_add(1);
            if is_interrupted.get() { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
        };
        let run = run(member, &settings.given, &mut watch)?;
        progress.advance(1);
        if is_interrupted.get() { Err(Error::Interrupted) } else { Ok(run.trajectory) }
    };
    shared.sum_up(1, &|members| members.iter().map(|member| track(*member)).collect())
}
