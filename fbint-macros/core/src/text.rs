//! Models from text: a file, or a cell of a notebook, that has the attribute and the struct of each model as in a crate.
//!
//! The text is cut into items before anything is parsed, so that a mistake in one model hides none in another. Nothing is run or written,
//! nothing is read but the derivations of a package that is named, and no algebra takes part: a model becomes programs, which are
//! evaluated. Whatever the text is, there is an end with a message: its size, the number of its tokens and the depth of its expressions are
//! bounded, and so are the numbers of entries and the work that its models take, which is counted.

mod items;
mod laws;
mod mistakes;

use std::ops::ControlFlow;
use std::path::Path;
use std::str::FromStr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

use proc_macro2::{Span, TokenStream};

use self::items::{MacroInput, declarations};
pub use self::mistakes::{Mistake, Position};
use self::mistakes::{mistakes_of, untokenised};
use crate::compile;
use crate::derivation::{Derivation, Findings};
use crate::elaborate;
pub use crate::elaborate::{DrawnShape, Event, Scenery};
use crate::emit::{self, CompiledModel};
use crate::expression::Expression;
use crate::expression::work::{self, Budget, Listener};
use crate::notation;
use crate::prepared::BuildEnvironment;
use crate::program::{ModelSeries, Program, Programs, Trait, of_expressions};
use crate::syntax::diagnostics::{Errors, panic_text};
use crate::syntax::{self, limits};
pub use crate::syntax::{Crossing, ShapeKind};

/// The longest text, in bytes.
pub const LONGEST: usize = 1_000_000;

/// The most work that the models of a text may take together: fourteen times the work of the largest shipped model.
const MOST_WORK: u64 = 1_000_000_000;

/// The most work that printing the code of a model may take, which counts for nothing else: some 125,000 statements.
const MOST_PRINTED: u64 = MOST_WORK / 4;

/// The remedy where that is spent.
const TOO_MUCH: &str = "shorten its expressions, take more coordinates, each with a short constraint, or declare the model in a crate, \
                        where nothing limits the work";

/// Parsers and derivations recurse: deep, but bounded, expressions need more of the stack than a thread has by default.
const STACK: usize = 256 << 20;

/// The time between two reports of a derivation's progress.
const PERIOD: Duration = Duration::from_secs(1);

/// Hears the task at hand, and answers whether to go on.
pub type Watch<'w> = dyn FnMut(&'static str) -> ControlFlow<()> + 'w;

/// A model that was read from text.
#[derive(Clone, Debug)]
pub struct Model {
    /// The name of the struct.
    pub name: String,
    /// The first paragraph of the documentation of the struct, in one line.
    pub summary: String,
    /// The mathematics.
    pub derivation: Derivation,
    /// The functions.
    pub programs: Programs,
    /// The findings about it.
    pub findings: Findings,
    /// The parameters by default, if there is the key `default`.
    pub defaults: Option<Program>,
    /// The start as a function of the parameters, if there is the key `start`.
    pub start: Option<Program>,
    /// The time between two samples of the laws of inputs by the parameters, and by how many they are delayed.
    pub sampling: Option<(Program, usize)>,
    /// The events, and the drawing.
    pub scenery: Scenery,
    /// The functions of the events, by the state and the parameters.
    pub events: Program,
    /// The coordinates of the drawing, by the state and the parameters.
    pub drawing: Program,
    /// `true` if there is the key `derivatives`.
    pub derivatives: bool,
    /// Linear functions that are conserved and not declared.
    pub undeclared: Vec<String>,
    /// The suspicions about the model, in words.
    pub doubts: Vec<String>,
    /// The functions at whose zeros the field switches, in plain text.
    pub switches: Vec<String>,
    /// The attribute's arguments and the struct, as tokens.
    pub declaration: [String; 2],
}

/// A way to write a derivation down.
type Writing = fn(&Derivation, &Findings) -> String;

impl Model {
    /// Returns `true` if there are steps of the discrete Hamel integrator.
    pub fn has_hamel_steps(&self) -> bool {
        self.programs.functions().any(|(function, _)| function.owner == Trait::Hamel)
    }

    /// The Rust that the macro would write, pretty-printed; where that is very long, its equations in comments. Printing takes time, and
    /// whoever runs a model needs none of it.
    pub fn source(&self) -> String {
        let printed = alone(|| self.source_within(MOST_PRINTED), &mut |_| ControlFlow::Continue(()));
        printed.unwrap_or_else(|message| format!("// {message}\n"))
    }

    /// The derivation in plain text, one equation a line. Printing takes time, as that of the source does.
    pub fn equations(&self) -> String {
        self.written_alone(notation::plain)
    }

    /// The derivation in LaTeX.
    pub fn latex(&self) -> String {
        self.written_alone(notation::latex)
    }

    fn written_alone(&self, write: Writing) -> String {
        let written = alone(|| self.written(write), &mut |_| ControlFlow::Continue(()));
        written.unwrap_or_else(|message| format!("{message}\n"))
    }

    /// The derivation in words, or why there are none.
    fn written(&self, write: Writing) -> String {
        let written = Budget::new(MOST_PRINTED).grant(|| write(&self.derivation, &self.findings));
        written.unwrap_or_else(|_| "The equations are too long to be printed.\n".to_owned())
    }

    /// The code, or a comment with the equations where printing it takes more work than this.
    fn source_within(&self, work: u64) -> String {
        let printed = Budget::new(work).grant(|| self.printed());
        printed.ok().flatten().unwrap_or_else(|| {
            let equations = self.written(notation::plain);
            let equations = equations.lines().map(|line| format!("// {line}").trim_end().to_owned() + "\n");
            format!("// The code is too long to be printed here. It computes:\n{}", equations.collect::<String>())
        })
    }

    /// The code of the declaration, which is understood again: its tokens belong to a thread.
    fn printed(&self) -> Option<String> {
        let [attribute, item] = self.declaration.each_ref().map(|tokens| TokenStream::from_str(tokens).ok());
        let errors = Errors::new();
        let declaration = syntax::parse(attribute?, item?, &errors);
        let understood = declaration.and_then(|mut declaration| {
            let elaborated = elaborate::elaborate(&mut declaration, &errors)?;
            Some((declaration, elaborated))
        });
        errors.flush().ok()?;
        let (declaration, elaborated) = understood?;
        let model = CompiledModel {
            elaborated,
            derivation: self.derivation.clone(),
            series: if declaration.taylor { ModelSeries::of(&self.programs).ok() } else { None },
            programs: self.programs.clone(),
            findings: self.findings.clone(),
            switches: self.switches.clone(),
            undeclared: self.undeclared.clone(),
            doubts: self.doubts.clone(),
            file: None,
        };
        Some(emit::source(&declaration, &model))
    }
}

/// The models in a text, in their order.
///
/// # Errors
///
/// Every mistake, in the order of the text.
pub fn models(text: &str) -> Result<Vec<Model>, Vec<Mistake>> {
    models_watched(text, None, &mut |_| ControlFlow::Continue(()))
}

/// The models in a text, in their order. Once a second, `watch` hears the task at hand, as it stands behind "while", and may interrupt it.
/// The models of a package have the derivations that it keeps, so that they get the functions of its structs, which algebra may have made
/// shorter.
///
/// # Errors
///
/// See [`models`]; also if a derivation of the package is missing, outdated or damaged, unless the package keeps none.
pub fn models_watched(text: &str, package: Option<&Path>, watch: &mut Watch<'_>) -> Result<Vec<Model>, Vec<Mistake>> {
    let environment = BuildEnvironment { package: package.map(Path::to_owned), ..BuildEnvironment::of_text() };
    read_alone(text, &environment, MOST_WORK, watch)
}

/// The models in a text of a package, in their order, read without a watch.
///
/// # Errors
///
/// See [`models_watched`].
pub fn models_of_package(text: &str, package: &Path) -> Result<Vec<Model>, Vec<Mistake>> {
    models_watched(text, Some(package), &mut |_| ControlFlow::Continue(()))
}

/// The values that the models of a text leave open, and the messages where nothing gives them.
#[derive(Clone, Copy)]
pub struct OpenValues<'a> {
    /// The models, by the names of their structs, that have to be complete.
    pub is_meant: &'a (dyn Fn(&str) -> bool + Sync),
    /// The message about a parameter without a default, unless something gives it.
    pub parameter: &'a (dyn Fn(&str) -> Option<String> + Sync),
    /// The message about a start that is not declared, unless something gives it.
    pub start: Option<&'a str>,
}

/// The values that are missing before the models of a text can run. Nothing is derived, and where the text is mistaken, nothing is missing.
pub fn missing(text: &str, open: &OpenValues<'_>) -> Vec<Mistake> {
    alone(|| left_open(text, open), &mut |_| ControlFlow::Continue(())).unwrap_or_default()
}

/// See [`missing`], on a thread that was made for it.
fn left_open(text: &str, open: &OpenValues<'_>) -> Vec<Mistake> {
    let errors = Errors::new();
    let inputs = match TokenStream::from_str(text) {
        Ok(tokens) if text.len() <= LONGEST && limits::fit(&tokens, &errors) => declarations(tokens, &errors),
        _ => Vec::new(),
    };
    let mut missing = Vec::new();
    for MacroInput { attribute, item, name, place } in inputs {
        let declaration = syntax::parse(attribute, item, &errors);
        let Some(declaration) = declaration.filter(|_| (open.is_meant)(&name.to_string())) else { continue };
        for parameter in declaration.parameters.iter().filter(|_| declaration.defaults.is_empty()) {
            let message = (open.parameter)(&parameter.name.to_string());
            missing.extend(message.map(|message| Mistake::at(parameter.name.span(), message)));
        }
        if let Some(message) = open.start.filter(|_| declaration.start.is_empty()) {
            missing.push(Mistake::at(place, message.to_owned()));
        }
    }
    if errors.flush().is_ok() { missing } else { Vec::new() }
}

/// Reads a text on a separate thread, with bounded work.
fn read_alone(
    text: &str,
    environment: &BuildEnvironment,
    work: u64,
    watch: &mut Watch<'_>,
) -> Result<Vec<Model>, Vec<Mistake>> {
    let read = alone(|| read(text, environment, work), watch);
    read.unwrap_or_else(|message| Err(vec![Mistake::of_whole(&message)]))
}

/// Returns the result of `task` on a separate thread with a deep stack, or a message if it panics. Meanwhile `watch` hears where it is.
fn alone<T: Send>(task: impl FnOnce() -> T + Send, watch: &mut Watch<'_>) -> Result<T, String> {
    let (tasks, heard) = channel();
    let has_left = Arc::new(AtomicBool::new(false));
    let listener = Listener { tasks, has_left: has_left.clone() };
    let told = move || {
        work::tell(listener);
        task()
    };
    thread::scope(|scope| {
        // Spans belong to a thread, and the memory that they take ends with it.
        let reading = thread::Builder::new().stack_size(STACK).spawn_scoped(scope, told);
        // The other end is dropped with the thread, also where none was started.
        let waited = wait(&heard, watch);
        has_left.store(waited.is_break(), Ordering::Relaxed);
        match reading.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(result)) => Ok(result),
            Ok(Err(_)) if waited.is_break() => Err("reading the model was interrupted".to_owned()),
            Ok(Err(panic)) => Err(compile::panicked(&panic_text(&*panic))),
            Err(error) => Err(format!("no thread can be started to read the model: {error}")),
        }
    })
}

/// Passes on the last task that was heard of, once in a period, until there are no more, or `watch` leaves.
fn wait(heard: &Receiver<&'static str>, watch: &mut Watch<'_>) -> ControlFlow<()> {
    let (mut task, mut next) = ("reading it", Instant::now() + PERIOD);
    loop {
        match heard.recv_timeout(next.saturating_duration_since(Instant::now())) {
            Ok(begun) => task = begun,
            Err(RecvTimeoutError::Timeout) => {
                watch(task)?;
                next += PERIOD;
            }
            Err(RecvTimeoutError::Disconnected) => return ControlFlow::Continue(()),
        }
    }
}

/// See [`models`], on a thread that was made for it.
fn read(text: &str, environment: &BuildEnvironment, work: u64) -> Result<Vec<Model>, Vec<Mistake>> {
    if text.len() > LONGEST {
        let message = format!("the text has {} bytes, and a text of models has at most {LONGEST}", text.len());
        return Err(vec![Mistake::of_whole(&message)]);
    }
    let tokens = TokenStream::from_str(text).map_err(|error| vec![untokenised(text, error.span())])?;
    let errors = Errors::new();
    let inputs = if limits::fit(&tokens, &errors) { declarations(tokens, &errors) } else { Vec::new() };
    let mut mistakes = mistakes_of(errors.flush(), Span::call_site());
    let (mut models, mut budget) = (Vec::new(), Budget::new(work));
    for MacroInput { attribute, item, name, place } in inputs {
        match budget.grant(|| model(attribute, item, environment)) {
            Ok(Ok(model)) => models.push(model),
            Ok(Err(error)) => mistakes.extend(mistakes_of(Err(error), place)),
            Err(task) => {
                let message =
                    format!("`{name}` takes more work than a text may: it ran out while {task}\nhelp: {TOO_MUCH}");
                mistakes.push(Mistake::at(place, message));
                break;
            }
        }
    }
    mistakes.sort_by_key(|mistake| mistake.range.start);
    if mistakes.is_empty() { Ok(models) } else { Err(mistakes) }
}

/// The model of an attribute and a struct.
fn model(attribute: TokenStream, item: TokenStream, environment: &BuildEnvironment) -> syn::Result<Model> {
    let errors = Errors::new();
    let tokens = [&attribute, &item].map(TokenStream::to_string);
    let Some(mut declaration) = syntax::parse(attribute, item, &errors) else {
        return Err(errors.flush().err().unwrap_or_else(|| syn::Error::new(Span::call_site(), "this is not a struct")));
    };
    let model = compile::model(&mut declaration, errors, environment)?;
    let CompiledModel { elaborated, derivation, programs, findings, undeclared, doubts, switches, .. } = model;
    let program = |expressions: Vec<Expression>| of_expressions(&expressions, &derivation.symbols);
    Ok(Model {
        name: derivation.name.clone(),
        summary: emit::first_paragraph(&declaration.item.attrs),
        defaults: elaborated.start_values.defaults.map(program),
        start: elaborated.start_values.start.map(program),
        sampling: elaborated.sampling.map(|sampling| (program(vec![sampling.every]), sampling.delay)),
        events: program(elaborated.scenery.event_values.clone()),
        drawing: program(elaborated.scenery.drawing_values.clone()),
        scenery: elaborated.scenery,
        derivatives: declaration.derivatives,
        findings,
        derivation,
        programs,
        undeclared,
        doubts,
        switches,
        declaration: tokens,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_that_is_too_long_to_be_printed_is_its_equations() {
        let text = "#[feedback_system(state(x), dynamics(x = -k * x))] struct Decay { k: f64 }";
        let model = models(text).expect("a model").remove(0);
        assert!(model.source().contains("fn vector_field"));
        let left_out = model.source_within(0);
        assert!(left_out.lines().all(|line| line.starts_with("//")) && left_out.contains("-k*x"), "{left_out}");
    }

    /// At about half of the points at which programs are compared, x is larger than 1.
    #[test]
    fn derivatives_need_not_be_defined_where_their_function_is_not() {
        let text = "#[feedback_system(state(x, y), dynamics(x = -x, y = (1 - x).sqrt()), derivatives)] struct Edge;";
        models(text).expect("a model");
    }

    #[test]
    fn whoever_waits_hears_of_the_last_task_once_a_period() {
        let mut told = Vec::new();
        let task = || {
            work::begin("sleeping");
            thread::sleep(PERIOD * 5 / 2);
            "done"
        };
        let mut watch = |task| {
            told.push(task);
            ControlFlow::Continue(())
        };
        assert_eq!(alone(task, &mut watch), Ok("done"));
        assert_eq!(told, ["sleeping"; 2]);
    }

    #[test]
    fn whoever_interrupts_waits_for_no_end() {
        let endless = || {
            loop {
                work::spend(1);
            }
        };
        let interrupted: Result<(), String> = alone(endless, &mut |_| ControlFlow::Break(()));
        assert!(interrupted.expect_err("nothing was read").contains("interrupted"));
    }

    /// Dense constraints, which the tests of `fbint-text` give the whole budget where they are thorough.
    #[test]
    fn work_beyond_the_budget_is_refused() {
        let term =
            |number: usize, entry: usize| format!("({number} * q[{entry}]).sin() * q[{}].cos()", (entry + number) % 24);
        let constraint = |number: usize| {
            format!("c{number} = {}", (0..24).map(|entry| term(number, entry)).collect::<Vec<_>>().join(" + "))
        };
        let constraints = (1..=20).map(constraint).collect::<Vec<_>>().join(", ");
        let dense = format!(
            "#[feedback_system(coordinates(q: [24]), momenta(p: [24]), hamiltonian = p.norm_squared() / 2, constraint({constraints}))]
            struct Dense;"
        );
        let text = format!("#[feedback_system(state(x), dynamics(x = -x))] struct Decay;\n{dense}");
        let read = |text: &str, work: u64| {
            read_alone(text, &BuildEnvironment::of_text(), work, &mut |_| ControlFlow::Continue(()))
        };
        let mistakes = read(&text, MOST_WORK / 20).expect_err("the text is refused");
        assert_eq!(mistakes.len(), 1);
        let (begin, task) = ("`Dense` takes more work than a text may: it ran out while ", &mistakes[0].message);
        assert!(task.starts_with(begin) && task.len() > begin.len() && task.ends_with(TOO_MUCH), "{task}");
        let (decay, _) = text.split_once('\n').expect("two models");
        assert!(mistakes[0].range.start > decay.len(), "{:?}", mistakes[0]);
        // The first model takes little of it, but not nothing.
        assert_eq!(read(decay, MOST_WORK / 20).expect("a model").len(), 1);
        assert!(read(decay, 1_000).is_err());
    }
}
