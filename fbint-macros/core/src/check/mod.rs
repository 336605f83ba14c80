//! Whether a derivation follows from its problem, without algebra.
//!
//! Everything that was derived is computed a second time from what was declared, in numbers: values and gradients of the
//! declared expressions by automatic differentiation in 256 bits, and from them brackets, rates and fields. The gradient of a
//! rate takes second derivatives, of g along J grad H and of H along J grad g:
//!
//! grad {g, H} = (D^2 g) J grad H - (D^2 H) J grad g
//!
//! Where a declared expression is undefined at all points that are tried, nothing is compared.

mod comparison;
mod declared;
mod gradient;
mod number;

use self::comparison::Comparison;
use self::declared::Declared;
use crate::derivation::{Derivation, Problem};
use crate::points::search_points;

/// Points at which everything is compared, and points that are tried.
const POINTS: usize = 2;
const TRIED: usize = 40;

/// What was derived in disagreement with the declaration: a bug of the compiler.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Disagreement {
    /// The quantity: `the gradient of length`.
    pub quantity: String,
}

/// The first quantity that was not derived from the problem as it should have been, if there is one.
pub fn disagreement(problem: &Problem, derivation: &Derivation) -> Option<Disagreement> {
    let mut compared = 0;
    for point in search_points(&problem.symbols).take(TRIED) {
        let Some(declared) = Declared::at(problem, &point) else { continue };
        let comparison = Comparison { declared, derivation, point };
        if let Err(quantity) = comparison.all() {
            return Some(Disagreement { quantity });
        }
        compared += 1;
        if compared == POINTS {
            break;
        }
    }
    None
}
