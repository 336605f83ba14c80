//! Lagrangian systems in the frame of their velocities, by Hamel's equations.
//!
//! q' = U (xi - y),  M xi' = F - (dp/dq) q' + A^T c1,  where for every velocity j that does not vanish
//! F_j = Q_j + c^a_ij p_a (xi - y)^i + u_j[L] + (u_j[f] - (u_j[p]) . y) c2, with y = M^-1 A^T c2 over the rates f of holonomic
//! constraints, and A M^-1 A^T c2 = f. Where the constraints hold, c2 and y vanish. c1 makes df.X = 0 for all constraints. Q are the
//! driving forces, if there are any, whose work has the rate Q . (xi - y) - dL/dt + y . dp/dt - c1 dg/dt - c2 df/dt, with partial
//! derivatives by the time.

use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::{One, Zero};

use super::{LagrangianMotion, ReactionForce, Row, along, by_time, entry, forces, slopes};
use crate::derivation::{Dynamics, Field, Hamel, IntegralId, Lagrangian, LinearSystem, Problem, Role, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{self, Differentiated};

/// The motion of a Lagrangian system. `None` for any other system, or if something in it cannot be differentiated.
pub(crate) fn motion(problem: &Problem) -> Option<LagrangianMotion> {
    let Dynamics::Lagrangian(declared) = &problem.dynamics else { return None };
    let frame = LagrangianFrame::of(problem, declared)?;
    let symbols = &problem.symbols;
    let mut derived = BTreeMap::new();
    for ReactionForce { kept, row, .. } in frame.forces.iter().filter(|force| force.is_holonomic) {
        derived.insert(*kept, frame.contracted(row, |j| j) + by_time(symbols, row));
    }
    derived.insert(problem.integrals.energy()?, problem.balanced(frame.energy()?));
    let reactions = frame.forces.iter().map(|force| {
        let value = derived.get(&force.kept).or(problem.integrals[force.kept].value.as_ref())?;
        Some(KeepingReaction { force, kept: with_slopes(symbols, value.clone())? })
    });
    let field = HamelEquations::new(&frame, problem, reactions.collect::<Option<_>>()?).field();
    let hamel = Hamel {
        lagrangian: frame.lagrangian.value.clone(),
        momenta: frame.momenta.iter().map(|(velocity, momentum)| (*velocity, momentum.value.clone())).collect(),
        forces: frame.free.iter().map(|&j| (j, frame.force(j, &Expression::from, &|_| Expression::zero()))).collect(),
        brackets: declared.brackets.clone(),
    };
    Some(LagrangianMotion { field, hamel, derived })
}

/// An expression with its derivatives by the entries of the state.
type WithSlopes = Differentiated<Expression>;

fn with_slopes(symbols: &Symbols, value: Expression) -> Option<WithSlopes> {
    Some(WithSlopes { gradient: slopes(symbols, &value)?, value })
}

/// U, L, the momenta and the rows A, with the vanishing velocities put to zero.
struct LagrangianFrame<'a> {
    declared: &'a Lagrangian,
    /// The velocities that do not vanish.
    free: Vec<Symbol>,
    lagrangian: WithSlopes,
    /// u_a by the velocity a: its entries by coordinates.
    directions: BTreeMap<Symbol, Row>,
    momenta: BTreeMap<Symbol, WithSlopes>,
    forces: Vec<ReactionForce>,
}

impl<'a> LagrangianFrame<'a> {
    fn of(problem: &Problem, declared: &'a Lagrangian) -> Option<Self> {
        let symbols = &problem.symbols;
        let directions = directions(symbols, declared)?;
        let by_velocities = derivative::gradient(&declared.lagrangian, |symbol| directions.contains_key(&symbol))?;
        let momentum = |&velocity: &Symbol| {
            Some((velocity, with_slopes(symbols, without(symbols, &entry(&by_velocities, velocity)))?))
        };
        let momenta = directions.keys().map(momentum).collect::<Option<_>>()?;
        let lagrangian = with_slopes(symbols, without(symbols, &declared.lagrangian))?;
        let forces = forces(problem, |constraint| {
            let slope = slopes(symbols, constraint)?;
            let by_velocities = directions.iter().map(|(a, direction)| (*a, along(direction, |x| entry(&slope, x))));
            let by_time = slope.iter().filter(|(symbol, _)| symbols[**symbol].role == Role::Time);
            Some(by_velocities.chain(by_time.map(|(time, entry)| (*time, entry.clone()))).collect())
        })?;
        let free = symbols.with(|role| role == Role::Velocity);
        Some(Self { declared, free, lagrangian, directions, momenta, forces })
    }

    /// A v, where these symbols are the entries of v along the velocities that do not vanish.
    fn contracted(&self, row: &Row, v: impl Fn(Symbol) -> Symbol) -> Expression {
        let velocities = self.free.iter();
        Expression::sum(velocities.filter_map(|&j| Some(row.get(&j)?.clone() * Expression::from(v(j)))))
    }

    /// xi . dL/dxi - L, term by term: (d - 1) times what is homogeneous of degree d in the velocities (Euler), so that it keeps its form.
    fn energy(&self) -> Option<Expression> {
        let is_velocity = |symbol: Symbol| self.free.contains(&symbol);
        let of_term = |term: &Expression| match homogeneity(term, &is_velocity) {
            Some(degree) => Some(Expression::Number(degree - BigRational::one()) * term.clone()),
            None => {
                let slopes = derivative::gradient(term, is_velocity)?;
                Some(along(&slopes, Expression::from) - term.clone())
            }
        };
        Some(Expression::sum(self.lagrangian.value.terms().iter().map(of_term).collect::<Option<Vec<_>>>()?))
    }

    /// sum over i and a of c^a_ij p_a v^i
    fn gyroscopic(&self, j: Symbol, v: &impl Fn(Symbol) -> Expression) -> Expression {
        let mut terms = Vec::new();
        for bracket in &self.declared.brackets {
            let (first, second) = bracket.of;
            let (other, is_turned) = if second == j { (first, false) } else { (second, true) };
            if first != j && second != j || !self.free.contains(&other) {
                continue;
            }
            for (a, coefficient) in &bracket.coefficients {
                let term = Expression::product([coefficient.clone(), self.momenta[a].value.clone(), v(other)]);
                terms.push(if is_turned { -term } else { term });
            }
        }
        Expression::sum(terms)
    }

    /// F_j, where `extra` is added to dL/dx.
    fn force(&self, j: Symbol, v: &impl Fn(Symbol) -> Expression, extra: &impl Fn(Symbol) -> Expression) -> Expression {
        self.gyroscopic(j, v) + along(&self.directions[&j], |x| entry(&self.lagrangian.gradient, x) + extra(x))
    }
}

/// The reactions of all constraints.
pub(super) fn forces_of(problem: &Problem, declared: &Lagrangian) -> Option<Vec<ReactionForce>> {
    Some(LagrangianFrame::of(problem, declared)?.forces)
}

/// u_a by the velocity a.
pub(super) fn directions(symbols: &Symbols, declared: &Lagrangian) -> Option<BTreeMap<Symbol, Row>> {
    let is_velocity = |symbol: Symbol| symbols[symbol].role.is_velocity();
    let mut directions: BTreeMap<Symbol, Row> =
        symbols.with(Role::is_velocity).into_iter().map(|a| (a, Row::new())).collect();
    for (coordinate, rate) in &declared.kinematics {
        for (velocity, entry) in derivative::gradient(rate, is_velocity)? {
            directions.get_mut(&velocity)?.insert(*coordinate, entry);
        }
    }
    Some(directions)
}

/// The degree in some symbols of which an expression is homogeneous, as far as its form shows it.
fn homogeneity(expression: &Expression, is_meant: &impl Fn(Symbol) -> bool) -> Option<BigRational> {
    let zero = BigRational::zero;
    let mut of_parts = expression.children().map(|part| homogeneity(part, is_meant));
    match expression {
        Expression::Number(_) | Expression::Pi => Some(zero()),
        Expression::Symbol(symbol) => Some(if is_meant(*symbol) { BigRational::one() } else { zero() }),
        Expression::Sum(_) => {
            let first = of_parts.next()??;
            of_parts.all(|degree| degree.as_ref() == Some(&first)).then_some(first)
        }
        Expression::Product(_) => of_parts.try_fold(zero(), |sum, degree| Some(sum + degree?)),
        Expression::Power(_, exponent) => Some(of_parts.next()?? * exponent),
        Expression::Call(..) => of_parts.all(|degree| degree == Some(zero())).then(zero),
    }
}

/// An expression where the vanishing velocities are zero.
fn without(symbols: &Symbols, expression: &Expression) -> Expression {
    expression.substituted(&|symbol| match symbols[symbol].role {
        Role::Vanishing { .. } => Expression::zero(),
        _ => Expression::from(symbol),
    })
}

/// A reaction with what it keeps.
struct KeepingReaction<'a> {
    force: &'a ReactionForce,
    kept: WithSlopes,
}

/// The linear systems and the rates.
struct HamelEquations<'a> {
    frame: &'a LagrangianFrame<'a>,
    problem: &'a Problem,
    /// The symbols of roles that only one symbol has.
    roles: BTreeMap<Role, Symbol>,
    /// The reactions, those of holonomic constraints first.
    reactions: Vec<KeepingReaction<'a>>,
    /// y = W c2, by which velocities are shifted where there are holonomic constraints.
    shift: Row,
    /// q', and the rate of the time.
    rates_of_positions: Row,
}

impl<'a> HamelEquations<'a> {
    fn new(frame: &'a LagrangianFrame<'a>, problem: &'a Problem, reactions: Vec<KeepingReaction<'a>>) -> Self {
        let symbols = &problem.symbols;
        let roles = symbols.iter().map(|(symbol, info)| (info.role, symbol)).collect();
        let mut field = Self { frame, problem, roles, reactions, shift: Row::new(), rates_of_positions: Row::new() };
        let shift = frame.free.iter().map(|&j| (j, field.pushed(j, field.dirac(), |force| force.kept)));
        field.shift = shift.filter(|(_, entry)| !entry.is_zero()).collect();
        let positions = symbols.with(|role| role == Role::Position).into_iter();
        field.rates_of_positions = positions.map(|x| (x, field.moved(x))).collect();
        field.rates_of_positions.extend(symbols.only(Role::Time).map(|time| (time, Expression::one())));
        field
    }

    fn field(&self) -> Field {
        let symbols = &self.problem.symbols;
        let mut systems: Vec<LinearSystem> = self.reactions.iter().map(|reaction| self.responses(reaction)).collect();
        systems.extend([self.shifts(), self.accelerations(), self.multipliers()]);
        systems.retain(|system| !system.unknowns.is_empty());
        systems.extend(symbols.iter().filter_map(|(symbol, info)| match info.role {
            Role::Vanishing { reaction } => Some(self.held(symbol, reaction)),
            _ => None,
        }));
        Field { systems, rates: symbols.over_states(|symbol| self.rate(symbol)) }
    }

    /// The reactions whose rows are gradients of holonomic constraints.
    fn dirac(&self) -> &[KeepingReaction<'a>] {
        &self.reactions[..self.reactions.partition_point(|reaction| reaction.force.is_holonomic)]
    }

    /// A row of W = M^-1 A^T
    fn responses(&self, reaction: &KeepingReaction<'_>) -> LinearSystem {
        self.with_mass(|of| self.response(of, reaction), |j| entry(&reaction.force.row, j))
    }

    /// A W c2 = f
    fn shifts(&self) -> LinearSystem {
        let dirac = self.dirac();
        LinearSystem {
            unknowns: dirac.iter().map(|reaction| self.multiplier(reaction.force.kept)).collect(),
            matrix: self.compliance(dirac),
            right_side: dirac.iter().map(|reaction| reaction.kept.value.clone()).collect(),
        }
    }

    /// M a = F - (dp/dq) q' - dp/dt
    fn accelerations(&self) -> LinearSystem {
        let inertial = |j: Symbol| self.along_positions(&self.frame.momenta[&j].gradient);
        self.with_mass(|of| self.acceleration(of), |j| self.force(j) - inertial(j))
    }

    /// A W c1 = -(df/dq q' + df/dt + A a)
    fn multipliers(&self) -> LinearSystem {
        let right_side = |KeepingReaction { force, kept }: &KeepingReaction<'_>| {
            let accelerated = self.frame.contracted(&force.row, |j| self.acceleration(j));
            -(self.along_positions(&kept.gradient) + accelerated)
        };
        LinearSystem {
            unknowns: self.reactions.iter().map(|reaction| self.multiplier(reaction.force.constraint)).collect(),
            matrix: self.compliance(&self.reactions),
            right_side: self.reactions.iter().map(right_side).collect(),
        }
    }

    /// What holds a velocity at zero: p' - F - A^T c1 along it.
    fn held(&self, velocity: Symbol, reaction: Symbol) -> LinearSystem {
        let others = self.reactions.iter().filter_map(|KeepingReaction { force, .. }| {
            Some(force.row.get(&velocity)?.clone() * Expression::from(self.multiplier(force.constraint)))
        });
        let momentum = along(&self.frame.momenta[&velocity].gradient, |symbol| self.rate(symbol));
        LinearSystem {
            unknowns: vec![reaction],
            matrix: vec![vec![Expression::one()]],
            right_side: vec![momentum - self.force(velocity) - Expression::sum(others)],
        }
    }

    fn rate(&self, symbol: Symbol) -> Expression {
        match self.problem.symbols[symbol].role {
            // a + W c1
            Role::Velocity => {
                let pushed = self.pushed(symbol, &self.reactions, |force| force.constraint);
                Expression::from(self.acceleration(symbol)) + pushed
            }
            Role::Work => self.power(),
            _ => entry(&self.rates_of_positions, symbol),
        }
    }

    /// The scalar product of a row with q' and the rate of the time.
    fn along_positions(&self, row: &Row) -> Expression {
        along(row, |x| entry(&self.rates_of_positions, x))
    }

    /// U (xi - y); as it is declared, where the velocities are not shifted.
    fn moved(&self, x: Symbol) -> Expression {
        let LagrangianFrame { free, directions, declared, .. } = self.frame;
        if !self.shift.is_empty() {
            let directions = free.iter().filter_map(|j| Some((*j, directions[j].get(&x)?)));
            return Expression::sum(directions.map(|(j, entry)| entry.clone() * self.velocity(j)));
        }
        let declared = declared.kinematics.iter().find(|(coordinate, _)| *coordinate == x);
        declared.map_or_else(Expression::zero, |(_, rate)| without(&self.problem.symbols, rate))
    }

    /// What reactions do to a velocity, by the multipliers of these constraints.
    fn pushed(
        &self,
        j: Symbol,
        by: &[KeepingReaction<'_>],
        constraint: impl Fn(&ReactionForce) -> IntegralId,
    ) -> Expression {
        let response = |reaction: &KeepingReaction<'_>| {
            let multiplier = self.multiplier(constraint(reaction.force));
            Expression::from(self.response(j, reaction)) * Expression::from(multiplier)
        };
        Expression::sum(by.iter().map(response))
    }

    /// xi - y
    fn velocity(&self, j: Symbol) -> Expression {
        Expression::from(j) - entry(&self.shift, j)
    }

    /// F_j
    fn force(&self, j: Symbol) -> Expression {
        let acting = self.problem.forces.iter().filter(|(along, _)| *along == j).map(|(_, force)| force.clone());
        Expression::sum(acting) + self.frame.force(j, &|i| self.velocity(i), &|x| self.extra(x))
    }

    /// What the shift adds to dL/dx: df/dx c2 - (dp/dx) . y
    fn extra(&self, x: Symbol) -> Expression {
        let by_rates = self.dirac().iter().map(|KeepingReaction { force, kept }| {
            Expression::from(self.multiplier(force.kept)) * entry(&kept.gradient, x)
        });
        let by_momenta = self.shift.iter().map(|(j, y)| -(entry(&self.frame.momenta[j].gradient, x) * y.clone()));
        Expression::sum(by_rates.chain(by_momenta))
    }

    /// Q . (xi - y) - dL/dt + y . dp/dt - c1 dg/dt - c2 df/dt
    fn power(&self) -> Expression {
        let LagrangianFrame { free, momenta, lagrangian, .. } = self.frame;
        let by_time = |row: &Row| by_time(&self.problem.symbols, row);
        let acting = self.problem.forces.iter().filter(|(j, _)| free.contains(j));
        let of_forces = acting.map(|(j, force)| force.clone() * self.velocity(*j));
        let of_momenta = self.shift.iter().map(|(j, y)| by_time(&momenta[j].gradient) * y.clone());
        let of_constraints = self.dirac().iter().flat_map(|KeepingReaction { force, kept }| {
            let rows = [(force.constraint, &force.row), (force.kept, &kept.gradient)];
            rows.map(|(id, row)| -(Expression::from(self.multiplier(id)) * by_time(row)))
        });
        let of_lagrangian = -by_time(&lagrangian.gradient);
        let others = [of_lagrangian].into_iter().chain(of_momenta).chain(of_constraints);
        Expression::sum(of_forces.chain(others))
    }

    /// M z = b
    fn with_mass(&self, z: impl Fn(Symbol) -> Symbol, b: impl Fn(Symbol) -> Expression) -> LinearSystem {
        let LagrangianFrame { free, momenta, .. } = self.frame;
        let row = |j: &Symbol| free.iter().map(|i| entry(&momenta[j].gradient, *i)).collect();
        LinearSystem {
            unknowns: free.iter().map(|&j| z(j)).collect(),
            matrix: free.iter().map(row).collect(),
            right_side: free.iter().map(|&j| b(j)).collect(),
        }
    }

    /// A M^-1 A^T
    fn compliance(&self, rows: &[KeepingReaction<'_>]) -> Vec<Vec<Expression>> {
        // The matrix is symmetric: one entry stands for both.
        let entry = |r: usize, s: usize| {
            let (first, last) = (&rows[r.min(s)], &rows[r.max(s)]);
            self.frame.contracted(&first.force.row, |j| self.response(j, last))
        };
        let places = 0..rows.len();
        places.clone().map(|r| places.clone().map(|s| entry(r, s)).collect()).collect()
    }

    fn response(&self, of: Symbol, reaction: &KeepingReaction<'_>) -> Symbol {
        self.roles[&Role::Response { of, to: reaction.force.kept }]
    }

    fn acceleration(&self, of: Symbol) -> Symbol {
        self.roles[&Role::Acceleration { of }]
    }

    fn multiplier(&self, constraint: IntegralId) -> Symbol {
        self.roles[&Role::Multiplier(constraint)]
    }
}
