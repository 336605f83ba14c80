//! From a [`Problem`] to its [`Derivation`], in the order of the paper, and what can be proved about it.
//!
//! What takes algebra runs within a session: [`derive()`], [`claims`], [`involution`], [`is_mistake`]. The rest works
//! with numbers, after the session's lock is released.

mod bounds;
mod conservation;
mod definedness;
mod dependence;
mod dirac;
mod feasibility;
mod involution;
mod linear;
mod modular;
mod phase_space;
mod poisson;
mod regularity;
mod samples;
mod states;
mod vanishing;

pub use conservation::{Claim, Violation, claims, prove};
pub use definedness::{Undefined, is_difference_of_roots, is_root, undefined_part};
pub use dependence::dependence;
pub use feasibility::{doubts, is_mistake, is_never_zero};
pub use involution::involution;
pub use poisson::NotPoisson;

use crate::derivation::{Derivation, Dynamics, Field, KineticEnergy, Problem};
use crate::expression::Expression;
use crate::symbolic::{Expr, NotReal};
use dirac::ConstraintSet;
use phase_space::{Observable, PhaseSpace};

/// Why nothing was derived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Obstacle {
    /// A declared quantity has no finite real derivative.
    NotReal(Quantity),
    /// `poisson` is no Poisson matrix.
    NotPoisson(NotPoisson),
}

/// A declared quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// H
    Hamiltonian,
    /// The rate of the state of this index.
    Rate(usize),
    /// An entry of the Poisson matrix.
    Poisson,
    /// The constraint of this index.
    Constraint(usize),
    /// The phase constraint of this index.
    Phase(usize),
    /// The invariant of this index.
    Invariant(usize),
}

/// Derives everything that the generated code computes, or says what is in the way.
pub fn derive(problem: &Problem) -> Result<Derivation, Obstacle> {
    let space = PhaseSpace::new(problem.dimension);
    let constraints = observables(&space, &problem.constraints, Quantity::Constraint)?;
    let phase = observables(&space, &problem.phase, Quantity::Phase)?;
    let invariants = observables(&space, &problem.invariants, Quantity::Invariant)?;
    let (field, energy, constraints) = match &problem.dynamics {
        Dynamics::Canonical { hamiltonian } => {
            let energy = observable(&space, hamiltonian, Quantity::Hamiltonian)?;
            let set = ConstraintSet::new(&space, &energy, constraints, phase);
            let brackets = set.brackets(&space, &energy).map_err(not_real)?;
            (Field::Dirac(brackets), Some(energy), set.into_members())
        }
        Dynamics::Poisson { matrix, hamiltonian } => {
            let energy = observable(&space, hamiltonian, Quantity::Hamiltonian)?;
            let rates = poisson::field(&space, matrix, &energy)?;
            (Field::Given(rates), Some(energy), constraints)
        }
        Dynamics::Given { rates } => {
            let rate =
                |(index, rate)| Expr::read(rate).write().map_err(|NotReal| Obstacle::NotReal(Quantity::Rate(index)));
            (Field::Given(rates.iter().enumerate().map(rate).collect::<Result<_, _>>()?), None, constraints)
        }
    };
    let canonical = matches!(field, Field::Dirac(_));
    let kinetic_energy =
        energy.as_ref().filter(|_| canonical).map_or(KineticEnergy::General, |energy| space.kinetic_energy(energy));
    let constraint_count = constraints.len();
    let place = energy.as_ref().map(|_| constraint_count);
    let all: Vec<Observable> = constraints.into_iter().chain(energy).chain(invariants).collect();
    Ok(Derivation {
        dimension: problem.dimension,
        integrals: all.iter().map(Observable::value).collect::<Result<_, _>>().map_err(not_real)?,
        gradients: all.iter().map(Observable::gradient).collect::<Result<_, _>>().map_err(not_real)?,
        field,
        poisson: match &problem.dynamics {
            Dynamics::Poisson { matrix, .. } => Some(matrix.clone()),
            Dynamics::Canonical { .. } | Dynamics::Given { .. } => None,
        },
        energy: place,
        constraint_count,
        kinetic_energy,
        outputs: problem.outputs.clone(),
        first_multiplier: problem.first_multiplier,
    })
}

/// What is derived from real quantities fails to be real only where H itself is to blame.
fn not_real(_: NotReal) -> Obstacle {
    Obstacle::NotReal(Quantity::Hamiltonian)
}

fn observable(space: &PhaseSpace, expression: &Expression, quantity: Quantity) -> Result<Observable, Obstacle> {
    let observable = space.observable(Expr::read(expression));
    if observable.is_real() { Ok(observable) } else { Err(Obstacle::NotReal(quantity)) }
}

fn observables(
    space: &PhaseSpace,
    expressions: &[Expression],
    quantity: fn(usize) -> Quantity,
) -> Result<Vec<Observable>, Obstacle> {
    expressions.iter().enumerate().map(|(index, expression)| observable(space, expression, quantity(index))).collect()
}
