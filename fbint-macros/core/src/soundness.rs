//! The faults of a problem before it is derived: functions that are defined nowhere, an inertia or reactions that determine no
//! motion, starts off the constraints. Findings are data; `compile` words them.

mod definedness;
mod start;

pub(crate) use self::definedness::{UndefinedFunction, roots, undefined};
pub(crate) use self::start::{beyond_a_turn, undefined_at_start, violated_at_start};
use crate::derivation::{Derivation, Doubt, Dynamics, Integral, IntegralId, Kind, Lagrangian, Problem, Role};
use crate::expression::{Expression, Symbol};
use crate::mechanics::motion::{differentials, forms, mass_matrix, reaction_matrix};
use crate::proofs::{self, DependentColumns, Unsound, dependence, unsound_mass, vanishes_identically};

/// A mistake that leaves the motion open.
#[derive(Clone, Debug)]
pub(crate) enum Unsoundness {
    /// The mass matrix has both signs.
    Indefinite,
    /// Some motion has no inertia.
    Inertialess(Inertialess),
    /// The rows of these constraints are dependent.
    Dependent(Vec<IntegralId>),
    /// The constraints leave no velocity.
    Motionless,
}

/// A motion without inertia, and what else is known of it.
#[derive(Clone, Debug)]
pub(crate) struct Inertialess {
    /// The velocities with the entries of the kernel of the mass matrix; none where it depends on the state.
    pub(crate) kernel: Vec<(Symbol, i64)>,
    /// `true` if constraints could determine it, and do not.
    pub(crate) is_augmented: bool,
    /// `true` if L is linear in all velocities.
    pub(crate) is_linear: bool,
    /// `true` if a reaction holds a coordinate that it moves.
    pub(crate) is_held: bool,
    /// `true` if L or a force depends on it.
    pub(crate) matters: bool,
}

impl Inertialess {
    /// The velocities that take part.
    pub(crate) fn involved(&self) -> Vec<Symbol> {
        self.kernel.iter().filter(|(_, entry)| *entry != 0).map(|(velocity, _)| *velocity).collect()
    }
}

/// The mistakes of the inertia and the reactions, and suspicions that are not proved. Finds out whether constraints determine what has no
/// inertia, by default.
pub(crate) fn judge(problem: &mut Problem, defaults: &[Expression]) -> (Vec<Unsoundness>, Vec<Doubt>) {
    let is_augmented = is_augmented(problem, defaults);
    if let Dynamics::Lagrangian(lagrangian) = &mut problem.dynamics {
        lagrangian.is_augmented = is_augmented;
    }
    let mut doubts = Vec::new();
    let mistakes = mistakes(problem, &mut doubts);
    (mistakes, doubts)
}

/// Whether velocity constraints are integrable where the constraints on the configuration hold, if there are any.
pub(crate) fn are_integrable(problem: &Problem, derivation: &Derivation) -> Option<bool> {
    let forms = forms(problem).filter(|forms| !forms.is_empty())?;
    let is_of_configuration = |kind| matches!(kind, Kind::Holonomic { .. } | Kind::Redundant | Kind::InvariantSet);
    let held: Vec<&Integral> = derivation.integrals.rows().filter(|held| is_of_configuration(held.kind)).collect();
    let tangents = differentials(problem, held.iter().map(|held| &held.value))?;
    Some(proofs::are_integrable(&forms, &tangents, &held, &problem.symbols))
}

/// Returns `true` if constraints have reactions, and the mass matrix M is singular in every state, be it because of parameters that are 0 by default:
/// then M + A^T A has to be sound, which has the same kernel as M where A takes it to zero.
fn is_augmented(problem: &Problem, defaults: &[Expression]) -> bool {
    let defaults = problem.symbols.parameters().zip(defaults);
    let zeros: Vec<Symbol> = defaults.filter(|(_, value)| value.is_zero()).map(|(parameter, _)| parameter).collect();
    let by_default = |symbol| if zeros.contains(&symbol) { Expression::zero() } else { Expression::from(symbol) };
    let at_defaults = |matrix: Vec<Vec<Expression>>| -> Vec<Vec<Expression>> {
        matrix.iter().map(|row| row.iter().map(|entry| entry.substituted(&by_default)).collect()).collect()
    };
    let is_singular = |matrix: &Vec<Vec<Expression>>| matches!(unsound_mass(matrix), Some(Unsound::Singular(_)));
    let vanishes = |matrix: &Vec<Vec<Expression>>| matrix.iter().flatten().all(vanishes_identically);
    reaction_matrix(problem).is_some_and(|(constraints, _)| !constraints.is_empty())
        && mass_matrix(problem).map(at_defaults).is_some_and(|matrix| is_singular(&matrix) && !vanishes(&matrix))
}

/// The first mistake of the inertia or of the reactions, and that no motion is left.
fn mistakes(problem: &Problem, doubts: &mut Vec<Doubt>) -> Vec<Unsoundness> {
    let free = problem.symbols.with(|role| matches!(role, Role::Velocity | Role::Momentum { .. })).len();
    let forces = problem.reactions.len() + problem.integrals.holonomic_pairs().len();
    let vanish = !problem.symbols.with(|role| matches!(role, Role::Vanishing { .. })).is_empty();
    let are_held = (vanish || !problem.reactions.is_empty()) && forces >= free;
    // Where brackets hold the constraints, their matrix is looked at with the derivation.
    let is_canonical = matches!(problem.dynamics, Dynamics::Canonical { .. });
    let has_brackets = is_canonical && problem.reactions.is_empty();
    let rows = |doubts: &mut Vec<Doubt>| if has_brackets { None } else { dependent_rows(problem, doubts) };
    let found = if free > 0 { mass(problem, doubts).or_else(|| rows(doubts)) } else { None };
    match found {
        None if are_held => vec![Unsoundness::Motionless],
        found => found.into_iter().collect(),
    }
}

fn mass(problem: &Problem, doubts: &mut Vec<Doubt>) -> Option<Unsoundness> {
    let matrix = mass_matrix(problem)?;
    match unsound_mass(&matrix)? {
        Unsound::Doubtful { is_indefinite } => {
            doubts.push(Doubt::Inertia { is_indefinite });
            None
        }
        Unsound::Indefinite => Some(Unsoundness::Indefinite),
        Unsound::Singular(kernel) => {
            let velocities = problem.symbols.with(|role| role == Role::Velocity);
            let kernel: Vec<(Symbol, i64)> = velocities.into_iter().zip(kernel.unwrap_or_default()).collect();
            Some(Unsoundness::Inertialess(inertialess(problem, &matrix, kernel)))
        }
    }
}

fn inertialess(problem: &Problem, matrix: &[Vec<Expression>], kernel: Vec<(Symbol, i64)>) -> Inertialess {
    let is_augmented = matches!(problem.dynamics, Dynamics::Lagrangian(Lagrangian { is_augmented: true, .. }));
    let found =
        Inertialess { kernel, is_augmented, is_linear: is_linear(problem, matrix), is_held: false, matters: false };
    let involved = found.involved();
    Inertialess { is_held: is_held(problem, &involved), matters: matters(problem, &involved), ..found }
}

/// Returns `true` if the mass matrix is 0 although velocities occur.
fn is_linear(problem: &Problem, matrix: &[Vec<Expression>]) -> bool {
    let Dynamics::Lagrangian(lagrangian) = &problem.dynamics else { return false };
    let is_velocity = |symbol: &Symbol| problem.symbols[*symbol].role == Role::Velocity;
    lagrangian.lagrangian.symbols().iter().any(is_velocity) && matrix.iter().flatten().all(vanishes_identically)
}

/// Returns `true` if a reaction holds a coordinate that one of these velocities moves.
fn is_held(problem: &Problem, velocities: &[Symbol]) -> bool {
    let concerned = concerned(problem, velocities);
    let held = problem.integrals.rows().filter(|integral| matches!(integral.kind, Kind::Holonomic { .. }));
    let mut values = held.filter_map(|integral| integral.value.as_ref());
    values.any(|value| value.symbols().iter().any(|symbol| concerned.contains(symbol)))
}

/// Returns `true` if L or a force depends on one of these velocities, or on a coordinate that it moves.
fn matters(problem: &Problem, velocities: &[Symbol]) -> bool {
    let Dynamics::Lagrangian(Lagrangian { lagrangian, .. }) = &problem.dynamics else { return false };
    let (concerned, forces) = (concerned(problem, velocities), &problem.forces);
    let mut expressions = forces.iter().map(|(_, force)| force).chain([lagrangian]);
    forces.iter().any(|(along, _)| velocities.contains(along))
        || expressions.any(|expression| expression.symbols().iter().any(|symbol| concerned.contains(symbol)))
}

/// These velocities, and the coordinates that they move.
fn concerned(problem: &Problem, velocities: &[Symbol]) -> Vec<Symbol> {
    let Dynamics::Lagrangian(Lagrangian { kinematics, .. }) = &problem.dynamics else { return Vec::new() };
    let is_moved = |rate: &Expression| velocities.iter().any(|velocity| rate.symbols().contains(velocity));
    let moved = kinematics.iter().filter(|(_, rate)| is_moved(rate)).map(|(coordinate, _)| *coordinate);
    moved.chain(velocities.iter().copied()).collect()
}

fn dependent_rows(problem: &Problem, doubts: &mut Vec<Doubt>) -> Option<Unsoundness> {
    let (constraints, matrix) = reaction_matrix(problem)?;
    let DependentColumns { columns, is_proved } = dependence(&matrix)?;
    let members: Vec<IntegralId> = columns.into_iter().map(|column| constraints[column]).collect();
    if is_proved {
        return Some(Unsoundness::Dependent(members));
    }
    doubts.push(Doubt::Singular { members, everywhere: true });
    None
}
