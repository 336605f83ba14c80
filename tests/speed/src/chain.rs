//! Chains of an even number of masses: A tridiagonal, eliminated in loops from both ends to the middle.

use crate::{HandwrittenField, dot, fma};

/// A chain of `LINKS` masses, `M` = 2 `LINKS` + 1.
#[derive(Clone, Copy, Debug)]
pub struct Chain<const LINKS: usize> {
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
    length_gains: [f64; LINKS],
    rate_gains: [f64; LINKS],
    energy_gain: f64,
}

impl<const LINKS: usize> Chain<LINKS> {
    /// For a start of this energy, with gains in the model's order: lengths, their rates, energy.
    pub fn new([m, g, l]: [f64; 3], energy: f64, gains: &[f64]) -> Self {
        Self {
            inverse_mass: 1.0 / m,
            gravity: m * g,
            heavy: m * m * g,
            twice_heavy: 2.0 * m * m * g,
            length: l * l,
            energy: 2.0 * m * energy,
            length_gains: std::array::from_fn(|i| 2.0 * gains[i]),
            rate_gains: std::array::from_fn(|i| 4.0 / (m * m) * gains[LINKS + i]),
            energy_gain: 0.5 / (m * m) * gains[2 * LINKS],
        }
    }

    /// With n = 3 `LINKS`: `x` holds positions, then momenta.
    #[inline(always)]
    fn rates<const N: usize>(&self, x: &[f64; N]) -> [f64; N] {
        let n = 3 * LINKS;
        let momentum = |i: usize| [x[n + 3 * i], x[n + 3 * i + 1], x[n + 3 * i + 2]];
        let im = self.inverse_mass;
        let zeros = [0.0; LINKS];
        let (mut d, mut e) = ([[0.0; 3]; LINKS], [[0.0; 3]; LINKS]);
        let (mut inverse, mut twist) = (zeros, zeros);
        let (mut u, mut r, mut y, mut z) = (zeros, zeros, zeros, zeros);
        let mut energy = 0.0;

        // Rods and their rates, all entries at once.
        let (q, p) = x.split_at(n);
        for (difference, x) in [(d.as_flattened_mut(), q), (e.as_flattened_mut(), p)] {
            difference[..3].copy_from_slice(&x[..3]);
            for i in 3..n {
                difference[i] = x[i] - x[i - 3];
            }
        }
        // Products.
        let (mut diagonal, mut coupling) = (zeros, zeros);
        for i in 0..LINKS {
            let p = momentum(i);
            energy += fma(self.twice_heavy, x[3 * i + 2], dot(p, p));
            let (square, rate) = (dot(d[i], d[i]), dot(d[i], e[i]));
            y[i] = self.length_gains[i] * (square - self.length);
            z[i] = self.rate_gains[i] * rate;
            r[i] = -im * dot(e[i], e[i]);
            u[i] = im * rate;
            if i == 0 {
                r[0] = fma(self.gravity, x[2], r[0]);
                diagonal[0] = square;
            } else {
                diagonal[i] = 2.0 * square;
                coupling[i] = dot(d[i - 1], d[i]);
                twist[i] = dot(d[i - 1], e[i]) - dot(d[i], e[i - 1]);
            }
        }
        // A u = g', from both ends to the middle, so that two divisions run at a time, and back.
        let half = LINKS / 2;
        let (mut up, mut down) = (zeros, zeros);
        for i in 0..half {
            inverse[i] = 1.0 / diagonal[i];
            up[i + 1] = coupling[i + 1] * inverse[i];
            diagonal[i + 1] = fma(-up[i + 1], coupling[i + 1], diagonal[i + 1]);
            u[i + 1] = fma(up[i + 1], u[i], u[i + 1]);
            let j = LINKS - 1 - i;
            if j > half {
                inverse[j] = 1.0 / diagonal[j];
                down[j - 1] = coupling[j] * inverse[j];
                diagonal[j - 1] = fma(-down[j - 1], coupling[j], diagonal[j - 1]);
                u[j - 1] = fma(down[j - 1], u[j], u[j - 1]);
            }
        }
        inverse[half] = 1.0 / diagonal[half];
        u[half] *= inverse[half];
        for i in (0..half).rev() {
            u[i] = fma(up[i + 1], u[i + 1], u[i] * inverse[i]);
            let j = LINKS - 1 - i;
            if j > half {
                u[j] = fma(down[j - 1], u[j - 1], u[j] * inverse[j]);
            }
        }
        // Solves A r = {H, g'} + B u.
        for i in 0..LINKS {
            if i > 0 {
                r[i] = fma(-twist[i], u[i - 1], r[i]);
            }
            if i + 1 < LINKS {
                r[i] = fma(twist[i + 1], u[i + 1], r[i]);
            }
        }
        for i in 0..half {
            r[i + 1] = fma(up[i + 1], r[i], r[i + 1]);
            let j = LINKS - 1 - i;
            if j > half {
                r[j - 1] = fma(down[j - 1], r[j], r[j - 1]);
            }
        }
        r[half] *= inverse[half];
        for i in (0..half).rev() {
            r[i] = fma(up[i + 1], r[i + 1], r[i] * inverse[i]);
            let j = LINKS - 1 - i;
            if j > half {
                r[j] = fma(down[j - 1], r[j - 1], r[j] * inverse[j]);
            }
        }
        // Every row applied once; then the differences, all entries at once.
        let energy_weight = self.energy_gain * (energy - self.energy);
        let fall = self.heavy * energy_weight;
        let mut rates = [0.0; N];
        let (mut v, mut w) = ([[0.0; 3]; LINKS], [[0.0; 3]; LINKS]);
        for i in 0..LINKS {
            let (kd, ke) = (u[i] + y[i], z[i]);
            let (rd, re) = (r[i] - z[i], u[i]);
            for j in 0..3 {
                v[i][j] = fma(kd, d[i][j], ke * e[i][j]);
                w[i][j] = fma(rd, d[i][j], re * e[i][j]);
            }
        }
        let (v, w) = (v.as_flattened(), w.as_flattened());
        let (velocity, force) = rates.split_at_mut(n);
        for i in 0..n - 3 {
            velocity[i] = fma(im, p[i], v[i + 3] - v[i]);
            force[i] = fma(-energy_weight, p[i], w[i] - w[i + 3]);
        }
        for i in n - 3..n {
            velocity[i] = fma(im, p[i], -v[i]);
            force[i] = fma(-energy_weight, p[i], w[i]);
        }
        for i in 0..LINKS {
            velocity[3 * i + 2] -= fall;
            force[3 * i + 2] -= self.gravity;
        }
        rates
    }
}

macro_rules! kernel {
    ($links:literal) => {
        impl HandwrittenField<[f64; 6 * $links]> for Chain<$links> {
            #[inline]
            fn field(&self, x: &[f64; 6 * $links]) -> [f64; 6 * $links] {
                self.rates(x)
            }
        }
    };
}

kernel!(4);
kernel!(8);
kernel!(16);
