//! What generated functions should return at a point: from the derivation's expressions and a dense solve, with no lowering and
//! no sharing.

use std::collections::BTreeMap;

use super::interpret::{noise, variance, weigh};
use super::projection::DAMPING;
use crate::derivation::{Coefficient, Constraints, Derivation, Field, Implicit, IntegralId, LinearSystem, Output};
use crate::derivative::At;
use crate::expression::{Expression, Symbol};
use crate::points::Point;
use crate::precise::Real;
use crate::table::{Id, Table};

/// The mathematics of a model at one point. What is computed on the way gets errors, where there are any.
pub(super) struct Oracle<'a> {
    pub(super) derivation: &'a Derivation,
    point: &'a Point<'a>,
    errors: Errors<'a>,
    /// F
    pub(super) integrals: Table<IntegralId, f64>,
    /// DF
    pub(super) gradients: Table<IntegralId, Table<Symbol, f64>>,
    /// c, and 0 for each integral that has none.
    pub(super) multipliers: Table<IntegralId, f64>,
    /// What linear systems are solved for, where the field is implicit.
    solved: BTreeMap<Symbol, f64>,
}

/// What gives the error of a value, relative to the terms that it is made of.
type Errors<'a> = Option<&'a dyn Fn() -> f64>;

/// The value of an expression with an error, where the symbols have these values.
fn evaluate(expression: &Expression, symbol: impl Fn(Symbol) -> f64, errors: Errors) -> f64 {
    match errors {
        None => expression.evaluate(&symbol),
        Some(error) => {
            let (value, size) = expression.evaluate_with_size(&symbol);
            value + size * error()
        }
    }
}

/// The solutions of the linear systems at a point.
fn solved(implicit: &Implicit, point: &Point, errors: Errors) -> BTreeMap<Symbol, f64> {
    let mut known = BTreeMap::new();
    for LinearSystem { unknowns, matrix, right_side } in &implicit.systems {
        let value = |expression: &Expression| {
            evaluate(expression, |symbol| known.get(&symbol).copied().unwrap_or_else(|| point.symbol(symbol)), errors)
        };
        let transposed =
            (0..matrix.len()).map(|j| matrix.iter().map(|row| value(&row[j])).collect::<Vec<_>>()).collect();
        let solution = solve_transposed(transposed, right_side.iter().map(value).collect());
        known.extend(unknowns.iter().copied().zip(solution));
    }
    known
}

impl<'a> Oracle<'a> {
    pub(super) fn at(derivation: &'a Derivation, point: &'a Point<'a>, errors: Errors<'a>) -> Self {
        let value = |expression: &Expression| evaluate(expression, |symbol| point.symbol(symbol), errors);
        let integrals = derivation.integrals.map(|integral| value(&integral.value));
        let gradients = derivation.integrals.map(|integral| {
            let mut row = derivation.symbols.over_states(|_| 0.0);
            integral.gradient.iter().for_each(|(state, entry)| row[*state] = value(entry));
            row
        });
        let solution = solve_transposed(derivation.constraint_matrix(&value), derivation.energy_brackets(&value));
        let mut multipliers = derivation.integrals.map(|_| 0.0);
        let members = derivation.constraints().map_or_else(Vec::new, Constraints::members);
        members.into_iter().zip(solution).for_each(|(member, entry)| multipliers[member] = entry);
        let solved = match &derivation.field {
            Field::Implicit(implicit) => solved(implicit, point, errors),
            Field::Dirac(_) | Field::Given(_) => BTreeMap::new(),
        };
        for (symbol, value) in &solved {
            if let Some(constraint) = derivation.symbols.constraint(*symbol) {
                multipliers[constraint] = *value;
            }
        }
        Self { derivation, point, errors, integrals, gradients, multipliers, solved }
    }

    /// X
    pub(super) fn vector_field(&self) -> Vec<f64> {
        match (&self.derivation.field, self.derivation.integrals.energy()) {
            (Field::Given(rates), _) => rates.rows().map(|rate| self.evaluate(rate)).collect(),
            (Field::Implicit(implicit), _) => implicit.rates.rows().map(|rate| self.evaluate(rate)).collect(),
            (Field::Dirac(_), None) => Vec::new(),
            (Field::Dirac(_), Some(energy)) => {
                self.flow(|state| self.gradients[energy][state] - self.constraint_covector(state))
            }
        }
    }

    /// The value of an expression that may contain what is solved for.
    fn evaluate(&self, expression: &Expression) -> f64 {
        let symbol = |symbol| self.solved.get(&symbol).copied().unwrap_or_else(|| self.point.symbol(symbol));
        evaluate(expression, symbol, self.errors)
    }

    /// Df^T c
    pub(super) fn constraint_covector(&self, state: Symbol) -> f64 {
        self.sum(self.multipliers.rows().zip(self.gradients.rows()).map(|(c, row)| c * row[state]))
    }

    /// The sum of terms, with an error relative to them.
    fn sum(&self, terms: impl Iterator<Item = f64>) -> f64 {
        let (sum, size) = terms.fold((0.0, 0.0), |(sum, size), term| (sum + term, size + term.abs()));
        sum + size * self.errors.map_or(0.0, |error| error())
    }

    /// J y
    pub(super) fn flow(&self, covector: impl Fn(Symbol) -> f64) -> Vec<f64> {
        let Derivation { symbols, structure, .. } = self.derivation;
        let component = |state: Symbol| {
            let terms = structure.row(symbols, state).into_iter().map(|(column, entry)| match entry {
                Coefficient::One => covector(column),
                Coefficient::MinusOne => -covector(column),
                Coefficient::Function(function) => self.evaluate(function) * covector(column),
            });
            terms.sum()
        };
        symbols.states().map(component).collect()
    }

    /// The declared outputs.
    pub(super) fn outputs(&self) -> Vec<f64> {
        let output = |output: &Output| {
            output.value.evaluate(&|symbol| match self.derivation.symbols.constraint(symbol) {
                Some(constraint) => self.multipliers[constraint],
                None => self.solved.get(&symbol).copied().unwrap_or_else(|| self.point.symbol(symbol)),
            })
        };
        self.derivation.outputs.iter().map(output).collect()
    }

    /// The values of expressions.
    pub(super) fn values(&self, expressions: &[Expression]) -> Vec<f64> {
        expressions.iter().map(|expression| self.evaluate(expression)).collect()
    }

    /// The derivatives of expressions by the entries of the state, expression by expression, in 256 bits.
    pub(super) fn derivatives(&self, expressions: &[Expression]) -> Vec<f64> {
        let symbols = &self.derivation.symbols;
        let value = |symbol| Real::from(self.point.symbol(symbol));
        let at = At { value, is_variable: |symbol| symbols.is_state(symbol) };
        let row = |expression: &Expression| {
            let differentiated = at.differentiate(expression);
            let entry = |state: Symbol| match &differentiated {
                Some(of) => of.gradient.get(&state).map_or(0.0, |entry| entry.to_f64() * (1.0 + self.error())),
                None => f64::NAN,
            };
            symbols.states().map(entry).collect::<Vec<_>>()
        };
        expressions.iter().flat_map(row).collect()
    }

    fn error(&self) -> f64 {
        self.errors.map_or(0.0, |error| error())
    }

    /// grad V
    pub(super) fn potential_gradient(&self) -> Vec<f64> {
        let integrals: Vec<f64> = self.integrals.rows().copied().collect();
        self.combined(&weigh(self.point, &integrals), |_| 1.0)
    }

    /// X - grad V
    pub(super) fn feedback_field(&self) -> Vec<f64> {
        self.vector_field().iter().zip(self.potential_gradient()).map(|(x, v)| x - v).collect()
    }

    /// S DF^T (DF S DF^T + e D + R)^-1 y for a consistent violation y.
    pub(super) fn projection(&self) -> Vec<f64> {
        let dot = |a: &Table<Symbol, f64>, b: &Table<Symbol, f64>| -> f64 {
            a.iter().zip(b.rows()).map(|((state, a), b)| variance(self.point, state) * a * b).sum()
        };
        let entry = |i: IntegralId, j: IntegralId| {
            let product =
                dot(&self.gradients[i], &self.gradients[j]) * (1.0 + self.errors.map_or(0.0, |error| error()));
            if i == j { product * (1.0 + DAMPING) + noise(self.point, i) } else { product }
        };
        let ids = || self.integrals.ids();
        let gram = ids().map(|i| ids().map(|j| entry(i, j)).collect()).collect();
        let integrals: Vec<f64> = self.integrals.rows().copied().collect();
        let y = solve_transposed(gram, consistent_violation(self.derivation, self.point, &integrals));
        self.combined(&y, |state| variance(self.point, state))
    }

    /// |dF_i|^2
    pub(super) fn squared_gradients(&self) -> Vec<f64> {
        self.gradients.rows().map(|row| row.rows().map(|entry| entry * entry).sum()).collect()
    }

    /// S DF^T y for a diagonal matrix S.
    fn combined(&self, y: &[f64], scale: impl Fn(Symbol) -> f64) -> Vec<f64> {
        let entry = |state: Symbol| {
            let terms = y.iter().zip(self.gradients.rows());
            scale(state) * self.sum(terms.map(|(y, row)| y * row[state]))
        };
        self.derivation.symbols.states().map(entry).collect()
    }
}

/// DF z for a z in general position: a violation that some state has, also where integrals are dependent. What the program
/// hands over as F shows by its difference from F.
pub(super) fn consistent_violation(derivation: &Derivation, point: &Point, integrals: &[f64]) -> Vec<f64> {
    let along = |gradient: &[(Symbol, Expression)]| -> f64 {
        let terms = gradient.iter();
        let z = |column: Symbol| point.size(column) * point.value(3000 + column.place() as u64);
        terms.map(|(column, entry)| point.evaluate(entry) * z(*column)).sum()
    };
    let rows = derivation.integrals.rows().zip(integrals);
    rows.map(|(row, integral)| along(&row.gradient) + integral - point.evaluate(&row.value)).collect()
}

/// The solution of C^T c = b by Gaussian elimination with partial pivoting, of rows and columns brought to one size; not a number
/// where the matrix leaves the range of a double.
fn solve_transposed(c: Vec<Vec<f64>>, mut b: Vec<f64>) -> Vec<f64> {
    let m = b.len();
    if c.iter().flatten().any(|entry| *entry != 0.0 && !entry.is_normal()) {
        return vec![f64::NAN; m];
    }
    let mut a: Vec<Vec<f64>> = (0..m).map(|i| (0..m).map(|j| c[j][i]).collect()).collect();
    let columns = equilibrate(&mut a, &mut b);
    for step in 0..m {
        let pivot = (step..m).max_by(|&i, &j| a[i][step].abs().total_cmp(&a[j][step].abs())).unwrap_or(step);
        a.swap(step, pivot);
        b.swap(step, pivot);
        for i in step + 1..m {
            let factor = a[i][step] / a[step][step];
            for j in step..m {
                a[i][j] -= factor * a[step][j];
            }
            b[i] -= factor * b[step];
        }
    }
    for i in (0..m).rev() {
        let sum: f64 = (i + 1..m).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - sum) / a[i][i];
    }
    b.iter().zip(columns).map(|(x, scale)| x * scale).collect()
}

/// Multiplies rows, with their right sides, and columns by powers of two that bring their largest entries near one; gives the
/// columns' factors.
fn equilibrate(a: &mut [Vec<f64>], b: &mut [f64]) -> Vec<f64> {
    let root = |largest: f64| if largest > 0.0 { (-0.5 * largest.log2()).round().exp2() } else { 1.0 };
    let mut columns = vec![1.0; b.len()];
    for _ in 0..4 {
        for (row, right) in a.iter_mut().zip(&mut *b) {
            let factor = root(row.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs())));
            row.iter_mut().for_each(|entry| *entry *= factor);
            *right *= factor;
        }
        for (j, column) in columns.iter_mut().enumerate() {
            let factor = root(a.iter().fold(0.0, |largest: f64, row| largest.max(row[j].abs())));
            a.iter_mut().for_each(|row| row[j] *= factor);
            *column *= factor;
        }
    }
    columns
}
