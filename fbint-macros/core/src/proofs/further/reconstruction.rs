//! From residues back to rational numbers, with coefficients that are polynomials in the parameters, and to what is proved.

use std::cell::LazyCell;
use std::collections::BTreeMap;

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::One;

use super::Space;
use super::kernel::Combination;
use super::monomials::{factors, products};
use super::samples::Samples;
use crate::derivation::table::Id;
use crate::derivation::{Conservation, FurtherIntegral, SparseRow};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::gradient;
use crate::numbers::field::PrimeField;
use crate::proofs::conservation::proved_grade;
use crate::proofs::rates::sets_around_constraints;

/// The most numbers in all coefficients together.
const MOST_NUMBERS: usize = 300;
/// The degree of coefficients in the parameters.
pub(super) const DEGREE_IN_PARAMETERS: usize = 4;
/// The largest numerators and denominators of coefficients, and of the factors between them.
const LARGEST: i128 = 1 << 28;
const LARGEST_FACTOR: i128 = 1 << 12;

impl Space<'_> {
    /// Functions in the monomials of these combinations with coefficients up to this degree in the parameters, where there are such and they
    /// are proved.
    pub(super) fn proved(
        &self,
        general: &mut Samples<'_>,
        combinations: &[Combination],
        most: usize,
    ) -> Vec<Option<FurtherIntegral>> {
        let mut proved: Vec<Option<FurtherIntegral>> = vec![None; combinations.len()];
        for degree in 0..=most {
            let mut candidates: Vec<(usize, Expression)> = Vec::new();
            for place in (0..combinations.len()).filter(|place| proved[*place].is_none()) {
                let value = self.for_all_parameters(general, &combinations[place], degree);
                candidates.extend(value.map(|value| (place, value)));
            }
            let (places, values): (Vec<usize>, Vec<Expression>) = candidates.into_iter().unzip();
            for (place, integral) in places.into_iter().zip(self.graded(values)) {
                proved[place] = integral;
            }
        }
        proved
    }

    /// Selects the functions that are proved to be conserved. All are conserved everywhere if and only if their sum with parameters as
    /// factors is, and its proof takes as long as the proof of one. If that fails, each is proved alone.
    fn graded(&self, values: Vec<Expression>) -> Vec<Option<FurtherIntegral>> {
        let derivation = self.basis.derivation;
        let is_state = |symbol| derivation.symbols.is_state(symbol);
        let gradients = values.iter().map(|value| gradient(value, is_state)).collect::<Option<Vec<SparseRow>>>();
        let Some(gradients) = gradients else { return vec![None; values.len()] };
        let mut sum: BTreeMap<Symbol, Vec<Expression>> = BTreeMap::new();
        for (place, gradient) in gradients.iter().enumerate() {
            let factor = Expression::from(Symbol::at(derivation.symbols.len() + place));
            for (state, slope) in gradient {
                sum.entry(*state).or_default().push(factor.clone() * slope.clone());
            }
        }
        let sum = sum.into_iter().map(|(state, terms)| (state, Expression::sum(terms))).collect();
        let of_all = proved_grade(derivation, &[], &sum).filter(|grade| matches!(grade, Conservation::Everywhere(_)));
        let sets = LazyCell::new(|| sets_around_constraints(derivation));
        let graded = |(value, gradient): (Expression, SparseRow)| {
            let grade = of_all.or_else(|| proved_grade(derivation, &sets, &gradient))?;
            Some(FurtherIntegral { value, gradient, grade })
        };
        values.into_iter().zip(gradients).map(graded).collect()
    }

    /// The sum of multiples of groups of terms, by polynomials in the parameters.
    fn for_all_parameters(
        &self,
        general: &mut Samples<'_>,
        combination: &Combination,
        degree: usize,
    ) -> Option<Expression> {
        let groups = groups(combination, self.field);
        let powers = products(self.parameters.len(), degree);
        let count = powers.len() + 1;
        if groups.len() * count > MOST_NUMBERS {
            return None;
        }
        let residue = |(place, number): &(usize, BigRational)| Some((*place, self.field.residue(number)?));
        let residues = groups.iter().map(|group| group.iter().map(residue).collect());
        let residues: Vec<Combination> = residues.collect::<Option<_>>()?;
        let kernel = general.kernel(groups.len() * count, |sample| {
            let factors = sample.products_of_parameters(&powers, self.field);
            let rates = self.sums(&residues, &sample.rates).into_iter();
            rates.flat_map(|rate| factors.iter().map(move |factor| self.field.multiply(rate, *factor))).collect()
        })?;
        let numbers = kernel.iter().min_by_key(|numbers| numbers.len())?;
        let scale = self.field.inverse(numbers.first()?.1)?;
        let parameters: Vec<Expression> = self.parameters.iter().map(|symbol| Expression::from(*symbol)).collect();
        let mut terms: Vec<(usize, BigRational, Vec<Expression>)> = Vec::new();
        for (place, residue) in numbers {
            let number = rational(self.field.multiply(*residue, scale), self.field, LARGEST)?;
            let of_parameters = (place % count).checked_sub(1).map(|place| factors(&powers, place, &parameters));
            let of_group = groups[place / count].iter();
            terms.extend(
                of_group.map(|(place, factor)| (*place, factor * &number, of_parameters.clone().unwrap_or_default())),
            );
        }
        terms.sort_by_key(|(place, ..)| *place);
        let common = terms.iter().fold(BigInt::one(), |common, (_, number, _)| common.lcm(number.denom()));
        let term = |(place, number, of_parameters): (usize, BigRational, Vec<Expression>)| {
            let number = Expression::Number(number * BigRational::from_integer(common.clone()));
            let of_state = factors(&self.basis.monomials, place, &self.basis.values);
            Expression::product([number].into_iter().chain(of_parameters).chain(of_state))
        };
        Some(Expression::sum(terms.into_iter().map(term)))
    }
}

/// The monomials of a combination, with the numbers by which their coefficients are multiples of the first one's. Fewer than one in 10^10
/// pairs of other residues have such a quotient.
fn groups(combination: &Combination, field: PrimeField) -> Vec<Vec<(usize, BigRational)>> {
    let mut groups: Vec<(u64, Vec<(usize, BigRational)>)> = Vec::new();
    for (place, entry) in combination {
        let quotient = |first: u64| rational(field.multiply(*entry, field.inverse(first)?), field, LARGEST_FACTOR);
        match groups.iter_mut().find_map(|(first, group)| Some((group, quotient(*first)?))) {
            Some((group, factor)) => group.push((*place, factor)),
            None => groups.push((*entry, vec![(*place, BigRational::one())])),
        }
    }
    groups.into_iter().map(|(_, group)| group).collect()
}

/// The rational number with this residue whose numerator and denominator are below a size.
fn rational(residue: u64, field: PrimeField, largest: i128) -> Option<BigRational> {
    let (mut before, mut now) = ((i128::from(field.prime), 0_i128), (i128::from(residue), 1_i128));
    while now.0 > largest {
        let quotient = before.0 / now.0;
        (before, now) = (now, (before.0 - quotient * now.0, before.1 - quotient * now.1));
    }
    (now.1.abs() <= largest && now.1 != 0).then(|| BigRational::new(now.0.into(), now.1.into()))
}
