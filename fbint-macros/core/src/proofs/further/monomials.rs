//! The searched monomials: products of the state, of the functions that occur and of their partners, up to a degree.

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

/// The functions of the state that occur, roots, reciprocals and calls, and what such a function is the derivative of: the energy of a
/// pendulum contains the cosine where its force is a sine.
pub(super) fn atoms(derivation: &Derivation) -> Vec<Expression> {
    let parts: Vec<&Expression> = derivation.field.expressions().collect();
    let values = derivation.integrals.rows().map(|integral| &integral.value);
    let nodes = parts.iter().copied().chain(values).flat_map(Expression::nodes);
    let occurring: Vec<Expression> = nodes.filter_map(|node| atom(node, derivation)).collect();
    let mut candidates = occurring.clone();
    if derivation.constraints().is_none() && derivation.field.systems.is_empty() {
        let is_factor = |state: &Symbol| is_factor_of_rate(*state, parts[state.place()]);
        candidates
            .extend(derivation.symbols.states().filter(is_factor).map(|state| logarithm(Expression::from(state))));
    }
    candidates.extend(occurring.iter().filter_map(partner));
    let mut atoms = Vec::new();
    for candidate in candidates {
        if !atoms.contains(&candidate) {
            atoms.push(candidate);
        }
    }
    atoms
}

fn logarithm(of: Expression) -> Expression {
    Expression::call(Function::Ln, [of])
}

/// A function whose derivative is made of this one, or that is made of its derivative.
fn partner(atom: &Expression) -> Option<Expression> {
    match atom {
        // Roots have none: the logarithm of each distance would be one more function for each pair of bodies.
        Expression::Power(base, exponent) if *exponent == -BigRational::one() => Some(logarithm((**base).clone())),
        Expression::Call(function, arguments) => {
            let of = |function| Some(Expression::call(function, [arguments[0].clone()]));
            match function {
                Function::Sin => of(Function::Cos),
                Function::Cos => of(Function::Sin),
                Function::Sinh => of(Function::Cosh),
                Function::Cosh => of(Function::Sinh),
                Function::Tan => of(Function::Cos).map(logarithm),
                Function::Tanh => of(Function::Cosh).map(logarithm),
                Function::Ln => arguments[0].clone().power(-BigRational::one()).ok(),
                _ => None,
            }
        }
        _ => None,
    }
}

/// The root, the reciprocal or the call itself, if it depends on the state.
fn atom(node: &Expression, derivation: &Derivation) -> Option<Expression> {
    let atom = match node {
        Expression::Power(base, exponent) if !exponent.is_integer() || exponent.is_negative() => {
            let sign = if exponent.is_negative() { -BigInt::one() } else { BigInt::one() };
            (**base).clone().power(BigRational::new(sign, exponent.denom().clone())).ok()
        }
        // It stays what it is until it switches: no motion conserves it.
        Expression::Call(Function::Step, _) => None,
        Expression::Call(..) => Some(node.clone()),
        _ => None,
    };
    atom.filter(|atom| atom.symbols().iter().any(|symbol| derivation.symbols.is_state(*symbol)))
}

/// Returns `true` if x divides its own rate, so that the rate of ln x is a polynomial where the rate of x is one.
fn is_factor_of_rate(state: Symbol, rate: &Expression) -> bool {
    let at_zero = |symbol| if symbol == state { Expression::zero() } else { Expression::from(symbol) };
    vanishes_identically(&rate.substituted(&at_zero)) && !vanishes_identically(rate)
}
