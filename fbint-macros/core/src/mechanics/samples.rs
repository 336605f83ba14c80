//! dI.X evaluated in states chosen at random, to seventy digits.
//!
//! X is not taken from the generated code, nor from the brackets that were derived: of a Dirac field it is made of the
//! gradients alone, with C and b assembled in numbers.

use super::linear::Lu;
use super::states::{self, State};
use crate::derivation::{Conservation, Derivation, Evidence, Field};
use crate::expression::Expression;
use crate::precise::Real;

/// States in which a claim is tested.
const STATES: usize = 8;
/// A rate this small, relative to the terms that it is made of, is zero.
const NEGLIGIBLE: f64 = 1e-45;
/// Steps of the refinement of c, each of which gains ten digits or so.
const REFINEMENTS: usize = 30;

/// The states in which claims are tested, found when they are first needed.
pub(super) struct Samples<'a> {
    derivation: &'a Derivation,
    general: Option<Vec<Sample>>,
    consistent: Option<Vec<Sample>>,
}

/// A state and the field in it.
struct Sample {
    state: State,
    /// X, each component with the sum of its terms' sizes.
    field: Vec<(Real, f64)>,
}

impl<'a> Samples<'a> {
    pub(super) fn new(derivation: &'a Derivation) -> Self {
        Self { derivation, general: None, consistent: None }
    }

    /// The grade of an integral, or a state with the rate at which it changes there.
    pub(super) fn grade(&mut self, integral: usize) -> Result<Conservation, (Vec<f64>, f64)> {
        let derivation = self.derivation;
        let general = self.general.get_or_insert_with(|| {
            let states = states::general(derivation).map(|values| State::new(&values));
            states.filter_map(|state| Sample::new(derivation, state)).take(STATES).collect()
        });
        let general = rates(derivation, general, integral);
        if let Some(count) = number_of_zeros(&general) {
            return Ok(Conservation::Everywhere(Evidence::Samples(count)));
        }
        if derivation.constraint_count == 0 {
            return match self.round_witness(integral).or_else(|| largest(general)) {
                Some(witness) => Err(witness),
                None => Ok(Conservation::Undecided),
            };
        }
        let consistent = self.consistent.get_or_insert_with(|| {
            let states = states::general(derivation).take(4 * STATES);
            let states = states.filter_map(|start| states::consistent(derivation, start));
            states.filter_map(|state| Sample::new(derivation, state)).take(STATES).collect()
        });
        let consistent = rates(derivation, consistent, integral);
        match number_of_zeros(&consistent) {
            Some(count) => Ok(Conservation::OnConstraints(Evidence::Samples(count))),
            None => largest(consistent).map_or(Ok(Conservation::Undecided), Err),
        }
    }

    /// A witness whose numbers have two digits.
    fn round_witness(&self, integral: usize) -> Option<(Vec<f64>, f64)> {
        let round = |values: Vec<f64>| values.iter().map(|value| (value * 100.0).round() / 100.0).collect::<Vec<_>>();
        let states = states::general(self.derivation).take(STATES).map(|values| State::new(&round(values)));
        let samples: Vec<Sample> = states.filter_map(|state| Sample::new(self.derivation, state)).collect();
        largest(rates(self.derivation, &samples, integral))
    }
}

/// A state, dI.X in it, and the size of its terms.
struct Rate {
    state: Vec<f64>,
    value: f64,
    size: f64,
}

impl Rate {
    fn is_negligible(&self) -> bool {
        self.value.abs() <= NEGLIGIBLE * (self.size + 1.0)
    }
}

fn rates(derivation: &Derivation, samples: &[Sample], integral: usize) -> Vec<Rate> {
    samples.iter().filter_map(|sample| sample.rate(&derivation.gradients[integral])).collect()
}

/// How many rates there are, if there are some and all of them vanish.
fn number_of_zeros(rates: &[Rate]) -> Option<u32> {
    (!rates.is_empty() && rates.iter().all(Rate::is_negligible)).then_some(rates.len() as u32)
}

/// The state with the largest rate among those that do not vanish.
fn largest(rates: Vec<Rate>) -> Option<(Vec<f64>, f64)> {
    let rates = rates.into_iter().filter(|rate| !rate.is_negligible());
    let relative = |rate: &Rate| rate.value.abs() / (rate.size + f64::MIN_POSITIVE);
    let largest = rates.reduce(|best, rate| if relative(&rate) > relative(&best) { rate } else { best })?;
    Some((largest.state, largest.value))
}

impl Sample {
    fn new(derivation: &Derivation, state: State) -> Option<Self> {
        let field = match &derivation.field {
            Field::Given(rates) => {
                let rate = |rate: &Expression| {
                    let value = state.evaluate(rate)?;
                    let size = value.to_f64().abs();
                    Some((value, size))
                };
                rates.iter().map(rate).collect::<Option<_>>()?
            }
            Field::Dirac(constraints) => dirac_field(derivation, constraints.len(), &state)?,
        };
        Some(Self { state, field })
    }

    /// dI.X
    fn rate(&self, gradient: &[(usize, Expression)]) -> Option<Rate> {
        let (mut value, mut size) = (Real::zero(), 0.0);
        for (index, entry) in gradient {
            let entry = self.state.evaluate(entry)?;
            let (component, terms) = &self.field[*index];
            value = &value + &(&entry * component);
            size += entry.to_f64().abs() * terms;
        }
        Some(Rate { state: self.state.doubles(), value: value.to_f64(), size })
    }
}

type Row = Vec<(usize, Real)>;

/// X = J (grad H - Df^T c)
fn dirac_field(derivation: &Derivation, count: usize, state: &State) -> Option<Vec<(Real, f64)>> {
    let row = |integral: usize| -> Option<Row> {
        let entries = derivation.gradients[integral].iter();
        entries.map(|(index, entry)| Some((*index, state.evaluate(entry)?))).collect()
    };
    let constraints: Vec<Row> = (0..count).map(row).collect::<Option<_>>()?;
    let energy = row(derivation.energy?)?;
    let multipliers = multipliers(derivation.dimension, &constraints, &energy)?;
    let mut covector = vec![(Real::zero(), 0.0); derivation.dimension];
    let mut add = |index: usize, term: Real| {
        covector[index].1 += term.to_f64().abs();
        covector[index].0 = &covector[index].0 + &term;
    };
    energy.into_iter().for_each(|(index, entry)| add(index, entry));
    for (row, multiplier) in constraints.iter().zip(&multipliers) {
        row.iter().for_each(|(index, entry)| add(*index, -&(entry * multiplier)));
    }
    // x'_q = y_p and x'_p = -y_q.
    let (of_q, of_p) = covector.split_at(derivation.dimension / 2);
    let negative = of_q.iter().map(|(value, size)| (-value, *size));
    Some(of_p.iter().cloned().chain(negative).collect())
}

/// c with C^T c = b, from the brackets of gradients: solved in doubles and refined.
fn multipliers(dimension: usize, constraints: &[Row], energy: &Row) -> Option<Vec<Real>> {
    let n = constraints.len();
    let dense: Vec<Vec<Option<&Real>>> = constraints.iter().map(|row| scattered(row, dimension)).collect();
    let mut c = vec![vec![Real::zero(); n]; n];
    for i in 0..n {
        for j in i + 1..n {
            c[i][j] = bracket(&constraints[i], &dense[j]);
            c[j][i] = -&c[i][j];
        }
    }
    let b: Vec<Real> = dense.iter().map(|row| bracket(energy, row)).collect();
    let doubles = |i: usize| (0..n).map(|j| c[j][i].to_f64()).collect();
    let factors = Lu::factor((0..n).map(doubles).collect())?;
    let mut solution = vec![Real::zero(); n];
    for _ in 0..REFINEMENTS {
        let residual = |i: usize| {
            let terms = (0..n).filter(|&j| j != i).map(|j| &c[j][i] * &solution[j]);
            terms.fold(b[i].clone(), |rest, term| &rest - &term).to_f64()
        };
        let correction = factors.solve(&(0..n).map(residual).collect::<Vec<_>>());
        let is_small =
            solution.iter().zip(&correction).all(|(x, step)| step.abs() <= 1e-65 * (x.to_f64().abs() + 1e-3));
        if is_small {
            return Some(solution);
        }
        for (x, step) in solution.iter_mut().zip(correction) {
            *x = &*x + &Real::from(step);
        }
    }
    None
}

fn scattered(row: &Row, dimension: usize) -> Vec<Option<&Real>> {
    let mut dense = vec![None; dimension];
    row.iter().for_each(|(index, entry)| dense[*index] = Some(entry));
    dense
}

/// {f, g} = f_q . g_p - f_p . g_q
fn bracket(f: &Row, g: &[Option<&Real>]) -> Real {
    let n = g.len() / 2;
    let mut sum = Real::zero();
    for (index, entry) in f {
        let conjugate = if *index < n { index + n } else { index - n };
        if let Some(other) = g[conjugate] {
            let term = entry * other;
            sum = if *index < n { &sum + &term } else { &sum - &term };
        }
    }
    sum
}
