//! dI.X as an element at a point, for proofs that it vanishes.
//!
//! X is taken from the gradients and brackets that were derived, and c is solved for at the point: no determinant is written out,
//! however many constraints there are. Where C has no inverse, nothing is proved.

use std::collections::{BTreeMap, BTreeSet};

use super::identities::vanish_on;
use super::point::{Constraint, ModularPoint, Set};
use super::rotation::Rotation;
use crate::derivation::table::Table;
use crate::derivation::{
    Coefficient, Constraints, Derivation, Field, Implicit, IntegralId, LinearSystem, Role, SparseRow, column_of,
};
use crate::expression::{Expression, Symbol};
use crate::numbers::linear::solution;
use crate::numbers::ring::{Element, LARGEST_DIMENSION};

/// Whether dI.X is proved to vanish in every state where it is defined.
pub(super) fn vanishes_everywhere(derivation: &Derivation, integral: IntegralId) -> bool {
    vanishes(derivation, integral, &Set::default())
}

/// Whether dI.X is proved to vanish wherever all constraints hold and it is defined.
pub(super) fn vanishes_on_constraints(derivation: &Derivation, integral: IntegralId) -> bool {
    let parts = constraint_set(derivation);
    !parts.is_empty() && parts.iter().all(|part| vanishes(derivation, integral, part))
}

/// The parts of the constraint set, each by itself; none where there are no constraints.
pub(super) fn constraint_set(derivation: &Derivation) -> Vec<Set<'_>> {
    let symbols = &derivation.symbols;
    let mut constraints = Constraint::all(derivation);
    if constraints.is_empty() {
        return Vec::new();
    }
    let rotations = Rotation::take(&mut constraints);
    let part = |part: u32| {
        let mut rotations = rotations.clone();
        rotations.iter_mut().enumerate().for_each(|(index, rotation)| rotation.reflects = part >> index & 1 == 1);
        Set {
            constraints: constraints.clone(),
            rotations,
            variables: symbols.states().collect(),
            velocities: symbols.with(|role| matches!(role, Role::Velocity | Role::Momentum { .. })),
        }
    };
    (0..1 << rotations.len()).map(part).collect()
}

/// What X is made of.
pub(super) fn parts_of_field(derivation: &Derivation) -> Vec<Expression> {
    match &derivation.field {
        Field::Given(rates) => rates.rows().cloned().collect(),
        Field::Implicit(implicit) => {
            let entries = |system: &LinearSystem| system.rows().flatten().cloned().collect::<Vec<_>>();
            implicit.rates.rows().cloned().chain(implicit.systems.iter().flat_map(entries)).collect()
        }
        Field::Dirac(acting) => {
            let slopes = |id: IntegralId| derivation.integrals[id].gradient.iter().map(|(_, slope)| slope.clone());
            let System { matrix, right_side, members, .. } = System::new(derivation, acting);
            let gradients = members.into_iter().chain(derivation.integrals.energy()).flat_map(slopes);
            let forces = derivation.drive.forces.iter().map(|force| force.value.clone());
            gradients.chain(matrix.into_iter().flatten()).chain(right_side).chain(forces).collect()
        }
    }
}

/// X, with c as unknowns of a linear system.
pub(super) fn flow(derivation: &Derivation) -> Implicit {
    match &derivation.field {
        Field::Given(rates) => Implicit { systems: Vec::new(), rates: rates.clone() },
        Field::Implicit(implicit) => implicit.clone(),
        Field::Dirac(acting) => System::new(derivation, acting).flow(),
    }
}

fn vanishes(derivation: &Derivation, integral: IntegralId, set: &Set<'_>) -> bool {
    let slopes = |id: IntegralId| derivation.integrals[id].gradient.iter().map(|(_, slope)| slope);
    match &derivation.field {
        Field::Given(rates) => {
            let parts: Vec<&Expression> = slopes(integral).chain(rates.rows()).collect();
            let rate = |point: &mut ModularPoint| rate_along(point, derivation, integral, rates);
            vanish_on(&parts, set, LARGEST_DIMENSION as u64, rate)
        }
        Field::Implicit(implicit) => {
            let rates = || implicit.rates.iter();
            let slope = |symbol: Symbol| derivation.entry(integral, symbol);
            let relevant: Vec<&Expression> =
                rates().filter(|(x, _)| slope(*x).is_some()).map(|(_, rate)| rate).collect();
            let systems = needed(implicit, &relevant);
            let entries = systems.iter().flat_map(|system| system.matrix.iter().flatten().chain(&system.right_side));
            let parts: Vec<&Expression> = slopes(integral).chain(relevant).chain(entries).collect();
            // What is solved for is a quotient of minors, and what is solved for next is made of it.
            let growth =
                systems.iter().fold(1, |growth: u64, system| growth.saturating_mul(system.unknowns.len() as u64 + 2));
            let rate = |point: &mut ModularPoint| rate_of_implicit(point, derivation, &systems, implicit, integral);
            vanish_on(&parts, set, growth.saturating_mul(LARGEST_DIMENSION as u64), rate)
        }
        Field::Dirac(acting) => {
            let system = System::new(derivation, acting);
            let gradients = acting.members().into_iter().chain(derivation.integrals.energy()).chain([integral]);
            let brackets = system.matrix.iter().flatten().chain(&system.right_side);
            let forces = derivation.drive.forces.iter().map(|force| &force.value);
            let parts: Vec<&Expression> = gradients.flat_map(slopes).chain(brackets).chain(forces).collect();
            let factor = LARGEST_DIMENSION * (system.members.len() + 3);
            vanish_on(&parts, set, factor as u64, |point| system.rate(point, integral))
        }
    }
}

/// The systems whose solutions these expressions contain, or that such systems contain.
fn needed<'a>(implicit: &'a Implicit, expressions: &[&Expression]) -> Vec<&'a LinearSystem> {
    let mut symbols: BTreeSet<Symbol> = expressions.iter().flat_map(|expression| expression.symbols()).collect();
    let mut systems = Vec::new();
    for system in implicit.systems.iter().rev() {
        if system.unknowns.iter().any(|unknown| symbols.contains(unknown)) {
            symbols.extend(system.matrix.iter().flatten().chain(&system.right_side).flat_map(Expression::symbols));
            systems.insert(0, system);
        }
    }
    systems
}

fn rate_of_implicit(
    point: &mut ModularPoint,
    derivation: &Derivation,
    systems: &[&LinearSystem],
    implicit: &Implicit,
    integral: IntegralId,
) -> Option<Element> {
    bind_solutions(point, systems)?;
    rate_along(point, derivation, integral, &implicit.rates)
}

/// Solves linear systems, each of which may contain what those before it are solved for.
fn bind_solutions(point: &mut ModularPoint, systems: &[&LinearSystem]) -> Option<()> {
    for system in systems {
        let mut rows = Vec::new();
        for row in system.rows() {
            rows.push(row.map(|entry| point.evaluate(entry)).collect::<Option<Vec<Element>>>()?);
        }
        let solution = solution(&point.ring, rows)?;
        system.unknowns.iter().zip(solution).for_each(|(unknown, element)| point.bind(*unknown, element));
    }
    Some(())
}

fn rate_along(
    point: &mut ModularPoint,
    derivation: &Derivation,
    integral: IntegralId,
    rates: &Table<Symbol, Expression>,
) -> Option<Element> {
    let mut rate = Element::new();
    for (symbol, slope) in &derivation.integrals[integral].gradient {
        let (slope, velocity) = (point.evaluate(slope)?, point.evaluate(&rates[*symbol])?);
        rate = point.ring.add(&rate, &point.ring.multiply(&slope, &velocity));
    }
    Some(rate)
}

/// The linear system C^T c = b.
struct System<'a> {
    derivation: &'a Derivation,
    members: Vec<IntegralId>,
    /// C
    matrix: Vec<Vec<Expression>>,
    /// b
    right_side: Vec<Expression>,
}

impl<'a> System<'a> {
    fn new(derivation: &'a Derivation, constraints: &Constraints) -> Self {
        Self {
            derivation,
            members: constraints.members(),
            matrix: constraints.matrix(),
            right_side: constraints.right_side(&derivation.integrals),
        }
    }

    /// y(I) - sum_j c_j ({I, f_j} + dI/dW drive(f_j)), for the work W.
    fn rate(&self, point: &mut ModularPoint, integral: IntegralId) -> Option<Element> {
        let own = self.gradient(point, integral)?;
        let energy = self.gradient(point, self.derivation.integrals.energy()?)?;
        let free = self.drive(point, &own)?;
        let along_energy = self.with_work(point, &own, &energy)?;
        let mut rate = point.ring.add(&along_energy, &free);
        let mut reactions = Vec::new();
        for &member in &self.members {
            let gradient = self.gradient(point, member)?;
            reactions.push(self.with_work(point, &own, &gradient)?);
        }
        if reactions.iter().all(Vec::is_empty) {
            return Some(rate);
        }
        for (multiplier, reaction) in self.multipliers(point)?.iter().zip(&reactions) {
            rate = point.ring.subtract(&rate, &point.ring.multiply(multiplier, reaction));
        }
        Some(rate)
    }

    /// X = J v + Q along the momenta + .., for v = grad H - Df^T c.
    fn flow(&self) -> Implicit {
        let Derivation { symbols, structure, drive, integrals, .. } = self.derivation;
        let first = symbols.iter().count() as u32;
        let unknowns: Vec<Symbol> = (first..).map(Symbol).take(self.members.len()).collect();
        let slopes = |integral: IntegralId| integrals[integral].gradient.iter().cloned();
        let mut v: BTreeMap<Symbol, Expression> = integrals.energy().into_iter().flat_map(slopes).collect();
        for (unknown, member) in unknowns.iter().zip(&self.members) {
            for (symbol, slope) in slopes(*member) {
                let entry = v.entry(symbol).or_insert_with(Expression::zero);
                *entry = entry.clone() - Expression::from(*unknown) * slope;
            }
        }
        let driven = |slope: &dyn Fn(Symbol) -> Option<Expression>| {
            let terms = drive.terms(slope).into_iter();
            Expression::sum(terms.map(|(slope, force)| slope * force.cloned().unwrap_or_else(Expression::one)))
        };
        let rate = |state: Symbol| {
            let along = structure.bracket(symbols, [(state, ())], |symbol| v.get(&symbol).cloned());
            let along = along.into_iter().map(|((), entry, slope)| entry.expression() * slope);
            let work = (drive.work == Some(state)).then(|| driven(&|symbol| v.get(&symbol).cloned()));
            let free = driven(&|symbol| (symbol == state).then(Expression::one));
            Expression::sum(along.chain(work).chain([free]))
        };
        let transposed = |i: usize| self.matrix.iter().map(|row| row[i].clone()).collect();
        let matrix = (0..unknowns.len()).map(transposed).collect();
        let system = LinearSystem { unknowns, matrix, right_side: self.right_side.clone() };
        Implicit { systems: vec![system], rates: symbols.states().map(rate).collect() }
    }

    fn gradient(&self, point: &mut ModularPoint, integral: IntegralId) -> Option<SparseRow<Element>> {
        let gradient = self.derivation.integrals[integral].gradient.iter();
        gradient.map(|(symbol, slope)| Some((*symbol, point.evaluate(slope)?))).collect()
    }

    fn bracket(&self, point: &mut ModularPoint, f: &SparseRow<Element>, g: &SparseRow<Element>) -> Option<Element> {
        let slopes = f.iter().map(|(symbol, slope)| (*symbol, slope));
        let other = |symbol: Symbol| column_of(g, symbol);
        let mut sum = Element::new();
        for (f, entry, g) in self.derivation.structure.bracket(&self.derivation.symbols, slopes, other) {
            let term = point.ring.multiply(f, g);
            let term = match entry {
                Coefficient::One => term,
                Coefficient::MinusOne => point.ring.negative(&term),
                Coefficient::Function(function) => {
                    let factor = point.evaluate(function)?;
                    point.ring.multiply(&factor, &term)
                }
            };
            sum = point.ring.add(&sum, &term);
        }
        Some(sum)
    }

    /// {f, g} + df/dW drive(g)
    fn with_work(&self, point: &mut ModularPoint, f: &SparseRow<Element>, g: &SparseRow<Element>) -> Option<Element> {
        let bracket = self.bracket(point, f, g)?;
        let Some(by_work) = self.derivation.drive.work.and_then(|work| column_of(f, work)) else {
            return Some(bracket);
        };
        let power = self.drive(point, g)?;
        Some(point.ring.add(&bracket, &point.ring.multiply(by_work, &power)))
    }

    /// drive(f)
    fn drive(&self, point: &mut ModularPoint, f: &SparseRow<Element>) -> Option<Element> {
        let mut sum = Element::new();
        for (slope, force) in self.derivation.drive.terms(|symbol| column_of(f, symbol)) {
            let term = match force {
                Some(force) => {
                    let force = point.evaluate(force)?;
                    point.ring.multiply(slope, &force)
                }
                None => slope.clone(),
            };
            sum = point.ring.add(&sum, &term);
        }
        Some(sum)
    }

    /// c
    fn multipliers(&self, point: &mut ModularPoint) -> Option<Vec<Element>> {
        let n = self.members.len();
        let mut rows = Vec::new();
        for i in 0..n {
            let column = self.matrix.iter().map(|row| &row[i]).chain([&self.right_side[i]]);
            rows.push(column.map(|entry| point.evaluate(entry)).collect::<Option<Vec<Element>>>()?);
        }
        solution(&point.ring, rows)
    }
}
