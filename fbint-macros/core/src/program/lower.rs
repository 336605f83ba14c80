//! Expressions to instructions.
//!
//! A sum is lowered as a list of [`Monomial`]s over values that are already computed: like terms are merged, what all
//! terms share is taken out, then the factor that most terms share is taken out again, and so on (Horner's scheme, greedy
//! and deterministic). Signs are normalised so that a - b and b - a are one value. In the rows of the field this *collects*
//! by itself: the terms c_1 dg_1/dq_j and y_2 dg'_2/dp_j that multiply the same vector entry become (c_1 + y_2) times
//! that entry, and the sum of scalars is the same value for every j.

use std::collections::{BTreeMap, HashMap};

use num_rational::BigRational;
use num_traits::{One, Signed, ToPrimitive, Zero};

use super::{Builder, Input, Instruction, Value};
use crate::derivation::Symbols;
use crate::expression::{Expression, Function, Symbol, to_f64};
use crate::table::Id;

/// An exact coefficient times integer powers of values.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Monomial {
    coefficient: BigRational,
    factors: BTreeMap<Value, i32>,
}

/// What a value depends on, in the order in which factors are taken out of sums and terms are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    /// The state: entries of vectors.
    State,
    /// Parameters and numbers alone.
    Parameter,
    /// A scalar that multiplies whole gradients: an entry of c or y.
    Scalar,
}

/// How far lowering goes in saving operations: each stage does what those before it do, too.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Stage {
    /// The rows of a field are sums of a scalar times an entry for each integral.
    Plain,
    /// Scalars that multiply the same entry are added first.
    Collect,
    /// Gradients and integrals have no constant factors: see `normalise`.
    Normalise,
    /// Sums within longer sums are computed once.
    ReuseSums,
    /// Pairs of terms that several rows have are added once.
    SharePairs,
}

/// Lowers expressions into one builder.
#[derive(Clone, Debug)]
pub(super) struct Lowering<'a> {
    pub(super) builder: Builder,
    pub(super) stage: Stage,
    symbols: &'a Symbols,
    kinds: Vec<Kind>,
    /// Symbols that stand for values.
    bound: BTreeMap<Symbol, Value>,
    /// Sums that were lowered before, for look-up alone.
    sums: HashMap<Vec<Monomial>, Monomial>,
    /// The same sums by the factors of their first terms, in the order in which they were lowered; for look-up alone.
    sums_that_begin: HashMap<Factors, Vec<Vec<Monomial>>>,
}

/// Values and their exponents.
type Factors = Vec<(Value, i32)>;

impl Monomial {
    pub(super) fn number(coefficient: BigRational) -> Self {
        Self { coefficient, factors: BTreeMap::new() }
    }

    pub(super) fn zero() -> Self {
        Self::number(BigRational::zero())
    }

    pub(super) fn is_zero(&self) -> bool {
        self.coefficient.is_zero()
    }

    pub(super) fn is_one(&self) -> bool {
        self.coefficient.is_one() && self.factors.is_empty()
    }

    pub(super) fn value(value: Value) -> Self {
        Self { coefficient: BigRational::one(), factors: BTreeMap::from([(value, 1)]) }
    }

    pub(super) fn times(mut self, other: &Self) -> Self {
        // Exact arithmetic is not for nothing, and most coefficients are 1.
        if !other.coefficient.is_one() {
            self.coefficient *= &other.coefficient;
        }
        for (&value, &exponent) in &other.factors {
            *self.factors.entry(value).or_insert(0) += exponent;
        }
        self.factors.retain(|_, exponent| *exponent != 0);
        self
    }

    pub(super) fn negated(mut self) -> Self {
        self.coefficient = -self.coefficient;
        self
    }

    pub(super) fn to_power(&self, exponent: i32) -> Self {
        Self {
            coefficient: if self.coefficient.is_one() { BigRational::one() } else { self.coefficient.pow(exponent) },
            factors: self.factors.iter().map(|(&value, &power)| (value, power * exponent)).collect(),
        }
    }

    pub(super) fn inverse(&self) -> Self {
        self.to_power(-1)
    }

    /// The exponent of a factor, 0 if it is none.
    pub(super) fn exponent(&self, value: Value) -> i32 {
        self.factors.get(&value).copied().unwrap_or(0)
    }

    /// The same with other exponents.
    pub(super) fn with_factors(&self, exponent: impl Fn(Value, i32) -> i32) -> Self {
        let factors = self.factors.iter().map(|(&value, &power)| (value, exponent(value, power)));
        Self { coefficient: self.coefficient.clone(), factors: factors.filter(|(_, power)| *power != 0).collect() }
    }

    /// What two monomials share: the coefficient if it has one magnitude, and the factors with the smaller exponents.
    fn shared_with(&self, other: &Self) -> Self {
        let same = self.coefficient.abs() == other.coefficient.abs();
        let smaller = |(&value, &exponent): (&Value, &i32)| {
            let other = *other.factors.get(&value)?;
            let smaller = if exponent.abs() < other.abs() { exponent } else { other };
            (exponent.signum() == other.signum()).then_some((value, smaller))
        };
        Self {
            coefficient: if same { self.coefficient.clone() } else { BigRational::one() },
            factors: self.factors.iter().filter_map(smaller).collect(),
        }
    }

    fn key(&self) -> Vec<(Value, i32)> {
        self.factors.iter().map(|(&value, &exponent)| (value, exponent)).collect()
    }
}

impl<'a> Lowering<'a> {
    pub(super) fn new(symbols: &'a Symbols, stage: Stage) -> Self {
        Self {
            builder: Builder::default(),
            stage,
            symbols,
            kinds: Vec::new(),
            bound: BTreeMap::new(),
            sums: HashMap::new(),
            sums_that_begin: HashMap::new(),
        }
    }

    /// The value of an expression.
    pub(super) fn lower(&mut self, expression: &Expression) -> Value {
        let monomial = self.monomial(expression);
        self.materialise(&monomial)
    }

    /// Lets a symbol stand for a value.
    pub(super) fn bind(&mut self, symbol: Symbol, value: Value) {
        self.bound.insert(symbol, value);
    }

    /// The terms of a sum, for a sum of sums; a single one for anything else.
    pub(super) fn terms(&mut self, expression: &Expression) -> Vec<Monomial> {
        match expression {
            Expression::Sum(terms) => terms.iter().map(|term| self.monomial(term)).collect(),
            _ => vec![self.monomial(expression)],
        }
    }

    /// Declares a value to be a scalar that multiplies whole gradients.
    pub(super) fn mark_scalar(&mut self, value: Value) {
        self.kind(value);
        if self.kinds[value.index()] != Kind::Parameter {
            self.kinds[value.index()] = Kind::Scalar;
        }
    }

    /// A scalar that multiplies whole gradients, with its sign apart.
    pub(super) fn scalar(&mut self, value: Value) -> Monomial {
        let monomial = self.signed(value);
        monomial.factors.keys().for_each(|&value| self.mark_scalar(value));
        monomial
    }

    /// The monomial as one factor, with its sign apart.
    pub(super) fn opaque(&mut self, monomial: &Monomial) -> Monomial {
        let negative = monomial.coefficient.is_negative();
        let magnitude = if negative { monomial.clone().negated() } else { monomial.clone() };
        let value = self.materialise(&magnitude);
        let magnitude = self.signed(value);
        if negative { magnitude.negated() } else { magnitude }
    }

    fn signed(&self, value: Value) -> Monomial {
        match self.builder.instruction(value) {
            Instruction::Neg(inner) => Monomial::value(inner).negated(),
            _ => Monomial::value(value),
        }
    }

    /// Whether a monomial depends on parameters and numbers alone.
    pub(super) fn is_parametric(&mut self, monomial: &Monomial) -> bool {
        monomial.factors.keys().all(|&value| self.kind(value) == Kind::Parameter)
    }

    /// The magnitude of the number and the parameters in a monomial.
    pub(super) fn parametric_part(&mut self, monomial: &Monomial) -> Monomial {
        let factors = monomial.factors.iter().filter(|&(&value, _)| self.kind(value) == Kind::Parameter);
        Monomial {
            coefficient: monomial.coefficient.abs(),
            factors: factors.map(|(&value, &power)| (value, power)).collect(),
        }
    }

    /// y_i
    pub(super) fn weighted(&mut self, index: usize) -> Value {
        let value = self.builder.input(Input::Weighted(index));
        self.mark_scalar(value);
        value
    }

    /// R_i
    pub(super) fn noise(&mut self, row: usize) -> Monomial {
        Monomial::value(self.builder.input(Input::Noise(row)))
    }

    /// S_j
    pub(super) fn variance(&mut self, column: Symbol) -> Monomial {
        Monomial::value(self.builder.input(Input::Variance(column.place())))
    }

    /// The expression as one monomial: a sum becomes what its terms share, times a value.
    pub(super) fn monomial(&mut self, expression: &Expression) -> Monomial {
        match expression {
            Expression::Number(number) => Monomial::number(number.clone()),
            Expression::Pi => Monomial::value(self.builder.constant(std::f64::consts::PI)),
            Expression::Symbol(symbol) => Monomial::value(self.symbol(*symbol)),
            Expression::Sum(terms) => {
                let terms = terms.iter().map(|term| self.monomial(term)).collect();
                self.sum(terms)
            }
            Expression::Product(factors) => {
                factors.iter().fold(Monomial::number(BigRational::one()), |product, factor| {
                    let factor = self.monomial(factor);
                    product.times(&factor)
                })
            }
            Expression::Power(base, exponent) => self.power(base, exponent),
            Expression::Call(function, arguments) => {
                let arguments: Vec<Value> = arguments.iter().map(|argument| self.lower(argument)).collect();
                Monomial::value(self.builder.push(match arguments[..] {
                    [a, b] => Instruction::Binary(*function, a, b),
                    _ => Instruction::Unary(*function, arguments[0]),
                }))
            }
        }
    }

    fn symbol(&mut self, symbol: Symbol) -> Value {
        let bound = self.bound.get(&symbol).copied();
        let input = if self.symbols.is_state(symbol) { Input::State(symbol) } else { Input::Parameter(symbol) };
        bound.unwrap_or_else(|| self.builder.input(input))
    }

    /// Integer powers stay powers, half-integer ones become powers of a square root.
    fn power(&mut self, base: &Expression, exponent: &BigRational) -> Monomial {
        let small = |number: &num_bigint::BigInt| number.to_i32().filter(|power| power.abs() <= 1024);
        if let Some(power) = exponent.is_integer().then(|| small(exponent.numer())).flatten() {
            let base = self.monomial(base);
            if !base.coefficient.is_zero() || power > 0 {
                return base.to_power(power);
            }
        }
        let value = self.lower(base);
        match small(exponent.numer()) {
            Some(power) if *exponent.denom() == num_bigint::BigInt::from(2) => {
                let root = self.builder.push(Instruction::Sqrt(value));
                Monomial::value(root).to_power(power)
            }
            _ => {
                let exponent = self.builder.constant(to_f64(exponent));
                Monomial::value(self.builder.push(Instruction::Binary(Function::Powf, value, exponent)))
            }
        }
    }

    /// The sum of monomials: what they share, times a value.
    pub(super) fn sum(&mut self, terms: Vec<Monomial>) -> Monomial {
        let mut terms = merge_like_terms(terms);
        if terms.len() <= 1 {
            return terms.pop().unwrap_or_else(|| Monomial::number(BigRational::zero()));
        }
        self.arrange(&mut terms);
        let key = terms.clone();
        if let Some(known) = self.sums.get(&key) {
            return known.clone();
        }
        while self.stage >= Stage::ReuseSums
            && let Some(shorter) = self.with_a_known_sum(&terms)
        {
            terms = shorter;
        }
        let shared = take_shared(&mut terms);
        terms = self.collect(terms);
        let result = if terms.len() == 1 {
            shared.times(&terms[0])
        } else {
            self.arrange(&mut terms);
            let sign = if terms[0].coefficient.is_negative() { -BigRational::one() } else { BigRational::one() };
            let value = self.add_up(&terms, &sign);
            shared.times(&Monomial::value(value)).times(&Monomial::number(sign))
        };
        self.sums_that_begin.entry(key[0].key()).or_default().push(key.clone());
        self.sums.insert(key, result.clone());
        result
    }

    /// The terms with one for several of them that are a multiple of a sum lowered before: the longest such sum.
    fn with_a_known_sum(&self, terms: &[Monomial]) -> Option<Vec<Monomial>> {
        let mut best: Option<(&Vec<Monomial>, BigRational)> = None;
        for first in terms {
            for known in self.sums_that_begin.get(&first.key()).into_iter().flatten() {
                let factor = &first.coefficient / &known[0].coefficient;
                let has = |term: &Monomial| terms.contains(&term.clone().times(&Monomial::number(factor.clone())));
                let longer = best.as_ref().is_none_or(|(best, _)| known.len() > best.len());
                if longer && known.len() < terms.len() && known.iter().all(has) {
                    best = Some((known, factor));
                }
            }
        }
        let (known, factor) = best?;
        let rest = terms.iter().filter(|term| known.iter().all(|other| other.factors != term.factors));
        let sum = self.sums[known].clone().times(&Monomial::number(factor));
        Some(rest.cloned().chain([sum]).collect())
    }

    /// Several sums, which share pairs of terms as well as single ones.
    pub(super) fn sums(&mut self, rows: Vec<Vec<Monomial>>) -> Vec<Value> {
        let mut rows: Vec<Vec<Monomial>> = rows
            .into_iter()
            .map(|row| {
                let mut terms = merge_like_terms(row);
                self.arrange(&mut terms);
                if self.stage >= Stage::Collect {
                    terms = self.collect(terms);
                }
                terms.iter().map(|term| self.opaque(term)).collect()
            })
            .collect();
        while self.stage >= Stage::SharePairs && self.share_pairs(&mut rows) {}
        rows.into_iter()
            .map(|mut terms| {
                self.arrange(&mut terms);
                terms.sort_by_cached_key(|term| self.place(term));
                self.add_up(&terms, &BigRational::one())
            })
            .collect()
    }

    /// Where a term of a sum is best added: first what is no product, because a product is added for nothing, and of that
    /// first what has no sign.
    fn place(&mut self, term: &Monomial) -> (bool, bool) {
        let product = term.factors.keys().any(|&value| {
            matches!(self.builder.instruction(value), Instruction::Mul(..)) && self.kind(value) != Kind::Parameter
        });
        (product, term.coefficient.is_negative())
    }

    /// Makes pairs of terms that several rows have, or have with both signs turned, one term; whether there were any.
    fn share_pairs(&mut self, rows: &mut [Vec<Monomial>]) -> bool {
        let mut counts: BTreeMap<[Value; 2], [usize; 2]> = BTreeMap::new();
        for row in rows.iter() {
            for (i, a) in row.iter().enumerate() {
                for b in &row[i + 1..] {
                    let (pair, opposite) = pair(a, b);
                    counts.entry(pair).or_default()[usize::from(opposite)] += 1;
                }
            }
        }
        let each =
            counts.into_iter().flat_map(|(pair, [same, opposite])| [(pair, false, same), (pair, true, opposite)]);
        let mut pairs: Vec<_> = each.filter(|&(_, _, count)| count >= 2).collect();
        pairs.sort_by_key(|&(pair, opposite, count)| (std::cmp::Reverse(count), pair, opposite));
        let mut any = false;
        for (values, opposite, _) in pairs {
            let has = |row: &Vec<Monomial>| {
                let position = |value: Value| row.iter().position(|term| term.exponent(value) == 1);
                let (i, j) = (position(values[0])?, position(values[1])?);
                (pair(&row[i], &row[j]).1 == opposite).then_some((i, j))
            };
            let places: Vec<_> = rows.iter().map(has).collect();
            if places.iter().flatten().count() < 2 {
                continue;
            }
            let [a, b] = values.map(Monomial::value);
            let sum = self.add_up(&[a, if opposite { b.negated() } else { b }], &BigRational::one());
            for (row, place) in rows.iter_mut().zip(places) {
                let Some((i, j)) = place else { continue };
                let negative = row[i].coefficient.is_negative();
                row.remove(i.max(j));
                row.remove(i.min(j));
                row.push(if negative { Monomial::value(sum).negated() } else { Monomial::value(sum) });
            }
            any = true;
        }
        any
    }

    /// Divides the entries of a vector by what all of them share, and returns it: a number, and parameters that divide. What
    /// parameters multiply stays, because they may be 0.
    pub(super) fn take_constant_factor<'m>(&mut self, entries: impl Iterator<Item = &'m mut Monomial>) -> Monomial {
        let mut entries: Vec<&mut Monomial> = entries.collect();
        let Some(first) = entries.first() else { return Monomial::number(BigRational::one()) };
        let mut shared = entries[1..].iter().fold((*first).clone(), |shared, entry| shared.shared_with(entry));
        shared.factors.retain(|&value, exponent| *exponent < 0 && self.kind(value) == Kind::Parameter);
        shared.coefficient = shared.coefficient.abs();
        let inverse = shared.to_power(-1);
        entries.iter_mut().for_each(|entry| **entry = entry.clone().times(&inverse));
        shared
    }

    /// The value of the sum, unless everything in it cancels.
    pub(super) fn sum_unless_zero(&mut self, terms: Vec<Monomial>) -> Option<Value> {
        let sum = self.sum(terms);
        (!sum.coefficient.is_zero()).then(|| self.materialise(&sum))
    }

    /// Terms of the state first, so that sums which differ in parameters alone begin alike.
    fn arrange(&mut self, terms: &mut [Monomial]) {
        terms.sort_by_cached_key(|term| {
            let kinds = term.factors.keys().map(|&value| self.kind(value));
            (kinds.min().unwrap_or(Kind::Parameter), term.key())
        });
    }

    /// The sum of the terms, times the sign: those first that leave no sign in front.
    fn add_up(&mut self, terms: &[Monomial], sign: &BigRational) -> Value {
        let mut sum: Option<Value> = None;
        for term in terms {
            let coefficient = &term.coefficient * sign;
            let magnitude = Monomial { coefficient: coefficient.abs(), factors: term.factors.clone() };
            let value = self.materialise(&magnitude);
            sum = Some(match (sum, coefficient.is_negative()) {
                (None, false) => value,
                (None, true) => self.builder.neg(value),
                (Some(sum), false) => self.builder.add(sum, value),
                (Some(sum), true) => self.builder.sub(sum, value),
            });
        }
        sum.unwrap_or_else(|| self.builder.constant(0.0))
    }

    /// Takes out factors, as long as two terms share one.
    fn collect(&mut self, mut terms: Vec<Monomial>) -> Vec<Monomial> {
        while let Some(factor) = self.most_shared_factor(&terms) {
            terms = self.take_out(terms, &factor);
        }
        terms
    }

    /// The factor that most terms share, vectors' entries before parameters before scalars; `None` if no two share one.
    fn most_shared_factor(&mut self, terms: &[Monomial]) -> Option<Monomial> {
        let mut counts: BTreeMap<(Kind, Value, bool), usize> = BTreeMap::new();
        let mut coefficients: BTreeMap<BigRational, usize> = BTreeMap::new();
        for term in terms {
            for (&value, &exponent) in &term.factors {
                *counts.entry((self.kind(value), value, exponent < 0)).or_insert(0) += 1;
            }
            let magnitude = term.coefficient.abs();
            if !magnitude.is_one() && !term.factors.is_empty() {
                *coefficients.entry(magnitude).or_insert(0) += 1;
            }
        }
        let best = counts
            .into_iter()
            .filter(|&(_, count)| count >= 2)
            .min_by_key(|&((kind, value, _), count)| (kind, std::cmp::Reverse(count), value));
        match best {
            Some(((_, value, reciprocal), _)) => Some(Monomial {
                coefficient: BigRational::one(),
                factors: BTreeMap::from([(value, if reciprocal { -1 } else { 1 })]),
            }),
            None => {
                let best = coefficients.into_iter().filter(|&(_, count)| count >= 2);
                best.max_by_key(|&(_, count)| count).map(|(coefficient, _)| Monomial::number(coefficient))
            }
        }
    }

    /// Replaces the terms that contain `factor` by one: `factor` times the sum of what remains of them.
    fn take_out(&mut self, terms: Vec<Monomial>, factor: &Monomial) -> Vec<Monomial> {
        let contains = |term: &Monomial| match factor.factors.first_key_value() {
            Some((value, &exponent)) => term.factors.get(value).is_some_and(|power| power.signum() == exponent),
            None => term.coefficient.abs() == factor.coefficient && !term.factors.is_empty(),
        };
        let (with, mut rest): (Vec<_>, Vec<_>) = terms.into_iter().partition(contains);
        let inverse = factor.to_power(-1);
        let remainder = with.into_iter().map(|term| term.times(&inverse)).collect();
        let remainder = self.sum(remainder);
        // One opaque value, so that the same factor is not taken out of the product again.
        rest.push(self.opaque(&remainder.times(factor)));
        rest
    }

    /// The value of a monomial: parameters and scalars are multiplied first, because they are shared by vectors' entries.
    pub(super) fn materialise(&mut self, monomial: &Monomial) -> Value {
        let negative = monomial.coefficient.is_negative();
        let mut groups: [Option<Value>; 3] = [None; 3];
        let magnitude = monomial.coefficient.abs();
        if !magnitude.is_one() || monomial.factors.is_empty() {
            groups[0] = Some(self.builder.constant(to_f64(&magnitude)));
        }
        for (&value, &exponent) in &monomial.factors {
            let group = match self.kind(value) {
                Kind::Parameter => 0,
                Kind::Scalar => 1,
                Kind::State => 2,
            };
            let power = self.builder.powi(value, exponent);
            groups[group] = Some(groups[group].map_or(power, |product| self.builder.mul(product, power)));
        }
        let product = groups.into_iter().flatten().reduce(|product, factor| self.builder.mul(product, factor));
        let product = product.unwrap_or_else(|| self.builder.constant(1.0));
        if negative { self.builder.neg(product) } else { product }
    }

    fn kind(&mut self, value: Value) -> Kind {
        while self.kinds.len() <= value.index() {
            let instruction = self.builder.instruction(Value(self.kinds.len() as u32));
            let kind = match instruction {
                Instruction::Constant(_) => Kind::Parameter,
                Instruction::Input(Input::Parameter(_) | Input::Prepared(_)) => Kind::Parameter,
                Instruction::Input(Input::State(_) | Input::Variance(_)) => Kind::State,
                Instruction::Input(Input::Weighted(_) | Input::Noise(_)) => Kind::Scalar,
                other => {
                    other.operands().fold(Kind::Parameter, |kind, operand| match (kind, self.kinds[operand.index()]) {
                        (Kind::State, _) | (_, Kind::State) => Kind::State,
                        (Kind::Scalar, _) | (_, Kind::Scalar) => Kind::Scalar,
                        _ => Kind::Parameter,
                    })
                }
            };
            self.kinds.push(kind);
        }
        self.kinds[value.index()]
    }
}

fn merge_like_terms(terms: Vec<Monomial>) -> Vec<Monomial> {
    let mut merged: BTreeMap<Vec<(Value, i32)>, BigRational> = BTreeMap::new();
    for term in &terms {
        *merged.entry(term.key()).or_insert_with(BigRational::zero) += &term.coefficient;
    }
    let terms = merged.into_iter().filter(|(_, coefficient)| !coefficient.is_zero());
    terms.map(|(key, coefficient)| Monomial { coefficient, factors: key.into_iter().collect() }).collect()
}

/// Divides the terms by what all of them share, and returns it.
fn take_shared(terms: &mut [Monomial]) -> Monomial {
    let mut shared = terms[1..].iter().fold(terms[0].clone(), |shared, term| shared.shared_with(term));
    shared.coefficient = shared.coefficient.abs();
    let inverse = shared.to_power(-1);
    terms.iter_mut().for_each(|term| *term = term.clone().times(&inverse));
    shared
}

/// The values of two terms in their order, and whether their signs differ.
fn pair(a: &Monomial, b: &Monomial) -> ([Value; 2], bool) {
    let value = |term: &Monomial| *term.factors.keys().next().expect("a term is one value");
    let (x, y) = (value(a), value(b));
    ([x.min(y), x.max(y)], a.coefficient.is_negative() != b.coefficient.is_negative())
}
