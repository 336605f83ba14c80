//! Scalars, vectors and matrices of expressions, with shape checking.
//!
//! Shapes are nalgebra's: a vector is a matrix with one column, and a matrix with one column is a vector. Entries are
//! stored column by column. Every entry carries a bound of its size and depth, so that an expression that would not fit
//! is refused before it is built: expressions share their parts, and a chain of definitions can double what is written
//! out at every link.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Zero};

use crate::expression::{Expression, Function, Symbol};
use crate::numbers::determinant::by_minors;
use crate::syntax::{MAX_ENTRIES, Shape};

/// The most nodes of an expression, or of all entries of a value together.
pub(super) const MAX_NODES: usize = 1_000_000;

/// An expression with its size when written out.
#[derive(Clone, Debug)]
pub(super) struct SizedExpression {
    pub(super) expression: Expression,
    pub(super) nodes: usize,
    pub(super) depth: usize,
}

impl SizedExpression {
    pub(super) fn number(number: BigRational) -> Self {
        Self::new(Expression::Number(number), 1, 1)
    }

    pub(super) fn integer(number: i64) -> Self {
        Self::new(Expression::integer(number), 1, 1)
    }

    pub(super) fn symbol(symbol: Symbol) -> Self {
        Self::new(symbol.into(), 1, 1)
    }

    pub(super) fn pi() -> Self {
        Self::new(Expression::Pi, 1, 1)
    }

    fn new(expression: Expression, nodes: usize, depth: usize) -> Self {
        match expression {
            Expression::Number(_) | Expression::Pi | Expression::Symbol(_) => Self { expression, nodes: 1, depth: 1 },
            _ => Self { expression, nodes, depth },
        }
    }

    pub(super) fn is_zero(&self) -> bool {
        self.expression.is_zero()
    }

    pub(super) fn sum(terms: Vec<Self>) -> Self {
        let nodes = nodes(terms.iter().filter(|term| !term.is_zero()));
        let is_flattened = |index: usize, term: &Self| index == 0 && matches!(term.expression, Expression::Sum(_));
        let depth = terms.iter().enumerate().map(|(index, term)| term.depth + usize::from(!is_flattened(index, term)));
        let depth = depth.max().unwrap_or(1);
        Self::new(Expression::sum(terms.into_iter().map(|term| term.expression)), nodes, depth)
    }

    pub(super) fn product(factors: Vec<Self>) -> Self {
        let nodes = nodes(&factors);
        let depth = factors.iter().map(|it| it.depth + usize::from(!matches!(it.expression, Expression::Product(_))));
        let depth = depth.max().unwrap_or(1);
        Self::new(Expression::product(factors.into_iter().map(|factor| factor.expression)), nodes, depth)
    }

    pub(super) fn negate(self) -> Self {
        Self::product(vec![Self::integer(-1), self])
    }

    /// The power; `None` where zero would be divided by.
    pub(super) fn power(self, exponent: BigRational) -> Option<Self> {
        let power = self.expression.power(exponent).ok()?;
        Some(Self::new(power, self.nodes.saturating_add(1), self.depth + 1))
    }

    pub(super) fn square(self) -> Self {
        self.power(BigRational::from_integer(BigInt::from(2))).expect("a positive exponent never divides")
    }

    /// The reciprocal; `None` for the number zero.
    pub(super) fn reciprocal(self) -> Option<Self> {
        self.power(-BigRational::one())
    }

    pub(super) fn call(function: Function, arguments: Vec<Self>) -> Self {
        let nodes = nodes(&arguments);
        let depth = arguments.iter().map(|argument| argument.depth).max().unwrap_or(0) + 1;
        Self::new(Expression::call(function, arguments.into_iter().map(|it| it.expression)), nodes, depth)
    }
}

/// The size of a node with these children.
fn nodes<'a>(children: impl IntoIterator<Item = &'a SizedExpression>) -> usize {
    children.into_iter().fold(1, |sum, child| sum.saturating_add(child.nodes))
}

/// A shaped quantity.
#[derive(Clone, Debug)]
pub(super) struct ShapedExpression {
    shape: Shape,
    entries: Vec<SizedExpression>,
}

impl From<SizedExpression> for ShapedExpression {
    fn from(scalar: SizedExpression) -> Self {
        Self { shape: Shape::Scalar, entries: vec![scalar] }
    }
}

impl ShapedExpression {
    /// The quantity of this shape with these entries, column by column; a single column is a vector.
    pub(super) fn new(shape: Shape, entries: Vec<SizedExpression>) -> Self {
        debug_assert_eq!(shape.entries(), entries.len());
        Self { shape: Self::shape_of(shape), entries }
    }

    /// The shape of a quantity that is declared with this one: a single column is a vector.
    pub(super) fn shape_of(declared: Shape) -> Shape {
        match declared {
            Shape::Matrix { columns: 1, rows } => Shape::Vector(rows),
            _ => declared,
        }
    }

    /// The matrix with the entry that `entry(row, column)` gives.
    pub(super) fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> SizedExpression) -> Self {
        let entries = (0..columns).flat_map(|column| (0..rows).map(move |row| (row, column)));
        Self::new(Shape::Matrix { rows, columns }, entries.map(|(row, column)| entry(row, column)).collect())
    }

    /// The variable of this shape with these entries.
    pub(super) fn variable(shape: Shape, symbols: &[Symbol]) -> Self {
        Self::new(shape, symbols.iter().copied().map(SizedExpression::symbol).collect())
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn entries(&self) -> &[SizedExpression] {
        &self.entries
    }

    pub(super) fn into_entries(self) -> Vec<SizedExpression> {
        self.entries
    }

    /// The symbols in all entries.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.entries.iter().flat_map(|entry| entry.expression.symbols())
    }

    pub(super) fn nodes(&self) -> usize {
        self.entries.iter().fold(0, |sum, entry| sum.saturating_add(entry.nodes))
    }

    pub(super) fn as_scalar(&self) -> Option<&SizedExpression> {
        (self.shape == Shape::Scalar).then(|| &self.entries[0])
    }

    /// The exact number that the quantity is, if it is one.
    pub(super) fn as_number(&self) -> Option<&BigRational> {
        self.as_scalar()?.expression.as_number()
    }

    /// The entry; the caller has checked the range.
    pub(super) fn entry(&self, row: usize, column: usize) -> &SizedExpression {
        let (rows, _) = self.shape.extent();
        &self.entries[column * rows + row]
    }

    /// The value with an operation done to every entry.
    pub(super) fn map(self, operation: impl FnMut(SizedExpression) -> SizedExpression) -> Self {
        Self { shape: self.shape, entries: self.entries.into_iter().map(operation).collect() }
    }

    /// The value with an operation done to every two corresponding entries of quantities of one shape.
    pub(super) fn zip(
        self,
        other: Self,
        operation: impl Fn(SizedExpression, SizedExpression) -> SizedExpression,
    ) -> Self {
        let pairs = self.entries.into_iter().zip(other.entries);
        Self { shape: self.shape, entries: pairs.map(|(left, right)| operation(left, right)).collect() }
    }

    /// The sum of quantities of one shape, at least one.
    pub(super) fn sum(terms: &[Self]) -> Self {
        let shape = terms[0].shape;
        let entry = |place: usize| SizedExpression::sum(terms.iter().map(|term| term.entries[place].clone()).collect());
        Self { shape, entries: (0..shape.entries()).map(entry).collect() }
    }

    /// The product in the sense of linear algebra.
    pub(super) fn multiply(self, other: Self) -> Result<Self, String> {
        if let Some(factor) = self.as_scalar() {
            return other.scale(factor);
        }
        if let Some(factor) = other.as_scalar() {
            return self.scale(factor);
        }
        let (left, right) = (self.shape, other.shape);
        let (columns, rows) = (left.extent().1, right.extent().0);
        if columns == rows {
            return self.contract(&other);
        }
        let message = format!("{left} and {right} cannot be multiplied");
        Err(match (left, right) {
            (Shape::Vector(_), Shape::Vector(_)) => {
                format!("{message}; `a.dot(&b)` is the inner product, `a.component_mul(&b)` the one by components")
            }
            _ => {
                let plural = if columns == 1 { "" } else { "s" };
                format!("{message}: the left has {columns} column{plural}, the right {rows} rows")
            }
        })
    }

    fn scale(self, factor: &SizedExpression) -> Result<Self, String> {
        let scaled = self.entries.iter().filter(|entry| !entry.is_zero()).count();
        fits(self.nodes().saturating_add(factor.nodes.saturating_mul(scaled)))?;
        Ok(self.map(|entry| SizedExpression::product(vec![factor.clone(), entry])))
    }

    fn contract(&self, other: &Self) -> Result<Self, String> {
        let ((rows, inner), (_, columns)) = (self.shape.extent(), other.shape.extent());
        if rows.saturating_mul(columns) > MAX_ENTRIES {
            return Err(format!("the product would be a {rows} x {columns} matrix, more than {MAX_ENTRIES} entries"));
        }
        // Entry (i, k) of the left meets row k of the right, and entry (k, j) of the right column k of the left.
        let size = (0..inner).fold(0_usize, |size, k| {
            let count = |entries: &mut dyn Iterator<Item = &SizedExpression>| {
                let nonzero = entries.filter(|entry| !entry.is_zero());
                nonzero.fold((0_usize, 0_usize), |(count, nodes), entry| (count + 1, nodes.saturating_add(entry.nodes)))
            };
            let (lefts, left_nodes) = count(&mut (0..rows).map(|row| self.entry(row, k)));
            let (rights, right_nodes) = count(&mut (0..columns).map(|column| other.entry(k, column)));
            size.saturating_add(left_nodes.saturating_mul(rights)).saturating_add(right_nodes.saturating_mul(lefts))
        });
        fits(size)?;
        Ok(Self::from_fn(rows, columns, |row, column| {
            let factors = (0..inner).map(|k| (self.entry(row, k), other.entry(k, column)));
            let nonzero = factors.filter(|(left, right)| !left.is_zero() && !right.is_zero());
            SizedExpression::sum(
                nonzero.map(|(left, right)| SizedExpression::product(vec![left.clone(), right.clone()])).collect(),
            )
        }))
    }

    pub(super) fn transpose(&self) -> Self {
        if self.shape == Shape::Scalar {
            return self.clone();
        }
        let (rows, columns) = self.shape.extent();
        Self::from_fn(columns, rows, |row, column| self.entry(column, row).clone())
    }

    /// The inner product of quantities of one shape.
    pub(super) fn dot(self, other: Self) -> SizedExpression {
        SizedExpression::sum(self.zip(other, |left, right| SizedExpression::product(vec![left, right])).entries)
    }

    pub(super) fn norm_squared(self) -> SizedExpression {
        SizedExpression::sum(self.map(SizedExpression::square).entries)
    }

    pub(super) fn trace(&self) -> SizedExpression {
        let (rows, _) = self.shape.extent();
        SizedExpression::sum((0..rows).map(|index| self.entry(index, index).clone()).collect())
    }

    /// The vector product of two vectors of 3.
    pub(super) fn cross(&self, other: &Self) -> Self {
        let (a, b) = (&self.entries, &other.entries);
        let component = |i: usize, j: usize| {
            let (left, right) = (vec![a[i].clone(), b[j].clone()], vec![a[j].clone(), b[i].clone()]);
            SizedExpression::sum(vec![SizedExpression::product(left), SizedExpression::product(right).negate()])
        };
        Self { shape: self.shape, entries: vec![component(1, 2), component(2, 0), component(0, 1)] }
    }

    /// The matrix with `hat(v) * w = v x w`, for a vector of 3.
    pub(super) fn hat(&self) -> Self {
        let [x, y, z] = [0, 1, 2].map(|index| self.entries[index].clone());
        let zero = || SizedExpression::integer(0);
        let minus = |entry: &SizedExpression| entry.clone().negate();
        let first = [zero(), z.clone(), minus(&y)];
        let second = [minus(&z), zero(), x.clone()];
        let third = [y, minus(&x), zero()];
        Self::new(Shape::Matrix { rows: 3, columns: 3 }, [first, second, third].concat())
    }

    /// The determinant of a square matrix by expansion along its columns.
    pub(super) fn determinant(&self) -> Result<SizedExpression, String> {
        let (rows, _) = self.shape.extent();
        let largest = self.entries.iter().map(|entry| entry.nodes).max().unwrap_or(1);
        let terms: usize = (1..=rows).product();
        fits(terms.saturating_mul(rows).saturating_mul(largest))?;
        let term = |sign: i64, column: usize, row: usize, minor: &SizedExpression| {
            let term = SizedExpression::product(vec![
                SizedExpression::integer(sign),
                self.entry(row, column).clone(),
                minor.clone(),
            ]);
            (!term.is_zero()).then_some(term)
        };
        Ok(by_minors(rows, SizedExpression::integer(1), term, SizedExpression::sum))
    }
}

/// Refuses a value that would be too large, before it is built.
pub(super) fn fits(nodes: usize) -> Result<(), String> {
    if nodes <= MAX_NODES {
        return Ok(());
    }
    Err(format!("this expression would have more than {MAX_NODES} parts when written out: the model is too large"))
}

/// Returns `true` if the expression's own numbers are within the range of a double. Its parts are checked when they are built.
pub(super) fn representable(expression: &Expression) -> bool {
    let sound = |number: &BigRational| {
        let value = crate::expression::to_f64(number);
        let bits = number.numer().bits().max(number.denom().bits());
        number.is_zero() || bits <= 8_192 && value.is_finite() && value != 0.0
    };
    let own = std::iter::once(expression).chain(expression.children());
    own.filter_map(Expression::as_number).all(sound)
}
