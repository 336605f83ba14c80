//! Inputs that are given from outside, instead of a model's own.

use std::cell::RefCell;
use std::fmt;
use std::sync::Arc;

use fbint_runtime::SystemFacts;

use crate::flat_model::{FlatModel, FlatSignal};
use crate::flat_system::even;
use crate::functions::{Functions, Given, ListFunction, Source};

/// Some inputs of a model, by their names, and what gives them.
#[derive(Clone)]
pub struct Inputs {
    names: Vec<&'static str>,
    switching: Vec<&'static str>,
    make: Arc<dyn Fn() -> Box<dyn FlatSignal> + Send + Sync>,
}

impl Inputs {
    /// The inputs of these names, which a signal puts into their places and leaves the others as they are. Each run makes its own.
    pub fn new(names: Vec<&'static str>, make: impl Fn() -> Box<dyn FlatSignal> + Send + Sync + 'static) -> Self {
        Self { names, switching: Vec::new(), make: Arc::new(make) }
    }

    /// These inputs, with the names of those that follow laws whose switches end no step.
    #[must_use]
    pub fn switching(self, switching: Vec<&'static str>) -> Self {
        Self { switching, ..self }
    }

    /// The inputs with laws that switch without ending a step.
    pub fn that_switch(&self) -> &[&'static str] {
        &self.switching
    }

    /// These inputs, and others where these give none.
    #[must_use]
    pub fn or(self, others: &Self) -> Self {
        let (own, others) = (self, others.clone());
        let both = |own: &[&'static str], others: &[&'static str]| [own, others].concat();
        let (names, switching) = (both(&own.names, &others.names), both(&own.switching, &others.switching));
        Self::new(names, move || Box::new(Both([(others.make)(), (own.make)()]))).switching(switching)
    }

    /// Returns `true` if they give this input.
    pub fn give(&self, name: &str) -> bool {
        self.names.contains(&name)
    }

    /// All inputs of a model: these, and its own in the other places.
    pub(crate) fn of(&self, model: &dyn FlatModel) -> Replaced {
        let (functions, facts) = (model.functions(), model.facts());
        let is_by_law = |name: &&&str| !facts.open_inputs.contains(*name) && !self.give(name);
        let has_laws = facts.has_laws() && facts.input_names.iter().any(|name| is_by_law(&name));
        let has_samples = facts.law_delay.is_some() && has_laws;
        Replaced {
            has_laws,
            own: model.input(),
            functions,
            facts,
            prepared: even(&model.prepared()).into_owned(),
            samples: has_samples.then(RefCell::default),
            given: (self.make)(),
        }
    }
}

// By hand, because functions cannot be printed.
impl fmt::Debug for Inputs {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Inputs").field("names", &self.names).finish_non_exhaustive()
    }
}

/// Two signals, the second of which decides where both give an input.
struct Both([Box<dyn FlatSignal>; 2]);

/// The inputs of a model, where some are given, or its own.
pub(crate) fn signal(model: &dyn FlatModel, given: Option<&Inputs>) -> Option<Box<dyn FlatSignal>> {
    match given {
        Some(inputs) => Some(Box::new(inputs.of(model))),
        None => model.input(),
    }
}

impl FlatSignal for Both {
    fn at(&self, time: f64, state: &[f64], inputs: &mut [f64]) {
        self.0.iter().for_each(|signal| signal.at(time, state, inputs));
    }

    fn hold(&self, time: f64) -> f64 {
        self.0.iter().map(|signal| signal.hold(time)).fold(f64::INFINITY, f64::min)
    }

    fn range(&self) -> [f64; 2] {
        let [[first, last], [begin, end]] = self.0.each_ref().map(|signal| signal.range());
        [first.max(begin), last.min(end)]
    }

    fn series(&self, time: f64, stride: usize, later: &mut [f64]) -> bool {
        self.0.iter().all(|signal| signal.series(time, stride, later))
    }

    fn copied(&self) -> Box<dyn FlatSignal> {
        Box::new(Self(self.0.each_ref().map(|signal| signal.copied())))
    }
}

/// A model's own inputs, with values that are given for some.
pub(crate) struct Replaced {
    own: Option<Box<dyn FlatSignal>>,
    functions: Arc<dyn Functions<f64>>,
    facts: &'static SystemFacts,
    prepared: Vec<f64>,
    /// `true` if laws of the model are left.
    has_laws: bool,
    /// The last sample of the laws, where they are sampled and some are left.
    samples: Option<RefCell<Vec<f64>>>,
    given: Box<dyn FlatSignal>,
}

impl Replaced {
    fn by_law(&self, state: &[f64]) -> Vec<f64> {
        by_law(&*self.functions, self.facts, &self.prepared, state)
    }
}

impl FlatSignal for Replaced {
    fn at(&self, time: f64, state: &[f64], inputs: &mut [f64]) {
        let put = |inputs: &mut [f64], laws: &[f64]| inputs.iter_mut().zip(laws).for_each(|(input, law)| *input = *law);
        match (&self.own, &self.samples) {
            (Some(own), _) => own.at(time, state, inputs),
            (None, Some(samples)) => put(inputs, &samples.borrow()),
            (None, None) if self.has_laws => put(inputs, &self.by_law(state)),
            (None, None) => {}
        }
        self.given.at(time, state, inputs);
    }

    fn hold(&self, time: f64) -> f64 {
        self.own.as_ref().map_or(f64::INFINITY, |own| own.hold(time)).min(self.given.hold(time))
    }

    fn range(&self) -> [f64; 2] {
        let [first, last] = self.given.range();
        self.own.as_ref().map_or([first, last], |own| [own.range()[0].max(first), own.range()[1].min(last)])
    }

    fn series(&self, time: f64, stride: usize, later: &mut [f64]) -> bool {
        let have_own = match &self.own {
            Some(own) => own.series(time, stride, later),
            None => !self.has_laws || self.samples.is_some(),
        };
        have_own && self.given.series(time, stride, later)
    }

    fn has_sampled_laws(&self) -> bool {
        self.samples.is_some()
    }

    fn hold_laws(&self, state: Option<&[f64]>) {
        if let Some(samples) = &self.samples {
            *samples.borrow_mut() = state.map_or(Vec::new(), |state| self.by_law(state));
        }
    }

    fn copied(&self) -> Box<dyn FlatSignal> {
        let (own, prepared) = (self.own.as_ref().map(|own| own.copied()), self.prepared.clone());
        let functions = Arc::clone(&self.functions);
        Box::new(Self { own, functions, prepared, samples: self.samples.clone(), given: self.given.copied(), ..*self })
    }
}

/// The inputs that a model gives itself in a state, followed by a zero if their number is odd; those that nothing gives are 0.
pub(crate) fn own_inputs(model: &dyn FlatModel, prepared: &[f64], state: &[f64]) -> Vec<f64> {
    let facts = model.facts();
    match model.input() {
        Some(own) => {
            let (time, mut inputs) = (facts.clock.map_or(0.0, |clock| state[clock]), vec![0.0; facts.given_numbers()]);
            // A table has to know the time before it is asked.
            own.hold(time);
            own.at(time, state, &mut inputs);
            even(&inputs).into_owned()
        }
        None if facts.has_laws() => by_law(&*model.functions(), facts, prepared, state),
        None => vec![0.0; facts.given_numbers().next_multiple_of(2)],
    }
}

/// The inputs by their laws; those without one are 0.
fn by_law(functions: &dyn Functions<f64>, facts: &SystemFacts, prepared: &[f64], state: &[f64]) -> Vec<f64> {
    let (state, open) = (even(state), vec![0.0; facts.given_numbers().next_multiple_of(2)]);
    let given = Given::default().with(Source::State, &state).with(Source::Prepared, prepared);
    let (given, mut list) = (given.with(Source::Inputs, &open), open.clone());
    functions.list(ListFunction::Law, &given, &|_| {}, &mut list);
    list
}
