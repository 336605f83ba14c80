//! Series held against the field that they were made from, in 256 bits.
//!
//! With the coefficients up to order P, x = x_0 + .. + x_P t^P satisfies x' = f(x) up to t^P: the coefficients of f(x) up to order P - 1 equal
//! the coefficients of x'. So a wrong coefficient of order P leaves P x_P t^{P-1} in x' - f(x), which is far larger at a small t. No rule of any
//! instruction takes part: the program of f is evaluated.

use super::TaylorSeries;
use crate::numbers::number::{Number, Numeric};
use crate::numbers::points::{Point, sample_points};
use crate::numbers::precise::Real;
use crate::program::code::{Fault, Input, Program, inputs, interpret};

/// The highest order that is compared.
const ORDERS: usize = 6;
/// t, in units of a radius of convergence as coefficients suggest it: 2^-24.
const FRACTION: f64 = 1.0 / 16_777_216.0;
/// The largest error of a coefficient, relative to the largest size that it may have: 2^-12.
const TOLERANCE: f64 = 1.0 / 4096.0;

/// Compares the series of a field, and of functions along its solutions, at points in general position; `Err` if one differs, which is a
/// bug of the compiler.
pub fn verify_series(
    field: &Program,
    functions: &Program,
    prepare: &Program,
    series: &TaylorSeries,
) -> Result<(), Fault> {
    let agrees = sample_points().all(|point| agrees([field, functions], prepare, series, &point));
    if agrees { Ok(()) } else { Err(Fault { function: "taylor_coefficients" }) }
}

/// Returns `true` if a series agrees with its field and functions at a point, where it is defined.
fn agrees([field, functions]: [&Program; 2], prepare: &Program, series: &TaylorSeries, point: &Point<'_>) -> bool {
    let input = inputs(point, prepare, &Real::exactly);
    let (states, watched) = series.coefficients(&input, ORDERS);
    let entries = 0..series.state.len();
    if entries.clone().flat_map(|entry| sizes(&states, entry)).any(|size| !size.is_finite()) {
        return true;
    }
    // The state is not 0 at these points.
    let radius_of = |entry: usize| {
        let (first, later) = (states[0][entry].size(), sizes(&states, entry).zip(0..).skip(1));
        later.map(move |(size, order)| (first / size).powf(1.0 / f64::from(order)))
    };
    let radius = entries.flat_map(radius_of).fold(1.0, f64::min);
    let t = Real::exactly(FRACTION * radius);
    let own = &watched.iter().map(|row| row[series.switches..].to_vec()).collect::<Vec<_>>();
    (1..=ORDERS).all(|order| {
        let known = &states[..=order];
        let state = |wanted| match series.entry(wanted) {
            Some(entry) => polynomial(known, entry, &t),
            None if series.inputs.contains(&wanted) => {
                let rows: Vec<Vec<Real>> = (0..=order).map(|n| vec![coefficient_of_input(&input, wanted, n)]).collect();
                polynomial(&rows, 0, &t)
            }
            None => input(wanted),
        };
        // n x_n of the order n - 1.
        let rates: Vec<Vec<Real>> = known.iter().enumerate().skip(1).map(|(n, row)| scaled(row, n)).collect();
        let is_right = |program: &Program, known: &[Vec<Real>]| {
            let values = interpret(program, &state, &Real::exactly);
            values.iter().enumerate().all(|(entry, expected)| is_near(known, entry, (&t, radius), expected))
        };
        is_right(field, &rates) && is_right(functions, &own[..=order])
    })
}

/// The coefficient of order n of an input u that changes: here it is u / (1 - t / 2).
fn coefficient_of_input<N: Numeric>(input: &impl Fn(Input) -> N, wanted: Input, n: usize) -> N {
    input(wanted).times(&N::exactly(0.5_f64.powi(n as i32)))
}

/// The sizes of the coefficients of an entry.
fn sizes(rows: &[Vec<Real>], entry: usize) -> impl Iterator<Item = f64> {
    rows.iter().map(move |row| row[entry].size())
}

fn scaled(row: &[Real], n: usize) -> Vec<Real> {
    row.iter().map(|entry| entry.times(&Real::exactly(n as f64))).collect()
}

fn polynomial(rows: &[Vec<Real>], entry: usize, t: &Real) -> Real {
    rows.iter().rev().fold(Real::zero(), |sum, row| sum.times(t).plus(&row[entry]))
}

/// Returns `true` if a polynomial is as near to what it should be as all its coefficients are right, the last one among them.
fn is_near(rows: &[Vec<Real>], entry: usize, (t, radius): (&Real, f64), expected: &Real) -> bool {
    if sizes(rows, entry).any(|size| !size.is_finite()) {
        return true;
    }
    let largest = sizes(rows, entry).zip(0..).map(|(size, order)| size * radius.powi(order));
    let order = rows.len() as i32 - 1;
    let allowed = TOLERANCE * FRACTION.powi(order) * largest.fold(0.0, f64::max);
    let difference = polynomial(rows, entry, t).minus(expected);
    difference.size() <= allowed + difference.error()
}

/// The coefficients up to an order of the entries of the state, and of what is watched, order by order.
type Coefficients<N> = (Vec<Vec<N>>, Vec<Vec<N>>);

impl TaylorSeries {
    /// The coefficients up to an order, by the definition of the sums.
    pub(super) fn coefficients<N: Numeric>(&self, input: &impl Fn(Input) -> N, order: usize) -> Coefficients<N> {
        let (mut states, mut watched) = (Vec::new(), Vec::new());
        let mut rates = self.begun(input);
        let initials = rates.split_off(self.state.len() + self.watched);
        watched.push(rates.split_off(self.state.len()));
        states.push(self.state.iter().map(|entry| input(*entry)).collect::<Vec<N>>());
        // Of each order from 1 on.
        let mut sequences: Vec<Vec<N>> = Vec::new();
        for n in 1..=order {
            let inverse = N::exactly(1.0).over(&N::exactly(n as f64));
            let of_order: Vec<N> = rates.iter().map(|rate| rate.times(&inverse)).collect();
            let product = |[a, b]: [usize; 2]| {
                let terms = (1..n).map(|j| sequences[j - 1][a].times(&sequences[n - j - 1][b]));
                terms.fold(N::zero(), |sum, term| sum.plus(&term))
            };
            let sum = |place: usize| {
                let products = self.sums[place].0.iter().map(|pair| product(*pair));
                products.fold(N::zero(), |sum, term| sum.plus(&term))
            };
            let number = |wanted| match wanted {
                Input::Initial(place) => initials[place].clone(),
                Input::Order(0) => N::exactly(n as f64),
                Input::Order(1) => inverse.clone(),
                Input::Order(place) => sum(place - Self::NUMBERS),
                other if self.inputs.contains(&other) => coefficient_of_input(input, other, n),
                other => self.entry(other).map_or_else(|| input(other), |entry| of_order[entry].clone()),
            };
            rates = interpret(&self.finish, &number, &N::exactly);
            sequences.push(rates.split_off(self.state.len() + self.watched));
            watched.push(rates.split_off(self.state.len()));
            states.push(of_order);
        }
        (states, watched)
    }

    /// The results of the program that begins, on the sides on which the state is. A side may depend on others.
    fn begun<N: Numeric>(&self, input: &impl Fn(Input) -> N) -> Vec<N> {
        let mut sides = vec![1.0; self.switches];
        let mut left = self.switches;
        loop {
            let number = |wanted| match wanted {
                Input::Order(place) => N::exactly(sides[place]),
                other => input(other),
            };
            let begun = interpret(&self.begin, &number, &N::exactly);
            if left == 0 {
                return begun;
            }
            let arguments = &begun[self.state.len()..][..self.switches];
            sides = arguments.iter().map(|argument| if argument.to_f64() < 0.0 { -1.0 } else { 1.0 }).collect();
            left -= 1;
        }
    }
}
