//! Points at which identities are tested: an element of a ring for each unknown, and so for each expression.

use std::collections::{BTreeMap, HashMap};

use num_bigint::BigInt;
use num_rational::BigRational;
use num_traits::{Signed, ToPrimitive};

use super::degree::{coefficients, degree_in};
use super::rotation::Rotation;
use crate::derivation::{Derivation, Integral, Kind, Role};
use crate::expression::{Expression, Function, Symbol};
use crate::numbers::field::PrimeField;
use crate::numbers::random::Random;
use crate::numbers::ring::{Element, Ring};
use crate::numbers::signs::is_never_zero;

/// Where an identity has to hold: everywhere, or where constraints do.
#[derive(Clone, Default)]
pub(super) struct Set<'a> {
    pub(super) constraints: Vec<Constraint<'a>>,
    /// Matrices that further constraints keep orthonormal.
    pub(super) rotations: Vec<Rotation>,
    /// What the constraints can be solved for.
    pub(super) variables: Vec<Symbol>,
    /// Those among them on which A does not depend.
    pub(super) velocities: Vec<Symbol>,
}

impl Set<'_> {
    /// The symbols that constraints contain.
    pub(super) fn symbols(&self) -> impl Iterator<Item = Symbol> {
        let of_constraints = self.constraints.iter().flat_map(|constraint| constraint.value.symbols());
        of_constraints.chain(self.rotations.iter().flat_map(Rotation::symbols))
    }

    pub(super) fn is_everywhere(&self) -> bool {
        self.constraints.is_empty() && self.rotations.is_empty()
    }
}

/// A function that vanishes on a set.
#[derive(Clone, Copy)]
pub(super) struct Constraint<'a> {
    pub(super) value: &'a Expression,
    /// Whether its derivatives by the velocities, or the momenta, have full rank with those of all such constraints in every state.
    pub(super) is_velocity: bool,
    /// Whether a reaction holds it, so that the field is defined only where its gradient is independent of the others'.
    pub(super) has_reaction: bool,
}

impl<'a> Constraint<'a> {
    /// The constraints of a derivation. In a canonical system in which half of all constraints do not contain momenta,
    /// C = [[0, B], [-B^T, D]], where B consists of derivatives of the others by the momenta. In any other system without phase constraints,
    /// rates are linear in the velocities.
    pub(super) fn all(derivation: &'a Derivation) -> Vec<Self> {
        let is_momentum = |symbol: &Symbol| matches!(derivation.symbols[*symbol].role, Role::Momentum { .. });
        let has_momenta = |integral: &Integral| integral.value.symbols().iter().any(is_momentum);
        let all: Vec<&Integral> = derivation.integrals.constraints().map(|(_, constraint)| constraint).collect();
        let is_half = 2 * all.iter().filter(|constraint| has_momenta(constraint)).count() == all.len();
        let has_phase_constraints = all.iter().any(|constraint| constraint.kind == Kind::Phase);
        let is_velocity = |integral: &Integral| match integral.kind {
            Kind::Velocity => true,
            Kind::Rate { .. } => is_half || !has_phase_constraints,
            Kind::Phase => is_half && has_momenta(integral),
            _ => false,
        };
        let of = |integral: &'a Integral| Self {
            value: &integral.value,
            is_velocity: is_velocity(integral),
            has_reaction: integral.kind != Kind::InvariantSet,
        };
        all.into_iter().map(of).collect()
    }

    /// Whether a variable may be solved for where this is what it is multiplied with. A set that nothing holds may leave the variable open
    /// for parameters for which this is 0, as a (x - z) = 0 does for a = 0. Where the gradients are independent, there are states on the
    /// set for parameters nearby, for which it is not 0.
    fn allows(&self, leading: &Expression) -> bool {
        self.has_reaction || is_never_zero(leading)
    }
}

/// How a constraint is satisfied: it binds a symbol, in which it is a polynomial.
pub(super) struct Step {
    pub(super) symbol: Symbol,
    /// The coefficients of its powers, from that of 1 on.
    pub(super) coefficients: Vec<Expression>,
    /// The variables that no constraint before contains.
    open: Vec<Symbol>,
}

/// Residues that are tried for what a constraint leaves open.
const TRIED: usize = 40;

/// An element for each unknown.
#[derive(Clone)]
pub(super) struct ModularPoint {
    pub(super) ring: Ring,
    /// Whether roots are residues, so that points without them are undefined, and not further generators of the ring.
    has_residues: bool,
    random: Random,
    /// What exponents are multiplied with to become integers.
    pub(super) scale: u64,
    symbols: BTreeMap<Symbol, Element>,
    functions: HashMap<ElementMeaning, Element>,
}

/// What an element stands for, its arguments as elements.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(super) enum ElementMeaning {
    Pi,
    Root(Element, u64),
    /// tan(t / (2 scale))
    HalfAngle(Element),
    /// b^(t / scale); without b, e^(t / scale).
    Power(Option<Element>, Element),
    Function(Function, Vec<Element>),
}

impl ModularPoint {
    pub(super) fn new(field: PrimeField, seed: u64, scale: u64) -> Self {
        Self {
            ring: Ring::new(field),
            has_residues: false,
            random: Random(seed),
            scale,
            symbols: BTreeMap::new(),
            functions: HashMap::new(),
        }
    }

    /// A point whose roots are residues, and whose square roots have both signs: any point of a ring with all of them is some such points.
    pub(super) fn of_residues(field: PrimeField, seed: u64, scale: u64) -> Self {
        Self { has_residues: true, ..Self::new(field, seed, scale) }
    }

    pub(super) fn random(&mut self) -> Element {
        let PrimeField(prime) = self.ring.field;
        self.ring.number(self.random.next() % prime)
    }

    fn symbol(&mut self, symbol: Symbol) -> Element {
        if let Some(element) = self.symbols.get(&symbol) {
            return element.clone();
        }
        let element = self.random();
        self.bind(symbol, element.clone());
        element
    }

    /// Gives a symbol this element.
    pub(super) fn bind(&mut self, symbol: Symbol, element: Element) {
        self.symbols.insert(symbol, element);
    }

    /// Draws an unknown anew.
    pub(super) fn forget(&mut self, symbol: Symbol) {
        self.symbols.remove(&symbol);
    }

    pub(super) fn known(&mut self, key: ElementMeaning) -> Element {
        if let Some(element) = self.functions.get(&key) {
            return element.clone();
        }
        let element = self.random();
        self.functions.insert(key, element.clone());
        element
    }

    /// Makes the point one that satisfies the constraints: each binds a variable of its own, in which it is polynomial with a
    /// leading coefficient that does not depend on any variable, and does not vanish for any parameters that count. So the ring is the ring of polynomials modulo the
    /// constraints, and no part of the set where they hold is left out. `None` where that is not possible.
    ///
    /// A velocity constraint may be divided by what a velocity is multiplied with, a function of the coordinates: close to any state on the
    /// set there are others in which that does not vanish, unless it vanishes wherever the other constraints hold, and then it has no
    /// inverse. Any constraint may be divided by another variable, if that leaves no part of the set out: see
    /// [`is_divisor`](Self::is_divisor).
    pub(super) fn satisfy(&mut self, set: &Set<'_>) -> Option<()> {
        let steps = self.steps(set)?;
        self.follow(set, &steps)
    }

    /// What each constraint binds.
    pub(super) fn steps(&self, set: &Set<'_>) -> Option<Vec<Step>> {
        self.first_steps(set, set.constraints.len(), None)
    }

    /// What the first constraints bind, where this variable has its element.
    fn first_steps(&self, set: &Set<'_>, count: usize, bound: Option<Symbol>) -> Option<Vec<Step>> {
        let mut settled: Vec<Symbol> = set.rotations.iter().flat_map(Rotation::symbols).chain(bound).collect();
        let mut steps = Vec::new();
        for (place, constraint) in set.constraints[..count].iter().enumerate() {
            let value = constraint.value;
            let variables = if constraint.is_velocity { &set.velocities } else { &set.variables };
            let symbols = value.symbols();
            let is_open = |symbol: &Symbol| variables.contains(symbol) && !settled.contains(symbol);
            let open: Vec<Symbol> = symbols.iter().copied().filter(is_open).collect();
            let degree = |symbol: &Symbol| degree_in(value, *symbol).filter(|degree| (1..=4).contains(degree));
            let candidates = open.iter().filter_map(|symbol| Some((degree(symbol)?, *symbol)));
            let mut candidates: Vec<(usize, Symbol)> = candidates.collect();
            candidates.sort_unstable();
            let step = |(degree, symbol): &(usize, Symbol)| {
                Some(Step { symbol: *symbol, coefficients: coefficients(value, *symbol, *degree)?, open: open.clone() })
            };
            let is_free = |leading: &Expression| !leading.symbols().iter().any(|symbol| variables.contains(symbol));
            let is_allowed = |step: &Step| {
                step.coefficients.last().is_some_and(|leading| is_free(leading) && constraint.allows(leading))
            };
            let is_divided = |step: &Step| match &step.coefficients[..] {
                [_, leading] => self.is_divisor(leading, set, place),
                _ => false,
            };
            let chosen = candidates.iter().filter_map(step).find(is_allowed);
            steps.push(chosen.or_else(|| candidates.iter().filter_map(step).find(is_divided))?);
            settled.extend(symbols);
        }
        Some(steps)
    }

    /// Takes these steps, after rotations are bound.
    pub(super) fn follow(&mut self, set: &Set<'_>, steps: &[Step]) -> Option<()> {
        for rotation in &set.rotations {
            rotation.bind(self)?;
        }
        for step in steps {
            let element = self.solved(step)?;
            self.bind(step.symbol, element);
        }
        Some(())
    }

    /// Whether no part of an invariant set is left out where a constraint is divided by this variable y, or a multiple of it: all parts
    /// have at most as many dimensions less than the space as there are constraints, and where y = 0, those before take one less each, and
    /// this one does not vanish on any part of what is left.
    fn is_divisor(&self, y: &Expression, set: &Set<'_>, place: usize) -> bool {
        let ([Expression::Symbol(symbol)] | [Expression::Number(_), Expression::Symbol(symbol)]) = y.factors() else {
            return false;
        };
        let is_turned = set.rotations.iter().flat_map(Rotation::symbols).any(|other| other == *symbol);
        if is_turned || set.constraints.iter().any(|constraint| constraint.has_reaction) {
            return false;
        }
        let mut point = self.clone();
        set.variables.iter().for_each(|variable| point.forget(*variable));
        point.bind(*symbol, Element::new());
        let steps = point.first_steps(set, place, Some(*symbol));
        let value = steps.and_then(|steps| point.follow(set, &steps));
        let value = value.and_then(|()| point.evaluate(set.constraints[place].value));
        value.is_some_and(|value| point.ring.inverse(&value).is_some())
    }

    /// What a constraint binds a symbol to. Among residues there may be nothing for what is open, which is then chosen anew.
    fn solved(&mut self, Step { coefficients, open, .. }: &Step) -> Option<Element> {
        for _ in 0..if self.has_residues { TRIED } else { 1 } {
            let relation = self.relation(coefficients)?;
            if let Some(element) = self.adjoin(relation) {
                return Some(element);
            }
            open.iter().for_each(|symbol| self.forget(*symbol));
        }
        None
    }

    /// x with x^d = sum of r_j x^j, among residues only of a power or of degree 2.
    fn adjoin(&mut self, relation: Vec<Element>) -> Option<Element> {
        if !self.has_residues || relation.len() < 2 {
            return self.ring.adjoin(relation);
        }
        let field = self.ring.field;
        let coefficient = |element: &Element| element.first().copied().unwrap_or(0);
        let [constant, linear] = [0, 1].map(|place| coefficient(&relation[place]));
        let x = if relation[1..].iter().all(Vec::is_empty) {
            self.signed(field.root(constant, relation.len() as u64)?, relation.len().is_multiple_of(2))
        } else if relation.len() == 2 {
            // 2 x = r_1 + (r_1^2 + 4 r_0)^(1/2)
            let square = field.add(field.multiply(linear, linear), field.multiply(4, constant));
            let root = self.signed(field.root(square, 2)?, true);
            field.multiply(field.add(linear, root), field.inverse(2)?)
        } else {
            return None;
        };
        Some(self.ring.number(x))
    }

    /// A root or minus the root, if that is one, too.
    fn signed(&mut self, root: u64, is_even: bool) -> u64 {
        if is_even && self.random.next() & 1 == 1 { self.ring.field.negative(root) } else { root }
    }

    /// The coefficients r of x^d = sum of r_j x^j, from those of a polynomial in x.
    fn relation(&mut self, coefficients: &[Expression]) -> Option<Vec<Element>> {
        let (highest, others) = coefficients.split_last()?;
        let highest = self.evaluate(highest)?;
        let factor = self.ring.negative(&self.ring.inverse(&highest)?);
        let others = self.evaluate_all(others.iter())?;
        Some(others.iter().map(|coefficient| self.ring.multiply(coefficient, &factor)).collect())
    }

    /// `None` where it is not defined, or not understood.
    pub(super) fn evaluate(&mut self, expression: &Expression) -> Option<Element> {
        match expression {
            Expression::Number(number) => Some(self.ring.number(self.ring.field.residue(number)?)),
            Expression::Pi => Some(self.known(ElementMeaning::Pi)),
            Expression::Symbol(symbol) => Some(self.symbol(*symbol)),
            Expression::Sum(terms) => {
                let terms = self.evaluate_all(terms.iter())?;
                Some(terms.iter().fold(Element::new(), |sum, term| self.ring.add(&sum, term)))
            }
            Expression::Product(factors) => {
                let factors = self.evaluate_all(factors.iter())?;
                Some(factors.iter().fold(self.ring.one(), |product, factor| self.ring.multiply(&product, factor)))
            }
            Expression::Power(base, exponent) => self.power(base, exponent),
            Expression::Call(function, arguments) => self.call(*function, arguments),
        }
    }

    pub(super) fn evaluate_all<'a>(
        &mut self,
        expressions: impl Iterator<Item = &'a Expression>,
    ) -> Option<Vec<Element>> {
        expressions.map(|expression| self.evaluate(expression)).collect()
    }

    /// b^(n/d) = s^n with s^d = b, and of a positive number b = n / m the root of n m^(d - 1), over m.
    pub(super) fn power(&mut self, base: &Expression, exponent: &BigRational) -> Option<Element> {
        let index = exponent.denom().to_u64()?;
        let root = if index == 1 { self.evaluate(base)? } else { self.root(base, index)? };
        if index == 1 || !exponent.is_negative() {
            return self.integer_power(&root, exponent.numer());
        }
        // 1 / s = s^(d - 1) / b
        let radicand = self.ring.inverse(&self.ring.raise(&root, index))?;
        let reciprocal = self.ring.multiply(&self.ring.raise(&root, index - 1), &radicand);
        self.integer_power(&reciprocal, &exponent.numer().abs())
    }

    pub(super) fn integer_power(&self, base: &[u64], exponent: &BigInt) -> Option<Element> {
        let power = self.ring.raise(base, exponent.abs().to_u64()?);
        if exponent.is_negative() { self.ring.inverse(&power) } else { Some(power) }
    }

    fn root(&mut self, base: &Expression, index: u64) -> Option<Element> {
        // Of a product with a positive number, the root is the product of roots.
        if let [Expression::Number(number), rest @ ..] = base.factors()
            && number.is_positive()
        {
            let number = self.root_of_number(number, index)?;
            if rest.is_empty() {
                return Some(number);
            }
            let rest = self.root(&Expression::product(rest.iter().cloned()), index)?;
            return Some(self.ring.multiply(&number, &rest));
        }
        if let Expression::Product(factors) = base
            && let Some(roots) = factors.iter().map(|factor| self.known_root(factor, index)).collect::<Option<Vec<_>>>()
        {
            return Some(roots.iter().fold(self.ring.one(), |product, root| self.ring.multiply(&product, root)));
        }
        let value = self.evaluate(base)?;
        self.root_of(value, index)
    }

    /// The root of a factor, if it occurs by itself.
    fn known_root(&mut self, factor: &Expression, index: u64) -> Option<Element> {
        let (base, exponent) = match factor {
            Expression::Power(base, exponent) if exponent.is_integer() => (&**base, exponent.to_integer()),
            other => (other, BigInt::from(1)),
        };
        let key = ElementMeaning::Root(self.evaluate(base)?, index);
        let root = self.functions.get(&key)?.clone();
        self.integer_power(&root, &exponent)
    }

    fn root_of_number(&mut self, number: &BigRational, index: u64) -> Option<Element> {
        let power = u32::try_from(index).ok().filter(|index| *index <= 64)?;
        let field = self.ring.field;
        let residue = |integer: BigInt| field.residue(&BigRational::from_integer(integer));
        let radicand = number.numer() * number.denom().pow(power - 1);
        let whole = radicand.nth_root(power);
        let root = if whole.pow(power) == radicand {
            self.ring.number(residue(whole)?)
        } else {
            self.root_of(self.ring.number(residue(radicand)?), index)?
        };
        let divisor = field.inverse(residue(number.denom().clone())?)?;
        Some(self.ring.multiply(&root, &[divisor]))
    }

    pub(super) fn root_of(&mut self, value: Element, index: u64) -> Option<Element> {
        if value.is_empty() {
            return Some(value);
        }
        let key = ElementMeaning::Root(value.clone(), index);
        if let Some(element) = self.functions.get(&key) {
            return Some(element.clone());
        }
        let mut relation = vec![Element::new(); usize::try_from(index).ok().filter(|index| *index <= 64)?];
        relation[0] = value;
        let element = self.adjoin(relation)?;
        self.functions.insert(key, element.clone());
        Some(element)
    }
}

/// The roots that occur of anything but products, each once. They are to be evaluated before anything else: where all of it is defined, what
/// they are taken of is not negative, and the root of a product of such factors is the product of their roots.
pub(super) fn roots<'a>(expressions: impl IntoIterator<Item = &'a Expression>) -> Vec<Expression> {
    let mut roots = Vec::new();
    for expression in expressions {
        // Parts before what they are parts of.
        for node in expression.nodes().collect::<Vec<_>>().into_iter().rev() {
            if let Expression::Power(base, exponent) = node
                && !exponent.is_integer()
                && !matches!(**base, Expression::Product(_) | Expression::Number(_))
            {
                let root = (**base).clone().power(BigRational::new(BigInt::from(1), exponent.denom().clone())).ok();
                roots.extend(root.filter(|root| !roots.contains(root)));
            }
        }
    }
    roots
}
