//! Policies for K: a constant matrix, or one made from DF where the field is evaluated.
//!
//! A constant K has units that must be guessed, and a large one makes the field stiff: violations decay at the eigenvalues
//! of DF^T K DF, and an explicit method needs h times the largest within its real stability interval. The other policies
//! name a time or a rate instead and take the size of DF out:
//!
//! - [`Relaxation`]: K = (DF DF^T + e D)^-1 / tau, D the diagonal of DF DF^T. Every violation decays as exp(-t / tau) and
//!   nothing faster. The damping e = 1e-10 keeps it finite at relative equilibria and for dependent integrals, where DF loses rank.
//! - [`BaeChang`]: K = I / (h lambda) with lambda the largest eigenvalue of DF DF^T, with which an Euler step of size h just
//!   removes the violation that decays fastest (Bae and Chang, 2025).
//!
//! Weights of integrals matter to a constant K alone: the other policies do not depend on how an integral is scaled, except [`BaeChang`],
//! which takes F as generated.
//!
//! No policy needs more generated code for a system: relaxation is X minus the generated projection with S = 1, divided by tau.

use derive_where::derive_where;

use crate::error::{Error, positive};
use crate::hold::rounding::LEAST_NOISE;
use crate::numbers::entries::{Entries, Entry};
use crate::numbers::linear::{dot, filled, inner};
use crate::numbers::scalar::Scalar;
use crate::numbers::sealed::Sealed;
use crate::system::{FeedbackLaw, FeedbackSystem, Integral, Integrals, PreparedSystem, Vector};

/// Iterations for a largest eigenvalue. They find it to a few percent even where the next one is close, and never exceed it.
pub(super) const POWER_ITERATIONS: usize = 24;
/// Keeps quotients by |dF_i|^2 or lambda finite where DF vanishes.
pub(super) const TINY: f64 = 1e-140;

/// The rule by which K follows from the state of the system `S`. [`Gains`](crate::Gains) has all policies; this trait cannot be implemented
/// for others.
pub trait GainPolicy<S: FeedbackSystem>: Entry + Sealed {
    /// The numbers of the policy, with the integrals' weights multiplied in.
    #[doc(hidden)]
    type Weighted<T: Scalar>: Entry;
    /// Whether K does not follow from the state.
    #[doc(hidden)]
    const IS_CONSTANT: bool = false;

    /// Whether K is the inverse of a matrix, in which constraints that are nearly dependent cannot be told apart.
    #[doc(hidden)]
    const INVERTS: bool = false;

    /// Refuses numbers that are not finite and positive.
    #[doc(hidden)]
    fn check(&self, integrals: &[Integral]) -> Result<(), Error>;
    /// The numbers with which W^1/2 K W^1/2 stands for K.
    #[doc(hidden)]
    fn weighted(&self, system: &S::Prepared<f64>) -> Self::Weighted<f64>;
    /// The numbers of `member(i)` in lane `i`.
    #[doc(hidden)]
    fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a Self::Weighted<f64>) -> Self::Weighted<T>;
    /// X - DF^T K (F - F_target).
    #[doc(hidden)]
    fn field<T: Scalar>(
        gain: &Self::Weighted<T>,
        system: &S::Prepared<T>,
        targets: &Targets<S, T>,
        x: &Vector<S, T>,
    ) -> Vector<S, T>;
    /// The Jacobian of [`field`](Self::field), as [`PreparedSystem::jacobian`] gives it.
    #[doc(hidden)]
    fn jacobian<T: Scalar>(
        _gain: &Self::Weighted<T>,
        _system: &S::Prepared<T>,
        _targets: &Targets<S, T>,
        _x: &Vector<S, T>,
        _add: &mut dyn FnMut(usize, usize, T),
    ) -> bool {
        false
    }
    /// The largest eigenvalue of DF^T K DF: the rate at which the violation that decays fastest does.
    #[doc(hidden)]
    fn decay_rate<T: Scalar>(gain: &Self::Weighted<T>, system: &S::Prepared<T>, x: &Vector<S, T>) -> T;
}

/// K = k I, see [`Gains::uniform`](crate::Gains::uniform).
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Uniform(pub(crate) f64);

/// K = diag(k), see [`Gains::diagonal`](crate::Gains::diagonal).
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Diagonal<S: FeedbackSystem>(pub(crate) Integrals<S>);

/// F_target, for the integrals as they are declared and for their normalised forms.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct Targets<S: FeedbackSystem, T: Scalar> {
    pub(crate) declared: Integrals<S, T>,
    pub(crate) normalised: Integrals<S, T>,
}

impl<S: FeedbackSystem, T: Scalar> Targets<S, T> {
    pub(crate) fn new(declared: Integrals<S, T>, system: &S::Prepared<T>) -> Self {
        let (count, normalisation) = (system.facts().integrals.len(), system.normalisation());
        let normalised = Entries::from_fn(|i| {
            let [_, scale, offset] = normalisation[i];
            if i < count { declared[i] / scale - offset } else { declared[i] }
        });
        Self { declared, normalised }
    }

    /// The targets of `member(i)` in lane `i`.
    #[inline(always)]
    pub(crate) fn gather<'a>(member: &dyn Fn(usize) -> &'a Targets<S, f64>) -> Self {
        Self {
            declared: Entries::from_fn(|i| T::from_lanes(&|lane| member(lane).declared[i])),
            normalised: Entries::from_fn(|i| T::from_lanes(&|lane| member(lane).normalised[i])),
        }
    }

    /// F - F_target.
    #[inline]
    pub(crate) fn changes(&self, integrals: &Integrals<S, T>) -> Integrals<S, T> {
        Entries::from_fn(|i| integrals[i] - self.declared[i])
    }
}

/// A constant diagonal K with the integrals' weights multiplied in: for the integrals as they are declared, and for their
/// normalised forms and gradients.
#[derive_where(Clone, Copy, Debug, PartialEq)]
pub struct ConstantGain<S: FeedbackSystem, T: Scalar> {
    pub(crate) declared: Integrals<S, T>,
    normalised: Integrals<S, T>,
}

impl<S: FeedbackSystem> ConstantGain<S, f64> {
    fn new(gain: impl Fn(usize) -> f64, system: &S::Prepared<f64>) -> Self {
        let normalisation = system.normalisation();
        let mut weighted = Self { declared: filled(0.0), normalised: filled(0.0) };
        for (i, integral) in system.facts().integrals.iter().enumerate() {
            let ([factor, scale, _], root) = (normalisation[i], Scalar::sqrt(integral.weight));
            weighted.declared[i] = gain(i) * integral.weight;
            weighted.normalised[i] = gain(i) * (root * factor) * (root * scale);
        }
        weighted
    }
}

impl<S: FeedbackSystem, T: Scalar> ConstantGain<S, T> {
    #[inline(always)]
    fn gather<'a>(member: &dyn Fn(usize) -> &'a ConstantGain<S, f64>) -> Self {
        Self {
            declared: Entries::from_fn(|i| T::from_lanes(&|lane| member(lane).declared[i])),
            normalised: Entries::from_fn(|i| T::from_lanes(&|lane| member(lane).normalised[i])),
        }
    }

    #[inline(always)]
    fn field(&self, system: &S::Prepared<T>, targets: &Targets<S, T>, x: &Vector<S, T>) -> Vector<S, T> {
        system.feedback_field(x, &ConstantLaw { gain: self, targets })
    }

    fn decay_rate(&self, system: &S::Prepared<T>, x: &Vector<S, T>) -> T {
        largest_decay_rate::<S, T>(system, x, &self.declared)
    }
}

/// Implements [`GainPolicy`] for a kind of gains with a constant diagonal K, whose entry is `$gain`.
macro_rules! constant {
    ($check:ident, |$policy:ident, $i:ident| $gain:expr) => {
        type Weighted<T: Scalar> = ConstantGain<S, T>;
        const IS_CONSTANT: bool = true;

        fn check(&self, integrals: &[Integral]) -> Result<(), Error> {
            $check(self, integrals)
        }

        fn weighted(&self, system: &S::Prepared<f64>) -> ConstantGain<S, f64> {
            let $policy = self;
            ConstantGain::new(|$i| $gain, system)
        }

        #[inline(always)]
        fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a ConstantGain<S, f64>) -> ConstantGain<S, T> {
            ConstantGain::gather(member)
        }

        #[inline(always)]
        fn field<T: Scalar>(
            gain: &ConstantGain<S, T>,
            system: &S::Prepared<T>,
            targets: &Targets<S, T>,
            x: &Vector<S, T>,
        ) -> Vector<S, T> {
            gain.field(system, targets, x)
        }

        fn jacobian<T: Scalar>(
            gain: &ConstantGain<S, T>,
            system: &S::Prepared<T>,
            targets: &Targets<S, T>,
            x: &Vector<S, T>,
            add: &mut dyn FnMut(usize, usize, T),
        ) -> bool {
            system.jacobian(x, Some([&gain.declared, &targets.declared]), add)
        }

        fn decay_rate<T: Scalar>(gain: &ConstantGain<S, T>, system: &S::Prepared<T>, x: &Vector<S, T>) -> T {
            gain.decay_rate(system, x)
        }
    };
}

impl Sealed for Uniform {}

impl<S: FeedbackSystem> GainPolicy<S> for Uniform {
    constant!(check_uniform, |policy, _i| policy.0);
}

impl<S: FeedbackSystem> Sealed for Diagonal<S> {}

impl<S: FeedbackSystem> GainPolicy<S> for Diagonal<S> {
    constant!(check_diagonal, |policy, i| policy.0[i]);
}

fn check_uniform(&Uniform(value): &Uniform, _: &[Integral]) -> Result<(), Error> {
    if value > 0.0 && value.is_finite() { Ok(()) } else { Err(Error::UniformGain { value }) }
}

fn check_diagonal<S: FeedbackSystem>(Diagonal(gains): &Diagonal<S>, integrals: &[Integral]) -> Result<(), Error> {
    for (&value, integral) in gains.as_ref().iter().zip(integrals) {
        if !(value > 0.0 && value.is_finite()) {
            return Err(Error::Gain { integral: integral.name, value });
        }
    }
    Ok(())
}

/// Implements the functions of a [`GainPolicy`] that is one number, `$number`, which must be positive and is `$what`.
macro_rules! one_number {
    ($number:ident, $what:literal) => {
        type Weighted<T: Scalar> = T;

        fn check(&self, _: &[Integral]) -> Result<(), Error> {
            positive($what, self.$number).map(|_| ())
        }

        fn weighted(&self, _: &S::Prepared<f64>) -> f64 {
            self.$number
        }

        #[inline(always)]
        fn gather<'a, T: Scalar>(member: &dyn Fn(usize) -> &'a f64) -> T {
            T::from_lanes(&|lane| *member(lane))
        }
    };
}

/// K = (DF DF^T + e D)^-1 / tau.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Relaxation {
    pub(crate) tau: f64,
}

impl Sealed for Relaxation {}

impl<S: FeedbackSystem> GainPolicy<S> for Relaxation {
    const INVERTS: bool = true;
    one_number!(tau, "the relaxation time tau");

    #[inline(always)]
    fn field<T: Scalar>(tau: &T, system: &S::Prepared<T>, targets: &Targets<S, T>, x: &Vector<S, T>) -> Vector<S, T> {
        let rate = tau.recip();
        let weigh = |integrals: Integrals<S, T>| {
            let changes = targets.changes(&integrals);
            Integrals::<S, T>::from_fn(|i| rate * changes[i])
        };
        // The time is not moved.
        let (mut variances, noise) = (filled(T::from_f64(1.0)), filled(T::from_f64(LEAST_NOISE)));
        system.facts().set_clock(&mut variances, 0.0);
        let feedback = system.projection(x, &variances, &noise, &Weigh(weigh));
        let field = system.vector_field(x);
        Entries::from_fn(|i| field[i] - feedback[i])
    }

    /// 1 / tau, since (DF DF^T + e D)^-1 DF DF^T has no eigenvalue beyond 1.
    fn decay_rate<T: Scalar>(tau: &T, _: &S::Prepared<T>, _: &Vector<S, T>) -> T {
        tau.recip()
    }
}

/// K = I / (h lambda), lambda the largest eigenvalue of DF DF^T.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct BaeChang {
    pub(crate) h: f64,
}

impl Sealed for BaeChang {}

impl<S: FeedbackSystem> GainPolicy<S> for BaeChang {
    one_number!(h, "the step of the gains");

    #[inline(always)]
    fn field<T: Scalar>(h: &T, system: &S::Prepared<T>, targets: &Targets<S, T>, x: &Vector<S, T>) -> Vector<S, T> {
        let lambda = largest_decay_rate::<S, T>(system, x, &filled(T::from_f64(1.0)));
        let uniform = (*h * (lambda + T::from_f64(TINY))).recip();
        let weigh = |integrals: Integrals<S, T>| {
            let changes = targets.changes(&integrals);
            Integrals::<S, T>::from_fn(|i| uniform * changes[i])
        };
        system.feedback_field(x, &Weigh(weigh))
    }

    /// 1 / h, by definition.
    fn decay_rate<T: Scalar>(h: &T, _: &S::Prepared<T>, _: &Vector<S, T>) -> T {
        h.recip()
    }
}

/// A feedback law for one evaluation of the field: the function that gives y from F.
struct Weigh<F>(F);

impl<S, T, F> FeedbackLaw<S, T> for Weigh<F>
where
    S: FeedbackSystem,
    T: Scalar,
    F: Fn(Integrals<S, T>) -> Integrals<S, T>,
{
    #[inline]
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        (self.0)(integrals)
    }
}

/// y = K (F - F_target) with a constant K.
struct ConstantLaw<'a, S: FeedbackSystem, T: Scalar> {
    gain: &'a ConstantGain<S, T>,
    targets: &'a Targets<S, T>,
}

impl<S: FeedbackSystem, T: Scalar> FeedbackLaw<S, T> for ConstantLaw<'_, S, T> {
    #[inline]
    fn weigh(&self, integrals: Integrals<S, T>) -> Integrals<S, T> {
        let changes = self.targets.changes(&integrals);
        Entries::from_fn(|i| self.gain.declared[i] * changes[i])
    }

    #[inline]
    fn weigh_normalised(&self, forms: Integrals<S, T>, system: &S::Prepared<T>) -> Integrals<S, T> {
        let zero_targets = system.zero_targets();
        Entries::from_fn(|i| {
            let change = if zero_targets[i] { forms[i] } else { forms[i] - self.targets.normalised[i] };
            self.gain.normalised[i] * change
        })
    }
}

/// The largest eigenvalue of DF DF^T K, which is also the largest of DF^T K DF, for K = diag(`gains`). It is long, and compiled
/// once for all kinds of gains.
#[inline(never)]
fn largest_decay_rate<S: FeedbackSystem, T: Scalar>(
    system: &S::Prepared<T>,
    x: &Vector<S, T>,
    gains: &Integrals<S, T>,
) -> T {
    let jacobian = system.integrals_jacobian(x);
    let facts = system.facts();
    let (rows, columns) = (facts.integrals.len(), facts.state.len());
    largest_eigenvalue(rows, |v: &Integrals<S, T>| {
        // DF^T K v, without what would move the time.
        let mut pulled: Vector<S, T> = filled(T::from_f64(0.0));
        for (i, row) in jacobian.as_ref()[..rows].iter().enumerate() {
            let factor = gains[i] * v[i];
            for (sum, &entry) in pulled.as_mut()[..columns].iter_mut().zip(row.as_ref()) {
                *sum = entry.mul_add(factor, *sum);
            }
        }
        facts.set_clock(&mut pulled, 0.0);
        let mut product: Integrals<S, T> = filled(T::from_f64(0.0));
        for (entry, row) in product.as_mut()[..rows].iter_mut().zip(jacobian.as_ref()) {
            *entry = inner(&row.as_ref()[..columns], pulled.as_ref());
        }
        product
    })
}

/// By power iteration from a vector in general position, for a matrix of this size that is similar to a positive semidefinite one.
#[inline]
fn largest_eigenvalue<V: Entries<T>, T: Scalar>(size: usize, apply: impl Fn(&V) -> V) -> T {
    let mut v = V::from_fn(|i| T::from_f64(if i < size { 1.0 + 0.618 * i as f64 % 1.0 } else { 0.0 }));
    let mut eigenvalue = T::from_f64(0.0);
    for _ in 0..POWER_ITERATIONS {
        let length = dot(&v, &v).sqrt() + T::from_f64(TINY);
        v = apply(&V::from_fn(|i| v[i] / length));
        eigenvalue = dot(&v, &v).sqrt();
    }
    eigenvalue
}

#[cfg(test)]
mod tests {
    use super::largest_eigenvalue;

    /// A start with equal entries would never find it.
    #[test]
    fn an_eigenvector_across_equal_entries_is_found() {
        let eigenvalue: f64 = largest_eigenvalue(2, |[a, b]: &[f64; 2]| [2.0 * a - b, 2.0 * b - a]);
        assert!((eigenvalue - 3.0).abs() < 1e-9, "{eigenvalue}");
    }
}
