//! A pendulum on a cart: plain Lagrangian mechanics with a mass matrix that depends on the configuration.
//!
//! No force acts along the rail, so that the horizontal momentum is conserved.

use fbint_runtime::feedback_system;

/// A pendulum that hangs from a cart on a rail.
#[feedback_system(
    coordinates(s, theta),
    velocities(v, omega),
    define(bob = vector![v + l * omega * theta.cos(), l * omega * theta.sin()]),
    lagrangian = cart * v.powi(2) / 2 + m * bob.norm_squared() / 2 + m * g * l * theta.cos(),
    invariant(horizontal_momentum = momentum(v)),
    default(cart = 2, m = 0.5, l = 0.8, g = 9.81),
    draw(
        guide(vector![(-2 * l).min(s - l), -0.22 * l], vector![(2 * l).max(s + l), -0.22 * l]),
        disk(vector![s - 0.15 * l, -0.16 * l], 0.06 * l), disk(vector![s + 0.15 * l, -0.16 * l], 0.06 * l),
        body(vector![s, 0], 0, vector![0.5 * l, 0.2 * l]),
        rod(vector![s, 0], vector![s + l * theta.sin(), -l * theta.cos()]), pivot(vector![s, 0]), point(vector![s + l * theta.sin(), -l * theta.cos()]), trace(vector![s + l * theta.sin(), -l * theta.cos()]),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct CartPendulum {
    /// The mass of the cart.
    pub cart: f64,
    /// The mass of the bob.
    pub m: f64,
    /// The length of the rod.
    pub l: f64,
    /// The acceleration of gravity.
    pub g: f64,
}

impl CartPendulum {
    /// The start with the bob high up.
    pub fn start(&self) -> CartPendulumState {
        CartPendulumState { s: 0.1, theta: 2.0, v: 0.3, omega: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    /// The centre of mass of cart and bob moves at constant speed.
    #[test]
    fn centre_of_mass_goes_straight() -> Result<(), Error> {
        let system = CartPendulum::default();
        let (start, time) = (system.start(), 7.0);
        let method = Method::Dop853 { rtol: 1e-12, atol: Some(1e-12) };
        let end = Simulation::new(&system, start)?.run(method, time)?.state();
        let centre =
            |state: &CartPendulumState| state.s + system.m * system.l * state.theta.sin() / (system.cart + system.m);
        assert!((centre(&end) - centre(&start) - start.v * time).abs() < 1e-9, "{end:?}");
        Ok(())
    }
}
