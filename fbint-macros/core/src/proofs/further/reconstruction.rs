//! From residues back to rational numbers, with coefficients that are polynomials in the parameters, and to what is proved.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::One;

use super::Space;
use super::kernel::Combination;
use super::monomials::{factors, products};
use super::samples::Samples;
use crate::derivation::{FurtherIntegral, Integral, Kind};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::gradient;
use crate::numbers::field::PrimeField;
use crate::proofs::conservation::grade;

/// The most numbers in all coefficients together.
const MOST_NUMBERS: usize = 300;

impl Space<'_> {
    /// A function in these monomials with coefficients of this degree in the parameters, if there is one and it is proved.
    pub(super) fn proved(
        &self,
        general: &mut Samples<'_>,
        combination: &Combination,
        degree: usize,
    ) -> Option<FurtherIntegral> {
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
            let products = |column: &usize| {
                let rate = sample.rates[*column];
                factors.iter().map(move |factor| self.field.multiply(rate, *factor))
            };
            columns.iter().flat_map(products).collect()
        })?;
        let numbers = kernel.iter().min_by_key(|numbers| numbers.len())?;
        let scale = self.field.inverse(numbers.first()?.1)?;
        let rational = numbers.iter().map(|(_, residue)| rational(self.field.multiply(*residue, scale), self.field));
        let rational = rational.collect::<Option<Vec<BigRational>>>()?;
        let common = rational.iter().fold(BigInt::one(), |common, number| common.lcm(number.denom()));
        let parameters: Vec<Expression> = self.parameters.iter().map(|symbol| Expression::from(*symbol)).collect();
        let term = |((place, _), number): (&(usize, u64), BigRational)| {
            let number = Expression::Number(number * BigRational::from_integer(common.clone()));
            let of_parameters = (place % count).checked_sub(1).map(|place| factors(&powers, place, &parameters));
            let of_state = factors(&self.monomials, columns[place / count], &self.values);
            Expression::product([number].into_iter().chain(of_parameters.into_iter().flatten()).chain(of_state))
        };
        Some(Expression::sum(numbers.iter().zip(rational).map(term)))
    }
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
