//! Taylor series of solutions: the trait that generated code implements, and the vectors that it computes in.
//!
//! The coefficients x_0, x_1, .. of x(t) = x_0 + x_1 t + .. along a field follow order by order from those before, by rules for each
//! operation of the field (Jorba and Zou, Experimental Mathematics 14, 2005). Most of the work is in sums of products of coefficients, which
//! are independent of one another: generated code takes four at a time.

use derive_where::derive_where;

use crate::numbers::four::Four;
use crate::system::{FeedbackSystem, Vector};

/// The highest order: beyond, coefficients of doubles say nothing.
#[cfg(feature = "std")]
const HIGHEST: usize = 32;

/// The order for a tolerance: four for every three digits, so that 1e-15 takes 20 and 1e-9 takes 12.
#[cfg(feature = "std")]
pub(crate) const fn order_of(tolerance: f64) -> usize {
    // 10^(3/4), a little less, so that rounding makes no order of a power of ten.
    const FACTOR: f64 = 5.623_413_251;
    let (mut order, mut reached) = (0, tolerance * 1.000_001);
    while reached < 1.0 && order < HIGHEST {
        reached *= FACTOR;
        order += 1;
    }
    if order < 4 { 4 } else { order }
}

/// A system that has the Taylor series of its solutions.
///
/// Implemented by `#[feedback_system]` where a declaration has the key `taylor`, not by hand.
///
/// ```
/// use fbint_runtime::{FeedbackSystem, Four, TaylorSystem, feedback_system};
///
/// /// A mass on a spring.
/// #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2, taylor)]
/// pub struct Oscillator;
///
/// // q = cos(t) and p = -sin(t).
/// let mut coefficients = [[1.0, 0.0], [0.0; 2], [0.0; 2], [0.0; 2], [0.0; 2]];
/// let mut memory = [Four::ZERO; 4 * Oscillator::COLUMNS];
/// Oscillator::taylor_coefficients(&Oscillator.prepare(), &mut coefficients, &mut memory);
/// assert_eq!(coefficients[2], [-0.5, 0.0]);
/// assert!((coefficients[4][0] - 1.0 / 24.0).abs() < 1e-17);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no generated Taylor series",
    label = "its declaration lacks the key `taylor`",
    note = "add `taylor` to its `#[feedback_system(..)]`"
)]
pub trait TaylorSystem: FeedbackSystem {
    /// The number of vectors of memory that each order takes.
    const COLUMNS: usize;

    /// Puts the coefficients of the solution that begins in the first of `coefficients` into the others: of t, t^2 and so on.
    ///
    /// The memory has to have [`COLUMNS`](Self::COLUMNS) vectors for each coefficient but the first. It may hold anything; where it is
    /// shorter, as many coefficients are computed as it has room for.
    fn taylor_coefficients(system: &Self::Prepared<f64>, coefficients: &mut [Vector<Self>], memory: &mut [Four]);
}

/// [`TaylorSystem`] as data, for runs, whose methods are chosen at run time.
#[doc(hidden)]
#[derive_where(Clone, Copy, Debug)]
pub struct TaylorFunctions<S: FeedbackSystem> {
    /// The number of vectors of memory that each order takes.
    pub columns: usize,
    /// [`TaylorSystem::taylor_coefficients`] with all coefficients in one list.
    pub expand: fn(&S::Prepared<f64>, &mut [f64], &mut [Four]),
}

/// The rows of the orders before an order n, for sums over j = 1 .. n - 1 of what row j has times what row n - j has.
///
/// Row 0 is 0, and stands in for rows that do not exist where n is small, so that nothing branches. The rows that were computed last are
/// read last.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct PastOrders<'m, const K: usize> {
    /// Row n - 1.
    pub last: &'m [Four; K],
    /// Row 1.
    pub first: &'m [Four; K],
    /// Row 1, if that is another one than the last.
    pub second: &'m [Four; K],
    /// Row n / 2, if n is even.
    pub middle: &'m [Four; K],
    /// The rows between the first and the last.
    between: &'m [[Four; K]],
    /// The number of pairs before the middle.
    lower: usize,
}

impl<'m, const K: usize> PastOrders<'m, K> {
    /// The orders in the rows 0 to n - 1.
    #[inline(always)]
    pub fn of(rows: &'m [[Four; K]]) -> Option<Self> {
        let n = rows.len();
        let (zero, last) = (rows.first()?, rows.last()?);
        let first = rows.get(1).unwrap_or(zero);
        let second = if n > 2 { first } else { zero };
        let middle = rows.get(n / 2).filter(|_| n.is_multiple_of(2)).unwrap_or(zero);
        let between = rows.get(2..n.wrapping_sub(1)).unwrap_or(&[]);
        Some(Self { last, first, second, middle, between, lower: n.div_ceil(2).saturating_sub(2) })
    }

    /// Pairs of the rows between, j and n - j.
    #[inline(always)]
    pub fn pairs(&self) -> Pairs<'m, K> {
        Pairs { left: self.between, right: self.between }
    }

    /// These pairs with j < n - j.
    #[inline(always)]
    pub fn lower_pairs(&self) -> Pairs<'m, K> {
        let left = self.between.get(..self.lower).unwrap_or(&[]);
        Pairs { left, right: self.between.get(self.between.len().wrapping_sub(self.lower)..).unwrap_or(&[]) }
    }
}

/// Pairs of rows, the first with the last and so on. Compilers see through it better than through two iterators in a zip.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'m, const K: usize> {
    left: &'m [[Four; K]],
    right: &'m [[Four; K]],
}

impl<'m, const K: usize> Iterator for Pairs<'m, K> {
    type Item = (&'m [Four; K], &'m [Four; K]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let ([a, left @ ..], [right @ .., b]) = (self.left, self.right) else { return None };
        (self.left, self.right) = (left, right);
        Some((a, b))
    }
}

/// Why a system has no series.
pub const NOT_GENERATED: &str = "its Taylor series are not generated; declare it with the key `taylor`";

/// The Taylor series of the solutions of a field.
#[cfg(feature = "std")]
pub struct Series<'f> {
    /// The number of vectors of memory that each order takes.
    pub(crate) columns: usize,
    /// Puts coefficients into a list that begins with a state, see [`TaylorSystem::taylor_coefficients`].
    pub(crate) expand: std::boxed::Box<Expand<'f>>,
}

#[cfg(feature = "std")]
type Expand<'f> = dyn Fn(&mut [f64], &mut [Four]) + 'f;

#[cfg(feature = "std")]
impl<'f> Series<'f> {
    /// The series of a prepared system, which `system` gives for the state where the series begin.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) fn of<S: FeedbackSystem>(
        any: &S::Prepared<f64>,
        system: impl Fn(&[f64]) -> S::Prepared<f64> + 'f,
    ) -> Result<Self, &'static str> {
        // A constant, so that nothing more is compiled for systems that have none.
        let functions = if const { S::MAY_HAVE_SERIES } { S::taylor_functions(any) } else { Err(NOT_GENERATED) };
        let TaylorFunctions { columns, expand } = functions?;
        let expand =
            move |coefficients: &mut [f64], memory: &mut [Four]| expand(&system(coefficients), coefficients, memory);
        Ok(Self { columns, expand: std::boxed::Box::new(expand) })
    }
}

/// Four sums of an order, side by side, and the stored rows from which they come: see [`order_sums`].
#[cfg(feature = "std")]
#[doc(hidden)]
#[derive(Clone, Debug)]
pub struct SumGroup {
    /// Whether all are of products of a sequence with itself.
    pub is_half: bool,
    /// The columns whose products are added.
    pub products: std::vec::Vec<[usize; 2]>,
}

/// Puts the sums of order n into `sums`, group by group, from the rows 0 to n - 1, which are in `rows` one after the other, each of some
/// columns. Generated code gives the same bits.
#[cfg(feature = "std")]
#[doc(hidden)]
pub fn order_sums(groups: &[SumGroup], rows: &[Four], columns: usize, sums: &mut [Four]) {
    let Some(past) = PastRows::of(rows, columns) else { return };
    let mut left = groups.iter().zip(sums).peekable();
    while let Some((group, sum)) = left.next() {
        // Two at a time, so that neither waits for its own last product.
        let is_like = |(next, _): &(&SumGroup, &mut Four)| next.is_half == group.is_half && next.products.len() == 1;
        if let [product] = group.products[..]
            && let Some((other, other_sum)) = left.next_if(is_like)
        {
            let [first, second] = past.between([product, other.products[0]], group.is_half);
            *sum = past.finished(first, group);
            *other_sum = past.finished(second, other);
            continue;
        }
        let mut total = Four::ZERO;
        for (a, b) in past.pairs(group.is_half) {
            total = group.products.iter().fold(total, |total, &[left, right]| a[left].mul_add(b[right], total));
        }
        *sum = past.finished(total, group);
    }
}

/// [`PastOrders`] of any number of columns.
#[cfg(feature = "std")]
struct PastRows<'m> {
    rows: &'m [Four],
    columns: usize,
    n: usize,
}

#[cfg(feature = "std")]
impl<'m> PastRows<'m> {
    fn of(rows: &'m [Four], columns: usize) -> Option<Self> {
        (columns > 0 && rows.len() >= columns).then(|| Self { rows, columns, n: rows.len() / columns })
    }

    fn row(&self, order: usize) -> &'m [Four] {
        &self.rows[order * self.columns..][..self.columns]
    }

    /// Pairs of rows j and n - j, without the orders 1 and n - 1, nor the orders beyond n / 2 if sums are half ones.
    fn pairs(&self, is_half: bool) -> impl Iterator<Item = (&'m [Four], &'m [Four])> {
        let (n, columns) = (self.n, self.columns);
        let between = self.rows.get(2 * columns..n.saturating_sub(1) * columns).unwrap_or(&[]);
        let count = if is_half { n.div_ceil(2).saturating_sub(2) } else { n };
        between.chunks_exact(columns).zip(between.chunks_exact(columns).rev()).take(count)
    }

    #[inline(always)]
    fn between<const G: usize>(&self, products: [[usize; 2]; G], is_half: bool) -> [Four; G] {
        let mut totals = [Four::ZERO; G];
        for (a, b) in self.pairs(is_half) {
            for (total, [left, right]) in totals.iter_mut().zip(&products) {
                *total = a[*left].mul_add(b[*right], *total);
            }
        }
        totals
    }

    /// A sum with the products that have the newest coefficients.
    fn finished(&self, mut sum: Four, group: &SumGroup) -> Four {
        let n = self.n;
        let (last, first) = (self.row(n - 1), self.row(usize::from(n > 1)));
        let second = self.row(usize::from(n > 2));
        if !group.is_half {
            for &[a, b] in &group.products {
                sum = second[a].mul_add(last[b], sum);
                sum = last[a].mul_add(first[b], sum);
            }
            return sum;
        }
        for &[a, _] in &group.products {
            sum = second[a].mul_add(last[a], sum);
        }
        sum = sum + sum;
        let middle = self.row(if n.is_multiple_of(2) { n / 2 } else { 0 });
        group.products.iter().fold(sum, |sum, &[a, _]| middle[a].mul_add(middle[a], sum))
    }
}
