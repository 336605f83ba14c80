//! Every shipped model in units of its own for each variable and for the time: by default error control takes the same steps.

use fbint_catalogue::AnyModel;
use fbint_runtime::{Field, Integrator, StateRole, Tolerance};
use fbint_tests::{Random, amount};

/// The most entries of a state.
const MOST: usize = 192;

/// The field of a model, of which every variable is counted in another unit.
struct InUnits<'m> {
    model: &'m dyn AnyModel,
    /// The unit of each entry.
    units: Vec<f64>,
    time: f64,
}

impl<'m> InUnits<'m> {
    fn new(model: &'m dyn AnyModel, mut unit: impl FnMut() -> f64) -> Self {
        let state = model.facts().state;
        let (time, units): (f64, Vec<f64>) = (unit(), model.facts().variables.iter().map(|_| unit()).collect());
        let of = |entry: &fbint_runtime::StateEntry| match entry.role {
            StateRole::Time => time,
            _ => units[entry.variable],
        };
        Self { model, units: state.iter().map(of).collect(), time }
    }

    /// The state at the end of a run from the start of the model, in its own units, after a number of steps.
    fn end(&self) -> (Vec<f64>, u64) {
        let (mut start, own) = ([0.0; MOST], self.model.start().expect("a start"));
        own.iter().zip(&self.units).zip(&mut start).for_each(|((own, unit), entry)| *entry = own / unit);
        let tolerance = Tolerance::new(1e-9, None).expect("a tolerance");
        let mut steps = Integrator::dop853(self, start, tolerance);
        steps.advance_to(1.0 / self.time).unwrap_or_else(|error| panic!("{}: {error:?}", self.model.facts().name));
        let state = steps.state().iter().zip(&self.units).map(|(entry, unit)| entry * unit);
        (state.collect(), steps.steps())
    }
}

impl Field for InUnits<'_> {
    type Vector = [f64; MOST];

    fn value(&self, x: &[f64; MOST]) -> [f64; MOST] {
        let own: Vec<f64> = x.iter().zip(&self.units).map(|(entry, unit)| entry * unit).collect();
        let (mut own_rates, mut rates) = (vec![0.0; own.len()], [0.0; MOST]);
        self.model.system_at(&own).vector_field_at(&own, &mut own_rates);
        let entries = own_rates.iter().zip(&self.units).zip(&mut rates);
        entries.for_each(|((own, unit), rate)| *rate = own * (self.time / unit));
        rates
    }

    fn dimension(&self) -> usize {
        self.units.len()
    }

    fn clock(&self) -> Option<usize> {
        self.model.facts().clock
    }

    fn continues_variable(&self, entry: usize) -> bool {
        let state = self.model.facts().state;
        entry > 0 && state.get(entry).is_some_and(|own| own.variable == state[entry - 1].variable)
    }
}

#[test]
fn shipped_models_take_the_same_steps_in_all_units() {
    let mut random = Random::new(7);
    for entry in catalogue::all() {
        let model = (entry.load)();
        let (expected, steps) = InUnits::new(&*model, || 1.0).end();
        let largest = |variable: usize| {
            let own = model.facts().state.iter().zip(&expected).filter(|(entry, _)| entry.variable == variable);
            own.fold(0.0, |largest: f64, (_, entry)| largest.max(entry.abs()))
        };
        for _ in 0..amount(1, 20) {
            let (found, own) = InUnits::new(&*model, || 10_f64.powf(random.between(-20.0, 20.0))).end();
            for ((entry, a), b) in model.facts().state.iter().zip(&found).zip(&expected) {
                let (name, size) = (model.facts().name, largest(entry.variable));
                // What is made of rounding differs.
                let error = (a - b).abs() / size.max(1e-12);
                assert!(error < 1e-10, "{name}, `{}`: off by {error:e} after {own} and {steps} steps", entry.name);
            }
        }
    }
}
