//! Numbers that look random and follow from a seed (SplitMix64).

/// The distance between successive states of the generator.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of numbers.
#[derive(Clone)]
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        let mut bits = self.0;
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^ (bits >> 31)
    }

    /// A number between 0 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        (self.next() >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// The number between 0 and 1 with this index, counted from 1, in the sequence of the seed 0.
pub(crate) fn numbered(index: u64) -> f64 {
    Random(index.wrapping_sub(1).wrapping_mul(STEP)).number()
}
