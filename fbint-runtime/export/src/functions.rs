//! The generated functions in C.

use fbint_macros_core::program::{Argument, Form, GeneratedFunction, Program, Returns, Rows, Value};

use crate::Export;
use crate::body::{Host, Law, statements};

/// A function in C: its declaration, the tables of its sparse results, and its definition.
pub(crate) struct Written {
    pub(crate) declaration: String,
    pub(crate) definition: String,
}

/// Comments of the header for functions, by their names.
const ABOUT: [(&str, &str); 12] = [
    ("vector_field", "X, the rates of the state."),
    ("integrals", "F, the integrals: constraints, energy, invariants."),
    ("integrals_jacobian", "DF, MODEL_INTEGRALS rows of MODEL_STATES numbers."),
    ("multipliers", "The multiplier of each constraint, 0 for other integrals."),
    ("outputs", "The declared outputs."),
    ("potential_gradient", "The gradient of V = 1/2 dF^T K dF, for normalised gains and targets."),
    ("feedback_field", "X - grad V, for normalised gains and targets."),
    (
        "projection",
        "What a projection subtracts from x, S DF^T (DF S DF^T + e D + R)^-1 (F - targets) with S = diag(variances) and R = \
         diag(noise), and F - targets.",
    ),
    ("mass_matrix", "The mass matrix, row by row."),
    ("inverse_dynamics", "The forces M a - b for accelerations a."),
    ("law", "The inputs by their laws, those that have none as they are given."),
    ("vector_field_derivatives", "The derivatives of X by the state, the parameters and the inputs that are not 0."),
];

impl Export<'_> {
    /// The length of a list.
    fn count(&self, rows: Rows) -> usize {
        match rows {
            Rows::States => self.states,
            Rows::Integrals => self.integrals,
            Rows::Outputs => self.model.derivation.outputs.len(),
            Rows::Velocities => self.velocities,
            Rows::Switches => self.model.programs.switches.len(),
            Rows::Inputs => self.model.derivation.symbols.inputs().count(),
        }
    }

    /// The number of rows of a matrix, or of the numbers of a list.
    pub(crate) fn rows(&self, returns: Returns) -> usize {
        match returns {
            Returns::List(rows) | Returns::Matrix(rows, _) | Returns::Tangent(rows) | Returns::Derivatives(rows) => {
                self.count(rows)
            }
            Returns::Gradient | Returns::ProjectionGradient => self.unknowns(),
        }
    }

    /// The entries of a matrix of derivatives by each unknown that do not vanish identically: row, column, value.
    pub(crate) fn entries(&self, program: &Program) -> Vec<(usize, usize, Value)> {
        let columns = self.unknowns();
        let zero = fbint_macros_core::program::Instruction::constant(0.0);
        let outputs = program.outputs.iter().enumerate();
        let outputs = outputs.filter(|(_, value)| program.instructions[value.index()] != zero);
        outputs.map(|(output, value)| (output / columns, output % columns, *value)).collect()
    }

    /// The results of a function, with the places where it writes them.
    fn results(&self, returns: Returns, program: &Program) -> Vec<(String, Value)> {
        let listed = |values: &mut dyn Iterator<Item = Value>| -> Vec<(String, Value)> {
            values.enumerate().map(|(place, value)| (format!("result[{place}]"), value)).collect()
        };
        match returns {
            Returns::Derivatives(_) => listed(&mut self.entries(program).into_iter().map(|(.., value)| value)),
            Returns::Tangent(rows) => {
                let count = self.count(rows);
                let place = |place: usize| {
                    if place < count { format!("result[{place}]") } else { format!("change[{}]", place - count) }
                };
                program.outputs.iter().enumerate().map(|(index, value)| (place(index), *value)).collect()
            }
            _ => listed(&mut program.outputs.iter().copied()),
        }
    }

    /// A generated function.
    pub(crate) fn function(&self, function: &GeneratedFunction, program: &Program) -> Written {
        let arguments = arguments(function);
        let zero_targets = self.model.programs.zero_targets(&self.model.derivation);
        let law = match function.law() {
            Some(Form::Normalised) => Law::Gains { zero_targets: &zero_targets },
            Some(Form::Declared) => Law::Violation,
            None => Law::None,
        };
        let takes_state_direction = function.arguments.contains(&Argument::StateDirection);
        let host = Host { places: &self.places, law, takes_state_direction };
        let body = statements(program, host, &self.results(function.returns, program));
        let about = ABOUT.iter().find(|(name, _)| *name == function.name).map(|(_, about)| format!("/* {about} */\n"));
        let tables = self.tables(function, program);
        let head = format!("void model_{}({})", function.name, arguments.join(", "));
        let unused: String = arguments.iter().map(|argument| format!("    (void){};\n", name_of(argument))).collect();
        Written {
            declaration: format!("{}{}{head};\n", about.unwrap_or_default(), tables.declaration),
            definition: format!("\n{}{head}\n{{\n{unused}{body}}}\n", tables.definition),
        }
    }

    /// The rows and columns of the results of a function that returns only some derivatives; by columns among the unknowns: the state,
    /// then the parameters, then the inputs.
    fn tables(&self, function: &GeneratedFunction, program: &Program) -> Written {
        let Returns::Derivatives(_) = function.returns else {
            return Written { declaration: String::new(), definition: String::new() };
        };
        let (entries, name) = (self.entries(program), function.name);
        let table = |what: &str, numbers: &mut dyn Iterator<Item = usize>| {
            let numbers: Vec<String> = numbers.chain([0]).map(|number| number.to_string()).collect();
            format!("const int model_{name}_{what}[] = {{ {} }};\n", numbers.join(", "))
        };
        let rows = table("rows", &mut entries.iter().map(|(row, ..)| *row));
        let columns = table("columns", &mut entries.iter().map(|(_, column, _)| *column));
        let (constant, count) = (format!("MODEL_{}", name.to_uppercase()), entries.len());
        Written {
            declaration: format!(
                "enum {{ {constant} = {count} }};\nextern const int model_{name}_rows[], model_{name}_columns[];\n"
            ),
            definition: [rows, columns].concat(),
        }
    }
}

/// The arguments of a function, results last.
fn arguments(function: &GeneratedFunction) -> Vec<String> {
    let list = |name: &str| format!("const real *{name}");
    let mut arguments = vec!["const model_system *system".to_owned(), list("x")];
    for argument in function.arguments {
        match argument {
            Argument::Variances => arguments.push(list("variances")),
            Argument::Noise => arguments.push(list("noise")),
            Argument::Law(Form::Normalised) => arguments.extend([list("gains"), list("targets")]),
            Argument::Law(Form::Declared) => arguments.extend([list("targets"), "real *violation".to_owned()]),
            Argument::Gains => arguments.push(list("gains")),
            Argument::Targets => arguments.push(list("targets")),
            Argument::Direction => arguments.push("const model_direction *direction".to_owned()),
            Argument::StateDirection => arguments.push(list("direction")),
            Argument::VariancesDirection => arguments.push(list("variances_direction")),
            Argument::TargetsDirection => arguments.push(list("targets_direction")),
            Argument::Weights(_) => arguments.push(list("weights")),
            Argument::Accelerations => arguments.push(list("accelerations")),
        }
    }
    arguments.push("real *result".to_owned());
    if let Returns::Tangent(_) = function.returns {
        arguments.push("real *change".to_owned());
    }
    arguments
}

/// The name of an argument, behind its type.
fn name_of(argument: &str) -> &str {
    argument.rsplit(['*', ' ']).next().unwrap_or(argument)
}
