//! Problems that are stiff, with their starts: a pendulum on a spring, one that a feedback holds, and three of F. Mazzia and C. Magherini,
//! *Test Set for Initial Value Problem Solvers*, release 2.4 (2008).

use fbint_runtime::feedback_system;

/// A point mass on a spring of length 1 that swings under gravity.
#[feedback_system(
    coordinates(q: [2]),
    momenta(p: [2]),
    hamiltonian = p.norm_squared() / 2 + g * q[1] + k * (q.norm() - 1).powi(2) / 2,
    derivatives,
)]
#[derive(Clone)]
pub(crate) struct SpringPendulum {
    pub(crate) k: f64,
    pub(crate) g: f64,
}

impl SpringPendulum {
    /// At rest, level with the pivot.
    pub(crate) const START: [f64; 4] = [1.0, 0.0, 0.0, 0.0];
}

/// A point mass on a sphere, which a strong feedback makes stiff.
#[feedback_system(
    coordinates(q: [3]),
    momenta(p: [3]),
    hamiltonian = p.norm_squared() / 2 + q[2],
    constraint(length = q.norm_squared() - 1),
    invariant(vertical_momentum = q[0] * p[1] - q[1] * p[0]),
    derivatives,
)]
#[derive(Clone)]
pub(crate) struct Pendulum;

impl Pendulum {
    pub(crate) const START: [f64; 6] = [0.0, 1.0, 0.0, 1.0, 0.0, 1.0];
}

/// Robertson's chemical reactions.
#[feedback_system(
    state(a, b, c),
    dynamics(
        a = -0.04 * a + 1e4 * b * c,
        b = 0.04 * a - 1e4 * b * c - 3e7 * b.powi(2),
        c = 3e7 * b.powi(2),
    ),
    invariant(total = a + b + c),
    derivatives,
)]
pub(crate) struct Robertson;

impl Robertson {
    pub(crate) const START: [f64; 3] = [1.0, 0.0, 0.0];
    pub(crate) const UNTIL: f64 = 1e11;
}

/// Responses of a plant to light.
#[feedback_system(
    state(y: [8]),
    dynamics(y = vector![
        -1.71 * y[0] + 0.43 * y[1] + 8.32 * y[2] + 0.0007,
        1.71 * y[0] - 8.75 * y[1],
        -10.03 * y[2] + 0.43 * y[3] + 0.035 * y[4],
        8.32 * y[1] + 1.71 * y[2] - 1.12 * y[3],
        -1.745 * y[4] + 0.43 * y[5] + 0.43 * y[6],
        -280 * y[5] * y[7] + 0.69 * y[3] + 1.71 * y[4] - 0.43 * y[5] + 0.69 * y[6],
        280 * y[5] * y[7] - 1.81 * y[6],
        -280 * y[5] * y[7] + 1.81 * y[6],
    ]),
    derivatives,
)]
pub(crate) struct Hires;

impl Hires {
    pub(crate) const START: [f64; 8] = [1.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0057];
    pub(crate) const UNTIL: f64 = 321.8122;
}

/// Van der Pol's oscillator in its slow time.
#[feedback_system(state(x, v), dynamics(x = v, v = mu * ((1 - x.powi(2)) * v - x)), derivatives)]
pub(crate) struct VanDerPol {
    pub(crate) mu: f64,
}

impl VanDerPol {
    pub(crate) const START: [f64; 2] = [2.0, 0.0];
    pub(crate) const UNTIL: f64 = 2.0;
}
