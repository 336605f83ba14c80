//! Numbers that are drawn without a crate, the same ones in every run.

/// Knuth's generator of his MMIX.
pub(crate) struct Random(u64);

impl Random {
    pub(crate) fn new(seed: u64) -> Self {
        Self(seed)
    }

    /// A number from 0 to 1.
    pub(crate) fn number(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// One of the integers from 0 to before `count`.
    pub(crate) fn below(&mut self, count: usize) -> usize {
        (self.number() * count as f64) as usize
    }

    /// So many numbers between these.
    pub(crate) fn numbers<const N: usize>(&mut self, [low, high]: [f64; 2]) -> [f64; N] {
        std::array::from_fn(|_| low + (high - low) * self.number())
    }
}
