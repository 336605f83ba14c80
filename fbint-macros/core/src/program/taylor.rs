//! The Taylor series of solutions, from the program of a field (Jorba and Zou, *A software package for the numerical integration of ODEs
//! by means of high-order Taylor methods*, Experimental Mathematics 14, 2005).
//!
//! With v = v_0 + v_1 t + v_2 t^2 + .. along a solution, the coefficient of order n of a product is
//!
//! ```text
//! (a b)_n = a_n b_0 + a_0 b_n + M(a, b)        M(a, b) = sum_{j=1}^{n-1} a_j b_{n-j}
//! ```
//!
//! and every function that is not linear has such a rule, from a differential equation that it solves: exp(a)' = exp(a) a', and so on. All
//! sums M of an order are of coefficients before that order. So they come first, side by side, whatever depends on what, and then come a
//! few operations for each value: the program that finishes an order. The state's own coefficients are x_n = f_{n-1} / n.
//!
//! Sums of products that nothing else reads need one sum M, and finish once. Sums of values are added as the field adds them: what cancels
//! in their coefficients cancels there.

mod layout;
mod verify;

use crate::expression::Function;
use crate::program::code::{Builder, Input, Instruction, Program, Sign, Value};
use crate::program::optimise::{fuse_multiply_add, schedule};
pub use layout::{Group, Layout};
pub use verify::verify_series;

/// The programs that give the coefficients of Taylor series, order by order.
#[derive(Clone, Debug)]
pub struct TaylorSeries {
    /// From the state: the field, then the values that finishing an order reads as [`Input::Initial`].
    pub begin: Program,
    /// From the state's coefficients of an order n > 0: the coefficients of the field, then of the sequences that the sums multiply. It
    /// reads n, 1 / n and then the sums of the order as [`Input::Order`].
    pub finish: Program,
    /// The sums of an order.
    pub sums: Vec<Convolution>,
    /// The number of entries of the state.
    pub entries: usize,
}

/// A sum of M(a, b), where a and b are sequences, by their places.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Convolution(pub Vec<[usize; 2]>);

impl TaylorSeries {
    /// The number of numbers of an order that come before its sums: n and 1 / n.
    pub const NUMBERS: usize = Input::NUMBERS_OF_AN_ORDER;

    /// The series of the solutions of a field.
    ///
    /// # Errors
    ///
    /// A function that has none, where the field has one of the state: |x|.
    pub fn of(field: &Program) -> Result<Self, Function> {
        let mut expansion = Expansion::of(field)?;
        for value in (0..expansion.changes.len()).map(Value::at) {
            let form = expansion.form(value);
            expansion.forms.push(form);
        }
        Ok(expansion.series())
    }

    /// The number of sequences that the sums are of.
    pub fn sequences(&self) -> usize {
        self.finish.outputs.len() - self.entries
    }
}

/// The coefficients of a value, or n times its coefficients of order n.
type Sequence = (Value, bool);

/// A coefficient as a sum: of what was computed, and of M(a, b) with either sign.
#[derive(Clone, Default)]
struct Form {
    computed: Option<Value>,
    sums: [Vec<[Sequence; 2]>; 2],
}

impl From<Option<Value>> for Form {
    fn from(computed: Option<Value>) -> Self {
        Self { computed, ..Self::default() }
    }
}

/// A series under way. Values belong to the program that begins it, which has all functions that rules need.
struct Expansion {
    begin: Builder,
    finish: Builder,
    rates: Vec<Value>,
    /// The number of times that each value is read, and whether it depends on the state.
    uses: Vec<u32>,
    changes: Vec<bool>,
    forms: Vec<Form>,
    /// The coefficients that were computed.
    coefficients: Vec<Option<Option<Value>>>,
    initials: Vec<Value>,
    sequences: Vec<Sequence>,
    sums: Vec<Convolution>,
}

impl Expansion {
    fn of(field: &Program) -> Result<Self, Function> {
        let changes = field.depending(|input| matches!(input, Input::State(_)));
        let (mut begin, mut new) = (Builder::default(), Vec::with_capacity(changes.len()));
        for (index, instruction) in field.instructions.iter().enumerate() {
            let instruction = instruction.clone().map(|operand: Value| new[operand.index()]);
            if let (Instruction::Unary(function @ (Function::Abs | Function::Sign | Function::Step), _), true) =
                (&instruction, changes[index])
            {
                return Err(*function);
            }
            let is_changed = |operand: Value| changes[operand.index()];
            if let Instruction::Binary(Function::Powf, a, b) = instruction
                && field.instructions[index].operands().last().is_some_and(is_changed)
            {
                logarithm_of_power(&mut begin, a, b);
            }
            let value = begin.push(instruction.ordered());
            if changes[index] {
                add_companions(&mut begin, value);
            }
            new.push(value);
        }
        let rates: Vec<Value> = field.outputs.iter().map(|value| new[value.index()]).collect();
        let program = begin.program(rates.clone());
        Ok(Self {
            uses: program.uses(),
            changes: program.depending(|input| matches!(input, Input::State(_))),
            forms: Vec::with_capacity(program.instructions.len()),
            coefficients: vec![None; program.instructions.len()],
            begin,
            rates,
            finish: Builder::default(),
            initials: Vec::new(),
            sequences: Vec::new(),
            sums: Vec::new(),
        })
    }

    /// The programs, without values that nothing reads: a value that rules need for a function of it alone, such as its sign.
    fn series(mut self) -> TaylorSeries {
        let zero = self.finish.constant(0.0);
        let rates = self.rates.clone();
        let mut outputs: Vec<Value> = rates.iter().map(|rate| self.coefficient(*rate).unwrap_or(zero)).collect();
        // Computing a sequence may take further sums, of further sequences.
        let mut place = 0;
        while let Some(&(value, is_weighted)) = self.sequences.get(place) {
            let coefficient = self.coefficient(value).unwrap_or(zero);
            let order = self.order();
            outputs.push(if is_weighted { self.finish.mul(order, coefficient) } else { coefficient });
            place += 1;
        }
        let entries = rates.len();
        let mut begin = self.begin.finish([rates, self.initials].concat());
        let mut finish = self.finish.finish(outputs);
        begin.eliminate_dead_values();
        finish.eliminate_dead_values();
        fuse_multiply_add(&mut finish);
        for program in [&mut begin, &mut finish] {
            program.eliminate_dead_values();
            schedule(program);
        }
        TaylorSeries { begin, finish, sums: self.sums, entries }
    }

    /// n
    fn order(&mut self) -> Value {
        self.finish.input(Input::Order(0))
    }

    /// 1 / n
    fn inverse_order(&mut self) -> Value {
        self.finish.input(Input::Order(1))
    }

    /// The coefficient of order n of a value; none where all vanish, because it does not depend on the state.
    fn coefficient(&mut self, value: Value) -> Option<Value> {
        if let Some(known) = self.coefficients[value.index()] {
            return known;
        }
        let form = self.forms[value.index()].clone();
        let coefficient = self.computed(form);
        self.coefficients[value.index()] = Some(coefficient);
        coefficient
    }

    /// The coefficient of a value as a term of another one: a sum alone, where nothing else reads it.
    fn term(&mut self, value: Value) -> Form {
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
    fn total(&mut self, a: Option<Value>, sign: Sign, b: Option<Value>) -> Option<Value> {
        match (a, b) {
            (Some(a), Some(b)) => Some(self.finish.add_signed(a, sign, b)),
            (None, Some(b)) if sign == Sign::Minus => Some(self.finish.neg(b)),
            (a, b) => a.or(b),
        }
    }

    /// The sum of M of these pairs of sequences, if any changes.
    fn sum(&mut self, pairs: &[[Sequence; 2]]) -> Option<Value> {
        if pairs.is_empty() {
            return None;
        }
        let sum = Convolution(pairs.iter().map(|pair| pair.map(|sequence| self.place(sequence))).collect());
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

    /// M(a, b), where both change.
    fn convolution(&mut self, a: Sequence, b: Sequence) -> Option<Value> {
        let change = self.changes[a.0.index()] && self.changes[b.0.index()];
        if change { self.sum(&[[a, b]]) } else { None }
    }

    /// The input by which the finish of an order reads a value of the beginning.
    fn initial(&mut self, value: Value) -> Value {
        match self.begin.instruction(value) {
            Instruction::Constant(bits) => self.finish.constant(f64::from_bits(bits)),
            Instruction::Input(input @ (Input::Prepared(_) | Input::Driving(_))) => self.finish.input(input),
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
    fn scaled(&mut self, coefficient: Option<Value>, by: Value) -> Option<Value> {
        let coefficient = coefficient?;
        let by = self.initial(by);
        Some(self.finish.mul(by, coefficient))
    }

    /// The coefficient of order n of a value times another one of the beginning.
    fn scaled_coefficient(&mut self, value: Value, by: Value) -> Option<Value> {
        let coefficient = self.coefficient(value);
        self.scaled(coefficient, by)
    }

    /// That coefficient divided by n.
    fn scaled_over_order(&mut self, coefficient: Option<Value>, by: Value) -> Option<Value> {
        let coefficient = coefficient?;
        let (by, inverse) = (self.initial(by), self.inverse_order());
        // Both are there early.
        let factor = self.finish.mul(by, inverse);
        Some(self.finish.mul(factor, coefficient))
    }

    /// The rule of each instruction.
    fn form(&mut self, value: Value) -> Form {
        if !self.changes[value.index()] {
            return Form::default();
        }
        match self.begin.instruction(value) {
            Instruction::Input(input) => Some(self.finish.input(input)).into(),
            Instruction::Constant(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => Form::default(),
            Instruction::Add(a, b) => self.added(a, Sign::Plus, b),
            Instruction::Sub(a, b) => self.added(a, Sign::Minus, b),
            Instruction::Neg(a) => {
                let term = self.term(a);
                self.signed(Sign::Minus, term)
            }
            Instruction::Mul(a, b) => self.product(a, b),
            Instruction::MulAdd([of_product, of_term], a, b, c) => {
                let (product, term) = (self.product(a, b), self.term(c));
                let product = self.signed(of_product, product);
                self.combined(product, of_term, term)
            }
            Instruction::Div(a, b) => self.quotient(value, a, b).into(),
            Instruction::Recip(b) => {
                let square = self.begin.mul(value, value);
                let slope = self.begin.neg(square);
                let sum = self.convolution((b, false), (value, false));
                let (early, late) = (self.scaled(sum, value), self.scaled_coefficient(b, slope));
                self.total(late, Sign::Minus, early).into()
            }
            // 2 s_0 s_n = a_n - M(s, s)
            Instruction::Sqrt(a) => {
                let (half, reciprocal) = (self.begin.constant(0.5), self.begin.recip(value));
                let slope = self.begin.mul(half, reciprocal);
                let sum = self.convolution((value, false), (value, false));
                let (early, late) = (self.scaled(sum, slope), self.scaled_coefficient(a, slope));
                self.total(late, Sign::Minus, early).into()
            }
            Instruction::Unary(function, a) => self.function(value, function, a).into(),
            Instruction::Binary(Function::Atan2, a, b) => self.angle(value, a, b).into(),
            Instruction::Binary(_, a, b) => self.power(value, a, b).into(),
        }
    }

    fn added(&mut self, a: Value, sign: Sign, b: Value) -> Form {
        let (a, b) = (self.term(a), self.term(b));
        self.combined(a, sign, b)
    }

    /// a ± b
    fn combined(&mut self, a: Form, sign: Sign, b: Form) -> Form {
        let computed = self.total(a.computed, sign, b.computed);
        let [plus, minus] = if sign == Sign::Plus { b.sums } else { swapped(b.sums) };
        Form { computed, sums: [[a.sums[0].clone(), plus].concat(), [a.sums[1].clone(), minus].concat()] }
    }

    /// ±a
    fn signed(&mut self, sign: Sign, a: Form) -> Form {
        if sign == Sign::Plus { a } else { self.combined(Form::default(), sign, a) }
    }

    /// a b
    fn product(&mut self, a: Value, b: Value) -> Form {
        match [a, b].map(|factor| self.changes[factor.index()]) {
            [true, true] => {}
            [false, _] => return self.scaled_coefficient(b, a).into(),
            [_, false] => return self.scaled_coefficient(a, b).into(),
        }
        let computed = if a == b {
            let double = self.begin.add(a, a);
            self.scaled_coefficient(a, double)
        } else {
            // Values are in the order in which they are computed: the later one is added last.
            let (early, late) = (a.min(b), a.max(b));
            let (of_late, of_early) = (self.scaled_coefficient(late, early), self.scaled_coefficient(early, late));
            self.total(of_late, Sign::Plus, of_early)
        };
        Form { computed, sums: [vec![[(a.min(b), false), (a.max(b), false)]], Vec::new()] }
    }

    /// q = a / b: b_0 q_n = a_n - b_n q_0 - M(b, q)
    fn quotient(&mut self, q: Value, a: Value, b: Value) -> Option<Value> {
        let reciprocal = self.begin.recip(b);
        if !self.changes[b.index()] {
            return self.scaled_coefficient(a, reciprocal);
        }
        let slope = self.begin.mul(q, reciprocal);
        let sum = self.convolution((b, false), (q, false));
        let early = self.scaled(sum, reciprocal);
        let by_b = self.scaled_coefficient(b, slope);
        let by_a = self.scaled_coefficient(a, reciprocal);
        let subtracted = self.total(by_b, Sign::Plus, early);
        self.total(by_a, Sign::Minus, subtracted)
    }

    /// f' = slope a', where the slope is a function of a or f: f_n = slope_0 a_n + M(n a, slope) / n. Where the slope is 1 / r for some r,
    /// r f' = a': f_n = (a_n - M(n f, r) / n) / r_0.
    fn function(&mut self, f: Value, function: Function, a: Value) -> Option<Value> {
        let one = self.begin.constant(1.0);
        let (sign, slope) = match companion(&mut self.begin, function, a, f) {
            Companion::Slope(sign, slope) => (sign, slope),
            Companion::Reciprocal(sign, r) => {
                let reciprocal = self.begin.recip(r);
                let sum = self.convolution((f, true), (r, false));
                let early = self.scaled_over_order(sum, reciprocal);
                let late = self.scaled_coefficient(a, reciprocal);
                let late = self.total(None, sign, late);
                return self.total(late, Sign::Minus, early);
            }
        };
        let sum = self.convolution((a, true), (slope, false));
        let early = self.scaled_over_order(sum, one);
        let late = self.scaled_coefficient(a, slope);
        let total = self.total(late, Sign::Plus, early);
        self.total(None, sign, total)
    }

    /// The angle f of the point (x, y), with r = x^2 + y^2: r f' = x y' - y x'.
    fn angle(&mut self, f: Value, y: Value, x: Value) -> Option<Value> {
        let r = radius(&mut self.begin, y, x);
        let reciprocal = self.begin.recip(r);
        let [by_y, by_x] = [x, y].map(|factor| self.begin.mul(factor, reciprocal));
        let of_y = self.convolution((x, false), (y, true));
        let of_x = self.convolution((y, false), (x, true));
        let of_f = self.convolution((r, false), (f, true));
        let sums = self.total(of_y, Sign::Minus, of_x);
        let sums = self.total(sums, Sign::Minus, of_f);
        let early = self.scaled_over_order(sums, reciprocal);
        let (late_y, late_x) = (self.scaled_coefficient(y, by_y), self.scaled_coefficient(x, by_x));
        let late = self.total(late_y, Sign::Minus, late_x);
        self.total(late, Sign::Plus, early)
    }

    /// p = a^b. With a constant exponent a p' = b p a'; else p' = p l' with l = b ln a.
    fn power(&mut self, p: Value, a: Value, b: Value) -> Option<Value> {
        if self.changes[b.index()] {
            let exponent = logarithm_of_power(&mut self.begin, a, b);
            let (one, sum) = (self.begin.constant(1.0), self.convolution((exponent, true), (p, false)));
            let early = self.scaled_over_order(sum, one);
            let late = self.scaled_coefficient(exponent, p);
            return self.total(late, Sign::Plus, early);
        }
        let reciprocal = self.begin.recip(a);
        let slope = self.begin.mul(p, reciprocal);
        let slope = self.begin.mul(b, slope);
        let of_a = self.convolution((a, true), (p, false));
        let of_p = self.convolution((a, false), (p, true));
        let of_a = self.scaled(of_a, b);
        let sums = self.total(of_a, Sign::Minus, of_p);
        let early = self.scaled_over_order(sums, reciprocal);
        let late = self.scaled_coefficient(a, slope);
        self.total(late, Sign::Plus, early)
    }
}

fn swapped<T>([a, b]: [T; 2]) -> [T; 2] {
    [b, a]
}

/// The partner of a function in its derivative.
enum Companion {
    /// The derivative is this, with a sign.
    Slope(Sign, Value),
    /// The derivative is the reciprocal of this, with a sign.
    Reciprocal(Sign, Value),
}

/// The companion of a function f of a.
fn companion(builder: &mut Builder, function: Function, a: Value, f: Value) -> Companion {
    use Companion::{Reciprocal, Slope};
    let call = |builder: &mut Builder, function| builder.push(Instruction::Unary(function, a));
    let beside_one = |builder: &mut Builder, sign, value| {
        let (one, square) = (builder.constant(1.0), builder.mul(value, value));
        builder.add_signed(one, sign, square)
    };
    match function {
        Function::Sin => Slope(Sign::Plus, call(builder, Function::Cos)),
        Function::Cos => Slope(Sign::Minus, call(builder, Function::Sin)),
        Function::Sinh => Slope(Sign::Plus, call(builder, Function::Cosh)),
        Function::Cosh => Slope(Sign::Plus, call(builder, Function::Sinh)),
        Function::Tan => Slope(Sign::Plus, beside_one(builder, Sign::Plus, f)),
        Function::Tanh => Slope(Sign::Plus, beside_one(builder, Sign::Minus, f)),
        Function::Exp => Slope(Sign::Plus, f),
        Function::Atan => Reciprocal(Sign::Plus, beside_one(builder, Sign::Plus, a)),
        Function::Asin | Function::Acos => {
            let radicand = beside_one(builder, Sign::Minus, a);
            let sign = if function == Function::Asin { Sign::Plus } else { Sign::Minus };
            Reciprocal(sign, builder.push(Instruction::Sqrt(radicand)))
        }
        // Functions without a series are refused, and those of two arguments have their own rules.
        Function::Ln | Function::Abs | Function::Sign | Function::Step | Function::Atan2 | Function::Powf => {
            Reciprocal(Sign::Plus, a)
        }
    }
}

fn radius(builder: &mut Builder, y: Value, x: Value) -> Value {
    let (x, y) = (builder.mul(x, x), builder.mul(y, y));
    builder.add(x, y)
}

/// b ln a
fn logarithm_of_power(builder: &mut Builder, a: Value, b: Value) -> Value {
    let logarithm = builder.push(Instruction::Unary(Function::Ln, a));
    builder.mul(b, logarithm)
}

/// Adds what the rule of a value has sums of.
fn add_companions(builder: &mut Builder, value: Value) {
    match builder.instruction(value) {
        Instruction::Unary(function, a) => drop(companion(builder, function, a, value)),
        Instruction::Binary(Function::Atan2, a, b) => drop(radius(builder, a, b)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::derivation::table::Id;
    use crate::expression::Symbol;
    use crate::numbers::random::numbered;

    /// A field of three variables that is made of random instructions of every kind, in which arguments are where functions are defined.
    fn random_field(seed: u64) -> Program {
        let mut drawn = seed << 32;
        let mut draw = |below: usize| {
            drawn += 1;
            (numbered(drawn) * below as f64) as usize
        };
        let mut instructions: Vec<Instruction> =
            (0..3).map(|place| Instruction::Input(Input::State(Symbol::at(place)))).collect();
        instructions.push(Instruction::constant(0.75));
        for _ in 0..24 {
            let [a, b, c] = [(); 3].map(|()| Value::at(draw(instructions.len())));
            let function = Function::ALL[draw(Function::ALL.len())];
            let signs = [[Sign::Plus, Sign::Minus][draw(2)], [Sign::Plus, Sign::Minus][draw(2)]];
            let small = |instructions: &mut Vec<Instruction>| {
                instructions.push(Instruction::Unary(Function::Tanh, a));
                let (bounded, half) = (Value::at(instructions.len() - 1), Value::at(3));
                instructions.push(Instruction::Mul(half, bounded));
                Value::at(instructions.len() - 1)
            };
            let kind = draw(10);
            let instruction = match kind {
                0 => Instruction::Add(a, b),
                1 => Instruction::Sub(a, b),
                2 => Instruction::Mul(a, b),
                3 => Instruction::Neg(a),
                4 => Instruction::MulAdd(signs, a, b, c),
                _ => {
                    // 0.75 tanh(a) lies between -0.75 and 0.75, and the exponential of it in (0.4, 2.2).
                    let small = small(&mut instructions);
                    instructions.push(Instruction::Unary(Function::Exp, small));
                    let positive = Value::at(instructions.len() - 1);
                    match (kind, function) {
                        (5, _) => Instruction::Div(b, positive),
                        (6, _) => Instruction::Recip(positive),
                        (7, _) => Instruction::Sqrt(positive),
                        (_, Function::Abs | Function::Sign | Function::Step) => Instruction::Mul(a, a),
                        (_, Function::Atan2 | Function::Powf) => Instruction::Binary(function, positive, small),
                        (_, Function::Ln) => Instruction::Unary(function, positive),
                        (_, function) => Instruction::Unary(function, small),
                    }
                }
            };
            instructions.push(instruction);
        }
        let last = instructions.len();
        let mut field = Program { instructions, outputs: [1, 2, 3].map(|back| Value::at(last - back)).to_vec() };
        field.eliminate_dead_values();
        field
    }

    #[test]
    fn every_coefficient_of_random_fields_satisfies_the_differential_equation() {
        let mut names = std::collections::BTreeSet::new();
        let (mut defined, nothing) = (0, Program::default());
        for seed in 1..=300 {
            let field = random_field(seed);
            for instruction in &field.instructions {
                let kind = instruction.clone().map(|_| Value::at(0));
                if instruction.operands().next().is_some() {
                    names.insert(format!("{kind:?}"));
                }
            }
            let series = TaylorSeries::of(&field).expect("functions that have series");
            assert_eq!(verify_series(&field, &nothing, &series), Ok(()), "{seed}: {field}\n{series:?}");
            let input = |input| match input {
                Input::State(symbol) => 0.5 + symbol.place() as f64 / 4.0,
                _ => f64::NAN,
            };
            let coefficients = series.coefficients(&input, 5);
            defined += usize::from(coefficients.iter().flatten().all(|number: &f64| number.is_finite()));
        }
        // Functions of one and of two arguments but |x|, signs and steps, and all other operations, one of them with four pairs of signs.
        assert_eq!(names.len(), Function::ALL.len() - 3 + 11, "{names:?}");
        assert!(defined > 250, "{defined}");
    }

    #[test]
    fn a_wrong_coefficient_is_noticed() {
        let (field, nothing) = (random_field(7), Program::default());
        let series = TaylorSeries::of(&field).expect("functions that have series");
        let mut noticed = 0;
        for place in 0..series.sums.len() {
            let mut wrong = series.clone();
            wrong.sums[place].0.clear();
            noticed += usize::from(verify_series(&field, &nothing, &wrong).is_err());
        }
        assert!(noticed > 0 && noticed == series.sums.len(), "{noticed} of {}", series.sums.len());
    }

    #[test]
    fn what_has_no_series_is_named() {
        let x = Instruction::Input(Input::State(Symbol::at(0)));
        let instructions = vec![x, Instruction::Unary(Function::Abs, Value::at(0))];
        let field = Program { instructions, outputs: vec![Value::at(1)] };
        assert_eq!(TaylorSeries::of(&field).err(), Some(Function::Abs));
    }

    #[test]
    fn a_lane_takes_each_product_of_a_sum_once() {
        for seed in 1..=50 {
            let series = TaylorSeries::of(&random_field(seed)).expect("functions that have series");
            let layout = Layout::of(&series);
            let columns = &layout.columns;
            for (Convolution(products), lanes) in series.sums.iter().zip(&layout.lanes) {
                let of_lane = |&[group, place]: &[usize; 2]| {
                    let products = layout.groups[group].products.iter();
                    products.map(move |pair| (group, pair.map(|column| columns[column][place])))
                };
                let taken: Vec<_> = lanes.iter().flat_map(of_lane).collect();
                let mut taken_products: Vec<_> = taken.iter().map(|(_, product)| *product).collect();
                let mut expected = products.clone();
                taken_products.sort_unstable();
                expected.sort_unstable();
                assert_eq!(taken_products, expected);
                let half = |(group, [a, b]): &(usize, [usize; 2])| !layout.groups[*group].is_half || a == b;
                assert!(taken.iter().all(half));
            }
        }
    }
}
