//! A right-hand side x' = f(x).
//!
//! [`PlainField`] is X alone, CPV22 eq. (4), for comparison and for drift that is the method's own; with feedback it is
//! [`Feedback`](crate::Feedback).

pub(crate) mod driver;
pub(crate) mod feedback;
#[cfg(feature = "std")]
pub(crate) mod flat;
pub(crate) mod gains;
pub(crate) mod laws;
pub(crate) mod policy;
pub(crate) mod sides;

use derive_where::derive_where;

use self::laws::{Laws, under_laws};
use self::sides::{Motion, Side, Sliding};
use crate::error::failure::UndefinedInput;
use crate::numbers::entries::Entries;
#[cfg(all(feature = "std", feature = "lanes"))]
use crate::numbers::lanes::Lanes;
#[cfg(feature = "std")]
use crate::numbers::linear::filled;
use crate::numbers::scalar::Scalar;
use crate::numbers::sealed::Sealed;
use crate::system::SystemFacts;
#[cfg(feature = "std")]
use crate::system::taylor::Series;
use crate::system::{DrivenSystem, FeedbackSystem, PreparedSystem, StateEntry, Vector};

/// An autonomous ordinary differential equation x' = f(x) on R^N, in numbers of type `T`.
pub trait Field<T: Scalar = f64> {
    /// A state: `[T; N]`.
    type Vector: Entries<T>;

    /// f(x).
    fn value(&self, x: &Self::Vector) -> Self::Vector;

    /// The number of entries of a state, which a vector may have more of: those beyond are 0.
    fn dimension(&self) -> usize {
        Self::Vector::LEN
    }

    /// Calls `add(row, column, value)` for the entries of the Jacobian Df(x), several times for an entry that is a sum; beyond the state,
    /// columns are inputs. False, without a call, where the Jacobian is not known: implicit methods need it.
    fn jacobian(&self, _x: &Self::Vector, _add: &mut dyn FnMut(usize, usize, T)) -> bool {
        false
    }

    /// The largest rate at which a feedback in the field damps anything, per unit of time: what makes the field stiff. 0 without feedback.
    fn decay_rate(&self, _x: &Self::Vector) -> T {
        T::from_f64(0.0)
    }

    /// The index of the entry of the state that is the time, if there is one: integrators set it to the time they reach.
    fn clock(&self) -> Option<usize> {
        None
    }

    /// Returns `true` if an entry of the state belongs to the same variable as the one before it: a tolerance without an absolute part looks at whole
    /// vectors. By default every entry is a separate variable.
    fn continues_variable(&self, _entry: usize) -> bool {
        false
    }

    /// The source of the field's inputs, if it takes any.
    fn driver(&self) -> Option<&dyn Driver> {
        None
    }

    /// Makes it the field of a solution that starts at this state, which is given to a feedback as new targets.
    fn start_at(&mut self, _x: &Self::Vector) {}

    /// Holds its switches on these sides.
    #[doc(hidden)]
    fn hold_sides(&mut self, _sides: &[Side]) {}

    /// Holds the laws of its inputs as they are in a state, or 0 without one, from now on.
    #[doc(hidden)]
    fn hold_laws(&mut self, _x: Option<&Self::Vector>) {}

    /// Puts the inputs in a state into `inputs`.
    #[doc(hidden)]
    fn inputs(&self, _x: &Self::Vector, _inputs: &mut [f64]) {}

    /// Puts the functions at whose zeros the field switches into `values`; of one that slides, a function that is positive until it leaves.
    #[doc(hidden)]
    fn switches(&self, _x: &Self::Vector, _values: &mut [f64]) {}

    /// The rate of the function of a switch.
    #[doc(hidden)]
    fn switch_rate(&self, _x: &Self::Vector, _place: usize) -> f64 {
        0.0
    }

    /// The Taylor series of the field's solutions, or why there are none.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    fn series(&self) -> Result<Series<'_>, &'static str> {
        Err(GAINS_HAVE_NO_SERIES)
    }

    /// The number of coordinates, if these are the first entries of the state, and their rates are linear in the momenta, which come
    /// next, and depend on nothing else. 0 where that is not known.
    #[doc(hidden)]
    fn coordinates(&self) -> usize {
        0
    }

    /// The field in several states at once, if that is possible and pays.
    #[cfg(all(feature = "std", feature = "lanes"))]
    #[doc(hidden)]
    fn in_lanes(&self, _stages: usize) -> Option<std::boxed::Box<StageRates<'_>>> {
        None
    }
}

#[cfg(feature = "std")]
impl<F: Field<T> + ?Sized, T: Scalar> Field<T> for std::boxed::Box<F> {
    type Vector = F::Vector;

    #[inline]
    fn value(&self, x: &F::Vector) -> F::Vector {
        (**self).value(x)
    }

    fn dimension(&self) -> usize {
        (**self).dimension()
    }

    fn jacobian(&self, x: &F::Vector, add: &mut dyn FnMut(usize, usize, T)) -> bool {
        (**self).jacobian(x, add)
    }

    fn decay_rate(&self, x: &F::Vector) -> T {
        (**self).decay_rate(x)
    }

    fn clock(&self) -> Option<usize> {
        (**self).clock()
    }

    fn continues_variable(&self, entry: usize) -> bool {
        (**self).continues_variable(entry)
    }

    fn driver(&self) -> Option<&dyn Driver> {
        (**self).driver()
    }

    fn start_at(&mut self, x: &F::Vector) {
        (**self).start_at(x);
    }

    fn hold_sides(&mut self, sides: &[Side]) {
        (**self).hold_sides(sides);
    }

    fn hold_laws(&mut self, x: Option<&F::Vector>) {
        (**self).hold_laws(x);
    }

    fn inputs(&self, x: &F::Vector, inputs: &mut [f64]) {
        (**self).inputs(x, inputs);
    }

    fn switches(&self, x: &F::Vector, values: &mut [f64]) {
        (**self).switches(x, values);
    }

    fn switch_rate(&self, x: &F::Vector, place: usize) -> f64 {
        (**self).switch_rate(x, place)
    }

    fn coordinates(&self) -> usize {
        (**self).coordinates()
    }

    fn series(&self) -> Result<Series<'_>, &'static str> {
        (**self).series()
    }

    #[cfg(feature = "lanes")]
    fn in_lanes(&self, stages: usize) -> Option<std::boxed::Box<StageRates<'_>>> {
        (**self).in_lanes(stages)
    }
}

/// Why a field with feedback has no Taylor series.
#[cfg(feature = "std")]
pub(crate) const GAINS_HAVE_NO_SERIES: &str =
    "its field has no Taylor series: gains are code; choose a projection in place of gains, or DOP853";
/// Why a field has none whose inputs replace laws.
#[cfg(feature = "std")]
pub(crate) const OTHER_INPUTS_THAN_LAWS: &str = "other inputs were given than the laws in its series: choose DOP853";
/// Why a field has none whose laws are held.
#[cfg(feature = "std")]
pub(crate) const LAWS_ARE_SAMPLED: &str =
    "the laws of its inputs are sampled, and the series are of laws that are followed: choose DOP853";
/// Why a field has none whose inputs have none.
#[cfg(feature = "std")]
pub(crate) const INPUTS_HAVE_NO_SERIES: &str = "its inputs follow from the state or from code, and have no Taylor series: declare their laws by `input(u = ..)`, give tables or \
     smooth expressions of the time, or choose DOP853";

/// The range of inputs that are known at all times.
pub(crate) const ALWAYS: [f64; 2] = [f64::NEG_INFINITY, f64::INFINITY];

/// A source of a field's inputs, as integrators see it.
pub trait Driver {
    /// Begins a step at this time, and returns when it has to end at the latest.
    fn hold(&self, time: f64) -> f64;

    /// The first and the last time at which the inputs are known.
    fn range(&self) -> [f64; 2];

    /// An input that was not a finite number, in a finite state, since the step began.
    fn undefined(&self) -> Option<UndefinedInput>;

    /// Returns `true` if it leaves inputs to sampled laws.
    #[doc(hidden)]
    fn has_sampled_laws(&self) -> bool {
        false
    }
}

/// A field that takes inputs: X, or the field with feedback.
pub trait TakesInput<S: DrivenSystem>: Field<Vector = Vector<S>> + Sealed {
    /// [`Field::value`] with these inputs.
    fn value_with(&self, input: S::Inputs<f64>, x: &Vector<S>) -> Vector<S>;

    /// [`Field::jacobian`] with these inputs.
    fn jacobian_with(&self, input: S::Inputs<f64>, x: &Vector<S>, add: &mut dyn FnMut(usize, usize, f64)) -> bool;

    /// [`Field::switches`] with these inputs.
    #[doc(hidden)]
    fn switches_with(&self, input: S::Inputs<f64>, x: &Vector<S>, values: &mut [f64]);

    /// [`Field::switch_rate`] with these inputs.
    #[doc(hidden)]
    fn switch_rate_with(&self, input: S::Inputs<f64>, x: &Vector<S>, place: usize) -> f64;

    /// [`Field::series`] with the inputs that a function gives where the series begin.
    #[cfg(feature = "std")]
    #[doc(hidden)]
    fn series_with<'f>(&'f self, _input: std::boxed::Box<InputAt<'f, S>>) -> Result<Series<'f>, &'static str> {
        self.series()
    }

    /// The facts about the system.
    #[doc(hidden)]
    fn facts(&self) -> &'static SystemFacts;
}

/// The inputs at a state, and the coefficients of t, t^2 and so on from there, which it puts into a list that has 0 for each.
#[cfg(feature = "std")]
type InputAt<'f, S> = dyn Fn(&[f64], &mut [<S as DrivenSystem>::Inputs<f64>]) -> <S as DrivenSystem>::Inputs<f64> + 'f;

#[cfg(feature = "std")]
impl<F: Sealed + ?Sized> Sealed for std::boxed::Box<F> {}

#[cfg(feature = "std")]
impl<S: DrivenSystem, F: TakesInput<S> + ?Sized> TakesInput<S> for std::boxed::Box<F> {
    fn value_with(&self, input: S::Inputs<f64>, x: &Vector<S>) -> Vector<S> {
        (**self).value_with(input, x)
    }

    fn jacobian_with(&self, input: S::Inputs<f64>, x: &Vector<S>, add: &mut dyn FnMut(usize, usize, f64)) -> bool {
        (**self).jacobian_with(input, x, add)
    }

    fn switches_with(&self, input: S::Inputs<f64>, x: &Vector<S>, values: &mut [f64]) {
        (**self).switches_with(input, x, values);
    }

    fn switch_rate_with(&self, input: S::Inputs<f64>, x: &Vector<S>, place: usize) -> f64 {
        (**self).switch_rate_with(input, x, place)
    }

    fn series_with<'f>(&'f self, input: std::boxed::Box<InputAt<'f, S>>) -> Result<Series<'f>, &'static str> {
        (**self).series_with(input)
    }

    fn facts(&self) -> &'static SystemFacts {
        (**self).facts()
    }
}

/// The vector field X of the system `S`, without feedback.
#[derive_where(Clone, Debug)]
pub struct PlainField<S: FeedbackSystem, T: Scalar = f64> {
    system: S::Prepared<T>,
    laws: Laws,
    sliding: Sliding,
}

impl<S: FeedbackSystem> PlainField<S> {
    /// X of `system`.
    pub fn new(system: &S) -> Self {
        Self { system: system.prepare(), laws: Laws::Followed, sliding: Sliding::NONE }
    }

    /// The motion of the system.
    fn own_motion(&self) -> Motion<'_, S> {
        Motion { laws: self.laws, ..given_motion(&self.system) }
    }
}

impl<S: FeedbackSystem> Sealed for PlainField<S> {}

/// The motion of a system along X, with inputs that are given.
fn given_motion<S: FeedbackSystem>(system: &S::Prepared<f64>) -> Motion<'_, S> {
    Motion { system, laws: Laws::Held, rates: &|system, x| system.vector_field(x) }
}

impl<S: DrivenSystem> TakesInput<S> for PlainField<S> {
    #[inline]
    fn value_with(&self, input: S::Inputs<f64>, x: &Vector<S>) -> Vector<S> {
        let system = S::with_input(self.system.clone(), input);
        match self.sliding.of(system.facts()) {
            None => system.vector_field(x),
            Some(sliding) => sliding.value(&given_motion::<S>(&system), x),
        }
    }

    fn jacobian_with(&self, input: S::Inputs<f64>, x: &Vector<S>, add: &mut dyn FnMut(usize, usize, f64)) -> bool {
        let system = S::with_input(self.system.clone(), input);
        match self.sliding.of(system.facts()) {
            None => system.jacobian(x, None, add),
            Some(_) => sides::differences(x, system.facts().state.len(), &|x| self.value_with(input, x), add),
        }
    }

    fn switches_with(&self, input: S::Inputs<f64>, x: &Vector<S>, values: &mut [f64]) {
        self.sliding.switches(&given_motion::<S>(&S::with_input(self.system.clone(), input)), x, values);
    }

    fn switch_rate_with(&self, input: S::Inputs<f64>, x: &Vector<S>, place: usize) -> f64 {
        self.sliding.switch_rate(&given_motion::<S>(&S::with_input(self.system.clone(), input)), x, place)
    }

    #[cfg(feature = "std")]
    fn series_with<'f>(&'f self, input: std::boxed::Box<InputAt<'f, S>>) -> Result<Series<'f>, &'static str> {
        if self.system.facts().has_laws() {
            return Err(OTHER_INPUTS_THAN_LAWS);
        }
        let inputs = move |x: &[f64], orders: usize| {
            let mut later = std::vec![filled(0.0); orders];
            let system = S::with_input(self.system.clone(), input(x, &mut later));
            (system, Entries::flat_mut(&mut later).to_vec())
        };
        Series::of::<S>(&self.system, Some(std::boxed::Box::new(inputs)))
    }

    #[inline]
    fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }
}

#[cfg(any(feature = "ensemble", all(feature = "std", feature = "lanes")))]
impl<S: FeedbackSystem, T: Scalar> PlainField<S, T> {
    /// The fields that `member` gives for each lane.
    pub(crate) fn gather<'a>(member: &dyn Fn(usize) -> &'a PlainField<S>) -> Self {
        Self { system: S::gather(&|lane| &member(lane).system), laws: member(0).laws, sliding: Sliding::NONE }
    }
}

impl<S: FeedbackSystem, T: Scalar> PlainField<S, T> {
    /// The field in doubles, which alone has sides.
    fn in_doubles(&self) -> Option<&PlainField<S>> {
        <dyn core::any::Any>::downcast_ref(self)
    }

    #[cold]
    fn sliding_value(&self, sliding: &Sliding, x: &Vector<S, T>) -> Vector<S, T> {
        let of = |own: &PlainField<S>| sides::by_doubles(x, |x| sliding.value(&own.own_motion(), x));
        self.in_doubles().map_or(*x, of)
    }
}

impl<S: FeedbackSystem, T: Scalar> Field<T> for PlainField<S, T> {
    type Vector = Vector<S, T>;

    #[inline(always)]
    fn value(&self, x: &Vector<S, T>) -> Vector<S, T> {
        match self.sliding.of(self.system.facts()) {
            None => self.laws.apply::<S, T>(&self.system, x, &mut None).vector_field(x),
            Some(sliding) => self.sliding_value(sliding, x),
        }
    }

    fn hold_sides(&mut self, sides: &[Side]) {
        if let Some(own) = <dyn core::any::Any>::downcast_mut::<PlainField<S>>(self) {
            own.system = sides::on_sides::<S>(&own.system, sides);
            own.sliding = Sliding::along(sides);
        }
    }

    fn switches(&self, x: &Vector<S, T>, values: &mut [f64]) {
        if let (Some(own), Some(x)) = (self.in_doubles(), <dyn core::any::Any>::downcast_ref(x)) {
            own.sliding.switches(&own.own_motion(), x, values);
        }
    }

    fn switch_rate(&self, x: &Vector<S, T>, place: usize) -> f64 {
        match (self.in_doubles(), <dyn core::any::Any>::downcast_ref(x)) {
            (Some(own), Some(x)) => own.sliding.switch_rate(&own.own_motion(), x, place),
            _ => 0.0,
        }
    }

    fn inputs(&self, x: &Vector<S, T>, inputs: &mut [f64]) {
        if let (Some(own), Some(x)) = (self.in_doubles(), <dyn core::any::Any>::downcast_ref(x)) {
            own.laws.apply::<S, f64>(&own.system, x, &mut None).inputs_into(inputs);
        }
    }

    fn hold_laws(&mut self, x: Option<&Vector<S, T>>) {
        self.laws = Laws::Held;
        if let Some(x) = x {
            self.system = self.system.under_law(x);
        }
    }

    #[inline]
    fn dimension(&self) -> usize {
        self.system.facts().state.len()
    }

    fn jacobian(&self, x: &Vector<S, T>, add: &mut dyn FnMut(usize, usize, T)) -> bool {
        if self.sliding.of(self.system.facts()).is_some() {
            return sides::differences(x, self.dimension(), &|x| self.value(x), add);
        }
        under_laws::<S, T>((&self.system, self.laws), x, &mut |system, add| system.jacobian(x, None, add), add)
    }

    fn clock(&self) -> Option<usize> {
        self.system.facts().clock
    }

    #[inline]
    fn continues_variable(&self, entry: usize) -> bool {
        StateEntry::continues(self.system.facts().state, entry)
    }

    #[cfg(feature = "std")]
    fn series(&self) -> Result<Series<'_>, &'static str> {
        let field = <dyn core::any::Any>::downcast_ref::<PlainField<S>>(self);
        let field = field.ok_or("its series are of doubles")?;
        if self.laws == Laws::Held {
            return Err(LAWS_ARE_SAMPLED);
        }
        Series::of::<S>(&field.system, None)
    }

    fn coordinates(&self) -> usize {
        self.system.facts().linear_coordinates()
    }

    #[cfg(all(feature = "std", feature = "lanes"))]
    fn in_lanes(&self, stages: usize) -> Option<std::boxed::Box<StageRates<'_>>> {
        // Lanes that stages do not fill do not pay, whatever the field is; filled ones do, even if it is hardly more than functions, which
        // are computed lane by lane: the example `stages` measures it.
        let is_long = const { matches!(S::KNOWN_FACTS, Some(facts) if !facts.vector_field_operations.fit_lanes()) };
        // Lanes do not slide.
        if self.sliding.of(self.system.facts()).is_some() {
            return None;
        }
        if is_long || !self.system.facts().vector_field_operations.fit_lanes() || stages < Lanes::<1>::COUNT {
            return None;
        }
        let field = <dyn core::any::Any>::downcast_ref::<PlainField<S>>(self)?;
        let field = PlainField::<S, Lanes<1>>::gather(&|_| field);
        Some(std::boxed::Box::new(move |stages, rates, count| side_by_side(&field, stages, rates, count)))
    }
}

/// The field in all stages: for each entry of the state the numbers of all stages, and how many these are.
#[cfg(feature = "std")]
pub(crate) type StageRates<'f> = dyn Fn(&[f64], &mut [f64], usize) + 'f;

/// The field in as many stages at once as there are lanes, which `count` is a multiple of.
#[cfg(all(feature = "std", feature = "lanes"))]
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
