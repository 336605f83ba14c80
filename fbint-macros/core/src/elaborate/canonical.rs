//! Equality of expressions up to the order of terms and factors.

use num_rational::BigRational;

use crate::expression::{Expression, Function, Symbol};

/// Equal for two expressions exactly if they differ in nothing but the order of sums and products.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Canonical(Head, Vec<Canonical>);

#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Head {
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
            Expression::Number(number) => Head::Number(number.clone()),
            Expression::Pi => Head::Pi,
            Expression::Symbol(symbol) => Head::Symbol(*symbol),
            Expression::Sum(_) => Head::Sum,
            Expression::Product(_) => Head::Product,
            Expression::Power(_, exponent) => Head::Power(exponent.clone()),
            Expression::Call(function, _) => Head::Call(*function),
        };
        let mut children: Vec<Self> = expression.children().map(Self::of).collect();
        if matches!(head, Head::Sum | Head::Product) {
            children.sort();
        }
        Self(head, children)
    }
}
