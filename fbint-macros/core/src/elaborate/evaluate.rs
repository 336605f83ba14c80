//! Rust's expression syntax read as mathematics: operators, literals, names, indexing.

use num_rational::BigRational;
use num_traits::{One, ToPrimitive};
use quote::ToTokens;
use syn::{BinOp, Expr, ExprBinary, ExprField, ExprIndex, ExprPath, Ident, Member, RangeLimits, Stmt, UnOp};

use super::foreign;
use super::methods::Value;
use super::numbers;
use super::scope::{Poison, Reported, Scope, every};
use super::value::{ShapedExpression, unrepresentable};
use crate::expression::{DivisionByZero, Expression};
use crate::syntax::habits::SWITCH;
use crate::syntax::written::{difference, written_or};
use crate::syntax::{Shape, peel, plain, words};

/// The deepest recursion. Definitions within definitions count with everything that is open in them.
const MAX_LEVEL: usize = 300;
/// The limit on work: an evaluated entry counts 1, and so do a hundred parts of entries. It bounds the time of nested sums.
const MAX_WORK: usize = 300_000;
/// The number of parts that take as long to look at as an entry takes to be evaluated.
const PARTS_OF_AN_ENTRY: usize = 100;

impl Scope<'_> {
    /// The value of an expression. Stays within the limits whatever the expression is.
    pub(super) fn evaluate(&mut self, expression: &Expr) -> Value {
        if self.exhausted {
            return Err(Poison);
        }
        if self.work > MAX_WORK {
            self.exhausted = true;
            return self.fail(expression, format!("this model takes more than {MAX_WORK} steps to write out"));
        }
        if self.level == MAX_LEVEL {
            self.exhausted = true;
            let message = "this is nested too deeply\nhelp: name inner parts with `define`, each before its use";
            return self.fail(expression, message);
        }
        self.level += 1;
        let value = self.dispatch(expression);
        self.level -= 1;
        self.limited(value?, expression)
    }

    fn dispatch(&mut self, expression: &Expr) -> Value {
        match expression {
            Expr::Lit(literal) => match numbers::exact(&literal.lit) {
                Ok(number) => Ok(Expression::Number(number).into()),
                Err(message) => self.fail(literal, message),
            },
            Expr::Path(path) => self.path(path),
            Expr::Paren(inner) => self.evaluate(&inner.expr),
            Expr::Group(inner) => self.evaluate(&inner.expr),
            Expr::Reference(inner) if inner.mutability.is_none() => self.evaluate(&inner.expr),
            Expr::Block(block) if block.label.is_none() => match &block.block.stmts[..] {
                [Stmt::Expr(inner, None)] => self.evaluate(inner),
                _ => {
                    self.fail(block, "a block holds one expression here\nhelp: name intermediate results with `define`")
                }
            },
            Expr::Unary(unary) => match unary.op {
                UnOp::Neg(_) => Ok(self.evaluate(&unary.expr)?.map(|entry| -entry)),
                UnOp::Deref(star) => self.fail(
                    star,
                    "a `*` in front of an operand has no meaning here\nhelp: a power is written `x.powi(2)`",
                ),
                op => self.fail(op, format!("`{}` has no meaning for real numbers", op.to_token_stream())),
            },
            Expr::Binary(binary) => self.binary(binary),
            Expr::If(conditional) => self.conditional(conditional),
            Expr::Index(index) => self.index(index),
            Expr::Field(field) => self.field(field),
            Expr::MethodCall(call) => self.method(call),
            Expr::Call(call) => self.call(call),
            Expr::Macro(call) => self.macro_call(&call.mac),
            // What could not be read has been reported.
            Expr::Verbatim(_) => Err(Poison),
            other => self.no_mathematics(other),
        }
    }

    /// Reports syntax that is not part of the language, with what to write instead.
    fn no_mathematics<T>(&self, expression: &Expr) -> Reported<T> {
        match expression {
            Expr::Cast(cast) => self.fail(cast.as_token, "every number is real and exact here\nhelp: drop the cast"),
            Expr::Reference(inner) => self.fail(inner.mutability, "nothing is changed here\nhelp: drop the `mut`"),
            Expr::Range(range) => self.fail(range, "a range has no value\nhelp: write `(a..b).map(|i| ..).sum()`"),
            Expr::Closure(closure) => self.fail(closure, "a closure belongs into `(a..b).map(|i| ..).sum()`"),
            Expr::Tuple(tuple) => {
                let entries = written_or(&tuple.elems, "..");
                self.fail(tuple, format!("a vector is written `vector![{entries}]`, and a pair only indexes a matrix"))
            }
            Expr::Return(word) => self.fail(word.return_token, "the expression is the value\nhelp: drop `return`"),
            Expr::Assign(assign) => self.equation(assign.eq_token, &assign.left, &assign.right),
            other => self.fail(other, "this is not part of the expression language, which knows arithmetic, methods, indexing, `vector![..]`, `matrix![..]`, `stack![..]` and sums"),
        }
    }

    fn path(&mut self, path: &ExprPath) -> Value {
        if path.qself.is_none() {
            if let Some(name) = path.path.get_ident() {
                if name == "self" {
                    return self.fail(name, "parameters are used by their bare names\nhelp: write `m`, not `self.m`");
                }
                return self.resolve(name);
            }
            let mut words = path.path.segments.iter().rev();
            if words.next().is_some_and(|word| word.ident == "PI")
                && words.next().is_some_and(|word| word.ident == "consts")
            {
                return Ok(Expression::Pi.into());
            }
        }
        let constant = path.path.segments.last().and_then(|word| foreign::constant(&plain(&word.ident)));
        if let Some(constant) = constant {
            return self.fail(path, format!("`PI` is the only constant that is known here\nhelp: write `{constant}`"));
        }
        self.fail(path, "paths have no meaning here, because the macro cannot look behind them\nhelp: pass the number as a field of the struct")
    }

    /// Chains of one precedence are read in a loop, not by recursion: sums may be long.
    fn binary(&mut self, binary: &ExprBinary) -> Value {
        let Some(fold) = Fold::of(&binary.op) else { return self.no_arithmetic(binary) };
        let (first, links) = chain(binary, fold);
        // All operands are evaluated before any mistake ends this: each of them is reported.
        let first = self.evaluate(first);
        let operands = every(links.iter().map(|(_, operand)| self.evaluate(operand)));
        let (first, operands) = (first?, operands?);
        let mut links = links.into_iter().zip(operands);
        match fold {
            Fold::Sum => {
                let (shape, mut parts) = (first.shape(), 0);
                self.count(&first, &mut parts, binary.op)?;
                let mut terms = vec![first];
                for ((op, _), operand) in links {
                    self.count(&operand, &mut parts, op)?;
                    terms.push(self.term(shape, op, operand)?);
                }
                Ok(ShapedExpression::sum(&terms))
            }
            Fold::Product => links.try_fold(first, |product, ((op, written), operand)| match op {
                BinOp::Mul(_) => self.product(product, operand, op),
                _ => self.quotient(product, operand, written),
            }),
        }
    }

    /// The term that an operand adds to a sum of this shape.
    fn term(&self, shape: Shape, op: BinOp, operand: ShapedExpression) -> Value {
        let is_difference = matches!(op, BinOp::Sub(_));
        if shape != operand.shape() {
            let verb = if is_difference { "subtracted" } else { "added" };
            let is_product = [shape, operand.shape()].contains(&Shape::Vector(1));
            let remedy = if is_product { ": a scalar is written `a.dot(&b)`, or `(..)[0]`" } else { "" };
            return self.fail(op, format!("{shape} and {} cannot be {verb}{remedy}", operand.shape()));
        }
        Ok(if is_difference { operand.map(|entry| -entry) } else { operand })
    }

    /// The product in the sense of linear algebra.
    pub(super) fn product(&self, left: ShapedExpression, right: ShapedExpression, written: impl ToTokens) -> Value {
        left.multiply(right).or_else(|message| self.fail(written, message))
    }

    fn quotient(&mut self, dividend: ShapedExpression, divisor: ShapedExpression, written: &Expr) -> Value {
        let Some(scalar) = divisor.as_scalar() else {
            let message = format!("{} cannot divide: only scalars can", divisor.shape());
            return self.fail(written, format!("{message}; `a.component_div(&b)` divides by components"));
        };
        let reciprocal = self.raised(scalar.clone(), -BigRational::one(), written)?;
        self.product(dividend, reciprocal.into(), written)
    }

    /// The power. Refuses to divide by zero.
    pub(super) fn raised(
        &self,
        base: Expression,
        exponent: BigRational,
        written: impl ToTokens,
    ) -> Reported<Expression> {
        let message = || {
            format!("division by zero{}\nhelp: correct what is divided by, or drop the quotient", self.circumstances())
        };
        base.power(exponent).or_else(|DivisionByZero| self.fail(written, message()))
    }

    fn no_arithmetic<T>(&self, binary: &ExprBinary) -> Reported<T> {
        let op = binary.op;
        let symbol = op.to_token_stream().to_string();
        match op {
            BinOp::Eq(_) => self.equation(op, &binary.left, &binary.right),
            BinOp::Lt(_) | BinOp::Le(_) | BinOp::Gt(_) | BinOp::Ge(_) => {
                let difference = difference(&binary.left, &binary.right);
                let message =
                    format!("`{symbol}` has no value here: {SWITCH}; a zero is that of the difference `{difference}`");
                self.fail(op, message)
            }
            BinOp::Ne(_) | BinOp::And(_) | BinOp::Or(_) => {
                self.fail(op, format!("`{symbol}` has no value here: {SWITCH}"))
            }
            _ => self
                .fail(op, format!("`{symbol}` is not an operation on real numbers; there are `+`, `-`, `*` and `/`")),
        }
    }

    fn equation<T>(&self, sign: impl ToTokens, left: &Expr, right: &Expr) -> Reported<T> {
        let difference = difference(left, right);
        self.fail(sign, format!("an equation has no value\nhelp: write the difference of its sides: `{difference}`"))
    }

    /// `q[i]` or `m[(i, j)]`.
    fn index(&mut self, index: &ExprIndex) -> Value {
        if let Some(name) = self.unknown_root(&index.expr)
            && let Some(remedy) = foreign::call(&name, &[&index.index])
        {
            return self.fail(&index.expr, remedy);
        }
        if let Expr::Path(path) = peel(&index.expr)
            && let Some(name) = path.path.get_ident()
            && let Some(family) = self.family_of(name)
        {
            let member = self.integer(&index.index)?;
            return self.family_member(family, &index.index, member);
        }
        let value = self.evaluate(&index.expr);
        if let Some(end) = words(&index.index).find(|word| is_end(word) && !self.has_value(word)) {
            return self.end_of(&value?, index, &end);
        }
        let (row, column) = match peel(&index.index) {
            Expr::Tuple(pair) if pair.elems.len() == 2 => {
                let (row, column) = (self.integer(&pair.elems[0]), self.integer(&pair.elems[1]));
                ((&pair.elems[0], row?), Some((&pair.elems[1], column?)))
            }
            Expr::Tuple(tuple) => return self.fail(tuple, "a matrix has two indices: `m[(row, column)]`"),
            Expr::Range(range) => {
                return self.fail(range, "parts of a vector cannot be taken\nhelp: write `vector![..]` of its entries");
            }
            single => ((single, self.integer(single)?), None),
        };
        let value = value?;
        let shape = value.shape();
        let (rows, columns) = shape.extent();
        match (shape, column) {
            (Shape::Scalar, _) => self.fail(index, "a scalar has no entries to be indexed"),
            (_, Some(column)) => {
                let row = self.within(row, rows, shape, ["row", "rows"])?;
                let column = self.within(column, columns, shape, ["column", "columns"])?;
                Ok(value.entry(row, column).clone().into())
            }
            (Shape::Matrix { .. }, None) if rows > 1 => {
                let message = format!("{shape} has two indices: `m[(row, column)]`; `m.column(j)` is a column");
                self.fail(&index.index, message)
            }
            (_, None) => {
                let entry = self.within(row, shape.entries(), shape, ["entry", "entries"])?;
                Ok(value.entries()[entry].clone().into())
            }
        }
    }

    /// Reports `q[end]`, where other languages have the last entry.
    fn end_of<T>(&mut self, value: &ShapedExpression, index: &ExprIndex, end: &Ident) -> Reported<T> {
        let message = format!("there is no `{end}` here: entries are counted from 0");
        let last = match value.shape() {
            Shape::Vector(length) => Some(length as i64 - 1),
            _ => None,
        };
        let place = last.and_then(|last| {
            self.attempted(|scope| scope.with_index(end, last, |scope| scope.integer(&index.index))).ok()
        });
        let base = written_or(&index.expr, "q");
        let remedy = place.map_or_else(String::new, |place| format!("\nhelp: write `{base}[{place}]`"));
        self.fail(end, format!("{message}{remedy}"))
    }

    /// The index, counted from 0, if it is less than `length`, the number of rows, columns or entries of what is indexed. `[one, many]`
    /// are the words for them.
    pub(super) fn within(
        &mut self,
        (written, index): (&Expr, i64),
        length: usize,
        shape: Shape,
        [one, many]: [&str; 2],
    ) -> Reported<usize> {
        match usize::try_from(index) {
            Ok(index) if index < length => Ok(index),
            _ => {
                let counted = if length == 1 { one } else { many };
                let message = format!("index {index} is out of range{}", self.circumstances());
                self.fail(written, format!("{message}: {shape} has {length} {counted}, counted from 0"))
            }
        }
    }

    /// `.x`, `.y`, `.z`, `.w` of a vector.
    fn field(&mut self, field: &ExprField) -> Value {
        if let Expr::Path(path) = peel(&field.base)
            && path.path.is_ident("self")
        {
            let name = field.member.to_token_stream();
            return self.fail(field, format!("parameters are used by their bare names\nhelp: write `{name}`"));
        }
        let member = field.member.to_token_stream().to_string();
        if let Some(module) = self.unknown_root(&field.base)
            && let Some(constant) = foreign::member(&member)
        {
            return self.fail(field, format!("there is no `{module}` here\nhelp: write `{constant}`"));
        }
        if let Some(owner) = self.unknown_root(&field.base)
            && let Member::Named(name) = &field.member
            && self.has_value(name)
        {
            return self.fail(field, format!("there is no `{owner}` here\nhelp: write `{name}`"));
        }
        let value = self.evaluate(&field.base)?;
        let place = ["x", "y", "z", "w"].iter().position(|letter| *letter == member);
        let base = written_or(&field.base, "x");
        let message = match (place, value.shape()) {
            (Some(place), Shape::Vector(length)) if place < length => return Ok(value.entries()[place].clone().into()),
            (Some(_), shape @ Shape::Vector(_)) => format!("{shape} has no `.{member}`"),
            (Some(_), shape) => format!("only a vector has `.x`, `.y`, `.z`; this is {shape}"),
            (None, _) if member == "T" => format!("a transpose is written `{base}.transpose()`"),
            (None, _) if foreign::method(&member).is_some_and(|method| method == member) => {
                format!("`{member}` is a method\nhelp: write `{base}.{member}{}`", foreign::parentheses(&member))
            }
            (None, shape) if matches!(&field.member, Member::Named(name) if self.has_value(name)) => match shape {
                Shape::Scalar => format!("a product is written `{base} * {member}`"),
                _ => format!("an inner product is written `{base}.dot(&{member})`"),
            },
            (None, _) => format!("there is no field `{member}`: the entries of a vector are `.x`, `.y`, `.z` or `[i]`"),
        };
        self.fail(&field.member, message)
    }

    /// An integer that is known while compiling: an index, a bound, an exponent.
    pub(super) fn integer(&mut self, expression: &Expr) -> Reported<i64> {
        let value = self.evaluate(expression)?;
        let Some(number) = value.as_number() else {
            let message = "an integer is needed here, made of literals and the indices of sums and families";
            return self.fail(expression, message);
        };
        let integer = number.is_integer().then(|| number.to_integer().to_i64()).flatten();
        match integer {
            Some(integer) if integer.unsigned_abs() <= 1 << 53 => Ok(integer),
            _ => {
                let message = format!("an integer is needed here, and this is {}", show(number));
                let message = format!("{message}{}", self.circumstances());
                self.fail(expression, message)
            }
        }
    }

    /// The integers of a range, at most [`MAX_ENTRIES`](crate::syntax::MAX_ENTRIES) of them.
    pub(super) fn range(&mut self, range: &syn::ExprRange) -> Reported<std::ops::Range<i64>> {
        let (Some(start), Some(end)) = (&range.start, &range.end) else {
            return self.fail(range, "this range needs both bounds: `(0..8)`");
        };
        let (start, end) = (self.integer(start), self.integer(end));
        let (start, end) = (start?, end?);
        let end = if matches!(range.limits, RangeLimits::Closed(_)) { end + 1 } else { end };
        if end.saturating_sub(start) > crate::syntax::MAX_ENTRIES as i64 {
            return self.fail(range, format!("this range has more than {} members", crate::syntax::MAX_ENTRIES));
        }
        Ok(start..end)
    }

    /// Adds the parts of a value to `parts`. Refuses a value that is too large or too deep for later phases.
    pub(super) fn count(
        &mut self,
        value: &ShapedExpression,
        parts: &mut usize,
        written: impl ToTokens,
    ) -> Reported<()> {
        let before = *parts;
        let counted = value.count(parts);
        self.work += (*parts - before) / PARTS_OF_AN_ENTRY;
        counted.or_else(|message| self.fail(written, message))
    }

    /// Refuses a value that later phases cannot take.
    fn limited(&mut self, value: ShapedExpression, expression: &Expr) -> Value {
        // The value of a name was counted where it is defined, and is only copied here.
        if matches!(peel(expression), Expr::Path(_)) {
            self.work += value.entries().len().div_ceil(PARTS_OF_AN_ENTRY);
            return Ok(value);
        }
        self.work += value.entries().len();
        self.count(&value, &mut 0, expression)?;
        if let Some(message) = value.entries().iter().find_map(unrepresentable) {
            return self.fail(expression, format!("{message}{}", self.circumstances()));
        }
        Ok(value)
    }
}

/// The way in which several values become one.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Fold {
    Sum,
    Product,
}

impl Fold {
    /// The operations in a chain of operators of one precedence.
    fn of(op: &BinOp) -> Option<Self> {
        match op {
            BinOp::Add(_) | BinOp::Sub(_) => Some(Self::Sum),
            BinOp::Mul(_) | BinOp::Div(_) => Some(Self::Product),
            _ => None,
        }
    }
}

/// `((a + b) - c) + d` as `a` and the links `+ b`, `- c`, `+ d`.
fn chain(binary: &ExprBinary, fold: Fold) -> (&Expr, Vec<(BinOp, &Expr)>) {
    let mut links = vec![(binary.op, &*binary.right)];
    let mut first = &*binary.left;
    while let Expr::Binary(inner) = first
        && Fold::of(&inner.op) == Some(fold)
    {
        links.push((inner.op, &inner.right));
        first = &inner.left;
    }
    links.reverse();
    (first, links)
}

/// Returns `true` for the words of other languages for the last index.
fn is_end(word: &Ident) -> bool {
    word == "end" || word == "last"
}

fn show(number: &BigRational) -> String {
    let text = number.to_string();
    if text.len() > 40 { "out of range".to_owned() } else { text }
}
