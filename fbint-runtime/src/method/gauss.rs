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

use std::cell::RefCell;

pub(crate) use self::coefficients::Coefficients;
pub(crate) use self::collocation::Collocation;
use crate::error::failure::StepFailure;
use crate::field::flat::FlatField;
use crate::field::{Field, StageRates};
use crate::hold::projection::Land;
use crate::hold::projection::flat::FlatProjector;
use crate::method::advance::Advance;
use crate::method::flat::continues;
use crate::numbers::blocks::Blocks;
use crate::numbers::entries::Entries;

/// A function of a state.
type OfState<'f, X, T> = Box<dyn Fn(&X) -> T + 'f>;

/// Steps by collocation along a field.
pub(crate) struct GaussMethod<'f, L: Land> {
    /// The field in the stages, in a state, and the largest rate of decay of its feedback there.
    stage_rates: Box<StageRates<'f>>,
    rates: OfState<'f, L::State, L::State>,
    decay_rate: OfState<'f, L::State, f64>,
    collocation: Collocation,
}

impl<'f, L: Land> GaussMethod<'f, L> {
    pub(crate) fn new<F: Field<Vector = L::State>>(
        field: &'f F,
        coefficients: Coefficients,
        h: f64,
        x: &F::Vector,
    ) -> Self {
        let one_by_one =
            || Box::new(|stages: &[f64], rates: &mut [f64], count| one_by_one(field, stages, rates, count));
        #[cfg(feature = "lanes")]
        let stage_rates = field.in_lanes(coefficients.stages()).unwrap_or_else(|| one_by_one());
        #[cfg(not(feature = "lanes"))]
        let stage_rates = one_by_one();
        let continues = |entry| field.continues_variable(entry);
        let x = &x.as_ref()[..field.dimension()];
        let mut collocation = Collocation::new(coefficients, h, x, continues, field.clock());
        collocation.learn_velocities(field.coordinates(), |x| field.value(&L::state(x)).as_ref().to_vec());
        Self {
            stage_rates,
            rates: Box::new(|x| field.value(x)),
            decay_rate: Box::new(|x| field.decay_rate(x)),
            collocation,
        }
    }
}

impl<'f> GaussMethod<'f, FlatProjector<'f>> {
    /// Along a field on slices.
    pub(crate) fn on_slices(field: &'f FlatField<'f>, coefficients: Coefficients, h: f64, x: &[f64]) -> Self {
        let facts = field.facts();
        let mut collocation = Collocation::new(coefficients, h, x, continues(facts), facts.clock);
        collocation.learn_velocities(field.coordinates(), |x| field.rates(&Blocks::of(x)).own().to_vec());
        // A state and its rates.
        let memory = RefCell::new([Blocks::zeros(x.len()), Blocks::zeros(x.len())]);
        let stage_rates = move |stages: &[f64], rates: &mut [f64], count: usize| {
            let [point, at_point] = &mut *memory.borrow_mut();
            for i in 0..count {
                point.fill_with(|entry| stages[entry * count + i]);
                field.value(point.all(), at_point.all_mut());
                let places = rates.iter_mut().skip(i).step_by(count);
                places.zip(at_point.own()).for_each(|(place, rate)| *place = *rate);
            }
        };
        Self {
            stage_rates: Box::new(stage_rates),
            rates: Box::new(|x| field.rates(x)),
            decay_rate: Box::new(|x| field.decay_rate(x.own())),
            collocation,
        }
    }
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

impl<L: Land> Advance<L> for GaussMethod<'_, L> {
    fn step(&mut self, x: &mut L::State, h: f64) -> Result<(), StepFailure> {
        let entries = self.collocation.entries();
        self.collocation.step(&*self.stage_rates, &mut x.as_mut()[..entries], h)
    }

    fn step_alone(&mut self, x: &mut L::State, h: f64) -> Result<(), StepFailure> {
        let x = &mut x.as_mut()[..self.collocation.entries()];
        let mut alone = self.collocation.anew(x);
        let end = alone.step(&*self.stage_rates, x, h);
        self.collocation.evaluations = alone.evaluations;
        end
    }

    fn rates(&self, x: &L::State) -> L::State {
        (self.rates)(x)
    }

    fn between(&self, begin: &L::State, fraction: f64) -> Option<L::State> {
        let begin = &begin.as_ref()[..self.collocation.entries()];
        self.collocation.between(begin, fraction).map(|state| L::state(&state))
    }

    fn evaluations(&self) -> u64 {
        self.collocation.evaluations
    }

    fn decay_rate(&self, x: &L::State) -> f64 {
        (self.decay_rate)(x)
    }

    fn begin_anew(&mut self) {
        self.collocation.is_known = false;
    }

    fn carried(&self) -> Option<Vec<Vec<f64>>> {
        Some(self.collocation.carried())
    }

    fn carry(&mut self, x: &L::State, carried: Option<&[Vec<f64>]>) {
        self.collocation = self.collocation.anew(&x.as_ref()[..self.collocation.entries()]);
        carried.iter().for_each(|carried| self.collocation.carry(carried));
    }
}
