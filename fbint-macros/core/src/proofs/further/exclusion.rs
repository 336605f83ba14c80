//! With what probability a search overlooks something.
//!
//! The coefficients of what is conserved solve linear equations, the rates of w monomials at fixed points: they are minors, of degree w r at
//! most in the parameters, where r is the degree of rates over a common denominator. What linear systems are solved for are quotients of
//! determinants, and each system doubles the degree, since all is multiplied by a power of its own. Functions of n states, known ones and
//! those of a kernel, are independent if a minor of their gradients does not vanish. It has at most n columns, of degree w r + g where
//! coefficients are minors, g being the degree of slopes of monomials over a common denominator, c + g where c is the degree of the
//! coefficients of what is found, and their own where they are declared. So its degree is below D = n (w r + c + g) + the sum of the degrees
//! of what is declared, in all unknowns: residues, roots, and what constraints are solved for. These are algebraic of degree N together, and
//! the norm of the minor, a polynomial of degree N D, vanishes at random residues with a probability of N D / p at most (Schwartz and
//! Zippel). Functions are unknowns, which are independent where no two arguments are equal: the degrees of all differences of arguments
//! count, too. p > 2^61, and what [`Random`](crate::numbers::random::Random) gives has any residue with a probability below 2 / p.
//!
//! Parameters are drawn once, and points until there are roots. More than one in 2 d values of a function have a root of index d where the
//! function is not such a power itself: one in d, but for a share of its degree over p^(1/2) (Weil). So no point is more than A, the product
//! of all 2 d, times as probable as it is by itself. A point is the first that is defined out of U, and the rank that counts is the highest
//! at m points. What is conserved is overlooked with a probability of at most
//!
//! N D / 2^60 + (U A N D / 2^60)^m
//!
//! where the first term has a factor U A of its own if there are roots of functions of the parameters, until which these are drawn. Primes
//! that divide all coefficients of the norm are not counted: where these have 2^33 binary digits, they are fewer than 2^28 out of 2^55.

use std::collections::BTreeMap;

use num_traits::ToPrimitive;

use super::reconstruction::DEGREE_IN_PARAMETERS;
use super::{Basis, UNDEFINED};
use crate::derivation::{Derivation, Role};
use crate::expression::{Expression, Function, Symbol};
use crate::proofs::degree::{Degree, Degrees};
use crate::proofs::point::{Set, Step};
use crate::proofs::rotation;

/// The probability of error that is aimed at, and the largest one.
const AIM: f64 = 1e-8;
const LARGEST: f64 = 1e-6;
/// The most points.
const MOST_POINTS: u64 = 8;

/// How what is conserved is told from functions of what is known.
pub(super) struct Exclusion {
    /// m
    pub(super) points: u64,
    /// The probability that something is overlooked.
    pub(super) error: f64,
}

impl Exclusion {
    /// `None` where no number of points is enough. Exponents are multiplied by `scale`.
    pub(super) fn of(
        basis: &Basis<'_>,
        (set, steps): &(Set<'_>, Vec<Step>),
        parts: &[Expression],
        scale: u64,
    ) -> Option<Self> {
        let (roots, calls) = extensions(parts);
        let (constant, others): (Vec<&Expression>, Vec<_>) =
            roots.into_iter().partition(|root| is_constant(basis.derivation, root));
        let of_constants: Vec<f64> = constant.into_iter().map(index).collect();
        // The degree of a constraint in what it is solved for.
        let of_steps = steps.iter().map(|step| (step.coefficients.len() - 1) as f64).filter(|degree| *degree > 1.0);
        let of_points: Vec<f64> = others.into_iter().map(index).chain(of_steps).collect();
        // N, and U A.
        let norm = of_constants.iter().chain(&of_points).product::<f64>();
        let draws = |indices: &[f64]| indices.iter().fold(UNDEFINED as f64, |draws, index| draws * 2.0 * index);
        let mut degree = basis.degree_of_minors(steps, &calls) * scale as f64;
        if !set.rotations.is_empty() {
            degree *= rotation::DEGREE;
        }
        let single = norm * degree / 2_f64.powi(60);
        let of_parameters = if of_constants.is_empty() { single } else { draws(&of_constants) * single };
        let error =
            |points| Exclusion { points, error: of_parameters + (draws(&of_points) * single).powf(points as f64) };
        let best = (1..=MOST_POINTS).map(error).find(|exclusion| exclusion.error < AIM);
        best.or_else(|| Some(error(MOST_POINTS)).filter(|exclusion| exclusion.error < LARGEST))
    }
}

impl Basis<'_> {
    /// D, and the degrees of the differences of arguments.
    fn degree_of_minors(&self, steps: &[Step], calls: &[&Expression]) -> f64 {
        let mut degrees = Degrees::default();
        steps.iter().for_each(|step| degrees.bind(step.symbol, &step.coefficients));
        let slopes = self.gradients.iter().flat_map(BTreeMap::values).map(|slope| degrees.of(slope));
        let slopes = self.of_products(Degree::common(slopes), &degrees);
        let column = self.coefficients(steps) + DEGREE_IN_PARAMETERS as f64 + slopes;
        let gradients = self.derivation.integrals.rows().map(|integral| &integral.gradient);
        let declared = gradients.map(|gradient| Degree::common(gradient.values().map(|slope| degrees.of(slope))));
        let arguments = calls.iter().map(|call| degrees.of(call).total() * calls.len() as f64);
        column * self.derivation.dimension() as f64 + declared.chain(arguments).sum::<f64>()
    }

    /// w r, where what constraints are solved for depends on the parameters, too.
    fn coefficients(&self, steps: &[Step]) -> f64 {
        let symbols = &self.derivation.symbols;
        let mut degrees = Degrees::with_fixed(symbols.states().chain(symbols.inputs()));
        steps.iter().for_each(|step| degrees.bind(step.symbol, &step.coefficients));
        self.derivation.field.systems.iter().for_each(|system| degrees.solve(system));
        let rate = |(state, slope): (&Symbol, &Expression)| {
            degrees.of(slope).product(degrees.of(&self.derivation.field.rates[*state]))
        };
        let rates = Degree::common(self.gradients.iter().flatten().map(rate));
        let of_systems = 2_f64.powi(self.derivation.field.systems.len() as i32);
        self.of_products(rates, &degrees) * self.monomials.len() as f64 * of_systems
    }

    /// The degree of what is multiplied with monomials, with the degree of these.
    fn of_products(&self, degree: f64, degrees: &Degrees) -> f64 {
        let values = Degree::common(self.values.iter().map(|value| degrees.of(value)));
        values * self.degree as f64 + degree
    }
}

/// Roots of numbers and of functions of the parameters.
pub(super) fn constant_roots(derivation: &Derivation, parts: &[Expression]) -> Vec<Expression> {
    let roots = extensions(parts).0.into_iter();
    roots.filter(|root| is_constant(derivation, root)).cloned().collect()
}

fn is_constant(derivation: &Derivation, expression: &Expression) -> bool {
    expression.symbols().iter().all(|symbol| derivation.symbols[*symbol].role == Role::Parameter)
}

/// The index of a root, of which |x| is one: that of x^2.
fn index(root: &Expression) -> f64 {
    match root {
        Expression::Power(_, exponent) => exponent.denom().to_f64().unwrap_or(f64::INFINITY),
        _ => 2.0,
    }
}

/// The roots that occur, and the functions, each once.
fn extensions(parts: &[Expression]) -> (Vec<&Expression>, Vec<&Expression>) {
    let (mut roots, mut calls): (Vec<&Expression>, Vec<&Expression>) = (Vec::new(), Vec::new());
    for node in parts.iter().flat_map(Expression::nodes) {
        let found = match node {
            Expression::Power(_, exponent) if !exponent.is_integer() => &mut roots,
            Expression::Call(Function::Abs, _) => &mut roots,
            Expression::Call(..) => &mut calls,
            _ => continue,
        };
        if !found.iter().any(|known| is_power_of_same_root(known, node)) {
            found.push(node);
        }
    }
    (roots, calls)
}

fn is_power_of_same_root(one: &Expression, other: &Expression) -> bool {
    match (one, other) {
        (Expression::Power(a, of_a), Expression::Power(b, of_b)) => a == b && of_a.denom() == of_b.denom(),
        _ => one == other,
    }
}
