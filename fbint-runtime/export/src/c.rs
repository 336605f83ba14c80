//! C99: a header, a source, a main program that repeats a run, and a file for CMake.

use std::fmt::Write as _;

use fbint_macros_core::derivation::Role;
use fbint_macros_core::program::{Program, Trait};

use crate::body::{Host, Law, number, statements};
use crate::names::constants;
use crate::{Export, File};

const HEADER: &str = include_str!("../templates/model.h");
const HEAD: &str = include_str!("../templates/head.c");
/// Runs and their steps.
const RUNS: [&str; 4] = [
    include_str!("../templates/run.c"),
    include_str!("../templates/switches.c"),
    include_str!("../templates/steps.c"),
    include_str!("../templates/advance.c"),
];
const MAIN: &str = include_str!("../templates/main.c");
const CMAKE: &str = include_str!("../templates/CMakeLists.txt");

/// The most entries of the state for each integral with which runs project states by default.
const ENTRIES_PER_INTEGRAL: usize = 12;

impl Export<'_> {
    /// The files of the model in C: `NAME.h`, `NAME.c`, `main.c` and `CMakeLists.txt`.
    pub fn c(&self) -> Vec<File> {
        let [header, source] = self.library(None);
        let values = [self.sizes(), vec![("from", format!("{:?}", self.start_time()))]].concat();
        let file = |name: &str, template: &str| File { name: name.to_owned(), text: self.filled(template, &values) };
        vec![header, source, file("main.c", MAIN), file("CMakeLists.txt", CMAKE)]
    }

    /// The header and the source, with all functions, or with those that runs and a text in C call.
    pub(crate) fn library(&self, caller: Option<&str>) -> [File; 2] {
        let calls = |text: &str, name: &str| text.contains(&format!("model_{name}("));
        let is_called =
            |name: &str| caller.is_none_or(|caller| RUNS.iter().chain([&caller]).any(|text| calls(text, name)));
        let programs = self.model.programs.functions();
        let programs = programs.filter(|(function, _)| function.owner != Trait::Hamel && is_called(function.name));
        let functions: Vec<_> = programs.map(|(function, program)| self.function(function, program)).collect();
        let declarations = functions.iter().map(|function| &*function.declaration).collect();
        let definitions: String = functions.iter().map(|function| &*function.definition).collect();
        let header = [self.sizes(), self.described(declarations)].concat();
        let (entries, prepared, events, switches) =
            (self.tables_of_entries(), self.prepared(), self.of_events(), self.of_switches());
        let source = [HEAD, &entries, &prepared, &definitions, &events, &switches, &RUNS.concat()].concat();
        let file = |ending: &str, text: String| File { name: format!("{}.{ending}", self.prefix), text };
        [file("h", self.filled(HEADER, &header)), file("c", self.filled(&source, &self.sizes()))]
    }

    /// The number of entries of inputs that have laws.
    pub(crate) fn laws(&self) -> usize {
        self.inputs - self.model.derivation.open_inputs().count()
    }

    /// The number of functions at whose zeros steps end.
    pub(crate) fn watched(&self) -> usize {
        self.model.scenery.events.len() + self.model.programs.switches.len()
    }

    /// The place of the time in the state, if it is there.
    fn clock(&self) -> Option<usize> {
        let symbols = &self.model.derivation.symbols;
        symbols.states().position(|symbol| symbols[symbol].role == Role::Time)
    }

    /// The sizes of the model; lists have room for one entry at least.
    pub(crate) fn sizes(&self) -> Vec<(&'static str, String)> {
        let programs = &self.model.programs;
        let [states, parameters, inputs, outputs, integrals] = [
            self.states,
            self.places.parameters.len(),
            self.inputs,
            self.model.derivation.outputs.len(),
            self.integrals,
        ];
        let counts = [
            ("states", states),
            ("parameters", parameters),
            ("inputs", inputs),
            ("outputs", outputs),
            ("integrals", integrals),
            ("events", self.model.scenery.events.len()),
            ("event_room", self.model.scenery.events.len().max(1)),
            ("switches", programs.switches.len()),
            ("watched", self.watched()),
            ("watched_room", self.watched().max(1)),
            ("restarted", usize::from(self.model.sampling.is_some() || !programs.switches.is_empty())),
            ("laws", self.laws()),
            ("followed", if self.model.sampling.is_some() { 0 } else { self.laws() }),
            ("sampled", usize::from(self.model.sampling.is_some())),
            ("delay", self.model.sampling.as_ref().map_or(0, |(_, delay)| *delay)),
            ("prepared", programs.prepare.outputs.len().max(1)),
            ("change_room", programs.prepare_direction.outputs.len().max(1)),
            ("state_room", states.max(1)),
            ("parameter_room", parameters.max(1)),
            ("input_room", inputs.max(1)),
            ("integral_room", integrals.max(1)),
            ("output_room", outputs.max(1)),
            ("most_room", states.max(outputs).max(integrals).max(1)),
            ("projects", usize::from(states <= ENTRIES_PER_INTEGRAL * integrals)),
            ("jacobian_room", (states * integrals).max(1)),
            ("normalisation_room", (3 * integrals).max(1)),
        ];
        let mut sizes: Vec<_> = counts.into_iter().map(|(name, count)| (name, count.to_string())).collect();
        sizes.push(("unknown_room", self.unknowns().max(1).to_string()));
        sizes.push(("version", env!("CARGO_PKG_VERSION").to_owned()));
        sizes.push(("clock", self.clock().map_or(-1, |place| place as i64).to_string()));
        sizes
    }

    /// The values in the header that describe the model.
    fn described(&self, functions: String) -> Vec<(&'static str, String)> {
        let about = if self.model.summary.is_empty() { &self.model.name } else { &self.model.summary };
        let missing = self.missing().into_iter().fold(String::new(), |mut text, line| {
            let _ = writeln!(text, " * {line}");
            text
        });
        let members = match &self.places.parameters[..] {
            [] => "    char none;\n".to_owned(),
            members => members.iter().map(|member| format!("    real {member};\n")).collect(),
        };
        let indices = self.indices();
        vec![
            ("about", about.replace("*/", "* /").replace("/*", "/ *")),
            ("missing", missing),
            ("members", members),
            ("indices", indices),
            ("functions", functions),
        ]
    }

    /// Enumerations of the entries by their names.
    fn indices(&self) -> String {
        // Parameters are members.
        let kinds = self.names().into_iter().filter(|(kind, names)| *kind != "parameter" && !names.is_empty());
        let list = |(kind, names): (&str, Vec<&str>)| {
            let names = constants(&format!("MODEL_{}", kind.to_uppercase()), names);
            format!("enum {{\n    {}\n}};\n", names.join(",\n    "))
        };
        kinds.map(list).collect()
    }

    /// The functions that compute numbers from parameters alone.
    fn prepared(&self) -> String {
        let programs = &self.model.programs;
        let body = |program: &Program, to: &dyn Fn(usize) -> String| {
            let results: Vec<_> =
                program.outputs.iter().enumerate().map(|(place, value)| (to(place), *value)).collect();
            statements(program, Host { places: &self.places, law: Law::None, takes_state_direction: false }, &results)
        };
        let [prepare, direction, normalisation] = [
            body(&programs.prepare, &|place| format!("system->c[{place}]")),
            body(&programs.prepare_direction, &|place| format!("direction->c[{place}]")),
            body(&programs.normalisation, &|place| format!("result[{place}]")),
        ];
        let sampling = self.model.sampling.as_ref();
        let period = sampling.map_or(String::new(), |(period, _)| body(period, &|_| "system->period".to_owned()));
        format!(
            "\nvoid model_prepare(const model_parameters *parameters, model_system *system)\n{{\n    (void)parameters;\n    \
             memset(system, 0, sizeof *system);\n#if @events@\n    system->parameters = *parameters;\n#endif\n{prepare}\
             #if @sampled@\n    {{\n{period}    }}\n#endif\n}}\n\n\
             void model_prepare_direction(\n    const model_parameters *parameters, const model_system *system, model_direction *direction)\n{{\n    \
             (void)parameters;\n    (void)system;\n    (void)direction;\n{direction}}}\n\n\
             void model_normalisation(const model_system *system, real *result)\n{{\n    (void)system;\n    \
             (void)result;\n{normalisation}}}\n"
        )
    }

    /// Tables of the entries: names, roles, variables, weights, defaults.
    fn tables_of_entries(&self) -> String {
        let symbols = &self.model.derivation.symbols;
        let named = |(kind, names): (&str, Vec<&str>)| {
            let names: String = names.iter().map(|name| format!("{}, ", quoted(name))).collect();
            format!("const char *const model_{kind}_names[] = {{ {names}0 }};\n")
        };
        let mut tables: String = self.names().into_iter().map(named).collect();
        let variables = symbols.variables();
        let variables =
            variables.iter().enumerate().flat_map(|(place, (_, entries))| entries.iter().map(move |_| place));
        let role = |symbol| match symbols[symbol].role {
            Role::Time => 1,
            Role::Work => 2,
            _ => 0,
        };
        tables += "\n/* 1: the time; 2: the work. */\n";
        tables.push_str(&table("int", "role", symbols.states().map(role)));
        tables.push_str(&table("int", "variable", variables));
        tables.push_str(&table(
            "int",
            "is_constraint",
            self.each_integral().map(|one| u8::from(one.kind.is_constraint())),
        ));
        tables.push_str(&table("real", "weight", self.each_integral().map(|one| number(one.weight.into()))));
        let parameters = self.places.parameters.iter().zip(self.parameters);
        let parameters = parameters.map(|(member, value)| format!("    parameters->{member} = {};\n", number(*value)));
        let start =
            self.start.iter().enumerate().map(|(place, value)| format!("    x[{place}] = {};\n", number(*value)));
        let (parameters, start): (String, String) = (parameters.collect(), start.collect());
        let parameters = format!(
            "\nvoid model_default_parameters(model_parameters *parameters)\n{{\n    (void)parameters;\n{parameters}}}\n"
        );
        let start = format!("\nvoid model_default_start(real *x)\n{{\n    (void)x;\n{start}}}\n");
        [tables, parameters, start].concat()
    }

    /// The time at the start.
    pub(crate) fn start_time(&self) -> f64 {
        self.clock().and_then(|place| self.start.get(place)).copied().unwrap_or(0.0)
    }
}

/// A table that has at least one entry.
fn table<T: ToString>(of: &str, name: &str, entries: impl Iterator<Item = T>) -> String {
    let entries: Vec<String> = entries.map(|entry| entry.to_string()).collect();
    let entries = if entries.is_empty() { "0".to_owned() } else { entries.join(", ") };
    format!("static const {of} model_{name}[] = {{ {entries} }};\n")
}

/// A text in C.
pub(crate) fn quoted(text: &str) -> String {
    let mut quoted = String::from("\"");
    for byte in text.bytes() {
        match byte {
            b'"' | b'\\' | b'?' => quoted.extend(['\\', char::from(byte)]),
            b' '..=b'~' => quoted.push(char::from(byte)),
            // Three digits, so that what follows is none of it.
            other => quoted.push_str(&format!("\\{other:03o}")),
        }
    }
    // What begins with the prefix of templates is not meant.
    quoted.replace("model_", "model\\137").replace("MODEL_", "MODEL\\137") + "\""
}
