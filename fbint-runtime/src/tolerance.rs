//! How large the error of a step may be, and the norm that it is measured in.

use crate::entries::Entries;
use crate::error::{Error, positive};
use crate::scalar::Scalar;

/// The largest error of a step, rtol |x_i| + atol for entry i of the state; see [`Integrator::with_scales`](crate::Integrator::with_scales)
/// for entries of different sizes.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Tolerance {
    rtol: f64,
    atol: f64,
}

impl Tolerance {
    /// A relative and an absolute tolerance.
    ///
    /// # Errors
    ///
    /// If one of them is not positive or not finite.
    pub fn new(rtol: f64, atol: f64) -> Result<Self, Error> {
        let rtol = positive("the relative tolerance rtol", rtol)?;
        let atol = positive("the absolute tolerance atol", atol)?;
        Ok(Self { rtol, atol })
    }

    /// The absolute tolerance of an entry of this scale.
    pub(crate) fn absolute(&self, scale: f64) -> f64 {
        self.atol * scale
    }

    /// What an entry of an error is to be multiplied with: 1 / (atol_i + rtol max(|x_i|, |y_i|)).
    #[inline]
    pub(crate) fn weights<V: Entries<f64>>(&self, atol: &V, x: &V, y: &V) -> V {
        // Not `max`, which takes four instructions to pass over NaN.
        let larger = |x: f64, y: f64| if x > y { x } else { y };
        V::from_fn(|i| (atol[i] + self.rtol * larger(x[i].abs(), y[i].abs())).recip())
    }

    /// The tolerance of an entry of the state, rtol |x| + atol.
    #[cfg(feature = "std")]
    pub(crate) fn of(&self, x: f64, atol: f64) -> f64 {
        atol + self.rtol * x.abs()
    }
}

/// The root mean square of the weighed entries.
#[inline]
pub(crate) fn norm<V: Entries<f64>>(v: &V, weights: &V) -> f64 {
    Scalar::sqrt(mean_square(v, weights))
}

/// The mean of the squares of the weighed entries.
#[inline]
pub(crate) fn mean_square<V: Entries<f64>>(v: &V, weights: &V) -> f64 {
    // Four sums, because the next step's size waits for this one.
    let mut sums = [0.0; 4];
    for i in 0..V::LEN {
        sums[i % 4] += (v[i] * weights[i]) * (v[i] * weights[i]);
    }
    ((sums[0] + sums[1]) + (sums[2] + sums[3])) / V::LEN as f64
}
