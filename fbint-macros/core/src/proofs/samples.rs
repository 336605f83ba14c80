//! dI.X evaluated in states chosen at random, to seventy digits.
//!
//! X is not taken from the generated code, nor from the brackets that were derived: that of a Dirac field is made of the
//! gradients alone, with C and b assembled in numbers.

use super::linear::Lu;
use super::states::{self, State, Values};
use crate::derivation::{Conservation, Derivation, Evidence, Field, IntegralId};
use crate::expression::{Expression, Symbol};
use crate::precise::Real;
use crate::table::Table;

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
    field: Table<Symbol, (Real, f64)>,
}

impl<'a> Samples<'a> {
    pub(super) fn new(derivation: &'a Derivation) -> Self {
        Self { derivation, general: None, consistent: None }
    }

    /// The grade of an integral, or a state with the rate at which it changes there.
    pub(super) fn grade(&mut self, integral: IntegralId) -> Result<Conservation, (Values, f64)> {
        let derivation = self.derivation;
        let general = self.general.get_or_insert_with(|| {
            let states = states::general(&derivation.symbols).map(|values| State::new(&values));
            states.filter_map(|state| Sample::new(derivation, state)).take(STATES).collect()
        });
        let general = rates(derivation, general, integral);
        if let Some(count) = number_of_zeros(&general) {
            return Ok(Conservation::Everywhere(Evidence::Samples(count)));
        }
        if derivation.integrals.constraints().next().is_none() {
            return match self.round_witness(integral).or_else(|| largest(general)) {
                Some(witness) => Err(witness),
                None => Ok(Conservation::Undecided),
            };
        }
        let consistent = self.consistent.get_or_insert_with(|| {
            let states = states::general(&derivation.symbols).take(4 * STATES);
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
    fn round_witness(&self, integral: IntegralId) -> Option<(Values, f64)> {
        let round = |values: Values| values.map(|value| (value * 100.0).round() / 100.0);
        let states = states::general(&self.derivation.symbols).take(STATES).map(|values| State::new(&round(values)));
        let samples: Vec<Sample> = states.filter_map(|state| Sample::new(self.derivation, state)).collect();
        largest(rates(self.derivation, &samples, integral))
    }
}

/// A state, dI.X in it, and the size of its terms.
struct Rate {
    state: Values,
    value: f64,
    size: f64,
}

impl Rate {
    fn is_negligible(&self) -> bool {
        self.value.abs() <= NEGLIGIBLE * (self.size + 1.0)
    }
}

fn rates(derivation: &Derivation, samples: &[Sample], integral: IntegralId) -> Vec<Rate> {
    samples.iter().filter_map(|sample| sample.rate(&derivation.integrals[integral].gradient)).collect()
}

/// How many rates there are, if there are some and all of them vanish.
fn number_of_zeros(rates: &[Rate]) -> Option<u32> {
    (!rates.is_empty() && rates.iter().all(Rate::is_negligible)).then_some(rates.len() as u32)
}

/// The state with the largest rate among those that do not vanish.
fn largest(rates: Vec<Rate>) -> Option<(Values, f64)> {
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
                rates.rows().map(rate).collect::<Option<_>>()?
            }
            Field::Dirac(constraints) => dirac_field(derivation, &constraints.members(), &state)?,
        };
        Some(Self { state, field })
    }

    /// dI.X
    fn rate(&self, gradient: &[(Symbol, Expression)]) -> Option<Rate> {
        let (mut value, mut size) = (Real::zero(), 0.0);
        for (symbol, entry) in gradient {
            let entry = self.state.evaluate(entry)?;
            let (component, terms) = &self.field[*symbol];
            value = &value + &(&entry * component);
            size += entry.to_f64().abs() * terms;
        }
        Some(Rate { state: self.state.doubles(), value: value.to_f64(), size })
    }
}

type Row = Vec<(Symbol, Real)>;

/// X = J (grad H - Df^T c)
fn dirac_field(derivation: &Derivation, members: &[IntegralId], state: &State) -> Option<Table<Symbol, (Real, f64)>> {
    let row = |integral: IntegralId| -> Option<Row> {
        let entries = derivation.integrals[integral].gradient.iter();
        entries.map(|(symbol, entry)| Some((*symbol, state.evaluate(entry)?))).collect()
    };
    let constraints: Vec<Row> = members.iter().map(|&member| row(member)).collect::<Option<_>>()?;
    let energy = row(derivation.integrals.energy()?)?;
    let multipliers = multipliers(derivation, state, &constraints, &energy)?;
    let mut covector = derivation.symbols.over_states(|_| (Real::zero(), 0.0));
    let mut add = |symbol: Symbol, term: Real| {
        covector[symbol].1 += term.to_f64().abs();
        covector[symbol].0 = &covector[symbol].0 + &term;
    };
    energy.into_iter().for_each(|(symbol, entry)| add(symbol, entry));
    for (row, multiplier) in constraints.iter().zip(&multipliers) {
        row.iter().for_each(|(symbol, entry)| add(*symbol, -&(entry * multiplier)));
    }
    let component = |x: Symbol| {
        let terms = derivation.structure.bracket(&derivation.symbols, [(x, ())], |y| Some(&covector[y]));
        let (mut value, mut size) = (Real::zero(), 0.0);
        for ((), entry, (term, magnitude)) in terms {
            let entry = state.entry(entry)?;
            value = &value + &(&entry * term);
            size += entry.to_f64().abs() * magnitude;
        }
        Some((value, size))
    };
    derivation.symbols.states().map(component).collect()
}

/// c with C^T c = b, from the brackets of gradients: solved in doubles and refined.
fn multipliers(derivation: &Derivation, state: &State, constraints: &[Row], energy: &Row) -> Option<Vec<Real>> {
    let n = constraints.len();
    let bracket = |f: &Row, g: &Row| bracket(derivation, state, f, g);
    let mut c = vec![vec![Real::zero(); n]; n];
    for i in 0..n {
        for j in i + 1..n {
            c[i][j] = bracket(&constraints[i], &constraints[j])?;
            c[j][i] = -&c[i][j];
        }
    }
    let b: Vec<Real> = constraints.iter().map(|row| bracket(energy, row)).collect::<Option<_>>()?;
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

/// {f, g}, from the entries of the gradients that do not vanish.
fn bracket(derivation: &Derivation, state: &State, f: &Row, g: &Row) -> Option<Real> {
    let slopes = f.iter().map(|(symbol, slope)| (*symbol, slope));
    let other = |symbol: Symbol| Some(&g[g.binary_search_by_key(&symbol, |(symbol, _)| *symbol).ok()?].1);
    let terms = derivation.structure.bracket(&derivation.symbols, slopes, other);
    terms.into_iter().try_fold(Real::zero(), |sum, (f, entry, g)| Some(&sum + &(&state.entry(entry)? * &(f * g))))
}
