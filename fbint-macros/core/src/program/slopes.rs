//! Numbers of 256 bits with their derivatives by the unknowns, by which derivatives of functions are checked.

use std::collections::BTreeMap;

use super::number::Number;
use crate::derivative::{At, Number as _};
use crate::expression::{Expression, Function, Symbol};
use crate::numbers::linear::Balanced;
use crate::points::{Point, Unknown};
use crate::precise::Real;

/// A number and its derivatives that do not vanish identically.
#[derive(Clone, Debug)]
pub(super) struct Slopes {
    pub(super) value: Real,
    pub(super) gradient: BTreeMap<Unknown, Real>,
}

impl Slopes {
    fn constant(value: Real) -> Self {
        Self { value, gradient: BTreeMap::new() }
    }

    /// Whether the number is 0 wherever it is taken, as most entries of a Jacobian are.
    fn is_nothing(&self) -> bool {
        self.gradient.is_empty() && self.value.is_zero()
    }

    /// A function of `parts`, by its value and its derivatives by them.
    fn composed<'a>(value: Real, parts: impl IntoIterator<Item = (&'a Self, Real)>) -> Self {
        let mut gradient: BTreeMap<Unknown, Real> = BTreeMap::new();
        for (part, slope) in parts {
            for (unknown, inner) in &part.gradient {
                let term = &slope * inner;
                let sum = gradient.get(unknown).map_or_else(|| term.clone(), |sum| sum + &term);
                gradient.insert(*unknown, sum);
            }
        }
        Self { value, gradient }
    }
}

fn one() -> Real {
    Real::from(1.0)
}

impl Number for Slopes {
    fn exactly(value: f64) -> Self {
        Self::constant(<Real as Number>::exactly(value))
    }

    fn plus(&self, other: &Self) -> Self {
        if self.is_nothing() {
            return other.clone();
        }
        Self::composed(&self.value + &other.value, [(self, one()), (other, one())])
    }

    fn minus(&self, other: &Self) -> Self {
        Self::composed(&self.value - &other.value, [(self, one()), (other, -&one())])
    }

    fn times(&self, other: &Self) -> Self {
        if self.is_nothing() || other.is_nothing() {
            return Self::zero();
        }
        Self::composed(&self.value * &other.value, [(self, other.value.clone()), (other, self.value.clone())])
    }

    // d(a/b) = (da - (a/b) db)/b
    fn over(&self, other: &Self) -> Self {
        let value = &self.value / &other.value;
        let by_divisor = -&(&value / &other.value);
        Self::composed(value, [(self, &one() / &other.value), (other, by_divisor)])
    }

    fn negated(&self) -> Self {
        Self::composed(-&self.value, [(self, -&one())])
    }

    // d sqrt(a) = da / (2 sqrt(a))
    fn root(&self) -> Self {
        let value = Number::root(&self.value);
        let slope = &Real::from(0.5) / &value;
        Self::composed(value, [(self, slope)])
    }

    fn call(function: Function, arguments: &[Self]) -> Self {
        let symbols = (0..).map(Symbol).take(arguments.len());
        let expression = Expression::call(function, symbols.map(Expression::from));
        Self::evaluate(&expression, &|symbol| arguments[symbol.0 as usize].clone())
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        let at = At { value: |symbol| value(symbol).value, is_variable: |_| true };
        match at.differentiate(expression) {
            Some(differentiated) => {
                let parts: Vec<(Self, Real)> =
                    differentiated.gradient.into_iter().map(|(symbol, slope)| (value(symbol), slope)).collect();
                Self::composed(differentiated.value, parts.iter().map(|(part, slope)| (part, slope.clone())))
            }
            None => Self::constant(Real::undefined()),
        }
    }

    fn is_zero(&self) -> bool {
        self.value.is_zero() && self.gradient.values().all(Real::is_zero)
    }

    fn to_f64(&self) -> f64 {
        self.value.to_f64()
    }

    fn rounded(value: &Real) -> Self {
        Self::constant(value.clone())
    }

    fn varying(unknown: Unknown, value: f64) -> Self {
        Self { value: Real::from(value), gradient: BTreeMap::from([(unknown, Real::integer(1))]) }
    }

    fn of_symbol(point: &Point, symbol: Symbol) -> Self {
        Self::varying(Unknown::Symbol(symbol), point.symbol(symbol))
    }

    // A dx = db - dA x
    fn solve(a: Vec<Vec<Self>>, b: &[Self]) -> Vec<Self> {
        let values = |entries: &[Self]| -> Vec<Real> { entries.iter().map(|entry| entry.value.clone()).collect() };
        let Some(factors) = Balanced::of(a.iter().map(|row| values(row)).collect()).and_then(|a| a.factored(0.0))
        else {
            return vec![Self::constant(Real::undefined()); b.len()];
        };
        let solution = factors.solve(&values(b));
        let unknowns = a.iter().flatten().chain(b).flat_map(|entry| entry.gradient.keys().copied());
        let mut right_sides: BTreeMap<Unknown, Vec<Real>> =
            unknowns.map(|unknown| (unknown, vec![Real::zero(); b.len()])).collect();
        let mut subtract = |row: usize, entry: &Self, factor: &Real| {
            for (unknown, slope) in &entry.gradient {
                if let Some(right) = right_sides.get_mut(unknown) {
                    right[row] = &right[row] - &(slope * factor);
                }
            }
        };
        b.iter().enumerate().for_each(|(row, entry)| subtract(row, entry, &-&one()));
        for (place, row) in a.iter().enumerate() {
            row.iter().zip(&solution).for_each(|(entry, x)| subtract(place, entry, x));
        }
        let mut solution: Vec<Self> = solution.into_iter().map(Self::constant).collect();
        for (unknown, right) in right_sides {
            for (entry, slope) in solution.iter_mut().zip(factors.solve(&right)) {
                entry.gradient.insert(unknown, slope);
            }
        }
        solution
    }
}
