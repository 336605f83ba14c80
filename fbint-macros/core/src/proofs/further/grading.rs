//! Symmetries by which a search falls apart: reflections, reversals of time, and scalings.
//!
//! Where z^w(i) x(i) in place of every x(i) turns X(i) into z^(w(i) + d) X(i), for z = -1 or for any number z, X takes what has the weight w
//! to what has the weight w + d. So a function is conserved if and only if its part of each weight is: there is a matrix for each weight. All
//! that is asked of weights is that the terms of each sum have the same. These are linear equations, for z = -1 modulo 2, for scalings modulo
//! a large prime, where z is a root of unity of that order.

use std::collections::{BTreeMap, BTreeSet};

use super::FIRST_PRIME;
use super::kernel::{BLOCK, Combination, Elimination, combined, sum_of};
use super::monomials::FactoredMonomial;
use crate::derivation::Derivation;
use crate::expression::{Expression, Function, Symbol};
use crate::numbers::field::PrimeField;

/// A weight as a combination of those of the symbols, in their places.
type Weight = Combination;

/// The places of monomials in these variables, those of each weight together.
pub(super) fn classes(
    derivation: &Derivation,
    variables: &[Expression],
    monomials: &[FactoredMonomial],
    is_on_constraints: bool,
) -> Vec<Vec<usize>> {
    let mut weights = vec![Vec::new(); monomials.len()];
    for field in [PrimeField(2), FIRST_PRIME] {
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
    let mut equations = Equations { field, places, vanishing: BTreeSet::new() };
    equations.of_field(derivation);
    if is_on_constraints {
        derivation.integrals.constraints().for_each(|(_, constraint)| drop(equations.weight(&constraint.value)));
    }
    let weights: Vec<Weight> = functions.iter().map(|value| equations.weight(value).unwrap_or_default()).collect();
    let of_solution = |solution: Combination| {
        let mut values = vec![0; equations.width()];
        solution.iter().for_each(|(place, value)| values[*place] = *value);
        weights.iter().map(|weight| combined(field, weight, &values)).collect()
    };
    equations.solutions().into_iter().map(of_solution).collect()
}

/// Linear equations for the weights of symbols, and for d.
struct Equations {
    field: PrimeField,
    places: BTreeMap<Symbol, usize>,
    /// What is 0.
    vanishing: BTreeSet<Weight>,
}

impl Equations {
    /// X, and the linear systems in it.
    fn of_field(&mut self, derivation: &Derivation) {
        let unit = |place: usize| vec![(place, 1)];
        for system in &derivation.field.systems {
            for (row, right) in system.matrix.iter().zip(&system.right_side) {
                let mut terms = vec![self.weight(right)];
                for (entry, unknown) in row.iter().zip(&system.unknowns) {
                    let weight = self.weight(entry);
                    terms.push(weight.map(|weight| self.sum(weight, 1, unit(self.places[unknown]))));
                }
                self.equal(terms);
            }
        }
        let d = unit(self.places.len());
        for (place, rate) in derivation.field.rates.rows().enumerate() {
            let weight = self.weight(rate);
            let of_state = self.sum(unit(place), 1, d.clone());
            self.equal(vec![weight, Some(of_state)]);
        }
    }

    /// The weight of an expression; 0 has any.
    fn weight(&mut self, expression: &Expression) -> Option<Weight> {
        match expression {
            Expression::Number(_) if expression.is_zero() => None,
            Expression::Number(_) | Expression::Pi => Some(Weight::new()),
            Expression::Symbol(symbol) => Some(self.places.get(symbol).map(|place| (*place, 1)).into_iter().collect()),
            Expression::Sum(terms) => {
                let weights = terms.iter().map(|term| self.weight(term)).collect();
                self.equal(weights)
            }
            Expression::Product(factors) => {
                let mut sum = Weight::new();
                for factor in factors.iter() {
                    let weight = self.weight(factor)?;
                    sum = self.sum(sum, 1, weight);
                }
                Some(sum)
            }
            Expression::Power(base, exponent) => {
                let weight = self.weight(base)?;
                // A square root is the same for both signs of what does not change.
                let Some(factor) = self.field.residue(exponent) else { return self.constant([weight]) };
                Some(self.sum(Weight::new(), factor, weight))
            }
            Expression::Call(function, arguments) => {
                let weights: Vec<Weight> = arguments.iter().filter_map(|argument| self.weight(argument)).collect();
                match function {
                    Function::Sin | Function::Tan | Function::Asin | Function::Atan if self.field.0 == 2 => {
                        weights.into_iter().next()
                    }
                    Function::Sinh | Function::Tanh if self.field.0 == 2 => weights.into_iter().next(),
                    Function::Cos | Function::Cosh | Function::Abs if self.field.0 == 2 => Some(Weight::new()),
                    _ => self.constant(weights),
                }
            }
        }
    }

    /// Weights that are 0.
    fn constant(&mut self, weights: impl IntoIterator<Item = Weight>) -> Option<Weight> {
        self.vanishing.extend(weights);
        Some(Weight::new())
    }

    /// The weight of terms of one sum.
    fn equal(&mut self, weights: Vec<Option<Weight>>) -> Option<Weight> {
        let mut weights = weights.into_iter().flatten();
        let first = weights.next()?;
        for weight in weights.filter(|weight| *weight != first) {
            let difference = self.sum(weight, self.field.negative(1), first.clone());
            self.vanishing.insert(difference);
        }
        Some(first)
    }

    fn sum(&self, one: Weight, factor: u64, other: Weight) -> Weight {
        sum_of(self.field, &[(0, 1), (1, factor)], &[one, other])
    }

    /// The number of unknowns.
    fn width(&self) -> usize {
        self.places.len() + 1
    }

    fn solutions(&self) -> Vec<Combination> {
        let mut matrix = Elimination::new(self.field, self.width());
        let row = |weight: &Weight| {
            let mut row = vec![0; self.width()];
            weight.iter().for_each(|(place, factor)| row[*place] = *factor);
            row
        };
        let rows: Vec<Vec<u64>> = self.vanishing.iter().map(row).collect();
        // Entries are divided by a pivot, which is not 0.
        let added = rows.chunks(BLOCK).try_for_each(|block| matrix.add(block.to_vec()).map(drop));
        added.map_or(Vec::new(), |()| matrix.kernel())
    }
}
