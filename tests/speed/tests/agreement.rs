//! Handwritten kernels and generated fields compute equal values.
#![allow(missing_docs)]

use fbint_runtime::{Entries, Error, Field, Vector};
use fbint_speed::HandwrittenField;
use fbint_speed::rivals::{Contested, rivals};
use models::{CartPendulum, Chain4, Chain8, Chain16, FourBar, PlanarPendulum, SphericalPendulum};

#[test]
fn planar_pendulum() -> Result<(), Error> {
    agree::<PlanarPendulum>()
}

#[test]
fn pendulum_on_a_cart() -> Result<(), Error> {
    agree::<CartPendulum>()
}

#[test]
fn spherical_pendulum() -> Result<(), Error> {
    agree::<SphericalPendulum>()
}

#[test]
fn four_bar() -> Result<(), Error> {
    agree::<FourBar>()
}

#[test]
fn chains() -> Result<(), Error> {
    agree::<Chain4>()?;
    agree::<Chain8>()?;
    agree::<Chain16>()
}

/// Off the constraint set and at other energies, so that every term counts.
fn agree<S: Contested>() -> Result<(), Error> {
    let (generated, by_hand, start) = rivals::<S>()?;
    for sample in 0..200 {
        let shift = |entry: usize| 0.3 * (1.7 * f64::from(sample * 131) + 28.9 * entry as f64).sin();
        let x = Vector::<S>::from_fn(|entry| start[entry] + shift(entry));
        let (expected, obtained) = (generated.value(&x), by_hand.field(&x));
        let error = largest(obtained.as_ref().iter().zip(expected.as_ref()).map(|(a, b)| a - b))
            / largest(expected.as_ref().iter().copied());
        assert!(error <= 1e-12, "{}: off by {error:e} at {x:?}", S::FACTS.name);
    }
    Ok(())
}

fn largest(numbers: impl Iterator<Item = f64>) -> f64 {
    numbers.map(f64::abs).fold(0.0, f64::max)
}
