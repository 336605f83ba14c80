//! Points at which identities between expressions and programs are tested numerically.

use crate::derivation::{IntegralId, Symbols};
use crate::expression::{Expression, Symbol};
use crate::table::Table;

/// A value for every symbol, in general position: reproducible, in (0.5, 1.5), where most declared functions are defined,
/// times a size.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    seed: u64,
    size: Size<'a>,
    /// The symbols whose entries of the state may be negative, if any may.
    signed: Option<&'a Symbols>,
}

/// How large the values of a point are.
#[derive(Clone, Copy, Debug)]
enum Size<'a> {
    One,
    /// One size for all symbols.
    Common(f64),
    /// From 1e-3 to 1e3, for each symbol another.
    Own,
    /// As it is listed.
    Listed(&'a Sizes),
}

/// How large the numbers are that a model is tested with.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// Of every entry of the state and of the parameters.
    pub unknowns: Table<Symbol, f64>,
    /// Of what belongs to each integral.
    pub integrals: Table<IntegralId, IntegralSizes>,
}

/// How large the numbers are that belong to an integral.
#[derive(Clone, Copy, Debug)]
pub struct IntegralSizes {
    /// Its target in a feedback law.
    pub target: f64,
    /// Its gain in a feedback law.
    pub gain: f64,
    /// The variance of its rounding, in a projection.
    pub noise: f64,
}

impl IntegralSizes {
    /// Where all numbers are of size one.
    pub const ONE: Self = Self { target: 1.0, gain: 1.0, noise: 1.0 };
}

/// The points that every numerical test uses.
pub fn sample_points() -> impl Iterator<Item = Point<'static>> {
    (1..=6).map(|seed| Point { seed, size: Size::One, signed: None })
}

/// Points among which those are looked for where a model is defined: of size one first, then of sizes from 1e-12 to 1e12
/// and of many sizes at once, and every other one with negative values among the entries of the state.
pub fn search_points(symbols: &Symbols) -> impl Iterator<Item = Point<'_>> {
    (1..=500).map(move |seed| {
        let signed = (seed % 2 == 0).then_some(symbols);
        let size = match seed {
            0..=100 => Size::One,
            101..=300 => {
                let spread = (seed - 100) as f64 * 0.06;
                Size::Common(10_f64.powf(if seed % 4 < 2 { spread } else { -spread }))
            }
            _ => Size::Own,
        };
        Point { seed, size, signed }
    })
}

impl<'a> Point<'a> {
    /// The point of this number where values have these sizes.
    pub fn sized(seed: u64, sizes: &'a Sizes) -> Self {
        Self { seed, size: Size::Listed(sizes), signed: None }
    }

    /// How large the value of a symbol is.
    pub fn size(&self, symbol: Symbol) -> f64 {
        match self.size {
            Size::One => 1.0,
            Size::Common(size) => size,
            Size::Own => 10_f64.powf(6.0 * (self.of_symbol(symbol, 1) - 1.0)),
            Size::Listed(sizes) => sizes.unknowns.get(symbol).copied().unwrap_or(1.0),
        }
    }

    /// How large the numbers are that belong to an integral.
    pub fn integral_sizes(&self, integral: IntegralId) -> IntegralSizes {
        match self.size {
            Size::Listed(sizes) => sizes.integrals[integral],
            Size::One | Size::Common(_) | Size::Own => IntegralSizes::ONE,
        }
    }

    /// A number in (0.5, 1.5) for each use of a symbol, far from every other.
    fn of_symbol(&self, symbol: Symbol, use_: u64) -> f64 {
        self.value(u64::from(symbol.0) | use_ << 58)
    }

    /// The value of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> f64 {
        let size = self.size(symbol);
        let may_be_negative = self.signed.is_some_and(|symbols| symbols.is_state(symbol));
        let negative = may_be_negative && self.of_symbol(symbol, 2) < 1.0;
        let value = size * self.of_symbol(symbol, 0);
        if negative { -value } else { value }
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
