//! A Taylor series under way.

use super::companions::{add_companions, logarithm_of_power};
use super::{Convolution, TaylorSeries};
use crate::expression::Function;
use crate::program::code::{Builder, Input, Instruction, Program, Sign, Value};
use crate::program::optimise::{fuse_multiply_add, schedule};

/// The coefficients of a value, or with a factor c, which does not change, c n times those of order n.
pub(super) type Sequence = (Value, Option<Value>);

/// A coefficient as a sum: of what was computed, and of M(a, b) with either sign.
#[derive(Clone, Default)]
pub(super) struct Form {
    pub(super) computed: Option<Value>,
    pub(super) sums: [Vec<[Sequence; 2]>; 2],
}

impl From<Option<Value>> for Form {
    fn from(computed: Option<Value>) -> Self {
        Self { computed, ..Self::default() }
    }
}

/// A value as a power of another one, times something that does not change.
#[derive(Clone, Copy)]
pub(super) struct Power {
    pub(super) base: Value,
    pub(super) exponent: f64,
}

/// A series under way. Its values belong to the program that begins it, which has all functions that rules need.
#[derive(Default)]
pub(super) struct Expansion {
    pub(super) begin: Builder,
    pub(super) finish: Builder,
    state: Vec<Input>,
    inputs: Vec<Input>,
    rates: Vec<Value>,
    /// The arguments of switches, and then other functions.
    switches: Vec<Value>,
    functions: Vec<Value>,
    /// `true` for each value of the field, and of what its rules need, that depends on the state or on inputs; and that depends on the state.
    changes: Vec<bool>,
    moves: Vec<bool>,
    /// `true` for each that depends on the side of a switch.
    is_switched: Vec<bool>,
    /// Each value as a power of another one.
    pub(super) powers: Vec<Power>,
    /// How often rules read each value.
    uses: Vec<u32>,
    forms: Vec<Form>,
    /// The coefficients that were computed.
    coefficients: Vec<Option<Option<Value>>>,
    initials: Vec<Value>,
    sequences: Vec<Sequence>,
    sums: Vec<Convolution>,
}

impl Expansion {
    pub(super) fn of(field: &Program, functions: &Program, state: Vec<Input>, inputs: Vec<Input>) -> Self {
        let mut expansion = Self { state, inputs, ..Self::default() };
        expansion.rates = expansion.copied(field);
        expansion.functions = expansion.copied(functions);
        expansion.find_powers();
        let count = expansion.changes.len();
        (expansion.coefficients, expansion.uses) = (vec![None; count], vec![0; count]);
        expansion.count_uses();
        for value in (0..count).map(Value::at) {
            let is_read = expansion.uses[value.index()] > 0;
            let form = if is_read { expansion.form(value) } else { Form::default() };
            expansion.forms.push(form);
        }
        expansion
    }

    /// Appends a program to the one that begins, and returns its results.
    fn copied(&mut self, program: &Program) -> Vec<Value> {
        let mut copied: Vec<Value> = Vec::with_capacity(program.instructions.len());
        for instruction in &program.instructions {
            let value = match instruction.clone().map(|operand: Value| copied[operand.index()]) {
                Instruction::Unary(function @ (Function::Abs | Function::Sign | Function::Step), a)
                    if self.changes(a) =>
                {
                    self.switched(function, a)
                }
                Instruction::Binary(Function::Powf, a, b) if self.changes(b) => {
                    logarithm_of_power(&mut self.begin, a, b);
                    self.begin.push(Instruction::Binary(Function::Powf, a, b))
                }
                other => self.begin.push(other.ordered()),
            };
            self.follow();
            if self.changes(value) {
                add_companions(&mut self.begin, value);
                self.follow();
            }
            copied.push(value);
        }
        program.outputs.iter().map(|value| copied[value.index()]).collect()
    }

    /// |a|, its slope, or 1 where a is positive, on the side of a that is given.
    fn switched(&mut self, function: Function, a: Value) -> Value {
        let known = self.switches.iter().position(|switch| *switch == a);
        let place = known.unwrap_or_else(|| {
            self.switches.push(a);
            self.switches.len() - 1
        });
        let (side, half) = (self.begin.input(Input::Order(place)), self.begin.constant(0.5));
        match function {
            Function::Abs => self.begin.mul(side, a),
            Function::Sign => side,
            _ => {
                let product = self.begin.mul(half, side);
                self.begin.add(half, product)
            }
        }
    }

    /// Finds which of the newest values change.
    fn follow(&mut self) {
        for index in self.changes.len()..self.begin.len() {
            let [moves, is_driven] = match self.begin.instruction(Value::at(index)) {
                Instruction::Input(input) => [&self.state, &self.inputs].map(|of| of.contains(&input)),
                other => [&self.moves, &self.changes].map(|of| other.operands().any(|operand| of[operand.index()])),
            };
            let instruction = self.begin.instruction(Value::at(index));
            let is_side = matches!(instruction, Instruction::Input(Input::Order(_)));
            self.is_switched.push(is_side || instruction.operands().any(|operand| self.is_switched[operand.index()]));
            self.moves.push(moves);
            self.changes.push(moves || is_driven);
        }
    }

    /// 1 / a, where a value begins, and 1 where a is 0, if inputs alone or the side of a switch determine it. There, as where an input is held
    /// at 0 or in max(x, 0), the first is so large a number that coefficients that vanish stay 0 and others leave the doubles.
    pub(super) fn reciprocal(&mut self, a: Value) -> (Value, Option<Value>) {
        if !self.changes(a) || (self.moves[a.index()] && !self.is_switched[a.index()]) {
            return (self.begin.recip(a), None);
        }
        let [one, least] = [1.0, 1e-300].map(|number| self.begin.constant(number));
        let sign = self.begin.push(Instruction::Unary(Function::Sign, a));
        let is_not_zero = self.begin.mul(sign, sign);
        let is_zero = self.begin.push(Instruction::Sub(one, is_not_zero));
        let shift = self.begin.mul(least, is_zero);
        let divisor = self.begin.add(a, shift);
        (self.begin.recip(divisor), Some(is_zero))
    }

    /// Returns `true` if a value depends on the state or on inputs. Values that rules have added since are read where a step begins alone.
    pub(super) fn changes(&self, value: Value) -> bool {
        self.changes.get(value.index()).copied().unwrap_or(false)
    }

    pub(super) fn value_count(&self) -> usize {
        self.changes.len()
    }

    fn watched(&self) -> Vec<Value> {
        [&*self.switches, &*self.functions].concat()
    }

    /// Returns `true` if the rates add and multiply what changes, and nothing else.
    fn is_polynomial(&self) -> bool {
        let is_sum_or_product = |value: &Value| {
            use Instruction::{Add, Constant, Input, Mul, MulAdd, Neg, Sub};
            let instruction = self.begin.instruction(*value);
            matches!(instruction, Add(..) | Constant(_) | Input(_) | Mul(..) | MulAdd(..) | Neg(_) | Sub(..))
        };
        let read = (0..self.uses.len()).map(Value::at).filter(|value| self.uses[value.index()] > 0);
        self.inputs.is_empty() && read.into_iter().all(|value| is_sum_or_product(&value))
    }

    /// Counts how often each value is read by rules that results need.
    fn count_uses(&mut self) {
        let mut read = [self.rates.clone(), self.watched()].concat();
        while let Some(value) = read.pop() {
            if !self.changes(value) {
                continue;
            }
            self.uses[value.index()] += 1;
            if self.uses[value.index()] == 1 {
                read.extend(self.reads(value));
            }
        }
    }

    /// The programs, without values that nothing reads: a value that rules need for a function of it alone, such as its sign.
    pub(super) fn series(mut self) -> TaylorSeries {
        let zero = self.finish.constant(0.0);
        let (rates, watched) = (self.rates.clone(), self.watched());
        let known = rates.iter().chain(&watched);
        let mut outputs: Vec<Value> = known.map(|value| self.coefficient(*value).unwrap_or(zero)).collect();
        // Computing a sequence may take further sums, of further sequences.
        let mut place = 0;
        while let Some(&(value, factor)) = self.sequences.get(place) {
            let coefficient = self.coefficient(value).unwrap_or(zero);
            outputs.push(match factor {
                Some(factor) => {
                    let (factor, order) = (self.initial(factor), self.order());
                    let factor = self.finish.mul(factor, order);
                    self.finish.mul(factor, coefficient)
                }
                None => coefficient,
            });
            place += 1;
        }
        let (switches, count, is_polynomial) = (self.switches.len(), watched.len(), self.is_polynomial());
        let mut begin = self.begin.finish([rates, watched, self.initials].concat());
        let mut finish = self.finish.finish(outputs);
        begin.eliminate_dead_values();
        finish.eliminate_dead_values();
        fuse_multiply_add(&mut finish);
        for program in [&mut begin, &mut finish] {
            program.eliminate_dead_values();
            schedule(program);
        }
        let Self { sums, state, inputs, .. } = self;
        TaylorSeries { begin, finish, sums, state, inputs, switches, watched: count, is_polynomial }
    }

    /// n
    fn order(&mut self) -> Value {
        self.finish.input(Input::Order(0))
    }

    /// 1 / n
    fn inverse_order(&mut self) -> Value {
        self.finish.input(Input::Order(1))
    }

    /// The coefficient of order n of a value; none where all vanish, because it does not change.
    pub(super) fn coefficient(&mut self, value: Value) -> Option<Value> {
        if let Some(known) = self.coefficients[value.index()] {
            return known;
        }
        let form = self.forms[value.index()].clone();
        let coefficient = self.computed(form);
        self.coefficients[value.index()] = Some(coefficient);
        coefficient
    }

    /// The coefficient of a value as a term of another one: a sum alone, where nothing else reads it.
    pub(super) fn term(&mut self, value: Value) -> Form {
        let is_read_once = self.uses[value.index()] == 1 && self.coefficients[value.index()].is_none();
        if is_read_once { self.forms[value.index()].clone() } else { self.coefficient(value).into() }
    }

    /// A form's value.
    fn computed(&mut self, Form { computed, sums: [plus, minus] }: Form) -> Option<Value> {
        let [plus, minus] = [plus, minus].map(|pairs| self.sum(&pairs));
        // Sums are there before what is computed of the order.
        let sums = self.total(plus, Sign::Minus, minus);
        self.total(computed, Sign::Plus, sums)
    }

    /// a ± b, of what there is.
    pub(super) fn total(&mut self, a: Option<Value>, sign: Sign, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.finish.add_signed(a, sign, b)),
            (None, Some(b)) if sign == Sign::Minus => Some(self.finish.neg(b)),
            (a, b) => a.or(b),
        }
    }

    /// The sum of M of these pairs of sequences, if any changes.
    pub(super) fn sum(&mut self, pairs: &[[Sequence; 2]]) -> Option<Value> {
        let changing = pairs.iter().filter(|pair| pair.iter().all(|(value, _)| self.changes(*value)));
        let changing: Vec<[Sequence; 2]> = changing.copied().collect();
        if changing.is_empty() {
            return None;
        }
        let sum = Convolution(changing.iter().map(|pair| pair.map(|sequence| self.place(sequence))).collect());
        let known = self.sums.iter().position(|other| *other == sum);
        let place = known.unwrap_or_else(|| {
            self.sums.push(sum);
            self.sums.len() - 1
        });
        Some(self.finish.input(Input::Order(TaylorSeries::NUMBERS + place)))
    }

    fn place(&mut self, sequence: Sequence) -> usize {
        let known = self.sequences.iter().position(|other| *other == sequence);
        known.unwrap_or_else(|| {
            self.sequences.push(sequence);
            self.sequences.len() - 1
        })
    }

    /// The input by which the finish of an order reads a value of the beginning.
    fn initial(&mut self, value: Value) -> Value {
        match self.begin.instruction(value) {
            Instruction::Constant(bits) => self.finish.constant(f64::from_bits(bits)),
            Instruction::Input(input @ Input::Prepared(_)) => self.finish.input(input),
            _ => {
                let known = self.initials.iter().position(|other| *other == value);
                let place = known.unwrap_or_else(|| {
                    self.initials.push(value);
                    self.initials.len() - 1
                });
                self.finish.input(Input::Initial(place))
            }
        }
    }

    /// A coefficient times a value of the beginning.
    pub(super) fn scaled(&mut self, coefficient: Option<Value>, by: Value) -> Option<Value> {
        let coefficient = coefficient?;
        let by = self.initial(by);
        Some(self.finish.mul(by, coefficient))
    }

    /// The coefficient of order n of a value times another one of the beginning.
    pub(super) fn scaled_coefficient(&mut self, value: Value, by: Value) -> Option<Value> {
        let coefficient = self.coefficient(value);
        self.scaled(coefficient, by)
    }

    /// The same divided by n.
    pub(super) fn scaled_over_order(&mut self, coefficient: Option<Value>, by: Value) -> Option<Value> {
        let coefficient = coefficient?;
        let (by, inverse) = (self.initial(by), self.inverse_order());
        // Both are there early.
        let factor = self.finish.mul(by, inverse);
        Some(self.finish.mul(factor, coefficient))
    }
}
