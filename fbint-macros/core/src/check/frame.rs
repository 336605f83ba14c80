//! A Lagrangian system in the frame of its velocities, in numbers at one point.
//!
//! d'Alembert's principle, from L and its second derivatives: along every direction of the frame, the residual of the equations of
//! motion vanishes with the derived accelerations and multipliers put in. No linear system of the derivation takes part.

use std::collections::BTreeMap;

use super::declared::{Covector, DeclaredAtPoint, add_multiple};
use crate::derivation::{IntegralId, Kind, Lagrangian, Problem, Role};
use crate::expression::Symbol;
use crate::numbers::derivative::{Differentiated, add, dot, entry, gradient};
use crate::numbers::number::Number;
use crate::numbers::precise::Real;
use crate::proofs::{State, VanishingFunction, common_zeros, solve};

/// States on the constraint set in which brackets are compared.
const STATES: usize = 2;

/// Returns `true` if the brackets of directions are what they are said to be in a few states in which all constraints of coordinates hold.
pub(super) fn closes_on_constraints(problem: &Problem) -> bool {
    let constraints = problem.integrals.iter().filter_map(|(_, integral)| match integral.kind {
        Kind::Holonomic { .. } | Kind::InvariantSet => integral.value.as_ref(),
        _ => None,
    });
    let with_gradient = |value| Some((value, gradient(value, |symbol| problem.symbols.is_state(symbol))?));
    let Some(functions) = constraints.map(with_gradient).collect::<Option<Vec<_>>>() else { return false };
    let functions: Vec<VanishingFunction<'_>> =
        functions.iter().map(|(value, gradient)| VanishingFunction { value, gradient }).collect();
    let misfit = |state: State| {
        let value = |symbol: Symbol| state.evaluate(&symbol.into()).unwrap_or_else(Real::undefined);
        let declared = DeclaredAtPoint::at(problem, value)?;
        Some(declared.frame.as_ref()?.misfit(&declared))
    };
    let misfits: Vec<_> = common_zeros(&problem.symbols, &functions).filter_map(misfit).take(STATES).collect();
    !functions.is_empty() && !misfits.is_empty() && misfits.iter().all(Option::is_none)
}

/// L, U and what follows from them by differentiation alone.
pub(super) struct Frame<'a> {
    declared: &'a Lagrangian,
    /// L; its derivatives by velocities, vanishing ones included, are the momenta.
    pub(super) lagrangian: Differentiated<Real>,
    /// q' = U xi
    pub(super) kinematics: BTreeMap<Symbol, Differentiated<Real>>,
    /// U, row by row.
    directions: BTreeMap<Symbol, Covector>,
    /// The gradients of the momenta of the velocities that do not vanish.
    momenta: BTreeMap<Symbol, Covector>,
    /// The c^a_ij by i and j.
    pub(super) brackets: BTreeMap<(Symbol, Symbol), Covector>,
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
        let xi = self.velocities(system);
        let mut gradient = self.change_of_momenta(&xi);
        for (x, slope) in &self.lagrangian.gradient {
            if !system.problem.symbols[*x].role.is_velocity() {
                add(&mut gradient, *x, slope.negated());
            }
        }
        let mut value = &dot(&xi, &self.lagrangian.gradient) - &self.lagrangian.value;
        if let Some(work) = system.problem.symbols.only(Role::Work) {
            gradient.insert(work, Real::from(-1.0));
            value = &value - &system.value(work);
        }
        Differentiated { value, gradient }
    }

    /// xi, of the velocities that do not vanish.
    fn velocities(&self, system: &DeclaredAtPoint<'_>) -> Covector {
        self.momenta.keys().map(|j| (*j, system.value(*j))).collect()
    }

    /// (D^2 L) v of a v along velocities that do not vanish.
    fn change_of_momenta(&self, v: &Covector) -> Covector {
        let mut change = Covector::new();
        v.iter().for_each(|(velocity, entry)| add_multiple(&mut change, entry, &self.momenta[velocity]));
        change
    }

    /// M z = b
    fn solve(&self, b: &Covector) -> Option<Covector> {
        let row = |(j, slopes): (&Symbol, &Covector)| {
            self.momenta.keys().map(|i| entry(slopes, *i)).chain([entry(b, *j)]).collect()
        };
        Some(self.momenta.keys().copied().zip(solve(self.momenta.iter().map(row).collect())?).collect())
    }

    /// y and c2 where some velocities have no inertia, from one system without M_s:
    ///
    /// M y + sum over velocity constraints A of (tr M / |A|^2) A^T A y = G^T c2,  G y = g'
    fn shift(&self, system: &DeclaredAtPoint<'_>) -> Option<(Covector, Covector)> {
        let trace = self.momenta.iter().fold(Real::zero(), |sum, (j, slopes)| &sum + &entry(slopes, *j));
        let mut mass = self.momenta.clone();
        for reaction in &system.problem.reactions {
            let along = reaction.along.iter().filter(|(velocity, _)| mass.contains_key(velocity));
            let along = along.map(|(velocity, entry)| Some((*velocity, system.evaluate(entry)?)));
            let along: Covector = along.collect::<Option<_>>()?;
            let weight = &trace / &dot(&along, &along);
            for (velocity, entry) in &along {
                add_multiple(mass.get_mut(velocity)?, &weight.times(entry), &along);
            }
        }
        let rates: Vec<IntegralId> =
            system.problem.integrals.holonomic_pairs().into_iter().map(|(_, rate)| rate).collect();
        let velocities: Vec<Symbol> = mass.keys().copied().collect();
        let of_momentum = velocities.iter().map(|j| {
            let inertia = velocities.iter().map(|i| entry(&mass[j], *i));
            let push = rates.iter().map(|rate| entry(&system.integrals[*rate].gradient, *j).negated());
            inertia.chain(push).chain([Real::zero()]).collect()
        });
        let of_rate = rates.iter().map(|rate| {
            let rate = &system.integrals[*rate];
            let slopes = velocities.iter().map(|j| entry(&rate.gradient, *j));
            slopes.chain(rates.iter().map(|_| Real::zero())).chain([rate.value.clone()]).collect()
        });
        let solved = solve(of_momentum.chain(of_rate).collect())?;
        let multipliers =
            rates.iter().map(|rate| system.problem.symbols.multiplier(*rate)).collect::<Option<Vec<_>>>()?;
        let symbols = velocities.iter().copied().chain(multipliers);
        let (y, c2) = symbols.zip(solved).partition(|(symbol, _)| mass.contains_key(symbol));
        Some((y, c2))
    }

    /// c^a_ij p_a v^i + u_j.w of every velocity j, also of those that vanish.
    fn forces(&self, v: &Covector, w: &Covector) -> Covector {
        let mut forces = Covector::new();
        for (x, row) in &self.directions {
            add_multiple(&mut forces, &entry(w, *x), row);
        }
        for ((i, j), coefficients) in &self.brackets {
            let momentum = dot(coefficients, &self.lagrangian.gradient);
            add(&mut forces, *j, momentum.times(&entry(v, *i)));
            add(&mut forces, *i, momentum.times(&entry(v, *j)).negated());
        }
        forces
    }

    /// d'Alembert's residual: by coordinates and the work, rates minus those that follow from xi - y; by velocities, with
    /// w = d(L + sum c1 g + sum c2 g')/dx - (dp/dx) . y,
    ///
    /// p_j' - c^a_ij p_a (xi - y)^i - u_j.w - Q_j - (A^T c)_j
    ///
    /// over the velocity constraints A, which is what holds the velocities that vanish. y is M^-1 (dg'/dxi)^T c2; where there is no
    /// M^-1, c2 is computed and compared, too.
    pub(super) fn residual(&self, system: &DeclaredAtPoint<'_>, rates: &Covector, c: &Covector) -> Option<Covector> {
        let (problem, symbols) = (system.problem, &system.problem.symbols);
        let multiplier = |id: IntegralId| Some(entry(c, symbols.multiplier(id)?));
        let (mut slope, mut push) = (self.lagrangian.gradient.clone(), Covector::new());
        for (constraint, rate) in problem.integrals.holonomic_pairs() {
            let of_rate = &system.integrals[rate].gradient;
            add_multiple(&mut slope, &multiplier(constraint)?, &system.integrals[constraint].gradient);
            add_multiple(&mut slope, &multiplier(rate)?, of_rate);
            add_multiple(&mut push, &multiplier(rate)?, of_rate);
        }
        let (y, c2) = match self.declared.is_augmented {
            true => self.shift(system)?,
            false => (self.solve(&push)?, Covector::new()),
        };
        add_multiple(&mut slope, &Real::from(-1.0), &self.change_of_momenta(&y));
        let mut velocities = self.velocities(system);
        add_multiple(&mut velocities, &Real::from(-1.0), &y);

        let mut residual = system.second_derivative(&self.declared.lagrangian, rates)?;
        residual.retain(|symbol, _| symbols[*symbol].role.is_velocity());
        add_multiple(&mut residual, &Real::from(-1.0), &self.forces(&velocities, &slope));
        add_multiple(&mut residual, &Real::from(-1.0), &system.forces);
        let mut moving = Real::zero();
        for reaction in &problem.reactions {
            let c = multiplier(reaction.constraint)?.negated();
            moving = &moving + &c.times(&system.evaluate(&reaction.offset)?);
            for (velocity, along) in &reaction.along {
                add(&mut residual, *velocity, c.times(&system.evaluate(along)?));
            }
        }
        for (x, row) in &self.directions {
            residual.insert(*x, &entry(rates, *x) - &dot(row, &velocities));
        }
        residual.extend(c2.iter().map(|(symbol, value)| (*symbol, &entry(c, *symbol) - value)));
        if let Some(work) = symbols.only(Role::Work) {
            let power = &dot(&system.forces, &velocities) - &system.by_time(&slope);
            residual.insert(work, &entry(rates, work) - &(&power + &moving));
        }
        residual.extend(symbols.only(Role::Time).map(|time| (time, &entry(rates, time) - &Real::from(1.0))));
        Some(residual)
    }

    /// p_a of every velocity.
    pub(super) fn all_momenta(&self, system: &DeclaredAtPoint<'_>) -> Covector {
        let velocities = system.problem.symbols.with(Role::is_velocity);
        velocities.into_iter().map(|a| (a, entry(&self.lagrangian.gradient, a))).collect()
    }

    /// c^a_ij p_a xi^i + u_j[L] of every velocity that does not vanish.
    pub(super) fn free_forces(&self, system: &DeclaredAtPoint<'_>) -> Covector {
        let forces = self.forces(&self.velocities(system), &self.lagrangian.gradient);
        self.momenta.keys().map(|&j| (j, entry(&forces, j))).collect()
    }

    /// Two directions, not both zero, whose bracket differs from the claimed one.
    pub(super) fn misfit(&self, system: &DeclaredAtPoint<'_>) -> Option<(Symbol, Symbol)> {
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
        Some((i.0, j.0))
    }
}
