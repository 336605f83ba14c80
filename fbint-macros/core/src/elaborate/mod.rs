//! From a [`Declaration`] to a [`Model`]: names resolved, shapes checked, every expression a scalar one.
//!
//! This is the last place that sees `syn::Expr`. Symbols are numbered as the state is laid out: the entries of the
//! coordinates and those of the momenta in the same order, or those of `state`, then those of the parameters; matrices
//! column by column. Constraints, invariants and outputs are flattened to scalars. Every mistake is reported once, at its own token; whatever
//! depends on it is left out silently. The emitted equations are the declared ones, term for term: simplification is
//! not done here.

mod canonical;
mod evaluate;
mod field;
mod functions;
mod methods;
mod multipliers;
mod numbers;
mod quantities;
mod scope;
mod symbols;
mod value;

use std::collections::BTreeSet;

use proc_macro2::{Span, TokenStream, TokenTree};
use quote::ToTokens;
use syn::{Expr, Ident};

use self::multipliers::Multipliers;
use self::quantities::{Kind, flatten, join};
use self::scope::Scope;
pub use self::symbols::{Entry, SymbolInfo};
pub use crate::derivation::Dynamics;
use crate::diagnostics::Errors;
use crate::expression::Expression;
use crate::syntax::{Declaration, Named, Variable, plain};

/// What the declaration means.
///
/// Symbols with index `symbols.len() + i` stand for multipliers: that of member i of the constraints followed by the
/// phase constraints, rates not counted. Only outputs of canonical systems contain them.
#[derive(Clone, Debug)]
pub struct Model {
    /// The unknowns, entries of the state first, then those of the parameters; the index is that of `Symbol`.
    pub symbols: Vec<SymbolInfo>,
    /// N: the symbols `0..N` are the state. In a canonical system N = 2 n, coordinates before their momenta.
    pub dimension: usize,
    /// What makes the state change.
    pub dynamics: Dynamics,
    /// Holonomic constraints of a canonical system; otherwise invariant sets g(x) = 0 of the field.
    pub constraints: Vec<Quantity>,
    /// Constraints on a canonical phase space, taken as they stand: an even number.
    pub phase_constraints: Vec<Quantity>,
    /// First integrals, each entry once.
    pub invariants: Vec<Quantity>,
    /// What is computed beside the field.
    pub outputs: Vec<Output>,
}

/// A named scalar function of the state that the flow keeps: zero or constant.
#[derive(Clone, Debug)]
pub struct Quantity {
    /// `length`, `link[3]` in a family, `momentum[0]` in a vector, `a[3][0]` in both.
    pub name: String,
    /// The same of its time derivative, a holonomic constraint's partner: `length_rate`, `link_rate[3]`.
    pub rate_name: String,
    /// The function.
    pub value: Expression,
    /// How many entries of the declared quantity it stands for.
    pub weight: u32,
    /// Where it is named.
    pub span: Span,
}

/// A named scalar function of the state and the multipliers.
#[derive(Clone, Debug)]
pub struct Output {
    /// `tension`, `force[0]`, `rod[3]`.
    pub name: String,
    /// The function.
    pub value: Expression,
    /// Where it is named.
    pub span: Span,
}

/// Gives the declaration its meaning. `None` if there are mistakes, here or in `syntax`.
pub fn elaborate(declaration: &Declaration, errors: &mut Errors) -> Option<Model> {
    let before = errors.len();
    let variables = declaration.state_variables().chain(&declaration.parameters);
    let symbols: Vec<SymbolInfo> = variables.flat_map(symbols::of).collect();
    let dimension = declaration.state_variables().map(|variable| variable.shape.entries()).sum();

    let mut scope = Scope::new(declaration, errors);
    scope.definitions();
    let dynamics = field::field(&mut scope, declaration, dimension);
    let constraint = if declaration.canonical { Kind::Holonomic } else { Kind::InvariantSet };
    let constraints = flatten(&mut scope, &declaration.constraints, constraint, dimension);
    let phase = flatten(&mut scope, &declaration.phase_constraints, Kind::PhaseConstraint, dimension);
    let invariants = flatten(&mut scope, &declaration.invariants, Kind::Invariant, dimension);
    scope.multipliers = Some(Multipliers::new(declaration, constraints.iter().chain(&phase), symbols.len()));
    let outputs = flatten(&mut scope, &declaration.outputs, Kind::Output, dimension);
    let used = scope.used();

    let (constraints, phase) = (join(constraints), join(phase));
    let understood = !declaration.hidden_names && !declaration.hidden_uses && declaration.broken.is_empty();
    if let (Ok(constraints), Ok(phase), true) = (&constraints, &phase, understood && declaration.canonical) {
        count(constraints, phase, dimension / 2, errors);
    }
    if !declaration.hidden_uses {
        let mistaken = errors.len() > before || !understood;
        report_unused(declaration, used, mistaken, errors);
    }
    let (Ok(dynamics), Ok(constraints), Ok(phase_constraints), Ok(invariants), Ok(outputs), true) =
        (dynamics, constraints, phase, join(invariants), join(outputs), understood && errors.is_empty())
    else {
        return None;
    };
    let output = |Quantity { name, value, span, .. }| Output { name, value, span };
    let outputs = outputs.into_iter().map(output).collect();
    Some(Model { symbols, dimension, dynamics, constraints, phase_constraints, invariants, outputs })
}

/// The matrix of the brackets of all constraints is antisymmetric: it is singular if their number is odd. And it is
/// singular if there are more constraints on the configuration than coordinates.
fn count(constraints: &[Quantity], phase: &[Quantity], degrees: usize, errors: &mut Errors) {
    if let Some(last) = phase.last()
        && phase.len() % 2 == 1
    {
        let (number, entries) = (phase.len(), if phase.len() == 1 { "entry" } else { "entries" });
        let message = format!("the phase constraints have {number} {entries}: their number must be even");
        let has_momentum =
            last.value.symbols().iter().any(|symbol| (degrees..2 * degrees).contains(&(symbol.0 as usize)));
        let remedy = if has_momentum { "" } else { ", or declare it as `constraint`, which adds its rate" };
        let remedy = format!("add the one that is conjugate to `{}`{remedy}", last.name);
        errors.push(last.span, format_args!("{message}, or the matrix of their brackets is singular; {remedy}"));
        return;
    }
    let excess = constraints.get(degrees).or_else(|| phase.get(2 * (degrees - constraints.len().min(degrees))));
    if let Some(quantity) = excess {
        let message = format!("with `{}` there are more constraints than the system has freedom", quantity.name);
        let equations = 2 * constraints.len() + phase.len();
        let rates = if constraints.is_empty() { "" } else { " with their rates" };
        let count = format!("{equations} equations{rates} on a state of {}", 2 * degrees);
        errors.push(quantity.span, format_args!("{message}: {count}; remove some"));
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
    let named = quantities.chain(&declaration.invariants).chain(&declaration.outputs);
    let named = named.chain(&declaration.defines).chain(&declaration.dynamics).map(|named| &named.value);
    declaration.hamiltonian.iter().chain(&declaration.poisson).chain(named)
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
