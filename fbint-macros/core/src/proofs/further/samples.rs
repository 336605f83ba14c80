//! The monomials at points of the constraint set modulo a prime.

use super::kernel::{Combination, kernel_of, vanishes};
use super::monomials::Monomial;
use super::{Space, UNDEFINED};
use crate::derivation::table::Id;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::Differentiated;
use crate::numbers::field::PrimeField;
use crate::numbers::random::Random;
use crate::numbers::ring::Element;
use crate::proofs::point::ModularPoint;
use crate::proofs::rates::field;

/// Points beyond those that the unknowns need.
const SPARE: usize = 4;

/// Points, as many as are needed.
pub(super) struct Samples<'a> {
    space: &'a Space<'a>,
    /// The parameters at all points; `None` where each point has its own.
    parameters: Option<Vec<u64>>,
    list: Vec<Sample>,
    next: u64,
}

impl<'a> Samples<'a> {
    pub(super) fn new(space: &'a Space<'a>, parameters: Option<Vec<u64>>) -> Self {
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
    pub(super) fn kernel(
        &mut self,
        width: usize,
        elements: impl Fn(&Sample) -> Vec<Element>,
    ) -> Option<Vec<Combination>> {
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

/// The rows of the coefficients that do not all vanish.
fn equations(elements: &[Element]) -> Vec<Vec<u64>> {
    let longest = elements.iter().map(Vec::len).max().unwrap_or(0);
    let row = |place: usize| elements.iter().map(|element| element.get(place).copied().unwrap_or(0)).collect();
    (0..longest).map(row).filter(|row: &Vec<u64>| row.iter().any(|entry| *entry != 0)).collect()
}

/// The monomials at a point, their values and their rates, and the parameters.
pub(super) struct Sample {
    parameters: Vec<u64>,
    pub(super) values: Vec<Element>,
    pub(super) rates: Vec<Element>,
}

impl Sample {
    pub(super) fn rates_of(&self, columns: &[usize]) -> Vec<Element> {
        columns.iter().map(|column| self.rates[*column].clone()).collect()
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
    pub(super) fn random_parameters(&self, number: u64) -> Vec<u64> {
        let mut random = Random(!self.seed ^ number);
        self.parameters.iter().map(|_| random.next() % self.field.0).collect()
    }

    /// The point of this number, with the parameters given.
    pub(super) fn point(&self, parameters: &[u64], number: u64) -> Option<ModularPoint> {
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
    pub(super) fn slopes(&self, point: &mut ModularPoint) -> Option<Vec<Vec<Element>>> {
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
}
