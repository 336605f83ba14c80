//! A Lagrangian system in the frame of its velocities, in numbers at one point.
//!
//! On the momenta p of its velocities it is canonical, with the bracket of the frame: x' = u_j^x v^j and
//! p_j' = c^a_ij p_a v^i - u_j.w move along a covector with the entries v by momenta and w by coordinates.

use std::collections::BTreeMap;

use super::declared::{Covector, DeclaredAtPoint, add_multiple, entry};
use crate::derivation::{Lagrangian, Role};
use crate::expression::Symbol;
use crate::numbers::derivative::{Differentiated, add, dot};
use crate::numbers::number::Number;
use crate::numbers::precise::Real;
use crate::proofs::solve;

/// L, U and what follows from them by differentiation alone.
pub(super) struct Frame<'a> {
    declared: &'a Lagrangian,
    /// L; its derivatives by velocities are the momenta, also those of velocities that vanish.
    lagrangian: Differentiated<Real>,
    /// q' = U xi
    pub(super) kinematics: BTreeMap<Symbol, Differentiated<Real>>,
    /// U, row by row.
    directions: BTreeMap<Symbol, Covector>,
    /// The gradients of the momenta of the velocities that do not vanish.
    momenta: BTreeMap<Symbol, Covector>,
    /// The c^a_ij by i and j.
    brackets: BTreeMap<(Symbol, Symbol), Covector>,
}

/// Something that is derived for a frame.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum FramePart {
    Lagrangian,
    Momentum(Symbol),
    /// c^a_ij p_a xi^i + u_j[L]
    Force(Symbol),
    /// c^a_ij by i, j and a.
    Bracket(Symbol, Symbol, Symbol),
}

impl<'a> Frame<'a> {
    pub(super) fn at(system: &DeclaredAtPoint<'a>, declared: &'a Lagrangian) -> Option<Self> {
        let symbols = &system.problem.symbols;
        let (mut kinematics, mut directions) = (BTreeMap::new(), BTreeMap::new());
        for (x, rate) in &declared.kinematics {
            let rate = system.differentiate(rate)?;
            let mut row = rate.gradient.clone();
            row.retain(|symbol, _| symbols[*symbol].role.is_velocity());
            directions.insert(*x, row);
            kinematics.insert(*x, rate);
        }
        let momentum = |velocity: Symbol| {
            let along = Covector::from([(velocity, Real::from(1.0))]);
            Some((velocity, system.second_derivative(&declared.lagrangian, &along)?))
        };
        let momenta = symbols.with(|role| role == Role::Velocity).into_iter().map(momentum).collect::<Option<_>>()?;
        let mut brackets = BTreeMap::new();
        for bracket in &declared.brackets {
            let coefficients = bracket.coefficients.iter();
            let values = coefficients.map(|(a, c)| Some((*a, system.evaluate(c)?))).collect::<Option<_>>()?;
            brackets.insert(bracket.of, values);
        }
        let lagrangian = system.differentiate(&declared.lagrangian)?;
        Some(Self { declared, lagrangian, kinematics, directions, momenta, brackets })
    }

    /// xi . p - L, minus the work.
    pub(super) fn energy(&self, system: &DeclaredAtPoint<'_>) -> Differentiated<Real> {
        let xi: Covector = self.momenta.keys().map(|j| (*j, Real::from(system.value(*j)))).collect();
        let mut gradient = self.change_of_momenta(&xi);
        for (x, slope) in &self.lagrangian.gradient {
            if !system.problem.symbols[*x].role.is_velocity() {
                add(&mut gradient, *x, slope.negated());
            }
        }
        let mut value = &dot(&xi, &self.lagrangian.gradient) - &self.lagrangian.value;
        if let Some(work) = system.problem.symbols.only(Role::Work) {
            gradient.insert(work, Real::from(-1.0));
            value = &value - &Real::from(system.value(work));
        }
        Differentiated { value, gradient }
    }

    /// (D^2 L) v of a v along velocities that do not vanish.
    pub(super) fn change_of_momenta(&self, v: &Covector) -> Covector {
        let mut change = Covector::new();
        v.iter().for_each(|(velocity, entry)| add_multiple(&mut change, entry, &self.momenta[velocity]));
        change
    }

    /// The gradient by momenta, and by the others at constant momenta.
    pub(super) fn covector(&self, gradient: &Covector) -> Option<Covector> {
        let by_momenta = self.solve(gradient)?;
        let mut covector = gradient.clone();
        add_multiple(&mut covector, &Real::from(-1.0), &self.change_of_momenta(&by_momenta));
        covector.extend(by_momenta);
        Some(covector)
    }

    /// M z = b
    pub(super) fn solve(&self, b: &Covector) -> Option<Covector> {
        let row = |(j, slopes): (&Symbol, &Covector)| {
            self.momenta.keys().map(|i| entry(slopes, *i)).chain([entry(b, *j)]).collect()
        };
        Some(self.momenta.keys().copied().zip(solve(self.momenta.iter().map(row).collect())?).collect())
    }

    /// How coordinates and momenta, also those of velocities that vanish, move along a covector.
    pub(super) fn moved(&self, covector: &Covector) -> Covector {
        let mut moved = Covector::new();
        for (x, row) in &self.directions {
            moved.insert(*x, dot(row, covector));
            add_multiple(&mut moved, &entry(covector, *x).negated(), row);
        }
        for ((i, j), coefficients) in &self.brackets {
            let momentum = dot(coefficients, &self.lagrangian.gradient);
            add(&mut moved, *j, momentum.times(&entry(covector, *i)));
            add(&mut moved, *i, momentum.times(&entry(covector, *j)).negated());
        }
        moved
    }

    /// The rates of the velocities and what holds those that vanish, from the rates of everything else and of the momenta without it.
    pub(super) fn accelerations(&self, system: &DeclaredAtPoint<'_>, rates: &Covector) -> Option<(Covector, Covector)> {
        let symbols = &system.problem.symbols;
        let mut along = rates.clone();
        along.retain(|symbol, _| !symbols[*symbol].role.is_velocity());
        let mut rest = rates.clone();
        let change = system.second_derivative(&self.declared.lagrangian, &along)?;
        add_multiple(&mut rest, &Real::from(-1.0), &change);
        let accelerations = self.solve(&rest)?;
        add_multiple(&mut rest, &Real::from(-1.0), &self.change_of_momenta(&accelerations));
        let holding = symbols.iter().filter_map(|(velocity, info)| match info.role {
            Role::Vanishing { reaction } => Some((reaction, entry(&rest, velocity).negated())),
            _ => None,
        });
        Some((accelerations, holding.collect()))
    }

    /// What a derivation should have, in its order.
    pub(super) fn parts(&self, system: &DeclaredAtPoint<'_>) -> Vec<(FramePart, Real)> {
        let velocities = system.problem.symbols.with(Role::is_velocity);
        let momenta = velocities.into_iter().map(|j| (FramePart::Momentum(j), entry(&self.lagrangian.gradient, j)));
        let driving = |j| entry(&system.forces, j);
        let forces = self.momenta.keys().map(|&j| (FramePart::Force(j), &entry(&system.flow, j) - &driving(j)));
        let coefficients = self.brackets.iter().flat_map(|(&(i, j), coefficients)| {
            coefficients.iter().map(move |(a, c)| (FramePart::Bracket(i, j, *a), c.clone()))
        });
        let lagrangian = [(FramePart::Lagrangian, self.lagrangian.value.clone())];
        lagrangian.into_iter().chain(momenta).chain(forces).chain(coefficients).collect()
    }

    /// The bracket of two directions, which do not both vanish, that is not what it is said to be.
    pub(super) fn misfit(&self, system: &DeclaredAtPoint<'_>) -> Option<FramePart> {
        // The derivatives of the rows of U along a direction.
        let slopes = |i: Symbol| -> Option<Vec<Covector>> {
            let along = self.directions.iter().filter_map(|(x, row)| Some((*x, row.get(&i)?.clone()))).collect();
            self.declared.kinematics.iter().map(|(_, rate)| system.second_derivative(rate, &along)).collect()
        };
        let velocities = system.problem.symbols.with(Role::is_velocity).into_iter();
        let slopes: Vec<(Symbol, Vec<Covector>)> = velocities.map(|i| Some((i, slopes(i)?))).collect::<Option<_>>()?;
        let is_free = |velocity: &Symbol| self.momenta.contains_key(velocity);
        let nothing = Covector::new();
        let differs = |(i, along_i): &(Symbol, Vec<Covector>), (j, along_j): &(Symbol, Vec<Covector>)| {
            let said = self.brackets.get(&(*i, *j)).unwrap_or(&nothing);
            let mut rows = self.declared.kinematics.iter().zip(along_i.iter().zip(along_j));
            rows.any(|((x, _), (of_j, of_i))| {
                let bracket = &entry(of_j, *j) - &entry(of_i, *i);
                (&bracket - &dot(&self.directions[x], said)).is_nonzero()
            })
        };
        let mut pairs = slopes.iter().enumerate().flat_map(|(k, i)| slopes[k + 1..].iter().map(move |j| (i, j)));
        let (i, j) = pairs.find(|(i, j)| (is_free(&i.0) || is_free(&j.0)) && differs(i, j))?;
        Some(FramePart::Bracket(i.0, j.0, i.0))
    }
}
