//! A pendulum on a cart: two equations with a symmetric matrix, eliminated by hand.

use models::CartPendulum;

use crate::{HandwrittenField, fma};

/// The pendulum on a cart: s, theta, v, omega.
#[derive(Clone, Copy, Debug)]
pub struct Cart {
    /// cart + m
    total: f64,
    /// m l
    arm: f64,
    /// m l^2
    inertia: f64,
    /// m g l
    weight: f64,
    /// 1 / (m l)
    inverse_arm: f64,
    /// m, cart, l, g
    m: f64,
    cart: f64,
    l: f64,
    g: f64,
    /// Of energy and momentum.
    targets: [f64; 2],
    gains: [f64; 2],
}

impl Cart {
    /// For a start with this energy and horizontal momentum, with gains in this order.
    pub fn new(model: &CartPendulum, targets: [f64; 2], gains: [f64; 2]) -> Self {
        let CartPendulum { cart, m, l, g } = *model;
        let arm = m * l;
        Self {
            total: cart + m,
            arm,
            inertia: arm * l,
            weight: arm * g,
            inverse_arm: 1.0 / arm,
            m,
            cart,
            l,
            g,
            targets,
            gains,
        }
    }
}

impl HandwrittenField<[f64; 4]> for Cart {
    #[inline]
    fn field(&self, &[_, theta, v, omega]: &[f64; 4]) -> [f64; 4] {
        let (sin, cos) = (theta.sin(), theta.cos());
        // The angular velocity's part of the horizontal momentum is coupling omega.
        let coupling = self.arm * cos;
        let turning = coupling * omega;
        let momentum = fma(self.total, v, turning);
        let angular = fma(self.inertia, omega, coupling * v);
        let energy = fma(-self.weight, cos, 0.5 * fma(momentum, v, angular * omega));
        let y0 = self.gains[0] * (energy - self.targets[0]);
        let y1 = self.gains[1] * (momentum - self.targets[1]);
        // (cart + m sin^2) v' = m sin (l omega^2 + g cos),  l omega' = -g sin - cos v'
        let lift = self.m * sin;
        let cart_rate = lift * fma(self.l * omega, omega, self.g * cos) / fma(lift, sin, self.cart);
        let bob_rate = -fma(self.weight, sin, coupling * cart_rate) * self.inverse_arm / self.l;
        let pull = self.arm * sin;
        let slope = pull * fma(y0, fma(-v, omega, self.g), -(y1 * omega));
        [v, omega - slope, cart_rate - fma(y0, momentum, y1 * self.total), bob_rate - fma(y0, angular, y1 * coupling)]
    }
}
