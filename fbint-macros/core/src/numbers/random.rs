//! Numbers that look random and follow from a seed (SplitMix64).

/// How far one state of the generator is from the next.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// A sequence of numbers.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// A number between 0 and 1.
    pub(crate) fn number(&mut self) -> f64 {
        fraction(self.next())
    }
}

/// The number between 0 and 1 with this index.
pub(crate) fn numbered(index: u64) -> f64 {
    fraction(mixed(index.wrapping_mul(STEP)))
}

fn mixed(mut bits: u64) -> u64 {
    bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    bits ^ (bits >> 31)
}

fn fraction(bits: u64) -> f64 {
    (bits >> 11) as f64 / (1_u64 << 53) as f64
}
