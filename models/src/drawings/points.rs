//! Points that move in space.

use fbint_command::Drawing;
use nalgebra::{Vector3, vector};

use crate::{
    HeisenbergSystem, HeisenbergSystemState, Kepler, KeplerState, NonholonomicOscillator, NonholonomicOscillatorState,
    PerturbedKepler, PerturbedKeplerState,
};

pub(crate) fn kepler(_: &Kepler, at: &KeplerState) -> Drawing {
    planet(at.x)
}

pub(crate) fn perturbed_kepler(_: &PerturbedKepler, at: &PerturbedKeplerState) -> Drawing {
    planet(at.x)
}

/// A planet and its sun.
fn planet(x: Vector3<f64>) -> Drawing {
    let sun = Vector3::zeros();
    Drawing::new().guide([sun, x]).pivot(sun).point(x).trace(x)
}

pub(crate) fn heisenberg_system(_: &HeisenbergSystem, at: &HeisenbergSystemState) -> Drawing {
    above_the_plane(vector![at.x, at.y, at.z]).guide([Vector3::zeros(), vector![at.x, at.y, 0.0]])
}

/// The harmonic potential is a spring in the plane.
pub(crate) fn nonholonomic_oscillator(_: &NonholonomicOscillator, at: &NonholonomicOscillatorState) -> Drawing {
    above_the_plane(vector![at.x, at.y, at.z]).spring(Vector3::zeros(), vector![at.x, at.y, 0.0])
}

/// A point with its height above the plane of the first two coordinates, where the point below it leaves a trace, too.
fn above_the_plane(at: Vector3<f64>) -> Drawing {
    let below = vector![at.x, at.y, 0.0];
    Drawing::new().guide([below, at]).pivot(Vector3::zeros()).point(at).trace(at).trace(below)
}
