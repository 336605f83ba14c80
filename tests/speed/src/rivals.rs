//! The systems that both write: the generated feedback and the kernel by hand, for one start and one choice of gains.

use fbint_runtime::{Diagonal, Entries, Error, Feedback, Gains, GeneratedSystem, Integrals, Vector};
use models::{CartPendulum, Chain4, Chain8, Chain16, FourBar, PlanarPendulum, SphericalPendulum};

use crate::HandwrittenField;
use crate::cart::Cart;
use crate::chain::Chain;
use crate::four_bar::Linkage;
use crate::pendulum::{Planar, Spherical};

/// The generated field with diagonal gains.
pub type Generated<S> = Feedback<S, Diagonal<S>>;

/// A model with a rival.
pub trait Contested: GeneratedSystem + Default {
    /// The rival.
    type ByHand: HandwrittenField<Vector<Self>>;
    /// Where a run starts.
    fn first_state(&self) -> Vector<Self>;
    /// The rival for these targets and gains.
    fn by_hand(&self, targets: &Integrals<Self>, gains: Integrals<Self>) -> Self::ByHand;
}

/// A generated field, its rival and a start.
pub type Rivals<S> = (Generated<S>, <S as Contested>::ByHand, Vector<S>);

/// Both fields and a start, with gains that differ from integral to integral.
///
/// # Errors
///
/// If the start is off the constraint set.
pub fn rivals<S: Contested>() -> Result<Rivals<S>, Error> {
    let model = S::default();
    let start = model.first_state();
    let gains = Entries::from_fn(|i| 0.1 + 0.05 * i as f64);
    let generated = Feedback::new(&model, &start, Gains::diagonal(gains))?;
    let by_hand = model.by_hand(generated.targets(), gains);
    Ok((generated, by_hand, start))
}

impl Contested for PlanarPendulum {
    type ByHand = Planar;

    fn first_state(&self) -> [f64; 4] {
        self.start().into()
    }

    fn by_hand(&self, &[_, _, energy]: &[f64; 3], gains: [f64; 3]) -> Planar {
        Planar::new(self, energy, gains)
    }
}

impl Contested for SphericalPendulum {
    type ByHand = Spherical;

    fn first_state(&self) -> [f64; 6] {
        self.start().into()
    }

    fn by_hand(&self, &[_, _, energy, vertical_momentum]: &[f64; 4], gains: [f64; 4]) -> Spherical {
        Spherical::new(self, [energy, vertical_momentum], gains)
    }
}

impl Contested for CartPendulum {
    type ByHand = Cart;

    fn first_state(&self) -> [f64; 4] {
        self.start().into()
    }

    fn by_hand(&self, targets: &[f64; 2], gains: [f64; 2]) -> Cart {
        Cart::new(self, *targets, gains)
    }
}

impl Contested for FourBar {
    type ByHand = Linkage;

    /// The start of the model, without the search for it, which has an instruction that valgrind 3.19 does not know.
    fn first_state(&self) -> [f64; 8] {
        let (sin, cos) = 10_f64.to_radians().sin_cos();
        [0.8 * cos, 0.8 * sin, 2.704_737_832_557_281_3, 0.709_467_819_821_636_2, 0.0, 0.0, 0.0, 0.0]
    }

    fn by_hand(&self, targets: &[f64; 7], gains: [f64; 7]) -> Linkage {
        Linkage::new(self, targets[6], gains)
    }
}

macro_rules! contested_chain {
    ($chain:ident, $links:literal) => {
        impl Contested for $chain {
            type ByHand = Chain<$links>;

            fn first_state(&self) -> [f64; 6 * $links] {
                self.start().into()
            }

            fn by_hand(&self, targets: &[f64; 2 * $links + 1], gains: [f64; 2 * $links + 1]) -> Chain<$links> {
                Chain::new([self.m, self.g, self.l], targets[2 * $links], &gains)
            }
        }
    };
}

contested_chain!(Chain4, 4);
contested_chain!(Chain8, 8);
contested_chain!(Chain16, 16);
