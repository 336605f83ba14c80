//! What programs and derivations are evaluated in: doubles, and numbers of 256 bits in which no rounding counts.

use super::slopes::Unknown;
use crate::expression::{Expression, Function, Symbol};
use crate::points::Point;
use crate::precise::Real;

/// A number of either kind. What is undefined is not a number, and as a double NaN.
pub(super) trait Number: Clone {
    /// The double as it is.
    fn exactly(value: f64) -> Self;
    fn plus(&self, other: &Self) -> Self;
    fn minus(&self, other: &Self) -> Self;
    fn times(&self, other: &Self) -> Self;
    fn over(&self, other: &Self) -> Self;
    fn negated(&self) -> Self;
    fn root(&self) -> Self;
    fn call(function: Function, arguments: &[Self]) -> Self;
    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self;
    /// Whether the number is certainly 0.
    fn is_zero(&self) -> bool;
    fn to_f64(&self) -> f64;
    /// The number of this kind next to a precise one.
    fn rounded(value: &Real) -> Self;

    fn zero() -> Self {
        Self::exactly(0.0)
    }

    /// The value of a symbol at a point.
    fn of_symbol(point: &Point, symbol: Symbol) -> Self {
        Self::exactly(point.symbol(symbol))
    }

    /// An unknown with this value.
    fn varying(_unknown: Unknown, value: f64) -> Self {
        Self::exactly(value)
    }

    /// The solution of C^T c = b.
    fn solve_transposed(c: Vec<Vec<Self>>, b: Vec<Self>) -> Vec<Self> {
        solve_transposed(c, b)
    }
}

impl Number for f64 {
    fn exactly(value: f64) -> Self {
        value
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn over(&self, other: &Self) -> Self {
        self / other
    }

    fn negated(&self) -> Self {
        -self
    }

    fn root(&self) -> Self {
        self.sqrt()
    }

    fn call(function: Function, arguments: &[Self]) -> Self {
        function.evaluate(arguments)
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        expression.evaluate(value)
    }

    fn is_zero(&self) -> bool {
        *self == 0.0
    }

    fn to_f64(&self) -> f64 {
        *self
    }

    fn rounded(value: &Real) -> Self {
        value.to_f64()
    }
}

impl Number for Real {
    fn exactly(value: f64) -> Self {
        if value.is_finite() { Self::from(value) } else { Self::undefined() }
    }

    fn plus(&self, other: &Self) -> Self {
        self + other
    }

    fn minus(&self, other: &Self) -> Self {
        self - other
    }

    fn times(&self, other: &Self) -> Self {
        self * other
    }

    fn over(&self, other: &Self) -> Self {
        self / other
    }

    fn negated(&self) -> Self {
        -self
    }

    fn root(&self) -> Self {
        let half = num_rational::BigRational::new(1.into(), 2.into());
        self.power(&half).unwrap_or_else(Self::undefined)
    }

    fn call(function: Function, arguments: &[Self]) -> Self {
        Self::call(function, arguments).unwrap_or_else(Self::undefined)
    }

    fn evaluate(expression: &Expression, value: &impl Fn(Symbol) -> Self) -> Self {
        Self::evaluate(expression, value).unwrap_or_else(Self::undefined)
    }

    fn is_zero(&self) -> bool {
        self.is_zero()
    }

    fn to_f64(&self) -> f64 {
        self.to_f64()
    }

    fn rounded(value: &Real) -> Self {
        value.clone()
    }
}

/// The solution of C^T c = b by Gaussian elimination with partial pivoting, of rows and columns brought to one size; not a number
/// where the matrix leaves the range of a double.
fn solve_transposed<N: Number>(c: Vec<Vec<N>>, mut b: Vec<N>) -> Vec<N> {
    let m = b.len();
    let is_out_of_range = |entry: f64| entry != 0.0 && !entry.is_normal();
    if c.iter().flatten().any(|entry| is_out_of_range(entry.to_f64())) {
        return vec![N::exactly(f64::NAN); m];
    }
    let mut a: Vec<Vec<N>> = (0..m).map(|i| (0..m).map(|j| c[j][i].clone()).collect()).collect();
    let columns = equilibrate(&mut a, &mut b);
    for step in 0..m {
        let size = |i: usize| a[i][step].to_f64().abs();
        let pivot = (step..m).max_by(|&i, &j| size(i).total_cmp(&size(j))).unwrap_or(step);
        a.swap(step, pivot);
        b.swap(step, pivot);
        for i in step + 1..m {
            if a[i][step].is_zero() {
                continue;
            }
            let factor = a[i][step].over(&a[step][step]);
            for j in step..m {
                a[i][j] = a[i][j].minus(&factor.times(&a[step][j]));
            }
            b[i] = b[i].minus(&factor.times(&b[step]));
        }
    }
    for i in (0..m).rev() {
        let known = (i + 1..m).fold(N::zero(), |sum, j| sum.plus(&a[i][j].times(&b[j])));
        b[i] = b[i].minus(&known).over(&a[i][i]);
    }
    b.iter().zip(columns).map(|(x, scale)| x.times(&N::exactly(scale))).collect()
}

/// Multiplies rows, with their right sides, and columns by powers of two that bring their largest entries near one; gives the
/// columns' factors.
fn equilibrate<N: Number>(a: &mut [Vec<N>], b: &mut [N]) -> Vec<f64> {
    let root = |largest: f64| if largest > 0.0 { (-0.5 * largest.log2()).round().exp2() } else { 1.0 };
    let largest = |largest: f64, entry: &N| largest.max(entry.to_f64().abs());
    let multiply = |entry: &mut N, factor: f64| *entry = entry.times(&N::exactly(factor));
    let mut columns = vec![1.0; b.len()];
    for _ in 0..4 {
        for (row, right) in a.iter_mut().zip(&mut *b) {
            let factor = root(row.iter().fold(0.0, largest));
            row.iter_mut().for_each(|entry| multiply(entry, factor));
            multiply(right, factor);
        }
        for (j, column) in columns.iter_mut().enumerate() {
            let factor = root(a.iter().map(|row| &row[j]).fold(0.0, largest));
            a.iter_mut().for_each(|row| multiply(&mut row[j], factor));
            *column *= factor;
        }
    }
    columns
}
