//! Forms in which functions are declared.
//!
//! People write (x - y) - s where x and y are large and near one another, and (x y)^2 where x is large and y is small. Algebra orders terms
//! in another way: y + (s - x) has fewer digits, and x^2 y^2 overflows earlier. So what is declared keeps its form, and in what is derived,
//! declared sums are found by their terms.

use std::collections::HashMap;
use std::sync::Arc;

use num_rational::BigRational;

use crate::derivation::{Problem, Quantity};
use crate::expression::parts::Results;
use crate::expression::{Expression, Identity, is_minus_one};

/// The declared sums whose order matters: sums of three terms or more.
pub(super) struct Written {
    sums: HashMap<Terms, Expression>,
    /// The terms of parts, and of minus these.
    terms: [Results<Terms>; 2],
    /// The parts that are restored already.
    restored: Results<Expression>,
}

/// The terms of a sum with all sums within resolved, in any order: their number, and an identity of all of them. There may be too many to
/// list, because a sum that occurs in several places has its terms in each of them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
struct Terms {
    count: usize,
    identity: Identity,
}

impl Terms {
    fn one(term: &Expression) -> Self {
        Self { count: 1, identity: Identity::of_all([term.identity()]) }
    }

    fn joined(self, other: Self) -> Self {
        Self { count: self.count.saturating_add(other.count), identity: self.identity.joined(other.identity) }
    }
}

impl Written {
    pub(super) fn of(problem: &Problem) -> Self {
        let (terms, restored) = Default::default();
        let mut written = Self { sums: HashMap::new(), terms, restored };
        let is_derived =
            |quantity: Quantity| !matches!(quantity, Quantity::Poisson | Quantity::Output(_) | Quantity::Law(_));
        let functions = problem.functions().into_iter().filter(|(quantity, _)| is_derived(*quantity));
        functions.for_each(|(_, declared)| written.collect(declared));
        written
    }

    fn collect(&mut self, expression: &Expression) {
        for sum in expression.nodes().filter(|node| matches!(node, Expression::Sum(_))) {
            let terms = self.terms(sum, false);
            if terms.count > 2 {
                self.sums.entry(terms).or_insert_with(|| sum.clone());
            }
        }
    }

    fn terms(&self, expression: &Expression, is_negated: bool) -> Terms {
        self.terms[usize::from(is_negated)].of(expression, || match expression {
            Expression::Sum(inner) => {
                let terms = inner.iter().map(|term| self.terms(term, is_negated));
                terms.reduce(Terms::joined).unwrap_or_else(|| Terms::one(expression))
            }
            Expression::Product(factors) if factors.len() == 2 && factors[0].as_number().is_some_and(is_minus_one) => {
                self.terms(&factors[1], !is_negated)
            }
            term if is_negated => Terms::one(&-term.clone()),
            term => Terms::one(term),
        })
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
        if !matches!(restored, Expression::Sum(_)) {
            return restored;
        }
        let declared = |is_negated| self.sums.get(&self.terms(&restored, is_negated));
        match (declared(false), declared(true)) {
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
