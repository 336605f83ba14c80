//! The Taylor series of a model from text, which are made when they are first asked for.
//!
//! The program that finishes an order is evaluated as the other functions are; the sums of an order are taken by a table.

use std::sync::{Arc, OnceLock};

use fbint_catalogue::{FlatSeries, Given, Source};
use fbint_macros_core::program::{self, LANES, Program, Programs, TaylorSeries, verify_series};
use fbint_runtime::{FourLanes, SumGroup, order_sums};

use crate::code::{Code, Layout};
use crate::evaluate::numbers;

/// The field that series are of, and these from the first time on.
#[derive(Debug)]
pub(crate) struct TextSeries {
    field: Program,
    /// The functions of declared events.
    events: Program,
    prepare: Program,
    layout: Arc<Layout>,
    made: OnceLock<Result<SeriesCode, &'static str>>,
}

impl TextSeries {
    pub(crate) fn new(programs: &Programs, layout: &Arc<Layout>) -> Self {
        let Programs { events, prepare, .. } = programs.clone();
        Self {
            field: programs.field_of_series().clone(),
            events,
            prepare,
            layout: Arc::clone(layout),
            made: OnceLock::new(),
        }
    }

    /// The code, or why there is none.
    pub(crate) fn made(&self) -> Result<&SeriesCode, &'static str> {
        self.made.get_or_init(|| self.make()).as_ref().map_err(|reason| *reason)
    }

    fn make(&self) -> Result<SeriesCode, &'static str> {
        let series = TaylorSeries::of(&self.field, &self.events);
        verify_series(&self.field, &self.events, &self.prepare, &series)
            .map_err(|_| "internal error: its Taylor series disagree with its field; please report it")?;
        let code =
            |program| Code::of_list(program, &self.layout).ok_or("its Taylor series take more numbers at a time");
        let (begin, finish) = (code(&series.begin)?, code(&series.finish)?);
        let layout = program::Layout::of(&series);
        let group = |group: program::Group| SumGroup { is_half: group.is_half, products: group.products };
        Ok(SeriesCode {
            begin,
            begun: series.begin.outputs.len(),
            finish,
            finished: series.finish.outputs.len(),
            entries: series.state.len(),
            switches: series.switches,
            watched: series.watched,
            columns: layout.columns,
            groups: layout.groups.into_iter().map(group).collect(),
            lanes: layout.lanes,
        })
    }
}

/// The code of series.
#[derive(Debug)]
pub(crate) struct SeriesCode {
    begin: Code,
    /// The number of results of the program that begins, and of the one that finishes an order.
    begun: usize,
    finish: Code,
    finished: usize,
    entries: usize,
    switches: usize,
    watched: usize,
    columns: Vec<[usize; 4]>,
    groups: Vec<SumGroup>,
    /// For each sum the lanes that it is the sum of.
    lanes: Vec<Vec<[usize; 2]>>,
}

impl FlatSeries for SeriesCode {
    fn columns(&self) -> usize {
        // A row is at least one vector long, as in generated code.
        (self.columns.len() + self.watched.div_ceil(LANES)).max(1)
    }

    fn switches(&self) -> usize {
        self.switches
    }

    fn watched(&self) -> usize {
        self.watched
    }

    fn expand(&self, given: &Given<'_, f64>, coefficients: &mut [f64], stride: usize, memory: &mut [FourLanes]) {
        let (columns, entries) = (FlatSeries::columns(self), self.entries);
        let mut rows = coefficients.chunks_exact_mut(stride);
        let Some(state) = rows.next() else { return };
        let (_, later) = given[Source::First].split_at(self.switches);
        let (mut later, held) = (later.chunks_exact(stride), vec![0.0; stride]);
        let mut begun = vec![0.0; self.begun.next_multiple_of(2)];
        numbers(&self.begin, &given.with(Source::State, state), &mut begun);
        let (rates, rest) = begun.split_at(entries);
        let (watched, initials) = rest.split_at(self.watched);
        let mut finished = vec![0.0; self.finished.next_multiple_of(2)];
        finished[..entries].copy_from_slice(rates);
        let mut of_order = vec![0.0; TaylorSeries::NUMBERS + self.lanes.len()];
        let mut sums = vec![FourLanes::ZERO; self.groups.len()];
        let Some(first) = memory.get_mut(..columns) else { return };
        first.fill(FourLanes::ZERO);
        self.watch(watched, first);
        for (n, row) in (1..).zip(rows) {
            let inverse = 1.0 / n as f64;
            for (coefficient, rate) in row.iter_mut().zip(&finished[..entries]) {
                *coefficient = rate * inverse;
            }
            let Some((past, rest)) = memory.split_at_mut_checked(n * columns) else { return };
            // The last coefficient needs no more.
            let Some(present) = rest.get_mut(..columns) else { return };
            order_sums(&self.groups, past, columns, &mut sums);
            (of_order[0], of_order[1]) = (n as f64, inverse);
            for (sum, lanes) in of_order[TaylorSeries::NUMBERS..].iter_mut().zip(&self.lanes) {
                let mut lanes = lanes.iter().map(|&[group, lane]| sums[group].lane(lane));
                *sum = lanes.next().map_or(0.0, |first| lanes.fold(first, |sum, lane| sum + lane));
            }
            let given = given.with(Source::State, row).with(Source::Inputs, later.next().unwrap_or(&held));
            let given = given.with(Source::First, &of_order).with(Source::Second, initials);
            numbers(&self.finish, &given, &mut finished);
            let (watched, sequences) = finished[entries..].split_at(self.watched);
            for (stored, column) in present.iter_mut().zip(&self.columns) {
                *stored = FourLanes::new(column.map(|sequence| sequences[sequence]));
            }
            self.watch(watched, present);
        }
    }
}

impl SeriesCode {
    /// Puts what is watched into the last columns of a row.
    fn watch(&self, watched: &[f64], row: &mut [FourLanes]) {
        for (stored, of) in row[self.columns.len()..].iter_mut().zip(watched.chunks(LANES)) {
            *stored = FourLanes::new(std::array::from_fn(|lane| of[lane.min(of.len() - 1)]));
        }
    }
}
