//! Expressions as one list of operations on residues, in which what occurs several times occurs once, with linear systems in between.

use std::collections::HashMap;

use num_bigint::BigInt;
use num_traits::ToPrimitive;

use crate::derivation::{Field, LinearSystem, SparseRow};
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::Differentiated;
use crate::numbers::linear::solution;
use crate::proofs::point::ModularPoint;

/// An operation on the results of earlier ones.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Operation {
    Sum(Vec<usize>),
    Product(Vec<usize>),
    Power(usize, BigInt),
    Root(usize, u64),
    /// A number, a symbol or a function, which the point knows.
    Known(Expression),
    /// A linear system, with the right sides at the ends of the rows: the point knows its unknowns from then on.
    System(Vec<Symbol>, Vec<Vec<usize>>),
}

#[derive(Default)]
pub(super) struct Tape {
    operations: Vec<Operation>,
    places: HashMap<Operation, usize>,
    of_expressions: Results<usize>,
}

impl Tape {
    /// The evaluation of X and of functions, with the places of the rates and of the functions with their derivatives.
    pub(super) fn of(
        Field { systems, rates }: &Field,
        values: &[Expression],
        gradients: &[SparseRow],
    ) -> (Self, Vec<usize>, Vec<Differentiated<usize>>) {
        let mut tape = Self::default();
        systems.iter().for_each(|system| tape.system(system));
        let rates = rates.rows().map(|rate| tape.place(rate)).collect();
        let differentiated = |(value, gradient): (&Expression, &SparseRow)| {
            let gradient = gradient.iter().map(|(state, slope)| (*state, tape.place(slope))).collect();
            Differentiated { value: tape.place(value), gradient }
        };
        let variables = values.iter().zip(gradients).map(differentiated).collect();
        (tape, rates, variables)
    }

    /// The place of the result of an expression.
    fn place(&mut self, expression: &Expression) -> usize {
        if let Some(place) = self.of_expressions.get(expression) {
            return place;
        }
        let operation = self.operation_of(expression);
        let place = self.operation(operation);
        self.of_expressions.insert(expression, &place);
        place
    }

    fn operation_of(&mut self, expression: &Expression) -> Operation {
        match expression {
            Expression::Sum(terms) => Operation::Sum(terms.iter().map(|term| self.place(term)).collect()),
            Expression::Product(factors) => {
                Operation::Product(factors.iter().map(|factor| self.place(factor)).collect())
            }
            Expression::Power(base, exponent) => match exponent.denom().to_u64() {
                Some(1) => Operation::Power(self.place(base), exponent.numer().clone()),
                // The root of a product, or of a number, is that of its factors.
                Some(index) if !matches!(**base, Expression::Product(_) | Expression::Number(_)) => {
                    let base = self.place(base);
                    let root = self.operation(Operation::Root(base, index));
                    Operation::Power(root, exponent.numer().clone())
                }
                _ => Operation::Known(expression.clone()),
            },
            Expression::Number(_) | Expression::Pi | Expression::Symbol(_) | Expression::Call(..) => {
                Operation::Known(expression.clone())
            }
        }
    }

    fn operation(&mut self, operation: Operation) -> usize {
        let next = self.operations.len();
        let place = *self.places.entry(operation.clone()).or_insert(next);
        if place == next {
            self.operations.push(operation);
        }
        place
    }

    /// A linear system for what the following expressions contain.
    fn system(&mut self, system: &LinearSystem) {
        let rows = system.rows().map(|row| row.map(|entry| self.place(entry)).collect()).collect();
        self.operation(Operation::System(system.unknowns.clone(), rows));
    }

    /// Operations on residues that an evaluation takes, about: a root takes most for points at which there is none.
    pub(super) fn work(&self) -> usize {
        let work = |operation: &Operation| match operation {
            Operation::Root(..) => 100,
            Operation::System(unknowns, _) => unknowns.len().pow(3) / 3,
            _ => 1,
        };
        self.operations.iter().map(work).fold(0, usize::saturating_add)
    }

    /// All results at a point of residues.
    pub(super) fn results(&self, point: &mut ModularPoint) -> Option<Vec<u64>> {
        let field = point.field;
        let mut results: Vec<u64> = Vec::with_capacity(self.operations.len());
        for operation in &self.operations {
            results.push(match operation {
                Operation::Sum(terms) => terms.iter().fold(0, |sum, term| field.add(sum, results[*term])),
                Operation::Product(factors) => {
                    factors.iter().fold(1, |product, factor| field.multiply(product, results[*factor]))
                }
                Operation::Power(base, exponent) => field.integer_power(results[*base], exponent)?,
                Operation::Root(base, index) => point.root_of(results[*base], *index)?,
                Operation::Known(expression) => point.evaluate(expression)?,
                Operation::System(unknowns, rows) => {
                    let entries = |row: &Vec<usize>| row.iter().map(|place| results[*place]).collect();
                    let solution = solution(field, rows.iter().map(entries).collect())?;
                    unknowns.iter().zip(solution).for_each(|(unknown, residue)| point.bind(*unknown, residue));
                    0
                }
            });
        }
        Some(results)
    }
}
