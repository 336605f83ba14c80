//! The brackets of the directions in which velocities move the coordinates: [u_i, u_j] = c^a_ij u_a.
//!
//! c is constant in the frames of groups, where it is unique as constants even if U has less than full rank, as for gamma' = gamma x xi. It
//! has to be constant only where the constraints of coordinates hold, as for s' = hat(r xi) s and r' = r hat(xi) with rotations r: a
//! bracket is a vector at each point of a motion. Otherwise U c = b is solved in blocks: as many directions as they have entries by
//! Cramer's rule, after the rest, for which constants are tried and then Cramer's rule for U^T U c = U^T b. Neither divides by anything
//! that vanishes where U has full rank.

use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::Zero;

use super::entry;
use super::hamel::directions;
use crate::derivation::{FrameBracket, Lagrangian, Role, SparseRow, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;
use crate::numbers::determinant::{determinant, determinant_with};
use crate::numbers::linear::Balanced;
use crate::numbers::points::sample_points;
use crate::numbers::rational::rational;
use crate::proofs::{Configurations, Values, vanishes_identically, whole_kernel};

/// Why a frame cannot be used.
#[derive(Clone, Debug)]
pub(crate) enum Misfit {
    /// The bracket of two directions is not a combination of the directions.
    Open {
        /// The velocities of the two directions.
        of: (Symbol, Symbol),
        /// The entries of their bracket, coordinate by coordinate.
        bracket: Vec<Expression>,
    },
    /// The bracket of two directions is a combination of the directions only where the matrices with these first entries do not reflect.
    Reflected {
        /// The velocities of the two directions.
        of: (Symbol, Symbol),
        /// Entries of the matrices.
        matrices: Vec<Symbol>,
    },
    /// These velocities move the coordinates in the same way, up to constant factors.
    Dependent(Vec<Symbol>),
    /// The coefficients of the bracket of two directions are too long to write out.
    Large {
        /// The velocities of the two directions.
        of: (Symbol, Symbol),
    },
    /// Something cannot be differentiated.
    Undefined,
}

/// Determinants that may have more parts than this are not written out.
const LARGEST_DETERMINANT: usize = 1 << 24;

/// The brackets of the frame that do not vanish in these configurations, of pairs of velocities that do not both vanish.
pub(crate) fn brackets(
    symbols: &Symbols,
    declared: &Lagrangian,
    allowed: &Configurations<'_>,
) -> Result<Vec<FrameBracket>, Misfit> {
    let frame = Kinematics::of(symbols, declared).ok_or(Misfit::Undefined)?;
    if let Some(dependent) = frame.dependent() {
        return Err(Misfit::Dependent(dependent));
    }
    let vanishes = |velocity: Symbol| matches!(symbols[velocity].role, Role::Vanishing { .. });
    let velocities: Vec<Symbol> = frame.directions.keys().copied().collect();
    let mut brackets = Vec::new();
    for (place, &i) in velocities.iter().enumerate() {
        for &j in velocities[place + 1..].iter().filter(|j| !(vanishes(i) && vanishes(**j))) {
            if frame.is_constant(i) && frame.is_constant(j) {
                continue;
            }
            let bracket = frame.bracket(i, j).ok_or(Misfit::Undefined)?;
            if bracket.values().all(vanishes_identically) {
                continue;
            }
            let coefficients = match frame.constants(&bracket).or_else(|| frame.constants_in(allowed, &bracket)) {
                Some(constants) => constants,
                None => frame.functions(&bracket).map_err(|why| frame.misfit((i, j), &bracket, allowed, why))?,
            };
            brackets.extend((!coefficients.is_empty()).then_some(FrameBracket { of: (i, j), coefficients }));
        }
    }
    Ok(brackets)
}

/// U, by directions.
struct Kinematics {
    coordinates: Vec<Symbol>,
    directions: BTreeMap<Symbol, SparseRow>,
}

impl Kinematics {
    fn of(symbols: &Symbols, declared: &Lagrangian) -> Option<Self> {
        let coordinates = declared.kinematics.iter().map(|(coordinate, _)| *coordinate).collect();
        Some(Self { coordinates, directions: directions(symbols, declared)? })
    }

    /// Returns `true` if a direction is the same everywhere.
    fn is_constant(&self, velocity: Symbol) -> bool {
        self.directions[&velocity].values().all(|entry| matches!(entry, Expression::Number(_)))
    }

    /// (Du_j) u_i - (Du_i) u_j
    fn bracket(&self, i: Symbol, j: Symbol) -> Option<SparseRow> {
        let (u, v) = (&self.directions[&i], &self.directions[&j]);
        let derivative = |of: &SparseRow, x: Symbol, along: &SparseRow| {
            let Some(entry) = of.get(&x) else { return Some(Expression::zero()) };
            let slopes = derivative::gradient(entry, |symbol| self.coordinates.contains(&symbol))?;
            Some(super::along(&slopes, |y| super::entry(along, y)))
        };
        let mut bracket = SparseRow::new();
        for &x in &self.coordinates {
            let difference = derivative(v, x, u)? - derivative(u, x, v)?;
            if !difference.is_zero() {
                bracket.insert(x, difference);
            }
        }
        Some(bracket)
    }

    /// The rows of U and, at their ends, of a vector, where expressions have these values.
    fn rows(&self, vector: &SparseRow, value: impl Fn(&Expression) -> f64) -> Vec<Vec<f64>> {
        let row = |x: &Symbol| {
            let columns = self.directions.values().chain([vector]);
            columns.map(|column| column.get(x).map_or(0.0, &value)).collect()
        };
        self.coordinates.iter().map(row).collect()
    }

    /// Velocities whose directions are a combination of one another with constant coefficients, if there are such.
    fn dependent(&self) -> Option<Vec<Symbol>> {
        let row = |x: &Symbol| self.directions.values().map(|direction| entry(direction, *x)).collect();
        let kernel = whole_kernel(&self.coordinates.iter().map(row).collect::<Vec<_>>())?;
        let involved = self.directions.keys().zip(kernel).filter(|(_, factor)| *factor != 0);
        Some(involved.map(|(velocity, _)| *velocity).collect())
    }

    /// Constant coefficients of a vector in the frame.
    fn constants(&self, vector: &SparseRow) -> Option<SparseRow> {
        let rows = sample_points().flat_map(|point| self.rows(vector, |entry| point.evaluate(entry)));
        self.exact_constants(vector, rows.collect(), vanishes_identically)
    }

    /// Constants that are coefficients of a vector where constraints hold.
    fn constants_in(&self, allowed: &Configurations<'_>, vector: &SparseRow) -> Option<SparseRow> {
        if allowed.is_everything() {
            return None;
        }
        let at = |state: &Values| self.rows(vector, |entry| entry.evaluate(&|symbol| state[symbol]));
        let rows = allowed.states().iter().flat_map(at).collect();
        self.exact_constants(vector, rows, |difference| allowed.vanishes(difference))
    }

    /// The constant coefficients that these rows suggest, if what has to vanish is proved to.
    fn exact_constants(
        &self,
        vector: &SparseRow,
        rows: Vec<Vec<f64>>,
        vanishes: impl Fn(&Expression) -> bool,
    ) -> Option<SparseRow> {
        let velocities: Vec<Symbol> = self.directions.keys().copied().collect();
        let coefficients = exact(&velocities, constant_combination(rows)?)?;
        self.is_combination(vector, &coefficients, vanishes).then_some(coefficients)
    }

    /// Why the bracket of two directions is written as no combination of directions, whose coefficients may be too long.
    fn misfit(
        &self,
        of: (Symbol, Symbol),
        bracket: &SparseRow,
        allowed: &Configurations<'_>,
        excess: Option<Excess>,
    ) -> Misfit {
        let right_handed = allowed.right_handed();
        let closed = right_handed.filter(|(allowed, _)| self.constants_in(allowed, bracket).is_some());
        match (closed, excess) {
            (Some((_, matrices)), _) => Misfit::Reflected { of, matrices },
            (None, Some(Excess)) => Misfit::Large { of },
            (None, None) => Misfit::Open { of, bracket: self.coordinates.iter().map(|x| entry(bracket, *x)).collect() },
        }
    }

    /// Coefficients of a vector in the frame that are functions of the coordinates; or whether there are such that are too long.
    fn functions(&self, vector: &SparseRow) -> Result<SparseRow, Option<Excess>> {
        let coefficients = self.by_groups(vector).map_err(Some)?;
        coefficients.filter(|found| self.is_combination(vector, found, vanishes_identically)).ok_or(None)
    }

    /// The coefficients of a group after the coefficients of all other directions.
    fn by_groups(&self, vector: &SparseRow) -> Result<Option<SparseRow>, Excess> {
        let Some(EquationGroup { directions, rows }) = self.group() else { return self.without_groups(vector) };
        let Some(mut coefficients) = self.without(&directions, &rows).by_groups(vector)? else { return Ok(None) };
        let remainder = |x: &Symbol| {
            let known = |(b, c): (&Symbol, &Expression)| Some(self.directions[b].get(x)?.clone() * c.clone());
            let known: Vec<Expression> = coefficients.iter().filter_map(known).collect();
            let remainder = entry(vector, *x) - Expression::sum(known);
            if vanishes_identically(&remainder) { Expression::zero() } else { remainder }
        };
        let right: Vec<Expression> = rows.iter().map(remainder).collect();
        let row = |x: &Symbol| directions.iter().map(|a| entry(&self.directions[a], *x)).collect();
        let Some(solution) = by_cramer(&rows.iter().map(row).collect::<Vec<_>>(), &right)? else { return Ok(None) };
        coefficients.extend(directions.into_iter().zip(solution).filter(|(_, c)| !c.is_zero()));
        Ok(Some(coefficients))
    }

    /// Directions that have their entries in as many rows as they are, and those rows: nothing else is needed there.
    fn group(&self) -> Option<EquationGroup> {
        self.directions.values().find_map(|direction| {
            let is_alike = |other: &SparseRow| other.keys().eq(direction.keys());
            let alike = self.directions.iter().filter(|(_, other)| is_alike(other));
            let directions: Vec<Symbol> = alike.map(|(a, _)| *a).collect();
            let rows: Vec<Symbol> = direction.keys().copied().collect();
            (directions.len() == rows.len()).then_some(EquationGroup { directions, rows })
        })
    }

    /// The other directions in the other rows.
    fn without(&self, directions: &[Symbol], rows: &[Symbol]) -> Self {
        let in_others = |(a, direction): (&Symbol, &SparseRow)| {
            let mut direction = direction.clone();
            direction.retain(|x, _| !rows.contains(x));
            (*a, direction)
        };
        Self {
            coordinates: self.coordinates.iter().filter(|x| !rows.contains(x)).copied().collect(),
            directions: self.directions.iter().filter(|(a, _)| !directions.contains(a)).map(in_others).collect(),
        }
    }

    /// Constant coefficients, or else the solution of U^T U c = U^T b.
    fn without_groups(&self, vector: &SparseRow) -> Result<Option<SparseRow>, Excess> {
        if let Some(constants) = self.constants(vector) {
            return Ok(Some(constants));
        }
        let dot = |a: &SparseRow, b: &SparseRow| settled(super::along(a, |x| entry(b, x)));
        let columns = || self.directions.values();
        let gram: Vec<Vec<Expression>> = columns().map(|a| columns().map(|b| dot(a, b)).collect()).collect();
        let right: Vec<Expression> = columns().map(|a| dot(a, vector)).collect();
        let solution = by_cramer(&gram, &right)?;
        Ok(solution
            .map(|solution| self.directions.keys().copied().zip(solution).filter(|(_, c)| !c.is_zero()).collect()))
    }

    /// Returns `true` if a vector is proved to be this combination of the directions, where `vanishes` proves it.
    fn is_combination(
        &self,
        vector: &SparseRow,
        coefficients: &SparseRow,
        vanishes: impl Fn(&Expression) -> bool,
    ) -> bool {
        self.coordinates.iter().all(|x| {
            let terms = coefficients.iter().filter_map(|(a, c)| Some(self.directions[a].get(x)?.clone() * c.clone()));
            vanishes(&(Expression::sum(terms) - entry(vector, *x)))
        })
    }
}

/// The factors that do not vanish, as exact numbers with their velocities.
fn exact(velocities: &[Symbol], factors: Vec<(usize, f64)>) -> Option<SparseRow> {
    let factors: Vec<(usize, BigRational)> =
        factors.into_iter().map(|(place, factor)| Some((place, rational(factor)?))).collect::<Option<_>>()?;
    let nonzero = factors.into_iter().filter(|(_, factor)| !factor.is_zero());
    Some(nonzero.map(|(place, factor)| (velocities[place], Expression::Number(factor))).collect())
}

/// The constant factors by which the last column of a matrix is a combination of others, if it is one.
fn constant_combination(rows: Vec<Vec<f64>>) -> Option<Vec<(usize, f64)>> {
    let last = rows.first()?.len() - 1;
    let mut matrix = Balanced::of(rows)?;
    (0..last).for_each(|column| _ = matrix.pivot(column));
    (matrix.pivot(last) == Some(false)).then(|| matrix.combination(last))
}

/// The expression, or the number that it is in every state.
fn settled(expression: Expression) -> Expression {
    let mut values = sample_points().map(|point| rational(point.evaluate(&expression)));
    let Some(number) = values.next().flatten() else { return expression };
    let is_number = values.all(|value| value.as_ref() == Some(&number));
    let number = Expression::Number(number);
    if is_number && vanishes_identically(&(expression.clone() - number.clone())) { number } else { expression }
}

/// Directions that are solved for together, and the coordinates from whose rates they are.
struct EquationGroup {
    directions: Vec<Symbol>,
    rows: Vec<Symbol>,
}

/// Determinants would be too long to write out.
struct Excess;

/// The solution of a square system by Cramer's rule.
fn by_cramer(matrix: &[Vec<Expression>], right: &[Expression]) -> Result<Option<Vec<Expression>>, Excess> {
    let parts = |row: &[Expression], right: &Expression| row.iter().chain([right]).map(Expression::size).sum::<usize>();
    let bound = matrix.iter().zip(right).map(|(row, right)| parts(row, right)).fold(1, usize::saturating_mul);
    if matrix.len() > 1 && bound > LARGEST_DETERMINANT {
        return Err(Excess);
    }
    let whole = determinant(matrix);
    let solution = (0..matrix.len()).map(|place| {
        let numerator = determinant_with(matrix, place, right);
        if vanishes_identically(&numerator) {
            return Some(Expression::zero());
        }
        Some(settled(numerator.divide(whole.clone()).ok()?))
    });
    Ok(solution.collect())
}
