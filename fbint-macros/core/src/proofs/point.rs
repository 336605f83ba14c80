//! Points at which identities are tested: a residue for each unknown, and so for each expression.

use std::collections::{BTreeMap, HashMap, HashSet};

use num_bigint::BigInt;
use num_integer::Integer;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::linear_form::factors;
use super::set::{Set, Step};
use crate::expression::parts::Results;
use crate::expression::work::{RESIDUE, spend, spend_number};
use crate::expression::{Expression, Function, Symbol};
use crate::numbers::field::PrimeField;
use crate::numbers::random::Random;

/// Residues that are tried for what a constraint leaves open.
const TRIED: usize = 40;
/// Roots of higher indices are not understood.
const HIGHEST_INDEX: u64 = 64;

/// A point's knowledge of roots, and of the signs of rotations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Signs {
    /// The n-th power of an n-th root is its radicand, and each rotation has a determinant of 1 or -1.
    Related,
    /// Roots are independent unknowns, and so is the factor of a rotation: an identity that holds then holds for all signs.
    Free,
}

/// A residue for each unknown. Roots are residues, too, and roots of an even index have both signs at random: where none exists, the point
/// is not defined.
pub(super) struct ModularPoint {
    pub(super) field: PrimeField,
    random: Random,
    /// The number that makes exponents integers when it multiplies them.
    pub(super) scale: u64,
    pub(super) knows: Signs,
    /// The product of the degrees of what roots and what constraints are solved for satisfy.
    pub(super) norm: f64,
    /// The number of signs that were chosen: of a root of an even index, or of a rotation, which may reflect.
    pub(super) signs: u32,
    /// Bit k is set where k signs had been chosen and there was no root for the next one.
    pub(super) missing: u64,
    symbols: BTreeMap<Symbol, u64>,
    functions: HashMap<ResidueMeaning, u64>,
    /// Residues of expressions, valid as long as symbols and functions keep theirs.
    evaluated: Results<u64>,
}

/// The function that a residue stands for, with its arguments as residues.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum ResidueMeaning {
    Pi,
    Root(u64, u64),
    /// tan(t / (2 scale))
    HalfAngle(u64),
    /// b^(t / scale); without b, e^(t / scale).
    Power(Option<u64>, u64),
    Function(Function, Vec<u64>),
}

impl ModularPoint {
    pub(super) fn new(field: PrimeField, seed: u64, scale: u64, knows: Signs) -> Self {
        let (symbols, functions, evaluated) = Default::default();
        let (norm, signs, missing) = (1.0, 0, 0);
        Self { field, random: Random(seed), scale, knows, norm, signs, missing, symbols, functions, evaluated }
    }

    pub(super) fn random(&mut self) -> u64 {
        self.random.next() % self.field.prime
    }

    fn symbol(&mut self, symbol: Symbol) -> u64 {
        *self.symbols.entry(symbol).or_insert_with(|| self.random.next() % self.field.prime)
    }

    /// Gives a symbol this residue.
    pub(super) fn bind(&mut self, symbol: Symbol, residue: u64) {
        self.symbols.insert(symbol, residue);
        self.evaluated = Results::default();
    }

    /// Draws an unknown anew.
    pub(super) fn forget(&mut self, symbol: Symbol) {
        self.symbols.remove(&symbol);
        self.evaluated = Results::default();
    }

    pub(super) fn known(&mut self, meaning: ResidueMeaning) -> u64 {
        *self.functions.entry(meaning).or_insert_with(|| self.random.next() % self.field.prime)
    }

    /// Makes the point one of a part of a set, by the steps of this: each rotation reflects in every other part.
    pub(super) fn follow(&mut self, set: &Set<'_>, steps: &[Step], part: u64) -> Option<()> {
        for (place, rotation) in set.rotations.iter().enumerate() {
            rotation.bind(self, part >> place & 1 == 1)?;
        }
        for step in steps {
            let residue = self.solved(step)?;
            self.bind(step.symbol, residue);
        }
        Some(())
    }

    /// The value to which a constraint binds a symbol. Where a root does not exist, the free unknowns are chosen anew.
    fn solved(&mut self, Step { coefficients, open, .. }: &Step) -> Option<u64> {
        let (signs, functions) = (self.signs, self.functions.clone());
        for _ in 0..TRIED {
            let coefficients = self.evaluate_all(coefficients.iter())?;
            if let Some(residue) = self.zero(&coefficients) {
                self.norm *= (coefficients.len() - 1) as f64;
                return Some(residue);
            }
            // Signs are chosen anew with the residues, in the same order.
            self.signs = signs;
            self.functions.clone_from(&functions);
            self.evaluated = Results::default();
            open.iter().for_each(|symbol| self.forget(*symbol));
        }
        None
    }

    /// A zero of a polynomial of degree 1 or 2; anything where the leading coefficient vanishes.
    fn zero(&mut self, coefficients: &[u64]) -> Option<u64> {
        let field = self.field;
        match *coefficients {
            [.., 0] => Some(self.random()),
            [constant, linear] => field.quotient(field.negative(constant), linear),
            [constant, linear, leading] => {
                let four = field.multiply(4, field.multiply(leading, constant));
                let root = self.even_root(field.subtract(field.multiply(linear, linear), four), 2)?;
                field.quotient(field.subtract(root, linear), field.add(leading, leading))
            }
            _ => None,
        }
    }

    /// A root of an even index with a random sign.
    fn even_root(&mut self, value: u64, index: u64) -> Option<u64> {
        let Some(root) = self.field.root(value, index) else {
            if self.field.root(value, 2).is_none() {
                self.missing |= 1_u64.checked_shl(self.signs).unwrap_or(0);
            }
            return None;
        };
        self.signs += 1;
        Some(if self.random.next() & 1 == 1 { self.field.negative(root) } else { root })
    }

    /// `None` where it is not defined, or not understood.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Option<u64> {
        spend(RESIDUE);
        if let Some(residue) = self.evaluated.get(expression) {
            return Some(residue);
        }
        let residue = self.residue(expression)?;
        self.evaluated.insert(expression, &residue);
        Some(residue)
    }

    fn residue(&mut self, expression: &Expression) -> Option<u64> {
        let field = self.field;
        match expression {
            Expression::Number(number) => {
                spend_number(number);
                field.residue(number)
            }
            Expression::Pi => Some(self.known(ResidueMeaning::Pi)),
            Expression::Symbol(symbol) => Some(self.symbol(*symbol)),
            Expression::Sum(terms) => terms.iter().try_fold(0, |sum, term| Some(field.add(sum, self.evaluate(term)?))),
            Expression::Product(factors) => {
                factors.iter().try_fold(1, |product, factor| Some(field.multiply(product, self.evaluate(factor)?)))
            }
            Expression::Power(base, exponent) => self.power(base, exponent),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    pub(super) fn evaluate_all<'a>(&mut self, expressions: impl Iterator<Item = &'a Expression>) -> Option<Vec<u64>> {
        expressions.map(|expression| self.evaluate(expression)).collect()
    }

    /// b^(n/d) = s^r b^w with s^d = b and n = w d + r, so that much is known of the powers of a root that is free.
    pub(super) fn power(&mut self, base: &Expression, exponent: &BigRational) -> Option<u64> {
        let index = exponent.denom().to_u64()?;
        if index == 1 {
            let value = self.evaluate(base)?;
            return self.field.integer_power(value, exponent.numer());
        }
        let (root, value) = self.root(base, index)?;
        self.power_of_root(root, value, exponent.numer(), index)
    }

    /// The power n of a root with the index d of a value.
    fn power_of_root(&self, root: u64, value: u64, power: &BigInt, index: u64) -> Option<u64> {
        let (whole, rest) = power.div_mod_floor(&index.into());
        let [whole, rest] = [(value, whole), (root, rest)].map(|(base, power)| self.field.integer_power(base, &power));
        Some(self.field.multiply(whole?, rest?))
    }

    /// A root, and what it is taken of.
    fn root(&mut self, base: &Expression, index: u64) -> Option<(u64, u64)> {
        let field = self.field;
        let product = |(a, b): (u64, u64), (c, d): (u64, u64)| (field.multiply(a, c), field.multiply(b, d));
        // Of a product with a positive number, the root is the product of roots.
        if let [Expression::Number(number), rest @ ..] = base.factors()
            && number.is_positive()
        {
            let number = (self.root_of_number(number, index)?, field.residue(number)?);
            if rest.is_empty() {
                return Some(number);
            }
            return Some(product(number, self.root(&Expression::product(rest.iter().cloned()), index)?));
        }
        if let Expression::Product(factors) = base
            && let Some(roots) = factors.iter().map(|factor| self.known_root(factor, index)).collect::<Option<Vec<_>>>()
        {
            return Some(roots.into_iter().fold((1, 1), product));
        }
        let value = self.evaluate(base)?;
        Some((self.root_of(value, index)?, value))
    }

    /// The root of a factor, if it occurs alone, and the factor.
    fn known_root(&mut self, factor: &Expression, index: u64) -> Option<(u64, u64)> {
        let (base, exponent) = match factor {
            Expression::Power(base, exponent) if exponent.is_integer() => (&**base, exponent.to_integer()),
            other => (other, BigInt::from(1)),
        };
        let value = self.evaluate(base)?;
        let root = *self.functions.get(&ResidueMeaning::Root(value, index))?;
        let power = self.field.integer_power(value, &exponent)?;
        Some((self.power_of_root(root, value, &exponent, index)?, power))
    }

    /// The root of a positive number n / m is the root of n m^(d - 1), over m.
    fn root_of_number(&mut self, number: &BigRational, index: u64) -> Option<u64> {
        let power = u32::try_from(index).ok().filter(|_| index <= HIGHEST_INDEX)?;
        let field = self.field;
        let residue = |integer: BigInt| field.residue(&BigRational::from_integer(integer));
        let radicand = number.numer() * number.denom().pow(power - 1);
        let whole = radicand.nth_root(power);
        let root =
            if whole.pow(power) == radicand { residue(whole)? } else { self.root_of(residue(radicand)?, index)? };
        field.quotient(root, residue(number.denom().clone())?)
    }

    pub(super) fn root_of(&mut self, value: u64, index: u64) -> Option<u64> {
        let meaning = ResidueMeaning::Root(value, index);
        if let Some(root) = self.functions.get(&meaning) {
            return Some(*root);
        }
        if index > HIGHEST_INDEX {
            return None;
        }
        if self.knows == Signs::Free {
            return Some(if value == 0 { 0 } else { self.known(meaning) });
        }
        let root = if index.is_multiple_of(2) { self.even_root(value, index) } else { self.field.root(value, index) }?;
        self.norm *= index as f64;
        self.functions.insert(meaning, root);
        Some(root)
    }
}

/// The most signs that are chosen for these expressions, whatever the signs before are.
pub(super) fn most_signs<'a>(expressions: impl IntoIterator<Item = &'a Expression>) -> usize {
    let is_even = |number: &BigRational| !number.denom().bit(0);
    let signs = |node: &Expression| match node {
        // A number is taken out of a root.
        Expression::Power(base, exponent) if is_even(exponent) => {
            1 + usize::from(matches!(base.factors(), [Expression::Number(_), _, ..]))
        }
        Expression::Call(
            Function::Abs
            | Function::Sign
            | Function::Step
            | Function::Asin
            | Function::Acos
            | Function::Atan
            | Function::Atan2,
            _,
        ) => 1,
        Expression::Call(..) => 2 * factors(node).filter(is_even).count(),
        _ => 0,
    };
    let nodes = expressions.into_iter().flat_map(Expression::nodes).map(|node| (node, signs(node)));
    nodes.filter(|(_, signs)| *signs > 0).collect::<HashMap<_, _>>().values().sum()
}

/// The roots that occur, each once, with roots of products and of numbers last. Evaluate them before anything else: where all of it is
/// defined, no radicand is negative, and the root of a product of factors whose roots occur is the product of their roots.
pub(super) fn roots<'a>(expressions: impl IntoIterator<Item = &'a Expression>) -> Vec<Expression> {
    let (mut roots, mut of_products, mut seen) = (Vec::new(), Vec::new(), HashSet::new());
    for expression in expressions {
        // Parts before what they are parts of.
        for node in expression.nodes().collect::<Vec<_>>().into_iter().rev() {
            if let Expression::Power(base, exponent) = node
                && !exponent.is_integer()
            {
                let is_product = matches!(**base, Expression::Product(_) | Expression::Number(_));
                let all = if is_product { &mut of_products } else { &mut roots };
                let root = (**base).clone().power(BigRational::new(BigInt::from(1), exponent.denom().clone())).ok();
                all.extend(root.filter(|root| seen.insert(root.identity())));
            }
        }
    }
    roots.extend(of_products);
    roots
}
