//! The processes that share an ensemble, with the feature `mpi`: ranks, in the words of MPI.
//!
//! The only module that names the crate `mpi`. Rank 0 leads; the others ask it what to do. A question and an answer are a line of JSON
//! each: what blocks hold goes through files.

use std::cell::Cell;
use std::error::Error;

use mpi::Threading;
use mpi::environment::Universe;
use mpi::point_to_point::{Destination, Source};
use mpi::topology::{Communicator, Process};
use serde::Serialize;

use crate::ensemble::messages::{LeaderMessage, RankMessage, wait_a_little};

/// This process, in touch with the others.
pub(super) struct World {
    universe: Universe,
    /// The number of processes to which this one has to speak before it may part: of the leader the ranks that work, of another rank
    /// the leader.
    in_touch: Cell<u32>,
}

impl World {
    /// Joins the processes that `mpirun`, or another launcher, has begun together: without a launcher, this process alone.
    ///
    /// # Errors
    ///
    /// If MPI cannot be initialised.
    pub(super) fn join() -> Result<Self, Box<dyn Error>> {
        let (universe, _) =
            mpi::initialize_with_threading(Threading::Funneled).ok_or("MPI cannot be initialised a second time")?;
        let ranks = Self { universe, in_touch: Cell::new(1) };
        if ranks.is_leader() {
            ranks.in_touch.set(ranks.count() - 1);
        }
        Ok(ranks)
    }

    pub(super) fn count(&self) -> u32 {
        self.universe.world().size().unsigned_abs()
    }

    pub(super) fn number(&self) -> u32 {
        self.universe.world().rank().unsigned_abs()
    }

    pub(super) fn is_leader(&self) -> bool {
        self.number() == 0
    }

    /// The next report of a rank to the leader, if one has come, and the rank.
    pub(super) fn next_message(&self) -> Option<(u32, RankMessage)> {
        let world = self.universe.world();
        world.any_process().immediate_probe()?;
        let (message, status) = world.any_process().receive_vec::<u8>();
        let strange = || RankMessage::Failed("it sends what is not understood".to_owned());
        Some((status.source_rank().unsigned_abs(), serde_json::from_slice(&message).unwrap_or_else(|_| strange())))
    }

    /// The leader's answer to the report of a rank.
    pub(super) fn answer(&self, rank: u32, order: &LeaderMessage) {
        self.note(order);
        let world = self.universe.world();
        send(&world.process_at_rank(rank.cast_signed()), order);
    }

    /// Reports to the leader, and waits for its answer.
    pub(super) fn ask(&self, report: &RankMessage) -> LeaderMessage {
        let world = self.universe.world();
        let leader = world.process_at_rank(0);
        send(&leader, report);
        let order = serde_json::from_slice(&leader.receive_vec::<u8>().0).unwrap_or(LeaderMessage::End);
        self.note(&order);
        order
    }

    /// Parts from the others in good order, whatever became of the ensemble in this process. The leader sends the others home; another
    /// rank says why it goes before the end.
    pub(super) fn part<T>(self, outcome: Result<T, Box<dyn Error>>) -> Result<T, Box<dyn Error>> {
        while self.in_touch.get() > 0 {
            if !self.is_leader() {
                let message = outcome.as_ref().map_or_else(ToString::to_string, |_| String::new());
                self.ask(&RankMessage::Failed(message));
            } else if let Some((rank, _)) = self.next_message() {
                self.answer(rank, &LeaderMessage::End);
            } else {
                wait_a_little();
            }
        }
        outcome
    }

    fn note(&self, order: &LeaderMessage) {
        if let LeaderMessage::End = order {
            self.in_touch.update(|others| others - 1);
        }
    }
}

fn send(to: &Process<'_>, message: &impl Serialize) {
    to.send(&serde_json::to_vec(message).unwrap_or_default()[..]);
}
