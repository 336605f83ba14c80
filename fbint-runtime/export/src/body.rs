//! From a program to the statements of a function in C, one for each instruction, so that C rounds as emitted Rust does.

use fbint_macros_core::derivation::table::{Id, Table};
use fbint_macros_core::derivation::{Role, SymbolInfo, Symbols};
use fbint_macros_core::expression::{Function, Symbol};
use fbint_macros_core::program::{Input, Instruction, Program, Sign, Unknown, Value};

/// Where functions find what programs read.
pub(crate) struct Places {
    /// The place of each unknown among the unknowns of its kind.
    places: Table<Symbol, usize>,
    /// The list that a direction has for the kind of each unknown.
    kinds: Table<Symbol, &'static str>,
    /// The members of the parameters.
    pub(crate) parameters: Vec<String>,
}

impl Places {
    pub(crate) fn of(symbols: &Symbols, parameters: Vec<String>) -> Self {
        let mut counts = [0; 3];
        let kind = |symbol: &SymbolInfo| match symbol.role {
            Role::Parameter => 1,
            Role::Input => 2,
            _ => 0,
        };
        let place = |symbol: &SymbolInfo| {
            let count = &mut counts[kind(symbol)];
            *count += 1;
            *count - 1
        };
        Self {
            places: symbols.rows().map(place).collect(),
            kinds: symbols.map(|symbol| ["x", "p", "u"][kind(symbol)]),
            parameters,
        }
    }

    /// The C expression that reads an input. Directions of the state alone are lists.
    fn read(&self, input: Input, takes_state_direction: bool) -> String {
        let of = |symbol: Symbol| self.places[symbol];
        match input {
            Input::State(symbol) => format!("x[{}]", of(symbol)),
            Input::Parameter(symbol) => format!("parameters->{}", self.parameters[of(symbol)]),
            Input::Driving(symbol) => format!("system->u[{}]", of(symbol)),
            Input::Side(place) => format!("system->side[{place}]"),
            Input::Prepared(index) => format!("system->c[{index}]"),
            Input::Variance(symbol) => format!("variances[{}]", symbol.place()),
            Input::Noise(integral) => format!("noise[{}]", integral.place()),
            Input::Gain(integral) => format!("gains[{}]", integral.place()),
            Input::Target(integral) => format!("targets[{}]", integral.place()),
            Input::Weight(row) => format!("weights[{row}]"),
            Input::Acceleration(place) => format!("accelerations[{place}]"),
            Input::Direction(Unknown::Symbol(symbol)) if takes_state_direction => format!("direction[{}]", of(symbol)),
            Input::Direction(Unknown::Symbol(symbol)) => format!("direction->{}[{}]", self.kinds[symbol], of(symbol)),
            Input::Direction(Unknown::Variance(symbol)) => format!("variances_direction[{}]", symbol.place()),
            Input::Direction(Unknown::Target(integral)) => format!("targets_direction[{}]", integral.place()),
            Input::Change(index) => format!("direction->c[{index}]"),
            // No function that is exported has Taylor series.
            Input::Order(place) => format!("order[{place}]"),
            Input::Initial(place) => format!("initial[{place}]"),
        }
    }
}

/// The feedback law of a function.
#[derive(Clone, Copy)]
pub(crate) enum Law<'l> {
    /// The function asks none.
    None,
    /// `gains[i] * (f - targets[i])`, without targets that are known to be 0.
    Gains { zero_targets: &'l [bool] },
    /// `f - targets[i]`, which is also a result, `violation[i]`.
    Violation,
}

/// The surroundings of a program in C: where it reads inputs, and its law.
#[derive(Clone, Copy)]
pub(crate) struct Host<'h> {
    pub(crate) places: &'h Places,
    pub(crate) law: Law<'h>,
    pub(crate) takes_state_direction: bool,
}

/// The statements of a function, each a line, which write the results of `program` that are wanted to where they say.
pub(crate) fn statements(program: &Program, host: Host<'_>, results: &[(String, Value)]) -> String {
    let mut body = Body { program, host, pieces: Vec::new(), lines: Vec::new(), violation: Vec::new() };
    let live = wanted(program, host.law, results);
    for (index, instruction) in program.instructions.iter().enumerate() {
        let piece =
            if live[index] || body.is_recorded(instruction) { body.piece(index, instruction) } else { String::new() };
        body.pieces.push(piece);
    }
    for (place, value) in results {
        let line = format!("{place} = {};", body.read(*value));
        body.lines.push(line);
    }
    body.lines.append(&mut body.violation);
    body.lines.iter().map(|line| format!("    {line}\n")).collect()
}

/// Which values the results depend on, a violation among them.
fn wanted(program: &Program, law: Law<'_>, results: &[(String, Value)]) -> Vec<bool> {
    let mut outputs: Vec<Value> = results.iter().map(|(_, value)| *value).collect();
    for instruction in &program.instructions {
        if let (Law::Violation, Instruction::Weigh(integrals)) = (law, instruction) {
            outputs.extend(integrals);
        }
    }
    Program { instructions: program.instructions.clone(), outputs }.live()
}

struct Body<'b> {
    program: &'b Program,
    host: Host<'b>,
    /// The name or the number that stands for each value.
    pieces: Vec<String>,
    lines: Vec<String>,
    /// The lines that write the violation, which come last.
    violation: Vec<String>,
}

impl Body<'_> {
    /// Writes the statement of an instruction, and returns the name or the number of its value.
    fn piece(&mut self, index: usize, instruction: &Instruction) -> String {
        let value = match instruction {
            Instruction::Constant(bits) => return number(f64::from_bits(*bits)),
            Instruction::Input(input) => self.host.places.read(*input, self.host.takes_state_direction),
            Instruction::Weigh(integrals) => {
                self.record(integrals);
                return String::new();
            }
            Instruction::Weighed(y, integral) => self.weighed(*y, integral.place()),
            other => self.operation(other),
        };
        self.lines.push(format!("const real t{index} = {value};"));
        format!("t{index}")
    }

    fn is_recorded(&self, instruction: &Instruction) -> bool {
        matches!((self.host.law, instruction), (Law::Violation, Instruction::Weigh(_)))
    }

    /// Writes what the integrals are off by, if that is a result.
    fn record(&mut self, integrals: &[Value]) {
        if !matches!(self.host.law, Law::Violation) {
            return;
        }
        for (place, integral) in integrals.iter().enumerate() {
            let line = format!("const real f{place} = {} - targets[{place}];", self.read(*integral));
            self.lines.push(line);
            self.violation.push(format!("violation[{place}] = f{place};"));
        }
    }

    /// The entry of y for an integral.
    fn weighed(&self, y: Value, place: usize) -> String {
        let Instruction::Weigh(integrals) = &self.program.instructions[y.index()] else { return number(0.0) };
        let integral = self.read(integrals[place]);
        match self.host.law {
            Law::Gains { zero_targets } if zero_targets[place] => format!("gains[{place}] * {integral}"),
            Law::Gains { .. } => format!("gains[{place}] * ({integral} - targets[{place}])"),
            Law::Violation => format!("f{place}"),
            Law::None => integral.to_owned(),
        }
    }

    fn operation(&self, instruction: &Instruction) -> String {
        let read = |value: Value| self.read(value);
        match *instruction {
            Instruction::Add(a, b) => format!("{} + {}", read(a), read(b)),
            Instruction::Sub(a, b) => format!("{} - {}", read(a), read(b)),
            Instruction::Mul(a, b) => format!("{} * {}", read(a), read(b)),
            Instruction::Div(a, b) => format!("{} / {}", read(a), read(b)),
            Instruction::Neg(a) => self.signed(Sign::Minus, a),
            Instruction::Recip(a) => format!("R(1.0) / {}", read(a)),
            Instruction::Sqrt(a) => format!("FBINT_SQRT({})", read(a)),
            Instruction::MulAdd([product, sum], a, b, c) => {
                format!("FBINT_FMA({}, {}, {})", self.signed(product, a), read(b), self.signed(sum, c))
            }
            Instruction::Unary(Function::Sign, a) => {
                format!("{0} == R(0.0) ? R(0.0) : {0} > R(0.0) ? R(1.0) : {0} < R(0.0) ? R(-1.0) : {0}", read(a))
            }
            Instruction::Unary(Function::Step, a) => {
                format!("{0} == R(0.0) ? R(0.5) : {0} > R(0.0) ? R(1.0) : {0} < R(0.0) ? R(0.0) : {0}", read(a))
            }
            Instruction::Unary(function, a) => format!("{}({})", call(function), read(a)),
            Instruction::Binary(function, a, b) => format!("{}({}, {})", call(function), read(a), read(b)),
            Instruction::Constant(_) | Instruction::Input(_) | Instruction::Weigh(_) | Instruction::Weighed(..) => {
                unreachable!("these compute nothing")
            }
        }
    }

    fn signed(&self, sign: Sign, value: Value) -> String {
        let read = self.read(value);
        if sign == Sign::Minus { format!("-{read}") } else { read.to_owned() }
    }

    fn read(&self, value: Value) -> &str {
        &self.pieces[value.index()]
    }
}

/// The macro of a function, which takes numbers of the type that is computed in.
fn call(function: Function) -> String {
    let name = match function {
        Function::Abs => "fabs",
        Function::Ln => "log",
        Function::Powf => "pow",
        other => other.name(),
    };
    format!("FBINT_{}", name.to_uppercase())
}

/// A number that reads back as the same.
pub(crate) fn number(number: f64) -> String {
    match number {
        number if number.is_nan() => "R(NAN)".to_owned(),
        number if number.is_infinite() => format!("R({}INFINITY)", if number < 0.0 { "-" } else { "" }),
        number => format!("R({number:?})"),
    }
}
