//! Nonholonomic systems whose constraints are held by reactions: the examples of D. E. Chang and M. Perlmutter, *Feedback integrators
//! for nonholonomic mechanical systems*, J. Nonlinear Sci. 29 (2019) 1165, in their textbook form.
//!
//! The Chaplygin sleigh, which is one of them, is in [`HeldSleigh`](crate::HeldSleigh). Blo15 is A. M. Bloch, *Nonholonomic Mechanics and
//! Control*, second edition, 2015.

mod heisenberg;
mod knife_edge;
mod oscillator;
mod roller_racer;
mod rolling_disk;
mod suslov;

pub use heisenberg::{HeisenbergSystem, HeisenbergSystemState};
pub use knife_edge::{KnifeEdge, KnifeEdgeState};
pub use oscillator::{NonholonomicOscillator, NonholonomicOscillatorState};
pub use roller_racer::{RollerRacer, RollerRacerState};
pub use rolling_disk::{RollingDisk, RollingDiskState};
pub use suslov::{SuslovProblem, SuslovProblemState};
