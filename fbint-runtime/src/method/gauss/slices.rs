//! Steps by collocation of systems on slices.

use std::cell::RefCell;

use super::{Coefficients, Collocation};
use crate::error::failure::StepFailure;
use crate::field::flat::FlatField;
use crate::hold::projection::flat::FlatProjector;
use crate::method::advance::Advance;
use crate::method::flat::continues;
use crate::numbers::blocks::Blocks;

/// Steps by collocation along a field.
pub(crate) struct FlatGauss<'f> {
    field: &'f FlatField<'f>,
    collocation: Collocation,
    /// Memory for a state and its rates.
    point: Blocks,
    rates: Blocks,
}

impl<'f> FlatGauss<'f> {
    pub(crate) fn new(field: &'f FlatField<'f>, coefficients: Coefficients, h: f64, x: &[f64]) -> Self {
        let facts = field.facts();
        let mut collocation = Collocation::new(coefficients, h, x, continues(facts), facts.clock);
        collocation.learn_velocities(field.coordinates(), |x| field.rates(&Blocks::of(x)).own().to_vec());
        let point = Blocks::zeros(x.len());
        Self { field, collocation, rates: point.clone(), point }
    }
}

/// A step from a state, whose stages are evaluated one after the other.
fn flat_collocation(
    collocation: &mut Collocation,
    field: &FlatField<'_>,
    [point, rates_at_point]: [&mut Blocks; 2],
    x: &mut [f64],
    h: f64,
) -> Result<(), StepFailure> {
    let memory = RefCell::new((point, rates_at_point));
    let rates = |stages: &[f64], rates: &mut [f64], count: usize| {
        let (point, rates_at_point) = &mut *memory.borrow_mut();
        for i in 0..count {
            point.fill_with(|entry| stages[entry * count + i]);
            field.value(point.all(), rates_at_point.all_mut());
            let places = rates.iter_mut().skip(i).step_by(count);
            places.zip(rates_at_point.own()).for_each(|(place, rate)| *place = *rate);
        }
    };
    collocation.step(&rates, x, h)
}

impl Advance<FlatProjector<'_>> for FlatGauss<'_> {
    fn step(&mut self, x: &mut Blocks, h: f64) -> Result<(), StepFailure> {
        let Self { field, collocation, point, rates } = self;
        flat_collocation(collocation, field, [point, rates], x.own_mut(), h)
    }

    fn step_alone(&mut self, x: &mut Blocks, h: f64) -> Result<(), StepFailure> {
        let Self { field, collocation, point, rates } = self;
        let mut alone = collocation.anew(x.own());
        let end = flat_collocation(&mut alone, field, [point, rates], x.own_mut(), h);
        collocation.evaluations = alone.evaluations;
        end
    }

    fn rates(&self, x: &Blocks) -> Blocks {
        self.field.rates(x)
    }

    fn between(&self, begin: &Blocks, fraction: f64) -> Option<Blocks> {
        Some(Blocks::of(&self.collocation.between(begin.own(), fraction)?))
    }

    fn evaluations(&self) -> u64 {
        self.collocation.evaluations
    }

    fn decay_rate(&self, x: &Blocks) -> f64 {
        self.field.decay_rate(x.own())
    }

    fn begin_anew(&mut self) {
        self.collocation.is_known = false;
    }

    fn carried(&self) -> Option<Vec<Vec<f64>>> {
        Some(self.collocation.carried())
    }

    fn carry(&mut self, x: &Blocks, carried: Option<&[Vec<f64>]>) {
        self.collocation = self.collocation.anew(x.own());
        carried.iter().for_each(|carried| self.collocation.carry(carried));
    }
}
