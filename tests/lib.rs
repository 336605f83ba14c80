//! What the tests of fbint share: systems to test on, an oracle of dual numbers, reference values, and the compiler as a
//! library.
//!
//! Agreement is measured with [`relative_error`] in every test; random numbers are reproducible.

pub mod compiler;
pub mod functions;
pub mod oracle;
pub mod reference;
pub mod systems;
pub mod workspaces;

/// The largest error of an entry, relative to that entry, or to a tenth of the largest entry where it is smaller than that.
///
/// Stricter than the error relative to the length of a vector, which forgives small entries everything. An entry that is
/// small because large terms cancel in it cannot be held to its own size: rounding alone is as large as the terms.
pub fn relative_error(obtained: &[f64], expected: &[f64]) -> f64 {
    assert_eq!(obtained.len(), expected.len());
    let largest = expected.iter().fold(0.0, |largest: f64, entry| largest.max(entry.abs()));
    let entries = obtained.iter().zip(expected);
    let errors = entries.map(|(x, y)| if x == y { 0.0 } else { (x - y).abs() / y.abs().max(largest / 10.0) });
    errors.fold(0.0, |worst, error| if error.is_nan() || error > worst { error } else { worst })
}

/// Whether `FBINT_THOROUGH` is set, as `.ci/thorough` sets it.
pub fn is_thorough() -> bool {
    std::env::var_os("FBINT_THOROUGH").is_some()
}

/// A number that tests can do with, or the one that they were made for.
pub fn amount(usual: usize, thorough: usize) -> usize {
    if is_thorough() { thorough } else { usual }
}

/// At how many random states a system is tested: at a thousand, or at a hundred where another system has the same kind of field, and at
/// ten where its field is long.
pub fn states(system: &str) -> usize {
    const ONE_OF_EACH_KIND: [&str; 7] =
        ["FourBar", "SphericalPendulumCpv22", "EulerTop", "FreeRigidBody", "CartPendulum", "HeldSleigh", "CartPole"];
    const LONG: [&str; 2] = ["Chain16", "Chain32"];
    let usual = if LONG.contains(&system) { 10 } else { 100 };
    if ONE_OF_EACH_KIND.contains(&system) { 1_000 } else { amount(usual, 1_000) }
}

/// Reproducible random numbers (SplitMix64).
#[derive(Clone, Debug)]
pub struct Random(u64);

impl Random {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number between two others.
    pub fn between(&mut self, low: f64, high: f64) -> f64 {
        low + (high - low) * ((self.bits() >> 11) as f64 / (1u64 << 53) as f64)
    }

    /// Leaves out as many numbers.
    pub fn pass_over(&mut self, count: usize) {
        for _ in 0..count {
            self.bits();
        }
    }

    /// One of `0..count`.
    pub fn index(&mut self, count: usize) -> usize {
        (self.bits() % count as u64) as usize
    }
}
