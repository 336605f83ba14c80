//! The order of operations: in runs of one kind, each as long as it can be made without looking ahead.

use std::collections::{BTreeMap, BTreeSet};

use fbint_macros_core::program::Value;

use super::Kind;
use super::allocation::{Operand, Step};

/// The steps in runs of one kind, each step behind those whose results it reads.
pub(super) fn in_runs(steps: Vec<Step>) -> Vec<Step> {
    let mut waiting = Waiting::of(&steps);
    let mut order = Vec::new();
    while let Some(kind) = waiting.most_frequent() {
        while let Some(next) = waiting.next(kind) {
            order.push(next);
            waiting.release(next);
        }
    }
    let mut steps: Vec<Option<Step>> = steps.into_iter().map(Some).collect();
    order.into_iter().filter_map(|step| steps[step].take()).collect()
}

/// The steps that are not in the order yet.
struct Waiting {
    kinds: Vec<Kind>,
    /// For each step those that read its results, once for each value that they read.
    readers: Vec<Vec<usize>>,
    /// For each step how many values it reads that are not there yet.
    missing: Vec<usize>,
    /// The steps that can be next, by their kinds.
    ready: BTreeMap<Kind, BTreeSet<usize>>,
}

impl Waiting {
    fn of(steps: &[Step]) -> Self {
        let results = steps.iter().enumerate();
        let results = results.flat_map(|(index, step)| step.results.iter().map(move |(_, value)| (*value, index)));
        let makers: BTreeMap<Value, usize> = results.collect();
        let (mut readers, mut missing) = (vec![Vec::new(); steps.len()], vec![0; steps.len()]);
        for (index, step) in steps.iter().enumerate() {
            for operand in &step.operands {
                if let Operand::Value(value) = operand
                    && let Some(&maker) = makers.get(value)
                {
                    readers[maker].push(index);
                    missing[index] += 1;
                }
            }
        }
        let mut waiting =
            Self { kinds: steps.iter().map(|step| step.kind).collect(), readers, missing, ready: BTreeMap::new() };
        for step in 0..steps.len() {
            if waiting.missing[step] == 0 {
                waiting.admit(step);
            }
        }
        waiting
    }

    fn admit(&mut self, step: usize) {
        self.ready.entry(self.kinds[step]).or_default().insert(step);
    }

    /// The kind of which most steps can be next.
    fn most_frequent(&self) -> Option<Kind> {
        let kinds = self.ready.iter().filter(|(_, steps)| !steps.is_empty());
        kinds.max_by_key(|(_, steps)| steps.len()).map(|(kind, _)| *kind)
    }

    /// The first step of a kind that can be next.
    fn next(&mut self, kind: Kind) -> Option<usize> {
        self.ready.get_mut(&kind)?.pop_first()
    }

    /// Lets those be next for which only the results of this step were missing.
    fn release(&mut self, step: usize) {
        for reader in std::mem::take(&mut self.readers[step]) {
            self.missing[reader] -= 1;
            if self.missing[reader] == 0 {
                self.admit(reader);
            }
        }
    }
}
