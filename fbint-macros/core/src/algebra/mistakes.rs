//! Which doubts are mistakes, because algebra says so: a Groebner basis that contains 1, or a determinant that vanishes modulo the
//! constraints.

use std::collections::{BTreeMap, BTreeSet};

use num_rational::BigRational;

use super::vanishing::{contradict, vanishes_where};
use crate::derivation::{Derivation, Doubt, IntegralId};
use crate::expression::{Expression, Symbol};
use crate::numbers::determinant::determinant;
use crate::proofs::general;

/// More members than this have determinants that are not written out.
const MOST_MEMBERS: usize = 4;

/// Returns `true` if algebra proves that a doubt is a mistake. Runs within a session.
pub(super) fn is_mistake(derivation: &Derivation, doubt: &Doubt) -> bool {
    match doubt {
        Doubt::NoGradient(member) => {
            let integral = &derivation.integrals[*member];
            let gradient = integral.gradient.iter();
            let square = Expression::sum(gradient.map(|(_, entry)| entry.clone() * entry.clone()));
            vanishes_where(&square, &[&integral.value])
        }
        Doubt::Unsatisfied(members) => is_contradiction(derivation, members),
        Doubt::Singular { members, everywhere: false } => is_singular_on_constraints(derivation, members),
        Doubt::Singular { everywhere: true, .. }
        | Doubt::Undefined { .. }
        | Doubt::Inertia { .. }
        | Doubt::BeyondATurn(_)
        | Doubt::Unverified(_) => false,
    }
}

/// Returns `true` if the gradients of these constraints, or their rows of C, are dependent wherever the constraints hold: then the
/// determinant of their products with one another vanishes.
fn is_singular_on_constraints(derivation: &Derivation, members: &[IntegralId]) -> bool {
    let (all_members, matrix) = derivation.multiplier_matrix();
    // A rate depends on the others where the constraint does that it is the rate of.
    let members: BTreeSet<IntegralId> = members.iter().map(|&member| derivation.integrals.declared(member)).collect();
    if members.len() > MOST_MEMBERS {
        return false;
    }
    let all: Vec<&Expression> =
        derivation.integrals.declared_constraints().map(|(_, constraint)| &constraint.value).collect();
    let gradients = members.iter().map(|&member| derivation.integrals[member].gradient.clone());
    let rows = all_members.into_iter().zip(matrix);
    let rows =
        rows.filter(|(member, _)| members.contains(member)).map(|(_, row)| row.into_iter().enumerate().collect());
    vanishes_where(&gram_determinant(gradients), &all) || vanishes_where(&gram_determinant(rows), &all)
}

/// det R R^T of a matrix R with sparse rows.
fn gram_determinant<C: Ord>(rows: impl Iterator<Item = BTreeMap<C, Expression>>) -> Expression {
    let rows: Vec<BTreeMap<C, Expression>> = rows.collect();
    let product = |a: &BTreeMap<C, Expression>, b: &BTreeMap<C, Expression>| {
        let terms = a.iter().filter_map(|(column, entry)| Some(entry.clone() * b.get(column)?.clone()));
        Expression::sum(terms)
    };
    let matrix: Vec<Vec<Expression>> = rows.iter().map(|a| rows.iter().map(|b| product(a, b)).collect()).collect();
    determinant(&matrix)
}

/// Returns `true` if algebra shows that these integrals have no common zero, at three values of the parameters.
fn is_contradiction(derivation: &Derivation, members: &[IntegralId]) -> bool {
    general(&derivation.symbols).take(3).all(|state| {
        let number = |symbol: Symbol| {
            let millionths = (state[symbol] * 1e6).round() as i64;
            Expression::Number(BigRational::new(millionths.into(), 1_000_000.into()))
        };
        let fixed = |symbol: Symbol| {
            if derivation.symbols.is_state(symbol) { Expression::from(symbol) } else { number(symbol) }
        };
        let members: Vec<Expression> =
            members.iter().map(|&member| derivation.integrals[member].value.substituted(&fixed)).collect();
        contradict(&members)
    })
}
