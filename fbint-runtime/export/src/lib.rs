#![doc = include_str!("../README.md")]

mod body;
mod c;
mod casadi;
mod description;
mod events;
mod fmu;
mod functions;
mod names;
mod source;

use std::borrow::Cow;

use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::derivation::{Integral, IntegralId, Role};
use fbint_macros_core::program;
use fbint_macros_core::text::Model;

use self::body::Places;
pub use self::fmu::{Fmu, Version};
pub use self::source::{declarations_in, left_out};

/// A file of an export.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct File {
    /// Its name, in the folder of the export.
    pub name: String,
    /// Its text.
    pub text: String,
}

/// A model with the numbers that it is exported with.
pub struct Export<'m> {
    model: &'m Model,
    parameters: &'m [f64],
    start: &'m [f64],
    /// The prefix of the names in C.
    prefix: String,
    places: Places,
    states: usize,
    integrals: usize,
    inputs: usize,
    velocities: usize,
}

impl<'m> Export<'m> {
    /// An export of a model with a value for each parameter, and with a start for each entry of the state. Missing numbers are 0.
    pub fn new(model: &'m Model, parameters: &'m [f64], start: &'m [f64]) -> Self {
        let symbols = &model.derivation.symbols;
        let members = names::members(symbols.parameters().map(|symbol| &*symbols[symbol].name));
        Self {
            model,
            parameters,
            start,
            prefix: names::prefix(&model.name),
            places: Places::of(symbols, members),
            states: symbols.dimension(),
            integrals: model.derivation.integrals.len(),
            inputs: symbols.inputs().count(),
            velocities: symbols.with(|role| role == Role::Velocity).len(),
        }
    }

    /// The prefix of the names in C and of the files: `four_bar` for `FourBar`.
    pub fn prefix(&self) -> &str {
        &self.prefix
    }

    /// The parts of an export that the model lacks, a sentence each.
    pub fn missing(&self) -> Vec<&'static str> {
        let lacks = [
            (self.integrals == 0, "the model has no integrals: its steps are not projected"),
            (self.inputs == 0, "the model has no inputs"),
            (self.model.derivation.outputs.is_empty(), "the model has no outputs"),
            (
                !self.model.derivatives,
                "C has no derivatives of the model: the key `derivatives` of its declaration generates them",
            ),
            (
                self.laws() > 0,
                "CasADi has no laws of inputs: all are inputs there. In C and FMUs they follow their laws unless they are given",
            ),
            (
                !self.model.switches.is_empty(),
                "the field switches: steps of `advance` in C and of FMUs end there; single steps in C, and CasADi, go across",
            ),
            (!self.model.scenery.events.is_empty(), "CasADi has no events and sections"),
        ];
        lacks.iter().filter(|(lacks, _)| *lacks).map(|(_, what)| *what).collect()
    }

    /// The model with derivatives, which solvers want, whatever its declaration says.
    fn with_derivatives(&self) -> Cow<'m, Model> {
        if self.model.derivatives {
            return Cow::Borrowed(self.model);
        }
        let programs = program::assemble(&self.model.derivation, true);
        Cow::Owned(Model { programs, derivatives: true, ..self.model.clone() })
    }

    /// The export of a variant of the model.
    fn of<'o>(&self, model: &'o Model) -> Export<'o>
    where
        'm: 'o,
    {
        Export::new(model, self.parameters, self.start)
    }

    /// The number of unknowns, by which derivatives are taken: the entries of the state, of the parameters and of the inputs.
    fn unknowns(&self) -> usize {
        self.model.derivation.symbols.unknowns().count()
    }

    /// The names of the entries of each kind.
    fn names(&self) -> [(&'static str, Vec<&str>); 6] {
        let derivation = &self.model.derivation;
        let named = |symbol| &*derivation.symbols[symbol].name;
        [
            ("state", derivation.symbols.states().map(named).collect()),
            ("parameter", derivation.symbols.parameters().map(named).collect()),
            ("input", derivation.symbols.inputs().map(named).collect()),
            ("output", derivation.outputs.iter().map(|output| &*output.name).collect()),
            ("integral", self.each_integral().map(|integral| &*integral.name).collect()),
            ("event", self.model.scenery.events.iter().map(|event| &*event.name).collect()),
        ]
    }

    /// The integrals in their order.
    fn each_integral(&self) -> impl Iterator<Item = &Integral> {
        (0..self.integrals).map(|place| &self.model.derivation.integrals[IntegralId::at(place)])
    }

    /// A template with the names of this model, its `@prefix@`, and with a value for each `@name@`. Lines between `#if @name@` and `#endif` are left out if
    /// the value is 0, with those two if it is not.
    fn filled(&self, template: &str, values: &[(&str, String)]) -> String {
        let mut text: Cow<'_, str> = chosen(template, values).into();
        for (name, value) in values {
            text = text.replace(&format!("@{name}@"), value).into();
        }
        // The prefix itself may begin with `model_`.
        text.replace("model_", &format!("{}_", self.prefix))
            .replace("MODEL_", &format!("{}_", self.prefix.to_uppercase()))
            .replace("@prefix@", &self.prefix)
    }
}

/// The lines of a template whose conditions hold.
fn chosen(template: &str, values: &[(&str, String)]) -> String {
    let condition = |line: &str| -> Option<bool> {
        let name = line.strip_prefix("#if @")?.strip_suffix('@')?;
        values.iter().find(|(own, _)| *own == name).map(|(_, value)| value != "0")
    };
    // Conditions of the preprocessor are left to it.
    let (mut open, mut text) = (Vec::new(), String::new());
    for line in template.lines() {
        let own = open.last().copied().flatten();
        let is_condition = match line {
            "#else" => own.map(|holds: bool| *open.last_mut().expect("a condition is open") = Some(!holds)).is_some(),
            "#endif" => open.pop().flatten().is_some(),
            _ if line.starts_with("#if") => {
                open.push(condition(line));
                open.last().copied().flatten().is_some()
            }
            _ => false,
        };
        if !is_condition && open.iter().flatten().all(|holds| *holds) {
            text.push_str(line);
            text.push('\n');
        }
    }
    text
}
