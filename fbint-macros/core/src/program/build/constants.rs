//! Sums of numbers, of powers of pi and of functions of numbers, folded in 256 bits: in doubles, pi - 3.141592653589793 has no digit
//! left. All of these bits are kept, because such a sum may be a term of another one in which the rest cancels.

use num_rational::BigRational;

use super::lower::Lowering;
use super::monomial::Monomial;
use crate::expression::Expression;
use crate::numbers::derivative::contains;
use crate::numbers::number::Number;
use crate::numbers::precise::Real;
use crate::program::code::{Instruction, Value};

impl Lowering<'_> {
    /// A sum without symbols as one number.
    pub(super) fn constant_sum(&self, sum: &Expression) -> Option<Monomial> {
        let is_constant = !contains(sum, &|_| true, &self.with_symbols);
        let number = is_constant.then(|| Real::evaluate(sum, &|_| Real::undefined())).flatten();
        number.and_then(|number| number.nearest_rational()).map(|number| Monomial::number(&number))
    }

    /// The terms with one number instead of all constant ones, where there are several.
    pub(crate) fn with_constants_folded(&self, terms: Vec<Monomial>) -> Vec<Monomial> {
        let constants: Vec<Option<Real>> = terms.iter().map(|term| self.constant(term)).collect();
        if constants.iter().flatten().count() < 2 {
            return terms;
        }
        let sum = constants.iter().flatten().fold(Real::zero(), |sum, constant| sum.plus(constant));
        let Some(sum) = sum.nearest_rational() else { return terms };
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
        let factors = term.factors.iter().map(|&(value, power)| Some((self.constant_value(value)?, power)));
        let factors: Vec<(Real, i32)> = factors.collect::<Option<_>>()?;
        factors.into_iter().try_fold(Real::rational(&term.coefficient.rational()), |product, (base, power)| {
            Some(product.times(&base.power(&BigRational::from_integer(power.into()))?))
        })
    }

    /// A constant, or a function of one.
    fn constant_value(&self, value: Value) -> Option<Real> {
        match self.builder.instruction(value) {
            Instruction::Constant(bits) if bits == std::f64::consts::PI.to_bits() => Some(Real::pi()),
            Instruction::Constant(bits) => Some(Real::from(f64::from_bits(bits))),
            Instruction::Sqrt(of) => self.constant_value(of)?.power(&BigRational::new(1.into(), 2.into())),
            Instruction::Unary(function, of) => Real::call(function, &[self.constant_value(of)?]),
            _ => None,
        }
    }
}
