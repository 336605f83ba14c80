//! The monomials at points of the constraint set modulo a prime.

use super::kernel::{BLOCK, Combination, Elimination};
use super::monomials::Monomial;
use super::{Space, UNDEFINED};
use crate::derivation::table::Id;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::Differentiated;
use crate::numbers::field::PrimeField;
use crate::numbers::random::Random;
use crate::numbers::ring::{Element, Ring};
use crate::proofs::point::ModularPoint;
use crate::proofs::rates::field;

/// Points at which what the others leave has to vanish, for each part of the constraint set.
const SPARE: usize = 2;

/// Points that are tried until one satisfies the constraints.
const ATTEMPTS: u64 = 4;

/// Points, as many as are needed.
pub(super) struct Samples<'a> {
    space: &'a Space<'a>,
    field: PrimeField,
    /// The parameters at all points; `None` where each point has its own.
    parameters: Option<Vec<u64>>,
    list: Vec<Sample>,
    /// The points that were tried.
    tried: u64,
}

impl<'a> Samples<'a> {
    pub(super) fn new(space: &'a Space<'a>, field: PrimeField, parameters: Option<Vec<u64>>) -> Self {
        Self { space, field, parameters, list: Vec::new(), tried: 0 }
    }

    /// The number of points at which all was defined.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The point of this index, unless too many are undefined.
    fn get(&mut self, index: usize) -> Option<&Sample> {
        while self.list.len() <= index {
            if self.tried as usize > UNDEFINED * (1 + self.list.len()) {
                return None;
            }
            self.tried += 1;
            let own = || self.space.random_parameters(self.field, self.tried);
            let parameters = self.parameters.clone().unwrap_or_else(own);
            self.list.extend(self.space.sample(self.field, parameters, self.tried));
        }
        self.list.get(index)
    }

    /// The combinations of this many columns that vanish at all points, each of which gives rows. There are points until further ones change
    /// nothing.
    pub(super) fn kernel(
        &mut self,
        width: usize,
        rows: impl Fn(&Sample) -> Vec<Vec<u64>>,
    ) -> Option<Vec<Combination>> {
        let mut matrix = Elimination::new(self.field, width);
        let spare = SPARE * self.space.sets.len();
        let (mut count, mut idle) = (0, 0);
        while idle < spare {
            // A block of rows, each with its point.
            let mut block: Vec<(usize, Vec<u64>)> = Vec::new();
            let first = count;
            while block.len() < BLOCK && count < first + BLOCK {
                block.extend(rows(self.get(count)?).into_iter().map(|row| (count, row)));
                count += 1;
            }
            let mut changed = vec![false; count - first];
            for part in block.chunks(BLOCK) {
                let (points, rows): (Vec<usize>, Vec<Vec<u64>>) = part.iter().cloned().unzip();
                let is_new = matrix.add(&rows)?;
                points.iter().zip(is_new).for_each(|(point, is_new)| changed[point - first] |= is_new);
            }
            idle = changed.iter().fold(idle, |idle, changed| if *changed { 0 } else { idle + 1 });
        }
        Some(matrix.kernel())
    }
}

/// The monomials at a point, and the parameters: a row for each coefficient of an element.
pub(super) struct Sample {
    parameters: Vec<u64>,
    /// 1, and the values.
    pub(super) values: Vec<Vec<u64>>,
    pub(super) rates: Vec<Vec<u64>>,
}

impl Sample {
    pub(super) fn rates_of(&self, columns: &[usize]) -> Vec<Vec<u64>> {
        let of = |row: &Vec<u64>| columns.iter().map(|column| row[*column]).collect();
        self.rates.iter().map(of).collect()
    }

    /// 1 and products of parameters.
    pub(super) fn products_of_parameters(&self, products: &[Monomial], field: PrimeField) -> Vec<u64> {
        let mut values = vec![1];
        for Monomial { of, variable, .. } in products {
            let factor = of.map_or(1, |of| values[of + 1]);
            values.push(field.multiply(factor, self.parameters[*variable]));
        }
        values
    }
}

impl Space<'_> {
    /// The residues of the parameters at the point of this number.
    pub(super) fn random_parameters(&self, field: PrimeField, number: u64) -> Vec<u64> {
        let mut random = Random(!self.seed ^ number);
        self.parameters.iter().map(|_| random.next() % field.0).collect()
    }

    /// Whether there are points of the constraint set.
    pub(super) fn has_points(&self) -> bool {
        let parameters = self.random_parameters(self.field, 0);
        (0..ATTEMPTS).any(|number| self.on_set(self.field, &parameters, number).is_some())
    }

    /// The point of this number, with the parameters given.
    pub(super) fn point(&self, field: PrimeField, parameters: &[u64], number: u64) -> Option<ModularPoint> {
        let mut point = self.on_set(field, parameters, number)?;
        self.roots.iter().try_for_each(|root| point.evaluate(root).map(drop))?;
        Some(point)
    }

    /// A point that satisfies the constraints.
    fn on_set(&self, field: PrimeField, parameters: &[u64], number: u64) -> Option<ModularPoint> {
        let mut point = ModularPoint::of_residues(field, self.seed ^ number << 32, self.scale);
        for (symbol, residue) in self.parameters.iter().zip(parameters) {
            let element = point.ring.number(*residue);
            point.bind(*symbol, element);
        }
        point.satisfy(&self.sets[number as usize % self.sets.len()])?;
        Some(point)
    }

    /// The values of the variables at a point, and their derivatives by the state.
    pub(super) fn variables_at(&self, point: &mut ModularPoint) -> Option<Vec<Differentiated<Element>>> {
        let mut all = Vec::new();
        for Differentiated { value, gradient } in &self.variables {
            let value = point.evaluate(value)?;
            let slope = |(state, slope): (&Symbol, &Expression)| Some((*state, point.evaluate(slope)?));
            all.push(Differentiated { value, gradient: gradient.iter().map(slope).collect::<Option<_>>()? });
        }
        Some(all)
    }

    fn sample(&self, modulus: PrimeField, parameters: Vec<u64>, number: u64) -> Option<Sample> {
        let mut point = self.point(modulus, &parameters, number)?;
        let velocity = field(&mut point, self.derivation)?;
        let variables = self.variables_at(&mut point)?;
        let ring = &point.ring;
        let rate = |variable: &Differentiated<Element>| {
            let slopes = variable.gradient.iter();
            let terms = slopes.map(|(state, slope)| ring.multiply(slope, &velocity[state.place()]));
            terms.fold(Element::new(), |sum, term| ring.add(&sum, &term))
        };
        let rates: Vec<Element> = variables.iter().map(rate).collect();
        let values: Vec<Element> = variables.into_iter().map(|variable| variable.value).collect();
        let (values, rates) = match (residues(&values), residues(&rates)) {
            (Some(values), Some(rates)) => {
                let (values, rates) = of_residues(&self.monomials, modulus, &values, &rates);
                (vec![[vec![1], values].concat()], vec![rates])
            }
            _ => {
                let (values, rates) = of_elements(&self.monomials, ring, &values, &rates);
                (rows(&[vec![ring.one()], values].concat()), rows(&rates))
            }
        };
        Some(Sample { parameters, values, rates })
    }
}

/// Elements of the field itself, if all are.
fn residues(elements: &[Element]) -> Option<Vec<u64>> {
    let is_residue = elements.iter().all(|element| element.len() < 2);
    is_residue.then(|| elements.iter().map(|element| element.first().copied().unwrap_or(0)).collect())
}

/// The values and the rates of monomials, from those of the variables.
fn of_residues(monomials: &[Monomial], field: PrimeField, values: &[u64], rates: &[u64]) -> (Vec<u64>, Vec<u64>) {
    let mut all = (Vec::with_capacity(monomials.len()), Vec::with_capacity(monomials.len()));
    for Monomial { of, variable, .. } in monomials {
        let (value, rate) = (values[*variable], rates[*variable]);
        let (value, rate) = match of {
            None => (value, rate),
            Some(of) => {
                let (other, change) = (all.0[*of], all.1[*of]);
                let sum = field.add(field.multiply(change, value), field.multiply(other, rate));
                (field.multiply(other, value), sum)
            }
        };
        all.0.push(value);
        all.1.push(rate);
    }
    all
}

/// The same in a ring.
fn of_elements(
    monomials: &[Monomial],
    ring: &Ring,
    values: &[Element],
    rates: &[Element],
) -> (Vec<Element>, Vec<Element>) {
    let mut all: (Vec<Element>, Vec<Element>) = (Vec::new(), Vec::new());
    for Monomial { of, variable, .. } in monomials {
        let (value, rate) = (&values[*variable], &rates[*variable]);
        let (value, rate) = match of {
            None => (value.clone(), rate.clone()),
            Some(of) => {
                let (other, change) = (&all.0[*of], &all.1[*of]);
                (ring.multiply(other, value), ring.add(&ring.multiply(change, value), &ring.multiply(other, rate)))
            }
        };
        all.0.push(value);
        all.1.push(rate);
    }
    all
}

/// The rows of the coefficients that do not all vanish.
fn rows(elements: &[Element]) -> Vec<Vec<u64>> {
    let longest = elements.iter().map(Vec::len).max().unwrap_or(0);
    let row = |place: usize| elements.iter().map(|element| element.get(place).copied().unwrap_or(0)).collect();
    (0..longest).map(row).filter(|row: &Vec<u64>| row.iter().any(|entry| *entry != 0)).collect()
}
