//! What is searched: products of the state and of the functions that occur, up to a degree.

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{One, Signed};

use crate::derivation::Derivation;
use crate::derivation::table::Id;
use crate::expression::{Expression, Function, Symbol};
use crate::proofs::identities::vanishes_identically;

/// A product of an earlier monomial, or 1, and a variable.
pub(super) struct FactoredMonomial {
    pub(super) of: Option<usize>,
    pub(super) variable: usize,
    pub(super) degree: usize,
}

/// The number of monomials up to a degree, without 1.
pub(super) fn monomials(variables: usize, degree: usize) -> usize {
    (1..=degree).fold(1_usize, |count, d| count.saturating_mul(variables + d) / d) - 1
}

/// The monomials up to a degree, of lower degrees first.
pub(super) fn products(variables: usize, degree: usize) -> Vec<FactoredMonomial> {
    let variables = if degree == 0 { 0 } else { variables };
    let mut all: Vec<FactoredMonomial> =
        (0..variables).map(|variable| FactoredMonomial { of: None, variable, degree: 1 }).collect();
    let mut first = 0;
    for degree in 2..=degree {
        let last = all.len();
        for of in first..last {
            for variable in all[of].variable..variables {
                all.push(FactoredMonomial { of: Some(of), variable, degree });
            }
        }
        first = last;
    }
    all
}

/// The powers of these variables that a monomial consists of.
pub(super) fn factors(monomials: &[FactoredMonomial], monomial: usize, variables: &[Expression]) -> Vec<Expression> {
    let mut powers = vec![0; variables.len()];
    let products = std::iter::successors(Some(monomial), |place| monomials[*place].of);
    products.for_each(|place| powers[monomials[place].variable] += 1);
    variables.iter().zip(powers).filter_map(|(variable, power)| raised(variable.clone(), power)).collect()
}

/// A power of a variable, unless the exponent is 0.
fn raised(base: Expression, power: usize) -> Option<Expression> {
    let power = BigRational::from_integer(power.into());
    let (base, exponent) = match base {
        Expression::Power(base, exponent) => ((*base).clone(), exponent * &power),
        base => (base, power.clone()),
    };
    (power >= BigRational::one()).then(|| base.power(exponent).ok()).flatten()
}

/// The functions of the state that occur: roots, reciprocals, and calls.
pub(super) fn atoms(derivation: &Derivation) -> Vec<Expression> {
    let parts: Vec<&Expression> = derivation.field.expressions().collect();
    let mut atoms = Vec::new();
    let values = derivation.integrals.rows().map(|integral| &integral.value);
    for atom in
        parts.iter().copied().chain(values).flat_map(Expression::nodes).filter_map(|node| atom(node, derivation))
    {
        if !atoms.contains(&atom) {
            atoms.push(atom);
        }
    }
    if derivation.constraints().is_none() && derivation.field.systems.is_empty() {
        let is_factor = |state: &Symbol| is_factor_of_rate(*state, parts[state.place()]);
        let logarithm = |state: Symbol| Expression::call(Function::Ln, [Expression::from(state)]);
        let logarithms: Vec<Expression> = derivation.symbols.states().filter(is_factor).map(logarithm).collect();
        atoms.extend(logarithms.into_iter().filter(|logarithm| !atoms.contains(logarithm)).collect::<Vec<_>>());
    }
    atoms
}

/// The root, the reciprocal or the call itself, if it depends on the state.
fn atom(node: &Expression, derivation: &Derivation) -> Option<Expression> {
    let atom = match node {
        Expression::Power(base, exponent) if !exponent.is_integer() || exponent.is_negative() => {
            let sign = if exponent.is_negative() { -BigInt::one() } else { BigInt::one() };
            (**base).clone().power(BigRational::new(sign, exponent.denom().clone())).ok()
        }
        Expression::Call(..) => Some(node.clone()),
        _ => None,
    };
    atom.filter(|atom| atom.symbols().iter().any(|symbol| derivation.symbols.is_state(*symbol)))
}

/// Whether x divides its own rate, so that the rate of ln x is a polynomial where that of x is.
fn is_factor_of_rate(state: Symbol, rate: &Expression) -> bool {
    let at_zero = |symbol| if symbol == state { Expression::zero() } else { Expression::from(symbol) };
    vanishes_identically(&rate.substituted(&at_zero)) && !vanishes_identically(rate)
}
