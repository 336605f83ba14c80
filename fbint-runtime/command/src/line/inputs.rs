//! Inputs by `--input`: laws, which are expressions of the state, the time and the parameters, and tables of numbers over time.

mod table;

use std::collections::BTreeMap;
use std::error::Error;
use std::path::Path;

use self::table::{Rows, Table};
#[cfg(not(feature = "text"))]
use crate::words::names::Quantity;
use crate::words::nearest;
use fbint_catalogue::{AnyModel, FlatSignal, Inputs, Law};
use fbint_runtime::Method;

/// Stands for an input that a function of the program gives.
pub(crate) const FUNCTION: &str = "a function";

/// The model with the inputs that are named, each by a law, the name of a table, or a function. Where a text declares the model, laws that
/// switch become laws of the declaration, which end steps at their switches, and so do laws of the state for Taylor's method, which
/// expands what is declared; `declared` makes the model of such a text.
pub(crate) fn given(
    model: Box<dyn AnyModel>,
    (given, functions): (&BTreeMap<String, String>, &BTreeMap<String, Law>),
    (method, folder): (Method, Option<&Path>),
    declared: impl FnOnce(&str) -> Result<Box<dyn AnyModel>, Box<dyn Error>>,
) -> Result<Box<dyn AnyModel>, Box<dyn Error>> {
    if given.is_empty() {
        return Ok(model);
    }
    let names = model.facts().input_names;
    if names.is_empty() {
        let name = model.facts().name;
        return Err(format!("{name} has no inputs: leave out --input, or declare `input(..)`").into());
    }
    let mut sources = Vec::new();
    for (name, source) in given {
        let place = nearest::find("input", name, names)?;
        sources.push((names[place], Given::read(&*model, (name, source.trim()), functions.get(name), folder)?));
    }
    let (mut model, sources, switching) = with_laws(model, sources, method, declared);
    if sources.is_empty() {
        return Ok(model);
    }
    let found = sources.iter().map(|(name, _)| *name).collect();
    let place = |name: &str| model.facts().input_names.iter().position(|other| *other == name);
    let sources: Vec<(usize, Given)> =
        sources.into_iter().filter_map(|(name, source)| Some((place(name)?, source))).collect();
    let inputs = Inputs::new(found, move || {
        let started = |source: &Given| match source {
            Given::Function(law) | Given::Expression(Expression { law, .. }) => Source::Law(law.clone()),
            Given::Table(rows) => Source::Table(Table::of(rows)),
        };
        Box::new(Signals { sources: sources.iter().map(|(place, source)| (*place, started(source))).collect() })
    });
    model.set_inputs(inputs.switching(switching));
    Ok(model)
}

/// Sources by the names of their inputs.
type Sources = Vec<(&'static str, Given)>;

/// The model with those laws declared that have to be, the other sources, and the inputs with laws whose switches end no step. A law that
/// the declaration cannot have is given like the others.
fn with_laws(
    model: Box<dyn AnyModel>,
    sources: Sources,
    method: Method,
    declared: impl FnOnce(&str) -> Result<Box<dyn AnyModel>, Box<dyn Error>>,
) -> (Box<dyn AnyModel>, Sources, Vec<&'static str>) {
    let (facts, expands) = (model.facts(), matches!(method, Method::Taylor { .. }));
    let names = facts.input_names;
    let switches = |source: &Given| matches!(source, Given::Expression(Expression { switches: true, .. }));
    let mut switching: Vec<&str> =
        sources.iter().filter(|(_, source)| switches(source)).map(|(name, _)| *name).collect();
    // Laws of the declaration that are left would be given, too, by what gives the others.
    let is_left = |name: &&&str| !facts.open_inputs.contains(*name) && sources.iter().all(|(given, _)| given != *name);
    if facts.has_laws() && facts.law_delay.is_none() && facts.has_switches() {
        switching.extend(names.iter().filter(is_left));
    }
    let takes_state = |source: &Given| matches!(source, Given::Expression(Expression { takes_state: true, .. }));
    let (laws, others): (Sources, Sources) =
        sources.into_iter().partition(|(_, source)| switches(source) || expands && takes_state(source));
    if switching.is_empty() && laws.is_empty() {
        return (model, others, switching);
    }
    let written: Vec<(&str, &str)> = laws.iter().filter_map(|(name, law)| Some((*name, law.written()?))).collect();
    let is_other = |name: &str| others.iter().any(|(other, _)| *other == name);
    let of_others = facts.inputs.iter().filter(|input| names[input.entries()].iter().any(|name| is_other(name)));
    let of_others: Vec<&str> = of_others.map(|input| input.name).collect();
    let text = model.flat().with_laws(&written, &of_others);
    match text.and_then(|text| declared(&text).ok()).filter(|other| is_alike(&**other, &*model)) {
        Some(mut with_laws) => {
            let parameters = model.parameters().into_iter().enumerate();
            parameters.for_each(|(index, (_, value))| with_laws.set_parameter(index, value));
            (with_laws, others, Vec::new())
        }
        None => (model, laws.into_iter().chain(others).collect(), switching),
    }
}

/// Returns `true` if models have the same states and parameters.
fn is_alike(one: &dyn AnyModel, other: &dyn AnyModel) -> bool {
    one.state_names() == other.state_names() && one.facts().parameter_names == other.facts().parameter_names
}

/// An expression in the names of a model.
pub(crate) struct Expression {
    pub(crate) law: Law,
    /// The expression as a declaration has it.
    written: String,
    /// `true` if it is not of the time and the parameters alone.
    takes_state: bool,
    /// `true` if it has several sides, as by `signum` or `if`.
    switches: bool,
}

/// The source of an input, before a run.
enum Given {
    Function(Law),
    Expression(Expression),
    Table(Rows),
}

impl Given {
    /// The source of an input by its name and the text that was given, or the function.
    fn read(
        model: &dyn AnyModel,
        (name, source): (&str, &str),
        function: Option<&Law>,
        folder: Option<&Path>,
    ) -> Result<Self, Box<dyn Error>> {
        if let Some(function) = function {
            return Ok(Self::Function(function.clone()));
        }
        if source == FUNCTION {
            return Err(format!(
                "the input `{name}` was {FUNCTION} of the program that made the run, which is not kept with it: give it as an expression \
                 or a table"
            )
            .into());
        }
        match Rows::read(name, source, folder.unwrap_or(Path::new("")))? {
            Some(rows) => Ok(Self::Table(rows)),
            None => Ok(Self::Expression(expression(model, &format!("--input {name}: `{source}`"), source, &[])?)),
        }
    }

    /// The law as a declaration has it.
    fn written(&self) -> Option<&str> {
        match self {
            Self::Expression(expression) => Some(&expression.written),
            Self::Function(_) | Self::Table(_) => None,
        }
    }
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
                Source::Law(law) => law.value(time, state),
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

    fn series(&self, time: f64, stride: usize, later: &mut [f64]) -> bool {
        let mut own = vec![0.0; later.len().checked_div(stride).unwrap_or(0)];
        self.sources.iter().all(|(place, source)| {
            own.fill(0.0);
            let has_series = match source {
                Source::Law(law) => law.series(time, &mut own),
                Source::Table(table) => {
                    own.first_mut().into_iter().for_each(|first| *first = table.slope());
                    true
                }
            };
            for (order, own) in later.chunks_exact_mut(stride.max(1)).zip(&own) {
                order[*place] = *own;
            }
            has_series
        })
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

/// Refuses an expression.
#[cfg(not(feature = "text"))]
pub(crate) fn expression(_: &dyn AnyModel, what: &str, _: &str, _: &[Quantity]) -> Result<Expression, Box<dyn Error>> {
    Err(format!("{what}: an expression takes a build with the feature `text`").into())
}

#[cfg(feature = "text")]
pub(crate) use self::expressions::expression;

/// Laws are the outputs of a model that has the variables that they name, and in which they are the rate of one more variable.
#[cfg(feature = "text")]
mod expressions {
    use std::error::Error;
    use std::fmt::Write as _;
    use std::sync::Arc;

    use fbint_runtime::{Declared, FourLanes, StateRole};

    use super::Expression;
    use crate::words::names::{Quantity, array, cells, extent};
    use fbint_catalogue::{AnyModel, FlatFunctions, FlatModel, Given, Law, ListFunction, Source};
    use fbint_text::Mistakes;

    /// An expression in the names of a model and of numbers that follow the entries of the state in what it is evaluated in. The
    /// message about a mistake begins with `what` it is.
    pub(crate) fn expression(
        model: &dyn AnyModel,
        what: &str,
        law: &str,
        further: &[Quantity],
    ) -> Result<Expression, Box<dyn Error>> {
        let LawModel { moving, still, entries, has_time, written, takes_state } = law_model(model, law, further);
        let (models, is_rate) = match fbint_text::models(&moving) {
            Ok(models) => (models, true),
            // Mistakes are those of the output alone.
            Err(_) => (fbint_text::models(&still).map_err(|mistakes| in_one_line(what, &mistakes))?, false),
        };
        let own = models.into_iter().next().ok_or("a law is one expression")?;
        let (functions, prepared) = (own.functions(), even(own.prepared()));
        if own.facts().output_names.len() != 1 {
            return Err(format!("{what} is not a number").into());
        }
        let series = (is_rate && !takes_state).then(|| series_of_rate(own.functions(), prepared.clone(), has_time));
        // Switches are on the side on which a state is.
        let sides = vec![0.0; own.facts().given_numbers().next_multiple_of(2)];
        let has_further = entries.iter().flatten().any(|entry| *entry >= model.facts().state.len());
        let law = Law::new(move |time, state| {
            let mut x: Vec<f64> = entries.iter().map(|entry| entry.map_or(f64::NAN, |entry| state[entry])).collect();
            x.extend(has_time.then_some(time));
            let (x, mut list) = (even(x), [0.0; 2]);
            let given = Given::default().with(Source::State, &x).with(Source::Prepared, &prepared);
            let given = given.with(Source::Inputs, &sides);
            functions.list(ListFunction::Outputs, &given, &|_| {}, &mut list);
            list[0]
        });
        let law = match series {
            Some(series) => law.with_series(series),
            None => law,
        };
        let law = if has_further { law.of_outputs() } else { law };
        Ok(Expression { law, written, takes_state, switches: is_rate && own.facts().has_switches() })
    }

    fn in_one_line(what: &str, mistakes: &Mistakes) -> String {
        let messages: Vec<String> = mistakes.list().iter().map(|mistake| mistake.in_one_line()).collect();
        format!("{what}: {}", messages.join("; "))
    }

    /// The Taylor series of a law of the time alone, which is the rate of a model's first variable.
    fn series_of_rate(
        functions: Arc<dyn FlatFunctions>,
        prepared: Vec<f64>,
        has_time: bool,
    ) -> impl Fn(f64, &mut [f64]) -> bool {
        move |time, later| {
            let Ok(series) = functions.series() else { return false };
            if series.shape().switches > 0 {
                return false;
            }
            let (orders, given) = (later.len() + 1, Given::default().with(Source::Prepared, &prepared));
            let mut coefficients = vec![[0.0; 2]; orders + 1];
            coefficients[0][1] = if has_time { time } else { 0.0 };
            let mut memory = vec![FourLanes::ZERO; series.shape().columns * orders];
            series.expand(&given, coefficients.as_flattened_mut(), 2, &mut memory);
            for ((n, rate), [integral, _]) in (2..).zip(later).zip(&coefficients[2..]) {
                *rate = f64::from(n) * integral;
            }
            true
        }
    }

    /// The model of a law.
    struct LawModel {
        moving: String,
        /// The same, which stands still.
        still: String,
        /// Which entry of the given state each of its entries is, if any.
        entries: Vec<Option<usize>>,
        has_time: bool,
        /// The law, in which the time has the name that it has in the state of the model.
        written: String,
        /// `true` if it has more variables than the one whose rate the law is.
        takes_state: bool,
    }

    fn law_model(model: &dyn AnyModel, law: &str, further: &[Quantity]) -> LawModel {
        let (facts, law) = (model.facts(), with_methods(&with_powers(law)));
        let words: Vec<&str> = law.split(|letter: char| !letter.is_alphanumeric() && letter != '_').collect();
        let (mut state, mut dynamics, mut entries) = (String::new(), String::new(), Vec::new());
        let mut add = |name: &str, declared: &Declared, first: usize| {
            let _ = write!(state, "{name}{}, ", shape(declared));
            let _ = write!(dynamics, "{name} = 0 * {name}, ");
            entries.extend(cells(declared).into_iter().map(|cell| cell.map(|position| first + position)));
        };
        let is_free =
            |variable: &&Declared| !matches!(facts.state[variable.first].role, StateRole::Time | StateRole::Work);
        for variable in facts.variables.iter().filter(is_free).filter(|variable| words.contains(&variable.name)) {
            add(variable.name, variable, 0);
        }
        for further in further.iter().filter(|further| words.contains(&&*further.name)) {
            add(&further.name, further.declared, facts.state.len());
        }
        let takes_state = !entries.is_empty();
        state += "integral_of_law, ";
        entries.push(None);
        let clock = facts.clock.map_or("t", |clock| facts.state[clock].name);
        let is_variable = |name: &str| facts.variables.iter().any(|variable| variable.name == name);
        let clock = if words.contains(&"t") && !is_variable("t") { "t" } else { clock };
        let has_time = words.contains(&clock);
        let time = if has_time { format!("time({clock}), ") } else { String::new() };
        let (mut fields, mut defaults) = (String::new(), String::new());
        let values: Vec<f64> = model.parameters().into_iter().map(|(_, value)| value).collect();
        for declared in facts.parameters.iter().filter(|parameter| words.contains(&parameter.name)) {
            let Declared { name, .. } = declared;
            let own: Vec<String> =
                array(declared).positions.into_iter().map(|entry| format!("{:?}", values[entry])).collect();
            let (kind, value) = match extent(declared)[..] {
                [rows, columns] => {
                    let rows_of: Vec<String> = own.chunks(columns).map(|row| row.join(", ")).collect();
                    (format!("SMatrix<f64, {rows}, {columns}>"), format!("matrix![{}]", rows_of.join("; ")))
                }
                [length] => (format!("[f64; {length}]"), format!("vector![{}]", own.join(", "))),
                _ => ("f64".to_owned(), own.concat()),
            };
            let _ = write!(fields, "{name}: {kind}, ");
            let _ = write!(defaults, "{name} = {value}, ");
        }
        let defaults = if defaults.is_empty() { defaults } else { format!("default({defaults})") };
        let body = if fields.is_empty() { ";".to_owned() } else { format!(" {{ {fields} }}") };
        let text = |rate: &str| {
            let keys = format!(
                "state({state}), dynamics({dynamics}integral_of_law = {rate}), {time}output(value = {law}), {defaults}"
            );
            format!("#[feedback_system({keys})] struct Law{body}")
        };
        let (still, moving) = (text("0 * integral_of_law"), text(&law));
        let of_state = facts.clock.map_or(clock, |clock| facts.state[clock].name);
        let written = renamed(&law, clock, of_state);
        LawModel { moving, still, entries, has_time, written, takes_state }
    }

    /// A law with another name for a variable.
    fn renamed(law: &str, name: &str, other: &str) -> String {
        let is_of_word = |letter: char| letter.is_alphanumeric() || letter == '_';
        let (mut written, mut rest) = (String::new(), law);
        while let Some(place) = rest.find(is_of_word) {
            let (before, word) = rest.split_at(place);
            let (word, after) = word.split_at(word.find(|letter| !is_of_word(letter)).unwrap_or(word.len()));
            let is_method = before.ends_with('.');
            written += before;
            written += if word == name && !is_method { other } else { word };
            rest = after;
        }
        written + rest
    }

    #[cfg(test)]
    #[test]
    fn the_time_of_a_law_is_renamed() {
        for (law, expected) in
            [("t", "time"), ("if t < t0 { at(t) } else { 2.t() }", "if time < t0 { at(time) } else { 2.t() }")]
        {
            assert_eq!(renamed(law, "t", "time"), expected);
        }
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

    /// An expression in which `x^2` is `x.powi(2)`, and `x^(1 / 2)` is `x.powf(1 / 2)`; `x^y^z` is x to the power y^z. Rust's own `^` binds
    /// less than a sum does.
    fn with_powers(text: &str) -> String {
        let (mut written, mut rest) = (String::new(), text);
        while let Some(place) = rest.find('^') {
            written += rest[..place].trim_end();
            rest = rest[place + 1..].trim_start();
            let first = exponent(rest);
            let mut length = first;
            while let Some(further) = rest[length..].trim_start().strip_prefix('^') {
                let further = further.trim_start();
                length = rest.len() - further.len() + exponent(further);
            }
            let (exponent, after) = rest.split_at(length);
            let base = written.len() - operand(&written);
            let inner =
                exponent.strip_prefix('(').and_then(|inner| inner.strip_suffix(')')).filter(|_| length == first);
            let call = match exponent.parse::<i32>() {
                Ok(_) => format!("powi({exponent})"),
                Err(_) => format!("powf({})", with_powers(inner.unwrap_or(exponent))),
            };
            let base = written.split_off(base);
            let _ = write!(written, "({base}).{call}");
            rest = after;
        }
        written + rest
    }

    /// The length of the operand at the end of a text: a name or a number with brackets, calls and methods, or a parenthesis.
    fn operand(text: &str) -> usize {
        let (mut depth, mut length) = (0, 0);
        for letter in text.chars().rev() {
            match letter {
                ')' | ']' => depth += 1,
                '(' | '[' if depth > 0 => depth -= 1,
                _ if depth > 0 || letter.is_alphanumeric() || ['_', '.'].contains(&letter) => {}
                _ => break,
            }
            length += letter.len_utf8();
        }
        length
    }

    /// The length of the exponent at the start of a text: a number with its sign, a name, or a parenthesis.
    fn exponent(text: &str) -> usize {
        if text.starts_with('(') {
            return closing(text).map_or(text.len(), |close| close + 1);
        }
        let sign = usize::from(text.starts_with('-'));
        let is_part = |letter: char| letter.is_alphanumeric() || ['_', '.'].contains(&letter);
        sign + text[sign..].find(|letter| !is_part(letter)).unwrap_or(text.len() - sign)
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

    #[cfg(test)]
    #[test]
    fn powers_become_methods() {
        for (law, expected) in [
            ("q[0]^2 + p > 3", "(q[0]).powi(2) + p > 3"),
            ("-x^2 * (a + b)^-1", "-(x).powi(2) * ((a + b)).powi(-1)"),
            ("q.norm() ^ (n + 1/2)", "(q.norm()).powf(n + 1/2)"),
            ("sin(x^2)^3", "(sin((x).powi(2))).powi(3)"),
            ("r[(0, 1)]^0.5", "(r[(0, 1)]).powf(0.5)"),
            ("2^3^2", "(2).powf((3).powi(2))"),
            ("x^(a)^(b) + 1", "(x).powf(((a)).powf(b)) + 1"),
            ("^", "().powf()"),
        ] {
            assert_eq!(with_powers(law), expected);
        }
    }

    /// The sizes of what is declared, in a declaration.
    fn shape(declared: &Declared) -> String {
        match &extent(declared)[..] {
            [] => String::new(),
            sizes => format!(": {sizes:?}"),
        }
    }

    /// The numbers, and a zero if their count is odd: lists of functions have an even length.
    fn even(mut numbers: Vec<f64>) -> Vec<f64> {
        numbers.resize(numbers.len().next_multiple_of(2), 0.0);
        numbers
    }
}
