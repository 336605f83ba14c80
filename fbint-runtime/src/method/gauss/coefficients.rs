//! The coefficients of Gauss's methods.

use crate::method::settings::GaussStages;

/// The largest number of stages.
pub(super) const MOST_STAGES: usize = 8;

/// The coefficients of a method, which are symmetric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Coefficients {
    /// The first half of the weights b_i but for b_1, which follows from the others.
    inner_weights: &'static [f64],
    /// mu_ij for j < i, row by row from the second. All are between 1/2 and 2, so that 1 - mu_ij is exact.
    below: &'static [&'static [f64]],
}

const TWO: Coefficients = Coefficients { inner_weights: &[], below: &[&[1.0773502691896257]] };

const FOUR: Coefficients = Coefficients {
    inner_weights: &[0.32607257743127305],
    below: &[
        &[1.08158975003228],
        &[0.9612740734321142, 1.0855037514105192],
        &[1.0204404206840407, 0.9612740734321142, 1.08158975003228],
    ],
};

const EIGHT: Coefficients = Coefficients {
    inner_weights: &[0.11119051722668724, 0.15685332293894363, 0.181341891689181],
    below: &[
        &[1.0818949631055814],
        &[0.959957296222055, 1.0869589243008326],
        &[1.0247213458032003, 0.9550588736973743, 1.0880938387323082],
        &[0.9830238267636289, 1.0287597754747493, 0.9538345351852, 1.0883471611098279],
        &[1.012225914113298, 0.9799828723635913, 1.029603873064978, 0.9538345351852, 1.0880938387323082],
        &[
            0.9912514332308027,
            1.014074355889167,
            0.9799828723635913,
            1.0287597754747493,
            0.9550588736973743,
            1.0869589243008326,
        ],
        &[
            1.005482808253216,
            0.9912514332308027,
            1.012225914113298,
            0.9830238267636289,
            1.0247213458032003,
            0.959957296222055,
            1.0818949631055814,
        ],
    ],
};

impl Coefficients {
    /// The method with this number of stages.
    pub(crate) const fn of_stages(stages: GaussStages) -> Self {
        match stages {
            GaussStages::Two => TWO,
            GaussStages::Four => FOUR,
            GaussStages::Eight => EIGHT,
        }
    }

    pub(crate) const fn stages(&self) -> usize {
        self.below.len() + 1
    }

    /// h b_i, whose sum is h.
    pub(super) fn weights(&self, h: f64) -> [f64; MOST_STAGES] {
        let (last, mut weights) = (self.stages() - 1, [0.0; MOST_STAGES]);
        let mut inner = 0.0;
        for (weight, i) in self.inner_weights.iter().zip(1..) {
            (weights[i], weights[last - i]) = (h * weight, h * weight);
            inner += h * weight;
        }
        (weights[0], weights[last]) = (0.5 * h - inner, 0.5 * h - inner);
        weights
    }

    /// mu_ij.
    fn share(&self, i: usize, j: usize) -> f64 {
        match i.cmp(&j) {
            core::cmp::Ordering::Equal => 0.5,
            core::cmp::Ordering::Greater => self.below[i - 1][j],
            core::cmp::Ordering::Less => 1.0 - self.below[j - 1][i],
        }
    }

    /// All mu_ij, column by column.
    pub(super) fn shares(&self) -> Vec<f64> {
        let stages = self.stages();
        (0..stages * stages).map(|at| self.share(at % stages, at / stages)).collect()
    }

    /// Where the stages are, as fractions of a step.
    pub(super) fn nodes(&self) -> Vec<f64> {
        let (stages, b) = (self.stages(), self.weights(1.0));
        (0..stages).map(|i| (0..stages).map(|j| b[j] * self.share(i, j)).sum()).collect()
    }

    /// The matrix that takes the L_j of a step to the L_i of the next one of the same size, column by column: it continues the polynomial
    /// through the rates at the nodes.
    pub(super) fn extrapolation(&self) -> Vec<f64> {
        let (stages, b, nodes) = (self.stages(), self.weights(1.0), self.nodes());
        let entry = |i: usize, j: usize| {
            let others = (0..stages).filter(|&other| other != j);
            let ratios = others.map(|other| (1.0 + nodes[i] - nodes[other]) / (nodes[j] - nodes[other]));
            ratios.product::<f64>() * b[i] / b[j]
        };
        (0..stages * stages).map(|at| entry(at % stages, at / stages)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The zeros of the Legendre polynomial of a degree, on the interval from 0 to 1, by Newton's method.
    fn nodes(degree: usize) -> Vec<f64> {
        let root = |number: usize| {
            let mut x = -((number as f64 + 0.75) / (degree as f64 + 0.5) * core::f64::consts::PI).cos();
            for _ in 0..10 {
                let (mut before, mut value) = (1.0, x);
                for n in 2..=degree {
                    let n = n as f64;
                    (before, value) = (value, ((2.0 * n - 1.0) * x * value - (n - 1.0) * before) / n);
                }
                x -= value * (x * x - 1.0) / (degree as f64 * (x * value - before));
            }
            0.5 * (1.0 + x)
        };
        (0..degree).map(root).collect()
    }

    #[test]
    fn coefficients_are_those_of_collocation_at_legendre_zeros() {
        for method in [TWO, FOUR, EIGHT] {
            let stages = method.stages();
            let (b, c) = (method.weights(1.0), nodes(stages));
            let power = |j: usize, k: i32| c[j].powi(k - 1);
            let close = |value: f64, expected: f64, what: &str| {
                assert!((value - expected).abs() < 4e-16, "{stages} stages, {what}: {value:?}, {expected:?}");
            };
            // B(2s) and C(s) of HW IV.5, which determine the coefficients.
            for k in 1..=2 * stages as i32 {
                close((0..stages).map(|j| b[j] * power(j, k)).sum(), 1.0 / f64::from(k), &format!("B({k})"));
            }
            for k in 1..=stages as i32 {
                for i in 0..stages {
                    let sum = (0..stages).map(|j| b[j] * method.share(i, j) * power(j, k)).sum();
                    close(sum, c[i].powi(k) / f64::from(k), &format!("C({k}) in stage {i}"));
                }
            }
            for h in [1.0, 0.1, 1e-3, 7.3] {
                let sum: f64 = method.weights(h)[..stages].iter().sum();
                assert!((sum - h).abs() <= 2.0 * f64::EPSILON * h, "{stages} stages, h = {h}: {sum:?}");
            }
        }
    }

    #[test]
    fn coefficients_are_symplectic_and_symmetric_exactly() {
        for method in [TWO, FOUR, EIGHT] {
            let stages = method.stages();
            for (i, j) in (0..stages).flat_map(|i| (0..stages).map(move |j| (i, j))) {
                let (share, other) = (method.share(i, j), method.share(j, i));
                // Without rounding: the larger is between 1/2 and 2, and the smaller is what is left of 1.
                assert!((0.5..=2.0).contains(&share.max(other)) && share.min(other) == 1.0 - share.max(other));
                assert_eq!(method.share(stages - 1 - j, stages - 1 - i), share, "{stages} stages, {i}, {j}");
            }
        }
    }
}
