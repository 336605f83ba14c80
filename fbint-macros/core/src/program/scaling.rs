//! Sizes of a model's unknowns at which every term matters.
//!
//! In p^2 / (2 m) - G m M / r with the constants of the solar system and numbers of size one, the first term is lost in the
//! rounding of the second, and with it every fault in what computes it. Here the logarithms of the sizes are chosen such
//! that the terms of every sum are about equal, and arguments of functions about one: linear equations, one for each term
//! but the first, to which the method of Kaczmarz finds a solution near zero, or a compromise where there is none.

use num_rational::BigRational;
use num_traits::ToPrimitive;

use crate::derivation::Derivation;
use crate::derivation::table::Table;
use crate::expression::{Expression, Function, Symbol, to_f64};
use crate::numbers::points::{IntegralSizes, Sizes};
use crate::numbers::scaled::{magnitude, power_of_two};

/// Passes over the equations, and the part by which each has to lower the residuals.
const SWEEPS: usize = 400;
const PROGRESS: f64 = 0.002;
/// Terms that differ by less than this factor, a power of two, need no balance.
const SIMILAR: f64 = 16.0;
/// The most equations examined; of more, every second or third one.
const MOST_EQUATIONS: usize = 1024;
/// The largest binary logarithm of a size.
const LARGEST: f64 = 160.0;

/// Sizes that balance the terms, in each of some turns the terms of other sums best; none where terms are of similar size anyway.
pub(super) fn balanced(derivation: &Derivation, turns: usize) -> Vec<Sizes> {
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
    fn of(expression: &Expression) -> Self {
        let mut term = Self::default();
        term.multiply(expression, 1.0);
        term
    }

    fn multiply(&mut self, factor: &Expression, exponent: f64) {
        match factor {
            Expression::Number(number) => self.logarithm += exponent * logarithm(number),
            Expression::Symbol(symbol) => self.raise(*symbol, exponent),
            Expression::Sum(terms) => {
                let first = terms.iter().find(|term| term.as_number().is_none());
                first.into_iter().for_each(|term| self.multiply(term, exponent));
            }
            Expression::Product(factors) => factors.iter().for_each(|factor| self.multiply(factor, exponent)),
            Expression::Power(base, power) => self.multiply(base, exponent * power.to_f64().unwrap_or(1.0)),
            Expression::Call(Function::Abs, arguments) => self.multiply(&arguments[0], exponent),
            Expression::Pi | Expression::Call(..) => {}
        }
    }

    fn raise(&mut self, symbol: Symbol, exponent: f64) {
        match self.degrees.iter_mut().find(|(known, _)| *known == symbol) {
            Some((_, degree)) => *degree += exponent,
            None => self.degrees.push((symbol, exponent)),
        }
    }

    fn divided_by(mut self, other: &Self) -> Self {
        self.logarithm -= other.logarithm;
        other.degrees.iter().for_each(|(symbol, degree)| self.raise(*symbol, -degree));
        self.degrees.retain(|(_, degree)| *degree != 0.0);
        self
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
    let mut found = Vec::new();
    let integrals = derivation.integrals.rows().map(|integral| &integral.value);
    let outputs = derivation.outputs.iter().map(|output| &output.value);
    let all = integrals.chain(outputs).chain(derivation.field.expressions());
    all.for_each(|expression| collect(expression, &mut found));
    for state in derivation.symbols.states() {
        for (_, entry) in derivation.structure.row(&derivation.symbols, state) {
            collect(&entry, &mut found);
        }
    }
    let known = |symbol: &Symbol| symbol.0 < derivation.symbols.unknowns().count() as u32;
    found.retain(|term| !term.degrees.is_empty() && term.degrees.iter().all(|(symbol, _)| known(symbol)));
    found
}

fn collect(expression: &Expression, found: &mut Vec<Magnitude>) {
    for part in expression.nodes() {
        match part {
            Expression::Sum(terms) => {
                let first = Magnitude::of(&terms[0]);
                found.extend(terms[1..].iter().map(|term| Magnitude::of(term).divided_by(&first)));
            }
            Expression::Call(function, arguments) if !matches!(function, Function::Abs | Function::Sign) => {
                found.extend(arguments.iter().map(Magnitude::of));
            }
            _ => {}
        }
    }
}
