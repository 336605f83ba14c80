//! What else is conserved: a search among polynomials in the state and in the functions that occur.
//!
//! f -> X(f) is linear. On the span of the monomials up to a degree, its kernel is that of a matrix with a row for each point of the
//! state space, or of the constraint set, modulo a random prime of 62 bits. Functions are elements with the relations that
//! [`identities`](super::identities) lists.
//!
//! First the parameters are random, too, other ones at each point: that gives the functions whose coefficients are numbers. Then they are
//! the same at all points. Of what is in the kernel then, and independent of what is declared and of what was found before, the short forms
//! are solved for again at points with other parameters, with coefficients that are polynomials in these. Reconstruction of rational numbers
//! gives the rest, and what comes out is proved as a declared invariant is.
//!
//! No polynomial whose coefficients are rational in the parameters is overlooked because of the prime or the points, which can only make
//! the kernel too large: what is in it beyond what is declared and found is counted. That the rest of it consists of functions of these
//! is decided by a rank at a random point modulo the prime, which is too small with a probability of at most the degree of its minors
//! over 2^61. Where that is not below 1e-8, nothing is searched.

use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{One, Signed};

use super::conservation::grade;
use super::identities::seed_and_scale;
use super::point::{ModularPoint, Set};
use super::rates::{constraint_set, field, parts_of_field};
use crate::derivation::table::Id;
use crate::derivation::{Derivation, Field, Further, FurtherIntegral, Integral, Kind, Searched, column_of};
use crate::expression::{Expression, Function, Symbol};
use crate::numbers::derivative::{Differentiated, gradient};
use crate::numbers::field::{PrimeField, primes};
use crate::numbers::linear::Echelon;
use crate::numbers::random::Random;
use crate::numbers::ring::{Element, LARGEST_DIMENSION};

/// The degree of what is looked at without being asked for.
const DEGREE: usize = 2;
/// Monomials that are looked at without being asked for.
const MOST_UNASKED: usize = 105;
/// The most monomials that are looked at.
pub const MOST_MONOMIALS: usize = 1100;
/// Nodes of the field's expressions, times monomials, beyond which nothing is looked at without being asked for, and at all.
const WORK_UNASKED: usize = 40_000;
const MOST_WORK: usize = 20_000_000;
/// Points beyond those that the unknowns need, and points that may be undefined.
const SPARE: usize = 4;
const UNDEFINED: usize = 3;
/// The degree of coefficients in the parameters, and the most numbers in all coefficients together.
const DEGREE_IN_PARAMETERS: usize = 4;
const MOST_NUMBERS: usize = 300;

/// A combination of monomials: their places in ascending order, with coefficients that are not 0.
type Combination = Vec<(usize, u64)>;

/// Searches polynomials up to the degree that is asked for, or up to degree 2 as far as that takes little work.
pub fn further(derivation: &Derivation, asked: Option<usize>) -> Further {
    let parts = parts_of_field(derivation);
    let size = parts.iter().map(Expression::size).fold(1, usize::saturating_add);
    let (most, most_work) = if asked.is_some() { (MOST_MONOMIALS, MOST_WORK) } else { (MOST_UNASKED, WORK_UNASKED) };
    if size > most_work {
        return Further::default();
    }
    let atoms = atoms(derivation, &parts);
    let ranges = match asked {
        Some(degree) => vec![(degree, &atoms[..])],
        None => vec![(DEGREE, &atoms[..]), (DEGREE, &[]), (1, &[])],
    };
    let fits = |(degree, atoms): &(usize, &[Expression])| {
        let count = monomials(derivation.dimension() + atoms.len(), *degree);
        count <= most && count.saturating_mul(size) <= most_work
    };
    let range = ranges.into_iter().find(fits);
    range.and_then(|(degree, atoms)| Space::new(derivation, parts, atoms, degree)?.search()).unwrap_or_default()
}

/// The number of monomials that a search takes which is asked for.
pub fn monomials_up_to(derivation: &Derivation, degree: usize) -> usize {
    monomials(derivation.dimension() + atoms(derivation, &parts_of_field(derivation)).len(), degree)
}

/// The number of monomials up to a degree, without 1.
fn monomials(variables: usize, degree: usize) -> usize {
    (1..=degree).fold(1_usize, |count, d| count.saturating_mul(variables + d) / d) - 1
}

/// The functions of the state that occur: roots, reciprocals, and calls.
fn atoms(derivation: &Derivation, parts: &[Expression]) -> Vec<Expression> {
    let mut atoms = Vec::new();
    let values = derivation.integrals.rows().map(|integral| &integral.value);
    parts.iter().chain(values).for_each(|part| collect(part, derivation, &mut atoms));
    if matches!(derivation.field, Field::Given(_)) && !parts.is_empty() {
        let is_factor = |state: &Symbol| is_factor_of_rate(derivation, parts, *state);
        let logarithm = |state: Symbol| Expression::call(Function::Ln, [Expression::from(state)]);
        let logarithms: Vec<Expression> = derivation.symbols.states().filter(is_factor).map(logarithm).collect();
        atoms.extend(logarithms.into_iter().filter(|logarithm| !atoms.contains(logarithm)).collect::<Vec<_>>());
    }
    atoms
}

fn collect(expression: &Expression, derivation: &Derivation, atoms: &mut Vec<Expression>) {
    if !expression.symbols().iter().any(|symbol| derivation.symbols.is_state(*symbol)) {
        return;
    }
    let atom = match expression {
        Expression::Power(base, exponent) if !exponent.is_integer() || exponent.is_negative() => {
            let sign = if exponent.is_negative() { -BigInt::one() } else { BigInt::one() };
            (**base).clone().power(BigRational::new(sign, exponent.denom().clone())).ok()
        }
        Expression::Call(..) => Some(expression.clone()),
        _ => None,
    };
    atoms.extend(atom.filter(|atom| !atoms.contains(atom)));
    expression.children().for_each(|child| collect(child, derivation, atoms));
}

/// Whether x divides its own rate, so that the rate of ln x is a polynomial where that of x is.
fn is_factor_of_rate(derivation: &Derivation, rates: &[Expression], state: Symbol) -> bool {
    let Some((seed, scale)) = seed_and_scale(&rates.iter().collect::<Vec<_>>(), 1) else { return false };
    let Some(field) = primes(seed).next() else { return false };
    let mut point = ModularPoint::new(field, seed, scale);
    let rate = &rates[state.place()];
    let is_moving = point.evaluate(rate).is_some_and(|rate| !rate.is_empty());
    let mut point = ModularPoint::new(field, seed, scale);
    point.bind(state, Element::new());
    is_moving && derivation.symbols.is_state(state) && point.evaluate(rate).is_some_and(|rate| rate.is_empty())
}

/// A product of an earlier monomial, or 1, and a variable.
struct Monomial {
    of: Option<usize>,
    variable: usize,
    degree: usize,
}

/// The monomials at a point, their values and their rates, and the parameters.
struct Sample {
    parameters: Vec<u64>,
    values: Vec<Element>,
    rates: Vec<Element>,
}

/// The span of monomials on which the kernel is looked for.
struct Space<'a> {
    derivation: &'a Derivation,
    /// What roots are made known in.
    parts: Vec<Expression>,
    /// The parts of the constraint set, or the whole space.
    sets: Vec<Set<'a>>,
    /// The functions beside the state.
    atoms: &'a [Expression],
    /// What monomials are made of, with the derivatives by the state.
    variables: Vec<Differentiated<Expression>>,
    monomials: Vec<Monomial>,
    degree: usize,
    parameters: Vec<Symbol>,
    field: PrimeField,
    seed: u64,
    scale: u64,
}

impl<'a> Space<'a> {
    fn new(
        derivation: &'a Derivation,
        mut parts: Vec<Expression>,
        atoms: &'a [Expression],
        degree: usize,
    ) -> Option<Self> {
        let symbols = &derivation.symbols;
        let mut sets = constraint_set(derivation);
        if sets.is_empty() {
            sets.push(Set::default());
        }
        let variable = |value: Expression| {
            let gradient = gradient(&value, |symbol| symbols.is_state(symbol))?;
            Some(Differentiated { value, gradient })
        };
        let values = symbols.states().map(Expression::from).chain(atoms.iter().cloned());
        let variables: Vec<Differentiated<Expression>> = values.map(variable).collect::<Option<_>>()?;
        parts.extend(derivation.integrals.rows().map(|integral| integral.value.clone()));
        parts.extend(variables.iter().flat_map(|variable| variable.gradient.values().cloned()));
        parts.extend(atoms.iter().cloned());
        // Coefficients are quotients of minors of the matrix of rates, and the rank is one of minors of gradients.
        let monomials = products(variables.len(), degree);
        let factor = (LARGEST_DIMENSION * monomials.len() * variables.len()) as u64;
        let (seed, scale) = seed_and_scale(&parts.iter().collect::<Vec<_>>(), factor)?;
        let occurring = |symbol: &Symbol| parts.iter().any(|part| part.symbols().contains(symbol));
        Some(Self {
            derivation,
            sets,
            atoms,
            monomials,
            variables,
            degree,
            parameters: symbols.parameters().filter(occurring).collect(),
            field: primes(seed).next()?,
            seed,
            scale,
            parts,
        })
    }

    fn search(&self) -> Option<Further> {
        let columns = self.columns()?;
        let mut general = Samples::new(self, None);
        let constant: Vec<Combination> = general.kernel(columns.len(), |sample| sample.rates_of(&columns))?;
        let constant = constant.into_iter().map(|combination| on(&columns, combination)).collect();
        let mut found: Vec<FurtherIntegral> = Vec::new();
        for combination in self.shortest(constant, &[])? {
            found.extend(self.proved(&mut general, &combination, 0));
        }
        let parameters = self.random_parameters(0);
        let mut samples = Samples::new(self, Some(parameters.clone()));
        let kernel = samples.kernel(columns.len(), |sample| sample.rates_of(&columns))?;
        let kernel = kernel.into_iter().map(|combination| on(&columns, combination)).collect();
        let mut others = 0;
        for combination in self.shortest(kernel, &found)? {
            let proved = (0..=DEGREE_IN_PARAMETERS).find_map(|degree| self.proved(&mut general, &combination, degree));
            others += usize::from(proved.is_none());
            found.extend(proved);
        }
        let states = self.derivation.dimension();
        let is_new = |place: &usize| columns.contains(&(states + place));
        let atoms = (0..self.atoms.len()).filter(is_new).map(|place| self.atoms[place].clone()).collect();
        let searched = Searched { degree: self.degree, atoms, unknowns: columns.len() };
        Some(Further { found, others, searched: Some(searched) })
    }

    /// The monomials that are not combinations of earlier ones, and of 1, as functions.
    fn columns(&self) -> Option<Vec<usize>> {
        let all: Vec<usize> = (0..self.monomials.len()).collect();
        if self.atoms.is_empty() && self.sets[0].is_everywhere() {
            return Some(all);
        }
        let with_one = |sample: &Sample| [vec![1]].into_iter().chain(sample.values.iter().cloned()).collect();
        let relations = Samples::new(self, None).kernel(all.len() + 1, with_one)?;
        let is_new = |column: &usize| relations.iter().all(|relation| last(relation) != *column + 1);
        Some(all.into_iter().filter(is_new).collect())
    }

    /// Those combinations of a kernel that are independent of what is declared, of what was found, and of one another, in short forms, the
    /// shortest first.
    fn shortest(&self, kernel: Vec<Combination>, found: &[FurtherIntegral]) -> Option<Vec<Combination>> {
        let mut candidates = kernel.clone();
        candidates.sort_by_key(|combination| self.length(combination));
        let chosen = self.independent(&candidates, found)?;
        let mut short: Vec<Combination> =
            chosen.into_iter().map(|combination| shortened(combination, &kernel, self.field)).collect();
        short.sort_by_key(|combination| self.length(combination));
        short.extend(candidates);
        self.independent(&short, found)
    }

    /// The residues of the parameters at the point of this number.
    fn random_parameters(&self, number: u64) -> Vec<u64> {
        let mut random = Random(!self.seed ^ number);
        self.parameters.iter().map(|_| random.next() % self.field.0).collect()
    }

    /// What the shortest comes first by: the degree, and the number of terms.
    fn length(&self, combination: &Combination) -> (usize, usize, Vec<usize>) {
        let degree = combination.iter().map(|(place, _)| self.monomials[*place].degree).max().unwrap_or(0);
        (degree, combination.len(), combination.iter().map(|(place, _)| *place).collect())
    }

    /// The point of this number, with the parameters given.
    fn point(&self, parameters: &[u64], number: u64) -> Option<ModularPoint> {
        let mut point = ModularPoint::new(self.field, self.seed ^ number << 32, self.scale);
        for (symbol, residue) in self.parameters.iter().zip(parameters) {
            let element = point.ring.number(*residue);
            point.bind(*symbol, element);
        }
        point.satisfy(&self.sets[number as usize % self.sets.len()])?;
        self.parts.iter().for_each(|part| point.know_roots(part));
        Some(point)
    }

    /// The values of the variables at a point, and their derivatives by the state.
    fn variables_at(&self, point: &mut ModularPoint) -> Option<Vec<Differentiated<Element>>> {
        let mut all = Vec::new();
        for Differentiated { value, gradient } in &self.variables {
            let value = point.evaluate(value)?;
            let slope = |(state, slope): (&Symbol, &Expression)| Some((*state, point.evaluate(slope)?));
            all.push(Differentiated { value, gradient: gradient.iter().map(slope).collect::<Option<_>>()? });
        }
        Some(all)
    }

    fn sample(&self, parameters: Vec<u64>, number: u64) -> Option<Sample> {
        let mut point = self.point(&parameters, number)?;
        let velocity = field(&mut point, self.derivation)?;
        let variables = self.variables_at(&mut point)?;
        let ring = &point.ring;
        let rate = |variable: &Differentiated<Element>| {
            let slopes = variable.gradient.iter();
            let terms = slopes.map(|(state, slope)| ring.multiply(slope, &velocity[state.place()]));
            terms.fold(Element::new(), |sum, term| ring.add(&sum, &term))
        };
        let rates_of_variables: Vec<Element> = variables.iter().map(rate).collect();
        let mut sample = Sample { parameters, values: Vec::new(), rates: Vec::new() };
        for Monomial { of, variable, .. } in &self.monomials {
            let (value, rate) = (&variables[*variable].value, &rates_of_variables[*variable]);
            let (value, rate) = match of {
                None => (value.clone(), rate.clone()),
                Some(of) => {
                    let (other, change) = (&sample.values[*of], &sample.rates[*of]);
                    (ring.multiply(other, value), ring.add(&ring.multiply(change, value), &ring.multiply(other, rate)))
                }
            };
            sample.values.push(value);
            sample.rates.push(rate);
        }
        Some(sample)
    }

    /// The derivatives of the monomials by the state at a point.
    fn slopes(&self, point: &mut ModularPoint) -> Option<Vec<Vec<Element>>> {
        let variables = self.variables_at(point)?;
        let ring = &point.ring;
        let mut all: Vec<(Element, Vec<Element>)> = Vec::new();
        for Monomial { of, variable, .. } in &self.monomials {
            let Differentiated { value, gradient } = &variables[*variable];
            let (factor, mut row) = match of {
                None => (ring.one(), vec![Element::new(); self.derivation.dimension()]),
                Some(of) => (all[*of].0.clone(), all[*of].1.iter().map(|slope| ring.multiply(slope, value)).collect()),
            };
            for (state, slope) in gradient {
                let entry = &mut row[state.place()];
                *entry = ring.add(entry, &ring.multiply(&factor, slope));
            }
            all.push((ring.multiply(&factor, value), row));
        }
        Some(all.into_iter().map(|(_, row)| row).collect())
    }

    /// Those that are functions neither of what is declared, nor of what was found, nor of those before.
    fn independent(&self, combinations: &[Combination], found: &[FurtherIntegral]) -> Option<Vec<Combination>> {
        (0..UNDEFINED as u64).find_map(|attempt| {
            let mut point = self.point(&self.random_parameters(0), (1 << 20) + attempt)?;
            let slopes = self.slopes(&mut point)?;
            let states: Vec<Symbol> = self.derivation.symbols.states().collect();
            let zero = Expression::zero;
            let declared = self.derivation.integrals.ids().map(|id| {
                states.iter().map(|state| self.derivation.entry(id, *state).cloned().unwrap_or_else(zero)).collect()
            });
            let found = found.iter().map(|FurtherIntegral { gradient, .. }| {
                states.iter().map(|state| column_of(gradient, *state).cloned().unwrap_or_else(zero)).collect()
            });
            let known: Vec<Vec<Expression>> = declared.chain(found).collect();
            let mut columns: Vec<Vec<Element>> = Vec::new();
            for gradient in &known {
                columns.push(gradient.iter().map(|entry| point.evaluate(entry)).collect::<Option<_>>()?);
            }
            let ring = &point.ring;
            columns.extend(combinations.iter().map(|combination| {
                let mut column = vec![Element::new(); states.len()];
                for (place, factor) in combination {
                    let factor = ring.number(*factor);
                    for (entry, slope) in column.iter_mut().zip(&slopes[*place]) {
                        *entry = ring.add(entry, &ring.multiply(&factor, slope));
                    }
                }
                column
            }));
            let row = |state: usize| columns.iter().map(|column| column[state].clone()).collect();
            let mut matrix = Echelon::new(ring, (0..states.len()).map(row).collect());
            let pivots = (0..columns.len()).map(|column| matrix.pivot(column, 0.0)).collect::<Option<Vec<bool>>>()?;
            let independent = combinations.iter().zip(&pivots[known.len()..]).filter(|(_, is_pivot)| **is_pivot);
            Some(independent.map(|(combination, _)| combination.clone()).collect())
        })
    }

    /// A function in these monomials with coefficients of this degree in the parameters, if there is one and it is proved.
    fn proved(&self, general: &mut Samples<'_>, combination: &Combination, degree: usize) -> Option<FurtherIntegral> {
        let value = self.for_all_parameters(general, combination, degree)?;
        let is_state = |symbol| self.derivation.symbols.is_state(symbol);
        let gradient: Vec<(Symbol, Expression)> = gradient(&value, is_state)?.into_iter().collect();
        let mut derivation = self.derivation.clone();
        let integral = derivation.integrals.push(Integral {
            name: String::new(),
            latex: String::new(),
            kind: Kind::Invariant,
            weight: 1,
            assumed: false,
            value: value.clone(),
            gradient: gradient.clone(),
        });
        grade(&derivation, integral).map(|grade| FurtherIntegral { value, gradient, grade })
    }

    fn for_all_parameters(
        &self,
        general: &mut Samples<'_>,
        combination: &Combination,
        degree: usize,
    ) -> Option<Expression> {
        let columns: Vec<usize> = combination.iter().map(|(place, _)| *place).collect();
        let powers = products(self.parameters.len(), degree);
        let count = powers.len() + 1;
        if columns.len() * count > MOST_NUMBERS {
            return None;
        }
        let kernel = general.kernel(columns.len() * count, |sample| {
            let factors = sample.products_of_parameters(&powers, self.field);
            let times =
                |element: &Element, factor: u64| element.iter().map(|x| self.field.multiply(*x, factor)).collect();
            let terms = columns.iter().flat_map(|column| {
                let rate = &sample.rates[*column];
                factors.iter().map(move |factor| times(rate, *factor))
            });
            terms.collect()
        })?;
        let numbers = kernel.iter().min_by_key(|numbers| numbers.len())?;
        let scale = self.field.inverse(numbers.first()?.1)?;
        let rational = numbers.iter().map(|(_, residue)| rational(self.field.multiply(*residue, scale), self.field));
        let rational = rational.collect::<Option<Vec<BigRational>>>()?;
        let common = rational.iter().fold(BigInt::one(), |common, number| common.lcm(number.denom()));
        let parameters: Vec<Expression> = self.parameters.iter().map(|symbol| Expression::from(*symbol)).collect();
        let variables: Vec<Expression> = self.variables.iter().map(|variable| variable.value.clone()).collect();
        let term = |((place, _), number): (&(usize, u64), BigRational)| {
            let number = Expression::Number(number * BigRational::from_integer(common.clone()));
            let of_parameters = (place % count).checked_sub(1).map(|place| factors(&powers, place, &parameters));
            let of_state = factors(&self.monomials, columns[place / count], &variables);
            Expression::product([number].into_iter().chain(of_parameters.into_iter().flatten()).chain(of_state))
        };
        Some(Expression::sum(numbers.iter().zip(rational).map(term)))
    }
}

/// The powers of these variables that a monomial consists of.
fn factors(monomials: &[Monomial], monomial: usize, variables: &[Expression]) -> Vec<Expression> {
    let mut powers = vec![0; variables.len()];
    let mut rest = Some(monomial);
    while let Some(Monomial { of, variable, .. }) = rest.map(|place| &monomials[place]) {
        powers[*variable] += 1;
        rest = *of;
    }
    variables.iter().zip(powers).filter_map(|(variable, power)| raised(variable.clone(), power)).collect()
}

/// A combination of columns, as one of what the columns stand for.
fn on(columns: &[usize], combination: Combination) -> Combination {
    combination.into_iter().map(|(place, entry)| (columns[place], entry)).collect()
}

impl Sample {
    fn rates_of(&self, columns: &[usize]) -> Vec<Element> {
        columns.iter().map(|column| self.rates[*column].clone()).collect()
    }

    /// 1 and products of parameters.
    fn products_of_parameters(&self, products: &[Monomial], field: PrimeField) -> Vec<u64> {
        let mut values = vec![1];
        for Monomial { of, variable, .. } in products {
            let factor = of.map_or(1, |of| values[of + 1]);
            values.push(field.multiply(factor, self.parameters[*variable]));
        }
        values
    }
}

/// A power of a variable, unless the exponent is 0.
fn raised(base: Expression, power: usize) -> Option<Expression> {
    let power = BigRational::from_integer(power.into());
    let (base, exponent) = match base {
        Expression::Power(base, exponent) => ((*base).clone(), exponent * &power),
        base => (base, power.clone()),
    };
    (power >= BigRational::one()).then(|| base.power(exponent).ok()).flatten()
}

/// The monomials up to a degree, of lower degrees first.
fn products(variables: usize, degree: usize) -> Vec<Monomial> {
    let variables = if degree == 0 { 0 } else { variables };
    let mut all: Vec<Monomial> = (0..variables).map(|variable| Monomial { of: None, variable, degree: 1 }).collect();
    let mut first = 0;
    for degree in 2..=degree {
        let last = all.len();
        for of in first..last {
            for variable in all[of].variable..variables {
                all.push(Monomial { of: Some(of), variable, degree });
            }
        }
        first = last;
    }
    all
}

fn last(combination: &Combination) -> usize {
    combination.last().map_or(0, |(place, _)| *place)
}

/// The combination minus multiples of others that make it shorter, as long as there are any.
fn shortened(mut combination: Combination, kernel: &[Combination], field: PrimeField) -> Combination {
    let shorter = |combination: &Combination| {
        let of_degree = kernel.iter().filter(|other| last(other) <= last(combination));
        let differences = of_degree.flat_map(|other| {
            let common = other.iter().filter_map(|(place, entry)| {
                let (_, own) = combination.iter().find(|(own, _)| own == place)?;
                Some(field.multiply(*own, field.inverse(*entry)?))
            });
            let difference = |factor| difference(combination, factor, other, field);
            common.map(difference).collect::<Vec<_>>()
        });
        differences.filter(|difference| !difference.is_empty()).min_by_key(Vec::len)
    };
    while let Some(better) = shorter(&combination).filter(|better| better.len() < combination.len()) {
        combination = better;
    }
    combination
}

/// a - factor b
fn difference(a: &Combination, factor: u64, b: &Combination, field: PrimeField) -> Combination {
    let mut entries: BTreeMap<usize, u64> = a.iter().copied().collect();
    for (place, entry) in b {
        let own = entries.entry(*place).or_insert(0);
        *own = field.add(*own, field.negative(field.multiply(factor, *entry)));
    }
    entries.into_iter().filter(|(_, entry)| *entry != 0).collect()
}

/// The rational number with small numerator and denominator of which this is the residue.
fn rational(residue: u64, field: PrimeField) -> Option<BigRational> {
    const LARGEST: i128 = 1 << 28;
    let (mut before, mut now) = ((i128::from(field.0), 0_i128), (i128::from(residue), 1_i128));
    while now.0 > LARGEST {
        let quotient = before.0 / now.0;
        (before, now) = (now, (before.0 - quotient * now.0, before.1 - quotient * now.1));
    }
    (now.1.abs() <= LARGEST && now.1 != 0).then(|| BigRational::new(now.0.into(), now.1.into()))
}

/// Points, as many as are needed.
struct Samples<'a> {
    space: &'a Space<'a>,
    /// The parameters at all points; `None` where each point has its own.
    parameters: Option<Vec<u64>>,
    list: Vec<Sample>,
    next: u64,
}

impl<'a> Samples<'a> {
    fn new(space: &'a Space<'a>, parameters: Option<Vec<u64>>) -> Self {
        Self { space, parameters, list: Vec::new(), next: 1 }
    }

    /// Makes the list this long, unless too many points are undefined.
    fn extend(&mut self, count: usize) -> Option<()> {
        while self.list.len() < count {
            if self.next as usize > UNDEFINED + 2 * self.list.len() {
                return None;
            }
            let parameters = self.parameters.clone().unwrap_or_else(|| self.space.random_parameters(self.next));
            self.list.extend(self.space.sample(parameters, self.next));
            self.next += 1;
        }
        Some(())
    }

    /// The combinations of this many elements that vanish at all points: each coefficient of an element gives an equation. There are
    /// points until two further ones change nothing.
    fn kernel(&mut self, width: usize, elements: impl Fn(&Sample) -> Vec<Element>) -> Option<Vec<Combination>> {
        let field = self.space.field;
        let (mut count, mut enough) = (0, width);
        let mut rows: Vec<Vec<u64>> = Vec::new();
        loop {
            while count < width + SPARE && rows.len() < enough {
                self.extend(count + 1)?;
                rows.extend(equations(&elements(&self.list[count])));
                count += 1;
            }
            let kernel = kernel_of(field, rows.clone(), width)?;
            self.extend(count + 2)?;
            let further: Vec<Vec<u64>> =
                self.list[count..count + 2].iter().flat_map(|sample| equations(&elements(sample))).collect();
            let is_kept = |combination: &Combination| further.iter().all(|row| vanishes(field, row, combination));
            if kernel.iter().all(is_kept) {
                return Some(kernel);
            }
            if count >= width + SPARE {
                return None;
            }
            enough = rows.len() + width;
        }
    }
}

/// The kernel of a matrix: a combination for each column that depends on those before it.
fn kernel_of(field: PrimeField, rows: Vec<Vec<u64>>, width: usize) -> Option<Vec<Combination>> {
    let mut matrix = Echelon::new(field, rows);
    let pivots = (0..width).map(|column| matrix.pivot(column, 0.0)).collect::<Option<Vec<bool>>>()?;
    let combination = |column: usize| {
        let before = matrix.combination(column).into_iter().filter(|(_, entry)| *entry != 0);
        before.chain([(column, field.negative(1))]).collect()
    };
    Some((0..width).filter(|column| !pivots[*column]).map(combination).collect())
}

fn vanishes(field: PrimeField, row: &[u64], combination: &Combination) -> bool {
    let terms = combination.iter().map(|(column, entry)| field.multiply(row[*column], *entry));
    terms.fold(0, |sum, term| field.add(sum, term)) == 0
}

/// The rows of the coefficients that do not all vanish.
fn equations(elements: &[Element]) -> Vec<Vec<u64>> {
    let longest = elements.iter().map(Vec::len).max().unwrap_or(0);
    let row = |place: usize| elements.iter().map(|element| element.get(place).copied().unwrap_or(0)).collect();
    (0..longest).map(row).filter(|row: &Vec<u64>| row.iter().any(|entry| *entry != 0)).collect()
}
