//! Events, sections and switches in C.

use std::fmt::Write as _;

use fbint_macros_core::derivation::Role;
use fbint_macros_core::program::{Derivative, GeneratedFunction, LAW, Program, SWITCHES, Unknown, Value};
use fbint_macros_core::text::{Crossing, Event};

use crate::Export;
use crate::body::{Host, Law, statements};

impl Export<'_> {
    /// Tables and functions of the events; nothing where there are none.
    pub(crate) fn of_events(&self) -> String {
        let events = &self.model.scenery.events;
        if events.is_empty() {
            return String::new();
        }
        let direction = |crossing: Option<Crossing>| match crossing {
            Some(Crossing::Rising) => "1",
            Some(Crossing::Falling) => "-1",
            None => "0",
        };
        let directions: Vec<&str> = events.iter().map(|event| direction(event.direction)).collect();
        let last = |event: &Event| if event.is_terminal { event.count.unwrap_or(1) } else { 0 };
        let last = events.iter().map(|event| last(event).to_string());
        let resetting = events.iter().map(|event| if event.reset.is_some() { "1" } else { "0" });
        let values = events.iter().enumerate().map(|(place, event)| (format!("result[{place}]"), event.value));
        let (mut conditions, mut resets) = (String::new(), String::new());
        for (place, event) in events.iter().enumerate() {
            if !event.conditions.is_empty() {
                let count = event.conditions.len();
                let body = self
                    .part(event.conditions.clone().enumerate().map(|(place, value)| (format!("all[{place}]"), value)));
                let all = (0..count).map(|place| format!("all[{place}] > R(0.0)")).collect::<Vec<_>>().join(" && ");
                let _ = write!(
                    conditions,
                    "    case {place}: {{\n    real all[{count}];\n{body}    return {all};\n    }}\n"
                );
            }
            if let Some(first) = event.reset {
                let body = self.part((0..self.states).map(|entry| (format!("x[{entry}]"), first + entry)));
                let _ = write!(resets, "    case {place}: {{\n{body}    return 1;\n    }}\n");
            }
        }
        let values = self.part(values);
        let values_of_events = events.iter().map(|event| event.value);
        let changes = self.changes(&self.model.events, Derivative::Tangent, values_of_events);
        let head =
            "    const model_parameters *const parameters = &system->parameters;\n    (void)parameters, (void)x;\n";
        format!(
            "\nconst int model_event_direction[] = {{ {} }};\nconst long model_event_last[] = {{ {} }};\n\n\
             static int model_resets(int event)\n{{\n    static const char resets[] = {{ {} }};\n    return resets[event];\n}}\n\n\
             void model_events(const model_system *system, const real *x, real *result)\n{{\n{head}{values}}}\n\n\
             void model_event_changes(\n    const model_system *system, const real *x, const model_direction *direction, real *result)\n\
             {{\n{head}    (void)direction, (void)result;\n{changes}}}\n\n\
             int model_event_counts(const model_system *system, const real *x, int event)\n{{\n{head}    \
             switch (event) {{\n{conditions}    default:\n        return 1;\n    }}\n}}\n\n\
             int model_reset(const model_system *system, int event, real *x)\n{{\n{head}    \
             switch (event) {{\n{resets}    default:\n        return 0;\n    }}\n}}\n",
            directions.join(", "),
            last.collect::<Vec<_>>().join(", "),
            resetting.collect::<Vec<_>>().join(", "),
        )
    }

    /// The statements that put values of events where they belong.
    fn part(&self, values: impl Iterator<Item = (String, usize)>) -> String {
        let events = &self.model.events;
        let results: Vec<(String, Value)> = values.map(|(place, value)| (place, events.outputs[value])).collect();
        statements(events, self.host(), &results)
    }

    fn host(&self) -> Host<'_> {
        Host { places: &self.places, law: Law::None, takes_state_direction: false }
    }

    /// The derivatives of the functions of switches, and of the laws of inputs, that runs along switches need.
    pub(crate) fn of_switches(&self) -> String {
        if self.model.programs.switches.is_empty() {
            return String::new();
        }
        let has_laws = self.laws() > 0 && self.model.sampling.is_none();
        let function = |head: &str, function: &GeneratedFunction| {
            let program = &self.model.programs[function];
            let body = self.changes(program, Derivative::StateTangent, 0..program.outputs.len());
            format!(
                "\n{head}(const model_system *system, const real *x, const model_direction *direction, real *result)\n{{\n    \
                 (void)system, (void)x, (void)direction;\n{body}}}\n"
            )
        };
        let of_laws = if has_laws { function("static void model_law_changes", &LAW) } else { String::new() };
        of_laws + &*function("void model_switch_changes", &SWITCHES)
    }

    /// The statements of the derivatives of some outputs of a program along a direction of the unknowns, among them the parameters if all
    /// are meant.
    fn changes(&self, program: &Program, derivative: Derivative, wanted: impl Iterator<Item = usize>) -> String {
        let symbols = &self.model.derivation.symbols;
        let is_fixed = |symbol| derivative == Derivative::StateTangent && symbols[symbol].role == Role::Parameter;
        let unknowns: Vec<_> = symbols.unknowns().filter(|symbol| !is_fixed(*symbol)).map(Unknown::Symbol).collect();
        let tangent = derivative.of(program.clone(), &unknowns);
        // The values come first.
        let changes = &tangent.outputs[program.outputs.len()..];
        let results = wanted.enumerate().map(|(place, output)| (format!("result[{place}]"), changes[output]));
        statements(&tangent, self.host(), &results.collect::<Vec<_>>())
    }
}
