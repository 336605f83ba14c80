//! The Taylor series of a model from text, which are made when they are first asked for.
//!
//! They are machine code if there is any for this processor. Without it the program that finishes an order is interpreted, and the sums of
//! an order are taken by a table.

use std::sync::{Arc, OnceLock};

use fbint_catalogue::{FlatSeries, Given, Source};
use fbint_macros_core::program::{self, Group, LANES, Program, Programs, TaylorSeries, verify_series};
use fbint_native::{SeriesFunction, compile_series};
use fbint_runtime::{FourLanes, SeriesShape};

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
        let TaylorSeries { switches, watched, is_polynomial, .. } = series;
        // A row is at least one vector long, as in generated code.
        let columns = (layout.columns.len() + watched.div_ceil(LANES)).max(1);
        Ok(SeriesCode {
            begin,
            begun: series.begin.outputs.len(),
            finish,
            finished: series.finish.outputs.len(),
            entries: series.state.len(),
            shape: SeriesShape { columns, switches, watched, is_polynomial },
            columns: layout.columns,
            groups: layout.groups,
            lanes: layout.lanes,
            machine: compile_series(&series, &|input| self.layout.place_in_arrays(input)).ok(),
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
    shape: SeriesShape,
    columns: Vec<[usize; 4]>,
    groups: Vec<Group>,
    /// For each sum the lanes that it is the sum of.
    lanes: Vec<Vec<[usize; 2]>>,
    /// All of it as machine code, if there is any.
    machine: Option<SeriesFunction>,
}

impl FlatSeries for SeriesCode {
    fn shape(&self) -> SeriesShape {
        self.shape
    }

    fn expand(&self, given: &Given<'_, f64>, coefficients: &mut [f64], stride: usize, memory: &mut [FourLanes]) {
        match &self.machine {
            Some(machine) => {
                let (_, later) = given[Source::First].split_at(self.shape.switches);
                machine.call(given.lists(), later, coefficients, stride, memory);
            }
            None => self.expand_by_table(given, coefficients, stride, memory),
        }
    }
}

impl SeriesCode {
    /// Expands without machine code.
    fn expand_by_table(
        &self,
        given: &Given<'_, f64>,
        coefficients: &mut [f64],
        stride: usize,
        memory: &mut [FourLanes],
    ) {
        let (columns, entries) = (self.shape.columns, self.entries);
        let mut rows = coefficients.chunks_exact_mut(stride);
        let Some(state) = rows.next() else { return };
        let (_, later) = given[Source::First].split_at(self.shape.switches);
        let (mut later, held) = (later.chunks_exact(stride), vec![0.0; stride]);
        let mut begun = vec![0.0; self.begun.next_multiple_of(2)];
        numbers(&self.begin, &given.with(Source::State, state), &mut begun);
        let (rates, rest) = begun.split_at(entries);
        let (watched, initials) = rest.split_at(self.shape.watched);
        let mut finished = vec![0.0; self.finished.next_multiple_of(2)];
        finished[..entries].copy_from_slice(rates);
        let mut of_order = vec![0.0; TaylorSeries::NUMBERS + self.lanes.len()];
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
            let sums: Vec<FourLanes> = self.groups.iter().map(|group| sums_of(group, past, columns)).collect();
            (of_order[0], of_order[1]) = (n as f64, inverse);
            for (sum, lanes) in of_order[TaylorSeries::NUMBERS..].iter_mut().zip(&self.lanes) {
                let mut lanes = lanes.iter().map(|&[group, lane]| sums[group].lane(lane));
                *sum = lanes.next().map_or(0.0, |first| lanes.fold(first, |sum, lane| sum + lane));
            }
            let given = given.with(Source::State, row).with(Source::Inputs, later.next().unwrap_or(&held));
            let given = given.with(Source::First, &of_order).with(Source::Second, initials);
            numbers(&self.finish, &given, &mut finished);
            let (watched, sequences) = finished[entries..].split_at(self.shape.watched);
            for (stored, column) in present.iter_mut().zip(&self.columns) {
                *stored = FourLanes::new(column.map(|sequence| sequences[sequence]));
            }
            self.watch(watched, present);
        }
    }

    /// Puts what is watched into the last columns of a row.
    fn watch(&self, watched: &[f64], row: &mut [FourLanes]) {
        for (stored, of) in row[self.columns.len()..].iter_mut().zip(watched.chunks(LANES)) {
            *stored = FourLanes::new(std::array::from_fn(|lane| of[lane.min(of.len() - 1)]));
        }
    }
}

/// The sums of a group in the order after these rows: each adds up what it does in machine code, one after the other.
fn sums_of(group: &Group, past: &[FourLanes], columns: usize) -> FourLanes {
    let n = past.len() / columns;
    let row = |order: usize| &past[order * columns..][..columns];
    let added = |sum, left: &[FourLanes], right: &[FourLanes]| {
        group.products.iter().fold(sum, |sum: FourLanes, &[a, b]| left[a].mul_add(right[b], sum))
    };
    let until = if group.is_half { n.div_ceil(2) } else { n.saturating_sub(1) };
    let mut sum = (2..until).fold(FourLanes::ZERO, |sum, j| added(sum, row(j), row(n - j)));
    // Row 0, which is 0, stands in for rows that do not exist.
    let (last, first, second) = (row(n - 1), row(usize::from(n > 1)), row(usize::from(n > 2)));
    if group.is_half {
        let (middle, sum) = (row(if n.is_multiple_of(2) { n / 2 } else { 0 }), added(sum, second, last));
        return added(sum + sum, middle, middle);
    }
    for &[a, b] in &group.products {
        sum = last[a].mul_add(first[b], second[a].mul_add(last[b], sum));
    }
    sum
}

#[cfg(test)]
mod tests {
    use fbint_catalogue::{FlatModel, FlatSeries, Given, Source};
    use fbint_runtime::FourLanes;

    use super::program::LANES;

    /// A pendulum, springs in a row, what is divided and switches, with inputs that change, and what has no sum.
    const TEXTS: [&str; 5] = [
        "#[feedback_system(coordinates(a), momenta(p), hamiltonian = p.powi(2) / (2 * m) - a.cos(), default(m = 3))] struct P { m: f64 }",
        "#[feedback_system(coordinates(q: [9]), momenta(p: [9]), define(s = (0..8).map(|i| (q[i + 1] - q[i]).powi(4)).sum()),
          hamiltonian = p.norm_squared() / 2 + s + q[0].powi(3), event(middle = q[4]))] struct Row;",
        "#[feedback_system(coordinates(q: [3]), momenta(p: [3]), hamiltonian = p.norm_squared() / 2 - 1 / q.norm(),
          invariant(m = q[0] * p[1] - q[1] * p[0]))] struct Kepler;",
        "#[feedback_system(state(x, v), input(wind, lever), dynamics(x = v.exp().atan(), v = -x * wind.sin() + (lever - x).max(0) / (2 + x.cos())),
          event(level = x - lever), event(fast = v.powi(2) - 1))] struct Steered;",
        "#[feedback_system(state(x, y), dynamics(x = 1, y = 2 * x))] struct Line;",
    ];

    /// The coefficients and the memory by machine code, whatever there is room for, and by the table.
    #[test]
    fn machine_code_gives_the_bits_of_the_table() {
        for text in TEXTS {
            let model = crate::models(text).unwrap().remove(0);
            let series = model.functions.series.made().unwrap();
            let machine = series.machine.as_ref().expect("this processor has machine code");
            let (entries, inputs) = (series.entries, model.facts().input_names.len());
            // As long as the vectors of the model.
            let least = entries.max(model.facts().given_numbers());
            let prepared = model.prepared();
            for (order, rows, stride, is_held) in [
                (20, 20, least, true),
                (12, 13, least + 3, false),
                (1, 1, least, true),
                (9, 4, 24, false),
                (0, 1, 24, true),
            ] {
                let number = |i: usize| (1.0 + i as f64).sin() + 0.1;
                let sides = vec![1.0; series.shape.switches];
                let rest = if is_held || inputs == 0 { 0 } else { order * stride };
                let later: Vec<f64> = (0..rest).map(|i| if i % stride < inputs { number(i) } else { 0.0 }).collect();
                let first = [&sides[..], &later].concat();
                let given_inputs: Vec<f64> = (0..model.facts().given_numbers()).map(|i| number(i + 7)).collect();
                let given = Given::default()
                    .with(Source::Prepared, &prepared)
                    .with(Source::Inputs, &given_inputs)
                    .with(Source::First, &first);
                let start: Vec<f64> =
                    (0..(order + 1) * stride).map(|i| if i < entries { number(i) } else { 0.0 }).collect();
                let (mut by_table, mut by_machine) = (start.clone(), start);
                let nothing = vec![FourLanes::new([f64::NAN; 4]); rows * series.shape().columns];
                let (mut memory, mut of_machine) = (nothing.clone(), nothing);
                series.expand_by_table(&given, &mut by_table, stride, &mut memory);
                machine.call(given.lists(), &later, &mut by_machine, stride, &mut of_machine);
                let bits = |numbers: &[f64]| numbers.iter().map(|number| number.to_bits()).collect::<Vec<u64>>();
                let lanes = |memory: &[FourLanes]| -> Vec<f64> {
                    memory.iter().flat_map(|four| (0..LANES).map(|lane| four.lane(lane))).collect()
                };
                assert_eq!(bits(&by_table), bits(&by_machine), "{text} {order} {stride}");
                assert_eq!(bits(&lanes(&memory)), bits(&lanes(&of_machine)), "{text} {order} {stride}");
            }
        }
    }
}
