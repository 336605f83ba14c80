//! Gains on slices.

use crate::error::{Error, positive};
use crate::hold::consistent_start::check_flat_distinct;
use crate::hold::rounding::LEAST_NOISE;
use crate::numbers::blocks::Blocks;
use crate::numbers::scalar::Scalar;
use crate::system::dynamical_system::FlatSystem;

/// The gains of a feedback on slices.
#[derive(Clone, Debug)]
pub enum FlatGains {
    /// The derived field alone.
    None,
    /// One gain for every integral.
    Uniform(f64),
    /// A gain for each integral, in their order.
    Diagonal(Vec<f64>),
    /// [`Gains::relaxation`](crate::Gains::relaxation) with this time.
    Relaxation(f64),
    /// [`Gains::bae_chang`](crate::Gains::bae_chang) for this step.
    BaeChang(f64),
}

/// A feedback with the numbers that it computes with.
pub(super) enum FlatFeedback {
    None,
    /// Gains for the integrals as they are declared and for their normalised forms, and the forms from which nothing is subtracted.
    Constant {
        declared: Vec<f64>,
        normalised: Vec<f64>,
        zero_targets: Vec<bool>,
    },
    /// S and R of a projection.
    Relaxation {
        tau: f64,
        variances: Blocks,
        noise: Blocks,
    },
    /// Gains that follow from the largest eigenvalue of DF DF^T, the normalisation of the integrals, and 1 for each of them.
    BaeChang {
        h: f64,
        normalisation: Vec<[f64; 3]>,
        ones: Vec<f64>,
    },
}

impl FlatFeedback {
    pub(super) fn of(gains: &FlatGains, system: &dyn FlatSystem, start: &[f64]) -> Result<Self, Error> {
        let facts = system.facts();
        let gain: &dyn Fn(usize) -> f64 = match gains {
            FlatGains::None => return Ok(Self::None),
            FlatGains::Relaxation(tau) => {
                let tau = positive("the relaxation time tau", *tau)?;
                check_flat_distinct(system, start)?;
                // The time is not moved.
                let variance = |i: usize| if facts.clock == Some(i) { 0.0 } else { 1.0 };
                let variances = Blocks::from_fn(facts.state.len(), variance);
                let noise = Blocks::from_fn(facts.integrals.len(), |_| LEAST_NOISE);
                return Ok(Self::Relaxation { tau, variances, noise });
            }
            FlatGains::BaeChang(h) => {
                let h = positive("the step of the gains", *h)?;
                let ones = vec![1.0; facts.integrals.len()];
                return Ok(Self::BaeChang { h, normalisation: system.normalisation(), ones });
            }
            FlatGains::Uniform(value) if !(*value > 0.0 && value.is_finite()) => {
                return Err(Error::UniformGain { value: *value });
            }
            FlatGains::Uniform(value) => &|_| *value,
            FlatGains::Diagonal(gains) => &|i| gains.get(i).copied().unwrap_or(f64::NAN),
        };
        let normalisation = system.normalisation();
        let (mut declared, mut normalised) = (Vec::new(), Vec::new());
        for (i, (integral, [factor, scale, _])) in facts.integrals.iter().zip(normalisation).enumerate() {
            let (value, root) = (gain(i), Scalar::sqrt(integral.weight));
            if !(value > 0.0 && value.is_finite()) {
                return Err(Error::Gain { integral: integral.name, value });
            }
            declared.push(value * integral.weight);
            normalised.push(value * (root * factor) * (root * scale));
        }
        Ok(Self::Constant { declared, normalised, zero_targets: system.zero_targets() })
    }
}
