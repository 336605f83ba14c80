//! Taylor series of solutions: the trait that generated code implements, and the vectors that it computes in.
//!
//! The coefficients x_0, x_1, .. of x(t) = x_0 + x_1 t + .. along a field follow order by order from those before, by rules for each
//! operation of the field (Jorba and Zou, Experimental Mathematics 14, 2005). Most of the work is in sums of products of coefficients, which
//! are independent of one another: generated code takes four at a time.

#[cfg(feature = "std")]
use std::vec::Vec;

#[cfg(feature = "std")]
use crate::numbers::entries::Entries;
use crate::numbers::four::FourLanes;
use crate::numbers::scalar::Scalar;
use crate::system::derivatives::{DifferentiableSystem, PreparedDirection};
#[cfg(feature = "std")]
use crate::system::traits::{NOT_GENERATED, TaylorFunctions};
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
/// use fbint_runtime::{FeedbackSystem, FourLanes, TaylorSystem, feedback_system};
///
/// /// A mass on a spring.
/// #[feedback_system(coordinates(q), momenta(p), hamiltonian = (p.powi(2) + q.powi(2)) / 2, taylor)]
/// pub struct Oscillator;
///
/// // q = cos(t) and p = -sin(t).
/// let mut coefficients = [[1.0, 0.0], [0.0; 2], [0.0; 2], [0.0; 2], [0.0; 2]];
/// let mut memory = [FourLanes::ZERO; 4 * Oscillator::COLUMNS];
/// Oscillator::taylor_coefficients(&Oscillator.prepare(), &[], &mut coefficients, &mut memory);
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
    /// The number of functions of the state at whose zeros the field has no series: the argument of each `abs`, and of each `max`.
    const SWITCHES: usize;
    /// The number of functions of the state whose series are known: these, and then those that declared events are of. Their coefficients
    /// are in the last vectors of each order of the memory, four in each.
    const WATCHED: usize;

    /// Puts the coefficients of the solution that begins in the first of `coefficients` into the others: of t, t^2 and so on. `given` has
    /// the sign, 1 or -1, of the argument of each switch, and then, if inputs change, their coefficients: all of t, all of t^2 and so on.
    /// Inputs without coefficients are held.
    ///
    /// The memory has to have [`COLUMNS`](Self::COLUMNS) vectors for each coefficient but the first. It may hold anything; where it is
    /// shorter, as many coefficients are computed as it has room for.
    fn taylor_coefficients(
        system: &Self::Prepared<f64>,
        given: &[f64],
        coefficients: &mut [Vector<Self>],
        memory: &mut [FourLanes],
    );
}

/// A [`TaylorSystem`] that has the series of directions along its solutions, too: of solutions of the variational equations.
///
/// Implemented by `#[feedback_system]` where a declaration has the keys `taylor` and `derivatives` and nothing in its field switches, not by
/// hand. [`Sensitivity::series`](crate::Sensitivity::series) uses it.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no generated Taylor series of directions",
    label = "its declaration lacks the keys `taylor` and `derivatives`, or its field has an `abs`, a `max` or another switch",
    note = "add `taylor, derivatives` to its `#[feedback_system(..)]`"
)]
pub trait TaylorTangents: TaylorSystem + DifferentiableSystem {
    /// The number of numbers of memory that each order takes.
    const TANGENT_COLUMNS: usize;

    /// Puts the coefficients of a solution and of a direction along it into `coefficients`, as
    /// [`taylor_coefficients`](TaylorSystem::taylor_coefficients) does. `direction` has the changes of parameters and inputs.
    fn taylor_tangents<T: Scalar>(
        system: &Self::Prepared<T>,
        direction: &PreparedDirection<Self, T>,
        coefficients: &mut [[Vector<Self, T>; 2]],
        memory: &mut [T],
    );
}

/// The rows of the orders before an order n, for sums over j = 1 .. n - 1 of what row j has times what row n - j has.
///
/// Row 0 is 0, and stands in for rows that do not exist where n is small, so that nothing branches. The rows that were computed last are
/// read last.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct PastOrders<'m, E, const K: usize> {
    /// Row n - 1.
    pub last: &'m [E; K],
    /// Row 1.
    pub first: &'m [E; K],
    /// Row 1, if that is another one than the last.
    pub second: &'m [E; K],
    /// Row n / 2, if n is even.
    pub middle: &'m [E; K],
    /// The rows between the first and the last.
    between: &'m [[E; K]],
    /// How many of these come before the middle.
    lower: usize,
}

impl<'m, E, const K: usize> PastOrders<'m, E, K> {
    /// Of the rows 0 to n - 1.
    #[inline(always)]
    pub fn of(rows: &'m [[E; K]]) -> Option<Self> {
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
    pub fn pairs(&self) -> Pairs<'m, E, K> {
        Pairs { left: self.between, right: self.between }
    }

    /// The same with j < n - j.
    #[inline(always)]
    pub fn lower_pairs(&self) -> Pairs<'m, E, K> {
        let left = self.between.get(..self.lower).unwrap_or(&[]);
        Pairs { left, right: self.between.get(self.between.len().wrapping_sub(self.lower)..).unwrap_or(&[]) }
    }
}

/// Pairs of rows, the first with the last and so on. Compilers see through it better than through two iterators in a zip.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub struct Pairs<'m, E, const K: usize> {
    left: &'m [[E; K]],
    right: &'m [[E; K]],
}

impl<'m, E, const K: usize> Iterator for Pairs<'m, E, K> {
    type Item = (&'m [E; K], &'m [E; K]);

    #[inline(always)]
    fn next(&mut self) -> Option<Self::Item> {
        let ([a, left @ ..], [right @ .., b]) = (self.left, self.right) else { return None };
        (self.left, self.right) = (left, right);
        Some((a, b))
    }
}

/// The numbers that say how long the lists of Taylor series are.
#[doc(hidden)]
#[derive(Clone, Copy, Debug, Default)]
pub struct SeriesShape {
    /// The number of vectors of memory that each order takes.
    pub columns: usize,
    /// See [`TaylorSystem::SWITCHES`].
    pub switches: usize,
    /// See [`TaylorSystem::WATCHED`].
    pub watched: usize,
    /// `true` if the field is a polynomial; otherwise solutions may leave their series without notice.
    pub is_polynomial: bool,
}

impl SeriesShape {
    /// The lengths of the lists of generated series, of a field that is a polynomial or not.
    pub const fn of<S: TaylorSystem>(is_polynomial: bool) -> Self {
        Self { columns: S::COLUMNS, switches: S::SWITCHES, watched: S::WATCHED, is_polynomial }
    }
}

/// The Taylor series of the solutions of a field.
#[cfg(feature = "std")]
pub struct Series<'f> {
    pub(crate) shape: SeriesShape,
    /// The length of each coefficient in a list.
    pub(crate) stride: usize,
    /// Puts coefficients into a list that begins with a state, see [`TaylorSystem::taylor_coefficients`].
    pub(crate) expand: std::boxed::Box<Expand<'f>>,
}

#[cfg(feature = "std")]
type Expand<'f> = dyn Fn(&[f64], &mut [f64], &mut [FourLanes]) + 'f;

/// A prepared system with the inputs in a state, and their coefficients up to an order.
#[cfg(feature = "std")]
type WithInputs<'f, S> = dyn Fn(&[f64], usize) -> (<S as FeedbackSystem>::Prepared<f64>, Vec<f64>) + 'f;

#[cfg(feature = "std")]
impl<'f> Series<'f> {
    /// Of a prepared system, which `inputs` gives other inputs for the state where the series begin, with their coefficients up to an order,
    /// if they change.
    ///
    /// # Errors
    ///
    /// Why there is none.
    pub(crate) fn of<S: FeedbackSystem>(
        any: &'f S::Prepared<f64>,
        inputs: Option<std::boxed::Box<WithInputs<'f, S>>>,
    ) -> Result<Self, &'static str> {
        // A constant, so that nothing more is compiled for systems that have none.
        let functions = if const { S::MAY_HAVE_SERIES } { S::taylor_functions(any) } else { Err(NOT_GENERATED) };
        let TaylorFunctions { shape, expand } = functions?;
        let expand = move |sides: &[f64], coefficients: &mut [f64], memory: &mut [FourLanes]| {
            let Some(inputs) = &inputs else { return expand(any, sides, coefficients, memory) };
            let orders = (coefficients.len() / Vector::<S>::LEN).saturating_sub(1);
            let (system, later) = inputs(coefficients, orders);
            expand(&system, &[sides, &later].concat(), coefficients, memory);
        };
        Ok(Self { shape, stride: Vector::<S>::LEN, expand: std::boxed::Box::new(expand) })
    }

    /// The coefficients of a function that is watched, from all orders of the memory.
    pub(crate) fn watched_in<'m>(
        &self,
        function: usize,
        memory: &'m [FourLanes],
    ) -> impl DoubleEndedIterator<Item = f64> + 'm {
        let SeriesShape { columns, watched, .. } = self.shape;
        let column = columns - watched.div_ceil(4) + function / 4;
        memory.chunks_exact(columns).map(move |row| row[column].lane(function % 4))
    }
}
