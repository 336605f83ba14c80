//! From a [`Declaration`] to an [`Elaborated`] model: names resolved, shapes checked, every expression a scalar one.
//!
//! This is the last place that sees `syn::Expr`. Symbols are listed as the state is laid out: the entries of the coordinates and of the
//! momenta in the same order, or of `state`, then the entries of the parameters; matrices column by column. Constraints, invariants and
//! outputs are flattened to scalars. Every mistake is reported once, at its own token; whatever depends on it is left out silently. The
//! emitted equations are the declared ones, term for term: simplification is not done here.

mod evaluate;
mod events;
mod field;
mod foreign;
mod functions;
mod integrals;
mod lagrangian;
mod methods;
mod multipliers;
mod numbers;
mod quantities;
mod scope;
mod start_values;
mod switch;
mod symbols;
mod value;

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenTree};
use quote::ToTokens;
use syn::{Ident, Lit};

pub use self::events::{DrawnShape, Event, Scenery};
pub use self::field::Sampling;
use self::integrals::{IntegralList, conserved, latex};
pub(crate) use self::lagrangian::joined;
use self::multipliers::multipliers;
use self::quantities::{Purpose, Quantity, ScalarQuantity, flatten, scalars};
use self::scope::Scope;
pub use self::start_values::StartValues;
pub use self::symbols::{EntryIndex, VariableEntry};
use self::symbols::{SymbolTable, add_of, auxiliary};
use crate::derivation::table::Table;
use crate::derivation::{Declared, Dynamics, IntegralId, Kind, Output, Problem, Reaction, Role, SymbolInfo, Symbols};
use crate::expression::Symbol;
use crate::syntax::diagnostics::Errors;
use crate::syntax::written::written_or;
use crate::syntax::{AttributeKey, Declaration, Formalism, NamedExpression, Variable, add_work, plain, tokens, words};

/// The meaning of a declaration, and where everything in it is declared.
#[derive(Clone, Debug)]
pub struct Elaborated {
    /// The mathematics.
    pub problem: Problem,
    /// Where the entries of the state and of the parameters stand in the declaration.
    pub places: Table<Symbol, VariableEntry>,
    /// Where each integral is named: a rate where its constraint is.
    pub spans: Table<IntegralId, Span>,
    /// Where each output is named.
    pub output_spans: Vec<Span>,
    /// Where a run begins.
    pub start_values: StartValues,
    /// When the laws of inputs are sampled, if they are.
    pub sampling: Option<Sampling>,
    /// The events and the drawing.
    pub scenery: Scenery,
}

/// Gives the declaration its meaning. Returns `None` if there are mistakes, here or in `syntax`. The state gains the work of velocity
/// constraints that move.
pub fn elaborate(declaration: &mut Declaration, errors: &Errors) -> Option<Elaborated> {
    if has_moving_constraints(declaration) && !add_work(declaration, errors) {
        return None;
    }
    let declaration = &*declaration;
    let unknowns = unknowns(declaration);
    let mut scope = Scope::new(declaration, &unknowns, errors);
    scope.definitions();
    let mut dynamics = field::field(&mut scope);
    let forces = field::forces(&mut scope);
    let mut quantities = conserved(&mut scope, &dynamics);
    if let Ok(Dynamics::Lagrangian(lagrangian)) = &mut dynamics
        && let Ok(brackets) = lagrangian::frame(&mut scope, lagrangian, &quantities)
    {
        lagrangian.brackets = brackets;
    }
    let start_values = StartValues::of(&mut scope);
    let listed = IntegralList::of(declaration, &quantities);
    let symbols = all_symbols(&scope, &listed);
    scope.multipliers = Some(multipliers(&scope, &quantities, &listed.integrals, &symbols));
    quantities.extend(flatten(&mut scope, &declaration.outputs, Purpose::Output));
    scope.multipliers = None;
    let (laws, sampling) = (field::laws(&mut scope), field::sampling(&mut scope));
    let scenery = Scenery::of(&mut scope);
    let used = scope.used;

    let is_understood = !declaration.hidden_names && !declaration.hidden_uses && declaration.broken.is_empty();
    if is_understood && declaration.formalism == Formalism::Canonical {
        count(&quantities, &symbols, errors);
    }
    if !declaration.hidden_uses {
        report_unused(declaration, used, !errors.is_empty() || !is_understood, errors);
    }
    if !is_understood || !errors.is_empty() || quantities.iter().any(|quantity| quantity.flattened.is_err()) {
        return None;
    }
    let IntegralList { integrals, spans } = listed;
    let problem = Problem {
        name: plain(&declaration.item.ident),
        symbols,
        dynamics: dynamics.ok()?,
        reactions: reactions(&quantities, &integrals),
        integrals,
        forces: forces.ok()?,
        outputs: outputs(&quantities),
        laws: laws.ok()?,
    };
    let output_spans = scalars(&quantities, Purpose::Output).map(|output| output.span).collect();
    let (places, start_values, scenery, sampling) =
        (unknowns.places, start_values.ok()?, scenery.ok()?, sampling.ok()?);
    Some(Elaborated { problem, places, spans, output_spans, start_values, sampling, scenery })
}

/// Returns `true` if a velocity constraint of a system without work has a part without velocities. Mistakes are left to be reported.
fn has_moving_constraints(declaration: &Declaration) -> bool {
    let may_have = declaration.reactive_constraints().next().is_some() && declaration.work.is_none();
    if !may_have || !declaration.has_reactions() {
        return false;
    }
    let (unknowns, errors) = (unknowns(declaration), Errors::new());
    let mut scope = Scope::new(declaration, &unknowns, &errors);
    let motion = field::field(&mut scope);
    let quantities = flatten(&mut scope, declaration.reactive_constraints(), Purpose::VelocityConstraint);
    let moves = scalars(&quantities, Purpose::VelocityConstraint).any(|constraint| !constraint.offset.is_zero());
    errors.flush().is_ok() && motion.is_ok() && moves
}

/// The unknowns that the declaration names, and what stands for rates and momenta, where expressions name any.
fn unknowns(declaration: &Declaration) -> SymbolTable {
    let mut unknowns = SymbolTable::of(declaration);
    if calls(declaration, "rate") {
        for of in unknowns.entries(declaration.coordinates.iter().chain(&declaration.states)) {
            add_of(&mut unknowns.symbols, of, Role::Rate { of });
        }
    }
    if calls(declaration, "momentum") {
        for of in unknowns.entries(&declaration.velocities) {
            add_of(&mut unknowns.symbols, of, Role::Conjugate { of });
        }
    }
    unknowns
}

/// All symbols: the unknowns, and what reactions are and do.
fn all_symbols(scope: &Scope, listed: &IntegralList) -> Symbols {
    let mut symbols = scope.symbols.clone();
    if scope.declaration.has_reactions() {
        add_multipliers(&listed.integrals, &mut symbols);
    }
    let is_lagrangian = scope.declaration.formalism == Formalism::Lagrangian;
    if is_lagrangian && !lagrangian::exceed(listed, &symbols, scope.errors) {
        add_responses(&listed.integrals, &mut symbols);
    }
    symbols
}

/// The reactions that hold the velocity constraints.
fn reactions(quantities: &[Quantity], integrals: &Table<IntegralId, Declared>) -> Vec<Reaction> {
    let held = integrals.iter().filter(|(_, integral)| integral.kind == Kind::Velocity).map(|(id, _)| id);
    let rows = scalars(quantities, Purpose::VelocityConstraint);
    let rows = rows.map(|ScalarQuantity { along, offset, .. }| (along.clone(), offset.clone()));
    held.zip(rows).map(|(constraint, (along, offset))| Reaction { constraint, along, offset }).collect()
}

fn outputs(quantities: &[Quantity]) -> Vec<Output> {
    let output = |ScalarQuantity { name, entry, value, .. }: &ScalarQuantity| Output {
        name: name.clone(),
        entry: entry.clone(),
        latex: latex(name),
        value: value.clone(),
    };
    scalars(quantities, Purpose::Output).map(output).collect()
}

/// Adds a symbol for the multiplier of each constraint.
fn add_multipliers(integrals: &Table<IntegralId, Declared>, symbols: &mut Symbols) {
    for (id, integral) in integrals.iter().filter(|(_, integral)| integral.kind.is_held()) {
        symbols.push(auxiliary(Role::Multiplier(id), &integral.name, &integral.latex));
    }
}

/// Adds symbols for the changes of velocities' rates by reactions, and for the rates without reactions.
fn add_responses(integrals: &Table<IntegralId, Declared>, symbols: &mut Symbols) {
    let velocities = symbols.with(|role| role == Role::Velocity);
    let is_kept = |integral: &Declared| matches!(integral.kind, Kind::Rate { .. } | Kind::Velocity);
    for (to, integral) in integrals.iter().filter(|(_, integral)| is_kept(integral)) {
        for &of in &velocities {
            let SymbolInfo { name, latex, .. } = &symbols[of];
            let (name, latex) = (format!("{name}, {}", integral.name), format!("{latex},{}", integral.latex));
            symbols.push(auxiliary(Role::Response { of, to }, &name, &latex));
        }
    }
    for &of in &velocities {
        add_of(symbols, of, Role::Acceleration { of });
    }
}

/// Reports constraints whose number makes the matrix of their brackets singular. The matrix is antisymmetric, so it is singular if
/// their number is odd; and it is singular if there are more constraints on the configuration than coordinates.
fn count(quantities: &[Quantity], symbols: &Symbols, errors: &Errors) {
    let is_constraint = |purpose| matches!(purpose, Purpose::Holonomic | Purpose::PhaseConstraint);
    if quantities.iter().any(|quantity| is_constraint(quantity.purpose) && quantity.flattened.is_err()) {
        return;
    }
    let [constraints, phase] = [Purpose::Holonomic, Purpose::PhaseConstraint]
        .map(|purpose| scalars(quantities, purpose).collect::<Vec<&ScalarQuantity>>());
    let is_momentum = |symbol: &Symbol| matches!(symbols[*symbol].role, Role::Momentum { .. });
    let degrees = symbols.ids().filter(is_momentum).count();
    if let Some(last) = phase.last()
        && phase.len() % 2 == 1
    {
        let (number, entries) = (phase.len(), if phase.len() == 1 { "entry" } else { "entries" });
        let message = format!("the phase constraints have {number} {entries}: their number must be even");
        let has_momentum = last.value.symbols().iter().any(is_momentum);
        let remedy = if has_momentum { "" } else { ", or declare it as `constraint`, which adds its rate" };
        let remedy = format!("add the one that is conjugate to `{}`{remedy}", last.name);
        errors.push(last.span, format_args!("{message}, or the matrix of their brackets is singular\nhelp: {remedy}"));
        return;
    }
    let excess = constraints.get(degrees).or_else(|| phase.get(2 * (degrees - constraints.len().min(degrees))));
    if let Some(quantity) = excess {
        let message = format!("with `{}` there are more constraints than the system has freedom", quantity.name);
        let equations = 2 * constraints.len() + phase.len();
        let rates = if constraints.is_empty() { "" } else { " with their rates" };
        let count = format!("{equations} equations{rates} on a state of {}", 2 * degrees);
        errors.push(quantity.span, format_args!("{message}: {count}\nhelp: remove some"));
    }
}

/// Reports declared names that nothing uses. A name that only an unused definition uses is not reported in addition to it, and after a
/// mistake, a name that occurs anywhere counts as used.
fn report_unused(declaration: &Declaration, mut used: BTreeSet<String>, mistaken: bool, errors: &Errors) {
    if mistaken {
        used.extend(declaration.expressions().flat_map(words).map(|word| plain(&word)));
        let all = declaration.expressions().flat_map(|value| tokens(value.to_token_stream()));
        used.extend(all.flat_map(words_of_literal));
    }
    used.extend(declaration.broken.iter().map(plain));
    let is_used = |name: &Ident| used.contains(&plain(name));
    let report = |name: &Ident, message: String| {
        if !is_used(name) {
            errors.push(name.span(), message);
        }
    };
    for (coordinate, momentum) in declaration.coordinates.iter().zip(&declaration.momenta) {
        let (q, p) = (&coordinate.name, &momentum.name);
        if !is_used(p) {
            report(q, format!("nothing uses the coordinate `{q}` or its momentum `{p}`\nhelp: remove both"));
        }
    }
    for Variable { name, .. } in &declaration.inputs {
        let law = declaration.laws.iter().find(|law| law.name == *name).map(|law| written_or(&law.value, ".."));
        let remedy = law.and_then(|value| sampling(&plain(name), &value));
        let remedy = remedy.unwrap_or_else(|| "let a force depend on it, or remove it".to_owned());
        report(name, format!("nothing uses the input `{name}`\nhelp: {remedy}"));
    }
    let is_named = declaration.inputs.is_empty() && declaration.has(AttributeKey::Time);
    for Variable { name, .. } in declaration.time.iter().filter(|_| is_named) {
        report(name, format!("nothing depends on the time `{name}`\nhelp: remove `time({name})`"));
    }
    for Variable { name, .. } in &declaration.parameters {
        report(name, format!("nothing uses the parameter `{name}`\nhelp: remove the field"));
    }
    for NamedExpression { name, .. } in &declaration.defines {
        report(name, format!("nothing uses the definition `{name}`\nhelp: remove it"));
    }
}

/// The notation of the time between samples, for a word that other languages have for it.
fn sampling(word: &str, value: &str) -> Option<String> {
    let every = match word {
        "period" | "dt" | "ts" | "sample" | "sampling" | "sample_time" | "interval" | "step" | "hold" => {
            value.to_owned()
        }
        "hz" | "rate" | "frequency" | "freq" | "fs" => {
            let is_whole = !value.contains(' ');
            if is_whole { format!("1 / {value}") } else { format!("1 / ({value})") }
        }
        _ => return None,
    };
    Some(format!("the time between samples of all laws is `every = {every}`"))
}

/// The names that a literal may hide: the parameter of `2m`, and the words of a text.
fn words_of_literal(token: TokenTree) -> Vec<String> {
    let TokenTree::Literal(literal) = token else { return Vec::new() };
    match Lit::new(literal) {
        Lit::Int(number) => vec![number.suffix().to_owned()],
        Lit::Float(number) => vec![number.suffix().to_owned()],
        Lit::Str(text) => text.value().split(|c: char| !c.is_alphanumeric() && c != '_').map(str::to_owned).collect(),
        _ => Vec::new(),
    }
}

/// Returns `true` if a function is called somewhere. A variable may have its name.
fn calls(declaration: &Declaration, function: &str) -> bool {
    let is_call = |pair: &[TokenTree]| match pair {
        [TokenTree::Ident(word), TokenTree::Group(_)] => plain(word) == function,
        _ => false,
    };
    declaration.expressions().any(|expression| tokens(expression.to_token_stream()).windows(2).any(is_call))
}
