//! Sums of numbers and powers of pi, folded in 256 bits: in doubles, pi - 3.141592653589793 has no digit left.

use num_rational::BigRational;

use super::lower::Lowering;
use super::monomial::Monomial;
use crate::numbers::number::Number;
use crate::numbers::precise::Real;
use crate::program::code::Instruction;

impl Lowering<'_> {
    /// The terms with one number instead of all constant ones, where there are several.
    pub(crate) fn with_constants_folded(&self, terms: Vec<Monomial>) -> Vec<Monomial> {
        let constants: Vec<Option<Real>> = terms.iter().map(|term| self.constant(term)).collect();
        if constants.iter().flatten().count() < 2 {
            return terms;
        }
        let sum = constants.iter().flatten().fold(Real::zero(), |sum, constant| sum.plus(constant));
        let Some(sum) = BigRational::from_float(sum.to_f64()) else { return terms };
        let mut folded = Some(Monomial::number(&sum));
        let place = |(term, constant): (Monomial, Option<Real>)| match constant {
            Some(_) => folded.take(),
            None => Some(term),
        };
        let terms = terms.into_iter().zip(constants).filter_map(place);
        terms.filter(|term| !term.is_zero()).collect()
    }

    /// The value of a term that is a number times powers of constants.
    fn constant(&self, term: &Monomial) -> Option<Real> {
        let is_constant = |value| matches!(self.builder.instruction(value), Instruction::Constant(_));
        if !term.factors.keys().all(|&value| is_constant(value)) {
            return None;
        }
        term.factors.iter().try_fold(Real::rational(&term.coefficient.rational()), |product, (&value, &exponent)| {
            let Instruction::Constant(bits) = self.builder.instruction(value) else { return None };
            let is_pi = bits == std::f64::consts::PI.to_bits();
            let base = if is_pi { Real::pi() } else { Real::from(f64::from_bits(bits)) };
            Some(product.times(&base.power(&BigRational::from_integer(exponent.into()))?))
        })
    }
}
