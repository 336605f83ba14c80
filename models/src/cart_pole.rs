//! A pole on a cart with a motor: the example of control theory. The thrust is an input, which a controller gives.

use fbint_runtime::feedback_system;

/// A pole that stands on a cart, with a motor whose thrust is an input.
#[feedback_system(
    coordinates(x, angle),
    velocities(v, omega),
    time(t),
    input(thrust),
    define(tip = vector![v + l * omega * angle.cos(), -l * omega * angle.sin()]),
    lagrangian = cart * v.powi(2) / 2 + m * tip.norm_squared() / 2 - m * g * l * angle.cos(),
    force(v = thrust - friction * v),
    output(power = thrust * v),
    default(cart = 1, m = 0.1, l = 0.5, g = 9.81, friction = 0.1),
    draw(
        guide(vector![(-2 * l).min(x - l), -0.22 * l], vector![(2 * l).max(x + l), -0.22 * l]),
        disk(vector![x - 0.15 * l, -0.16 * l], 0.06 * l), disk(vector![x + 0.15 * l, -0.16 * l], 0.06 * l),
        body(vector![x, 0], 0, vector![0.5 * l, 0.2 * l]),
        rod(vector![x, 0], vector![x + l * angle.sin(), l * angle.cos()]), pivot(vector![x, 0]), point(vector![x + l * angle.sin(), l * angle.cos()]), trace(vector![x + l * angle.sin(), l * angle.cos()]),
    ),
)]
#[derive(Clone, Debug, PartialEq)]
pub struct CartPole {
    /// The mass of the cart.
    pub cart: f64,
    /// The mass at the tip of the pole.
    pub m: f64,
    /// The length of the pole.
    pub l: f64,
    /// The acceleration of gravity.
    pub g: f64,
    /// The force of friction per velocity of the cart.
    pub friction: f64,
}

impl CartPole {
    /// The start with the pole a little off the vertical, at rest.
    pub fn start(&self) -> CartPoleState {
        CartPoleState { x: 0.0, angle: 0.2, v: 0.0, omega: 0.0, t: 0.0, work: 0.0 }
    }
}

#[cfg(test)]
mod tests {
    use fbint_runtime::{Error, Method, Simulation};

    use super::*;

    /// Without thrust the pole falls; a controller with the gains of a quick hand holds it upright.
    #[test]
    fn a_controller_holds_the_pole_upright() -> Result<(), Error> {
        let system = CartPole::default();
        let method = Method::Dop853 { rtol: 1e-9, atol: Some(1e-9) };
        let falling = Simulation::new(&system, system.start())?.run(method, 1.0)?;
        assert!(falling.state().angle.cos() < 0.0);
        let controller = |_: f64, at: &CartPoleState| CartPoleInput {
            thrust: 30.0 * at.angle + 5.0 * at.omega + 2.0 * at.x + 3.0 * at.v,
        };
        let held = Simulation::new(&system, system.start())?.input(controller).run(method, 30.0)?;
        let end = held.state();
        assert!(end.angle.abs() < 1e-3 && end.x.abs() < 1e-2, "{end:?}");
        assert!(held.drift().integrals().all(|integral| integral.max < 1e-11));
        Ok(())
    }
}
