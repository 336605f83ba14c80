//! The coefficients of the explicit Runge-Kutta methods, and the step with them.
//!
//! A method with S stages is k_i = f(x + h sum_{j<i} a_ij k_j), x += h sum_i b_i k_i (HNW II.1). The fields here do not
//! depend on time, so that the nodes c_i = sum_j a_ij are not needed.
//!
//! HNW is E. Hairer, S. P. Norsett, G. Wanner, *Solving Ordinary Differential Equations I*, 2nd ed. The coefficients of the two methods of
//! Dormand and Prince and the constants of their controllers come from its authors' codes DOPRI5 and DOP853.
//!
//! ```
//! use fbint_runtime::tableau::HEUN;
//!
//! let oscillator = |x: &[f64; 2]| [x[1], -x[0]];
//! let mut x = [1.0, 0.0];
//! for _ in 0..1000 {
//!     HEUN.step(oscillator, &mut x, 1e-3);
//! }
//! assert!((x[0] - 1.0_f64.cos()).abs() < 1e-6);
//! ```

mod pair;

#[cfg(feature = "ensemble")]
pub(crate) use self::pair::MOST_STAGES;
pub(crate) use self::pair::{ControlConstants, DOP853_PAIR, DORMAND_PRINCE_PAIR, ErrorEstimate, Pair, Response};
pub use self::pair::{DOP853, DORMAND_PRINCE};
#[cfg(feature = "std")]
pub(crate) use self::pair::{Weights, combined, row, table};
use crate::numbers::entries::Entries;
use crate::numbers::linear::{filled, sum};
use crate::numbers::scalar::Scalar;
use crate::system::SystemFacts;

/// The coefficients of an explicit Runge-Kutta method with S stages.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tableau<const S: usize> {
    a: [[f64; S]; S],
    b: [f64; S],
    /// Whether stage i starts from x and the stage before it alone, so that its start is one fused product.
    follows: [bool; S],
    /// `true` if b reads the same backwards, so that stages come in pairs of equal weight. A single stage counts as one, too.
    is_symmetric: bool,
    error: Difference<S>,
    /// The estimate where forces do not change along the motion alone: with the time, or because they switch within a step.
    error_of_switching: Difference<S>,
}

/// A difference of stages that estimates the error of a step, entry by entry: h (sum_i stages_i k_i + end f(x after the step)).
///
/// A projection takes it for the size of the error relative to other entries' errors, and so it may be of a lower order than the error
/// itself. Where all stages are equal it vanishes, exactly so for the methods of order 1, 2 and 4.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Difference<const S: usize> {
    /// The weights of the stages, in units of h.
    pub(crate) stages: [f64; S],
    /// The weight of f at the end of the step.
    pub(crate) end: f64,
}

impl<const S: usize> Difference<S> {
    /// The estimate of the error of a step of size `h`, from its stages and f where it ends.
    #[inline]
    pub(crate) fn of<V: Entries<T>, T: Scalar>(&self, stages: &[V; S], end: &V, h: T) -> V {
        self.of_stages(stages).with_end(end, h)
    }

    /// The part of the estimate that the stages have in it.
    #[inline]
    pub(crate) fn of_stages<V: Entries<T>, T: Scalar>(&self, stages: &[V; S]) -> Unfinished<V> {
        // A sum that starts from -0 starts from its first term, also in the eyes of a compiler.
        let mut sum: V = filled(T::from_f64(-0.0));
        for (k, &weight) in stages.iter().zip(&self.stages) {
            add(&mut sum, T::from_f64(1.0), weight, k);
        }
        Unfinished { sum, end: self.end }
    }
}

/// A [`Difference`] in which f at the end of the step is missing.
pub(crate) struct Unfinished<V> {
    sum: V,
    /// The weight of what is missing.
    end: f64,
}

impl<V> Unfinished<V> {
    /// The estimate of the error of a step of size `h`, with f where it ends.
    #[inline]
    pub(crate) fn with_end<T: Scalar>(mut self, end: &V, h: T) -> V
    where
        V: Entries<T>,
    {
        add(&mut self.sum, T::from_f64(1.0), self.end, end);
        // The step is multiplied last: differences of equal stages are exactly 0.
        V::from_fn(|i| h * self.sum[i])
    }
}

/// The explicit Euler method, of order 1.
pub const EULER: Tableau<1> = Tableau::new([[0.0]], [1.0], Difference { stages: [-1.0], end: 1.0 });

/// The explicit midpoint rule, of order 2 (Runge 1895).
pub const MIDPOINT: Tableau<2> =
    Tableau::new([[0.0, 0.0], [0.5, 0.0]], [0.0, 1.0], Difference { stages: [1.0, -2.0], end: 1.0 });

/// The explicit trapezoidal rule, of order 2, known as Heun's method.
pub const HEUN: Tableau<2> =
    Tableau::new([[0.0, 0.0], [1.0, 0.0]], [0.5, 0.5], Difference { stages: [0.0, -1.0], end: 1.0 })
        .switching(Difference { stages: [0.125, -1.125], end: 1.0 });

/// The classical method of order 4 (Kutta 1901).
pub const RK4: Tableau<4> = Tableau::new(
    [[0.0; 4], [0.5, 0.0, 0.0, 0.0], [0.0, 0.5, 0.0, 0.0], [0.0, 0.0, 1.0, 0.0]],
    [1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0],
    Difference { stages: [0.0, 0.0, 0.0, -1.0], end: 1.0 },
)
.switching(Difference { stages: [0.125, -0.125, -0.125, -0.875], end: 1.0 });

impl<const S: usize> Tableau<S> {
    const fn new(a: [[f64; S]; S], b: [f64; S], error: Difference<S>) -> Self {
        let mut follows = [true; S];
        let mut i = 0;
        while i < S {
            let mut j = 0;
            while j + 1 < i {
                follows[i] &= a[i][j] == 0.0;
                j += 1;
            }
            i += 1;
        }
        let mut is_symmetric = S == 1 || S.is_multiple_of(2);
        let mut i = 0;
        while i < S {
            is_symmetric &= b[i] == b[S - 1 - i];
            i += 1;
        }
        Self { a, b, follows, is_symmetric, error, error_of_switching: error }
    }

    /// This method with another estimate where forces do not change along the motion alone. The last stage is at the end of the step,
    /// as f is that it is compared with: they differ by none of what the time changes, and by little of what switches before.
    const fn switching(self, error_of_switching: Difference<S>) -> Self {
        Self { error_of_switching, ..self }
    }

    /// One step of size `h` along x' = `field`(x).
    #[inline]
    pub fn step<V: Entries<T>, T: Scalar>(&self, field: impl Fn(&V) -> V, x: &mut V, h: T) {
        let first = field(x);
        // By reference, as a projected step has it, so that both share one compilation of the stages.
        self.stages(&field, x, h, first);
    }

    /// One step of size `h` along x' = `field`(x) with f(x) = `first`; returns its stages.
    #[inline]
    pub(crate) fn stages<V: Entries<T>, T: Scalar>(
        &self,
        field: impl Fn(&V) -> V,
        x: &mut V,
        h: T,
        first: V,
    ) -> [V; S] {
        let mut latest = first;
        let mut k = [latest; S];
        macro_rules! stage {
            ($i:expr) => {
                latest = field(&self.stage($i, x, h, &k, &latest));
                k[$i] = latest;
            };
        }
        // Few stages are unrolled by hand, and stay in registers whatever the size of the field. Many are better off in memory.
        if S > 4 {
            for i in 1..S {
                stage!(i);
            }
        } else {
            if S > 1 {
                stage!(1);
            }
            if S > 2 {
                stage!(2);
            }
            if S > 3 {
                stage!(3);
            }
        }
        *x = self.end(x, h, &k, &latest);
        k
    }

    /// Where stage `i` > 0 is evaluated.
    #[inline(always)]
    fn stage<V: Entries<T>, T: Scalar>(&self, i: usize, x: &V, h: T, k: &[V; S], latest: &V) -> V {
        if self.follows[i] {
            fused(h * T::from_f64(self.a[i][i - 1]), latest, x)
        } else {
            extended(x, h, &k[..i - 1], latest, &self.a[i])
        }
    }

    /// Where the step ends.
    #[inline(always)]
    fn end<V: Entries<T>, T: Scalar>(&self, x: &V, h: T, k: &[V; S], latest: &V) -> V {
        if !self.is_symmetric {
            return extended(x, h, &k[..S.saturating_sub(1)], latest, &self.b);
        }
        // Stages of equal weight are added first, the latest last, and the outermost weight is multiplied once.
        let mut sum = k[0];
        for i in 1..S / 2 {
            let inner = V::from_fn(|entry| k[i][entry] + k[S - 1 - i][entry]);
            sum = fused(T::from_f64(self.b[i] / self.b[0]), &inner, &sum);
        }
        if S > 1 {
            sum = V::from_fn(|entry| sum[entry] + latest[entry]);
        }
        fused(h * T::from_f64(self.b[0]), &sum, x)
    }

    /// Where stage `i` is evaluated, with the rounding of a step: x + h sum_{j<i} a_ij k_j.
    pub(crate) fn point<V: Entries<T>, T: Scalar>(&self, i: usize, x: &V, h: T, k: &[V; S]) -> V {
        k[..i].last().map_or(*x, |latest| self.stage(i, x, h, k, latest))
    }

    /// Where a step ends, with its rounding: x + h sum_i b_i k_i.
    pub(crate) fn end_of<V: Entries<T>, T: Scalar>(&self, x: &V, h: T, k: &[V; S]) -> V {
        k.last().map_or(*x, |latest| self.end(x, h, k, latest))
    }

    /// h b_i w + h sum_{j>i} a_ji m_j
    pub(crate) fn transposed<V: Entries<f64>>(&self, w: &V, h: f64, i: usize, m: &[V; S]) -> V {
        let weighted = sum(&filled(0.0), h * self.b[i], w);
        let terms = m.iter().zip(&self.a).skip(i + 1).filter(|(_, row)| row[i] != 0.0);
        terms.fold(weighted, |total, (m, row)| sum(&total, h * row[i], m))
    }

    /// The estimate of the error of a step within which forces may have switched.
    pub(crate) const fn error_of_switching(&self) -> &Difference<S> {
        &self.error_of_switching
    }

    /// The estimate of the error of a step of a system.
    pub(crate) const fn error_of(&self, facts: &SystemFacts) -> &Difference<S> {
        if facts.clock.is_some() { &self.error_of_switching } else { &self.error }
    }
}

/// summand + factor v, entry by entry.
///
/// It is written in short loops that a compiler unrolls, so that a long vector, too, need not pass through memory: wide loads of entries
/// that were stored one by one wait until all have arrived there.
#[inline(always)]
fn fused<V: Entries<T>, T: Scalar>(factor: T, v: &V, summand: &V) -> V {
    const SHORT: usize = 16;
    let mut sum = *summand;
    macro_rules! add {
        ($($start:literal)*) => {$(
            if $start < V::LEN {
                for i in $start..V::LEN.min($start + SHORT) {
                    sum[i] = factor.mul_add(v[i], sum[i]);
                }
            }
        )*};
    }
    add!(0 16 32 48 64 80 96 112 128 144 160 176);
    for i in 12 * SHORT..V::LEN {
        sum[i] = factor.mul_add(v[i], sum[i]);
    }
    sum
}

/// x + h sum_j a_j k_j.
#[inline]
pub(crate) fn advanced<V: Entries<T>, T: Scalar>(x: &V, h: T, k: &[V], a: &[f64]) -> V {
    match k.split_last() {
        Some((latest, earlier)) => extended(x, h, earlier, latest, a),
        None => *x,
    }
}

/// As [`advanced`] by the `earlier` stages and the `latest`, which need not wait for its way through memory.
#[inline]
pub(crate) fn extended<V: Entries<T>, T: Scalar>(x: &V, h: T, earlier: &[V], latest: &V, a: &[f64]) -> V {
    // A sum that starts from -0 starts from its first term, also in the eyes of a compiler.
    let mut sum: V = filled(T::from_f64(-0.0));
    for (k, &a) in earlier.iter().zip(a) {
        add(&mut sum, h, a, k);
    }
    if let Some(&a) = a.get(earlier.len()) {
        add(&mut sum, h, a, latest);
    }
    V::from_fn(|i| x[i] + sum[i])
}

/// Adds h a k to a sum.
#[inline(always)]
fn add<V: Entries<T>, T: Scalar>(sum: &mut V, h: T, a: f64, k: &V) {
    if a != 0.0 {
        let factor = h * T::from_f64(a);
        for (sum, &k) in sum.as_mut().iter_mut().zip(k.as_ref()) {
            *sum = factor.mul_add(k, *sum);
        }
    }
}

#[cfg(test)]
pub(crate) mod tests;
