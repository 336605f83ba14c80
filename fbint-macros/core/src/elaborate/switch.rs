//! Functions that switch: `if`, `max`, `min`, `clamp`, `signum`, made of steps.
//!
//! `if x > y { a } else { b }` is step(x - y) a + step(y - x) b, with a step that is 1 of positive and 0 of negative numbers. So the value
//! of the branch that holds is exact, if the other one is finite, and the algebra cannot add the two up. The step of 0 is 1/2: where it
//! switches, the value is the mean of both sides, as the derivative of |x| at 0 is, and `>` means what `>=` does. The derivative of a step
//! is 0, so that derivatives belong to the branch that holds.

use quote::ToTokens;
use syn::{BinOp, Expr, ExprIf, Stmt, UnOp};

use super::methods::Value;
use super::scope::{Reported, Scope};
use super::value::ShapedExpression;
use crate::derivation::Role;
use crate::expression::{Expression, Function};
use crate::syntax::peel;

/// The larger of two.
pub(super) fn larger(a: Expression, b: Expression) -> Expression {
    Condition::exceeds(&a, &b).chosen(a, b)
}

/// The smaller of two.
pub(super) fn smaller(a: Expression, b: Expression) -> Expression {
    Condition::exceeds(&a, &b).chosen(b, a)
}

/// Two numbers: one is 1, the other 0.
struct Condition {
    holds: Expression,
    fails: Expression,
}

impl Condition {
    /// a > b
    fn exceeds(a: &Expression, b: &Expression) -> Self {
        let step = |a: &Expression, b: &Expression| Expression::call(Function::Step, [a.clone() - b.clone()]);
        Self { holds: step(a, b), fails: step(b, a) }
    }

    fn negated(self) -> Self {
        Self { holds: self.fails, fails: self.holds }
    }

    fn and(self, other: Self) -> Self {
        let fails = self.fails + self.holds.clone() * other.fails;
        Self { holds: self.holds * other.holds, fails }
    }

    fn chosen(&self, where_it_holds: Expression, elsewhere: Expression) -> Expression {
        self.holds.clone() * where_it_holds + self.fails.clone() * elsewhere
    }
}

impl Scope<'_> {
    /// `if condition { a } else { b }`
    pub(super) fn conditional(&mut self, written: &ExprIf) -> Value {
        let Some((_, otherwise)) = &written.else_branch else {
            return self.fail(
                written.if_token,
                "a value is needed in either case\nhelp: write `if condition { a } else { b }`",
            );
        };
        let condition = self.condition(&written.cond);
        let first = match &written.then_branch.stmts[..] {
            [Stmt::Expr(inner, None)] => self.evaluate(inner),
            _ => self.fail(
                &written.then_branch,
                "a branch holds one expression\nhelp: name intermediate results with `define`",
            ),
        };
        let other = self.evaluate(otherwise);
        let (condition, first, other) = (condition?, first?, other?);
        if first.shape() != other.shape() {
            let message = format!("the branches differ: {} and {}", first.shape(), other.shape());
            return self.fail(written, message);
        }
        Ok(first.zip(other, |first, other| condition.chosen(first, other)))
    }

    fn condition(&mut self, written: &Expr) -> Reported<Condition> {
        match peel(written) {
            Expr::Unary(unary) if matches!(unary.op, UnOp::Not(_)) => Ok(self.condition(&unary.expr)?.negated()),
            Expr::Binary(binary) => {
                let (left, right) = (&*binary.left, &*binary.right);
                match binary.op {
                    BinOp::Gt(_) | BinOp::Ge(_) => self.comparison(left, right),
                    BinOp::Lt(_) | BinOp::Le(_) => self.comparison(right, left),
                    BinOp::And(_) => {
                        let (left, right) = (self.condition(left), self.condition(right));
                        Ok(left?.and(right?))
                    }
                    BinOp::Or(_) => {
                        let (left, right) = (self.condition(left), self.condition(right));
                        Ok(left?.negated().and(right?.negated()).negated())
                    }
                    op => {
                        let op = op.to_token_stream();
                        self.fail(
                            binary.op,
                            format!("`{op}` is no comparison that has sides\nhelp: compare by `<` or `>`"),
                        )
                    }
                }
            }
            other => self.fail(other, "a condition compares numbers, as in `x > 0`, joined by `&&`, `||` and `!`"),
        }
    }

    /// a > b
    fn comparison(&mut self, a: &Expr, b: &Expr) -> Reported<Condition> {
        let (left, right) = (self.evaluate(a), self.evaluate(b));
        let compared = |written, value| self.only(written, &value, "numbers are compared", "");
        let (left, right) = (compared(a, left?)?, compared(b, right?)?);
        Ok(Condition::exceeds(&left, &right))
    }

    /// Refuses what switches where it would be differentiated, unless parameters alone decide.
    pub(super) fn refuse_switches(&self, written: &Expr, value: &ShapedExpression, what: &str) -> Reported<()> {
        let varies = |symbol| self.role(symbol) != Some(Role::Parameter);
        let is_switch = |part: &Expression| match part {
            Expression::Call(Function::Step | Function::Sign, _) => part.symbols().into_iter().any(varies),
            _ => false,
        };
        if !value.entries().iter().flat_map(Expression::nodes).any(is_switch) {
            return Ok(());
        }
        let reason = "it is differentiated, and has no derivative there that a motion could keep";
        let remedy = "let a `force`, `dynamics` or an `output` switch, or write by `abs` what has a derivative, as \
                      `((x.abs() - x) / 2).powi(2)` for a spring that acts where x < 0";
        self.fail(
            written,
            format!("{what} cannot switch, as `if`, `max`, `min`, `clamp` and `signum` do: {reason}\nhelp: {remedy}"),
        )
    }
}
