//! From a [`Problem`] to its [`Derivation`], in the order of the paper. Runs within a session of the algebra.

mod dirac;
mod phase_space;
mod regularity;

pub use regularity::{Singularity, find_singularity};

use crate::derivation::{Derivation, Problem};
use crate::expression::Expression;
use crate::symbolic::{Expr, NotReal};
use dirac::ConstraintSet;
use phase_space::{Observable, PhaseSpace};

/// Which declared quantity has no finite real derivative.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity {
    /// H
    Hamiltonian,
    /// The holonomic constraint of this index.
    Holonomic(usize),
    /// The phase constraint of this index.
    Phase(usize),
    /// The invariant of this index.
    Invariant(usize),
}

/// Derives everything that the generated code computes, or names what could not be derived.
pub fn derive(problem: &Problem) -> Result<Derivation, Quantity> {
    let space = PhaseSpace::new(problem.degrees_of_freedom);
    let observable = |quantity: Quantity, expression: &Expression| {
        let observable = space.observable(Expr::read(expression));
        if observable.is_real() { Ok(observable) } else { Err(quantity) }
    };
    let observables = |kind: fn(usize) -> Quantity, expressions: &[Expression]| {
        expressions.iter().enumerate().map(|(i, e)| observable(kind(i), e)).collect::<Result<Vec<_>, _>>()
    };
    let hamiltonian = observable(Quantity::Hamiltonian, &problem.hamiltonian)?;
    let holonomic = observables(Quantity::Holonomic, &problem.holonomic)?;
    let phase = observables(Quantity::Phase, &problem.phase)?;
    let invariants = observables(Quantity::Invariant, &problem.invariants)?;
    assemble(&space, hamiltonian, holonomic, phase, invariants).map_err(|NotReal| Quantity::Hamiltonian)
}

fn assemble(
    space: &PhaseSpace,
    hamiltonian: Observable,
    holonomic: Vec<Observable>,
    phase: Vec<Observable>,
    invariants: Vec<Observable>,
) -> Result<Derivation, NotReal> {
    let set = ConstraintSet::new(space, &hamiltonian, holonomic, phase);
    let constraints = set.brackets(space, &hamiltonian)?;
    let energy = set.members().len();
    let all: Vec<Observable> = set.into_members().into_iter().chain([hamiltonian]).chain(invariants).collect();
    Ok(Derivation {
        degrees_of_freedom: space.degrees_of_freedom(),
        integrals: all.iter().map(Observable::value).collect::<Result<_, _>>()?,
        gradients: all.iter().map(Observable::gradient).collect::<Result<_, _>>()?,
        constraints,
        energy,
    })
}
