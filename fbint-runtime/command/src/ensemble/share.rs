//! The way in which processes share the blocks of an ensemble: the leader says who integrates which, and adds the blocks to the results in
//! their order as soon as they are on disk.
//!
//! The leader hands out the numbers of blocks, to another thread of its process and, under MPI, to the other ranks. A block that was
//! damaged since is handed out again. Messages are a few bytes: the content of blocks goes through the file system, which has to keep it
//! anyway. Where the rows of members go into a folder of parts, whoever integrates a block writes its parts, and the leader adds their
//! lengths and a summary alone. Files that are not whole yet are drafts in the folder of the checkpoint, so that a process that is killed
//! leaves nothing elsewhere.
//!
//! Only the main thread of the leader talks to MPI. It asks whether a message has come and sleeps a millisecond if not, because a blocking
//! receive would keep a core busy. Errors are printed once, by the leader.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::error::Error;
use std::ops::ControlFlow;
use std::sync::mpsc::{Receiver, Sender, TryRecvError, channel};
use std::thread;

use super::blocks::Blocks;
use super::{ResolvedEnsemble, Results};
use crate::ensemble::members::{BlockObserver, Members, SeeSamples};
use crate::ensemble::messages::{LeaderMessage, RankMessage, wait_a_little};
use crate::ensemble::ranks::Ranks;
use crate::words::complaint::complain;
use crate::words::progress::Progress;
use fbint_catalogue::{Entry, Sample};

/// Does what the leader says, until there is nothing more to do.
pub(super) fn assist(
    ensemble: &ResolvedEnsemble,
    models: &[Entry],
    ranks: &Ranks,
    blocks: &Blocks,
) -> Result<(), Box<dyn Error>> {
    let mut members = ensemble.members(models)?;
    let mut order = ranks.ask(&RankMessage::Idle);
    while let LeaderMessage::Integrate(block) = order {
        integrate(ensemble, &mut members, blocks, block)?;
        order = ranks.ask(&RankMessage::Idle);
    }
    Ok(())
}

/// Integrates a block and puts it on disk.
fn integrate(
    ensemble: &ResolvedEnsemble,
    members: &mut Members<'_>,
    blocks: &Blocks,
    block: u32,
) -> Result<(), Box<dyn Error>> {
    let mut parts = ensemble.datasets.begin(block, members, Some(blocks.folder()))?;
    blocks.write(block, |see| {
        let mut part = parts.samples().map(|table| |member, samples: &[Sample]| table.see(member, samples));
        let samples: Option<&mut SeeSamples<'_>> = match &mut part {
            Some(part) => Some(part),
            None if ensemble.has_samples() => Some(see),
            None => None,
        };
        let observer = BlockObserver { progress: &mut |_| ControlFlow::Continue(()), samples };
        let integrated = members.integrate(block, &ensemble.plan, observer)?;
        let files = parts.finish(&integrated, || ensemble.record_of_part(members.model(), &integrated))?;
        Ok((if ensemble.needs_ends() { integrated } else { integrated.summary() }, files))
    })
}

/// Has all blocks integrated, by the other ranks and by threads of this process, and adds each to the results. Without other ranks,
/// it does all of it.
pub(super) fn lead(
    ensemble: &ResolvedEnsemble,
    models: &[Entry],
    ranks: &Ranks,
    blocks: &Blocks,
    results: &mut Results,
) -> Result<(), Box<dyn Error>> {
    thread::scope(|scope| {
        let (orders, hear_orders) = channel();
        let (reports, hear_reports) = channel();
        scope.spawn(move || obey(ensemble, models, blocks, &hear_orders, &reports));
        let own = Own { orders, reports: hear_reports };
        let progress = Progress::new(&ensemble.description.job.model);
        Leader::new(ensemble, ranks, blocks, own)?.lead(results, progress)
    })
}

/// The work of [`assist`], in a thread of the leader.
fn obey(
    ensemble: &ResolvedEnsemble,
    models: &[Entry],
    blocks: &Blocks,
    orders: &Receiver<u32>,
    reports: &Sender<RankMessage>,
) {
    let say = |outcome: Result<(), Box<dyn Error>>| {
        let failed = |error: Box<dyn Error>| RankMessage::Failed(error.to_string());
        // Where nobody listens any more, nothing is left to do.
        let _ = reports.send(outcome.err().map_or(RankMessage::Idle, failed));
    };
    match ensemble.members(models) {
        Err(error) => say(Err(error)),
        Ok(mut members) => {
            say(Ok(()));
            for block in orders {
                say(integrate(ensemble, &mut members, blocks, block));
            }
        }
    }
}

/// The thread that integrates in the process of the leader.
struct Own {
    orders: Sender<u32>,
    reports: Receiver<RankMessage>,
}

/// The state of the work.
struct Leader<'a> {
    ensemble: &'a ResolvedEnsemble,
    ranks: &'a Ranks,
    blocks: &'a Blocks,
    own: Own,
    /// `true` if the own thread has reported and has nothing to do.
    is_own_idle: bool,
    /// Blocks that no process integrates yet, in their order.
    left: VecDeque<u32>,
    /// The block of each rank that integrates one.
    at_work: BTreeMap<u32, u32>,
    /// Blocks that are on disk, and not among the results.
    done: BTreeSet<u32>,
    /// The number of blocks that are among the results, which are the first ones.
    added: u32,
}

impl<'a> Leader<'a> {
    fn new(
        ensemble: &'a ResolvedEnsemble,
        ranks: &'a Ranks,
        blocks: &'a Blocks,
        own: Own,
    ) -> Result<Self, Box<dyn Error>> {
        let done = blocks.done()?;
        let left = (0..ensemble.blocks).filter(|block| !done.contains(block)).collect();
        Ok(Self { ensemble, ranks, blocks, own, is_own_idle: false, left, at_work: BTreeMap::new(), done, added: 0 })
    }

    fn lead(mut self, results: &mut Results, mut progress: Progress) -> Result<(), Box<dyn Error>> {
        while self.added < self.ensemble.blocks {
            let has_heard = self.hear()?;
            if !self.add_next(results)? && !has_heard {
                wait_a_little();
            }
            progress.report(f64::from(self.added) / f64::from(self.ensemble.blocks));
        }
        Ok(())
    }

    /// Hears what was reported and says what to do next; whether there was something to hear.
    fn hear(&mut self) -> Result<bool, Box<dyn Error>> {
        let mut has_heard = false;
        while let Some((rank, report)) = self.ranks.next_message() {
            has_heard = true;
            match report {
                RankMessage::Idle => {
                    let order = self.next_of(rank).map_or(LeaderMessage::End, LeaderMessage::Integrate);
                    self.ranks.answer(rank, &order);
                }
                RankMessage::Failed(message) => {
                    self.ranks.answer(rank, &LeaderMessage::End);
                    return Err(format!("rank {rank}: {message}").into());
                }
            }
        }
        match self.own.reports.try_recv() {
            Ok(RankMessage::Idle) => (has_heard, self.is_own_idle) = (true, true),
            Ok(RankMessage::Failed(message)) => return Err(message.into()),
            Err(TryRecvError::Empty) => {}
            Err(TryRecvError::Disconnected) => return Err("nobody integrates any more".into()),
        }
        if self.is_own_idle
            && let Some(block) = self.next_of(self.ranks.number())
        {
            self.own.orders.send(block)?;
            self.is_own_idle = false;
        }
        Ok(has_heard)
    }

    /// The block that a rank integrates next. The one that it had is done.
    fn next_of(&mut self, rank: u32) -> Option<u32> {
        self.done.extend(self.at_work.remove(&rank));
        let block = self.left.pop_front()?;
        self.at_work.insert(rank, block);
        Some(block)
    }

    /// Adds the next block to the results if it is on disk; whether it was.
    fn add_next(&mut self, results: &mut Results) -> Result<bool, Box<dyn Error>> {
        let block = self.added;
        if !self.done.remove(&block) {
            return Ok(false);
        }
        match results.read(self.blocks, block, &self.ensemble.datasets.paths(block))? {
            true => self.added += 1,
            false => {
                complain(&format!("block {block} is damaged on disk, and integrated again"));
                self.left.push_front(block);
            }
        }
        Ok(true)
    }
}
