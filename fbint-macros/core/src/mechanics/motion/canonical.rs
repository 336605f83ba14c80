//! Canonical systems with velocity constraints f = A(q) dH/dp.
//!
//! Q are the driving forces, if there are any, and y = (H_p, Q - H_q, 1) is the flow without constraints.
//!
//! With holonomic and velocity constraints q' = H_p - f_p^T c2,  p' = Q - H_q + f_q^T c2 + A^T c1,  where S = A f_p^T = A H_pp A^T,
//! S c2 = f among the rates of holonomic constraints, and c1 of all makes df.X = 0.

use std::collections::BTreeMap;

use super::{Force, Motion, Row, along, by_time, driving_force, entry, forces, slopes};
use crate::derivation::table::Table;
use crate::derivation::{Implicit, IntegralId, LinearSystem, Problem, Role};
use crate::expression::{Expression, Symbol};

pub(super) fn motion(problem: &Problem, hamiltonian: &Expression) -> Option<Motion> {
    let system = System::of(problem, hamiltonian)?;
    Some(Motion { field: system.field()?, hamel: None, derived: system.derived })
}

struct System<'a> {
    problem: &'a Problem,
    /// dH
    slope: Row,
    forces: Vec<Force>,
    /// The functions of integrals that are not declared.
    derived: BTreeMap<IntegralId, Expression>,
}

impl<'a> System<'a> {
    fn of(problem: &'a Problem, hamiltonian: &Expression) -> Option<Self> {
        let symbols = &problem.symbols;
        let slope = slopes(symbols, hamiltonian)?;
        let forces = forces(problem, |constraint| slopes(symbols, constraint))?;
        let mut system = Self { problem, slope, forces, derived: BTreeMap::new() };
        for Force { kept, row, .. } in system.forces.iter().filter(|force| force.is_holonomic) {
            let rate = along(row, |symbol| system.free(symbol));
            system.derived.insert(*kept, rate);
        }
        system.derived.insert(problem.energy()?, problem.energy_function()?);
        Some(system)
    }

    fn value(&self, id: IntegralId) -> Option<&Expression> {
        self.derived.get(&id).or(self.problem.integrals[id].value.as_ref())
    }

    fn partner(&self, symbol: Symbol) -> Option<Symbol> {
        match self.problem.symbols[symbol].role {
            Role::Coordinate { momentum } => Some(momentum),
            Role::Momentum { coordinate } => Some(coordinate),
            _ => None,
        }
    }

    /// The rate of an entry of the state without constraints; nothing for the work.
    fn free(&self, symbol: Symbol) -> Expression {
        match self.problem.symbols[symbol].role {
            Role::Coordinate { momentum } => entry(&self.slope, momentum),
            Role::Momentum { coordinate } => driving_force(self.problem, symbol) - entry(&self.slope, coordinate),
            Role::Time => Expression::one(),
            _ => Expression::zero(),
        }
    }

    /// The rates of all entries of the state, the work's among them, from those without constraints, with what constraints add to each,
    /// and the multipliers with the gradients of what they hold.
    fn rates(&self, of: impl Fn(Symbol) -> Expression, holding: &[(Symbol, &Row)]) -> Table<Symbol, Expression> {
        let symbols = &self.problem.symbols;
        let power = || {
            let of_forces = self
                .problem
                .forces
                .iter()
                .filter_map(|(momentum, force)| Some(force.clone() * of(self.partner(*momentum)?)));
            let of_constraints =
                holding.iter().map(|(multiplier, row)| -(Expression::from(*multiplier) * by_time(symbols, row)));
            let of_energy = by_time(symbols, &self.slope);
            Expression::sum(of_forces.chain([of_energy]).chain(of_constraints).collect::<Vec<_>>())
        };
        let rate = |symbol: Symbol| match symbols[symbol].role {
            Role::Work => power(),
            _ => of(symbol),
        };
        symbols.states().map(rate).collect()
    }

    fn field(&self) -> Option<Implicit> {
        let Self { problem, forces, .. } = self;
        let symbols = &problem.symbols;
        let of_kept: Vec<Row> =
            forces.iter().map(|force| slopes(symbols, self.value(force.kept)?)).collect::<Option<_>>()?;
        let dirac: Vec<usize> = (0..forces.len()).filter(|&r| forces[r].is_holonomic).collect();
        let multiplier = |id: IntegralId| symbols.multiplier(id);
        // S
        let product = |r: usize, s: usize| {
            let by_momentum = |q| self.partner(q).map_or_else(Expression::zero, |p| entry(&of_kept[s], p));
            along(&forces[r].row, by_momentum)
        };
        let mut systems = Vec::new();
        if !dirac.is_empty() {
            systems.push(LinearSystem {
                unknowns: dirac.iter().map(|&r| multiplier(forces[r].kept)).collect::<Option<_>>()?,
                matrix: dirac.iter().map(|&r| dirac.iter().map(|&s| product(r, s)).collect()).collect(),
                right_side: dirac.iter().map(|&r| self.value(forces[r].kept).cloned()).collect::<Option<_>>()?,
            });
        }
        // sum over the Dirac rows of c2 df / d symbol
        let shifted = |symbol: Symbol| {
            Expression::sum(dirac.iter().filter_map(|&r| {
                let slope = of_kept[r].get(&symbol)?;
                Some(Expression::from(multiplier(forces[r].kept)?) * slope.clone())
            }))
        };
        // The rates without the forces A^T c1.
        let free = |symbol: Symbol| match symbols[symbol].role {
            Role::Coordinate { momentum } => self.free(symbol) - shifted(momentum),
            Role::Momentum { coordinate } => shifted(coordinate) + self.free(symbol),
            _ => self.free(symbol),
        };
        if !forces.is_empty() {
            systems.push(LinearSystem {
                unknowns: forces.iter().map(|force| multiplier(force.constraint)).collect::<Option<_>>()?,
                matrix: (0..forces.len()).map(|r| (0..forces.len()).map(|s| product(r, s)).collect()).collect(),
                right_side: of_kept.iter().map(|row| -along(row, free)).collect(),
            });
        }
        let reaction = |coordinate: Symbol| {
            Expression::sum(forces.iter().filter_map(|force| {
                let entry = force.row.get(&coordinate)?;
                Some(entry.clone() * Expression::from(multiplier(force.constraint)?))
            }))
        };
        let rate = |symbol: Symbol| match symbols[symbol].role {
            Role::Momentum { coordinate } => free(symbol) + reaction(coordinate),
            _ => free(symbol),
        };
        let mut holding = Vec::new();
        for &r in &dirac {
            holding.push((multiplier(forces[r].constraint)?, &forces[r].row));
            holding.push((multiplier(forces[r].kept)?, &of_kept[r]));
        }
        Some(Implicit { systems, rates: self.rates(rate, &holding) })
    }
}
