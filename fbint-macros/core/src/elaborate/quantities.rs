//! Constraints, invariants and outputs, flattened to scalars.

use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::Span;

use super::scope::{Reported, Scope};
use super::symbols::EntryIndex;
use super::value::ShapedExpression;
use crate::derivation::{EntryOf, Role, SparseRow};
use crate::expression::{Expression, Symbol};
use crate::syntax::{ASSUME, Family, NamedExpression, Shape, plain, words};

/// A named scalar function of the state.
#[derive(Clone, Debug)]
pub(super) struct ScalarQuantity {
    /// `length`, `link[3]` in a family, `momentum[0]` in a vector, `a[3][0]` in both.
    pub(super) name: String,
    /// Its place in what is declared.
    pub(super) entry: EntryOf,
    /// The name that its time derivative would have: `length_rate`, `link_rate[3]`.
    pub(super) rate_name: String,
    /// The function.
    pub(super) value: Expression,
    /// The number of entries of the declared quantity for which it stands.
    pub(super) weight: u32,
    /// Set if its conservation is assumed.
    pub(super) assumed: bool,
    /// The row along which its reaction acts, of a velocity constraint, and its part without velocities.
    pub(super) along: SparseRow,
    pub(super) offset: Expression,
    /// Where it is named.
    pub(super) span: Span,
}

impl ScalarQuantity {
    /// The place of its time derivative in the rate of what is declared.
    pub(super) fn rate_entry(&self) -> EntryOf {
        EntryOf { name: format!("{}_rate", self.entry.name), index: self.entry.index.clone() }
    }
}

/// The purpose of a named quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// g(q) = 0 of a canonical or a Lagrangian system.
    Holonomic,
    /// A constraint like those, which others imply.
    Redundant,
    /// g(x) = 0 of a field that is given or has a Poisson matrix.
    InvariantSet,
    PhaseConstraint,
    /// f = A(q) q' + b = 0
    VelocityConstraint,
    Invariant,
    Output,
}

/// A declared quantity.
pub(super) struct Quantity<'d> {
    pub(super) named: &'d NamedExpression,
    pub(super) purpose: Purpose,
    pub(super) flattened: Reported<Flattened>,
}

/// The scalars that a declared quantity is kept as.
#[derive(Clone, Debug)]
pub(super) struct Flattened {
    pub(super) kept: Vec<ScalarQuantity>,
    /// The members of a family, or the only one of a quantity that is not a family.
    pub(super) members: Vec<FamilyMember>,
}

/// One member of a declared quantity.
#[derive(Clone, Debug)]
pub(super) struct FamilyMember {
    pub(super) shape: Shape,
    /// For each entry the place in `kept`: equal entries have one.
    pub(super) places: Vec<usize>,
}

impl Quantity<'_> {
    /// Its scalars; none if it is mistaken.
    pub(super) fn scalars(&self) -> impl Iterator<Item = &ScalarQuantity> {
        self.flattened.iter().flat_map(|flattened| &flattened.kept)
    }
}

/// All quantities of one kind; each mistaken one is reported.
pub(super) fn flatten<'d>(
    scope: &mut Scope,
    all: impl IntoIterator<Item = &'d NamedExpression>,
    purpose: Purpose,
) -> Vec<Quantity<'d>> {
    let mut quantity = |named| Quantity { named, purpose, flattened: members(scope, named, purpose) };
    all.into_iter().map(&mut quantity).collect()
}

/// The scalars of the quantities of one kind that are not mistaken.
pub(super) fn scalars<'q>(all: &'q [Quantity], purpose: Purpose) -> impl Iterator<Item = &'q ScalarQuantity> {
    all.iter().filter(move |quantity| quantity.purpose == purpose).flat_map(Quantity::scalars)
}

/// The members of a family, or the only one of a quantity that is not a family. Only the first mistaken member is reported.
fn members(scope: &mut Scope, named: &NamedExpression, kind: Purpose) -> Reported<Flattened> {
    let mut all = Flattened { kept: Vec::new(), members: Vec::new() };
    each_member(scope, named.family.as_ref(), |scope, index| member(scope, named, kind, index, &mut all))?;
    Ok(all)
}

/// The index behind the name of a member of a family: `[3]`.
pub(super) fn suffix(member: Option<i64>) -> String {
    member.map_or_else(String::new, |index| format!("[{index}]"))
}

/// Calls `member` for each index of a family, or once with none. Stops at the first mistake.
pub(super) fn each_member(
    scope: &mut Scope,
    family: Option<&Family>,
    mut member: impl FnMut(&mut Scope, Option<i64>) -> Reported<()>,
) -> Reported<()> {
    let Some(family) = family else { return member(scope, None) };
    scope.check_family(&family.index)?;
    for index in family.range.clone() {
        scope.with_index(&family.index, index, |scope| member(scope, Some(index)))?;
    }
    Ok(())
}

/// Adds the entries of one member.
fn member(
    scope: &mut Scope,
    named: &NamedExpression,
    kind: Purpose,
    index: Option<i64>,
    all: &mut Flattened,
) -> Reported<()> {
    let value = scope.evaluate(&named.value)?;
    refuse_motion(scope, named, &value, kind)?;
    if kind != Purpose::Output {
        let what = format!("`{}`", named.name);
        scope.refuse_inputs(&named.value, &value, &what)?;
        scope.refuse_switches(&named.value, &value, &what)?;
    }
    let shape = value.shape();
    let has_vanished = value.symbols().any(|symbol| matches!(scope.role(symbol), Some(Role::Vanishing { .. })));
    let mut quantities = entries(named, value, index);
    for quantity in &mut quantities {
        if kind == Purpose::VelocityConstraint {
            (quantity.along, quantity.offset) = scope.linear_in_velocities(named, &quantity.name, &quantity.value)?;
            quantity.value = scope.settled(&quantity.value)?;
        } else {
            quantity.value = scope.settled(&quantity.value)?;
        }
        // The rate of an entry of a `state` may contain an input.
        if kind != Purpose::Output {
            let settled = quantity.value.clone().into();
            scope.refuse_inputs(&named.value, &settled, &format!("`{}`", named.name))?;
        }
    }
    let varies = |value: &Expression| value.symbols().into_iter().any(|symbol| scope.symbols.is_state(symbol));
    let mut restricting = quantities.iter().filter(|_| kind != Purpose::Output);
    if let Some(constant) = restricting.find(|quantity| !varies(&quantity.value)) {
        return scope.fail_at(named.name.span(), constancy(&constant.name, kind, has_vanished));
    }
    // Equal entries of a matrix come from its symmetry; those of a vector of constraints are a slip, which the brackets of a canonical
    // system bring to light.
    let is_matrix = matches!(shape, Shape::Matrix { .. });
    let are_merged = kind == Purpose::Invariant || kind != Purpose::Output && is_matrix;
    let places = keep(quantities, are_merged, &mut all.kept);
    all.members.push(FamilyMember { shape, places });
    Ok(())
}

/// Refuses momenta and velocities in a constraint on coordinates, and momenta in one on velocities, at the first word that stands for
/// one in the value.
fn refuse_motion(scope: &Scope, named: &NamedExpression, value: &ShapedExpression, kind: Purpose) -> Reported<()> {
    let is_momentum = |symbol: Symbol| matches!(scope.role(symbol), Some(Role::Momentum { .. }));
    let is_refused = |symbol: &Symbol| match scope.role(*symbol) {
        Some(Role::Momentum { .. }) => {
            matches!(kind, Purpose::Holonomic | Purpose::Redundant | Purpose::VelocityConstraint)
        }
        Some(Role::Velocity | Role::Vanishing { .. } | Role::Rate { .. } | Role::Conjugate { .. }) => {
            matches!(kind, Purpose::Holonomic | Purpose::Redundant)
        }
        _ => false,
    };
    let refused: BTreeSet<Symbol> = value.symbols().filter(is_refused).collect();
    let Some(first) = refused.first().copied() else { return Ok(()) };
    let blamed = words(&named.value).find_map(|word| {
        let symbol = scope.stands_for(&word).into_iter().find(|symbol| refused.contains(symbol))?;
        Some((word, symbol))
    });
    let (word, symbol) = blamed.unwrap_or_else(|| (named.name.clone(), first));
    let name = scope.whole(symbol);
    let motion = match scope.role(symbol) {
        Some(Role::Momentum { .. } | Role::Conjugate { .. }) => "momentum",
        _ => "velocity",
    };
    let is_contained = scope.declaration.defines.iter().any(|define| plain(&define.name) == plain(&word));
    let what = match is_contained {
        true => format!("`{word}` contains the {motion} `{name}`"),
        false => format!("`{name}` is a {motion}"),
    };
    let message = match kind {
        Purpose::VelocityConstraint => format!(
            "{what}, and a velocity constraint is written in rates: `rate(x)` is dH/dp\nhelp: for a relation among momenta use \
             `phase_constraint`"
        ),
        _ if is_momentum(symbol) => {
            format!("{what}, but a `constraint` holds between coordinates only\nhelp: use `phase_constraint`")
        }
        _ => format!("{what}: a `constraint` restricts coordinates\nhelp: use `velocity_constraint`"),
    };
    scope.fail_at(word.span(), message)
}

/// The mistake of a constant quantity.
fn constancy(name: &str, kind: Purpose, has_vanished: bool) -> String {
    let what = match kind {
        Purpose::VelocityConstraint if has_vanished => {
            return format!("`{name}` restricts no velocity: those in it are put to zero already\nhelp: remove it");
        }
        Purpose::VelocityConstraint => "velocity constraint",
        Purpose::PhaseConstraint => "phase constraint",
        Purpose::Holonomic | Purpose::Redundant | Purpose::InvariantSet => "constraint",
        Purpose::Invariant | Purpose::Output => "invariant",
    };
    let variable =
        if matches!(kind, Purpose::Holonomic | Purpose::Redundant) { "coordinate" } else { "variable of the state" };
    match what {
        "invariant" => {
            format!("the invariant `{name}` is constant by itself: it contains no {variable}\nhelp: remove it")
        }
        _ => format!("the {what} `{name}` is constant: it contains no {variable} and restricts nothing"),
    }
}

fn entries(named: &NamedExpression, value: ShapedExpression, member: Option<i64>) -> Vec<ScalarQuantity> {
    let declared = plain(&named.name);
    let suffix = suffix(member);
    let places = EntryIndex::all(value.shape());
    let quantity = |(value, place): (Expression, EntryIndex)| ScalarQuantity {
        name: format!("{declared}{suffix}{place}"),
        entry: EntryOf { name: declared.clone(), index: member.into_iter().chain(place.numbers()).collect() },
        rate_name: format!("{declared}_rate{suffix}{place}"),
        value,
        weight: 1,
        assumed: named.is_marked(ASSUME),
        along: SparseRow::new(),
        offset: Expression::zero(),
        span: named.name.span(),
    };
    value.into_entries().into_iter().zip(places).map(quantity).collect()
}

/// Adds entries to those that are kept, and gives the place of each. Where they are merged, entries that are equal by their form
/// (r^T r is symmetric) become one, weighted by how often it occurs, so that the sum of squares remains the Frobenius norm.
fn keep(quantities: Vec<ScalarQuantity>, are_merged: bool, kept: &mut Vec<ScalarQuantity>) -> Vec<usize> {
    let mut forms: BTreeMap<Expression, usize> = BTreeMap::new();
    let mut places = Vec::new();
    for quantity in quantities {
        let place = match are_merged {
            true => *forms.entry(ordered(&quantity.value)).or_insert(kept.len()),
            false => kept.len(),
        };
        match kept.get_mut(place) {
            Some(first) => first.weight += 1,
            None => kept.push(quantity),
        }
        places.push(place);
    }
    places
}

/// Equal for two expressions that differ in nothing but the order of terms and factors.
fn ordered(expression: &Expression) -> Expression {
    expression.transformed(&|part, ordered| {
        let sorted = |parts: &[Expression]| {
            let mut parts: Vec<Expression> = parts.iter().map(ordered).collect();
            parts.sort();
            parts.into()
        };
        match part {
            Expression::Sum(terms) => Expression::Sum(sorted(terms)),
            Expression::Product(factors) => Expression::Product(sorted(factors)),
            other => other.mapped(ordered),
        }
    })
}
