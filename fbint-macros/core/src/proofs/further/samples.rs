//! The monomials at points of the constraint set modulo a prime.

use super::kernel::{BLOCK, Combination, Elimination};
use super::monomials::FactoredMonomial;
use super::{Root, Space, UNDEFINED};
use crate::derivation::table::Id;
use crate::expression::Symbol;
use crate::numbers::derivative::Differentiated;
use crate::numbers::field::PrimeField;
use crate::numbers::random::Random;
use crate::proofs::point::{ModularPoint, Signs};

/// Points at which what the others leave has to vanish, for each part of the constraint set.
const SPARE: usize = 2;

/// Points, as many as are needed.
pub(super) struct Samples<'a> {
    space: &'a Space<'a>,
    /// `true` if the parameters are [`Space::shared`] at all points.
    are_shared: bool,
    list: Vec<MonomialSample>,
    /// The points that were tried.
    tried: u64,
}

impl<'a> Samples<'a> {
    /// Points that share their parameters.
    pub(super) fn shared(space: &'a Space<'a>) -> Self {
        Self { space, are_shared: true, list: Vec::new(), tried: 0 }
    }

    /// Points with separate parameters.
    pub(super) fn general(space: &'a Space<'a>) -> Self {
        Self { are_shared: false, ..Self::shared(space) }
    }

    /// The number of points at which all was defined.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The point of this index, unless too many are undefined.
    fn get(&mut self, index: usize) -> Option<&MonomialSample> {
        while self.list.len() <= index {
            if self.tried > UNDEFINED * (1 + self.list.len() as u64) {
                return None;
            }
            self.tried += 1;
            let Space { shared, .. } = self.space;
            let parameters = if self.are_shared { shared.clone() } else { self.space.random_parameters(self.tried) };
            let mut point = self.space.point(&parameters, self.tried);
            self.list.extend(point.as_mut().and_then(|point| self.space.sample(point, parameters)));
        }
        self.list.get(index)
    }

    /// The combinations of this many columns that vanish at all points. Each point gives a row. There are points until further ones change
    /// nothing.
    pub(super) fn kernel(
        &mut self,
        width: usize,
        row: impl Fn(&MonomialSample) -> Vec<u64>,
    ) -> Option<Vec<Combination>> {
        let mut matrix = Elimination::new(self.space.field, width);
        let spare = SPARE << self.space.set.rotations.len();
        let (mut count, mut idle) = (0, 0);
        while idle < spare {
            let mut rows: Vec<Vec<u64>> = Vec::new();
            let block = (width + spare).saturating_sub(count).clamp(1, BLOCK);
            for index in count..count + block {
                rows.push(row(self.get(index)?));
            }
            count += block;
            idle = matrix.add(rows)?.into_iter().fold(idle, |idle, is_new| if is_new { 0 } else { idle + 1 });
        }
        Some(matrix.kernel())
    }
}

/// The monomials at a point, and the parameters.
pub(super) struct MonomialSample {
    parameters: Vec<u64>,
    pub(super) values: Vec<u64>,
    pub(super) rates: Vec<u64>,
}

impl MonomialSample {
    /// 1 and products of parameters.
    pub(super) fn products_of_parameters(&self, products: &[FactoredMonomial], field: PrimeField) -> Vec<u64> {
        let mut values = vec![1];
        for FactoredMonomial { of, variable, .. } in products {
            let factor = of.map_or(1, |of| values[of + 1]);
            values.push(field.multiply(factor, self.parameters[*variable]));
        }
        values
    }
}

impl Space<'_> {
    /// Parameters for which roots of their functions exist.
    pub(super) fn parameters_with_roots(&self) -> Option<Vec<u64>> {
        (0..if self.constant_roots.is_empty() { 1 } else { UNDEFINED }).find_map(|number| {
            let parameters = self.random_parameters(number);
            let mut point = self.with_parameters(&parameters, number);
            self.constant_roots.iter().all(|root| point.evaluate(root).is_some()).then_some(parameters)
        })
    }

    /// The residues of the parameters at the point of this number.
    fn random_parameters(&self, number: u64) -> Vec<u64> {
        let mut random = Random(!self.seed ^ number);
        self.parameters.iter().map(|_| random.next() % self.field.prime).collect()
    }

    /// The point of this number on the constraint set, with the parameters given.
    pub(super) fn point(&self, parameters: &[u64], number: u64) -> Option<ModularPoint> {
        let mut point = self.with_parameters(parameters, number);
        point.follow(&self.set, &self.steps, number)?;
        let (mut place, mut redrawn) = (0, 0);
        while let Some(Root { value, first, .. }) = self.roots.get(place) {
            place += 1;
            if point.evaluate(value).is_none() {
                // There is no root of what the symbols are that no earlier root has: these are drawn anew.
                let open = &self.roots[*first].open;
                if open.is_empty() || redrawn == UNDEFINED {
                    return None;
                }
                open.iter().for_each(|symbol| point.forget(*symbol));
                (place, redrawn) = (*first, redrawn + 1);
            }
        }
        Some(point)
    }

    fn with_parameters(&self, parameters: &[u64], number: u64) -> ModularPoint {
        let mut point = ModularPoint::new(self.field, self.seed ^ number << 32, self.scale, Signs::Related);
        for (symbol, residue) in self.parameters.iter().zip(parameters) {
            point.bind(*symbol, *residue);
        }
        point
    }

    fn sample(&self, point: &mut ModularPoint, parameters: Vec<u64>) -> Option<MonomialSample> {
        let velocity = self.basis.rates(point)?;
        let (values, rates) = self.along(&self.basis.variables(point)?, |state| velocity[state.place()]);
        Some(MonomialSample { parameters, values, rates })
    }

    /// The monomials, and their rates where the state has this velocity.
    pub(super) fn along(
        &self,
        variables: &[Differentiated<u64>],
        velocity: impl Fn(Symbol) -> u64,
    ) -> (Vec<u64>, Vec<u64>) {
        let field = self.field;
        let rate = |variable: &Differentiated<u64>| {
            let slopes = variable.gradient.iter();
            let terms = slopes.map(|(state, slope)| field.multiply(*slope, velocity(*state)));
            terms.fold(0, |sum, term| field.add(sum, term))
        };
        let variables = variables.iter().map(|variable| (variable.value, rate(variable)));
        let variables: Vec<(u64, u64)> = variables.collect();
        let (mut values, mut rates): (Vec<u64>, Vec<u64>) = (Vec::new(), Vec::new());
        for FactoredMonomial { of, variable, .. } in &self.basis.monomials {
            let (value, rate) = variables[*variable];
            let (value, rate) = match of {
                None => (value, rate),
                Some(of) => {
                    let (other, change) = (values[*of], rates[*of]);
                    let sum = field.add(field.multiply(change, value), field.multiply(other, rate));
                    (field.multiply(other, value), sum)
                }
            };
            values.push(value);
            rates.push(rate);
        }
        (values, rates)
    }
}
