//! The field of a system on slices of any length, with its feedback and its inputs.

mod gains;

use core::cell::{Cell, RefCell};

use self::gains::FlatFeedback;
pub use self::gains::FlatGains;
use crate::error::Error;
use crate::error::failure::UndefinedInput;
use crate::field::driver::distance_of_signals;
use crate::field::laws::{DIFFERENCE, Laws};
use crate::field::policy::{POWER_ITERATIONS, TINY};
use crate::field::sides::{Side, solve_weights, without_rounding};
use crate::field::{
    ALWAYS, Driver, GAINS_HAVE_NO_SERIES, INPUTS_HAVE_NO_SERIES, LAWS_ARE_SAMPLED, OTHER_INPUTS_THAN_LAWS,
};
use crate::hold::consistent_start::flat_targets;
use crate::numbers::blocks::{Blocks, LENGTH};
use crate::numbers::four::FourLanes;
use crate::numbers::linear::{inner, not_finite};
use crate::numbers::scalar::Scalar;
use crate::system::SystemFacts;
use crate::system::dynamical_system::FlatSystem;
use crate::system::taylor::Series;

/// A source of inputs on slices, like a [`Signal`](crate::Signal).
pub trait FlatSignal: Send {
    /// Puts the inputs at a time in a state into the first of `inputs`.
    fn at(&self, time: f64, state: &[f64], inputs: &mut [f64]);
    /// Begins a step at this time, and returns when it has to end at the latest.
    fn hold(&self, _time: f64) -> f64 {
        f64::INFINITY
    }
    /// The first and the last time at which the inputs are known.
    fn range(&self) -> [f64; 2] {
        ALWAYS
    }
    /// Puts the coefficients of the inputs' Taylor series from a time of the step on into a list: of t, t^2 and so on, with a `stride` from
    /// each power to the next. Returns whether there is a series, up to the end of the step, whatever the time is.
    #[doc(hidden)]
    fn series(&self, _time: f64, _stride: usize, _later: &mut [f64]) -> bool {
        false
    }
    /// Returns `true` if it leaves inputs to sampled laws, which [`hold_laws`](Self::hold_laws) holds.
    #[doc(hidden)]
    fn has_sampled_laws(&self) -> bool {
        false
    }
    /// Holds the sampled laws as they are in a state, or 0 without one, from now on.
    #[doc(hidden)]
    fn hold_laws(&self, _state: Option<&[f64]>) {}
    /// A copy of this signal.
    fn copied(&self) -> Box<dyn FlatSignal>;
}

/// The field along which a system on slices is integrated.
pub(crate) struct FlatField<'a> {
    system: &'a dyn FlatSystem,
    feedback: FlatFeedback,
    targets: Vec<f64>,
    /// The targets of the normalised forms of the integrals.
    normalised_targets: Vec<f64>,
    signal: Option<&'a dyn FlatSignal>,
    laws: Laws,
    /// The inputs where they were asked for last, then the sides on which switches are held.
    inputs: RefCell<Blocks>,
    /// The switches along which it slides, by their places.
    sliding: Vec<usize>,
    undefined: Cell<Option<UndefinedInput>>,
}

impl<'a> FlatField<'a> {
    /// The field of solutions that start at this state.
    ///
    /// # Errors
    ///
    /// If a gain is not positive, or if a relaxation cannot tell constraints apart.
    pub(crate) fn new(
        system: &'a dyn FlatSystem,
        gains: &FlatGains,
        signal: Option<&'a dyn FlatSignal>,
        start: &[f64],
    ) -> Result<Self, Error> {
        let mut field = Self {
            feedback: FlatFeedback::of(gains, system, start)?,
            laws: Laws::Followed,
            inputs: RefCell::new(Blocks::zeros(system.facts().given_numbers())),
            sliding: Vec::new(),
            undefined: Cell::new(None),
            targets: Vec::new(),
            normalised_targets: Vec::new(),
            system,
            signal,
        };
        field.start_at(start);
        Ok(field)
    }

    /// The facts about the system.
    pub(crate) fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }

    /// The number of coordinates whose rates are linear in the momenta, as [`Field`](crate::Field) has it.
    pub(crate) fn coordinates(&self) -> usize {
        if matches!(self.feedback, FlatFeedback::None) { self.facts().linear_coordinates() } else { 0 }
    }

    /// Makes it the field of a solution that starts at this state.
    pub(crate) fn start_at(&mut self, x: &[f64]) {
        if matches!(self.feedback, FlatFeedback::None) {
            return;
        }
        self.targets = flat_targets(self.system, x);
        let normalised = self.targets.iter().zip(self.system.normalisation());
        self.normalised_targets = normalised.map(|(target, [_, scale, offset])| target / scale - offset).collect();
    }

    /// Holds the laws of its inputs as they are in a state, or 0 without one, from now on.
    pub(crate) fn hold_laws(&mut self, state: Option<&[f64]>) {
        match (self.signal, state) {
            (Some(signal), state) => signal.hold_laws(state),
            (None, Some(state)) => self.system.laws_with(Blocks::of(state).all(), self.inputs.get_mut().all_mut()),
            (None, None) => {}
        }
        self.laws = Laws::Held;
    }

    /// Holds its switches on these sides.
    pub(crate) fn hold_sides(&mut self, sides: &[Side]) {
        let first = self.facts().input_names.len();
        let numbers = self.inputs.get_mut().own_mut()[first..].iter_mut();
        numbers.zip(sides).for_each(|(number, side)| *number = side.number());
        self.sliding = (0..sides.len()).filter(|place| sides[*place] == Side::Sliding).collect();
    }

    /// Puts f(x) into `rates`. Both are followed by zeros.
    pub(crate) fn value(&self, x: &[f64], rates: &mut [f64]) {
        if !self.sliding.is_empty() {
            return rates.copy_from_slice(&self.slide(x).0);
        }
        let mut inputs = self.inputs.borrow_mut();
        self.put_inputs(x, &mut inputs);
        self.value_with(x, inputs.all(), rates);
    }

    /// Puts f(x) with these inputs into `rates`.
    fn value_with(&self, x: &[f64], inputs: &[f64], rates: &mut [f64]) {
        match &self.feedback {
            FlatFeedback::None => self.system.vector_field_with(x, inputs, rates),
            FlatFeedback::Constant { normalised, zero_targets, .. } => {
                let weigh = |forms: &mut [f64]| {
                    for (i, form) in forms.iter_mut().enumerate() {
                        let change = if zero_targets[i] { *form } else { *form - self.normalised_targets[i] };
                        *form = normalised[i] * change;
                    }
                };
                self.system.feedback_field_with(x, inputs, &weigh, rates);
            }
            FlatFeedback::Relaxation { tau, variances, noise } => {
                let rate = tau.recip();
                let weigh = |integrals: &mut [f64]| {
                    let pairs = integrals.iter_mut().zip(&self.targets);
                    pairs.for_each(|(integral, target)| *integral = rate * (*integral - target));
                };
                let mut feedback = vec![0.0; rates.len()];
                self.system.projection_at(x, [variances.all(), noise.all()], &weigh, &mut feedback);
                self.system.vector_field_with(x, inputs, rates);
                rates.iter_mut().zip(feedback).for_each(|(rate, feedback)| *rate -= feedback);
            }
            FlatFeedback::BaeChang { h, normalisation, ones } => {
                let lambda = self.largest_decay_rate(&x[..self.facts().state.len()], ones);
                let uniform = (h * (lambda + TINY)).recip();
                let weigh = |forms: &mut [f64]| {
                    for (form, ([factor, scale, offset], target)) in
                        forms.iter_mut().zip(normalisation.iter().zip(&self.targets))
                    {
                        *form = factor * (uniform * (scale * (*form + offset) - target));
                    }
                };
                self.system.feedback_field_with(x, inputs, &weigh, rates);
            }
        }
    }

    /// The Taylor series of its solutions, or why there are none: see [`Field::series`](crate::Field::series).
    pub(crate) fn series(&self) -> Result<Series<'_>, &'static str> {
        let facts = self.facts();
        // Rows hold the coefficients of a state, or of inputs.
        let stride = facts.state.len().max(facts.given_numbers()).next_multiple_of(LENGTH);
        if self.signal.is_some_and(|signal| !signal.series(0.0, stride, &mut [])) {
            return Err(INPUTS_HAVE_NO_SERIES);
        }
        if !matches!(self.feedback, FlatFeedback::None) {
            return Err(GAINS_HAVE_NO_SERIES);
        }
        if self.signal.is_some() && facts.has_laws() {
            return Err(OTHER_INPUTS_THAN_LAWS);
        }
        if self.laws == Laws::Held {
            return Err(LAWS_ARE_SAMPLED);
        }
        let shape = self.system.series()?;
        let expand = move |sides: &[f64], coefficients: &mut [f64], memory: &mut [FourLanes]| {
            let (mut inputs, mut given) = (self.inputs.borrow_mut(), sides.to_vec());
            if let Some(signal) = self.signal {
                given.resize(sides.len() + coefficients.len() - stride, 0.0);
                let time = facts.clock.map_or(0.0, |clock| coefficients[clock]);
                signal.series(time, stride, &mut given[sides.len()..]);
                self.put_inputs(coefficients, &mut inputs);
            }
            self.system.expand_with(inputs.all(), &given, coefficients, stride, memory);
        };
        Ok(Series { shape, stride, expand: Box::new(expand) })
    }

    /// f(x).
    pub(crate) fn rates(&self, x: &Blocks) -> Blocks {
        let mut rates = Blocks::zeros(x.len());
        self.value(x.all(), rates.all_mut());
        rates
    }

    /// Calls `add` with the entries of its Jacobian by the state. Returns `false` if it is not known, as where gains follow from the
    /// state.
    ///
    /// Inputs change with the state by the chain rule; derivatives of a signal, and of a motion that slides, are central differences.
    pub(crate) fn jacobian(&self, x: &Blocks, add: &mut dyn FnMut(usize, usize, f64)) -> bool {
        let feedback = match &self.feedback {
            FlatFeedback::Relaxation { .. } | FlatFeedback::BaeChang { .. } => return false,
            FlatFeedback::None => None,
            FlatFeedback::Constant { declared, .. } => Some([&declared[..], &self.targets]),
        };
        let states = x.len();
        if !self.sliding.is_empty() {
            for column in 0..states {
                let length = DIFFERENCE * (x[column].abs() + 1.0);
                let [below, above] = on_both_sides(x, column, length).map(|x| self.rates(&x));
                (0..states).for_each(|row| add(row, column, (above[row] - below[row]) / (length + length)));
            }
            return true;
        }
        let mut inputs = self.inputs.borrow().clone();
        self.put_inputs(x.all(), &mut inputs);
        let slopes = self.input_slopes(x, &inputs);
        let mut add = |row: usize, column: usize, value: f64| match column.checked_sub(states) {
            None => add(row, column, value),
            Some(input) => {
                let slopes = slopes.chunks_exact(states).nth(input).unwrap_or_default();
                slopes.iter().enumerate().for_each(|(entry, slope)| add(row, entry, value * slope));
            }
        };
        self.system.field_jacobian_with(x.all(), inputs.all(), feedback, &mut add)
    }

    /// The derivatives of the inputs by the state, a row for each input that changes with it.
    fn input_slopes(&self, x: &Blocks, inputs: &Blocks) -> Vec<f64> {
        let (facts, states) = (self.facts(), x.len());
        let mut slopes = vec![0.0; facts.input_names.len() * states];
        if self.follows_laws() {
            self.system.law_slopes_with(x.all(), inputs.all(), &mut slopes);
        } else if self.signal.is_some() {
            for entry in 0..states {
                let [below, above] = on_both_sides(x, entry, distance_of_signals(facts, x.own(), entry));
                let distance = above[entry] - below[entry];
                let [below, above] = [below, above].map(|x| {
                    let mut inputs = inputs.clone();
                    self.put_inputs(x.all(), &mut inputs);
                    inputs
                });
                let of_entry = slopes.iter_mut().skip(entry).step_by(states);
                of_entry.enumerate().for_each(|(input, slope)| *slope = (above[input] - below[input]) / distance);
            }
        }
        slopes
    }

    /// The rates where it slides, followed by zeros, and the weight of the positive side of each switch that slides: see
    /// [`sides`](crate::field::sides).
    #[cold]
    fn slide(&self, x: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (own, count) = (self.facts().input_names.len(), self.sliding.len());
        let on = |positive: Option<usize>| {
            let mut inputs = self.inputs.borrow().clone();
            for &place in &self.sliding {
                let side = if positive == Some(place) { Side::Positive } else { Side::Negative };
                inputs.own_mut()[own + place] = side.number();
            }
            self.put_inputs(x, &mut inputs);
            let mut rates = vec![0.0; x.len()];
            self.value_with(x, inputs.all(), &mut rates);
            (inputs, rates)
        };
        let (below, mut rates) = on(None);
        let jump = |place: &usize| -> Vec<f64> { on(Some(*place)).1.iter().zip(&rates).map(|(a, b)| a - b).collect() };
        let jumps: Vec<_> = self.sliding.iter().map(jump).collect();
        let slopes = self.slopes(x, &rates, &below);
        let mut weights: Vec<f64> = self.sliding.iter().map(|place| -slopes[*place]).collect();
        let mut matrix = vec![0.0; count * count];
        for (column, jump) in jumps.iter().enumerate() {
            let slopes = self.slopes(x, jump, &below);
            self.sliding.iter().enumerate().for_each(|(row, place)| matrix[row * count + column] = slopes[*place]);
        }
        solve_weights(&mut matrix, &mut weights, &mut vec![0; count]);
        let mut largest: Vec<f64> = rates.iter().map(|rate| rate.abs()).collect();
        for (weight, jump) in weights.iter().zip(jumps) {
            for ((rate, largest), jump) in rates.iter_mut().zip(&mut largest).zip(jump) {
                *rate += weight * jump;
                *largest = largest.max((weight * jump).abs());
            }
        }
        rates.iter_mut().zip(largest).for_each(|(rate, largest)| *rate = without_rounding(*rate, largest));
        (rates, weights)
    }

    /// The derivatives of the functions of the switches along these rates, with inputs.
    fn slopes(&self, x: &[f64], rates: &[f64], inputs: &Blocks) -> Vec<f64> {
        let mut slopes = vec![0.0; self.facts().switches.len()];
        self.system.switch_slopes_with(x, rates, inputs.all(), self.follows_laws(), &mut slopes);
        slopes
    }

    /// Returns `true` if its inputs follow their laws.
    fn follows_laws(&self) -> bool {
        self.signal.is_none() && self.laws == Laws::Followed && self.facts().has_laws()
    }

    /// The functions at whose zeros it switches, or stops to slide, and its inputs in a state.
    pub(crate) fn switches(&self, state: &[f64]) -> (Vec<f64>, Vec<f64>) {
        let (x, facts) = (Blocks::of(state), self.facts());
        let mut inputs = self.inputs.borrow_mut();
        self.put_inputs(x.all(), &mut inputs);
        let mut values = vec![0.0; facts.switches.len()];
        if !values.is_empty() {
            self.system.switches_with(x.all(), inputs.all(), &mut values);
        }
        let given = inputs.own()[..facts.input_names.len()].to_vec();
        drop(inputs);
        if !self.sliding.is_empty() {
            let (_, weights) = self.slide(x.all());
            self.sliding.iter().zip(weights).for_each(|(place, weight)| values[*place] = weight * (1.0 - weight));
        }
        (values, given)
    }

    /// The rate of the function of a switch in a state.
    pub(crate) fn switch_rate(&self, state: &[f64], place: usize) -> f64 {
        let x = Blocks::of(state);
        let rates = self.rates(&x);
        let mut inputs = self.inputs.borrow_mut();
        self.put_inputs(x.all(), &mut inputs);
        self.slopes(x.all(), rates.all(), &inputs)[place]
    }

    /// Puts the inputs in a state into a list; inputs of a signal that are not numbers are remembered.
    fn put_inputs(&self, x: &[f64], inputs: &mut Blocks) {
        let facts = self.system.facts();
        let Some(signal) = self.signal else {
            if self.follows_laws() {
                self.system.laws_with(x, inputs.all_mut());
            }
            return;
        };
        let (time, state) = (facts.clock.map_or(0.0, |clock| x[clock]), &x[..facts.state.len()]);
        let inputs = &mut inputs.own_mut()[..facts.input_names.len()];
        inputs.fill(0.0);
        signal.at(time, state, inputs);
        if let Some(index) = not_finite(&*inputs)
            && not_finite(state).is_none()
        {
            let name = facts.input_names.get(index).copied().unwrap_or_default();
            self.undefined.set(Some(UndefinedInput { name, value: inputs[index], time }));
        }
    }

    /// The source of its inputs, if it takes any.
    pub(crate) fn driver(&self) -> Option<&dyn Driver> {
        self.signal.is_some().then_some(self)
    }

    /// The largest rate at which its feedback damps anything.
    pub(crate) fn decay_rate(&self, x: &[f64]) -> f64 {
        match &self.feedback {
            FlatFeedback::None => 0.0,
            FlatFeedback::Relaxation { tau: time, .. } | FlatFeedback::BaeChang { h: time, .. } => time.recip(),
            FlatFeedback::Constant { declared, .. } => self.largest_decay_rate(x, declared),
        }
    }

    /// The largest eigenvalue of DF DF^T K for K = diag(`gains`), by power iteration from a vector in general position.
    fn largest_decay_rate(&self, x: &[f64], gains: &[f64]) -> f64 {
        let facts = self.system.facts();
        let mut jacobian = vec![0.0; gains.len() * facts.state.len()];
        self.system.jacobian_at(x, &mut jacobian);
        let rows = || jacobian.chunks_exact(facts.state.len());
        let mut v: Vec<f64> = (0..gains.len()).map(|i| 1.0 + 0.618 * i as f64 % 1.0).collect();
        let (mut eigenvalue, mut pulled) = (0.0, vec![0.0; facts.state.len()]);
        for _ in 0..POWER_ITERATIONS {
            let length = Scalar::sqrt(inner(&v, &v)) + TINY;
            pulled.fill(0.0);
            for ((v, gain), row) in v.iter().zip(gains).zip(rows()) {
                let factor = gain * (v / length);
                pulled.iter_mut().zip(row).for_each(|(sum, entry)| *sum = Scalar::mul_add(*entry, factor, *sum));
            }
            facts.clock.into_iter().for_each(|clock| pulled[clock] = 0.0);
            v.iter_mut().zip(rows()).for_each(|(entry, row)| *entry = inner(row, &pulled));
            eigenvalue = Scalar::sqrt(inner(&v, &v));
        }
        eigenvalue
    }
}

/// The states at this distance below and above one, in one of its entries.
fn on_both_sides(x: &Blocks, entry: usize, distance: f64) -> [Blocks; 2] {
    [-distance, distance].map(|change| {
        let mut moved = x.clone();
        moved.own_mut()[entry] += change;
        moved
    })
}

impl Driver for FlatField<'_> {
    fn hold(&self, time: f64) -> f64 {
        self.undefined.set(None);
        self.signal.map_or(f64::INFINITY, |signal| signal.hold(time))
    }

    fn range(&self) -> [f64; 2] {
        self.signal.map_or(ALWAYS, |signal| signal.range())
    }

    fn undefined(&self) -> Option<UndefinedInput> {
        self.undefined.get()
    }

    fn has_sampled_laws(&self) -> bool {
        self.signal.is_some_and(FlatSignal::has_sampled_laws)
    }
}
