//! Whether a derivation follows from its problem, without algebra.
//!
//! Everything that was derived is computed a second time from what was declared, in numbers: values and gradients of the
//! declared expressions by automatic differentiation in 256 bits, and from them brackets, rates and fields. The gradient of a
//! rate takes second derivatives, of g along J grad H and of H along J grad g:
//!
//! grad {g, H} = (D^2 g) J grad H - (D^2 H) J grad g
//!
//! X and the multipliers of a canonical system are computed from gradients and one dense system, whatever form was derived for them. For a
//! Lagrangian system they are put into d'Alembert's equations of the declared Lagrangian, whose residual must vanish.
//!
//! The quantities that the field keeps by its form are evaluated along it, as if that form were unknown.
//!
//! Points at which a declared or derived expression is undefined do not count.

mod comparison;
mod declared;
mod frame;
mod motion;

use self::comparison::PointComparison;
use self::declared::DeclaredAtPoint;
use crate::derivation::{Derivation, Problem};
use crate::numbers::points::search_points;
use crate::numbers::precise::Real;
use crate::proofs::changed_by_field;

/// Points at which everything is compared, and points that are tried.
const POINTS: usize = 2;
const TRIED: usize = 40;

/// The result of comparing a derivation with its problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CheckOutcome {
    /// Every quantity is what it should be.
    Agreement,
    /// This quantity is not what it should be: `the gradient of length`.
    Disagreement(String),
    /// There was no point at which every quantity is defined. Those that were are what they should be.
    Undefined,
}

/// Whether everything was derived from the problem as it should have been.
pub fn check(problem: &Problem, derivation: &Derivation) -> CheckOutcome {
    let (mut compared, mut velocities) = (0, Vec::new());
    for point in search_points(&problem.symbols).take(TRIED) {
        let Some(declared) = DeclaredAtPoint::at(problem, move |symbol| Real::from(point.symbol(symbol))) else {
            continue;
        };
        let (outcome, velocity) = PointComparison::new(declared, derivation, point).all();
        match outcome {
            CheckOutcome::Agreement => compared += 1,
            CheckOutcome::Undefined => {}
            CheckOutcome::Disagreement(_) => return outcome,
        }
        velocities.extend(velocity);
        if compared == POINTS {
            break;
        }
    }
    match changed_by_field(derivation, velocities) {
        Some(integral) => {
            CheckOutcome::Disagreement(format!("the rate of {} along the field", derivation.integrals[integral].name))
        }
        None if compared > 0 => CheckOutcome::Agreement,
        None => CheckOutcome::Undefined,
    }
}
