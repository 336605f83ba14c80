//! The four-bar linkage: three rods d, A tridiagonal.

use models::FourBar;

use crate::{HandwrittenField, dot, fma};

/// The four-bar linkage: a, b, pa, pb in R^2.
#[derive(Clone, Copy, Debug)]
pub struct Linkage {
    ground: f64,
    inverse_mass: f64,
    gravity: f64,
    /// m^2 g
    heavy: f64,
    /// 2 m^2 g
    twice_heavy: f64,
    /// la^2, lb^2, lc^2, 2 m H
    targets: [f64; 4],
    gains: [f64; 7],
}

impl Linkage {
    /// For a start of this energy, with gains in the model's order: lengths, their rates, energy.
    pub fn new(model: &FourBar, energy: f64, gains: [f64; 7]) -> Self {
        let FourBar { la, lb, lc, ln, m, g } = *model;
        let (length, rate) = (2.0, 4.0 / (m * m));
        let factors = [length, length, length, rate, rate, rate, 0.5 / (m * m)];
        Self {
            ground: ln,
            inverse_mass: 1.0 / m,
            gravity: m * g,
            heavy: m * m * g,
            twice_heavy: 2.0 * m * m * g,
            targets: [la * la, lb * lb, lc * lc, 2.0 * m * energy],
            gains: std::array::from_fn(|i| factors[i] * gains[i]),
        }
    }
}

impl HandwrittenField<[f64; 8]> for Linkage {
    #[inline]
    fn field(&self, &[a0, a1, b0, b1, pa0, pa1, pb0, pb1]: &[f64; 8]) -> [f64; 8] {
        let (a, pa, pb) = ([a0, a1], [pa0, pa1], [pb0, pb1]);
        let d = [b0 - a0, b1 - a1];
        let e = [pb0 - pa0, pb1 - pa1];
        let c = [b0 - self.ground, b1];
        let squares = [dot(a, a), dot(d, d), dot(c, c)];
        let rates = [dot(a, pa), dot(d, e), dot(c, pb)];
        let kinetic = [dot(pa, pa), dot(e, e), dot(pb, pb)];
        let energy = fma(self.twice_heavy, a1 + b1, kinetic[0] + kinetic[2]);

        // A = [[a.a, -a.d, 0], [-a.d, 2 d.d, d.c], [0, d.c, c.c]] / m, eliminated from both ends.
        let (ad, dc) = (dot(a, d), dot(d, c));
        let (inverse_a, inverse_c) = (1.0 / squares[0], 1.0 / squares[2]);
        let (la, lc) = (ad * inverse_a, dc * inverse_c);
        let inverse_d = 1.0 / fma(-lc, dc, fma(-la, ad, 2.0 * squares[1]));
        let im = self.inverse_mass;
        let solve = |right: [f64; 3]| {
            let middle = inverse_d * fma(-lc, right[2], fma(la, right[0], right[1]));
            [fma(la, middle, right[0] * inverse_a), middle, fma(-lc, middle, right[2] * inverse_c)]
        };
        let [u0, u1, u2] = solve(rates.map(|rate| im * rate));
        // {g1', g2'} and {g2', g3'}
        let b_ad = fma(-d[1], pa1, fma(-d[0], pa0, dot(a, e)));
        let b_dc = fma(-d[1], pb1, fma(-d[0], pb0, dot(c, e)));
        let [r0, r1, r2] = solve([
            fma(b_ad, u1, fma(self.gravity, a1, -(im * kinetic[0]))),
            fma(-b_ad, u0, fma(b_dc, u2, -(im * kinetic[1]))),
            fma(-b_dc, u1, fma(self.gravity, b1, -(im * kinetic[2]))),
        ]);

        let y = self.gains;
        let (y0, y1, y2) = (
            y[0] * (squares[0] - self.targets[0]),
            y[1] * (squares[1] - self.targets[1]),
            y[2] * (squares[2] - self.targets[2]),
        );
        let (y3, y4, y5) = (y[3] * rates[0], y[4] * rates[1], y[5] * rates[2]);
        let y6 = y[6] * (energy - self.targets[3]);
        let (ka, kd, kc) = (u0 + y0, u1 + y1, u2 + y2);
        let v = [fma(kd, d[0], y4 * e[0]), fma(kd, d[1], y4 * e[1])];
        let (ra, rd, rc) = (r0 - y3, r1 - y4, r2 - y5);
        let w = [fma(rd, d[0], u1 * e[0]), fma(rd, d[1], u1 * e[1])];
        let (ma, mb, na, nb) = (im - y3, im - y5, u0 - y6, u2 - y6);
        let fall = self.heavy * y6;
        [
            fma(ma, pa0, fma(-ka, a0, v[0])),
            fma(ma, pa1, fma(-ka, a1, v[1] - fall)),
            fma(mb, pb0, fma(-kc, c[0], -v[0])),
            fma(mb, pb1, fma(-kc, c[1], -v[1] - fall)),
            fma(ra, a0, fma(na, pa0, -w[0])),
            fma(ra, a1, fma(na, pa1, -w[1] - self.gravity)),
            fma(rc, c[0], fma(nb, pb0, w[0])),
            fma(rc, c[1], fma(nb, pb1, w[1] - self.gravity)),
        ]
    }
}
