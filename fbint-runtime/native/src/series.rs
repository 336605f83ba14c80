//! Taylor series as machine code: the loop over orders, with all sums of an order side by side.
//!
//! ```text
//! the program that begins; row 0 of the memory
//! for n = 1, 2, ..
//!     x_n = rates / n, into row n of the coefficients
//!     the sums of order n, from rows 1 to n - 1 of the memory
//!     the program that finishes the order: new rates, and row n of the memory
//! ```
//!
//! Four numbers side by side are two vectors of two. Every lane adds up what it does in generated code, in the same order.

use cranelift_codegen::Context;
use cranelift_codegen::cursor::Cursor;
use cranelift_codegen::ir::condcodes::IntCC;
use cranelift_codegen::ir::types::{F64, F64X2};
use cranelift_codegen::ir::{self, BlockArg, InstBuilder, MemFlagsData};
use cranelift_codegen::isa::TargetIsa;
use fbint_macros_core::program::{Group, Input, LANES, Layout, TaylorSeries};

use crate::function::{ARRAYS, EXTENTS, WrittenSeries};
use crate::translate::{Arrays, NUMBER, Translator, offset, written};
use crate::{Error, Place};

/// The arrays, the coefficients of inputs, the coefficients, the memory, and the extents.
const ARGUMENTS: usize = ARRAYS + 4;
/// The number of groups that one loop adds up: their sums stay in registers.
const TOGETHER: usize = 6;

/// The sums of a group: two vectors of two.
type Four = [ir::Value; 2];

/// The machine code of a series.
pub(crate) fn series(
    processor: &dyn TargetIsa,
    series: &TaylorSeries,
    place: &dyn Fn(Input) -> Option<Place>,
) -> Result<WrittenSeries, Error> {
    let layout = Layout::of(series);
    let mut context = Context::new();
    let (translator, [arrays @ .., later, coefficients, memory, extents]) =
        Translator::new::<ARGUMENTS>(processor, &mut context.func, &series.begin);
    let mut given = Arrays { arrays, least: [0; ARRAYS], place };
    let columns = layout.columns.len() + series.watched.div_ceil(LANES);
    let row = columns.max(1) * LANES;
    let loops = Loops { translator, series, layout: &layout, row, memory, inputs: 0 };
    let inputs = loops.write(&mut given, [later, coefficients, extents])?;
    let (least, entries) = (given.least, series.state.len());
    Ok(WrittenSeries { code: written(&mut context, processor)?, least, inputs, entries, row })
}

/// The function under way.
struct Loops<'t> {
    translator: Translator<'t>,
    series: &'t TaylorSeries,
    layout: &'t Layout,
    /// The number of numbers in a row of the memory.
    row: usize,
    memory: ir::Value,
    /// The least length of the coefficients of inputs of an order.
    inputs: usize,
}

/// Rows of the memory that the sums of an order read.
struct Past {
    second: ir::Value,
    middle: ir::Value,
    last: ir::Value,
    first: ir::Value,
    /// Where row 2 and row n - 2 are, and where loops over all pairs of rows between, and over half of them, end.
    between: [ir::Value; 2],
    ends: [ir::Value; 2],
}

impl<'t> Loops<'t> {
    /// Writes all; returns the least length of the coefficients of inputs of an order.
    fn write(mut self, given: &mut Arrays<'_>, [later, coefficients, extents]: [ir::Value; 3]) -> Result<usize, Error> {
        let pointer = self.translator.pointer;
        let [stride, later_stride, orders, rows] = self.extents(extents)?;
        let begun = self.translator.outputs(&self.series.begin, &mut |translator, input| match self
            .series
            .state
            .iter()
            .position(|entry| *entry == input)
        {
            Some(entry) => translator.load(F64, coefficients, entry),
            None => given.read(translator, input),
        })?;
        let (rates, rest) = begun.split_at(self.series.state.len());
        let (watched, initials) = rest.split_at(self.series.watched);
        let zero = self.translator.cursor.ins().f64const(0.0);
        let nothing = vec![zero; self.row - self.series.watched.next_multiple_of(LANES)];
        self.store_row(self.memory, nothing, watched)?;
        let one = self.translator.whole(1);
        let (row, present) = (self.add(coefficients, stride), self.add_rows(self.memory, 1)?);
        // n, row n of the coefficients, of the memory and of the inputs; n as another number, whose conversion takes long; and the rates.
        let (order, finish, end) = (self.block(), self.block(), self.block());
        let unit = self.translator.cursor.ins().f64const(1.0);
        let mut arguments = vec![one, row, present, later];
        let counted = arguments.len();
        arguments.push(unit);
        arguments.extend(rates);
        self.jump(order, &arguments);
        let arguments: Vec<ir::Value> = (0..arguments.len())
            .map(|place| self.parameter(order, if place < counted { pointer } else { F64 }))
            .collect();
        let (numbers, rates) = arguments.split_at(counted);
        let (n, row, present, later) = (numbers[0], numbers[1], numbers[2], numbers[3]);
        let (number, rates) = (rates[0], &rates[1..]);
        let coefficient = self.block();
        self.translator.cursor.insert_block(order);
        self.branch((IntCC::UnsignedGreaterThan, n, orders), (end, &[]), (coefficient, &[]));
        self.translator.cursor.insert_block(coefficient);
        let inverse = self.translator.cursor.ins().fdiv(unit, number);
        let x: Vec<ir::Value> = rates.iter().map(|rate| self.translator.cursor.ins().fmul(*rate, inverse)).collect();
        for (entry, x) in x.iter().enumerate() {
            self.translator.cursor.ins().store(MemFlagsData::trusted(), *x, row, offset(entry)?);
        }
        // The last coefficient needs no more.
        self.branch((IntCC::UnsignedGreaterThanOrEqual, n, rows), (end, &[]), (finish, &[]));
        self.translator.cursor.insert_block(finish);
        let sums = self.sums(n, present)?;
        let mut least = self.inputs;
        let finished = self.translator.outputs(&self.series.finish, &mut |translator, input| match input {
            Input::Order(0) => Ok(number),
            Input::Order(1) => Ok(inverse),
            Input::Order(place) => sums.get(place - TaylorSeries::NUMBERS).copied().ok_or(Error::Input),
            Input::Initial(place) => initials.get(place).copied().ok_or(Error::Input),
            Input::Driving(_) => {
                let Place { entry, .. } = (given.place)(input).ok_or(Error::Input)?;
                let value = translator.load(F64, later, entry)?;
                least = least.max(entry + 1);
                Ok(value)
            }
            _ => match self.series.state.iter().position(|entry| *entry == input) {
                Some(entry) => Ok(x[entry]),
                None => given.read(translator, input),
            },
        })?;
        let (rates, rest) = finished.split_at(self.series.state.len());
        let (watched, sequences) = rest.split_at(self.series.watched);
        let stored = self.layout.columns.iter().flatten().map(|sequence| sequences[*sequence]).collect();
        self.store_row(present, stored, watched)?;
        let next = [self.add(n, one), self.add(row, stride), self.add_rows(present, 1)?, self.add(later, later_stride)];
        let unit = self.translator.cursor.ins().f64const(1.0);
        let following = self.translator.cursor.ins().fadd(number, unit);
        self.jump(order, &[&next[..], &[following], rates].concat());
        self.translator.cursor.insert_block(end);
        self.translator.cursor.ins().return_(&[]);
        Ok(least)
    }

    /// The numbers that are given with a call, in their order there.
    fn extents(&mut self, extents: ir::Value) -> Result<[ir::Value; EXTENTS], Error> {
        let mut read = [extents; EXTENTS];
        for (place, extent) in read.iter_mut().enumerate() {
            *extent = self.translator.load(self.translator.pointer, extents, place)?;
        }
        Ok(read)
    }

    /// Writes a row of the memory: what is stored, and then what is watched, whose last one fills its vector.
    fn store_row(&mut self, row: ir::Value, mut stored: Vec<ir::Value>, watched: &[ir::Value]) -> Result<(), Error> {
        for four in watched.chunks(LANES) {
            stored.extend((0..LANES).map(|lane| four[lane.min(four.len() - 1)]));
        }
        self.translator.store(&stored, row)
    }

    /// The sums of order n > 0, whose row of the memory is given.
    fn sums(&mut self, n: ir::Value, present: ir::Value) -> Result<Vec<ir::Value>, Error> {
        if self.layout.groups.is_empty() {
            return Ok(Vec::new());
        }
        let past = self.past(n, present)?;
        let mut totals: Vec<Four> = Vec::new();
        for alike in self.layout.groups.chunk_by(|a, b| a.is_half == b.is_half) {
            for groups in alike.chunks(TOGETHER) {
                totals.extend(self.between(&past, groups)?);
            }
        }
        for (total, group) in totals.iter_mut().zip(&self.layout.groups) {
            *total = self.finished(&past, *total, group)?;
        }
        let sum = |lanes: &Vec<[usize; 2]>| {
            let mut lanes = lanes.iter().map(|&[group, lane]| (totals[group][lane / 2], (lane % 2) as u8));
            let (first, lane) = lanes.next()?;
            let first = self.translator.cursor.ins().extractlane(first, lane);
            Some(lanes.fold(first, |sum, (vector, lane)| {
                let term = self.translator.cursor.ins().extractlane(vector, lane);
                self.translator.cursor.ins().fadd(sum, term)
            }))
        };
        self.layout.lanes.iter().map(sum).collect::<Option<_>>().ok_or(Error::Input)
    }

    /// The rows that order n reads. Row 0, which is 0, stands in for rows that do not exist.
    fn past(&mut self, n: ir::Value, present: ir::Value) -> Result<Past, Error> {
        let memory = self.memory;
        let (row_1, row_2) = (self.add_rows(memory, 1)?, self.add_rows(memory, 2)?);
        let (last, before) = (self.add_rows(present, -1)?, self.add_rows(present, -2)?);
        let bytes = self.translator.whole(self.row * NUMBER);
        let ins = &mut self.translator.cursor;
        let (half, odd) = (ins.ins().ushr_imm_u(n, 1), ins.ins().band_imm_u(n, 1));
        let [at_half, at_odd] = [half, odd].map(|rows| ins.ins().imul(rows, bytes));
        let middle = ins.ins().iadd(memory, at_half);
        let end_of_half = ins.ins().iadd(middle, at_odd);
        let [first, second] = [1, 2].map(|least| {
            let is_there = ins.ins().icmp_imm_u(IntCC::UnsignedGreaterThan, n, least);
            ins.ins().select(is_there, row_1, memory)
        });
        let middle = ins.ins().select(odd, memory, middle);
        Ok(Past { second, middle, last, first, between: [row_2, before], ends: [last, end_of_half] })
    }

    /// The sums of some groups without the products that have the newest coefficients.
    fn between(&mut self, past: &Past, groups: &[Group]) -> Result<Vec<Four>, Error> {
        let pointer = self.translator.pointer;
        let end = past.ends[usize::from(groups.iter().all(|group| group.is_half))];
        let zero = self.translator.cursor.ins().f64const(0.0);
        let zero = self.translator.cursor.ins().splat(F64X2, zero);
        let zeros = vec![zero; 2 * groups.len()];
        let (pair, after) = (self.block(), self.block());
        let begin = [&past.between[..], &zeros].concat();
        self.branch((IntCC::UnsignedLessThan, past.between[0], end), (pair, &begin), (after, &zeros));
        self.translator.cursor.insert_block(pair);
        let [left, right] = [(); 2].map(|()| self.parameter(pair, pointer));
        let mut totals = Vec::new();
        for group in groups {
            let mut total = [(); 2].map(|()| self.parameter(pair, F64X2));
            for &[a, b] in &group.products {
                total = self.product_and(total, (left, a), (right, b))?;
            }
            totals.extend(total);
        }
        let (left, right) = (self.add_rows(left, 1)?, self.add_rows(right, -1)?);
        let next = [&[left, right][..], &totals].concat();
        self.branch((IntCC::UnsignedLessThan, left, end), (pair, &next), (after, &totals));
        self.translator.cursor.insert_block(after);
        Ok(groups.iter().map(|_| [(); 2].map(|()| self.parameter(after, F64X2))).collect())
    }

    /// A sum with the products that have the newest coefficients.
    fn finished(&mut self, past: &Past, mut sum: Four, group: &Group) -> Result<Four, Error> {
        let Past { second, middle, last, first, .. } = *past;
        if !group.is_half {
            for &[a, b] in &group.products {
                sum = self.product_and(sum, (second, a), (last, b))?;
                sum = self.product_and(sum, (last, a), (first, b))?;
            }
            return Ok(sum);
        }
        for &[a, _] in &group.products {
            sum = self.product_and(sum, (second, a), (last, a))?;
        }
        sum = sum.map(|sum| self.translator.cursor.ins().fadd(sum, sum));
        for &[a, _] in &group.products {
            sum = self.product_and(sum, (middle, a), (middle, a))?;
        }
        Ok(sum)
    }

    /// A sum and the product of two columns of rows.
    fn product_and(
        &mut self,
        sum: Four,
        (left, a): (ir::Value, usize),
        (right, b): (ir::Value, usize),
    ) -> Result<Four, Error> {
        let mut both = sum;
        for (place, sum) in both.iter_mut().enumerate() {
            let a = self.translator.load(F64X2, left, LANES * a + 2 * place)?;
            let b = self.translator.load(F64X2, right, LANES * b + 2 * place)?;
            *sum = self.translator.multiplied_and_added(a, b, *sum);
        }
        Ok(both)
    }

    fn add(&mut self, a: ir::Value, b: ir::Value) -> ir::Value {
        self.translator.cursor.ins().iadd(a, b)
    }

    /// The place of a row of the memory some rows behind another.
    fn add_rows(&mut self, row: ir::Value, rows: i64) -> Result<ir::Value, Error> {
        let bytes = i64::from(offset(self.row)?) * rows;
        Ok(self.translator.cursor.ins().iadd_imm_s(row, bytes))
    }

    fn block(&mut self) -> ir::Block {
        self.translator.cursor.func.dfg.make_block()
    }

    fn parameter(&mut self, block: ir::Block, of: ir::Type) -> ir::Value {
        self.translator.cursor.func.dfg.append_block_param(block, of)
    }

    fn jump(&mut self, to: ir::Block, arguments: &[ir::Value]) {
        self.translator.cursor.ins().jump(to, &block_arguments(arguments));
    }

    /// Goes on at one place if a comparison of whole numbers is true, and else at another.
    fn branch(
        &mut self,
        (comparison, a, b): (IntCC, ir::Value, ir::Value),
        (then, of_then): (ir::Block, &[ir::Value]),
        (other, of_other): (ir::Block, &[ir::Value]),
    ) {
        let condition = self.translator.cursor.ins().icmp(comparison, a, b);
        let [of_then, of_other] = [of_then, of_other].map(block_arguments);
        self.translator.cursor.ins().brif(condition, then, &of_then, other, &of_other);
    }
}

fn block_arguments(values: &[ir::Value]) -> Vec<BlockArg> {
    values.iter().map(|value| BlockArg::Value(*value)).collect()
}
