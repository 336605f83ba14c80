//! What else is conserved: a search among polynomials in the state and in the functions that occur.
//!
//! f -> X(f) is linear. On the span of the monomials up to a degree, its kernel is that of a matrix with a row for each point of the
//! state space, or of the constraint set, modulo a random prime of 62 bits. Functions are elements with the relations that
//! [`identities`](super::identities) lists.
//!
//! First the parameters are random, too, other ones at each point: that gives the functions whose coefficients are numbers. Then they are
//! the same at all points. Of what is in the kernel then, and independent of what is declared and of what was found before, the short forms
//! are solved for again at points with other parameters, with coefficients that are polynomials in these. Reconstruction of rational numbers
//! gives the rest, and what comes out is proved as a declared invariant is.
//!
//! No polynomial whose coefficients are rational in the parameters is overlooked because of the prime or the points, which can only make
//! the kernel too large: what is in it beyond what is declared and found is counted. That the rest of it consists of functions of these
//! is decided by a rank at a random point modulo the prime, which is too small with a probability of at most the degree of its minors
//! over 2^61. Where that is not below 1e-8, nothing is searched.

mod kernel;
mod monomials;
mod reconstruction;
mod samples;

use self::kernel::{Combination, last, on, shortened};
use self::monomials::{Monomial, atoms, monomials, products};
use self::samples::{Sample, Samples};
use super::identities::seed_and_scale;
use super::point::Set;
use super::rates::{constraint_set, parts_of_field};
use crate::derivation::{Derivation, Further, FurtherIntegral, Searched, column_of};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{Differentiated, gradient};
use crate::numbers::field::{PrimeField, primes};
use crate::numbers::linear::Echelon;
use crate::numbers::ring::{Element, LARGEST_DIMENSION};

/// The degree of what is looked at without being asked for.
const DEGREE: usize = 2;
/// Monomials that are looked at without being asked for.
const MOST_UNASKED: usize = 105;
/// The most monomials that are looked at.
pub const MOST_MONOMIALS: usize = 1100;
/// Nodes of the field's expressions, times monomials, beyond which nothing is looked at without being asked for, and at all.
const WORK_UNASKED: usize = 40_000;
const MOST_WORK: usize = 20_000_000;
/// Points that may be undefined.
const UNDEFINED: usize = 3;
/// The degree of coefficients in the parameters.
const DEGREE_IN_PARAMETERS: usize = 4;

/// Searches polynomials up to the degree that is asked for, or up to degree 2 as far as that takes little work.
pub fn further(derivation: &Derivation, asked: Option<usize>) -> Further {
    let parts = parts_of_field(derivation);
    let size = parts.iter().map(Expression::size).fold(1, usize::saturating_add);
    let (most, most_work) = if asked.is_some() { (MOST_MONOMIALS, MOST_WORK) } else { (MOST_UNASKED, WORK_UNASKED) };
    if size > most_work {
        return Further::default();
    }
    let atoms = atoms(derivation, &parts);
    let ranges = match asked {
        Some(degree) => vec![(degree, &atoms[..])],
        None => vec![(DEGREE, &atoms[..]), (DEGREE, &[]), (1, &[])],
    };
    let fits = |(degree, atoms): &(usize, &[Expression])| {
        let count = monomials(derivation.dimension() + atoms.len(), *degree);
        count <= most && count.saturating_mul(size) <= most_work
    };
    let range = ranges.into_iter().find(fits);
    range.and_then(|(degree, atoms)| Space::new(derivation, parts, atoms, degree)?.search()).unwrap_or_default()
}

/// The number of monomials that a search takes which is asked for.
pub fn monomials_up_to(derivation: &Derivation, degree: usize) -> usize {
    monomials(derivation.dimension() + atoms(derivation, &parts_of_field(derivation)).len(), degree)
}

/// The span of monomials on which the kernel is looked for.
struct Space<'a> {
    derivation: &'a Derivation,
    /// What roots are made known in.
    parts: Vec<Expression>,
    /// The parts of the constraint set, or the whole space.
    sets: Vec<Set<'a>>,
    /// The functions beside the state.
    atoms: &'a [Expression],
    /// What monomials are made of, with the derivatives by the state.
    variables: Vec<Differentiated<Expression>>,
    monomials: Vec<Monomial>,
    degree: usize,
    parameters: Vec<Symbol>,
    field: PrimeField,
    seed: u64,
    scale: u64,
}

impl<'a> Space<'a> {
    fn new(
        derivation: &'a Derivation,
        mut parts: Vec<Expression>,
        atoms: &'a [Expression],
        degree: usize,
    ) -> Option<Self> {
        let symbols = &derivation.symbols;
        let mut sets = constraint_set(derivation);
        if sets.is_empty() {
            sets.push(Set::default());
        }
        let variable = |value: Expression| {
            let gradient = gradient(&value, |symbol| symbols.is_state(symbol))?;
            Some(Differentiated { value, gradient })
        };
        let values = symbols.states().map(Expression::from).chain(atoms.iter().cloned());
        let variables: Vec<Differentiated<Expression>> = values.map(variable).collect::<Option<_>>()?;
        parts.extend(derivation.integrals.rows().map(|integral| integral.value.clone()));
        parts.extend(variables.iter().flat_map(|variable| variable.gradient.values().cloned()));
        parts.extend(atoms.iter().cloned());
        // Coefficients are quotients of minors of the matrix of rates, and the rank is one of minors of gradients.
        let monomials = products(variables.len(), degree);
        let factor = (LARGEST_DIMENSION * monomials.len() * variables.len()) as u64;
        let (seed, scale) = seed_and_scale(&parts.iter().collect::<Vec<_>>(), factor)?;
        let occurring = |symbol: &Symbol| parts.iter().any(|part| part.symbols().contains(symbol));
        Some(Self {
            derivation,
            sets,
            atoms,
            monomials,
            variables,
            degree,
            parameters: symbols.parameters().filter(occurring).collect(),
            field: primes(seed).next()?,
            seed,
            scale,
            parts,
        })
    }

    fn search(&self) -> Option<Further> {
        let columns = self.columns()?;
        let mut general = Samples::new(self, None);
        let constant: Vec<Combination> = general.kernel(columns.len(), |sample| sample.rates_of(&columns))?;
        let constant = constant.into_iter().map(|combination| on(&columns, combination)).collect();
        let mut found: Vec<FurtherIntegral> = Vec::new();
        for combination in self.shortest(constant, &[])? {
            found.extend(self.proved(&mut general, &combination, 0));
        }
        let parameters = self.random_parameters(0);
        let mut samples = Samples::new(self, Some(parameters.clone()));
        let kernel = samples.kernel(columns.len(), |sample| sample.rates_of(&columns))?;
        let kernel = kernel.into_iter().map(|combination| on(&columns, combination)).collect();
        let mut others = 0;
        for combination in self.shortest(kernel, &found)? {
            let proved = (0..=DEGREE_IN_PARAMETERS).find_map(|degree| self.proved(&mut general, &combination, degree));
            others += usize::from(proved.is_none());
            found.extend(proved);
        }
        let states = self.derivation.dimension();
        let is_new = |place: &usize| columns.contains(&(states + place));
        let atoms = (0..self.atoms.len()).filter(is_new).map(|place| self.atoms[place].clone()).collect();
        let searched = Searched { degree: self.degree, atoms, unknowns: columns.len() };
        Some(Further { found, others, searched: Some(searched) })
    }

    /// The monomials that are not combinations of earlier ones, and of 1, as functions.
    fn columns(&self) -> Option<Vec<usize>> {
        let all: Vec<usize> = (0..self.monomials.len()).collect();
        if self.atoms.is_empty() && self.sets[0].is_everywhere() {
            return Some(all);
        }
        let with_one = |sample: &Sample| [vec![1]].into_iter().chain(sample.values.iter().cloned()).collect();
        let relations = Samples::new(self, None).kernel(all.len() + 1, with_one)?;
        let is_new = |column: &usize| relations.iter().all(|relation| last(relation) != *column + 1);
        Some(all.into_iter().filter(is_new).collect())
    }

    /// Those combinations of a kernel that are independent of what is declared, of what was found, and of one another, in short forms, the
    /// shortest first.
    fn shortest(&self, kernel: Vec<Combination>, found: &[FurtherIntegral]) -> Option<Vec<Combination>> {
        let mut candidates = kernel.clone();
        candidates.sort_by_key(|combination| self.length(combination));
        let chosen = self.independent(&candidates, found)?;
        let mut short: Vec<Combination> =
            chosen.into_iter().map(|combination| shortened(combination, &kernel, self.field)).collect();
        short.sort_by_key(|combination| self.length(combination));
        short.extend(candidates);
        self.independent(&short, found)
    }

    /// What the shortest comes first by: the degree, and the number of terms.
    fn length(&self, combination: &Combination) -> (usize, usize, Vec<usize>) {
        let degree = combination.iter().map(|(place, _)| self.monomials[*place].degree).max().unwrap_or(0);
        (degree, combination.len(), combination.iter().map(|(place, _)| *place).collect())
    }

    /// Those that are functions neither of what is declared, nor of what was found, nor of those before.
    fn independent(&self, combinations: &[Combination], found: &[FurtherIntegral]) -> Option<Vec<Combination>> {
        (0..UNDEFINED as u64).find_map(|attempt| {
            let mut point = self.point(&self.random_parameters(0), (1 << 20) + attempt)?;
            let slopes = self.slopes(&mut point)?;
            let states: Vec<Symbol> = self.derivation.symbols.states().collect();
            let zero = Expression::zero;
            let declared = self.derivation.integrals.ids().map(|id| {
                states.iter().map(|state| self.derivation.entry(id, *state).cloned().unwrap_or_else(zero)).collect()
            });
            let found = found.iter().map(|FurtherIntegral { gradient, .. }| {
                states.iter().map(|state| column_of(gradient, *state).cloned().unwrap_or_else(zero)).collect()
            });
            let known: Vec<Vec<Expression>> = declared.chain(found).collect();
            let mut columns: Vec<Vec<Element>> = Vec::new();
            for gradient in &known {
                columns.push(gradient.iter().map(|entry| point.evaluate(entry)).collect::<Option<_>>()?);
            }
            let ring = &point.ring;
            columns.extend(combinations.iter().map(|combination| {
                let mut column = vec![Element::new(); states.len()];
                for (place, factor) in combination {
                    let factor = ring.number(*factor);
                    for (entry, slope) in column.iter_mut().zip(&slopes[*place]) {
                        *entry = ring.add(entry, &ring.multiply(&factor, slope));
                    }
                }
                column
            }));
            let row = |state: usize| columns.iter().map(|column| column[state].clone()).collect();
            let mut matrix = Echelon::new(ring, (0..states.len()).map(row).collect());
            let pivots = (0..columns.len()).map(|column| matrix.pivot(column, 0.0)).collect::<Option<Vec<bool>>>()?;
            let independent = combinations.iter().zip(&pivots[known.len()..]).filter(|(_, is_pivot)| **is_pivot);
            Some(independent.map(|(combination, _)| combination.clone()).collect())
        })
    }
}
