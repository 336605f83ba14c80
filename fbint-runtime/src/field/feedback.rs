//! The feedback field x' = X(x) - DF^T K (F - F_target), CPV22 eq. (6) with L = 1, of a system that starts somewhere.
//!
//! The start fixes F_target: 0 for constraints, the value at the start for the energy and the invariants. Everything that
//! can be wrong is refused when a [`Feedback`] is made; from then on nothing allocates and nothing panics.

use core::any::Any;

use derive_where::derive_where;

use crate::error::Error;
use crate::field::gains::Gains;
use crate::field::laws::{Laws, under_laws};
use crate::field::policy::{ConstantGain, GainPolicy, Targets};
use crate::field::sides::{self, Motion, Side, Sliding};
use crate::field::{Field, TakesInput};
use crate::hold::consistent_start::{check_distinct, check_start, targets};
use crate::numbers::scalar::Scalar;
use crate::numbers::sealed::Sealed;
use crate::stages::tableau::{EULER, RK4};
use crate::system::SystemFacts;
use crate::system::{DrivenSystem, FeedbackSystem, Integrals, PreparedSystem, StateEntry, Vector};

/// The feedback field of the system `S` with gains of the kind `K`, in numbers of type `T`, ready to be integrated.
#[derive_where(Clone, Debug)]
pub struct Feedback<S: FeedbackSystem, K: GainPolicy<S>, T: Scalar = f64> {
    system: S::Prepared<T>,
    gain: K::Weighted<T>,
    targets: Targets<S, T>,
    laws: Laws,
    sliding: Sliding,
}

impl<S: FeedbackSystem, K: GainPolicy<S>> Feedback<S, K> {
    /// The feedback field of `system` for solutions that start at `start`.
    ///
    /// # Errors
    ///
    /// If a parameter or an entry of the start is not finite, if the start is off the constraint set, or if a gain, or the time
    /// or rate in its place, is not positive, or if a relaxation cannot tell constraints of a given field apart. A constraint g
    /// counts as satisfied where |g| <= 1e-8 (1 + sum_j |dg/dx_j| |x_j|), which is what a start given to eight digits achieves.
    pub fn new(system: &S, start: &Vector<S>, gains: Gains<K>) -> Result<Self, Error> {
        let integrals = check_start(system, start)?;
        gains.0.check(system.facts().integrals)?;
        let system = system.prepare();
        if K::INVERTS {
            check_distinct::<S>(&system, start, false)?;
        }
        let (gain, targets) = (gains.0.weighted(&system), Targets::new(integrals, &system));
        Ok(Self { system, gain, targets, laws: Laws::Followed, sliding: Sliding::NONE })
    }

    /// The feedback field in numbers of another type, for example in single precision or in dual numbers.
    pub fn cast<T: Scalar>(&self) -> Feedback<S, K, T> {
        Feedback::gather(&|_| self)
    }
}

impl<S: FeedbackSystem, K: GainPolicy<S>, T: Scalar> Feedback<S, K, T> {
    /// The feedback fields of `member(i)` in lane `i`.
    pub(crate) fn gather<'a>(member: &dyn Fn(usize) -> &'a Feedback<S, K>) -> Self {
        Self {
            system: S::gather(&|lane| &member(lane).system),
            gain: K::gather(&|lane| &member(lane).gain),
            targets: Targets::gather(&|lane| &member(lane).targets),
            laws: member(0).laws,
            sliding: Sliding::NONE,
        }
    }

    /// F_target.
    pub fn targets(&self) -> &Integrals<S, T> {
        &self.targets.declared
    }

    /// The distance of every integral from its target, dF = F(x) - F_target.
    #[inline]
    pub fn violations(&self, x: &Vector<S, T>) -> Integrals<S, T> {
        self.targets.changes(&self.system.integrals(x))
    }

    /// The field of the system with inputs that are given.
    #[inline(always)]
    fn rates(&self, system: &S::Prepared<T>, x: &Vector<S, T>) -> Vector<S, T> {
        K::field(&self.gain, system, &self.targets, x)
    }

    /// The field in doubles, which alone has sides.
    fn in_doubles(&self) -> Option<&Feedback<S, K>> {
        <dyn Any>::downcast_ref(self)
    }

    #[cold]
    fn sliding_value(&self, sliding: &Sliding, x: &Vector<S, T>) -> Vector<S, T> {
        let of = |own: &Feedback<S, K>| {
            sides::by_doubles(x, |x| sliding.value(&own.own_motion(&|system, x| own.rates(system, x)), x))
        };
        self.in_doubles().map_or(*x, of)
    }

    /// One step of the explicit Euler method.
    #[inline]
    pub fn euler_step(&self, x: &mut Vector<S, T>, h: T) {
        EULER.step(|x| self.value(x), x, h);
    }

    /// One step of the classical Runge-Kutta method of order 4.
    #[inline]
    pub fn rk4_step(&self, x: &mut Vector<S, T>, h: T) {
        RK4.step(|x| self.value(x), x, h);
    }
}

impl<S, K, T> Feedback<S, K, T>
where
    S: FeedbackSystem,
    K: GainPolicy<S, Weighted<T> = ConstantGain<S, T>>,
    T: Scalar,
{
    /// The system.
    pub(crate) fn system(&self) -> &S::Prepared<T> {
        &self.system
    }

    /// The gains.
    pub(crate) fn constant_gains(&self) -> &Integrals<S, T> {
        &self.gain.declared
    }

    /// The feedback potential V(x) = 1/2 dF^T K dF, for gains that do not depend on the state.
    pub fn potential(&self, x: &Vector<S, T>) -> T {
        let changes = self.violations(x);
        let terms = changes.as_ref().iter().zip(self.gain.declared.as_ref());
        let half = T::from_f64(0.5);
        terms.fold(T::from_f64(0.0), |sum, (&change, &gain)| (half * change).mul_add(gain * change, sum))
    }
}

impl<S: FeedbackSystem, K: GainPolicy<S>> Feedback<S, K> {
    /// The motion of the system by these rates, with inputs by their laws.
    fn own_motion<'f>(&'f self, rates: &'f sides::Rates<'f, S>) -> Motion<'f, S> {
        Motion { system: &self.system, laws: self.laws, rates }
    }
}

impl<S: FeedbackSystem, K: GainPolicy<S>> Sealed for Feedback<S, K> {}

impl<S: DrivenSystem, K: GainPolicy<S>> TakesInput<S> for Feedback<S, K> {
    #[inline]
    fn value_with(&self, input: S::Inputs<f64>, x: &Vector<S>) -> Vector<S> {
        let system = S::with_input(self.system.clone(), input);
        match self.sliding.of(system.facts()) {
            None => self.rates(&system, x),
            Some(sliding) => {
                let rates = |system: &S::Prepared<f64>, x: &Vector<S>| self.rates(system, x);
                sliding.value(&Motion::<S> { system: &system, laws: Laws::Held, rates: &rates }, x)
            }
        }
    }

    fn jacobian_with(&self, input: S::Inputs<f64>, x: &Vector<S>, add: &mut dyn FnMut(usize, usize, f64)) -> bool {
        let system = S::with_input(self.system.clone(), input);
        match self.sliding.of(system.facts()) {
            None => K::jacobian(&self.gain, &system, &self.targets, x, add),
            Some(_) => sides::differences(x, self.dimension(), &|x| self.value_with(input, x), add),
        }
    }

    fn switches_with(&self, input: S::Inputs<f64>, x: &Vector<S>, values: &mut [f64]) {
        let rates = |system: &S::Prepared<f64>, x: &Vector<S>| self.rates(system, x);
        let system = &S::with_input(self.system.clone(), input);
        self.sliding.switches(&Motion::<S> { system, laws: Laws::Held, rates: &rates }, x, values);
    }

    fn switch_rate_with(&self, input: S::Inputs<f64>, x: &Vector<S>, place: usize) -> f64 {
        let rates = |system: &S::Prepared<f64>, x: &Vector<S>| self.rates(system, x);
        let system = &S::with_input(self.system.clone(), input);
        self.sliding.switch_rate(&Motion::<S> { system, laws: Laws::Held, rates: &rates }, x, place)
    }

    #[inline]
    fn facts(&self) -> &'static SystemFacts {
        self.system.facts()
    }
}

impl<S: FeedbackSystem, K: GainPolicy<S>, T: Scalar> Field<T> for Feedback<S, K, T> {
    type Vector = Vector<S, T>;

    #[inline(always)]
    fn value(&self, x: &Vector<S, T>) -> Vector<S, T> {
        match self.sliding.of(self.system.facts()) {
            None => self.rates(self.laws.apply::<S, T>(&self.system, x, &mut None), x),
            Some(sliding) => self.sliding_value(sliding, x),
        }
    }

    fn hold_sides(&mut self, sides: &[Side]) {
        if let Some(own) = <dyn Any>::downcast_mut::<Feedback<S, K>>(self) {
            own.system = sides::on_sides::<S>(&own.system, sides);
            own.sliding = Sliding::along(sides);
        }
    }

    fn switches(&self, x: &Vector<S, T>, values: &mut [f64]) {
        if let (Some(own), Some(x)) = (self.in_doubles(), <dyn Any>::downcast_ref(x)) {
            own.sliding.switches(&own.own_motion(&|system, x| own.rates(system, x)), x, values);
        }
    }

    fn switch_rate(&self, x: &Vector<S, T>, place: usize) -> f64 {
        match (self.in_doubles(), <dyn Any>::downcast_ref(x)) {
            (Some(own), Some(x)) => {
                own.sliding.switch_rate(&own.own_motion(&|system, x| own.rates(system, x)), x, place)
            }
            _ => 0.0,
        }
    }

    fn inputs(&self, x: &Vector<S, T>, inputs: &mut [f64]) {
        if let (Some(own), Some(x)) = (self.in_doubles(), <dyn Any>::downcast_ref(x)) {
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

    /// Known where the gains do not depend on the state.
    fn jacobian(&self, x: &Vector<S, T>, add: &mut dyn FnMut(usize, usize, T)) -> bool {
        if self.sliding.of(self.system.facts()).is_some() {
            return sides::differences(x, self.dimension(), &|x| self.value(x), add);
        }
        let Self { system, gain, targets, laws, .. } = self;
        under_laws::<S, T>((system, *laws), x, &mut |system, add| K::jacobian(gain, system, targets, x, add), add)
    }

    /// The largest eigenvalue of DF^T K DF at x: the rate, per unit of time, at which the violation that decays fastest does.
    ///
    /// An explicit method with a fixed step h is stable if h times this rate is within its real stability interval, which ends
    /// at 2 for methods of order 1 and 2 with as many stages and at 2.785 for the classical one of order 4.
    fn decay_rate(&self, x: &Vector<S, T>) -> T {
        K::decay_rate(&self.gain, &self.system, x)
    }

    fn clock(&self) -> Option<usize> {
        self.system.facts().clock
    }

    #[inline]
    fn continues_variable(&self, entry: usize) -> bool {
        StateEntry::continues(self.system.facts().state, entry)
    }

    fn start_at(&mut self, x: &Vector<S, T>) {
        self.targets = Targets::new(targets::<S, T>(&self.system, x), &self.system);
    }
}
