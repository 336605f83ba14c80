//! Symmetries by which a search falls apart: reflections, reversals of time, and scalings.
//!
//! Where z^w(i) x(i) in place of every x(i) turns X(i) into z^(w(i) + d) X(i), for z = -1 or for any number z, X takes what has the weight
//! w to what has the weight w + d. So a function is conserved if and only if its part of each weight is: there is a matrix for each weight.
//! Weights have to be equal for the terms of each sum. These are linear equations, for z = -1 modulo 2, for scalings modulo a large prime,
//! where z is a root of unity of that order.

use std::collections::{BTreeMap, BTreeSet};

use super::FIRST_PRIME;
use super::kernel::{BLOCK, Combination, Elimination, combined};
use super::monomials::FactoredMonomial;
use crate::derivation::Derivation;
use crate::expression::parts::Results;
use crate::expression::{Expression, Function, Symbol};
use crate::numbers::field::PrimeField;

/// A weight as a combination of the symbols' weights, each in its place, and of d.
type Weight = Vec<u64>;

/// The places of monomials in these variables, grouped by weight.
pub(super) fn classes(
    derivation: &Derivation,
    variables: &[Expression],
    monomials: &[FactoredMonomial],
    is_on_constraints: bool,
) -> Vec<Vec<usize>> {
    let mut weights = vec![Vec::new(); monomials.len()];
    for field in [PrimeField::new(2), FIRST_PRIME] {
        for of_variables in gradings(derivation, variables, is_on_constraints, field) {
            for (place, FactoredMonomial { of, variable, .. }) in monomials.iter().enumerate() {
                let of = of.and_then(|of| weights[of].get(weights[place].len())).copied().unwrap_or(0);
                weights[place].push(field.add(of_variables[*variable], of));
            }
        }
    }
    let mut classes: BTreeMap<&[u64], Vec<usize>> = BTreeMap::new();
    weights.iter().enumerate().for_each(|(place, weight)| classes.entry(weight).or_default().push(place));
    classes.into_values().collect()
}

/// The weights of these functions, for each of the independent ways to choose weights modulo a prime.
fn gradings(
    derivation: &Derivation,
    functions: &[Expression],
    is_on_constraints: bool,
    field: PrimeField,
) -> Vec<Vec<u64>> {
    let states = derivation.symbols.states();
    let unknowns = derivation.field.systems.iter().flat_map(|system| system.unknowns.iter().copied());
    let places: BTreeMap<Symbol, usize> = states.chain(unknowns).zip(0..).collect();
    let mut equations = Equations { field, places, vanishing: BTreeSet::new(), known: Results::default() };
    equations.of_field(derivation);
    if is_on_constraints {
        derivation.integrals.constraints().for_each(|(_, constraint)| drop(equations.weight(&constraint.value)));
    }
    let weights: Vec<Weight> =
        functions.iter().map(|value| equations.weight(value).unwrap_or_else(|| equations.none())).collect();
    let of_solution = |solution: Combination| weights.iter().map(|weight| combined(field, &solution, weight)).collect();
    equations.solutions().into_iter().map(of_solution).collect()
}

/// Linear equations for the weights of symbols, and for d.
struct Equations {
    field: PrimeField,
    places: BTreeMap<Symbol, usize>,
    /// Values that are 0.
    vanishing: BTreeSet<Weight>,
    /// Weights of parts, which add the same equations wherever they stand.
    known: Results<Option<Weight>>,
}

impl Equations {
    /// X, and the linear systems in it.
    fn of_field(&mut self, derivation: &Derivation) {
        for system in &derivation.field.systems {
            for (row, right) in system.matrix.iter().zip(&system.right_side) {
                let mut terms = vec![self.weight(right)];
                for (entry, unknown) in row.iter().zip(&system.unknowns) {
                    let weight = self.weight(entry);
                    terms.push(weight.map(|weight| self.sum(self.unit(self.places[unknown]), 1, &weight)));
                }
                self.equal(terms);
            }
        }
        for (place, rate) in derivation.field.rates.rows().enumerate() {
            let weight = self.weight(rate);
            let of_state = self.sum(self.unit(place), 1, &self.unit(self.places.len()));
            self.equal(vec![weight, Some(of_state)]);
        }
    }

    /// The weight of an expression; 0 has any.
    fn weight(&mut self, expression: &Expression) -> Option<Weight> {
        self.known.get(expression).unwrap_or_else(|| {
            let weight = self.weight_by_parts(expression);
            self.known.insert(expression, &weight);
            weight
        })
    }

    fn weight_by_parts(&mut self, expression: &Expression) -> Option<Weight> {
        match expression {
            Expression::Number(_) if expression.is_zero() => None,
            Expression::Number(_) | Expression::Pi => Some(self.none()),
            Expression::Symbol(symbol) => Some(self.places.get(symbol).map_or(self.none(), |place| self.unit(*place))),
            Expression::Sum(terms) => {
                let weights = terms.iter().map(|term| self.weight(term)).collect();
                self.equal(weights)
            }
            Expression::Product(factors) => factors.iter().try_fold(self.none(), |sum, factor| {
                let weight = self.weight(factor)?;
                Some(self.sum(sum, 1, &weight))
            }),
            Expression::Power(base, exponent) => {
                let weight = self.weight(base)?;
                // A square root is the same for both signs of what does not change.
                let Some(factor) = self.field.residue(exponent) else { return self.constant([weight]) };
                Some(self.sum(self.none(), factor, &weight))
            }
            Expression::Call(function, arguments) => {
                let weights: Vec<Weight> = arguments.iter().filter_map(|argument| self.weight(argument)).collect();
                match function {
                    Function::Sign | Function::Sin | Function::Tan | Function::Asin | Function::Atan
                        if self.field.prime == 2 =>
                    {
                        weights.into_iter().next()
                    }
                    Function::Sinh | Function::Tanh if self.field.prime == 2 => weights.into_iter().next(),
                    Function::Cos | Function::Cosh | Function::Abs if self.field.prime == 2 => Some(self.none()),
                    _ => self.constant(weights),
                }
            }
        }
    }

    /// Weights that are 0.
    fn constant(&mut self, weights: impl IntoIterator<Item = Weight>) -> Option<Weight> {
        self.vanishing.extend(weights);
        Some(self.none())
    }

    /// The weight of terms of one sum.
    fn equal(&mut self, weights: Vec<Option<Weight>>) -> Option<Weight> {
        let mut weights = weights.into_iter().flatten();
        let first = weights.next()?;
        for weight in weights.filter(|weight| *weight != first) {
            let difference = self.sum(weight, self.field.negative(1), &first);
            self.vanishing.insert(difference);
        }
        Some(first)
    }

    fn none(&self) -> Weight {
        vec![0; self.places.len() + 1]
    }

    fn unit(&self, place: usize) -> Weight {
        let mut weight = self.none();
        weight[place] = 1;
        weight
    }

    fn sum(&self, mut one: Weight, factor: u64, other: &Weight) -> Weight {
        let entries = one.iter_mut().zip(other);
        for (entry, other) in entries.filter(|(_, other)| **other != 0) {
            *entry = self.field.add(*entry, if factor == 1 { *other } else { self.field.multiply(factor, *other) });
        }
        one
    }

    fn solutions(self) -> Vec<Combination> {
        let mut matrix = Elimination::new(self.field, self.places.len() + 1);
        let rows: Vec<Weight> = self.vanishing.into_iter().collect();
        // Entries are divided by a pivot, which is not 0.
        let added = rows.chunks(BLOCK).try_for_each(|block| matrix.add(block.to_vec()).map(drop));
        added.map_or(Vec::new(), |()| matrix.kernel())
    }
}
