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

/// Compares the series of a field at points in general position; `Err` if one differs, which is a bug of the compiler.
pub fn verify_series(field: &Program, prepare: &Program, series: &TaylorSeries) -> Result<(), Fault> {
    let agrees = sample_points().all(|point| agrees(field, prepare, series, &point));
    if agrees { Ok(()) } else { Err(Fault { function: "taylor_coefficients" }) }
}

/// Whether a series agrees with its field at a point, where it is defined.
fn agrees(field: &Program, prepare: &Program, series: &TaylorSeries, point: &Point<'_>) -> bool {
    let input = inputs(point, prepare, &Real::exactly);
    let coefficients = series.coefficients(&input, ORDERS);
    let sizes = |entry: usize| coefficients.iter().map(move |of_order| of_order[entry].size());
    let entries = 0..series.entries;
    if entries.clone().flat_map(sizes).any(|size| !size.is_finite()) {
        return true;
    }
    // The state is not 0 at these points.
    let radius_of = |entry: usize| {
        let later = sizes(entry).zip(0..).skip(1);
        later.map(move |(size, order)| (sizes(entry).next().unwrap_or(1.0) / size).powf(1.0 / f64::from(order)))
    };
    let radius = entries.clone().flat_map(radius_of).fold(1.0, f64::min);
    let t = Real::exactly(FRACTION * radius);
    (1..=ORDERS).all(|order| {
        let known = &coefficients[..=order];
        let polynomial =
            |entry: usize| known.iter().rev().fold(Real::zero(), |sum, of_order| sum.times(&t).plus(&of_order[entry]));
        let rate = |entry: usize| {
            let terms = known.iter().enumerate().skip(1).rev();
            terms.fold(Real::zero(), |sum, (n, of_order)| {
                sum.times(&t).plus(&of_order[entry].times(&Real::exactly(n as f64)))
            })
        };
        let state = |wanted| match wanted {
            Input::State(symbol) => polynomial(crate::derivation::table::Id::place(symbol)),
            other => input(other),
        };
        let rates = interpret(field, &state, &Real::exactly);
        rates.iter().enumerate().all(|(entry, expected)| {
            let largest = (1..=order).map(|n| n as f64 * known[n][entry].size() * radius.powi(n as i32 - 1));
            let allowed = TOLERANCE * FRACTION.powi(order as i32 - 1) * largest.fold(0.0, f64::max);
            let difference = rate(entry).minus(expected);
            difference.size() <= allowed + difference.error()
        })
    })
}

impl TaylorSeries {
    /// The coefficients up to an order, each with the entries of the state, by the definition of the sums.
    pub(super) fn coefficients<N: Numeric>(&self, input: &impl Fn(Input) -> N, order: usize) -> Vec<Vec<N>> {
        use crate::derivation::table::Id;
        let mut begun = interpret(&self.begin, input, &N::exactly);
        let initials = begun.split_off(self.entries);
        let state = |symbol| input(Input::State(symbol));
        let mut coefficients = vec![(0..self.entries).map(Id::at).map(state).collect::<Vec<N>>()];
        // Of each order from 1 on.
        let mut sequences: Vec<Vec<N>> = Vec::new();
        let mut rates = begun;
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
                Input::State(symbol) => of_order[symbol.place()].clone(),
                Input::Initial(place) => initials[place].clone(),
                Input::Order(0) => N::exactly(n as f64),
                Input::Order(1) => inverse.clone(),
                Input::Order(place) => sum(place - Self::NUMBERS),
                other => input(other),
            };
            rates = interpret(&self.finish, &number, &N::exactly);
            let newest = rates.split_off(self.entries);
            sequences.push(newest);
            coefficients.push(of_order);
        }
        coefficients
    }
}
