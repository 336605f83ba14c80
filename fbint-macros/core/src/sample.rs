//! Points at which identities between expressions and programs are tested numerically.

use crate::expression::{Expression, Symbol};

/// A value for every symbol, in general position: reproducible, in (0.5, 1.5), where most declared functions are defined.
#[derive(Clone, Copy, Debug)]
pub struct Point {
    seed: u64,
    /// What every value is multiplied by.
    scale: f64,
    /// Symbols below this may be negative.
    signed: u32,
}

/// The points that every numerical test uses.
pub fn sample_points() -> impl Iterator<Item = Point> {
    (1..=6).map(|seed| Point { seed, scale: 1.0, signed: 0 })
}

/// Points among which those are looked for where a model is defined: of size one first, then of sizes from 1e-12 to 1e12,
/// and every other one with negative values among the first `dimension` symbols.
pub fn search_points(dimension: usize) -> impl Iterator<Item = Point> {
    (1..=400).map(move |seed| {
        let signed = if seed % 2 == 0 { dimension as u32 } else { 0 };
        let spread = if seed <= 100 { 0.0 } else { (seed - 101) as f64 / 299.0 * 12.0 };
        let scale = 10_f64.powf(if seed % 4 < 2 { spread } else { -spread });
        Point { seed, scale, signed }
    })
}

impl Point {
    /// The value of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> f64 {
        let size = self.scale * self.value(u64::from(symbol.0));
        let negative = symbol.0 < self.signed && self.value(u64::from(symbol.0) | 1 << 60) < 1.0;
        if negative { -size } else { size }
    }

    /// The value of an expression.
    pub fn evaluate(&self, expression: &Expression) -> f64 {
        expression.evaluate(&|symbol| self.symbol(symbol))
    }

    /// A number in (0.5, 1.5) that depends on nothing but the seed and `index` (SplitMix64).
    pub fn value(&self, index: u64) -> f64 {
        let mut bits = (self.seed << 32).wrapping_add(index).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        0.5 + (bits >> 11) as f64 / (1u64 << 53) as f64
    }
}
