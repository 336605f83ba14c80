//! Forms in which functions are declared.
//!
//! People write (x - y) - s where x and y are large and near one another, and (x y)^2 where x is large and y is small. Algebra orders terms
//! in another way: y + (s - x) has fewer digits, and x^2 y^2 overflows earlier. So what is declared keeps its form, and in what is derived,
//! declared sums are found by their terms.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use num_rational::BigRational;

use crate::derivation::{Problem, Quantity};
use crate::expression::Expression;
use crate::expression::parts::Results;

/// The declared sums whose order matters: sums of three terms or more.
pub(super) struct Written {
    /// By their terms in order, with all sums within resolved.
    sums: BTreeMap<Vec<Expression>, Expression>,
    /// The numbers of their terms.
    lengths: BTreeSet<usize>,
    /// The parts that are restored already.
    restored: Results<Expression>,
}

impl Written {
    pub(super) fn of(problem: &Problem) -> Self {
        let mut written = Self { sums: BTreeMap::new(), lengths: BTreeSet::new(), restored: Results::default() };
        let is_derived =
            |quantity: Quantity| !matches!(quantity, Quantity::Poisson | Quantity::Output(_) | Quantity::Law(_));
        let functions = problem.functions().into_iter().filter(|(quantity, _)| is_derived(*quantity));
        functions.for_each(|(_, declared)| written.collect(declared));
        written
    }

    fn collect(&mut self, expression: &Expression) {
        for sum in expression.nodes().filter(|node| matches!(node, Expression::Sum(_))) {
            let terms = terms(sum);
            if terms.len() > 2 {
                self.lengths.insert(terms.len());
                self.sums.entry(terms).or_insert_with(|| sum.clone());
            }
        }
    }

    /// A declared function, as the algebra has it if that takes fewer operations.
    pub(super) fn form(&self, declared: &Expression, derived: &Expression) -> Expression {
        if declared.operations() <= derived.operations() { with_squares(declared) } else { self.restored(derived) }
    }

    /// The expression with every declared sum, or minus one, in its declared form.
    pub(super) fn restored(&self, expression: &Expression) -> Expression {
        expression.transformed_once(&self.restored, &|part, restored| self.as_declared(part.mapped(restored)))
    }

    /// A declared sum, or minus one, in its declared form.
    fn as_declared(&self, restored: Expression) -> Expression {
        if !matches!(restored, Expression::Sum(_)) || !self.lengths.contains(&count(&restored)) {
            return restored;
        }
        let (as_it_is, negated) = (self.sums.get(&terms(&restored)), self.sums.get(&terms(&-restored.clone())));
        match (as_it_is, negated) {
            (Some(sum), _) => sum.clone(),
            (None, Some(sum)) => -sum.clone(),
            (None, None) => restored,
        }
    }
}

/// The expression with x^2 for x x.
fn with_squares(expression: &Expression) -> Expression {
    expression.transformed(&|part, with_squares| squares_of_factors(part.mapped(with_squares)))
}

fn squares_of_factors(expression: Expression) -> Expression {
    let Expression::Product(factors) = &expression else { return expression };
    let pairs = factors.chunk_by(|a, b| a == b).map(|equal| match equal {
        [factor] => factor.clone(),
        [factor, ..] => Expression::Power(Arc::new(factor.clone()), BigRational::from_integer(equal.len().into())),
        [] => Expression::one(),
    });
    Expression::product(pairs)
}

/// The terms of a sum of sums, in an order that does not depend on how it is written.
fn terms(sum: &Expression) -> Vec<Expression> {
    let mut terms = Vec::new();
    push_terms(sum, false, &mut terms);
    terms.sort();
    terms
}

/// The number of the [`terms`].
fn count(expression: &Expression) -> usize {
    match expression {
        Expression::Sum(inner) => inner.iter().map(count).sum(),
        Expression::Product(factors) if factors.len() == 2 && factors[0] == Expression::integer(-1) => {
            count(&factors[1])
        }
        _ => 1,
    }
}

fn push_terms(expression: &Expression, negated: bool, terms: &mut Vec<Expression>) {
    match expression {
        Expression::Sum(inner) => inner.iter().for_each(|term| push_terms(term, negated, terms)),
        Expression::Product(factors) if factors.len() == 2 && factors[0] == Expression::integer(-1) => {
            push_terms(&factors[1], !negated, terms);
        }
        term if negated => terms.push(-term.clone()),
        term => terms.push(term.clone()),
    }
}
