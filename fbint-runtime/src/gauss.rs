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
//!
//! Steps are made on slices, so that they are compiled once with this crate: of a model, only its field is compiled for them.

use crate::entries::Entries;
use crate::error::Error;
use crate::failure::StepFailure;
use crate::field::Field;
use crate::linear::{from_slice, largest};
use crate::simulation::Advance;
use crate::system::{FeedbackSystem, Vector};

/// Iterations that a step may take.
const MOST_ITERATIONS: u32 = 50;
/// An entry that still changes by this fraction of itself has not converged,
const ROUNDING: f64 = 1e-9;
/// unless it is this fraction of the largest: there it may be nothing but the rounding of others.
const NOISE: f64 = 1e-13;
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
    ///
    /// # Errors
    ///
    /// [`Error::Stages`] if it is not 2, 4 or 8.
    pub(crate) const fn of_stages(stages: usize) -> Result<Self, Error> {
        match stages {
            2 => Ok(TWO),
            4 => Ok(FOUR),
            8 => Ok(EIGHT),
            _ => Err(Error::Stages { stages }),
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

    /// All mu_ij, row by row.
    fn shares(&self) -> Vec<f64> {
        let stages = self.stages();
        (0..stages * stages).map(|at| self.share(at / stages, at % stages)).collect()
    }

    /// What the L_j of a step make of the L_i of the next one of the same size, row by row: the polynomial through the rates at the
    /// nodes goes on.
    fn extrapolation(&self) -> Vec<f64> {
        let (stages, b) = (self.stages(), self.weights(1.0));
        let node = |i: usize| (0..stages).map(|j| b[j] * self.share(i, j)).sum::<f64>();
        let nodes: Vec<f64> = (0..stages).map(node).collect();
        let entry = |i: usize, j: usize| {
            let others = (0..stages).filter(|&other| other != j);
            let ratios = others.map(|other| (1.0 + nodes[i] - nodes[other]) / (nodes[j] - nodes[other]));
            ratios.product::<f64>() * b[i] / b[j]
        };
        (0..stages * stages).map(|at| entry(at / stages, at % stages)).collect()
    }
}

/// The field in several states, one after the other in a slice.
type Rates<'f> = dyn Fn(&[f64], &mut [f64]) + 'f;

/// Steps by collocation, of states that are slices.
#[derive(Clone)]
struct Collocation {
    coefficients: Coefficients,
    shares: Vec<f64>,
    extrapolation: Vec<f64>,
    /// The size of steps that follow one another.
    h: f64,
    /// Where the last step ended, and what rounding has left out of that.
    end: Vec<f64>,
    remainder: Vec<f64>,
    /// Whether `increments` are those of a step of size `h` that ended there.
    is_known: bool,
    /// L_i, Y_i and f(Y_i), stage by stage.
    increments: Vec<f64>,
    stages: Vec<f64>,
    rates: Vec<f64>,
    /// The last and the least changes of the Y_i.
    changes: Vec<f64>,
    least_changes: Vec<f64>,
    /// The evaluations of the field in the last step.
    evaluations: u64,
}

/// How an iteration has changed the stages.
struct Change {
    is_nothing: bool,
    /// Whether a change of an entry was smaller than all before.
    is_less: bool,
}

impl Collocation {
    fn new(coefficients: Coefficients, h: f64, x: &[f64]) -> Self {
        let zeros = vec![0.0; coefficients.stages() * x.len()];
        Self {
            coefficients,
            shares: coefficients.shares(),
            extrapolation: coefficients.extrapolation(),
            h,
            end: x.to_vec(),
            remainder: vec![0.0; x.len()],
            is_known: false,
            increments: zeros.clone(),
            stages: zeros.clone(),
            rates: zeros.clone(),
            changes: zeros.clone(),
            least_changes: zeros,
            evaluations: 0,
        }
    }

    /// Makes a step of size `h`.
    fn step(&mut self, rates: &Rates<'_>, x: &mut [f64], h: f64) -> Result<(), StepFailure> {
        // What is left of a sum belongs to that sum: a projection makes it another number, and so does the time that is set.
        for ((remainder, end), x) in self.remainder.iter_mut().zip(&self.end).zip(&*x) {
            if end != x {
                *remainder = 0.0;
            }
        }
        let weights = self.coefficients.weights(h);
        self.evaluations = 0;
        if self.is_known && h == self.h {
            self.extrapolate();
        } else {
            self.begin(rates, x, &weights);
        }
        self.is_known = false;
        self.iterate(rates, x, &weights)?;
        self.add(x);
        self.is_known = h == self.h;
        Ok(())
    }

    /// Guesses increments by those of the last step.
    fn extrapolate(&mut self) {
        let Self { increments, rates, extrapolation, .. } = self;
        let entries = self.end.len();
        rates.copy_from_slice(increments);
        let rows = extrapolation.chunks_exact(self.coefficients.stages());
        for (row, increment) in rows.zip(increments.chunks_exact_mut(entries)) {
            combine(row, rates, increment);
        }
    }

    /// Guesses increments by the field at the beginning.
    fn begin(&mut self, rates: &Rates<'_>, x: &[f64], weights: &[f64]) {
        let entries = x.len();
        let first = &mut self.rates[..entries];
        rates(x, first);
        self.evaluations += 1;
        for (increment, weight) in self.increments.chunks_exact_mut(entries).zip(weights) {
            increment.iter_mut().zip(&*first).for_each(|(increment, rate)| *increment = weight * rate);
        }
    }

    /// Iterates stages and increments until nothing changes, or no change of any entry gets smaller, twice in a row: then rounding is
    /// all that is left.
    fn iterate(&mut self, rates: &Rates<'_>, x: &[f64], weights: &[f64]) -> Result<(), StepFailure> {
        self.place_stages(x);
        self.evaluate(rates, weights);
        self.least_changes.fill(f64::INFINITY);
        let mut was_less = true;
        for _ in 0..MOST_ITERATIONS {
            let Change { is_nothing, is_less } = self.place_stages(x);
            if is_nothing {
                return Ok(());
            }
            if self.changes.iter().any(|change| !change.is_finite()) {
                break;
            }
            self.evaluate(rates, weights);
            if !is_less && !was_less && self.has_converged() {
                return Ok(());
            }
            was_less = is_less;
        }
        if self.has_converged() { Ok(()) } else { Err(self.failure(rates, x)) }
    }

    /// Y_i from the L_j.
    fn place_stages(&mut self, x: &[f64]) -> Change {
        let mut change = Change { is_nothing: true, is_less: false };
        let (stages, entries) = (self.coefficients.stages(), x.len());
        let sums = &mut self.rates[..entries];
        for (i, row) in self.shares.chunks_exact(stages).enumerate() {
            combine(row, &self.increments, sums);
            for (k, sum) in sums.iter().enumerate() {
                let at = i * entries + k;
                let stage = x[k] + (self.remainder[k] + sum);
                let distance = (stage - self.stages[at]).abs();
                (self.stages[at], self.changes[at]) = (stage, distance);
                change.is_nothing &= distance == 0.0;
                if distance > 0.0 && distance < self.least_changes[at] {
                    self.least_changes[at] = distance;
                    change.is_less = true;
                }
            }
        }
        change
    }

    /// L_i from the Y_i.
    fn evaluate(&mut self, rates: &Rates<'_>, weights: &[f64]) {
        rates(&self.stages, &mut self.rates);
        self.evaluations += self.coefficients.stages() as u64;
        let entries = self.end.len();
        let rates = self.rates.chunks_exact(entries).zip(weights);
        for (increment, (rate, weight)) in self.increments.chunks_exact_mut(entries).zip(rates) {
            increment.iter_mut().zip(rate).for_each(|(increment, rate)| *increment = weight * rate);
        }
    }

    /// Whether the last changes were as small as rounding.
    fn has_converged(&self) -> bool {
        let (entries, noise) = (self.end.len(), NOISE * largest(&self.stages));
        let of_entry =
            |all: &[f64], k: usize| all.iter().skip(k).step_by(entries).fold(0.0, |a: f64, b| a.max(b.abs()));
        let is_finite = self.changes.iter().all(|change| change.is_finite());
        is_finite
            && (0..entries).all(|k| of_entry(&self.changes, k) <= (ROUNDING * of_entry(&self.stages, k)).max(noise))
    }

    /// Why the iteration has led nowhere.
    #[cold]
    fn failure(&mut self, rates: &Rates<'_>, x: &[f64]) -> StepFailure {
        let entries = x.len();
        rates(x, &mut self.rates[..entries]);
        match self.rates[..entries].iter().position(|rate| !rate.is_finite()) {
            Some(entry) => StepFailure::NotFinite { entry },
            None => StepFailure::NotIterated { change: largest(&self.changes) },
        }
    }

    /// Adds the increments to the state and to what rounding has left out of it (Neumaier).
    fn add(&mut self, x: &mut [f64]) {
        let entries = x.len();
        for (k, x) in x.iter_mut().enumerate() {
            let increments = self.increments.iter().skip(k).step_by(entries);
            let increment = increments.fold(self.remainder[k], |sum, increment| sum + increment);
            let sum = *x + increment;
            let (larger, smaller) = if x.abs() < increment.abs() { (increment, *x) } else { (*x, increment) };
            self.remainder[k] = (larger - sum) + smaller;
            (self.end[k], *x) = (sum, sum);
        }
    }
}

/// sum_j factor_j v_j, of vectors one after the other in a slice.
fn combine(factors: &[f64], vectors: &[f64], sum: &mut [f64]) {
    sum.fill(0.0);
    for (factor, vector) in factors.iter().zip(vectors.chunks_exact(sum.len())) {
        sum.iter_mut().zip(vector).for_each(|(sum, entry)| *sum += factor * entry);
    }
}

/// Steps by collocation along a field.
pub(crate) struct GaussMethod<'f, F> {
    field: &'f F,
    collocation: Collocation,
}

impl<'f, F: Field> GaussMethod<'f, F> {
    pub(crate) fn new(field: &'f F, coefficients: Coefficients, h: f64, x: &F::Vector) -> Self {
        Self { field, collocation: Collocation::new(coefficients, h, x.as_ref()) }
    }
}

/// The field in all stages, one by one; the one place where lanes would take several at once.
fn rates_along<F: Field>(field: &F) -> impl Fn(&[f64], &mut [f64]) {
    |states, rates| {
        let rates = rates.chunks_exact_mut(F::Vector::LEN);
        for (state, rate) in states.chunks_exact(F::Vector::LEN).zip(rates) {
            rate.copy_from_slice(field.value(&from_slice(state)).as_ref());
        }
    }
}

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Advance<S> for GaussMethod<'_, F> {
    fn step(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        self.collocation.step(&rates_along(self.field), x.as_mut(), h)
    }

    fn step_alone(&mut self, x: &mut Vector<S>, h: f64) -> Result<(), StepFailure> {
        let mut alone =
            Collocation { is_known: false, remainder: vec![0.0; x.as_ref().len()], ..self.collocation.clone() };
        let end = alone.step(&rates_along(self.field), x.as_mut(), h);
        self.collocation.evaluations = alone.evaluations;
        end
    }

    fn rates(&self, x: &Vector<S>) -> Vector<S> {
        self.field.value(x)
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
        let Collocation { end, remainder, is_known, increments, .. } = &self.collocation;
        let increments = increments.chunks_exact(end.len()).filter(|_| *is_known).map(<[f64]>::to_vec);
        Some([end.clone(), remainder.clone()].into_iter().chain(increments).collect())
    }

    fn carry(&mut self, x: &Vector<S>, carried: Option<&[Vec<f64>]>) {
        let Collocation { coefficients, h, .. } = self.collocation;
        self.collocation = Collocation::new(coefficients, h, x.as_ref());
        let Some([end, remainder, increments @ ..]) = carried else { return };
        self.collocation.end.copy_from_slice(end);
        self.collocation.remainder.copy_from_slice(remainder);
        if increments.len() == coefficients.stages() {
            self.collocation.is_known = true;
            self.collocation.increments = increments.concat();
        }
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
        for stages in [2, 4, 8] {
            let method = Coefficients::of_stages(stages).unwrap();
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
        for stages in [2, 4, 8] {
            let method = Coefficients::of_stages(stages).unwrap();
            for (i, j) in (0..stages).flat_map(|i| (0..stages).map(move |j| (i, j))) {
                let (share, other) = (method.share(i, j), method.share(j, i));
                // Without rounding: the larger is between 1/2 and 2, and the smaller is what is left of 1.
                assert!((0.5..=2.0).contains(&share.max(other)) && share.min(other) == 1.0 - share.max(other));
                assert_eq!(method.share(stages - 1 - j, stages - 1 - i), share, "{stages} stages, {i}, {j}");
            }
        }
    }
}
