//! Canonical systems with velocity constraints f = A(q) dH/dp.
//!
//! Q are the driving forces, if there are any, and y = (H_p, Q - H_q, 1) is the flow without constraints.
//!
//! With holonomic and velocity constraints q' = H_p - f_p^T c2,  p' = Q - H_q + f_q^T c2 + A^T c1,  where S = A f_p^T = A H_pp A^T,
//! S c2 = f among the rates of holonomic constraints, and c1 of all makes df.X = 0.

use std::collections::BTreeMap;

use super::{Motion, ReactionForce, Row, along, by_time, driving_force, entry, forces, slopes};
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
    forces: Vec<ReactionForce>,
    /// The functions of integrals that are not declared.
    derived: BTreeMap<IntegralId, Expression>,
}

impl<'a> System<'a> {
    fn of(problem: &'a Problem, hamiltonian: &Expression) -> Option<Self> {
        let symbols = &problem.symbols;
        let slope = slopes(symbols, hamiltonian)?;
        let forces = forces(problem, |constraint| slopes(symbols, constraint))?;
        let mut system = Self { problem, slope, forces, derived: BTreeMap::new() };
        for ReactionForce { kept, row, .. } in system.forces.iter().filter(|force| force.is_holonomic) {
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

    /// {q, f_kept} along the row of another reaction: an entry of S.
    fn product(&self, row: &Row, slopes: &Row) -> Expression {
        along(row, |q| self.partner(q).map_or_else(Expression::zero, |p| entry(slopes, p)))
    }

    fn field(&self) -> Option<Implicit> {
        let multiplier = |id: IntegralId| self.problem.symbols.multiplier(id);
        let of_force = |force: &ReactionForce| {
            Some(Kept {
                multiplier: multiplier(force.constraint)?,
                of_rate: if force.is_holonomic { Some(multiplier(force.kept)?) } else { None },
                row: force.row.clone(),
                value: self.value(force.kept)?.clone(),
                slopes: slopes(&self.problem.symbols, self.value(force.kept)?)?,
            })
        };
        let kept = self.forces.iter().map(of_force).collect::<Option<_>>()?;
        Some(ConstrainedFlow { system: self, kept }.implicit())
    }
}

/// What a reaction keeps.
struct Kept {
    /// The symbol of c1.
    multiplier: Symbol,
    /// The symbol of c2, of the rate of a holonomic constraint.
    of_rate: Option<Symbol>,
    /// A
    row: Row,
    /// f
    value: Expression,
    /// df
    slopes: Row,
}

/// The linear systems and the rates.
struct ConstrainedFlow<'a> {
    system: &'a System<'a>,
    kept: Vec<Kept>,
}

impl ConstrainedFlow<'_> {
    fn implicit(&self) -> Implicit {
        let rates = self.system.problem.symbols.states().map(|symbol| self.rate(symbol)).collect();
        Implicit { systems: self.shifts().into_iter().chain(self.reactions()).collect(), rates }
    }

    /// The rates of holonomic constraints, each with its multiplier c2.
    fn rates_of_constraints(&self) -> impl Iterator<Item = (Symbol, &Kept)> {
        self.kept.iter().filter_map(|kept| Some((kept.of_rate?, kept)))
    }

    /// S c2 = f
    fn shifts(&self) -> Option<LinearSystem> {
        let kept = || self.rates_of_constraints().map(|(_, kept)| kept);
        let row = |r: &Kept| kept().map(|s| self.system.product(&r.row, &s.slopes)).collect();
        let shifts = LinearSystem {
            unknowns: self.rates_of_constraints().map(|(multiplier, _)| multiplier).collect(),
            matrix: kept().map(row).collect(),
            right_side: kept().map(|kept| kept.value.clone()).collect(),
        };
        (!shifts.unknowns.is_empty()).then_some(shifts)
    }

    /// S c1 = -df.y, with the rates without the forces A^T c1 as y.
    fn reactions(&self) -> Option<LinearSystem> {
        let row = |r: &Kept| self.kept.iter().map(|s| self.system.product(&r.row, &s.slopes)).collect();
        let reactions = LinearSystem {
            unknowns: self.kept.iter().map(|kept| kept.multiplier).collect(),
            matrix: self.kept.iter().map(row).collect(),
            right_side: self.kept.iter().map(|kept| -along(&kept.slopes, |symbol| self.free(symbol))).collect(),
        };
        (!self.kept.is_empty()).then_some(reactions)
    }

    /// The sum of c2 df / d symbol over the rates of holonomic constraints.
    fn shifted(&self, symbol: Symbol) -> Expression {
        let term = |(multiplier, kept): (Symbol, &Kept)| {
            Some(Expression::from(multiplier) * kept.slopes.get(&symbol)?.clone())
        };
        Expression::sum(self.rates_of_constraints().filter_map(term))
    }

    /// The rate of an entry of the state without the forces A^T c1.
    fn free(&self, symbol: Symbol) -> Expression {
        match self.system.problem.symbols[symbol].role {
            Role::Coordinate { momentum } => self.system.free(symbol) - self.shifted(momentum),
            Role::Momentum { coordinate } => self.shifted(coordinate) + self.system.free(symbol),
            _ => self.system.free(symbol),
        }
    }

    /// The rate of an entry of the state but for the work.
    fn moved(&self, symbol: Symbol) -> Expression {
        let Role::Momentum { coordinate } = self.system.problem.symbols[symbol].role else { return self.free(symbol) };
        let reaction = |kept: &Kept| Some(kept.row.get(&coordinate)?.clone() * Expression::from(kept.multiplier));
        self.free(symbol) + Expression::sum(self.kept.iter().filter_map(reaction))
    }

    /// The rate of an entry of the state: of the work, the power of forces, and what the time changes in the energy and in constraints.
    fn rate(&self, symbol: Symbol) -> Expression {
        let System { problem, slope, .. } = self.system;
        if problem.symbols[symbol].role != Role::Work {
            return self.moved(symbol);
        }
        let power = |(momentum, force): &(Symbol, Expression)| {
            Some(force.clone() * self.moved(self.system.partner(*momentum)?))
        };
        let of_constraints = self.rates_of_constraints().flat_map(|(of_rate, kept)| {
            [(kept.multiplier, &kept.row), (of_rate, &kept.slopes)]
                .map(|(multiplier, row)| -(Expression::from(multiplier) * by_time(&problem.symbols, row)))
        });
        let of_energy = by_time(&problem.symbols, slope);
        Expression::sum(problem.forces.iter().filter_map(power).chain([of_energy]).chain(of_constraints))
    }
}
