//! Gauss's methods of collocation (HLW06 II.1.3), of order 2s with s stages:
//!
//!   Y_i = x + sum_j mu_ij L_j,   L_i = h b_i f(Y_i),   x_1 = x + sum_i L_i
//!
//! They are symplectic and symmetric, and keep quadratic invariants. What is here keeps them so to rounding, as Antoñana, Makazaga and
//! Murua do (Reducing and monitoring round-off error propagation for symplectic implicit Runge-Kutta schemes, Numer. Algorithms 76,
//! 2017): mu_ij + mu_ji = 1 holds exactly in doubles, and so does the sum of the h b_i but for the last digit; stages are iterated until
//! rounding is all that changes; sums of steps are compensated.
//!
//! Stages are iterated as a fixed point, from the polynomial of the step before. That takes no derivatives, and converges where h times
//! the Lipschitz constant of the field is below about 3, 6 and 11 for two, four and eight stages: not for what is stiff.

mod collocation;

pub(crate) use self::collocation::Collocation;
use crate::entries::Entries;
use crate::failure::StepFailure;
use crate::field::Field;
#[cfg(feature = "lanes")]
use crate::lanes::Lanes;
use crate::linear::from_slice;
use crate::method::GaussStages;
#[cfg(feature = "lanes")]
use crate::scalar::Scalar;
use crate::simulation::Advance;
use crate::system::{FeedbackSystem, Vector};

/// The largest number of stages.
const MOST_STAGES: usize = 8;

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

    const fn stages(&self) -> usize {
        self.below.len() + 1
    }

    /// h b_i, whose sum is h.
    fn weights(&self, h: f64) -> [f64; MOST_STAGES] {
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
    fn shares(&self) -> Vec<f64> {
        let stages = self.stages();
        (0..stages * stages).map(|at| self.share(at % stages, at / stages)).collect()
    }

    /// Where the stages are, as fractions of a step.
    fn nodes(&self) -> Vec<f64> {
        let (stages, b) = (self.stages(), self.weights(1.0));
        (0..stages).map(|i| (0..stages).map(|j| b[j] * self.share(i, j)).sum()).collect()
    }

    /// What the L_j of a step make of the L_i of the next one of the same size, column by column: the polynomial through the rates at
    /// the nodes goes on.
    fn extrapolation(&self) -> Vec<f64> {
        let (stages, b, nodes) = (self.stages(), self.weights(1.0), self.nodes());
        let entry = |i: usize, j: usize| {
            let others = (0..stages).filter(|&other| other != j);
            let ratios = others.map(|other| (1.0 + nodes[i] - nodes[other]) / (nodes[j] - nodes[other]));
            ratios.product::<f64>() * b[i] / b[j]
        };
        (0..stages * stages).map(|at| entry(at % stages, at / stages)).collect()
    }
}

/// The field in all stages: for each entry of the state the numbers of all stages, and how many these are.
pub(crate) type StageRates<'f> = dyn Fn(&[f64], &mut [f64], usize) + 'f;

/// Steps by collocation along a field.
pub(crate) struct GaussMethod<'f, F> {
    field: &'f F,
    rates: Box<StageRates<'f>>,
    collocation: Collocation,
}

impl<'f, F: Field> GaussMethod<'f, F> {
    pub(crate) fn new(field: &'f F, coefficients: Coefficients, h: f64, x: &F::Vector) -> Self {
        let one_by_one =
            || Box::new(|stages: &[f64], rates: &mut [f64], count| one_by_one(field, stages, rates, count));
        #[cfg(feature = "lanes")]
        let rates = field.in_lanes(coefficients.stages()).unwrap_or_else(|| one_by_one());
        #[cfg(not(feature = "lanes"))]
        let rates = one_by_one();
        let mut collocation = Collocation::new(coefficients, h, own(field, x));
        collocation.learn_velocities(field.coordinates(), |x| field.value(&from_slice(x)).as_ref().to_vec());
        Self { field, rates, collocation }
    }
}

/// The entries that a state of the field has in a vector.
fn own<'x, F: Field>(field: &F, x: &'x F::Vector) -> &'x [f64] {
    &x.as_ref()[..field.dimension()]
}

/// The same, to be changed.
fn own_mut<'x, F: Field>(field: &F, x: &'x mut F::Vector) -> &'x mut [f64] {
    &mut x.as_mut()[..field.dimension()]
}

/// The field in one stage after the other.
fn one_by_one<F: Field>(field: &F, stages: &[f64], rates: &mut [f64], count: usize) {
    let dimension = field.dimension();
    for i in 0..count {
        let stage = |entry: usize| if entry < dimension { stages[entry * count + i] } else { 0.0 };
        let rate = field.value(&F::Vector::from_fn(stage));
        let places = rates.iter_mut().skip(i).step_by(count);
        places.zip(rate).for_each(|(place, rate)| *place = rate);
    }
}

/// The field in as many stages at once as there are lanes, which `count` is a multiple of.
#[cfg(feature = "lanes")]
pub(crate) fn side_by_side<F: Field<Lanes<1>>>(field: &F, stages: &[f64], rates: &mut [f64], count: usize) {
    let (dimension, zero) = (field.dimension(), Lanes::from_f64(0.0));
    for first in (0..count).step_by(Lanes::<1>::COUNT) {
        let place = |entry: usize| entry * count + first..entry * count + first + Lanes::<1>::COUNT;
        let stage = |entry: usize| if entry < dimension { Lanes::load(&stages[place(entry)]) } else { zero };
        let rate = field.value(&F::Vector::from_fn(stage));
        for (entry, rate) in rate.as_ref()[..dimension].iter().enumerate() {
            rate.store(&mut rates[place(entry)]);
        }
    }
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Advance<S> for GaussMethod<'_, F> {
    fn step(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        self.collocation.step(&*self.rates, own_mut(self.field, x), h)
    }

    fn step_alone(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        let mut alone = self.collocation.anew(own(self.field, x));
        let end = alone.step(&*self.rates, own_mut(self.field, x), h);
        self.collocation.evaluations = alone.evaluations;
        end
    }

    fn rates(&self, x: &Vector<S>) -> Vector<S> {
        self.field.value(x)
    }

    fn between(&self, begin: &Vector<S>, fraction: f64) -> Option<Vector<S>> {
        let state = self.collocation.between(own(self.field, begin), fraction)?;
        Some(from_slice(&state))
    }

    fn evaluations(&self) -> u64 {
        self.collocation.evaluations
    }

    fn decay_rate(&self, x: &Vector<S>) -> f64 {
        self.field.decay_rate(x)
    }

    fn begin_anew(&mut self) {
        self.collocation.is_known = false;
    }

    fn carried(&self) -> Option<Vec<Vec<f64>>> {
        Some(self.collocation.carried())
    }

    fn carry(&mut self, x: &Vector<S>, carried: Option<&[Vec<f64>]>) {
        self.collocation = self.collocation.anew(own(self.field, x));
        carried.iter().for_each(|carried| self.collocation.carry(carried));
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
