//! Vectors as tests compare them.

use fbint_runtime::Entries;

/// The Euclidean length of the difference.
pub(crate) fn distance<V: Entries<f64>>(a: &V, b: &V) -> f64 {
    a.as_ref().iter().zip(b.as_ref()).map(|(a, b)| (a - b).powi(2)).sum::<f64>().sqrt()
}

/// The largest absolute value, NaN if an entry is, 0 if there is no entry.
pub(crate) fn largest(entries: &[f64]) -> f64 {
    entries.iter().map(|entry| entry.abs()).max_by(f64::total_cmp).unwrap_or_default()
}

/// `shift` added to every entry.
pub(crate) fn shifted<V: Entries<f64>>(v: &V, shift: f64) -> V {
    V::from_fn(|i| v[i] + shift)
}

/// The entries bit by bit, which tells numbers apart that `==` does not.
pub(crate) fn bits(entries: &[f64]) -> Vec<u64> {
    entries.iter().map(|entry| entry.to_bits()).collect()
}
