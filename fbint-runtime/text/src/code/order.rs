//! The order of operations: in runs of one kind, each as long as it can be made without looking ahead.

use std::collections::{BTreeMap, BTreeSet};

use fbint_macros_core::program::Value;

use super::Opcode;
use super::allocation::{Operand, ValueOperation};

/// The operations in runs of one kind, each operation behind those whose results it reads.
pub(super) fn in_runs(operations: Vec<ValueOperation>) -> Vec<ValueOperation> {
    let mut waiting = Waiting::of(&operations);
    let mut order = Vec::new();
    while let Some(kind) = waiting.most_frequent() {
        while let Some(next) = waiting.next(kind) {
            order.push(next);
            waiting.release(next);
        }
    }
    let mut operations: Vec<Option<ValueOperation>> = operations.into_iter().map(Some).collect();
    order.into_iter().filter_map(|operation| operations[operation].take()).collect()
}

/// The operations that are not in the order yet.
struct Waiting {
    kinds: Vec<Opcode>,
    /// For each operation those that read its results, once for each value that they read.
    readers: Vec<Vec<usize>>,
    /// For each operation how many values it reads that are not there yet.
    missing: Vec<usize>,
    /// The operations that can be next, by their kinds.
    ready: BTreeMap<Opcode, BTreeSet<usize>>,
}

impl Waiting {
    fn of(operations: &[ValueOperation]) -> Self {
        let results = operations.iter().enumerate();
        let results =
            results.flat_map(|(index, operation)| operation.results.iter().map(move |(_, value)| (*value, index)));
        let makers: BTreeMap<Value, usize> = results.collect();
        let (mut readers, mut missing) = (vec![Vec::new(); operations.len()], vec![0; operations.len()]);
        for (index, operation) in operations.iter().enumerate() {
            for operand in &operation.operands {
                if let Operand::Value(value) = operand
                    && let Some(&maker) = makers.get(value)
                {
                    readers[maker].push(index);
                    missing[index] += 1;
                }
            }
        }
        let mut waiting = Self {
            kinds: operations.iter().map(|operation| operation.kind).collect(),
            readers,
            missing,
            ready: BTreeMap::new(),
        };
        for operation in 0..operations.len() {
            if waiting.missing[operation] == 0 {
                waiting.admit(operation);
            }
        }
        waiting
    }

    fn admit(&mut self, operation: usize) {
        self.ready.entry(self.kinds[operation]).or_default().insert(operation);
    }

    /// The kind with the most operations that can come next.
    fn most_frequent(&self) -> Option<Opcode> {
        let kinds = self.ready.iter().filter(|(_, operations)| !operations.is_empty());
        kinds.max_by_key(|(_, operations)| operations.len()).map(|(kind, _)| *kind)
    }

    /// The first operation of a kind that can be next.
    fn next(&mut self, kind: Opcode) -> Option<usize> {
        self.ready.get_mut(&kind)?.pop_first()
    }

    /// Lets those be next for which only the results of this operation were missing.
    fn release(&mut self, operation: usize) {
        for reader in std::mem::take(&mut self.readers[operation]) {
            self.missing[reader] -= 1;
            if self.missing[reader] == 0 {
                self.admit(reader);
            }
        }
    }
}
