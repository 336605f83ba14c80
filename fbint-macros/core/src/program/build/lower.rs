//! Expressions to instructions.
//!
//! A sum is lowered as a list of [`Monomial`]s over values that are already computed: like terms are merged, common factors of all terms
//! are taken out, then the factor that most terms share is taken out again, and so on (Horner's scheme, greedy and deterministic). Signs
//! are normalised so that a - b and b - a are one value. In the rows of the field this *collects*: the terms c_1 dg_1/dq_j and y_2
//! dg'_2/dp_j that multiply the same vector entry become (c_1 + y_2) times that entry, and the sum of scalars is the same value for every
//! j.
//!
//! Declared sums are added up in the order in which they are written, unless a factor is taken out: people write differences of large
//! numbers so that they keep their digits.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::rc::Rc;

use num_rational::BigRational;
use num_traits::ToPrimitive;

use super::monomial::{Factors, Monomial, merge_like_terms, take_shared};
use super::switches::{self, Switch};
use crate::derivation::{IntegralId, Role, Symbols};
use crate::expression::parts::Results;
use crate::expression::work::spend_number;
use crate::expression::{Expression, Function, Symbol, to_f64};
use crate::numbers::coefficient::Coefficient;
use crate::numbers::scaled;
use crate::program::code::{Builder, Input, Instruction, LookUp, Program, Sign, Value};

/// The dependence of a value, in the order in which factors are taken out of sums and terms are added up.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DependsOn {
    /// The state: entries of vectors.
    State,
    /// Parameters and numbers alone.
    Parameter,
    /// A scalar that multiplies whole gradients: an entry of c or y.
    Scalar,
}

/// The order in which the terms of a sum are added.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TermOrder {
    /// As they come.
    Written,
    /// By what they depend on, so that sums with terms in common begin alike.
    Arranged,
}

/// Lowers expressions into one builder.
#[derive(Clone, Debug)]
pub(crate) struct Lowering<'a> {
    pub(crate) builder: Builder,
    symbols: &'a Symbols,
    switches: &'a [Switch],
    kinds: Vec<DependsOn>,
    /// Symbols that stand for what was computed.
    bound: BTreeMap<Symbol, Monomial>,
    /// The expressions lowered since a symbol was last bound.
    lowered: Results<Monomial>,
    /// The results of looking for symbols in expressions.
    pub(super) with_symbols: Results<bool>,
    /// Sums that were lowered before, for look-up alone.
    sums: LookUp<Rc<[Monomial]>, Monomial>,
    /// Those sums by the factors of their first terms and of their second ones, for look-up alone.
    sums_that_begin: LookUp<Factors, LookUp<Factors, Vec<KnownSum>>>,
}

/// The place of a sum in the order in which sums were lowered, and its terms.
type KnownSum = (usize, Rc<[Monomial]>);

impl<'a> Lowering<'a> {
    pub(crate) fn new(symbols: &'a Symbols) -> Self {
        Self::with_switches(symbols, &[])
    }

    /// With functions that switch on the sides that are held.
    pub(crate) fn with_switches(symbols: &'a Symbols, switches: &'a [Switch]) -> Self {
        Self {
            builder: Builder::default(),
            symbols,
            switches,
            kinds: Vec::new(),
            bound: BTreeMap::new(),
            lowered: Results::default(),
            with_symbols: Results::default(),
            sums: LookUp::default(),
            sums_that_begin: LookUp::default(),
        }
    }

    /// The value of an expression.
    pub(crate) fn lower(&mut self, expression: &Expression) -> Value {
        let monomial = self.monomial(expression);
        self.materialise(&monomial)
    }

    /// The program that returns the values of these expressions.
    pub(crate) fn program<'e>(mut self, expressions: impl IntoIterator<Item = &'e Expression>) -> Program {
        let outputs = expressions.into_iter().map(|expression| self.lower(expression)).collect();
        self.builder.finish(outputs)
    }

    /// Lets a symbol stand for a monomial.
    pub(crate) fn bind(&mut self, symbol: Symbol, value: Monomial) {
        self.bound.insert(symbol, value);
        self.lowered = Results::default();
    }

    /// The terms of a sum, for a sum of sums; a single one for anything else.
    pub(crate) fn terms(&mut self, expression: &Expression) -> Vec<Monomial> {
        match expression {
            Expression::Sum(terms) => terms.iter().map(|term| self.monomial(term)).collect(),
            _ => vec![self.monomial(expression)],
        }
    }

    /// A value that is declared to multiply whole gradients, with its sign apart.
    pub(crate) fn scalar(&mut self, value: Value) -> Monomial {
        let monomial = self.signed(value);
        for value in monomial.factors.values() {
            if self.kind(value) != DependsOn::Parameter {
                self.kinds[value.index()] = DependsOn::Scalar;
            }
        }
        monomial
    }

    /// The monomial as one factor, with its sign apart. It is the number 0 where the builder folds it to 0, as it does when both
    /// sides of a difference turn out to be one value.
    pub(crate) fn opaque(&mut self, monomial: &Monomial) -> Monomial {
        let negative = monomial.coefficient.is_negative();
        let magnitude = if negative { monomial.clone().negated() } else { monomial.clone() };
        let value = self.materialise(&magnitude);
        let magnitude = self.signed(value);
        if negative { magnitude.negated() } else { magnitude }
    }

    fn signed(&self, value: Value) -> Monomial {
        match self.builder.instruction(value) {
            Instruction::Neg(inner) => Monomial::value(inner).negated(),
            _ => self.value(value),
        }
    }

    /// A value as a term.
    pub(crate) fn value(&self, value: Value) -> Monomial {
        if self.builder.is_zero(value) { Monomial::zero() } else { Monomial::value(value) }
    }

    /// Returns `true` if a monomial depends on parameters and numbers alone.
    pub(crate) fn is_parametric(&mut self, monomial: &Monomial) -> bool {
        monomial.factors.values().all(|value| self.kind(value) == DependsOn::Parameter)
    }

    /// The magnitude of the number and the parameters in a monomial, without what nothing can be divided by.
    pub(crate) fn parametric_part(&mut self, monomial: &Monomial) -> Monomial {
        let is_parameter = |value| self.kind(value) == DependsOn::Parameter;
        Monomial {
            coefficient: if monomial.is_zero() { Coefficient::one() } else { monomial.coefficient.abs() },
            factors: monomial.factors.retained(is_parameter),
        }
    }

    /// y, for the integrals F.
    pub(crate) fn weigh(&mut self, integrals: Vec<Value>) -> Value {
        self.builder.push(Instruction::Weigh(integrals.into()))
    }

    /// y_i
    pub(crate) fn weighed(&mut self, y: Value, integral: IntegralId) -> Monomial {
        Monomial::value(self.builder.push(Instruction::Weighed(y, integral)))
    }

    /// The expression as one monomial: a sum becomes what its terms share, times a value.
    pub(crate) fn monomial(&mut self, expression: &Expression) -> Monomial {
        if let Some(known) = self.lowered.get(expression) {
            return known;
        }
        let monomial = self.monomial_of_parts(expression);
        self.lowered.insert(expression, &monomial);
        monomial
    }

    fn monomial_of_parts(&mut self, expression: &Expression) -> Monomial {
        if let Expression::Call(function, _) = expression
            && let Some(held) = self.held(*function, expression)
        {
            return held;
        }
        match expression {
            Expression::Number(number) => {
                spend_number(number);
                Monomial::number(number)
            }
            Expression::Pi => Monomial::value(self.builder.constant(std::f64::consts::PI)),
            Expression::Symbol(symbol) => self.symbol(*symbol),
            Expression::Sum(terms) => self.constant_sum(expression).unwrap_or_else(|| {
                let terms = terms.iter().map(|term| self.monomial(term)).collect();
                self.sum_in(TermOrder::Written, terms)
            }),
            Expression::Product(factors) => {
                let product = factors.iter().fold(Monomial::one(), |product, factor| {
                    let factor = self.monomial(factor);
                    product.times(&factor)
                });
                self.continued(product)
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

    /// A function that switches, on the side on which it is held.
    fn held(&mut self, function: Function, expression: &Expression) -> Option<Monomial> {
        let argument = switches::argument(expression)?;
        let (place, sign) =
            switches::place(self.switches, argument).filter(|(place, _)| self.switches[*place].is_held)?;
        let value = self.lower(argument);
        let side = self.builder.input(Input::Side(place));
        let sided = self.builder.add_signed(value, sign, side);
        let outer = if function == Function::Abs { Function::Sign } else { function };
        let outer = self.builder.push(Instruction::Unary(outer, sided));
        // One value, so that |a| / a stays a quotient.
        Some(Monomial::value(if function == Function::Abs { self.builder.mul(outer, value) } else { outer }))
    }

    fn symbol(&mut self, symbol: Symbol) -> Monomial {
        if let Some(bound) = self.bound.get(&symbol) {
            return bound.clone();
        }
        let input = match self.symbols[symbol].role {
            Role::Input => Input::Driving(symbol),
            role if role.is_state() => Input::State(symbol),
            _ => Input::Parameter(symbol),
        };
        Monomial::value(self.builder.input(input))
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
    pub(crate) fn sum(&mut self, terms: Vec<Monomial>) -> Monomial {
        self.sum_in(TermOrder::Arranged, terms)
    }

    /// The sum of monomials, added in this order unless a factor is taken out of several.
    pub(crate) fn sum_in(&mut self, order: TermOrder, terms: Vec<Monomial>) -> Monomial {
        let mut terms = self.with_constants_folded(merge_like_terms(terms));
        if terms.len() <= 1 {
            return terms.pop().unwrap_or_else(Monomial::zero);
        }
        let mut key = terms.clone();
        self.arrange(&mut key);
        let key: Rc<[Monomial]> = key.into();
        if let Some(known) = self.sums.get(&key) {
            return known.clone();
        }
        while let Some(shorter) = self.with_a_known_sum(&terms) {
            terms = shorter;
        }
        let shared = take_shared(&mut terms.iter_mut().collect::<Vec<_>>(), |_, _| true);
        let count = terms.len();
        terms = self.collect(terms);
        let is_written = order == TermOrder::Written && terms.len() == count;
        if !is_written {
            self.arrange(&mut terms);
        }
        let result = match &terms[..] {
            [] => Monomial::zero(),
            [term] => shared.times(term),
            [first, ..] => {
                let is_turned = is_turned(&terms, if is_written { &key[0] } else { first });
                let value = self.add_up(&terms, if is_turned { Sign::Minus } else { Sign::Plus });
                let sum = shared.times(&self.value(value));
                if is_turned { sum.negated() } else { sum }
            }
        };
        let by_second = self.sums_that_begin.entry(key[0].factors.clone()).or_default();
        by_second.entry(key[1].factors.clone()).or_default().push((self.sums.len(), key.clone()));
        self.sums.insert(key, result.clone());
        result
    }

    /// The terms with one for several of them that are a multiple of a sum lowered before: the longest such sum, of several the one that begins
    /// with the first of the terms, and of these the one that was lowered first.
    fn with_a_known_sum(&self, terms: &[Monomial]) -> Option<Vec<Monomial>> {
        if !terms.iter().any(|first| self.sums_that_begin.contains_key(&first.factors)) {
            return None;
        }
        let coefficients: LookUp<&Factors, &Coefficient> =
            terms.iter().map(|term| (&term.factors, &term.coefficient)).collect();
        let mut best: Option<(&Rc<[Monomial]>, &Monomial)> = None;
        for first in terms {
            let Some(by_second) = self.sums_that_begin.get(&first.factors) else { continue };
            let longest = best.map_or(0, |(best, _)| best.len());
            let is_multiple = |known: &[Monomial]| {
                let begin = &known[0].coefficient;
                known.iter().all(|term| {
                    let own = coefficients.get(&term.factors);
                    own.is_some_and(|own| own.times(begin) == term.coefficient.times(&first.coefficient))
                })
            };
            let may_be = |known: &&KnownSum| (longest + 1..terms.len()).contains(&known.1.len());
            let seconds = terms.iter().filter_map(|second| by_second.get(&second.factors));
            let mut candidates: Vec<&KnownSum> = seconds.flatten().filter(may_be).collect();
            candidates.sort_by_key(|(place, known)| (Reverse(known.len()), *place));
            let found = candidates.into_iter().find(|(_, known)| is_multiple(known));
            best = found.map(|(_, known)| (known, first)).or(best);
        }
        let (known, first) = best?;
        let factor = first.coefficient.times(&known[0].coefficient.power(-1));
        let rest = terms.iter().filter(|term| known.iter().all(|other| other.factors != term.factors));
        let sum = self.sums[known].clone().times(&Monomial::coefficient(factor));
        // The sum may be a multiple of another term.
        Some(merge_like_terms(rest.cloned().chain([sum]).collect()))
    }

    /// Divides the entries of a vector by their common factor, and returns it: a number, and parameters that divide. Parameters that
    /// multiply stay, because they may be 0.
    pub(crate) fn take_constant_factor(&mut self, entries: &mut [&mut Monomial]) -> Monomial {
        take_shared(entries, |value, exponent| exponent < 0 && self.kind(value) == DependsOn::Parameter)
    }

    /// The value of the sum.
    pub(crate) fn value_of_sum(&mut self, terms: Vec<Monomial>) -> Value {
        let sum = self.sum(terms);
        self.materialise(&sum)
    }

    /// Terms of the state first, so that sums which differ in parameters alone begin alike.
    pub(crate) fn arrange(&mut self, terms: &mut [Monomial]) {
        terms.sort_by_cached_key(|term| {
            let kinds = term.factors.values().map(|value| self.kind(value));
            (kinds.min().unwrap_or(DependsOn::Parameter), term.factors.clone())
        });
    }

    /// The sum of the terms, times the sign: those first that leave no sign in front.
    pub(crate) fn add_up(&mut self, terms: &[Monomial], sign: Sign) -> Value {
        let mut sum = self.builder.constant(0.0);
        for term in terms {
            let sign = if term.coefficient.is_negative() { -sign } else { sign };
            let magnitude = Monomial { coefficient: term.coefficient.abs(), factors: term.factors.clone() };
            let value = self.materialise(&magnitude);
            sum = self.builder.add_signed(sum, sign, value);
        }
        sum
    }

    /// The value of a monomial: parameters and scalars are multiplied first, because they are shared by vectors' entries.
    pub(crate) fn materialise(&mut self, monomial: &Monomial) -> Value {
        if let Some((base, times, rest)) = monomial.as_power()
            && (times > 2 || !monomial.coefficient.is_moderate() || !self.has_cheap_squares(monomial))
        {
            let base = self.materialise(&base);
            let power = self.builder.powi(base, times);
            return self.materialise(&rest.times(&Monomial::value(power)));
        }
        let negative = monomial.coefficient.is_negative();
        let mut groups: [Option<Value>; 3] = [None; 3];
        let mut magnitude = monomial.coefficient.abs();
        let mut outside = Vec::new();
        while !magnitude.is_moderate() {
            // No double is so large or so small: it takes several, which meet after what they are multiplied with.
            let exponent = if scaled::magnitude(&magnitude.rational()) > 0 { 500 } else { -500 };
            outside.push(self.builder.constant(to_f64(&scaled::power_of_two(exponent))));
            magnitude = magnitude.shifted(-exponent);
        }
        if !magnitude.is_one() || monomial.factors.is_empty() {
            groups[0] = Some(self.builder.constant(to_f64(&magnitude.rational())));
        }
        let mut powers = monomial.factors.to_vec();
        powers.sort_by_key(|&(_, exponent)| exponent == 2);
        for (value, exponent) in powers {
            let group = match self.kind(value) {
                DependsOn::Parameter => 0,
                DependsOn::Scalar => 1,
                DependsOn::State => 2,
            };
            groups[group] = Some(self.times_power(groups[group], value, exponent));
        }
        let factors = groups.into_iter().flatten().chain(outside);
        let product = factors.reduce(|product, factor| self.builder.mul(product, factor));
        let product = product.unwrap_or_else(|| self.builder.constant(1.0));
        if negative { self.builder.neg(product) } else { product }
    }

    /// A product times a power. As (x y) y, x y^2 takes no more operations than with a square that nothing else has computed, and
    /// overflows no earlier than it has to.
    fn times_power(&mut self, product: Option<Value>, value: Value, exponent: i32) -> Value {
        match product {
            Some(product)
                if exponent == 2 && self.kind(value) == DependsOn::State && !self.builder.has_square(value) =>
            {
                let product = self.builder.mul(product, value);
                self.builder.mul(product, value)
            }
            product => {
                let power = self.builder.powi(value, exponent);
                product.map_or(power, |product| self.builder.mul(product, power))
            }
        }
    }

    /// Returns `true` if squares of the factors are shared: computed already, or of parameters, so that they are computed once.
    fn has_cheap_squares(&mut self, monomial: &Monomial) -> bool {
        let mut squares = monomial.factors.iter().filter(|(_, power)| power.abs() == 2);
        squares.any(|&(value, _)| self.builder.has_square(value) || self.kind(value) == DependsOn::Parameter)
    }

    pub(crate) fn kind(&mut self, value: Value) -> DependsOn {
        while self.kinds.len() <= value.index() {
            let instruction = self.builder.instruction(Value::at(self.kinds.len()));
            let kind = match instruction {
                Instruction::Constant(_) => DependsOn::Parameter,
                Instruction::Input(Input::Parameter(_) | Input::Prepared(_)) => DependsOn::Parameter,
                Instruction::Input(Input::State(_) | Input::Driving(_) | Input::Side(_) | Input::Variance(_)) => {
                    DependsOn::State
                }
                Instruction::Input(Input::Noise(_) | Input::Acceleration(_))
                | Instruction::Weigh(_)
                | Instruction::Weighed(..) => DependsOn::Scalar,
                other => other.operands().fold(DependsOn::Parameter, |kind, operand| {
                    match (kind, self.kinds[operand.index()]) {
                        (DependsOn::State, _) | (_, DependsOn::State) => DependsOn::State,
                        (DependsOn::Scalar, _) | (_, DependsOn::Scalar) => DependsOn::Scalar,
                        _ => DependsOn::Parameter,
                    }
                }),
            };
            self.kinds.push(kind);
        }
        self.kinds[value.index()]
    }
}

/// Returns `true` if minus the sum of the terms is computed: where this term is negative, so that a - b and b - a are one value, unless
/// the sum would have to begin with two negative terms.
fn is_turned(terms: &[Monomial], by: &Monomial) -> bool {
    let is_negative = |term: &Monomial| term.coefficient.is_negative();
    let by = is_negative(by);
    by != terms[..2].iter().all(|term| is_negative(term) != by)
}

#[cfg(test)]
mod tests {
    use num_bigint::BigInt;

    use super::*;
    use crate::derivation::table::Id;
    use crate::program::code::interpret;

    /// 2 a + 2 b + 3 v + c, where v = a + b and 3 v + c are known: neither multiple of v is lost.
    #[test]
    fn a_known_sum_that_occurs_as_a_term_is_counted_with_it() {
        let symbols = Symbols::default();
        let mut lowering = Lowering::new(&symbols);
        let [a, b, c] = [0, 1, 2].map(|place| lowering.builder.input(Input::Noise(IntegralId::at(place))));
        let [a, b, c] = [a, b, c].map(Monomial::value);
        let times = |number: i64, term: &Monomial| {
            term.clone().times(&Monomial::number(&BigRational::from_integer(BigInt::from(number))))
        };
        let v = lowering.sum_in(TermOrder::Written, vec![a.clone(), b.clone()]);
        let w = lowering.sum_in(TermOrder::Written, vec![times(3, &v), c.clone()]);
        let sum = lowering.sum_in(TermOrder::Written, vec![times(2, &a), times(2, &b), times(3, &v), c]);
        let outputs = [w, sum].map(|monomial| lowering.materialise(&monomial)).to_vec();
        let input = |input| match input {
            Input::Noise(integral) => [1.0, 10.0, 100.0][integral.place()],
            other => panic!("{other:?}"),
        };
        let values = interpret(&lowering.builder.finish(outputs), &input, &|constant| constant);
        assert_eq!(values, [133.0, 155.0]);
    }
}
