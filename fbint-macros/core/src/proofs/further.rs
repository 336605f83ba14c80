//! The search for undeclared conserved quantities among polynomials in the state and in the functions that occur.
//!
//! f -> X(f) is linear. On the span of the monomials up to a degree, it has the kernel of a matrix with a row for each point of the state
//! space, or of the constraint set, modulo a prime; by [symmetries](grading) it falls apart into one matrix for each weight. Functions are
//! elements with the relations that [`identities`](super::identities) lists.
//!
//! The prime has 62 bits. At first all points share their parameters. Relations of functions and of the constraints are left out of the
//! kernel. The part that stays in it with other parameters at each point gives the functions whose coefficients are numbers. The other
//! functions, if they are independent of declared and found ones, are solved for again at points with other parameters, in short forms
//! whose coefficients are polynomials in the parameters. Reconstruction of rational numbers gives the coefficients, and the result is
//! proved like a declared invariant.
//!
//! No polynomial whose coefficients are rational in the parameters is overlooked because of the prime or the points, which can only make a
//! kernel too large: what is in it beyond what is declared and found is counted. That the rest of the kernel consists of functions of what
//! is declared and found is decided by a rank at random points, which is too small with a probability that [`exclusion`] derives. Where that
//! is not below 1e-8, nothing is searched.

mod exclusion;
mod grading;
mod kernel;
mod monomials;
mod reconstruction;
mod samples;

use std::collections::BTreeSet;

use self::kernel::{BLOCK, Combination, combined, last, shortened, sum_of};
use self::monomials::{FactoredMonomial, atoms, monomials, products};
use self::reconstruction::DEGREE_IN_PARAMETERS;
use self::samples::Samples;
use super::identities::seed_and_scale;
use super::point::{ModularPoint, roots};
use super::rates::{bind_solutions, constraint_set};
use super::set::{Set, Step};
use crate::derivation::{Derivation, Field, Further, FurtherIntegral, Searched, SparseRow};
use crate::expression::parts::Identities;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{Differentiated, gradient};
use crate::numbers::field::{PrimeField, primes};
use crate::numbers::linear::Echelon;

/// The most state entries of an unasked search, and its degree.
const MOST_ENTRIES: usize = 24;
const DEGREE: usize = 2;
/// The most monomials of a search.
pub const MOST_MONOMIALS: usize = 4000;
/// Nodes of the field's expressions, times monomials, and operations that a kernel takes: beyond the first number, only a search that the
/// declaration asks for is made, and beyond the second, none.
const SIZES: [usize; 2] = [1_000_000, 20_000_000];
const WORK: [usize; 2] = [500_000, 1_000_000_000];
/// The most rotation matrices among the constraints: each doubles the number of parts of the set.
const MOST_ROTATIONS: usize = 4;
/// Points that may be undefined, for one that is defined: square roots of random residues exist with a probability of 1/2.
const UNDEFINED: u64 = 256;
/// The prime that is taken where no probability depends on it.
const FIRST_PRIME: PrimeField = PrimeField::new((1 << 61) - 1);

/// Why nothing is searched.
const UNASKED: &str = "the state has more than 24 entries, and no `search(degree = 1)` asks for it";
const IMPOSSIBLE: &str = "the model is too large, or no points modulo primes satisfy its constraints";

/// Searches polynomials up to the requested degree, or up to degree 2 as far as that takes little work.
pub fn further(derivation: &Derivation, asked: Option<usize>) -> Further {
    if asked.is_none() && derivation.dimension() > MOST_ENTRIES {
        return Further { found: Vec::new(), others: 0, searched: Err(UNASKED) };
    }
    searched(derivation, asked).unwrap_or(Further { found: Vec::new(), others: 0, searched: Err(IMPOSSIBLE) })
}

fn searched(derivation: &Derivation, asked: Option<usize>) -> Option<Further> {
    let size = 1 + derivation.field.expressions().map(Expression::size).sum::<usize>();
    let [most_size, most_work] = [SIZES, WORK].map(|most| most[usize::from(asked.is_some())]);
    if size > most_size {
        return None;
    }
    let atoms = atoms(derivation);
    let ranges = match asked {
        Some(degree) => vec![(degree, &atoms[..])],
        None => vec![(DEGREE, &atoms[..]), (DEGREE, &[]), (1, &[])],
    };
    let constraints = constraint_set(derivation);
    let everywhere = constraints.is_some().then_some(None);
    let sets = || [&constraints].into_iter().chain(&everywhere);
    let is_small = |(degree, atoms): &(usize, &[Expression])| {
        let count = monomials(derivation.dimension() + atoms.len(), *degree);
        count <= MOST_MONOMIALS && count.saturating_mul(size) <= most_size
    };
    ranges.into_iter().filter(is_small).find_map(|(degree, atoms)| {
        sets().find_map(|set| {
            let basis = Basis::new(derivation, atoms, degree, set.is_some())?;
            let is_cheap = basis.work() <= most_work;
            Space::new(is_cheap.then_some(basis)?, set.clone())?.search()
        })
    })
}

/// The number of monomials in a requested search.
pub fn monomials_up_to(derivation: &Derivation, degree: usize) -> usize {
    monomials(derivation.dimension() + atoms(derivation).len(), degree)
}

/// Monomials, and how they and their rates are evaluated.
struct Basis<'a> {
    derivation: &'a Derivation,
    /// The functions in addition to the state.
    atoms: &'a [Expression],
    degree: usize,
    /// The variables of monomials, and their derivatives.
    values: Vec<Expression>,
    gradients: Vec<SparseRow>,
    monomials: Vec<FactoredMonomial>,
    /// The places of monomials of each weight.
    classes: Vec<Vec<usize>>,
}

impl<'a> Basis<'a> {
    fn new(
        derivation: &'a Derivation,
        atoms: &'a [Expression],
        degree: usize,
        is_on_constraints: bool,
    ) -> Option<Self> {
        let symbols = &derivation.symbols;
        let values: Vec<Expression> = symbols.states().map(Expression::from).chain(atoms.iter().cloned()).collect();
        let gradients = values.iter().map(|value| gradient(value, |symbol| symbols.is_state(symbol)));
        let gradients = gradients.collect::<Option<Vec<SparseRow>>>()?;
        let monomials = products(values.len(), degree);
        let classes = grading::classes(derivation, &values, &monomials, is_on_constraints);
        Some(Self { derivation, atoms, degree, values, gradients, monomials, classes })
    }

    /// Operations that the kernel takes, about.
    fn work(&self) -> usize {
        let points = self.classes.iter().map(Vec::len).max().unwrap_or(0);
        let systems = self.derivation.field.systems.iter().map(|system| system.unknowns.len().pow(3) / 3);
        let parts = self.parts();
        let evaluated = parts.iter().flat_map(Expression::nodes).map(Expression::identity).collect::<Identities>();
        // A root takes most, for points at which there is none.
        let of_point = evaluated.len() + 100 * roots(&parts).len() + systems.sum::<usize>() + self.monomials.len();
        let evaluation = points.saturating_mul(of_point);
        let elimination = |class: &Vec<usize>| class.len().saturating_pow(3) / (3 * BLOCK);
        self.classes.iter().map(elimination).fold(evaluation, usize::saturating_add)
    }

    /// X at a point, whose parameters and states are known.
    fn rates(&self, point: &mut ModularPoint) -> Option<Vec<u64>> {
        let Field { systems, rates } = &self.derivation.field;
        bind_solutions(point, systems)?;
        point.evaluate_all(rates.rows())
    }

    /// The variables of monomials at a point, with their derivatives.
    fn variables(&self, point: &mut ModularPoint) -> Option<Vec<Differentiated<u64>>> {
        let variable = |(value, gradient): (&Expression, &SparseRow)| {
            let gradient = gradient.iter().map(|(state, slope)| Some((*state, point.evaluate(slope)?)));
            Some(Differentiated { gradient: gradient.collect::<Option<_>>()?, value: point.evaluate(value)? })
        };
        self.values.iter().zip(&self.gradients).map(variable).collect()
    }

    /// All that has to be defined at a point.
    fn parts(&self) -> Vec<Expression> {
        let integrals = self.derivation.integrals.rows().map(|integral| &integral.value);
        let slopes = self.gradients.iter().flat_map(SparseRow::values);
        self.derivation.field.expressions().chain(integrals).chain(slopes).chain(self.atoms).cloned().collect()
    }
}

/// The span of monomials on which the kernel is looked for.
struct Space<'a> {
    basis: Basis<'a>,
    /// The roots that occur, with roots of products and of numbers last. They are known at a point before anything else is evaluated.
    roots: Vec<Root>,
    /// The constraint set, or the whole space.
    set: Set<'a>,
    steps: Vec<Step>,
    /// `true` if it is the whole space although there are constraints.
    is_everywhere: bool,
    /// The number of points that tell new conserved quantities from functions of known ones.
    rank_points: u64,
    parameters: Vec<Symbol>,
    /// Roots of numbers and of functions of the parameters.
    constant_roots: Vec<Expression>,
    field: PrimeField,
    /// The residues of parameters for which all of these roots exist.
    shared: Vec<u64>,
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

/// The conserved quantities.
#[derive(Default)]
struct Kernel {
    /// Those with coefficients that are numbers.
    constant: Vec<Combination>,
    /// All of it, for some parameters.
    members: Vec<Combination>,
    /// Monomials that are combinations of others as functions.
    left_out: Vec<usize>,
    /// The number of points at which the field was evaluated.
    points: usize,
}

impl<'a> Space<'a> {
    /// The span on the constraint set, or everywhere.
    fn new(basis: Basis<'a>, set: Option<Set<'a>>) -> Option<Self> {
        let Basis { derivation, .. } = basis;
        let parts = basis.parts();
        let (seed, scale) = seed_and_scale(&parts.iter().collect::<Vec<_>>())?;
        let is_everywhere = set.is_none();
        let set = set.unwrap_or_default();
        let steps = set.steps().filter(|_| set.rotations.len() <= MOST_ROTATIONS)?;
        let parameters = || derivation.symbols.parameters();
        let bound = set.symbols().chain(parameters()).collect();
        let occurring: BTreeSet<Symbol> = parts.iter().flat_map(Expression::symbols).collect();
        let mut space = Self {
            rank_points: exclusion::points(&basis, &set, &steps, &parts, scale)?,
            basis,
            roots: Root::all(roots(parts.iter()), bound),
            is_everywhere: is_everywhere && derivation.integrals.constraints().next().is_some(),
            set,
            steps,
            parameters: parameters().filter(|symbol| occurring.contains(symbol)).collect(),
            constant_roots: exclusion::constant_roots(derivation, &parts),
            field: FIRST_PRIME,
            shared: Vec::new(),
            seed,
            scale,
        };
        for field in primes(seed).take(UNDEFINED as usize) {
            space.field = field;
            if let Some(shared) = space.parameters_with_roots() {
                return Some(Self { shared, ..space });
            }
        }
        None
    }

    fn search(&self) -> Option<Further> {
        let mut general = Samples::general(self);
        let kernel = self.kernel(&mut general)?;
        self.found(kernel, &mut general)
    }

    /// The quantities conserved for random parameters.
    fn kernel(&self, general: &mut Samples) -> Option<Kernel> {
        let mut shared = Samples::shared(self);
        let mut kernel = Kernel::default();
        for class in &self.basis.classes {
            let own = shared.kernel(class.len(), |sample| class.iter().map(|place| sample.rates[*place]).collect())?;
            let of_class = |(column, entry): &(usize, u64)| (class[*column], *entry);
            let own: Vec<Combination> = own.iter().map(|member| member.iter().map(of_class).collect()).collect();
            let bound = self.bound(general, &own)?;
            kernel.left_out.extend(bound.iter().map(|member| last(&own[*member])));
            let members = own.into_iter().enumerate().filter(|(member, _)| !bound.contains(member));
            let members: Vec<Combination> = members.map(|(_, member)| member).collect();
            if !members.is_empty() {
                let constant = general.kernel(members.len(), |sample| self.sums(&members, &sample.rates))?;
                kernel.constant.extend(constant.iter().map(|sum| sum_of(self.field, sum, &members)));
                kernel.members.extend(members);
            }
        }
        kernel.points = shared.len();
        Some(kernel)
    }

    /// Which members of a kernel are combinations of those before and of 1 as functions, for all parameters: by relations of functions, and
    /// by the constraints.
    fn bound(&self, general: &mut Samples, members: &[Combination]) -> Option<Vec<usize>> {
        if members.is_empty() || self.basis.atoms.is_empty() && self.set.is_everywhere() {
            return Some(Vec::new());
        }
        let relations = general
            .kernel(1 + members.len(), |sample| [1].into_iter().chain(self.sums(members, &sample.values)).collect())?;
        Some(relations.iter().map(|relation| last(relation) - 1).collect())
    }

    /// Combinations of values.
    fn sums(&self, combinations: &[Combination], values: &[u64]) -> Vec<u64> {
        combinations.iter().map(|combination| combined(self.field, combination, values)).collect()
    }

    /// The independent part of a kernel, for all parameters.
    fn found(&self, kernel: Kernel, general: &mut Samples) -> Option<Further> {
        let Kernel { constant, members, left_out, points } = kernel;
        let constant = self.proved(general, &self.shortest(constant, &[])?, 0);
        let mut found: Vec<FurtherIntegral> = constant.into_iter().flatten().collect();
        let members = self.proved(general, &self.shortest(members, &found)?, DEGREE_IN_PARAMETERS);
        let others = members.iter().filter(|integral| integral.is_none()).count();
        found.extend(members.into_iter().flatten());
        let states = self.basis.derivation.dimension();
        let is_new = |place: &usize| !left_out.contains(&(states + place));
        let searched = Searched {
            degree: self.basis.degree,
            atoms: (0..self.basis.atoms.len()).filter(is_new).map(|place| self.basis.atoms[place].clone()).collect(),
            is_everywhere: self.is_everywhere,
            unknowns: self.basis.monomials.len() - left_out.len(),
            points,
        };
        Some(Further { found, others, searched: Ok(searched) })
    }

    /// Those combinations of a kernel that are independent of what is declared, of what was found, and of one another, in short forms, the
    /// shortest first.
    fn shortest(&self, mut kernel: Vec<Combination>, found: &[FurtherIntegral]) -> Option<Vec<Combination>> {
        kernel.sort_by_key(last);
        let mut candidates = kernel.clone();
        candidates.sort_by_cached_key(|combination| self.length(combination));
        let chosen = self.independent(&candidates, found)?;
        let mut short: Vec<Combination> =
            chosen.into_iter().map(|combination| shortened(combination, &kernel, self.field)).collect();
        short.sort_by_cached_key(|combination| self.length(combination));
        short.extend(candidates);
        self.independent(&short, found)
    }

    /// The order of length: the degree, and the number of terms.
    fn length(&self, combination: &Combination) -> (usize, usize, Vec<usize>) {
        let degree = combination.iter().map(|(place, _)| self.basis.monomials[*place].degree).max().unwrap_or(0);
        (degree, combination.len(), combination.iter().map(|(place, _)| *place).collect())
    }

    /// Those that are functions neither of what is declared, nor of what was found, nor of those before.
    fn independent(&self, combinations: &[Combination], found: &[FurtherIntegral]) -> Option<Vec<Combination>> {
        if combinations.is_empty() {
            return Some(Vec::new());
        }
        let declared = self.basis.derivation.integrals.rows().map(|integral| &integral.gradient);
        let known: Vec<&SparseRow<Expression>> =
            declared.chain(found.iter().map(|integral| &integral.gradient)).collect();
        let numbers = |point: u64| (point * UNDEFINED..(point + 1) * UNDEFINED).map(|attempt| (1 << 20) + attempt);
        let pivots = |point| numbers(point).find_map(|number| self.pivots(number, &known, combinations));
        let pivots = (0..self.rank_points).map(pivots).collect::<Option<Vec<Vec<bool>>>>()?;
        let best = pivots.into_iter().max_by_key(|pivots| pivots.iter().filter(|is_pivot| **is_pivot).count())?;
        let chosen = combinations.iter().zip(best).filter(|(_, is_pivot)| *is_pivot);
        Some(chosen.map(|(combination, _)| combination.clone()).collect())
    }

    /// Selects the combinations whose gradients at a point are independent of the known functions' and of earlier combinations' gradients.
    fn pivots(&self, number: u64, known: &[&SparseRow<Expression>], combinations: &[Combination]) -> Option<Vec<bool>> {
        let mut point = self.point(&self.shared, number)?;
        let variables = self.basis.variables(&mut point)?;
        let mut rows: Vec<Vec<u64>> = Vec::new();
        for state in self.basis.derivation.symbols.states() {
            let slope = |row: &&SparseRow<Expression>| match row.get(&state) {
                Some(slope) => point.evaluate(slope),
                None => Some(0),
            };
            let mut row = known.iter().map(slope).collect::<Option<Vec<u64>>>()?;
            let (_, slopes) = self.along(&variables, |other| u64::from(other == state));
            row.extend(self.sums(combinations, &slopes));
            rows.push(row);
        }
        let mut matrix = Echelon::new(self.field, rows);
        let columns = 0..known.len() + combinations.len();
        let mut pivots = columns.map(|column| matrix.pivot(column, 0.0)).collect::<Option<Vec<bool>>>()?;
        Some(pivots.split_off(known.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::{Drive, EntryOf, Field, Integrals, Role, Structure, SymbolInfo};

    /// x' = u, y' = v, u' = -x, v' = -4 y + x^2
    fn resonance() -> Derivation {
        let [x, y, u, v] = [0, 1, 2, 3].map(|index| Expression::from(Symbol(index)));
        let symbol = |name: &str| SymbolInfo {
            name: name.to_owned(),
            latex: name.to_owned(),
            entry: EntryOf::scalar(name),
            role: Role::State,
        };
        let forces = [-x.clone(), x.clone() * x - Expression::integer(4) * y];
        Derivation {
            name: "Resonance".to_owned(),
            symbols: ["x", "y", "u", "v"].into_iter().map(symbol).collect(),
            structure: Structure::None,
            drive: Drive::default(),
            integrals: Integrals::from_iter([]),
            field: Field { systems: Vec::new(), rates: [u, v].into_iter().chain(forces).collect() },
            hamel: None,
            outputs: Vec::new(),
            laws: Vec::new(),
        }
    }

    /// One matrix for all monomials has as large a kernel as the weights' matrices together.
    #[test]
    fn weights_leave_nothing_out() {
        let derivation = resonance();
        let mut space = Space::new(Basis::new(&derivation, &[], 4, false).unwrap(), None).unwrap();
        let kernel = |space: &Space| {
            let Kernel { constant, members, points, .. } = space.kernel(&mut Samples::general(space)).unwrap();
            ([constant.len(), members.len()], points)
        };
        let (by_weight, points) = kernel(&space);
        space.basis.classes = vec![(0..space.basis.monomials.len()).collect()];
        let (whole, all_points) = kernel(&space);
        assert_eq!((by_weight, points < all_points / 2), (whole, true), "{points} and {all_points} points");
        assert!(whole[1] > 0);
    }
}
