//! Elementary functions at a [`ModularPoint`]: elements with the relations of the functions, and no others.

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive, Zero};

use super::linear_form::terms;
use super::point::{ElementMeaning, ModularPoint};
use crate::expression::{Expression, Function};
use crate::numbers::power;
use crate::numbers::ring::Element;

impl ModularPoint {
    pub(super) fn call(&mut self, function: Function, arguments: &[Expression]) -> Option<Element> {
        let argument = &arguments[0];
        match function {
            Function::Sin => Some(self.angle(argument)?.1),
            Function::Cos => Some(self.angle(argument)?.0),
            Function::Tan => {
                let (cosine, sine) = self.angle(argument)?;
                Some(self.ring.multiply(&sine, &self.ring.inverse(&cosine)?))
            }
            Function::Exp => self.exponential(None, argument),
            Function::Sinh | Function::Cosh | Function::Tanh => self.hyperbolic(function, argument),
            Function::Abs => {
                let value = self.evaluate(argument)?;
                let square = self.ring.multiply(&value, &value);
                self.root_of(square, 2)
            }
            // acos(x) = pi / 2 - asin(x)
            Function::Acos => {
                let half = self.ring.inverse(&self.ring.number(2))?;
                let pi = self.known(ElementMeaning::Pi);
                let quarter = self.ring.multiply(&pi, &half);
                let arcsine = self.odd(Function::Asin, argument)?;
                Some(self.ring.subtract(&quarter, &arcsine))
            }
            Function::Asin | Function::Atan => self.odd(function, argument),
            Function::Ln => self.logarithm(argument),
            Function::Atan2 => {
                let arguments = [self.evaluate(argument)?, self.evaluate(&arguments[1])?];
                Some(self.known(ElementMeaning::Function(Function::Atan2, arguments.into())))
            }
            Function::Powf => self.exponential(Some(argument), &arguments[1]),
        }
    }

    /// Hyperbolic sine, cosine or tangent.
    fn hyperbolic(&mut self, function: Function, argument: &Expression) -> Option<Element> {
        let grown = self.exponential(None, argument)?;
        let decayed = self.ring.inverse(&grown)?;
        let sine = self.ring.subtract(&grown, &decayed);
        let cosine = self.ring.add(&grown, &decayed);
        let divisor = if function == Function::Tanh { cosine.clone() } else { self.ring.number(2) };
        let dividend = if function == Function::Cosh { cosine } else { sine };
        Some(self.ring.multiply(&dividend, &self.ring.inverse(&divisor)?))
    }

    /// f(-x) = -f(x)
    fn odd(&mut self, function: Function, argument: &Expression) -> Option<Element> {
        let value = self.evaluate(argument)?;
        let negative = self.ring.negative(&value);
        if value.is_empty() {
            return Some(value);
        }
        if value < negative {
            return Some(self.known(ElementMeaning::Function(function, vec![value])));
        }
        let opposite = self.known(ElementMeaning::Function(function, vec![negative]));
        Some(self.ring.negative(&opposite))
    }

    /// The logarithm of an exponential is its argument; the logarithm of a root is a multiple of the logarithm of its radicand.
    fn logarithm(&mut self, argument: &Expression) -> Option<Element> {
        match argument {
            Expression::Call(Function::Exp, inner) => self.evaluate(&inner[0]),
            Expression::Power(base, exponent) if !exponent.is_integer() => {
                let factor = self.ring.number(self.ring.field.residue(exponent)?);
                let logarithm = self.logarithm(base)?;
                Some(self.ring.multiply(&logarithm, &factor))
            }
            _ => {
                let value = self.evaluate(argument)?;
                if value == self.ring.one() {
                    return Some(Element::new());
                }
                Some(self.known(ElementMeaning::Function(Function::Ln, vec![value])))
            }
        }
    }

    /// A sum of rational multiples of terms, each with its element; terms that are equal as elements are one.
    fn linear(&mut self, argument: &Expression) -> Option<Vec<(BigRational, Expression, Element)>> {
        if self.evaluate(argument)?.is_empty() {
            return Some(Vec::new());
        }
        let mut sum: Vec<(BigRational, Expression, Element)> = Vec::new();
        for (factor, term) in terms(argument)? {
            let element = self.evaluate(&term)?;
            match sum.iter_mut().find(|(_, _, known)| *known == element) {
                Some((total, _, _)) => *total += factor,
                None => sum.push((factor, term, element)),
            }
        }
        sum.retain(|(factor, _, element)| !factor.is_zero() && !element.is_empty());
        Some(sum)
    }

    /// A rational factor as a power of a unit.
    fn scaled(&self, factor: &BigRational) -> Option<BigInt> {
        let scaled = factor * BigRational::from_integer(self.scale.into());
        scaled.is_integer().then(|| scaled.to_integer())
    }

    /// b^t, where the rational part of t makes a power as any other; without b, the exponential of t, where multiples of logarithms do.
    fn exponential(&mut self, base: Option<&Expression>, exponent: &Expression) -> Option<Element> {
        let value = match base {
            Some(base) => Some(self.evaluate(base)?),
            None => None,
        };
        let mut product = self.ring.one();
        for (factor, term, element) in self.linear(exponent)? {
            let power = match (base, &term) {
                (Some(base), Expression::Number(_)) => self.power(base, &factor)?,
                (None, Expression::Call(Function::Ln, inner)) => self.power(&inner[0], &factor)?,
                _ => {
                    let unit = self.known(ElementMeaning::Power(value.clone(), element));
                    self.integer_power(&unit, &self.scaled(&factor)?)?
                }
            };
            product = self.ring.multiply(&product, &power);
        }
        Some(product)
    }

    /// Cosine and sine.
    fn angle(&mut self, argument: &Expression) -> Option<(Element, Element)> {
        let mut turned = (self.ring.one(), Element::new());
        for (factor, term, element) in self.linear(argument)? {
            let (unit, times) = self.unit(&factor, &term, element)?;
            turned = self.composed(&turned, &self.turned(unit, &times)?);
        }
        Some(turned)
    }

    /// Cosine and sine of an angle of which a term with this factor is a multiple, and how often: of quarter turns, inverse functions, or what
    /// else the term is.
    fn unit(
        &mut self,
        factor: &BigRational,
        term: &Expression,
        element: Element,
    ) -> Option<((Element, Element), BigInt)> {
        let quarters = factor * BigRational::from_integer(2.into());
        match term {
            Expression::Pi if quarters.is_integer() => {
                let quarter = (Element::new(), self.ring.one());
                Some((quarter, quarters.to_integer().mod_floor(&4.into())))
            }
            Expression::Call(function @ (Function::Asin | Function::Acos), arguments) if factor.is_integer() => {
                let value = self.evaluate(&arguments[0])?;
                let square = self.ring.multiply(&value, &value);
                let other = self.root_of(self.ring.subtract(&self.ring.one(), &square), 2)?;
                let unit = if *function == Function::Asin { (other, value) } else { (value, other) };
                Some((unit, factor.to_integer()))
            }
            Expression::Call(Function::Atan | Function::Atan2, arguments) if factor.is_integer() => {
                let y = self.evaluate(&arguments[0])?;
                let x = arguments.get(1).map_or(Some(self.ring.one()), |x| self.evaluate(x))?;
                let square = self.ring.add(&self.ring.multiply(&x, &x), &self.ring.multiply(&y, &y));
                let length = self.root_of(square, 2)?;
                let reciprocal = self.ring.inverse(&length)?;
                let unit = (self.ring.multiply(&x, &reciprocal), self.ring.multiply(&y, &reciprocal));
                Some((unit, factor.to_integer()))
            }
            _ => Some((self.circle_point(element)?, self.scaled(factor)?)),
        }
    }

    /// Cosine and sine of an angle t / scale, from the tangent u of its half: (1 - u^2, 2 u) / (1 + u^2).
    fn circle_point(&mut self, angle: Element) -> Option<(Element, Element)> {
        let half = self.known(ElementMeaning::HalfAngle(angle));
        let square = self.ring.multiply(&half, &half);
        let reciprocal = self.ring.inverse(&self.ring.add(&self.ring.one(), &square))?;
        let cosine = self.ring.multiply(&self.ring.subtract(&self.ring.one(), &square), &reciprocal);
        Some((cosine, self.ring.multiply(&self.ring.add(&half, &half), &reciprocal)))
    }

    /// The multiple of an angle.
    fn turned(&self, (cosine, sine): (Element, Element), times: &BigInt) -> Option<(Element, Element)> {
        let own = (cosine, if times.is_negative() { self.ring.negative(&sine) } else { sine });
        let turned = power(own, times.abs().to_u64()?, |a, b| self.composed(a, b));
        Some(turned.unwrap_or_else(|| (self.ring.one(), Element::new())))
    }

    /// Cosine and sine of a sum of angles.
    fn composed(&self, a: &(Element, Element), b: &(Element, Element)) -> (Element, Element) {
        let ring = &self.ring;
        (
            ring.subtract(&ring.multiply(&a.0, &b.0), &ring.multiply(&a.1, &b.1)),
            ring.add(&ring.multiply(&a.0, &b.1), &ring.multiply(&a.1, &b.0)),
        )
    }
}
