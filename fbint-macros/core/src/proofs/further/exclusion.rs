//! With what probability a search overlooks something.
//!
//! The coefficients of conserved functions solve linear equations, the rates of w monomials at fixed points: they are minors, of degree w r
//! at most in all unknowns, where r is the degree of rates over a common denominator. Solutions of linear systems are quotients of
//! determinants, and each system doubles the degree, since a power of its determinant multiplies everything. Functions of n states, known
//! or from a kernel, are independent if a minor of their gradients does not vanish. It has at most n columns, of degree w r + g where
//! coefficients are minors, g being the degree of slopes of monomials over a common denominator, c + g where c is the degree of the
//! coefficients of what is found, and their own where they are declared. So its degree is below D = n (w r + c + g) + the sum of the
//! degrees of what is declared, in all unknowns: residues, roots, and what constraints are solved for. These are algebraic of degree N
//! together, and the norm of the minor, a polynomial of degree N D, vanishes at random residues with a probability of N D / p at most
//! (Schwartz and Zippel). Functions are unknowns, which are independent where no two arguments are equal: the degrees of all differences of
//! arguments count, too. p > 2^61, and what [`Random`](crate::numbers::random::Random) gives has any residue with a probability below 2 /
//! p.
//!
//! Parameters are drawn once, and points until there are roots. More than one in 2 d values of a function have a root of index d where the
//! function is not such a power itself: one in d, but for a share of its degree over p^(1/2) (Weil). So the condition that all roots exist
//! makes no point more than A times as probable, where A is the product of all 2 d. The highest rank at m points counts. A conserved
//! function is overlooked with a probability of at most
//!
//! N D / 2^60 + (A N D / 2^60)^m
//!
//! where the first term gets another factor A if there are roots of functions of the parameters, because parameters are drawn until these
//! exist. Primes that divide all coefficients of the norm are not counted: where these have 2^33 binary digits, they are fewer than 2^28
//! out of 2^52.

use num_traits::ToPrimitive;

use super::Basis;
use super::reconstruction::DEGREE_IN_PARAMETERS;
use crate::derivation::{Derivation, Role, Searched};
use crate::expression::{Expression, Function};
use crate::proofs::degree::{Degree, Degrees};
use crate::proofs::point::roots;
use crate::proofs::rotation;
use crate::proofs::set::{Set, Step};

/// The most points.
const MOST_POINTS: u64 = 8;

/// The number m of points that distinguish conserved functions from functions of known ones; `None` where no number is enough. Exponents
/// are multiplied by `scale`.
pub(super) fn points(
    basis: &Basis<'_>,
    set: &Set<'_>,
    steps: &[Step],
    parts: &[Expression],
    scale: u64,
) -> Option<u64> {
    let (constant, others): (Vec<Expression>, Vec<_>) =
        extensions(parts).into_iter().partition(|root| is_constant(basis.derivation, root));
    // The degree of a constraint in what it is solved for.
    let of_steps = steps.iter().map(|step| (step.coefficients.len() - 1) as f64).filter(|degree| *degree > 1.0);
    let of_points: Vec<f64> = others.iter().map(index).chain(of_steps).collect();
    let of_constants: Vec<f64> = constant.iter().map(index).collect();
    // N, and A.
    let norm = of_constants.iter().chain(&of_points).product::<f64>();
    let draws = |indices: &[f64]| indices.iter().map(|index| 2.0 * index).product::<f64>();
    let turns = if set.rotations.is_empty() { 1.0 } else { rotation::DEGREE };
    let single = norm * basis.degree_of_minors(steps, parts) * scale as f64 * turns / 2_f64.powi(60);
    let error = |points: &u64| draws(&of_constants) * single + (draws(&of_points) * single).powf(*points as f64);
    (1..=MOST_POINTS).find(|points| error(points) < Searched::ERROR)
}

impl Basis<'_> {
    /// D, and the degrees of the differences of arguments.
    fn degree_of_minors(&self, steps: &[Step], parts: &[Expression]) -> f64 {
        let Derivation { field, integrals, symbols, .. } = self.derivation;
        let mut degrees = Degrees::default();
        steps.iter().for_each(|step| degrees.bind(step.symbol, &step.coefficients));
        field.systems.iter().for_each(|system| degrees.solve(system));
        // The degree of what is multiplied with monomials, with the degree of these.
        let monomials = Degree::common(self.values.iter().map(|value| degrees.of(value))) * self.degree as f64;
        let slopes = || self.gradients.iter().flatten().map(|(state, slope)| (*state, degrees.of(slope)));
        let rates = Degree::common(slopes().map(|(state, slope)| slope.product(degrees.of(&field.rates[state]))));
        let of_systems = 2_f64.powi(field.systems.len() as i32);
        let coefficients = (monomials + rates) * self.monomials.len() as f64 * of_systems;
        let gradients = monomials + Degree::common(slopes().map(|(_, slope)| slope));
        let column = coefficients + DEGREE_IN_PARAMETERS as f64 + gradients;
        let gradients = integrals.rows().map(|integral| &integral.gradient);
        let declared = gradients.map(|gradient| Degree::common(gradient.values().map(|slope| degrees.of(slope))));
        let calls = calls(parts);
        let arguments = calls.iter().map(|call| degrees.of(call).total() * calls.len() as f64);
        column * symbols.states().count() as f64 + declared.chain(arguments).sum::<f64>()
    }
}

/// Roots of numbers and of functions of the parameters.
pub(super) fn constant_roots(derivation: &Derivation, parts: &[Expression]) -> Vec<Expression> {
    extensions(parts).into_iter().filter(|root| is_constant(derivation, root)).collect()
}

fn is_constant(derivation: &Derivation, expression: &Expression) -> bool {
    expression.symbols().iter().all(|symbol| derivation.symbols[*symbol].role == Role::Parameter)
}

/// The index of a root. |x| is a root of x^2, and the sign of x one of 1.
fn index(root: &Expression) -> f64 {
    match root {
        Expression::Power(_, exponent) => exponent.denom().to_f64().unwrap_or(f64::INFINITY),
        _ => 2.0,
    }
}

/// The roots that occur, each once.
fn extensions(parts: &[Expression]) -> Vec<Expression> {
    let is_size = |function| matches!(function, Function::Abs | Function::Sign | Function::Step);
    let sizes = calls(parts).into_iter().filter(|call| matches!(call, Expression::Call(f, _) if is_size(*f)));
    roots(parts).into_iter().chain(sizes.cloned()).collect()
}

/// The functions that occur, each once.
fn calls(parts: &[Expression]) -> Vec<&Expression> {
    let mut calls = Vec::new();
    for node in parts.iter().flat_map(Expression::nodes) {
        if matches!(node, Expression::Call(..)) && !calls.contains(&node) {
            calls.push(node);
        }
    }
    calls
}
