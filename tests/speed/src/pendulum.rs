//! The planar and the spherical pendulum: one constraint, so that c is two quotients with a common divisor.

use models::PlanarPendulum;
use models::SphericalPendulum;

use crate::{HandwrittenField, dot, fma};

/// The planar pendulum: q, p in R^2.
#[derive(Clone, Copy, Debug)]
pub struct Planar {
    inverse_mass: f64,
    gravity: f64,
    /// m^2 g
    heavy: f64,
    /// 2 m^2 g
    twice_heavy: f64,
    /// l^2
    length: f64,
    /// 2 m H
    energy: f64,
    gains: [f64; 3],
}

impl Planar {
    /// For a start of this energy, with gains in the model's order: length, its rate, energy.
    pub fn new(model: &PlanarPendulum, energy: f64, gains: [f64; 3]) -> Self {
        let PlanarPendulum { m, g, l } = *model;
        Self {
            inverse_mass: 1.0 / m,
            gravity: m * g,
            heavy: m * m * g,
            twice_heavy: 2.0 * m * m * g,
            length: l * l,
            energy: 2.0 * m * energy,
            gains: [2.0 * gains[0], 4.0 / (m * m) * gains[1], gains[2] / (2.0 * m * m)],
        }
    }
}

impl HandwrittenField<[f64; 4]> for Planar {
    #[inline]
    fn field(&self, &[q0, q1, p0, p1]: &[f64; 4]) -> [f64; 4] {
        let (q, p) = ([q0, q1], [p0, p1]);
        let (square, rate, kinetic) = (dot(q, q), dot(q, p), dot(p, p));
        let inverse = self.inverse_mass / square;
        let radial = rate * inverse;
        let reaction = fma(self.heavy, q1, -kinetic) * inverse;
        let y0 = self.gains[0] * (square - self.length);
        let y1 = self.gains[1] * rate;
        let y2 = self.gains[2] * (fma(self.twice_heavy, q1, kinetic) - self.energy);
        let (a, b) = (radial + y0, self.inverse_mass - y1);
        let (c, d) = (reaction - y1, radial - y2);
        [
            fma(b, p0, -(a * q0)),
            fma(-self.heavy, y2, fma(b, p1, -(a * q1))),
            fma(c, q0, d * p0),
            fma(d, p1, fma(c, q1, -self.gravity)),
        ]
    }
}

/// The spherical pendulum: q, p in R^3.
#[derive(Clone, Copy, Debug)]
pub struct Spherical {
    inverse_mass: f64,
    gravity: f64,
    /// m^2 g
    heavy: f64,
    /// 2 m^2 g
    twice_heavy: f64,
    /// l^2
    length: f64,
    /// 2 m H
    energy: f64,
    vertical_momentum: f64,
    gains: [f64; 4],
}

impl Spherical {
    /// For a start of this energy and vertical momentum, with gains in the model's order: length, its rate, energy, vertical
    /// momentum.
    pub fn new(model: &SphericalPendulum, [energy, vertical_momentum]: [f64; 2], gains: [f64; 4]) -> Self {
        let SphericalPendulum { m, g, l } = *model;
        Self {
            inverse_mass: 1.0 / m,
            gravity: m * g,
            heavy: m * m * g,
            twice_heavy: 2.0 * m * m * g,
            length: l * l,
            energy: 2.0 * m * energy,
            vertical_momentum,
            gains: [2.0 * gains[0], 4.0 / (m * m) * gains[1], gains[2] / (2.0 * m * m), gains[3]],
        }
    }
}

impl HandwrittenField<[f64; 6]> for Spherical {
    #[inline]
    fn field(&self, &[q0, q1, q2, p0, p1, p2]: &[f64; 6]) -> [f64; 6] {
        let (q, p) = ([q0, q1, q2], [p0, p1, p2]);
        let (square, rate, kinetic) = (dot(q, q), dot(q, p), dot(p, p));
        let inverse = self.inverse_mass / square;
        let radial = rate * inverse;
        let reaction = fma(self.heavy, q2, -kinetic) * inverse;
        let y0 = self.gains[0] * (square - self.length);
        let y1 = self.gains[1] * rate;
        let y2 = self.gains[2] * (fma(self.twice_heavy, q2, kinetic) - self.energy);
        let y3 = self.gains[3] * (fma(q0, p1, -(q1 * p0)) - self.vertical_momentum);
        let (a, b) = (radial + y0, self.inverse_mass - y1);
        let (c, d) = (reaction - y1, radial - y2);
        [
            fma(-y3, p1, fma(b, p0, -(a * q0))),
            fma(y3, p0, fma(b, p1, -(a * q1))),
            fma(-self.heavy, y2, fma(b, p2, -(a * q2))),
            fma(y3, q1, fma(c, q0, d * p0)),
            fma(-y3, q0, fma(c, q1, d * p1)),
            fma(d, p2, fma(c, q2, -self.gravity)),
        ]
    }
}
