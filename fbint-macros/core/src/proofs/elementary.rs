//! Elementary functions at a [`ModularPoint`]: residues with the relations of the functions, and no others.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use super::linear_form::terms;
use super::point::{ModularPoint, ResidueMeaning};
use crate::expression::{Expression, Function};
use crate::numbers::power;

impl ModularPoint {
    pub(super) fn call(&mut self, function: Function, arguments: &[Expression]) -> Option<u64> {
        let argument = &arguments[0];
        let field = self.field;
        match function {
            Function::Sin => Some(self.angle(argument)?.1),
            Function::Cos => Some(self.angle(argument)?.0),
            Function::Tan => {
                let (cosine, sine) = self.angle(argument)?;
                field.quotient(sine, cosine)
            }
            Function::Exp => self.exponential(None, argument),
            Function::Sinh | Function::Cosh | Function::Tanh => self.hyperbolic(function, argument),
            Function::Abs => {
                let value = self.evaluate(argument)?;
                self.root_of(field.multiply(value, value), 2)
            }
            // x / |x|: what holds for it holds wherever x is not 0.
            Function::Sign | Function::Step => {
                let value = self.evaluate(argument)?;
                let size = self.root_of(field.multiply(value, value), 2)?;
                let sign = field.quotient(value, size)?;
                if function == Function::Sign { Some(sign) } else { field.quotient(field.add(sign, 1), 2) }
            }
            // acos(x) = pi / 2 - asin(x)
            Function::Acos => {
                let quarter = field.quotient(self.known(ResidueMeaning::Pi), 2)?;
                Some(field.subtract(quarter, self.odd(Function::Asin, argument)?))
            }
            Function::Asin | Function::Atan => self.odd(function, argument),
            Function::Ln => self.logarithm(argument),
            Function::Atan2 => {
                let arguments = self.evaluate_all(arguments.iter())?;
                Some(self.known(ResidueMeaning::Function(Function::Atan2, arguments)))
            }
            Function::Powf => self.exponential(Some(argument), &arguments[1]),
        }
    }

    /// Hyperbolic sine, cosine or tangent.
    fn hyperbolic(&mut self, function: Function, argument: &Expression) -> Option<u64> {
        let field = self.field;
        let grown = self.exponential(None, argument)?;
        let decayed = field.inverse(grown)?;
        let (sine, cosine) = (field.subtract(grown, decayed), field.add(grown, decayed));
        match function {
            Function::Tanh => field.quotient(sine, cosine),
            Function::Cosh => field.quotient(cosine, 2),
            _ => field.quotient(sine, 2),
        }
    }

    /// f(-x) = -f(x)
    fn odd(&mut self, function: Function, argument: &Expression) -> Option<u64> {
        let value = self.evaluate(argument)?;
        let negative = self.field.negative(value);
        if value == 0 {
            return Some(0);
        }
        if value < negative {
            return Some(self.known(ResidueMeaning::Function(function, vec![value])));
        }
        Some(self.field.negative(self.known(ResidueMeaning::Function(function, vec![negative]))))
    }

    /// The logarithm of an exponential is its argument; the logarithm of a root is a multiple of the logarithm of its radicand.
    fn logarithm(&mut self, argument: &Expression) -> Option<u64> {
        match argument {
            Expression::Call(Function::Exp, inner) => self.evaluate(&inner[0]),
            Expression::Power(base, exponent) if !exponent.is_integer() => {
                let factor = self.field.residue(exponent)?;
                Some(self.field.multiply(self.logarithm(base)?, factor))
            }
            _ => match self.evaluate(argument)? {
                1 => Some(0),
                value => Some(self.known(ResidueMeaning::Function(Function::Ln, vec![value]))),
            },
        }
    }

    /// A sum of rational multiples of terms, each with its residue; terms with equal residues are merged. A sum that is 0 has no terms.
    fn linear(&mut self, argument: &Expression) -> Option<Vec<(BigRational, Expression, u64)>> {
        let terms = terms(argument)?;
        // Each once: functions of functions of functions would take twice the time of what they are applied to.
        let residues = self.evaluate_all(terms.iter().map(|(_, term)| term))?;
        let multiple = |((factor, _), residue): (&(BigRational, Expression), &u64)| {
            Some(self.field.multiply(self.field.residue(factor)?, *residue))
        };
        let total = terms.iter().zip(&residues).map(multiple);
        if total.collect::<Option<Vec<_>>>()?.into_iter().fold(0, |sum, term| self.field.add(sum, term)) == 0 {
            return Some(Vec::new());
        }
        let mut sum: Vec<(BigRational, Expression, u64)> = Vec::new();
        for ((factor, term), residue) in terms.into_iter().zip(residues) {
            match sum.iter_mut().find(|(_, _, known)| *known == residue) {
                Some((total, _, _)) => *total += factor,
                None => sum.push((factor, term, residue)),
            }
        }
        sum.retain(|(factor, _, residue)| !factor.is_zero() && *residue != 0);
        Some(sum)
    }

    /// A rational factor as a power of a unit.
    fn scaled(&self, factor: &BigRational) -> Option<BigInt> {
        let scaled = factor * BigRational::from_integer(self.scale.into());
        scaled.is_integer().then(|| scaled.to_integer())
    }

    /// b^t, where the rational part of t makes a power as any other; without b, the exponential of t, where multiples of logarithms do.
    fn exponential(&mut self, base: Option<&Expression>, exponent: &Expression) -> Option<u64> {
        let value = match base {
            Some(base) => Some(self.evaluate(base)?),
            None => None,
        };
        let mut product = 1;
        for (factor, term, residue) in self.linear(exponent)? {
            let power = match (base, &term) {
                (Some(base), Expression::Number(_)) => self.power(base, &factor)?,
                (None, Expression::Call(Function::Ln, inner)) => self.power(&inner[0], &factor)?,
                _ => {
                    let unit = self.known(ResidueMeaning::Power(value, residue));
                    self.field.integer_power(unit, &self.scaled(&factor)?)?
                }
            };
            product = self.field.multiply(product, power);
        }
        Some(product)
    }

    /// Cosine and sine.
    fn angle(&mut self, argument: &Expression) -> Option<(u64, u64)> {
        let mut turned = (1, 0);
        for (factor, term, residue) in self.linear(argument)? {
            let (unit, times) = self.unit(&factor, &term, residue)?;
            turned = self.composed(turned, self.turned(unit, &times)?);
        }
        Some(turned)
    }

    /// Cosine and sine of the unit angle that divides a term with this factor, and the multiple: the unit is a quarter turn, an inverse
    /// function, or the term itself.
    fn unit(&mut self, factor: &BigRational, term: &Expression, residue: u64) -> Option<((u64, u64), BigInt)> {
        let field = self.field;
        let quarters = factor * BigRational::from_integer(2.into());
        match term {
            Expression::Pi if quarters.is_integer() => Some(((0, 1), quarters.to_integer().mod_floor(&4.into()))),
            Expression::Call(function @ (Function::Asin | Function::Acos), arguments) if factor.is_integer() => {
                let value = self.evaluate(&arguments[0])?;
                let other = self.root_of(field.subtract(1, field.multiply(value, value)), 2)?;
                let unit = if *function == Function::Asin { (other, value) } else { (value, other) };
                Some((unit, factor.to_integer()))
            }
            Expression::Call(Function::Atan | Function::Atan2, arguments) if factor.is_integer() => {
                let y = self.evaluate(&arguments[0])?;
                let x = arguments.get(1).map_or(Some(1), |x| self.evaluate(x))?;
                let length = self.root_of(field.add(field.multiply(x, x), field.multiply(y, y)), 2)?;
                Some(((field.quotient(x, length)?, field.quotient(y, length)?), factor.to_integer()))
            }
            _ => Some((self.circle_point(residue)?, self.scaled(factor)?)),
        }
    }

    /// Cosine and sine of an angle t / scale, from the tangent u of its half: (1 - u^2, 2 u) / (1 + u^2).
    fn circle_point(&mut self, angle: u64) -> Option<(u64, u64)> {
        let field = self.field;
        let half = self.known(ResidueMeaning::HalfAngle(angle));
        let square = field.multiply(half, half);
        let reciprocal = field.inverse(field.add(1, square))?;
        Some((field.multiply(field.subtract(1, square), reciprocal), field.multiply(field.add(half, half), reciprocal)))
    }

    /// The multiple of an angle.
    fn turned(&self, (cosine, sine): (u64, u64), times: &BigInt) -> Option<(u64, u64)> {
        let own = (cosine, if times.is_negative() { self.field.negative(sine) } else { sine });
        Some(power(own, times.abs().to_u64()?, |a, b| self.composed(*a, *b)).unwrap_or((1, 0)))
    }

    /// Cosine and sine of a sum of angles.
    fn composed(&self, a: (u64, u64), b: (u64, u64)) -> (u64, u64) {
        let field = self.field;
        (
            field.subtract(field.multiply(a.0, b.0), field.multiply(a.1, b.1)),
            field.add(field.multiply(a.0, b.1), field.multiply(a.1, b.0)),
        )
    }
}
