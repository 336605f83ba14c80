//! The values that generated functions should return at a point: from the derivation's expressions and a dense solve, with no lowering and
//! no sharing.

use std::collections::BTreeMap;

use crate::derivation::table::Table;
use crate::derivation::{Derivation, Field, IntegralId, LinearSystem, Role};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{AtPoint, Differentiated, Evaluation, varying};
use crate::numbers::number::Numeric;
use crate::numbers::points::{Draw, Point, Unknown};
use crate::numbers::precise::Real;
use crate::program::build::projection::DAMPING;

/// The mathematics of a model at one point.
pub(crate) struct Oracle<'a, N> {
    pub(crate) derivation: &'a Derivation,
    point: &'a Point<'a>,
    /// The distance that the entries of linear systems may have from the exact ones, relative to their size.
    precision: f64,
    /// F
    pub(crate) integrals: Table<IntegralId, N>,
    /// DF
    pub(crate) gradients: Table<IntegralId, Table<Symbol, N>>,
    /// F_target
    pub(crate) targets: Table<IntegralId, f64>,
    /// c, and 0 for each integral that has none.
    pub(crate) multipliers: Table<IntegralId, N>,
    /// Values of expressions that may contain what is solved for.
    values: AtPoint<'a, N>,
    /// Values in 256 bits with their derivatives by the state.
    slopes: AtPoint<'a, Differentiated<Real>>,
}

/// The solutions of the linear systems at a point, where some symbols have values already.
fn solved<N: Numeric>(
    field: &Field,
    mut known: BTreeMap<Symbol, N>,
    point: &Point,
    precision: f64,
) -> BTreeMap<Symbol, N> {
    for LinearSystem { unknowns, matrix, right_side } in &field.systems {
        if unknowns.iter().all(|unknown| known.contains_key(unknown)) {
            continue;
        }
        let solution = {
            let values = Evaluation::new(|symbol| of_symbol(&known, point, symbol));
            let value = |expression: &Expression| values.number(expression).known_to(precision);
            let rows = matrix.iter().map(|row| row.iter().map(value).collect()).collect();
            N::solve(rows, &right_side.iter().map(value).collect::<Vec<_>>())
        };
        known.extend(unknowns.iter().copied().zip(solution));
    }
    known
}

/// The value of a symbol at a point, where some symbols have other values.
fn of_symbol<N: Numeric>(known: &BTreeMap<Symbol, N>, point: &Point, symbol: Symbol) -> N {
    known.get(&symbol).cloned().unwrap_or_else(|| N::of_symbol(point, symbol))
}

/// F - DF z for a z in general position: F differs from it by a violation that some state has, also where integrals are dependent.
fn consistent_targets(derivation: &Derivation, point: &Point) -> Table<IntegralId, f64> {
    let values: Evaluation<f64, _> = Evaluation::new(|symbol| point.symbol(symbol));
    derivation.integrals.map(|integral| {
        let moved =
            |(column, entry): (&Symbol, &Expression)| values.number(entry) * point.draw(Draw::Displacement(*column));
        values.number(&integral.value) - integral.gradient.iter().map(moved).sum::<f64>()
    })
}

impl<'a, N: Numeric + From<Real> + 'a> Oracle<'a, N> {
    pub(crate) fn at(derivation: &'a Derivation, point: &'a Point<'a>, precision: f64) -> Self {
        let values = Evaluation::new(|symbol| N::of_symbol(point, symbol));
        let value = |expression: &Expression| values.number(expression);
        let integrals = derivation.integrals.map(|integral| value(&integral.value));
        let gradients = derivation.integrals.map(|integral| {
            let mut row = derivation.symbols.over_states(|_| N::zero());
            integral.gradient.iter().for_each(|(state, entry)| row[*state] = value(entry));
            row
        });
        let solved = solved::<N>(&derivation.field, BTreeMap::new(), point, precision);
        let mut multipliers = derivation.integrals.map(|_| N::zero());
        for (symbol, value) in &solved {
            if let Some(constraint) = derivation.symbols.constraint(*symbol) {
                multipliers[constraint] = value.clone();
            }
        }
        let targets = consistent_targets(derivation, point);
        let values: AtPoint<'a, N> = Evaluation::new(Box::new(move |symbol| of_symbol(&solved, point, symbol)));
        let slopes: AtPoint<'a, _> = Evaluation::new(Box::new(|symbol| {
            varying(symbol, Real::from(point.symbol(symbol)), derivation.symbols.is_state(symbol))
        }));
        Self { derivation, point, precision, integrals, gradients, targets, multipliers, values, slopes }
    }

    /// X
    pub(crate) fn vector_field(&self) -> Vec<N> {
        self.values(self.derivation.field.rates.rows())
    }

    /// The constraints' part of X: the difference from the field in which all multipliers are 0.
    pub(crate) fn reaction_field(&self) -> Vec<N> {
        let Field { systems, rates } = &self.derivation.field;
        let is_multiplier = |symbol: &Symbol| self.derivation.symbols.constraint(*symbol).is_some();
        let unknowns = systems.iter().flat_map(|system| &system.unknowns).copied();
        let without = unknowns.filter(is_multiplier).map(|multiplier| (multiplier, N::zero())).collect();
        let free = solved::<N>(&self.derivation.field, without, self.point, self.precision);
        let values = Evaluation::new(|symbol| of_symbol(&free, self.point, symbol));
        let reaction = |(rate, x): (_, N)| x.minus(&values.number(rate));
        rates.rows().zip(self.vector_field()).map(reaction).collect()
    }

    /// The declared outputs.
    pub(crate) fn outputs(&self) -> Vec<N> {
        self.values(self.derivation.outputs.iter().map(|output| &output.value))
    }

    /// The values of expressions that may contain what is solved for.
    pub(crate) fn values<'e>(&self, expressions: impl IntoIterator<Item = &'e Expression>) -> Vec<N> {
        expressions.into_iter().map(|expression| self.values.number(expression)).collect()
    }

    /// The derivatives of expressions by the entries of the state, expression by expression, in 256 bits.
    pub(crate) fn derivatives(&self, expressions: &[Expression]) -> Vec<N> {
        let symbols = &self.derivation.symbols;
        let row = |expression: &Expression| {
            let differentiated = self.slopes.value(expression);
            let entry = |state: Symbol| match &differentiated {
                Some(of) => of.gradient.get(&state).cloned().map_or_else(N::zero, N::from),
                None => N::undefined(),
            };
            symbols.states().map(entry).collect::<Vec<_>>()
        };
        expressions.iter().flat_map(row).collect()
    }

    /// M = dp/dxi, row by row.
    pub(crate) fn mass_matrix(&self) -> Vec<N> {
        let symbols = &self.derivation.symbols;
        let momenta = self.derivation.hamel.iter().flat_map(|hamel| &hamel.momenta);
        let momenta = momenta.filter(|(velocity, _)| symbols[**velocity].role == Role::Velocity);
        let momenta: Vec<Expression> = momenta.map(|(_, momentum)| momentum.clone()).collect();
        let states: Vec<Symbol> = symbols.states().collect();
        let slopes = self.derivatives(&momenta).into_iter().zip(states.iter().cycle());
        slopes.filter(|(_, state)| symbols[**state].role == Role::Velocity).map(|(slope, _)| slope).collect()
    }

    /// M, or M_s where constraints determine velocities without inertia, row by row.
    fn mass_matrix_of_equations(&self) -> Vec<N> {
        if !self.derivation.hamel.as_ref().is_some_and(|hamel| hamel.is_augmented) {
            return self.mass_matrix();
        }
        let is_acceleration =
            |symbol: &Symbol| matches!(self.derivation.symbols[*symbol].role, Role::Acceleration { .. });
        let mut systems = self.derivation.field.systems.iter();
        let equations = systems.find(|system| system.unknowns.iter().any(is_acceleration));
        equations
            .iter()
            .flat_map(|system| system.matrix.iter().flatten())
            .map(|entry| self.values.number(entry))
            .collect()
    }

    /// M (a - z), where z are the accelerations without reactions.
    pub(crate) fn inverse_dynamics(&self) -> Vec<N> {
        let symbols = &self.derivation.symbols;
        let velocities = symbols.with(|role| role == Role::Velocity);
        let lacking = |(row, of): (usize, &Symbol)| {
            let own = symbols.only(Role::Acceleration { of: *of }).map_or_else(Expression::zero, Expression::from);
            N::exactly(self.point.draw(Draw::Weight(row))).minus(&self.values.number(&own))
        };
        let lacking: Vec<N> = velocities.iter().enumerate().map(lacking).collect();
        let matrix = self.mass_matrix_of_equations();
        let rows = matrix.chunks(velocities.len().max(1));
        rows.map(|row| sum(row.iter().zip(&lacking).map(|(entry, rate)| entry.times(rate)))).collect()
    }

    /// F - F_target
    fn violation(&self) -> impl Iterator<Item = (IntegralId, N)> {
        let targets = self.targets.iter().map(|(id, target)| N::varying(Unknown::Target(id), *target));
        self.integrals.iter().zip(targets).map(|((id, integral), target)| (id, integral.minus(&target)))
    }

    /// grad V, where y_i = k_i (F_i - t_i).
    pub(crate) fn potential_gradient(&self) -> Vec<N> {
        let weight = |(id, change): (_, N)| N::exactly(self.point.draw(Draw::Gain(id))).times(&change);
        self.combined(&self.violation().map(weight).collect::<Vec<_>>(), |_| N::exactly(1.0))
    }

    /// X - grad V, and 1 for the time.
    pub(crate) fn feedback_field(&self) -> Vec<N> {
        let time = self.derivation.symbols.only(Role::Time);
        let states = self.derivation.symbols.states();
        let entries = states.zip(self.vector_field()).zip(self.potential_gradient());
        entries.map(|((state, x), v)| if time == Some(state) { x } else { x.minus(&v) }).collect()
    }

    /// S DF^T (DF S DF^T + e D + R)^-1 (F - F_target)
    pub(crate) fn projection(&self) -> Vec<N> {
        let variance = |state| N::varying(Unknown::Variance(state), self.point.draw(Draw::Variance(state)));
        let dot = |a: &Table<Symbol, N>, b: &Table<Symbol, N>| -> N {
            let nonzero = a.iter().zip(b.rows()).filter(|((_, a), b)| !a.is_zero() && !b.is_zero());
            sum(nonzero.map(|((state, a), b)| variance(state).times(a).times(b)))
        };
        let entry = |i: IntegralId, j: IntegralId| {
            let product = dot(&self.gradients[i], &self.gradients[j]);
            if i != j {
                return product;
            }
            product.times(&N::exactly(1.0 + DAMPING)).plus(&N::exactly(self.point.draw(Draw::Noise(i))))
        };
        let ids = || self.integrals.ids();
        let gram = ids().map(|i| ids().map(|j| entry(i, j)).collect()).collect();
        let violation: Vec<N> = self.violation().map(|(_, change)| change).collect();
        self.combined(&N::solve(gram, &violation), variance)
    }

    /// |dF_i|^2
    pub(crate) fn squared_gradients(&self) -> Vec<N> {
        let time = self.derivation.symbols.only(Role::Time);
        let square = |row: &Table<Symbol, N>| {
            let moved = row.iter().filter(|(state, _)| time != Some(*state));
            sum(moved.map(|(_, entry)| entry.times(entry)))
        };
        self.gradients.rows().map(square).collect()
    }

    /// S DF^T y for a diagonal matrix S.
    fn combined(&self, y: &[N], scale: impl Fn(Symbol) -> N) -> Vec<N> {
        let entry = |state: Symbol| {
            let terms = y.iter().zip(self.gradients.rows());
            scale(state).times(&sum(terms.map(|(y, row)| y.times(&row[state]))))
        };
        self.derivation.symbols.states().map(entry).collect()
    }
}

fn sum<N: Numeric>(terms: impl Iterator<Item = N>) -> N {
    terms.fold(N::zero(), |sum, term| sum.plus(&term))
}
