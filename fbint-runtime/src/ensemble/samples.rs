//! The samples of members, flat, and what they are summed up to. All of it is compiled once for all systems.

use std::sync::Mutex;
use std::vec::Vec;

use rayon::prelude::*;

use super::progress::EnsembleProgress;
use super::statistics::Moments;
use crate::error::Error;
use crate::error::memory::Storage;
use crate::simulation::samples::FlatSamples;

/// The samples that are held until they are summed up, in bytes.
const MEMORY: usize = 1 << 26;

/// The samples of a member, the start and the end among them, or why there are none.
pub(super) type Track = Result<FlatSamples, Error>;

/// A function that makes the runs of the members of a block.
pub(super) type Tracks<'a> = dyn Fn(&[usize]) -> Vec<Track> + Sync + 'a;

/// A function that is shown a member's index and samples.
pub(super) type ShowSamples<'a> = Mutex<Box<dyn FnMut(usize, &FlatSamples) -> Result<(), Error> + Send + 'a>>;

/// The data that all members share.
pub(super) struct Shared<'a, 'p> {
    pub(super) members: usize,
    pub(super) progress: &'a EnsembleProgress<'p>,
    pub(super) show: Option<&'a ShowSamples<'p>>,
    pub(super) keeps_trajectories: bool,
    /// When samples are taken.
    pub(super) times: &'a [f64],
    pub(super) entries: usize,
    pub(super) integrals: usize,
}

/// The result of an ensemble without the type of its system: what is written on it is compiled once, and not again for every model.
#[derive(Debug)]
pub struct FlatEnsembleRun {
    /// When samples were taken.
    pub times: Vec<f64>,
    /// The moments of the state and of F - F_target, at each time.
    pub moments: Vec<[Moments; 2]>,
    /// The last sample of each member.
    pub ends: Vec<Track>,
    /// The samples of each member, none of one that failed, if they are kept.
    pub trajectories: Vec<Option<FlatSamples>>,
}

impl Shared<'_, '_> {
    /// Makes the runs by `tracks`, which says what becomes of the members of a block of at most `block_size`.
    pub(super) fn sum_up(&self, block_size: usize, tracks: &Tracks<'_>) -> Result<FlatEnsembleRun, Error> {
        let members = Storage::MEMBERS.collect(0..self.members)?;
        let moments = |_| Ok([Moments::new(self.entries)?, Moments::new(self.integrals)?]);
        let mut moments = Storage::STATISTICS.try_collect(self.times.iter().map(moments))?;
        let (mut ends, mut trajectories) = (Vec::new(), Vec::new());
        for members in members.chunks(self.members_at_once(block_size)) {
            let blocks = members.par_chunks(block_size).flat_map_iter(|block| match self.progress.goes_on() {
                true => tracks(block),
                false => vec![Err(Error::Interrupted); block.len()],
            });
            let tracks: Vec<_> = blocks.collect();
            // Every time by itself, every member in turn.
            moments.par_iter_mut().zip(self.times).enumerate().for_each(|(index, ([state, change], &time))| {
                let samples = tracks.iter().filter_map(|track| track.as_ref().ok()?.iter().nth(index));
                // A run that an event ended has its last sample at another time.
                for sample in samples.filter(|sample| sample.time == time) {
                    state.add(sample.state);
                    change.add(sample.change);
                }
            });
            self.show(members, &tracks)?;
            Storage::MEMBERS.reserve(&mut ends, tracks.len())?;
            ends.extend(tracks.iter().map(|track| track.as_ref().map_err(Clone::clone).and_then(FlatSamples::end)));
            if self.keeps_trajectories {
                Storage::MEMBERS.reserve(&mut trajectories, tracks.len())?;
                trajectories.extend(tracks.into_iter().map(Result::ok));
            }
        }
        let times = Storage::STATISTICS.collect(self.times.iter().copied())?;
        Ok(FlatEnsembleRun { times, moments, ends, trajectories })
    }

    /// Shows the visitor the samples of these members.
    fn show(&self, members: &[usize], tracks: &[Track]) -> Result<(), Error> {
        // Only a visitor that panicked poisons its lock, and then the run ends anyway.
        let Some(mut show) = self.show.and_then(|show| show.lock().ok()) else { return Ok(()) };
        let mut done = members.iter().zip(tracks).filter_map(|(member, track)| Some((*member, track.as_ref().ok()?)));
        done.try_for_each(|(member, samples)| show(member, samples))
    }

    /// A number of members whose samples fit into the memory set aside, but enough to keep all threads at work.
    fn members_at_once(&self, block_size: usize) -> usize {
        let sample = (1 + self.entries + self.integrals) * size_of::<f64>();
        let fitting = MEMORY / (self.times.len() * sample);
        let blocks = (fitting / block_size).max(4 * rayon::current_num_threads());
        blocks * block_size
    }
}
