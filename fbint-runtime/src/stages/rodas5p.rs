//! Rodas5P, for what is stiff: the Rosenbrock method of order 5(4) with eight stages of G. Steinebach, *Construction of
//! Rosenbrock-Wanner method Rodas5P and numerical benchmarks within the Julia Differential Equations package*, BIT 63 (2023) 27.
//!
//! A step of size h from x solves a linear system for each stage, all with one matrix, which has the Jacobian J of the field at x in it
//! (HW IV.7):
//!
//! ```text
//! (I / (gamma h) - J) u_i = f(x + sum_{j<i} a_ij u_j) + sum_{j<i} c_ij u_j / h,   i = 1 .. 8
//! ```
//!
//! The step ends u_8 beyond the point where the last stage is evaluated, and u_8 is the estimate of its error. The stability function
//! vanishes at infinity, as do the functions of the points of the last stages: a fast motion has decayed after a step of any length. The
//! time is an entry of the state, so that derivatives by it are a column of J. J has to be exact: a difference quotient would cost the
//! method its order.
//!
//! An [`Integrator`](crate::Integrator) makes the steps, with its error control. Code for matrices of doubles is compiled once with this
//! crate, and not again for every model; in the lanes of an ensemble every lane chooses its pivots.

use crate::numbers::entries::Entries;
use crate::numbers::linear::{Pivot, not_finite};
use crate::stages::tableau::{ControlConstants, ErrorEstimate, Pair, Response, Weights, advanced, row, table};

/// f at the start, and the eight stages.
pub(crate) const STAGES: usize = 9;

const GAMMA: f64 = 0.21193756319429014;

/// The points of the stages, from the changes that the stages before are, and what they give to the polynomial of order 4, in the
/// form of [`DenseOutput`](crate::DenseOutput).
pub(crate) const RODAS5P: Pair = Pair {
    stages: STAGES,
    a: table(&[
        &[],
        &[],
        &[(1, 3.0)],
        &[(1, 2.849394379747939), (2, 0.45842242204463923)],
        &[(1, -6.954028509809101), (2, 2.489845061869568), (3, -10.358996098473584)],
        &[(1, 2.8029986275628964), (2, 0.5072464736228206), (3, -0.3988312541770524), (4, -0.04721187230404641)],
        &[LAST[0], LAST[1], LAST[2], LAST[3], LAST[4]],
        &[LAST[0], LAST[1], LAST[2], LAST[3], LAST[4], (6, 1.0)],
        &[LAST[0], LAST[1], LAST[2], LAST[3], LAST[4], (6, 1.0), (7, 1.0)],
    ]),
    last: 8,
    error: ErrorEstimate::LastStage,
    // Published as (1 - s) (h_1 + s (h_2 + s h_3)) in place of (1 - s) (c_1 + s (c_2 + (1 - s) c_3)).
    dense: [row(&H_1), plus(row(&H_2), 1.0, row(&H_3)), plus(row(&[]), -1.0, row(&H_3)), row(&[])],
    control: ControlConstants {
        order: 5.0,
        response: Response::Stabilised { exponent: 0.2, beta: 0.0 },
        range: (0.2, 6.0),
    },
};

/// The part that the points of the last three stages share.
const LAST: [(usize, f64); 5] = [
    (1, -7.502846399306121),
    (2, 2.561846144803919),
    (3, -11.627539656261098),
    (4, -0.18268767659942256),
    (5, 0.030198172008377946),
];

/// The sum of the earlier stages in the right side of each stage's linear system, in units of 1 / h.
pub(crate) const C: [[f64; STAGES]; STAGES] = table(&[
    &[],
    &[],
    &[(1, -14.155112264123755)],
    &[(1, -17.97296035885952), (2, -2.859693295451294)],
    &[(1, 147.12150275711716), (2, -1.41221402718213), (3, 71.68940251302358)],
    &[(1, 165.43517024871676), (2, -0.4592823456491126), (3, 42.90938336958603), (4, -5.961986721573306)],
    &[
        (1, 24.854864614690072),
        (2, -3.0009227002832186),
        (3, 47.4931110020768),
        (4, 5.5814197821558125),
        (5, -0.6610691825249471),
    ],
    &[
        (1, 30.91273214028599),
        (2, -3.1208243349937974),
        (3, 77.79954646070892),
        (4, 34.28646028294783),
        (5, -19.097331116725623),
        (6, -28.087943162872662),
    ],
    &[
        (1, 37.80277123390563),
        (2, -3.2571969029072276),
        (3, 112.26918849496327),
        (4, 66.9347231244047),
        (5, -40.06618937091002),
        (6, -54.66780262877968),
        (7, -9.48861652309627),
    ],
]);

const H_1: [(usize, f64); 8] = [
    (1, 25.948786856663858),
    (2, -2.5579724845846235),
    (3, 10.433815404888879),
    (4, -2.3679251022685204),
    (5, 0.524948541321073),
    (6, 1.1241088310450404),
    (7, 0.4272876194431874),
    (8, -0.17202221070155493),
];

const H_2: [(usize, f64); 8] = [
    (1, -9.91568850695171),
    (2, -0.9689944594115154),
    (3, 3.0438037242978453),
    (4, -24.495224566215796),
    (5, 20.176138334709044),
    (6, 15.98066361424651),
    (7, -6.789040303419874),
    (8, -6.710236069923372),
];

const H_3: [(usize, f64); 8] = [
    (1, 11.419903575922262),
    (2, 2.8879645146136994),
    (3, 72.92137995996029),
    (4, 80.12511834622643),
    (5, -52.072871366152654),
    (6, -59.78993625266729),
    (7, -0.15582684282751913),
    (8, 4.883087185713722),
];

/// a + factor b.
const fn plus(mut a: Weights, factor: f64, b: Weights) -> Weights {
    let mut i = 0;
    while i < b.len() {
        a[i] += factor * b[i];
        i += 1;
    }
    a
}

/// I / (gamma h) - J, for the steps of a method. Allocates when it is made, and never after.
#[derive(Debug, Default)]
pub(crate) struct StepMatrix<T: Pivot = f64> {
    /// J, row by row.
    jacobian: Vec<T>,
    factors: Vec<T>,
    pivots: Vec<T::Row>,
    is_singular: T::Truth,
}

impl<T: Pivot> StepMatrix<T> {
    pub(crate) fn new(size: usize) -> Self {
        let zeros = vec![T::from_f64(0.0); size * size];
        let pivots = vec![T::Row::default(); size];
        Self { jacobian: zeros.clone(), factors: zeros, pivots, is_singular: T::Truth::default() }
    }

    /// The number of rows.
    #[cfg(feature = "ensemble")]
    pub(crate) fn size(&self) -> usize {
        self.pivots.len()
    }

    /// Takes J, whose entries `jacobian` adds up. Columns beyond the state are passed over.
    pub(crate) fn linearise(&mut self, jacobian: impl FnOnce(&mut dyn FnMut(usize, usize, T)) -> bool) {
        let (size, entries) = (self.pivots.len(), &mut self.jacobian);
        entries.fill(T::from_f64(0.0));
        jacobian(&mut |row, column, value| {
            if column < size {
                let entry = &mut entries[row * size + column];
                *entry = *entry + value;
            }
        });
    }

    /// Factors the matrix of a step of size h.
    pub(crate) fn factorise(&mut self, h: T) {
        self.factors.iter_mut().zip(&self.jacobian).for_each(|(factor, entry)| *factor = -*entry);
        let on_diagonal = (T::from_f64(GAMMA) * h).recip();
        self.factors.iter_mut().step_by(self.pivots.len() + 1).for_each(|entry| *entry = *entry + on_diagonal);
        self.is_singular = T::factorise(&mut self.factors, &mut self.pivots);
    }

    /// Whether the matrix that was factored last is singular.
    pub(crate) fn is_singular(&self) -> T::Truth {
        self.is_singular
    }

    /// Replaces a right side by the solution.
    pub(crate) fn solve(&self, b: &mut [T]) {
        T::solve_factorised(&self.factors, &self.pivots, b);
    }
}

impl StepMatrix {
    /// A row of J that is not finite.
    pub(crate) fn not_finite(&self) -> Option<usize> {
        not_finite(&*self.jacobian).map(|place| place / self.pivots.len())
    }
}

/// Makes the stages after the first, which is f at the state, by a matrix that is regular; returns where the step ends.
pub(crate) fn stages<V: Entries<T>, T: Pivot>(
    matrix: &StepMatrix<T>,
    state: &V,
    h: T,
    stages: &mut [V; STAGES],
    mut field: impl FnMut(&V) -> V,
) -> V {
    let (one, mut end) = (T::from_f64(1.0), *state);
    for i in 1..STAGES {
        let mut stage = stages[0];
        if i > 1 {
            end = advanced(state, one, &stages[..i], &RODAS5P.a[i]);
            stage = advanced(&field(&end), h.recip(), &stages[..i], &C[i]);
        }
        matrix.solve(stage.as_mut());
        stages[i] = stage;
    }
    V::from_fn(|entry| end[entry] + stages[STAGES - 1][entry])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stages::tableau::tests::{Rows, defects_of};
    use crate::{DenseOutput, Field, Integrator, StepFailure, Tolerance};

    type Square = [[f64; 8]; 8];

    /// The coefficients of the classical form (HW IV.7): alpha, and beta = alpha + gamma, for weights of u the weights of k.
    struct Classical {
        alpha: Square,
        beta: Square,
        gamma: Square,
    }

    impl Classical {
        /// Gamma = (I / gamma - C)^-1, alpha = A Gamma.
        fn new() -> Self {
            let mut gamma = [[0.0; 8]; 8];
            for i in 0..8 {
                gamma[i][i] = GAMMA;
                for j in 0..i {
                    gamma[i][j] = GAMMA * (j..i).map(|k| C[i + 1][k + 1] * gamma[k][j]).sum::<f64>();
                }
            }
            let row = |weights: &Weights| Self::weights_with(&gamma, weights);
            let alpha: Square = std::array::from_fn(|i| row(&RODAS5P.a[i + 1]));
            let beta = std::array::from_fn(|i| std::array::from_fn(|j| alpha[i][j] + gamma[i][j]));
            Self { alpha, beta, gamma }
        }

        fn weights_with(gamma: &Square, weights: &[f64]) -> [f64; 8] {
            std::array::from_fn(|j| (0..8).map(|i| weights[i + 1] * gamma[i][j]).sum())
        }

        /// The largest defect of the order conditions of each order, of the method that has these weights of u at a point of a step.
        fn defects(&self, weights: &[f64], at: f64, up_to: usize) -> Vec<f64> {
            let rows = Rows { of_one: &self.beta, of_several: &self.alpha };
            defects_of(&rows, &Self::weights_with(&self.gamma, weights), at, up_to)
        }
    }

    /// The weights of the end, and of the embedded method.
    fn ends() -> [Weights; 2] {
        let embedded = RODAS5P.a[8];
        let mut end = embedded;
        end[8] = 1.0;
        [end, embedded]
    }

    /// The digits are 16, and the largest coefficients are 100.
    #[test]
    fn coefficients_satisfy_the_order_conditions_of_rosenbrock_methods_and_no_more() {
        let (classical, [end, embedded]) = (Classical::new(), ends());
        for (weights, order) in [(end, 5), (embedded, 4)] {
            let defects = classical.defects(&weights, 1.0, order + 1);
            assert!(defects[..order].iter().all(|defect| *defect < 1e-13), "order {order}: {defects:?}");
            assert!(defects[order] > 1e-5, "more than order {order}: {defects:?}");
        }
    }

    #[test]
    fn dense_output_has_order_4_at_every_point_of_a_step() {
        let (classical, [end, _]) = (Classical::new(), ends());
        let units: [Weights; STAGES] = std::array::from_fn(|i| row(&[(i, 1.0)]));
        let dense = DenseOutput::new(&RODAS5P, 0.0, 1.0, row(&[]), &end, &units);
        for step in 1..10 {
            let at = f64::from(step) / 10.0;
            let defects = classical.defects(&dense.at(at), at, 5);
            assert!(defects[..4].iter().all(|defect| *defect < 1e-13), "at {at}: {defects:?}");
            assert!(defects[4] > 1e-7, "more than order 4 at {at}: {defects:?}");
        }
    }

    /// x' = rate x, y' = 0.
    struct Growth(f64);

    impl Field for Growth {
        type Vector = [f64; 2];

        fn value(&self, x: &[f64; 2]) -> [f64; 2] {
            [self.0 * x[0], 0.0]
        }

        fn jacobian(&self, _: &[f64; 2], add: &mut dyn FnMut(usize, usize, f64)) -> bool {
            add(0, 0, self.0);
            true
        }
    }

    #[test]
    fn what_is_infinitely_stiff_is_gone_after_one_step() -> Result<(), crate::Error> {
        let tolerance = Tolerance::new(1e3, 1e3)?;
        let mut steps = Integrator::rodas5p(&Growth(-1e12), [1.0, 0.0], tolerance)?;
        while steps.time() < 1.0 {
            steps.step(1.0).expect("a step of a linear field");
        }
        assert!(steps.state()[0].abs() < 1e-9 && steps.steps() < 30, "{steps:?}");
        Ok(())
    }

    /// Late, so that no shorter step is left to try, from a start and with a tolerance for which the first step is this long.
    #[test]
    fn a_singular_matrix_is_named() -> Result<(), crate::Error> {
        let (late, h, start) = (2.0_f64.powi(50), 3.0, [0.7, 1e4]);
        let growth = Growth((GAMMA * h).recip());
        let mut steps = Integrator::rodas5p(&growth, start, Tolerance::new(1e-9, 4e4)?)?.from_time(late);
        let error = steps.step(late + h).expect_err("a singular matrix");
        assert_eq!((error.reason, error.time, error.state), (StepFailure::Singular, late, start));
        assert!(error.to_string().contains("I / (gamma h) - J"), "{error}");
        Ok(())
    }
}
