//! The systems that both write: the generated feedback and the kernel by hand, for one start and one choice of gains.

use std::array;

use fbint_runtime::{Diagonal, Error, Feedback, FeedbackSystem, Gains, Identity};
use models::{Chain4, Chain8, Chain16, FourBar, PlanarPendulum, SphericalPendulum};
use nalgebra::SVector;

use crate::Kernel;
use crate::chain::Chain;
use crate::four_bar::Linkage;
use crate::pendulum::{Planar, Spherical};

/// The generated field with diagonal gains.
pub type Generated<S, const N: usize, const M: usize> = Feedback<S, Diagonal<M>, Identity, N, M>;

/// A model with a rival.
pub trait Contested<const N: usize, const M: usize>: FeedbackSystem<N, M> + Default {
    /// The rival.
    type ByHand: Kernel<N>;
    /// Where a run starts.
    fn first_state(&self) -> SVector<f64, N>;
    /// The rival for these targets and gains.
    fn by_hand(&self, targets: &SVector<f64, M>, gains: [f64; M]) -> Self::ByHand;
}

/// A generated field, its rival and a start.
pub type Rivals<S, const N: usize, const M: usize> =
    (Generated<S, N, M>, <S as Contested<N, M>>::ByHand, SVector<f64, N>);

/// Both fields and a start, with gains that differ from integral to integral.
///
/// # Errors
///
/// If the start is off the constraint set.
pub fn rivals<S: Contested<N, M>, const N: usize, const M: usize>() -> Result<Rivals<S, N, M>, Error> {
    let model = S::default();
    let start = model.first_state();
    let gains = array::from_fn(|i| 0.1 + 0.05 * i as f64);
    let generated = Feedback::new(&model, &start, Gains::diagonal(gains))?;
    let by_hand = model.by_hand(generated.targets(), gains);
    Ok((generated, by_hand, start))
}

impl Contested<4, 3> for PlanarPendulum {
    type ByHand = Planar;

    fn first_state(&self) -> SVector<f64, 4> {
        self.start().into()
    }

    fn by_hand(&self, targets: &SVector<f64, 3>, gains: [f64; 3]) -> Planar {
        Planar::new(self, targets[2], gains)
    }
}

impl Contested<6, 4> for SphericalPendulum {
    type ByHand = Spherical;

    fn first_state(&self) -> SVector<f64, 6> {
        self.start().into()
    }

    fn by_hand(&self, targets: &SVector<f64, 4>, gains: [f64; 4]) -> Spherical {
        Spherical::new(self, [targets[2], targets[3]], gains)
    }
}

impl Contested<8, 7> for FourBar {
    type ByHand = Linkage;

    /// That of the model, without the search for it, which has an instruction that valgrind 3.19 does not know.
    fn first_state(&self) -> SVector<f64, 8> {
        let (sin, cos) = 10_f64.to_radians().sin_cos();
        [0.8 * cos, 0.8 * sin, 2.704_737_832_557_281_3, 0.709_467_819_821_636_2, 0.0, 0.0, 0.0, 0.0].into()
    }

    fn by_hand(&self, targets: &SVector<f64, 7>, gains: [f64; 7]) -> Linkage {
        Linkage::new(self, targets[6], gains)
    }
}

macro_rules! contested_chain {
    ($chain:ident, $links:literal) => {
        impl Contested<{ 6 * $links }, { 2 * $links + 1 }> for $chain {
            type ByHand = Chain<$links>;

            fn first_state(&self) -> SVector<f64, { 6 * $links }> {
                self.start().into()
            }

            fn by_hand(
                &self,
                targets: &SVector<f64, { 2 * $links + 1 }>,
                gains: [f64; 2 * $links + 1],
            ) -> Chain<$links> {
                Chain::new([self.m, self.g, self.l], targets[2 * $links], &gains)
            }
        }
    };
}

contested_chain!(Chain4, 4);
contested_chain!(Chain8, 8);
contested_chain!(Chain16, 16);
