//! Instructions, their inputs, and the programs that they make.

use crate::derivation::IntegralId;
use crate::derivation::table::Id;
use crate::expression::{self, Symbol};
use crate::numbers::points::Unknown;

/// The result of the instruction of this index.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Value(u32);

impl Value {
    /// The result of the instruction of this index.
    pub fn at(index: usize) -> Self {
        Self(index as u32)
    }

    /// The index of the instruction that computes the value.
    pub fn index(self) -> usize {
        self.0 as usize
    }
}

/// The inputs of a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Input {
    /// An entry of the state.
    State(Symbol),
    /// An entry of a parameter: in the program that prepares.
    Parameter(Symbol),
    /// An entry of an input, which is given from outside.
    Driving(Symbol),
    /// The side on which a switch is held, by its place: see [`switches`](crate::program::switches).
    Side(usize),
    /// The i-th result of the program that prepares.
    Prepared(usize),
    /// S_j, the variance of an entry of the state that a projection takes.
    Variance(Symbol),
    /// R_i, the variance of rounding in an integral that a projection takes.
    Noise(IntegralId),
    /// The change of an unknown in the direction along which a tangent is taken.
    Direction(Unknown),
    /// The change of a result of the program that prepares, in that direction: in a tangent, a result of the program that prepares
    /// directions.
    Change(usize),
    /// The weight w_i of a result whose adjoint is taken.
    Weight(usize),
    /// The acceleration of a velocity, by its place among them.
    Acceleration(usize),
    /// The entry of a constant diagonal K that belongs to an integral.
    Gain(IntegralId),
    /// The entry of F_target that belongs to an integral.
    Target(IntegralId),
    /// A number of the order of a Taylor series that is being finished, or a side of a switch where the series begins, by its place: see
    /// [`TaylorSeries`](crate::program::TaylorSeries).
    Order(usize),
    /// A value at the beginning of a Taylor series, by its place.
    Initial(usize),
}

impl Input {
    /// Where the sums begin among the numbers of an order of a Taylor series: n and 1 / n are before them.
    pub const NUMBERS_OF_AN_ORDER: usize = 2;

    /// Its place among the variables of differentiation.
    pub(crate) fn unknown(self) -> Option<Unknown> {
        match self {
            Self::State(symbol) | Self::Parameter(symbol) | Self::Driving(symbol) => Some(Unknown::Symbol(symbol)),
            Self::Variance(state) => Some(Unknown::Variance(state)),
            Self::Target(integral) => Some(Unknown::Target(integral)),
            _ => None,
        }
    }
}

/// The sign of a term.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Sign {
    /// +
    Plus,
    /// -
    Minus,
}

impl Sign {
    /// A number with this sign before it.
    pub fn times<T: std::ops::Neg<Output = T>>(self, number: T) -> T {
        if self == Self::Minus { -number } else { number }
    }
}

impl std::ops::Neg for Sign {
    type Output = Self;

    fn neg(self) -> Self {
        if self == Self::Plus { Self::Minus } else { Self::Plus }
    }
}

/// One operation.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Instruction {
    /// A number, by its bits so that equal ones compare equal.
    Constant(u64),
    /// An input.
    Input(Input),
    /// a + b
    Add(Value, Value),
    /// a - b
    Sub(Value, Value),
    /// a b
    Mul(Value, Value),
    /// a / b
    Div(Value, Value),
    /// -a
    Neg(Value),
    /// 1 / a
    Recip(Value),
    /// The square root.
    Sqrt(Value),
    /// ±a b ± c with one rounding, the signs in this order.
    MulAdd([Sign; 2], Value, Value, Value),
    /// An elementary function of one argument.
    Unary(expression::Function, Value),
    /// An elementary function of two arguments.
    Binary(expression::Function, Value, Value),
    /// All that the feedback law returns for these integrals F: y.
    Weigh(Box<[Value]>),
    /// y_i, from the instruction that gives y.
    Weighed(Value, IntegralId),
}

impl Instruction {
    /// A number.
    pub fn constant(number: f64) -> Self {
        Self::Constant(number.to_bits())
    }

    /// The values that the instruction reads.
    pub fn operands(&self) -> impl Iterator<Item = Value> + use<> {
        let mut operands = Vec::new();
        let _ = self.clone().map(|value| {
            operands.push(value);
            value
        });
        operands.into_iter()
    }

    /// Returns `true` if the instruction computes something: a number, an input and an entry of y are there already.
    pub fn computes(&self) -> bool {
        !matches!(self, Self::Constant(_) | Self::Input(_) | Self::Weighed(..))
    }

    /// The operation with the operands of a sum or a product in increasing order, as value numbering wants it.
    pub fn ordered(self) -> Self {
        match self {
            Self::Add(a, b) => Self::Add(a.min(b), a.max(b)),
            Self::Mul(a, b) => Self::Mul(a.min(b), a.max(b)),
            other => other,
        }
    }

    /// The operation on other values.
    pub fn map(self, mut to: impl FnMut(Value) -> Value) -> Self {
        match self {
            Self::Constant(_) | Self::Input(_) => self,
            Self::Add(a, b) => Self::Add(to(a), to(b)),
            Self::Sub(a, b) => Self::Sub(to(a), to(b)),
            Self::Mul(a, b) => Self::Mul(to(a), to(b)),
            Self::Div(a, b) => Self::Div(to(a), to(b)),
            Self::Neg(a) => Self::Neg(to(a)),
            Self::Recip(a) => Self::Recip(to(a)),
            Self::Sqrt(a) => Self::Sqrt(to(a)),
            Self::MulAdd(signs, a, b, c) => Self::MulAdd(signs, to(a), to(b), to(c)),
            Self::Unary(function, a) => Self::Unary(function, to(a)),
            Self::Binary(function, a, b) => Self::Binary(function, to(a), to(b)),
            Self::Weigh(integrals) => Self::Weigh(integrals.iter().map(|&value| to(value)).collect()),
            Self::Weighed(y, integral) => Self::Weighed(to(y), integral),
        }
    }
}

/// A bug of the compiler: a generated function whose results differ from its derivation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fault {
    /// The function.
    pub function: &'static str,
}

/// A straight-line program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Program {
    /// In an order in which each names only earlier ones.
    pub instructions: Vec<Instruction>,
    /// The results.
    pub outputs: Vec<Value>,
}

impl Program {
    /// The number of reads of each value, by instructions or as a result.
    pub fn uses(&self) -> Vec<u32> {
        let mut uses = vec![0; self.instructions.len()];
        let operands = self.instructions.iter().flat_map(|instruction| instruction.operands());
        for value in operands.chain(self.outputs.iter().copied()) {
            uses[value.index()] += 1;
        }
        uses
    }

    /// The law's argument for this integral, by the instruction that gives y.
    pub(crate) fn handed_over(&self, y: Value, integral: IntegralId) -> Option<Value> {
        match &self.instructions[y.index()] {
            Instruction::Weigh(integrals) => integrals.get(integral.place()).copied(),
            _ => None,
        }
    }

    /// The program with these instructions alone, each after those that it reads.
    pub(crate) fn reordered(&self, order: impl IntoIterator<Item = Value>) -> Self {
        let mut new = vec![Value(0); self.instructions.len()];
        let mut instructions = Vec::new();
        for value in order {
            new[value.index()] = Value::at(instructions.len());
            instructions.push(self.instructions[value.index()].clone().map(|operand| new[operand.index()]));
        }
        Self { instructions, outputs: self.outputs.iter().map(|value| new[value.index()]).collect() }
    }

    /// Drops instructions that no result depends on, and renumbers.
    pub(crate) fn eliminate_dead_values(&mut self) {
        let live = self.live();
        *self = self.reordered((0..live.len()).filter(|index| live[*index]).map(Value::at));
    }

    /// Which values depend on an input of some kind, or on what the feedback law returns.
    pub(crate) fn depending(&self, on: impl Fn(Input) -> bool) -> Vec<bool> {
        let mut depending = Vec::with_capacity(self.instructions.len());
        for instruction in &self.instructions {
            depending.push(match instruction {
                Instruction::Input(input) => on(*input),
                Instruction::Weigh(_) => true,
                other => other.operands().any(|operand| depending[operand.index()]),
            });
        }
        depending
    }

    /// Which values some result depends on.
    pub fn live(&self) -> Vec<bool> {
        let mut live = vec![false; self.instructions.len()];
        self.outputs.iter().for_each(|value| live[value.index()] = true);
        for (index, instruction) in self.instructions.iter().enumerate().rev() {
            if live[index] {
                instruction.operands().for_each(|operand| live[operand.index()] = true);
            }
        }
        live
    }
}

impl std::fmt::Display for Program {
    /// One instruction a line: `v7 = v3 * v5`.
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let list = |values: &[Value]| values.iter().map(|value| format!("v{}", value.0)).collect::<Vec<_>>().join(", ");
        for (index, instruction) in self.instructions.iter().enumerate() {
            let text = match instruction {
                Instruction::Constant(bits) => format!("{:?}", f64::from_bits(*bits)),
                Instruction::Input(Input::State(symbol) | Input::Parameter(symbol) | Input::Driving(symbol)) => {
                    format!("symbol {}", symbol.0)
                }
                Instruction::Input(Input::Side(place)) => format!("side {place}"),
                Instruction::Input(Input::Prepared(index)) => format!("prepared {index}"),
                Instruction::Input(Input::Variance(state)) => format!("variance {}", state.place()),
                Instruction::Input(Input::Noise(integral)) => format!("noise {}", integral.place()),
                Instruction::Input(Input::Direction(Unknown::Symbol(symbol))) => format!("direction {}", symbol.0),
                Instruction::Input(Input::Direction(Unknown::Variance(state))) => {
                    format!("variance direction {}", state.place())
                }
                Instruction::Input(Input::Direction(Unknown::Target(integral))) => {
                    format!("target direction {}", integral.place())
                }
                Instruction::Input(Input::Change(index)) => format!("change {index}"),
                Instruction::Input(Input::Weight(row)) => format!("weight {row}"),
                Instruction::Input(Input::Acceleration(place)) => format!("acceleration {place}"),
                Instruction::Input(Input::Gain(integral)) => format!("gain {}", integral.place()),
                Instruction::Input(Input::Target(integral)) => format!("target {}", integral.place()),
                Instruction::Input(Input::Order(0)) => "order".to_owned(),
                Instruction::Input(Input::Order(1)) => "1 / order".to_owned(),
                Instruction::Input(Input::Order(place)) => format!("sum {}", place - Input::NUMBERS_OF_AN_ORDER),
                Instruction::Input(Input::Initial(place)) => format!("initial {place}"),
                Instruction::Add(a, b) => format!("v{} + v{}", a.0, b.0),
                Instruction::Sub(a, b) => format!("v{} - v{}", a.0, b.0),
                Instruction::Mul(a, b) => format!("v{} * v{}", a.0, b.0),
                Instruction::Div(a, b) => format!("v{} / v{}", a.0, b.0),
                Instruction::Neg(a) => format!("-v{}", a.0),
                Instruction::Recip(a) => format!("1 / v{}", a.0),
                Instruction::Sqrt(a) => format!("sqrt(v{})", a.0),
                Instruction::MulAdd([Sign::Minus, Sign::Plus], a, b, c) => format!("v{} - v{} * v{}", c.0, a.0, b.0),
                Instruction::MulAdd([product, sum], a, b, c) => {
                    let minus = if *product == Sign::Minus { "-" } else { "" };
                    let sign = if *sum == Sign::Minus { '-' } else { '+' };
                    format!("{minus}v{} * v{} {sign} v{}", a.0, b.0, c.0)
                }
                Instruction::Unary(function, a) => format!("{}(v{})", function.name(), a.0),
                Instruction::Binary(function, a, b) => format!("{}(v{}, v{})", function.name(), a.0, b.0),
                Instruction::Weigh(integrals) => format!("weigh({})", list(integrals)),
                Instruction::Weighed(y, integral) => format!("v{}[{}]", y.0, integral.place()),
            };
            writeln!(out, "v{index} = {text}")?;
        }
        writeln!(out, "return {}", list(&self.outputs))
    }
}
