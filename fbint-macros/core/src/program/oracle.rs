//! What generated functions should return at a point: from the derivation's expressions and a dense solve, with no lowering and
//! no sharing.

use std::collections::BTreeMap;

use super::interpret::weigh;
use super::projection::DAMPING;
use crate::derivation::table::Table;
use crate::derivation::{Derivation, Field, IntegralId, LinearSystem, Output, Role, SparseRow};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::differentiate;
use crate::numbers::number::Numeric;
use crate::numbers::points::{Draw, Point, Unknown};
use crate::numbers::precise::Real;

/// The mathematics of a model at one point. What is computed on the way gets errors, where there are any.
pub(super) struct Oracle<'a, N> {
    pub(super) derivation: &'a Derivation,
    point: &'a Point<'a>,
    errors: RelativeErrors<'a>,
    /// F
    pub(super) integrals: Table<IntegralId, N>,
    /// DF
    pub(super) gradients: Table<IntegralId, Table<Symbol, N>>,
    /// c, and 0 for each integral that has none.
    pub(super) multipliers: Table<IntegralId, N>,
    /// What linear systems are solved for.
    solved: BTreeMap<Symbol, N>,
}

/// What gives the error of each part of a value, relative to it.
type RelativeErrors<'a> = Option<&'a dyn Fn() -> f64>;

/// The value of an expression with an error, where the symbols have these values.
fn evaluate<N: Numeric>(expression: &Expression, symbol: impl Fn(Symbol) -> N, errors: RelativeErrors) -> N {
    match errors {
        None => N::evaluate(expression, &symbol),
        Some(error) => {
            let round = |value: f64| value * (1.0 + error());
            N::exactly(expression.evaluate_rounded(&|of| symbol(of).to_f64(), &round))
        }
    }
}

/// The solutions of the linear systems at a point, where some symbols have values already.
fn solved<N: Numeric>(
    field: &Field,
    mut known: BTreeMap<Symbol, N>,
    point: &Point,
    errors: RelativeErrors,
) -> BTreeMap<Symbol, N> {
    for LinearSystem { unknowns, matrix, right_side } in &field.systems {
        if unknowns.iter().all(|unknown| known.contains_key(unknown)) {
            continue;
        }
        let symbol = |symbol| known.get(&symbol).cloned().unwrap_or_else(|| N::of_symbol(point, symbol));
        let value = |expression: &Expression| evaluate(expression, symbol, errors);
        let rows = matrix.iter().map(|row| row.iter().map(value).collect()).collect();
        let solution = N::solve(rows, &right_side.iter().map(value).collect::<Vec<_>>());
        known.extend(unknowns.iter().copied().zip(solution));
    }
    known
}

impl<'a, N: Numeric + From<Real>> Oracle<'a, N> {
    pub(super) fn at(derivation: &'a Derivation, point: &'a Point<'a>, errors: RelativeErrors<'a>) -> Self {
        let value = |expression: &Expression| evaluate(expression, |symbol| N::of_symbol(point, symbol), errors);
        let integrals = derivation.integrals.map(|integral| value(&integral.value));
        let gradients = derivation.integrals.map(|integral| {
            let mut row = derivation.symbols.over_states(|_| N::zero());
            integral.gradient.iter().for_each(|(state, entry)| row[*state] = value(entry));
            row
        });
        let solved = solved::<N>(&derivation.field, BTreeMap::new(), point, errors);
        let mut multipliers = derivation.integrals.map(|_| N::zero());
        for (symbol, value) in &solved {
            if let Some(constraint) = derivation.symbols.constraint(*symbol) {
                multipliers[constraint] = value.clone();
            }
        }
        Self { derivation, point, errors, integrals, gradients, multipliers, solved }
    }

    /// X
    pub(super) fn vector_field(&self) -> Vec<N> {
        self.derivation.field.rates.rows().map(|rate| self.evaluate(rate)).collect()
    }

    /// What the constraints add to X: the difference from the field in which all multipliers are 0.
    pub(super) fn reaction_field(&self) -> Vec<N> {
        let Field { systems, rates } = &self.derivation.field;
        let is_multiplier = |symbol: &Symbol| self.derivation.symbols.constraint(*symbol).is_some();
        let unknowns = systems.iter().flat_map(|system| &system.unknowns).copied();
        let without = unknowns.filter(is_multiplier).map(|multiplier| (multiplier, N::zero())).collect();
        let free = solved::<N>(&self.derivation.field, without, self.point, self.errors);
        let symbol = |symbol| free.get(&symbol).cloned().unwrap_or_else(|| N::of_symbol(self.point, symbol));
        let reaction = |rate: &Expression| self.evaluate(rate).minus(&evaluate(rate, symbol, self.errors));
        rates.rows().map(reaction).collect()
    }

    /// The value of an expression that may contain what is solved for.
    fn evaluate(&self, expression: &Expression) -> N {
        evaluate(expression, |symbol| self.symbol(symbol), self.errors)
    }

    fn symbol(&self, symbol: Symbol) -> N {
        self.solved.get(&symbol).cloned().unwrap_or_else(|| N::of_symbol(self.point, symbol))
    }

    /// The sum of terms, with an error relative to them.
    fn sum(&self, terms: impl Iterator<Item = N>) -> N {
        let mut size = 0.0;
        let sum = terms.fold(N::zero(), |sum, term| {
            size += term.to_f64().abs();
            sum.plus(&term)
        });
        self.errors.map_or_else(|| sum.clone(), |error| sum.plus(&N::exactly(size * error())))
    }

    /// The declared outputs.
    pub(super) fn outputs(&self) -> Vec<N> {
        let output = |output: &Output| N::evaluate(&output.value, &|symbol| self.symbol(symbol));
        self.derivation.outputs.iter().map(output).collect()
    }

    /// The values of expressions.
    pub(super) fn values(&self, expressions: &[Expression]) -> Vec<N> {
        expressions.iter().map(|expression| self.evaluate(expression)).collect()
    }

    /// The derivatives of expressions by the entries of the state, expression by expression, in 256 bits.
    pub(super) fn derivatives(&self, expressions: &[Expression]) -> Vec<N> {
        let symbols = &self.derivation.symbols;
        let value = |symbol| Real::from(self.point.symbol(symbol));
        let error = || 1.0 + self.errors.map_or(0.0, |error| error());
        let row = |expression: &Expression| {
            let differentiated = differentiate(expression, &value, &|symbol| symbols.is_state(symbol));
            let entry = |state: Symbol| match &differentiated {
                Some(of) => of.gradient.get(&state).cloned().map_or_else(N::zero, N::from).times(&N::exactly(error())),
                None => N::undefined(),
            };
            symbols.states().map(entry).collect::<Vec<_>>()
        };
        expressions.iter().flat_map(row).collect()
    }

    /// M = dp/dxi, row by row.
    pub(super) fn mass_matrix(&self) -> Vec<N> {
        let symbols = &self.derivation.symbols;
        let momenta = self.derivation.hamel.iter().flat_map(|hamel| &hamel.momenta);
        let momenta = momenta.filter(|(velocity, _)| symbols[**velocity].role == Role::Velocity);
        let momenta: Vec<Expression> = momenta.map(|(_, momentum)| momentum.clone()).collect();
        let states: Vec<Symbol> = symbols.states().collect();
        let slopes = self.derivatives(&momenta).into_iter().zip(states.iter().cycle());
        slopes.filter(|(_, state)| symbols[**state].role == Role::Velocity).map(|(slope, _)| slope).collect()
    }

    /// M (a - z), where z are the accelerations without reactions.
    pub(super) fn inverse_dynamics(&self) -> Vec<N> {
        let symbols = &self.derivation.symbols;
        let velocities = symbols.with(|role| role == Role::Velocity);
        let lacking = |(row, of): (usize, &Symbol)| {
            let own = symbols.only(Role::Acceleration { of: *of }).map_or_else(N::zero, |own| self.symbol(own));
            N::exactly(self.point.draw(Draw::Weight(row))).minus(&own)
        };
        let lacking: Vec<N> = velocities.iter().enumerate().map(lacking).collect();
        let matrix = self.mass_matrix();
        let rows = matrix.chunks(velocities.len().max(1));
        rows.map(|row| self.sum(row.iter().zip(&lacking).map(|(entry, rate)| entry.times(rate)))).collect()
    }

    /// grad V
    pub(super) fn potential_gradient(&self) -> Vec<N> {
        let integrals: Vec<N> = self.integrals.rows().cloned().collect();
        self.combined(&weigh(self.point, &integrals), |_| N::exactly(1.0))
    }

    /// X - grad V, and 1 for the time.
    pub(super) fn feedback_field(&self) -> Vec<N> {
        let time = self.derivation.symbols.only(Role::Time);
        let states = self.derivation.symbols.states();
        let entries = states.zip(self.vector_field()).zip(self.potential_gradient());
        entries.map(|((state, x), v)| if time == Some(state) { x } else { x.minus(&v) }).collect()
    }

    /// S DF^T (DF S DF^T + e D + R)^-1 y for a consistent violation y.
    pub(super) fn projection(&self) -> Vec<N> {
        let integrals: Vec<N> = self.integrals.rows().cloned().collect();
        self.projection_of(consistent_violation(self.derivation, self.point, &integrals))
    }

    /// The same for y = F - F_target.
    pub(super) fn projection_onto_targets(&self) -> Vec<N> {
        let targets = consistent_targets(self.derivation, self.point);
        let rows = self.integrals.iter().zip(targets);
        self.projection_of(rows.map(|((id, f), target)| f.minus(&N::varying(Unknown::Target(id), target))).collect())
    }

    fn projection_of(&self, violation: Vec<N>) -> Vec<N> {
        let variance = |state| N::varying(Unknown::Variance(state), self.point.draw(Draw::Variance(state)));
        let dot = |a: &Table<Symbol, N>, b: &Table<Symbol, N>| -> N {
            let nonzero = a.iter().zip(b.rows()).filter(|((_, a), b)| !a.is_zero() && !b.is_zero());
            let terms = nonzero.map(|((state, a), b)| variance(state).times(a).times(b));
            terms.fold(N::zero(), |sum, term| sum.plus(&term))
        };
        let entry = |i: IntegralId, j: IntegralId| {
            let factor = self.errors.map_or(1.0, |error| 1.0 + error());
            let product = dot(&self.gradients[i], &self.gradients[j]).times(&N::exactly(factor));
            if i != j {
                return product;
            }
            product.times(&N::exactly(1.0 + DAMPING)).plus(&N::exactly(self.point.draw(Draw::Noise(i))))
        };
        let ids = || self.integrals.ids();
        let gram = ids().map(|i| ids().map(|j| entry(i, j)).collect()).collect();
        let y = N::solve(gram, &violation);
        self.combined(&y, variance)
    }

    /// |dF_i|^2
    pub(super) fn squared_gradients(&self) -> Vec<N> {
        let time = self.derivation.symbols.only(Role::Time);
        let square = |row: &Table<Symbol, N>| {
            let moved = row.iter().filter(|(state, _)| time != Some(*state));
            moved.fold(N::zero(), |sum, (_, entry)| sum.plus(&entry.times(entry)))
        };
        self.gradients.rows().map(square).collect()
    }

    /// S DF^T y for a diagonal matrix S.
    fn combined(&self, y: &[N], scale: impl Fn(Symbol) -> N) -> Vec<N> {
        let entry = |state: Symbol| {
            let terms = y.iter().zip(self.gradients.rows());
            scale(state).times(&self.sum(terms.map(|(y, row)| y.times(&row[state]))))
        };
        self.derivation.symbols.states().map(entry).collect()
    }
}

/// Targets of which the state differs by such a violation, in doubles.
pub(super) fn consistent_targets(derivation: &Derivation, point: &Point) -> Vec<f64> {
    let value = |expression: &Expression| evaluate::<Real>(expression, |symbol| Real::from(point.symbol(symbol)), None);
    let integrals: Vec<Real> = derivation.integrals.rows().map(|integral| value(&integral.value)).collect();
    let violations = consistent_violation(derivation, point, &integrals);
    integrals.iter().zip(&violations).map(|(integral, violation)| (integral - violation).to_f64()).collect()
}

/// DF z for a z in general position: a violation that some state has, also where integrals are dependent. What the program
/// hands over as F shows by its difference from F.
pub(super) fn consistent_violation<N: Numeric>(derivation: &Derivation, point: &Point, integrals: &[N]) -> Vec<N> {
    let value = |expression: &Expression| evaluate::<N>(expression, |symbol| N::exactly(point.symbol(symbol)), None);
    let along = |gradient: &SparseRow| -> N {
        let z = |column: Symbol| N::exactly(point.draw(Draw::Displacement(column)));
        gradient.iter().fold(N::zero(), |sum, (column, entry)| sum.plus(&value(entry).times(&z(*column))))
    };
    let rows = derivation.integrals.rows().zip(integrals);
    rows.map(|(row, integral)| along(&row.gradient).plus(&integral.minus(&value(&row.value)))).collect()
}
