//! What else is conserved: a search among polynomials in the state and in the functions that occur.
//!
//! f -> X(f) is linear. On the span of the monomials up to a degree, its kernel is that of a matrix with a row for each point of the
//! state space, or of the constraint set, modulo a prime. Functions are elements with the relations that
//! [`identities`](super::identities) lists.
//!
//! First a sieve, modulo a prime of 30 bits and for random parameters: monomials that occur in nothing that it finds to be conserved are left
//! out of what follows, which is modulo a prime of 62 bits. There, parameters are at first other ones at each point: that gives the functions
//! whose coefficients are numbers. Then they are the same at all points. Of what is in the kernel then, and independent of what is declared
//! and of what was found before, the short forms are solved for again at points with other parameters, with coefficients that are polynomials
//! in these. Reconstruction of rational numbers gives the rest, and what comes out is proved as a declared invariant is.
//!
//! No polynomial whose coefficients are rational in the parameters is overlooked because of a prime or the points, which can only make
//! a kernel too large: what is in it beyond what is declared and found is counted. The sieve leaves a monomial out that occurs in a
//! conserved function only if its coefficient vanishes there; then the kernel of what is left has fewer dimensions modulo the large prime,
//! and another small prime is taken. That the rest of the kernel consists of functions of what is declared and found is decided by a rank at
//! a random point modulo the large prime, which is too small with a probability of at most the degree of its minors over 2^61, where
//! solutions of linear systems count as unknowns. Where that is not below 1e-8, nothing is searched.

mod kernel;
mod monomials;
mod reconstruction;
mod samples;
mod sieve;
mod tape;

use std::collections::{BTreeMap, BTreeSet};

use self::kernel::{Combination, combined, on, shortened, sum_of};
use self::monomials::{Monomial, atoms, factors_of, monomials, products};
use self::samples::{Sample, Samples};
use self::sieve::Sieve;
use self::tape::{Tape, residue};
use super::identities::seed_and_scale;
use super::point::{ModularPoint, Set, Step, roots};
use super::rates::{constraint_set, parts_of_field};
use crate::derivation::table::Id;
use crate::derivation::{Derivation, Field, Further, FurtherIntegral, Searched, column_of};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{Differentiated, gradient};
use crate::numbers::field::{PrimeField, primes, small_primes};
use crate::numbers::linear::Echelon;
use crate::numbers::ring::LARGEST_DIMENSION;

/// The degree of what is looked at without being asked for.
const DEGREE: usize = 2;
/// Monomials that are looked at without being asked for.
const MOST_UNASKED: usize = 350;
/// The most monomials that are looked at.
pub const MOST_MONOMIALS: usize = 2400;
/// Nodes of the field's expressions, times monomials, beyond which nothing is looked at without being asked for, and at all.
const WORK_UNASKED: usize = 600_000;
const MOST_WORK: usize = 20_000_000;
/// Points that may be undefined, for one that is defined: square roots of random residues exist with a probability of 1/2.
const UNDEFINED: usize = 256;
/// Sieves that are tried.
const SMALL_PRIMES: usize = 3;
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
    let Some((degree, atoms)) = ranges.into_iter().find(fits) else { return Further::default() };
    let constraints = constraint_set(derivation);
    let everywhere = (!constraints.is_empty()).then(|| vec![Set::default()]);
    let mut sets = [constraints].into_iter().chain(everywhere);
    sets.find_map(|sets| Space::new(derivation, &parts, atoms, degree, sets)?.search()).unwrap_or_default()
}

/// The number of monomials that a search takes which is asked for.
pub fn monomials_up_to(derivation: &Derivation, degree: usize) -> usize {
    monomials(derivation.dimension() + atoms(derivation, &parts_of_field(derivation)).len(), degree)
}

/// The span of monomials on which the kernel is looked for.
struct Space<'a> {
    derivation: &'a Derivation,
    /// Roots of anything but products, which are known at a point before anything else is evaluated.
    roots: Vec<Root>,
    /// The parts of the constraint set, or the whole space.
    sets: Vec<(Set<'a>, Vec<Step>)>,
    /// Whether it is the whole space although there are constraints.
    is_everywhere: bool,
    /// The functions beside the state.
    atoms: &'a [Expression],
    /// What monomials are made of.
    values: Vec<Expression>,
    /// What is evaluated at each point.
    tape: Tape,
    /// The places of X.
    rates: Vec<usize>,
    /// The places of what monomials are made of, with the derivatives by the state.
    variables: Vec<Differentiated<usize>>,
    monomials: Vec<Monomial>,
    degree: usize,
    parameters: Vec<Symbol>,
    field: PrimeField,
    seed: u64,
    scale: u64,
}

/// A root that occurs.
struct Root {
    value: Expression,
    /// Symbols that neither constraints nor earlier roots contain.
    open: Vec<Symbol>,
    /// The last root, up to this one, with such symbols that this one contains, too, or else this one.
    first: usize,
}

impl Root {
    /// Roots in their order, with the symbols that are bound by something else.
    fn all(values: Vec<Expression>, mut bound: BTreeSet<Symbol>) -> Vec<Self> {
        let mut all: Vec<Self> = Vec::new();
        for value in values {
            let symbols = value.symbols();
            let open: Vec<Symbol> = symbols.difference(&bound).copied().collect();
            bound.extend(&open);
            let earlier = || all.iter().rposition(|root| root.open.iter().any(|symbol| symbols.contains(symbol)));
            let first = if open.is_empty() { earlier().unwrap_or(all.len()) } else { all.len() };
            all.push(Self { value, open, first });
        }
        all
    }
}

impl<'a> Space<'a> {
    /// The span on the parts of the constraint set, or everywhere if there are none.
    fn new(
        derivation: &'a Derivation,
        parts: &[Expression],
        atoms: &'a [Expression],
        degree: usize,
        mut sets: Vec<Set<'a>>,
    ) -> Option<Self> {
        let symbols = &derivation.symbols;
        if sets.is_empty() {
            sets.push(Set::default());
        }
        let values: Vec<Expression> = symbols.states().map(Expression::from).chain(atoms.iter().cloned()).collect();
        let gradients = values.iter().map(|value| gradient(value, |symbol| symbols.is_state(symbol)));
        let gradients = gradients.collect::<Option<Vec<BTreeMap<Symbol, Expression>>>>()?;
        let mut tape = Tape::default();
        let Field { systems, rates } = &derivation.field;
        systems.iter().for_each(|system| tape.system(system));
        let rates = rates.rows().map(|rate| tape.place(rate)).collect();
        let variable = |(value, gradient): (&Expression, &BTreeMap<Symbol, Expression>)| {
            let gradient = gradient.iter().map(|(state, slope)| (*state, tape.place(slope))).collect();
            Differentiated { value: tape.place(value), gradient }
        };
        let variables: Vec<Differentiated<usize>> = values.iter().zip(&gradients).map(variable).collect();
        let mut parts = parts.to_vec();
        parts.extend(derivation.integrals.rows().map(|integral| integral.value.clone()));
        parts.extend(gradients.iter().flat_map(|gradient| gradient.values().cloned()));
        parts.extend(atoms.iter().cloned());
        // Coefficients are quotients of minors of the matrix of rates, and the rank is one of minors of gradients.
        let monomials = products(variables.len(), degree);
        let factor = (LARGEST_DIMENSION * monomials.len() * variables.len()) as u64;
        let (seed, scale) = seed_and_scale(&parts.iter().collect::<Vec<_>>(), factor)?;
        let occurring: BTreeSet<Symbol> = parts.iter().flat_map(Expression::symbols).collect();
        let field = primes(seed).find(|field| field.has_roots())?;
        let with_steps = |set: Set<'a>| {
            let steps = ModularPoint::of_residues(field, seed, scale).steps(&set)?;
            Some((set, steps))
        };
        let bound = sets.iter().flat_map(Set::symbols);
        Some(Self {
            derivation,
            roots: Root::all(roots(parts.iter()), bound.chain(symbols.parameters()).collect()),
            is_everywhere: sets[0].is_everywhere() && derivation.integrals.constraints().next().is_some(),
            sets: sets.into_iter().map(with_steps).collect::<Option<_>>()?,
            atoms,
            monomials,
            values,
            tape,
            rates,
            variables,
            degree,
            parameters: symbols.parameters().filter(|symbol| occurring.contains(symbol)).collect(),
            field,
            seed,
            scale,
        })
    }

    fn search(&self) -> Option<Further> {
        let mut primes = small_primes(self.seed).filter(|field| field.has_roots()).take(SMALL_PRIMES);
        primes.find_map(|field| self.search_after(self.sieve(field)?))
    }

    /// Looks for what is conserved among what is left; `None` where that is not what the sieve found.
    fn search_after(&self, Sieve { columns, dimension, left_out, points }: Sieve) -> Option<Further> {
        let parameters = self.random_parameters(self.field, 0);
        let mut samples = Samples::new(self, self.field, Some(parameters))?;
        let kernel = samples.kernel(columns.len(), |sample| sample.rates_of(&columns))?;
        if kernel.len() != dimension {
            return None;
        }
        let kernel: Vec<Combination> = kernel.into_iter().map(|combination| on(&columns, combination)).collect();
        let mut general = Samples::new(self, self.field, None)?;
        let rate = |sample: &Sample, member: &Combination| combined(self.field, member, &sample.rates);
        let constant =
            general.kernel(kernel.len(), |sample| kernel.iter().map(|member| rate(sample, member)).collect())?;
        let constant = constant.iter().map(|members| sum_of(self.field, members, &kernel)).collect();
        let mut found: Vec<FurtherIntegral> = Vec::new();
        for combination in self.shortest(constant, &[])? {
            found.extend(self.proved(&mut general, &combination, 0));
        }
        let mut others = 0;
        for combination in self.shortest(kernel, &found)? {
            let proved = (0..=DEGREE_IN_PARAMETERS).find_map(|degree| self.proved(&mut general, &combination, degree));
            others += usize::from(proved.is_none());
            found.extend(proved);
        }
        let states = self.derivation.dimension();
        let is_new = |place: &usize| !left_out.contains(&(states + place));
        let atoms = (0..self.atoms.len()).filter(is_new).map(|place| self.atoms[place].clone()).collect();
        let searched = Searched {
            degree: self.degree,
            atoms,
            is_everywhere: self.is_everywhere,
            unknowns: self.monomials.len() - left_out.len(),
            points,
        };
        Some(Further { found, others, searched: Some(searched) })
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
        if combinations.is_empty() {
            return Some(Vec::new());
        }
        (0..UNDEFINED as u64).find_map(|attempt| {
            let parameters = self.random_parameters(self.field, 0);
            let mut point = self.point(self.field, &parameters, (1 << 20) + attempt)?;
            let states: Vec<Symbol> = self.derivation.symbols.states().collect();
            let zero = Expression::zero;
            let declared = self.derivation.integrals.ids().map(|id| {
                states.iter().map(|state| self.derivation.entry(id, *state).cloned().unwrap_or_else(zero)).collect()
            });
            let found = found.iter().map(|FurtherIntegral { gradient, .. }| {
                states.iter().map(|state| column_of(gradient, *state).cloned().unwrap_or_else(zero)).collect()
            });
            let known: Vec<Vec<Expression>> = declared.chain(found).collect();
            let mut columns: Vec<Vec<u64>> = Vec::new();
            for gradient in &known {
                columns.push(gradient.iter().map(|entry| residue(&point.evaluate(entry)?)).collect::<Option<_>>()?);
            }
            columns.extend(self.gradients(&mut point, combinations)?);
            let row = |state: usize| columns.iter().map(|column| column[state]).collect();
            let mut matrix = Echelon::new(self.field, (0..states.len()).map(row).collect());
            let pivots = (0..columns.len()).map(|column| matrix.pivot(column, 0.0)).collect::<Option<Vec<bool>>>()?;
            let independent = combinations.iter().zip(&pivots[known.len()..]).filter(|(_, is_pivot)| **is_pivot);
            Some(independent.map(|(combination, _)| combination.clone()).collect())
        })
    }

    /// The gradients of combinations at a point: the derivative of a monomial by a variable is the monomial over the variable, times the
    /// exponent.
    fn gradients(&self, point: &mut ModularPoint, combinations: &[Combination]) -> Option<Vec<Vec<u64>>> {
        let field = self.field;
        let results = self.tape.results(point, &self.tape.numbers(field)?)?;
        let of_variable = |variable: &Differentiated<usize>| field.inverse(results[variable.value]);
        let reciprocals = self.variables.iter().map(of_variable).collect::<Option<Vec<u64>>>()?;
        let mut values: Vec<u64> = Vec::new();
        for Monomial { of, variable, .. } in &self.monomials {
            let value = results[self.variables[*variable].value];
            values.push(of.map_or(value, |of| field.multiply(values[of], value)));
        }
        let gradient = |combination: &Combination| {
            let mut gradient = vec![0; self.derivation.dimension()];
            for (place, factor) in combination {
                let term = field.multiply(values[*place], *factor);
                for variable in factors_of(&self.monomials, *place) {
                    let term = field.multiply(term, reciprocals[variable]);
                    for (state, slope) in &self.variables[variable].gradient {
                        let entry = &mut gradient[state.place()];
                        *entry = field.add(*entry, field.multiply(term, results[*slope]));
                    }
                }
            }
            gradient
        };
        Some(combinations.iter().map(gradient).collect())
    }
}
