//! Gauss's methods of collocation (HLW06 II.1.3), of order 2s with s stages:
//!
//!   Y_i = x + sum_j mu_ij L_j,   L_i = h b_i f(Y_i),   x_1 = x + sum_i L_i
//!
//! They are symplectic and symmetric, and keep quadratic invariants. This module keeps them so to rounding, as Antoñana, Makazaga and Murua
//! do (Reducing and monitoring round-off error propagation for symplectic implicit Runge-Kutta schemes, Numer. Algorithms 76, 2017):
//! mu_ij + mu_ji = 1 holds exactly in doubles, and so does the sum of the h b_i but for the last digit; stages are iterated until rounding is all
//! that changes; sums of steps are compensated.
//!
//! Stages are iterated as a fixed point, from the polynomial of the step before. That takes no derivatives, and converges where h times
//! the Lipschitz constant of the field is below about 3, 6 and 11 for two, four and eight stages: not for what is stiff.

mod coefficients;
mod collocation;
mod slices;

pub(crate) use self::coefficients::Coefficients;
pub(crate) use self::collocation::Collocation;
pub(crate) use self::slices::FlatGauss;
use crate::error::failure::StepFailure;
use crate::field::{Field, StageRates};
use crate::hold::projection::Lander;
use crate::method::advance::Advance;
use crate::numbers::entries::Entries;
use crate::numbers::linear::from_slice;
use crate::system::{FeedbackSystem, Vector};

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
        let continues = |entry| field.continues_variable(entry);
        let mut collocation = Collocation::new(coefficients, h, own(field, x), continues, field.clock());
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

impl<S: FeedbackSystem, F: Field<Vector = Vector<S>>> Advance<Lander<S>> for GaussMethod<'_, F> {
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
