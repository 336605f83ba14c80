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
        let symbols = &self.model.derivation.symbols;
        let unknowns: Vec<Unknown> = symbols.unknowns().map(Unknown::Symbol).collect();
        let (tangent, count) =
            (Derivative::Tangent.of(self.model.events.clone(), &unknowns), self.model.events.outputs.len());
        let changes = events.iter().enumerate();
        let changes = changes.map(|(place, event)| (format!("result[{place}]"), tangent.outputs[count + event.value]));
        let changes = statements(&tangent, self.host(), &changes.collect::<Vec<_>>());
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
        let of_laws = if has_laws { self.changes("static void model_law_changes", &LAW) } else { String::new() };
        of_laws + &*self.changes("void model_switch_changes", &SWITCHES)
    }

    /// A function that gives the derivative of another along a direction of the state and the inputs.
    fn changes(&self, head: &str, function: &GeneratedFunction) -> String {
        let symbols = &self.model.derivation.symbols;
        let unknowns = symbols.unknowns().filter(|symbol| symbols[*symbol].role != Role::Parameter);
        let unknowns: Vec<Unknown> = unknowns.map(Unknown::Symbol).collect();
        let Program { instructions, outputs } =
            Derivative::StateTangent.of(self.model.programs[function].clone(), &unknowns);
        // The values come first.
        let results =
            outputs[outputs.len() / 2..].iter().enumerate().map(|(place, value)| (format!("result[{place}]"), *value));
        let results: Vec<(String, Value)> = results.collect();
        let body = statements(&Program { instructions, outputs }, self.host(), &results);
        format!(
            "\n{head}(const model_system *system, const real *x, const model_direction *direction, real *result)\n{{\n    \
             (void)system, (void)x, (void)direction;\n{body}}}\n"
        )
    }
}
