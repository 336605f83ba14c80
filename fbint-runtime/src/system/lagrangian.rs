//! The mass matrix and the inverse dynamics of Lagrangian systems.

use crate::numbers::entries::{Entries, Entry};
use crate::numbers::scalar::Scalar;
use crate::system::traits::{FeedbackSystem, LagrangianFunctions, Vector};

/// A Lagrangian system, with velocities xi in its state: `M(q, xi) xi' = b(q, xi, t) + A^T lambda`, with the reactions `A^T lambda` of
/// constraints. The guide has an example, on the page
/// `inverse_dynamics`.
///
/// Implemented by `#[feedback_system]`, not by hand.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a Lagrangian system",
    note = "mass matrices are those of systems with `velocities` and a `lagrangian`"
)]
pub trait LagrangianSystem: FeedbackSystem {
    /// An array with an entry for each velocity that is part of the state, in the order of the state: all but those that a velocity
    /// constraint puts to zero.
    type Velocities<T: Entry>: Entries<T>;

    /// The mass matrix M, the second derivatives of L by the velocities, row by row. It is symmetric.
    fn mass_matrix<T: Scalar>(system: &Self::Prepared<T>, x: &Vector<Self, T>)
    -> Self::Velocities<Self::Velocities<T>>;
    /// The generalised forces M a - b along the velocities that give the accelerations a = xi' if they act in addition to those that are
    /// declared. Where the accelerations keep to the constraints, no reaction takes part; what of them does not is taken up by reactions.
    fn inverse_dynamics<T: Scalar>(
        system: &Self::Prepared<T>,
        x: &Vector<Self, T>,
        accelerations: &Self::Velocities<T>,
    ) -> Self::Velocities<T>;
}

impl<S: LagrangianSystem> LagrangianFunctions<S> {
    /// The functions of this system.
    pub const OF_SYSTEM: Self = Self {
        mass_matrix: |system, x, list| {
            let rows = S::mass_matrix(system, x);
            let entries = rows.as_ref().iter().flat_map(|row| row.as_ref().iter().copied());
            list.iter_mut().zip(entries).for_each(|(place, entry)| *place = entry);
        },
        inverse_dynamics: |system, x, accelerations, list| {
            let given = Entries::from_fn(|i| accelerations.get(i).copied().unwrap_or(0.0));
            let forces = S::inverse_dynamics(system, x, &given);
            list.iter_mut().zip(forces.as_ref()).for_each(|(place, force)| *place = *force);
        },
    };
}
