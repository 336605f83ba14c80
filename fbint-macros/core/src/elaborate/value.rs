//! Scalars, vectors and matrices of expressions, with shape checking.
//!
//! Shapes are nalgebra's: a vector is a matrix with one column, and a matrix with one column is a vector. Entries are
//! stored column by column.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::Zero;

use crate::expression::parts::Results;
use crate::expression::{Expression, Function, Symbol, to_f64};
use crate::numbers::determinant::determinant;
use crate::syntax::{MAX_ENTRIES, Shape};

/// The most parts of an expression, or of all entries of a value together. A part that occurs in several places counts once.
const MAX_PARTS: usize = 1_000_000;
/// Expressions that have no more when they are written out are not searched for equal parts.
const FEW_PARTS: usize = 1_000;
/// The most factors of a product when everything is multiplied out.
const MAX_DEGREE: f64 = 10_000.0;
/// The deepest expression: later phases recurse over it.
const MAX_DEPTH: usize = 250;

/// A shaped quantity.
#[derive(Clone, Debug)]
pub(super) struct ShapedExpression {
    shape: Shape,
    entries: Vec<Expression>,
}

impl From<Expression> for ShapedExpression {
    fn from(scalar: Expression) -> Self {
        Self { shape: Shape::Scalar, entries: vec![scalar] }
    }
}

impl ShapedExpression {
    /// The quantity of this shape with these entries, column by column; a single column is a vector.
    pub(super) fn new(shape: Shape, entries: Vec<Expression>) -> Self {
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
    pub(super) fn from_fn(rows: usize, columns: usize, entry: impl Fn(usize, usize) -> Expression) -> Self {
        let entries = places(rows, columns).map(|(row, column)| entry(row, column));
        Self::new(Shape::Matrix { rows, columns }, entries.collect())
    }

    /// The vector of these scalars; `None` if one of them has another shape.
    pub(super) fn vector(all: &[Self]) -> Option<Self> {
        let scalars: Option<Vec<Expression>> = all.iter().map(|value| value.as_scalar().cloned()).collect();
        Some(Self::new(Shape::Vector(all.len()), scalars?))
    }

    /// The variable of this shape with these entries.
    pub(super) fn variable(shape: Shape, symbols: &[Symbol]) -> Self {
        Self::new(shape, symbols.iter().copied().map(Expression::from).collect())
    }

    pub(super) fn shape(&self) -> Shape {
        self.shape
    }

    pub(super) fn entries(&self) -> &[Expression] {
        &self.entries
    }

    pub(super) fn into_entries(self) -> Vec<Expression> {
        self.entries
    }

    /// The symbols in all entries.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        self.entries.iter().flat_map(|entry| entry.symbols())
    }

    /// Adds the parts of all entries to `parts`. Refuses a value that is too large or too deep for later phases.
    pub(super) fn count(&self, parts: &mut usize) -> Result<(), String> {
        self.entries.iter().try_for_each(|entry| count(entry, parts))
    }

    pub(super) fn as_scalar(&self) -> Option<&Expression> {
        (self.shape == Shape::Scalar).then(|| &self.entries[0])
    }

    /// The exact number that the quantity is, if it is one.
    pub(super) fn as_number(&self) -> Option<&BigRational> {
        self.as_scalar()?.as_number()
    }

    /// The entry; the caller has checked the range.
    pub(super) fn entry(&self, row: usize, column: usize) -> &Expression {
        let (rows, _) = self.shape.extent();
        &self.entries[column * rows + row]
    }

    /// The value with an operation done to every entry.
    pub(super) fn map(self, operation: impl FnMut(Expression) -> Expression) -> Self {
        Self { shape: self.shape, entries: self.entries.into_iter().map(operation).collect() }
    }

    /// The value with an operation done to every two corresponding entries of quantities of one shape.
    pub(super) fn zip(self, other: Self, operation: impl Fn(Expression, Expression) -> Expression) -> Self {
        let pairs = self.entries.into_iter().zip(other.entries);
        Self { shape: self.shape, entries: pairs.map(|(left, right)| operation(left, right)).collect() }
    }

    /// The sum of quantities of one shape, at least one.
    pub(super) fn sum(terms: &[Self]) -> Self {
        let shape = terms[0].shape;
        let entry = |place: usize| Expression::sum(terms.iter().map(|term| term.entries[place].clone()));
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

    fn scale(self, factor: &Expression) -> Result<Self, String> {
        Self::bounded(self.shape, self.entries.into_iter().map(|entry| factor.clone() * entry))
    }

    fn contract(&self, other: &Self) -> Result<Self, String> {
        let ((rows, inner), (_, columns)) = (self.shape.extent(), other.shape.extent());
        if rows.saturating_mul(columns) > MAX_ENTRIES {
            return Err(format!("the product would be a {rows} x {columns} matrix, more than {MAX_ENTRIES} entries"));
        }
        let entry = |(row, column)| {
            let factors = (0..inner).map(|k| (self.entry(row, k), other.entry(k, column)));
            let nonzero = factors.filter(|(left, right)| !left.is_zero() && !right.is_zero());
            Expression::sum(nonzero.map(|(left, right)| left.clone() * right.clone()))
        };
        Self::bounded(Shape::Matrix { rows, columns }, places(rows, columns).map(entry))
    }

    /// The quantity of this shape with these entries. It builds no entry after the ones before are too large together.
    fn bounded(shape: Shape, entries: impl Iterator<Item = Expression>) -> Result<Self, String> {
        let mut parts = 0;
        let fitting = entries.map(|entry| count(&entry, &mut parts).map(|()| entry));
        Ok(Self::new(shape, fitting.collect::<Result<_, String>>()?))
    }

    pub(super) fn transpose(&self) -> Self {
        if self.shape == Shape::Scalar {
            return self.clone();
        }
        let (rows, columns) = self.shape.extent();
        Self::from_fn(columns, rows, |row, column| self.entry(column, row).clone())
    }

    /// The inner product of quantities of one shape.
    pub(super) fn dot(self, other: Self) -> Expression {
        Expression::sum(self.zip(other, |left, right| left * right).entries)
    }

    pub(super) fn norm_squared(self) -> Expression {
        let square = |entry: Expression| entry.power(BigRational::from_integer(BigInt::from(2)));
        Expression::sum(self.entries.into_iter().map(|entry| square(entry).expect("a positive exponent never divides")))
    }

    pub(super) fn trace(&self) -> Expression {
        let (rows, _) = self.shape.extent();
        Expression::sum((0..rows).map(|index| self.entry(index, index).clone()))
    }

    /// The vector product of two vectors of 3.
    pub(super) fn cross(&self, other: &Self) -> Self {
        let (a, b) = (&self.entries, &other.entries);
        let component = |i: usize, j: usize| a[i].clone() * b[j].clone() - a[j].clone() * b[i].clone();
        Self { shape: self.shape, entries: vec![component(1, 2), component(2, 0), component(0, 1)] }
    }

    /// The matrix with `hat(v) * w = v x w`, for a vector of 3.
    pub(super) fn hat(&self) -> Self {
        let [x, y, z] = [0, 1, 2].map(|index| self.entries[index].clone());
        let first = [Expression::zero(), z.clone(), -y.clone()];
        let second = [-z, Expression::zero(), x.clone()];
        let third = [y, -x, Expression::zero()];
        Self::new(Shape::Matrix { rows: 3, columns: 3 }, [first, second, third].concat())
    }

    /// The determinant of a square matrix by expansion along its columns.
    pub(super) fn determinant(&self) -> Expression {
        let (rows, columns) = self.shape.extent();
        let column = |column: usize| (0..rows).map(|row| self.entry(row, column).clone()).collect();
        determinant(&(0..columns).map(column).collect::<Vec<_>>())
    }
}

/// The rows and columns of the entries of a matrix in their order.
fn places(rows: usize, columns: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..columns).flat_map(move |column| (0..rows).map(move |row| (row, column)))
}

/// Adds the parts of an expression to `parts`. Ends where they are too many or too deep.
fn count(expression: &Expression, parts: &mut usize) -> Result<(), String> {
    if expression.depth() > MAX_DEPTH {
        return Err(format!("this is nested more than {MAX_DEPTH} deep when its definitions are written out"));
    }
    // An operation has at most two parts that are no other operation's.
    let written_out = expression.operations().saturating_mul(2).saturating_add(1);
    if written_out <= FEW_PARTS {
        *parts += written_out;
    } else {
        let degree = degree(expression, &Results::default());
        if degree > MAX_DEGREE {
            let message = format!("multiplied out, this expression would have products of {degree} factors");
            return Err(format!("{message}, more than {MAX_DEGREE}: the model is too large"));
        }
        *parts += expression.extent();
    }
    if *parts > MAX_PARTS {
        return Err(format!("this expression would have {parts} parts, more than {MAX_PARTS}: the model is too large"));
    }
    Ok(())
}

/// The most factors of a product when everything is multiplied out but arguments of functions: numbers have as many times their digits.
fn degree(expression: &Expression, known: &Results<f64>) -> f64 {
    let mut degrees = expression.children().map(|part| degree(part, known));
    known.of(expression, || match expression {
        Expression::Number(_) | Expression::Pi | Expression::Symbol(_) | Expression::Call(..) => 1.0,
        Expression::Sum(_) => degrees.fold(1.0, f64::max),
        Expression::Product(_) => degrees.sum(),
        Expression::Power(_, exponent) => degrees.next().unwrap_or(1.0) * to_f64(exponent).abs().max(1.0),
    })
}

/// The fault of the expression's own numbers, which have to be within the range of a double, or of its value, if it consists of numbers
/// alone. Its parts are checked when they are built.
pub(super) fn unrepresentable(expression: &Expression) -> Option<&'static str> {
    let sound = |number: &BigRational| {
        let value = to_f64(number);
        let bits = number.numer().bits().max(number.denom().bits());
        number.is_zero() || bits <= 8_192 && value.is_finite() && value != 0.0
    };
    let is_number =
        !matches!(expression, Expression::Symbol(_)) && expression.children().all(|child| child.as_number().is_some());
    let value = if is_number { expression.evaluate(&|_| f64::NAN) } else { 0.0 };
    let mut own = std::iter::once(expression).chain(expression.children()).filter_map(Expression::as_number);
    if value.is_nan() || value.is_infinite() && matches!(expression, Expression::Call(Function::Ln, _)) {
        Some("this is not a real number: the argument is outside the domain of the function")
    } else {
        (value.is_infinite() || !own.all(sound)).then_some("this number is out of reach of double precision")
    }
}
