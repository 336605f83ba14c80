//! A search for a state in which something is positive, one unknown at a time.

use std::collections::BTreeMap;

use crate::derivation::Symbols;
use crate::expression::{Expression, Symbol};
use crate::numbers::points::search_points;

/// The number of starts.
const STARTS: usize = 4;
/// The number of passes over the unknowns from each start.
const SWEEPS: usize = 24;
/// The distances at which the neighbouring values are taken. A parabola through them says where to go.
const DISTANCES: [f64; 8] = [1e-6, 1e-3, 1e-1, 1.0, 1e2, 1e4, 1e7, 1e10];

/// Returns `true` if the ascent finds values of an expression's unknowns at which its `height` is positive. Where the height is smooth, it
/// finds a domain that is small and far away, which random points miss.
pub(super) fn is_positive_somewhere(expression: &Expression, symbols: &Symbols, height: impl Fn(f64) -> f64) -> bool {
    let unknowns: Vec<Symbol> = expression.symbols().into_iter().collect();
    search_points(symbols).take(STARTS).any(|start| {
        let mut values: BTreeMap<Symbol, f64> = unknowns.iter().map(|&symbol| (symbol, start.symbol(symbol))).collect();
        let at = |values: &BTreeMap<Symbol, f64>| {
            let value = height(expression.evaluate(&|symbol| values[&symbol]));
            if value.is_nan() { f64::NEG_INFINITY } else { value }
        };
        let mut best = at(&values);
        for _ in 0..SWEEPS {
            let before = best;
            for &symbol in &unknowns {
                let mut along = |place: f64| {
                    let mut moved = values.clone();
                    moved.insert(symbol, place);
                    at(&moved)
                };
                let (highest, place) = highest(values[&symbol], best, &mut along);
                best = highest;
                values.insert(symbol, place);
            }
            if best > 0.0 || best <= before {
                break;
            }
        }
        best > 0.0
    })
}

/// The highest of the places near, and of the tops of the parabolas through them, with its height.
fn highest(here: f64, height: f64, along: &mut impl FnMut(f64) -> f64) -> (f64, f64) {
    let mut best = (height, here);
    for distance in DISTANCES {
        let [below, above] = [-distance, distance].map(|step| (along(here + step), here + step));
        let curvature = above.0 - 2.0 * height + below.0;
        let top = here + 0.5 * distance * (below.0 - above.0) / curvature;
        let top = if curvature < 0.0 && top.is_finite() { (along(top), top) } else { above };
        for candidate in [below, above, top] {
            if candidate.0 > best.0 {
                best = candidate;
            }
        }
    }
    best
}
