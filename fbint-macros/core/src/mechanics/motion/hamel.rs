//! Lagrangian systems in the frame of their velocities, by Hamel's equations.
//!
//! q' = U (xi - y),  M xi' = F - (dp/dq) q' + A^T c1,  where for every velocity j that does not vanish
//! F_j = Q_j + c^a_ij p_a (xi - y)^i + u_j[L] + (u_j[f] - (u_j[p]) . y) c2, with y = M^-1 A^T c2 over the rates f of holonomic
//! constraints, and A M^-1 A^T c2 = f. Where the constraints hold, c2 and y vanish. c1 makes df.X = 0 for all constraints. Q are the
//! driving forces, if there are any, whose work has the rate Q . (xi - y) - dL/dt + y . dp/dt - c1 dg/dt - c2 df/dt, with partial
//! derivatives by the time.
//!
//! # Velocities without inertia
//!
//! Constraints may determine velocities along which M has no inertia. Then M_s = M + A^T S A has the place of M, with S = diag(s), where
//! s_r = tr M / |A_r|^2 is as large as M is. It is definite exactly where M is definite on the velocities that the constraints allow. With
//! A xi' = -h it makes the same motion, with the same reactions:
//!
//! M_s xi' = F - (dp/dq) q' - A^T S h + A^T c1,  y = M_s^-1 A^T (c2 + S f),  A M_s^-1 A^T (c2 + S f) = f
//!
//! For y, M has the terms of S that velocity constraints add: what is far from these is as good as any other continuation.

use std::collections::BTreeMap;

use num_rational::BigRational;
use num_traits::{One, Zero};

use super::{LagrangianMotion, along, by_time, entry, rows, slopes};
use crate::derivation::{
    Dynamics, Field, Hamel, IntegralId, Kind, Lagrangian, LinearSystem, Problem, Reaction, Role, SparseRow, Symbols,
};
use crate::expression::parts::Results;
use crate::expression::{Expression, Symbol};
use crate::numbers::derivative::{self, Differentiated};

/// The motion of a Lagrangian system. `None` for any other system, or if something in it cannot be differentiated.
pub(crate) fn motion(problem: &Problem) -> Option<LagrangianMotion> {
    let Dynamics::Lagrangian(declared) = &problem.dynamics else { return None };
    let equations = HamelEquations::of(problem, declared)?;
    let rates = equations.dirac().iter().map(|reaction| (reaction.keeps, reaction.kept.value.clone()));
    let energy = (problem.integrals.energy()?, problem.balanced(equations.energy()?));
    let force = |&j: &Symbol| (j, equations.force_with(j, &Expression::from, &|_| Expression::zero()));
    let hamel = Hamel {
        lagrangian: equations.lagrangian.value.clone(),
        momenta: equations.momenta.iter().map(|(velocity, momentum)| (*velocity, momentum.value.clone())).collect(),
        forces: equations.free.iter().map(force).collect(),
        brackets: declared.brackets.clone(),
        is_augmented: declared.is_augmented,
    };
    Some(LagrangianMotion { field: equations.field(), hamel, derived: rates.chain([energy]).collect() })
}

/// A Lagrangian with more distinct parts is long. Its derivatives are taken in single sweeps and share their common parts; the derivatives
/// of a short one are written entry by entry, which leaves fewer operations.
const LONG: usize = 350;

/// The derivatives of an expression in the way that suits its length.
fn gradient(is_long: bool, expression: &Expression, is_variable: impl Fn(Symbol) -> bool) -> Option<SparseRow> {
    if is_long {
        derivative::gradient_in_reverse(expression, is_variable)
    } else {
        derivative::gradient(expression, is_variable)
    }
}

/// An expression with its derivatives by the entries of the state.
type WithSlopes = Differentiated<Expression>;

fn with_slopes(symbols: &Symbols, value: Expression) -> Option<WithSlopes> {
    Some(WithSlopes { gradient: slopes(symbols, &value)?, value })
}

/// Momenta with their derivatives by the entries of the state.
fn with_all_slopes(symbols: &Symbols, momenta: Vec<(Symbol, Expression)>) -> Option<BTreeMap<Symbol, WithSlopes>> {
    momenta.into_iter().map(|(velocity, value)| Some((velocity, with_slopes(symbols, value)?))).collect()
}

/// Momenta with their derivatives by velocities and the time, one sweep for each over all momenta. M is symmetric: the derivatives by
/// velocities up to its own are enough.
fn with_inertia(symbols: &Symbols, momenta: Vec<(Symbol, Expression)>) -> Option<BTreeMap<Symbol, WithSlopes>> {
    let is_swept = |symbol: &Symbol| symbols.is_state(*symbol) && symbols[*symbol].role != Role::Position;
    let mut all: BTreeMap<Symbol, WithSlopes> = momenta
        .into_iter()
        .map(|(velocity, value)| (velocity, WithSlopes { gradient: SparseRow::new(), value }))
        .collect();
    for symbol in symbols.ids().filter(is_swept) {
        let is_meant = |of: Symbol| {
            of >= symbol || !(symbols[of].role == Role::Velocity && symbols[symbol].role == Role::Velocity)
        };
        let meant: Vec<Symbol> = all.keys().copied().filter(|of| is_meant(*of)).collect();
        let values: Vec<Expression> = meant.iter().map(|of| all[of].value.clone()).collect();
        let unit = |other| if other == symbol { Expression::one() } else { Expression::zero() };
        for (of, slope) in meant.iter().zip(derivative::all_along(&values, unit)?) {
            if let Some(momentum) = all.get_mut(of).filter(|_| !slope.is_zero()) {
                momentum.gradient.insert(symbol, slope);
            }
        }
    }
    Some(all)
}

/// The reaction of a constraint.
struct Force {
    /// The constraint that has the multiplier: g, or f itself.
    constraint: IntegralId,
    /// The integral that is kept: g', or f itself.
    keeps: IntegralId,
    /// Its function, which is linear in the velocities.
    kept: WithSlopes,
    /// A
    row: SparseRow,
    /// s, if velocities have no inertia.
    weight: Option<Expression>,
}

/// U, L, the momenta and the rows A, with the vanishing velocities set to zero, and the parts of the equations.
struct HamelEquations<'a> {
    problem: &'a Problem,
    declared: &'a Lagrangian,
    /// The symbols of roles that only one symbol has.
    roles: BTreeMap<Role, Symbol>,
    /// The velocities that do not vanish.
    free: Vec<Symbol>,
    lagrangian: WithSlopes,
    is_long: bool,
    /// u_a by the velocity a: its entries by coordinates.
    directions: BTreeMap<Symbol, SparseRow>,
    /// With the derivatives by positions where the Lagrangian is short; where it is long, by a velocity that comes later only of those that
    /// vanish.
    momenta: BTreeMap<Symbol, WithSlopes>,
    /// The reactions, holonomic constraints first.
    reactions: Vec<Force>,
    /// y = W c2, by which velocities are shifted where there are holonomic constraints.
    shift: SparseRow,
    /// (dp/dx) . y by positions x, where the Lagrangian is long.
    shifted: SparseRow,
    /// (dp/dq) q' + dp/dt
    inertial: SparseRow,
    /// q', and the rate of the time.
    rates_of_positions: SparseRow,
}

/// u_a by the velocity a.
pub(super) fn directions(symbols: &Symbols, declared: &Lagrangian) -> Option<BTreeMap<Symbol, SparseRow>> {
    let is_velocity = |symbol: Symbol| symbols[symbol].role.is_velocity();
    let mut directions: BTreeMap<Symbol, SparseRow> =
        symbols.with(Role::is_velocity).into_iter().map(|a| (a, SparseRow::new())).collect();
    for (coordinate, rate) in &declared.kinematics {
        for (velocity, entry) in derivative::gradient(rate, is_velocity)? {
            directions.get_mut(&velocity)?.insert(*coordinate, entry);
        }
    }
    Some(directions)
}

impl<'a> HamelEquations<'a> {
    fn of(problem: &'a Problem, declared: &'a Lagrangian) -> Option<Self> {
        let symbols = &problem.symbols;
        let directions = directions(symbols, declared)?;
        let is_long = declared.lagrangian.size() > LONG;
        let by_velocities = gradient(is_long, &declared.lagrangian, |symbol| directions.contains_key(&symbol))?;
        let momentum = |&velocity: &Symbol| (velocity, without(symbols, &entry(&by_velocities, velocity)));
        let momenta = directions.keys().map(momentum).collect();
        let lagrangian = without(symbols, &declared.lagrangian);
        let slopes = gradient(is_long, &lagrangian, |symbol| symbols.is_state(symbol))?;
        let mut equations = Self {
            problem,
            declared,
            roles: symbols.iter().map(|(symbol, info)| (info.role, symbol)).collect(),
            free: symbols.with(|role| role == Role::Velocity),
            lagrangian: WithSlopes { gradient: slopes, value: lagrangian },
            is_long,
            momenta: if is_long { with_inertia(symbols, momenta)? } else { with_all_slopes(symbols, momenta)? },
            directions,
            reactions: Vec::new(),
            shift: SparseRow::new(),
            shifted: SparseRow::new(),
            inertial: SparseRow::new(),
            rates_of_positions: SparseRow::new(),
        };
        let reactions = rows(problem)?.into_iter().map(|(constraint, row)| equations.reaction(constraint, row));
        equations.reactions = reactions.collect::<Option<_>>()?;
        let shift = equations.free.iter().map(|&j| (j, equations.shifted_by(j)));
        equations.shift = shift.filter(|(_, entry)| !entry.is_zero()).collect();
        equations.shifted = equations.momentum_along_shift()?;
        let positions = symbols.with(|role| role == Role::Position).into_iter();
        equations.rates_of_positions = positions.map(|x| (x, equations.moved(x))).collect();
        equations.rates_of_positions.extend(symbols.only(Role::Time).map(|time| (time, Expression::one())));
        let inertial = equations.momenta.iter().map(|(j, momentum)| Some((*j, equations.inertial(momentum)?)));
        equations.inertial = inertial.collect::<Option<_>>()?;
        Some(equations)
    }

    fn momentum_along_shift(&self) -> Option<SparseRow> {
        if !self.is_long {
            return Some(SparseRow::new());
        }
        let along = self.shift.iter().map(|(j, y)| self.momenta[j].value.clone() * y.clone());
        let is_position = |symbol| self.problem.symbols[symbol].role == Role::Position;
        derivative::gradient_in_reverse(&Expression::sum(along), is_position)
    }

    /// (dp/dq) q' + dp/dt
    fn inertial(&self, momentum: &WithSlopes) -> Option<Expression> {
        if self.is_long {
            return derivative::along(&momentum.value, |x| entry(&self.rates_of_positions, x));
        }
        Some(self.along_positions(&momentum.gradient))
    }

    fn reaction(&self, constraint: IntegralId, row: SparseRow) -> Option<Force> {
        let symbols = &self.problem.symbols;
        let declared = &self.problem.integrals[constraint];
        let (keeps, value) = match declared.kind {
            Kind::Holonomic { rate } => (rate, self.contracted(&row, |j| j) + by_time(symbols, &row)),
            _ => (constraint, declared.value.clone()?),
        };
        let weight = if self.declared.is_augmented { Some(self.weight(&row)?) } else { None };
        Some(Force { constraint, keeps, kept: with_slopes(symbols, value)?, row, weight })
    }

    /// tr M / |A_r|^2
    fn weight(&self, row: &SparseRow) -> Option<Expression> {
        let trace = Expression::sum(self.free.iter().map(|j| entry(&self.momenta[j].gradient, *j)));
        let squares = self.free.iter().filter_map(|j| row.get(j)).map(|entry| entry.clone() * entry.clone());
        trace.divide(Expression::sum(squares)).ok()
    }

    /// A v, where these symbols are the entries of v along the velocities that do not vanish.
    fn contracted(&self, row: &SparseRow, v: impl Fn(Symbol) -> Symbol) -> Expression {
        let velocities = self.free.iter();
        Expression::sum(velocities.filter_map(|&j| Some(row.get(&j)?.clone() * Expression::from(v(j)))))
    }

    /// xi . dL/dxi - L, term by term: (d - 1) times what is homogeneous of degree d in the velocities (Euler), so that it keeps its form.
    fn energy(&self) -> Option<Expression> {
        let is_velocity = |symbol: Symbol| self.free.contains(&symbol);
        let known = Results::default();
        let of_term = |term: &Expression| match homogeneity(term, &is_velocity, &known) {
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

    /// F_j without Q, where `extra` is added to dL/dx.
    fn force_with(
        &self,
        j: Symbol,
        v: &impl Fn(Symbol) -> Expression,
        extra: &impl Fn(Symbol) -> Expression,
    ) -> Expression {
        self.gyroscopic(j, v) + along(&self.directions[&j], |x| entry(&self.lagrangian.gradient, x) + extra(x))
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
    fn dirac(&self) -> &[Force] {
        &self.reactions[..self.reactions.partition_point(|reaction| reaction.constraint != reaction.keeps)]
    }

    /// A row of W = M^-1 A^T
    fn responses(&self, reaction: &Force) -> LinearSystem {
        self.with_mass(|of| self.response(of, reaction), |j| entry(&reaction.row, j))
    }

    /// A W c2 = f - A W S f
    fn shifts(&self) -> LinearSystem {
        let dirac = self.dirac();
        let matrix = self.compliance(dirac);
        let right_side = |(reaction, row): (&Force, &Vec<Expression>)| {
            let terms = row.iter().zip(dirac).filter_map(|(entry, Force { weight, kept, .. })| {
                Some(-(entry.clone() * weight.clone()? * kept.value.clone()))
            });
            Expression::sum([reaction.kept.value.clone()].into_iter().chain(terms))
        };
        LinearSystem {
            unknowns: dirac.iter().map(|reaction| self.multiplier(reaction.keeps)).collect(),
            right_side: dirac.iter().zip(&matrix).map(right_side).collect(),
            matrix,
        }
    }

    /// M a = F - (dp/dq) q' - dp/dt - A^T S h
    fn accelerations(&self) -> LinearSystem {
        let known = |j| {
            let terms = self.reactions.iter().filter_map(|force| {
                Some(-Expression::product([force.row.get(&j)?.clone(), force.weight.clone()?, self.bend(force)]))
            });
            Expression::sum([self.force(j) - entry(&self.inertial, j)].into_iter().chain(terms))
        };
        self.with_mass(|of| self.acceleration(of), known)
    }

    /// h = df/dq q' + df/dt
    fn bend(&self, Force { kept, .. }: &Force) -> Expression {
        self.along_positions(&kept.gradient)
    }

    /// A W c1 = -(h + A a)
    fn multipliers(&self) -> LinearSystem {
        let right_side = |force: &Force| -(self.bend(force) + self.contracted(&force.row, |j| self.acceleration(j)));
        LinearSystem {
            unknowns: self.reactions.iter().map(|reaction| self.multiplier(reaction.constraint)).collect(),
            matrix: self.compliance(&self.reactions),
            right_side: self.reactions.iter().map(right_side).collect(),
        }
    }

    /// The reaction that holds a velocity at zero: p' - F - A^T c1 along it.
    fn held(&self, velocity: Symbol, reaction: Symbol) -> LinearSystem {
        let others = self.reactions.iter().filter_map(|Force { constraint, row, .. }| {
            Some(row.get(&velocity)?.clone() * Expression::from(self.multiplier(*constraint)))
        });
        let gradient = &self.momenta[&velocity].gradient;
        let momentum = if self.is_long {
            let is_velocity = |symbol| self.problem.symbols[symbol].role == Role::Velocity;
            let accelerated = |symbol| if is_velocity(symbol) { self.rate(symbol) } else { Expression::zero() };
            entry(&self.inertial, velocity) + along(gradient, accelerated)
        } else {
            along(gradient, |symbol| self.rate(symbol))
        };
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
    fn along_positions(&self, row: &SparseRow) -> Expression {
        along(row, |x| entry(&self.rates_of_positions, x))
    }

    /// U (xi - y); the declared rate where the velocities are not shifted.
    fn moved(&self, x: Symbol) -> Expression {
        if !self.shift.is_empty() {
            let directions = self.free.iter().filter_map(|j| Some((*j, self.directions[j].get(&x)?)));
            return Expression::sum(directions.map(|(j, entry)| entry.clone() * self.velocity(j)));
        }
        let declared = self.declared.kinematics.iter().find(|(coordinate, _)| *coordinate == x);
        declared.map_or_else(Expression::zero, |(_, rate)| without(&self.problem.symbols, rate))
    }

    /// The effect of reactions on a velocity, by the multipliers of these constraints.
    fn pushed(&self, j: Symbol, by: &[Force], constraint: impl Fn(&Force) -> IntegralId) -> Expression {
        let response = |reaction: &Force| {
            let multiplier = self.multiplier(constraint(reaction));
            Expression::from(self.response(j, reaction)) * Expression::from(multiplier)
        };
        Expression::sum(by.iter().map(response))
    }

    /// y
    fn shifted_by(&self, j: Symbol) -> Expression {
        let extra = self.dirac().iter().filter_map(|force| {
            Some(Expression::product([
                Expression::from(self.response(j, force)),
                force.weight.clone()?,
                force.kept.value.clone(),
            ]))
        });
        Expression::sum([self.pushed(j, self.dirac(), |force| force.keeps)].into_iter().chain(extra))
    }

    /// xi - y
    fn velocity(&self, j: Symbol) -> Expression {
        Expression::from(j) - entry(&self.shift, j)
    }

    /// F_j
    fn force(&self, j: Symbol) -> Expression {
        let acting = self.problem.forces.iter().filter(|(along, _)| *along == j).map(|(_, force)| force.clone());
        Expression::sum(acting) + self.force_with(j, &|i| self.velocity(i), &|x| self.extra(x))
    }

    /// The contribution of the shift to dL/dx: df/dx c2 - (dp/dx) . y
    fn extra(&self, x: Symbol) -> Expression {
        let by_rates = self
            .dirac()
            .iter()
            .map(|Force { keeps, kept, .. }| Expression::from(self.multiplier(*keeps)) * entry(&kept.gradient, x));
        let by_momentum = |(j, y): (&Symbol, &Expression)| -(entry(&self.momenta[j].gradient, x) * y.clone());
        let by_momenta = self.shift.iter().filter(|_| !self.is_long).map(by_momentum);
        let together = self.shifted.get(&x).map(|entry| -entry.clone());
        Expression::sum(by_rates.chain(by_momenta).chain(together))
    }

    /// Q . (xi - y) - dL/dt + y . dp/dt - c1 dg/dt - c2 df/dt, and -c b of velocity constraints A xi + b = 0
    fn power(&self) -> Expression {
        let by_time = |row: &SparseRow| by_time(&self.problem.symbols, row);
        let acting = self.problem.forces.iter().filter(|(j, _)| self.free.contains(j));
        let of_forces = acting.map(|(j, force)| force.clone() * self.velocity(*j));
        let of_momenta = self.shift.iter().map(|(j, y)| by_time(&self.momenta[j].gradient) * y.clone());
        let of_constraints = self.dirac().iter().flat_map(|Force { constraint, keeps, kept, row, .. }| {
            let rows = [(*constraint, row), (*keeps, &kept.gradient)];
            rows.map(|(id, row)| -(Expression::from(self.multiplier(id)) * by_time(row)))
        });
        let of_lagrangian = -by_time(&self.lagrangian.gradient);
        let of_velocity_constraints = self.problem.reactions.iter().filter(|reaction| !reaction.offset.is_zero());
        let of_velocity_constraints = of_velocity_constraints.map(|Reaction { constraint, offset, .. }| {
            -(Expression::from(self.multiplier(*constraint)) * offset.clone())
        });
        let others = [of_lagrangian].into_iter().chain(of_momenta).chain(of_constraints).chain(of_velocity_constraints);
        Expression::sum(of_forces.chain(others))
    }

    /// M z = b, or M_s z = b
    fn with_mass(&self, z: impl Fn(Symbol) -> Symbol, b: impl Fn(Symbol) -> Expression) -> LinearSystem {
        // The matrix is symmetric: one entry stands for both.
        let held = |i: Symbol, j: Symbol| {
            self.reactions.iter().filter_map(move |Force { row, weight, .. }| {
                let (first, last) = (row.get(&i.min(j))?, row.get(&i.max(j))?);
                Some(Expression::product([weight.clone()?, first.clone(), last.clone()]))
            })
        };
        let mass = |i: Symbol, j: Symbol| {
            let (of, by) = if self.is_long { (i.max(j), i.min(j)) } else { (j, i) };
            Expression::sum([entry(&self.momenta[&of].gradient, by)].into_iter().chain(held(i, j)))
        };
        let row = |j: &Symbol| self.free.iter().map(|i| mass(*i, *j)).collect();
        LinearSystem {
            unknowns: self.free.iter().map(|&j| z(j)).collect(),
            matrix: self.free.iter().map(row).collect(),
            right_side: self.free.iter().map(|&j| b(j)).collect(),
        }
    }

    /// A M^-1 A^T
    fn compliance(&self, rows: &[Force]) -> Vec<Vec<Expression>> {
        // The matrix is symmetric: one entry stands for both.
        let entry = |r: usize, s: usize| {
            let (first, last) = (&rows[r.min(s)], &rows[r.max(s)]);
            self.contracted(&first.row, |j| self.response(j, last))
        };
        let places = 0..rows.len();
        places.clone().map(|r| places.clone().map(|s| entry(r, s)).collect()).collect()
    }

    fn response(&self, of: Symbol, reaction: &Force) -> Symbol {
        self.roles[&Role::Response { of, to: reaction.keeps }]
    }

    fn acceleration(&self, of: Symbol) -> Symbol {
        self.roles[&Role::Acceleration { of }]
    }

    fn multiplier(&self, constraint: IntegralId) -> Symbol {
        self.roles[&Role::Multiplier(constraint)]
    }
}

/// The degree of homogeneity of an expression in some symbols, as far as its form shows it.
fn homogeneity(
    expression: &Expression,
    is_meant: &impl Fn(Symbol) -> bool,
    known: &Results<Option<BigRational>>,
) -> Option<BigRational> {
    let zero = BigRational::zero;
    let mut of_parts = expression.children().map(|part| homogeneity(part, is_meant, known));
    known.of(expression, || match expression {
        Expression::Number(_) | Expression::Pi => Some(zero()),
        Expression::Symbol(symbol) => Some(if is_meant(*symbol) { BigRational::one() } else { zero() }),
        Expression::Sum(_) => {
            let first = of_parts.next()??;
            of_parts.all(|degree| degree.as_ref() == Some(&first)).then_some(first)
        }
        Expression::Product(_) => of_parts.try_fold(zero(), |sum, degree| Some(sum + degree?)),
        Expression::Power(_, exponent) => Some(of_parts.next()?? * exponent),
        Expression::Call(..) => of_parts.all(|degree| degree == Some(zero())).then(zero),
    })
}

/// An expression where the vanishing velocities are zero.
fn without(symbols: &Symbols, expression: &Expression) -> Expression {
    expression.substituted(&|symbol| match symbols[symbol].role {
        Role::Vanishing { .. } => Expression::zero(),
        _ => Expression::from(symbol),
    })
}
