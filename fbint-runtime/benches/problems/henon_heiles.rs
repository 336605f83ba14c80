//! A star in a galaxy (Henon and Heiles 1964).

use fbint_runtime::feedback_system;

/// A star in a galaxy.
#[feedback_system(
    coordinates(x, y),
    momenta(px, py),
    hamiltonian = (px.powi(2) + py.powi(2)) / 2 + (x.powi(2) + y.powi(2)) / 2 + x.powi(2) * y - y.powi(3) / 3,
    taylor,
)]
#[derive(Clone, Debug)]
pub(crate) struct HenonHeiles;

impl HenonHeiles {
    /// On x = 0, moving to the right, with this energy.
    pub(crate) fn start(energy: f64, y: f64, py: f64) -> [f64; 4] {
        let px = (2.0 * energy - y.powi(2) - py.powi(2) + 2.0 / 3.0 * y.powi(3)).sqrt();
        HenonHeilesState { x: 0.0, y, px, py }.into()
    }
}
