//! Inputs by `--input`: laws, which are expressions of the state, the time and the parameters, and tables of numbers over time.

mod table;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;
use std::sync::Arc;

use self::table::{Rows, Table};
use crate::catalogue::{AnyModel, FlatSignal, Inputs};
use crate::nearest;

/// An expression in a state and at a time.
pub(crate) type Law = Arc<dyn Fn(f64, &[f64]) -> f64 + Send + Sync>;

/// Gives a model the inputs that are named, each by a law or the name of a table.
pub(crate) fn give(
    model: &mut dyn AnyModel,
    given: &BTreeMap<String, String>,
    folder: Option<&Path>,
) -> Result<(), Box<dyn Error>> {
    if given.is_empty() {
        return Ok(());
    }
    let names = model.facts().input_names;
    if names.is_empty() {
        let name = model.facts().name;
        return Err(format!("{name} has no inputs: leave out --input, or declare `input(..)`").into());
    }
    let (mut found, mut sources) = (Vec::new(), Vec::new());
    for (name, source) in given {
        let place = nearest::find("input", name, names)?;
        let source = match Rows::read(name, source.trim(), folder.unwrap_or(Path::new("")))? {
            Some(rows) => Given::Table(rows),
            None => Given::Law(law_of(model, name, source.trim())?),
        };
        found.push(names[place]);
        sources.push((place, source));
    }
    let facts = model.facts();
    let is_left = |name: &&&str| !facts.open_inputs.contains(*name) && !found.contains(*name);
    if let Some(left) = names.iter().find(is_left).filter(|_| facts.law_delay.is_some()) {
        return Err(format!("--input: the laws of this model are sampled all at once: give `{left}`, too").into());
    }
    model.set_inputs(Inputs::new(found, move || {
        let started = |source: &Given| match source {
            Given::Law(law) => Source::Law(Arc::clone(law)),
            Given::Table(rows) => Source::Table(Table::of(rows)),
        };
        Box::new(Signals { sources: sources.iter().map(|(place, source)| (*place, started(source))).collect() })
    }));
    Ok(())
}

/// The source of an input, before a run.
enum Given {
    Law(Law),
    Table(Rows),
}

/// The sources of some inputs, by their places.
#[derive(Clone)]
struct Signals {
    sources: Vec<(usize, Source)>,
}

#[derive(Clone)]
enum Source {
    Law(Law),
    Table(Table),
}

impl FlatSignal for Signals {
    fn at(&self, time: f64, state: &[f64], inputs: &mut [f64]) {
        for (place, source) in &self.sources {
            inputs[*place] = match source {
                Source::Law(law) => law(time, state),
                Source::Table(table) => table.at(time),
            };
        }
    }

    fn hold(&self, time: f64) -> f64 {
        self.tables().map(|table| table.hold(time)).fold(f64::INFINITY, f64::min)
    }

    fn range(&self) -> [f64; 2] {
        [self.tables().map(Table::begin).fold(f64::NEG_INFINITY, f64::max), f64::INFINITY]
    }

    fn copied(&self) -> Box<dyn FlatSignal> {
        Box::new(self.clone())
    }
}

impl Signals {
    fn tables(&self) -> impl Iterator<Item = &Table> {
        self.sources.iter().filter_map(|(_, source)| match source {
            Source::Table(table) => Some(table),
            Source::Law(_) => None,
        })
    }
}

#[cfg(not(feature = "text"))]
fn law_of(_: &dyn AnyModel, name: &str, law: &str) -> Result<Law, Box<dyn Error>> {
    Err(format!("--input {name}: the law `{law}` takes a build with the feature `text`; a table is NAME=FILE.csv")
        .into())
}

#[cfg(feature = "text")]
use self::expressions::law_of;

/// Laws are the outputs of a model that does not move, which has the variables that they name.
#[cfg(feature = "text")]
mod expressions {
    use std::error::Error;
    use std::fmt::Write as _;
    use std::sync::Arc;

    use fbint_runtime::{StateEntry, StateRole};

    use super::Law;
    use crate::catalogue::{AnyModel, FlatModel, Given, ListFunction, Source};

    /// The law of an input that is written in the names of a model.
    pub(super) fn law_of(model: &dyn AnyModel, name: &str, law: &str) -> Result<Law, Box<dyn Error>> {
        let (text, entries, has_time) = still_model(model, law);
        let models = fbint_text::models(&text).map_err(|mistakes| {
            let messages: Vec<String> = mistakes.list().iter().map(|mistake| mistake.in_one_line()).collect();
            format!("--input {name}: `{law}`: {}", messages.join("; "))
        })?;
        let still = models.into_iter().next().ok_or("a law is one expression")?;
        let (functions, prepared) = (still.functions(), even(still.prepared()));
        if still.facts().output_names.len() != 1 {
            return Err(format!("--input {name}: `{law}` is not a number").into());
        }
        Ok(Arc::new(move |time, state| {
            let mut x: Vec<f64> = entries.iter().map(|entry| state[*entry]).collect();
            x.extend(has_time.then_some(time));
            let (x, mut list) = (even(x), [0.0; 2]);
            let given = Given::default().with(Source::State, &x).with(Source::Prepared, &prepared);
            functions.doubles().list(ListFunction::Outputs, &given, &|_| {}, &mut list);
            list[0]
        }))
    }

    /// A model that stands still and has the law for its output; which entries of the state it has; and whether it has the time.
    fn still_model(model: &dyn AnyModel, law: &str) -> (String, Vec<usize>, bool) {
        let (facts, law) = (model.facts(), with_methods(law));
        let words: Vec<&str> = law.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        let (mut state, mut dynamics, mut entries) = (String::new(), String::new(), Vec::new());
        let is_free = |entry: &StateEntry| !matches!(entry.role, StateRole::Time | StateRole::Work);
        for (variable, name) in facts.variables.iter().enumerate() {
            let own: Vec<usize> = (0..facts.state.len())
                .filter(|entry| facts.state[*entry].variable == variable && is_free(&facts.state[*entry]))
                .collect();
            // A state has at least one variable.
            let is_last = variable + 1 == facts.variables.len() && entries.is_empty();
            if own.is_empty() || !(words.contains(name) || is_last) {
                continue;
            }
            let names: Vec<&str> = own.iter().map(|entry| facts.state[*entry].name).collect();
            let _ = write!(state, "{name}{}, ", shape(&names));
            let _ = write!(dynamics, "{name} = 0 * {name}, ");
            entries.extend(own);
        }
        if entries.is_empty() {
            (state, dynamics) = ("nothing_moves, ".to_owned(), "nothing_moves = 0 * nothing_moves, ".to_owned());
            entries.push(0);
        }
        let clock = facts.clock.map_or("t", |clock| facts.state[clock].name);
        let clock = if words.contains(&"t") && !facts.variables.contains(&"t") { "t" } else { clock };
        let has_time = words.contains(&clock);
        let time = if has_time { format!("time({clock}), ") } else { String::new() };
        let (mut fields, mut defaults) = (String::new(), String::new());
        let parameters = model.parameters();
        let stem = |name: &str| name.split('[').next().unwrap_or_default().to_owned();
        let mut stems: Vec<String> = parameters.iter().map(|(name, _)| stem(name)).collect();
        stems.dedup();
        for name in stems.iter().filter(|name| words.contains(&name.as_str())) {
            let values: Vec<f64> = parameters.iter().filter(|(own, _)| stem(own) == *name).map(|own| own.1).collect();
            match values[..] {
                [value] => {
                    let _ = write!(fields, "{name}: f64, ");
                    let _ = write!(defaults, "{name} = {value:?}, ");
                }
                _ => {
                    let _ = write!(fields, "{name}: [f64; {}], ", values.len());
                    let values: Vec<String> = values.iter().map(|value| format!("{value:?}")).collect();
                    let _ = write!(defaults, "{name} = vector![{}], ", values.join(", "));
                }
            }
        }
        let defaults = if defaults.is_empty() { defaults } else { format!("default({defaults})") };
        let body = if fields.is_empty() { ";".to_owned() } else { format!(" {{ {fields} }}") };
        let keys = format!("state({state}), dynamics({dynamics}), {time}output(value = {law}), {defaults}");
        (format!("#[feedback_system({keys})] struct Law{body}"), entries, has_time)
    }

    /// Functions that may be written before their argument.
    const FUNCTIONS: [&str; 14] =
        ["sin", "cos", "tan", "asin", "acos", "atan", "sinh", "cosh", "tanh", "exp", "ln", "sqrt", "abs", "signum"];

    /// A law in which `sin(3*t)` is `(3*t).sin()`, as declarations have it.
    fn with_methods(law: &str) -> String {
        let is_letter = |letter: char| letter.is_alphanumeric() || letter == '_' || letter == '.';
        let (mut written, mut rest) = (String::new(), law);
        while let Some(open) = rest.find('(') {
            let (before, argument) = rest.split_at(open);
            let word = before.rsplit(|letter| !is_letter(letter)).next().unwrap_or_default();
            let Some(close) = closing(argument).filter(|_| FUNCTIONS.contains(&word)) else {
                written += &rest[..=open];
                rest = &rest[open + 1..];
                continue;
            };
            let _ = write!(written, "{}({}).{word}()", &before[..open - word.len()], with_methods(&argument[1..close]));
            rest = &argument[close + 1..];
        }
        written + rest
    }

    /// Where the parenthesis closes with which a text begins.
    fn closing(text: &str) -> Option<usize> {
        let mut depth = 0;
        text.char_indices().find_map(|(place, letter)| {
            depth += i32::from(letter == '(') - i32::from(letter == ')');
            (depth == 0).then_some(place)
        })
    }

    #[cfg(test)]
    #[test]
    fn functions_become_methods() {
        for (law, expected) in [
            ("2*sin(3*t)", "2*(3*t).sin()"),
            ("sin(cos(x) + (1)) * (-x).exp()", "((x).cos() + (1)).sin() * (-x).exp()"),
            ("max(sin(t), asin(x))", "max((t).sin(), (x).asin())"),
            ("q[0].sin() + sin(t", "q[0].sin() + sin(t"),
            ("", ""),
        ] {
            assert_eq!(with_methods(law), expected);
        }
    }

    /// The shape of a variable whose entries have these names, in a declaration.
    fn shape(names: &[&str]) -> String {
        let index = |name: &str| name.split_once('[').map(|(_, index)| index.trim_end_matches(']').to_owned());
        match names.last().and_then(|last| index(last)) {
            None => String::new(),
            Some(last) => match last.trim_matches(['(', ')']).split_once(',') {
                Some((row, column)) => {
                    let size = |text: &str| text.trim().parse::<usize>().map_or(1, |last| last + 1);
                    format!(": [{}, {}]", size(row), size(column))
                }
                None => format!(": [{}]", names.len()),
            },
        }
    }

    /// The numbers, and a zero if their count is odd: lists of functions have an even length.
    fn even(mut numbers: Vec<f64>) -> Vec<f64> {
        numbers.resize(numbers.len().next_multiple_of(2), 0.0);
        numbers
    }
}
