//! The values that generated functions should return at a point: from the derivation's expressions and a dense solve, with no lowering and
//! no sharing.

use std::cell::{OnceCell, RefCell};
use std::collections::BTreeMap;
use std::rc::Rc;

use crate::derivation::table::Table;
use crate::derivation::{Derivation, Field, IntegralId, LinearSystem, Role, SparseRow};
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
    /// F
    integrals: OnceCell<Table<IntegralId, N>>,
    /// DF
    gradients: OnceCell<Table<IntegralId, Table<Symbol, N>>>,
    /// F_target
    pub(crate) targets: Table<IntegralId, f64>,
    /// c, and 0 for each integral that has none.
    pub(crate) multipliers: Table<IntegralId, N>,
    /// Values of expressions that may contain what is solved for.
    values: AtPoint<'a, N>,
    slopes: Rc<Slopes<'a>>,
}

/// Derivatives in 256 bits at one point, and targets, for the oracles of all numbers.
pub(crate) struct Slopes<'a> {
    derivation: &'a Derivation,
    targets: Table<IntegralId, f64>,
    by_states: AtPoint<'a, Differentiated<Real>>,
    by_velocities: AtPoint<'a, Differentiated<Real>>,
    /// M, row by row.
    mass_matrix: OnceCell<Vec<Real>>,
}

impl<'a> Slopes<'a> {
    pub(crate) fn new(derivation: &'a Derivation, point: &'a Point<'a>) -> Rc<Self> {
        let symbols = &derivation.symbols;
        let by = |is_variable: fn(Role) -> bool| -> AtPoint<'a, Differentiated<Real>> {
            Evaluation::new(Box::new(move |symbol| {
                varying(symbol, Real::from(point.symbol(symbol)), is_variable(symbols[symbol].role))
            }))
        };
        let (by_states, by_velocities) = (by(Role::is_state), by(|role| role == Role::Velocity));
        let targets = consistent_targets(derivation, point);
        Rc::new(Self { derivation, targets, by_states, by_velocities, mass_matrix: OnceCell::new() })
    }

    /// M = dp/dxi, row by row.
    fn mass_matrix(&self) -> &[Real] {
        self.mass_matrix.get_or_init(|| {
            let velocities = self.derivation.symbols.with(|role| role == Role::Velocity);
            let momenta = self.derivation.hamel.iter().flat_map(|hamel| &hamel.momenta);
            let momenta = momenta.filter(|(velocity, _)| velocities.contains(velocity));
            momenta.flat_map(|(_, momentum)| row(&self.by_velocities, momentum, &velocities)).collect()
        })
    }
}

/// The derivatives of an expression by these symbols.
fn row(slopes: &AtPoint<'_, Differentiated<Real>>, expression: &Expression, by: &[Symbol]) -> Vec<Real> {
    let differentiated = slopes.value(expression);
    let slope = |symbol: &Symbol| match &differentiated {
        Some(of) => of.gradient.get(symbol).cloned().unwrap_or_else(Real::zero),
        None => Real::undefined(),
    };
    by.iter().map(slope).collect()
}

/// Values that replace a point's values of some symbols, such as the solutions of linear systems.
type Known<N> = Rc<RefCell<BTreeMap<Symbol, N>>>;

/// The values of expressions at a point, where some symbols have other values.
fn values_at<'a, N: Numeric + 'a>(point: &'a Point<'a>, known: &Known<N>) -> AtPoint<'a, N> {
    let known = known.clone();
    Evaluation::new(Box::new(move |symbol| {
        known.borrow().get(&symbol).cloned().unwrap_or_else(|| N::of_symbol(point, symbol))
    }))
}

/// Solves the linear systems whose solutions are not known, one after the other. Each contains nothing that a later one is solved for.
fn solve<N: Numeric>(field: &Field, known: &Known<N>, values: &AtPoint<'_, N>, precision: f64) {
    for LinearSystem { unknowns, matrix, right_side } in &field.systems {
        if unknowns.iter().all(|unknown| known.borrow().contains_key(unknown)) {
            continue;
        }
        let value = |expression: &Expression| values.number(expression).known_to(precision);
        let rows = matrix.iter().map(|row| row.iter().map(value).collect()).collect();
        let solution = N::solve(rows, &right_side.iter().map(value).collect::<Vec<_>>());
        known.borrow_mut().extend(unknowns.iter().copied().zip(solution));
    }
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
    pub(crate) fn at(
        derivation: &'a Derivation,
        point: &'a Point<'a>,
        precision: f64,
        slopes: &Rc<Slopes<'a>>,
    ) -> Self {
        let known: Known<N> = Known::default();
        let values = values_at(point, &known);
        solve(&derivation.field, &known, &values, precision);
        let mut multipliers = derivation.integrals.map(|_| N::zero());
        for (symbol, value) in known.borrow().iter() {
            if let Some(constraint) = derivation.symbols.constraint(*symbol) {
                multipliers[constraint] = value.clone();
            }
        }
        let (targets, slopes) = (slopes.targets.clone(), slopes.clone());
        let (integrals, gradients) = Default::default();
        Self { derivation, point, integrals, gradients, targets, multipliers, values, slopes }
    }

    /// F
    pub(crate) fn integrals(&self) -> &Table<IntegralId, N> {
        let value = || self.derivation.integrals.map(|integral| self.values.number(&integral.value));
        self.integrals.get_or_init(value)
    }

    /// DF
    pub(crate) fn gradients(&self) -> &Table<IntegralId, Table<Symbol, N>> {
        let Derivation { symbols, integrals, .. } = self.derivation;
        let gradient = |gradient: &SparseRow| {
            let mut row = symbols.over_states(|_| N::zero());
            gradient.iter().for_each(|(state, entry)| row[*state] = self.values.number(entry));
            row
        };
        self.gradients.get_or_init(|| integrals.map(|integral| gradient(&integral.gradient)))
    }

    /// X
    pub(crate) fn vector_field(&self) -> Vec<N> {
        self.values(self.derivation.field.rates.rows())
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
        let states: Vec<Symbol> = self.derivation.symbols.states().collect();
        let rows = expressions.iter().flat_map(|expression| row(&self.slopes.by_states, expression, &states));
        rows.map(N::from).collect()
    }

    /// M = dp/dxi, row by row.
    pub(crate) fn mass_matrix(&self) -> Vec<N> {
        self.slopes.mass_matrix().iter().cloned().map(N::from).collect()
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
        self.integrals().iter().zip(targets).map(|((id, integral), target)| (id, integral.minus(&target)))
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
        let nonzero = |row: &Table<Symbol, N>| -> Vec<Symbol> {
            row.iter().filter(|(_, entry)| !entry.is_zero()).map(|(state, _)| state).collect()
        };
        let gradients = self.gradients();
        let columns = gradients.map(nonzero);
        let entry = |i: IntegralId, j: IntegralId| {
            let (a, b) = (&gradients[i], &gradients[j]);
            let common = columns[i].iter().filter(|state| !b[**state].is_zero());
            let product = sum(common.map(|state| variance(*state).times(&a[*state]).times(&b[*state])));
            if i != j {
                return product;
            }
            product.times(&N::exactly(1.0 + DAMPING)).plus(&N::exactly(self.point.draw(Draw::Noise(i))))
        };
        let ids = || self.derivation.integrals.ids();
        let gram = ids().map(|i| ids().map(|j| entry(i, j)).collect()).collect();
        let violation: Vec<N> = self.violation().map(|(_, change)| change).collect();
        self.combined(&N::solve(gram, &violation), variance)
    }

    /// S DF^T y for a diagonal matrix S.
    fn combined(&self, y: &[N], scale: impl Fn(Symbol) -> N) -> Vec<N> {
        let entry = |state: Symbol| {
            let terms = y.iter().zip(self.gradients().rows()).filter(|(_, row)| !row[state].is_zero());
            scale(state).times(&sum(terms.map(|(y, row)| y.times(&row[state]))))
        };
        self.derivation.symbols.states().map(entry).collect()
    }
}

fn sum<N: Numeric>(terms: impl Iterator<Item = N>) -> N {
    terms.fold(N::zero(), |sum, term| sum.plus(&term))
}
