//! Sizes of a model's unknowns at which every term matters.
//!
//! In p^2 / (2 m) - G m M / r with the constants of the solar system and numbers of size one, the first term is lost in the
//! rounding of the second, and with it every fault in what computes it. Here the logarithms of the sizes are chosen such
//! that the terms of every sum are about equal, and arguments of functions about one: linear equations, one for each term
//! but the first, to which the method of Kaczmarz finds a solution near zero, or a compromise where there is none.

use num_rational::BigRational;
use num_traits::ToPrimitive;

use crate::derivation::Derivation;
use crate::derivation::table::{Id, Table};
use crate::expression::parts::Results;
use crate::expression::{Expression, Function, Symbol, to_f64};
use crate::numbers::points::{IntegralSizes, Sizes};
use crate::numbers::scaled::{magnitude, power_of_two};

/// Passes over the equations, and the part by which each has to lower the residuals.
const SWEEPS: usize = 400;
const PROGRESS: f64 = 0.002;
/// Terms that differ by less than this factor, a power of two, need no balance.
const SIMILAR: f64 = 16.0;
/// The most equations that are examined; among more, every second or third one.
const MOST_EQUATIONS: usize = 1024;
/// The largest binary logarithm of a size.
const LARGEST: f64 = 160.0;

/// Sizes that balance the terms, in each of some turns the terms of other sums best; none where terms are of similar size anyway.
pub(crate) fn balanced(derivation: &Derivation, turns: usize) -> Vec<Sizes> {
    let all = equations(derivation);
    let equations: Vec<&Magnitude> = all.iter().step_by(all.len() / MOST_EQUATIONS + 1).collect();
    if equations.iter().all(|equation| equation.logarithm.abs() < SIMILAR) {
        return Vec::new();
    }
    let start = |turn: usize| turn * equations.len() / turns;
    let order = |turn| equations.iter().cycle().skip(start(turn)).take(equations.len()).copied();
    let sizes = |turn| Sizes {
        unknowns: solution(derivation, order(turn)).map(|logarithm| logarithm.exp2()),
        integrals: derivation.integrals.map(|_| IntegralSizes::ONE),
    };
    (0..turns).map(sizes).collect()
}

/// The binary logarithms of sizes that solve the equations.
fn solution<'a>(derivation: &Derivation, equations: impl Iterator<Item = &'a Magnitude> + Clone) -> Table<Symbol, f64> {
    let mut logarithms: Table<Symbol, f64> = derivation.symbols.unknowns().map(|_| 0.0).collect();
    let mut before = f64::INFINITY;
    for _ in 0..SWEEPS {
        let mut residuals = 0.0;
        for equation in equations.clone() {
            let length: f64 = equation.degrees.iter().map(|(_, degree)| degree * degree).sum();
            let residual = equation.at(&logarithms);
            residuals += residual.abs();
            for (symbol, degree) in &equation.degrees {
                let moved = logarithms[*symbol] - degree * residual / length;
                logarithms[*symbol] = moved.clamp(-LARGEST, LARGEST);
            }
        }
        if residuals >= (1.0 - PROGRESS) * before {
            break;
        }
        before = residuals;
    }
    logarithms
}

/// A product of powers of unknowns, as far as its size is concerned.
#[derive(Clone, Debug, Default)]
struct Magnitude {
    /// The binary logarithm of the coefficient.
    logarithm: f64,
    degrees: Vec<(Symbol, f64)>,
}

impl Magnitude {
    /// The size of an expression; a sum has the size of its first term that is not a number.
    fn of(expression: &Expression, known: &Results<Self>) -> Self {
        known.of(expression, || match expression {
            Expression::Number(number) => Self { logarithm: logarithm(number), degrees: Vec::new() },
            Expression::Symbol(symbol) => Self { logarithm: 0.0, degrees: vec![(*symbol, 1.0)] },
            Expression::Sum(terms) => {
                let first = terms.iter().find(|term| term.as_number().is_none());
                first.map_or_else(Self::default, |term| Self::of(term, known))
            }
            Expression::Product(factors) => {
                factors.iter().fold(Self::default(), |product, factor| product.times(&Self::of(factor, known), 1.0))
            }
            Expression::Power(base, power) => {
                Self::default().times(&Self::of(base, known), power.to_f64().unwrap_or(1.0))
            }
            Expression::Call(Function::Abs, arguments) => Self::of(&arguments[0], known),
            Expression::Pi | Expression::Call(..) => Self::default(),
        })
    }

    /// The product with a power of another.
    fn times(mut self, other: &Self, exponent: f64) -> Self {
        self.logarithm += exponent * other.logarithm;
        other.degrees.iter().for_each(|(symbol, degree)| self.raise(*symbol, exponent * degree));
        self
    }

    fn raise(&mut self, symbol: Symbol, exponent: f64) {
        match self.degrees.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, degree)) => *degree += exponent,
            None => self.degrees.push((symbol, exponent)),
        }
    }

    fn divided_by(self, other: &Self) -> Self {
        let mut quotient = self.times(other, -1.0);
        quotient.degrees.retain(|(_, degree)| *degree != 0.0);
        quotient
    }

    /// The binary logarithm of the term's size.
    fn at(&self, logarithms: &Table<Symbol, f64>) -> f64 {
        self.logarithm + self.degrees.iter().map(|(symbol, degree)| degree * logarithms[*symbol]).sum::<f64>()
    }
}

/// The binary logarithm of the magnitude of a number, which may be out of the range of doubles.
fn logarithm(number: &BigRational) -> f64 {
    let size = magnitude(number);
    size as f64 + to_f64(&(number / power_of_two(size))).abs().log2()
}

/// Expressions of size one: quotients of the terms of a sum, and arguments of functions.
fn equations(derivation: &Derivation) -> Vec<Magnitude> {
    let mut equations = Equations::default();
    let integrals = derivation.integrals.rows().map(|integral| &integral.value);
    let outputs = derivation.outputs.iter().map(|output| &output.value);
    let all = integrals.chain(outputs).chain(derivation.field.expressions());
    all.for_each(|expression| equations.add(expression));
    for state in derivation.symbols.states() {
        for (_, entry) in derivation.structure.row(&derivation.symbols, state) {
            equations.add(&entry);
        }
    }
    let mut found = equations.found;
    let unknowns = derivation.symbols.unknowns().count();
    let known = |symbol: &Symbol| symbol.place() < unknowns;
    found.retain(|term| !term.degrees.is_empty() && term.degrees.iter().all(|(symbol, _)| known(symbol)));
    found
}

/// Collects such expressions, visiting each distinct part once.
#[derive(Default)]
struct Equations {
    found: Vec<Magnitude>,
    magnitudes: Results<Magnitude>,
    seen: Results<()>,
}

impl Equations {
    fn add(&mut self, expression: &Expression) {
        if self.seen.get(expression).is_some() {
            return;
        }
        self.seen.insert(expression, &());
        let magnitude = |part: &Expression| Magnitude::of(part, &self.magnitudes);
        match expression {
            Expression::Sum(terms) => {
                let first = magnitude(&terms[0]);
                self.found.extend(terms[1..].iter().map(|term| magnitude(term).divided_by(&first)));
            }
            Expression::Call(function, arguments)
                if !matches!(function, Function::Abs | Function::Sign | Function::Step) =>
            {
                self.found.extend(arguments.iter().map(magnitude));
            }
            _ => {}
        }
        expression.children().for_each(|child| self.add(child));
    }
}
