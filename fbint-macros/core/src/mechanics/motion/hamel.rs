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

use super::{LagrangianMotion, ReactionForce, Row, along, by_time, driving_force, entry, forces, slopes};
use crate::derivation::{Field, Hamel, IntegralId, Lagrangian, LinearSystem, Problem, Role, Symbols};
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative;

pub(super) fn motion(problem: &Problem, declared: &Lagrangian) -> Option<LagrangianMotion> {
    let frame = LagrangianFrame::of(problem, declared)?;
    let symbols = &problem.symbols;
    let mut derived = BTreeMap::new();
    for ReactionForce { kept, row, .. } in frame.forces.iter().filter(|force| force.is_holonomic) {
        derived.insert(*kept, frame.contracted(row) + by_time(symbols, row));
    }
    derived.insert(problem.energy()?, problem.balanced(frame.energy()?));
    let value = |id: IntegralId| derived.get(&id).or(problem.integrals[id].value.as_ref());
    let kept: Vec<(Expression, Row)> = frame
        .forces
        .iter()
        .map(|force| {
            let value = value(force.kept)?.clone();
            let slopes = slopes(symbols, &value)?;
            Some((value, slopes))
        })
        .collect::<Option<_>>()?;
    let field = HamelEquations::new(&frame, problem, &kept).field()?;
    let hamel = Hamel {
        lagrangian: frame.lagrangian.clone(),
        momenta: frame.momenta.iter().map(|(velocity, momentum)| (*velocity, momentum.value.clone())).collect(),
        forces: frame.free.iter().map(|&j| (j, frame.force(j, &Expression::from, &|_| None))).collect(),
        brackets: declared.brackets.clone(),
    };
    Some(LagrangianMotion { field, hamel, derived })
}

/// An expression with its derivatives by the entries of the state.
struct Momentum {
    value: Expression,
    slopes: Row,
}

/// U, L, the momenta and the rows A, with the vanishing velocities put to zero.
struct LagrangianFrame<'a> {
    declared: &'a Lagrangian,
    positions: Vec<Symbol>,
    /// The velocities that do not vanish.
    free: Vec<Symbol>,
    vanishing: Vec<(Symbol, Symbol)>,
    lagrangian: Expression,
    slopes_of_lagrangian: Row,
    /// u_a by the velocity a: its entries by coordinates.
    directions: BTreeMap<Symbol, Row>,
    momenta: BTreeMap<Symbol, Momentum>,
    forces: Vec<ReactionForce>,
}

impl<'a> LagrangianFrame<'a> {
    fn of(problem: &Problem, declared: &'a Lagrangian) -> Option<Self> {
        let symbols = &problem.symbols;
        let positions = symbols.with(|role| role == Role::Position);
        let free = symbols.with(|role| role == Role::Velocity);
        let vanishing = symbols.iter().filter_map(|(symbol, info)| match info.role {
            Role::Vanishing { reaction } => Some((symbol, reaction)),
            _ => None,
        });
        let vanishing: Vec<(Symbol, Symbol)> = vanishing.collect();
        let directions = directions(symbols, declared)?;
        let is_velocity = |symbol: Symbol| directions.contains_key(&symbol);
        let lagrangian = without(symbols, &declared.lagrangian);
        let mut momenta = BTreeMap::new();
        let slopes_by_velocity = derivative::gradient(&declared.lagrangian, is_velocity)?;
        for &velocity in directions.keys() {
            let value = without(symbols, &entry(&slopes_by_velocity, velocity));
            let slopes = slopes(symbols, &value)?;
            momenta.insert(velocity, Momentum { value, slopes });
        }
        let forces = forces(problem, |constraint| {
            let slope = slopes(symbols, constraint)?;
            let by_velocities = directions.iter().map(|(a, direction)| (*a, along(direction, |x| entry(&slope, x))));
            let by_time = slope.iter().filter(|(symbol, _)| symbols[**symbol].role == Role::Time);
            Some(by_velocities.chain(by_time.map(|(time, entry)| (*time, entry.clone()))).collect())
        })?;
        let slopes_of_lagrangian = slopes(symbols, &lagrangian)?;
        let frame = Self {
            declared,
            positions,
            free,
            vanishing,
            lagrangian,
            slopes_of_lagrangian,
            directions,
            momenta,
            forces,
        };
        Some(frame)
    }

    /// A xi
    fn contracted(&self, row: &Row) -> Expression {
        Expression::sum(self.free.iter().map(|&j| entry(row, j) * Expression::from(j)))
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
        Some(Expression::sum(self.lagrangian.terms().iter().map(of_term).collect::<Option<Vec<_>>>()?))
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
    fn force(
        &self,
        j: Symbol,
        v: &impl Fn(Symbol) -> Expression,
        extra: &impl Fn(Symbol) -> Option<Expression>,
    ) -> Expression {
        let slope = |x: Symbol| {
            let slope = entry(&self.slopes_of_lagrangian, x);
            extra(x).map_or(slope.clone(), |extra| slope + extra)
        };
        self.gyroscopic(j, v) + along(&self.directions[&j], slope)
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

/// The linear systems and the rates.
struct HamelEquations<'a> {
    frame: &'a LagrangianFrame<'a>,
    problem: &'a Problem,
    symbols: &'a Symbols,
    /// The symbols of roles that only one symbol has.
    roles: BTreeMap<Role, Symbol>,
    /// The value and the gradient of what each force keeps.
    kept: &'a [(Expression, Row)],
    /// The forces whose rows are gradients of holonomic constraints. Where there are any, velocities are shifted by y.
    dirac: Vec<usize>,
    /// q'
    rates_of_positions: BTreeMap<Symbol, Expression>,
}

impl<'a> HamelEquations<'a> {
    fn new(frame: &'a LagrangianFrame<'a>, problem: &'a Problem, kept: &'a [(Expression, Row)]) -> Self {
        let symbols = &problem.symbols;
        let roles = symbols.iter().map(|(symbol, info)| (info.role, symbol)).collect();
        let dirac = (0..frame.forces.len()).filter(|&r| frame.forces[r].is_holonomic).collect();
        let rates_of_positions = BTreeMap::new();
        let mut field = Self { frame, problem, symbols, roles, kept, dirac, rates_of_positions };
        field.rates_of_positions = frame.positions.iter().map(|&x| (x, field.moved(x))).collect();
        field
    }

    fn field(&self) -> Option<Field> {
        let mut systems = self.responses()?;
        systems.extend(self.shifts()?);
        systems.push(self.accelerations()?);
        systems.extend(self.reactions()?);
        systems.extend(self.frame.vanishing.iter().map(|&(velocity, reaction)| self.held(velocity, reaction)));
        Some(Field { systems, rates: self.symbols.states().map(|symbol| self.rate(symbol)).collect() })
    }

    /// W = M^-1 A^T, row by row of A.
    fn responses(&self) -> Option<Vec<LinearSystem>> {
        let LagrangianFrame { free, forces, .. } = self.frame;
        let system = |force: &ReactionForce| {
            let unknowns = free.iter().map(|&of| self.response(of, force)).collect::<Option<_>>()?;
            Some(self.with_mass(unknowns, free.iter().map(|&j| entry(&force.row, j)).collect()))
        };
        forces.iter().map(system).collect()
    }

    /// A W c2 = f
    fn shifts(&self) -> Option<Option<LinearSystem>> {
        if self.dirac.is_empty() {
            return Some(None);
        }
        let forces = &self.frame.forces;
        let unknowns = self.dirac.iter().map(|&r| self.multiplier(forces[r].kept)).collect::<Option<_>>()?;
        let right_side = self.dirac.iter().map(|&r| self.kept[r].0.clone()).collect();
        Some(Some(LinearSystem { unknowns, matrix: self.compliance(&self.dirac), right_side }))
    }

    /// M a = F - (dp/dq) q' - dp/dt
    fn accelerations(&self) -> Option<LinearSystem> {
        let free = &self.frame.free;
        let unknowns = free.iter().map(|&of| self.acceleration(of)).collect::<Option<_>>()?;
        let inertial = |j: Symbol| along(&self.frame.momenta[&j].slopes, |x| self.rate_of_position(x));
        Some(self.with_mass(unknowns, free.iter().map(|&j| self.force(j) - inertial(j)).collect()))
    }

    /// A W c1 = -(df/dq q' + df/dt + A a)
    fn reactions(&self) -> Option<Option<LinearSystem>> {
        let LagrangianFrame { free, forces, .. } = self.frame;
        if forces.is_empty() {
            return Some(None);
        }
        let right_side = |(force, (_, slopes)): (&ReactionForce, &(Expression, Row))| {
            let accelerated =
                free.iter().filter_map(|&j| Some(force.row.get(&j)?.clone() * Expression::from(self.acceleration(j)?)));
            -(along(slopes, |x| self.rate_of_position(x)) + Expression::sum(accelerated))
        };
        let all: Vec<usize> = (0..forces.len()).collect();
        Some(Some(LinearSystem {
            unknowns: forces.iter().map(|force| self.multiplier(force.constraint)).collect::<Option<_>>()?,
            matrix: self.compliance(&all),
            right_side: forces.iter().zip(self.kept).map(right_side).collect(),
        }))
    }

    /// What holds a velocity at zero: p' - F - A^T c1 along it.
    fn held(&self, velocity: Symbol, reaction: Symbol) -> LinearSystem {
        let others = self.frame.forces.iter().filter_map(|force| {
            Some(force.row.get(&velocity)?.clone() * Expression::from(self.multiplier(force.constraint)?))
        });
        let momentum = along(&self.frame.momenta[&velocity].slopes, |symbol| self.rate(symbol));
        LinearSystem {
            unknowns: vec![reaction],
            matrix: vec![vec![Expression::one()]],
            right_side: vec![momentum - self.force(velocity) - Expression::sum(others)],
        }
    }

    fn rate(&self, symbol: Symbol) -> Expression {
        match self.symbols[symbol].role {
            Role::Velocity => self.rate_of_velocity(symbol),
            Role::Work => self.power(),
            _ => self.rate_of_position(symbol),
        }
    }

    /// a + W c1
    fn rate_of_velocity(&self, j: Symbol) -> Expression {
        let responses = self.frame.forces.iter().filter_map(|force| {
            Some(Expression::from(self.response(j, force)?) * Expression::from(self.multiplier(force.constraint)?))
        });
        let acceleration = self.acceleration(j).map_or_else(Expression::zero, Expression::from);
        Expression::sum([acceleration].into_iter().chain(responses))
    }

    fn rate_of_position(&self, x: Symbol) -> Expression {
        match self.symbols[x].role {
            Role::Time => Expression::one(),
            _ => self.rates_of_positions.get(&x).cloned().unwrap_or_else(Expression::zero),
        }
    }

    /// U (xi - y); as it is declared, where the velocities are not shifted.
    fn moved(&self, x: Symbol) -> Expression {
        let LagrangianFrame { free, directions, declared, .. } = self.frame;
        if self.is_shifted() {
            let directions = free.iter().filter_map(|j| Some((*j, directions[j].get(&x)?)));
            return Expression::sum(directions.map(|(j, entry)| entry.clone() * self.velocity(j)));
        }
        let declared = declared.kinematics.iter().find(|(coordinate, _)| *coordinate == x);
        declared.map_or_else(Expression::zero, |(_, rate)| without(self.symbols, rate))
    }

    fn is_shifted(&self) -> bool {
        !self.dirac.is_empty()
    }

    /// y = W c2
    fn shift(&self, j: Symbol) -> Expression {
        let responses = self.dirac.iter().filter_map(|&r| {
            let force = &self.frame.forces[r];
            Some(Expression::from(self.response(j, force)?) * Expression::from(self.multiplier(force.kept)?))
        });
        Expression::sum(responses)
    }

    /// xi - y
    fn velocity(&self, j: Symbol) -> Expression {
        if self.is_shifted() { Expression::from(j) - self.shift(j) } else { Expression::from(j) }
    }

    /// F_j
    fn force(&self, j: Symbol) -> Expression {
        driving_force(self.problem, j) + self.frame.force(j, &|i| self.velocity(i), &|x| self.extra(x))
    }

    /// What the shift adds to dL/dx: df/dx c2 - (dp/dx) . y
    fn extra(&self, x: Symbol) -> Option<Expression> {
        let forces = &self.frame.forces;
        let by_rates = self
            .dirac
            .iter()
            .filter_map(|&r| Some(Expression::from(self.multiplier(forces[r].kept)?) * entry(&self.kept[r].1, x)));
        let momenta = self.frame.free.iter();
        let by_momenta = momenta.map(|j| -(entry(&self.frame.momenta[j].slopes, x) * self.shift(*j)));
        self.is_shifted().then(|| Expression::sum(by_rates.chain(by_momenta)))
    }

    /// Q . (xi - y) - dL/dt + y . dp/dt - c1 dg/dt - c2 df/dt
    fn power(&self) -> Expression {
        let LagrangianFrame { free, forces, momenta, slopes_of_lagrangian, .. } = self.frame;
        let acting = self.problem.forces.iter().filter(|(j, _)| free.contains(j));
        let of_forces = acting.map(|(j, force)| force.clone() * self.velocity(*j));
        let of_momenta = free.iter().filter(|_| self.is_shifted()).map(|j| {
            let by_time = by_time(self.symbols, &momenta[j].slopes);
            if by_time.is_zero() { by_time } else { by_time * self.shift(*j) }
        });
        let of_constraints = self.dirac.iter().flat_map(|&r| {
            let ReactionForce { constraint, kept, row, .. } = &forces[r];
            let rows = [(constraint, row), (kept, &self.kept[r].1)];
            rows.map(|(id, row)| Some(-(Expression::from(self.multiplier(*id)?) * by_time(self.symbols, row))))
        });
        let of_lagrangian = -by_time(self.symbols, slopes_of_lagrangian);
        let others = [of_lagrangian].into_iter().chain(of_momenta).chain(of_constraints.flatten());
        Expression::sum(of_forces.chain(others))
    }

    /// M z = b
    fn with_mass(&self, unknowns: Vec<Symbol>, right_side: Vec<Expression>) -> LinearSystem {
        let LagrangianFrame { free, momenta, .. } = self.frame;
        let row = |j: &Symbol| free.iter().map(|i| entry(&momenta[j].slopes, *i)).collect();
        LinearSystem { unknowns, matrix: free.iter().map(row).collect(), right_side }
    }

    /// A M^-1 A^T
    fn compliance(&self, rows: &[usize]) -> Vec<Vec<Expression>> {
        let LagrangianFrame { free, forces, .. } = self.frame;
        let entry = |r: usize, s: usize| {
            // The matrix is symmetric: one entry stands for both.
            let (r, s) = (r.min(s), r.max(s));
            Expression::sum(free.iter().filter_map(|&j| {
                Some(forces[r].row.get(&j)?.clone() * Expression::from(self.response(j, &forces[s])?))
            }))
        };
        rows.iter().map(|&r| rows.iter().map(|&s| entry(r, s)).collect()).collect()
    }

    fn response(&self, of: Symbol, force: &ReactionForce) -> Option<Symbol> {
        self.roles.get(&Role::Response { of, to: force.kept }).copied()
    }

    fn acceleration(&self, of: Symbol) -> Option<Symbol> {
        self.roles.get(&Role::Acceleration { of }).copied()
    }

    fn multiplier(&self, constraint: IntegralId) -> Option<Symbol> {
        self.roles.get(&Role::Multiplier(constraint)).copied()
    }
}
