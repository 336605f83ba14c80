//! Mistakes in the inertia of a Lagrangian system, or in the reactions of any system.

use proc_macro2::Span;

use super::beginning::StartValues;
use super::lagrangian::joined;
use crate::derivation::table::Table;
use crate::derivation::{Doubt, Dynamics, IntegralId, Kind, Lagrangian, Problem, Role};
use crate::expression::{Expression, Symbol};
use crate::mechanics::motion::{mass_matrix, reaction_matrix};
use crate::proofs::{DependentColumns, Unsound, dependence, unsound_mass, vanishes_identically};
use crate::syntax::diagnostics::Errors;
use crate::syntax::{AttributeKey, Declaration, MARK_AS_REDUNDANT};

/// Reports mistakes, and returns doubts. Finds out whether constraints determine what has no inertia.
pub(super) fn check(
    declaration: &Declaration,
    problem: &mut Problem,
    beginning: &StartValues,
    spans: &Table<IntegralId, Span>,
    errors: &Errors,
) -> Vec<Doubt> {
    let is_augmented = is_augmented(problem, beginning);
    if let Dynamics::Lagrangian(lagrangian) = &mut problem.dynamics {
        lagrangian.is_augmented = is_augmented;
    }
    Check { declaration, problem, spans, errors, doubts: Vec::new() }.all()
}

/// Whether constraints have reactions, and the mass matrix M is singular in every state, be it because of parameters that are 0 by default:
/// then M + A^T A has to be sound, which has the same kernel as M where A takes it to zero.
fn is_augmented(problem: &Problem, beginning: &StartValues) -> bool {
    let defaults = problem.symbols.parameters().zip(beginning.defaults.iter().flatten());
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

/// The mistakes of a problem that are found in numbers, each with its place.
struct Check<'a> {
    declaration: &'a Declaration,
    problem: &'a Problem,
    spans: &'a Table<IntegralId, Span>,
    errors: &'a Errors,
    doubts: Vec<Doubt>,
}

impl Check<'_> {
    /// Reports the first mistake, and returns the doubts.
    fn all(mut self) -> Vec<Doubt> {
        let is_free = |role| matches!(role, Role::Velocity | Role::Momentum { .. });
        let free = self.problem.symbols.with(is_free).len();
        let forces = self.problem.reactions.len() + self.problem.integrals.holonomic_pairs().len();
        let are_held = !self.declaration.velocity_constraints.is_empty() && forces >= free;
        // Where brackets hold the constraints, their matrix is looked at with the derivation.
        let is_canonical = matches!(self.problem.dynamics, Dynamics::Canonical { .. });
        let has_brackets = is_canonical && self.problem.reactions.is_empty();
        let is_found = free > 0 && (self.mass() || !has_brackets && self.dependent_rows());
        if are_held && !is_found {
            let message = "no velocity is left: the constraints rule out every motion";
            self.errors.push(self.declaration.place(AttributeKey::VelocityConstraint), message);
        }
        self.doubts
    }

    fn name(&self, symbol: Symbol) -> &str {
        &self.problem.symbols[symbol].name
    }

    fn declared(&self, integral: IntegralId) -> String {
        format!("`{}`", self.problem.integrals[integral].name)
    }

    fn mass(&mut self) -> bool {
        match mass_matrix(self.problem).and_then(|matrix| unsound_mass(&matrix)) {
            None => return false,
            Some(Unsound::Doubtful { is_indefinite }) => {
                self.doubts.push(Doubt::Inertia { is_indefinite });
                return false;
            }
            Some(Unsound::Indefinite) => {
                let message =
                    "the mass matrix of the Lagrangian has both signs: along some velocities the inertia is negative";
                self.at_lagrangian(format!("{message}; check the signs of the kinetic energy"));
            }
            Some(Unsound::Singular(kernel)) => {
                let velocities = self.problem.symbols.with(|role| role == Role::Velocity);
                let kernel = velocities.into_iter().zip(kernel.unwrap_or_default());
                self.singular_mass(&kernel.collect::<Vec<_>>());
            }
        }
        true
    }

    fn at_lagrangian(&self, message: String) {
        self.errors.push_spanned(&self.declaration.lagrangian, message);
    }

    fn singular_mass(&mut self, kernel: &[(Symbol, i64)]) {
        let involved: Vec<Symbol> =
            kernel.iter().filter(|(_, entry)| *entry != 0).map(|(velocity, _)| *velocity).collect();
        let all: Vec<&str> = kernel.iter().map(|(velocity, _)| self.name(*velocity)).collect();
        let numbers: Vec<String> = kernel.iter().map(|(_, entry)| entry.to_string()).collect();
        let kernel = format!("({}) = ({})", all.join(", "), numbers.join(", "));
        let names: Vec<String> = involved.iter().map(|velocity| format!("`{}`", self.name(*velocity))).collect();
        let remedy = self.remedy(&involved);
        let along = joined(&names);
        let (undetermined, also) = match &self.problem.dynamics {
            Dynamics::Lagrangian(Lagrangian { is_augmented: true, .. }) => {
                (", and no constraint determines this motion", ", which the constraints do not determine either")
            }
            _ => ("", ""),
        };
        self.at_lagrangian(match &names[..] {
            [] => format!(
                "the mass matrix of the Lagrangian is singular in every state, along a direction that depends on it{also}: {remedy}"
            ),
            _ => format!(
                "the Lagrangian has no inertia along {along}{undetermined}: its mass matrix has the kernel {kernel}; {remedy}"
            ),
        });
    }

    /// The remedy for velocities without inertia, which have no equation for their rates. Without a force they are free; otherwise their
    /// equations are of first order.
    fn remedy(&self, involved: &[Symbol]) -> String {
        let first_order =
            "declare equations of first order: a `state` with `dynamics`, or with `poisson` and a `hamiltonian`";
        if self.is_linear() {
            return format!("it is linear in the velocities: {first_order}");
        }
        if self.are_held(involved) {
            return "add inertia, or constraints that determine it".to_owned();
        }
        match involved {
            // A velocity that is no coordinate's rate may be one of a motion that does not occur.
            [velocity] if !self.declaration.kinematics.is_empty() => {
                let name = self.name(*velocity);
                format!("add inertia, hold `{name}` at 0 by `velocity_constraint(name = {name})`, or {first_order}")
            }
            [velocity] if !self.matters(involved) => {
                let name = self.name(*velocity);
                format!("nothing else depends on this motion: remove `{name}` with its coordinate, or add inertia")
            }
            _ => format!("add inertia, or {first_order}"),
        }
    }

    /// Returns `true` if the mass matrix is 0 although velocities occur.
    fn is_linear(&self) -> bool {
        let Dynamics::Lagrangian(lagrangian) = &self.problem.dynamics else { return false };
        let is_velocity = |symbol: &Symbol| self.problem.symbols[*symbol].role == Role::Velocity;
        let has_velocities = lagrangian.lagrangian.symbols().iter().any(is_velocity);
        let vanishes = |matrix: &Vec<Vec<Expression>>| matrix.iter().flatten().all(vanishes_identically);
        has_velocities && mass_matrix(self.problem).as_ref().is_some_and(vanishes)
    }

    /// Returns `true` if a reaction holds a coordinate that one of these velocities moves.
    fn are_held(&self, velocities: &[Symbol]) -> bool {
        let concerned = self.concerned(velocities);
        let held =
            self.problem.integrals.iter().filter(|(_, integral)| matches!(integral.kind, Kind::Holonomic { .. }));
        let mut held = held.filter_map(|(_, integral)| integral.value.as_ref());
        held.any(|value| value.symbols().iter().any(|symbol| concerned.contains(symbol)))
    }

    /// Returns `true` if L or a force depends on one of these velocities, or on a coordinate that it moves.
    fn matters(&self, velocities: &[Symbol]) -> bool {
        let Dynamics::Lagrangian(Lagrangian { lagrangian, .. }) = &self.problem.dynamics else { return false };
        let (concerned, forces) = (self.concerned(velocities), &self.problem.forces);
        let mut expressions = forces.iter().map(|(_, force)| force).chain([lagrangian]);
        forces.iter().any(|(along, _)| velocities.contains(along))
            || expressions.any(|expression| expression.symbols().iter().any(|symbol| concerned.contains(symbol)))
    }

    /// These velocities, and the coordinates that they move.
    fn concerned(&self, velocities: &[Symbol]) -> Vec<Symbol> {
        let Dynamics::Lagrangian(Lagrangian { kinematics, .. }) = &self.problem.dynamics else { return Vec::new() };
        let is_moved = |rate: &Expression| velocities.iter().any(|velocity| rate.symbols().contains(velocity));
        let moved = kinematics.iter().filter(|(_, rate)| is_moved(rate)).map(|(coordinate, _)| *coordinate);
        moved.chain(velocities.iter().copied()).collect()
    }

    fn dependent_rows(&mut self) -> bool {
        let Some((constraints, matrix)) = reaction_matrix(self.problem) else { return false };
        let Some(DependentColumns { columns, is_proved }) = dependence(&matrix) else { return false };
        let members: Vec<IntegralId> = columns.into_iter().map(|column| constraints[column]).collect();
        if !is_proved {
            self.doubts.push(Doubt::Singular { members, everywhere: true });
            return false;
        }
        let names: Vec<String> = members.iter().map(|id| self.declared(*id)).collect();
        let is_velocity = |id: &IntegralId| self.problem.integrals[*id].kind == Kind::Velocity;
        let first = members.iter().find(|id| is_velocity(id)).or(members.last());
        let kind = if members.iter().all(is_velocity) { "velocity constraints" } else { "constraints" };
        let message = match &names[..] {
            [only] => format!("{only} restricts no velocity; remove it"),
            _ => {
                let mark = if kind == "constraints" { MARK_AS_REDUNDANT } else { "" };
                format!("the {kind} {} depend on one another everywhere; remove one of them{mark}", names.join(", "))
            }
        };
        let span = first.map_or_else(|| self.declaration.item.ident.span(), |id| self.spans[*id]);
        self.errors.push(span, message);
        true
    }
}
