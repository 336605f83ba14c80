//! Points at which identities between expressions and programs are tested numerically.

use super::random::numbered;
use crate::derivation::table::{Id, Table};
use crate::derivation::{IntegralId, Symbols};
use crate::expression::{Expression, Symbol};

/// A value for every symbol, in general position: reproducible, in (0.5, 1.5), where most declared functions are defined,
/// times a size.
#[derive(Clone, Copy, Debug)]
pub struct Point<'a> {
    seed: u64,
    size: Size<'a>,
    /// The symbols whose entries of the state may be negative, if any may.
    signed: Option<&'a Symbols>,
}

/// The sizes of a point's values.
#[derive(Clone, Copy, Debug)]
enum Size<'a> {
    /// One size for all symbols.
    Common(f64),
    /// From 1e-3 to 1e3, for each symbol another.
    Own,
    /// The point as listed.
    Listed(&'a Sizes),
}

/// The sizes of the numbers with which a model is tested.
#[derive(Clone, Debug)]
pub struct Sizes {
    /// The size of every entry of the state and of the parameters.
    pub unknowns: Table<Symbol, f64>,
    /// The sizes of the numbers that belong to each integral.
    pub integrals: Table<IntegralId, IntegralSizes>,
}

/// The sizes of the numbers that belong to an integral.
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

/// The variables of differentiation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Unknown {
    /// An entry of the state, of a parameter or of an input.
    Symbol(Symbol),
    /// S_j, with which a projection moves an entry of the state.
    Variance(Symbol),
    /// The entry of F_target that belongs to an integral.
    Target(IntegralId),
}

/// The purpose of a random number.
#[derive(Clone, Copy, Debug)]
pub enum Draw {
    /// The value of a symbol.
    Value(Symbol),
    /// Its size, where each symbol has its own.
    Size(Symbol),
    /// Its sign, where it may be negative.
    Sign(Symbol),
    /// k_i, where the feedback law is y_i = k_i (F_i - t_i).
    Gain(IntegralId),
    /// t_i, an entry of F_target.
    Target(IntegralId),
    /// S_j
    Variance(Symbol),
    /// R_i, as small as in a run.
    Noise(IntegralId),
    /// The distance of an entry of the state from the place where integrals have their targets.
    Displacement(Symbol),
    /// The change of an unknown.
    Direction(Unknown),
    /// The change of a prepared number.
    Change(usize),
    /// The weight of a result, or an acceleration.
    Weight(usize),
}

impl Draw {
    /// A different number for each kind of draw, and for each draw of this kind.
    fn index(self) -> u64 {
        let (kind, place) = match self {
            Self::Value(symbol) => (0, symbol.place()),
            Self::Size(symbol) => (1, symbol.place()),
            Self::Sign(symbol) => (2, symbol.place()),
            Self::Gain(integral) => (3, integral.place()),
            Self::Target(integral) => (4, integral.place()),
            Self::Variance(state) => (5, state.place()),
            Self::Noise(integral) => (6, integral.place()),
            Self::Displacement(state) => (7, state.place()),
            Self::Direction(Unknown::Symbol(symbol)) => (8, symbol.place()),
            Self::Direction(Unknown::Variance(state)) => (9, state.place()),
            Self::Direction(Unknown::Target(integral)) => (10, integral.place()),
            Self::Change(place) => (11, place),
            Self::Weight(row) => (12, row),
        };
        kind << 58 | place as u64
    }
}

/// The points that every numerical test uses.
pub fn sample_points() -> impl Iterator<Item = Point<'static>> {
    (1..=6).map(|seed| Point { seed, size: Size::Common(1.0), signed: None })
}

/// Points among which those are looked for where a model is defined: of size one first, then of sizes from 1e-12 to 1e12
/// and of many sizes at once, and every other one with negative values among the entries of the state.
pub fn search_points(symbols: &Symbols) -> impl Iterator<Item = Point<'_>> {
    (1..=500).map(move |seed| {
        let signed = (seed % 2 == 0).then_some(symbols);
        let size = match seed {
            0..=100 => Size::Common(1.0),
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
    /// A point of size one.
    pub fn general() -> Self {
        Self { seed: 1, size: Size::Common(1.0), signed: None }
    }

    /// The point of this number where values have these sizes.
    pub fn sized(seed: u64, sizes: &'a Sizes) -> Self {
        Self { seed, size: Size::Listed(sizes), signed: None }
    }

    /// The size of a symbol's value.
    pub fn size(&self, symbol: Symbol) -> f64 {
        match self.size {
            Size::Common(size) => size,
            Size::Own => 10_f64.powf(6.0 * (self.number(Draw::Size(symbol)) - 1.0)),
            Size::Listed(sizes) => sizes.unknowns.get(symbol).copied().unwrap_or(1.0),
        }
    }

    /// The sizes of the numbers that belong to an integral.
    pub fn integral_sizes(&self, integral: IntegralId) -> IntegralSizes {
        match self.size {
            Size::Listed(sizes) => sizes.integrals[integral],
            Size::Common(_) | Size::Own => IntegralSizes::ONE,
        }
    }

    /// The number that is drawn for this, as large as its kind is at this point.
    pub fn draw(&self, of: Draw) -> f64 {
        let number = self.number(of);
        match of {
            Draw::Value(symbol) => {
                let may_be_negative = self.signed.is_some_and(|symbols| symbols.is_state(symbol));
                let value = self.size(symbol) * number;
                if may_be_negative && self.number(Draw::Sign(symbol)) < 1.0 { -value } else { value }
            }
            Draw::Size(_) | Draw::Sign(_) => number,
            Draw::Gain(integral) => self.integral_sizes(integral).gain * number,
            Draw::Target(integral) => self.integral_sizes(integral).target * number,
            Draw::Variance(state) => self.size(state).powi(2) * (0.5 + number),
            Draw::Noise(integral) => 1e-4 * self.integral_sizes(integral).noise * (0.5 + number),
            Draw::Displacement(state) => self.size(state) * number,
            Draw::Direction(Unknown::Symbol(symbol)) => self.size(symbol) * (number - 0.4),
            Draw::Direction(Unknown::Variance(state)) => self.draw(Draw::Variance(state)) * (number - 0.4),
            Draw::Direction(Unknown::Target(integral)) => self.integral_sizes(integral).target * (number - 0.4),
            Draw::Change(_) | Draw::Weight(_) => number - 0.4,
        }
    }

    /// The value of a symbol.
    pub fn symbol(&self, symbol: Symbol) -> f64 {
        self.draw(Draw::Value(symbol))
    }

    /// The value of an expression.
    pub fn evaluate(&self, expression: &Expression) -> f64 {
        expression.evaluate(&|symbol| self.symbol(symbol))
    }

    /// A number in (0.5, 1.5) that depends on nothing but the seed and what it is drawn for.
    fn number(&self, of: Draw) -> f64 {
        0.5 + numbered((self.seed << 32).wrapping_add(of.index()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However long the lists are: a state may have 10,000 entries.
    #[test]
    fn no_number_is_drawn_for_two_things() {
        let draws = |place: usize| {
            let (symbol, integral) = (Symbol::at(place), IntegralId::at(place));
            let unknowns = [Unknown::Symbol(symbol), Unknown::Variance(symbol), Unknown::Target(integral)];
            let of_symbols = [Draw::Value, Draw::Size, Draw::Sign, Draw::Variance, Draw::Displacement];
            let of_integrals = [Draw::Gain, Draw::Target, Draw::Noise];
            let others = [Draw::Change(place), Draw::Weight(place)];
            let symbols = of_symbols.map(|draw| draw(symbol));
            let of_one = symbols.into_iter().chain(of_integrals.map(|draw| draw(integral)));
            of_one.chain(unknowns.map(Draw::Direction)).chain(others).map(Draw::index).collect::<Vec<_>>()
        };
        let mut indices: Vec<u64> = (0..12_000).flat_map(draws).collect();
        let all = indices.len();
        indices.sort_unstable();
        indices.dedup();
        assert_eq!(indices.len(), all);
    }
}
