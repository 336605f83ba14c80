//! Equality of expressions up to the order of terms and factors.

use num_rational::BigRational;

use crate::expression::{Expression, Function, Symbol};

/// Equal for two expressions exactly if they differ in nothing but the order of sums and products.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Canonical(Operator, Vec<Canonical>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Operator {
    Number(BigRational),
    Pi,
    Symbol(Symbol),
    Sum,
    Product,
    Power(BigRational),
    Call(Function),
}

impl Canonical {
    /// The canonical form of an expression.
    pub(super) fn of(expression: &Expression) -> Self {
        let head = match expression {
            Expression::Number(number) => Operator::Number(number.clone()),
            Expression::Pi => Operator::Pi,
            Expression::Symbol(symbol) => Operator::Symbol(*symbol),
            Expression::Sum(_) => Operator::Sum,
            Expression::Product(_) => Operator::Product,
            Expression::Power(_, exponent) => Operator::Power(exponent.clone()),
            Expression::Call(function, _) => Operator::Call(*function),
        };
        let mut children: Vec<Self> = expression.children().map(Self::of).collect();
        if matches!(head, Operator::Sum | Operator::Product) {
            children.sort();
        }
        Self(head, children)
    }
}
