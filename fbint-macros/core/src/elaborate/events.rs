//! Events, sections and drawings: the scalars that they are made of, and where each stands among them.

use std::collections::BTreeMap;
use std::ops::Range;

use syn::{BinOp, Expr};

use super::quantities::{each_member, suffix};
use super::scope::{Reported, Scope, every};
use super::value::ShapedExpression;
use crate::derivation::Role;
use crate::expression::{Expression, Symbol};
use crate::syntax::written::difference;
use crate::syntax::{
    Crossing, EventDeclaration, NamedExpression, Shape, ShapeArgument, ShapeDeclaration, ShapeKind, Variable,
    did_you_mean, integer, peel, plain,
};

/// The events and the drawing of a model.
#[derive(Clone, Debug, Default)]
pub struct Scenery {
    /// Events, then sections, in the order of the declaration.
    pub events: Vec<Event>,
    /// Their functions of the state, the time and the parameters.
    pub event_values: Vec<Expression>,
    /// The shapes of the drawing.
    pub shapes: Vec<DrawnShape>,
    /// Their coordinates and lengths.
    pub drawing_values: Vec<Expression>,
}

/// An event, by places of its functions.
#[derive(Clone, Debug)]
pub struct Event {
    /// `floor`, `wall[2]` in a family.
    pub name: String,
    /// The direction in which its function has to pass 0, unless both count.
    pub direction: Option<Crossing>,
    /// `true` if it ends the run.
    pub is_terminal: bool,
    /// The number of the occurrence that ends the run.
    pub count: Option<u64>,
    /// `true` if it is a section.
    pub is_section: bool,
    /// The function.
    pub value: usize,
    /// Functions that are positive where it counts.
    pub conditions: Range<usize>,
    /// The first entry of the state after it.
    pub reset: Option<usize>,
}

/// A shape, by the places of its arguments.
#[derive(Clone, Debug)]
pub struct DrawnShape {
    /// Its sort.
    pub kind: ShapeKind,
    /// The entries of each argument.
    pub arguments: Vec<Range<usize>>,
}

impl Scenery {
    /// The scenery of a declaration; reports each mistake.
    pub(super) fn of(scope: &mut Scope) -> Reported<Self> {
        let declaration = scope.declaration;
        let mut scenery = Self::default();
        let events = declaration.events.iter().map(|event| (event, false));
        let all = events.chain(declaration.sections.iter().map(|section| (section, true)));
        let events = all.map(|(event, is_section)| {
            each_member(scope, event.named.family.as_ref(), |scope, member| {
                scenery.add_event(scope, event, is_section, member)
            })
        });
        let events = every(events.collect::<Vec<_>>().into_iter());
        let shapes = declaration
            .shapes
            .iter()
            .chain(&declaration.film)
            .map(|shape| each_member(scope, shape.family.as_ref(), |scope, _| scenery.add_shape(scope, shape)));
        let shapes = every(shapes.collect::<Vec<_>>().into_iter());
        events.and(shapes).map(|_| scenery)
    }

    fn add_event(
        &mut self,
        scope: &mut Scope,
        EventDeclaration { named, direction, is_terminal, count, condition, resets }: &EventDeclaration,
        is_section: bool,
        member: Option<i64>,
    ) -> Reported<()> {
        let (what, name) = (if is_section { "section" } else { "event" }, format!("{}{}", named.name, suffix(member)));
        if let Expr::Binary(comparison) = peel(&named.value)
            && let Some(direction) = crossing(comparison.op)
        {
            let difference = difference(&comparison.left, &comparison.right);
            let message =
                format!("the {what} `{name}` is where a function passes 0\nhelp: write `{difference}, {direction}`");
            return scope.fail(comparison.op, message);
        }
        let function = number(scope, &named.value, &format!("the {what} `{name}`"));
        let conditions = condition.as_ref().map_or(Ok(Vec::new()), |condition| conditions(scope, condition));
        let reset = reset(scope, resets);
        let count = count.as_ref().map(|count| occurrence(scope, count)).transpose();
        let (function, conditions, reset, count) = (function?, conditions?, reset?, count?);
        let varies = |symbol: Symbol| scope.symbols.is_state(symbol) || scope.role(symbol) == Some(Role::Input);
        if !function.symbols().into_iter().any(varies) {
            let message = format!(
                "the {what} `{name}` never occurs: its function contains no variable of the state and no input"
            );
            return scope.fail_at(named.name.span(), message);
        }
        let value = add(&mut self.event_values, [function]).start;
        let conditions = add(&mut self.event_values, conditions);
        let reset = reset.map(|entries| add(&mut self.event_values, entries).start);
        let is_terminal = *is_terminal || count.is_some();
        self.events.push(Event {
            name,
            direction: *direction,
            is_terminal,
            count,
            is_section,
            value,
            conditions,
            reset,
        });
        Ok(())
    }

    fn add_shape(
        &mut self,
        scope: &mut Scope,
        ShapeDeclaration { kind, word, arguments, .. }: &ShapeDeclaration,
    ) -> Reported<()> {
        let mut values = Vec::new();
        let mut points: Option<Shape> = None;
        for (index, written) in arguments.iter().enumerate() {
            let value = scope.evaluate(written)?;
            refuse_foreign(scope, written, &value, &format!("this `{word}`"))?;
            let (shape, (argument, sort)) = (value.shape(), kind.argument(index));
            let (fits, expected) = match sort {
                ShapeArgument::Length => (shape == Shape::Scalar, "a number"),
                ShapeArgument::Axis if kind.is_of_film() => {
                    (shape == Shape::Vector(3), "a direction in space, a vector of 3")
                }
                ShapeArgument::Axis => (shape == Shape::Vector(3), "a vector of 3"),
                ShapeArgument::Rotation => {
                    let is_matrix = shape == Shape::Matrix { rows: 3, columns: 3 };
                    (is_matrix || shape == Shape::Scalar, "an angle, or a matrix of 3 rows and columns")
                }
                ShapeArgument::Point => (matches!(shape, Shape::Vector(2 | 3)), "a point, a vector of 2 or 3"),
            };
            if !fits {
                return scope.fail(written, format!("the {argument} of a `{word}` is {expected}, and this is {shape}"));
            }
            if sort == ShapeArgument::Point && points.replace(shape).is_some_and(|before| before != shape) {
                return scope.fail(written, format!("the points of a `{word}` have the same number of entries"));
            }
            values.push(every(value.into_entries().iter().map(|entry| scope.settled(entry)))?);
        }
        let arguments = values.into_iter().map(|entries| add(&mut self.drawing_values, entries)).collect();
        self.shapes.push(DrawnShape { kind: *kind, arguments });
        Ok(())
    }
}

/// Adds expressions to a list, and gives their places.
fn add(list: &mut Vec<Expression>, expressions: impl IntoIterator<Item = Expression>) -> Range<usize> {
    let first = list.len();
    list.extend(expressions);
    first..list.len()
}

/// A number that follows from the state, the time, the inputs and the parameters.
fn number(scope: &mut Scope, written: &Expr, what: &str) -> Reported<Expression> {
    let value = scope.evaluate(written)?;
    scope.settled(&scope.only(written, &value, format_args!("{what} is a number"), "")?)
}

/// Refuses inputs, which are known only while a run is made.
fn refuse_foreign(scope: &Scope, written: &Expr, value: &ShapedExpression, what: &str) -> Reported<()> {
    let message = |input: &str| {
        format!("{what} contains the input `{input}`: it has to follow from the state, the time and the parameters")
    };
    scope.refuse(written, value, |role| role == Role::Input, message)
}

/// The direction in which the difference of the sides of a comparison passes 0 where it becomes true.
fn crossing(comparison: BinOp) -> Option<&'static str> {
    match comparison {
        BinOp::Lt(_) | BinOp::Le(_) => Some("falling"),
        BinOp::Gt(_) | BinOp::Ge(_) => Some("rising"),
        _ => None,
    }
}

/// Functions that are positive where a condition holds.
fn conditions(scope: &mut Scope, written: &Expr) -> Reported<Vec<Expression>> {
    let advice = "a condition compares two numbers by `<` or `>`, as in `when = p > 0`, and `&&` joins several";
    let Expr::Binary(binary) = peel(written) else { return scope.fail(written, advice.to_owned()) };
    let (smaller, larger) = match binary.op {
        BinOp::And(_) => {
            let (left, right) = (conditions(scope, &binary.left), conditions(scope, &binary.right));
            let (mut all, right) = (left?, right?);
            all.extend(right);
            return Ok(all);
        }
        BinOp::Lt(_) | BinOp::Le(_) => (&binary.left, &binary.right),
        BinOp::Gt(_) | BinOp::Ge(_) => (&binary.right, &binary.left),
        _ => return scope.fail(written, advice.to_owned()),
    };
    let [smaller, larger] = [smaller, larger].map(|side| number(scope, side, "a side of a condition"));
    Ok(vec![larger? - smaller?])
}

/// The number of an occurrence, from 1.
fn occurrence(scope: &Scope, written: &Expr) -> Reported<u64> {
    match integer(written).filter(|number| *number >= 1) {
        Some(number) => Ok(number),
        None => scope.fail(written, "`count` is the number of the occurrence that ends the run, from 1".to_owned()),
    }
}

/// Every entry of the state after an event, unless it changes nothing.
fn reset(scope: &mut Scope, resets: &[NamedExpression]) -> Reported<Option<Vec<Expression>>> {
    if resets.is_empty() {
        return Ok(None);
    }
    let given = every(resets.iter().map(|reset| given(scope, reset)).collect::<Vec<_>>().into_iter())?;
    let mut changed: BTreeMap<Symbol, Expression> = given.into_iter().flatten().collect();
    let states = scope.symbols.ids().filter(|symbol| scope.symbols.is_state(*symbol));
    Ok(Some(states.map(|symbol| changed.remove(&symbol).unwrap_or_else(|| Expression::from(symbol))).collect()))
}

/// The entries of a variable after an event.
fn given(scope: &mut Scope, reset: &NamedExpression) -> Reported<Vec<(Symbol, Expression)>> {
    let (declaration, name) = (scope.declaration, plain(&reset.name));
    let kept = declaration.time.iter().chain(&declaration.work);
    if kept.clone().any(|variable| plain(&variable.name) == name) {
        return scope.fail_at(reset.name.span(), format!("no event changes `{name}`: it stays as it is"));
    }
    let is_kept = |variable: &Variable| kept.clone().any(|other| other.name == variable.name);
    let variables: Vec<&Variable> = declaration.state_variables().filter(|variable| !is_kept(variable)).collect();
    let names: Vec<String> = variables.iter().map(|variable| plain(&variable.name)).collect();
    if !names.contains(&name) {
        let question = did_you_mean(&name, names.iter().map(String::as_str));
        let remedy = question.unwrap_or_else(|| format!("it has {}", names.join(", ")));
        return scope.fail_at(reset.name.span(), format!("the state has no variable `{name}`\nhelp: {remedy}"));
    }
    let value = scope.evaluate(&reset.value)?;
    let entries = scope.given("the reset of", variables.into_iter(), reset, value)?;
    every(entries.into_iter().map(|(symbol, entry)| Ok((symbol, scope.settled(&entry)?))))
}
