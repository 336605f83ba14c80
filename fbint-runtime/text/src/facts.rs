//! A text model's description, in the runtime's words.

use std::any::{Any, TypeId};
use std::collections::{BTreeMap, BTreeSet};
use std::iter;
use std::sync::{Mutex, PoisonError};

use fbint_catalogue::printable;
use fbint_macros_core::derivation::table::Id;
use fbint_macros_core::derivation::{self, EntryOf, IntegralId, Kind, Role, SymbolInfo, groups};
use fbint_macros_core::expression::Symbol;
use fbint_macros_core::program::{FEEDBACK_FIELD, OperationCount, VECTOR_FIELD};
use fbint_macros_core::text::{self, Crossing, DrawnShape, Event, Model};
use fbint_runtime::{
    Conservation, CrossingDirection, Declared, DeclaredEvent, DeclaredShape, Evidence, Integral, IntegralKind,
    KineticEnergy, Operations, ShapeKind, StateEntry, StateRole, SystemFacts,
};

/// The facts of a model. They stay in memory for as long as the program runs, once: texts that differ in numbers alone share them.
pub(crate) fn facts(model: &Model) -> &'static SystemFacts {
    let symbols = &model.derivation.symbols;
    let name = |symbol| kept(symbols[symbol].name.clone());
    let variables = symbols.variables();
    let entry = |variable, symbol: &Symbol| state_entry(&symbols[*symbol], variable);
    let of_variable = |(variable, (_, entries)): (usize, &(&str, Vec<Symbol>))| {
        entries.iter().map(|symbol| entry(variable, symbol)).collect::<Vec<_>>()
    };
    let state = list(variables.iter().enumerate().flat_map(of_variable));
    let operations = [&VECTOR_FIELD, &FEEDBACK_FIELD].map(|field| operations(model.programs[field].operations()));
    let facts = SystemFacts {
        state,
        variables: declared(symbols.states().map(|symbol| &symbols[symbol].entry)),
        clock: StateEntry::clock(state),
        integrals: list(model.derivation.integrals.ids().map(|id| integral(model, id))),
        declared_integrals: declared(model.derivation.integrals.rows().map(|integral| &integral.entry)),
        parameter_names: list(symbols.parameters().map(name)),
        parameters: declared(symbols.parameters().map(|symbol| &symbols[symbol].entry)),
        input_names: list(symbols.inputs().map(name)),
        inputs: declared(symbols.inputs().map(|symbol| &symbols[symbol].entry)),
        outputs: declared(model.derivation.outputs.iter().map(|output| &output.entry)),
        open_inputs: list(model.derivation.open_inputs().map(name)),
        output_names: list(model.derivation.outputs.iter().map(|output| kept(output.name.clone()))),
        events: list(model.scenery.events.iter().map(event)),
        switches: list(model.switches.iter().map(|switch| kept(switch.clone()))),
        law_delay: model.sampling.as_ref().map(|(_, delay)| *delay),
        shapes: list(model.scenery.shapes.iter().map(shape)),
        prepared_numbers: model.programs.prepare.outputs.len(),
        kinetic_energy: kinetic_energy(model.findings.kinetic_energy),
        has_hamel_steps: model.has_hamel_steps(),
        // Without the key it is taken by dual numbers.
        has_jacobian: true,
        vector_field_operations: operations[0],
        feedback_field_operations: operations[1],
        undeclared: list(model.undeclared.iter().cloned().map(kept)),
        doubts: list(model.doubts.iter().cloned().map(kept)),
        name: kept(model.name.clone()),
        summary: kept(printable(&model.summary)),
        // The model has them, as long as there is one.
        source: "",
        derivation: "",
        equations: "",
    };
    &list(iter::once(facts))[0]
}

/// The words that were kept.
static WORDS: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());

/// The lists of each type that were kept, as vectors of `&'static [T]`.
static LISTS: Mutex<BTreeMap<TypeId, Box<dyn Any + Send>>> = Mutex::new(BTreeMap::new());

/// The text, which is kept once for all models.
fn kept(text: String) -> &'static str {
    let mut words = WORDS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(known) = words.get(&*text) {
        return known;
    }
    let word = text.leak();
    words.insert(word);
    word
}

/// The list, which is kept once for all models.
fn list<T: PartialEq + Send + Sync + 'static>(entries: impl Iterator<Item = T>) -> &'static [T] {
    let entries: Vec<T> = entries.collect();
    let mut lists = LISTS.lock().unwrap_or_else(PoisonError::into_inner);
    let lists = lists.entry(TypeId::of::<T>()).or_insert_with(|| Box::new(Vec::<&'static [T]>::new()));
    let Some(known) = lists.downcast_mut::<Vec<&'static [T]>>() else { return entries.leak() };
    if let Some(same) = known.iter().find(|list| ***list == *entries) {
        return same;
    }
    let list = entries.leak();
    known.push(list);
    list
}

fn declared<'e>(entries: impl Iterator<Item = &'e EntryOf>) -> &'static [Declared] {
    list(groups(entries).into_iter().map(|group| Declared {
        name: kept(group.name.to_owned()),
        first: group.first,
        indices: list(group.indices.into_iter().map(|index| list(index.iter().copied()))),
    }))
}

fn state_entry(symbol: &SymbolInfo, variable: usize) -> StateEntry {
    let role = match symbol.role {
        Role::Coordinate { momentum } => StateRole::Coordinate { momentum: momentum.place() },
        Role::Momentum { coordinate } => StateRole::Momentum { coordinate: coordinate.place() },
        Role::Position => StateRole::Position,
        Role::Velocity => StateRole::Velocity,
        Role::Time => StateRole::Time,
        Role::Work => StateRole::Work,
        _ => StateRole::Variable,
    };
    StateEntry { name: kept(symbol.name.clone()), variable, role }
}

fn event(event: &Event) -> DeclaredEvent {
    let direction = match event.direction {
        Some(Crossing::Rising) => CrossingDirection::Rising,
        Some(Crossing::Falling) => CrossingDirection::Falling,
        None => CrossingDirection::Any,
    };
    let Event { is_terminal, count, is_section, value, reset, .. } = *event;
    let (name, conditions) = (kept(event.name.clone()), [event.conditions.start, event.conditions.end]);
    DeclaredEvent { name, direction, is_terminal, count, is_section, value, conditions, reset }
}

fn shape(shape: &DrawnShape) -> DeclaredShape {
    let kind = match shape.kind {
        text::ShapeKind::Rod => ShapeKind::Rod,
        text::ShapeKind::Pivot => ShapeKind::Pivot,
        text::ShapeKind::Point => ShapeKind::Point,
        text::ShapeKind::Trace => ShapeKind::Trace,
        text::ShapeKind::Spring => ShapeKind::Spring,
        text::ShapeKind::Arrow => ShapeKind::Arrow,
        text::ShapeKind::Guide => ShapeKind::Guide,
        text::ShapeKind::Face => ShapeKind::Face,
        text::ShapeKind::Circle => ShapeKind::Circle,
        text::ShapeKind::Hoop => ShapeKind::Hoop,
        text::ShapeKind::Disk => ShapeKind::Disk,
        text::ShapeKind::Body => ShapeKind::Body,
        text::ShapeKind::Frame => ShapeKind::Frame,
        text::ShapeKind::Centre => ShapeKind::Centre,
        text::ShapeKind::Range => ShapeKind::Range,
        text::ShapeKind::View => ShapeKind::View,
    };
    DeclaredShape { kind, arguments: list(shape.arguments.iter().map(|entries| [entries.start, entries.len()])) }
}

fn integral(model: &Model, id: IntegralId) -> Integral {
    let integral = &model.derivation.integrals[id];
    let kind = match integral.kind {
        Kind::Holonomic { rate } => IntegralKind::HolonomicConstraint { rate: rate.place() },
        Kind::Rate { of } => IntegralKind::ConstraintRate { constraint: of.place() },
        Kind::Phase | Kind::InvariantSet => IntegralKind::Constraint,
        Kind::Redundant => IntegralKind::RedundantConstraint,
        Kind::Velocity => IntegralKind::VelocityConstraint,
        Kind::Energy => IntegralKind::Energy,
        Kind::Invariant => IntegralKind::Invariant,
    };
    let conservation = match model.findings.conservation[id] {
        derivation::Conservation::Everywhere(how) => Conservation::Everywhere(evidence(how)),
        derivation::Conservation::OnConstraints(how) => Conservation::OnConstraints(evidence(how)),
        derivation::Conservation::Assumed => Conservation::Assumed,
    };
    Integral { name: kept(integral.name.clone()), kind, weight: f64::from(integral.weight), conservation }
}

fn evidence(evidence: derivation::Evidence) -> Evidence {
    match evidence {
        derivation::Evidence::Construction => Evidence::Construction,
        derivation::Evidence::Algebra => Evidence::Algebra,
        derivation::Evidence::Kept => Evidence::Kept,
    }
}

fn kinetic_energy(energy: derivation::KineticEnergy) -> KineticEnergy {
    match energy {
        derivation::KineticEnergy::General => KineticEnergy::General,
        derivation::KineticEnergy::Separable => KineticEnergy::Separable,
        derivation::KineticEnergy::Quadratic => KineticEnergy::Quadratic,
    }
}

fn operations(count: OperationCount) -> Operations {
    let OperationCount { additions, multiplications, fused, divisions, functions } = count;
    Operations { additions, multiplications, fused, divisions, functions }
}
