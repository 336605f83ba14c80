//! The drive of a canonical system: generalised forces, and the time.

use super::{Problem, Role, SparseRow};
use crate::expression::{Expression, Symbol};

/// Forces and the time.
///
/// Without constraints, a driven system moves by y = J grad H + Q along the momenta + 1 along the time, so that a function f has the rate
///
/// y(f) = {f, H} + drive(f),   drive(f) = f_p . Q + df/dt
///
/// With v = grad H - Df^T c, the field is X = J v + Q along the momenta, 1 along the time, and Q . q' + v_t along the work: the rate of the
/// work is dH.X, because c^T C c = 0. It follows that C c = y(f).
#[derive(Clone, Debug, Default)]
pub struct Drive {
    /// Q, by the momenta along which the forces act, with the coordinates that they move.
    pub forces: Vec<Force>,
    /// The time, where it is an entry of the state.
    pub time: Option<Symbol>,
    /// The work, where it is an entry of the state.
    pub work: Option<Symbol>,
}

/// A generalised force.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Force {
    /// The momentum that it changes.
    pub momentum: Symbol,
    /// The coordinate along which it does work.
    pub coordinate: Symbol,
    /// The force.
    pub value: Expression,
}

impl Drive {
    /// The drive of a system, without the forces of a Lagrangian system: its rates have them.
    pub fn of(problem: &Problem) -> Self {
        let symbols = &problem.symbols;
        let force = |(momentum, value): &(Symbol, Expression)| match symbols[*momentum].role {
            Role::Momentum { coordinate } => Some(Force { momentum: *momentum, coordinate, value: value.clone() }),
            _ => None,
        };
        let forces: Vec<Force> = problem.forces.iter().filter_map(force).collect();
        Self { forces, time: symbols.only(Role::Time), work: symbols.only(Role::Work) }
    }

    /// The terms of drive(f), from the gradient of f: a derivative, and the force that multiplies it if there is one.
    pub fn terms<'r, T>(&'r self, gradient: &'r SparseRow<T>) -> impl Iterator<Item = (&'r T, Option<&'r Expression>)> {
        let of_force = |force: &'r Force| Some((gradient.get(&force.momentum)?, Some(&force.value)));
        let of_time = self.time.and_then(|time| gradient.get(&time)).map(|slope| (slope, None));
        self.forces.iter().filter_map(of_force).chain(of_time)
    }
}
