//! From a [`Declaration`] to a [`Model`]: names resolved, shapes checked, every expression a scalar one.
//!
//! This is the last place that sees `syn::Expr`. Symbols are numbered as the state is laid out: the entries of the
//! coordinates, those of the momenta in the same order, then those of the parameters; matrices column by column.
//! Constraints and invariants are flattened to scalars. Every mistake is reported once, at its own token; whatever
//! depends on it is left out silently. The emitted equations are the declared ones, term for term: simplification is
//! not done here.

mod canonical;
mod evaluate;
mod functions;
mod methods;
mod numbers;
mod scope;
mod symbols;
mod value;

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Ident};

use self::canonical::Canonical;
use self::scope::{Outcome, Scope};
pub use self::symbols::{Entry, SymbolInfo};
use crate::diagnostics::Errors;
use crate::expression::Expression;
use crate::syntax::{Declaration, Named, Variable, plain};

/// What the declaration means.
#[derive(Clone, Debug)]
pub struct Model {
    /// The unknowns; the index is that of `Symbol`.
    pub symbols: Vec<SymbolInfo>,
    /// n: the symbols `0..n` are coordinates, `n..2 n` their momenta, the rest parameters.
    pub degrees_of_freedom: usize,
    /// The energy.
    pub hamiltonian: Expression,
    /// Holonomic constraints.
    pub constraints: Vec<Quantity>,
    /// Constraints on the phase space, taken as they stand: an even number.
    pub phase_constraints: Vec<Quantity>,
    /// First integrals, each entry once.
    pub invariants: Vec<Quantity>,
}

/// A named scalar function on the phase space.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// `length`, `link[3]` in a family, `momentum[0]` in a vector, `a[3][0]` in both.
    pub name: String,
    /// The same of its time derivative, a constraint's partner: `length_rate`, `link_rate[3]`.
    pub rate_name: String,
    /// The function.
    pub value: Expression,
    /// How many entries of the declared quantity it stands for.
    pub weight: u32,
    /// Where it is named.
    pub span: Span,
}

/// Gives the declaration its meaning. `None` if there are mistakes, here or in `syntax`.
pub fn elaborate(declaration: &Declaration, errors: &mut Errors) -> Option<Model> {
    let before = errors.len();
    let variables = declaration.coordinates.iter().chain(&declaration.momenta).chain(&declaration.parameters);
    let symbols: Vec<SymbolInfo> = variables.flat_map(symbols::of).collect();
    let degrees_of_freedom = declaration.coordinates.iter().map(|variable| variable.shape.entries()).sum();

    let mut scope = Scope::new(declaration, errors);
    scope.definitions();
    let hamiltonian = declaration.hamiltonian.as_ref().map(|expression| energy(&mut scope, expression));
    let constraints = quantities(&mut scope, &declaration.constraints, Kind::Constraint, degrees_of_freedom);
    let phase = quantities(&mut scope, &declaration.phase_constraints, Kind::PhaseConstraint, degrees_of_freedom);
    let invariants = quantities(&mut scope, &declaration.invariants, Kind::Invariant, degrees_of_freedom);
    let used = scope.used();

    let understood = !declaration.hidden_names && !declaration.hidden_uses && declaration.broken.is_empty();
    if let (Ok(constraints), Ok(phase), true) = (&constraints, &phase, understood) {
        count(constraints, phase, degrees_of_freedom, errors);
    }
    if !declaration.hidden_uses {
        let mistaken = errors.len() > before || !understood;
        report_unused(declaration, used, mistaken, errors);
    }
    let (Some(Ok(hamiltonian)), Ok(constraints), Ok(phase_constraints), Ok(invariants), true) =
        (hamiltonian, constraints, phase, invariants, understood && errors.is_empty())
    else {
        return None;
    };
    Some(Model { symbols, degrees_of_freedom, hamiltonian, constraints, phase_constraints, invariants })
}

/// What a named quantity is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Constraint,
    PhaseConstraint,
    Invariant,
}

fn energy(scope: &mut Scope, expression: &Expr) -> Outcome<Expression> {
    let value = scope.evaluate(expression)?;
    match value.as_scalar() {
        Some(energy) => Ok(energy.expression.clone()),
        None => Err(scope.fail(expression, format!("the Hamiltonian is a scalar, and this is {}", value.shape()))),
    }
}

/// All quantities of one kind; each mistaken one is reported.
fn quantities(scope: &mut Scope, list: &[Named], kind: Kind, degrees: usize) -> Outcome<Vec<Quantity>> {
    let all: Vec<Outcome<Vec<Quantity>>> = list.iter().map(|named| members(scope, named, kind, degrees)).collect();
    Ok(all.into_iter().collect::<Outcome<Vec<_>>>()?.into_iter().flatten().collect())
}

/// The members of a family, or the one quantity that is none. The first mistaken member speaks for all.
fn members(scope: &mut Scope, named: &Named, kind: Kind, degrees: usize) -> Outcome<Vec<Quantity>> {
    let Some(family) = &named.family else { return entries(scope, named, kind, degrees, "") };
    scope.check_family(&family.index)?;
    let mut all = Vec::new();
    for member in family.range.clone() {
        let suffix = format!("[{member}]");
        all.extend(scope.with_index(&family.index, member, |scope| entries(scope, named, kind, degrees, &suffix))?);
    }
    Ok(all)
}

/// The entries of one quantity.
fn entries(scope: &mut Scope, named: &Named, kind: Kind, degrees: usize, suffix: &str) -> Outcome<Vec<Quantity>> {
    let value = match kind {
        Kind::Constraint => scope.holonomic(&named.value)?,
        Kind::PhaseConstraint | Kind::Invariant => scope.evaluate(&named.value)?,
    };
    let stem = plain(&named.name);
    let places = Entry::all(value.shape());
    let quantities = value.into_entries().into_iter().zip(places).map(|(scalar, place)| Quantity {
        name: format!("{stem}{suffix}{place}"),
        rate_name: format!("{stem}_rate{suffix}{place}"),
        value: scalar.expression,
        weight: 1,
        span: named.name.span(),
    });
    let quantities: Vec<Quantity> = quantities.collect();
    if let Some(constant) = quantities.iter().find(|quantity| is_constant(&quantity.value, kind, degrees)) {
        let name = &constant.name;
        return Err(scope.fail_at(
            named.name.span(),
            match kind {
                Kind::Constraint => format!("the constraint `{name}` is constant: it contains no coordinate and restricts nothing"),
                Kind::PhaseConstraint => {
                    format!("the phase constraint `{name}` is constant: it contains neither coordinate nor momentum and restricts nothing")
                }
                Kind::Invariant => {
                    format!("the invariant `{name}` is constant by itself: it contains neither coordinate nor momentum; remove it")
                }
            },
        ));
    }
    Ok(if kind == Kind::Invariant { merged(quantities) } else { quantities })
}

fn is_constant(value: &Expression, kind: Kind, degrees: usize) -> bool {
    let relevant = if kind == Kind::Constraint { degrees } else { 2 * degrees };
    value.symbols().first().is_none_or(|symbol| symbol.0 as usize >= relevant)
}

/// Entries that are equal by their form (r^T r is symmetric) become one, weighted by how often it occurs, so that the
/// sum of squares remains the Frobenius norm.
fn merged(quantities: Vec<Quantity>) -> Vec<Quantity> {
    let mut places: BTreeMap<Canonical, usize> = BTreeMap::new();
    let mut kept: Vec<Quantity> = Vec::new();
    for quantity in quantities {
        let place = *places.entry(Canonical::of(&quantity.value)).or_insert(kept.len());
        match kept.get_mut(place) {
            Some(first) => first.weight += 1,
            None => kept.push(quantity),
        }
    }
    kept
}

/// The matrix of the brackets of all constraints is antisymmetric: it is singular if their number is odd. And it is
/// singular if there are more constraints on the configuration than coordinates.
fn count(constraints: &[Quantity], phase: &[Quantity], degrees: usize, errors: &mut Errors) {
    if let Some(last) = phase.last()
        && phase.len() % 2 == 1
    {
        let (number, entries) = (phase.len(), if phase.len() == 1 { "entry" } else { "entries" });
        let message = format!("the phase constraints have {number} {entries}: their number must be even");
        errors.push(last.span, format_args!("{message}, or the matrix of their brackets is singular"));
        return;
    }
    let excess = constraints.get(degrees).or_else(|| phase.get(2 * (degrees - constraints.len().min(degrees))));
    if let Some(quantity) = excess {
        let message = format!("with `{}` there are more constraints than the system has freedom", quantity.name);
        let equations = 2 * constraints.len() + phase.len();
        let rates = if constraints.is_empty() { "" } else { " with their rates" };
        errors
            .push(quantity.span, format_args!("{message}: {equations} equations{rates} on a state of {}", 2 * degrees));
    }
}

/// Whatever is declared has a purpose. What only a useless definition uses is not reported beside it. After a mistake, a name that occurs anywhere passes for used.
fn report_unused(declaration: &Declaration, mut used: BTreeSet<String>, mistaken: bool, errors: &mut Errors) {
    if mistaken {
        for expression in expressions(declaration) {
            collect_words(expression.to_token_stream(), &mut used);
        }
    }
    used.extend(declaration.broken.iter().map(plain));
    let is_used = |name: &Ident| used.contains(&plain(name));
    for (coordinate, momentum) in declaration.coordinates.iter().zip(&declaration.momenta) {
        let (q, p) = (&coordinate.name, &momentum.name);
        if !is_used(q) && !is_used(p) {
            errors.push(q.span(), format_args!("nothing uses the coordinate `{q}` or its momentum `{p}`: remove both"));
        }
    }
    for Variable { name, .. } in &declaration.parameters {
        if !is_used(name) {
            errors.push(name.span(), format_args!("nothing uses the parameter `{name}`: remove the field"));
        }
    }
    for Named { name, .. } in &declaration.defines {
        if !is_used(name) {
            errors.push(name.span(), format_args!("nothing uses the definition `{name}`: remove it"));
        }
    }
}

fn expressions(declaration: &Declaration) -> impl Iterator<Item = &Expr> {
    let quantities = declaration.constraints.iter().chain(&declaration.phase_constraints);
    let named = quantities.chain(&declaration.invariants).chain(&declaration.defines).map(|named| &named.value);
    declaration.hamiltonian.iter().chain(named)
}

fn collect_words(tokens: TokenStream, words: &mut BTreeSet<String>) {
    for token in tokens {
        match token {
            TokenTree::Ident(word) => {
                words.insert(plain(&word));
            }
            TokenTree::Group(group) => collect_words(group.stream(), words),
            TokenTree::Punct(_) | TokenTree::Literal(_) => {}
        }
    }
}
