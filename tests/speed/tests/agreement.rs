//! Handwritten kernels and generated fields compute equal values.
#![allow(missing_docs)]

use fbint_runtime::Error;
use fbint_speed::Kernel;
use fbint_speed::rivals::{Contested, rivals};
use models::{Chain4, Chain8, Chain16, FourBar, PlanarPendulum, SphericalPendulum};
use nalgebra::SVector;

#[test]
fn planar_pendulum() -> Result<(), Error> {
    agree::<PlanarPendulum, 4, 3>()
}

#[test]
fn spherical_pendulum() -> Result<(), Error> {
    agree::<SphericalPendulum, 6, 4>()
}

#[test]
fn four_bar() -> Result<(), Error> {
    agree::<FourBar, 8, 7>()
}

#[test]
fn chains() -> Result<(), Error> {
    agree::<Chain4, 24, 9>()?;
    agree::<Chain8, 48, 17>()?;
    agree::<Chain16, 96, 33>()
}

/// Off the constraint set and at other energies, so that every term counts.
fn agree<S: Contested<N, M>, const N: usize, const M: usize>() -> Result<(), Error> {
    let (generated, by_hand, start) = rivals::<S, N, M>()?;
    for sample in 0..200 {
        let shift = SVector::from_fn(|entry, _| 0.3 * (1.7 * f64::from(sample * 131) + 28.9 * entry as f64).sin());
        let x = start + shift;
        let (expected, obtained) = (generated.field(&x), by_hand.field(&x));
        let error = (obtained - expected).amax() / expected.amax();
        assert!(error <= 1e-12, "{}: off by {error:e} at {x}", S::NAME);
    }
    Ok(())
}
